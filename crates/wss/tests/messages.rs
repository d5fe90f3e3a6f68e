//! Secured messages: what is secured is accepted, and nothing else is.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use castile_soap::addressing::Usage;
use castile_soap::{Layer, MessageSecurity, Options, Received, RequestMessage, Service, Version, Written};
use castile_wss::message::{
    CertificateForm, ClientSecurity, OutgoingSecurity, Part, PasswordForm, Policy, ReplayMemory, SecurityLayer,
    UsernameToken, VerifiedMessage,
};
use castile_wss::{Certificate, Error, ErrorKind, PrivateKey, Secret, SignatureAlgorithm, Signer, SigningKey, Trust};
use castile_xml::c14n::{Algorithm, Method, Subset};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use common::{Outbox, orders, text_of};
use rcgen::{CertificateParams, KeyPair};

const EXCLUSIVE: Algorithm = Algorithm { version: castile_xml::c14n::Version::Exclusive10, with_comments: false };
const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
const NOW: u64 = 1_800_000_000;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fn at(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW.checked_add_signed(seconds).unwrap())
}

fn secret() -> Secret {
    Secret::new(*b"nobody guesses this")
}

fn security() -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(secret()).with_clock(now)
}

fn policy() -> Policy {
    Policy::signed_by(Trust::new().with_secret("s", secret())).with_clock(now)
}

fn order(namespace: &str, header: &str) -> String {
    format!(
        "<?xml version='1.0'?><s:Envelope xmlns:s='{namespace}' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xsd='http://www.w3.org/2001/XMLSchema'>{header}<s:Body><o:order xmlns:o='urn:o'><item xsi:type='xsd:string'>Tea</item></o:order></s:Body></s:Envelope>"
    )
}

fn secured(security: &OutgoingSecurity, message: &str) -> String {
    let secured = security.secure(message.as_bytes()).now_or_never().unwrap();
    String::from_utf8(secured.unwrap_or_else(|error| panic!("{error}: {message}"))).unwrap()
}

fn verify(policy: &Policy, message: &str) -> Result<VerifiedMessage, Error> {
    policy.verify(message.as_bytes()).now_or_never().unwrap()
}

#[test]
fn secured_messages_are_accepted() {
    let addressing = "<a:To xmlns:a='http://www.w3.org/2005/08/addressing'>urn:to</a:To><x:other xmlns:x='urn:x'/>";
    for namespace in [SOAP11, SOAP12] {
        for header in [
            String::new(),
            "<s:Header/>".to_owned(),
            "<s:Header ></s:Header >".to_owned(),
            format!("<s:Header>{addressing}</s:Header>"),
        ] {
            let message = secured(&security(), &order(namespace, &header));
            let verified = verify(&policy(), &message).unwrap_or_else(|error| panic!("{error}: {message}"));
            assert_eq!(verified.signer(), Some(&Signer::Secret("s".to_owned())));
            let [signature] = verified.signatures() else { panic!("{message}") };
            assert_eq!(signature.references.len(), if header.contains("To") { 3 } else { 2 }, "{message}");
            assert!(message.contains("mustUnderstand=\"1\"") && message.contains(" xsd xsi\""), "{message}");
            // The rest of the message is as it was.
            let body = &message[message.find("<o:order").unwrap()..];
            assert!(order(namespace, &header).ends_with(body));
        }
    }
}

#[test]
fn every_form_of_token_is_accepted() {
    let key = KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "Tea, Ltd.");
    params.is_ca = rcgen::IsCa::ExplicitNoCa;
    let certificate = params.self_signed(&key).unwrap();
    let certificate = Certificate::from_der(certificate.der()).unwrap();
    let known = Policy::signed_by(Trust::new().with_certificate(certificate.clone()));
    for form in [
        CertificateForm::Token,
        CertificateForm::IssuerSerial,
        CertificateForm::KeyIdentifier,
        CertificateForm::Thumbprint,
    ] {
        let key = PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
        let security = OutgoingSecurity::new()
            .with_timestamp()
            .with_signature(key)
            .with_certificate(certificate.clone())
            .with_certificate_form(form);
        let message = secured(&security, &order(SOAP11, ""));
        let verified = verify(&known, &message).unwrap_or_else(|error| panic!("{form:?}: {error}: {message}"));
        assert_eq!(verified.signer(), Some(&Signer::Certificate(certificate.clone())));
        let kind = verify(&Policy::signed_by(Trust::new()), &message).unwrap_err().kind();
        let expected = if form == CertificateForm::Token { ErrorKind::Untrusted } else { ErrorKind::UnknownKey };
        assert_eq!(kind, expected, "{form:?}");
    }
}

