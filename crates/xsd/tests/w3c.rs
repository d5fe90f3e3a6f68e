//! The schema tests of the W3C's XML Schema test suite: every schema marked valid is accepted; of those marked invalid
//! the share that is refused is printed.
//!
//! The suite is an archive of 57 MB: unpack `../shared/corpus/conformance/xsd/xsdtests-dev.tar.xz` and name the folder
//! in `CASTILE_XSTS`. `CASTILE_VERBOSE=1` prints each schema that is judged otherwise than marked.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use castile_xml::tree::{Document, Element};
use castile_xsd::{Files, Loader, Severity};

const XLINK: &str = "http://www.w3.org/1999/xlink";

/// Accepted and all, of valid and of invalid ones.
#[derive(Debug, Default)]
struct Tally {
    valid: (usize, usize),
    invalid: (usize, usize),
}

#[test]
fn schema_tests() {
    let Some(folder) = std::env::var_os("CASTILE_XSTS").map(PathBuf::from) else {
        eprintln!("skipped: CASTILE_XSTS doesn't name an unpacked test suite");
        return;
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for set in test_sets(&folder) {
        let text = std::fs::read(&set).unwrap();
        let document = Document::parse(&castile_xsd::decode(&text).unwrap()).unwrap();
        let name = set.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
        let tally = tallies.entry(name).or_default();
        for group in document.root().elements().filter(|group| group.local() == "testGroup") {
            for test in group.elements().filter(|test| test.local() == "schemaTest") {
                judge(test, set.parent().unwrap(), tally);
            }
        }
    }
    for (name, tally) in &tallies {
        eprintln!(
            "{name}: {} of {} valid accepted, {} of {} invalid refused",
            tally.valid.0,
            tally.valid.1,
            tally.invalid.1 - tally.invalid.0,
            tally.invalid.1
        );
    }
}

fn judge(test: Element<'_>, folder: &Path, tally: &mut Tally) {
    let children = |local: &'static str| test.elements().filter(move |child| child.local() == local);
    let is_10 = |element: &Element<'_>| element.attribute("version").is_none_or(|version| version.contains("1.0"));
    let Some(expected) = children("expected").find(is_10) else { return };
    let status = children("current").next().and_then(|current| current.attribute("status")).unwrap_or("accepted");
    if !is_10(&test) || !matches!(status, "accepted" | "stable") {
        return;
    }
    let counts = match expected.attribute("validity") {
        Some("valid") => &mut tally.valid,
        Some("invalid") => &mut tally.invalid,
        _ => return,
    };
    let files = Files::new();
    let mut loader = Loader::new(&files);
    let mut paths = Vec::new();
    for document in children("schemaDocument") {
        let href = document.find_attribute(XLINK, "href").unwrap().value();
        let path = folder.join(href).canonicalize().unwrap_or_else(|_| folder.join(href));
        loader.document(&path.to_string_lossy());
        paths.push(path.display().to_string());
    }
    let (schema, diagnostics) = loader.finish();
    for (id, _) in schema.types() {
        let _ = (schema.content(id), schema.attribute_uses(id), schema.facets(id));
    }
    let (_, list) = diagnostics.finish();
    let accepted = list.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
    counts.0 += usize::from(accepted);
    counts.1 += 1;
    let marked_valid = expected.attribute("validity") == Some("valid");
    if accepted != marked_valid && std::env::var_os("CASTILE_VERBOSE").is_some() {
        eprintln!("---- marked {}: {}", expected.attribute("validity").unwrap_or_default(), paths.join(" "));
        for diagnostic in list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
            eprintln!("{diagnostic}");
        }
    }
}

fn test_sets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        if entry.file_name().to_string_lossy().ends_with("Meta") {
            found.extend(std::fs::read_dir(entry.path()).unwrap().flatten().map(|entry| entry.path()));
        }
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "testSet" || extension == "xml"));
    found.sort();
    found
}
