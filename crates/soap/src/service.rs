//! The interface between messages and their transport.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_databinding::ExpandedName;
use castile_mime::{Attachments, Content, Packaging, Part};
use castile_xml::Charset;
use futures_util::future::BoxFuture;
use http::{Extensions, HeaderMap};

use crate::charge::Awaited;
use crate::{
    AnyHeader, Description, Envelope, Error, ErrorKind, Fault, FaultCode, Header, NoDetail, Options, Trace, Version,
    blocks, message, reply,
};

/// A SOAP service that turns a request message into a reply message. Generated servers implement it; `castile-http` transports the
/// messages.
///
/// A [`Layer`](crate::Layer) wraps a service in another service. If the layer has to call the inner service later, it stores it in
/// an `Arc`, which is also a service:
///
/// ```
/// use castile_soap::{Description, Layer, Options, Pending, ReplyMessage, RequestMessage, Service, layer_fn};
///
/// /// Counts faults.
/// struct Counted<S>(S, std::sync::Arc<std::sync::atomic::AtomicUsize>);
///
/// impl<S: Service> Service for Counted<S> {
///     fn description(&self) -> &'static Description {
///         self.0.description()
///     }
///
///     fn call(&self, request: RequestMessage, options: &Options) -> Pending {
///         let (pending, faults) = (self.0.call(request, options), self.1.clone());
///         Box::pin(async move {
///             let reply = pending.await;
///             faults.fetch_add(usize::from(reply.is_fault()), std::sync::atomic::Ordering::Relaxed);
///             reply
///         })
///     }
/// }
///
/// # fn layered<S: Service>(service: S) -> impl Service {
/// let layer = layer_fn(|service| Counted(service, Default::default()));
/// layer.layer(service)
/// # }
/// ```
pub trait Service: Send + Sync + 'static {
    /// Returns the description of the service, which doesn't depend on any message.
    fn description(&self) -> &'static Description;

    /// Answers one request. `options` configures how the message is read.
    ///
    /// Every failure, including a panic of a handler, becomes a fault in the [`ReplyMessage`].
    fn call(&self, request: RequestMessage, options: &Options) -> Pending;
}

/// A shared service, for example the inner service of a layer.
impl<S: Service + ?Sized> Service for Arc<S> {
    fn description(&self) -> &'static Description {
        S::description(self)
    }

    /// Reads a large message on a worker, if offloading is configured.
    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        match options.elsewhere(request.message.len()) {
            None => S::call(self, request, options),
            Some(_) => call_elsewhere(self.clone(), request, options.clone()),
        }
    }
}

#[cold]
fn call_elsewhere<S: Service + ?Sized>(service: Arc<S>, request: RequestMessage, options: Options) -> Pending {
    Box::pin(async move {
        let version = request.version;
        let Some(offload) = options.offload.clone() else { return S::call(&service, request, &options).await };
        let awaited = Awaited::new(request.reservation.as_ref());
        let called = offload.run(move || S::call(&service, request, &options)).await;
        awaited.finish();
        match called {
            Some(pending) => pending.await,
            None => ReplyMessage::from_fault(version, &reply::panicked()),
        }
    })
}

/// A future of a reply.
pub type Pending = BoxFuture<'static, ReplyMessage>;

