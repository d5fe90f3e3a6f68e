//! Load above the limits is rejected quickly, or waits outside.

mod support;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use castile_budget::Budget;
use castile_http::server::Server;
use castile_soap::{Next, RequestMessage, from_fn};
use support::{Host, echo};
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_get_retry_after() {
    let host = Host::start(Server::new().max_requests_in_flight(2), echo());
    let mut busy = [host.connect(), host.connect()];
    for client in &mut busy {
        client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    }
    sleep(Duration::from_secs(1)).await;
    let mut client = host.connect();
    client.post("", "<b/>").await;
    let (head, body) = client.response().await;
    assert!(head.starts_with("http/1.1 503 ") && head.contains("retry-after: 1\r\n"), "{head}");
    assert_eq!(body, "too many requests at once, try again later\n");
    for client in &mut busy {
        assert_eq!(client.response().await.1, "<a/>");
    }
    // The rejected connection continues.
    client.post("", "<c/>").await;
    assert_eq!(client.response().await.1, "<c/>");
}

/// Regression: behind a router, which calls an endpoint only when the answer is polled, the request already had its
/// slot. It kept the slot while its message arrived, and was charged to the budget of the process.
#[tokio::test(start_paused = true)]
async fn an_endpoint_behind_a_router_knows_its_server() {
    let (budget, charged) = (Budget::new(1 << 20), Arc::new(Mutex::new(Vec::new())));
    let told = charged.clone();
    let look = from_fn(move |request: RequestMessage, next: Next| {
        told.lock().unwrap().push(request.reservation.as_ref().map(|reservation| reservation.budget().clone()));
        next.run(request)
    });
    let server = Server::new().max_requests_in_flight(1).max_requests_queued(0).budget(budget.clone());
    let host = Host::start(server, Router::new().route_service("/", echo().layer(look)));
    let mut slow = host.connect();
    slow.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 4\r\n\r\n<a").await;
    sleep(Duration::from_secs(1)).await;
    let mut other = host.connect();
    other.post("", "<b/>").await;
    assert_eq!(other.response().await.1, "<b/>");
    slow.send("/>").await;
    assert_eq!(slow.response().await.1, "<a/>");
    // At work it has a slot.
    slow.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    other.post("", "<b/>").await;
    assert!(other.response().await.0.starts_with("http/1.1 503 "));
    assert_eq!(slow.response().await.1, "<a/>");
    // The router holds the body of the rejected request, so the connection is closed.
    let mut other = host.connect();
    other.post("", "<b/>").await;
    assert_eq!(other.response().await.1, "<b/>");
    let charged = charged.lock().unwrap();
    assert!(charged.len() == 4 && charged.iter().flatten().all(|of| of.is_same(&budget)), "{charged:?}");
}

/// After a reset, the client might not receive the reason.
#[tokio::test(start_paused = true)]
async fn a_slow_sender_is_heard_out_when_it_was_refused() {
    const HEAD: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 100\r\n\r\n";
    let host = Host::start(Server::new().max_requests_in_flight(0), echo());
    let mut client = host.connect();
    client.send(HEAD).await;
    for _ in 0..4 {
        sleep(Duration::from_secs(1)).await;
        client.send("x".repeat(25)).await;
    }
    let (head, _) = client.response().await;
    assert!(head.starts_with("http/1.1 503 "), "{head}");
    assert_eq!(client.rest().await, "");

    // It isn't read forever. Sending panics when the connection is closed.
    let mut client = host.connect();
    let start = Instant::now();
    let trickle = async move {
        client.send(HEAD).await;
        loop {
            sleep(Duration::from_secs(1)).await;
            client.send("x").await;
        }
    };
    let trickle = tokio::spawn(async move { timeout(Duration::from_secs(90), trickle).await });
    assert!(trickle.await.is_err_and(|error| error.is_panic()));
    assert!((4..=6).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_limit_wait_for_those_at_work() {
    let host = Host::start(Server::new().max_connections(1), echo());
    let mut first = host.connect();
    first.post("soapaction: hang\r\n", "<a/>").await;
    let mut second = host.connect();
    second.post("", "<b/>").await;
    assert!(timeout(Duration::from_secs(30), second.response()).await.is_err());
    drop(first);
    // The handler isn't notified, and ends in time.
    assert_eq!(second.response().await.1, "<b/>");
}

/// Regression: a new connection had to wait until an idle one timed out.
#[tokio::test(start_paused = true)]
async fn an_idle_connection_makes_room_for_a_new_one() {
    let host = Host::start(Server::new().max_connections(2), echo());
    let (mut idle, mut busy) = (host.connect(), host.connect());
    for client in [&mut idle, &mut busy] {
        client.post("", "<a/>").await;
        client.response().await;
    }
    sleep(Duration::from_secs(10)).await;
    busy.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    let mut new = host.connect();
    new.post("", "<b/>").await;
    assert_eq!(new.response().await.1, "<b/>");
    assert!(start.elapsed() < Duration::from_millis(100));
    assert_eq!(idle.rest().await, "");
    assert_eq!(busy.response().await.1, "<a/>");
}

/// Regression: a slot that became free a moment later did not help a request that arrived a moment before.
#[tokio::test(start_paused = true)]
async fn a_request_waits_shortly_for_a_slot() {
    let server = Server::new().max_requests_in_flight(1).max_requests_queued(1).queue_timeout(Duration::from_secs(6));
    let host = Host::start(server, echo());
    let (mut first, mut second, mut third) = (host.connect(), host.connect(), host.connect());
    first.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    second.post("soapaction: \"sleep 5\"\r\n", "<b/>").await;
    sleep(Duration::from_millis(1)).await;
    let start = Instant::now();
    third.post("", "<c/>").await;
    assert!(third.response().await.0.starts_with("http/1.1 503 "));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(second.response().await.1, "<b/>");
    assert_eq!(start.elapsed().as_secs(), 8);
    // It doesn't wait longer than that.
    first.response().await;
    first.post("soapaction: hang\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    second.post("", "<b/>").await;
    assert!(second.response().await.0.starts_with("http/1.1 503 "));
    assert_eq!(start.elapsed().as_secs(), 6);
}

#[tokio::test(start_paused = true)]
async fn an_address_has_no_more_connections_than_it_may() {
    let host = Host::start(Server::new().max_connections_per_peer(2), echo());
    let mut clients = [1, 1, 2].map(|number| host.connect_from([10, 0, 0, number]));
    for client in &mut clients {
        client.post("", "<a/>").await;
        assert_eq!(client.response().await.1, "<a/>");
    }
    let mut third = host.connect_from([10, 0, 0, 1]);
    assert_eq!(third.rest().await, "");
    let [first, ..] = clients;
    drop(first);
    sleep(Duration::from_millis(1)).await;
    third = host.connect_from([10, 0, 0, 1]);
    third.post("", "<a/>").await;
    assert_eq!(third.response().await.1, "<a/>");
}

#[tokio::test(start_paused = true)]
async fn accepting_goes_on_after_errors() {
    let host = Host::start(Server::new(), echo());
    for _ in 0..5 {
        host.fail_accept(io::Error::from_raw_os_error(24)); // EMFILE
        host.fail_accept(io::ErrorKind::ConnectionAborted.into());
    }
    let mut client = host.connect();
    client.post("", "<a/>").await;
    assert_eq!(client.response().await.1, "<a/>");
}
