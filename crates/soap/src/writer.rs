//! Writes whole messages: the envelope around a payload.

use bytes::Bytes;
use castile_databinding::{Encoder, Streamed, ToXml};
use castile_mime::{Content, ContentId, Packaging, Part};
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
}

impl Written {
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
    encode(version, header, root, value, &mut out);
    let streamed = out.take_streamed();
    let packaging = (mtom.is_some() || out.has_references()).then_some(Packaging::Mtom);
    let (message, included) = out.into_parts()?;
    let mut parts = Vec::with_capacity(included.len());
    for part in included {
        let id = ContentId::parse(&part.content_id)?;
        let content_type = part.content_type.as_deref().unwrap_or("application/octet-stream");
        parts.push(Part::new(id, content_type, part.content.into())?);
    }
    let message = match streamed {
        None => message.into(),
        Some(streamed) => stream(message.into(), streamed),
    };
    Ok(Written { message, parts, packaging })
}

/// Creates a message that is generated while it is sent.
#[cold]
fn stream(mut message: Bytes, streamed: Streamed) -> Content {
    let before = message.split_to(streamed.offset());
    let frames = streamed.map_ok(|piece| Frame::data(Bytes::from(piece)));
    Content::stream(StreamBody::new(frames)).between(before, message)
}

fn encode(version: Version, header: Headers<'_>, root: &Root, value: &dyn Encodes, out: &mut Encoder) {
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
    if root.is_encoded {
        out.encode(version.encoding());
        out.raw(root.start.strip_suffix('>').unwrap_or(root.start));
        out.raw(version.encoding().attributes());
        value.rest(root, out);
    } else {
        value.element(root, out);
    }
    let epilogue = version.epilogue();
    out.raw(match root.body {
        None => epilogue,
        Some(_) => epilogue.strip_prefix(root.end).unwrap_or(epilogue),
    });
}
