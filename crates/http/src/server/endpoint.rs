//! A SOAP service as an HTTP service (SOAP 1.1 §6, SOAP 1.2 Part 2 §7).

mod package;

use std::convert::Infallible;
use std::future::ready;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use castile_budget::{Budget, Exhausted, Reservation, UNCHARGED};
use castile_mime::ErrorKind;
use castile_soap::{
    Description, Document, Fault, Layer, NoDetail, Offloading, Pending, ReplyMessage, Step, Trace, Version,
};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};

use super::address::{self, Address};
use super::admission::Ticket;
use super::authentication::Authentication;
use super::head;
use super::observer;
use super::receiving::{Pace, Receiving};
use super::refusal::{RETRY_AFTER, Refusal};
use crate::gzip::{self, Coded, GZIP};
use crate::headers::{ContentType, Fields, MessageType, XML_TYPE, message_type, remove_own};
use crate::timeout::within;
use crate::{Body, BoxError, DEFAULT_OFFLOAD_ABOVE, Workers, body, package as packages};

/// How many pairs of a query are looked at, each for every document of the contract. Who asks for one sends one.
const PAIRS: usize = 32;

/// What an endpoint answers, in time.
pub(super) type Answer = BoxFuture<'static, Result<Response<Body>, Infallible>>;

/// A SOAP service at an HTTP address: a tower service that mounts into axum (`Router::route_service`) as into
/// [`Server`](super::Server).
///
/// It is always ready, never fails, and is cheap to clone.
///
/// | request | response |
/// |---|---|
/// | POST of `text/xml` or `application/soap+xml` | the reply in the version of the envelope: 200, or 500 when it is a fault (SOAP 1.1 §6.2); 400 when the fault is the sender's in SOAP 1.2 (Part 2 §7.5.2.2) |
/// | — of `multipart/related` around one of them | the same, its attachments read as they are asked for (SOAP Messages with Attachments, MTOM) |
/// | — to an operation without a response | 202, empty (WS-I Basic Profile 1.1 R2714) |
/// | GET `?wsdl` | the contract, its `soap:address` made the one that [`Options::address`] says |
/// | GET of anything else | a page for people, if the service was generated with one, with the feature `page`; else 405 |
/// | any other method | 405 |
/// | no credentials that [`Options::authentication`] knows | 401 |
/// | two Content-Type or SOAPAction headers | 400 |
/// | another content type, a charset that is not known, a content coding other than gzip | 415 |
/// | a body too large, too slow, broken off | 413, 408, 400 |
/// | a package that is broken | a fault that says where |
/// | a handler too slow | 503 |
/// | too little memory left | 503, with Retry-After |
///
/// Refusals are plain text that says what was found and expected. The length of a response is known to its body, from
/// which hyper makes the Content-Length.
pub struct Endpoint<S: ?Sized> {
    shared: Arc<Shared<S>>,
}

struct Shared<S: ?Sized> {
    options: Options,
    /// What the service is called with: those of the options, and somebody who measures time where these name no workers.
    messages: castile_soap::Options,
    /// The budget where neither the options nor a server have one.
    process: Budget,
    service: Arc<S>,
}

