use std::borrow::Cow;

/// What happens to white space before a value is read (XSD Part 2 §4.3.6), from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhiteSpace {
    /// It stays.
    Preserve,
    /// Each tab and line end becomes a blank.
    Replace,
    /// And runs of blanks become one, those at the ends go.
    Collapse,
}

impl WhiteSpace {
    /// The text as its type sees it. Text that is in order already is not copied.
    pub fn normalise(self, text: &str) -> Cow<'_, str> {
        match self {
            WhiteSpace::Preserve => Cow::Borrowed(text),
            WhiteSpace::Replace if text.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) => {
                Cow::Owned(text.replace(['\t', '\n', '\r'], " "))
            }
            WhiteSpace::Replace => Cow::Borrowed(text),
            WhiteSpace::Collapse => {
                let text = super::collapse(text);
                let is_in_order = |pair: &[u8]| pair != b"  ";
                if text.bytes().all(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'))
                    && text.as_bytes().windows(2).all(is_in_order)
                {
                    return Cow::Borrowed(text);
                }
                let mut collapsed = String::with_capacity(text.len());
                for word in super::words(text) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_kept_replaced_or_collapsed() {
        for (text, replaced, collapsed) in [
            ("", "", ""),
            (" \t\n\r", "    ", ""),
            ("a b", "a b", "a b"),
            (" a\n\nb\tc  d ", " a  b c  d ", "a b c d"),
            // Only XML's own white space counts.
            ("\u{A0}a\u{2003}\u{2003}b\u{B}", "\u{A0}a\u{2003}\u{2003}b\u{B}", "\u{A0}a\u{2003}\u{2003}b\u{B}"),
        ] {
            assert_eq!(WhiteSpace::Preserve.normalise(text), text);
            assert_eq!(WhiteSpace::Replace.normalise(text), replaced, "{text:?}");
            assert_eq!(WhiteSpace::Collapse.normalise(text), collapsed, "{text:?}");
        }
    }
}
