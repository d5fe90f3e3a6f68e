use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use castile_xml::c14n::{Algorithm, Form, Method, Subset, Version, write_all};
use castile_xml::{DocumentEntity, decode, excerpt};
use subtle::ConstantTimeEq;

use crate::algorithm::Algorithms;
use crate::crypto::{AwsLc, Crypto, Digest};
use crate::index::{IdAttributes, Index};
use crate::limits::Limits;
use crate::signature::{Reference, Signature, Transform};
use crate::trust::{Signer, Trust, VerifyingKey};
use crate::{Error, ErrorKind, SignatureAlgorithm};

/// Verifies the signatures of documents. It never fetches anything: content outside the document has to be given.
#[derive(Clone)]
pub struct Verifier {
    trust: Trust,
    algorithms: Algorithms,
    limits: Limits,
    ids: IdAttributes,
    contents: Vec<(String, Vec<u8>)>,
    crypto: Arc<dyn Crypto>,
}

/// A document whose signatures are all valid.
#[derive(Clone, Debug)]
pub struct Verified {
    text: String,
    root: Range<usize>,
    signatures: Vec<VerifiedSignature>,
}

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
}

/// Content that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedReference {
    /// The URI of the reference.
    pub uri: String,
    /// The content.
    pub content: VerifiedContent,
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
}

impl Verifier {
    /// Creates a verifier that accepts the signatures of those who are trusted. An attribute `Id` without a namespace is an
    /// id.
    #[must_use]
    pub fn new(trust: Trust) -> Self {
        Verifier {
            trust,
            algorithms: Algorithms::default(),
            limits: Limits::default(),
            ids: IdAttributes { everywhere: vec!["Id".to_owned()] },
            contents: Vec::new(),
            crypto: Arc::new(AwsLc),
        }
    }

