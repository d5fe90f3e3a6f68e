//! Tags that were read before.
//!
//! Messages of one kind carry the same tags in the same places. Where a schema tells which element comes next, the
//! bytes that stood there last time (white space, `<`, name, `>`) are kept, and next time one comparison takes the
//! place of tokenising them: equal bytes under equal namespace declarations mean equal tokens. Nothing is derived or
//! guessed; what is kept is only ever what the tokeniser itself has read and checked.

use crate::scan::{self, WIDTH};

/// A place in a schema where an element may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Where its tags are kept. Places that share a number take turns, and those with a very high one are not kept;
    /// both cost time and nothing else.
    pub slot: u16,
    /// What tells this place from all others: the address of its description, never 0.
    pub identity: usize,
}

/// How many slots a layout has at most, of 120 bytes each.
const MOST_SLOTS: usize = 1024;
/// How many layouts are kept: as many kinds of senders as are told apart.
const MOST_LAYOUTS: usize = 8;
/// The longest tag, with the white space before it, that is kept.
pub(crate) const LONGEST: usize = 48;
/// The longest text of declarations that a layout is kept for.
const LONGEST_DECLARATIONS: usize = 4 << 10;

/// The layouts that were learned, one for each set of namespace declarations that payloads came with.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    /// The slots of the current layout.
    slots: Vec<Slot>,
    /// What the current layout is for.
    declarations: String,
    /// The other layouts, the one that was used last at the end.
    others: Vec<Layout>,
    /// Distinguishes each learned start tag from every other, also from a former one in the same slot.
    last_id: u64,
}

#[derive(Debug, Default)]
struct Layout {
    declarations: String,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    identity: usize,
    /// Which start tag was learned; 0 is none.
    pub(crate) id: u64,
    pub(crate) start: Pattern,
    pub(crate) end: Pattern,
    /// Where in the start tag its name lies.
    pub(crate) name_at: u8,
    pub(crate) name_length: u8,
    pub(crate) local: u8,
}

impl Layouts {
    /// Turns to the layout for payloads under these declarations. `false` if there is none, since they are too long.
    pub(crate) fn select(&mut self, declarations: &str) -> bool {
        if declarations.len() > LONGEST_DECLARATIONS {
            return false;
        }
        if self.declarations == declarations {
            return true;
        }
        let known = self.others.iter().position(|layout| layout.declarations == declarations);
        let next = match known {
            Some(index) => self.others.remove(index),
            None => Layout { declarations: declarations.to_owned(), slots: Vec::new() },
        };
        let former = Layout {
            declarations: std::mem::replace(&mut self.declarations, next.declarations),
            slots: std::mem::replace(&mut self.slots, next.slots),
        };
        self.others.push(former);
        if self.others.len() >= MOST_LAYOUTS {
            self.others.remove(0);
        }
        true
    }

    #[inline]
    pub(crate) fn slot(&self, known: Known) -> Option<&Slot> {
        let slot = self.slots.get(usize::from(known.slot))?;
        (slot.identity == known.identity).then_some(slot)
    }

    /// Keeps a start tag: `bytes` end with it, and its name lies at `name_at`. Returns what tells it from others, 0 if
    /// it can't be kept.
    pub(crate) fn learn_start(
        &mut self,
        known: Known,
        bytes: &[u8],
        name_at: usize,
        name_length: usize,
        local: usize,
    ) -> u64 {
        let index = usize::from(known.slot);
        if index >= MOST_SLOTS {
            return 0;
        }
        let Some(start) = Pattern::new(bytes) else { return 0 };
        if self.slots.len() <= index {
            self.slots.resize(index + 1, Slot::default());
        }
        let slot = &mut self.slots[index];
        if slot.identity == known.identity && slot.start == start {
            return slot.id;
        }
        self.last_id += 1;
        *slot = Slot {
            identity: known.identity,
            id: self.last_id,
            start,
            end: Pattern::default(),
            // All three fit: they are within a pattern.
            name_at: name_at as u8,
            name_length: name_length as u8,
            local: local as u8,
        };
        self.last_id
    }

