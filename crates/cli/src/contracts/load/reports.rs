//! The reports of a load: files, and what is printed.

use std::path::PathBuf;

use castile_report::{ReportFormat, Results};
use castile_xml::visible;

use crate::outcome;

/// Where results go, and how they are judged.
#[derive(clap::Args)]
// The group has its own id, because it is flattened into the arguments of a command.
#[group(id = "reports")]
pub(super) struct Reports {
    #[command(flatten)]
    pub(super) outcome: outcome::Arguments,
    /// The folder for the report: results.json and index.html
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    out: Option<PathBuf>,
    /// The file for the results as JSON
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    json: Option<PathBuf>,
}

impl Reports {
    /// Checks early that the files can be written.
    pub(super) fn expect_files(&self) -> anyhow::Result<()> {
        if let Some(folder) = &self.out {
            outcome::expect_folder(folder)?;
            Results::expect_own(folder)?;
        }
        self.json.iter().try_for_each(|path| outcome::expect_file(path, ReportFormat::Results))?;
        self.outcome.expect_files(self.out.as_deref(), self.json.as_deref())
    }

    /// Writes the reports, prints and judges the results, and returns the exit code. Files are written first because the measurement took
    /// long. If that fails, the results are printed anyway.
    pub(super) fn report(&self, results: &Results) -> anyhow::Result<u8> {
        let saved = self.save(results);
        out!("{}", results.table());
        for warning in &results.warnings {
            out!("{}", castile_report::note(&format!("! {warning}")));
        }
        // The first row is the total of all operations.
        let first = results.suites.iter().filter_map(|suite| suite.cases.first());
        for row in first.clone() {
            for reason in &row.reasons {
                out!("{}", castile_report::note(&format!("! {}", visible(&reason.to_string()))));
            }
            if let Some(reason) = &row.exit_reason {
                out!("ended: {reason}");
            }
        }
        outcome::list(&saved?);
        let right = first.clone().map(|row| row.requests).sum();
        let not_sent = first.clone().map(|row| row.not_sent).sum();
        self.outcome.judge(results, right, first.map(|row| row.errors).sum(), not_sent)
    }

    /// Writes the requested reports and returns their paths.
    fn save(&self, results: &Results) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        if let Some(directory) = &self.out {
            files.extend(results.write(directory)?);
        }
        if let Some(path) = &self.json {
            files.extend(results.write_json(path)?);
        }
        files.extend(self.outcome.write(results, |row| row.errors)?);
        Ok(files)
    }
}
