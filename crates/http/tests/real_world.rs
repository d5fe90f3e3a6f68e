//! The client against real-world conditions: logins, redirects, proxies, cookies, compression, servers that don't
//! answer at first.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use castile_http::client::{self, ClientReply, Credentials, ExchangeOptions, Options, Proxies, Redirects, Transport};
use castile_http::{Error, ErrorKind};
use castile_mime::Content;
use castile_soap::{Version, Written};
use http::{StatusCode, Uri, header};
use http_body::Frame;
use http_body_util::StreamBody;
use support::refusing;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>";
const DENIED: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

/// A server that gives scripted answers, one per request, and stores the requests.
#[derive(Clone)]
struct Script {
    url: String,
    answers: Arc<Mutex<VecDeque<String>>>,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicU32>,
}

impl Script {
    /// `{url}` in an answer is replaced by the server's own address. An empty answer closes the connection.
    async fn new(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers = answers.iter().map(|answer| answer.replace("{url}", &url)).collect();
        let script = Script {
            url,
            answers: Arc::new(Mutex::new(answers)),
            requests: Arc::default(),
            connections: Arc::default(),
        };
        let server = script.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                server.connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(server.clone().serve(stream));
            }
        });
        script
    }

    async fn serve(self, mut stream: TcpStream) {
        while let Some(request) = read_request(&mut stream).await {
            self.requests.lock().unwrap().push(request);
            let answer = self.answers.lock().unwrap().pop_front().unwrap_or_default();
            if answer.is_empty() || stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the values of a header in all requests.
    fn sent(&self, name: &str) -> Vec<Option<String>> {
        self.requests().iter().map(|request| field(request, name)).collect()
    }
}

/// Reads a request with the declared length of its body.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = field(head, "content-length").map_or(0, |length| length.parse().unwrap());
            let is_over = match field(head, "transfer-encoding") {
                Some(_) => body.ends_with("0\r\n\r\n"),
                None => read.len() >= head.len() + 4 + length,
            };
            if is_over {
                return Some(text);
            }
        }
        if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

fn field(head: &str, name: &str) -> Option<String> {
    let fields = head.split("\r\n").filter_map(|line| line.split_once(": "));
    fields.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

fn transport(set: impl FnOnce(&mut Options)) -> Transport {
    let mut options = Options::default();
    options.proxies = Proxies::none();
    set(&mut options);
    Transport::with_options(options)
}

async fn send(transport: &Transport, url: &str, set: impl FnOnce(&mut ExchangeOptions)) -> Result<ClientReply, Error> {
    let written = Written::new("<request/>");
    exchange(transport, url, written, set).await
}

async fn exchange(
    transport: &Transport,
    url: &str,
    written: Written,
    set: impl FnOnce(&mut ExchangeOptions),
) -> Result<ClientReply, Error> {
    let url: Uri = url.parse().unwrap();
    let mut options = ExchangeOptions::new(1 << 20);
    set(&mut options);
    client::exchange(transport.clone(), &url, Version::Soap11, "", written, options).await
}

async fn call(transport: &Transport, url: &str) -> Result<ClientReply, Error> {
    send(transport, url, |_| {}).await
}

fn streamed() -> Written {
    let pieces = futures_util::stream::iter(
        ["<a>", "</a>"].map(|piece| Ok::<_, std::io::Error>(Frame::data(Bytes::from(piece)))),
    );
    Written::new(Content::stream(StreamBody::new(pieces)))
}

#[tokio::test]
async fn a_client_sends_its_user_agent() {
    let server = Script::new(&[OK, OK, OK]).await;
    call(&transport(|_| {}), &server.url).await.unwrap();
    call(&transport(|options| options.user_agent = None), &server.url).await.unwrap();
    let own =
        |options: &mut ExchangeOptions| drop(options.http_headers.insert(header::USER_AGENT, "own".parse().unwrap()));
    send(&transport(|_| {}), &server.url, own).await.unwrap();
    let expected = [Some(format!("castile/{}", env!("CARGO_PKG_VERSION"))), None, Some("own".to_owned())];
    assert_eq!(server.sent("user-agent"), expected);
}

#[tokio::test]
async fn basic_goes_with_each_request_and_is_not_tried_twice() {
    let server = Script::new(&[OK, DENIED, OK]).await;
    let transport = transport(|options| options.credentials = Some(Credentials::basic("Aladdin", "open sesame")));
    call(&transport, &server.url).await.unwrap();
    let error = call(&transport, &server.url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::UNAUTHORIZED));
    // The headers of a call take precedence.
    let own = |options: &mut ExchangeOptions| {
        drop(options.http_headers.insert(header::AUTHORIZATION, "own".parse().unwrap()))
    };
    send(&transport, &server.url, own).await.unwrap();
    // The example of RFC 7617 §2.
    let basic = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned());
    assert_eq!(server.sent("authorization"), [basic.clone(), basic, Some("own".to_owned())]);
    assert!(!format!("{transport:?}").contains("QWxh"));
}

