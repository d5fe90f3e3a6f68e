use std::sync::Arc;

use crate::{Exhausted, Reservation};

/// The fewest bytes that an [`Allowance`] asks its reservation for at a time: 64 KiB. It asks for an eighth of what the
/// reservation holds if that is more.
pub const STEP: usize = 64 << 10;

/// The approximate overhead of a memory allocation, in bytes.
pub const BLOCK: usize = 16;

/// Bytes granted in advance by a [`Reservation`], to be charged in small amounts.
///
/// Code that stores many small values charges them here. A charge is usually one subtraction; the budget is asked only
/// once per [step](STEP). On drop, granted bytes that were not charged are given back. Charged bytes stay with the
/// reservation.
///
/// ```
/// use castile_budget::{Allowance, Budget, STEP};
/// use std::sync::Arc;
///
/// let budget = Budget::new(1 << 20);
/// let reservation = Arc::new(budget.reserve(0)?);
/// let mut allowance = Allowance::of(reservation.clone(), 0);
/// allowance.charge(100)?;
/// allowance.charge(200)?;
/// assert_eq!(reservation.bytes(), STEP);
/// assert!(allowance.charge(2 << 20).is_err());
///
/// drop(allowance);
/// assert_eq!(reservation.bytes(), 300);
/// # Ok::<(), castile_budget::Exhausted>(())
/// ```
#[derive(Debug)]
pub struct Allowance {
    left: usize,
    /// How much the reservation grew for this allowance.
    granted: usize,
    reservation: Option<Arc<Reservation>>,
}

impl Allowance {
    /// Creates an allowance that grants everything and counts nothing.
    pub fn unlimited() -> Self {
        Allowance { left: usize::MAX, granted: 0, reservation: None }
    }

    /// Creates an allowance over `reservation`. The first `free` bytes are not charged, so small messages never touch
    /// the budget.
    pub fn of(reservation: Arc<Reservation>, free: usize) -> Self {
        Allowance { left: free, granted: 0, reservation: Some(reservation) }
    }

    /// Charges `bytes` that are about to be stored.
    ///
    /// # Errors
    ///
    /// The reservation can't grow by that much. Nothing is charged then.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Exhausted> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.step(bytes),
        }
    }

    /// Gives back everything that was charged.
    pub fn give_back(&mut self) {
        if let Some(reservation) = &self.reservation {
            reservation.shrink(std::mem::take(&mut self.granted));
            self.left = 0;
        }
    }

    #[cold]
    fn step(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let Some(reservation) = &self.reservation else {
            self.left = usize::MAX;
            return Ok(());
        };
        let missing = bytes - self.left;
        let step = missing.max(STEP).max(reservation.bytes() / 8);
        let granted = match reservation.try_grow(step) {
            Ok(()) => step,
            // Less than a whole step may be left in the budget.
            Err(_) => reservation.grow(missing).map(|()| missing)?,
        };
        self.granted += granted;
        self.left = granted - missing;
        Ok(())
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        if let Some(reservation) = &self.reservation {
            // `left` can exceed `granted`, because the free bytes were never granted.
            reservation.shrink(self.left.min(self.granted));
        }
    }
}

/// Returns how many values a vector should have capacity for, so that `more` fit: as many as vectors grow to by themselves.
/// Returns `None` if they fit already.
#[doc(hidden)]
#[inline]
pub fn next_capacity<T>(values: &Vec<T>, more: usize) -> Option<usize> {
    let (length, capacity) = (values.len(), values.capacity());
    (more > capacity - length).then(|| grown(length.saturating_add(more), capacity, size_of::<T>()))
}

fn grown(wanted: usize, capacity: usize, size: usize) -> usize {
    let least = match size {
        ..=1 => 8,
        2..=1024 => 4,
        _ => 1,
    };
    wanted.max(capacity.saturating_mul(2)).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;

    fn allowance(limit: usize, free: usize) -> (Budget, Arc<Reservation>, Allowance) {
        let budget = Budget::new(limit);
        let reservation = Arc::new(budget.reserve(0).unwrap());
        (budget, reservation.clone(), Allowance::of(reservation, free))
    }

    #[test]
    fn charges_within_the_free_bytes_do_not_use_the_budget() {
        let (budget, reservation, mut allowance) = allowance(0, 1_000);
        allowance.charge(600).unwrap();
        allowance.charge(400).unwrap();
        assert_eq!(allowance.charge(1).unwrap_err(), Exhausted { asked: 1, used: 0, limit: 0 });
        drop(allowance);
        assert_eq!((reservation.bytes(), budget.used()), (0, 0));
    }

    #[test]
    fn many_charges_are_one_step() {
        let (budget, reservation, mut allowance) = allowance(10 * STEP, 0);
        for _ in 0..STEP / 64 {
            allowance.charge(64).unwrap();
        }
        assert_eq!(budget.used(), STEP);
        allowance.charge(1).unwrap();
        assert_eq!(budget.used(), 2 * STEP);
        drop(allowance);
        assert_eq!((reservation.bytes(), budget.used()), (STEP + 1, STEP + 1));
    }

    #[test]
    fn a_budget_is_used_up_to_its_last_byte() {
        let (budget, _reservation, mut allowance) = allowance(STEP + 10, 0);
        allowance.charge(STEP).unwrap();
        allowance.charge(10).unwrap();
        assert_eq!(allowance.charge(1).unwrap_err(), Exhausted { asked: 1, used: STEP + 10, limit: STEP + 10 });
        assert_eq!(budget.used(), STEP + 10);
    }

    #[test]
    fn returned_bytes_can_be_used_by_others() {
        let (budget, reservation, mut allowance) = allowance(10 * STEP, 100);
        reservation.grow(50).unwrap();
        allowance.charge(3 * STEP).unwrap();
        allowance.give_back();
        assert_eq!((reservation.bytes(), budget.used()), (50, 50));
        allowance.charge(10).unwrap();
        drop(allowance);
        assert_eq!((reservation.bytes(), budget.used()), (60, 60));
    }

    #[test]
    fn without_a_reservation_everything_is_granted() {
        let mut allowance = Allowance::unlimited();
        allowance.charge(usize::MAX).unwrap();
        allowance.charge(usize::MAX).unwrap();
    }
}
