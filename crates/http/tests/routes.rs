//! Services next to the endpoints of a server.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use castile_http::server::{Routes, Server};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use support::{ask, echo, peers, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Answers with the request, in a body of another type.
#[derive(Clone)]
struct Said(&'static str);

impl tower_service::Service<Request<castile_http::Body>> for Said {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<castile_http::Body>) -> Self::Future {
        let said = format!("{} {} {}", self.0, request.method(), request.uri().path());
        ready(Ok(Response::new(Full::from(said))))
    }
}

fn request(method: &str, path: &str) -> Request<Full<Bytes>> {
    Request::builder().method(method).uri(path).body(Full::from("<a/>")).unwrap()
}

#[tokio::test]
async fn other_services_can_be_routed_next_to_endpoints() {
    let page = |_: &http::request::Parts| Response::new("page".to_owned().into());
    let routes = Routes::new()
        .route("/echo", echo())
        .route_service("/echo", Said("never"))
        .route_service("/metrics", Said("metrics"))
        .route_service("/metrics", Said("second"))
        .page(page);
    let said = async |routes: &Routes, method: &str, path: &str| {
        let response = ask(routes, request(method, path)).await;
        (response.status().as_u16(), response.into_body())
    };
    assert_eq!(said(&routes, "GET", "/metrics").await, (200, "metrics GET /metrics".into()));
    assert_eq!(said(&routes, "POST", "/metrics").await, (200, "metrics POST /metrics".into()));
    assert_eq!(said(&routes, "POST", "/echo").await.0, 415);
    assert_eq!(said(&routes, "GET", "/").await, (200, "page".into()));
    assert_eq!(said(&routes, "GET", "/metrics/").await, (404, "no service at /metrics/\n".into()));
    let routes = routes.fallback_service(Said("fallback"));
    assert_eq!(said(&routes, "PUT", "/x").await, (200, "fallback PUT /x".into()));
    assert_eq!(said(&routes, "GET", "/").await, (200, "page".into()));
    assert_eq!(said(&routes, "POST", "/").await, (200, "fallback POST /".into()));
}

#[tokio::test]
async fn probes_tell_whether_a_server_is_there_and_ready() {
    let is_ready = Arc::new(AtomicBool::new(false));
    let asked = is_ready.clone();
    let routes = Routes::new().health("/health").ready("/ready", move || asked.load(Ordering::Relaxed));
    let status = async |method: &str, path: &str| ask(&routes, request(method, path)).await.status();
    assert_eq!(status("GET", "/health").await, StatusCode::OK);
    assert_eq!(status("HEAD", "/health").await, StatusCode::OK);
    assert_eq!(status("POST", "/health").await, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(status("GET", "/ready").await, StatusCode::SERVICE_UNAVAILABLE);
    is_ready.store(true, Ordering::Relaxed);
    let response = ask(&routes, request("GET", "/ready")).await;
    assert_eq!((response.status(), response.body().as_str()), (StatusCode::OK, "ok\n"));
    assert_eq!(response.headers()["cache-control"], "no-store");
}

/// An open connection still gets an answer; new ones are refused.
#[tokio::test]
async fn a_server_that_stops_is_not_ready() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let routes = Routes::new().health("/health").ready("/ready", || true);
    let server = tokio::spawn(Server::new().serve(listener, routes, async { stopped.await.unwrap_or_default() }));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /ready HTTP/1.1\r\nHost: h\r\n\r\n").await.unwrap();
    assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200 OK"));
    // A request is on its way when the server is asked to stop.
    stream.write_all(b"GET /ready HTTP/1.1\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(b"Host: h\r\n\r\n").await.unwrap();
    let answer = answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("not ready\n"), "{answer}");
    assert!(server.await.unwrap().is_complete());
}

/// Regression: probes were rejected, and a restart made it worse.
#[tokio::test]
async fn probes_are_answered_while_all_slots_are_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Routes::new().route("/echo", echo()).route_service("/said", Said("said"));
    let routes = routes.health("/health").ready("/ready", || true);
    let server = Server::new().max_requests_in_flight(1).max_requests_queued(0);
    tokio::spawn(server.serve(listener, routes, std::future::pending()));
    let ask = async |request: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = request.replacen('\n', "\r\n", 9);
        stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
        stream
    };
    let mut busy =
        ask("POST /echo HTTP/1.1\nHost: h\nContent-Type: text/xml\nSOAPAction: hang\nContent-Length: 4").await;
    busy.write_all(b"<a/>").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    for (request, expected) in [
        ("GET /health HTTP/1.1\nHost: h", "200 OK\r\n"),
        ("HEAD /ready HTTP/1.1\nHost: h", "200 OK\r\n"),
        ("POST /health HTTP/1.1\nHost: h\nContent-Length: 9", "405 Method Not Allowed\r\n"),
        ("GET /said HTTP/1.1\nHost: h", "503 Service Unavailable\r\n"),
        ("GET /nothing HTTP/1.1\nHost: h", "503 Service Unavailable\r\n"),
        // The message is not waited for.
        ("POST /echo HTTP/1.1\nHost: h\nContent-Length: 9", "503 Service Unavailable\r\n"),
        ("POST /said HTTP/1.1\nHost: h\nContent-Length: 9", "503 Service Unavailable\r\n"),
    ] {
        let (mut stream, mut answer) = (ask(request).await, Vec::new());
        while !answer.ends_with(b"\r\n\r\n") && !answer.ends_with(b"\n") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "{request}");
        }
        let answer = String::from_utf8(answer).unwrap();
        let closes = request.starts_with("POST");
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{request}: {answer}");
        assert_eq!(answer.contains("\r\nconnection: close\r\n"), closes, "{request}: {answer}");
    }
}

/// Regression: its ticket, and so its client, was used for the next request on the thread.
#[tokio::test]
async fn a_request_to_a_panicking_service_goes_to_no_other() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Server::new().serve(listener, Panics, std::future::pending()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(ask(&peers(), post("<a/>")).await.body(), "nobody.");
}

/// A service that panics.
#[derive(Clone)]
struct Panics;

impl<B> tower_service::Service<Request<B>> for Panics {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        panic!("a service's own affair")
    }
}

async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok\n") && !answer.ends_with(b"ready\n") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "{}", String::from_utf8_lossy(&answer));
    }
    String::from_utf8(answer).unwrap()
}
