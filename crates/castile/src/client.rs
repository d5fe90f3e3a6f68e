//! The types that generated clients use.

mod items;
mod options;
mod secured;

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use castile_databinding::FromXml;
use castile_databinding::document::Repeats;
use castile_http::Body;
use castile_http::client::{self, ClientReply, ExchangeOptions, Sift, Transport};
use castile_mime::Part;
use castile_soap::client::{AnswerSlot, Expected};
use castile_soap::{
    AnyHeader, Description, Detail, Fault, FaultDetail, FromPayload, Header, NoDetail, Operation, ToPayload,
    WriteHeader, Written, addressing,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri};

use items::ItemSift;
pub use items::ItemStream;
pub use options::ClientOptions;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a call. Callers usually handle its three variants in different ways.
///
/// `D` is the type of the details that the contract declares for the operation.
#[derive(Debug)]
pub enum CallError<D = NoDetail> {
    /// No answer was received: the server was not reached, or HTTP failed.
    Transport(castile_http::Error),
    /// The request could not be written, or the contract does not allow the answer.
    #[non_exhaustive]
    Protocol {
        /// The error.
        error: castile_soap::Error,
        /// The HTTP status and headers of the answer, if one was received.
        answer: Option<Box<AnswerHead>>,
    },
    /// The service answered with a fault.
    #[non_exhaustive]
    Fault {
        /// The fault.
        fault: Fault<D>,
        /// The HTTP status and headers of the answer.
        answer: Box<AnswerHead>,
    },
}

/// The HTTP status and headers of an answer.
#[derive(Clone, Debug)]
pub struct AnswerHead {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub http_headers: HeaderMap,
}

impl<D> CallError<D> {
    /// Returns the fault, if the service answered with one.
    pub fn fault(&self) -> Option<&Fault<D>> {
        match self {
            CallError::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// Returns the detail of the fault, if the contract declares that detail.
    pub fn detail(&self) -> Option<&D> {
        match &self.fault()?.detail {
            Detail::Declared(detail) => Some(detail),
            _ => None,
        }
    }

    /// Returns the header block `H` of the fault. Returns `None` if the answer is not a fault, or if the fault has no such block
    /// for this receiver.
    ///
    /// # Errors
    /// Returns an error if the block is invalid or occurs twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, castile_soap::Error> {
        self.fault().map_or(Ok(None), Fault::header)
    }

    /// Returns the header blocks of the fault that have this name, as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, castile_soap::Error> {
        self.fault().map_or(Ok(Vec::new()), |fault| fault.headers_named(namespace, local))
    }

    /// Returns all header blocks of the fault, as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, castile_soap::Error> {
        self.fault().map_or(Ok(Vec::new()), Fault::headers)
    }

    /// Returns the HTTP status of the answer, if one was received.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            CallError::Transport(error) => error.status(),
            CallError::Protocol { answer, .. } => answer.as_ref().map(|answer| answer.status),
            CallError::Fault { answer, .. } => Some(answer.status),
        }
    }

    /// Returns the HTTP headers of the answer, if one was received: for example `WWW-Authenticate`, `Retry-After`, `Location`.
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
            // `Display` already shows the inner error itself.
            CallError::Transport(error) => error.source(),
            CallError::Protocol { error, .. } => error.source(),
            CallError::Fault { fault, .. } => fault.source(),
        }
    }
}

/// A service that answers HTTP requests: a [`Transport`], an in-process server, a stack of tower layers.
pub trait HttpService: Clone + Send + Sync {
    /// The body of the responses.
    type Body: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
    /// The tower service that answers one request.
    type Service: tower_service::Service<
            Request<Body>,
            Response = http::Response<Self::Body>,
            Error: Into<BoxError> + Send,
            Future: Send,
        > + Send;

    /// Returns a service for one request.
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

/// Calls the operations of a service at one URL. Each generated client wraps a `Caller`.
#[derive(Clone, Debug)]
pub struct Caller<S = Transport> {
    url: Uri,
    transport: S,
    options: ClientOptions,
    description: &'static Description,
}

impl Caller {
    /// Creates a caller with its own HTTP connections.
    ///
    /// # Errors
    /// Returns an error if `url` is not an absolute `http` URL. With the feature `tls`, `https` URLs are valid too.
    pub fn new(url: &str, description: &'static Description) -> Result<Self, castile_http::Error> {
        Ok(Caller::of(client::http_url(url)?, Transport::new(), description))
    }
}

impl<S: HttpService> Caller<S> {
    fn of(url: Uri, transport: S, description: &'static Description) -> Self {
        Caller { url, transport, options: ClientOptions::default(), description }
    }

