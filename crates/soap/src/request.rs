//! What the method of a service is called with.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use castile_mime::Attachments;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};

use crate::addressing::{Exchange, Properties};
use crate::blocks::Blocks;
use crate::service::http_headers;
use crate::{AnyHeader, Error, Header, Version, WriteHeader};

/// A request: its message as a value, and all that came with it.
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
    pub(crate) carried: Blocks,
    pub(crate) surroundings: Surroundings,
    attachments: Attachments,
}

/// What is known of a message beside what it says.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) version: Version,
    pub(crate) action: String,
    pub(crate) addressing: Option<Arc<Exchange>>,
    pub(crate) extensions: Extensions,
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) deadline: Option<Instant>,
}

impl<T> Request<T> {
    /// A request that says no more than its message: for tests, which call the methods of a service directly. The methods that begin with
    /// `with_` add what a server would have received beside it.
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
        Request::came(message, Blocks::Nothing, Attachments::none(), Surroundings::default())
    }

    pub(crate) fn came(message: T, carried: Blocks, attachments: Attachments, surroundings: Surroundings) -> Self {
        Request { message, carried, attachments, surroundings }
    }

    /// This request with one more header block. Blocks of a request that came are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.carried.push(block);
        self
    }

    /// This request with other attachments. [`Attachments::of`] makes them of parts.
    pub fn with_attachments(self, attachments: Attachments) -> Self {
        Request { attachments, ..self }
    }

    /// This request with one more header of HTTP.
    pub fn with_http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.surroundings.http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// This request with a value that a layer would have found out.
    pub fn with_extension<E: Clone + Send + Sync + 'static>(mut self, value: E) -> Self {
        self.surroundings.extensions.insert(value);
        self
    }

    /// This request from an address.
    pub fn with_peer(mut self, peer: impl Into<IpAddr>) -> Self {
        self.surroundings.peer = Some(peer.into());
        self
    }

    /// This request with a time at which it is given up.
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.surroundings.deadline = Some(deadline);
        self
    }

    /// This request in a version of SOAP.
    pub fn with_version(mut self, version: Version) -> Self {
        self.surroundings.version = version;
        self
    }

    /// This request with an action of the protocol (`SOAPAction`).
    pub fn with_action(mut self, action: impl Into<String>) -> Self {
        self.surroundings.action = action.into();
        self
    }

    /// This request with what it says in WS-Addressing.
    pub fn with_addressing(mut self, properties: Properties) -> Self {
        self.surroundings.addressing = Some(Arc::new(Exchange::of(properties)));
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

    /// The request with another message.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Request<U> {
        let Request { message, carried, surroundings, attachments } = self;
        Request { message: change(message), carried, surroundings, attachments }
    }

    /// The header block that `H` is, read now; `None` if the request has none for us. `?` makes a fault of the error.
    ///
    /// # Errors
    /// That the block is not what the contract declares, or is there twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.carried.typed(self.version())
    }

    /// The header blocks of this name, as XML, for whomever they are.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.carried.all(self.version(), |its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// All header blocks, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.carried.all(self.version(), |_, _| true)
    }

    /// The attachments, as they come. What is not read is passed over before the answer begins.
    pub fn attachments(&mut self) -> &mut Attachments {
        &mut self.attachments
    }

    /// The message and its attachments.
    pub fn into_parts(self) -> (T, Attachments) {
        (self.message, self.attachments)
    }

    /// The version of SOAP that the message is in, and that the answer will be in.
    pub fn version(&self) -> Version {
        self.surroundings.version
    }

    /// What the message is meant to do: `wsa:Action` if it has one, else that of the protocol (`SOAPAction`), which may be
    /// empty.
    pub fn action(&self) -> &str {
        self.addressing().and_then(|properties| properties.action.as_deref()).unwrap_or(&self.surroundings.action)
    }

    /// What the message says in WS-Addressing, if it says anything.
    pub fn addressing(&self) -> Option<&Properties> {
        self.surroundings.addressing.as_ref().map(|exchange| exchange.properties())
    }

    /// What the server and layers know beside the message, found by its type: who asks, for example.
    pub fn extensions(&self) -> &Extensions {
        &self.surroundings.extensions
    }

    /// What the server and layers know, to be changed.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.surroundings.extensions
    }

    /// The headers of HTTP that the request came with. They say nothing that the message is signed for: what belongs to it stands
    /// in header blocks.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.surroundings.http_headers.as_deref())
    }

    /// The address of whoever sent the request, if the server knows one. Behind a proxy it is the proxy's, unless `Server::proxies` or
    /// `ProxyProtocol` is configured.
    pub fn peer(&self) -> Option<IpAddr> {
        self.surroundings.peer
    }

    /// When the server gives the request up, if it does: the method's future is dropped then. A request with attachments has more
    /// time where more of them comes: this is the earliest time then.
    pub fn deadline(&self) -> Option<Instant> {
        self.surroundings.deadline
    }
}
