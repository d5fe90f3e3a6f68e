//! Which SAML assertions are accepted (SAML Token Profile 1.1).

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use castile_datatypes::DateTime;
use castile_xml::excerpt;

use super::signed::{MessageSignature, SignatureKey, first_that_covers};
use crate::assertion::{ConfirmationMethod, ReceivedAssertion, SubjectConfirmation};
use crate::key::PublicKey;
use crate::moment::compared;
use crate::signature::Transform;
use crate::trust::Trust;
use crate::verify::{Verification, VerifiedContent};
use crate::{Error, ErrorKind};

/// How long an assertion that may be used once is remembered. One that is valid for longer is refused.
pub(super) const MAX_ONE_TIME: Duration = Duration::from_secs(86_400);

/// Which SAML assertions of others a message may have. The defaults are strict: an assertion has a valid signature of an issuer,
/// it is for this service, its time has come and not passed, and its subject signed the message (holder-of-key).
///
/// ```
/// use castile_wss::Trust;
/// use castile_wss::message::{AssertionPolicy, ConfirmationMethod, OutgoingSecurity, Policy};
///
/// # use base64::Engine;
/// # use castile_datatypes::DateTime;
/// # use castile_wss::document::{DocumentSigner, Place};
/// # use castile_wss::{Certificate, PrivateKey};
/// # fn party() -> (PrivateKey, Certificate) {
/// #     let key = rcgen::KeyPair::generate().unwrap();
/// #     let certificate = rcgen::CertificateParams::default().self_signed(&key).unwrap();
/// #     let key = PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
/// #     (key, Certificate::from_der(certificate.der()).unwrap())
/// # }
/// # async fn run() -> Result<(), castile_wss::Error> {
/// # let ((issuer_key, issuer), (key, certificate)) = (party(), party());
/// # let certificate = base64::engine::general_purpose::STANDARD.encode(certificate.der());
/// # let (now, soon) = (DateTime::now(), DateTime::from(std::time::SystemTime::now() + std::time::Duration::from_secs(60)));
/// # let assertion = format!("<a:Assertion xmlns:a='urn:oasis:names:tc:SAML:2.0:assertion' ID='_1' Version='2.0' IssueInstant='{now}'><a:Issuer>https://sts.example</a:Issuer><a:Subject><a:NameID>ann</a:NameID><a:SubjectConfirmation Method='urn:oasis:names:tc:SAML:2.0:cm:holder-of-key'><a:SubjectConfirmationData><d:KeyInfo xmlns:d='http://www.w3.org/2000/09/xmldsig#'><d:X509Data><d:X509Certificate>{certificate}</d:X509Certificate></d:X509Data></d:KeyInfo></a:SubjectConfirmationData></a:SubjectConfirmation></a:Subject><a:Conditions NotOnOrAfter='{soon}'><a:AudienceRestriction><a:Audience>urn:orders</a:Audience></a:AudienceRestriction></a:Conditions><a:AttributeStatement><a:Attribute Name='role'><a:AttributeValue>buyer</a:AttributeValue></a:Attribute></a:AttributeStatement></a:Assertion>");
/// # let signer = DocumentSigner::new(issuer_key).with_certificates(vec![issuer.clone()]).with_id_attribute("ID");
/// # let signer = signer.with_place(Place::After { namespace: None, local: "Issuer".to_owned() });
/// # let assertion = signer.sign_element(assertion.as_bytes(), "_1").await?;
/// # let message = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order/></s:Body></s:Envelope>";
/// // A client has an assertion of a token service about the owner of its key.
/// let client = OutgoingSecurity::new().with_timestamp().with_signature(key).with_key_of_subject().with_assertion(assertion);
/// let sent = client.secure(message.as_bytes()).await?;
///
/// // The service trusts the token service. It doesn't know the key.
/// let issuers = AssertionPolicy::new()
///     .with_issuer("https://sts.example", Trust::new().with_certificate(issuer))
///     .with_audience("urn:orders");
/// let verified = Policy::asserted_by(issuers).verify(&sent).await?;
///
/// let assertion = verified.assertion().expect("an assertion, which the policy requires");
/// assert_eq!(assertion.subject.name.as_deref(), Some("ann"));
/// assert!(assertion.values("role").any(|role| role == "buyer"));
/// assert_eq!(verified.confirmation_method(), Some(ConfirmationMethod::HolderOfKey));
/// # Ok(())
/// # }
/// # futures_util::FutureExt::now_or_never(run()).unwrap().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct AssertionPolicy {
    issuers: BTreeMap<String, Trust>,
    audiences: Vec<String>,
    recipients: Vec<String>,
    accepts_bearer: bool,
    senders: Option<Trust>,
    allows_unsigned_assertions: bool,
    allows_unsigned_prefixes: bool,
}

