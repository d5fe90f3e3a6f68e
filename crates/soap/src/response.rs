//! What the method of a service answers, and what a client gets.

use castile_mime::{Attachments, Part};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::blocks::Blocks;
use crate::service::http_headers;
use crate::{AnyHeader, Error, Header, Version, WriteHeader};

/// A response: its message as a value, and all that goes with it.
///
/// What came with a response from elsewhere, header blocks, attachments and headers of HTTP, is not sent on where a method answers
/// with it.
///
/// A method that has no more to say than its message makes one of it with `into`:
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
    /// What came with it.
    came: Option<Box<Came>>,
}

/// What is known of a response that came.
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
    /// A response that says no more than its message.
    pub fn new(message: T) -> Self {
        Response { message, carried: Blocks::Nothing, parts: Vec::new(), http_headers: None, came: None }
    }

    pub(crate) fn came(message: T, carried: Blocks, attachments: Attachments) -> Self {
        let came = Some(Box::new(Came::with(attachments)));
        Response { message, carried, parts: Vec::new(), http_headers: None, came }
    }

    /// This response as one that came with this head, for those who carry messages.
    #[doc(hidden)]
    pub fn carried_with(mut self, status: StatusCode, http_headers: HeaderMap) -> Self {
        let came = self.came.get_or_insert_with(|| Box::new(Came::with(Attachments::none())));
        (came.status, came.http_headers) = (Some(status), http_headers);
        self
    }

    /// This response with one more header of HTTP. Those that say what the message is and where it ends are the engine's own, and
    /// those of one connection the server's: `Content-Type`, `Content-Encoding`, `Content-Length`, `Transfer-Encoding`, `Connection`
    /// and their kind are left out.
    pub fn with_http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// This response with one more header block. Blocks of a response that came are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.carried.push(block);
        self
    }

    /// This response with one more attachment.
    pub fn with_attachment(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// The message.
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// The message, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// The message alone.
    pub fn into_inner(self) -> T {
        self.message
    }

    /// The message and the attachments that came with it.
    pub fn into_parts(self) -> (T, Attachments) {
        (self.message, self.came.map_or_else(Attachments::none, |came| came.attachments))
    }

    /// The response with another message.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Response<U> {
        let Response { message, carried, parts, http_headers, came } = self;
        Response { message: change(message), carried, parts, http_headers, came }
    }

    /// The header block that `H` is, read now; `None` if the response has none for us.
    ///
    /// # Errors
    /// That the block is not what the contract declares, or is there twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.carried.typed(Version::default())
    }

    /// The header blocks of this name, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.carried
            .all(Version::default(), |its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// All header blocks, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.carried.all(Version::default(), |_, _| true)
    }

    /// The attachments to be sent with it.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The status of HTTP that a response came with.
    pub fn status(&self) -> Option<StatusCode> {
        self.came.as_ref().and_then(|came| came.status)
    }

    /// The headers of HTTP that a response came with; of one that did not come, those that it is sent with.
    pub fn http_headers(&self) -> &HeaderMap {
        let came = self.came.as_ref().map(|came| &came.http_headers);
        http_headers(came.or(self.http_headers.as_deref()))
    }

    /// The attachments that came with it, as they come.
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
