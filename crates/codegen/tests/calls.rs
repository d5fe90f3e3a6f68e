//! Generated clients at work: what a call may say for itself, and what it tells of an answer.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use castile::http::Body;
use castile::http::server::{Endpoint, Options, Routes, Server};
use castile::http::{ErrorKind, client};
use castile::soap::addressing::Version as Addressing;
use castile::{Any, AnyHeader, CallError, ClientOptions, Fault, FaultCode, Header, Request, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

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

generated!(header_blocks);

use header_blocks::{EchoFault, Feature, FeatureClient, FeatureServer, Session, Value};

fn value(text: &str) -> Value {
    Value { text: text.to_owned() }
}

fn block(xml: &str) -> AnyHeader {
    AnyHeader::from(Any::parse(xml).unwrap())
}

/// Notes what is sent, and answers with a status, headers and a message.
#[derive(Clone, Default)]
struct Says {
    status: StatusCode,
    headers: Vec<(&'static str, &'static str)>,
    answer: &'static str,
    sent: Arc<Mutex<Vec<(http::HeaderMap, String)>>>,
}

const ANSWER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
    <echoResponse xmlns='urn:header_blocks'><text>t</text></echoResponse></s:Body></s:Envelope>";

impl Says {
    fn ok() -> Self {
        Says { headers: vec![("content-type", "text/xml"), ("x-asked", "once")], answer: ANSWER, ..Says::default() }
    }

    fn client(&self) -> FeatureClient<Self> {
        FeatureClient::with_transport("http://localhost/", self.clone()).unwrap()
    }

    /// What was sent last.
    fn sent(&self) -> (http::HeaderMap, String) {
        self.sent.lock().unwrap().pop().unwrap()
    }
}

impl Service<http::Request<Body>> for Says {
    type Response = http::Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<http::Response<Full<Bytes>>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (head, body) = request.into_parts();
        let body = futures_util::FutureExt::now_or_never(body.collect()).unwrap().unwrap_or_else(|_| panic!("a body"));
        self.sent.lock().unwrap().push((head.headers, String::from_utf8(body.to_bytes().to_vec()).unwrap()));
        let mut response = http::Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(*name, *value);
        }
        ready(Ok(response.body(Full::from(self.answer)).unwrap()))
    }
}

fn values<'h>(headers: &'h http::HeaderMap, name: &str) -> Vec<&'h str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
}

#[tokio::test]
async fn header_blocks_of_a_call_follow_those_of_its_client() {
    let says = Says::ok();
    let options = ClientOptions::default().with_header(block("<a xmlns='urn:a'/>"));
    let client = says.client().with_options(options);
    let session = Session { id: 1, user: "Ada".into() };
    client.echo(&value("t")).header(&session).header(&block("<b xmlns='urn:b'/>")).await.unwrap();
    let header = "<soap:Header><a xmlns='urn:a'/><session xmlns=\"urn:header_blocks\" id=\"1\"><user>Ada</user></session>\
        <b xmlns='urn:b'/></soap:Header>";
    let (_, message) = says.sent();
    assert!(message.contains(header), "{message}");
    // They were that call's alone.
    client.echo(&value("t")).await.unwrap();
    let (_, message) = says.sent();
    assert!(message.contains("<soap:Header><a xmlns='urn:a'/></soap:Header>"), "{message}");
}

/// They were sent twice, and a server refuses two of a name.
#[tokio::test]
async fn a_header_block_of_a_call_replaces_that_of_its_client() {
    let says = Says::ok();
    let default = Session { id: 1, user: "Ada".into() };
    let options = ClientOptions::default().with_header(default).with_header(block("<a xmlns='urn:a'/>"));
    let client = says.client().with_options(options);
    let own = Session { id: 2, user: "Bob".into() }.must_understand();
    client.echo(&value("t")).header(&own).header(&block("<a xmlns='urn:other'/>")).await.unwrap();
    let (_, message) = says.sent();
    assert!(!message.contains("Ada") && message.contains("Bob"), "{message}");
    assert!(message.contains("<a xmlns='urn:a'/>") && message.contains("<a xmlns='urn:other'/>"), "{message}");
    // Two of a call are two.
    client.echo(&value("t")).header(&block("<b xmlns='u'>1</b>")).header(&block("<b xmlns='u'>2</b>")).await.unwrap();
    let (_, message) = says.sent();
    assert!(message.contains("<b xmlns='u'>1</b><b xmlns='u'>2</b>"), "{message}");
}

