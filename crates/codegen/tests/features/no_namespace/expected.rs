use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Operation, Payload, Pending, Poll,
    RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService, ToXml,
    TowerService, Transport,
};

const NAMESPACE_2: &str = "urn:no_namespace";

/// The port type `Feature`.
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation `echo`.
    fn echo(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;
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
        namespace: "urn:no_namespace",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/no_namespace",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        payload.handle(async move |request| T::echo(&service, request).await)
    }
}

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/no_namespace`.
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
    pub async fn echo(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[0], request).await
    }
}

/// The element `Mixed`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mixed {
    /// The element `a`.
    pub a: i32,
    /// The element `b`.
    pub b: i32,
}

static MIXED: [Element; 2] = [Element::new(NAMESPACE_2, "a", 1), Element::new("", "b", 2)];

impl FromXml for Mixed {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Mixed {
                a: decoder.required(&MIXED, 0)?,
                b: decoder.required(&MIXED, 1)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Mixed {
    fn content(&self, out: &mut Encoder) {
        out.element("<ns1:a>", &self.a, "</ns1:a>");
        out.element("<b>", &self.b, "</b>");
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `b`.
    pub b: i32,
    /// The element `mixed`.
    pub mixed: Option<Mixed>,
}

static VALUE: [Element; 2] = [Element::new("", "b", 0), Element::new(NAMESPACE_2, "mixed", 3).occurs(0, Some(1))];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                b: decoder.required(&VALUE, 0)?,
                mixed: decoder.optional(&VALUE, 1)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.element("<b>", &self.b, "</b>");
        out.optional("<ns1:mixed>", &self.mixed, "</ns1:mixed>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 1] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new("", "echo", 4),
            start: "<echo xmlns:ns1=\"urn:no_namespace\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new("", "echoResponse", 5),
            start: "<echoResponse xmlns:ns1=\"urn:no_namespace\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
