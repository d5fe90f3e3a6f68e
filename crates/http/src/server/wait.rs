//! What a connection waits for, and how fast its peer is.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// The bytes that each waiting peer is credited with at the start. So a new peer counts as fast, and becomes slow
/// unless it moves bytes.
const CREDIT: u64 = 1_000;

/// The time in milliseconds after which moved bytes count half as much. So a fast peer that stalls soon counts as slow,
/// but a short pause of the network doesn't matter.
const HALF_LIFE: f64 = 500.0;

/// The units per byte in which recently moved bytes are counted, so that fractions of a byte are not lost.
pub(super) const PARTS: u64 = 1 << 10;

/// How long a client may read an answer slowly before it can be dropped for lack of memory, in milliseconds.
const READING: u64 = 1_000;

/// The turn of one request, from its head to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn(pub(super) u32);

/// The pace of a waiting peer: the bytes it moved recently, and the start of its wait. The slowest has the smallest
/// pace.
pub(super) type Pace = (u64, u64);

/// What a connection waits for: its peer, or nothing. Other connections read it when one must be dropped.
///
/// A task of a handler may still hold the body of a request when the next request begins. Therefore each change of the
/// state also checks the turn, in one atomic step. The other fields are only hints about speed and size. Such a task
/// may update them for an ended request, and that may count for the next one until its message is complete. The worst
/// consequence is that a different waiting connection is dropped.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// The kind in the lowest 8 bits, and above it the turn of the last request.
    state: AtomicU64,
    /// In milliseconds since the server began.
    since: AtomicU64,
    /// The bytes that were moved during this wait.
    moved: AtomicU64,
    /// The recently moved bytes, in [`PARTS`] of a byte, and the time when that was computed, in milliseconds since the
    /// server began.
    recent: AtomicU64,
    computed_at: AtomicU64,
    /// The bytes of an incomplete message, as counted by [`Connections`](super::connections::Connections).
    bytes: AtomicUsize,
    /// The waker of the connection's task. Not an `AtomicWaker`, which would be empty after the first wake.
    waker: Mutex<Option<Waker>>,
}

impl Wait {
    const NONE: u8 = 0;
    /// Waits for a request, a head, or the reader of an answer, in the task of the connection.
    pub(super) const PEER: u8 = 1;
    /// Waits for a body, in the task that reads it.
    pub(super) const BODY: u8 = 2;
    /// To be dropped with an answer.
    pub(super) const DROPPED: u8 = 3;
    /// To be closed.
    pub(super) const CLOSED: u8 = 4;

    /// The number of bits of the kind.
    const KIND: u32 = u8::BITS;

    fn state(Turn(turn): Turn, kind: u8) -> u64 {
        u64::from(turn) << Wait::KIND | u64::from(kind)
    }

    fn kind(&self) -> u8 {
        self.state.load(Relaxed) as u8
    }

    /// Returns the turn of the last request.
    pub(super) fn turn(&self) -> Turn {
        Turn((self.state.load(Relaxed) >> Wait::KIND) as u32)
    }

    /// Changes the kind to the result of `next`, if the current turn is `of` (or `of` is `None`). Returns `false` if
    /// nothing changed.
    fn change(&self, of: Option<Turn>, next: impl Fn(u8) -> Option<u8>) -> bool {
        let change = |state: u64| {
            let turn = Turn((state >> Wait::KIND) as u32);
            let kind = next(state as u8).filter(|_| of.is_none_or(|of| of == turn))?;
            Some(Wait::state(turn, kind))
        };
        self.state.fetch_update(Relaxed, Relaxed, change).is_ok()
    }

    pub(super) fn is_on(&self) -> bool {
        matches!(self.kind(), Wait::PEER | Wait::BODY)
    }

    /// Returns whether the connection waits, or is to be dropped.
    pub(super) fn is_waiting_or_over(&self) -> bool {
        self.kind() != Wait::NONE
    }

    pub(super) fn is_for_body(&self) -> bool {
        self.kind() == Wait::BODY
    }

    /// Returns whether the connection is to be dropped.
    pub(super) fn is_over(&self) -> bool {
        self.kind() >= Wait::DROPPED
    }

