use ::castile::codegen::{
    Arc, CallError, Caller, Context, Description, Dispatch, Element, Endpoint,
    EndpointOptions, Fault, Future, HttpError, HttpRequest, HttpResponse, HttpService,
    Infallible, Limits, Operation, Payload, Pending, Poll, RequestBody, ResponseFuture,
    Root, SizeHint, SoapError, SoapService, TowerService, Transport,
};

const NAMESPACE: &str = "urn:simple_payload";

/// The port type `Feature`.
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation `greet`.
    fn greet(&self, request: String) -> impl Future<Output = Result<String, Fault>> + Send;

    /// The operation `count`.
    fn count(&self, request: i32) -> impl Future<Output = Result<i32, Fault>> + Send;

    /// The operation `bytes`.
    fn bytes(
        &self,
        request: ::castile::datatypes::Base64Binary,
    ) -> impl Future<Output = Result<::castile::datatypes::Base64Binary, Fault>> + Send;
}

/// A [`Feature`] as a tower service that speaks SOAP over HTTP.
pub struct FeatureServer<T>(Endpoint<FeatureDispatch<T>>);

#[allow(dead_code)]
impl<T: Feature> FeatureServer<T> {
    /// A server with the default options.
    pub fn new(service: T) -> Self {
        Self::with_options(service, EndpointOptions::default())
    }

    /// A server with limits and timeouts of its own.
    pub fn with_options(service: T, options: EndpointOptions) -> Self {
        Self(Endpoint::with_options(FeatureDispatch(Arc::new(service)), options))
    }
}

impl<T> Clone for FeatureServer<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Feature> From<FeatureServer<T>> for Endpoint<dyn SoapService> {
    fn from(server: FeatureServer<T>) -> Self {
        server.0.boxed()
    }
}

impl<T: Feature, B: RequestBody> TowerService<HttpRequest<B>> for FeatureServer<T> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<B>) -> Self::Future {
        TowerService::call(&mut self.0, request)
    }
}

struct FeatureDispatch<T>(Arc<T>);

impl<T: Feature> Dispatch for FeatureDispatch<T> {
    const DESCRIPTION: &'static Description = &Description {
        name: "Feature",
        namespace: "urn:simple_payload",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/simple_payload",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        match operation {
            0 => payload.handle(async move |request| T::greet(&service, request).await),
            1 => payload.handle(async move |request| T::count(&service, request).await),
            _ => payload.handle(async move |request| T::bytes(&service, request).await),
        }
    }
}

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/simple_payload`.
    ///
    /// # Errors
    /// That `url` is not an absolute `http` URL.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        Caller::new(url).map(Self)
    }
}

#[allow(dead_code)]
impl<S: HttpService> FeatureClient<S> {
    /// A client over a transport of your own: any tower service that answers HTTP requests.
    ///
    /// # Errors
    /// That `url` is not a URL.
    pub fn with_transport(url: &str, transport: S) -> Result<Self, HttpError> {
        Caller::with_transport(url, transport).map(Self)
    }

    /// The same with other limits on what responses may take.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self(self.0.with_limits(limits))
    }

    /// The operation `greet`.
    pub async fn greet(&self, request: &String) -> Result<String, CallError> {
        self.0.call(&FEATURE_OPERATIONS[0], request).await
    }

    /// The operation `count`.
    pub async fn count(&self, request: &i32) -> Result<i32, CallError> {
        self.0.call(&FEATURE_OPERATIONS[1], request).await
    }

    /// The operation `bytes`.
    pub async fn bytes(
        &self,
        request: &::castile::datatypes::Base64Binary,
    ) -> Result<::castile::datatypes::Base64Binary, CallError> {
        self.0.call(&FEATURE_OPERATIONS[2], request).await
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 3] = [
    Operation {
        name: "greet",
        action: "greet",
        request: Root {
            element: Element::new(NAMESPACE, "greet", 0),
            start: "<greet xmlns=\"urn:simple_payload\">",
            end: "</greet>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "greetResponse", 1),
            start: "<greetResponse xmlns=\"urn:simple_payload\">",
            end: "</greetResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "count",
        action: "count",
        request: Root {
            element: Element::new(NAMESPACE, "count", 2),
            start: "<count xmlns=\"urn:simple_payload\">",
            end: "</count>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "countResponse", 3),
            start: "<countResponse xmlns=\"urn:simple_payload\">",
            end: "</countResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "bytes",
        action: "bytes",
        request: Root {
            element: Element::new(NAMESPACE, "bytes", 4),
            start: "<bytes xmlns=\"urn:simple_payload\">",
            end: "</bytes>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "bytesResponse", 5),
            start: "<bytesResponse xmlns=\"urn:simple_payload\">",
            end: "</bytesResponse>",
        },
        response_size: SizeHint::new(),
    },
];
