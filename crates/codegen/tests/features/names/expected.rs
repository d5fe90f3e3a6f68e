use ::castile::codegen::{
    Arc, CallError, Caller, Context, Decoder, Description, Dispatch, Element, Encoder,
    Endpoint, EndpointOptions, Error, Fault, FromXml, Future, HttpError, HttpRequest,
    HttpResponse, HttpService, Infallible, Limits, Operation, Payload, Pending, Poll,
    RequestBody, ResponseFuture, Root, SizeHint, SoapError, SoapService, ToXml,
    TowerService, Transport,
};

const NAMESPACE: &str = "urn:names";

/// The port type `Feature`.
#[allow(dead_code)]
pub trait Feature: Send + Sync + 'static {
    /// The operation `echo`.
    fn echo(&self, request: Value) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// The operation `type`.
    fn r#type(&self, request: Types) -> impl Future<Output = Result<Types, Fault>> + Send;
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
        namespace: "urn:names",
        documentation: "",
        wsdl: include_str!("service.wsdl"),
        address: "http://localhost:8080/names",
        operations: &FEATURE_OPERATIONS,
    };

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        let service = self.0.clone();
        match operation {
            0 => payload.handle(async move |request| T::echo(&service, request).await),
            _ => payload.handle(async move |request| T::r#type(&service, request).await),
        }
    }
}

/// A client of `Feature` over any HTTP transport.
#[derive(Clone, Debug)]
pub struct FeatureClient<S = Transport>(Caller<S>);

#[allow(dead_code)]
impl FeatureClient {
    /// A client of the service at `url`; the contract names `http://localhost:8080/names`.
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

    /// The operation `type`.
    pub async fn r#type(&self, request: &Types) -> Result<Types, CallError> {
        self.0.call(&FEATURE_OPERATIONS[1], request).await
    }
}

/// The type `Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The element `type`.
    pub r#type: Option<i32>,
    /// The element `self`.
    pub self_: Option<i32>,
    /// The element `Self`.
    pub self2: Option<i32>,
    /// The element `super`.
    pub super_: Option<i32>,
    /// The element `crate`.
    pub crate_: Option<i32>,
    /// The element `gen`.
    pub r#gen: Option<i32>,
    /// The element `async`.
    pub r#async: Option<i32>,
    /// The element `try`.
    pub r#try: Option<i32>,
    /// The element `dyn`.
    pub r#dyn: Option<i32>,
    /// The element `union`.
    pub union: Option<i32>,
    /// The element `static`.
    pub r#static: Option<i32>,
    /// The element `macro_rules`.
    pub macro_rules: Option<i32>,
    /// The element `OrderId`.
    pub order_id: Option<i32>,
    /// The element `orderId`.
    pub order_id2: Option<i32>,
    /// The element `order-id`.
    pub order_id3: Option<i32>,
    /// The element `order.id`.
    pub order_id4: Option<i32>,
    /// The element `ORDER_ID`.
    pub order_id5: Option<i32>,
    /// The element `_3d`.
    pub _3d: Option<i32>,
    /// The element `_`.
    pub __: Option<i32>,
    /// The element `_-`.
    pub _2: Option<i32>,
    /// The element `__x`.
    pub x: Option<i32>,
    /// The element `é`.
    pub é: Option<i32>,
    /// The element `日本`.
    pub 日本: Option<i32>,
    /// The element `x·y`.
    pub x_y: Option<i32>,
    /// The element `i32`.
    pub i32: Option<i32>,
    /// The element `String`.
    pub string: Option<i32>,
    /// The element `Box`.
    pub r#box: Option<i32>,
    /// The element `nullValue`.
    pub null_value: Option<i32>,
}

