//! What an envelope may be, what is for us in it, and what ends in which fault (SOAP 1.1 §4).
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_soap::Envelope;
use castile_xml::{Limits, Reader};
use common::{ENVELOPE, OK, ask, assert_fault, body, envelope, note};

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
        // Twice: the second time its beginning is known.
        for _ in 0..2 {
            assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{message}");
        }
    }
}

#[test]
fn header_blocks_are_kept_as_they_came() {
    let blocks = [
        "<h:a xmlns:h='urn:h' e:mustUnderstand=' 1 '>x<b/></h:a>",
        "<c e:actor=' urn:me '/>",
        "<d\n>]]&gt;<!-- -->\n</d\n>",
    ];
    let message = with_header(&format!(" {} <!-- between -->{}\n{}", blocks[0], blocks[1], blocks[2]));
    let mut reader = Reader::new(message.as_bytes(), Limits::default()).unwrap();
    let (envelope, payload) = Envelope::read(&mut reader).unwrap();
    let found: Vec<_> =
        envelope.header.iter().map(|block| (&*block.namespace, &*block.local, &message[block.bytes.clone()])).collect();
    assert_eq!(found, [("urn:h", "a", blocks[0]), ("urn:n", "c", blocks[1]), ("urn:n", "d", blocks[2])]);
    let found: Vec<_> = envelope.header.iter().map(|block| (block.must_understand, block.actor.as_deref())).collect();
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
            let reason = "Envelope/Header/h: the header block <h> of \"urn:h\" must be understood, and is not (line 2, column 1)";
            assert_fault(message, "MustUnderstand", reason);
        } else {
            assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{attributes}");
        }
        // The service knows this one.
        let message = with_header(&format!("<h:known xmlns:h='urn:h' {attributes}/>"));
        assert_eq!(ask("", &message[..]), (false, OK.replace("TEXT", "t")), "{attributes}");
    }
}

#[test]
fn other_envelopes_are_of_another_version() {
    let version = "VersionMismatch";
    let expected = |found: &str| {
        format!("Envelope: found an envelope of \"{found}\", where \"{ENVELOPE}\" was expected (line 1, column 1)")
    };
    let soap12 = "http://www.w3.org/2003/05/soap-envelope";
    assert_fault(note("t").replace(ENVELOPE, soap12), version, &expected(soap12));
    assert_fault("<Envelope/>", version, &expected(""));
}

#[test]
fn what_is_no_envelope_is_refused_with_its_place() {
    for (message, reason) in [
        (String::new(), "the document ends before any element (line 1, column 1)"),
        ("<a/>".into(), "a: found <a> of \"\", where <Envelope> was expected (line 1, column 1)"),
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
        // Also behind a beginning that is known.
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
