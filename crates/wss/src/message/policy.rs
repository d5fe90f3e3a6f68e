//! What a received message must have.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use castile_budget::Reservation;
use castile_datatypes::DateTime;
use castile_mime::{Attachments, Packaging, Rest};
use castile_soap::{Offloading, Received};
use castile_xml::Charset;

use super::assertions::{AssertionPolicy, MAX_ONE_TIME};
use super::attachments::{ContentRules, SignedAttachments};
use super::confirmed::Confirmed;
use super::envelope::Envelope;
use super::fault::code_prefix;
use super::header::{SecurityHeader, Timestamp};
use super::memory::Reserved;
use super::part::Part;
use super::replay::{ReplayCache, ReplayMemory, remember};
use super::signed::{
    MessageSignature, Required, Signers, assertion_part, attachment_parts, check_places, check_signed,
};
use super::username::{Passwords, ReceivedUsername};
use super::verified::VerifiedMessage;
use crate::algorithm::Algorithms;
use crate::assertion::{Assertion, ConfirmationMethod, ReceivedAssertion};
use crate::crypto;
use crate::included::{Includes, PartsInside};
use crate::limits::Limits;
use crate::trust::{Signer, Trust};
use crate::uris::WSSE;
use crate::verify::{Scope, Source, Tokens, Verification, VerifiedSignature};
use crate::{DigestAlgorithm, Error, ErrorKind};

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

/// A message whose signatures are valid. Its attachments, its password, and whether it was received before, are still to be checked.
pub(super) struct Checked {
    username: Option<(ReceivedUsername, Range<usize>)>,
    signatures: Vec<VerifiedSignature>,
    /// The number of the signature that fulfils the policy.
    accepted: Option<usize>,
    /// Where the block of WS-Security begins.
    block: Option<usize>,
    attachments: SignedAttachments,
    /// Where the elements are that stand for parts, if one of them is signed.
    included: Vec<usize>,
    assertion: Option<(Assertion, ConfirmationMethod)>,
    /// The values of the verified signatures, which an answer may confirm.
    values: Vec<Vec<u8>>,
    /// What it says about the signatures of its request, if it is an answer.
    confirmed: Vec<Confirmed>,
    /// When it was made, if it says so.
    created: Option<DateTime>,
    /// What identifies it, for the replay cache.
    identity: Vec<[u8; 32]>,
    /// What identifies an assertion that may be used once.
    one_time: Option<[u8; 32]>,
    now: SystemTime,
}