    /// Keeps the end tag that belongs to the start tag `id`.
    pub(crate) fn learn_end(&mut self, known: Known, id: u64, bytes: &[u8]) {
        let Some(slot) = self.slots.get_mut(usize::from(known.slot)) else { return };
        if slot.id == id
            && slot.identity == known.identity
            && let Some(end) = Pattern::new(bytes)
        {
            slot.end = end;
        }
    }
}

/// Up to [`LONGEST`] bytes to be compared 16 at a time, the last 16 overlapping those before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    length: u8,
    /// The first word, filled up with zeros if the pattern is shorter.
    first: [u8; WIDTH],
    middle: [u8; WIDTH],
    last: [u8; WIDTH],
}

impl Pattern {
    fn new(bytes: &[u8]) -> Option<Pattern> {
        if bytes.is_empty() || bytes.len() > LONGEST {
            return None;
        }
        let mut pattern = Pattern { length: bytes.len() as u8, ..Pattern::default() };
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            pattern.first = *first;
            pattern.last = *last;
            pattern.middle = bytes.get(WIDTH..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        } else {
            pattern.first[..bytes.len()].copy_from_slice(bytes);
        }
        Some(pattern)
    }

    /// Where the pattern ends if it stands at `at` and was learned at all. Too near to the end of the input it is
    /// not looked for.
    #[inline]
    pub(crate) fn end_of_match(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let length = usize::from(self.length);
        let word = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>);
        let first = word(at)?;
        let matches = match length {
            0 => false,
            1..WIDTH => scan::prefix(first, length) == u128::from_le_bytes(self.first),
            _ => {
                *first == self.first
                    && word(at + length - WIDTH)? == &self.last
                    && (length <= 2 * WIDTH || word(at + WIDTH)? == &self.middle)
            }
        };
        matches.then_some(at + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_exactly_their_bytes() {
        let text: Vec<u8> = (0..100).map(|byte| b'A' + byte % 50).collect();
        for length in 1..=LONGEST {
            let pattern = Pattern::new(&text[..length]).unwrap();
            assert_eq!(pattern.end_of_match(&text, 0), Some(length));
            for changed in 0..length {
                let mut other = text.clone();
                other[changed] ^= 1;
                assert_eq!(pattern.end_of_match(&other, 0), None, "length {length}, byte {changed}");
            }
            // What stands behind it does not matter.
            let mut longer = text.clone();
            longer[length] ^= 1;
            assert_eq!(pattern.end_of_match(&longer, 0), Some(length));
        }
        assert_eq!(Pattern::new(&text[..LONGEST + 1]), None);
        assert_eq!(Pattern::default().end_of_match(&text, 0), None);
    }

    #[test]
    fn another_place_in_the_same_slot_is_not_taken_for_it() {
        let mut layouts = Layouts::default();
        layouts.select("=urn:a\u{1}");
        let first = Known { slot: 3, identity: 100 };
        let id = layouts.learn_start(first, b"<a>", 1, 1, 0);
        layouts.learn_end(first, id, b"</a>");
        assert!(layouts.slot(first).is_some());
        assert!(layouts.slot(Known { slot: 3, identity: 101 }).is_none());
        layouts.select("=urn:b\u{1}");
        assert!(layouts.slot(first).is_none(), "other declarations, other layout");
    }

    #[test]
    fn an_end_tag_is_kept_only_for_the_start_tag_it_closed() {
        let mut layouts = Layouts::default();
        layouts.select("");
        let known = Known { slot: 0, identity: 1 };
        let old = layouts.learn_start(known, b"<a:x>", 1, 3, 2);
        let new = layouts.learn_start(known, b"<b:x>", 1, 3, 2);
        assert_ne!(old, new);
        layouts.learn_end(known, old, b"</a:x>");
        assert_eq!(layouts.slot(known).map(|slot| slot.end.length), Some(0));
    }
}
