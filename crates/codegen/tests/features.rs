//! Generated code at work: `expected.rs` of each directory of `features` is compiled and serves the messages there.
//!
//! Most services echo: a message `ok-*.xml` is answered with the same content, and a message `bad-*.xml` with a fault
//! that says what `bad-*.error` says. `goldens.rs` compares the code itself.

#![allow(clippy::unwrap_used, reason = "only tests come here")]
// Types that nest as deeply as those of `deep` are printed.
#![recursion_limit = "256"]

#[path = "support/messages.rs"]
mod messages;
mod support;

use std::convert::Infallible;
use std::fs;
use std::future::{Ready, ready};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use castile::codegen::{Decoder, Encoder, FromXml, HttpService, ToXml};
use castile::datatypes::{DateTime, QName};
use castile::http::Body;
use castile::http::server::Endpoint;
use castile::soap::{Reason, Version};
use castile::{Any, CallError, Detail, Fault, FaultCode, Leniency, Request, Response};
use castile_xml::tree::Document;
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use messages::{Answer, infoset, payload, post};

/// Implements every feature's port type: what comes goes back.
struct Echo;

/// The module that was generated for a feature.
macro_rules! generated {
    ($feature:ident) => {
        #[deny(warnings)]
        #[allow(unreachable_pub, reason = "nobody reaches into a test")]
        mod $feature {
            include!(concat!("features/", stringify!($feature), "/expected.rs"));
            include!(concat!("features/", stringify!($feature), "/sizes.rs"));
        }
    };
}

/// A feature whose operations take and answer the same type, and a test with its messages.
macro_rules! echo {
    ($feature:ident) => {
        echo!($feature { echo($feature::Value) });
    };
    ($feature:ident { $($operation:ident($type:ty $(; $detail:ty)?)),+ }) => {
        generated!($feature);

        impl $feature::Feature for Echo {
            $(async fn $operation(&self, request: Request<$type>) -> Result<Response<$type>, Fault $(<$detail>)?> {
                Ok(support::handled(request.into_inner()).into())
            })+
        }

        #[test]
        fn $feature() {
            support::on_a_small_stack(|| exchange(stringify!($feature), $feature::FeatureServer::new(Echo)));
        }
    };
}

echo!(adjusted { echo(adjusted::Order), other(adjusted::parts::Part) });
echo!(all);
echo!(attributes);
echo!(binding_alone);
echo!(both_versions { echo(both_versions::Value), with_version(both_versions::Value) });
echo!(choice);
echo!(collisions {
    echo(collisions::Value),
    new2(collisions::Value),
    with_transport2(collisions::Value),
    clone(collisions::Value),
    into(collisions::Value),
    drop(collisions::Value),
    book(collisions::Value; collisions::BookFaultDetail)
});
echo!(datatypes);
echo!(deep);
echo!(default_values);
echo!(streams);
echo!(derivation);
echo!(documentation);
echo!(enumerations);
echo!(extension);
echo!(facets { echo(facets::Value), rate(i32) });
echo!(groups);
echo!(imports);
echo!(inline_structs);
echo!(large);
echo!(lenient);
echo!(mixed);
echo!(names { echo(names::Value), r#type(names::Types) });
echo!(nillable);
echo!(no_namespace { echo(no_namespace::no_namespace::Value) });
echo!(optional_and_repeated);
echo!(recursion);
echo!(repeated_names);
echo!(sequence);
echo!(simple_content);
echo!(simple_payload { greet(String), count(i32), bytes(castile::datatypes::Base64Binary) });
echo!(simple_types);
echo!(substitution);
echo!(two_namespaces { echo(two_namespaces::Value), other(two_namespaces::other::Part) });
echo!(unqualified);
echo!(wildcards);

/// Stands for `xs:date` in the contract `adjusted`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Hash)]
pub struct Day(String);

castile::codegen::simple_type!(Day);

impl castile::codegen::SimpleType for Day {
    const NAME: &'static str = "xs:date";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Ok(Day(text.trim().to_owned()))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.0.bytes());
        true
    }
}

/// Stands for a simple type of the contract `adjusted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Hash)]
pub struct Cents(i64);

castile::codegen::simple_type!(Cents);

impl castile::codegen::SimpleType for Cents {
    const NAME: &'static str = "Money";
    const IS_OF_CONTRACT: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let (whole, cents) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let cents = format!("{cents:0<2}");
        if cents.len() > 2 {
            return Err(Some("it has parts of a cent".to_owned()));
        }
        format!("{whole}{cents}").parse().map(Cents).map_err(|_| None)
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let sign = if self.0 < 0 { "-" } else { "" };
        out.extend(format!("{sign}{}.{:02}", self.0.abs() / 100, self.0.abs() % 100).bytes());
        true
    }
}

