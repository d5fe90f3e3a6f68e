//! Dispatches a request message to a handler and returns the reply.

use std::cell::RefCell;
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use castile_databinding::Decoder;
use castile_mime::{Attachments, Packaging, Rest};
use castile_xml::{CachedReader, StartTag};
use futures_util::FutureExt;
use http::{Extensions, HeaderMap};

use crate::addressing::{self, Exchange};
use crate::charge::{Awaited, held};
use crate::included::Included;
use crate::operation::find;
use crate::package::Package;
use crate::payload::{self, Incoming};
use crate::reply::Responding;
use crate::request::Surroundings;
use crate::request_message::Understood;
use crate::{
    Description, Envelope, Error, ErrorKind, Fault, FaultDetail, FromPayload, Offloading, Operation, Options, Pending,
    Received, Request, RequestMessage, Response, Service, Step, ToPayload, Version, blocks, reader, reply,
};

/// A service as generated code implements it: a list of operations, and a handler for each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no SOAP service",
    label = "no `castile::soap::Service`",
    note = "a layer of HTTP, such as those of tower-http, goes around the server, which is a tower service: `layer.layer(server)`"
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
    arrived: Arrived<'a>,
    /// How many bytes were charged before the payload was decoded.
    before: usize,
}

/// A received request.
#[derive(Clone, Copy, Debug)]
struct Arrived<'a> {
    request: &'a RequestMessage,
    options: &'a Options,
    belongings: &'a RefCell<Belongings>,
    included: Option<&'a Arc<Included>>,
    /// The length from which binary values in the answer become parts.
    mtom: Option<usize>,
}

/// The parts of a request that are moved to the handler after its payload was decoded.
#[derive(Debug)]
struct Belongings {
    action: String,
    attachments: Attachments,
    extensions: Extensions,
    http_headers: Option<Box<HeaderMap>>,
}

impl<D: Dispatch> Service for D {
    fn description(&self) -> &'static Description {
        Dispatch::description(self)
    }

    fn call(&self, mut request: RequestMessage, options: &Options) -> Pending {
        let belongings = RefCell::new(Belongings {
            action: mem::take(&mut request.action),
            attachments: mem::replace(&mut request.attachments, Attachments::none()),
            extensions: mem::take(&mut request.extensions),
            http_headers: mem::take(&mut request.http_headers),
        });
        let included = Included::of(request.packaging, options);
        let description = Dispatch::description(self);
        let is_asked = description.is_mtom || request.accepts_mtom || request.packaging == Some(Packaging::Mtom);
        let arrived = Arrived {
            request: &request,
            options,
            belongings: &belongings,
            included: included.as_ref(),
            mtom: options.mtom.threshold(is_asked),
        };
        // A panic while reading is an error of this library or of a type of the program. It fails only this request.
        let error = match catch_unwind(AssertUnwindSafe(|| start(self, arrived))) {
            Ok(Ok(pending)) => return pending,
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        reply::refuse(&request, options, error)
    }
}

/// Reads a request up to its payload, finds its operation, and dispatches it.
fn start<D: Dispatch>(service: &D, arrived: Arrived<'_>) -> Result<Pending, Error> {
    let Arrived { request, options, .. } = arrived;
    let charge = request.reservation.as_ref();
    reader::read_with(&request.message, request.charset, options, charge, |mut reader, leniency| {
        let description = Dispatch::description(service);
        match open(description, arrived, &mut reader) {
            Ok(Opened { envelope, exchange, first, number }) => {
                let before = held(charge);
                let operation = &description.operations[number];
                if let Some(trace) = &request.trace {
                    trace.is_for(description, operation);
                }
                let decoder = payload::decoder(reader, leniency, arrived.included.map(|included| &**included), charge)?;
                service.dispatch(number, Payload { decoder, operation, envelope, exchange, first, arrived, before })
            }
            Err(error) => {
                reader::keep(reader.into_memory());
                Err(error)
            }
        }
    })
}

/// The envelope of a request, the start tag of its payload, and the index of its operation.
struct Opened<'a> {
    envelope: Envelope,
    exchange: Option<Arc<Exchange>>,
    first: Option<StartTag<'a>>,
    number: usize,
}

