//! The parts of a message, to explain its signatures.

use std::ops::Range;

use castile_mime::Packaging;
use castile_soap::Version;
use castile_xml::{Reader, Token};

use super::envelope::{Block, Envelope, end_of_name};
use super::fault::code_prefix;
use super::header::SecurityHeader;
use super::signed::Places;
use crate::explain::{ExplainedAssertion, ExplainedSecurity};
use crate::included::Includes;
use crate::index::Index;
use crate::limits::Limits;
use crate::signature::{KeyHint, Signature};
use crate::uris::WSSE;
use crate::verify::Tokens;
use crate::{Error, PublicKey};

/// The parts of a message, as far as they can be read.
pub(crate) struct Outline {
    pub(crate) index: Index,
    /// The local names of elements, with their byte ranges.
    pub(crate) parts: Vec<(String, Range<usize>)>,
    /// The `Security` header blocks.
    pub(crate) security: Vec<SecurityOutline>,
    /// The prefix of the code of a fault, with the offset of its element, if that need not be signed.
    pub(crate) fault_prefix: Option<(usize, String)>,
    /// The elements that stand for parts, if the message has MTOM.
    pub(crate) includes: Option<Includes>,
}

/// A `Security`.
pub(crate) struct SecurityOutline {
    pub(crate) explained: ExplainedSecurity,
    /// Where its signatures may lead. `None` if it can't be read.
    pub(crate) places: Option<Places>,
    /// The signatures, also those in assertions.
    pub(crate) signatures: Vec<OutlinedSignature>,
    pub(crate) tokens: Tokens,
}

/// A signature of a message.
pub(crate) struct OutlinedSignature {
    pub(crate) signature: Signature,
    pub(crate) range: Range<usize>,
    /// The ids of the assertions that name a key for their subject that it names, too, with all keys of the subject.
    pub(crate) subjects: Vec<(String, Vec<PublicKey>)>,
}

impl Outline {
    /// Reads the parts of an envelope. Elements `xop:Include` have a meaning only in MTOM.
    ///
    /// # Errors
    /// It is not well-formed, or not an envelope with a body.
    pub(crate) fn of(text: &str, packaging: Option<Packaging>, limits: Limits) -> Result<Self, Error> {
        let (mut envelope, index) = Envelope::read(text, packaging, limits)?;
        let mut parts = vec![("Body".to_owned(), envelope.body.clone())];
        let is_security = |block: &&Block| block.namespace == WSSE && block.local == "Security";
        let others = envelope.blocks.iter().filter(|block| !is_security(block));
        parts.extend(others.map(|block| (block.local.clone(), block.range.clone())));
        let mut security: Vec<SecurityOutline> = Vec::new();
        for block in envelope.blocks.iter().filter(is_security) {
            let mut outline = SecurityOutline::of(text, (&envelope, block), &index, &mut parts, limits);
            let is_other = |role: &&str| !envelope.version.is_role_of_recipient(role);
            if let Err(error) = envelope.security(WSSE, block.role.as_deref().filter(is_other))
                && error.offset() == Some(block.range.start)
            {
                outline.explained.problem.get_or_insert(error);
            }
            security.push(outline);
        }
        let fault_prefix = code_prefix(text, &envelope, limits)?;
        Ok(Outline { index, parts, security, fault_prefix, includes: envelope.includes.take() })
    }
}

impl SecurityOutline {
    /// Reads a block. Adds its children to `parts`.
    fn of(
        text: &str,
        (envelope, block): (&Envelope<'_>, &Block),
        index: &Index,
        parts: &mut Vec<(String, Range<usize>)>,
        limits: Limits,
    ) -> SecurityOutline {
        let explained = ExplainedSecurity {
            role: block.role.clone(),
            range: block.range.clone(),
            times: None,
            username: None,
            assertions: Vec::new(),
            problem: None,
        };
        let mut outline =
            SecurityOutline { explained, places: None, signatures: Vec::new(), tokens: Tokens::default() };
        let SecurityOutline { explained, places, signatures, tokens } = &mut outline;
        let mut header = match SecurityHeader::read(text, block, limits) {
            Ok(header) => header,
            Err(error) => {
                explained.problem = Some(error);
                return outline;
            }
        };
        *places = Some(Places::of(envelope, &header));
        explained.times = header.timestamp.as_ref().map(|timestamp| (timestamp.created, timestamp.expires));
        match header.resolve_tokens(index) {
            Ok(found) => *tokens = found,
            Err(error) => explained.problem = Some(error),
        }
        let named = header.children.iter().filter(|range| !header.signatures.iter().any(|(_, of)| of == *range));
        parts.extend(named.map(|range| (name_of(&text[range.clone()]), range.clone())));
        explained.username = header.username.map(|(username, range)| username.explained(range));
        let subjects: Vec<_> =
            header.assertions.iter().map(|received| (&received.assertion.id, received.subject_keys())).collect();
        signatures.extend(header.signatures.into_iter().map(|(signature, range)| {
            let has_key = |known: &[PublicKey]| signature.hints.iter().any(|hint| is_of_any(hint, known));
            let subjects = subjects.iter().filter(|(_, known)| has_key(known));
            let subjects = subjects.map(|(id, keys)| ((*id).clone(), keys.clone()));
            OutlinedSignature { subjects: subjects.collect(), signature, range }
        }));
        for mut received in header.assertions {
            let own = received.signature.take();
            explained.assertions.push(ExplainedAssertion::of(received, own.as_ref().map(|(_, range)| range.clone())));
            signatures.extend(own.map(|(signature, range)| OutlinedSignature {
                signature,
                range,
                subjects: Vec::new(),
            }));
        }
        signatures.sort_by_key(|one| one.range.start);
        outline
    }
}

/// Returns whether a hint leads to one of these keys.
fn is_of_any(hint: &KeyHint, known: &[PublicKey]) -> bool {
    match hint {
        KeyHint::Subject { keys, .. } => keys.iter().any(|key| known.contains(key)),
        hint => hint.key().is_some_and(|key| known.contains(&key)),
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
    let name = tag.get(1..end_of_name(tag)).unwrap_or_default();
    name.rsplit(':').next().unwrap_or_default().to_owned()
}