generated!(ambiguous);
generated!(client_only);
generated!(encoded_faults);
generated!(nasty_texts);
generated!(same_element_twice);
generated!(server_only);
generated!(soap12);
generated!(typed_faults);
generated!(types_only);

impl server_only::Feature for Echo {
    async fn echo(
        &self,
        request: Request<server_only::Value>,
    ) -> Result<Response<server_only::Value>, Fault<server_only::EchoFault>> {
        Ok(request.into_inner().into())
    }
}

/// One contract, of which each side generated what it needs: its faults are called as what one half alone imports.
#[tokio::test]
async fn a_client_and_a_server_that_were_generated_apart() {
    let server = server_only::FeatureServer::new(Echo);
    let client = client_only::FeatureClient::with_transport("http://localhost/", server).unwrap();
    assert_eq!(client.echo(&client_only::Value { a: 1 }).await.unwrap(), client_only::Value { a: 1 });
}

/// Makes the letters small or large.
struct Letters;

impl same_element_twice::Feature for Letters {
    async fn lower(
        &self,
        request: Request<same_element_twice::Value>,
    ) -> Result<Response<same_element_twice::Value>, Fault> {
        let request = request.into_inner();
        Ok(same_element_twice::Value { text: request.text.to_lowercase() }.into())
    }

    async fn upper(
        &self,
        request: Request<same_element_twice::Value>,
    ) -> Result<Response<same_element_twice::Value>, Fault> {
        let request = request.into_inner();
        Ok(same_element_twice::Value { text: request.text.to_uppercase() }.into())
    }
}

#[tokio::test]
async fn operations_with_the_same_element_are_distinguished_by_their_action() {
    let server = same_element_twice::FeatureServer::new(Letters);
    let client = same_element_twice::FeatureClient::with_transport("http://localhost/", server).unwrap();
    let request = same_element_twice::Value { text: "Text".into() };
    assert_eq!(client.lower(&request).await.unwrap().text, "text");
    assert_eq!(client.upper(&request).await.unwrap().text, "TEXT");
}

/// Too old for anything else than its name.
struct Old;

impl soap12::Feature for Old {
    async fn echo(&self, _: Request<soap12::Value>) -> Result<Response<soap12::Value>, Fault<soap12::EchoFault>> {
        let version = Some(soap12::Version { number: 3 });
        let detail = soap12::EchoFault::TooOld(soap12::SoapVersionType { version });
        Err(Fault::sender("too old").with_subcode(QName::new("urn:soap12", "Age").unwrap()).with_detail(detail))
    }

    async fn other(&self, request: Request<soap12::Value>) -> Result<Response<soap12::Value>, Fault> {
        let request = request.into_inner();
        Ok(soap12::Value { ask: format!("other {}", request.ask) }.into())
    }
}

#[tokio::test]
async fn a_contract_of_soap12() {
    let client = soap12::FeatureClient::with_transport("http://localhost/", soap12::FeatureServer::new(Old)).unwrap();
    let request = soap12::Value { ask: "name".into() };
    assert_eq!(client.other(&request).await.unwrap().ask, "other name");
    let answer = client.echo(&request).await;
    let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
    assert_eq!((fault.code, fault.reason), (FaultCode::Sender, Reason::new("en", "too old")));
    assert_eq!(fault.subcodes, [QName::new("urn:soap12", "Age").unwrap()]);
    let version = Some(soap12::Version { number: 3 });
    let detail = soap12::EchoFault::TooOld(soap12::SoapVersionType { version });
    assert_eq!(fault.detail, Detail::Declared(detail));
}

