//! Runs the NIST part of the W3C's XML Schema test suite: 19,243 instances. The schema of each restricts a built-in
//! type, or a list or union of built-in types, by one facet. The file name shows the validity: `SV-IV` is valid,
//! `SV-II` is not.
//!
//! Each instance is checked as a value by the definition of its type, and as a document by the validator.
//!
//! 13 instances have wrong names. They are listed in `nist-misnamed.txt`, and libxml2 agrees with our results for them.
//!
//! `cargo test -p castile-xsd --test nist_datatypes -- --nocapture` prints the totals. The archive is unpacked once
//! into `target/tmp` with the system's `tar`.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use castile_datatypes::facets::SimpleTypeDefinition;
use castile_xml::tree::{Document, Element};
use castile_xsd::validate::Validator;
use castile_xsd::{ExpandedName, Files, Schema};

#[castile_corpus::needs("corpus/conformance/xsd/xsdtests-dev.tar.xz")]
#[test]
fn instances_are_judged_as_they_are_named() {
    let folder = unpacked();
    let mut tally: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut misnamed: BTreeSet<&str> = include_str!("nist-misnamed.txt").lines().collect();
    let mut failures = Vec::new();
    for (schema_path, instances) in grouped_by_schema(&folder) {
        let (schema, diagnostics) = castile_xsd::read(&schema_path.to_string_lossy(), &Files::new());
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let mut definition = None;
        let mut validator = Validator::new(&schema);
        for path in instances {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let bytes = fs::read(&path).unwrap();
            let problems = validator.validate(&bytes);
            let instance = Document::parse(std::str::from_utf8(&bytes).unwrap()).unwrap();
            let instance = outermost(&instance);
            // All instances of one schema have the same type.
            let definition = definition.get_or_insert_with(|| definition_of(&schema, instance));
            let verdict = definition.read(&instance.text(), &instance);
            if verdict.is_ok() != problems.is_empty() {
                failures.push(format!("{name}: the value alone is {verdict:?}, and the document {problems:?}"));
            }
            let is_named_valid = name.contains("-SV-IV-");
            let facet = name.rsplit('-').nth(2).unwrap().to_owned();
            tally.entry(facet).or_default()[usize::from(is_named_valid)] += 1;
            if (verdict.is_ok() == is_named_valid) == misnamed.remove(&*name) {
                failures.push(format!("{name}: {verdict:?}"));
            }
        }
    }
    for (facet, [invalid, valid]) in &tally {
        eprintln!("{facet}: {valid} valid, {invalid} invalid");
    }
    let all: usize = tally.values().flatten().sum();
    eprintln!("{all} instances, {} of them not judged as they should be", failures.len());
    assert!(misnamed.is_empty(), "no such instances: {misnamed:?}");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(all > 19_000, "only {all} instances were found");
}

/// Returns the element to check. An ID isn't allowed in the outermost element, so those instances have another element
/// around it.
fn outermost(instance: &Document) -> Element<'_> {
    let root = instance.root();
    if root.local() == "out" { root.elements().next().unwrap() } else { root }
}

fn definition_of(schema: &Schema, instance: Element<'_>) -> SimpleTypeDefinition {
    let name = ExpandedName::new(instance.namespace(), instance.local());
    let element = schema.find_element(&name).unwrap();
    schema.simple_type_definition(schema[element].type_id).unwrap()
}

/// Returns the schemas with their instances, which are found by name.
fn grouped_by_schema(folder: &Path) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut grouped: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if let Some(instance) = name.strip_prefix("NISTXML-").and_then(|name| name.strip_suffix(".xml")) {
                let (schema, _) = instance.rsplit_once('-').unwrap();
                grouped.entry(path.with_file_name(format!("NISTSchema-{schema}.xsd"))).or_default().push(path);
            }
        }
    }
    grouped
}

/// Returns the folder with the unpacked instances.
fn unpacked() -> PathBuf {
    let archive = castile_corpus::path!("corpus/conformance/xsd/xsdtests-dev.tar.xz");
    let metadata = fs::metadata(archive).unwrap();
    // The name has the archive's size, so a different archive is unpacked again.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nist-{}", metadata.len()));
    if !folder.is_dir() {
        let partial = folder.with_extension(format!("partial-{}", std::process::id()));
        fs::create_dir_all(&partial).unwrap();
        let tar = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&partial).arg("nistData").status();
        assert!(tar.as_ref().is_ok_and(|status| status.success()), "tar can't unpack {archive}: {tar:?}");
        if fs::rename(&partial, &folder).is_err() {
            // Another process unpacked it first.
            fs::remove_dir_all(&partial).unwrap();
        }
    }
    folder
}
