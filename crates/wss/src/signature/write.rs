//! Writes signatures.

use std::borrow::Cow;
use std::fmt::Write;

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
pub(crate) struct Target<'a> {
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

    /// Returns an element without content.
    fn empty(&self, tag: &str, attributes: &str) -> String {
        match self.has_canonical_info {
            true => format!("<{tag} {attributes}></{tag}>"),
            false => format!("<{tag} {attributes}/>"),
        }
    }

    fn with_algorithm(&self, tag: &str, uri: &str, content: &str) -> String {
        match content {
            "" => self.empty(tag, &format!("Algorithm=\"{uri}\"")),
            content => format!("<{tag} Algorithm=\"{uri}\">{content}</{tag}>"),
        }
    }

    pub(crate) fn signed_info(&self, targets: &[Target<'_>]) -> String {
        let tag = |local| self.tag(local);
        let declaration = if self.has_canonical_info { self.declaration() } else { String::new() };
        let mut info = format!(
            "<{}{declaration}>{}{}",
            tag("SignedInfo"),
            self.with_algorithm(&tag("CanonicalizationMethod"), self.canonicalization.uri(), ""),
            self.with_algorithm(&tag("SignatureMethod"), self.algorithm, ""),
        );
        for Target { uri, transforms, digest } in targets {
            let _ = write!(info, "<{} URI=\"{}\">", tag("Reference"), escaped(uri));
            if !transforms.is_empty() {
                let _ = write!(info, "<{}>", tag("Transforms"));
                for TransformText { uri, prefixes, token } in transforms {
                    let list = match prefixes.as_str() {
                        "" => String::new(),
                        list => self.empty(
                            "ec:InclusiveNamespaces",
                            &format!("xmlns:ec=\"{EXCLUSIVE}\" PrefixList=\"{}\"", escaped(list)),
                        ),
                    };
                    let content = match token {
                        None => list,
                        Some(canonicalization) => format!(
                            "<wsse:TransformationParameters xmlns:wsse=\"{WSSE}\">{}</wsse:TransformationParameters>",
                            self.with_algorithm(&tag("CanonicalizationMethod"), canonicalization, &list)
                        ),
                    };
                    info.push_str(&self.with_algorithm(&tag("Transform"), uri, &content));
                }
                let _ = write!(info, "</{}>", tag("Transforms"));
            }
            let _ = write!(
                info,
                "{}<{value}>{}</{value}></{}>",
                self.with_algorithm(&tag("DigestMethod"), self.digest.uri(), ""),
                STANDARD.encode(digest),
                tag("Reference"),
                value = tag("DigestValue"),
            );
        }
        let _ = write!(info, "</{}>", tag("SignedInfo"));
        info
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
        format!(
            "<{signature}{declaration}>{info}<{tag}>{value}</{tag}>{key_info}{object}</{signature}>",
            signature = self.tag("Signature"),
            declaration = self.declaration(),
            tag = self.tag("SignatureValue"),
            value = STANDARD.encode(value),
        )
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
    let mut out = Vec::new();
    let allowed: String = text.chars().filter(|&c| escape::is_char(c)).collect();
    // It only fails for characters that XML can't have.
    let _ = escape::push_attribute(&mut out, &allowed);
    String::from_utf8(out).unwrap_or_default()
}
