//! How connections are made: over TCP, through a proxy if one is configured, and with TLS for `https` URLs.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{BoxFuture, Ready, ready};
use http::Uri;
use http::uri::{Authority, Parts};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use super::proxy::{Proxies, Route};
#[cfg(feature = "tls")]
use super::tls::{Broken, Secured, Tls};
use super::urls::with_port_or_none;
use crate::error::{BoxError, Error, ErrorKind, root};
use crate::timeout::after;

/// The default port of a SOCKS proxy.
const SOCKS_PORT: u16 = 1080;

/// How long it took to make the connection of a response. It is in the extensions of the response if
/// [`Options::times`](super::Options::times) is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectTimes {
    /// The DNS lookup of the host or of the proxy. `None` if the URL has an IP address.
    pub lookup: Option<Duration>,
    /// The TCP connection, including the proxy and a TLS handshake with the proxy.
    pub tcp: Duration,
    /// The TLS handshake. `None` without TLS.
    pub tls: Option<Duration>,
}

tokio::task_local! {
    /// When the DNS lookup for the current connection was done.
    static LOOKED_UP: Cell<Option<Instant>>;
}

/// The resolver of the system. It records when it is done.
#[derive(Clone, Debug)]
struct Resolver(GaiResolver);

impl Service<Name> for Resolver {
    type Response = <GaiResolver as Service<Name>>::Response;
    type Error = <GaiResolver as Service<Name>>::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let looking_up = self.0.call(name);
        Box::pin(async move {
            let found = looking_up.await;
            // Without `Options::times` the task-local cell doesn't exist.
            let _ = LOOKED_UP.try_with(|cell| cell.set(Some(Instant::now())));
            found
        })
    }
}

/// Connects to the host of a URL.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    tcp: HttpConnector<Resolver>,
    pub(super) proxies: Proxies,
    #[cfg(feature = "tls")]
    tls: Tls,
    /// The time limit for TCP, the proxy and all TLS handshakes together.
    limit: Duration,
    /// Whether connection times are recorded.
    times: bool,
}

