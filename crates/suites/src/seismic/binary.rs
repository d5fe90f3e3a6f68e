//! Queries and answers in a compact binary form, over HTTP without SOAP. It shows the cost of XML relative to the same work, as RMI did
//! in the article.
//!
//! Messages are in the [postcard](https://postcard.jamesmunns.com/wire-format) format: numbers take as few bytes as they need, texts
//! follow their length, and there are no names.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use castile::http::Body;
use castile::http::server::Routes;
use castile_budget::{Budget, Charged, UNCHARGED};
use castile_load::{BoxError, Connect};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tower_service::Service as _;

use super::Service;
use super::catalogue::{Catalogue, Found, Quake, Query};
use super::judge::Judge;
use super::regions::Names;
use crate::client::{self, Counting};

/// The path of the service.
pub const PATH: &str = "/seismic/binary";
/// The media type of its messages.
pub const MEDIA_TYPE: &str = "application/octet-stream";

/// The limit of a query in bytes; a query needs at most 80.
const MAX_QUERY_SIZE: usize = 1_024;
/// The time limit for receiving a query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The limit of an answer in bytes.
const MAX_ANSWER_SIZE: usize = 64 << 20;

/// The quakes that were found, by area.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The names of methods. Quakes refer to them by index, from 0.
    pub methods: Vec<String>,
    /// The areas with quakes.
    pub sets: Vec<Set>,
}

/// The quakes that were found in one area.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Set {
    /// The name of the area.
    pub area: String,
    /// The regions of the quakes.
    pub regions: Vec<Region>,
    /// The quakes in the order of time. The method of each is an index of [`Answer::methods`].
    pub quakes: Vec<Quake>,
}

/// A region.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The number of the region.
    pub number: u16,
    /// The name of the region.
    pub name: String,
}

/// Encodes a query as a message.
pub fn request(query: &Query) -> Bytes {
    write(query)
}

/// Encodes a message of numbers, texts, options and lists.
fn write(message: &impl Serialize) -> Bytes {
    match postcard::to_stdvec(message) {
        Ok(bytes) => bytes.into(),
        Err(error) => unreachable!("the buffer grows, and lists know their lengths: {error}"),
    }
}

/// Decodes an answer.
///
/// # Errors
/// The bytes are not an answer.
pub fn answer(bytes: &[u8]) -> Result<Answer, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((answer, [])) => Ok(answer),
        Ok((_, more)) => Err(format!("found {} bytes after the answer, expected its end", more.len())),
        Err(error) => Err(format!("found {} bytes that are not an answer: {error}", bytes.len())),
    }
}

/// Checks an answer as far as possible without the catalogue. Returns how many quakes are in it.
pub fn judge(asked: &Query, answer: &Answer) -> Result<u64, String> {
    let mut judge = Judge::new(asked);
    for quake in answer.sets.iter().flat_map(|set| &set.quakes) {
        judge.take(quake)?;
    }
    Ok(judge.matches())
}

/// Makes clients that send these queries.
pub(super) fn connect(queries: Vec<Query>) -> Connect {
    client::connect(
        |url: &str, transport| Ok::<_, BoxError>((transport, url.to_owned())),
        async move |(transport, url): &(Counting, String), number| {
            let asked = &queries[number];
            let request = Request::post(url).header(CONTENT_TYPE, MEDIA_TYPE).body(Body::from(request(asked)))?;
            let response = transport.clone().call(request).await?;
            let status = response.status();
            let body = Limited::new(response.into_body(), MAX_ANSWER_SIZE).collect().await?.to_bytes();
            match status {
                StatusCode::OK => Ok(judge(asked, &answer(&body)?)?),
                _ => Err(format!("status {status}, expected 200: {}", String::from_utf8_lossy(&body)).into()),
            }
        },
    )
}

fn found(catalogue: &Catalogue, found: Vec<Found>) -> Answer {
    let names = Names::published();
    let set = |found: Found| Set {
        area: names.area(found.area).to_owned(),
        regions: found
            .regions
            .into_iter()
            .map(|number| Region { number, name: names.region(number).name.to_owned() })
            .collect(),
        quakes: found.quakes.into_iter().copied().collect(),
    };
    Answer { methods: catalogue.methods().to_vec(), sets: found.into_iter().map(set).collect() }
}

