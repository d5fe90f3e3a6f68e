//! Tests how shares of a load become one report, and which are refused.

use serde_json::{Value, json};

use super::*;
use crate::exchange::Judged;
use crate::{Answer, Bench, Case, Endpoint, Interrupt, Load, Message, Placement, Plan, Requests, Start, Target};

fn merge(shares: Vec<Share>) -> Result<Results, Error> {
    let mut merging = Merging::default();
    shares.into_iter().try_for_each(|share| merging.add(share))?;
    merging.results()
}

fn description() -> Description {
    let message =
        Message { action: String::new(), content_type: String::new(), body: "ping".into(), check: Arc::new(|_| Ok(0)) };
    let requests = Requests::Raw(vec![message]);
    let case = Case { suite: "tests".into(), name: "ping".into(), style: None, path: "/".into(), requests };
    let plan = Plan { start: Start::OnDemand, connections: 100_000, ..Plan::default() };
    let endpoint = Endpoint::resolve("http://127.0.0.1:1/").unwrap();
    let bench = Bench {
        loads: vec![Load::new(case, plan)],
        targets: vec![Target::external("there", endpoint)],
        placement: Placement::external(),
        repeats: 0,
        command: "castile load".into(),
        interrupt: Interrupt::default(),
    };
    bench.description().unwrap()
}

/// Whatever stands in the file of a worker, it is refused or merged.
#[test]
fn changed_shares_do_no_harm() {
    let shares = [share("a", 10, 100..200), share("b", 11, [5_000_000].into_iter())];
    let texts = shares.map(|share| serde_json::to_vec(&share).unwrap());
    let numbers = r#"[1,-1,1e308,18446744073709551615,null,"",[]]"#.as_bytes();
    let mut merged = 0;
    crate::mutations::check_mutations(&[&texts[0], &texts[1], numbers], |text, _| {
        let Ok(changed) = serde_json::from_slice::<Share>(text) else { return };
        let mut merging = Merging::default();
        merging.add(share("c", 12, 100..110)).unwrap();
        if merging.add(changed).is_ok()
            && let Ok(results) = merging.results()
        {
            let row = &results.suites[0].cases[0];
            assert!(row.latency_us.p50.is_finite() && row.requests_per_second.mean.is_finite());
            let _ = results.table();
            merged += 1;
        }
    });
    assert!(merged > 0);
}

/// Returns the share of a worker that began at a second, and had answers of these latencies in microseconds.
fn share(name: &str, begun: u64, latencies: impl Iterator<Item = u64>) -> Share {
    let mut record = Recorder::default();
    let answer = Answer { bytes_out: 4, bytes_in: 7, matches: 0 };
    for latency in latencies {
        let latency = Duration::from_micros(latency);
        record.answer(&Judged { answer, verified: false }, latency, latency);
    }
    record.error(true, &format!("status 500: request 7 of {begun}"));
    let second = Second { requests: record.requests, errors: 1, users: 2 };
    Share {
        name: name.to_owned(),
        description: description(),
        record,
        parts: Vec::new(),
        begun_s: begun as f64,
        ended_s: 20.0,
        clock_s: 0.0,
        seconds: BTreeMap::from([(begun, second)]),
        opened: None,
        in_flight: 0,
        unsent: 0,
        dropped: 0,
        cpu_s: Some(2.0),
        peak_cores: 0.0,
        lost_reports: 0,
        is_lost: false,
    }
}

/// Returns shares as they are after a journey.
fn travelled(shares: &[Share]) -> Vec<Share> {
    serde_json::from_str(&serde_json::to_string(shares).unwrap()).unwrap()
}

