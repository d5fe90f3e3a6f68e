use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Nillable, Operation, Payload, Pending,
    Poll, Recursive, RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService,
    ToXml, TowerService, Transport,
};

const NAMESPACE: &str = "urn:recursion";

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
        namespace: "urn:recursion",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/recursion",
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
    /// A client of the service at `url`; the contract names `http://localhost:8080/recursion`.
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

/// The type `List`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// The element `number`.
    pub number: i32,
    /// The element `next`.
    pub next: Option<Recursive<List>>,
}

static LIST: [Element; 2] = [
    Element::new(NAMESPACE, "number", 0),
    Element::new(NAMESPACE, "next", 1).occurs(0, Some(1)),
];

impl FromXml for List {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(List {
                number: decoder.required(&LIST, 0)?,
                next: decoder.optional(&LIST, 1)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for List {
    fn content(&self, out: &mut Encoder) {
        out.element("<number>", &self.number, "</number>");
        out.optional("<next>", &self.next, "</next>");
    }
}

/// The type `Tree`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The element `tree`.
    pub tree: Vec<Recursive<Tree>>,
}

static TREE: [Element; 1] = [Element::new(NAMESPACE, "tree", 3).occurs(0, None)];

impl FromXml for Tree {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Tree {
                tree: decoder.repeated(&TREE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Tree {
    fn content(&self, out: &mut Encoder) {
        out.repeated("<tree>", &self.tree, "</tree>");
    }
}

/// The type `Wife`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wife {
    /// The element `husband`.
    pub husband: Recursive<Husband>,
    /// The element `second`.
    pub second: Option<Recursive<Husband>>,
}

static WIFE: [Element; 2] = [
    Element::new(NAMESPACE, "husband", 5),
    Element::new(NAMESPACE, "second", 6).occurs(0, Some(1)),
];

impl FromXml for Wife {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Wife {
                husband: decoder.required(&WIFE, 0)?,
                second: decoder.optional(&WIFE, 1)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Wife {
    fn content(&self, out: &mut Encoder) {
        out.element("<husband>", &self.husband, "</husband>");
        out.optional("<second>", &self.second, "</second>");
    }
}

/// The type `Husband`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Husband {
    /// The element `wife`.
    pub wife: Option<Wife>,
}

static HUSBAND: [Element; 1] = [Element::new(NAMESPACE, "wife", 7).occurs(0, Some(1))];

impl FromXml for Husband {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Husband {
                wife: decoder.optional(&HUSBAND, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Husband {
    fn content(&self, out: &mut Encoder) {
        out.optional("<wife>", &self.wife, "</wife>");
    }
}

/// The type `Nil`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nil {
    /// The element `nil`.
    pub nil: Nillable<Recursive<Nil>>,
}

static NIL: [Element; 1] = [Element::new(NAMESPACE, "nil", 9)];

impl FromXml for Nil {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Nil {
                nil: decoder.required(&NIL, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Nil {
    fn content(&self, out: &mut Encoder) {
        out.element("<nil>", &self.nil, "</nil>");
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `list`.
    pub list: Option<List>,
    /// The element `tree`.
    pub tree: Option<Tree>,
    /// The element `husband`.
    pub husband: Option<Husband>,
    /// The element `nil`.
    pub nil: Option<Nil>,
}

static VALUE: [Element; 4] = [
    Element::new(NAMESPACE, "list", 2).occurs(0, Some(1)),
    Element::new(NAMESPACE, "tree", 4).occurs(0, Some(1)),
    Element::new(NAMESPACE, "husband", 8).occurs(0, Some(1)),
    Element::new(NAMESPACE, "nil", 10).occurs(0, Some(1)),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                list: decoder.optional(&VALUE, 0)?,
                tree: decoder.optional(&VALUE, 1)?,
                husband: decoder.optional(&VALUE, 2)?,
                nil: decoder.optional(&VALUE, 3)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.optional("<list>", &self.list, "</list>");
        out.optional("<tree>", &self.tree, "</tree>");
        out.optional("<husband>", &self.husband, "</husband>");
        out.optional("<nil>", &self.nil, "</nil>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 1] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 11),
            start: "<echo xmlns=\"urn:recursion\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 12),
            start: "<echoResponse xmlns=\"urn:recursion\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
