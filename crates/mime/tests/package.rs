//! Written packages: heads, lengths, and content that is read back unchanged.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use bytes::Bytes;
use castile_mime::{Content, ContentId, Error, ErrorKind, Limits, Message, Package, Packaging, Part, Related};
use futures_util::{FutureExt, stream};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody};

fn sent(package: Package) -> Result<Bytes, Error> {
    let body = package.into_body();
    let (lower, exact) = (body.size_hint().lower(), body.size_hint().exact());
    let sent = body.collect().now_or_never().expect("all is at hand")?.to_bytes();
    assert!(lower <= sent.len() as u64);
    assert!(exact.is_none_or(|exact| exact == sent.len() as u64));
    Ok(sent)
}

/// Creates content in chunks, whose declared length is right, wrong or unknown.
fn coming(pieces: &[&'static str], length: Option<u64>) -> Content {
    struct Sized<B>(B, Option<u64>);
    impl<B: Body<Data = Bytes> + Unpin> Body for Sized<B> {
        type Data = Bytes;
        type Error = B::Error;
        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<Bytes>, B::Error>>> {
            std::pin::Pin::new(&mut self.0).poll_frame(cx)
        }
        fn size_hint(&self) -> http_body::SizeHint {
            self.1.map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
        }
    }
    let frames: Vec<_> = pieces
        .iter()
        .map(|piece| match *piece {
            "!" => Err(std::io::Error::other("the disk is gone")),
            piece => Ok(Frame::data(Bytes::from_static(piece.as_bytes()))),
        })
        .collect();
    Content::stream(Sized(StreamBody::new(stream::iter(frames)), length))
}

/// Replaces random digits by `#`.
fn without_random(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    while let Some(start) = rest.find(is_digit) {
        let (before, digits) = rest.split_at(start);
        let length = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
        out.push_str(before);
        out.push_str(if length == 32 { "#" } else { &digits[..length] });
        rest = &digits[length..];
    }
    out + rest
}

#[test]
fn heads_of_both_packagings_and_versions() {
    let cases = [
        (
            Packaging::Attachments,
            "text/xml",
            None,
            r#"type="text/xml"; boundary="MIME_#"; start="<0.#@castile>""#,
            "text/xml; charset=utf-8",
        ),
        (
            Packaging::Attachments,
            "application/soap+xml",
            Some("urn:a"),
            r#"type="application/soap+xml"; boundary="MIME_#"; start="<0.#@castile>"; action="urn:a""#,
            r#"application/soap+xml; charset=utf-8; action="urn:a""#,
        ),
        (
            Packaging::Mtom,
            "text/xml",
            None,
            r#"type="application/xop+xml"; boundary="MIME_#"; start="<0.#@castile>"; start-info="text/xml""#,
            r#"application/xop+xml; charset=utf-8; type="text/xml""#,
        ),
        (
            Packaging::Mtom,
            "application/soap+xml",
            Some("urn:\"a\""),
            r#"type="application/xop+xml"; boundary="MIME_#"; start="<0.#@castile>"; start-info="application/soap+xml"; action="urn:\"a\"""#,
            r#"application/xop+xml; charset=utf-8; type="application/soap+xml"; action="urn:\"a\"""#,
        ),
    ];
    for (packaging, media_type, action, content_type, root_type) in cases {
        let mut package = Package::new(packaging, media_type, "<E/>".into()).unwrap();
        if let Some(action) = action {
            package = package.action(action).unwrap();
        }
        let part = Part::new(package.next_id(), "a/b", b"x".to_vec().into()).unwrap();
        package.attach(part.field("Content-Location", "http://a").unwrap()).unwrap();
        let found = package.content_type();
        assert_eq!(without_random(&found), format!("multipart/related; {content_type}"));
        let body = String::from_utf8(sent(package).unwrap().to_vec()).unwrap();
        let expected = format!(
            "--MIME_#\r\nContent-Type: {root_type}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <0.#@castile>\r\n\r\n\
             <E/>\r\n--MIME_#\r\nContent-Type: a/b\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <1.#@castile>\r\n\
             Content-Location: http://a\r\n\r\nx\r\n--MIME_#--\r\n"
        );
        assert_eq!(without_random(&body), expected);
        let related = Related::parse(&found).unwrap();
        let message = Message::read(&related, http_body_util::Full::new(Bytes::from(body)), Limits::default());
        let message = message.now_or_never().unwrap().unwrap();
        assert_eq!(message.root, "<E/>");
        assert_eq!(message.action(&related).as_deref(), action);
        let (found, envelope) = message.envelope(&related).unwrap();
        assert_eq!((found, envelope.essence()), (packaging, media_type));
    }
}

#[test]
fn two_packages_have_two_boundaries() {
    let boundary = || Package::new(Packaging::Mtom, "text/xml", Bytes::new().into()).unwrap().content_type();
    let (a, b) = (boundary(), boundary());
    assert_ne!(a, b);
    assert_eq!(without_random(&a), without_random(&b));
}

#[test]
fn content_of_known_and_unknown_length() {
    for (content, length, expected) in [
        (Content::from(b"abc".to_vec()), true, Ok("abc")),
        (Content::from(Bytes::new()), true, Ok("")),
        (coming(&["ab", "", "c"], Some(3)), true, Ok("abc")),
        (coming(&["ab", "", "c"], None), false, Ok("abc")),
        (coming(&[], Some(0)), true, Ok("")),
        (coming(&["ab"], Some(3)), true, Err("the content of a part ends 1 bytes early (part 2)")),
        (coming(&["ab", "cd"], Some(3)), true, Err("the content of a part is longer than its body declared (part 2)")),
        (coming(&["ab", "!", "cd"], None), false, Err("the content of a part broke off (part 2)")),
    ] {
        let mut package = Package::new(Packaging::Attachments, "text/xml", "<E/>".into()).unwrap();
        package.attach(Part::new(package.next_id(), "a/b", content).unwrap()).unwrap();
        let related = Related::parse(&package.content_type()).unwrap();
        let body = package.into_body();
        assert_eq!(body.size_hint().exact().is_some(), length);
        let body = body.collect().now_or_never().unwrap();
        match expected {
            Err(expected) => assert_eq!(body.unwrap_err().to_string(), expected),
            Ok(expected) => {
                let body = http_body_util::Full::new(body.unwrap().to_bytes());
                let message = Message::read(&related, body, Limits::default()).now_or_never().unwrap().unwrap();
                let all = message.attachments.collect(10).now_or_never().unwrap().unwrap();
                assert_eq!(all[0].1, expected);
            }
        }
    }
}

#[test]
fn invalid_packages_are_errors() {
    let package = || Package::new(Packaging::Attachments, "text/xml", Bytes::new().into());
    let id = || ContentId::parse("a@b").unwrap();
    let part = || Part::new(id(), "a/b", Vec::new().into());
    for refused in [
        Package::new(Packaging::Mtom, "text/xml; charset=utf-8", Bytes::new().into()).err(),
        Package::new(Packaging::Mtom, "text", Bytes::new().into()).err(),
        package().unwrap().action("urn:a\r\nEvil: 1").err(),
        Part::new(id(), "a/b\r\nEvil: 1", Vec::new().into()).err(),
        part().unwrap().field("Content-Location", "a\nb").err(),
        part().unwrap().field("Content Location", "a").err(),
        part().unwrap().field("content-id", "<c@d>").err(),
    ] {
        assert_eq!(refused.expect("a refusal").kind(), ErrorKind::Unwritable);
    }
    let mut package = package().unwrap();
    package.attach(part().unwrap()).unwrap();
    assert_eq!(package.attach(part().unwrap()).unwrap_err().kind(), ErrorKind::Duplicate);
}
