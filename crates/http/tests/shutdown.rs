//! A server that is asked to stop finishes the requests that it began.

mod support;

use std::time::Duration;

use castile_http::server::Server;
use support::{Host, echo, echo_with};
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_request_at_work_is_finished_and_idle_connections_are_closed() {
    let mut host = Host::start(Server::new(), echo());
    let (mut fresh, mut warm, mut resting, mut busy) = (host.connect(), host.connect(), host.connect(), host.connect());
    resting.post("", "<a/>").await;
    resting.response().await;
    sleep(Duration::from_secs(30)).await;
    // `fresh` has been silent for so long that it was closed; use a new connection.
    assert_eq!(fresh.rest().await, "");
    assert_eq!(warm.rest().await, "");
    assert_eq!(busy.rest().await, "");
    (fresh, warm, busy) = (host.connect(), host.connect(), host.connect());
    warm.post("", "<a/>").await;
    warm.response().await;
    busy.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;

    let start = Instant::now();
    host.stop();
    for idle in [&mut fresh, &mut warm, &mut resting] {
        assert_eq!(idle.rest().await, "");
    }
    assert_eq!(start.elapsed().as_secs(), 0);
    let (head, body) = busy.response().await;
    assert_eq!(body, "<a/>");
    assert!(head.contains("connection: close\r\n"), "{head}");
    assert_eq!(busy.rest().await, "");
    assert!((&mut host.server).await.unwrap().is_complete());
    assert_eq!(start.elapsed().as_secs(), 4);
}

/// Regression: only 128 of them were answered, which is what tokio lets a task do at a time.
#[tokio::test(start_paused = true)]
async fn all_connections_that_wait_to_be_accepted_are_answered() {
    let mut host = Host::start(Server::new(), echo());
    let mut waiting = Vec::new();
    for _ in 0..1_000 {
        let mut client = host.connect();
        client.post("", "<a/>").await;
        waiting.push(client);
    }
    host.stop();
    let mut answered = 0;
    for client in &mut waiting {
        answered += usize::from(client.next_response().await.is_some());
    }
    assert_eq!(answered, 1_000);
}

#[tokio::test(start_paused = true)]
async fn requests_longer_than_the_grace_period_are_dropped() {
    let mut host = Host::start(Server::new().shutdown_grace(Duration::from_secs(10)), echo());
    let mut client = host.connect();
    client.post("soapaction: hang\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    host.stop();
    let _ = (&mut host.server).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(client.rest().await, "");
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn requests_cut_off_by_the_grace_period_are_reported() {
    // The body has no required rate, so only the grace time ends it.
    let endpoint = echo_with(|options| options.body_rate = 0);
    let mut host = Host::start(Server::new().shutdown_grace(Duration::from_secs(10)), endpoint);
    let mut clients = Vec::new();
    for headers in ["soapaction: \"hang\"\r\n", "soapaction: \"stream 100\"\r\n", "soapaction: \"sleep 5\"\r\n"] {
        let mut client = host.connect();
        client.post(headers, "<a/>").await;
        clients.push(client);
    }
    // This one is still being received, in the SOAP version without SOAPAction.
    let mut client = host.connect();
    let content_type = "application/soap+xml; action=\"urn:half\"";
    client
        .send(format!("POST /half HTTP/1.1\r\nhost: h\r\ncontent-type: {content_type}\r\ncontent-length: 9\r\n\r\n<"))
        .await;
    sleep(Duration::from_secs(1)).await;
    host.stop();
    let shutdown = (&mut host.server).await.unwrap();
    assert!(!shutdown.is_complete());
    assert_eq!(shutdown.stuck, 0);
    let mut cut_off: Vec<_> = shutdown.cut_off.iter().map(ToString::to_string).collect();
    cut_off.sort();
    assert_eq!(cut_off, ["/ hang after 11.0 s", "/ stream 100 after 11.0 s", "/half urn:half after 11.0 s"]);
}

#[tokio::test(start_paused = true)]
async fn a_complete_shutdown_reports_no_cut_off_requests() {
    let mut host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.post("soapaction: \"sleep 5\"\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    host.stop();
    assert!((&mut host.server).await.unwrap().is_complete());
}

/// A request that is on its way during the order to stop was sent to a running server.
#[tokio::test(start_paused = true)]
async fn a_request_on_its_way_is_answered_and_the_connection_closed() {
    let mut host = Host::start(Server::new(), echo());
    let (mut fresh, mut busy, mut resting) = (host.connect(), host.connect(), host.connect());
    resting.post("", "<a/>").await;
    resting.response().await;
    sleep(Duration::from_secs(5)).await;
    busy.post("", "<a/>").await;
    busy.response().await;
    host.stop();
    for (wait, client) in [(0, &mut fresh), (100, &mut busy), (100, &mut resting)] {
        sleep(Duration::from_millis(wait)).await;
        client.post("", "<last/>").await;
        let (head, body) = client.response().await;
        assert!(head.contains("connection: close\r\n"), "{head}");
        assert_eq!(body, "<last/>");
        assert_eq!(client.rest().await, "");
    }
    assert!((&mut host.server).await.unwrap().is_complete());
}

/// The system has accepted the connection, so its client may have sent a request.
#[tokio::test(start_paused = true)]
async fn a_connection_that_waits_to_be_accepted_is_served() {
    let mut host = Host::start(Server::new().max_connections(3), echo());
    host.connect().post("", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    // All of this happens before the server polls its listener.
    let mut client = host.connect();
    host.stop();
    client.post("", "<last/>").await;
    let (head, body) = client.response().await;
    assert!(head.contains("connection: close\r\n"), "{head}");
    assert_eq!(body, "<last/>");
}

/// A request whose head has arrived in part counts as being at work.
#[tokio::test(start_paused = true)]
async fn a_head_that_is_half_there_is_answered() {
    let mut host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-").await;
    sleep(Duration::from_secs(1)).await;
    host.stop();
    sleep(Duration::from_secs(3)).await;
    client.send("type: text/xml\r\ncontent-length: 4\r\n\r\n<a/>").await;
    let (head, body) = client.response().await;
    assert!(head.contains("connection: close\r\n"), "{head}");
    assert_eq!(body, "<a/>");
    assert!((&mut host.server).await.unwrap().is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_dropped_leaves_no_connection() {
    let host = Host::start(Server::new(), echo());
    let mut client = host.connect();
    client.post("soapaction: hang\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    host.server.abort();
    let start = Instant::now();
    assert_eq!(client.rest().await, "");
    assert_eq!(start.elapsed().as_secs(), 0);
}
