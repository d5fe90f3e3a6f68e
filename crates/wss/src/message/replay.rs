//! Messages that were received before.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Remembers which messages were received, until they expire. Several servers of one service can share one.
pub trait ReplayCache: fmt::Debug + Send + Sync {
    /// Remembers a message until this time. Returns false if it was received before, or can't be remembered.
    fn is_new(&self, message: [u8; 32], until: SystemTime, now: SystemTime) -> bool;
}

/// A [`ReplayCache`] in the memory of this process. It refuses messages while it is full.
#[derive(Debug)]
pub struct ReplayMemory {
    entries: Mutex<Entries>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Entries {
    known: HashSet<[u8; 32]>,
    by_expiry: BTreeSet<(SystemTime, [u8; 32])>,
}

impl ReplayMemory {
    /// Creates a cache that remembers at most `limit` messages. Each takes about 200 bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        ReplayMemory { entries: Mutex::default(), limit }
    }
}

/// Remembers at most 100,000 messages.
impl Default for ReplayMemory {
    fn default() -> Self {
        ReplayMemory::new(100_000)
    }
}

impl ReplayCache for ReplayMemory {
    fn is_new(&self, message: [u8; 32], until: SystemTime, now: SystemTime) -> bool {
        // A panic leaves at worst a message that is remembered for ever.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Entries { known, by_expiry } = &mut *entries;
        while let Some((_, expired)) = by_expiry.first().filter(|(until, _)| *until < now).copied() {
            by_expiry.pop_first();
            known.remove(&expired);
        }
        if known.len() >= self.limit || !known.insert(message) {
            return false;
        }
        by_expiry.insert((until, message));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn messages_are_remembered_until_they_expire() {
        let cache = ReplayMemory::new(2);
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(cache.is_new([1; 32], at(10), at(0)));
        assert!(!cache.is_new([1; 32], at(20), at(10)));
        assert!(cache.is_new([2; 32], at(30), at(10)));
        // It is full, and forgets nothing that has not expired.
        assert!(!cache.is_new([3; 32], at(30), at(10)));
        assert!(cache.is_new([3; 32], at(30), at(11)));
        assert!(!cache.is_new([2; 32], at(30), at(30)));
        assert!(cache.is_new([1; 32], at(40), at(31)));
    }
}