impl Policy {
    fn new() -> Self {
        Policy {
            trust: None,
            signed: vec![Part::Body, Part::Timestamp, Part::Username, Part::Addressing, Part::Attachments],
            passwords: None,
            assertions: None,
            needs_security: true,
            needs_timestamp: false,
            max_age: Duration::from_secs(300),
            clock_skew: Duration::from_secs(60),
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

    /// Requires a time stamp, and nothing that proves who made the message: TLS has to tell that. It is for answers of
    /// services that check passwords. Many of them answer with a time stamp that must be understood.
    #[must_use]
    pub fn timestamped() -> Self {
        Policy { needs_timestamp: true, ..Policy::new() }
    }

    /// Requires nothing, not even a `Security`: TLS has to tell who made a message. A `Security` that is there is understood: a time
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
    /// an assertion by holder-of-key or sender-vouches. The time stamp must be signed in any case, if it is required. Without
    /// [`Part::Attachments`], attachments that no signature refers to are accepted.
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

    /// Sets how far in the future a message may have been made, according to the time that it states. The default is 60 s. An
    /// assertion is also accepted this long before its validity begins and after it ends.
    #[must_use]
    pub fn with_clock_skew(self, clock_skew: Duration) -> Self {
        Policy { clock_skew, ..self }
    }

    /// Sets where messages are remembered, so that nobody can send them again. The default is a [`ReplayMemory`]. Messages
    /// without a time are not remembered, because that would have to be for ever. Assertions that may be used once are
    /// remembered, too.
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
        self.verify_in(message, None).await
    }

    /// Verifies a message in the encoding of its media type, which takes precedence over the one that it declares (RFC 7303 §3).
    ///
    /// # Errors
    /// The message doesn't fulfil the policy.
    pub async fn verify_in(&self, message: &[u8], charset: Option<Charset>) -> Result<VerifiedMessage, Error> {
        let checked = self.check(message, charset, None, None)?;
        self.finish(checked, None, None).await
    }

    /// Verifies a message with its attachments. They are [stored](Attachments::spool) if a signature covers one of them, or if all
    /// must be signed, unless they are [streamed](Self::with_streamed_attachments), but not before the signature value is known to be right. The content of an attachment that is XML is in
    /// memory while its digest is computed.
    ///
    /// # Errors
    /// The message doesn't fulfil the policy, or its attachments can't be read or stored. Don't tell its sender why: that helps
    /// those who attack more than others.
    pub async fn verify_with_attachments(
        &self,
        message: &[u8],
        attachments: &mut Attachments,
    ) -> Result<VerifiedMessage, Error> {
        let checked = self.check(message, None, Some(Packaging::Attachments), None)?;
        self.finish(checked, Some(attachments), None).await
    }

    /// Verifies a message with MTOM, and its attachments, as [`verify_with_attachments`](Self::verify_with_attachments) does. What is
    /// signed is the message with the base64 text of the parts in place of the elements `xop:Include`. Each of these must be in the body,
    /// and the only content of its element. Read the message only if all of them are read as binary values:
    /// [`RequestMessage::require_included`](castile_soap::RequestMessage::require_included).
    ///
    /// # Errors
    /// Those of [`verify_with_attachments`](Self::verify_with_attachments).
    pub async fn verify_mtom(&self, message: &[u8], attachments: &mut Attachments) -> Result<VerifiedMessage, Error> {
        let checked = self.check(message, None, Some(Packaging::Mtom), None)?;
        self.finish(checked, Some(attachments), None).await
    }

    /// Verifies a received message with its attachments, however it is packaged, in the encoding of its media type. If a signature covers
    /// an `xop:Include`, all of them are [required](Received::required_includes) to be read as binary values.
    ///
    /// # Errors
    /// Those of [`verify_with_attachments`](Self::verify_with_attachments).
    pub async fn verify_received(&self, received: &mut Received) -> Result<VerifiedMessage, Error> {
        let Received { message, charset, packaging, attachments, required_includes, processed, .. } = received;
        let checked = self.check(message, *charset, *packaging, None)?;
        let verified = self.finish(checked, Some(attachments), None).await?;
        *required_includes = verified.included().to_vec();
        processed.extend(verified.block());
        Ok(verified)
    }

    /// Checks what takes only work: times and signatures, but not attachments. `charset` is that of the media type, if there is one.
    /// What that needs of memory is charged until it is done; what is kept of the message afterwards is charged with its attachments.
    pub(super) fn check(
        &self,
        message: &[u8],
        charset: Option<Charset>,
        packaging: Option<Packaging>,
        reservation: Option<&Arc<Reservation>>,
    ) -> Result<Checked, Error> {
        let reserved = Reserved::of(message, reservation)?;
        let text = reserved.decode(message, charset)?;
        let (envelope, index) = Envelope::read(&text, packaging, self.limits)?;
        let now = (self.clock)();
        let block = envelope.security(WSSE, self.role.as_deref())?;
        let mut header = match block {
            Some(block) => SecurityHeader::read(&text, block, self.limits)?,
            None if self.needs_security => {
                return Err(Error::new(ErrorKind::Unsecured, "the message has no <Security>"));
            }
            None => SecurityHeader::default(),
        };
        self.check_timestamp(header.timestamp.as_ref(), now)?;
        let mut tokens = header.resolve_tokens(&index)?;
        if self.assertions.as_ref().is_some_and(AssertionPolicy::allows_unsigned_prefixes) {
            tokens.decided = header.assertions.iter().map(|received| received.assertion.range.clone()).collect();
        }
        let fault_prefix = code_prefix(&text, &envelope, self.limits)?;
        let left = Cell::new(Some(self.limits.content));
        let verification = |tokens, allows_unsigned_prefixes| Verification {
            algorithms: self.algorithms,
            limits: self.limits,
            now,
            source: Source::Message(&text, self.limits.document, Some(&envelope.canonical)),
            index: &index,
            scope: Scope::Message(tokens),
            allows_unsigned_prefixes,
            fault_prefix: fault_prefix.clone(),
            parts: envelope
                .includes
                .as_ref()
                .map(|includes| PartsInside { includes, kept: Cell::new(Some(self.limits.document.message_size)) }),
            left: &left,
        };
        let no_tokens = Tokens::default();
        let vouched = self.check_assertions(&header, |allows| verification(&no_tokens, allows))?;
        let mut signatures = Vec::new();
        let (mut accepted, mut chosen) = (None, None);
        if self.trust.is_some() || self.assertions.is_some() {
            let verification = verification(&tokens, self.allows_unsigned_prefixes);
            let senders = self.assertions.as_ref().and_then(AssertionPolicy::senders);
            let signers = Signers { trusted: self.trust.as_ref(), senders, vouched: &vouched };
            for signature in &header.signatures {
                signatures.push(signers.verify(signature, &header, &verification)?);
            }
            check_places(&envelope, &header, &signatures)?;
            let mut required = self.required(&envelope, &header);
            if self.signed.contains(&Part::Attachments) {
                required.extend(attachment_parts(&signatures));
            }
            if let Some(policy) = &self.assertions {
                let (number, confirmation, confirming) =
                    self.choose_assertion(policy, &header, &vouched, &signatures, &required, now)?;
                let range = &header.assertions[number].assertion.range;
                required.extend(self.signed.contains(&Part::Assertion).then(|| assertion_part(range)));
                accepted = confirming;
                chosen = Some((number, confirmation));
            }
            if self.trust.is_some() {
                accepted = Some(check_signed(&required, &signatures)?);
            }
        }
        // Values of signatures that don't cover the body are not confirmed: an attacker could copy them into another request.
        let is_bound = signatures.iter().any(|one| one.signature.covers(&envelope.body));
        let (signatures, unverified): (Vec<VerifiedSignature>, Vec<_>) =
            signatures.into_iter().map(|one| (one.signature, one.unverified)).unzip();
        // Who reads the message must not find something else than the text that was signed.
        let includes_parts = unverified.iter().any(|one| !one.contents.is_empty());
        let included = envelope.includes.as_ref().filter(|_| includes_parts).map(Includes::offsets).unwrap_or_default();
        let signatures = named_by(
            signatures,
            chosen.and_then(|(number, _)| Some((accepted?, &header.assertions[number].assertion.id))),
        );
        let must_be_all = accepted.is_some() && self.signed.contains(&Part::Attachments);
        let rules = ContentRules { limits: self.limits, allows_unsigned_prefixes: self.allows_unsigned_prefixes };
        let attachments = SignedAttachments::new(unverified, must_be_all, rules);
        if let Some((ReceivedUsername { created: Some((_, created)), .. }, range)) = &header.username {
            self.check_time(created, now).map_err(|error| error.at(range.start))?;
        }
        let created = header.timestamp.as_ref().and_then(|timestamp| timestamp.created);
        let mut identity = Vec::new();
        // A message that was not signed has the identity of its password digest only.
        if created.is_some() {
            identity.extend(signatures.iter().map(VerifiedSignature::identity));
            // The message itself would be found to be received before.
            identity.sort_unstable();
            identity.dedup();
        }
        // All of them were verified, or none.
        let values = header.signatures.iter().map(|(signature, _)| signature.value.clone());
        let values = values.take(if is_bound { signatures.len() } else { 0 }).collect();
        let SecurityHeader { username, mut assertions, confirmed, .. } = header;
        let chosen = chosen.map(|(number, confirmation)| (assertions.swap_remove(number), confirmation));
        let one_time = chosen.as_ref().filter(|(received, _)| received.is_for_one_use).map(|(received, _)| {
            let Assertion { issuer, id, .. } = &received.assertion;
            // The length keeps an issuer and an id apart.
            sha256(format!("assertion {} {issuer} {id}", issuer.len()).as_bytes())
        });
        let assertion = chosen.map(|(received, confirmation)| (received.assertion, confirmation));
        let one_time = one_time.transpose()?;
        Ok(Checked {
            username,
            signatures,
            accepted,
            block: block.map(|block| block.range.start),
            attachments,
            included,
            assertion,
            values,
            confirmed,
            created,
            identity,
            one_time,
            now,
        })
    }

    /// Checks who made the assertions, when and for whom.
    ///
    /// # Errors
    /// There are assertions, and this policy is for messages without.
    fn check_assertions<'v>(
        &self,
        header: &SecurityHeader,
        verification: impl FnOnce(bool) -> Verification<'v>,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        match (&self.assertions, header.assertions.first()) {
            (Some(policy), _) => {
                let verification = verification(policy.allows_unsigned_prefixes());
                let check = |received: &ReceivedAssertion| {
                    let checked = policy.check(received, &verification, self.clock_skew);
                    checked.map_err(|error| error.at(received.assertion.range.start))
                };
                Ok(header.assertions.iter().map(check).collect())
            }
            (None, None) => Ok(Vec::new()),
            (None, Some(first)) => {
                let message = "an assertion in a message, which the policy has no issuers for";
                Err(Error::new(ErrorKind::Unsupported, message).at(first.assertion.range.start))
            }
        }
    }

    /// Returns the assertion that is acceptable, how its subject is confirmed, and by which signature.
    ///
    /// # Errors
    /// None is, or several are: it would not be clear for whom the message is.
    fn choose_assertion(
        &self,
        policy: &AssertionPolicy,
        header: &SecurityHeader,
        vouched: &[Result<(), Error>],
        signatures: &[MessageSignature<'_>],
        required: &[Required<'_>],
        now: SystemTime,
    ) -> Result<(usize, ConfirmationMethod, Option<usize>), Error> {
        let (mut chosen, mut refused) = (None, None);
        for (number, (received, vouched)) in header.assertions.iter().zip(vouched).enumerate() {
            let range = &received.assertion.range;
            let covers = |signature: &MessageSignature<'_>, must_cover: bool| {
                let must_cover = must_cover || self.signed.contains(&Part::Assertion);
                let assertion = must_cover.then(|| assertion_part(range));
                signature.covers(required.iter().chain(&assertion))
            };
            let confirm = |()| policy.confirm(received, signatures, covers, (now, self.clock_skew));
            let confirmed = vouched.clone().and_then(confirm);
            match confirmed {
                Ok(_) if chosen.is_some() => {
                    let message = "several assertions that are acceptable, where one was expected";
                    return Err(Error::new(ErrorKind::Assertion, message).at(range.start));
                }
                Ok((confirmation, signature)) => chosen = Some((number, confirmation, signature)),
                Err(error) => refused = refused.or(Some(error.at(range.start))),
            }
        }
        let absent = || Error::new(ErrorKind::Unauthenticated, "the message has no assertion");
        chosen.ok_or_else(|| refused.unwrap_or_else(absent))
    }

    /// Returns the limits of documents.
    pub(super) fn document_limits(&self) -> castile_xml::Limits {
        self.limits.document
    }

    /// Checks what has to be waited for: the attachments, the password, and whether the message was received before. Long work is
    /// offloaded, if it can be.
    pub(super) async fn finish(
        &self,
        checked: Checked,
        attachments: Option<&mut Attachments>,
        offload: Option<&Offloading>,
    ) -> Result<VerifiedMessage, Error> {
        let Checked {
            username: token,
            mut signatures,
            accepted,
            block,
            attachments: signed_attachments,
            included,
            assertion,
            values,
            confirmed,
            created,
            mut identity,
            one_time,
            now,
        } = checked;
        signed_attachments.verify(attachments, self.streams_attachments, offload, &mut signatures).await?;
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
        if !has_time {
            identity.clear();
        }
        if let Some(replays) = &self.replays {
            // Afterwards the message is too old, and the assertion has expired.
            let age = self.max_age.saturating_add(self.clock_skew);
            remember(&**replays, &identity, age, now).await?;
            let ends = assertion.as_ref().and_then(|(assertion, _)| assertion.not_on_or_after);
            let left = match ends.and_then(|ends| SystemTime::try_from(ends).ok()) {
                Some(ends) => ends.duration_since(now).unwrap_or_default(),
                None => MAX_ONE_TIME,
            };
            remember(&**replays, one_time.as_slice(), left.saturating_add(self.clock_skew), now).await?;
        } else if one_time.is_some() {
            let message = "an assertion for one use, and a policy that remembers nothing";
            return Err(Error::new(ErrorKind::Assertion, message));
        }
        let role = self.role.clone();
        Ok(VerifiedMessage {
            signatures,
            accepted,
            username,
            assertion,
            role,
            block,
            values,
            confirmed,
            included,
            outer: None,
        })
    }

    /// Returns once all attachments that are streamed are known to be what was signed. What nobody has read of them is read.
    pub(super) async fn verified(&self, attachments: &Rest) -> Result<(), Error> {
        Ok(attachments.inspected(self.limits.content).await?)
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

    /// Returns the parts that must be signed, without the assertion and the attachments.
    fn required<'r>(&self, envelope: &'r Envelope<'_>, header: &'r SecurityHeader) -> Vec<Required<'r>> {
        let mut required: Vec<Required<'r>> = Vec::new();
        let timestamp = header.timestamp.iter();
        let timestamp = timestamp.map(|timestamp| Required::Element(&timestamp.range, "the time stamp".to_owned()));
        if self.needs_timestamp || self.signed.contains(&Part::Timestamp) {
            required.extend(timestamp);
        }
        for part in &self.signed {
            match part {
                Part::Username => {
                    let username = header.username.iter();
                    required.extend(username.map(|(_, range)| Required::Element(range, "the user name".to_owned())));
                }
                part => {
                    let ranges = envelope.ranges(part).into_iter();
                    required.extend(ranges.map(|(range, name)| Required::Element(range, name)));
                }
            }
        }
        required
    }
}

/// Returns the signatures, of which the one with this number is by the subject of the assertion with this id. Another assertion may
/// name the same key.
fn named_by(mut signatures: Vec<VerifiedSignature>, subject: Option<(usize, &String)>) -> Vec<VerifiedSignature> {
    if let Some((number, id)) = subject
        && let Some(VerifiedSignature { signer: Signer::Subject(subject), .. }) = signatures.get_mut(number)
    {
        subject.clone_from(id);
    }
    signatures
}

fn sha256(bytes: &[u8]) -> Result<[u8; 32], Error> {
    let mut digest = crypto::digest(DigestAlgorithm::Sha256)?;
    digest.update(bytes);
    let digest = digest.finish();
    digest.try_into().map_err(|_| Error::new(ErrorKind::Crypto, "a digest of SHA-256 has another length"))
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
