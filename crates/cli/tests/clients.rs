//! `castile peers clients` with peers made by this test: some use Castile's client, others misbehave.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const CASTILE: &str = env!("CARGO_BIN_EXE_castile");

fn peer(checkout: &Path, name: &str, more: &str, scripts: &[(&str, String)]) {
    let directory = checkout.join("peers").join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let description = format!(r#"{{"title": "Mine", "versions": "1", "language": "Rust", {more}}}"#);
    std::fs::write(directory.join("peer.json"), description).unwrap();
    for (script, text) in scripts {
        let script = directory.join(script);
        std::fs::write(&script, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    }
}

fn clients(checkout: &Path, arguments: &[&str]) -> Output {
    Command::new(CASTILE).args(["peers", "clients"]).args(arguments).current_dir(checkout).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ours() -> String {
    format!("exec '{CASTILE}' client \"$@\"")
}

const OF_WSTEST: &str = r#""clients": ["wstest"]"#;

#[test]
fn clients_make_the_same_calls_and_are_compared_with_ours() {
    let checkout = tempfile::tempdir().unwrap();
    peer(checkout.path(), "same", &format!("{OF_WSTEST}, \"warmup_s\": 600"), &[("client", ours())]);
    let own = [("client", ours()), ("start", format!("exec '{CASTILE}' serve --addr \"127.0.0.1:$1\""))];
    peer(checkout.path(), "other", &format!("{OF_WSTEST}, \"protocol\": \"a secret\""), &own);
    let output = clients(checkout.path(), &["--case", "EchoStruct100", "--case", "GetOrder", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (number, (case, items)) in [("EchoStruct100", 100.0), ("GetOrder", 50.0)].into_iter().enumerate() {
        let called = &found["cases"][number];
        assert_eq!((&called["suite"], &called["case"]), (&"wstest".into(), &case.into()), "{found}");
        let expected = [("castile", Value::Null), ("other", "a secret".into()), ("same", Value::Null)];
        for (row, (name, protocol)) in called["clients"].as_array().unwrap().iter().zip(expected) {
            assert_eq!((&row["client"], &row["protocol"]), (&name.into(), &protocol), "{row}");
            assert_eq!(row["items_per_call"], items, "{row}");
            // A quick comparison doesn't wait ten minutes. The other client may still be getting faster.
            assert!(row["cold"] == true || name != "same", "{row}");
            let measured = ["calls", "cpu_us_per_call", "cpu_ratio", "server_cpu_us_per_call", "peak_rss_bytes"];
            for figure in &measured[..if cfg!(target_os = "linux") { measured.len() } else { 1 }] {
                assert!(row[figure].as_f64() > Some(0.0), "{figure}: {row}");
            }
        }
        assert_eq!(called["clients"].as_array().unwrap().len(), 3);
    }
    let warnings = found["warnings"].to_string();
    let warning = "GetOrder: still getting faster at the end, so their real throughput may be higher: ";
    assert!(warnings.split_once(warning).is_some_and(|(_, names)| names.contains("same")), "{warnings}");
}

#[test]
fn a_client_with_wrong_answers_is_left_out_and_the_others_continue() {
    let checkout = tempfile::tempdir().unwrap();
    peer(checkout.path(), "dies", OF_WSTEST, &[("client", "echo 'no route' >&2; exit 1".into())]);
    peer(checkout.path(), "guesses", OF_WSTEST, &[("client", "while read calls; do echo 7; done".into())]);
    peer(checkout.path(), "same", OF_WSTEST, &[("client", ours())]);
    let output = clients(checkout.path(), &["--case", "EchoVoid"]);
    let (table, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{told}");
    for expected in [
        "dies is left out: the client of dies ended before it had made 1 calls",
        "guesses is left out: found 7 items in the answers to 1 calls, expected 0",
        "not measured: dies (EchoVoid), guesses (EchoVoid)",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    let names: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"castile") && names.contains(&"same") && !names.contains(&"dies"), "{table}");
}

#[test]
fn peers_and_cases_without_a_client_are_errors() {
    let checkout = tempfile::tempdir().unwrap();
    peer(checkout.path(), "server", r#""suites": ["wstest"]"#, &[]);
    peer(checkout.path(), "same", OF_WSTEST, &[("client", ours())]);
    let cases = [
        (&["server"][..], "the peer server has no client"),
        (&["--case", "EchoVoice"][..], "found case \"EchoVoice\", expected one of EchoVoid, EchoStruct100, GetOrder"),
    ];
    for (arguments, expected) in cases {
        let output = clients(checkout.path(), arguments);
        assert!(!output.status.success() && text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}
