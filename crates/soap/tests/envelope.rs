//! Tests of the structure of envelopes, of header blocks for this node, and of the resulting faults (SOAP 1.1 §4, SOAP 1.2 Part 1
//! §5).
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_soap::{Envelope, FaultCode, ReplyMessage, Version};
use castile_xml::{CachedReader, Limits};
use common::{ENVELOPE, OK, ask, ask_as, assert_fault, body, envelope, in_version, note};

const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

const PAYLOAD: &str = "<echo><text>t</text></echo>";

fn with_header(header: &str) -> String {
    envelope(&format!("<e:Header>{header}</e:Header><e:Body>{PAYLOAD}</e:Body>"))
}

#[test]
fn envelopes_in_many_forms_are_read() {
    for message in [
        note("t"),
        format!("\u{FEFF}<?xml version='1.0'?><!-- a --><?b?>\n{}\n<!-- c -->", note("t")),
        format!("<Envelope xmlns='{ENVELOPE}'><Body><echo xmlns='urn:n'><text>t</text></echo></Body></Envelope>"),
        envelope(&format!("\n<e:Header/>\n<e:Body id='1'>\n{PAYLOAD}<!-- --></e:Body>\n")),
        envelope(&format!("<e:Header></e:Header><e:Body>{PAYLOAD}</e:Body>")),
        with_header("<a xmlns=''/><b>text <c/> text</b><!-- --><d e:mustUnderstand='0'/>"),
    ] {
        // Twice, so that the second message begins with a cached prologue.
        for _ in 0..2 {
            assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{message}");
        }
    }
}

#[test]
fn header_blocks_are_stored_unchanged() {
    let blocks = [
        "<h:a xmlns:h='urn:h' e:mustUnderstand=' 1 '>x<b/></h:a>",
        "<c e:actor=' urn:me '/>",
        "<d\n>]]&gt;<!-- -->\n</d\n>",
    ];
    let message = with_header(&format!(" {} <!-- between -->{}\n{}", blocks[0], blocks[1], blocks[2]));
    let mut reader = CachedReader::new(message.as_bytes(), Limits::default()).unwrap();
    let (envelope, payload) = Envelope::read(&mut reader).unwrap();
    let found: Vec<_> =
        envelope.header.iter().map(|block| (&*block.namespace, &*block.local, &message[block.bytes.clone()])).collect();
    assert_eq!(found, [("urn:h", "a", blocks[0]), ("urn:n", "c", blocks[1]), ("urn:n", "d", blocks[2])]);
    let found: Vec<_> = envelope.header.iter().map(|block| (block.must_understand, block.role.as_deref())).collect();
    assert_eq!(found, [(true, None), (false, Some("urn:me")), (false, None)]);
    assert_eq!(payload.map(|tag| tag.name.as_str()), Some("echo"));
}

#[test]
fn blocks_that_must_be_understood_are() {
    let next = "http://schemas.xmlsoap.org/soap/actor/next";
    for (attributes, is_refused) in [
        ("", false),
        ("e:mustUnderstand='0'", false),
        ("e:mustUnderstand='false'", false),
        ("mustUnderstand='1'", false),
        ("e:mustUnderstand='1'", true),
        ("e:mustUnderstand='true'", true),
        ("e:mustUnderstand='1' e:actor=''", true),
        (&*format!("e:mustUnderstand='1' e:actor='{next}'"), true),
        (&*format!("e:mustUnderstand='0' e:actor='{next}'"), false),
        ("e:mustUnderstand='1' e:actor='urn:someone-else'", false),
    ] {
        let message = with_header(&format!("<x/>\n<h:h xmlns:h='urn:h' {attributes}/>"));
        if is_refused {
            let reason = "Envelope/Header/h: the header block <h> of \"urn:h\" must be understood, but is not (line \
                2, column 1)";
            assert_fault(message, "MustUnderstand", reason);
        } else {
            assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{attributes}");
        }
        // The service understands this block.
        let message = with_header(&format!("<h:known xmlns:h='urn:h' {attributes}/>"));
        assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{attributes}");
    }
}

