use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::time::SystemTime;

use castile_xml::c14n::{Method, Subset};
use castile_xml::{DocumentEntity, decode};

use crate::algorithm::Algorithms;
use crate::canonical::EXCLUSIVE_10;
use crate::index::{IdAttributes, Index};
use crate::limits::Limits;
use crate::signature::Signature;
use crate::trust::Trust;
use crate::verify::{Scope, Source, Verification, VerifiedContent, VerifiedReference, VerifiedSignature};
use crate::{Error, ErrorKind};

/// Verifies the signatures of documents. It never fetches anything: content outside the document has to be given.
#[derive(Clone)]
pub struct DocumentVerifier {
    trust: Trust,
    algorithms: Algorithms,
    limits: Limits,
    ids: IdAttributes,
    contents: Vec<(String, Vec<u8>)>,
    allows_unsigned_prefixes: bool,
    allows_doctype: bool,
}

/// A document whose signatures are all valid.
#[derive(Clone, Debug)]
pub struct VerifiedDocument {
    text: String,
    root: Range<usize>,
    signatures: Vec<VerifiedSignature>,
    /// Those of the verifier.
    limits: castile_xml::Limits,
}

impl DocumentVerifier {
    /// Creates a verifier that accepts the signatures of those who are trusted. An attribute `Id` without a namespace is an
    /// id.
    #[must_use]
    pub fn new(trust: Trust) -> Self {
        DocumentVerifier {
            trust,
            algorithms: Algorithms::default(),
            limits: Limits::default(),
            ids: IdAttributes::of_documents(),
            contents: Vec::new(),
            allows_unsigned_prefixes: false,
            allows_doctype: false,
        }
    }

    /// Sets the algorithms that are accepted.
    #[must_use]
    pub fn with_algorithms(self, algorithms: Algorithms) -> Self {
        DocumentVerifier { algorithms, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        DocumentVerifier { limits, ..self }
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

    /// Accepts values that use a prefix whose declaration is not signed, such as `xsi:type="p:t"` after exclusive
    /// canonicalization without `p` in its `PrefixList`. An attacker can change what such a value means without breaking the
    /// signature.
    #[must_use]
    pub fn with_unsigned_prefixes(self) -> Self {
        DocumentVerifier { allows_unsigned_prefixes: true, ..self }
    }

    /// Accepts documents with a document type declaration. A signature doesn't cover it, so that anybody may have added it.
    /// It is read here without anything outside the document.
    #[must_use]
    pub fn with_doctype(self) -> Self {
        DocumentVerifier { allows_doctype: true, ..self }
    }

    /// Verifies all signatures of a document.
    ///
    /// # Errors
    /// There is no signature, or one that is not valid, not supported or not trusted.
    pub fn verify(&self, document: &[u8]) -> Result<VerifiedDocument, Error> {
        let text = decode(document, None)?;
        let document = DocumentEntity::new(&text, self.limits.document)?;
        if document.doctype().is_some() && !self.allows_doctype {
            return Err(Error::new(ErrorKind::Unsupported, "a document type declaration, which no signature covers"));
        }
        let index = Index::of(&mut document.reader(), &self.ids, self.limits)?;
        if index.signatures.is_empty() {
            return Err(Error::new(ErrorKind::Unsigned, "the document has no signature"));
        }
        let left = Cell::new(Some(self.limits.content));
        let verification = Verification {
            algorithms: self.algorithms,
            limits: self.limits,
            now: SystemTime::now(),
            source: Source::Document(&document),
            index: &index,
            scope: Scope::Document(&self.contents),
            allows_unsigned_prefixes: self.allows_unsigned_prefixes,
            fault_prefix: None,
            parts: None,
            left: &left,
        };
        let signatures = index.signatures.iter().map(|range| {
            let signature = Signature::find(&mut document.reader(), range.start, self.limits)?;
            verification.signature(range, &signature, &self.trust)
        });
        let signatures = signatures.collect::<Result<_, _>>()?;
        Ok(VerifiedDocument {
            root: index.root.clone(),
            signatures,
            text: text.into_owned(),
            limits: self.limits.document,
        })
    }
}

impl VerifiedDocument {
    /// Returns the document, converted to UTF-8. Byte ranges are those of this text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the signatures, in document order.
    pub fn signatures(&self) -> &[VerifiedSignature] {
        &self.signatures
    }

    /// Returns the byte range of the root element.
    pub fn root(&self) -> Range<usize> {
        self.root.clone()
    }

    /// Returns signed content as a document of its own: what was signed and nothing else, in canonical form, without the signature in it.
    /// `None` if the content is not in this document.
    ///
    /// All prefixes that are declared around it are declared in it, so that it can be read alone; signed values use none that somebody
    /// could have changed, unless that is [allowed](DocumentVerifier::with_unsigned_prefixes). The default namespace that it has from
    /// around it is declared if its declaration is signed, as in all that Castile signs, and otherwise only where names of elements are
    /// in it.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn extract(&self, reference: &VerifiedReference) -> Result<Option<String>, Error> {
        let (apex, without) = match &reference.content {
            VerifiedContent::Document { without } => (None, without),
            VerifiedContent::Element { range, without } => (Some(range.start), without),
            VerifiedContent::External | VerifiedContent::Attachment { .. } => return Ok(None),
        };
        let mut method = Method::new(EXCLUSIVE_10).with_all_prefixes();
        if reference.default_is_signed {
            method = method.with_inclusive_namespaces("#default");
        }
        let document = DocumentEntity::new(&self.text, self.limits)?;
        let mut content = String::new();
        let subset = Subset { apex, without: without.as_ref().map(|signature| signature.start) };
        method.write(&mut document.reader(), subset, |piece| content.push_str(piece))?;
        Ok(Some(content))
    }

    /// Returns whether a signature covers the root element, with the exception of the signature itself.
    pub fn covers_document(&self) -> bool {
        self.signatures.iter().flat_map(|signature| &signature.references).any(|reference| match &reference.content {
            VerifiedContent::Document { .. } => true,
            VerifiedContent::Element { range, .. } => *range == self.root,
            VerifiedContent::External | VerifiedContent::Attachment { .. } => false,
        })
    }
}

impl fmt::Debug for DocumentVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DocumentVerifier { trust, algorithms, limits, ids, contents, .. } = self;
        f.debug_struct("DocumentVerifier")
            .field("trust", trust)
            .field("algorithms", algorithms)
            .field("limits", limits)
            .field("ids", ids)
            .field("contents", &contents.len())
            .finish_non_exhaustive()
    }
}
