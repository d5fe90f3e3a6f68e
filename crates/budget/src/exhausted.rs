use std::fmt;

use crate::Size;

/// The error when a budget has too few bytes left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exhausted {
    /// How many bytes were asked for.
    pub asked: usize,
    /// How many bytes were in use.
    pub used: usize,
    /// How many bytes the budget has.
    pub limit: usize,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [asked, used, limit] = [self.asked, self.used, self.limit].map(Size);
        write!(f, "{asked} are needed, but {used} of the budget of {limit} are in use")
    }
}

impl std::error::Error for Exhausted {}
