//! Requests that are rejected by HTTP before SOAP sees them, with a readable reason.

use std::fmt;
use std::time::Duration;

use http::{HeaderValue, Response, StatusCode, header};

use super::slots;
use crate::body::{Body, Failure};
use crate::gzip::GzipError;
use crate::headers::{UnreadReason, shown};

/// The Retry-After of temporary rejections: 1 s.
pub(super) const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// Why a request is answered without a SOAP message.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The endpoint doesn't support this method; `shows` is whether it answers GET.
    Method { shows: bool },
    /// Only GET and HEAD are supported here.
    OnlyGet,
    /// The credentials are missing or unknown.
    Unauthorized { challenges: Vec<HeaderValue> },
    /// There is no endpoint at this path.
    Path { found: String },
    /// The Content-Type is missing or not one of SOAP, or its charset is unknown.
    ContentType(UnreadReason),
    /// A content coding other than gzip, or gzip if it is not accepted.
    ContentEncoding { found: String, takes_gzip: bool },
    /// The body isn't valid gzip, or decodes to too many bytes.
    Gzip(GzipError),
    /// The SOAPAction is not UTF-8.
    Action,
    /// A request of HTTP/1.1 has no Host.
    NoHost,
    /// A header that may occur only once occurs several times.
    Repeated { name: &'static str, found: usize },
    /// A value is not `host[:port]`.
    Authority { of: &'static str },
    /// The target is neither a path nor a URL.
    Target,
    /// There is a transfer coding before `chunked`.
    TransferCoding,
    /// The coding before the last one is `chunked` too.
    ChunkedTwice,
    /// The body has more bytes than allowed.
    TooLarge { declared: Option<u64>, limit: usize },
    /// The body broke off.
    BrokenOff { after: u64, reason: String },
    /// A package exceeds one of its limits.
    Limit { message: String },
    /// The body did not arrive in time.
    Stalled(Stalled),
    /// The handler did not answer in time.
    HandlerTimeout { limit: Duration },
    /// The document or page could not be made.
    Unmade,
    /// The server has too many requests at work.
    Overload,
    /// There is too little memory.
    Exhausted,
}

/// Why a body is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stalled {
    /// The message was not complete within this time.
    Late(Duration),
    /// No bytes arrived for this time.
    Silent(Duration),
    /// Too few bytes arrived in the time that the server waited for them.
    Slow { came: u64, waited: Duration },
    /// It was the slowest when too many requests were being received.
    Dropped,
    /// There is not enough memory for it.
    Exhausted,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stalled::Late(limit) => write!(f, "the message was not complete within {limit:?}"),
            Stalled::Silent(waited) => write!(f, "no bytes arrived for {waited:?}"),
            Stalled::Slow { came, waited } => {
                write!(f, "only {came} bytes arrived in the {} s that the server waited for them", waited.as_secs())
            }
            Stalled::Dropped => {
                f.write_str("the server receives too many messages at once, and this one was the slowest")
            }
            Stalled::Exhausted => f.write_str("the server has too little memory, try again later"),
        }
    }
}

impl std::error::Error for Stalled {}

impl Refusal {
    /// Converts the failure of reading a body of at most `limit` bytes.
    pub(super) fn of_body(failure: Failure, limit: usize) -> Self {
        match failure {
            Failure::TooLarge { declared } => Refusal::TooLarge { declared, limit },
            Failure::BrokenOff { after, source } => Refusal::broken_off(after as u64, &*source),
        }
    }