fn tokens(answers: &'static [Result<&'static str, &'static str>]) -> (Credentials, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let credentials = Credentials::bearer_from(move || {
        let at = counted.fetch_add(1, Ordering::Relaxed) as usize;
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            match answers[at.min(answers.len() - 1)] {
                Ok(token) => Ok(token.to_owned()),
                Err(error) => Err(error.into()),
            }
        }
    });
    (credentials, asked)
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once() {
    let server = Script::new(&[OK, DENIED, OK, DENIED, DENIED]).await;
    let (credentials, asked) = tokens(&[Ok("one"), Ok("two"), Ok("three")]);
    let transport = transport(|options| options.credentials = Some(credentials));
    call(&transport, &server.url).await.unwrap();
    call(&transport, &server.url).await.unwrap();
    let error = call(&transport, &server.url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::UNAUTHORIZED));
    let sent: Vec<_> = server.sent("authorization").into_iter().flatten().collect();
    assert_eq!(sent, ["Bearer one", "Bearer one", "Bearer two", "Bearer two", "Bearer three"]);
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn those_who_wait_for_a_token_share_it_and_its_failure() {
    let server = Script::new(&[OK; 20]).await;
    let (credentials, asked) = tokens(&[Ok("one")]);
    let one = transport(|options| options.credentials = Some(credentials));
    let calls = (0..10).map(|_| call(&one, &server.url));
    assert!(futures_util::future::join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(asked.load(Ordering::Relaxed), 1);

    let (credentials, asked) = tokens(&[Err("the authority sleeps"), Ok("one")]);
    let none = transport(|options| options.credentials = Some(credentials));
    let calls = (0..10).map(|_| call(&none, &server.url));
    for result in futures_util::future::join_all(calls).await {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Credentials);
        assert_eq!(error.to_string(), "no token was issued: the authority sleeps");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // A later call asks for a token again.
    call(&none, &server.url).await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// Regression: the call of `issue` ended with the request that needed it first, and others began a new one.
#[tokio::test]
async fn an_issue_goes_on_as_long_as_somebody_waits_for_it() {
    let server = Script::new(&[OK, OK]).await;
    let (credentials, asked) = tokens(&[Ok("one"), Ok("two")]);
    let transport = transport(|options| options.credentials = Some(credentials));
    let first = tokio::time::timeout(Duration::from_millis(5), call(&transport, &server.url));
    let (first, second) = tokio::join!(first, call(&transport, &server.url));
    assert!(first.is_err() && second.is_ok());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(server.sent("authorization"), [Some("Bearer one".to_owned())]);
}

/// Regression: waiting requests got the error of the previous call.
#[tokio::test]
async fn a_token_that_is_not_allowed_in_a_header_is_reported_to_all_calls() {
    let server = Script::new(&[OK]).await;
    let (credentials, asked) = tokens(&[Err("the authority sleeps"), Ok("a\nb"), Ok("one")]);
    let transport = transport(|options| options.credentials = Some(credentials));
    assert_eq!(call(&transport, &server.url).await.unwrap_err().kind(), ErrorKind::Credentials);
    let (first, second) = tokio::join!(call(&transport, &server.url), call(&transport, &server.url));
    for result in [first, second] {
        assert_eq!(result.unwrap_err().to_string(), "found a token with characters that are not allowed in a header");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    call(&transport, &server.url).await.unwrap();
}

#[tokio::test]
async fn a_token_is_waited_for_as_long_as_an_answer() {
    let server = Script::new(&[OK]).await;
    let credentials = Credentials::bearer_from(std::future::pending);
    let transport = transport(|options| {
        options.credentials = Some(credentials);
        options.request_timeout = Duration::from_millis(100);
    });
    assert_eq!(call(&transport, &server.url).await.unwrap_err().kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn digest_answers_the_strongest_challenge() {
    let challenge = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\
        WWW-Authenticate: Digest realm=\"r\", nonce=\"m\", qop=\"auth\", algorithm=MD5\r\n\
        WWW-Authenticate: Digest realm=\"r\", nonce=\"s\", qop=\"auth-int,auth\", algorithm=SHA-256, opaque=\"o\", \
        Basic realm=\"r\"\r\n\r\nlost";
    let server = Script::new(&[challenge, OK, OK, challenge, challenge]).await;
    let transport = transport(|options| options.credentials = Some(Credentials::digest("Mufasa", "Circle of Life")));
    let url = format!("{}/dir?x=1", server.url);
    call(&transport, &url).await.unwrap();
    call(&transport, &url).await.unwrap();
    let error = call(&transport, &url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::UNAUTHORIZED));
    let sent = server.sent("authorization");
    assert_eq!(sent.len(), 5);
    assert_eq!(sent[0], None);
    for (sent, count) in sent.iter().zip([0, 1, 2, 3, 1]).skip(1) {
        let sent = sent.as_deref().unwrap();
        let begin = "Digest username=\"Mufasa\", realm=\"r\", nonce=\"s\", uri=\"/dir?x=1\", response=\"";
        assert!(sent.starts_with(begin), "{sent}");
        assert!(sent.contains(&format!(", algorithm=SHA-256, qop=auth, nc={count:08x}, cnonce=\"")), "{sent}");
        assert!(sent.ends_with(", opaque=\"o\""), "{sent}");
    }
    // One connection, because the rest of an answer is read before the next request.
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_challenge_that_can_not_be_met_is_an_answer() {
    for challenge in [
        "Negotiate",
        "Digest realm=\"r\"",
        "Digest nonce=\"n\", algorithm=SHA-512-256",
        "Digest nonce=\"n\", qop=auth-int",
    ] {
        let denied = format!("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n");
        let server = Script::new(&[&denied]).await;
        let transport = transport(|options| options.credentials = Some(Credentials::digest("u", "p")));
        let error = call(&transport, &server.url).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Status(StatusCode::UNAUTHORIZED));
        assert_eq!(error.http_headers().unwrap()[header::WWW_AUTHENTICATE], challenge);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn cookies_are_stored_on_request() {
    let set =
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nSet-Cookie: session=1; HttpOnly\r\nContent-Length: 4\r\n\r\n<a/>";
    for (cookies, expected) in [(true, Some("session=1".to_owned())), (false, None)] {
        let server = Script::new(&[set, OK]).await;
        let transport = transport(|options| options.cookies = cookies);
        call(&transport, &server.url).await.unwrap();
        call(&transport, &server.url).await.unwrap();
        assert_eq!(server.sent("cookie"), [None, expected]);
    }
}

fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

#[tokio::test]
async fn a_redirect_is_reported_or_followed() {
    let server = Script::new(&[&redirect(302, "/x")]).await;
    let error = call(&transport(|_| {}), &server.url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::FOUND));
    let expected = format!(
        "the answer from {}/ is 302 Found, expected 200, or 500 or 400 with a fault; it redirects the message to /x",
        server.url
    );
    assert_eq!(error.to_string(), expected);
    // The error doesn't show the login.
    let server = Script::new(&[&redirect(302, "http://Aladdin:open%20sesame@h/x")]).await;
    let error = call(&transport(|_| {}), &server.url).await.unwrap_err();
    assert!(error.to_string().ends_with("; it redirects the message to http://h/x"), "{error}");

    let server = Script::new(&[&redirect(301, "/x"), &redirect(307, "y"), OK]).await;
    let following = transport(|options| options.redirects = Redirects::SameOrigin);
    call(&following, &server.url).await.unwrap();
    let requests = server.requests();
    let lines: Vec<_> = requests.iter().map(|request| request.split("\r\n").next().unwrap()).collect();
    assert_eq!(lines, ["POST / HTTP/1.1", "POST /x HTTP/1.1", "POST /y HTTP/1.1"]);
    assert!(requests.iter().all(|request| request.ends_with("\r\n\r\n<request/>")));

    let server = Script::new(&[&redirect(308, "/x"); 10].map(String::as_str)).await;
    let error = call(&following, &server.url).await.unwrap_err();
    let target = format!("{}/x", server.url);
    assert_eq!(
        error.to_string(),
        format!(
            "{target} redirects the message to {target}; this is the sixth redirect, and at most five are followed"
        )
    );
    assert_eq!(error.status(), Some(StatusCode::PERMANENT_REDIRECT));
    assert_eq!(error.url().unwrap(), &target[..]);
    assert_eq!(server.requests().len(), 6);

    // An error belongs to the last URL.
    for (answer, said) in [(DENIED, "the answer from {url}/x is 401 "), ("", "the exchange with {url}/x broke off ")] {
        let server = Script::new(&[&redirect(308, "/x"), answer]).await;
        let error = call(&following, &server.url).await.unwrap_err();
        assert!(error.to_string().starts_with(&said.replace("{url}", &server.url)), "{error}");
        assert_eq!(error.url().unwrap(), &format!("{}/x", server.url)[..]);
    }

    // A stream can't be sent again.
    let server = Script::new(&[&redirect(308, "/x"), OK]).await;
    let error = exchange(&following, &server.url, streamed(), |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Status(StatusCode::PERMANENT_REDIRECT));
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Script::new(&[OK, OK]).await;
    let server = Script::new(&[&redirect(308, &other.url), &redirect(308, &other.url)]).await;
    let with = |redirects: Redirects| {
        transport(|options| {
            options.redirects = redirects;
            options.credentials = Some(Credentials::basic("u", "p"));
        })
    };
    let error = call(&with(Redirects::SameOrigin), &server.url).await.unwrap_err();
    assert!(error.to_string().ends_with("which is not an allowed origin"), "{error}");
    assert_eq!(other.requests().len(), 0);
    let allowed = with(Redirects::SameOriginAnd(vec![other.url.parse().unwrap()]));
    let own = |options: &mut ExchangeOptions| {
        options.http_headers.insert(header::COOKIE, "a=b".parse().unwrap());
    };
    send(&allowed, &server.url, own).await.unwrap();
    assert!(server.sent("authorization").iter().all(Option::is_some));
    assert_eq!((other.sent("authorization"), other.sent("cookie")), (vec![None], vec![None]));
}

#[tokio::test]
async fn a_server_that_was_not_reached_is_tried_again() {
    let refusing = refusing();
    let url = format!("http://{}/", refusing.local_addr().unwrap());
    let transport = transport(|options| {
        options.retries.attempts = 20;
        options.retries.backoff = Duration::from_millis(200);
        options.retries.max_backoff = Duration::from_millis(200);
    });
    let calling = tokio::spawn(async move { call(&transport, &url).await.map(|reply| reply.status) });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let listener = refusing.listen(1).unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    read_request(&mut stream).await.unwrap();
    stream.write_all(OK.as_bytes()).await.unwrap();
    assert_eq!(calling.await.unwrap().unwrap(), StatusCode::OK);
}

/// No byte of the message was sent over the pooled connection, so using another one is not a retry. No retries are
/// allowed here.
#[tokio::test]
async fn a_reused_connection_that_the_server_closed_is_replaced() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await.unwrap();
            // The server closes the connection without announcing it.
            stream.write_all(OK.as_bytes()).await.unwrap();
        }
    });
    let transport = transport(|_| {});
    call(&transport, &url).await.unwrap();
    // Wait until the end of the connection has arrived.
    tokio::time::sleep(Duration::from_millis(100)).await;
    call(&transport, &url).await.unwrap();
    server.await.unwrap();
}

/// The server may have acted on it: a request sent over a pooled connection is like any other.
#[tokio::test]
async fn a_request_that_was_read_from_a_reused_connection_is_not_sent_again() {
    let server = Script::new(&[OK, "", OK]).await;
    let retrying = transport(|options| options.retries.attempts = 2);
    call(&retrying, &server.url).await.unwrap();
    // Wait until the connection is back in the pool.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = call(&retrying, &server.url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exchange, "{error}");
    assert_eq!((server.requests().len(), server.connections.load(Ordering::Relaxed)), (2, 1));
}

#[tokio::test]
async fn requests_that_a_server_may_have_processed_are_sent_again_only_if_allowed() {
    let retrying = transport(|options| {
        options.retries.attempts = 2;
        options.retries.backoff = Duration::from_millis(1);
    });
    let repeatable = |options: &mut ExchangeOptions| options.is_repeatable = true;
    // The server closes the connection instead of answering.
    let server = Script::new(&["", "", OK]).await;
    assert_eq!(call(&retrying, &server.url).await.unwrap_err().kind(), ErrorKind::Exchange);
    send(&retrying, &server.url, repeatable).await.unwrap();
    assert_eq!(server.requests().len(), 3);
    // The server is busy.
    let server = Script::new(&[BUSY, BUSY, OK, BUSY, BUSY, BUSY]).await;
    assert_eq!(call(&retrying, &server.url).await.unwrap_err().status(), Some(StatusCode::SERVICE_UNAVAILABLE));
    send(&retrying, &server.url, repeatable).await.unwrap();
    assert_eq!(server.requests().len(), 3);
    let error = send(&retrying, &server.url, repeatable).await.unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::SERVICE_UNAVAILABLE));
    assert_eq!(server.requests().len(), 6);
    // Without the option nothing is retried.
    let server = Script::new(&[BUSY, OK]).await;
    assert!(send(&transport(|_| {}), &server.url, repeatable).await.is_err());
    // A stream is not retried either.
    let server = Script::new(&[BUSY, OK]).await;
    assert!(exchange(&retrying, &server.url, streamed(), repeatable).await.is_err());
}

