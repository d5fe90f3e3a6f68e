//! Foreign files are never replaced by any command; files that castile wrote are.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::path::Path;
use std::process::Command;

const CONTRACT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suites/contracts/codec.wsdl");
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/data/results.json");
const LOAD: [&str; 6] = ["load", CONTRACT, "--operation", "order", "--url", "http://127.0.0.1:9/"];
const BENCH: [&str; 4] = ["bench", "wstest", "--op", "EchoVoid"];
/// Castile writes this to no file.
const FOREIGN: &str = "{\"suites\": \"of somebody else\"}\n";

/// Runs a command in a folder. Returns its exit code and standard error.
fn castile(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(arguments).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn files_of_other_programs_are_not_overwritten() {
    let load = |more: &[&'static str]| [&LOAD[..], more].concat();
    let bench = |more: &[&'static str]| [&BENCH[..], more].concat();
    let commands = [
        ("a.json", load(&["--json", "a.json"])),
        ("a.csv", load(&["--csv", "a.csv"])),
        ("a.xml", load(&["--junit", "a.xml"])),
        ("results.json", load(&["--out", "."])),
        ("index.html", load(&["--out", "."])),
        ("results.json", bench(&["--out", "."])),
        ("index.html", bench(&["--out", "."])),
        ("a.csv", bench(&["--csv", "a.csv"])),
        ("a.xml", bench(&["--junit", "a.xml"])),
        ("index.html", vec!["report", RESULTS, "-o", "."]),
        ("results.json", vec!["report", RESULTS, "-o", "."]),
        ("comparison.html", vec!["report", RESULTS, RESULTS, "-o", "."]),
        ("a.wsdl", vec!["bundle", CONTRACT, "-o", "a.wsdl"]),
        ("castile-load.1", vec!["man", "--out", "."]),
        ("codec.rs", vec!["gen", CONTRACT, "-o", "."]),
    ];
    for (file, command) in commands {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(file), FOREIGN).unwrap();
        let (code, said) = castile(folder.path(), &command);
        assert_eq!(code, Some(2), "{command:?}: {said}");
        let words = [file, "exists and was not", "by Castile: remove it, or choose another name"];
        assert!(words.iter().all(|word| said.contains(word)), "{command:?}: {said}");
        assert_eq!(fs::read_to_string(folder.path().join(file)).unwrap(), FOREIGN, "{command:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{command:?} wrote something beside");
    }
}

#[test]
fn empty_files_and_files_of_castile_are_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    // Empty files, as `mktemp` creates them.
    for file in ["a.wsdl", "index.html", "comparison.html", "castile-load.1", "codec.rs", "codec.wsdl"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let commands: [&[&str]; 5] = [
        &["gen", CONTRACT, "-o", "."],
        &["report", RESULTS, "-o", "."],
        &["report", RESULTS, RESULTS, "-o", "."],
        &["bundle", CONTRACT, "-o", "a.wsdl"],
        &["man", "--out", "."],
    ];
    for command in commands.iter().chain(&commands) {
        let (code, said) = castile(folder.path(), command);
        assert_eq!(code, Some(0), "{command:?}: {said}");
    }
}
