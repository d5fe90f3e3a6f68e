//! Mutates valid messages in units of their syntax: tags, attributes, ids and references, namespaces, texts, nesting, header
//! lines, and the names and delimiters in all of these.
//!
//! Random bytes rarely change one part of a message and leave the rest valid, so they produce few messages that get past the
//! reader. A mutation of this module leaves most messages well-formed, and some valid.
//!
//! The input is treated as markup with anything around it: heads of HTTP and MIME, several documents, bytes that are not UTF-8.

mod attributes;
mod elements;
mod lines;
mod markup;
mod texts;
mod tokens;

use std::ops::Range;

use fastrand::Rng;

use markup::Markup;

/// The most changes that are made to a message at a time.
const MAX_CHANGES: usize = 4;

/// Changes `message` in a few places, and returns at most `max_length` bytes. Parts may come from `other`. The same `seed` makes the
/// same changes.
pub fn mutate(message: &[u8], other: &[u8], seed: u64, max_length: usize) -> Vec<u8> {
    let mut change = Change { text: message.to_vec(), other, random: Rng::with_seed(seed), max_length };
    change.make();
    // Usually one change: the more changes, the earlier a reader finds an error and stops.
    for _ in 1..MAX_CHANGES {
        if change.random.bool() {
            break;
        }
        change.make();
    }
    change.text.truncate(max_length);
    change.text
}

/// A message that is being mutated.
struct Change<'a> {
    text: Vec<u8>,
    other: &'a [u8],
    random: Rng,
    /// The largest length of the message, in bytes.
    max_length: usize,
}

impl Change<'_> {
    fn make(&mut self) {
        let markup = Markup::read(&self.text);
        match self.random.u32(0..100) {
            0..15 => self.elements(&markup),
            15..25 => self.tags(&markup),
            25..50 => self.tokens(&markup),
            50..70 => self.attributes(&markup),
            70..82 => self.texts(&markup),
            82..88 => self.lines(),
            88..90 => self.truncate(&markup),
            _ => self.bytes(),
        }
    }

    /// Returns one of `items`, if there is one.
    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        self.random.choice(items).cloned()
    }

    /// Replaces `range`, unless that makes the message too long.
    fn replace(&mut self, range: Range<usize>, with: &[u8]) {
        if self.text.len() - range.len() + with.len() <= self.max_length {
            self.text.splice(range, with.iter().copied());
        }
    }

    /// Returns how many times something of `length` bytes is repeated: usually a few times, sometimes as often as it fits.
    fn times(&mut self, length: usize) -> usize {
        let room = self.max_length.saturating_sub(self.text.len()) / length.max(1);
        match self.random.u32(0..10) {
            0 => room,
            1..3 => self.random.usize(1..100).min(room),
            _ => 1,
        }
    }

    fn truncate(&mut self, markup: &Markup) {
        let boundary = self.pick(&markup.tags).map(|tag| tag.range.start);
        let any = self.random.usize(0..=self.text.len());
        self.text.truncate(boundary.filter(|_| self.random.bool()).unwrap_or(any));
    }

    /// A change of bytes, independent of markup.
    fn bytes(&mut self) {
        /// The characters of markup.
        const MARKUP: &[u8] = b"<>/=\"'&;:#!?[]-{}() \t\r\n\0\xFF";
        let length = self.text.len();
        let start = self.random.usize(0..=length);
        let end = (start + self.random.usize(0..=8)).min(length);
        match self.random.u32(0..6) {
            0 => self.replace(start..end, b""),
            1 => {
                let byte = self.random.u8(..);
                self.replace(start..end.min(start + 1), &[byte]);
            }
            2 | 3 => {
                let byte = *self.random.choice(MARKUP).unwrap_or(&b'<');
                self.replace(start..start, &[byte]);
            }
            4 => {
                let piece = self.text[start..end].to_vec();
                let times = self.times(piece.len());
                self.replace(start..start, &piece.repeat(times));
            }
            _ => {
                let from = self.random.usize(0..=self.other.len());
                let to = (from + self.random.usize(0..=64)).min(self.other.len());
                self.replace(start..end, &self.other[from..to]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &[u8] =
        b"POST / HTTP/1.1\r\na: b\r\n\r\n<e:a xmlns:e='urn:e' id='1'><b href=\"#1\">x</b><c/><!-- - --></e:a>";

    #[test]
    fn the_same_seed_makes_the_same_changes() {
        let mut different = std::collections::HashSet::new();
        for seed in 0..2_000 {
            let changed = mutate(MESSAGE, b"<o id='2'>other</o>", seed, 4_096);
            assert_eq!(mutate(MESSAGE, b"<o id='2'>other</o>", seed, 4_096), changed);
            assert!(changed.len() <= 4_096);
            different.insert(changed);
        }
        assert!(different.len() > 1_300, "{} of 2,000 differ", different.len());
    }

    #[test]
    fn many_changes_leave_a_message_well_formed() {
        let message = &MESSAGE[MESSAGE.len() - 68..];
        let is_well_formed = |seed| {
            let changed = mutate(message, message, seed, 4_096);
            changed != message
                && std::str::from_utf8(&changed).is_ok_and(|text| roxmltree::Document::parse(text).is_ok())
        };
        let count = (0..1_000).filter(|&seed| is_well_formed(seed)).count();
        assert!((150..900).contains(&count), "{count} of 1,000 are well-formed");
    }

    #[test]
    fn anything_can_be_changed() {
        let mut random = Rng::with_seed(1);
        for seed in 0..5_000 {
            let length = random.usize(0..40);
            let bytes: Vec<u8> = (0..length).map(|_| *random.choice(b"<>/='\"a: \n!-?[]\xFF").unwrap_or(&0)).collect();
            let other = &bytes[..length / 2];
            assert!(mutate(&bytes, other, seed, 64).len() <= 64);
        }
    }
}
