//! The result of parsing a body doesn't depend on where it is split.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod splits;

use castile_mime::{Boundary, Limits};

fn boundary() -> Boundary {
    Boundary::new("b").unwrap()
}

/// Bodies and the content of their parts.
const BODIES: &[(&str, &[&str])] = &[
    ("--b\r\n\r\nx\r\n--b--", &["x"]),
    ("--b\r\n\r\n--b--\r\n", &[""]),
    ("--b\r\n\r\n\r\n--b--\r\n", &[""]),
    ("--b\r\nContent-ID: <a@b>\r\n\r\n\r\n\r\n--b--\r\n", &["\r\n"]),
    ("preamble\r\n--b \t \r\na: b\r\n c\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--\t\r\nepilogue --b", &["1", "2"]),
    // Text that resembles a boundary.
    ("--b\r\n\r\nx--b\r\n--\r\n-\r\n--c\r\r\n-b\n--b\r\r\r\n--b--", &["x--b\r\n--\r\n-\r\n--c\r\r\n-b\n--b\r\r"]),
    ("--b\r\n\r\n--c\r\n--b--", &["--c"]),
    ("--b\r\n\r\n-\r\n--b--", &["-"]),
    ("a--b\r\n--\r\n\r\n--b\r\n\r\nx\r\n--b--\r", &["x"]),
    // Lines that end with only LF.
    ("--b\nContent-Transfer-Encoding: binary\n\nx\r\ny\r\n\n--b\n\n--b--\n", &["x\r\ny\r\n", ""]),
    (
        "--b\r\nContent-Transfer-Encoding: base64\r\n\r\n SGVs\r\nbG8s\r\nIHdv cmxk\tIQ==\r\n\r\n--b--",
        &["Hello, world!"],
    ),
    (
        "--b\r\nContent-Transfer-Encoding: Quoted-Printable\r\n\r\n=48ello=\r\n,=20wo=  \r\nrld \t\r\n!=\r\n--b--",
        &["Hello, world\r\n!"],
    ),
];

#[test]
fn anywhere() {
    for (body, contents) in BODIES {
        let body = body.as_bytes();
        let outcome = splits::compare(&boundary(), Limits::default(), body, &[1]);
        assert_eq!(outcome.error, None, "{}", body.escape_ascii());
        assert!(outcome.has_ended);
        let found: Vec<_> = outcome.parts.iter().map(|(_, content)| content.as_slice()).collect();
        let expected: Vec<_> = contents.iter().map(|content| content.as_bytes()).collect();
        assert_eq!(found, expected, "{}", body.escape_ascii());
        for first in 0..body.len() {
            for second in 0..body.len() - first {
                splits::compare(&boundary(), Limits::default(), body, &[first, second, body.len()]);
            }
        }
    }
}

#[test]
fn anywhere_and_ended_early() {
    for (body, _) in BODIES {
        for end in 0..body.len() {
            let outcome = splits::compare(&boundary(), Limits::default(), &body.as_bytes()[..end], &[3, 1, 2]);
            assert_eq!(outcome.has_ended, outcome.error.is_none());
        }
    }
}

#[test]
fn any_limit_at_any_place() {
    for (body, _) in BODIES {
        for limit in 0..body.len() {
            let mut limits = Limits::default();
            for choice in 0..5 {
                match choice {
                    0 => limits.body_size = limit as u64,
                    1 => limits.head_size = limit,
                    2 => limits.head_lines = limit % 3,
                    3 => limits.preamble_size = limit,
                    _ => limits.parts = limit as u32 % 3,
                }
                splits::compare(&boundary(), limits, body.as_bytes(), &[1]);
                splits::compare(&boundary(), limits, body.as_bytes(), &[4, 3]);
            }
        }
    }
}

#[test]
fn heads_are_read() {
    let body = "--b\r\nA: 1\r\n2: \r\ncontent-id : <x@y> \r\nContent-Location: http://a\r\n\t/b\r\nContent-Type: MultiPart/mixed\r\nContent-Transfer-Encoding: 8BIT\r\n\r\n--b--";
    let outcome = splits::compare(&boundary(), Limits::default(), body.as_bytes(), &[1]);
    let (head, _) = &outcome.parts[0];
    assert_eq!((head.number(), head.offset()), (1, 5));
    assert_eq!(head.field("a"), Some("1"));
    assert_eq!(head.field("2"), Some(""));
    assert_eq!(head.field("b"), None);
    assert_eq!(head.content_id().unwrap().as_str(), "x@y");
    assert_eq!(head.content_location(), Some("http://a /b"));
    assert_eq!(head.media_type().unwrap().unwrap().essence(), "multipart/mixed");
    assert!(head.is_multipart());
    assert_eq!(head.transfer_encoding(), castile_mime::TransferEncoding::EightBit);
    assert_eq!(head.fields().count(), 6);
}

#[test]
fn data_is_not_copied() {
    let body = bytes::Bytes::from(format!("--b\r\n\r\n{}\r\n--b--", "x".repeat(10_000)));
    let mut parser = castile_mime::Parser::new(&boundary(), Limits::default());
    parser.feed(body.clone());
    while let Some(event) = parser.next().unwrap() {
        if let castile_mime::Event::Data(data) = event {
            assert_eq!((data.as_ptr(), data.len()), (body[7..].as_ptr(), 10_000));
            return;
        }
    }
    panic!("there is data");
}