#[test]
fn other_envelopes_are_of_another_version() {
    let reason = |found: &str| {
        format!(
            "Envelope: found an envelope of {found}, where \"{ENVELOPE}\" or \"{SOAP12}\" was expected \
             (line 1, column 1)"
        )
    };
    for (message, found) in
        [(note("t").replace(ENVELOPE, "urn:wrong"), "\"urn:wrong\""), ("<Envelope/>".into(), "no namespace")]
    {
        assert_fault(&message[..], "VersionMismatch", &reason(found));
        // Every node reads SOAP 1.1, whatever the media type is.
        for version in Version::ALL {
            let reply = ask_as(version, &message[..]);
            assert_eq!((reply.version, reply.fault), (Version::Soap11, Some(FaultCode::VersionMismatch)));
            let answer = &common::text(&reply.message);
            let header = format!(
                "<soap:Header><upgrade:Upgrade xmlns:upgrade=\"{SOAP12}\">\
                <upgrade:SupportedEnvelope xmlns:supported=\"{SOAP12}\" qname=\"supported:Envelope\"/>\
                <upgrade:SupportedEnvelope xmlns:supported=\"{ENVELOPE}\" qname=\"supported:Envelope\"/>\
                </upgrade:Upgrade></soap:Header><soap:Body><soap:Fault>"
            );
            assert!(answer.contains(&header), "{answer}");
        }
    }
}

#[test]
fn documents_that_are_not_envelopes_are_rejected_with_a_position() {
    for (message, reason) in [
        (String::new(), "the document ends before any element (line 1, column 1)"),
        ("<a/>".into(), "a: found <a> of no namespace, where <Envelope> was expected (line 1, column 1)"),
        (envelope(""), "Envelope: the envelope ends, where <Body> was expected (line 1, column 91)"),
        (
            envelope("\n<e:Bodi/>"),
            "Envelope/Bodi: found <Bodi> of \"http://schemas.xmlsoap.org/soap/envelope/\", where <Body> was expected (line 2, column 1)",
        ),
        (envelope("\n<Body/>"), "found <Body> of \"urn:n\", where <Body> was expected (line 2, column 1)"),
        (envelope("\ntext"), "Envelope: found text \"text\", where an element was expected"),
        (envelope("<e:Header>\ntext</e:Header>"), "found text"),
        (
            envelope("<e:Header/>\n<e:Header/>"),
            "found <Header> of \"http://schemas.xmlsoap.org/soap/envelope/\", where <Body> was expected",
        ),
        (
            envelope(&format!("<e:Body>{PAYLOAD}</e:Body>\n<e:Header/>")),
            "Envelope/Header: found <Header> of \"http://schemas.xmlsoap.org/soap/envelope/\", where </Envelope> was expected (line 2, column 1)",
        ),
        (
            body(&format!("{PAYLOAD}\n{PAYLOAD}")),
            "echo[2]: found <echo> of \"urn:n\", where </Body> was expected (line 2, column 1)",
        ),
        (body(&format!("{PAYLOAD}\ntext")), "found text \"text\", where an element was expected"),
        (body(""), "the body is empty, where the element of an operation was expected"),
        (body("<!-- nothing -->"), "the body is empty, where the element of an operation was expected"),
        (body("\ntext"), "found text \"text\", where an element was expected"),
        (format!("{}x", note("t")), "\"x\" after the root element"),
        (format!("{}<a/>", note("t")), "a second root element; a document has one"),
        (
            with_header("<x e:mustUnderstand='maybe'/>"),
            "mustUnderstand is \"maybe\", where \"0\" or \"1\" was expected",
        ),
        (with_header(&"<x/>".repeat(257)), "more than 256 header blocks, which is the limit"),
    ] {
        // Twice, so that the second message begins with a cached prologue.
        for _ in 0..2 {
            ask("", note("t"));
            assert_fault(&message[..], "Client", reason);
        }
    }
}

