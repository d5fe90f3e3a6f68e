//! Tests the diagnostics of broken contracts.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::Path;

#[path = "../../xsd/tests/golden/mod.rs"]
mod golden;

#[test]
fn diagnostics_are_as_written() {
    golden::compare("tests/diagnostics", "wsdl", |name, documents| castile_wsdl::read(name, documents).1);
}

/// A misspelled location caused an error for each reference into the missing document, and a hint about URLs.
#[test]
fn missing_documents_are_reported_once() {
    golden::compare("tests/missing", "wsdl", |name, _| {
        castile_wsdl::read_file(&Path::new("tests/missing").join(name)).1
    });
}