/// What an [`Endpoint`] allows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How messages are read and written: what they may take, 16 MiB by default; whether they may deviate from the
    /// contract; which header blocks are understood; MTOM and WS-Addressing. Those of more than 256 KiB are read and
    /// written by the [shared](Workers::shared) workers, and not where connections are driven. They also make
    /// documents of the contract that are larger, and pages of more text. `None` as `offload` has all of that done in place.
    pub messages: castile_soap::Options,
    /// How long a message may take from its head to its end, and a package up to the end of its root part. What comes
    /// behind that may take any time, and this is how long nothing may come of it while somebody waits. 30 s by default.
    pub body_read_timeout: Duration,
    /// The rate at which a body must come, in bytes per second. It rises with time: a third of
    /// [`body_read_timeout`](Self::body_read_timeout) is free, and each time of that length behind it adds this rate
    /// to what is required, for as long as somebody waits. Behind the root part of a package it begins anew, and all of that
    /// time is free. So at the defaults a part that takes an hour must come with 6 kB/s on average. 100 by default; 0
    /// requires nothing.
    pub body_rate: u32,
    /// How many times larger a request that comes as gzip may be than what came of it; its first 64 KiB may have any size. What is in
    /// it counts for all other limits. 100 by default; 0 takes no gzip, so that such a request is answered with 415.
    pub gzip_ratio: u32,
    /// The size in bytes above which an answer goes as gzip to a client that takes it, and one that is sent as a stream goes so whatever
    /// its size. `None`, the default, sends none: it takes processor time, so it pays where the network is slow. Over TLS it tells a listener how well what a client sent and what is secret compress together (BREACH).
    pub gzip_above: Option<usize>,
    /// How long the service may take to answer; its future is dropped then. For a package the time counts anew as long as
    /// more of it comes. What is sent as a stream once the service has answered takes as long as the client takes
    /// ([`Server::write_timeout`](super::Server::write_timeout)). 60 s by default.
    pub request_timeout: Duration,
    /// How the endpoint finds out who a client is, before it reads the message. `None`, the default, asks nobody. The contract is shown
    /// to the same clients.
    pub authentication: Option<Authentication>,
    /// The memory that requests share: their messages, what is made of them, and their answers until they are sent. `None`,
    /// the default, is the [`budget`](super::Server::budget) of the server that calls the endpoint, or that of the process
    /// where another one does.
    pub budget: Option<Budget>,
    /// The room on the disk that the parts of packages share that must wait. `None`, the default, is the
    /// [`disk_budget`](super::Server::disk_budget) of the server that calls the endpoint, or that of the process.
    pub disk_budget: Option<Budget>,
    /// The address that the contract names. By default it is the one that the connection came to, which only a
    /// [`Server`](super::Server) knows: elsewhere, as under axum, the contract stays as it is. Configure it there, behind a proxy, and where
    /// names matter.
    pub address: Address,
    /// Whether a GET is answered with a page for people, of a service that was generated with one. `true` by default. Like the
    /// contract, the page is shown to everybody whom [`authentication`](Self::authentication) lets in: layers see messages alone.
    #[cfg(feature = "page")]
    pub page: bool,
}

impl Default for Options {
    fn default() -> Self {
        let mut messages = castile_soap::Options::default();
        messages.offload = Some(Workers::shared().above(DEFAULT_OFFLOAD_ABOVE));
        Options {
            messages,
            body_read_timeout: Duration::from_secs(30),
            body_rate: 100,
            gzip_ratio: 100,
            gzip_above: None,
            request_timeout: Duration::from_secs(60),
            authentication: None,
            budget: None,
            disk_budget: None,
            address: Address::default(),
            #[cfg(feature = "page")]
            page: true,
        }
    }
}

impl Options {
    fn pace(&self) -> Pace {
        Pace { limit: self.body_read_timeout, rate: self.body_rate }
    }
}

impl<S: castile_soap::Service> Endpoint<S> {
    /// An endpoint with the default [`Options`].
    pub fn new(service: S) -> Self {
        Endpoint::with_options(service, Options::default())
    }

    /// An endpoint with `options`.
    pub fn with_options(service: S, options: Options) -> Self {
        Endpoint::of(options, Arc::new(service))
    }

    /// This endpoint without the type of its service, so that different services fit in one collection.
    pub fn boxed(self) -> Endpoint<dyn castile_soap::Service> {
        Endpoint::of(self.shared.options.clone(), self.shared.service.clone())
    }
}

impl<S: castile_soap::Service + ?Sized> Endpoint<S> {
    fn of(options: Options, service: Arc<S>) -> Self {
        let mut messages = options.messages.clone();
        // Nothing is large enough for these, but they measure time.
        messages.offload.get_or_insert_with(|| Workers::shared().above(usize::MAX));
        Endpoint { shared: Arc::new(Shared { options, messages, process: Budget::process(), service }) }
    }

