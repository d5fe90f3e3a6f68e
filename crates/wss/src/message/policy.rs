//! What a received message must have.

mod check;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use castile_soap::Received;

use super::assertions::AssertionPolicy;
use super::part::Part;
use super::replay::{ReplayCache, ReplayMemory};
use super::username::Passwords;
use super::verified::VerifiedMessage;
use crate::Error;
use crate::algorithm::Algorithms;
use crate::limits::Limits;
use crate::trust::Trust;

pub(super) use check::Checked;

/// What a received message must have. The defaults are strict.
#[derive(Clone)]
pub struct Policy {
    trust: Option<Trust>,
    signed: Vec<Part>,
    passwords: Option<Arc<dyn Passwords>>,
    assertions: Option<AssertionPolicy>,
    /// Whether a message needs a `Security`.
    needs_security: bool,
    needs_timestamp: bool,
    max_age: Duration,
    clock_skew: Duration,
    replays: Option<Arc<dyn ReplayCache>>,
    role: Option<String>,
    allows_unsigned_prefixes: bool,
    streams_attachments: bool,
    algorithms: Algorithms,
    limits: Limits,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl Policy {
    /// How old a message may be by default: 300 s.
    pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(300);
    /// How far in the future a message may have been made by default: 60 s.
    pub const DEFAULT_CLOCK_SKEW: Duration = Duration::from_secs(60);

    fn new() -> Self {
        Policy {
            trust: None,
            signed: vec![Part::Body, Part::Timestamp, Part::Username, Part::Addressing, Part::Attachments],
            passwords: None,
            assertions: None,
            needs_security: true,
            needs_timestamp: false,
            max_age: Policy::DEFAULT_MAX_AGE,
            clock_skew: Policy::DEFAULT_CLOCK_SKEW,
            replays: Some(Arc::new(ReplayMemory::default())),
            role: None,
            allows_unsigned_prefixes: false,
            streams_attachments: false,
            algorithms: Algorithms::default(),
            limits: Limits::default(),
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Requires a signature by one of those who are trusted, over the body, the time stamp, the user name, the assertion, the
    /// header blocks of WS-Addressing and the attachments. The time stamp is required, too.
    #[must_use]
    pub fn signed_by(trust: Trust) -> Self {
        let mut policy = Policy { trust: Some(trust), needs_timestamp: true, ..Policy::new() };
        policy.signed.push(Part::Assertion);
        policy
    }

    /// Requires the name of a user, with the right password.
    #[must_use]
    pub fn authenticated_by(passwords: impl Passwords + 'static) -> Self {
        Policy::new().with_passwords(passwords)
    }

    /// Requires a SAML assertion by one of the issuers of a policy. With holder-of-key or sender-vouches, the signature that
    /// confirms the subject has to cover the body, the time stamp, the user name, the header blocks of WS-Addressing and the
    /// attachments, and with sender-vouches the assertion. The time stamp is required in any case.
    #[must_use]
    pub fn asserted_by(assertions: AssertionPolicy) -> Self {
        Policy::new().with_assertions(assertions)
    }

    /// Also requires a SAML assertion, and a time stamp. Exactly one assertion of a message has to be acceptable; others are ignored.
    #[must_use]
    pub fn with_assertions(self, assertions: AssertionPolicy) -> Self {
        Policy { assertions: Some(assertions), needs_timestamp: true, ..self }
    }

    /// Requires a time stamp, and nothing that proves who made the message: only TLS authenticates the sender. It is for answers of
    /// services that check passwords. Many of them answer with a time stamp that must be understood.
    #[must_use]
    pub fn timestamped() -> Self {
        Policy { needs_timestamp: true, ..Policy::new() }
    }

    /// Requires nothing, not even a `Security`: only TLS authenticates the sender. A `Security` that is there is understood: a time
    /// stamp in it is checked, and what is not supported is refused. Signatures are not verified. It is for answers of services that add
    /// what nobody has asked for.
    #[must_use]
    pub fn any() -> Self {
        Policy { needs_security: false, ..Policy::new() }
    }

    /// Also requires the name of a user, with the right password.
    #[must_use]
    pub fn with_passwords(self, passwords: impl Passwords + 'static) -> Self {
        Policy { passwords: Some(Arc::new(passwords)), ..self }
    }

    /// Sets the parts that a signature must cover, if one is required: by [`signed_by`](Self::signed_by), or to confirm the subject of
    /// an assertion by holder-of-key or sender-vouches. The time stamp must be signed in any case, if it is required. Of the other parts, only
    /// the body has to be there: a header block that a message doesn't have needs no signature. Without [`Part::Attachments`], attachments
    /// that no signature refers to are accepted.
    #[must_use]
    pub fn with_signed(self, parts: impl IntoIterator<Item = Part>) -> Self {
        Policy { signed: parts.into_iter().collect(), ..self }
    }

    /// Accepts messages without a time stamp. They can be sent again at any time. A time stamp that is there is checked.
    #[must_use]
    pub fn without_timestamp(self) -> Self {
        Policy { needs_timestamp: false, ..self }
    }

    /// Sets how old a message may be, according to the time that it states. The default is
    /// [`DEFAULT_MAX_AGE`](Self::DEFAULT_MAX_AGE).
    #[must_use]
    pub fn with_max_age(self, max_age: Duration) -> Self {
        Policy { max_age, ..self }
    }

    /// Sets how far in the future a message may have been made, according to the time that it states. The default is
    /// [`DEFAULT_CLOCK_SKEW`](Self::DEFAULT_CLOCK_SKEW). An assertion is also accepted this long before its validity begins and after it
    /// ends.
    #[must_use]
    pub fn with_clock_skew(self, clock_skew: Duration) -> Self {
        Policy { clock_skew, ..self }
    }

    /// Sets where messages are remembered, so that nobody can send them again. The default is a [`ReplayMemory`] of this policy alone. A
    /// policy that replaces another one has to have the same cache, in an `Arc`: what the other one remembered could be sent again. What is remembered of a
    /// message are its signatures and its password digest, and an assertion that may be used once. A message without these can be sent
    /// again: one with only a time stamp, a password as text or the assertion of a bearer. So can one without a time, because it would have
    /// to be remembered for ever.
    #[must_use]
    pub fn with_replay_cache(self, replays: impl ReplayCache + 'static) -> Self {
        Policy { replays: Some(Arc::new(replays)), ..self }
    }

    /// Remembers no messages. Whoever reads a message can send it again until it is too old. Assertions that may be used once are
    /// refused.
    #[must_use]
    pub fn without_replay_cache(self) -> Self {
        Policy { replays: None, ..self }
    }

    /// Applies to the `Security` for this role, a URI, and not to that of the ultimate receiver. A service that acts in the role by
    /// [`Options::roles`](castile_soap::Options::roles) refuses blocks for it that must be understood and that no layer has processed.
    #[must_use]
    pub fn with_role(self, role: impl Into<String>) -> Self {
        Policy { role: Some(role.into()), ..self }
    }

    /// Accepts values that use a prefix whose declaration is not signed, such as `xsi:type="p:t"` after exclusive
    /// canonicalization without `p` in its `PrefixList`. An attacker can change what such a value means without breaking the
    /// signature. It is for senders that omit the list.
    #[must_use]
    pub fn with_unsigned_prefixes(self) -> Self {
        Policy { allows_unsigned_prefixes: true, ..self }
    }

    /// Lets handlers read attachments that a signature covers while they arrive, before it is known whether they are what was signed.
    /// Nothing of them is stored. The signature value, its signer and the message itself are verified before.
    ///
    /// Such an attachment is read as an [`UnverifiedAttachment`](castile_mime::UnverifiedAttachment), whose end tells; its whole content
    /// [in memory](castile_mime::Attachment::collect) is verified. A [layer](super::SecurityLayer) reads what its handler leaves, and
    /// refuses the request if anything was changed. Without a layer, attachments that nobody reads are not verified.
    ///
    /// If the signature covers parts of a message with MTOM, its attachments are stored and verified before, as by default. An attachment
    /// that is XML is in memory until its end, too.
    #[must_use]
    pub fn with_streamed_attachments(self) -> Self {
        Policy { streams_attachments: true, ..self }
    }

    /// Sets the algorithms that are accepted.
    #[must_use]
    pub fn with_algorithms(self, algorithms: Algorithms) -> Self {
        Policy { algorithms, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Policy { limits, ..self }
    }

    /// Sets the clock, for senders whose clock is wrong, and for tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Policy { clock: Arc::new(clock), ..self }
    }

    /// Verifies a message without attachments, in UTF-8 or in the encoding that it declares.
    ///
    /// # Errors
    /// The message doesn't fulfil the policy, or its signatures cover attachments. Don't tell its sender why: that helps those who
    /// attack more than others.
    pub async fn verify(&self, message: &[u8]) -> Result<VerifiedMessage, Error> {
        let checked = self.check(message, None, None, None)?;
        self.finish(checked, None, None).await
    }

    /// Verifies a received message with its attachments, however it is packaged, in the encoding of its media type, which takes precedence
    /// over the one that it declares (RFC 7303 §3).
    ///
    /// Attachments are [stored](castile_mime::Attachments::spool) if a signature covers one of them, or if all must be signed, unless they
    /// are [streamed](Self::with_streamed_attachments), but not before the signature value is known to be right. The content of an attachment
    /// that is XML is in memory while its digest is computed.
    ///
    /// What is signed of a message with MTOM is the base64 text of the parts in place of the elements `xop:Include`. Each of these must be in
    /// the body, and the only content of its element. If a signature covers one, all of them are
    /// [required](Received::required_includes) to be read as binary values.
    ///
    /// # Errors
    /// The message doesn't fulfil the policy, or its attachments can't be read or stored. Don't tell its sender why: that helps
    /// those who attack more than others.
    pub async fn verify_received(&self, received: &mut Received) -> Result<VerifiedMessage, Error> {
        let Received { message, charset, packaging, attachments, required_includes, processed, .. } = received;
        let checked = self.check(message, *charset, *packaging, None)?;
        let verified = self.finish(checked, Some(attachments), None).await?;
        required_includes.extend(verified.required_includes());
        processed.extend(verified.block());
        Ok(verified)
    }

    /// Returns the limits of documents.
    pub(super) fn document_limits(&self) -> castile_xml::Limits {
        self.limits.document
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("trust", &self.trust)
            .field("signed", &self.signed)
            .field("passwords", &self.passwords)
            .field("assertions", &self.assertions)
            .field("needs_timestamp", &self.needs_timestamp)
            .field("max_age", &self.max_age)
            .field("clock_skew", &self.clock_skew)
            .field("role", &self.role)
            .field("streams_attachments", &self.streams_attachments)
            .field("algorithms", &self.algorithms)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
