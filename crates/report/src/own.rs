//! Decides which files a report may replace: only those that Castile wrote. Other files must not be lost, and a report can
//! be written elsewhere.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Error;

/// The file formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// The output of [`Results::json`](crate::Results::json).
    Results,
    /// A page of results or of a comparison.
    Page,
    /// Comma-separated values.
    Csv,
    /// JUnit XML.
    Junit,
}

impl ReportFormat {
    /// Checks that a report of this form may be written to a path. It may if there is nothing, a special file, or a file
    /// that Castile wrote in the same form.
    ///
    /// # Errors
    /// There is a file that Castile did not write in this form.
    pub fn expect_own(self, path: &Path) -> Result<(), Error> {
        expect_own(path, |bytes| self.is_own(bytes))
    }

    fn is_own(self, bytes: &[u8]) -> bool {
        let begins = |text: &str| bytes.starts_with(text.as_bytes());
        match self {
            ReportFormat::Results => serde_json::from_slice::<Mark>(bytes).is_ok(),
            // Older pages have no generator element, but a link that no other pages have.
            ReportFormat::Page => {
                begins("<!doctype html>") && [GENERATOR, SKIP].iter().any(|mark| contains(bytes, mark))
            }
            ReportFormat::Csv => begins("suite,case,target,"),
            ReportFormat::Junit => begins("<?xml") && contains(bytes, "<testsuites name=\"castile\""),
        }
    }
}

const GENERATOR: &str = "<meta name=\"generator\" content=\"Castile\">";
const SKIP: &str = "<a class=\"skip\" href=\"#results\">Skip to the results</a>";

/// More than the length of a page's head with its style.
const HEAD: usize = 100_000;

/// The fields that results of all versions have.
#[derive(Deserialize)]
#[expect(dead_code, reason = "they are only to be there")]
struct Mark {
    castile: String,
    placement: String,
    suites: Vec<IgnoredAny>,
}

/// Checks that a path may be written to. It may if there is nothing, a special file, an empty file, or one that is `own`.
///
/// # Errors
/// There is another file, or one that can't be read.
pub fn expect_own(path: &Path, own: impl FnOnce(&[u8]) -> bool) -> Result<(), Error> {
    let wrong = |what: &str| Error::new(format!("{} {what}", path.display()));
    let bytes = read(path).map_err(|error| wrong("exists and can't be read").because(error))?;
    match bytes.is_empty() || own(&bytes) {
        true => Ok(()),
        false => Err(wrong("exists and was not written by Castile: remove it, or choose another name")),
    }
}

/// Reads a file; returns nothing for a special file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.is_file() {
        File::open(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Returns whether a text occurs near the beginning.
fn contains(bytes: &[u8], text: &str) -> bool {
    bytes[..bytes.len().min(HEAD)].windows(text.len()).any(|window| window == text.as_bytes())
}