impl AssertionPolicy {
    /// Accepts no assertion yet.
    #[must_use]
    pub fn new() -> Self {
        AssertionPolicy::default()
    }

    /// Accepts assertions with exactly this `Issuer` that have a signature by one of those who are trusted for that issuer. It
    /// replaces what was set for the issuer before.
    #[must_use]
    pub fn with_issuer(mut self, name: impl Into<String>, trust: Trust) -> Self {
        self.issuers.insert(name.into(), trust);
        self
    }

    /// Adds a name of this service. An assertion that is restricted to audiences must have one of these names in each restriction.
    #[must_use]
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Also accepts bearer assertions: the sender only has the assertion. Whoever reads such a message can use the assertion,
    /// so that it needs TLS. No signature of the message is required for it, unless the policy requires one anyway.
    #[must_use]
    pub fn with_bearer(self) -> Self {
        AssertionPolicy { accepts_bearer: true, ..self }
    }

    /// Adds an address of this service. The confirmation of a bearer must then have one of these as its `Recipient`. Without it,
    /// a confirmation that has a `Recipient` is refused.
    #[must_use]
    pub fn with_recipient(mut self, recipient: impl Into<String>) -> Self {
        self.recipients.push(recipient.into());
        self
    }

    /// Also accepts assertions that the sender of a message vouches for: one of those who are trusted signed the message, and the
    /// assertion with it, directly or by the STR-Transform.
    #[must_use]
    pub fn with_sender_vouches(self, senders: Trust) -> Self {
        AssertionPolicy { senders: Some(senders), ..self }
    }

    /// Accepts assertions without a signature of their issuer, if a sender vouches for them. The sender can then say everything,
    /// in the name of each issuer of this policy.
    #[must_use]
    pub fn with_unsigned_assertions(self) -> Self {
        AssertionPolicy { allows_unsigned_assertions: true, ..self }
    }

    /// Accepts assertions with values that use a prefix whose declaration is not signed, such as `xsi:type="xs:string"`. It is for
    /// issuers that omit the `PrefixList` of exclusive canonicalization. The texts of an [`Assertion`](super::Assertion) don't
    /// depend on prefixes.
    #[must_use]
    pub fn with_unsigned_prefixes(self) -> Self {
        AssertionPolicy { allows_unsigned_prefixes: true, ..self }
    }

    pub(super) fn allows_unsigned_prefixes(&self) -> bool {
        self.allows_unsigned_prefixes
    }

    /// Returns who may vouch for others.
    pub(super) fn senders(&self) -> Option<&Trust> {
        self.senders.as_ref()
    }

