//! Compares the reader of a document in pieces with the reader of the whole document.

use crate::limits_for;

// The comparison that the reader's tests use.
#[path = "../../xml/tests/splits/mod.rs"]
mod splits;

/// The longest piece of a document, in bytes, unless it is read as a whole.
const MAX_PIECE_LENGTH: usize = 40;

/// Reads any bytes as a document that is cut in several ways: after each byte, not at all, and at
/// positions that the bytes decide.
pub fn pieces(input: &[u8]) {
    let lengths = input.iter().rev().map(|&byte| usize::from(byte) % MAX_PIECE_LENGTH).collect();
    splits::compare(input, limits_for(input), [lengths]);
}
