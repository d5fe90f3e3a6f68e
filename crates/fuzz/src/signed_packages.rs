//! Checks that no change of a signed message with attachments is accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use castile_databinding::schema::Element;
use castile_datatypes::{Base64Binary, SimpleType};
use castile_mime::{ContentId, Limits, Message, Packaging, Part, Related};
use castile_soap::{
    Description, Dispatch, Fault, Layer, NoDetail, Operation, Options, Payload, Pending, Received, Request,
    RequestMessage, Root, Service, Version,
};
use castile_wss::message::{OutgoingSecurity, Policy, SecurityLayer, VerifiedMessage};
use castile_wss::{Secret, Trust, VerifiedContent};
use castile_xml::c14n::{Algorithm, Method, Subset, canonical};
use castile_xml::{Charset, Reader};
use futures_util::FutureExt;
use http_body_util::Full;

use crate::shown;

/// A part: its Content-ID, its media type, its content, and the form of it that is signed if it is an attachment.
type Attached = (&'static str, &'static str, &'static [u8]);

const PHOTO: Attached = ("photo@b", "image/png", b"\x89PNG\r\n\x1a\n\0\xfe\r\n-");
const NOTE: Attached = ("note@b", "text/plain; charset=utf-8", b"It rains.\r\nStill.\r\n");
const LIST: Attached = ("list@b", "application/xml", b"<list><item n=\"1\"></item></list>");
/// The texts of bodies that have no parts.
const VALUES: [&str; 2] = ["1000", "AAAA"];
const EMPTY: Attached = ("empty@b", "application/octet-stream", b"");

/// What was signed. `[photo@b]` stands for a part.
struct Original {
    packaging: Packaging,
    body: &'static str,
    /// The parts, with whether the body has it.
    parts: &'static [(Attached, bool)],
}

static ORIGINALS: [Original; 4] = [
    Original {
        packaging: Packaging::Attachments,
        body: "<photo xmlns='urn:o'>1000</photo>",
        parts: &[(PHOTO, false), (NOTE, false), (LIST, false)],
    },
    Original {
        packaging: Packaging::Mtom,
        body: "<photo xmlns='urn:o'>[photo@b]</photo>",
        parts: &[(PHOTO, true), (NOTE, false)],
    },
    Original {
        packaging: Packaging::Mtom,
        body: "<order xmlns='urn:o'><a>[note@b]</a> <b>[list@b]</b><a x='1'>[empty@b]</a><c>[note@b]</c>-</order>",
        parts: &[(LIST, true), (NOTE, true), (EMPTY, true), (PHOTO, false)],
    },
    Original { packaging: Packaging::Mtom, body: "<photo xmlns='urn:o'>AAAA</photo>", parts: &[] },
];

impl Original {
    /// Returns the body with something in place of each part.
    fn with(&self, replaced: impl Fn(&Attached) -> String) -> String {
        self.parts
            .iter()
            .fold(self.body.to_owned(), |body, (part, _)| body.replace(&format!("[{}]", part.0), &replaced(part)))
    }

    /// Returns the canonical form of the body with the text of its parts.
    fn canonical(&self) -> String {
        let body = self.with(|(.., content)| text_of(content));
        canonical_body(&envelope(&body)).expect("an envelope")
    }

    /// Writes the signed message as an HTTP request has it: its media type, and the body.
    fn write(&self) -> Vec<u8> {
        let message =
            envelope(&self.with(|(id, ..)| {
                format!("<i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:{id}'/>")
            }));
        let parts: Vec<Part> = self
            .parts
            .iter()
            .map(|((id, media_type, content), _)| {
                let id = ContentId::parse(id).expect("a name");
                Part::new(id, media_type, Bytes::from_static(content).into()).expect("a media type")
            })
            .collect();
        // Without a time stamp nothing in it is random.
        let security = OutgoingSecurity::new().with_signature(secret());
        let root = match self.packaging {
            Packaging::Mtom => "application/xop+xml; type=\"text/xml\"",
            Packaging::Attachments => "text/xml",
        };
        let signed = security.secure_package(message.as_bytes(), self.packaging, &parts).now_or_never();
        let signed = signed.expect("a secret that waits for nobody").expect("a message that can be signed");
        let mut out = b"multipart/related; boundary=b\r\n--b\r\n".to_vec();
        let mut part = |media_type: &str, id: &str, content: &[u8]| {
            out.extend(format!("Content-Type: {media_type}\r\nContent-ID: <{id}>\r\n\r\n").as_bytes());
            out.extend(content);
            out.extend(b"\r\n--b\r\n");
        };
        part(root, "root", &signed);
        for ((id, media_type, content), _) in self.parts {
            part(media_type, id, content);
        }
        out.truncate(out.len() - 2);
        out.extend(b"--\r\n");
        out
    }
}

/// Returns bytes in base64.
fn text_of(content: &[u8]) -> String {
    let mut text = Vec::new();
    Base64Binary(content.to_vec()).write(&mut text);
    String::from_utf8(text).expect("base64")
}

/// Returns the messages that were signed.
pub(crate) fn signed() -> Vec<Vec<u8>> {
    ORIGINALS.iter().map(Original::write).collect()
}

fn envelope(body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header/><s:Body xml:id='b'>{body}</s:Body></s:Envelope>"
    )
}