/// WSS4J writes it so, as `X509KeyIdentifier`.
#[test]
fn a_certificate_may_be_in_the_reference_to_it() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap();
    let certificate = Certificate::from_der(certificate.der()).unwrap();
    let security = OutgoingSecurity::new()
        .with_timestamp()
        .with_signature(PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap())
        .with_certificate(certificate.clone());
    let message = secured(&security, &order(SOAP11, ""));
    // The reference is not signed.
    let start = message.find("<wsse:Reference").unwrap();
    let end = start + message[start..].find("/>").unwrap() + "/>".len();
    let kind = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3";
    let with = |token: &str| {
        let reference = format!("<wsse:KeyIdentifier ValueType=\"{kind}\">{token}</wsse:KeyIdentifier>");
        format!("{}{reference}{}", &message[..start], &message[end..])
    };
    let found = with(&STANDARD.encode(certificate.der()));
    let policy = |trust: Trust| Policy::signed_by(trust).without_replay_cache();
    let verified = verify(&policy(Trust::new().with_certificate(certificate.clone())), &found).unwrap();
    assert_eq!(verified.signer(), Some(&Signer::Certificate(certificate)));
    assert_eq!(verify(&policy(Trust::new()), &found).unwrap_err().kind(), ErrorKind::Untrusted);
    assert_eq!(verify(&policy(Trust::new()), &with("AAAA")).unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn passwords_are_checked() {
    let passwords = BTreeMap::from([
        ("ann".to_owned(), Secret::new(*b"t\xc3\xa9a & \"milk\"")),
        ("bob".to_owned(), Secret::new(*b"")),
    ]);
    let policy = || Policy::authenticated_by(passwords.clone()).with_clock(now);
    for form in [PasswordForm::Text, PasswordForm::Digest] {
        for (username, password, is_right) in [
            ("ann", "t\u{e9}a & \"milk\"", true),
            ("ann", "tea", false),
            ("ann", "", false),
            ("bob", "", true),
            ("eve", "", false),
        ] {
            let username_token = UsernameToken::new(username, password).with_form(form);
            let security = OutgoingSecurity::new().with_username(username_token).with_clock(now);
            let message = secured(&security, &order(SOAP12, ""));
            match verify(&policy(), &message) {
                Ok(verified) => {
                    assert!(is_right, "{username} {password}");
                    assert_eq!((verified.username(), verified.signer()), (Some(username), None));
                }
                Err(error) => assert!(!is_right && error.kind() == ErrorKind::Unauthenticated, "{username}: {error}"),
            }
            assert!(!format!("{security:?}").contains("milk"));
        }
    }
    // Without the character it would be another name, or another password.
    for (username, password, form, is_sent) in [
        ("an\u{1}n", "tea", PasswordForm::Text, false),
        ("ann", "te\u{1}a", PasswordForm::Text, false),
        ("ann", "te\u{1}a", PasswordForm::Digest, true),
    ] {
        let security = OutgoingSecurity::new().with_username(UsernameToken::new(username, password).with_form(form));
        let sent = security.secure(order(SOAP11, "").as_bytes()).now_or_never().unwrap();
        assert_eq!(sent.is_ok(), is_sent, "{username:?}");
    }
    let without = secured(&OutgoingSecurity::new().with_timestamp().with_clock(now), &order(SOAP11, ""));
    assert_eq!(verify(&policy(), &without).unwrap_err().kind(), ErrorKind::Unauthenticated);
    assert_eq!(verify(&policy(), &order(SOAP11, "")).unwrap_err().kind(), ErrorKind::Unsecured);
}

#[test]
fn messages_are_neither_old_nor_early_nor_received_twice() {
    let message = secured(&security(), &order(SOAP11, ""));
    for (seconds, is_accepted) in [(-61, false), (-60, true), (0, true), (300, true), (301, false)] {
        let policy = policy().with_clock(move || at(seconds));
        let result = verify(&policy, &message);
        assert_eq!(result.is_ok(), is_accepted, "{seconds}: {result:?}");
        assert!(result.err().is_none_or(|error| error.kind() == ErrorKind::Time));
    }
    // Which of the clocks is wrong is seen only beside our time.
    let late = verify(&policy().with_clock(|| at(301)), &message).unwrap_err();
    assert!(late.message().ends_with("more than 300 s ago: it is 2027-01-15T08:05:01Z, 301 s later"), "{late}");
    let early = verify(&policy().with_clock(|| at(-61)), &message).unwrap_err();
    assert!(early.message().ends_with("s in the future: it is 2027-01-15T07:58:59Z, 61 s earlier"), "{early}");
    // A message that expires early.
    let brief = secured(&security().with_lifetime(Duration::from_secs(5)), &order(SOAP11, ""));
    assert!(verify(&policy().with_clock(|| at(5)), &brief).is_ok());
    assert_eq!(verify(&policy().with_clock(|| at(6)), &brief).unwrap_err().kind(), ErrorKind::Time);
    // A message that is received again.
    let one = policy();
    assert!(verify(&one, &message).is_ok());
    assert_eq!(verify(&one, &message).unwrap_err().kind(), ErrorKind::Replayed);
    let many = policy().without_replay_cache();
    assert!(verify(&many, &message).is_ok() && verify(&many, &message).is_ok());
    // Only the digest of a password is received once.
    let passwords = BTreeMap::from([("ann".to_owned(), Secret::new(*b"tea"))]);
    for (form, again) in [(PasswordForm::Text, true), (PasswordForm::Digest, false)] {
        let policy = Policy::authenticated_by(passwords.clone()).with_clock(now);
        let username = UsernameToken::new("ann", "tea").with_form(form);
        let message = secured(&OutgoingSecurity::new().with_username(username).with_clock(now), &order(SOAP11, ""));
        assert!(verify(&policy, &message).is_ok());
        assert_eq!(verify(&policy, &message).is_ok(), again);
        let late = policy.clone().with_clock(|| at(301));
        assert_eq!(verify(&late, &message).is_ok(), again);
    }
}

/// Regression: what one service remembers was forgotten by the clock of another one.
#[test]
fn clocks_of_others_make_nothing_forgotten() {
    let cache = Arc::new(ReplayMemory::default());
    let [ours, ahead] =
        [0, 7_200].map(|seconds| policy().with_replay_cache(cache.clone()).with_clock(move || at(seconds)));
    let message = secured(&security(), &order(SOAP11, ""));
    assert!(verify(&ours, &message).is_ok());
    assert!(verify(&ahead, &secured(&security().with_clock(|| at(7_200)), &order(SOAP11, ""))).is_ok());
    assert_eq!(verify(&ours, &message).unwrap_err().kind(), ErrorKind::Replayed);
}

/// Somebody may have mistaken one element for another.
#[test]
fn a_time_of_a_user_that_is_none_is_not_shown() {
    let header = format!(
        "<s:Header><w:Security xmlns:w='{WSSE}' xmlns:u='{WSU}'><w:UsernameToken><w:Username>ann</w:Username><u:Created>hunter2</u:Created></w:UsernameToken></w:Security></s:Header>"
    );
    let policy = Policy::authenticated_by(BTreeMap::from([("ann".to_owned(), Secret::new(*b"hunter2"))]));
    let error = verify(&policy, &order(SOAP11, &header)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(!error.to_string().contains("hunter2") && error.message().contains("<Created>"), "{error}");
}

/// A signature, or a digest, can be written in several ways. The message is the same.
#[test]
fn other_forms_of_a_message_are_received_twice() {
    // The numbers of an ECDSA signature may have more zeros.
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let certificate = Certificate::from_der(CertificateParams::default().self_signed(&key).unwrap().der()).unwrap();
    let private = PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
    let security = OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(private);
    let message = secured(&security.with_certificate(certificate.clone()), &order(SOAP11, ""));
    let at = message.find("<ds:SignatureValue>").unwrap() + "<ds:SignatureValue>".len();
    let end = at + message[at..].find('<').unwrap();
    let value = STANDARD.decode(&message[at..end]).unwrap();
    let (r, s) = value.split_at(value.len() / 2);
    let padded = STANDARD.encode([&[0], r, &[0], s].concat());
    let other = format!("{}{padded}{}", &message[..at], &message[end..]);
    let policy = Policy::signed_by(Trust::new().with_certificate(certificate)).with_clock(now);
    assert!(verify(&policy, &message).is_ok());
    assert_eq!(verify(&policy, &other).unwrap_err().kind(), ErrorKind::Replayed);
    // The digest of a password has no border between nonce and time.
    let passwords = BTreeMap::from([("ann".to_owned(), Secret::new(*b"tea"))]);
    let policy = Policy::authenticated_by(passwords).with_clock(now);
    let digest = |nonce: &[u8], created: &str| {
        let digest = aws_lc_rs::digest::digest(
            &aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY,
            &[nonce, created.as_bytes(), b"tea"].concat(),
        );
        let kind = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest";
        let header = format!(
            "<s:Header><w:Security xmlns:w='{WSSE}' xmlns:u='{WSU}'><w:UsernameToken><w:Username>ann</w:Username><w:Password Type='{kind}'>{}</w:Password><w:Nonce>{}</w:Nonce><u:Created>{created}</u:Created></w:UsernameToken></w:Security></s:Header>",
            STANDARD.encode(digest),
            STANDARD.encode(nonce)
        );
        order(SOAP11, &header)
    };
    assert!(verify(&policy, &digest(b"nonce ", "2027-01-15T08:00:00Z")).is_ok());
    assert_eq!(verify(&policy, &digest(b"nonce", " 2027-01-15T08:00:00Z")).unwrap_err().kind(), ErrorKind::Replayed);
}

#[test]
fn equal_messages_are_not_one() {
    let policy = policy();
    for _ in 0..3 {
        assert!(verify(&policy, &secured(&security(), &order(SOAP11, ""))).is_ok());
    }
}

#[test]
fn a_signature_may_be_alone() {
    let alone = || OutgoingSecurity::new().with_signature(secret()).with_clock(now);
    for header in ["", "<s:Header/>", "<s:Header><x/></s:Header>"] {
        let message = secured(&alone(), &order(SOAP12, header));
        assert_eq!(verify(&policy(), &message).unwrap_err().kind(), ErrorKind::Time);
        assert!(verify(&policy().without_timestamp(), &message).is_ok(), "{message}");
    }
    // Comments before the envelope, and prefixes that are taken.
    let wsu = order(SOAP12, "").replace("<o:order", "<wsu:a xmlns:wsu='urn:taken'/><o:order");
    let message = secured(&alone(), &wsu.replace("<s:Envelope", "<!-- <x> --><s:Envelope"));
    assert!(message.contains(" wsu1:Id=\"body-1\""), "{message}");
    assert!(verify(&policy().without_timestamp(), &message).is_ok(), "{message}");
    let default = format!("<Envelope xmlns='{SOAP11}'><Body><o:order xmlns:o='urn:o'/></Body></Envelope>");
    let message = secured(&security(), &default);
    assert!(verify(&policy(), &message).is_ok(), "{message}");
}

#[test]
fn times_have_zones_and_are_times() {
    let message = secured(&security().with_signed([Part::Body]), &order(SOAP11, ""));
    let created = "2027-01-15T08:00:00Z";
    assert!(message.contains(created), "{message}");
    let policy = policy().with_signed([Part::Body]).without_timestamp().without_replay_cache();
    assert!(verify(&policy, &message).is_ok());
    for (time, kind) in [
        ("2027-01-15T09:00:00+01:00", None),
        ("2027-01-15T08:00:00", Some(ErrorKind::Malformed)),
        ("9999-01-01T00:00:00Z", Some(ErrorKind::Time)),
        ("99999999999999999999-01-01T00:00:00Z", Some(ErrorKind::Malformed)),
        ("-0001-01-01T00:00:00Z", Some(ErrorKind::Time)),
        ("now", Some(ErrorKind::Malformed)),
        ("", Some(ErrorKind::Malformed)),
    ] {
        let changed = message.replacen(created, time, 1);
        assert_eq!(verify(&policy, &changed).err().map(|error| error.kind()), kind, "{time}");
    }
    let without = |element: &str| {
        let start = message.find(&format!("<wsu:{element}>")).unwrap();
        let end = message.find(&format!("</wsu:{element}>")).unwrap() + format!("</wsu:{element}>").len();
        format!("{}{}", &message[..start], &message[end..])
    };
    assert!(verify(&policy, &without("Expires")).is_ok());
    assert_eq!(verify(&policy, &without("Created")).unwrap_err().kind(), ErrorKind::Time);
}

#[test]
fn what_must_be_signed_is_signed() {
    let addressing = "<s:Header><a:To xmlns:a='http://www.w3.org/2005/08/addressing'>urn:to</a:To></s:Header>";
    for (signed, missing) in [
        (vec![Part::Timestamp, Part::Addressing], "the body"),
        (vec![Part::Body, Part::Addressing], "the time stamp"),
        (vec![Part::Body, Part::Timestamp], "the header block To"),
    ] {
        let message = secured(&security().with_signed(signed), &order(SOAP11, addressing));
        let error = verify(&policy(), &message).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Unsigned, format!("{missing} is not signed").as_str()));
    }
    let named = |local: &str| Part::Header {
        namespace: "http://www.w3.org/2005/08/addressing".to_owned(),
        local: local.to_owned(),
    };
    let message =
        secured(&security().with_signed([Part::Body, Part::Timestamp, named("To")]), &order(SOAP11, addressing));
    assert!(verify(&policy().with_signed([named("To"), named("ReplyTo")]), &message).is_ok());
    // A user name is signed, too.
    let passwords = BTreeMap::from([("ann".to_owned(), Secret::new(*b"tea"))]);
    let both = || policy().with_passwords(passwords.clone());
    let ann = security().with_username(UsernameToken::new("ann", "tea"));
    assert_eq!(verify(&both(), &secured(&ann, &order(SOAP11, ""))).unwrap().username(), Some("ann"));
    let unsigned = secured(&ann.with_signed([Part::Body, Part::Timestamp]), &order(SOAP11, ""));
    assert_eq!(verify(&both(), &unsigned).unwrap_err().message(), "the user name is not signed");
}

