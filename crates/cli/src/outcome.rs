//! What came of a measurement: written into files, judged, and told as an exit code. It is the same for `bench` and `load`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use castile_load::report::{self, Form, Results, Row, SearchEnd, wrong_answers};
use castile_load::{Criterion, Metric};
use castile_xml::visible;

use crate::{build, problems};

/// The exit codes of all commands, for the help; docs/commands.md says it at length.
pub(crate) const EXIT_CODES: &str = "\
Exit codes of all commands:
  0  all is well, with warnings at most
  1  it was done, and came out wrong: a fault, a finding, or a --fail-if holds
  2  it could not begin: an argument, a contract or another input is wrong
  3  not all was done: what was measured, written or served is incomplete";

/// What came of it is not right: a criterion for failing holds, or answers were wrong and no criterion was about that.
pub(crate) const FAILED: u8 = 1;
/// An argument, a contract or another input is not as it must be; nothing was done. It is clap's as well.
const USAGE: u8 = 2;
/// It was begun, and not done to its end.
pub(crate) const INCOMPLETE: u8 = 3;

/// An error that has another exit code than [`USAGE`].
#[derive(Debug)]
struct Coded {
    code: u8,
    error: anyhow::Error,
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&problems::in_full(&self.error))
    }
}

impl std::error::Error for Coded {}

/// An error of what was begun and not done to its end.
pub(crate) fn incomplete(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Coded { code: INCOMPLETE, error: error.into() }.into()
}

/// An error of what could not begin.
pub(crate) fn not_begun(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Coded { code: USAGE, error: error.into() }.into()
}

/// An error of what was done, and came out wrong.
pub(crate) fn wrong(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Coded { code: FAILED, error: error.into() }.into()
}

/// The exit code of a command that ended with this error.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    error.downcast_ref().map_or(USAGE, |coded: &Coded| coded.code)
}

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
    /// Notes in the results what comes of the conditions.
    pub(crate) fn note(&self, results: &mut Results) {
        results.judge(&self.fail_if);
        results.build = Some(build::of_this());
    }

    /// The conditions for failing.
    pub(crate) fn fail_if(&self) -> &[Criterion] {
        &self.fail_if
    }

    /// Whether the files that are asked for can be written, as far as that is known before, and none twice: those of a report in
    /// `out`, and results as `json`, among them.
    pub(crate) fn expect_files(&self, out: Option<&Path>, json: Option<&Path>) -> anyhow::Result<()> {
        self.junit.iter().try_for_each(|path| expect_file(path, Form::Junit))?;
        self.csv.iter().try_for_each(|path| expect_file(path, Form::Csv))?;
        let of_report = out.into_iter().flat_map(|folder| report::FILES.map(|file| ("--out", folder.join(file))));
        let others = [("--json", json), ("--junit", self.junit.as_deref()), ("--csv", self.csv.as_deref())];
        let others = others.into_iter().filter_map(|(option, path)| Some((option, path?.to_owned())));
        let files: Vec<(&str, PathBuf)> = of_report.chain(others).collect();
        for (number, (option, file)) in files.iter().enumerate() {
            if let Some((other, _)) = files[..number].iter().find(|(_, other)| resolved(other) == resolved(file)) {
                bail!("{other} and {option} both write {}, expected a file of its own for each", file.display());
            }
        }
        Ok(())
    }

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

    /// The exit code for what was measured, with so many right answers and so many wrong or missing ones, since so many requests
    /// could not be sent among them.
    ///
    /// # Errors
    /// That there was no right answer, or that not all was measured.
    pub(crate) fn judge(&self, results: &Results, right: u64, wrong: u64, not_sent: u64) -> anyhow::Result<u8> {
        if right == 0 {
            bail!("no right answer came, so there is nothing that was measured");
        }
        if results.incomplete {
            bail!("not all was measured");
        }
        for condition in &results.conditions {
            condition.failures().for_each(|row| tell("failed", format_args!("{row}, and {} fails", condition.fail_if)));
        }
        let is_judged =
            self.fail_if.iter().any(|criterion| matches!(criterion.metric, Metric::Errors | Metric::ErrorRate));
        if wrong > 0 && !is_judged {
            tell("failed", wrong_answers(wrong, not_sent));
            return Ok(FAILED);
        }
        let misses = results.rows().any(|row| row.search_end == Some(SearchEnd::NoneMet));
        if misses {
            tell("failed", "no load that was tried is one that was looked for");
        }
        Ok(if misses || results.conditions.iter().any(|condition| condition.failed) { FAILED } else { 0 })
    }
}

/// Prepares a measurement, makes it, and gives the exit code; there is nothing to measure in a dry run. What fails is told.
pub(crate) fn of<T>(prepared: anyhow::Result<Option<T>>, measure: impl FnOnce(T) -> anyhow::Result<u8>) -> ExitCode {
    let (code, error) = match prepared.map(|prepared| prepared.map(measure)) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(Ok(code))) => return ExitCode::from(code),
        Ok(Some(Err(error))) => (error.downcast_ref().map_or(INCOMPLETE, |coded: &Coded| coded.code), error),
        Err(error) => (USAGE, error),
    };
    tell("error", problems::in_full(&error));
    ExitCode::from(code)
}

/// Whether a report can be written at the end of what may take a day, as far as that is known before. No file of others is replaced.
pub(crate) fn expect_file(path: &Path, form: Form) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        bail!("found - for a file, expected its name: `castile report DIR --json` prints results");
    }
    expect_place(path)?;
    Ok(form.expect_own(path)?)
}

/// Where a file is, or will be.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Whether there may be a file of this name.
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

/// Whether there is a folder of this name, or may be one.
pub(crate) fn expect_folder(path: &Path) -> anyhow::Result<()> {
    match path.exists() && !path.is_dir() {
        true => bail!("{} is a file, expected a folder", path.display()),
        false => Ok(()),
    }
}

/// Makes a folder, if it isn't there.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    let made = std::fs::create_dir_all(path);
    made.with_context(|| format!("can't make the folder {}", path.display())).map_err(incomplete)
}

/// Writes a file, and returns where.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    castile_load::report::write_whole(path, text).with_context(|| format!("can't write {}", path.display()))?;
    Ok(path.to_owned())
}

/// Says which files were written.
pub(crate) fn list(files: &[PathBuf]) {
    for file in files {
        out!("{}", visible(&file.display().to_string()));
    }
}

/// Tells why it failed.
pub(crate) fn tell(what: &str, text: impl std::fmt::Display) {
    let style = problems::ERROR;
    let text = text.to_string();
    // It may quote an answer.
    let text = castile_xml::visible_lines(&text);
    note!("{style}{what}{style:#}: {text}");
}
