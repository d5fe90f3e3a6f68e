//! Tests clients other than the driver's own, without a network.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use castile_load::{
    Answer, BoxError, Call, Case, Connect, Division, Endpoint, Expected, Outcome, Plan, Requests, Run, Stop,
    TypedClient, User,
};
use tokio::sync::Barrier;

/// What a client does with the request of this number.
type Act = fn(number: usize) -> Result<Answer, BoxError>;

struct Client {
    act: Act,
    /// The number of the request that is never answered.
    stalls_at: Option<usize>,
}

impl TypedClient for Client {
    fn call(&mut self, number: usize) -> Call<'_> {
        Box::pin(async move {
            if self.stalls_at == Some(number) {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            (self.act)(number)
        })
    }
}

/// Drives such clients and returns the outcome and how many were made.
async fn drive(plan: &Plan, count: usize, stalls_at: Option<usize>, act: Act) -> (Outcome, usize) {
    let made = Arc::new(AtomicUsize::new(0));
    let counter = made.clone();
    let connect = Arc::new(move |user: &User| {
        assert_eq!(user.endpoint.path, "/typed");
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Client { act, stalls_at }) as Box<dyn TypedClient>)
    });
    let outcome = start(plan, count, connect).finish().await.unwrap();
    (outcome, made.load(Ordering::Relaxed))
}

/// Starts to drive these clients.
fn start(plan: &Plan, count: usize, connect: Connect) -> Run {
    let case = Case {
        suite: "tests".into(),
        name: "typed".into(),
        style: Some("none".into()),
        path: "/typed".into(),
        requests: Requests::Typed { count, connect },
    };
    let endpoint = Endpoint::resolve("http://127.0.0.1:1/typed").unwrap();
    Run::start(&case, &endpoint, plan, &Expected::of(&case)).unwrap()
}

/// A client whose call waits until all users of its part make one.
struct Together(Arc<Barrier>);

impl TypedClient for Together {
    fn call(&mut self, number: usize) -> Call<'_> {
        Box::pin(async move {
            self.0.wait().await;
            right(number)
        })
    }
}

fn right(number: usize) -> Result<Answer, BoxError> {
    Ok(Answer { bytes_out: 10, bytes_in: number as u64, matches: 1 })
}

#[tokio::test]
async fn each_user_has_a_client_that_goes_through_the_list() {
    let plan = Plan { connections: 4, threads: 2, stop: Stop::requests(40), ..Plan::default() };
    let (outcome, clients) = drive(&plan, 5, None, right).await;
    assert!((1..=4).contains(&clients), "{clients}");
    let record = outcome.record;
    assert_eq!((record.requests, record.errors, record.verified), (40, 0, 40));
    assert_eq!((record.bytes_out, record.matches), (400, 40));

    let alone = Plan { connections: 1, stop: Stop::requests(10), ..Plan::default() };
    let (outcome, clients) = drive(&alone, 5, None, right).await;
    assert_eq!((clients, outcome.record.bytes_in), (1, 2 * (1 + 2 + 3 + 4)));
}

/// Drivers that divide a plan once numbered their users from 0 each, and some sources were never used.
#[tokio::test]
async fn users_of_a_part_have_their_own_sources() {
    let sources: Vec<IpAddr> = (1..=3).map(|last| [127, 0, 0, last].into()).collect();
    let whole = Plan {
        connections: 5,
        threads: 2,
        sources: sources.clone().into(),
        // One for each user.
        stop: Stop::requests(5),
        timeout: Duration::from_secs(60),
        ..Plan::default()
    };
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    for (number, users) in [3, 2].into_iter().enumerate() {
        // Otherwise one user could send for another whose thread begins late.
        let (seen, barrier) = (seen.clone(), Arc::new(Barrier::new(users)));
        let connect = Arc::new(move |user: &User| {
            seen.lock().unwrap().insert((user.number, user.source));
            Ok(Box::new(Together(barrier.clone())) as Box<dyn TypedClient>)
        });
        let plan = Plan { division: Division { number, count: 2 }, ..whole.clone() };
        let outcome = start(&plan, 1, connect).finish().await.unwrap();
        assert_eq!((outcome.record.requests, outcome.record.errors), (users as u64, 0));
    }
    let expected = (0..5).map(|user| (user, Some(sources[user % 3])));
    assert_eq!(*seen.lock().unwrap(), expected.collect());
}

#[tokio::test]
async fn without_keep_alive_each_request_has_a_client() {
    let plan = Plan { keep_alive: false, stop: Stop::requests(7), ..Plan::default() };
    assert_eq!(drive(&plan, 1, None, right).await.1, 7);
}

#[tokio::test]
async fn errors_of_a_client_are_errors_of_the_run() {
    let plan = Plan { stop: Stop::requests(6), ..Plan::default() };
    let act: Act = |number| if number == 2 { Err("the answer is not what was sent".into()) } else { right(number) };
    let (outcome, clients) = drive(&plan, 3, None, act).await;
    assert_eq!((outcome.record.requests, outcome.record.errors, clients), (4, 2, 1));
    assert_eq!(outcome.record.reasons[0].text, "the answer is not what was sent");
}

#[tokio::test]
async fn a_call_beyond_its_time_limit_is_dropped_with_its_client() {
    let plan = Plan { stop: Stop::requests(4), timeout: Duration::from_millis(20), ..Plan::default() };
    let (outcome, clients) = drive(&plan, 4, Some(1), right).await;
    assert_eq!((outcome.record.requests, outcome.record.errors, clients), (3, 1, 2));
    assert_eq!(outcome.record.reasons[0].text, "no response within 20ms");
}

#[tokio::test]
async fn exhausted_resources_of_the_driver_are_reported_as_such() {
    let plan = Plan { stop: Stop::requests(2), ..Plan::default() };
    let act: Act = |_| Err(Box::new(io::Error::other(io::Error::from_raw_os_error(no_more_files()))));
    let (outcome, _) = drive(&plan, 1, None, act).await;
    assert_eq!((outcome.record.requests, outcome.record.errors), (0, 2));
    if cfg!(unix) {
        assert_eq!(outcome.record.exhausted.as_deref(), Some("no more file descriptors in this process"));
        let message = &outcome.record.reasons[0].text;
        assert_eq!(message, "the driver's own machine has no more file descriptors in this process");
    }
}

/// Returns `EMFILE`, which is the same number on all systems that have it.
fn no_more_files() -> i32 {
    24
}
