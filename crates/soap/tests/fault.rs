//! Faults are read as they were written, by us and by others (SOAP 1.1 §4.4).
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_soap::{Detail, Fault, FaultCode, NoDetail, Options, client};
use common::{Note, OPERATIONS, Trouble, ask, body, note};

/// What a client of `echo` makes of an answer.
fn read(answer: &str) -> Fault<Trouble> {
    client::response::<Note, Trouble>(&OPERATIONS[0], answer.as_bytes(), None, &Options::default())
        .expect(answer)
        .expect_err(answer)
}

#[test]
fn a_fault_of_a_handler_arrives_as_it_was() {
    let (is_fault, answer) = ask("", note("sad"));
    assert!(is_fault);
    let expected = Fault::sender("I am sad").with_detail(Trouble::Sad(Note { text: "sad".into() }));
    assert_eq!(read(&answer), expected);
}

#[test]
fn faults_of_others_are_read() {
    let fault = |code: FaultCode, role: Option<&str>, detail| Fault {
        code,
        reason: "R & D".into(),
        role: role.map(str::to_owned),
        detail,
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
        // Others have other orders, and other elements.
        (
            format!(
                "<other>x</other><detail></detail><faultactor>urn:a</faultactor>{reason}<faultcode>e:VersionMismatch</faultcode>"
            ),
            fault(FaultCode::VersionMismatch, Some("urn:a"), Detail::None),
        ),
        (
            format!("<faultcode>e:Client.Auth</faultcode>{reason}"),
            fault(FaultCode::Other("Client.Auth".into()), None, Detail::None),
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
        // Not as declared, so as it came.
        (
            format!("<faultcode>e:Client</faultcode>{reason}<detail><n:sad>no text</n:sad></detail>"),
            fault(FaultCode::Sender, None, Detail::Other("<n:sad>no text</n:sad>".into())),
        ),
        (
            format!("<faultcode>e:Client</faultcode>{reason}<detail> <a b='1'><!-- c --></a>text</detail>"),
            fault(FaultCode::Sender, None, Detail::Other(" <a b='1'><!-- c --></a>text".into())),
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

#[test]
fn every_fault_survives_the_wire() {
    for code in [
        FaultCode::VersionMismatch,
        FaultCode::MustUnderstand,
        FaultCode::Sender,
        FaultCode::Receiver,
        FaultCode::Other("Client.Auth".into()),
    ] {
        for role in [None, Some("urn:r?a&b".to_owned())] {
            for detail in [
                Detail::None,
                Detail::Other("<x xmlns='urn:x'>1 &lt; 2</x>".into()),
                Detail::Declared(Trouble::Angry(Note { text: "<&>".into() })),
            ] {
                let sent = Fault { code: code.clone(), reason: "a < b & \"c\"\r\n".into(), role: role.clone(), detail };
                let answer = common::answer_with(sent.clone());
                assert_eq!(read(&answer), sent, "{answer}");
            }
        }
    }
}

#[test]
fn what_xml_lacks_is_replaced_in_words_and_refused_in_values() {
    let (_, answer) = ask("", body("<echo a\u{7F}='1'/>"));
    assert!(read(&answer).reason.contains('\u{7F}') || answer.contains("U+007F"), "{answer}");
    let sent = Fault { role: Some("\u{0}".into()), ..Fault::sender("bell \u{7}, end \u{FFFF}") };
    let found = read(&common::answer_with(sent));
    assert_eq!((found.reason.as_str(), found.role.as_deref()), ("bell \u{FFFD}, end \u{FFFD}", Some("\u{FFFD}")));

    let found = read(&ask("", note("unwritable detail")).1);
    assert_eq!(found.code, FaultCode::Receiver);
    assert!(found.reason.starts_with("the detail of a fault can't be written"), "{}", found.reason);
}

#[test]
fn what_is_no_answer_is_an_error_with_its_place() {
    for (answer, expected) in [
        (body(""), "the body is empty, where <answer> was expected"),
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
