//! TLS for any [`Listener`].
//!
//! A connection is accepted immediately. Its handshake is part of the wait for the first request: it runs in the task
//! of the connection and within the same time limit, and the connection can be dropped meanwhile like any waiting one.

use std::fmt;
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ProducesTickets, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;
use tokio_rustls::server::TlsStream as OpenStream;
use tokio_rustls::{TlsAcceptor, server::FallibleAccept};

use super::listener::{Connection, Listener, TlsPeer};
use super::proxy_protocol::NoHeader;
use crate::error::{Error, ErrorKind};
use crate::tls::{
    ALPN, Identity, LimitedClientVerifier, LoadedIdentity, Pem, PlainHttp, Sniffed, TlsVersion, meaning, provider,
    reason,
};

/// The most bytes of encrypted answers that a connection buffers.
const MAX_UNSENT: usize = 64 << 10;

/// The most memory of a connection besides the buffers of HTTP: encrypted answers, and handshake messages, for which
/// rustls allows the same number of bytes.
const BUFFERS: usize = MAX_UNSENT + (64 << 10);

/// How many bytes of a rejected connection are read, so that the client can receive the reason.
const MAX_REFUSED: usize = 64 << 10;

/// The answer to HTTP without TLS.
const USE_HTTPS: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 58\r\n\
    connection: close\r\n\r\nfound plain HTTP, expected TLS: this port is for https://\n";

/// The shortest time between two renewals of the ticket keys. A renewal ends the resumable sessions of all clients,
/// because of one.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_secs(60);

/// The TLS options of a server: its own certificate, and which certificates clients need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TlsOptions {
    /// The certificate of the server, and its key.
    pub identity: Identity,
    /// Whether clients need certificates. By default none are requested.
    pub client_certificates: ClientCertificates,
    /// The oldest allowed version. TLS 1.2 by default.
    pub min_version: TlsVersion,
}

impl TlsOptions {
    /// Creates options with this identity and defaults otherwise.
    pub fn new(identity: Identity) -> Self {
        TlsOptions { identity, client_certificates: ClientCertificates::NotAsked, min_version: TlsVersion::default() }
    }
}

/// Whether clients need certificates.
#[derive(Clone, Debug)]
pub enum ClientCertificates {
    /// No certificate is requested.
    NotAsked,
    /// A client may have a certificate, which is then verified. [`TlsPeer::certificates`] shows whether it has one.
    Optional(ClientRoots),
    /// A client without a certificate is rejected in the handshake.
    Required(ClientRoots),
}

/// The authorities that issue client certificates.
#[derive(Clone, Debug)]
pub struct ClientRoots {
    roots: Vec<Pem>,
    revocation_lists: Vec<Pem>,
}

impl ClientRoots {
    /// Trusts the authorities in `roots`.
    pub fn new(roots: Pem) -> Self {
        ClientRoots { roots: vec![roots], revocation_lists: Vec::new() }
    }

    /// Trusts additional authorities.
    pub fn roots(mut self, roots: Pem) -> Self {
        self.roots.push(roots);
        self
    }

    /// Rejects the certificates in a revocation list. If there is any list, each issuer in a chain must have one that
    /// is not out of date.
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
                // Each list is checked alone, so that the error can name its file.
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

/// The TLS of a server. Clones share the loaded files, so a clone can [`reload`](Self::reload) them.
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
    /// Locked during a reload, from before the files are read.
    loaded: Mutex<Loaded>,
    tickets: Arc<Tickets>,
    current: RwLock<Arc<Current>>,
}

/// The configuration for new connections.
struct Current {
    config: Arc<ServerConfig>,
    /// The verifier of client certificates, if they are requested.
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    tickets: Arc<Tickets>,
}

/// The contents of the files.
#[derive(Clone, PartialEq)]
struct Loaded {
    identity: LoadedIdentity,
    /// `None` if no client certificates are requested.
    authorities: Option<Authorities>,
}

#[derive(Clone, PartialEq)]
struct Authorities {
    roots: Vec<CertificateDer<'static>>,
    revocation_lists: Vec<CertificateRevocationListDer<'static>>,
}