impl Connector {
    pub(super) fn new(
        proxies: Proxies,
        #[cfg(feature = "tls")] tls: Tls,
        local_address: Option<IpAddr>,
        limit: Duration,
        times: bool,
    ) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Resolver(GaiResolver::new()));
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        tcp.set_local_address(local_address);
        tcp.enforce_http(false);
        Connector {
            tcp,
            proxies,
            #[cfg(feature = "tls")]
            tls,
            limit,
            times,
        }
    }

    /// Connects over TCP. The connector's own time limit begins only after the DNS lookup.
    async fn connect(&mut self, url: Uri, deadline: Instant) -> Result<TokioIo<TcpStream>, BoxError> {
        match timeout_at(deadline, self.tcp.call(url)).await {
            Ok(connected) => Ok(connected?),
            Err(_) => Err(Error::new(ErrorKind::Connect, format!("there was none within {:?}", self.limit)).into()),
        }
    }

    /// Connects to the host of `url`, with TLS for an `https` URL.
    fn make(self, url: Uri, deadline: Instant) -> BoxFuture<'static, Result<Stream, BoxError>> {
        Box::pin(async move {
            with_port_or_none(&url)?;
            #[cfg(feature = "tls")]
            let (tls, limit) = (self.tls.clone(), self.limit);
            match url.scheme_str() {
                Some("http") => self.reach_timed(&url, deadline).await,
                #[cfg(feature = "tls")]
                Some("https") => {
                    let mut reached = self.reach_timed(&url, deadline).await?;
                    let mut times = reached.times.take();
                    let begun = Instant::now();
                    let handshake = tls.shake_hands(url.host().unwrap_or_default(), TokioIo::new(reached));
                    let Ok(secured) = timeout_at(deadline, handshake).await else {
                        let message = format!("no TLS handshake within {limit:?}");
                        return Err(Error::new(ErrorKind::Connect, message).into());
                    };
                    if let Some(times) = &mut times {
                        times.tls = Some(begun.elapsed());
                    }
                    let wire = Wire::Tls(Box::new(TokioIo::new(secured?)), Broken::default());
                    Ok(Stream { wire, is_proxied: false, times })
                }
                other => {
                    let expected = if cfg!(feature = "tls") { "http or https" } else { "http" };
                    let message = format!("found the scheme {:?}, expected {expected}", other.unwrap_or_default());
                    Err(Error::new(ErrorKind::Connect, message).repeating().into())
                }
            }
        })
    }

    /// Connects by [`reach`](Self::reach), and records the time if that is enabled.
    async fn reach_timed(self, url: &Uri, deadline: Instant) -> Result<Stream, BoxError> {
        if !self.times {
            return self.reach(url, deadline).await;
        }
        let begun = Instant::now();
        let reaching = async {
            let reached = self.reach(url, deadline).await;
            (reached, LOOKED_UP.with(Cell::get))
        };
        let (reached, looked_up) = LOOKED_UP.scope(Cell::new(None), reaching).await;
        let lookup = looked_up.map(|at| at - begun);
        let tcp = begun.elapsed() - lookup.unwrap_or_default();
        Ok(Stream { times: Some(ConnectTimes { lookup, tcp, tls: None }), ..reached? })
    }

    /// Connects to the host of `url`, through a proxy if one applies, but without the TLS of the host.
    async fn reach(mut self, url: &Uri, deadline: Instant) -> Result<Stream, BoxError> {
        let is_tunnelled = is_https(url);
        match self.proxies.route(url)? {
            Route::Direct => Ok(Stream::plain(self.connect(url.clone(), deadline).await?)),
            Route::Http { proxy, authorization } => {
                let to_proxy = Connector {
                    proxies: Proxies::none(),
                    #[cfg(feature = "tls")]
                    tls: self.tls.for_proxy(),
                    times: false,
                    ..self
                };
                let reached = to_proxy.make(proxy.clone(), deadline).await.map_err(|error| unreached(&proxy, error))?;
                if !is_tunnelled {
                    return Ok(Stream { is_proxied: true, ..reached });
                }
                let mut tunnel = Tunnel::new(proxy.clone(), Reached(Some(reached)));
                if let Some(value) = authorization {
                    tunnel = tunnel.with_auth(value);
                }
                through(&proxy, tunnel.call(url.clone()), deadline).await
            }
            Route::Socks { proxy, login } => {
                let reached = self.connect(with_port(proxy.clone(), SOCKS_PORT), deadline).await;
                let reached = Stream::plain(reached.map_err(|error| unreached(&proxy, error))?);
                let mut socks = SocksV5::new(proxy.clone(), Reached(Some(reached)));
                if let Some((user, password)) = login {
                    socks = socks.with_auth(user, password);
                }
                let target = with_port(url.clone(), if is_tunnelled { 443 } else { 80 });
                through(&proxy, socks.call(target), deadline).await
            }
        }
    }
}

/// A connection to a proxy, as a service that returns it.
struct Reached(Option<Stream>);

impl Service<Uri> for Reached {
    type Response = Stream;
    type Error = BoxError;
    type Future = Ready<Result<Stream, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| "it is already in use".into()))
    }
}

/// Waits for the connection through a proxy, within the time limit.
async fn through<E: Into<BoxError>>(
    proxy: &Uri,
    asking: impl Future<Output = Result<Stream, E>>,
    deadline: Instant,
) -> Result<Stream, BoxError> {
    let made_none = |why: &str| {
        let name = proxy.authority().map_or("", Authority::as_str);
        Error::new(ErrorKind::Connect, format!("the proxy {name} could not connect{why}"))
    };
    match timeout_at(deadline, asking).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => {
            let error = error.into();
            Err(made_none(&format!(": {}", error_reason(&*error))).because(error).into())
        }
        Err(_) => Err(made_none(" in time").into()),
    }
}

