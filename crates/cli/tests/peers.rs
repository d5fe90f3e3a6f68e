//! `castile peers` and `castile bench --peer` with peers made by this test: one is Castile itself, one doesn't support SOAP.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const CASTILE: &str = env!("CARGO_BIN_EXE_castile");
const DESCRIPTION: &str = r#"{"title": "Mine", "versions": "1", "language": "Rust", "suites": ["benchmark1"],
    "except": {"echoVoid": "there is nothing to echo"}, "warmup_s": 1}"#;

/// Makes a folder with a peer `right`, which serves everything, and a peer `wrong`, which serves nothing at the paths of services.
fn checkout() -> tempfile::TempDir {
    let checkout = tempfile::tempdir().unwrap();
    // The script writes its process id, so that the test can see that the process ended.
    let server = |command: &str| {
        format!("#!/bin/sh\necho $$ >\"$(dirname \"$0\")/id\"\nexec '{CASTILE}' {command} --addr \"127.0.0.1:$1\"\n")
    };
    peer(checkout.path(), "right", "#!/bin/sh\ntouch \"$(dirname \"$0\")/built\"\n", &server("serve"));
    peer(
        checkout.path(),
        "wrong",
        "#!/bin/sh\necho 'cc is missing: apt-get install gcc' >&2\nexit 1\n",
        &server("floor"),
    );
    checkout
}

fn peer(checkout: &Path, name: &str, build: &str, start: &str) {
    let directory = checkout.join("peers").join(name);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("peer.json"), DESCRIPTION).unwrap();
    for (script, text) in [("build", build), ("start", start)] {
        let script = directory.join(script);
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    }
}

