//! What generated clients call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use castile_http::client::{self, ReplyLimits, Transport};
use castile_http::{Body, DEFAULT_OFFLOAD_ABOVE, Workers};
use castile_mime::Part;
use castile_soap::{
    Fault, FaultDetail, FromPayload, Header, IntoParts, Leniency, Mtom, NoDetail, Offloading, Operation, Options,
    Received, TakeAttachments, ToPayload, Version, addressing,
};
use castile_xml::Limits;
use http::{Request, Response, Uri};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a call brought no response: three things that a caller acts on in different ways.
///
/// `D` is the type of the details that the contract declares for the operation.
#[derive(Debug)]
pub enum CallError<D = NoDetail> {
    /// No answer came: the server was not reached, or HTTP failed.
    Transport(castile_http::Error),
    /// The request could not be written, or the answer is not one that the contract allows.
    Protocol(castile_soap::Error),
    /// The service answered with a fault.
    Fault(Fault<D>),
}

impl<D> fmt::Display for CallError<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Transport(error) => error.fmt(f),
            CallError::Protocol(error) => error.fmt(f),
            CallError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl<D: fmt::Debug + 'static> std::error::Error for CallError<D> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Their own words are the message already.
            CallError::Transport(error) => error.source(),
            CallError::Protocol(error) => error.source(),
            CallError::Fault(fault) => fault.source(),
        }
    }
}

/// Anything that answers HTTP requests: a [`Transport`], an in-process server, a stack of tower layers.
pub trait HttpService: Clone {
    /// The body of its responses.
    type Body: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
    /// The service behind it.
    type Service: tower_service::Service<Request<Body>, Response = Response<Self::Body>, Error: Into<BoxError>>;

    /// A service for one request.
    fn service(&self) -> Self::Service;
}

impl<S, B> HttpService for S
where
    S: tower_service::Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>> + Clone,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;
    type Service = S;

    fn service(&self) -> S {
        self.clone()
    }
}

/// Calls operations at an address.
#[derive(Clone, Debug)]
pub struct Caller<S = Transport> {
    url: Uri,
    transport: S,
    options: Options,
    attachments: castile_mime::Limits,
    version: Version,
    addressing: Option<addressing::Version>,
}

impl Caller {
    /// A caller over HTTP connections of its own.
    ///
    /// # Errors
    /// That `url` is not an absolute `http` URL.
    pub fn new(url: &str) -> Result<Self, castile_http::Error> {
        let url = client::http_url(url)?;
        Ok(Caller::of(url, Transport::new()))
    }
}

impl<S> Caller<S> {
    fn of(url: Uri, transport: S) -> Self {
        let (mut options, attachments) = (Options::default(), castile_mime::Limits::default());
        options.offload = Some(Offloading::new(DEFAULT_OFFLOAD_ABOVE, Arc::new(Workers::shared())));
        Caller { url, transport, options, attachments, version: Version::default(), addressing: None }
    }
}

impl<S: HttpService> Caller<S> {
    /// A caller over `transport`.
    ///
    /// # Errors
    /// That `url` is not an absolute URL.
    pub fn with_transport(url: &str, transport: S) -> Result<Self, castile_http::Error> {
        Ok(Caller::of(client::url(url)?, transport))
    }

    /// Sends requests as MTOM, with binary values of at least `threshold` bytes beside them.
    pub fn with_mtom(mut self, threshold: usize) -> Self {
        self.options.mtom = Mtom::Always(threshold);
        self
    }

    /// Sets the limits on what the packages of responses may take.
    pub fn with_attachment_limits(mut self, limits: castile_mime::Limits) -> Self {
        self.options.included = limits.included;
        self.attachments = limits;
        self
    }

    /// Sets the limits on what responses may take.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// A caller whose responses of more than `above` bytes are read by `workers`. Other callers have 256 KiB and the
    /// [shared](Workers::shared) workers. Requests are borrowed, so they are written where they are sent.
    pub fn with_workers(mut self, above: usize, workers: Workers) -> Self {
        self.options.offload = Some(Offloading::new(above, Arc::new(workers)));
        self
    }

    /// Takes responses that deviate from the contract.
    pub fn with_leniency(mut self, leniency: Leniency) -> Self {
        self.options.leniency = Some(leniency);
        self
    }

