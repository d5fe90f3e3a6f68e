//! What all requests of a server take together is bounded, and given back however a request ends.

mod support;

use std::time::Duration;

use castile_budget::Budget;
use castile_http::server::Server;
use support::{Client, Host, echo, echo_with};
use tokio::time::{sleep, timeout};

const KILOBYTE: usize = 1_000;

fn milliseconds(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A request of so many bytes, of which `part` is sent.
async fn begun(host: &Host, length: usize, part: usize) -> Client {
    let mut client = host.connect();
    client
        .send(format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n\r\n"))
        .await;
    client.send("x".repeat(part)).await;
    sleep(milliseconds(1)).await;
    client
}

/// 60 of them took 979 MB.
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
    // Half of it is for what is made of messages. One of them takes 11 kB more than it is charged for at first.
    assert!((budget.limit() / 4..=budget.limit() / 2).contains(&most), "{most}");
    let mut dropped = 0;
    for client in &mut held {
        dropped += usize::from(timeout(milliseconds(1), client.next_response()).await.is_ok());
    }
    assert_eq!(dropped, 27);
    // Who comes makes those give way who send slowly, and is answered.
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
        assert_eq!(body, "the server has too little memory at this time, try again later\n");
    }
    sleep(milliseconds(10)).await;
    assert_eq!(budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn however_a_request_ends_its_memory_is_given_back() {
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
    // The client goes before its message is complete, or stops sending.
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

/// The budget of an endpoint comes before that of the server.
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
