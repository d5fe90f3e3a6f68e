//! Only text/xml and application/soap+xml, in a known encoding, are messages (SOAP 1.1 §6, SOAP 1.2 Part 2 §7.1.4).

mod support;

use http::StatusCode;
use support::{ask, echo, post};

#[tokio::test]
async fn another_content_type_is_refused_in_words() {
    for found in ["application/soap", "text/plain", "application/xml; charset=utf-8"] {
        let mut request = post("<a/>");
        request.headers_mut().insert("content-type", found.parse().unwrap());
        let response = ask(&echo(), request).await;
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
        let expected = format!(
            "found content type {found}, expected text/xml (SOAP 1.1), application/soap+xml (SOAP 1.2) or multipart/related with either\n"
        );
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
    assert_eq!(response.body(), "found charset \"klingon\", expected a known one, such as utf-8 or utf-16\n");
}

#[tokio::test]
async fn a_content_coding_is_refused() {
    let mut request = post("<a/>");
    request.headers_mut().insert("content-encoding", "br".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(response.body(), "found content encoding br, expected gzip or none\n");
    assert_eq!(response.headers()["accept-encoding"], "gzip, identity");
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

#[tokio::test]
async fn each_version_has_its_media_type() {
    for (content_type, answered) in [
        ("text/xml", "text/xml; charset=utf-8"),
        ("application/soap+xml", "application/soap+xml; charset=utf-8"),
        ("Application/SOAP+XML;charset=\"UTF-8\"; action=\"urn:a\"", "application/soap+xml; charset=utf-8"),
    ] {
        let mut request = post("<a/>");
        request.headers_mut().insert("content-type", content_type.parse().unwrap());
        let response = ask(&echo(), request).await;
        // The toy service answers in the version of the media type. Real services use the version of the envelope.
        assert_eq!(response.headers()["content-type"], answered);
    }
}
