use std::iter;
use std::ops::Range;
use std::sync::Arc;

use castile_xml::c14n::Algorithm;
use castile_xml::tree::is_ncname;
use castile_xml::{DocumentEntity, Token, decode, excerpt};

use crate::canonical::{Canonical, EXCLUSIVE_10, Elsewhere, Wanted, signature_value};
use crate::certificate::Certificate;
use crate::crypto::{self, SigningKey};
use crate::index::{IdAttributes, Index, absent};
use crate::limits::Limits;
use crate::signature::{SentReference, Template, TransformText, uri_of};
use crate::uris::ENVELOPED;
use crate::verify::Source;
use crate::{DigestAlgorithm, Error, ErrorKind};

/// Signs documents. The default is exclusive canonicalization and SHA-256.
#[derive(Clone, Debug)]
pub struct DocumentSigner {
    key: Arc<dyn SigningKey>,
    certificates: Vec<Certificate>,
    key_name: Option<String>,
    digest: DigestAlgorithm,
    canonicalization: Algorithm,
    prefix: String,
    place: Place,
    ids: IdAttributes,
    limits: Limits,
}

/// Where a signature is put in the document that it signs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// At the end of the root element.
    EndOfRoot,
    /// At the end of the first element with this name.
    EndOf {
        /// The namespace name. `None` stands for any.
        namespace: Option<String>,
        /// The local name.
        local: String,
    },
    /// After the first element with this name, such as the `Issuer` of a SAML assertion.
    After {
        /// The namespace name. `None` stands for any.
        namespace: Option<String>,
        /// The local name.
        local: String,
    },
}

impl DocumentSigner {
    /// Creates a signer with a private key or a secret. A signature doesn't name its key unless that is asked for.
    pub fn new(key: impl SigningKey + 'static) -> Self {
        DocumentSigner {
            key: Arc::new(key),
            certificates: Vec::new(),
            key_name: None,
            digest: DigestAlgorithm::Sha256,
            canonicalization: EXCLUSIVE_10,
            prefix: "ds".to_owned(),
            place: Place::EndOfRoot,
            ids: IdAttributes::of_documents(),
            limits: Limits::default(),
        }
    }

    /// Adds the certificate of the key to each signature, and those of its issuers, in any order. Signing fails if none is that of the
    /// key.
    #[must_use]
    pub fn with_certificates(self, certificates: Vec<Certificate>) -> Self {
        DocumentSigner { certificates, ..self }
    }

    /// Adds a name of the key to each signature.
    #[must_use]
    pub fn with_key_name(self, name: impl Into<String>) -> Self {
        DocumentSigner { key_name: Some(name.into()), ..self }
    }

    /// Sets the hash function of the digests. The default is SHA-256. By default, verifiers refuse SHA-1 and SHA-224.
    #[must_use]
    pub fn with_digest(self, digest: DigestAlgorithm) -> Self {
        DocumentSigner { digest, ..self }
    }

    /// Sets the canonicalization of the content and of the signature.
    #[must_use]
    pub fn with_canonicalization(self, canonicalization: Algorithm) -> Self {
        DocumentSigner { canonicalization, ..self }
    }

    /// Sets the prefix of the elements of a signature, which must be a name without a colon. Without a prefix, which is
    /// empty, they are in a default namespace. The default is `ds`.
    #[must_use]
    pub fn with_prefix(self, prefix: impl Into<String>) -> Self {
        DocumentSigner { prefix: prefix.into(), ..self }
    }

    /// Sets where the signature is put in a document.
    #[must_use]
    pub fn with_place(self, place: Place) -> Self {
        DocumentSigner { place, ..self }
    }

    /// Adds an attribute without a namespace that is an id on every element, such as `ID`.
    #[must_use]
    pub fn with_id_attribute(mut self, local: impl Into<String>) -> Self {
        self.ids.everywhere.push(local.into());
        self
    }

