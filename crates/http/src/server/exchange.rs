//! Wraps each request and answer on a connection: checks the head, announces a shutdown, and reports requests that a
//! shutdown cuts off.

use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use castile_budget::Reservation;
use futures_util::future::BoxFuture;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::{Frame, SizeHint};
use http_body_util::Either;
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tokio::time::Instant;

use super::activity::Activity;
use super::address;
use super::admission::Ticket;
use super::answer::{Answer, answer_unread, close};
use super::head;
use super::listener::TlsPeer;
use super::observer::{Left, Observation};
use super::refusal::Refusal;
use super::routes::Stopping;
use super::shutdown::CutOff;
use super::slots::Overload;
use super::stop::Order;
use super::wait::Turn;
use crate::body::Body;
use crate::error::BoxError;
use crate::headers::{Fields, MessageType};

/// The service of one connection. Its requests call one clone, one after the other: to clone a service usually changes a count that all
/// cores would change with each request.
pub(super) struct Exchanges<S> {
    service: Arc<Mutex<S>>,
    activity: Arc<Activity>,
    tls: Option<TlsPeer>,
}

impl<S> Exchanges<S> {
    pub(super) fn new(service: Arc<Mutex<S>>, activity: Arc<Activity>, tls: Option<TlsPeer>) -> Self {
        Exchanges { service, activity, tls }
    }
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Exchanges<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Response = Response<ExchangeBody<B>>;
    type Error = S::Error;
    type Future = ExchangeFuture<S>;

    fn call(&self, mut request: Request<Incoming>) -> ExchangeFuture<S> {
        self.activity.receive(request.headers());
        let fields = Fields::of(request.headers());
        let exchange = Some(Exchange::begin(self.activity.clone(), &request, &fields));
        let (checked, has_expect) = (head::check(&request, &fields), fields.has_expect);
        let stage = match checked {
            Ok(()) => {
                self.introduce(&mut request);
                Stage::Called { service: self.service.clone(), request: Some(request) }
            }
            Err(refusal) => {
                Stage::Refused { answer: answer_unread(refusal.into_response(), request.into_body(), has_expect) }
            }
        };
        ExchangeFuture { stage, exchange }
    }
}

impl<S> Exchanges<S> {
    /// Adds what the services need to know of the connection.
    fn introduce(&self, request: &mut Request<Incoming>) {
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            if let Some(local) = self.activity.local {
                request.extensions_mut().insert(address::Local(local));
            }
            if self.activity.shared.stop.order() > Order::Run {
                request.extensions_mut().insert(Stopping);
            }
        }
        if self.activity.peer().is_some_and(|peer| self.activity.shared.admission.connections.is_untrusted(peer)) {
            request.extensions_mut().insert(address::UntrustedPeer);
        }
        if let Some(peer) = &self.tls {
            request.extensions_mut().insert(peer.clone());
        }
    }
}

pin_project! {
    /// The stage of a request.
    #[project = StageProjection]
    enum Stage<S, F> {
        /// The service is called when it is ready.
        Called { service: Arc<Mutex<S>>, request: Option<Request<Incoming>> },
        /// The service has been called. If it needs a slot before its future is polled, `queued` waits for one.
        /// `ticket` is present until an endpoint takes it.
        Answering { queued: Option<Queued>, ticket: Option<Ticket>, has_body: bool, #[pin] future: F },
        Refused { answer: Answer },
    }
}

type Queued = BoxFuture<'static, Result<(), Overload>>;

fn queue(ticket: Ticket) -> Queued {
    Box::pin(async move { ticket.work().await })
}

pin_project! {
    /// The answer to one request.
    pub(super) struct ExchangeFuture<S>
    where
        S: tower_service::Service<Request<Incoming>>,
    {
        #[pin]
        stage: Stage<S, S::Future>,
        // `None` after it has moved into the response.
        exchange: Option<Exchange>,
    }
}

impl<S, B> Future for ExchangeFuture<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<ExchangeBody<B>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        const DONE: &str = "a future is not polled after it was ready";
        let mut this = self.project();
        let mut response = loop {
            match this.stage.as_mut().project() {
                StageProjection::Called { service, request } => {
                    // A service that has panicked may be called again.
                    let mut service = service.lock().unwrap_or_else(PoisonError::into_inner);
                    ready!(service.poll_ready(cx))?;
                    let request = request.take().expect("the stage changes below");
                    let has_body = !http_body::Body::is_end_stream(request.body());
                    let exchange = this.exchange.as_mut().expect(DONE);
                    let (activity, turn) = (exchange.activity.clone(), exchange.turn);
                    let (future, ticket) = exchange.at_work(|| Ticket::call(activity, turn, || service.call(request)));
                    drop(service);
                    let queued = ticket.as_ref().filter(|ticket| !ticket.try_work()).cloned().map(queue);
                    this.stage.set(Stage::Answering { queued, ticket, has_body, future });
                }
                StageProjection::Answering { queued, ticket, has_body, future } => {
                    if let Some(waiting) = queued {
                        let admitted = ready!(waiting.as_mut().poll(cx));
                        *queued = None;
                        if admitted.is_err() {
                            let mut response = Refusal::Overload.into_response();
                            // The service has the body, which may be unread.
                            if *has_body {
                                close(&mut response);
                            }
                            this.stage.set(Stage::Refused { answer: Box::pin(ready(Ok(response))) });
                            continue;
                        }
                    }
                    // A router may call the endpoint only now.
                    let exchange = this.exchange.as_mut().expect(DONE);
                    let polled = exchange.at_work(|| Ticket::offer(ticket, || future.poll(cx)));
                    break ready!(polled)?.map(Either::Left);
                }
                StageProjection::Refused { answer } => {
                    let Ok(response) = ready!(answer.as_mut().poll(cx));
                    break response.map(Either::Right);
                }
            }
        };
        let mut exchange = this.exchange.take().expect(DONE);
        let left = Left::of(response.headers(), response.body());
        let is_empty = http_body::Body::is_end_stream(response.body()) || left.is_nothing();
        exchange.answer(&mut response, is_empty);
        Poll::Ready(Ok(response.map(|body| ExchangeBody { body, left, exchange })))
    }
}