    /// This endpoint with a layer around its service, which sees every request before and every reply after. The
    /// layer that is added last is the outermost.
    pub fn layer<L>(self, layer: L) -> Endpoint<L::Service>
    where
        L: Layer<Arc<S>>,
        L::Service: castile_soap::Service,
    {
        let service = layer.layer(self.shared.service.clone());
        Endpoint::of(self.shared.options.clone(), Arc::new(service))
    }

    /// This endpoint with another [`Options::address`].
    pub fn address(self, address: Address) -> Self {
        self.configure(|options| options.address = address)
    }

    /// This endpoint with options that `change` has changed.
    pub fn configure(self, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = self.shared.options.clone();
        change(&mut options);
        Endpoint::of(options, self.shared.service.clone())
    }

    /// The service, to be called without HTTP.
    pub fn service(&self) -> &S {
        &self.shared.service
    }

    /// What the service offers.
    pub fn description(&self) -> &'static Description {
        self.shared.service.description()
    }

    pub(super) fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Answers one request. Whatever can be said from the head alone is said before the body is asked for.
    pub(super) fn respond<B>(&self, request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let (ticket, trace) = (Ticket::take(), observer::called(request.extensions()));
        if let Some(trace) = &trace {
            trace.came_to(self.description());
        }
        if ticket.is_hopeless() {
            let has_expect = Fields::of(request.headers()).has_expect;
            return unread(Refusal::Overload.into_response(), request.into_body(), has_expect);
        }
        match &self.shared.options.authentication {
            None => self.respond_to(request, ticket, trace),
            Some(_) => self.authenticate(request, ticket, trace),
        }
    }

    /// Answers one request of a client that is known.
    fn authenticate<B>(&self, request: Request<B>, ticket: Ticket, trace: Option<Trace>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let endpoint = Endpoint { shared: self.shared.clone() };
        Box::pin(async move {
            let Options { authentication, request_timeout: limit, .. } = &endpoint.shared.options;
            let (mut head, body) = request.into_parts();
            // To check a password is work.
            let admitted = ticket.work().await.map_err(Refusal::from);
            let checked = match (admitted, authentication) {
                (Err(overload), _) => Err(overload),
                (Ok(()), None) => Ok(()),
                (Ok(()), Some(authentication)) => match within(*limit, authentication.check(&mut head)).await {
                    Ok(known) => known.map_err(|challenges| Refusal::Unauthorized { challenges }),
                    Err(_) => Err(Refusal::HandlerTimeout { limit: *limit }),
                },
            };
            // While the message comes there is none.
            ticket.rest();
            let refusal = match checked {
                Ok(()) => return endpoint.respond_to(Request::from_parts(head, body), ticket, trace).await,
                Err(refusal) => refusal,
            };
            unread(refusal.into_response(), body, Fields::of(&head.headers).has_expect).await
        })
    }

    fn respond_to<B>(&self, request: Request<B>, ticket: Ticket, trace: Option<Trace>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let (head, body) = request.into_parts();
        let fields = Fields::of(&head.headers);
        let asked_for = match head.method {
            Method::POST => content_type(&fields, self.shared.options.gzip_ratio > 0).map_err(Refusal::into_response),
            Method::GET | Method::HEAD => {
                let document = asked_document(self.description(), &head);
                let size = document.map_or_else(|| self.page_size(), |document| document.text().len());
                let offload = self.shared.options.messages.offload.as_ref();
                match offload.filter(|offload| size > offload.above()).cloned() {
                    Some(offload) => return self.show_elsewhere(offload, document, head, body, ticket),
                    None => Err(self.show(document, &head, &ticket)),
                }
            }
            _ => {
                let shows = self.has_page() || asked_document(self.description(), &head).is_some();
                Err(Refusal::Method { shows }.into_response())
            }
        };
        let (mut content_type, action) = match asked_for {
            Ok(asked_for) => asked_for,
            Err(response) => return unread(response, body, fields.has_expect),
        };
        let shared = self.shared.clone();
        let gzip_above = shared.options.gzip_above.map(|above| (above, gzip::is_accepted(&head.headers)));
        let mut asked = Asked {
            action,
            is_gzip: fields.content_encoding.value.is_some(),
            accepts_mtom: fields.has_accept && packages::accepts_mtom(&head.headers),
            extensions: head.extensions,
            headers: Some(Box::new(head.headers)),
            ticket,
            trace,
        };
        Box::pin(async move {
            let mut coming = None;
            // Referred to: a future keeps what it was called with beside what it makes of that.
            let answer = match &mut content_type {
                ContentType::Message(message_type) => shared.answer(&mut asked, message_type, body).await,
                // Boxed, so that other requests don't have the room for it.
                ContentType::Package(related) => {
                    let coming = coming.insert(Arc::default());
                    Box::pin(shared.answer_package(asked, related, body, coming)).await
                }
            };
            let mut response = match answer {
                Ok(reply) => match respond_with(reply) {
                    Ok(response) => response,
                    Err(begun) => begun.await,
                },
                Err(refusal) => refusal.into_response(),
            };
            if let Some((above, is_accepted)) = gzip_above {
                // Boxed, so that answers that go as they are don't have the room for it.
                response = Box::pin(compressed(response, above, is_accepted)).await;
            }
            // What is sent as it comes may be what is left of the package.
            if response.body().is_whole() && coming.is_some_and(|coming| !coming.is_over()) {
                close(&mut response);
            }
            Ok(response)
        })
    }

    /// Answers a GET with a document of the contract, or with a page if it asks for none.
    fn show(&self, document: Option<&Document>, head: &Parts, ticket: &Ticket) -> Response<Body> {
        let shown = match document {
            Some(document) => self.document(document, head),
            None => self.page(head).unwrap_or_else(|| Refusal::Method { shows: false }.into_response()),
        };
        self.charged(shown, ticket).unwrap_or_else(Refusal::into_response)
    }

    /// Answers a GET with a large document or page on another thread: to go through a large text would keep one that drives connections.
    fn show_elsewhere<B>(
        &self,
        offload: Offloading,
        document: Option<&'static Document>,
        head: Parts,
        body: B,
        ticket: Ticket,
    ) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let endpoint = Endpoint { shared: self.shared.clone() };
        Box::pin(async move {
            let (has_expect, limit) = (Fields::of(&head.headers).has_expect, endpoint.options().request_timeout);
            let response = match ticket.work().await {
                Ok(()) => {
                    let shown = offload.run(move || endpoint.show(document, &head, &ticket));
                    let shown = within(limit, shown).await.map_err(|_| Refusal::HandlerTimeout { limit });
                    shown.and_then(|shown| shown.ok_or(Refusal::Unmade))
                }
                Err(overload) => Err(Refusal::from(overload)),
            };
            unread(response.unwrap_or_else(Refusal::into_response), body, has_expect).await
        })
    }

    /// How much text the page is made of: that of all services of its contract is read for it.
    fn page_size(&self) -> usize {
        self.description().page.filter(|_| self.has_page()).map_or(0, |page| page.text().len())
    }

    /// A page for people, if there is one.
    #[cfg(feature = "page")]
    fn page(&self, head: &Parts) -> Option<Response<Body>> {
        let Options { page, address, .. } = &self.shared.options;
        page.then(|| super::page::answer(self.description(), address, head)).flatten()
    }

    #[cfg(feature = "page")]
    fn has_page(&self) -> bool {
        self.shared.options.page && self.description().page.is_some()
    }

    #[cfg(not(feature = "page"))]
    fn page(&self, _: &Parts) -> Option<Response<Body>> {
        None
    }

    #[cfg(not(feature = "page"))]
    fn has_page(&self) -> bool {
        false
    }

    /// A response that is charged until it is read, unless it is a small one.
    fn charged(&self, response: Response<Body>, ticket: &Ticket) -> Result<Response<Body>, Refusal> {
        let size = http_body::Body::size_hint(response.body()).lower() as usize;
        if size <= UNCHARGED {
            return Ok(response);
        }
        let reservation = self.shared.reservation(ticket)?;
        if reservation.grow(size).is_err() {
            ticket.relieve_if_refused(&reservation);
            return Err(Refusal::Exhausted);
        }
        ticket.holds_shown(&reservation);
        Ok(response.map(|body| body.charged(Some(reservation))))
    }

    fn document(&self, document: &Document, head: &Parts) -> Response<Body> {
        let text = address::rewrite(self.description(), document, &self.shared.options.address, head);
        let mut response = Response::new(Body::from(text));
        response.headers_mut().insert(header::CONTENT_TYPE, XML_TYPE);
        response
    }
}

