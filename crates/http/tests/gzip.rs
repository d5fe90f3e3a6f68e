//! Requests and answers in gzip.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::{Read, Write};

use bytes::Bytes;
use castile_http::Body;
use castile_http::server::Endpoint;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use support::{Echo, Host, ask, echo, echo_with};
use tower_service::Service;

fn packed(text: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap().into()
}

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

fn post(coding: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::post("/echo").header("content-type", "text/xml").header("content-encoding", coding);
    request.body(Full::new(body.into())).unwrap()
}

#[tokio::test]
async fn a_request_of_gzip_is_read() {
    for coding in ["gzip", "x-gzip", "GZip"] {
        let response = ask(&echo(), post(coding, packed(b"<a/>"))).await;
        assert_eq!((response.status(), response.body().as_str()), (StatusCode::OK, "<a/>"));
        assert_eq!(response.headers().get(header::VARY), None);
    }
}

#[tokio::test]
async fn one_in_a_package_is_read() {
    let package =
        "--b\r\ncontent-type: text/xml\r\n\r\n<a/>\r\n--b\r\ncontent-type: text/plain\r\n\r\nhello\r\n--b--\r\n";
    let mut request = post("gzip", packed(package.as_bytes()));
    let headers = request.headers_mut();
    headers.insert("content-type", "multipart/related; boundary=b; type=\"text/xml\"".parse().unwrap());
    headers.insert("soapaction", "attachment".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!((response.status(), response.body().as_str()), (StatusCode::OK, "5 bytes"));
    let mut request = post("gzip", &b"<a/>"[..]);
    request.headers_mut().insert("content-type", "multipart/related; boundary=b; type=\"text/xml\"".parse().unwrap());
    let response = ask(&echo(), request).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(response.body(), "the body is declared as gzip, but is not\n");
}

#[tokio::test]
async fn rejections_state_the_reason() {
    let small = |options: &mut castile_http::server::Options| options.messages.limits.message_size = 1_000;
    let bomb = packed(&vec![b' '; 4 << 20]);
    let cut = packed(b"<a/>").slice(..15);
    for (endpoint, request, status, text) in [
        (echo(), post("gzip", &b"<a/>"[..]), 400, "the body is declared as gzip, but is not\n"),
        (echo(), post("gzip", cut), 400, "the gzip stream of the body is truncated\n"),
        (
            echo(),
            post("gzip", bomb.clone()),
            413,
            "the decompressed body is more than 100 times larger than its gzip stream, which is the limit\n",
        ),
        (
            echo_with(|options| options.gzip_ratio = 2_000),
            post("gzip", bomb),
            200,
            // The service is an echo.
            "",
        ),
        (
            echo_with(small),
            post("gzip", packed(&[b' '; 1_001])),
            413,
            "the message has more than 1000 bytes, which is the limit\n",
        ),
        (
            echo(),
            post("gzip, gzip", packed(b"<a/>")),
            415,
            "found content encoding gzip, gzip, expected gzip or none\n",
        ),
        (
            echo_with(|options| options.gzip_ratio = 0),
            post("gzip", packed(b"<a/>")),
            415,
            "found content encoding gzip, expected none\n",
        ),
    ] {
        let response = ask(&endpoint, request).await;
        assert_eq!(response.status().as_u16(), status, "{}", response.body());
        assert_eq!(response.body().trim_start_matches(' '), text);
    }
    // Two headers mean two codings.
    let mut request = post("gzip", packed(b"<a/>"));
    request.headers_mut().append("content-encoding", "br".parse().unwrap());
    assert_eq!(ask(&echo(), request).await.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

async fn answer(endpoint: &Endpoint<Echo>, accept: Option<&str>, action: &str, body: &[u8]) -> Response<Bytes> {
    let mut request = Request::post("/echo").header("content-type", "text/xml").header("soapaction", action);
    if let Some(accept) = accept {
        request = request.header("accept-encoding", accept);
    }
    let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
    let response: Response<Body> = endpoint.clone().call(request).await.unwrap();
    let (head, body) = response.into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn answers_go_as_gzip_if_both_want_that() {
    let endpoint = echo_with(|options| options.gzip_above = Some(99));
    for (accept, size, action, is_gzip) in [
        (Some("gzip, deflate"), 100, "", true),
        (Some("gzip, deflate"), 99, "", false),
        (Some("gzip;q=0"), 100, "", false),
        (None, 100, "", false),
        (Some("gzip"), 100, "fault", true),
        (Some("gzip"), 100, "charged", true),
    ] {
        let text = " ".repeat(size);
        let response = answer(&endpoint, accept, action, text.as_bytes()).await;
        assert_eq!(response.headers()[header::VARY], "Accept-Encoding");
        let coding = response.headers().get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap());
        assert_eq!(coding, is_gzip.then_some("gzip"), "{accept:?} {size} {action}");
        let body = response.body();
        let body = if is_gzip { unpacked(body) } else { String::from_utf8(body.to_vec()).unwrap() };
        assert_eq!(body, text);
    }
    let response = answer(&echo(), Some("gzip"), "", &[b' '; 1 << 20]).await;
    assert_eq!(response.headers().get(header::CONTENT_ENCODING), None);
}

/// Streams have no known size: each chunk is sent as soon as it is there.
#[tokio::test(start_paused = true)]
async fn streams_go_as_gzip_piece_by_piece() {
    let endpoint = echo_with(|options| options.gzip_above = Some(1 << 20));
    let response = answer(&endpoint, Some("gzip"), "stream 3", b"<a/>").await;
    assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
    assert_eq!(unpacked(response.body()), "piecepiecepiece");
}

/// The connection stays open if the whole body was read.
#[tokio::test]
async fn requests_of_gzip_follow_each_other() {
    let host = Host::start(castile_http::server::Server::new(), echo());
    let mut client = host.connect();
    let body = packed(b"<a/>");
    for _ in 0..3 {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client.send([head.as_bytes(), &body].concat()).await;
        let (head, text) = client.response().await;
        assert!(head.starts_with("http/1.1 200 "), "{head}");
        assert_eq!(text, "<a/>");
    }
}

/// The memory of the gzip coder is charged too.
#[tokio::test]
async fn memory_for_gzip_is_limited() {
    let endpoint = echo_with(|options| options.budget = Some(castile_budget::Budget::new(60_000)));
    let response = ask(&endpoint, post("gzip", packed(b"<a/>"))).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    // An answer is sent uncompressed instead.
    let endpoint = echo_with(|options| {
        options.budget = Some(castile_budget::Budget::new(200_000));
        options.gzip_above = Some(1);
    });
    let response = answer(&endpoint, Some("gzip"), "charged", b"<aaaa/>").await;
    assert_eq!((response.status(), response.headers().get(header::CONTENT_ENCODING)), (StatusCode::OK, None));
}
