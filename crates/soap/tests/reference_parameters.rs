//! Tests that an address with too many reference parameters doesn't use more memory than an address with the maximum number.
//!
//! The allocations of the whole process are counted. Therefore there is no test harness, whose own thread allocates at any time.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_soap::{Options, RequestMessage, Service, Version};
use common::{ENVELOPE, Notes, text};
use futures_util::FutureExt;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns a message with this content in an address.
fn message(content: &str) -> String {
    format!(
        "<e:Envelope xmlns:e=\"{ENVELOPE}\" xmlns:w=\"http://www.w3.org/2005/08/addressing\"><e:Header>\
         <w:MessageID>urn:a</w:MessageID><w:Action>x</w:Action>\
         <w:From><w:Address>http://x</w:Address>{content}</w:From></e:Header>\
         <e:Body><echo xmlns=\"urn:n\"><text>a</text></echo></e:Body></e:Envelope>"
    )
}

/// Returns how many blocks and bytes are allocated to answer a message that is rejected with `why`.
fn allocated(message: String, why: &str) -> (u64, u64) {
    let before = dhat::HeapStats::get();
    let request = RequestMessage::new(Version::Soap11, message);
    let reply = Notes.call(request, &Options::default()).now_or_never().unwrap();
    let after = dhat::HeapStats::get();
    let answer = text(&reply.message);
    assert!(answer.contains(why), "{answer}");
    (after.total_blocks - before.total_blocks, after.total_bytes - before.total_bytes)
}

fn main() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let within = |content: &str| format!("<w:ReferenceParameters>{content}</w:ReferenceParameters>");
    let most = message(&within(&"<a/>".repeat(64)));
    let not_known = "ActionNotSupported";
    // Exclude allocations that are made only once.
    allocated(most.clone(), not_known);
    let (blocks, bytes) = allocated(most, not_known);
    for (content, why) in [
        (within(&"<a/>".repeat(60_000)), "more than 64 reference parameters"),
        (within("<a/>").repeat(4_000), "more than 64 reference parameters"),
        // Content that is not stored is not copied.
        (format!("<w:Metadata>{}</w:Metadata>", "<a/>".repeat(60_000)), not_known),
    ] {
        let (more_blocks, more_bytes) = allocated(message(&content), why);
        assert!(more_blocks < 2 * blocks, "{more_blocks} blocks, where {blocks} were enough: {content:.60}");
        assert!(more_bytes < 2 * bytes, "{more_bytes} bytes, where {bytes} were enough: {content:.60}");
    }
    // Stored content is copied each time that the message is read: to find its operation, and to reject it.
    let long = |length| within(&format!("<a>{}</a>", "x".repeat(length)));
    let (_, more_bytes) = allocated(message(&long(60_000)), not_known);
    assert!(more_bytes < 8 * 60_000, "{more_bytes} bytes for one parameter of 60 KB");
    let too_long = "reference parameters of more than 64 KiB";
    let (_, more_bytes) = allocated(message(&long(250_000)), too_long);
    assert!(more_bytes < 4 * 250_000, "{more_bytes} bytes for one parameter of 250 KB");
    // Each parameter declares what the envelope declared once. The answer was 40 times as large as the message.
    let namespaces: Vec<_> =
        (0..60).map(|number| format!("xmlns:n{number}='urn:{}{number}'", "x".repeat(950))).collect();
    let uses: String = (0..60).map(|number| format!(" n{number}:a=''")).collect();
    let many = message(&within(&format!("<n0:a{uses}/>").repeat(64)));
    let many = many.replacen("<w:From", &format!("<w:From {}", namespaces.join(" ")), 1);
    let length = many.len() as u64;
    let (_, more_bytes) = allocated(many, too_long);
    assert!(more_bytes < 40 * length, "{more_bytes} bytes for a message of {length}");
}
