//! Signed messages with MTOM: what is signed is the message with the text of its parts.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use castile_budget::Budget;
use castile_databinding::schema::Element;
use castile_datatypes::{Base64Binary, StreamedBinary};
use castile_mime::{Attachments, Charges, Content, ContentId, Message, Packaging, Part, Related};
use castile_soap::{
    Description, Dispatch, Fault, Layer, Leniency, MessageSecurity, Mtom, NoDetail, Operation, Options, Payload,
    Pending, Raw, Received, ReplyMessage, Request, RequestMessage, Root, Service, Version, Written, client,
};
use castile_wss::message::{
    ClientSecurity, OutgoingSecurity, Part as SignedPart, Policy, SecurityLayer, VerifiedMessage,
};
use castile_wss::{Error, ErrorKind, Limits, Secret, Trust};
use futures_util::{FutureExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;

use common::verify_package;

/// A message, in which `[name]` stands for a part.
const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body xml:lang='en'><order xmlns='urn:o'><a>[one]</a> <!-- --><b c='&quot;'>[two]</b>&lt;</order></s:Body></s:Envelope>";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn signing(of: &str) -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(Secret::new(of)).with_clock(now)
}

fn security() -> OutgoingSecurity {
    signing("ann")
}

fn signed_by(name: &str) -> Policy {
    Policy::signed_by(Trust::new().with_secret(name, Secret::new(name))).with_clock(now).without_replay_cache()
}

fn policy() -> Policy {
    signed_by("ann")
}

/// A part: its Content-ID and its content.
type Attached<'a> = (&'a str, &'a [u8]);

const ONE: Attached<'_> = ("one", b"\x89PNG\r\n\x1a\n\0\xff");
const TWO: Attached<'_> = ("two", b"<?xml version='1.0'?>\n<a/>");

fn id(id: &str) -> ContentId {
    ContentId::parse(id).unwrap()
}

