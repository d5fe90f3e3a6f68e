//! The signatures of a message: whose they are, and what they cover.

use std::ops::Range;

use castile_mime::ContentId;
use castile_xml::excerpt;

use super::envelope::Envelope;
use super::header::SecurityHeader;
use crate::key::PublicKey;
use crate::signature::{KeyHint, Signature};
use crate::trust::{Signer, Trust, VerifyingKey};
use crate::verify::{Unverified, Verification, VerifiedContent, VerifiedSignature};
use crate::{Error, ErrorKind};

/// A part that must be signed.
pub(super) enum Required<'r> {
    /// An element: where it is, and its name for errors.
    Element(&'r Range<usize>, String),
    Attachment(&'r ContentId),
}

/// Whose signatures a message may have.
#[derive(Clone, Copy)]
pub(super) struct Signers<'t> {
    pub(super) trusted: Option<&'t Trust>,
    /// Those who may vouch for assertions.
    pub(super) senders: Option<&'t Trust>,
    /// Whether each assertion is acceptable.
    pub(super) vouched: &'t [Result<(), Error>],
}

/// A valid signature of a message.
pub(super) struct MessageSignature<'t> {
    pub(super) signature: VerifiedSignature,
    /// What it says about the parts of the package, which is still to be compared.
    pub(super) unverified: Unverified,
    pub(super) key: SignatureKey<'t>,
}

/// The key of a signature, and what the signature is good for.
pub(super) struct SignatureKey<'t> {
    key: VerifyingKey<'t>,
    signer: Signer,
    /// Whether it is the key of somebody who is trusted.
    is_trusted: bool,
    /// Whether it is the key of somebody who may vouch for assertions.
    pub(super) is_sender: bool,
}

impl<'t> Signers<'t> {
    /// Verifies a signature of a message. `others` are those before it.
    pub(super) fn verify(
        &self,
        (signature, range): &'t (Signature, Range<usize>),
        others: &[MessageSignature<'_>],
        header: &SecurityHeader,
        verification: &Verification<'_>,
    ) -> Result<MessageSignature<'t>, Error> {
        verification.check_algorithm(range, signature)?;
        let key = self.key(signature, header, verification).map_err(|error| error.at(range.start))?;
        let is_known = |identity: &_| others.iter().any(|other| other.signature.identity() == *identity);
        let by = (&key.key, key.signer.clone());
        let (signature, unverified) = verification.signature_by(range, signature, by, is_known)?;
        Ok(MessageSignature { signature, unverified, key })
    }

    fn key(
        &self,
        signature: &'t Signature,
        header: &SecurityHeader,
        verification: &Verification<'_>,
    ) -> Result<SignatureKey<'t>, Error> {
        let referred = signature.hints.iter().find_map(|hint| match hint {
            KeyHint::Subject { assertion, keys } => Some((*assertion, keys)),
            _ => None,
        });
        if let Some((number, keys)) = referred {
            return self.key_of_subject(header, number, keys);
        }
        let mut found: Option<SignatureKey<'t>> = None;
        let mut refused = None;
        for (trust, is_sender) in [(self.trusted, false), (self.senders, true)] {
            let Some(trust) = trust else { continue };
            match (verification.key(signature, trust), &mut found) {
                (Ok((key, signer)), None) => {
                    found = Some(SignatureKey { key, signer, is_trusted: !is_sender, is_sender });
                }
                // Both have to mean the same key.
                (Ok((key, _)), Some(found)) => found.is_sender = key.is(&found.key),
                (Err(error), _) => refused = refused.or(Some(error)),
            }
        }
        let brought: Vec<PublicKey> = signature.hints.iter().filter_map(KeyHint::key).collect();
        let of_subject = || {
            let mut numbers = (0..header.assertions.len()).filter(|number| self.is_vouched(header, *number));
            numbers.find_map(|number| {
                let keys = header.assertions[number].subject_keys();
                Some(subject(header, number, brought.iter().find(|key| keys.contains(key))?))
            })
        };
        let unknown =
            || refused.unwrap_or_else(|| Error::new(ErrorKind::UnknownKey, "no key of the signature is known"));
        found.or_else(of_subject).ok_or_else(unknown)
    }

    /// Returns the key of an assertion that a signature refers to. It is trusted only because the issuer is.
    fn key_of_subject(
        &self,
        header: &SecurityHeader,
        number: usize,
        keys: &[PublicKey],
    ) -> Result<SignatureKey<'t>, Error> {
        if let Some(Err(error)) = self.vouched.get(number) {
            return Err(error.clone());
        }
        match keys {
            [key] if self.is_vouched(header, number) => Ok(subject(header, number, key)),
            [_] => {
                let message = "a signature with the key of an assertion that its issuer did not sign";
                Err(Error::new(ErrorKind::UnknownKey, message))
            }
            _ => {
                let message = "a signature with the key of an assertion that doesn't name exactly one";
                Err(Error::new(ErrorKind::UnknownKey, message))
            }
        }
    }

    /// Returns whether the issuer of an assertion vouches for the keys in it.
    fn is_vouched(&self, header: &SecurityHeader, number: usize) -> bool {
        self.vouched.get(number).is_some_and(Result::is_ok) && header.assertions[number].signature.is_some()
    }
}

