//! SAML assertions: what they say (SAML Core 1.1 §2 and 2.0 §2).

mod read;
mod sent;

use std::fmt;
use std::ops::Range;

use castile_datatypes::DateTime;

pub(crate) use read::{ReceivedAssertion, SubjectConfirmation};
pub(crate) use sent::SentAssertion;

use crate::uris::{SAML1, SAML1_ID, SAML1_TOKEN, SAML2, SAML2_ID, SAML2_TOKEN};

/// What a SAML assertion says. A text is all text of its element, also around comments.
///
/// A [`VerifiedMessage`](crate::message::VerifiedMessage) has an assertion that a [`Policy`](crate::message::Policy) accepted. In an
/// [`Explanation`](crate::Explanation) anybody may have made it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assertion {
    /// The version of SAML.
    pub version: SamlVersion,
    /// Its id.
    pub id: String,
    /// The name of its issuer.
    pub issuer: String,
    /// When it was issued.
    pub issued: DateTime,
    /// When its validity begins.
    pub not_before: Option<DateTime>,
    /// From this time on it is not valid.
    pub not_on_or_after: Option<DateTime>,
    /// Whom it is for: somebody who is in each of these lists.
    pub audiences: Vec<Vec<String>>,
    /// Whom it is about.
    pub subject: Subject,
    /// How its subject can be confirmed, in document order, without methods that are not known.
    pub confirmation_methods: Vec<ConfirmationMethod>,
    /// When and how the subject was authenticated.
    pub authentications: Vec<Authentication>,
    /// The attributes of the subject, in document order. Several can have the same name.
    pub attributes: Vec<AssertionAttribute>,
    /// Its byte range in the message.
    pub range: Range<usize>,
}

/// A version of SAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SamlVersion {
    /// SAML 1.1.
    Saml11,
    /// SAML 2.0.
    Saml20,
}

/// Whom an assertion is about: a `NameID`, or in SAML 1.1 a `NameIdentifier`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subject {
    /// The name. A subject can have none: it is then whoever is confirmed.
    pub name: Option<String>,
    /// The URI of the name's format, such as that of a mail address.
    pub format: Option<String>,
    /// Who knows the name: two names with different qualifiers can be of two subjects.
    pub name_qualifier: Option<String>,
    /// The service or the services that know the name (SAML 2.0).
    pub sp_name_qualifier: Option<String>,
}

/// How it is confirmed that a message is of the subject of an assertion, or on behalf of it (SAML Token Profile 1.1 §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfirmationMethod {
    /// The subject signed the message with the key that the assertion names.
    HolderOfKey,
    /// Somebody else who is trusted signed both the message and the assertion.
    SenderVouches,
    /// The message has the assertion.
    Bearer,
}

/// When and how a subject was authenticated: an `AuthnStatement`, or in SAML 1.1 an `AuthenticationStatement`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authentication {
    /// When the subject was authenticated.
    pub instant: DateTime,
    /// The URI of the `AuthnContextClassRef`, or of the `AuthenticationMethod`.
    pub context: Option<String>,
}

/// An attribute of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssertionAttribute {
    /// The name.
    pub name: String,
    /// The URI of the `NameFormat`, or in SAML 1.1 the `AttributeNamespace`.
    pub namespace: Option<String>,
    /// The values.
    pub values: Vec<AttributeValue>,
}

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeValue {
    /// The text. `None` if the value has elements.
    pub text: Option<String>,
    /// The byte range of the element `AttributeValue` in the message.
    pub range: Range<usize>,
}

impl Assertion {
    /// Returns the values of all attributes with this name, whatever their [namespace](AssertionAttribute::namespace). Values that
    /// have elements are left out.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let attributes = self.attributes.iter().filter(move |attribute| attribute.name == name);
        attributes.flat_map(|attribute| &attribute.values).filter_map(|value| value.text.as_deref())
    }
}

impl fmt::Display for SamlVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SamlVersion::Saml11 => "SAML 1.1",
            SamlVersion::Saml20 => "SAML 2.0",
        })
    }
}

impl SamlVersion {
    /// Returns the version whose assertions are in this namespace.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Self> {
        match namespace {
            SAML1 => Some(SamlVersion::Saml11),
            SAML2 => Some(SamlVersion::Saml20),
            _ => None,
        }
    }

    /// Returns the version whose assertions a `KeyIdentifier` of this type refers to.
    pub(crate) fn of_key_identifier(kind: &str) -> Option<Self> {
        match kind {
            SAML1_ID => Some(SamlVersion::Saml11),
            SAML2_ID => Some(SamlVersion::Saml20),
            _ => None,
        }
    }

    pub(crate) fn namespace(self) -> &'static str {
        match self {
            SamlVersion::Saml11 => SAML1,
            SamlVersion::Saml20 => SAML2,
        }
    }

    /// Returns the name of the attribute that is the id of an assertion.
    pub(crate) fn id_attribute(self) -> &'static str {
        match self {
            SamlVersion::Saml11 => "AssertionID",
            SamlVersion::Saml20 => "ID",
        }
    }

    /// Returns the `ValueType` of a `KeyIdentifier`, and the `TokenType` of the reference around it.
    pub(crate) fn key_identifier(self) -> (&'static str, &'static str) {
        match self {
            SamlVersion::Saml11 => (SAML1_ID, SAML1_TOKEN),
            SamlVersion::Saml20 => (SAML2_ID, SAML2_TOKEN),
        }
    }
}

impl ConfirmationMethod {
    const ALL: [ConfirmationMethod; 3] =
        [ConfirmationMethod::HolderOfKey, ConfirmationMethod::SenderVouches, ConfirmationMethod::Bearer];

    /// Returns the method with this URI.
    pub(crate) fn from_uri(version: SamlVersion, uri: &str) -> Option<Self> {
        let name = uri.strip_prefix(match version {
            SamlVersion::Saml11 => "urn:oasis:names:tc:SAML:1.0:cm:",
            SamlVersion::Saml20 => "urn:oasis:names:tc:SAML:2.0:cm:",
        })?;
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Returns the name in the URI of the method.
    pub fn name(self) -> &'static str {
        match self {
            ConfirmationMethod::HolderOfKey => "holder-of-key",
            ConfirmationMethod::SenderVouches => "sender-vouches",
            ConfirmationMethod::Bearer => "bearer",
        }
    }
}
