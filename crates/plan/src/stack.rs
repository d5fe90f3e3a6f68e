//! Recursion that needs more stack than a thread has.

/// Runs a function on a new stack segment if the current one is nearly full.
pub fn grown<T>(run: impl FnOnce() -> T) -> T {
    /// The maximum stack in bytes for planning one level in a debug build, and the size of a segment.
    const LEFT: usize = 256 << 10;
    const PIECE: usize = 4 << 20;
    stacker::maybe_grow(LEFT, PIECE, run)
}
