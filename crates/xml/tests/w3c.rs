//! The W3C XML Conformance Test Suite, as its own catalogues describe it.
//!
//! `cargo test -p castile-xml --test w3c -- --nocapture` prints the tally. `w3c-left-out.tsv` lists the tests that are
//! left out. A test in that file that passes is a failure too, so that the file only shrinks.

#![allow(clippy::unwrap_used, reason = "a suite that can't be read fails the test")]

mod splits;

mod w3c {
    pub(crate) mod canonical;
    pub(crate) mod catalogue;
}

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use castile_xml::{DocumentEntity, Error, ErrorKind, Limits, Reader, Token, decode};
use w3c::canonical;
use w3c::catalogue::{Case, Suite, Type};

#[castile_corpus::needs("corpus/conformance/xml/xmlts20130923.zip")]
#[test]
fn every_document_is_judged_as_the_catalogues_say() {
    let suite = open();
    let mut left_out = LeftOut::read(include_str!("w3c-left-out.tsv"));
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for case in suite.cases() {
        if let Some(reason) = left_out.group_of(&case) {
            *tally.left_out.entry(reason).or_default() += 1;
            continue;
        }
        let bytes = suite.file(&case.uri);
        let result = read(bytes);
        if let Err(difference) = compare_with_message_reader(bytes, &result) {
            failures.push(format!("{}: {difference}", case.uri));
        }
        let verdict = match (case.type_, &result) {
            (Type::NotWellFormed, Ok(_)) => Err("was accepted".to_owned()),
            (Type::Valid | Type::Invalid, Err(error)) => Err(error.to_string()),
            _ => Ok(()),
        };
        judge(&case, "verdict", &verdict, &mut left_out, &mut tally, &mut failures);
        if let (Some(output), Ok(found)) = (&case.output, &result) {
            let expected = String::from_utf8_lossy(suite.file(output));
            let verdict =
                if *found == expected { Ok(()) } else { Err(format!("\nfound    {found:?}\nexpected {expected:?}")) };
            judge(&case, "output", &verdict, &mut left_out, &mut tally, &mut failures);
        }
    }
    println!("{tally}");
    failures.extend(
        left_out.tests.keys().map(|(id, what)| format!("{id}: {what}: is left out, but there is no such test")),
    );
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A document in pieces is read as the whole document. Both readers stop at a document type declaration.
#[castile_corpus::needs("corpus/conformance/xml/xmlts20130923.zip")]
#[test]
fn documents_are_the_same_in_pieces() {
    let suite = open();
    let mut compared = 0;
    for case in suite.cases() {
        let bytes = suite.file(&case.uri);
        if bytes.len() < 2_000 {
            splits::compare(bytes, Limits::default(), [2, 3, 17].map(|length| vec![length; bytes.len()]));
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared} documents");
}

/// A document that is cut off anywhere is read or causes an error. It never causes a panic.
#[castile_corpus::needs("corpus/conformance/xml/xmlts20130923.zip")]
#[test]
fn no_beginning_of_a_document_panics() {
    let suite = open();
    for case in suite.cases() {
        let bytes = suite.file(&case.uri);
        for end in 0..bytes.len().min(300) {
            let _ = read(&bytes[..end]);
        }
    }
}

fn open() -> Suite {
    Suite::open(Path::new(castile_corpus::path!("corpus/conformance/xml/xmlts20130923.zip")))
}

fn judge(
    case: &Case,
    what: &'static str,
    verdict: &Result<(), String>,
    left_out: &mut LeftOut,
    tally: &mut Tally,
    failures: &mut Vec<String>,
) {
    let class = match (what, case.type_) {
        ("output", _) => "canonical output equal",
        (_, Type::NotWellFormed) => "not-wf rejected",
        (_, Type::Valid) => "valid accepted",
        (_, Type::Invalid) => "invalid accepted",
        (_, Type::Error) => "error, for the processor to decide",
    };
    let reason = left_out.tests.remove(&(case.id.clone(), what.to_owned()));
    let (passed, all) = tally.classes.entry(class).or_default();
    *all += 1;
    match (verdict, reason) {
        (Ok(()), None) => *passed += 1,
        (Ok(()), Some(_)) => failures.push(format!("{}: {what}: is left out, but passes", case.id)),
        (Err(_), Some(reason)) => *tally.left_out.entry(reason).or_default() += 1,
        (Err(message), None) => failures.push(format!("{}\t{what}\t{} {message}", case.id, case.uri)),
    }
}

/// Returns a document in the suite's second canonical form.
fn read(bytes: &[u8]) -> Result<String, Error> {
    let text = decode(bytes, None)?;
    let document = DocumentEntity::new(&text, Limits::default())?;
    canonical::write(&document)
}

/// A document without a document type declaration is read in the same way as a message. One with it is rejected as a
/// message.
fn compare_with_message_reader(bytes: &[u8], as_document: &Result<String, Error>) -> Result<(), String> {
    let as_message = Reader::new(bytes, Limits::default()).and_then(|mut reader| {
        while reader.next()? != Token::End {}
        Ok(())
    });
    let is_encoding = |error: &Error| error.kind() == ErrorKind::Encoding;
    match (as_message, as_document) {
        (Ok(()), Ok(_)) => Ok(()),
        (Err(message), Err(document)) if message == *document => Ok(()),
        // A message in another encoding must be decoded by the caller. The decoder reports other errors first.
        (Err(error), _) if error.kind() == ErrorKind::Doctype || is_encoding(&error) => Ok(()),
        (Err(_), Err(error)) if is_encoding(error) => Ok(()),
        (message, document) => Err(format!("as a message {message:?}, as a document {document:?}")),
    }
}

/// The tests that are left out, from a file of tab-separated lines: key, what, reason.
struct LeftOut {
    /// Groups of tests that are left out, by an attribute of the catalogue.
    groups: Vec<(String, String)>,
    /// Tests that fail, by their ID and by the part that fails.
    tests: BTreeMap<(String, String), String>,
}

impl LeftOut {
    fn read(text: &str) -> LeftOut {
        let mut left_out = LeftOut { groups: Vec::new(), tests: BTreeMap::new() };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let [key, what, reason] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("not key, what, reason: {line}");
            };
            match what {
                "group" => left_out.groups.push((key.to_owned(), reason.to_owned())),
                _ => {
                    left_out.tests.insert((key.to_owned(), what.to_owned()), reason.to_owned());
                }
            }
        }
        left_out
    }

    fn group_of(&self, case: &Case) -> Option<String> {
        let groups: BTreeSet<String> = case.groups();
        self.groups.iter().find(|(key, _)| groups.contains(key)).map(|(_, reason)| reason.clone())
    }
}

#[derive(Default)]
struct Tally {
    /// The number of tests that passed and of all tests, by class.
    classes: BTreeMap<&'static str, (usize, usize)>,
    left_out: BTreeMap<String, usize>,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "W3C XML Conformance Test Suite 20130923")?;
        for (class, (passed, all)) in &self.classes {
            writeln!(f, "  {class}: {passed} of {all}")?;
        }
        writeln!(f, "  left out:")?;
        for (reason, count) in &self.left_out {
            writeln!(f, "    {count}: {reason}")?;
        }
        Ok(())
    }
}
