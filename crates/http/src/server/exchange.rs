//! What surrounds a request and its answer on a connection: the head is checked before, a shutdown is said behind, and one that
//! a shutdown cuts off is reported.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, Uri, header};
use http_body::{Frame, SizeHint};
use http_body_util::Either;
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tokio::time::Instant;

use super::connection::Shared;
use super::shutdown::CutOff;
use super::stop::Order;
use super::{address, head};
use crate::headers::{MessageType, SOAP_ACTION};
use crate::{Body, BoxError};

/// The service of one connection.
pub(super) struct Exchanges<S> {
    service: S,
    shared: Arc<Shared>,
    /// The address that the connection came to.
    local: Option<SocketAddr>,
}

impl<S> Exchanges<S> {
    pub(super) fn new(service: S, shared: Arc<Shared>, local: Option<SocketAddr>) -> Self {
        Exchanges { service, shared, local }
    }
}

impl<S: Clone> Clone for Exchanges<S> {
    fn clone(&self) -> Self {
        Exchanges::new(self.service.clone(), self.shared.clone(), self.local)
    }
}

impl<S, B> tower_service::Service<Request<Incoming>> for Exchanges<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
{
    type Response = Response<ExchangeBody<B>>;
    type Error = S::Error;
    type Future = ExchangeFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let exchange = Some(Exchange::new(self.shared.clone(), &head));
        if let Err(refusal) = head::check(&head) {
            return ExchangeFuture { future: None, refused: Some(refusal.into_response()), exchange };
        }
        if let Some(local) = self.local.filter(|_| head.method == Method::GET) {
            head.extensions.insert(address::Local(local));
        }
        let future = self.service.call(Request::from_parts(head, body));
        ExchangeFuture { future: Some(future), refused: None, exchange }
    }
}

pin_project! {
    /// The answer to one request.
    pub(super) struct ExchangeFuture<F> {
        // None: refused.
        #[pin]
        future: Option<F>,
        refused: Option<Response<Body>>,
        // None: handed on with the response.
        exchange: Option<Exchange>,
    }
}

impl<F, B, E> Future for ExchangeFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<ExchangeBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        const DONE: &str = "a future is not polled after it was ready";
        let this = self.project();
        let mut response = match this.future.as_pin_mut() {
            Some(future) => ready!(future.poll(cx))?.map(Either::Left),
            None => this.refused.take().expect(DONE).map(Either::Right),
        };
        let exchange = this.exchange.take().expect(DONE);
        let is_refused = response.status().is_client_error();
        if exchange.shared.stop.order() > Order::Run || (is_refused && exchange.may_stay_unread) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Poll::Ready(Ok(response.map(|body| ExchangeBody { body, exchange })))
    }
}

pin_project! {
    /// The body of a response, with which the exchange ends.
    pub(super) struct ExchangeBody<B> {
        #[pin]
        body: Either<B, Body>,
        exchange: Exchange,
    }
}

impl<B> http_body::Body for ExchangeBody<B>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        this.exchange.is_answered = frame.is_none() || this.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// One request, from its head to the last of its answer. What is told of it is kept as it came, since it is seldom told.
struct Exchange {
    shared: Arc<Shared>,
    since: Instant,
    target: Uri,
    /// The header that names the action.
    action: Option<HeaderValue>,
    is_soap_action: bool,
    /// Whether the client waits for leave to send the rest, and may do without: who refuses the request can't tell what the
    /// next bytes are.
    may_stay_unread: bool,
    is_answered: bool,
}

impl Exchange {
    fn new(shared: Arc<Shared>, head: &Parts) -> Self {
        let soap_action = head.headers.get(SOAP_ACTION);
        let action = soap_action.or_else(|| head.headers.get(header::CONTENT_TYPE)).cloned();
        Exchange {
            shared,
            since: Instant::now(),
            target: head.uri.clone(),
            action,
            is_soap_action: soap_action.is_some(),
            may_stay_unread: head.method == Method::CONNECT || head.headers.contains_key(header::EXPECT),
            is_answered: false,
        }
    }

    #[cold]
    fn cut_off(&self) -> CutOff {
        let action = match &self.action {
            Some(header) if self.is_soap_action => {
                Some(String::from_utf8_lossy(header.as_bytes()).trim_matches('"').to_owned())
            }
            header => MessageType::read(header.as_ref()).ok().and_then(|message_type| message_type.action),
        };
        CutOff {
            path: self.target.path().to_owned(),
            action: action.filter(|action| !action.is_empty()),
            elapsed: self.since.elapsed(),
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Only the shutdown orders so, and then nobody else ends an exchange.
        if !self.is_answered && self.shared.stop.order() == Order::Close {
            self.shared.cut_off.add(self.cut_off());
        }
    }
}
