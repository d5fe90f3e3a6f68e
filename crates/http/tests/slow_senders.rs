//! Slow senders take no resources from other clients.

mod support;

use std::time::Duration;

use castile_budget::Budget;
use castile_http::server::Server;
use support::{Client, Host, echo, echo_with};
use tokio::time::{Instant, sleep, timeout};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const MESSAGE: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 100000\r\n\r\n";
const PACKAGE: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/related; type=\"text/xml\"; boundary=b\r\n\
    soapaction: attachment\r\ncontent-length: 100000\r\n\r\n--b\r\n\r\n";

async fn started(host: &Host, head: &str) -> Client {
    let mut client = host.connect();
    client.send(head).await;
    client
}

/// Regression: 1,024 slow senders held every slot without a time limit.
#[tokio::test(start_paused = true)]
async fn slow_senders_hold_no_slots() {
    for head in [MESSAGE, PACKAGE] {
        let host = Host::start(Server::new().max_requests_in_flight(2), echo());
        let mut slow = Vec::new();
        for _ in 0..300 {
            slow.push(started(&host, head).await);
        }
        for _ in 0..5 {
            sleep(seconds(1)).await;
            for client in &mut slow {
                client.send("<").await;
            }
            let start = Instant::now();
            for message in ["<a/>", "<b/>"] {
                let mut client = host.connect();
                client.post("", message).await;
                assert_eq!(client.response().await.1, message);
            }
            assert!(start.elapsed() < Duration::from_millis(10), "{:?}", start.elapsed());
        }
    }
}

/// The handler has begun and waits for more of the attachment.
#[tokio::test(start_paused = true)]
async fn an_attachment_that_drips_holds_no_slot() {
    let host = Host::start(Server::new().max_requests_in_flight(1), echo());
    let end = "\r\n--b--\r\n";
    let length = 10 + end.len() + "--b\r\n\r\n<a/>\r\n--b\r\nContent-ID: <x@y>\r\n\r\n".len();
    let mut slow = Vec::new();
    for _ in 0..3 {
        let head = PACKAGE.replace("100000", &length.to_string());
        slow.push(started(&host, &format!("{head}<a/>\r\n--b\r\nContent-ID: <x@y>\r\n\r\n")).await);
    }
    for _ in 0..10 {
        sleep(Duration::from_millis(500)).await;
        for client in &mut slow {
            client.send("x").await;
        }
        let mut client = host.connect();
        client.post("", "<b/>").await;
        assert_eq!(client.response().await.1, "<b/>");
    }
    for client in &mut slow {
        client.send(end).await;
        assert_eq!(client.response().await.1, "10 bytes");
    }
}

/// Sends a package whose attachment arrives while another request holds the only slot. It must be answered when that
/// request is done.
async fn goes_on_with_a_slot(action: &str) {
    let host = Host::start(Server::new().max_requests_in_flight(1), echo());
    let end = "\r\n--b--\r\n";
    let body = "<a/>\r\n--b\r\nContent-ID: <x@y>\r\n\r\n";
    let length = "--b\r\n\r\n".len() + body.len() + 10 + end.len();
    let head = PACKAGE.replace("attachment", action).replace("100000", &length.to_string());
    let mut slow = started(&host, &format!("{head}{body}")).await;
    sleep(seconds(1)).await;
    let mut client = host.connect();
    client.post("soapaction: \"sleep 5\"\r\n", "<b/>").await;
    sleep(seconds(1)).await;
    slow.send(format!("{}{end}", "x".repeat(10))).await;
    let start = Instant::now();
    assert_eq!(slow.response().await.1, "10 bytes");
    assert_eq!(start.elapsed().as_secs(), 4);
    assert_eq!(client.response().await.1, "<b/>");
}

/// A handler that waited for its peer continues with a slot, and others wait meanwhile.
#[tokio::test(start_paused = true)]
async fn a_handler_that_goes_on_has_a_slot() {
    goes_on_with_a_slot("attachment").await;
}

/// Regression: the task was never woken.
#[tokio::test(start_paused = true)]
async fn a_task_that_reads_for_a_handler_waits_for_a_slot() {
    goes_on_with_a_slot("task").await;
}

/// Regression: once the handler had waited, it had no slot for the rest of its time.
#[tokio::test(start_paused = true)]
async fn a_handler_that_waits_no_longer_has_a_slot() {
    let host = Host::start(Server::new().max_requests_in_flight(1), echo());
    let head = PACKAGE.replace("attachment", "impatient");
    let mut slow = started(&host, &format!("{head}<a/>\r\n--b\r\nContent-ID: <x@y>\r\n\r\n")).await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        sleep(Duration::from_millis(800)).await;
        let mut client = host.connect();
        client.post("", "<b/>").await;
        answers.push(client.response().await.0[9..12].to_owned());
    }
    assert_eq!(answers, ["200", "503"]);
    assert_eq!(slow.response().await.1, "<a/>");
}

