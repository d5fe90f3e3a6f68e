//! TLS in front of any [`Listener`].
//!
//! A connection is accepted at once, and the handshake is a part of its wait for the first request: it happens in the task of
//! the connection, within the same time, and makes way for others as any wait does.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll, ready};

use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ProducesTickets, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream as OpenStream;
use tokio_rustls::{TlsAcceptor, server::FallibleAccept};

use super::listener::{Connection, Listener, TlsPeer};
use crate::tls::{ALPN, Identity, LoadedIdentity, Pem, PlainHttp, Sniffed, TlsVersion, provider};
use crate::{Error, ErrorKind};

/// The most bytes of answers that wait in a connection, encrypted.
const MAX_UNSENT: usize = 64 << 10;

/// What a connection keeps beside the buffers of HTTP, at most: answers that wait, and the messages of a handshake, of which
/// rustls takes as many bytes.
const BUFFERS: usize = MAX_UNSENT + (64 << 10);

/// How many bytes are read of a connection that is refused, so that its client may read why.
const MAX_REFUSED: usize = 64 << 10;

/// The answer to HTTP without TLS.
const USE_HTTPS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 58\r\n\
    connection: close\r\n\r\nfound plain HTTP, expected TLS: this port is for https://\n";

/// What a server is to clients, and what it asks of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TlsOptions {
    /// Its certificate and key.
    pub identity: Identity,
    /// Whether clients have certificates. They are not asked for one by default.
    pub client_certificates: ClientCertificates,
    /// The oldest version that is spoken. TLS 1.2 by default.
    pub min_version: TlsVersion,
}

impl TlsOptions {
    /// A server of this identity, with what is the default otherwise.
    pub fn new(identity: Identity) -> Self {
        TlsOptions { identity, client_certificates: ClientCertificates::NotAsked, min_version: TlsVersion::default() }
    }
}

/// Whether clients have certificates.
#[derive(Clone, Debug)]
pub enum ClientCertificates {
    /// No client is asked for one.
    NotAsked,
    /// A client may have one, which is checked then. [`TlsPeer::certificates`] tells whether it has.
    Optional(ClientRoots),
    /// A client without one is refused in the handshake.
    Required(ClientRoots),
}

/// Who issues the certificates of clients.
#[derive(Clone, Debug)]
pub struct ClientRoots {
    roots: Vec<Pem>,
    revocation_lists: Vec<Pem>,
}

impl ClientRoots {
    /// The certificates of authorities.
    pub fn new(roots: Pem) -> Self {
        ClientRoots { roots: vec![roots], revocation_lists: Vec::new() }
    }

    /// These and further authorities.
    pub fn roots(mut self, roots: Pem) -> Self {
        self.roots.push(roots);
        self
    }

    /// Refuses the certificates in a revocation list. With one list, each issuer of a chain must have one that is not out of date.
    pub fn revocation_lists(mut self, lists: Pem) -> Self {
        self.revocation_lists.push(lists);
        self
    }

    fn load(&self) -> Result<Authorities, Error> {
        let mut authorities = Authorities { roots: Vec::new(), revocation_lists: Vec::new() };
        let mut store = RootCertStore::empty();
        for pem in &self.roots {
            for (index, root) in pem.certificates()?.into_iter().enumerate() {
                store.add(root.clone()).map_err(|error| pem.unusable(index, &error))?;
                authorities.roots.push(root);
            }
        }
        for pem in &self.revocation_lists {
            for (index, list) in pem.revocation_lists()?.into_iter().enumerate() {
                // Each alone, so that the error names its file.
                verifier(store.clone(), [list.clone()]).build().map_err(|error| match error {
                    VerifierBuilderError::InvalidCrl(error) => pem.unusable(index, &error.into()),
                    other => Error::new(ErrorKind::Tls, format!("{pem} can't be used: {other}")),
                })?;
                authorities.revocation_lists.push(list);
            }
        }
        Ok(authorities)
    }
}

fn verifier(
    roots: RootCertStore,
    lists: impl IntoIterator<Item = CertificateRevocationListDer<'static>>,
) -> rustls::server::ClientCertVerifierBuilder {
    WebPkiClientVerifier::builder_with_provider(roots.into(), provider())
        .with_crls(lists)
        .enforce_revocation_expiration()
}

/// TLS as a server speaks it. Clones share what was loaded, so that one may be kept to [`reload`](Self::reload) it.
///
/// ```no_run
/// # fn endpoint() -> castile_http::server::Endpoint<dyn castile_soap::Service> { unimplemented!() }
/// use castile_http::server::{Server, Tls, TlsOptions, shutdown_signal};
/// use castile_http::tls::{Identity, Pem};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let identity = Identity::new(Pem::file("server.pem"), Pem::file("server.key"));
/// let tls = Tls::with_options(TlsOptions::new(identity))?;
/// let listener = tls.listen(tokio::net::TcpListener::bind("127.0.0.1:8443").await?);
/// let shutdown = Server::new().serve(listener, endpoint(), shutdown_signal()).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    inner: Arc<Inner>,
}

