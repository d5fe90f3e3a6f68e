//! The server side: SOAP services as HTTP services, and an HTTP/1 server that runs them.

mod activity;
mod address;
mod admission;
mod answer;
mod authentication;
mod connection;
mod connections;
mod endpoint;
mod exchange;
mod head;
mod listener;
mod network;
mod observer;
mod options;
#[cfg(feature = "page")]
mod page;
mod proxies;
mod proxy_protocol;
mod receiving;
mod refusal;
mod reservations;
mod routes;
mod shutdown;
mod slots;
mod state;
mod stop;
mod threads;
#[cfg(feature = "tls")]
mod tls;
mod wait;

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
use tokio::time::{Instant, sleep, timeout};

use self::connections::{Connections, Limits};
use self::observer::Observers;
use self::shutdown::CutOffs;
use self::slots::Slots;
use self::state::{Admission, ServerState, Timeouts};
use self::stop::{Order, Stop};
use crate::error::BoxError;

pub use self::address::{Address, ProxyHeader};
pub use self::authentication::{Authenticated, Authentication};
pub use self::endpoint::Endpoint;
pub use self::listener::{Connection, Listener, TlsPeer};
#[cfg(feature = "metrics")]
pub use self::observer::Metrics;
pub use self::observer::{
    AccessLog, Exchange, HandshakeFailure, Load, Observed, ObservedBody, ObservedFuture, Observer, ObserverLayer,
    Outcome, Status,
};
#[cfg(feature = "tracing")]
pub use self::observer::{Events, Spanned, Spans};
pub use self::options::Options;
pub use self::proxies::Proxies;
pub use self::proxy_protocol::{ProxiedStream, ProxyProtocol};
pub use self::routes::{ClientAddress, Routes};
pub use self::shutdown::{CutOff, Shutdown};
pub use self::threads::share_port;
#[cfg(feature = "tls")]
pub use self::tls::{ClientCertificates, ClientRoots, Tls, TlsListener, TlsOptions, TlsStream};

/// The size limit of a head, and of the trailers of a body, in bytes. A larger head is answered with 431.
const MAX_HEAD: usize = 64 << 10;

/// The most bytes that a connection buffers: a head, and data that arrives with it. Each busy connection holds this
/// much memory, outside of the budget. The default of hyper is five times as much.
const MAX_BUFFER: usize = MAX_HEAD + (16 << 10);

/// How many waiting connections are accepted after the order to stop. Systems have shorter backlogs.
const BACKLOG: usize = 4_096;

/// How long the server waits for its connections after the order to close.
const CLOSING: Duration = Duration::from_secs(1);

