//! Tests that faults of this library and of other servers are read correctly (SOAP 1.1 §4.4, SOAP 1.2 Part 1 §5.4).
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use bytes::Bytes;
use castile_databinding::datatypes::QName;
use castile_mime::{Attachments, Packaging, Part};
use castile_soap::{Detail, Fault, FaultCode, NoDetail, Options, Reason, Received, Version, client};
use common::{ENVELOPE, Note, OPERATIONS, Trouble, ask, ask_as, body, envelope, in_version, note};

/// Returns a fault with only a code and a reason. SOAP 1.1 doesn't transmit the language.
fn plain(code: FaultCode, reason: &str) -> Fault<Trouble> {
    Fault::new(code, "").with_reason(Reason::new("", reason))
}

fn name(namespace: &str, local: &str) -> QName {
    QName::new(namespace, local).unwrap()
}

/// Reads an answer as a client of `echo`.
fn read(answer: &str) -> Fault<Trouble> {
    client::response::<Note, Trouble>(&OPERATIONS[0], answer.as_bytes(), None, &Options::default())
        .expect(answer)
        .expect_err(answer)
}

#[test]
fn a_fault_of_a_handler_arrives_as_it_was() {
    for version in Version::ALL {
        let reply = ask_as(version, in_version(version, &note("sad")));
        assert_eq!((reply.version, reply.fault), (version, Some(FaultCode::Sender)));
        let language = if version == Version::Soap11 { "" } else { "en" };
        let expected = Fault::sender("").with_reason(Reason::new(language, "I am sad"));
        let expected = expected.with_detail(Trouble::Sad(Note { text: "sad".into() }));
        assert_eq!(read(&common::text(&reply.message)), expected);
    }
}

/// SOAP 1.1 §4.4: a fault without `detail` is not about the body.
#[test]
fn a_fault_about_the_body_had_no_detail_like_one_about_the_header() {
    let header =
        |block: &str| envelope(&format!("<e:Header>{block}</e:Header><e:Body><echo><text>t</text></echo></e:Body>"));
    for (message, has_detail) in [
        (body("<echo/>"), true),
        (body("<unknown/>"), true),
        (note("panic"), true),
        (note("unwritable"), true),
        (note("t").replace(ENVELOPE, "urn:e"), false),
        (header("<other e:mustUnderstand='1'/>"), false),
        (header("<other e:mustUnderstand='maybe'/>"), false),
    ] {
        let (is_fault, answer) = ask("", &message[..]);
        assert!(is_fault, "{message}");
        assert_eq!(answer.contains("</faultstring><detail/></soap:Fault>"), has_detail, "{answer}");
        assert_eq!(answer.contains("detail"), has_detail, "{answer}");
    }
    for (code, has_detail) in [
        (FaultCode::Sender, true),
        (FaultCode::Receiver, true),
        (FaultCode::Other(name("urn:n", "Busy").into()), true),
        (FaultCode::MustUnderstand, false),
        (FaultCode::VersionMismatch, false),
    ] {
        let answer = common::answer_with(Version::Soap11, plain(code, "R"));
        assert_eq!(answer.contains("<detail/>"), has_detail, "{answer}");
    }
    // SOAP 1.2 has no such rule.
    let answer = common::answer_with(Version::Soap12, plain(FaultCode::Sender, "R"));
    assert!(!answer.contains("Detail"), "{answer}");
}

