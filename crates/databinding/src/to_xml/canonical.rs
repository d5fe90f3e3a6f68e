//! Is what was written in canonical form?

use castile_xml::c14n::is_canonical_content;

use super::Encoder;

impl Encoder {
    /// Sets whether it is noted what is in canonical form. Elements without content then have end tags, as that form has.
    #[doc(hidden)]
    pub fn noting_canonical(self, notes_canonical: bool) -> Self {
        Encoder { notes_canonical, ..self }
    }

    /// Begins text that is in the form of Exclusive XML Canonicalization as long as it consists of tags without declarations, whose
    /// attributes are in order, and of text. All prefixes in it must be declared before. Returns the length of the output.
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
        (self.is_canonical && is_canonical_content(self.out.get(range.clone())?)).then_some(range)
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
