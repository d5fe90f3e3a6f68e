//! Tests a run against a server of known behaviour: what is counted, and as what.

mod support;

use std::sync::Arc;
use std::time::Duration;

use castile_load::{Arrivals, Endpoint, Expected, Pace, Plan, Recorder, Run, Stop};
use support::{Act, Server, case, case_checked_by, pong, refusing, response};
use tokio::io::AsyncReadExt;
use tokio::sync::Barrier;

fn requests(count: u64) -> Plan {
    Plan { stop: Stop::requests(count), ..Plan::default() }
}

#[tokio::test]
async fn right_answers_are_counted_and_sampled() {
    // Users of a thread that begins late would find nothing left to send.
    let barrier = Arc::new(Barrier::new(8));
    let server = Server::start(move |index| match index {
        0..8 => Act::SayTogether(barrier.clone(), response("pong")),
        _ => pong(),
    });
    let plan = Plan { connections: 8, threads: 2, verify_one_in: 100, ..requests(2_000) };
    let outcome = server.drive(&plan).await;
    assert!(outcome.requests_per_second() > 0.0);
    let record = outcome.record;
    assert_eq!((record.requests, record.errors), (2_000, 0), "{:?}", record.reasons);
    assert_eq!(record.latency.len(), 2_000);
    assert_eq!((server.requests(), server.connections()), (2_000, 8));
    // The first answer of each connection, and one in a hundred.
    assert!((8..=8 + 2_000 / 100 + 2).contains(&record.verified), "{}", record.verified);
}

#[tokio::test]
async fn without_keep_alive_each_request_has_a_connection() {
    let server = Server::start(|_| pong());
    let plan = Plan { keep_alive: false, connections: 3, ..requests(50) };
    let record = server.drive(&plan).await.record;
    assert_eq!((record.requests, record.errors), (50, 0), "{:?}", record.reasons);
    assert_eq!(server.connections(), 50);
    assert_eq!(record.verified, 50);
}

#[tokio::test]
async fn a_run_ends_in_time() {
    let server = Server::start(|_| pong());
    let stop = Stop::after(Duration::from_millis(100));
    let outcome = server.drive(&Plan { stop, connections: 2, ..Plan::default() }).await;
    assert_eq!(outcome.record.requests, server.requests());
    assert!(outcome.elapsed >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_wrong_length_is_an_error() {
    let server = Server::start(|index| match index {
        0..10 => pong(),
        _ => Act::Say(response("longer")),
    });
    let record = server.drive(&requests(20)).await.record;
    assert_eq!((record.requests, record.errors), (10, 10));
    assert_eq!(record.reasons[0].text, "body of 6 bytes, expected 4");
    assert_eq!((record.reasons.len(), record.reasons[0].count), (1, 10));
}

#[tokio::test]
async fn wrong_content_is_an_error() {
    let server = Server::start(|_| Act::Say(response("gong")));
    let endpoint = Endpoint::resolve(&server.url()).unwrap();
    let expected = Expected::of(&case());
    let run = Run::start(&case(), &endpoint, &requests(5), &expected).unwrap();
    let record = run.finish().await.unwrap().record;
    // Until one answer is right, each answer is checked.
    assert_eq!((record.requests, record.errors, record.verified), (0, 5, 0));
    assert_eq!(record.reasons[0].text, "found \"gong\", expected \"pong\"");
    assert_eq!(expected.length(0), None);
}

#[tokio::test]
async fn a_wrong_status_is_an_error_that_quotes_the_body() {
    let server = Server::start(|_| Act::Say("HTTP/1.1 500 X\r\nContent-Length: 5\r\n\r\nfault".into()));
    let record = server.drive(&requests(3)).await.record;
    assert_eq!((record.requests, record.errors), (0, 3));
    assert_eq!(record.reasons[0].text, "status 500, expected 200: fault");
    assert_eq!(server.connections(), 1, "the connection is still good");
}

/// A server that rejects a request may close before it has read all of it. Its answer counts.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_refusal_is_read_although_the_request_could_not_be_sent() {
    use std::io::{Read, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
        stream.write_all(b"HTTP/1.1 503 X\r\nContent-Length: 4\r\n\r\nfull").unwrap();
        // Closing with unread bytes resets the connection.
    });
    let mut case = case();
    // Larger than any socket buffer.
    let castile_load::Requests::Raw(messages) = &mut case.requests else { panic!("{case:?}") };
    messages[0].body = vec![b'x'; 64 << 20].into();
    let endpoint = Endpoint::resolve(&format!("http://{address}/")).unwrap();
    let plan = Plan { stop: Stop::requests(1).or_errors(1), ..Plan::default() };
    let outcome = Run::start(&case, &endpoint, &plan, &Expected::of(&case)).unwrap().finish().await.unwrap();
    server.join().unwrap();
    assert_eq!(outcome.record.reasons[0].text, "status 503, expected 200: full");
    assert_eq!(outcome.first_error.as_deref(), Some("status 503, expected 200: full"));
}