#[test]
fn roles_have_their_own_security() {
    let other = Secret::new(*b"another one");
    let message = secured(&security(), &order(SOAP11, ""));
    let role = "urn:elsewhere";
    let second = OutgoingSecurity::new().with_timestamp().with_signature(other.clone()).with_clock(now).with_role(role);
    let both = secured(&second, &message);
    let trust = Trust::new().with_secret("other", other);
    assert!(verify(&Policy::signed_by(trust).with_role(role).with_clock(now), &both).is_ok());
    assert!(verify(&policy(), &both).is_ok());
    assert_eq!(verify(&policy().with_role("urn:nobody"), &both).unwrap_err().kind(), ErrorKind::Unsecured);
    let again = security().secure(message.as_bytes()).now_or_never().unwrap();
    assert_eq!(again.unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Each part is signed, but by different signers, who may not know of each other.
#[test]
fn one_signer_signs_all() {
    let keys =
        [KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap(), KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap()];
    let certificates = keys.each_ref().map(|key| {
        let certificate = CertificateParams::default().self_signed(key).unwrap();
        Certificate::from_der(certificate.der()).unwrap()
    });
    let signed = |number: usize, parts: &[Part], message: &str| {
        let security = OutgoingSecurity::new()
            .with_timestamp()
            .with_clock(now)
            .with_signed(parts.to_vec())
            .with_signature(PrivateKey::from_pem(keys[number].serialize_pem().as_bytes()).unwrap())
            .with_certificate(certificates[number].clone())
            .with_role(format!("urn:{number}"));
        secured(&security, message)
    };
    let trust = || certificates.iter().cloned().fold(Trust::new(), Trust::with_certificate);
    let policy = || Policy::signed_by(trust()).with_clock(now).with_role("urn:0");
    let (body, time) = ([Part::Body], [Part::Timestamp]);
    // The signature of the second block is moved into the first.
    let merged = |first: &[Part], second: &[Part]| {
        let both = signed(1, second, &signed(0, first, &order(SOAP11, "")));
        let second_block = both.rfind("<wsse:Security ").unwrap();
        let at = |name: &str| second_block + both[second_block..].find(name).unwrap();
        let moved = format!(
            "{}{}",
            &both[at("<wsse:BinarySecurityToken")..at("<ds:Signature")],
            &both[at("<ds:Signature")..at("</wsse:Security>")]
        );
        let end = both.find("</wsse:Security>").unwrap();
        let rest = both[second_block..].replacen(&moved, "", 1);
        format!("{}{moved}{}{rest}", &both[..end], &both[end..second_block])
    };
    let message = merged(&body, &body);
    let error = verify(&policy().without_timestamp(), &message).unwrap_err();
    assert_eq!(error.message(), "the time stamp is not signed", "{message}");
    // The first signed all. The second, who is trusted, too, signed the body again.
    let message = merged(&[Part::Body, Part::Timestamp], &body);
    let verified = verify(&policy(), &message).unwrap();
    assert_eq!(verified.signatures().len(), 2);
    assert_eq!(verified.signer(), Some(&Signer::Certificate(certificates[0].clone())));
    // The second signed the body, and the first the time stamp.
    let error = verify(&policy(), &merged(&time, &body)).unwrap_err();
    assert!(error.message().ends_with("is not signed"), "{error}");
}

/// Signature wrapping (McIntosh and Austel 2005, Somorovsky 2012): the signed body is moved to where nobody reads it, and
/// another one is put in its place.
#[test]
fn wrapped_bodies_are_refused() {
    let message = secured(&security(), &order(SOAP11, ""));
    let start = message.find("<s:Body").unwrap();
    let end = message.find("</s:Body>").unwrap() + "</s:Body>".len();
    let body = &message[start..end];
    let forged = body.replace("Tea", "Gold");
    let renamed = forged.replace("body-1", "body-2");
    let without_id = "<s:Body><o:order xmlns:o='urn:o'><item>Gold</item></o:order></s:Body>";
    let header = |content: &str| message.replacen("</s:Header>", &format!("{content}</s:Header>"), 1);
    let object = |content: &str| {
        message.replacen("</ds:Signature>", &format!("<ds:Object>{content}</ds:Object></ds:Signature>"), 1)
    };
    let security = |content: &str| message.replacen("</wsse:Security>", &format!("{content}</wsse:Security>"), 1);
    let with = |message: String, body_now: &str| {
        let at = message.rfind(body).unwrap();
        format!("{}{body_now}{}", &message[..at], &message[at + body.len()..])
    };
    for forged in [&forged, &renamed, without_id] {
        for attack in [
            with(message.clone(), forged),
            // In a header block, in the signature, in Security, in the forged body.
            with(header(&format!("<x>{body}</x>")), forged),
            with(header(body), forged),
            with(object(body), forged),
            with(security(&format!("<x>{body}</x>")), forged),
            with(message.clone(), &forged.replace("</s:Body>", &format!("{body}</s:Body>"))),
            // Two bodies, in both orders.
            with(message.clone(), &format!("{forged}{body}")),
            with(message.clone(), &format!("{body}{forged}")),
            // Before the header, and behind the envelope's body.
            message.replacen("<s:Header>", &format!("{forged}<s:Header>"), 1),
            with(message.clone(), &format!("{forged}<x>{body}</x>")),
        ] {
            let error = verify(&policy(), &attack).expect_err(&attack);
            let kinds = [
                ErrorKind::Malformed,
                ErrorKind::Digest,
                ErrorKind::Reference,
                ErrorKind::Unsigned,
                ErrorKind::Unsupported,
            ];
            assert!(kinds.contains(&error.kind()), "{error}: {attack}");
        }
    }
    // The same with the time stamp: an old one is signed, and a new one is read.
    let start = message.find("<wsu:Timestamp").unwrap();
    let end = message.find("</wsu:Timestamp>").unwrap() + "</wsu:Timestamp>".len();
    let old = &message[start..end];
    let new = old.replace("08:00:00Z", "09:00:00Z").replace("08:05:00Z", "09:05:00Z");
    let unread = format!(
        "<x xmlns:wsu='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd' xmlns:wsse='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd' xmlns:env='{SOAP11}'>{old}</x></s:Header>"
    );
    let renamed = new.replace("time-", "other-");
    for (attack, kind) in [
        (message.replace(old, &new), ErrorKind::Digest),
        (message.replace(old, &format!("{new}{old}")), ErrorKind::Reference),
        (message.replace(old, &format!("{renamed}{old}")), ErrorKind::Malformed),
        (message.replace(old, &new).replace("</s:Header>", &unread), ErrorKind::Reference),
        (message.replace(old, &renamed).replace("</s:Header>", &unread), ErrorKind::Reference),
    ] {
        let late = policy().with_clock(|| at(3600));
        assert_eq!(verify(&late, &attack).expect_err(&attack).kind(), kind, "{attack}");
    }
}

/// Exclusive canonicalization doesn't cover the declaration of a prefix that only values use, so that anybody can give it
/// another meaning under a valid signature.
#[test]
fn unsigned_prefixes_are_refused() {
    let security = security().with_signed([Part::Body]);
    let policy = || policy().with_signed([Part::Body]).without_timestamp().without_replay_cache();
    let message = secured(&security, &order(SOAP11, ""));
    let rebound = message.replace("'http://www.w3.org/2001/XMLSchema'", "'urn:evil'");
    assert_eq!(verify(&policy(), &rebound).unwrap_err().kind(), ErrorKind::Digest);
    let without = signed_without_list(&message);
    let rebound = without.replace("'http://www.w3.org/2001/XMLSchema'", "'urn:evil'");
    assert_ne!(without, rebound);
    for message in [&without, &rebound] {
        let error = verify(&policy(), message).unwrap_err();
        assert!(error.kind() == ErrorKind::UnsignedPrefix && error.message().contains("the prefix \"xsd\""), "{error}");
        // This is why: both have the same signature.
        assert!(verify(&policy().with_unsigned_prefixes(), message).is_ok());
    }
}

/// CXF declares the prefix of the code of a fault inside the fault, and doesn't list it.
#[test]
fn the_code_of_a_fault_may_have_an_unsigned_prefix() {
    let security = security().with_signed([Part::Body]);
    let policy = || policy().with_signed([Part::Body]).without_timestamp().without_replay_cache();
    let envelope = |namespace: &str, fault: &str| {
        format!("<s:Envelope xmlns:s='{namespace}'><s:Body><s:Fault>{fault}</s:Fault></s:Body></s:Envelope>")
    };
    let code11 = |declared: &str, text: &str| {
        envelope(SOAP11, &format!("<faultcode xmlns:e='{declared}'>{text}</faultcode><faultstring>no</faultstring>"))
    };
    let code12 = |declared: &str, text: &str| {
        let code = format!("<s:Code><s:Value xmlns:e='{declared}'>{text}</s:Value></s:Code>");
        envelope(SOAP12, &format!("{code}<s:Reason><s:Text xml:lang='en'>no</s:Text></s:Reason>"))
    };
    for fault in [code11(SOAP11, "e:Client"), code12(SOAP12, " e:Sender\n"), code12(SOAP12, "<!-- -->e:Receiver")] {
        let message = signed_without_list(&secured(&security, &fault));
        verify(&policy(), &message).unwrap_or_else(|error| panic!("{error}: {message}"));
        // The prefix must be SOAP's, as it is here.
        let rebound = message.replace(&format!("xmlns:e='{SOAP11}'"), "xmlns:e='urn:evil'");
        let rebound = rebound.replace(&format!("xmlns:e='{SOAP12}'"), "xmlns:e='urn:evil'");
        assert_ne!(message, rebound);
        assert_eq!(verify(&policy(), &rebound).unwrap_err().kind(), ErrorKind::UnsignedPrefix);
    }
    let subcode = format!("<s:Subcode><s:Value xmlns:f='{SOAP12}'>f:Sender</s:Value></s:Subcode></s:Code>");
    let detail = format!("<detail xmlns:e='{SOAP11}' xmlns:f='urn:f'>e:Client</detail></s:Fault>");
    let attribute = "<faultcode xmlns:x='urn:x' about='x:y'";
    for other in [
        code12(SOAP12, "e:Sender").replace("</s:Code>", &subcode),
        code11(SOAP11, "e:Client").replace("</s:Fault>", &detail),
        code11(SOAP11, "e:Client").replace("<faultcode", attribute),
        code11("urn:f", "e:Client"),
        code11(SOAP11, "e:Client").replace("s:Fault", "s:Other"),
        code11(SOAP11, "e:Client").replace("faultcode", "other"),
        // A second prefix in the same text.
        code11(SOAP11, "e:Client f:Client").replace("xmlns:e", "xmlns:f='urn:f' xmlns:e"),
    ] {
        let message = signed_without_list(&secured(&security, &other));
        assert_eq!(verify(&policy(), &message).unwrap_err().kind(), ErrorKind::UnsignedPrefix, "{message}");
    }
}

/// A reference to a token, with the STR-Transform, signs the token.
#[test]
fn references_to_tokens_sign_the_tokens() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap();
    let certificate = Certificate::from_der(certificate.der()).unwrap();
    let private = || PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
    let security = OutgoingSecurity::new()
        .with_timestamp()
        .with_clock(now)
        .with_signature(private())
        .with_certificate(certificate.clone());
    let policy = || Policy::signed_by(Trust::new().with_certificate(certificate.clone())).with_clock(now);
    let message = secured(&security, &order(SOAP11, ""));
    let transform = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform";
    let reference = format!(
        "<ds:Reference URI=\"#str\"><ds:Transforms><ds:Transform Algorithm=\"{transform}\"><wsse:TransformationParameters><ds:CanonicalizationMethod Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"/></wsse:TransformationParameters></ds:Transform></ds:Transforms><ds:DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"/><ds:DigestValue>DIGEST</ds:DigestValue></ds:Reference></ds:SignedInfo>"
    );
    // The token's canonical form, with the empty default namespace that the transform adds.
    let start = message.find("<wsse:BinarySecurityToken").unwrap();
    let end = message.find("</wsse:BinarySecurityToken>").unwrap() + "</wsse:BinarySecurityToken>".len();
    let subset = Subset { apex: Some(start), without: None };
    let token =
        canonical(&message, subset).replacen("<wsse:BinarySecurityToken", "<wsse:BinarySecurityToken xmlns=\"\"", 1);
    let with_reference = message
        .replace("</ds:SignedInfo>", &reference.replace("DIGEST", &digest(&token)))
        .replace("<wsse:SecurityTokenReference>", "<wsse:SecurityTokenReference wsu:Id=\"str\">");
    let signed = signed_with(&with_reference, &private());
    let verified = verify(&policy(), &signed).unwrap_or_else(|error| panic!("{error}: {signed}"));
    let token = signed.find("<wsse:BinarySecurityToken").unwrap();
    assert!(verified.is_signed(&(token..token + (end - start))));
    // Another certificate, of the same key.
    let mut params = CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, "other");
    let other = Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap();
    let exchange = |message: &str| message.replace(&STANDARD.encode(certificate.der()), &STANDARD.encode(other.der()));
    let both = || {
        let trust = Trust::new().with_certificate(certificate.clone()).with_certificate(other.clone());
        Policy::signed_by(trust).with_clock(now)
    };
    assert_eq!(verify(&both(), &exchange(&signed)).unwrap_err().kind(), ErrorKind::Digest);
    // The token may be inside the reference.
    let whole = message[start..end].to_owned();
    let element = with_reference.find("<wsse:Reference URI=\"#token-1\"").unwrap();
    let element = with_reference[element..element + with_reference[element..].find("/>").unwrap() + 2].to_owned();
    let inside = with_reference.replacen(&whole, "", 1).replacen(
        &element,
        &format!("<wsse:Embedded>{whole}</wsse:Embedded>"),
        1,
    );
    let inside = signed_with(&inside, &private());
    let verified = verify(&policy(), &inside).unwrap_or_else(|error| panic!("{error}: {inside}"));
    let token = inside.find("<wsse:BinarySecurityToken").unwrap();
    assert!(token > inside.find("<ds:KeyInfo>").unwrap() && verified.is_signed(&(token..token + (end - start))));
    assert_eq!(verify(&both(), &exchange(&inside)).unwrap_err().kind(), ErrorKind::Digest);
    // Without the transform another token can be put there.
    assert!(verify(&both(), &exchange(&message)).is_ok());
    for (from, to, kind) in [
        ("URI=\"#str\"", "URI=\"#body-1\"", ErrorKind::Reference),
        ("<wsse:TransformationParameters>", "<wsse:TransformationParameters><x/>", ErrorKind::Malformed),
        ("<wsse:Reference URI=\"#token-1\"", "<wsse:Reference URI=\"#body-1\"", ErrorKind::Reference),
        ("<wsse:Reference URI=\"#token-1\"", "<wsse:Reference URI=\"http://127.0.0.1/\"", ErrorKind::Unsupported),
    ] {
        let changed = signed_with(&with_reference.replacen(from, to, 1), &private());
        assert_eq!(verify(&policy(), &changed).unwrap_err().kind(), kind, "{from}");
    }
}

