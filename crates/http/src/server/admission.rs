//! When a request may work, and what it is told when it may not.
//!
//! A request takes a slot of work when there is work to do. An [`Endpoint`](super::Endpoint) says when that is, with a
//! [`Ticket`]: it reads the message without a slot, takes one for the work, and gives it back while it waits for its peer.
//! Any other service has a slot from the head of a request to its answer.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::{Frame, SizeHint};
use http_body_util::Either;
use hyper::body::Incoming;
use pin_project_lite::pin_project;

use super::activity::{Activity, Turn};
use super::connections::{Connections, Received};
use super::refusal::Refusal;
use super::slots::{Overload, Slots};
use crate::{Body, BoxError};

/// Who works, and who receives, over all connections.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) slots: Slots,
    pub(super) connections: Connections,
}

thread_local! {
    /// The request that a service is called with on this thread, unless an endpoint has taken it.
    static CALLED: Cell<Option<Ticket>> = const { Cell::new(None) };
}

/// One request on a connection of a server. Outside a server it allows everything.
#[derive(Clone, Debug)]
pub(super) struct Ticket(Option<(Arc<Activity>, Turn)>);

impl Ticket {
    /// The ticket of the request that this thread calls a service with. Whoever takes it takes slots by it.
    pub(super) fn take() -> Self {
        CALLED.take().unwrap_or(Ticket(None))
    }

    /// Takes a slot if one is free.
    fn try_work(&self) -> bool {
        let Ticket(Some((activity, turn))) = self else { return true };
        let is_free = activity.admission.slots.try_acquire();
        if is_free {
            activity.hold(*turn);
        }
        is_free
    }

    /// Takes a slot. If none is free it waits in the queue.
    pub(super) async fn work(&self) -> Result<(), Overload> {
        if !self.try_work()
            && let Ticket(Some((activity, turn))) = self
        {
            activity.admission.slots.acquire().await?;
            activity.hold(*turn);
        }
        Ok(())
    }

    /// Gives the slot back while the peer is waited for.
    pub(super) fn rest(&self) {
        if let Ticket(Some((activity, turn))) = self {
            activity.rest(*turn);
        }
    }

    /// Takes a slot again; `None` if there is one already, or none is needed.
    pub(super) fn go_on(&self) -> Option<BoxFuture<'static, ()>> {
        let (activity, turn) = self.0.clone().filter(|(activity, turn)| activity.is_at_rest(*turn))?;
        if self.try_work() {
            return None;
        }
        Some(Box::pin(async move {
            activity.admission.slots.acquire_again().await;
            activity.hold(turn);
        }))
    }

    /// Counts the request among those whose body is waited for; so many bytes came already.
    pub(super) fn receive(&self, bytes: usize) -> Option<Received> {
        let (activity, _) = self.0.as_ref()?;
        Some(Received::new(activity.clone(), bytes))
    }
}

/// The service of one connection.
pub(super) struct Admitted<S> {
    service: S,
    activity: Arc<Activity>,
}

impl<S> Admitted<S> {
    pub(super) fn new(service: S, activity: Arc<Activity>) -> Self {
        Admitted { service, activity }
    }
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Admitted<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>> + Clone,
{
    type Response = Response<AdmittedBody<B>>;
    type Error = S::Error;
    type Future = AdmittedFuture<S>;

    fn call(&self, request: Request<Incoming>) -> AdmittedFuture<S> {
        let content_type = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        let is_package = content_type
            .and_then(|value| value.get(..10))
            .is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/"));
        let turn = self.activity.begin();
        let in_hand = InHand { activity: self.activity.clone(), turn, is_package, status: None };
        // Where there is no hope of a slot the message is not waited for.
        let stage = match self.activity.admission.slots.is_full() {
            true => Stage::Refused,
            false => Stage::Called { service: self.service.clone(), request: Some(request) },
        };
        AdmittedFuture { stage, queued: None, in_hand: Some(in_hand) }
    }
}

pin_project! {
    /// How far a request is.
    #[project = StageProjection]
    enum Stage<S, F> {
        /// The service is called as soon as it is ready.
        Called { service: S, request: Option<Request<Incoming>> },
        Answering { #[pin] future: F },
        Refused,
    }
}

pin_project! {
    /// The answer to one request.
    pub(super) struct AdmittedFuture<S>
    where
        S: tower_service::Service<Request<Incoming>>,
    {
        #[pin]
        stage: Stage<S, S::Future>,
        // Of a service that needs a slot before it begins, until it has one.
        queued: Option<BoxFuture<'static, Result<(), Overload>>>,
        // None: handed on with the response.
        in_hand: Option<InHand>,
    }
}

impl<S, B> Future for AdmittedFuture<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
{
    type Output = Result<Response<AdmittedBody<B>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let in_hand = this.in_hand.as_ref().expect("a future is not polled after it was ready");
        if let StageProjection::Called { service, request } = this.stage.as_mut().project() {
            ready!(service.poll_ready(cx))?;
            let request = request.take().expect("the stage changes below");
            CALLED.set(Some(in_hand.ticket()));
            let future = service.call(request);
            // A ticket that is left is that of a service which doesn't know of slots.
            if let Some(ticket) = CALLED.take()
                && !ticket.try_work()
            {
                *this.queued = Some(Box::pin(async move { ticket.work().await }));
            }
            this.stage.set(Stage::Answering { future });
        }
        if let Some(queued) = this.queued {
            let admitted = ready!(queued.as_mut().poll(cx));
            *this.queued = None;
            if admitted.is_err() {
                this.stage.set(Stage::Refused);
            }
        }
        let response = match this.stage.project() {
            StageProjection::Answering { future } => ready!(future.poll(cx))?.map(Either::Left),
            _ => Refusal::Overload.into_response().map(Either::Right),
        };
        let mut in_hand = this.in_hand.take().expect("it was there above");
        in_hand.status = Some(response.status());
        // To send is no work: a peer that doesn't read must not hold a slot.
        in_hand.activity.answered();
        Poll::Ready(Ok(response.map(|body| AdmittedBody { body, in_hand })))
    }
}

pin_project! {
    /// The body of a response, whose request is in hand until the last of it is handed over.
    pub(super) struct AdmittedBody<B> {
        #[pin]
        body: Either<B, Body>,
        in_hand: InHand,
    }
}

impl<B> http_body::Body for AdmittedBody<B>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// One request, from its head to the end of its response.
struct InHand {
    activity: Arc<Activity>,
    turn: Turn,
    /// Whether the request may have attachments that nobody reads.
    is_package: bool,
    status: Option<StatusCode>,
}

impl InHand {
    fn ticket(&self) -> Ticket {
        Ticket(Some((self.activity.clone(), self.turn)))
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.activity.answered();
        }
        self.activity.end(self.status, self.is_package);
    }
}