#[tokio::test]
async fn clients_use_the_first_soap_version_or_the_configured_one() {
    struct Refuse;
    impl both_versions::Feature for Refuse {
        async fn echo(&self, request: Request<both_versions::Value>) -> Result<Response<both_versions::Value>, Fault> {
            let request = request.into_inner();
            Err(Fault::sender(request.a.to_string()))
        }
        async fn with_version(
            &self,
            request: Request<both_versions::Value>,
        ) -> Result<Response<both_versions::Value>, Fault> {
            Ok(request.into_inner().into())
        }
    }
    let server = both_versions::FeatureServer::new(Refuse);
    let client = both_versions::FeatureClient::with_transport("http://localhost/", server).unwrap();
    // SOAP 1.2 alone says which language.
    for (client, language) in [
        (client.clone(), "en"),
        (client.clone().with_options(support::options(|options| options.version = Some(Version::Soap11))), ""),
        (client.clone().with_options(support::options(|options| options.version = Some(Version::Soap12))), "en"),
    ] {
        assert_eq!(client.with_version(&both_versions::Value { a: 1 }).await.unwrap().a, 1);
        let answer = client.echo(&both_versions::Value { a: 2 }).await;
        let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((fault.code, fault.reason), (FaultCode::Sender, Reason::new(language, "2")));
    }
}

/// Messages that a strict server refuses, and what a lenient one makes of them: what it tells, and what it answers. What
/// is wrong in other messages is wrong for it too.
#[tokio::test]
async fn lenient_decoding_accepts_and_reports_deviations_without_loss() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let leniency = Leniency::new(move |operation, deviations| {
        listener.lock().unwrap().push(format!("{}\n{deviations}\n", operation.name));
    });
    let mut options = castile::http::server::Options::default();
    options.messages.leniency = Some(leniency.clone());
    let strict = lenient::FeatureServer::new(Echo);
    let server = lenient::FeatureServer::with_options(Echo, options);
    exchange("lenient", server.clone()).await;
    assert!(told.lock().unwrap().is_empty());

    let mut different = Vec::new();
    let files: Vec<_> = fs::read_dir("tests/features/lenient").unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in files.iter().filter(|file| {
        let name = file.file_name().unwrap().to_str().unwrap();
        name.starts_with("lenient-") && name.ends_with(".xml")
    }) {
        let message = fs::read_to_string(file).unwrap();
        let (status, refusal) = post(&strict, message.clone()).await;
        assert_eq!(status, 500, "{}: {refusal}", file.display());
        let (status, answer) = post(&server, message).await;
        assert_eq!(status, 200, "{}: {answer}", file.display());
        let answer = Document::parse(&answer).unwrap();
        let [deviations] = &std::mem::take(&mut *told.lock().unwrap())[..] else { panic!("{}", file.display()) };
        let found = format!("{deviations}\n{}", infoset(payload(&answer)));
        different.extend(support::compare(&file.with_extension("tolerated"), Some(&found)));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));

    // A client that is lenient with what a server answers.
    let answer = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <echoResponse xmlns='urn:lenient'><added/><number>7</number></echoResponse></s:Body></s:Envelope>";
    let client = lenient::FeatureClient::with_transport("http://localhost/", Says(answer)).unwrap();
    let request = lenient::Value::default();
    let refused = client.echo(&request).await.unwrap_err().to_string();
    let lenient = support::options(|options| options.messages.leniency = Some(leniency));
    let response = client.with_options(lenient).echo(&request).await.unwrap();
    assert_eq!(response.number, Some(7));
    assert_eq!(*told.lock().unwrap(), [format!("echo\n{refused}\n")]);
}