impl Tls {
    /// Loads the files that `options` name.
    ///
    /// # Errors
    /// [`ErrorKind::Tls`] names the file that can't be used, and the reason.
    pub fn with_options(options: TlsOptions) -> Result<Self, Error> {
        let loaded = Loaded::load(&options)?;
        let tickets = Arc::new(Tickets::new()?);
        let current = RwLock::new(Arc::new(loaded.current(&options, &tickets)?));
        Ok(Tls { inner: Arc::new(Inner { options, loaded: Mutex::new(loaded), tickets, current }) })
    }

    /// Reads the files again, and returns whether they have changed. New connections use the new contents; open ones
    /// are not affected. This reads files, so call it in `spawn_blocking` in an async task.
    ///
    /// Sessions can be resumed across a reload. The client certificate is verified each time.
    ///
    /// # Errors
    /// [`ErrorKind::Tls`] names the file that can't be used, and the reason. The files loaded before stay in use.
    pub fn reload(&self) -> Result<bool, Error> {
        let Inner { options, loaded, tickets, current } = &*self.inner;
        // Otherwise, of two concurrent reloads, the slower one could store older contents.
        let mut loaded = loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let found = Loaded::load(options)?;
        if found == *loaded {
            return Ok(false);
        }
        let new = Arc::new(found.current(options, tickets)?);
        // Accepting connections takes this lock, so drop the old configuration only after releasing it.
        let old = mem::replace(&mut *current.write().unwrap_or_else(PoisonError::into_inner), new);
        drop(old);
        *loaded = found;
        Ok(true)
    }

    /// Accepts connections from `listener` and uses TLS on each.
    pub fn listen<L: Listener>(&self, listener: L) -> TlsListener<L> {
        TlsListener { listener, tls: self.clone() }
    }

    fn current(&self) -> Arc<Current> {
        self.inner.current.read().unwrap_or_else(PoisonError::into_inner).clone()
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

    fn current(&self, options: &TlsOptions, tickets: &Arc<Tickets>) -> Result<Current, Error> {
        let unusable = |error: rustls::Error| Error::new(ErrorKind::Tls, "TLS can't be set up").because(error);
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(options.min_version.and_later())
            .map_err(unusable)?;
        let verifier = self.authorities.as_ref().map(|authorities| authorities.verifier(options)).transpose()?;
        let builder = match &verifier {
            None => builder.with_no_client_auth(),
            Some(verifier) => builder.with_client_cert_verifier(verifier.clone()),
        };
        let LoadedIdentity { chain, key } = self.identity.clone();
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.ticketer = tickets.clone();
        // Clients resume sessions by tickets. Sessions stored by the server would be uncounted memory.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Current { config: Arc::new(config), verifier, tickets: tickets.clone() })
    }
}

impl Authorities {
    fn verifier(&self, options: &TlsOptions) -> Result<Arc<dyn ClientCertVerifier>, Error> {
        let mut roots = RootCertStore::empty();
        // They have all been added successfully before.
        roots.add_parsable_certificates(self.roots.iter().cloned());
        let mut verifier = verifier(roots, self.revocation_lists.iter().cloned());
        if matches!(options.client_certificates, ClientCertificates::Optional(_)) {
            verifier = verifier.allow_unauthenticated();
        }
        let unusable = |error| Error::new(ErrorKind::Tls, "the authorities of clients can't be used").because(error);
        Ok(Arc::new(LimitedClientVerifier(verifier.build().map_err(unusable)?)))
    }
}

impl Current {
    /// Returns the reason if a client is rejected after its handshake.
    fn refusal(&self, session: &ServerConnection) -> Option<String> {
        let chain = session.peer_certificates()?;
        let [leaf, issuers @ ..] = chain else { return None };
        // The certificate in a ticket was verified when the session began, and each resumed session gets new tickets.
        // So verify it again.
        if session.handshake_kind() == Some(HandshakeKind::Resumed)
            && let Some(verifier) = &self.verifier
            && let Err(error) = verifier.verify_client_cert(leaf, issuers, UnixTime::now())
        {
            // Its other tickets would lead here again, instead of to a handshake in which it can send a new
            // certificate.
            self.tickets.renew();
            return Some(meaning(&error));
        }
        None
    }
}

/// The keys of session tickets. They change every 6 hours.
#[derive(Debug)]
struct Tickets(RwLock<Keys>);

#[derive(Debug)]
struct Keys {
    current: Arc<dyn ProducesTickets>,
    /// When they were last renewed because of a client.
    renewed: Option<Instant>,
}

impl Tickets {
    fn new() -> Result<Self, Error> {
        let current = Ticketer::new()
            .map_err(|error| Error::new(ErrorKind::Tls, "there are no keys for session tickets").because(error))?;
        Ok(Tickets(RwLock::new(Keys { current, renewed: None })))
    }