    /// Sets the limits of documents.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        DocumentSigner { limits, ..self }
    }

    /// Signs a whole document. Returns it in UTF-8, with the signature in it.
    ///
    /// # Errors
    /// The document is not well-formed, has no element for the [`Place`], or the key fails.
    pub async fn sign(&self, document: &[u8]) -> Result<Vec<u8>, Error> {
        let text = in_utf8(document)?;
        let (digest, transform) = self.canonical(&text, None)?;
        let transforms = vec![TransformText::new(ENVELOPED), transform];
        self.inside(&text, SentReference { uri: "".into(), transforms, digest }).await
    }

    /// Signs the element of a document that has this id. Returns the document in UTF-8, with the signature in it. The
    /// signature may be inside the element.
    ///
    /// # Errors
    /// The document is not well-formed, no element has the id, there is no element for the [`Place`], or the key fails.
    pub async fn sign_element(&self, document: &[u8], id: &str) -> Result<Vec<u8>, Error> {
        let text = in_utf8(document)?;
        let entity = DocumentEntity::new(&text, self.limits.document)?;
        let index = Index::of(&mut entity.reader(), &self.ids, self.limits)?;
        let Some(range) = index.element(id) else {
            return Err(Error::new(ErrorKind::Reference, format!("no element has the id \"{}\"", excerpt(id, 60))));
        };
        let (digest, transform) = self.canonical(&text, Some(range.start))?;
        let at = self.find_place(&text)?.at;
        let mut transforms = vec![transform];
        if range.contains(&at) {
            transforms.insert(0, TransformText::new(ENVELOPED));
        }
        self.inside(&text, SentReference { uri: format!("#{id}").into(), transforms, digest }).await
    }

    /// Signs an element. Returns a signature in UTF-8 that has the element in its `Object`.
    ///
    /// # Errors
    /// The element is not a well-formed document, or the key fails.
    pub async fn sign_enveloping(&self, element: &[u8]) -> Result<Vec<u8>, Error> {
        let text = in_utf8(element)?;
        let entity = DocumentEntity::new(&text, self.limits.document)?;
        let index = Index::of(&mut entity.reader(), &self.ids, self.limits)?;
        if entity.doctype().is_some() {
            let message = "a document type declaration, which can't be in an Object";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        // The element may have the id already.
        let numbered = (1..).map(|number| format!("object-{number}"));
        let id = iter::once("object".to_owned()).chain(numbered).find(|id| index.element(id).is_none());
        let id = id.unwrap_or_default();
        let object = self.template()?.tag("Object");
        let object = format!("<{object} Id=\"{id}\">{}</{object}>", &text[index.root]);
        // The digest needs the namespaces around the object, which the canonical form may inherit.
        let around = self.template()?.signature("", &[], "", &object);
        let at =
            around.find(&format!("Object Id=\"{id}\"")).map_or(0, |at| around[..at].rfind('<').unwrap_or_default());
        let (digest, transform) = self.canonical(&around, Some(at))?;
        let transforms = vec![transform];
        let info = self.template()?.signed_info(&[SentReference { uri: format!("#{id}").into(), transforms, digest }]);
        let place = Insertion { at: 0, tag: 0..0, around: None };
        self.finish("", place, &info, &object).await
    }

    /// Signs content outside a document, each with the URI by which the signature refers to it. Returns the signature in
    /// UTF-8.
    ///
    /// # Errors
    /// The key fails.
    pub async fn sign_detached(&self, contents: &[(&str, &[u8])]) -> Result<Vec<u8>, Error> {
        let mut references = Vec::new();
        for (uri, content) in contents {
            let mut digest = crypto::digest(self.digest)?;
            digest.update(content);
            references.push(SentReference { uri: (*uri).into(), transforms: Vec::new(), digest: digest.finish() });
        }
        let info = self.template()?.signed_info(&references);
        self.finish("", Insertion { at: 0, tag: 0..0, around: None }, &info, "").await
    }

    /// Puts a signature into the document.
    async fn inside(&self, text: &str, reference: SentReference<'_>) -> Result<Vec<u8>, Error> {
        let place = self.find_place(text)?;
        let info = self.template()?.signed_info(&[reference]);
        self.finish(text, place, &info, "").await
    }

    /// Signs `SignedInfo` where it is in the document, because its canonical form may depend on what is around it.
    async fn finish(&self, text: &str, place: Insertion, info: &str, object: &str) -> Result<Vec<u8>, Error> {
        if !self.prefix.is_empty() && !is_ncname(&self.prefix) {
            let message =
                format!("\"{}\", where a prefix was expected: a name without a colon", excerpt(&self.prefix, 60));
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let key_info = self.key_info()?;
        let unsigned = self.template()?.signature(info, &[], &key_info, object);
        let (document, at) = place.insert(text, &unsigned);
        let signed_info = at + unsigned.find(info).unwrap_or_default();
        let entity = DocumentEntity::new(&document, self.limits.document)?;
        let source = Source::Document(&entity);
        let value = signature_value(&*self.key, source, signed_info, self.canonicalization).await?;
        let signed = self.template()?.signature(info, &value, &key_info, object);
        Ok(place.insert(text, &signed).0.into_bytes())
    }

    /// Digests a document, or the element at `apex`, and returns the transform that makes it canonical.
    fn canonical(&self, text: &str, apex: Option<usize>) -> Result<(Vec<u8>, TransformText), Error> {
        let entity = DocumentEntity::new(text, self.limits.document)?;
        let source = Source::Document(&entity);
        let wanted = [Wanted::part(apex)];
        let canonical = Canonical::of(source, &wanted, self.canonicalization, self.digest, Elsewhere::default())?
            .into_iter()
            .next();
        let Canonical { digest, prefixes } = canonical.ok_or_else(absent)?;
        Ok((digest, TransformText { prefixes, ..TransformText::new(self.canonicalization.uri()) }))
    }

    fn template(&self) -> Result<Template<'_>, Error> {
        Ok(Template {
            prefix: &self.prefix,
            canonicalization: self.canonicalization,
            algorithm: uri_of(self.key.algorithm())?,
            digest: self.digest,
            // The form may depend on what is around it.
            has_canonical_info: false,
        })
    }

    fn key_info(&self) -> Result<String, Error> {
        let template = self.template()?;
        if !self.certificates.is_empty() {
            Certificate::of_key(&*self.key, &self.certificates)?;
        }
        let name = self.key_name.iter().map(|name| template.key_name(name));
        let info: String = name.chain(template.certificates(&self.certificates)).collect();
        Ok(template.key_info(&info))
    }

    /// Finds where the signature is put.
    fn find_place(&self, text: &str) -> Result<Insertion, Error> {
        let entity = DocumentEntity::new(text, self.limits.document)?;
        let mut reader = entity.reader();
        // The start tag of the element, and how many elements are open outside it.
        let mut found: Option<(usize, usize)> = None;
        let absent = || {
            let name = match &self.place {
                Place::EndOfRoot => "",
                Place::EndOf { local, .. } | Place::After { local, .. } => local,
            };
            let message =
                format!("the document has no element <{}>, which the signature's place names", excerpt(name, 60));
            Error::new(ErrorKind::Reference, message)
        };
        loop {
            match reader.next()? {
                Token::StartTag(tag) if found.is_none() => {
                    let is_wanted = match &self.place {
                        Place::EndOfRoot => true,
                        Place::EndOf { namespace, local } | Place::After { namespace, local } => {
                            tag.name.local() == local
                                && namespace.as_ref().is_none_or(|name| name == reader.namespace(tag.namespace))
                        }
                    };
                    if is_wanted && !text[tag.offset..].starts_with('<') {
                        let message = "the place of the signature is in an entity, which is not supported";
                        return Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset));
                    }
                    found = is_wanted.then(|| (tag.offset, reader.depth() - 1));
                }
                Token::EndTag(name) => {
                    let Some((start, outside)) = found else { continue };
                    if outside != reader.depth() {
                        continue;
                    }
                    let end = reader.offset();
                    if matches!(self.place, Place::After { .. }) {
                        if outside == 0 {
                            let message =
                                "the signature's place is after the root element, where only one element may be";
                            return Err(Error::new(ErrorKind::Reference, message));
                        }
                        return Ok(Insertion { at: end, tag: end..end, around: None });
                    }
                    let is_empty = text[start..end].ends_with("/>");
                    let tag = if is_empty { end - 2..end } else { text[..end].rfind('<').unwrap_or(end)..end };
                    return Ok(match is_empty {
                        true => Insertion { at: tag.start, tag, around: Some(name.as_str().to_owned()) },
                        false => Insertion { at: tag.start, tag: tag.start..tag.start, around: None },
                    });
                }
                Token::End => return Err(absent()),
                _ => {}
            }
        }
    }
}

/// Where a signature is put into a text.
struct Insertion {
    at: usize,
    /// What it replaces.
    tag: Range<usize>,
    /// The name of an empty element, whose tag becomes two.
    around: Option<String>,
}

impl Insertion {
    /// Returns the text with the signature, and the offset of the signature.
    fn insert(&self, text: &str, signature: &str) -> (String, usize) {
        let (before, after) = (&text[..self.tag.start], &text[self.tag.end..]);
        match &self.around {
            None => (format!("{before}{signature}{after}"), self.at),
            Some(name) => (format!("{before}>{signature}</{name}>{after}"), self.at + 1),
        }
    }
}

/// Converts a document to UTF-8. Its declaration of another encoding is replaced.
fn in_utf8(document: &[u8]) -> Result<String, Error> {
    let text = decode(document, None)?;
    if text.as_bytes() == document {
        return Ok(text.into_owned());
    }
    let text = text.trim_start_matches('\u{feff}');
    Ok(match text.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{rest}"),
        None => text.to_owned(),
    })
}
