//! Keys: those that verify signatures, and those that make them.

use std::fmt;

use futures_util::future::{BoxFuture, ready};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use x509_cert::der::asn1::{AnyRef, ContextSpecific, OctetStringRef, UintRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{self, Decode, Encode, Reader, SliceReader, Tag, TagNumber, Tagged};
use x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use zeroize::Zeroizing;

use crate::crypto::{self, KeyPair, LACKING, SigningKey};
use crate::pem::{Expected, absent, is_pkcs12};
use crate::{Algorithms, DigestAlgorithm, Error, ErrorKind, SignatureAlgorithm};

/// A public key. Two keys are equal if their numbers are written equally: read keys have no leading zeros.
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
    /// A key for DSA: numbers in network byte order, without leading zeros.
    Dsa {
        /// The prime modulus, which is called p.
        modulus: Vec<u8>,
        /// The prime divisor, which is called q.
        divisor: Vec<u8>,
        /// The generator, which is called g.
        generator: Vec<u8>,
        /// The key itself, which is called y.
        value: Vec<u8>,
    },
    /// A key for Ed25519.
    Ed25519([u8; 32]),
    /// A key for Ed448.
    Ed448([u8; 57]),
}

/// An elliptic curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Curve {
    /// P-256 of NIST.
    P256,
    /// P-384 of NIST.
    P384,
    /// P-521 of NIST.
    P521,
    /// brainpoolP256r1 (RFC 5639), which needs the feature `openssl`.
    BrainpoolP256r1,
    /// brainpoolP384r1, which needs the feature `openssl`.
    BrainpoolP384r1,
    /// brainpoolP512r1, which needs the feature `openssl`.
    BrainpoolP512r1,
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Rsa,
    Ec(Curve),
    Dsa,
    Ed25519,
    Ed448,
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const DSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10040.4.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const ED448: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.113");

/// Maximum length of the modulus of a DSA key, in bits (FIPS 186-4 §4.2).
const MAX_DSA: usize = 3072;

impl Curve {
    const ALL: [(&'static str, Curve); 6] = [
        ("1.2.840.10045.3.1.7", Curve::P256),
        ("1.3.132.0.34", Curve::P384),
        ("1.3.132.0.35", Curve::P521),
        ("1.3.36.3.3.2.8.1.1.7", Curve::BrainpoolP256r1),
        ("1.3.36.3.3.2.8.1.1.11", Curve::BrainpoolP384r1),
        ("1.3.36.3.3.2.8.1.1.13", Curve::BrainpoolP512r1),
    ];

    /// Returns the curve with this object identifier, such as `1.2.840.10045.3.1.7`.
    pub fn from_oid(oid: &str) -> Option<Curve> {
        Self::ALL.iter().find(|(known, _)| *known == oid).map(|(_, curve)| *curve)
    }

    /// Returns the length in bytes of its order, and of a coordinate.
    pub(crate) fn length(self) -> usize {
        match self {
            Curve::P256 | Curve::BrainpoolP256r1 => 32,
            Curve::P384 | Curve::BrainpoolP384r1 => 48,
            Curve::P521 => 66,
            Curve::BrainpoolP512r1 => 64,
        }
    }

    /// Returns the hash function that is as strong as the curve.
    pub(crate) fn digest(self) -> DigestAlgorithm {
        match self {
            Curve::P256 | Curve::BrainpoolP256r1 => DigestAlgorithm::Sha256,
            Curve::P384 | Curve::BrainpoolP384r1 => DigestAlgorithm::Sha384,
            Curve::P521 | Curve::BrainpoolP512r1 => DigestAlgorithm::Sha512,
        }
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Curve::P256 => "P-256",
            Curve::P384 => "P-384",
            Curve::P521 => "P-521",
            Curve::BrainpoolP256r1 => "brainpoolP256r1",
            Curve::BrainpoolP384r1 => "brainpoolP384r1",
            Curve::BrainpoolP512r1 => "brainpoolP512r1",
        })
    }
}