#[test]
fn long_texts_of_strangers_are_not_sent_back() {
    let long = "x".repeat(1 << 20);
    for message in [
        body(&long),
        envelope(&long),
        note("t").replace("</e:Body>", &format!("{long}</e:Body>")),
        with_header(&format!("<x e:mustUnderstand='{long}'/>")),
        note(&format!("{long}</wrong>")),
        body(&format!("<echo>{long}</echo>")),
        body(&format!("<echo a='{long}'/>")),
    ] {
        let (is_fault, answer) = ask("", message);
        assert!(is_fault && answer.len() < 1_000, "{} bytes", answer.len());
    }
}

// ---- SOAP 1.2 ----

fn ask12(message: &str) -> (ReplyMessage, String) {
    let reply = ask_as(Version::Soap12, in_version(Version::Soap12, message));
    let answer = common::text(&reply.message);
    (reply, answer)
}

/// Asserts that a message of SOAP 1.2 is answered with a fault with this code, and that the answer contains `expected`.
fn assert_fault12(message: &str, code: &FaultCode, expected: &str) {
    let (reply, answer) = ask12(message);
    assert_eq!((reply.version, reply.fault.as_ref()), (Version::Soap12, Some(code)), "{message}\n{answer}");
    let name = Version::Soap12.fault_code(code);
    assert!(answer.contains(&format!("<soap:Code><soap:Value>soap:{name}</soap:Value></soap:Code>")), "{answer}");
    assert!(answer.contains(expected), "{message}\n{answer}\n{expected}");
}

#[test]
fn the_answer_is_in_the_version_of_the_envelope() {
    let ok = |version: Version| in_version(version, &OK.replace("TEXT", "t"));
    for message in [note("t"), with_header("<a/>"), envelope(&format!("<e:Body xml:lang='en'>{PAYLOAD}</e:Body>"))] {
        // One after another on one thread: the cached prologue of one version is not used for the other.
        for _ in 0..2 {
            for version in Version::ALL {
                for media_type in Version::ALL {
                    let reply = ask_as(media_type, in_version(version, &message));
                    assert_eq!((reply.version, reply.fault), (version, None), "{message}");
                    assert_eq!(common::text(&reply.message), ok(version), "{message}");
                }
            }
        }
    }
}

#[test]
fn documents_that_are_not_envelopes_are_answered_in_the_version_of_the_media_type() {
    for (message, expected) in [
        ("", None),
        ("<a/>", None),
        ("\u{FEFF}<!DOCTYPE a><a/>", None),
        (&in_version(Version::Soap12, &envelope("<e:Header>")), Some(Version::Soap12)),
        (&in_version(Version::Soap12, &body("<echo/><")), Some(Version::Soap12)),
        (&body("<echo/><"), Some(Version::Soap11)),
    ] {
        for version in Version::ALL {
            let reply = ask_as(version, message);
            assert_eq!(
                (reply.version, reply.fault),
                (expected.unwrap_or(version), Some(FaultCode::Sender)),
                "{message}"
            );
        }
    }
}

#[test]
fn roles_of_soap12() {
    for (attributes, is_refused) in [
        ("e:mustUnderstand='true'", true),
        ("e:mustUnderstand='1' e:role=''", true),
        ("e:mustUnderstand='1' e:role='SOAP12/role/next'", true),
        ("e:mustUnderstand='1' e:role='SOAP12/role/ultimateReceiver' e:relay='true'", true),
        ("e:mustUnderstand='1' e:role='SOAP12/role/none'", false),
        ("e:mustUnderstand='1' e:role='urn:someone-else'", false),
        ("e:mustUnderstand='false' e:role='SOAP12/role/next'", false),
        // These attributes have no meaning in this version.
        ("e:mustUnderstand='1' e:actor='urn:someone-else'", true),
        ("o:mustUnderstand='1' xmlns:o='http://schemas.xmlsoap.org/soap/envelope'", false),
        ("e:mustUnderstand='1' e:role='http://schemas.xmlsoap.org/soap/actor/next'", false),
    ] {
        let message = with_header(&format!("<h:h xmlns:h='urn:h' {}/>", attributes.replace("SOAP12", SOAP12)));
        if is_refused {
            let header = "<soap:Header><soap:NotUnderstood xmlns:q1=\"urn:h\" qname=\"q1:h\"/></soap:Header>";
            assert_fault12(&message, &FaultCode::MustUnderstand, header);
        } else {
            assert_eq!(ask12(&message).0.fault, None, "{message}");
        }
    }
    let message = in_version(Version::Soap12, &with_header("<a e:relay=' 1 ' e:role=' urn:r '/><b e:relay='false'/>"));
    let mut reader = CachedReader::new(message.as_bytes(), Limits::default()).unwrap();
    let (envelope, _) = Envelope::read(&mut reader).unwrap();
    let found: Vec<_> = envelope.header.iter().map(|block| (block.relay, block.role.as_deref())).collect();
    assert_eq!(found, [(true, Some("urn:r")), (false, None)]);
}

