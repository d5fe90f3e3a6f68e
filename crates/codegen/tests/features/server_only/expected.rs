use ::castile::codegen::{
    Arc, Context, Decoder, Description, Dispatch, Element, Encoder, Endpoint,
    EndpointOptions, Error, Fault, FromXml, Future, HttpRequest, HttpResponse,
    Infallible, Operation, Payload, Pending, Poll, RequestBody, ResponseFuture, Root,
    SizeHint, SoapError, SoapService, ToXml, TowerService,
};

const NAMESPACE: &str = "urn:halves";

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
        namespace: "urn:halves",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/server_only",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        payload.handle(async move |request| T::echo(&service, request).await)
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `a`.
    pub a: i32,
}

static VALUE: [Element; 1] = [Element::new(NAMESPACE, "a", 0)];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                a: decoder.required(&VALUE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.element("<a>", &self.a, "</a>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 1] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 1),
            start: "<echo xmlns=\"urn:halves\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 2),
            start: "<echoResponse xmlns=\"urn:halves\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
