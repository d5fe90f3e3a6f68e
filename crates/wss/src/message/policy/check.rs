//! Checks a received message against a policy.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use castile_budget::Reservation;
use castile_datatypes::DateTime;
use castile_mime::{Attachments, Packaging, Rest};
use castile_soap::Offloading;
use castile_xml::Charset;

use super::Policy;
use crate::assertion::{Assertion, ConfirmationMethod, ReceivedAssertion};
use crate::crypto::sha256;
use crate::included::{Includes, PartsInside};
use crate::message::assertions::{AssertionPolicy, MAX_ONE_TIME};
use crate::message::attachments::{ContentRules, SignedAttachments};
use crate::message::confirmed::Confirmed;
use crate::message::envelope::Envelope;
use crate::message::fault::code_prefix;
use crate::message::header::{SecurityHeader, Timestamp};
use crate::message::memory::Reserved;
use crate::message::part::Part;
use crate::message::replay::remember;
use crate::message::signed::{
    MessageSignature, Places, Required, Signers, assertion_part, attachment_parts, check_places, check_signed,
};
use crate::message::username::ReceivedUsername;
use crate::message::verified::VerifiedMessage;
use crate::moment::compared;
use crate::trust::Signer;
use crate::uris::WSSE;
use crate::verify::{Scope, Source, Tokens, Unverified, Verification, VerifiedSignature};
use crate::{Error, ErrorKind};

/// A message whose signatures are valid. Its attachments, its password, and whether it was received before, are still to be checked.
pub(crate) struct Checked {
    username: Option<(ReceivedUsername, Range<usize>)>,
    signatures: Vec<VerifiedSignature>,
    /// The number of the signature that fulfils the policy.
    accepted: Option<usize>,
    /// Where the block of WS-Security begins.
    block: Option<usize>,
    attachments: SignedAttachments,
    /// Where the elements are that stand for parts, if one of them is signed.
    required_includes: Vec<usize>,
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

/// The signatures of a message, all of which are valid, and what fulfils the policy.
#[derive(Default)]
struct Accepted {
    signatures: Vec<VerifiedSignature>,
    unverified: Vec<Unverified>,
    /// The number of the signature that fulfils the policy.
    number: Option<usize>,
    /// The number of the assertion that is acceptable, and how its subject is confirmed.
    assertion: Option<(usize, ConfirmationMethod)>,
}

impl Policy {
    /// Checks what takes only work: times and signatures, but not attachments. `charset` is that of the media type, if there is one.
    /// What that needs of memory is charged until it is done; what is kept of the message afterwards is charged with its attachments.
    pub(crate) fn check(
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
        let accepted = match self.trust.is_some() || self.assertions.is_some() {
            true => {
                let verification = verification(&tokens, self.allows_unsigned_prefixes);
                self.accept(&envelope, &header, &vouched, &verification)?
            }
            false => Accepted::default(),
        };
        if let Some((ReceivedUsername { created: Some((_, created)), .. }, range)) = &header.username {
            self.check_time(created, now).map_err(|error| error.at(range.start))?;
        }
        let block = block.map(|block| block.range.start);
        self.checked(&envelope, header, accepted, (block, now))
    }

    /// Verifies the signatures, and finds the one that covers all parts that must be signed, and the assertion that is acceptable.
    fn accept(
        &self,
        envelope: &Envelope<'_>,
        header: &SecurityHeader,
        vouched: &[Result<(), Error>],
        verification: &Verification<'_>,
    ) -> Result<Accepted, Error> {
        let senders = self.assertions.as_ref().and_then(AssertionPolicy::senders);
        let signers = Signers { trusted: self.trust.as_ref(), senders, vouched };
        let mut signatures = Vec::new();
        for signature in &header.signatures {
            signatures.push(signers.verify(signature, &signatures, header, verification)?);
        }
        check_places(&Places::of(envelope, header), &signatures)?;
        let mut required = self.required(envelope, header);
        if self.signed.contains(&Part::Attachments) {
            required.extend(attachment_parts(&signatures));
        }
        let (mut number, mut assertion) = (None, None);
        if let Some(policy) = &self.assertions {
            let (chosen, confirmation, confirming) =
                self.choose_assertion(policy, header, vouched, &signatures, &required, verification.now)?;
            let range = &header.assertions[chosen].assertion.range;
            required.extend(self.signed.contains(&Part::Assertion).then(|| assertion_part(range)));
            number = confirming;
            assertion = Some((chosen, confirmation));
        }
        if self.trust.is_some() {
            number = Some(check_signed(&required, &signatures)?);
        }
        let subject = assertion.and_then(|(chosen, _)| Some((number?, &header.assertions[chosen].assertion.id)));
        let (signatures, unverified) = signatures.into_iter().map(|one| (one.signature, one.unverified)).unzip();
        Ok(Accepted { signatures: named_by(signatures, subject), unverified, number, assertion })
    }

