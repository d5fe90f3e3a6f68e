//! Whose signatures are accepted.

use std::time::{SystemTime, UNIX_EPOCH};

use castile_datatypes::DateTime;
use castile_xml::excerpt;
use rustls_pki_types::{SignatureVerificationAlgorithm, UnixTime};
use subtle::ConstantTimeEq;
use webpki::{
    CertRevocationList, EndEntityCert, ExpirationPolicy, ExtendedKeyUsageValidator, KeyPurposeIdIter,
    RevocationOptionsBuilder,
};

use crate::certificate::{Certificate, CertificateReference, leaf};
use crate::crypto::PathVerdicts;
use crate::key::{PublicKey, Secret};
use crate::revocation::{RevocationList, may_be_of_order, orders};
use crate::signature::KeyHint;
use crate::{Error, ErrorKind};

/// Maximum number of certificates for which a path to an authority is searched, for a signature.
const MAX_PATHS: usize = 2;
/// Maximum number of certificates of one owner that a message may bring. Each combination of them is tried as a path. An issuer has two
/// while its certificate is renewed.
const MAX_OF_OWNER: usize = 2;

/// The keys and certificates whose signatures are accepted. A signature says which key it was made with; it is accepted
/// only if that key is one of these, or has a certificate of one of the authorities.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    certificates: Vec<Certificate>,
    authorities: Vec<Certificate>,
    intermediates: Vec<Certificate>,
    revoked: Vec<RevocationList>,
    keys: Vec<(String, PublicKey)>,
    secrets: Vec<(String, Secret)>,
    time: Option<SystemTime>,
    is_anyone: bool,
}

/// Who made a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signer {
    /// The owner of a certificate.
    Certificate(Certificate),
    /// The owner of a public key, by the name that it has in [`Trust`].
    Key(String),
    /// Anyone: the signature brought its key, and [`Trust::with_anyone`] accepts that.
    Anyone,
    /// Someone who knows a shared secret, by the name that it has in [`Trust`].
    Secret(String),
    /// The subject of the assertion with this id, which names the key.
    Subject(String),
}

/// A key to verify a signature with.
pub(crate) enum VerifyingKey<'t> {
    Public(PublicKey),
    Secret(&'t Secret),
}

impl VerifyingKey<'_> {
    /// Returns whether both are the same key.
    pub(crate) fn is(&self, other: &VerifyingKey<'_>) -> bool {
        match (self, other) {
            (VerifyingKey::Public(one), VerifyingKey::Public(other)) => one == other,
            (VerifyingKey::Secret(one), VerifyingKey::Secret(other)) => one.bytes().ct_eq(other.bytes()).into(),
            _ => false,
        }
    }
}

impl Trust {
    /// Trusts nobody.
    #[must_use]
    pub fn new() -> Self {
        Trust::default()
    }