impl KeyKind {
    /// Returns what keys with this identifier are for.
    fn of(algorithm: AlgorithmIdentifierRef<'_>) -> Result<Self, Error> {
        let unsupported = |what| Err(Error::new(ErrorKind::Key, format!("a key {what}, which is not supported")));
        match algorithm.oid {
            RSA | RSA_PSS => KeyKind::Rsa.supported(),
            EC => match algorithm.parameters.and_then(|parameters| parameters.decode_as::<ObjectIdentifier>().ok()) {
                None => unsupported("on a curve without a name".to_owned()),
                Some(oid) => match Curve::from_oid(&oid.to_string()) {
                    None => unsupported(format!("on the curve {oid}")),
                    Some(curve) => KeyKind::Ec(curve).supported(),
                },
            },
            DSA => KeyKind::Dsa.supported(),
            ED25519 => KeyKind::Ed25519.supported(),
            ED448 => KeyKind::Ed448.supported(),
            other => unsupported(format!("for the algorithm {other}")),
        }
    }

    fn supported(self) -> Result<Self, Error> {
        match crypto::has(self) {
            true => Ok(self),
            false => Err(Error::new(ErrorKind::Key, format!("a key for {self}, {LACKING}"))),
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyKind::Rsa => f.write_str("RSA"),
            KeyKind::Ec(curve) => write!(f, "ECDSA on {curve}"),
            KeyKind::Dsa => f.write_str("DSA"),
            KeyKind::Ed25519 => f.write_str("Ed25519"),
            KeyKind::Ed448 => f.write_str("Ed448"),
        }
    }
}

impl PublicKey {
    /// Creates an RSA key of two numbers in network byte order.
    pub fn rsa(modulus: &[u8], exponent: &[u8]) -> Self {
        PublicKey::Rsa { modulus: number(modulus), exponent: number(exponent) }
    }

    /// Creates an ECDSA key of an uncompressed point.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if the point doesn't have the length of the curve, or the curve needs a feature that is off.
    pub fn ec(curve: Curve, point: &[u8]) -> Result<Self, Error> {
        KeyKind::Ec(curve).supported()?;
        if point.len() != 1 + 2 * curve.length() || point[0] != 4 {
            let message =
                format!("a point of {} bytes, where an uncompressed one of the curve was expected", point.len());
            return Err(Error::new(ErrorKind::Key, message));
        }
        Ok(PublicKey::Ec { curve, point: point.to_vec() })
    }

    /// Creates a DSA key of numbers in network byte order: p, q, g and y.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it doesn't have the lengths of a DSA key, or the feature `openssl` is off.
    pub fn dsa(modulus: &[u8], divisor: &[u8], generator: &[u8], value: &[u8]) -> Result<Self, Error> {
        KeyKind::Dsa.supported()?;
        let [modulus, divisor, generator, value] = [modulus, divisor, generator, value].map(number);
        let lengths = (bits(&modulus), bits(&divisor));
        if lengths.0 > MAX_DSA || ![160, 224, 256].contains(&lengths.1) {
            let message = format!(
                "a DSA key of {} bits with a divisor of {} bits, where at most {MAX_DSA} and 160, 224 or 256 were expected",
                lengths.0, lengths.1
            );
            return Err(Error::new(ErrorKind::Key, message));
        }
        Ok(PublicKey::Dsa { modulus, divisor, generator, value })
    }

    /// Reads a key in DER: a `SubjectPublicKeyInfo` (RFC 5280 §4.1.2.7).
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not one, or not a key for RSA, Ed25519, Ed448, DSA, or ECDSA on one of the curves.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let unreadable = |error| Error::new(ErrorKind::Key, format!("a public key that can't be read: {error}"));
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(unreadable)?;
        let key = info.subject_public_key.as_bytes().unwrap_or_default();
        let kind = KeyKind::of(info.algorithm)?;
        let raw = |_| Error::new(ErrorKind::Key, format!("a key of {} bytes, which is not one for {kind}", key.len()));
        match kind {
            KeyKind::Rsa => {
                let [modulus, exponent] = numbers(key).map_err(unreadable)?;
                Ok(PublicKey::rsa(modulus, exponent))
            }
            KeyKind::Ec(curve) => PublicKey::ec(curve, key),
            KeyKind::Dsa => {
                let Some(parameters) = info.algorithm.parameters else {
                    return Err(Error::new(ErrorKind::Key, "a DSA key without parameters"));
                };
                let parameters = parameters.to_der().map_err(unreadable)?;
                let [modulus, divisor, generator] = numbers(&parameters).map_err(unreadable)?;
                let value = UintRef::from_der(key).map_err(unreadable)?;
                PublicKey::dsa(modulus, divisor, generator, value.as_bytes())
            }
            KeyKind::Ed25519 => Ok(PublicKey::Ed25519(key.try_into().map_err(raw)?)),
            KeyKind::Ed448 => Ok(PublicKey::Ed448(key.try_into().map_err(raw)?)),
        }
    }

    /// Reads the first public key in a text with PEM sections.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or not one for RSA, Ed25519, Ed448, DSA, or ECDSA on one of the curves.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        match SubjectPublicKeyInfoDer::from_pem_slice(pem) {
            Ok(der) => Self::from_der(&der),
            Err(_) => Err(absent(pem, Expected::PublicKey)),
        }
    }

    /// Returns the length in bits of the modulus of an RSA or DSA key, with the name of the algorithm.
    pub(crate) fn modulus_bits(&self) -> Option<(KeyKind, usize)> {
        match self {
            PublicKey::Rsa { modulus, .. } => Some((KeyKind::Rsa, bits(modulus))),
            PublicKey::Dsa { modulus, .. } => Some((KeyKind::Dsa, bits(modulus))),
            _ => None,
        }
    }
}