/// Returns the message as a sender signs it who omits the list of prefixes for its last reference, to the body.
fn signed_without_list(message: &str) -> String {
    let start = message.rfind("><ec:InclusiveNamespaces").unwrap();
    let end = start + message[start..].find("</ds:Transform>").unwrap() + "</ds:Transform>".len();
    signed_again(&format!("{}/>{}", &message[..start], &message[end..]))
}

/// Returns the message with the digest of its body and the signature made again, with exclusive canonicalization.
fn signed_again(message: &str) -> String {
    let body = canonical(message, Subset { apex: message.find("<s:Body"), without: None });
    let at = message.rfind("<ds:DigestValue>").unwrap() + "<ds:DigestValue>".len();
    let end = at + message[at..].find('<').unwrap();
    signed_with(&format!("{}{}{}", &message[..at], digest(&body), &message[end..]), &secret())
}

/// Returns the message with another value of its signature.
fn signed_with(message: &str, key: &dyn SigningKey) -> String {
    let info = canonical(message, Subset { apex: message.find("<ds:SignedInfo"), without: None });
    let value = STANDARD.encode(key.sign(info.as_bytes()).now_or_never().unwrap().unwrap());
    let at = message.find("<ds:SignatureValue>").unwrap() + "<ds:SignatureValue>".len();
    let end = at + message[at..].find('<').unwrap();
    format!("{}{value}{}", &message[..at], &message[end..])
}

