//! `castile report`, from result files to pages.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Results of one case and the floor, two runs each.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/data/results.json");

fn report(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_castile")).arg("report").args(arguments).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_bench_has_its_page_and_table_again() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let output = report(&[RESULTS, "-o", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(output.stderr));
    let table = text(output.stdout);
    assert!(table.contains("echoInts-100") && table.contains("75 %") && table.contains("index.html"), "{table}");
    assert!(out.join("index.html").exists() && out.join("results.json").exists());
    let again = report(&[out.to_str().unwrap(), "--json"]);
    let json: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(json["suites"][0]["cases"][0]["requests"], 36_000);
}

#[test]
fn benches_are_compared_under_their_short_names() {
    let directory = tempfile::tempdir().unwrap();
    let faster = std::fs::read_to_string(RESULTS).unwrap().replace("29929.3, 30070.7", "35929.3, 36070.7");
    let faster = faster.replace("\"mean\": 30000.0", "\"mean\": 36000.0");
    for (name, results) in [("before", std::fs::read_to_string(RESULTS).unwrap()), ("after", faster)] {
        std::fs::create_dir(directory.path().join(name)).unwrap();
        std::fs::write(directory.path().join(name).join("results.json"), results).unwrap();
    }
    let path = |name: &str| directory.path().join(name).join("results.json").to_str().unwrap().to_owned();
    let output = report(&[&path("before"), &path("after"), "-o", directory.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(output.stderr));
    let table = text(output.stdout);
    assert!(
        table.lines().next().unwrap().split_whitespace().eq(["case", "req/s", "×", "floor", "after", "after"]),
        "{table}"
    );
    assert!(
        table.contains("+20.0 %") && table.contains("req/s: more") && table.contains("req/s: no difference seen"),
        "{table}"
    );
    assert!(
        std::fs::read_to_string(directory.path().join("comparison.html")).unwrap().contains("after against before")
    );
}

/// The output was once only "not known".
#[test]
fn the_report_explains_why_differences_of_single_runs_are_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let single = std::fs::read_to_string(RESULTS).unwrap().replace("[29929.3, 30070.7]", "[30000.0]");
    for (name, results) in [("bench", std::fs::read_to_string(RESULTS).unwrap()), ("load", single)] {
        std::fs::write(directory.path().join(format!("{name}.json")), results).unwrap();
    }
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let output = report(&[&path("bench.json"), &path("load.json"), "-o", directory.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(output.stderr));
    let table = text(output.stdout);
    assert!(table.contains("unknown"), "{table}");
    let said = "expected at least two runs, as `castile bench` makes (`castile load` makes one): load.json\n";
    assert!(table.contains(said), "{table}");
}

#[test]
fn one_bench_is_printed_as_markdown() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let output = report(&[RESULTS, "--markdown", "-o", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(output.stderr));
    let markdown = text(output.stdout);
    assert!(markdown.starts_with("# Castile ") && markdown.contains("| echoInts-100 "), "{markdown}");
    assert!(!out.exists(), "nothing is written");
    let two = report(&[RESULTS, RESULTS, "--markdown"]);
    assert_eq!(two.status.code(), Some(2));
    assert!(text(two.stderr).contains("found 2 benches, expected one"));
}

#[test]
fn folders_without_a_bench_are_errors() {
    let output = report(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(output.stderr);
    // The message for any other file was once a JSON error.
    assert!(
        message.starts_with("error: ") && message.contains("is not valid JSON, expected the results.json"),
        "{message}"
    );
    assert_eq!(report(&[]).status.code(), Some(2));
}