#[tokio::test]
async fn a_closed_connection_is_an_error_and_the_next_request_opens_another() {
    let server = Server::start(|index| match index % 5 {
        4 => Act::SayAndClose(String::new()),
        _ => pong(),
    });
    let record = server.drive(&requests(20)).await.record;
    assert_eq!((record.requests, record.errors), (16, 4));
    assert_eq!(record.reasons[0].text, "connection closed without a response, after 4 responses on it");
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn a_truncated_body_is_an_error() {
    let server = Server::start(|_| Act::SayAndClose("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npong".into()));
    let record = server.drive(&requests(2)).await.record;
    assert_eq!(record.errors, 2);
    assert_eq!(record.reasons[0].text, "connection closed after 4 of 9 bytes of the response body");
}

#[tokio::test]
async fn a_stall_is_an_error_after_the_time_limit() {
    let server = Server::start(|index| match index {
        1 => Act::Stall,
        _ => pong(),
    });
    let plan = Plan { timeout: Duration::from_secs(3), ..requests(3) };
    let record = server.drive(&plan).await.record;
    assert_eq!((record.requests, record.errors), (2, 1));
    assert_eq!(record.reasons[0].text, "no response within 3s");
}

#[tokio::test]
async fn no_server_is_an_error_and_not_a_busy_loop() {
    let refusing = refusing();
    let endpoint = Endpoint::resolve(&format!("http://{}/", refusing.local_addr().unwrap())).unwrap();
    let run = Run::start(&case(), &endpoint, &requests(5), &Expected::of(&case())).unwrap();
    let outcome = run.finish().await.unwrap();
    let record = &outcome.record;
    assert_eq!((record.requests, record.errors), (0, 5));
    // 10 ms are between them.
    assert!(outcome.elapsed >= Duration::from_millis(40), "{:?}", outcome.elapsed);
    assert!(record.reasons[0].text.starts_with("can't connect: "), "{}", record.reasons[0].text);
}

#[tokio::test]
async fn other_framings() {
    let server = Server::start(|index| match index % 3 {
        0 => Act::Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\npon\r\n1\r\ng\r\n0\r\n\r\n".into()),
        1 => Act::SayAndClose("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\npong".into()),
        _ => Act::SayAndClose("HTTP/1.0 200 OK\r\n\r\npong".into()),
    });
    let record = server.drive(&requests(9)).await.record;
    assert_eq!((record.requests, record.errors), (9, 0), "{:?}", record.reasons);
    // The server announced that it would close, so that is not an error.
    assert_eq!(server.connections(), 6);
}

#[tokio::test]
async fn a_panicking_check_ends_the_run_with_an_error() {
    let server = Server::start(|_| pong());
    let endpoint = Endpoint::resolve(&server.url()).unwrap();
    let case = case_checked_by(std::sync::Arc::new(|_| panic!("a bug in a check")));
    let run = Run::start(&case, &endpoint, &requests(1), &Expected::of(&case)).unwrap();
    assert!(run.finish().await.is_err());
}

#[tokio::test]
async fn a_stall_shows_in_every_request_that_was_due_meanwhile() {
    let stall = Duration::from_millis(400);
    let behaviour = move |index| match index {
        20 => Act::SayAfter(stall, response("pong")),
        _ => pong(),
    };
    let late = |outcome: &castile_load::Outcome| {
        let long = 100_000_000;
        let latency = &outcome.record.latency;
        latency
            .iter_recorded()
            .filter(|value| value.value_iterated_to() >= long)
            .map(|value| value.count_at_value())
            .sum::<u64>()
    };
    let server = Server::start(behaviour);
    let pace = Pace::Arrivals(Arrivals::constant(200.0));
    let open = server.drive(&Plan { pace, ..requests(150) }).await;
    assert_eq!((open.record.requests, open.record.errors), (150, 0));
    // 80 requests were due in those 400 ms, 60 of them more than 100 ms before the end of the stall.
    assert!(late(&open) >= 55, "{}", late(&open));
    assert!(open.record.latency.max() >= 399_000_000);

    // A closed workload waits for the server and sees one late answer: coordinated omission hides the
    // rest.
    let server = Server::start(behaviour);
    let closed = server.drive(&requests(150)).await;
    assert_eq!(closed.record.requests, 150);
    assert!(closed.record.latency.value_at_quantile(0.9) < closed.record.latency.max() / 2);
}

#[tokio::test]
async fn a_rate_that_is_not_reached_is_reported() {
    let server = Server::start(|_| Act::SayAfter(Duration::from_millis(20), response("pong")));
    let plan = Plan {
        pace: Pace::Arrivals(Arrivals::constant(1_000.0)),
        stop: Stop::after(Duration::from_millis(200)),
        ..Plan::default()
    };
    let outcome = server.drive(&plan).await;
    assert_eq!(outcome.record.errors, 0);
    // 200 were due, and one connection can answer at most ten of them.
    assert_eq!(outcome.record.requests + outcome.unsent, 200);
    assert!(outcome.record.requests <= 11, "{}", outcome.record.requests);
}

#[tokio::test]
async fn a_possible_rate_is_reached() {
    let server = Server::start(|_| pong());
    let plan = Plan {
        pace: Pace::Arrivals(Arrivals::constant(500.0)),
        stop: Stop::after(Duration::from_millis(200)),
        connections: 4,
        threads: 2,
        ..Plan::default()
    };
    let outcome = server.drive(&plan).await;
    assert_eq!((outcome.record.requests + outcome.unsent, outcome.record.errors), (100, 0));
    assert!(outcome.elapsed >= Duration::from_millis(198), "none is sent before it is due");
}

#[tokio::test]
async fn a_dropped_run_stops() {
    let server = Server::start(|_| pong());
    let endpoint = Endpoint::resolve(&server.url()).unwrap();
    let plan = Plan { stop: Stop::after(Duration::from_secs(60)), ..Plan::default() };
    let run = Run::start(&case(), &endpoint, &plan, &Expected::of(&case())).unwrap();
    let counter = run.counter();
    while counter.sent() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(run);
    // Requests in flight may still end; after that the count doesn't change.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let sent = counter.sent();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(counter.sent(), sent);
}

/// The record of a thread that had ended was once lost with the run, while a request of another thread was under way.
#[tokio::test]
async fn what_an_ended_thread_recorded_can_be_taken() {
    let server = Server::start(|number| if number == 0 { Act::Stall } else { pong() });
    let case = case();
    let plan = Plan { threads: 2, connections: 2, ..requests(2) };
    let run = Run::start(&case, &Endpoint::resolve(&server.url()).unwrap(), &plan, &Expected::of(&case)).unwrap();
    let counter = run.counter();
    // The thread whose user got its answer ends meanwhile.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let taken = async {
        let mut sum = Recorder::default();
        loop {
            let (record, in_flight) = counter.take().await;
            sum.merge(record);
            if (sum.requests, in_flight) == (1, 1) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), taken).await.unwrap();
}

/// A server once waited for the time limit of each request of a run that nobody wanted any more.
#[tokio::test]
async fn a_dropped_run_gives_up_its_requests() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/service", listener.local_addr().unwrap());
    let case = case();
    let plan = Plan { timeout: Duration::from_secs(3_600), ..requests(1) };
    let run = Run::start(&case, &Endpoint::resolve(&url).unwrap(), &plan, &Expected::of(&case)).unwrap();
    let counter = run.counter();
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"ping") {
        assert!(stream.read_buf(&mut request).await.unwrap() > 0);
    }
    assert_eq!(counter.take().await.1, 1);
    drop(run);
    let closed = tokio::time::timeout(Duration::from_secs(30), stream.read_buf(&mut request)).await;
    assert_eq!(closed.unwrap().unwrap(), 0);
}