/// Regression: it was closed without an answer, in favor of a later client.
#[tokio::test(start_paused = true)]
async fn a_package_at_work_makes_no_room() {
    let server = Server::new().max_requests_receiving(1).max_bytes_receiving(100_000);
    let host = Host::start(server, echo());
    let head = PACKAGE.replace("attachment", "sleep 5").replace("100000", "200000");
    let mut at_work = started(&host, &head).await;
    sleep(seconds(1)).await;
    at_work.send(format!("{}\r\n--b\r\n", "x".repeat(80_000))).await;
    sleep(seconds(1)).await;
    let mut client = started(&host, MESSAGE).await;
    sleep(seconds(1)).await;
    client.send("y".repeat(90_000)).await;
    sleep(seconds(1)).await;
    client.send("y".repeat(10_000)).await;
    assert_eq!(client.response().await.1.len(), 100_000);
    assert_eq!(at_work.response().await.1.len(), 80_000);
}

/// Regression: it was closed without an answer.
#[tokio::test(start_paused = true)]
async fn a_dropped_message_whose_last_bytes_arrive_is_answered() {
    let host = Host::start(Server::new().max_bytes_receiving(60_000), echo_with(|options| options.body_rate = 0));
    let mut last = host.connect();
    let head = MESSAGE.replace("100000\r\n", "60000\r\nsoapaction: \"sleep 5\"\r\n");
    last.send(head).await;
    last.send("x".repeat(50_000)).await;
    sleep(seconds(5)).await;
    let mut other = started(&host, MESSAGE).await;
    other.send("x".repeat(5_000)).await;
    sleep(seconds(1)).await;
    other.send("x".repeat(10_000)).await;
    last.send("x".repeat(10_000)).await;
    let answer = last.next_response().await.expect("an answer");
    assert!(answer.0.starts_with("http/1.1 408 "), "{}", answer.0);
}

/// Regression: all of them were dropped, because each new one found too many bytes before the first was gone.
#[tokio::test(start_paused = true)]
async fn one_makes_room_for_as_much_as_it_holds() {
    let host = Host::start(Server::new().max_bytes_receiving(280_000), echo_with(|options| options.body_rate = 0));
    let mut slow = Vec::new();
    for _ in 0..5 {
        let mut client = started(&host, MESSAGE).await;
        client.send("x".repeat(50_000)).await;
        slow.push(client);
    }
    sleep(seconds(10)).await;
    let mut fast = Vec::new();
    for _ in 0..5 {
        let mut client = started(&host, MESSAGE).await;
        client.send("x".repeat(1_000)).await;
        fast.push(client);
    }
    sleep(seconds(1)).await;
    // All at the same time.
    for client in &mut fast {
        client.send("x".repeat(7_000)).await;
    }
    sleep(seconds(1)).await;
    let mut answered = 0;
    for client in &mut slow {
        answered += usize::from(timeout(Duration::from_millis(1), client.next_response()).await.is_ok());
    }
    assert_eq!(answered, 1);
}

/// Regression: slow senders held the whole budget, without a time limit.
#[tokio::test(start_paused = true)]
async fn incomplete_messages_hold_at_most_half_of_the_budget() {
    let budget = Budget::new(200_000);
    let host = Host::start(Server::new().budget(budget.clone()), echo_with(|options| options.body_rate = 0));
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut client = started(&host, MESSAGE).await;
        let _ = client.try_send("x".repeat(48_000)).await;
        sleep(seconds(1)).await;
        slow.push(client);
    }
    assert!((50_000..=100_000).contains(&budget.used()), "{}", budget.used());
}

/// Regression: the newest sender was dropped, or none.
#[tokio::test(start_paused = true)]
async fn the_slowest_sender_makes_room() {
    let host = Host::start(Server::new().max_requests_receiving(2), echo_with(|options| options.body_rate = 0));
    let (mut slow, mut fast) = (started(&host, MESSAGE).await, started(&host, MESSAGE).await);
    for _ in 0..5 {
        sleep(seconds(1)).await;
        slow.send("x").await;
        fast.send("x".repeat(1_000)).await;
    }
    sleep(Duration::from_millis(1)).await;
    let mut new = started(&host, MESSAGE).await;
    let (head, body) = slow.response().await;
    assert!(head.starts_with("http/1.1 408 ") && head.contains("connection: close\r\n"), "{head}");
    assert_eq!(body, "the server receives too many messages at once, and this one was the slowest\n");
    assert_eq!(slow.rest().await, "");
    fast.send("x".repeat(95_000)).await;
    assert_eq!(fast.response().await.1.len(), 100_000);
    new.send("x".repeat(100_000)).await;
    assert_eq!(new.response().await.1.len(), 100_000);
}

