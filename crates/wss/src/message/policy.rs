//! What a received message must have.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use castile_datatypes::DateTime;
use castile_xml::{Charset, decode};

use super::envelope::Envelope;
use super::header::{SecurityHeader, Timestamp};
use super::replay::{ReplayCache, ReplayMemory};
use super::username::{Passwords, UsernameToken};
use crate::algorithm::Algorithms;
use crate::crypto::{AwsLc, Crypto};
use crate::limits::Limits;
use crate::trust::{Signer, Trust};
use crate::uris::{WSA, WSA_2004, WSSE};
use crate::verify::{Scope, Source, Verification, VerifiedSignature};
use crate::{DigestAlgorithm, Error, ErrorKind};

/// What a received message must have. The defaults are strict.
#[derive(Clone)]
pub struct Policy {
    trust: Option<Trust>,
    signed: Vec<Part>,
    passwords: Option<Arc<dyn Passwords>>,
    needs_timestamp: bool,
    /// How old a message may be, and how far in the future it may have been made.
    tolerance: (Duration, Duration),
    replays: Option<Arc<dyn ReplayCache>>,
    role: Option<String>,
    allows_unsigned_prefixes: bool,
    algorithms: Algorithms,
    limits: Limits,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    crypto: Arc<dyn Crypto>,
}

/// A part of a message that must be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The body.
    Body,
    /// The time stamp.
    Timestamp,
    /// The user name, if the message has one.
    Username,
    /// All header blocks of WS-Addressing that the message has.
    Addressing,
    /// All header blocks with this namespace and local name that the message has.
    Header(String, String),
}

/// A message that fulfils a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    signatures: Vec<VerifiedSignature>,
    username: Option<String>,
    /// The byte range of the body.
    body: Range<usize>,
}

