//! What a connection holds of budgets, for whoever looks for room when one is used up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use castile_budget::{Budget, Reservation};

/// What the request on a connection and its answer are charged to. What has ended holds nothing.
#[derive(Debug, Default)]
pub(super) struct Holdings(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    memory: Weak<Reservation>,
    disk: Weak<Reservation>,
    answer: Weak<Reservation>,
}

impl Holdings {
    /// A request is charged to `memory`.
    pub(super) fn request(&self, memory: &Arc<Reservation>) {
        self.lock().memory = Arc::downgrade(memory);
    }

    /// What waits in files is charged to `disk`.
    pub(super) fn files(&self, disk: &Arc<Reservation>) {
        self.lock().disk = Arc::downgrade(disk);
    }

    /// An answer is charged to `memory` until it is read.
    pub(super) fn answer(&self, memory: &Arc<Reservation>) {
        self.lock().answer = Arc::downgrade(memory);
    }

    /// The request is over. What is kept of its package is its handler's.
    pub(super) fn end_of_request(&self) {
        let mut held = self.lock();
        (held.memory, held.disk) = Default::default();
    }

    /// How many bytes of a budget are held.
    pub(super) fn of(&self, budget: &Budget) -> usize {
        let Held { memory, disk, answer } = &*self.lock();
        let held = [memory, disk, answer].map(|weak| {
            let reservation = weak.upgrade().filter(|reservation| reservation.budget().is_same(budget));
            reservation.map_or(0, |reservation| reservation.bytes())
        });
        held.into_iter().fold(0, usize::saturating_add)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