static VALUE: [Element; 28] = [
    Element::new(NAMESPACE, "type", 0).occurs(0, Some(1)),
    Element::new(NAMESPACE, "self", 1).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Self", 2).occurs(0, Some(1)),
    Element::new(NAMESPACE, "super", 3).occurs(0, Some(1)),
    Element::new(NAMESPACE, "crate", 4).occurs(0, Some(1)),
    Element::new(NAMESPACE, "gen", 5).occurs(0, Some(1)),
    Element::new(NAMESPACE, "async", 6).occurs(0, Some(1)),
    Element::new(NAMESPACE, "try", 7).occurs(0, Some(1)),
    Element::new(NAMESPACE, "dyn", 8).occurs(0, Some(1)),
    Element::new(NAMESPACE, "union", 9).occurs(0, Some(1)),
    Element::new(NAMESPACE, "static", 10).occurs(0, Some(1)),
    Element::new(NAMESPACE, "macro_rules", 11).occurs(0, Some(1)),
    Element::new(NAMESPACE, "OrderId", 12).occurs(0, Some(1)),
    Element::new(NAMESPACE, "orderId", 13).occurs(0, Some(1)),
    Element::new(NAMESPACE, "order-id", 14).occurs(0, Some(1)),
    Element::new(NAMESPACE, "order.id", 15).occurs(0, Some(1)),
    Element::new(NAMESPACE, "ORDER_ID", 16).occurs(0, Some(1)),
    Element::new(NAMESPACE, "_3d", 17).occurs(0, Some(1)),
    Element::new(NAMESPACE, "_", 18).occurs(0, Some(1)),
    Element::new(NAMESPACE, "_-", 19).occurs(0, Some(1)),
    Element::new(NAMESPACE, "__x", 20).occurs(0, Some(1)),
    Element::new(NAMESPACE, "é", 21).occurs(0, Some(1)),
    Element::new(NAMESPACE, "日本", 22).occurs(0, Some(1)),
    Element::new(NAMESPACE, "x·y", 23).occurs(0, Some(1)),
    Element::new(NAMESPACE, "i32", 24).occurs(0, Some(1)),
    Element::new(NAMESPACE, "String", 25).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Box", 26).occurs(0, Some(1)),
    Element::new(NAMESPACE, "nullValue", 27).occurs(0, Some(1)),
];

