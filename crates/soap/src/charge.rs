//! What is made of a message is charged to what its carrier has reserved for it.

use std::sync::Arc;

use castile_budget::{Allowance, Exhausted, Reservation};

/// Where a message is charged, if anywhere.
pub(crate) type Charge<'a> = Option<&'a Arc<Reservation>>;

/// How many bytes of values are not charged, so that small messages never touch the budget.
const FREE: usize = 16 << 10;

/// How many bytes an answer may have that is not charged: about what a connection takes anyway.
const SMALL: usize = 4 << 10;

/// What the values of a document of so many bytes may take. Their texts, which take no more, are charged already.
pub(crate) fn allowance(charge: Charge<'_>, document: usize) -> Result<Allowance, Exhausted> {
    let Some(reservation) = charge else { return Ok(Allowance::unlimited()) };
    let mut allowance = Allowance::of(reservation.clone(), FREE);
    allowance.charge(document)?;
    Ok(allowance)
}

/// How many bytes are held.
pub(crate) fn held(charge: Charge<'_>) -> usize {
    charge.map_or(0, |reservation| reservation.bytes())
}

/// Takes so many bytes until what is returned is dropped.
pub(crate) fn hold(charge: Charge<'_>, bytes: usize) -> Result<Option<Reservation>, Exhausted> {
    charge.map(|reservation| reservation.another(bytes)).transpose()
}

/// Work that is done elsewhere and waited for here. Where that is dropped before it is done, what the work is charged to grows no
/// further, so that it ends.
pub(crate) struct Awaited(Option<Arc<Reservation>>);

impl Awaited {
    pub(crate) fn new(charge: Charge<'_>) -> Self {
        Awaited(charge.cloned())
    }

    pub(crate) fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if let Some(reservation) = &self.0 {
            reservation.end();
        }
    }
}

/// Takes the bytes of an answer, unless it is a small one.
pub(crate) fn keep(charge: Charge<'_>, bytes: usize) -> Result<Option<Arc<Reservation>>, Exhausted> {
    let charge = charge.filter(|_| bytes > SMALL);
    Ok(hold(charge, bytes)?.map(Arc::new))
}