/// What the head of a request asks for beside its Content-Type.
struct Asked {
    /// What SOAPAction says, for messages whose media type has no action.
    action: String,
    is_gzip: bool,
    headers: Option<Box<HeaderMap>>,
    accepts_mtom: bool,
    /// What the server and layers around it know of the request: those of messages and handlers find it too.
    extensions: Extensions,
    ticket: Ticket,
    /// Where the exchange is observed.
    trace: Option<Trace>,
}

impl<S: castile_soap::Service + ?Sized> Shared<S> {
    /// By the `Arc`: that is what reads large messages elsewhere.
    fn call(&self, request: castile_soap::RequestMessage) -> Pending {
        castile_soap::Service::call(&self.service, request, &self.messages)
    }

    /// What a request is charged to: nothing yet.
    fn reservation(&self, ticket: &Ticket) -> Result<Arc<Reservation>, Refusal> {
        let budget = self.options.budget.as_ref().or(ticket.budget()).unwrap_or(&self.process);
        budget.reserve(0).map(Arc::new).map_err(|_| Refusal::Exhausted)
    }

    /// A body as it comes, or what is in one of gzip.
    fn coded<B>(&self, body: B, asked: &Asked) -> Coded<B> {
        Coded::of(body, asked.is_gzip, u64::from(self.options.gzip_ratio))
    }

