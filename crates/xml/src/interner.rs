//! Names that were read before: they are checked once.

use crate::namespaces::NamespaceId;
use crate::scan::{self, WIDTH};

/// How many names are cached. Each name has one entry, and replaces the name that was there. Nothing is searched.
const ENTRIES: usize = 256;

/// The longest name that is cached, in bytes: two chunks, with one byte left for the end of the name.
pub(crate) const MAX_NAME_LENGTH: usize = 2 * WIDTH - 1;

/// Qualified names of up to [`MAX_NAME_LENGTH`] bytes, each with the namespace that its prefix was last resolved to.
///
/// A cached name was checked byte by byte. Equal bytes are the same name in any document. Its namespace is the same while the same
/// declarations are in scope.
#[derive(Debug)]
pub(crate) struct Interner {
    /// Empty until the first name is cached.
    entries: Vec<Entry>,
    /// Whether names are cached.
    pub(crate) is_used: bool,
}

impl Default for Interner {
    fn default() -> Self {
        Interner { entries: Vec::new(), is_used: true }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The bytes of the name, and zeros after them. No name has a zero byte.
    first: u128,
    second: u128,
    /// The number of the scope in which `namespace` holds.
    scope: u64,
    namespace: NamespaceId,
    length: u8,
    local: u8,
}

/// No text has the byte 0xFF, and no scope has the highest number.
const EMPTY: Entry =
    Entry { first: u128::MAX, second: 0, scope: u64::MAX, namespace: NamespaceId::NONE, length: 0, local: 0 };

/// A cached name. The next one that is cached may replace it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interned {
    entry: u8,
    length: u8,
    local: u8,
}

impl Interned {
    /// The length of the whole name.
    pub(crate) fn length(self) -> usize {
        self.length.into()
    }

    /// Where its local name begins.
    pub(crate) fn local(self) -> usize {
        self.local.into()
    }
}

impl Entry {
    /// Whether exactly the rest of the name is at `at`.
    #[inline(never)]
    fn matches_rest(&self, input: &[u8], at: usize) -> bool {
        let Some(chunk) = input.get(at..).and_then(<[u8]>::first_chunk) else { return false };
        let rest = scan::end_of_name(chunk);
        usize::from(self.length) == WIDTH + rest && scan::prefix(chunk, rest) == self.second
    }
}

impl Interner {
    /// Returns the name at `at`, if it is cached.
    #[inline]
    pub(crate) fn find(&self, input: &[u8], at: usize) -> Option<Interned> {
        let chunk = input.get(at..)?.first_chunk()?;
        let length = scan::end_of_name(chunk);
        let first = scan::prefix(chunk, length);
        let entry = entry_of(first);
        let cached = self.entries.get(entry)?;
        if cached.first != first || (length == WIDTH && !cached.matches_rest(input, at + WIDTH)) {
            return None;
        }
        Some(Interned { entry: entry as u8, length: cached.length, local: cached.local })
    }

    /// Caches the name at `at`, which was checked. Its local name begins `local` bytes later.
    pub(crate) fn insert(&mut self, input: &[u8], at: usize, length: usize, local: usize) {
        if !self.is_used {
            return;
        }
        let chunk = |at: usize| input.get(at..).and_then(<[u8]>::first_chunk);
        let Some(first) = chunk(at).filter(|_| length <= MAX_NAME_LENGTH) else { return };
        let first = scan::prefix(first, length.min(WIDTH));
        let second = match length.checked_sub(WIDTH) {
            None => 0,
            Some(rest) => match chunk(at + WIDTH) {
                Some(second) => scan::prefix(second, rest),
                None => return,
            },
        };
        self.entries.resize(ENTRIES, EMPTY);
        // Both fit: a cached name is short.
        let (length, local) = (length as u8, local as u8);
        self.entries[entry_of(first)] = Entry { first, second, length, local, ..EMPTY };
    }

    /// Returns the namespace of a name, if `scope` is the one in which it was last resolved.
    #[inline]
    pub(crate) fn namespace(&self, found: Interned, scope: u64) -> Option<NamespaceId> {
        let entry = self.entries.get(usize::from(found.entry))?;
        (entry.scope == scope).then_some(entry.namespace)
    }

    /// Caches the namespace of a name.
    pub(crate) fn insert_namespace(&mut self, found: Interned, scope: u64, namespace: NamespaceId) {
        if let Some(entry) = self.entries.get_mut(usize::from(found.entry)) {
            entry.scope = scope;
            entry.namespace = namespace;
        }
    }
}

/// Spreads names over the entries.
#[inline]
fn entry_of(first: u128) -> usize {
    let folded = first as u64 ^ ((first >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - ENTRIES.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name, and enough bytes after it for whole chunks.
    fn input(name: &str, behind: &str) -> Vec<u8> {
        format!("{name}{behind}{}", " ".repeat(2 * MAX_NAME_LENGTH)).into_bytes()
    }

    #[test]
    fn exactly_the_cached_names_are_found() {
        let letters: String = ('a'..='z').chain('A'..='Z').collect();
        for length in 1..=MAX_NAME_LENGTH {
            let mut names = Interner::default();
            let name = &letters[..length];
            assert!(names.find(&input(name, ">"), 0).is_none());
            names.insert(&input(name, ">"), 0, length, 0);
            for behind in [">", "/>", " x='1'>", "='1'", "\n", "\t"] {
                let found = names.find(&input(name, behind), 0).unwrap();
                assert_eq!((found.length(), found.local()), (length, 0), "{name}{behind}");
            }
            for other in [&letters[..length - 1], &letters[..length + 1], &letters[1..=length]] {
                assert!(names.find(&input(other, ">"), 0).is_none(), "{other:?}, where {name:?} is cached");
            }
            for behind in [":", "<", "é", "\u{300}"] {
                assert!(names.find(&input(name, behind), 0).is_none(), "{name}{behind}");
            }
        }
        let mut names = Interner::default();
        names.insert(&input(&letters, ">"), 0, MAX_NAME_LENGTH + 1, 0);
        assert!(names.entries.is_empty(), "a name that is too long");
    }

    #[test]
    fn a_namespace_is_that_of_its_scope() {
        let mut names = Interner::default();
        names.insert(&input("p:a", ">"), 0, 3, 2);
        let found = names.find(&input("p:a", ">"), 0).unwrap();
        assert_eq!(names.namespace(found, 0), None);
        names.insert_namespace(found, 7, NamespaceId::XML);
        assert_eq!(names.namespace(found, 7), Some(NamespaceId::XML));
        assert_eq!(names.namespace(found, 8), None);
    }
}
