//! A message that is larger than allowed is rejected before it fills memory.

mod support;

use castile_http::server::Server;
use http::StatusCode;
use support::{Host, ask, echo_with, post};

#[tokio::test]
async fn a_message_may_be_as_large_as_allowed() {
    let endpoint = echo_with(|options| options.messages.limits.message_size = 4);
    assert_eq!(ask(&endpoint, post("<a/>")).await.status(), StatusCode::OK);
    let response = ask(&endpoint, post("<ab/>")).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(response.body(), "the message has 5 bytes, expected at most 4\n");
}

/// The client continues to send after the rejection. It must still receive the response, not a reset connection.
#[tokio::test(start_paused = true)]
async fn the_refusal_reaches_a_client_that_is_still_sending() {
    let host = Host::start(Server::new(), echo_with(|options| options.messages.limits.message_size = 4));
    let mut client = host.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 1000000\r\n\r\n").await;
    client.send(vec![b'x'; 1_000_000]).await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 413 "));
    assert_eq!(body, "the message has 1000000 bytes, expected at most 4\n");
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_message_of_unknown_length_is_refused_when_it_has_grown_too_large() {
    let host = Host::start(Server::new(), echo_with(|options| options.messages.limits.message_size = 4));
    let mut client = host.connect();
    let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ntransfer-encoding: chunked\r\n\r\n";
    client.send(format!("{head}3\r\nabc\r\n3\r\ndef\r\n")).await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 413 "));
    assert_eq!(body, "the message has more than 4 bytes, which is the limit\n");
}
