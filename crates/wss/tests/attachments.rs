//! Signed attachments (SOAP Messages with Attachments Profile): what is signed is accepted, and nothing else is.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use castile_budget::Budget;
use castile_mime::{Attachments, Charges, Content, ContentId, Message, Packaging, Part, Related};
use castile_soap::{
    Layer, MessageSecurity, Options, Received, Request, RequestMessage, Response, Service, Version, Written,
};
use castile_wss::message::{
    ClientSecurity, OutgoingSecurity, Part as SignedPart, Policy, SecurityLayer, VerifiedMessage,
};
use castile_wss::{Error, ErrorKind, Limits, Secret, SigningKey, Trust, VerifiedContent};
use castile_xml::c14n::{Algorithm, Method, Subset};
use futures_util::{FutureExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;

use common::{Answer, orders, verify_package};

const CONTENT: &str = "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform";
const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order xmlns='urn:o'>Tea</order></s:Body></s:Envelope>";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secret(of: &str) -> Secret {
    Secret::new(of.as_bytes())
}

fn signing(of: &str) -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(secret(of)).with_clock(now)
}

fn security() -> OutgoingSecurity {
    signing("ann")
}

fn policy() -> Policy {
    Policy::signed_by(Trust::new().with_secret("ann", secret("ann"))).with_clock(now).without_replay_cache()
}

/// Accepts further attachments, which are not signed.
fn lenient() -> Policy {
    policy().with_signed([SignedPart::Body, SignedPart::Timestamp])
}

/// An attachment: its Content-ID, its media type and its content.
type Attached = (&'static str, &'static str, &'static [u8]);

const PHOTO: Attached = ("photo@b", "image/png", b"\x89PNG\r\n\x1a\n\0\xff");
const NOTE: Attached = ("note@b", "text/plain; charset=utf-8", b"It rains.\r\nStill.\r\n");
const LIST: Attached = ("list@b", "application/xml", b"<list><item n=\"1\"></item></list>");

fn part((id, media_type, content): Attached) -> Part {
    Part::new(ContentId::parse(id).unwrap(), media_type, content.to_vec().into()).unwrap()
}

fn parts(attached: &[Attached]) -> Vec<Part> {
    attached.iter().copied().map(part).collect()
}

fn received(attached: &[Attached]) -> Attachments {
    Attachments::of(parts(attached)).unwrap()
}

fn signed_with(security: &OutgoingSecurity, attached: &[Attached]) -> Result<String, Error> {
    let secured =
        security.secure_package(ORDER.as_bytes(), Packaging::Attachments, &parts(attached)).now_or_never().unwrap();
    secured.map(|message| String::from_utf8(message).unwrap())
}

fn signed(attached: &[Attached]) -> String {
    signed_with(&security(), attached).unwrap()
}

fn verify(policy: &Policy, message: &str, attachments: &mut Attachments) -> Result<VerifiedMessage, Error> {
    verify_package(policy, message.as_bytes(), Packaging::Attachments, attachments)
}

/// Returns whether each signed attachment is signed exactly as it is.
fn exactness(verified: &VerifiedMessage) -> Vec<(String, bool)> {
    let references = verified.signatures().iter().flat_map(|signature| &signature.references);
    let attachments = references.filter_map(|reference| match &reference.content {
        VerifiedContent::Attachment { id, is_exact } => Some((id.as_str().to_owned(), *is_exact)),
        _ => None,
    });
    attachments.collect()
}

#[track_caller]
fn refused(verified: Result<VerifiedMessage, Error>, kind: ErrorKind, text: &str) {
    let error = verified.unwrap_err();
    assert!(error.kind() == kind && error.message().contains(text), "{:?}: {error}", error.kind());
}

/// Content that is a stream, in chunks of one byte.
fn bytewise(content: &'static [u8]) -> Content {
    let chunks = content.chunks(1).map(|chunk| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(chunk))));
    Content::stream(StreamBody::new(stream::iter(chunks)))
}

/// An attachment whose content nobody may read.
fn untouchable(id: &str) -> Attachments {
    let content = stream::poll_fn(|_| -> std::task::Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        panic!("the attachment is read")
    });
    let content = Content::stream(StreamBody::new(content));
    Attachments::of(vec![Part::new(ContentId::parse(id).unwrap(), "image/png", content).unwrap()]).unwrap()
}

