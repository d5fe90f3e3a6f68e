//! A SOAP service as an HTTP service (SOAP 1.1 §6, SOAP 1.2 Part 2 §7).

mod contract;
mod package;
mod request_head;
mod response;
mod state;

use std::convert::Infallible;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use castile_soap::{Description, Layer, ReplyMessage, Step, Trace};
use http::{Method, Request, Response};

use self::request_head::{RequestHead, content_type};
use self::response::{compressed, respond_with};
use self::state::EndpointState;
use super::address::Address;
use super::admission::Ticket;
use super::answer::{Answer, answer_unread, close};
use super::observer;
use super::options::Options;
use super::receiving::Receiving;
use super::refusal::Refusal;
use crate::body::{self, Body};
use crate::error::BoxError;
use crate::headers::{ContentType, Fields, MessageType};
use crate::timeout::within;
use crate::{gzip, package as packages};

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
    /// Each clone has an outer count of references of its own, which its requests change.
    #[expect(clippy::redundant_allocation, reason = "all cores would change the inner count with each request")]
    shared: Arc<Arc<EndpointState<S>>>,
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
        Endpoint { shared: Arc::new(Arc::new(EndpointState::new(options, service))) }
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

    /// Returns whether this is a clone of `other`.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&*self.shared, &*other.shared)
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
            trace.record_service(self.description());
        }
        if ticket.is_hopeless() {
            let has_expect = Fields::of(request.headers()).has_expect;
            return answer_unread(Refusal::Overload.into_response(), request.into_body(), has_expect);
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
            answer_unread(refusal.into_response(), body, Fields::of(&head.headers).has_expect).await
        })
    }

    /// Answers a request of a client that may use the service.
    fn respond_to<B>(&self, request: Request<B>, ticket: Ticket, trace: Option<Trace>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let (head, body) = request.into_parts();
        let fields = Fields::of(&head.headers);
        let checked = match head.method {
            Method::POST => content_type(&fields, self.shared.options.gzip_ratio > 0),
            Method::GET | Method::HEAD => return self.shared.show(head, body, ticket),
            _ => Err(Refusal::Method { shows: self.shared.shows(&head) }),
        };
        let (mut content_type, action) = match checked {
            Ok(checked) => checked,
            Err(refusal) => return answer_unread(refusal.into_response(), body, fields.has_expect),
        };
        let shared = self.shared.clone();
        let gzip_above = shared.options.gzip_above.map(|above| (above, gzip::is_accepted(&head.headers)));
        let mut request_head = RequestHead {
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
                ContentType::Message(message_type) => shared.answer(&mut request_head, message_type, body).await,
                // Boxed, so that the future of other requests doesn't get larger.
                ContentType::Package(related) => {
                    let coming = coming.insert(Arc::default());
                    Box::pin(shared.answer_package(request_head, related, body, coming)).await
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
}

impl<S: castile_soap::Service + ?Sized> EndpointState<S> {
    /// Receives a message, waits for a slot of work, and calls the service. [`answer_package`](Self::answer_package) does so for
    /// packages.
    async fn answer<B>(
        &self,
        request_head: &mut RequestHead,
        message_type: &mut MessageType,
        body: B,
    ) -> Result<ReplyMessage, Refusal>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let Options { messages: castile_soap::Options { limits, .. }, request_timeout, .. } = &self.options;
        let reservation = self.reservation(&request_head.ticket)?;
        Self::charge_coding(request_head, &reservation).await?;
        let message = {
            let body = self.coded(body, request_head);
            let body = pin!(Receiving::message(body, self.options.pace(), &request_head.ticket, reservation.clone()));
            body::read(body, limits.message_size).await
        };
        let message = message.map_err(|failure| Refusal::of_body(failure, limits.message_size))?;
        if let Some(trace) = &request_head.trace {
            trace.record_request(message.len());
        }
        // The request is created after the wait, so that the future doesn't store it meanwhile.
        request_head.ticket.work().await?;
        if let Some(trace) = &request_head.trace {
            trace.end(Step::Queue);
        }
        let in_media_type = message_type.action.take();
        let action = in_media_type.unwrap_or_else(|| mem::take(&mut request_head.action));
        let mut request = castile_soap::RequestMessage::new(message_type.version, message)
            .with_action(action)
            .with_charset(message_type.charset)
            .with_http_headers(mem::take(&mut request_head.headers).unwrap_or_default())
            .with_trace(request_head.trace.clone());
        // The function holds the reservation too, whatever the service does with the request.
        request.reservation = Some(reservation.clone());
        request.extensions = mem::take(&mut request_head.extensions);
        request.accepts_mtom = request_head.accepts_mtom;
        request.peer = request_head.ticket.peer();
        request.deadline = Instant::now().checked_add(*request_timeout);
        let reply = within(*request_timeout, self.call(request)).await;
        request_head.ticket.relieve_if_refused(&reservation);
        drop(reservation);
        let reply = reply.map_err(|_| Refusal::HandlerTimeout { limit: *request_timeout })?;
        request_head.ticket.register_answer(&reply);
        if let Some(trace) = &request_head.trace {
            trace.record_reply(&reply);
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
        Endpoint { shared: Arc::new(Arc::clone(&self.shared)) }
    }
}

#[cfg(test)]
mod tests {
    use castile_soap::{Pending, RequestMessage};
    use tower_service::Service;

    use super::super::Routes;
    use super::*;

    struct Nothing;

    impl castile_soap::Service for Nothing {
        fn description(&self) -> &'static Description {
            static DESCRIPTION: Description = Description::new("Nothing", "urn:nothing", &[]);
            &DESCRIPTION
        }

        fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> Pending {
            Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
        }
    }

    /// Each request of any connection once changed one count of references, for which cores wait.
    #[test]
    fn a_connection_counts_the_references_of_its_requests() {
        let routes = Routes::new().route("/a", Endpoint::new(Nothing)).route("/b", Endpoint::new(Nothing));
        let mut of_connection = routes.clone();
        let mut ask = |path| {
            let request = Request::post(path).header("content-type", "text/xml").body(Body::empty()).unwrap();
            of_connection.call(request)
        };
        let counts =
            || routes.endpoints().map(|(_, endpoint)| Arc::strong_count(&*endpoint.shared)).collect::<Vec<_>>();
        assert_eq!(counts(), [1, 1]);
        let requests = [ask("/a"), ask("/a"), ask("/a")];
        assert_eq!(counts(), [2, 1]);
        drop(requests);
        let _request = ask("/b");
        assert_eq!(counts(), [1, 2]);
    }
}
