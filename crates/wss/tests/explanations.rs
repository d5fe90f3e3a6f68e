//! Explanations say what is signed by whom, and what differs.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castile_mime::{Attachments, ContentId, Packaging, Part as Attached};
use castile_soap::Received;
use castile_wss::document::DocumentSigner;
use castile_wss::message::{CertificateForm, OutgoingSecurity, Part, PasswordForm, UsernameToken};
use castile_wss::{
    Certificate, ErrorKind, ExplainedKey, Explanation, PrivateKey, Secret, Signer, Trust, VerifiedContent, explain,
    explain_message,
};
use castile_xml::Charset;
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair};

const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><a:To xmlns:a='http://www.w3.org/2005/08/addressing'>urn:to</a:To></s:Header><s:Body><order>Tea</order></s:Body></s:Envelope>";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secured(security: &OutgoingSecurity) -> String {
    String::from_utf8(security.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
}

/// What is wrong with each `Security`.
fn problems(explained: &Explanation) -> Vec<Option<ErrorKind>> {
    explained.security.iter().map(|security| security.problem.as_ref().map(|problem| problem.kind())).collect()
}

/// An attachment: its Content-ID, its media type and its content.
type File = (&'static str, &'static str, &'static [u8]);

const PHOTO: File = ("photo@b", "image/png", b"\x89PNG\r\n\x1a\n\0\xff");
const NOTE: File = ("note@b", "text/plain", b"It rains.\n");
const LIST: File = ("list@b", "application/xml", b"<list><item n='1'/></list>");

fn attached(files: &[File]) -> Vec<Attached> {
    let attached = files.iter().map(|(id, media_type, content)| {
        Attached::new(ContentId::parse(id).unwrap(), media_type, content.to_vec().into()).unwrap()
    });
    attached.collect()
}

fn signing() -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(Secret::new(*b"s"))
}

/// Explains a message as it arrives.
fn received(message: &str, packaging: Packaging, files: &[File]) -> Explanation {
    let mut received = Received::from(bytes::Bytes::from(message.to_owned()));
    received.packaging = Some(packaging);
    received.attachments = Attachments::of(attached(files)).unwrap();
    let trust = Trust::new().with_secret("s", Secret::new(*b"s"));
    let explained = explain_message(&mut received, &trust, now()).now_or_never().unwrap().unwrap();
    // They are still there for those who read the message.
    let still_there = received.attachments.collect(1 << 20).now_or_never().unwrap().unwrap();
    assert_eq!(still_there.len(), files.len());
    explained
}

/// What each reference of the first signature leads to: whether it is right, or why there is nothing.
fn outcomes(explained: &Explanation) -> Vec<(&str, Result<bool, ErrorKind>)> {
    let Some(Ok(signature)) = explained.signatures.first() else { panic!("{explained:?}") };
    assert_eq!(signature.value, Ok(()));
    let outcomes = signature.references.iter().map(|reference| {
        let content = reference.content.as_ref().map_err(|error| error.kind());
        let outcome = content.map(|content| content.computed == reference.stated);
        (reference.uri.split('-').next().unwrap(), outcome)
    });
    outcomes.collect()
}

/// Which signatures refer to each attachment.
fn signed_attachments(explained: &Explanation) -> Vec<(&str, &[usize])> {
    let attachments = explained.attachments.iter();
    attachments.map(|one| (one.id.as_ref().unwrap().as_str(), one.signed_by.as_slice())).collect()
}

