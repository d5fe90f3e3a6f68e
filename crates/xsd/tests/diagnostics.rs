//! Tests the diagnostics of broken schemas.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

mod golden;

#[test]
fn diagnostics_are_as_written() {
    golden::compare("tests/diagnostics", "xsd", |name, documents| castile_xsd::read(name, documents).1);
}
