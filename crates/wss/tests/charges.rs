//! What verification needs is charged, and long work is done by workers.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use castile_budget::Budget;
use castile_databinding::schema::Element;
use castile_datatypes::Base64Binary;
use castile_mime::{Charges, ContentId, Message, Packaging, Part, Related};
use castile_soap::{
    Description, Dispatch, Fault, Layer, NoDetail, Offload, Offloading, Operation, Options, Payload, Pending, Request,
    RequestMessage, Root, Service, Version, Work,
};
use castile_wss::message::{OutgoingSecurity, Part as SignedPart, Policy, SecurityLayer};
use castile_wss::{ErrorKind, Secret, Trust};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body_util::Full;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn security() -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(Secret::new("ann")).with_clock(now)
}

fn policy() -> Policy {
    Policy::signed_by(Trust::new().with_secret("ann", Secret::new("ann"))).with_clock(now).without_replay_cache()
}

fn photo(content: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><photo xmlns='urn:o'>{content}</photo></s:Body></s:Envelope>"
    )
}

struct Photos;

const ROOT: Root = Root::new(Element::new("urn:o", "photo", 1), "<photo xmlns=\"urn:o\">", "</photo>");

static OPERATIONS: [Operation; 1] = [Operation::new("photo", "photo", ROOT)];

impl Dispatch for Photos {
    fn description(&self) -> &'static Description {
        const { &Description::new("Photos", "urn:o", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        payload.handle(|_: Request<Base64Binary>| async move { Ok::<_, Fault<NoDetail>>(().into()) })
    }
}

/// How a request is answered.
#[derive(Debug, PartialEq)]
enum Answered {
    Accepted,
    /// Its signature is right.
    Malformed,
    Exhausted,
    Refused(ErrorKind),
}

fn answered(request: RequestMessage, options: &Options) -> Answered {
    let refused = Arc::new(Mutex::new(None));
    let log = refused.clone();
    let layer = SecurityLayer::new(policy()).on_refusal(move |error| *log.lock().unwrap() = Some(error.kind()));
    let reply = layer.layer(Photos).call(request, options).now_or_never().unwrap();
    let reason = refused.lock().unwrap().take();
    match reason {
        None if reply.is_fault() => Answered::Malformed,
        None => Answered::Accepted,
        Some(ErrorKind::Exhausted) => {
            assert!(reply.is_exhausted);
            Answered::Exhausted
        }
        Some(other) => Answered::Refused(other),
    }
}

fn secured(message: &str) -> Vec<u8> {
    security().secure(message.as_bytes()).now_or_never().unwrap().unwrap()
}

#[test]
fn messages_are_charged_while_they_are_verified() {
    let call = |message: &[u8], memory: usize| {
        let budget = Budget::new(memory);
        let mut request = RequestMessage::new(Version::Soap11, message.to_vec());
        request.reservation = Some(Arc::new(budget.reserve(0).unwrap()));
        let answered = answered(request, &Options::default());
        assert_eq!(budget.used(), 0);
        answered
    };
    let message = secured(&photo(&"AAAA".repeat(25_000)));
    assert_eq!(call(&message, 3 * message.len() - 1), Answered::Exhausted);
    assert_eq!(call(&message, 3 * message.len()), Answered::Accepted);
    // It is refused before its signature is looked at.
    let changed = String::from_utf8(message.clone()).unwrap().replace("<ds:SignatureValue>", "<ds:SignatureValue>AAAA");
    assert_eq!(call(changed.as_bytes(), 3 * message.len()), Answered::Exhausted);
    assert_eq!(call(changed.as_bytes(), 4 * message.len()), Answered::Refused(ErrorKind::Signature));
    // In another encoding, the text is a copy.
    let text = format!("\u{feff}{}", String::from_utf8(message).unwrap());
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(call(&utf_16, 4 * utf_16.len()), Answered::Accepted);
    assert_eq!(call(&utf_16, 3 * utf_16.len() - 1), Answered::Exhausted);
    let text = photo(&"\u{20ac}".repeat(25_000));
    let text = String::from_utf8(secured(&text)).unwrap();
    let latin: Vec<u8> = text.chars().map(|c| if c == '\u{20ac}' { 0x80 } else { c as u8 }).collect();
    let latin = [b"<?xml version='1.0' encoding='windows-1252'?>", &latin[..]].concat();
    assert_eq!(call(&latin, 4 * text.len()), Answered::Exhausted);
    // The handler reads a binary value.
    assert_eq!(call(&latin, 8 * text.len()), Answered::Malformed);
    // A short one is free.
    let message = secured(&photo("AAAA"));
    assert_eq!(call(&message, 10_000), Answered::Accepted);
}

/// Returns a request in a package with one part, and the budget of memory that it is charged to.
fn packaged(
    message: Vec<u8>,
    packaging: Packaging,
    (media_type, content): (&str, &[u8]),
    memory: usize,
) -> (RequestMessage, Budget) {
    let mut body = b"--b\r\n\r\n<E/>\r\n--b\r\n".to_vec();
    body.extend(format!("Content-ID: <a@b>\r\nContent-Type: {media_type}\r\n\r\n").as_bytes());
    body.extend(content);
    body.extend(b"\r\n--b--\r\n");
    let budget = Budget::new(memory);
    let [charged, disk] = [&budget, &Budget::new(1 << 30)].map(|budget| Arc::new(budget.reserve(0).unwrap()));
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let charges = Some(Charges { memory: charged.clone(), disk });
    let read = Message::read_charged(&related, Full::new(Bytes::from(body)), castile_mime::Limits::default(), charges);
    let attachments = read.now_or_never().unwrap().unwrap().attachments;
    let mut request = RequestMessage::new(Version::Soap11, message).with_attachments(packaging, attachments);
    request.reservation = Some(charged);
    (request, budget)
}

const INCLUDE: &str = "<i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:a@b'/>";

fn part(media_type: &str, content: &[u8]) -> [Part; 1] {
    [Part::new(ContentId::parse("a@b").unwrap(), media_type, content.to_vec().into()).unwrap()]
}

#[test]
fn text_after_a_part_is_charged_while_it_is_kept() {
    let message = photo(INCLUDE).replace("</photo>", &format!("</photo>{}", " ".repeat(100_000)));
    let message = security()
        .secure_package(message.as_bytes(), Packaging::Mtom, &part("image/png", b"it"))
        .now_or_never()
        .unwrap()
        .unwrap();
    let call = |memory: usize| {
        let (request, budget) = packaged(message.clone(), Packaging::Mtom, ("image/png", b"it"), memory);
        let offload = Workers::default();
        let answered = answered(request, &offload.options(10_000));
        assert_eq!(budget.used(), 0);
        (answered, offload.jobs.load(Relaxed))
    };
    // What the whole needs while it is read is more.
    assert_eq!(call(3 * message.len() - 1), (Answered::Exhausted, 0));
    // A worker digests the text, and others read the message twice.
    assert_eq!(call(7 * message.len()), (Answered::Accepted, 3));
}

/// Runs jobs at once, or never.
#[derive(Clone, Default)]
struct Workers {
    jobs: Arc<AtomicUsize>,
    is_gone: Arc<AtomicBool>,
}

impl Workers {
    fn options(&self, above: usize) -> Options {
        let mut options = Options::default();
        options.offload = Some(Offloading::new(above, Arc::new(self.clone())));
        options
    }
}

impl Offload for Workers {
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        self.jobs.fetch_add(1, Relaxed);
        if !self.is_gone.load(Relaxed) {
            work();
        }
        Box::pin(std::future::ready(()))
    }
}

