//! What a message claims: about its user, the subjects of its assertions, and the keys of its signatures.

use std::ops::Range;

use castile_datatypes::DateTime;

use crate::DigestAlgorithm;
use crate::assertion::{Assertion, ReceivedAssertion, SubjectConfirmation};
use crate::certificate::{Certificate, CertificateReference, leaf};
use crate::message::PasswordForm;
use crate::signature::KeyHint;

/// A user name, without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedUsername {
    /// The name.
    pub name: String,
    /// How the password is sent. `None` if there is none.
    pub form: Option<PasswordForm>,
    /// Whether there is a nonce, which a digest needs.
    pub has_nonce: bool,
    /// The time in it, which a digest needs.
    pub created: Option<DateTime>,
    /// Its byte range.
    pub range: Range<usize>,
}

/// An assertion, whoever made it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedAssertion {
    /// What it says.
    pub assertion: Assertion,
    /// Whether it may be used once only.
    pub is_for_one_use: bool,
    /// The name of a condition that is not known. A [`Policy`](crate::message::Policy) refuses such an assertion.
    pub unknown_condition: Option<String>,
    /// The ways to confirm its subject, also those that are not known.
    pub confirmations: Vec<ExplainedConfirmation>,
    /// The byte range of its own signature.
    pub signature: Option<Range<usize>>,
}

/// A way to confirm the subject of an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedConfirmation {
    /// The name of the method, such as `holder-of-key`, or its URI if it is not known.
    pub method: String,
    /// When it begins to hold.
    pub not_before: Option<DateTime>,
    /// From this time on it doesn't hold.
    pub not_on_or_after: Option<DateTime>,
    /// The address that the assertion may be presented at.
    pub recipient: Option<String>,
    /// What describes the key of the subject.
    pub keys: Vec<ExplainedKey>,
}

/// What a signature or an assertion says about a key. Anybody can say that.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExplainedKey {
    /// A certificate with the key, which is there itself.
    Certificate(Certificate),
    /// The certificate with this serial number, in decimal, by this issuer.
    IssuerSerial {
        /// The name of the issuer.
        issuer: String,
        /// The serial number.
        serial: String,
    },
    /// A certificate of the owner with this name.
    Subject(String),
    /// The certificate whose extension `SubjectKeyIdentifier` has this value.
    KeyIdentifier(Vec<u8>),
    /// The certificate with this digest.
    Thumbprint {
        /// The hash function.
        algorithm: DigestAlgorithm,
        /// The digest.
        digest: Vec<u8>,
    },
    /// The key that the receiver knows by this name.
    Name(String),
    /// The public key itself.
    Value,
    /// The key of the subject of an assertion, which is in the message.
    OfAssertion,
    /// A token of the message, by its id, which is not there.
    Token(String),
    /// An element that is not supported, by its name.
    Unsupported(String),
}

impl ExplainedAssertion {
    /// Its own signature has this byte range.
    pub(crate) fn of(received: ReceivedAssertion, signature: Option<Range<usize>>) -> Self {
        let ReceivedAssertion { assertion, is_for_one_use, unknown_condition, confirmations, signature: _ } = received;
        ExplainedAssertion {
            assertion,
            is_for_one_use,
            unknown_condition,
            confirmations: confirmations.into_iter().map(ExplainedConfirmation::of).collect(),
            signature,
        }
    }
}

impl ExplainedConfirmation {
    fn of(confirmation: SubjectConfirmation) -> Self {
        let SubjectConfirmation { method, hints, not_before, not_on_or_after, recipient, unchecked: _ } = confirmation;
        ExplainedConfirmation {
            method: method.map_or_else(|uri| uri, |method| method.name().to_owned()),
            not_before,
            not_on_or_after,
            recipient,
            keys: hints.iter().map(ExplainedKey::of).collect(),
        }
    }
}

impl ExplainedKey {
    pub(crate) fn of(hint: &KeyHint) -> Self {
        match hint {
            KeyHint::Name(name) => ExplainedKey::Name(name.clone()),
            KeyHint::Key(_) => ExplainedKey::Value,
            KeyHint::Certificates(certificates) => match leaf(certificates) {
                Ok(certificate) => ExplainedKey::Certificate(certificate.clone()),
                Err(error) => ExplainedKey::Unsupported(error.message().to_owned()),
            },
            KeyHint::Reference(CertificateReference::IssuerSerial { issuer, serial }) => {
                ExplainedKey::IssuerSerial { issuer: issuer.to_string(), serial: serial.clone() }
            }
            KeyHint::Reference(CertificateReference::Subject(subject)) => ExplainedKey::Subject(subject.to_string()),
            KeyHint::Reference(CertificateReference::KeyIdentifier(value)) => {
                ExplainedKey::KeyIdentifier(value.clone())
            }
            KeyHint::Reference(CertificateReference::Digest(algorithm, digest)) => {
                ExplainedKey::Thumbprint { algorithm: *algorithm, digest: digest.clone() }
            }
            KeyHint::Subject { .. } => ExplainedKey::OfAssertion,
            KeyHint::Token { target, .. } => ExplainedKey::Token(target.clone()),
            KeyHint::Unsupported(element) => ExplainedKey::Unsupported(element.clone()),
        }
    }
}