/// Regression: a sender with a fast beginning counted as fast forever.
#[tokio::test(start_paused = true)]
async fn a_fast_sender_that_stalls_counts_as_slow() {
    let host = Host::start(Server::new().max_requests_receiving(2), echo_with(|options| options.body_rate = 0));
    let (mut stalled, mut steady) = (started(&host, MESSAGE).await, started(&host, MESSAGE).await);
    stalled.send("x".repeat(90_000)).await;
    for _ in 0..40 {
        sleep(Duration::from_millis(100)).await;
        steady.send("x".repeat(1_000)).await;
    }
    // An occasional byte makes nobody fast.
    stalled.send("x").await;
    sleep(Duration::from_millis(1)).await;
    let _new = started(&host, MESSAGE).await;
    assert!(stalled.response().await.0.starts_with("http/1.1 408 "));
    steady.send("x".repeat(60_000)).await;
    assert_eq!(steady.response().await.1.len(), 100_000);
}

#[tokio::test(start_paused = true)]
async fn the_slowest_sender_of_an_address_makes_room() {
    let host = Host::start(Server::new().max_requests_receiving_per_peer(1), echo());
    let (mut first, mut other) = (host.connect_from([10, 0, 0, 1]), host.connect_from([10, 0, 0, 2]));
    first.send(MESSAGE).await;
    other.send(MESSAGE).await;
    sleep(seconds(1)).await;
    let mut second = host.connect_from([10, 0, 0, 1]);
    second.send(MESSAGE).await;
    assert!(first.response().await.0.starts_with("http/1.1 408 "));
    for client in [&mut second, &mut other] {
        client.send("x".repeat(100_000)).await;
        assert_eq!(client.response().await.1.len(), 100_000);
    }
}

/// Regression: 60 bodies held open took 979 MB.
#[tokio::test(start_paused = true)]
async fn incomplete_messages_hold_a_bounded_number_of_bytes() {
    let host = Host::start(Server::new().max_bytes_receiving(150_000), echo_with(|options| options.body_rate = 0));
    let mut small = started(&host, MESSAGE).await;
    let mut slow = started(&host, MESSAGE).await;
    sleep(seconds(5)).await;
    slow.send("x".repeat(90_000)).await;
    sleep(seconds(5)).await;
    let mut fast = started(&host, MESSAGE).await;
    sleep(Duration::from_millis(1)).await;
    fast.send("x".repeat(90_000)).await;
    assert!(slow.response().await.0.starts_with("http/1.1 408 "));
    // Dropping a request that holds nothing doesn't help.
    for (client, rest) in [(&mut fast, 10_000), (&mut small, 100_000)] {
        client.send("x".repeat(rest)).await;
        assert_eq!(client.response().await.1.len(), 100_000);
    }
}

/// Regression: parts before the root part counted as memory, and other requests were dropped although the parts were on
/// disk.
#[tokio::test(start_paused = true)]
async fn parts_that_wait_on_the_disk_hold_no_memory() {
    let host = Host::start(Server::new().max_bytes_receiving(1_000_000), echo_with(|options| options.body_rate = 0));
    let mut other = started(&host, MESSAGE).await;
    other.send("x".repeat(60_000)).await;
    let ahead = format!("{}\r\n--b\r\nContent-ID: <root@x>\r\n\r\n", "y".repeat(3_000_000));
    let root = "<a/>\r\n--b--\r\n";
    let length = "--b\r\n\r\n".len() + ahead.len() + root.len();
    let head = PACKAGE.replace("boundary=b", "boundary=b; start=\"<root@x>\"").replace("attachment", "");
    let mut package = started(&host, &head.replace("100000", &length.to_string())).await;
    sleep(seconds(1)).await;
    package.send(ahead).await;
    sleep(seconds(1)).await;
    other.send("x".repeat(40_000)).await;
    assert_eq!(other.response().await.1.len(), 100_000);
    package.send(root).await;
    assert_eq!(package.response().await.1, "<a/>");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_read_holds_no_slot() {
    let host = Host::start(Server::new().max_requests_in_flight(1), echo());
    let mut slow = host.connect();
    slow.post("", &"x".repeat(100_000)).await;
    sleep(seconds(1)).await;
    let mut client = host.connect();
    client.post("", "<b/>").await;
    assert_eq!(client.response().await.1, "<b/>");
    assert_eq!(slow.response().await.1.len(), 100_000);
}

/// Regression: clients with slow or missing heads took all connections of the server.
#[tokio::test(start_paused = true)]
async fn slow_connections_make_room_for_new_ones() {
    for head in ["", "POST / HTT", MESSAGE, PACKAGE] {
        let host = Host::start(Server::new().max_connections(50), echo());
        let mut slow = Vec::new();
        for _ in 0..50 {
            slow.push(started(&host, head).await);
        }
        sleep(seconds(2)).await;
        let start = Instant::now();
        for _ in 0..100 {
            let mut client = host.connect();
            client.post("", "<b/>").await;
            assert_eq!(timeout(seconds(1), client.response()).await.expect("an answer").1, "<b/>");
        }
        assert!(start.elapsed() < Duration::from_millis(200), "{:?}", start.elapsed());
    }
}
