//! The memory of all requests of a server is limited, and given back however a request ends.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use castile_budget::{Budget, Charged};
use castile_http::Body;
use castile_http::server::{Endpoint, Routes, Server};
use castile_soap::{Description, Document, Pending, ReplyMessage, RequestMessage, Service};
use support::{Client, Host, echo, echo_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::{Instant, sleep, timeout};

const KILOBYTE: usize = 1_000;

fn milliseconds(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Begins a request of `length` bytes, of which `part` bytes are sent.
async fn begun(host: &Host, length: usize, part: usize) -> Client {
    let mut client = host.connect();
    client
        .send(format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n\r\n"))
        .await;
    client.send("x".repeat(part)).await;
    sleep(milliseconds(1)).await;
    client
}

/// Regression: 60 such bodies took 979 MB.
#[tokio::test(start_paused = true)]
async fn bodies_that_are_held_open_take_no_more_than_the_budget() {
    let budget = Budget::new(100 * KILOBYTE);
    let host = Host::start(Server::new().budget(budget.clone()), echo());
    let mut held = Vec::new();
    let mut most = 0;
    for _ in 0..30 {
        held.push(begun(&host, 20 * KILOBYTE, 15 * KILOBYTE).await);
        sleep(milliseconds(200)).await;
        most = most.max(budget.used());
    }
    // Half of the budget is for values made of messages. Decoding one message takes 11 kB more than its initial charge.
    assert!((budget.limit() / 4..=budget.limit() / 2).contains(&most), "{most}");
    let mut dropped = 0;
    for client in &mut held {
        dropped += usize::from(timeout(milliseconds(1), client.next_response()).await.is_ok());
    }
    assert_eq!(dropped, 27);
    // A new client is answered, and slow senders are dropped for it.
    let message = "y".repeat(50 * KILOBYTE);
    let mut client = host.connect();
    client.post("", &message).await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 200 ") && body == message, "{head}");
    drop(held);
    drop(client);
    sleep(milliseconds(10)).await;
    assert_eq!(budget.used(), 0);
}

/// Regression: the request was rejected, and no other request was dropped for the next one.
#[tokio::test(start_paused = true)]
async fn others_make_way_for_gzip() {
    let budget = Budget::new(90 * KILOBYTE);
    let host = Host::start(Server::new().budget(budget.clone()), echo());
    let mut held = Vec::new();
    for _ in 0..6 {
        held.push(begun(&host, 20 * KILOBYTE, 15 * KILOBYTE).await);
        sleep(milliseconds(200)).await;
    }
    // Less is left than the gzip decoder alone needs.
    assert!(budget.limit() - budget.used() < 64 << 10, "{}", budget.used());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"<a/>").unwrap();
    let packed = encoder.finish().unwrap();
    let length = packed.len();
    let mut client = host.connect();
    client
        .send(format!(
            "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n"
        ))
        .await;
    client.send(packed).await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 200 ") && body == "<a/>", "{head}");
}

/// A service with a contract of 200 kB.
struct Described;

impl Service for Described {
    fn description(&self) -> &'static Description {
        static DESCRIPTION: std::sync::LazyLock<Description> = std::sync::LazyLock::new(|| {
            let text: &'static str = Box::leak("<!---->".repeat(200 * KILOBYTE / 7).into_boxed_str());
            Description::new("Described", "urn:d", &[]).with_documents(Box::leak(Box::new([Document::wsdl(text)])), "")
        });
        &DESCRIPTION
    }

    fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> Pending {
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

/// Regression: contracts that no client read took unlimited memory.
#[tokio::test(start_paused = true)]
async fn contracts_that_are_not_read_take_no_more_than_the_budget() {
    let budget = Budget::new(1_000 * KILOBYTE);
    let host = Host::start(Server::new().budget(budget.clone()), Endpoint::new(Described));
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut client = host.connect();
        client.send("GET /?wsdl HTTP/1.1\r\nhost: h\r\n\r\n").await;
        sleep(milliseconds(1)).await;
        held.push(client);
    }
    assert!((600 * KILOBYTE..=1_000 * KILOBYTE).contains(&budget.used()), "{}", budget.used());
    let (head, _) = held.pop().unwrap().response().await;
    assert!(head.starts_with("http/1.1 503 ") && head.contains("\r\nretry-after: 1\r\n"), "{head}");
    // A client that reads gets the whole contract.
    let (head, body) = held[0].response().await;
    assert!(head.starts_with("http/1.1 200 ") && body.len() > 199 * KILOBYTE, "{head}");
    drop(held);
    sleep(milliseconds(10)).await;
    assert_eq!(budget.used(), 0);
}

/// A service outside of this crate, which charges its answers to a budget.
#[derive(Clone)]
struct Charging(Budget);

impl tower_service::Service<http::Request<Body>> for Charging {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        let answer = vec![b'x'; 150 * KILOBYTE];
        let reservation = Arc::new(self.0.reserve(answer.len()).unwrap());
        let answer = Bytes::from_owner(Charged::new(answer, reservation.clone()));
        let mut response = http::Response::new(Body::from(answer));
        response.extensions_mut().insert(reservation);
        std::future::ready(Ok(response))
    }
}

/// Regression: clients that read such answers slowly were not found.
#[tokio::test(start_paused = true)]
async fn answers_of_other_services_make_way() {
    let budget = Budget::new(200 * KILOBYTE);
    let routes = Routes::new().route("/", echo()).route_service("/charging", Charging(budget.clone()));
    let host = Host::start(Server::new().budget(budget.clone()), routes);
    let mut slow = host.connect();
    slow.send("GET /charging HTTP/1.1\r\nhost: h\r\n\r\n").await;
    sleep(milliseconds(1_500)).await;
    assert_eq!(budget.used(), 150 * KILOBYTE);
    assert!(is_answered(&host, &"y".repeat(80 * KILOBYTE)).await);
    assert!(slow.rest().await.len() < 150 * KILOBYTE);
    sleep(milliseconds(10)).await;
    assert_eq!(budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_without_room_is_answered_503() {
    let budget = Budget::new(100 * KILOBYTE);
    let host = Host::start(Server::new().budget(budget.clone()), echo());
    for others in [0, 80 * KILOBYTE] {
        let others = budget.reserve(others).unwrap();
        let mut client = host.connect();
        let length = 200 * KILOBYTE - others.bytes();
        client
            .send(format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n\r\n"))
            .await;
        let (sent, response) = tokio::join!(async { host.connect().post("", "<small/>").await }, async {
            let _ = client.try_send("x".repeat(110 * KILOBYTE)).await;
            client.response().await
        },);
        let ((), (head, body)) = (sent, response);
        assert!(head.starts_with("http/1.1 503 ") && head.contains("\r\nretry-after: 1\r\n"), "{head}");
        assert_eq!(body, "the server has too little memory, try again later\n");
    }
    sleep(milliseconds(10)).await;
    assert_eq!(budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn every_end_of_a_request_returns_its_memory() {
    let budget = Budget::new(1_000 * KILOBYTE);
    let patient = echo_with(|options| options.request_timeout = Duration::from_secs(3));
    let host = Host::start(Server::new().budget(budget.clone()), patient);
    let message = "x".repeat(50 * KILOBYTE);
    for (action, status) in [("", "200"), ("fault", "500"), ("hang", "503"), ("sleep 5", "503")] {
        let mut client = host.connect();
        client.post(&format!("soapaction: {action}\r\n"), &message).await;
        assert_eq!(client.response().await.0.split(' ').nth(1), Some(status), "{action}");
        sleep(milliseconds(1)).await;
        assert_eq!(budget.used(), 0, "{action}");
    }
    // The client disconnects before its message is complete, or stops sending.
    let client = begun(&host, 60 * KILOBYTE, 50 * KILOBYTE).await;
    assert!(budget.used() > 40 * KILOBYTE);
    drop(client);
    sleep(milliseconds(1)).await;
    assert_eq!(budget.used(), 0);
    let mut client = begun(&host, 60 * KILOBYTE, 50 * KILOBYTE).await;
    assert!(client.response().await.0.starts_with("http/1.1 408 "));
    sleep(milliseconds(1)).await;
    assert_eq!(budget.used(), 0);
}

/// Begins a package whose root part of `root` bytes is complete, and whose attachment has only begun. A handler waits
/// for it.
async fn package_at_work(host: &Host, root: usize) -> Client {
    let mut client = host.connect();
    client.send(package("attachment", 1_000 * KILOBYTE)).await;
    let root = "x".repeat(root);
    client.send(format!("--b\r\n\r\n{root}\r\n--b\r\ncontent-id: <named@part>\r\n\r\n")).await;
    sleep(milliseconds(1)).await;
    client
}

fn package(action: &str, length: usize) -> String {
    let content_type = "multipart/related; type=\"text/xml\"; boundary=b";
    format!(
        "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: {content_type}\r\nsoapaction: {action}\r\ncontent-length: {length}\r\n\r\n"
    )
}

async fn is_answered(host: &Host, message: &str) -> bool {
    let mut client = host.connect();
    client.post("", message).await;
    client.response().await.0.starts_with("http/1.1 200 ")
}

/// Regression: such packages held the budget for minutes, and others were answered with 503.
#[tokio::test(start_paused = true)]
async fn packages_at_work_that_trickle_make_way() {
    let budget = Budget::new(200 * KILOBYTE);
    let host = Host::start(Server::new().budget(budget.clone()), echo());
    let mut slow = Vec::new();
    for _ in 0..4 {
        slow.push(package_at_work(&host, 45 * KILOBYTE).await);
    }
    assert!(budget.used() > 170 * KILOBYTE);
    sleep(milliseconds(500)).await;
    slow[3].send("y".repeat(10 * KILOBYTE)).await;
    assert!(is_answered(&host, &"y".repeat(100 * KILOBYTE)).await);
    // The fastest of them was not dropped.
    sleep(milliseconds(10)).await;
    assert!(budget.used() > 45 * KILOBYTE);
    for (number, client) in slow.iter_mut().enumerate() {
        let answer = timeout(milliseconds(1), client.next_response()).await;
        assert_eq!(answer.is_ok(), number < 2, "{number}");
    }
}

/// Regression: the time for the attachments also included what the root part had earned.
#[tokio::test(start_paused = true)]
async fn a_large_root_part_earns_no_time_for_its_attachments() {
    let host = Host::start(Server::new(), echo());
    let mut client = package_at_work(&host, 900 * KILOBYTE).await;
    let began = Instant::now();
    while timeout(milliseconds(500), client.next_response()).await.is_err() {
        client.send("x").await;
    }
    assert!((30..45).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

/// Regression: such answers held the budget for the whole write timeout.
#[tokio::test(start_paused = true)]
async fn unread_answers_are_dropped_to_free_memory() {
    let budget = Budget::new(200 * KILOBYTE);
    let host = Host::start(Server::new().budget(budget.clone()), echo());
    let mut readers = Vec::new();
    for _ in 0..3 {
        let mut client = host.connect();
        client.post("soapaction: charged\r\n", &"x".repeat(60 * KILOBYTE)).await;
        readers.push(client);
    }
    sleep(milliseconds(500)).await;
    assert!(budget.used() > 150 * KILOBYTE);
    // Each client has a second, and one that reads has more. A fast beginning doesn't count for long.
    assert!(!is_answered(&host, &"y".repeat(40 * KILOBYTE)).await);
    for _ in 0..20 {
        sleep(milliseconds(100)).await;
        assert_eq!(readers[0].read(500).await.len(), 500);
    }
    assert!(is_answered(&host, &"y".repeat(100 * KILOBYTE)).await);
    let mut lengths = Vec::new();
    for mut client in readers {
        lengths.push(client.rest().await.len());
    }
    lengths.sort_unstable();
    assert!(lengths[0] < 30 * KILOBYTE && lengths[2] > 50 * KILOBYTE - 1, "{lengths:?}");
}

/// Regression: the system buffered up to 4 MB for each of them, which was not charged.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[tokio::test]
async fn unread_answers_stay_charged() {
    let budget = Budget::new(8 << 20);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Server::new().budget(budget.clone()).serve(listener, echo(), std::future::pending()));
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut client = socket.connect(address).await.unwrap();
    let message = "x".repeat(1 << 20);
    let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\nsoapaction: charged\r\n";
    client.write_all(format!("{head}content-length: {}\r\n\r\n{message}", message.len()).as_bytes()).await.unwrap();
    // The first bytes of the answer have arrived. Leave time for the next ones.
    client.readable().await.unwrap();
    sleep(milliseconds(200)).await;
    assert!(budget.used() >= message.len() - 4_096, "{}", budget.used());
    let mut answer = vec![0; message.len()];
    client.read_exact(&mut answer).await.unwrap();
}

/// Regression: such packages held the disk space for as long as they held memory.
#[tokio::test(start_paused = true)]
async fn packages_that_wait_on_the_disk_make_way() {
    let disk = Budget::new(1_000 * KILOBYTE);
    let endpoint = echo_with(|options| options.messages.attachments.memory = 0);
    let host = Host::start(Server::new().disk_budget(disk.clone()), endpoint);
    let waits = "x".repeat(600 * KILOBYTE);
    let begin = format!("--b\r\n\r\n<a/>\r\n--b\r\n\r\n{waits}\r\n--b\r\ncontent-id: <named@part>\r\n\r\n");
    let end = "named\r\n--b--\r\n";
    let head = package("by name", begin.len() + end.len());
    let mut slow = host.connect();
    slow.send(format!("{head}{begin}")).await;
    sleep(milliseconds(500)).await;
    assert!(disk.used() >= 600 * KILOBYTE);
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let mut client = host.connect();
        let _ = client.try_send(format!("{head}{begin}{end}")).await;
        statuses.push(client.response().await.0[9..12].to_owned());
        sleep(milliseconds(100)).await;
    }
    assert_eq!(statuses, ["500", "200"]);
    assert!(slow.response().await.0.starts_with("http/1.1 500 "));
    sleep(milliseconds(10)).await;
    assert_eq!(disk.used(), 0);
}

/// The budget of an endpoint takes precedence over that of the server.
#[tokio::test(start_paused = true)]
async fn an_endpoint_may_have_a_budget_of_its_own() {
    let (of_server, of_endpoint) = (Budget::new(0), Budget::new(100 * KILOBYTE));
    let endpoint = echo_with(|options| options.budget = Some(of_endpoint.clone()));
    let host = Host::start(Server::new().budget(of_server), endpoint);
    let mut client = host.connect();
    client.post("soapaction: hang\r\n", &"x".repeat(50 * KILOBYTE)).await;
    sleep(milliseconds(1)).await;
    assert!(of_endpoint.used() > 40 * KILOBYTE);
}
