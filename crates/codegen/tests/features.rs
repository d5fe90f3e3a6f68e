//! Generated code at work: `expected.rs` of each directory of `features` is compiled and serves the messages there.
//!
//! Most services echo: a message `ok-*.xml` is answered with the same content, and a message `bad-*.xml` with a fault
//! that says what `bad-*.error` says. `goldens.rs` compares the code itself.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fs;
use std::path::Path;

use bytes::Bytes;
use castile::codegen::HttpService;
use castile::datatypes::DateTime;
use castile::{CallError, Detail, Fault, FaultCode};
use castile_xml::tree::{Document, Element};
use http::Request;
use http_body_util::{BodyExt, Full};
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Implements every feature's port type: what comes goes back.
struct Echo;

/// The module that was generated for a feature.
macro_rules! generated {
    ($feature:ident) => {
        #[deny(warnings)]
        #[allow(unreachable_pub, reason = "nobody reaches into a test")]
        mod $feature {
            include!(concat!("features/", stringify!($feature), "/expected.rs"));
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
            $(async fn $operation(&self, request: $type) -> Result<$type, Fault $(<$detail>)?> {
                Ok(request)
            })+
        }

        #[tokio::test]
        async fn $feature() {
            exchange(stringify!($feature), $feature::FeatureServer::new(Echo)).await;
        }
    };
}

