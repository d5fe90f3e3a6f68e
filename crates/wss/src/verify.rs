//! Verifies signatures over the bytes that are read afterwards.

pub(crate) mod explain;
mod sinks;

use std::cell::Cell;
use std::ops::Range;
use std::time::SystemTime;

use castile_mime::ContentId;
use castile_xml::c14n::{Algorithm, CanonicalRuns, Form, Method, Sink, Subset, Version, write_all, write_known};
use castile_xml::{DocumentEntity, Memory, Reader, decode, excerpt};
use subtle::ConstantTimeEq;

use crate::algorithm::Algorithms;
use crate::crypto::{self, Digest, LACKING};
use crate::included::{OpenDigest, PartsInside};
use crate::index::Index;
use crate::limits::Limits;
use crate::signature::{Reference, Signature, Transform};
use crate::trust::{Signer, Trust, VerifyingKey};
use crate::{DigestAlgorithm, Error, ErrorKind, PublicKey, SignatureAlgorithm};

use sinks::{DigestSink, Limited, SignedInfo};

/// A valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedSignature {
    /// Who made it.
    pub signer: Signer,
    /// The algorithm.
    pub algorithm: SignatureAlgorithm,
    /// What it signs.
    pub references: Vec<VerifiedReference>,
    /// The byte range of the signature itself.
    pub range: Range<usize>,
    /// A digest of what was signed, and by whom.
    identity: [u8; 32],
}

impl VerifiedSignature {
    /// Returns what identifies the signed message, in however many forms its signature can be written.
    pub(crate) fn identity(&self) -> [u8; 32] {
        self.identity
    }

    /// Returns whether the whole element with this byte range is signed, without any exception.
    pub fn covers(&self, range: &Range<usize>) -> bool {
        self.references.iter().any(|reference| reference.content.covers(range))
    }

    /// Returns whether the content of the attachment with this Content-ID is signed: as an attachment, or because an `xop:Include`
    /// in signed content stands for it.
    pub fn covers_attachment(&self, id: &ContentId) -> bool {
        self.references.iter().any(|reference| match &reference.content {
            VerifiedContent::Attachment { id: signed, .. } => signed == id,
            _ => reference.included.binary_search(id).is_ok(),
        })
    }
}

impl VerifiedContent {
    /// Returns whether the whole element with this byte range is in the content.
    pub fn covers(&self, range: &Range<usize>) -> bool {
        let (is_inside, without) = match self {
            VerifiedContent::Element { range: signed, without } => {
                (signed.start <= range.start && range.end <= signed.end, without)
            }
            VerifiedContent::Document { without } => (true, without),
            VerifiedContent::External | VerifiedContent::Attachment { .. } => return false,
        };
        let is_apart = |without: &Range<usize>| without.end <= range.start || range.end <= without.start;
        is_inside && without.as_ref().is_none_or(is_apart)
    }
}

/// Content that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedReference {
    /// The URI of the reference.
    pub uri: String,
    /// The content.
    pub content: VerifiedContent,
    /// The attachments that `xop:Include` elements in the content stand for, sorted. Their bytes are signed as they are.
    pub included: Vec<ContentId>,
    /// Whether the default namespace that the content has from around it is signed.
    pub(crate) default_is_signed: bool,
}

/// Where signed content is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifiedContent {
    /// The whole document, without the byte range of an enveloped signature.
    Document {
        /// The enveloped signature.
        without: Option<Range<usize>>,
    },
    /// An element of the document.
    Element {
        /// Its byte range, from its start tag to its end tag.
        range: Range<usize>,
        /// The byte range in it of an enveloped signature, which is not signed.
        without: Option<Range<usize>>,
    },
    /// Content outside the document, which was given to the verifier.
    External,
    /// The content of an attachment of the message, without its head: anybody may have changed its media type and its
    /// other header fields, except for the Content-ID.
    Attachment {
        /// Its Content-ID.
        id: ContentId,
        /// Whether its bytes were signed as they are. They were not, if the media type is that of a text or of XML and the
        /// content is not in canonical form: line ends of a text, and comments and spelling of XML, may be others.
        is_exact: bool,
    },
}

/// What a signature says about an attachment. It is still to be compared.
#[derive(Debug)]
pub(crate) struct AttachmentDigest {
    pub(crate) id: ContentId,
    pub(crate) uri: String,
    pub(crate) algorithm: DigestAlgorithm,
    pub(crate) digest: Vec<u8>,
    /// The offset of the reference.
    pub(crate) offset: usize,
}

