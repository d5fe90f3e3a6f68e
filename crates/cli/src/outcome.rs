//! The result of a measurement: written to files, judged, and turned into an exit code. `bench` and `load` share it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use castile_report::{Criterion, Metric, ReportFormat, Results, Row, SearchEnd, wrong_answers};
use castile_xml::visible;

use crate::{build, errors, output};

/// The exit codes of all commands, for the help; docs/commands.md explains them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes of all commands:
  0  success, possibly with warnings
  1  the result is bad: a fault, a finding, or a --fail-if that is true
  2  it did not start: an argument, a contract or another input is wrong
  3  it did not finish: results, output or service are incomplete";

/// The exit code of a bad result: a `--fail-if` holds, or answers were wrong and no criterion covers errors.
const FAILED: u8 = 1;
/// The exit code if an argument, a contract or another input is wrong and nothing was done. clap uses it, too.
const USAGE: u8 = 2;
/// The exit code of work that was started and not finished.
pub(crate) const INCOMPLETE: u8 = 3;

/// An error with an exit code other than [`USAGE`].
#[derive(Debug)]
struct Coded {
    code: u8,
    error: anyhow::Error,
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&errors::in_full(&self.error))
    }
}

impl std::error::Error for Coded {}

/// Makes an error for work that was started and not finished.
pub(crate) fn incomplete(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Coded { code: INCOMPLETE, error: error.into() }.into()
}

/// Makes an error for work that could not start.
pub(crate) fn not_started(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Coded { code: USAGE, error: error.into() }.into()
}

/// Makes an error for work that was finished with a bad result.
pub(crate) fn wrong(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Coded { code: FAILED, error: error.into() }.into()
}

/// Returns the exit code of a command that ended with this error.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    error.downcast_ref().map_or(USAGE, |coded: &Coded| coded.code)
}

/// The criteria for results, and the files for other programs.
// The group has its own id, because it is flattened into the arguments of a command.
#[derive(clap::Args)]
#[group(id = "outcome")]
pub(crate) struct Arguments {
    /// A condition for exit code 1, such as p99>200ms, errors>0, error-rate>1% or rps<500; may be repeated
    #[arg(long = "fail-if", value_name = "CRITERION", help_heading = "Assertions")]
    fail_if: Vec<Criterion>,
    /// The file for the results as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// The file for the results as CSV
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    csv: Option<PathBuf>,
}

impl Arguments {
    /// Stores the outcome of the conditions in the results.
    pub(crate) fn record(&self, results: &mut Results) {
        results.judge(&self.fail_if);
        results.build = Some(build::of_this());
    }

    /// Returns the conditions for failing.
    pub(crate) fn fail_if(&self) -> &[Criterion] {
        &self.fail_if
    }

    /// Checks early that the requested files can be written and that no file is named twice. This includes the report in `out` and the
    /// results as `json`.
    pub(crate) fn expect_files(&self, out: Option<&Path>, json: Option<&Path>) -> anyhow::Result<()> {
        self.junit.iter().try_for_each(|path| expect_file(path, ReportFormat::Junit))?;
        self.csv.iter().try_for_each(|path| expect_file(path, ReportFormat::Csv))?;
        let of_report =
            out.into_iter().flat_map(|folder| castile_report::FILES.map(|file| ("--out", folder.join(file))));
        let others = [("--json", json), ("--junit", self.junit.as_deref()), ("--csv", self.csv.as_deref())];
        let others = others.into_iter().filter_map(|(option, path)| Some((option, path?.to_owned())));
        let files: Vec<(&str, PathBuf)> = of_report.chain(others).collect();
        for (number, (option, file)) in files.iter().enumerate() {
            if let Some((other, _)) = files[..number].iter().find(|(_, other)| resolved(other) == resolved(file)) {
                bail!("{other} and {option} both write {}, expected different files", file.display());
            }
        }
        Ok(())
    }

    /// Writes the requested files and returns their paths. `wrong` returns the number of wrong answers of a row.
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