    /// Creates a caller that uses `transport`.
    ///
    /// # Errors
    /// Returns an error if `url` is not an absolute URL.
    pub fn with_transport(
        url: &str,
        transport: S,
        description: &'static Description,
    ) -> Result<Self, castile_http::Error> {
        Ok(Caller::of(client::url(url)?, transport, description))
    }

    /// Replaces the options.
    pub fn with_options(self, options: ClientOptions) -> Self {
        Caller { options, ..self }
    }

    /// Prepares a call of an operation.
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

    /// Prepares a call of an operation that has no response. Success only means that the server accepted the message; the request
    /// may still be invalid or fail.
    pub fn one_way<'a, Q, D>(&'a self, operation: &'static Operation, request: &'a Q) -> Call<'a, Q, (), D, S> {
        Call { accepted: Some(()), ..self.call(operation, request) }
    }
}

/// A call that is not sent yet. `.await` sends it and returns the message of the response. [`send`](Self::send) returns the whole
/// response.
///
/// The settings of a call override those of the client, for this call only. Dropping a call before its answer was received closes
/// the connection.
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
    /// The result of an operation without a response.
    accepted: Option<R>,
    fault: PhantomData<fn() -> D>,
}

impl<'a, Q, R, D, S> Call<'a, Q, R, D, S> {
    /// Adds a header block: one of the contract, or an [`AnyHeader`](crate::AnyHeader). It replaces blocks of the same name that
    /// the client sends with each call.
    pub fn header(mut self, block: &'a impl WriteHeader) -> Self {
        self.headers.push(block);
        self
    }

    /// Adds an HTTP header. It replaces a header of the same name that the client sends with each call.
    pub fn http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// Adds an attachment.
    pub fn attach(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Sets the timeout of the call, from its start to the end of the answer's envelope.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Declares that the service may execute the request more than once. If the transport retries
    /// ([`Retries`](castile_http::client::Retries)), it then also retries this call after the exchange broke off, and after the
    /// server answered that it can't serve the request now.
    pub fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// Sets another action than the action of the contract, for a server that requires it.
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
    /// Sends the call and waits for its response: the message, the header blocks, and the HTTP status and headers. Attachments are
    /// read on demand.
    ///
    /// # Errors
    /// Returns a [`CallError`].
    pub fn send(self) -> impl Future<Output = Result<crate::Response<R>, CallError<D>>> + Send {
        self.run(true, None)
    }

    async fn run(self, takes_attachments: bool, sift: Option<ItemSift>) -> Result<crate::Response<R>, CallError<D>> {
        let Call {
            caller, operation, request, headers, http_headers, parts, timeout, soap_action, is_repeatable, ..
        } = self;
        let has_response = self.accepted.is_none();
        let settings = Settings { operation, headers, http_headers, parts, soap_action, is_repeatable };
        let answer_options = AnswerOptions { has_response, takes_attachments, timeout };
        let mut expected = Expected::new(self.accepted);
        match exchange(caller, settings, request, answer_options, sift, expected.slot()).await {
            Ok(Ok(rest)) => expected.response(rest).map_err(CallError::of_message),
            Ok(Err((fault, answer))) => Err(CallError::Fault { fault: expected.fault(fault), answer }),
            Err(Failure::Transport(error)) => Err(CallError::Transport(error)),
            Err(Failure::Protocol { error, answer }) => Err(CallError::Protocol { error, answer }),
        }
    }
}

/// A [`CallError`] that is not a fault.
enum Failure {
    Transport(castile_http::Error),
    Protocol { error: castile_soap::Error, answer: Option<Box<AnswerHead>> },
}

impl Failure {
    fn of_message(error: castile_soap::Error) -> Self {
        Failure::Protocol { error, answer: None }
    }
}

/// The response without its message, or the fault without its detail.
type Answered = Result<crate::Response<()>, (Fault<()>, Box<AnswerHead>)>;

/// What is done with the answer to a call.
#[derive(Clone, Copy)]
struct AnswerOptions {
    has_response: bool,
    takes_attachments: bool,
    timeout: Option<Duration>,
}

/// The settings of a call, without the types of its operation.
struct Settings<'a> {
    operation: &'static Operation,
    headers: Vec<&'a dyn WriteHeader>,
    http_headers: Option<HeaderMap>,
    parts: Vec<Part>,
    soap_action: Option<&'a str>,
    is_repeatable: bool,
}

