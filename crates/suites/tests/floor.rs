//! Tests that the floor answers with exactly the bytes that it was given.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::sync::Arc;

use bytes::Bytes;
use castile_load::{Case, Message, Plan, Recorder, Requests, Stop};
use castile_suites::floor::{self, Exchange};
use common::load::record;
use tokio::net::TcpListener;

/// Drives a floor; the case has a request for each of these answers.
async fn drive(path: &str, request: usize, expected: &[&'static [u8]]) -> Recorder {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let large = Bytes::from(vec![b'x'; 300_000]);
    let lists = [vec!["first".into()], vec![large], vec!["one".into(), "two".into(), "three".into()], Vec::new()];
    let lists = lists.map(|list| list.into_iter().map(|answer| Exchange::new(&Bytes::new(), answer)).collect());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let floor = tokio::spawn(floor::serve(listener, lists.into(), async {
        let _ = stopped.await;
    }));
    let message = |answer: &'static [u8]| Message {
        action: String::new(),
        content_type: "text/xml; charset=utf-8".into(),
        body: vec![b'a'; request].into(),
        check: Arc::new(move |body| match body == answer {
            true => Ok(0),
            false => Err(format!("found {} bytes", body.len())),
        }),
    };
    let case = Case {
        suite: "floor".into(),
        name: "answer".into(),
        style: None,
        path: path.into(),
        requests: Requests::Raw(expected.iter().map(|answer| message(answer)).collect()),
    };
    let plan = Plan { stop: Stop::requests(20), connections: 3, ..Plan::default() };
    let record = record(&case, address, plan).await;
    drop(stop);
    floor.await.unwrap();
    record
}

#[tokio::test]
async fn the_path_selects_the_answer() {
    let first = drive("/0", 10, &[b"first"]).await;
    assert_eq!((first.requests, first.errors), (20, 0), "{:?}", first.reasons);
    let large: &'static [u8] = vec![b'x'; 300_000].leak();
    let second = drive("/1", 1_000_000, &[large]).await;
    assert_eq!((second.requests, second.errors), (20, 0), "{:?}", second.reasons);
}

/// Three connections at once: each one has its own place in the list.
#[tokio::test]
async fn each_connection_gets_a_list_in_its_order() {
    let list = drive("/2", 10, &[b"one", b"two", b"three"]).await;
    assert_eq!((list.requests, list.errors), (20, 0), "{:?}", list.reasons);
    let wrong = drive("/2", 10, &[b"two", b"one", b"three"]).await;
    assert!(wrong.errors > 0);
}

#[tokio::test]
async fn there_is_no_other_answer() {
    for path in ["/3", "/4", "/", "/first", "/-1"] {
        let record = drive(path, 10, &[b"first"]).await;
        assert_eq!((record.requests, record.errors), (0, 20), "{path}");
        assert!(record.reasons[0].text.starts_with("status 404"), "{}", record.reasons[0].text);
    }
}
