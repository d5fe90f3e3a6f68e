//! Memory accounting: the values of a message are charged to the reservation of its request.

use std::sync::Arc;

use castile_budget::{Allowance, Exhausted, Reservation};

/// The reservation to which a message is charged, if there is one.
pub(crate) type Charge<'a> = Option<&'a Arc<Reservation>>;

/// How many bytes of values are free of charge, so that small messages don't use the budget.
const FREE_BYTES: usize = 16 << 10;

/// The largest answer in bytes that isn't charged. A connection needs about as much anyway.
const UNCHARGED_ANSWER: usize = 4 << 10;

/// Returns the allowance for the values of a document of this size. The texts of the document, at most `document` bytes, are
/// charged immediately.
pub(crate) fn allowance(charge: Charge<'_>, document: usize) -> Result<Allowance, Exhausted> {
    let Some(reservation) = charge else { return Ok(Allowance::unlimited()) };
    let mut allowance = Allowance::of(reservation.clone(), FREE_BYTES);
    allowance.charge(document)?;
    Ok(allowance)
}

/// Returns how many bytes are charged.
pub(crate) fn charged_bytes(charge: Charge<'_>) -> usize {
    charge.map_or(0, |reservation| reservation.bytes())
}

/// Charges this number of bytes until the returned reservation is dropped.
pub(crate) fn reserve(charge: Charge<'_>, bytes: usize) -> Result<Option<Reservation>, Exhausted> {
    charge.map(|reservation| reservation.another(bytes)).transpose()
}

/// Waits for work on another thread. If the waiting future is dropped first, the reservation of the work can't grow any more, so
/// that the work ends.
pub(crate) struct EndOnDrop(Option<Arc<Reservation>>);

impl EndOnDrop {
    pub(crate) fn new(charge: Charge<'_>) -> Self {
        EndOnDrop(charge.cloned())
    }

    pub(crate) fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if let Some(reservation) = &self.0 {
            reservation.end();
        }
    }
}

/// Charges the bytes of an answer, unless it is small.
pub(crate) fn reserve_answer(charge: Charge<'_>, bytes: usize) -> Result<Option<Arc<Reservation>>, Exhausted> {
    let charge = charge.filter(|_| bytes > UNCHARGED_ANSWER);
    Ok(reserve(charge, bytes)?.map(Arc::new))
}