/// What a signature says, and what is still to be compared when the parts of the package are there.
#[derive(Default)]
pub(crate) struct Unverified {
    pub(crate) attachments: Vec<AttachmentDigest>,
    /// The digests of content with parts.
    pub(crate) contents: Vec<OpenDigest>,
}

impl Unverified {
    /// Returns the offset of the first reference.
    pub(crate) fn first(&self) -> Option<usize> {
        let attachments = self.attachments.iter().map(|stated| stated.offset);
        attachments.chain(self.contents.iter().map(|content| content.offset)).min()
    }
}

/// What a signature is verified against.
pub(crate) struct Verification<'v> {
    pub(crate) algorithms: Algorithms,
    pub(crate) limits: Limits,
    /// When certificates must be valid.
    pub(crate) now: SystemTime,
    pub(crate) source: Source<'v>,
    pub(crate) index: &'v Index,
    /// What signatures may refer to.
    pub(crate) scope: Scope<'v>,
    /// Whether values may use prefixes whose declarations are not signed.
    pub(crate) allows_unsigned_prefixes: bool,
    /// An element, by its offset, and a prefix in its text whose declaration need not be signed.
    pub(crate) fault_prefix: Option<(usize, String)>,
    /// The elements that stand for parts, if the message has MTOM.
    pub(crate) parts: Option<PartsInside<'v>>,
    /// How many bytes of content there may still be, of all signatures together. `None` if there were more.
    pub(crate) left: &'v Cell<Option<usize>>,
}

/// Where a document is read from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'v> {
    Document(&'v DocumentEntity<'v>),
    /// A message, which has no document type declaration, and what of it is known to be canonical.
    Message(&'v str, castile_xml::Limits, Option<&'v CanonicalRuns<'v>>),
}

/// What signatures may refer to.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'v> {
    /// Elements with ids, the whole document, and content outside it, by its URIs.
    Document(&'v [(String, Vec<u8>)]),
    /// Elements with ids; and tokens.
    Message(&'v Tokens),
}

/// The tokens of a message.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// Where they are, by the ids of references to them.
    pub(crate) by_reference: Vec<(String, Range<usize>)>,
    /// Where those are for which a signature of their own, or a policy, has decided on prefixes that are not signed.
    pub(crate) decided: Vec<Range<usize>>,
}

impl Source<'_> {
    pub(crate) fn reader(&self) -> Result<Reader<'_>, Error> {
        match self {
            Source::Document(document) => Ok(document.reader()),
            Source::Message(text, limits, _) => Ok(Reader::decoded(text, *limits, &mut Memory::default())?),
        }
    }

    /// Writes canonical forms of the document.
    ///
    /// # Errors
    /// Those of [`write_all`].
    pub(crate) fn write_all<O: Sink>(&self, forms: Vec<Form<'_, O>>) -> Result<(), Error> {
        let mut reader = self.reader()?;
        match self {
            Source::Message(_, _, Some(known)) => Ok(write_known(&mut reader, known, forms)?),
            Source::Document(_) | Source::Message(_, _, None) => Ok(write_all(&mut reader, forms)?),
        }
    }
}

