//! How many requests may be at work at once.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::{Frame, SizeHint};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};
use pin_project_lite::pin_project;

use super::activity::Activity;
use super::refusal::Refusal;
use crate::{Body, BoxError};

/// The count of requests at work, over all connections.
#[derive(Debug)]
pub(super) struct Admission {
    max: usize,
    at_work: AtomicUsize,
}

impl Admission {
    pub(super) fn new(max: usize) -> Self {
        Admission { max, at_work: AtomicUsize::new(0) }
    }
}

/// The service of one connection: passes on what is admitted, answers 503 to the rest before anything else is done.
pub(super) struct Admitted<S> {
    service: TowerToHyperService<S>,
    admission: Arc<Admission>,
    activity: Arc<Activity>,
}

impl<S> Admitted<S> {
    pub(super) fn new(service: S, admission: Arc<Admission>, activity: Arc<Activity>) -> Self {
        Admitted { service: TowerToHyperService::new(service), admission, activity }
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
        let mut at_work = AtWork::new(self.admission.clone(), self.activity.clone());
        let content_type = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        at_work.is_package = content_type
            .and_then(|value| value.get(..10))
            .is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/"));
        let future = at_work.is_admitted.then(|| self.service.call(request));
        AdmittedFuture { future, at_work: Some(at_work) }
    }
}

pin_project! {
    /// The answer to one request.
    pub(super) struct AdmittedFuture<S>
    where
        S: tower_service::Service<Request<Incoming>>,
    {
        // None: not admitted.
        #[pin]
        future: Option<TowerToHyperServiceFuture<S, Request<Incoming>>>,
        // None: handed on with the response.
        at_work: Option<AtWork>,
    }
}

impl<S, B> Future for AdmittedFuture<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
{
    type Output = Result<Response<AdmittedBody<B>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = match this.future.as_pin_mut() {
            Some(future) => ready!(future.poll(cx))?.map(Either::Left),
            None => Refusal::Overload.into_response().map(Either::Right),
        };
        let mut at_work = this.at_work.take().expect("a future is not polled after it was ready");
        at_work.status = Some(response.status());
        Poll::Ready(Ok(response.map(|body| AdmittedBody { body, at_work })))
    }
}

pin_project! {
    /// The body of a response, whose request is at work until the last of it is handed over.
    pub(super) struct AdmittedBody<B> {
        #[pin]
        body: Either<B, Body>,
        at_work: AtWork,
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

/// One request at work, from its head to the end of its response: counted in both places until dropped.
struct AtWork {
    admission: Arc<Admission>,
    activity: Arc<Activity>,
    is_admitted: bool,
    /// Whether the request may have attachments that nobody reads.
    is_package: bool,
    status: Option<StatusCode>,
}

impl AtWork {
    fn new(admission: Arc<Admission>, activity: Arc<Activity>) -> Self {
        activity.begin();
        let before = admission.at_work.fetch_add(1, Relaxed);
        AtWork { is_admitted: before < admission.max, admission, activity, is_package: false, status: None }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.admission.at_work.fetch_sub(1, Relaxed);
        self.activity.end(self.status, self.is_package);
    }
}
