//! The floor as a process: it prints where it listens, answers, and ends when its parent ends.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::process::Command;
use std::sync::Arc;

use castile_load::{Case, Expected, Message, Placement, Plan, Requests, Run, Server, Stop};

/// Starts a floor with an answer, and with a list of answers.
fn start() -> Server {
    let directory = tempfile::tempdir().unwrap();
    let files = [("answer", "the answer"), ("list/0.answer", "one"), ("list/1.answer", "two")];
    std::fs::create_dir(directory.path().join("list")).unwrap();
    for (name, content) in files.into_iter().chain([("list/0.request", "a request"), ("list/1.request", "a request")]) {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(["floor", "--addr", "127.0.0.1:0", "--until-stdin-closes"]);
    for name in ["answer", "list"] {
        command.arg("--answer").arg(directory.path().join(name));
    }
    Server::start("castile floor", command, &Placement::free()).unwrap()
}

/// Returns a case with a request for each of these answers.
fn case(path: &str, answers: &[&'static str]) -> Case {
    let message = |answer: &&'static str| {
        let answer = *answer;
        Message {
            action: String::new(),
            content_type: "text/xml; charset=utf-8".into(),
            body: "a request".into(),
            check: Arc::new(move |body| match body == answer.as_bytes() {
                true => Ok(0),
                false => Err("another answer".into()),
            }),
        }
    };
    Case {
        suite: "floor".into(),
        name: "answer".into(),
        style: None,
        path: path.into(),
        requests: Requests::Raw(answers.iter().map(message).collect()),
    }
}

#[tokio::test]
async fn the_floor_is_started_driven_and_ended() {
    let mut server = start();
    let plan = Plan { stop: Stop::requests(100), connections: 4, verify_one_in: 1, ..Plan::default() };
    for case in [case("/0", &["the answer"]), case("/1", &["one", "two"])] {
        let run = Run::start(&case, &server.endpoint().at(&*case.path), &plan, &Expected::of(&case)).unwrap();
        let record = run.finish().await.unwrap().record;
        assert_eq!((record.requests, record.errors), (100, 0), "{:?}", record.reasons);
    }
    server.check_running().unwrap();
    let (case, endpoint) = (case("/0", &["the answer"]), server.endpoint().at("/0"));
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
