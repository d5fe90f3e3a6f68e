//! Names that are too long or invalid cause an error that is short and at the right offset.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_xml::{Error, ErrorKind, Limits, Reader, Token};

fn read(input: &str) -> Result<(), Error> {
    let mut reader = Reader::new(input.as_bytes(), Limits::default())?;
    while reader.next()? != Token::End {}
    Ok(())
}

/// A character of several bytes after a colon once caused a panic, because the message was cut inside it.
#[test]
fn a_colon_may_be_followed_by_anything() {
    for (input, expected) in [
        ("<a:×/>", "\"a:×\""),
        ("<a:/>", "\"a:/\""),
        ("<a:b:×/>", "\"a:b:\""),
        ("<a:", "\"a:\""),
        ("<a:\u{2019}/>", "\"a:\u{2019}\""),
        ("<e a:×='1'/>", "\"a:×\""),
        ("<e></a:×>", "\"a:×\""),
    ] {
        let error = read(input).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Namespace, "{input}");
        assert!(error.message().starts_with(&format!("{expected} is not a qualified name")), "{input}: {error}");
    }
}

#[test]
fn messages_do_not_repeat_what_is_long() {
    let long = "n".repeat(1 << 20);
    for input in [
        format!("<{long}/>"),
        format!("<{long}:{long}/>"),
        format!("<{long}:/>"),
        format!("<a:{long}:/>"),
        format!("<a {long}='1'/>"),
        format!("<a {long}:='1'/>"),
        format!("<a></{long}>"),
        format!("<a></a{long}>"),
        format!("<a>&{long};</a>"),
        format!("<a>&#{long};</a>"),
        format!("<a xmlns='{long}'/>"),
        format!("<a xmlns:b='{long}'/>"),
        format!("<a xmlns:xml='{long}'/>"),
        format!("<?xml version='1.0' encoding='{long}'?><a/>"),
        format!("<?xml version='{long}'?><a/>"),
        format!("<{long}?><a/>"),
        format!("<a/>{long}"),
    ] {
        let error = read(&input).unwrap_err();
        let shown = error.to_string();
        assert!(shown.len() < 3_000, "{} bytes: {}…", shown.len(), &shown[..100]);
    }
}

/// Names of namespaces are compared and copied many times, so long ones would cost far more than the document is large.
#[test]
fn names_of_namespaces_have_the_length_of_names() {
    let name = |length| format!("<a xmlns='{}'/>", "n".repeat(length));
    let limit = Limits::default().name_length;
    assert_eq!(read(&name(limit)), Ok(()));
    let error = read(&name(limit + 1)).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, 3));
}