fn canonical(message: &str, subset: Subset) -> String {
    let mut out = String::new();
    let mut reader = castile_xml::Reader::new(message.as_bytes(), castile_xml::Limits::default()).unwrap();
    Method::new(EXCLUSIVE).write(&mut reader, subset, |piece| out.push_str(piece)).unwrap();
    out
}

fn digest(text: &str) -> String {
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()))
}

/// Returns a service that says who signed.
fn signers() -> impl Service {
    orders(async |request| {
        let verified = request.extensions().get::<VerifiedMessage>().unwrap();
        let signer = format!("{:?}", verified.signer().unwrap());
        Ok(format!("{} for {signer}", request.into_inner()).into())
    })
}

#[test]
fn a_layer_secures_a_service() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let log = refused.clone();
    let reply_secret = Secret::new(*b"of the service");
    let layer = SecurityLayer::new(policy())
        .on_refusal(move |error| log.lock().unwrap().push(error.kind()))
        .with_reply_security(
            OutgoingSecurity::new().with_timestamp().with_signature(reply_secret.clone()).with_clock(now),
        );
    let service = layer.layer(signers());
    let trust = Trust::new().with_secret("service", reply_secret);
    let reply_policy = Policy::signed_by(trust).with_clock(now).without_replay_cache();
    for version in Version::ALL {
        let namespace = version.namespace();
        let order =
            format!("<s:Envelope xmlns:s='{namespace}'><s:Body><order xmlns='urn:o'>Tea</order></s:Body></s:Envelope>");
        let call = |message: &str| {
            let request = RequestMessage::new(version, message.to_owned());
            let reply = service.call(request, &Options::default()).now_or_never().unwrap();
            let message = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
            let is_refused = message.contains("InvalidSecurity");
            assert_eq!(verify(&reply_policy, &message).is_ok(), !is_refused, "{message}");
            (reply.fault.is_some(), message)
        };
        let message = secured(&security(), &order);
        let (is_fault, reply) = call(&message);
        assert!(!is_fault && reply.contains("Tea for Secret(\"s\")</order>"), "{reply}");
        // All that is refused gets the same answer.
        let faults: BTreeSet<String> = [
            order.clone(),
            message.clone(),
            message.replace("Tea", "Gold"),
            secured(&security().with_signed([Part::Body]), &order),
            secured(&security().with_clock(|| at(-1000)), &order),
            secured(
                &OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(Secret::new(*b"x")),
                &order,
            ),
        ]
        .iter()
        .map(|message| {
            let (is_fault, reply) = call(message);
            assert!(is_fault);
            reply[reply.find("Fault>").unwrap()..].to_owned()
        })
        .collect();
        assert_eq!(faults.len(), 1, "{faults:?}");
        let fault = faults.first().unwrap();
        assert!(!fault.contains("igned"), "{fault}");
        use ErrorKind::{Digest, Replayed, Signature, Time, Unsecured, Unsigned};
        let reasons = std::mem::take(&mut *refused.lock().unwrap());
        assert_eq!(reasons, [Unsecured, Replayed, Digest, Unsigned, Time, Signature]);
    }
}

