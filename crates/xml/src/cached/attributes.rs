//! Start tags with attributes, and empty-element tags.

use crate::QName;
use crate::namespaces::NamespaceId;
use crate::reader::{Open, RawAttribute};
use crate::scan;
use crate::token::StartTag;

use super::CachedReader;
use super::attribute_tags::{AttributeIndex, AttributeTag, TagAttribute};
use super::pattern::Pattern;
use super::slot_id::SlotId;
use super::successors::TagId;
use super::tags::Slot;

impl<'a> CachedReader<'a> {
    // ---- using the cache ----

    /// Consumes an attribute tag of `slot`, if one that is cached follows and nests no deeper than the limit. The values of its
    /// attributes may differ.
    #[inline]
    pub fn cached_tag(&mut self, slot: SlotId) -> Option<StartTag<'a>> {
        if !self.may_start() {
            return None;
        }
        let cached = self.cache.tags.slot(slot)?;
        let (id, number) = (cached.id, cached.attribute_tags);
        if number == 0 { None } else { self.cached_tag_of(TagId::start(slot), id, number) }
    }

    /// Consumes a whole element of `slot`, if it is a cached empty-element tag without attributes and an empty text is a value.
    /// Otherwise consumes nothing.
    pub fn cached_empty_leaf<T>(&mut self, slot: SlotId, value: impl FnOnce() -> Option<T>) -> Option<T> {
        if !self.may_start() {
            return None;
        }
        let end = match self.predicted_empty(slot) {
            Some((0, _)) => return None,
            Some((_, end)) => end,
            None => self.cached_empty_of(self.cache.tags.slot(slot)?)?.1,
        };
        if !self.reader.is_within_markup_length(self.reader.position(), end) {
            return None;
        }
        let value = value()?;
        self.reader.consume_element(end);
        self.consumed(TagId::end(slot));
        Some(value)
    }

    /// Consumes the start tag of `slot`, if it was [predicted](Self::predict) to be an empty-element tag without attributes.
    #[inline]
    pub fn predicted_empty_start(&mut self, slot: SlotId) -> bool {
        match self.predicted_empty(slot) {
            None | Some((0, _)) => false,
            Some((number, end)) => self.empty_start(slot, number, end),
        }
    }

    /// Consumes the empty-element tag of this number, which ends at `end`.
    fn empty_start(&mut self, slot: SlotId, number: u16, end: usize) -> bool {
        let at = self.reader.position();
        if self.may_start()
            && self.reader.is_within_markup_length(at, end)
            && let Some(cached) = self.cache.tags.slot(slot)
            && let Some((tag, _)) = self.cache.tags.attribute_tag(cached.id, number)
        {
            self.reader.consume_empty_start(tag.opens(at, cached.id), end);
            self.consumed(TagId::start(slot));
            self.predict_end_of_empty();
            return true;
        }
        false
    }

    /// Returns the number of the cached empty-element tag without attributes that follows, and where it ends.
    pub(super) fn cached_empty_of(&self, slot: &Slot) -> Option<(u16, usize)> {
        let mut number = slot.attribute_tags;
        loop {
            let (tag, next) = self.cache.tags.attribute_tag(slot.id, number)?;
            if tag.is_empty
                && tag.attributes.is_empty()
                && let Some(end) = tag.first.end_of_match(self.reader.bytes(), self.reader.position())
            {
                return Some((number, end));
            }
            number = next;
        }
    }

    /// Consumes the attribute tag that follows, if it is in the list of the slot `id`, from this number on.
    pub(super) fn cached_tag_of(&mut self, cached: TagId, id: u64, mut number: u16) -> Option<StartTag<'a>> {
        let (bytes, at) = (self.reader.bytes(), self.reader.position());
        let (tag, end) = loop {
            let (tag, next) = self.cache.tags.attribute_tag(id, number)?;
            if let Some(end) = end_of_tag(tag, bytes, at, &mut self.cache.spare) {
                break (tag, end);
            }
            number = next;
        };
        let open = tag.opens(at, id);
        let (is_empty, namespace) = (tag.is_empty, tag.namespace);
        self.reader.consume_start_with(open, end, is_empty, &mut self.cache.spare)?;
        self.consumed(cached);
        self.attribute_tag = (end, id, number);
        let name = QName::new(&self.reader.text_being_read()[open.name_at()..][..open.name_length()], open.local());
        Some(StartTag { name, namespace, offset: open.name_at() - '<'.len_utf8() })
    }

    /// Returns the cached index of the attributes of the start tag that was read last, for the table of this address.
    #[inline]
    pub fn attribute_index(&self, table: usize) -> Option<&AttributeIndex> {
        let (end, id, number) = self.attribute_tag;
        if end != self.reader.position() {
            return None;
        }
        self.cache.tags.attribute_tag(id, number)?.0.index(table)
    }

    // ---- filling it ----

    /// Caches an index of the attributes of the start tag that was read last, if that tag is cached.
    pub fn cache_attribute_index(&mut self, index: AttributeIndex) {
        let (end, id, number) = self.attribute_tag;
        if end == self.reader.position()
            && self.cache.used.attribute_indexes
            && let Some(tag) = self.cache.tags.attribute_tag_mut(id, number)
        {
            tag.cache_index(index);
        }
    }

    /// Caches the start tag that was read last, which has attributes or is an empty-element tag.
    pub(super) fn cache_attribute_tag(&mut self, slot: SlotId) {
        if !self.cache.used.attribute_tags || !self.is_in_scope() || !self.reader.is_after_tag() {
            return;
        }
        let Some(open) = self.reader.innermost() else { return };
        let begin = self.reader.begin_of_white_space(open.name_at() - 1);
        let is_declaring = self.reader.raw_attributes().iter().any(RawAttribute::declares);
        if is_declaring || !self.is_valid_outside(&self.reader.bytes()[begin..self.reader.position()]) {
            return;
        }
        if let Some(tag) = self.attribute_tag_to_cache(open, begin) {
            let id = self.cache.tags.cache_attribute_tag(slot, tag);
            self.reader.innermost_is_of(id);
            if id != 0 {
                self.consumed(TagId::start(slot));
            }
        }
    }

    /// Returns the start tag that was read last, with the white space from `begin` on. Returns `None` if a part of it is too long to
    /// be cached.
    fn attribute_tag_to_cache(&self, open: Open, begin: usize) -> Option<AttributeTag> {
        let (bytes, end) = (self.reader.bytes(), self.reader.position());
        // The part before the first value, and where the part after the last one begins.
        let mut first = None;
        let mut part = begin;
        let mut attributes: Vec<TagAttribute> = Vec::with_capacity(self.reader.raw_attributes().len());
        for raw in self.reader.raw_attributes() {
            let value = self.reader.begin_of_value(raw)?;
            let quote = bytes[value - 1];
            let pattern = Pattern::new(&bytes[part..value])?;
            match attributes.last_mut() {
                None => first = Some(pattern),
                Some(before) => before.after = pattern,
            }
            attributes.push(TagAttribute {
                before: (value - raw.name_at()).try_into().ok()?,
                name_length: raw.name_length().try_into().ok()?,
                local: raw.local().try_into().ok()?,
                quote,
                fingerprint: raw.fingerprint(),
                namespace: raw.qualified_namespace(),
                after: Pattern::default(),
            });
            part = value + bytes[value..end].iter().position(|&byte| byte == quote)?;
        }
        let pattern = Pattern::new(&bytes[part..end])?;
        let first = match attributes.last_mut() {
            None => pattern,
            Some(last) => {
                last.after = pattern;
                first?
            }
        };
        let (name_at, length, local) = (open.name_at(), open.name_length(), open.local());
        let place = ((name_at - begin) as u8, length.try_into().ok()?, local.try_into().ok()?);
        let name = QName::new(&self.reader.text_being_read()[name_at..name_at + length], local);
        let namespace = self.reader.namespaces_in_scope().resolve(name.prefix())?;
        Some(AttributeTag::new(place, self.reader.end_is_due(), namespace, first, attributes.into()))
    }
}

