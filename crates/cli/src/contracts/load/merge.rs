//! `castile merge`: one report of what several workers of a load measured.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use castile_load::{Share, merge, with_warnings};
use castile_report::Results;

use super::Reports;
use crate::outcome;

/// The largest file of shares. A worker has some hundred kilobytes.
const MAX_SIZE: u64 = 1 << 30;

/// Merge what the workers of a load measured at the same time into one report
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What workers measured, as Castile's plugin of a Locust master writes it
    #[arg(value_name = "SHARES.json", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reports: Reports,
}

/// Merges, reports, and returns the exit code.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(prepare(arguments).map(Some), |shares| {
        let results = merged(shares, &arguments.reports)?;
        arguments.reports.report(&results)
    })
}

fn prepare(arguments: &Arguments) -> anyhow::Result<Vec<Share>> {
    arguments.reports.expect_files()?;
    let shares: Vec<Vec<Share>> = arguments.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    Ok(shares.into_iter().flatten().collect())
}

fn read(path: &Path) -> anyhow::Result<Vec<Share>> {
    let shown = path.display();
    let size = std::fs::metadata(path).with_context(|| format!("{shown} can't be read"))?.len();
    if size > MAX_SIZE {
        bail!("{shown} has {size} bytes, expected at most {MAX_SIZE}");
    }
    let bytes = std::fs::read(path).with_context(|| format!("{shown} can't be read"))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{shown} isn't what workers of a load measured"))
}

/// Merges shares into results, and judges them.
pub(super) fn merged(shares: Vec<Share>, reports: &Reports) -> anyhow::Result<Results> {
    let results = merge(shares).map_err(outcome::not_started)?;
    let mut results = with_warnings(results);
    reports.outcome.record(&mut results);
    Ok(results)
}
