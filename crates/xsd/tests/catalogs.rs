//! Tests catalogs: `catalogs/expected.tsv` has the mappings in `catalogs/catalog.xml`.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::{Path, PathBuf};

use castile_xsd::{Catalog, Files, Request, Resolver};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs")
}

#[test]
fn catalog_entries_are_read() {
    let (catalog, problems) = Catalog::read(&folder().join("catalog.xml"));
    assert!(problems.is_empty(), "{problems:?}");
    let expected = std::fs::read_to_string(folder().join("expected.tsv")).unwrap();
    let mut count = 0;
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let (uri, path) = line.split_once('\t').unwrap();
        let expected = (!path.is_empty()).then(|| folder().join(path));
        assert_eq!(catalog.resolve(uri).map(PathBuf::from), expected, "{uri}");
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn errors_in_a_catalog_are_reported() {
    let (catalog, problems) = Catalog::read(&folder().join("broken.xml"));
    let mut found = problems.iter().map(|problem| {
        let file = Path::new(&*problem.file).file_name().unwrap().to_string_lossy().into_owned();
        (file, problem.line, problem.message.split(": No such").next().unwrap_or_default().to_owned())
    });
    let mut expect = |file: &str, line, message: &str| {
        let (found_file, found_line, found_message) = found.next().unwrap();
        assert_eq!((found_file.as_str(), found_line), (file, line), "{found_message}");
        assert!(found_message.contains(message), "{found_message}");
    };
    expect("broken.xml", 2, "lacks an attribute, expected `name` and `uri`");
    expect("broken.xml", 3, "<url> is not a catalog entry");
    expect("broken.xml", 5, "gone.xml can't be read");
    expect("broken.tsv", 1, "expected a URL, a tab and a path");
    assert_eq!(found.next(), None);
    assert!(catalog.resolve("urn:c").is_some() && catalog.resolve("urn:e").is_some());
    let (_, problems) = Catalog::read(&folder().join("none.xml"));
    assert_eq!(problems.len(), 1);
    let (_, problems) = Catalog::read(&folder().join("../wellknown.rs"));
    assert!(!problems.is_empty());
}

#[test]
fn files_ask_their_catalogs() {
    let mut files = Files::new();
    files.add_catalog(Catalog::read(&folder().join("catalog.xml")).0);
    let at = |location, namespace| files.locate(&Request { base: "a/b.wsdl", location, namespace });
    assert_eq!(at(None, "urn:orders").map(PathBuf::from), Some(folder().join("orders.xsd")));
    assert_eq!(at(Some("urn:in-group"), "").map(PathBuf::from), Some(folder().join("group/a.xsd")));
    assert_eq!(at(Some("http://www.example.com/"), "urn:orders"), None);
    // References in a document that is in a catalog are relative to its URL.
    let from = |path: &str, location| {
        let base = folder().join(path).to_string_lossy().into_owned();
        files.locate(&Request { base: &base, location: Some(location), namespace: "" }).map(PathBuf::from)
    };
    assert_eq!(from("first.xsd", "system.xsd"), Some(folder().join("by-system.xsd")));
    assert_eq!(from("schemas/a/b.xsd", "../../system.xsd"), Some(folder().join("by-system.xsd")));
    assert_eq!(from("elsewhere.xsd", "system.xsd"), None);
}
