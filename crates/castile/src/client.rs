//! What generated clients call.

mod items;

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use castile_databinding::FromXml;
use castile_databinding::document::Repeats;
use castile_http::client::{self, ClientReply, ExchangeOptions, Sift, Transport};
use castile_http::{Body, DEFAULT_OFFLOAD_ABOVE, Workers};
use castile_mime::Part;
use castile_soap::{
    AnyHeader, Description, Detail, Fault, FaultDetail, FromPayload, Header, NoDetail, Operation, Options, ToPayload,
    Version, WriteHeader, addressing,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri};

use items::ItemSift;
pub use items::ItemStream;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a call brought no response: three things that a caller acts on in different ways.
///
/// `D` is the type of the details that the contract declares for the operation.
#[derive(Debug)]
pub enum CallError<D = NoDetail> {
    /// No answer came: the server was not reached, or HTTP failed.
    Transport(castile_http::Error),
    /// The request could not be written, or the answer is not one that the contract allows.
    #[non_exhaustive]
    Protocol {
        /// What is wrong.
        error: castile_soap::Error,
        /// What HTTP said of the answer, if one came.
        answer: Option<Box<AnswerHead>>,
    },
    /// The service answered with a fault.
    #[non_exhaustive]
    Fault {
        /// The fault.
        fault: Fault<D>,
        /// What HTTP said of it.
        answer: Box<AnswerHead>,
    },
}

/// What HTTP says of an answer.
#[derive(Clone, Debug)]
pub struct AnswerHead {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub http_headers: HeaderMap,
}

impl<D> CallError<D> {
    /// The fault that the service answered with, if it did.
    pub fn fault(&self) -> Option<&Fault<D>> {
        match self {
            CallError::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// The detail of the fault that the service answered with, if that is one which the contract declares.
    pub fn detail(&self) -> Option<&D> {
        match &self.fault()?.detail {
            Detail::Declared(detail) => Some(detail),
            _ => None,
        }
    }

    /// The header block that `H` is of the fault that the service answered with; `None` if there is none for us.
    ///
    /// # Errors
    /// That the block is not what it is declared to be, or is there twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, castile_soap::Error> {
        self.fault().map_or(Ok(None), Fault::header)
    }

    /// The header blocks of this name of the fault that the service answered with, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, castile_soap::Error> {
        self.fault().map_or(Ok(Vec::new()), |fault| fault.headers_named(namespace, local))
    }

    /// All header blocks of the fault that the service answered with, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, castile_soap::Error> {
        self.fault().map_or(Ok(Vec::new()), Fault::headers)
    }

    /// The status of HTTP that the answer came with, if one came.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            CallError::Transport(error) => error.status(),
            CallError::Protocol { answer, .. } => answer.as_ref().map(|answer| answer.status),
            CallError::Fault { answer, .. } => Some(answer.status),
        }
    }

    /// The headers of HTTP that the answer came with, if one came: `WWW-Authenticate`, `Retry-After`, `Location`.
    pub fn http_headers(&self) -> Option<&HeaderMap> {
        match self {
            CallError::Transport(error) => error.http_headers(),
            CallError::Protocol { answer, .. } => answer.as_ref().map(|answer| &answer.http_headers),
            CallError::Fault { answer, .. } => Some(&answer.http_headers),
        }
    }

    fn of_message(error: castile_soap::Error) -> Self {
        CallError::Protocol { error, answer: None }
    }
}

impl<D> fmt::Display for CallError<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Transport(error) => error.fmt(f),
            CallError::Protocol { error, .. } => error.fmt(f),
            CallError::Fault { fault, .. } => fault.fmt(f),
        }
    }
}

impl<D: fmt::Debug + 'static> std::error::Error for CallError<D> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Their own words are the message already.
            CallError::Transport(error) => error.source(),
            CallError::Protocol { error, .. } => error.source(),
            CallError::Fault { fault, .. } => fault.source(),
        }
    }
}

/// Anything that answers HTTP requests: a [`Transport`], an in-process server, a stack of tower layers.
pub trait HttpService: Clone + Send + Sync {
    /// The body of its responses.
    type Body: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
    /// The service behind it.
    type Service: tower_service::Service<
            Request<Body>,
            Response = http::Response<Self::Body>,
            Error: Into<BoxError> + Send,
            Future: Send,
        > + Send;

    /// A service for one request.
    fn service(&self) -> Self::Service;
}

impl<S, B> HttpService for S
where
    S: tower_service::Service<Request<Body>, Response = http::Response<B>, Error: Into<BoxError> + Send, Future: Send>
        + Clone
        + Send
        + Sync,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;
    type Service = S;

    fn service(&self) -> S {
        self.clone()
    }
}

