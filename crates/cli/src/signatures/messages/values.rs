//! Values of the options.

use castile_wss::message::Part;
use castile_wss::{DigestAlgorithm, SignatureAlgorithm};

pub(super) fn part(text: &str) -> Result<Part, String> {
    match (text, text.strip_prefix('{').and_then(|rest| rest.split_once('}'))) {
        ("body", _) => Ok(Part::Body),
        ("timestamp", _) => Ok(Part::Timestamp),
        ("user", _) => Ok(Part::Username),
        ("assertion", _) => Ok(Part::Assertion),
        ("addressing", _) => Ok(Part::Addressing),
        ("attachments", _) => Ok(Part::Attachments),
        (_, Some((namespace, local))) if !local.is_empty() => {
            Ok(Part::Header { namespace: namespace.to_owned(), local: local.to_owned() })
        }
        _ => Err("expected body, timestamp, user, assertion, addressing, attachments or {NAMESPACE}NAME".to_owned()),
    }
}

/// Parses an algorithm, such as `rsa-pss-sha256`.
pub(super) fn algorithm(text: &str) -> Result<SignatureAlgorithm, String> {
    let parsed = || {
        let (kind, digest) = text.rsplit_once('-')?;
        let digest = match digest {
            "sha1" => DigestAlgorithm::Sha1,
            "sha256" => DigestAlgorithm::Sha256,
            "sha384" => DigestAlgorithm::Sha384,
            "sha512" => DigestAlgorithm::Sha512,
            _ => return None,
        };
        let of = match kind {
            "rsa" => SignatureAlgorithm::RsaPkcs1,
            "rsa-pss" => SignatureAlgorithm::RsaPss,
            "ecdsa" => SignatureAlgorithm::Ecdsa,
            _ => return None,
        };
        Some(of(digest))
    };
    parsed().ok_or_else(|| "expected rsa, rsa-pss or ecdsa, with -sha256, -sha384, -sha512 or -sha1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_block_is_named_with_its_namespace() {
        let block = Part::Header { namespace: "urn:a".to_owned(), local: "b".to_owned() };
        assert_eq!(part("{urn:a}b"), Ok(block));
        assert_eq!(part("attachments"), Ok(Part::Attachments));
        assert_eq!(part("assertion"), Ok(Part::Assertion));
        assert!(part("{urn:a}").is_err());
        assert!(part("b").is_err());
    }

    #[test]
    fn algorithms_have_names() {
        assert_eq!(algorithm("rsa-sha512"), Ok(SignatureAlgorithm::RsaPkcs1(DigestAlgorithm::Sha512)));
        assert_eq!(algorithm("rsa-pss-sha256"), Ok(SignatureAlgorithm::RsaPss(DigestAlgorithm::Sha256)));
        assert_eq!(algorithm("ecdsa-sha384"), Ok(SignatureAlgorithm::Ecdsa(DigestAlgorithm::Sha384)));
        for wrong in ["rsa", "rsa-md5", "dsa-sha256", "ed25519", "-sha256", ""] {
            assert!(algorithm(wrong).is_err(), "{wrong}");
        }
    }
}
