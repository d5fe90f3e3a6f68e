//! Why is a signature valid or not?

use std::cell::Cell;
use std::ops::Range;
use std::time::SystemTime;

use castile_datatypes::DateTime;
use castile_xml::{DocumentEntity, decode};

use crate::algorithm::Algorithms;
use crate::assertion::Assertion;
use crate::certificate::Certificate;
use crate::index::{IdAttributes, Index};
use crate::limits::Limits;
use crate::message::{Outline, is_envelope};
use crate::signature::Signature;
use crate::trust::{Signer, Trust};
use crate::verify::{Scope, Source, Verification, VerifiedContent};
use crate::{DigestAlgorithm, Error, SignatureAlgorithm};

/// What is known about the signatures of a message or a document. It is for people: nothing in it is accepted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The text, converted to UTF-8. Byte ranges are those of this text.
    pub text: String,
    /// The parts of the message: the body, the header blocks, the children of `Security`. Empty for a document.
    pub parts: Vec<ExplainedPart>,
    /// When the message was made, and when it expires, if it has a time stamp.
    pub times: Option<(Option<DateTime>, Option<DateTime>)>,
    /// What the assertions in `Security` say, whoever made them.
    pub assertions: Vec<Assertion>,
    /// Why `Security` can't be read. There are no signatures then.
    pub problem: Option<Error>,
    /// The signatures, in document order, also those in assertions. Those that can't be read are errors.
    pub signatures: Vec<Result<ExplainedSignature, Error>>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedPart {
    /// The local name of its element.
    pub name: String,
    /// Its byte range.
    pub range: Range<usize>,
    /// The numbers of the signatures that refer to it, counted from 0, whether they are valid or not.
    pub signed_by: Vec<usize>,
}

/// A signature.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedSignature {
    /// Its byte range.
    pub range: Range<usize>,
    /// The algorithm.
    pub algorithm: SignatureAlgorithm,
    /// Who made it, or why nobody is trusted to have made it.
    pub signer: Result<Signer, Error>,
    /// The certificate that it brings with it.
    pub claimed: Option<Certificate>,
    /// Whether its value was made for `SignedInfo` with the key that it names or brings with it.
    pub value: Result<(), Error>,
    /// The canonical form of `SignedInfo`.
    pub signed_info: Result<String, Error>,
    /// What it refers to.
    pub references: Vec<ExplainedReference>,
}

/// A reference of a signature.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedReference {
    /// The URI.
    pub uri: String,
    /// The byte offset of the reference.
    pub offset: usize,
    /// The hash function.
    pub algorithm: DigestAlgorithm,
    /// The digest that the signature states.
    pub stated: Vec<u8>,
    /// The content that it refers to, or why there is none.
    pub content: Result<ExplainedContent, Error>,
}

/// Content that a signature refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedContent {
    /// Where it is.
    pub place: VerifiedContent,
    /// The canonical form, which is what is digested. `None` for content outside the document.
    pub canonical: Option<String>,
    /// The digest of it.
    pub computed: Vec<u8>,
    /// The first prefix that a value uses and whose declaration is not in the canonical form.
    pub unsigned_prefix: Option<String>,
}

/// Maximum length of all canonical forms that are explained, in bytes. They are kept.
const MAX_CANONICAL: usize = 64 << 20;

/// Explains the signatures of a message or a document, as far as they can be read. Certificates are checked at `time`.
///
/// # Errors
/// The text is not well-formed, or a limit is exceeded.
pub fn explain(document: &[u8], trust: &Trust, time: SystemTime) -> Result<Explanation, Error> {
    let limits = Limits { content: MAX_CANONICAL, ..Limits::default() };
    let text = decode(document, None)?;
    let entity = DocumentEntity::new(&text, limits.document)?;
    let source = Source::Document(&entity);
    // Everything that can be computed is, whatever an endpoint would accept.
    let algorithms = Algorithms::default().with_legacy();
    let verification = |index, scope, fault_prefix| Verification {
        algorithms,
        limits,
        now: time,
        source,
        index,
        scope,
        allows_unsigned_prefixes: false,
        fault_prefix,
        parts: None,
    };
    // All canonical forms are kept, so that all signatures share one limit.
    let left = Cell::new(Some(limits.content));
    let signatures: Vec<Result<ExplainedSignature, Error>>;
    let (mut parts, mut times, mut assertions, mut problem) = (Vec::new(), None, Vec::new(), None);
    match is_envelope(&mut entity.reader())? {
        true => {
            let outline = Outline::of(&text, limits)?;
            let verification = verification(&outline.index, Scope::Message(&outline.tokens), outline.fault_prefix);
            let explained = outline
                .signatures
                .iter()
                .map(|(signature, range)| Ok(verification.explain(range, signature, trust, &left)));
            signatures = explained.collect();
            (parts, times, assertions, problem) = (outline.parts, outline.times, outline.assertions, outline.problem);
        }
        false => {
            let rules = IdAttributes { everywhere: vec!["Id".to_owned(), "ID".to_owned()] };
            let index = Index::of(&mut entity.reader(), &rules, limits)?;
            let verification = verification(&index, Scope::Document(&[]), None);
            let explained = index.signatures.iter().map(|range| {
                let signature = Signature::find(&mut entity.reader(), range.start, limits)?;
                Ok(verification.explain(range, &signature, trust, &left))
            });
            signatures = explained.collect();
        }
    }
    let parts = parts.into_iter().map(|(name, range)| {
        let refers = |signature: &Result<ExplainedSignature, Error>| {
            let Ok(signature) = signature else { return false };
            let contents = signature.references.iter().filter_map(|reference| reference.content.as_ref().ok());
            contents.into_iter().any(|content| content.place.covers(&range))
        };
        let numbers = signatures.iter().enumerate().filter(|(_, signature)| refers(signature));
        ExplainedPart { signed_by: numbers.map(|(number, _)| number).collect(), name, range }
    });
    Ok(Explanation { parts: parts.collect(), times, assertions, problem, signatures, text: text.into_owned() })
}
