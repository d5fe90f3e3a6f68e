//! Writes signatures.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_xml::{c14n, escape};

use super::DSIG;
use crate::certificate::Certificate;
use crate::uris::{EXCLUSIVE, WSSE};
use crate::{DigestAlgorithm, Error, ErrorKind, SignatureAlgorithm};

/// How signatures are written.
#[derive(Clone, Copy)]
pub(crate) struct Template<'t> {
    /// The prefix of the elements, which is empty for a default namespace.
    pub(crate) prefix: &'t str,
    pub(crate) canonicalization: c14n::Algorithm,
    /// The URI of the algorithm.
    pub(crate) algorithm: &'static str,
    pub(crate) digest: DigestAlgorithm,
    /// Whether `SignedInfo` is written in the form of Exclusive XML Canonicalization, so that it need not be read to be signed.
    pub(crate) has_canonical_info: bool,
}

/// What a signature refers to, with its digest.
pub(crate) struct SentReference<'a> {
    pub(crate) uri: Cow<'a, str>,
    pub(crate) transforms: Vec<TransformText>,
    pub(crate) digest: Vec<u8>,
}

/// A transform to be written.
pub(crate) struct TransformText {
    pub(crate) uri: &'static str,
    /// The `PrefixList` of exclusive canonicalization.
    pub(crate) prefixes: String,
    /// The URI of the algorithm that makes the token canonical, for the STR-Transform.
    pub(crate) token: Option<&'static str>,
}

impl TransformText {
    pub(crate) fn new(uri: &'static str) -> Self {
        TransformText { uri, prefixes: String::new(), token: None }
    }
}