fn parts(attached: &[Attached<'_>]) -> Vec<Part> {
    // Whatever their media type, their bytes are what is signed.
    let types = ["image/png", "application/xml", "text/plain"].into_iter().cycle();
    let attached = attached.iter().zip(types);
    attached.map(|((name, content), of)| Part::new(id(name), of, content.to_vec().into()).unwrap()).collect()
}

fn attachments(attached: &[Attached<'_>]) -> Attachments {
    Attachments::of(parts(attached)).unwrap()
}

fn include(name: &str) -> String {
    format!("<xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\" href=\"cid:{name}\"/>")
}

/// Returns a message with MTOM.
fn mtom(order: &str) -> String {
    ["one", "two", "three"]
        .iter()
        .fold(order.to_owned(), |order, name| order.replace(&format!("[{name}]"), &include(name)))
}

/// Returns the same message without MTOM.
fn inline(order: &str, attached: &[Attached<'_>]) -> String {
    attached
        .iter()
        .fold(order.to_owned(), |order, (name, content)| order.replace(&format!("[{name}]"), &STANDARD.encode(content)))
}

fn signed_with(security: &OutgoingSecurity, message: &str, attached: &[Attached<'_>]) -> Result<String, Error> {
    let secured =
        security.secure_package(message.as_bytes(), Packaging::Mtom, &parts(attached)).now_or_never().unwrap();
    secured.map(|message| String::from_utf8(message).unwrap())
}

fn signed() -> String {
    signed_with(&security(), &mtom(ORDER), &[ONE, TWO]).unwrap()
}

fn verify(policy: &Policy, message: &str, attachments: &mut Attachments) -> Result<VerifiedMessage, Error> {
    verify_package(policy, message.as_bytes(), Packaging::Mtom, attachments)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(verified: Result<T, Error>, kind: ErrorKind, text: &str) {
    let error = verified.unwrap_err();
    assert!(error.kind() == kind && error.message().contains(text), "{:?}: {error}", error.kind());
}

/// An attachment whose content nobody may read.
fn untouchable(name: &str) -> Attachments {
    let content = stream::poll_fn(|_| -> std::task::Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        panic!("the attachment is read")
    });
    let content = Content::stream(StreamBody::new(content));
    Attachments::of(vec![Part::new(id(name), "image/png", content).unwrap()]).unwrap()
}

/// Returns the digests that a message states.
fn digests(message: &str) -> Vec<&str> {
    let after = message.split("<ds:DigestValue>").skip(1);
    after.map(|rest| &rest[..rest.find('<').unwrap()]).collect()
}

#[test]
fn what_is_signed_is_the_message_with_the_text_of_its_parts() {
    let message = signed();
    assert_eq!((message.matches("href=\"cid:").count(), message.matches("URI=\"cid:").count()), (2, 0), "{message}");
    let attached = [ONE, TWO];
    let without = inline(ORDER, &attached);
    let without = security().secure(without.as_bytes()).now_or_never().unwrap().unwrap();
    let without = String::from_utf8(without).unwrap();
    // The time stamps have random ids.
    assert_eq!(digests(&message).len(), 2);
    assert!(digests(&message).iter().any(|digest| digests(&without).contains(digest)), "{message} {without}");
    let mut read = attachments(&attached);
    let verified = verify(&policy(), &message, &mut read).unwrap();
    for (name, is_signed) in [("one", true), ("two", true), ("three", false)] {
        assert_eq!(verified.is_attachment_signed(&id(name)), is_signed, "{name}");
    }
    assert_eq!(verified.required_includes(), message.match_indices("<xop:").map(|(at, _)| at).collect::<Vec<_>>());
    let included = verified.signatures()[0].references.iter().map(|reference| reference.included.len());
    assert_eq!(included.sum::<usize>(), 2);
    // They are read afterwards.
    let read = read.collect(1_000).now_or_never().unwrap().unwrap();
    assert_eq!(read.iter().map(|(_, content)| &content[..]).collect::<Vec<_>>(), attached.map(|(_, content)| content));
    // Their order in the package makes no difference.
    assert!(verify(&policy(), &message, &mut attachments(&[TWO, ONE])).is_ok());

    // Whoever sends it on may choose another form of it.
    let as_text = [ONE, TWO]
        .iter()
        .fold(message.clone(), |message, (name, content)| message.replace(&include(name), &STANDARD.encode(content)));
    assert!(policy().verify(as_text.as_bytes()).now_or_never().unwrap().unwrap().required_includes().is_empty());
    let as_parts = attached
        .iter()
        .fold(without, |message, (name, content)| message.replace(&STANDARD.encode(content), &include(name)));
    assert_eq!(verify(&policy(), &as_parts, &mut attachments(&attached)).unwrap().required_includes().len(), 2);
    // Without MTOM, the element is only an element.
    refused(policy().verify(message.as_bytes()).now_or_never().unwrap(), ErrorKind::Digest, "");
    let unchanged = security().secure(mtom(ORDER).as_bytes()).now_or_never().unwrap().unwrap();
    assert!(policy().verify(&unchanged).now_or_never().unwrap().is_ok());
    let unchanged = String::from_utf8(unchanged).unwrap();
    refused(verify(&policy(), &unchanged, &mut attachments(&attached)), ErrorKind::Digest, "or a part in it");
    let swa = verify_package(&policy(), message.as_bytes(), Packaging::Attachments, &mut attachments(&attached));
    refused(swa, ErrorKind::Digest, "");
}

#[test]
fn changed_parts_are_refused() {
    use ErrorKind::{Attachment, Digest, Reference, Unsigned};
    let message = signed();
    let same = |message: &str| message.to_owned();
    let to = |from: &'static str, to: &'static str| move |message: &str| message.replace(from, to);
    type Case<'a> = (&'a str, Box<dyn Fn(&str) -> String>, &'a [Attached<'a>], ErrorKind, &'a str);
    let cases: Vec<Case<'_>> = vec![
        ("a byte", Box::new(same), &[("one", b"\x89PNG\r\n\x1a\n\0\xfe"), TWO], Digest, "or a part in it"),
        ("line ends, which are signed", Box::new(same), &[ONE, ("two", b"<?xml version='1.0'?>\r\n<a/>")], Digest, ""),
        ("another form of the XML", Box::new(same), &[ONE, ("two", b"<a></a>")], Digest, ""),
        // The text of a part that is shorter by a byte is a prefix of it, but for its padding.
        ("the end", Box::new(same), &[("one", b"\x89PNG\r\n\x1a\n\0"), TWO], Digest, ""),
        ("more", Box::new(same), &[("one", b"\x89PNG\r\n\x1a\n\0\xff\0"), TWO], Digest, ""),
        ("nothing", Box::new(same), &[("one", b""), TWO], Digest, ""),
        ("its text", Box::new(same), &[("one", b"iVBORw0KGgoA/w=="), TWO], Digest, ""),
        ("exchanged", Box::new(same), &[("one", TWO.1), ("two", ONE.1)], Digest, ""),
        ("removed", Box::new(same), &[TWO], Reference, "<Include> with \"one\""),
        ("all removed", Box::new(same), &[], Reference, ""),
        ("added", Box::new(same), &[ONE, TWO, ("three", b"")], Unsigned, "\"three\" is not signed"),
        ("twice", Box::new(same), &[ONE, TWO, ("one", b"other")], Attachment, "Content-ID"),
        ("redirected", Box::new(to("cid:one", "cid:two")), &[ONE, TWO], Unsigned, "\"one\" is not signed"),
        ("redirected to a new one", Box::new(to("cid:one", "cid:three")), &[TWO, ("three", b"3")], Digest, ""),
        (
            "redirected crosswise",
            Box::new(|message| {
                message.replace("cid:one", "cid:1").replace("cid:two", "cid:one").replace("cid:1", "cid:two")
            }),
            &[ONE, TWO],
            Digest,
            "",
        ),
        (
            "moved",
            Box::new(|message| {
                message
                    .replace(&include("one"), "")
                    .replace("<b c='&quot;'>", &format!("<b c='&quot;'>{}", include("one")))
            }),
            &[ONE, TWO],
            ErrorKind::Malformed,
            "not the only content",
        ),
        (
            "in another element",
            Box::new(|message| message.replace(&include("one"), &format!("<d>{}</d>", include("one")))),
            &[ONE, TWO],
            Digest,
            "",
        ),
        ("around it", Box::new(to("<!-- -->", "<d/>")), &[ONE, TWO], Digest, ""),
        ("after it", Box::new(to("&lt;", "&gt;")), &[ONE, TWO], Digest, ""),
        ("before it", Box::new(to("'en'", "'de'")), &[ONE, TWO], Digest, ""),
    ];
    let lenient = policy().with_signed([SignedPart::Body, SignedPart::Timestamp]);
    for (name, change, attached, kind, text) in cases {
        println!("{name}");
        // Parts in signed content are compared before all else, also if attachments are streamed.
        for policy in [policy(), policy().with_streamed_attachments()] {
            refused(verify(&policy, &change(&message), &mut attachments(attached)), kind, text);
        }
        // Whatever may be added: what is signed is as it was.
        let verified = verify(&lenient, &change(&message), &mut attachments(attached));
        match name {
            "added" => assert!(!verified.unwrap().is_attachment_signed(&id("three"))),
            "redirected" => refused(verified, Digest, ""),
            _ => refused(verified, kind, text),
        }
    }
    // Names may be written in several ways, and another part may have the same bytes.
    for same in [to("cid:one", "CID:%6fne")(&message), to("href=\"cid:one\"", "href=' cid:one '")(&message)] {
        assert!(verify(&policy(), &same, &mut attachments(&[ONE, TWO])).unwrap().is_attachment_signed(&id("one")));
    }
    let copied = to("cid:one", "cid:three")(&message);
    assert!(verify(&policy(), &copied, &mut attachments(&[("three", ONE.1), TWO])).is_ok());
    // Comments are not signed where nothing is included.
    assert!(verify(&policy(), &to("<!-- -->", "")(&message), &mut attachments(&[ONE, TWO])).is_ok());
}

/// Every byte of every part is changed, in parts of several lengths.
#[test]
fn changed_bytes_are_noticed() {
    for length in [1, 2, 3, 4, 5, 60] {
        let content: Vec<u8> = (0..length).map(|at| at as u8 ^ 0xa5).collect();
        let message = signed_with(&security(), &mtom(ORDER), &[("one", &content), TWO]).unwrap();
        for at in 0..length {
            for bit in 0..8 {
                let mut changed = content.clone();
                changed[at] ^= 1 << bit;
                let verified = verify(&policy(), &message, &mut attachments(&[("one", &changed), TWO]));
                refused(verified, ErrorKind::Digest, "");
            }
        }
        assert!(verify(&policy(), &message, &mut attachments(&[("one", &content), TWO])).is_ok());
    }
}

#[test]
fn parts_are_stored_after_their_signer_is_known() {
    use ErrorKind::{Digest, Signature, Time, Unsecured};
    let long_ago = || now() - Duration::from_secs(1_000);
    let signed_by = |security: &OutgoingSecurity| signed_with(security, &mtom(ORDER), &[ONE, TWO]).unwrap();
    for (message, kind) in [
        (mtom(ORDER), Unsecured),
        (signed_by(&signing("mallory")), Signature),
        (signed_by(&security().with_clock(long_ago)), Time),
        (signed().replace("<ds:DigestValue>", "<ds:DigestValue>A"), ErrorKind::Malformed),
        // What needs no part is compared before.
        (signed().replace("<wsu:Created>2027-01-15T08:00:00", "<wsu:Created>2027-01-15T08:00:01"), Digest),
    ] {
        refused(verify(&policy(), &message, &mut untouchable("one")), kind, "");
    }
}

#[test]
fn elements_that_stand_for_parts_have_one_form() {
    use ErrorKind::{Malformed, Unsupported};
    let message = signed();
    let (one, attached) = (include("one"), [ONE, TWO]);
    let alone = "not the only content of its element, or is not empty itself";
    let with = |replaced: &str| message.replace(&one, replaced);
    let inside = |content: &str| with(&one.replace("/>", &format!(">{content}</xop:Include>")));
    for accepted in [with(&one), inside(""), with(&one.replace("href", "x='' href"))] {
        assert!(verify(&policy(), &accepted, &mut attachments(&attached)).is_ok(), "{accepted}");
    }
    for (changed, text) in [
        (with(&format!(" {one}")), alone),
        (with(&format!("{one}\n")), alone),
        (with(&format!("<!-- -->{one}")), alone),
        (with(&format!("{one}<!-- -->")), alone),
        (with(&format!("<?pi?>{one}")), alone),
        (with(&format!("{one}<?pi?>")), alone),
        (with(&format!("{one}{one}")), alone),
        (with(&format!("<x/>{one}")), alone),
        (with(&format!("{one}<x/>")), alone),
        (inside(" "), alone),
        (inside("<!-- -->"), alone),
        (inside("<x/>"), alone),
        (inside(&include("two")), alone),
        (with(&one.replace("cid:one", "http://b/one")), "where a cid: URL was expected"),
        (with(&one.replace("cid:one", "cid:")), "where a cid: URL was expected"),
        (with(&one.replace("href", "ref")), "with href \"\""),
        (with(&one.replace("href", "xop:href")), "with href \"\""),
    ] {
        refused(verify(&policy(), &changed, &mut untouchable("one")), Malformed, text);
        let sent = changed.replace("<wsse:Security ", "<x ").replace("</wsse:Security>", "</x>");
        refused(signed_with(&security(), &sent, &attached), Malformed, text);
    }
    // Outside the body nobody reads it with its part.
    let header = |block: &str| {
        let order = ORDER.replace("<s:Body", &format!("<s:Header><x>{block}</x></s:Header><s:Body"));
        let inline = inline(&order.replace("[three]", "dHdv"), &attached);
        let security = security().with_signed([
            SignedPart::Body,
            SignedPart::Timestamp,
            SignedPart::Header { namespace: String::new(), local: "x".to_owned() },
        ]);
        String::from_utf8(security.secure(inline.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
    };
    let message = header("[three]");
    assert!(policy().verify(message.as_bytes()).now_or_never().unwrap().is_ok());
    let outside = message.replace("dHdv", &include("three"));
    let three = ("three", &b"two"[..]);
    refused(verify(&policy(), &outside, &mut attachments(&[three])), Malformed, "outside the body");
    let sent = mtom(&ORDER.replace("<s:Body", "<s:Header><x>[three]</x></s:Header><s:Body"));
    refused(signed_with(&security(), &sent, &[ONE, TWO, three]), Malformed, "outside the body");
    // Where nothing is signed it does no harm.
    assert!(signed_with(&OutgoingSecurity::new().with_timestamp(), &sent, &[]).is_ok());

    // A reference leads to the element itself.
    let named = with(&one.replace("href", "xml:id='include' href"));
    let named = named.replace("URI=\"#body-1\"", "URI=\"#include\"");
    refused(verify(&policy(), &named, &mut untouchable("one")), ErrorKind::Signature, "");
    let own = mtom(ORDER).replace(&one, &one.replace("href", "xml:id='include' href"));
    let twice = with_reference_to(&own, "include");
    refused(verify(&policy(), &twice, &mut untouchable("one")), Unsupported, "which stands for a part");
}

/// Returns a message with a signature of the element with this id, which is not digested as MTOM requires.
fn with_reference_to(message: &str, id: &str) -> String {
    let security = security().with_signed([SignedPart::Body, SignedPart::Timestamp]);
    // The body has the id of the element while it is signed.
    let renamed =
        message.replace(&format!("xml:id='{id}'"), "").replace("<s:Body ", &format!("<s:Body xml:id='{id}' "));
    let signed = String::from_utf8(security.secure(renamed.as_bytes()).now_or_never().unwrap().unwrap()).unwrap();
    let signed = signed.replace(&format!("<s:Body xml:id='{id}' "), "<s:Body ");
    signed.replacen("href", &format!("xml:id='{id}' href"), 1)
}

#[test]
fn parts_that_are_sent_are_there() {
    use ErrorKind::{Reference, Unsupported};
    refused(signed_with(&security(), &mtom(ORDER), &[ONE]), Reference, "no part is what <Include> with \"two\" means");
    let streamed = Content::stream(StreamBody::new(stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::new()))])));
    let parts = [Part::new(id("one"), "image/png", streamed).unwrap(), parts(&[TWO]).remove(0)];
    let secured = security().secure_package(mtom(ORDER).as_bytes(), Packaging::Mtom, &parts).now_or_never().unwrap();
    refused(secured, Unsupported, "\"one\" is sent as a stream");
}

