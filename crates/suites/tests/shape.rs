//! Tests what is sent with requests and responses, between a generated client and a generated server in one process.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile::http::server::Endpoint;
use castile::soap::{Next, RequestMessage, Service, Version, from_fn};
use castile::{CallError, ClientOptions, Fault, Header, Request, Response};
use castile_suites::benchmark1::contract::*;
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, RETRY_AFTER};
use http::{HeaderName, HeaderValue};

castile::header! {
    /// A block in a namespace that must be escaped.
    struct Note(String) = "urn:note?a=1&b=<2>", "note";
}

const OWN: HeaderName = HeaderName::from_static("x-own");

/// Echoes its requests.
struct Echo;

/// Answers with the answer of the next service. The compiler once couldn't infer here that `send` is `Send` for a trait object.
struct Gateway(BenchmarkClient<Endpoint<dyn Service>>);

macro_rules! unused {
    () => {
        unused! {
            echo_base64(EchoBase64) -> EchoBase64Response;
            echo_strings(EchoStrings) -> EchoStringsResponse;
            echo_ints(EchoInts) -> EchoIntsResponse;
            echo_doubles(EchoDoubles) -> EchoDoublesResponse;
            echo_mesh_interface_objects(EchoMeshInterfaceObjectsRequest) -> EchoMeshInterfaceObjectsResponse;
            echo_simple_events(EchoSimpleEventsRequest) -> EchoSimpleEventsResponse;
            receive_base64(ReceiveBase64) -> ReceiveBase64Response;
            receive_strings(ReceiveStrings) -> ReceiveStringsResponse;
            receive_ints(ReceiveInts) -> ReceiveIntsResponse;
            receive_doubles(ReceiveDoubles) -> ReceiveDoublesResponse;
            receive_mesh_interface_objects(ReceiveMeshInterfaceObjectsRequest) -> ReceiveMeshInterfaceObjectsResponse;
            receive_simple_events(ReceiveSimpleEventsRequest) -> ReceiveSimpleEventsResponse;
            send_base64(SendBase64) -> SendBase64Response;
            send_strings(SendStrings) -> SendStringsResponse;
            send_ints(SendInts) -> SendIntsResponse;
            send_doubles(SendDoubles) -> SendDoublesResponse;
            send_mesh_interface_objects(SendMeshInterfaceObjectsRequest) -> SendMeshInterfaceObjectsResponse;
            send_simple_events(SendSimpleEventsRequest) -> SendSimpleEventsResponse;
        }
    };
    ($($method:ident($request:ident) -> $response:ident;)*) => {
        $(async fn $method(&self, _: Request<$request>) -> Result<Response<$response>, Fault> {
            Err(Fault::receiver("nobody calls this"))
        })*
    };
}

impl Benchmark for Echo {
    async fn echo_void(&self, request: Request<EchoVoid>) -> Result<Response<EchoVoidResponse>, Fault> {
        let seen = request.http_headers().get(OWN).cloned();
        if seen.as_ref().is_some_and(|seen| seen == "refuse") {
            return Err(Fault::receiver("closed")
                .with_http_header(RETRY_AFTER, HeaderValue::from_static("60"))
                .with_http_header(CONTENT_LENGTH, HeaderValue::from_static("1"))
                .with_header(Note("until < noon".into()).for_role("urn:others"))
                .with_header(Note("until < one".into())));
        }
        let mut response = Response::new(EchoVoidResponse {})
            .with_http_header(CONTENT_LENGTH, HeaderValue::from_static("1"))
            .with_http_header(CONNECTION, HeaderValue::from_static("close"))
            .with_http_header(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        if let Some(seen) = seen {
            response = response.with_http_header(OWN, seen);
        }
        if let Some(note) = request.header::<Note>()? {
            response = response.with_header(note);
        }
        Ok(response)
    }

    unused!();
}

impl Benchmark for Gateway {
    async fn echo_void(&self, request: Request<EchoVoid>) -> Result<Response<EchoVoidResponse>, Fault> {
        // Copies everything that was sent with the request, as a careless gateway does.
        let mut call = self.0.echo_void(request.get_ref());
        for (name, value) in request.http_headers() {
            call = call.http_header(name.clone(), value.clone());
        }
        call.send().await.map_err(|error| match error {
            CallError::Fault { fault, .. } => fault,
            error => Fault::receiver(error.to_string()),
        })
    }

