use ::castile::codegen::{
    CallError, Caller, Decoder, Element, Encoder, Error, FromXml, HttpError, HttpService,
    Limits, Operation, Root, SizeHint, ToXml, Transport,
};

const NAMESPACE: &str = "urn:halves";

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/client_only`.
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