#[test]
fn attachments_beside_them_are_signed_as_such() {
    use ErrorKind::{Digest, Unsigned};
    let three: Attached<'_> = ("three", b"3\n");
    let all = [ONE, TWO, three];
    let message = signed_with(&security(), &mtom(ORDER), &all).unwrap();
    assert_eq!((message.matches("URI=\"cid:three\"").count(), message.matches("URI=\"cid:").count()), (1, 1));
    let verified = verify(&policy(), &message, &mut attachments(&all)).unwrap();
    assert!(["one", "two", "three"].iter().all(|name| verified.is_attachment_signed(&id(name))));
    refused(verify(&policy(), &message, &mut attachments(&[ONE, TWO, ("three", b"4\n")])), Digest, "cid:three");
    // Without the body, all are attachments.
    let others = security().with_signed([SignedPart::Timestamp, SignedPart::Attachments]);
    let message = signed_with(&others, &mtom(ORDER), &[ONE, TWO]).unwrap();
    assert_eq!(message.matches("URI=\"cid:").count(), 2);
    let of_attachments = policy().with_signed([SignedPart::Timestamp, SignedPart::Attachments]);
    let verified = verify(&of_attachments, &message, &mut attachments(&[ONE, TWO])).unwrap();
    assert!(verified.is_attachment_signed(&id("one")) && verified.required_includes().is_empty());
    refused(verify(&policy(), &message, &mut untouchable("one")), Unsigned, "the body is not signed");
    // Those of a signed body are enough, too.
    assert!(verify(&of_attachments, &signed(), &mut attachments(&[ONE, TWO])).is_ok());

    // A part of a body that nobody signed is not signed, and not read.
    let nothing = security().with_signed([SignedPart::Timestamp]);
    let message = signed_with(&nothing, &mtom(ORDER), &[ONE, TWO]).unwrap();
    let timestamp = policy().with_signed([SignedPart::Timestamp]);
    let verified = verify(&timestamp, &message, &mut untouchable("one")).unwrap();
    assert!(!verified.is_attachment_signed(&id("one")) && verified.required_includes().is_empty());
    // Spaces around it are not wrong then.
    let spaced = message.replace(&include("one"), &format!(" {} ", include("one")));
    assert!(verify(&timestamp, &spaced, &mut untouchable("one")).is_ok());
}