#[test]
fn signed_attachments_are_accepted() {
    let message = signed(&[PHOTO, NOTE, LIST]);
    assert_eq!(message.matches(CONTENT).count(), 3, "{message}");
    let mut attachments = received(&[PHOTO, NOTE, LIST]);
    let verified = verify(&policy(), &message, &mut attachments).unwrap();
    let all = ["photo@b", "note@b", "list@b"];
    assert_eq!(exactness(&verified), all.map(|id| (id.to_owned(), true)));
    for (id, is_signed) in all.map(|id| (id, true)).into_iter().chain([("other@b", false)]) {
        assert_eq!(verified.is_attachment_signed(&ContentId::parse(id).unwrap()), is_signed);
    }
    // They are read afterwards, in any order.
    let list = attachments.by_url("cid:list@b").now_or_never().unwrap().unwrap();
    assert_eq!(list.collect(100).now_or_never().unwrap().unwrap(), LIST.2);
    let rest = attachments.collect(1_000).now_or_never().unwrap().unwrap();
    let rest: Vec<&[u8]> = rest.iter().map(|(_, content)| &content[..]).collect();
    assert_eq!(rest, [PHOTO.2, NOTE.2]);
    // Their order is not signed.
    assert!(verify(&policy(), &message, &mut received(&[LIST, PHOTO, NOTE])).is_ok());
    // Nothing else than the message is enough.
    let alone = policy().verify(message.as_bytes()).now_or_never().unwrap();
    refused(alone, ErrorKind::Reference, "\"cid:photo@b\" is to an attachment, and the message was given without");
    assert!(policy().verify(signed(&[]).as_bytes()).now_or_never().unwrap().is_ok());
}

#[test]
fn changed_attachments_are_refused() {
    use ErrorKind::{Attachment, Digest, Reference, Unsigned};
    let message = signed(&[PHOTO, NOTE]);
    let other: Attached = ("other@b", "image/png", b"");
    let cases: &[(&str, &[Attached], ErrorKind, &str)] = &[
        ("a byte", &[(PHOTO.0, PHOTO.1, b"\x89PNG\r\n\x1a\n\0\xfe"), NOTE], Digest, "\"cid:photo@b\" was changed"),
        ("the end", &[PHOTO, (NOTE.0, NOTE.1, b"It rains.\r\n")], Digest, "\"cid:note@b\" was changed"),
        ("all", &[(PHOTO.0, PHOTO.1, b""), NOTE], Digest, ""),
        ("removed", &[NOTE], Reference, "no attachment is what the reference \"cid:photo@b\" means"),
        ("all removed", &[], Reference, ""),
        ("added", &[PHOTO, NOTE, other], Unsigned, "\"other@b\" is not signed"),
        ("exchanged", &[(PHOTO.0, PHOTO.1, NOTE.2), (NOTE.0, NOTE.1, PHOTO.2)], Digest, ""),
        ("renamed", &[("other@b", PHOTO.1, PHOTO.2), NOTE], Unsigned, "\"other@b\" is not signed"),
        ("twice", &[PHOTO, NOTE, (PHOTO.0, PHOTO.1, b"other")], Attachment, "Content-ID"),
        ("a binary that becomes a text", &[(PHOTO.0, "text/plain", b"\x89PNG\r\n\x1a\n\0\xff"), NOTE], Digest, ""),
    ];
    for (name, attached, kind, text) in cases {
        let verified = verify(&policy(), &message, &mut received(attached));
        println!("{name}");
        refused(verified, *kind, text);
        // Whatever is not required to be signed: what is signed is as it was.
        let verified = verify(&lenient(), &message, &mut received(attached));
        match *name {
            "added" => assert!(!verified.unwrap().is_attachment_signed(&ContentId::parse("other@b").unwrap())),
            "renamed" => refused(verified, Reference, ""),
            _ => refused(verified, *kind, text),
        }
    }
    // Without any, all is well.
    assert!(verify(&policy(), &signed(&[]), &mut received(&[])).is_ok());
    assert!(verify(&policy(), &signed(&[]), &mut Attachments::none()).is_ok());
}

#[test]
fn attachments_that_are_not_signed_are_an_option() {
    let unsigned = security().with_signed([SignedPart::Body, SignedPart::Timestamp]);
    for message in [signed(&[]), signed_with(&unsigned, &[PHOTO]).unwrap()] {
        assert!(!message.contains("cid:"));
        refused(
            verify(&policy(), &message, &mut untouchable("photo@b")),
            ErrorKind::Unsigned,
            "\"photo@b\" is not signed",
        );
        let mut attachments = untouchable("photo@b");
        // They are not even read.
        let verified = verify(&lenient(), &message, &mut attachments).unwrap();
        assert!(!verified.is_attachment_signed(&ContentId::parse("photo@b").unwrap()));
    }
    // Without a Content-ID nothing can be signed.
    let body = "--b\r\n\r\n<E/>\r\n--b\r\n\r\nIt rains.\r\n--b--\r\n";
    let package = |body: &'static str| {
        let related = Related::parse("multipart/related; boundary=b").unwrap();
        let chunks = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(body.as_bytes())))]);
        let read = Message::read(&related, StreamBody::new(chunks), castile_mime::Limits::default());
        read.now_or_never().unwrap().unwrap().attachments
    };
    refused(verify(&policy(), &signed(&[]), &mut package(body)), ErrorKind::Unsigned, "Content-ID");
    assert!(verify(&lenient(), &signed(&[]), &mut package(body)).is_ok());
}

