//! What observers are notified of.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::middleware::{Next, from_fn};
use bytes::Bytes;
use castile_http::server::{AccessLog, Exchange, Observer, ObserverLayer, Outcome, Server, Status};
use castile_soap::{Layer, Step};
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use support::{Host, echo, echo_with, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

/// Collects a line for each exchange.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    async fn lines(&self, expected: usize) -> Vec<String> {
        for _ in 0..1_000 {
            if self.0.lock().unwrap().len() >= expected {
                break;
            }
            tokio::task::yield_now().await;
        }
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Told {
    fn observe(&self, exchange: &Exchange<'_>) {
        let peer = exchange.peer().map_or("-".to_owned(), |peer| peer.to_string());
        let status = exchange.status().map_or(0, |status| status.as_u16());
        let service = exchange.service().map_or("-", |service| service.name);
        let steps = Step::ALL.into_iter().filter(|step| exchange.duration(*step).is_some());
        let steps: Vec<_> = steps.map(Step::name).collect();
        self.0.lock().unwrap().push(format!(
            "{} {} {peer} {service} {} {status} {:?} {} {} {}",
            exchange.method(),
            exchange.path(),
            exchange.outcome().name(),
            exchange.fault(),
            exchange.request_size(),
            // The size of a plain text may change.
            if exchange.outcome() == Outcome::Refused {
                exchange.response_size().min(1)
            } else {
                exchange.response_size()
            },
            steps.join(","),
        ));
        assert!(exchange.elapsed() >= exchange.write().unwrap_or_default());
    }
}

#[tokio::test(start_paused = true)]
async fn each_exchange_is_reported_once() {
    let told = Told::default();
    let host = Host::start(Server::new().observer(told.clone()), echo());
    let mut client = host.connect_from([192, 0, 2, 7]);
    client.post("", "<a/>").await;
    client.response().await;
    client.post("soapaction: \"sender's fault\"\r\n", "<a/>").await;
    client.response().await;
    client
        .send("POST /x?secret-password HTTP/1.1\r\nhost: h\r\ncontent-type: text/plain\r\ncontent-length: 0\r\n\r\n")
        .await;
    client.response().await;
    client.send("HEAD /x?wsdl HTTP/1.1\r\nhost: h\r\n\r\n").await;
    client.send("POST / HTTP/1.1\r\nhost: a\r\nhost: b\r\ncontent-length: 0\r\n\r\n").await;
    client.rest().await;
    assert_eq!(
        told.lines(5).await,
        [
            "POST / 192.0.2.7 Echo ok 200 None 4 4 read,queue",
            "POST / 192.0.2.7 Echo fault 500 Some(Sender) 4 4 read,queue",
            "POST /x 192.0.2.7 Echo refused 415 None 0 1 ",
            "HEAD /x 192.0.2.7 Echo ok 200 None 0 0 ",
            "POST / 192.0.2.7 - refused 400 None 0 1 ",
        ]
    );
}

/// Regression: behind a router, which calls its endpoints only when the answer is polled, an observer got no details.
#[tokio::test]
async fn operations_behind_a_router_are_reported() {
    let (told, of_layer) = (Told::default(), Told::default());
    let layer = from_fn(|request: axum::extract::Request, next: Next| async {
        tokio::task::yield_now().await;
        next.run(request).await
    });
    let inner = ObserverLayer::new(of_layer.clone()).layer(echo());
    let router = Router::new().route_service("/echo", echo()).route_service("/layered", inner);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let server = Server::new().observer(told.clone());
    tokio::spawn(server.serve(listener, router.layer(layer), std::future::pending()));
    for path in ["/echo", "/layered", "/echo", "/nowhere"] {
        let head = format!("POST {path} HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 4\r\n\r\n");
        client.write_all(format!("{head}<a/>").as_bytes()).await.unwrap();
        client.read_buf(&mut Vec::with_capacity(4_096)).await.unwrap();
    }
    let echoed = "POST /echo 127.0.0.1 Echo ok 200 None 4 4 read,queue";
    let others = ["POST /layered 127.0.0.1 - ok 200 None 0 4 ", "POST /nowhere 127.0.0.1 - refused 404 None 0 0 "];
    assert_eq!(told.lines(4).await, [echoed, others[0], echoed, others[1]]);
    // The innermost observer gets them.
    assert_eq!(of_layer.lines(1).await, ["POST /layered - Echo ok 200 None 4 4 read,queue"]);
}

#[tokio::test(start_paused = true)]
async fn exchanges_without_an_end_are_reported() {
    let told = Told::default();
    let host = Host::start(Server::new().observer(told.clone()), echo());
    // This client never sends the rest of its body.
    let mut silent = host.connect();
    silent.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 9\r\n\r\n<a").await;
    silent.rest().await;
    assert_eq!(told.lines(1).await, ["POST / - Echo refused 408 None 0 1 "]);
    // This client disconnects while the answer is sent.
    let mut gone = host.connect();
    gone.post("soapaction: \"stream 9\"\r\n", "<a/>").await;
    gone.read(20).await;
    drop(gone);
    tokio::time::sleep(Duration::from_secs(100)).await;
    let lines = told.lines(1).await;
    assert!(lines[0].starts_with("POST / - Echo broken 200 None 4 "), "{lines:?}");
}

/// Answers with a stream whose length is only in the head.
#[derive(Clone)]
struct Streams;

impl<Q> Service<Request<Q>> for Streams {
    type Response = Response<Pieces>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Q>) -> Self::Future {
        let pieces = ["pie", "ces"].map(|piece| Ok(Frame::data(Bytes::from(piece))));
        let body = StreamBody::new(stream::iter(Vec::from(pieces)));
        ready(Ok(Response::builder().header("content-length", "6").body(body).unwrap()))
    }
}

