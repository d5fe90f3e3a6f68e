//! The SOAPAction header (SOAP 1.1 §6.1.1) or the media type (SOAP 1.2 Part 2 §6.5) declares the intent of a request.

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

#[tokio::test]
async fn the_media_type_of_soap12_has_the_action() {
    for (content_type, header, expected) in [
        ("application/soap+xml; action=\"action\"", None, "[action]"),
        ("application/soap+xml; action=action; charset=utf-8", Some("other"), "[action]"),
        ("application/soap+xml; action=\"\"", Some("action"), "<a/>"),
        // A client that changed only the media type.
        ("application/soap+xml", Some("action"), "[action]"),
        ("application/soap+xml", None, "<a/>"),
        ("text/xml; action=action", None, "<a/>"),
    ] {
        let mut request = post("<a/>");
        request.headers_mut().insert("content-type", content_type.parse().unwrap());
        if let Some(header) = header {
            request.headers_mut().insert("soapaction", header.parse().unwrap());
        }
        assert_eq!(ask(&echo(), request).await.body(), expected, "{content_type}");
    }
}