impl AttributeTag {
    /// Returns the element that this tag opens if it is at `at`. `id` is the id of its slot.
    #[inline]
    fn opens(&self, at: usize, id: u64) -> Open {
        Open::new(at + usize::from(self.name_at), self.name_length.into(), self.local.into(), id)
    }
}

/// Returns where a tag at `at` ends, if it is like `tag`. Its attributes are then in `attributes`, and those whose values have to be
/// normalised are marked.
#[inline]
fn end_of_tag(tag: &AttributeTag, bytes: &[u8], at: usize, attributes: &mut Vec<RawAttribute>) -> Option<usize> {
    attributes.clear();
    let mut at = tag.first.end_of_match(bytes, at)?;
    for attribute in &tag.attributes {
        let mut end = scan::end_of_attribute_part(bytes, at, attribute.quote);
        let mut is_normal = true;
        if bytes.get(end) != Some(&attribute.quote) {
            end += bytes.get(end..)?.iter().position(|&byte| byte == attribute.quote)?;
            is_normal = false;
        }
        let name = (at - usize::from(attribute.before), attribute.name_length.into(), attribute.local.into());
        let namespace: Option<NamespaceId> = attribute.namespace;
        attributes.push(RawAttribute::recognised(name, attribute.fingerprint, namespace, (at, end), is_normal));
        at = attribute.after.end_of_match(bytes, end)?;
    }
    Some(at)
}
