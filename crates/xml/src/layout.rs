//! Tags that were read before.
//!
//! Messages of one kind carry the same tags in the same places. Where a schema tells which element comes next, the
//! bytes that stood there last time (white space, `<`, name, `>`) are kept, and next time one comparison takes the
//! place of tokenising them: equal bytes under equal namespace declarations mean equal tokens. Of a tag with attributes all
//! but their values is kept. Nothing is derived or guessed; what is kept is only ever what the tokeniser itself has read and
//! checked.

mod pattern;
mod successor;
mod tag;

use crate::namespaces::NamespaceId;

pub(crate) use pattern::{LONGEST, Pattern};
pub(crate) use successor::{Place, Successors};
pub use tag::Placement;
pub(crate) use tag::{Tag, TagAttribute, Tags};

/// A place in a schema where an element may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Where its tags are kept, below [`SLOTS`](Known::SLOTS). Places that share a number take turns, and those with a
    /// higher one are not kept; both cost time and nothing else.
    pub slot: u16,
    /// What tells this place from all others: the address of its description, never 0.
    pub identity: usize,
}

/// A number that is equal for equal local names, and differs for nearly all others; never 0.
pub const fn look(name: &str) -> u32 {
    let (bytes, mut look, mut at) = (name.as_bytes(), 0x811C_9DC5_u32, 0);
    while at < bytes.len() {
        look = (look ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    look | 1
}

impl Known {
    /// How many slots there are. Places that have higher numbers are best given one of these too.
    pub const SLOTS: u16 = 4096;
}

/// How many slots a layout has at most, of 176 bytes each.
const MOST_SLOTS: usize = Known::SLOTS as usize;
/// How many there is room for once there is one.
const FIRST_SLOTS: usize = 64;
/// How many layouts are kept, as many kinds of senders as are told apart, and how many slots they have together beside
/// those of the current one.
const MOST_LAYOUTS: usize = 8;
const MOST_SLOTS_OF_OTHERS: usize = 2 * MOST_SLOTS;
/// The longest text of declarations that a layout is kept for.
const LONGEST_DECLARATIONS: usize = 4 << 10;

/// The layouts that were learned, one for each set of namespace declarations that payloads came with.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    /// The current layout.
    current: Layout,
    /// The other layouts, the one that was used last at the end.
    others: Vec<Layout>,
    /// Distinguishes each learned start tag from every other, also from a former one in the same slot.
    last_id: u64,
}

#[derive(Debug, Default)]
struct Layout {
    /// The namespace declarations that it is for.
    declarations: String,
    slots: Vec<Slot>,
    tags: Tags,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    identity: usize,
    /// Tells the name that its tags have, as written, from all others, also from a former one in the same slot; 0 is none.
    pub(crate) id: u64,
    /// The start tag without attributes.
    pub(crate) start: Pattern,
    pub(crate) end: Pattern,
    /// The number of the first of its start tags with attributes and empty-element tags.
    pub(crate) tags: u16,
    /// Whether one of them was an empty-element tag without attributes.
    pub(crate) may_be_empty: bool,
    /// Where in the start tag its name lies.
    pub(crate) name_at: u8,
    pub(crate) name_length: u8,
    pub(crate) local: u8,
    /// What tells its local name from most others.
    pub(crate) look: u32,
    /// The namespace of its name.
    pub(crate) namespace: NamespaceId,
    /// What came next behind its start tags, and behind its end tags.
    successors: [Successors; 2],
}

impl Slot {
    /// What tells the place from all others.
    #[inline]
    pub(crate) fn identity(&self) -> usize {
        self.identity
    }
}

impl Layouts {
    /// Turns to the layout for payloads under these declarations. `false` if there is none, since they are too long.
    pub(crate) fn select(&mut self, declarations: &str) -> bool {
        if declarations.len() > LONGEST_DECLARATIONS {
            return false;
        }
        if self.current.declarations == declarations {
            return true;
        }
        let known = self.others.iter().position(|layout| layout.declarations == declarations);
        let next = match known {
            Some(index) => self.others.remove(index),
            None => Layout { declarations: declarations.to_owned(), ..Layout::default() },
        };
        self.others.push(std::mem::replace(&mut self.current, next));
        while self.others.len() >= MOST_LAYOUTS
            || self.others.iter().map(|layout| layout.slots.len()).sum::<usize>() > MOST_SLOTS_OF_OTHERS
        {
            self.others.remove(0);
        }
        true
    }

    #[inline]
    pub(crate) fn slot(&self, known: Known) -> Option<&Slot> {
        let slot = self.current.slots.get(usize::from(known.slot))?;
        (slot.identity == known.identity).then_some(slot)
    }

    /// The slot of this number, whatever place it is of.
    #[inline]
    pub(crate) fn slot_of(&self, place: Place) -> Option<&Slot> {
        self.current.slots.get(place.slot())
    }

    /// What came next behind a tag.
    #[inline]
    pub(crate) fn successors(&self, tag: Place) -> Successors {
        match self.slot_of(tag) {
            Some(slot) => slot.successors[usize::from(tag.is_end())],
            None => Successors::default(),
        }
    }

    /// Keeps that `next` came behind `tag`.
    pub(crate) fn learn_successor(&mut self, tag: Place, next: Place) {
        if let Some(slot) = self.current.slots.get_mut(tag.slot()) {
            slot.successors[usize::from(tag.is_end())].keep(next);
        }
    }

    /// The tag of this number, if it is one of the slot `id`, and the number of the next.
    #[inline]
    pub(crate) fn tag(&self, id: u64, number: u16) -> Option<(&Tag, u16)> {
        self.current.tags.get(id, number)
    }

    /// The tag of this number, if it is one of the slot `id`, to be changed.
    #[inline]
    pub(crate) fn tag_mut(&mut self, id: u64, number: u16) -> Option<&mut Tag> {
        self.current.tags.get_mut(id, number)
    }

    /// Keeps a start tag without attributes: `bytes` end with it, and its name lies at `name_at`. Returns what tells its
    /// name from others, 0 if it can't be kept.
    pub(crate) fn learn_start(
        &mut self,
        known: Known,
        bytes: &[u8],
        (name_at, name_length, local): (usize, usize, usize),
        namespace: NamespaceId,
    ) -> u64 {
        let Some(start) = Pattern::new(bytes) else { return 0 };
        let name = &bytes[name_at..name_at + name_length];
        let Some(index) = self.slot_for(known, name, local, namespace) else { return 0 };
        let slot = &mut self.current.slots[index];
        slot.start = start;
        // All three fit: they are within a pattern.
        (slot.name_at, slot.name_length, slot.local) = (name_at as u8, name_length as u8, local as u8);
        slot.id
    }

    /// Keeps a start tag with attributes or an empty-element tag. Returns what tells its name from others, 0 if it can't be
    /// kept.
    pub(crate) fn learn_tag(&mut self, known: Known, tag: Tag) -> u64 {
        let bytes = tag.first.bytes();
        let name = &bytes[usize::from(tag.name_at)..][..usize::from(tag.name_length)];
        let Some(index) = self.slot_for(known, name, tag.local.into(), tag.namespace) else { return 0 };
        let slot = &mut self.current.slots[index];
        slot.may_be_empty |= tag.is_empty && tag.attributes.is_empty();
        slot.tags = self.current.tags.keep(slot.id, slot.tags, tag);
        slot.id
    }

    /// The number of the slot for the tags at `known` that have this name, as written, whose local name begins at `local`. One
    /// that had others is emptied.
    fn slot_for(&mut self, known: Known, name: &[u8], local: usize, namespace: NamespaceId) -> Option<usize> {
        let index = usize::from(known.slot);
        if index >= MOST_SLOTS {
            return None;
        }
        if self.current.slots.len() <= index {
            // Most contracts that one message is of have fewer: to grow in small steps would leave holes in the heap, for good.
            self.current.slots.reserve(FIRST_SLOTS.saturating_sub(self.current.slots.len()));
            self.current.slots.resize(index + 1, Slot::default());
        }
        let is_same = self.current.slots[index].identity == known.identity && self.has_name(index, name);
        if !is_same {
            self.last_id += 1;
            let look = std::str::from_utf8(&name[local..]).map_or(0, look);
            self.current.slots[index] =
                Slot { identity: known.identity, id: self.last_id, look, namespace, ..Slot::default() };
        }
        Some(index)
    }

    /// Whether the tags in a slot have this name.
    fn has_name(&self, index: usize, name: &[u8]) -> bool {
        let slot = &self.current.slots[index];
        let (bytes, at, length) = match self.tag(slot.id, slot.tags) {
            Some((tag, _)) => (tag.first.bytes(), tag.name_at, tag.name_length),
            None => (slot.start.bytes(), slot.name_at, slot.name_length),
        };
        &bytes[usize::from(at)..usize::from(at) + usize::from(length)] == name
    }

    /// What the name of tags at `known` is known by, if it is this one, as written; else 0.
    pub(crate) fn name_in(&self, known: Known, name: &[u8]) -> u64 {
        match self.slot(known) {
            Some(slot) if self.has_name(usize::from(known.slot), name) => slot.id,
            _ => 0,
        }
    }

    /// Keeps the end tag that belongs to start tags of the name `id`.
    pub(crate) fn learn_end(&mut self, known: Known, id: u64, bytes: &[u8]) {
        let Some(slot) = self.current.slots.get_mut(usize::from(known.slot)) else { return };
        if slot.id == id
            && slot.identity == known.identity
            && let Some(end) = Pattern::new(bytes)
        {
            slot.end = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_place_in_the_same_slot_is_not_taken_for_it() {
        let mut layouts = Layouts::default();
        layouts.select("=urn:a\u{1}");
        let first = Known { slot: 3, identity: 100 };
        let id = layouts.learn_start(first, b"<a>", (1, 1, 0), NamespaceId::NONE);
        layouts.learn_end(first, id, b"</a>");
        assert!(layouts.slot(first).is_some());
        assert!(layouts.slot(Known { slot: 3, identity: 101 }).is_none());
        layouts.select("=urn:b\u{1}");
        assert!(layouts.slot(first).is_none(), "other declarations, other layout");
    }

    #[test]
    fn a_slot_is_as_large_as_is_told() {
        assert_eq!(size_of::<Slot>(), 176);
    }

    #[test]
    fn an_end_tag_is_kept_only_for_the_start_tag_it_closed() {
        let mut layouts = Layouts::default();
        layouts.select("");
        let known = Known { slot: 0, identity: 1 };
        let old = layouts.learn_start(known, b"<a:x>", (1, 3, 2), NamespaceId::NONE);
        let new = layouts.learn_start(known, b"<b:x>", (1, 3, 2), NamespaceId::NONE);
        assert_ne!(old, new);
        layouts.learn_end(known, old, b"</a:x>");
        assert_eq!(layouts.slot(known).map(|slot| slot.end.length), Some(0));
    }
}