impl Verification<'_> {
    /// Verifies a signature: first that it was made by somebody who is trusted, so that strangers cause little work.
    pub(crate) fn signature(
        &self,
        range: &Range<usize>,
        signature: &Signature,
        trust: &Trust,
    ) -> Result<VerifiedSignature, Error> {
        self.check_algorithm(range, signature)?;
        let (key, signer) = self.key(signature, trust).map_err(|error| error.at(range.start))?;
        let (verified, unverified) = self.signature_by(range, signature, (&key, signer), |_| false)?;
        match unverified.first() {
            None => Ok(verified),
            Some(offset) => {
                let message = "a reference to an attachment, in a signature that is not one of a message";
                Err(Error::new(ErrorKind::Unsupported, message).at(offset))
            }
        }
    }

    /// Checks that the algorithm of a signature is allowed.
    pub(crate) fn check_algorithm(&self, range: &Range<usize>, signature: &Signature) -> Result<(), Error> {
        match self.algorithms.allows_signature(signature.algorithm) {
            true => Ok(()),
            false => {
                let message = format!("a signature by {} is not allowed", signature.algorithm);
                Err(Error::new(ErrorKind::Disallowed, message).at(range.start))
            }
        }
    }

    /// Verifies a signature whose algorithm is allowed, and that was made with the key of this signer. Returns what it says
    /// about the parts of the package, too, which is not verified yet. `is_known` returns whether a signature of this identity was
    /// verified before: anybody can write the value of some signatures in another form, which would cause the work of its references again.
    pub(crate) fn signature_by(
        &self,
        range: &Range<usize>,
        signature: &Signature,
        (key, signer): (&VerifyingKey<'_>, Signer),
        is_known: impl FnOnce(&[u8; 32]) -> bool,
    ) -> Result<(VerifiedSignature, Unverified), Error> {
        let signed_info = self.signed_info(signature)?;
        self.check_value(key, signature, &signed_info).map_err(|error| error.at(range.start))?;
        let identity = identity(&signed_info, key, &signature.value)?;
        if is_known(&identity) {
            return Err(Error::new(ErrorKind::Malformed, REPEATED).at(range.start));
        }
        let (references, unverified) = self.references(range, signature)?;
        let algorithm = signature.algorithm;
        Ok((VerifiedSignature { signer, algorithm, references, range: range.clone(), identity }, unverified))
    }

    /// Returns the key of a signature, and whose it is.
    pub(crate) fn key<'t>(
        &self,
        signature: &'t Signature,
        trust: &'t Trust,
    ) -> Result<(VerifyingKey<'t>, Signer), Error> {
        match signature.algorithm {
            SignatureAlgorithm::Hmac(_) => trust.secret(&signature.hints),
            _ => trust.key(&signature.hints, self.now),
        }
    }

    /// Returns the canonical form of `SignedInfo`.
    fn signed_info(&self, signature: &Signature) -> Result<Vec<u8>, Error> {
        let mut signed_info = SignedInfo(Vec::new());
        let subset = Subset { apex: Some(signature.signed_info), without: None };
        let form = Form { method: &signature.canonicalization, subset, out: &mut signed_info };
        self.source.write_all(vec![form])?;
        Ok(signed_info.0)
    }

    fn check_value(&self, key: &VerifyingKey<'_>, signature: &Signature, signed_info: &[u8]) -> Result<(), Error> {
        let algorithm = signature.algorithm;
        let is_valid = match (key, algorithm) {
            (VerifyingKey::Secret(secret), SignatureAlgorithm::Hmac(digest)) => {
                let code = crypto::hmac(digest, secret.bytes(), signed_info);
                code.map(|code| code.ct_eq(&signature.value).into())
            }
            (VerifyingKey::Public(key), algorithm) => {
                let least = self.algorithms.min_modulus_bits();
                if let Some((kind, bits)) = key.modulus_bits().filter(|(_, bits)| *bits < least) {
                    let message =
                        format!("a key for {kind} of {bits} bits, where {least} are the least that is allowed");
                    return Err(Error::new(ErrorKind::Disallowed, message));
                }
                crypto::verify(algorithm, key, signed_info, &signature.value)
            }
            (VerifyingKey::Secret(_), _) => None,
        };
        match is_valid {
            Some(true) => Ok(()),
            Some(false) => {
                Err(Error::new(ErrorKind::Signature, "the signature was not made with this key for this content"))
            }
            None => {
                let bits = match key {
                    VerifyingKey::Public(key) => key.modulus_bits(),
                    VerifyingKey::Secret(_) => None,
                };
                let message = match bits {
                    Some((kind, bits)) if bits < 2048 => {
                        format!("a signature by {algorithm} with a key for {kind} of {bits} bits, {LACKING}")
                    }
                    _ => format!(
                        "a signature by {algorithm} with a key that is not for it, or that the cryptographic library lacks"
                    ),
                };
                Err(Error::new(ErrorKind::Unsupported, message))
            }
        }
    }

    /// Compares the digests of all references, except for those that need parts of the package, which are returned. Those inside the
    /// document are computed in one pass over it.
    fn references(
        &self,
        signature_range: &Range<usize>,
        signature: &Signature,
    ) -> Result<(Vec<VerifiedReference>, Unverified), Error> {
        let targets = signature.references.iter().map(|reference| self.target(reference, signature_range));
        let mut targets = targets.collect::<Result<Vec<_>, _>>()?;
        let resolved = targets.iter_mut().filter_map(|target| match target {
            Target::Content(resolved) => Some(resolved),
            Target::Attachment(_) => None,
        });
        self.digest_inside(resolved)?;
        let (mut verified, mut unverified) = (Vec::new(), Unverified::default());
        for (target, reference) in targets.into_iter().zip(&signature.references) {
            let uri = reference.uri.clone().unwrap_or_default();
            let Reference { algorithm, offset, .. } = *reference;
            let Resolved { method, sink, content, .. } = match target {
                Target::Content(resolved) => resolved,
                Target::Attachment(id) => {
                    let digest = reference.digest.clone();
                    unverified.attachments.push(AttachmentDigest {
                        id: id.clone(),
                        uri: uri.clone(),
                        algorithm,
                        digest,
                        offset,
                    });
                    let content = VerifiedContent::Attachment { id, is_exact: false };
                    let (included, default_is_signed) = (Vec::new(), false);
                    verified.push(VerifiedReference { uri, content, included, default_is_signed });
                    continue;
                }
            };
            if let Some((prefix, offset)) = sink.omitted {
                let message = format!(
                    "a value uses the prefix \"{}\", whose declaration the signature doesn't cover, so that it may mean something else than was signed",
                    excerpt(&prefix, 60)
                );
                return Err(Error::new(ErrorKind::UnsignedPrefix, message).at(offset));
            }
            let mut included = Vec::new();
            if let (false, Some(parts)) = (sink.gaps.is_empty(), &self.parts) {
                let parts = parts.includes.parts(sink.gaps)?;
                included.extend(parts.iter().map(|(id, _)| id.clone()));
                included.sort_unstable();
                included.dedup();
                let (uri, stated) = (uri.clone(), reference.digest.clone());
                unverified.contents.push(OpenDigest { digest: sink.digest, parts, uri, stated, offset });
            } else if sink.digest.finish() != reference.digest {
                let message = format!(
                    "the content of the reference \"{}\" was changed: it has another digest",
                    excerpt(&uri, 60)
                );
                return Err(Error::new(ErrorKind::Digest, message).at(offset));
            }
            let default_is_signed = method.is_inclusive("");
            verified.push(VerifiedReference { uri, content, included, default_is_signed });
        }
        Ok((verified, unverified))
    }

    fn target(&self, reference: &Reference, signature: &Range<usize>) -> Result<Target, Error> {
        Ok(match self.attachment(reference)? {
            Some(id) => Target::Attachment(id),
            None => Target::Content(self.resolve(reference, signature)?),
        })
    }

    /// Returns the attachment that a reference of a message leads to. `None` if it leads to something else.
    fn attachment(&self, reference: &Reference) -> Result<Option<ContentId>, Error> {
        let failed = |kind, message: String| Err(Error::new(kind, message).at(reference.offset));
        let uri = reference.uri.as_deref().unwrap_or_default();
        let is_of_attachment = |transform: &Transform| matches!(transform, Transform::Attachment);
        let is_message = matches!(self.scope, Scope::Message(_));
        if !is_message || !uri.trim_start().get(..4).is_some_and(|start| start.eq_ignore_ascii_case("cid:")) {
            return match reference.transforms.iter().any(is_of_attachment) {
                true => {
                    let uri = excerpt(uri, 100);
                    failed(
                        ErrorKind::Unsupported,
                        format!(
                            "the reference \"{uri}\" is not to an attachment of a message, but has the transform for those"
                        ),
                    )
                }
                false => Ok(None),
            };
        }
        let Some(id) = ContentId::from_url(uri) else {
            return failed(ErrorKind::Reference, format!("the reference \"{}\" has no Content-ID", excerpt(uri, 100)));
        };
        if !matches!(reference.transforms.as_slice(), [Transform::Attachment]) {
            let message = format!(
                "the reference \"{}\" to an attachment has not exactly the transform Attachment-Content-Signature-Transform, which is the only one that is supported",
                excerpt(uri, 100)
            );
            return failed(ErrorKind::Unsupported, message);
        }
        self.check_digest(reference)?;
        Ok(Some(id))
    }

    /// Checks that the hash function of a reference is allowed.
    fn check_digest(&self, reference: &Reference) -> Result<(), Error> {
        match self.algorithms.allows_digest(reference.algorithm) {
            true => Ok(()),
            false => {
                let message = format!("a digest by {} is not allowed", reference.algorithm);
                Err(Error::new(ErrorKind::Disallowed, message).at(reference.offset))
            }
        }
    }

    /// Digests the content that is inside the document, in one pass over it.
    fn digest_inside<'r>(&self, resolved: impl Iterator<Item = &'r mut Resolved>) -> Result<(), Error> {
        let inside = resolved.filter_map(|resolved| {
            let Resolved { method, subset, sink, .. } = resolved;
            Some(Form {
                method,
                subset: (*subset)?,
                out: Limited {
                    sink,
                    left: self.left,
                    fault_prefix: self.fault_prefix.as_ref(),
                    parts: self.parts.as_ref(),
                },
            })
        });
        self.source.write_all(inside.collect())
    }

    /// Finds the content of a reference, and how its digest is computed.
    fn resolve(&self, reference: &Reference, signature: &Range<usize>) -> Result<Resolved, Error> {
        let failed = |kind, message: String| Err(Error::new(kind, message).at(reference.offset));
        self.check_digest(reference)?;
        let digest = crypto::digest(reference.algorithm).map_err(|error| error.at(reference.offset))?;
        // If there is one signature, it is the enveloped one.
        let without_all =
            reference.transforms.iter().any(|transform| matches!(transform, Transform::WithoutSignatures));
        if without_all && self.index.signatures.len() > 1 {
            let message = "an XPath transform that leaves out several signatures is not supported";
            return failed(ErrorKind::Unsupported, message.to_owned());
        }
        let Some(steps) = Steps::of(&reference.transforms) else {
            let message =
                "transforms other than one that leaves out the signature, and one that makes canonical after it";
            return failed(ErrorKind::Unsupported, format!("{message}, are not supported"));
        };
        let Some(uri) = &reference.uri else {
            return failed(ErrorKind::Unsupported, "a reference without URI is not supported".to_owned());
        };
        let resolved = match (uri.strip_prefix('#'), self.scope) {
            (Some(id), _) => self.element(id, &steps, digest, signature),
            (None, Scope::Document(_)) if uri.is_empty() => {
                let range = 0..self.source.reader()?.length();
                Ok(steps.inside(None, range, digest, signature, !self.allows_unsigned_prefixes))
            }
            (None, Scope::Document(contents)) => self.external(uri, contents, &steps, digest),
            (None, Scope::Message(_)) => {
                let message = format!(
                    "the reference \"{}\" in a message is not supported, only those to elements with ids, and to attachments",
                    excerpt(uri, 100)
                );
                Err(Error::new(ErrorKind::Unsupported, message))
            }
        };
        resolved.map_err(|error| error.at(reference.offset))
    }

    fn element(
        &self,
        id: &str,
        steps: &Steps<'_>,
        digest: Box<dyn Digest>,
        signature: &Range<usize>,
    ) -> Result<Resolved, Error> {
        let wants_omitted = |range: &Range<usize>| {
            let is_decided = matches!(self.scope, Scope::Message(tokens) if tokens.decided.contains(range));
            !self.allows_unsigned_prefixes && (steps.is_enveloped || !is_decided)
        };
        if steps.is_token {
            let Scope::Message(tokens) = self.scope else {
                return Err(Error::new(ErrorKind::Unsupported, "a reference to a token outside a message"));
            };
            let Some((_, range)) = tokens.by_reference.iter().find(|(reference, _)| reference == id) else {
                let message = format!("no reference to a token of the message has the id \"{}\"", excerpt(id, 60));
                return Err(Error::new(ErrorKind::Reference, message));
            };
            return Ok(steps.inside(Some(range.start), range.clone(), digest, signature, wants_omitted(range)));
        }
        match self.index.element(id) {
            Some(range) if self.parts.as_ref().is_some_and(|parts| parts.includes.number_at(range.start).is_some()) => {
                let message =
                    format!("the id \"{}\" is that of an <Include>, which stands for a part", excerpt(id, 60));
                Err(Error::new(ErrorKind::Unsupported, message))
            }
            Some(range) => {
                let wants_omitted = wants_omitted(&range);
                Ok(steps.inside(Some(range.start), range, digest, signature, wants_omitted))
            }
            None if id.contains('(') => {
                let message = format!("the XPointer \"{}\" is not supported", excerpt(id, 60));
                Err(Error::new(ErrorKind::Unsupported, message))
            }
            None => {
                let message = format!("no element has the id \"{}\"", excerpt(id, 60));
                Err(Error::new(ErrorKind::Reference, message))
            }
        }
    }

    /// Computes the digest of content that was given to the verifier.
    fn external(
        &self,
        uri: &str,
        contents: &[(String, Vec<u8>)],
        steps: &Steps<'_>,
        digest: Box<dyn Digest>,
    ) -> Result<Resolved, Error> {
        let left = self.left;
        let Some((_, content)) = contents.iter().find(|(known, _)| known == uri) else {
            let message =
                format!("the content \"{}\" was not given to the verifier, and nothing is fetched", excerpt(uri, 100));
            return Err(Error::new(ErrorKind::Reference, message));
        };
        if steps.is_enveloped || steps.is_token {
            let message = "a transform of the document, on content outside it";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let mut sink = DigestSink::new(digest, false, false);
        match steps.method {
            None => {
                if sinks::less(left, content.len()).is_none() {
                    let message = format!("content of more than {} bytes, which is the limit", self.limits.content);
                    return Err(Error::new(ErrorKind::Limit, message));
                }
                sink.digest.update(content);
            }
            Some(method) => {
                let text = decode(content, None)?;
                let document = DocumentEntity::new(&text, self.limits.document)?;
                let form = Form {
                    method,
                    subset: Subset::default(),
                    out: Limited { sink: &mut sink, left, fault_prefix: None, parts: None },
                };
                write_all(&mut document.reader(), vec![form])?;
            }
        }
        Ok(Resolved { method: Method::new(DEFAULT), subset: None, sink, content: VerifiedContent::External })
    }
}

