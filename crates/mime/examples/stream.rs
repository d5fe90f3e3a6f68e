//! Writes and reads a package with an attachment, and prints the time and the memory that took: once with the
//! attachment after the root, and once with the attachment before it, which is stored in a file.
//!
//!     cargo run --release -p castile-mime --example stream [MEBIBYTES]
//!
//! It fails if the process takes more than 64 MiB.

use std::time::Instant;

use bytes::Bytes;
use castile_mime::{Attachment, Content, Error, Limits, Message, Package, Packaging, Part, Related};
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;

const PIECE: usize = 64 << 10;
const MOST: usize = 64 << 20;

fn main() -> Result<(), Error> {
    let mebibytes = std::env::args().nth(1).map_or(1024, |argument| argument.parse().expect("a number of mebibytes"));
    let length = mebibytes << 20;
    for (name, is_before) in [("behind the root", false), ("before the root", true)] {
        let begun = Instant::now();
        let sum = pass(length, is_before).now_or_never().expect("all is at hand")?;
        assert_eq!(sum, expected(length), "what came is not what was sent");
        let seconds = begun.elapsed().as_secs_f64();
        println!("{mebibytes} MiB {name}: {seconds:.2} s, {:.0} MiB/s", mebibytes as f64 / seconds);
    }
    if let Some(peak) = peak() {
        println!("at most {} KiB of memory", peak >> 10);
        assert!(peak <= MOST, "more than {MOST} bytes");
    }
    Ok(())
}

/// Writes a package, reads it, writes it again and reads it again. Returns the total number of bytes.
async fn pass(length: usize, is_before: bool) -> Result<u64, Error> {
    let body = StreamBody::new(stream::iter(pieces(length)).map(|piece| Ok::<_, std::io::Error>(Frame::data(piece))));
    let mut attachment = send(Content::stream(body), is_before).await?;
    attachment = send(attachment.into(), is_before).await?;
    let mut sum = 0;
    while let Some(data) = attachment.data().await? {
        sum = add(sum, &data);
    }
    Ok(sum)
}

async fn send(content: Content, is_before: bool) -> Result<Attachment, Error> {
    let mut limits = Limits::default();
    limits.stored = 2 << 30;
    let mut package = Package::new(Packaging::Attachments, "text/xml", "<E/>".into())?;
    package.attach(Part::new(package.next_id(), "application/octet-stream", content)?)?;
    package.attach(Part::new(package.next_id(), "text/xml", b"<E/>".to_vec().into())?)?;
    let mut content_type = package.content_type();
    if is_before {
        // Declare the last part as the root.
        content_type = content_type.replace("start=\"<0.", "start=\"<2.");
    }
    let mut message = Message::read(&Related::parse(&content_type)?, package.into_body(), limits).await?;
    if is_before {
        message.attachments.next().await?;
    }
    Ok(message.attachments.next().await?.expect("an attachment was sent"))
}

/// Returns chunks with line ends, some of which look like the beginning of a boundary.
fn pieces(length: usize) -> impl Iterator<Item = Bytes> {
    (0..length / PIECE).map(|number| {
        let line = format!("{number:016x}\r\n--MIME_\r");
        Bytes::from(line.into_bytes().repeat(PIECE / 26 + 1)).slice(..PIECE)
    })
}

fn expected(length: usize) -> u64 {
    pieces(length).fold(0, |sum, piece| add(sum, &piece))
}

fn add(sum: u64, data: &[u8]) -> u64 {
    data.iter().fold(sum, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte) + 1))
}

/// Returns the peak memory of the process in bytes, if Linux reports it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|kibibytes| kibibytes << 10)
}
