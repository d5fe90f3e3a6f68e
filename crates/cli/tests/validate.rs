//! `castile validate`: what it prints for the messages in tests/validate.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod examples;

#[test]
fn what_is_wrong_with_messages_is_told() {
    examples::check("validate", &[]);
}
