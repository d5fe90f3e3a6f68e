//! What must hold for any input: one function for each fuzz target, which panics where something doesn't.
//!
//! Two drivers call them: the targets in `fuzz/`, under libFuzzer and the address sanitizer, and the tests of this crate. One
//! replays the files in `fuzz/regressions/` on stable, the other runs [mutations](mutate) of [valid messages](seeds).
//!
//! An input may hold several documents, with 0xFF between them, a byte that UTF-8 does not have. They are read one
//! after the other with the same memory, so that what one leaves behind meets the next.

mod contract;
mod decode;
mod document;
mod dynamic;
mod endpoint;
mod envelope;
mod events;
mod features;
mod items;
mod load;
mod multipart;
mod mutate;
mod oracle;
mod pattern;
mod pieces;
mod plan;
mod reader;
mod round_trip;
mod scan;
mod seeds;
mod validate;

pub use contract::{bundle, contract, generate, generated};
pub use decode::decode;
pub use document::document;
pub use dynamic::dynamic;
pub use endpoint::endpoint;
pub use envelope::envelope;
pub use items::items;
pub use load::load;
pub use multipart::multipart;
pub use mutate::mutate;
pub use pattern::pattern;
pub use pieces::pieces;
pub use plan::{mutate_plan, plan, plans};
pub use reader::reader;
pub use round_trip::round_trip;
pub use seeds::seeds;
pub use validate::validate;

/// A check, and what it may take.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the target.
    pub name: &'static str,
    /// Takes any bytes, and panics where something does not hold.
    pub run: fn(&[u8]),
    /// How much work an input may be, in edges of the control flow graph that are executed: this much for any input …
    pub work: u64,
    /// … and this much for each of its bytes.
    pub work_per_byte: u64,
    /// Whether inputs are changed as messages are, not only as bytes.
    pub is_structured: bool,
}

/// Every check. The limits on work are those of a build of `fuzz/run`: 4 times what seeds and hard inputs were measured to take, and
/// less than what takes a step for each pair of bytes of the longest inputs, but for those that something else bounds.
pub const CHECKS: [Check; 16] = [
    check("reader", reader, (4_000_000, 4_000), true),
    check("pieces", pieces, (8_000_000, 4_000), true),
    check("items", items, (8_000_000, 4_000), true),
    check("round_trip", round_trip, (500_000, 500), false),
    // Array items that are not there, in each of the documents.
    check("decode", decode, (20_000_000, 4_000), true),
    check("dynamic", dynamic, (20_000_000, 8_000), true),
    check("envelope", envelope, (4_000_000, 4_000), true),
    // What entities add is bounded by limits, which are wider for contracts.
    check("document", document, (400_000_000, 2_000), true),
    check("multipart", multipart, (2_000_000, 1_000), true),
    // What references add is bounded by a limit, and is echoed.
    check("endpoint", endpoint, (600_000_000, 4_000), true),
    check("contract", contract, (8_000_000, 2_000), true),
    check("bundle", bundle, (2_000_000, 400), true),
    check("generate", generate, (80_000_000, 5_000), true),
    check("validate", validate, (4_000_000, 1_000), true),
    // The size of a compiled pattern is bounded by a limit.
    check("pattern", pattern, (800_000_000, 20_000), false),
    // The steps of an expression are bounded by a limit.
    check("load", load, (2_000_000_000, 2_000), true),
];

const fn check(name: &'static str, run: fn(&[u8]), (work, work_per_byte): (u64, u64), is_structured: bool) -> Check {
    Check { name, run, work, work_per_byte, is_structured }
}

/// What stands between the documents of an input.
const SEPARATOR: u8 = 0xFF;

/// How many documents of an input are looked at.
const MOST_DOCUMENTS: usize = 8;

fn documents(input: &[u8]) -> Vec<&[u8]> {
    input.split(|&byte| byte == SEPARATOR).take(MOST_DOCUMENTS).collect()
}

/// Limits that small documents pass, and limits that they don't: which, the length of the document says.
fn limits_for(document: &[u8]) -> castile_xml::Limits {
    let mut limits = castile_xml::Limits::default();
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