/// Returns the attachments of a package that is read within budgets of memory and disk.
fn packaged(content: &[u8], memory: usize) -> (Attachments, Budget) {
    let mut body = b"--b\r\n\r\n<E/>\r\n--b\r\nContent-ID: <one>\r\nContent-Type: image/png\r\n\r\n".to_vec();
    body.extend(content);
    body.extend(b"\r\n--b--\r\n");
    let (budget, disk) = (Budget::new(memory), Budget::new(1 << 30));
    let [memory, disk] = [&budget, &disk].map(|budget| Arc::new(budget.reserve(0).unwrap()));
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let chunks: Vec<_> =
        body.chunks(10_000).map(|chunk| Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(chunk)))).collect();
    let body = StreamBody::new(stream::iter(chunks));
    let read = Message::read_charged(&related, body, castile_mime::Limits::default(), Some(Charges { memory, disk }));
    (read.now_or_never().unwrap().unwrap().attachments, budget)
}

#[test]
fn large_parts_are_not_in_memory() {
    let content: Vec<u8> = (0..10_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let order = ORDER.replace("[two]", "");
    let message = signed_with(&security(), &mtom(&order), &[("one", &content)]).unwrap();
    let (mut read, budget) = packaged(&content, 1 << 20);
    assert!(verify(&policy(), &message, &mut read).unwrap().is_attachment_signed(&id("one")));
    assert!(budget.used() < 600_000, "{}", budget.used());
    let one = read.by_url("cid:one").now_or_never().unwrap().unwrap();
    drop(read);
    drop(one);
    assert_eq!(budget.used(), 0);
    let mut changed = content;
    changed[9_999_999] ^= 1;
    refused(verify(&policy(), &message, &mut packaged(&changed, 1 << 20).0), ErrorKind::Digest, "");
}

#[test]
fn parts_have_limits() {
    use ErrorKind::Limit;
    const LENGTH: usize = 30_000;
    let content = vec![b'x'; LENGTH];
    let attached = [("one", &content[..])];
    let repeated = |times: usize| {
        let all = "<a>[one]</a>".repeat(times);
        ORDER.replace("<a>[one]</a>", &all).replace("[two]", "")
    };
    let message = |times: usize| signed_with(&security(), &mtom(&repeated(times)), &attached).unwrap();
    let limited = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        policy().with_limits(limits)
    };
    // A part counts each time that an element stands for it.
    let of_content = limited(|limits| limits.content = 10 * 40_000 + 2_000);
    assert!(verify(&of_content, &message(10), &mut attachments(&attached)).is_ok());
    refused(verify(&of_content, &message(11), &mut attachments(&attached)), Limit, "the limit of content");
    // A short one counts as what it costs to read it.
    let of_short = limited(|limits| limits.content = 10 * (16 << 10));
    let short = |times: usize| {
        let message = signed_with(&security(), &mtom(&repeated(times)), &[("one", b"x")]).unwrap();
        verify(&of_short, &message, &mut attachments(&[("one", b"x")]))
    };
    assert!(short(10).is_ok());
    refused(short(11), Limit, "the limit of content");
    let of_elements = limited(|limits| limits.includes = 10);
    assert!(verify(&of_elements, &message(10), &mut attachments(&attached)).is_ok());
    refused(verify(&of_elements, &message(11), &mut untouchable("one")), Limit, "more than 10 elements <Include>");
    // Text after a part is kept until the part is there. That before it isn't.
    let of_text = limited(|limits| limits.document.message_size = 50_000);
    let text = ">".repeat(20_000);
    for (order, is_kept) in [
        (repeated(1).replace("<a>", &format!("{text}<a>")), false),
        (repeated(1).replace("</a>", &format!("</a>{text}")), true),
    ] {
        let message = signed_with(&security(), &mtom(&order), &attached).unwrap();
        assert!(verify(&policy(), &message, &mut attachments(&attached)).is_ok());
        match is_kept {
            false => assert!(verify(&of_text, &message, &mut attachments(&attached)).is_ok()),
            true => refused(verify(&of_text, &message, &mut untouchable("one")), Limit, "longer than its limit"),
        }
    }
}

