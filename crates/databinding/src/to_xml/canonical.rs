//! Is what was written in canonical form?

use castile_xml::c14n::is_canonical_content;

use super::Encoder;

impl Encoder {
    /// Sets whether it is noted what is in canonical form. Elements without content then have end tags, as that form has.
    #[doc(hidden)]
    pub fn noting_canonical(self, notes_canonical: bool) -> Self {
        Encoder { notes_canonical, ..self }
    }

    /// Begins an element whose content is in the form of Exclusive XML Canonicalization as long as it consists of tags without
    /// declarations, whose attributes are in order, and of text. All prefixes in it must be declared before, or in its start tag. Returns
    /// the length of the output.
    #[doc(hidden)]
    pub fn begin_canonical(&mut self) -> usize {
        self.is_canonical = self.notes_canonical;
        self.out.len()
    }

    /// Returns where the canonical content of the element is that was begun at `begins`, and that has the end tag `end`. `None` if
    /// something was written that may not be in that form or may have ids, or if that isn't noted. The content is checked, also whether it
    /// is well-formed, because programs write tags and values of their own.
    #[doc(hidden)]
    pub fn canonical(&self, begins: usize, end: &str) -> Option<std::ops::Range<usize>> {
        if !self.is_canonical || !self.out.ends_with(end.as_bytes()) {
            return None;
        }
        let range = begins + end_of_tag(self.out.get(begins..)?)?..self.out.len().checked_sub(end.len())?;
        let (before, content) = (self.out.get(..range.start)?, self.out.get(range.clone())?);
        is_canonical_content(before, content).then_some(range)
    }

    /// Ends a start tag, whose element has no content and the end tag `end`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[doc(hidden)]
    pub fn end_empty(&mut self, end: &str) {
        if self.notes_canonical {
            self.tag(">");
            self.tag(end);
        } else {
            self.tag("/>");
        }
    }
}

/// Returns the length of the start tag at the beginning of `element`. `None` if it is an empty-element tag.
fn end_of_tag(element: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, &byte) in element.iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'>') => return (!element[..at].ends_with(b"/")).then_some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::end_of_tag;

    #[test]
    fn start_tags_end_outside_of_values() {
        for (element, expected) in [
            ("<a>b</a>", Some("<a>")),
            ("<a b=\">\" c='\">'>b</a>", Some("<a b=\">\" c='\">'>")),
            ("<a b='/'>b</a>", Some("<a b='/'>")),
            ("<a/>", None),
            ("<a b=\">", None),
            ("", None),
        ] {
            assert_eq!(end_of_tag(element.as_bytes()), expected.map(str::len), "{element}");
        }
    }
}
