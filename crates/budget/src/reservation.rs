use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Budget, Exhausted};

/// Bytes that are taken out of a [`Budget`], until this is dropped.
///
/// Any number of threads may grow and shrink it at the same time.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    held: AtomicUsize,
}

impl Reservation {
    /// `bytes` are taken already.
    pub(crate) fn holding(budget: Budget, bytes: usize) -> Self {
        Reservation { budget, held: AtomicUsize::new(bytes) }
    }

    /// Takes `bytes` more out of the budget.
    ///
    /// # Errors
    ///
    /// When less than `bytes` is left. What was held before is still held.
    pub fn grow(&self, bytes: usize) -> Result<(), Exhausted> {
        self.budget.pool.take(bytes)?;
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives `bytes` back, or everything if less is held.
    pub fn shrink(&self, bytes: usize) {
        let less = |held: usize| Some(held.saturating_sub(bytes));
        let held = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_else(|held| held);
        self.budget.pool.give(held.min(bytes));
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Where the bytes come from.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let held = *self.held.get_mut();
        if held > 0 {
            self.budget.pool.give(held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_by_more_than_is_held_gives_back_what_is_held() {
        let budget = Budget::new(100);
        let (one, other) = (budget.reserve(10).unwrap(), budget.reserve(20).unwrap());
        one.shrink(25);
        assert_eq!((one.bytes(), other.bytes(), budget.used()), (0, 20, 20));
    }

    #[test]
    fn what_is_refused_leaves_what_was_held() {
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
