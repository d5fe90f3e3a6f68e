use std::sync::Arc;

use crate::Reservation;

/// Bytes that stay charged to a reservation until they are dropped.
///
/// Pass it to `bytes::Bytes::from_owner` to share the charge between clones and slices. The last of them gives the
/// bytes back.
///
/// ```
/// use castile_budget::{Budget, Charged};
/// use std::sync::Arc;
///
/// let budget = Budget::new(1_000);
/// let answer = vec![b'x'; 600];
/// let reservation = Arc::new(budget.reserve(answer.len())?);
/// let answer = Charged::new(answer, reservation);
/// assert_eq!(budget.used(), 600);
///
/// drop(answer);
/// assert_eq!(budget.used(), 0);
/// # Ok::<(), castile_budget::Exhausted>(())
/// ```
#[derive(Debug)]
pub struct Charged<T> {
    data: T,
    _reservation: Arc<Reservation>,
}

impl<T> Charged<T> {
    /// Wraps `data`, which is charged to `reservation`.
    pub fn new(data: T, reservation: Arc<Reservation>) -> Self {
        Charged { data, _reservation: reservation }
    }
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Charged<T> {
    fn as_ref(&self) -> &[u8] {
        self.data.as_ref()
    }
}
