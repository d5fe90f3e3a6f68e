//! The client side: sends a message and returns its reply.

mod connect;
mod cookies;
mod credentials;
#[cfg(feature = "openssl")]
mod legacy_tls;
mod options;
mod proxy;
mod redirects;
mod retries;
mod sift;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_options;
mod transport;
mod urls;

use std::fmt::Display;
use std::future::poll_fn;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use castile_mime::{Content, Packaging, Related};
use castile_soap::{Received, Version, Written};
use castile_xml::{Charset, visible};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header, response};
use hyper_util::client::legacy;

use crate::body::{self, Body, Failure};
use crate::error::{BoxError, Error, ErrorKind, root};
use crate::gzip::{self, Coded, GZIP, GzipError};
use crate::headers::{ContentType, Fields, MessageType, SOAP_ACTION, UnreadReason, remove_own, request_headers, shown};
use crate::package::{self, Contained};
use crate::timeout;

pub use self::connect::ConnectTimes;
pub use self::credentials::Credentials;
pub use self::options::{ExchangeOptions, Options};
pub use self::proxy::Proxies;
pub use self::redirects::Redirects;
use self::retries::Repeatable;
pub use self::retries::Retries;
pub use self::sift::Sift;
use self::sift::{Sieved, Sifted};
#[cfg(feature = "tls")]
pub use self::tls::Tls;
#[cfg(feature = "openssl")]
pub use self::tls_options::{Legacy, LegacyVersion};
#[cfg(feature = "tls")]
pub use self::tls_options::{Roots, TlsOptions};
use self::transport::{Due, Redirected};
pub use self::transport::{ResponseBody, Transport};
pub use self::urls::{http_url, url};
use self::urls::{shown_reference, shown_url};

/// The Accept header of requests that use MTOM.
const ACCEPT_MTOM: HeaderValue =
    HeaderValue::from_static("multipart/related, application/xop+xml, application/soap+xml, text/xml");

/// How many bytes of a response that is not a message are quoted in the error.
const EXCERPT: usize = 1024;

/// A reply message, which may be a fault.
#[derive(Debug)]
pub struct ClientReply {
    /// The HTTP status: 200, or for a fault 500 (SOAP 1.1 §6.2) or 400 (SOAP 1.2 Part 2 §7.5.1). Some servers send
    /// faults with 200, so the message decides. 202 or 204 if there is no message.
    pub status: StatusCode,
    /// The HTTP headers.
    pub http_headers: HeaderMap,
    /// The message, its attachments, and the charset of its content type if that has one (RFC 7303 §3.2). The envelope
    /// is empty if the response had none, as for an operation without a response.
    pub received: Received,
}

/// Posts `message` to `url` over `transport` and waits for the reply.
///
/// `transport` is a [`Transport`] or any other service that answers HTTP requests: the
/// [`Endpoint`](crate::server::Endpoint) of a server in the same process, an axum router, or a stack of tower layers.
/// `version` is the SOAP version of the message. It selects the media type, and whether `action` is sent in the
/// SOAPAction header (SOAP 1.1 §6.1.1) or in the media type (SOAP 1.2 Part 2 §6.5). A reply of more than
/// `max_message_size` bytes is an error.
/// ```
/// # use castile_http::{Error, client::{self, Transport}};
/// # use castile_soap::Version;
/// # async fn run() -> Result<(), Error> {
/// let transport = Transport::new();
/// let url = "http://127.0.0.1:8080/orders".parse().expect("this is a URL");
/// let message = "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body/></Envelope>";
/// let reply = client::call(transport, &url, Version::Soap11, "urn:orders/ping", message, 1 << 20).await?;
/// # drop(reply);
/// # Ok(())
/// # }
/// ```
pub async fn call<T, B>(
    transport: T,
    url: &Uri,
    version: Version,
    action: &str,
    message: impl Into<Content>,
    max_message_size: usize,
) -> Result<ClientReply, Error>
where
    T: tower_service::Service<Request<Body>, Response = Response<B>>,
    T::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let written = Written::new(message);
    exchange(transport, url, version, action, written, ExchangeOptions::new(max_message_size)).await
}