#[test]
fn attachments_are_right_changed_or_missing() {
    let security = signing();
    let sent = security.secure_package(ORDER.as_bytes(), Packaging::Attachments, &attached(&[PHOTO, NOTE, LIST]));
    let message = String::from_utf8(sent.now_or_never().unwrap().unwrap()).unwrap();
    let explain = |files: &[File]| received(&message, Packaging::Attachments, files);

    let explained = explain(&[LIST, PHOTO, NOTE]);
    let right = [("#body", true), ("#time", true), ("#block", true), ("cid:photo@b", true), ("cid:note@b", true)];
    let mut right: Vec<_> = right.into_iter().chain([("cid:list@b", true)]).map(|(uri, is)| (uri, Ok(is))).collect();
    let mut found = outcomes(&explained);
    right.sort_by_key(|(uri, _)| *uri);
    found.sort_by_key(|(uri, _)| *uri);
    assert_eq!(found, right);
    assert_eq!(signed_attachments(&explained), [("list@b", &[0][..]), ("photo@b", &[0]), ("note@b", &[0])]);
    let Ok(signature) = &explained.signatures[0] else { panic!("{explained:?}") };
    let exact: Vec<bool> = signature
        .references
        .iter()
        .filter_map(|reference| match reference.content.as_ref().unwrap().place {
            VerifiedContent::Attachment { is_exact, .. } => Some(is_exact),
            _ => None,
        })
        .collect();
    assert_eq!(exact, [true, false, false]);
    // What is digested of a text has the line ends of MIME, and of XML other spellings.
    let canonical = |uri: &str| {
        let reference = signature.references.iter().find(|reference| reference.uri == uri);
        reference.unwrap().content.as_ref().unwrap().canonical.clone().unwrap()
    };
    assert_eq!(canonical("cid:photo@b"), PHOTO.2);
    assert_eq!(canonical("cid:note@b"), b"It rains.\r\n"[..]);
    assert_eq!(canonical("cid:list@b"), b"<list><item n=\"1\"></item></list>"[..]);

    // One is changed, one is missing, one can't be made canonical, and one was not signed.
    let explained = explain(&[
        (PHOTO.0, PHOTO.1, b"\x89PNG\r\n\x1a\n\0\xfe"),
        (LIST.0, LIST.1, b"<list>"),
        ("other@b", "image/png", b"new"),
    ]);
    let found: Vec<_> = outcomes(&explained).into_iter().filter(|(uri, _)| uri.starts_with("cid:")).collect();
    let expected = [
        ("cid:photo@b", Ok(false)),
        ("cid:note@b", Err(ErrorKind::Reference)),
        ("cid:list@b", Err(ErrorKind::Malformed)),
    ];
    assert_eq!(found, expected);
    assert_eq!(signed_attachments(&explained), [("photo@b", &[0][..]), ("list@b", &[]), ("other@b", &[])]);

    // Without its package.
    let trust = Trust::new().with_secret("s", Secret::new(*b"s"));
    let explained = castile_wss::explain(message.as_bytes(), &trust, now()).unwrap();
    assert!(outcomes(&explained).contains(&("cid:photo@b", Err(ErrorKind::Reference))));
    assert_eq!(explained.attachments, []);
}

#[test]
fn parts_that_stand_in_the_body_are_in_its_canonical_form() {
    const WITH_PARTS: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><a><xop:Include xmlns:xop='http://www.w3.org/2004/08/xop/include' href='cid:photo@b'/></a><b>then</b><c><xop:Include xmlns:xop='http://www.w3.org/2004/08/xop/include' href='cid:note@b'/></c></s:Body></s:Envelope>";
    let security = signing();
    let sent = security.secure_package(WITH_PARTS.as_bytes(), Packaging::Mtom, &attached(&[PHOTO, NOTE, LIST]));
    let message = String::from_utf8(sent.now_or_never().unwrap().unwrap()).unwrap();
    let explain = |message: &str, files: &[File]| received(message, Packaging::Mtom, files);

    let explained = explain(&message, &[PHOTO, NOTE, LIST]);
    assert!(outcomes(&explained).iter().all(|(_, outcome)| *outcome == Ok(true)), "{explained:?}");
    assert_eq!(signed_attachments(&explained), [("photo@b", &[0][..]), ("note@b", &[0]), ("list@b", &[0])]);
    let body = |explained: &Explanation| {
        let Ok(signature) = &explained.signatures[0] else { panic!("{explained:?}") };
        signature.references.iter().find(|reference| reference.uri.starts_with("#body")).unwrap().content.clone()
    };
    let content = body(&explained).unwrap();
    let text = String::from_utf8(content.canonical.unwrap().into()).unwrap();
    assert!(text.ends_with("<a>iVBORw0KGgoA/w==</a><b>then</b><c>SXQgcmFpbnMuCg==</c></s:Body>"), "{text}");
    assert_eq!(content.included.len(), 2);

    // A part is changed, or missing; or nothing says what it stands for.
    let explained = explain(&message, &[PHOTO, (NOTE.0, NOTE.1, b"It snows.\n"), LIST]);
    assert!(outcomes(&explained).contains(&("#body", Ok(false))), "{explained:?}");
    let explained = explain(&message, &[PHOTO, LIST]);
    assert!(outcomes(&explained).contains(&("#body", Err(ErrorKind::Reference))), "{explained:?}");
    let explained = explain(&message.replace("href='cid:photo@b'", "href='photo'"), &[PHOTO, NOTE, LIST]);
    assert!(outcomes(&explained).contains(&("#body", Err(ErrorKind::Malformed))), "{explained:?}");
    // Where elements have no meaning, the body is what it looks like.
    let explained = received(&message, Packaging::Attachments, &[PHOTO, NOTE, LIST]);
    assert!(outcomes(&explained).contains(&("#body", Ok(false))), "{explained:?}");
}

