//! The cryptography of a signed exchange, without XML: the same hashes, and as many key operations.

use std::hint::black_box;
use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey};
use bytes::Bytes;

use crate::seismic::secured::service_key;

static KEY: LazyLock<RsaKeyPair> =
    LazyLock::new(|| RsaKeyPair::from_pkcs8(service_key()).expect("it is a file of this crate"));

/// What a server has to hash, verify and sign for a request.
#[derive(Debug)]
pub(super) struct Cryptography {
    request: Signed,
    /// A signature over the `SignedInfo` of the request.
    signature: Vec<u8>,
    answer: Signed,
}

/// What is signed in a message. The canonical forms are as long as what was written, but for a few declarations.
#[derive(Debug)]
struct Signed {
    parts: [Bytes; 2],
    signed_info: Bytes,
}

impl Cryptography {
    /// Returns what is to be done for a request and its answer; `None` if they are not signed both.
    pub(super) fn of(request: &Bytes, answer: &Bytes) -> Option<Self> {
        let (request, answer) = (Signed::of(request)?, Signed::of(answer)?);
        let signature = sign(&request.signed_info).expect("the key is right");
        Some(Cryptography { request, signature, answer })
    }

    /// Verifies the request, and signs the answer.
    pub(super) fn run(&self) -> Result<(), Unspecified> {
        self.request.hash();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, KEY.public_key());
        key.verify(&self.request.signed_info, &self.signature)?;
        self.answer.hash();
        black_box(sign(&self.answer.signed_info)?);
        Ok(())
    }
}

impl Signed {
    fn of(message: &Bytes) -> Option<Self> {
        let text = std::str::from_utf8(message).ok()?;
        let part = |name: &str| Some(message.slice_ref(element(text, name)?.as_bytes()));
        Some(Signed { parts: [part("Timestamp")?, part("Body")?], signed_info: part("SignedInfo")? })
    }

    fn hash(&self) {
        for part in &self.parts {
            black_box(digest(&SHA256, part));
        }
    }
}

fn sign(data: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let mut signature = vec![0; KEY.public_modulus_len()];
    KEY.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), data, &mut signature)?;
    Ok(signature)
}

/// Returns the first element with this local name, up to the first end tag.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.match_indices(name).find_map(|(at, _)| {
        let start = text[..at].rfind('<')?;
        let is_name = text[at + name.len()..].starts_with([' ', '>', '/', '\n', '\r', '\t']);
        (is_name && is_prefix(&text[start + 1..at])).then_some(start)
    })?;
    let end = text[start..].match_indices(name).find_map(|(at, _)| {
        let at = start + at;
        let before = text[..at].rfind("</")?;
        let is_end = is_prefix(&text[before + 2..at]) && text[at + name.len()..].starts_with('>');
        is_end.then_some(at + name.len() + 1)
    })?;
    Some(&text[start..end])
}

/// Returns whether a text between `<` and a local name is a prefix or nothing.
fn is_prefix(text: &str) -> bool {
    text.strip_suffix(':').unwrap_or(text).chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
        && (text.is_empty() || text.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_found() {
        let message = Bytes::from_static(
            b"<s:Envelope xmlns:s='Body'><s:Header><t:Timestamp a='1'>now</t:Timestamp><d:SignedInfo><d:Reference \
              URI='#Body-1'/></d:SignedInfo><Bodyguard/></s:Header><s:Body i='Body-1'><Bodyguard/>text</s:Body></s:Envelope>",
        );
        let signed = Signed::of(&message).unwrap();
        let [time, body] = &signed.parts;
        assert_eq!(time, "<t:Timestamp a='1'>now</t:Timestamp>");
        assert_eq!(body, "<s:Body i='Body-1'><Bodyguard/>text</s:Body>");
        assert_eq!(signed.signed_info, "<d:SignedInfo><d:Reference URI='#Body-1'/></d:SignedInfo>");
        let plain = Bytes::from_static(b"<s:Envelope><s:Body/></s:Envelope>");
        assert!(Signed::of(&plain).is_none() && Cryptography::of(&message, &plain).is_none());
        assert!(Cryptography::of(&message, &message).unwrap().run().is_ok());
    }

    #[test]
    fn a_wrong_signature_is_an_error() {
        let message = Bytes::from_static(b"<Timestamp></Timestamp><SignedInfo></SignedInfo><Body></Body>");
        let mut cryptography = Cryptography::of(&message, &message).unwrap();
        cryptography.signature[0] ^= 1;
        assert!(cryptography.run().is_err());
    }
}
