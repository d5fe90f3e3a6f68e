//! Text from untrusted sources in places where people read it: terminals and reports.

use std::borrow::Cow;

/// Returns the text on one line. A character that is invisible, or could change how other characters look, is written
/// as an escape: `\n`, `\u{1b}`, `\u{202e}`.
///
/// These are control characters, line and paragraph separators, and marks that change the direction of writing
/// ([`changes_direction`]). All other characters stay as they are.
///
/// ```
/// assert_eq!(castile_xml::visible("a\u{1b}[2J\nb\u{202e}"), r"a\u{1b}[2J\nb\u{202e}");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Returns the text with the escapes of [`visible`], except for line feeds and tabs, which stay.
///
/// ```
/// assert_eq!(castile_xml::visible_lines("a\n\tb\r\n"), "a\n\tb\\r\n");
/// ```
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// Returns the beginning of a text on one line, with the escapes of [`visible`]. It has at most `most` bytes of the
/// text, and the number of bytes that were left out. It is for messages that quote untrusted text.
///
/// ```
/// assert_eq!(castile_xml::excerpt("a\nb", 10), r"a\nb");
/// assert_eq!(castile_xml::excerpt("abcdefgh", 5), "abcde… (3 more bytes)");
/// ```
#[must_use]
pub fn excerpt(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    let (shown, rest) = text.split_at(end);
    match rest.len() {
        0 => visible(shown).into_owned(),
        more => format!("{}… ({more} more bytes)", visible(shown)),
    }
}

/// Whether `c` is a mark that changes the direction of writing. The text after it may look different from what it is.
#[must_use]
pub fn changes_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || changes_direction(c)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |c: char| is_invisible(c) && !stays(c);
    let Some(first) = text.find(is_escaped) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            '\n' | '\r' | '\t' if is_escaped(c) => out.extend(c.escape_default()),
            c if is_escaped(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_end_between_characters() {
        assert_eq!(excerpt("éx", 1), "… (3 more bytes)");
        assert_eq!(excerpt("éx", 2), "é… (1 more bytes)");
        assert_eq!(excerpt("éx", 3), "éx");
    }

    #[test]
    fn control_characters_are_escaped() {
        for (text, line, lines) in [
            ("plain, é and 日本 \u{200d}", "plain, é and 日本 \u{200d}", "plain, é and 日本 \u{200d}"),
            ("\u{1b}]0;x\u{7}", "\\u{1b}]0;x\\u{7}", "\\u{1b}]0;x\\u{7}"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("a\r\n\tb", "a\\r\\n\\tb", "a\\r\n\tb"),
            ("a\u{202e}b\u{2066}\u{61c}", "a\\u{202e}b\\u{2066}\\u{61c}", "a\\u{202e}b\\u{2066}\\u{61c}"),
            ("\u{2028}", "\\u{2028}", "\\u{2028}"),
            ("", "", ""),
        ] {
            assert_eq!((&*visible(text), &*visible_lines(text)), (line, lines));
        }
    }
}
