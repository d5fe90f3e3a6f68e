//! Whole messages: an envelope with one payload.

use std::borrow::Cow;
use std::cell::RefCell;

use bytes::Bytes;
use castile_databinding::{Decoder, Deviations, Encoder, FromXml, Streamed, ToXml};
use castile_mime::{Content, ContentId, Packaging, Part};
use castile_xml::{Charset, Limits, Memory, Reader, StartTag};
use futures_util::TryStreamExt;
use http_body::Frame;
use http_body_util::StreamBody;

use crate::charge::{Charge, allowance, hold};
use crate::envelope::{self, end_tag};
use crate::package::{Included, Package};
use crate::{
    Envelope, Error, ErrorKind, FromPayload, Headers, Leniency, Operation, Options, Received, Root, Version, Written,
    blocks,
};

/// How many bytes of UTF-8 a byte of another encoding can become: the euro sign is one byte of Windows-1252.
const DECODED: usize = 3;

thread_local! {
    /// The buffers of the last reader on this thread, with the tags that were learned.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// What `read` makes of a message.
///
/// Nearly all messages are UTF-8 and are read as they came. Others are decoded first, once: those whose `charset` says
/// so, and those that the reader finds in another encoding, which it does before the root element. Nearly all are also
/// what the contract says; others are read again with leniency, if there is some.
///
/// # Errors
/// What `read` says, with its place in the decoded text, or that the message can't be decoded.
pub(crate) fn read_with<T>(
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
    charge: Charge<'_>,
    read: impl Fn(Reader<'_>, Option<&Leniency>) -> Result<T, Error>,
) -> Result<T, Error> {
    let limits = options.limits;
    let mut leniency = None;
    let mut text = None;
    // What text that was decoded is charged to.
    let mut held = Vec::new();
    if charset.is_some_and(|charset| charset != Charset::UTF_8) || is_utf16_without_mark(message) {
        held.extend(hold(charge, message.len().saturating_mul(DECODED))?);
        text = Some(castile_xml::decode(message, charset)?);
    }
    loop {
        let error = match reader(message, text.as_deref(), limits).and_then(|reader| read(reader, leniency)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if leniency.is_none() && options.leniency.is_some() && error.is_deviation() {
            leniency = options.leniency.as_ref();
            continue;
        }
        match &text {
            Some(text) => return Err(error.locate(text.as_bytes(), limits)),
            None if error.is_of_encoding() => {
                held.extend(hold(charge, message.len().saturating_mul(DECODED))?);
                text = Some(decode(message, charset, error, limits)?);
            }
            None => return Err(error.locate(message, limits)),
        }
    }
}

/// The text of a message that is not what UTF-8 would be.
#[cold]
fn decode(message: &[u8], charset: Option<Charset>, error: Error, limits: Limits) -> Result<Cow<'_, str>, Error> {
    castile_xml::decode(message, charset).map_err(|reason| {
        let reason = Error::from(reason);
        // Lines and columns are those of UTF-8.
        if reason == error { error.locate(message, limits) } else { reason }
    })
}

/// Whether a message is UTF-16 without a byte order mark (XML 1.0, appendix F.1), or nothing: in UTF-8 it would have a
/// character that XML lacks.
fn is_utf16_without_mark(message: &[u8]) -> bool {
    matches!(message, [0, ..] | [_, 0, ..])
}

/// A reader with the buffers of this thread.
fn reader<'a>(message: &'a [u8], text: Option<&'a str>, limits: Limits) -> Result<Reader<'a>, Error> {
    // They stay where they are if there is no reader.
    let reader = MEMORY.with_borrow_mut(|memory| match text {
        None => Reader::with_memory(message, limits, memory),
        Some(text) => Reader::decoded(text, limits, memory),
    });
    Ok(reader?)
}

/// Keeps the buffers of a reader that is done, whether it came to a good end or not: what it learned is right.
pub(crate) fn keep(memory: Memory) {
    MEMORY.set(memory);
}

/// The version that a message is in, if it begins as an envelope.
#[cold]
pub(crate) fn version(message: &[u8], charset: Option<Charset>, limits: Limits) -> Option<Version> {
    let version = read_with(message, charset, &limits.into(), None, |mut reader, _| {
        let version = envelope::version(&mut reader);
        keep(reader.into_memory());
        Ok(version)
    });
    version.ok().flatten()
}

/// Writes a message whose payload is `value` as `root`, into the emptied `out`.
///
/// # Errors
/// [`ErrorKind::Unwritable`] if the value holds what XML can't carry.
pub fn write<T: ToXml>(version: Version, root: &Root, value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    write_with(version, Headers::default(), root, value, out)
}

/// Writes a message with header blocks, whose payload is `value` as `root`, into the emptied `out`.
///
/// # Errors
/// As for [`write`](fn@write).
pub fn write_with<T: ToXml>(
    version: Version,
    header: Headers<'_>,
    root: &Root,
    value: &T,
    mut out: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    out.clear();
    let mut out = Encoder::new(out);
    encode(version, header, root, value, &mut out);
    Ok(out.finish()?)
}

/// Writes a message. It is MTOM if `mtom` has a threshold, from which on
/// binary values are parts of their own, or if it has a value that refers to a part.
///
/// # Errors
/// As for [`write`](fn@write), or that the system has no random numbers.
pub(crate) fn write_package<T: ToXml>(
    version: Version,
    header: Headers<'_>,
    root: &Root,
    value: &T,
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

/// A message that is made while it is sent.
#[cold]
fn stream(mut message: Bytes, streamed: Streamed) -> Content {
    let before = message.split_to(streamed.offset());
    let frames = streamed.map_ok(|piece| Frame::data(Bytes::from(piece)));
    Content::stream(StreamBody::new(frames)).between(before, message)
}

fn encode<T: ToXml>(version: Version, header: Headers<'_>, root: &Root, value: &T, out: &mut Encoder) {
    match root.body {
        None if header.is_empty() => out.raw(version.prologue()),
        None => {
            blocks::write_before_body(version, header, out);
            out.raw(blocks::BODY);
        }
        Some(_) => blocks::write_before_body(version, header, out),
    }
    // A type of a program may be of another namespace than the element.
    let is_of_root = T::NAMESPACE.is_none_or(|own| own == root.element.namespace);
    out.payload(if is_of_root { root.start } else { "" });
    if root.is_encoded {
        out.encode(version.encoding());
        out.raw(root.start.strip_suffix('>').unwrap_or(root.start));
        out.raw(version.encoding().attributes());
        value.rest(out, root.end);
    } else {
        out.own(root.element.namespace, root.start, value, root.end);
    }
    let epilogue = version.epilogue();
    out.raw(match root.body {
        None => epilogue,
        Some(_) => epilogue.strip_prefix(root.end).unwrap_or(epilogue),
    });
}

/// Reads a message whose payload is `root`, with no header block that must be understood, in the encoding that it says
/// to be in.
///
/// # Errors
/// That it is something else, with the place.
pub fn read<T: FromXml>(root: &'static Root, message: &[u8], limits: Limits) -> Result<T, Error> {
    read_in(root, message, None, limits)
}

/// Reads a message whose payload is `root`, with no header block that must be understood. It is text already, so the encoding that it
/// declares is not looked at.
///
/// # Errors
/// That it is something else, with the place.
pub fn read_str<T: FromXml>(root: &'static Root, message: &str, limits: Limits) -> Result<T, Error> {
    read_in(root, message.as_bytes(), Some(Charset::UTF_8), limits)
}

fn read_in<T: FromXml>(
    root: &'static Root,
    message: &[u8],
    charset: Option<Charset>,
    limits: Limits,
) -> Result<T, Error> {
    read_with(message, charset, &Options::from(limits), None, |mut reader, _| match find(&mut reader, root) {
        Ok(payload) => {
            let mut decoder = Decoder::new(reader);
            let value = read_payload(&mut decoder, root, payload, &Bytes::new());
            keep(decoder.into_memory());
            value
        }
        Err(error) => {
            keep(reader.into_memory());
            Err(error)
        }
    })
}

/// Reads up to the payload, which must be `root`.
fn find<'a>(reader: &mut Reader<'a>, root: &'static Root) -> Result<Option<StartTag<'a>>, Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|_, _| false)?;
    if root.begins(payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()))) {
        return Ok(payload);
    }
    let message = format!("the body does not hold <{}>", root.element.name);
    Err(Error::at(payload.map_or_else(|| end_tag(reader), |tag| tag.offset), ErrorKind::Document, message))
}

