//! Pseudorandom numbers that are the same on every machine: the generator of `java.util.Random`.

/// A linear congruential generator of 48 bits, as the documentation of `java.util.Random` defines it. The published clients
/// made their queries with it, so a seed gives the same queries here.
pub(crate) struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    /// Creates the generator of `new Random(seed)`.
    pub(crate) fn new(seed: u64) -> Self {
        JavaRandom((seed ^ Self::MULTIPLIER) & Self::MASK)
    }

    /// Returns the next number of up to 32 bits.
    pub(crate) fn next(&mut self, bits: u32) -> u32 {
        self.0 = (self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB)) & Self::MASK;
        (self.0 >> (48 - bits)) as u32
    }

    /// Returns the next number from 0 (inclusive) to 1 (exclusive), with 53 bits: `nextDouble`.
    pub(crate) fn next_double(&mut self) -> f64 {
        let high = u64::from(self.next(26)) << 27;
        (high | u64::from(self.next(27))) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_java() {
        // The known first results of `new Random(42)`.
        assert_eq!(JavaRandom::new(42).next(32) as i32, -1_170_105_035);
        assert_eq!(JavaRandom::new(42).next_double(), 0.727_563_680_032_868_1);
    }
}