    /// Trusts the owners of all certificates in a text with PEM sections, whoever issued them.
    ///
    /// # Errors
    /// Those of [`Certificate::from_pem_bundle`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        Ok(Trust { certificates: Certificate::from_pem_bundle(pem)?, ..Trust::default() })
    }

    /// Trusts the owner of a certificate, whoever issued it. Its validity is checked. A signature that says nothing about its key may be of
    /// this certificate, if nothing else is trusted.
    #[must_use]
    pub fn with_certificate(mut self, certificate: Certificate) -> Self {
        self.certificates.push(certificate);
        self
    }

    /// Trusts an authority, and the owners of all certificates that it issued, directly or through others.
    #[must_use]
    pub fn with_authority(mut self, certificate: Certificate) -> Self {
        self.authorities.push(certificate);
        self
    }

    /// Adds a certificate that is not trusted by itself, but may be needed between one that a signature names and an
    /// authority, or that a signature only describes.
    #[must_use]
    pub fn with_intermediate(mut self, certificate: Certificate) -> Self {
        self.intermediates.push(certificate);
        self
    }

    /// Adds a list of revoked certificates. Once there is one, the certificate of a signature and each one between it and an
    /// authority need a list of their issuer, which must be up to date. Certificates that are trusted by themselves need none, and are
    /// refused if they are in one; neither the date nor the signature of that list is checked. If issuers have several lists, up to 8 orders of them are tried.
    #[must_use]
    pub fn with_revocation_list(mut self, list: RevocationList) -> Self {
        self.revoked.push(list);
        self
    }

    /// Trusts the owner of a public key. A signature refers to it by its `KeyName` or its value, brings a certificate with it, whoever issued
    /// that, or doesn't refer to it at all if nothing else is trusted.
    #[must_use]
    pub fn with_key(mut self, name: impl Into<String>, key: PublicKey) -> Self {
        self.keys.push((name.into(), key));
        self
    }

    /// Trusts everyone who knows a shared secret, which must not be empty. A signature refers to it by its `KeyName`, or not at all if it is the only
    /// one.
    #[must_use]
    pub fn with_secret(mut self, name: impl Into<String>, secret: Secret) -> Self {
        self.secrets.push((name.into(), secret));
        self
    }

    /// Accepts every key and certificate that a signature brings with it. That proves only that the content is what was
    /// signed, by whoever it was. It is for finding out why a signature is not valid.
    #[must_use]
    pub fn with_anyone(self) -> Self {
        Trust { is_anyone: true, ..self }
    }

    /// Checks certificates at this time, and not at the time of verification.
    #[must_use]
    pub fn with_time(mut self, time: SystemTime) -> Self {
        self.time = Some(time);
        self
    }

    /// Returns the secret of a signature with these hints. Public keys are never used as secrets.
    pub(crate) fn secret(&self, hints: &[KeyHint]) -> Result<(VerifyingKey<'_>, Signer), Error> {
        let names: Vec<&str> = hints.iter().filter_map(KeyHint::name).collect();
        let mut found = self.secrets.iter().filter(|(name, _)| names.is_empty() || names.contains(&name.as_str()));
        match (found.next(), found.next()) {
            (Some((_, secret)), None) if secret.bytes().is_empty() => {
                Err(Error::new(ErrorKind::Key, "a shared secret that is empty"))
            }
            (Some((name, secret)), None) => Ok((VerifyingKey::Secret(secret), Signer::Secret(name.clone()))),
            (Some(_), Some(_)) => Err(Error::new(
                ErrorKind::UnknownKey,
                "several secrets may have made the signature, where one was expected",
            )),
            (None, _) => Err(Error::new(ErrorKind::UnknownKey, "no secret of the signature is known")),
        }
    }

    /// Returns the trusted key of a signature with these hints.
    pub(crate) fn key(&self, hints: &[KeyHint], now: SystemTime) -> Result<(VerifyingKey<'static>, Signer), Error> {
        let mut refused = None;
        let mut checked: Vec<&Certificate> = Vec::new();
        let mut refused_before = Vec::new();
        // A signature may describe its issuers, too. They are taken for signers only if nothing else fits.
        let owners: Vec<&Certificate> = self.certificates.iter().chain(&self.intermediates).collect();
        let issuers: Vec<&Certificate> = self.authorities.iter().collect();
        for known in [owners, issuers] {
            for hint in hints {
                if let KeyHint::Certificates(certificates) = hint {
                    let leaf = leaf(certificates)?;
                    if checked.contains(&leaf) {
                        continue;
                    }
                    // Checking a path takes several operations with keys.
                    if checked.len() == MAX_PATHS {
                        let message =
                            format!("more than {MAX_PATHS} certificates that a signature may have been made with");
                        return Err(Error::new(ErrorKind::Limit, message));
                    }
                    checked.push(leaf);
                }
                match self.key_by(hint, &known, &mut refused_before, now) {
                    Ok(Some((key, signer))) => return Ok((VerifyingKey::Public(key), signer)),
                    Ok(None) => {}
                    Err(error) => refused = refused.or(Some(error)),
                }
            }
            if refused.is_some() {
                break;
            }
        }
        if let Some(error) = refused {
            return Err(error);
        }
        if hints.is_empty() {
            match (self.certificates.as_slice(), self.keys.as_slice()) {
                ([only], []) => {
                    self.check_alone(only, now)?;
                    return Ok((VerifyingKey::Public(only.public_key().clone()), Signer::Certificate(only.clone())));
                }
                ([], [(name, key)]) => return Ok((VerifyingKey::Public(key.clone()), Signer::Key(name.clone()))),
                _ => {}
            }
        }
        let unsupported = hints.iter().find_map(|hint| match hint {
            KeyHint::Unsupported(element) => Some(element),
            _ => None,
        });
        Err(match unsupported {
            Some(element) => {
                Error::new(ErrorKind::Unsupported, format!("the key is described by {element}, which is not supported"))
            }
            None => {
                let named: Vec<String> = hints.iter().filter_map(KeyHint::shown).take(2).collect();
                let named = match named.as_slice() {
                    [] => "it says nothing about its key, and not exactly one is trusted".to_owned(),
                    named => format!("it names {}", named.join(" and ")),
                };
                Error::new(ErrorKind::UnknownKey, format!("no key of the signature is known: {named}"))
            }
        })
    }

    /// Returns the trusted key of a hint. `refused_before` has the certificates that earlier hints only described.
    fn key_by<'c>(
        &self,
        hint: &KeyHint,
        known: &[&'c Certificate],
        refused_before: &mut Vec<&'c Certificate>,
        now: SystemTime,
    ) -> Result<Option<(PublicKey, Signer)>, Error> {
        match hint {
            KeyHint::Certificates(certificates) => {
                let certificate = leaf(certificates)?;
                let key = certificate.public_key();
                let signer = match self.check(certificate, certificates, now) {
                    Ok(()) => Signer::Certificate(certificate.clone()),
                    Err(error) => match self.keys.iter().find(|(_, known)| known == key) {
                        // Whoever issued a certificate for it, the key is trusted.
                        Some((name, _)) => Signer::Key(name.clone()),
                        None if self.is_anyone => Signer::Anyone,
                        None => return Err(error),
                    },
                };
                Ok(Some((key.clone(), signer)))
            }
            KeyHint::Reference(reference) => self.by_reference(reference, known, refused_before, now),
            KeyHint::Key(key) => {
                if let Some((name, key)) = self.keys.iter().find(|(_, known)| known == key) {
                    return Ok(Some((key.clone(), Signer::Key(name.clone()))));
                }
                // A renewed certificate may have the key of the old one.
                let mut refused = None;
                for known in self.certificates.iter().filter(|known| known.public_key() == key) {
                    match self.check_alone(known, now) {
                        Ok(()) => return Ok(Some((key.clone(), Signer::Certificate(known.clone())))),
                        Err(error) => refused = refused.or(Some(error)),
                    }
                }
                if let Some(error) = refused {
                    return Err(error);
                }
                Ok(self.is_anyone.then(|| (key.clone(), Signer::Anyone)))
            }
            KeyHint::Name(name) => {
                let known = self.keys.iter().find(|(known, _)| known == name);
                Ok(known.map(|(name, key)| (key.clone(), Signer::Key(name.clone()))))
            }
            // Whether somebody vouches for the subject is known to the policy of a message only.
            KeyHint::Subject { keys, .. } => {
                let key = keys.first().filter(|_| self.is_anyone);
                Ok(key.map(|key| (key.clone(), Signer::Anyone)))
            }
            // Messages replace references to tokens by the certificates of the tokens before.
            KeyHint::Token { .. } | KeyHint::Unsupported(_) => Ok(None),
        }
    }

    /// Returns the key of a certificate that is only described. Several may fit: a renewed one has the names of the old one.
    fn by_reference<'c>(
        &self,
        reference: &CertificateReference,
        known: &[&'c Certificate],
        refused_before: &mut Vec<&'c Certificate>,
        now: SystemTime,
    ) -> Result<Option<(PublicKey, Signer)>, Error> {
        let mut refused = None;
        for &certificate in known.iter().filter(|certificate| certificate.is(reference)) {
            // Checking a path takes several operations with keys, and anybody can describe a certificate many times.
            if refused_before.contains(&certificate) {
                continue;
            }
            match self.check(certificate, &[], now) {
                Ok(()) => {
                    let signer = Signer::Certificate(certificate.clone());
                    return Ok(Some((certificate.public_key().clone(), signer)));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
            refused_before.push(certificate);
        }
        refused.map_or(Ok(None), Err)
    }

    /// Checks that a certificate is trusted. `others` may be between it and an authority.
    fn check(&self, certificate: &Certificate, others: &[Certificate], now: SystemTime) -> Result<(), Error> {
        if self.certificates.contains(certificate) {
            return self.check_alone(certificate, now);
        }
        if self.authorities.contains(certificate) {
            self.check_alone(certificate, now)?;
            return check_usage(certificate);
        }
        if self.authorities.is_empty() {
            let (subject, serial) = (shown(certificate), certificate.serial_number());
            let issuer = excerpt(&certificate.issuer(), 200);
            let message = format!(
                "the certificate of {subject}, serial number {serial} by {issuer}, is not one of those that are trusted, and no authority is"
            );
            return Err(Error::new(ErrorKind::Untrusted, message));
        }
        let others = few_of_each(others)?;
        let known: Vec<&Certificate> =
            others.into_iter().chain(&self.intermediates).filter(|other| *other != certificate).collect();
        let now = self.time.unwrap_or(now);
        let untrusted = |problem| {
            let problem = self.described(certificate, &known, &problem, now);
            let message = format!("the certificate of {} is not trusted: {problem}", shown(certificate));
            Error::new(ErrorKind::Untrusted, message)
        };
        // One that was issued by another may be revoked by it.
        let anchors: Vec<_> = self
            .authorities
            .iter()
            .filter(|authority| !self.is_in_a_list(authority))
            .filter_map(|authority| webpki::anchor_from_trusted_cert(authority.encoded()).ok())
            .collect();
        let between: Vec<_> = known.iter().map(|other| other.encoded().clone()).collect();
        let end = EndEntityCert::try_from(certificate.encoded()).map_err(untrusted)?;
        let time = UnixTime::since_unix_epoch(now.duration_since(UNIX_EPOCH).unwrap_or_default());
        let verdicts = PathVerdicts::default();
        let algorithms = verdicts.algorithms();
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> = algorithms.iter().map(|one| one as _).collect();
        let verify = |lists: &[&CertRevocationList<'_>]| {
            // The builder refuses only an empty list.
            let revocation = RevocationOptionsBuilder::new(lists).ok();
            let revocation =
                revocation.map(|options| options.with_expiration_policy(ExpirationPolicy::Enforce).build());
            end.verify_for_usage(&algorithms, &anchors, &between, time, AnyUsage, revocation, None)
        };
        let parsed: Vec<_> = between.iter().filter_map(|other| EndEntityCert::try_from(other).ok()).collect();
        let is_needed = |list: &CertRevocationList<'_>| {
            std::iter::once(&end).chain(&parsed).any(|one| one.issuer() == list.issuer())
        };
        let mut orders = orders(&self.revoked, is_needed);
        let mut path = verify(&orders.next().unwrap_or_default());
        while path.as_ref().is_err_and(may_be_of_order)
            && let Some(lists) = orders.next()
        {
            path = verify(&lists);
        }
        let path = path.map_err(untrusted)?;
        // An older list may have come first.
        for (issuer, serial) in std::iter::once((end.issuer(), end.serial()))
            .chain(path.intermediate_certificates().map(|one| (one.issuer(), one.serial())))
        {
            if self.is_revoked(issuer, serial) {
                return Err(untrusted(webpki::Error::CertRevoked));
            }
        }
        check_usage(certificate)
    }

    /// Checks a certificate that is trusted by itself. It needs no list of revoked certificates, but must not be in one.
    fn check_alone(&self, certificate: &Certificate, now: SystemTime) -> Result<(), Error> {
        self.check_validity(certificate, now)?;
        if self.is_in_a_list(certificate) {
            let message = format!("the certificate of {} is revoked", shown(certificate));
            return Err(Error::new(ErrorKind::Untrusted, message));
        }
        Ok(())
    }

    /// Returns whether a certificate is in a list of revoked ones. It may have any form, as an authority may.
    fn is_in_a_list(&self, certificate: &Certificate) -> bool {
        !self.revoked.is_empty()
            && certificate.issuer_and_serial().is_none_or(|(issuer, serial)| self.is_revoked(issuer, serial))
    }

    fn is_revoked(&self, issuer: &[u8], serial: &[u8]) -> bool {
        let mut of_issuer = self.revoked.iter().map(RevocationList::list).filter(|list| list.issuer() == issuer);
        of_issuer.any(|list| list.find_serial(serial).is_ok_and(|found| found.is_some()))
    }

    /// Returns why there is no valid path from a certificate to an authority. `known` may be between.
    fn described(
        &self,
        certificate: &Certificate,
        known: &[&Certificate],
        problem: &webpki::Error,
        now: SystemTime,
    ) -> String {
        use webpki::Error::{
            CaUsedAsEndEntity, CertExpired, CertNotValidYet, CertRevoked, CrlExpired, InvalidCrlSignatureForPublicKey,
            InvalidSignatureForPublicKey, MaximumPathDepthExceeded, UnknownIssuer, UnknownRevocationStatus,
            UnsupportedCertVersion, UnsupportedSignatureAlgorithmContext,
        };
        // The library doesn't say which one it is.
        let which = |is_it: bool| if is_it { "it" } else { "one of its issuers" };
        let is_revoked = |one: &Certificate| self.is_in_a_list(one);
        match problem {
            CertExpired { .. } if certificate.not_after() < now => {
                format!("it expired at {}", DateTime::from(certificate.not_after()))
            }
            CertExpired { .. } => "one of its issuers is expired".to_owned(),
            CertNotValidYet { .. } if certificate.not_before() > now => {
                format!("it is not valid before {}", DateTime::from(certificate.not_before()))
            }
            CertNotValidYet { .. } => "one of its issuers is not valid yet".to_owned(),
            CertRevoked => format!("{} is revoked", which(is_revoked(certificate))),
            CrlExpired { .. } => "a list of revoked certificates is out of date".to_owned(),
            UnknownRevocationStatus => {
                "there is no list of revoked certificates by its issuer, or by one of its issuers".to_owned()
            }
            InvalidCrlSignatureForPublicKey => {
                "the authority that a list of revoked certificates names did not sign it".to_owned()
            }
            MaximumPathDepthExceeded => "too many certificates are between it and an authority".to_owned(),
            UnknownIssuer if self.authorities.iter().any(is_revoked) => {
                "no authority is known that issued it and is not revoked".to_owned()
            }
            UnknownIssuer => {
                let issuer = excerpt(&last_known(certificate, known).issuer(), 200);
                format!("no trusted certificate of the issuer {issuer} is known")
            }
            InvalidSignatureForPublicKey => "the authority that it names did not issue it".to_owned(),
            CaUsedAsEndEntity => "it is for issuing certificates, and it is not trusted itself".to_owned(),
            UnsupportedCertVersion => "it, or one of its issuers, is not of version 3".to_owned(),
            UnsupportedSignatureAlgorithmContext(_) => {
                "it, or one of its issuers, has a signature by an algorithm that is not supported".to_owned()
            }
            other => {
                let text = format!("{other:?}");
                text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
            }
        }
    }

    fn check_validity(&self, certificate: &Certificate, now: SystemTime) -> Result<(), Error> {
        let problem = match self.time.unwrap_or(now) {
            now if now < certificate.not_before() => "not valid yet",
            now if now > certificate.not_after() => "expired",
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::Untrusted, format!("the certificate of {} is {problem}", shown(certificate))))
    }
}

