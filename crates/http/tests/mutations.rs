//! Changed messages over sockets: changed answers to a client, and changed requests to a server.
//!
//! `FUZZ_MUTATIONS=NUMBER` and `FUZZ_SEED=NUMBER` work as in `src/mutations.rs`.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../src/mutations.rs"]
mod mutations;
mod support;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use castile_http::client::{self, Credentials, Options, Proxies, Redirects, Transport};
use castile_http::server::{ProxyProtocol, Server};
use castile_soap::Version;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Uri;
use support::echo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The time limit of each exchange.
const PATIENCE: Duration = Duration::from_secs(20);

fn texts(seeds: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    mutations::check_mutations(seeds, |text, _| texts.push(text.to_vec()));
    // Each text needs a connection.
    if std::env::var_os("FUZZ_MUTATIONS").is_none() {
        texts.truncate(200);
    }
    texts
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Answers each connection with the next of these, whatever its request is, and closes it.
async fn answering(answers: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        for answer in answers.iter().cycle() {
            let (mut stream, _) = listener.accept().await.unwrap();
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut read = [0; 4096];
                let _ = stream.read(&mut read).await;
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
                while stream.read(&mut read).await.is_ok_and(|length| length > 0) {}
            });
        }
    });
    address
}

fn options() -> Options {
    let mut options = Options::default();
    options.request_timeout = Duration::from_secs(5);
    options.proxies = Proxies::none();
    options
}

async fn called(transport: &Transport, url: &Uri) -> Result<usize, String> {
    let call = client::call(transport.clone(), url, Version::Soap11, "a", "<a/>", 1 << 20);
    let reply = timeout(PATIENCE, call).await.unwrap_or_else(|_| panic!("{url} takes for ever"));
    match reply {
        Ok(reply) => Ok(reply.received.message.len()),
        Err(error) => {
            let said = error.to_string();
            assert!(said.len() < 4_000 && !said.contains(|c: char| c.is_control()), "{said:?}");
            Err(said)
        }
    }
}

