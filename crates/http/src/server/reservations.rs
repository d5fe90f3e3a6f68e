//! The reservations of a connection, for a search when a budget runs short.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use castile_budget::{Budget, Reservation};

/// The reservations of the current request and its answer. An ended reservation counts as nothing.
#[derive(Debug, Default)]
pub(super) struct Reservations(Mutex<Registered>);

#[derive(Debug, Default)]
struct Registered {
    memory: Weak<Reservation>,
    disk: Weak<Reservation>,
    answer: Weak<Reservation>,
}

impl Reservations {
    /// Sets the memory reservation of a request.
    pub(super) fn request(&self, memory: &Arc<Reservation>) {
        self.lock().memory = Arc::downgrade(memory);
    }

    /// Sets the disk reservation of a request.
    pub(super) fn files(&self, disk: &Arc<Reservation>) {
        self.lock().disk = Arc::downgrade(disk);
    }

    /// Sets the memory reservation of an answer.
    pub(super) fn answer(&self, memory: &Arc<Reservation>) {
        self.lock().answer = Arc::downgrade(memory);
    }

    /// Removes the reservations of the request, which is over. Retained parts of its package belong to the handler.
    pub(super) fn end_of_request(&self) {
        let mut held = self.lock();
        (held.memory, held.disk) = Default::default();
    }

    /// Returns how many bytes of a budget are held.
    pub(super) fn of(&self, budget: &Budget) -> usize {
        let Registered { memory, disk, answer } = &*self.lock();
        let held = [memory, disk, answer].map(|weak| {
            let reservation = weak.upgrade().filter(|reservation| reservation.budget().is_same(budget));
            reservation.map_or(0, |reservation| reservation.bytes())
        });
        held.into_iter().fold(0, usize::saturating_add)
    }

    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
