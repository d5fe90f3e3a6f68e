//! The client: a message is sent and its reply returned, or an error describes what failed.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use castile_http::client::{self, ClientReply, ExchangeOptions, Options, Proxies, Transport};
use castile_http::server::{Endpoint, Routes, Server};
use castile_http::{Error, ErrorKind};
use castile_mime::{Content, Part};
use castile_soap::{Version, Written};
use futures_util::StreamExt;
use http::{StatusCode, Uri};
use http_body::Frame;
use http_body_util::StreamBody;
use support::{Echo, echo, refusing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tower_service::Service;

async fn call(transport: Transport, url: &str, action: &str, message: &'static str) -> Result<ClientReply, Error> {
    let url: Uri = url.parse().unwrap();
    client::call(transport, &url, Version::Soap11, action, message, 1_000).await
}

/// Answers every connection with `response`, then closes it.
async fn canned(response: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    url
}

/// Returns the error for such a response, with the URL replaced.
async fn failure(response: &'static str) -> Error {
    failure_at(response).await.0
}

async fn failure_at(response: &'static str) -> (Error, String) {
    let url = canned(response).await;
    let error = call(Transport::new(), &url, "", "<a/>").await.unwrap_err();
    assert_eq!(error.url().map(Uri::to_string).as_ref(), Some(&url), "{error}");
    let said = error.to_string().replace(&url, "URL");
    (error, said)
}

#[tokio::test]
async fn messages_go_over_a_socket_and_connections_are_reused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/echo", listener.local_addr().unwrap());
    let routes = Routes::new().route("/echo", Endpoint::new(Echo));
    // Allows one connection at a time, so calls with separate connections would wait for each other.
    let server = Server::new().max_connections(1);
    tokio::spawn(server.serve(listener, routes, std::future::pending()));
    let transport = Transport::new();
    for _ in 0..3 {
        let reply = call(transport.clone(), &url, "action", "<a/>").await.unwrap();
        assert_eq!((reply.status, reply.received.message), (StatusCode::OK, Bytes::from("[action]")));
        let reply = call(transport.clone(), &url, "fault", "<a/>").await.unwrap();
        assert_eq!((reply.status, reply.received.message), (StatusCode::INTERNAL_SERVER_ERROR, Bytes::from("<a/>")));
    }
}

/// A host with an IP address needs no lookup.
#[tokio::test]
async fn answers_tell_how_long_connecting_took() {
    let url = canned("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let mut options = client::Options::default();
    options.times = true;
    let request = || http::Request::post(&url).body(castile_http::Body::from(Bytes::from_static(b"<a/>"))).unwrap();
    let response = Transport::with_options(options.clone()).call(request()).await.unwrap();
    let times = response.extensions().get::<client::ConnectTimes>().unwrap();
    assert_eq!((times.lookup, times.tls), (None, None));
    assert!(times.tcp > Duration::ZERO && times.tcp < Duration::from_secs(5));

    let named = http::Request::post(url.replace("127.0.0.1", "localhost"))
        .body(castile_http::Body::from(Bytes::from_static(b"<a/>")));
    let response = Transport::with_options(options).call(named.unwrap()).await.unwrap();
    assert!(response.extensions().get::<client::ConnectTimes>().unwrap().lookup.is_some());

    let response = Transport::new().call(request()).await.unwrap();
    assert!(response.extensions().get::<client::ConnectTimes>().is_none());
}

/// The system resolves names on a blocking thread. Here the only such thread is taken, so no name is found.
#[test]
fn a_host_that_is_not_found_in_time_is_given_up() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(1).build().unwrap();
    let (_end, ended) = mpsc::channel::<()>();
    runtime.spawn_blocking(move || ended.recv());
    let mut options = Options::default();
    options.connect_timeout = Duration::from_millis(200);
    options.request_timeout = Duration::from_secs(10);
    let (url, waited) = ("http://localhost:1/", "there was none within 200ms");
    for (proxies, expected) in [
        (Proxies::none(), format!("no connection to {url}: {waited}")),
        (
            Proxies::all("http://localhost:2").unwrap(),
            format!("no connection to {url}: no connection to the proxy localhost:2: {waited}"),
        ),
    ] {
        options.proxies = proxies;
        let error = runtime.block_on(call(Transport::with_options(options.clone()), url, "", "<a/>")).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Connect, expected));
    }
}

