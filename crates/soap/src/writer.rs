//! Writes whole messages: the envelope around a payload.

use std::ops::Range;

use bytes::Bytes;
use castile_databinding::{Encoder, Streamed, ToXml};
use castile_mime::{Content, ContentId, Packaging, Part};
use castile_xml::c14n::{self, Algorithm, Method, Subset};
use castile_xml::{Limits, Reader, Token};
use futures_util::TryStreamExt;
use http_body::Frame;
use http_body_util::StreamBody;

use crate::blocks::{self, Headers};
use crate::description::Root;
use crate::error::Error;
use crate::version::Version;

/// A written message with its parts.
#[derive(Debug)]
pub struct Written {
    /// The envelope.
    pub message: Content,
    /// The parts of the package.
    pub parts: Vec<Part>,
    /// How the envelope and the parts are packaged. `None` leaves this to the transport.
    pub packaging: Option<Packaging>,
    /// What of the envelope is certainly in canonical form.
    #[doc(hidden)]
    pub canonical: Option<CanonicalContent>,
}

/// The content of the payload's element, written in the form that Exclusive XML Canonicalization has, if all prefixes that the element
/// declares are treated as inclusive. No attribute has a name that ids of signed elements have. Whoever signs the message need not read it.
#[derive(Clone, Debug)]
pub struct CanonicalContent {
    /// The message. While it is held, no other has the same address.
    message: Bytes,
    range: Range<usize>,
}

impl CanonicalContent {
    /// Returns where the content is, unless the message was replaced by another.
    pub fn within(&self, message: &Content) -> Option<Range<usize>> {
        let is_same = |bytes: &Bytes| bytes.as_ptr() == self.message.as_ptr() && bytes.len() == self.message.len();
        message.bytes().is_some_and(is_same).then(|| self.range.clone())
    }
}

impl Written {
    /// A message without parts.
    pub fn new(message: impl Into<Content>) -> Self {
        Written { message: message.into(), parts: Vec::new(), packaging: None, canonical: None }
    }

    /// Inserts parts before the existing parts.
    pub(crate) fn with(mut self, mut parts: Vec<Part>) -> Self {
        parts.append(&mut self.parts);
        Written { parts, ..self }
    }
}

/// Writes a message with the payload `value` as the element `root`. `out` is cleared and reused as the buffer.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`](crate::ErrorKind::Unwritable) if the value contains characters that XML doesn't allow.
pub fn write<T: ToXml>(version: Version, root: &Root, value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    write_with(version, Headers::default(), root, value, out)
}

/// Writes a message with header blocks and the payload `value` as the element `root`. `out` is cleared and reused as the buffer.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`](crate::ErrorKind::Unwritable) if a value contains characters that XML doesn't allow.
pub fn write_with<T: ToXml>(
    version: Version,
    header: Headers<'_>,
    root: &Root,
    value: &T,
    out: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    write_value(version, header, root, value, out)
}

/// A value to be written. It hides the type of the value, so that writing a message is compiled once and not for each operation.
pub(crate) trait Encodes {
    /// The namespace that tags within the value need, as in `ToXml`.
    fn namespace(&self) -> Option<&'static str>;

    /// Writes the value as the element `root`.
    fn element(&self, root: &Root, out: &mut Encoder);

    /// Writes what follows the attributes of the start tag of `root`.
    fn rest(&self, root: &Root, out: &mut Encoder);
}

impl<T: ToXml> Encodes for T {
    fn namespace(&self) -> Option<&'static str> {
        T::NAMESPACE
    }

    fn element(&self, root: &Root, out: &mut Encoder) {
        out.own(root.element.namespace, root.start, self, root.end);
    }

    fn rest(&self, root: &Root, out: &mut Encoder) {
        ToXml::rest(self, out, root.end);
    }
}

fn write_value(
    version: Version,
    header: Headers<'_>,
    root: &Root,
    value: &dyn Encodes,
    mut out: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    out.clear();
    let mut out = Encoder::new(out);
    encode(version, header, root, value, &mut out);
    Ok(out.finish()?)
}

