//! X.509 certificates, and the ways in which a signature identifies one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use castile_xml::excerpt;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_cert::Certificate as Parsed;
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{Decode, Encode, Reader, SliceReader, Tagged};
use x509_cert::ext::pkix::{KeyUsage, SubjectKeyIdentifier};

use crate::crypto::{self, SigningKey};
use crate::key::{self, PublicKey, without_zeros};
use crate::name::DistinguishedName;
use crate::pem::{Expected, absent, is_pkcs12};
use crate::{DigestAlgorithm, Error, ErrorKind, SignatureAlgorithm};

/// An X.509 certificate. Clones share it.
#[derive(Clone)]
pub struct Certificate(Arc<Inner>);

struct Inner {
    der: CertificateDer<'static>,
    subject: DistinguishedName,
    issuer: DistinguishedName,
    /// In network byte order, without leading zeros.
    serial: Vec<u8>,
    key_identifier: Option<Vec<u8>>,
    key: PublicKey,
    validity: (SystemTime, SystemTime),
    may_sign: bool,
    /// The digests by which signatures have described it so far. They are kept, because anybody can describe it many times.
    digests: Mutex<Vec<(DigestAlgorithm, Vec<u8>)>>,
}

impl Certificate {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not a certificate, or its key is not supported.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let unreadable = |error| Error::new(ErrorKind::Key, format!("a certificate that can't be read: {error}"));
        if is_pkcs12(der) {
            return Err(absent(der, Expected::Certificate));
        }
        let parsed = Parsed::from_der(der).map_err(unreadable)?;
        let parts = parsed.tbs_certificate();
        let identifier = parts.get_extension::<SubjectKeyIdentifier>().map_err(unreadable)?;
        let usage = parts.get_extension::<KeyUsage>().map_err(unreadable)?;
        Ok(Certificate(Arc::new(Inner {
            der: CertificateDer::from(der.to_vec()),
            subject: DistinguishedName::of(parts.subject()),
            issuer: DistinguishedName::of(parts.issuer()),
            serial: without_zeros(parts.serial_number().as_bytes()).to_vec(),
            key_identifier: identifier.map(|(_, identifier)| identifier.0.as_bytes().to_vec()),
            key: key::of_certificate(parts.subject_public_key_info())?,
            validity: (parts.validity().not_before.to_system_time(), parts.validity().not_after.to_system_time()),
            may_sign: usage.is_none_or(|(_, usage)| usage.digital_signature() || usage.non_repudiation()),
            digests: Mutex::default(),
        })))
    }

    /// Reads the first certificate in a text with PEM sections.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or it can't be read. If the file has another form, the error names the command that converts
    /// it.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        match CertificateDer::from_pem_slice(pem) {
            Ok(der) => Certificate::from_der(&der),
            Err(_) => Err(absent(pem, Expected::Certificate)),
        }
    }

    /// Reads all certificates in a text with PEM sections.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or one of them can't be read.
    pub fn from_pem_bundle(pem: &[u8]) -> Result<Vec<Self>, Error> {
        let mut certificates = Vec::new();
        for der in CertificateDer::pem_slice_iter(pem) {
            let der = der.map_err(|_| Error::new(ErrorKind::Key, "a certificate in PEM that can't be read"))?;
            certificates.push(Certificate::from_der(&der)?);
        }
        match certificates.is_empty() {
            true => Err(absent(pem, Expected::Certificate)),
            false => Ok(certificates),
        }
    }

    /// Reads the certificates of a `PkiPath` (ITU-T X.509): that of an authority is the first, and that of the owner of the
    /// key the last.
    pub(crate) fn from_path(der: &[u8], most: usize) -> Result<Vec<Self>, Error> {
        let unreadable = |error| Error::new(ErrorKind::Key, format!("a certificate path that can't be read: {error}"));
        let mut reader = SliceReader::new(der).map_err(unreadable)?;
        let path = reader.sequence(|path| {
            // All of them are read: something left would be another error than that there are too many.
            let mut encoded = Vec::new();
            while !path.is_finished() {
                encoded.push(path.tlv_bytes()?);
            }
            Ok::<_, x509_cert::der::Error>(encoded)
        });
        let path = path.map_err(unreadable)?;
        if path.len() > most {
            let message = format!("a path of more than {most} certificates, which is the limit");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        path.into_iter().map(Certificate::from_der).collect()
    }

    /// Returns the `PkiPath` of this certificate and those of its issuers, as far as they are among others.
    ///
    /// # Errors
    /// There are too many to be written.
    pub(crate) fn path(&self, others: &[Certificate]) -> Result<Vec<u8>, Error> {
        let mut path = vec![self];
        let issuer_of = |one: &Certificate, path: &[&Certificate]| {
            let mut others = others.iter().filter(|other| one.is_issued_by(other) && !path.contains(other));
            others.next().filter(|_| !one.is_issued_by(one))
        };
        while let Some(issuer) = path.last().and_then(|last| issuer_of(last, &path)) {
            path.push(issuer);
        }
        let encoded: Result<Vec<AnyRef<'_>>, _> = path.iter().rev().map(|one| AnyRef::from_der(one.der())).collect();
        let path = encoded.and_then(|encoded| encoded.to_der());
        path.map_err(|error| Error::new(ErrorKind::Key, format!("a certificate path that can't be written: {error}")))
    }

    /// Returns which of these certificates is that of a key, in whichever order they are: the one that is valid longest, if it was
    /// renewed. The first one, if the key doesn't [say](SigningKey::public_key) its public key.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if none is, or if the key is a shared secret, for which there is none.
    pub fn of_key<'c>(key: &dyn SigningKey, certificates: &'c [Certificate]) -> Result<&'c Certificate, Error> {
        if matches!(key.algorithm(), SignatureAlgorithm::Hmac(_)) {
            return Err(Error::new(
                ErrorKind::Key,
                "a certificate and a shared secret, where a private key was expected",
            ));
        }
        let of_key = match key.public_key() {
            None => certificates.first(),
            Some(public_key) => {
                let of_key = certificates.iter().filter(|one| one.public_key() == public_key);
                of_key.max_by_key(|one| one.not_after())
            }
        };
        of_key.ok_or_else(|| {
            let found = match certificates {
                [] => "no certificate".to_owned(),
                [one] => format!("the certificate of {}", excerpt(&one.subject(), 200)),
                [first, ..] => {
                    format!("{} certificates, the first of {}", certificates.len(), excerpt(&first.subject(), 200))
                }
            };
            Error::new(ErrorKind::Key, format!("{found}, where the certificate of the key that signs was expected"))
        })
    }

    /// Returns the certificate in DER.
    pub fn der(&self) -> &[u8] {
        &self.0.der
    }

    /// Returns the name of its owner, as RFC 4514 writes it.
    pub fn subject(&self) -> String {
        self.0.subject.to_string()
    }

    /// Returns the name of its issuer, as RFC 4514 writes it.
    pub fn issuer(&self) -> String {
        self.0.issuer.to_string()
    }

    /// Returns the content of the issuer's name and that of the serial number, as they are encoded (RFC 5280 §4.1.2).
    pub(crate) fn issuer_and_serial(&self) -> Option<(&[u8], &[u8])> {
        let certificate = AnyRef::from_der(self.encoded()).ok()?;
        let signed = AnyRef::decode(&mut SliceReader::new(certificate.value()).ok()?).ok()?;
        let mut fields = SliceReader::new(signed.value()).ok()?;
        let mut next = || AnyRef::decode(&mut fields).ok();
        let mut serial = next()?;
        // Certificates of version 1 don't have a version.
        if serial.tag().is_context_specific() {
            serial = next()?;
        }
        let _algorithm = next()?;
        Some((next()?.value(), serial.value()))
    }

    /// Returns its key.
    pub fn public_key(&self) -> &PublicKey {
        &self.0.key
    }

    /// Returns the serial number in decimal.
    pub fn serial_number(&self) -> String {
        decimal(&self.0.serial)
    }

    /// Returns when its validity begins.
    pub fn not_before(&self) -> SystemTime {
        self.0.validity.0
    }

    /// Returns when its validity ends.
    pub fn not_after(&self) -> SystemTime {
        self.0.validity.1
    }

    /// Returns whether its key may make signatures of content, according to `KeyUsage` (RFC 5280 §4.2.1.3).
    pub(crate) fn may_sign(&self) -> bool {
        self.0.may_sign
    }

    pub(crate) fn key_identifier(&self) -> Option<&[u8]> {
        self.0.key_identifier.as_deref()
    }

    pub(crate) fn encoded(&self) -> &CertificateDer<'static> {
        &self.0.der
    }

    pub(crate) fn is_issued_by(&self, other: &Certificate) -> bool {
        self.0.issuer == other.0.subject
    }

    pub(crate) fn is_of_owner_of(&self, other: &Certificate) -> bool {
        self.0.subject == other.0.subject
    }

    /// Whether this is the certificate that a signature describes.
    pub(crate) fn is(&self, description: &CertificateReference) -> bool {
        match description {
            CertificateReference::IssuerSerial { issuer, serial } => {
                self.serial_number() == *serial && issuer.is_same_as(&self.0.issuer)
            }
            CertificateReference::Subject(subject) => subject.is_same_as(&self.0.subject),
            CertificateReference::KeyIdentifier(identifier) => self.0.key_identifier.as_ref() == Some(identifier),
            CertificateReference::Digest(algorithm, expected) => self.has_digest(*algorithm, expected),
        }
    }

    fn has_digest(&self, algorithm: DigestAlgorithm, expected: &[u8]) -> bool {
        // Nothing panics between the changes.
        let mut digests = self.0.digests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = digests.iter().find(|(known, _)| *known == algorithm) {
            return known == expected;
        }
        let Ok(mut digest) = crypto::digest(algorithm) else { return false };
        digest.update(&self.0.der);
        let digest = digest.finish();
        let is_same = digest == expected;
        digests.push((algorithm, digest));
        is_same
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({}, serial number {})", self.0.subject, self.serial_number())
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.0.der == other.0.der
    }
}

