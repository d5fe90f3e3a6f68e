//! Bytes that are compared.

use crate::scan::{self, WIDTH};

/// The longest part of a tag, with the white space before it, that is cached, in bytes.
pub(super) const MAX_LENGTH: usize = 4 * WIDTH;

/// Up to [`MAX_LENGTH`] bytes. They are compared 16 at a time; the last 16 overlap those before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) length: u8,
    /// The first word, filled with zeros if the pattern is shorter.
    first: [u8; WIDTH],
    second: [u8; WIDTH],
    third: [u8; WIDTH],
    last: [u8; WIDTH],
}

impl Pattern {
    /// Returns a pattern of these bytes, or `None` if there are none or too many.
    pub(super) fn new(bytes: &[u8]) -> Option<Pattern> {
        if bytes.is_empty() || bytes.len() > MAX_LENGTH {
            return None;
        }
        let mut pattern = Pattern { length: bytes.len() as u8, ..Pattern::default() };
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            pattern.first = *first;
            pattern.last = *last;
            let word = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
            (pattern.second, pattern.third) = (word(WIDTH), word(2 * WIDTH));
        } else {
            pattern.first[..bytes.len()].copy_from_slice(bytes);
        }
        Some(pattern)
    }

    /// Returns the bytes, and zeros after them.
    pub(super) fn bytes(&self) -> [u8; MAX_LENGTH] {
        let mut bytes = [0; MAX_LENGTH];
        let length = usize::from(self.length);
        bytes[..WIDTH].copy_from_slice(&self.first);
        if length >= WIDTH {
            bytes[WIDTH..2 * WIDTH].copy_from_slice(&self.second);
            bytes[2 * WIDTH..3 * WIDTH].copy_from_slice(&self.third);
            bytes[length - WIDTH..length].copy_from_slice(&self.last);
        }
        bytes
    }

    /// Returns where the pattern ends if it is at `at`. An empty pattern matches nowhere, and none matches in the last 15 bytes
    /// of the input.
    #[inline]
    pub(super) fn end_of_match(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let length = usize::from(self.length);
        let word = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>);
        let first = word(at)?;
        let matches = match length {
            0 => false,
            1..WIDTH => scan::prefix(first, length) == u128::from_le_bytes(self.first),
            _ => {
                *first == self.first
                    && word(at + length - WIDTH)? == &self.last
                    && (length <= 2 * WIDTH
                        || (word(at + WIDTH)? == &self.second
                            && (length <= 3 * WIDTH || word(at + 2 * WIDTH)? == &self.third)))
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
        for length in 1..=MAX_LENGTH {
            let pattern = Pattern::new(&text[..length]).unwrap();
            assert_eq!(pattern.end_of_match(&text, 0), Some(length));
            assert_eq!(&pattern.bytes()[..length], &text[..length]);
            for changed in 0..length {
                let mut other = text.clone();
                other[changed] ^= 1;
                assert_eq!(pattern.end_of_match(&other, 0), None, "length {length}, byte {changed}");
            }
            // What follows it does not matter.
            let mut longer = text.clone();
            longer[length] ^= 1;
            assert_eq!(pattern.end_of_match(&longer, 0), Some(length));
        }
        assert_eq!(Pattern::new(&text[..MAX_LENGTH + 1]), None);
        assert_eq!(Pattern::default().end_of_match(&text, 0), None);
    }
}
