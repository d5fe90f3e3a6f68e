//! A reply is 200, a fault 500 (SOAP 1.1 §6.2); what is no request at all is 405.

mod support;

use http::{Method, Request, StatusCode};
use support::{ask, echo, post};

#[tokio::test]
async fn a_fault_is_an_internal_server_error_with_a_message() {
    let mut request = post("<fault/>");
    request.headers_mut().insert("soapaction", "fault".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(response.headers()["content-type"], "text/xml; charset=utf-8");
    assert_eq!(response.body(), "<fault/>");
}

#[tokio::test]
async fn other_methods_are_told_what_to_do() {
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let request = Request::builder().method(method).uri("/echo?xsd").body(String::new()).unwrap();
        let response = ask(&echo(), request).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
        assert!(response.body().contains("POST a message") && response.body().contains("?wsdl"));
    }
}
