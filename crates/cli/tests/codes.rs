//! Exit codes mean the same for every command, and known obstacles are reported before anything begins.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::process::Command;

const CONTRACT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suites/contracts/codec.wsdl");
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/data/results.json");

#[test]
fn files_in_the_way_are_reported_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    let table: [(&[&str], &str); 12] = [
        (&["bench", "seismic", "--data", "absent"], "can't read absent"),
        (&["bench", "wstest", "--out", "file"], "file is a file, expected a folder"),
        (&["report", RESULTS, "-o", "file"], "file is a file, expected a folder"),
        (&["report", RESULTS, RESULTS, "-o", "file"], "file is a file, expected a folder"),
        (&["man", "--out", "file"], "file is a file, expected a folder"),
        (&["gen", CONTRACT, "-o", "file"], "file is a file, expected a folder"),
        (&["gen", CONTRACT, "-o", "file/a.rs"], "file is a file, expected a folder"),
        (&["bundle", CONTRACT, "-o", "folder"], "folder is a folder, expected a file"),
        (&["bundle", CONTRACT, "-o", "absent/a.wsdl"], "there is no folder absent"),
        (&["describe", "absent"], "absent can't be read"),
        (&["serve", "--data", "absent"], "can't read absent"),
        (&["serve", "--addr", "192.0.2.1:80"], "can't listen on 192.0.2.1:80"),
    ];
    for (command, expected) in table {
        let output =
            Command::new(env!("CARGO_BIN_EXE_castile")).args(command).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains(expected), "{command:?}: expected {expected:?} in {said}");
    }
}

#[test]
fn an_unknown_operation_was_reported_in_different_words() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 4] = [
        &["describe", CONTRACT],
        &["gen", CONTRACT, "-o", "out"],
        &["load", CONTRACT],
        &["load", CONTRACT, "--url", "http://127.0.0.1:1"],
    ];
    for command in commands {
        let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
        let output = castile.args(command).args(["--operation", "odrer"]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = "found operation \"odrer\", expected one of echoStructs, order\n";
        assert!(output.status.code() == Some(2) && said.contains(expected), "{command:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_can_not_be_written_ends_with_the_code_for_incomplete() {
    // No folder can be created there.
    let table: [&[&str]; 4] = [
        &["report", RESULTS, "-o", "/proc/absent"],
        &["report", RESULTS, RESULTS, "-o", "/proc/absent"],
        &["man", "--out", "/proc/absent"],
        &["gen", CONTRACT, "-o", "/proc/absent"],
    ];
    for command in table {
        let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(command).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {said}");
    }
    // The exit code for an invalid message would be 1.
    let told: [&[&str]; 5] = [
        &["--help"],
        &["--version"],
        &["load", "-h"],
        &["help", "load"],
        &["validate", "tests/validate/wrong.xml", "--contract", "tests/validate/orders.wsdl"],
    ];
    for command in told {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(command).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(3) && said.contains("can't write to standard output"), "{said}");
    }
}
