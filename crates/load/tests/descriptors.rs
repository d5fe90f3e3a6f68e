//! Tests a process that has too few file descriptors for its users. The limit applies to the whole process, so this test
//! has its own program.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::net::TcpListener;
use std::time::Duration;

use castile_load::{Endpoint, Expected, Pace, Plan, Run, Stop, Think};
use nix::sys::resource::{Resource, setrlimit};
use support::case;

#[tokio::test]
async fn users_beyond_the_file_descriptors_are_errors_and_the_run_goes_on() {
    // Nothing accepts connections. The system completes them, and each user keeps its own until the time is over.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::resolve(&format!("http://{}/ping", listener.local_addr().unwrap())).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 64, 64).unwrap();
    let plan = Plan {
        connections: 300,
        threads: 2,
        pace: Pace::Think(Think::Fixed(Duration::from_millis(10))),
        timeout: Duration::from_millis(200),
        stop: Stop::after(Duration::from_millis(500)),
        ..Plan::default()
    };
    let case = case();
    let run = Run::start(&case, &endpoint, &plan, &Expected::of(&case)).unwrap();
    // All users have begun by then.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let record = run.finish().await.unwrap().record;
    assert_eq!(record.requests, 0);
    assert!(record.errors > 300, "{}", record.errors);
    assert_eq!(record.exhausted.as_deref(), Some("no more file descriptors in this process"));
}