/// Why a signature is refused that repeats another one.
pub(crate) const REPEATED: &str = "a second <Signature> of the same content with the same key";

/// Returns a digest of what was signed, and with which key. Whose key it is depends on what nobody signed, such as `KeyInfo`.
fn identity(signed_info: &[u8], key: &VerifyingKey<'_>, value: &[u8]) -> Result<[u8; 32], Error> {
    let key: &[&[u8]] = match key {
        VerifyingKey::Public(PublicKey::Rsa { modulus, exponent }) => &[modulus, exponent],
        VerifyingKey::Public(PublicKey::Ec { point, .. }) => &[point],
        VerifyingKey::Public(PublicKey::Dsa { modulus, divisor, generator, value }) => {
            &[modulus, divisor, generator, value]
        }
        VerifyingKey::Public(PublicKey::Ed25519(key)) => &[key],
        VerifyingKey::Public(PublicKey::Ed448(key)) => &[key],
        // A code of one content and one secret has one value.
        VerifyingKey::Secret(_) => &[value],
    };
    crypto::sha256(std::iter::once(signed_info).chain(key.iter().copied()))
}

/// The transforms of a reference, in the orders that are supported.
struct Steps<'r> {
    is_enveloped: bool,
    is_token: bool,
    method: Option<&'r Method>,
}