impl Policy {
    fn new() -> Self {
        Policy {
            trust: None,
            signed: Vec::new(),
            passwords: None,
            needs_timestamp: false,
            tolerance: (Duration::from_secs(300), Duration::from_secs(60)),
            replays: Some(Arc::new(ReplayMemory::default())),
            role: None,
            allows_unsigned_prefixes: false,
            algorithms: Algorithms::default(),
            limits: Limits::default(),
            clock: Arc::new(SystemTime::now),
            crypto: Arc::new(AwsLc),
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
    pub fn with_password_of(passwords: impl Passwords + 'static) -> Self {
        Policy { passwords: Some(Arc::new(passwords)), ..Policy::new() }
    }

    /// Also requires the name of a user, with the right password.
    #[must_use]
    pub fn and_password_of(self, passwords: impl Passwords + 'static) -> Self {
        Policy { passwords: Some(Arc::new(passwords)), ..self }
    }

    /// Sets the parts that must be signed.
    #[must_use]
    pub fn with_signed(self, parts: impl IntoIterator<Item = Part>) -> Self {
        Policy { signed: parts.into_iter().collect(), ..self }
    }

    /// Sets whether a time stamp is required. One that is there is always checked.
    #[must_use]
    pub fn with_timestamp(self, needs_timestamp: bool) -> Self {
        Policy { needs_timestamp, ..self }
    }

    /// Sets how old a message may be, and how far in the future it may have been made according to its time. The defaults
    /// are 300 s and 60 s.
    #[must_use]
    pub fn with_tolerance(self, age: Duration, future: Duration) -> Self {
        Policy { tolerance: (age, future), ..self }
    }

    /// Sets where messages are remembered, so that nobody can send them again. With `None` they are not. Messages without a
    /// time are not, because they would have to be remembered for ever.
    #[must_use]
    pub fn with_replay_cache(self, replays: Option<Arc<dyn ReplayCache>>) -> Self {
        Policy { replays, ..self }
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

    /// Uses another cryptographic library. The default is [`AwsLc`].
    #[must_use]
    pub fn with_crypto(self, crypto: Arc<dyn Crypto>) -> Self {
        Policy { crypto, ..self }
    }

    /// Verifies a message in UTF-8, or in the encoding that it declares.
    ///
    /// # Errors
    /// The message doesn't fulfil the policy. Don't tell its sender why: that helps those who attack more than others.
    pub fn verify(&self, message: &[u8]) -> Result<Verified, Error> {
        self.verify_in(message, None)
    }

    /// Verifies a message in the charset of its media type, if there is one.
    pub(super) fn verify_in(&self, message: &[u8], charset: Option<Charset>) -> Result<Verified, Error> {
        let text = decode(message, charset)?;
        let (envelope, index) = Envelope::read(&text, self.limits)?;
        let now = (self.clock)();
        let Some(block) = envelope.security(WSSE, self.role.as_deref())? else {
            return Err(Error::new(ErrorKind::Unsigned, "the message has no <Security>"));
        };
        let mut header = SecurityHeader::read(&text, block, self.limits)?;
        self.check_timestamp(header.timestamp.as_ref(), now)?;
        let tokens = header.resolve_tokens(&index)?;
        let mut signatures = Vec::new();
        if let Some(trust) = &self.trust {
            let verification = Verification {
                algorithms: self.algorithms,
                limits: self.limits,
                crypto: &*self.crypto,
                source: Source::Message(&text, self.limits.document),
                index: &index,
                scope: Scope::Message { tokens: &tokens, allows_unsigned_prefixes: self.allows_unsigned_prefixes },
            };
            // Certificates are valid at the time of the policy's clock.
            let trust = trust.clone().unless_set_at(now);
            for (signature, range) in &header.signatures {
                signatures.push(verification.signature(range, signature, &trust)?);
            }
            self.check_signed(&envelope, &header, &signatures)?;
        }
        let username = match &self.passwords {
            None => None,
            Some(passwords) => Some(self.check_username(header.username.as_ref(), &**passwords, now)?),
        };
        self.check_replay(&header, now)?;
        Ok(Verified { signatures, username, body: envelope.body })
    }

    fn check_timestamp(&self, timestamp: Option<&Timestamp>, now: SystemTime) -> Result<(), Error> {
        let Some(Timestamp { created, expires, range }) = timestamp else {
            return match self.needs_timestamp {
                true => Err(Error::new(ErrorKind::Expired, "the message has no time stamp")),
                false => Ok(()),
            };
        };
        match created {
            Some(created) => self.check_time(created, now).map_err(|error| error.at(range.start))?,
            None => return Err(Error::new(ErrorKind::Expired, "a time stamp without <Created>").at(range.start)),
        }
        match expires {
            Some(expires) if *expires < DateTime::from(now) => {
                Err(Error::new(ErrorKind::Expired, format!("the message expired at {expires}")).at(range.start))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a moment is neither too old nor too far in the future.
    fn check_time(&self, created: &DateTime, now: SystemTime) -> Result<(), Error> {
        let (age, future) = self.tolerance;
        let is_past = |limit: Option<SystemTime>| limit.is_some_and(|limit| *created < DateTime::from(limit));
        if is_past(now.checked_sub(age)) {
            let message = format!("the message was made at {created}, more than {} s ago", age.as_secs());
            return Err(Error::new(ErrorKind::Expired, message));
        }
        if now.checked_add(future).is_some_and(|limit| *created > DateTime::from(limit)) {
            let message = format!("the message was made at {created}, more than {} s in the future", future.as_secs());
            return Err(Error::new(ErrorKind::Expired, message));
        }
        Ok(())
    }

    /// Checks that all parts that must be signed are signed, by one signer.
    fn check_signed(
        &self,
        envelope: &Envelope,
        header: &SecurityHeader,
        signatures: &[VerifiedSignature],
    ) -> Result<(), Error> {
        let mut required: Vec<(&Range<usize>, String)> = Vec::new();
        for part in &self.signed {
            match part {
                Part::Body => required.push((&envelope.body, "the body".to_owned())),
                Part::Timestamp => {
                    let timestamp = header.timestamp.iter();
                    required.extend(timestamp.map(|timestamp| (&timestamp.range, "the time stamp".to_owned())));
                }
                Part::Username => {
                    let username = header.username.iter();
                    required.extend(username.map(|(_, range)| (range, "the user name".to_owned())));
                }
                Part::Addressing => {
                    let blocks = envelope.blocks.iter();
                    let blocks = blocks.filter(|block| [WSA, WSA_2004].contains(&block.namespace.as_str()));
                    required.extend(blocks.map(|block| (&block.range, format!("the header block {}", block.local))));
                }
                Part::Header(namespace, local) => {
                    let blocks = envelope.blocks.iter();
                    let blocks = blocks.filter(|block| block.namespace == *namespace && block.local == *local);
                    required.extend(blocks.map(|block| (&block.range, format!("the header block {}", block.local))));
                }
            }
        }
        if signatures.is_empty() {
            return Err(Error::new(ErrorKind::Unsigned, "the message has no signature"));
        }
        let is_signed = |signer: &Signer, range: &Range<usize>| {
            signatures.iter().filter(|signature| signature.signer == *signer).any(|signature| signature.covers(range))
        };
        let mut missing = None;
        for signature in signatures {
            match required.iter().find(|(range, _)| !is_signed(&signature.signer, range)) {
                None => return Ok(()),
                Some((range, part)) => missing = missing.or(Some((range.start, part))),
            }
        }
        match missing {
            None => Ok(()),
            Some((offset, part)) => Err(Error::new(ErrorKind::Unsigned, format!("{part} is not signed")).at(offset)),
        }
    }

    fn check_username(
        &self,
        token: Option<&(UsernameToken, Range<usize>)>,
        passwords: &dyn Passwords,
        now: SystemTime,
    ) -> Result<String, Error> {
        let Some((token, range)) = token else {
            return Err(Error::new(ErrorKind::Unauthenticated, "the message has no user name"));
        };
        if let Some((_, created)) = &token.created {
            self.check_time(created, now).map_err(|error| error.at(range.start))?;
        }
        match token.is_right(passwords, &*self.crypto) {
            true => Ok(token.username.clone()),
            false => {
                Err(Error::new(ErrorKind::Unauthenticated, "the user name or the password is wrong").at(range.start))
            }
        }
    }

    /// Remembers the signatures, and the password digest, of a message.
    fn check_replay(&self, header: &SecurityHeader, now: SystemTime) -> Result<(), Error> {
        let Some(replays) = &self.replays else { return Ok(()) };
        let (age, future) = self.tolerance;
        let Some(until) = now.checked_add(age + future) else { return Ok(()) };
        let mut keys: Vec<Vec<u8>> = Vec::new();
        if header.timestamp.is_some() {
            keys.extend(header.signatures.iter().map(|(signature, _)| signature.value.clone()));
        }
        if let Some((UsernameToken { nonce: Some(nonce), created: Some((created, _)), username, .. }, _)) =
            &header.username
        {
            keys.push([nonce, created.as_bytes(), username.as_bytes()].join(&b'\n'));
        }
        for key in keys {
            let digest = self.crypto.digest(DigestAlgorithm::Sha256).and_then(|mut digest| {
                digest.update(&key);
                <[u8; 32]>::try_from(digest.finish()).ok()
            });
            if !digest.is_some_and(|digest| replays.is_new(digest, until, now)) {
                return Err(Error::new(ErrorKind::Replayed, "the message was received before"));
            }
        }
        Ok(())
    }
}

impl Verified {
    /// Returns the valid signatures, in document order.
    pub fn signatures(&self) -> &[VerifiedSignature] {
        &self.signatures
    }

    /// Returns who signed the body, if somebody did.
    pub fn signer(&self) -> Option<&Signer> {
        let signature = self.signatures.iter().find(|signature| signature.covers(&self.body));
        signature.map(|signature| &signature.signer)
    }

    /// Returns the name of the user whose password the message has.
    pub fn username(&self) -> Option<&str> {
        self.username.as_deref()
    }

    /// Returns whether the element with this byte range is signed. The range is that of
    /// [`HeaderBlock::bytes`](castile_soap::HeaderBlock).
    pub fn is_signed(&self, range: &Range<usize>) -> bool {
        self.signatures.iter().any(|signature| signature.covers(range))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("trust", &self.trust)
            .field("signed", &self.signed)
            .field("passwords", &self.passwords)
            .field("needs_timestamp", &self.needs_timestamp)
            .field("tolerance", &self.tolerance)
            .field("role", &self.role)
            .field("algorithms", &self.algorithms)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
