//! Generates texts that match a pattern.

use std::ops::Range;

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum number of repetitions, in addition to the minimum, where a pattern has no upper limit.
const REPEATED: u32 = 64;
/// Maximum length of a text in bytes, and maximum number of pattern parts visited for it, since some parts give no
/// text.
const MAX_LENGTH: usize = 4096;
const MAX_PARTS: usize = 65_536;

/// Returns texts that match `regex`, which is in the syntax of the `regex` crate.
///
/// Each variant has another number of repetitions and other branches. The caller must check the texts against other
/// facets.
pub(super) fn texts(regex: &str, variants: Range<u32>) -> Vec<String> {
    let Ok(hir) = Parser::new().parse(regex) else { return Vec::new() };
    let text = |variant| {
        let (mut text, mut parts) = (String::new(), 0);
        append(&hir, variant, &mut text, &mut parts);
        text
    };
    variants.map(text).collect()
}

/// The recursion is limited by the nesting limit of the `regex` crate.
fn append(hir: &Hir, variant: u32, text: &mut String, parts: &mut usize) {
    if is_enough(text, *parts) {
        return;
    }
    *parts += 1;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(member(class)),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min.saturating_add(REPEATED));
            let count = repetition.min.saturating_add(variant).min(most);
            for _ in 0..count {
                if is_enough(text, *parts) {
                    break;
                }
                append(&repetition.sub, variant, text, parts);
            }
        }
        HirKind::Capture(capture) => append(&capture.sub, variant, text, parts),
        HirKind::Concat(inner) => inner.iter().for_each(|part| append(part, variant, text, parts)),
        HirKind::Alternation(branches) => {
            if let Some(branch) = branches.get(variant as usize % branches.len().max(1)) {
                append(branch, variant, text, parts);
            }
        }
    }
}

fn is_enough(text: &str, parts: usize) -> bool {
    text.len() > MAX_LENGTH || parts > MAX_PARTS
}

/// Returns a character of a class, a printable one if possible.
fn member(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    let has = |c: char| ranges.iter().any(|&(first, last)| (first..=last).contains(&c));
    let readable = ['a', 'A', '1', '0', ' ', '-', '.'].into_iter().chain('!'..='~');
    readable.into_iter().find(|&c| has(c)).or_else(|| {
        let chars = ranges.iter().flat_map(|&(first, last)| [first, last]);
        chars.into_iter().find(|&c| castile_xml::escape::is_char(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_matches_its_pattern() {
        for (regex, variant, expected) in [
            (r"\A(?:[0-9]{5}(?:\-[0-9]{4})?)\z", 0, "11111"),
            (r"\A(?:[0-9]{5}(?:\-[0-9]{4})?)\z", 1, "11111-1111"),
            (r"\A(?:ab|cd)\z", 1, "cd"),
            (r"\A(?:[^a-z]+)\z", 2, "AAA"),
            (r"\A(?:x*)\z", 3, "xxx"),
        ] {
            assert_eq!(texts(regex, variant..variant + 1), [expected], "{regex}");
        }
    }

    #[test]
    fn empty_patterns_are_not_repeated_forever() {
        let regex = format!("{}a{{0}}{}", "(?:".repeat(9), "){99}".repeat(9));
        assert_eq!(texts(&regex, 1..2), [""]);
    }
}