type Pieces = StreamBody<stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

/// Regression: the answer was reported as broken, because hyper doesn't poll the end of a body with a known length.
#[tokio::test]
async fn a_stream_of_a_known_length_ends_with_its_last_byte() {
    let told = Told::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let service = ObserverLayer::new(told.clone()).layer(Streams);
    tokio::spawn(Server::new().observer(told.clone()).serve(listener, service, std::future::pending()));
    client.write_all(b"GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("\r\n\r\npieces"), "{answer}");
    let lines = told.lines(2).await;
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(" ok 200 None 0 6 ")), "{lines:?}");
}

/// Answers with a body that fails and is then at its end.
#[derive(Clone)]
struct Fails;

impl<Q> Service<Request<Q>> for Fails {
    type Response = Response<Failing>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Q>) -> Self::Future {
        ready(Ok(Response::new(Failing(2))))
    }
}

/// The number of remaining frames.
struct Failing(u8);

impl http_body::Body for Failing {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0 = self.0.saturating_sub(1);
        Poll::Ready(Some(match self.0 {
            0 => Err(std::io::Error::other("the database is gone")),
            _ => Ok(Frame::data(Bytes::from("piece"))),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 0
    }
}

/// Regression: it was reported as answered.
#[tokio::test]
async fn an_answer_that_fails_is_broken() {
    let told = Told::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let service = ObserverLayer::new(told.clone()).layer(Fails);
    tokio::spawn(Server::new().observer(told.clone()).serve(listener, service, std::future::pending()));
    client.write_all(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer).await;
    let lines = told.lines(2).await;
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(" broken 200 None 0 5 ")), "{lines:?}");
}

struct Panics;

impl Observer for Panics {
    fn observe(&self, _: &Exchange<'_>) {
        panic!("an observer's own affair");
    }

    fn serving(&self, _: &Status) {
        panic!("an observer's own affair");
    }
}

/// Regression: a server did not serve if an observer panicked at its start.
#[tokio::test]
async fn panics_of_observers_do_not_affect_requests() {
    let told = Told::default();
    let host = Host::start(Server::new().observer(Panics).observer(told.clone()), echo());
    let mut client = host.connect();
    for _ in 0..2 {
        client.post("", "<a/>").await;
        assert_eq!(client.response().await.1, "<a/>");
    }
    assert_eq!(told.lines(2).await.len(), 2);
}

