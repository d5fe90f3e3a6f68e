//! Start tags with attributes, and empty-element tags: cached but for the values of attributes.
//!
//! ```text
//!     <p:size unit="cm" class='big'/>
//! |---------------|  |------------------ the values may differ
//!       first     |--|---------||-|----- all bytes around them are compared, quotes included
//! ```

use crate::namespaces::NamespaceId;

use super::pattern::Pattern;

/// How many attribute tags a set has at most, and how many attributes they have together.
const MAX_TAGS: usize = 512;
const MAX_ATTRIBUTES: usize = 2048;
/// How many attribute tags a slot has at most.
const MAX_TAGS_PER_SLOT: usize = 4;

/// A start tag with attributes, or an empty-element tag.
#[derive(Debug)]
pub(super) struct AttributeTag {
    /// The id of the slot.
    id: u64,
    /// The number of the next tag of the same slot, 0 if there is none.
    next: u16,
    /// Where its name is in `first`.
    pub(super) name_at: u8,
    pub(super) name_length: u8,
    pub(super) local: u8,
    /// Whether it is an empty-element tag.
    pub(super) is_empty: bool,
    /// The namespace of its name.
    pub(super) namespace: NamespaceId,
    /// The bytes up to the first value, its opening quote included, or the whole tag.
    pub(super) first: Pattern,
    pub(super) attributes: Box<[TagAttribute]>,
    /// The indexes of the types that it was recognised for last: that of the element, and the one that `xsi:type` names.
    indexes: [Option<AttributeIndex>; 2],
}

/// Which attributes of a start tag are those of a table.
#[derive(Clone, Copy, Debug)]
pub struct AttributeIndex {
    /// The address of the table, which distinguishes it from all others.
    pub table: usize,
    /// A bit for each attribute of the table, set if the tag has it.
    pub present: u64,
    /// The numbers of these attributes in the tag.
    pub numbers: [u8; AttributeIndex::MAX_TABLE_LENGTH],
    /// Whether the tag has attributes that are not in the table.
    pub others: bool,
    /// The number of `xsi:nil` in the tag, if it has one.
    pub nil: Option<u32>,
    /// The number of `xsi:type` in the tag, if it has one.
    pub type_name: Option<u32>,
}

impl AttributeIndex {
    /// How many attributes a table may have to be cached.
    pub const MAX_TABLE_LENGTH: usize = 16;
}

/// An attribute of an attribute tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TagAttribute {
    /// How many bytes before the value its name begins.
    pub(super) before: u8,
    pub(super) name_length: u8,
    pub(super) local: u8,
    pub(super) quote: u8,
    /// A fingerprint of its local name.
    pub(super) fingerprint: u32,
    /// The namespace, if it is in one.
    pub(super) namespace: Option<NamespaceId>,
    /// The bytes from the closing quote to the opening quote of the next value, or to the end of the tag.
    pub(super) after: Pattern,
}

impl AttributeTag {
    /// Creates a tag that is not in a slot yet.
    pub(super) fn new(
        (name_at, name_length, local): (u8, u8, u8),
        is_empty: bool,
        namespace: NamespaceId,
        first: Pattern,
        attributes: Box<[TagAttribute]>,
    ) -> Self {
        AttributeTag {
            id: 0,
            next: 0,
            name_at,
            name_length,
            local,
            is_empty,
            namespace,
            first,
            attributes,
            indexes: [None; 2],
        }
    }

    /// Returns the index of its attributes for the table of this address, if that is cached.
    #[inline]
    pub(super) fn index(&self, table: usize) -> Option<&AttributeIndex> {
        self.indexes.iter().flatten().find(|index| index.table == table)
    }

    /// Caches an index. It replaces the older one of two.
    pub(super) fn cache_index(&mut self, index: AttributeIndex) {
        self.indexes = [Some(index), self.indexes[0]];
    }

    fn is_like(&self, other: &AttributeTag) -> bool {
        self.first == other.first && self.attributes == other.attributes
    }
}

/// The attribute tags of a set. Those of one slot are a list, the newest one first.
#[derive(Debug, Default)]
pub(super) struct AttributeTags {
    /// Numbers are from 1.
    tags: Vec<AttributeTag>,
    attributes: usize,
}

impl AttributeTags {
    /// Returns the tag of this number, if it is one of the slot `id`, and the number of the next one.
    #[inline]
    pub(super) fn get(&self, id: u64, number: u16) -> Option<(&AttributeTag, u16)> {
        let tag = self.tags.get(usize::from(number).checked_sub(1)?)?;
        (tag.id == id).then_some((tag, tag.next))
    }

    /// Returns the tag of this number, if it is one of the slot `id`, to be changed.
    pub(super) fn get_mut(&mut self, id: u64, number: u16) -> Option<&mut AttributeTag> {
        let tag = self.tags.get_mut(usize::from(number).checked_sub(1)?)?;
        (tag.id == id).then_some(tag)
    }

    /// Adds a tag to the list of the slot `id`, which begins with number `first`. Returns the number that it begins with then.
    pub(super) fn insert(&mut self, id: u64, first: u16, mut tag: AttributeTag) -> u16 {
        tag.id = id;
        // The number may be from before the last time that all tags were dropped.
        let first = if self.get(id, first).is_some() { first } else { 0 };
        let (mut number, mut last, mut count) = (first, first, 0);
        while let Some((cached, next)) = self.get(id, number) {
            if cached.is_like(&tag) {
                return first;
            }
            (last, number, count) = (number, next, count + 1);
        }
        if count >= MAX_TAGS_PER_SLOT {
            let oldest = &mut self.tags[usize::from(last) - 1];
            self.attributes = self.attributes - oldest.attributes.len() + tag.attributes.len();
            *oldest = tag;
            return first;
        }
        let is_full = self.tags.len() >= MAX_TAGS || self.attributes + tag.attributes.len() > MAX_ATTRIBUTES;
        if is_full {
            self.tags.clear();
            self.attributes = 0;
        }
        // A number is always greater than the next one, so no list has a cycle.
        tag.next = if is_full { 0 } else { first };
        self.attributes += tag.attributes.len();
        self.tags.push(tag);
        self.tags.len() as u16
    }
}
