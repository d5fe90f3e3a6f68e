//! The tests that are judged otherwise than marked, each under its reason.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// `w3c-expected.txt` and its like: a line `= reason`, then the names of tests, one a line.
pub(crate) struct Expected {
    path: PathBuf,
    head: Vec<String>,
    sections: Vec<(String, BTreeMap<String, Seen>)>,
}

/// Whether the run had the test, and whether it failed as it says here.
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

    /// Takes note of a test; a failure that isn't expected comes back.
    pub(crate) fn check(&mut self, name: &str, passed: bool, failure: impl FnOnce() -> String) -> Option<String> {
        let seen = self.sections.iter_mut().find_map(|(_, tests)| tests.get_mut(name));
        match seen {
            Some(seen) => {
                // Some tests come twice under one name.
                let failed_before = *seen == Seen::Failed;
                *seen = if passed && !failed_before { Seen::Passed } else { Seen::Failed };
                None
            }
            None if passed => None,
            None => Some(failure()),
        }
    }

    /// What stands in the list and should not, unless `BLESS` takes it off.
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
