//! The client side: writes a request and reads its answer.

mod fault;

pub(crate) use fault::MAX_DECLARATIONS_LENGTH;

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use castile_databinding::{Encoder, FromXml, ToXml};
use castile_mime::{Attachments, Content, Part};
use castile_xml::{CachedReader, Charset, StartTag};

use crate::addressing::{self, Call};
use crate::blocks::{self, Blocks, Headers, WriteHeader};
use crate::description::{Operation, Root};
use crate::envelope::{Envelope, HeaderBlock, end_tag};
use crate::error::{Error, ErrorKind, Named};
use crate::fault::{DecodesDetail, Detail, DetailSlot, Fault, FaultDetail, FaultExtras, NoDetail, elements_of};
use crate::included::Included;
use crate::options::Options;
use crate::package::{Package, Received};
use crate::payload::{self, Decodes, FromPayload, Incoming, Slot, ToPayload};
use crate::reader;
use crate::redaction::WSSE;
use crate::response::Response;
use crate::version::Version;
use crate::writer::{self, Written};

/// Writes a request message.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`] if a value contains characters that XML doesn't allow.
pub fn request<Q: ToXml>(version: Version, operation: &Operation, request: &Q) -> Result<Bytes, Error> {
    writer::write(version, &operation.request, request, Vec::new()).map(Bytes::from)
}