/// Sends a message, with attachments if it has some, and waits for the reply. Attachments of the reply are read on
/// demand. A request that uses MTOM announces that the client accepts MTOM.
///
/// # Errors
/// The request can't be built or sent, or no valid reply arrives in time; [`Error::kind`] is the reason.
pub async fn exchange<T, B>(
    transport: T,
    url: &Uri,
    version: Version,
    action: &str,
    written: Written,
    options: ExchangeOptions,
) -> Result<ClientReply, Error>
where
    T: tower_service::Service<Request<Body>, Response = Response<B>>,
    T::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    exchange_sifted(transport, url, version, action, written, options, None).await
}

/// Sends a message like [`exchange`], and lets `sift` extract parts of the reply. A reply that is a package is not
/// sifted. With `sift`, the reply may take longer than the request timeout while it arrives at
/// [`Options::response_rate`].
///
/// # Errors
/// The request can't be built or sent, or no valid reply arrives in time; [`Error::kind`] is the reason.
pub async fn exchange_sifted<T, B>(
    mut transport: T,
    url: &Uri,
    version: Version,
    action: &str,
    written: Written,
    options: ExchangeOptions,
    sift: Option<&mut dyn Sift>,
) -> Result<ClientReply, Error>
where
    T: tower_service::Service<Request<Body>, Response = Response<B>>,
    T::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (message_size, package) = (options.message_size, options.package);
    let mut request = request(url, version, action, written, options).await.map_err(|error| error.about(url))?;
    if sift.is_some() {
        request.extensions_mut().insert(Sifted);
    }
    let ready = poll_fn(|cx| transport.poll_ready(cx)).await;
    ready.map_err(|error| exchange_failed(url, error.into()))?;
    let response = transport.call(request).await;
    let (mut head, body) = response.map_err(|error| exchange_failed(url, error.into()))?.into_parts();
    let (status, due) = (head.status, head.extensions.remove::<Due>());
    let redirected = head.extensions.remove::<Redirected>();
    let url = redirected.as_ref().map_or(url, |Redirected(to)| to);
    let received = receive(url, &head, body, message_size, package, due, sift).await;
    match received {
        Ok(received) => Ok(ClientReply { status, http_headers: head.headers, received }),
        Err(error) => Err(error.about(url).answered(status, head.headers)),
    }
}