/// How a client calls.
///
/// ```
/// use std::time::Duration;
///
/// let mut options = castile::ClientOptions::default();
/// options.timeout = Some(Duration::from_secs(5));
/// options.messages.limits.message_size = 1 << 20;
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// How messages are read and written: what responses may take, whether they may deviate from the contract, which header
    /// blocks are understood, and MTOM. Responses of more than 256 KiB are read by the [shared](Workers::shared) workers;
    /// requests are borrowed, so they are written where they are sent.
    pub messages: Options,
    /// The version of SOAP. `None`, the default, is that of the contract, SOAP 1.1 if it has both.
    pub version: Option<Version>,
    /// The version of WS-Addressing in which requests say what they mean and whom they are for; an answer that says to be
    /// that to another request is refused then. `None`, the default, says nothing unless the contract requires it.
    pub addressing: Option<addressing::Version>,
    /// How long a call may take, from its beginning to the end of the answer's envelope. `None`, the default, leaves it to the
    /// transport.
    pub timeout: Option<Duration>,
    /// Headers of HTTP for each request.
    pub http_headers: HeaderMap,
    /// Whether servers are told that answers may come as gzip. One that does is read in any case. Off by default.
    pub accept_gzip: bool,
    /// The size in bytes above which requests go as gzip, and those that are sent as streams go so whatever their size. `None`, the
    /// default, sends none: a client has no way to know that the server takes it.
    pub gzip_above: Option<usize>,
    headers: Vec<Arc<dyn WriteHeader>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let mut messages = Options::default();
        messages.offload = Some(Workers::shared().above(DEFAULT_OFFLOAD_ABOVE));
        ClientOptions {
            messages,
            version: None,
            addressing: None,
            timeout: None,
            http_headers: HeaderMap::new(),
            accept_gzip: false,
            gzip_above: None,
            headers: Vec::new(),
        }
    }
}

impl ClientOptions {
    /// These options with one more header block for each request.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.headers.push(Arc::new(block));
        self
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClientOptions { messages, version, addressing, timeout, http_headers, accept_gzip, gzip_above, headers } =
            self;
        f.debug_struct("ClientOptions")
            .field("messages", messages)
            .field("version", version)
            .field("addressing", addressing)
            .field("timeout", timeout)
            .field("http_headers", http_headers)
            .field("accept_gzip", accept_gzip)
            .field("gzip_above", gzip_above)
            .field("headers", &headers.len())
            .finish()
    }
}

/// Calls the operations of a service at an address. Generated clients are made of one.
#[derive(Clone, Debug)]
pub struct Caller<S = Transport> {
    url: Uri,
    transport: S,
    options: ClientOptions,
    description: &'static Description,
}

impl Caller {
    /// A caller over HTTP connections of its own.
    ///
    /// # Errors
    /// That `url` is not an absolute `http` URL or, with the feature `tls`, one of `https`.
    pub fn new(url: &str, description: &'static Description) -> Result<Self, castile_http::Error> {
        Ok(Caller::of(client::http_url(url)?, Transport::new(), description))
    }
}

impl<S: HttpService> Caller<S> {
    fn of(url: Uri, transport: S, description: &'static Description) -> Self {
        Caller { url, transport, options: ClientOptions::default(), description }
    }

    /// A caller over `transport`.
    ///
    /// # Errors
    /// That `url` is not an absolute URL.
    pub fn with_transport(
        url: &str,
        transport: S,
        description: &'static Description,
    ) -> Result<Self, castile_http::Error> {
        Ok(Caller::of(client::url(url)?, transport, description))
    }

    /// This caller with other options.
    pub fn with_options(self, options: ClientOptions) -> Self {
        Caller { options, ..self }
    }

    /// A call of an operation.
    pub fn call<'a, Q, R, D>(&'a self, operation: &'static Operation, request: &'a Q) -> Call<'a, Q, R, D, S> {
        Call {
            caller: self,
            operation,
            request,
            headers: Vec::new(),
            http_headers: None,
            parts: Vec::new(),
            timeout: self.options.timeout,
            soap_action: None,
            is_repeatable: false,
            accepted: None,
            fault: PhantomData,
        }
    }

    /// A call of an operation that has no response. That it was taken doesn't say that the request was right, or done.
    pub fn one_way<'a, Q, D>(&'a self, operation: &'static Operation, request: &'a Q) -> Call<'a, Q, (), D, S> {
        Call { accepted: Some(()), ..self.call(operation, request) }
    }
}