/// Returns a number in network byte order without leading zeros.
pub(crate) fn without_zeros(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|&&byte| byte == 0).count()..]
}

fn number(bytes: &[u8]) -> Vec<u8> {
    without_zeros(bytes).to_vec()
}

/// Returns the length in bits of a number without leading zero bytes.
fn bits(number: &[u8]) -> usize {
    let first = number.first().map_or(0, |first| first.leading_zeros() as usize);
    (number.len() * 8).saturating_sub(first)
}

/// Reads a sequence of numbers in DER.
fn numbers<const N: usize>(der: &[u8]) -> Result<[&[u8]; N], der::Error> {
    SliceReader::new(der)?.sequence(|reader| {
        let mut numbers = [&[][..]; N];
        for number in &mut numbers {
            *number = UintRef::decode(reader)?.as_bytes();
        }
        Ok(numbers)
    })
}

/// Returns what a private key in PKCS#8 or SEC 1 is for.
fn algorithm_of_private_key(der: &[u8]) -> Result<AlgorithmIdentifierRef<'_>, der::Error> {
    SliceReader::new(der)?.sequence(|reader| {
        u8::decode(reader)?;
        let first = AnyRef::decode(reader)?;
        let algorithm = match first.tag() {
            Tag::Sequence => first.decode_as()?,
            // SEC 1 has the key there, and then the curve.
            _ => {
                let curve = ContextSpecific::<AnyRef<'_>>::decode_explicit(reader, TagNumber(0))?;
                AlgorithmIdentifierRef { oid: EC, parameters: curve.map(|curve| curve.value) }
            }
        };
        while !reader.is_finished() {
            reader.tlv_bytes()?;
        }
        Ok(algorithm)
    })
}

/// Returns the length in bits of the modulus of a private key for RSA in PKCS#8 or PKCS#1.
fn bits_of_rsa(der: &[u8]) -> Option<usize> {
    let of_pkcs1 = |der: &[u8]| {
        let mut modulus = 0;
        // What follows the modulus is not read, which is an error.
        let _ = SliceReader::new(der).ok()?.sequence(|reader| {
            u8::decode(reader)?;
            modulus = bits(UintRef::decode(reader)?.as_bytes());
            Ok::<_, der::Error>(())
        });
        (modulus > 0).then_some(modulus)
    };
    let mut inside = None;
    let _ = SliceReader::new(der).ok()?.sequence(|reader| {
        u8::decode(reader)?;
        AlgorithmIdentifierRef::decode(reader)?;
        inside = of_pkcs1(<&OctetStringRef>::decode(reader)?.as_bytes());
        Ok::<_, der::Error>(())
    });
    inside.or_else(|| of_pkcs1(der))
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
    /// One for each library that can use it, and at least one.
    pairs: Vec<Box<dyn KeyPair>>,
    algorithm: SignatureAlgorithm,
    public: Option<PublicKey>,
}

