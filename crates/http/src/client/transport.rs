//! HTTP/1.1 over TCP, with a pool of connections.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

#[cfg(feature = "tls")]
use http::uri::Scheme;
#[cfg(feature = "tls")]
use hyper_util::client::legacy::connect::capture_connection;

use super::connect::Connector;
use super::cookies::Cookies;
use super::credentials::{Credentials, Sent};
use super::options::Options;
use super::proxy::{Proxies, Route};
use super::redirects::{self, Redirects};
use super::retries::{Repeatable, Retries};
use super::sift::Sifted;
#[cfg(feature = "tls")]
use super::tls::Broken;
use super::urls::{origin, shown_url, without_login};
use crate::body::Body;
use crate::error::{BoxError, Error, ErrorKind, root};
use crate::headers::{ContentType, shown};
use crate::timeout::{after, allowed};

/// The default transport of clients: a tower service over TCP for `http` URLs and, with the feature `tls`, over TLS for
/// `https`.
///
/// Clones share one pool of connections, and cookies. If a pooled connection turns out to be closed before a byte was
/// sent, the request is sent on another one. Nothing else is repeated unless the [`Options`] allow it.
#[derive(Clone, Debug)]
pub struct Transport {
    shared: Arc<TransportState>,
}

#[derive(Debug)]
struct TransportState {
    client: legacy::Client<Connector, Body>,
    request_timeout: Duration,
    response_rate: u32,
    user_agent: Option<HeaderValue>,
    credentials: Option<Credentials>,
    cookies: Option<Cookies>,
    redirects: Redirects,
    retries: Retries,
    proxies: Proxies,
}

impl Transport {
    /// Creates a transport with the default [`Options`].
    pub fn new() -> Self {
        Transport::with_options(Options::default())
    }

    /// Creates a transport with `options`.
    pub fn with_options(options: Options) -> Self {
        let connector = Connector::new(
            options.proxies.clone(),
            #[cfg(feature = "tls")]
            options.tls,
            options.local_address,
            options.connect_timeout,
            options.times,
        );
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.idle_timeout)
            .pool_max_idle_per_host(options.max_idle_per_host.unwrap_or(usize::MAX))
            .build(connector);
        let shared = TransportState {
            client,
            request_timeout: options.request_timeout,
            response_rate: options.response_rate,
            user_agent: options.user_agent,
            credentials: options.credentials,
            cookies: options.cookies.then(Cookies::default),
            redirects: options.redirects,
            retries: options.retries,
            proxies: options.proxies,
        };
        Transport { shared: Arc::new(shared) }
    }

    /// Returns the stored cookies, one per line, for [`keep_cookies`](Self::keep_cookies) in another process. Cookies
    /// can be used to log in, so protect the file that you write them to.
    pub fn cookies(&self) -> String {
        self.shared.cookies.as_ref().map(Cookies::written).unwrap_or_default()
    }

    /// Stores cookies that [`cookies`](Self::cookies) returned. Each is sent only to the origin that set it. Does
    /// nothing unless [`Options::cookies`] is set.
    ///
    /// # Errors
    /// A line isn't a cookie. No cookie is stored then.
    pub fn keep_cookies(&self, lines: &str) -> Result<(), Error> {
        self.shared.cookies.as_ref().map_or(Ok(()), |cookies| cookies.read(lines))
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
        let shared = self.shared.clone();
        Box::pin(async move {
            let mut url = request.uri().clone();
            let answered = shared.exchange(request, &mut url).await;
            let mut response = answered.map_err(|error| error.about(&url))?;
            if shared.redirects.are_followed() {
                response.extensions_mut().insert(Redirected(url));
            }
            Ok(response)
        })
    }
}

/// The attempts for one request so far.
#[derive(Default)]
struct Attempts {
    retries: u32,
    redirects: u32,
    credentials: u32,
}

impl Attempts {
    /// Counts a retry and returns the wait before it, if there is one. Redirects and logins don't count.
    fn again(&mut self, wait: impl FnOnce(u32) -> Option<Duration>) -> Option<Duration> {
        self.retries += 1;
        wait(self.retries)
    }
}