fn open<'a>(
    description: &'static Description,
    arrived: Arrived<'_>,
    reader: &mut CachedReader<'a>,
) -> Result<Opened<'a>, Error> {
    let Arrived { request, options, .. } = arrived;
    let Belongings { action: of_protocol, extensions, .. } = &*arrived.belongings.borrow();
    let (mut envelope, first) = Envelope::read(reader)?;
    envelope.claim(&options.roles);
    let mut exchange = Exchange::open(&envelope, reader.input(), options, request.reservation.as_ref())?;
    let action = exchange.as_ref().and_then(|exchange| exchange.action()).unwrap_or(of_protocol);
    let operations = description.operations;
    let found = find(description, action, first, reader);
    let operation = found.as_ref().ok().map(|&number| &operations[number]);
    exchange = exchange.filter(|_| !operation.is_some_and(addressing::is_declared_by));
    // The header blocks that the operation declares are understood. If the operation isn't known, those of all operations are.
    let candidates = operation.map_or(operations, std::slice::from_ref);
    envelope.check_understood(|namespace, local| {
        let declares = |operation: &Operation| blocks::declares(operation.request_header, namespace, local);
        candidates.iter().any(declares)
            || exchange.as_ref().is_some_and(|exchange| exchange.understands(namespace))
            || options.understands(namespace, local)
            || Understood::includes(extensions, namespace, local)
    })?;
    let addressing = description.addressing;
    match &exchange {
        Some(exchange) => exchange.check(&envelope, of_protocol, operation, operations, addressing)?,
        None => options.addressing.check_absent(&envelope, addressing)?,
    }
    Ok(Opened { envelope, exchange, first, number: found? })
}

/// Returns the operation of a request.
pub(crate) fn operation(
    description: &'static Description,
    request: &RequestMessage,
    options: &Options,
) -> Result<&'static Operation, Error> {
    let charge = request.reservation.as_ref();
    reader::read_with(&request.message, request.charset, options, charge, |mut reader, _| {
        let found = Envelope::read(&mut reader).and_then(|(envelope, first)| {
            let exchange = Exchange::open(&envelope, reader.input(), options, charge)?;
            let action = exchange.as_ref().and_then(|exchange| exchange.action()).unwrap_or(&request.action);
            find(description, action, first, &reader)
        });
        reader::keep(reader.into_memory());
        Ok(&description.operations[found?])
    })
}

/// A method that answers requests. Every `async fn` with a `Send` future that takes a service and a request implements it.
///
/// The future type of a method depends on the lifetime of the borrowed service, which bounds on functions can't express.
#[doc(hidden)]
pub trait Method<'s, T, Q, R, D>: Send + 'static {
    /// The future of the method.
    type Answer: Future<Output = Result<Response<R>, Fault<D>>> + Send + 's;

