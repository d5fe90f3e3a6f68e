//! `castile bench` from arguments to exit code, with short runs.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;

/// Runs a bench with short runs, unless the arguments set other times.
fn bench(arguments: &[&str], out: &Path) -> Output {
    let short = [("--warmup", "20ms"), ("--duration", "0.1"), ("--runs", "2")];
    let short = short.into_iter().filter(|(name, _)| !arguments.contains(name)).flat_map(|(name, value)| [name, value]);
    Command::new(env!("CARGO_BIN_EXE_castile"))
        .args(["bench", "--out"])
        .arg(out)
        .args(short)
        .args(arguments)
        .output()
        .unwrap()
}

fn results(directory: &Path) -> Value {
    let json = std::fs::read_to_string(directory.join("results.json")).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn rows(results: &Value, suite: &str) -> Vec<Value> {
    let suites = results["suites"].as_array().unwrap();
    let suite = suites.iter().find(|known| known["suite"] == suite).unwrap();
    suite["cases"].as_array().unwrap().clone()
}

/// Returns these fields of the rows.
fn kinds(rows: &[Value], fields: &[&str]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| fields.iter().map(|field| row[field].clone()).collect()).collect()
}

#[test]
fn every_case_is_measured_and_the_floor_once_for_each_size() {
    let directory = tempfile::tempdir().unwrap();
    let output = bench(&["--method", "closed", "--client", "raw"], directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = results(directory.path());
    for (suite, cases) in [("styles", 12), ("wstest", 6), ("wspex", 15), ("benchmark1", 13)] {
        let (floor, ours): (Vec<_>, Vec<_>) =
            rows(&results, suite).into_iter().partition(|row| row["target"] == "floor");
        assert_eq!(ours.len(), cases, "{suite}");
        let size = |row: &Value| {
            ["request_bytes", "response_bytes", "connections", "keep_alive"].map(|field| row[field].to_string())
        };
        let sizes: std::collections::BTreeSet<_> = ours.iter().map(size).collect();
        let measured: Vec<_> = floor.iter().map(size).collect();
        assert_eq!(measured.len(), sizes.len(), "{suite}: each size once");
        assert!(measured.iter().all(|size| sizes.contains(size)), "{suite}: the floor answers the same bytes");
        for row in ours.iter().chain(&floor) {
            assert_eq!(row["errors"], 0, "{row}");
            assert!(row["requests"].as_u64() > Some(0) && row["verified"].as_u64() > Some(0), "{row}");
            assert!(
                !row["distribution"].as_array().unwrap().is_empty() && !row["series"].as_array().unwrap().is_empty()
            );
            if cfg!(target_os = "linux") {
                assert!(row["server_cpu_us_per_request"].is_f64() && row["server_peak_rss_bytes"].is_u64(), "{row}");
            }
        }
    }
    let off: Vec<_> = rows(&results, "benchmark1").into_iter().filter(|row| row["keep_alive"] == false).collect();
    let off: Vec<_> = off.iter().filter(|row| row["target"] == "castile").map(|row| &row["case"]).collect();
    assert_eq!(off, ["echoVoid", "echoSimpleEvents-100"]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("echoMeshInterfaceObjects-100") && table.contains("GetOrder"), "{table}");
    assert!(directory.path().join("index.html").exists());
}

#[test]
fn one_case_with_its_own_way_of_driving() {
    let directory = tempfile::tempdir().unwrap();
    let arguments =
        ["wstest", "--op", "EchoVoid", "--no-keepalive", "--rate", "200", "--connections", "3", "--no-floor"];
    // Long enough for an answer on a machine that does much else.
    let output = bench(&[&arguments[..], &["--method", "open", "--duration", "2"]].concat(), directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = rows(&results(directory.path()), "wstest");
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["keep_alive"], &rows[0]["connections"]), (&false.into(), &3.into()));
    assert_eq!((&rows[0]["rate"], &rows[0]["method"]), (&200.0.into(), &"open".into()));
    assert!(rows[0]["service_us"]["p50"].is_f64() && rows[0]["lag_us"]["max"].is_f64());
}