/// Returns a request with this content.
fn photo(content: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><photo xmlns='urn:o'>{content}</photo></s:Body></s:Envelope>"
    )
}

/// A service that answers with what it got, read as one of several types.
#[derive(Clone, Copy)]
enum Photos {
    Binary,
    Streamed,
    Text,
    Raw,
}

const ROOT: Root = Root::new(Element::new("urn:o", "photo", 1), "<photo xmlns=\"urn:o\">", "</photo>");

static OPERATIONS: [Operation; 1] = [Operation::new("photo", "photo", ROOT).with_response(ROOT)];

impl Dispatch for Photos {
    fn description(&self) -> &'static Description {
        const { &Description::new("Photos", "urn:o", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        type Answer<T> = Result<castile_soap::Response<T>, Fault<NoDetail>>;
        match self {
            Photos::Binary => {
                payload.handle(|request: Request<Base64Binary>| async move { Answer::Ok(request.into_inner().into()) })
            }
            Photos::Streamed => payload.handle(|mut request: Request<StreamedBinary>| async move {
                let verified = request.extensions().get::<VerifiedMessage>().unwrap().clone();
                let bytes = match request.get_ref().clone() {
                    StreamedBinary::Inline(bytes) => bytes,
                    StreamedBinary::Attached(url) => {
                        assert!(verified.is_attachment_signed(&ContentId::from_url(&url).unwrap()));
                        request.attachments().by_url(&url).await?.collect(1_000).await?.to_vec()
                    }
                };
                Answer::Ok(Base64Binary(bytes).into())
            }),
            Photos::Text => {
                payload.handle(|request: Request<String>| async move { Answer::Ok(request.into_inner().into()) })
            }
            Photos::Raw => {
                payload.handle(|request: Request<Raw>| async move { Answer::Ok(request.into_inner().into()) })
            }
        }
    }
}

fn received(reply: ReplyMessage) -> Received {
    let message = reply.message.bytes().unwrap().clone();
    let packaging = reply.packaging;
    Received { packaging, attachments: Attachments::of(reply.parts).unwrap(), ..message.into() }
}

#[test]
fn messages_with_mtom_are_signed_both_ways() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let call = |service: Photos, message: &[u8], attached: &[Attached<'_>], options: &Options| {
        let log = refused.clone();
        let layer = SecurityLayer::new(policy())
            .with_reply_security(signing("service"))
            .with_signature_confirmation()
            .on_refusal(move |error| log.lock().unwrap().push(error.kind()));
        let request = RequestMessage::new(Version::Soap11, message.to_vec())
            .with_attachments(Packaging::Mtom, attachments(attached));
        layer.layer(service).call(request, options).now_or_never().unwrap()
    };
    let client = ClientSecurity::new(security()).with_answer_policy(signed_by("service")).with_signature_confirmation();
    let secure = |message: &str, attached: &[Attached<'_>]| {
        client
            .secure(&Written {
                parts: parts(attached),
                packaging: Some(Packaging::Mtom),
                ..Written::new(message.to_owned())
            })
            .now_or_never()
            .unwrap()
            .unwrap()
    };
    let mut options = Options::default();
    options.mtom = Mtom::Asked(4);
    let request = secure(&photo(&include("one")), &[ONE]);
    for service in [Photos::Binary, Photos::Streamed] {
        let reply = call(service, &request.message, &[ONE], &options);
        assert_eq!((reply.packaging, reply.parts.len()), (Some(Packaging::Mtom), 1), "{reply:?}");
        let mut answer = received(reply);
        client.verify(&mut answer, &request.signatures).now_or_never().unwrap().unwrap();
        assert_eq!(answer.required_includes.len(), 1);
        let read = client::response_package::<Base64Binary, NoDetail>(&OPERATIONS[0], answer, &options, false);
        assert_eq!(read.now_or_never().unwrap().unwrap().unwrap().into_inner().0, ONE.1);
    }
    // Somebody changes the part of an answer, or has another one.
    for attached in [&[("other", ONE.1)][..], &[]] {
        let mut answer = received(call(Photos::Binary, &request.message, &[ONE], &options));
        answer.attachments = attachments(attached);
        let error = client.verify(&mut answer, &request.signatures).now_or_never().unwrap().unwrap_err();
        assert_eq!(error.kind(), castile_soap::ErrorKind::Security);
    }
    // The answer to who reads it as XML.
    let mut answer = received(call(Photos::Binary, &request.message, &[ONE], &options));
    client.verify(&mut answer, &request.signatures).now_or_never().unwrap().unwrap();
    let read = client::response_package::<Raw, NoDetail>(&OPERATIONS[0], answer, &options, true);
    let error = read.now_or_never().unwrap().unwrap_err();
    assert!(error.to_string().contains("found <Include> of XOP in a signed message"), "{error}");
    assert_eq!(*refused.lock().unwrap(), []);

