//! A server on several threads with sockets of their own.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use castile_http::Body;
use castile_http::server::{Routes, Server, Shutdown, share_port};
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

/// Answers with the name of its thread: `/` at once, and `/held` as soon as the semaphore allows it. `/blocked` blocks the thread.
#[derive(Clone)]
struct Who {
    held: Arc<Semaphore>,
    /// How many requests to `/held` and `/blocked` have arrived.
    arrived: Arc<AtomicUsize>,
}

impl tower_service::Service<Request<Body>> for Who {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Who { held, arrived } = self.clone();
        Box::pin(async move {
            match request.uri().path() {
                "/held" => {
                    arrived.fetch_add(1, SeqCst);
                    held.acquire().await.unwrap().forget();
                }
                "/blocked" => {
                    arrived.fetch_add(1, SeqCst);
                    std::thread::sleep(Duration::from_secs(30));
                }
                _ => {}
            }
            Ok(Response::new(Body::from(std::thread::current().name().unwrap_or_default().to_owned())))
        })
    }
}

struct Running {
    address: SocketAddr,
    held: Arc<Semaphore>,
    arrived: Arc<AtomicUsize>,
    /// How many services were made.
    made: Arc<AtomicUsize>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<Shutdown>>,
}

fn serve(server: Server, threads: usize) -> Running {
    serve_from(server, threads, Ok, usize::MAX)
}

/// Serves with services of which the one with the number `fails` panics when it is made.
fn serve_from(
    server: Server,
    threads: usize,
    listener: fn(TcpListener) -> io::Result<TcpListener>,
    fails: usize,
) -> Running {
    let sockets = share_port(([127, 0, 0, 1], 0).into(), threads).unwrap();
    let address = sockets[0].local_addr().unwrap();
    assert!(sockets.iter().all(|socket| socket.local_addr().unwrap() == address));
    let (held, arrived) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let made = Arc::new(AtomicUsize::new(0));
    let (stop, stopped) = oneshot::channel();
    let service = {
        let (held, arrived, made) = (held.clone(), arrived.clone(), made.clone());
        move || {
            assert_ne!(made.fetch_add(1, SeqCst), fails, "the service that fails");
            let who = Who { held: held.clone(), arrived: arrived.clone() };
            let routes = Routes::new().route_service("/", who.clone()).route_service("/held", who.clone());
            routes.route_service("/blocked", who)
        }
    };
    let stopped = async {
        let _ = stopped.await;
    };
    let server = tokio::spawn(server.serve_on_threads(sockets, listener, service, stopped));
    Running { address, held, arrived, made, stop, server }
}

impl Running {
    async fn request(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: castile\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }
}

impl Running {
    /// Waits until as many requests have arrived that are not answered at once.
    async fn wait_for(&self, arrived: usize) {
        while self.arrived.load(SeqCst) < arrived {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn body(answer: &str) -> &str {
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1
}

#[tokio::test]
async fn each_thread_serves_its_connections_with_a_service_of_its_own() {
    let running = serve(Server::new(), 3);
    let mut threads = BTreeSet::new();
    for _ in 0..60 {
        threads.insert(body(&answer(running.request("/").await).await).to_owned());
    }
    // The system spreads them by their ports.
    assert!(threads.len() > 1, "{threads:?}");
    assert!(threads.iter().all(|name| ["castile-0", "castile-1", "castile-2"].contains(&name.as_str())), "{threads:?}");
    assert_eq!(running.made.load(SeqCst), 3);
    running.stop.send(()).unwrap();
    assert!(running.server.await.unwrap().unwrap().is_complete());
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn threads_share_limits_and_finish_requests_at_work() {
    let running = serve(Server::new().max_requests_in_flight(1).max_requests_queued(0), 3);
    let held = running.request("/held").await;
    running.wait_for(1).await;
    for _ in 0..30 {
        let answer = answer(running.request("/").await).await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "a second request is at work: {answer}");
    }
    running.stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    running.held.add_permits(1);
    assert!(body(&answer(held).await).starts_with("castile-"));
    assert!(running.server.await.unwrap().unwrap().is_complete());
}

#[tokio::test]
async fn the_grace_time_is_that_of_all_threads() {
    let running = serve(Server::new().shutdown_grace(Duration::from_millis(100)), 2);
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(running.request("/held").await);
    }
    running.wait_for(8).await;
    running.stop.send(()).unwrap();
    let shutdown = running.server.await.unwrap().unwrap();
    assert_eq!((shutdown.cut_off.len(), shutdown.stuck), (8, 0));
    for stream in held {
        assert_eq!(answer(stream).await, "");
    }
}

/// Regression: the server waited for such a thread without a limit, and later for the grace time twice.
#[tokio::test]
async fn a_handler_that_blocks_its_thread_does_not_prevent_the_end() {
    let running = serve(Server::new().shutdown_grace(Duration::from_secs(6)), 2);
    let _blocked = running.request("/blocked").await;
    running.wait_for(1).await;
    let begun = Instant::now();
    running.stop.send(()).unwrap();
    let shutdown = running.server.await.unwrap().unwrap();
    // It takes 8 s, with the grace time twice 14 s, and the handler 30 s.
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    assert!(!shutdown.is_complete());
}

#[tokio::test]
async fn a_thread_that_panics_ends_the_server() {
    let running = serve_from(Server::new(), 3, Ok, 1);
    let error = running.server.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "a thread of the server has panicked");
    is_closed(running.address).await;
}

#[tokio::test]
async fn a_thread_that_can_t_start_ends_the_server() {
    static LISTENERS: AtomicUsize = AtomicUsize::new(0);
    let listener = |socket| match LISTENERS.fetch_add(1, SeqCst) {
        1 => Err(io::Error::other("no listener")),
        _ => Ok(socket),
    };
    let running = serve_from(Server::new(), 3, listener, usize::MAX);
    assert_eq!(running.server.await.unwrap().unwrap_err().to_string(), "no listener");
    is_closed(running.address).await;
}

#[tokio::test]
async fn a_server_that_is_dropped_drops_its_connections() {
    let running = serve(Server::new(), 2);
    let mut held = running.request("/held").await;
    running.wait_for(1).await;
    running.server.abort();
    assert_eq!(held.read_to_end(&mut Vec::new()).await.unwrap_or_default(), 0);
    is_closed(running.address).await;
}

/// Waits until the threads have ended.
async fn is_closed(address: SocketAddr) {
    for _ in 0..500 {
        if TcpStream::connect(address).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server still listens");
}

/// It once ended at once, as if it had been asked to.
#[tokio::test]
async fn a_server_without_sockets_is_an_error() {
    let server = Server::new().serve_on_threads(Vec::new(), Ok, Routes::new, std::future::pending());
    let error = tokio::time::timeout(Duration::from_secs(60), server).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "found no socket, expected one for each thread");
}
