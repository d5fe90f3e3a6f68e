//! References and escaping (XML 1.0 §2.2, §2.4, §4.1, §4.6).

use crate::ErrorKind;
use crate::error::shown;

/// Whether XML 1.0 can represent `c` (production 2).
pub fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// Reads the reference whose `&` is at `at`. Returns the character that it stands for, and where it ends.
///
/// # Errors
/// If it is not a reference to a character or to one of the five predefined entities, or if it is longer than
/// [`max_reference_length`] allows.
pub(crate) fn reference(input: &str, at: usize, name_length: usize) -> Result<(char, usize), (ErrorKind, String)> {
    let bytes = &input.as_bytes()[at + 1..];
    // The most frequent references are shorter than any limit.
    match bytes {
        [b'a', b'm', b'p', b';', ..] => return Ok(('&', at + "&amp;".len())),
        [b'l', b't', b';', ..] => return Ok(('<', at + "&lt;".len())),
        [b'g', b't', b';', ..] => return Ok(('>', at + "&gt;".len())),
        [b'q', b'u', b'o', b't', b';', ..] => return Ok(('"', at + "&quot;".len())),
        [b'a', b'p', b'o', b's', b';', ..] => return Ok(('\'', at + "&apos;".len())),
        _ => {}
    }
    let longest = max_reference_length(name_length);
    let length = match end_of_reference(bytes, longest) {
        Some(end) if bytes[end] == b';' => end,
        None if bytes.len() >= longest => {
            return Err((ErrorKind::Limit, format!("a reference longer than {longest} bytes, which is the limit")));
        }
        _ => {
            let message = "\"&\" begins a reference, but no \";\" ends it; a plain ampersand is written \"&amp;\"";
            return Err((ErrorKind::WellFormedness, message.into()));
        }
    };
    let failure = |message: String| Err((ErrorKind::WellFormedness, message));
    let name = &input[at + 1..at + 1 + length];
    match name.strip_prefix('#').map(character) {
        Some(Some(c)) => Ok((c, at + length + 2)),
        Some(None) => failure(format!("\"&{};\" is not a character that XML allows", shown(name))),
        None => failure(format!("reference to an entity \"{}\" that is not declared", shown(name))),
    }
}

/// Returns how many bytes a reference may have after its `&`. The minimum suffices for `&#x10FFFF;` with leading zeros.
pub(crate) fn max_reference_length(name_length: usize) -> usize {
    name_length.max(32)
}

/// Returns the index of the `;` in the bytes after an `&`, or of the first byte that can't be in a reference. `None` if
/// neither is among the first `longest` bytes.
pub(crate) fn end_of_reference(bytes: &[u8], longest: usize) -> Option<usize> {
    let ends = |&byte: &u8| byte <= b' ' || matches!(byte, b';' | b'<' | b'>' | b'&' | b'"' | b'\'');
    bytes.iter().take(longest).position(ends)
}

/// Returns the character that a reference with `#…` stands for.
fn character(number: &str) -> Option<char> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (number, 10),
    };
    // `from_str_radix` would accept a sign.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok().and_then(char::from_u32).filter(|&c| is_char(c))
}

/// Appends `text` as character data.
///
/// `>` is escaped so that `]]>` can't occur, and so that no program takes it for the end of a tag. Carriage returns are
/// escaped so that line-end normalisation preserves them.
///
/// # Errors
/// The byte offset of the first character that XML can't represent. The text before it has been appended.
#[inline]
pub fn push_text(out: &mut Vec<u8>, text: &str) -> Result<(), usize> {
    let end = crate::scan::end_of_unescaped(text.as_bytes());
    out.extend_from_slice(&text.as_bytes()[..end]);
    if end == text.len() { Ok(()) } else { push_rest(out, text, end, false) }
}

