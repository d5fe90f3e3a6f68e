//! A SOAP service as an HTTP service (SOAP 1.1 §6, SOAP 1.2 Part 2 §7).

mod package;

use std::convert::Infallible;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

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
use super::answer::{Answer, close, unread};
use super::head;
use super::observer;
use super::options::Options;
use super::receiving::Receiving;
use super::refusal::{RETRY_AFTER, Refusal};
use crate::gzip::{self, Coded, GZIP};
use crate::headers::{ContentType, Fields, MessageType, XML_TYPE, message_type, remove_own};
use crate::timeout::within;
use crate::{Body, BoxError, Workers, body, package as packages};

/// How many pairs of a query are compared, each with every document of the contract. Real clients send one.
const PAIRS: usize = 32;

/// A SOAP service at an HTTP address. It is a tower service that mounts into axum (`Router::route_service`) and into
/// [`Server`](super::Server).
///
/// It is always ready, never fails, and is cheap to clone.
///
/// | request | response |
/// |---|---|
/// | POST of `text/xml` or `application/soap+xml` | the reply in the version of the envelope: 200, or 500 for a fault (SOAP 1.1 §6.2); 400 for a sender fault in SOAP 1.2 (Part 2 §7.5.2.2) |
/// | POST of `multipart/related` that contains such a message | the same; attachments are read on demand (SOAP Messages with Attachments, MTOM) |
/// | POST to an operation without a response | 202, empty (WS-I Basic Profile 1.1 R2714) |
/// | GET `?wsdl` | the contract, with its `soap:address` set by [`Options::address`] |
/// | other GET | an HTML page, if the service was generated with one and the feature `page` is on; else 405 |
/// | any other method | 405 |
/// | credentials missing or rejected by [`Options::authentication`] | 401 |
/// | two Content-Type or SOAPAction headers | 400 |
/// | another content type, an unknown charset, a content coding other than gzip | 415 |
/// | a body that is too large, too slow or broken off | 413, 408, 400 |
/// | an invalid package | a fault that gives the position |
/// | a handler that is too slow | 503 |
/// | not enough memory | 503, with Retry-After |
///
/// Rejections are plain text that describes what was found and what was expected. The body of a response has a known
/// length, from which hyper sets the Content-Length.
pub struct Endpoint<S: ?Sized> {
    shared: Arc<Shared<S>>,
}

struct Shared<S: ?Sized> {
    options: Options,
    /// The options for calls of the service. Without workers in `options` they have some that only provide timers.
    messages: castile_soap::Options,
    /// The budget used if neither the options nor a server have one.
    process: Budget,
    service: Arc<S>,
}

impl<S: castile_soap::Service> Endpoint<S> {
    /// Creates an endpoint with the default [`Options`].
    pub fn new(service: S) -> Self {
        Endpoint::with_options(service, Options::default())
    }

    /// Creates an endpoint with `options`.
    pub fn with_options(service: S, options: Options) -> Self {
        Endpoint::of(options, Arc::new(service))
    }

    /// Erases the type of the service, so that different services fit in one collection.
    pub fn boxed(self) -> Endpoint<dyn castile_soap::Service> {
        Endpoint::of(self.shared.options.clone(), self.shared.service.clone())
    }
}

impl<S: castile_soap::Service + ?Sized> Endpoint<S> {
    fn of(options: Options, service: Arc<S>) -> Self {
        let mut messages = options.messages.clone();
        // No message is large enough for these workers. They only provide timers.
        messages.offload.get_or_insert_with(|| Workers::shared().above(usize::MAX));
        Endpoint { shared: Arc::new(Shared { options, messages, process: Budget::process(), service }) }
    }

    /// Wraps the service in a layer, which sees every request before the service and every reply after it. The layer
    /// added last is the outermost.
    pub fn layer<L>(self, layer: L) -> Endpoint<L::Service>
    where
        L: Layer<Arc<S>>,
        L::Service: castile_soap::Service,
    {
        let service = layer.layer(self.shared.service.clone());
        Endpoint::of(self.shared.options.clone(), Arc::new(service))
    }

    /// Replaces [`Options::address`].
    pub fn address(self, address: Address) -> Self {
        self.configure(|options| options.address = address)
    }

