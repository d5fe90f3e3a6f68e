//! Tests that the floor answers with exactly the bytes that it was given.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::sync::Arc;

use castile_load::{Case, Message, Plan, Recorder, Requests, Stop};
use common::load::record;
use tokio::net::TcpListener;

/// Drives a floor with two answers; the case expects `answer`.
async fn drive(path: &str, request: usize, answer: &'static [u8]) -> Recorder {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answers = vec!["first".into(), vec![b'x'; 300_000].into()];
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let floor = tokio::spawn(castile_suites::floor::serve(listener, answers, async {
        let _ = stopped.await;
    }));
    let message = Message {
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
        requests: Requests::Raw(vec![message]),
    };
    let plan = Plan { stop: Stop::requests(20), connections: 3, ..Plan::default() };
    let record = record(&case, address, plan).await;
    drop(stop);
    floor.await.unwrap();
    record
}

#[tokio::test]
async fn the_path_selects_the_answer() {
    let first = drive("/0", 10, b"first").await;
    assert_eq!((first.requests, first.errors), (20, 0), "{:?}", first.reasons);
    let large: &'static [u8] = vec![b'x'; 300_000].leak();
    let second = drive("/1", 1_000_000, large).await;
    assert_eq!((second.requests, second.errors), (20, 0), "{:?}", second.reasons);
}

#[tokio::test]
async fn there_is_no_other_answer() {
    for path in ["/2", "/", "/first", "/-1"] {
        let record = drive(path, 10, b"first").await;
        assert_eq!((record.requests, record.errors), (0, 20), "{path}");
        assert!(record.reasons[0].text.starts_with("status 404"), "{}", record.reasons[0].text);
    }
}