/// What is wrong with a prefix of an attachment is said beside its digest.
#[test]
fn unsigned_prefixes_of_attachments_are_named() {
    const TYPED: &[u8] = b"<list xmlns:p='urn:p' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='p:t'/>";
    let list = (LIST.0, LIST.1, TYPED);
    let security = signing();
    let plain = (LIST.0, LIST.1, &b"<list/>"[..]);
    let sent = security.secure_package(ORDER.as_bytes(), Packaging::Attachments, &attached(&[plain]));
    let message = String::from_utf8(sent.now_or_never().unwrap().unwrap()).unwrap();
    let explained = received(&message, Packaging::Attachments, &[list]);
    let Ok(signature) = &explained.signatures[0] else { panic!("{explained:?}") };
    let reference = signature.references.iter().find(|reference| reference.uri.starts_with("cid:")).unwrap();
    assert_eq!(reference.content.as_ref().unwrap().unsigned_prefix.as_deref(), Some("p"));
    assert!(!reference.is_right() && !signature.is_right());
}

/// Somebody has copied a message out of a tool that indents it.
#[test]
fn indented_messages_are_recognised() {
    let message = secured(&signing());
    let trust = Trust::new().with_secret("s", Secret::new(*b"s"));
    let explain = |message: &str| {
        let explained = explain(message.as_bytes(), &trust, now()).unwrap();
        let [Ok(signature)] = explained.signatures.as_slice() else { panic!("{explained:?}") };
        let contents = signature.references.iter().map(|reference| reference.content.as_ref().unwrap());
        let hints: Vec<_> =
            contents.zip(&signature.references).map(|(content, of)| (of.is_right(), content.is_indented)).collect();
        (signature.value.is_ok(), signature.is_indented, hints)
    };
    let (is_right, is_indented, contents) = explain(&message);
    assert!(is_right && !is_indented && contents.iter().all(|found| *found == (true, false)));
    let indented = message.replace("><", ">\r\n\t <");
    let (is_right, is_indented, contents) = explain(&indented);
    assert!(!is_right && is_indented, "{indented}");
    // Elements without children are as they were.
    assert!(contents.contains(&(false, true)) && !contents.contains(&(false, false)), "{contents:?}");
    // Another text is not a matter of white space.
    let (_, _, contents) = explain(&indented.replace("Tea", "Te a"));
    assert!(contents.contains(&(false, false)), "{contents:?}");
}

#[test]
fn keys_and_users_are_named() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let mut parameters = CertificateParams::default();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = Certificate::from_der(parameters.self_signed(&key).unwrap().der()).unwrap();
    let security = OutgoingSecurity::new()
        .with_clock(now)
        .with_username(UsernameToken::new("ada", "hush").with_form(PasswordForm::Digest))
        .with_signature(PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap())
        .with_certificate(certificate.clone());
    let found = |form| {
        let message = secured(&security.clone().with_certificate_form(form));
        let explained = explain(message.as_bytes(), &Trust::new(), now()).unwrap();
        let [Ok(signature)] = explained.signatures.as_slice() else { panic!("{explained:?}") };
        (signature.keys.clone(), explained.security[0].username.clone().unwrap())
    };
    let (keys, username) = found(CertificateForm::IssuerSerial);
    let (issuer, serial) = (certificate.issuer(), certificate.serial_number());
    assert_eq!(keys, [ExplainedKey::IssuerSerial { issuer, serial }]);
    assert_eq!((username.name.as_str(), username.form), ("ada", Some(PasswordForm::Digest)));
    assert!(username.has_nonce);
    assert_eq!(username.created.unwrap().to_string(), "2027-01-15T08:00:00Z");
    assert_eq!(found(CertificateForm::Token).0, [ExplainedKey::Certificate(certificate)]);
    assert!(matches!(*found(CertificateForm::KeyIdentifier).0, [ExplainedKey::KeyIdentifier(_)]));
    assert!(matches!(*found(CertificateForm::Thumbprint).0, [ExplainedKey::Thumbprint { .. }]));
}

/// The media type tells the encoding.
#[test]
fn a_received_message_has_the_encoding_of_its_media_type() {
    let message = secured(&signing()).replace("Tea", "Té");
    let latin: Vec<u8> = message.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let mut received = Received::from(bytes::Bytes::from(latin));
    let explain = |received: &mut Received| explain_message(received, &Trust::new(), now()).now_or_never().unwrap();
    assert_eq!(explain(&mut received).unwrap_err().kind(), ErrorKind::Malformed);
    received.charset = Charset::of_label("iso-8859-1");
    assert!(explain(&mut received).unwrap().text.contains("Té"));
}

