//! What a received message must have.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use castile_datatypes::DateTime;
use castile_xml::{Charset, decode, excerpt};

use super::envelope::Envelope;
use super::fault::code_prefix;
use super::header::{SecurityHeader, Timestamp};
use super::part::Part;
use super::replay::{Remembered, ReplayCache, ReplayMemory};
use super::username::{Passwords, ReceivedUsername};
use crate::algorithm::Algorithms;
use crate::crypto;
use crate::limits::Limits;
use crate::trust::{Signer, Trust};
use crate::uris::WSSE;
use crate::verify::{Scope, Source, Verification, VerifiedContent, VerifiedSignature};
use crate::{DigestAlgorithm, Error, ErrorKind};

/// What a received message must have. The defaults are strict.
#[derive(Clone)]
pub struct Policy {
    trust: Option<Trust>,
    signed: Vec<Part>,
    passwords: Option<Arc<dyn Passwords>>,
    needs_timestamp: bool,
    max_age: Duration,
    clock_skew: Duration,
    replays: Option<Arc<dyn ReplayCache>>,
    role: Option<String>,
    allows_unsigned_prefixes: bool,
    algorithms: Algorithms,
    limits: Limits,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

/// A message that fulfils a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedMessage {
    signatures: Vec<VerifiedSignature>,
    /// The number of the signature that fulfils the policy.
    accepted: Option<usize>,
    username: Option<String>,
}

/// A message whose signatures are valid. Its password, and whether it was received before, are still to be checked.
pub(super) struct Checked {
    username: Option<(ReceivedUsername, Range<usize>)>,
    signatures: Vec<VerifiedSignature>,
    /// The number of the signature that fulfils the policy.
    accepted: Option<usize>,
    /// When it was made, if it says so.
    created: Option<DateTime>,
    /// What identifies it, for the replay cache.
    identity: Vec<[u8; 32]>,
    now: SystemTime,
}

