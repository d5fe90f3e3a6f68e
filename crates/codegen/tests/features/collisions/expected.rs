use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FaultDetail, FromXml, Future, HttpError,
    HttpRequest, HttpResponse, HttpService, Infallible, Limits, Operation, Payload,
    Pending, Poll, RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService,
    ToXml, TowerService, Transport,
};

const NAMESPACE: &str = "urn:collisions";
const NAMESPACE_2: &str = "urn:collisions:other";

/// The port type `Feature`.
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation `echo`.
    fn echo(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `new`.
    fn new2(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `with-transport`.
    fn with_transport2(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `clone`.
    fn clone(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `into`.
    fn into(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `drop`.
    fn drop(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `book`.
    fn book(&self, request: Value) -> impl Future<Output = Result<Value, Fault<BookFaultDetail>>> + Send;
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
        namespace: "urn:collisions",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/collisions",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        match operation {
            0 => payload.handle(async move |request| T::echo(&service, request).await),
            1 => payload.handle(async move |request| T::new2(&service, request).await),
            2 => payload.handle(async move |request| T::with_transport2(&service, request).await),
            3 => payload.handle(async move |request| T::clone(&service, request).await),
            4 => payload.handle(async move |request| T::into(&service, request).await),
            5 => payload.handle(async move |request| T::drop(&service, request).await),
            _ => payload.handle(async move |request| T::book(&service, request).await),
        }
    }
}

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/collisions`.
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

    /// The operation `new`.
    pub async fn new2(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[1], request).await
    }

    /// The operation `with-transport`.
    pub async fn with_transport2(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[2], request).await
    }

    /// The operation `clone`.
    pub async fn clone(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[3], request).await
    }

    /// The operation `into`.
    pub async fn into(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[4], request).await
    }

    /// The operation `drop`.
    pub async fn drop(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[5], request).await
    }

    /// The operation `book`.
    pub async fn book(&self, request: &Value) -> Result<Value, CallError<BookFaultDetail>> {
        self.0.call(&FEATURE_OPERATIONS[6], request).await
    }
}

/// The type `Feature`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureType {
    /// The element `a`.
    pub a: i32,
}

static FEATURE_TYPE: [Element; 1] = [Element::new(NAMESPACE, "a", 0)];

impl FromXml for FeatureType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FeatureType {
                a: decoder.required(&FEATURE_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FeatureType {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `FeatureServer`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureServerType {
    /// The element `a`.
    pub a: i32,
}

static FEATURE_SERVER_TYPE: [Element; 1] = [Element::new(NAMESPACE, "a", 2)];

impl FromXml for FeatureServerType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FeatureServerType {
                a: decoder.required(&FEATURE_SERVER_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FeatureServerType {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `FeatureClient`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureClientType {
    /// The element `a`.
    pub a: i32,
}

static FEATURE_CLIENT_TYPE: [Element; 1] = [Element::new(NAMESPACE, "a", 4)];

impl FromXml for FeatureClientType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FeatureClientType {
                a: decoder.required(&FEATURE_CLIENT_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FeatureClientType {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `feature-dispatch`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureDispatchType {
    /// The element `a`.
    pub a: i32,
}

static FEATURE_DISPATCH_TYPE: [Element; 1] = [Element::new(NAMESPACE, "a", 6)];

impl FromXml for FeatureDispatchType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FeatureDispatchType {
                a: decoder.required(&FEATURE_DISPATCH_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FeatureDispatchType {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `FeatureOperations`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureOperations {
    /// The element `a`.
    pub a: i32,
}

static FEATURE_OPERATIONS2: [Element; 1] = [Element::new(NAMESPACE, "a", 8)];

impl FromXml for FeatureOperations {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FeatureOperations {
                a: decoder.required(&FEATURE_OPERATIONS2, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FeatureOperations {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `A1b`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct A1b {
    /// The element `a`.
    pub a: i32,
}

static A1B: [Element; 1] = [Element::new(NAMESPACE, "a", 10)];

impl FromXml for A1b {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(A1b {
                a: decoder.required(&A1B, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for A1b {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `A1B`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct A1b2 {
    /// The element `a`.
    pub a: i32,
}

static A1B2: [Element; 1] = [Element::new(NAMESPACE, "a", 12)];

impl FromXml for A1b2 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(A1b2 {
                a: decoder.required(&A1B2, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for A1b2 {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `Namespace`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace {
    /// The element `a`.
    pub a: i32,
}

static NAMESPACE_TABLE: [Element; 1] = [Element::new(NAMESPACE, "a", 14)];

impl FromXml for Namespace {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Namespace {
                a: decoder.required(&NAMESPACE_TABLE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Namespace {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `NAMESPACE`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace2 {
    /// The element `a`.
    pub a: i32,
}

static NAMESPACE2: [Element; 1] = [Element::new(NAMESPACE, "a", 16)];

impl FromXml for Namespace2 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Namespace2 {
                a: decoder.required(&NAMESPACE2, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Namespace2 {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `Namespace2`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace22 {
    /// The element `a`.
    pub a: i32,
}

static NAMESPACE22: [Element; 1] = [Element::new(NAMESPACE, "a", 18)];

impl FromXml for Namespace22 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Namespace22 {
                a: decoder.required(&NAMESPACE22, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Namespace22 {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `BookFault`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BookFault {
    /// The element `a`.
    pub a: i32,
}

static BOOK_FAULT: [Element; 1] = [Element::new(NAMESPACE, "a", 20)];

impl FromXml for BookFault {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(BookFault {
                a: decoder.required(&BOOK_FAULT, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for BookFault {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `Feature`.
    pub feature: Option<FeatureType>,
    /// The element `FeatureServer`.
    pub feature_server: Option<FeatureServerType>,
    /// The element `FeatureClient`.
    pub feature_client: Option<FeatureClientType>,
    /// The element `feature-dispatch`.
    pub feature_dispatch: Option<FeatureDispatchType>,
    /// The element `FeatureOperations`.
    pub feature_operations: Option<FeatureOperations>,
    /// The element `A1b`.
    pub a1b: Option<A1b>,
    /// The element `A1B`.
    pub a1b2: Option<A1b2>,
    /// The element `Namespace`.
    pub namespace: Option<Namespace>,
    /// The element `NAMESPACE`.
    pub namespace2: Option<Namespace2>,
    /// The element `Namespace2`.
    pub namespace22: Option<Namespace22>,
    /// The element `BookFault`.
    pub book_fault: Option<BookFault>,
    /// The element `note`.
    pub note: Option<String>,
}

static VALUE: [Element; 12] = [
    Element::new(NAMESPACE, "Feature", 1).occurs(0, Some(1)),
    Element::new(NAMESPACE, "FeatureServer", 3).occurs(0, Some(1)),
    Element::new(NAMESPACE, "FeatureClient", 5).occurs(0, Some(1)),
    Element::new(NAMESPACE, "feature-dispatch", 7).occurs(0, Some(1)),
    Element::new(NAMESPACE, "FeatureOperations", 9).occurs(0, Some(1)),
    Element::new(NAMESPACE, "A1b", 11).occurs(0, Some(1)),
    Element::new(NAMESPACE, "A1B", 13).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Namespace", 15).occurs(0, Some(1)),
    Element::new(NAMESPACE, "NAMESPACE", 17).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Namespace2", 19).occurs(0, Some(1)),
    Element::new(NAMESPACE, "BookFault", 21).occurs(0, Some(1)),
    Element::new(NAMESPACE_2, "note", 22).occurs(0, Some(1)),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                feature: decoder.optional(&VALUE, 0)?,
                feature_server: decoder.optional(&VALUE, 1)?,
                feature_client: decoder.optional(&VALUE, 2)?,
                feature_dispatch: decoder.optional(&VALUE, 3)?,
                feature_operations: decoder.optional(&VALUE, 4)?,
                a1b: decoder.optional(&VALUE, 5)?,
                a1b2: decoder.optional(&VALUE, 6)?,
                namespace: decoder.optional(&VALUE, 7)?,
                namespace2: decoder.optional(&VALUE, 8)?,
                namespace22: decoder.optional(&VALUE, 9)?,
                book_fault: decoder.optional(&VALUE, 10)?,
                note: decoder.optional(&VALUE, 11)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Feature>", &self.feature, "</Feature>");
        out.optional("<FeatureServer>", &self.feature_server, "</FeatureServer>");
        out.optional("<FeatureClient>", &self.feature_client, "</FeatureClient>");
        out.optional("<feature-dispatch>", &self.feature_dispatch, "</feature-dispatch>");
        out.optional("<FeatureOperations>", &self.feature_operations, "</FeatureOperations>");
        out.optional("<A1b>", &self.a1b, "</A1b>");
        out.optional("<A1B>", &self.a1b2, "</A1B>");
        out.optional("<Namespace>", &self.namespace, "</Namespace>");
        out.optional("<NAMESPACE>", &self.namespace2, "</NAMESPACE>");
        out.optional("<Namespace2>", &self.namespace22, "</Namespace2>");
        out.optional("<BookFault>", &self.book_fault, "</BookFault>");
        out.optional("<ns1:note>", &self.note, "</ns1:note>");
    }
}

/// What a fault of the operation can say.
#[derive(Clone, Debug, PartialEq)]
pub enum BookFaultDetail {
    /// The fault `BookFault`.
    BookFault(BookFault),
}

impl FaultDetail for BookFaultDetail {
    const ELEMENTS: &'static [Element] = &[Element::new(NAMESPACE, "BookFault", 37)];

    fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, Error> {
        let element = &Self::ELEMENTS[index];
        decoder.root(element).map(Self::BookFault)
    }

    fn write(&self, out: &mut Encoder) {
        match self {
            Self::BookFault(detail) => out.element("<BookFault xmlns=\"urn:collisions\">", detail, "</BookFault>"),
        }
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 7] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 23),
            start: "<echo xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 24),
            start: "<echoResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "new",
        action: "new",
        request: Root {
            element: Element::new(NAMESPACE, "new", 25),
            start: "<new xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</new>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "newResponse", 26),
            start: "<newResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</newResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "with-transport",
        action: "with-transport",
        request: Root {
            element: Element::new(NAMESPACE, "with-transport", 27),
            start: "<with-transport xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</with-transport>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "with-transportResponse", 28),
            start: "<with-transportResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</with-transportResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "clone",
        action: "clone",
        request: Root {
            element: Element::new(NAMESPACE, "clone", 29),
            start: "<clone xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</clone>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "cloneResponse", 30),
            start: "<cloneResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</cloneResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "into",
        action: "into",
        request: Root {
            element: Element::new(NAMESPACE, "into", 31),
            start: "<into xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</into>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "intoResponse", 32),
            start: "<intoResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</intoResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "drop",
        action: "drop",
        request: Root {
            element: Element::new(NAMESPACE, "drop", 33),
            start: "<drop xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</drop>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "dropResponse", 34),
            start: "<dropResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</dropResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "book",
        action: "book",
        request: Root {
            element: Element::new(NAMESPACE, "book", 35),
            start: "<book xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</book>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "bookResponse", 36),
            start: "<bookResponse xmlns=\"urn:collisions\" xmlns:ns1=\"urn:collisions:other\">",
            end: "</bookResponse>",
        },
        response_size: SizeHint::new(),
    },
];
