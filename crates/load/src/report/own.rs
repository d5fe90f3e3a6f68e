//! What castile wrote, and may replace: a file of others is worth more than a report, which can be written elsewhere.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{Error, ErrorKind};

/// The forms in which reports stand in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What [`Results::json`](super::Results::json) writes.
    Results,
    /// A page, of results or of a comparison.
    Page,
    /// Comma-separated values.
    Csv,
    /// JUnit's XML.
    Junit,
}

impl Form {
    /// Whether what is at a path may be replaced by a report of this form: nothing is there, or no regular file, or castile
    /// wrote it in the same form.
    ///
    /// # Errors
    /// That a file of others is there.
    pub fn expect_own(self, path: &Path) -> Result<(), Error> {
        expect_own(path, |bytes| self.is_own(bytes))
    }

    fn is_own(self, bytes: &[u8]) -> bool {
        let begins = |text: &str| bytes.starts_with(text.as_bytes());
        match self {
            Form::Results => serde_json::from_slice::<Mark>(bytes).is_ok(),
            // Pages of before have no generator, and a link that no others have.
            Form::Page => begins("<!doctype html>") && [GENERATOR, SKIP].iter().any(|mark| contains(bytes, mark)),
            Form::Csv => begins("suite,case,target,"),
            Form::Junit => begins("<?xml") && contains(bytes, "<testsuites name=\"castile\""),
        }
    }
}

const GENERATOR: &str = "<meta name=\"generator\" content=\"Castile\">";
const SKIP: &str = "<a class=\"skip\" href=\"#results\">Skip to the results</a>";

/// More than the head of a page with its style.
const HEAD: usize = 100_000;

/// What all results have, whichever version wrote them.
#[derive(Deserialize)]
#[expect(dead_code, reason = "they are only to be there")]
struct Mark {
    castile: String,
    placement: String,
    suites: Vec<IgnoredAny>,
}

/// Whether what is at a path may be replaced: nothing is there, or no regular file, an empty one, or one that is `own`.
///
/// # Errors
/// That a file of others is there, or one that can't be read.
pub fn expect_own(path: &Path, own: impl FnOnce(&[u8]) -> bool) -> Result<(), Error> {
    let wrong = |what: &str| Error::new(ErrorKind::Report, format!("{} {what}", path.display()));
    let bytes = read(path).map_err(|error| wrong("is there and can't be read").because(error))?;
    match bytes.is_empty() || own(&bytes) {
        true => Ok(()),
        false => Err(wrong("is there and was not written by Castile: remove it, or choose another name")),
    }
}

/// Nothing of what is no regular file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.is_file() {
        File::open(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Whether a text stands near the beginning.
fn contains(bytes: &[u8], text: &str) -> bool {
    bytes[..bytes.len().min(HEAD)].windows(text.len()).any(|window| window == text.as_bytes())
}