#[test]
fn merged_figures_are_those_of_one_driver() {
    let latencies = |from: u64| (from..3_000).step_by(3).map(|number| 500 + number * number);
    let workers = [share("a", 10, latencies(0)), share("b", 10, latencies(1)), share("c", 10, latencies(2))];
    let mut alone = share("alone", 10, (0..3_000).map(|number| 500 + number * number));
    alone.seconds = BTreeMap::from([(10, Second { requests: 3_000, errors: 3, users: 6 })]);
    alone.record.error(true, "status 500: request 8 of 10");
    alone.record.error(true, "status 500: request 9 of 10");
    let (merged, alone) = (merge(travelled(&workers)).unwrap(), merge(travelled(&[alone])).unwrap());
    let (row, same) = (&merged.suites[0].cases[0], &alone.suites[0].cases[0]);
    assert_eq!((row.requests, row.errors, row.connections), (3_000, 3, 6));
    assert_eq!((&row.latency_us, &row.distribution, &row.series), (&same.latency_us, &same.distribution, &same.series));
    assert_eq!((&row.requests_per_second, &row.reasons), (&same.requests_per_second, &same.reasons));
    assert_eq!((row.request_bytes, row.response_bytes, row.rhythm.is_some()), (4, 7, true));
    let names: Vec<_> = merged.workers.iter().map(|worker| (&*worker.name, worker.requests)).collect();
    assert_eq!((names, merged.warnings.len()), (vec![("a", 1_000), ("b", 1_000), ("c", 1_000)], 0));
    // Each used a fifth of its core.
    assert_eq!((row.driver_cpu_share, row.driver_limited), (Some(0.2), false));
}

#[test]
fn a_worker_that_was_late_or_lost_or_slow_is_named() {
    let mut slow = share("slow", 10, 0..100);
    (slow.cpu_s, slow.in_flight, slow.lost_reports) = (Some(9.9), 2, 3);
    let mut lost = share("lost\u{1b}[2J", 14, 0..100);
    (lost.is_lost, lost.ended_s, lost.cpu_s) = (true, 15.0, None);
    let results = merge(travelled(&[slow, lost])).unwrap();
    let expected = [
        "3 reports of the worker slow were lost on the way, so what it did meanwhile is not in the figures",
        "2 requests were under way when the worker slow ended, and not counted",
        "The worker slow could not keep up (the driver used 99 % of its cores), so its figures are not those of the server",
        "The worker lost\\u{1b}[2J joined 4.00 s after the first",
        "The worker lost\\u{1b}[2J was lost 5.00 s after the start: what it did after its last report is not in the figures",
    ];
    assert_eq!(results.warnings, expected);
    let row = &results.suites[0].cases[0];
    assert_eq!(
        (row.limited_by.as_deref(), row.driver_limited),
        (Some("slow: the driver used 99 % of its cores"), true)
    );
}

/// A driver that was at its limit in the last half of a ramp was once not named: on average it used 70 % of its core.
#[test]
fn a_worker_that_was_slow_for_a_part_of_the_test_is_named() {
    let of = |cpu, peak_cores| Share { cpu_s: Some(cpu), peak_cores, ..share("w", 10, 0..100) };
    let limit = |share: Share| merge(travelled(&[share])).unwrap().workers.remove(0).limited_by;
    assert_eq!((limit(of(7.0, 0.8)), limit(of(0.0, 0.0))), (None, None));
    let part = "the driver used 99 % of its cores in its busiest seconds";
    assert_eq!(limit(of(7.0, 0.99)).as_deref(), Some(part));
    assert_eq!(limit(of(9.5, 0.99)).as_deref(), Some("the driver used 95 % of its cores"));
    let mut two = of(14.0, 1.5);
    two.description.described.threads = 2;
    assert_eq!(limit(two), None);
}

/// A report that the plugin accepts is merged later.
#[test]
fn the_plugin_has_the_limits_of_what_is_merged() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../locust/src/plugin.py");
    let plugin = std::fs::read_to_string(path).unwrap();
    let limit = |name: &str| -> u64 {
        let (_, value) = plugin.split_once(&format!("\n{name} = ")).unwrap();
        let number = |text: &str| text.replace('_', "").parse::<u64>().unwrap();
        let value = value.lines().next().unwrap();
        match value.split_once(" << ") {
            Some((one, places)) => number(one) << number(places),
            None => value.split(" * ").map(number).product(),
        }
    };
    let parts = limit("MOST_PARTS");
    assert_eq!((parts, limit("LONGEST_TIME")), (MAX_PARTS as u64, crate::recorder::END));
    assert_eq!((limit("LATEST") as f64, limit("LONGEST_TEST") as f64), (LATEST, MAX_TIME));
    assert!(limit("MOST_VALUES") >= Recorder::default().latency.distinct_values() as u64);
    assert!(limit("MOST_WORKERS") <= MAX_WORKERS as u64 && limit("LARGEST_SUM") <= crate::recorder::MAX_COUNT);
}