/// Writes a message with its parts. The message is MTOM if `mtom` is set or if a value refers to a part. Binary values of at least
/// `mtom` bytes become parts.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`](crate::ErrorKind::Unwritable) if a value contains characters that XML doesn't allow, and an error
/// if the system has no random numbers.
pub(crate) fn write_package(
    version: Version,
    header: Headers<'_>,
    root: &Root,
    value: &dyn Encodes,
    mut out: Encoder,
    mtom: Option<usize>,
) -> Result<Written, Error> {
    if let Some(threshold) = mtom {
        out = out.with_parts(threshold, ContentId::random()?.as_str());
    }
    out = out.streaming();
    let canonical = encode(version, header, root, value, &mut out);
    let streamed = out.take_streamed();
    let packaging = (mtom.is_some() || out.has_references()).then_some(Packaging::Mtom);
    let (message, included) = out.into_parts()?;
    let mut parts = Vec::with_capacity(included.len());
    for part in included {
        let id = ContentId::parse(&part.content_id)?;
        let content_type = part.content_type.as_deref().unwrap_or("application/octet-stream");
        parts.push(Part::new(id, content_type, part.content.into())?);
    }
    let message = Bytes::from(message);
    let canonical = canonical.filter(|_| streamed.is_none()).map(|range| {
        debug_assert!(is_canonical(&message, root, &range), "the content of the payload is not canonical");
        CanonicalContent { message: message.clone(), range }
    });
    let message = match streamed {
        None => message.into(),
        Some(streamed) => stream(message, streamed),
    };
    Ok(Written { message, parts, packaging, canonical })
}

/// Creates a message that is generated while it is sent.
#[cold]
fn stream(mut message: Bytes, streamed: Streamed) -> Content {
    let before = message.split_to(streamed.offset());
    let frames = streamed.map_ok(|piece| Frame::data(Bytes::from(piece)));
    Content::stream(StreamBody::new(frames)).between(before, message)
}

/// Writes the message. Returns where the content of the payload's element is, if it is canonical.
fn encode(
    version: Version,
    header: Headers<'_>,
    root: &Root,
    value: &dyn Encodes,
    out: &mut Encoder,
) -> Option<Range<usize>> {
    match root.body {
        None if header.is_empty() => out.raw(version.prologue()),
        None => {
            blocks::write_before_body(version, header, out);
            out.raw(blocks::BODY);
        }
        Some(_) => blocks::write_before_body(version, header, out),
    }
    // A type of the program may be in another namespace than the element.
    let is_of_root = value.namespace().is_none_or(|own| own == root.element.namespace);
    out.payload(if is_of_root { root.start } else { "" });
    let begins = out.begin_canonical();
    if root.is_encoded {
        out.encode(version.encoding());
        out.raw(root.start.strip_suffix('>').unwrap_or(root.start));
        out.raw(version.encoding().attributes());
        value.rest(root, out);
    } else {
        value.element(root, out);
    }
    let canonical = out.canonical(begins, root.end).filter(|_| root.body.is_none());
    let epilogue = version.epilogue();
    out.raw(match root.body {
        None => epilogue,
        Some(_) => epilogue.strip_prefix(root.end).unwrap_or(epilogue),
    });
    canonical
}

/// Whether the content of the payload's element is what canonicalization makes of it. Long messages are not looked at.
fn is_canonical(message: &[u8], root: &Root, content: &Range<usize>) -> bool {
    const CHECKED: usize = 64 << 10;
    if message.len() > CHECKED {
        return true;
    }
    // In a start tag no other byte is `<`.
    let Some(apex) = message[..content.start].iter().rposition(|byte| *byte == b'<') else { return false };
    let form = || {
        let mut reader = Reader::new(message, Limits::default())?;
        loop {
            match reader.next()? {
                Token::StartTag(tag) if tag.offset == apex => break,
                Token::End => return Ok(Vec::new()),
                _ => {}
            }
        }
        let prefixes: Vec<_> =
            reader.namespaces().map(|(prefix, _)| if prefix.is_empty() { "#default" } else { prefix }).collect();
        let exclusive = Algorithm { version: c14n::Version::Exclusive10, with_comments: true };
        let method = Method::new(exclusive).with_inclusive_namespaces(&prefixes.join(" "));
        let mut form = Vec::new();
        let subset = Subset { apex: Some(apex), without: None };
        method.write(&mut Reader::new(message, Limits::default())?, subset, |piece| form.extend(piece.as_bytes()))?;
        Ok::<_, castile_xml::Error>(form)
    };
    let content = [&message[content.clone()], root.end.as_bytes()].concat();
    // Before it is one start tag.
    let is_tag = |start: &[u8]| start.iter().filter(|byte| **byte == b'<').count() == 1;
    match form() {
        Ok(form) => form.strip_suffix(&*content).is_some_and(is_tag),
        Err(error) => error.kind() == castile_xml::ErrorKind::Limit,
    }
}