/// A decoder that is as lenient as it may be, of a message that may refer to what is `included`. It is boxed, since it is
/// handed on several times until it reads.
///
/// # Errors
/// That there is no memory for the texts of the message.
pub(crate) fn decoder<'a>(
    reader: Reader<'a>,
    leniency: Option<&Leniency>,
    included: Option<&'a Included>,
    charge: Charge<'_>,
) -> Result<Box<Decoder<'a>>, Error> {
    let allowance = allowance(charge, reader.input().len())?;
    let decoder = match leniency {
        Some(_) => Decoder::lenient(reader),
        None => Decoder::new(reader),
    };
    let decoder = Box::new(decoder.within(allowance));
    let Some(included) = included else { return Ok(decoder) };
    included.begin();
    Ok(Box::new(decoder.with_includes(included)))
}

/// How the payload of a message is read, once its envelope was.
pub(crate) struct Incoming<'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) root: &'static Root,
    pub(crate) is_request: bool,
    pub(crate) options: &'a Options,
    /// The message, where it may be kept without copying.
    pub(crate) message: &'a Bytes,
}

impl Incoming<'_> {
    /// Reads it, and the rest of the message.
    pub(crate) fn payload<'r, T: FromPayload>(
        &self,
        mut decoder: Box<Decoder<'r>>,
        first: Option<StartTag<'r>>,
        included: Option<&'r Included>,
    ) -> Result<T, Error> {
        let Incoming { operation, root, is_request, options, message } = *self;
        let (input, is_lenient) = (decoder.reader().input(), decoder.is_lenient());
        let value: Result<T, Error> = read_payload(&mut decoder, root, first, message);
        let deviations = decoder.take_deviations();
        keep(decoder.into_memory());
        let value = value.map_err(|error| if is_request && root.is_encoded { error.of_call() } else { error })?;
        // A message that will be read again has them then.
        if is_lenient && included.is_none_or(Included::is_complete) {
            tell(options, operation, deviations, input);
        }
        Ok(value)
    }
}

