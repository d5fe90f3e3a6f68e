//! Messages whose types are large, or nest deeply, fit a small stack and small futures, in the places that `features.rs` has
//! nothing of: header blocks, faults, parts of calls, and SOAP encoding.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use castile::http::server::Endpoint;
use castile::soap::{Description, Layer, Options, Pending, RequestMessage, Service};
use castile::{CallError, Detail, Fault, Request, Response, Shared};
use support::{handled, on_a_small_stack};

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

generated!(encoded_large);
generated!(large_messages);

use large_messages::{EchoFault, Large, Larger, OneHeader, PartsRequest, PartsResponse, ThreeHeader};

/// What comes goes back, unless it is empty.
struct Echo;

impl large_messages::Feature for Echo {
    async fn echo(&self, request: Request<Larger>) -> Result<Response<Larger>, Fault<EchoFault>> {
        let header = Header { one: request.header()?, three: request.header()?, four: request.header()? };
        let request = request.into_inner();
        if request == Larger::default() {
            let refusal = EchoFault::Refusal(Box::new(large()));
            return Err(Fault::sender("nothing").with_detail(handled(refusal)));
        }
        let Header { one, three, four } = handled(header);
        let mut response = Response::new(handled(request));
        if let Some(one) = one {
            response = response.with_header(one);
        }
        if let Some(three) = three {
            response = response.with_header(three);
        }
        if let Some(four) = four {
            response = response.with_header(four);
        }
        Ok(response)
    }

    async fn parts(&self, request: Request<PartsRequest>) -> Result<Response<PartsResponse>, Fault> {
        let PartsRequest { one, two, three, four } = handled(request.into_inner());
        Ok(PartsResponse { one, two, three, four }.into())
    }
}

impl encoded_large::Feature for Echo {
    async fn echo(
        &self,
        request: Request<encoded_large::EchoRequest>,
    ) -> Result<Response<encoded_large::EchoResponse>, Fault> {
        let encoded_large::EchoRequest { one, two, larger, three, four, deep, node, list } =
            handled(request.into_inner());
        Ok(encoded_large::EchoResponse { one, two, larger, three, four, deep, node, list }.into())
    }
}

fn large() -> Large {
    Large { a: Some("a".into()), l: Some("l".into()), ..Large::default() }
}

fn larger() -> Larger {
    Larger { a: Some(Box::new(large())), d: Some(Box::default()), ..Larger::default() }
}

/// The header blocks of a message.
#[derive(Clone, Debug, PartialEq)]
struct Header {
    one: Option<OneHeader>,
    three: Option<ThreeHeader>,
    four: Option<Larger>,
}

fn header() -> Header {
    Header { one: Some(OneHeader(large())), three: Some(ThreeHeader(large())), four: Some(larger()) }
}

#[test]
fn large_header_blocks_faults_and_parts() {
    on_a_small_stack(async || {
        let server = large_messages::FeatureServer::new(Echo);
        let client = large_messages::FeatureClient::with_transport("http://localhost/", server).unwrap();
        let (one, three, four) = (OneHeader(large()), ThreeHeader(large()), larger());
        let request = larger();
        let call = client.echo(&request).header(&one).header(&three).header(&four);
        let answer = call.send().await.unwrap();
        let came =
            Header { one: answer.header().unwrap(), three: answer.header().unwrap(), four: answer.header().unwrap() };
        assert_eq!((answer.into_inner(), came), (larger(), header()));

        let nothing = Larger::default();
        let call = client.echo(&nothing).header(&one).header(&three).header(&four);
        let Err(CallError::Fault { fault, .. }) = call.await else { panic!("it is a fault") };
        assert_eq!(fault.detail, Detail::Declared(EchoFault::Refusal(Box::new(large()))));

        let request = PartsRequest { one: large(), two: large(), three: large(), four: larger().into() };
        let answer = client.parts(&request).await.unwrap();
        assert_eq!(answer, PartsResponse { one: large(), two: large(), three: large(), four: larger().into() });
    });
}

/// A chain of nodes, each of which holds the next one.
fn chain(length: usize) -> Shared<encoded_large::Node> {
    let mut node = Shared::new(encoded_large::Node::default());
    for number in 0..length {
        let value = encoded_large::Large { a: Some(number.to_string()), ..Default::default() };
        node = Shared::new(encoded_large::Node { value: Some(value), next: Some(node) });
    }
    node
}

/// The expected fields of a request, whose structs nest `depth` levels.
fn request() -> encoded_large::EchoRequest {
    let large = encoded_large::Large { a: Some("a".into()), ..Default::default() };
    let larger = encoded_large::Larger { b: Some(large.clone().into()), ..Default::default() };
    let mut deep = encoded_large::E0::default();
    deep.next.get_or_insert_default().next.get_or_insert_default().next.get_or_insert_default().next =
        Some(encoded_large::E4 { text: Some("text".into()), ..Default::default() }.into());
    encoded_large::EchoRequest {
        one: Some(large.clone().into()),
        four: Some(large.into()),
        larger: Some(larger.clone().into()),
        deep: Some(deep),
        node: Some(chain(100)),
        list: Some(vec![larger.clone(), larger].into()),
        ..Default::default()
    }
}

#[test]
fn large_structs_in_soap_encoding() {
    on_a_small_stack(async || {
        let server = encoded_large::FeatureServer::new(Echo);
        let client = encoded_large::FeatureClient::with_transport("http://localhost/", server).unwrap();
        let encoded_large::EchoRequest { one, two, larger, three, four, deep, node, list } = request();
        let expected = encoded_large::EchoResponse { one, two, larger, three, four, deep, node, list };
        assert_eq!(client.echo(&request()).await.unwrap(), expected);
    });
}

// ---- futures ----

/// Notes how large the futures are that answer requests.
struct Measure(Arc<AtomicUsize>);

struct Measured {
    service: Arc<dyn Service>,
    largest: Arc<AtomicUsize>,
}

impl Layer<Arc<dyn Service>> for Measure {
    type Service = Measured;

    fn layer(&self, service: Arc<dyn Service>) -> Measured {
        Measured { service, largest: self.0.clone() }
    }
}

impl Service for Measured {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        let pending = self.service.call(request, options);
        self.largest.fetch_max(size_of_val(&*pending), Ordering::Relaxed);
        pending
    }
}

/// A message of nearly 1 KiB and a header of as much.
#[test]
fn futures_hold_large_values_a_few_times_at_most() {
    const MOST_OF_A_SERVER: usize = 16 << 10;
    const MOST_OF_A_CLIENT: usize = 16 << 10;
    on_a_small_stack(async || {
        let largest = Arc::new(AtomicUsize::new(0));
        let server: Endpoint<_> = large_messages::FeatureServer::new(Echo).layer(Measure(largest.clone()));
        let client = large_messages::FeatureClient::with_transport("http://localhost/", server).unwrap();
        let (larger, block) = (larger(), OneHeader(large()));
        let request = PartsRequest { one: large(), two: large(), three: large(), four: larger.clone().into() };
        let (echo, parts) = (client.echo(&larger).header(&block).send(), client.parts(&request).send());
        let of_client = size_of_val(&echo).max(size_of_val(&parts));
        echo.await.unwrap();
        parts.await.unwrap();
        let of_server = largest.load(Ordering::Relaxed);
        println!("futures: {of_server} bytes in the server, {of_client} in the client");
        assert!((896..=MOST_OF_A_SERVER).contains(&of_server), "{of_server}");
        assert!((896..=MOST_OF_A_CLIENT).contains(&of_client), "{of_client}");
    });
}