#[tokio::test]
async fn each_version_sends_its_action_and_its_faults() {
    let url = Uri::from_static("http://in.process/");
    for (version, action, status) in [
        (Version::Soap11, "sender's fault", StatusCode::INTERNAL_SERVER_ERROR),
        (Version::Soap12, "fault", StatusCode::INTERNAL_SERVER_ERROR),
        (Version::Soap12, "sender's fault", StatusCode::BAD_REQUEST),
        (Version::Soap12, "", StatusCode::OK),
    ] {
        let reply = client::call(echo(), &url, version, action, "<a/>", 1_000).await.unwrap();
        assert_eq!((reply.status, &reply.received.message[..]), (status, &b"<a/>"[..]), "{version:?} {action}");
    }
    // A rejection is not a fault.
    let error = failure("HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nno").await;
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::BAD_REQUEST));
}

/// Operations without a response get an empty answer, with one status or another.
#[tokio::test]
async fn nothing_may_be_the_answer() {
    for response in [
        "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 202 Accepted\r\ncontent-type: text/xml\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let reply = call(Transport::new(), &canned(response).await, "", "<a/>").await.unwrap();
        assert_eq!(reply.received.message, "", "{response}");
    }
    let reply = "HTTP/1.1 202 Accepted\r\ncontent-type: text/xml\r\ncontent-length: 4\r\n\r\n<a/>";
    assert_eq!(call(Transport::new(), &canned(reply).await, "", "<a/>").await.unwrap().received.message, "<a/>");
    let error = failure("HTTP/1.1 202 Accepted\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok").await;
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::ACCEPTED));
}

#[tokio::test]
async fn a_server_in_the_same_process_is_a_transport() {
    let url = Uri::from_static("http://in.process/");
    let reply = client::call(echo(), &url, Version::Soap11, "action", "<a/>", 1_000).await.unwrap();
    assert_eq!(reply.received.message, "[action]");
    let error = client::call(echo(), &url, Version::Soap11, "", "<a/>", 3).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(error.to_string(), "the reply from http://in.process/ has 4 bytes, expected at most 3");
    assert_eq!(error.url(), Some(&url));
}

#[tokio::test]
async fn a_status_that_carries_no_message_is_an_error_with_its_text() {
    let (error, said) = failure_at("HTTP/1.1 404 Not Found\r\ncontent-length: 8\r\n\r\nnot here").await;
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::NOT_FOUND));
    assert_eq!(said, "the answer from URL is 404 Not Found, expected 200, or 500 or 400 with a fault: not here");
    let error = failure("HTTP/1.1 500 Oops\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::INTERNAL_SERVER_ERROR));
}

