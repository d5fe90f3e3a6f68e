//! Where a type is.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::names::Ident;

/// The position of a type: the number of its module, and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Path {
    pub module: usize,
    pub ident: Ident,
}