#[tokio::test]
async fn changed_answers_harm_no_client() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\n";
    let plain = format!("{head}Set-Cookie: s=1; Path=/; Max-Age=60\r\nContent-Length: 4\r\n\r\n<a/>").into_bytes();
    let gzip = packed("<a>text</a>".repeat(100).as_bytes());
    let gzip =
        [format!("{head}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", gzip.len()).as_bytes(), &gzip].concat();
    let chunked = [
        head.as_bytes(),
        b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n18\r\n",
        &packed(b"<a/>"),
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    let other = |status: &str, headers: &str| {
        format!("HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno").into_bytes()
    };
    let digest = other(
        "401 U",
        "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256, opaque=\"o\"",
    );
    let redirect = other("307 T", "Location: ../y;a?b=c#d\r\nSet-Cookie: t=2; Expires=Thu, 01 Jan 2099 00:00:00 GMT");
    let busy = other("503 S", "Retry-After: 0\r\nContent-Type: multipart/related; boundary=b; type=\"text/xml\"");
    let seeds = [&plain[..], &gzip, &chunked, &digest, &redirect, &busy];
    // The first is not changed.
    let answers = [vec![plain.clone()], texts(&seeds)].concat();
    let count = answers.len();
    let address = answering(answers).await;
    let url: Uri = format!("http://{address}/x/y").parse().unwrap();
    let mut options = options();
    options.cookies = true;
    options.redirects = Redirects::SameOrigin;
    options.retries.attempts = 1;
    options.retries.max_backoff = Duration::from_millis(1);
    options.credentials = Some(Credentials::digest("ada", "secret-password"));
    let transport = Transport::with_options(options);
    let (mut good, mut longest) = (0, Duration::ZERO);
    for _ in 0..count {
        let begun = Instant::now();
        let result = called(&transport, &url).await;
        longest = longest.max(begun.elapsed());
        good += usize::from(result.is_ok());
    }
    println!("{good} of {count} answers were taken, at most {longest:?}");
    assert!(good > 0);
    // The transport still works.
    let sound =
        answering(vec![b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>".to_vec()]).await;
    assert_eq!(called(&transport, &format!("http://{sound}/").parse().unwrap()).await, Ok(4));
}

#[tokio::test]
async fn changed_answers_of_proxies_harm_no_client() {
    let tunnel: [&[u8]; 3] = [
        b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n",
        b"HTTP/1.0 200\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n",
    ];
    let socks: [&[u8]; 5] = [
        b"\x05\x00\x05\x00\x00\x01\x7F\x00\x00\x01\x1F\x90HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>",
        b"\x05\x02\x01\x00\x05\x00\x00\x03\x04host\x1F\x90",
        b"\x05\x00\x05\x00\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x1F\x90",
        b"\x05\xFF",
        b"\x05\x00\x05\x05\x00\x01\x7F\x00\x00\x01\x1F\x90",
    ];
    for (scheme, target, seeds) in
        [("http", "https", &tunnel[..]), ("socks5", "http", &socks), ("http", "http", &tunnel)]
    {
        let answers = texts(seeds);
        let count = answers.len();
        let proxy = answering(answers).await;
        let login = if scheme == "socks5" { "" } else { "user:secret-password@" };
        let mut options = options();
        options.proxies = Proxies::all(&format!("{scheme}://{login}{proxy}")).unwrap();
        let transport = Transport::with_options(options);
        let mut longest = Duration::ZERO;
        for number in 0..count {
            let begun = Instant::now();
            let url = format!("{target}://host{number}.invalid/").parse().unwrap();
            if let Err(said) = called(&transport, &url).await {
                assert!(!said.contains("secret-password"), "{said}");
            }
            longest = longest.max(begun.elapsed());
        }
        println!("{count} answers of a proxy of {scheme} for {target}, at most {longest:?}");
    }
}

#[tokio::test]
async fn changed_beginnings_harm_no_server() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = ProxyProtocol::new(listener, ["127.0.0.0/8"]).unwrap();
    tokio::spawn(Server::new().max_connections_per_peer(100).serve(listener, echo(), std::future::pending()));
    let gzip = packed("<a>text</a>".repeat(100).as_bytes());
    let post = |headers: &str, body: &[u8]| {
        let head = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let line = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";
    let block =
        [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x10\xC0\0\x02\x01\xC6\x33\x64\x01\xDC\x04\x01\xBB\x04\0\x01\0"[..]].concat();
    let first = [&line[..], &post("", b"<a/>")].concat();
    let second = [&block[..], &post("Content-Encoding: gzip\r\n", &gzip)].concat();
    let third =
        [&line[..], &post("Content-Encoding: gzip\r\nForwarded: host=a;proto=https\r\n", &packed(b"<a/>"))].concat();
    let fourth = [&b"PROXY UNKNOWN\r\n"[..], b"GET /?wsdl HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"].concat();
    let seeds = [&first[..], &second, &third, &fourth];
    // The first is not changed.
    let texts = [vec![first.clone()], texts(&seeds)].concat();
    let (mut good, mut longest, count) = (0, Duration::ZERO, texts.len());
    for (number, text) in texts.into_iter().enumerate() {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut answer = Vec::new();
        let exchange = async {
            let _ = stream.write_all(&text).await;
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut answer).await;
        };
        timeout(PATIENCE, exchange).await.unwrap_or_else(|_| panic!("{text:?} is never answered"));
        good += usize::from(answer.starts_with(b"HTTP/1.1 200 "));
        longest = longest.max(begun.elapsed());
        if number % 100 == 99 {
            // Another client is served.
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(&first).await.unwrap();
            let mut answer = String::new();
            timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("<a/>"), "{answer}");
        }
    }
    println!("{good} of {count} beginnings were answered 200, at most {longest:?}");
    assert!(good > 0);
}

/// Wherever a server redirects a message, other servers don't get the credentials or cookies of the first one.
#[tokio::test]
async fn changed_redirects_tell_no_other_server_who_asks() {
    let other = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = other.local_addr().unwrap().port();
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = heads.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = other.accept().await.unwrap();
            let seen = seen.clone();
            tokio::spawn(async move {
                let mut read = [0; 8192];
                let length = stream.read(&mut read).await.unwrap_or(0);
                seen.lock().unwrap().push(String::from_utf8_lossy(&read[..length]).to_lowercase());
                let answer = "HTTP/1.1 401 U\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", Basic realm=\"r\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    let redirect = |status: u16, to: &str, more: &str| {
        format!("HTTP/1.1 {status} R\r\nLocation: {to}\r\nSet-Cookie: mine=secret-password; Path=/\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
    };
    let seeds = [
        redirect(307, &format!("http://127.0.0.1:{port}/x"), ""),
        redirect(308, &format!("//127.0.0.1:{port}/x?y"), ""),
        redirect(
            302,
            &format!("http://user:secret-password@127.0.0.1:{port}/x"),
            "Set-Cookie: more=secret-password; Domain=127.0.0.1\r\n",
        ),
        redirect(301, &format!("/y/../http://127.0.0.1:{port}/"), ""),
        redirect(
            401,
            &format!("http://127.0.0.1:{port}/x"),
            "WWW-Authenticate: Digest realm=\"secret-password\", nonce=\"secret-password\"\r\n",
        ),
    ];
    let seeds: Vec<_> = seeds.iter().map(Vec::as_slice).collect();
    let answers = texts(&seeds);
    let count = answers.len();
    let address = answering(answers).await;
    let url: Uri = format!("http://{address}/x/y").parse().unwrap();
    let all = [
        Credentials::digest("ada", "secret-password"),
        Credentials::basic("ada", "secret-password"),
        Credentials::bearer("secret-password").unwrap(),
    ];
    let mut sent_on = 0;
    for number in 0..count {
        let mut options = options();
        options.cookies = true;
        options.redirects = Redirects::SameOriginAnd(vec![format!("http://127.0.0.1:{port}/").parse().unwrap()]);
        options.credentials = Some(all[number % all.len()].clone());
        let _ = called(&Transport::with_options(options), &url).await;
        for head in std::mem::take(&mut *heads.lock().unwrap()) {
            sent_on += 1;
            // The target is chosen by the first server itself.
            let (_, headers) = head.split_once("\r\n").unwrap();
            assert!(
                !headers.contains("authorization:")
                    && !headers.contains("secret-password")
                    && !headers.contains("mine="),
                "{head}"
            );
        }
    }
    println!("{sent_on} of {count} were sent on");
    assert!(sent_on > 0);
}
