use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Operation, Payload, Pending, Poll,
    RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService, ToXml,
    TowerService, Transport,
};

const NAMESPACE: &str = "urn:two_namespaces:other";
const NAMESPACE_2: &str = "urn:two_namespaces";

/// The port type `Feature`.
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation `echo`.
    fn echo(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `other`.
    fn other(&self, request: Part) -> impl Future<Output = Result<Part, Fault>> + Send;
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
        namespace: "urn:two_namespaces",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/two_namespaces",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        match operation {
            0 => payload.handle(async move |request| T::echo(&service, request).await),
            _ => payload.handle(async move |request| T::other(&service, request).await),
        }
    }
}

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/two_namespaces`.
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

    /// The operation `other`.
    pub async fn other(&self, request: &Part) -> Result<Part, CallError> {
        self.0.call(&FEATURE_OPERATIONS[1], request).await
    }
}

/// The type `Part`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The element `a`.
    pub a: i32,
}

static PART: [Element; 1] = [Element::new(NAMESPACE, "a", 2)];

impl FromXml for Part {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Part {
                a: decoder.required(&PART, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Part {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The element `Parts`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The element `part`.
    pub part: Vec<Part>,
}

static PARTS: [Element; 1] = [Element::new(NAMESPACE, "part", 4).occurs(1, None)];

impl FromXml for Parts {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Parts {
                part: decoder.repeated(&PARTS, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Parts {
    fn content(&self, out: &mut Encoder) {
        out.repeated("<part>", &self.part, "</part>");
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `a`.
    pub a: i32,
    /// The element `note`.
    pub note: String,
    /// The element `part`.
    pub part: Part,
    /// The element `parts`.
    pub parts: Option<Parts>,
    /// The element `b`.
    pub b: i32,
}

static VALUE: [Element; 5] = [
    Element::new(NAMESPACE_2, "a", 0),
    Element::new(NAMESPACE, "note", 1),
    Element::new(NAMESPACE_2, "part", 3),
    Element::new(NAMESPACE, "parts", 5).occurs(0, Some(1)),
    Element::new(NAMESPACE_2, "b", 6),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                a: decoder.required(&VALUE, 0)?,
                note: decoder.required(&VALUE, 1)?,
                part: decoder.required(&VALUE, 2)?,
                parts: decoder.optional(&VALUE, 3)?,
                b: decoder.required(&VALUE, 4)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.element("<ns1:a>", &self.a, "</ns1:a>");
        out.element("<note>", &self.note, "</note>");
        out.element("<ns1:part>", &self.part, "</ns1:part>");
        out.optional("<parts>", &self.parts, "</parts>");
        out.element("<ns1:b>", &self.b, "</ns1:b>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 2] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE_2, "echo", 7),
            start: "<ns1:echo xmlns:ns1=\"urn:two_namespaces\" xmlns=\"urn:two_namespaces:other\">",
            end: "</ns1:echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE_2, "echoResponse", 8),
            start: "<ns1:echoResponse xmlns:ns1=\"urn:two_namespaces\" xmlns=\"urn:two_namespaces:other\">",
            end: "</ns1:echoResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "other",
        action: "other",
        request: Root {
            element: Element::new(NAMESPACE, "other", 9),
            start: "<other xmlns=\"urn:two_namespaces:other\">",
            end: "</other>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "otherResponse", 10),
            start: "<otherResponse xmlns=\"urn:two_namespaces:other\">",
            end: "</otherResponse>",
        },
        response_size: SizeHint::new(),
    },
];