/// Returns the message with another value of its signature, for another `SignedInfo`.
fn signed_again(message: &str) -> String {
    let mut info = Vec::new();
    let exclusive = Algorithm { version: castile_xml::c14n::Version::Exclusive10, with_comments: false };
    let mut reader = castile_xml::Reader::new(message.as_bytes(), castile_xml::Limits::default()).unwrap();
    let subset = Subset { apex: message.find("<ds:SignedInfo"), without: None };
    Method::new(exclusive).write(&mut reader, subset, |piece| info.extend(piece.as_bytes())).unwrap();
    let value = STANDARD.encode(secret("ann").sign(&info).now_or_never().unwrap().unwrap());
    let at = message.find("<ds:SignatureValue>").unwrap() + "<ds:SignatureValue>".len();
    let end = at + message[at..].find('<').unwrap();
    format!("{}{value}{}", &message[..at], &message[end..])
}

/// What somebody who is trusted may write, and what isn't supported of it.
#[test]
fn references_have_one_form() {
    use ErrorKind::{Digest, Disallowed, Malformed, Reference, Unsupported};
    let message = signed(&[PHOTO]);
    let start = message.find("<ds:Reference URI=\"cid:").unwrap();
    let end = start + message[start..].find("</ds:Reference>").unwrap() + "</ds:Reference>".len();
    let reference = &message[start..end];
    let with = |replaced: &str| signed_again(&format!("{}{replaced}{}", &message[..start], &message[end..]));
    let replaced = |from: &str, to: &str| {
        assert!(reference.contains(from), "{from}: {reference}");
        with(&reference.replacen(from, to, 1))
    };
    let value =
        &reference[reference.find("<ds:DigestValue>").unwrap() + 16..reference.find("</ds:DigestValue>").unwrap()];
    let digest = STANDARD.decode(value).unwrap();
    let zeros = STANDARD.encode([0; 32]);

    let transform = format!("<ds:Transform Algorithm=\"{CONTENT}\"></ds:Transform>");
    let exclusive = "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"/>";
    for accepted in [
        with(reference),
        with(&format!("{reference}{reference}")),
        replaced("cid:photo@b", "CID:photo%40b"),
        replaced("cid:photo@b", "cid:%70hoto@b"),
    ] {
        let verified = verify(&policy(), &accepted, &mut received(&[PHOTO]));
        assert!(
            verified
                .unwrap_or_else(|error| panic!("{error}: {accepted}"))
                .is_attachment_signed(&ContentId::parse("photo@b").unwrap())
        );
    }
    // These are known when the attachments have arrived.
    let truncated = |length: usize| STANDARD.encode(&digest[..length]);
    for changed in [
        with(&format!("{reference}{}", reference.replacen(value, &zeros, 1))),
        with(&format!("{}{reference}", reference.replacen(value, &zeros, 1))),
        replaced(value, &truncated(16)),
        replaced(value, &truncated(31)),
        replaced(value, &truncated(0)),
        replaced("xmlenc#sha256", "xmlenc#sha512"),
    ] {
        refused(verify(&policy(), &changed, &mut received(&[PHOTO])), Digest, "was changed");
    }
    let to_nothing = with(&format!("{reference}{}", reference.replacen("photo@b", "photo2@b", 1)));
    refused(verify(&policy(), &to_nothing, &mut received(&[PHOTO])), Reference, "\"cid:photo2@b\" means");
    // These are known before.
    for (wrong, kind, text) in [
        (replaced(&transform, exclusive), Unsupported, "has not exactly the transform"),
        (replaced(&transform, ""), Unsupported, "has not exactly the transform"),
        (replaced(&transform, &format!("{transform}{exclusive}")), Unsupported, "has not exactly the transform"),
        (replaced(&transform, &format!("{transform}{transform}")), Unsupported, "has not exactly the transform"),
        (replaced("Attachment-Content", "Attachment-Complete"), Unsupported, "which signs the head of an attachment"),
        (replaced("Attachment-Content-Signature", "Attachment-Ciphertext"), Unsupported, "Attachment-Ciphertext"),
        (replaced(&transform, &transform.replace("></", "><a/></")), Malformed, "no further element"),
        (replaced("cid:photo@b", "#body-1"), Unsupported, "is not to an attachment"),
        (replaced("cid:photo@b", "http://b/photo"), Unsupported, "is not to an attachment"),
        (replaced("cid:photo@b", "cid:"), Reference, "has no Content-ID"),
        (replaced("cid:photo@b", "cid:%0a"), Reference, "has no Content-ID"),
        (
            replaced("http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2000/09/xmldsig#sha1"),
            Disallowed,
            "is not allowed",
        ),
    ] {
        refused(verify(&policy(), &wrong, &mut untouchable("photo@b")), kind, text);
    }
}