#[test]
fn faults_of_others_are_read() {
    let fault = |code: FaultCode, role: Option<&str>, detail| {
        let mut fault = plain(code, "R & D");
        (fault.role, fault.detail) = (role.map(Box::from), detail);
        fault
    };
    let reason = "<faultstring>R &amp; D</faultstring>";
    for (content, expected) in [
        (format!("<faultcode>e:Client</faultcode>{reason}"), fault(FaultCode::Sender, None, Detail::None)),
        (format!("<faultcode> e:Server </faultcode>{reason}<detail/>"), fault(FaultCode::Receiver, None, Detail::None)),
        (
            format!("<faultcode>Server</faultcode>{reason}<detail> </detail>"),
            fault(FaultCode::Receiver, None, Detail::None),
        ),
        (
            format!("<faultcode>e:MustUnderstand</faultcode>{reason}<faultactor>urn:a</faultactor>"),
            fault(FaultCode::MustUnderstand, Some("urn:a"), Detail::None),
        ),
        // Other servers use another order and other elements.
        (
            format!(
                "<other>x</other><detail></detail><faultactor>urn:a</faultactor>{reason}<faultcode>e:VersionMismatch</faultcode>"
            ),
            fault(FaultCode::VersionMismatch, Some("urn:a"), Detail::None),
        ),
        (
            format!(
                "<faultcode>e:Client</faultcode>{reason}<detail><x:angry xmlns:x='urn:n'><x:text>!</x:text></x:angry><more/></detail>"
            ),
            fault(FaultCode::Sender, None, Detail::Declared(Trouble::Angry(Note { text: "!".into() }))),
        ),
        // The prefix of the detail is declared outside.
        (
            format!("<faultcode>e:Client</faultcode>{reason}<detail>\n<n:sad><n:text>a&lt;b</n:text></n:sad></detail>"),
            fault(FaultCode::Sender, None, Detail::Declared(Trouble::Sad(Note { text: "a<b".into() }))),
        ),
        // This detail differs from the declaration, so it is kept as XML.
        (
            format!("<faultcode>e:Client</faultcode>{reason}<detail><n:sad>no text</n:sad></detail>"),
            fault(FaultCode::Sender, None, Detail::Other("<n:sad xmlns:n=\"urn:n\">no text</n:sad>".into())),
        ),
        (
            format!("<faultcode>e:Client</faultcode>{reason}<detail> <a b='1'><!-- c --></a>text</detail>"),
            fault(FaultCode::Sender, None, Detail::Other(" <a xmlns=\"\" b='1'><!-- c --></a>text".into())),
        ),
        (
            "<!-- -->\n<faultcode>e:Client</faultcode>\n<faultstring>R <b/>&amp;<![CDATA[ D]]></faultstring>"
                .to_owned(),
            fault(FaultCode::Sender, None, Detail::None),
        ),
    ] {
        let answer = body(&format!("<e:Fault xmlns='' xmlns:n='urn:n'>{content}</e:Fault>"));
        assert_eq!(read(&answer), expected, "{content}");
    }
}

/// The namespace declarations around a received detail don't exist around a fault that is passed on.
#[test]
fn a_stored_detail_lost_declarations_of_outer_elements() {
    let kept = |content: &str| {
        let fault = format!(
            "<e:Fault xmlns='' xmlns:n='urn:n'><faultcode>e:Client</faultcode><faultstring>R</faultstring>\
             <detail xmlns:d='urn:d'>{content}</detail></e:Fault>"
        );
        match read(&body(&fault)).detail {
            Detail::Other(xml) => xml,
            detail => panic!("{detail:?}"),
        }
    };
    for (content, expected) in [
        ("<n:a>d:b</n:a>", "<n:a xmlns:n=\"urn:n\" xmlns:d=\"urn:d\">d:b</n:a>"),
        ("<d:a/>\n<!-- n: --><d:b xmlns:d='urn:e'/>", "<d:a xmlns:d=\"urn:d\"/>\n<!-- n: --><d:b xmlns:d='urn:e'/>"),
        ("text <n:a/> more", "text <n:a xmlns:n=\"urn:n\"/> more"),
        ("n:text", "n:text"),
    ] {
        let found = kept(content);
        assert_eq!(found, expected);
        let mut passed_on = Fault::sender("R");
        passed_on.detail = Detail::Other(found);
        for version in Version::ALL {
            let answer = common::answer_with(version, passed_on.clone());
            assert_eq!(read(&answer).detail, passed_on.detail, "{answer}");
        }
    }
    // If the declarations would make the detail far longer than contracts need, it is not changed.
    let many = "<long:a/>".repeat(1_000);
    let answer = format!("<e:Fault xmlns:long='urn:{}'><detail>{many}</detail></e:Fault>", "l".repeat(900));
    assert_eq!(read(&body(&answer)).detail, Detail::Other(many));
}

