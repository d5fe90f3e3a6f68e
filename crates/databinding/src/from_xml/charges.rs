//! Charging the memory of values to an allowance, before the memory is retained.

use castile_budget::{Allowance, Exhausted, next_capacity};

use super::{Decoder, Error, ErrorKind};

impl Decoder<'_> {
    /// Returns the decoder with an allowance to which it charges the memory of values: of vectors and of boxed values.
    ///
    /// Neither the root value itself nor texts are charged. All texts together are no longer than the document, which the
    /// owner of the allowance charges.
    ///
    /// A refused charge is an error of [`ErrorKind::Exhausted`]. What was charged before is not given back in this case.
    pub fn within(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// Charges memory before it is allocated, in bytes.
    ///
    /// # Errors
    /// The charge is refused.
    #[doc(hidden)]
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        match self.allowance.charge(bytes) {
            Ok(()) => Ok(()),
            Err(exhausted) => Err(self.exhausted(exhausted)),
        }
    }

    /// Charges memory where no error can be returned. If it returns `false` the value must be dropped;
    /// [`is_granted`](Self::is_granted) returns the error later.
    pub(super) fn try_charge(&mut self, bytes: usize) -> bool {
        let charged = self.allowance.charge(bytes);
        if let Err(exhausted) = charged {
            self.refused = Some(exhausted);
        }
        charged.is_ok()
    }

    /// Returns an error if a charge was refused.
    pub(crate) fn is_granted(&self) -> Result<(), Error> {
        match self.refused {
            None => Ok(()),
            Some(exhausted) => Err(self.exhausted(exhausted)),
        }
    }

    /// Charges a vector after it has grown to `capacity` values, and updates `charged`, the capacity that was charged.
    /// Charging after growth is early enough, since memory that was never written to is hardly in use.
    #[cold]
    pub(crate) fn charge_capacity(&mut self, charged: &mut usize, capacity: usize, size: usize) -> Result<(), Error> {
        let more = capacity.saturating_sub(*charged);
        *charged = capacity;
        self.charge(more.saturating_mul(size))
    }

    /// Reserves capacity for `more` values, and charges it.
    pub(crate) fn reserve<T>(&mut self, values: &mut Vec<T>, more: usize) -> Result<(), Error> {
        let Some(wanted) = next_capacity(values, more) else { return Ok(()) };
        match self.charge((wanted - values.capacity()).saturating_mul(size_of::<T>())) {
            Ok(()) => {
                values.reserve_exact(wanted - values.len());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Appends a value, and charges the growth of the vector.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push<T>(&mut self, values: &mut Vec<T>, value: T) -> Result<(), Error> {
        if values.len() == values.capacity()
            && let Err(error) = self.reserve(values, 1)
        {
            return Err(error);
        }
        values.push(value);
        Ok(())
    }

    /// Gives back everything that was charged. Call this only when all values that were read are dropped.
    pub fn give_back(&mut self) {
        self.allowance.give_back();
    }

    #[cold]
    pub(crate) fn exhausted(&self, exhausted: Exhausted) -> Error {
        Error::new(ErrorKind::Exhausted, self.reader.offset(), format!("there is too little memory: {exhausted}"))
    }
}
