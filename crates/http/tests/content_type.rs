//! Only text/xml, in an encoding that is known, is a SOAP 1.1 message (SOAP 1.1 §6).

mod support;

use http::StatusCode;
use support::{ask, echo, post};

#[tokio::test]
async fn another_content_type_is_refused_in_words() {
    for found in ["application/soap+xml", "text/plain", "application/xml; charset=utf-8"] {
        let mut request = post("<a/>");
        request.headers_mut().insert("content-type", found.parse().unwrap());
        let response = ask(&echo(), request).await;
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
        let expected = format!("found content type {found}, expected text/xml (SOAP 1.1)\n");
        assert_eq!(response.body(), &expected);
    }
}

#[tokio::test]
async fn no_content_type_is_refused() {
    let mut request = post("<a/>");
    request.headers_mut().remove("content-type");
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(response.body().starts_with("found no content type"));
}

#[tokio::test]
async fn a_charset_that_is_not_known_is_refused() {
    let mut request = post("<a/>");
    request.headers_mut().insert("content-type", "text/xml; charset=klingon".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(response.body(), "found charset \"klingon\", expected one that is known, such as utf-8 or utf-16\n");
}

#[tokio::test]
async fn a_content_coding_is_refused() {
    let mut request = post("<a/>");
    request.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(response.body(), "found content encoding gzip, expected none\n");
}

#[tokio::test]
async fn a_message_is_answered_as_a_message() {
    let mut request = post("<a/>");
    request.headers_mut().insert("content-type", "Text/XML; charset=\"UTF-8\"".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/xml; charset=utf-8");
    assert_eq!(response.body(), "<a/>");
}