    /// Checks who made an assertion, when and for whom. How its subject is confirmed is not checked here.
    pub(super) fn check(
        &self,
        received: &ReceivedAssertion,
        verification: &Verification<'_>,
        clock_skew: Duration,
    ) -> Result<(), Error> {
        let assertion = &received.assertion;
        self.check_signature(received, verification)?;
        let failed = |message: String| Err(Error::new(ErrorKind::Assertion, message));
        if let Some(condition) = &received.unknown_condition {
            return failed(format!("an assertion with the condition <{condition}>, which is not supported"));
        }
        let is_ours = |audiences: &Vec<String>| audiences.iter().any(|audience| self.audiences.contains(audience));
        if let Some(others) = assertion.audiences.iter().find(|audiences| !is_ours(audiences)) {
            let shown = others.first().map_or_else(String::new, |first| excerpt(first, 200));
            return failed(format!("an assertion for the audience \"{shown}\", which this service is not"));
        }
        let now = verification.now;
        if now.checked_add(clock_skew).is_some_and(|latest| assertion.issued > DateTime::from(latest)) {
            let ours = compared(assertion.issued, now);
            let message = format!("an assertion was issued at {}, which has not come: {ours}", assertion.issued);
            return Err(Error::new(ErrorKind::Time, message));
        }
        check_period("an assertion", assertion.not_before, assertion.not_on_or_after, now, clock_skew)?;
        if !received.confirmations.iter().any(|one| one.not_on_or_after.is_some())
            && assertion.not_on_or_after.is_none()
        {
            let message = "an assertion without NotOnOrAfter, which would be valid for ever";
            return Err(Error::new(ErrorKind::Time, message));
        }
        let ends_soon = |end: DateTime| now.checked_add(MAX_ONE_TIME).is_some_and(|limit| end <= DateTime::from(limit));
        if received.is_for_one_use && !assertion.not_on_or_after.is_some_and(ends_soon) {
            let seconds = MAX_ONE_TIME.as_secs();
            return failed(format!("an assertion for one use that doesn't end within {seconds} s"));
        }
        Ok(())
    }

    /// Checks the signature of the issuer, which is over exactly this assertion (SAML Core 1.1 §5.4, 2.0 §5.4).
    fn check_signature(&self, received: &ReceivedAssertion, verification: &Verification<'_>) -> Result<(), Error> {
        let assertion = &received.assertion;
        let Some(trust) = self.issuers.get(&assertion.issuer) else {
            let message = format!("the issuer \"{}\" of an assertion is not trusted", excerpt(&assertion.issuer, 200));
            return Err(Error::new(ErrorKind::Untrusted, message));
        };
        let Some((signature, range)) = &received.signature else {
            return match self.allows_unsigned_assertions {
                true => Ok(()),
                false => Err(Error::new(ErrorKind::Unsigned, "an assertion without a signature of its issuer")),
            };
        };
        let is_whole = signature.references.len() == 1
            && signature.references.iter().all(|reference| {
                let transforms = reference.transforms.as_slice();
                let uri = reference.uri.as_deref().and_then(|uri| uri.strip_prefix('#'));
                matches!(transforms, [Transform::Enveloped] | [Transform::Enveloped, Transform::Canonical(_)])
                    && uri == Some(&assertion.id)
            });
        if !is_whole {
            let message = "the signature of an assertion is not an enveloped one that refers to its id";
            return Err(Error::new(ErrorKind::Reference, message).at(range.start));
        }
        let verified = verification.signature(range, signature, trust);
        let verified = verified.map_err(|error| error.within("the signature of an assertion"))?;
        let expected = VerifiedContent::Element { range: assertion.range.clone(), without: Some(range.clone()) };
        match verified.references.as_slice() {
            [reference] if reference.content == expected => Ok(()),
            _ => {
                let message = "the signature of an assertion is over something else";
                Err(Error::new(ErrorKind::Reference, message).at(range.start))
            }
        }
    }

