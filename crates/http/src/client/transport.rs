//! HTTP/1.1 over TCP, with connections kept and used again.

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response, Uri, header};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, Sleep, sleep};

use crate::headers::ContentType;
use crate::timeout::Progress;
use crate::{Body, BoxError, Error, ErrorKind};

/// The default transport of clients: a tower service over TCP, `http` URLs only.
///
/// Clones share one pool of connections. A request that found its pooled connection closed before a byte was sent is
/// sent again on another; nothing else is ever repeated.
#[derive(Clone, Debug)]
pub struct Transport {
    client: legacy::Client<HttpConnector, Body>,
    request_timeout: Duration,
}

/// What a [`Transport`] allows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How long connecting may take. 5 s by default.
    pub connect_timeout: Duration,
    /// How long a request may take, from its start to the last byte of the response. One that is sent as a stream or
    /// answered by `multipart/related` may take any time, and this is how long nothing may be taken of the one and nothing
    /// come of the other. 30 s by default.
    pub request_timeout: Duration,
    /// How long an unused connection is kept. 30 s by default: less than servers usually wait, so that a connection is
    /// seldom closed by the server just as it is taken up again.
    pub idle_timeout: Duration,
    /// The address of this machine that connections come from, for a machine that has several. `None`, the system chooses,
    /// by default. A server at an address of the other family is then reached by no connection.
    pub local_address: Option<IpAddr>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            local_address: None,
        }
    }
}

impl Transport {
    /// A transport with the default [`Options`].
    pub fn new() -> Self {
        Transport::with_options(&Options::default())
    }

    /// A transport with `options`.
    pub fn with_options(options: &Options) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(options.connect_timeout));
        connector.set_local_address(options.local_address);
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.idle_timeout)
            .build(connector);
        Transport { client, request_timeout: options.request_timeout }
    }
}

impl Default for Transport {
    fn default() -> Self {
        Transport::new()
    }
}

impl tower_service::Service<Request<Body>> for Transport {
    type Response = Response<ResponseBody>;
    type Error = Error;
    type Future = BoxFuture<'static, Result<Self::Response, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let limit = self.request_timeout;
        let url = request.uri().clone();
        let (sent, is_whole) = (Progress::default(), request.body().is_whole());
        let request = match is_whole {
            true => request,
            false => request.map(|body| Body::stream(Counted { body, progress: sent.clone() })),
        };
        let response = self.client.request(request);
        Box::pin(async move {
            let mut deadline = Box::pin(sleep(limit));
            let mut response = pin!(response);
            let mut seen = 0;
            let response = loop {
                tokio::select! {
                    response = &mut response => break response.map_err(|error| failed(error, &url))?,
                    () = &mut deadline => {}
                }
                if sent.seen() == seen {
                    return Err(late(limit));
                }
                seen = sent.seen();
                deadline.as_mut().reset(Instant::now() + limit);
            };
            let content_type = response.headers().get(header::CONTENT_TYPE);
            let is_package = matches!(ContentType::read(content_type), Ok(ContentType::Package(_)));
            let is_stream = is_package || !is_whole;
            Ok(response.map(|body| ResponseBody { body, deadline, limit, is_stream, is_waiting: false, sent, seen }))
        })
    }
}

/// The body of a request, whose pieces are counted.
struct Counted {
    body: Body,
    progress: Progress,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.progress.note();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response, due within the time of its request, or each piece of it within that time.
#[derive(Debug)]
pub struct ResponseBody {
    body: Incoming,
    deadline: Pin<Box<Sleep>>,
    limit: Duration,
    /// Whether the time counts anew with each piece.
    is_stream: bool,
    /// Whether the deadline is that of the piece that is waited for.
    is_waiting: bool,
    /// What is sent of the request in the meantime, and how much of it was when the deadline was set.
    sent: Progress,
    seen: u64,
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.is_waiting = false;
            let broken = |error| Error::new(ErrorKind::Body, "the reply broke off").because(error);
            return Poll::Ready(frame.map(|frame| frame.map_err(broken)));
        }
        let limit = self.limit;
        loop {
            if self.is_stream && !self.is_waiting {
                self.is_waiting = true;
                self.seen = self.sent.seen();
                self.deadline.as_mut().reset(Instant::now() + limit);
            }
            ready!(self.deadline.as_mut().poll(cx));
            if self.seen == self.sent.seen() {
                return Poll::Ready(Some(Err(late(limit))));
            }
            self.is_waiting = false;
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn late(limit: Duration) -> Error {
    Error::new(ErrorKind::Timeout, format!("no complete reply within {limit:?}"))
}

fn failed(error: legacy::Error, url: &Uri) -> Error {
    if error.is_connect() {
        return Error::new(ErrorKind::Connect, format!("no connection to {url}")).because(error);
    }
    let message = format!("the exchange with {url} broke off before a response came");
    Error::new(ErrorKind::Exchange, message).because(error)
}