#[test]
fn clocks_that_differ_are_corrected() {
    let same = [share("a", 10, 0..100), share("b", 10, 0..100)];
    let mut ahead = share("b", 10, 0..100);
    (ahead.begun_s, ahead.ended_s, ahead.clock_s) = (3_610.2, 3_620.2, 3_600.2);
    ahead.seconds = BTreeMap::from([(3_610, ahead.seconds[&10])]);
    let corrected = merge(travelled(&[share("a", 10, 0..100), ahead])).unwrap();
    let same = merge(travelled(&same)).unwrap();
    assert_eq!(corrected.suites[0].cases[0].series, same.suites[0].cases[0].series);
    assert_eq!((corrected.workers[1].begun_s, corrected.duration_s), (0.0, same.duration_s));
    assert_eq!(corrected.warnings, ["The clock of the worker b was 3,600 s ahead, which is corrected"]);
}

#[test]
fn impossible_shares_are_refused() {
    let good = serde_json::to_value(share("w", 10, 0..10)).unwrap();
    let with = |path: &str, value: Value| {
        let mut share = good.clone();
        *share.pointer_mut(path).unwrap() = value;
        serde_json::from_value::<Share>(share).is_ok_and(|share| merge(vec![share]).is_ok())
    };
    assert!(
        with("/cpu_s", json!(null))
            && with("/record/latency", json!([0, 1, 1, 1, 1_000, 1, 5_000_000, 2, (1u64 << 42) - 1, 1]))
            && with("/seconds", json!({ "21": { "requests": 1, "errors": 1, "users": 1 } }))
    );
    let mut late = good.clone();
    (late["begun_s"], late["ended_s"], late["seconds"]) = (json!(1e300), json!(1e300), json!({}));
    assert!(merge(vec![serde_json::from_value(late).unwrap()]).is_err());
    let half = json!({ "requests": (1u64 << 45) + 1, "errors": 0, "users": u64::MAX });
    for (path, value) in [
        ("/begun_s", json!(-1.0)),
        ("/begun_s", json!(30.0)),
        ("/ended_s", json!(1e300)),
        ("/cpu_s", json!(-5.0)),
        ("/clock_s", json!(1e300)),
        ("/cpu_s", json!(1e12)),
        ("/seconds", json!({ "8": { "requests": 1, "errors": 1, "users": 1 } })),
        ("/seconds", json!({ "22": { "requests": 1, "errors": 1, "users": 1 } })),
        ("/seconds", json!({ (u64::MAX.to_string()): { "requests": 1, "errors": 1, "users": 1 } })),
        ("/seconds/10/requests", json!(u64::MAX)),
        ("/seconds/10/errors", json!(u64::MAX)),
        ("/seconds", json!({ "10": half, "11": half })),
        ("/record/reasons", json!([{ "text": "a", "count": 1u64 << 46 }, { "text": "b", "count": 1 }])),
        ("/peak_cores", json!(-1.0)),
        ("/peak_cores", json!(1e300)),
        ("/lost_reports", json!(u64::MAX)),
        ("/in_flight", json!(u64::MAX)),
        ("/unsent", json!(u64::MAX)),
        ("/dropped", json!(u64::MAX)),
        ("/opened", json!(u64::MAX)),
        ("/record/requests", json!(u64::MAX)),
        ("/record/warmup_errors", json!(5)),
        ("/record/reasons/0/count", json!(u64::MAX)),
        ("/parts", json!([good["record"]])),
        ("/record/latency", json!([1_000, 11])),
        ("/record/service", json!([1_000, 11])),
        ("/record/lag", json!([1_000, (1u64 << 45) + 1, 2_000, 1u64 << 45])),
        ("/record/latency", json!([1_000])),
        ("/record/latency", json!([1_000, u64::MAX])),
        ("/record/latency", json!([u64::MAX, 1])),
        ("/record/latency", json!([1u64 << 42, 1])),
        ("/record/latency", json!([-1, 1])),
    ] {
        assert!(!with(path, value.clone()), "{path} {value}");
    }
    assert!(merge(Vec::new()).is_err());
    // Each share is possible, and so is their sum.
    let most = json!({ "requests": 1u64 << 46, "errors": 1u64 << 46, "users": u64::MAX });
    let mut many = good.clone();
    many["seconds"] = json!({ "10": most });
    for count in ["in_flight", "unsent", "dropped", "opened"] {
        many[count] = json!(1u64 << 44);
    }
    for count in ["requests", "errors", "not_sent", "verified", "bytes_out", "bytes_in", "matches"] {
        many["record"][count] = json!(1u64 << 46);
    }
    let many: Share = serde_json::from_value(many).unwrap();
    let many = (0..3).map(|number| Share { name: number.to_string(), ..many.clone() });
    assert_eq!(merge(many.collect()).unwrap().suites[0].cases[0].requests, 3 << 46);
}

