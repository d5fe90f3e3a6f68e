//! What is known about a message, ready to be shown and to be written as JSON.

use std::ops::Range;
use std::time::SystemTime;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use castile_wss::message::PasswordForm;
use castile_wss::{
    Algorithms, Certificate, Error, ExplainedAssertion, ExplainedKey, ExplainedPart, ExplainedReference,
    ExplainedSecurity, ExplainedSignature, ExplainedUsername, Explanation, Signer, VerifiedContent,
};
use castile_xml::{Limits, Location};
use serde::Serialize;

use super::hints::masked;
use super::times::{Verdict, of_assertion, of_message};
use crate::signatures::shown_signer;

#[derive(Serialize)]
pub(super) struct Report {
    /// `message` or `document`.
    pub(super) kind: &'static str,
    /// Whether all signatures are right, allowed and trusted, and there is one. Times are judged apart.
    pub(super) right: bool,
    /// The time at which it is judged.
    pub(super) at: String,
    /// The elements whose content somebody has masked.
    pub(super) masked: Vec<String>,
    pub(super) parts: Vec<Part>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) security: Vec<Security>,
    pub(super) signatures: Vec<Found>,
}

#[derive(Serialize)]
pub(super) struct Part {
    pub(super) name: String,
    /// The numbers of the signatures that cover it, counted from 1.
    pub(super) signed_by: Vec<usize>,
    #[serde(skip)]
    pub(super) range: Range<usize>,
}

#[derive(Serialize)]
pub(super) struct Attachment {
    pub(super) content_id: Option<String>,
    pub(super) signed_by: Vec<usize>,
}

#[derive(Serialize)]
pub(super) struct Security {
    pub(super) role: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) username: Option<Username>,
    pub(super) assertions: Vec<Assertion>,
    pub(super) problem: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Timestamp {
    pub(super) created: Option<String>,
    pub(super) expires: Option<String>,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
}

#[derive(Serialize)]
pub(super) struct Username {
    pub(super) name: String,
    /// How the password is sent: `text` or `digest`.
    pub(super) password: Option<&'static str>,
    pub(super) nonce: bool,
    pub(super) created: Option<String>,
    /// What a digest lacks, and whether its time is near.
    #[serde(flatten)]
    pub(super) verdict: Option<Verdict>,
    #[serde(skip)]
    pub(super) range: Range<usize>,
}

#[derive(Serialize)]
pub(super) struct Assertion {
    pub(super) version: String,
    pub(super) id: String,
    pub(super) issuer: String,
    pub(super) issued: String,
    pub(super) subject: Option<String>,
    pub(super) not_before: Option<String>,
    pub(super) not_on_or_after: Option<String>,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
    /// It is for somebody who is in each of these lists.
    pub(super) audiences: Vec<Vec<String>>,
    pub(super) one_use: bool,
    pub(super) unknown_condition: Option<String>,
    pub(super) confirmations: Vec<Confirmation>,
    pub(super) attributes: Vec<Attribute>,
    /// The number of its own signature, counted from 1.
    pub(super) signature: Option<usize>,
    #[serde(skip)]
    pub(super) range: Range<usize>,
}

#[derive(Serialize)]
pub(super) struct Confirmation {
    pub(super) method: String,
    pub(super) not_before: Option<String>,
    pub(super) not_on_or_after: Option<String>,
    pub(super) recipient: Option<String>,
    pub(super) keys: Vec<Key>,
}

#[derive(Serialize)]
pub(super) struct Attribute {
    pub(super) name: String,
    /// Values with elements are `None`.
    pub(super) values: Vec<Option<String>>,
}

/// What is said about a key.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Key {
    Certificate(Owner),
    IssuerSerial {
        issuer: String,
        serial_number: String,
    },
    SubjectName(String),
    /// In base64, and in hexadecimal as tools show it.
    #[serde(rename = "key_identifier")]
    Identifier {
        base64: String,
        hexadecimal: String,
    },
    Thumbprint {
        algorithm: String,
        base64: String,
        hexadecimal: String,
    },
    Name(String),
    Value,
    SubjectOfAssertion,
    MissingToken(String),
    Unsupported(String),
}

/// A certificate.
#[derive(Serialize)]
pub(super) struct Owner {
    pub(super) subject: String,
    pub(super) issuer: String,
    pub(super) serial_number: String,
    pub(super) valid_from: String,
    pub(super) valid_to: String,
}