impl Eq for Certificate {}

/// A description of a certificate that is not there itself (XML Signature §4.5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CertificateReference {
    /// The issuer, and the serial number in decimal.
    IssuerSerial {
        issuer: DistinguishedName,
        serial: String,
    },
    Subject(DistinguishedName),
    /// The value of the extension `SubjectKeyIdentifier`.
    KeyIdentifier(Vec<u8>),
    /// The digest of the certificate.
    Digest(DigestAlgorithm, Vec<u8>),
}

/// Converts a number in network byte order to decimal. Serial numbers have at most 20 bytes, and the square of that is
/// little work.
fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0_u8];
    for &byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = (value % 10) as u8;
            carry = value / 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|&digit| char::from(b'0' + digit)).collect()
}

/// Returns the certificate that issued none of the others.
pub(crate) fn leaf(certificates: &[Certificate]) -> Result<&Certificate, Error> {
    let has_issued = |one: &Certificate| certificates.iter().any(|other| other != one && other.is_issued_by(one));
    let mut leaves = certificates.iter().filter(|one| !has_issued(one));
    match (leaves.next(), leaves.next()) {
        (Some(leaf), None) => Ok(leaf),
        (Some(leaf), Some(other)) if leaf == other => Ok(leaf),
        _ => Err(Error::new(
            ErrorKind::Malformed,
            "certificates of a signature that don't form one chain, where one certificate and its issuers were expected",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for (bytes, expected) in [
            (&[][..], "0"),
            (&[7], "7"),
            (&[1, 0], "256"),
            (&[0xff; 8], "18446744073709551615"),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0], "18446744073709551616"),
        ] {
            assert_eq!(decimal(bytes), expected);
        }
    }
}
