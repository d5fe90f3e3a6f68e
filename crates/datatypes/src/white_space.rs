use std::borrow::Cow;

/// The treatment of white space before a value is read (XSD Part 2 §4.3.6), from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhiteSpace {
    /// White space is retained.
    Preserve,
    /// Each tab and line end is replaced by a space.
    Replace,
    /// As `Replace`; then runs of spaces become one space, and spaces at both ends are removed.
    Collapse,
}

impl WhiteSpace {
    /// Returns the text with its white space normalised. Text that needs no change is not copied.
    pub fn normalise(self, text: &str) -> Cow<'_, str> {
        match self {
            WhiteSpace::Preserve => Cow::Borrowed(text),
            WhiteSpace::Replace if text.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) => {
                Cow::Owned(text.replace(['\t', '\n', '\r'], " "))
            }
            WhiteSpace::Replace => Cow::Borrowed(text),
            WhiteSpace::Collapse => {
                let text = collapse(text);
                let is_in_order = |pair: &[u8]| pair != b"  ";
                if text.bytes().all(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'))
                    && text.as_bytes().windows(2).all(is_in_order)
                {
                    return Cow::Borrowed(text);
                }
                let mut collapsed = String::with_capacity(text.len());
                for word in words(text) {
                    if !collapsed.is_empty() {
                        collapsed.push(' ');
                    }
                    collapsed.push_str(word);
                }
                Cow::Owned(collapsed)
            }
        }
    }
}

/// Removes white space at both ends, as all types except the string types require (XSD Part 2 §4.3.6).
pub(super) fn collapse(text: &str) -> &str {
    // Few texts begin or end with white space. Searching for it character by character costs more than parsing most values.
    if let [first, .., last] | [first @ last] = text.as_bytes()
        && *first > b' '
        && *last > b' '
    {
        return text;
    }
    text.trim_matches([' ', '\t', '\n', '\r'])
}

/// Splits a text at white space.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    // All white space is ASCII, so bytes suffice, and no characters need to be decoded.
    let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.bytes().position(|byte| !is_white(&byte))?;
        let length = rest[start..].bytes().position(|byte| is_white(&byte)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        rest = &rest[start + length..];
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_preserved_replaced_or_collapsed() {
        for (text, replaced, collapsed) in [
            ("", "", ""),
            (" \t\n\r", "    ", ""),
            ("a b", "a b", "a b"),
            (" a\n\nb\tc  d ", " a  b c  d ", "a b c d"),
            // Only the white space of XML counts.
            ("\u{A0}a\u{2003}\u{2003}b\u{B}", "\u{A0}a\u{2003}\u{2003}b\u{B}", "\u{A0}a\u{2003}\u{2003}b\u{B}"),
        ] {
            assert_eq!(WhiteSpace::Preserve.normalise(text), text);
            assert_eq!(WhiteSpace::Replace.normalise(text), replaced, "{text:?}");
            assert_eq!(WhiteSpace::Collapse.normalise(text), collapsed, "{text:?}");
        }
    }
}