#[tokio::test]
async fn leniency_is_for_details_of_faults_too() {
    use typed_faults::{EchoFault, FeatureClient, OutOfStock, Value};
    let answer = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:f='urn:typed_faults'><s:Body><s:Fault>\
        <faultcode>s:Server</faultcode><faultstring>no</faultstring>\
        <detail> <f:outOfStock unit='kg'><f:more/><f:item>tea</f:item></f:outOfStock></detail></s:Fault></s:Body></s:Envelope>";
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let leniency = Leniency::new(move |operation, deviations| {
        listener.lock().unwrap().push(format!("{}\n{deviations}", operation.name));
    });
    let strict = FeatureClient::with_transport("http://localhost/", Says(answer)).unwrap();
    let request = Value { ask: "tea".into() };
    let Err(CallError::Fault { fault, .. }) = strict.echo(&request).await else { panic!("it is a fault") };
    assert!(matches!(fault.detail, Detail::Other(_)), "{fault:?}");
    let lenient = strict.with_options(support::options(|options| options.messages.leniency = Some(leniency)));
    let Err(CallError::Fault { fault, .. }) = lenient.echo(&request).await else { panic!("it is a fault") };
    let detail = EchoFault::OutOfStock(OutOfStock { item: "tea".into(), left: None });
    assert_eq!(fault.detail, Detail::Declared(detail));
    let expected = "echo\n\
        Fault/detail/outOfStock: an attribute \"unit\", which <outOfStock> does not have (line 1, column 192)\n\
        Fault/detail/outOfStock/more: found <more> of urn:typed_faults, where <item> was expected (line 1, column 202)";
    assert_eq!(*told.lock().unwrap(), [expected]);
}

/// A server that answers one thing.
#[derive(Clone)]
struct Says(&'static str);

impl Service<http::Request<Body>> for Says {
    type Response = http::Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<http::Response<Full<Bytes>>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        let response = http::Response::builder().header("content-type", "text/xml");
        ready(Ok(response.body(Full::from(self.0)).unwrap()))
    }
}

const CLOSED: DateTime =
    DateTime { year: 2005, month: 7, day: 1, hour: 18, minute: 0, second: 0, nanosecond: 0, offset_minutes: Some(0) };

/// Has everything but what it is asked for.
struct Shop;

impl typed_faults::Feature for Shop {
    async fn echo(
        &self,
        request: Request<typed_faults::Value>,
    ) -> Result<Response<typed_faults::Value>, Fault<typed_faults::EchoFault>> {
        let request = request.into_inner();
        use typed_faults::{EchoFault, OutOfStock};
        let fault = Fault::receiver("nothing doing");
        match request.ask.as_str() {
            "plain" => Err(fault),
            "closed" => Err(fault.with_detail(EchoFault::Error(CLOSED))),
            item => Err(fault.with_detail(EchoFault::OutOfStock(OutOfStock { item: item.to_owned(), left: Some(0) }))),
        }
    }

    async fn plain(&self, _: Request<typed_faults::Value>) -> Result<Response<typed_faults::Value>, Fault> {
        Err(Fault::sender("never"))
    }
}

#[tokio::test]
async fn faults_arrive_as_the_types_that_were_sent() {
    use typed_faults::{EchoFault, FeatureClient, FeatureServer, OutOfStock, Value};
    let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Shop)).unwrap();
    let out_of_stock = OutOfStock { item: "<tea>".into(), left: Some(0) };
    for (ask, expected) in [
        ("plain", Detail::None),
        ("closed", Detail::Declared(EchoFault::Error(CLOSED))),
        ("<tea>", Detail::Declared(EchoFault::OutOfStock(out_of_stock))),
    ] {
        let answer = client.echo(&Value { ask: ask.into() }).await;
        let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!(fault.code, FaultCode::Receiver);
        assert_eq!(fault.reason.as_str(), "nothing doing");
        assert_eq!(fault.detail, expected);
    }
    let answer = client.plain(&Value { ask: "plain".into() }).await;
    let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
    assert_eq!((fault.code, fault.detail), (FaultCode::Sender, Detail::None));
}

#[tokio::test]
async fn empty_and_absent_values_have_their_default() {
    for (feature, server, sent, expected) in [
        (
            "default_values",
            default_values::FeatureServer::new(Echo).into(),
            "<number/><text/><fixed/>",
            "<number>12</number><text>none</text><fixed>1.50</fixed>",
        ),
        (
            "attributes",
            Endpoint::from(attributes::FeatureServer::new(Echo)),
            "<item kind='a&amp;b' id='1'/>",
            "<item size='12' unit='cm' kind='a&amp;b' id='1'/>",
        ),
    ] {
        let message = |name: &str, content: &str| {
            let soap = "http://schemas.xmlsoap.org/soap/envelope/";
            format!(
                "<s:Envelope xmlns:s='{soap}'><s:Body><{name} xmlns='urn:{feature}'>{content}</{name}></s:Body></s:Envelope>"
            )
        };
        let (status, answer) = post(&server, message("echo", sent)).await;
        assert_eq!(status, 200, "{answer}");
        let [answer, expected] =
            [answer, message("echoResponse", expected)].map(|message| Document::parse(&message).unwrap());
        assert_eq!(infoset(payload(&answer)), infoset(payload(&expected)));
    }
}