    /// Calls the method.
    fn call(self, service: &'s T, request: Request<Q>) -> Self::Answer;
}

impl<'s, T, Q, R, D, F, M> Method<'s, T, Q, R, D> for M
where
    T: 's,
    F: Future<Output = Result<Response<R>, Fault<D>>> + Send + 's,
    M: FnOnce(&'s T, Request<Q>) -> F + Send + 'static,
{
    type Answer = F;

    #[inline]
    fn call(self, service: &'s T, request: Request<Q>) -> F {
        self(service, request)
    }
}

impl Payload<'_> {
    /// Decodes the payload, reads the rest of the message, and calls a method of the service.
    ///
    /// # Errors
    /// Returns an error if the payload is not a `Q`, or if the message is not well-formed. The method is not called then.
    #[inline]
    pub fn call<T, Q, R, D>(
        self,
        service: Arc<T>,
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
        F: Future<Output = Result<Response<R>, Fault<D>>> + Send,
    {
        let Payload { mut decoder, operation, envelope, exchange, first, arrived, before } = self;
        let version = envelope.version;
        let charge = arrived.request.reservation.as_ref();
        let read = Incoming {
            operation,
            root: &operation.request,
            is_request: true,
            options: arrived.options,
            message: &arrived.request.message,
        };
        let included = arrived.included.map(|included| &**included);
        let text = decoder.reader().input();
        let mut message: Q = read.payload(decoder, first, included)?;
        let package = arrived.package();
        let header = blocks::Blocks::received(
            envelope,
            text,
            &arrived.request.message,
            arrived.options,
            Some(operation),
            charge,
        );
        let charged = held(charge).saturating_sub(before);
        let trace = arrived.request.trace.clone();
        let ended = move |step| {
            if let Some(trace) = &trace {
                trace.end(step);
            }
        };
        ended(Step::Decode);
        let responding = Responding {
            version,
            operation,
            exchange: exchange.clone(),
            mtom: arrived.mtom,
            offload: arrived.options.offload.clone(),
            reservation: charge.cloned(),
            limit: arrived.options.limits.written_size,
        };
        let surroundings = arrived.surroundings(version, exchange.clone());
        let to_panic = exchange.clone();
        let reply = async move {
            let exchange = responding.exchange.as_deref();
            let (mut attachments, mut rest) = (Attachments::none(), None);
            let wrong = |error: Error| reply::of_error(version, exchange, error);
            if let Some(mut package) = package {
                // Boxed, so that messages without a package don't reserve space for it.
                match Box::pin(package.fetch(true)).await {
                    Ok(false) => {}
                    Ok(true) => {
                        // Drop the first value and release its charge, so that the message is not in memory twice.
                        drop(message);
                        if let Some(reservation) = &responding.reservation {
                            reservation.shrink(charged);
                        }
                        let (again, read) = Box::pin(read_again(package, responding.operation)).await;
                        package = again;
                        match read {
                            Ok(read) => message = read,
                            Err(error) => return wrong(error),
                        }
                    }
                    Err(error) => return wrong(error),
                }
                attachments = package.received.attachments;
                rest = attachments.rest().map(|rest| (rest, package.options.attachments.included));
            }
            let mut turn = None;
            if let Some(waiting) = responding.turn() {
                let begun = waiting.await;
                match responding.room() {
                    Ok(room) => turn = Some((begun, room)),
                    Err(refused) => return refused,
                }
            }
            let mut answer = pin!(handler(Request::came(message, header, attachments, surroundings)));
            let answer = poll_fn(|context| {
                let answer = answer.as_mut().poll(context);
                // If the handler waits for something else, give up the turn so that it blocks no other answer.
                turn = turn.take().filter(|_| answer.is_ready() && rest.is_none());
                answer
            });
            let answer = answer.await;
            ended(Step::Handle);
            let response = match answer {
                Ok(response) => response,
                Err(fault) => return reply::of_fault(version, exchange, Some(responding.operation), &fault),
            };
            // Large values are charged when they are written.
            let _turn = turn.map(|(turn, _)| turn);
            // Skip the unread attachments. A duplicate name there means that the handler may have read the wrong part.
            if let Some((rest, limit)) = rest
                && let Some(duplicate) = Box::pin(duplicate(rest, limit, responding.offload.as_ref())).await
            {
                return wrong(duplicate.into());
            }
            let reply = match responding.response(response) {
                Ok(reply) => reply,
                Err(elsewhere) => elsewhere.await,
            };
            ended(Step::Encode);
            reply
        };
        // A panic of a handler is answered with a fault, and leaves no state behind. The same is true of a panic while its values
        // are written.
        let pending = AssertUnwindSafe(reply).catch_unwind().map(move |reply| {
            reply.unwrap_or_else(|_| reply::of_fault(version, to_panic.as_deref(), None, &reply::panicked()))
        });
        Ok(reply::delivered(exchange, pending.boxed()))
    }
}

/// How long to wait for the attachments that a handler didn't read.
const LEFT_TIME: Duration = Duration::from_secs(10);

/// Skips up to `limit` bytes of unread attachments, and returns an error if two parts have the same name. Other errors are ignored,
/// because the answer is already complete.
async fn duplicate(rest: Rest, limit: usize, offload: Option<&Offloading>) -> Option<castile_mime::Error> {
    let rest = rest.pass_over(limit);
    let passed = match offload {
        Some(offload) => offload.within(LEFT_TIME, rest).await?,
        None => rest.await,
    };
    passed.err().filter(|error| error.kind() == castile_mime::ErrorKind::Duplicate)
}

/// Reads a message again. A large message is read by a worker.
async fn read_again<Q: FromPayload + Send + 'static>(
    package: Box<Package>,
    operation: &'static Operation,
) -> (Box<Package>, Result<Q, Error>) {
    let read = move |package: Box<Package>| {
        let read = package.read_again(operation, &operation.request);
        (package, read)
    };
    match package.options.elsewhere(package.received.message.len()).cloned() {
        None => read(package),
        Some(offload) => {
            let (options, failed) = (package.options.clone(), "the message could not be read");
            let nothing =
                || Box::new(Package { received: Bytes::new().into(), options, included: None, reservation: None });
            let awaited = Awaited::new(package.reservation.as_ref());
            let read = offload.run(move || read(package)).await;
            awaited.finish();
            read.unwrap_or_else(|| (nothing(), Err(Error::new(ErrorKind::System, failed))))
        }
    }
}

impl Arrived<'_> {
    /// Returns everything that is needed to continue with a message while its parts arrive.
    fn package(self) -> Option<Box<Package>> {
        let Arrived { request, options, belongings, included, .. } = self;
        request.packaging.map(|packaging| {
            let received = Received {
                message: request.message.clone(),
                charset: request.charset,
                packaging: Some(packaging),
                attachments: mem::replace(&mut belongings.borrow_mut().attachments, Attachments::none()),
            };
            let (options, included) = (options.clone(), included.cloned());
            Box::new(Package { received, options, included, reservation: request.reservation.clone() })
        })
    }

    fn surroundings(self, version: Version, addressing: Option<Arc<Exchange>>) -> Surroundings {
        let mut belongings = self.belongings.borrow_mut();
        let RequestMessage { peer, deadline, .. } = *self.request;
        Surroundings {
            version,
            action: mem::take(&mut belongings.action),
            addressing,
            extensions: mem::take(&mut belongings.extensions),
            http_headers: mem::take(&mut belongings.http_headers),
            peer,
            deadline,
        }
    }
}