impl<'r> Steps<'r> {
    fn of(transforms: &'r [Transform]) -> Option<Self> {
        let (is_enveloped, rest) = match transforms {
            [Transform::Enveloped, Transform::WithoutSignatures, rest @ ..] => (true, rest),
            [Transform::Enveloped | Transform::WithoutSignatures, rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (is_token, method) = match rest {
            [] => (false, None),
            [Transform::Canonical(method)] => (false, Some(method)),
            [Transform::Token(method)] if !is_enveloped => (true, Some(method)),
            _ => return None,
        };
        Some(Steps { is_enveloped, is_token, method })
    }

    /// Returns the content in the document with this range. `apex` is the start of its element, if it is not all.
    fn inside(
        &self,
        apex: Option<usize>,
        range: Range<usize>,
        digest: Box<dyn Digest>,
        signature: &Range<usize>,
        wants_omitted: bool,
    ) -> Resolved {
        let without = Some(signature)
            .filter(|signature| self.is_enveloped && range.start < signature.start && signature.end <= range.end)
            .cloned();
        Resolved {
            // Such a reference selects no comments, whatever its transform (§4.4.3.3).
            method: self.method.cloned().unwrap_or_else(|| Method::new(DEFAULT)).without_comments(),
            subset: Some(Subset { apex, without: without.as_ref().map(|range| range.start) }),
            sink: DigestSink::new(digest, self.is_token, wants_omitted),
            content: match apex {
                Some(_) => VerifiedContent::Element { range, without },
                None => VerifiedContent::Document { without },
            },
        }
    }
}

/// The canonicalization of a part of a document without a transform that makes it canonical (§4.4.3.2).
const DEFAULT: Algorithm = Algorithm { version: Version::Canonical10, with_comments: false };

/// What a reference leads to.
enum Target {
    Content(Resolved),
    /// An attachment, whose content comes later.
    Attachment(ContentId),
}

/// The content of a reference, whose digest is computed.
struct Resolved {
    method: Method,
    /// The part of the document. `None` for other content, whose digest is complete.
    subset: Option<Subset>,
    sink: DigestSink,
    content: VerifiedContent,
}
