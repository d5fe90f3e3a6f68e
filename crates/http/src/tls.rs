//! TLS 1.2 and 1.3 for both sides: where certificates and keys are read from, and readable error messages.

mod chain;
mod pem;
mod reason;

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{InconsistentKeys, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::{Error, ErrorKind};

#[cfg(feature = "server")]
pub(crate) use self::chain::LimitedClientVerifier;
#[cfg(feature = "client")]
pub(crate) use self::chain::LimitedServerVerifier;
pub use self::pem::Pem;
#[cfg(feature = "client")]
pub(crate) use self::reason::advice;
#[cfg(feature = "server")]
pub(crate) use self::reason::of as meaning;
pub(crate) use self::reason::{PlainHttp, reason};

/// The protocol to negotiate with ALPN (RFC 7301).
pub(crate) const ALPN: &[u8] = b"http/1.1";

/// The identity of a server or client: a certificate with its chain, and its private key.
#[derive(Clone, Debug)]
pub struct Identity {
    chain: Pem,
    key: Pem,
}

impl Identity {
    /// Creates an identity. `chain` has the certificate first, then those of its issuers, without the root. `key` is an
    /// unencrypted key in PKCS #8, PKCS #1 or SEC 1. Both may be in one file.
    pub fn new(chain: Pem, key: Pem) -> Self {
        Identity { chain, key }
    }

    /// Returns the sources of the certificates and of the key.
    #[cfg(feature = "openssl")]
    pub(crate) fn pem(&self) -> (&Pem, &Pem) {
        (&self.chain, &self.key)
    }

    /// Reads both and checks that they belong together.
    pub(crate) fn load(&self) -> Result<LoadedIdentity, Error> {
        let (chain, key) = (self.chain.certificates()?, self.key.private_key()?);
        let signer = provider().key_provider.load_private_key(key.clone_key()).map_err(|error| {
            Error::new(ErrorKind::Tls, format!("the private key in {} can't be used", self.key)).because(error)
        })?;
        match rustls::sign::CertifiedKey::new(chain.clone(), signer).keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {
                Ok(LoadedIdentity { chain, key })
            }
            Err(rustls::Error::InconsistentKeys(_)) => {
                let message =
                    format!("the private key in {} is not that of the certificate in {}", self.key, self.chain);
                Err(Error::new(ErrorKind::Tls, message))
            }
            Err(error) => Err(self.chain.unusable(0, &error)),
        }
    }
}

/// An identity that has been read.
#[derive(PartialEq)]
pub(crate) struct LoadedIdentity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Clone for LoadedIdentity {
    fn clone(&self) -> Self {
        LoadedIdentity { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TlsVersion {
    /// RFC 5246, with ECDHE and authenticated encryption only.
    #[default]
    Tls12,
    /// RFC 8446.
    Tls13,
}

impl TlsVersion {
    /// Returns this version and later ones.
    pub(crate) fn and_later(self) -> &'static [&'static SupportedProtocolVersion] {
        static TLS13: [&SupportedProtocolVersion; 1] = [&rustls::version::TLS13];
        match self {
            TlsVersion::Tls12 => rustls::DEFAULT_VERSIONS,
            TlsVersion::Tls13 => &TLS13,
        }
    }
}

/// Returns the cryptography of AWS-LC, whatever the default provider of the process is.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));
    PROVIDER.clone()
}

/// A stream that detects plain HTTP by its first byte and counts the bytes that arrive.
#[derive(Debug)]
pub(crate) struct Sniffed<T> {
    pub(crate) stream: T,
    /// Shared, because a handshake in progress doesn't give access to its stream.
    pub(crate) received: Arc<AtomicU64>,
}

impl<T> Sniffed<T> {
    pub(crate) fn new(stream: T) -> Self {
        Sniffed { stream, received: Arc::default() }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Sniffed<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let filled = &buffer.filled()[before..];
        // TLS record types are small numbers (RFC 8446 §5.1). HTTP methods and versions begin with a capital letter.
        if self.received.load(Relaxed) == 0 && filled.first().is_some_and(u8::is_ascii_uppercase) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, PlainHttp)));
        }
        self.received.fetch_add(filled.len() as u64, Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Sniffed<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
