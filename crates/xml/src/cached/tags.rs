//! Tags that were read before, by the element declaration that they are of.

use crate::namespaces::NamespaceId;

use super::attribute_tags::{AttributeTag, AttributeTags};
use super::pattern::Pattern;
use super::slot_id::SlotId;
use super::successors::{Successors, TagId};

/// Returns a hash of a local name. It is never 0.
pub const fn name_hash(name: &str) -> u32 {
    let (bytes, mut hash, mut at) = (name.as_bytes(), 0x811C_9DC5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash | 1
}

/// How many slots a set of tags has at most, of 176 bytes each.
const MAX_SLOTS: usize = SlotId::COUNT as usize;
/// How many slots are allocated with the first one.
const INITIAL_SLOTS: usize = 64;
/// How many sets of tags are cached, one for each kind of sender, and how many slots all but the current one have together.
const MAX_SETS: usize = 8;
const MAX_OTHER_SLOTS: usize = 2 * MAX_SLOTS;
/// The longest text of declarations that tags are cached for, in bytes.
const MAX_DECLARATIONS_LENGTH: usize = 4 << 10;

/// Cached tags: a set for each set of namespace declarations that payloads came with.
#[derive(Debug, Default)]
pub(super) struct Tags {
    current: Set,
    /// The other sets, the most recently used one last.
    others: Vec<Set>,
    /// Distinguishes the name in each slot from every other, also from a former one in the same slot.
    last_id: u64,
}

#[derive(Debug, Default)]
struct Set {
    /// The namespace declarations that the tags are for.
    declarations: String,
    slots: Vec<Slot>,
    attribute_tags: AttributeTags,
}

/// The tags of an element declaration. All have the same name, prefix included.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    owner: usize,
    /// Distinguishes the name of its tags from all others, also from a former one in the same slot. 0 is none.
    pub(super) id: u64,
    /// The start tag without attributes.
    pub(super) start: Pattern,
    pub(super) end: Pattern,
    /// The number of its first attribute tag.
    pub(super) attribute_tags: u16,
    /// Whether one of these is an empty-element tag without attributes.
    pub(super) may_be_empty: bool,
    /// Where its name is in the start tag.
    pub(super) name_at: u8,
    pub(super) name_length: u8,
    pub(super) local: u8,
    /// The [hash](name_hash) of its local name.
    pub(super) hash: u32,
    pub(super) namespace: NamespaceId,
    /// What followed its start tags, and its end tags.
    successors: [Successors; 2],
}

impl Slot {
    /// The declaration that the tags are of.
    #[inline]
    pub(super) fn owner(&self) -> usize {
        self.owner
    }
}

impl Tags {
    /// Selects the set for payloads under these declarations. Returns `false` if they are too long.
    pub(super) fn select(&mut self, declarations: &str) -> bool {
        if declarations.len() > MAX_DECLARATIONS_LENGTH {
            return false;
        }
        if self.current.declarations == declarations {
            return true;
        }
        let cached = self.others.iter().position(|set| set.declarations == declarations);
        let next = match cached {
            Some(index) => self.others.remove(index),
            None => Set { declarations: declarations.to_owned(), ..Set::default() },
        };
        self.others.push(std::mem::replace(&mut self.current, next));
        while self.others.len() >= MAX_SETS
            || self.others.iter().map(|set| set.slots.len()).sum::<usize>() > MAX_OTHER_SLOTS
        {
            self.others.remove(0);
        }
        true
    }

    #[inline]
    pub(super) fn slot(&self, slot: SlotId) -> Option<&Slot> {
        let found = self.current.slots.get(usize::from(slot.index))?;
        (found.owner == slot.owner).then_some(found)
    }

    /// Returns the slot of a tag, for any declaration.
    #[inline]
    pub(super) fn slot_of(&self, tag: TagId) -> Option<&Slot> {
        self.current.slots.get(tag.slot())
    }

    /// Returns what followed a tag.
    #[inline]
    pub(super) fn successors(&self, tag: TagId) -> Successors {
        match self.slot_of(tag) {
            Some(slot) => slot.successors[usize::from(tag.is_end())],
            None => Successors::default(),
        }
    }

    /// Caches that `next` followed `tag`.
    pub(super) fn cache_successor(&mut self, tag: TagId, next: TagId) {
        if let Some(slot) = self.current.slots.get_mut(tag.slot()) {
            slot.successors[usize::from(tag.is_end())].insert(next);
        }
    }

    /// Returns the attribute tag of this number, if it is one of the slot `id`, and the number of the next one.
    #[inline]
    pub(super) fn attribute_tag(&self, id: u64, number: u16) -> Option<(&AttributeTag, u16)> {
        self.current.attribute_tags.get(id, number)
    }

    /// Returns the attribute tag of this number, if it is one of the slot `id`, to be changed.
    #[inline]
    pub(super) fn attribute_tag_mut(&mut self, id: u64, number: u16) -> Option<&mut AttributeTag> {
        self.current.attribute_tags.get_mut(id, number)
    }

