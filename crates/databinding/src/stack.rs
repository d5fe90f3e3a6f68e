//! More stack, for values that nest deep.

/// How much stack a level may need before the next check, and how much more per byte of the value: unoptimised code moves
/// values often.
const RED_ZONE: usize = 128 << 10;
const RED_ZONE_PER_BYTE: usize = 64;
/// The size of a new stack segment, in addition to the red zone.
const SEGMENT: usize = 1 << 20;

/// Calls `f`, on a new stack segment if little stack is left for values of `T`.
#[doc(hidden)]
#[inline]
pub fn deeper<T, R>(f: impl FnOnce() -> R) -> R {
    let red_zone = RED_ZONE + RED_ZONE_PER_BYTE * size_of::<T>();
    stacker::maybe_grow(red_zone, SEGMENT + red_zone, f)
}

/// Calls `f`, on a new stack segment if little stack is left for a value of `size` bytes. It is one function for all types,
/// while [`deeper`] is several for each type. Most types of a program call it.
pub(crate) fn guarded(size: usize, f: &mut dyn FnMut()) {
    let red_zone = RED_ZONE + RED_ZONE_PER_BYTE * size;
    stacker::maybe_grow(red_zone, SEGMENT + red_zone, f);
}

/// Whether little stack is left for a value of `size` bytes, so that the caller should continue in [`guarded`].
#[inline]
pub(crate) fn is_short(size: usize) -> bool {
    stacker::remaining_stack().is_none_or(|left| left < RED_ZONE + RED_ZONE_PER_BYTE * size)
}
