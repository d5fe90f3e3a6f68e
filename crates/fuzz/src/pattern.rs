//! Regular expressions of schemas.

use castile_databinding::facets::Pattern;

use crate::{documents, shown};

/// Longer patterns differ from shorter ones in the time that they take, in bytes.
const LONGEST: usize = 120;

/// Any bytes as a regular expression, and texts that it may match.
///
/// Nothing panics, errors have a place in the expression, and an expression in parentheses, or twice as an alternative,
/// matches the same.
///
/// # Panics
/// If one of these does not hold.
pub fn pattern(input: &[u8]) {
    let inputs = documents(input);
    let Some((pattern, texts)) = inputs.split_first() else { return };
    let Ok(source) = std::str::from_utf8(pattern) else { return };
    if source.len() > LONGEST {
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
    // They take twice the room, or nest deeper, and there is a limit on either.
    let again = Pattern::new(&[source, source]).ok();
    let grouped = Pattern::new(&[&format!("({source})")]).ok();
    for text in texts.iter().filter_map(|text| std::str::from_utf8(text).ok()).chain(["", "a", source]) {
        let matches = pattern.matches(text);
        for other in again.iter().chain(&grouped) {
            assert_eq!(other.matches(text), matches, "{other} and {pattern} on {}", shown(text.as_bytes()));
        }
    }
}