#[tokio::test]
async fn http_headers_of_a_call_replace_those_of_its_client() {
    let says = Says::ok();
    let (name, other) = (HeaderName::from_static("x-tenant"), HeaderName::from_static("x-trace"));
    let options = support::options(|options| {
        options.http_headers.append(name.clone(), HeaderValue::from_static("one"));
        options.http_headers.append(name.clone(), HeaderValue::from_static("two"));
        options.http_headers.insert(other.clone(), HeaderValue::from_static("trace"));
        // What the message is, is said by the engine.
        options.http_headers.insert("content-type", HeaderValue::from_static("text/plain"));
    });
    let client = says.client().with_options(options);
    client.echo(&value("t")).await.unwrap();
    let (headers, _) = says.sent();
    assert_eq!((values(&headers, "x-tenant"), values(&headers, "x-trace")), (vec!["one", "two"], vec!["trace"]));
    assert_eq!(values(&headers, "content-type"), ["text/xml; charset=utf-8"]);
    let request = value("t");
    let call = client.echo(&request).http_header(name.clone(), HeaderValue::from_static("three"));
    call.http_header(name, HeaderValue::from_static("four")).await.unwrap();
    let (headers, _) = says.sent();
    assert_eq!((values(&headers, "x-tenant"), values(&headers, "x-trace")), (vec!["three", "four"], vec!["trace"]));
}

#[tokio::test]
async fn a_call_may_have_another_action() {
    let says = Says::ok();
    says.client().echo(&value("t")).await.unwrap();
    assert_eq!(values(&says.sent().0, "soapaction"), ["\"echo\""]);
    says.client().echo(&value("t")).soap_action("urn:insists").await.unwrap();
    assert_eq!(values(&says.sent().0, "soapaction"), ["\"urn:insists\""]);
    // Whoever says one means it, whatever WS-Addressing says.
    let client =
        says.client().with_options(support::options(|options| options.addressing = Some(Addressing::Recommendation)));
    client.echo(&value("t")).soap_action("urn:insists").await.unwrap();
    let (headers, message) = says.sent();
    assert_eq!(values(&headers, "soapaction"), ["\"urn:insists\""]);
    assert!(message.contains(">echo</wsa:Action>"), "{message}");
}

#[tokio::test]
async fn a_response_has_its_http_status_and_headers() {
    let says = Says::ok();
    let response = says.client().echo(&value("t")).send().await.unwrap();
    assert_eq!(response.status(), Some(StatusCode::OK));
    assert_eq!(response.http_headers()["x-asked"], "once");
    assert_eq!(response.into_inner(), value("t"));
    // One to an operation without a response, too.
    let says = Says { status: StatusCode::ACCEPTED, answer: "", ..Says::ok() };
    let response = says.client().end().send().await.unwrap();
    assert_eq!(response.status(), Some(StatusCode::ACCEPTED));
}

#[tokio::test]
async fn errors_have_the_status_and_the_headers_of_the_answer() {
    let headers = vec![("www-authenticate", "Basic realm=\"here\""), ("content-type", "text/html")];
    let says = Says { status: StatusCode::UNAUTHORIZED, headers, answer: "<p>who are you?</p>", ..Says::default() };
    let error = says.client().echo(&value("t")).await.unwrap_err();
    let CallError::Transport(transport) = &error else { panic!("{error:?}") };
    assert_eq!(transport.kind(), ErrorKind::Status(StatusCode::UNAUTHORIZED));
    assert_eq!(error.status(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(error.http_headers().unwrap()["www-authenticate"], "Basic realm=\"here\"");
    assert!(error.fault().is_none());

    // An answer that the contract doesn't allow.
    let says = Says { answer: "<a/>", ..Says::ok() };
    let error = says.client().echo(&value("t")).await.unwrap_err();
    assert!(matches!(error, CallError::Protocol { .. }), "{error:?}");
    assert_eq!(
        (error.status(), &error.http_headers().unwrap()["x-asked"]),
        (Some(StatusCode::OK), &"once".parse().unwrap())
    );

    // A fault, with whatever status it comes.
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <faultcode>s:Server</faultcode><faultstring>no</faultstring></s:Fault></s:Body></s:Envelope>";
    for status in [StatusCode::INTERNAL_SERVER_ERROR, StatusCode::OK] {
        let says = Says { status, answer: fault, ..Says::ok() };
        let error = says.client().echo(&value("t")).await.unwrap_err();
        let fault = error.fault().unwrap();
        assert_eq!(fault.code, FaultCode::Receiver);
        assert_eq!(fault.http_headers()["x-asked"], "once");
        assert_eq!((error.status(), error.http_headers().unwrap().len()), (Some(status), 2));
    }

    // No answer came.
    let unwritable = Says::ok().client().echo(&value("\u{0}")).await.unwrap_err();
    assert!(matches!(unwritable, CallError::Protocol { .. }) && unwritable.status().is_none(), "{unwritable:?}");
    let refusing = support::refusing();
    let url = format!("http://{}/", refusing.local_addr().unwrap());
    let unreached = FeatureClient::new(&url).unwrap().echo(&value("t")).await.unwrap_err();
    assert!(unreached.status().is_none() && unreached.http_headers().is_none(), "{unreached:?}");
}

/// Answers with what it knows of whoever asks, or not at all.
#[derive(Clone, Default)]
struct Knowing(Arc<Mutex<Option<Known>>>);

/// Who asked, and until when.
type Known = (Option<IpAddr>, Option<Instant>);

impl Feature for Knowing {
    async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault<EchoFault>> {
        *self.0.lock().unwrap() = Some((request.peer(), request.deadline()));
        if request.get_ref().text == "wait" {
            std::future::pending::<()>().await;
        }
        Ok(request.into_inner().into())
    }

    async fn begin(&self, _: Request<()>) -> Result<Response<()>, Fault> {
        Ok(().into())
    }

    async fn ask(&self, request: Request<Value>) -> Result<Response<Value>, Fault> {
        Ok(request.into_inner().into())
    }

    async fn end(&self, _: Request<()>) -> Result<Response<()>, Fault> {
        Ok(().into())
    }
}

/// Starts a server on a port of its own.
async fn serve(service: Knowing, options: Options) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let endpoint = Endpoint::from(FeatureServer::with_options(service, options));
    tokio::spawn(Server::new().serve(listener, Routes::new().route("/", endpoint), std::future::pending()));
    url
}

#[tokio::test]
async fn a_method_knows_who_asks_and_until_when() {
    let knowing = Knowing::default();
    let mut options = Options::default();
    options.request_timeout = Duration::from_secs(7);
    let client = FeatureClient::new(&serve(knowing.clone(), options).await).unwrap();
    let before = Instant::now();
    client.echo(&value("t")).await.unwrap();
    let (peer, deadline) = knowing.0.lock().unwrap().take().unwrap();
    assert_eq!(peer, Some(IpAddr::from([127, 0, 0, 1])));
    let left = deadline.unwrap() - before;
    assert!((Duration::from_secs(7)..Duration::from_secs(60)).contains(&left), "{left:?}");

    // Where there is no connection, nobody is known.
    let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(knowing.clone())).unwrap();
    client.echo(&value("t")).await.unwrap();
    let (peer, deadline) = knowing.0.lock().unwrap().take().unwrap();
    assert!(peer.is_none() && deadline.is_some());
}

