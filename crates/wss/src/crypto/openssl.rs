//! Primitives of OpenSSL that AWS-LC lacks: other curves, Ed448, DSA, and other hash functions for RSA and ECDSA.

use std::borrow::Cow;

use openssl::bn::{BigNum, BigNumContext};
use openssl::dsa::Dsa;
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Private, Public};
use openssl::rsa::{Padding, Rsa};
use openssl::sign::{RsaPssSaltlen, Signer, Verifier};
use rustls_pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id};

use super::{Crypto, Digest, KeyPair, in_der};
use crate::key::{Curve, KeyKind, PublicKey};
use crate::{DigestAlgorithm, SignatureAlgorithm};

/// Maximum length of the modulus of an RSA key, in bits.
const MAX_RSA: usize = 8192;
/// Maximum length of the exponent of an RSA key, in bytes. The work grows with it.
const MAX_EXPONENT: usize = 8;

/// The cryptographic library OpenSSL.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenSsl;

impl Crypto for OpenSsl {
    fn digest(&self, _: DigestAlgorithm) -> Option<Box<dyn Digest>> {
        None
    }

    fn hmac(&self, _: DigestAlgorithm, _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn verify(&self, algorithm: SignatureAlgorithm, key: &PublicKey, data: &[u8], signature: &[u8]) -> Option<bool> {
        use SignatureAlgorithm::{Dsa, Ecdsa, Ed448, RsaPkcs1, RsaPss};
        let signature = match (algorithm, key) {
            (RsaPkcs1(_) | RsaPss(_), PublicKey::Rsa { .. }) | (Ed448, PublicKey::Ed448(_)) => {
                Some(Cow::Borrowed(signature))
            }
            (Ecdsa(_), PublicKey::Ec { curve, .. }) => in_der(signature, curve.length()).map(Cow::Owned),
            (Dsa(_), PublicKey::Dsa { divisor, .. }) => in_der(signature, divisor.len()).map(Cow::Owned),
            _ => return None,
        };
        let is_valid = signature.zip(public_key(key)).is_some_and(|(signature, key)| {
            // It is an error, too, if the signature has a form that OpenSSL refuses.
            is_valid(algorithm, &key, data, &signature).unwrap_or(false)
        });
        Some(is_valid)
    }

    fn has(&self, kind: KeyKind) -> bool {
        match kind {
            // Some distributions leave out curves.
            KeyKind::Ec(curve) => group(curve).is_ok(),
            KeyKind::Rsa | KeyKind::Dsa | KeyKind::Ed448 => true,
            KeyKind::Ed25519 => false,
        }
    }

    fn key_pair(&self, der: &[u8]) -> Option<Box<dyn KeyPair>> {
        let key = PKey::private_key_from_pkcs8(der)
            .or_else(|_| EcKey::private_key_from_der(der).and_then(PKey::from_ec_key))
            .or_else(|_| Rsa::private_key_from_der(der).and_then(PKey::from_rsa))
            .ok()?;
        let kind = match key.id() {
            Id::RSA if (2048..=MAX_RSA).contains(&(key.bits() as usize)) => {
                key.rsa().ok()?.check_key().ok()?.then_some(KeyKind::Rsa)?
            }
            Id::EC => {
                let key = key.ec_key().ok()?;
                key.check_key().ok()?;
                let name = key.group().curve_name()?;
                KeyKind::Ec(CURVES.iter().find(|(_, nid)| *nid == name)?.0)
            }
            Id::ED448 => KeyKind::Ed448,
            _ => return None,
        };
        Some(Box::new(Pair { key, kind }))
    }

    fn certificate_algorithms(&self) -> &'static [&'static dyn SignatureVerificationAlgorithm] {
        &CERTIFICATE_ALGORITHMS
    }
}

struct Pair {
    key: PKey<Private>,
    kind: KeyKind,
}

impl KeyPair for Pair {
    fn algorithm(&self) -> SignatureAlgorithm {
        match self.kind {
            KeyKind::Ec(curve) => SignatureAlgorithm::Ecdsa(curve.digest()),
            KeyKind::Ed448 => SignatureAlgorithm::Ed448,
            _ => SignatureAlgorithm::RsaPkcs1(DigestAlgorithm::Sha256),
        }
    }

