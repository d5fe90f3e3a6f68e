//! `castile bench` from its arguments to its exit code, with short runs.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_castile"))
        .args(["bench", "--warmup", "20ms", "--duration", "0.05", "--runs", "2", "--out"])
        .arg(out)
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn every_case_is_measured_against_the_floor() {
    let directory = tempfile::tempdir().unwrap();
    let output = bench(&[], directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = std::fs::read_to_string(directory.path().join("results.json")).unwrap();
    let results: Value = serde_json::from_str(&json).unwrap();
    let names: Vec<_> = results["suites"].as_array().unwrap().iter().map(|suite| &suite["suite"]).collect();
    assert_eq!(names, ["benchmark1", "styles", "wstest"]);
    for (suite, count) in [(0, 11), (1, 12), (2, 6)] {
        let rows = results["suites"][suite]["cases"].as_array().unwrap();
        assert_eq!(rows.len(), 2 * count);
        for pair in rows.chunks(2) {
            assert_eq!((&pair[0]["target"], &pair[1]["target"]), (&"castile".into(), &"floor".into()));
            assert_eq!(pair[0]["case"], pair[1]["case"]);
            assert_eq!(pair[0]["response_bytes"], pair[1]["response_bytes"], "the floor answers the same bytes");
            for row in pair {
                assert_eq!(row["errors"], 0, "{row}");
                assert!(row["requests"].as_u64() > Some(0) && row["verified"].as_u64() > Some(0), "{row}");
                if cfg!(target_os = "linux") {
                    assert!(
                        row["server_cpu_us_per_request"].is_f64() && row["server_peak_rss_bytes"].is_u64(),
                        "{row}"
                    );
                }
            }
        }
    }
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("echoMeshInterfaceObjects-100") && table.contains("GetOrder"), "{table}");
    assert!(directory.path().join("index.html").exists());
}

#[test]
fn one_case_with_its_own_way_of_driving() {
    let directory = tempfile::tempdir().unwrap();
    let arguments =
        ["wstest", "--op", "EchoVoid", "--no-keepalive", "--rate", "200", "--connections", "3", "--no-floor"];
    let output = bench(&arguments, directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = std::fs::read_to_string(directory.path().join("results.json")).unwrap();
    let results: Value = serde_json::from_str(&json).unwrap();
    let rows = results["suites"][0]["cases"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["keep_alive"], &rows[0]["connections"]), (&false.into(), &3.into()));
    assert_eq!(rows[0]["rate"], 200.0);
}

#[test]
fn wrong_arguments_and_absent_endpoints_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        (&["nothing"][..], "\"nothing\""),
        (&["wstest", "--op", "EchoNothing"], "EchoStruct100"),
        (&["--url", "http://127.0.0.1:1/"], "--url"),
        (&["wstest", "--op", "EchoVoid", "--url", "http://127.0.0.1:1/"], "no connection"),
    ];
    for (arguments, expected) in cases {
        let output = bench(arguments, directory.path());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(message.starts_with("error: ") && message.contains(expected), "{message}");
    }
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "nothing was measured, nothing is written");
}
