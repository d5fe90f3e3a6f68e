//! The seam to cryptography.

mod aws_lc;
#[cfg(feature = "openssl")]
mod openssl;
mod paths;

use std::fmt;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use rustls_pki_types::SignatureVerificationAlgorithm;

pub(crate) use paths::PathVerdicts;

use crate::key::{KeyKind, without_zeros};
use crate::{DigestAlgorithm, Error, ErrorKind, PublicKey, SignatureAlgorithm};

/// The libraries that are used. The first one that has an algorithm does the work: the others only add to what it has.
static LIBRARIES: &[&dyn Crypto] = &[
    &aws_lc::AwsLc,
    #[cfg(feature = "openssl")]
    &openssl::OpenSsl,
];

/// What verifies the signatures of certificates.
static CERTIFICATE_ALGORITHMS: LazyLock<Vec<&dyn SignatureVerificationAlgorithm>> =
    LazyLock::new(|| LIBRARIES.iter().flat_map(|library| library.certificate_algorithms()).copied().collect());

/// Why an algorithm is not there, to follow what it is.
pub(crate) const LACKING: &str = match cfg!(feature = "openssl") {
    true => "which the cryptographic libraries lack",
    false => "which needs the feature `openssl` of castile-wss",
};

/// A library of cryptographic primitives.
pub(crate) trait Crypto: fmt::Debug + Send + Sync {
    /// Begins a digest. Returns `None` if the library doesn't have the algorithm.
    fn digest(&self, algorithm: DigestAlgorithm) -> Option<Box<dyn Digest>>;

    /// Returns the authentication code of `data`, in its full length. Returns `None` if the library doesn't have the
    /// algorithm.
    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8], data: &[u8]) -> Option<Vec<u8>>;

    /// Returns whether `signature` is that of `data`, made with the private key that belongs to `key`. ECDSA and DSA
    /// signatures are the two numbers, each in the length of the order (RFC 4050 §3.3). Returns `None` if the library doesn't
    /// have the algorithm for such a key.
    fn verify(&self, algorithm: SignatureAlgorithm, key: &PublicKey, data: &[u8], signature: &[u8]) -> Option<bool>;

    /// Returns whether the library verifies with such keys.
    fn has(&self, kind: KeyKind) -> bool;

    /// Reads a private key in DER: PKCS#8, PKCS#1 or SEC 1. Returns `None` if it is not one that the library signs with.
    fn key_pair(&self, der: &[u8]) -> Option<Box<dyn KeyPair>>;

    /// Returns what verifies the signatures of certificates.
    fn certificate_algorithms(&self) -> &'static [&'static dyn SignatureVerificationAlgorithm];
}

/// A private key in the memory of this process.
pub(crate) trait KeyPair: Send + Sync {
    /// Returns the algorithm that it signs by if no other one is chosen.
    fn algorithm(&self) -> SignatureAlgorithm;

    /// Returns its public key in DER, a `SubjectPublicKeyInfo`.
    fn public_key(&self) -> Option<Vec<u8>>;

    /// Returns whether it can sign by this algorithm.
    fn signs_by(&self, algorithm: SignatureAlgorithm) -> bool;

    /// Signs `data`, in the form of [`Crypto::verify`]. Returns `None` if that fails.
    fn sign(&self, algorithm: SignatureAlgorithm, data: &[u8]) -> Option<Vec<u8>>;
}

/// Begins a digest.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if no library has the algorithm.
pub(crate) fn digest(algorithm: DigestAlgorithm) -> Result<Box<dyn Digest>, Error> {
    LIBRARIES
        .iter()
        .find_map(|library| library.digest(algorithm))
        .ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("the cryptographic library lacks {algorithm}")))
}

/// Returns the digest of all pieces of data, by SHA-256.
///
/// # Errors
/// No library has the algorithm.
pub(crate) fn sha256<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Result<[u8; 32], Error> {
    let mut digest = digest(DigestAlgorithm::Sha256)?;
    pieces.into_iter().for_each(|piece| digest.update(piece));
    let digest = digest.finish();
    digest.try_into().map_err(|_| Error::new(ErrorKind::Crypto, "a digest of SHA-256 has another length"))
}

/// Does what [`Crypto::hmac`] says, with the first library that has the algorithm.
pub(crate) fn hmac(algorithm: DigestAlgorithm, secret: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    LIBRARIES.iter().find_map(|library| library.hmac(algorithm, secret, data))
}

/// Does what [`Crypto::verify`] says, with the first library that has the algorithm.
pub(crate) fn verify(algorithm: SignatureAlgorithm, key: &PublicKey, data: &[u8], signature: &[u8]) -> Option<bool> {
    LIBRARIES.iter().find_map(|library| library.verify(algorithm, key, data, signature))
}

/// Returns whether a library verifies with such keys.
pub(crate) fn has(kind: KeyKind) -> bool {
    LIBRARIES.iter().any(|library| library.has(kind))
}

/// Reads a private key in DER with each library that signs with such keys.
pub(crate) fn key_pairs(der: &[u8]) -> Vec<Box<dyn KeyPair>> {
    LIBRARIES.iter().filter_map(|library| library.key_pair(der)).collect()
}

/// Returns what verifies the signatures of certificates.
fn certificate_algorithms() -> &'static [&'static dyn SignatureVerificationAlgorithm] {
    &CERTIFICATE_ALGORITHMS
}

/// Converts the two numbers of an ECDSA or DSA signature to DER, which libraries have for each curve and hash function. Some
/// stacks write both with more zeros, or with fewer, than `length`, which is that of the order.
fn in_der(signature: &[u8], length: usize) -> Option<Vec<u8>> {
    let (r, s) = signature.split_at(signature.len() / 2);
    let mut numbers = Vec::with_capacity(signature.len() + 6);
    for number in [r, s] {
        let number = without_zeros(number);
        if r.len() != s.len() || number.is_empty() || number.len() > length {
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

/// Fills a buffer with random bytes that nobody can guess.
///
/// # Errors
/// The system has none.
pub(crate) fn fill(random: &mut [u8]) -> Result<(), Error> {
    aws_lc_rs::rand::fill(random).map_err(|_| Error::new(ErrorKind::Crypto, "the system has no random numbers"))
}

/// Returns 32 letters and digits that nobody can guess.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn random_name() -> Result<String, Error> {
    let mut random = [0; 16];
    fill(&mut random)?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

/// A digest that is being computed.
pub(crate) trait Digest: Send + Sync {
    /// Adds data.
    fn update(&mut self, data: &[u8]);

    /// Returns the digest of all data.
    fn finish(self: Box<Self>) -> Vec<u8>;
}

/// A key that makes signatures. It may be on another machine or in a hardware module.
pub trait SigningKey: fmt::Debug + Send + Sync {
    /// Returns the algorithm of its signatures.
    fn algorithm(&self) -> SignatureAlgorithm;

    /// Returns its public key, if it can say it. It is compared with that of the certificate, so that nobody signs with a key and
    /// sends the certificate of another one.
    fn public_key(&self) -> Option<&PublicKey> {
        None
    }

    /// Signs `data`. ECDSA signatures are the two numbers, each in the length of the curve's order.
    ///
    /// # Errors
    /// The key is not available.
    fn sign<'a>(&'a self, data: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>>;
}
