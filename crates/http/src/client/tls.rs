//! TLS for the connections of a [`Transport`](super::Transport).

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use http::Extensions;
use hyper_util::client::legacy::connect::CaptureConnection;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::tls_options::{Roots, TlsOptions};
use crate::error::{Error, ErrorKind};
use crate::tls::{ALPN, LimitedServerVerifier, Pem, Sniffed, advice, provider, reason};

/// The TLS of a client. Clones share sessions that can be resumed.
///
/// ```no_run
/// use castile_http::client::{Options, Roots, Tls, TlsOptions, Transport};
/// use castile_http::tls::Pem;
///
/// # fn main() -> Result<(), castile_http::Error> {
/// let mut tls = TlsOptions::default();
/// tls.roots = Roots::PlatformAnd(vec![Pem::file("authority.pem")]);
/// let mut options = Options::default();
/// options.tls = Tls::with_options(tls)?;
/// let transport = Transport::with_options(options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Tls {
    /// `None` is the configuration that all clients with default options share.
    loaded: Option<Arc<Loaded>>,
    #[cfg(feature = "openssl")]
    legacy: Option<Arc<super::legacy_tls::Connector>>,
    /// The TLS for a proxy, if it differs.
    for_proxy: Option<Arc<Tls>>,
}

struct Loaded {
    config: Arc<ClientConfig>,
    server_name: Option<ServerName<'static>>,
}

impl Tls {
    /// Creates TLS with the default options. The authorities of the platform are loaded once per process, for the first
    /// connection.
    pub fn new() -> Self {
        Tls::default()
    }

    /// Creates TLS with `options`, and loads the files that they name.
    ///
    /// # Errors
    /// [`ErrorKind::Tls`] names the file that can't be used, and the reason.
    pub fn with_options(options: TlsOptions) -> Result<Self, Error> {
        let loaded = Tls::load_options(&options)?;
        // The client's identity, the server's name and its weak TLS don't apply to a proxy.
        let of_proxy = TlsOptions {
            identity: None,
            server_name: None,
            #[cfg(feature = "openssl")]
            legacy: None,
            ..options.clone()
        };
        let is_same = options.identity.is_none() && options.server_name.is_none();
        #[cfg(feature = "openssl")]
        let is_same = is_same && options.legacy.is_none();
        if is_same {
            return Ok(loaded);
        }
        let for_proxy = Tls::load_options(&of_proxy)?;
        Ok(Tls { for_proxy: Some(Arc::new(for_proxy)), ..loaded })
    }

    fn load_options(options: &TlsOptions) -> Result<Self, Error> {
        #[cfg(feature = "openssl")]
        if let Some(legacy) = &options.legacy {
            let connector = super::legacy_tls::Connector::load(options, legacy)?;
            return Ok(Tls { legacy: Some(Arc::new(connector)), ..Tls::default() });
        }
        let server_name = options.server_name.as_deref().map(server_name).transpose()?;
        let config = config(options)?;
        Ok(Tls { loaded: Some(Arc::new(Loaded { config, server_name })), ..Tls::default() })
    }

    /// Returns the TLS for a connection to a proxy.
    pub(super) fn for_proxy(&self) -> Self {
        self.for_proxy.as_deref().unwrap_or(self).clone()
    }

    /// Makes the TLS handshake over a stream that is connected to `host`, for custom transports. There is no time limit
    /// here; [`Transport`](super::Transport) sets one.
    ///
    /// # Errors
    /// [`ErrorKind::Connect`] describes what one side doesn't accept.
    pub async fn connect<S>(
        &self,
        host: &str,
        stream: S,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin,
    {
        self.shake_hands(host, stream).await
    }

    pub(super) async fn shake_hands<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        host: &str,
        stream: S,
    ) -> Result<Secured<S>, Error> {
        #[cfg(feature = "openssl")]
        if let Some(legacy) = &self.legacy {
            return legacy.shake_hands(host, stream).await.map(Secured::OpenSsl);
        }
        let (name, config) = (self.server_name(host)?, self.config().await?);
        let connected = TlsConnector::from(config).connect(name, Sniffed::new(stream)).await;
        connected.map(Secured::Rustls).map_err(broken_off)
    }

    /// Loads the authorities of the platform if needed. That takes a while and doesn't count as time of the server.
    pub(super) async fn load(&self) -> Result<(), Error> {
        #[cfg(feature = "openssl")]
        if self.legacy.is_some() {
            return Ok(());
        }
        self.config().await.map(drop)
    }

    async fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        if let Some(loaded) = &self.loaded {
            return Ok(loaded.config.clone());
        }
        if let Some(config) = OF_PLATFORM.get() {
            return Ok(config.clone());
        }
        tokio::task::spawn_blocking(of_platform).await.unwrap_or_else(|error| {
            Err(Error::new(ErrorKind::Tls, "the authorities of the platform can't be loaded").because(error))
        })
    }

    fn server_name(&self, host: &str) -> Result<ServerName<'static>, Error> {
        match self.loaded.as_ref().and_then(|loaded| loaded.server_name.clone()) {
            Some(name) => Ok(name),
            None => server_name(host),
        }
    }
}

/// A connection with TLS. It is stored in a box.
#[cfg_attr(feature = "openssl", allow(clippy::large_enum_variant, reason = "it is boxed as a whole"))]
#[derive(Debug)]
pub(super) enum Secured<S> {
    Rustls(TlsStream<Sniffed<S>>),
    #[cfg(feature = "openssl")]
    OpenSsl(tokio_openssl::SslStream<Sniffed<S>>),
}

