//! Runs the instance tests of the suite with the validator.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use castile_xml::{DocumentEntity, Limits};
use castile_xsd::validate::{Problem, Validator};
use castile_xsd::{Files, Loader, Schema};

use super::expected::Expected;
use super::suite::{InstanceTest, Suite, Validity};

#[derive(Debug, Default)]
struct Tally {
    valid: usize,
    accepted: usize,
    invalid: usize,
    refused: usize,
}

#[castile_corpus::needs("corpus/conformance/xsd/xsdtests-dev.tar.xz")]
#[test]
fn instances_are_judged_as_they_are_marked() {
    let suite = Suite::open();
    let verbose = std::env::var_os("CASTILE_VERBOSE").is_some();
    let mut expected = Expected::open("w3c-instances-expected.txt");
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut failures = Vec::new();
    // Most schemas have several instances.
    let mut by_schema: BTreeMap<Vec<PathBuf>, Vec<InstanceTest>> = BTreeMap::new();
    for test in suite.instance_tests() {
        by_schema.entry(test.schema.clone()).or_default().push(test);
    }
    for (documents, tests) in by_schema {
        let schema = schema_of(&documents);
        let mut validator = Validator::new(&schema);
        for test in tests {
            let problems = judge(&mut validator, &test.instance);
            let tally = tallies.entry(test.set.clone()).or_default();
            let is_valid = problems.is_empty();
            let as_marked = match test.validity {
                Validity::Valid => {
                    tally.valid += 1;
                    tally.accepted += usize::from(is_valid);
                    is_valid
                }
                Validity::Invalid => {
                    tally.invalid += 1;
                    tally.refused += usize::from(!is_valid);
                    !is_valid
                }
            };
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            if !as_marked && verbose {
                eprintln!("---- {} is marked {:?}: {} {first}", test.name, test.validity, test.instance.display());
            }
            let failure = || format!("{} is marked {:?}: {first}", test.name, test.validity);
            failures.extend(expected.check(&test.name, as_marked, failure));
        }
    }
    let table = Table(&tallies).to_string();
    eprintln!("{table}\n{expected}");
    failures.extend(expected.close());
    failures.extend(crate::undocumented(&table));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

pub(super) fn schema_of(documents: &[PathBuf]) -> Schema {
    let files = Files::new();
    let mut loader = Loader::new(&files);
    for path in documents {
        loader.document(&path.to_string_lossy());
    }
    loader.finish().0
}

/// Validates an instance, which may have a document type declaration. An unreadable document is invalid.
fn judge(validator: &mut Validator<'_>, path: &Path) -> Vec<Problem> {
    let bytes = fs::read(path).unwrap();
    match castile_xsd::decode(&bytes) {
        Ok(text) => match DocumentEntity::new(&text, Limits::default()) {
            Ok(document) => validator.validate_document(&document),
            Err(_) => validator.validate(&bytes),
        },
        Err(_) => validator.validate(&bytes),
    }
}

/// The table in the format of docs/conformance.md.
struct Table<'t>(&'t BTreeMap<String, Tally>);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| set | valid instances | accepted | invalid instances | refused |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        let mut all = Tally::default();
        for (name, tally) in self.0 {
            row(f, name, tally)?;
            all.valid += tally.valid;
            all.accepted += tally.accepted;
            all.invalid += tally.invalid;
            all.refused += tally.refused;
        }
        row(f, "all", &all)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, tally: &Tally) -> fmt::Result {
    let Tally { valid, accepted, invalid, refused } = tally;
    writeln!(f, "| {name} | {valid} | {accepted} | {invalid} | {refused} |")
}
