//! The server side: SOAP services as HTTP services, and an HTTP/1 server to run them.

mod activity;
mod address;
mod admission;
mod authentication;
mod connection;
mod connections;
mod endpoint;
mod exchange;
mod head;
mod holdings;
mod listener;
mod network;
mod observer;
#[cfg(feature = "page")]
mod page;
mod proxies;
mod proxy_protocol;
mod receiving;
mod refusal;
mod routes;
mod shutdown;
mod slots;
mod stop;
#[cfg(feature = "tls")]
mod tls;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use castile_budget::{Budget, machine};
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::unconstrained;
use tokio::time::{sleep, timeout};

use self::admission::Admission;
use self::connection::{Shared, Timeouts};
use self::connections::{Connections, Limits};
use self::observer::Observers;
use self::shutdown::CutOffs;
use self::slots::Slots;
use self::stop::{Order, Stop};
use crate::BoxError;

pub use self::address::{Address, ProxyHeader};
pub use self::authentication::{Authenticated, Authentication};
pub use self::endpoint::{Endpoint, Options};
pub use self::listener::{Connection, Listener, TlsPeer};
#[cfg(feature = "metrics")]
pub use self::observer::Metrics;
pub use self::observer::{
    AccessLog, Exchange, HandshakeFailure, Load, Observed, ObservedBody, ObservedFuture, Observer, ObserverLayer,
    Outcome, Status,
};
#[cfg(feature = "tracing")]
pub use self::observer::{Events, Spanned, Spans};
pub use self::proxies::Proxies;
pub use self::proxy_protocol::{ProxiedStream, ProxyProtocol};
pub use self::routes::{ClientAddress, Routes};
pub use self::shutdown::{CutOff, Shutdown};
#[cfg(feature = "tls")]
pub use self::tls::{ClientCertificates, ClientRoots, Tls, TlsListener, TlsOptions, TlsStream};

/// The most bytes of a head, as well as of the trailers of a body. More is answered 431.
const MAX_HEAD: usize = 64 << 10;

/// The most bytes that a connection reads ahead: a head, and what comes with it. Each connection keeps as much memory while it is
/// busy, beside the budget; hyper's own limit is five times that.
const MAX_BUFFER: usize = MAX_HEAD + (16 << 10);

/// How many connections are accepted after the order to stop, if they wait already. It is more than systems let wait.
const BACKLOG: usize = 4_096;

/// How long connections are waited for after the order to close.
const CLOSING: Duration = Duration::from_secs(1);

