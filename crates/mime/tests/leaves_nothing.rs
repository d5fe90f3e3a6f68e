//! However a message ends, no memory or file remains. Streaming takes little memory and no disk space.
//!
//! The memory is that of the process, so this test has no harness, whose thread would allocate at any time.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use bytes::Bytes;
use castile_mime::{Content, Limits, Message, Package, Packaging, Part, Related};
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const PIECE: usize = 64 << 10;

/// Creates content with this many chunks, followed by an error if it should break off.
fn content(pieces: usize, breaks_off: bool) -> Content {
    let pieces = stream::iter(0..pieces).map(|number| Ok(Frame::data(Bytes::from(vec![number as u8; PIECE]))));
    let end = breaks_off.then(|| Err(std::io::Error::other("reset by peer")));
    Content::stream(StreamBody::new(pieces.chain(stream::iter(end))))
}

/// Creates a package whose root is its last part if `before` is set, or its first.
fn package(before: bool, pieces: usize, breaks_off: bool) -> (Related, castile_mime::PackageBody) {
    let mut package = Package::new(Packaging::Mtom, "text/xml", "<E/>".into()).unwrap();
    package.attach(Part::new(package.next_id(), "a/b", content(pieces, breaks_off)).unwrap()).unwrap();
    let last = package.next_id();
    package.attach(Part::new(last.clone(), "text/xml", b"<E/>".to_vec().into()).unwrap()).unwrap();
    let content_type = package.content_type();
    let content_type = match before {
        // The last part is then the root.
        true => content_type.replace("start=\"<0.", "start=\"<2."),
        false => content_type,
    };
    (Related::parse(&content_type).unwrap(), package.into_body())
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn main() {
    if !std::path::Path::new("/proc/self/fd").is_dir() {
        println!("skipped: /proc is absent");
        return;
    }
    let _profiler = dhat::Profiler::builder().testing().build();
    // Make one-time allocations.
    streams(1);
    kept(1, false, true);
    let (files, memory) = (open_files(), dhat::HeapStats::get().curr_bytes);
    for (breaks_off, is_read) in [(false, true), (false, false), (true, false)] {
        kept(100, breaks_off, is_read);
        let now = dhat::HeapStats::get().curr_bytes;
        assert_eq!((open_files(), now), (files, memory), "broken off: {breaks_off}, read: {is_read}");
    }
    let before = dhat::HeapStats::get().max_bytes;
    // The stored parts were in a file.
    assert!(before < memory + 2 * (1 << 20), "{before} bytes at most");
    streams(512);
    let (most, now) = (dhat::HeapStats::get().max_bytes, dhat::HeapStats::get().curr_bytes);
    assert_eq!((most, now), (before, memory), "what streams takes less than what is kept");
}

/// Reads a message whose root is the last part.
fn kept(pieces: usize, breaks_off: bool, is_read: bool) {
    let (related, body) = package(true, pieces, breaks_off);
    let message = Message::read(&related, body, Limits::default()).now_or_never().unwrap();
    assert_eq!(message.is_err(), breaks_off);
    let Ok(mut message) = message else { return };
    let mut length = 0;
    let mut open = Vec::new();
    while is_read && let Some(attachment) = message.attachments.next().now_or_never().unwrap().unwrap() {
        let mut attachment = Box::pin(attachment);
        while let Some(data) = attachment.as_mut().next().now_or_never().unwrap() {
            length += data.unwrap().len();
        }
        open.push(attachment);
    }
    // The root of the package is an attachment here.
    assert_eq!(length, if is_read { "<E/>".len() + pieces * PIECE } else { 0 });
}

/// Forwards a message while it arrives.
fn streams(pieces: usize) {
    let (related, body) = package(false, pieces, false);
    let length = async {
        let mut message = Message::read(&related, body, Limits::default()).await.unwrap();
        let mut package = Package::new(Packaging::Attachments, "text/xml", "<E/>".into()).unwrap();
        let attachment = message.attachments.next().await.unwrap().unwrap();
        package.attach(Part::new(package.next_id(), "a/b", attachment.into()).unwrap()).unwrap();
        let mut body = package.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.unwrap().into_data().unwrap().len();
        }
        length
    };
    let length = length.now_or_never().unwrap();
    assert!(length > pieces * PIECE);
}
