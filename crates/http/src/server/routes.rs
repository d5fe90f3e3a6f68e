//! Several endpoints on one server, and other services next to them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};

use super::address::{Address, Served, ServedContracts};
use super::admission::Ticket;
use super::answer::{Answer, answer_unread};
use super::endpoint::Endpoint;
use super::observer;
use super::options::Options;
use super::refusal::Refusal;
use crate::body::Body;
use crate::error::BoxError;

/// A table of paths and endpoints: a tower service that is cheap to clone. Paths must match exactly.
///
/// An axum `Router` can do the same and more, and can be the [`fallback_service`](Self::fallback_service). This table
/// costs one or two comparisons per request.
#[derive(Clone, Default)]
pub struct Routes {
    table: Arc<Table>,
    /// The endpoint of the last request. A connection has a clone of these routes, and so an endpoint for itself, whose count of
    /// references no other core changes.
    last: Option<Endpoint<dyn castile_soap::Service>>,
}

#[derive(Clone, Default)]
struct Table {
    endpoints: Vec<(String, Endpoint<dyn castile_soap::Service>)>,
    /// Services that are not endpoints.
    services: Vec<(String, Plain)>,
    fallback: Option<Plain>,
    page: Option<Page>,
}

/// Any HTTP service.
type Plain = Arc<dyn Fn(Request<Body>) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// A request extension: the server is stopping.
#[derive(Clone, Copy)]
pub(super) struct Stopping;

/// The address of the client: an extension of requests to services other than endpoints ([`Routes::route_service`],
/// [`Routes::fallback_service`]) on a [`Server`](super::Server). Requests of an endpoint have it as `Request::peer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

type Page = Arc<dyn Fn(&Parts) -> Response<Body> + Send + Sync>;

impl Routes {
    /// Creates an empty table: every request is answered with 404.
    pub fn new() -> Self {
        Routes::default()
    }

    /// Adds an endpoint or a generated server at `path`, which starts with a slash. If several have one path, the first
    /// one is used.
    pub fn route(mut self, path: impl Into<String>, endpoint: impl Into<Endpoint<dyn castile_soap::Service>>) -> Self {
        let endpoints = &mut Arc::make_mut(&mut self.table).endpoints;
        endpoints.push((path.into(), endpoint.into()));
        self
    }

