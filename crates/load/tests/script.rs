//! Tests requests that a script writes when they are due, and the records of each part of a mix.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use castile_load::{Answer, Case, Endpoint, Expected, HttpResponse, NoRequest, Outcome, Plan, Request, Requests, Run};
use castile_load::{Script, Stop, User};
use support::{Server, pong};

/// A script that has a few requests and can't write one of them.
struct Counting {
    left: usize,
    unwritten: Option<usize>,
}

impl Script for Counting {
    fn write(&mut self, number: usize, request: &mut Request) -> Result<(), NoRequest> {
        assert!(request.headers.is_empty() && request.body.is_empty(), "it comes empty");
        self.left = self.left.checked_sub(1).ok_or(NoRequest::Done)?;
        if self.unwritten == Some(number) {
            return Err(NoRequest::Failed("no token yet".to_owned()));
        }
        request.headers.push_str("SOAPAction: \"ping\"\r\n");
        request.body.extend_from_slice(b"ping");
        Ok(())
    }

    fn judge(&mut self, _: usize, response: &HttpResponse<'_>, _: bool) -> Result<Answer, String> {
        match (response.status, response.header("content-length"), response.body) {
            (200, Some("4"), b"pong") => Ok(Answer { bytes_out: 4, bytes_in: 4, matches: 0 }),
            _ => Err(format!("{response:?}")),
        }
    }
}

fn case(begin: impl Fn(&User) -> Counting + Send + Sync + 'static) -> Case {
    Case {
        suite: "test".to_owned(),
        name: "mix".to_owned(),
        style: None,
        path: "/".to_owned(),
        requests: Requests::Scripted {
            parts: Arc::new(["one".to_owned(), "two".to_owned()]),
            list: Arc::new([0, 1, 1]),
            begin: Arc::new(move |user| Box::new(begin(user))),
        },
    }
}

async fn drive(requests: usize, unwritten: Option<usize>, plan: &Plan) -> Outcome {
    let server = Server::start(|_| pong());
    let case = case(move |_| Counting { left: requests, unwritten });
    let endpoint = Endpoint::resolve(&server.url()).unwrap();
    Run::start(&case, &endpoint, plan, &Expected::of(&case)).unwrap().finish().await.unwrap()
}

#[tokio::test]
async fn a_run_ends_when_all_users_are_done() {
    for keep_alive in [true, false] {
        let plan = Plan { stop: Stop::default(), connections: 3, keep_alive, ..Plan::default() };
        let outcome = drive(6, None, &plan).await;
        assert_eq!((outcome.record.requests, outcome.record.errors), (18, 0), "{:?}", outcome.record.reasons);
        let parts: Vec<_> = outcome.record.parts.iter().map(|part| part.requests).collect();
        assert_eq!(parts, [6, 12], "a third of the list is of the first part");
        assert_eq!(outcome.record.bytes_out, 72);
        assert_eq!(outcome.ended.unwrap().to_string(), "nothing left to send");
    }
}

/// The failure of a thread was once noticed when those before it had ended.
#[tokio::test]
async fn a_run_ends_when_any_of_its_threads_fails() {
    let server = Server::start(|_| pong());
    let endpoint = Endpoint::resolve(&server.url()).unwrap();
    let plan = Plan { stop: Stop::after(Duration::from_secs(3_600)), connections: 3, threads: 3, ..Plan::default() };
    let case = case(|user| {
        assert!(user.number != 1, "a bug in a script");
        Counting { left: usize::MAX, unwritten: None }
    });
    let run = Run::start(&case, &endpoint, &plan, &Expected::of(&case)).unwrap();
    let error = tokio::time::timeout(Duration::from_secs(60), run.finish()).await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("a thread of the driver panicked"), "{error}");
}

#[tokio::test]
async fn a_request_that_could_not_be_written_is_a_failed_request_of_its_part() {
    let plan = Plan { stop: Stop::requests(9), ..Plan::default() };
    let outcome = drive(100, Some(2), &plan).await;
    assert_eq!((outcome.record.requests, outcome.record.errors, outcome.record.not_sent), (6, 3, 3));
    assert_eq!((outcome.record.parts[1].requests, outcome.record.parts[1].errors), (3, 3));
    assert_eq!(outcome.record.reasons[0].text, "not sent: no token yet");
}
