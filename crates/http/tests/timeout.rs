//! Nobody is waited for without end. The clock is paused: it jumps to the next timer when all wait.

mod support;

use std::time::Duration;

use castile_http::server::Server;
use support::{Host, echo, echo_with};
use tokio::time::{Instant, sleep};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn a_head_must_come_in_time() {
    let host = Host::start(Server::new().header_read_timeout(seconds(10)), echo());
    for before in ["", "POST / HTT"] {
        let start = Instant::now();
        let mut client = host.connect();
        client.send(before).await;
        assert_eq!(client.rest().await, "");
        assert_eq!(start.elapsed().as_secs(), 10);
    }
}

/// A byte now and then must not hold the connection: the time of a head counts from its start.
#[tokio::test(start_paused = true)]
async fn a_slow_head_gets_no_more_time() {
    let host = Host::start(Server::new().header_read_timeout(seconds(10)), echo());
    let mut client = host.connect();
    client.post("", "<a/>").await;
    client.response().await;
    let start = Instant::now();
    let slowly = async move {
        client.send("P").await;
        loop {
            sleep(seconds(3)).await;
            client.send("O").await;
        }
    };
    // Sending fails, by panic, when the connection is closed.
    assert!(
        tokio::spawn(async move { tokio::time::timeout(seconds(60), slowly).await }).await.is_err_and(|e| e.is_panic())
    );
    assert!(start.elapsed() < seconds(14));
}

/// The time of one head must not be counted against the next.
#[tokio::test(start_paused = true)]
async fn heads_in_pieces_are_served_for_ever() {
    let host = Host::start(Server::new().header_read_timeout(seconds(10)), echo());
    let mut client = host.connect();
    for _ in 0..20 {
        client.send("POST / HTTP/1.1\r\nhost: h\r\n").await;
        sleep(seconds(8)).await;
        client.send("content-type: text/xml\r\ncontent-length: 4\r\n\r\n<a/>").await;
        assert_eq!(client.response().await.1, "<a/>");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_must_come_in_time() {
    let host = Host::start(Server::new(), echo_with(|options| options.body_read_timeout = seconds(30)));
    let start = Instant::now();
    let mut client = host.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 10\r\n\r\nabc").await;
    let (head, body) = client.response().await;
    assert_eq!(start.elapsed().as_secs(), 30);
    assert!(head.starts_with("http/1.1 408 ") && head.contains("connection: close\r\n"));
    assert_eq!(body, "the message was not complete within 30s\n");
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_handler_must_answer_in_time() {
    let host = Host::start(Server::new(), echo_with(|options| options.request_timeout = seconds(20)));
    let mut client = host.connect();
    client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
    let start = Instant::now();
    client.post("soapaction: hang\r\n", "<a/>").await;
    let (head, body) = client.response().await;
    assert_eq!(start.elapsed().as_secs(), 20);
    assert!(head.starts_with("http/1.1 503 "));
    assert_eq!(body, "the service did not answer within 20s\n");
    client.post("", "<b/>").await;
    assert_eq!(client.response().await.1, "<b/>");
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_its_time() {
    let host = Host::start(Server::new().keep_alive_timeout(seconds(60)), echo());
    let mut client = host.connect();
    // Short and long waits: the connection is at rest in the long ones.
    for wait in [0, 1, 4, 6, 14, 30, 59, 59] {
        sleep(seconds(wait)).await;
        client.post("", "<a/>").await;
        assert_eq!(client.response().await.1, "<a/>");
    }
    let start = Instant::now();
    assert_eq!(client.rest().await, "");
    assert!((60..=61).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

/// A handler that is slower than the keep-alive time is not idle.
#[tokio::test(start_paused = true)]
async fn a_busy_connection_is_not_idle() {
    let host = Host::start(Server::new().keep_alive_timeout(seconds(1)), echo());
    let mut client = host.connect();
    client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
}

#[tokio::test(start_paused = true)]
async fn a_client_must_read_in_time() {
    let host = Host::start(Server::new().write_timeout(seconds(30)), echo());
    let mut client = host.connect();
    let message = "x".repeat(100_000);
    client.post("", &message).await;
    // It reads now and then: the server goes on.
    sleep(seconds(25)).await;
    assert_eq!(client.response().await.1, message);
    client.post("", &message).await;
    sleep(seconds(31)).await;
    assert!(client.rest().await.len() < message.len());
}
