//! Keys: those that verify signatures, and those that make them.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, RsaKeyPair};
use futures_util::future::{BoxFuture, ready};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use x509_cert::der::asn1::UintRef;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use crate::crypto::{CRYPTO, SigningKey};
use crate::{DigestAlgorithm, Error, ErrorKind, SignatureAlgorithm};

/// A public key. Two keys are equal if they verify the same signatures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PublicKey {
    /// A key for RSA: numbers in network byte order, without leading zeros.
    Rsa {
        /// The modulus.
        modulus: Vec<u8>,
        /// The exponent.
        exponent: Vec<u8>,
    },
    /// A key for ECDSA.
    Ec {
        /// The curve.
        curve: Curve,
        /// The point, uncompressed (SEC 1 §2.3.3).
        point: Vec<u8>,
    },
    /// A key for Ed25519.
    Ed25519([u8; 32]),
}

/// An elliptic curve of NIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Curve {
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// P-521.
    P521,
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

impl Curve {
    const ALL: [(&'static str, Curve); 3] =
        [("1.2.840.10045.3.1.7", Curve::P256), ("1.3.132.0.34", Curve::P384), ("1.3.132.0.35", Curve::P521)];

    /// Returns the curve with this object identifier, such as `1.2.840.10045.3.1.7`.
    pub fn from_oid(oid: &str) -> Option<Curve> {
        Self::ALL.iter().find(|(known, _)| *known == oid).map(|(_, curve)| *curve)
    }

    /// Returns the length in bytes of its order, and of a coordinate.
    pub(crate) fn length(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }
}

impl PublicKey {
    /// Creates an RSA key of two numbers in network byte order.
    pub fn rsa(modulus: &[u8], exponent: &[u8]) -> Self {
        let number = |bytes: &[u8]| bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..].to_vec();
        PublicKey::Rsa { modulus: number(modulus), exponent: number(exponent) }
    }

    /// Creates an ECDSA key of an uncompressed point.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if the point doesn't have the length of the curve.
    pub fn ec(curve: Curve, point: &[u8]) -> Result<Self, Error> {
        if point.len() != 1 + 2 * curve.length() || point[0] != 4 {
            let message =
                format!("a point of {} bytes, where an uncompressed one of the curve was expected", point.len());
            return Err(Error::new(ErrorKind::Key, message));
        }
        Ok(PublicKey::Ec { curve, point: point.to_vec() })
    }

    /// Reads a key in DER: a `SubjectPublicKeyInfo` (RFC 5280 §4.1.2.7).
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not one, or not a key for RSA, Ed25519, or ECDSA on one of the curves.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let info = SubjectPublicKeyInfoRef::from_der(der)
            .map_err(|error| Error::new(ErrorKind::Key, format!("a public key that can't be read: {error}")))?;
        let key = info.subject_public_key.as_bytes().unwrap_or_default();
        match info.algorithm.oid {
            RSA | RSA_PSS => {
                let numbers = SliceReader::new(key).and_then(|mut reader| {
                    reader.sequence(|reader| Ok((UintRef::decode(reader)?, UintRef::decode(reader)?)))
                });
                let (modulus, exponent) = numbers
                    .map_err(|error| Error::new(ErrorKind::Key, format!("an RSA key that can't be read: {error}")))?;
                Ok(PublicKey::rsa(modulus.as_bytes(), exponent.as_bytes()))
            }
            EC => {
                let oid =
                    info.algorithm.parameters.and_then(|parameters| parameters.decode_as::<ObjectIdentifier>().ok());
                match oid.and_then(|oid| Curve::from_oid(&oid.to_string())) {
                    Some(curve) => PublicKey::ec(curve, key),
                    None => Err(Error::new(ErrorKind::Key, "a key on a curve other than P-256, P-384 and P-521")),
                }
            }
            ED25519 => match key.try_into() {
                Ok(key) => Ok(PublicKey::Ed25519(key)),
                Err(_) => Err(Error::new(ErrorKind::Key, format!("an Ed25519 key of {} bytes, not 32", key.len()))),
            },
            other => {
                Err(Error::new(ErrorKind::Key, format!("a key for the algorithm {other}, which is not supported")))
            }
        }
    }

    /// Reads the first public key in a text with PEM sections.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or not one for RSA, Ed25519, or ECDSA on one of the curves.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem);
        Self::from_der(&der.map_err(|_| Error::new(ErrorKind::Key, "no public key in PEM was found"))?)
    }

    /// Returns the length of an RSA modulus in bits.
    pub(crate) fn rsa_bits(&self) -> Option<usize> {
        match self {
            PublicKey::Rsa { modulus, .. } => {
                let first = modulus.first().map_or(0, |first| first.leading_zeros() as usize);
                Some((modulus.len() * 8).saturating_sub(first))
            }
            _ => None,
        }
    }
}

