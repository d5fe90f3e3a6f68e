//! TLS for fetching. It runs the async TLS client, which all other commands use, over a blocking connection.

use std::error::Error as _;
use std::fmt;
use std::io::{self, Read, Write};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use castile::http::client::{Tls, TlsOptions};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

/// Adds TLS to connections to https servers.
#[derive(Debug)]
pub(super) struct Secured {
    tls: OnceLock<Tls>,
}

impl Secured {
    /// Without TLS settings, the default is loaded on first use, because loading the system's authorities takes time.
    pub(super) fn new(tls: Option<Tls>) -> Self {
        Secured { tls: tls.map(OnceLock::from).unwrap_or_default() }
    }

    fn tls(&self) -> Result<&Tls, castile::http::Error> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls);
        }
        let loaded = Tls::with_options(TlsOptions::default())?;
        Ok(self.tls.get_or_init(|| loaded))
    }
}

impl<In: Transport> Connector<In> for Secured {
    type Out = Either<In, Stream>;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let mut connection = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        connection.set_timeout(details.timeout);
        let connection = Connection(Arc::new(Mutex::new(Inner { adapter: connection, waits: false })));
        let host = details.uri.host().unwrap_or_default();
        let tls = self.tls().map_err(|error| Error::Other(error.into()))?;
        let mut shaking = pin!(tls.connect(host, connection.clone()));
        let shaken = connection.until_done(|context| shaking.as_mut().poll(context))?;
        let tls_stream = Mutex::new(Box::new(shaken.map_err(failed)?) as Box<dyn TlsStream>);
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(Stream { buffers, tls_stream, connection })))
    }
}

/// Returns why there is no TLS. A timeout stays a timeout.
fn failed(error: castile::http::Error) -> Error {
    let cause = error.source().and_then(|error| error.downcast_ref::<io::Error>()).and_then(io::Error::get_ref);
    match cause.and_then(|error| error.downcast_ref::<Error>()) {
        Some(Error::Timeout(of)) => Error::Timeout(*of),
        _ => Error::Other(error.into()),
    }
}

/// The connection under TLS.
#[derive(Clone)]
struct Connection(Arc<Mutex<Inner>>);

struct Inner {
    adapter: TransportAdapter,
    /// Whether the next read blocks. TLS may have to write before it can read, because the server waits for that data.
    waits: bool,
}

impl Connection {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls until the operation is done. Blocks on the connection if no progress is possible without new data.
    fn until_done<T>(&self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Result<T, Error> {
        loop {
            if let Poll::Ready(done) = poll(&mut Context::from_waker(Waker::noop())) {
                return Ok(done);
            }
            // The operation didn't read, so it waits for something that never happens.
            if std::mem::replace(&mut self.lock().waits, true) {
                return Err(io::Error::from(io::ErrorKind::WouldBlock).into());
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.lock();
        let Inner { adapter, waits } = &mut *inner;
        if adapter.get_mut().buffers().input().is_empty() && !std::mem::take(waits) {
            return Poll::Pending;
        }
        let count = adapter.read(buffer.initialize_unfilled())?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.lock().adapter.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.lock().adapter.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A TLS stream: plain text goes in and comes out.
trait TlsStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> TlsStream for S {}

/// A connection with TLS.
pub(super) struct Stream {
    buffers: LazyBuffers,
    tls_stream: Mutex<Box<dyn TlsStream>>,
    connection: Connection,
}

impl Transport for Stream {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let Stream { buffers, tls_stream, connection } = self;
        connection.lock().adapter.set_timeout(timeout);
        let mut tls_stream = Pin::new(tls_stream.get_mut().unwrap_or_else(PoisonError::into_inner));
        let mut left = &buffers.output()[..amount];
        while !left.is_empty() {
            match connection.until_done(|context| tls_stream.as_mut().poll_write(context, left))?? {
                0 => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                count => left = &left[count..],
            }
        }
        Ok(connection.until_done(|context| tls_stream.as_mut().poll_flush(context))??)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let Stream { buffers, tls_stream, connection } = self;
        connection.lock().adapter.set_timeout(timeout);
        let mut tls_stream = Pin::new(tls_stream.get_mut().unwrap_or_else(PoisonError::into_inner));
        let mut buffer = ReadBuf::new(buffers.input_append_buf());
        connection.until_done(|context| tls_stream.as_mut().poll_read(context, &mut buffer))??;
        let count = buffer.filled().len();
        buffers.input_appended(count);
        Ok(count > 0)
    }

    fn is_open(&mut self) -> bool {
        self.connection.lock().adapter.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