    /// Returns what is kept of a message.
    fn checked(
        &self,
        envelope: &Envelope<'_>,
        header: SecurityHeader,
        accepted: Accepted,
        (block, now): (Option<usize>, SystemTime),
    ) -> Result<Checked, Error> {
        let Accepted { signatures, unverified, number, assertion } = accepted;
        // Who reads the message must not find something else than the text that was signed.
        let includes_parts = unverified.iter().any(|one| !one.contents.is_empty());
        let required_includes =
            envelope.includes.as_ref().filter(|_| includes_parts).map(Includes::offsets).unwrap_or_default();
        let must_be_all = number.is_some() && self.signed.contains(&Part::Attachments);
        let rules = ContentRules { limits: self.limits, allows_unsigned_prefixes: self.allows_unsigned_prefixes };
        let attachments = SignedAttachments::new(unverified, must_be_all, rules);
        let created = header.timestamp.as_ref().and_then(|timestamp| timestamp.created);
        let mut identity = Vec::new();
        // A message that was not signed has the identity of its password digest only.
        if created.is_some() {
            identity.extend(signatures.iter().map(VerifiedSignature::identity));
        }
        // If none of them covers the body, an attacker could have copied them into another request.
        let is_bound = signatures.iter().any(|signature| signature.covers(&envelope.body));
        // All of them were verified, or none.
        let values = header.signatures.iter().map(|(signature, _)| signature.value.clone());
        let values = values.take(if is_bound { signatures.len() } else { 0 }).collect();
        let SecurityHeader { username, mut assertions, confirmed, .. } = header;
        let chosen = assertion.map(|(number, confirmation)| (assertions.swap_remove(number), confirmation));
        let one_time = chosen.as_ref().filter(|(received, _)| received.is_for_one_use).map(|(received, _)| {
            let Assertion { issuer, id, .. } = &received.assertion;
            // The length keeps an issuer and an id apart.
            sha256([format!("assertion {} {issuer} {id}", issuer.len()).as_bytes()])
        });
        let one_time = one_time.transpose()?;
        let assertion = chosen.map(|(received, confirmation)| (received.assertion, confirmation));
        Ok(Checked {
            username,
            signatures,
            accepted: number,
            block,
            attachments,
            required_includes,
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

    /// Checks what has to be waited for: the attachments, the password, and whether the message was received before. Long work is
    /// offloaded, if it can be.
    pub(crate) async fn finish(
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
            required_includes,
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
                identity.push(sha256([&digest[..]])?);
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
            remember(&**replays, "the message", &identity, age).await?;
            let ends = assertion.as_ref().and_then(|(assertion, _)| assertion.not_on_or_after);
            let left = match ends.and_then(|ends| SystemTime::try_from(ends).ok()) {
                Some(ends) => ends.duration_since(now).unwrap_or_default(),
                None => MAX_ONE_TIME,
            };
            let left = left.saturating_add(self.clock_skew);
            remember(&**replays, "an assertion for one use", one_time.as_slice(), left).await?;
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
            required_includes,
            outer: None,
        })
    }

    /// Returns once all attachments that are streamed are known to be what was signed. What nobody has read of them is read.
    pub(crate) async fn verified(&self, attachments: &Rest) -> Result<(), Error> {
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
                let message = format!("the message expired at {expires}: {}", compared(*expires, now));
                Err(Error::new(ErrorKind::Time, message).at(range.start))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a moment is neither too old nor too far in the future.
    fn check_time(&self, created: &DateTime, now: SystemTime) -> Result<(), Error> {
        if now.checked_sub(self.max_age).is_some_and(|limit| *created < DateTime::from(limit)) {
            let (most, ours) = (self.max_age.as_secs(), compared(*created, now));
            let message = format!("the message was made at {created}, more than {most} s ago: {ours}");
            return Err(Error::new(ErrorKind::Time, message));
        }
        if now.checked_add(self.clock_skew).is_some_and(|limit| *created > DateTime::from(limit)) {
            let (most, ours) = (self.clock_skew.as_secs(), compared(*created, now));
            let message = format!("the message was made at {created}, more than {most} s in the future: {ours}");
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