    /// Sets the algorithms that are accepted.
    #[must_use]
    pub fn with_algorithms(self, algorithms: Algorithms) -> Self {
        Verifier { algorithms, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Verifier { limits, ..self }
    }

    /// Adds an attribute without a namespace that is an id on every element, such as `ID`.
    #[must_use]
    pub fn with_id_attribute(mut self, local: impl Into<String>) -> Self {
        self.ids.everywhere.push(local.into());
        self
    }

    /// Adds the content that a detached signature refers to by this URI.
    #[must_use]
    pub fn with_content(mut self, uri: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.contents.push((uri.into(), content.into()));
        self
    }

    /// Uses another cryptographic library. The default is [`AwsLc`].
    #[must_use]
    pub fn with_crypto(self, crypto: Arc<dyn Crypto>) -> Self {
        Verifier { crypto, ..self }
    }

    /// Verifies all signatures of a document.
    ///
    /// # Errors
    /// There is no signature, or one that is not valid, not supported or not trusted.
    pub fn verify(&self, document: &[u8]) -> Result<Verified, Error> {
        let text = decode(document, None)?;
        let document = DocumentEntity::new(&text, self.limits.document)?;
        let index = Index::of(&mut document.reader(), &self.ids, self.limits)?;
        if index.signatures.is_empty() {
            return Err(Error::new(ErrorKind::Unsigned, "the document has no signature"));
        }
        let signatures = index.signatures.iter().map(|range| {
            let signature = Signature::read(&mut document.reader(), range.start, self.limits)?;
            self.signature(&document, &index, range, &signature)
        });
        let signatures = signatures.collect::<Result<_, _>>()?;
        Ok(Verified { root: index.root.clone(), signatures, text: text.into_owned() })
    }

    /// Verifies a signature: first that it was made by somebody who is trusted, so that strangers cause little work.
    fn signature(
        &self,
        document: &DocumentEntity<'_>,
        index: &Index,
        range: &Range<usize>,
        signature: &Signature,
    ) -> Result<VerifiedSignature, Error> {
        let algorithm = signature.algorithm;
        if !self.algorithms.allow_signature(algorithm) {
            return Err(
                Error::new(ErrorKind::Disallowed, format!("a signature by {algorithm} is not allowed")).at(range.start)
            );
        }
        let (key, signer) = match algorithm {
            SignatureAlgorithm::Hmac(_) => self.trust.secret(&signature.hints),
            _ => self.trust.key(&signature.hints, &*self.crypto),
        }
        .map_err(|error| error.at(range.start))?;
        let mut signed_info = Vec::new();
        let subset = Subset { apex: Some(signature.signed_info), without: None };
        signature
            .canonicalization
            .write(&mut document.reader(), subset, |piece| signed_info.extend(piece.as_bytes()))?;
        self.check_value(&key, signature, &signed_info).map_err(|error| error.at(range.start))?;
        let references = self.references(document, index, range, signature)?;
        Ok(VerifiedSignature { signer, algorithm, references, range: range.clone() })
    }

    fn check_value(&self, key: &VerifyingKey<'_>, signature: &Signature, signed_info: &[u8]) -> Result<(), Error> {
        let algorithm = signature.algorithm;
        let is_valid = match (key, algorithm) {
            (VerifyingKey::Secret(secret), SignatureAlgorithm::Hmac(digest)) => {
                let code = self.crypto.hmac(digest, secret.bytes(), signed_info);
                code.map(|code| code.ct_eq(&signature.value).into())
            }
            (VerifyingKey::Public(key), algorithm) => {
                let least = self.algorithms.least_rsa_bits();
                if let Some(bits) = key.rsa_bits().filter(|bits| *bits < least) {
                    let message = format!("an RSA key of {bits} bits, where {least} are the least that is allowed");
                    return Err(Error::new(ErrorKind::Disallowed, message));
                }
                self.crypto.verify(algorithm, key, signed_info, &signature.value)
            }
            (VerifyingKey::Secret(_), _) => None,
        };
        match is_valid {
            Some(true) => Ok(()),
            Some(false) => {
                Err(Error::new(ErrorKind::Signature, "the signature was not made with this key for this content"))
            }
            None => {
                let message = format!(
                    "a signature by {algorithm} with a key that is not for it, or that the cryptographic library lacks"
                );
                Err(Error::new(ErrorKind::Unsupported, message))
            }
        }
    }

    /// Compares the digests of all references. Those inside the document are computed in one pass over it.
    fn references(
        &self,
        document: &DocumentEntity<'_>,
        index: &Index,
        signature_range: &Range<usize>,
        signature: &Signature,
    ) -> Result<Vec<VerifiedReference>, Error> {
        let mut resolved = Vec::new();
        let mut length = 0_usize;
        for reference in &signature.references {
            let content = self.resolve(reference, index, signature_range, document)?;
            length = length.saturating_add(content.length);
            if length > self.limits.content {
                let message = format!("references to more than {} bytes, which is the limit", self.limits.content);
                return Err(Error::new(ErrorKind::Limit, message).at(reference.offset));
            }
            resolved.push(content);
        }
        let inside = resolved.iter_mut().filter_map(|resolved| {
            let Resolved { method, subset, digest, .. } = resolved;
            Some(Form { method, subset: (*subset)?, out: |piece: &str| digest.update(piece.as_bytes()) })
        });
        write_all(&mut document.reader(), inside.collect())?;
        let mut verified = Vec::new();
        for (resolved, reference) in resolved.into_iter().zip(&signature.references) {
            let uri = reference.uri.clone().unwrap_or_default();
            if resolved.digest.finish() != reference.digest {
                let message = format!(
                    "the content of the reference \"{}\" was changed: it has another digest",
                    excerpt(&uri, 60)
                );
                return Err(Error::new(ErrorKind::Digest, message).at(reference.offset));
            }
            verified.push(VerifiedReference { uri, content: resolved.content });
        }
        Ok(verified)
    }

    /// Finds the content of a reference, and how its digest is computed.
    fn resolve(
        &self,
        reference: &Reference,
        index: &Index,
        signature: &Range<usize>,
        document: &DocumentEntity<'_>,
    ) -> Result<Resolved, Error> {
        let failed = |kind, message: String| Err(Error::new(kind, message).at(reference.offset));
        if !self.algorithms.allow_digest(reference.algorithm) {
            return failed(ErrorKind::Disallowed, format!("a digest by {} is not allowed", reference.algorithm));
        }
        let Some(digest) = self.crypto.digest(reference.algorithm) else {
            return failed(ErrorKind::Unsupported, format!("the cryptographic library lacks {}", reference.algorithm));
        };
        let (is_enveloped, method) = match reference.transforms.as_slice() {
            [] => (false, None),
            [Transform::Enveloped] => (true, None),
            [Transform::Canonical(method)] => (false, Some(method)),
            [Transform::Enveloped, Transform::Canonical(method)] => (true, Some(method)),
            _ => {
                let message =
                    "transforms other than one that leaves out the signature, and one that makes canonical after it";
                return failed(ErrorKind::Unsupported, format!("{message}, are not supported"));
            }
        };
        let Some(uri) = &reference.uri else {
            return failed(ErrorKind::Unsupported, "a reference without URI is not supported".to_owned());
        };
        let range = match uri.strip_prefix('#') {
            None if uri.is_empty() => None,
            None => return self.external(uri, is_enveloped, method, digest, reference),
            Some(id) => match index.element(id) {
                Some(range) => Some(range),
                None if id.contains('(') => {
                    return failed(
                        ErrorKind::Unsupported,
                        format!("the XPointer \"{}\" is not supported", excerpt(id, 60)),
                    );
                }
                None => {
                    return failed(ErrorKind::Reference, format!("no element has the id \"{}\"", excerpt(id, 60)));
                }
            },
        };
        let whole = 0..document.reader().length();
        let within = range.as_ref().unwrap_or(&whole);
        let without = Some(signature)
            .filter(|signature| is_enveloped && within.start < signature.start && signature.end <= within.end);
        let length = within.len();
        let subset =
            Subset { apex: range.as_ref().map(|range| range.start), without: without.map(|range| range.start) };
        let without = without.cloned();
        Ok(Resolved {
            // Such a reference selects no comments, whatever its transform (§4.4.3.3).
            method: method.cloned().unwrap_or_else(|| Method::new(DEFAULT)).without_comments(),
            subset: Some(subset),
            digest,
            content: match range {
                Some(range) => VerifiedContent::Element { range, without },
                None => VerifiedContent::Document { without },
            },
            length,
        })
    }

    /// Computes the digest of content that was given to the verifier.
    fn external(
        &self,
        uri: &str,
        is_enveloped: bool,
        method: Option<&Method>,
        mut digest: Box<dyn Digest>,
        reference: &Reference,
    ) -> Result<Resolved, Error> {
        let Some((_, content)) = self.contents.iter().find(|(known, _)| known == uri) else {
            let message =
                format!("the content \"{}\" was not given to the verifier, and nothing is fetched", excerpt(uri, 100));
            return Err(Error::new(ErrorKind::Reference, message).at(reference.offset));
        };
        if is_enveloped {
            let message = "content outside the document, where a document with the signature was expected";
            return Err(Error::new(ErrorKind::Unsupported, message).at(reference.offset));
        }
        match method {
            None => digest.update(content),
            Some(method) => {
                let text = decode(content, None)?;
                let document = DocumentEntity::new(&text, self.limits.document)?;
                method.write(&mut document.reader(), Subset::default(), |piece| digest.update(piece.as_bytes()))?;
            }
        }
        Ok(Resolved {
            method: Method::new(DEFAULT),
            subset: None,
            digest,
            content: VerifiedContent::External,
            length: content.len(),
        })
    }
}

/// The canonicalization of a part of a document without a transform that makes it canonical (§4.4.3.2).
const DEFAULT: Algorithm = Algorithm { version: Version::Canonical10, with_comments: false };

/// The content of a reference, whose digest is computed.
struct Resolved {
    method: Method,
    /// The part of the document. `None` for other content, whose digest is complete.
    subset: Option<Subset>,
    digest: Box<dyn Digest>,
    content: VerifiedContent,
    /// In bytes.
    length: usize,
}

impl Verified {
    /// Returns the document, converted to UTF-8. Byte ranges are those of this text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the signatures, in document order.
    pub fn signatures(&self) -> &[VerifiedSignature] {
        &self.signatures
    }

    /// Returns whether a signature covers the root element, with the exception of the signature itself.
    pub fn covers_document(&self) -> bool {
        self.signatures.iter().flat_map(|signature| &signature.references).any(|reference| match &reference.content {
            VerifiedContent::Document { .. } => true,
            VerifiedContent::Element { range, .. } => *range == self.root,
            VerifiedContent::External => false,
        })
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verifier { trust, algorithms, limits, ids, contents, crypto } = self;
        f.debug_struct("Verifier")
            .field("trust", trust)
            .field("algorithms", algorithms)
            .field("limits", limits)
            .field("ids", ids)
            .field("contents", &contents.len())
            .field("crypto", crypto)
            .finish()
    }
}
