//! More than the server may do at once is refused quickly, or waits outside.

mod support;

use std::io;
use std::time::Duration;

use castile_http::server::Server;
use support::{Host, echo};
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_are_told_to_come_again() {
    let host = Host::start(Server::new().max_requests_in_flight(2), echo());
    let mut busy = [host.connect(), host.connect()];
    for client in &mut busy {
        client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    }
    sleep(Duration::from_secs(1)).await;
    let mut client = host.connect();
    client.post("", "<b/>").await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 503 ") && head.contains("retry-after: 1\r\n"), "{head}");
    assert_eq!(body, "too many requests at once, try again later\n");
    for client in &mut busy {
        assert_eq!(client.response().await.1, "<a/>");
    }
    // The connection that was refused goes on.
    client.post("", "<c/>").await;
    assert_eq!(client.response().await.1, "<c/>");
}

/// Reset, it might never read why.
#[tokio::test(start_paused = true)]
async fn a_slow_sender_is_heard_out_when_it_was_refused() {
    const HEAD: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 100\r\n\r\n";
    let host = Host::start(Server::new().max_requests_in_flight(0).write_timeout(Duration::from_secs(30)), echo());
    let mut client = host.connect();
    client.send(HEAD).await;
    for _ in 0..20 {
        sleep(Duration::from_secs(1)).await;
        client.send("xxxxx").await;
    }
    let (head, _) = client.response().await;
    assert!(head.starts_with("http/1.1 503 "), "{head}");
    assert_eq!(client.rest().await, "");

    // Not for ever; and sending fails, by panic, when the connection is closed.
    let mut client = host.connect();
    let start = Instant::now();
    let trickle = async move {
        client.send(HEAD).await;
        loop {
            sleep(Duration::from_secs(1)).await;
            client.send("x").await;
        }
    };
    let trickle = tokio::spawn(async move { timeout(Duration::from_secs(90), trickle).await });
    assert!(trickle.await.is_err_and(|error| error.is_panic()));
    assert!((29..=32).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_limit_wait() {
    let host = Host::start(Server::new().max_connections(1), echo());
    let mut first = host.connect();
    first.post("", "<a/>").await;
    assert_eq!(first.response().await.1, "<a/>");
    let mut second = host.connect();
    second.post("", "<b/>").await;
    assert!(timeout(Duration::from_secs(30), second.response()).await.is_err());
    drop(first);
    assert_eq!(second.response().await.1, "<b/>");
}

#[tokio::test(start_paused = true)]
async fn accepting_goes_on_after_errors() {
    let host = Host::start(Server::new(), echo());
    for _ in 0..5 {
        host.fail_accept(io::Error::from_raw_os_error(24)); // EMFILE
        host.fail_accept(io::ErrorKind::ConnectionAborted.into());
    }
    let mut client = host.connect();
    client.post("", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
}