#[test]
fn one_signature_covers_all() {
    // The attachments of two messages of one signer, put together.
    let (one, two) = (signed(&[PHOTO]), signed(&[NOTE]));
    let signature = |message: &str| {
        let end = message.find("</ds:Signature>").unwrap() + "</ds:Signature>".len();
        message[message.find("<ds:Signature ").unwrap()..end].to_owned()
    };
    // A second signature over the same body, with another attachment: neither covers both.
    let start = one.find("<ds:Reference URI=\"cid:").unwrap();
    let end = start + one[start..].find("</ds:Reference>").unwrap() + "</ds:Reference>".len();
    let note = &two[two.find("<ds:Reference URI=\"cid:").unwrap()..];
    let note = &note[..note.find("</ds:Reference>").unwrap() + "</ds:Reference>".len()];
    let of_note = signed_again(&format!("{}{note}{}", &one[..start], &one[end..]));
    let of_both = signed_again(&format!("{}{note}{}", &one[..end], &one[end..]));
    let both_signatures = |other: &str| {
        let at = one.find("</ds:Signature>").unwrap() + "</ds:Signature>".len();
        format!("{}{}{}", &one[..at], signature(other), &one[at..])
    };
    let apart = both_signatures(&of_note);
    refused(verify(&policy(), &apart, &mut untouchable("photo@b")), ErrorKind::Unsigned, "is not signed with the rest");
    assert!(verify(&lenient(), &apart, &mut received(&[PHOTO, NOTE])).is_ok());
    // The second signature is the one that is accepted.
    let verified = verify(&policy(), &both_signatures(&of_both), &mut received(&[PHOTO, NOTE])).unwrap();
    assert_eq!(verified.accepted_signature(), verified.signatures().get(1));
    refused(
        verify(&policy(), &both_signatures(&of_both), &mut received(&[PHOTO])),
        ErrorKind::Reference,
        "\"cid:note@b\" means",
    );
}

#[test]
fn strangers_cause_nothing_to_be_stored() {
    use ErrorKind::{Digest, Signature, Time, Unsecured, Unsigned};
    let long_ago = || now() - Duration::from_secs(1_000);
    let message = signed(&[PHOTO]);
    for (message, kind) in [
        (ORDER.to_owned(), Unsecured),
        (signed_with(&OutgoingSecurity::new().with_timestamp().with_clock(now), &[PHOTO]).unwrap(), Unsigned),
        (signed_with(&signing("mallory"), &[PHOTO]).unwrap(), Signature),
        (signed_with(&security().with_clock(long_ago), &[PHOTO]).unwrap(), Time),
        (message.replace("cid:photo@b", "cid:phot0@b"), Signature),
        (message.replace("Tea", "Gold"), Digest),
        (signed_with(&security().with_signed([SignedPart::Attachments]), &[PHOTO]).unwrap(), Unsigned),
    ] {
        refused(verify(&policy(), &message, &mut untouchable("photo@b")), kind, "");
        refused(verify(&policy(), &message, &mut untouchable("other@b")), kind, "");
    }
}

#[test]
#[should_panic(expected = "the attachment is read")]
fn the_attachment_of_a_signer_is_read() {
    let _ = verify(&policy(), &signed(&[PHOTO]), &mut untouchable("photo@b"));
}

