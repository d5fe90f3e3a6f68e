//! The options of a transport, and of a single exchange.

use std::net::IpAddr;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};

use super::credentials::Credentials;
use super::proxy::Proxies;
use super::redirects::Redirects;
use super::retries::Retries;
#[cfg(feature = "tls")]
use super::tls::Tls;

/// The options of a [`Transport`](super::Transport).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The time limit for connecting, including the DNS lookup, the proxy and the TLS handshake. 5 s by default.
    pub connect_timeout: Duration,
    /// The time limit of a request, from its start to the last byte of the answer's envelope, including all redirects
    /// and retries. 30 s by default.
    ///
    /// A streamed request may take longer while the server takes more of it within this time. The attachments of an
    /// answer, and an answer that is read item by item, may take longer too. More bytes must then arrive within this
    /// time, at [`response_rate`](Self::response_rate).
    pub request_timeout: Duration,
    /// The rate at which an answer with attachments must arrive, or one that is read item by item, in bytes per second.
    /// Only time in which the caller waits counts. One [`request_timeout`](Self::request_timeout) is free, and each
    /// further one raises the required rate by this value. Bytes of the request that are sent meanwhile count as well.
    /// 100 by default; 0 requires nothing.
    pub response_rate: u32,
    /// How long an unused connection stays in the pool. 30 s by default: less than usual for servers, so that a server
    /// seldom closes a connection just when it is reused.
    pub idle_timeout: Duration,
    /// The most unused connections per host. `None`, the default, means no limit.
    pub max_idle_per_host: Option<usize>,
    /// The local address of connections, for a machine that has several. `None` by default: the system chooses. With an
    /// address set, servers of the other address family can't be reached.
    pub local_address: Option<IpAddr>,
    /// The `User-Agent` (RFC 9110 §10.1.5) of requests that don't set their own. `castile/` and the version by default.
    pub user_agent: Option<HeaderValue>,
    /// The proxies. By default they are read from the environment.
    pub proxies: Proxies,
    /// The credentials of the client. `None` by default. A request with its own `Authorization` header keeps it.
    ///
    /// They are sent with each request, whatever its URL is, but not after a redirect to another origin.
    pub credentials: Option<Credentials>,
    /// Whether cookies are stored and sent back to the origin that set them. Off by default.
    pub cookies: bool,
    /// Whether responses have [`ConnectTimes`](super::ConnectTimes) in their extensions. Off by default.
    pub times: bool,
    /// Whether redirects are followed. Never by default.
    pub redirects: Redirects,
    /// Whether messages without an answer are sent again. Never by default.
    pub retries: Retries,
    /// TLS for `https` URLs: the trusted authorities and the client certificate. By default the authorities of the
    /// platform are trusted. A proxy with an `https` URL uses the same options, but gets no client certificate.
    #[cfg(feature = "tls")]
    pub tls: Tls,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(30),
            response_rate: 100,
            idle_timeout: Duration::from_secs(30),
            max_idle_per_host: None,
            local_address: None,
            user_agent: Some(HeaderValue::from_static(concat!("castile/", env!("CARGO_PKG_VERSION")))),
            proxies: Proxies::default(),
            credentials: None,
            cookies: false,
            times: false,
            redirects: Redirects::default(),
            retries: Retries::default(),
            #[cfg(feature = "tls")]
            tls: Tls::new(),
        }
    }
}

/// Options for sending a message and limits for its reply.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExchangeOptions {
    /// The size limit of the reply's envelope, in bytes.
    pub message_size: usize,
    /// The limits of a package that arrives as the reply.
    pub package: castile_mime::Limits,
    /// Additional HTTP headers for the request. Headers that describe the message itself are ignored.
    pub http_headers: HeaderMap,
    /// Whether the request announces that the reply may be compressed with gzip. A compressed reply is decoded in any
    /// case. Off by default.
    pub accept_gzip: bool,
    /// The size in bytes above which requests are compressed with gzip. Streamed requests are then always compressed.
    /// `None` by default, because the client can't know whether the server accepts gzip.
    pub gzip_above: Option<usize>,
    /// Whether the server may act on the message twice. If so, [`Retries`] also apply if the server may have received
    /// the message. Off by default.
    pub is_repeatable: bool,
}

impl ExchangeOptions {
    /// Creates options with a size limit for the reply's envelope, in bytes. The other options have their defaults.
    pub fn new(message_size: usize) -> Self {
        ExchangeOptions {
            message_size,
            package: castile_mime::Limits::default(),
            http_headers: HeaderMap::new(),
            accept_gzip: false,
            gzip_above: None,
            is_repeatable: false,
        }
    }
}
