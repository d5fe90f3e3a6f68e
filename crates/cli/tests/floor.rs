//! The floor as a process: it prints where it listens, answers, and ends when its parent ends.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::process::Command;
use std::sync::Arc;

use castile_load::{Case, Expected, Message, Placement, Plan, Requests, Run, Server, Stop};

fn start() -> Server {
    let directory = tempfile::tempdir().unwrap();
    let answer = directory.path().join("answer");
    std::fs::write(&answer, "the answer").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(["floor", "--addr", "127.0.0.1:0", "--until-stdin-closes", "--answer"]).arg(answer);
    Server::start("castile floor", command, &Placement::free()).unwrap()
}

#[tokio::test]
async fn the_floor_is_started_driven_and_ended() {
    let mut server = start();
    let message = Message {
        action: String::new(),
        content_type: "text/xml; charset=utf-8".into(),
        body: "a request".into(),
        check: Arc::new(|body| match body {
            b"the answer" => Ok(0),
            _ => Err("another answer".into()),
        }),
    };
    let case = Case {
        suite: "floor".into(),
        name: "answer".into(),
        style: None,
        path: "/0".into(),
        requests: Requests::Raw(vec![message]),
    };
    let plan = Plan { stop: Stop::requests(100), connections: 4, ..Plan::default() };
    let endpoint = server.endpoint().at("/0");
    let run = Run::start(&case, &endpoint, &plan, &Expected::of(&case)).unwrap();
    let record = run.finish().await.unwrap().record;
    assert_eq!((record.requests, record.errors), (100, 0), "{:?}", record.reasons);
    server.check_running().unwrap();
    drop(server);
    let run = Run::start(&case, &endpoint, &plan, &Expected::of(&case)).unwrap();
    assert_eq!(run.finish().await.unwrap().record.requests, 0, "nobody listens any more");
}

#[test]
fn a_missing_answer_is_reported() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_castile")).args(["floor", "--answer", "no-such-file"]).output().unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: no-such-file: "), "{message}");
}