    /// Adds any tower service at `path`, for example one made by axum's `get(…)`. An endpoint at the same path takes
    /// precedence.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use castile_http::{Body, server::Routes};
    /// # #[derive(Clone)] struct Version;
    /// # impl tower_service::Service<http::Request<Body>> for Version {
    /// #     type Response = http::Response<Body>;
    /// #     type Error = Infallible;
    /// #     type Future = std::future::Ready<Result<Self::Response, Infallible>>;
    /// #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
    /// #         std::task::Poll::Ready(Ok(()))
    /// #     }
    /// #     fn call(&mut self, _: http::Request<Body>) -> Self::Future {
    /// #         std::future::ready(Ok(http::Response::new(Body::from("1.0".to_owned()))))
    /// #     }
    /// # }
    /// let routes = Routes::new().route_service("/version", Version).health("/health").ready("/ready", || true);
    /// ```
    pub fn route_service<T, R>(mut self, path: impl Into<String>, service: T) -> Self
    where
        T: tower_service::Service<Request<Body>, Response = Response<R>, Error = Infallible>,
        T: Clone + Send + Sync + 'static,
        T::Future: Send,
        R: http_body::Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        Arc::make_mut(&mut self.table).services.push((path.into(), plain(service)));
        self
    }

    /// Sets a tower service for all other paths, instead of a 404.
    pub fn fallback_service<T, R>(mut self, service: T) -> Self
    where
        T: tower_service::Service<Request<Body>, Response = Response<R>, Error = Infallible>,
        T: Clone + Send + Sync + 'static,
        T::Future: Send,
        R: http_body::Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        Arc::make_mut(&mut self.table).fallback = Some(plain(service));
        self
    }

    /// Adds a liveness probe: GET and HEAD of `path` are answered with 200 while the process runs, whatever its load
    /// is.
    pub fn health(self, path: impl Into<String>) -> Self {
        self.probe(path, |_| true)
    }

    /// Adds a readiness probe: GET and HEAD of `path` are answered with 200 while the server accepts requests. They are
    /// answered with 503 if `is_ready` returns `false`, and when the [`Server`](super::Server) is stopping.
    pub fn ready(self, path: impl Into<String>, is_ready: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.probe(path, move |head| head.extensions.get::<Stopping>().is_none() && is_ready())
    }

    fn probe(mut self, path: impl Into<String>, is_fine: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        let probe = move |request: Request<Body>| {
            // A probe needs no slot. It matters most when there is none.
            Ticket::take();
            let (head, body) = request.into_parts();
            let answer = match head.method {
                Method::GET | Method::HEAD => probed(is_fine(&head)),
                _ => Refusal::OnlyGet.into_response(),
            };
            let answered = answer_unread(answer, body, head.headers.contains_key(header::EXPECT));
            Box::pin(async move {
                let Ok(answer) = answered.await;
                answer
            }) as BoxFuture<'static, _>
        };
        Arc::make_mut(&mut self.table).services.push((path.into(), Arc::new(probe)));
        self
    }

    /// Sets the [`Options::address`](super::Options::address) of all endpoints added so far: the service address in
    /// their contracts.
    pub fn address(self, address: &Address) -> Self {
        self.configure(|options| options.address = address.clone())
    }

    /// Changes the [`Options`] of all endpoints added so far, for example authentication or compression.
    ///
    /// ```
    /// # use castile_http::server::Routes;
    /// # let routes = Routes::new();
    /// let routes = routes.configure(|options| options.gzip_above = Some(64 << 10));
    /// ```
    pub fn configure(mut self, change: impl Fn(&mut Options)) -> Self {
        for (_, endpoint) in &mut Arc::make_mut(&mut self.table).endpoints {
            *endpoint = endpoint.clone().configure(&change);
        }
        self
    }

    /// Answers GET and HEAD of `/` with an HTML page.
    pub fn page(mut self, page: impl Fn(&Parts) -> Response<Body> + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.table).page = Some(Arc::new(page));
        self
    }

    /// Iterates over the paths and endpoints, in the order in which they were added.
    pub fn endpoints(&self) -> impl Iterator<Item = (&str, &Endpoint<dyn castile_soap::Service>)> {
        let endpoints = self.table.endpoints.iter();
        endpoints.map(|(path, endpoint)| (path.as_str(), endpoint))
    }

    fn respond<B>(&mut self, mut request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let path = request.uri().path();
        if let Some((_, endpoint)) = self.table.endpoints.iter().find(|(route, _)| route == path) {
            // Only contracts contain other paths.
            if matches!(*request.method(), Method::GET | Method::HEAD) {
                let served = self.endpoints().map(|(path, endpoint)| Served {
                    path: path.to_owned(),
                    description: endpoint.description(),
                    address: endpoint.options().address.clone(),
                });
                let beside = ServedContracts(served.collect());
                request.extensions_mut().insert(beside);
            }
            let last = self.last.take().filter(|last| last.is_same(endpoint));
            return self.last.insert(last.unwrap_or_else(|| endpoint.clone())).respond(request);
        }
        if let Some((_, service)) = self.table.services.iter().find(|(route, _)| route == path) {
            return answered(service, request);
        }
        let not_found = Refusal::Path { found: path.to_owned() };
        let is_page = path == "/" && matches!(*request.method(), Method::GET | Method::HEAD);
        let page = self.table.page.as_ref().filter(|_| is_page);
        if let (None, Some(fallback)) = (page, &self.table.fallback) {
            return answered(fallback, request);
        }
        let (head, body) = request.into_parts();
        let response = page.map_or_else(|| not_found.into_response(), |page| page(&head));
        answer_unread(response, body, head.headers.contains_key(header::EXPECT))
    }
}

/// Wraps a service that is cloned for each request.
fn plain<T, R>(service: T) -> Plain
where
    T: tower_service::Service<Request<Body>, Response = Response<R>, Error = Infallible>,
    T: Clone + Send + Sync + 'static,
    T::Future: Send,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    Arc::new(move |request| {
        let mut service = service.clone();
        // A service that is ready is called immediately: only here it finds the ticket of the request.
        if service.poll_ready(&mut Context::from_waker(Waker::noop())).is_ready() {
            let called = service.call(request);
            return Box::pin(async move {
                let Ok(response) = called.await;
                response.map(Body::stream)
            });
        }
        Box::pin(async move {
            let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(response) = service.call(request).await;
            response.map(Body::stream)
        })
    })
}

fn answered<B>(service: &Plain, mut request: Request<B>) -> Answer
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    if let Some(client) = Ticket::client() {
        request.extensions_mut().insert(ClientAddress(client));
    }
    // The service may pass the request to an endpoint later.
    if let Some(trace) = observer::called(request.extensions()) {
        request.extensions_mut().insert(trace);
    }
    let response = service(request.map(Body::stream));
    Box::pin(async move { Ok(response.await) })
}

fn probed(is_fine: bool) -> Response<Body> {
    let (status, text) = match is_fine {
        true => (StatusCode::OK, "ok\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    };
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl<B> tower_service::Service<Request<B>> for Routes
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

    fn call(&mut self, request: Request<B>) -> Answer {
        self.respond(request)
    }
}
