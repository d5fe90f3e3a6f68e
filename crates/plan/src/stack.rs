//! Recursion that needs more stack than a thread has.

/// Runs a function on a new stack segment if the current one is nearly full.
pub fn grown<T>(run: impl FnOnce() -> T) -> T {
    /// The maximum stack in bytes for planning one level in a debug build, and the size of a segment.
    const RED_ZONE: usize = 256 << 10;
    const SEGMENT: usize = 4 << 20;
    stacker::maybe_grow(RED_ZONE, SEGMENT, run)
}