/// Reads the reply from `url`. If the response is not a message, the error quotes its beginning.
async fn receive<B>(
    url: &Uri,
    head: &response::Parts,
    body: B,
    message_size: usize,
    package: castile_mime::Limits,
    due: Option<Due>,
    sift: Option<&mut dyn Sift>,
) -> Result<Received, Error>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let response::Parts { status, headers, .. } = head;
    let status = *status;
    let Fields { content_type, content_encoding: encoding, .. } = Fields::of(headers);
    let is_fault = matches!(status, StatusCode::INTERNAL_SERVER_ERROR | StatusCode::BAD_REQUEST);
    let is_success = matches!(status, StatusCode::OK | StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
    let is_gzip = gzip::is_gzip(&encoding);
    let body = Coded::of(body, is_gzip, u64::MAX);
    let encoding = encoding.value.filter(|_| !is_gzip);
    let may_be_message = (is_success || is_fault) && encoding.is_none();
    match content_type.single().map(ContentType::read) {
        Ok(Ok(ContentType::Message(MessageType { charset, .. }))) if may_be_message => {
            let (message, charset) = match sift {
                None => (body::read(body, message_size).await, charset),
                Some(sift) => {
                    let left = Sieved::new(Box::pin(body), charset, sift);
                    (body::read(left, message_size).await, Some(Charset::UTF_8))
                }
            };
            let message = message.map_err(|failure| body_failed(url, failure, message_size))?;
            Ok(Received { charset, ..message.into() })
        }
        Ok(Ok(ContentType::Package(related))) if may_be_message => {
            let mut package = package;
            package.root_size = package.root_size.min(message_size);
            Box::pin(receive_package(url, &related, body, package, due)).await
        }
        content_type => {
            let text = body::read_some(body, EXCERPT).await;
            if text.is_empty() && is_success && content_type.is_ok() {
                // An empty answer (WS-I Basic Profile 1.1 R2714), whatever its Content-Type is.
                return Ok(Bytes::new().into());
            }
            let (from, said) = (shown_url(url), String::from_utf8_lossy(&text));
            let (kind, message) = match (content_type, encoding) {
                (Err(found), _) => {
                    let message = format!("the answer from {from} has {found} Content-Type headers, expected one");
                    (ErrorKind::ContentType, quoting(message, &said))
                }
                (_, Some(found)) => {
                    let found = shown(&String::from_utf8_lossy(found.as_bytes()));
                    let has = format!("the answer {status} from {from} has the content encoding {found}");
                    let message = format!("{has}, which was not requested");
                    (ErrorKind::ContentEncoding, quoting(message, as_text(&text)))
                }
                (Ok(Err(why)), None)
                    if status == StatusCode::OK
                        || (is_fault
                            && matches!(why, UnreadReason::Charset { .. } | UnreadReason::Repeated { .. })) =>
                {
                    (ErrorKind::ContentType, quoting(unread(url, &why), &said))
                }
                (Ok(_), None) => {
                    let mut message =
                        format!("the answer from {from} is {status}, expected 200, or 500 or 400 with a fault");
                    if let Some(to) = headers.get(header::LOCATION).filter(|_| status.is_redirection()) {
                        let to = String::from_utf8_lossy(to.as_bytes());
                        message = format!("{message}; it redirects the message to {}", shown_reference(&to));
                    }
                    (ErrorKind::Status(status), quoting(message, &said))
                }
            };
            Err(Error::new(kind, message))
        }
    }
}

fn unread(url: &Uri, why: &dyn Display) -> String {
    format!("the answer from {} can't be read: {why}", shown_url(url))
}

/// Appends the text of the response to an error message.
fn quoting(message: String, said: &str) -> String {
    match said.trim() {
        "" => message,
        said => format!("{message}: {}", visible(said)),
    }
}

/// Decodes the beginning of a text, which may end within a character. Returns an empty string if it isn't text.
fn as_text(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        Err(_) => "",
    }
}

/// Waits for the answer to a call to `url`, for at most `limit`.
///
/// # Errors
/// [`ErrorKind::Timeout`] if the limit has passed.
pub async fn within<F: Future>(url: &Uri, limit: Duration, call: F) -> Result<F::Output, Error> {
    timeout::within(limit, call).await.map_err(|_| unanswered(url, limit))
}

#[cold]
fn unanswered(url: &Uri, limit: Duration) -> Error {
    let from = shown_url(url);
    let message = format!("no answer from {from} within {limit:?}, the time limit of this call");
    Error::new(ErrorKind::Timeout, message).about(url)
}

/// Reads a package up to the end of its envelope.
async fn receive_package<B>(
    url: &Uri,
    related: &Related,
    body: B,
    limits: castile_mime::Limits,
    due: Option<Due>,
) -> Result<Received, Error>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let message = castile_mime::Message::read(related, body, limits);
    let message = match due {
        Some(due) => due.bound(url, message).await?,
        None => message.await,
    };
    let message = message.map_err(|error| {
        // An error of our own transport has a more precise kind.
        let of_transport = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Error>());
        let kind = of_transport.map_or(ErrorKind::Package, Error::kind);
        let message = of_transport.map_or_else(|| unread(url, &error), Error::to_string);
        Error::new(kind, message).because(error)
    })?;
    let contained = Contained::read(related, &message);
    let Contained { packaging, message_type } = contained.map_err(|why| {
        let begins = &message.root[..message.root.len().min(EXCERPT)];
        Error::new(ErrorKind::ContentType, quoting(unread(url, &why), as_text(begins)))
    })?;
    Ok(Received {
        charset: message_type.charset,
        packaging: Some(packaging),
        attachments: message.attachments,
        ..message.root.into()
    })
}