/// A call that is not sent yet. `.await` sends it and gives the message of the response; [`send`](Self::send) gives all of the
/// response.
///
/// What is set here is set for this call alone. A call that is dropped while its answer is due closes its connection.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<'a, Q, R, D = NoDetail, S = Transport> {
    caller: &'a Caller<S>,
    operation: &'static Operation,
    request: &'a Q,
    headers: Vec<&'a dyn WriteHeader>,
    http_headers: Option<HeaderMap>,
    parts: Vec<Part>,
    timeout: Option<Duration>,
    soap_action: Option<&'a str>,
    is_repeatable: bool,
    /// What an operation without a response gives.
    accepted: Option<R>,
    fault: PhantomData<fn() -> D>,
}

impl<'a, Q, R, D, S> Call<'a, Q, R, D, S> {
    /// Adds a header block: one that the contract declares, or [`AnyHeader`](crate::AnyHeader). Those of its name that the client sends
    /// with each call are replaced.
    pub fn header(mut self, block: &'a impl WriteHeader) -> Self {
        self.headers.push(block);
        self
    }

    /// Adds a header of HTTP. One of that name that the client sends with each call is replaced.
    pub fn http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// Adds an attachment.
    pub fn attach(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Sets how long the call may take, from its beginning to the end of the answer's envelope.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Says that the service may act on the request twice. Where its transport sends messages again
    /// ([`Retries`](castile_http::client::Retries)), this one is sent again after the exchange broke off, and after the server
    /// answered that it can't serve it now.
    pub fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// Sets another action than that of the contract, for a server that insists on one.
    pub fn soap_action(mut self, action: &'a str) -> Self {
        self.soap_action = Some(action);
        self
    }
}

impl<Q, R, D, S> Call<'_, Q, R, D, S>
where
    Q: ToPayload + Sync,
    R: FromPayload + Send + 'static,
    D: FaultDetail,
    S: HttpService,
{
    /// Sends the call and waits for its response: the message, the header blocks, and what HTTP says of it. Attachments are
    /// read when they are asked for.
    ///
    /// # Errors
    /// A [`CallError`].
    // It says that it is `Send`. Where the compiler works that out from a transport with a trait object, in a method of a service, it
    // forgets that the object is `'static` (rust-lang/rust#110338).
    pub fn send(self) -> impl Future<Output = Result<crate::Response<R>, CallError<D>>> + Send {
        self.run(true, None)
    }

    async fn run(self, takes_attachments: bool, sift: Option<ItemSift>) -> Result<crate::Response<R>, CallError<D>> {
        match self.timeout {
            None => self.exchange(takes_attachments, sift).await,
            Some(limit) => {
                let Caller { url, .. } = self.caller;
                // Boxed, so that other calls don't have the room for it twice.
                let answer = client::within(url, limit, Box::pin(self.exchange(takes_attachments, sift))).await;
                answer.map_err(CallError::Transport)?
            }
        }
    }

    async fn exchange(
        self,
        takes_attachments: bool,
        mut sift: Option<ItemSift>,
    ) -> Result<crate::Response<R>, CallError<D>> {
        let Call { caller, operation, request, http_headers, parts, soap_action, is_repeatable, accepted, .. } = self;
        let Caller { url, transport, options, description } = caller;
        let version = options.version.unwrap_or(description.version);
        let required = description.addressing.required.then_some(addressing::Version::Recommendation);
        let mut reading = Cow::Borrowed(&options.messages);
        let mut action = operation.action;
        if let Some(addressing) = options.addressing.or(required) {
            let call = addressing::Call::new(addressing, operation, &url.to_string());
            reading = Cow::Owned(options.messages.clone().of_call(call.map_err(CallError::of_message)?));
            // The action of HTTP must be the same (WS-Addressing 1.0 SOAP Binding §3.3).
            action = operation.actions.request;
        }
        // Whoever says one means it.
        action = soap_action.unwrap_or(action);
        if let Some(ItemSift { element, .. }) = &sift {
            reading = Cow::Owned(reading.into_owned().of_cut(element));
        }
        let of_client = options.headers.iter().map(|block| &**block as &dyn WriteHeader);
        let is_replaced = |block: &&dyn WriteHeader| self.headers.iter().any(|of_call| of_call.name() == block.name());
        let mut headers: Vec<_> = of_client.filter(|block| !is_replaced(block)).collect();
        headers.extend(self.headers.iter().copied());
        let mtom = reading.mtom.threshold(description.is_mtom);
        let written =
            castile_soap::client::request_package(version, operation, request, &headers, &reading, mtom, parts);
        let written = written.map_err(CallError::of_message)?;
        let mut exchange = ExchangeOptions::new(reading.limits.message_size);
        exchange.package = reading.attachments;
        exchange.http_headers = merged(&options.http_headers, http_headers);
        exchange.accept_gzip = options.accept_gzip;
        exchange.gzip_above = options.gzip_above;
        exchange.is_repeatable = is_repeatable;
        let transport = transport.service();
        let sifts = sift.as_mut().map(|sift| sift as &mut dyn Sift);
        let reply = client::exchange_sifted(transport, url, version, action, written, exchange, sifts).await;
        let ClientReply { status, http_headers, received } = reply.map_err(CallError::Transport)?;
        let answer = match accepted {
            None if sift.is_some() && received.packaging.is_some() => Err(items::in_a_package()),
            None => castile_soap::client::response_package(operation, received, &reading, takes_attachments).await,
            Some(nothing) => {
                let taken = castile_soap::client::accepted(operation, &received.message, received.charset, &reading);
                taken.map(|taken| taken.map(|()| nothing.into()))
            }
        };
        match answer {
            Ok(Ok(response)) => Ok(response.carried_with(status, http_headers)),
            Ok(Err(fault)) => {
                let fault = fault.carried_with(http_headers.clone());
                Err(CallError::Fault { fault, answer: Box::new(AnswerHead { status, http_headers }) })
            }
            Err(error) => {
                Err(CallError::Protocol { error, answer: Some(Box::new(AnswerHead { status, http_headers })) })
            }
        }
    }
}

impl<'a, Q, R, D, S> Call<'a, Q, R, D, S>
where
    Q: ToPayload + Sync,
    R: FromPayload + Send + 'static,
    D: FaultDetail + 'a,
    S: HttpService,
{
    /// Sends the call and gives what its response repeats, one value after another, in memory that doesn't grow with the response. The
    /// generator makes this of elements that are asked for as streams, and `castile::Xml` of a field with `#[xml(items)]`.
    ///
    /// Each item is held to its type, and the rest of the message when the last of them came, header blocks too. Nothing is
    /// tolerated in an item. Limits of size hold for each item, and for the rest. The [`timeout`](Self::timeout) of the call holds for
    /// all of them together.
    pub fn items<T: FromXml>(self) -> ItemStream<'a, T, R, D>
    where
        R: Repeats<T>,
    {
        ItemStream::new(self)
    }
}

impl<'a, Q, R, D, S> IntoFuture for Call<'a, Q, R, D, S>
where
    Q: ToPayload + Sync,
    R: FromPayload + Send + 'static,
    D: FaultDetail,
    S: HttpService,
{
    type Output = Result<R, CallError<D>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.run(false, None).await.map(crate::Response::into_inner) })
    }
}

