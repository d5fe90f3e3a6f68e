//! Observers for services on other servers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Buf, Bytes};
use castile_soap::Layer;
use http::{HeaderMap, Request, Response, header};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{Observation, Observer, Observers};

/// A layer that notifies an [`Observer`] of each exchange, for services on another server than this crate's. An axum
/// `Router` takes it as its `layer`. A [`Server`](crate::server::Server) has
/// [`observer`](crate::server::Server::observer) instead, which also reports requests that no service sees.
///
/// The address of the client is not known here.
#[derive(Clone, Debug)]
pub struct ObserverLayer(Observers);

impl ObserverLayer {
    /// Creates a layer that notifies `observer`.
    pub fn new(observer: impl Observer) -> Self {
        let mut observers = Observers::default();
        observers.add(Arc::new(observer));
        ObserverLayer(observers)
    }
}

impl<S> Layer<S> for ObserverLayer {
    type Service = Observed<S>;

    fn layer(&self, service: S) -> Observed<S> {
        Observed { service, observers: self.0.clone() }
    }
}

/// A service with an [`ObserverLayer`] around it.
#[derive(Clone, Debug)]
pub struct Observed<S> {
    service: S,
    observers: Observers,
}

impl<S, Q, B> tower_service::Service<Request<Q>> for Observed<S>
where
    S: tower_service::Service<Request<Q>, Response = Response<B>>,
    B: Body,
{
    type Response = Response<ObservedBody<B>>;
    type Error = S::Error;
    type Future = ObservedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Q>) -> ObservedFuture<S::Future> {
        let observation = self.observers.begin(&request, Instant::now, || None);
        if let Some(observation) = &observation {
            request.extensions_mut().insert(observation.trace.clone());
        }
        ObservedFuture { future: self.service.call(request), observation }
    }
}

pin_project! {
    /// The response future of an [`Observed`] service.
    #[derive(Debug)]
    pub struct ObservedFuture<F> {
        #[pin]
        future: F,
        observation: Option<Observation>,
    }
}

impl<F, B, E> Future for ObservedFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<ObservedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.future.poll(cx))?;
        let mut observation = this.observation.take();
        let left = Left::of(response.headers(), response.body());
        if let Some(observation) = &mut observation {
            observation.answered(response.status(), response.body().is_end_stream() || left.is_nothing());
        }
        Poll::Ready(Ok(response.map(|body| ObservedBody { body, left, observation })))
    }
}

pin_project! {
    /// The response body of an [`Observed`] service. The exchange ends with it.
    #[derive(Debug)]
    pub struct ObservedBody<B> {
        #[pin]
        body: B,
        left: Left,
        observation: Option<Observation>,
    }
}

impl<B: Body<Data = Bytes>> Body for ObservedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        if let Some(observation) = this.observation {
            let (bytes, is_last) = this.left.sent(&frame, &*this.body);
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

/// The remaining bytes of a body with a known length. Senders of such a body need not poll its end.
#[derive(Debug)]
pub(in crate::server) struct Left(Option<u64>);

impl Left {
    pub(in crate::server) fn of(headers: &HeaderMap, body: &impl Body) -> Self {
        let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        Left(declared.or_else(|| body.size_hint().exact()))
    }

    /// Records a polled frame of `body`. Returns the number of bytes, and whether the body is now completely sent. A
    /// body that failed is not.
    pub(in crate::server) fn sent<E>(
        &mut self,
        frame: &Option<Result<Frame<Bytes>, E>>,
        body: &impl Body,
    ) -> (usize, bool) {
        let bytes = match frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, Buf::remaining),
            Some(Err(_)) => return (0, false),
            None => return (0, true),
        };
        self.0 = self.0.map(|left| left.saturating_sub(bytes as u64));
        (bytes, body.is_end_stream() || self.is_nothing())
    }

    pub(in crate::server) fn is_nothing(&self) -> bool {
        self.0 == Some(0)
    }
}