/// Regression: the text of the body was read and discarded.
#[tokio::test]
async fn another_content_type_is_an_error_with_its_text() {
    let expected = "expected text/xml (SOAP 1.1), application/soap+xml (SOAP 1.2) or multipart/related with either";
    for (head, kind, expected) in [
        (
            "200 OK\r\ncontent-type: text/html",
            ErrorKind::ContentType,
            format!("the answer from URL can't be read: found content type text/html, {expected}: sign in\\u{{1b}}"),
        ),
        (
            "200 OK",
            ErrorKind::ContentType,
            format!("the answer from URL can't be read: found no content type, {expected}: sign in\\u{{1b}}"),
        ),
        (
            "500 No\r\ncontent-type: text/xml; charset=klingon",
            ErrorKind::ContentType,
            "the answer from URL can't be read: found charset \"klingon\", expected a known one, such as utf-8 or \
             utf-16: \
             sign in\\u{1b}"
                .to_owned(),
        ),
        (
            "200 OK\r\ncontent-type: text/xml\r\ncontent-encoding: utf-8",
            ErrorKind::ContentEncoding,
            "the answer 200 OK from URL has the content encoding utf-8, which was not requested: sign \
             in\\u{1b}"
                .to_owned(),
        ),
        (
            "200 OK\r\ncontent-type: text/xml\r\ncontent-encoding: gzip",
            ErrorKind::ContentEncoding,
            "the answer from URL can't be read: the body is declared as gzip, but is not: sign in\\u{1b}".to_owned(),
        ),
    ] {
        let response = format!("HTTP/1.1 {head}\r\ncontent-length: 10\r\n\r\n sign in\u{1b}\n");
        let (error, said) = failure_at(String::leak(response)).await;
        assert_eq!((error.kind(), said), (kind, expected), "{head}");
        assert!(error.status().is_some() && error.http_headers().is_some(), "{head}");
    }
}

/// A web page may have any size, but the quoted part is limited.
#[tokio::test]
async fn quotations_of_an_answer_are_bounded() {
    for kind in ["content-type: text/html", "content-type: text/xml\r\ncontent-encoding: br"] {
        let page = "x".repeat(100_000);
        let response = format!("HTTP/1.1 200 OK\r\n{kind}\r\ncontent-length: 100000\r\n\r\n{page}");
        let said = failure(String::leak(response)).await.to_string();
        assert!(said.contains(": xxx") && said.len() < 1_500, "{said}");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_error() {
    let (error, said) = failure_at("HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: 40\r\n\r\n<a/>").await;
    assert_eq!((error.kind(), &said[..]), (ErrorKind::Body, "the reply from URL broke off"));
    assert_eq!(failure("").await.kind(), ErrorKind::Exchange);
}

/// All of 127.0.0.0/8 is local on Linux.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn connections_come_from_the_address_that_is_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    for asked in [None, Some("127.0.0.3")] {
        let mut options = Options::default();
        options.local_address = asked.map(|address| address.parse().unwrap());
        let transport = Transport::with_options(options);
        let url = url.clone();
        let call = tokio::spawn(async move { call(transport, &url, "", "<a/>").await.map(|reply| reply.status) });
        let (mut stream, peer) = listener.accept().await.unwrap();
        assert_eq!(peer.ip().to_string(), asked.unwrap_or("127.0.0.1"));
        let _ = stream.read(&mut [0; 4096]).await;
        stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        assert_eq!(call.await.unwrap().unwrap(), StatusCode::ACCEPTED);
    }
    // An address of another machine is an error before anything is sent.
    let mut options = Options::default();
    options.local_address = Some("192.0.2.1".parse().unwrap());
    let error = call(Transport::with_options(options), &url, "", "<a/>").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
}

#[tokio::test]
async fn no_server_is_an_error() {
    let refusing = refusing();
    let url = format!("http://{}/", refusing.local_addr().unwrap());
    let error = call(Transport::new(), &url, "", "<a/>").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert!(error.to_string().starts_with(&format!("no connection to {url}: Connection refused")), "{error}");
}

#[tokio::test]
async fn a_reply_must_be_complete_in_time() {
    let mut options = Options::default();
    options.request_timeout = Duration::from_millis(50);
    for head in ["", "HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: 4\r\n\r\n"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            std::future::pending::<()>().await;
        });
        let error = call(Transport::with_options(options.clone()), &url, "", "<a/>").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert_eq!(error.to_string(), format!("no complete reply from {url} within 50ms"));
        assert_eq!(error.url().unwrap(), &url[..]);
        server.abort();
    }
}

