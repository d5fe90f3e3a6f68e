//! Explanations say what is signed by whom, and what differs.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castile_wss::document::DocumentSigner;
use castile_wss::message::{OutgoingSecurity, Part};
use castile_wss::{Certificate, ErrorKind, PrivateKey, Secret, Signer, Trust, VerifiedContent, explain};
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair};

const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><a:To xmlns:a='http://www.w3.org/2005/08/addressing'>urn:to</a:To></s:Header><s:Body><order>Tea</order></s:Body></s:Envelope>";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secured(security: &OutgoingSecurity) -> String {
    String::from_utf8(security.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
}

#[test]
fn parts_of_messages_are_signed_or_not() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = Certificate::from_der(CertificateParams::default().self_signed(&key).unwrap().der()).unwrap();
    let security = OutgoingSecurity::new()
        .with_timestamp()
        .with_clock(now)
        .with_signed([Part::Body, Part::Timestamp])
        .with_signature(PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap())
        .with_certificate(certificate.clone());
    let message = secured(&security);
    let trust = Trust::new().with_certificate(certificate.clone());
    let explained = explain(message.as_bytes(), &trust, now()).unwrap();
    let parts: Vec<(&str, &[usize])> =
        explained.parts.iter().map(|part| (part.name.as_str(), part.signed_by.as_slice())).collect();
    assert_eq!(parts, [("Body", &[0][..]), ("To", &[]), ("Timestamp", &[0]), ("BinarySecurityToken", &[])]);
    let (created, expires) = explained.times.unwrap();
    assert_eq!(created.unwrap().to_string(), "2027-01-15T08:00:00Z");
    assert_eq!(expires.unwrap().to_string(), "2027-01-15T08:05:00Z");
    let [Ok(signature)] = explained.signatures.as_slice() else { panic!("{explained:?}") };
    assert_eq!(signature.signer, Ok(Signer::Certificate(certificate.clone())));
    assert_eq!((signature.claimed.as_ref(), &signature.value), (Some(&certificate), &Ok(())));
    for reference in &signature.references {
        let content = reference.content.as_ref().unwrap();
        assert_eq!(content.computed, reference.stated);
        let VerifiedContent::Element { range, .. } = &content.place else { panic!("{content:?}") };
        assert!(content.canonical.as_ref().unwrap().starts_with(&message[range.start..range.start + 5]));
        assert_eq!(content.unsigned_prefix, None);
    }
    // A stranger's signature is right, and not trusted.
    let explained = explain(message.as_bytes(), &Trust::new(), now()).unwrap();
    let Ok(signature) = &explained.signatures[0] else { panic!("{explained:?}") };
    assert_eq!(signature.signer.as_ref().unwrap_err().kind(), ErrorKind::Untrusted);
    assert_eq!((signature.claimed.as_ref(), &signature.value), (Some(&certificate), &Ok(())));
    // A changed body has another digest.
    let changed = message.replace("Tea", "Gold");
    let explained = explain(changed.as_bytes(), &trust, now()).unwrap();
    let Ok(signature) = &explained.signatures[0] else { panic!("{explained:?}") };
    let wrong: Vec<&str> = signature
        .references
        .iter()
        .filter(|reference| reference.content.as_ref().unwrap().computed != reference.stated)
        .map(|reference| reference.uri.as_str())
        .collect();
    assert_eq!((wrong, &signature.value), (vec!["#body-1"], &Ok(())));
    // A changed `SignedInfo` has another value.
    let changed = message.replace("#body-1", "#body-2");
    let explained = explain(changed.as_bytes(), &trust, now()).unwrap();
    let Ok(signature) = &explained.signatures[0] else { panic!("{explained:?}") };
    assert_eq!(signature.value.as_ref().unwrap_err().kind(), ErrorKind::Signature);
    let missing = signature.references.iter().find_map(|reference| reference.content.as_ref().err()).unwrap();
    assert_eq!(missing.kind(), ErrorKind::Reference);
}

#[test]
fn what_can_not_be_read_is_said() {
    let security = OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(Secret::new(*b"s"));
    let message = secured(&security);
    let encrypted = message.replace("<ds:Signature ", "<x:EncryptedKey xmlns:x='urn:x'/><ds:Signature ");
    let explained = explain(encrypted.as_bytes(), &Trust::new(), now()).unwrap();
    assert_eq!(explained.problem.unwrap().kind(), ErrorKind::Unsupported);
    assert_eq!(explained.signatures.len(), 0);
    let explained = explain(ORDER.as_bytes(), &Trust::new(), now()).unwrap();
    assert!(explained.problem.is_none() && explained.signatures.is_empty() && explained.parts.len() == 2);
    // Each signature of a document for itself.
    let signed = DocumentSigner::new(Secret::new(*b"s")).sign(b"<a><b/></a>").now_or_never().unwrap().unwrap();
    let signed = String::from_utf8(signed)
        .unwrap()
        .replace("</a>", "<Signature xmlns='http://www.w3.org/2000/09/xmldsig#'/></a>");
    let trust = Trust::new().with_secret("s", Secret::new(*b"s"));
    let explained = explain(signed.as_bytes(), &trust, now()).unwrap();
    let [Ok(first), Err(second)] = explained.signatures.as_slice() else { panic!("{explained:?}") };
    assert_eq!((first.signer.as_ref(), second.kind()), (Ok(&Signer::Secret("s".to_owned())), ErrorKind::Malformed));
    for text in ["", "<a>", "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'/>"] {
        assert_eq!(explain(text.as_bytes(), &trust, now()).unwrap_err().kind(), ErrorKind::Malformed, "{text}");
    }
}
