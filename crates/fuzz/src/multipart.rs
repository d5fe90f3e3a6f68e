//! Checks the parser of multipart bodies, and packages that are written and read again.

use std::task::{Context, Poll, Waker};

use castile_mime::{Boundary, Limits, Package, Packaging, Part, Related};

use crate::{documents, shown};

// The comparison that the parser's tests use.
#[path = "../../mime/tests/splits/mod.rs"]
mod splits;

/// Bodies with fewer bytes are also fed byte by byte.
const BYTEWISE_LENGTH: usize = 1024;
/// Each chunk of a body has fewer bytes than this, unless the body is fed as a whole.
const MAX_PIECE_LENGTH: usize = 40;

/// Parses any bytes as a multipart body, split into chunks at arbitrary positions. Then writes the same bytes as the
/// parts of a package, and reads the package again.
pub fn multipart(input: &[u8]) {
    let mut lengths: Vec<usize> =
        input.iter().rev().map(|&byte| usize::from(byte) % MAX_PIECE_LENGTH).chain([1]).collect();
    // The lengths are repeated cyclically. Consecutive empty chunks become one, because the check would be quadratic
    // with thousands of them for each byte.
    lengths.dedup_by(|one, before| *one == 0 && *before == 0);
    parse(input, &lengths);
    round_trip(&documents(input), &lengths);
}

/// Parses a body. Its boundary is the one in the first line. If that line has none, the boundary is a single letter, so
/// that random bytes may contain it.
fn parse(input: &[u8], lengths: &[usize]) {
    let line = input.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(line.strip_prefix(b"--").unwrap_or_default()).unwrap_or_default();
    let Ok(boundary) = Boundary::new(line).or_else(|_| Boundary::new("b")) else { return };
    let mut limits = Limits::default();
    if input.len() % 4 == 3 {
        (limits.parts, limits.head_lines, limits.head_size) = (2, 3, 60);
        (limits.preamble_size, limits.body_size) = (20, 200);
    }
    let outcome = splits::compare(&boundary, limits, input, lengths);
    if input.len() < BYTEWISE_LENGTH {
        splits::compare(&boundary, limits, input, &[1]);
    }
    assert!(outcome.has_ended || outcome.error.is_some(), "neither an end nor an error: {}", shown(input));
    assert!(outcome.parts.len() <= limits.parts as usize);
    for (head, content) in &outcome.parts {
        assert!(head.offset() <= input.len() as u64 && content.len() <= input.len());
    }
}

fn round_trip(contents: &[&[u8]], lengths: &[usize]) {
    let root = contents.first().copied().unwrap_or_default();
    let package = Package::new(Packaging::Mtom, "text/xml", root.to_vec().into());
    let mut package = package.expect("random numbers and a media type");
    for content in contents.iter().skip(1) {
        let part = Part::new(package.next_id(), "application/octet-stream", content.to_vec().into());
        package.attach(part.expect("a media type")).expect("an identifier of its own");
    }
    let related = Related::parse(&package.content_type()).expect("a media type of our own");
    let body = written(package);
    let outcome = splits::compare(related.boundary(), Limits::default(), &body, lengths);
    assert_eq!((outcome.error, outcome.has_ended), (None, true), "{}", shown(&body));
    let read: Vec<_> = outcome.parts.iter().map(|(_, content)| content.as_slice()).collect();
    assert_eq!(read, if contents.is_empty() { vec![&b""[..]] } else { contents.to_vec() });
    assert_eq!(outcome.parts[0].0.content_id(), related.start());
}

/// Returns the body of a package whose content is in memory.
fn written(package: Package) -> Vec<u8> {
    let mut body = package.into_body();
    let length = http_body::Body::size_hint(&body).exact();
    let mut out = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(frame)) = http_body::Body::poll_frame(std::pin::Pin::new(&mut body), &mut context) {
        let frame = frame.expect("bytes don't fail");
        out.extend_from_slice(frame.data_ref().expect("a package has no trailers"));
    }
    assert_eq!(length, Some(out.len() as u64));
    out
}