#[tokio::test]
async fn an_action_that_no_header_can_hold_is_an_error() {
    let error = call(Transport::new(), "http://h/", "a\nb", "<a/>").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Request);
}

/// Creates a part whose chunks arrive slowly and then stop; `None` waits forever.
fn slowly(pieces: Vec<Option<&'static str>>) -> Part {
    let frames = futures_util::stream::iter(pieces).then(|piece| async move {
        tokio::time::sleep(Duration::from_millis(400)).await;
        match piece {
            Some(piece) => Ok::<_, std::io::Error>(Frame::data(Bytes::from(piece))),
            None => std::future::pending().await,
        }
    });
    Part::attachment("text/plain", Content::stream(StreamBody::new(frames))).unwrap()
}

/// Streamed requests and answers with attachments have no total time limit, but silence has one.
#[tokio::test]
async fn streams_may_take_any_time_and_silence_may_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(Server::new().serve(listener, Routes::new().route("/", echo()), std::future::pending()));
    let mut options = Options::default();
    // Less than all pieces take, and much more than one.
    options.request_timeout = Duration::from_secs(3);
    let transport = Transport::with_options(options);
    let exchange = |action: &'static str, pieces| {
        let message = Content::from("<a/>");
        let written = Written { parts: vec![slowly(pieces)], ..Written::new(message) };
        client::exchange(transport.clone(), &url, Version::Soap11, action, written, ExchangeOptions::new(1_000))
    };
    let reply = exchange("attachment", vec![Some("x"); 8]).await.unwrap();
    assert_eq!(reply.received.message, "8 bytes");

    let mut reply = exchange("back", vec![Some("x"); 8]).await.unwrap();
    let attachment = reply.received.attachments.next().await.unwrap().unwrap();
    assert_eq!(attachment.collect(100).await.unwrap(), "xxxxxxxx");

    let error = exchange("attachment", vec![Some("x"), None]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let mut reply = exchange("back", vec![Some("x"), None]).await.unwrap();
    let attachment = reply.received.attachments.next().await.unwrap().unwrap();
    let error = attachment.collect(100).await.unwrap_err();
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Error>());
    assert_eq!(source.map(Error::kind), Some(ErrorKind::Timeout));
}

/// Regression: bytes taken earlier counted as progress when the time was over, so the stream had twice its time.
#[tokio::test]
async fn a_stream_that_is_sent_at_once_is_timed_once() {
    for head in ["", "HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: 4\r\n\r\n"] {
        let url = dripping(head, "", Duration::from_secs(60)).await.parse().unwrap();
        let part = Part::attachment("text/plain", Content::from("x")).unwrap();
        let written = Written { parts: vec![part], ..Written::new("<a/>") };
        let begun = std::time::Instant::now();
        let options = ExchangeOptions::new(1_000);
        let error = client::exchange(within(5_000, 0), &url, Version::Soap11, "", written, options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        // Twice the time is 10 s.
        assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    }
}

/// Answers every connection with a head, and then with a chunk of the body at intervals.
async fn dripping(head: &'static str, piece: &'static str, every: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let mut next = head;
                while stream.write_all(next.as_bytes()).await.is_ok() {
                    tokio::time::sleep(every).await;
                    next = piece;
                }
            });
        }
    });
    url
}

fn within(millis: u64, rate: u32) -> Transport {
    let mut options = Options::default();
    options.request_timeout = Duration::from_millis(millis);
    options.response_rate = rate;
    Transport::with_options(options)
}

const PACKAGE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: multipart/related; boundary=b; type=\"text/xml\"\r\n\r\n--b\r\n\r\n<a/>";

