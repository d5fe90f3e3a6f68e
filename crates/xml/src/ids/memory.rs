//! Charges the memory of an index before it is allocated.

use castile_budget::{Allowance, Exhausted, next_capacity};

/// The approximate overhead of an allocation, in bytes.
pub(super) const BLOCK: usize = 16;

/// What was charged for an index.
#[derive(Debug, Default)]
pub struct Charges {
    /// How many bytes it takes now.
    taken: usize,
    /// The most bytes that it has taken.
    charged: usize,
    /// The error, if a charge was refused.
    refused: Option<Exhausted>,
}

/// The memory that an index may take.
pub(super) struct IndexMemory<'r> {
    allowance: &'r mut Allowance,
    charges: &'r mut Charges,
}

/// There is too little memory. [`IndexMemory::is_granted`] returns the error.
pub(super) struct Refused;

impl<'r> IndexMemory<'r> {
    #[inline]
    pub(super) fn new(allowance: &'r mut Allowance, charges: &'r mut Charges) -> Self {
        IndexMemory { allowance, charges }
    }

    /// Starts again from zero, after all memory of the index was freed. What was charged for it can be used again.
    pub(super) fn begin(&mut self) {
        self.charges.taken = 0;
    }

    /// Returns an error if a charge was refused.
    pub(super) fn is_granted(&self) -> Result<(), Exhausted> {
        self.charges.refused.map_or(Ok(()), Err)
    }

    /// Charges bytes.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Refused> {
        let taken = self.charges.taken.saturating_add(bytes);
        if let Err(exhausted) = self.allowance.charge(taken.saturating_sub(self.charges.charged)) {
            self.charges.refused = Some(exhausted);
            return Err(Refused);
        }
        self.charges.taken = taken;
        self.charges.charged = self.charges.charged.max(taken);
        Ok(())
    }

    /// Reserves capacity for `more` values.
    pub(super) fn reserve<T>(&mut self, values: &mut Vec<T>, more: usize) -> Result<(), Refused> {
        let Some(capacity) = next_capacity(values, more) else { return Ok(()) };
        self.charge((capacity - values.capacity()).saturating_mul(size_of::<T>()))?;
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
