//! Whole messages: an envelope with one payload.

use std::borrow::Cow;
use std::cell::RefCell;

use bytes::Bytes;
use castile_databinding::{Decoder, Deviations, Encoder, FromXml, Streamed, ToXml};
use castile_mime::{Content, ContentId, Packaging, Part};
use castile_xml::{CachedReader, Charset, Limits, Memory, StartTag};
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

/// How many bytes of UTF-8 one byte of another encoding can become. For example, the euro sign is one byte in Windows-1252.
const DECODED: usize = 3;

thread_local! {
    /// The buffers and the tag cache of the last reader on this thread.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Reads a message with `read`.
///
/// UTF-8 messages, which are nearly all, are read directly. Other messages are decoded first, once. They are recognized by their
/// `charset`, or by the reader, which detects another encoding before the root element. A message that deviates from the contract
/// is read again leniently, if that is enabled.
///
/// # Errors
/// Returns the error of `read`, with its place in the decoded text. Also returns an error if the message can't be decoded.
pub(crate) fn read_with<T>(
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
    charge: Charge<'_>,
    read: impl Fn(CachedReader<'_>, Option<&Leniency>) -> Result<T, Error>,
) -> Result<T, Error> {
    let limits = options.limits;
    let mut leniency = None;
    let mut text = None;
    // The reservations to which decoded text is charged.
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

/// Decodes a message that is not UTF-8.
#[cold]
fn decode(message: &[u8], charset: Option<Charset>, error: Error, limits: Limits) -> Result<Cow<'_, str>, Error> {
    castile_xml::decode(message, charset).map_err(|reason| {
        let reason = Error::from(reason);
        // Lines and columns are computed on UTF-8.
        if reason == error { error.locate(message, limits) } else { reason }
    })
}

/// Returns whether a message is UTF-16 without a byte order mark (XML 1.0, appendix F.1). In UTF-8 such a message would contain
/// NUL, which XML doesn't allow.
fn is_utf16_without_mark(message: &[u8]) -> bool {
    matches!(message, [0, ..] | [_, 0, ..])
}

/// Creates a reader with the buffers of this thread.
fn reader<'a>(message: &'a [u8], text: Option<&'a str>, limits: Limits) -> Result<CachedReader<'a>, Error> {
    // If no reader is created, the buffers stay in `MEMORY`.
    let reader = MEMORY.with_borrow_mut(|memory| match text {
        None => CachedReader::with_memory(message, limits, memory),
        Some(text) => CachedReader::decoded(text, limits, memory),
    });
    Ok(reader?)
}

/// Stores the memory that the next reader of this thread takes. It may come from a reader that failed: what that has cached is
/// right.
#[doc(hidden)]
pub fn keep(memory: Memory) {
    MEMORY.set(memory);
}

/// Returns the SOAP version of a message that starts with an envelope.
#[cold]
pub(crate) fn version(message: &[u8], charset: Option<Charset>, limits: Limits) -> Option<Version> {
    let version = read_with(message, charset, &limits.into(), None, |mut reader, _| {
        let version = envelope::version(&mut reader);
        keep(reader.into_memory());
        Ok(version)
    });
    version.ok().flatten()
}

/// Writes a message with the payload `value` as the element `root`. `out` is cleared and reused as the buffer.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`] if the value contains characters that XML doesn't allow.
pub fn write<T: ToXml>(version: Version, root: &Root, value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    write_with(version, Headers::default(), root, value, out)
}

/// Writes a message with header blocks and the payload `value` as the element `root`. `out` is cleared and reused as the buffer.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`] if a value contains characters that XML doesn't allow.
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

/// Writes a message with its parts. The message is MTOM if `mtom` is set or if a value refers to a part. Binary values of at least
/// `mtom` bytes become parts.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`] if a value contains characters that XML doesn't allow, and an error if the system has no
/// random numbers.
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

/// Creates a message that is generated while it is sent.
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
    // A type of the program may be in another namespace than the element.
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

/// Reads a message with the payload `root`, in the encoding that it declares. The message must have no header block that must be
/// understood.
///
/// # Errors
/// Returns an error with the place if the message is something else.
pub fn read<T: FromXml>(root: &'static Root, message: &[u8], limits: Limits) -> Result<T, Error> {
    read_in(root, message, None, limits)
}

/// Reads a message with the payload `root` from text. The encoding that the message declares is ignored. The message must have no
/// header block that must be understood.
///
/// # Errors
/// Returns an error with the place if the message is something else.
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

/// Reads up to the payload, and checks that it is `root`.
fn find<'a>(reader: &mut CachedReader<'a>, root: &'static Root) -> Result<Option<StartTag<'a>>, Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|_, _| false)?;
    if root.begins(payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()))) {
        return Ok(payload);
    }
    let message = format!("the body does not hold <{}>", root.element.name);
    Err(Error::at(payload.map_or_else(|| end_tag(reader), |tag| tag.offset), ErrorKind::Document, message))
}

/// Creates a decoder for a message, lenient if `leniency` is set. The message may refer to the parts in `included`. Boxed, because
/// the decoder is moved several times.
///
/// # Errors
/// Returns an error if the memory budget doesn't allow the texts of the message.
pub(crate) fn decoder<'a>(
    reader: CachedReader<'a>,
    leniency: Option<&Leniency>,
    included: Option<&'a Included>,
    charge: Charge<'_>,
) -> Result<Box<Decoder<'a>>, Error> {
    let allowance = allowance(charge, reader.length())?;
    let decoder = match leniency {
        Some(_) => Decoder::lenient(reader),
        None => Decoder::new(reader),
    };
    let decoder = Box::new(decoder.within(allowance));
    let Some(included) = included else { return Ok(decoder) };
    included.begin();
    Ok(Box::new(decoder.with_includes(included)))
}

/// How the payload of a message is read after its envelope.
pub(crate) struct Incoming<'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) root: &'static Root,
    pub(crate) is_request: bool,
    pub(crate) options: &'a Options,
    /// The message, if it can be retained without a copy.
    pub(crate) message: &'a Bytes,
}

impl Incoming<'_> {
    /// Reads the payload and the rest of the message.
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
        // If parts are missing, the message is read again and reports its deviations then.
        if is_lenient && included.is_none_or(Included::is_complete) {
            tell(options, operation, deviations, input);
        }
        Ok(value)
    }
}

/// Reports the deviations of a message, if there are any.
pub(crate) fn tell(options: &Options, operation: &Operation, deviations: Deviations, input: &str) {
    if let Some(leniency) = &options.leniency
        && !deviations.is_empty()
    {
        leniency.tell(operation, &deviations.locate(input.as_bytes(), options.limits, Some("Body")));
    }
}

impl Package {
    /// Reads a message again, after the parts that it refers to have arrived.
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

/// Reads the payload and the rest of the message. The start tag `first` of the payload was already read and checked.
fn read_payload<'a, T: FromPayload>(
    decoder: &mut Decoder<'a>,
    root: &'static Root,
    first: Option<StartTag<'a>>,
    message: &Bytes,
) -> Result<T, Error> {
    let value = T::read(decoder, root, first, message);
    if value.is_err() {
        // The buffers may be needed to read the message again.
        decoder.give_back();
    }
    value
}