fn secret() -> Secret {
    Secret::new(b"of ann")
}

fn policy() -> Policy {
    Policy::signed_by(Trust::new().with_secret("ann", secret())).without_timestamp().without_replay_cache()
}

/// Reads any bytes as a media type and a multipart body, and verifies the message in it.
///
/// - The body of what is accepted is one that was signed, with the text of the parts in it.
/// - All attachments are those that were signed with it: their bytes, or a text with other line ends, or another spelling of XML.
/// - A handler gets the bytes that were signed.
pub fn signed_packages(input: &[u8]) {
    let Some(Package { message, charset, packaging }) = Package::read(input) else { return };
    let Message { root, attachments, .. } = message;
    let mut received = Received::from(root.clone());
    (received.charset, received.packaging, received.attachments) = (charset, Some(packaging), attachments);
    let verified = policy().verify_received(&mut received).now_or_never().expect("content that is in memory");
    let attachments = received.attachments;
    if let Ok(verified) = &verified {
        let contents = attachments.collect(1 << 20).now_or_never().expect("content that is in memory");
        let contents = contents.expect("attachments that are stored");
        let contents: Vec<_> =
            contents.into_iter().map(|(head, content)| (head.content_id().cloned(), content)).collect();
        check(
            &castile_xml::decode(&root, charset).expect("a text that was verified"),
            packaging,
            &contents,
            verified,
            input,
        );
    }
    let is_handled = handle(input);
    assert!(!is_handled || verified.is_ok(), "handled, but not verified: {}", shown(input));
}

/// A message that arrived.
struct Package {
    message: Message,
    charset: Option<Charset>,
    packaging: Packaging,
}

impl Package {
    fn read(input: &[u8]) -> Option<Self> {
        let end = input.iter().position(|byte| *byte == b'\n')?;
        let related = Related::parse(std::str::from_utf8(&input[..end]).ok()?.trim()).ok()?;
        let body = Full::new(Bytes::copy_from_slice(&input[end + 1..]));
        let message = Message::read(&related, body, Limits::default()).now_or_never()?.ok()?;
        let (packaging, media_type) = message.envelope(&related).ok()?;
        let charset = media_type.parameter("charset").and_then(Charset::of_label);
        Some(Package { message, charset, packaging })
    }
}

fn check(
    text: &str,
    packaging: Packaging,
    contents: &[(Option<ContentId>, Bytes)],
    verified: &VerifiedMessage,
    input: &[u8],
) {
    let inlined = match packaging {
        Packaging::Mtom => with_text_of_parts(text, contents),
        Packaging::Attachments => text.to_owned(),
    };
    let body = canonical_body(&inlined).expect("an envelope that was verified");
    // A text may have become a part: then it is the same text, and only those who read bytes accept it.
    let texts = |original: &Original| VALUES.iter().filter(|value| original.body.contains(**value)).count();
    let has_as_many = |original: &Original| {
        let parts = original.parts.len();
        (parts..=parts + texts(original)).contains(&contents.len())
    };
    let original = ORIGINALS.iter().find(|original| original.canonical() == body && has_as_many(original));
    let original =
        original.unwrap_or_else(|| panic!("nobody signed the body {body} with these parts: {}", shown(input)));
    for ((name, _, signed), is_included) in original.parts {
        let id = ContentId::parse(name).expect("a name");
        let found = contents.iter().find(|(found, _)| found.as_ref() == Some(&id));
        // What stands in the body may come from a part with another name.
        let Some((_, content)) = found else {
            assert!(is_included, "{name} is missing: {}", shown(input));
            continue;
        };
        assert!(verified.is_attachment_signed(&id), "{name} is not signed: {}", shown(input));
        let is_exact = *is_included || is_exact(verified, &id);
        let is_same =
            content == signed || !is_exact && (lines(content) == lines(signed) || is_same_xml(content, signed));
        assert!(is_same, "{name} was changed: {}", shown(input));
    }
    for (id, _) in contents {
        let is_signed = id.as_ref().is_some_and(|id| verified.is_attachment_signed(id));
        assert!(is_signed, "{id:?} is not signed: {}", shown(input));
    }
}

