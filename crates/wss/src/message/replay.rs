//! Messages that were received before.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, ready};

use crate::{Error, ErrorKind};

/// Remembers which messages were received, until they expire. Several servers of one service can share one.
pub trait ReplayCache: fmt::Debug + Send + Sync {
    /// Remembers a message for `age`, unless it is known. `message` is a digest of what its sender signed, of its password digest, or of
    /// the issuer and the id of its assertion. The cache has a clock of its own, because the policies that share it may have
    /// [different ones](super::Policy::with_clock).
    ///
    /// To ask and to remember is one step. If two servers ask at once, one of them gets [`Remembered::New`], and the other one
    /// [`Remembered::Known`].
    fn remember(&self, message: [u8; 32], age: Duration) -> BoxFuture<'_, Remembered>;
}

/// Whether a message was received before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remembered {
    /// It was not, and is remembered now.
    New,
    /// It was received before.
    Known,
    /// It can't be remembered, because the cache is full or can't be reached. The message is refused.
    Unavailable,
}

/// A [`ReplayCache`] in the memory of this process.
#[derive(Debug)]
pub struct ReplayMemory {
    entries: Mutex<Entries>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Entries {
    known: HashSet<[u8; 32]>,
    by_expiry: BTreeSet<(Instant, [u8; 32])>,
}

/// How many messages are remembered at most by default: 2,700 in each of the 360 s of a policy's default age and clock skew.
const MAX_REMEMBERED: usize = 1_000_000;

impl ReplayMemory {
    /// Creates a cache that remembers at most `limit` messages. Each takes about 200 bytes. A service that receives more
    /// than `limit` messages within the age and the clock skew of its policy, 360 s by default, refuses some.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        ReplayMemory { entries: Mutex::default(), limit }
    }

    fn remember_now(&self, message: [u8; 32], until: Instant, now: Instant) -> Remembered {
        // A panic leaves at worst a message that is remembered for ever.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Entries { known, by_expiry } = &mut *entries;
        while let Some((_, expired)) = by_expiry.first().filter(|(until, _)| *until < now).copied() {
            by_expiry.pop_first();
            known.remove(&expired);
        }
        if known.contains(&message) {
            return Remembered::Known;
        }
        if known.len() >= self.limit {
            return Remembered::Unavailable;
        }
        known.insert(message);
        by_expiry.insert((until, message));
        Remembered::New
    }
}

/// Remembers at most 1,000,000 messages.
impl Default for ReplayMemory {
    fn default() -> Self {
        ReplayMemory::new(MAX_REMEMBERED)
    }
}

impl ReplayCache for ReplayMemory {
    fn remember(&self, message: [u8; 32], age: Duration) -> BoxFuture<'_, Remembered> {
        let now = Instant::now();
        // A message that would have to be remembered for ever is refused.
        let remembered = now.checked_add(age).map(|until| self.remember_now(message, until, now));
        Box::pin(ready(remembered.unwrap_or(Remembered::Unavailable)))
    }
}

/// Several policies can have one cache: those of several services, or an old policy and the one that replaces it. The new one may not
/// accept older messages than the old one did: these could be sent again, since they were not remembered for so long.
impl<C: ReplayCache + ?Sized> ReplayCache for Arc<C> {
    fn remember(&self, message: [u8; 32], age: Duration) -> BoxFuture<'_, Remembered> {
        (**self).remember(message, age)
    }
}

/// Remembers what identifies a message, or an assertion.
pub(super) async fn remember(
    replays: &dyn ReplayCache,
    what: &str,
    identities: &[[u8; 32]],
    age: Duration,
) -> Result<(), Error> {
    for identity in identities {
        match replays.remember(*identity, age).await {
            Remembered::New => {}
            Remembered::Known => {
                return Err(Error::new(ErrorKind::Replayed, format!("{what} was received before")));
            }
            Remembered::Unavailable => {
                let message = "the message can't be remembered: the replay cache is full or not available";
                return Err(Error::new(ErrorKind::Limit, message));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Remembered::{Known, New, Unavailable};
    use super::*;

    #[test]
    fn messages_are_remembered_until_they_expire() {
        let cache = ReplayMemory::new(2);
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        for (message, until, now, expected) in [
            (1, 10, 0, New),
            (1, 20, 10, Known),
            (2, 30, 10, New),
            // It forgets nothing that has not expired.
            (3, 30, 10, Unavailable),
            (1, 30, 10, Known),
            (3, 30, 11, New),
            (2, 30, 30, Known),
            (1, 40, 31, New),
        ] {
            assert_eq!(cache.remember_now([message; 32], at(until), at(now)), expected, "{message} {now}");
        }
    }
}
