//! The result of the methods of a service, and of a client's call.

use castile_mime::{Attachments, Part};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::blocks::{AnyHeader, Blocks, Header, WriteHeader};
use crate::error::Error;
use crate::http_headers::{http_headers, no_extensions};
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
    pub(crate) blocks: Blocks,
    pub(crate) parts: Vec<Part>,
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// The data of a received response.
    received: Option<Box<ReceivedData>>,
}

/// The data that was received with a response.
#[derive(Debug)]
struct ReceivedData {
    attachments: Attachments,
    status: Option<StatusCode>,
    http_headers: HeaderMap,
    extensions: Extensions,
}

impl ReceivedData {
    fn with(attachments: Attachments) -> Self {
        ReceivedData { attachments, status: None, http_headers: HeaderMap::new(), extensions: Extensions::new() }
    }
}

impl<T> Response<T> {
    /// Creates a response that has only a message.
    pub fn new(message: T) -> Self {
        Response { message, blocks: Blocks::Nothing, parts: Vec::new(), http_headers: None, received: None }
    }

    pub(crate) fn from_received(message: T, blocks: Blocks, attachments: Attachments) -> Self {
        let received = Some(Box::new(ReceivedData::with(attachments)));
        Response { message, blocks, parts: Vec::new(), http_headers: None, received }
    }

    /// Returns the message, and the response without it.
    pub(crate) fn split(self) -> (T, Response<()>) {
        let Response { message, blocks, parts, http_headers, received } = self;
        (message, Response { message: (), blocks, parts, http_headers, received })
    }

    /// Sets the HTTP status and headers of a received response, for transports, and its extensions.
    #[doc(hidden)]
    pub fn with_received_http(mut self, status: StatusCode, http_headers: HeaderMap, extensions: Extensions) -> Self {
        let received = self.received.get_or_insert_with(|| Box::new(ReceivedData::with(Attachments::none())));
        (received.status, received.http_headers, received.extensions) = (Some(status), http_headers, extensions);
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
        self.blocks.push(block);
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
        (self.message, self.received.map_or_else(Attachments::none, |received| received.attachments))
    }

    /// Replaces the message with the result of `change`.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Response<U> {
        let Response { message, blocks, parts, http_headers, received } = self;
        Response { message: change(message), blocks, parts, http_headers, received }
    }

    /// Reads and returns the header block `H`. Returns `None` if the response has no such block for this node.
    ///
    /// # Errors
    /// Returns an error if the block doesn't match the contract or occurs twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.blocks.typed(Version::default())
    }

    /// Returns the header blocks with this name as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.blocks.all(Version::default(), |its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// Returns all header blocks as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.blocks.all(Version::default(), |_, _| true)
    }

    /// Returns the attachments that will be sent.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the HTTP status of a received response.
    pub fn status(&self) -> Option<StatusCode> {
        self.received.as_ref().and_then(|received| received.status)
    }

    /// Returns the HTTP headers of a received response, or the HTTP headers that will be sent.
    pub fn http_headers(&self) -> &HeaderMap {
        let received = self.received.as_ref().map(|received| &received.http_headers);
        http_headers(received.or(self.http_headers.as_deref()))
    }

    /// Returns what is known of a received response besides its content. With `castile::wss` this is a `VerifiedMessage`, which says
    /// who signed it, if the client has a policy for answers.
    pub fn extensions(&self) -> &Extensions {
        self.received.as_ref().map_or(no_extensions(), |received| &received.extensions)
    }

    /// Returns the received attachments, which are read as they arrive.
    pub fn attachments(&mut self) -> &mut Attachments {
        &mut self.received.get_or_insert_with(|| Box::new(ReceivedData::with(Attachments::none()))).attachments
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
