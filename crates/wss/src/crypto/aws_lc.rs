//! Primitives of AWS-LC.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};
use aws_lc_rs::{digest, hmac};
use rustls_pki_types::SignatureVerificationAlgorithm;

use super::{Crypto, Digest, KeyPair, in_der};
use crate::key::{Curve, KeyKind, PublicKey};
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
                let is_short = key.modulus_bits().is_some_and(|(_, bits)| bits < 2048);
                Some(components.verify(rsa(algorithm, is_short)?, data, signature).is_ok())
            }
            (SignatureAlgorithm::Ecdsa(digest), PublicKey::Ec { curve, point }) => {
                let algorithm = ecdsa(*curve, digest)?;
                let Some(signature) = in_der(signature, curve.length()) else { return Some(false) };
                Some(UnparsedPublicKey::new(algorithm, point).verify(data, &signature).is_ok())
            }
            (SignatureAlgorithm::Ed25519, PublicKey::Ed25519(key)) => {
                Some(UnparsedPublicKey::new(&signature::ED25519, key).verify(data, signature).is_ok())
            }
            _ => None,
        }
    }

    fn has(&self, kind: KeyKind) -> bool {
        match kind {
            KeyKind::Rsa | KeyKind::Ed25519 => true,
            KeyKind::Ec(curve) => matches!(curve, Curve::P256 | Curve::P384 | Curve::P521),
            KeyKind::Dsa | KeyKind::Ed448 => false,
        }
    }

    fn key_pair(&self, der: &[u8]) -> Option<Box<dyn KeyPair>> {
        if let Ok(pair) = RsaKeyPair::from_pkcs8(der).or_else(|_| RsaKeyPair::from_der(der)) {
            return Some(Box::new(Pair::Rsa(pair)));
        }
        for (algorithm, curve) in [
            (&signature::ECDSA_P256_SHA256_FIXED_SIGNING, Curve::P256),
            (&signature::ECDSA_P384_SHA384_FIXED_SIGNING, Curve::P384),
            (&signature::ECDSA_P521_SHA512_FIXED_SIGNING, Curve::P521),
        ] {
            let pair = EcdsaKeyPair::from_pkcs8(algorithm, der);
            if let Ok(pair) = pair.or_else(|_| EcdsaKeyPair::from_private_key_der(algorithm, der)) {
                return Some(Box::new(Pair::Ecdsa(pair, curve)));
            }
        }
        Some(Box::new(Pair::Ed25519(Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok()?)))
    }

    fn certificate_algorithms(&self) -> &'static [&'static dyn SignatureVerificationAlgorithm] {
        webpki::ALL_VERIFICATION_ALGS
    }
}

enum Pair {
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair, Curve),
    Ed25519(Ed25519KeyPair),
}

impl KeyPair for Pair {
    fn algorithm(&self) -> SignatureAlgorithm {
        match self {
            Pair::Rsa(_) => SignatureAlgorithm::RsaPkcs1(DigestAlgorithm::Sha256),
            Pair::Ecdsa(_, curve) => SignatureAlgorithm::Ecdsa(curve.digest()),
            Pair::Ed25519(_) => SignatureAlgorithm::Ed25519,
        }
    }

    fn public_key(&self) -> Option<Vec<u8>> {
        let der: Result<PublicKeyX509Der<'_>, _> = match self {
            Pair::Rsa(pair) => pair.public_key().as_der(),
            Pair::Ecdsa(pair, _) => pair.public_key().as_der(),
            Pair::Ed25519(pair) => pair.public_key().as_der(),
        };
        Some(der.ok()?.as_ref().to_vec())
    }

    fn signs_by(&self, algorithm: SignatureAlgorithm) -> bool {
        match self {
            Pair::Rsa(_) => encoding(algorithm).is_some(),
            _ => algorithm == self.algorithm(),
        }
    }

    fn sign(&self, algorithm: SignatureAlgorithm, data: &[u8]) -> Option<Vec<u8>> {
        match self {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding(algorithm)?, &SystemRandom::new(), data, &mut signature).ok()?;
                Some(signature)
            }
            Pair::Ecdsa(pair, _) => Some(pair.sign(&SystemRandom::new(), data).ok()?.as_ref().to_vec()),
            Pair::Ed25519(pair) => Some(pair.try_sign(data).ok()?.as_ref().to_vec()),
        }
    }
}

fn encoding(algorithm: SignatureAlgorithm) -> Option<&'static dyn signature::RsaEncoding> {
    use DigestAlgorithm::{Sha256, Sha384, Sha512};
    use SignatureAlgorithm::{RsaPkcs1, RsaPss};
    Some(match algorithm {
        RsaPkcs1(Sha256) => &signature::RSA_PKCS1_SHA256,
        RsaPkcs1(Sha384) => &signature::RSA_PKCS1_SHA384,
        RsaPkcs1(Sha512) => &signature::RSA_PKCS1_SHA512,
        RsaPss(Sha256) => &signature::RSA_PSS_SHA256,
        RsaPss(Sha384) => &signature::RSA_PSS_SHA384,
        RsaPss(Sha512) => &signature::RSA_PSS_SHA512,
        _ => return None,
    })
}

/// The caller has checked the length of the key. A key of less than 2,048 bits, which an endpoint may allow, is not for each algorithm.
fn rsa(algorithm: SignatureAlgorithm, is_short: bool) -> Option<&'static signature::RsaParameters> {
    use DigestAlgorithm::{Sha1, Sha256, Sha384, Sha512};
    use SignatureAlgorithm::{RsaPkcs1, RsaPss};
    Some(match algorithm {
        RsaPkcs1(Sha1) => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        RsaPkcs1(Sha256) => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        RsaPkcs1(Sha512) => &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        _ if is_short => return None,
        RsaPkcs1(Sha384) => &signature::RSA_PKCS1_2048_8192_SHA384,
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