pin_project! {
    /// The body of a response. The exchange ends with it.
    pub(super) struct ExchangeBody<B> {
        #[pin]
        body: Either<B, Body>,
        left: Left,
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
        let (bytes, is_last) = this.left.sent(&frame, &*this.body);
        this.exchange.is_sent = is_last;
        if let Some(observation) = &mut this.exchange.observation {
            observation.sent(bytes, is_last);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// One request, from its head to the last byte of its answer.
struct Exchange {
    activity: Arc<Activity>,
    turn: Turn,
    /// Whether the request may have attachments that are not read.
    is_package: bool,
    /// Whether the client may leave out the rest of the request, because it waits for `100 Continue`. If the request is
    /// rejected, the meaning of the next bytes is then ambiguous.
    may_omit_body: bool,
    status: Option<StatusCode>,
    is_sent: bool,
    /// Boxed, because an exchange is moved several times.
    begun: Box<Begun>,
    observation: Option<Box<Observation>>,
}

/// The data for reporting a request that is cut off. It is stored unparsed, because it is seldom needed.
struct Begun {
    since: Instant,
    target: Option<PathAndQuery>,
    /// The header with the action.
    action: Option<HeaderValue>,
    is_soap_action: bool,
}

impl Exchange {
    fn begin(activity: Arc<Activity>, request: &Request<Incoming>, fields: &Fields<'_>) -> Self {
        let content_type = fields.content_type.value.map(HeaderValue::as_bytes);
        let is_package = content_type
            .and_then(|value| value.get(..10))
            .is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/"));
        let (turn, since) = (activity.begin(), Instant::now());
        let observation = activity.observers.begin(request, || since.into_std(), || activity.client());
        Exchange {
            turn,
            is_package,
            may_omit_body: fields.has_expect || request.method() == Method::CONNECT,
            status: None,
            is_sent: false,
            begun: Box::new(Begun {
                since,
                target: request.uri().path_and_query().cloned(),
                action: fields.soap_action.value.or(fields.content_type.value).cloned(),
                is_soap_action: fields.soap_action.value.is_some(),
            }),
            observation: observation.map(Box::new),
            activity,
        }
    }

    /// Runs `work` for this exchange. If it is observed, an endpoint called in `work` adds details to the trace.
    fn at_work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        match &mut self.observation {
            Some(observation) => observation.at_work(work),
            None => work(),
        }
    }

    /// Records the answer and frees the slot. Sending is not work: a peer that doesn't read must not hold a slot.
    fn answer<B>(&mut self, response: &mut Response<B>, is_empty: bool) {
        let status = response.status();
        self.status = Some(status);
        // An endpoint has registered its reservation by its ticket.
        if let Some(memory) = response.extensions().get::<Arc<Reservation>>() {
            self.activity.reservations.answer(memory);
        }
        if let Some(observation) = &mut self.observation {
            observation.answered(status, is_empty);
        }
        self.activity.answered();
        let is_unread = status.is_client_error() && self.may_omit_body;
        if is_unread || self.activity.shared.stop.order() > Order::Run {
            close(response);
        }
    }
}

impl Begun {
    #[cold]
    fn cut_off(&self) -> CutOff {
        let action = match &self.action {
            Some(header) if self.is_soap_action => {
                Some(String::from_utf8_lossy(header.as_bytes()).trim_matches('"').to_owned())
            }
            header => MessageType::read(header.as_ref()).ok().and_then(|message_type| message_type.action),
        };
        CutOff {
            path: self.target.as_ref().map_or_else(String::new, |target| target.path().to_owned()),
            action: action.filter(|action| !action.is_empty()),
            elapsed: self.since.elapsed(),
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let Activity { shared, .. } = &*self.activity;
        // Only a shutdown gives this order, and from then on no other cause ends an exchange.
        if !self.is_sent && shared.stop.order() == Order::Close {
            shared.cut_off.add(self.begun.cut_off());
        }
        if self.status.is_none() {
            self.activity.answered();
        }
        if self.is_package {
            self.activity.reservations.end_of_request();
        }
        self.activity.end(self.status, self.is_package);
    }
}