fn is_exact(verified: &VerifiedMessage, wanted: &ContentId) -> bool {
    let mut references = verified.signatures().iter().flat_map(|signature| &signature.references);
    references.any(
        |reference| matches!(&reference.content, VerifiedContent::Attachment { id, is_exact: true } if id == wanted),
    )
}

fn lines(text: &[u8]) -> String {
    // Each byte is a character.
    let text: String = text.iter().map(|byte| char::from(*byte)).collect();
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn is_same_xml(content: &[u8], signed: &[u8]) -> bool {
    canonical(content).is_ok_and(|canonical| canonical.as_bytes() == signed)
}

/// Returns a message with the text of the parts in place of the elements that stand for them, as another parser sees these.
fn with_text_of_parts(text: &str, contents: &[(Option<ContentId>, Bytes)]) -> String {
    let document = roxmltree::Document::parse(text).expect("a document that was verified");
    let includes =
        document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2004/08/xop/include", "Include")));
    let mut out = text.to_owned();
    for node in includes.collect::<Vec<_>>().into_iter().rev() {
        let id = node.attribute("href").and_then(ContentId::from_url);
        if let Some((_, content)) = contents.iter().find(|(found, _)| id.is_some() && *found == id) {
            out.replace_range(node.range(), &text_of(content));
        }
    }
    out
}

/// Returns the canonical form of the body of an envelope.
fn canonical_body(text: &str) -> Option<String> {
    let document = roxmltree::Document::parse(text).ok()?;
    let body = document.root_element().children().find(|node| node.tag_name().name() == "Body")?;
    let mut reader = Reader::new(text.as_bytes(), castile_xml::Limits::default()).ok()?;
    let algorithm = Algorithm::from_uri("http://www.w3.org/2001/10/xml-exc-c14n#")?;
    let subset = Subset { apex: Some(body.range().start), without: None };
    let mut out = String::new();
    Method::new(algorithm).write(&mut reader, subset, |piece| out.push_str(piece)).ok()?;
    Some(out)
}

/// Lets a service read a message, if it is one. What its handler gets was signed.
fn handle(input: &[u8]) -> bool {
    let Some(Package { message, charset, packaging }) = Package::read(input) else { return false };
    let is_called = Arc::new(AtomicBool::new(false));
    let service = SecurityLayer::new(policy()).layer(Photos { is_called: is_called.clone() });
    let request = RequestMessage::new(Version::Soap11, message.root).with_charset(charset);
    let request = request.with_attachments(packaging, message.attachments);
    let reply = service.call(request, &Options::default()).now_or_never();
    reply.expect("a service that waits for nobody");
    is_called.load(Ordering::Relaxed)
}

/// A service of binary values.
struct Photos {
    is_called: Arc<AtomicBool>,
}

const ROOT: Root = Root::new(Element::new("urn:o", "photo", 1), "<photo xmlns=\"urn:o\">", "</photo>");

static OPERATIONS: [Operation; 1] = [Operation::new("photo", "photo", ROOT)];

impl Dispatch for Photos {
    fn description(&self) -> &'static Description {
        const { &Description::new("Photos", "urn:o", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        let is_called = self.is_called.clone();
        payload.handle(|request: Request<Base64Binary>| async move {
            is_called.store(true, Ordering::Relaxed);
            let Base64Binary(content) = request.into_inner();
            let is_signed = content == PHOTO.2 || VALUES.iter().any(|value| text_of(&content) == *value);
            assert!(is_signed, "this was never signed: {content:?}");
            Ok::<_, Fault<NoDetail>>(().into())
        })
    }
}
