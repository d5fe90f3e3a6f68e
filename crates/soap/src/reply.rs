//! Writes replies: responses and faults.

use std::sync::Arc;

use bytes::Bytes;
use castile_budget::{Reservation, Size};
use castile_databinding::Encoder;
use castile_databinding::ErrorKind::Outgrown;
use castile_mime::Content;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::HeaderMap;

use crate::addressing::Exchange;
use crate::blocks::{Blocks, Headers};
use crate::charge::{EndOnDrop, reserve, reserve_answer};
use crate::description::Operation;
use crate::error::{Error, ErrorKind};
use crate::fault::{Fault, FaultDetail, NoDetail, Part, View};
use crate::offload::{Offloading, Turn};
use crate::payload::ToPayload;
use crate::reply_message::{Pending, Rare, ReplyMessage};
use crate::version::Version;
use crate::writer::Written;
use crate::{header, streamed};

impl ReplyMessage {
    /// Creates the fault that is sent when memory is exhausted.
    pub fn exhausted(version: Version) -> Self {
        let fault = Fault::<NoDetail>::from(Error::new(ErrorKind::Exhausted, String::new()));
        ReplyMessage { is_exhausted: true, ..write_fault(version, None, None, "", &fault) }
    }

    /// Creates a reply message from a fault.
    pub fn from_fault<D: FaultDetail>(version: Version, fault: &Fault<D>) -> Self {
        of_fault(version, None, None, fault)
    }
}

/// How a response is written.
#[derive(Clone)]
pub(crate) struct Responding {
    pub(crate) version: Version,
    pub(crate) operation: &'static Operation,
    pub(crate) exchange: Option<Arc<Exchange>>,
    pub(crate) mtom: Option<usize>,
    pub(crate) offload: Option<Offloading>,
    /// The reservation to which the request is charged.
    pub(crate) reservation: Option<Arc<Reservation>>,
    /// The maximum size of a response in bytes.
    pub(crate) limit: usize,
    /// Whether it is noted what of a response is in canonical form.
    pub(crate) notes_canonical: bool,
}

/// The parts and HTTP headers of a response.
#[derive(Default)]
pub(crate) struct ReplyExtras {
    pub(crate) parts: Vec<castile_mime::Part>,
    pub(crate) http_headers: Option<Box<HeaderMap>>,
}

