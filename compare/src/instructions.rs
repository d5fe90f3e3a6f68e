//! Counts instructions, which don't depend on other load of the machine: this program runs itself under
//! callgrind.

use std::process::{Command, Stdio};

/// Returns whether valgrind is installed.
pub fn can_be_counted() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Returns the instructions for a document: the difference between two numbers of documents, so that everything
/// else cancels out.
pub fn count(document: usize, contestant: usize, size: usize) -> Result<u64, String> {
    // Callgrind is about fifty times slower than the machine.
    let more = if size > 100_000 { 4 } else { 100 };
    let few = 2;
    let difference = run(document, contestant, few + more)?.saturating_sub(run(document, contestant, few)?);
    Ok(difference / more)
}

fn run(document: usize, contestant: usize, count: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["once", &document.to_string(), &contestant.to_string(), &count.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let collected = log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    collected.ok_or_else(|| format!("valgrind says no number of instructions:\n{log}"))
}
