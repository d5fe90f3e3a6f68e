//! Tests a bench: its results have the fields that readers rely on, and say what went wrong.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::time::Duration;

use castile_load::{Bench, ErrorKind, Interrupt, Load, Pace, Placement, Plan, Progress, Stop, Warmup, with_warnings};
use castile_report::Results;
use serde_json::Value;
use support::{Act, Server, case, pong, response};

fn bench(server: &Server, pace: Pace) -> Bench {
    let warmup = Duration::from_millis(20);
    let stop = Stop::after(Duration::from_millis(100));
    let plan = Plan { pace, warmup, stop, connections: 2, verify_one_in: 1, ..Plan::default() };
    Bench {
        loads: vec![Load { runs: 2, ..Load::new(case(), plan) }],
        targets: vec![server.target()],
        placement: Placement::free(),
        repeats: 0,
        command: "castile bench <tests>".into(),
        interrupt: Interrupt::default(),
    }
}

#[tokio::test]
async fn results_have_the_fields_that_readers_rely_on() {
    let server = Server::start(|_| pong());
    let results = bench(&server, Pace::Closed).run(&mut Progress::silent()).await.unwrap();
    let json: Value = serde_json::from_str(&serde_json::to_string(&results).unwrap()).unwrap();
    assert!(json["castile"].is_string() && json["machine"].is_object());
    let suite = &json["suites"][0];
    assert_eq!(suite["suite"], "tests");
    let row = &suite["cases"][0];
    assert_eq!(row["case"], "ping");
    assert_eq!(row["target"], server.url());
    assert_eq!(row["connections"], 2);
    assert_eq!(row["keep_alive"], true);
    assert_eq!((&row["errors"], &row["request_bytes"], &row["response_bytes"]), (&0.into(), &4.into(), &4.into()));
    assert!(row["requests"].as_u64().unwrap() > 0);
    assert_eq!(row["verified"], row["requests"], "each was asked to be");
    for name in ["mean", "stddev"] {
        assert!(row["requests_per_second"][name].is_f64(), "{name}");
    }
    let latency: Vec<f64> =
        ["p50", "p90", "p99", "p999", "max"].iter().map(|name| row["latency_us"][name].as_f64().unwrap()).collect();
    assert!(latency.is_sorted(), "{latency:?}");
    // A foreign process isn't measured; the driver is our own.
    assert!(row["server_cpu_us_per_request"].is_null() && row["server_peak_rss_bytes"].is_null());
    if cfg!(target_os = "linux") {
        assert!(row["driver_cpu_share"].as_f64().unwrap() > 0.0);
    }
    let again: Results = serde_json::from_value(json).unwrap();
    assert_eq!(again.suites[0].cases[0].requests, results.suites[0].cases[0].requests);
}

#[tokio::test]
async fn errors_are_in_every_form_of_the_report() {
    // The first answer is right, so that there is something to measure.
    let server = Server::start(|index| match index {
        0 => pong(),
        _ => Act::Say(response("<script>")),
    });
    let results = with_warnings(bench(&server, Pace::Closed).run(&mut Progress::silent()).await.unwrap());
    assert!(results.errors() > 0);
    assert!(results.warnings[0].contains("ping"), "{:?}", results.warnings);
    let page = results.page().unwrap();
    assert!(page.contains("not valid"));
    assert!(!page.contains("<script"), "everything filled in is escaped");
}

#[tokio::test]
async fn a_target_with_wrong_answers_is_reported_before_the_measurement() {
    let server = Server::start(|_| Act::Say(response("gong")));
    let mut bench = bench(&server, Pace::Closed);
    let mut target = bench.targets.remove(0);
    let error = bench.ask_each(&mut target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    let message = error.to_string();
    assert!(message.starts_with("tests ping at 127.0.0.1:"), "{message}");
    assert!(message.ends_with("found \"gong\", expected \"pong\""), "{message}");
}

#[tokio::test]
async fn failures_in_the_warm_up_are_reported_separately() {
    // The first answer is wrong, and so late that one lap takes longer than the whole limit.
    let least = Duration::from_secs(1);
    let server = Server::start(move |index| match index {
        0 => Act::SayAfter(least * 4, response("gong")),
        _ => pong(),
    });
    let mut bench = bench(&server, Pace::Closed);
    bench.targets = vec![server.target().warmed_by(Warmup::of(least))];
    let results = with_warnings(bench.run(&mut Progress::silent()).await.unwrap());
    assert_eq!(results.errors(), 0);
    assert!(results.rows().all(|row| row.rising), "{results:?}");
    let told = format!("{} gave 1 wrong or missing answers in the warm-up for tests: found", server.url());
    for told in [&told, "The target was still getting faster"] {
        // Other warnings may precede it, such as that the driver was the limit on a machine where it shares its cores.
        assert!(results.warnings.iter().any(|warning| warning.starts_with(told)), "{:?}", results.warnings);
    }
}

#[tokio::test]
async fn results_before_an_interruption_are_reported() {
    let interrupt = Interrupt::default();
    let server = Server::start({
        let interrupt = interrupt.clone();
        move |index| {
            if index == 50 {
                interrupt.now();
            }
            pong()
        }
    });
    let mut bench = Bench { interrupt, ..bench(&server, Pace::Closed) };
    let plan =
        Plan { warmup: Duration::ZERO, stop: Stop::after(Duration::from_secs(600)), ..bench.loads[0].plan.clone() };
    bench.loads = vec![Load { runs: 2, ..Load::new(case(), plan) }; 2];
    let results = bench.run(&mut Progress::silent()).await.unwrap();
    assert!(results.incomplete);
    assert_eq!(results.warnings[0], "not everything was measured: interrupted");
    let rows: Vec<_> = results.rows().collect();
    let [row] = rows[..] else { panic!("{} rows, expected that of the load under way", rows.len()) };
    assert!(row.requests >= 49 && row.errors == 0, "{} right, {} wrong", row.requests, row.errors);
    assert_eq!(row.exit_reason.as_deref(), Some("interrupted"));
}
