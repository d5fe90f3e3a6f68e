//! What came of it: shown, written into files, and judged.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castile_load::Metric;
use castile_load::report::Results;

use super::Arguments;
use crate::problems;

/// The exit code where a criterion for failing holds, or answers were wrong and no criterion was about that.
const FAILED: u8 = 1;

/// Shows and writes the results, and judges them.
pub(super) fn report(arguments: &Arguments, results: &Results) -> anyhow::Result<u8> {
    println!("{}", results.table());
    for warning in &results.warnings {
        println!("! {warning}");
    }
    let first = results.suites.iter().filter_map(|suite| suite.cases.first());
    for row in first.clone() {
        let mut messages = row.error_messages.clone();
        messages.dedup();
        for message in messages {
            println!("! {}: {message}", row.case);
        }
        if let Some(reason) = &row.exit_reason {
            println!("ended: {reason}");
        }
    }
    if let Some(directory) = &arguments.out {
        for file in results.write(directory)? {
            println!("{}", file.display());
        }
    }
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> anyhow::Result<String>| match path {
        Some(path) => write(path, &text()?),
        None => Ok(()),
    };
    write(&arguments.json, &|| Ok(serde_json::to_string_pretty(results)? + "\n"))?;
    write(&arguments.junit, &|| Ok(results.junit(&arguments.fail_if)?))?;
    write(&arguments.csv, &|| Ok(results.csv()))?;

    let right: u64 = first.clone().map(|row| row.requests).sum();
    let errors: u64 = first.map(|row| row.errors).sum();
    if right == 0 {
        bail!("no right answer came, so there is nothing that was measured");
    }
    if results.incomplete {
        bail!("it ended before all was measured");
    }
    let failed = results.failed(&arguments.fail_if);
    for failed in &failed {
        let style = problems::ERROR;
        anstream::eprintln!("{style}failed{style:#}: {failed}");
    }
    let judged =
        arguments.fail_if.iter().any(|criterion| matches!(criterion.metric, Metric::Errors | Metric::ErrorRate));
    if errors > 0 && !judged {
        let style = problems::ERROR;
        anstream::eprintln!("{style}failed{style:#}: {errors} wrong or missing answers");
        return Ok(FAILED);
    }
    Ok(if failed.is_empty() { 0 } else { FAILED })
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}
