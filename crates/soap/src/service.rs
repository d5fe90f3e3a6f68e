//! Services, and the path of a request from its message to its decoded payload. `handling.rs` has the rest.

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use castile_databinding::Decoder;
use castile_mime::{Attachments, Packaging};
use castile_xml::{CachedReader, StartTag};
use http::{Extensions, HeaderMap};

use crate::addressing::{self, Exchange};
use crate::blocks::{self, Blocks};
use crate::charge::{Charge, EndOnDrop, charged_bytes};
use crate::description::{Description, Operation};
use crate::envelope::{Envelope, HeaderBlock};
use crate::error::Error;
use crate::fault::{Fault, FaultDetail};
use crate::guarded::Guarded;
use crate::handling::{Call, Handling};
use crate::included::Included;
use crate::method::Method;
use crate::options::Options;
use crate::package::{Package, Received};
use crate::payload::{self, Decodes, FromPayload, Incoming, Slot, ToPayload};
use crate::reply::{self, Responding};
use crate::reply_message::{Pending, ReplyMessage};
use crate::request::{Request, RequestContext};
use crate::request_message::{RequestMessage, Understood};
use crate::response::Response;
use crate::shared::Shared;
use crate::trace::Step;
use crate::version::Version;
use crate::{operation, reader, refusal};

/// A SOAP service that turns a request message into a reply message. Generated servers implement it; `castile-http` transports the
/// messages.
///
/// A [`Layer`](crate::Layer) wraps a service in another service. If the layer has to call the inner service later, it stores it in
/// an `Arc`, which is also a service:
///
/// ```
/// use castile_soap::{Description, Layer, Options, Pending, ReplyMessage, RequestMessage, Service, layer_fn};
///
/// /// Counts faults.
/// struct Counted<S>(S, std::sync::Arc<std::sync::atomic::AtomicUsize>);
///
/// impl<S: Service> Service for Counted<S> {
///     fn description(&self) -> &'static Description {
///         self.0.description()
///     }
///
///     fn call(&self, request: RequestMessage, options: &Options) -> Pending {
///         let (pending, faults) = (self.0.call(request, options), self.1.clone());
///         Box::pin(async move {
///             let reply = pending.await;
///             faults.fetch_add(usize::from(reply.is_fault()), std::sync::atomic::Ordering::Relaxed);
///             reply
///         })
///     }
/// }
///
/// # fn layered<S: Service>(service: S) -> impl Service {
/// let layer = layer_fn(|service| Counted(service, Default::default()));
/// layer.layer(service)
/// # }
/// ```
pub trait Service: Send + Sync + 'static {
    /// Returns the description of the service, which doesn't depend on any message.
    fn description(&self) -> &'static Description;

    /// Answers one request. `options` configures how the message is read.
    ///
    /// Every failure, including a panic of a handler, becomes a fault in the [`ReplyMessage`].
    fn call(&self, request: RequestMessage, options: &Options) -> Pending;
}

/// A service as generated code implements it: a list of operations, and a handler for each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a SOAP service",
    label = "doesn't implement `castile::soap::Service`",
    note = "wrap the server in HTTP layers, such as those of tower-http, because it is a tower service: \
        `layer.layer(server)`"
)]
pub trait Dispatch: Send + Sync + 'static {
    /// Returns the description of the service.
    fn description(&self) -> &'static Description;

    /// Passes the payload to the handler of `description().operations[operation]`.
    ///
    /// # Errors
    /// Returns an error if the payload is not valid for the operation.
    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error>;
}

/// The payload of a request, which is not decoded yet.
#[derive(Debug)]
pub struct Payload<'a> {
    decoder: Box<Decoder<'a>>,
    operation: &'static Operation,
    envelope: Envelope,
    /// The WS-Addressing properties of the request.
    exchange: Option<Arc<Exchange>>,
    /// The start tag of the first element in the body; `None` if the body is empty.
    first: Option<StartTag<'a>>,
    received: ReceivedRequest<'a>,
    /// How many bytes were charged before the payload was decoded.
    charged_before: usize,
}

/// A received request.
#[derive(Clone, Copy, Debug)]
struct ReceivedRequest<'a> {
    request: &'a RequestMessage,
    options: &'a Options,
    handler_parts: &'a RefCell<HandlerParts>,
    included: Option<&'a Arc<Included>>,
    /// The length from which binary values in the answer become parts.
    mtom: Option<usize>,
}

/// The parts of a request that are moved to the handler after its payload was decoded.
#[derive(Debug)]
struct HandlerParts {
    action: String,
    attachments: Attachments,
    extensions: Extensions,
    http_headers: Option<Box<HeaderMap>>,
}

/// A shared service, for example the inner service of a layer.
impl<S: Service + ?Sized> Service for Arc<S> {
    fn description(&self) -> &'static Description {
        S::description(self)
    }

    /// Reads a large message on a worker, if offloading is configured.
    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        match options.offload_for(request.message.len()) {
            None => S::call(self, request, options),
            Some(_) => call_on_worker(self.clone(), request, options.clone()),
        }
    }
}