/// The error when a proxy can't be reached.
fn unreached(proxy: &Uri, error: BoxError) -> BoxError {
    let name = proxy.authority().map_or("", Authority::as_str);
    let unreached =
        Error::new(ErrorKind::Connect, format!("no connection to the proxy {name}: {}", error_reason(&*error)));
    let comes_again = error.downcast_ref::<Error>().is_some_and(Error::repeats_itself);
    if comes_again { unreached.repeating() } else { unreached }.because(error).into()
}

/// Returns the reason of an error: our own description of a TLS failure if there is one, or the error's own message.
fn error_reason(error: &(dyn std::error::Error + 'static)) -> String {
    #[cfg(feature = "tls")]
    if let Some(reason) = crate::tls::reason(error) {
        return reason;
    }
    root(error)
}

/// Returns the URL with `port` if it has no port.
fn with_port(url: Uri, port: u16) -> Uri {
    let authority = url.authority().filter(|authority| authority.port().is_none());
    let Some(authority) = authority.and_then(|found| Authority::try_from(format!("{}:{port}", found.host())).ok())
    else {
        return url;
    };
    let parts = Parts::from(url.clone());
    let mut with_port = Parts::default();
    with_port.scheme = parts.scheme;
    with_port.path_and_query = parts.path_and_query;
    with_port.authority = Some(authority);
    Uri::from_parts(with_port).unwrap_or(url)
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Stream, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            #[cfg(feature = "tls")]
            if is_https(&url) || matches!(connector.proxies.route(&url)?, Route::Http { proxy, .. } if is_https(&proxy))
            {
                connector.tls.load().await?;
            }
            let deadline = after(connector.limit);
            connector.make(url, deadline).await
        })
    }
}

fn is_https(url: &Uri) -> bool {
    url.scheme_str() == Some("https")
}

/// A connection.
#[derive(Debug)]
pub(super) struct Stream {
    wire: Wire,
    /// Whether it leads to a proxy that forwards requests. Such a proxy gets the whole URL of each request.
    is_proxied: bool,
    times: Option<ConnectTimes>,
}

/// A connection without or with TLS.
#[derive(Debug)]
enum Wire {
    Plain(TokioIo<TcpStream>),
    /// TLS over a connection. That connection may use TLS too, with a proxy.
    #[cfg(feature = "tls")]
    Tls(Box<TokioIo<Secured<TokioIo<Stream>>>>, Broken),
}

impl Stream {
    fn plain(stream: TokioIo<TcpStream>) -> Self {
        Stream { wire: Wire::Plain(stream), is_proxied: false, times: None }
    }

    fn read(self: Pin<&mut Self>) -> Pin<&mut dyn Read> {
        match &mut self.get_mut().wire {
            Wire::Plain(stream) => Pin::<&mut TokioIo<_>>::new(stream),
            #[cfg(feature = "tls")]
            Wire::Tls(stream, _) => Pin::<&mut TokioIo<_>>::new(stream),
        }
    }

    fn write(self: Pin<&mut Self>) -> Pin<&mut dyn Write> {
        match &mut self.get_mut().wire {
            Wire::Plain(stream) => Pin::<&mut TokioIo<_>>::new(stream),
            #[cfg(feature = "tls")]
            Wire::Tls(stream, _) => Pin::<&mut TokioIo<_>>::new(stream),
        }
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = match &self.wire {
            Wire::Plain(stream) => stream.inner().connected(),
            #[cfg(feature = "tls")]
            Wire::Tls(stream, broken) => stream.inner().stream().inner().connected().extra(broken.clone()),
        };
        let connected = connected.proxy(self.is_proxied);
        match self.times {
            Some(times) => connected.extra(times),
            None => connected,
        }
    }
}

impl Read for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let read = self.as_mut().read().poll_read(cx, buffer);
        #[cfg(feature = "tls")]
        if let (Wire::Tls(_, broken), Poll::Ready(Err(error))) = (&self.wire, &read) {
            broken.note(error);
        }
        read
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write().poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write().poll_shutdown(cx)
    }
}
