use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FaultDetail, FromXml, Future, HttpError,
    HttpRequest, HttpResponse, HttpService, Infallible, Limits, Operation, Payload,
    Pending, Poll, RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService,
    ToXml, TowerService, Transport,
};

const NAMESPACE: &str = "urn:typed_faults";
const NAMESPACE_2: &str = "urn:typed_faults:other";

/// The port type `Feature`.
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation `echo`.
    fn echo(&self, request: Value) -> impl Future<Output = Result<Value, Fault<EchoFault>>> + Send;

    /// The operation `plain`.
    fn plain(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;
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
        namespace: "urn:typed_faults",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/typed_faults",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        match operation {
            0 => payload.handle(async move |request| T::echo(&service, request).await),
            _ => payload.handle(async move |request| T::plain(&service, request).await),
        }
    }
}

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/typed_faults`.
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

    /// The operation `echo`.
    pub async fn echo(&self, request: &Value) -> Result<Value, CallError<EchoFault>> {
        self.0.call(&FEATURE_OPERATIONS[0], request).await
    }

    /// The operation `plain`.
    pub async fn plain(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[1], request).await
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `ask`.
    pub ask: String,
}

static VALUE: [Element; 1] = [Element::new(NAMESPACE, "ask", 0)];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                ask: decoder.required(&VALUE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.element("<ask>", &self.ask, "</ask>");
    }
}

/// The type `OutOfStock`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutOfStock {
    /// The element `item`.
    pub item: String,
    /// The element `left`.
    pub left: Option<i32>,
}

static OUT_OF_STOCK: [Element; 2] = [
    Element::new(NAMESPACE, "item", 3),
    Element::new(NAMESPACE_2, "left", 4).occurs(0, Some(1)),
];

impl FromXml for OutOfStock {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(OutOfStock {
                item: decoder.required(&OUT_OF_STOCK, 0)?,
                left: decoder.optional(&OUT_OF_STOCK, 1)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for OutOfStock {
    fn content(&self, out: &mut Encoder) {
        out.element("<item>", &self.item, "</item>");
        out.optional("<ns1:left>", &self.left, "</ns1:left>");
    }
}

/// What a fault of the operation can say.
#[derive(Clone, Debug, PartialEq)]
pub enum EchoFault {
    /// The fault `OutOfStock`.
    OutOfStock(OutOfStock),
    /// The fault `error`.
    ErrorType(::castile::datatypes::DateTime),
}

impl FaultDetail for EchoFault {
    const ELEMENTS: &'static [Element] = &[
        Element::new(NAMESPACE, "outOfStock", 5),
        Element::new(NAMESPACE, "closed", 6),
    ];

    fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, Error> {
        let element = &Self::ELEMENTS[index];
        match index {
            0 => decoder.root(element).map(Self::OutOfStock),
            _ => decoder.root(element).map(Self::ErrorType),
        }
    }

    fn write(&self, out: &mut Encoder) {
        match self {
            Self::OutOfStock(detail) => {
                out.element(
                    "<outOfStock xmlns=\"urn:typed_faults\" xmlns:ns1=\"urn:typed_faults:other\">",
                    detail,
                    "</outOfStock>",
                )
            }
            Self::ErrorType(detail) => out.element("<closed xmlns=\"urn:typed_faults\">", detail, "</closed>"),
        }
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 2] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 1),
            start: "<echo xmlns=\"urn:typed_faults\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 2),
            start: "<echoResponse xmlns=\"urn:typed_faults\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "plain",
        action: "plain",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 7),
            start: "<echo xmlns=\"urn:typed_faults\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 8),
            start: "<echoResponse xmlns=\"urn:typed_faults\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
