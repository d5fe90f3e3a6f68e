//! The place of an element declaration among the cached tags.

/// Where the tags of an element declaration are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotId {
    /// The number of the slot, below [`COUNT`](SlotId::COUNT). Declarations that share a number replace each other's tags. Tags
    /// of a higher number are not cached. Reading is slower then, with the same result.
    pub index: u16,
    /// What distinguishes the declaration from all others: its address, never 0.
    pub owner: usize,
}

impl SlotId {
    /// How many slots there are. If there are more declarations, it is best to give several of them the same number.
    pub const COUNT: u16 = 4096;
}
