//! A body that breaks off has no effect on other requests.

mod support;

use castile_http::server::Server;
use support::{Host, echo};

#[tokio::test(start_paused = true)]
async fn the_client_gets_an_answer_if_it_still_listens() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 10\r\n\r\nabc").await;
    client.finish().await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 400 "));
    assert!(body.starts_with("the message broke off after 3 bytes: "), "{body}");
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_leaves_its_place_to_the_next() {
    let host = Host::start(Server::new().max_connections(1).max_requests_in_flight(1), echo());
    for _ in 0..3 {
        let mut client = host.connect();
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 10\r\n\r\nabc").await;
    }
    let mut client = host.connect();
    client.post("", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
}

/// Regression: the connection was closed without an answer.
#[tokio::test(start_paused = true)]
async fn a_failure_before_the_answer_begins_is_answered() {
    let host = Host::start(Server::new(), echo());
    for (action, head, content, status, expected) in [
        ("back", "Content-Transfer-Encoding: base64", "!!", "500", "base64"),
        ("back", "Content-Transfer-Encoding: quoted-printable", "==", "500", "quoted-printable"),
        ("back", "Content-Transfer-Encoding: base64", "eHg=", "200", ""),
        ("broken stream", "a: b", "x", "500", "the answer broke off"),
    ] {
        let body = format!("--b\r\n\r\n<a/>\r\n--b\r\nContent-ID: <x@y>\r\n{head}\r\n\r\n{content}\r\n--b--\r\n");
        let length = body.len();
        let mut client = host.connect();
        let media_type = "multipart/related; type=\"text/xml\"; boundary=b";
        client
            .send(format!(
                "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: {media_type}\r\nsoapaction: \"{action}\"\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{body}"
            ))
            .await;
        let answer = client.rest().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(expected), "{head}: {answer}");
        assert!(!answer.contains("secret-password"), "{answer}");
    }
}
