//! Several endpoints on one server.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, header};

use super::address::{Address, Beside, Served};
use super::endpoint::{Answer, Endpoint, unread};
use super::refusal::Refusal;
use crate::{Body, BoxError};

/// Paths and the endpoints behind them, matched exactly; a tower service, cheap to clone.
///
/// An axum `Router` does the same and more. This one costs a comparison or two per request.
#[derive(Clone, Default)]
pub struct Routes {
    table: Arc<Table>,
}

#[derive(Clone, Default)]
struct Table {
    endpoints: Vec<(String, Endpoint<dyn castile_soap::Service>)>,
    page: Option<Page>,
}

type Page = Arc<dyn Fn(&Parts) -> Response<Body> + Send + Sync>;

impl Routes {
    /// No routes: every request is answered 404.
    pub fn new() -> Self {
        Routes::default()
    }

    /// Adds an endpoint, or a generated server, at `path`, which starts with a slash. The first of several at one path is asked.
    pub fn route(mut self, path: impl Into<String>, endpoint: impl Into<Endpoint<dyn castile_soap::Service>>) -> Self {
        let endpoints = &mut Arc::make_mut(&mut self.table).endpoints;
        endpoints.push((path.into(), endpoint.into()));
        self
    }

    /// Makes all contracts name this [`Options::address`](super::Options::address), those of endpoints that are added later excepted.
    pub fn address(mut self, address: &Address) -> Self {
        for (_, endpoint) in &mut Arc::make_mut(&mut self.table).endpoints {
            *endpoint = endpoint.clone().address(address.clone());
        }
        self
    }

    /// Answers GET and HEAD of `/` with a page for people.
    pub fn page(mut self, page: impl Fn(&Parts) -> Response<Body> + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.table).page = Some(Arc::new(page));
        self
    }

    /// The paths and their endpoints, in the order in which they were added.
    pub fn endpoints(&self) -> impl Iterator<Item = (&str, &Endpoint<dyn castile_soap::Service>)> {
        let endpoints = self.table.endpoints.iter();
        endpoints.map(|(path, endpoint)| (path.as_str(), endpoint))
    }

    fn respond<B>(&self, mut request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let path = request.uri().path();
        if let Some((_, endpoint)) = self.endpoints().find(|(route, _)| *route == path) {
            // Only a contract names other paths.
            if matches!(*request.method(), Method::GET | Method::HEAD) {
                let served = self.endpoints().map(|(path, endpoint)| Served {
                    path: path.to_owned(),
                    description: endpoint.description(),
                    address: endpoint.options().address.clone(),
                });
                let beside = Beside(served.collect());
                request.extensions_mut().insert(beside);
            }
            return endpoint.respond(request);
        }
        let not_found = Refusal::Path { found: path.to_owned() };
        let is_page = path == "/" && matches!(*request.method(), Method::GET | Method::HEAD);
        let (head, body) = request.into_parts();
        let response = match &self.table.page {
            Some(page) if is_page => page(&head),
            _ => not_found.into_response(),
        };
        unread(response, body, head.headers.contains_key(header::EXPECT))
    }
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