/// Regression test: each element of a detail in the header got a copy of all declarations.
#[test]
fn a_detail_in_the_header_is_bounded_too() {
    let kept = |count: usize| {
        let elements = "<long:a/>".repeat(count);
        let header =
            format!("<w:FaultDetail xmlns:w='http://www.w3.org/2005/08/addressing'>{elements}</w:FaultDetail>");
        let fault = "<e:Fault><faultcode>e:Client</faultcode><faultstring>R</faultstring></e:Fault>";
        let declared = format!("xmlns:long='urn:{}'", "l".repeat(900));
        read(&envelope(&format!("<e:Header {declared}>{header}</e:Header><e:Body>{fault}</e:Body>"))).detail
    };
    let Detail::Other(one) = kept(1) else { panic!("one element is kept") };
    assert!(one.starts_with("<long:a ") && one.contains(" xmlns:long="), "{one}");
    assert_eq!(kept(1_000), Detail::None);
}

#[test]
fn codes_are_names_in_namespaces() {
    let dotted = |local: &str| vec![name(ENVELOPE, local)];
    let other = |namespace: &str, local: &str| FaultCode::Other(name(namespace, local).into());
    for (code, expected, subcodes) in [
        ("<faultcode>e:Client</faultcode>", FaultCode::Sender, vec![]),
        ("<faultcode xmlns:x='ENVELOPE'>x:Client</faultcode>", FaultCode::Sender, vec![]),
        ("<faultcode xmlns='ENVELOPE'>Client<!-- --></faultcode>", FaultCode::Sender, vec![]),
        ("<faultcode>e:Client.Auth</faultcode>", FaultCode::Sender, dotted("Client.Auth")),
        ("<faultcode>Server.Db.Lock</faultcode>", FaultCode::Receiver, dotted("Server.Db.Lock")),
        ("<faultcode>e:Clients</faultcode>", other(ENVELOPE, "Clients"), vec![]),
        ("<faultcode>e:Sender</faultcode>", other(ENVELOPE, "Sender"), vec![]),
        // The local name is not enough.
        ("<faultcode>n:Client</faultcode>", other("urn:n", "Client"), vec![]),
        ("<faultcode xmlns:e='urn:e'>e:Client.Auth</faultcode>", other("urn:e", "Client.Auth"), vec![]),
        ("<faultcode>Busy</faultcode>", other("", "Busy"), vec![]),
    ] {
        let code = code.replace("ENVELOPE", ENVELOPE);
        let answer = body(&format!("<e:Fault xmlns='' xmlns:n='urn:n'>{code}<faultstring>R</faultstring></e:Fault>"));
        let mut expected = plain(expected, "R");
        expected.subcodes = subcodes;
        assert_eq!(read(&answer), expected, "{code}");
    }
    // An invalid name is kept for people.
    let fault = read(&body("<e:Fault><faultcode>it is: broken</faultcode></e:Fault>"));
    let FaultCode::Other(found) = fault.code else { panic!("{fault:?}") };
    assert_eq!((found.prefix.as_str(), found.local.as_str()), ("it is", " broken"));
}

#[test]
fn faults_of_soap12_are_read() {
    let read = |content: &str| read(&in_version(Version::Soap12, &body(&format!("<e:Fault>{content}</e:Fault>"))));
    let reason = "<e:Reason><e:Text xml:lang='en'>R &amp; D</e:Text></e:Reason>";
    let full = "<e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value xmlns:t='urn:t'>t:InvalidArgs</e:Value>\
        <e:Subcode><e:Value xmlns:t='urn:u'> t:Missing </e:Value></e:Subcode></e:Subcode></e:Code>\
        <e:Reason>\n<e:Text xml:lang='en-GB'>Colour</e:Text> <e:Text xml:lang='de'>Farbe</e:Text>\
        <e:Text>?</e:Text></e:Reason><e:Node>urn:node</e:Node><e:Role>urn:role</e:Role>\
        <e:Detail> <sad xmlns='urn:n'><text>t</text></sad></e:Detail>";
    let expected = Fault::sender("")
        .with_subcode(name("urn:t", "InvalidArgs"))
        .with_subcode(name("urn:u", "Missing"))
        .with_reason(Reason::new("en-GB", "Colour").with("de", "Farbe").with("", "?"))
        .with_node("urn:node")
        .with_role("urn:role")
        .with_detail(Trouble::Sad(Note { text: "t".into() }));
    assert_eq!(read(full), expected);
    for (code, expected) in [
        ("e:VersionMismatch", FaultCode::VersionMismatch),
        ("e:MustUnderstand", FaultCode::MustUnderstand),
        ("e:DataEncodingUnknown", FaultCode::DataEncodingUnknown),
        ("\n e:Receiver ", FaultCode::Receiver),
        // Other servers use other names.
        ("e:Client", FaultCode::Other(name(Version::Soap12.namespace(), "Client").into())),
        ("n:Sender", FaultCode::Other(name("urn:n", "Sender").into())),
        ("Sender", FaultCode::Sender),
    ] {
        let content = format!("{reason}<e:Code xmlns:n='urn:n'><e:Value>{code}</e:Value></e:Code>");
        assert_eq!(read(&content), Fault::new(expected, "R & D"), "{code}");
    }
    assert_eq!(read("<e:Code/><e:Reason/><faultstring>x</faultstring>").reason, Reason::default());
}

