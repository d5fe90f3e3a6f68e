//! The options of generated clients.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use castile_http::{DEFAULT_OFFLOAD_ABOVE, Workers};
use castile_soap::{MessageSecurity, Options, Version, WriteHeader, addressing};
use http::HeaderMap;

/// The options of a client.
///
/// ```
/// use std::time::Duration;
///
/// let mut options = castile::ClientOptions::default();
/// options.timeout = Some(Duration::from_secs(5));
/// options.messages.limits.message_size = 1 << 20;
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// How messages are read and written: the limits of responses, lenient or strict reading, the header blocks that are
    /// understood, and MTOM. By default, the [shared](Workers::shared) workers read responses of more than 256 KiB. Requests are
    /// always written by the calling task, because the call only borrows them.
    pub messages: Options,
    /// The version of SOAP. `None`, the default, uses the version of the contract, or SOAP 1.1 if the contract has both.
    pub version: Option<Version>,
    /// The version of WS-Addressing. With WS-Addressing, requests have an action, a destination and a message id. An answer that
    /// relates to another request is rejected. `None`, the default, uses WS-Addressing only if the contract requires it.
    pub addressing: Option<addressing::Version>,
    /// The timeout of a call, from its start to the end of the answer's envelope. `None`, the default, sets none. The transport's
    /// timeouts apply in any case.
    pub timeout: Option<Duration>,
    /// HTTP headers that are sent with each request.
    pub http_headers: HeaderMap,
    /// Whether requests announce that the client accepts gzip. Answers in gzip are decoded in any case. Off by default.
    pub accept_gzip: bool,
    /// The size in bytes above which requests are compressed with gzip. If it is set, streamed requests are always compressed.
    /// `None`, the default, compresses no request, because a client can't know whether the server accepts gzip.
    pub gzip_above: Option<usize>,
    /// Security that is added to requests and required of answers, such as `castile::wss::message::ClientSecurity`. Answers that
    /// are read item by item, and attachments that are sent as streams, can't be secured. `None` by default.
    pub security: Option<Arc<dyn MessageSecurity>>,
    pub(super) headers: Vec<Arc<dyn WriteHeader>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let mut messages = Options::default();
        messages.offload = Some(Workers::shared().above(DEFAULT_OFFLOAD_ABOVE));
        ClientOptions {
            messages,
            version: None,
            addressing: None,
            timeout: None,
            http_headers: HeaderMap::new(),
            accept_gzip: false,
            gzip_above: None,
            security: None,
            headers: Vec::new(),
        }
    }
}

impl ClientOptions {
    /// Adds a header block that is sent with each request.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.headers.push(Arc::new(block));
        self
    }

    /// Sets the [`security`](Self::security) of requests and answers.
    pub fn with_security(self, security: impl MessageSecurity) -> Self {
        ClientOptions { security: Some(Arc::new(security)), ..self }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClientOptions {
            messages,
            version,
            addressing,
            timeout,
            http_headers,
            accept_gzip,
            gzip_above,
            security,
            headers,
        } = self;
        f.debug_struct("ClientOptions")
            .field("messages", messages)
            .field("version", version)
            .field("addressing", addressing)
            .field("timeout", timeout)
            .field("http_headers", http_headers)
            .field("accept_gzip", accept_gzip)
            .field("gzip_above", gzip_above)
            .field("security", security)
            .field("headers", &headers.len())
            .finish()
    }
}