fn subject<'t>(header: &SecurityHeader, number: usize, key: &PublicKey) -> SignatureKey<'t> {
    let signer = Signer::Subject(header.assertions[number].assertion.id.clone());
    SignatureKey { key: VerifyingKey::Public(key.clone()), signer, is_trusted: false, is_sender: false }
}

impl SignatureKey<'_> {
    /// Returns whether it is one of these keys.
    pub(super) fn is_one_of(&self, keys: &[PublicKey]) -> bool {
        matches!(&self.key, VerifyingKey::Public(key) if keys.contains(key))
    }
}

impl MessageSignature<'_> {
    /// Checks that it covers all these parts.
    pub(super) fn covers<'r>(&self, required: impl IntoIterator<Item = &'r Required<'r>>) -> Result<(), Error> {
        let is_missing = |part: &&Required<'_>| match part {
            Required::Element(range, _) => !self.signature.covers(range),
            Required::Attachment(id) => !self.signature.covers_attachment(id),
        };
        match required.into_iter().find(is_missing) {
            None => Ok(()),
            Some(Required::Element(range, part)) => {
                Err(Error::new(ErrorKind::Unsigned, format!("{part} is not signed")).at(range.start))
            }
            Some(Required::Attachment(id)) => {
                let message = format!("the attachment \"{}\" is not signed with the rest", excerpt(id.as_str(), 60));
                Err(Error::new(ErrorKind::Unsigned, message))
            }
        }
    }
}

pub(super) fn assertion_part(range: &Range<usize>) -> Required<'_> {
    Required::Element(range, "the assertion".to_owned())
}

/// Returns the attachments that any signature covers. If all attachments must be signed, one signature must cover all of these;
/// whether the message has further ones is known only when they have been read.
pub(super) fn attachment_parts<'s>(signatures: &'s [MessageSignature<'_>]) -> impl Iterator<Item = Required<'s>> {
    signatures.iter().flat_map(|one| {
        let stated = one.unverified.attachments.iter().map(|stated| &stated.id);
        stated
            .chain(one.signature.references.iter().flat_map(|reference| &reference.included))
            .map(Required::Attachment)
    })
}

/// Where those who read a message look.
pub(crate) struct Places {
    body: Range<usize>,
    /// Where elements begin that somebody may take for the body, in document order.
    other_bodies: Vec<usize>,
    /// The header, its blocks, and what is in the block of WS-Security.
    elements: Vec<Range<usize>>,
}

impl Places {
    pub(crate) fn of(envelope: &Envelope<'_>, header: &SecurityHeader) -> Self {
        let blocks = envelope.blocks.iter().map(|block| &block.range);
        let elements = envelope.header.iter().chain(blocks).chain(header.ranges());
        let (body, other_bodies) = (envelope.body.clone(), envelope.other_bodies.clone());
        Places { body, other_bodies, elements: elements.cloned().collect() }
    }

    /// Returns whether an element is the body or inside it, the header, one of its blocks, or a child of the block of WS-Security or a token
    /// in it. A body elsewhere is none of them: somebody may have moved it, and put another one in its place.
    pub(crate) fn has(&self, range: &Range<usize>) -> bool {
        let is_inside = self.body.start <= range.start && range.end <= self.body.end;
        (is_inside || self.elements.contains(range)) && self.other_bodies.binary_search(&range.start).is_err()
    }
}

/// Checks that nothing is signed elsewhere: it would be hidden from those who read the message, a signed header block for
/// example.
pub(super) fn check_places(places: &Places, signatures: &[MessageSignature<'_>]) -> Result<(), Error> {
    for reference in signatures.iter().flat_map(|one| &one.signature.references) {
        let VerifiedContent::Element { range, .. } = &reference.content else { continue };
        if !places.has(range) {
            let message = format!("the reference \"{}\" leads to no part of the message", excerpt(&reference.uri, 60));
            return Err(Error::new(ErrorKind::Reference, message).at(range.start));
        }
    }
    Ok(())
}

/// Checks that one signature of somebody who is trusted covers all parts that must be signed, and returns its number. Two
/// signatures of one signer may be of two messages, which somebody else put together.
pub(super) fn check_signed(required: &[Required<'_>], signatures: &[MessageSignature<'_>]) -> Result<usize, Error> {
    let trusted = |(_, one): &(usize, &MessageSignature<'_>)| one.key.is_trusted;
    first_that_covers(signatures.iter().enumerate().filter(trusted), |one| one.covers(required))
        .unwrap_or_else(|| Err(Error::new(ErrorKind::Unsigned, "the message has no signature")))
}

/// Returns the number of the first signature that covers what it must, or why the first of all doesn't. `None` if there is none.
pub(super) fn first_that_covers<'s>(
    signatures: impl Iterator<Item = (usize, &'s MessageSignature<'s>)>,
    covers: impl Fn(&MessageSignature<'_>) -> Result<(), Error>,
) -> Option<Result<usize, Error>> {
    let mut refused = None;
    for (number, one) in signatures {
        match covers(one) {
            Ok(()) => return Some(Ok(number)),
            Err(error) => refused = refused.or(Some(Err(error))),
        }
    }
    refused
}
