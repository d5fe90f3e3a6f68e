//! Measures what large requests cost the server: the processor time for each, compared with the HTTP floor, which reads and
//! answers the same number of bytes. Requests are documents of 200 KB, as markup and in a CDATA section, and attachments,
//! which are returned in the answer.
//!
//! ```text
//! cargo run --release -p castile-suites --example attachment_costs -- [REQUESTS] [BYTES]
//! ```
//!
//! `BYTES` is the length of the attachments. The server is a separate process with one thread, whose time Linux reports.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use castile::http::Body;
use castile::http::client::Transport;
use castile::http::server::{Routes, Server};
use castile_load::Message;
use castile_suites::attachments::contract::AttachmentsServer;
use castile_suites::attachments::{self, Kind, Service};
use castile_suites::{floor, styles};
use http::Request;
use http_body_util::BodyExt;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => runtime.block_on(serve(None)),
        ["floor", bytes] => runtime.block_on(serve(Some(bytes.parse()?))),
        [] => runtime.block_on(compare(1_000, 1 << 20)),
        [requests] => runtime.block_on(compare(requests.parse()?, 1 << 20)),
        [requests, bytes] => runtime.block_on(compare(requests.parse()?, bytes.parse()?)),
        _ => Err("usage: attachments [REQUESTS] [BYTES]".into()),
    }
}

/// Serves until it is killed: the service, or a floor that answers this many bytes.
async fn serve(floor: Option<usize>) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    match floor {
        Some(length) => {
            let answer = floor::Exchange::new(&Bytes::new(), vec![b'x'; length].into());
            floor::serve(listener, vec![vec![answer]], std::future::pending()).await
        }
        None => {
            let routes = Routes::new()
                .route(attachments::PATH, AttachmentsServer::new(Service))
                .route(styles::PATH, styles::contract::DocPtServer::new(styles::Service));
            let _ = Server::new().serve(listener, routes, std::future::pending()).await;
        }
    }
    Ok(())
}

/// A request to measure.
struct Case {
    name: &'static str,
    path: &'static str,
    action: String,
    content_type: String,
    body: Bytes,
}

async fn compare(requests: usize, bytes: usize) -> Result<()> {
    let mut cases = Vec::new();
    for (name, of) in [("document, 200 KB", "document-200KB"), ("CDATA, 200 KB", "cdata-200KB")] {
        let case = styles::cases().into_iter().find(|case| case.name == of).ok_or("no such case")?;
        for Message { action, content_type, body, .. } in case.messages().iter().cloned() {
            cases.push(Case { name, path: styles::PATH, action, content_type, body });
        }
    }
    let kinds =
        [("SwA, streamed", Kind::Attached), ("MTOM, as a value", Kind::Value), ("MTOM, streamed", Kind::Streamed)];
    for (name, kind) in kinds {
        let attachments::Request { content_type, body } = attachments::request(kind, bytes).await?;
        cases.push(Case { name, path: attachments::PATH, action: String::new(), content_type, body });
    }
    println!("{requests} requests, attachments of {bytes} bytes; processor time of the server per request");
    for case in cases {
        let (server, answer) = measure(&case, &["serve"], requests).await?;
        let (floor, _) = measure(&Case { path: "/0", ..case }, &["floor", &answer.to_string()], requests).await?;
        println!("{:<18} {server:>7.0} µs, floor {floor:>6.0} µs: {:.2} times", case.name, server / floor);
    }
    Ok(())
}

/// Returns the processor time of a request in microseconds, and the length of the answer.
async fn measure(case: &Case, role: &[&str], requests: usize) -> Result<(f64, usize)> {
    let mut child = Command::new(std::env::current_exe()?).args(role).stdout(Stdio::piped()).spawn()?;
    let result = drive(case, &mut child, requests).await;
    child.kill()?;
    child.wait()?;
    result
}

async fn drive(case: &Case, child: &mut Child, requests: usize) -> Result<(f64, usize)> {
    let mut address = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut address)?;
    let url = format!("http://{}{}", address.trim(), case.path);
    let mut transport = Transport::new();
    let (mut before, mut length) = (0.0, 0);
    let warm_up = requests / 10 + 1;
    for number in 0..requests + warm_up {
        if number == warm_up {
            before = processor_time(child.id())?;
        }
        let request = Request::post(&url)
            .header("content-type", &case.content_type)
            .header("soapaction", format!("\"{}\"", case.action))
            .body(Body::from(case.body.clone()))?;
        let response = tower_service::Service::call(&mut transport, request).await?;
        if !response.status().is_success() {
            return Err(format!("{}: {}", case.name, response.status()).into());
        }
        length = response.into_body().collect().await?.to_bytes().len();
    }
    Ok(((processor_time(child.id())? - before) / requests as f64, length))
}

/// Returns the processor time of a process in microseconds. Linux counts it in nanoseconds.
fn processor_time(process: u32) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat"))?;
    let nanoseconds: f64 = text.split(' ').next().ok_or("no time")?.parse()?;
    Ok(nanoseconds / 1000.0)
}