/// The form that is signed depends on the media type (§5.4.2).
#[test]
fn content_has_canonical_forms() {
    let id = "a@b";
    let text: &[&[u8]] = &[b"a\r\n\r\nb\r\n", b"a\n\nb\n", b"a\r\rb\r", b"a\n\r\nb\r", b"a\r\n\nb\r\n"];
    let xml: &[&[u8]] = &[
        b"<a b=\"1\" c=\"\xc3\xa9\"><d></d></a>",
        b"<a c='&#xe9;'  b='1' ><!-- no --><d/></a>",
        b"<?xml version='1.0' encoding='ISO-8859-1'?>\n<a b='1' c='\xe9'><d/></a>\n",
        b"\xef\xbb\xbf<a b='1' c='\xc3\xa9'><d/></a>",
    ];
    let binary: &[&[u8]] = &[b"a\r\n\r\nb\n\r"];
    type Case = (&'static str, &'static [&'static [u8]], &'static [&'static [u8]]);
    let cases: [Case; 9] = [
        ("text/plain", text, &[b"a\r\nb\r\n", b"a\r\n\r\nb", b"a\r\n\r\n\r\nb\r\n", b"a \r\n\r\nb\r\n", b""]),
        ("TEXT/CSV; charset=x", text, &[b"a\r\nb\r\n"]),
        ("text/xml-external-parsed-entity", text, &[b"a"]),
        ("text/xml", xml, &[b"<a b='2' c='&#xe9;'><d/></a>", b"<a b='1' c='&#xe9;'><d/> </a>", b"<a b='1'/>"]),
        ("application/XML", xml, &[b"<a/>"]),
        ("image/svg+xml", xml, &[b"<a/>"]),
        ("model/x3d+xml; v=1", xml, &[b"<a/>"]),
        ("application/octet-stream", binary, &[b"a\n\nb\n\n", b"a\r\n\r\nb\n"]),
        ("application/json", binary, &[b"a\r\n\r\nb\n\r "]),
    ];
    for (media_type, same, others) in cases {
        for sent in same {
            let message = signed(&[(id, media_type, *sent)]);
            for (number, content) in same.iter().enumerate() {
                let whole = received(&[(id, media_type, *content)]);
                let streamed = Part::new(ContentId::parse(id).unwrap(), media_type, bytewise(content)).unwrap();
                for mut attachments in [whole, Attachments::of(vec![streamed]).unwrap()] {
                    let verified = verify(&policy(), &message, &mut attachments);
                    let verified = verified.unwrap_or_else(|error| panic!("{media_type} {number}: {error}"));
                    assert_eq!(exactness(&verified), [(id.to_owned(), number == 0)], "{media_type} {number}");
                    let (_, read) = attachments.collect(1_000).now_or_never().unwrap().unwrap().remove(0);
                    assert_eq!(read, *content);
                }
            }
            for other in others {
                let verified = verify(&policy(), &message, &mut received(&[(id, media_type, *other)]));
                refused(verified, ErrorKind::Digest, "");
            }
        }
    }
    // Without a media type it is a text.
    let body =
        "--b\r\n\r\n<E/>\r\n--b\r\nContent-ID: <a@b>\r\nContent-Transfer-Encoding: base64\r\n\r\nYQoKYgo=\r\n--b--\r\n";
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let chunks = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(body.as_bytes())))]);
    let read = Message::read(&related, StreamBody::new(chunks), castile_mime::Limits::default());
    let mut attachments = read.now_or_never().unwrap().unwrap().attachments;
    let verified = verify(&policy(), &signed(&[(id, "text/plain", text[0])]), &mut attachments).unwrap();
    assert_eq!(exactness(&verified), [(id.to_owned(), false)]);
}

/// What is signed as bytes, and arrives as XML, can be what was not meant.
#[test]
fn documents_that_would_mean_something_else_are_refused() {
    use ErrorKind::{Attachment, Malformed, UnsignedPrefix, Unsupported};
    const BYTES: &str = "application/octet-stream";
    // The canonical form, what arrives, and as what.
    let value: &[u8] = b"<a xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"p:t\"></a>";
    let bound: &[u8] =
        b"<a xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:p=\"urn:p\" xsi:type=\"p:t\"></a>";
    type Case<'a> = (&'a [u8], &'static str, &'static [u8], ErrorKind, &'a str);
    let cases: &[Case<'_>] = &[
        (b"<a>b</a>", "text/xml", b"<!DOCTYPE a [<!ENTITY b 'b'>]><a>&b;</a>", Malformed, "document type declaration"),
        (b"<a>\xc3\xa9</a>", "text/xml; charset=iso-8859-1", b"<a>\xe9</a>", Malformed, ""),
        (b"<a>\xc3\x83\xc2\xa9</a>", "text/xml; charset=iso-8859-1", b"<a>\xc3\xa9</a>", Unsupported, "is not that of"),
        (b"<a></a>", "text/xml; charset=utf-7", b"<a></a>", Unsupported, "is not that of"),
        (value, "application/xml", bound, UnsignedPrefix, "the prefix \"p\""),
        (b"<a></a>", "application/xml", b"<a>", Malformed, "the attachment \"a@b\""),
        (b"a", "xml", b"a", Attachment, "expected a media type"),
    ];
    for (canonical, media_type, content, kind, text) in cases {
        let message = signed_bytes(canonical, BYTES).unwrap();
        refused(verify(&policy(), &message, &mut received(&[("a@b", media_type, content)])), *kind, text);
        let sent = signed_bytes(content, media_type);
        assert_eq!(sent.unwrap_err().kind(), *kind);
    }
    let message = signed_bytes(value, BYTES).unwrap();
    let mut attachments = Attachments::of(vec![
        Part::new(ContentId::parse("a@b").unwrap(), "application/xml", bound.to_vec().into()).unwrap(),
    ]);
    assert!(verify(&policy().with_unsigned_prefixes(), &message, attachments.as_mut().unwrap()).is_ok());
    // The right charset makes no difference.
    let message = signed_bytes(b"<a>\xc3\xa9</a>", "text/xml; charset=UTF-8").unwrap();
    let attached: Attached = ("a@b", "text/xml", b"<a>\xc3\xa9</a>");
    assert!(verify(&policy(), &message, &mut received(&[attached])).is_ok());
}