#[tokio::test]
async fn a_call_has_a_time_of_its_own() {
    let url = serve(Knowing::default(), Options::default()).await;
    let of_client = support::options(|options| options.timeout = Some(Duration::from_millis(50)));
    let client = FeatureClient::new(&url).unwrap();
    let hasty = client.clone().with_options(of_client);
    let request = value("wait");
    for (call, limit) in
        [(client.echo(&request).timeout(Duration::from_millis(60)), "60ms"), (hasty.echo(&request), "50ms")]
    {
        let error = call.await.unwrap_err();
        let CallError::Transport(transport) = &error else { panic!("{error:?}") };
        assert_eq!(transport.kind(), ErrorKind::Timeout);
        let expected = format!("no answer from {url} within {limit}, the time limit of this call");
        assert_eq!(error.to_string(), expected);
        assert_eq!(transport.url().unwrap(), &url[..]);
        assert!(error.status().is_none());
    }
    // Longer than the client's own.
    hasty.echo(&value("t")).timeout(Duration::from_secs(60)).await.unwrap();
}

/// The time includes that of the answer's envelope, which may come bit by bit.
#[tokio::test]
async fn an_answer_that_stalls_ends_with_the_time_of_its_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = FeatureClient::new(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let stalls = async {
        let mut stream = asked(&listener).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: 1000\r\n\r\n<s:Envelope";
        stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(stream.read(&mut [0; 100]).await.unwrap_or_default(), 0, "the connection is closed");
    };
    let request = value("t");
    let (answer, ()) = tokio::join!(client.echo(&request).timeout(Duration::from_secs(2)).send(), stalls);
    let error = answer.unwrap_err();
    assert!(matches!(&error, CallError::Transport(error) if error.kind() == ErrorKind::Timeout), "{error:?}");
}

/// A connection on which a request came.
async fn asked(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"</soap:Envelope>") {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.unwrap();
        assert!(length > 0, "the connection is closed");
        request.extend_from_slice(&piece[..length]);
    }
    stream
}

/// A server that works on for nobody would find out when it writes its answer at the earliest.
#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let transport = client::Transport::new();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = FeatureClient::with_transport(&url, transport).unwrap();
    let request = value("t");
    let mut call = Box::pin(client.echo(&request).send());
    let mut stream = tokio::select! {
        stream = asked(&listener) => stream,
        answer = &mut call => panic!("{answer:?}"),
    };
    drop(call);
    let closed = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut [0; 1])).await;
    assert_eq!(closed.unwrap().unwrap_or_default(), 0);
    // The client goes on with another one.
    let answer = async {
        let mut stream = asked(&listener).await;
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: {}\r\n\r\n{ANSWER}", ANSWER.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let (again, _stream) = tokio::join!(async { client.echo(&request).await }, answer);
    assert_eq!(again.unwrap(), request);
}