    /// Changes the options with `change`.
    pub fn configure(self, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = self.shared.options.clone();
        change(&mut options);
        Endpoint::of(options, self.shared.service.clone())
    }

    /// Returns the service, for calls without HTTP.
    pub fn service(&self) -> &S {
        &self.shared.service
    }

    /// Returns the description of the service.
    pub fn description(&self) -> &'static Description {
        self.shared.service.description()
    }

    pub(super) fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Answers one request. Everything that the head alone decides is answered before the body is read.
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

    /// Authenticates the client, then answers its request.
    fn authenticate<B>(&self, request: Request<B>, ticket: Ticket, trace: Option<Trace>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let endpoint = Endpoint { shared: self.shared.clone() };
        Box::pin(async move {
            let Options { authentication, request_timeout: limit, .. } = &endpoint.shared.options;
            let (mut head, body) = request.into_parts();
            // Checking a password counts as work.
            let admitted = ticket.work().await.map_err(Refusal::from);
            let checked = match (admitted, authentication) {
                (Err(overload), _) => Err(overload),
                (Ok(()), None) => Ok(()),
                (Ok(()), Some(authentication)) => match within(*limit, authentication.check(&mut head)).await {
                    Ok(known) => known.map_err(|challenges| Refusal::Unauthorized { challenges }),
                    Err(_) => Err(Refusal::HandlerTimeout { limit: *limit }),
                },
            };
            // Receiving the message does not.
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
            // Passed by reference, because a future stores its arguments in addition to what it makes of them.
            let answer = match &mut content_type {
                ContentType::Message(message_type) => shared.answer(&mut asked, message_type, body).await,
                // Boxed, so that the future of other requests doesn't get larger.
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
                // Boxed, so that the future of uncompressed answers doesn't get larger.
                response = Box::pin(compressed(response, above, is_accepted)).await;
            }
            // A streamed answer may still read the rest of the package.
            if response.body().is_whole() && coming.is_some_and(|coming| !coming.is_over()) {
                close(&mut response);
            }
            Ok(response)
        })
    }

    /// Answers a GET with a document of the contract, or with the page if it asks for none.
    fn show(&self, document: Option<&Document>, head: &Parts, ticket: &Ticket) -> Response<Body> {
        let shown = match document {
            Some(document) => self.document(document, head),
            None => self.page(head).unwrap_or_else(|| Refusal::Method { shows: false }.into_response()),
        };
        self.charged(shown, ticket).unwrap_or_else(Refusal::into_response)
    }

    /// Answers a GET with a large document or page on another thread: processing a large text would block a thread that
    /// drives connections.
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

    /// Returns how much text the page is made from: the text of all services in the contract.
    fn page_size(&self) -> usize {
        self.description().page.filter(|_| self.has_page()).map_or(0, |page| page.text().len())
    }

    /// Returns the HTML page, if there is one.
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

    /// Charges a response until it is sent, unless it is small.
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

/// The properties of a request's head, except its Content-Type.
struct Asked {
    /// The value of SOAPAction, for messages whose media type has no action.
    action: String,
    is_gzip: bool,
    headers: Option<Box<HeaderMap>>,
    accepts_mtom: bool,
    /// Data that the server and its layers attached to the request. Handlers get it too.
    extensions: Extensions,
    ticket: Ticket,
    /// The trace of the exchange, if it is observed.
    trace: Option<Trace>,
}

impl<S: castile_soap::Service + ?Sized> Shared<S> {
    /// Called through the `Arc`, because its implementation moves large messages to workers.
    fn call(&self, request: castile_soap::RequestMessage) -> Pending {
        castile_soap::Service::call(&self.service, request, &self.messages)
    }

    /// Creates the reservation of a request, which holds nothing yet.
    fn reservation(&self, ticket: &Ticket) -> Result<Arc<Reservation>, Refusal> {
        let budget = self.options.budget.as_ref().or(ticket.budget()).unwrap_or(&self.process);
        budget.reserve(0).map(Arc::new).map_err(|_| Refusal::Exhausted)
    }