#[test]
fn every_fault_survives_the_wire() {
    let dotted = name(ENVELOPE, "Client.Auth");
    let subcodes = [vec![], vec![name("urn:t", "One")], vec![name("urn:t", "One"), name("", "two")], vec![dotted]];
    for code in [
        FaultCode::VersionMismatch,
        FaultCode::MustUnderstand,
        FaultCode::DataEncodingUnknown,
        FaultCode::Sender,
        FaultCode::Receiver,
        FaultCode::Other(name("urn:a&b", "Bad.Day").into()),
    ] {
        for (number, subcodes) in subcodes.iter().enumerate() {
            for detail in [
                Detail::None,
                Detail::Other("<x xmlns='urn:x'>1 &lt; 2</x>".into()),
                Detail::Declared(Trouble::Angry(Note { text: "<&>".into() })),
            ] {
                let mut sent = Fault::new(code.clone(), "");
                sent.subcodes.clone_from(subcodes);
                sent.reason = Reason::new("x-<\"&", "a < b & \"c\"\r\n").with("de", "ä");
                sent.node = (number > 0).then(|| "urn:n?<".into());
                sent.role = (number > 1).then(|| "urn:r?a&b".into());
                sent.detail = detail;
                for version in Version::ALL {
                    let answer = common::answer_with(version, sent.clone());
                    assert_eq!(read(&answer), as_carried(version, sent.clone()), "{answer}");
                }
            }
        }
    }
}

/// Returns the part of a fault that a version can transmit.
fn as_carried(version: Version, mut fault: Fault<Trouble>) -> Fault<Trouble> {
    match version {
        // SOAP 1.2 has no other codes. They become subcodes.
        Version::Soap12 => match fault.code {
            FaultCode::Other(name) => {
                fault.code = FaultCode::Receiver;
                fault.subcodes.insert(0, *name);
            }
            code => fault.code = code,
        },
        // SOAP 1.1 has one name, one reason, and no node.
        _ => {
            (fault.code, fault.subcodes) = match (fault.subcodes.last().cloned(), fault.code) {
                (Some(name), _) if *name.namespace == *ENVELOPE => (FaultCode::Sender, vec![name]),
                (Some(name), _) => (FaultCode::Other(name.into()), vec![]),
                (None, FaultCode::DataEncodingUnknown) => (FaultCode::Sender, vec![]),
                (None, code) => (code, vec![]),
            };
            fault.reason = Reason::new("", fault.reason.as_str());
            fault.node = None;
        }
    }
    fault
}

