//! Connections from a proxy that reports their clients.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use castile_http::server::{ProxyProtocol, Routes, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Starts a server that trusts `proxy`.
async fn served(server: Server, proxy: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let listener = ProxyProtocol::new(listener, [proxy]).unwrap();
    tokio::spawn(server.serve(listener, Routes::new().route("/peer", support::peers()), std::future::pending()));
    address
}

async fn open(address: &str, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(sent).await.unwrap();
    stream
}

/// Returns the answer to a request on a connection, or nothing if the connection is closed.
async fn asked(stream: &mut TcpStream) -> String {
    let request = "POST /peer HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>";
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    while !answer.ends_with(b".") {
        match stream.read_buf(&mut answer).await {
            Ok(1..) => {}
            _ => return String::new(),
        }
    }
    let answer = String::from_utf8(answer).unwrap();
    answer.split("\r\n\r\n").nth(1).unwrap().to_owned()
}

const V1: &[u8] = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x02\xc6\x33\x64\x01\0\x01\0\x02";

#[tokio::test]
async fn the_peer_is_the_one_that_the_proxy_names() {
    let address = served(Server::new(), "127.0.0.0/8").await;
    for (header, expected) in [
        (V1, "192.0.2.1."),
        (V2, "192.0.2.2."),
        (&b"PROXY UNKNOWN\r\n"[..], "127.0.0.1."),
        (&b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"[..], "127.0.0.1."),
    ] {
        let mut stream = open(&address, header).await;
        assert_eq!(asked(&mut stream).await, expected);
        // The client stays the same.
        assert_eq!(asked(&mut stream).await, expected);
    }
    // The header arrives byte by byte.
    let mut stream = open(&address, b"").await;
    stream.set_nodelay(true).unwrap();
    for byte in V1 {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(asked(&mut stream).await, "192.0.2.1.");
}

#[tokio::test]
async fn others_are_closed() {
    let address = served(Server::new(), "127.0.0.0/8").await;
    for header in [&b""[..], b"PROXY NONSENSE\r\n", b"\r\n\r\n\0\r\nQUIT\n\x31\0\0\0"] {
        assert_eq!(asked(&mut open(&address, header).await).await, "", "{header:?}");
    }
    // An untrusted peer may not send the header.
    let address = served(Server::new(), "192.0.2.7").await;
    assert_eq!(asked(&mut open(&address, V1).await).await, "");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = ProxyProtocol::new(listener, ["proxy.example"]).unwrap_err();
    assert_eq!(error.to_string(), "found \"proxy.example\", expected an address or a network such as 10.0.0.0/24");
}

/// A proxy that sends nothing is closed like any silent client.
#[tokio::test]
async fn a_header_that_does_not_come_is_not_waited_for() {
    let server = Server::new().header_read_timeout(std::time::Duration::from_millis(200));
    let address = served(server, "127.0.0.0/8").await;
    let mut stream = open(&address, &V1[..20]).await;
    assert_eq!(stream.read(&mut [0; 100]).await.unwrap(), 0);
}

/// All connections come from the proxy, but the limit counts per client.
#[tokio::test]
async fn limits_per_peer_use_the_address_that_the_proxy_names() {
    let address = served(Server::new().max_connections_per_peer(1), "127.0.0.0/8").await;
    let mut first = open(&address, V1).await;
    assert_eq!(asked(&mut first).await, "192.0.2.1.");
    let mut other = open(&address, V2).await;
    assert_eq!(asked(&mut other).await, "192.0.2.2.");
    assert_eq!(asked(&mut open(&address, V1).await).await, "");
    assert_eq!(asked(&mut first).await, "192.0.2.1.");
    drop(first);
    // The server notices that the first one is gone.
    for _ in 0..100 {
        if asked(&mut open(&address, V1).await).await == "192.0.2.1." {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the place of a connection that is closed stays taken");
}