impl<Q, R, D, S> fmt::Debug for Call<'_, Q, R, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Caller { url, .. } = self.caller;
        f.debug_struct("Call").field("operation", &self.operation.name).field("url", url).finish_non_exhaustive()
    }
}

/// The headers of HTTP of a client, those of a call in their places.
fn merged(of_client: &HeaderMap, of_call: Option<HeaderMap>) -> HeaderMap {
    let Some(of_call) = of_call else { return of_client.clone() };
    let mut merged = of_client.clone();
    of_call.keys().for_each(|name| drop(merged.remove(name)));
    for (name, value) in &of_call {
        merged.append(name, value.clone());
    }
    merged
}

/// How a generated client is made: `constructors!(OrdersClient, ORDERS_SERVICE, "http://…")`. The address is that of the contract,
/// if it names one.
#[doc(hidden)]
#[macro_export]
macro_rules! constructors {
    ($client:ident, $description:ident $(, $address:literal)?) => {
        #[allow(dead_code, reason = "a program may bring a transport of its own")]
        impl $client {
            #[doc = concat!("A client of the service at `url`", $("; the contract names `", $address, "`",)? ".")]
            ///
            /// # Errors
            /// That `url` is not an absolute `http` or `https` URL.
            pub fn new(url: &str) -> ::core::result::Result<Self, $crate::codegen::HttpError> {
                $crate::codegen::Caller::new(url, &$description).map(Self)
            }
        }

        #[allow(dead_code, reason = "a program may use some of this and not the rest")]
        impl<S: $crate::HttpService> $client<S> {
            /// A client over a transport of your own: any tower service that answers HTTP requests.
            ///
            /// # Errors
            /// That `url` is not a URL.
            pub fn with_transport(url: &str, transport: S) -> ::core::result::Result<Self, $crate::codegen::HttpError> {
                $crate::codegen::Caller::with_transport(url, transport, &$description).map(Self)
            }

            /// This client with other options.
            pub fn with_options(self, options: $crate::ClientOptions) -> Self {
                Self(self.0.with_options(options))
            }
        }
    };
}
