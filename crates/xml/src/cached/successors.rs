//! Which tag followed which.
//!
//! In content models with many optional elements or alternatives, trying each costs more than reading the one that is there. So
//! the tags that followed the last one before are tried first. Each is only a guess: its bytes are compared.

use super::slot_id::SlotId;

/// The start tag or the end tag of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagId(u16);

/// The bit of an end tag.
const END: u16 = SlotId::COUNT;

impl TagId {
    /// No tag.
    pub(super) const NONE: TagId = TagId(u16::MAX);

    /// Returns the start tag of a slot, whose index is below [`SlotId::COUNT`].
    #[inline]
    pub(super) fn start(slot: SlotId) -> TagId {
        TagId(slot.index)
    }

    /// Returns the end tag of a slot.
    #[inline]
    pub(super) fn end(slot: SlotId) -> TagId {
        TagId(slot.index | END)
    }

    /// Returns the end tag of the same slot.
    #[inline]
    pub(super) fn of_end(self) -> TagId {
        TagId(self.0 | END)
    }

    /// Returns the index of the slot. For [`NONE`](Self::NONE) there is no such slot.
    #[inline]
    pub(super) fn slot(self) -> usize {
        usize::from(self.0 & !END)
    }

    #[inline]
    pub(super) fn is_end(self) -> bool {
        self.0 & END != 0
    }
}

/// How many successors of a tag are cached.
const MAX_SUCCESSORS: usize = 4;

/// What followed a tag, the most recent one first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Successors([TagId; MAX_SUCCESSORS]);

impl Default for Successors {
    fn default() -> Self {
        Successors([TagId::NONE; MAX_SUCCESSORS])
    }
}

impl Successors {
    #[inline]
    pub(super) fn iter(self) -> impl Iterator<Item = TagId> {
        self.0.into_iter().take_while(|&tag| tag != TagId::NONE)
    }

    /// Puts a tag in front. If there are too many, the least recent one is dropped.
    pub(super) fn insert(&mut self, next: TagId) {
        let cached = self.0.iter().position(|&tag| tag == next).unwrap_or(MAX_SUCCESSORS - 1);
        self.0[..=cached].rotate_right(1);
        self.0[0] = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(index: u16) -> SlotId {
        SlotId { index, owner: 1 }
    }

    #[test]
    fn tags_are_distinguished() {
        for index in [0, 1, END - 1] {
            let (start, end) = (TagId::start(slot(index)), TagId::end(slot(index)));
            assert_eq!((start.slot(), start.is_end()), (usize::from(index), false));
            assert_eq!((end.slot(), end.is_end()), (usize::from(index), true));
        }
        assert!(TagId::NONE.slot() >= SlotId::COUNT.into());
    }

    #[test]
    fn the_most_recent_ones_are_cached() {
        let mut successors = Successors::default();
        assert_eq!(successors.iter().count(), 0);
        for index in [1, 2, 3, 2, 4, 5, 3] {
            successors.insert(TagId::start(slot(index)));
        }
        let cached: Vec<usize> = successors.iter().map(TagId::slot).collect();
        assert_eq!(cached, [3, 5, 4, 2]);
    }
}
