//! A budget of bytes that all requests of a process share.
//!
//! A limit for each message doesn't bound a process: a thousand messages within their limits can use all the memory of
//! the machine. A [`Budget`] limits what all of them use together. Code that is about to store bytes [reserves] them
//! first, and stores them only if the budget grants them. The [`Reservation`] gives everything back when it is dropped.
//!
//! ```
//! use castile_budget::Budget;
//!
//! let budget = Budget::new(64 << 20);
//! let reservation = budget.reserve(48 << 20)?;
//! let refused = reservation.grow(32 << 20).unwrap_err();
//! assert_eq!(refused.to_string(), "32 MiB are needed, but 48 MiB of the budget of 64 MiB are in use");
//!
//! reservation.shrink(40 << 20);
//! reservation.grow(32 << 20)?;
//! assert_eq!(budget.used(), 40 << 20);
//!
//! drop(reservation);
//! assert_eq!(budget.used(), 0);
//! # Ok::<(), castile_budget::Exhausted>(())
//! ```
//!
//! An [`Allowance`] is for code that stores many small values. It asks its reservation in large steps and counts down
//! an integer in between.
//!
//! All memory of the process is shared through [`Budget::process`], whose limit is [a share](machine::SHARE) of the
//! memory of the machine or the container.
//!
//! [reserves]: Budget::reserve

mod allowance;
mod charged;
mod exhausted;
pub mod machine;
mod pool;
mod reservation;
mod size;

use std::sync::{Arc, OnceLock};

pub use allowance::{Allowance, BLOCK, STEP, next_capacity};
pub use charged::Charged;
pub use exhausted::Exhausted;
#[doc(hidden)]
pub use pool::{Pool, thread_number};
pub use reservation::{Reservation, Share};
pub use size::{InvalidSize, Size};

/// Allocations up to this many bytes need not be charged: a connection uses about as much anyway.
pub const UNCHARGED: usize = 4 << 10;

/// A limit on the bytes in use, and a count of them.
///
/// A clone is the same budget. The default is [`Budget::process`].
#[derive(Clone, Debug)]
pub struct Budget {
    /// The outer count of references is that of the clones of one [handle](Budget::handle).
    #[expect(clippy::redundant_allocation, reason = "the inner count would be changed by all cores")]
    pool: Arc<Arc<Pool>>,
}

impl Budget {
    /// Creates a separate budget of `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        Budget { pool: Arc::new(Arc::new(Pool::new(bytes))) }
    }

    /// Creates a budget that grants everything. It still counts the bytes in use.
    pub fn unlimited() -> Self {
        Budget::new(usize::MAX)
    }

    /// Returns the memory budget that everything in this process shares by default.
    ///
    /// Its limit is [`machine::share`]: half of the memory that the process may use. The limit is determined on the
    /// first call.
    pub fn process() -> Self {
        static PROCESS: OnceLock<Budget> = OnceLock::new();
        PROCESS.get_or_init(|| Budget::new(machine::share())).clone()
    }

    /// Returns the same budget with a count of references of its own: reservations of it don't change a count that other cores change.
    #[doc(hidden)]
    #[must_use]
    pub fn handle(&self) -> Self {
        Budget { pool: Arc::new(Arc::clone(&self.pool)) }
    }

    /// Returns the most bytes that may be in use at a time; `usize::MAX` if the budget is unlimited.
    pub fn limit(&self) -> usize {
        self.pool.limit()
    }

    /// Returns whether this budget is a clone of `other`.
    pub fn is_same(&self, other: &Budget) -> bool {
        Arc::ptr_eq(&*self.pool, &*other.pool)
    }

    /// Returns how many bytes are in use now: the sum of all reservations.
    pub fn used(&self) -> usize {
        self.pool.taken()
    }

    /// Takes `bytes` out of the budget until the reservation is dropped.
    ///
    /// Reserving 0 bytes always succeeds. Such a reservation can [grow](Reservation::grow) later.
    ///
    /// # Errors
    ///
    /// Fewer than `bytes` are left. Nothing is taken then.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, Exhausted> {
        if bytes > 0 {
            self.take(bytes)?;
        }
        Ok(Reservation::holding(self.clone(), bytes))
    }

    fn take(&self, bytes: usize) -> Result<(), Exhausted> {
        match self.pool.take(bytes) {
            true => Ok(()),
            false => Err(Exhausted { asked: bytes, used: self.used(), limit: self.limit() }),
        }
    }

    /// Only a reservation calls this, with bytes that it holds.
    fn give(&self, bytes: usize) {
        self.pool.give(bytes);
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget::process()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_granted_up_to_the_last_byte() {
        let budget = Budget::new(10);
        let all = budget.reserve(10).unwrap();
        assert_eq!(budget.reserve(1).unwrap_err(), Exhausted { asked: 1, used: 10, limit: 10 });
        assert_eq!(all.bytes(), 10);
        drop(all);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn nothing_overflows() {
        let budget = Budget::unlimited();
        let most = budget.reserve(usize::MAX).unwrap();
        assert!(budget.reserve(1).is_err());
        assert!(most.grow(usize::MAX).is_err());
        most.shrink(usize::MAX);
        most.shrink(usize::MAX);
        assert_eq!((most.bytes(), budget.used()), (0, 0));
    }

    #[test]
    fn the_process_has_one_budget() {
        let held = Budget::default().reserve(1_000).unwrap();
        assert!(Budget::process().used() >= held.bytes());
        assert!(Budget::process().limit() > 0);
    }

    #[test]
    fn threads_never_take_more_than_the_limit_together() {
        let budget = Budget::new(1_000);
        std::thread::scope(|scope| {
            for seed in 0..8 {
                let budget = &budget;
                scope.spawn(move || {
                    let shared = budget.reserve(0).unwrap();
                    for i in 0..2_000 {
                        let bytes = (i * 31 + seed * 97) % 400;
                        let one = budget.reserve(bytes);
                        let grown = shared.grow(bytes / 3).is_ok();
                        assert!(budget.used() <= 1_000);
                        drop(one);
                        if grown {
                            shared.shrink(bytes / 3);
                        }
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
    }
}
