//! Measures how long a normal client waits while other clients cause load: a probe for servers on this machine.
//!
//! ```text
//! castile serve --addr 127.0.0.1:8080 &
//! cargo run --release -p castile-http --example bystander -- 127.0.0.1:8080 slow 2000 20
//! cargo run --release -p castile-http --example bystander -- 127.0.0.1:8080 large 2 20
//! ```
//!
//! `slow` holds the given number of connections. Half of them send a body at 1 byte a second, half the root part of a
//! package at 200. With `large`, the given number of clients send messages of 16 MB, one after another. Meanwhile
//! echoVoid is called for the given number of seconds, on a new connection each time, and the times are printed.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

const PATH: &str = "/interop/base";
const VOID: &str = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>\
    <t:echoVoid xmlns:t=\"http://soapinterop.org/\"/></s:Body></s:Envelope>";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, how, number, seconds] = arguments.as_slice() else {
        return Err(usage());
    };
    let address: SocketAddr = address.parse().map_err(|_| usage())?;
    if !address.ip().is_loopback() {
        return Err(Error::new(ErrorKind::InvalidInput, "only servers on this machine are probed"));
    }
    let number: usize = number.parse().map_err(|_| usage())?;
    let time = Duration::from_secs(seconds.parse().map_err(|_| usage())?);
    let large = Arc::new(large());
    let mut others = tokio::task::JoinSet::new();
    for other in 0..number {
        match how.as_str() {
            "slow" => others.spawn(async move { drip(address, other % 2 == 0).await }),
            "large" => others.spawn({
                let large = large.clone();
                async move {
                    loop {
                        call(address, &large).await?;
                    }
                }
            }),
            _ => return Err(usage()),
        };
    }
    sleep(Duration::from_secs(2)).await;
    let (start, mut took, mut failed) = (Instant::now(), Vec::new(), 0);
    while start.elapsed() < time {
        let begun = Instant::now();
        match timeout(Duration::from_secs(10), call(address, VOID)).await {
            Ok(Ok(true)) => {}
            _ => failed += 1,
        }
        took.push(begun.elapsed());
        sleep(Duration::from_millis(10)).await;
    }
    let mut ended = 0;
    while others.try_join_next().is_some() {
        ended += 1;
    }
    took.sort();
    let at = |part: f64| took.get((took.len() as f64 * part) as usize).or(took.last()).copied().unwrap_or_default();
    println!(
        "{} calls, {failed} failed; p50 {:.1?}, p99 {:.1?}, most {:.1?}; {ended} of {number} others had ended",
        took.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}

fn usage() -> Error {
    Error::new(ErrorKind::InvalidInput, "expected an address, slow or large, how many, and for how many seconds")
}

/// Returns a call to echoStringArray with short strings.
fn large() -> String {
    let items = "<item>a</item>".repeat((16_000_000 - 1_000) / 14);
    format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><t:echoStringArray \
         xmlns:t=\"http://soapinterop.org/\"><inputStringArray xmlns:e=\"http://schemas.xmlsoap.org/soap/encoding/\" \
         xmlns:x=\"http://www.w3.org/2001/XMLSchema\" e:arrayType=\"x:string[]\">{items}</inputStringArray>\
         </t:echoStringArray></s:Body></s:Envelope>"
    )
}

/// Makes a call on a new connection, and returns whether the answer was 200.
async fn call(address: SocketAddr, message: &str) -> Result<bool> {
    let mut stream = TcpStream::connect(address).await?;
    let length = message.len();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\nsoapaction: \"http://soapinterop.org/\"\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let (mut reader, mut writer) = stream.split();
    let mut answer = vec![0; 64 << 10];
    let send = async {
        writer.write_all(head.as_bytes()).await?;
        writer.write_all(message.as_bytes()).await
    };
    let receive = async {
        let mut first = Vec::new();
        loop {
            match reader.read(&mut answer).await? {
                0 => return Ok(first),
                length if first.is_empty() => first.extend_from_slice(&answer[..length.min(12)]),
                _ => {}
            }
        }
    };
    let (sent, first): (Result<()>, Result<Vec<u8>>) = tokio::join!(send, receive);
    let is_fine = first? == b"HTTP/1.1 200";
    if is_fine {
        sent?;
    }
    Ok(is_fine)
}

/// Sends slowly, on one connection after another.
async fn drip(address: SocketAddr, is_package: bool) -> Result<()> {
    let (content_type, begin, piece) = match is_package {
        true => ("multipart/related; type=\"text/xml\"; boundary=b", "--b\r\n\r\n", "x".repeat(200)),
        false => ("text/xml", "<", "x".to_owned()),
    };
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: h\r\ncontent-type: {content_type}\r\ncontent-length: 16000000\r\n\r\n{begin}"
    );
    loop {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(head.as_bytes()).await?;
        while stream.write_all(piece.as_bytes()).await.is_ok() {
            sleep(Duration::from_secs(1)).await;
        }
    }
}