/// A tower service with the binary service at its path and the routes at the others. It is cheap to clone.
#[derive(Clone)]
pub struct WithBinary {
    binary: Option<Arc<Binary>>,
    routes: Routes,
}

/// The binary service, and the budget that its answers are charged to.
struct Binary {
    service: Service,
    budget: Budget,
}

impl WithBinary {
    /// Creates a service that answers requests for the binary service, if there is one, and passes the others to `routes`. Its answers
    /// are charged to the budget of the process.
    pub fn new(service: impl Into<Option<Service>>, routes: Routes) -> Self {
        WithBinary::charged_to(Budget::process(), service, routes)
    }

    /// Creates a service that answers requests for the binary service, if there is one, and passes the others to `routes`. Its answers
    /// are charged to `budget`.
    pub fn charged_to(budget: Budget, service: impl Into<Option<Service>>, routes: Routes) -> Self {
        let binary = service.into().map(|service| Arc::new(Binary { service, budget }));
        WithBinary { binary, routes }
    }

    /// Returns the service for another thread, with counters of references of its own.
    #[must_use]
    pub fn of_thread(&self) -> Self {
        let binary = self
            .binary
            .as_deref()
            .map(|Binary { service, budget }| Binary { service: service.clone(), budget: budget.clone() });
        WithBinary { binary: binary.map(Arc::new), routes: self.routes.clone().configure(|_| {}) }
    }
}

impl<B> tower_service::Service<Request<B>> for WithBinary
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let binary = match &self.binary {
            Some(binary) if request.uri().path() == PATH => binary.clone(),
            _ => return self.routes.call(request),
        };
        Box::pin(async move {
            Ok(binary.respond(request).await.unwrap_or_else(|(status, message)| {
                let mut response = Response::new(Body::from(message));
                *response.status_mut() = status;
                let plain = HeaderValue::from_static("text/plain; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, plain);
                if status == StatusCode::SERVICE_UNAVAILABLE {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                }
                response
            }))
        })
    }
}

impl Binary {
    async fn respond<B>(&self, request: Request<B>) -> Result<Response<Body>, (StatusCode, String)>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if request.method() != Method::POST {
            let found = request.method();
            return Err((StatusCode::METHOD_NOT_ALLOWED, format!("found {found}, expected POST of a query\n")));
        }
        let bad = |problem: String| (StatusCode::BAD_REQUEST, format!("found no query: {problem}\n"));
        let body = timeout(QUERY_TIMEOUT, Limited::new(request.into_body(), MAX_QUERY_SIZE).collect()).await;
        let late = |_| (StatusCode::REQUEST_TIMEOUT, format!("found no query within {} s\n", QUERY_TIMEOUT.as_secs()));
        let body = body.map_err(late)?.map_err(|error| bad(error.to_string()))?.to_bytes();
        let query: Query = postcard::from_bytes(&body).map_err(|error| bad(error.to_string()))?;
        let answer = self.service.answer(query, |catalogue, all| write(&found(catalogue, all))).await;
        let mut response = self.charged(answer)?;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        Ok(response)
    }

    /// Returns an answer that is charged until its last byte is sent, unless it is small. It is dropped for others if its client reads
    /// slowly.
    fn charged(&self, answer: Bytes) -> Result<Response<Body>, (StatusCode, String)> {
        if answer.len() <= UNCHARGED {
            return Ok(Response::new(Body::from(answer)));
        }
        let exhausted = |_| (StatusCode::SERVICE_UNAVAILABLE, "there is too little memory\n".to_owned());
        let reservation = Arc::new(self.budget.reserve(answer.len()).map_err(exhausted)?);
        let answer = Bytes::from_owner(Charged::new(answer, reservation.clone()));
        let mut response = Response::new(Body::from(answer));
        response.extensions_mut().insert(reservation);
        Ok(response)
    }
}
