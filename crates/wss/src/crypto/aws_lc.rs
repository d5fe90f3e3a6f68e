//! Primitives of AWS-LC.

use aws_lc_rs::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use aws_lc_rs::{digest, hmac};

use super::{Crypto, Digest};
use crate::key::{Curve, PublicKey};
use crate::{DigestAlgorithm, SignatureAlgorithm};

/// The cryptographic library AWS-LC.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AwsLc;

struct Running(digest::Context);

impl Digest for Running {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl Crypto for AwsLc {
    fn digest(&self, algorithm: DigestAlgorithm) -> Option<Box<dyn Digest>> {
        Some(Box::new(Running(digest::Context::new(match algorithm {
            DigestAlgorithm::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            DigestAlgorithm::Sha224 => &digest::SHA224,
            DigestAlgorithm::Sha256 => &digest::SHA256,
            DigestAlgorithm::Sha384 => &digest::SHA384,
            DigestAlgorithm::Sha512 => &digest::SHA512,
            DigestAlgorithm::Sha3_256 => &digest::SHA3_256,
            DigestAlgorithm::Sha3_384 => &digest::SHA3_384,
            DigestAlgorithm::Sha3_512 => &digest::SHA3_512,
        }))))
    }

    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let algorithm = match algorithm {
            DigestAlgorithm::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            DigestAlgorithm::Sha224 => hmac::HMAC_SHA224,
            DigestAlgorithm::Sha256 => hmac::HMAC_SHA256,
            DigestAlgorithm::Sha384 => hmac::HMAC_SHA384,
            DigestAlgorithm::Sha512 => hmac::HMAC_SHA512,
            _ => return None,
        };
        Some(hmac::sign(&hmac::Key::new(algorithm, secret), data).as_ref().to_vec())
    }

    fn verify(&self, algorithm: SignatureAlgorithm, key: &PublicKey, data: &[u8], signature: &[u8]) -> Option<bool> {
        match (algorithm, key) {
            (SignatureAlgorithm::RsaPkcs1(_) | SignatureAlgorithm::RsaPss(_), PublicKey::Rsa { modulus, exponent }) => {
                let components = RsaPublicKeyComponents { n: modulus, e: exponent };
                Some(components.verify(rsa(algorithm)?, data, signature).is_ok())
            }
            (SignatureAlgorithm::Ecdsa(digest), PublicKey::Ec { curve, point }) => {
                let algorithm = ecdsa(*curve, digest)?;
                let Some(signature) = asn1(signature, *curve) else { return Some(false) };
                Some(UnparsedPublicKey::new(algorithm, point).verify(data, &signature).is_ok())
            }
            (SignatureAlgorithm::Ed25519, PublicKey::Ed25519(key)) => {
                Some(UnparsedPublicKey::new(&signature::ED25519, key).verify(data, signature).is_ok())
            }
            _ => None,
        }
    }
}

/// The caller has checked the length of the key.
fn rsa(algorithm: SignatureAlgorithm) -> Option<&'static signature::RsaParameters> {
    use DigestAlgorithm::{Sha1, Sha256, Sha384, Sha512};
    use SignatureAlgorithm::{RsaPkcs1, RsaPss};
    Some(match algorithm {
        RsaPkcs1(Sha1) => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        RsaPkcs1(Sha256) => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        RsaPkcs1(Sha384) => &signature::RSA_PKCS1_2048_8192_SHA384,
        RsaPkcs1(Sha512) => &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        RsaPss(Sha256) => &signature::RSA_PSS_2048_8192_SHA256,
        RsaPss(Sha384) => &signature::RSA_PSS_2048_8192_SHA384,
        RsaPss(Sha512) => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn ecdsa(curve: Curve, digest: DigestAlgorithm) -> Option<&'static dyn VerificationAlgorithm> {
    use DigestAlgorithm::{Sha1, Sha3_384, Sha3_512, Sha224, Sha256, Sha384, Sha512};
    Some(match (curve, digest) {
        (Curve::P256, Sha1) => &signature::ECDSA_P256_SHA1_ASN1,
        (Curve::P256, Sha256) => &signature::ECDSA_P256_SHA256_ASN1,
        (Curve::P256, Sha384) => &signature::ECDSA_P256_SHA384_ASN1,
        (Curve::P256, Sha512) => &signature::ECDSA_P256_SHA512_ASN1,
        (Curve::P384, Sha256) => &signature::ECDSA_P384_SHA256_ASN1,
        (Curve::P384, Sha384) => &signature::ECDSA_P384_SHA384_ASN1,
        (Curve::P384, Sha512) => &signature::ECDSA_P384_SHA512_ASN1,
        (Curve::P384, Sha3_384) => &signature::ECDSA_P384_SHA3_384_ASN1,
        (Curve::P521, Sha1) => &signature::ECDSA_P521_SHA1_ASN1,
        (Curve::P521, Sha224) => &signature::ECDSA_P521_SHA224_ASN1,
        (Curve::P521, Sha256) => &signature::ECDSA_P521_SHA256_ASN1,
        (Curve::P521, Sha384) => &signature::ECDSA_P521_SHA384_ASN1,
        (Curve::P521, Sha512) => &signature::ECDSA_P521_SHA512_ASN1,
        (Curve::P521, Sha3_512) => &signature::ECDSA_P521_SHA3_512_ASN1,
        _ => return None,
    })
}

/// Converts the two numbers of an ECDSA signature to the form that has an algorithm for each curve and hash function. Some
/// stacks write both with more zeros, or with fewer, than the curve's length.
fn asn1(signature: &[u8], curve: Curve) -> Option<Vec<u8>> {
    let (r, s) = signature.split_at(signature.len() / 2);
    let mut numbers = Vec::with_capacity(signature.len() + 6);
    for number in [r, s] {
        let number = &number[number.iter().take_while(|&&byte| byte == 0).count()..];
        if r.len() != s.len() || number.is_empty() || number.len() > curve.length() {
            return None;
        }
        // A number whose first bit is set would be negative without a zero before it.
        let sign = usize::from(number[0] & 0x80 != 0);
        numbers.extend([0x02, (number.len() + sign) as u8]);
        numbers.extend(&[0][..sign]);
        numbers.extend(number);
    }
    let mut sequence = vec![0x30];
    if numbers.len() > 127 {
        sequence.push(0x81);
    }
    sequence.push(numbers.len() as u8);
    sequence.extend(numbers);
    Some(sequence)
}