/// What a contract leaves open can be read by whoever knows it.
#[test]
fn raw_xml_values_can_be_read_and_made() {
    let start = "<ns1:part xmlns:ns1=\"urn:attributes\">";
    let item = attributes::Item { id: Some("x".into()), text: None, size: 3, id_attribute: 7, version: None };
    let any = Any::from_value(start, &item, "</ns1:part>").unwrap();
    assert_eq!(any.name().to_string(), "{urn:attributes}part");
    assert_eq!(any.read::<attributes::Item>().unwrap(), item);
    let value = wildcards::Value { anything: vec!["12".into()], ..wildcards::Value::default() };
    assert_eq!(value.anything[0].read::<i32>().unwrap(), 12);
    let error = any.read::<i32>().unwrap_err();
    assert_eq!(error.message(), "an attribute \"id\", which <*> does not have");
}

#[test]
fn values_that_are_not_listed_have_a_place() {
    use enumerations::{Color, SizeOrNumber};
    for (text, color) in
        [("red", Color::Red), ("Red", Color::Red2), ("", Color::Empty), ("x", Color::Other("x".into()))]
    {
        assert_eq!(Color::from(text), color);
        assert_eq!(color.to_string(), text);
        assert_eq!(text.parse(), Ok(color));
    }
    for (text, is_expected) in [
        ("small", (|value| matches!(value, SizeOrNumber::Size(_))) as fn(&SizeOrNumber) -> bool),
        ("12", |value| *value == SizeOrNumber::Int(12)),
        ("medium", |value| matches!(value, SizeOrNumber::Token(_))),
    ] {
        let value = <SizeOrNumber as castile::codegen::SimpleType>::parse(text).unwrap();
        assert!(is_expected(&value), "{value:?}");
    }
}

/// Depth costs heap and no stack, whatever the circle goes through.
#[test]
fn depth_is_no_danger() {
    const DEPTH: usize = 30_000;
    fn live<T: FromXml + ToXml + Clone + PartialEq + std::fmt::Debug>(
        feature: &str,
        start: &str,
        end: &str,
        inside: &str,
    ) {
        static ELEMENT: castile::codegen::Element = castile::codegen::Element::new("", "value", 0);
        let [start, end] = [start, end].map(|tags| tags.repeat(DEPTH));
        let xsi = "http://www.w3.org/2001/XMLSchema-instance";
        let document = format!("<value xmlns='urn:{feature}' xmlns:xsi='{xsi}'>{start}{inside}{end}</value>");
        let mut limits = castile::xml::Limits::default();
        limits.depth = usize::MAX;
        let mut reader = castile::xml::Reader::new(document.as_bytes(), limits).unwrap();
        reader.next().unwrap();
        let value: T = Decoder::new(reader).root(&ELEMENT).unwrap();
        let same = value.clone();
        assert!(same == value && format!("{same:?}") == format!("{value:?}"));
        let mut out = Encoder::default();
        out.element("<value>", &value, "</value>");
        let written = out.finish().unwrap().len();
        assert!(written >= document.len() - 200, "{written} of {}", document.len());
    }
    live::<choice::Once>("choice", "<c>", "</c>", "<a>1</a>");
    live::<groups::Node>("groups", "<left>", "</left>", "");
    live::<mixed::Paragraph>("mixed", "<bold>", "</bold>", "text");
    live::<derivation::Group>("derivation", "<name/><shape xsi:type='Group'>", "</shape>", "<name/>");
}

