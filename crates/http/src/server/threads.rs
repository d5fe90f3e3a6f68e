//! A server on threads of its own, each with its own runtime and its own socket.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{self, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::{self, Either};
use futures_util::stream::FuturesUnordered;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout};

use super::listener::Listener;
use super::shutdown::Shutdown;
use super::stop::Order;
use super::{CLOSING, Server};
use crate::error::BoxError;

/// The number of connections that wait for being accepted, per socket; `TcpListener::bind` uses 128.
const BACKLOG: u32 = 1_024;

/// Opens `count` sockets that listen on one address, for [`Server::serve_on_threads`]. The system gives each connection to one of them
/// (`SO_REUSEPORT`). With port 0 they share any free port. A single socket shares it with none. Must be called in a tokio runtime.
///
/// Several sockets also share the port with those that another process of the same user has opened in this way: each process then gets a
/// part of the connections, and there is no error. To refuse that, open a single socket before, and drop it.
///
/// # Errors
/// The address can't be listened on, or there are to be several and the system has no such option: Windows and Solaris lack it.
pub fn share_port(address: SocketAddr, count: usize) -> io::Result<Vec<net::TcpListener>> {
    let mut sockets: Vec<net::TcpListener> = Vec::new();
    for _ in 0..count {
        let address = sockets.first().map_or(Ok(address), net::TcpListener::local_addr)?;
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Otherwise, connections in TIME_WAIT would prevent a restart of the server. On Windows, the option would share the port.
        socket.set_reuseaddr(cfg!(unix))?;
        if count > 1 {
            share(&socket)?;
        }
        socket.bind(address)?;
        sockets.push(socket.listen(BACKLOG)?.into_std()?);
    }
    Ok(sockets)
}

#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
fn share(socket: &TcpSocket) -> io::Result<()> {
    socket.set_reuseport(true)
}

#[cfg(not(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin")))))]
fn share(_: &TcpSocket) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "sockets can't share a port on this system"))
}

/// What a thread tells of itself.
struct Thread {
    /// Whether it could start.
    started: oneshot::Receiver<io::Result<()>>,
    /// When it accepts nothing any more. An error if it has panicked.
    accepted: oneshot::Receiver<()>,
    ended: oneshot::Receiver<()>,
}

impl Server {
    /// Serves as [`serve`](Self::serve) does, on one thread for each socket. Each has a runtime of its own. A connection and its requests
    /// stay on the thread that has accepted it.
    ///
    /// What a handler spawns runs on this thread, too. It is dropped when the server ends, which doesn't wait for it: as soon as the last
    /// connection has ended. Spawn what must be finished on a runtime of your own.
    ///
    /// The threads share the limits and the budgets of the server, and little else that each request changes: `service` is called once
    /// on each thread.
    ///
    /// A thread with much to do can't pass requests on to one without. [`serve`](Self::serve) on a runtime with many threads is better for
    /// requests that take long or differ much.
    ///
    /// `listener` makes what accepts connections of a socket: the socket itself, or TLS on it. It is called in the runtime of the thread.
    ///
    /// ```no_run
    /// # async fn run(routes: impl Fn() -> castile_http::server::Routes + Send + Sync + 'static) -> std::io::Result<()> {
    /// use castile_http::server::{Server, share_port, shutdown_signal};
    ///
    /// let cores = std::thread::available_parallelism()?.get();
    /// let sockets = share_port(([0, 0, 0, 0], 8080).into(), cores)?;
    /// let shutdown = Server::new().serve_on_threads(sockets, Ok, routes, shutdown_signal()).await?;
    /// # let _ = shutdown;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no socket, a thread can't be started, a socket can't be used, or `listener` fails. Or a thread has panicked; then the
    /// others have finished their requests.
    pub async fn serve_on_threads<L, S, B>(
        self,
        sockets: Vec<net::TcpListener>,
        listener: impl Fn(TcpListener) -> io::Result<L> + Send + Sync + 'static,
        service: impl Fn() -> S + Send + Sync + 'static,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<Shutdown>
    where
        L: Listener,
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if sockets.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "found no socket, expected one for each thread"));
        }
        let running = Arc::new(self.start::<L>());
        let make = Arc::new((listener, service));
        // The threads end when the sender is dropped, too.
        let (order, orders) = watch::channel(Order::Run);
        let mut threads = Vec::new();
        for (number, socket) in sockets.into_iter().enumerate() {
            let (running, make, mut orders) = (running.clone(), make.clone(), orders.clone());
            let (starts, started) = oneshot::channel();
            let (accepts, accepted) = oneshot::channel();
            let (ends, ended) = oneshot::channel();
            let run = move || {
                let (listener, service) = &*make;
                let (runtime, mut listener) = match begin(socket, listener) {
                    Ok(begun) => begun,
                    Err(error) => return drop(starts.send(Err(error))),
                };
                let _ = starts.send(Ok(()));
                runtime.block_on(async {
                    running.accept(&mut listener, service(), given(&mut orders, Order::Finish)).await;
                    drop(listener);
                    let _ = accepts.send(());
                    given(&mut orders, Order::Close).await;
                });
                // Doesn't wait for a handler's blocking work.
                runtime.shutdown_background();
                let _ = ends.send(());
            };
            thread::Builder::new().name(format!("castile-{number}")).spawn(run)?;
            threads.push(Thread { started, accepted, ended });
        }
        let (mut accepted, mut ended) = (FuturesUnordered::new(), Vec::new());
        for thread in threads {
            thread.started.await.map_err(|_| panicked())??;
            accepted.push(thread.accepted);
            ended.push(thread.ended);
        }
        let early = match future::select(pin!(shutdown), accepted.next()).await {
            Either::Left(_) => None,
            Either::Right((early, _)) => early,
        };
        let ordered = Instant::now();
        order.send_replace(Order::Finish);
        // Not only by the threads: one of them may be blocked by a handler.
        running.shared.give(Order::Finish);
        let mut has_panicked = matches!(early, Some(Err(_)));
        let all_accepted = async {
            while let Some(accepted) = accepted.next().await {
                has_panicked |= accepted.is_err();
            }
        };
        let _ = timeout(running.grace, all_accepted).await;
        let shutdown = running.finish(ordered).await;
        order.send_replace(Order::Close);
        // A handler that blocks its thread is waited for no longer.
        let _ = timeout(CLOSING, future::join_all(ended)).await;
        if has_panicked { Err(panicked()) } else { Ok(shutdown) }
    }
}

/// Makes what a thread needs.
fn begin<L>(socket: net::TcpListener, listener: impl Fn(TcpListener) -> io::Result<L>) -> io::Result<(Runtime, L)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    socket.set_nonblocking(true)?;
    let entered = runtime.enter();
    let listener = listener(TcpListener::from_std(socket)?)?;
    drop(entered);
    Ok((runtime, listener))
}

/// Waits for an order, or for the end of the server.
async fn given(orders: &mut watch::Receiver<Order>, order: Order) {
    let _ = orders.wait_for(|given| *given >= order).await;
}

fn panicked() -> io::Error {
    io::Error::other("a thread of the server has panicked")
}
