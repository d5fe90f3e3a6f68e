use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Operation, Payload, Pending, Poll,
    RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService, ToXml,
    TowerService, Transport,
};

const NAMESPACE: &str = "urn:documentation";

/// The port type \[p\]:
/// \`\`\`
/// oops
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation \[e\].
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
        namespace: "urn:documentation",
        documentation: "A service with \"quotes\", a \\ and\ntwo lines.",
        wsdl: include_str!("service.wsdl"),
        address: "",
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
    /// A client of the service at `url`.
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

    /// The operation \[e\].
    pub async fn echo(&self, request: &Value) -> Result<Value, CallError> {
        self.0.call(&FEATURE_OPERATIONS[0], request).await
    }
}

/// One line.
///
/// Two paragraphs, of which this one is so long that it has to be continued on another line, and
/// another, because nobody wrapped it.
///
/// - a list
///   of two lines
/// - with stars
/// - and plus
///
/// indented text is no example: let x = ;
///
/// \`\`\`
/// fn fenced( { neither
/// \`\`\`
/// \~\~\~
/// nor tildes
/// \~\~\~
/// \# No heading
/// \=== nor
/// \---
/// \> no quote
/// 1\. no number
/// 2\) nor that
/// An array\[i\] of \[links\], \[a\](b), \[`c`\], \[d\]: e and !\[f\], \<b>bold\</b> \<T> Vec\<String>,
/// \&amp; R\&amp;D.
/// Names such as `Order`, snake_case and \_under\_ \*stars\* \_\_dunder\_\_, a lone \` mark, \`two
/// words\` and \`\`double\`\`.
/// See <http://example.com/a_b_c?d=e&f=>\[g\], (<https://example.com/h_i>). and
/// <http://localhost:8080/x>.
/// C:\\temp\\new, 50% | 60% {braces} $math$ \\\[ escaped \\\] end\\
/// | a | b |
/// |---|---|
/// right to left \*/ /\* // ///
/// //! inner
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// let x = 1;
    pub marked: i32,
    /// The element `empty`.
    pub empty: i32,
    /// A bold \<word>.
    pub html: i32,
    /// In English.
    ///
    /// Česky.
    pub twice: i32,
    /// Words that are names here: Recursive, Nillable, Poll.
    pub reserved: i32,
}

static VALUE: [Element; 5] = [
    Element::new(NAMESPACE, "marked", 0),
    Element::new(NAMESPACE, "empty", 1),
    Element::new(NAMESPACE, "html", 2),
    Element::new(NAMESPACE, "twice", 3),
    Element::new(NAMESPACE, "reserved", 4),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                marked: decoder.required(&VALUE, 0)?,
                empty: decoder.required(&VALUE, 1)?,
                html: decoder.required(&VALUE, 2)?,
                twice: decoder.required(&VALUE, 3)?,
                reserved: decoder.required(&VALUE, 4)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.element("<marked>", &self.marked, "</marked>");
        out.element("<empty>", &self.empty, "</empty>");
        out.element("<html>", &self.html, "</html>");
        out.element("<twice>", &self.twice, "</twice>");
        out.element("<reserved>", &self.reserved, "</reserved>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 1] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 5),
            start: "<echo xmlns=\"urn:documentation\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 6),
            start: "<echoResponse xmlns=\"urn:documentation\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
];