/// An HTTP/1.0 and HTTP/1.1 server for one tower service, with limits of time and number.
///
/// Each connection is a task on the runtime that polls [`serve`](Self::serve). On a current-thread runtime the whole
/// server runs on one thread.
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
    /// Creates a server with the default limits.
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

    /// Sets how long a client may take from connecting to its first byte, and from the first byte of a head to its end.
    /// 10 s by default. The time limit of a body is set on the endpoint ([`Options::body_read_timeout`]).
    pub fn header_read_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.header_read = limit;
        self
    }

    /// Sets how long a client may leave a response unread before the connection is dropped. 30 s by default.
    pub fn write_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.write = limit;
        self
    }

    /// Sets the rate at which a client must read a response, in bytes per second. The first
    /// [`write_timeout`](Self::write_timeout) of waiting for the client is free. Each further one raises the required
    /// rate by this value. 100 by default; 0 requires nothing.
    pub fn write_rate(mut self, rate: u32) -> Self {
        self.timeouts.write_rate = rate;
        self
    }

    /// Sets how long a connection may wait for its next request. 60 s by default. It is accurate to a quarter of its
    /// value or 1 s, whichever is less.
    pub fn keep_alive_timeout(mut self, limit: Duration) -> Self {
        self.timeouts.keep_alive = limit;
        self
    }

    /// Sets the most connections at a time, at least 1. 10,000 by default.
    ///
    /// Two more limits always hold. The server uses at most seven eighths of the file descriptors that the process may
    /// have when serving begins (`ulimit -n`). It allows one connection per 400 KiB of the memory that the process may
    /// use ([`machine::memory`]), or per 656 KiB over TLS.
    ///
    /// When the limit is reached, a new connection replaces the slowest one that waits for its peer: one that is idle,
    /// sends or reads. If all connections are at work, the new one waits; further ones wait in the listener's backlog.
    pub fn max_connections(mut self, max: usize) -> Self {
        self.max_connections = max.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        self
    }

    /// Sets the most connections at a time from one address. Further ones are closed. No limit by default, because many
    /// clients can share the address of a proxy.
    pub fn max_connections_per_peer(mut self, max: usize) -> Self {
        self.receiving.connections_per_peer = Some(max);
        self
    }

    /// Sets the most requests at work at a time, over all connections. 1,024 by default.
    ///
    /// A request to an [`Endpoint`] is at work from the end of its message until its answer is there. In a package, the
    /// message ends with the root part, and the request is not at work while it waits for more of the package. Before
    /// that, the request is at work while its [login](Options::authentication) is checked. A request to any other
    /// service is at work from the end of its head. [Probes](Routes::health) and `Metrics` don't count and are always
    /// answered.
    pub fn max_requests_in_flight(mut self, max: usize) -> Self {
        self.max_requests_in_flight = max;
        self
    }

    /// Sets the most complete requests that wait until they may be [at work](Self::max_requests_in_flight). 1,024 by
    /// default. Further ones are answered with 503 and Retry-After.
    pub fn max_requests_queued(mut self, max: usize) -> Self {
        self.max_requests_queued = max;
        self
    }

    /// Sets how long a request may wait until it may be at work. 100 ms by default. After that it is answered with 503
    /// and Retry-After.
    pub fn queue_timeout(mut self, limit: Duration) -> Self {
        self.queue_timeout = limit;
        self
    }

    /// Sets the most requests whose body is being received at a time. 4,096 by default. If there is one more, the
    /// slowest of them is answered with 408 and its connection is closed.
    pub fn max_requests_receiving(mut self, max: usize) -> Self {
        self.receiving.requests = max;
        self
    }

    /// Sets the most requests from one address whose body is being received at a time. If there is one more, the
    /// slowest from that address is answered with 408 and its connection is closed. No limit by default, because many
    /// clients can share the address of a proxy.
    pub fn max_requests_receiving_per_peer(mut self, max: usize) -> Self {
        self.receiving.requests_per_peer = Some(max);
        self
    }

    /// Sets the trusted proxies, which name the client of each request in a header. `Request::peer` is then that
    /// client, and [`max_requests_receiving_per_peer`](Self::max_requests_receiving_per_peer) counts by it. Connections
    /// of these proxies are not limited by [`max_connections_per_peer`](Self::max_connections_per_peer). None by
    /// default, because any client could send such a header. For proxies that forward bytes, [`ProxyProtocol`] reads
    /// the client of each connection.
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

    /// Sets how many bytes of incomplete messages are held at a time, over all connections. 256 MiB by default, and
    /// never more than half of the [`budget`](Self::budget). A package counts until the end of its root part, by its
    /// largest size in memory. If there are more bytes, the slowest of the large requests is answered with 408 and its
    /// connection is closed.
    pub fn max_bytes_receiving(mut self, max: usize) -> Self {
        self.receiving.bytes = max;
        self
    }

    /// Sets the memory that the requests to [`Endpoint`]s share: incoming messages, the values decoded from them, and
    /// answers until they are sent. [`Budget::process`] by default: half of the memory of the machine or the container.
    ///
    /// When the budget runs short, the server drops requests and connections that hold much of it and wait for their
    /// peer, the slowest first. Requests that arrive slowly are answered with 408, and connections whose answer is read
    /// slowly are closed. If that is not enough, the request that needs memory is answered with 503 and Retry-After.
    ///
    /// Other services charge their answers with [`Charged`](castile_budget::Charged). An answer that is charged to this
    /// budget can be dropped too, if its `Arc<Reservation>` is among the extensions of the response.
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

    /// Sets the disk space that waiting parts of packages share, in addition to the memory for them
    /// ([`castile_mime::Limits::memory`]). [1 GiB](castile_mime::DISK) for the whole process by default. A request that
    /// finds no space is answered with 503 and Retry-After, and the slowest of those that hold much are dropped in
    /// favor of the next one.
    pub fn disk_budget(mut self, budget: Budget) -> Self {
        self.disk_budget = budget;
        self
    }

    /// Sets how long a shutdown waits for requests at work. 10 s by default. [`Shutdown`] lists those that were cut
    /// off.
    pub fn shutdown_grace(mut self, limit: Duration) -> Self {
        self.shutdown_grace = limit;
        self
    }

    /// Adds an observer, which is notified of each exchange. All added observers are notified.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.add(Arc::new(observer));
        self
    }

    /// Serves until `shutdown` is done, then closes the listener, lets requests at work finish, and returns. Requests
    /// that are not finished after the grace time are dropped and reported. Dropping this future drops everything.
    ///
    /// During the shutdown every answer has `Connection: close`. A connection without a request is closed after half a
    /// second, so a request that is on its way is still answered.
    ///
    /// A client that closes its writing half is still answered (RFC 9112 §9.6). A handler is therefore not stopped when
    /// its client disconnects; [`Options::request_timeout`] limits it.
    pub async fn serve<L, S, B>(self, mut listener: L, service: S, shutdown: impl Future<Output = ()>) -> Shutdown
    where
        L: Listener,
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let running = self.start::<L>();
        running.accept(&mut listener, service, shutdown).await;
        drop(listener);
        running.finish(Instant::now()).await
    }

    /// Begins to serve from listeners of this kind.
    fn start<L: Listener>(self) -> Running {
        let most = connection_limit(machine::descriptors(), machine::memory(), CONNECTION + L::BUFFERS);
        let (max_connections, grace) = (self.max_connections.min(most), self.shutdown_grace);
        let slots = Arc::new(Semaphore::new(max_connections));
        let running = Running { shared: Arc::new(self.into_shared()), slots, max_connections, grace };
        running.shared.observers.serving(&Status::of(&running.shared));
        running
    }

    fn into_shared(self) -> ServerState {
        let mut http = http1::Builder::new();
        // `connection::Clock` limits the time of heads. hyper would set a timer for each head.
        http.header_read_timeout(None);
        http.half_close(true);
        http.max_header_size(MAX_HEAD);
        http.max_buf_size(MAX_BUFFER);
        // Without `pipeline_flush`, which holds an answer back while part of the next head is there. The client may
        // send the rest of that head only after the answer.
        ServerState {
            http,
            timeouts: self.timeouts,
            admission: Admission {
                slots: Slots::new(self.max_requests_in_flight, self.max_requests_queued, self.queue_timeout),
                connections: Connections::new(Limits {
                    // The other half is for values made of messages. So there is always a request that can be dropped
                    // before the budget is used up.
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

/// Completes when the process is asked to end: by SIGTERM (where it exists) or Ctrl-C.
///
/// A signal that can't be listened for keeps its default effect.
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
    shared: Arc<ServerState>,
    slots: Arc<Semaphore>,
    max_connections: usize,
    grace: Duration,
}

impl Running {
    /// Accepts connections until `shutdown` is done, and those that wait then. Orders all connections to finish.
    async fn accept<L, S, B>(&self, listener: &mut L, service: S, shutdown: impl Future<Output = ()>)
    where
        L: Listener,
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let mut shutdown = pin!(shutdown);
        let connections = &self.shared.admission.connections;
        loop {
            let next = async {
                let stream = accept(listener, connections).await;
                (stream, connection_slot(&self.slots, connections).await)
            };
            let Some((stream, slot)) = until(shutdown.as_mut(), next).await else {
                break;
            };
            self.serve(stream, service.clone(), slot);
        }
        self.shared.give(Order::Finish);
        // The system has already accepted the connections that wait here, so their clients may have sent requests.
        for _ in 0..BACKLOG {
            // `unconstrained`, because tokio's budget for a task would make the backlog seem empty when it runs out.
            let accepted = unconstrained(poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)))).await;
            let Poll::Ready(accepted) = accepted else { break };
            if let (Ok(stream), Ok(slot)) = (accepted, self.slots.clone().try_acquire_owned()) {
                self.serve(stream, service.clone(), slot);
            }
        }
    }

    /// Waits until the connections have finished. Closes those that haven't when the grace time is over, which began with the order to stop.
    async fn finish(&self, ordered: Instant) -> Shutdown {
        let all = u32::try_from(self.max_connections).unwrap_or(u32::MAX);
        let grace = self.grace.saturating_sub(ordered.elapsed());
        if timeout(grace, self.slots.acquire_many(all)).await.is_ok() {
            return Shutdown::default();
        }
        self.shared.give(Order::Close);
        let closed = timeout(CLOSING, self.slots.acquire_many(all)).await;
        let stuck = if closed.is_ok() { 0 } else { self.max_connections - self.slots.available_permits() };
        Shutdown { cut_off: self.shared.cut_off.take(), stuck }
    }

    /// Serves a connection in a task of its own.
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
        self.shared.give(Order::Close);
    }
}

