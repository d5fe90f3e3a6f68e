//! The TLS options of a client.

use crate::tls::{Identity, Pem, TlsVersion};

/// The default ciphers: those of OpenSSL, with keys of 1,024 bits or more.
#[cfg(feature = "openssl")]
const CIPHERS: &str = "DEFAULT:@SECLEVEL=1";

/// The TLS options of a client: the authorities that it trusts, and its own certificate.
///
/// They also apply to a proxy with an `https` URL, except [`identity`](Self::identity),
/// [`server_name`](Self::server_name) and `legacy` (feature `openssl`), which are only for the server.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TlsOptions {
    /// The trusted authorities. Those of the platform by default.
    pub roots: Roots,
    /// The client certificate, for servers that request one. `None` by default.
    pub identity: Option<Identity>,
    /// The server name to request and to verify in the certificate. `None` by default: the host of the URL.
    pub server_name: Option<String>,
    /// The oldest allowed version. TLS 1.2 by default.
    pub min_version: TlsVersion,
    /// Whether each connection makes a full handshake instead of resuming a session. Off by default.
    pub full_handshakes: bool,
    /// TLS by OpenSSL, for a server that doesn't support secure TLS. `None` by default.
    #[cfg(feature = "openssl")]
    pub legacy: Option<Legacy>,
}

/// The authorities whose certificates are trusted.
#[derive(Clone, Debug, Default)]
pub enum Roots {
    /// The authorities that the operating system trusts.
    #[default]
    Platform,
    /// The authorities that the operating system trusts, and additional ones.
    PlatformAnd(Vec<Pem>),
    /// Only these. A self-signed server certificate may be one of them, even if it declares itself an authority, as
    /// `openssl req -x509` makes it. Each of them is trusted as an authority: the owner of its key can issue
    /// certificates for any name.
    Only(Vec<Pem>),
}

/// TLS by OpenSSL instead of rustls, for one server that doesn't support secure TLS: small Diffie-Hellman keys, SHA-1,
/// ciphers without authenticated encryption, Brainpool curves, TLS before 1.2.
///
/// It is weaker than the TLS of other clients. It is set in the [`TlsOptions`] of one [`Transport`](super::Transport),
/// so other servers are not affected. Certificates and names are checked as usual.
///
/// ```no_run
/// use castile_http::client::{Legacy, Options, Tls, TlsOptions};
///
/// # fn main() -> Result<(), castile_http::Error> {
/// let mut tls = TlsOptions::default();
/// tls.legacy = Some(Legacy::default());
/// let mut options = Options::default();
/// options.tls = Tls::with_options(tls)?;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "openssl")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Legacy {
    /// The cipher suites up to TLS 1.2, and the security level, in the format of `openssl ciphers`.
    /// `DEFAULT:@SECLEVEL=1` by default, which allows keys of 1,024 bits. Certificates signed with SHA-1, and TLS
    /// before 1.2, need `@SECLEVEL=0`.
    pub ciphers: String,
    /// The groups for the key exchange in order of preference, separated by colons, such as `brainpoolP256r1:P-256`.
    /// `None` by default: OpenSSL chooses.
    pub groups: Option<String>,
    /// The oldest allowed version. TLS 1.2 by default.
    pub min_version: LegacyVersion,
    /// Whether the server may lack secure renegotiation (RFC 5746), as some servers from before 2010 do. Off by
    /// default.
    pub allows_insecure_renegotiation: bool,
}

/// A version of TLS that OpenSSL speaks.
#[cfg(feature = "openssl")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LegacyVersion {
    /// RFC 2246, deprecated by RFC 8996.
    Tls10,
    /// RFC 4346, deprecated by RFC 8996.
    Tls11,
    /// RFC 5246.
    #[default]
    Tls12,
}

#[cfg(feature = "openssl")]
impl Default for Legacy {
    fn default() -> Self {
        Legacy {
            ciphers: CIPHERS.to_owned(),
            groups: None,
            min_version: LegacyVersion::default(),
            allows_insecure_renegotiation: false,
        }
    }
}
