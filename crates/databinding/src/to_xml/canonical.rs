//! Is what was written in canonical form?

use memchr::memchr;

use super::Encoder;

/// What a `&` of a canonical text begins.
const REFERENCES: [&[u8]; 4] = [b"&lt;", b"&gt;", b"&amp;", b"&#xD;"];

impl Encoder {
    /// Sets whether it is noted what is in canonical form.
    #[doc(hidden)]
    pub fn noting_canonical(self, notes_canonical: bool) -> Self {
        Encoder { notes_canonical, ..self }
    }

    /// Begins text that is in the form of Exclusive XML Canonicalization as long as it consists of tags without attributes and of
    /// text. All prefixes in it must be declared before. Returns the length of the output.
    #[doc(hidden)]
    pub fn begin_canonical(&mut self) -> usize {
        self.is_canonical = self.notes_canonical;
        self.out.len()
    }

    /// Returns where canonical text ends that was begun before, after the first `start` bytes and with the last `end` bytes left out.
    /// `None` if something was written that may not be in that form, or if that isn't noted. The text is checked, because programs
    /// write tags and values of their own.
    #[doc(hidden)]
    pub fn canonical(&self, begins: usize, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
        let range = begins + start..self.out.len().checked_sub(end)?;
        (self.is_canonical && is_canonical(self.out.get(range.clone())?)).then_some(range)
    }
}

/// Whether this consists of tags without attributes, none of which is empty, and of text whose characters are written as in
/// canonical form.
fn is_canonical(mut content: &[u8]) -> bool {
    loop {
        let (text, rest) = content.split_at(memchr(b'<', content).unwrap_or(content.len()));
        if !is_canonical_text(text) {
            return false;
        }
        let Some(rest) = rest.strip_prefix(b"<") else { return true };
        let Some(end) = memchr(b'>', rest) else { return false };
        let name = rest[..end].strip_prefix(b"/").unwrap_or(&rest[..end]);
        // What begins an attribute, or isn't a tag with content.
        if name.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'!' | b'?' | b'=' | b'&')) {
            return false;
        }
        content = &rest[end + 1..];
    }
}

fn is_canonical_text(mut text: &[u8]) -> bool {
    while let Some(at) = text.iter().position(|byte| matches!(byte, b'&' | b'>' | b'\r')) {
        let Some(rest) = REFERENCES.iter().find_map(|reference| text[at..].strip_prefix(*reference)) else {
            return false;
        };
        text = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_canonical;

    #[test]
    fn tags_with_anything_else_are_not_canonical() {
        for canonical in ["", "a", "<a></a>", "<p:a>1 &lt; 2 &gt; &amp; &#xD;\n\t\"'</p:a>", "<a><b>ä</b></a>"] {
            assert!(is_canonical(canonical.as_bytes()), "{canonical}");
        }
        for other in [
            "<a/>",
            "<a ></a>",
            "<a></a >",
            "<a b='1'></a>",
            "<a\n></a>",
            "<!-- --><a></a>",
            "<?p?>",
            "<![CDATA[a]]>",
            "<a>&quot;</a>",
            "<a>&#13;</a>",
            "<a>></a>",
            "<a>\r</a>",
            "&",
            "&am",
            "<a",
            "<a xmlns=\"\"></a>",
        ] {
            assert!(!is_canonical(other.as_bytes()), "{other}");
        }
    }
}
