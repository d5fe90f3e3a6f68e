//! The seam between messages and whatever carries them.

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

/// A SOAP service: messages in, messages out. Generated servers implement it; `castile-http` carries it.
///
/// A [`Layer`](crate::Layer) makes a service of another one. It holds that in an `Arc`, which is a service too, where it
/// must call it later:
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
    /// What the service offers, known before any message comes.
    fn description(&self) -> &'static Description;

    /// Answers one request, whose message is read as `options` say.
    ///
    /// Every failure, a handler's panic included, is a fault in the [`ReplyMessage`].
    fn call(&self, request: RequestMessage, options: &Options) -> Pending;
}

/// A service that several share, as layers have the one that they are around.
impl<S: Service + ?Sized> Service for Arc<S> {
    fn description(&self) -> &'static Description {
        S::description(self)
    }

    /// A large message is read elsewhere, if there is such a place.
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

/// A reply that is being worked on.
pub type Pending = BoxFuture<'static, ReplyMessage>;

/// A message that asks for something, and what its carrier says of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RequestMessage {
    /// What the message is meant to do, empty if that was not said: the value of the `SOAPAction` header without its
    /// quotes (SOAP 1.1 §6.1.1), or of the media type's `action` (SOAP 1.2 Part 2 §6.5).
    ///
    /// The sender says so, and the service goes by what the body begins with: [`Next::operation`](crate::Next::operation) tells which
    /// operation that is.
    pub action: String,
    /// The version that the media type is of. The envelope tells the version of a message; this one is for the answer
    /// to what is no envelope.
    pub version: Version,
    /// The charset of the media type, if it has one: it comes before what the message says of its encoding, and behind
    /// a byte order mark (RFC 7303 §3).
    pub charset: Option<Charset>,
    /// The envelope.
    pub message: Bytes,
    /// How the envelope stands to its attachments, if it came in a package.
    pub packaging: Option<Packaging>,
    /// What came with the envelope, and may still be on its way.
    pub attachments: Attachments,
    /// Whether the sender says that it takes MTOM: the `Accept` of HTTP names `application/xop+xml`. That its request is
    /// MTOM says so, too.
    pub accepts_mtom: bool,
    /// What the message is charged to, and what is made of it, until it is answered. Without one nothing is charged.
    pub reservation: Option<Arc<Reservation>>,
    /// What the carrier and layers know beside the message: who asks, for example. Handlers find it by its type.
    pub extensions: Extensions,
    /// Boxed, since requests are handed on several times.
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// The address of whoever sent the message, if the carrier knows one.
    pub peer: Option<IpAddr>,
    /// When the carrier gives the request up, if it does. Where attachments are on their way, it may wait longer.
    pub deadline: Option<Instant>,
    pub(crate) trace: Option<Trace>,
}

/// The answer to one request.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReplyMessage {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// The code of the fault that the message is, if it is one: HTTP tells by the status.
    pub fault: Option<FaultCode>,
    /// What the message means in WS-Addressing; empty if the request had none.
    pub action: String,
    /// The envelope; empty if there is nothing to be said, which HTTP carries as status 202.
    pub message: Content,
    /// What goes with the envelope.
    pub parts: Vec<Part>,
    /// How the envelope stands to the parts. Without one it is sent by itself if there are no parts, and as
    /// [`Packaging::Attachments`] if there are.
    pub packaging: Option<Packaging>,
    /// What the message is charged to, which is to be kept until it is sent. Without one it is not charged yet.
    pub reservation: Option<Arc<Reservation>>,
    /// Boxed, since replies are handed on several times.
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// Whether the request was not answered since there was too little memory: the fault that the message is says that it may
    /// be tried again, as HTTP does by status 503.
    pub is_exhausted: bool,
}

impl RequestMessage {
    /// A message in `version` that says no more than itself.
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

    /// This request with what is noted of it for those who observe it.
    pub fn with_trace(self, trace: Option<Trace>) -> Self {
        RequestMessage { trace, ..self }
    }

    /// What is noted of this request. Where nobody observes it, that begins now.
    pub fn trace(&mut self) -> Trace {
        self.trace.get_or_insert_with(|| Trace::begin(Instant::now(), true)).clone()
    }

    /// This request with an action.
    pub fn with_action(self, action: impl Into<String>) -> Self {
        RequestMessage { action: action.into(), ..self }
    }

    /// This request with what came in a package with it.
    pub fn with_attachments(self, packaging: Packaging, attachments: Attachments) -> Self {
        RequestMessage { packaging: Some(packaging), attachments, ..self }
    }

    /// This request with what its media type says of its charset.
    pub fn with_charset(self, charset: Option<Charset>) -> Self {
        RequestMessage { charset, ..self }
    }

    /// This request with the headers of HTTP that it came with.
    pub fn with_http_headers(self, headers: impl Into<Box<HeaderMap>>) -> Self {
        RequestMessage { http_headers: Some(headers.into()), ..self }
    }

    /// The headers of HTTP that the message came with.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.http_headers.as_deref())
    }

    /// The headers of HTTP, to be changed.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        self.http_headers.get_or_insert_default()
    }

    /// The header blocks of the message, for whomever they are. It is for layers: whoever handles an operation asks its
    /// [`Request`](crate::Request) for them.
    ///
    /// # Errors
    /// That the message doesn't begin as an envelope. A layer may leave it to the service to say so.
    pub fn headers(&self, options: &Options) -> Result<Vec<AnyHeader>, Error> {
        self.read_header(options, |header| header.all(|_| true))
    }

    /// The header block that `H` is, for layers; `None` if the message has none for us.
    ///
    /// # Errors
    /// That the message doesn't begin as an envelope, or that the block is not what it is declared to be, or there twice.
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

    /// Says that a layer understands header blocks of this name, so that they may say `mustUnderstand`.
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

/// These headers, or none.
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
    /// A message that is no fault.
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

    /// A message that is a fault of this code.
    pub fn of_fault(version: Version, code: FaultCode, message: impl Into<Content>) -> Self {
        ReplyMessage { fault: Some(code), ..ReplyMessage::new(version, message) }
    }

    /// A fault that says that there is too little memory at this time.
    pub fn exhausted(version: Version) -> Self {
        let fault = Fault::<NoDetail>::from(Error::new(ErrorKind::Exhausted, String::new()));
        ReplyMessage { is_exhausted: true, ..reply::write_fault(version, None, None, "", &fault) }
    }

    /// Nothing to be said.
    pub fn empty(version: Version) -> Self {
        ReplyMessage::new(version, Bytes::new())
    }

    /// Headers of HTTP that the message is sent with, but for those that say what it is.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.http_headers.as_deref())
    }

    /// The headers of HTTP, to be changed.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        self.http_headers.get_or_insert_default()
    }

    /// The headers of HTTP alone, if there are any, for those who carry messages.
    #[doc(hidden)]
    pub fn take_http_headers(&mut self) -> Option<Box<HeaderMap>> {
        self.http_headers.take()
    }

    /// Whether the message is a fault.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }
}