/// A signature, or why it can't be read.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Found {
    Signature(Box<Signature>),
    Unreadable { problem: String },
}

#[derive(Serialize)]
pub(super) struct Signature {
    pub(super) line: usize,
    pub(super) column: usize,
    /// For whom its `Security` is, if there are several.
    #[serde(skip)]
    pub(super) receiver: Option<Option<String>>,
    pub(super) algorithm: String,
    /// Whether the algorithm is one that is refused.
    pub(super) weak: bool,
    /// The length in bits of an RSA key that is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) short_key: Option<usize>,
    pub(super) right: bool,
    pub(super) keys: Vec<Key>,
    pub(super) signer: Option<String>,
    pub(super) trusted: bool,
    /// Why nobody is trusted to have made it.
    pub(super) signer_problem: Option<String>,
    pub(super) value_right: bool,
    pub(super) value_problem: Option<String>,
    /// Whether the value is right without the white space between elements.
    pub(super) indented: bool,
    pub(super) references: Vec<Reference>,
}

#[derive(Serialize)]
pub(super) struct Reference {
    pub(super) uri: String,
    /// The name of the element that it leads to, as it is written.
    pub(super) element: Option<String>,
    /// The length of the canonical form, in bytes.
    pub(super) length: Option<usize>,
    /// The attachments that `xop:Include` elements stand for.
    pub(super) included: Vec<String>,
    pub(super) algorithm: String,
    pub(super) weak: bool,
    pub(super) right: bool,
    /// Whether it leads to a place of the message where nobody looks.
    pub(super) hidden: bool,
    pub(super) stated: Digest,
    pub(super) computed: Option<Digest>,
    /// Whether the digest is right without the white space between elements.
    pub(super) indented: bool,
    /// Whether something in the content is masked, so that the digest can't be right.
    pub(super) masked: bool,
    pub(super) unsigned_prefix: Option<String>,
    pub(super) problem: Option<String>,
}

/// A digest as it stands in a message, and as tools show it.
#[derive(Serialize)]
pub(super) struct Digest {
    pub(super) base64: String,
    pub(super) hexadecimal: String,
}

impl Report {
    pub(super) fn of(explanation: &Explanation, time: SystemTime, allowed: Algorithms) -> Self {
        let signatures: Vec<_> = explanation
            .signatures
            .iter()
            .map(|signature| match signature {
                Ok(signature) => Found::Signature(Box::new(Signature::of(explanation, signature, allowed))),
                Err(error) => Found::Unreadable { problem: located(explanation, error) },
            })
            .collect();
        let security = &explanation.security;
        let inside = |part: &&ExplainedPart| security.iter().any(|security| security.contains(&part.range));
        let is_readable = security.iter().all(|security| security.problem.is_none());
        let is_right = |found: &Found| matches!(found, Found::Signature(signature) if signature.right);
        Report {
            kind: if explanation.parts.is_empty() { "document" } else { "message" },
            right: is_readable && !signatures.is_empty() && signatures.iter().all(is_right),
            at: humantime::format_rfc3339_seconds(time).to_string(),
            masked: masked(&explanation.text),
            parts: explanation.parts.iter().filter(|part| !inside(part)).map(Part::of).collect(),
            attachments: explanation
                .attachments
                .iter()
                .map(|attachment| Attachment {
                    content_id: attachment.id.as_ref().map(|id| id.as_str().to_owned()),
                    signed_by: numbers(&attachment.signed_by),
                })
                .collect(),
            security: security.iter().map(|one| Security::of(explanation, one, time)).collect(),
            signatures,
        }
    }

    /// Returns when the first message was made that is not in time.
    pub(super) fn late(&self) -> Option<&str> {
        let timestamps = self.security.iter().flat_map(|security| &security.timestamp);
        timestamps.filter(|timestamp| !timestamp.verdict.in_time).find_map(|timestamp| timestamp.created.as_deref())
    }
}

/// Returns a problem with its place.
fn located(explanation: &Explanation, error: &Error) -> String {
    match error.offset() {
        Some(offset) => {
            let Location { line, column, .. } = location(explanation, offset);
            format!("{} (line {line}, column {column})", error.message())
        }
        None => error.message().to_owned(),
    }
}