/// A shared secret. It is overwritten when it is dropped, and never shown.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Creates a secret of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Secret(Zeroizing::new(bytes.into()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A private key in the memory of this process.
pub struct PrivateKey {
    pair: Pair,
    algorithm: SignatureAlgorithm,
}

enum Pair {
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl PrivateKey {
    /// Reads the first private key in a text with PEM sections: PKCS#8, PKCS#1 or SEC 1, not encrypted. An RSA key signs
    /// with SHA-256, and an ECDSA key with the hash function of its curve's length.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or not one for RSA, Ed25519, or ECDSA on one of the curves.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        match PrivateKeyDer::from_pem_slice(pem) {
            Ok(key) => Self::from_der(key.secret_der()),
            Err(_) if contains(pem, b"ENCRYPTED") => Err(Error::new(ErrorKind::Key, "the private key is encrypted")),
            Err(_) => Err(Error::new(ErrorKind::Key, "no private key in PEM was found")),
        }
    }

    /// Reads a private key in DER: PKCS#8, PKCS#1 or SEC 1.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not one for RSA, Ed25519, or ECDSA on one of the curves.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        use DigestAlgorithm::{Sha256, Sha384, Sha512};
        if let Ok(pair) = RsaKeyPair::from_pkcs8(der).or_else(|_| RsaKeyPair::from_der(der)) {
            return Ok(PrivateKey { pair: Pair::Rsa(pair), algorithm: SignatureAlgorithm::RsaPkcs1(Sha256) });
        }
        for (curve, digest) in [
            (&signature::ECDSA_P256_SHA256_FIXED_SIGNING, Sha256),
            (&signature::ECDSA_P384_SHA384_FIXED_SIGNING, Sha384),
            (&signature::ECDSA_P521_SHA512_FIXED_SIGNING, Sha512),
        ] {
            let pair = EcdsaKeyPair::from_pkcs8(curve, der).or_else(|_| EcdsaKeyPair::from_private_key_der(curve, der));
            if let Ok(pair) = pair {
                return Ok(PrivateKey { pair: Pair::Ecdsa(pair), algorithm: SignatureAlgorithm::Ecdsa(digest) });
            }
        }
        match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Ok(pair) => Ok(PrivateKey { pair: Pair::Ed25519(pair), algorithm: SignatureAlgorithm::Ed25519 }),
            Err(_) => Err(Error::new(
                ErrorKind::Key,
                "the private key can't be read, or is not one for RSA, Ed25519, or ECDSA on P-256, P-384 or P-521",
            )),
        }
    }

    /// Returns whether it is a key for RSA, which can sign with several algorithms.
    pub fn is_rsa(&self) -> bool {
        matches!(self.pair, Pair::Rsa(_))
    }

    /// Signs with another algorithm.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if the algorithm is not for such a key.
    pub fn with_algorithm(self, algorithm: SignatureAlgorithm) -> Result<Self, Error> {
        let is_possible = match self.pair {
            Pair::Rsa(_) => encoding(algorithm).is_some(),
            _ => algorithm == self.algorithm,
        };
        match is_possible {
            true => Ok(PrivateKey { algorithm, ..self }),
            false => Err(Error::new(ErrorKind::Key, format!("the private key can't sign by {algorithm}"))),
        }
    }

    fn signature(&self, data: &[u8]) -> Result<Vec<u8>, Error> {
        let failed = |_| Error::new(ErrorKind::Crypto, format!("signing by {} failed", self.algorithm));
        match &self.pair {
            Pair::Rsa(pair) => {
                let Some(encoding) = encoding(self.algorithm) else {
                    return Err(failed(aws_lc_rs::error::Unspecified));
                };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &SystemRandom::new(), data, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Pair::Ecdsa(pair) => Ok(pair.sign(&SystemRandom::new(), data).map_err(failed)?.as_ref().to_vec()),
            Pair::Ed25519(pair) => Ok(pair.try_sign(data).map_err(failed)?.as_ref().to_vec()),
        }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl SigningKey for PrivateKey {
    fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }

    fn sign<'a>(&'a self, data: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        Box::pin(ready(self.signature(data)))
    }
}

/// A secret signs with HMAC and SHA-256.
impl SigningKey for Secret {
    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Hmac(DigestAlgorithm::Sha256)
    }

    fn sign<'a>(&'a self, data: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        let code = Some(self.bytes()).filter(|bytes| !bytes.is_empty());
        let code = code.and_then(|secret| CRYPTO.hmac(DigestAlgorithm::Sha256, secret, data));
        Box::pin(ready(code.ok_or_else(|| Error::new(ErrorKind::Crypto, "HMAC failed, or its secret is empty"))))
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

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Returns the encoded key of a certificate.
pub(crate) fn of_certificate(info: &impl Encode) -> Result<PublicKey, Error> {
    let der = info
        .to_der()
        .map_err(|error| Error::new(ErrorKind::Key, format!("a public key that can't be read: {error}")))?;
    PublicKey::from_der(&der)
}