impl FromXml for Value {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Value {
                r#type: decoder.optional(&VALUE, 0)?,
                self_: decoder.optional(&VALUE, 1)?,
                self2: decoder.optional(&VALUE, 2)?,
                super_: decoder.optional(&VALUE, 3)?,
                crate_: decoder.optional(&VALUE, 4)?,
                r#gen: decoder.optional(&VALUE, 5)?,
                r#async: decoder.optional(&VALUE, 6)?,
                r#try: decoder.optional(&VALUE, 7)?,
                r#dyn: decoder.optional(&VALUE, 8)?,
                union: decoder.optional(&VALUE, 9)?,
                r#static: decoder.optional(&VALUE, 10)?,
                macro_rules: decoder.optional(&VALUE, 11)?,
                order_id: decoder.optional(&VALUE, 12)?,
                order_id2: decoder.optional(&VALUE, 13)?,
                order_id3: decoder.optional(&VALUE, 14)?,
                order_id4: decoder.optional(&VALUE, 15)?,
                order_id5: decoder.optional(&VALUE, 16)?,
                _3d: decoder.optional(&VALUE, 17)?,
                __: decoder.optional(&VALUE, 18)?,
                _2: decoder.optional(&VALUE, 19)?,
                x: decoder.optional(&VALUE, 20)?,
                é: decoder.optional(&VALUE, 21)?,
                日本: decoder.optional(&VALUE, 22)?,
                x_y: decoder.optional(&VALUE, 23)?,
                i32: decoder.optional(&VALUE, 24)?,
                string: decoder.optional(&VALUE, 25)?,
                r#box: decoder.optional(&VALUE, 26)?,
                null_value: decoder.optional(&VALUE, 27)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Value {
    fn content(&self, out: &mut Encoder) {
        out.optional("<type>", &self.r#type, "</type>");
        out.optional("<self>", &self.self_, "</self>");
        out.optional("<Self>", &self.self2, "</Self>");
        out.optional("<super>", &self.super_, "</super>");
        out.optional("<crate>", &self.crate_, "</crate>");
        out.optional("<gen>", &self.r#gen, "</gen>");
        out.optional("<async>", &self.r#async, "</async>");
        out.optional("<try>", &self.r#try, "</try>");
        out.optional("<dyn>", &self.r#dyn, "</dyn>");
        out.optional("<union>", &self.union, "</union>");
        out.optional("<static>", &self.r#static, "</static>");
        out.optional("<macro_rules>", &self.macro_rules, "</macro_rules>");
        out.optional("<OrderId>", &self.order_id, "</OrderId>");
        out.optional("<orderId>", &self.order_id2, "</orderId>");
        out.optional("<order-id>", &self.order_id3, "</order-id>");
        out.optional("<order.id>", &self.order_id4, "</order.id>");
        out.optional("<ORDER_ID>", &self.order_id5, "</ORDER_ID>");
        out.optional("<_3d>", &self._3d, "</_3d>");
        out.optional("<_>", &self.__, "</_>");
        out.optional("<_->", &self._2, "</_->");
        out.optional("<__x>", &self.x, "</__x>");
        out.optional("<é>", &self.é, "</é>");
        out.optional("<日本>", &self.日本, "</日本>");
        out.optional("<x·y>", &self.x_y, "</x·y>");
        out.optional("<i32>", &self.i32, "</i32>");
        out.optional("<String>", &self.string, "</String>");
        out.optional("<Box>", &self.r#box, "</Box>");
        out.optional("<nullValue>", &self.null_value, "</nullValue>");
    }
}

/// The type `Error`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorType {
    /// The element `Error`.
    pub error: Option<i32>,
}

static ERROR_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Error", 30).occurs(0, Some(1))];

impl FromXml for ErrorType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(ErrorType {
                error: decoder.optional(&ERROR_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for ErrorType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Error>", &self.error, "</Error>");
    }
}

/// The type `Option`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionType {
    /// The element `Option`.
    pub option: Option<i32>,
}

static OPTION_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Option", 32).occurs(0, Some(1))];

impl FromXml for OptionType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(OptionType {
                option: decoder.optional(&OPTION_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for OptionType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Option>", &self.option, "</Option>");
    }
}

/// The type `Vec`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VecType {
    /// The element `Vec`.
    pub vec: Option<i32>,
}

static VEC_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Vec", 34).occurs(0, Some(1))];

impl FromXml for VecType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(VecType {
                vec: decoder.optional(&VEC_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for VecType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Vec>", &self.vec, "</Vec>");
    }
}

/// The type `String`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StringType {
    /// The element `String`.
    pub string: Option<i32>,
}

static STRING_TYPE: [Element; 1] = [Element::new(NAMESPACE, "String", 36).occurs(0, Some(1))];

impl FromXml for StringType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(StringType {
                string: decoder.optional(&STRING_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for StringType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<String>", &self.string, "</String>");
    }
}

/// The type `self`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelfType {
    /// The element `self`.
    pub self_: Option<i32>,
}

static SELF_TYPE: [Element; 1] = [Element::new(NAMESPACE, "self", 38).occurs(0, Some(1))];

impl FromXml for SelfType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(SelfType {
                self_: decoder.optional(&SELF_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for SelfType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<self>", &self.self_, "</self>");
    }
}

/// The type `type`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Type {
    /// The element `type`.
    pub r#type: Option<i32>,
}

static TYPE: [Element; 1] = [Element::new(NAMESPACE, "type", 40).occurs(0, Some(1))];

impl FromXml for Type {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Type {
                r#type: decoder.optional(&TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Type {
    fn content(&self, out: &mut Encoder) {
        out.optional("<type>", &self.r#type, "</type>");
    }
}

/// The type `Result`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultType {
    /// The element `Result`.
    pub result: Option<i32>,
}

static RESULT_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Result", 42).occurs(0, Some(1))];

impl FromXml for ResultType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(ResultType {
                result: decoder.optional(&RESULT_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for ResultType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Result>", &self.result, "</Result>");
    }
}

/// The type `Some`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SomeType {
    /// The element `Some`.
    pub some: Option<i32>,
}

static SOME_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Some", 44).occurs(0, Some(1))];

impl FromXml for SomeType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(SomeType {
                some: decoder.optional(&SOME_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for SomeType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Some>", &self.some, "</Some>");
    }
}

/// The type `Element`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementType {
    /// The element `Element`.
    pub element: Option<i32>,
}

static ELEMENT_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Element", 46).occurs(0, Some(1))];

impl FromXml for ElementType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(ElementType {
                element: decoder.optional(&ELEMENT_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for ElementType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Element>", &self.element, "</Element>");
    }
}

/// The type `order-line`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderLine {
    /// The element `order-line`.
    pub order_line: Option<i32>,
}

static ORDER_LINE: [Element; 1] = [Element::new(NAMESPACE, "order-line", 48).occurs(0, Some(1))];

impl FromXml for OrderLine {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(OrderLine {
                order_line: decoder.optional(&ORDER_LINE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for OrderLine {
    fn content(&self, out: &mut Encoder) {
        out.optional("<order-line>", &self.order_line, "</order-line>");
    }
}

/// The type `order.line`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderLine2 {
    /// The element `order.line`.
    pub order_line: Option<i32>,
}

static ORDER_LINE2: [Element; 1] = [Element::new(NAMESPACE, "order.line", 50).occurs(0, Some(1))];

impl FromXml for OrderLine2 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(OrderLine2 {
                order_line: decoder.optional(&ORDER_LINE2, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for OrderLine2 {
    fn content(&self, out: &mut Encoder) {
        out.optional("<order.line>", &self.order_line, "</order.line>");
    }
}

/// The type `OrderLine`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderLine3 {
    /// The element `OrderLine`.
    pub order_line: Option<i32>,
}

static ORDER_LINE3: [Element; 1] = [Element::new(NAMESPACE, "OrderLine", 52).occurs(0, Some(1))];

impl FromXml for OrderLine3 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(OrderLine3 {
                order_line: decoder.optional(&ORDER_LINE3, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for OrderLine3 {
    fn content(&self, out: &mut Encoder) {
        out.optional("<OrderLine>", &self.order_line, "</OrderLine>");
    }
}

/// The type `_3D`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct _3d {
    /// The element `_3D`.
    pub _3d: Option<i32>,
}

static _3D: [Element; 1] = [Element::new(NAMESPACE, "_3D", 54).occurs(0, Some(1))];

impl FromXml for _3d {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(_3d {
                _3d: decoder.optional(&_3D, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for _3d {
    fn content(&self, out: &mut Encoder) {
        out.optional("<_3D>", &self._3d, "</_3D>");
    }
}

/// The type `i32`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct I32 {
    /// The element `i32`.
    pub i32: Option<i32>,
}

static I32: [Element; 1] = [Element::new(NAMESPACE, "i32", 56).occurs(0, Some(1))];

impl FromXml for I32 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(I32 {
                i32: decoder.optional(&I32, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for I32 {
    fn content(&self, out: &mut Encoder) {
        out.optional("<i32>", &self.i32, "</i32>");
    }
}

/// The type `Fault`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultType {
    /// The element `Fault`.
    pub fault: Option<i32>,
}

static FAULT_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Fault", 58).occurs(0, Some(1))];

impl FromXml for FaultType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FaultType {
                fault: decoder.optional(&FAULT_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FaultType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Fault>", &self.fault, "</Fault>");
    }
}

/// The type `Type`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Type2 {
    /// The element `Type`.
    pub r#type: Option<i32>,
}

static TYPE2: [Element; 1] = [Element::new(NAMESPACE, "Type", 60).occurs(0, Some(1))];

impl FromXml for Type2 {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Type2 {
                r#type: decoder.optional(&TYPE2, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Type2 {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Type>", &self.r#type, "</Type>");
    }
}

/// The type `FromXml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FromXmlType {
    /// The element `FromXml`.
    pub from_xml: Option<i32>,
}

static FROM_XML_TYPE: [Element; 1] = [Element::new(NAMESPACE, "FromXml", 62).occurs(0, Some(1))];

impl FromXml for FromXmlType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(FromXmlType {
                from_xml: decoder.optional(&FROM_XML_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for FromXmlType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<FromXml>", &self.from_xml, "</FromXml>");
    }
}

/// The type `Default`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefaultType {
    /// The element `Default`.
    pub default: Option<i32>,
}

static DEFAULT_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Default", 64).occurs(0, Some(1))];

impl FromXml for DefaultType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(DefaultType {
                default: decoder.optional(&DEFAULT_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for DefaultType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Default>", &self.default, "</Default>");
    }
}

/// The type `Recursive`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecursiveType {
    /// The element `Recursive`.
    pub recursive: Option<i32>,
}

static RECURSIVE_TYPE: [Element; 1] = [Element::new(NAMESPACE, "Recursive", 66).occurs(0, Some(1))];

impl FromXml for RecursiveType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(RecursiveType {
                recursive: decoder.optional(&RECURSIVE_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for RecursiveType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Recursive>", &self.recursive, "</Recursive>");
    }
}

/// The type `TowerService`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TowerServiceType {
    /// The element `TowerService`.
    pub tower_service: Option<i32>,
}

static TOWER_SERVICE_TYPE: [Element; 1] = [Element::new(NAMESPACE, "TowerService", 68).occurs(0, Some(1))];

impl FromXml for TowerServiceType {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(TowerServiceType {
                tower_service: decoder.optional(&TOWER_SERVICE_TYPE, 0)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for TowerServiceType {
    fn content(&self, out: &mut Encoder) {
        out.optional("<TowerService>", &self.tower_service, "</TowerService>");
    }
}

/// The type `Types`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Types {
    /// The element `Error`.
    pub error: Option<ErrorType>,
    /// The element `Option`.
    pub option: Option<OptionType>,
    /// The element `Vec`.
    pub vec: Option<VecType>,
    /// The element `String`.
    pub string: Option<StringType>,
    /// The element `self`.
    pub self_: Option<SelfType>,
    /// The element `type`.
    pub r#type: Option<Type>,
    /// The element `Result`.
    pub result: Option<ResultType>,
    /// The element `Some`.
    pub some: Option<SomeType>,
    /// The element `Element`.
    pub element: Option<ElementType>,
    /// The element `order-line`.
    pub order_line: Option<OrderLine>,
    /// The element `order.line`.
    pub order_line2: Option<OrderLine2>,
    /// The element `OrderLine`.
    pub order_line3: Option<OrderLine3>,
    /// The element `_3D`.
    pub _3d: Option<_3d>,
    /// The element `i32`.
    pub i32: Option<I32>,
    /// The element `Fault`.
    pub fault: Option<FaultType>,
    /// The element `Type`.
    pub type2: Option<Type2>,
    /// The element `FromXml`.
    pub from_xml: Option<FromXmlType>,
    /// The element `Default`.
    pub default: Option<DefaultType>,
    /// The element `Recursive`.
    pub recursive: Option<RecursiveType>,
    /// The element `TowerService`.
    pub tower_service: Option<TowerServiceType>,
}

static TYPES: [Element; 20] = [
    Element::new(NAMESPACE, "Error", 31).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Option", 33).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Vec", 35).occurs(0, Some(1)),
    Element::new(NAMESPACE, "String", 37).occurs(0, Some(1)),
    Element::new(NAMESPACE, "self", 39).occurs(0, Some(1)),
    Element::new(NAMESPACE, "type", 41).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Result", 43).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Some", 45).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Element", 47).occurs(0, Some(1)),
    Element::new(NAMESPACE, "order-line", 49).occurs(0, Some(1)),
    Element::new(NAMESPACE, "order.line", 51).occurs(0, Some(1)),
    Element::new(NAMESPACE, "OrderLine", 53).occurs(0, Some(1)),
    Element::new(NAMESPACE, "_3D", 55).occurs(0, Some(1)),
    Element::new(NAMESPACE, "i32", 57).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Fault", 59).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Type", 61).occurs(0, Some(1)),
    Element::new(NAMESPACE, "FromXml", 63).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Default", 65).occurs(0, Some(1)),
    Element::new(NAMESPACE, "Recursive", 67).occurs(0, Some(1)),
    Element::new(NAMESPACE, "TowerService", 69).occurs(0, Some(1)),
];

impl FromXml for Types {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let children = |decoder: &mut Decoder<'_>| {
            Ok(Types {
                error: decoder.optional(&TYPES, 0)?,
                option: decoder.optional(&TYPES, 1)?,
                vec: decoder.optional(&TYPES, 2)?,
                string: decoder.optional(&TYPES, 3)?,
                self_: decoder.optional(&TYPES, 4)?,
                r#type: decoder.optional(&TYPES, 5)?,
                result: decoder.optional(&TYPES, 6)?,
                some: decoder.optional(&TYPES, 7)?,
                element: decoder.optional(&TYPES, 8)?,
                order_line: decoder.optional(&TYPES, 9)?,
                order_line2: decoder.optional(&TYPES, 10)?,
                order_line3: decoder.optional(&TYPES, 11)?,
                _3d: decoder.optional(&TYPES, 12)?,
                i32: decoder.optional(&TYPES, 13)?,
                fault: decoder.optional(&TYPES, 14)?,
                type2: decoder.optional(&TYPES, 15)?,
                from_xml: decoder.optional(&TYPES, 16)?,
                default: decoder.optional(&TYPES, 17)?,
                recursive: decoder.optional(&TYPES, 18)?,
                tower_service: decoder.optional(&TYPES, 19)?,
            })
        };
        decoder.complex(element, children)
    }
}

impl ToXml for Types {
    fn content(&self, out: &mut Encoder) {
        out.optional("<Error>", &self.error, "</Error>");
        out.optional("<Option>", &self.option, "</Option>");
        out.optional("<Vec>", &self.vec, "</Vec>");
        out.optional("<String>", &self.string, "</String>");
        out.optional("<self>", &self.self_, "</self>");
        out.optional("<type>", &self.r#type, "</type>");
        out.optional("<Result>", &self.result, "</Result>");
        out.optional("<Some>", &self.some, "</Some>");
        out.optional("<Element>", &self.element, "</Element>");
        out.optional("<order-line>", &self.order_line, "</order-line>");
        out.optional("<order.line>", &self.order_line2, "</order.line>");
        out.optional("<OrderLine>", &self.order_line3, "</OrderLine>");
        out.optional("<_3D>", &self._3d, "</_3D>");
        out.optional("<i32>", &self.i32, "</i32>");
        out.optional("<Fault>", &self.fault, "</Fault>");
        out.optional("<Type>", &self.type2, "</Type>");
        out.optional("<FromXml>", &self.from_xml, "</FromXml>");
        out.optional("<Default>", &self.default, "</Default>");
        out.optional("<Recursive>", &self.recursive, "</Recursive>");
        out.optional("<TowerService>", &self.tower_service, "</TowerService>");
    }
}

/// The operations of `Feature`, for those who make and read messages themselves.
pub static FEATURE_OPERATIONS: [Operation; 2] = [
    Operation {
        name: "echo",
        action: "echo",
        request: Root {
            element: Element::new(NAMESPACE, "echo", 28),
            start: "<echo xmlns=\"urn:names\">",
            end: "</echo>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "echoResponse", 29),
            start: "<echoResponse xmlns=\"urn:names\">",
            end: "</echoResponse>",
        },
        response_size: SizeHint::new(),
    },
    Operation {
        name: "type",
        action: "type",
        request: Root {
            element: Element::new(NAMESPACE, "types", 70),
            start: "<types xmlns=\"urn:names\">",
            end: "</types>",
        },
        response: Root {
            element: Element::new(NAMESPACE, "typesResponse", 71),
            start: "<typesResponse xmlns=\"urn:names\">",
            end: "</typesResponse>",
        },
        response_size: SizeHint::new(),
    },
];
