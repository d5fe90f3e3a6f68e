//! HTTP/1.0 clients that ask for it, such as `ab -k`, keep their connection.

mod support;

use castile_http::server::Server;
use support::{Host, echo};

#[tokio::test(start_paused = true)]
async fn keep_alive_is_granted_with_a_header() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    let head = "POST / HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n";
    for _ in 0..3 {
        client.send(format!("{head}<a/>")).await;
        let (head, body) = client.response().await;
        assert!(head.contains("connection: keep-alive\r\n"), "{head}");
        assert_eq!(body, "<a/>");
    }
}

#[tokio::test(start_paused = true)]
async fn without_it_the_connection_is_closed() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.send("POST / HTTP/1.0\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
    assert_eq!(client.rest().await, "");
}
