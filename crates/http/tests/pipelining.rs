//! Requests may arrive before the previous one is answered, in any number of chunks.

mod support;

use std::time::Duration;

use castile_http::server::Server;
use support::{Host, echo, echo_with};

const HEAD: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 4\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn answers_come_in_order() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.send(format!("{HEAD}<a/>{HEAD}<b/>{HEAD}<c/>")).await;
    for message in ["<a/>", "<b/>", "<c/>"] {
        assert_eq!(client.response().await.1, message);
    }
}

/// The start of a head that arrived with the previous request must be kept while the connection is idle.
#[tokio::test(start_paused = true)]
async fn a_head_cut_anywhere_is_put_together() {
    let endpoint = echo_with(|options| options.body_rate = 0);
    let host = Host::start(Server::new().header_read_timeout(Duration::from_secs(100)), endpoint);
    let mut client = host.connect();
    for cut in [1, 10, HEAD.len() - 1, HEAD.len(), HEAD.len() + 2] {
        let next = format!("{HEAD}<b/>");
        client.send(format!("{HEAD}<a/>{}", &next[..cut])).await;
        assert_eq!(client.response().await.1, "<a/>");
        tokio::time::sleep(Duration::from_secs(20)).await;
        client.send(&next[cut..]).await;
        assert_eq!(client.response().await.1, "<b/>");
    }
}

#[tokio::test(start_paused = true)]
async fn chunks_are_one_message() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    for _ in 0..2 {
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ntransfer-encoding: chunked\r\n\r\n").await;
        for chunk in ["1\r\n<\r\n", "2\r\na/\r\n", "1\r\n>\r\n0\r\n\r\n"] {
            client.send(chunk).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(client.response().await.1, "<a/>");
    }
}

/// Head and body are written together if they are small, and separately otherwise.
#[tokio::test(start_paused = true)]
async fn answers_are_whole_however_little_a_connection_takes() {
    let host = Host::start(Server::new(), echo());
    for capacity in [7, 4096, 1 << 20] {
        let mut client = host.connect_over(capacity);
        for length in [0, 1, 100, 8 << 10, 9 << 10, 40 << 10].into_iter().chain((7900..8200).step_by(20)) {
            let message: String = ('a'..='z').cycle().take(length).collect();
            client.post("", &message).await;
            assert_eq!(client.response().await.1, message, "{length} bytes by {capacity}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_closed_its_sending_side_is_answered() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    client.finish().await;
    assert_eq!(client.response().await.1, "<a/>");
    assert_eq!(client.rest().await, "");
}
