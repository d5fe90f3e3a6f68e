//! Tests which errors are detected in the parts of a package that a handler leaves unread.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::convert::Infallible;

use bytes::Bytes;
use castile::http::server::Endpoint;
use castile_suites::attachments::Service;
use castile_suites::attachments::contract::AttachmentsServer;
use futures_util::stream;
use http::Request;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tower_service::Service as _;

const INCLUDE: &str = "<echoValue xmlns='urn:castile:attachments'><data>\
    <x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:a'/></data></echoValue>";

/// Returns status and text of the answer to a package with these Content-IDs, whose body arrives in pieces of this many
/// bytes.
async fn answer(payload: &str, content_ids: &[&str], piece: usize) -> (u16, String) {
    let mut body = format!(
        "--b\r\nContent-Type: application/xop+xml; type=\"text/xml\"\r\nContent-ID: <r>\r\n\r\n\
         <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{payload}</s:Body></s:Envelope>"
    );
    for id in content_ids {
        body += &format!("\r\n--b\r\nContent-ID: <{id}>\r\n\r\n{}", "x".repeat(10_000));
    }
    body += "\r\n--b--\r\n";
    let pieces: Vec<_> = body.as_bytes().chunks(piece).map(Bytes::copy_from_slice).collect();
    let pieces = pieces.into_iter().map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    let request = Request::post("/")
        .header(
            "content-type",
            r#"multipart/related; boundary=b; type="application/xop+xml"; start="<r>"; start-info="text/xml""#,
        )
        .body(StreamBody::new(stream::iter(pieces)))
        .unwrap();
    let mut endpoint: Endpoint<_> = AttachmentsServer::new(Service).into();
    let response = endpoint.call(request).await.unwrap();
    let status = response.status().as_u16();
    (status, String::from_utf8_lossy(&response.into_body().collect().await.unwrap().to_bytes()).into_owned())
}

/// The handler takes the attachments but doesn't read them. The value was the first of the two parts.
#[tokio::test]
async fn a_second_part_with_a_content_id_is_an_error_in_what_a_handler_leaves() {
    for piece in [1, 1_000, usize::MAX] {
        assert_eq!(answer(INCLUDE, &["a", "b", "c"], piece).await.0, 200);
        for content_ids in [["a", "a", "c"], ["a", "b", "a"], ["a", "b", "b"], ["a", "b", "r"]] {
            let (status, text) = answer(INCLUDE, &content_ids, piece).await;
            assert_eq!(status, 500, "{content_ids:?}: {text}");
            assert!(text.contains("a second part has the Content-ID"), "{text}");
        }
    }
}

/// The handler streams the first attachment back, so the answer has begun when the second one arrives.
#[tokio::test]
async fn parts_after_a_streamed_attachment_do_not_change_the_answer() {
    let (status, text) = answer("", &["a", "a"], 1_000).await;
    assert!(status == 200 && text.contains(&"x".repeat(10_000)), "{status}: {text}");
}
