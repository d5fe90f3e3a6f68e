//! What came of a measurement: written into files, judged, and told as an exit code. It is the same for `bench` and `load`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use castile_load::report::{Results, Row};
use castile_load::{Criterion, Metric};
use castile_xml::visible;

use crate::problems;

/// The exit codes, for the help of both commands; docs/load.md has them as well.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all is well; 1 a --fail-if holds, or answers were wrong and no --fail-if \
                                     is about errors; 2 arguments, contract or messages are wrong, and nothing was sent; 3 \
                                     not all was measured.";

/// A criterion for failing holds, or answers were wrong and no criterion was about that.
const FAILED: u8 = 1;
/// The contract, a message or an argument is not as it must be; nothing was sent. It is clap's as well.
const USAGE: u8 = 2;
/// There was no right answer, or the measurement or its report could not be made, or not to its end.
const NOT_MEASURED: u8 = 3;

/// What results are judged by, and where they are written for other programs.
// A name of its own, since it becomes part of the arguments of a command.
#[derive(clap::Args)]
#[group(id = "outcome")]
pub(crate) struct Arguments {
    /// A condition for exit code 1, as p99>200ms, errors>0, error-rate>1% or rps<500; may be repeated
    #[arg(long = "fail-if", value_name = "CRITERION", help_heading = "Assertions")]
    fail_if: Vec<Criterion>,
    /// Where to write the results as JUnit's XML
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// Where to write the results as CSV
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    csv: Option<PathBuf>,
}

impl Arguments {
    /// Writes the files that are asked for, and returns where. `wrong` says how many answers of a row were.
    pub(crate) fn write(&self, results: &Results, wrong: fn(&Row) -> u64) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        if let Some(path) = &self.junit {
            files.push(write(path, &results.junit(&self.fail_if, wrong)?)?);
        }
        if let Some(path) = &self.csv {
            files.push(write(path, &results.csv())?);
        }
        Ok(files)
    }

    /// The exit code for what was measured, with so many right answers and so many wrong or missing ones.
    ///
    /// # Errors
    /// That there was no right answer, or that not all was measured.
    pub(crate) fn judge(&self, results: &Results, right: u64, wrong: u64) -> anyhow::Result<u8> {
        if right == 0 {
            bail!("no right answer came, so there is nothing that was measured");
        }
        if results.incomplete {
            bail!("not all was measured");
        }
        let failed = results.failed(&self.fail_if);
        for failed in &failed {
            tell("failed", failed);
        }
        let is_judged =
            self.fail_if.iter().any(|criterion| matches!(criterion.metric, Metric::Errors | Metric::ErrorRate));
        if wrong > 0 && !is_judged {
            tell("failed", format_args!("{wrong} wrong or missing answers"));
            return Ok(FAILED);
        }
        Ok(if failed.is_empty() { 0 } else { FAILED })
    }
}

/// Prepares a measurement, makes it, and gives the exit code; there is nothing to measure in a dry run. What fails is told.
pub(crate) fn of<T>(prepared: anyhow::Result<Option<T>>, measure: impl FnOnce(T) -> anyhow::Result<u8>) -> ExitCode {
    let (code, error) = match prepared.map(|prepared| prepared.map(measure)) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(Ok(code))) => return ExitCode::from(code),
        Ok(Some(Err(error))) => (NOT_MEASURED, error),
        Err(error) => (USAGE, error),
    };
    tell("error", format_args!("{error:#}"));
    ExitCode::from(code)
}

/// Writes a file, and returns where.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))?;
    Ok(path.to_owned())
}

/// Says which files were written.
pub(crate) fn list(files: &[PathBuf]) {
    for file in files {
        out!("{}", visible(&file.display().to_string()));
    }
}

fn tell(what: &str, text: impl std::fmt::Display) {
    let style = problems::ERROR;
    let text = text.to_string();
    // It may quote an answer.
    let text = castile_xml::visible_lines(&text);
    note!("{style}{what}{style:#}: {text}");
}