#[tokio::test]
async fn a_layer_observes_another_service() {
    let told = Told::default();
    let mut service = ObserverLayer::new(told.clone()).layer(echo_with(|options| options.gzip_above = Some(1)));
    let response = service.call(post("<a/>")).await.unwrap();
    assert!(told.lines(0).await.is_empty(), "its body is not sent yet");
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "<a/>");
    assert_eq!(told.lines(1).await, ["POST /echo - Echo ok 200 None 4 4 read,queue"]);
    drop(service.call(Request::get("/").body(Full::from("")).unwrap()).await.unwrap());
    assert_eq!(told.lines(1).await, ["GET / - Echo broken 405 None 0 0 "]);
}

/// Collects the status of servers.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Status>>>);

impl Observer for Kept {
    fn observe(&self, _: &Exchange<'_>) {}

    fn serving(&self, status: &Status) {
        self.0.lock().unwrap().push(status.clone());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_reports_its_state() {
    let kept = Kept::default();
    let mut host = Host::start(Server::new().max_requests_in_flight(1).observer(kept.clone()), echo());
    let mut clients = [host.connect(), host.connect(), host.connect()];
    for client in &mut clients[1..] {
        client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let status = kept.0.lock().unwrap()[0].clone();
    let load = status.load().unwrap();
    assert_eq!((load.connections, load.requests_at_work, load.requests_queued), (3, 1, 1));
    assert!(load.memory_used < load.memory_limit, "{load:?}");
    drop(clients);
    host.stop();
    assert!(host.server.await.unwrap().is_complete());
    assert_eq!((status.load(), kept.0.lock().unwrap().len()), (None, 1));
}

/// Regression: the connections that a search had found, all but the one that it dropped, kept the server from being freed.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_full_ends_as_well() {
    let kept = Kept::default();
    let mut host = Host::start(Server::new().max_connections(3).observer(kept.clone()), echo());
    let idle: Vec<_> = (0..3).map(|_| host.connect()).collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut client = host.connect();
    client.post("", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
    drop((idle, client));
    host.stop();
    assert!(host.server.await.unwrap().is_complete());
    assert_eq!(kept.0.lock().unwrap()[0].load(), None);
}

/// A writer that collects the log for the test.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn an_access_log_has_a_line_for_each() {
    let [text, json] = [Written::default(), Written::default()];
    let server = Server::new().observer(AccessLog::text(text.clone()).unwrap());
    let mut host = Host::start(server.observer(AccessLog::json(json.clone()).unwrap()), echo());
    let mut client = host.connect_from([192, 0, 2, 7]);
    client.post("", "<a/>").await;
    client.response().await;
    client.send("GET /a%22b\"\x7f?password=secret-password HTTP/1.1\r\nhost: h\r\n\r\n").await;
    client.next_response().await;
    client.send("GET /a%22b\"?password=secret-password HTTP/1.1\r\nhost: h\r\n\r\n").await;
    client.next_response().await;
    // The connection was closed after an invalid target.
    drop(client);
    let (mut client, long) = (host.connect_from([192, 0, 2, 8]), "X".repeat(20_000));
    client.send(format!("{long} /{long} HTTP/1.1\r\nhost: h\r\n\r\n")).await;
    client.next_response().await;
    drop(client);
    host.stop();
    assert!(host.server.await.unwrap().is_complete());
    let written = |log: Written| String::from_utf8(std::mem::take(&mut *log.0.lock().unwrap())).unwrap();
    let (text, json) = (written(text), written(json));
    let lines: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert!(lines[0].starts_with("192.0.2.7 POST / 200 Echo ok 4 B in 4 B out "), "{text}");
    assert!(lines[0].ends_with(" ms"), "{text}");
    assert!(!text.contains("secret-password") && !json.contains("secret-password"), "{text}{json}");
    let fields = "\"peer\":\"192.0.2.7\",\"method\":\"POST\",\"path\":\"/\",\"service\":\"Echo\",\"outcome\":\"ok\",\
                  \"status\":200,\"request_bytes\":4,\"response_bytes\":4,\"elapsed_s\":";
    assert!(json.lines().next().unwrap().contains(fields), "{json}");
    assert_eq!(lines.len(), json.lines().count(), "{text}{json}");
    // However much a client sends, the log contains little of it.
    assert!(lines.last().unwrap().contains(" XXXX"), "{text}");
    assert!(text.lines().chain(json.lines()).all(|line| line.len() < 1_000), "{text}{json}");
}
