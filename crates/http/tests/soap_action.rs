//! The SOAPAction header tells the intent of a request (SOAP 1.1 §6.1.1).

mod support;

use http::{HeaderValue, StatusCode};
use support::{ask, echo, post};

#[tokio::test]
async fn quotes_are_not_part_of_the_action() {
    for header in ["\"action\"", "action", " \"action\" "] {
        let mut request = post("<a/>");
        request.headers_mut().insert("soapaction", header.parse().unwrap());
        assert_eq!(ask(&echo(), request).await.body(), "[action]", "{header}");
    }
}

#[tokio::test]
async fn an_action_in_no_encoding_is_refused() {
    let mut request = post("<a/>");
    request.headers_mut().insert("soapaction", HeaderValue::from_bytes(b"\"\xff\"").unwrap());
    assert_eq!(ask(&echo(), request).await.status(), StatusCode::BAD_REQUEST);
}
