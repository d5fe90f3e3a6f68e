//! Invalid and unusual requests: each file of `tests/requests` is a table of raw requests and their responses.
//!
//! ```text
//! == what it is about
//! POST / HTTP/1.1
//! Host: h
//!
//! --
//! 415 keep found no content type
//! ```
//!
//! Lines of a request end with CR LF; the last one before `--` doesn't. A backslash at the end of a line joins it to
//! the next one. `\r`, `\n`, `\t` and `\xHH` are bytes, and `\{1000 text}` repeats the text that many times. After
//! `--`, a line for each response has its status, whether the connection stays open, and the beginning of its text. A
//! connection that stays open must answer another request correctly. One that doesn't must announce that, be closed,
//! and answer nothing more.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fmt::Write;
use std::path::Path;

use castile_http::server::Server;
use support::{Client, Host, echo};

struct Case {
    name: String,
    request: Vec<u8>,
    responses: Vec<Expected>,
}

struct Expected {
    status: String,
    is_kept: bool,
    text: String,
}

#[tokio::test(start_paused = true)]
async fn every_request_is_answered_as_in_the_table() {
    let host = Host::start(Server::new(), echo());
    let mut wrong = String::new();
    let mut count = 0;
    for case in cases() {
        count += 1;
        if let Err(problem) = check(&host, &case).await {
            let _ = writeln!(wrong, "{}: {problem}", case.name);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count > 50, "{count} cases");
}

async fn check(host: &Host, case: &Case) -> Result<(), String> {
    // More than the largest request.
    let mut client = host.connect_over(1 << 20);
    client.try_send(&case.request).await?;
    for (number, expected) in case.responses.iter().enumerate() {
        let Some((head, text)) = client.next_response().await else {
            return Err(format!("response {number} is missing"));
        };
        let status = head.split(' ').nth(1).unwrap_or_default();
        if status != expected.status || !text.starts_with(&expected.text) {
            return Err(format!("found {status} {text:?}, expected {} {:?}", expected.status, expected.text));
        }
        if status == "100" {
            continue;
        }
        // HTTP/1.0 closes by default, without a header.
        let is_said = head.starts_with("http/1.1 ");
        let is_closed = head.contains("\r\nconnection: close\r\n");
        if is_said && is_closed == expected.is_kept {
            return Err(format!("expected to be {}: {head}", if expected.is_kept { "kept" } else { "closed" }));
        }
    }
    match case.responses.last() {
        Some(last) if last.is_kept => check_kept(&mut client).await,
        _ => {
            let rest = client.rest().await;
            if rest.is_empty() { Ok(()) } else { Err(format!("further answers: {rest:?}")) }
        }
    }
}

async fn check_kept(client: &mut Client) -> Result<(), String> {
    client.try_send("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: 7\r\n\r\n<next/>").await?;
    match client.next_response().await {
        Some((_, text)) if text == "<next/>" => Ok(()),
        other => Err(format!("the next request was answered by {other:?}")),
    }
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let mut files: Vec<_> = directory.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| read(&std::fs::read_to_string(file).unwrap())).collect()
}

fn read(table: &str) -> Vec<Case> {
    let cases = table.split("== ").skip(1);
    cases
        .map(|case| {
            let (name, rest) = case.split_once('\n').unwrap();
            let (request, responses) = rest.split_once("\n--\n").unwrap_or_else(|| panic!("{name} has no --"));
            let lines = responses.lines().filter(|line| !line.is_empty());
            let responses = lines.map(|line| {
                let mut words = line.splitn(3, ' ');
                let mut word = || words.next().unwrap_or_default();
                let (status, kept, text) = (word().to_owned(), word(), word().to_owned());
                assert!(["keep", "close"].contains(&kept) || status == "100", "{name}: {line}");
                Expected { status, is_kept: kept == "keep", text }
            });
            Case { name: name.to_owned(), request: bytes(request), responses: responses.collect() }
        })
        .collect()
}

fn bytes(request: &str) -> Vec<u8> {
    let request = request.replace("\\\n", "").replace('\n', "\r\n");
    let mut bytes = Vec::new();
    let mut rest = request.as_str();
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (kind, behind) = escape.split_at(1);
        rest = behind;
        match kind {
            "r" => bytes.push(b'\r'),
            "n" => bytes.push(b'\n'),
            "t" => bytes.push(b'\t'),
            "x" => {
                let (digits, behind) = rest.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = behind;
            }
            "{" => {
                let (repeated, behind) = rest.split_once('}').unwrap();
                let (count, text) = repeated.split_once(' ').unwrap();
                bytes.extend(self::bytes(text).repeat(count.parse().unwrap()));
                rest = behind;
            }
            other => panic!("no escape is called {other}"),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