/// Regression: a login and a redirect used up the attempts.
#[tokio::test]
async fn sending_again_for_other_reasons_is_not_a_retry() {
    let server = Script::new(&[DENIED, BUSY, &redirect(308, "/x"), OK]).await;
    let (credentials, _) = tokens(&[Ok("one"), Ok("two")]);
    let transport = transport(|options| {
        options.credentials = Some(credentials);
        options.redirects = Redirects::SameOrigin;
        options.retries.attempts = 1;
        options.retries.backoff = Duration::from_millis(1);
    });
    send(&transport, &server.url, |options| options.is_repeatable = true).await.unwrap();
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_requested_delay_ends_with_the_time_limit_of_the_request() {
    let asking = |seconds| format!("HTTP/1.1 503 Busy\r\nRetry-After: {seconds}\r\nContent-Length: 0\r\n\r\n");
    let server = Script::new(&[&asking(1), OK, &asking(60), OK]).await;
    let transport = transport(|options| options.retries.attempts = 1);
    let repeatable = |options: &mut ExchangeOptions| options.is_repeatable = true;
    let begun = Instant::now();
    send(&transport, &server.url, repeatable).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let begun = Instant::now();
    let error = send(&transport, &server.url, repeatable).await.unwrap_err();
    assert_eq!(error.http_headers().unwrap()[header::RETRY_AFTER], "60");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// Regression: a time that the clock can't represent caused a panic.
#[tokio::test]
async fn endless_times_are_none() {
    let asking = format!("HTTP/1.1 503 Busy\r\nRetry-After: {}\r\nContent-Length: 0\r\n\r\n", u64::MAX);
    let server = Script::new(&[&asking, OK]).await;
    let transport = transport(|options| {
        options.retries.attempts = 1;
        options.request_timeout = Duration::MAX;
        options.connect_timeout = Duration::MAX;
    });
    // The client doesn't wait that long, although the request has no time limit.
    let waited = send(&transport, &server.url, |options| options.is_repeatable = true);
    assert!(tokio::time::timeout(Duration::from_secs(5), waited).await.is_ok_and(|reply| reply.is_err()));
    call(&transport, &server.url).await.unwrap();
}

#[tokio::test]
async fn messages_go_as_gzip_both_ways() {
    let packed = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"<packed/>").unwrap();
        encoder.finish().unwrap()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let mut seen = Vec::new();
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..3 {
            let mut read = Vec::new();
            let head = loop {
                let text = String::from_utf8_lossy(&read).into_owned();
                let (head, is_chunked) = (text.split_once("\r\n\r\n"), text.contains("chunked"));
                if let Some((head, _)) = head {
                    let length: usize = field(head, "content-length").map_or(0, |length| length.parse().unwrap());
                    if (is_chunked && read.ends_with(b"0\r\n\r\n"))
                        || (!is_chunked && read.len() >= head.len() + 4 + length)
                    {
                        break head.to_owned();
                    }
                }
                stream.read_buf(&mut read).await.unwrap();
            };
            seen.push((head.clone(), read[head.len() + 4..].to_vec()));
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                packed.len()
            );
            stream.write_all(&[answer.as_bytes(), &packed].concat()).await.unwrap();
        }
        seen
    });
    let transport = transport(|_| {});
    let set = |above| {
        move |options: &mut ExchangeOptions| {
            options.accept_gzip = true;
            options.gzip_above = Some(above);
        }
    };
    for above in [9, 10] {
        let reply = send(&transport, &url, set(above)).await.unwrap();
        assert_eq!(reply.received.message, "<packed/>");
    }
    let reply = exchange(&transport, &url, streamed(), set(1 << 20)).await.unwrap();
    assert_eq!(reply.received.message, "<packed/>");
    let seen = server.await.unwrap();
    let unpacked = |body: &[u8]| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(body), &mut text).unwrap();
        text
    };
    assert_eq!(
        seen.iter().map(|(head, _)| field(head, "accept-encoding")).collect::<Vec<_>>(),
        [Some("gzip".to_owned()), Some("gzip".to_owned()), Some("gzip".to_owned())]
    );
    let codings: Vec<_> = seen.iter().map(|(head, _)| field(head, "content-encoding")).collect();
    assert_eq!(codings, [Some("gzip".to_owned()), None, Some("gzip".to_owned())]);
    assert_eq!(unpacked(&seen[0].1), "<request/>");
    assert_eq!(seen[1].1, b"<request/>");
}