impl PrivateKey {
    /// Reads the first private key in a text with PEM sections: PKCS#8, PKCS#1 or SEC 1, not encrypted. An RSA key signs
    /// with SHA-256, and an ECDSA key with the hash function of its curve's length.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or not one for RSA, Ed25519, Ed448, or ECDSA on one of the curves. If the file has another
    /// form, the error names the command that converts it.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        match PrivateKeyDer::from_pem_slice(pem) {
            Ok(key) => Self::from_der(key.secret_der()),
            Err(_) => Err(absent(pem, Expected::PrivateKey)),
        }
    }

    /// Reads a private key in DER: PKCS#8, PKCS#1 or SEC 1.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not one for RSA, Ed25519, Ed448, or ECDSA on one of the curves.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let pairs = crypto::key_pairs(der);
        match pairs.first() {
            Some(pair) => {
                let public = pair.public_key().and_then(|der| PublicKey::from_der(&der).ok());
                Ok(PrivateKey { algorithm: pair.algorithm(), public, pairs })
            }
            None if is_pkcs12(der) => Err(absent(der, Expected::PrivateKey)),
            None => {
                if let Ok(algorithm) = algorithm_of_private_key(der) {
                    KeyKind::of(algorithm)?;
                }
                let message = match bits_of_rsa(der) {
                    Some(bits) if bits < 2048 => {
                        format!(
                            "a private key for RSA of {bits} bits, where 2048 are the least to sign with: `openssl genpkey -algorithm RSA -out key.pem` makes one, for which a new certificate is needed"
                        )
                    }
                    _ => "the private key can't be read, or can't be used to sign: DSA is only verified".to_owned(),
                };
                Err(Error::new(ErrorKind::Key, message))
            }
        }
    }

    /// Returns whether it is a key for RSA, which can sign with several algorithms.
    pub fn is_rsa(&self) -> bool {
        matches!(self.algorithm, SignatureAlgorithm::RsaPkcs1(_) | SignatureAlgorithm::RsaPss(_))
    }

    /// Signs with another algorithm: RSA with another padding or hash function. With the feature `openssl`, ECDSA also has
    /// other hash functions.
    ///
    /// # Errors
    /// - [`ErrorKind::Key`] if the algorithm is not for such a key.
    /// - [`ErrorKind::Disallowed`] if verifiers don't accept it by default.
    pub fn with_algorithm(self, algorithm: SignatureAlgorithm) -> Result<Self, Error> {
        match Algorithms::default().allows_signature(algorithm) {
            true => self.signing_by(algorithm),
            false => {
                let message = format!("signing by {algorithm} is not allowed, except with `with_legacy_algorithm`");
                Err(Error::new(ErrorKind::Disallowed, message))
            }
        }
    }

    /// Signs with another algorithm, even with SHA-1 or SHA-224. It is for peers that have nothing better: they accept what
    /// somebody who finds a collision puts in place of what was signed. SHA-1 and SHA-224 need the feature `openssl`.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if the algorithm is not for such a key.
    pub fn with_legacy_algorithm(self, algorithm: SignatureAlgorithm) -> Result<Self, Error> {
        self.signing_by(algorithm)
    }

    /// Returns whether the algorithm is one for such keys, with whichever hash function.
    fn is_for(&self, algorithm: SignatureAlgorithm) -> bool {
        use SignatureAlgorithm::{Ecdsa, RsaPkcs1, RsaPss};
        matches!((self.algorithm, algorithm), (RsaPkcs1(_) | RsaPss(_), RsaPkcs1(_) | RsaPss(_)) | (Ecdsa(_), Ecdsa(_)))
    }

    fn signing_by(self, algorithm: SignatureAlgorithm) -> Result<Self, Error> {
        match self.pairs.iter().any(|pair| pair.signs_by(algorithm)) {
            true => Ok(PrivateKey { algorithm, ..self }),
            false => {
                let mut message = format!("the private key can't sign by {algorithm}");
                if self.is_for(algorithm) {
                    message = format!("{message}, {LACKING}");
                }
                Err(Error::new(ErrorKind::Key, message))
            }
        }
    }

    fn signature(&self, data: &[u8]) -> Result<Vec<u8>, Error> {
        let pair = self.pairs.iter().find(|pair| pair.signs_by(self.algorithm));
        pair.and_then(|pair| pair.sign(self.algorithm, data))
            .ok_or_else(|| Error::new(ErrorKind::Crypto, format!("signing by {} failed", self.algorithm)))
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

    fn public_key(&self) -> Option<&PublicKey> {
        self.public.as_ref()
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
        let code = code.and_then(|secret| crypto::hmac(DigestAlgorithm::Sha256, secret, data));
        Box::pin(ready(code.ok_or_else(|| Error::new(ErrorKind::Crypto, "HMAC failed, or its secret is empty"))))
    }
}

/// Returns the encoded key of a certificate.
pub(crate) fn of_certificate(info: &impl Encode) -> Result<PublicKey, Error> {
    let der = info
        .to_der()
        .map_err(|error| Error::new(ErrorKind::Key, format!("a public key that can't be read: {error}")))?;
    PublicKey::from_der(&der)
}
