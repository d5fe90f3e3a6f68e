//! The client side: writes a request and reads its answer.

mod fault;

pub(crate) use fault::DECLARATIONS;

use std::sync::Arc;

use bytes::Bytes;
use castile_databinding::{Encoder, FromXml, ToXml};
use castile_mime::{Attachments, Content, Part};
use castile_xml::{CachedReader, Charset, StartTag};

use crate::addressing::{self, Call};
use crate::blocks::{self, Blocks, Headers, WriteHeader};
use crate::description::{Operation, Root};
use crate::envelope::{Envelope, end_tag};
use crate::error::{Error, ErrorKind, Named};
use crate::fault::{Beside, Detail, Fault, FaultDetail};
use crate::included::Included;
use crate::options::Options;
use crate::package::{Package, Received};
use crate::payload::{self, FromPayload, Incoming, ToPayload};
use crate::reader;
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
pub fn request_with<Q: ToPayload>(
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
pub fn request_package<Q: ToPayload>(
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
    let written = request.write(version, header, &operation.request, Encoder::default(), mtom)?;
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
    let answer = read_response(operation, message, &Bytes::new(), charset, options, None)?;
    Ok(answer.map(|(response, _)| response))
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
    let answer = read_response(operation, message, message, charset, options, None)?;
    Ok(answer.map(|(response, header)| Response::came(response, header, Attachments::none())))
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
    let included = Included::of(received.packaging, options);
    let mut answer = read_anywhere(operation, &received, options, &included).await?;
    if received.packaging.is_none() {
        return Ok(answer.map(|(response, header)| Response::came(response, header, received.attachments)));
    }
    let mut package = Package { received, options: options.clone(), included, reservation: None };
    if package.fetch(takes_attachments).await? {
        answer = read_anywhere(operation, &package.received, options, &package.included).await?;
    }
    let attachments = package.received.attachments;
    Ok(match answer {
        Ok((response, header)) => Ok(Response::came(response, header, attachments)),
        // Without this guard, unread attachments would keep the connection in use.
        Err(fault) if takes_attachments => Err(fault.attached(attachments)),
        Err(fault) => Err(fault),
    })
}

/// Reads an answer. A large answer is read by a worker.
async fn read_anywhere<R: FromPayload + Send + 'static, D: FaultDetail>(
    operation: &'static Operation,
    received: &Received,
    options: &Options,
    included: &Option<Arc<Included>>,
) -> Result<Result<(R, Blocks), Fault<D>>, Error> {
    let Received { message, charset, .. } = received;
    let Some(offload) = options.elsewhere(message.len()) else {
        return read_response(operation, message, message, *charset, options, included.as_deref());
    };
    let (message, charset, options, included) = (message.clone(), *charset, options.clone(), included.clone());
    let work = move || read_response(operation, &message, &message, charset, &options, included.as_deref());
    // A panic is an error of this library, or of the types of the caller.
    offload.run(work).await.unwrap_or_else(|| Err(Error::new(ErrorKind::System, "the answer could not be read")))
}

/// `shared` is the message, if it can be retained without a copy.
fn read_response<R: FromPayload, D: FaultDetail>(
    operation: &'static Operation,
    message: &[u8],
    shared: &Bytes,
    charset: Option<Charset>,
    options: &Options,
    included: Option<&Included>,
) -> Result<Result<(R, Blocks), Fault<D>>, Error> {
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
        let answer = match answer::<D>(&mut reader, operation, Some(expected), options) {
            Ok((envelope, Answer::Other(first))) => {
                let text = reader.input();
                let mut decoder = payload::decoder(reader, leniency, included, None)?;
                decoder.lack(options.cut);
                let payload = incoming.payload(decoder, first, included)?;
                return Ok(Ok((payload, Blocks::received(envelope, text, shared, options, Some(operation), None))));
            }
            Ok((envelope, Answer::Fault)) => {
                read_fault(&mut reader, envelope, operation, shared, options, expected.is_encoded).map(Err)
            }
            Err(error) => Err(error),
        };
        reader::keep(reader.into_memory());
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
    if message.is_empty() {
        return Ok(Ok(()));
    }
    reader::read_envelope(message, charset, options, None, |reader| {
        match answer::<D>(reader, operation, None, options)? {
            (envelope, Answer::Fault) => {
                read_fault(reader, envelope, operation, &Bytes::new(), options, false).map(Err)
            }
            (_, Answer::Other(_)) => Ok(Ok(())),
        }
    })
}

/// The content of the body of an answer.
enum Answer<'a> {
    Fault,
    /// The expected payload, with its start tag if there is one.
    Other(Option<StartTag<'a>>),
}

/// Reads up to and including the start tag of the payload.
fn answer<'a, D: FaultDetail>(
    reader: &mut CachedReader<'a>,
    operation: &Operation,
    expected: Option<&'static Root>,
    options: &Options,
) -> Result<(Envelope, Answer<'a>), Error> {
    let (mut envelope, payload) = Envelope::read(reader)?;
    envelope.claim(&options.roles);
    envelope.check_understood(|namespace, local| {
        blocks::declares(operation.response_header, namespace, local)
            || blocks::of_fault::<D>().1.iter().any(|element| element.is(namespace, local))
            || options.understands(namespace, local)
            || options.call.as_ref().is_some_and(|call| call.understands(namespace))
    })?;
    if let Some(call) = &options.call {
        call.check(&envelope, reader.input(), options.limits, None)?;
    }
    let name = payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()));
    if name == Some((envelope.version.namespace(), "Fault")) {
        return Ok((envelope, Answer::Fault));
    }
    // In SOAP encoding the name of the element around a result doesn't matter (SOAP 1.1 §7.1, SOAP 1.2 Part 2 §4.2.1).
    let fits = |root: &&Root| root.begins(name) || (root.is_encoded && payload.is_some());
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
fn read_fault<D: FaultDetail>(
    reader: &mut CachedReader<'_>,
    envelope: Envelope,
    operation: &'static Operation,
    shared: &Bytes,
    options: &Options,
    is_encoded: bool,
) -> Result<Fault<D>, Error> {
    let limits = options.limits;
    let is_lenient = options.leniency.is_some();
    let (mut fault, mut deviations) = fault::read(reader, envelope.version, limits, is_encoded, is_lenient)?;
    if matches!(fault.detail, Detail::None)
        && let Some((detail, tolerated)) = fault::tolerantly(is_lenient, |is_lenient| {
            let header = blocks::Read { envelope: &envelope, text: reader.input(), limits, charge: None, is_lenient };
            header.fault_detail().ok().flatten()
        })
    {
        fault.detail = Detail::Declared(detail);
        deviations = tolerated;
    }
    if matches!(fault.detail, Detail::None)
        && let Some(detail) = addressing::read_fault_detail(&envelope, reader.input(), limits, None)
    {
        fault.detail = Detail::Other(detail);
    }
    payload::tell(options, operation, deviations, reader.input());
    let blocks = Blocks::received(envelope, reader.input(), shared, options, Some(operation), None);
    fault.beside = Beside::came(blocks);
    Ok(fault)
}
