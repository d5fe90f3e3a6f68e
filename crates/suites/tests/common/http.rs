//! Calls services without sockets.

use bytes::Bytes;
use castile::http::server::{Endpoint, Options};
use castile_soap::Service;
use castile_suites::{benchmark1, wstest};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tower_service::Service as _;

pub type Server = Endpoint<dyn Service>;

pub fn benchmark() -> Server {
    benchmark1::contract::BenchmarkServer::new(benchmark1::Service).into()
}

pub fn wstest_with(change: impl FnOnce(&mut Options)) -> Server {
    let mut options = Options::default();
    change(&mut options);
    wstest::contract::TestServiceSoapServer::with_options(wstest::Service, options).into()
}

pub fn wstest() -> Server {
    wstest_with(|_| {})
}

/// Runs a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub fn send(server: &Server, request: Request<Full<Bytes>>) -> (StatusCode, String, String) {
    let (head, body) = block_on(server.clone().call(request)).unwrap().into_parts();
    let head: Response<()> = Response::from_parts(head, ());
    let content_type = head.headers()["content-type"].to_str().unwrap().to_owned();
    let body = block_on(body.collect()).unwrap().to_bytes();
    (head.status(), content_type, String::from_utf8(body.to_vec()).unwrap())
}

/// Posts a message as most clients do.
pub fn post(server: &Server, message: impl Into<Bytes>) -> (StatusCode, String) {
    let (status, content_type, answer) = send(server, request("text/xml; charset=utf-8", message.into()));
    let is_message = status == StatusCode::OK || status == StatusCode::INTERNAL_SERVER_ERROR;
    assert_eq!(content_type, if is_message { "text/xml; charset=utf-8" } else { "text/plain; charset=utf-8" });
    (status, answer)
}

/// Posts a body with this media type, and expects an answer.
pub fn post_as(server: &Server, content_type: &str, body: Bytes) -> String {
    let (status, _, answer) = send(server, request(content_type, body));
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer
}

fn request(content_type: &str, body: Bytes) -> Request<Full<Bytes>> {
    let request = Request::post("/").header("content-type", content_type).header("soapaction", "\"\"");
    request.body(Full::new(body)).unwrap()
}

/// Returns the code and the reason of a fault.
pub fn fault(answer: &str) -> (String, String) {
    let node = super::layout::Node::parse(answer.as_bytes());
    // There may be a header before the body.
    let fault = &node.children[node.children.len() - 1].children[0];
    assert_eq!((fault.namespace.as_str(), fault.local.as_str()), (super::layout::SOAP, "Fault"), "{answer}");
    let text = |name: &str| fault.children.iter().find(|child| child.local == name).unwrap().text.clone();
    (text("faultcode"), text("faultstring"))
}