/// An HTTP/1.0 and HTTP/1.1 server for one tower service, bounded in time and number.
///
/// Connections are tasks on the runtime that [`serve`](Self::serve) is polled on: with a current-thread runtime the
/// whole server is one thread.
#[derive(Clone, Debug)]
pub struct Server {
    timeouts: Timeouts,
    max_connections: usize,
    max_requests_in_flight: usize,
    max_requests_queued: usize,
    queue_timeout: Duration,
    receiving: Limits,
    budget: Budget,
    disk_budget: Budget,
    shutdown_grace: Duration,
    observers: Observers,
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
                write_rate: 100,
                keep_alive: Duration::from_secs(60),
            },
            max_connections: 10_000,
            max_requests_in_flight: 1_024,
            max_requests_queued: 1_024,
            queue_timeout: Duration::from_millis(100),
            receiving: Limits {
                requests: 4_096,
                bytes: 256 << 20,
                requests_per_peer: None,
                connections_per_peer: None,
                proxies: None,
            },
            budget: Budget::process(),
            disk_budget: castile_mime::disk(),
            shutdown_grace: Duration::from_secs(10),
            observers: Observers::default(),
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

    /// The rate at which a client must read a response, in bytes per second. It rises with time: from when the client is
    /// first waited for, one [`write_timeout`](Self::write_timeout) is free, and each further one adds this rate to
    /// what is required. 100 by default; 0 requires nothing.
    pub fn write_rate(mut self, rate: u32) -> Self {
        self.timeouts.write_rate = rate;
        self
    }

    /// How long a connection may wait for its next request. 60 s by default; kept to a quarter of itself or 1 s,
    /// whichever is less.
    pub fn keep_alive_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.keep_alive = limit;
        self
    }

    /// The most connections at once, at least 1. 10,000 by default, and never more than seven eighths of the descriptors that
    /// the process may have when it begins to serve (`ulimit -n`), nor than one for each 400 KiB of the memory that it may
    /// have ([`machine::memory`]), or 656 KiB over TLS. A further one takes the place of the one that has
    /// been idle, or sent or read most slowly; where all are at work it waits, and the next ones wait in the listener's
    /// backlog.
    pub fn max_connections(mut self, max: usize) -> Self {
        self.max_connections = max.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        self
    }

    /// The most connections at once from one address. A further one is closed. No limit by default: many clients can
    /// share the address of a proxy.
    pub fn max_connections_per_peer(mut self, max: usize) -> Self {
        self.receiving.connections_per_peer = Some(max);
        self
    }

    /// The most requests at work at once, over all connections. 1,024 by default.
    ///
    /// A request to an [`Endpoint`] is at work from when its message is complete, or the root part of its package, until
    /// its answer is there, but not while more of the package is waited for. Before, it is at work while its
    /// [login](Options::authentication) is checked. Any other service is at work from the
    /// head of a request on, but for [probes](Routes::health) and `Metrics`, which are answered however many there are.
    pub fn max_requests_in_flight(mut self, max: usize) -> Self {
        self.max_requests_in_flight = max;
        self
    }

    /// The most complete requests that wait until they may be [at work](Self::max_requests_in_flight). 1,024 by default.
    /// Further ones are answered 503 with Retry-After.
    pub fn max_requests_queued(mut self, max: usize) -> Self {
        self.max_requests_queued = max;
        self
    }

    /// How long a request may wait until it may be at work. 100 ms by default. Then it is answered 503 with Retry-After.
    pub fn queue_timeout(mut self, limit: Duration) -> Self {
        self.queue_timeout = limit;
        self
    }

    /// The most requests whose body is waited for at once. 4,096 by default. When there is one more, the slowest of them
    /// is answered 408 and its connection closed.
    pub fn max_requests_receiving(mut self, max: usize) -> Self {
        self.receiving.requests = max;
        self
    }

    /// The most requests from one address whose body is waited for at once. When there is one more, the slowest of those from that
    /// address is answered 408 and its connection closed. No limit by default: many clients can share the address of a proxy.
    pub fn max_requests_receiving_per_peer(mut self, max: usize) -> Self {
        self.receiving.requests_per_peer = Some(max);
        self
    }

    /// Proxies in front that say in a header whose requests they hand on. `Request::peer` is that client then, and
    /// [`max_requests_receiving_per_peer`](Self::max_requests_receiving_per_peer) counts by it. A connection of such a proxy is none of a
    /// client: [`max_connections_per_peer`](Self::max_connections_per_peer) doesn't limit it. None by default: anybody could say what they
    /// like. Where proxies hand on bytes, [`ProxyProtocol`] does the same for connections.
    ///
    /// ```
    /// use castile_http::server::{Proxies, Server};
    ///
    /// let server = Server::new().proxies(Proxies::x_forwarded_for(["10.0.0.0/24"])?);
    /// # Ok::<(), castile_http::Error>(())
    /// ```
    pub fn proxies(mut self, proxies: Proxies) -> Self {
        self.receiving.proxies = Some(proxies);
        self
    }

    /// How many bytes of incomplete messages are held at once, over all connections. 256 MiB by default, and never more than
    /// half of the [`budget`](Self::budget). A package counts up to its root part, by the most that was in memory of it
    /// at once. When there are more, the slowest of the requests that hold much is answered 408 and its connection closed.
    pub fn max_bytes_receiving(mut self, max: usize) -> Self {
        self.receiving.bytes = max;
        self
    }

    /// The memory that the requests to its [`Endpoint`]s share: messages that come, what is made of them, and answers that are
    /// not sent yet. [`Budget::process`] by default: half of what the machine or the container has. When it runs short, those
    /// who hold much of it and wait for their peer make way, the slowest first: requests that come slowly are answered 408,
    /// and connections whose answer is read slowly are closed. What still finds no room is answered 503 with Retry-After.
    ///
    /// Other services charge their answers themselves, by [`Charged`](castile_budget::Charged). Those that are charged to this budget make
    /// way as well, if their `Arc<Reservation>` is among the extensions of the response.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use bytes::Bytes;
    /// use castile_budget::{Budget, Charged, Exhausted};
    /// use castile_http::Body;
    /// use castile_http::server::Server;
    ///
    /// fn respond(budget: &Budget, answer: Vec<u8>) -> Result<http::Response<Body>, Exhausted> {
    ///     let reservation = Arc::new(budget.reserve(answer.len())?);
    ///     let answer = Bytes::from_owner(Charged::new(answer, reservation.clone()));
    ///     let mut response = http::Response::new(Body::from(answer));
    ///     response.extensions_mut().insert(reservation);
    ///     Ok(response)
    /// }
    ///
    /// let budget = Budget::new(64 << 20);
    /// let server = Server::new().budget(budget.clone());
    /// let response = respond(&budget, vec![b'x'; 48 << 20])?;
    /// assert_eq!(budget.used(), 48 << 20);
    /// // This one is answered 503.
    /// assert!(respond(&budget, vec![b'x'; 32 << 20]).is_err());
    ///
    /// // It was sent.
    /// drop(response);
    /// assert_eq!(budget.used(), 0);
    /// # Ok::<(), Exhausted>(())
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// The room on the disk that the parts of packages share that must wait, beside what waits in memory
    /// ([`castile_mime::Limits::memory`]). [1 GiB](castile_mime::DISK) for all of the process by default. What finds no room
    /// is answered 503 with Retry-After, and the slowest of those that hold much make way for the next one.
    pub fn disk_budget(mut self, budget: Budget) -> Self {
        self.disk_budget = budget;
        self
    }

    /// How long requests at work are waited for at shutdown. 10 s by default. [`Shutdown`] has those that were cut off.
    pub fn shutdown_grace(mut self, limit: Duration) -> Self {
        self.shutdown_grace = limit;
        self
    }

    /// Tells `observer` of each exchange. All that are added are told.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.add(Arc::new(observer));
        self
    }

    /// Serves until `shutdown` is done, then closes the listener, lets requests at work finish, and returns. What isn't
    /// finished after the grace is dropped, and reported; everything is dropped when this future is.
    ///
    /// From then on every answer says `Connection: close`. A connection without a request is closed after half a second, so
    /// that a request that is on its way is answered too.
    ///
    /// A client that closes its writing half is still answered (RFC 9112 §9.6), so a handler is not stopped because its
    /// client has gone; [`Options::request_timeout`] bounds it.
    pub async fn serve<L, S, B>(self, mut listener: L, service: S, shutdown: impl Future<Output = ()>) -> Shutdown
    where
        L: Listener,
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let most = most_connections(machine::descriptors(), machine::memory(), CONNECTION + L::BUFFERS);
        let max_connections = self.max_connections.min(most);
        let grace = self.shutdown_grace;
        let running =
            Running { shared: Arc::new(self.into_shared()), slots: Arc::new(Semaphore::new(max_connections)) };
        running.shared.observers.serving(&Status::of(&running.shared));
        let mut shutdown = pin!(shutdown);
        let connections = &running.shared.admission.connections;
        loop {
            let next = async {
                let stream = accept(&mut listener, connections).await;
                (stream, place(&running.slots, connections).await)
            };
            let Some((stream, slot)) = until(shutdown.as_mut(), next).await else {
                break;
            };
            running.serve(stream, service.clone(), slot);
        }
        running.shared.stop.give(Order::Finish);
        // The system has taken in the connections that wait here, so their clients may have sent requests.
        for _ in 0..BACKLOG {
            // Not within what tokio lets a task do at a time: at its end nothing seems to wait.
            let accepted = unconstrained(poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)))).await;
            let Poll::Ready(accepted) = accepted else { break };
            if let (Ok(stream), Ok(slot)) = (accepted, running.slots.clone().try_acquire_owned()) {
                running.serve(stream, service.clone(), slot);
            }
        }
        drop(listener);
        let all = u32::try_from(max_connections).unwrap_or(u32::MAX);
        if timeout(grace, running.slots.acquire_many(all)).await.is_ok() {
            return Shutdown::default();
        }
        running.shared.stop.give(Order::Close);
        let closed = timeout(CLOSING, running.slots.acquire_many(all)).await;
        let stuck = if closed.is_ok() { 0 } else { max_connections - running.slots.available_permits() };
        Shutdown { cut_off: running.shared.cut_off.take(), stuck }
    }

    fn into_shared(self) -> Shared {
        let mut http = http1::Builder::new();
        // Heads are timed by `connection::Clock`: hyper would set a timer for each.
        http.header_read_timeout(None);
        http.half_close(true);
        http.max_header_size(MAX_HEAD);
        http.max_buf_size(MAX_BUFFER);
        // Not `pipeline_flush`: it holds an answer back while part of the next head is there, and that part may wait for
        // the answer.
        Shared {
            http,
            timeouts: self.timeouts,
            admission: Admission {
                slots: Slots::new(self.max_requests_in_flight, self.max_requests_queued, self.queue_timeout),
                connections: Connections::new(Limits {
                    // The other half is for what is made of messages. So there is somebody to make way before the budget is
                    // used up.
                    bytes: self.receiving.bytes.min(self.budget.limit() / 2),
                    ..self.receiving
                }),
                budget: self.budget,
                disk_budget: self.disk_budget,
            },
            stop: Stop::default(),
            cut_off: CutOffs::default(),
            observers: self.observers,
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

impl Running {
    /// Serves a connection, in a task of its own.
    fn serve<T, S, B>(&self, stream: T, service: S, slot: OwnedSemaphorePermit)
    where
        T: Connection,
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let connection = connection::serve(stream, service, self.shared.clone());
        tokio::spawn(async move {
            connection.await;
            drop(slot);
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stop.give(Order::Close);
    }
}

/// How many connections there may be where a process may have so many descriptors and bytes of memory: the other descriptors are
/// for listeners, files and what handlers open. To run out of them is worse than to be full, since then nobody's connection is
/// even accepted.
fn most_connections(descriptors: Option<usize>, memory: Option<usize>, connection: usize) -> usize {
    let by_descriptors = descriptors.map_or(usize::MAX, |descriptors| descriptors - descriptors / 8);
    let by_memory = memory.map_or(usize::MAX, |memory| memory / 2 / connection);
    by_descriptors.min(by_memory).max(1)
}

/// What a connection takes that is charged to nobody, at most: a head, and what is read ahead, twice. So all of them take no more
/// than the half of the memory that the budget leaves.
const CONNECTION: usize = 200 << 10;

/// Waits for the place of one more connection. Where all are taken one is dropped that waits for its peer, as soon as one
/// does.
async fn place(slots: &Arc<Semaphore>, connections: &Connections) -> OwnedSemaphorePermit {
    const LOOK_AGAIN: Duration = Duration::from_millis(100);
    let mut slot = slots.clone().try_acquire_owned().ok();
    loop {
        if let Some(slot) = slot {
            return slot;
        }
        connections.make_room();
        // The semaphore is never closed, so an error is a time that is over.
        slot = timeout(LOOK_AGAIN, slots.clone().acquire_owned()).await.ok().and_then(Result::ok);
    }
}

/// Accepts the next connection, however long that takes.
///
/// A client that was gone before it was accepted is no reason to wait. Being out of descriptors or memory is, until
/// another connection has closed; one that waits for its peer is dropped for that.
async fn accept<L: Listener>(listener: &mut L, connections: &Connections) -> L::Connection {
    let mut pause = Duration::from_millis(5);
    loop {
        match poll_fn(|cx| listener.poll_accept(cx)).await {
            Ok(connection) => return connection,
            Err(error) if is_of_one_client(&error) => {}
            Err(_) => {
                connections.make_room();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_others() {
        for (descriptors, expected) in [(Some(1_024), 896), (Some(8), 7), (Some(0), 1), (None, usize::MAX)] {
            assert_eq!(most_connections(descriptors, None, CONNECTION), expected);
        }
    }

    /// 9,800 heads of 65 KB took 712 MB, whatever the budget was.
    #[test]
    fn connections_fit_in_the_memory() {
        for (megabytes, expected) in [(512, 1_310), (4_096, 10_485), (0, 1)] {
            assert_eq!(most_connections(Some(100_000), Some(megabytes << 20), CONNECTION), expected);
        }
    }
}
