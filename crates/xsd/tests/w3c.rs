//! Runs the W3C's XML Schema test suite. Every schema marked valid must be accepted. Schemas marked invalid must be
//! rejected, except those that `w3c-expected.txt` lists with a reason. Instances are checked in the same way, with
//! `w3c-instances-expected.txt`.
//!
//! `cargo test -p castile-xsd --test w3c -- --nocapture` prints the totals. The suite is an archive of 57 MB, which is
//! unpacked once into `target/tmp` with the system's `tar`. `CASTILE_VERBOSE=1` prints each schema with an unexpected
//! result. `BLESS=1` removes tests from the list that pass now; tests are never added automatically.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

mod w3c {
    pub(crate) mod expected;
    mod instances;
    mod samples;
    pub(crate) mod suite;
}

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use castile_xsd::{Diagnostic, Files, Loader, Severity};
use w3c::expected::Expected;
use w3c::suite::{Suite, Validity};

/// The front end's result for a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Accepted,
    /// Accepted, with a warning that names the broken rule, because the meaning is clear.
    Warned,
    Refused,
}

#[derive(Debug, Default)]
struct Tally {
    valid: usize,
    valid_accepted: usize,
    invalid: usize,
    refused: usize,
    warned: usize,
}

#[castile_corpus::needs("corpus/conformance/xsd/xsdtests-dev.tar.xz")]
#[test]
fn schemas_are_judged_as_they_are_marked() {
    let suite = Suite::open();
    let verbose = std::env::var_os("CASTILE_VERBOSE").is_some();
    let mut expected = Expected::open("w3c-expected.txt");
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut failures = Vec::new();
    for test in suite.schema_tests() {
        let (verdict, problems) = judge(&test.documents);
        let tally = tallies.entry(test.set.clone()).or_default();
        let as_marked = match test.validity {
            Validity::Valid => {
                tally.valid += 1;
                tally.valid_accepted += usize::from(verdict == Verdict::Accepted);
                verdict == Verdict::Accepted
            }
            Validity::Invalid => {
                tally.invalid += 1;
                tally.refused += usize::from(verdict == Verdict::Refused);
                tally.warned += usize::from(verdict == Verdict::Warned);
                verdict != Verdict::Accepted
            }
        };
        if !as_marked && verbose {
            let documents: Vec<String> = test.documents.iter().map(|path| path.display().to_string()).collect();
            eprintln!("---- {} is marked {:?}: {}", test.name, test.validity, documents.join(" "));
            problems.iter().for_each(|problem| eprintln!("{problem}"));
        }
        failures.extend(expected.check(&test.name, as_marked, || {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            format!("{} is marked {:?}, but {verdict:?} {first}", test.name, test.validity)
        }));
    }
    eprintln!("{}", Table(&tallies));
    eprintln!("{expected}");
    failures.extend(expected.close());
    let table = Table(&tallies).to_string();
    failures.extend(undocumented(&table));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Returns an error if docs/conformance.md doesn't have this table.
fn undocumented(table: &str) -> Option<String> {
    let documentation = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let is_there = std::fs::read_to_string(documentation).unwrap().contains(table);
    (!is_there).then(|| format!("docs/conformance.md has another table than this:\n{table}"))
}

/// Returns the result for a schema that consists of these documents, and its diagnostics.
fn judge(documents: &[PathBuf]) -> (Verdict, Vec<Diagnostic>) {
    let files = Files::new();
    let mut loader = Loader::new(&files);
    for path in documents {
        loader.document(&path.to_string_lossy());
    }
    let (schema, diagnostics) = loader.finish();
    for (id, _) in schema.types() {
        let _ = (schema.content(id), schema.attribute_uses(id), schema.facets(id));
    }
    let (_, mut list) = diagnostics.finish();
    list.retain(|diagnostic| diagnostic.severity == Severity::Error || diagnostic.rule.is_some());
    let verdict = match list.iter().map(|diagnostic| diagnostic.severity).max() {
        Some(Severity::Error) => Verdict::Refused,
        Some(_) => Verdict::Warned,
        None => Verdict::Accepted,
    };
    (verdict, list)
}

/// NIST's tests are about instances; their schemas are all valid.
#[castile_corpus::needs("corpus/conformance/xsd/xsdtests-dev.tar.xz")]
#[test]
fn schemas_of_the_nist_are_valid() {
    let suite = Suite::open();
    let mut failures = Vec::new();
    let documents = suite.nist_schemas();
    for document in &documents {
        let (verdict, problems) = judge(std::slice::from_ref(document));
        if verdict != Verdict::Accepted {
            failures.push(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        }
    }
    eprintln!("nist: {} of {} valid accepted", documents.len() - failures.len(), documents.len());
    assert!(!documents.is_empty());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// The table in the format of docs/conformance.md.
struct Table<'t>(&'t BTreeMap<String, Tally>);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| set | valid | accepted | invalid | refused | read with a warning | accepted all the same |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        let mut all = Tally::default();
        for (name, tally) in self.0 {
            row(f, name, tally)?;
            all.valid += tally.valid;
            all.valid_accepted += tally.valid_accepted;
            all.invalid += tally.invalid;
            all.refused += tally.refused;
            all.warned += tally.warned;
        }
        row(f, "all", &all)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, tally: &Tally) -> fmt::Result {
    let Tally { valid, valid_accepted, invalid, refused, warned } = tally;
    let rest = invalid - refused - warned;
    writeln!(f, "| {name} | {valid} | {valid_accepted} | {invalid} | {refused} | {warned} | {rest} |")
}
