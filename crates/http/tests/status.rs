//! A reply has the status 200, a fault 500 (SOAP 1.1 §6.2) or 400 (SOAP 1.2 Part 2 §7.5.2.2). Other methods get 405.

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
async fn the_senders_fault_is_a_bad_request_in_soap12() {
    for (content_type, action, status) in [
        ("text/xml", "sender's fault", StatusCode::INTERNAL_SERVER_ERROR),
        ("text/xml", "fault", StatusCode::INTERNAL_SERVER_ERROR),
        ("application/soap+xml", "sender's fault", StatusCode::BAD_REQUEST),
        ("application/soap+xml", "fault", StatusCode::INTERNAL_SERVER_ERROR),
    ] {
        let mut request = post("<fault/>");
        request.headers_mut().insert("content-type", content_type.parse().unwrap());
        request.headers_mut().insert("soapaction", action.parse().unwrap());
        let response = ask(&echo(), request).await;
        assert_eq!(response.status(), status, "{content_type} {action}");
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with(content_type));
    }
}

#[tokio::test]
async fn other_methods_get_an_explanation() {
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let request = Request::builder().method(method).uri("/echo?xsd").body(String::new()).unwrap();
        let response = ask(&echo(), request).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
        assert!(response.body().contains("POST a message") && response.body().contains("?wsdl"));
    }
}