    /// Adds bytes of an incomplete message.
    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Release);
    }

    /// Returns the held bytes of an incomplete message, which no longer count.
    pub(super) fn take_bytes(&self) -> usize {
        self.bytes.swap(0, Acquire)
    }

    /// Returns the held bytes of an incomplete message.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Returns the pace, by which the slowest has the least: recently moved bytes, then the start of the wait.
    pub(super) fn pace(&self, now: u64) -> Pace {
        (self.recent(now), self.since.load(Relaxed))
    }

    /// Returns the recent rate in bytes per second.
    fn rate(&self, now: u64) -> u64 {
        (self.recent(now) as f64 / PARTS as f64 / HALF_LIFE * 1_000.0 * std::f64::consts::LN_2) as u64
    }

    /// Returns whether an answer of `held` bytes is read so slowly that it would take longer than `limit`.
    /// The system accepts an answer in bursts, so the larger of two rates is used: the recent one, and the average
    /// since the wait began.
    pub(super) fn reads_slowly(&self, held: usize, now: u64, limit: Duration) -> bool {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let waited = now.saturating_sub(self.since.load(Relaxed));
        let mean = self.moved.load(Relaxed).saturating_mul(1_000) / waited.max(1);
        waited >= READING && self.rate(now).max(mean).saturating_mul(limit) / 1_000 < held as u64
    }

    fn recent(&self, now: u64) -> u64 {
        let passed = now.saturating_sub(self.computed_at.load(Relaxed));
        (self.recent.load(Relaxed) as f64 * (-(passed as f64) / HALF_LIFE).exp2()) as u64
    }

    /// Updates the number of moved bytes. Only the waiting task calls this.
    pub(super) fn note_moved(&self, now: u64, moved: u64) {
        let more = moved.saturating_sub(self.moved.swap(moved, Relaxed));
        self.recent.store(self.recent(now).saturating_add(more.saturating_mul(PARTS)), Relaxed);
        self.computed_at.store(now, Relaxed);
    }

    /// Resets the counters for a new wait.
    pub(super) fn begin_anew(&self, now: u64) {
        self.moved.store(0, Relaxed);
        self.recent.store(CREDIT * PARTS, Relaxed);
        self.computed_at.store(now, Relaxed);
    }

    /// Begins the turn of a request, without a wait.
    pub(super) fn begin_turn(&self, turn: Turn) {
        self.state.store(Wait::state(turn, Wait::NONE), Relaxed);
    }

    /// Begins or continues a wait at `now`. `waited` is the previous waiting time in milliseconds, and `moved` the
    /// bytes that were moved in it.
    pub(super) fn begin(&self, kind: u8, turn: Turn, now: u64, waited: u64, moved: u64) {
        if waited == 0 && moved == 0 {
            self.begin_anew(now);
        } else if self.kind() == Wait::NONE {
            // The time without a wait doesn't count.
            self.computed_at.store(now, Relaxed);
        }
        self.note_moved(now, moved);
        self.since.store(now.saturating_sub(waited), Relaxed);
        // If it is to be dropped, it stays so.
        self.change(Some(turn), |now| (now < Wait::DROPPED).then_some(kind));
    }

    /// Ends the wait. The connection is no longer to be dropped.
    pub(super) fn end(&self) {
        self.change(None, |_| Some(Wait::NONE));
    }

    /// Ends the wait for a body of this turn. If it was to be dropped, the body has arrived just in time.
    pub(super) fn end_of_body(&self, turn: Turn) {
        self.change(Some(turn), |kind| matches!(kind, Wait::BODY | Wait::DROPPED).then_some(Wait::NONE));
    }

    /// Returns whether the request of this turn is to be dropped, only once.
    pub(super) fn take_drop(&self, turn: Turn) -> bool {
        let [dropped, none] = [Wait::DROPPED, Wait::NONE].map(|kind| Wait::state(turn, kind));
        self.state.load(Relaxed) == dropped && self.state.compare_exchange(dropped, none, Relaxed, Relaxed).is_ok()
    }

    /// Marks the connection to be dropped, unless it has just continued. Each list of candidates has its own lock, so
    /// several tasks may call this at the same time. Only one of them succeeds per wait.
    pub(super) fn drop_it(&self, how: u8) -> bool {
        let is_dropped = self.change(None, |kind| matches!(kind, Wait::PEER | Wait::BODY).then_some(how));
        if is_dropped {
            self.wake();
        }
        is_dropped
    }

    /// Wakes the task of the connection.
    pub(super) fn wake(&self) {
        // The waker stays, because the connection may continue and be woken later.
        let waker = self.waker().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Sets the waker of the connection's task, which is woken when the connection is to be dropped, and at an order to stop.
    pub(super) fn set_waker(&self, waker: &Waker) {
        let mut known = self.waker();
        match &mut *known {
            Some(known) => known.clone_from(waker),
            None => *known = Some(waker.clone()),
        }
    }

    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    /// The turn of the first request.
    const TURN: Turn = Turn(0);

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// Regression: the second drop did not wake the task, because the waker was consumed.
    #[test]
    fn each_drop_is_heard() {
        let (wait, woken) = (Wait::default(), Arc::new(Woken::default()));
        wait.set_waker(&woken.clone().into());
        for (times, kind) in [(1, Wait::PEER), (2, Wait::BODY), (3, Wait::BODY)] {
            wait.begin(kind, TURN, 0, 0, 0);
            wait.drop_it(Wait::DROPPED);
            assert_eq!(woken.0.load(Relaxed), times);
            wait.end();
        }
    }

    /// Regression: the connection was closed while it was at work.
    #[test]
    fn a_message_that_arrives_in_time_is_not_dropped() {
        let wait = Wait::default();
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        wait.drop_it(Wait::DROPPED);
        assert!(wait.is_over());
        wait.end_of_body(TURN);
        assert!(!wait.is_over());
        wait.begin(Wait::PEER, TURN, 0, 0, 0);
        wait.drop_it(Wait::CLOSED);
        wait.end_of_body(TURN);
        assert!(wait.is_over());
    }

    /// Regression: when two drops met, the waker was lost and no later drop woke the task.
    #[test]
    fn drops_that_meet_leave_the_waker() {
        let (wait, woken) = (Wait::default(), Arc::new(Woken::default()));
        wait.set_waker(&woken.clone().into());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..300_000 {
                        wait.begin(Wait::BODY, TURN, 0, 0, 0);
                        wait.drop_it(Wait::DROPPED);
                        wait.end();
                    }
                });
            }
        });
        let before = woken.0.load(Relaxed);
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        assert!(wait.drop_it(Wait::DROPPED));
        assert_eq!(woken.0.load(Relaxed), before + 1);
    }

    /// Regression: the turn was checked in a separate step, and the next request could begin in between.
    #[test]
    fn an_old_turn_neither_begins_nor_ends_a_wait() {
        let (wait, next) = (Wait::default(), Turn(2));
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        wait.begin_turn(next);
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        assert!(!wait.is_on() && !wait.drop_it(Wait::DROPPED), "it works");
        wait.begin(Wait::BODY, next, 0, 0, 0);
        assert!(wait.drop_it(Wait::DROPPED));
        wait.end_of_body(TURN);
        assert!(!wait.take_drop(TURN) && wait.is_over());
        assert!(wait.take_drop(next) && !wait.take_drop(next));
    }
}