    let answer = |reply: &ReplyMessage| String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
    let changed: &[&[Attached<'_>]] = &[&[("one", b"other")], &[("two", ONE.1)], &[ONE, TWO]];
    for attached in changed {
        let reply = call(Photos::Binary, &request.message, attached, &options);
        assert!(answer(&reply).contains("InvalidSecurity") && reply.parts.is_empty(), "{}", answer(&reply));
    }
    use ErrorKind::{Digest, Unsigned};
    assert_eq!(std::mem::take(&mut *refused.lock().unwrap()), [Digest, Unsigned, Unsigned]);
}

/// A text can look like base64. Whoever turns it into a part must not thereby hide it from a service that reads text.
#[test]
fn a_signed_text_is_not_hidden_in_a_part() {
    let text = security().secure(photo("1000").as_bytes()).now_or_never().unwrap().unwrap();
    let text = String::from_utf8(text).unwrap();
    let hidden = text.replace(">1000<", &format!(">{}<", include("one")));
    let part: Attached<'_> = ("one", &STANDARD.decode("1000").unwrap());
    assert!(verify(&policy(), &hidden, &mut attachments(&[part])).is_ok());
    let layer = SecurityLayer::new(policy());
    let call = |service: Photos, message: &str, packaging: Option<Packaging>, options: &Options| {
        let mut request = RequestMessage::new(Version::Soap11, message.to_owned());
        if let Some(packaging) = packaging {
            request = request.with_attachments(packaging, attachments(&[part]));
        }
        let reply = layer.layer(service).call(request, options).now_or_never().unwrap();
        (reply.is_fault(), String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap())
    };
    let mut lenient = Options::default();
    lenient.leniency = Some(Leniency::new(|_, _| {}));
    for options in [Options::default(), lenient] {
        for service in [Photos::Text, Photos::Raw] {
            let (is_fault, answer) = call(service, &text, None, &options);
            assert!(!is_fault && answer.contains(">1000<"), "{answer}");
            let (is_fault, answer) = call(service, &hidden, Some(Packaging::Mtom), &options);
            assert!(is_fault && !answer.contains("InvalidSecurity"), "{answer}");
        }
        // Who reads bytes reads the same ones.
        for (message, packaging) in [(&text, None), (&hidden, Some(Packaging::Mtom))] {
            for service in [Photos::Binary, Photos::Streamed] {
                let (is_fault, answer) = call(service, message, packaging, &options);
                assert!(!is_fault && (packaging.is_some() || answer.contains(">1000<")), "{answer}");
            }
        }
    }
    // A layer inside that requires nothing takes nothing back.
    let inner = SecurityLayer::new(Policy::timestamped().with_clock(now).without_replay_cache());
    let both = SecurityLayer::new(policy()).layer(inner.layer(Photos::Raw));
    let request = RequestMessage::new(Version::Soap11, hidden.clone());
    let request = request.with_attachments(Packaging::Mtom, attachments(&[part]));
    assert!(both.call(request, &Options::default()).now_or_never().unwrap().is_fault());
    // Nothing is signed, so nothing is hidden.
    let unsigned = OutgoingSecurity::new().with_timestamp().with_clock(now);
    let message = signed_with(&unsigned, &photo(&include("one")), &[part]).unwrap();
    let layer = SecurityLayer::new(Policy::timestamped().with_clock(now).without_replay_cache());
    let request = RequestMessage::new(Version::Soap11, message);
    let request = request.with_attachments(Packaging::Mtom, attachments(&[part]));
    let reply = layer.layer(Photos::Raw).call(request, &Options::default()).now_or_never().unwrap();
    assert!(!reply.is_fault());
}

/// The fault of an operation without a response is read in another way than others.
#[test]
fn a_signed_text_of_a_fault_is_not_hidden_in_a_part() {
    static ONE_WAY: Operation = Operation::new("photo", "photo", ROOT);
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>Paid</faultstring></s:Fault></s:Body></s:Envelope>";
    let signed = signing("service").secure(fault.as_bytes()).now_or_never().unwrap().unwrap();
    let signed = String::from_utf8(signed).unwrap();
    let hidden = signed.replace(">Paid<", &format!(">{}<", include("one")));
    let client = ClientSecurity::new(security()).with_answer_policy(signed_by("service"));
    let options = Options::default();
    let part = STANDARD.decode("Paid").unwrap();
    for (message, packaging) in [(signed, None), (hidden, Some(Packaging::Mtom))] {
        let parts = if packaging.is_some() { attachments(&[("one", &part)]) } else { Attachments::none() };
        let mut answer = Received { packaging, attachments: parts, ..Bytes::from(message).into() };
        client.verify(&mut answer, &[]).now_or_never().unwrap().unwrap();
        let mut expected = client::Expected::<String, NoDetail>::new(None);
        let read = client::accepted_into(&ONE_WAY, &answer, &options, expected.slot());
        assert_eq!(read.is_ok(), packaging.is_none(), "{read:?}");
    }
}

/// Only the body has the text of its parts when it is signed.
#[test]
fn a_part_of_a_header_block_is_signed_as_an_attachment() {
    let order = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><x>[three]</x></s:Header><s:Body><order xmlns='urn:o'>tea</order></s:Body></s:Envelope>";
    let sent = signed_with(&security(), &mtom(order), &[("three", b"3")]).unwrap();
    assert!(sent.contains("URI=\"cid:three\""), "{sent}");
}
