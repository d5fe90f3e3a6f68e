//! What is known of a message that fulfils a policy.

use std::ops::Range;

use castile_mime::ContentId;

use super::confirmed::{self, Confirmed};
use crate::Error;
use crate::assertion::{Assertion, ConfirmationMethod};
use crate::trust::Signer;
use crate::verify::VerifiedSignature;

/// A message that fulfils a [`Policy`](super::Policy).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedMessage {
    pub(super) signatures: Vec<VerifiedSignature>,
    /// The number of the signature that fulfils the policy.
    pub(super) accepted: Option<usize>,
    pub(super) username: Option<String>,
    pub(super) assertion: Option<(Assertion, ConfirmationMethod)>,
    /// The role that the policy applies to.
    pub(super) role: Option<String>,
    /// Where the block of WS-Security begins.
    pub(super) block: Option<usize>,
    pub(super) values: Vec<Vec<u8>>,
    pub(super) confirmed: Vec<Confirmed>,
    /// Where the elements are that stand for parts, if one of them is signed.
    pub(super) required_includes: Vec<usize>,
    /// What the layer around has verified.
    pub(super) outer: Option<Box<VerifiedMessage>>,
}

impl VerifiedMessage {
    /// Returns the valid signatures, in document order. All of them were verified if the policy requires a signature or an assertion;
    /// otherwise there are none.
    pub fn signatures(&self) -> &[VerifiedSignature] {
        &self.signatures
    }

    /// Returns who signed all parts that the policy requires, if it requires a signature. It is one of those who are trusted, or
    /// else who confirms the subject of the assertion.
    pub fn signer(&self) -> Option<&Signer> {
        Some(&self.accepted_signature()?.signer)
    }

    /// Returns the signature that covers all parts that the policy requires, if it requires one.
    pub fn accepted_signature(&self) -> Option<&VerifiedSignature> {
        self.signatures.get(self.accepted?)
    }

    /// Returns the name of the user whose password the message has, if the policy requires a password.
    pub fn username(&self) -> Option<&str> {
        self.username.as_deref()
    }

    /// Returns the assertion, if the policy requires one. It is that of the policy's issuer; its subject is confirmed.
    pub fn assertion(&self) -> Option<&Assertion> {
        self.assertion.as_ref().map(|(assertion, _)| assertion)
    }

    /// Returns how the subject of the assertion is confirmed, if the policy requires an assertion.
    pub fn confirmation_method(&self) -> Option<ConfirmationMethod> {
        self.assertion.as_ref().map(|(_, confirmation)| *confirmation)
    }

    /// Returns the role of the `Security` that the policy [applies to](super::Policy::with_role). `None` is the ultimate receiver.
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// Returns what the [layer](super::SecurityLayer) around the layer of this message has verified. A request passes the outer layer
    /// first, and its handler finds what the innermost one has verified.
    pub fn outer(&self) -> Option<&VerifiedMessage> {
        self.outer.as_deref()
    }

    /// Returns where the block of WS-Security begins, if there is one.
    pub(super) fn block(&self) -> Option<usize> {
        self.block
    }

    /// Returns the values of the verified signatures, which an answer may confirm.
    pub(super) fn values(&self) -> &[Vec<u8>] {
        &self.values
    }

    /// Checks that this answer confirms the signature values of its request.
    pub(super) fn check_confirmed(&self, request: &[Vec<u8>]) -> Result<(), Error> {
        confirmed::check(self, &self.confirmed, request)
    }

    /// Returns whether the [accepted signature](Self::accepted_signature) covers the element with this byte range. The range
    /// is that of [`HeaderBlock::bytes`](castile_soap::HeaderBlock).
    pub fn is_signed(&self, range: &Range<usize>) -> bool {
        self.accepted_signature().is_some_and(|signature| signature.covers(range))
    }

    /// Returns the byte offsets of all elements `xop:Include`, if a signature covers one of them. What was signed is a binary value in its
    /// place, so that the message must not be read in another way, as XML for example.
    pub fn required_includes(&self) -> &[usize] {
        &self.required_includes
    }

    /// Returns whether the [accepted signature](Self::accepted_signature) covers the content of the attachment with this Content-ID: as
    /// an attachment, or because an `xop:Include` in what it covers stands for it. If attachments are
    /// [streamed](super::Policy::with_streamed_attachments), its content is compared while it is read.
    pub fn is_attachment_signed(&self, id: &ContentId) -> bool {
        self.accepted_signature().is_some_and(|signature| signature.covers_attachment(id))
    }
}