/// Sends the messages of a feature to a server and compares the answers.
async fn exchange<S: HttpService>(feature: &str, server: S) {
    let directory = Path::new("tests/features").join(feature);
    let mut different = Vec::new();
    for (file, answer) in messages::exchange(&directory, &server, &|_| true).await {
        match answer {
            Answer::Same => {}
            Answer::Different(how) => different.push(format!("{}: {how}", file.display())),
            Answer::Refused(found) => different.extend(support::compare(&file.with_extension("error"), Some(&found))),
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

// ---- faults in SOAP encoding ----

impl encoded_faults::Feature for Shop {
    async fn open(
        &self,
        request: Request<encoded_faults::OpenRequest>,
    ) -> Result<Response<encoded_faults::OpenResponse>, Fault<encoded_faults::OpenFault>> {
        let request = request.into_inner();
        use encoded_faults::{Lost, OpenFault};
        let since = request.door.as_deref().and_then(|since| since.parse().ok());
        Err(Fault::receiver("it is closed").with_detail(OpenFault::Lost(Lost { since })))
    }
}

/// Those whose parts have one name are told apart by what `xsi:type` says, there or where a reference leads.
#[tokio::test]
async fn faults_of_one_name_arrive_as_the_types_that_they_say() {
    use encoded_faults::{FeatureClient, FeatureServer, Locked, Lost, OpenFault, OpenRequest};
    const SAYS: [(&str, &str); 6] = [
        ("<e:fault xsi:type='e:Locked'><by>Ada</by></e:fault>", "Locked"),
        ("<e:fault xsi:type='e:Lost'><since>2005-07-01</since></e:fault>", "Lost"),
        ("<e:fault href='#f'/>", "Lost"),
        ("<e:fault><by>Ada</by></e:fault>", "Other"),
        ("<e:fault xsi:type='e:Else'/>", "Other"),
        ("<e:fault xsi:type='none:Lost'/>", "Other"),
    ];
    let request = OpenRequest { door: Some("2005-07-01".to_owned()) };
    for (entry, expected) in SAYS {
        let message = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:e='urn:encoded_faults' \
             xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><s:Body><s:Fault><faultcode>s:Server</faultcode>\
             <faultstring>no</faultstring><detail>{entry}</detail></s:Fault>\
             <m id='f' xsi:type='e:Lost'><since>2005-07-01</since></m></s:Body></s:Envelope>"
        );
        let client = FeatureClient::with_transport("http://localhost/", Says(message.leak())).unwrap();
        let CallError::Fault { fault, .. } = client.open(&request).await.unwrap_err() else { panic!("{entry}") };
        let found = match fault.detail {
            Detail::Declared(OpenFault::Locked(Locked { by })) => by.map(|_| "Locked"),
            Detail::Declared(OpenFault::Lost(Lost { since })) => since.map(|_| "Lost"),
            Detail::Other(_) => Some("Other"),
            _ => None,
        };
        assert_eq!(found, Some(expected), "{entry}");
    }
    let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Shop)).unwrap();
    let CallError::Fault { fault, .. } = client.open(&request).await.unwrap_err() else { panic!("no fault") };
    assert!(matches!(fault.detail, Detail::Declared(OpenFault::Lost(Lost { since: Some(_) }))), "{fault:?}");
}

// ---- the contract ----

/// What others make of a contract that imports: they have nothing but what the server serves.
#[tokio::test]
async fn a_contract_is_read_with_what_it_imports_from_where_it_is_served() {
    let address = castile::http::server::Address::Fixed("http://h/feature".to_owned());
    let server: Endpoint<_> = imports::FeatureServer::new(Echo).into();
    let mut server = server.address(address);
    let mut served = castile_xsd::Documents::new();
    for query in ["wsdl", "xsd=1"] {
        let uri = format!("http://h/feature?{query}");
        let request = http::Request::get(&uri).body(Full::<Bytes>::default()).unwrap();
        let body = server.call(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
        served = served.with(&uri, body);
    }
    let (definitions, problems) = castile_wsdl::read("http://h/feature?wsdl", &served);
    assert!(problems.is_empty(), "{problems:?}");
    let schema = definitions.unwrap().schema;
    let value = castile_xsd::ExpandedName::new("urn:imports", "Value");
    assert!(schema.find_type(&value).is_some(), "the type stands in what is included");
}
