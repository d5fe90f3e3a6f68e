//! Tests targets that take turns within a run: never two at a time, on connections that stay open.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use castile_load::{Bench, Interrupt, Load, Placement, Plan, Progress, Stop};
use support::{Act, Server, case, pong, response};

const RUNS: usize = 2;
const CONNECTIONS: usize = 3;

fn bench(servers: &[Server]) -> Bench {
    let plan = Plan {
        warmup: Duration::from_millis(40),
        stop: Stop::after(Duration::from_millis(160)),
        connections: CONNECTIONS,
        ..Plan::default()
    };
    Bench {
        loads: vec![Load { runs: RUNS, slice: Some(Duration::from_millis(20)), ..Load::new(case(), plan) }],
        targets: servers.iter().map(|server| server.target()).collect(),
        placement: Placement::free(),
        repeats: 0,
        command: "castile bench <tests>".into(),
        interrupt: Interrupt::default(),
    }
}

#[tokio::test]
async fn targets_take_turns_slice_by_slice_on_connections_that_stay_open() {
    let (last, switches) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let servers = [1, 2].map(|number| {
        let (last, switches) = (last.clone(), switches.clone());
        Server::start(move |_| {
            if last.swap(number, Ordering::SeqCst) != number {
                switches.fetch_add(1, Ordering::SeqCst);
            }
            pong()
        })
    });
    let results = bench(&servers).run(&mut Progress::silent()).await.unwrap();
    let rows: Vec<_> = results.rows().collect();
    assert_eq!((rows.len(), results.slice_s), (2, Some(0.02)));
    let slices = rows[0].series.len();
    // A slow machine may complete fewer than eight in each run.
    assert!((RUNS..=RUNS * 8).contains(&slices), "{slices}");
    for (row, server) in rows.iter().zip(&servers) {
        assert_eq!((row.errors, row.series.len()), (0, slices), "{:?}", row.reasons);
        assert_eq!(row.requests_per_second.runs.len(), RUNS);
        assert!(row.requests > 0 && row.requests < server.requests(), "the warm-up doesn't count");
        assert_eq!(server.connections(), (CONNECTIONS * RUNS) as u64);
    }
    // Including the slices of the warm-up. The target that ended a round begins the next one, so each round has one switch.
    // Two targets driven at the same time would cause many more.
    let switches = switches.load(Ordering::SeqCst);
    assert!((slices..=slices + RUNS * 4).contains(&switches), "{switches} for {slices} slices");
}

#[tokio::test]
async fn slow_targets_have_longer_slices() {
    // Answers to requests from the start of a slice arrive almost as long after its end.
    let servers =
        [Server::start(|_| pong()), Server::start(|_| Act::SayAfter(Duration::from_millis(38), response("pong")))];
    let results = bench(&servers).run(&mut Progress::silent()).await.unwrap();
    for row in results.rows() {
        assert_eq!(row.errors, 0);
        assert!(row.series.len() <= RUNS * 4, "{}", row.series.len());
    }
}

#[tokio::test]
async fn a_wrong_answer_in_the_warm_up_counts() {
    let servers = [Server::start(|index| if index == 5 { Act::Say(response("longer")) } else { pong() })];
    let results = bench(&servers).run(&mut Progress::silent()).await.unwrap();
    assert_eq!(results.errors(), 1);
}
