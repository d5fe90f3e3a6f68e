//! Replies as they are written: responses, faults of handlers, and refusals of what can't be read.

use std::sync::Arc;

use bytes::Bytes;
use castile_budget::{Reservation, Size};
use castile_databinding::Encoder;
use castile_databinding::ErrorKind::Outgrown;
use castile_mime::{Content, Part};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::HeaderMap;

use crate::addressing::{self, Exchange};
use crate::blocks::Blocks;
use crate::charge::{Awaited, hold, keep};
use crate::{
    Detail, Envelope, Error, ErrorKind, Fault, FaultDetail, Headers, NoDetail, Offloading, Operation, Options, Pending,
    ReplyMessage, RequestMessage, Response, ToPayload, Turn, Version, Written, header, message, streamed,
};

impl ReplyMessage {
    /// A fault, written as one.
    pub fn from_fault<D: FaultDetail>(version: Version, fault: &Fault<D>) -> Self {
        of_fault(version, None, None, fault)
    }
}

impl RequestMessage {
    /// Answers with a fault, in the version of the message and with what its WS-Addressing asks for.
    pub fn refuse(&self, options: &Options, fault: &Fault) -> Pending {
        refuse_with(self, options, version(self, options), "", fault)
    }
}

/// How a response is to be written.
#[derive(Clone)]
pub(crate) struct Responding {
    pub(crate) version: Version,
    pub(crate) operation: &'static Operation,
    pub(crate) exchange: Option<Arc<Exchange>>,
    pub(crate) mtom: Option<usize>,
    pub(crate) offload: Option<Offloading>,
    /// What the request is charged to.
    pub(crate) reservation: Option<Arc<Reservation>>,
    /// How many bytes a response may have.
    pub(crate) limit: usize,
}

/// What goes with the message of a response.
#[derive(Default)]
struct Beside {
    parts: Vec<Part>,
    http_headers: Option<Box<HeaderMap>>,
}

