//! What is said of broken contracts.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[path = "../../xsd/tests/golden/mod.rs"]
mod golden;

#[test]
fn diagnostics_are_as_written() {
    golden::compare(env!("CARGO_MANIFEST_DIR"), "wsdl", |name, documents| castile_wsdl::read(name, documents).1);
}
