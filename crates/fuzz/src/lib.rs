//! Properties that must hold for any input. Each fuzz target has one function, which panics if a property is violated.
//!
//! They are run by the targets in `fuzz/`, with libFuzzer and the address sanitizer, and by the tests of this crate. One test
//! replays the files in `fuzz/regressions/` on stable; another runs [mutations](mutate) of [valid messages](seeds).
//!
//! An input may consist of several documents, separated by 0xFF, a byte that UTF-8 does not use. They are read one after another
//! with the same buffers and caches, so that the checks find effects of one document on the next.

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
mod signatures;
mod signed_packages;
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
pub use signatures::signatures;
pub use signed_packages::signed_packages;
pub use validate::validate;

/// A check, and the limits of its work.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the target.
    pub name: &'static str,
    /// Checks any bytes, and panics if a property does not hold.
    pub run: fn(&[u8]),
    /// The work that every input may take, in executed edges of the control flow graph.
    pub work: u64,
    /// The additional work for each byte of the input.
    pub work_per_byte: u64,
    /// Whether inputs are mutated at the level of messages, not only of bytes.
    pub is_structured: bool,
}

/// All checks. The limits of work apply to builds of `fuzz/run`. They are 4 times the measured work of seeds and hard inputs. They
/// are too low for an algorithm that is quadratic in the length of the input, except where another limit bounds its work.
pub const CHECKS: [Check; 18] = [
    check("reader", reader, (4_000_000, 4_000), true),
    check("pieces", pieces, (8_000_000, 4_000), true),
    check("items", items, (8_000_000, 4_000), true),
    check("round_trip", round_trip, (500_000, 500), false),
    // Absent array items add work, up to a limit for each document of an input.
    check("decode", decode, (20_000_000, 4_000), true),
    check("dynamic", dynamic, (20_000_000, 8_000), true),
    check("envelope", envelope, (4_000_000, 4_000), true),
    // Entities add work, up to a limit. Trees have the limits of contracts, most of which are higher than those of messages.
    check("document", document, (400_000_000, 2_000), true),
    check("multipart", multipart, (2_000_000, 1_000), true),
    // References add work, up to a limit, and the result is written to the answer.
    check("endpoint", endpoint, (600_000_000, 4_000), true),
    check("contract", contract, (8_000_000, 2_000), true),
    check("bundle", bundle, (2_000_000, 400), true),
    check("generate", generate, (80_000_000, 5_000), true),
    check("validate", validate, (4_000_000, 1_000), true),
    // A limit bounds the size of a compiled pattern.
    check("pattern", pattern, (800_000_000, 20_000), false),
    // A limit bounds the steps of an expression.
    check("load", load, (2_000_000_000, 2_000), true),
    check("signatures", signatures, (40_000_000, 20_000), true),
    // The attachments of a package, and the work of a signature.
    check("signed_packages", signed_packages, (40_000_000, 20_000), true),
];

const fn check(name: &'static str, run: fn(&[u8]), (work, work_per_byte): (u64, u64), is_structured: bool) -> Check {
    Check { name, run, work, work_per_byte, is_structured }
}

/// Separates the documents of an input.
const SEPARATOR: u8 = 0xFF;

/// How many documents of an input are checked.
const MAX_DOCUMENTS: usize = 8;

fn documents(input: &[u8]) -> Vec<&[u8]> {
    input.split(|&byte| byte == SEPARATOR).take(MAX_DOCUMENTS).collect()
}

/// Returns limits that small documents meet, or limits that they exceed, depending on the length of the document.
fn limits_for(document: &[u8]) -> castile_xml::Limits {
    let mut limits = castile_xml::Limits::default();
    if document.len() % 4 == 3 {
        (limits.depth, limits.attributes, limits.namespaces) = (5, 3, 4);
        (limits.name_length, limits.text_length, limits.entity_expansion) = (50, 100, 100);
    }
    // Names and texts have the default limits, so that tags are cached. Depth, attributes and the length of tags have small limits.
    if document.len() % 8 == 5 {
        (limits.depth, limits.attributes, limits.markup_length) = (6, 3, 1_030);
    }
    limits
}

/// Formats an input for the messages of failed checks.
fn shown(input: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(input))
}