    fn public_key(&self) -> Option<Vec<u8>> {
        self.key.public_key_to_der().ok()
    }

    fn signs_by(&self, algorithm: SignatureAlgorithm) -> bool {
        use SignatureAlgorithm::{Ecdsa, Ed448, RsaPkcs1, RsaPss};
        let is_for_key = matches!(
            (self.kind, algorithm),
            (KeyKind::Rsa, RsaPkcs1(_) | RsaPss(_)) | (KeyKind::Ec(_), Ecdsa(_)) | (KeyKind::Ed448, Ed448)
        );
        is_for_key && algorithm.uri().is_some()
    }

    fn sign(&self, algorithm: SignatureAlgorithm, data: &[u8]) -> Option<Vec<u8>> {
        let signature = signature(algorithm, &self.key, data).ok()?;
        let KeyKind::Ec(curve) = self.kind else { return Some(signature) };
        let numbers = EcdsaSig::from_der(&signature).ok()?;
        let length = curve.length() as i32;
        Some([numbers.r().to_vec_padded(length).ok()?, numbers.s().to_vec_padded(length).ok()?].concat())
    }
}

/// ECDSA and DSA signatures are in DER.
fn signature(algorithm: SignatureAlgorithm, key: &PKey<Private>, data: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    let digest = algorithm.digest().map(message_digest);
    let mut signer = match digest {
        Some(digest) => Signer::new(digest, key)?,
        None => Signer::new_without_digest(key)?,
    };
    if let (SignatureAlgorithm::RsaPss(_), Some(digest)) = (algorithm, digest) {
        signer.set_rsa_padding(Padding::PKCS1_PSS)?;
        signer.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH)?;
        signer.set_rsa_mgf1_md(digest)?;
    }
    signer.sign_oneshot_to_vec(data)
}

/// ECDSA and DSA signatures are in DER.
fn is_valid(
    algorithm: SignatureAlgorithm,
    key: &PKey<Public>,
    data: &[u8],
    signature: &[u8],
) -> Result<bool, ErrorStack> {
    let digest = algorithm.digest().map(message_digest);
    let mut verifier = match digest {
        Some(digest) => Verifier::new(digest, key)?,
        None => Verifier::new_without_digest(key)?,
    };
    if let (SignatureAlgorithm::RsaPss(_), Some(digest)) = (algorithm, digest) {
        verifier.set_rsa_padding(Padding::PKCS1_PSS)?;
        verifier.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH)?;
        verifier.set_rsa_mgf1_md(digest)?;
    }
    verifier.verify_oneshot(signature, data)
}

/// Returns a key in OpenSSL's form. `None` if it can't be one, or is so long that it would cause too much work.
fn public_key(key: &PublicKey) -> Option<PKey<Public>> {
    let number = |bytes: &Vec<u8>| BigNum::from_slice(bytes).ok();
    match key {
        PublicKey::Rsa { modulus, exponent } => {
            if modulus.len() * 8 > MAX_RSA || exponent.len() > MAX_EXPONENT {
                return None;
            }
            PKey::from_rsa(Rsa::from_public_components(number(modulus)?, number(exponent)?).ok()?).ok()
        }
        PublicKey::Ec { curve, point } => PKey::from_ec_key(on_curve(*curve, point).ok()?).ok(),
        PublicKey::Dsa { modulus, divisor, generator, value } => {
            let (modulus, divisor) = (number(modulus)?, number(divisor)?);
            let key = Dsa::from_public_components(modulus, divisor, number(generator)?, number(value)?);
            PKey::from_dsa(key.ok()?).ok()
        }
        PublicKey::Ed448(key) => PKey::public_key_from_raw_bytes(key, Id::ED448).ok(),
        PublicKey::Ed25519(_) => None,
    }
}

fn on_curve(curve: Curve, point: &[u8]) -> Result<EcKey<Public>, ErrorStack> {
    let group = group(curve)?;
    let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
    EcKey::from_public_key(&group, &point)
}

