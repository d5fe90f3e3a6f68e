//! Names (XML 1.0 §2.3) and qualified names (Namespaces in XML 1.0 §4).

/// A qualified name as it is written: an optional prefix and a local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QName<'a> {
    text: &'a str,
    /// Where the local name begins: 0, or one past the colon.
    local: u32,
}

impl<'a> QName<'a> {
    #[inline]
    pub(crate) fn new(text: &'a str, local: usize) -> Self {
        QName { text, local: local as u32 }
    }

    /// Returns the offset of the local name, in bytes.
    pub(crate) fn local_at(self) -> u32 {
        self.local
    }

    /// Returns prefix, colon and local name, as written.
    #[inline]
    pub fn as_str(self) -> &'a str {
        self.text
    }

    /// Returns the prefix, empty if there is none.
    #[inline]
    pub fn prefix(self) -> &'a str {
        &self.text[..(self.local as usize).saturating_sub(1)]
    }

    /// Returns the local name.
    #[inline]
    pub fn local(self) -> &'a str {
        &self.text[self.local as usize..]
    }
}

/// Whether a name may begin with `c` (XML 1.0 fifth edition, production 4). The colon is excluded.
pub fn is_name_start_char(c: char) -> bool {
    matches!(c, 'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

/// Whether `c` may follow the first character of a name (production 4a). The colon is excluded.
pub fn is_name_char(c: char) -> bool {
    is_name_start_char(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Flag of ASCII characters that may follow in a name.
const CHAR: u8 = 1;
/// Flag of ASCII characters that may begin a name.
const START: u8 = 2;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => CHAR | START,
            b'0'..=b'9' | b'-' | b'.' => CHAR,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Returns the end of the name without colons (NCName) that begins at `at`, or `at` if there is none.
pub(crate) fn end_of_ncname(input: &str, at: usize) -> usize {
    let bytes = input.as_bytes();
    let Some(&first) = bytes.get(at) else { return at };
    if first < 0x80 && CLASSES[usize::from(first)] & START == 0 {
        return at;
    }
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        if CLASSES[usize::from(byte)] & CHAR != 0 {
            end += 1;
        } else if byte < 0x80 {
            break;
        } else {
            let Some(c) = input.get(end..).and_then(|rest| rest.chars().next()) else { break };
            let fits = if end == at { is_name_start_char(c) } else { is_name_char(c) };
            if !fits {
                break;
            }
            end += c.len_utf8();
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_they_should() {
        for (input, expected) in [
            ("abc>", "abc"),
            ("a-b.c2 x", "a-b.c2"),
            ("1a", ""),
            ("-a", ""),
            ("", ""),
            ("é\u{300}=", "é\u{300}"),
            ("\u{300}a", ""),
            ("a×", "a"),
            ("_:x", "_"),
        ] {
            assert_eq!(&input[..end_of_ncname(input, 0)], expected, "{input:?}");
        }
    }
}
