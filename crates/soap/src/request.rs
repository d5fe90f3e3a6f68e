//! The argument of the methods of a service.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use castile_mime::Attachments;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};

use crate::addressing::{Exchange, Properties};
use crate::blocks::{AnyHeader, Blocks, Header, WriteHeader};
use crate::error::Error;
use crate::http_headers::http_headers;
use crate::version::Version;

/// A request: its message as a value, with header blocks, attachments and transport data.
///
/// ```
/// use castile_soap::Request;
///
/// # #[derive(Debug)] struct Price { item: String }
/// let request = Request::new(Price { item: "tea".into() });
/// assert_eq!(request.get_ref().item, "tea");
/// let Price { item } = request.into_inner();
/// # assert_eq!(item, "tea");
/// ```
#[derive(Debug)]
pub struct Request<T> {
    message: T,
    pub(crate) blocks: Blocks,
    pub(crate) context: RequestContext,
    attachments: Attachments,
}

/// The data of a request beyond its message.
#[derive(Debug, Default)]
pub(crate) struct RequestContext {
    pub(crate) version: Version,
    pub(crate) action: String,
    pub(crate) addressing: Option<Arc<Exchange>>,
    pub(crate) extensions: Extensions,
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) deadline: Option<Instant>,
}

impl<T> Request<T> {
    /// Creates a request that has only a message. Tests use it to call the methods of a service directly. The `with_` methods add
    /// the data that a server would have received with the message.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use castile_mime::{Attachments, Part};
    /// use castile_soap::Request;
    /// use http::header::{HeaderValue, USER_AGENT};
    ///
    /// # struct Upload { number: i32 }
    /// # #[derive(Clone)] struct Caller(String);
    /// # fn request() -> Result<(), castile_mime::Error> {
    /// let document = Part::attachment("text/plain", "It rains.")?;
    /// let request = Request::new(Upload { number: 7 })
    ///     .with_http_header(USER_AGENT, HeaderValue::from_static("test"))
    ///     .with_extension(Caller("Ada".into()))
    ///     .with_peer([192, 0, 2, 1])
    ///     .with_deadline(Instant::now() + Duration::from_secs(1))
    ///     .with_attachments(Attachments::of(vec![document])?);
    /// assert_eq!(request.http_headers()[USER_AGENT], "test");
    /// # assert_eq!(request.extensions().get::<Caller>().unwrap().0, "Ada");
    /// # Ok(())
    /// # }
    /// # request().unwrap();
    /// ```
    pub fn new(message: T) -> Self {
        Request::received(message, Blocks::Nothing, Attachments::none(), RequestContext::default())
    }

    pub(crate) fn received(message: T, blocks: Blocks, attachments: Attachments, context: RequestContext) -> Self {
        Request { message, blocks, attachments, context }
    }

    /// Adds a header block. Header blocks of a received request are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.blocks.push(block);
        self
    }

    /// Replaces the attachments. [`Attachments::of`] creates attachments from parts.
    pub fn with_attachments(self, attachments: Attachments) -> Self {
        Request { attachments, ..self }
    }

    /// Adds an HTTP header.
    pub fn with_http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.context.http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// Adds an extension, as a layer does.
    pub fn with_extension<E: Clone + Send + Sync + 'static>(mut self, value: E) -> Self {
        self.context.extensions.insert(value);
        self
    }

    /// Sets the address of the client.
    pub fn with_peer(mut self, peer: impl Into<IpAddr>) -> Self {
        self.context.peer = Some(peer.into());
        self
    }

    /// Sets the time at which the server abandons the request.
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.context.deadline = Some(deadline);
        self
    }

    /// Sets the version of SOAP.
    pub fn with_version(mut self, version: Version) -> Self {
        self.context.version = version;
        self
    }

    /// Sets the action of the transport (`SOAPAction`).
    pub fn with_action(mut self, action: impl Into<String>) -> Self {
        self.context.action = action.into();
        self
    }

    /// Sets the WS-Addressing properties.
    pub fn with_addressing(mut self, properties: Properties) -> Self {
        self.context.addressing = Some(Arc::new(Exchange::of(properties)));
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

    /// Returns the message and drops the rest of the request.
    pub fn into_inner(self) -> T {
        self.message
    }

    /// Replaces the message with the result of `change`.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Request<U> {
        let Request { message, blocks, context, attachments } = self;
        Request { message: change(message), blocks, context, attachments }
    }

    /// Reads and returns the header block `H`. Returns `None` if the request has no such block for this node. In a handler, `?`
    /// turns the error into a fault.
    ///
    /// # Errors
    /// Returns an error if the block doesn't match the contract or occurs twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.blocks.typed(self.version())
    }

    /// Returns the header blocks with this name as XML, for any role.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.blocks.all(self.version(), |its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// Returns all header blocks as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.blocks.all(self.version(), |_, _| true)
    }

    /// Returns the attachments, which are read as they arrive. Unread attachments are skipped before the answer is sent.
    pub fn attachments(&mut self) -> &mut Attachments {
        &mut self.attachments
    }

    /// Returns the message and its attachments.
    pub fn into_parts(self) -> (T, Attachments) {
        (self.message, self.attachments)
    }

    /// Returns the SOAP version of the message, which is also the version of the answer.
    pub fn version(&self) -> Version {
        self.context.version
    }

    /// Returns the action: `wsa:Action` if the message has one, otherwise the action of the transport (`SOAPAction`), which may be
    /// empty.
    pub fn action(&self) -> &str {
        self.addressing().and_then(|properties| properties.action.as_deref()).unwrap_or(&self.context.action)
    }

    /// Returns the WS-Addressing properties, if the message has any.
    pub fn addressing(&self) -> Option<&Properties> {
        self.context.addressing.as_ref().map(|exchange| exchange.properties())
    }

    /// Returns the data that the server and layers added, by type: for example the identity of the client.
    pub fn extensions(&self) -> &Extensions {
        &self.context.extensions
    }

    /// Returns the extensions for modification.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.context.extensions
    }

    /// Returns the HTTP headers of the request. A signature of the message doesn't cover them; signed data is in header blocks.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.context.http_headers.as_deref())
    }

    /// Returns the address of the client, if the server knows it. If the client connects through a proxy, this is the proxy's
    /// address, unless `Server::proxies` or `ProxyProtocol` is configured.
    pub fn peer(&self) -> Option<IpAddr> {
        self.context.peer
    }

    /// Returns when the server abandons the request, if it does. The server then drops the future of the method. This is the
    /// earliest time: a request with attachments gets more time while they are arriving.
    pub fn deadline(&self) -> Option<Instant> {
        self.context.deadline
    }
}
