//! What values take is charged where they grow, before it is kept.

use castile_budget::{Allowance, Exhausted, next_capacity};

use super::{Decoder, Error, ErrorKind};

/// What a block of memory takes beside what is in it, in bytes, about.
pub(crate) const BLOCK: usize = 16;

impl Decoder<'_> {
    /// A decoder that charges the memory that values take to `allowance`: vectors, and what stands behind pointers.
    ///
    /// The value itself is not charged, nor are texts: together they are no longer than the document, which is charged by
    /// whoever makes the allowance.
    ///
    /// A charge that is refused is an error of [`ErrorKind::Exhausted`]. What was charged is not given back then.
    pub fn within(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// Charges memory that is about to be taken, in bytes.
    ///
    /// # Errors
    /// That it is not granted.
    #[doc(hidden)]
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        match self.allowance.charge(bytes) {
            Ok(()) => Ok(()),
            Err(exhausted) => Err(self.exhausted(exhausted)),
        }
    }

    /// Charges memory where an error can't be returned: [`is_granted`](Self::is_granted) tells. What is not granted is not to be kept.
    pub(super) fn try_charge(&mut self, bytes: usize) -> bool {
        let charged = self.allowance.charge(bytes);
        if let Err(exhausted) = charged {
            self.refused = Some(exhausted);
        }
        charged.is_ok()
    }

    /// Whether all was granted that was charged.
    pub(super) fn is_granted(&self) -> Result<(), Error> {
        match self.refused {
            None => Ok(()),
            Some(exhausted) => Err(self.exhausted(exhausted)),
        }
    }

    /// Charges a vector that has grown to room for `capacity` values, of which so many were charged. What is never written
    /// to is hardly memory, so that it is soon enough now.
    #[cold]
    pub(super) fn charge_room(&mut self, charged: &mut usize, capacity: usize, size: usize) -> Result<(), Error> {
        let more = capacity.saturating_sub(*charged);
        *charged = capacity;
        self.charge(more.saturating_mul(size))
    }

    /// Makes room for `more` values.
    pub(super) fn reserve<T>(&mut self, values: &mut Vec<T>, more: usize) -> Result<(), Error> {
        let Some(wanted) = next_capacity(values, more) else { return Ok(()) };
        match self.charge((wanted - values.capacity()).saturating_mul(size_of::<T>())) {
            Ok(()) => {
                values.reserve_exact(wanted - values.len());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Adds a value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn push<T>(&mut self, values: &mut Vec<T>, value: T) -> Result<(), Error> {
        if values.len() == values.capacity()
            && let Err(error) = self.reserve(values, 1)
        {
            return Err(error);
        }
        values.push(value);
        Ok(())
    }

    /// Gives back all that was charged: nothing of what was read is there any more.
    pub fn give_back(&mut self) {
        self.allowance.give_back();
    }

    #[cold]
    pub(super) fn exhausted(&self, exhausted: Exhausted) -> Error {
        Error::new(ErrorKind::Exhausted, self.reader.offset(), format!("there is too little memory: {exhausted}"))
    }
}
