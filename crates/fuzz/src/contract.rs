//! Checks contracts: WSDL and schema documents, bundles, catalogs, and the generated code.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use castile_codegen::Options;
use castile_wsdl::Diagnostic;
use castile_xsd::{Bundle, Catalog, Documents, Files};
use tempfile::TempDir;

use crate::{SEPARATOR, shown};

/// The name of the first document of an input, which imports the others.
const MAIN: &str = "main.wsdl";

/// Reads any bytes as a contract and the documents that it imports. Each document except the first begins with a line that
/// contains its name.
///
/// Nothing panics, diagnostics have positions in the documents, and a bundle of the contract reads as the same contract.
///
/// # Panics
/// One of these properties does not hold.
pub fn contract(input: &[u8]) {
    let documents = documents(input);
    let (definitions, diagnostics) = castile_wsdl::read(MAIN, &documents);
    check_diagnostics(&diagnostics, input);
    let (_, of_schema) = castile_xsd::read(MAIN, &documents);
    check_diagnostics(&of_schema, input);
    let (bundle, of_bundle) = castile_wsdl::bundle(MAIN, &documents);
    assert_eq!(of_bundle, diagnostics, "read for a bundle, {}", shown(input));
    let Some(bundle) = bundle else {
        assert!(definitions.is_none(), "no bundle of {}", shown(input));
        return;
    };
    let written = bundle.write();
    let (again, problems) = Bundle::read("bundle", written.as_bytes());
    let again = again.unwrap_or_else(|| panic!("{problems:?} in the bundle {written:?} of {}", shown(input)));
    assert_eq!(again.write(), written, "written, read and written again");
    let (_, from_bundle) = castile_wsdl::read(again.main(), &again);
    assert_eq!(from_bundle.len(), diagnostics.len(), "read from the bundle of {}", shown(input));
}

/// Reads any bytes as a bundle, and as a catalog.
///
/// Nothing panics, and a bundle that was read can be written and read again as the same bundle.
///
/// # Panics
/// One of these properties does not hold.
pub fn bundle(input: &[u8]) {
    let (bundle, diagnostics) = Bundle::read("bundle", input);
    check_diagnostics(&diagnostics, input);
    if let Some(bundle) = bundle {
        let written = bundle.write();
        let (again, problems) = Bundle::read("bundle", written.as_bytes());
        assert_eq!(again, Some(bundle), "{problems:?} in {written:?}, written of {}", shown(input));
    }
    with_file("catalog.xml", input, |path| {
        let (catalog, diagnostics) = Catalog::read(path);
        check_diagnostics(&diagnostics, input);
        for uri in ["urn:a", "http://www.example.com/a/b.xsd", "https://a/../b", ""] {
            let _ = catalog.resolve(uri);
        }
    });
}

/// Generates code from any bytes as a contract.
///
/// There are diagnostics, or a module that a Rust compiler can parse and that is the same each time.
///
/// # Panics
/// Neither is the case.
pub fn generate(input: &[u8]) {
    let Some(source) = generated(input) else { return };
    if let Err(error) = syn::parse_file(&source) {
        panic!("{error} in what was generated from {}:\n{source}", shown(input));
    }
    assert!(generated(input).as_ref() == Some(&source), "generated again from {}", shown(input));
}

/// Returns the module that is generated from any bytes as a contract, with options that depend on its length. Returns
/// `None` if it has errors.
///
/// # Panics
/// The diagnostics have no positions.
pub fn generated(input: &[u8]) -> Option<String> {
    // All documents are in one file, so that nothing is searched for on the disk.
    let (bundle, _) = castile_wsdl::bundle(MAIN, &documents(input));
    with_file("contract.wsdl", bundle?.write().as_bytes(), |path| {
        let mut options = Options::default();
        options.facets = input.len() % 2 == 1;
        options.stream_binaries = input.len() % 8 == 4;
        let (source, diagnostics) = match castile_codegen::generate_from(path, &Files::new(), &options) {
            Ok(generated) => (Some(generated.source), generated.diagnostics),
            Err(diagnostics) => (None, diagnostics),
        };
        check_diagnostics(&diagnostics, input);
        source
    })
}

fn documents(input: &[u8]) -> Documents {
    let mut documents = Documents::new();
    for (number, document) in input.split(|&byte| byte == SEPARATOR).take(crate::MAX_DOCUMENTS).enumerate() {
        documents = match document.iter().position(|&byte| byte == b'\n') {
            _ if number == 0 => documents.with(MAIN, document),
            Some(end) => documents.with(&String::from_utf8_lossy(&document[..end]), &document[end + 1..]),
            None => documents,
        };
    }
    documents
}

/// Checks that diagnostics can be shown and have valid positions.
fn check_diagnostics(diagnostics: &[Diagnostic], input: &[u8]) {
    for diagnostic in diagnostics {
        let is_document = diagnostic.line == 0;
        assert_eq!(is_document, diagnostic.column == 0, "{diagnostic} of {}", shown(input));
        assert!(!diagnostic.to_string().is_empty() && !diagnostic.message.is_empty());
        let length = diagnostic.source_line.chars().count();
        assert!(diagnostic.caret <= length, "{diagnostic:?} of {}", shown(input));
    }
}

/// Writes `content` to a file of this name in a directory of this thread.
fn with_file<T>(name: &str, content: &[u8], then: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static DIRECTORY: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    let path: PathBuf = DIRECTORY.with_borrow_mut(|directory| {
        let directory = directory.get_or_insert_with(|| tempfile::tempdir().expect("a directory for temporary files"));
        directory.path().join(name)
    });
    std::fs::write(&path, content).expect("a file in a directory of our own");
    then(&path)
}
