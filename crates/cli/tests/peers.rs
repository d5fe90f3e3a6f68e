//! `castile peers` and `castile bench --peer`, on peers that are made here: one is Castile itself, one knows no SOAP.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const CASTILE: &str = env!("CARGO_BIN_EXE_castile");
const DESCRIPTION: &str = r#"{"title": "Mine", "versions": "1", "language": "Rust", "suites": ["benchmark1"],
    "except": {"echoVoid": "there is nothing to echo"}, "warmup_s": 1}"#;

/// A directory with a peer `right`, which serves everything, and a peer `wrong`, which has nothing at the paths of services.
fn checkout() -> tempfile::TempDir {
    let checkout = tempfile::tempdir().unwrap();
    // Its process tells its id, so that it can be seen to have ended.
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

/// Whether the server of a peer has ended; it has been started.
fn has_ended(checkout: &Path, name: &str) -> bool {
    let id = std::fs::read_to_string(checkout.join("peers").join(name).join("id")).unwrap();
    !Path::new("/proc").join(id.trim()).exists()
}

#[test]
fn the_list_has_all_peers_and_what_they_serve() {
    let checkout = checkout();
    let listed = text(&castile(checkout.path(), &["peers"]).stdout);
    let lines: Vec<_> = listed.lines().collect();
    let expected = [
        "right     Mine: 1; Rust; benchmark1",
        "          without echoVoid: there is nothing to echo",
        "wrong     Mine: 1; Rust; benchmark1",
    ];
    assert_eq!(lines[..3], expected);
}

#[test]
fn building_runs_the_script_and_shows_what_is_missing() {
    let checkout = checkout();
    let output = castile(checkout.path(), &["peers", "build"]);
    assert!(checkout.path().join("peers/right/built").exists());
    let told = text(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains("apt-get install gcc") && told.contains("wrong: its script build failed"), "{told}");
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
fn wrong_answers_are_told_with_what_was_expected() {
    let checkout = checkout();
    let output = castile(checkout.path(), &["peers", "check"]);
    let told = text(&output.stdout);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("wrong or missing answers: wrong"), "{}", text(&output.stderr));
    assert!(
        told.contains("  benchmark1 echoInts-1 (message): WRONG: ") && told.contains("status 404, expected 200"),
        "{told}"
    );
    assert!(has_ended(checkout.path(), "wrong") && has_ended(checkout.path(), "right"));
}

#[test]
fn peers_are_measured_beside_for_what_they_serve() {
    let checkout = checkout();
    let short = [
        "--warmup",
        "20ms",
        "--duration",
        "0.05",
        "--runs",
        "2",
        "--no-floor",
        "--method",
        "closed",
        "--client",
        "raw",
    ];
    let asked = ["bench", "wspex", "benchmark1", "--op", "echoVoid", "--op", "echoInts-1", "--peer", "right"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = std::fs::read_to_string(checkout.path().join("castile-report/results.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
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
    assert!(warnings.contains("Measured cold, so they can do more than measured: right"), "{warnings}");
    assert!(has_ended(checkout.path(), "right"));
}

#[test]
fn what_gets_faster_is_warmed_before_its_figures_count() {
    let checkout = checkout();
    let short = ["--profile", "standard", "--warmup", "20ms", "--duration", "0.05", "--runs", "2", "--no-floor"];
    let asked =
        ["bench", "benchmark1", "--op", "echoInts-1", "--method", "closed", "--client", "raw", "--peer", "right"];
    let output = castile(checkout.path(), &[&asked[..], &short].concat());
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    let results = std::fs::read_to_string(checkout.path().join("castile-report/results.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    assert!(!results["warnings"].to_string().contains("cold"), "{results}");
    // What is planned has its second for each way in which the case is driven, and that of Castile doesn't.
    let rows = results["suites"][0]["cases"].as_array().unwrap();
    let of = |target: &str| rows.iter().filter(|row| row["target"] == target).count();
    assert!(of("right") > 0, "{results}");
    let planned = told.split_once(" rows, ").and_then(|(_, after)| after.split(';').next()).unwrap();
    let planned = humantime::parse_duration(planned).unwrap().as_secs() as usize;
    assert!(
        (of("right")..of("right") + of("castile")).contains(&planned),
        "{planned} s for {} rows: {told}",
        rows.len()
    );
}

#[test]
fn a_peer_that_answers_wrongly_is_not_measured() {
    let checkout = checkout();
    let output = castile(checkout.path(), &["bench", "benchmark1", "--op", "echoInts-1", "--peer", "wrong"]);
    let told = text(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains("the peer wrong is not measured") && told.contains("status 404"), "{told}");
    assert!(has_ended(checkout.path(), "wrong"));
}