#[tokio::test]
async fn an_answer_of_gzip_is_limited_as_others() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b' '; 8 << 20]).unwrap();
    let packed = encoder.finish().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\n\r\n";
        let _ = stream.write_all(&[answer.as_bytes(), &packed].concat()).await;
    });
    let error = call(&transport(|_| {}), &url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(error.to_string(), format!("the reply from {url} has more bytes, expected at most 1048576"));
}

#[tokio::test]
async fn an_http_proxy_is_given_requests_to_http() {
    let proxy = Script::new(&[OK, OK]).await;
    let with_login = proxy.url.replace("http://", "http://Aladdin:open%20sesame@");
    let proxies = Proxies::all(&with_login).unwrap().except("direct.example, 127.0.0.0/8");
    let through = transport(|options| options.proxies = proxies);
    call(&through, "http://service.example/x?y").await.unwrap();
    let requests = proxy.requests();
    assert!(requests[0].starts_with("POST http://service.example/x?y HTTP/1.1\r\n"), "{}", requests[0]);
    assert_eq!(proxy.sent("host"), [Some("service.example".to_owned())]);
    assert_eq!(proxy.sent("proxy-authorization"), [Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned())]);
    // An excluded host is reached directly, and doesn't get the login of the proxy.
    let server = Script::new(&[OK]).await;
    call(&through, &server.url).await.unwrap();
    assert_eq!(server.sent("proxy-authorization"), [None]);
    assert!(!format!("{through:?}").contains("sesame"));
}