const CURVES: [(Curve, Nid); 6] = [
    (Curve::P256, Nid::X9_62_PRIME256V1),
    (Curve::P384, Nid::SECP384R1),
    (Curve::P521, Nid::SECP521R1),
    (Curve::BrainpoolP256r1, Nid::BRAINPOOL_P256R1),
    (Curve::BrainpoolP384r1, Nid::BRAINPOOL_P384R1),
    (Curve::BrainpoolP512r1, Nid::BRAINPOOL_P512R1),
];

fn group(curve: Curve) -> Result<EcGroup, ErrorStack> {
    let nid = CURVES.iter().find(|(known, _)| *known == curve).map_or(Nid::UNDEF, |(_, nid)| *nid);
    EcGroup::from_curve_name(nid)
}

fn message_digest(algorithm: DigestAlgorithm) -> MessageDigest {
    match algorithm {
        DigestAlgorithm::Sha1 => MessageDigest::sha1(),
        DigestAlgorithm::Sha224 => MessageDigest::sha224(),
        DigestAlgorithm::Sha256 => MessageDigest::sha256(),
        DigestAlgorithm::Sha384 => MessageDigest::sha384(),
        DigestAlgorithm::Sha512 => MessageDigest::sha512(),
        DigestAlgorithm::Sha3_256 => MessageDigest::sha3_256(),
        DigestAlgorithm::Sha3_384 => MessageDigest::sha3_384(),
        DigestAlgorithm::Sha3_512 => MessageDigest::sha3_512(),
    }
}

/// Verifies certificates that were signed with a key on a curve that AWS-LC lacks.
#[derive(Debug)]
struct CertificateAlgorithm {
    key: (Curve, AlgorithmIdentifier),
    digest: (DigestAlgorithm, AlgorithmIdentifier),
}

// `id-ecPublicKey` with the curve (RFC 5480 §2.1.1, RFC 5639 §4.1).
const P256: (Curve, AlgorithmIdentifier) = (
    Curve::BrainpoolP256r1,
    AlgorithmIdentifier::from_slice(
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x09\x2b\x24\x03\x03\x02\x08\x01\x01\x07",
    ),
);
const P384: (Curve, AlgorithmIdentifier) = (
    Curve::BrainpoolP384r1,
    AlgorithmIdentifier::from_slice(
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x09\x2b\x24\x03\x03\x02\x08\x01\x01\x0b",
    ),
);
const P512: (Curve, AlgorithmIdentifier) = (
    Curve::BrainpoolP512r1,
    AlgorithmIdentifier::from_slice(
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x09\x2b\x24\x03\x03\x02\x08\x01\x01\x0d",
    ),
);
const SHA256: (DigestAlgorithm, AlgorithmIdentifier) = (DigestAlgorithm::Sha256, alg_id::ECDSA_SHA256);
const SHA384: (DigestAlgorithm, AlgorithmIdentifier) = (DigestAlgorithm::Sha384, alg_id::ECDSA_SHA384);
const SHA512: (DigestAlgorithm, AlgorithmIdentifier) = (DigestAlgorithm::Sha512, alg_id::ECDSA_SHA512);

static CERTIFICATE_ALGORITHMS: [&dyn SignatureVerificationAlgorithm; 9] = [
    &CertificateAlgorithm { key: P256, digest: SHA256 },
    &CertificateAlgorithm { key: P256, digest: SHA384 },
    &CertificateAlgorithm { key: P256, digest: SHA512 },
    &CertificateAlgorithm { key: P384, digest: SHA256 },
    &CertificateAlgorithm { key: P384, digest: SHA384 },
    &CertificateAlgorithm { key: P384, digest: SHA512 },
    &CertificateAlgorithm { key: P512, digest: SHA256 },
    &CertificateAlgorithm { key: P512, digest: SHA384 },
    &CertificateAlgorithm { key: P512, digest: SHA512 },
];

impl SignatureVerificationAlgorithm for CertificateAlgorithm {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.key.1
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.digest.1
    }

    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let (curve, digest) = (self.key.0, self.digest.0);
        let key = PublicKey::ec(curve, public_key).ok().and_then(|key| self::public_key(&key));
        let key = key.ok_or(InvalidSignature)?;
        match is_valid(SignatureAlgorithm::Ecdsa(digest), &key, message, signature) {
            Ok(true) => Ok(()),
            _ => Err(InvalidSignature),
        }
    }
}
