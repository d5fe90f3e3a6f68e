//! Every wait has a time limit. The clock is paused: it jumps to the next timer when all tasks wait.

mod support;

use std::time::Duration;

use castile_http::server::{Endpoint, Options, Server};
use castile_soap::{
    Description, Dispatch, Error, Fault, NoDetail, Operation, Payload, Pending, Raw, Request, Response, Root,
};
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

/// The time of a head counts from its start, so occasional bytes don't hold the connection.
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
    // Sending panics when the connection is closed.
    assert!(
        tokio::spawn(async move { tokio::time::timeout(seconds(60), slowly).await }).await.is_err_and(|e| e.is_panic())
    );
    assert!(start.elapsed() < seconds(14));
}

/// The time of one head must not count for the next.
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

/// Regression: the connection panicked, or a body was given up immediately.
#[tokio::test(start_paused = true)]
async fn there_may_be_no_limits() {
    let none = Duration::MAX;
    let server = Server::new().header_read_timeout(none).keep_alive_timeout(none).queue_timeout(none);
    for write_rate in [0, 100] {
        let server = server.clone().write_timeout(none).write_rate(write_rate).shutdown_grace(none);
        let endpoint = echo_with(|options| {
            (options.body_read_timeout, options.request_timeout) = (none, none);
            options.body_rate = write_rate;
        });
        let mut host = Host::start(server, endpoint);
        // The connection buffers only this many bytes.
        let mut client = host.connect_over(16);
        for _ in 0..2 {
            for piece in [
                "POST / HTTP/1.1\r\nhost: h\r\nsoapaction: \"sleep 5\"\r\n",
                "content-length: 4\r\n",
                "content-type: text/xml\r\n\r\n",
                "<a",
                "/>",
            ] {
                client.send(piece).await;
                sleep(seconds(100)).await;
            }
            let (head, body) = client.response().await;
            assert!(head.starts_with("http/1.1 200 "), "{head}");
            assert_eq!(body, "<a/>");
            sleep(seconds(1_000)).await;
        }
        host.stop();
        assert!(host.server.await.unwrap().is_complete());
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_must_come_in_time() {
    let endpoint = echo_with(|options| {
        options.body_read_timeout = seconds(30);
        options.body_rate = 0;
    });
    let host = Host::start(Server::new(), endpoint);
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
async fn an_idle_connection_stays_open_for_its_time() {
    let host = Host::start(Server::new().keep_alive_timeout(seconds(60)), echo());
    let mut client = host.connect();
    // Short and long waits: the connection is idle in the long ones.
    for wait in [0, 1, 4, 6, 14, 30, 59, 59] {
        sleep(seconds(wait)).await;
        client.post("", "<a/>").await;
        assert_eq!(client.response().await.1, "<a/>");
    }
    let start = Instant::now();
    assert_eq!(client.rest().await, "");
    assert!((60..=61).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

/// A connection whose handler takes longer than the keep-alive timeout is not idle.
#[tokio::test(start_paused = true)]
async fn a_busy_connection_is_not_idle() {
    let host = Host::start(Server::new().keep_alive_timeout(seconds(1)), echo());
    let mut client = host.connect();
    client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
}

/// A flush that blocked, as one of TLS may, is over when it succeeds.
#[tokio::test(start_paused = true)]
async fn a_flush_that_waited_holds_nothing_against_the_client() {
    let host = Host::start(Server::new().write_timeout(seconds(2)), echo());
    let mut client = host.connect();
    client.post("", "<a/>").await;
    client.response().await;
    sleep(seconds(4)).await;
    client.post("soapaction: \"sleep 5\"\r\n", "<b/>").await;
    assert_eq!(client.response().await.1, "<b/>");
}

#[tokio::test(start_paused = true)]
async fn a_client_must_read_in_time() {
    let host = Host::start(Server::new().write_timeout(seconds(30)), echo());
    let mut client = host.connect();
    let message = "x".repeat(100_000);
    client.post("", &message).await;
    // The client reads at intervals, and the server continues.
    sleep(seconds(25)).await;
    assert_eq!(client.response().await.1, message);
    client.post("", &message).await;
    sleep(seconds(31)).await;
    assert!(client.rest().await.len() < message.len());
}

/// Returns the beginning of a package, with a part of the declared length after the root.
fn package(length: usize) -> String {
    let body = "--b\r\n\r\n<a/>\r\n--b\r\nContent-ID: <x@y>\r\n\r\n";
    let length = body.len() + length;
    format!(
        "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/related; type=\"text/xml\"; boundary=b\r\n\
         soapaction: attachment\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Neither the limit of a body nor that of a handler ends an attachment that keeps arriving.
#[tokio::test(start_paused = true)]
async fn an_attachment_that_flows_may_take_any_time() {
    let endpoint = echo_with(|options| {
        options.body_read_timeout = seconds(30);
        options.body_rate = 0;
        options.request_timeout = seconds(20);
    });
    let host = Host::start(Server::new(), endpoint);
    let mut client = host.connect();
    let end = "\r\n--b--\r\n";
    client.send(package(20 + end.len())).await;
    for _ in 0..20 {
        sleep(seconds(15)).await;
        client.send("x").await;
    }
    client.send(end).await;
    assert_eq!(client.response().await.1, "20 bytes");
}

/// Regression: data that arrived with the request counted as progress, so a handler had twice its time. It also got no
/// deadline.
#[tokio::test(start_paused = true)]
async fn a_handler_of_a_whole_package_must_answer_in_time() {
    let host = Host::start(Server::new(), echo_with(|options| options.request_timeout = seconds(20)));
    let end = "\r\n--b--\r\n";
    let whole = |action: &str| package(1 + end.len()).replace("attachment", action) + "x" + end;
    let mut client = host.connect();
    client.send(whole("deadline")).await;
    assert_eq!(client.response().await.1, "20 s");
    for action in ["hang", "read and hang"] {
        let start = Instant::now();
        client.send(whole(action)).await;
        let (head, body) = client.response().await;
        assert_eq!(start.elapsed().as_secs(), 20, "{action}");
        assert!(head.starts_with("http/1.1 503 "), "{head}");
        assert_eq!(body, "the service did not answer within 20s\n");
    }
    // The time begins when the last byte arrives.
    client.send(package(1 + end.len()).replace("attachment", "read and hang")).await;
    sleep(seconds(15)).await;
    let start = Instant::now();
    client.send(format!("x{end}")).await;
    assert!(client.response().await.0.starts_with("http/1.1 503 "));
    assert_eq!(start.elapsed().as_secs(), 20);
}

/// Occasional bytes are not enough, and the required rate rises with time.
#[tokio::test(start_paused = true)]
async fn an_attachment_that_trickles_is_given_up() {
    let host = Host::start(Server::new(), echo_with(|options| options.request_timeout = seconds(60)));
    let mut client = host.connect();
    client.send(package(20_000)).await;
    let start = Instant::now();
    sleep(seconds(9)).await;
    client.send("x").await;
    let (head, body) = client.response().await;
    assert_eq!(start.elapsed().as_secs(), 30);
    assert!(head.starts_with("http/1.1 500 "), "{head}");
    assert!(body.ends_with("bytes arrived in the 30 s that the server waited for them"), "{body}");

    // 200 bytes a second are enough for two minutes, but not for three.
    let end = "\r\n--b--\r\n";
    for (pieces, is_enough) in [(12, true), (18, false)] {
        let mut client = host.connect();
        client.send(package(pieces * 2_000 + end.len())).await;
        for piece in 0..pieces {
            if piece < 13 {
                sleep(seconds(10)).await;
                client.send("x".repeat(2_000)).await;
            }
        }
        if is_enough {
            client.send(end).await;
            assert_eq!(client.response().await.1, "24000 bytes");
        } else {
            assert!(client.response().await.0.starts_with("http/1.1 500 "));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_attachment_times_out() {
    let endpoint = echo_with(|options| {
        options.body_read_timeout = seconds(30);
        options.body_rate = 0;
        options.request_timeout = seconds(60);
    });
    let host = Host::start(Server::new(), endpoint);
    let mut client = host.connect();
    client.send(package(20)).await;
    sleep(seconds(10)).await;
    client.send("x").await;
    let start = Instant::now();
    let (head, body) = client.response().await;
    assert_eq!(start.elapsed().as_secs(), 30);
    assert!(head.starts_with("http/1.1 500 "), "{head}");
    assert!(body.starts_with("the body broke off") && body.ends_with(": no bytes arrived for 30s"), "{body}");
    assert_eq!(client.rest().await, "");
    // The limit also applies while the envelope is being received.
    let mut client = host.connect();
    client.send(package(20).split("<a/>").next().unwrap()).await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 408 "), "{head}");
    assert_eq!(body, "the message was not complete within 30s\n");
}

/// Regression: an envelope in a package could take 22 hours, where one without a package had 30 seconds.
#[tokio::test(start_paused = true)]
async fn a_root_part_that_comes_slowly_is_given_up() {
    let host = Host::start(Server::new(), echo());
    for (pause, expected) in [(1, (30, "the message was not complete within 30s\n")), (60, (10, ""))] {
        let mut client = host.connect();
        let head = package(100_000);
        client.send(head.split("<a/>").next().unwrap()).await;
        let start = Instant::now();
        let mut response = String::new();
        while response.is_empty() {
            client.send("x".repeat(200)).await;
            if let Ok((head, body)) = tokio::time::timeout(seconds(pause), client.response()).await {
                assert!(head.starts_with("http/1.1 408 ") && head.contains("connection: close\r\n"), "{head}");
                response = body;
            }
        }
        assert!((expected.0..expected.0 + 13).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
        assert!(response.ends_with(expected.1), "{response}");
    }
}

/// Regression: each byte that was read restarted the time limit.
#[tokio::test(start_paused = true)]
async fn a_client_must_not_read_ever_more_slowly() {
    let host = Host::start(Server::new().write_timeout(seconds(30)), echo());
    let mut client = host.connect();
    client.post("", &"x".repeat(100_000)).await;
    let start = Instant::now();
    let mut read = 0;
    loop {
        sleep(seconds(10)).await;
        match client.read(1_000).await.len() {
            0 => break,
            length => read += length,
        }
    }
    assert!(read < 100_000, "{read}");
    // The buffered bytes are read after the server has given up.
    assert!(start.elapsed() < seconds(600), "{:?}", start.elapsed());
}

/// A streamed answer may take any time, but the client must read it.
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_a_stream_may_take_any_time() {
    let endpoint = echo_with(|options| options.request_timeout = seconds(20));
    let host = Host::start(Server::new().write_timeout(seconds(30)), endpoint);
    let mut client = host.connect();
    client.post("soapaction: \"stream 20\"\r\nconnection: close\r\n", "<a/>").await;
    let start = Instant::now();
    let rest = client.rest().await;
    assert_eq!(start.elapsed().as_secs(), 200);
    assert!(rest.ends_with("\r\n0\r\n\r\n"), "{rest}");
    // More bytes than fit in the buffer.
    client = host.connect();
    client.post("soapaction: \"stream 20000\"\r\n", "<a/>").await;
    sleep(seconds(31 + 10 * 20_000)).await;
    assert!(!client.rest().await.ends_with("0\r\n\r\n"));
}

static TAKE: [Operation; 1] = [Operation::new("take", "", Root::of_body("<soap:Body>", &[]))];

/// A service that reads no attachments.
struct Taker;

impl Dispatch for Taker {
    fn description(&self) -> &'static Description {
        const { &Description::new("Taker", "urn:t", &TAKE) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        payload.handle(
            |request: Request<Raw>| async move { Ok::<_, Fault<NoDetail>>(Response::from(request.into_inner())) },
        )
    }
}

/// Regression: without workers there was no timer for this.
#[tokio::test(start_paused = true)]
async fn attachments_that_are_left_are_waited_for_shortly() {
    for has_workers in [true, false] {
        let mut options = Options::default();
        options.messages.offload = options.messages.offload.filter(|_| has_workers);
        let host = Host::start(Server::new(), Endpoint::with_options(Taker, options));
        let mut client = host.connect();
        let message = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body/></e:Envelope>";
        client
            .send(format!(
                "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/related; type=\"text/xml\"; boundary=b\r\n\
                 content-length: 1000\r\n\r\n--b\r\n\r\n{message}\r\n--b\r\n\r\nstalls"
            ))
            .await;
        let start = Instant::now();
        assert!(client.response().await.0.starts_with("http/1.1 202 "), "{has_workers}");
        assert_eq!(start.elapsed().as_secs(), 10, "{has_workers}");
    }
}
