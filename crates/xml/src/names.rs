//! Names that were read before.

use crate::namespaces::NamespaceId;
use crate::scan::{self, WIDTH};

/// How many names are kept. Each has one place, so that a name takes the place of another and nothing is searched.
const PLACES: usize = 256;

/// The longest name that is kept, in bytes: two chunks, and its end is still in sight.
pub(crate) const LONGEST: usize = 2 * WIDTH - 1;

/// Qualified names of up to [`LONGEST`] bytes, with the namespace that their prefix had when they were met last.
///
/// A name here was checked byte by byte once. Equal bytes are the same name, in any document; its namespace is the
/// same as long as the same declarations are in scope.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Empty until the first name is kept.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The bytes of the name, with zeros behind them; no name has a zero in it.
    first: u128,
    second: u128,
    /// The declarations in scope under which `namespace` holds.
    scope: u64,
    namespace: NamespaceId,
    length: u8,
    local: u8,
}

/// No text has the byte 0xFF in it, and no declaration the last number.
const NOTHING: Place =
    Place { first: u128::MAX, second: 0, scope: u64::MAX, namespace: NamespaceId::NONE, length: 0, local: 0 };

/// A name that is kept; the next one that is may take its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    place: u8,
    length: u8,
    local: u8,
}

impl Found {
    /// The length of the whole name.
    pub(crate) fn length(self) -> usize {
        self.length.into()
    }

    /// Where its local name begins.
    pub(crate) fn local(self) -> usize {
        self.local.into()
    }
}

impl Place {
    /// Whether the rest of the name stands at `at`, and nothing more.
    #[inline(never)]
    fn goes_on(&self, input: &[u8], at: usize) -> bool {
        let Some(chunk) = input.get(at..).and_then(<[u8]>::first_chunk) else { return false };
        let rest = scan::end_of_name(chunk);
        usize::from(self.length) == WIDTH + rest && scan::prefix(chunk, rest) == self.second
    }
}

impl Names {
    /// The name that stands at `at`, if it is kept.
    #[inline]
    pub(crate) fn find(&self, input: &[u8], at: usize) -> Option<Found> {
        let chunk = input.get(at..)?.first_chunk()?;
        let length = scan::end_of_name(chunk);
        let first = scan::prefix(chunk, length);
        let place = place_of(first);
        let kept = self.places.get(place)?;
        if kept.first != first || (length == WIDTH && !kept.goes_on(input, at + WIDTH)) {
            return None;
        }
        Some(Found { place: place as u8, length: kept.length, local: kept.local })
    }

    /// Keeps the name that stands at `at` and was checked: its length, and where its local name begins.
    pub(crate) fn keep(&mut self, input: &[u8], at: usize, length: usize, local: usize) {
        let chunk = |at: usize| input.get(at..).and_then(<[u8]>::first_chunk);
        let Some(first) = chunk(at).filter(|_| length <= LONGEST) else { return };
        let first = scan::prefix(first, length.min(WIDTH));
        let second = match length.checked_sub(WIDTH) {
            None => 0,
            Some(rest) => match chunk(at + WIDTH) {
                Some(second) => scan::prefix(second, rest),
                None => return,
            },
        };
        self.places.resize(PLACES, NOTHING);
        // Both fit: so short is a name that is kept.
        let (length, local) = (length as u8, local as u8);
        self.places[place_of(first)] = Place { first, second, length, local, ..NOTHING };
    }

    /// The namespace of a name, if `scope` is that in which it was met last.
    #[inline]
    pub(crate) fn namespace(&self, found: Found, scope: u64) -> Option<NamespaceId> {
        let place = self.places.get(usize::from(found.place))?;
        (place.scope == scope).then_some(place.namespace)
    }

    /// Keeps the namespace of a name.
    pub(crate) fn keep_namespace(&mut self, found: Found, scope: u64, namespace: NamespaceId) {
        if let Some(place) = self.places.get_mut(usize::from(found.place)) {
            place.scope = scope;
            place.namespace = namespace;
        }
    }
}

/// Spreads names over the places.
#[inline]
fn place_of(first: u128) -> usize {
    let folded = first as u64 ^ ((first >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filled up, so that there are chunks to look at.
    fn input(name: &str, behind: &str) -> Vec<u8> {
        format!("{name}{behind}{}", " ".repeat(2 * LONGEST)).into_bytes()
    }

    #[test]
    fn exactly_what_was_kept_is_found() {
        let letters: String = ('a'..='z').chain('A'..='Z').collect();
        for length in 1..=LONGEST {
            let mut names = Names::default();
            let name = &letters[..length];
            assert!(names.find(&input(name, ">"), 0).is_none());
            names.keep(&input(name, ">"), 0, length, 0);
            for behind in [">", "/>", " x='1'>", "='1'", "\n", "\t"] {
                let found = names.find(&input(name, behind), 0).unwrap();
                assert_eq!((found.length(), found.local()), (length, 0), "{name}{behind}");
            }
            for other in [&letters[..length - 1], &letters[..length + 1], &letters[1..=length]] {
                assert!(names.find(&input(other, ">"), 0).is_none(), "{other:?}, where {name:?} is kept");
            }
            for behind in [":", "<", "é", "\u{300}"] {
                assert!(names.find(&input(name, behind), 0).is_none(), "{name}{behind}");
            }
        }
        let mut names = Names::default();
        names.keep(&input(&letters, ">"), 0, LONGEST + 1, 0);
        assert!(names.places.is_empty(), "a name that is too long");
    }

    #[test]
    fn a_namespace_is_that_of_its_scope() {
        let mut names = Names::default();
        names.keep(&input("p:a", ">"), 0, 3, 2);
        let found = names.find(&input("p:a", ">"), 0).unwrap();
        assert_eq!(names.namespace(found, 0), None);
        names.keep_namespace(found, 7, NamespaceId::XML);
        assert_eq!(names.namespace(found, 7), Some(NamespaceId::XML));
        assert_eq!(names.namespace(found, 8), None);
    }
}