fn signed_bytes(content: &[u8], media_type: &str) -> Result<String, Error> {
    let part = Part::new(ContentId::parse("a@b").unwrap(), media_type, content.to_vec().into()).unwrap();
    let secured = security().secure_package(ORDER.as_bytes(), Packaging::Attachments, &[part]).now_or_never().unwrap();
    secured.map(|message| String::from_utf8(message).unwrap())
}

#[test]
fn names_are_escaped_in_references() {
    let (id, url) = ("a%20b&c\"'\u{fc}", "cid:a%2520b%26c%22%27%C3%BC");
    let named = |id: &str| Part::new(ContentId::parse(id).unwrap(), "image/png", "it".into()).unwrap();
    let secured =
        security().secure_package(ORDER.as_bytes(), Packaging::Attachments, &[named(id)]).now_or_never().unwrap();
    let message = String::from_utf8(secured.unwrap()).unwrap();
    assert!(message.contains(&format!("URI=\"{url}\"")), "{message}");
    let verified = verify(&policy(), &message, &mut Attachments::of(vec![named(id)]).unwrap()).unwrap();
    assert!(verified.is_attachment_signed(&ContentId::parse(id).unwrap()));
    // Its escaped form is another name.
    for other in [id.replace("%20", "%2520"), id.replace("%20", "+"), id.to_uppercase()] {
        let verified = verify(&policy(), &message, &mut Attachments::of(vec![named(&other)]).unwrap());
        refused(verified, ErrorKind::Unsigned, "");
    }
}

#[test]
fn streams_are_not_signed() {
    let streamed = || [Part::new(ContentId::parse("a@b").unwrap(), "image/png", bytewise(b"it")).unwrap()];
    let secured =
        security().secure_package(ORDER.as_bytes(), Packaging::Attachments, &streamed()).now_or_never().unwrap();
    let error = secured.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Unsupported && error.message().contains("\"a@b\" is sent as a stream"),
        "{error}"
    );
    let others = security().with_signed([SignedPart::Body]);
    for security in [others, OutgoingSecurity::new().with_timestamp()] {
        assert!(
            security
                .secure_package(ORDER.as_bytes(), Packaging::Attachments, &streamed())
                .now_or_never()
                .unwrap()
                .is_ok()
        );
    }
}

/// Returns the attachments of a package that is read within limits.
fn packaged(length: usize, media_type: &str, limits: castile_mime::Limits, memory: usize) -> (Attachments, Budget) {
    let content =
        if media_type.contains("xml") { format!("<a>{}</a>", "x".repeat(length - 7)) } else { "x".repeat(length) };
    let body = format!(
        "--b\r\n\r\n<E/>\r\n--b\r\nContent-ID: <a@b>\r\nContent-Type: {media_type}\r\n\r\n{content}\r\n--b--\r\n"
    );
    let budget = Budget::new(memory);
    let [memory, disk] = [(); 2].map(|()| Arc::new(budget.reserve(0).unwrap()));
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let chunks: Vec<_> = body
        .as_bytes()
        .chunks(10_000)
        .map(|chunk| Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(chunk))))
        .collect();
    let body = StreamBody::new(stream::iter(chunks));
    let read = Message::read_charged(&related, body, limits, Some(Charges { memory, disk }));
    (read.now_or_never().unwrap().unwrap().attachments, budget)
}