/// Evaluates an expression for the stream of either library.
macro_rules! either {
    ($secured:expr, $stream:ident => $do:expr) => {
        match $secured {
            Secured::Rustls($stream) => $do,
            #[cfg(feature = "openssl")]
            Secured::OpenSsl($stream) => $do,
        }
    };
}

impl<S> Secured<S> {
    /// Returns the stream below TLS.
    pub(super) fn stream(&self) -> &S {
        match self {
            Secured::Rustls(stream) => &stream.get_ref().0.stream,
            #[cfg(feature = "openssl")]
            Secured::OpenSsl(stream) => &stream.get_ref().stream,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secured<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, buffer)).map_err(in_words)
    }
}

/// Gives a TLS error a readable message. Other errors are unchanged.
fn in_words(error: io::Error) -> io::Error {
    match reason(&error) {
        Some(reason) => io::Error::new(error.kind(), Error::new(ErrorKind::Exchange, reason).because(error)),
        None => error,
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secured<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        either!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

static OF_PLATFORM: OnceLock<Arc<ClientConfig>> = OnceLock::new();

/// Returns the configuration that all clients with default options share. It reads some hundred certificates once. The
/// result is stored even if the caller has stopped waiting.
fn of_platform() -> Result<Arc<ClientConfig>, Error> {
    static LOADING: Mutex<()> = Mutex::new(());
    let _loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(config) = OF_PLATFORM.get() {
        return Ok(config.clone());
    }
    let config = config(&TlsOptions::default())?;
    Ok(OF_PLATFORM.get_or_init(|| config).clone())
}

fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    address.unwrap_or(host).to_owned().try_into().map_err(|error: InvalidDnsNameError| {
        let message = format!("found the server name {host:?}, expected a DNS name or an address");
        Error::new(ErrorKind::Tls, message).because(error)
    })
}

fn config(options: &TlsOptions) -> Result<Arc<ClientConfig>, Error> {
    let unusable = |error: rustls::Error| Error::new(ErrorKind::Tls, "TLS can't be set up").because(error);
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(options.min_version.and_later())
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier(&options.roots)?));
    let mut config = match &options.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let identity = identity.load()?;
            builder.with_client_auth_cert(identity.chain, identity.key).map_err(unusable)?
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    if options.full_handshakes {
        config.resumption = Resumption::disabled();
    }
    Ok(Arc::new(config))
}

/// Returns the verifier of server certificates: the verifier of the platform if its authorities are used.
fn verifier(roots: &Roots) -> Result<LimitedServerVerifier, Error> {
    let of_platform = |error: rustls::Error| {
        let message = format!("the authorities of the platform can't be used: {error}");
        Error::new(ErrorKind::Tls, message).because(error)
    };
    let mut trusted = Vec::new();
    if let Roots::PlatformAnd(texts) | Roots::Only(texts) = roots {
        for pem in texts {
            trusted.extend(checked(pem)?);
        }
    }
    let inner: Arc<dyn ServerCertVerifier> = match roots {
        Roots::Platform => Arc::new(Verifier::new(provider()).map_err(of_platform)?),
        Roots::PlatformAnd(_) => {
            Arc::new(Verifier::new_with_extra_roots(trusted.clone(), provider()).map_err(of_platform)?)
        }
        Roots::Only(_) => {
            let mut store = RootCertStore::empty();
            // All of them were checked before.
            store.add_parsable_certificates(trusted.clone());
            let verifier = WebPkiServerVerifier::builder_with_provider(store.into(), provider()).build();
            verifier.map_err(|error| {
                Error::new(ErrorKind::Tls, "found no root certificate, expected at least one").because(error)
            })?
        }
    };
    Ok(LimitedServerVerifier { inner, trusted })
}

/// Reads certificates and checks that each can be an authority.
fn checked(pem: &Pem) -> Result<Vec<rustls::pki_types::CertificateDer<'static>>, Error> {
    let certificates = pem.certificates()?;
    for (index, certificate) in certificates.iter().enumerate() {
        RootCertStore::empty().add(certificate.clone()).map_err(|error| pem.unusable(index, &error))?;
    }
    Ok(certificates)
}

fn broken_off(error: io::Error) -> Error {
    let reason = reason(&error);
    let is_refused = reason.is_some();
    let message = match reason {
        Some(reason) => reason,
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the server closed the connection in the TLS handshake".to_owned()
        }
        None => format!("the TLS handshake broke off: {error}"),
    };
    let message = match advice(&error) {
        Some(advice) => format!("{message}; {advice}"),
        None => message,
    };
    let broken_off = Error::new(ErrorKind::Connect, message);
    if is_refused { broken_off.repeating() } else { broken_off }.because(error)
}

/// Why TLS failed on a connection. A server checks the client certificate after the handshake (RFC 8446 §4.4.2.4). If
/// its alert arrives before the request is written, the error of the request is only that the connection is gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Broken(Arc<OnceLock<String>>);

impl Broken {
    /// Returns why TLS failed on the connection of a request.
    pub(super) fn of(connection: &CaptureConnection) -> Option<String> {
        let mut extensions = Extensions::new();
        connection.connection_metadata().as_ref()?.get_extras(&mut extensions);
        extensions.get::<Broken>()?.0.get().cloned()
    }

    /// Stores the reason of `error`, unless one is stored already.
    pub(super) fn note(&self, error: &io::Error) {
        if let Some(reason) = reason(error) {
            self.0.get_or_init(|| reason);
        }
    }
}
