//! Algorithms of signatures and digests, by their URIs (XML Signature 1.1 §6, RFC 9231).

use std::fmt;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DigestAlgorithm {
    /// SHA-1, which is only for peers that have nothing better.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
}

/// An algorithm of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// RSASSA-PKCS1-v1_5.
    RsaPkcs1(DigestAlgorithm),
    /// RSASSA-PSS. MGF1 uses the same hash function, and the salt has its length.
    RsaPss(DigestAlgorithm),
    /// ECDSA. The key has the curve.
    Ecdsa(DigestAlgorithm),
    /// DSA, which is only for signatures of peers that have nothing better.
    Dsa(DigestAlgorithm),
    /// Ed25519.
    Ed25519,
    /// Ed448.
    Ed448,
    /// HMAC with a shared secret.
    Hmac(DigestAlgorithm),
}

use DigestAlgorithm::{Sha1, Sha3_256, Sha3_384, Sha3_512, Sha224, Sha256, Sha384, Sha512};
use SignatureAlgorithm::{Dsa, Ecdsa, Ed448, Ed25519, Hmac, RsaPkcs1, RsaPss};

const DIGESTS: [(&str, DigestAlgorithm); 8] = [
    ("http://www.w3.org/2000/09/xmldsig#sha1", Sha1),
    ("http://www.w3.org/2001/04/xmldsig-more#sha224", Sha224),
    ("http://www.w3.org/2001/04/xmlenc#sha256", Sha256),
    ("http://www.w3.org/2001/04/xmldsig-more#sha384", Sha384),
    ("http://www.w3.org/2001/04/xmlenc#sha512", Sha512),
    ("http://www.w3.org/2007/05/xmldsig-more#sha3-256", Sha3_256),
    ("http://www.w3.org/2007/05/xmldsig-more#sha3-384", Sha3_384),
    ("http://www.w3.org/2007/05/xmldsig-more#sha3-512", Sha3_512),
];

const SIGNATURES: [(&str, SignatureAlgorithm); 30] = [
    ("http://www.w3.org/2000/09/xmldsig#rsa-sha1", RsaPkcs1(Sha1)),
    ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha224", RsaPkcs1(Sha224)),
    ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", RsaPkcs1(Sha256)),
    ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha384", RsaPkcs1(Sha384)),
    ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", RsaPkcs1(Sha512)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha1-rsa-MGF1", RsaPss(Sha1)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha224-rsa-MGF1", RsaPss(Sha224)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1", RsaPss(Sha256)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1", RsaPss(Sha384)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1", RsaPss(Sha512)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha3-256-rsa-MGF1", RsaPss(Sha3_256)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha3-384-rsa-MGF1", RsaPss(Sha3_384)),
    ("http://www.w3.org/2007/05/xmldsig-more#sha3-512-rsa-MGF1", RsaPss(Sha3_512)),
    ("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha1", Ecdsa(Sha1)),
    ("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha224", Ecdsa(Sha224)),
    ("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256", Ecdsa(Sha256)),
    ("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384", Ecdsa(Sha384)),
    ("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512", Ecdsa(Sha512)),
    ("http://www.w3.org/2021/04/xmldsig-more#ecdsa-sha3-256", Ecdsa(Sha3_256)),
    ("http://www.w3.org/2021/04/xmldsig-more#ecdsa-sha3-384", Ecdsa(Sha3_384)),
    ("http://www.w3.org/2021/04/xmldsig-more#ecdsa-sha3-512", Ecdsa(Sha3_512)),
    ("http://www.w3.org/2000/09/xmldsig#dsa-sha1", Dsa(Sha1)),
    ("http://www.w3.org/2009/xmldsig11#dsa-sha256", Dsa(Sha256)),
    ("http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519", Ed25519),
    ("http://www.w3.org/2021/04/xmldsig-more#eddsa-ed448", Ed448),
    ("http://www.w3.org/2000/09/xmldsig#hmac-sha1", Hmac(Sha1)),
    ("http://www.w3.org/2001/04/xmldsig-more#hmac-sha224", Hmac(Sha224)),
    ("http://www.w3.org/2001/04/xmldsig-more#hmac-sha256", Hmac(Sha256)),
    ("http://www.w3.org/2001/04/xmldsig-more#hmac-sha384", Hmac(Sha384)),
    ("http://www.w3.org/2001/04/xmldsig-more#hmac-sha512", Hmac(Sha512)),
];

impl DigestAlgorithm {
    /// Returns the algorithm that `uri` identifies.
    pub fn from_uri(uri: &str) -> Option<Self> {
        DIGESTS.iter().find(|(known, _)| *known == uri).map(|(_, algorithm)| *algorithm)
    }

