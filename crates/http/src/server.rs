//! The server side: SOAP services as HTTP services, and an HTTP/1 server to run them.

mod activity;
mod address;
mod admission;
mod connection;
mod endpoint;
mod listener;
mod refusal;
mod routes;
mod stop;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use self::admission::Admission;
use self::connection::{Shared, Timeouts};
use self::stop::{Order, Stop};
use crate::BoxError;

pub use self::address::Address;
pub use self::endpoint::{Endpoint, Options};
pub use self::listener::{Connection, Listener};
pub use self::routes::Routes;

/// An HTTP/1.0 and HTTP/1.1 server for one tower service, bounded in time and number.
///
/// Connections are tasks on the runtime that [`serve`](Self::serve) is polled on: with a current-thread runtime the
/// whole server is one thread.
#[derive(Clone, Debug)]
pub struct Server {
    timeouts: Timeouts,
    max_connections: usize,
    max_requests_in_flight: usize,
    shutdown_grace: Duration,
}

impl Default for Server {
    fn default() -> Self {
        Server::new()
    }
}

impl Server {
    /// A server with the default limits.
    pub fn new() -> Self {
        Server {
            timeouts: Timeouts {
                header_read: Duration::from_secs(10),
                write: Duration::from_secs(30),
                keep_alive: Duration::from_secs(60),
            },
            max_connections: 10_000,
            max_requests_in_flight: 1_024,
            shutdown_grace: Duration::from_secs(10),
        }
    }

    /// How long a client may take from connecting to its first byte, and from the first byte of a head to its end.
    /// 10 s by default. How long a body may take is the endpoint's to say ([`Options::body_read_timeout`]).
    pub fn header_read_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.header_read = limit;
        self
    }

    /// How long a client may leave a response unread before the connection is dropped. 30 s by default.
    pub fn write_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.write = limit;
        self
    }

    /// How long a connection may wait for its next request. 60 s by default; kept to a quarter of itself or 1 s,
    /// whichever is less.
    pub fn keep_alive_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.keep_alive = limit;
        self
    }

    /// The most connections at once, at least 1. 10,000 by default. Further ones wait in the listener's backlog.
    pub fn max_connections(mut self, max: usize) -> Self {
        self.max_connections = max.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        self
    }

    /// The most requests at work at once, over all connections. 1,024 by default. Further ones are answered 503 with
    /// Retry-After as soon as their head is read.
    ///
    /// A request is at work from its head on, so this number times [`Limits::message_size`](castile_xml::Limits) is the
    /// most memory that bodies can take together: lower one of them where memory is short.
    pub fn max_requests_in_flight(mut self, max: usize) -> Self {
        self.max_requests_in_flight = max;
        self
    }

    /// How long requests at work are waited for at shutdown. 10 s by default.
    pub fn shutdown_grace(mut self, limit: Duration) -> Self {
        self.shutdown_grace = limit;
        self
    }

    /// Serves until `shutdown` is done, then closes the listener and the idle connections, lets requests at work
    /// finish, and returns. What isn't finished after the grace is dropped; so is everything when this future is.
    ///
    /// A client that closes its writing half is still answered (RFC 9112 §9.6), so a handler is not stopped because its
    /// client has gone; [`Options::request_timeout`] bounds it.
    pub async fn serve<L, S, B>(self, mut listener: L, service: S, shutdown: impl Future<Output = ()>)
    where
        L: Listener,
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let max_connections = self.max_connections;
        let grace = self.shutdown_grace;
        let running =
            Running { shared: Arc::new(self.into_shared()), slots: Arc::new(Semaphore::new(max_connections)) };
        let mut shutdown = pin!(shutdown);
        while let Some(slot) = until(shutdown.as_mut(), running.slots.clone().acquire_owned()).await {
            let Some(stream) = until(shutdown.as_mut(), accept(&mut listener)).await else {
                break;
            };
            let connection = connection::serve(stream, service.clone(), running.shared.clone());
            tokio::spawn(async move {
                connection.await;
                drop(slot);
            });
        }
        drop(listener);
        running.shared.stop.give(Order::Finish);
        let all = u32::try_from(max_connections).unwrap_or(u32::MAX);
        // Late or not, dropping `running` closes what is left.
        let _ = timeout(grace, running.slots.acquire_many(all)).await;
    }

    fn into_shared(self) -> Shared {
        let mut http = http1::Builder::new();
        // Heads are timed by `connection::Clock`: hyper would set a timer for each.
        http.header_read_timeout(None);
        http.half_close(true);
        // Not `pipeline_flush`: it holds an answer back while part of the next head is there, and that part may wait for
        // the answer.
        Shared {
            http,
            timeouts: self.timeouts,
            admission: Arc::new(Admission::new(self.max_requests_in_flight)),
            stop: Stop::default(),
        }
    }
}

/// Done when the process is asked to end: SIGTERM (where there is one) or Ctrl-C.
///
/// Where a signal can't be listened for, that signal keeps its usual effect.
pub async fn shutdown_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}

/// The connections of a server. They end when this is dropped.
struct Running {
    shared: Arc<Shared>,
    slots: Arc<Semaphore>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stop.give(Order::Close);
    }
}

/// Accepts the next connection, however long that takes.
///
/// A client that was gone before it was accepted is no reason to wait; being out of descriptors or memory is, until
/// other connections have closed.
async fn accept<L: Listener>(listener: &mut L) -> L::Connection {
    let mut pause = Duration::from_millis(5);
    loop {
        match poll_fn(|cx| listener.poll_accept(cx)).await {
            Ok(connection) => return connection,
            Err(error) if is_of_one_client(&error) => {}
            Err(_) => {
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Drives `future`, unless `shutdown` is done first.
async fn until<F: Future>(mut shutdown: std::pin::Pin<&mut impl Future<Output = ()>>, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if shutdown.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(cx).map(Some)
    })
    .await
}