impl Template<'_> {
    /// Returns the name of an element with the prefix.
    pub(crate) fn tag(&self, local: &str) -> String {
        match self.prefix {
            "" => local.to_owned(),
            prefix => format!("{prefix}:{local}"),
        }
    }

    /// Returns the declaration of the prefix.
    fn declaration(&self) -> String {
        match self.prefix {
            "" => format!(" xmlns=\"{DSIG}\""),
            prefix => format!(" xmlns:{prefix}=\"{DSIG}\""),
        }
    }

    /// Writes a start tag with attributes.
    fn start(&self, out: &mut String, local: &str, attributes: &[(&str, &str)]) {
        out.push('<');
        self.push_name(out, local);
        push_attributes(out, attributes);
        out.push('>');
    }

    fn end(&self, out: &mut String, local: &str) {
        out.push_str("</");
        self.push_name(out, local);
        out.push('>');
    }

    /// Writes an element without content.
    fn empty(&self, out: &mut String, local: &str, attributes: &[(&str, &str)]) {
        if self.has_canonical_info {
            self.start(out, local, attributes);
            self.end(out, local);
        } else {
            out.push('<');
            self.push_name(out, local);
            push_attributes(out, attributes);
            out.push_str("/>");
        }
    }

    fn push_name(&self, out: &mut String, local: &str) {
        if !self.prefix.is_empty() {
            out.push_str(self.prefix);
            out.push(':');
        }
        out.push_str(local);
    }

    pub(crate) fn signed_info(&self, references: &[SentReference<'_>]) -> String {
        let mut out = String::with_capacity(512 + 512 * references.len());
        out.push('<');
        self.push_name(&mut out, "SignedInfo");
        if self.has_canonical_info {
            out.push_str(&self.declaration());
        }
        out.push('>');
        self.empty(&mut out, "CanonicalizationMethod", &[("Algorithm", self.canonicalization.uri())]);
        self.empty(&mut out, "SignatureMethod", &[("Algorithm", self.algorithm)]);
        for SentReference { uri, transforms, digest } in references {
            self.start(&mut out, "Reference", &[("URI", &escaped(uri))]);
            if !transforms.is_empty() {
                self.start(&mut out, "Transforms", &[]);
                for transform in transforms {
                    self.transform(&mut out, transform);
                }
                self.end(&mut out, "Transforms");
            }
            self.empty(&mut out, "DigestMethod", &[("Algorithm", self.digest.uri())]);
            self.start(&mut out, "DigestValue", &[]);
            STANDARD.encode_string(digest, &mut out);
            self.end(&mut out, "DigestValue");
            self.end(&mut out, "Reference");
        }
        self.end(&mut out, "SignedInfo");
        out
    }

    fn transform(&self, out: &mut String, TransformText { uri, prefixes, token }: &TransformText) {
        match token {
            None => self.with_prefixes(out, "Transform", uri, prefixes),
            Some(canonicalization) => {
                self.start(out, "Transform", &[("Algorithm", uri)]);
                out.push_str("<wsse:TransformationParameters");
                push_attributes(out, &[("xmlns:wsse", WSSE)]);
                out.push('>');
                self.with_prefixes(out, "CanonicalizationMethod", canonicalization, prefixes);
                out.push_str("</wsse:TransformationParameters>");
                self.end(out, "Transform");
            }
        }
    }

    /// Writes an element that names an algorithm, with its `PrefixList`, if that is not empty.
    fn with_prefixes(&self, out: &mut String, local: &str, uri: &str, prefixes: &str) {
        let attributes = [("Algorithm", uri)];
        if prefixes.is_empty() {
            return self.empty(out, local, &attributes);
        }
        self.start(out, local, &attributes);
        let list = Template { prefix: "ec", ..*self };
        list.empty(out, "InclusiveNamespaces", &[("xmlns:ec", EXCLUSIVE), ("PrefixList", &escaped(prefixes))]);
        self.end(out, local);
    }

    /// Returns a `KeyInfo` with this content, or nothing without content.
    pub(crate) fn key_info(&self, content: &str) -> String {
        match content.is_empty() {
            true => String::new(),
            false => format!("<{tag}>{content}</{tag}>", tag = self.tag("KeyInfo")),
        }
    }

    pub(crate) fn key_name(&self, name: &str) -> String {
        format!("<{tag}>{}</{tag}>", escaped(name), tag = self.tag("KeyName"))
    }

    /// Returns an `X509Data` with these certificates, unless there are none.
    pub(crate) fn certificates(&self, certificates: &[Certificate]) -> Option<String> {
        let tag = self.tag("X509Certificate");
        let encoded = certificates.iter().map(|certificate| STANDARD.encode(certificate.der()));
        let encoded: String = encoded.map(|encoded| format!("<{tag}>{encoded}</{tag}>")).collect();
        (!encoded.is_empty()).then(|| format!("<{tag}>{encoded}</{tag}>", tag = self.tag("X509Data")))
    }

    pub(crate) fn signature(&self, info: &str, value: &[u8], key_info: &str, object: &str) -> String {
        let length = info.len() + value.len() * 2 + key_info.len() + object.len();
        let mut out = String::with_capacity(256 + length);
        out.push('<');
        self.push_name(&mut out, "Signature");
        out.push_str(&self.declaration());
        out.push('>');
        out.push_str(info);
        self.start(&mut out, "SignatureValue", &[]);
        STANDARD.encode_string(value, &mut out);
        self.end(&mut out, "SignatureValue");
        out.push_str(key_info);
        out.push_str(object);
        self.end(&mut out, "Signature");
        out
    }
}

/// Writes attributes, whose values are escaped already.
fn push_attributes(out: &mut String, attributes: &[(&str, &str)]) {
    for (name, value) in attributes {
        for piece in [" ", name, "=\"", value, "\""] {
            out.push_str(piece);
        }
    }
}

/// Returns the URI of an algorithm that signs.
pub(crate) fn uri_of(algorithm: SignatureAlgorithm) -> Result<&'static str, Error> {
    algorithm
        .uri()
        .ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("signing by {algorithm}, which has no URI")))
}

/// Returns a text as it is written in an attribute, and also in content. What XML can't have is left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let written = escape::push_attribute(&mut out, text).or_else(|_| {
        let allowed: String = text.chars().filter(|&c| escape::is_char(c)).collect();
        out.clear();
        escape::push_attribute(&mut out, &allowed)
    });
    debug_assert!(written.is_ok());
    String::from_utf8(out).unwrap_or_default()
}