/// A request that was written, and the settings for its exchange.
struct WrittenCall<'a> {
    /// The options for reading the answer.
    reading: Cow<'a, castile_soap::Options>,
    version: castile_soap::Version,
    action: &'a str,
    written: Written,
    options: ExchangeOptions,
}

impl<'a> Settings<'a> {
    /// Writes the request.
    fn write(
        self,
        url: &Uri,
        options: &'a ClientOptions,
        description: &Description,
        request: &(dyn ToPayload + Sync),
        sift: Option<&ItemSift>,
    ) -> Result<WrittenCall<'a>, castile_soap::Error> {
        let Settings { operation, headers: of_call, http_headers, parts, soap_action, is_repeatable } = self;
        let version = options.version.unwrap_or(description.version);
        let required = description.addressing.required.then_some(addressing::Version::Recommendation);
        let mut reading = Cow::Borrowed(&options.messages);
        let mut action = operation.action;
        if let Some(addressing) = options.addressing.or(required) {
            let call = addressing::Call::new(addressing, operation, &url.to_string());
            reading = Cow::Owned(options.messages.clone().with_call(call?));
            // The HTTP action must be the same (WS-Addressing 1.0 SOAP Binding §3.3).
            action = operation.actions.request;
        }
        if options.security.is_some() {
            reading.to_mut().notes_canonical = true;
        }
        if let Some(ItemSift { element, .. }) = sift {
            reading = Cow::Owned(reading.into_owned().with_cut_out(element));
        }
        let of_client = options.headers.iter().map(|block| &**block as &dyn WriteHeader);
        let is_replaced = |block: &&dyn WriteHeader| of_call.iter().any(|of_call| of_call.name() == block.name());
        let mut headers: Vec<_> = of_client.filter(|block| !is_replaced(block)).collect();
        headers.extend(of_call.iter().copied());
        let mtom = reading.mtom.threshold(description.is_mtom);
        let written =
            castile_soap::client::request_package(version, operation, request, &headers, &reading, mtom, parts)?;
        let mut exchange = ExchangeOptions::new(reading.limits.message_size);
        exchange.package = reading.attachments;
        exchange.http_headers = merged(&options.http_headers, http_headers);
        exchange.accept_gzip = options.accept_gzip;
        exchange.gzip_above = options.gzip_above;
        exchange.is_repeatable = is_repeatable;
        // An action that was set for this call has priority.
        Ok(WrittenCall { reading, version, action: soap_action.unwrap_or(action), written, options: exchange })
    }
}

/// Sends a call, and reads its answer into `slot`. It is compiled once for each type of transport and not for each operation.
async fn exchange<S: HttpService>(
    caller: &Caller<S>,
    settings: Settings<'_>,
    request: &(dyn ToPayload + Sync),
    answer_options: AnswerOptions,
    sift: Option<ItemSift>,
    slot: AnswerSlot<'_>,
) -> Result<Answered, Failure> {
    let exchange = exchange_now(caller, settings, request, answer_options, sift, slot);
    match answer_options.timeout {
        None => exchange.await,
        Some(limit) => {
            // Boxed, so that calls without a timeout don't reserve space for the future twice.
            client::within(&caller.url, limit, Box::pin(exchange)).await.map_err(Failure::Transport)?
        }
    }
}

async fn exchange_now<S: HttpService>(
    caller: &Caller<S>,
    settings: Settings<'_>,
    request: &(dyn ToPayload + Sync),
    answer_options: AnswerOptions,
    mut sift: Option<ItemSift>,
    slot: AnswerSlot<'_>,
) -> Result<Answered, Failure> {
    let Caller { url, transport, options, description } = caller;
    let security = options.security.as_ref();
    let operation = settings.operation;
    let call = settings.write(url, options, description, request, sift.as_ref()).map_err(Failure::of_message)?;
    let WrittenCall { reading, version, action, mut written, options } = call;
    let is_sifted = sift.is_some();
    let mut signatures = Vec::new();
    if let Some(security) = security {
        signatures = secured::secure(&**security, &mut written, is_sifted).await.map_err(Failure::of_message)?;
    }
    let sifts = sift.as_mut().map(|sift| sift as &mut dyn Sift);
    let reply = client::exchange_sifted(transport.service(), url, version, action, written, options, sifts).await;
    let mut reply = reply.map_err(Failure::Transport)?;
    if let Some(security) = security
        && let Err(error) =
            secured::verify(&**security, &mut reply.received, &signatures, answer_options.has_response).await
    {
        let ClientReply { status, http_headers, .. } = reply;
        return Err(Failure::Protocol { error, answer: Some(Box::new(AnswerHead { status, http_headers })) });
    }
    read_answer(operation, &reading, answer_options, is_sifted, reply, slot).await
}