/// Tells what was tolerated in a message, if anything was.
pub(crate) fn tell(options: &Options, operation: &Operation, deviations: Deviations, input: &str) {
    if let Some(leniency) = &options.leniency
        && !deviations.is_empty()
    {
        leniency.tell(operation, &deviations.locate(input.as_bytes(), options.limits, Some("Body")));
    }
}

impl Package {
    /// Reads a message once more, the parts that it refers to being there.
    pub(crate) fn read_again<T: FromPayload>(
        &self,
        operation: &'static Operation,
        root: &'static Root,
    ) -> Result<T, Error> {
        let Package { received: Received { message, charset, .. }, options, included, reservation } = self;
        let charge = reservation.as_ref();
        let incoming = Incoming { operation, root, is_request: true, options, message };
        read_with(message, *charset, options, charge, |mut reader, leniency| {
            let (_, first) = Envelope::read(&mut reader)?;
            let included = included.as_deref();
            incoming.payload(decoder(reader, leniency, included, charge)?, first, included)
        })
    }
}

/// Reads the payload, which begins with the start tag `first` that was read and found to be right, and the rest of the
/// message.
fn read_payload<'a, T: FromPayload>(
    decoder: &mut Decoder<'a>,
    root: &'static Root,
    first: Option<StartTag<'a>>,
    message: &Bytes,
) -> Result<T, Error> {
    let value = T::read(decoder, root, first, message);
    if value.is_err() {
        // It may be read again.
        decoder.give_back();
    }
    value
}
