//! Tags without attributes, and elements without children.

use crate::QName;
use crate::reader::Open;
use crate::scan;

use super::CachedReader;
use super::pattern::Pattern;
use super::slot_id::SlotId;
use super::successors::TagId;
use super::tags::Slot;

impl Slot {
    /// Returns the element that its start tag without attributes opens if that is at `at`.
    #[inline]
    fn opens(&self, at: usize) -> Open {
        Open::new(at + usize::from(self.name_at), self.name_length.into(), self.local.into(), self.id)
    }
}

impl<'a> CachedReader<'a> {
    // ---- filling the cache ----

    /// Caches the start tag that was read last as one of `slot`, unless it has declarations.
    pub fn cache_start(&mut self, slot: SlotId) {
        if self.reader.end_is_due() || !self.reader.is_plain() {
            return self.cache_attribute_tag(slot);
        }
        self.cache_start_as_plain(slot);
    }

    /// Caches the start tag that was read last as one without attributes. It must have no declarations. The caller has checked that
    /// its attributes express only what is true of all elements of `slot`.
    pub fn cache_start_as_plain(&mut self, slot: SlotId) {
        if !self.tags_are_valid() || !self.reader.is_after_tag() {
            return;
        }
        let Some(open) = self.reader.innermost() else { return };
        let name_at = open.name_at();
        let begin = self.reader.begin_of_white_space(name_at - 1);
        let bytes = &self.reader.bytes()[begin..self.reader.position()];
        if self.is_cached(slot, bytes) {
            self.reader.innermost_is_of(self.cache.tags.slot(slot).map_or(0, |slot| slot.id));
            return self.consumed(TagId::start(slot));
        }
        if !self.is_valid_outside(bytes) {
            return;
        }
        let (length, local) = (open.name_length(), open.local());
        let name = QName::new(&self.reader.text_being_read()[name_at..name_at + length], local);
        let Some(namespace) = self.reader.namespaces_in_scope().resolve(name.prefix()) else { return };
        let id = self.cache.tags.cache_start(slot, bytes, (name_at - begin, length, local), namespace);
        self.reader.innermost_is_of(id);
        if id != 0 {
            self.consumed(TagId::start(slot));
        }
    }

    /// Whether these bytes are the start tag of a slot.
    fn is_cached(&self, slot: SlotId, bytes: &[u8]) -> bool {
        let start = self.cache.tags.slot(slot).map(|slot| &slot.start);
        start.is_some_and(|start| Pattern::new(bytes).as_ref() == Some(start))
    }

    /// Caches the end tag that was read last as one of `slot`. With `is_after_text`, character data that is not a part of the tag
    /// precedes it.
    pub fn cache_end(&mut self, slot: SlotId, is_after_text: bool) {
        if !self.tags_are_valid() || !self.reader.is_after_tag() {
            return;
        }
        // The end of an empty-element tag has no bytes.
        let last = self.last_tag();
        if last == TagId::start(slot) || last == TagId::end(slot) {
            return self.consumed(TagId::end(slot));
        }
        if self.is_after_cached_end(slot, is_after_text) {
            return self.consumed(TagId::end(slot));
        }
        let before = &self.reader.bytes()[..self.reader.position()];
        let Some(tag) = before.iter().rposition(|&byte| byte == b'<') else { return };
        let name = before[tag..].strip_prefix(b"</").unwrap_or_default();
        let length = name.iter().position(|byte| b" \t\r\n>".contains(byte)).unwrap_or_default();
        if self.cache.tags.id_of(slot, &name[..length]) == 0 {
            return;
        }
        self.consumed(TagId::end(slot));
        let begin = if is_after_text { tag } else { self.reader.begin_of_white_space(tag) };
        self.cache.tags.cache_end(slot, &self.reader.bytes()[begin..self.reader.position()]);
    }

    /// Whether the end tag that was read last is the cached one of `slot`, with all white space before it. White space after text is
    /// a part of the text.
    fn is_after_cached_end(&self, slot: SlotId, is_after_text: bool) -> bool {
        let Some(cached) = self.cache.tags.slot(slot) else { return false };
        let (bytes, end) = (self.reader.bytes(), self.reader.position());
        end.checked_sub(cached.end.length.into()).is_some_and(|begin| {
            cached.end.end_of_match(bytes, begin).is_some()
                && if is_after_text { bytes[begin] == b'<' } else { self.reader.begin_of_white_space(begin) == begin }
        })
    }

    // ---- using it ----

    /// Whether the cached start tag of `slot` follows. Consumes nothing.
    #[inline]
    pub fn is_at_cached_start(&self, slot: SlotId) -> bool {
        self.tags_are_valid() && self.end_of_start(slot).is_some()
    }