    /// Calls in this version of SOAP; it is SOAP 1.1 otherwise.
    pub fn with_version(self, version: Version) -> Self {
        Caller { version, ..self }
    }

    /// Says in WS-Addressing what requests mean and whom they are for, in this version. An answer that says
    /// to be that to another request is refused.
    pub fn with_addressing(self, version: addressing::Version) -> Self {
        Caller { addressing: Some(version), ..self }
    }

    /// Sends a request and waits for its response.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn call<Q: ToPayload, R: FromPayload + Send + 'static, D: FaultDetail>(
        &self,
        operation: &'static Operation,
        request: &Q,
    ) -> Result<R, CallError<D>> {
        let (response, ()) = self.call_with(operation, request, &()).await?;
        Ok(response)
    }

    /// Calls an operation with header blocks, those of the request and those of the response.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn call_with<Q: ToPayload, H: Header, R: FromPayload + Send + 'static, O: Header, D: FaultDetail>(
        &self,
        operation: &'static Operation,
        request: &Q,
        header: &H,
    ) -> Result<(R, O), CallError<D>> {
        let (response, header, ()) = self.exchange(operation, request, header, ()).await?;
        Ok((response, header))
    }

    /// Calls an operation with header blocks and attachments: `parts` go with the request, and those of the response are
    /// read as they are asked for.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn exchange<
        Q: ToPayload,
        H: Header,
        P: IntoParts,
        R: FromPayload + Send + 'static,
        O: Header,
        A: TakeAttachments,
        D: FaultDetail,
    >(
        &self,
        operation: &'static Operation,
        request: &Q,
        header: &H,
        parts: P,
    ) -> Result<(R, O, A), CallError<D>> {
        let (received, options) = self.post(operation, request, header, parts.into_parts()).await?;
        let answer = castile_soap::client::response_package(operation, received, &options).await;
        answer.map_err(CallError::Protocol)?.map_err(CallError::Fault)
    }

    /// Sends a request that has no response, and waits until it is taken.
    ///
    /// # Errors
    /// A [`CallError`]. That there is none doesn't say that the request was right, or done.
    pub async fn send<Q: ToPayload, H: Header, D: FaultDetail>(
        &self,
        operation: &'static Operation,
        request: &Q,
        header: &H,
    ) -> Result<(), CallError<D>> {
        self.send_with(operation, request, header, ()).await
    }

    /// Sends a request that has no answer with header blocks and attachments.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub async fn send_with<Q: ToPayload, H: Header, P: IntoParts, D: FaultDetail>(
        &self,
        operation: &'static Operation,
        request: &Q,
        header: &H,
        parts: P,
    ) -> Result<(), CallError<D>> {
        let (received, options) = self.post(operation, request, header, parts.into_parts()).await?;
        let answer = castile_soap::client::accepted(operation, &received.message, received.charset, &options);
        answer.map_err(CallError::Protocol)?.map_err(CallError::Fault)
    }

    async fn post<Q: ToPayload, H: Header, D>(
        &self,
        operation: &'static Operation,
        request: &Q,
        header: &H,
        parts: Vec<Part>,
    ) -> Result<(Received, Cow<'_, Options>), CallError<D>> {
        let Caller { url, version, addressing, attachments, .. } = self;
        let (mut options, mut action) = (Cow::Borrowed(&self.options), operation.action);
        if let Some(addressing) = addressing {
            let call = addressing::Call::new(*addressing, operation, &url.to_string());
            options.to_mut().call = Some(call.map_err(CallError::Protocol)?);
            // The action of HTTP must be the same (WS-Addressing 1.0 SOAP Binding §3.3).
            action = operation.actions.request;
        }
        let mtom = match options.mtom {
            Mtom::Always(threshold) => Some(threshold),
            _ => None,
        };
        let call = options.call.as_ref();
        let written = castile_soap::client::request_package(*version, operation, request, header, call, mtom, parts);
        let written = written.map_err(CallError::Protocol)?;
        let limits = ReplyLimits { message_size: options.limits.message_size, package: *attachments };
        let transport = self.transport.service();
        let reply = client::exchange(transport, url, *version, action, written, limits).await;
        Ok((reply.map_err(CallError::Transport)?.received, options))
    }
}