impl Responding {
    /// A turn to make a response, if those of the operation may be large.
    #[inline]
    pub(crate) fn turn(&self) -> Option<BoxFuture<'static, Turn>> {
        self.offload.as_ref()?.turn(self.operation.response_size.expected())
    }

    /// Room for the values of a large response. How much they take is not known: about as much as large responses had.
    ///
    /// # Errors
    /// That there is none.
    pub(crate) fn room(&self) -> Result<Option<Reservation>, ReplyMessage> {
        let expected = &self.operation.response_size;
        hold(self.reservation.as_ref(), expected.expected()).map_err(|_| {
            // Or it would be so for ever.
            expected.expect(0);
            ReplyMessage::exhausted(self.version)
        })
    }

    /// A response is written here unless the last one was large; when it turns out to be large it is written anew
    /// elsewhere.
    ///
    /// # Errors
    /// That it is not there yet.
    pub(crate) fn response<R>(&self, response: Response<R>) -> Result<ReplyMessage, Pending>
    where
        R: ToPayload + Send + 'static,
    {
        // Where there is no response, nothing goes with it.
        if self.operation.response.is_none() {
            return Ok(ReplyMessage { http_headers: response.http_headers, ..ReplyMessage::empty(self.version) });
        }
        let Response { message, carried, parts, http_headers, .. } = response;
        let mut beside = Beside { parts, http_headers };
        let most = self.offload.as_ref().map_or(usize::MAX, Offloading::above);
        if self.operation.response_size.last() <= most
            && let Some(reply) = self.write(&message, &carried, &mut beside, Some(most))
        {
            return Ok(reply);
        }
        Err(self.clone().elsewhere(message, carried, beside))
    }

    #[cold]
    fn elsewhere<R>(self, response: R, header: Blocks, mut beside: Beside) -> Pending
    where
        R: ToPayload + Send + 'static,
    {
        let (version, exchange, offload) = (self.version, self.exchange.clone(), self.offload.clone());
        let values = match self.room() {
            Ok(values) => values,
            Err(refused) => return std::future::ready(refused).boxed(),
        };
        let awaited = Awaited::new(self.reservation.as_ref());
        Box::pin(async move {
            let write = move || {
                let _values = values;
                self.write(&response, &header, &mut beside, None)
            };
            let written = match offload {
                Some(offload) => offload.run(write).await.flatten(),
                None => write(),
            };
            awaited.finish();
            written.unwrap_or_else(|| of_fault(version, exchange.as_deref(), None, &panicked()))
        })
    }

    /// A response with what goes beside it; its own parts come behind those. `None` if it outgrows so many bytes. With no limit it
    /// is charged while it grows.
    #[inline]
    fn write<R: ToPayload>(
        &self,
        response: &R,
        header: &Blocks,
        beside: &mut Beside,
        most: Option<usize>,
    ) -> Option<ReplyMessage> {
        let Responding { version, operation, mtom, .. } = *self;
        let exchange = self.exchange.as_deref();
        // An operation without a response has no response to be written.
        let Some(root) = &operation.response else {
            return Some(ReplyMessage::empty(version));
        };
        let (first, action) = exchange.map(|exchange| exchange.of_response(operation)).unwrap_or_default();
        let mut out = Encoder::new(operation.response_size.buffer()).limited(self.limit);
        let mut reservation = None;
        match most {
            Some(most) => out = out.within(most),
            None => {
                if let Some(charged) = hold(self.reservation.as_ref(), 0).ok().flatten() {
                    out = out.charging(reservation.insert(Arc::new(charged)).clone());
                }
            }
        }
        let blocks = header.own();
        let header = Headers { first: &first, blocks: &blocks };
        Some(match response.write(version, header, root, out, mtom) {
            Ok(Written { message, parts: mut included, packaging }) => {
                let length = message.bytes().map_or(0, Bytes::len);
                if message.bytes().is_some() {
                    operation.response_size.note(length);
                }
                let beyond = size_of(&included);
                if beyond > 0 {
                    operation.response_size.expect(length + beyond);
                }
                let Beside { mut parts, http_headers } = std::mem::take(beside);
                let attached = size_of(&parts);
                let charged = match (&reservation, &message) {
                    // Its pieces are charged one by one, small as they may be.
                    (None, Content::Body(_)) => hold(self.reservation.as_ref(), beyond + attached)
                        .map(|charged| reservation = charged.map(Arc::new)),
                    (None, Content::Bytes(_)) => {
                        keep(self.reservation.as_ref(), length + beyond + attached).map(|charged| reservation = charged)
                    }
                    (Some(reservation), _) => reservation.grow(attached),
                };
                if charged.is_err() {
                    return Some(ReplyMessage::exhausted(version));
                }
                let message = match &reservation {
                    Some(reservation) => streamed::charging(message, reservation.clone()),
                    None => message,
                };
                parts.append(&mut included);
                ReplyMessage {
                    action,
                    parts,
                    packaging,
                    http_headers,
                    reservation,
                    ..ReplyMessage::new(version, message)
                }
            }
            Err(error) if error.source_kind() == Some(Outgrown) => {
                let Some(most) = most.filter(|&most| most < self.limit) else {
                    operation.response_size.note_more(self.limit);
                    let limit = Size(self.limit);
                    let fault =
                        Fault::<NoDetail>::receiver(format!("the answer has more than {limit}, which is the limit"));
                    return Some(of_fault(version, exchange, None, &fault));
                };
                // Those that come meanwhile are told before it is written.
                operation.response_size.note_more(most);
                return None;
            }
            Err(error) if error.kind() == ErrorKind::Exhausted => {
                operation.response_size.expect(reservation.map_or(0, |reservation| reservation.bytes()));
                ReplyMessage::exhausted(version)
            }
            Err(error) => of_error(version, exchange, error),
        })
    }
}

/// How many bytes of parts are at hand.
fn size_of(parts: &[Part]) -> usize {
    parts.iter().filter_map(|part| part.content().bytes()).map(Bytes::len).sum()
}

/// What is said of an error behind which no handler is.
pub(crate) fn of_error(version: Version, exchange: Option<&Exchange>, error: Error) -> ReplyMessage {
    match error.kind() {
        ErrorKind::Exhausted => ReplyMessage::exhausted(version),
        _ => write_fault::<NoDetail>(version, exchange, None, "", &error.into()),
    }
}

/// A fault, whose action is what the operation says if there is one.
pub(crate) fn of_fault<D: FaultDetail>(
    version: Version,
    exchange: Option<&Exchange>,
    operation: Option<&Operation>,
    fault: &Fault<D>,
) -> ReplyMessage {
    if fault.is_of_memory() {
        return ReplyMessage::exhausted(version);
    }
    write_fault(version, exchange, operation, "", fault)
}