#[cold]
fn call_on_worker<S: Service + ?Sized>(service: Arc<S>, request: RequestMessage, options: Options) -> Pending {
    Box::pin(async move {
        let version = request.version;
        let Some(offload) = options.offload.clone() else { return S::call(&service, request, &options).await };
        let awaited = EndOnDrop::new(request.reservation.as_ref());
        let called = offload.run(move || S::call(&service, request, &options)).await;
        awaited.finish();
        match called {
            Some(pending) => pending.await,
            None => ReplyMessage::from_fault(version, &reply::panicked()),
        }
    })
}

impl<D: Dispatch> Service for D {
    fn description(&self) -> &'static Description {
        Dispatch::description(self)
    }

    fn call(&self, mut request: RequestMessage, options: &Options) -> Pending {
        let handler_parts = RefCell::new(HandlerParts {
            action: mem::take(&mut request.action),
            attachments: mem::replace(&mut request.attachments, Attachments::none()),
            extensions: mem::take(&mut request.extensions),
            http_headers: mem::take(&mut request.http_headers),
        });
        let included = Included::of(request.packaging, options, &request.required_includes);
        let description = Dispatch::description(self);
        let is_asked = description.is_mtom || request.accepts_mtom || request.packaging == Some(Packaging::Mtom);
        let received = ReceivedRequest {
            request: &request,
            options,
            handler_parts: &handler_parts,
            included: included.as_ref(),
            mtom: options.mtom.threshold(is_asked),
        };
        // A panic while reading is an error of this library or of a type of the program. It fails only this request.
        let error = match catch_unwind(AssertUnwindSafe(|| read(self, received))) {
            Ok(Ok(pending)) => return pending,
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        refusal::refuse(&request, options, error)
    }
}

/// Reads a request, and calls its method.
fn read<D: Dispatch>(service: &D, received: ReceivedRequest<'_>) -> Result<Pending, Error> {
    let ReceivedRequest { request, options, included, .. } = received;
    let charge = request.reservation.as_ref();
    reader::read_with(&request.message, request.charset, options, charge, |mut reader, leniency| {
        let description = Dispatch::description(service);
        let head = match check_head(description, received, &mut reader) {
            Ok(head) => head,
            Err(error) => {
                reader::store_memory(reader.into_memory());
                return Err(error);
            }
        };
        let CheckedHead { envelope, exchange, first, operation_index } = head;
        let charged_before = charged_bytes(charge);
        let operation = &description.operations[operation_index];
        if let Some(trace) = &request.trace {
            trace.record_operation(description, operation);
        }
        let decoder = payload::decoder(reader, leniency, included.map(|included| &**included), charge)?;
        // Generated code calls `Payload::call` below with the types and the method of the operation.
        service.dispatch(
            operation_index,
            Payload { decoder, operation, envelope, exchange, first, received, charged_before },
        )
    })
}

/// The beginning of a request, up to the start tag of its payload.
struct RequestHead<'a> {
    envelope: Envelope,
    exchange: Option<Arc<Exchange>>,
    first: Option<StartTag<'a>>,
    /// The index of the operation.
    operation_index: Result<usize, Error>,
}

/// Reads a request up to its payload, and finds its operation.
fn read_head<'a>(
    description: &'static Description,
    soap_action: &str,
    options: &Options,
    charge: Charge<'_>,
    reader: &mut CachedReader<'a>,
) -> Result<RequestHead<'a>, Error> {
    let (mut envelope, first) = Envelope::read(reader)?;
    envelope.claim(&options.roles);
    let exchange = Exchange::open(&envelope, reader.input(), options, charge)?;
    let action = exchange.as_ref().and_then(|exchange| exchange.action()).unwrap_or(soap_action);
    let found = operation::find(description, action, first, reader);
    Ok(RequestHead { envelope, exchange, first, operation_index: found })
}

/// A request for this service: its envelope, the start tag of its payload, and the index of its operation.
struct CheckedHead<'a> {
    envelope: Envelope,
    exchange: Option<Arc<Exchange>>,
    first: Option<StartTag<'a>>,
    operation_index: usize,
}

/// Reads a request up to its payload, and checks what its header demands.
fn check_head<'a>(
    description: &'static Description,
    received: ReceivedRequest<'_>,
    reader: &mut CachedReader<'a>,
) -> Result<CheckedHead<'a>, Error> {
    let ReceivedRequest { request, options, .. } = received;
    let HandlerParts { action: soap_action, extensions, .. } = &*received.handler_parts.borrow();
    let RequestHead { envelope, exchange, first, operation_index: found } =
        read_head(description, soap_action, options, request.reservation.as_ref(), reader)?;
    let operation = found.as_ref().ok().map(|&index| &description.operations[index]);
    let exchange = exchange.filter(|_| !operation.is_some_and(addressing::is_declared_by));
    // The header blocks that the operation declares are understood. If the operation isn't known, those of all operations are.
    let candidates = operation.map_or(description.operations, std::slice::from_ref);
    envelope.check_understood(|block| {
        let HeaderBlock { namespace, local, .. } = block;
        let declares = |operation: &Operation| blocks::declares(operation.request_header, namespace, local);
        candidates.iter().any(declares)
            || exchange.as_ref().is_some_and(|exchange| exchange.understands(namespace))
            || options.understands(block)
            || Understood::includes(extensions, block)
    })?;
    addressing::check(exchange.as_deref(), &envelope, soap_action, operation, description, options)?;
    Ok(CheckedHead { envelope, exchange, first, operation_index: found? })
}

