use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::{Budget, Exhausted};

/// Bytes taken out of a [`Budget`]. Dropping the reservation gives them back.
///
/// Several threads may grow and shrink a reservation at the same time.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    /// Bytes held directly, without those of the shares.
    held: AtomicUsize,
    /// Bytes held by the shares.
    shared: AtomicUsize,
    refused: AtomicUsize,
    /// Whether nobody waits for the result any more.
    has_ended: AtomicBool,
    /// The reservation whose method [`another`](Self::another) created this one. Refusals are recorded there, and its
    /// end ends this one too.
    beside: Weak<Reservation>,
}

impl Reservation {
    /// Creates a reservation for `bytes` that the caller has taken from the budget.
    pub(crate) fn holding(budget: Budget, bytes: usize) -> Self {
        Reservation {
            budget,
            held: AtomicUsize::new(bytes),
            shared: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
            beside: Weak::new(),
        }
    }

    /// Takes `bytes` more out of the budget.
    ///
    /// # Errors
    ///
    /// Fewer than `bytes` are left, or the reservation has [ended](Self::end). The reservation keeps the bytes that it
    /// holds.
    pub fn grow(&self, bytes: usize) -> Result<(), Exhausted> {
        self.try_grow(bytes).inspect_err(|_| self.note_refused(bytes))
    }

    /// Takes `bytes` more if possible. Refusals are not recorded, because the caller can continue with fewer bytes.
    pub(crate) fn try_grow(&self, bytes: usize) -> Result<(), Exhausted> {
        self.take(bytes, &self.held)
    }

    /// Takes `bytes` more and adds them to `count`.
    fn take(&self, bytes: usize, count: &AtomicUsize) -> Result<(), Exhausted> {
        if self.has_ended() {
            return Err(Exhausted { asked: bytes, used: self.budget.used(), limit: self.budget.limit() });
        }
        self.budget.take(bytes)?;
        count.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Creates a second reservation of `bytes` in the same budget, for data that may outlive this reservation. If the
    /// second one is refused more bytes, [`take_refused`](Self::take_refused) of this one returns them.
    ///
    /// # Errors
    ///
    /// Fewer than `bytes` are left. Nothing is taken then.
    pub fn another(self: &Arc<Self>, bytes: usize) -> Result<Reservation, Exhausted> {
        let mut other = self.budget.reserve(bytes).inspect_err(|_| self.note_refused(bytes))?;
        other.beside = Arc::downgrade(self);
        Ok(other)
    }

    /// Returns the size of the largest refused request for bytes since the last call of this method, or 0 if none was
    /// refused. Requests of [shares](Share) and of reservations made by [`another`](Self::another) count too. Requests
    /// after the [end](Self::end) don't count.
    pub fn take_refused(&self) -> usize {
        match self.refused.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.refused.swap(0, Ordering::Relaxed),
        }
    }

    /// Ends this reservation, because nobody waits for the result any more. It and those made by
    /// [`another`](Self::another) can't grow further, so work that is charged in steps stops at the next step. Bytes
    /// already held stay held until the reservation is dropped.
    ///
    /// ```
    /// use castile_budget::Budget;
    ///
    /// let request = Budget::new(1_000).reserve(100)?;
    /// request.end();
    /// assert!(request.grow(1).is_err());
    /// assert_eq!(request.bytes(), 100);
    /// # Ok::<(), castile_budget::Exhausted>(())
    /// ```
    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed) || self.beside.upgrade().is_some_and(|beside| beside.has_ended())
    }

    #[cold]
    fn note_refused(&self, bytes: usize) {
        // Nobody waits for this result, so no other request is dropped to free memory for it.
        if self.has_ended() {
            return;
        }
        match self.beside.upgrade() {
            Some(beside) => beside.note_refused(bytes),
            None => drop(self.refused.fetch_max(bytes, Ordering::Relaxed)),
        }
    }

    /// Gives `bytes` back, or all bytes that the reservation holds if these are fewer. It keeps the bytes of its
    /// [shares](Share).
    pub fn shrink(&self, bytes: usize) {
        let less = |held: usize| Some(held.saturating_sub(bytes));
        let held = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_else(|held| held);
        self.budget.give(held.min(bytes));
    }

    /// Gives back everything except the bytes of its [shares](Share), which may outlive the work that the reservation
    /// was made for.
    pub fn release(&self) {
        self.budget.give(self.held.swap(0, Ordering::Relaxed));
    }

    /// Returns how many bytes the reservation holds, including those of its [shares](Share).
    pub fn bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed) + self.shared.load(Ordering::Relaxed)
    }

    /// Returns the budget that the bytes come from.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let held = *self.held.get_mut();
        if held > 0 {
            self.budget.give(held);
        }
    }
}