    /// Caches a start tag without attributes: `bytes` end with it, and its name is at `name_at`. Returns the id of its name, 0 if
    /// it can't be cached.
    pub(super) fn cache_start(
        &mut self,
        slot: SlotId,
        bytes: &[u8],
        (name_at, name_length, local): (usize, usize, usize),
        namespace: NamespaceId,
    ) -> u64 {
        let Some(start) = Pattern::new(bytes) else { return 0 };
        let name = &bytes[name_at..name_at + name_length];
        let Some(index) = self.slot_for(slot, name, local, namespace) else { return 0 };
        let slot = &mut self.current.slots[index];
        slot.start = start;
        // All three fit: they are within a pattern.
        (slot.name_at, slot.name_length, slot.local) = (name_at as u8, name_length as u8, local as u8);
        slot.id
    }

    /// Caches an attribute tag. Returns the id of its name, 0 if it can't be cached.
    pub(super) fn cache_attribute_tag(&mut self, slot: SlotId, tag: AttributeTag) -> u64 {
        let bytes = tag.first.bytes();
        let name = &bytes[usize::from(tag.name_at)..][..usize::from(tag.name_length)];
        let Some(index) = self.slot_for(slot, name, tag.local.into(), tag.namespace) else { return 0 };
        let slot = &mut self.current.slots[index];
        slot.may_be_empty |= tag.is_empty && tag.attributes.is_empty();
        slot.attribute_tags = self.current.attribute_tags.insert(slot.id, slot.attribute_tags, tag);
        slot.id
    }

    /// Returns the index of the slot for tags of this name, as written, whose local name begins at `local`. A slot with tags of
    /// another name is emptied.
    fn slot_for(&mut self, slot: SlotId, name: &[u8], local: usize, namespace: NamespaceId) -> Option<usize> {
        let index = usize::from(slot.index);
        if index >= MAX_SLOTS {
            return None;
        }
        if self.current.slots.len() <= index {
            // Most contracts have fewer elements. Growing in small steps would leave holes in the heap for good.
            self.current.slots.reserve(INITIAL_SLOTS.saturating_sub(self.current.slots.len()));
            self.current.slots.resize(index + 1, Slot::default());
        }
        let is_same = self.current.slots[index].owner == slot.owner && self.has_name(index, name);
        if !is_same {
            self.last_id += 1;
            let hash = std::str::from_utf8(&name[local..]).map_or(0, name_hash);
            self.current.slots[index] =
                Slot { owner: slot.owner, id: self.last_id, hash, namespace, ..Slot::default() };
        }
        Some(index)
    }

    /// Whether the tags in a slot have this name.
    fn has_name(&self, index: usize, name: &[u8]) -> bool {
        let slot = &self.current.slots[index];
        let (bytes, at, length) = match self.attribute_tag(slot.id, slot.attribute_tags) {
            Some((tag, _)) => (tag.first.bytes(), tag.name_at, tag.name_length),
            None => (slot.start.bytes(), slot.name_at, slot.name_length),
        };
        &bytes[usize::from(at)..usize::from(at) + usize::from(length)] == name
    }

    /// Returns the id of the name of a slot's tags, if it is this one, as written; otherwise 0.
    pub(super) fn id_of(&self, slot: SlotId, name: &[u8]) -> u64 {
        match self.slot(slot) {
            Some(found) if self.has_name(usize::from(slot.index), name) => found.id,
            _ => 0,
        }
    }

    /// Caches the end tag of elements whose start tags are in a slot.
    pub(super) fn cache_end(&mut self, slot: SlotId, bytes: &[u8]) {
        if let Some(found) = self.current.slots.get_mut(usize::from(slot.index))
            && found.owner == slot.owner
            && let Some(end) = Pattern::new(bytes)
        {
            found.end = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_declaration_in_the_same_slot_is_distinguished() {
        let mut tags = Tags::default();
        tags.select("=urn:a\u{1}");
        let first = SlotId { index: 3, owner: 100 };
        assert_ne!(tags.cache_start(first, b"<a>", (1, 1, 0), NamespaceId::NONE), 0);
        assert!(tags.slot(first).is_some());
        assert!(tags.slot(SlotId { index: 3, owner: 101 }).is_none());
        tags.select("=urn:b\u{1}");
        assert!(tags.slot(first).is_none(), "other declarations, other tags");
    }

    #[test]
    fn a_slot_has_the_documented_size() {
        assert_eq!(size_of::<Slot>(), 176);
    }

    #[test]
    fn another_name_gets_another_id() {
        let mut tags = Tags::default();
        tags.select("");
        let slot = SlotId { index: 0, owner: 1 };
        let old = tags.cache_start(slot, b"<a:x>", (1, 3, 2), NamespaceId::NONE);
        assert_eq!((tags.id_of(slot, b"a:x"), tags.id_of(slot, b"b:x")), (old, 0));
        let new = tags.cache_start(slot, b"<b:x>", (1, 3, 2), NamespaceId::NONE);
        assert_ne!(old, new);
        assert_eq!((tags.id_of(slot, b"a:x"), tags.id_of(slot, b"b:x")), (0, new));
        assert_eq!(tags.slot(slot).map(|slot| slot.end.length), Some(0));
    }
}