    /// Returns the exit code for a measurement with these numbers of right answers and of wrong or missing answers. `not_sent` of the
    /// latter are requests that could not be sent.
    ///
    /// # Errors
    /// There was no right answer, or the measurement is incomplete.
    pub(crate) fn judge(&self, results: &Results, right: u64, wrong: u64, not_sent: u64) -> anyhow::Result<u8> {
        if right == 0 {
            bail!("no correct answer was received, so nothing was measured");
        }
        if results.incomplete {
            bail!("the measurement is incomplete");
        }
        for condition in &results.conditions {
            condition
                .failures()
                .for_each(|row| print_message("failed", format_args!("{row}, and {} fails", condition.fail_if)));
        }
        let is_judged =
            self.fail_if.iter().any(|criterion| matches!(criterion.metric, Metric::Errors | Metric::ErrorRate));
        if wrong > 0 && !is_judged {
            print_message("failed", wrong_answers(wrong, not_sent));
            return Ok(FAILED);
        }
        let misses = results.rows().any(|row| row.search_end == Some(SearchEnd::NoneMet));
        if misses {
            print_message("failed", "no tested load meets the goal of the search");
        }
        Ok(if misses || results.conditions.iter().any(|condition| condition.failed) { FAILED } else { 0 })
    }
}

/// Prepares a measurement, runs it, and returns the exit code. `prepared` is `None` for a dry run. Errors are reported.
pub(crate) fn run<T>(prepared: anyhow::Result<Option<T>>, measure: impl FnOnce(T) -> anyhow::Result<u8>) -> ExitCode {
    let (code, error) = match prepared.map(|prepared| prepared.map(measure)) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(Ok(code))) => return ExitCode::from(code),
        Ok(Some(Err(error))) => (error.downcast_ref().map_or(INCOMPLETE, |coded: &Coded| coded.code), error),
        Err(error) => (USAGE, error),
    };
    print_message("error", errors::in_full(&error));
    ExitCode::from(code)
}

/// Returns the exit code of a command: `code`, or the code for incomplete output if printing failed.
pub(crate) fn end(code: ExitCode) -> ExitCode {
    let Some(error) = output::failure() else { return code };
    let style = errors::ERROR;
    note!("{style}error{style:#}: can't write to standard output: {error}");
    // A wrong result wasn't printed completely either.
    let has_judged = [ExitCode::SUCCESS, ExitCode::from(FAILED)].contains(&code);
    if has_judged { ExitCode::from(INCOMPLETE) } else { code }
}

/// Checks before a long measurement that a report can be written, and that it doesn't replace a foreign file.
pub(crate) fn expect_file(path: &Path, form: ReportFormat) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        bail!("found -, expected a file name: `castile report DIR --json` prints results");
    }
    expect_place(path)?;
    Ok(form.expect_own(path)?)
}

/// Returns the canonical path of a file, which need not exist.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Checks that a file can be created at this path.
pub(crate) fn expect_place(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if path.is_dir() {
        bail!("{shown} is a folder, expected a file");
    }
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => bail!("{shown} can't be written: there is no folder {}", folder.display()),
        None => Ok(()),
    }
}

/// Checks that this path is a folder or doesn't exist.
pub(crate) fn expect_folder(path: &Path) -> anyhow::Result<()> {
    match path.exists() && !path.is_dir() {
        true => bail!("{} is a file, expected a folder", path.display()),
        false => Ok(()),
    }
}

/// Creates a folder, if it doesn't exist.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    let made = std::fs::create_dir_all(path);
    made.with_context(|| format!("can't make the folder {}", path.display())).map_err(incomplete)
}

/// Writes a file and returns its path.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    castile_report::write_whole(path, text).with_context(|| format!("can't write {}", path.display()))?;
    Ok(path.to_owned())
}

/// Prints the paths of the written files.
pub(crate) fn list(files: &[PathBuf]) {
    for file in files {
        out!("{}", visible(&file.display().to_string()));
    }
}

/// Prints an error.
pub(crate) fn print_message(what: &str, text: impl std::fmt::Display) {
    let style = errors::ERROR;
    let text = text.to_string();
    // The text may quote an answer.
    let text = castile_xml::visible_lines(&text);
    note!("{style}{what}{style:#}: {text}");
}
