//! Why is a signature valid or not?

mod claims;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::SystemTime;

use bytes::Bytes;
use castile_datatypes::DateTime;
use castile_mime::{ContentId, Packaging};
use castile_soap::Received;
use castile_xml::{Charset, DocumentEntity, decode, excerpt};

pub use claims::{ExplainedAssertion, ExplainedConfirmation, ExplainedKey, ExplainedUsername};

use crate::algorithm::Algorithms;
use crate::certificate::Certificate;
use crate::included::PartsInside;
use crate::index::{IdAttributes, Index};
use crate::limits::Limits;
use crate::message::{Outline, OutlinedSignature, Places, StoredParts, is_envelope};
use crate::signature::Signature;
use crate::trust::{Signer, Trust};
use crate::verify::explain::{Explained, OpenContent};
use crate::verify::{REPEATED, Scope, Source, Verification, VerifiedContent};
use crate::{DigestAlgorithm, Error, ErrorKind, SignatureAlgorithm, crypto};

/// What is known about the signatures of a message or a document. It is for people: nothing in it is accepted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The text, converted to UTF-8. Byte ranges are those of this text.
    pub text: String,
    /// The parts of the message: the body, the header blocks, the children of each `Security`. Empty for a document.
    pub parts: Vec<ExplainedPart>,
    /// The attachments, in the order of the package.
    pub attachments: Vec<ExplainedAttachment>,
    /// The `Security` header blocks, in document order. A message may have one for each role.
    pub security: Vec<ExplainedSecurity>,
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

/// An attachment of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedAttachment {
    /// Its Content-ID, without which no signature can refer to it.
    pub id: Option<ContentId>,
    /// The numbers of the signatures that refer to it, or to content with an `xop:Include` that stands for it.
    pub signed_by: Vec<usize>,
}

/// A header block `Security`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedSecurity {
    /// The role that it is for, a URI. `None` if it has none, which is the ultimate receiver.
    pub role: Option<String>,
    /// Its byte range.
    pub range: Range<usize>,
    /// When the message was made, and when it expires, if there is a time stamp.
    pub times: Option<(Option<DateTime>, Option<DateTime>)>,
    /// The user name in it.
    pub username: Option<ExplainedUsername>,
    /// The assertions in it, also those inside references to them, in document order.
    pub assertions: Vec<ExplainedAssertion>,
    /// What is wrong with it. If it can't be read, its signatures are not explained.
    pub problem: Option<Error>,
}

/// A signature.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedSignature {
    /// Its byte range.
    pub range: Range<usize>,
    /// The algorithm.
    pub algorithm: SignatureAlgorithm,
    /// Who made it, or why nobody is trusted to have made it. The subject of an assertion is, if the assertion has a right
    /// signature of somebody who is trusted.
    pub signer: Result<Signer, Error>,
    /// What it says about its key.
    pub keys: Vec<ExplainedKey>,
    /// The ids of the assertions of the message whose subject has this key.
    pub subjects: Vec<String>,
    /// The certificate that it brings with it.
    pub claimed: Option<Certificate>,
    /// The length of its key's modulus in bits, if it is a key for RSA or DSA and is known.
    pub modulus_bits: Option<usize>,
    /// Whether its value was made for `SignedInfo` with the key that it names or brings with it, and not for another signature of the
    /// same `Security`, which is refused.
    pub value: Result<(), Error>,
    /// Whether it is wrong, and would be right without the white space between the elements of `SignedInfo`: somebody has indented the
    /// message.
    pub is_indented: bool,
    /// The canonical form of `SignedInfo`.
    pub signed_info: Result<String, Error>,
    /// What it refers to.
    pub references: Vec<ExplainedReference>,
    /// What was signed, and with which key.
    pub(crate) identity: Option<[u8; 32]>,
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
    /// The canonical form, which is what is digested. `None` for content outside the document, and for attachments that are too long
    /// to be kept.
    pub canonical: Option<Bytes>,
    /// The digest of it.
    pub computed: Vec<u8>,
    /// Whether it is in a message, and nowhere that those who read the message look: an attacker may have put the signed content there, and
    /// other content in its place.
    pub is_hidden: bool,
    /// Whether the digest is wrong, and would be right without the white space between elements: somebody has indented the content.
    pub is_indented: bool,
    /// The first prefix that a value uses and whose declaration is not in the canonical form.
    pub unsigned_prefix: Option<String>,
    /// The attachments that `xop:Include` elements in it stand for. Their text is in the canonical form.
    pub included: Vec<ContentId>,
}