    /// Returns the URI that identifies the algorithm.
    pub fn uri(self) -> &'static str {
        DIGESTS.iter().find(|(_, algorithm)| *algorithm == self).map_or("", |(uri, _)| uri)
    }
}

impl SignatureAlgorithm {
    /// Returns the algorithm that `uri` identifies.
    pub fn from_uri(uri: &str) -> Option<Self> {
        SIGNATURES.iter().find(|(known, _)| *known == uri).map(|(_, algorithm)| *algorithm)
    }

    /// Returns the URI that identifies the algorithm, if this combination has one.
    pub fn uri(self) -> Option<&'static str> {
        SIGNATURES.iter().find(|(_, algorithm)| *algorithm == self).map(|(uri, _)| *uri)
    }

    /// Returns the hash function. Ed25519 and Ed448 have their own.
    pub fn digest(self) -> Option<DigestAlgorithm> {
        match self {
            RsaPkcs1(digest) | RsaPss(digest) | Ecdsa(digest) | Dsa(digest) | Hmac(digest) => Some(digest),
            Ed25519 | Ed448 => None,
        }
    }
}

impl fmt::Display for DigestAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sha1 => "SHA-1",
            Sha224 => "SHA-224",
            Sha256 => "SHA-256",
            Sha384 => "SHA-384",
            Sha512 => "SHA-512",
            Sha3_256 => "SHA3-256",
            Sha3_384 => "SHA3-384",
            Sha3_512 => "SHA3-512",
        })
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RsaPkcs1(digest) => write!(f, "RSA with {digest}"),
            RsaPss(digest) => write!(f, "RSA-PSS with {digest}"),
            Ecdsa(digest) => write!(f, "ECDSA with {digest}"),
            Dsa(digest) => write!(f, "DSA with {digest}"),
            Ed25519 => f.write_str("Ed25519"),
            Ed448 => f.write_str("Ed448"),
            Hmac(digest) => write!(f, "HMAC with {digest}"),
        }
    }
}

/// The algorithms that a verifier accepts.
///
/// The default accepts every supported algorithm without SHA-1, SHA-224 and DSA, and RSA keys of at least 2048 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Algorithms {
    allows_legacy: bool,
}

impl Algorithms {
    /// Also accepts SHA-1, SHA-224 and DSA, and RSA and DSA keys of at least 1024 bits. It is for peers that have nothing
    /// better: who finds a collision can replace what was signed.
    #[must_use]
    pub fn with_legacy(self) -> Self {
        Algorithms { allows_legacy: true }
    }

    /// Returns whether the hash function is accepted.
    pub fn allows_digest(self, digest: DigestAlgorithm) -> bool {
        self.allows_legacy || !matches!(digest, Sha1 | Sha224)
    }

    /// Returns whether the algorithm of signatures is accepted.
    pub fn allows_signature(self, algorithm: SignatureAlgorithm) -> bool {
        let is_allowed = self.allows_legacy || !matches!(algorithm, Dsa(_));
        is_allowed && algorithm.digest().is_none_or(|digest| self.allows_digest(digest))
    }

    /// Returns the least length in bits of an RSA key, or of a DSA key if those are allowed.
    pub fn min_modulus_bits(self) -> usize {
        if self.allows_legacy { 1024 } else { 2048 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_have_one_uri() {
        for (uri, algorithm) in DIGESTS {
            assert_eq!((DigestAlgorithm::from_uri(uri), algorithm.uri()), (Some(algorithm), uri));
        }
        for (uri, algorithm) in SIGNATURES {
            assert_eq!((SignatureAlgorithm::from_uri(uri), algorithm.uri()), (Some(algorithm), Some(uri)));
        }
        assert_eq!(SignatureAlgorithm::from_uri("http://www.w3.org/2001/04/xmldsig-more#rsa-md5"), None);
    }

    #[test]
    fn weak_algorithms_are_allowed_on_request() {
        let (strict, weak) = (Algorithms::default(), Algorithms::default().with_legacy());
        for algorithm in [RsaPkcs1(Sha1), RsaPss(Sha1), Hmac(Sha1), Ecdsa(Sha224), Dsa(Sha1), Dsa(Sha256)] {
            assert!(!strict.allows_signature(algorithm) && weak.allows_signature(algorithm), "{algorithm}");
        }
        for algorithm in [RsaPkcs1(Sha256), RsaPss(Sha512), Ed25519, Ed448, Hmac(Sha256)] {
            assert!(strict.allows_signature(algorithm), "{algorithm}");
        }
    }
}