fn location(explanation: &Explanation, offset: usize) -> Location {
    Location::of(explanation.text.as_bytes(), offset, Limits::default(), None)
}

/// Returns numbers that people count with.
fn numbers(signatures: &[usize]) -> Vec<usize> {
    signatures.iter().map(|number| number + 1).collect()
}

impl Part {
    fn of(part: &ExplainedPart) -> Self {
        Part { name: part.name.clone(), signed_by: numbers(&part.signed_by), range: part.range.clone() }
    }
}

impl Security {
    fn of(explanation: &Explanation, security: &ExplainedSecurity, time: SystemTime) -> Self {
        let parts = explanation.parts.iter().filter(|part| security.contains(&part.range));
        Security {
            role: security.role.clone(),
            parts: parts.map(Part::of).collect(),
            timestamp: security.times.map(|(created, expires)| Timestamp {
                created: created.map(|time| time.to_string()),
                expires: expires.map(|time| time.to_string()),
                verdict: of_message(created, expires, time),
            }),
            username: security.username.as_ref().map(|username| Username::of(username, time)),
            assertions: security.assertions.iter().map(|one| Assertion::of(explanation, one, time)).collect(),
            problem: security.problem.as_ref().map(|error| located(explanation, error)),
        }
    }
}

impl Username {
    fn of(username: &ExplainedUsername, time: SystemTime) -> Self {
        let lacks = |what: &str| Verdict { in_time: false, verdict: format!("the digest needs {what}") };
        let verdict = match (username.form, username.has_nonce, username.created) {
            (Some(PasswordForm::Digest), false, _) => Some(lacks("a nonce")),
            (Some(PasswordForm::Digest), true, None) => Some(lacks("the time in it")),
            (_, _, created) => created.map(|created| of_message(Some(created), None, time)),
        };
        Username {
            name: username.name.clone(),
            password: username.form.map(|form| if form == PasswordForm::Digest { "digest" } else { "text" }),
            nonce: username.has_nonce,
            created: username.created.map(|created| created.to_string()),
            verdict,
            range: username.range.clone(),
        }
    }
}

impl Assertion {
    fn of(explanation: &Explanation, explained: &ExplainedAssertion, time: SystemTime) -> Self {
        let assertion = &explained.assertion;
        let own = |signature: &Result<ExplainedSignature, _>| {
            signature.as_ref().is_ok_and(|signature| Some(&signature.range) == explained.signature.as_ref())
        };
        let confirmations = explained.confirmations.iter().map(|one| Confirmation {
            method: one.method.clone(),
            not_before: one.not_before.map(|moment| moment.to_string()),
            not_on_or_after: one.not_on_or_after.map(|moment| moment.to_string()),
            recipient: one.recipient.clone(),
            keys: one.keys.iter().map(Key::of).collect(),
        });
        let attributes = assertion.attributes.iter().map(|attribute| Attribute {
            name: attribute.name.clone(),
            values: attribute.values.iter().map(|value| value.text.clone()).collect(),
        });
        Assertion {
            version: assertion.version.to_string(),
            id: assertion.id.clone(),
            issuer: assertion.issuer.clone(),
            issued: assertion.issued.to_string(),
            subject: assertion.subject.name.clone(),
            not_before: assertion.not_before.map(|moment| moment.to_string()),
            not_on_or_after: assertion.not_on_or_after.map(|moment| moment.to_string()),
            verdict: of_assertion(explained, time),
            audiences: assertion.audiences.clone(),
            one_use: explained.is_for_one_use,
            unknown_condition: explained.unknown_condition.clone(),
            confirmations: confirmations.collect(),
            attributes: attributes.collect(),
            signature: explanation.signatures.iter().position(own).map(|number| number + 1),
            range: assertion.range.clone(),
        }
    }
}