    /// Charges what it takes to read gzip, if the body is that. Others make room for it as they do for a message.
    async fn charge_coding(asked: &Asked, reservation: &Arc<Reservation>) -> Result<(), Refusal> {
        if !asked.is_gzip || reservation.grow(gzip::READING).is_ok() {
            return Ok(());
        }
        // Boxed, so that other requests don't have the room for it.
        let has_room = Box::pin(asked.ticket.clone().make_room(reservation.clone(), gzip::READING)).await;
        if has_room { Ok(()) } else { Err(Refusal::Exhausted) }
    }

    /// What parts that wait in files are charged to.
    fn disk(&self, ticket: &Ticket) -> Result<Arc<Reservation>, Refusal> {
        let budget = self.options.disk_budget.as_ref().or(ticket.disk_budget());
        let budget = budget.cloned().unwrap_or_else(castile_mime::disk);
        budget.reserve(0).map(Arc::new).map_err(|_| Refusal::Exhausted)
    }

    async fn answer<B>(
        &self,
        asked: &mut Asked,
        message_type: &mut MessageType,
        body: B,
    ) -> Result<ReplyMessage, Refusal>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let Options { messages: castile_soap::Options { limits, .. }, request_timeout, .. } = &self.options;
        let reservation = self.reservation(&asked.ticket)?;
        Self::charge_coding(asked, &reservation).await?;
        let message = {
            let body = self.coded(body, asked);
            let body = pin!(Receiving::message(body, self.options.pace(), &asked.ticket, reservation.clone()));
            body::read(body, limits.message_size).await
        };
        let message = message.map_err(|failure| Refusal::of_body(failure, limits.message_size))?;
        if let Some(trace) = &asked.trace {
            trace.came(message.len());
        }
        // The request is made behind the wait, so that the future has no room for it.
        asked.ticket.work().await?;
        if let Some(trace) = &asked.trace {
            trace.end(Step::Queue);
        }
        let in_media_type = message_type.action.take();
        let action = in_media_type.unwrap_or_else(|| mem::take(&mut asked.action));
        let mut request = castile_soap::RequestMessage::new(message_type.version, message)
            .with_action(action)
            .with_charset(message_type.charset)
            .with_http_headers(mem::take(&mut asked.headers).unwrap_or_default())
            .with_trace(asked.trace.clone());
        // It is kept here as well, whatever the service does with the request.
        request.reservation = Some(reservation.clone());
        request.extensions = mem::take(&mut asked.extensions);
        request.accepts_mtom = asked.accepts_mtom;
        request.peer = asked.ticket.peer();
        request.deadline = Instant::now().checked_add(*request_timeout);
        let reply = within(*request_timeout, self.call(request)).await;
        asked.ticket.relieve_if_refused(&reservation);
        drop(reservation);
        let reply = reply.map_err(|_| Refusal::HandlerTimeout { limit: *request_timeout })?;
        asked.ticket.holds_answer(&reply);
        if let Some(trace) = &asked.trace {
            trace.replied(&reply);
        }
        Ok(reply)
    }
}