impl TransportState {
    /// Sends a request until there is a final answer. `url` is set to the URL of the last attempt.
    async fn exchange(&self, request: Request<Body>, url: &mut Uri) -> Result<Response<ResponseBody>, Error> {
        let deadline = after(self.request_timeout);
        let (mut head, mut body) = request.into_parts();
        without_login(&head.uri)?;
        if let Some(name) = &self.user_agent {
            head.headers.entry(header::USER_AGENT).or_insert_with(|| name.clone());
        }
        let first = head.uri.clone();
        // A request with its own `Authorization` header keeps it.
        let mut credentials = self.credentials.as_ref().filter(|_| !head.headers.contains_key(header::AUTHORIZATION));
        let is_repeatable = head.extensions.get::<Repeatable>().is_some();
        let mut attempts = Attempts::default();
        loop {
            let again = if self.repeats(credentials) { body.try_clone() } else { None };
            let spare = again.as_ref().map(|_| head.clone());
            url.clone_from(&head.uri);
            let sent = self.introduce(&mut head, credentials, deadline).await?;
            let result = self.attempt(Request::from_parts(head, body), url, deadline).await;
            if let (Some(cookies), Ok(response)) = (&self.cookies, &result) {
                cookies.store_from(url, response.headers());
            }
            let (Some(again), Some(spare)) = (again, spare) else { return result };
            (head, body) = (spare, again);
            let wait = match &result {
                Err(error) => attempts.again(|attempt| self.retries.after_failure(attempt, error, is_repeatable)),
                Ok(response) => {
                    let (status, headers) = (response.status(), response.headers());
                    if let Some(target) = self
                        .redirects
                        .target(url, status, headers)
                        .map_err(|error| error.answered(status, headers.clone()))?
                    {
                        attempts.redirects += 1;
                        if attempts.redirects > redirects::MAX_REDIRECTS {
                            let target = shown(&target.to_string());
                            let from = shown_url(url);
                            let message = format!(
                                "{from} redirects the message to {target}; this is the sixth redirect, and at most \
                                 five are followed"
                            );
                            let error = Error::new(ErrorKind::Status(status), message);
                            return Err(error.answered(status, headers.clone()));
                        }
                        if origin(&target) != origin(&first) {
                            credentials = None;
                            head.headers.remove(header::AUTHORIZATION);
                            head.headers.remove(header::COOKIE);
                        }
                        head.uri = target;
                        Some(Duration::ZERO)
                    } else if status == StatusCode::UNAUTHORIZED {
                        match self.authorized(&mut attempts, credentials, sent.as_ref(), url, headers, deadline).await?
                        {
                            true => Some(Duration::ZERO),
                            false => None,
                        }
                    } else {
                        attempts.again(|attempt| self.retries.after_answer(attempt, status, headers, is_repeatable))
                    }
                }
            };
            match wait {
                None => return result,
                Some(Duration::ZERO) => {}
                // No time would be left for an answer.
                Some(wait) if after(wait) >= deadline => return result,
                Some(wait) => tokio::time::sleep(wait).await,
            }
            if let Ok(response) = result {
                // Read the rest of the answer, so that its connection can be reused.
                crate::body::is_over(response.into_body()).await;
            }
        }
    }

    /// Returns whether a request may be sent more than once.
    fn repeats(&self, credentials: Option<&Credentials>) -> bool {
        credentials.is_some() || self.redirects.are_followed() || self.retries.attempts > 0
    }

    /// Adds cookies and credentials to the head of a request. Returns the credentials, if there are any.
    async fn introduce(
        &self,
        head: &mut Parts,
        credentials: Option<&Credentials>,
        deadline: Instant,
    ) -> Result<Option<Sent>, Error> {
        if let Some(value) = self.cookies.as_ref().and_then(|cookies| cookies.of(&head.uri)) {
            head.headers.entry(header::COOKIE).or_insert(value);
        }
        // For https, the proxy gets its credentials when the tunnel is made.
        if head.uri.scheme_str() == Some("http")
            && let Route::Http { authorization: Some(value), .. } = self.proxies.route(&head.uri)?
        {
            head.headers.insert(header::PROXY_AUTHORIZATION, value);
        }
        let Some(credentials) = credentials else { return Ok(None) };
        let asked = timeout_at(deadline, credentials.of(&head.method, &head.uri)).await;
        let sent = asked.map_err(|_| late(&head.uri, self.request_timeout))??;
        if let Some(value) = &sent.value {
            head.headers.insert(header::AUTHORIZATION, value.clone());
        }
        Ok(Some(sent))
    }