    unused!();
}

fn gateway() -> Gateway {
    Gateway(BenchmarkClient::with_transport("http://localhost/", BenchmarkServer::new(Echo).boxed()).unwrap())
}

fn client<T: Benchmark>(service: T) -> BenchmarkClient<BenchmarkServer<T>> {
    BenchmarkClient::with_transport("http://localhost/", BenchmarkServer::new(service)).unwrap()
}

#[tokio::test]
async fn headers_of_http_go_both_ways_but_for_those_of_the_engine() {
    let client = client(Echo);
    let call = client.echo_void(&EchoVoid {}).http_header(OWN, HeaderValue::from_static("seen"));
    let answer = call.http_header(CONTENT_LENGTH, HeaderValue::from_static("10")).send().await.unwrap();
    let headers = answer.http_headers();
    assert_eq!(headers.get(OWN).unwrap(), "seen");
    assert!(
        [CONTENT_LENGTH, CONNECTION, CONTENT_ENCODING].iter().all(|name| !headers.contains_key(name)),
        "{headers:?}"
    );
}

#[tokio::test]
async fn header_blocks_and_headers_of_http_go_with_faults() {
    let (refuse, note) = (HeaderValue::from_static("refuse"), Note("until < one".into()));
    for version in Version::ALL {
        let mut options = ClientOptions::default();
        options.version = Some(version);
        let client = client(Echo).with_options(options.clone());
        let error = client.echo_void(&EchoVoid {}).http_header(OWN, refuse.clone()).await.unwrap_err();
        assert_eq!(error.to_string(), "Receiver: closed");
        assert_eq!(error.http_headers().unwrap()[RETRY_AFTER], "60");
        assert_ne!(error.http_headers().unwrap().get(CONTENT_LENGTH), Some(&HeaderValue::from_static("1")));
        assert_eq!(error.header::<Note>().unwrap().as_ref(), Some(&note));
        let fault = error.fault().unwrap();
        assert_eq!(fault.headers().unwrap().len(), 2);
        assert_eq!(fault.http_headers()[RETRY_AFTER], "60");

        // The headers of a fault are not forwarded.
        let gateway = self::client(gateway()).with_options(options);
        let error = gateway.echo_void(&EchoVoid {}).http_header(OWN, refuse.clone()).await.unwrap_err();
        assert_eq!(error.to_string(), "Receiver: closed");
        assert!(!error.http_headers().unwrap().contains_key(RETRY_AFTER));
        assert_eq!(error.header::<Note>().unwrap(), None);
    }
}

/// A gateway once forwarded the headers of the answer that it received.
#[tokio::test]
async fn headers_of_a_response_are_not_forwarded() {
    let gateway = client(gateway());
    let note = Note("a < b".into());
    let call = gateway.echo_void(&EchoVoid {}).header(&note).http_header(OWN, HeaderValue::from_static("seen"));
    let answer = call.send().await.unwrap();
    assert!(!answer.http_headers().contains_key(OWN));
    assert_eq!(answer.header::<Note>().unwrap(), None);
}

#[tokio::test]
async fn a_block_of_no_contract_goes_both_ways() {
    let client = client(Echo);
    let note = Note("a < b".into());
    let answer = client.echo_void(&EchoVoid {}).header(&note).send().await.unwrap();
    assert_eq!(answer.header::<Note>().unwrap(), Some(note.clone()));
    // Nothing understands this block, so it can't be `mustUnderstand`.
    let block = note.must_understand();
    let error = client.echo_void(&EchoVoid {}).header(&block).await.unwrap_err();
    assert!(error.to_string().contains("must be understood"), "{error}");
}

#[tokio::test]
async fn a_header_is_not_longer_than_it_may_be() {
    let client = client(Echo);
    for (length, is_refused) in [(200 << 10, false), (300 << 10, true)] {
        let note = Note("x".repeat(length));
        let answer = client.echo_void(&EchoVoid {}).header(&note).send().await;
        match answer {
            Ok(answer) => assert!(!is_refused && answer.header::<Note>().unwrap() == Some(note)),
            Err(error) => assert!(is_refused && error.to_string().contains("262144 bytes"), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_layer_of_a_function_that_panics_answers_with_a_fault() {
    let layer = from_fn(|request: RequestMessage, next: Next| async move {
        assert!(request.http_headers().get(OWN).is_none(), "as it was told");
        next.run(request).await
    });
    let service = BenchmarkServer::new(Echo).layer(layer);
    let client = BenchmarkClient::with_transport("http://localhost/", service).unwrap();
    client.echo_void(&EchoVoid {}).await.unwrap();
    let error = client.echo_void(&EchoVoid {}).http_header(OWN, HeaderValue::from_static("x")).await.unwrap_err();
    assert!(matches!(&error, CallError::Fault { .. }) && error.to_string().contains("the service failed"), "{error}");
}