impl<S: castile_soap::Service + ?Sized, B> tower_service::Service<Request<B>> for Endpoint<S>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.respond(request)
    }
}

impl<S: castile_soap::Service> From<Endpoint<S>> for Endpoint<dyn castile_soap::Service> {
    fn from(endpoint: Endpoint<S>) -> Self {
        endpoint.boxed()
    }
}

impl<S: ?Sized> Clone for Endpoint<S> {
    fn clone(&self) -> Self {
        Endpoint { shared: self.shared.clone() }
    }
}

/// A response to a request whose body nobody wants. If there is more of it than what came already, the connection is closed, and the
/// response says so. A client that waits for leave to send is not given it.
pub(super) fn unread<B>(mut response: Response<Body>, body: B, has_expect: bool) -> Answer
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    if body.is_end_stream() {
        return Box::pin(ready(Ok(response)));
    }
    Box::pin(async move {
        if has_expect || !body::is_over(body).await {
            close(&mut response);
        }
        Ok(response)
    })
}

/// Says that the connection is closed behind a response.
pub(super) fn close<B>(response: &mut Response<B>) {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
}

/// The response that a reply is.
///
/// # Errors
/// That its body comes while it is sent, so that it has to begin.
fn respond_with(reply: ReplyMessage) -> Result<Response<Body>, BoxFuture<'static, Response<Body>>> {
    let version = reply.version;
    let response = message(reply);
    if response.body().is_whole() { Ok(response) } else { Err(Box::pin(begun(version, response))) }
}

/// A response whose body comes while it is sent, once it has begun. One that fails before that is another answer.
async fn begun(version: Version, response: Response<Body>) -> Response<Body> {
    let (head, body) = response.into_parts();
    match body.begun().await {
        Ok(body) => Response::from_parts(head, body),
        Err(error) if error.is::<Exhausted>() => message(ReplyMessage::exhausted(version)),
        Err(error) => match of_request(&*error).map(|error| package::refuse(version, error)) {
            Some(Ok(reply)) => message(reply),
            Some(Err(refusal)) => refusal.into_response(),
            // The service's own affair.
            None => message(ReplyMessage::from_fault(version, &Fault::<NoDetail>::receiver("the answer broke off"))),
        },
    }
}

