//! Consecutive elements that consist only of a reference.

use crate::Reader;

use super::tag_scan::{find, is_plain};

/// The longest reference that is recognised, in bytes.
const MAX_REFERENCE_LENGTH: usize = 64;

/// An element that is only a reference, as a template for the next ones. Only the target may differ.
#[derive(Debug)]
pub struct RepeatedReference<'a> {
    /// The bytes before the target, with the white space before the element, and the bytes after it.
    before: &'a [u8],
    after: &'a [u8],
    /// Where the element and the attribute begin in these bytes.
    element: usize,
    attribute: usize,
}

/// An element that matches a [`RepeatedReference`].
#[derive(Debug)]
pub struct FoundReference<'a> {
    /// The target: `#` and an id.
    pub to: &'a str,
    /// The offset of the element.
    pub element: usize,
    /// The offset of its attribute.
    pub attribute: usize,
}

impl<'a> Reader<'a> {
    /// Returns the element that was read last as a template. It begins at `begin`, with the white space before it;
    /// `element` and `attribute` are the offsets of the element and its attribute, and `to` is the target. Returns
    /// `None` if the element has more than that, or if a limit could be exceeded.
    #[doc(hidden)]
    pub fn repeated_reference(
        &self,
        begin: usize,
        (element, attribute): (usize, usize),
        to: &str,
    ) -> Option<RepeatedReference<'a>> {
        let (text, end, limits) = (self.input(), self.offset(), self.limits());
        let all = text.get(begin..end)?;
        // The tokeniser must measure longer elements, and documents in which a text may exceed its limit.
        let is_within = all.len() + MAX_REFERENCE_LENGTH < limits.markup_length && text.len() <= limits.text_length;
        // An array item with a position is followed by one with another position.
        let is_first = text.get(begin..element)?.trim_ascii().is_empty();
        if !is_within || !is_first || !to.starts_with('#') || !is_plain(to) || all.contains("position") {
            return None;
        }
        let value = attribute + text.get(attribute..end)?.find(to)?;
        let before = text.get(begin..value)?.as_bytes();
        let after = text.get(value + to.len()..end)?.as_bytes();
        // The reference is the whole value of the attribute.
        let is_whole = before.last() == after.first();
        is_whole.then_some(RepeatedReference { before, after, element: element - begin, attribute: attribute - begin })
    }

    /// Consumes the next element, if it matches the template.
    #[doc(hidden)]
    pub fn next_reference(&mut self, template: &RepeatedReference<'a>) -> Option<FoundReference<'a>> {
        let (text, begin) = (self.input(), self.offset());
        let bytes = text.as_bytes();
        let start = begin + template.before.len();
        if bytes.get(begin..start)? != template.before {
            return None;
        }
        let end = find(bytes, start, *template.before.last()?)?;
        let to = text
            .get(start..end)
            .filter(|to| to.len() <= MAX_REFERENCE_LENGTH && to.starts_with('#') && is_plain(to))?;
        let after = end + template.after.len();
        if bytes.get(end..after)? != template.after {
            return None;
        }
        self.seek(after);
        Some(FoundReference { to, element: begin + template.element, attribute: begin + template.attribute })
    }
}
