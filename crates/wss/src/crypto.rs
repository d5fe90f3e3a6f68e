//! The seam to cryptography.

mod aws_lc;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::{DigestAlgorithm, Error, ErrorKind, PublicKey, SignatureAlgorithm};

pub(crate) use aws_lc::AwsLc;

/// The library that is used.
pub(crate) static CRYPTO: &dyn Crypto = &AwsLc;

/// A library of cryptographic primitives.
pub(crate) trait Crypto: fmt::Debug + Send + Sync {
    /// Begins a digest. Returns `None` if the library doesn't have the algorithm.
    fn digest(&self, algorithm: DigestAlgorithm) -> Option<Box<dyn Digest>>;

    /// Returns the authentication code of `data`, in its full length. Returns `None` if the library doesn't have the
    /// algorithm.
    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8], data: &[u8]) -> Option<Vec<u8>>;

    /// Returns whether `signature` is that of `data`, made with the private key that belongs to `key`. ECDSA signatures are
    /// the two numbers, each in the length of the curve's order (RFC 4050 §3.3). Returns `None` if the library doesn't have
    /// the algorithm for such a key.
    fn verify(&self, algorithm: SignatureAlgorithm, key: &PublicKey, data: &[u8], signature: &[u8]) -> Option<bool>;
}

/// Begins a digest.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if the library doesn't have the algorithm.
pub(crate) fn digest(algorithm: DigestAlgorithm) -> Result<Box<dyn Digest>, Error> {
    CRYPTO
        .digest(algorithm)
        .ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("the cryptographic library lacks {algorithm}")))
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

    /// Signs `data`. ECDSA signatures are the two numbers, each in the length of the curve's order.
    ///
    /// # Errors
    /// The key is not available.
    fn sign<'a>(&'a self, data: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>>;
}