/// Returns the last certificate on the way from this one to its authority.
fn last_known<'c>(certificate: &'c Certificate, known: &[&'c Certificate]) -> &'c Certificate {
    let mut last = certificate;
    let mut left = known.to_vec();
    // Each is passed once, also where they name one another.
    while let Some(at) = left.iter().position(|other| last.is_issued_by(other)) {
        last = left.swap_remove(at);
    }
    last
}

/// Returns certificates that a message brought, each once, unless an owner has many of them.
fn few_of_each(certificates: &[Certificate]) -> Result<Vec<&Certificate>, Error> {
    let mut distinct: Vec<&Certificate> = Vec::new();
    for one in certificates {
        if distinct.contains(&one) {
            continue;
        }
        if distinct.iter().filter(|other| other.is_of_owner_of(one)).count() == MAX_OF_OWNER {
            let owner = shown(one);
            let message =
                format!("more than {MAX_OF_OWNER} certificates of {owner}, which is the limit for a signature");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        distinct.push(one);
    }
    Ok(distinct)
}

/// Checks that a certificate is for signatures of content.
fn check_usage(certificate: &Certificate) -> Result<(), Error> {
    match certificate.may_sign() {
        true => Ok(()),
        false => {
            let message = format!("the certificate of {} is not for signatures", shown(certificate));
            Err(Error::new(ErrorKind::Untrusted, message))
        }
    }
}

/// Returns the owner of a certificate, for errors.
fn shown(certificate: &Certificate) -> String {
    excerpt(&certificate.subject(), 200)
}

/// Certificates for signing messages seldom say so: key usages are for TLS, time stamps and mail.
struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, _: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "only tests come here")]

    use std::time::{Duration, Instant};

    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    /// Regression test: a certificate that a signature describes many times was checked as often.
    #[test]
    fn a_certificate_is_checked_once() {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        let certificate = Certificate::from_der(certificate.der()).unwrap();
        // Its authority is known, and did not issue it.
        let other = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = Certificate::from_der(params.self_signed(&other).unwrap().der()).unwrap();
        let trust = Trust::new().with_authority(authority).with_intermediate(certificate.clone());
        let issuer = crate::name::DistinguishedName::parse(&certificate.issuer()).unwrap();
        let serial = certificate.serial_number();
        let reference = KeyHint::Reference(CertificateReference::IssuerSerial { issuer, serial });
        let time = |hints: &[KeyHint]| {
            let elapsed = || {
                let start = Instant::now();
                let error = trust.key(hints, SystemTime::now()).err().unwrap();
                assert_eq!(error.kind(), ErrorKind::Untrusted, "{error}");
                start.elapsed()
            };
            (0..5).map(|_| elapsed()).min().unwrap_or(Duration::MAX)
        };
        let (once, often) = (time(std::slice::from_ref(&reference)), time(&vec![reference; 500]));
        assert!(often < once * 100, "{once:?}, and {often:?} for 500 descriptions");
    }
}
