//! Which tag came behind which.
//!
//! Where many elements are optional, or one of many comes, trying each costs more than reading the one that is there. What
//! came behind the last tag the times before is tried first. That is a guess and no more: its bytes are compared.

use super::MOST_SLOTS;

/// A start tag or an end tag of the layout, by the number of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u16);

/// What is added to the number of a slot for its end tag.
const END: u16 = MOST_SLOTS as u16;

impl Place {
    /// None that is known.
    pub(crate) const NOWHERE: Place = Place(u16::MAX);

    /// The start tag of a slot, which is below [`Known::SLOTS`](super::Known::SLOTS).
    #[inline]
    pub(crate) fn start(slot: u16) -> Place {
        Place(slot)
    }

    /// The end tag of a slot.
    #[inline]
    pub(crate) fn end(slot: u16) -> Place {
        Place(slot | END)
    }

    /// The end tag of the same slot.
    #[inline]
    pub(crate) fn of_end(self) -> Place {
        Place(self.0 | END)
    }

    /// The number of the slot; for [`NOWHERE`](Self::NOWHERE) one that there is not.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        usize::from(self.0 & !END)
    }

    #[inline]
    pub(crate) fn is_end(self) -> bool {
        self.0 & END != 0
    }
}

/// How many tags are kept that came behind one.
const KEPT: usize = 4;

/// What came behind a tag, last one first. They are guesses: whether one comes again is for its bytes to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successors([Place; KEPT]);

impl Default for Successors {
    fn default() -> Self {
        Successors([Place::NOWHERE; KEPT])
    }
}

impl Successors {
    /// Those that are known.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = Place> {
        self.0.into_iter().take_while(|&place| place != Place::NOWHERE)
    }

    /// Puts one in front; the one that came longest ago is forgotten.
    fn keep_in_front(&mut self, next: Place) {
        let known = self.0.iter().position(|&place| place == next).unwrap_or(KEPT - 1);
        self.0[..=known].rotate_right(1);
        self.0[0] = next;
    }

    pub(super) fn keep(&mut self, next: Place) {
        if self.0[0] != next {
            self.keep_in_front(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart() {
        for slot in [0, 1, END - 1] {
            let (start, end) = (Place::start(slot), Place::end(slot));
            assert_eq!((start.slot(), start.is_end()), (usize::from(slot), false));
            assert_eq!((end.slot(), end.is_end()), (usize::from(slot), true));
        }
        assert!(Place::NOWHERE.slot() >= MOST_SLOTS);
    }

    #[test]
    fn the_last_ones_are_kept() {
        let mut successors = Successors::default();
        assert_eq!(successors.iter().count(), 0);
        for slot in [1, 2, 3, 2, 4, 5, 3] {
            successors.keep(Place::start(slot));
        }
        let kept: Vec<usize> = successors.iter().map(Place::slot).collect();
        assert_eq!(kept, [3, 5, 4, 2]);
    }
}
