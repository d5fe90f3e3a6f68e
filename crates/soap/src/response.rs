//! The result of the methods of a service, and of a client's call.

use castile_mime::{Attachments, Part};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::blocks::{AnyHeader, Blocks, Header, WriteHeader};
use crate::error::Error;
use crate::reply_message::http_headers;
use crate::version::Version;

/// A response: its message as a value, with header blocks, attachments and HTTP headers.
///
/// If a method returns a response that it received from another service, the received header blocks, attachments and HTTP headers
/// are not sent.
///
/// `into` creates a response that has only a message:
///
/// ```
/// use castile_soap::{Fault, Request, Response};
///
/// # struct Price { item: String } struct PriceResponse { cents: u32 }
/// async fn price(request: Request<Price>) -> Result<Response<PriceResponse>, Fault> {
///     let cents = if request.get_ref().item == "tea" { 320 } else { 250 };
///     Ok(PriceResponse { cents }.into())
/// }
/// ```
#[derive(Debug)]
pub struct Response<T> {
    pub(crate) message: T,
    pub(crate) carried: Blocks,
    pub(crate) parts: Vec<Part>,
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// The data of a received response.
    came: Option<Box<Came>>,
}

/// The data that was received with a response.
#[derive(Debug)]
struct Came {
    attachments: Attachments,
    status: Option<StatusCode>,
    http_headers: HeaderMap,
}

impl Came {
    fn with(attachments: Attachments) -> Self {
        Came { attachments, status: None, http_headers: HeaderMap::new() }
    }
}

impl<T> Response<T> {
    /// Creates a response that has only a message.
    pub fn new(message: T) -> Self {
        Response { message, carried: Blocks::Nothing, parts: Vec::new(), http_headers: None, came: None }
    }

    pub(crate) fn came(message: T, carried: Blocks, attachments: Attachments) -> Self {
        let came = Some(Box::new(Came::with(attachments)));
        Response { message, carried, parts: Vec::new(), http_headers: None, came }
    }

    /// Returns the message, and the response without it.
    pub(crate) fn split(self) -> (T, Response<()>) {
        let Response { message, carried, parts, http_headers, came } = self;
        (message, Response { message: (), carried, parts, http_headers, came })
    }

    /// Sets the HTTP status and headers of a received response, for transports.
    #[doc(hidden)]
    pub fn carried_with(mut self, status: StatusCode, http_headers: HeaderMap) -> Self {
        let came = self.came.get_or_insert_with(|| Box::new(Came::with(Attachments::none())));
        (came.status, came.http_headers) = (Some(status), http_headers);
        self
    }

    /// Adds an HTTP header. Headers that describe the message or the connection are set by the library and the server, and are
    /// ignored here: `Content-Type`, `Content-Encoding`, `Content-Length`, `Transfer-Encoding`, `Connection` and similar headers.
    pub fn with_http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// Adds a header block. Header blocks of a received response are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.carried.push(block);
        self
    }

    /// Adds an attachment.
    pub fn with_attachment(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the message.
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// Returns the message for modification.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// Returns the message and drops the rest of the response.
    pub fn into_inner(self) -> T {
        self.message
    }

    /// Returns the message and the received attachments.
    pub fn into_parts(self) -> (T, Attachments) {
        (self.message, self.came.map_or_else(Attachments::none, |came| came.attachments))
    }

    /// Replaces the message with the result of `change`.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Response<U> {
        let Response { message, carried, parts, http_headers, came } = self;
        Response { message: change(message), carried, parts, http_headers, came }
    }

    /// Reads and returns the header block `H`. Returns `None` if the response has no such block for this node.
    ///
    /// # Errors
    /// Returns an error if the block doesn't match the contract or occurs twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.carried.typed(Version::default())
    }

    /// Returns the header blocks with this name as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.carried
            .all(Version::default(), |its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// Returns all header blocks as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.carried.all(Version::default(), |_, _| true)
    }

    /// Returns the attachments that will be sent.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the HTTP status of a received response.
    pub fn status(&self) -> Option<StatusCode> {
        self.came.as_ref().and_then(|came| came.status)
    }

    /// Returns the HTTP headers of a received response, or the HTTP headers that will be sent.
    pub fn http_headers(&self) -> &HeaderMap {
        let came = self.came.as_ref().map(|came| &came.http_headers);
        http_headers(came.or(self.http_headers.as_deref()))
    }

    /// Returns the received attachments, which are read as they arrive.
    pub fn attachments(&mut self) -> &mut Attachments {
        &mut self.came.get_or_insert_with(|| Box::new(Came::with(Attachments::none()))).attachments
    }
}

impl<T> From<T> for Response<T> {
    fn from(message: T) -> Self {
        Response::new(message)
    }
}

impl<T: Default> Default for Response<T> {
    fn default() -> Self {
        Response::new(T::default())
    }
}
