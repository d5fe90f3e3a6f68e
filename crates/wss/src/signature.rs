//! The content of a `Signature` (XML Signature §4).

mod read;
mod write;

use std::ops::Range;
use std::sync::Arc;

use castile_xml::c14n::Method;
use castile_xml::excerpt;

pub(crate) use read::Elements;
pub(crate) use write::{SentReference, Template, TransformText, escaped, uri_of};

use crate::assertion::{ReceivedAssertion, SamlVersion};
use crate::certificate::{Certificate, CertificateReference};
use crate::key::PublicKey;
use crate::{DigestAlgorithm, SignatureAlgorithm};

/// The namespace of XML Signature.
pub(crate) const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
/// The namespace of what XML Signature 1.1 added.
pub(crate) const DSIG11: &str = "http://www.w3.org/2009/xmldsig11#";

pub(crate) struct Signature {
    /// The offset of the start tag of `SignedInfo`.
    pub(crate) signed_info: usize,
    /// How `SignedInfo` is made canonical.
    pub(crate) canonicalization: Method,
    pub(crate) algorithm: SignatureAlgorithm,
    pub(crate) references: Vec<Reference>,
    pub(crate) value: Vec<u8>,
    pub(crate) hints: Vec<KeyHint>,
}

pub(crate) struct Reference {
    /// The offset of its start tag.
    pub(crate) offset: usize,
    /// `None` if the application knows what is meant.
    pub(crate) uri: Option<String>,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) algorithm: DigestAlgorithm,
    pub(crate) digest: Vec<u8>,
}

pub(crate) enum Transform {
    /// Leaves out the signature that has the reference (§6.6.4).
    Enveloped,
    /// Leaves out all signatures.
    WithoutSignatures,
    Canonical(Method),
    /// Replaces a reference to a token with the token (WS-Security §8.3).
    Token(Method),
    /// Makes the content of an attachment canonical, as its media type requires (SwA Profile 1.1.1 §5.3.1).
    Attachment,
}

/// What a signature says about its key (§4.5). It is only a hint: trust decides.
#[derive(Clone, PartialEq)]
pub(crate) enum KeyHint {
    Name(String),
    Key(PublicKey),
    /// The certificates of one `X509Data`.
    Certificates(Vec<Certificate>),
    Reference(CertificateReference),
    /// A token of the message.
    Token {
        /// The id of the reference to it.
        reference: Option<String>,
        /// The id of the token.
        target: String,
        /// The version of SAML, if it must be an assertion.
        version: Option<SamlVersion>,
    },
    /// The subject of an assertion of the message.
    Subject {
        /// The number of the assertion.
        assertion: usize,
        /// The keys that it names.
        keys: Arc<[PublicKey]>,
    },
    /// The name of an element that is not supported.
    Unsupported(String),
}

impl KeyHint {
    /// Returns what it says about the key, for errors.
    pub(crate) fn shown(&self) -> Option<String> {
        use CertificateReference::{Digest, IssuerSerial, KeyIdentifier, Subject};
        let hexadecimal = |bytes: &[u8]| bytes.iter().take(32).map(|byte| format!("{byte:02x}")).collect::<String>();
        Some(match self {
            KeyHint::Name(name) => format!("the key \"{}\"", excerpt(name, 60)),
            KeyHint::Key(_) => "a public key by its value".to_owned(),
            KeyHint::Certificates(certificates) => {
                let subject = crate::certificate::leaf(certificates).ok()?.subject();
                format!("the certificate of {}", excerpt(&subject, 200))
            }
            KeyHint::Reference(IssuerSerial { issuer, serial }) => {
                let issuer = issuer.to_string();
                format!("the certificate with the serial number {} by {}", excerpt(serial, 60), excerpt(&issuer, 200))
            }
            KeyHint::Reference(Subject(subject)) => {
                format!("a certificate of {}", excerpt(&subject.to_string(), 200))
            }
            KeyHint::Reference(KeyIdentifier(identifier)) => {
                format!("the certificate with the SubjectKeyIdentifier {}", hexadecimal(identifier))
            }
            KeyHint::Reference(Digest(algorithm, digest)) => {
                format!("the certificate with the {algorithm} digest {}", hexadecimal(digest))
            }
            KeyHint::Subject { .. } => "the key of an assertion's subject".to_owned(),
            KeyHint::Token { target, .. } => format!("the token \"{}\"", excerpt(target, 60)),
            KeyHint::Unsupported(_) => return None,
        })
    }
}

/// Tokens that are inside references to them.
#[derive(Default)]
pub(crate) struct Embedded {
    /// Where they are, with the ids of the references. Those of assertions are with the assertions.
    pub(crate) tokens: Vec<(Option<String>, Range<usize>)>,
    pub(crate) assertions: Vec<ReceivedAssertion>,
}

impl Signature {
    /// Returns the certificate that the signature brings with it: the one that issued none of the others.
    pub(crate) fn certificate(&self) -> Option<&Certificate> {
        self.hints.iter().find_map(|hint| match hint {
            KeyHint::Certificates(certificates) => crate::certificate::leaf(certificates).ok(),
            _ => None,
        })
    }
}

impl KeyHint {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            KeyHint::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the key, if it is there itself, or in a certificate.
    pub(crate) fn key(&self) -> Option<PublicKey> {
        match self {
            KeyHint::Key(key) => Some(key.clone()),
            KeyHint::Certificates(certificates) => {
                Some(crate::certificate::leaf(certificates).ok()?.public_key().clone())
            }
            _ => None,
        }
    }
}