    /// Whether the cached end tag of `slot` follows. Consumes nothing.
    #[inline]
    pub fn is_at_cached_end(&self, slot: SlotId) -> bool {
        self.tags_are_valid() && self.end_of_end(slot, self.reader.position()).is_some()
    }

    /// Returns where the cached start tag of `slot` ends, if it follows.
    #[inline]
    fn end_of_start(&self, slot: SlotId) -> Option<usize> {
        self.cache.tags.slot(slot)?.start.end_of_match(self.reader.bytes(), self.reader.position())
    }

    /// Returns where the cached end tag of `slot` ends, if it is at `at`.
    #[inline]
    fn end_of_end(&self, slot: SlotId, at: usize) -> Option<usize> {
        self.cache.tags.slot(slot)?.end.end_of_match(self.reader.bytes(), at)
    }

    /// Consumes the cached start tag of `slot`, if it follows and nests no deeper than the limit.
    #[inline]
    pub fn cached_start(&mut self, slot: SlotId) -> bool {
        if !self.may_start() {
            return false;
        }
        let Some(cached) = self.cache.tags.slot(slot) else { return false };
        let at = self.reader.position();
        let Some(end) = cached.start.end_of_match(self.reader.bytes(), at) else { return false };
        self.reader.consume_start(cached.opens(at), end);
        self.consumed(TagId::start(slot));
        true
    }

    /// Consumes the cached end tag of `slot`, if it follows and closes the element that is open.
    #[inline]
    pub fn cached_end(&mut self, slot: SlotId) -> bool {
        if !self.tags_are_valid() {
            return false;
        }
        let Some(cached) = self.cache.tags.slot(slot) else { return false };
        let Some(end) = cached.end.end_of_match(self.reader.bytes(), self.reader.position()) else { return false };
        // Cached tags hold, so the element has declared nothing that has to be dropped.
        if self.reader.innermost().is_none_or(|open| open.tag_id() != cached.id) {
            return false;
        }
        self.reader.consume_end(end);
        self.consumed(TagId::end(slot));
        true
    }

    /// Consumes a whole element of `slot` that has no children, if both its tags are cached and its text is a value. Otherwise
    /// consumes nothing.
    ///
    /// `value` gets the document and the offset of the text. It returns the value and the offset of the end tag, and must have
    /// checked every character in between. If it returns `None`, `resolved` gets the text with its references resolved.
    #[inline]
    pub fn cached_leaf<T>(
        &mut self,
        slot: SlotId,
        value: impl FnOnce(&'a str, usize) -> Option<(T, usize)>,
        resolved: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if !self.may_start() {
            return None;
        }
        let cached = self.cache.tags.slot(slot)?;
        let bytes = self.reader.bytes();
        let start = cached.start.end_of_match(bytes, self.reader.position())?;
        let Some((value, end)) = value(self.reader.text_being_read(), start) else {
            return self.cached_leaf_with_references(slot, start, resolved);
        };
        let end = cached.end.end_of_match(bytes, end)?;
        self.reader.consume_element(end);
        self.consumed(TagId::end(slot));
        Some(value)
    }

    /// Consumes an element whose start tag is cached, and whose text begins at `start` and may have references.
    #[inline(never)]
    fn cached_leaf_with_references<T>(
        &mut self,
        slot: SlotId,
        start: usize,
        value: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let tag = self.reader.resolve_text(start)?;
        let end = self.end_of_end(slot, tag)?;
        let value = value(self.reader.resolved_text())?;
        self.reader.consume_element(end);
        self.consumed(TagId::end(slot));
        Some(value)
    }

    /// Returns the text of an element of `slot` that has no children, if both its tags are cached and the text has no references.
    /// Consumes nothing: [`consume_text`](Self::consume_text) does that.
    pub fn cached_text(&self, slot: SlotId) -> Option<CachedText<'a>> {
        if !self.may_start() {
            return None;
        }
        let start = self.end_of_start(slot)?;
        let tag = scan::end_of_character_data(self.reader.bytes(), start);
        let end = self.end_of_end(slot, tag)?;
        Some(CachedText { text: &self.reader.text_being_read()[start..tag], end, tag: TagId::end(slot) })
    }

    /// Consumes the element that [`cached_text`](Self::cached_text) has just found.
    pub fn consume_text(&mut self, found: CachedText<'a>) {
        self.reader.consume_element(found.end);
        self.consumed(found.tag);
    }
}

/// The text of an element whose tags are cached. The element is not consumed yet.
#[derive(Clone, Copy, Debug)]
pub struct CachedText<'a> {
    /// The text.
    pub text: &'a str,
    /// Where the element ends.
    end: usize,
    tag: TagId,
}
