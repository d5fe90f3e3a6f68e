//! The list of tests whose results differ from their marks, grouped by reason.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The content of `w3c-expected.txt` or a similar file: a line `= reason`, followed by the names of tests, one per
/// line.
pub(crate) struct Expected {
    path: PathBuf,
    head: Vec<String>,
    sections: Vec<(String, BTreeMap<String, Seen>)>,
}

/// Whether the test was run, and whether it failed as listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    Failed,
    Passed,
}

impl Expected {
    pub(crate) fn open(file: &str) -> Expected {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
        let (mut head, mut sections) = (Vec::new(), Vec::<(String, BTreeMap<_, _>)>::new());
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            match (line.strip_prefix("= "), sections.last_mut()) {
                (Some(reason), _) => sections.push((reason.to_owned(), BTreeMap::new())),
                (None, None) => head.push(line.to_owned()),
                (None, Some((_, tests))) if !line.is_empty() => {
                    tests.insert(line.to_owned(), Seen::No);
                }
                _ => {}
            }
        }
        Expected { path, head, sections }
    }

    /// Records the result of a test. Returns the failure if it isn't listed.
    pub(crate) fn check(&mut self, name: &str, passed: bool, failure: impl FnOnce() -> String) -> Option<String> {
        let seen = self.sections.iter_mut().find_map(|(_, tests)| tests.get_mut(name));
        match seen {
            Some(seen) => {
                // Some tests occur twice under one name.
                let failed_before = *seen == Seen::Failed;
                *seen = if passed && !failed_before { Seen::Passed } else { Seen::Failed };
                None
            }
            None if passed => None,
            None => Some(failure()),
        }
    }

    /// Returns entries that don't belong in the list, unless `BLESS` removes them.
    pub(crate) fn close(mut self) -> Vec<String> {
        let mut failures = Vec::new();
        for (_, tests) in &self.sections {
            for (name, seen) in tests {
                match seen {
                    Seen::Failed => {}
                    Seen::Passed => failures.push(format!("{name} is expected to fail, but passes")),
                    Seen::No => failures.push(format!("{name} is expected to fail, but there is no such test")),
                }
            }
        }
        if std::env::var_os("BLESS").is_none() {
            return failures;
        }
        let mut text = self.head.join("\n") + "\n";
        for (reason, tests) in &mut self.sections {
            tests.retain(|_, seen| *seen == Seen::Failed);
            if !tests.is_empty() {
                text += &format!("= {reason}\n");
                tests.keys().for_each(|name| text += &format!("{name}\n"));
            }
        }
        std::fs::write(&self.path, text).unwrap();
        Vec::new()
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (reason, tests) in &self.sections {
            let failed = tests.values().filter(|seen| **seen == Seen::Failed).count();
            writeln!(f, "{failed:4} expected to fail: {reason}")?;
        }
        Ok(())
    }
}
