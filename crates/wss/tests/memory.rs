//! Verification needs no more memory than is charged for it.
//!
//! The allocations of the whole process are counted. Therefore there is no test harness, whose own thread allocates at any time.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_wss::message::{OutgoingSecurity, Policy};
use castile_wss::{ErrorKind, Secret, SigningKey, Trust};
use castile_xml::c14n::{Algorithm, Method, Subset, Version};
use futures_util::FutureExt;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// The length of what is in the messages, in bytes.
const LENGTH: usize = 1 << 20;
/// What verification may need for any message: `SignedInfo`, keys.
const FREE: usize = 600 << 10;
const EXCLUSIVE: Algorithm = Algorithm { version: Version::Exclusive10, with_comments: false };

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secret() -> Secret {
    Secret::new("ann")
}

fn policy() -> Policy {
    Policy::signed_by(Trust::new().with_secret("ann", secret())).with_clock(now).without_replay_cache()
}

fn envelope(header: &str, body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header>{header}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
    )
}

fn signed(message: &str) -> String {
    let security = OutgoingSecurity::new().with_timestamp().with_signature(secret()).with_clock(now);
    String::from_utf8(security.secure(message.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
}

/// Repeats the reference to the body.
fn repeated(message: &str, times: usize) -> String {
    let starts: Vec<usize> = message.match_indices("<ds:Reference ").map(|(at, _)| at).collect();
    let start = starts.into_iter().find(|at| message[*at..].starts_with("<ds:Reference URI=\"#body")).unwrap();
    let end = start + message[start..].find("</ds:Reference>").unwrap() + "</ds:Reference>".len();
    let message = format!("{}{}{}", &message[..start], message[start..end].repeat(times), &message[end..]);
    let mut info = Vec::new();
    let mut reader = castile_xml::Reader::new(message.as_bytes(), castile_xml::Limits::default()).unwrap();
    let subset = Subset { apex: message.find("<ds:SignedInfo"), without: None };
    Method::new(EXCLUSIVE).write(&mut reader, subset, |piece| info.extend(piece.as_bytes())).unwrap();
    let value = STANDARD.encode(secret().sign(&info).now_or_never().unwrap().unwrap());
    let at = message.find("<ds:SignatureValue>").unwrap() + "<ds:SignatureValue>".len();
    let end = at + message[at..].find('<').unwrap();
    format!("{}{value}{}", &message[..at], &message[end..])
}

/// Returns the largest number of bytes that were allocated at a time while a message was verified.
fn peak(message: &[u8]) -> (usize, Result<(), ErrorKind>) {
    let policy = policy();
    let profiler = dhat::Profiler::builder().testing().build();
    let verified = policy.verify(message).now_or_never().unwrap().map(drop).map_err(|error| error.kind());
    let peak = dhat::HeapStats::get().max_bytes;
    drop(profiler);
    (peak, verified)
}

fn main() {
    let text = |of: &str| of.repeat(LENGTH / of.len());
    let ids = |count: usize| {
        let id = "i".repeat(LENGTH / count - 20);
        (0..count).map(|number| format!("<a xml:id='{id}{number}'/>")).collect::<String>()
    };
    // The value of this attribute has to be copied to be read.
    let copied = format!("<a xml:id='i&#65;{}'/>", text("i"));
    let quotes = format!("<a b='{}'/>", text("\""));
    let nested = |count: usize| {
        let id = "i".repeat(LENGTH / count - 20);
        (0..count).map(|number| format!("<a xml:id='{id}{number}'>")).collect::<String>() + &"</a>".repeat(count)
    };
    let wide = format!("<a b='{}'/>", text("x"));
    let attributes: String = (0..250).map(|number| format!(" a{number}='{}'", "y".repeat(LENGTH / 250 - 8))).collect();
    let namespace = format!("urn:{}", "n".repeat(990));
    let blocks = format!("<n:b xmlns:n='{namespace}'/>").repeat(200);
    let utf_16 = |message: &str| -> Vec<u8> {
        let message = format!("\u{feff}{message}");
        message.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let message = |body: &str| signed(&envelope("", body)).into_bytes();
    let mut latin = signed(&envelope("", &text("\u{20ac}"))).into_bytes();
    latin = String::from_utf8(latin).unwrap().chars().map(|c| if c == '\u{20ac}' { 0x80 } else { c as u8 }).collect();
    let latin = [&b"<?xml version='1.0' encoding='windows-1252'?>"[..], &latin].concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", message("")),
        ("text", message(&text("x"))),
        ("words", message(&text("x y "))),
        ("references", message(&text("&#x20ac;"))),
        ("sections", message(&text("<![CDATA[x]]>"))),
        ("elements", message(&text("<a/>"))),
        ("short ids", message(&ids(2_000))),
        ("long ids", message(&ids(10))),
        ("nested ids", message(&nested(200))),
        ("an id that is copied", message(&copied)),
        ("quotes", message(&quotes)),
        ("a long attribute", message(&wide)),
        ("many attributes", message(&format!("<a{attributes}/>"))),
        ("repeated text", repeated(&String::from_utf8(message(&text("x"))).unwrap(), 25).into_bytes()),
        ("repeated attribute", repeated(&String::from_utf8(message(&wide)).unwrap(), 25).into_bytes()),
        (
            "repeated attributes",
            repeated(&String::from_utf8(message(&format!("<a{attributes}/>"))).unwrap(), 25).into_bytes(),
        ),
        ("header blocks", signed(&envelope(&blocks, &text("x"))).into_bytes()),
        ("UTF-16", utf_16(&signed(&envelope("", &text("x"))))),
        ("UTF-16, wide", utf_16(&signed(&envelope("", &text("\u{4e00}"))))),
        ("windows-1252", latin),
        ("no security", envelope("", &ids(2_000)).into_bytes()),
        ("not well-formed", [envelope("", &ids(10)).as_bytes(), b"x"].concat()),
    ];
    for (name, message) in cases {
        let (peak, verified) = peak(&message);
        println!(
            "{name}: {} bytes, peak {peak}, {:.2}, {verified:?}",
            message.len(),
            peak as f64 / message.len() as f64
        );
        // As much as a service charges, and what any message may need.
        let text = castile_xml::decode(&message, None).unwrap();
        let converted = if matches!(text, Cow::Owned(_)) { text.len() } else { 0 };
        let charged = (3 * text.len() + converted).max(3 * message.len());
        assert!(peak < charged + FREE, "{name}: {peak} bytes, where {charged} are charged");
    }
}
