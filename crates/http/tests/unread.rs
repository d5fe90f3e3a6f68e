//! The rest of a rejected request: the answer tells whether the connection stays open, and what still arrives is read
//! for a limited time.

mod support;

use std::time::Duration;

use castile_http::server::Server;
use support::{Host, echo, echo_with};
use tokio::time::{Instant, sleep, timeout};

const HEAD: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/plain\r\n";

/// Regression: the connection was closed, but the answer did not announce it.
#[tokio::test(start_paused = true)]
async fn a_rejection_before_the_end_of_a_body_announces_the_close() {
    let host = Host::start(Server::new(), echo());
    let length = "content-length: 1000000\r\n";
    let xml = HEAD.replace("plain", "xml");
    let package = HEAD.replace("text/plain", "multipart/related; boundary=b") + length;
    for (head, status) in [
        (format!("{HEAD}{length}"), "415"),
        (format!("{HEAD}transfer-encoding: chunked\r\n"), "415"),
        (format!("{xml}{length}content-encoding: br\r\n"), "415"),
        (format!("{xml}{length}").replace("POST", "PUT"), "405"),
        (format!("{xml}{length}").replace("host: h", "host: h, i"), "400"),
        (format!("{package}\r\n--b\r\ncontent-type: text/plain\r\n\r\nx\r\n--b\r\n"), "415"),
        (format!("{package}\r\n--b\r\n no head\r\n\r\n"), "500"),
    ] {
        for begun in ["", "1\r\nx\r\n"] {
            let mut client = host.connect();
            client.send(format!("{head}\r\n{begun}")).await;
            let (answer, _) = client.response().await;
            assert!(answer.starts_with(&format!("http/1.1 {status} ")), "{head}: {answer}");
            assert!(answer.contains("\r\nconnection: close\r\n"), "{head}: {answer}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_after_the_whole_body_keeps_the_connection() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    for body in ["content-length: 5\r\n\r\nhello", "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"] {
        client.send(format!("{HEAD}{body}")).await;
        let (answer, _) = client.response().await;
        assert!(answer.starts_with("http/1.1 415 ") && !answer.contains("connection: close"), "{answer}");
    }
    client.post("", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
}

/// Regression: it was read for 30 s.
#[tokio::test(start_paused = true)]
async fn bytes_after_a_rejection_are_read_for_a_short_time() {
    let host = Host::start(Server::new(), echo_with(|options| options.messages.limits.message_size = 4));
    let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 4000000000\r\n\r\n";
    let mut client = host.connect();
    client.send(head).await;
    assert!(client.response().await.0.starts_with("http/1.1 413 "));
    let start = Instant::now();
    while client.try_send([b'x'; 100]).await.is_ok() && start.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(start.elapsed().as_secs(), 5);

    let mut client = host.connect();
    client.send(head).await;
    assert!(client.response().await.0.starts_with("http/1.1 413 "));
    let mut sent = 0;
    while client.try_send([b'x'; 10_000]).await.is_ok() && sent < 100_000_000 {
        sent += 10_000;
    }
    assert!((16_000_000..18_000_000).contains(&sent), "{sent}");
}

/// hyper reads any number of zeros before the size of a chunk. They don't count as progress of the body.
#[tokio::test(start_paused = true)]
async fn zeros_before_the_size_of_a_chunk_are_no_progress() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.send(format!("{}transfer-encoding: chunked\r\n\r\n", HEAD.replace("plain", "xml"))).await;
    let start = Instant::now();
    let zeros = async {
        while client.try_send([b'0'; 10_000]).await.is_ok() && start.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let _ = timeout(Duration::from_secs(11), zeros).await;
    assert!(client.response().await.0.starts_with("http/1.1 408 "));
    assert_eq!(start.elapsed().as_secs(), 11);
}