impl Payload<'_> {
    /// Decodes the payload, reads the rest of the message, and calls a method of the service.
    ///
    /// # Errors
    /// Returns an error if the payload is not a `Q`, or if the message is not well-formed. The method is not called then.
    #[inline]
    pub fn call<T, Q, R, D>(
        self,
        service: Shared<T>,
        method: impl for<'s> Method<'s, T, Q, R, D>,
    ) -> Result<Pending, Error>
    where
        T: Send + Sync + 'static,
        Q: FromPayload + Send + 'static,
        R: ToPayload + Send + 'static,
        D: FaultDetail,
    {
        self.handle(async move |request| method.call(&service, request).await)
    }

    /// Decodes the payload, reads the rest of the message, and calls the handler. An operation without a response is answered with
    /// an empty reply (SOAP 1.1 §6, WS-I Basic Profile 1.1 R2714), unless the handler returns a fault.
    ///
    /// # Errors
    /// Returns an error if the payload is not a `Q`, or if the message is not well-formed. The handler is not called then.
    pub fn handle<Q, R, D, F>(self, handler: impl FnOnce(Request<Q>) -> F + Send + 'static) -> Result<Pending, Error>
    where
        Q: FromPayload + Send + 'static,
        R: ToPayload + Send + 'static,
        D: FaultDetail,
        F: Future<Output = Result<Response<R>, Fault<D>>> + Send + 'static,
    {
        let mut message = Slot::new();
        let handling = self.decode(&mut message)?;
        let exchange = handling.exchange();
        let guarded = Guarded::new(Call::Decoded { message, handler: Some(handler) }, handling);
        Ok(addressing::delivered(exchange, Box::pin(guarded)))
    }

    /// Decodes the payload into `message`, and reads the rest of the message. Returns the steps from there to the reply.
    fn decode(self, message: &mut dyn Decodes) -> Result<Handling, Error> {
        let Payload { mut decoder, operation, envelope, exchange, first, received, charged_before } = self;
        let ReceivedRequest { request, options, included, .. } = received;
        let (version, charge) = (envelope.version, request.reservation.as_ref());
        let incoming =
            Incoming { operation, root: &operation.request, is_request: true, options, message: &request.message };
        let text = decoder.reader().input();
        incoming.payload(decoder, first, included.map(|included| &**included), message)?;
        let header = Blocks::received(envelope, text, &request.message, options, Some(operation), charge);
        let charged = charged_bytes(charge).saturating_sub(charged_before);
        let trace = request.trace.clone();
        if let Some(trace) = &trace {
            trace.end(Step::Decode);
        }
        let context = received.context(version, exchange.clone());
        let responding = Responding {
            version,
            operation,
            exchange,
            mtom: received.mtom,
            offload: options.offload.clone(),
            reservation: charge.cloned(),
            limit: options.limits.written_size,
            notes_canonical: options.notes_canonical,
        };
        Ok(Handling::new(responding, trace, received.package(), charged, header, context))
    }
}

impl ReceivedRequest<'_> {
    /// Returns everything that is needed to continue with a message while its parts arrive.
    fn package(self) -> Option<Box<Package>> {
        let ReceivedRequest { request, options, handler_parts, included, .. } = self;
        request.packaging.map(|packaging| {
            let received = Received {
                charset: request.charset,
                packaging: Some(packaging),
                attachments: mem::replace(&mut handler_parts.borrow_mut().attachments, Attachments::none()),
                ..request.message.clone().into()
            };
            let (options, included) = (options.clone(), included.cloned());
            Box::new(Package { received, options, included, reservation: request.reservation.clone() })
        })
    }

    fn context(self, version: Version, addressing: Option<Arc<Exchange>>) -> RequestContext {
        let mut handler_parts = self.handler_parts.borrow_mut();
        let RequestMessage { peer, deadline, .. } = *self.request;
        RequestContext {
            version,
            action: mem::take(&mut handler_parts.action),
            addressing,
            extensions: mem::take(&mut handler_parts.extensions),
            http_headers: mem::take(&mut handler_parts.http_headers),
            peer,
            deadline,
        }
    }
}

/// Returns the operation of a request, for layers.
pub(crate) fn find_operation(
    description: &'static Description,
    request: &RequestMessage,
    options: &Options,
) -> Result<&'static Operation, Error> {
    let charge = request.reservation.as_ref();
    let found = reader::read_envelope(&request.message, request.charset, options, charge, |reader| {
        read_head(description, &request.action, options, charge, reader)?.operation_index
    });
    found.map(|index| &description.operations[index])
}