impl Responding {
    /// Returns a future of the turn of a response that may be large. Returns `None` if it is not expected to be large.
    pub(crate) fn turn(&self) -> Option<BoxFuture<'static, Turn>> {
        self.offload.as_ref()?.turn(self.operation.response_size.expected())
    }

    /// Reserves memory for the values of a large response. Their size is unknown, so the size of recent large responses is used.
    ///
    /// # Errors
    /// Returns the reply for an exhausted budget.
    pub(crate) fn reserve_values(&self) -> Result<Option<Reservation>, ReplyMessage> {
        let expected = &self.operation.response_size;
        reserve(self.reservation.as_ref(), expected.expected()).map_err(|_| {
            // Otherwise every later request would fail too.
            expected.expect(0);
            ReplyMessage::exhausted(self.version)
        })
    }

    /// Writes a response on this thread, unless the last response was large. Returns `None` if it is to be written
    /// [`elsewhere`](Self::elsewhere), because it is large.
    pub(crate) fn response(
        &self,
        response: &dyn ToPayload,
        header: &Blocks,
        extras: &mut ReplyExtras,
    ) -> Option<ReplyMessage> {
        // An operation without a response sends only HTTP headers.
        if self.operation.response.is_none() {
            let http_headers = extras.http_headers.take();
            return Some(ReplyMessage { rare: Rare::of(http_headers, None), ..ReplyMessage::empty(self.version) });
        }
        let most = self.offload.as_ref().map_or(usize::MAX, Offloading::above);
        if self.operation.response_size.last() > most {
            return None;
        }
        self.write(response, header, extras, Some(most))
    }

    /// Writes a large response on a worker.
    #[cold]
    pub(crate) fn response_on_worker(
        self,
        response: Box<dyn ToPayload + Send>,
        header: Blocks,
        mut extras: ReplyExtras,
    ) -> Pending {
        let (version, exchange, offload) = (self.version, self.exchange.clone(), self.offload.clone());
        let values = match self.reserve_values() {
            Ok(values) => values,
            Err(refused) => return std::future::ready(refused).boxed(),
        };
        let awaited = EndOnDrop::new(self.reservation.as_ref());
        Box::pin(async move {
            let write = move || {
                let _values = values;
                self.write(&*response, &header, &mut extras, None)
            };
            let written = match offload {
                Some(offload) => offload.run(write).await.flatten(),
                None => write(),
            };
            awaited.finish();
            written.unwrap_or_else(|| of_fault(version, exchange.as_deref(), None, &panicked()))
        })
    }

    /// Writes a response with its parts; parts from its values come last. Returns `None` if the message is larger than `most`
    /// bytes. Without `most`, the message is charged while it grows.
    fn write(
        &self,
        response: &dyn ToPayload,
        header: &Blocks,
        extras: &mut ReplyExtras,
        most: Option<usize>,
    ) -> Option<ReplyMessage> {
        let Responding { version, operation, mtom, .. } = *self;
        let exchange = self.exchange.as_deref();
        // An operation without a response has an empty reply.
        let Some(root) = &operation.response else {
            return Some(ReplyMessage::empty(version));
        };
        let (first, action) = exchange.map(|exchange| exchange.of_response(operation)).unwrap_or_default();
        let mut out = Encoder::new(operation.response_size.buffer()).limited(self.limit);
        out = out.noting_canonical(self.notes_canonical);
        let mut reservation = None;
        match most {
            Some(most) => out = out.within(most),
            None => {
                if let Some(charged) = reserve(self.reservation.as_ref(), 0).ok().flatten() {
                    out = out.charging(reservation.insert(Arc::new(charged)).clone());
                }
            }
        }
        let blocks = header.own();
        let header = Headers { first: &first, blocks: &blocks };
        Some(match response.write(version, header, root, out, mtom) {
            Ok(Written { message, parts: mut included, packaging, canonical }) => {
                let length = message.bytes().map_or(0, Bytes::len);
                if message.bytes().is_some() {
                    // On a worker it is recorded exactly, so that an answer that is no longer large leaves it.
                    operation.response_size.record(length, most.unwrap_or_default());
                }
                let beyond = size_of(&included);
                if beyond > 0 {
                    operation.response_size.expect(length + beyond);
                }
                let ReplyExtras { mut parts, http_headers } = std::mem::take(extras);
                let attached = size_of(&parts);
                let charged = match (&reservation, &message) {
                    // All chunks of a stream are charged one by one, even small ones.
                    (None, Content::Body(_)) => reserve(self.reservation.as_ref(), beyond + attached)
                        .map(|charged| reservation = charged.map(Arc::new)),
                    (None, Content::Bytes(_)) => reserve_answer(self.reservation.as_ref(), length + beyond + attached)
                        .map(|charged| reservation = charged),
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
                    rare: Rare::of(http_headers, canonical),
                    reservation,
                    ..ReplyMessage::new(version, message)
                }
            }
            Err(error) if error.source_kind() == Some(Outgrown) => {
                let Some(most) = most.filter(|&most| most < self.limit) else {
                    operation.response_size.record_at_least(self.limit);
                    let limit = Size(self.limit);
                    let fault =
                        Fault::<NoDetail>::receiver(format!("the answer has more than {limit}, which is the limit"));
                    return Some(of_fault(version, exchange, None, &fault));
                };
                // Concurrent responses should know the size before this response is written again.
                operation.response_size.record_at_least(most);
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

/// Returns the total size in bytes of the parts that are in memory.
fn size_of(parts: &[castile_mime::Part]) -> usize {
    parts.iter().filter_map(|part| part.content().bytes()).map(Bytes::len).sum()
}

/// Creates the reply for an error that didn't come from a handler.
pub(crate) fn of_error(version: Version, exchange: Option<&Exchange>, error: Error) -> ReplyMessage {
    match error.kind() {
        ErrorKind::Exhausted => ReplyMessage::exhausted(version),
        _ => write_fault::<NoDetail>(version, exchange, None, "", &error.into()),
    }
}

/// Creates the reply for a fault. Its action is the one that the operation declares, if there is one.
pub(crate) fn of_fault<D: FaultDetail>(
    version: Version,
    exchange: Option<&Exchange>,
    operation: Option<&Operation>,
    fault: &Fault<D>,
) -> ReplyMessage {
    of_view(version, exchange, operation, fault.view())
}

/// Creates the reply for a fault of any type of detail, as [`of_fault`] does.
pub(crate) fn of_view(
    version: Version,
    exchange: Option<&Exchange>,
    operation: Option<&Operation>,
    fault: View<'_>,
) -> ReplyMessage {
    if fault.is_of_memory() {
        return ReplyMessage::exhausted(version);
    }
    write_view(version, exchange, operation, "", fault)
}

/// Creates the fault for a panic.
pub(crate) fn panicked() -> Fault {
    // The panic hook has already shown the panic message to the operator. The client must not see it.
    Fault::receiver("the service failed")
}

/// Creates the reply for a fault. `header` has additional header blocks as text.
pub(crate) fn write_fault<D: FaultDetail>(
    version: Version,
    exchange: Option<&Exchange>,
    operation: Option<&Operation>,
    header: &str,
    fault: &Fault<D>,
) -> ReplyMessage {
    write_view(version, exchange, operation, header, fault.view())
}

fn write_view(
    version: Version,
    exchange: Option<&Exchange>,
    operation: Option<&Operation>,
    header: &str,
    fault: View<'_>,
) -> ReplyMessage {
    let (first, action) = exchange.map(|exchange| exchange.of_fault(operation, fault)).unwrap_or_default();
    let is_about_addressing = version == Version::Soap11 && fault.addressing_detail().is_some();
    let detail = match fault.detail {
        Part::Declared(detail) if detail.is_header() => Some(detail),
        _ => None,
    };
    let own = fault.blocks();
    let has_header =
        is_about_addressing || detail.is_some() || !(first.is_empty() && header.is_empty() && own.is_empty());
    let write_header = |out: &mut Encoder| {
        out.raw(&first);
        if is_about_addressing {
            fault.write_addressing_detail(out);
        }
        out.raw(header);
        if let Some(detail) = detail {
            out.encode(version.encoding());
            detail.write(out);
        }
        own.iter().for_each(|block| block.write_to(version, out));
    };
    // A single encoder is used for the whole message, so that ids of values are unique.
    let mut out = Encoder::default();
    header::write_prologue(version, has_header.then_some(write_header), &mut out);
    fault.write(version, &mut out);
    out.raw(version.epilogue());
    match out.finish() {
        Ok(message) => {
            let rare = Rare::of(fault.own_http_headers(), None);
            ReplyMessage { action, rare, ..ReplyMessage::of_fault(version, fault.code.clone(), message) }
        }
        // Only values of a handler can be unwritable, because reasons are made printable.
        Err(error) => unwritable(version, exchange, &error),
    }
}

fn unwritable(version: Version, exchange: Option<&Exchange>, error: &castile_databinding::Error) -> ReplyMessage {
    let fault = Fault::<NoDetail>::receiver(format!("the fault can't be written: {error}"));
    of_fault(version, exchange, None, &fault)
}