/// One worker with another operation once made all others "another load", if it came first.
#[test]
fn most_shares_decide_which_load_is_merged() {
    let mut other = share("other", 10, 0..10);
    other.description.described.row.case = "pong".into();
    let mut impossible = share("impossible", 10, 0..10);
    impossible.ended_s = 1e300;
    let all = [other, impossible, share("a", 10, 0..10), share("b", 10, 0..10)];
    let mut merging = Merging::default();
    let announced: Vec<bool> = all.iter().map(|share| merging.announce(share).is_ok()).collect();
    assert_eq!(announced, [true, false, true, true]);
    let added = all.map(|share| merging.add(share).map_err(|error| error.to_string()));
    assert_eq!(added[0], Err("the worker other drove pong, expected ping".to_owned()));
    assert_eq!((added[2].is_ok(), added[3].is_ok()), (true, true));
    assert_eq!(merging.results().unwrap().workers.len(), 2);
}

#[test]
fn workers_with_other_options_are_named() {
    let of = |name: &str, command: &str, target: &str| {
        let mut share = share(name, 10, 0..10);
        share.description.head.command = format!("castile load a.wsdl --worker-name {name} {command}");
        share.description.described.row.target = target.to_owned();
        share
    };
    let results = merge(vec![
        of("a", "--url http://a --think 1s", "http://a"),
        of("b", "--url http://b --feed b.csv --think 100ms", "http://b"),
        of("c", "--url http://a", "http://a"),
        of("d", "--url http://a --think 1s --no-keepalive", "http://a"),
    ]);
    let results = results.unwrap();
    let expected = [
        "The worker b was started with --think 100ms instead of --think 1s of the worker a",
        "The worker c was started without --think 1s of the worker a",
        "The worker d was started with --no-keepalive in addition to the options of the worker a",
        "The workers loaded different addresses: http://a, http://b",
    ];
    assert_eq!(results.warnings, expected);
    assert_eq!(results.command, "castile load a.wsdl --url http://a --think 1s");
    assert_eq!(results.date, "1970-01-01T00:00:10Z");
}

/// The users of a worker that left were once counted together with those that replaced them.
#[test]
fn users_of_a_worker_that_left_are_counted_once() {
    let of = |name: &str, seconds: std::ops::Range<u64>, users: fn(u64) -> u64| {
        let ended_s = seconds.end as f64 + 0.3;
        let seconds = seconds.map(|at| (at, Second { requests: 1, errors: 0, users: users(at) })).collect();
        Share { seconds, ended_s, ..share(name, 10, 0..20) }
    };
    let shares = vec![of("stays", 10..30, |at| if at < 13 { 10 } else { 20 }), of("leaves", 10..14, |_| 10)];
    let results = merge(shares).unwrap();
    assert_eq!(results.suites[0].cases[0].connections, 20);
    let expected = "The worker leaves measured from 0.0 s to 4.3 s, and ended before the others";
    assert_eq!(results.warnings, [expected]);
}