/// Writes a request message with header blocks. The request may be [`Raw`](crate::Raw).
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`] if a value contains characters that XML doesn't allow.
pub fn request_with<Q: ToPayload + ?Sized>(
    version: Version,
    operation: &Operation,
    request: &Q,
    header: Headers<'_>,
) -> Result<Content, Error> {
    Ok(request.write(version, header, &operation.request, Encoder::default(), None)?.message)
}

/// Writes a request with header blocks and attachments. If `mtom` is set, the message is MTOM with this threshold. WS-Addressing
/// header blocks are taken from `options`, which are also used to read the answer.
///
/// # Errors
/// Returns [`ErrorKind::Unwritable`] if a value contains characters that XML doesn't allow, and an error if the system has no
/// random numbers.
pub fn request_package<Q: ToPayload + ?Sized>(
    version: Version,
    operation: &Operation,
    request: &Q,
    header: &[&dyn WriteHeader],
    options: &Options,
    mtom: Option<usize>,
    parts: Vec<Part>,
) -> Result<Written, Error> {
    let first = options.call.as_ref().map(Call::blocks).unwrap_or_default();
    let header = Headers { first: &first, blocks: header };
    let out = Encoder::default().noting_canonical(options.notes_canonical);
    let written = request.write(version, header, &operation.request, out, mtom)?;
    Ok(written.with(parts))
}

/// Reads the answer to a request: a response or a fault, in any version of SOAP. `charset` is the charset of the media type, as in
/// [`RequestMessage`](crate::RequestMessage).
///
/// # Errors
/// Returns an error with the place if the message is neither the response nor a fault.
pub fn response<R: FromXml, D: FaultDetail>(
    operation: &'static Operation,
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
) -> Result<Result<R, Fault<D>>, Error> {
    let (mut slot, mut detail) = (Slot::new(), DetailSlot::new());
    match read_response(operation, message, &Bytes::new(), charset, options, None, &mut slot, &mut detail)? {
        Ok(_) => slot.take().map(Ok),
        Err(fault) => Ok(Err(detail.fill(fault))),
    }
}

/// Reads a response whose header blocks are parsed on demand. The response may be [`Raw`](crate::Raw).
///
/// # Errors
/// Returns an error with the place if the message is neither the response nor a fault.
pub fn response_with<R: FromPayload, D: FaultDetail>(
    operation: &'static Operation,
    message: &Bytes,
    charset: Option<Charset>,
    options: &Options,
) -> Result<Result<Response<R>, Fault<D>>, Error> {
    let (mut slot, mut detail) = (Slot::new(), DetailSlot::new());
    match read_response(operation, message, message, charset, options, None, &mut slot, &mut detail)? {
        Ok(header) => Ok(Ok(Response::from_received(slot.take()?, header, Attachments::none()))),
        Err(fault) => Ok(Err(detail.fill(fault))),
    }
}

/// Reads a response that may be in a package. If `takes_attachments` is set, the attachments of the response or fault are read on
/// demand. Otherwise they are skipped.
///
/// # Errors
/// Returns an error if the message is neither the response nor a fault, or if the package is invalid.
pub async fn response_package<R: FromPayload + Send + 'static, D: FaultDetail>(
    operation: &'static Operation,
    received: Received,
    options: &Options,
    takes_attachments: bool,
) -> Result<Result<Response<R>, Fault<D>>, Error> {
    let mut expected = Expected::<R, D>::new(None);
    let answer = answer_package(operation, received, options, takes_attachments, expected.slot()).await?;
    match answer {
        Ok(rest) => expected.response(rest).map(Ok),
        Err(fault) => Ok(Err(expected.fault(fault))),
    }
}

/// The slots for the message of a response and for the detail of a fault. Clients read an answer into them without the types of
/// its operation, so that this is compiled once and not for each operation.
#[doc(hidden)]
pub struct Expected<R, D> {
    message: Slot<R>,
    detail: DetailSlot<D>,
}

/// An [`Expected`] of any types.
#[doc(hidden)]
pub struct AnswerSlot<'e>(&'e mut dyn Expects);

trait Expects: Any + Send {
    fn slots(&mut self) -> (&mut dyn Decodes, &mut dyn DecodesDetail);

    /// Creates empty slots of the same types, to be filled on another thread.
    fn empty(&self) -> Box<dyn Expects>;

    /// Takes over what was stored in `other`.
    fn set(&mut self, other: Box<dyn Expects>);
}

impl<R, D> Expected<R, D> {
    /// Creates empty slots, or one that has a message already.
    pub fn new(message: Option<R>) -> Self {
        Expected { message: Slot(message), detail: DetailSlot::new() }
    }

    /// Adds the stored message to a response.
    ///
    /// # Errors
    /// Returns an error if no message was stored.
    pub fn response(mut self, rest: Response<()>) -> Result<Response<R>, Error> {
        let message = self.message.take()?;
        Ok(rest.map(|()| message))
    }

    /// Adds the stored detail to a fault.
    pub fn fault(self, fault: Fault<()>) -> Fault<D> {
        self.detail.fill(fault)
    }
}

impl<R: FromPayload + Send + 'static, D: FaultDetail> Expected<R, D> {
    /// Returns the slots, to be filled.
    pub fn slot(&mut self) -> AnswerSlot<'_> {
        AnswerSlot(self)
    }
}

impl<R: FromPayload + Send + 'static, D: FaultDetail> Expects for Expected<R, D> {
    fn slots(&mut self) -> (&mut dyn Decodes, &mut dyn DecodesDetail) {
        (&mut self.message, &mut self.detail)
    }

    fn empty(&self) -> Box<dyn Expects> {
        Box::new(Self::new(None))
    }

    fn set(&mut self, other: Box<dyn Expects>) {
        let other: Box<dyn Any> = other;
        if let Ok(other) = other.downcast() {
            *self = *other;
        }
    }
}

/// Reads a response as [`response_package`] does, and stores its message or the detail of its fault in `slot`.
///
/// # Errors
/// Returns an error if the message is neither the response nor a fault, or if the package is invalid.
#[doc(hidden)]
pub async fn answer_package(
    operation: &'static Operation,
    received: Received,
    options: &Options,
    takes_attachments: bool,
    AnswerSlot(expected): AnswerSlot<'_>,
) -> Result<Result<Response<()>, Fault<()>>, Error> {
    let options = &*received.options(options);
    let included = Included::of(received.packaging, options, &received.required_includes);
    let mut answer = read_or_offload(operation, &received, options, &included, expected).await?;
    if received.packaging.is_none() {
        return Ok(answer.map(|header| Response::from_received((), header, received.attachments)));
    }
    let mut package = Package { received, options: options.clone(), included, reservation: None };
    if package.fetch(takes_attachments).await? {
        // The first value must not be in memory beside the second.
        let empty = expected.empty();
        expected.set(empty);
        answer = read_or_offload(operation, &package.received, options, &package.included, expected).await?;
    }
    let attachments = package.received.attachments;
    Ok(match answer {
        Ok(header) => Ok(Response::from_received((), header, attachments)),
        // Without this guard, unread attachments would keep the connection in use.
        Err(fault) if takes_attachments => Err(fault.with_received_attachments(attachments)),
        Err(fault) => Err(fault),
    })
}

/// Reads an answer. A large answer is read by a worker.
async fn read_or_offload(
    operation: &'static Operation,
    received: &Received,
    options: &Options,
    included: &Option<Arc<Included>>,
    expected: &mut dyn Expects,
) -> Result<Result<Blocks, Fault<()>>, Error> {
    let Received { message, charset, .. } = received;
    let Some(offload) = options.offload_for(message.len()) else {
        let (slot, detail) = expected.slots();
        return read_response(operation, message, message, *charset, options, included.as_deref(), slot, detail);
    };
    let (message, charset, options, included) = (message.clone(), *charset, options.clone(), included.clone());
    let mut there = expected.empty();
    let work = move || {
        let (slot, detail) = there.slots();
        let answer = read_response(operation, &message, &message, charset, &options, included.as_deref(), slot, detail);
        (answer, there)
    };
    // A panic is an error of this library, or of the types of the caller.
    let done = offload.run(work).await;
    let (answer, there) = done.ok_or_else(|| Error::new(ErrorKind::System, "the answer could not be read"))?;
    expected.set(there);
    answer
}

/// Reads a response into `slot`, or a fault with the detail in `detail`. `shared` is the message, if it can be retained without a
/// copy.
#[expect(clippy::too_many_arguments, reason = "they are all that an answer is read from")]
fn read_response(
    operation: &'static Operation,
    message: &[u8],
    shared: &Bytes,
    charset: Option<Charset>,
    options: &Options,
    included: Option<&Included>,
    slot: &mut dyn Decodes,
    detail: &mut dyn DecodesDetail,
) -> Result<Result<Blocks, Fault<()>>, Error> {
    let Some(expected) = &operation.response else {
        let message = format!("{} has no response to read", operation.name);
        return Err(Error::at(0, ErrorKind::Document, message));
    };
    if message.is_empty() {
        let message = format!("the answer is empty, where {} was expected", expected.expected());
        return Err(Error::at(0, ErrorKind::Document, message));
    }
    let incoming = Incoming { operation, root: expected, is_request: false, options, message: shared };
    reader::read_with(message, charset, options, None, |mut reader, leniency| {
        let answer = match answer(&mut reader, operation, Some(expected), options, detail) {
            Ok((envelope, Answer::Other(first))) => {
                let text = reader.input();
                let mut decoder = payload::decoder(reader, leniency, included, None)?;
                decoder.cut_out(options.cut_out);
                incoming.payload(decoder, first, included, slot)?;
                return Ok(Ok(Blocks::received(envelope, text, shared, options, Some(operation), None)));
            }
            Ok((envelope, Answer::Fault)) => {
                // The detail of a fault is read without parts.
                if let Some(included) = included {
                    included.refuse_required()?;
                }
                read_fault(&mut reader, envelope, operation, shared, options, expected.is_encoded, detail).map(Err)
            }
            Err(error) => Err(error),
        };
        reader::store_memory(reader.into_memory());
        answer
    })
}

/// Reads the answer to a request of an operation without a response. An empty answer, or any envelope that isn't a fault, means
/// that the request was accepted.
///
/// # Errors
/// Returns an error if the message is not well-formed or not an envelope.
pub fn accepted<D: FaultDetail>(
    operation: &'static Operation,
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
) -> Result<Result<(), Fault<D>>, Error> {
    let mut detail = DetailSlot::new();
    let answer = read_accepted(operation, message, charset, options, &mut detail)?;
    Ok(answer.map_err(|fault| detail.fill(fault)))
}

/// Reads an answer as [`accepted`] does, and stores the detail of its fault in `slot`.
///
/// # Errors
/// Returns an error if the message is not well-formed or not an envelope, or if the fault has elements that stand for signed parts.
#[doc(hidden)]
pub fn accepted_into(
    operation: &'static Operation,
    received: &Received,
    options: &Options,
    AnswerSlot(expected): AnswerSlot<'_>,
) -> Result<Result<(), Fault<()>>, Error> {
    let Received { message, charset, packaging, required_includes, .. } = received;
    let options = &*received.options(options);
    let answer = read_accepted(operation, message, *charset, options, expected.slots().1)?;
    if answer.is_err()
        && let Some(included) = Included::of(*packaging, options, required_includes)
    {
        included.refuse_required()?;
    }
    Ok(answer)
}

fn read_accepted(
    operation: &'static Operation,
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
    detail: &mut dyn DecodesDetail,
) -> Result<Result<(), Fault<()>>, Error> {
    if message.is_empty() {
        return Ok(Ok(()));
    }
    reader::read_envelope(message, charset, options, None, |reader| {
        match answer(reader, operation, None, options, detail)? {
            (envelope, Answer::Fault) => {
                read_fault(reader, envelope, operation, &Bytes::new(), options, false, detail).map(Err)
            }
            (_, Answer::Other(_)) => Ok(Ok(())),
        }
    })
}

/// Reads a fault that anybody may have made, for an error that says what is in it. Returns `None` if the message is not a fault, or is
/// not well-formed. Its header blocks are not read.
pub fn unverified_fault(message: &[u8], charset: Option<Charset>, options: &Options) -> Option<Fault> {
    let mut detail = DetailSlot::<NoDetail>::new();
    let read = reader::read_envelope(message, charset, options, None, |reader| {
        let (envelope, payload) = Envelope::read(reader)?;
        let name = payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()));
        if name != Some((envelope.version.namespace(), "Fault")) {
            return Ok(None);
        }
        // Elements may follow it, as in SOAP encoding.
        let (fault, _) = fault::read(reader, envelope.version, options.limits, true, false, &mut detail)?;
        Ok(Some(fault))
    });
    Some(detail.fill(read.ok()??))
}

/// The content of the body of an answer.
enum Answer<'a> {
    Fault,
    /// The expected payload, with its start tag if there is one.
    Other(Option<StartTag<'a>>),
}

/// Reads up to and including the start tag of the payload.
fn answer<'a>(
    reader: &mut CachedReader<'a>,
    operation: &Operation,
    expected: Option<&'static Root>,
    options: &Options,
    detail: &dyn DecodesDetail,
) -> Result<(Envelope, Answer<'a>), Error> {
    let (mut envelope, payload) = Envelope::read(reader)?;
    envelope.claim(&options.roles);
    envelope
        .check_understood(|block| {
            let HeaderBlock { namespace, local, .. } = block;
            blocks::declares(operation.response_header, namespace, local)
                || elements_of(detail).1.iter().any(|element| element.is(namespace, local))
                || options.understands(block)
                || options.call.as_ref().is_some_and(|call| call.understands(namespace))
        })
        .map_err(|error| match error.not_understood() {
            [first, ..] if *first.namespace == *WSSE && *first.local == *"Security" && options.processed.is_empty() => {
                error.with_reason("the client has no policy for the security of answers")
            }
            _ => error,
        })?;
    if let Some(call) = &options.call {
        call.check(&envelope, reader.input(), options.limits, None)?;
    }
    let name = payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()));
    if name == Some((envelope.version.namespace(), "Fault")) {
        return Ok((envelope, Answer::Fault));
    }
    // In SOAP encoding the name of the element around a result doesn't matter (SOAP 1.1 §7.1, SOAP 1.2 Part 2 §4.2.1).
    let fits = |root: &&Root| root.accepts(name) || (root.is_encoded && payload.is_some());
    let Some(root) = expected.filter(|root| !fits(root)) else {
        return Ok((envelope, Answer::Other(payload)));
    };
    let expected = root.expected();
    Err(match (payload, name) {
        (Some(tag), Some((namespace, local))) => {
            let message = format!("found <{local}> of {}, where {expected} was expected", Named(namespace));
            Error::at(tag.offset, ErrorKind::Document, message)
        }
        _ => {
            let message = format!("the body is empty, where {expected} was expected");
            Error::at(end_tag(reader), ErrorKind::Document, message)
        }
    })
}

/// Reads a fault, whose start tag was already read, and the rest of the message. If the declared detail is a header block, it is
/// read from the header. `shared` is the message, if it can be retained without a copy.
fn read_fault(
    reader: &mut CachedReader<'_>,
    envelope: Envelope,
    operation: &'static Operation,
    shared: &Bytes,
    options: &Options,
    is_encoded: bool,
    detail: &mut dyn DecodesDetail,
) -> Result<Fault<()>, Error> {
    let limits = options.limits;
    let is_lenient = options.leniency.is_some();
    let (mut fault, mut deviations) = fault::read(reader, envelope.version, limits, is_encoded, is_lenient, detail)?;
    if matches!(fault.detail, Detail::None)
        && let Some(tolerated) = fault::strict_then_lenient(is_lenient, |is_lenient| {
            let header = blocks::Read { envelope: &envelope, text: reader.input(), limits, charge: None, is_lenient };
            header.fault_detail(detail).ok().flatten()
        })
    {
        fault.detail = Detail::Declared(());
        deviations = tolerated;
    }
    if matches!(fault.detail, Detail::None)
        && let Some(detail) = addressing::read_fault_detail(&envelope, reader.input(), limits, None)
    {
        fault.detail = Detail::Other(detail);
    }
    payload::report_deviations(options, operation, deviations, reader.input());
    let blocks = Blocks::received(envelope, reader.input(), shared, options, Some(operation), None);
    fault.extras = FaultExtras::received(blocks);
    Ok(fault)
}