/// Part of a [`Reservation`] whose bytes are given back when the share is dropped, even if the reservation lives on.
///
/// ```
/// use castile_budget::{Budget, Share};
/// use std::sync::Arc;
///
/// let request = Arc::new(Budget::new(1_000).reserve(100)?);
/// let mut share = Share::of(request.clone());
/// share.grow(200)?;
/// assert_eq!(request.bytes(), 300);
///
/// drop(share);
/// assert_eq!(request.bytes(), 100);
/// # Ok::<(), castile_budget::Exhausted>(())
/// ```
#[derive(Debug)]
pub struct Share {
    of: Arc<Reservation>,
    held: usize,
}

impl Share {
    /// Creates a share that holds no bytes yet.
    pub fn of(reservation: Arc<Reservation>) -> Self {
        Share { of: reservation, held: 0 }
    }

    /// Takes `bytes` more. They count as bytes of the reservation too.
    ///
    /// # Errors
    ///
    /// The reservation can't grow by that much. The share keeps the bytes that it holds.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.of.take(bytes, &self.of.shared).inspect_err(|_| self.of.note_refused(bytes))?;
        self.held += bytes;
        Ok(())
    }

    /// Gives `bytes` back, or everything if the share holds fewer.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.held);
        self.of.shared.fetch_sub(bytes, Ordering::Relaxed);
        self.of.budget.give(bytes);
        self.held -= bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: one retained attachment kept the whole request charged.
    #[test]
    fn shares_outlast_what_they_are_of() {
        let budget = Budget::new(100);
        let reservation = Arc::new(budget.reserve(60).unwrap());
        let mut share = Share::of(reservation.clone());
        share.grow(20).unwrap();
        share.shrink(5);
        reservation.release();
        drop(reservation);
        assert_eq!(budget.used(), 15);
        drop(share);
        assert_eq!(budget.used(), 0);
    }

    /// Regression: when a share grew or shrank during a release, its bytes were given back twice or never.
    #[test]
    fn shares_change_while_the_rest_is_released() {
        let budget = Budget::new(usize::MAX);
        let reservation = Arc::new(budget.reserve(0).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut share = Share::of(reservation.clone());
                    for _ in 0..20_000 {
                        share.grow(10).unwrap();
                        share.shrink(10);
                    }
                });
            }
            for _ in 0..20_000 {
                reservation.grow(1).unwrap();
                reservation.release();
            }
        });
        assert_eq!((reservation.bytes(), budget.used()), (0, 0));
        let mut share = Share::of(reservation.clone());
        share.grow(10).unwrap();
        reservation.shrink(5);
        assert_eq!(budget.used(), 10);
    }

    #[test]
    fn a_refused_charge_is_reported_once() {
        let budget = Budget::new(100);
        let reservation = Arc::new(budget.reserve(60).unwrap());
        assert_eq!(reservation.take_refused(), 0);
        reservation.grow(50).unwrap_err();
        reservation.another(70).unwrap_err();
        Share::of(reservation.clone()).grow(60).unwrap_err();
        reservation.grow(10).unwrap();
        assert_eq!((reservation.take_refused(), reservation.take_refused()), (70, 0));
        let another = reservation.another(5).unwrap();
        another.grow(80).unwrap_err();
        assert_eq!((another.take_refused(), reservation.take_refused()), (0, 80));
    }

    #[test]
    fn shrinking_by_more_than_is_held_gives_back_what_is_held() {
        let budget = Budget::new(100);
        let (one, other) = (budget.reserve(10).unwrap(), budget.reserve(20).unwrap());
        one.shrink(25);
        assert_eq!((one.bytes(), other.bytes(), budget.used()), (0, 20, 20));
    }

    #[test]
    fn a_refused_charge_keeps_the_bytes_held_before() {
        let budget = Budget::new(100);
        let reservation = budget.reserve(60).unwrap();
        assert_eq!(reservation.grow(41).unwrap_err(), Exhausted { asked: 41, used: 60, limit: 100 });
        reservation.grow(40).unwrap();
        assert_eq!((reservation.bytes(), budget.used()), (100, 100));
    }

    #[test]
    fn a_panic_gives_everything_back() {
        let budget = Budget::new(100);
        let reservation = budget.reserve(60).unwrap();
        std::panic::catch_unwind(move || {
            reservation.grow(10).unwrap();
            std::panic::resume_unwind(Box::new("the end"));
        })
        .unwrap_err();
        assert_eq!(budget.used(), 0);
    }
}
