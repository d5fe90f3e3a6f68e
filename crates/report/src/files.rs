//! Reads and writes the files of results and of reports.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Comparison, Error, ReportFormat, Results};

/// The files that [`Results::write`] writes into a directory.
pub const FILES: [&str; 2] = [RESULTS, PAGE];
const RESULTS: &str = "results.json";
const PAGE: &str = "index.html";
const COMPARISON: &str = "comparison.html";

impl Results {
    /// Writes `results.json` and `index.html` into a directory, which is created if necessary, and returns their paths. Different results
    /// that are there are renamed to `results.1.json`, or to a higher number.
    ///
    /// # Errors
    /// The files can't be written, or a file there was not written by Castile.
    pub fn write(&self, directory: &Path) -> Result<Vec<PathBuf>, Error> {
        Results::expect_own(directory)?;
        let page = self.page()?;
        let mut files = self.write_json(&directory.join(RESULTS))?;
        files.insert(1, save(&directory.join(PAGE), &page)?);
        Ok(files)
    }

    /// Checks that [`write`](Self::write) would not replace a file that Castile did not write.
    ///
    /// # Errors
    /// It would replace such a file.
    pub fn expect_own(directory: &Path) -> Result<(), Error> {
        ReportFormat::Results.expect_own(&directory.join(RESULTS))?;
        ReportFormat::Page.expect_own(&directory.join(PAGE))
    }

    /// Writes the results into a file. Returns its path, and the new path of different results that were there.
    ///
    /// # Errors
    /// The file can't be written, or the file there was not written by Castile.
    pub fn write_json(&self, path: &Path) -> Result<Vec<PathBuf>, Error> {
        ReportFormat::Results.expect_own(path)?;
        let json = self.json()?;
        let kept = rename_earlier(path, &json)?;
        Ok(std::iter::once(save(path, &json)?).chain(kept).collect())
    }

    /// Returns the content of `results.json`.
    pub fn json(&self) -> Result<String, Error> {
        json(self)
    }

    /// Reads a `results.json`, or the one in a directory.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = if path.is_dir() { path.join(RESULTS) } else { path.to_owned() };
        let wrong = |what: &str| Error::new(format!("{what} {}", file.display()));
        let text = fs::read_to_string(&file).map_err(|error| wrong("can't read").because(error))?;
        serde_json::from_str(&text).map_err(|error| match text.trim_start().starts_with('{') {
            true => wrong("expected the results of a bench in").because(error),
            // The JSON parser's message about other files would not help.
            false => {
                let file = file.display();
                Error::new(format!("{file} is not valid JSON, expected the results.json of a bench"))
            }
        })
    }
}

impl Comparison {
    /// Writes `comparison.html` into a directory, which is created if necessary, and returns its path.
    ///
    /// # Errors
    /// The file can't be written, or the file there was not written by Castile.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, Error> {
        Comparison::expect_own(directory)?;
        save(&directory.join(COMPARISON), &self.page()?)
    }

    /// Checks that [`write`](Self::write) would not replace a file that Castile did not write.
    ///
    /// # Errors
    /// It would replace such a file.
    pub fn expect_own(directory: &Path) -> Result<(), Error> {
        ReportFormat::Page.expect_own(&directory.join(COMPARISON))
    }

    /// Returns the comparison as JSON.
    pub fn json(&self) -> Result<String, Error> {
        json(self)
    }
}

fn json(data: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(data);
    text.map(|text| text + "\n").map_err(|error| Error::new("can't write JSON").because(error))
}

fn save(path: &Path, text: &str) -> Result<PathBuf, Error> {
    let wrong = |path: &Path| Error::new(format!("can't write {}", path.display()));
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir_all(directory).map_err(|error| wrong(directory).because(error))?;
    }
    write_whole(path, text).map_err(|error| wrong(path).because(error))?;
    Ok(path.to_owned())
}

/// Writes a file atomically. The old content stays until all of the new content is written, so a full disk loses nothing. A device or
/// another special file is written directly.
///
/// # Errors
/// The error of the system. No part of the new content is left then.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // A symbolic link is followed, so that it stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let there = fs::metadata(&path).ok();
    let Some(name) = path.file_name().filter(|_| there.as_ref().is_none_or(fs::Metadata::is_file)) else {
        return fs::write(&path, text);
    };
    let temporary = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let write = || {
        let mut file = fs::File::create_new(&temporary)?;
        file.write_all(text.as_bytes())?;
        if let Some(there) = &there {
            file.set_permissions(there.permissions())?;
        }
        drop(file);
        fs::rename(&temporary, &path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Renames a file of earlier results to `results.1.json` or a higher number, unless it has this text.
fn rename_earlier(path: &Path, text: &str) -> Result<Option<PathBuf>, Error> {
    // A device or a pipe stores nothing.
    let there = if path.is_file() { fs::read_to_string(path).ok() } else { None };
    if there.is_none_or(|there| there.is_empty() || there == text) {
        return Ok(None);
    }
    let numbered = |number: u32| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{number}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        path.with_file_name(name)
    };
    let Some(kept) = (1..).map(numbered).find(|name| !name.exists()) else { return Ok(None) };
    fs::rename(path, &kept)
        .map_err(|error| Error::new(format!("can't save the earlier {}", path.display())).because(error))?;
    Ok(Some(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk once left a truncated file instead of the old one.
    #[test]
    fn a_file_is_replaced_only_when_the_new_content_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        write_whole(&path, "one").unwrap();
        write_whole(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        // A directory with the name of the temporary file simulates a full disk.
        let temporary = directory.path().join(format!(".a.json.{}", std::process::id()));
        fs::create_dir(&temporary).unwrap();
        write_whole(&path, "three").unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        fs::remove_dir(&temporary).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    /// A bench, and a page made again without `--out`, once replaced the results of another bench.
    #[test]
    fn earlier_results_are_saved() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path().join("results.json");
        for (earlier, kept) in [("{1}", "results.1.json"), ("{2}", "results.2.json")] {
            fs::write(&results, earlier).unwrap();
            assert_eq!(rename_earlier(&results, "{3}").unwrap(), Some(directory.path().join(kept)));
            assert_eq!(fs::read_to_string(directory.path().join(kept)).unwrap(), earlier);
        }
        assert_eq!(rename_earlier(&results, "{3}").unwrap(), None);
        fs::write(&results, "{3}").unwrap();
        assert_eq!(rename_earlier(&results, "{3}").unwrap(), None);
    }
}
