//! Tests that the encoding of a message is determined by its byte order mark, then its media type, then its declaration (RFC 7303
//! §3, XML 1.0 appendix F).
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_soap::{Envelope, NoDetail, Options, RequestMessage, Service, Version, client};
use castile_xml::{CachedReader, Charset, Limits, decode};
use common::{Note, Notes, OK, OPERATIONS, ask, ask_in, envelope, note};
use futures_util::FutureExt;

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

/// Encodes the first 256 characters of Unicode.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

fn declared(label: &str, text: &str) -> String {
    format!("<?xml version='1.0' encoding='{label}'?>{}", note(text))
}

fn charset(label: &str) -> Option<Charset> {
    (!label.is_empty()).then(|| Charset::of_label(label).unwrap())
}

#[test]
fn mark_then_charset_then_declaration_then_utf8() {
    let marked = |text: &str| format!("\u{FEFF}{text}");
    for (label, message, expected) in [
        ("", note("é€").into_bytes(), "é€"),
        ("utf-8", note("é€").into_bytes(), "é€"),
        ("utf-8", marked(&note("é€")).into_bytes(), "é€"),
        // By byte order mark.
        ("", utf16(&marked(&note("é€")), u16::to_le_bytes), "é€"),
        ("utf-8", utf16(&marked(&note("é€")), u16::to_be_bytes), "é€"),
        ("iso-8859-1", utf16(&marked(&declared("UTF-8", "é")), u16::to_be_bytes), "é"),
        ("iso-8859-1", marked(&note("é€")).into_bytes(), "é€"),
        // By charset.
        ("utf-16", utf16(&note("é€"), u16::to_le_bytes), "é€"),
        ("utf-16be", utf16(&note("é€"), u16::to_be_bytes), "é€"),
        ("iso-8859-1", latin1(&note("é")), "é"),
        ("iso-8859-1", note("é").into_bytes(), "Ã©"),
        ("windows-1252", latin1(&note("\u{80}")), "€"),
        ("us-ascii", note("e").into_bytes(), "e"),
        ("utf-8", declared("ISO-8859-1", "é").into_bytes(), "é"),
        ("utf-8", declared("utf-16", "é").into_bytes(), "é"),
        ("iso-8859-1", latin1(&declared("utf-8", "é")), "é"),
        // By declaration.
        ("", latin1(&declared("ISO-8859-1", "é")), "é"),
        ("", latin1(&declared("windows-1252", "\u{80}")), "€"),
        ("", declared("iso-8859-1", "all ascii").into_bytes(), "all ascii"),
        ("", utf16(&declared("UTF-16", "é€"), u16::to_le_bytes), "é€"),
        ("", utf16(&declared("utf-16be", "é€"), u16::to_be_bytes), "é€"),
        ("", utf16(&declared("utf-16", "all ascii"), u16::to_le_bytes), "all ascii"),
    ] {
        // Twice, so that the second message begins with a cached prologue.
        for _ in 0..2 {
            assert_eq!(ask("", note("first")), (false, OK.replace("TEXT", "first")));
            let answer = ask_in(charset(label), "", &message[..]);
            assert_eq!(answer, (false, OK.replace("TEXT", expected)), "{label} {}", String::from_utf8_lossy(&message));
        }
    }
}

#[test]
fn undecodable_messages_are_faults_of_the_sender() {
    let bad_text = latin1(&note("\u{E9}"));
    let place = note("").find("</text>").unwrap();
    let not_utf8 =
        format!("echo/text: byte 0xE9 is not UTF-8, the encoding that was expected (line 1, column {})", place + 1);
    for (label, message, expected) in [
        ("", bad_text.clone(), not_utf8.clone()),
        ("utf-8", bad_text.clone(), not_utf8),
        ("us-ascii", bad_text, format!("byte 0xE9 is not US-ASCII, the encoding that was expected (byte {place})")),
        (
            "",
            declared("klingon", "").into_bytes(),
            "the encoding \"klingon\" is unknown; UTF-8 and UTF-16 are always supported (byte 0)".into(),
        ),
        (
            "",
            declared("utf-16", "").into_bytes(),
            "the encoding \"utf-16\" is declared, but the bytes are UTF-8 (byte 0)".into(),
        ),
        (
            "",
            utf16(&note(""), u16::to_le_bytes),
            "UTF-16 without a byte order mark or an encoding declaration, one of which is required (byte 0)".into(),
        ),
        ("utf-16", b"<\0a".to_vec(), "byte 0x61 is not UTF-16LE, the encoding that was expected (byte 2)".into()),
    ] {
        let (is_fault, answer) = ask_in(charset(label), "", &message[..]);
        assert!(is_fault && answer.contains("<faultcode>soap:Client</faultcode>"), "{answer}");
        assert!(answer.contains(&format!("<faultstring>{expected}</faultstring>")), "{answer}\n{expected}");
    }
}

#[test]
fn places_are_those_of_the_decoded_text() {
    let message = note("\n€é</text><wrong>");
    let (_, expected) = ask("", &message[..]);
    assert!(expected.contains("(line 2, column 10)"), "{expected}");
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let (is_fault, answer) = ask_in(None, "", utf16(&format!("\u{FEFF}{message}"), order));
        assert_eq!((is_fault, answer), (true, expected.clone()));
    }
    let header = "<h:a xmlns:h='urn:h'>é€</h:a>";
    let message = envelope(&format!("<e:Header>{header}</e:Header><e:Body/>"));
    let bytes = utf16(&message, u16::to_le_bytes);
    let text = decode(&bytes, charset("utf-16le")).unwrap();
    let (envelope, _) =
        Envelope::read(&mut CachedReader::decoded(&text, Limits::default(), &mut Default::default()).unwrap()).unwrap();
    assert_eq!(&text[envelope.header[0].bytes.clone()], header);
}

#[test]
fn the_limit_holds_for_what_is_decoded() {
    // Each character has one byte, and three bytes when decoded.
    let message = |count: usize| latin1(&note(&"\u{80}".repeat(count)));
    let mut limits = Limits::default();
    limits.message_size = 4_000;
    let call = |message: Vec<u8>| {
        assert!(message.len() < limits.message_size);
        let request = RequestMessage::new(Version::Soap11, message).with_charset(charset("windows-1252"));
        Notes.call(request, &limits.into()).now_or_never().unwrap()
    };
    assert!(!call(message(1_000)).is_fault());
    let reply = call(message(1_500));
    let text = common::text(&reply.message);
    assert!(reply.is_fault() && text.contains("longer than 4000 bytes"), "{text}");
}

#[test]
fn answers_are_read_as_requests_are() {
    let answer = OK.replace("TEXT", "é€");
    let declared = format!("<?xml version='1.0' encoding='UTF-16'?>{answer}");
    for (label, message) in [
        ("", answer.clone().into_bytes()),
        ("utf-8", utf16(&format!("\u{FEFF}{answer}"), u16::to_be_bytes)),
        ("utf-16", utf16(&answer, u16::to_le_bytes)),
        ("", utf16(&declared, u16::to_le_bytes)),
    ] {
        let response =
            client::response::<Note, NoDetail>(&OPERATIONS[0], &message, charset(label), &Options::default());
        assert_eq!(response.unwrap().unwrap(), Note { text: "é€".into() });
    }
    let error =
        client::response::<Note, NoDetail>(&OPERATIONS[0], "é".as_bytes(), charset("us-ascii"), &Options::default());
    let expected = "byte 0xC3 is not US-ASCII, the encoding that was expected (byte 0)";
    assert_eq!(error.unwrap_err().to_string(), expected);
}
