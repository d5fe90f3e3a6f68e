//! The limits of samples.

/// Maximum number of steps for one instance and for all instances. One step is an element, an attribute, a particle or
/// an alternative that is examined, or 8 bytes of text.
pub(super) const MAX_STEPS: usize = 1_000_000;
pub(super) const MAX_TOTAL_STEPS: usize = 10_000_000;
pub(super) const BYTES_PER_STEP: usize = 8;