#[test]
fn each_role_has_a_security() {
    let gateway = OutgoingSecurity::new()
        .with_clock(now)
        .with_signed([Part::Body])
        .with_signature(Secret::new(*b"gate"))
        .with_role("urn:gateway");
    let message = signing().secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap();
    let message = String::from_utf8(gateway.secure(&message).now_or_never().unwrap().unwrap()).unwrap();
    let trust = Trust::new().with_secret("s", Secret::new(*b"s"));
    let explained = explain(message.as_bytes(), &trust, now()).unwrap();
    let roles: Vec<_> = explained.security.iter().map(|one| (one.role.as_deref(), one.times.is_some())).collect();
    let mut sorted = roles.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(None, true), (Some("urn:gateway"), false)]);
    // Each has its own signature, and both sign the body.
    let body = explained.parts.iter().find(|part| part.name == "Body").unwrap();
    assert_eq!((explained.signatures.len(), body.signed_by.len()), (2, 2));
    for (signature, (role, _)) in explained.signatures.iter().zip(roles) {
        let signature = signature.as_ref().unwrap();
        // The secret of the gateway is another one.
        assert_eq!(signature.value.is_ok(), role.is_none());
        let security = explained.security.iter().find(|security| security.role.as_deref() == role).unwrap();
        assert!(security.contains(&signature.range));
    }
    assert_eq!(problems(&explained), [None, None]);
    // Two for one role are one too many, however the role is written.
    for role in ["", "http://schemas.xmlsoap.org/soap/actor/next"] {
        let twice = message.replace("urn:gateway", role);
        let mut problems = problems(&explain(twice.as_bytes(), &trust, now()).unwrap());
        problems.sort_unstable_by_key(Option::is_some);
        assert_eq!(problems, [None, Some(ErrorKind::Malformed)], "{role}");
    }
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
    let [security] = explained.security.as_slice() else { panic!("{explained:?}") };
    let (created, expires) = security.times.unwrap();
    assert_eq!(created.unwrap().to_string(), "2027-01-15T08:00:00Z");
    assert_eq!(expires.unwrap().to_string(), "2027-01-15T08:05:00Z");
    let [Ok(signature)] = explained.signatures.as_slice() else { panic!("{explained:?}") };
    assert_eq!(signature.signer, Ok(Signer::Certificate(certificate.clone())));
    assert_eq!((signature.claimed.as_ref(), &signature.value), (Some(&certificate), &Ok(())));
    for reference in &signature.references {
        let content = reference.content.as_ref().unwrap();
        assert_eq!(content.computed, reference.stated);
        let VerifiedContent::Element { range, .. } = &content.place else { panic!("{content:?}") };
        assert!(content.canonical.as_ref().unwrap().starts_with(&message.as_bytes()[range.start..range.start + 5]));
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
    assert_eq!(problems(&explained), [Some(ErrorKind::Unsupported)]);
    assert_eq!(explained.signatures.len(), 0);
    let explained = explain(ORDER.as_bytes(), &Trust::new(), now()).unwrap();
    assert!(explained.security.is_empty() && explained.signatures.is_empty() && explained.parts.len() == 2);
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

/// Regression: the value was checked with one key, and the signer was found by another.
#[test]
fn a_signature_is_by_the_key_that_its_value_is_right_for() {
    let party = || {
        let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let certificate = Certificate::from_der(CertificateParams::default().self_signed(&key).unwrap().der()).unwrap();
        (PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap(), certificate)
    };
    let ((mallory, of_mallory), (_, of_bank)) = (party(), party());
    let signer = DocumentSigner::new(mallory).with_certificates(vec![of_mallory.clone()]);
    let signed = String::from_utf8(signer.sign(b"<a/>").now_or_never().unwrap().unwrap()).unwrap();
    let data = |certificate: &Certificate| {
        let der = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, certificate.der());
        format!(
            "<X509Data xmlns='http://www.w3.org/2000/09/xmldsig#'><X509Certificate>{der}</X509Certificate></X509Data>"
        )
    };
    let (begin, end) = (signed.find("KeyInfo>").unwrap() + 8, signed.rfind("</ds:KeyInfo>").unwrap());
    let with = |certificates: &[&Certificate]| {
        let all: String = certificates.iter().map(|certificate| data(certificate)).collect();
        format!("{}{all}{}", &signed[..begin], &signed[end..])
    };
    let trust = Trust::new().with_certificate(of_bank.clone());
    for (document, is_trusted) in [
        (signed.clone(), false),
        (with(&[&of_mallory]), false),
        (with(&[&of_mallory, &of_bank]), true),
        (with(&[&of_bank, &of_mallory]), true),
    ] {
        let explained = explain(document.as_bytes(), &trust, now()).unwrap();
        let [Ok(signature)] = explained.signatures.as_slice() else { panic!("{explained:?}") };
        assert_eq!(signature.signer.is_ok(), is_trusted, "{document}");
        assert_eq!(signature.is_right(), !is_trusted, "{document}");
    }
}