/// Maximum length of all canonical forms that are explained, in bytes. They are kept.
const MAX_CANONICAL: usize = 64 << 20;

/// Explains the signatures of messages and documents, as far as they can be read. [`explain`] and [`explain_message`] are shorter.
#[derive(Clone, Debug)]
pub struct Explainer {
    trust: Trust,
    time: SystemTime,
    ids: IdAttributes,
}

impl Explainer {
    /// Creates an explainer that says who is trusted, and checks certificates at `time`. An attribute `Id` without a namespace is an id in
    /// documents.
    #[must_use]
    pub fn new(trust: Trust, time: SystemTime) -> Self {
        Explainer { trust, time, ids: IdAttributes::of_documents() }
    }

    /// Adds an attribute without a namespace that is an id on every element of a document, such as `ID`, as
    /// [`DocumentVerifier::with_id_attribute`](crate::document::DocumentVerifier::with_id_attribute) does. It is none in a message.
    #[must_use]
    pub fn with_id_attribute(mut self, local: impl Into<String>) -> Self {
        self.ids.everywhere.push(local.into());
        self
    }

    /// Explains the signatures of a message without attachments, or of a document.
    ///
    /// # Errors
    /// The text is not well-formed, or a limit is exceeded.
    pub fn explain(&self, document: &[u8]) -> Result<Explanation, Error> {
        let draft = Draft::of(document, None, None, self)?;
        Ok(draft.finish(Vec::new()))
    }

    /// Explains the signatures of a message with its attachments, as [`explain`](Self::explain) does. All attachments are
    /// [stored](castile_mime::Attachments::spool), whoever signed them, and can be read afterwards.
    ///
    /// # Errors
    /// The message is not well-formed, its attachments can't be read or stored, or a limit is exceeded.
    pub async fn explain_message(&self, message: &mut Received) -> Result<Explanation, Error> {
        let Received { message, charset, packaging, attachments, .. } = message;
        let mut draft = Draft::of(message, *charset, *packaging, self)?;
        let parts = StoredParts::of(attachments).await?;
        draft.complete(&parts).await;
        Ok(draft.finish(parts.ids()))
    }
}

/// Explains the signatures of a message without attachments, or of a document, as [`Explainer::explain`] does.
///
/// # Errors
/// Those of [`Explainer::explain`].
pub fn explain(document: &[u8], trust: &Trust, time: SystemTime) -> Result<Explanation, Error> {
    Explainer::new(trust.clone(), time).explain(document)
}

/// Explains the signatures of a message with its attachments, as [`Explainer::explain_message`] does.
///
/// # Errors
/// Those of [`Explainer::explain_message`].
pub async fn explain_message(message: &mut Received, trust: &Trust, time: SystemTime) -> Result<Explanation, Error> {
    Explainer::new(trust.clone(), time).explain_message(message).await
}

/// An explanation of which the content of attachments may be missing.
struct Draft {
    text: String,
    parts: Vec<(String, Range<usize>)>,
    security: Vec<ExplainedSecurity>,
    /// Where the signatures of each `Security` may lead.
    places: Vec<Option<Places>>,
    signatures: Vec<Result<Explained, Error>>,
    /// How many bytes of canonical forms there may still be.
    left: Option<usize>,
}

impl Draft {
    fn of(
        document: &[u8],
        charset: Option<Charset>,
        packaging: Option<Packaging>,
        explainer: &Explainer,
    ) -> Result<Self, Error> {
        let Explainer { trust, time, ids } = explainer;
        let limits = Limits { content: MAX_CANONICAL, ..Limits::default() };
        let text = decode(document, charset)?;
        let entity = DocumentEntity::new(&text, limits.document)?;
        // All canonical forms are kept.
        let left = Cell::new(Some(limits.content));
        let verification = |index, scope, fault_prefix, parts| Verification {
            // Everything that can be computed is, whatever an endpoint would accept.
            algorithms: Algorithms::default().with_legacy(),
            limits,
            now: *time,
            source: Source::Document(&entity),
            index,
            scope,
            allows_unsigned_prefixes: false,
            fault_prefix,
            parts,
            left: &left,
        };
        let mut signatures = Vec::new();
        let (mut parts, mut security, mut places) = (Vec::new(), Vec::new(), Vec::new());
        if is_envelope(&mut entity.reader())? {
            let outline = Outline::of(&text, packaging, limits)?;
            let kept = limits.document.message_size;
            for block in &outline.security {
                let included =
                    outline.includes.as_ref().map(|includes| PartsInside { includes, kept: Cell::new(Some(kept)) });
                let scope = Scope::Message(&block.tokens);
                let verification = verification(&outline.index, scope, outline.fault_prefix.clone(), included);
                let before = signatures.len();
                signatures.extend(block.signatures.iter().map(|OutlinedSignature { signature, range, subjects }| {
                    Ok(verification.explain(range, signature, subjects, trust))
                }));
                refuse_repeated(&mut signatures[before..]);
            }
            (security, places) = outline.security.into_iter().map(|block| (block.explained, block.places)).unzip();
            parts = outline.parts;
        } else {
            let index = Index::of(&mut entity.reader(), ids, limits)?;
            let verification = verification(&index, Scope::Document(&[]), None, None);
            signatures.extend(index.signatures.iter().map(|range| {
                let signature = Signature::find(&mut entity.reader(), range.start, limits)?;
                Ok(verification.explain(range, &signature, &[], trust))
            }));
        }
        drop(entity);
        Ok(Draft { text: text.into_owned(), parts, security, places, signatures, left: left.get() })
    }

