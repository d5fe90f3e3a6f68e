//! A server that is asked to stop finishes what it began.

mod support;

use std::time::Duration;

use castile_http::server::Server;
use support::{Host, echo};
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_request_at_work_is_finished_and_idle_connections_are_closed() {
    let mut host = Host::start(Server::new(), echo());
    let (mut fresh, mut warm, mut resting, mut busy) = (host.connect(), host.connect(), host.connect(), host.connect());
    resting.post("", "<a/>").await;
    resting.response().await;
    sleep(Duration::from_secs(30)).await;
    // `fresh` has sent nothing for so long that it is gone; another takes its part.
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
    (&mut host.server).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_outlasts_the_grace_is_dropped() {
    let mut host = Host::start(Server::new().shutdown_grace(Duration::from_secs(10)), echo());
    let mut client = host.connect();
    client.post("soapaction: hang\r\n", "<a/>").await;
    sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    host.stop();
    (&mut host.server).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(client.rest().await, "");
    assert_eq!(start.elapsed().as_secs(), 10);
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
