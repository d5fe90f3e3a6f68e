//! What can go wrong between sending a message and having the answer, and where TLS is set up.

use std::fmt;

use http::uri::{Authority, Parts};
use http::{HeaderMap, StatusCode, Uri};

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
    /// Where the message went, without a login.
    url: Option<Uri>,
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
        Error { inner: Box::new(Inner { kind, message, source: None, url: None, answer: None, repeats_itself: false }) }
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

    /// This error with the URL that the message went to. Who knows the last one, behind redirects, says it first.
    #[cfg(feature = "client")]
    pub(crate) fn about(mut self, url: &Uri) -> Self {
        if self.inner.url.is_none() {
            self.inner.url = without_user_info(url);
        }
        self
    }

    /// This error with the head of the answer that it is about.
    pub(crate) fn answered(mut self, status: StatusCode, headers: HeaderMap) -> Self {
        self.inner.answer = Some((status, headers));
        self
    }

    /// The URL that the message went to: behind redirects the last one. It has no login, and has its query, which messages leave out
    /// since it may hold what is secret. `None` if no message was to be sent.
    pub fn url(&self) -> Option<&Uri> {
        self.inner.url.as_ref()
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

/// A URL without what may stand before its host.
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
    fn a_url_is_kept_without_its_login() {
        for (url, kept) in [
            ("http://host/a?b=c", "http://host/a?b=c"),
            ("https://ada:correct%20horse@host:81/a?b=c@d", "https://host:81/a?b=c@d"),
            ("http://ada@[::1]:80/", "http://[::1]:80/"),
            ("/a", "/a"),
        ] {
            let error = Error::new(ErrorKind::Exchange, "").about(&url.parse().unwrap());
            assert_eq!(error.url().map(Uri::to_string).as_deref(), Some(kept));
            // What was said first is the last URL of all.
            assert_eq!(error.about(&Uri::from_static("http://other/")).url().unwrap(), kept);
        }
    }
}