async fn request(
    url: &Uri,
    version: Version,
    action: &str,
    written: Written,
    options: ExchangeOptions,
) -> Result<Request<Body>, Error> {
    let Written { message, parts, packaging, .. } = written;
    let packaging = package::packaging(packaging, &parts);
    let (mut content_type, soap_action) = request_headers(version, action).map_err(|error| {
        let message = format!("the action {action:?} has characters that are not allowed in a header");
        Error::new(ErrorKind::Request, message).because(error)
    })?;
    let mut body = match packaging {
        None => message.into(),
        Some(packaging) => {
            let action = Some(action).filter(|action| version == Version::Soap12 && !action.is_empty());
            let packed = package::pack(packaging, version, action, message, parts);
            let unpacked =
                |error| Error::new(ErrorKind::Package, "the package of the request can't be made").because(error);
            let (of_package, body) = packed.map_err(unpacked)?;
            content_type = of_package;
            body
        }
    };
    let mut is_gzip = false;
    if let Some(above) = options.gzip_above {
        (body, is_gzip) = body.compressed(above).await;
    }
    let mut request = Request::post(url.clone())
        .body(body)
        .map_err(|error| Error::new(ErrorKind::Request, "the request can't be built").because(error))?;
    if options.is_repeatable {
        request.extensions_mut().insert(Repeatable);
    }
    let headers = request.headers_mut();
    *headers = options.http_headers;
    remove_own(headers);
    headers.insert(header::CONTENT_TYPE, content_type);
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, GZIP);
    }
    if options.accept_gzip {
        headers.insert(header::ACCEPT_ENCODING, GZIP);
    }
    if let Some(action) = soap_action {
        headers.insert(SOAP_ACTION, action);
    }
    if packaging == Some(Packaging::Mtom) {
        headers.insert(header::ACCEPT, ACCEPT_MTOM);
    }
    Ok(request)
}

/// Passes on an error of our own transport, and classifies an error of another one.
fn exchange_failed(url: &Uri, error: BoxError) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error.about(url),
        Err(error) => {
            let kind = if never_connected(&*error) { ErrorKind::Connect } else { ErrorKind::Exchange };
            let message = format!("the exchange with {} failed: {}", shown_url(url), root(&*error));
            Error::new(kind, message).about(url).because(error)
        }
    }
}

/// Returns whether an error of another transport means that there was no connection.
fn never_connected(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect)
            || error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        {
            return true;
        }
        next = error.source();
    }
    false
}

fn body_failed(url: &Uri, failure: Failure, limit: usize) -> Error {
    let from = shown_url(url);
    match failure {
        Failure::TooLarge { declared } => {
            let found = match declared {
                Some(declared) => format!("{declared} bytes"),
                None => "more bytes".to_owned(),
            };
            let message = format!("the reply from {from} has {found}, expected at most {limit}");
            Error::new(ErrorKind::TooLarge, message)
        }
        Failure::BrokenOff { after, source } => match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(source) => match source.downcast::<GzipError>() {
                Ok(unsound) => {
                    let begins = if let GzipError::Corrupt { begins } = &*unsound { as_text(begins) } else { "" };
                    let message = quoting(unread(url, &unsound), begins);
                    Error::new(ErrorKind::ContentEncoding, message).because(unsound)
                }
                Err(source) => {
                    let message = format!("the reply from {from} broke off after {after} bytes");
                    Error::new(ErrorKind::Body, message).because(source)
                }
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_sent_to_a_port_that_is_no_number() {
        let url = "http://127.0.0.1:99999/".parse().unwrap();
        let sent = call(Transport::new(), &url, Version::Soap11, "", "<a/>", 100).await.unwrap_err();
        assert!(sent.to_string().contains("found the port \"99999\""), "{sent}");
    }

    #[test]
    fn text_is_distinguished_from_binary_data() {
        for (bytes, expected) in
            [(&b"a\xc3\xa4"[..], "aä"), (b"a\xc3", "a"), (b"", ""), (b"\x1f\x8b\x08", ""), (b"a\xc3a", "")]
        {
            assert_eq!(as_text(bytes), expected);
        }
    }
}