    /// Returns whether there are new credentials after a 401.
    async fn authorized(
        &self,
        attempts: &mut Attempts,
        credentials: Option<&Credentials>,
        sent: Option<&Sent>,
        url: &Uri,
        headers: &HeaderMap,
        deadline: Instant,
    ) -> Result<bool, Error> {
        let (Some(credentials), Some(sent)) = (credentials, sent) else { return Ok(false) };
        attempts.credentials += 1;
        if attempts.credentials > 1 {
            return Ok(false);
        }
        let renewed = timeout_at(deadline, credentials.renew(sent, headers)).await;
        renewed.map_err(|_| late(url, self.request_timeout))?
    }

    /// Sends a request once.
    async fn attempt(
        &self,
        request: Request<Body>,
        url: &Uri,
        deadline: Instant,
    ) -> Result<Response<ResponseBody>, Error> {
        let (limit, rate) = (self.request_timeout, self.response_rate);
        let (sent, is_whole) = (Taken::new(), request.body().is_whole());
        let is_sifted = request.extensions().get::<Sifted>().is_some();
        let request = match is_whole {
            true => request,
            false => request.map(|body| Body::stream(Counted { body, sent: sent.clone() })),
        };
        #[cfg(feature = "tls")]
        let (request, captured) = {
            let mut request = request;
            let captured = (url.scheme() == Some(&Scheme::HTTPS)).then(|| capture_connection(&mut request));
            (request, captured)
        };
        let response = self.client.request(request);
        #[cfg(feature = "tls")]
        let failed = |error| failed(error, url, captured.as_ref().and_then(Broken::of));
        #[cfg(not(feature = "tls"))]
        let failed = |error| failed(error, url);
        let mut deadline = Box::pin(sleep_until(deadline));
        let mut response = pin!(response);
        let mut response = loop {
            tokio::select! {
                response = &mut response => break response.map_err(failed)?,
                () = &mut deadline => {}
            }
            let due = sent.due(limit).ok_or_else(|| late(url, limit))?;
            deadline.as_mut().reset(due);
        };
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let is_package = matches!(ContentType::read(content_type), Ok(ContentType::Package(_)));
        if is_package {
            let due = Due { deadline: deadline.deadline(), limit, sent: sent.clone() };
            response.extensions_mut().insert(due);
        }
        let paced = (is_package || is_sifted).then_some(Paced {
            rate,
            since: None,
            waited: Duration::ZERO,
            received: 0,
            is_slow: false,
        });
        let url = url.clone();
        Ok(response.map(|body| ResponseBody { body, url, deadline, limit, paced, sent, seen: 0 }))
    }
}

/// How many bytes of a streamed request were taken, and when the last ones were.
#[derive(Clone, Debug)]
struct Taken(Arc<Mutex<(u64, Instant)>>);

impl Taken {
    fn new() -> Self {
        Taken(Arc::new(Mutex::new((0, Instant::now()))))
    }

    fn bytes(&self) -> u64 {
        self.lock().0
    }

    fn add(&self, bytes: usize) {
        let mut taken = self.lock();
        *taken = (taken.0 + bytes as u64, Instant::now());
    }

    /// Returns the deadline of the answer: `limit` after the last bytes. `None` if that has passed or no bytes were
    /// taken.
    fn due(&self, limit: Duration) -> Option<Instant> {
        let (bytes, last) = *self.lock();
        let due = last.checked_add(limit)?;
        (bytes > 0 && due > Instant::now()).then_some(due)
    }

    fn lock(&self) -> MutexGuard<'_, (u64, Instant)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of a request, which counts the bytes that are taken.
struct Counted {
    body: Body,
    sent: Taken,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()).map_or(0, Bytes::len);
        self.sent.add(bytes.max(1));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response extension: the URL that the answer came from. It is set if redirects are followed.
#[derive(Clone, Debug)]
pub(super) struct Redirected(pub(super) Uri);

/// The deadline for the envelope of a package. It is an extension of the response, because only the reader of the
/// package knows where the envelope ends.
#[derive(Clone, Debug)]
pub(super) struct Due {
    deadline: Instant,
    limit: Duration,
    sent: Taken,
}

impl Due {
    /// Drives `future` until the deadline, or longer while bytes of the request are still taken.
    pub(super) async fn bound<F: Future>(self, url: &Uri, future: F) -> Result<F::Output, Error> {
        let Due { mut deadline, limit, sent } = self;
        let mut future = pin!(future);
        loop {
            match timeout_at(deadline, future.as_mut()).await {
                Ok(output) => return Ok(output),
                Err(_) => deadline = sent.due(limit).ok_or_else(|| late(url, limit))?,
            }
        }
    }
}

/// The body of a response. It must be complete before the deadline of its request. A package must instead deliver bytes
/// within each such time limit, at the required rate.
#[derive(Debug)]
pub struct ResponseBody {
    body: Incoming,
    /// The URL of the response.
    url: Uri,
    deadline: Pin<Box<Sleep>>,
    limit: Duration,
    /// For a package or sifted answer, whose time limit begins again with each frame.
    paced: Option<Paced>,
    /// The bytes of the request that are being sent, and their number when a wait for a frame began.
    sent: Taken,
    seen: u64,
}

/// The pace at which a package arrives.
#[derive(Debug)]
struct Paced {
    /// In bytes per second; 0 for any rate.
    rate: u32,
    /// When the current wait began.
    since: Option<Instant>,
    /// How long the earlier waits took, and how many bytes arrived.
    waited: Duration,
    received: u64,
    /// Whether the rate shortens the current wait.
    is_slow: bool,
}

impl Paced {
    fn add(&mut self, length: usize) {
        self.pause();
        self.received += length as u64;
    }

