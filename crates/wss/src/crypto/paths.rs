//! Verifies the signatures of certificates, each once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use rustls_pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};

use super::certificate_algorithms;

/// What was found while a path to an authority is searched. Certificates that have the name of one another make many paths
/// possible. Anybody can send such certificates, and verifying a signature is the most expensive part of a path.
#[derive(Debug, Default)]
pub(crate) struct PathVerdicts(Mutex<BTreeMap<[u8; 32], bool>>);

impl PathVerdicts {
    /// Returns the algorithms of certificates, which remember what they found.
    pub(crate) fn algorithms(&self) -> Vec<impl SignatureVerificationAlgorithm + '_> {
        certificate_algorithms().iter().map(|algorithm| Remembering { algorithm: *algorithm, verdicts: self }).collect()
    }
}

struct Remembering<'v> {
    algorithm: &'v dyn SignatureVerificationAlgorithm,
    verdicts: &'v PathVerdicts,
}

impl fmt::Debug for Remembering<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.algorithm.fmt(f)
    }
}

impl SignatureVerificationAlgorithm for Remembering<'_> {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.signature_alg_id()
    }

    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let (key_algorithm, algorithm) = (self.public_key_alg_id(), self.signature_alg_id());
        let parts = [key_algorithm.as_ref(), algorithm.as_ref(), public_key, message, signature];
        // The lengths keep them apart.
        let lengths = parts.map(|part| (part.len() as u64).to_be_bytes());
        let digest =
            super::sha256(lengths.iter().map(|length| &length[..]).chain(parts)).map_err(|_| InvalidSignature)?;
        let mut verdicts = self.verdicts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = verdicts
            .entry(digest)
            .or_insert_with(|| self.algorithm.verify_signature(public_key, message, signature).is_ok());
        verdict.then_some(()).ok_or(InvalidSignature)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustls_pki_types::alg_id;

    use super::*;

    /// A signature is right if it equals the key.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl SignatureVerificationAlgorithm for Counting {
        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            alg_id::ECDSA_P256
        }

        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            alg_id::ECDSA_SHA256
        }

        fn verify_signature(&self, key: &[u8], _: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
            self.0.fetch_add(1, Ordering::Relaxed);
            if key == signature { Ok(()) } else { Err(InvalidSignature) }
        }
    }

    #[test]
    fn a_signature_is_verified_once() {
        let (algorithm, verdicts) = (Counting::default(), PathVerdicts::default());
        let remembering = Remembering { algorithm: &algorithm, verdicts: &verdicts };
        for _ in 0..3 {
            assert!(remembering.verify_signature(b"key", b"message", b"key").is_ok());
            assert!(remembering.verify_signature(b"key", b"message", b"other").is_err());
            assert!(remembering.verify_signature(b"ke", b"ymessage", b"ke").is_ok());
        }
        assert_eq!(algorithm.0.load(Ordering::Relaxed), 3);
    }
}