/// A request message, and the data that its transport provides with it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RequestMessage {
    /// The action of the message, or an empty string if there is none: the value of the `SOAPAction` header without its quotes
    /// (SOAP 1.1 §6.1.1), or of the media type's `action` parameter (SOAP 1.2 Part 2 §6.5).
    ///
    /// The sender can set any action. The service selects the operation by the first element of the body;
    /// [`Next::operation`](crate::Next::operation) returns that operation.
    pub action: String,
    /// The SOAP version of the media type. The envelope declares the version of the message; this one is used to answer a message
    /// that is not an envelope.
    pub version: Version,
    /// The charset of the media type, if there is one. It overrides the encoding that the message declares, and is overridden by a
    /// byte order mark (RFC 7303 §3).
    pub charset: Option<Charset>,
    /// The envelope.
    pub message: Bytes,
    /// How the envelope and its attachments are packaged, if the message arrived in a package.
    pub packaging: Option<Packaging>,
    /// The attachments, which may still be arriving.
    pub attachments: Attachments,
    /// Whether the sender accepts MTOM, because the `Accept` header of HTTP names `application/xop+xml`. A sender also accepts MTOM
    /// if its request is MTOM.
    pub accepts_mtom: bool,
    /// The memory reservation to which the message and its values are charged, until the request is answered. With `None`, nothing
    /// is charged.
    pub reservation: Option<Arc<Reservation>>,
    /// Data that the transport and layers add to the message, for example the identity of the client. Handlers look it up by type.
    pub extensions: Extensions,
    /// Boxed, because requests are moved several times.
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// The address of the client, if the transport knows it.
    pub peer: Option<IpAddr>,
    /// When the transport abandons the request, if it does. It may wait longer while attachments are arriving.
    pub deadline: Option<Instant>,
    pub(crate) trace: Option<Trace>,
}

/// The answer to one request.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReplyMessage {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// The fault code, if the message is a fault. HTTP derives the status from it.
    pub fault: Option<FaultCode>,
    /// The WS-Addressing action of the message. Empty if the request had no WS-Addressing.
    pub action: String,
    /// The envelope. Empty if there is no reply message, which HTTP sends as status 202.
    pub message: Content,
    /// The parts that are sent with the envelope.
    pub parts: Vec<Part>,
    /// How the envelope and the parts are packaged. With `None`, the envelope is sent alone if there are no parts, and as
    /// [`Packaging::Attachments`] if there are parts.
    pub packaging: Option<Packaging>,
    /// The memory reservation to which the message is charged. It must be held until the message is sent. With `None`, the message
    /// is not charged yet.
    pub reservation: Option<Arc<Reservation>>,
    /// Boxed, because replies are moved several times.
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// Whether the request was not answered because memory was exhausted. The message is then a fault that asks the client to retry
    /// later, and HTTP sends status 503.
    pub is_exhausted: bool,
}

impl RequestMessage {
    /// Creates a message in `version` without any transport data.
    pub fn new(version: Version, message: impl Into<Bytes>) -> Self {
        RequestMessage {
            action: String::new(),
            version,
            charset: None,
            message: message.into(),
            packaging: None,
            attachments: Attachments::none(),
            accepts_mtom: false,
            reservation: None,
            extensions: Extensions::new(),
            http_headers: None,
            peer: None,
            deadline: None,
            trace: None,
        }
    }

    /// Sets the trace that observers of the request read.
    pub fn with_trace(self, trace: Option<Trace>) -> Self {
        RequestMessage { trace, ..self }
    }

    /// Returns the trace of this request. Starts a new one if the request has none.
    pub fn trace(&mut self) -> Trace {
        self.trace.get_or_insert_with(|| Trace::begin(Instant::now(), true)).clone()
    }

    /// Sets the action.
    pub fn with_action(self, action: impl Into<String>) -> Self {
        RequestMessage { action: action.into(), ..self }
    }

    /// Sets the attachments, and how they are packaged.
    pub fn with_attachments(self, packaging: Packaging, attachments: Attachments) -> Self {
        RequestMessage { packaging: Some(packaging), attachments, ..self }
    }

    /// Sets the charset of the media type.
    pub fn with_charset(self, charset: Option<Charset>) -> Self {
        RequestMessage { charset, ..self }
    }

    /// Sets the HTTP headers of the request.
    pub fn with_http_headers(self, headers: impl Into<Box<HeaderMap>>) -> Self {
        RequestMessage { http_headers: Some(headers.into()), ..self }
    }