struct Inner {
    options: TlsOptions,
    current: RwLock<Current>,
}

/// What new connections get.
struct Current {
    loaded: Loaded,
    tickets: Arc<dyn ProducesTickets>,
    config: Arc<ServerConfig>,
}

/// What stands in the files.
#[derive(Clone, PartialEq)]
struct Loaded {
    identity: LoadedIdentity,
    /// `None` if clients are not asked.
    authorities: Option<Authorities>,
}

#[derive(Clone, PartialEq)]
struct Authorities {
    roots: Vec<CertificateDer<'static>>,
    revocation_lists: Vec<CertificateRevocationListDer<'static>>,
}

impl Tls {
    /// Loads what `options` name.
    ///
    /// # Errors
    /// [`ErrorKind::Tls`] names the file that can't be used, and what is wrong with it.
    pub fn with_options(options: TlsOptions) -> Result<Self, Error> {
        let loaded = Loaded::load(&options)?;
        let tickets = tickets()?;
        let config = loaded.config(&options, &tickets)?;
        let current = RwLock::new(Current { loaded, tickets, config });
        Ok(Tls { inner: Arc::new(Inner { options, current }) })
    }

    /// Reads the files again. Returns whether there is something new in them, which connections get from now on; those that are
    /// open stay as they are.
    ///
    /// Sessions can be resumed across a reload, unless the authorities or revocation lists of clients changed: a session is
    /// resumed without a look at the client's certificate.
    ///
    /// # Errors
    /// As for [`with_options`](Self::with_options). What was loaded before stays.
    pub fn reload(&self) -> Result<bool, Error> {
        let Inner { options, current } = &*self.inner;
        let loaded = Loaded::load(options)?;
        let mut current = current.write().unwrap_or_else(PoisonError::into_inner);
        if loaded == current.loaded {
            return Ok(false);
        }
        let tickets = match loaded.authorities == current.loaded.authorities {
            true => current.tickets.clone(),
            false => tickets()?,
        };
        let config = loaded.config(options, &tickets)?;
        *current = Current { loaded, tickets, config };
        Ok(true)
    }

    /// Speaks TLS on each connection that `listener` accepts.
    pub fn listen<L: Listener>(&self, listener: L) -> TlsListener<L> {
        TlsListener { listener, tls: self.clone() }
    }