/// Regression: each chunk arrived in time, so the client waited forever for the end of the envelope.
#[tokio::test]
async fn an_envelope_in_a_package_that_drips_is_given_up() {
    let url = dripping(PACKAGE, " ", Duration::from_millis(20)).await;
    let start = std::time::Instant::now();
    let error = call(within(1_000, 0), &url, "", "<a/>").await.unwrap_err();
    let expected = format!("no complete reply from {url} within 1s");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Timeout, expected));
    assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_plain_answer_that_drips_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n<a>";
    let url = dripping(head, " ", Duration::from_millis(20)).await;
    let error = call(within(1_000, 0), &url, "", "<a/>").await.unwrap_err();
    let expected = format!("no complete reply from {url} within 1s");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Timeout, expected));
}

/// Regression: the envelope arrived in time, and the attachment could take forever.
#[tokio::test]
async fn an_attachment_of_an_answer_that_drips_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/related; boundary=b; type=\"text/xml\"\r\n\r\n\
                --b\r\n\r\n<a/>\r\n--b\r\n\r\nx";
    let url = dripping(head, "x", Duration::from_millis(20)).await;
    // 50 bytes a second are too few for one limit, and enough for the other.
    let too_slow = async {
        let mut reply = call(within(3_000, 1_000), &url, "", "<a/>").await.unwrap();
        let attachment = reply.received.attachments.next().await.unwrap().unwrap();
        let error = attachment.collect(1 << 20).await.unwrap_err();
        let said = std::error::Error::source(&error).unwrap().to_string();
        assert!(said.starts_with(&format!("the reply from {url} arrives too slowly: ")), "{said}");
    };
    let fast_enough = async {
        let mut reply = call(within(3_000, 10), &url, "", "<a/>").await.unwrap();
        let attachment = reply.received.attachments.next().await.unwrap().unwrap();
        // The other limit ends it before.
        assert!(tokio::time::timeout(Duration::from_secs(6), attachment.collect(1 << 20)).await.is_err());
    };
    tokio::join!(too_slow, fast_enough);
}

#[tokio::test]
async fn a_content_encoding_that_is_not_known_is_named() {
    let (error, said) = failure_at(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\n<a/>",
    )
    .await;
    assert_eq!(error.kind(), ErrorKind::ContentEncoding);
    assert_eq!(said, "the answer 200 OK from URL has the content encoding br, which was not requested: <a/>");
    let (error, said) = failure_at(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n<a/>",
    )
    .await;
    assert_eq!(error.kind(), ErrorKind::ContentEncoding);
    assert_eq!(said, "the answer from URL can't be read: the body is declared as gzip, but is not: <a/>");
    let nothing = "HTTP/1.1 202 Accepted\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n";
    assert!(call(Transport::new(), &canned(nothing).await, "", "<a/>").await.is_ok());
    let identity =
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: identity\r\nContent-Length: 4\r\n\r\n<a/>";
    assert!(call(Transport::new(), &canned(identity).await, "", "<a/>").await.is_ok());
}

#[tokio::test]
async fn two_content_types_of_an_answer_are_an_error() {
    let (error, said) = failure_at(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<a/>",
    )
    .await;
    assert_eq!(error.kind(), ErrorKind::ContentType);
    assert_eq!(said, "the answer from URL has 2 Content-Type headers, expected one: <a/>");
}

/// A terminal would obey control characters in a server's text.
#[tokio::test]
async fn text_of_a_server_is_escaped_in_errors() {
    for response in [
        "HTTP/1.1 503 Busy\r\nContent-Length: 12\r\n\r\n\x1b[2J\u{9b}2J\u{202e}",
        "HTTP/1.1 200 OK\r\nContent-Type: \u{9b}2J\u{202e}\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=\u{9b}2J\u{202e}\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/related; \u{9b}2J\u{202e}\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Encoding: \u{9b}2J\u{202e}\r\nContent-Length: 1\r\n\r\nx",
    ] {
        let mut error: Option<&dyn std::error::Error> = Some(&failure(response).await);
        while let Some(part) = error {
            let said = part.to_string();
            assert_eq!(said, castile_xml::visible(&said), "{response}");
            error = part.source();
        }
    }
}
