//! What attachments cost the server: processor time per request of 1 MB and an answer of as much, beside the HTTP floor that
//! reads as many bytes and answers as many.
//!
//! ```text
//! cargo run --release -p castile-suites --example attachments -- [REQUESTS] [BYTES]
//! ```
//!
//! The server is a process of its own with one thread; Linux tells its time.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use castile::http::Body;
use castile::http::client::Transport;
use castile::http::server::{Routes, Server};
use castile::mime::{ContentId, Package, Packaging, Part};
use castile_suites::attachments::Service;
use castile_suites::attachments::contract::AttachmentsServer;
use castile_suites::floor;
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

/// Serves until it is killed: the service, or a floor that answers so many bytes.
async fn serve(floor: Option<usize>) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    match floor {
        Some(length) => floor::serve(listener, vec![vec![b'x'; length].into()], std::future::pending()).await,
        None => {
            let routes = Routes::new().route("/0", AttachmentsServer::new(Service).into());
            Server::new().serve(listener, routes, std::future::pending()).await;
        }
    }
    Ok(())
}

/// A request: its name, its Content-Type, its body.
struct Case {
    name: &'static str,
    content_type: String,
    body: Bytes,
}

impl Case {
    fn new(name: &'static str, packaging: Packaging, content: &str, id: &ContentId, bytes: usize) -> Result<Self> {
        let envelope = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{content}</s:Body></s:Envelope>"
        );
        let mut package = Package::new(packaging, "text/xml", Bytes::from(envelope).into())?;
        let data: Vec<u8> = (0..bytes).map(|number| (number * 7) as u8).collect();
        package.attach(Part::new(id.clone(), "application/octet-stream", data.into())?)?;
        Ok(Case { name, content_type: package.content_type(), body: package.into_body().bytes() })
    }
}

trait Collected {
    fn bytes(self) -> Bytes;
}

impl<B: http_body::Body<Data = Bytes>> Collected for B {
    /// All of a body that is at hand.
    fn bytes(self) -> Bytes {
        let collected = futures_util::FutureExt::now_or_never(self.collect()).and_then(|all| all.ok());
        collected.map(|all| all.to_bytes()).unwrap_or_default()
    }
}

async fn compare(requests: usize, bytes: usize) -> Result<()> {
    let id = ContentId::random()?;
    let include = |name: &str| {
        format!(
            "<{name} xmlns='urn:castile:attachments'><data><x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' \
             href='{}'/></data></{name}>",
            id.to_url()
        )
    };
    let cases = [
        Case::new("SwA, streamed", Packaging::Attachments, "", &id, bytes)?,
        Case::new("MTOM, as a value", Packaging::Mtom, &include("echoValue"), &id, bytes)?,
        Case::new("MTOM, streamed", Packaging::Mtom, &include("echoStream"), &id, bytes)?,
    ];
    println!("{requests} requests of {bytes} bytes each; processor time of the server per request");
    for case in cases {
        let (server, answer) = measure(&case, &["serve"], requests).await?;
        let (floor, _) = measure(&case, &["floor", &answer.to_string()], requests).await?;
        println!("{:<18} {server:>7.0} µs, floor {floor:>6.0} µs: {:.2} times", case.name, server / floor);
    }
    Ok(())
}

/// The processor time of a request in microseconds, and how long the answer is.
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
    let url = format!("http://{}/0", address.trim());
    let mut transport = Transport::new();
    let (mut before, mut length) = (0.0, 0);
    let warm_up = requests / 10 + 1;
    for number in 0..requests + warm_up {
        if number == warm_up {
            before = processor_time(child.id())?;
        }
        let request =
            Request::post(&url).header("content-type", &case.content_type).body(Body::from(case.body.clone()))?;
        let response = tower_service::Service::call(&mut transport, request).await?;
        if !response.status().is_success() {
            return Err(format!("{}: {}", case.name, response.status()).into());
        }
        length = response.into_body().collect().await?.to_bytes().len();
    }
    Ok(((processor_time(child.id())? - before) / requests as f64, length))
}

/// What a process took so far, in microseconds: Linux counts nanoseconds that it ran.
fn processor_time(process: u32) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat"))?;
    let nanoseconds: f64 = text.split(' ').next().ok_or("no time")?.parse()?;
    Ok(nanoseconds / 1000.0)
}
