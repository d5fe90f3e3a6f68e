//! The reader of a document that comes in pieces, against the reader of the whole.

use crate::limits_for;

// What the tests of the reader compare by.
#[path = "../../xml/tests/splits/mod.rs"]
mod splits;

/// The longest piece that a document is cut in, in bytes, unless it comes as a whole.
const LONGEST: usize = 40;

/// Any bytes as a document that is cut anywhere: by byte, not at all, and as the bytes themselves say.
pub fn pieces(input: &[u8]) {
    let lengths = input.iter().rev().map(|&byte| usize::from(byte) % LONGEST).collect();
    splits::compare(input, limits_for(input), [lengths]);
}
