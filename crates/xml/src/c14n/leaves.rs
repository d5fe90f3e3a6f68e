//! Recognises elements that have only text, by the bytes of their tags.
//!
//! Under the same declarations, equal bytes are equal tags. So what the reader has read and checked once need not be tokenised again.

use memchr::memchr2;

use crate::{Reader, scan};

use super::written::text_escape;

/// How many different elements are remembered.
const TAGS: usize = 8;
/// Up to this length, a text is searched byte by byte.
const SHORT: usize = 32;

/// The start tags of elements that had only text, in the order in which they occurred first. All were read under the declarations that
/// are still in scope.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    tags: [Tag; TAGS],
    count: usize,
    /// The number of the tag that is likely to be next.
    next: usize,
}

/// A start tag without attributes, from `<` to `>`.
#[derive(Clone, Copy, Debug, Default)]
struct Tag {
    at: usize,
    length: usize,
}

impl Leaves {
    /// Remembers an element without children, by the place of its start tag.
    pub(super) fn add(&mut self, reader: &Reader<'_>, at: usize, length: usize) {
        if self.count < TAGS && self.number_of(reader, at).is_none() {
            self.tags[self.count] = Tag { at, length };
            self.count += 1;
        }
    }

    /// Returns the number of the start tag at this place, if it is known.
    fn number_of(&self, reader: &Reader<'_>, at: usize) -> Option<usize> {
        let is_it = |tag: &Tag| scan::is_same(reader.bytes(), tag.at, at, tag.length);
        let known = &self.tags[..self.count];
        match known.get(self.next) {
            Some(tag) if is_it(tag) => Some(self.next),
            _ => known.iter().position(is_it),
        }
    }

    /// Has the reader consume the element that follows, if its tags are known, and if it has only text that is canonical as it is
    /// written and that can't be the name of anything. Returns whether it did.
    pub(super) fn consume(&mut self, reader: &mut Reader<'_>) -> bool {
        let (bytes, at) = (reader.bytes(), reader.position());
        // An end tag is none of them.
        if self.count == 0 || bytes.get(at + 1) == Some(&b'/') || reader.end_is_due() {
            return false;
        }
        let Some(number) = self.number_of(reader, at) else { return false };
        let Tag { length, .. } = self.tags[number];
        let begins = at + length;
        let Some(end) = end_of_text(bytes, begins) else { return false };
        let is_end_tag = bytes.get(end + 1) == Some(&b'/') && scan::is_same(bytes, at + 1, end + 2, length - 1);
        let limits = reader.limits();
        if !is_end_tag || end - begins > limits.text_length || reader.depth() >= limits.depth {
            return false;
        }
        reader.consume_to(end + 1 + length);
        self.next = if number + 1 == self.count { 0 } else { number + 1 };
        true
    }
}

/// Returns the end of a text that is canonical as it is written and has no colon. A tag follows.
fn end_of_text(bytes: &[u8], begins: usize) -> Option<usize> {
    let mut end = begins;
    loop {
        end = scan::end_of_character_data(bytes, end);
        match bytes.get(end)? {
            b'<' => break,
            b'&' => end += text_escape(&bytes[end..])?,
            _ => return None,
        }
    }
    let text = &bytes[begins..end];
    let is_found = match text.len() {
        ..=SHORT => text.iter().any(|byte| matches!(byte, b'>' | b':')),
        _ => memchr2(b'>', b':', text).is_some(),
    };
    (!is_found).then_some(end)
}