#[test]
fn documents_that_are_attached_are_charged_and_read_by_workers() {
    let content = format!("<a>{}</a>", "x".repeat(100_000)).into_bytes();
    let security = security().with_signed([SignedPart::Body, SignedPart::Timestamp, SignedPart::Attachments]);
    let message = photo("AAAA");
    let sign = |of: &[Part]| {
        security.secure_package(message.as_bytes(), Packaging::Attachments, of).now_or_never().unwrap().unwrap()
    };
    let call = |content: &[u8], memory: usize, above: usize, is_gone: bool| {
        let message = sign(&part("text/xml", content));
        let (request, budget) = packaged(message, Packaging::Attachments, ("text/xml", content), memory);
        let workers = Workers::default();
        workers.is_gone.store(is_gone, Relaxed);
        let answered = answered(request, &workers.options(above));
        assert_eq!(budget.used(), 0);
        (answered, workers.jobs.load(Relaxed))
    };
    let length = content.len();
    // It is stored, collected, and read.
    assert_eq!(call(&content, 13 * length, length, false), (Answered::Exhausted, 0));
    assert_eq!(call(&content, 15 * length, length, false), (Answered::Accepted, 0));
    assert_eq!(call(&content, 15 * length, length - 1, false), (Answered::Accepted, 1));
    assert_eq!(call(&content, 15 * length, length - 1, true), (Answered::Refused(ErrorKind::Crypto), 1));
    assert_eq!(call(b"<a/>", 10_000, 10_000, false), (Answered::Accepted, 0));
}