/// A key that can't be used.
#[derive(Debug)]
struct Locked;

impl SigningKey for Locked {
    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Ed25519
    }

    fn sign<'a>(&'a self, _: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        std::future::ready(Err(Error::of_key("it is locked"))).boxed()
    }
}

#[test]
fn a_layer_secures_replies_to_other_addresses() {
    let outbox = Arc::new(Outbox::default());
    let mut options = Options::default();
    options.addressing.usage = Usage::Supported;
    options.addressing.replies = Some(outbox.clone());
    let reply_secret = Secret::new(*b"of the service");
    let signing = OutgoingSecurity::new().with_timestamp().with_signature(reply_secret.clone()).with_clock(now);
    let layer = SecurityLayer::new(policy()).with_reply_security(signing).with_signature_confirmation();
    let service = layer.layer(signers());
    let addressed = |address: &str| {
        format!(
            "<s:Envelope xmlns:s='{SOAP12}' xmlns:a='http://www.w3.org/2005/08/addressing'><s:Header><a:Action>order</a:Action><a:MessageID>urn:1</a:MessageID><a:ReplyTo><a:Address>{address}</a:Address></a:ReplyTo></s:Header><s:Body><order xmlns='urn:o'>Tea</order></s:Body></s:Envelope>"
        )
    };
    let call = |message: String| {
        let request = RequestMessage::new(Version::Soap12, message);
        service.call(request, &options).now_or_never().unwrap()
    };
    let reply = call(secured(&security(), &addressed(Outbox::ADDRESS)));
    assert!(reply.message.bytes().unwrap().is_empty());
    let sent = outbox.take();
    let [(address, message)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(address, Outbox::ADDRESS);
    let trust = Trust::new().with_secret("service", reply_secret);
    let verified = verify(&Policy::signed_by(trust).with_clock(now), message).unwrap();
    assert!(verified.signer().is_some() && message.contains("SignatureConfirmation") && message.contains("RelatesTo"));
    // What can't be signed is not sent.
    let unable = SecurityLayer::new(policy())
        .with_reply_security(OutgoingSecurity::new().with_signature(Locked))
        .layer(signers());
    let message = secured(&security(), &addressed(Outbox::ADDRESS));
    let reply = unable.call(RequestMessage::new(Version::Soap12, message), &options).now_or_never().unwrap();
    assert!(reply.message.bytes().unwrap().is_empty() && outbox.take().is_empty());
    // The fault for a request that is refused is not signed. It is sent on the connection: strangers don't choose where.
    let refused = call(addressed(Outbox::ADDRESS));
    let fault = text_of(&refused);
    assert!(fault.contains("InvalidSecurity") && !fault.contains("Signature>"), "{fault}");
    assert!(outbox.take().is_empty());
}

#[test]
fn a_client_requires_security_of_answers() {
    let service = Secret::new(*b"of the service");
    let answers = Policy::signed_by(Trust::new().with_secret("service", service.clone())).with_clock(now);
    let client = ClientSecurity::new(security()).with_answer_policy(answers);
    let request = client.secure(&Written::new(order(SOAP11, ""))).now_or_never().unwrap().unwrap();
    assert!(policy().verify(&request.message).now_or_never().unwrap().is_ok());
    let signing = OutgoingSecurity::new().with_timestamp().with_signature(service).with_clock(now);
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault></s:Body></s:Envelope>";
    let check = |client: &ClientSecurity, answer: &str| {
        client.verify(&mut Bytes::from(answer.to_owned()).into(), &[]).now_or_never().unwrap()
    };
    for answer in [fault, &order(SOAP12, "")] {
        assert!(check(&client, &secured(&signing, answer)).is_ok());
        assert!(check(&ClientSecurity::new(security()), answer).is_ok());
    }
    let kind = |answer: &str| check(&client, answer).unwrap_err().kind();
    assert_eq!(kind(fault), castile_soap::ErrorKind::UnsecuredFault);
    assert_eq!(kind(&order(SOAP11, "")), castile_soap::ErrorKind::Security);
    assert_eq!(kind(&secured(&signing, fault).replace(">no<", ">yes<")), castile_soap::ErrorKind::Security);
    assert_eq!(kind("<html>"), castile_soap::ErrorKind::Security);
    let secured = client.clone().secure(&Written::new("<html/>")).now_or_never().unwrap();
    assert_eq!(secured.unwrap_err().kind(), castile_soap::ErrorKind::Security);
}

/// The text is decoded once, whatever it declares.
#[test]
fn messages_have_other_encodings() {
    let order = order(SOAP11, "").replace("<?xml version='1.0'?>", "<?xml version='1.0' encoding='ISO-8859-1'?>");
    let message = secured(&security(), &order.replace("Tea", "Th\u{e9}"));
    // What is sent is in UTF-8, as its media type says.
    let utf8 = |message: &[u8]| {
        let mut received = Received::from(Bytes::copy_from_slice(message));
        received.charset = Some(castile_xml::Charset::UTF_8);
        policy().verify_received(&mut received).now_or_never().unwrap()
    };
    assert!(utf8(message.as_bytes()).is_ok());
    // The same message in the encoding that it declares.
    let latin: Vec<u8> = message.chars().map(|c| u8::try_from(c).unwrap()).collect();
    assert!(policy().verify(&latin).now_or_never().unwrap().is_ok());
    assert!(utf8(&latin).is_err());
}

/// CXF answers requests with passwords so.
#[test]
fn a_client_accepts_answers_with_a_time_stamp_alone() {
    let client = ClientSecurity::new(security()).with_answer_policy(Policy::timestamped().with_clock(now));
    let kind = |answer: &str| {
        client
            .verify(&mut Bytes::from(answer.to_owned()).into(), &[])
            .now_or_never()
            .unwrap()
            .map_err(|error| error.kind())
    };
    let answer = |age: i64| {
        let made = OutgoingSecurity::new().with_timestamp().with_clock(move || at(-age));
        secured(&made, &order(SOAP11, ""))
    };
    assert!(answer(0).contains("mustUnderstand=\"1\""));
    assert_eq!(kind(&answer(0)), Ok(()));
    // Nothing tells it from an equal answer to another request.
    assert_eq!(kind(&answer(0)), Ok(()));
    assert_eq!(kind(&answer(301)), Err(castile_soap::ErrorKind::Security));
    assert_eq!(kind(&order(SOAP11, "")), Err(castile_soap::ErrorKind::Security));
    // The block is understood where it is.
    let made = answer(0);
    let mut received = castile_soap::Received::from(Bytes::from(made.clone()));
    assert!(client.verify(&mut received, &[]).now_or_never().unwrap().is_ok());
    assert_eq!(received.processed, [made.find("<wsse:Security").unwrap()]);
}

/// node-soap gives ids without a namespace to what it signs, unless its option `idMode` is `wssecurity`.
#[test]
fn ids_of_what_is_signed_may_have_no_namespace() {
    let with_id = |message: &str| message.replace("<s:Body>", "<s:Body Id='_0'>");
    for namespace in [SOAP11, SOAP12] {
        let message = secured(&security(), &with_id(&order(namespace, "")));
        assert!(message.contains("URI=\"#_0\"") && !message.contains("body-1"), "{message}");
        verify(&policy(), &message).unwrap_or_else(|error| panic!("{error}: {message}"));
        let changed = message.replace(">Tea<", ">Tee<");
        assert_eq!(verify(&policy(), &changed).unwrap_err().kind(), ErrorKind::Digest);
        // It is not an id of other elements, which may have several that are equal.
        let other = message.replace("<o:order ", "<o:order Id='_0' ");
        assert_eq!(verify(&policy(), &other).unwrap_err().kind(), ErrorKind::Digest);
        let second = format!("<s:Header><x:x xmlns:x='urn:x' xmlns:wsu='{WSU}' wsu:Id='_0'/></s:Header>");
        let twice = security().secure(with_id(&order(namespace, &second)).as_bytes()).now_or_never().unwrap();
        assert_eq!(twice.unwrap_err().kind(), ErrorKind::Reference);
    }
}

/// Every byte is changed in several ways. What is accepted has the same body.
#[test]
fn changed_messages_are_refused() {
    let policy = policy().without_replay_cache();
    let message = secured(&security(), &order(SOAP12, "")).into_bytes();
    let (mut accepted, mut tried) = (0, 0);
    let mut random = fastrand::Rng::with_seed(11);
    let canonical_body = |message: &[u8]| {
        let text = std::str::from_utf8(message).unwrap();
        let mut found = None;
        let mut reader = castile_xml::Reader::new(message, castile_xml::Limits::default()).unwrap();
        loop {
            match reader.next().unwrap() {
                castile_xml::Token::StartTag(tag) if reader.depth() == 2 && tag.name.local() == "Body" => {
                    assert_eq!(found.replace(tag.offset), None, "{text}");
                }
                castile_xml::Token::End => break,
                _ => {}
            }
        }
        let mut body = String::new();
        let mut reader = castile_xml::Reader::new(message, castile_xml::Limits::default()).unwrap();
        let subset = Subset { apex: found, without: None };
        let method = Method::new(EXCLUSIVE).with_inclusive_namespaces("xsd");
        method.write(&mut reader, subset, |piece| body.push_str(piece)).unwrap();
        body
    };
    let expected = canonical_body(&message);
    for at in 0..message.len() {
        for change in 0..5 {
            let mut changed = message.clone();
            match change {
                0 => drop(changed.remove(at)),
                1 => changed.insert(at, message[at]),
                2 => changed[at] ^= 1 << random.u8(0..8),
                3 => changed[at] = b" <>&\"'/=:aA0-!"[random.usize(0..14)],
                _ => {
                    let end = (at + random.usize(1..200)).min(message.len());
                    let piece = message[at..end].to_vec();
                    let to = random.usize(0..message.len());
                    drop(changed.splice(to..to, piece));
                }
            }
            tried += 1;
            if changed != message && policy.verify(&changed).now_or_never().unwrap().is_ok() {
                assert_eq!(canonical_body(&changed), expected, "{}", String::from_utf8_lossy(&changed));
                accepted += 1;
            }
        }
    }
    assert!(accepted > 10 && accepted < tried / 8, "{accepted} of {tried}");
}

#[test]
fn nothing_is_not_signed() {
    for (signed, is_sent) in [(vec![Part::Username], false), (vec![], false), (vec![Part::Username, Part::Body], true)]
    {
        let sent = security()
            .with_signed([])
            .with_signed_if_present(signed)
            .secure(order(SOAP11, "").as_bytes())
            .now_or_never()
            .unwrap();
        assert_eq!(sent.map_err(|error| error.kind()).err(), (!is_sent).then_some(ErrorKind::Reference));
    }
}