    /// Adds the content that is in the parts of the package.
    async fn complete(&mut self, parts: &StoredParts<'_>) {
        let mut left = (self.left.unwrap_or_default(), Limits::default().content);
        // Many references to one attachment cause no more work than one.
        let mut attached: HashMap<(ContentId, DigestAlgorithm), Result<ExplainedContent, Error>> = HashMap::new();
        for (signature, open) in self.signatures.iter_mut().flatten() {
            for (number, content) in std::mem::take(open) {
                let Some(reference) = signature.references.get_mut(number) else { continue };
                let key = match &content {
                    OpenContent::Attachment(id) => Some((id.clone(), reference.algorithm)),
                    OpenContent::Included { .. } => None,
                };
                let content = match key.as_ref().and_then(|key| attached.get(key)) {
                    Some(known) => known.clone(),
                    None => parts.content(content, reference.algorithm, &mut left).await,
                };
                attached.extend(key.map(|key| (key, content.clone())));
                reference.content = content.map_err(|error| error.at(reference.offset));
            }
        }
    }

    fn finish(self, attachments: Vec<Option<ContentId>>) -> Explanation {
        let Draft { text, parts, security, places, signatures, left: _ } = self;
        let mut signatures: Vec<_> = signatures.into_iter().map(|explained| Ok(explained?.0)).collect();
        for (security, places) in security.iter().zip(places) {
            let own =
                signatures.iter_mut().flatten().filter(|one: &&mut ExplainedSignature| security.contains(&one.range));
            own.for_each(|signature| find_hidden(signature, places.as_ref()));
        }
        signatures.iter_mut().flatten().for_each(find_indented);
        security.iter().for_each(|security| confirm_subjects(security, &mut signatures));
        let signed_by = |is_it: &dyn Fn(&ExplainedContent) -> bool| {
            let refers = |signature: &Result<ExplainedSignature, Error>| {
                let references = signature.iter().flat_map(|signature| &signature.references);
                references.filter_map(|reference| reference.content.as_ref().ok()).any(is_it)
            };
            let numbers = signatures.iter().enumerate().filter(|(_, signature)| refers(signature));
            numbers.map(|(number, _)| number).collect()
        };
        let parts = parts.into_iter().map(|(name, range)| {
            let signed_by = signed_by(&|content| content.place.covers(&range));
            ExplainedPart { name, range, signed_by }
        });
        let parts = parts.collect();
        let attachments = attachments.into_iter().map(|id| {
            let signed_by = signed_by(&|content| id.as_ref().is_some_and(|id| content.covers_attachment(id)));
            ExplainedAttachment { id, signed_by }
        });
        let attachments = attachments.collect();
        Explanation { text, parts, attachments, security, signatures }
    }
}

/// Finds the signatures of a `Security` that repeat another one, as messages are refused for.
fn refuse_repeated(signatures: &mut [Result<Explained, Error>]) {
    let mut known = HashSet::new();
    for (signature, _) in signatures.iter_mut().flatten() {
        if signature.identity.is_some_and(|identity| !known.insert(identity)) {
            signature.value = Err(Error::new(ErrorKind::Malformed, REPEATED).at(signature.range.start));
        }
    }
}

/// Finds out which content nobody would find.
fn find_hidden(signature: &mut ExplainedSignature, places: Option<&Places>) {
    for content in signature.references.iter_mut().flat_map(|reference| &mut reference.content) {
        let VerifiedContent::Element { range, .. } = &content.place else { continue };
        content.is_hidden = places.is_some_and(|places| !places.has(range));
    }
}

