//! Start tags with attributes, and empty-element tags, that were read before.
//!
//! ```text
//!     <p:size unit="cm" class='big'/>
//! |---------------|  |------------------ the values may be others
//!       first     |--|---------||-|----- what stands around them is compared, quotes and all
//! ```

use crate::namespaces::NamespaceId;

use super::Pattern;

/// How many tags a layout has at most, and how many attributes all of them.
const MOST_TAGS: usize = 512;
const MOST_ATTRIBUTES: usize = 2048;
/// How many tags are kept for one place.
const MOST_FOR_ONE: usize = 4;

/// A start tag with attributes, or an empty-element tag: equal bytes around the values of its attributes.
#[derive(Debug)]
pub(crate) struct Tag {
    /// That of the slot.
    id: u64,
    /// The number of the next tag for the same place, 0 if there is none.
    next: u16,
    /// Where in `first` its name lies.
    pub(crate) name_at: u8,
    pub(crate) name_length: u8,
    pub(crate) local: u8,
    /// Whether it is the whole element.
    pub(crate) is_empty: bool,
    /// The namespace of its name.
    pub(crate) namespace: NamespaceId,
    /// Up to the first value and into its quotes, or the whole tag.
    pub(crate) first: Pattern,
    pub(crate) attributes: Box<[TagAttribute]>,
    /// Which attributes these are to those it was recognised for last: the type of its place, and the one that `xsi:type` names.
    placements: [Option<Placement>; 2],
}

/// Which attributes of a start tag are those of a table: what the names in the tag mean is the same each time.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// What tells the table from all others: its address.
    pub table: usize,
    /// A bit for each attribute of the table that is there.
    pub present: u64,
    /// Their numbers in the tag.
    pub numbers: [u8; Placement::MOST],
    /// Whether there are attributes that are not of the table.
    pub others: bool,
    /// The number of `xsi:nil` in the tag, if it is there.
    pub nil: Option<u32>,
    /// That of `xsi:type`.
    pub type_name: Option<u32>,
}

impl Placement {
    /// How many attributes a table may have.
    pub const MOST: usize = 16;
}

/// An attribute of such a tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TagAttribute {
    /// How far before the value its name begins.
    pub(crate) before: u8,
    pub(crate) name_length: u8,
    pub(crate) local: u8,
    pub(crate) quote: u8,
    /// Tells its local name from most others.
    pub(crate) look: u32,
    /// The namespace, if it is in one.
    pub(crate) namespace: Option<NamespaceId>,
    /// From the closing quote into the quotes of the next value, or to the end of the tag.
    pub(crate) after: Pattern,
}

impl Tag {
    /// A tag that no place has yet.
    pub(crate) fn new(
        (name_at, name_length, local): (u8, u8, u8),
        is_empty: bool,
        namespace: NamespaceId,
        first: Pattern,
        attributes: Box<[TagAttribute]>,
    ) -> Self {
        Tag {
            id: 0,
            next: 0,
            name_at,
            name_length,
            local,
            is_empty,
            namespace,
            first,
            attributes,
            placements: [None; 2],
        }
    }

    /// Which of its attributes are where in the table of this address, if that is kept.
    #[inline]
    pub(crate) fn placement(&self, table: usize) -> Option<&Placement> {
        self.placements.iter().flatten().find(|placement| placement.table == table)
    }

    /// Keeps a placement in the place of the older one.
    pub(crate) fn keep_placement(&mut self, placement: Placement) {
        self.placements = [Some(placement), self.placements[0]];
    }

    fn is_like(&self, other: &Tag) -> bool {
        self.first == other.first && self.attributes == other.attributes
    }
}

/// The tags of a layout. Those of one place are a list; the newest one comes first.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    /// Numbers are from 1.
    tags: Vec<Tag>,
    attributes: usize,
}

impl Tags {
    /// The tag of this number, if it is one of the slot `id`, and the number of the next.
    #[inline]
    pub(crate) fn get(&self, id: u64, number: u16) -> Option<(&Tag, u16)> {
        let tag = self.tags.get(usize::from(number).checked_sub(1)?)?;
        (tag.id == id).then_some((tag, tag.next))
    }

    /// The tag of this number, if it is one of the slot `id`, to be changed.
    pub(super) fn get_mut(&mut self, id: u64, number: u16) -> Option<&mut Tag> {
        let tag = self.tags.get_mut(usize::from(number).checked_sub(1)?)?;
        (tag.id == id).then_some(tag)
    }

    /// Keeps a tag for the slot `id`, which has those from number `first` on. Returns the number that it has them from then.
    pub(super) fn keep(&mut self, id: u64, first: u16, mut tag: Tag) -> u16 {
        tag.id = id;
        // Numbers may be from before the last time that all tags were forgotten.
        let first = if self.get(id, first).is_some() { first } else { 0 };
        let (mut number, mut last, mut count) = (first, first, 0);
        while let Some((known, next)) = self.get(id, number) {
            if known.is_like(&tag) {
                return first;
            }
            (last, number, count) = (number, next, count + 1);
        }
        if count >= MOST_FOR_ONE {
            let oldest = &mut self.tags[usize::from(last) - 1];
            self.attributes = self.attributes - oldest.attributes.len() + tag.attributes.len();
            *oldest = tag;
            return first;
        }
        let is_full = self.tags.len() >= MOST_TAGS || self.attributes + tag.attributes.len() > MOST_ATTRIBUTES;
        if is_full {
            self.tags.clear();
            self.attributes = 0;
        }
        // A number is always greater than the next one, so no list has a circle.
        tag.next = if is_full { 0 } else { first };
        self.attributes += tag.attributes.len();
        self.tags.push(tag);
        self.tags.len() as u16
    }
}