/// A worker whose clock stands in 1970 once made the report impossible.
#[test]
fn a_clock_that_was_never_set_is_corrected() {
    let mut late = share("late", 10, 0..10);
    (late.begun_s, late.ended_s, late.seconds) = (1.9e9, 1.9e9 + 10.0, BTreeMap::new());
    let mut old = share("old", 10, 0..10);
    old.clock_s = -1.9e9 + 10.0;
    assert_eq!(merge(vec![late, old]).unwrap().duration_s, 10.0);
}

/// A file of some kilobytes once took gigabytes of memory.
#[test]
fn records_are_refused_while_they_are_read() {
    let mut share = serde_json::to_value(share("w", 10, 0..10)).unwrap();
    share["parts"] = json!(vec![&share["record"]; 3]);
    // Parts of parts aren't read.
    share["parts"][0]["parts"] = json!(["no record"]);
    let read = serde_json::from_value::<Share>(share.clone()).unwrap();
    assert_eq!((read.parts.len(), read.parts[0].parts.len()), (3, 0));
    share["parts"] = json!(vec![&share["record"]; MAX_PARTS + 1]);
    let error = serde_json::from_value::<Share>(share).unwrap_err().to_string();
    assert!(error.contains("expected at most 1000 records of operations"), "{error}");
}

/// A report once counted a worker twice whose file was given twice.
#[test]
fn a_share_counts_once() {
    let again = Share { begun_s: 11.0, seconds: BTreeMap::new(), ..share("w", 10, 0..10) };
    assert!(merge(vec![share("w", 10, 0..10), again]).is_ok());
    let error = merge(vec![share("w", 10, 0..10), share("w", 10, 0..10)]).unwrap_err();
    assert_eq!(error.to_string(), "the worker w is there twice");
}

/// The second before the first one once replaced it, or was replaced.
#[test]
fn a_second_from_before_the_beginning_is_a_part_of_the_first() {
    let of = |requests, users| Second { requests, errors: 1, users };
    let seconds = BTreeMap::from([(9, of(5, 1)), (10, of(7, 3)), (11, of(1, 2))]);
    let corrected = Share { seconds, ..share("w", 10, 0..10) }.corrected();
    let first = Second { requests: 12, errors: 2, users: 3 };
    assert_eq!(corrected.seconds, BTreeMap::from([(0, first), (1, of(1, 2))]));
}

/// Each process once counted as many threads as the plan has, so that a busy driver looked idle.
#[test]
fn a_part_of_a_load_has_its_own_threads() {
    let mut busy = share("busy", 10, 0..10);
    busy.cpu_s = Some(9.9);
    let mut whole = busy.description.clone();
    whole.described.threads = 4;
    let results = merge(vec![busy.part_of(&whole)]).unwrap();
    assert_eq!(results.workers[0].limited_by.as_deref(), Some("the driver used 99 % of its cores"));
}

#[test]
fn the_first_second_of_each_worker_is_in_the_series() {
    let of = |name: &str, begun: f64, clock: f64| {
        let second = Second { requests: 10, errors: 0, users: 2 };
        let first = begun as u64;
        let seconds = (first..first + 10).map(|at| (at, second)).collect();
        Share { begun_s: begun, ended_s: begun + 10.0, clock_s: clock, seconds, ..share(name, 10, 0..100) }
    };
    // They begin at 10.1, 10.05 and 9.98 of one clock.
    let merged = merge(vec![of("a", 10.7, 0.6), of("b", 10.05, 0.0), of("c", 9.58, -0.4)]).unwrap();
    let series = &merged.suites[0].cases[0].series;
    let rates: Vec<_> = series.iter().map(|interval| interval.requests_per_second.round()).collect();
    assert!(rates.len() == 10 && rates[..9].iter().all(|rate| *rate == 30.0), "{rates:?}");
    assert!((26.0..=30.0).contains(&rates[9]), "{rates:?}");
}