impl Policy {
    fn new() -> Self {
        Policy {
            trust: None,
            signed: Vec::new(),
            passwords: None,
            needs_timestamp: false,
            max_age: Duration::from_secs(300),
            clock_skew: Duration::from_secs(60),
            replays: Some(Arc::new(ReplayMemory::default())),
            role: None,
            allows_unsigned_prefixes: false,
            algorithms: Algorithms::default(),
            limits: Limits::default(),
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Requires a signature by one of those who are trusted, over the body, the time stamp, the user name and the header
    /// blocks of WS-Addressing. The time stamp is required, too.
    #[must_use]
    pub fn signed_by(trust: Trust) -> Self {
        let signed = vec![Part::Body, Part::Timestamp, Part::Username, Part::Addressing];
        Policy { trust: Some(trust), signed, needs_timestamp: true, ..Policy::new() }
    }

    /// Requires the name of a user, with the right password.
    #[must_use]
    pub fn authenticated_by(passwords: impl Passwords + 'static) -> Self {
        Policy::new().with_passwords(passwords)
    }

    /// Requires a time stamp, and nothing that proves who made the message: TLS has to tell that. It is for answers of
    /// services that check passwords. Many of them answer with a time stamp that must be understood.
    #[must_use]
    pub fn timestamped() -> Self {
        Policy { needs_timestamp: true, ..Policy::new() }
    }

    /// Also requires the name of a user, with the right password.
    #[must_use]
    pub fn with_passwords(self, passwords: impl Passwords + 'static) -> Self {
        Policy { passwords: Some(Arc::new(passwords)), ..self }
    }

    /// Sets the parts that must be signed. The time stamp must be signed in any case, if it is required.
    #[must_use]
    pub fn with_signed(self, parts: impl IntoIterator<Item = Part>) -> Self {
        Policy { signed: parts.into_iter().collect(), ..self }
    }

    /// Accepts messages without a time stamp. They can be sent again at any time. A time stamp that is there is checked.
    #[must_use]
    pub fn without_timestamp(self) -> Self {
        Policy { needs_timestamp: false, ..self }
    }

    /// Sets how old a message may be, according to the time that it states. The default is 300 s.
    #[must_use]
    pub fn with_max_age(self, max_age: Duration) -> Self {
        Policy { max_age, ..self }
    }

    /// Sets how far in the future a message may have been made, according to the time that it states. The default is 60 s.
    #[must_use]
    pub fn with_clock_skew(self, clock_skew: Duration) -> Self {
        Policy { clock_skew, ..self }
    }

    /// Sets where messages are remembered, so that nobody can send them again. The default is a [`ReplayMemory`]. Messages
    /// without a time are not remembered, because that would have to be for ever.
    #[must_use]
    pub fn with_replay_cache(self, replays: impl ReplayCache + 'static) -> Self {
        Policy { replays: Some(Arc::new(replays)), ..self }
    }

    /// Remembers no messages. Whoever reads a message can send it again until it is too old.
    #[must_use]
    pub fn without_replay_cache(self) -> Self {
        Policy { replays: None, ..self }
    }

    /// Applies to the `Security` for this role, a URI, and not to that of the ultimate receiver.
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

    /// Verifies a message in UTF-8, or in the encoding that it declares.
    ///
    /// # Errors
    /// The message doesn't fulfil the policy. Don't tell its sender why: that helps those who attack more than others.
    pub async fn verify(&self, message: &[u8]) -> Result<VerifiedMessage, Error> {
        let checked = self.check(message, None)?;
        self.finish(checked).await
    }

    /// Checks what takes only work: times and signatures. `charset` is that of the media type, if there is one.
    pub(super) fn check(&self, message: &[u8], charset: Option<Charset>) -> Result<Checked, Error> {
        let text = decode(message, charset)?;
        let (envelope, index) = Envelope::read(&text, self.limits)?;
        let now = (self.clock)();
        let Some(block) = envelope.security(WSSE, self.role.as_deref())? else {
            return Err(Error::new(ErrorKind::Unsecured, "the message has no <Security>"));
        };
        let mut header = SecurityHeader::read(&text, block, self.limits)?;
        self.check_timestamp(header.timestamp.as_ref(), now)?;
        let tokens = header.resolve_tokens(&index)?;
        let mut signatures = Vec::new();
        let mut accepted = None;
        if let Some(trust) = &self.trust {
            let verification = Verification {
                algorithms: self.algorithms,
                limits: self.limits,
                now,
                source: Source::Message(&text, self.limits.document),
                index: &index,
                scope: Scope::Message(&tokens),
                allows_unsigned_prefixes: self.allows_unsigned_prefixes,
                fault_prefix: code_prefix(&text, &envelope, self.limits)?,
            };
            for (signature, range) in &header.signatures {
                signatures.push(verification.signature(range, signature, trust)?);
            }
            accepted = Some(self.check_signed(&envelope, &header, &signatures)?);
        }
        if let Some((ReceivedUsername { created: Some((_, created)), .. }, range)) = &header.username {
            self.check_time(created, now).map_err(|error| error.at(range.start))?;
        }
        let created = header.timestamp.as_ref().and_then(|timestamp| timestamp.created);
        let mut identity = Vec::new();
        // A message that was not signed has the identity of its password digest only.
        if created.is_some() && self.trust.is_some() {
            identity.extend(signatures.iter().map(VerifiedSignature::identity));
        }
        Ok(Checked { username: header.username, signatures, accepted, created, identity, now })
    }

    /// Returns whether a message is a fault.
    pub(super) fn is_fault(&self, message: &[u8], charset: Option<Charset>) -> bool {
        let Ok(text) = decode(message, charset) else { return false };
        Envelope::read(&text, self.limits).is_ok_and(|(envelope, _)| envelope.is_fault)
    }

    /// Checks what others may have to be asked for: the password, and whether the message was received before.
    pub(super) async fn finish(&self, checked: Checked) -> Result<VerifiedMessage, Error> {
        let Checked { username: token, signatures, accepted, created, mut identity, now } = checked;
        let mut username = None;
        let mut has_time = created.is_some();
        if let Some(passwords) = &self.passwords {
            let Some((token, range)) = token else {
                return Err(Error::new(ErrorKind::Unauthenticated, "the message has no user name"));
            };
            if !token.is_right(&**passwords).await {
                let message = "the user name or the password is wrong";
                return Err(Error::new(ErrorKind::Unauthenticated, message).at(range.start));
            }
            if let Some(digest) = token.password_digest() {
                identity.push(sha256(&digest)?);
                has_time = true;
            }
            username = Some(token.username);
        }
        if let Some(replays) = self.replays.as_ref().filter(|_| has_time) {
            // It is too old afterwards.
            let Some(until) = now.checked_add(self.max_age.saturating_add(self.clock_skew)) else {
                return Err(Error::new(ErrorKind::Limit, "a message that would have to be remembered for ever"));
            };
            for message in identity {
                match replays.remember(message, until, now).await {
                    Remembered::New => {}
                    Remembered::Known => {
                        return Err(Error::new(ErrorKind::Replayed, "the message was received before"));
                    }
                    Remembered::Full => {
                        let message = "the message can't be remembered: the replay cache is full or not available";
                        return Err(Error::new(ErrorKind::Limit, message));
                    }
                }
            }
        }
        Ok(VerifiedMessage { signatures, accepted, username })
    }

    fn check_timestamp(&self, timestamp: Option<&Timestamp>, now: SystemTime) -> Result<(), Error> {
        let Some(Timestamp { created, expires, range }) = timestamp else {
            return match self.needs_timestamp {
                true => Err(Error::new(ErrorKind::Time, "the message has no time stamp")),
                false => Ok(()),
            };
        };
        match created {
            Some(created) => self.check_time(created, now).map_err(|error| error.at(range.start))?,
            None => return Err(Error::new(ErrorKind::Time, "a time stamp without <Created>").at(range.start)),
        }
        match expires {
            Some(expires) if *expires < DateTime::from(now) => {
                Err(Error::new(ErrorKind::Time, format!("the message expired at {expires}")).at(range.start))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a moment is neither too old nor too far in the future.
    fn check_time(&self, created: &DateTime, now: SystemTime) -> Result<(), Error> {
        if now.checked_sub(self.max_age).is_some_and(|limit| *created < DateTime::from(limit)) {
            let message = format!("the message was made at {created}, more than {} s ago", self.max_age.as_secs());
            return Err(Error::new(ErrorKind::Time, message));
        }
        if now.checked_add(self.clock_skew).is_some_and(|limit| *created > DateTime::from(limit)) {
            let seconds = self.clock_skew.as_secs();
            let message = format!("the message was made at {created}, more than {seconds} s in the future");
            return Err(Error::new(ErrorKind::Time, message));
        }
        Ok(())
    }

    /// Checks that one signature covers all parts that must be signed, and returns its number. Two signatures of one signer
    /// may be of two messages, which somebody else put together.
    fn check_signed(
        &self,
        envelope: &Envelope,
        header: &SecurityHeader,
        signatures: &[VerifiedSignature],
    ) -> Result<usize, Error> {
        // What is signed elsewhere would be hidden from those who read the message: a signed header block, for example.
        for reference in signatures.iter().flat_map(|signature| &signature.references) {
            let VerifiedContent::Element { range, .. } = &reference.content else { continue };
            if !envelope.is_part(range) && !header.children.contains(range) {
                let message =
                    format!("the reference \"{}\" leads to no part of the message", excerpt(&reference.uri, 60));
                return Err(Error::new(ErrorKind::Reference, message).at(range.start));
            }
        }
        let mut required: Vec<(&Range<usize>, String)> = Vec::new();
        let timestamp = header.timestamp.iter().map(|timestamp| (&timestamp.range, "the time stamp".to_owned()));
        if self.needs_timestamp || self.signed.contains(&Part::Timestamp) {
            required.extend(timestamp);
        }
        for part in &self.signed {
            match part {
                Part::Username => {
                    required.extend(header.username.iter().map(|(_, range)| (range, "the user name".to_owned())));
                }
                part => required.extend(envelope.ranges(part)),
            }
        }
        if signatures.is_empty() {
            return Err(Error::new(ErrorKind::Unsigned, "the message has no signature"));
        }
        let mut missing = None;
        for (number, signature) in signatures.iter().enumerate() {
            match required.iter().find(|(range, _)| !signature.covers(range)) {
                None => return Ok(number),
                Some((range, part)) => missing = missing.or(Some((range.start, part))),
            }
        }
        let (offset, part) = missing.map_or((0, ""), |(offset, part)| (offset, part.as_str()));
        Err(Error::new(ErrorKind::Unsigned, format!("{part} is not signed")).at(offset))
    }
}

fn sha256(bytes: &[u8]) -> Result<[u8; 32], Error> {
    let mut digest = crypto::digest(DigestAlgorithm::Sha256)?;
    digest.update(bytes);
    let digest = digest.finish();
    digest.try_into().map_err(|_| Error::new(ErrorKind::Crypto, "a digest of SHA-256 has another length"))
}

impl VerifiedMessage {
    /// Returns the valid signatures, in document order, whether the policy needs them or not.
    pub fn signatures(&self) -> &[VerifiedSignature] {
        &self.signatures
    }

    /// Returns who signed all parts that the policy requires, if it requires a signature.
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

    /// Returns whether the [accepted signature](Self::accepted_signature) covers the element with this byte range. The range
    /// is that of [`HeaderBlock::bytes`](castile_soap::HeaderBlock).
    pub fn is_signed(&self, range: &Range<usize>) -> bool {
        self.accepted_signature().is_some_and(|signature| signature.covers(range))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("trust", &self.trust)
            .field("signed", &self.signed)
            .field("passwords", &self.passwords)
            .field("needs_timestamp", &self.needs_timestamp)
            .field("max_age", &self.max_age)
            .field("clock_skew", &self.clock_skew)
            .field("role", &self.role)
            .field("algorithms", &self.algorithms)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
