//! Tests a test that needs a file that doesn't exist.
#![deny(unused_attributes)]

/// The compiler warns of two reasons to be ignored.
#[castile_corpus::needs("nowhere")]
#[test]
#[ignore = "takes minutes"]
fn only_absent_files_skip_a_test() {}