/// Appends `value` as the value of an attribute in double quotes.
///
/// White space other than a space is escaped, so that attribute-value normalisation preserves it.
///
/// # Errors
/// The byte offset of the first character that XML can't represent. The text before it has been appended.
pub fn push_attribute(out: &mut Vec<u8>, value: &str) -> Result<(), usize> {
    let end = crate::scan::end_of_unescaped(value.as_bytes());
    let plain = &value.as_bytes()[..end];
    // Most values have none of these, so a second scan is cheap.
    let end = plain.iter().position(|byte| matches!(byte, b'"' | b'\n' | b'\t')).unwrap_or(end);
    out.extend_from_slice(&plain[..end]);
    if end == value.len() { Ok(()) } else { push_rest(out, value, end, true) }
}

#[cold]
fn push_rest(out: &mut Vec<u8>, text: &str, from: usize, attribute: bool) -> Result<(), usize> {
    let mut copied = from;
    for (at, c) in text[from..].char_indices().map(|(at, c)| (from + at, c)) {
        let escape: &[u8] = match c {
            '<' => b"&lt;",
            '>' => b"&gt;",
            '&' => b"&amp;",
            '\r' => b"&#xD;",
            '"' if attribute => b"&quot;",
            '\n' if attribute => b"&#xA;",
            '\t' if attribute => b"&#x9;",
            _ if is_char(c) => continue,
            _ => {
                out.extend_from_slice(&text.as_bytes()[copied..at]);
                return Err(at);
            }
        };
        out.extend_from_slice(&text.as_bytes()[copied..at]);
        out.extend_from_slice(escape);
        copied = at + c.len_utf8();
    }
    out.extend_from_slice(&text.as_bytes()[copied..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Result<String, usize> {
        let mut out = Vec::new();
        push_text(&mut out, value).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn character_data_is_escaped() {
        for (value, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("a<b&c", "a&lt;b&amp;c"),
            ("]]>", "]]&gt;"),
            ("]] and ]", "]] and ]"),
            (
                "a long text that takes more than one step > and goes on",
                "a long text that takes more than one step &gt; and goes on",
            ),
            ("x\r\ny\tz", "x&#xD;\ny\tz"),
            ("\u{FFFD}é\u{10FFFF}", "\u{FFFD}é\u{10FFFF}"),
        ] {
            assert_eq!(text(value).as_deref(), Ok(expected), "{value:?}");
        }
    }

    #[test]
    fn characters_that_xml_lacks_are_errors() {
        for (value, place) in [("a\u{0}", 1), ("\u{FFFE}", 0), ("é<\u{1f}", 3), ("\u{FFFF}", 0)] {
            assert_eq!(text(value), Err(place), "{value:?}");
        }
    }

    #[test]
    fn attribute_values_keep_their_white_space() {
        let mut out = Vec::new();
        push_attribute(&mut out, "a\"b\n\t\r 'c'<").unwrap();
        assert_eq!(out, b"a&quot;b&#xA;&#x9;&#xD; 'c'&lt;");
    }

    #[test]
    fn references_are_read_strictly() {
        for (input, expected) in [("&lt;x", Ok(('<', 4))), ("&#65;", Ok(('A', 5))), ("&#x1F600;", Ok(('😀', 9)))] {
            assert_eq!(reference(input, 0, 1_000), expected);
        }
        let zeros = format!("&#{}65;", "0".repeat(1_000));
        let length = zeros.len() - 1;
        assert_eq!(reference(&zeros, 0, length), Ok(('A', zeros.len())));
        assert_eq!(reference(&zeros, 0, length - 1).map_err(|(kind, _)| kind), Err(ErrorKind::Limit));
        for input in
            ["&", "&;", "&#;", "&#x;", "&#+65;", "&#0;", "&#xFFFE;", "&#xD800;", "&nbsp;", "&lt", "&#99999999999;"]
        {
            assert!(reference(input, 0, 1_000).is_err(), "{input}");
        }
    }
}