    /// Returns the HTTP headers of the request.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.http_headers.as_deref())
    }

    /// Returns the HTTP headers for modification.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        self.http_headers.get_or_insert_default()
    }

    /// Returns all header blocks of the message, for any role. This method is for layers; a handler uses its
    /// [`Request`](crate::Request) instead.
    ///
    /// # Errors
    /// Returns an error if the message doesn't start with a valid envelope. A layer can ignore the error, because the service
    /// reports it too.
    pub fn headers(&self, options: &Options) -> Result<Vec<AnyHeader>, Error> {
        self.read_header(options, |header| header.all(|_| true))
    }

    /// Returns the header block `H`, for layers. Returns `None` if the message has no such block for this node.
    ///
    /// # Errors
    /// Returns an error if the message doesn't start with a valid envelope, or if the block is invalid or occurs twice.
    pub fn header<H: Header>(&self, options: &Options) -> Result<Option<H>, Error> {
        self.read_header(options, |header| Ok(header.typed()?.map(|(block, _)| block)))
    }

    fn read_header<T>(
        &self,
        options: &Options,
        read: impl Fn(blocks::Read<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let charge = self.reservation.as_ref();
        message::read_with(&self.message, self.charset, options, charge, |mut reader, _| {
            let value = Envelope::read(&mut reader).and_then(|(mut envelope, _)| {
                envelope.claim(&options.roles);
                let (text, limits) = (reader.input(), options.limits);
                let header = blocks::Read { envelope: &envelope, text, limits, charge, is_lenient: false };
                read(header).map_err(Error::in_header)
            });
            message::keep(reader.into_memory());
            value
        })
    }

    /// Declares that a layer understands header blocks with this name. The request may then mark them `mustUnderstand`.
    pub fn understand(&mut self, namespace: impl Into<String>, local: impl Into<String>) {
        let name = ExpandedName::new(namespace.into(), local);
        match self.extensions.get_mut::<Understood>() {
            Some(Understood(names)) => names.push(name),
            None => {
                self.extensions.insert(Understood(vec![name]));
            }
        }
    }
}

/// Returns these headers, or an empty map.
pub(crate) fn http_headers(headers: Option<&HeaderMap>) -> &HeaderMap {
    static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
    headers.unwrap_or(&NONE)
}

/// The names of header blocks that layers understand.
#[derive(Clone, Debug)]
pub(crate) struct Understood(Vec<ExpandedName>);

impl Understood {
    pub(crate) fn includes(extensions: &Extensions, namespace: &str, local: &str) -> bool {
        let names = extensions.get().map_or(&[][..], |Understood(names)| names);
        names.iter().any(|name| name.is(namespace, local))
    }
}

impl ReplyMessage {
    /// Creates a message that is not a fault.
    pub fn new(version: Version, message: impl Into<Content>) -> Self {
        ReplyMessage {
            version,
            fault: None,
            action: String::new(),
            message: message.into(),
            parts: Vec::new(),
            packaging: None,
            reservation: None,
            http_headers: None,
            is_exhausted: false,
        }
    }

    /// Creates a message that is a fault with this code.
    pub fn of_fault(version: Version, code: FaultCode, message: impl Into<Content>) -> Self {
        ReplyMessage { fault: Some(code), ..ReplyMessage::new(version, message) }
    }

    /// Creates the fault that is sent when memory is exhausted.
    pub fn exhausted(version: Version) -> Self {
        let fault = Fault::<NoDetail>::from(Error::new(ErrorKind::Exhausted, String::new()));
        ReplyMessage { is_exhausted: true, ..reply::write_fault(version, None, None, "", &fault) }
    }

    /// Creates an empty reply.
    pub fn empty(version: Version) -> Self {
        ReplyMessage::new(version, Bytes::new())
    }

    /// Returns the HTTP headers that are sent with the message. Headers that describe the message itself are not sent.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.http_headers.as_deref())
    }

    /// Returns the HTTP headers for modification.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        self.http_headers.get_or_insert_default()
    }

    /// Takes the HTTP headers out of the message, if there are any, for transports.
    #[doc(hidden)]
    pub fn take_http_headers(&mut self) -> Option<Box<HeaderMap>> {
        self.http_headers.take()
    }

    /// Returns whether the message is a fault.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }
}
