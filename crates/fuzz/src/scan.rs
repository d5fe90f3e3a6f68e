//! Compares the functions that scan many bytes at a time with their definition, byte by byte.

use castile_xml::{escape, scan};

/// Compares both implementations at every position of `text`.
pub(crate) fn check(text: &str) {
    let bytes = text.as_bytes();
    // All positions of a short text. In a long text, positions near the start, and near the end, where the
    // remainder differs.
    let places = (0..bytes.len()).filter(|&at| text.is_char_boundary(at) && (at < 64 || bytes.len() - at < 64));
    for at in places {
        let rest = &text[at..];
        let data = ends(rest, |rest, c| c == '<' || c == '&' || c == '\r' || rest.starts_with("]]>"));
        assert_eq!(scan::end_of_character_data(bytes, at), at + data, "character data from {at} of {text:?}");
        let unescaped = ends(rest, |_, c| matches!(c, '<' | '>' | '&' | '\r'));
        assert_eq!(scan::end_of_unescaped(rest.as_bytes()), unescaped, "unescaped text from {at} of {text:?}");
        for quote in ['"', '\''] {
            // It may stop before a valid character if that begins with 0xEF.
            let expected = rest.find(|c: char| {
                c == quote || matches!(c, '<' | '&') || (c < ' ') || ('\u{F000}'..='\u{FFFF}').contains(&c)
            });
            let found = scan::end_of_attribute_part(bytes, at, quote as u8);
            assert_eq!(found, at + expected.unwrap_or(rest.len()), "attribute value from {at} of {text:?}");
        }
    }
}

/// Returns the position of the first character that XML doesn't permit or for which `stops` returns true,
/// given the rest of the text.
fn ends(text: &str, stops: impl Fn(&str, char) -> bool) -> usize {
    let mut places = text.char_indices();
    places.find(|&(at, c)| !escape::is_char(c) || stops(&text[at..], c)).map_or(text.len(), |(at, _)| at)
}
