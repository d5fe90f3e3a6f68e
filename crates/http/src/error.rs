//! What can go wrong between sending a message and having the answer, and where TLS is set up.

use std::fmt;

use http::{HeaderMap, StatusCode};

use crate::BoxError;

/// Why a call brought no message back, or why TLS can't be set up.
///
/// A SOAP fault is not among the reasons: it is a message.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<BoxError>,
    /// What was said of the answer, if one came.
    answer: Option<(StatusCode, HeaderMap)>,
    repeats_itself: bool,
}

/// What kind of failure an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request could not be written down: a URL without an authority, a SOAPAction that no header can hold.
    Request,
    /// No connection to the server came about.
    Connect,
    /// The time was over before the answer was complete.
    Timeout,
    /// The exchange broke off between the request and the head of the response. Whether the server acted on the
    /// request is unknown.
    Exchange,
    /// The server answered with a status that carries no SOAP message (SOAP 1.1 §6.2 knows 200 and 500).
    Status(StatusCode),
    /// The content type of the response is not that of a SOAP message, or names a charset that is not known.
    ContentType,
    /// The response has a content encoding other than gzip, or is not what gzip makes.
    ContentEncoding,
    /// The message is larger than the caller allowed.
    TooLarge,
    /// The body of the response broke off.
    Body,
    /// The package that the response is, or that the request was to be, is broken.
    Package,
    /// There is nothing to tell the server who the client is: no token was issued, or what was kept of cookies is something else.
    Credentials,
    /// What TLS is to be set up with can't be used: a certificate, a key, a revocation list.
    Tls,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Error { inner: Box::new(Inner { kind, message, source: None, answer: None, repeats_itself: false }) }
    }

    pub(crate) fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// This error as one that comes again whenever the same is tried.
    #[cfg(feature = "client")]
    pub(crate) fn repeating(mut self) -> Self {
        self.inner.repeats_itself = true;
        self
    }

    pub(crate) fn repeats_itself(&self) -> bool {
        self.inner.repeats_itself
    }

    /// This error with the head of the answer that it is about.
    pub(crate) fn answered(mut self, status: StatusCode, headers: HeaderMap) -> Self {
        self.inner.answer = Some((status, headers));
        self
    }

    /// The status of the answer, if one came.
    pub fn status(&self) -> Option<StatusCode> {
        self.inner.answer.as_ref().map(|(status, _)| *status)
    }

    /// The headers of the answer, if one came: `WWW-Authenticate`, `Retry-After`, `Location`.
    pub fn http_headers(&self) -> Option<&HeaderMap> {
        self.inner.answer.as_ref().map(|(_, headers)| headers)
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&castile_xml::visible(&self.inner.message))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.inner.kind)
            .field("message", &self.inner.message)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}