#[test]
fn blocks_that_are_not_understood_are_named() {
    let block = |number: usize| format!("<h:h{number} xmlns:h='urn:h&amp;{number}' e:mustUnderstand='1'/>");
    let named = |number: usize| format!("<soap:NotUnderstood xmlns:q1=\"urn:h&amp;{number}\" qname=\"q1:h{number}\"/>");
    let known = "<h:known xmlns:h='urn:h' e:mustUnderstand='1'/>";
    let message = with_header(&format!("{}{known}<x xmlns='' e:mustUnderstand='1'/>{}", block(1), block(2)));
    let header = format!("<soap:Header>{}<soap:NotUnderstood qname=\"x\"/>{}</soap:Header>", named(1), named(2));
    assert_fault12(&message, &FaultCode::MustUnderstand, &header);
    // Only some of many blocks are named.
    let message = with_header(&(0..20).map(block).collect::<String>());
    let header = (0..8).map(named).collect::<String>() + "</soap:Header>";
    assert_fault12(&message, &FaultCode::MustUnderstand, &header);
}

#[test]
fn attributes_that_soap12_forbids() {
    let encoding = "e:encodingStyle='http://www.w3.org/2003/05/soap-encoding'";
    for attribute in ["a='1'", encoding] {
        let local = attribute.split('=').next().unwrap().trim_start_matches("e:");
        for (element, message) in [
            ("Envelope", note("t").replace(" xmlns=", &format!(" {attribute} xmlns="))),
            ("Header", envelope(&format!("<e:Header {attribute}/><e:Body>{PAYLOAD}</e:Body>"))),
            ("Body", envelope(&format!("<e:Body {attribute}>{PAYLOAD}</e:Body>"))),
        ] {
            let expected =
                format!("found the attribute \"{local}\", which &lt;{element}&gt; may not have (line 1, column");
            assert_fault12(&message, &FaultCode::Sender, &expected);
            // SOAP 1.1 allows these attributes.
            assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{message}");
        }
    }
    assert_eq!(ask12(&with_header(&format!("<a {encoding} b='1'/>"))).0.fault, None);
}

#[test]
fn encodings_of_payloads() {
    let message = |style: &str| body(&format!("<echo e:encodingStyle='{style}'><text>t</text></echo>"));
    for style in
        ["", " http://www.w3.org/2003/05/soap-envelope/encoding/none ", "http://www.w3.org/2003/05/soap-encoding"]
    {
        let (reply, answer) = ask12(&message(style));
        assert!(!reply.is_fault(), "{answer}");
    }
    assert_fault12(&message("urn:poison"), &FaultCode::DataEncodingUnknown, "the encoding \"urn:poison\" is unknown");
}

#[test]
fn elements_after_the_body_are_errors() {
    for message in [
        envelope(&format!("<e:Body>{PAYLOAD}</e:Body><trailer/>")),
        envelope(&format!("<e:Header/><trailer/><e:Body>{PAYLOAD}</e:Body>")),
    ] {
        assert_fault12(&message, &FaultCode::Sender, "found &lt;trailer&gt; of \"urn:n\"");
    }
}
