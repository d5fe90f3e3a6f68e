//! The client of a request, from a header that a proxy sets.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use castile_http::server::{ClientAddress, Proxies, Routes, Server};
use http::{Request, Response};
use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Answers with the address of the client.
#[derive(Clone)]
struct Client;

impl tower_service::Service<Request<castile_http::Body>> for Client {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<castile_http::Body>) -> Self::Future {
        let client = request.extensions().get().map_or_else(String::new, |ClientAddress(client)| client.to_string());
        ready(Ok(Response::new(Full::from(client + "."))))
    }
}

async fn served(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let routes = Routes::new().route("/peer", support::peers()).route_service("/client", Client);
    tokio::spawn(server.serve(listener, routes, std::future::pending()));
    address
}

async fn open(address: &str) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// Returns the answer to a request on a connection, or nothing if the connection is closed.
async fn asked(stream: &mut TcpStream, path: &str, header: &str) -> String {
    let request =
        format!("POST {path} HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\n{header}Content-Length: 4\r\n\r\n<a/>");
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

#[tokio::test]
async fn the_peer_of_a_request_is_the_one_that_the_proxy_names() {
    let x_forwarded_for = Server::new().proxies(Proxies::x_forwarded_for(["127.0.0.0/8"]).unwrap());
    let forwarded = Server::new().proxies(Proxies::forwarded(["127.0.0.1"]).unwrap());
    let (x_forwarded_for, forwarded) = (served(x_forwarded_for).await, served(forwarded).await);
    // One connection carries the requests of many clients.
    let mut stream = open(&x_forwarded_for).await;
    for path in ["/peer", "/client"] {
        for (header, expected) in [
            ("X-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1."),
            ("X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-For: 192.0.2.2, 127.0.0.2\r\n", "192.0.2.2."),
            ("", "127.0.0.1."),
            ("X-Forwarded-For: unknown\r\n", "127.0.0.1."),
            ("Forwarded: for=192.0.2.1\r\n", "127.0.0.1."),
        ] {
            assert_eq!(asked(&mut stream, path, header).await, expected, "{path} {header}");
        }
        let header = "Forwarded: for=192.0.2.9, for=\"[2001:db8::1]:80\"\r\n";
        assert_eq!(asked(&mut open(&forwarded).await, path, header).await, "2001:db8::1.");
    }
}

#[tokio::test]
async fn only_trusted_proxies_may_name_the_client() {
    for server in [Server::new(), Server::new().proxies(Proxies::x_forwarded_for(["192.0.2.7"]).unwrap())] {
        let address = served(server).await;
        let header = "X-Forwarded-For: 192.0.2.1\r\n";
        assert_eq!(asked(&mut open(&address).await, "/peer", header).await, "127.0.0.1.");
    }
    let error = Proxies::forwarded(["proxy.example"]).unwrap_err();
    assert_eq!(error.to_string(), "found \"proxy.example\", expected an address or a network such as 10.0.0.0/24");
}

/// A proxy has the connections of all clients.
#[tokio::test]
async fn the_connections_of_a_proxy_are_not_limited() {
    let limited = || Server::new().max_connections_per_peer(1);
    let address = served(limited().proxies(Proxies::x_forwarded_for(["127.0.0.1"]).unwrap())).await;
    let mut streams = [open(&address).await, open(&address).await];
    for stream in &mut streams {
        assert_eq!(asked(stream, "/peer", "X-Forwarded-For: 192.0.2.1\r\n").await, "192.0.2.1.");
    }
    let address = served(limited().proxies(Proxies::x_forwarded_for(["192.0.2.7"]).unwrap())).await;
    let mut first = open(&address).await;
    assert_eq!(asked(&mut first, "/peer", "").await, "127.0.0.1.");
    assert_eq!(asked(&mut open(&address).await, "/peer", "").await, "");
}

/// A client that sends many requests slowly takes nothing from other clients of the same proxy.
#[tokio::test]
async fn requests_that_come_slowly_count_for_their_clients() {
    let server = Server::new().max_requests_receiving_per_peer(2);
    let address = served(server.proxies(Proxies::x_forwarded_for(["127.0.0.1"]).unwrap())).await;
    let begin = async |client: &str| {
        let mut stream = open(&address).await;
        let head = format!(
            "POST /peer HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nX-Forwarded-For: {client}\r\nContent-Length: 4\r\n\r\n<"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The pause keeps the requests in this order.
        tokio::time::sleep(Duration::from_millis(50)).await;
        stream
    };
    let end = async |mut stream: TcpStream| {
        // A rejected client may be gone.
        let _ = stream.write_all(b"a/>").await;
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        String::from_utf8(status.to_vec()).unwrap()
    };
    let other = begin("192.0.2.2").await;
    let first = begin("192.0.2.1").await;
    let second = begin("192.0.2.1").await;
    let third = begin("192.0.2.1").await;
    assert_eq!(end(first).await, "HTTP/1.1 408");
    for stream in [other, second, third] {
        assert_eq!(end(stream).await, "HTTP/1.1 200");
    }
}