#[test]
fn attachments_have_limits() {
    const LENGTH: usize = 100_000;
    let message = |media_type: &str| {
        let content =
            if media_type.contains("xml") { format!("<a>{}</a>", "x".repeat(LENGTH - 7)) } else { "x".repeat(LENGTH) };
        signed_bytes(content.as_bytes(), media_type).unwrap()
    };
    let stored = |stored: usize| {
        let mut limits = castile_mime::Limits::default();
        limits.stored = stored as u64;
        limits
    };
    let content = |content: usize| {
        let mut limits = Limits::default();
        limits.content = content;
        limits
    };
    let document = |size: usize| {
        let mut limits = Limits::default();
        limits.document.message_size = size;
        limits
    };
    const PLENTY: usize = 2 << 20;
    let cases = [
        ("image/png", stored(LENGTH), content(LENGTH), PLENTY, None),
        ("image/png", stored(LENGTH - 1), content(LENGTH), PLENTY, Some((ErrorKind::Limit, "stored parts"))),
        ("image/png", stored(LENGTH), content(LENGTH - 1), PLENTY, Some((ErrorKind::Limit, "the limit of content"))),
        ("image/png", stored(LENGTH), content(LENGTH), LENGTH, Some((ErrorKind::Exhausted, "too little memory"))),
        ("text/plain", stored(LENGTH), content(LENGTH - 1), PLENTY, Some((ErrorKind::Limit, "the limit of content"))),
        ("text/xml", stored(LENGTH), document(LENGTH), PLENTY, None),
        ("text/xml", stored(LENGTH), document(LENGTH - 1), PLENTY, Some((ErrorKind::Limit, "XML of more than 99999"))),
        ("text/xml", stored(LENGTH), content(LENGTH - 1), PLENTY, Some((ErrorKind::Limit, "a@b"))),
        (
            "text/xml",
            stored(LENGTH),
            content(LENGTH),
            3 * LENGTH / 2,
            Some((ErrorKind::Exhausted, "too little memory")),
        ),
    ];
    for (number, (media_type, of_package, limits, memory, expected)) in cases.into_iter().enumerate() {
        let (mut attachments, budget) = packaged(LENGTH, media_type, of_package, memory);
        println!("{number}");
        let verified = verify(&policy().with_limits(limits), &message(media_type), &mut attachments);
        match expected {
            None => {
                assert_eq!(exactness(&verified.unwrap()), [("a@b".to_owned(), true)]);
                assert!(budget.used() < LENGTH + 1_000, "{}", budget.used());
            }
            Some((kind, text)) => refused(verified, kind, text),
        }
        drop(attachments);
        assert_eq!(budget.used(), 0);
    }
    let mut limits = Limits::default();
    limits.references = 3;
    let verified = verify(&policy().with_limits(limits), &signed(&[PHOTO, NOTE]), &mut untouchable("photo@b"));
    refused(verified, ErrorKind::Limit, "references");
    // A body that breaks off.
    let message = signed(&[PHOTO]);
    let broken = Content::stream(StreamBody::new(stream::iter([
        Ok(Frame::data(Bytes::from_static(PHOTO.2))),
        Err(std::io::Error::other("reset by peer")),
    ])));
    let part = Part::new(ContentId::parse(PHOTO.0).unwrap(), PHOTO.1, broken).unwrap();
    let verified = verify(&policy(), &message, &mut Attachments::of(vec![part]).unwrap());
    refused(verified, ErrorKind::Attachment, "broke off");
}

/// A handler that answers with the attachments that it got, and checks that they were signed.
async fn send_back(mut request: Request<String>) -> Answer {
    let verified = request.extensions().get::<VerifiedMessage>().unwrap().clone();
    let mut answered = Vec::new();
    while let Some(attachment) = request.attachments().next().await? {
        let head = attachment.head().clone();
        let id = head.content_id().unwrap().clone();
        assert!(verified.is_attachment_signed(&id));
        let content: Content = match request.get_ref().as_str() {
            "stream" => attachment.into(),
            _ => attachment.collect(1_000_000).await?.into(),
        };
        answered.push(Part::new(id, head.content_type().unwrap(), content)?);
    }
    let response = Response::new(format!("{} attachments", answered.len()));
    Ok(answered.into_iter().fold(response, Response::with_attachment))
}