/// An unreachable address was once reported for each case, as if something had been measured.
#[test]
fn a_bench_that_can_t_start_reports_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let refusing = support::refusing();
    let unused = refusing.local_addr().unwrap();
    let url = format!("http://{unused}/");
    for (arguments, expected) in [
        (["--url", &url], format!("error: no server answers at {unused}: ")),
        (["--connections", "99999999999"], "error: found --connections 99999999999, expected at most ".to_owned()),
        (["--rate", "99999999999"], "expected at most 10,000,000 requests per second".to_owned()),
        (["--runs", "99999999999"], "expected at most 1,000 runs".to_owned()),
    ] {
        let output = bench(&[&["wstest", "--op", "EchoVoid"], &arguments[..]].concat(), directory.path());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && told.contains(&expected), "{told}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn server_and_floor_take_turns_in_slices_that_are_pairs() {
    let directory = tempfile::tempdir().unwrap();
    let output = bench(&["wstest", "--op", "EchoVoid", "--method", "closed", "--duration", "0.6"], directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = results(directory.path());
    assert_eq!(results["slice_s"], 0.05);
    let rows = rows(&results, "wstest");
    let of = |target: &str| rows.iter().find(|row| row["target"] == target && row["client"] == "raw").unwrap();
    let slices = |row: &Value| row["series"].as_array().unwrap().clone();
    let (own, floor) = (of("castile"), of("floor"));
    assert_eq!(slices(own).len(), slices(floor).len());
    for slice in slices(own).iter().chain(&slices(floor)) {
        assert!(slice["requests_per_second"].is_f64(), "{slice}");
    }
    let times = &own["times_floor"];
    assert!(times["ratio"].as_f64() > Some(0.0) && times["pairs"].as_u64() > Some(0), "{times}");
    assert!(times["pairs"].as_u64() <= Some(slices(own).len() as u64), "{times}");
    assert_eq!(times["interval"].is_array(), times["pairs"].as_u64() >= Some(6), "{times}");
    assert!(floor["times_floor"].is_null(), "{floor}");
    let page = std::fs::read_to_string(directory.path().join("index.html")).unwrap();
    assert!(page.contains("× floor") && page.contains("a confidence of 95 %"));
}

#[test]
fn several_methods_have_rows_each() {
    let directory = tempfile::tempdir().unwrap();
    let cases = ["wstest", "seismic", "--op", "EchoVoid", "--op", ".01x200", "--client", "raw", "--no-floor"];
    let methods = ["--runs", "1", "--method", "closed", "--method", "sequence"];
    let output = bench(&[&cases[..], &methods].concat(), directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = results(directory.path());
    let methods = |suite| kinds(&rows(&results, suite), &["method"]).concat();
    assert_eq!(methods("wstest"), ["closed"], "and no users");
    assert_eq!(methods("seismic"), ["sequence"; 3], "three styles");

    let schedule = |methods: &[&str]| {
        let output = bench(&[&cases[..], methods, &["--dry-run"]].concat(), directory.path());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(schedule(&["--method", "users,closed,sequence"]), schedule(&[]));
}

#[test]
fn typed_clients_have_the_raw_driver_beside_them() {
    let directory = tempfile::tempdir().unwrap();
    let output = bench(&["wspex", "--op", "echoStruct"], directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = rows(&results(directory.path()), "wspex");
    let expected = [["castile", "typed"], ["castile", "raw"], ["floor", "raw"]];
    assert_eq!(kinds(&rows, &["target", "client"]), expected.map(|row| row.map(Value::from).to_vec()));
    assert_eq!(rows[0]["verified"], rows[0]["requests"], "each answer was decoded");
    assert_eq!(rows[0]["response_bytes"], rows[1]["response_bytes"]);
}

#[test]
fn a_sequence_is_sent_once_in_each_pass() {
    let directory = tempfile::tempdir().unwrap();
    let output = bench(&["seismic", "--op", ".01x200", "--client", "raw", "--runs", "1"], directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = rows(&results(directory.path()), "seismic");
    assert_eq!(rows.len(), 3, "three styles");
    for row in &rows {
        assert_eq!((&row["method"], &row["requests"]), (&"sequence".into(), &200.into()), "{row}");
        assert_eq!((&row["matches"], &row["errors"]), (&rows[0]["matches"], &0.into()), "{row}");
        assert!(row["elapsed_s"].as_f64() > Some(0.0) && row["bytes_in"].as_u64() > row["bytes_out"].as_u64(), "{row}");
        let discarded: Vec<_> =
            row["passes"].as_array().unwrap().iter().map(|pass| pass["discarded"].as_bool().unwrap()).collect();
        assert_eq!(discarded, [true, false]);
    }
}

#[test]
fn secured_queries_are_written_when_they_are_sent_except_for_the_floor() {
    let directory = tempfile::tempdir().unwrap();
    let output = bench(&["seismic-security", "--op", "large-100", "--runs", "1", "--dry-run"], directory.path());
    let schedule = String::from_utf8(output.stdout).unwrap();
    for style in ["plain", "username", "sign"] {
        for (client, target) in [("typed", "castile"), ("raw", "floor")] {
            let line = format!(
                "seismic-security large-100 {style}, {client}, 1 client, kept alive: 2 × 100 requests, first 1 discarded; \
                 0s against {target}\n"
            );
            assert!(schedule.contains(&line), "{line} in {schedule}");
        }
    }
    assert_eq!(schedule.lines().count(), 7, "{schedule}");
    let again = ["seismic-security", "--op", "large-100", "--no-keepalive", "--dry-run"];
    let schedule = String::from_utf8(bench(&again, directory.path()).stdout).unwrap();
    assert!(
        schedule.contains(", typed, ") && !schedule.contains("floor"),
        "only connections have an order: {schedule}"
    );
}

#[test]
fn users_are_raised_and_ramps_go_on_until_something_ends_them() {
    let directory = tempfile::tempdir().unwrap();
    let users = ["wstest", "--op", "EchoVoid", "--method", "users", "--think", "50ms", "--connections", "4"];
    let output = bench(&users, directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let searched = rows(&results(directory.path()), "wstest");
    assert_eq!(
        kinds(&searched, &["target", "method", "keep_alive"]),
        [["castile".into(), "users".into(), Value::from(false)]]
    );
    let curve = searched[0]["curve"].as_array().unwrap();
    let users: Vec<u64> = curve.iter().map(|step| step["users"].as_u64().unwrap()).collect();
    assert!(users.len() >= 3 && users[0] == 4, "{users:?}");
    // How far users are raised depends on the machine, but there is a maximum.
    assert!(users.windows(2).all(|pair| pair[1] == (pair[0] * 3).min(32_000)), "{users:?}");
    assert!(users.contains(&searched[0]["users_at_peak"].as_u64().unwrap()));

    let output = bench(&["styles", "--op", "document-2KB", "--method", "ramp", "--duration", "0.3"], directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ramp = &rows(&results(directory.path()), "styles")[0];
    assert_eq!((&ramp["method"], &ramp["failed"]), (&"ramp".into(), &0.into()));
    assert!(ramp["users_at_exit"].as_u64() > Some(1) && ramp["exit_reason"].is_string(), "{ramp}");
}

#[test]
fn the_published_profile_is_the_articles_schedule() {
    let directory = tempfile::tempdir().unwrap();
    let schedule = |arguments: &[&str]| {
        let arguments = [&["bench", "--profile", "published", "--dry-run"], arguments].concat();
        let output =
            Command::new(env!("CARGO_BIN_EXE_castile")).args(arguments).current_dir(directory.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let expected = "wspex echoVoid, typed, 32 connections, kept alive: 4 × (1m + 1m), first 2 discarded; 8m against castile\n\
                    wspex echoVoid, raw, 32 connections, kept alive: 4 × (1m + 1m), first 2 discarded; 8m against floor\n\
                    total: 16m, plus the runs that end with their last request\n";
    assert_eq!(schedule(&["wspex", "--op", "echoVoid"]), expected);
    let alone = schedule(&["wspex", "--op", "echoVoid", "--no-floor"]);
    assert!(alone.ends_with("total: 8m, plus the runs that end with their last request\n"), "{alone}");
    let users = schedule(&["wstest", "--op", "EchoVoid", "--method", "users"]);
    assert!(users.starts_with("wstest EchoVoid, raw, 1000 to 32000 users, thinking 1s, one request each: "), "{users}");
    let ramp = schedule(&["styles", "--op", "document-50KB"]);
    assert!(
        ramp.contains("up to 875 users, one request every 2m each, kept alive: 1 × 35m; 35m against castile"),
        "{ramp}"
    );
    let sequence = schedule(&["seismic", "--op", ".5x10", "--client", "typed"]);
    let line =
        "seismic .5x10 document, typed, 1 client, kept alive: 2 × 10 requests, first 1 discarded; 0s against castile";
    assert!(sequence.contains(line), "{sequence}");
    let closed = schedule(&["wstest", "--op", "GetOrder", "--method", "users"]);
    assert_eq!(closed.lines().count(), 2, "{closed}");
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "nothing is written");
}

/// Returns the schedule of a profile, and its duration without sequences.
fn planned(profile: &str) -> (String, Duration) {
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    let output = castile.args(["bench", "--dry-run", "--profile", profile]).output().unwrap();
    let schedule = String::from_utf8(output.stdout).unwrap();
    let total = schedule.lines().last().unwrap().strip_prefix("total: ").unwrap().split(", plus").next().unwrap();
    let planned = humantime::parse_duration(total).unwrap();
    (schedule, planned)
}

/// The default profile must be short as a whole, and half an hour is what a user can wait.
#[test]
fn profiles_take_as_long_as_they_say() {
    let (_, half_an_hour) = planned("standard");
    assert!((28 * 60..=32 * 60).contains(&half_an_hour.as_secs()), "{half_an_hour:?}");
    let (schedule, planned) = planned("quick");
    assert!(planned < Duration::from_secs(200), "{planned:?}, and sequences beside");
    for suite in ["seismic .5x10 binary, typed", "styles cdata-200KB", "wstest GetOrder", "wspex echoOrder500, typed"] {
        assert!(schedule.contains(suite), "{suite} in {schedule}");
    }
}

/// Another process uses the server's core all the time.
#[test]
#[cfg(target_os = "linux")]
fn rows_that_others_disturbed_are_marked() {
    let castile_load::Placement::Apart { server, .. } = castile_load::Placement::apart() else {
        println!("SKIPPED: server and driver have no cores of their own here");
        return;
    };
    let mut busy = Command::new("taskset");
    busy.args(["-c", &server[0].to_string(), "sh", "-c", "while :; do :; done"]);
    let _busy = castile_load::Process::start("busy", busy).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let output = bench(
        &["wstest", "--op", "EchoVoid", "--method", "closed", "--duration", "0.5", "--no-floor"],
        directory.path(),
    );
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    // A bench once took three times as long as planned without an explanation.
    assert!(told.contains(": repeated, because other processes used the cores (") && told.contains(" left)"), "{told}");
    let results = results(directory.path());
    for row in rows(&results, "wstest").iter().filter(|row| row["client"] != "ab") {
        assert!(row["disturbed"].as_f64() > Some(0.1), "{row}");
    }
    assert!(results["warnings"].to_string().contains("Other processes used the cores"), "{}", results["warnings"]);
}

#[test]
fn criteria_set_the_exit_code_and_files_tell_why() {
    let directory = tempfile::tempdir().unwrap();
    let [junit, csv] = ["r.xml", "r.csv"].map(|name| directory.path().join(name));
    let files = ["--junit", junit.to_str().unwrap(), "--csv", csv.to_str().unwrap()];
    let void = ["wstest", "--op", "EchoVoid", "--method", "closed", "--no-floor"];
    for (criterion, code) in [("errors>0", 0), ("rps<1", 0), ("p50>0us", 1)] {
        let output = bench(&[&void[..], &files, &["--fail-if", criterion]].concat(), directory.path());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{criterion}: {told}");
        assert_eq!(told.contains("failed: wstest EchoVoid"), code == 1, "{told}");
    }
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("failures=\"1\"") && junit.contains("p50 &gt; 0"), "{junit}");
    assert!(std::fs::read_to_string(csv).unwrap().lines().nth(1).unwrap().starts_with("wstest,EchoVoid,castile,"));
}

/// Skipped with a message if the machine can't simulate a network.
#[test]
#[cfg(target_os = "linux")]
fn quakes_are_found_across_a_simulated_network_that_is_removed_afterwards() {
    const BITS_PER_SECOND: f64 = 100e6;
    let interfaces = || {
        let names = std::fs::read_dir("/sys/class/net").unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = interfaces();
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["seismic", "--op", ".05x100", "--client", "raw", "--runs", "1", "--network", "100Mbit"];
    let output = bench(&arguments, directory.path());
    let told = String::from_utf8_lossy(&output.stderr);
    if told.contains("no network can be simulated") {
        println!("SKIPPED: {told}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{told}");
    let rows = rows(&results(directory.path()), "seismic");
    let kinds = kinds(&rows, &["style", "network"]);
    let expected = ["document", "rpc-encoded", "binary"]
        .map(|style| [[style.into(), Value::Null], [style.into(), "100 Mbit/s".into()]]);
    assert_eq!(kinds, expected.concat());
    for pair in rows.chunks(2) {
        let number = |row: &Value, field: &str| row[field].as_f64().unwrap();
        assert_eq!((&pair[0]["matches"], &pair[0]["bytes_in"]), (&pair[1]["matches"], &pair[1]["bytes_in"]));
        // Data can't arrive faster than the rate, except a few frames after the pause before each answer.
        let burst = 10.0 * 1_514.0 * 100.0;
        let least = (number(&pair[1], "bytes_in") - burst).max(0.0) * 8.0 / BITS_PER_SECOND;
        assert!(number(&pair[1], "elapsed_s") > least, "{pair:?}");
    }
    let page = std::fs::read_to_string(directory.path().join("index.html")).unwrap();
    assert!(page.contains("across 100 Mbit"));
    assert_eq!(interfaces(), before);
}

#[test]
fn wrong_arguments_and_absent_endpoints_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        (&["nothing"][..], 2, "\"nothing\""),
        (&["wstest", "--op", "EchoNothing"], 2, "EchoStruct100"),
        (&["--url", "http://127.0.0.1:1/"], 2, "--url"),
        (&["wstest", "--network", "100Mbit"], 2, "expected seismic: --network supports no other suite"),
        (&["seismic", "--network", "100"], 2, "expected a rate from 1Mbit to 10Gbit"),
        (&["wstest", "--method", "closed,all"], 2, "expected closed, open, users, ramp or sequence"),
        (&["wstest", "--method", "ramp"], 2, "there is nothing to measure"),
        (&["wstest", "--method", "closed,ramp"], 2, "no measured case uses the method ramp"),
        (&["wstest", "--fail-if", "p99>1h"], 2, "expected a time in us, ms or s"),
        (&["wstest", "--op", "EchoVoid", "--url", "http://127.0.0.1:1/"], 2, "no server answers at 127.0.0.1:1"),
        (&["wstest", "--csv", "-"], 2, "found -, expected a file name"),
        (&["wstest", "--junit", "/nowhere/a.xml"], 2, "there is no folder /nowhere"),
        (&["wstest", "--csv", "/"], 2, "/ is a folder, expected a file"),
    ];
    for (arguments, code, expected) in cases {
        let output = bench(arguments, directory.path());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(message.starts_with("error: ") && message.contains(expected), "{message}");
    }
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "nothing was measured, nothing is written");
}
