//! What an index takes is charged before it is taken.

use castile_budget::{Allowance, Exhausted, next_capacity};

/// What a block of memory takes beside its contents, in bytes, about.
pub(super) const BLOCK: usize = 16;

/// What was charged for an index.
#[derive(Debug, Default)]
pub struct Charges {
    /// What it takes now, in bytes.
    taken: usize,
    /// The most that it took.
    charged: usize,
    /// That it was refused more.
    refused: Option<Exhausted>,
}

/// What an index may take.
pub(super) struct Room<'r> {
    allowance: &'r mut Allowance,
    charges: &'r mut Charges,
}

/// That there is too little memory: [`Room::is_granted`] tells.
pub(super) struct Refused;

impl<'r> Room<'r> {
    #[inline]
    pub(super) fn new(allowance: &'r mut Allowance, charges: &'r mut Charges) -> Self {
        Room { allowance, charges }
    }

    /// Begins anew: nothing is there any more of what was charged, so that it is there for what comes now.
    pub(super) fn begin(&mut self) {
        self.charges.taken = 0;
    }

    /// Whether all was granted.
    pub(super) fn is_granted(&self) -> Result<(), Exhausted> {
        self.charges.refused.map_or(Ok(()), Err)
    }

    /// Takes bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Refused> {
        let taken = self.charges.taken.saturating_add(bytes);
        if let Err(exhausted) = self.allowance.charge(taken.saturating_sub(self.charges.charged)) {
            self.charges.refused = Some(exhausted);
            return Err(Refused);
        }
        self.charges.taken = taken;
        self.charges.charged = self.charges.charged.max(taken);
        Ok(())
    }

    /// Makes room for `more` values.
    pub(super) fn reserve<T>(&mut self, values: &mut Vec<T>, more: usize) -> Result<(), Refused> {
        let Some(capacity) = next_capacity(values, more) else { return Ok(()) };
        self.take((capacity - values.capacity()).saturating_mul(size_of::<T>()))?;
        values.reserve_exact(capacity - values.len());
        Ok(())
    }

    /// Adds a value.
    #[inline]
    pub(super) fn push<T>(&mut self, values: &mut Vec<T>, value: T) -> Result<(), Refused> {
        if values.len() == values.capacity() {
            self.reserve(values, 1)?;
        }
        values.push(value);
        Ok(())
    }
}