    /// Returns how the subject of an assertion is confirmed, and the number of the signature that does it. `covers` says whether a
    /// signature covers what the policy requires, and the assertion if that is asked for. One confirmation is enough (SAML Core
    /// 2.0 §2.4.1).
    pub(super) fn confirm(
        &self,
        received: &ReceivedAssertion,
        signatures: &[MessageSignature<'_>],
        covers: impl Fn(&MessageSignature<'_>, bool) -> Result<(), Error>,
        (now, clock_skew): (SystemTime, Duration),
    ) -> Result<(ConfirmationMethod, Option<usize>), Error> {
        let mut refused = None;
        for one in &received.confirmations {
            match self.confirm_by(received, one, signatures, &covers, (now, clock_skew)) {
                Ok(confirmed) => return Ok(confirmed),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| {
            Error::new(
                ErrorKind::Assertion,
                "an assertion whose subject can't be confirmed, since it has no confirmation",
            )
        }))
    }

    fn confirm_by(
        &self,
        received: &ReceivedAssertion,
        one: &SubjectConfirmation,
        signatures: &[MessageSignature<'_>],
        covers: &impl Fn(&MessageSignature<'_>, bool) -> Result<(), Error>,
        (now, clock_skew): (SystemTime, Duration),
    ) -> Result<(ConfirmationMethod, Option<usize>), Error> {
        let failed = |message: String| Err(Error::new(ErrorKind::Assertion, message));
        let method = match &one.method {
            Ok(method) => *method,
            Err(uri) => {
                return failed(format!("the confirmation method \"{}\" is not supported", excerpt(uri, 100)));
            }
        };
        if received.signature.is_none() && method != ConfirmationMethod::SenderVouches {
            return Err(Error::new(ErrorKind::Unsigned, "an assertion without a signature of its issuer"));
        }
        if let Some(restriction) = &one.unchecked {
            return failed(format!(
                "the confirmation of a subject is restricted by {restriction}, which is not supported"
            ));
        }
        check_period("the confirmation of a subject", one.not_before, one.not_on_or_after, now, clock_skew)?;
        if received.assertion.not_on_or_after.or(one.not_on_or_after).is_none() {
            let message = "the confirmation of a subject without NotOnOrAfter, which would be valid for ever";
            return Err(Error::new(ErrorKind::Time, message));
        }
        match &one.recipient {
            Some(recipient) if !self.recipients.contains(recipient) => {
                let shown = excerpt(recipient, 200);
                return failed(format!("an assertion for the recipient \"{shown}\", which this service is not"));
            }
            None if method == ConfirmationMethod::Bearer && !self.recipients.is_empty() => {
                return failed("a bearer assertion without Recipient".to_owned());
            }
            _ => {}
        }
        let first = |is_wanted: &dyn Fn(&SignatureKey<'_>) -> bool, with_assertion: bool, absent: &'static str| {
            let wanted = signatures.iter().enumerate().filter(|(_, one)| is_wanted(&one.key));
            let found = first_that_covers(wanted, |one| covers(one, with_assertion));
            let found = found.unwrap_or_else(|| Err(Error::new(ErrorKind::Assertion, absent)));
            Ok((method, Some(found?)))
        };
        match method {
            ConfirmationMethod::Bearer if self.accepts_bearer => Ok((method, None)),
            ConfirmationMethod::HolderOfKey => {
                let keys: Vec<PublicKey> = one.keys().collect();
                if keys.is_empty() {
                    return failed("the key of the subject is described in a way that is not supported".to_owned());
                }
                let absent = "no signature of the message was made with the key of the assertion's subject";
                first(&|key| key.is_one_of(&keys), false, absent)
            }
            ConfirmationMethod::SenderVouches if self.senders.is_some() => {
                first(&|key| key.is_sender, true, "no sender who is trusted for that vouches for the assertion")
            }
            _ => failed(format!("an assertion whose subject is confirmed by {}, which is not accepted", method.name())),
        }
    }
}

/// Checks that a period has begun and not ended.
fn check_period(
    what: &str,
    begins: Option<DateTime>,
    ends: Option<DateTime>,
    now: SystemTime,
    clock_skew: Duration,
) -> Result<(), Error> {
    let failed = |message: String| Err(Error::new(ErrorKind::Time, message));
    let latest = now.checked_add(clock_skew).map(DateTime::from);
    if let Some(begins) = begins.filter(|begins| latest.is_some_and(|latest| *begins > latest)) {
        return failed(format!("{what} is valid from {begins} on, which has not come: {}", compared(begins, now)));
    }
    let earliest = now.checked_sub(clock_skew).map(DateTime::from);
    if let Some(ends) = ends.filter(|ends| earliest.is_some_and(|earliest| *ends <= earliest)) {
        return failed(format!("{what} was valid until {ends}: {}", compared(ends, now)));
    }
    Ok(())
}
