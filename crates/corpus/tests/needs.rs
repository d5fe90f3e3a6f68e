//! How a test shows that asks for what is nowhere.
#![deny(unused_attributes)]

/// Of two reasons to be ignored the compiler warned.
#[castile_corpus::needs("nowhere")]
#[test]
#[ignore = "takes minutes"]
fn what_is_absent_is_the_only_reason() {}