    /// Wraps the body in a gzip decoder if it needs one.
    fn coded<B>(&self, body: B, asked: &Asked) -> Coded<B> {
        Coded::of(body, asked.is_gzip, u64::from(self.options.gzip_ratio))
    }

    /// Charges the memory of the gzip decoder if the body needs one. If there is too little, other requests make room
    /// for it.
    async fn charge_coding(asked: &Asked, reservation: &Arc<Reservation>) -> Result<(), Refusal> {
        if !asked.is_gzip || reservation.grow(gzip::READING).is_ok() {
            return Ok(());
        }
        // Boxed, so that the future of other requests doesn't get larger.
        let has_room = Box::pin(asked.ticket.clone().make_room(reservation.clone(), gzip::READING)).await;
        if has_room { Ok(()) } else { Err(Refusal::Exhausted) }
    }

    /// Creates the reservation for parts that wait in files.
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
        // The request is created after the wait, so that the future doesn't store it meanwhile.
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
        // The function holds the reservation too, whatever the service does with the request.
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

/// Converts a reply to a response.
///
/// # Errors
/// The body is streamed. The returned future waits for its first frames.
fn respond_with(reply: ReplyMessage) -> Result<Response<Body>, BoxFuture<'static, Response<Body>>> {
    let version = reply.version;
    let response = message(reply);
    if response.body().is_whole() { Ok(response) } else { Err(Box::pin(begun(version, response))) }
}

/// Waits for the first frames of a streamed body. If it fails within them, another answer is sent instead.
async fn begun(version: Version, response: Response<Body>) -> Response<Body> {
    let (head, body) = response.into_parts();
    match body.begun().await {
        Ok(body) => Response::from_parts(head, body),
        Err(error) if error.is::<Exhausted>() => message(ReplyMessage::exhausted(version)),
        Err(error) => match of_request(&*error).map(|error| package::refuse(version, error)) {
            Some(Ok(reply)) => message(reply),
            Some(Err(refusal)) => refusal.into_response(),
            // The request is not to blame, so this is a receiver fault.
            None => message(ReplyMessage::from_fault(version, &Fault::<NoDetail>::receiver("the answer broke off"))),
        },
    }
}

/// Returns the error in the request, if an answer fails because of it.
fn of_request(error: &(dyn std::error::Error + 'static)) -> Option<castile_mime::Error> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    // An error while sending a package has no offset in the request.
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
        // Two parts have the same name, or there are no random numbers. The request is not to blame.
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

/// Compresses a response that is larger than `above` bytes, if the client accepts gzip.
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

/// Adds the headers that the service set.
fn extend(response: &mut Response<Body>, headers: Option<Box<HeaderMap>>) {
    let Some(mut headers) = headers else { return };
    remove_own(&mut headers);
    response.headers_mut().extend(*headers);
}

/// Returns the document of the contract that a query asks for. An imported document is found by its exact query, the
/// WSDL by the name `wsdl` with any value.
fn asked_document(description: &Description, head: &Parts) -> Option<&'static Document> {
    let pairs = || head.uri.query().unwrap_or_default().split('&').take(PAIRS);
    let is_asked = |document: &&Document| pairs().any(|pair| pair.eq_ignore_ascii_case(document.query));
    let imported = description.documents.iter().skip(1).find(is_asked);
    let asks_for_wsdl =
        || pairs().any(|pair| pair.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("wsdl")));
    imported.or_else(|| description.documents.first().filter(|_| asks_for_wsdl()))
}

/// Checks the headers of a POST: the content type, the charset, the content coding and the action.
fn content_type(fields: &Fields<'_>, takes_gzip: bool) -> Result<(ContentType, String), Refusal> {
    let content_type = head::only(fields.content_type, "Content-Type")?;
    // The action may select the operation.
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

/// Returns the value of SOAPAction without its quotes (SOAP 1.1 §6.1.1), or an empty string if there is none.
fn soap_action(header: Option<&HeaderValue>) -> Result<&str, Refusal> {
    let Some(header) = header else {
        return Ok("");
    };
    let action = std::str::from_utf8(header.as_bytes()).map_err(|_| Refusal::Action)?.trim();
    let unquoted = action.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Ok(unquoted.unwrap_or(action))
}