#[test]
fn attachments_are_signed_both_ways() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let log = refused.clone();
    let layer = SecurityLayer::new(policy())
        .with_reply_security(signing("service"))
        .with_signature_confirmation()
        .on_refusal(move |error| log.lock().unwrap().push(error.kind()))
        .on_unsecured_reply(|error| assert_eq!(error.kind(), ErrorKind::Unsupported));
    let service = layer.layer(orders(send_back));
    let answers = Policy::signed_by(Trust::new().with_secret("service", secret("service"))).with_clock(now);
    let client = ClientSecurity::new(security()).with_answer_policy(answers).with_signature_confirmation();
    let order = |item: &str| ORDER.replace("Tea", item);
    let call = |message: &[u8], attachments: Attachments| {
        let request = RequestMessage::new(Version::Soap11, message.to_vec())
            .with_attachments(Packaging::Attachments, attachments);
        service.call(request, &Options::default()).now_or_never().unwrap()
    };
    let attached = [PHOTO, NOTE, LIST];
    let secured = client
        .secure(&Written { parts: parts(&attached), ..Written::new(order("Tea")) })
        .now_or_never()
        .unwrap()
        .unwrap();
    let reply = call(&secured.message, received(&attached));
    let answer = reply.message.bytes().unwrap().clone();
    assert!(String::from_utf8_lossy(&answer).contains("3 attachments"));
    assert_eq!(reply.parts.len(), 3);
    let answered = |attachments: Attachments| Received { attachments, ..answer.clone().into() };
    let mut read = answered(Attachments::of(reply.parts).unwrap());
    client.verify(&mut read, &secured.signatures).now_or_never().unwrap().unwrap();
    let contents = read.attachments.collect(1_000).now_or_never().unwrap().unwrap();
    assert!(contents.iter().zip(attached).all(|((_, content), (.., sent))| *content == sent));
    // Somebody changes the attachments of the answer.
    let mut changed = answered(Attachments::of(parts(&[PHOTO, NOTE])).unwrap());
    let verified = client.verify(&mut changed, &secured.signatures).now_or_never().unwrap();
    assert_eq!(verified.unwrap_err().kind(), castile_soap::ErrorKind::Security);

    // Or those of a request.
    for (number, changed) in [&[PHOTO, NOTE][..], &[PHOTO, NOTE, LIST, ("b@b", "a/b", b"")]].into_iter().enumerate() {
        let reply = call(&secured.message, received(changed));
        let message = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
        assert!(message.contains("InvalidSecurity") && reply.parts.is_empty(), "{number}: {message}");
    }
    // There is no room for them.
    let message = signed_bytes("x".repeat(100_000).as_bytes(), "image/png").unwrap();
    let (attachments, _) = packaged(100_000, "image/png", castile_mime::Limits::default(), 50_000);
    assert!(call(message.as_bytes(), attachments).is_exhausted);
    // A stream can't be signed.
    let secured = client
        .secure(&Written { parts: parts(&attached), ..Written::new(order("stream")) })
        .now_or_never()
        .unwrap()
        .unwrap();
    let reply = call(&secured.message, received(&attached));
    let message = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
    assert!(message.contains("the reply could not be secured") && reply.parts.is_empty(), "{message}");
    use ErrorKind::{Exhausted, Reference, Unsigned};
    assert_eq!(*refused.lock().unwrap(), [Reference, Unsigned, Exhausted]);
    let streamed = vec![Part::new(ContentId::parse("a@b").unwrap(), "image/png", bytewise(b"it")).unwrap()];
    let error = client.secure(&Written { parts: streamed, ..Written::new(ORDER) }).now_or_never().unwrap().unwrap_err();
    assert_eq!(error.kind(), castile_soap::ErrorKind::Security);
}

/// Every byte of an attachment is changed in several ways.
#[test]
fn changed_bytes_are_noticed() {
    for attached in [PHOTO, NOTE, LIST] {
        let (id, media_type, content) = attached;
        let message = signed(&[attached]);
        for at in 0..content.len() {
            for byte in [0, b' ', b'\n', b'\r', b'<', b'x', 0xff, content[at] ^ 1] {
                let mut changed = content.to_vec();
                changed[at] = byte;
                let part = Part::new(ContentId::parse(id).unwrap(), media_type, changed.clone().into()).unwrap();
                let verified = verify(&policy(), &message, &mut Attachments::of(vec![part]).unwrap());
                let is_same = match media_type {
                    "image/png" => changed == content,
                    _ if media_type.starts_with("text/") => {
                        let lines =
                            |text: &[u8]| String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n");
                        std::str::from_utf8(&changed).is_ok() && lines(&changed) == lines(content)
                    }
                    _ => castile_xml::c14n::canonical(&changed).is_ok_and(|canonical| canonical.as_bytes() == content),
                };
                assert_eq!(verified.is_ok(), is_same, "{at} {byte}: {:?}", String::from_utf8_lossy(&changed));
            }
        }
    }
}