#[test]
fn invalid_characters_are_replaced_in_reasons_and_rejected_in_values() {
    let (_, answer) = ask("", body("<echo a\u{7F}='1'/>"));
    assert!(read(&answer).reason.as_str().contains('\u{7F}') || answer.contains("U+007F"), "{answer}");
    let sent = Fault::sender("bell \u{7}, end \u{FFFF}").with_role("\u{0}");
    for version in Version::ALL {
        let found = read(&common::answer_with(version, sent.clone()));
        assert_eq!((found.reason.as_str(), found.role.as_deref()), ("bell \u{FFFD}, end \u{FFFD}", Some("\u{FFFD}")));
        let not_a_name = QName { local: "a b".into(), ..name("urn:n", "a") };
        let found = read(&common::answer_with(version, sent.clone().with_subcode(not_a_name)));
        assert_eq!(found.code, FaultCode::Receiver);
        assert!(found.reason.as_str().starts_with("the fault can't be written: "), "{}", found.reason);
    }

    let found = read(&ask("", note("unwritable detail")).1);
    assert_eq!(found.code, FaultCode::Receiver);
    assert!(found.reason.as_str().starts_with("the fault can't be written"), "{}", found.reason);
}

#[test]
fn faults_tell_people_what_they_are() {
    let fault: Fault = Fault::sender("no").with_subcode(name("urn:t", "Auth")).with_subcode(name("urn:t", "Expired"));
    assert_eq!(fault.to_string(), "Sender/Auth/Expired: no");
    assert_eq!(
        Fault::<NoDetail>::new(FaultCode::Other(name("urn:t", "Busy").into()), "later").to_string(),
        "Busy: later"
    );
}

#[test]
fn documents_that_are_not_answers_are_errors_with_a_position() {
    for (answer, expected) in [
        (body(""), "the body is empty, where <answer> of \"urn:n\" was expected"),
        (
            body("\n<echo/>"),
            "echo: found <echo> of \"urn:n\", where <answer> of \"urn:n\" was expected (line 2, column 1)",
        ),
        (body("<Fault/>"), "Fault: found <Fault> of \"urn:n\", where <answer> of \"urn:n\" was expected"),
        (body("<e:Fault><faultcode>"), "end tag </e:Body> where </faultcode> was expected"),
        (
            body("<e:Fault></e:Fault>\n<answer/>"),
            "answer: found <answer> of \"urn:n\", where </Body> was expected (line 2, column 1)",
        ),
        (
            body("<answer><text>t</text></answer>\n<answer/>"),
            "answer[2]: found <answer> of \"urn:n\", where </Body> was expected (line 2, column 1)",
        ),
    ] {
        let error = client::response::<Note, NoDetail>(&OPERATIONS[0], answer.as_bytes(), None, &Options::default())
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{answer}\n{error}");
    }
}

/// A fault is shown in error messages and on terminals, and its texts are not trusted.
#[test]
fn the_text_of_a_fault_is_escaped_and_cut_in_messages_and_complete_in_the_value() {
    let text = "\u{1b}[2J\n\u{202e}".to_owned() + &"x".repeat(1_000_000);
    let fault: Fault = Fault::sender(text.clone());
    let shown = fault.to_string();
    assert!(shown.starts_with("Sender: \\u{1b}[2J\\n\\u{202e}xxx"), "{shown}");
    assert!(shown.ends_with("x… (999008 more bytes)"), "{}", &shown[shown.len() - 100..]);
    assert_eq!(fault.reason.as_str(), text);
    let name = name("urn:a", &"n".repeat(1_000));
    let fault: Fault = (0..1_000).fold(Fault::receiver("no"), |fault, _| fault.with_subcode(name.clone()));
    assert!(fault.to_string().len() < 2_000, "{fault}");
}

/// Regression test: the attachments of a fault were lost.
#[test]
fn a_fault_keeps_its_attachments() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = body("<e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring></e:Fault>");
    for is_taken in [true, false] {
        let received = Received {
            packaging: Some(Packaging::Attachments),
            attachments: Attachments::of(vec![Part::attachment("text/plain", "why").unwrap()]).unwrap(),
            ..Bytes::from(answer.clone()).into()
        };
        let options = Options::default();
        let read = client::response_package::<Note, Trouble>(&OPERATIONS[0], received, &options, is_taken);
        let mut fault = runtime.block_on(read).unwrap().err().unwrap();
        let mut copy = fault.clone();
        let count = |fault: &mut Fault<Trouble>| runtime.block_on(fault.take_attachments().collect(100)).unwrap().len();
        assert_eq!([count(&mut fault), count(&mut copy), count(&mut fault)], [usize::from(is_taken), 0, 0]);
    }
}