    fn pause(&mut self) {
        self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    fn slow(&mut self, url: &Uri) -> Error {
        self.pause();
        let Paced { received, waited, .. } = self;
        let (from, waited) = (shown_url(url), waited.as_secs_f64());
        let message = format!("the reply from {from} arrives too slowly: {received} bytes in {waited:.1} s");
        Error::new(ErrorKind::Timeout, message).about(url)
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let ResponseBody { body, url, deadline, limit, paced, sent, seen } = &mut *self;
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            if let (Some(paced), Some(Ok(frame))) = (paced, &frame) {
                paced.add(frame.data_ref().map_or(0, Bytes::len));
            }
            let broken = |error| {
                let message = format!("the reply from {} broke off", shown_url(url));
                Error::new(ErrorKind::Body, message).about(url).because(error)
            };
            return Poll::Ready(frame.map(|frame| frame.map_err(broken)));
        }
        loop {
            if let Some(paced) = paced
                && paced.since.is_none()
            {
                let now = Instant::now();
                paced.since = Some(now);
                *seen = sent.bytes();
                let earned = allowed(*limit, *limit, paced.rate, paced.received + *seen).saturating_sub(paced.waited);
                paced.is_slow = earned < *limit;
                deadline.as_mut().reset(after(earned.min(*limit)));
            }
            ready!(deadline.as_mut().poll(cx));
            // Bytes of the request may still be taken.
            match paced {
                Some(paced) if *seen != sent.bytes() => paced.pause(),
                Some(paced) if paced.is_slow => return Poll::Ready(Some(Err(paced.slow(url)))),
                Some(_) => return Poll::Ready(Some(Err(late(url, *limit)))),
                None => match sent.due(*limit) {
                    Some(due) => deadline.as_mut().reset(due),
                    None => return Poll::Ready(Some(Err(late(url, *limit)))),
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn late(url: &Uri, limit: Duration) -> Error {
    Error::new(ErrorKind::Timeout, format!("no complete reply from {} within {limit:?}", shown_url(url))).about(url)
}

/// Converts the error of a request. `known` is a failure of its connection, used if the error has no reason.
fn failed(error: legacy::Error, url: &Uri, #[cfg(feature = "tls")] known: Option<String>) -> Error {
    let to = shown_url(url);
    let (kind, message) = match error.is_connect() {
        true => (ErrorKind::Connect, format!("no connection to {to}")),
        false => (ErrorKind::Exchange, format!("the exchange with {to} broke off before a response arrived")),
    };
    let mut causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
    if let Some(ours) = causes.find_map(|cause| cause.downcast_ref::<Error>()) {
        let failed = Error::new(kind, format!("{message}: {ours}"));
        return if ours.repeats_itself() { failed.repeating() } else { failed }.because(error);
    }
    #[cfg(feature = "tls")]
    if let Some(reason) = crate::tls::reason(&error).or(known) {
        return Error::new(kind, format!("{message}: {reason}")).repeating().because(error);
    }
    let of_http = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<hyper::Error>());
    let message = match of_http.is_some_and(hyper::Error::is_parse) {
        true if url.scheme_str() == Some("http") => {
            format!("{message}: the server's answer is not HTTP/1.1; it may expect https")
        }
        true => format!("{message}: the server's answer is not HTTP/1.1"),
        false => format!("{message}: {}", root(&error)),
    };
    Error::new(kind, message).because(error)
}
