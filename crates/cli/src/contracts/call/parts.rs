//! Descriptions of the parts of a message.

use bytes::Bytes;
use castile_mime::{Event, Limits, Parser, PartHead, Related};

use crate::errors;

/// Describes a part: its media type, Content-ID and size.
pub(super) fn described(head: &PartHead, size: usize) -> String {
    let media_type = head.content_type().unwrap_or("no media type");
    let id = head.content_id().map_or_else(|| "no Content-ID".to_owned(), |id| format!("Content-ID {id}"));
    format!("{media_type}, {id}, {}", errors::counted(size, "byte"))
}

/// How many parts of a package are listed. Another package is shown as it is: an answer may have millions of parts without content.
const MAX_SHOWN_PARTS: u32 = 10_000;

/// Returns the envelope of a package, and descriptions of its other parts. Returns `None` if `body` isn't a complete package, or has more
/// parts than are listed.
pub(super) fn opened(content_type: &str, body: &Bytes) -> Option<(Vec<u8>, Vec<String>)> {
    let related = Related::parse(content_type).ok()?;
    let mut limits = Limits::default();
    // A request of this program may exceed the default limits.
    (limits.parts, limits.head_size) = (MAX_SHOWN_PARTS, usize::MAX);
    let mut parser = Parser::new(related.boundary(), limits);
    parser.feed(body.clone());
    parser.finish();
    let mut envelope = None;
    let mut parts: Vec<(PartHead, usize)> = Vec::new();
    loop {
        match parser.next().ok()?? {
            // The envelope is the first part.
            Event::Part(head) if envelope.is_some() => parts.push((head, 0)),
            Event::Part(_) => envelope = Some(Vec::new()),
            Event::Data(data) => match parts.last_mut() {
                Some((_, size)) => *size += data.len(),
                None => envelope.get_or_insert_default().extend_from_slice(&data),
            },
            Event::PartEnd => {}
            Event::End => break,
        }
    }
    Some((envelope?, parts.iter().map(|(head, size)| described(head, *size)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_summarised_without_their_content() {
        let lines = [
            "--b",
            "Content-Type: text/xml",
            "",
            "<a/>",
            "--b",
            "Content-Type: image/png",
            "Content-ID: <a@b>",
            "",
            "\u{1b}\u{0}",
            "--b",
            "",
            "x",
            "--b--",
            "",
        ];
        let body = Bytes::from(lines.join("\r\n"));
        let (envelope, parts) = opened("multipart/related; type=\"text/xml\"; boundary=b", &body).unwrap();
        assert_eq!(envelope, b"<a/>");
        assert_eq!(parts, ["image/png, Content-ID <a@b>, 2 bytes", "no media type, no Content-ID, 1 byte"]);
        let many = format!("--b\r\n\r\n<a/>{}\r\n--b--\r\n", "\r\n--b\r\n\r\n".repeat(MAX_SHOWN_PARTS as usize));
        assert!(opened("multipart/related; boundary=b", &Bytes::from(many)).is_none());
        for (content_type, body) in [("text/xml", "<a/>"), ("multipart/related; boundary=b", "--b\r\n\r\n<a/>")] {
            assert!(opened(content_type, &Bytes::from_static(body.as_bytes())).is_none(), "{content_type}");
        }
    }
}
