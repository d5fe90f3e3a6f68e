use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Operation, Payload, Pending, Poll,
    RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService, ToXml,
    TowerService, Transport,
};

const NAMESPACE: &str = "urn:simple_types";

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
        namespace: "urn:simple_types",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/simple_types",
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
    /// A client of the service at `url`; the contract names `http://localhost:8080/simple_types`.
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

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `string`.
    pub string: Option<String>,
    /// The element `boolean`.
    pub boolean: Option<bool>,
    /// The element `float`.
    pub float: Option<f32>,
    /// The element `double`.
    pub double: Option<f64>,
    /// The element `byte`.
    pub byte: Option<i8>,
    /// The element `short`.
    pub short: Option<i16>,
    /// The element `int`.
    pub int: Option<i32>,
    /// The element `long`.
    pub long: Option<i64>,
    /// The element `unsignedByte`.
    pub unsigned_byte: Option<u8>,
    /// The element `unsignedShort`.
    pub unsigned_short: Option<u16>,
    /// The element `unsignedInt`.
    pub unsigned_int: Option<u32>,
    /// The element `unsignedLong`.
    pub unsigned_long: Option<u64>,
    /// The element `dateTime`.
    pub date_time: Option<::castile::datatypes::DateTime>,
    /// The element `base64Binary`.
    pub base64_binary: Option<::castile::datatypes::Base64Binary>,
    /// The element `derived`.
    pub derived: Option<i32>,
}

static VALUE: [Element; 15] = [
    Element::new(NAMESPACE, "string", 0).occurs(0, Some(1)),
    Element::new(NAMESPACE, "boolean", 1).occurs(0, Some(1)),
    Element::new(NAMESPACE, "float", 2).occurs(0, Some(1)),
    Element::new(NAMESPACE, "double", 3).occurs(0, Some(1)),
    Element::new(NAMESPACE, "byte", 4).occurs(0, Some(1)),
    Element::new(NAMESPACE, "short", 5).occurs(0, Some(1)),
    Element::new(NAMESPACE, "int", 6).occurs(0, Some(1)),
    Element::new(NAMESPACE, "long", 7).occurs(0, Some(1)),
    Element::new(NAMESPACE, "unsignedByte", 8).occurs(0, Some(1)),
    Element::new(NAMESPACE, "unsignedShort", 9).occurs(0, Some(1)),
    Element::new(NAMESPACE, "unsignedInt", 10).occurs(0, Some(1)),
    Element::new(NAMESPACE, "unsignedLong", 11).occurs(0, Some(1)),
    Element::new(NAMESPACE, "dateTime", 12).occurs(0, Some(1)),
    Element::new(NAMESPACE, "base64Binary", 13).occurs(0, Some(1)),
    Element::new(NAMESPACE, "derived", 14).occurs(0, Some(1)),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                string: decoder.optional(&VALUE, 0)?,
                boolean: decoder.optional(&VALUE, 1)?,
                float: decoder.optional(&VALUE, 2)?,
                double: decoder.optional(&VALUE, 3)?,
                byte: decoder.optional(&VALUE, 4)?,
                short: decoder.optional(&VALUE, 5)?,
                int: decoder.optional(&VALUE, 6)?,
                long: decoder.optional(&VALUE, 7)?,
                unsigned_byte: decoder.optional(&VALUE, 8)?,
                unsigned_short: decoder.optional(&VALUE, 9)?,
                unsigned_int: decoder.optional(&VALUE, 10)?,
                unsigned_long: decoder.optional(&VALUE, 11)?,
                date_time: decoder.optional(&VALUE, 12)?,
                base64_binary: decoder.optional(&VALUE, 13)?,
                derived: decoder.optional(&VALUE, 14)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.optional("<string>", &self.string, "</string>");
        out.optional("<boolean>", &self.boolean, "</boolean>");
        out.optional("<float>", &self.float, "</float>");
        out.optional("<double>", &self.double, "</double>");
        out.optional("<byte>", &self.byte, "</byte>");
        out.optional("<short>", &self.short, "</short>");
        out.optional("<int>", &self.int, "</int>");
        out.optional("<long>", &self.long, "</long>");
        out.optional("<unsignedByte>", &self.unsigned_byte, "</unsignedByte>");
        out.optional("<unsignedShort>", &self.unsigned_short, "</unsignedShort>");
        out.optional("<unsignedInt>", &self.unsigned_int, "</unsignedInt>");
        out.optional("<unsignedLong>", &self.unsigned_long, "</unsignedLong>");
        out.optional("<dateTime>", &self.date_time, "</dateTime>");
        out.optional("<base64Binary>", &self.base64_binary, "</base64Binary>");
        out.optional("<derived>", &self.derived, "</derived>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 1] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 15),
            start: "<echo xmlns=\"urn:simple_types\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 16),
            start: "<echoResponse xmlns=\"urn:simple_types\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
