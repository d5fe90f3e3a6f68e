//! Checks with each contract in the repository: `castile diff` finds no change between it and itself, and `castile lint` ends.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Collects the contracts in a folder and its subfolders.
fn contracts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            contracts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "wsdl") {
            found.push(path);
        }
    }
}

/// Returns the exit code of a command, its output, and how long it took.
fn castile(arguments: &[&str]) -> (Option<i32>, String, Duration) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    let begun = Instant::now();
    let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    let took = begun.elapsed();
    let text: String = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.code(), text, took)
}

/// Returns problems of the output for a contract, and whether it was compared.
fn check(contract: &Path) -> (Vec<String>, bool) {
    let path = contract.to_str().unwrap();
    let mut wrong = Vec::new();
    let (code, told, took) = castile(&["diff", path, path]);
    let is_read = code == Some(0) && told.lines().any(|line| line.ends_with(": no change"));
    // An unreadable contract isn't compared.
    if !is_read && code != Some(2) {
        wrong.push(format!("diff of {path} and itself, exit code {code:?}: {told}"));
    }
    let (linted, findings, lint_took) = castile(&["lint", path]);
    if !matches!(linted, Some(0..=2)) {
        wrong.push(format!("lint {path}, exit code {linted:?}: {findings}"));
    }
    if took.max(lint_took) > Duration::from_secs(60) {
        wrong.push(format!("{path}: diff took {took:?}, and lint {lint_took:?}"));
    }
    (wrong, is_read)
}

#[test]
fn nothing_differs_from_itself_and_lint_ends() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["tests", "../suites/contracts", "../codegen/tests/features"] {
        contracts(&root.join(folder), &mut all);
    }
    all.sort();
    assert!(all.len() > 200, "only {} contracts", all.len());
    let next = AtomicUsize::new(0);
    let compared = AtomicUsize::new(0);
    let check_some = || {
        let mut wrong = Vec::new();
        while let Some(contract) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (of_contract, is_compared) = check(contract);
            wrong.extend(of_contract);
            compared.fetch_add(usize::from(is_compared), Ordering::Relaxed);
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(check_some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Some contracts are invalid on purpose.
    let compared = compared.into_inner();
    assert!(compared * 4 > all.len() * 3, "{compared} of {} contracts were compared", all.len());
}
