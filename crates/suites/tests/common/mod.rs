//! Random numbers that are the same in every run, and documents that express the same infoset in
//! many ways.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, unreachable_pub, reason = "every test file has a copy of its own and uses a part of it")]

pub mod http;
pub mod layout;
pub mod load;
pub mod values;

/// Xorshift, which is sufficient for tests and the same on all machines.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    /// Returns a number from 0 (inclusive) to `end` (exclusive).
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns true once in `times`, on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn list<T>(&mut self, least: usize, make: impl Fn(&mut Random) -> T) -> Vec<T> {
        (0..least + self.below(5)).map(|_| make(self)).collect()
    }
}
