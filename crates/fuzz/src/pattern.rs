//! Checks regular expressions of schemas.

use castile_datatypes::facets::Pattern;

use crate::{documents, shown};

/// The longest pattern, in bytes. Longer patterns differ only in their running time.
const MAX_LENGTH: usize = 120;

/// Compiles any bytes as a regular expression, and matches texts with it.
///
/// Nothing panics, and errors have a position in the expression. An expression in parentheses, or repeated as an
/// alternative, matches the same texts.
///
/// # Panics
/// One of these properties does not hold.
pub fn pattern(input: &[u8]) {
    let inputs = documents(input);
    let Some((pattern, texts)) = inputs.split_first() else { return };
    let Ok(source) = std::str::from_utf8(pattern) else { return };
    if source.len() > MAX_LENGTH {
        return;
    }
    let pattern = match Pattern::new(&[source]) {
        Ok(pattern) => pattern,
        Err(error) => {
            assert!((1..=source.chars().count() + 1).contains(&error.position()), "{error}");
            assert!(!error.message().is_empty());
            return;
        }
    };
    // These variants are twice as large or nest deeper, so they may exceed a limit.
    let again = Pattern::new(&[source, source]).ok();
    let grouped = Pattern::new(&[&format!("({source})")]).ok();
    for text in texts.iter().filter_map(|text| std::str::from_utf8(text).ok()).chain(["", "a", source]) {
        let matches = pattern.matches(text);
        for other in again.iter().chain(&grouped) {
            assert_eq!(other.matches(text), matches, "{other} and {pattern} on {}", shown(text.as_bytes()));
        }
    }
}