    /// Ends all resumable sessions, unless that was done recently.
    fn renew(&self) {
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if keys.renewed.is_none_or(|renewed| renewed.elapsed() >= MIN_RENEWAL_INTERVAL)
            && let Ok(current) = Ticketer::new()
        {
            *keys = Keys { current, renewed: Some(Instant::now()) };
        }
    }

    fn current(&self) -> Arc<dyn ProducesTickets> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).current.clone()
    }
}

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        self.current().enabled()
    }

    fn lifetime(&self) -> u32 {
        self.current().lifetime()
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.current().encrypt(plain)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        self.current().decrypt(cipher)
    }
}

/// A listener whose connections use TLS, made by [`Tls::listen`].
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
        Poll::Ready(Ok(TlsStream::new(stream, self.tls.current())))
    }
}

/// A connection that uses TLS. The first read or write waits for the handshake.
pub struct TlsStream<T> {
    state: State<T>,
    /// The address of the peer, which stays known after the handshake.
    address: Option<IpAddr>,
    local_address: Option<SocketAddr>,
    peer: Option<TlsPeer>,
}

/// Boxed, so that a connection is cheap to move.
enum State<T> {
    /// The peer isn't known yet, because a proxy reports it before the handshake.
    UnknownPeer(Box<Option<(T, Arc<Current>)>>),
    Handshake(Box<Handshake<T>>),
    Open(Box<OpenStream<Sniffed<T>>>),
    /// The handshake failed.
    Broken(Box<Refused<T>>),
    /// The handshake succeeded, but the client is rejected.
    Refused(Box<Refused<OpenStream<Sniffed<T>>>>),
}

struct Handshake<T> {
    accept: FallibleAccept<Sniffed<T>>,
    current: Arc<Current>,
    /// The number of bytes that have arrived.
    received: Arc<AtomicU64>,
}

/// A connection that is being closed, possibly with a reason.
struct Refused<T> {
    stream: T,
    /// The rest of the answer.
    answer: Bytes,
    /// Why the handshake failed, if it did.
    why: Option<String>,
    is_closed: bool,
    /// How many more bytes are read.
    left: usize,
}

impl<T: Connection> State<T> {
    fn handshake(stream: T, current: Arc<Current>) -> Self {
        let limit = |session: &mut ServerConnection| session.set_buffer_limit(Some(MAX_UNSENT));
        let acceptor = TlsAcceptor::from(current.config.clone());
        let stream = Sniffed::new(stream);
        let came = stream.received.clone();
        let accept = acceptor.accept_with(stream, limit).into_fallible();
        State::Handshake(Box::new(Handshake { accept, current, received: came }))
    }
}

impl<T: Connection> TlsStream<T> {
    fn new(stream: T, current: Arc<Current>) -> Self {
        let (address, local_address) = (stream.peer(), stream.local_addr());
        let state = match address {
            Some(_) => State::handshake(stream, current),
            None => State::UnknownPeer(Box::new(Some((stream, current)))),
        };
        TlsStream { state, address, local_address, peer: None }
    }

    /// Completes the handshake and returns the TLS stream.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut OpenStream<Sniffed<T>>>>> {
        if let State::UnknownPeer(nobody) = &mut self.state
            && let Some((stream, _)) = &mut **nobody
        {
            let readable = ready!(stream.poll_readable(cx));
            self.address = stream.peer();
            if let Some((stream, current)) = nobody.take() {
                self.state = match readable {
                    Ok(()) => State::handshake(stream, current),
                    Err(error) => State::Broken(Box::new(Refused::new(stream, Bytes::new(), failure(&error)))),
                };
            }
        }
        if let State::Handshake(handshake) = &mut self.state {
            let ended = ready!(Pin::new(&mut handshake.accept).poll(cx));
            self.state = match ended {
                Ok(stream) => match handshake.current.refusal(stream.get_ref().1) {
                    None => {
                        self.peer = Some(peer(stream.get_ref().1));
                        State::Open(Box::new(stream))
                    }
                    Some(why) => {
                        let answer = forbidden(&why);
                        State::Refused(Box::new(Refused::new(stream, answer, Some(why))))
                    }
                },
                Err((error, Sniffed { stream, .. })) => {
                    let is_plain = error.get_ref().is_some_and(|error| error.is::<PlainHttp>());
                    let answer = Bytes::from_static(if is_plain { USE_HTTPS.as_bytes() } else { b"" });
                    State::Broken(Box::new(Refused::new(stream, answer, failure(&error))))
                }
            };
        }
        match &mut self.state {
            State::Open(stream) => return Poll::Ready(Ok(Pin::new(&mut **stream))),
            State::Broken(refused) => ready!(refused.poll_end(cx)),
            State::Refused(refused) => ready!(refused.poll_end(cx)),
            State::UnknownPeer(_) | State::Handshake(_) => return Poll::Pending,
        }
        Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the client was rejected")))
    }
}