impl Key {
    fn of(key: &ExplainedKey) -> Self {
        match key {
            ExplainedKey::Certificate(certificate) => Key::Certificate(Owner::of(certificate)),
            ExplainedKey::IssuerSerial { issuer, serial } => {
                Key::IssuerSerial { issuer: issuer.clone(), serial_number: serial.clone() }
            }
            ExplainedKey::Subject(name) => Key::SubjectName(name.clone()),
            ExplainedKey::KeyIdentifier(value) => {
                let Digest { base64, hexadecimal } = Digest::of(value);
                Key::Identifier { base64, hexadecimal }
            }
            ExplainedKey::Thumbprint { algorithm, digest } => {
                let Digest { base64, hexadecimal } = Digest::of(digest);
                Key::Thumbprint { algorithm: algorithm.to_string(), base64, hexadecimal }
            }
            ExplainedKey::Name(name) => Key::Name(name.clone()),
            ExplainedKey::Value => Key::Value,
            ExplainedKey::OfAssertion => Key::SubjectOfAssertion,
            ExplainedKey::Token(id) => Key::MissingToken(id.clone()),
            ExplainedKey::Unsupported(element) => Key::Unsupported(element.clone()),
            _ => Key::Unsupported("?".to_owned()),
        }
    }
}

impl Owner {
    fn of(certificate: &Certificate) -> Self {
        let time = |time| humantime::format_rfc3339_seconds(time).to_string();
        Owner {
            subject: certificate.subject(),
            issuer: certificate.issuer(),
            serial_number: certificate.serial_number(),
            valid_from: time(certificate.not_before()),
            valid_to: time(certificate.not_after()),
        }
    }
}

impl Signature {
    fn of(explanation: &Explanation, signature: &ExplainedSignature, allowed: Algorithms) -> Self {
        let place = location(explanation, signature.range.start);
        let references = signature.references.iter().map(|one| Reference::of(explanation, one, allowed));
        let references: Vec<Reference> = references.collect();
        let weak = !allowed.allows_signature(signature.algorithm);
        let short_key = signature.modulus_bits.filter(|bits| *bits < allowed.min_modulus_bits());
        let is_refused = weak || short_key.is_some() || references.iter().any(|reference| reference.weak);
        let is_one_of_several = explanation.security.len() > 1;
        let security = explanation.security.iter().find(|security| security.contains(&signature.range));
        Signature {
            line: place.line,
            column: place.column,
            receiver: security.filter(|_| is_one_of_several).map(|security| security.role.clone()),
            algorithm: signature.algorithm.to_string(),
            weak,
            short_key,
            right: signature.is_right() && signature.signer.is_ok() && !is_refused,
            keys: signature.keys.iter().map(Key::of).collect(),
            signer: signature.signer.as_ref().ok().map(shown_signer),
            trusted: signature.signer.as_ref().is_ok_and(|signer| *signer != Signer::Anyone),
            signer_problem: signature.signer.as_ref().err().map(|error| error.message().to_owned()),
            value_right: signature.value.is_ok(),
            value_problem: signature.value.as_ref().err().map(|error| error.message().to_owned()),
            indented: signature.is_indented,
            references,
        }
    }
}

impl Reference {
    fn of(explanation: &Explanation, reference: &ExplainedReference, allowed: Algorithms) -> Self {
        let content = reference.content.as_ref().ok();
        let right = reference.is_right();
        let element = content.and_then(|content| match &content.place {
            VerifiedContent::Element { range, .. } => {
                let tag = explanation.text.get(range.start + 1..range.end)?;
                let end = tag.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(tag.len());
                Some(tag[..end].to_owned())
            }
            _ => None,
        });
        let canonical = content.and_then(|content| content.canonical.as_deref());
        let text = canonical.and_then(|canonical| std::str::from_utf8(canonical).ok());
        Reference {
            uri: reference.uri.clone(),
            element,
            length: canonical.map(<[u8]>::len),
            included: content.iter().flat_map(|content| &content.included).map(|id| id.as_str().to_owned()).collect(),
            algorithm: reference.algorithm.to_string(),
            weak: !allowed.allows_digest(reference.algorithm),
            right,
            hidden: content.is_some_and(|content| content.is_hidden),
            stated: Digest::of(&reference.stated),
            computed: content.map(|content| Digest::of(&content.computed)),
            indented: content.is_some_and(|content| content.is_indented),
            masked: !right && text.is_some_and(|text| !masked(text).is_empty()),
            unsigned_prefix: content.and_then(|content| content.unsigned_prefix.clone()),
            problem: reference.content.as_ref().err().map(|error| error.message().to_owned()),
        }
    }
}

impl Digest {
    fn of(bytes: &[u8]) -> Self {
        let hexadecimal = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Digest { base64: BASE64_STANDARD.encode(bytes), hexadecimal }
    }
}
