//! A server that does what the test wants, request by request.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use castile_load::{Case, Check, Endpoint, Expected, Message, Outcome, Plan, Requests, Run, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Barrier;

/// What the server does with one request.
pub(crate) enum Act {
    /// Writes these bytes.
    Say(String),
    /// Writes these bytes later.
    SayAfter(Duration, String),
    /// Writes these bytes when as many requests wait as the barrier is for.
    SayTogether(Arc<Barrier>, String),
    /// Writes these bytes and closes the connection.
    SayAndClose(String),
    /// Never answers.
    Stall,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
}

impl Server {
    /// Starts a server; `act` gets the number of requests that came before.
    pub(crate) fn start(act: impl Fn(u64) -> Act + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server =
            Server { address: listener.local_addr().unwrap(), connections: Arc::default(), requests: Arc::default() };
        let (connections, requests) = (server.connections.clone(), server.requests.clone());
        let act = Arc::new(act);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    connections.fetch_add(1, Ordering::SeqCst);
                    tokio::spawn(serve(stream, act.clone(), requests.clone()));
                }
            });
        });
        server
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/service", self.address)
    }

    /// Returns the server as a foreign target, named by its URL.
    pub(crate) fn target(&self) -> Target {
        Target::external(self.url(), Endpoint::resolve(&self.url()).unwrap())
    }

    /// Drives the server with a request that expects `pong`.
    pub(crate) async fn drive(&self, plan: &Plan) -> Outcome {
        let endpoint = Endpoint::resolve(&self.url()).unwrap();
        let case = case();
        Run::start(&case, &endpoint, plan, &Expected::of(&case)).unwrap().finish().await.unwrap()
    }
}

/// A socket that refuses connections: it has a port, so that no other test gets it, and doesn't listen.
pub(crate) fn refusing() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    socket
}

/// Returns a case that sends `ping` and accepts only `pong`.
pub(crate) fn case() -> Case {
    case_checked_by(Arc::new(|body| match body {
        b"pong" => Ok(0),
        other => Err(format!("found {:?}, expected \"pong\"", String::from_utf8_lossy(other))),
    }))
}

pub(crate) fn case_checked_by(check: Check) -> Case {
    let ping =
        Message { action: "ping".into(), content_type: "text/xml; charset=utf-8".into(), body: "ping".into(), check };
    Case {
        suite: "tests".into(),
        name: "ping".into(),
        style: None,
        path: "/service".into(),
        requests: Requests::Raw(vec![ping]),
    }
}

pub(crate) fn response(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn pong() -> Act {
    Act::Say(response("pong"))
}

async fn serve(mut stream: TcpStream, act: Arc<impl Fn(u64) -> Act>, requests: Arc<AtomicU64>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let close = read_request(&mut stream).await?;
        match act(requests.fetch_add(1, Ordering::SeqCst)) {
            Act::Say(text) => stream.write_all(text.as_bytes()).await.ok()?,
            Act::SayAfter(time, text) => {
                tokio::time::sleep(time).await;
                stream.write_all(text.as_bytes()).await.ok()?;
            }
            Act::SayTogether(barrier, text) => {
                barrier.wait().await;
                stream.write_all(text.as_bytes()).await.ok()?;
            }
            Act::SayAndClose(text) => {
                stream.write_all(text.as_bytes()).await.ok()?;
                return None;
            }
            Act::Stall => std::future::pending().await,
        }
        if close {
            return None;
        }
    }
}

/// Checks the request and returns whether it is the last of its connection.
async fn read_request(stream: &mut TcpStream) -> Option<bool> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\nping") {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let request = String::from_utf8(request).unwrap();
    assert!(request.starts_with("POST /service HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
    assert!(request.contains("\r\nSOAPAction: \"ping\"\r\nContent-Length: 4\r\n"), "{request}");
    Some(request.contains("\r\nConnection: close\r\n"))
}
