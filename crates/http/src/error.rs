//! Errors of exchanges and of the TLS setup.

use std::fmt;

use http::uri::{Authority, Parts};
use http::{HeaderMap, StatusCode, Uri};

/// Any error, as reported by bodies and services from outside this crate.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a call that returned no message, or of a TLS setup that failed.
///
/// A SOAP fault is not an `Error`: it is a message.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<BoxError>,
    /// Where the message was sent, without a login.
    url: Option<Uri>,
    /// The status and headers of the response, if there was one.
    answer: Option<(StatusCode, HeaderMap)>,
    repeats_itself: bool,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request could not be built: for example, the URL has no authority, or no header can hold the SOAPAction.
    Request,
    /// No connection to the server could be made.
    Connect,
    /// The answer was not complete in time.
    Timeout,
    /// The exchange broke off between the request and the head of the response. The server may or may not have acted on
    /// the request.
    Exchange,
    /// The server answered with a status that carries no SOAP message (SOAP 1.1 §6.2 defines 200 and 500).
    Status(StatusCode),
    /// The content type of the response is not that of a SOAP message, or names an unknown charset.
    ContentType,
    /// The response has a content encoding other than gzip, or is not valid gzip.
    ContentEncoding,
    /// The message is larger than the caller allows.
    TooLarge,
    /// The body of the response broke off.
    Body,
    /// The package of the request or of the response is broken.
    Package,
    /// The client has no usable credentials: no token was issued, or stored cookies could not be read.
    Credentials,
    /// A certificate, key or revocation list for TLS can't be used.
    Tls,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Error { inner: Box::new(Inner { kind, message, source: None, url: None, answer: None, repeats_itself: false }) }
    }

    pub(crate) fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Marks this error as permanent: another attempt would fail in the same way.
    #[cfg(feature = "client")]
    pub(crate) fn repeating(mut self) -> Self {
        self.inner.repeats_itself = true;
        self
    }

    /// Returns whether another attempt would fail in the same way: the server rejects the client's identity, or the
    /// configuration can't be used.
    #[cfg(feature = "client")]
    pub(crate) fn repeats_itself(&self) -> bool {
        self.inner.repeats_itself || matches!(self.inner.kind, ErrorKind::Request | ErrorKind::Tls)
    }

    /// Adds the URL that the message was sent to, unless the error has one. After redirects, the last URL is added
    /// first.
    #[cfg(feature = "client")]
    pub(crate) fn about(mut self, url: &Uri) -> Self {
        if self.inner.url.is_none() {
            self.inner.url = without_user_info(url);
        }
        self
    }

    /// Adds the status and headers of the response.
    pub(crate) fn answered(mut self, status: StatusCode, headers: HeaderMap) -> Self {
        self.inner.answer = Some((status, headers));
        self
    }

    /// Returns the URL that the message was sent to; after redirects, the last one. It has no login. It includes the
    /// query, which error messages omit because it may contain secrets. `None` if nothing was to be sent.
    pub fn url(&self) -> Option<&Uri> {
        self.inner.url.as_ref()
    }

    /// Returns the status of the response, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        self.inner.answer.as_ref().map(|(status, _)| *status)
    }

    /// Returns the headers of the response, if there was one: for example `WWW-Authenticate`, `Retry-After` or
    /// `Location`.
    pub fn http_headers(&self) -> Option<&HeaderMap> {
        self.inner.answer.as_ref().map(|(_, headers)| headers)
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }
}

/// Returns the message of the innermost cause.
#[cfg(feature = "client")]
pub(crate) fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

/// Removes a login from a URL.
fn without_user_info(url: &Uri) -> Option<Uri> {
    let Some((_, host)) = url.authority().and_then(|authority| authority.as_str().rsplit_once('@')) else {
        return Some(url.clone());
    };
    let mut parts = Parts::from(url.clone());
    parts.authority = Some(Authority::try_from(host).ok()?);
    Uri::from_parts(parts).ok()
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

#[cfg(all(test, feature = "client"))]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_stored_without_its_login() {
        for (url, kept) in [
            ("http://host/a?b=c", "http://host/a?b=c"),
            ("https://ada:correct%20horse@host:81/a?b=c@d", "https://host:81/a?b=c@d"),
            ("http://ada@[::1]:80/", "http://[::1]:80/"),
            ("/a", "/a"),
        ] {
            let error = Error::new(ErrorKind::Exchange, "").about(&url.parse().unwrap());
            assert_eq!(error.url().map(Uri::to_string).as_deref(), Some(kept));
            // The first URL that was set stays.
            assert_eq!(error.about(&Uri::from_static("http://other/")).url().unwrap(), kept);
        }
    }
}