    /// Converts the error of a body after `after` bytes.
    pub(super) fn broken_off(after: u64, source: &(dyn std::error::Error + 'static)) -> Self {
        if let Some(stalled) = source.downcast_ref::<Stalled>() {
            return Refusal::from(*stalled);
        }
        match source.downcast_ref::<GzipError>() {
            Some(unsound) => Refusal::Gzip(unsound.clone()),
            None => Refusal::BrokenOff { after, reason: source.to_string() },
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Refusal::Method { .. } | Refusal::OnlyGet => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
            Refusal::Path { .. } => StatusCode::NOT_FOUND,
            Refusal::ContentType(_) | Refusal::ContentEncoding { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::Gzip(GzipError::Ratio { .. }) => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::Action
            | Refusal::Gzip(_)
            | Refusal::BrokenOff { .. }
            | Refusal::NoHost
            | Refusal::Repeated { .. }
            | Refusal::Authority { .. }
            | Refusal::Target
            | Refusal::ChunkedTwice => StatusCode::BAD_REQUEST,
            Refusal::TransferCoding => StatusCode::NOT_IMPLEMENTED,
            Refusal::TooLarge { .. } | Refusal::Limit { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::Stalled(_) => StatusCode::REQUEST_TIMEOUT,
            Refusal::Unmade => StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::HandlerTimeout { .. } | Refusal::Overload | Refusal::Exhausted => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns whether the connection must be closed. The rest of the body may still be on its way (RFC 9110 §15.5.9),
    /// or its end is ambiguous (RFC 9112 §11.2).
    fn ends_connection(&self) -> bool {
        match self {
            Refusal::Method { .. }
            | Refusal::OnlyGet
            | Refusal::Unauthorized { .. }
            | Refusal::Path { .. }
            | Refusal::ContentType(_)
            | Refusal::ContentEncoding { .. }
            | Refusal::Action
            | Refusal::HandlerTimeout { .. }
            | Refusal::Unmade
            | Refusal::Overload => false,
            Refusal::NoHost
            | Refusal::Repeated { .. }
            | Refusal::Authority { .. }
            | Refusal::Target
            | Refusal::TransferCoding
            | Refusal::ChunkedTwice
            | Refusal::TooLarge { .. }
            | Refusal::Limit { .. }
            | Refusal::BrokenOff { .. }
            | Refusal::Gzip(_)
            | Refusal::Stalled(_)
            | Refusal::Exhausted => true,
        }
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(format!("{self}\n")));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, text);
        match &self {
            Refusal::Unauthorized { challenges } => challenges.iter().for_each(|challenge| {
                headers.append(header::WWW_AUTHENTICATE, challenge.clone());
            }),
            Refusal::Method { shows } => {
                let allowed = if *shows { "GET, HEAD, POST" } else { "POST" };
                headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
            }
            Refusal::OnlyGet => {
                headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            // The Accept-Encoding of an answer lists the supported codings (RFC 9110 §12.5.3).
            Refusal::ContentEncoding { takes_gzip, .. } => {
                let taken = if *takes_gzip { "gzip, identity" } else { "identity" };
                headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(taken));
            }
            Refusal::Overload | Refusal::Exhausted => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            _ => {}
        }
        if self.ends_connection() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl From<Stalled> for Refusal {
    fn from(stalled: Stalled) -> Self {
        match stalled {
            Stalled::Exhausted => Refusal::Exhausted,
            stalled => Refusal::Stalled(stalled),
        }
    }
}

impl From<slots::Overload> for Refusal {
    fn from(_: slots::Overload) -> Self {
        Refusal::Overload
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Method { .. } => {
                f.write_str("this is a SOAP endpoint: POST a message to it, or GET its contract with ?wsdl")
            }
            Refusal::OnlyGet => f.write_str("only GET and HEAD are allowed here"),
            Refusal::Unauthorized { .. } => f.write_str("found no valid credentials"),
            Refusal::Path { found } => write!(f, "no service at {}", shown(found)),
            Refusal::ContentType(unread) => unread.fmt(f),
            Refusal::ContentEncoding { found, takes_gzip } => {
                let expected = if *takes_gzip { "gzip or none" } else { "none" };
                write!(f, "found content encoding {}, expected {expected}", shown(found))
            }
            Refusal::Gzip(unsound) => unsound.fmt(f),
            Refusal::Action => f.write_str("the SOAPAction header is not UTF-8"),
            Refusal::NoHost => f.write_str("found no Host header, expected one (RFC 9112 §3.2)"),
            Refusal::Repeated { name, found } => write!(f, "found {found} {name} headers, expected one"),
            Refusal::Authority { of } => write!(f, "the {of} is not host[:port] (RFC 9110 §7.2)"),
            Refusal::Target => f.write_str("the target is neither a path nor an absolute URL (RFC 9112 §3.2)"),
            Refusal::TransferCoding => {
                f.write_str("found a transfer coding before chunked, expected only chunked (RFC 9112 §6.1)")
            }
            Refusal::ChunkedTwice => f.write_str("the body is chunked twice, expected once (RFC 9112 §6.1)"),
            Refusal::TooLarge { declared: Some(found), limit } => {
                write!(f, "the message has {found} bytes, expected at most {limit}")
            }
            Refusal::TooLarge { declared: None, limit } => {
                write!(f, "the message has more than {limit} bytes, which is the limit")
            }
            Refusal::Limit { message } => f.write_str(message),
            Refusal::BrokenOff { after, reason } => write!(f, "the message broke off after {after} bytes: {reason}"),
            Refusal::Stalled(stalled) => stalled.fmt(f),
            Refusal::HandlerTimeout { limit } => write!(f, "the service did not answer within {limit:?}"),
            Refusal::Unmade => f.write_str("the server failed to make the response"),
            Refusal::Overload => f.write_str("too many requests at once, try again later"),
            Refusal::Exhausted => Stalled::Exhausted.fmt(f),
        }
    }
}