#[tokio::test]
async fn socks_proxies_connect_by_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("socks5h://u:p@{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // RFC 1928 §3 and RFC 1929.
        let mut greeting = [0; 3];
        stream.read_exact(&mut greeting).await.unwrap();
        assert_eq!(greeting, [5, 1, 2]);
        stream.write_all(&[5, 2]).await.unwrap();
        let mut login = [0; 5];
        stream.read_exact(&mut login).await.unwrap();
        assert_eq!(&login, b"\x01\x01u\x01p");
        stream.write_all(&[1, 0]).await.unwrap();
        let mut asked = vec![0; 7 + "service.example".len()];
        stream.read_exact(&mut asked).await.unwrap();
        assert_eq!(asked, [&[5, 1, 0, 3, 15][..], b"service.example", &[0, 80]].concat());
        stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]).await.unwrap();
        let request = read_request(&mut stream).await.unwrap();
        stream.write_all(OK.as_bytes()).await.unwrap();
        request
    });
    let through = transport(|options| options.proxies = Proxies::all(&proxy).unwrap());
    call(&through, "http://service.example/x").await.unwrap();
    assert!(server.await.unwrap().starts_with("POST /x HTTP/1.1\r\n"));
}

/// The error for a refused connection must name the proxy.
#[tokio::test]
async fn a_proxy_that_is_not_there_is_named() {
    let refusing = refusing();
    let unused = refusing.local_addr().unwrap();
    for (scheme, url) in [("http", "http://service.example/"), ("socks5", "http://service.example/")] {
        let proxies = Proxies::all(&format!("{scheme}://u:secret-password@{unused}")).unwrap();
        let error = call(&transport(|options| options.proxies = proxies), url).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        let expected = format!("no connection to {url}: no connection to the proxy {unused}: Connection refused");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(!format!("{error:?}").contains("secret-password"), "{error:?}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_none_is_refused_without_its_password() {
    for url in ["ftp://u:secret-password@proxy", "u:secret-password@proxy:1", "socks4://u:secret-password@proxy"] {
        let error = Proxies::all(url).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Request);
        assert!(error.to_string().contains("expected the URL of a proxy"), "{error}");
        assert!(!format!("{error:?}").contains("secret-password"), "{error:?}");
    }
}

/// Regression: the login was ignored, and errors showed it.
#[tokio::test]
async fn a_login_in_a_url_is_refused_and_not_repeated() {
    for url in [
        "http://u:secret-password@host/x",
        "http://u@host",
        "https://u:secret-password@[::1]:80/x",
        "http://u:secret-password@host:x/",
    ] {
        let errors = [client::url(url).unwrap_err(), client::http_url(url).unwrap_err()];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Request);
            assert!(!format!("{error:?}").contains("secret-password"), "{error:?}");
        }
    }
    let error = client::url("http://u:secret-password@host/x").unwrap_err();
    assert!(error.to_string().ends_with("expected one without: use `Credentials::basic` to send a login"), "{error}");
    let error = call(&transport(|_| {}), "http://u:secret-password@127.0.0.1:1/x").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Request);
    assert!(!format!("{error:?}").contains("secret-password"), "{error:?}");
    // An `@` after the host is not a login.
    client::url("http://host/a@b?c@d").unwrap();
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn connections_for_tls_are_tunnels() {
    for (answer, expected) in [
        ("HTTP/1.1 407 No\r\n\r\n", "could not connect: tunnel error: proxy authorization required"),
        ("HTTP/1.1 502 No\r\n\r\n", "could not connect: tunnel error: unsuccessful"),
        // After the tunnel is open, the proxy doesn't answer the TLS handshake.
        ("HTTP/1.1 200 OK\r\n\r\n", "no TLS handshake within 500ms"),
    ] {
        let proxy = Script::new(&[answer]).await;
        let with_login = proxy.url.replace("http://", "http://u:p@");
        let through = transport(|options| {
            options.proxies = Proxies::all(&with_login).unwrap();
            options.connect_timeout = Duration::from_millis(500);
        });
        let error = call(&through, "https://service.example/x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(proxy.requests()[0].starts_with("CONNECT service.example:443 HTTP/1.1\r\n"));
        assert_eq!(proxy.sent("proxy-authorization"), [Some("Basic dTpw".to_owned())]);
    }
}

/// Regression: with TLS, these were not retried, because all our own errors were taken for a rejected certificate.
#[cfg(feature = "tls")]
#[tokio::test]
async fn tunnels_that_fail_are_tried_again() {
    let proxy = Script::new(&["HTTP/1.1 502 No\r\n\r\n"; 9]).await;
    let through = transport(|options| {
        options.proxies = Proxies::all(&proxy.url).unwrap();
        options.retries.attempts = 2;
        options.retries.backoff = Duration::from_millis(1);
    });
    assert_eq!(call(&through, "https://service.example/x").await.unwrap_err().kind(), ErrorKind::Connect);
    assert_eq!(proxy.requests().len(), 3);
}

#[tokio::test]
async fn a_server_that_expects_tls_is_recognised() {
    // An alert: unexpected message.
    let server = Script::new(&["\u{15}\u{3}\u{3}\0\u{2}\u{2}\n"]).await;
    let error = call(&transport(|_| {}), &server.url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exchange);
    assert!(error.to_string().ends_with("the server's answer is not HTTP/1.1; it may expect https"), "{error}");
}

/// A transport that isn't ours, over a client of hyper.
#[tokio::test]
async fn failures_of_other_transports_are_named() {
    let unused = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let url: Uri = format!("http://{unused}/").parse().unwrap();
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    for (error, kind) in [(refused, ErrorKind::Connect), (std::io::Error::other("gone"), ErrorKind::Exchange)] {
        let said = format!("the exchange with {url} failed: {error}");
        let error = Mutex::new(Some(error));
        let other = tower_of(move || Err(error.lock().unwrap().take().unwrap()));
        let error = client::call(other, &url, Version::Soap11, "", "<a/>", 100).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (kind, said));
    }
}