echo!(all);
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
echo!(documentation);
echo!(extension);
echo!(imports);
echo!(names { echo(names::Value), r#type(names::Types) });
echo!(nillable);
echo!(no_namespace);
echo!(optional_and_repeated);
echo!(recursion);
echo!(sequence);
echo!(simple_payload { greet(String), count(i32), bytes(castile::datatypes::Base64Binary) });
echo!(simple_types);
echo!(two_namespaces { echo(two_namespaces::Value), other(two_namespaces::Part) });
echo!(unqualified);

generated!(client_only);
generated!(same_element_twice);
generated!(server_only);
generated!(typed_faults);

impl server_only::Feature for Echo {
    async fn echo(&self, request: server_only::Value) -> Result<server_only::Value, Fault<server_only::EchoFault>> {
        Ok(request)
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
    async fn lower(&self, request: same_element_twice::Value) -> Result<same_element_twice::Value, Fault> {
        Ok(same_element_twice::Value { text: request.text.to_lowercase() })
    }

    async fn upper(&self, request: same_element_twice::Value) -> Result<same_element_twice::Value, Fault> {
        Ok(same_element_twice::Value { text: request.text.to_uppercase() })
    }
}

#[tokio::test]
async fn operations_that_share_an_element_are_told_apart_by_their_action() {
    let server = same_element_twice::FeatureServer::new(Letters);
    let client = same_element_twice::FeatureClient::with_transport("http://localhost/", server).unwrap();
    let request = same_element_twice::Value { text: "Text".into() };
    assert_eq!(client.lower(&request).await.unwrap().text, "text");
    assert_eq!(client.upper(&request).await.unwrap().text, "TEXT");
}

const CLOSED: DateTime =
    DateTime { year: 2005, month: 7, day: 1, hour: 18, minute: 0, second: 0, nanosecond: 0, offset_minutes: Some(0) };

/// Has everything but what it is asked for.
struct Shop;

impl typed_faults::Feature for Shop {
    async fn echo(&self, request: typed_faults::Value) -> Result<typed_faults::Value, Fault<typed_faults::EchoFault>> {
        use typed_faults::{EchoFault, OutOfStock};
        let fault = Fault::receiver("nothing doing");
        match request.ask.as_str() {
            "plain" => Err(fault),
            "closed" => Err(fault.with_detail(EchoFault::Error(CLOSED))),
            item => Err(fault.with_detail(EchoFault::OutOfStock(OutOfStock { item: item.to_owned(), left: Some(0) }))),
        }
    }

    async fn plain(&self, _: typed_faults::Value) -> Result<typed_faults::Value, Fault> {
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
        let Err(CallError::Fault(fault)) = answer else { panic!("{answer:?}") };
        assert_eq!(fault.code, FaultCode::Receiver);
        assert_eq!(fault.reason, "nothing doing");
        assert_eq!(fault.detail, expected);
    }
    let answer = client.plain(&Value { ask: "plain".into() }).await;
    let Err(CallError::Fault(fault)) = answer else { panic!("{answer:?}") };
    assert_eq!((fault.code, fault.detail), (FaultCode::Sender, Detail::None));
}

/// Sends the messages of a feature to a server and compares the answers.
async fn exchange<S: HttpService>(feature: &str, server: S) {
    let directory = Path::new("tests/features").join(feature);
    let mut files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let named = |prefix: &str| {
        let is_named = |file: &&Path| {
            let name = file.file_name().unwrap().to_str().unwrap();
            name.starts_with(prefix) && name.ends_with(".xml")
        };
        files.iter().map(AsRef::as_ref).filter(is_named).collect::<Vec<&Path>>()
    };
    let (right, wrong) = (named("ok-"), named("bad-"));
    assert!(!right.is_empty(), "{feature} has no messages");

    let mut different = Vec::new();
    // Twice: the second time all tags are known to the reader.
    for file in right.iter().chain(&right) {
        let sent = fs::read_to_string(file).unwrap();
        let (status, answer) = post(&server, sent.clone()).await;
        assert_eq!(status, 200, "{}: {answer}", file.display());
        let [sent, answer] = [sent, answer].map(|message| Document::parse(&message).unwrap());
        let (sent, answer) = (payload(&sent), payload(&answer));
        assert_eq!(answer.namespace(), sent.namespace(), "{}", file.display());
        assert_eq!(answer.local(), format!("{}Response", sent.local()), "{}", file.display());
        assert_eq!(infoset(answer), infoset(sent), "{}", file.display());
    }
    for file in wrong.iter().chain(&wrong) {
        let (status, answer) = post(&server, fs::read_to_string(file).unwrap()).await;
        assert_eq!(status, 500, "{}: {answer}", file.display());
        let answer = Document::parse(&answer).unwrap();
        let [code, reason] = ["faultcode", "faultstring"].map(|name| child(payload(&answer), name));
        let found = format!("{}: {}\n", code.trim_start_matches("soap:"), reason);
        different.extend(support::compare(&file.with_extension("error"), Some(&found)));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Status and body of the answer to a message.
async fn post<S: HttpService>(server: &S, message: String) -> (u16, String) {
    let request = Request::post("/").header("content-type", "text/xml; charset=utf-8");
    let response = server.service().call(request.body(Full::from(Bytes::from(message))).unwrap()).await;
    let response: Result<_, BoxError> = response.map_err(Into::into);
    let (head, body) = response.unwrap().into_parts();
    let body: Result<_, BoxError> = body.collect().await.map_err(Into::into);
    let body = body.unwrap().to_bytes();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

fn payload(message: &Document) -> Element<'_> {
    let body = message.root().elements().find(|element| element.local() == "Body").unwrap();
    body.elements().next().unwrap()
}

fn child(element: Element<'_>, name: &str) -> String {
    element.elements().find(|child| child.local() == name).unwrap().text()
}

/// The content of an element: what doesn't count is left out, which is prefixes, and white space between elements.
fn infoset(element: Element<'_>) -> String {
    let mut out = String::new();
    for child in element.elements() {
        out.push_str(&format!("<{{{}}}{}", child.namespace(), child.local()));
        for attribute in child.attributes() {
            out.push_str(&format!(" {{{}}}{}={:?}", attribute.namespace(), attribute.local(), attribute.value()));
        }
        out.push_str(&format!(">\n{}</>\n", infoset(child)));
    }
    if out.is_empty() {
        out = element.text() + "\n";
    }
    out
}