/// Returns why a handshake failed. `None` if the proxy sent no header, because no handshake began then.
fn failure(error: &io::Error) -> Option<String> {
    match error.kind() {
        _ if error.get_ref().is_some_and(|error| error.is::<NoHeader>()) => None,
        io::ErrorKind::UnexpectedEof => Some("the client closed the connection during the handshake".to_owned()),
        _ => Some(reason(error).unwrap_or_else(|| error.to_string())),
    }
}

/// Returns the answer to a client whose certificate is rejected.
fn forbidden(why: &str) -> Bytes {
    let why = format!("{why}\n");
    let length = why.len();
    let head = "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain; charset=utf-8";
    format!("{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{why}").into()
}

impl<T: AsyncRead + AsyncWrite + Unpin> Refused<T> {
    fn new(stream: T, answer: Bytes, why: Option<String>) -> Self {
        Refused { stream, answer, why, is_closed: false, left: MAX_REFUSED }
    }

    /// Sends the answer, closes the writing half, and reads for a while. Closing with unread bytes resets the
    /// connection, and the client could see that before it has read the alert or the answer.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Refused { stream, answer, is_closed, left, .. } = self;
        let mut stream = Pin::new(stream);
        while !answer.is_empty() {
            match ready!(stream.as_mut().poll_write(cx, answer)) {
                Ok(written @ 1..) => answer.advance(written),
                Ok(0) | Err(_) => return Poll::Ready(()),
            }
        }
        if !*is_closed {
            // An error also shows when reading.
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

/// Returns the peer of a session.
fn peer(session: &ServerConnection) -> TlsPeer {
    let certificates = session.peer_certificates().unwrap_or_default();
    TlsPeer::new(
        certificates.iter().map(|certificate| certificate.to_vec()).collect(),
        session.server_name().map(str::to_owned),
    )
}

impl<T: Connection> Connection for TlsStream<T> {
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Decrypted data is no longer in the socket.
        ready!(self.poll_open(cx))?.poll_fill_buf(cx).map_ok(|_| ())
    }

    fn peer(&self) -> Option<IpAddr> {
        match &self.state {
            State::UnknownPeer(nobody) => nobody.as_ref().as_ref().and_then(|(stream, _)| stream.peer()),
            _ => self.address,
        }
    }

    fn local_addr(&self) -> Option<SocketAddr> {
        self.local_address
    }

    fn tls_peer(&self) -> Option<TlsPeer> {
        self.peer.clone()
    }

    fn handshake_bytes(&self) -> u64 {
        match &self.state {
            State::Handshake(handshake) => handshake.received.load(Relaxed),
            _ => 0,
        }
    }

    fn is_in_handshake(&self) -> bool {
        matches!(self.state, State::UnknownPeer(_) | State::Handshake(_))
    }

    fn handshake_failure(&self) -> Option<String> {
        match &self.state {
            State::UnknownPeer(_) | State::Handshake(_) | State::Open(_) => None,
            State::Broken(refused) => refused.why.clone(),
            State::Refused(refused) => refused.why.clone(),
        }
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
        // During a handshake only the connection itself can be closed.
        if matches!(self.state, State::UnknownPeer(_) | State::Handshake(_)) {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_open(cx))?.poll_shutdown(cx)
    }
}

impl<T> fmt::Debug for TlsStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::UnknownPeer(_) => "nobody",
            State::Handshake(_) => "handshake",
            State::Open(_) => "open",
            State::Broken(_) => "broken",
            State::Refused(_) => "refused",
        };
        f.debug_struct("TlsStream").field("state", &state).field("peer", &self.peer).finish_non_exhaustive()
    }
}