/// Regression: with a transport that accepts such URLs, the user name and password were shown in errors.
#[tokio::test]
async fn an_error_has_the_url_without_a_login_and_shows_no_query() {
    let url = Uri::from_static("http://Aladdin:open%20sesame@in.process/a?token=open-sesame");
    let failing = tower_of(|| Err(std::io::Error::other("gone")));
    let error = client::call(failing, &url, Version::Soap11, "", "<a/>", 100).await.unwrap_err();
    assert_eq!(error.to_string(), "the exchange with http://in.process/a?… failed: gone");
    assert_eq!(error.url().unwrap(), "http://in.process/a?token=open-sesame");
    assert!(!format!("{error:?}").contains("sesame"), "{error:?}");
}

#[derive(Clone)]
struct Function<F>(F);

fn tower_of<F: Fn() -> Result<http::Response<castile_http::Body>, std::io::Error>>(function: F) -> Function<F> {
    Function(function)
}

impl<F> tower_service::Service<http::Request<castile_http::Body>> for Function<F>
where
    F: Fn() -> Result<http::Response<castile_http::Body>, std::io::Error>,
{
    type Response = http::Response<castile_http::Body>;
    type Error = std::io::Error;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<castile_http::Body>) -> Self::Future {
        std::future::ready((self.0)())
    }
}