    fn config(&self) -> Arc<ServerConfig> {
        self.inner.current.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

impl Loaded {
    fn load(options: &TlsOptions) -> Result<Self, Error> {
        let authorities = match &options.client_certificates {
            ClientCertificates::NotAsked => None,
            ClientCertificates::Optional(roots) | ClientCertificates::Required(roots) => Some(roots.load()?),
        };
        Ok(Loaded { identity: options.identity.load()?, authorities })
    }

    fn config(&self, options: &TlsOptions, tickets: &Arc<dyn ProducesTickets>) -> Result<Arc<ServerConfig>, Error> {
        let unusable = |error: rustls::Error| Error::new(ErrorKind::Tls, "TLS can't be set up").because(error);
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(options.min_version.and_later())
            .map_err(unusable)?;
        let builder = match &self.authorities {
            None => builder.with_no_client_auth(),
            Some(authorities) => builder.with_client_cert_verifier(authorities.verifier(options)?),
        };
        let LoadedIdentity { chain, key } = self.identity.clone();
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.ticketer = tickets.clone();
        // Clients that resume have tickets; sessions that the server remembers would be memory that nobody counts.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Arc::new(config))
    }
}

impl Authorities {
    fn verifier(&self, options: &TlsOptions) -> Result<Arc<dyn ClientCertVerifier>, Error> {
        let mut roots = RootCertStore::empty();
        // Each of them was added before.
        roots.add_parsable_certificates(self.roots.iter().cloned());
        let mut verifier = verifier(roots, self.revocation_lists.iter().cloned());
        if matches!(options.client_certificates, ClientCertificates::Optional(_)) {
            verifier = verifier.allow_unauthenticated();
        }
        let unusable = |error| Error::new(ErrorKind::Tls, "the authorities of clients can't be used").because(error);
        verifier.build().map_err(unusable)
    }
}

/// New keys for session tickets, which change by themselves every 6 hours.
fn tickets() -> Result<Arc<dyn ProducesTickets>, Error> {
    Ticketer::new().map_err(|error| Error::new(ErrorKind::Tls, "there are no keys for session tickets").because(error))
}

/// A listener whose connections speak TLS, made by [`Tls::listen`].
#[derive(Debug)]
pub struct TlsListener<L> {
    listener: L,
    tls: Tls,
}

impl<L: Listener> Listener for TlsListener<L> {
    type Connection = TlsStream<L::Connection>;

    const BUFFERS: usize = L::BUFFERS + BUFFERS;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Connection>> {
        let stream = ready!(self.listener.poll_accept(cx))?;
        Poll::Ready(Ok(TlsStream::new(stream, self.tls.config())))
    }
}

/// A connection that speaks TLS. Whoever reads or writes first waits for the handshake.
pub struct TlsStream<T> {
    state: State<T>,
    address: Option<IpAddr>,
    local_address: Option<SocketAddr>,
    peer: Option<TlsPeer>,
}

/// Boxed, so that a connection is small while it is moved.
enum State<T> {
    Handshake(Box<FallibleAccept<Sniffed<T>>>),
    Open(Box<OpenStream<Sniffed<T>>>),
    Refused(Box<Refused<T>>),
}

/// A connection on which no handshake came about.
struct Refused<T> {
    stream: T,
    answer: &'static [u8],
    is_closed: bool,
    /// How many more bytes are read.
    left: usize,
}

impl<T: Connection> TlsStream<T> {
    fn new(stream: T, config: Arc<ServerConfig>) -> Self {
        let (address, local_address) = (stream.peer(), stream.local_addr());
        let limit = |session: &mut ServerConnection| session.set_buffer_limit(Some(MAX_UNSENT));
        let accept = TlsAcceptor::from(config).accept_with(Sniffed::new(stream), limit).into_fallible();
        TlsStream { state: State::Handshake(Box::new(accept)), address, local_address, peer: None }
    }

    /// The stream behind the handshake.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut OpenStream<Sniffed<T>>>>> {
        if let State::Handshake(accept) = &mut self.state {
            match ready!(Pin::new(&mut **accept).poll(cx)) {
                Ok(stream) => {
                    self.peer = Some(peer(stream.get_ref().1));
                    self.state = State::Open(Box::new(stream));
                }
                Err((error, Sniffed { stream, .. })) => {
                    let is_plain = error.get_ref().is_some_and(|error| error.is::<PlainHttp>());
                    let answer = if is_plain { USE_HTTPS } else { &[] };
                    let refused = Refused { stream, answer, is_closed: false, left: MAX_REFUSED };
                    self.state = State::Refused(Box::new(refused));
                }
            }
        }
        match &mut self.state {
            State::Open(stream) => Poll::Ready(Ok(Pin::new(&mut **stream))),
            State::Refused(refused) => {
                ready!(refused.poll_end(cx));
                Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "there was no TLS handshake")))
            }
            State::Handshake(_) => Poll::Pending,
        }
    }
}

impl<T: Connection> Refused<T> {
    /// Says why, closes the writing half and reads on for a while: to close with bytes unread resets the connection, and the
    /// client may learn of that before it has read the alert or the answer.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Refused { stream, answer, is_closed, left } = self;
        let mut stream = Pin::new(stream);
        while !answer.is_empty() {
            match ready!(stream.as_mut().poll_write(cx, answer)) {
                Ok(written @ 1..) => *answer = &answer[written..],
                Ok(0) | Err(_) => return Poll::Ready(()),
            }
        }
        if !*is_closed {
            // An error shows in reading as well.
            let _ = ready!(stream.as_mut().poll_shutdown(cx));
            *is_closed = true;
        }
        let mut unread = [0; 4096];
        loop {
            let mut unread = ReadBuf::new(&mut unread);
            let read = ready!(stream.as_mut().poll_read(cx, &mut unread));
            match left.checked_sub(unread.filled().len()) {
                Some(less) if read.is_ok() && less < *left => *left = less,
                _ => return Poll::Ready(()),
            }
        }
    }
}

/// Who the other end of a session is.
fn peer(session: &ServerConnection) -> TlsPeer {
    let certificates = session.peer_certificates().unwrap_or_default();
    TlsPeer::new(
        certificates.iter().map(|certificate| certificate.to_vec()).collect(),
        session.server_name().map(str::to_owned),
    )
}

impl<T: Connection> Connection for TlsStream<T> {
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What is decrypted already is no longer in the socket.
        ready!(self.poll_open(cx))?.poll_fill_buf(cx).map_ok(|_| ())
    }

    fn peer(&self) -> Option<IpAddr> {
        self.address
    }

    fn local_addr(&self) -> Option<SocketAddr> {
        self.local_address
    }

    fn tls_peer(&self) -> Option<TlsPeer> {
        self.peer.clone()
    }
}

impl<T: Connection> AsyncRead for TlsStream<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_read(cx, buffer)
    }
}

impl<T: Connection> AsyncWrite for TlsStream<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_shutdown(cx)
    }
}

impl<T> fmt::Debug for TlsStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Handshake(_) => "handshake",
            State::Open(_) => "open",
            State::Refused(_) => "refused",
        };
        f.debug_struct("TlsStream").field("state", &state).field("peer", &self.peer).finish_non_exhaustive()
    }
}
