//! The parts of a message, to explain its signatures.

use std::ops::Range;

use castile_datatypes::DateTime;
use castile_soap::Version;
use castile_xml::{Reader, Token};

use super::envelope::Envelope;
use super::fault::code_prefix;
use super::header::SecurityHeader;
use crate::Error;
use crate::assertion::Assertion;
use crate::index::Index;
use crate::limits::Limits;
use crate::signature::Signature;
use crate::uris::WSSE;
use crate::verify::Tokens;

/// The parts of a message, as far as they can be read.
pub(crate) struct Outline {
    pub(crate) index: Index,
    /// The local names of elements, with their byte ranges.
    pub(crate) parts: Vec<(String, Range<usize>)>,
    /// When it was made, and when it expires.
    pub(crate) times: Option<(Option<DateTime>, Option<DateTime>)>,
    /// The signatures, also those in assertions, in document order.
    pub(crate) signatures: Vec<(Signature, Range<usize>)>,
    pub(crate) tokens: Tokens,
    /// What the assertions say.
    pub(crate) assertions: Vec<Assertion>,
    /// The prefix of the code of a fault, with the offset of its element, if that need not be signed.
    pub(crate) fault_prefix: Option<(usize, String)>,
    /// Why there are no signatures.
    pub(crate) problem: Option<Error>,
}

impl Outline {
    /// Reads the parts of an envelope.
    ///
    /// # Errors
    /// It is not well-formed, or not an envelope with a body.
    pub(crate) fn of(text: &str, limits: Limits) -> Result<Self, Error> {
        let (envelope, index) = Envelope::read(text, None, limits)?;
        let mut parts = vec![("Body".to_owned(), envelope.body.clone())];
        parts.extend(envelope.blocks.iter().map(|block| (block.local.clone(), block.range.clone())));
        let mut outline = Outline {
            index,
            parts,
            times: None,
            signatures: Vec::new(),
            tokens: Tokens::default(),
            assertions: Vec::new(),
            fault_prefix: code_prefix(text, &envelope, limits)?,
            problem: None,
        };
        let block = envelope.blocks.iter().find(|block| block.namespace == WSSE && block.local == "Security");
        let Some(block) = block else { return Ok(outline) };
        outline.parts.retain(|(_, range)| *range != block.range);
        match SecurityHeader::read(text, block, limits) {
            Ok(mut header) => {
                outline.times = header.timestamp.as_ref().map(|timestamp| (timestamp.created, timestamp.expires));
                match header.resolve_tokens(&outline.index) {
                    Ok(tokens) => outline.tokens = tokens,
                    Err(error) => outline.problem = Some(error),
                }
                let named =
                    header.children.iter().filter(|range| !header.signatures.iter().any(|(_, of)| of == *range));
                outline.parts.extend(named.map(|range| (name_of(&text[range.clone()]), range.clone())));
                outline.signatures = header.signatures;
                for received in header.assertions {
                    outline.signatures.extend(received.signature);
                    outline.assertions.push(received.assertion);
                }
                outline.signatures.sort_by_key(|(_, range)| range.start);
            }
            Err(error) => outline.problem = Some(error),
        }
        Ok(outline)
    }
}

/// Returns whether the root element of a document is an envelope.
pub(crate) fn is_envelope(reader: &mut Reader<'_>) -> Result<bool, Error> {
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                let is_known = Version::of_namespace(reader.namespace(tag.namespace)).is_some();
                return Ok(is_known && tag.name.local() == "Envelope");
            }
            Token::End => return Ok(false),
            _ => {}
        }
    }
}

/// Returns the local name at the beginning of a start tag.
fn name_of(tag: &str) -> String {
    let end = tag.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(tag.len());
    let name = tag.get(1..end).unwrap_or_default();
    name.rsplit(':').next().unwrap_or_default().to_owned()
}