/// What is wrong with the request, if that is why what is made of it can't be sent.
fn of_request(error: &(dyn std::error::Error + 'static)) -> Option<castile_mime::Error> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    // What fails while a package is sent has no place in what came.
    let is_of_request = |error: &&castile_mime::Error| error.kind() != ErrorKind::Body || error.offset().is_some();
    causes.find_map(|error| error.downcast_ref().filter(is_of_request)).cloned()
}

fn message(mut reply: ReplyMessage) -> Response<Body> {
    let packed = packages::packaging(reply.packaging, &reply.parts).map(|packaging| {
        let message = mem::replace(&mut reply.message, Bytes::new().into());
        let parts = mem::take(&mut reply.parts);
        packages::pack(packaging, reply.version, None, message, parts)
    });
    let packed = match packed.transpose() {
        Ok(packed) => packed,
        // Two parts of one name, or no random numbers: the service's own affair.
        Err(error) => {
            let reason = Fault::<NoDetail>::receiver(format!("the answer can't be packed: {error}"));
            return message(ReplyMessage::from_fault(reply.version, &reason));
        }
    };
    let http_headers = reply.take_http_headers();
    if packed.is_none() && reply.message.bytes().is_some_and(Bytes::is_empty) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        extend(&mut response, http_headers);
        return response;
    }
    let (content_type, body) = packed.unwrap_or_else(|| (message_type(reply.version), Body::from(reply.message)));
    let mut response = Response::new(body.charged(reply.reservation));
    if let Some(code) = reply.fault {
        let status = StatusCode::from_u16(reply.version.fault_status(&code));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    }
    if reply.is_exhausted {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    extend(&mut response, http_headers);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// A response as gzip, if it is larger than so many bytes and its client takes that.
async fn compressed(response: Response<Body>, above: usize, is_accepted: bool) -> Response<Body> {
    let (mut head, mut body) = response.into_parts();
    head.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_accepted && !head.headers.contains_key(header::CONTENT_ENCODING) {
        let is_gzip;
        (body, is_gzip) = body.compressed(above).await;
        if is_gzip {
            head.headers.insert(header::CONTENT_ENCODING, GZIP);
        }
    }
    Response::from_parts(head, body)
}

/// Adds the headers of a service.
fn extend(response: &mut Response<Body>, headers: Option<Box<HeaderMap>>) {
    let Some(mut headers) = headers else { return };
    remove_own(&mut headers);
    response.headers_mut().extend(*headers);
}

/// The document of the contract that a query asks for: one that is imported by its number, the WSDL by whatever else begins
/// with its name.
fn asked_document(description: &Description, head: &Parts) -> Option<&'static Document> {
    let pairs = || head.uri.query().unwrap_or_default().split('&').take(PAIRS);
    let is_asked = |document: &&Document| pairs().any(|pair| pair.eq_ignore_ascii_case(document.query));
    let imported = description.documents.iter().skip(1).find(is_asked);
    let asks_for_wsdl =
        || pairs().any(|pair| pair.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("wsdl")));
    imported.or_else(|| description.documents.first().filter(|_| asks_for_wsdl()))
}

/// What the headers say of a body that is a message: one of the media types, in an encoding that is known, and an action.
fn content_type(fields: &Fields<'_>, takes_gzip: bool) -> Result<(ContentType, String), Refusal> {
    let content_type = head::only(fields.content_type, "Content-Type")?;
    // It may stand for the operation.
    let action = head::only(fields.soap_action, "SOAPAction")?;
    let content_type = ContentType::read(content_type).map_err(Refusal::ContentType)?;
    let is_taken = takes_gzip && gzip::is_gzip(&fields.content_encoding);
    if let Some(found) = fields.content_encoding.value.filter(|_| !is_taken) {
        let found = String::from_utf8_lossy(found.as_bytes()).into_owned();
        return Err(Refusal::ContentEncoding { found, takes_gzip });
    }
    let action = match &content_type {
        ContentType::Message(MessageType { action: Some(_), .. }) => "",
        _ => soap_action(action)?,
    };
    Ok((content_type, action.to_owned()))
}

/// The value of SOAPAction without its quotes (SOAP 1.1 §6.1.1), empty if there is none.
fn soap_action(header: Option<&HeaderValue>) -> Result<&str, Refusal> {
    let Some(header) = header else {
        return Ok("");
    };
    let action = std::str::from_utf8(header.as_bytes()).map_err(|_| Refusal::Action)?.trim();
    let unquoted = action.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Ok(unquoted.unwrap_or(action))
}