/// Reads the answer to a call into `slot`.
async fn read_answer(
    operation: &'static Operation,
    reading: &castile_soap::Options,
    answer_options: AnswerOptions,
    is_sifted: bool,
    reply: ClientReply,
    slot: AnswerSlot<'_>,
) -> Result<Answered, Failure> {
    let ClientReply { status, http_headers, mut received } = reply;
    let extensions = std::mem::take(&mut received.extensions);
    let answer = match answer_options.has_response {
        true if is_sifted && received.packaging.is_some() => Err(items::in_a_package()),
        true => {
            castile_soap::client::answer_package(operation, received, reading, answer_options.takes_attachments, slot)
                .await
        }
        false => {
            let taken = castile_soap::client::accepted_into(operation, &received, reading, slot);
            taken.map(|taken| taken.map(crate::Response::new))
        }
    };
    match answer {
        Ok(Ok(response)) => Ok(Ok(response.with_received_http(status, http_headers, extensions))),
        Ok(Err(fault)) => {
            let fault = fault.with_received_http(http_headers.clone(), extensions);
            Ok(Err((fault, Box::new(AnswerHead { status, http_headers }))))
        }
        Err(error) => Err(Failure::Protocol { error, answer: Some(Box::new(AnswerHead { status, http_headers })) }),
    }
}

impl<'a, Q, R, D, S> Call<'a, Q, R, D, S>
where
    Q: ToPayload + Sync,
    R: FromPayload + Send + 'static,
    D: FaultDetail + 'a,
    S: HttpService,
{
    /// Sends the call and returns the repeated values of its response one by one, in memory that doesn't grow with the response.
    /// The generator provides this for elements that are selected for streaming, and `castile::Xml` for a field with
    /// `#[xml(items)]`.
    ///
    /// Each item is validated against its type when it is read. The rest of the message, including header blocks, is validated
    /// after the last item. Items are always read strictly, never leniently. Size limits apply to each item, and to the rest. The
    /// [`timeout`](Self::timeout) of the call covers all items together.
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

/// Returns the HTTP headers of the client, overridden by those of the call.
fn merged(of_client: &HeaderMap, of_call: Option<HeaderMap>) -> HeaderMap {
    let Some(of_call) = of_call else { return of_client.clone() };
    let mut merged = of_client.clone();
    of_call.keys().for_each(|name| drop(merged.remove(name)));
    for (name, value) in &of_call {
        merged.append(name, value.clone());
    }
    merged
}

/// Generates the constructors of a client: `constructors!(OrdersClient, ORDERS_SERVICE, "http://…")`. The address is the one in the
/// contract, if there is one.
#[doc(hidden)]
#[macro_export]
macro_rules! constructors {
    ($client:ident, $description:ident $(, $address:literal)?) => {
        #[allow(dead_code, reason = "a program may bring a transport of its own")]
        impl $client {
            #[doc = concat!("A client of the service at `url`", $("; the contract names `", $address, "`",)? ".")]
            ///
            /// # Errors
            /// Returns an error if `url` is not an absolute `http` or `https` URL.
            pub fn new(url: &str) -> ::core::result::Result<Self, $crate::codegen::HttpError> {
                $crate::codegen::Caller::new(url, &$description).map(Self)
            }
        }

        #[allow(dead_code, reason = "a program may use only a part of this")]
        impl<S: $crate::HttpService> $client<S> {
            /// Creates a client that uses your own transport: any tower service that answers HTTP requests.
            ///
            /// # Errors
            /// Returns an error if `url` is not a URL.
            pub fn with_transport(url: &str, transport: S) -> ::core::result::Result<Self, $crate::codegen::HttpError> {
                $crate::codegen::Caller::with_transport(url, transport, &$description).map(Self)
            }

            /// Replaces the options.
            pub fn with_options(self, options: $crate::ClientOptions) -> Self {
                Self(self.0.with_options(options))
            }
        }
    };
}
