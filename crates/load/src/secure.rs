//! TLS, which the user of the load kit provides: the kit has no TLS of its own.

use std::any::Any;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Makes TLS connections, for users of `https` endpoints.
pub trait Tls: Any + Debug + Send + Sync {
    /// Performs the handshake over a connection to `host`.
    fn connect<'a>(&'a self, host: &'a str, stream: TcpStream) -> Connecting<'a>;
}

/// A future that returns the stream after the handshake.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send + 'a>>;

/// A stream that bytes are read from and written to.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The TLS settings of an endpoint.
#[derive(Clone, Debug)]
pub struct Secured {
    /// The host name that the server's certificate must have.
    pub host: String,
    /// The TLS implementation.
    pub tls: Arc<dyn Tls>,
}

impl PartialEq for Secured {
    fn eq(&self, other: &Self) -> bool {
        self.host == other.host && Arc::ptr_eq(&self.tls, &other.tls)
    }
}

impl Eq for Secured {}

/// A connection with or without TLS.
pub(crate) enum Open {
    Plain(TcpStream),
    Secured(Box<dyn Stream>),
}

impl AsyncRead for Open {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Open::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Open::Secured(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Open {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Open::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Open::Secured(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // A TCP stream has no buffer to flush.
            Open::Plain(_) => Poll::Ready(Ok(())),
            Open::Secured(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Open::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Open::Secured(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Open::Plain(_) => "Plain",
            Open::Secured(_) => "Secured",
        })
    }
}