/// The answer to a message that can't be read (`error`), or to one that makes us panic, in the version that it is in.
#[cold]
pub(crate) fn refuse(request: &RequestMessage, options: &Options, error: Option<Error>) -> Pending {
    let version = version(request, options);
    match error {
        None => refuse_with(request, options, version, "", &panicked()),
        // To find out where else the answer may go takes memory, too.
        Some(error) if error.kind() == ErrorKind::Exhausted => {
            std::future::ready(ReplyMessage::exhausted(version)).boxed()
        }
        Some(error) => {
            let header = header::of_refusal(version, &error);
            let subcode = error.subcode().filter(|_| version.has_subcodes());
            let mut fault = Fault::<NoDetail>::from(error);
            fault.subcodes.extend(subcode);
            refuse_with(request, options, version, &header, &fault)
        }
    }
}

fn refuse_with(
    request: &RequestMessage,
    options: &Options,
    version: Version,
    header: &str,
    fault: &Fault<NoDetail>,
) -> Pending {
    let charge = request.reservation.as_ref();
    let exchange = message::read_with(&request.message, request.charset, options, charge, |mut reader, _| {
        let exchange = Envelope::read(&mut reader).and_then(|(mut envelope, _)| {
            envelope.claim(&options.roles);
            Exchange::open(&envelope, reader.input(), options, charge)
        });
        message::keep(reader.into_memory());
        exchange
    });
    // What can't be read has nobody to be told to but the other end of the connection.
    let mut exchange = exchange.ok().flatten();
    // Nor does a fault about addresses go to one of them.
    if addressing::is_of_addressing(fault)
        && let Some(exchange) = exchange.as_mut().and_then(Arc::get_mut)
    {
        exchange.answer_here();
    }
    let reply = write_fault(version, exchange.as_deref(), None, header, fault);
    delivered(exchange, std::future::ready(reply).boxed())
}

/// A reply that is sent where the request says, once it is there.
pub(crate) fn delivered(exchange: Option<Arc<Exchange>>, reply: Pending) -> Pending {
    match exchange {
        None => reply,
        Some(exchange) => async move { exchange.deliver(reply.await).await }.boxed(),
    }
}

/// What is said of a panic.
pub(crate) fn panicked() -> Fault {
    // What the panic says has been printed for the operator by the panic hook; it is not for the client.
    Fault::receiver("the service failed")
}

fn version(request: &RequestMessage, options: &Options) -> Version {
    message::version(&request.message, request.charset, options.limits).unwrap_or(request.version)
}

/// A fault whose header has these blocks, as text, beside its own.
pub(crate) fn write_fault<D: FaultDetail>(
    version: Version,
    exchange: Option<&Exchange>,
    operation: Option<&Operation>,
    header: &str,
    fault: &Fault<D>,
) -> ReplyMessage {
    let (first, action) = exchange.map(|exchange| exchange.of_fault(operation, fault)).unwrap_or_default();
    let is_about_addressing = version == Version::Soap11 && addressing::fault_detail(fault).is_some();
    let detail = match &fault.detail {
        Detail::Declared(detail) if detail.is_header() => Some(detail),
        _ => None,
    };
    let own = fault.blocks();
    let has_header =
        is_about_addressing || detail.is_some() || !(first.is_empty() && header.is_empty() && own.is_empty());
    let write_header = |out: &mut Encoder| {
        out.raw(&first);
        if is_about_addressing {
            addressing::write_fault_detail(fault, out);
        }
        out.raw(header);
        if let Some(detail) = detail {
            out.encode(version.encoding());
            detail.write(out);
        }
        own.iter().for_each(|block| block.write_to(version, out));
    };
    // One encoder for all of it: no two values have the same id.
    let mut out = Encoder::default();
    header::write_prologue(version, has_header.then_some(write_header), &mut out);
    fault.write(version, &mut out);
    out.raw(version.epilogue());
    match out.finish() {
        Ok(message) => {
            let http_headers = fault.own_http_headers();
            ReplyMessage { action, http_headers, ..ReplyMessage::of_fault(version, fault.code.clone(), message) }
        }
        // Only what a handler said can be unwritable: reasons are made printable.
        Err(error) => unwritable(version, exchange, &error),
    }
}

fn unwritable(version: Version, exchange: Option<&Exchange>, error: &castile_databinding::Error) -> ReplyMessage {
    let fault = Fault::<NoDetail>::receiver(format!("the fault can't be written: {error}"));
    of_fault(version, exchange, None, &fault)
}