/// Finds out which content was indented.
fn find_indented(signature: &mut ExplainedSignature) {
    for ExplainedReference { algorithm, stated, content, .. } in &mut signature.references {
        let Ok(content) = content else { continue };
        let Some(Ok(text)) = content.canonical.as_deref().map(std::str::from_utf8) else { continue };
        let is_attached = matches!(content.place, VerifiedContent::Attachment { .. });
        if content.computed == *stated || is_attached {
            continue;
        }
        let Some(flat) = without_space(text) else { continue };
        let computed = crypto::digest(*algorithm).map(|mut digest| {
            digest.update(flat.as_bytes());
            digest.finish()
        });
        content.is_indented = computed.as_ref() == Ok(stated);
    }
}

/// Returns a canonical form without the white space between its elements. `None` if there is none. An attribute has no `<` in this form.
pub(crate) fn without_space(text: &str) -> Option<String> {
    let mut flat = String::with_capacity(text.len());
    for piece in text.split_inclusive('>') {
        let rest = piece.trim_start_matches([' ', '\t', '\r', '\n']);
        let is_between = rest.starts_with('<') && !flat.is_empty();
        flat.push_str(if is_between { rest } else { piece });
    }
    (flat.len() < text.len()).then_some(flat)
}

/// Finds out which signatures are by the subject of an assertion that somebody who is trusted has signed.
fn confirm_subjects(security: &ExplainedSecurity, signatures: &mut [Result<ExplainedSignature, Error>]) {
    let is_vouched_for = |ExplainedAssertion { assertion, signature, .. }: &&ExplainedAssertion| {
        let own = signatures.iter().flatten().find(|own| Some(&own.range) == signature.as_ref());
        own.is_some_and(|own| own.is_right() && own.signer.is_ok() && own.is_of(&assertion.range))
    };
    let vouched: Vec<&String> =
        security.assertions.iter().filter(is_vouched_for).map(|explained| &explained.assertion.id).collect();
    for signature in signatures.iter_mut().flatten().filter(|signature| security.contains(&signature.range)) {
        let Some(first) = signature.subjects.first() else { continue };
        // A certificate that the signature brings may be nobody's who is trusted, and the subject's.
        let may_be_of_subject = |error: &Error| matches!(error.kind(), ErrorKind::UnknownKey | ErrorKind::Untrusted);
        if !signature.signer.as_ref().is_err_and(may_be_of_subject) {
            continue;
        }
        signature.signer = match signature.subjects.iter().find(|id| vouched.contains(id)) {
            Some(id) => Ok(Signer::Subject(id.clone())),
            None => {
                let message = format!(
                    "its key is that of the subject of the assertion \"{}\", which has no right signature of somebody who is trusted",
                    excerpt(first, 60)
                );
                Err(Error::new(ErrorKind::UnknownKey, message))
            }
        };
    }
}

impl ExplainedSignature {
    /// Returns whether its value and all its digests are right. It says nothing about who made it.
    pub fn is_right(&self) -> bool {
        self.value.is_ok() && self.references.iter().all(ExplainedReference::is_right)
    }

    /// Returns whether it is over exactly this element, itself left out.
    fn is_of(&self, range: &Range<usize>) -> bool {
        self.references
            .iter()
            .flat_map(|reference| &reference.content)
            .any(|content| matches!(&content.place, VerifiedContent::Element { range: signed, .. } if signed == range))
    }
}

impl ExplainedReference {
    /// Returns whether the content has the digest that is stated, the declarations of all prefixes in it are signed, and those who read the
    /// message find it.
    pub fn is_right(&self) -> bool {
        self.content.as_ref().is_ok_and(|content| {
            content.computed == self.stated && content.unsigned_prefix.is_none() && !content.is_hidden
        })
    }
}

impl ExplainedSecurity {
    /// Returns whether the element with this byte range is in it.
    pub fn contains(&self, range: &Range<usize>) -> bool {
        self.range.start < range.start && range.end < self.range.end
    }
}

impl ExplainedContent {
    /// Content about which only this is known.
    pub(crate) fn new(place: VerifiedContent, computed: Vec<u8>) -> Self {
        ExplainedContent {
            place,
            computed,
            canonical: None,
            is_hidden: false,
            is_indented: false,
            unsigned_prefix: None,
            included: Vec::new(),
        }
    }

    fn covers_attachment(&self, id: &ContentId) -> bool {
        matches!(&self.place, VerifiedContent::Attachment { id: signed, .. } if signed == id)
            || self.included.contains(id)
    }
}
