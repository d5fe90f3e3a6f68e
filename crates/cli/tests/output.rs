//! Standard output of every command when it is closed or can't be written.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

const CONTRACT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suites/contracts/codec.wsdl");
const BENCH: [&str; 14] = [
    "bench",
    "wstest",
    "--profile",
    "quick",
    "--op",
    "EchoVoid",
    "--method",
    "closed",
    "--duration",
    "0.1",
    "--warmup",
    "0.05",
    "--runs",
    "1",
];
const DRY_LOAD: [&str; 7] = ["load", CONTRACT, "--operation", "order", "--url", "http://127.0.0.1:9/", "--dry-run"];

/// Runs a command with this standard output and a closed standard error. Returns its exit code and messages.
fn run(arguments: &[&str], output: impl Into<Stdio>) -> (Option<i32>, String) {
    // The folder of peers is in the root of the project.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(env!("CARGO_BIN_EXE_castile"))
        .args(arguments)
        .current_dir(root)
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

/// A pipe whose reader is closed.
fn closed() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

#[test]
fn a_reader_who_went_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let generate = ["gen", CONTRACT, "-o", out];
    let bundle = ["bundle", CONTRACT, "-o", &format!("{out}/bundle.xml")];
    let dry_bench = [&BENCH[..], &["--dry-run"]].concat();
    let commands: [&[&str]; 10] = [
        &["describe", CONTRACT],
        &["sample", CONTRACT, "order"],
        &["diff", CONTRACT, CONTRACT],
        &["lint", CONTRACT, "--fail-if", "error"],
        &generate,
        &bundle,
        &DRY_LOAD,
        &dry_bench,
        &["peers", "list"],
        &["quakes"],
    ];
    for command in commands {
        let (code, said) = run(command, closed());
        assert_eq!(code, Some(0), "{command:?}: {said}");
        assert!(!said.contains("panicked"), "{command:?}: {said}");
    }
}

#[test]
fn results_are_saved_before_they_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let outputs: [(&str, Stdio, i32); 2] = [
        ("closed", closed().into(), 0),
        #[cfg(target_os = "linux")]
        ("full", fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into(), 3),
    ];
    for (name, output, expected) in outputs {
        let out = folder.path().join(name);
        let command = [&BENCH[..], &["--no-floor", "--out", out.to_str().unwrap()]].concat();
        let (code, said) = run(&command, output);
        assert!(fs::read_to_string(out.join("results.json")).unwrap().contains("EchoVoid"), "{said}");
        assert_eq!(code, Some(expected), "{said}");
        assert_eq!(said.contains("can't write to standard output"), expected == 3, "{said}");
    }
}

#[test]
fn results_that_can_not_be_saved_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    // Known obstacles are reported before the measurement.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let command = [&BENCH[..], &["--no-floor", "--out", file.to_str().unwrap()]].concat();
    let output = folder.path().join("output");
    let (code, said) = run(&command, fs::File::create(&output).unwrap());
    assert_eq!(code, Some(2), "{said}");
    let in_the_way = folder.path().join("report/index.html");
    fs::create_dir_all(&in_the_way).unwrap();
    let command = [&BENCH[..], &["--no-floor", "--out", in_the_way.parent().unwrap().to_str().unwrap()]].concat();
    let (code, said) = run(&command, fs::File::create(&output).unwrap());
    assert_eq!(code, Some(3), "{said}");
    assert!(fs::read_to_string(&output).unwrap().contains("EchoVoid"), "{said}");
}