fn castile(checkout: &Path, arguments: &[&str]) -> Output {
    Command::new(CASTILE).args(arguments).current_dir(checkout).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns whether the server of a peer, which was started, has ended.
fn has_ended(checkout: &Path, name: &str) -> bool {
    let id = std::fs::read_to_string(checkout.join("peers").join(name).join("id")).unwrap();
    !runs(id.trim())
}

/// An exited process whose parent has ended stays a zombie where nothing waits for it.
fn runs(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn the_list_has_all_peers_and_what_they_serve() {
    let checkout = checkout();
    let listed = text(&castile(checkout.path(), &["peers"]).stdout);
    let lines: Vec<_> = listed.lines().collect();
    let expected = [
        "right          Mine: 1; Rust; benchmark1",
        "               without echoVoid: there is nothing to echo",
        "wrong          Mine: 1; Rust; benchmark1",
    ];
    assert_eq!(lines[..3], expected);
}

#[test]
fn a_failed_build_is_reported_and_the_other_peers_are_built() {
    let checkout = checkout();
    let lacking = "#!/bin/sh\necho 'mvn is missing: apt-get install maven gcc' >&2\nexit 1\n";
    peer(checkout.path(), "another", lacking, "#!/bin/sh\n");
    peer(checkout.path(), "broken", "#!/bin/sh\nexit 7\n", "#!/bin/sh\n");
    let output = castile(checkout.path(), &["peers", "build"]);
    assert!(checkout.path().join("peers/right/built").exists());
    assert_eq!(output.status.code(), Some(3));
    let expected = "another\n\
                    mvn is missing: apt-get install maven gcc\n\
                    another: its build script failed (exit status: 1)\n\
                    broken\n\
                    broken: its build script failed (exit status: 7)\n\
                    right\n\
                    wrong\n\
                    cc is missing: apt-get install gcc\n\
                    wrong: its build script failed (exit status: 1)\n\
                    error: not built: another, broken, wrong; install the missing packages: apt-get install gcc maven\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn without_missing_packages_no_install_command_is_shown() {
    let checkout = checkout();
    let output = castile(checkout.path(), &["peers", "build", "right"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "right\n");
    peer(checkout.path(), "broken", "#!/bin/sh\nexit 7\n", "#!/bin/sh\n");
    let output = castile(checkout.path(), &["peers", "build", "broken"]);
    let told = text(&output.stderr);
    assert!(!output.status.success() && told.ends_with("error: not built: broken\n"), "{told}");
}

#[test]
fn every_case_that_a_peer_serves_is_asked_and_judged() {
    let checkout = checkout();
    let output = castile(checkout.path(), &["peers", "check", "right"]);
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}{}", text(&output.stderr));
    let suite = castile_suites::suite("benchmark1").unwrap();
    let cases = (suite.cases)().into_iter().chain((suite.extras)()).filter(|case| case.name != "echoVoid");
    let mut count = 0;
    for case in cases {
        count += 1;
        assert!(told.contains(&format!("  benchmark1 {} (message): right\n", case.name)), "{}: {told}", case.name);
    }
    assert!(told.ends_with(&format!("right: {count} right, 0 wrong\n")), "{told}");
    assert!(told.contains("first answer after "), "{told}");
    assert!(has_ended(checkout.path(), "right"));
}

#[test]
fn wrong_answers_are_reported_with_the_expected_value_and_the_rest_is_checked() {
    let checkout = checkout();
    peer(checkout.path(), "absent", "#!/bin/sh\n", "#!/bin/sh\necho 'this peer is not built' >&2\nexit 1\n");
    let output = castile(checkout.path(), &["peers", "check"]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    let summary = "wrong or missing answers: absent, wrong";
    assert!(text(&output.stderr).contains(summary), "{}", text(&output.stderr));
    assert!(told.starts_with("absent: not checked: the peer absent ended too early (exit status: 1)\n"), "{told}");
    assert!(
        told.contains("  benchmark1 echoInts-1 (message): WRONG: ") && told.contains("status 404, expected 200"),
        "{told}"
    );
    assert!(has_ended(checkout.path(), "wrong") && has_ended(checkout.path(), "right"));
}

#[test]
fn peers_are_measured_beside_for_what_they_serve() {
    let checkout = checkout();
    let short =
        ["--warmup", "20ms", "--duration", "0.1", "--runs", "2", "--no-floor", "--method", "closed", "--client", "raw"];
    let asked = ["bench", "wspex", "benchmark1", "--op", "echoVoid", "--op", "echoInts-1", "--peer", "right"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = results(checkout.path());
    let mut measured: Vec<(String, String, String)> = Vec::new();
    for suite in results["suites"].as_array().unwrap() {
        for row in suite["cases"].as_array().unwrap() {
            let name = |value: &Value| value.as_str().unwrap().to_owned();
            assert!(row["server_cpu_us_per_request"].as_f64() > Some(0.0) || cfg!(not(target_os = "linux")), "{row}");
            measured.push((name(&suite["suite"]), name(&row["case"]), name(&row["target"])));
        }
    }
    measured.sort();
    measured.dedup();
    let row = |suite: &str, case: &str, target: &str| (suite.to_owned(), case.to_owned(), target.to_owned());
    let expected = [
        row("benchmark1", "echoInts-1", "castile"),
        row("benchmark1", "echoInts-1", "right"),
        row("benchmark1", "echoVoid", "castile"),
        row("wspex", "echoVoid", "castile"),
    ];
    assert_eq!(measured, expected);
    let warnings = results["warnings"].to_string();
    assert!(
        warnings.contains("Measured before the warm-up was complete, so their real throughput may be higher: right"),
        "{warnings}"
    );
    assert!(has_ended(checkout.path(), "right"));
}

/// Returns `results.json` of the last bench.
fn results(checkout: &Path) -> Value {
    let results = std::fs::read_to_string(checkout.join("castile-report/results.json")).unwrap();
    serde_json::from_str(&results).unwrap()
}

/// Returns the number of rows of a target in all suites.
fn rows(results: &Value, target: &str) -> usize {
    let suites = results["suites"].as_array().unwrap().iter();
    suites.flat_map(|suite| suite["cases"].as_array().unwrap()).filter(|row| row["target"] == target).count()
}

#[test]
fn peers_that_get_faster_are_warmed_up_before_they_are_measured() {
    let checkout = checkout();
    let short = ["--profile", "standard", "--warmup", "20ms", "--duration", "0.05", "--runs", "2", "--no-floor"];
    let asked =
        ["bench", "benchmark1", "--op", "echoInts-1", "--method", "closed", "--client", "raw", "--peer", "right"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    let results = results(checkout.path());
    assert!(!results["warnings"].to_string().contains("Measured before the warm-up"), "{results}");
    assert!(rows(&results, "right") > 0, "{results}");
    // The planned time includes one second of warm-up for the peer and none for Castile. All runs together take less than another second.
    let planned = told.split_once(", ").and_then(|(_, after)| after.split(';').next()).unwrap();
    assert_eq!(humantime::parse_duration(planned).unwrap().as_secs(), 1, "{told}");
    assert!(told.contains("benchmark1 · right · warm-up, pass 1"), "{told}");
}

#[test]
fn servers_are_started_anew_for_each_suite() {
    let checkout = checkout();
    let start =
        format!("#!/bin/sh\necho $$ >>\"$(dirname \"$0\")/ids\"\nexec '{CASTILE}' serve --addr \"127.0.0.1:$1\"\n");
    peer(checkout.path(), "both", "#!/bin/sh\n", &start);
    let description = r#"{"title": "Both", "versions": "7", "language": "Rust", "suites": ["benchmark1", "wstest"]}"#;
    std::fs::write(checkout.path().join("peers/both/peer.json"), description).unwrap();
    let short = ["--warmup", "0", "--duration", "0.1", "--runs", "1", "--method", "closed", "--client", "raw"];
    let asked = ["bench", "wstest", "benchmark1", "--op", "EchoVoid", "--op", "echoInts-1", "--peer", "both"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let ids = std::fs::read_to_string(checkout.path().join("peers/both/ids")).unwrap();
    let ids: Vec<&str> = ids.lines().collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
    assert!(ids.iter().all(|id| !runs(id)));
    let results = results(checkout.path());
    let suites: Vec<&Value> = results["suites"].as_array().unwrap().iter().map(|suite| &suite["suite"]).collect();
    assert_eq!(suites, ["wstest", "benchmark1"]);
    let targets = results["targets"].as_array().unwrap();
    let names: Vec<&Value> = targets.iter().map(|target| &target["name"]).collect();
    assert_eq!(names, ["castile", "both", "floor"]);
    assert_eq!((&targets[1]["title"], &targets[1]["versions"]), (&"Both".into(), &"7".into()));
    for target in targets {
        assert!(target["first_answer_ms"].as_f64() > Some(0.0), "{target}");
    }
}

#[test]
fn a_peer_that_answers_wrongly_or_cannot_start_is_dropped_and_the_rest_goes_on() {
    let checkout = checkout();
    peer(checkout.path(), "absent", "#!/bin/sh\n", "#!/bin/sh\necho 'this peer is not built' >&2\nexit 1\n");
    let short = ["--warmup", "0", "--duration", "0.1", "--runs", "1", "--method", "closed", "--client", "raw"];
    let asked = ["bench", "benchmark1", "--op", "echoInts-1", "--peer", "all"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("the measurement is incomplete") && told.contains("this peer is not built"), "{told}");
    assert!(has_ended(checkout.path(), "wrong") && has_ended(checkout.path(), "right"));
    let results = results(checkout.path());
    assert_eq!(results["incomplete"], true);
    let warnings = results["warnings"].to_string();
    for expected in [
        "absent was dropped, so it has no rows of benchmark1: the peer absent ended too early (exit status: 1)",
        "wrong was dropped, so it has no rows of benchmark1: benchmark1 echoInts-1 at 127.0.0.1:",
    ] {
        assert!(warnings.contains(expected), "{warnings}");
    }
    assert!(rows(&results, "right") > 0 && rows(&results, "castile") > 0);
    assert_eq!(rows(&results, "wrong") + rows(&results, "absent"), 0);
}

#[test]
fn a_peer_that_dies_is_dropped_and_the_rest_goes_on() {
    let checkout = checkout();
    // Most cases take longer than the server lives.
    let start = format!("#!/bin/sh\n(sleep 3; kill -9 $$) &\nexec '{CASTILE}' serve --addr \"127.0.0.1:$1\" >&1\n");
    peer(checkout.path(), "mortal", "#!/bin/sh\n", &start);
    let short = ["--warmup", "0", "--duration", "0.5", "--runs", "2", "--no-floor", "--client", "raw"];
    let asked = ["bench", "benchmark1", "--op", "echoInts", "--op", "echoSimpleEvents", "--peer", "mortal"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let results = results(checkout.path());
    let warnings = results["warnings"].to_string();
    assert!(warnings.contains("mortal was dropped, so "), "{warnings}");
    assert!(warnings.contains("the peer mortal ended too early (signal: 9 (SIGKILL))"), "{warnings}");
    assert!(rows(&results, "castile") > rows(&results, "mortal"), "{told}");
}

#[test]
fn a_peer_that_leaves_something_out_is_dropped() {
    let checkout = checkout();
    let quakes = checkout.path().join("quakes");
    std::fs::write(&quakes, "2000-01-01 01:50:08 70 -7.679 123.604 59.6 2.5 MB 273 24\n").unwrap();
    let start = format!("#!/bin/sh\nexec '{CASTILE}' serve --data '{}' --addr \"127.0.0.1:$1\"\n", quakes.display());
    peer(checkout.path(), "few", "#!/bin/sh\n", &start);
    let description = r#"{"title": "Few", "versions": "1", "language": "Rust", "suites": ["seismic"]}"#;
    std::fs::write(checkout.path().join("peers/few/peer.json"), description).unwrap();
    let asked = ["bench", "seismic", "--op", ".01x200", "--no-floor", "--runs", "1", "--peer", "few"];
    let output = castile(checkout.path(), &asked);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let results = results(checkout.path());
    assert!(rows(&results, "castile") > 0 && rows(&results, "few") == 0, "{results}");
    let warnings = results["warnings"].to_string();
    assert!(
        warnings.contains("few was dropped, so it has no rows of seismic: found 0 quakes, expected "),
        "{warnings}"
    );
}

#[test]
fn a_dry_run_counts_and_names_peers() {
    let checkout = checkout();
    let asked = ["bench", "benchmark1", "--profile", "standard", "--op", "echoInts-1", "--method", "closed"];
    let output = castile(checkout.path(), &[&asked[..], &["--peer", "all", "--dry-run"]].concat());
    let told = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        told.starts_with("benchmark1 right: warm-up of at least 1s\nbenchmark1 wrong: warm-up of at least 1s\n"),
        "{told}"
    );
    assert!(told.contains(" against castile and right and wrong and floor\n"), "{told}");
    assert!(told.contains(" with 2 peers (right, wrong), plus the runs that end"), "{told}");
}

/// Waits until a condition is true, long enough for a busy machine.
fn wait_until(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    holds()
}

fn signal(process: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

#[test]
fn peers_end_with_a_bench_that_is_killed() {
    let checkout = checkout();
    let asked = ["bench", "benchmark1", "--op", "echoInts-1", "--duration", "60", "--peer", "right"];
    let mut castile = Command::new(CASTILE);
    castile.args(asked).current_dir(checkout.path()).stderr(Stdio::null());
    let mut castile = castile.spawn().unwrap();
    let id = checkout.path().join("peers/right/id");
    assert!(wait_until(|| std::fs::read_to_string(&id).is_ok_and(|id| id.ends_with('\n'))));
    assert!(!has_ended(checkout.path(), "right"));
    signal(castile.id(), "-KILL");
    castile.wait().unwrap();
    assert!(wait_until(|| has_ended(checkout.path(), "right")));
}

#[test]
fn an_interrupted_build_leaves_nothing_running() {
    let checkout = checkout();
    let build = "#!/bin/sh\nsleep 60 &\necho $! >\"$(dirname \"$0\")/id\"\nwait\n";
    peer(checkout.path(), "slow", build, "#!/bin/sh\n");
    let mut castile = Command::new(CASTILE);
    castile.args(["peers", "build", "slow"]).current_dir(checkout.path()).stderr(Stdio::piped());
    let castile = castile.spawn().unwrap();
    let id = checkout.path().join("peers/slow/id");
    assert!(wait_until(|| std::fs::read_to_string(&id).is_ok_and(|id| id.ends_with('\n'))));
    signal(castile.id(), "-TERM");
    let output = castile.wait_with_output().unwrap();
    assert!(!output.status.success() && text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
    assert!(wait_until(|| has_ended(checkout.path(), "slow")));
}
