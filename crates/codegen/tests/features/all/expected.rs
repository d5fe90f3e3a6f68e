use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Operation, Payload, Pending, Poll,
    RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService, ToXml,
    TowerService, Transport,
};

const NAMESPACE: &str = "urn:all";

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
        namespace: "urn:all",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/all",
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
    /// A client of the service at `url`; the contract names `http://localhost:8080/all`.
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

/// The type `Empty`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Empty {}

impl FromXml for Empty {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |_| Ok(Empty {}))
    }
}

impl ToXml for Empty {
    fn content(&self, _: &mut Encoder) {}
}

/// The type `日本`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct 日本 {
    /// The element `日本`.
    pub 日本: i32,
}

static 日本_TABLE: [Element; 1] = [Element::new(NAMESPACE, "日本", 6)];

impl FromXml for 日本 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(日本 {
                日本: decoder.required(&日本_TABLE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for 日本 {
    fn content(&self, out: &mut Encoder) {
        out.element("<日本>", &self.日本, "</日本>");
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `x`.
    pub x: i32,
    /// The element `next`.
    pub next: Option<i32>,
    /// The element `index`.
    pub index: Option<String>,
    /// The element `decoder`.
    pub decoder: Empty,
    /// The element `element`.
    pub element: Option<i32>,
    /// The element `out`.
    pub out: Option<i32>,
    /// The element `日本`.
    pub 日本: Option<日本>,
}

static VALUE: [Element; 7] = [
    Element::new(NAMESPACE, "x", 0),
    Element::new(NAMESPACE, "next", 1).occurs(0, Some(1)),
    Element::new(NAMESPACE, "index", 2).occurs(0, Some(1)),
    Element::new(NAMESPACE, "decoder", 3),
    Element::new(NAMESPACE, "element", 4).occurs(0, Some(1)),
    Element::new(NAMESPACE, "out", 5).occurs(0, Some(1)),
    Element::new(NAMESPACE, "日本", 7).occurs(0, Some(1)),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            let mut x = decoder.in_order(&VALUE, 0)?;
            let mut next = decoder.in_order(&VALUE, 1)?;
            let mut index_ = decoder.in_order(&VALUE, 2)?;
            let mut decoder_ = decoder.in_order(&VALUE, 3)?;
            let mut element = decoder.in_order(&VALUE, 4)?;
            let mut out = decoder.in_order(&VALUE, 5)?;
            let mut 日本 = decoder.in_order(&VALUE, 6)?;
            while let Some(index) = decoder.one_of(&VALUE)? {
                match index {
                    0 => decoder.once(&mut x, &VALUE, 0)?,
                    1 => decoder.once(&mut next, &VALUE, 1)?,
                    2 => decoder.once(&mut index_, &VALUE, 2)?,
                    3 => decoder.once(&mut decoder_, &VALUE, 3)?,
                    4 => decoder.once(&mut element, &VALUE, 4)?,
                    5 => decoder.once(&mut out, &VALUE, 5)?,
                    _ => decoder.once(&mut 日本, &VALUE, 6)?,
                }
            }
            Ok(Value {
                x: decoder.present(x, &VALUE, 0)?,
                next,
                index: index_,
                decoder: decoder.present(decoder_, &VALUE, 3)?,
                element,
                out,
                日本,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.element("<x>", &self.x, "</x>");
        out.optional("<next>", &self.next, "</next>");
        out.optional("<index>", &self.index, "</index>");
        out.element("<decoder>", &self.decoder, "</decoder>");
        out.optional("<element>", &self.element, "</element>");
        out.optional("<out>", &self.out, "</out>");
        out.optional("<日本>", &self.日本, "</日本>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 1] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 8),
            start: "<echo xmlns=\"urn:all\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 9),
            start: "<echoResponse xmlns=\"urn:all\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