/// Returns how many connections are allowed with so many descriptors and bytes of memory. The remaining descriptors are
/// for listeners, files and handlers. Running out of descriptors is worse than a full server, because then no
/// connection can be accepted at all.
fn connection_limit(descriptors: Option<usize>, memory: Option<usize>, connection: usize) -> usize {
    let by_descriptors = descriptors.map_or(usize::MAX, |descriptors| descriptors - descriptors / 8);
    let by_memory = memory.map_or(usize::MAX, |memory| memory / 2 / connection);
    by_descriptors.min(by_memory).max(1)
}

/// The most uncharged memory of a connection: a head and buffered data, twice. So all connections together take at most
/// the half of the memory that the budget leaves.
const CONNECTION: usize = 200 << 10;

/// Waits for a free slot for one more connection. If none is free, a connection that waits for its peer is dropped as
/// soon as there is one.
async fn connection_slot(slots: &Arc<Semaphore>, connections: &Connections) -> OwnedSemaphorePermit {
    const RETRY_INTERVAL: Duration = Duration::from_millis(100);
    let mut slot = slots.clone().try_acquire_owned().ok();
    loop {
        if let Some(slot) = slot {
            return slot;
        }
        connections.free_slot();
        // The semaphore is never closed, so an error is a timeout.
        slot = timeout(RETRY_INTERVAL, slots.clone().acquire_owned()).await.ok().and_then(Result::ok);
    }
}

/// Accepts the next connection, however long that takes.
///
/// It doesn't pause for a client that disconnected before it was accepted. It does pause when descriptors or memory are
/// exhausted, and drops a connection that waits for its peer.
async fn accept<L: Listener>(listener: &mut L, connections: &Connections) -> L::Connection {
    let mut pause = Duration::from_millis(5);
    loop {
        match poll_fn(|cx| listener.poll_accept(cx)).await {
            Ok(connection) => return connection,
            Err(error) if is_of_one_client(&error) => {}
            Err(_) => {
                connections.free_slot();
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

/// Drives `future`. Returns `None` if `shutdown` is done first.
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
            assert_eq!(connection_limit(descriptors, None, CONNECTION), expected);
        }
    }

    /// Regression: 9,800 heads of 65 KB took 712 MB, whatever the budget was.
    #[test]
    fn connections_fit_in_the_memory() {
        for (megabytes, expected) in [(512, 1_310), (4_096, 10_485), (0, 1)] {
            assert_eq!(connection_limit(Some(100_000), Some(megabytes << 20), CONNECTION), expected);
        }
    }
}
