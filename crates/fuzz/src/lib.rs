//! What must hold for any input: one function for each fuzz target, which panics where something doesn't.
//!
//! Two drivers call them: the targets in `fuzz/`, under libFuzzer and the address sanitizer, and the test of this crate,
//! which replays the files in `fuzz/regressions/` on stable.
//!
//! An input may hold several documents, with 0xFF between them, a byte that UTF-8 does not have. They are read one
//! after the other with the same memory, so that what one leaves behind meets the next.

mod decode;
mod document;
mod envelope;
mod events;
mod multipart;
mod oracle;
mod pieces;
mod reader;
mod round_trip;
mod scan;

pub use decode::decode;
pub use document::document;
pub use envelope::envelope;
pub use multipart::multipart;
pub use pieces::pieces;
pub use reader::reader;
pub use round_trip::round_trip;

/// A check: takes any bytes, and panics where something does not hold.
pub type Check = fn(&[u8]);

/// Every check, with its name.
pub const CHECKS: [(&str, Check); 7] = [
    ("reader", reader),
    ("pieces", pieces),
    ("round_trip", round_trip),
    ("decode", decode),
    ("envelope", envelope),
    ("document", document),
    ("multipart", multipart),
];

/// What stands between the documents of an input.
const SEPARATOR: u8 = 0xFF;

/// How many documents of an input are looked at.
const MOST_DOCUMENTS: usize = 8;

fn documents(input: &[u8]) -> Vec<&[u8]> {
    input.split(|&byte| byte == SEPARATOR).take(MOST_DOCUMENTS).collect()
}

/// Limits that small documents pass, and limits that they don't: which, the length of the document says.
fn limits_for(document: &[u8]) -> castile::xml::Limits {
    let mut limits = castile::xml::Limits::default();
    if document.len() % 4 == 3 {
        (limits.depth, limits.attributes, limits.namespaces) = (5, 3, 4);
        (limits.name_length, limits.text_length, limits.entity_expansion) = (50, 100, 100);
    }
    // Names and texts that are short enough for tags to be learned, but not many attributes or long tags.
    if document.len() % 8 == 5 {
        (limits.depth, limits.attributes, limits.markup_length) = (6, 3, 1_030);
    }
    limits
}

/// A text for the messages of failed checks.
fn shown(input: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(input))
}
