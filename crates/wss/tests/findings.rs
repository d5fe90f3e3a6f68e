//! What attackers of this crate have found.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use castile_soap::{Layer, MessageSecurity, Options, RequestMessage, Service, Version, Written};
use castile_wss::document::{DocumentSigner, DocumentVerifier, Place};
use castile_wss::message::{
    AssertionPolicy, ClientSecurity, OutgoingSecurity, Part, PasswordForm, Policy, SecurityLayer, UsernameToken,
};
use castile_wss::{Certificate, ErrorKind, PrivateKey, RevocationList, Secret, Signer, Trust, explain};
use futures_util::FutureExt;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer, KeyIdMethod, KeyPair,
    KeyUsagePurpose, RevokedCertParams, SerialNumber,
};

use common::key_value;

const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><o:order xmlns:o='urn:o'>Tea</o:order></s:Body></s:Envelope>";
const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
const SAML11: &str = "urn:oasis:names:tc:SAML:1.0:assertion";
const SAML20: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
/// 2027-01-15T08:00:00Z.
const NOW: u64 = 1_800_000_000;

struct Party {
    pem: String,
    certificate: Certificate,
    /// Another certificate with the same key, as a renewal makes it.
    renewed: Certificate,
}

impl Party {
    fn new() -> Self {
        let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let certificate = |serial: u64| {
            let mut params = CertificateParams::default();
            params.serial_number = Some(SerialNumber::from(serial));
            Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap()
        };
        Party { pem: key.serialize_pem(), certificate: certificate(1), renewed: certificate(2) }
    }

    fn key(&self) -> PrivateKey {
        PrivateKey::from_pem(self.pem.as_bytes()).unwrap()
    }

    fn trust(&self) -> Trust {
        Trust::new().with_certificate(self.certificate.clone())
    }

    fn signing(&self) -> OutgoingSecurity {
        OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(self.key())
    }
}

static STS: LazyLock<Party> = LazyLock::new(Party::new);
static ANN: LazyLock<Party> = LazyLock::new(Party::new);

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

/// Returns an assertion for the holder of Ann's key.
fn assertion(id: &str, data: &str) -> String {
    let certificate = STANDARD.encode(ANN.certificate.der());
    let text = format!(
        "<a:Assertion xmlns:a='{SAML20}' ID='{id}' Version='2.0' IssueInstant='2027-01-15T07:59:00Z'><a:Issuer>urn:sts</a:Issuer><a:Subject><a:NameID>ann</a:NameID><a:SubjectConfirmation Method='urn:oasis:names:tc:SAML:2.0:cm:holder-of-key'><a:SubjectConfirmationData{data}><ds:KeyInfo xmlns:ds='{DSIG}'><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></a:SubjectConfirmationData></a:SubjectConfirmation></a:Subject><a:Conditions NotOnOrAfter='2027-01-15T08:10:00Z'/></a:Assertion>"
    );
    let signer = DocumentSigner::new(STS.key())
        .with_certificates(vec![STS.certificate.clone()])
        .with_id_attribute("ID")
        .with_place(Place::After { namespace: Some(SAML20.to_owned()), local: "Issuer".to_owned() });
    String::from_utf8(signer.sign_element(text.as_bytes(), id).now_or_never().unwrap().unwrap()).unwrap()
}

fn issued() -> AssertionPolicy {
    AssertionPolicy::new().with_issuer("urn:sts", STS.trust())
}

fn secured(security: &OutgoingSecurity) -> String {
    String::from_utf8(security.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
}

fn kind(policy: &Policy, message: &str) -> Option<ErrorKind> {
    policy.verify(message.as_bytes()).now_or_never().unwrap().err().map(|error| error.kind())
}

/// A token service issues two assertions for one key. Whoever has read both sends the message with the other one.
#[test]
fn a_message_with_another_assertion_is_received_twice() {
    let (first, second) = (assertion("_a1", ""), assertion("_a2", ""));
    let ann = ANN.signing().with_key_of_subject().with_signed([Part::Body, Part::Timestamp]);
    let message = secured(&ann.with_assertion(first.clone()));
    let policy = Policy::asserted_by(issued()).with_clock(now);
    assert_eq!(kind(&policy, &message), None);
    assert_eq!(kind(&policy, &message), Some(ErrorKind::Replayed));
    let again = message.replace(&first, &second).replace(">_a1</wsse:KeyIdentifier>", ">_a2</wsse:KeyIdentifier>");
    assert_ne!(again, message);
    assert_eq!(kind(&policy, &again), Some(ErrorKind::Replayed), "the same signed bytes are accepted twice");
}

/// `KeyInfo` and the token are not signed: whoever reads a message can name another certificate of the same key.
#[test]
fn a_message_with_another_certificate_is_received_twice() {
    let message = secured(&ANN.signing().with_certificate(ANN.certificate.clone()));
    let trust = ANN.trust().with_certificate(ANN.renewed.clone());
    let policy = Policy::signed_by(trust).with_clock(now);
    assert_eq!(kind(&policy, &message), None);
    let [old, new] = [&ANN.certificate, &ANN.renewed].map(|certificate| STANDARD.encode(certificate.der()));
    let again = message.replace(&old, &new);
    assert_ne!(again, message);
    assert_eq!(kind(&policy, &again), Some(ErrorKind::Replayed), "the same signed bytes are accepted twice");
}

/// The holder of a key may vouch for others, too: the message is then known by the certificate or by the assertion.
#[test]
fn a_message_of_a_sender_who_has_an_assertion_is_received_twice() {
    let first = assertion("_a1", "");
    let ann = ANN.signing().with_key_of_subject().with_signed([Part::Body, Part::Timestamp]);
    let message = secured(&ann.with_assertion(first));
    let policy = Policy::asserted_by(issued().with_sender_vouches(ANN.trust())).with_clock(now);
    assert_eq!(kind(&policy, &message), None);
    let start = message.rfind("<ds:KeyInfo>").unwrap();
    let end = start + message[start..].find("</ds:KeyInfo>").unwrap();
    let certificate = STANDARD.encode(ANN.certificate.der());
    let other =
        format!("<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data>");
    let again = format!("{}{other}{}", &message[..start], &message[end..]);
    assert_eq!(kind(&policy, &again), Some(ErrorKind::Replayed), "the same signed bytes are accepted twice");
}

/// The assertion that is accepted and the one that the signer is said to be the subject of are not the same.
#[test]
fn the_signer_is_the_subject_of_the_assertion_that_is_used() {
    let expired = assertion("_a1", " NotOnOrAfter='2027-01-15T07:50:00Z'");
    let used = assertion("_a2", "");
    let ann = ANN.signing().with_key_of_subject().with_signed([Part::Body, Part::Timestamp]);
    let message = secured(&ann.with_assertion(used.clone()));
    let certificate = STANDARD.encode(ANN.certificate.der());
    let start = message.rfind("<ds:KeyInfo>").unwrap();
    let end = start + message[start..].find("</ds:KeyInfo>").unwrap();
    let by_key =
        format!("<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data>");
    let message =
        format!("{}{by_key}{}", &message[..start], &message[end..]).replace(&used, &format!("{expired}{used}"));
    let policy = Policy::asserted_by(issued()).with_clock(now).without_replay_cache();
    let verified = policy.verify(message.as_bytes()).now_or_never().unwrap().unwrap();
    assert_eq!(verified.assertion().unwrap().id, "_a2");
    assert_eq!(verified.signer(), Some(&Signer::Subject("_a2".to_owned())));
}

fn order(item: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order xmlns='urn:o'>{item}</order></s:Body></s:Envelope>"
    )
}

/// A service that asks for passwords confirms signatures that it has not verified. Mallory has an account. He puts the signature of
/// Ann's request into his own, and gives Ann the signed answer to it.
#[test]
fn signatures_that_were_not_verified_are_not_confirmed() {
    let digest = |name: &str| UsernameToken::new(name, name).with_form(PasswordForm::Digest);
    let passwords = ["ann", "mallory"].map(|name| (name.to_owned(), Secret::new(name)));
    let policy = Policy::authenticated_by(BTreeMap::from(passwords)).with_clock(now);
    let replies = OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(Secret::new("service"));
    let service =
        SecurityLayer::new(policy).with_reply_security(replies).with_signature_confirmation().layer(common::echo());
    let answers = Policy::signed_by(Trust::new().with_secret("service", Secret::new("service"))).with_clock(now);
    let requests = ANN.signing().with_username(digest("ann"));
    let ann = ClientSecurity::new(requests).with_answer_policy(answers).with_signature_confirmation();
    let request = ann.secure(&Written::new(order("one cup of tea"))).now_or_never().unwrap().unwrap();
    // Mallory has read it.
    let read = String::from_utf8(request.message.to_vec()).unwrap();
    let start = read.find("<ds:Signature ").unwrap();
    let end = read.find("</ds:Signature>").unwrap() + "</ds:Signature>".len();
    let own = OutgoingSecurity::new().with_clock(now).with_username(digest("mallory"));
    let own = own.secure(order("all the tea in China").as_bytes()).now_or_never().unwrap().unwrap();
    let own = String::from_utf8(own).unwrap();
    let own = own.replace("</wsse:Security>", &format!("{}</wsse:Security>", &read[start..end]));
    let reply = service.call(RequestMessage::new(Version::Soap11, own), &Options::default()).now_or_never().unwrap();
    let reply = reply.message.bytes().unwrap().to_vec();
    assert!(String::from_utf8_lossy(&reply).contains("China"), "{}", String::from_utf8_lossy(&reply));
    let verified = ann.verify(&mut Bytes::from(reply.clone()).into(), &request.signatures).now_or_never().unwrap();
    assert!(verified.is_err(), "Ann accepts the answer to Mallory's request");
}

/// Two lists of one authority, the older one first. Both are up to date.
#[test]
fn every_list_counts() {
    let at = |seconds: i64| time_at(seconds);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let certificate = Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap();
    let issuer = Issuer::new(params, key);
    let of_signer = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.serial_number = Some(SerialNumber::from(7));
    let signer = Certificate::from_der(params.signed_by(&of_signer, &issuer).unwrap().der()).unwrap();
    let list = |number: u64, serials: &[u64], from: i64| {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: at(-3_600).into(),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: at(from).into(),
            next_update: at(86_400).into(),
            crl_number: SerialNumber::from(number),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        RevocationList::from_der(params.signed_by(&issuer).unwrap().der()).unwrap()
    };
    let (old, new) = (list(1, &[], -86_400), list(2, &[7], -3_600));
    let signed = DocumentSigner::new(PrivateKey::from_pem(of_signer.serialize_pem().as_bytes()).unwrap())
        .with_certificates(vec![signer])
        .sign(b"<a/>")
        .now_or_never()
        .unwrap()
        .unwrap();
    let trust = Trust::new().with_authority(certificate);
    let only_old = trust.clone().with_revocation_list(old.clone());
    assert!(DocumentVerifier::new(only_old).verify(&signed).is_ok());
    let outcomes = [vec![new.clone()], vec![new.clone(), old.clone()], vec![old, new]].map(|lists| {
        let trust = lists.into_iter().fold(trust.clone(), Trust::with_revocation_list);
        DocumentVerifier::new(trust).verify(&signed).err().map(|error| error.to_string())
    });
    eprintln!("only the new one, the new one first, the old one first: {outcomes:?}");
    assert!(outcomes.iter().all(Option::is_some), "a revoked certificate is accepted: an older list was first");
}

fn time_at(seconds: i64) -> SystemTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    UNIX_EPOCH + Duration::from_secs(now.as_secs().checked_add_signed(seconds).unwrap())
}

/// An authority has a new key, and the name that it had. Its certificates are good, and each key has its list.
#[test]
fn authorities_of_one_name_have_their_own_lists() {
    let parties = [(), ()].map(|()| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let certificate = Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap();
        let issuer = Issuer::new(params, key);
        let list = CertificateRevocationListParams {
            this_update: time_at(-3_600).into(),
            next_update: time_at(86_400).into(),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: Vec::new(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = RevocationList::from_der(list.signed_by(&issuer).unwrap().der()).unwrap();
        let key = KeyPair::generate().unwrap();
        let signer = CertificateParams::default().signed_by(&key, &issuer).unwrap();
        let signed = DocumentSigner::new(PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap())
            .with_certificates(vec![Certificate::from_der(signer.der()).unwrap()]);
        (certificate, list, signed.sign(b"<a/>").now_or_never().unwrap().unwrap())
    });
    let trust = parties.iter().fold(Trust::new(), |trust, (authority, list, _)| {
        trust.with_authority(authority.clone()).with_revocation_list(list.clone())
    });
    // Without lists both are accepted.
    let without = parties.iter().fold(Trust::new(), |trust, (authority, ..)| trust.with_authority(authority.clone()));
    let accepted = |(_, _, signed): &(_, _, Vec<u8>)| DocumentVerifier::new(without.clone()).verify(signed).is_ok();
    assert!(parties.iter().all(accepted));
    let outcomes = parties.map(|(_, _, signed)| {
        DocumentVerifier::new(trust.clone()).verify(&signed).err().map(|error| error.to_string())
    });
    assert_eq!(outcomes, [None, None]);
}

/// The key of an authority is for certificates, and says so.
#[test]
fn an_authority_whose_key_is_for_certificates_signs_nothing_else() {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let certificate = Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap();
    let signed = DocumentSigner::new(PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap())
        .with_certificates(vec![certificate.clone()]);
    let signed = signed.sign(b"<a/>").now_or_never().unwrap().unwrap();
    assert!(DocumentVerifier::new(Trust::new().with_authority(certificate)).verify(&signed).is_err());
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let at = text.find(start).unwrap_or_else(|| panic!("{start} in {text}"));
    &text[at..at + text[at..].find(end).unwrap() + end.len()]
}

fn service(policy: Policy) -> impl Service {
    let replies = OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(Secret::new("service"));
    SecurityLayer::new(policy).with_reply_security(replies).with_signature_confirmation().layer(common::echo())
}

fn confirmed(requests: OutgoingSecurity) -> ClientSecurity {
    let answers = Policy::signed_by(Trust::new().with_secret("service", Secret::new("service"))).with_clock(now);
    ClientSecurity::new(requests).with_answer_policy(answers).with_signature_confirmation()
}

/// What Mallory sends: his body and what is to authenticate him, and in it what Ann signed, with her signature.
fn wrapping(read: &str, signed: &[&str], mallory: &OutgoingSecurity, more: &str) -> String {
    let soap = between(read, "http://", "'");
    let signature = between(read, "<ds:Signature Id-of-ann=", "</ds:Signature>");
    // The lists of prefixes of Ann's signature name those around what is signed.
    let inner = |name: &&str| {
        let element = between(read, &format!("<{name}"), &format!("</{name}>"));
        format!(
            "<x xmlns='' xmlns:wsse='{WSSE}' xmlns:wsu='{WSU}' xmlns:env='http://schemas.xmlsoap.org/soap/envelope/' xmlns:s='{soap}>{element}</x>"
        )
    };
    let inner: String = signed.iter().map(inner).collect();
    let own =
        mallory.secure(order(&format!("all the tea in China{inner}")).as_bytes()).now_or_never().unwrap().unwrap();
    let own = String::from_utf8(own).unwrap();
    own.replace("</wsse:Security>", &format!("{more}{}</wsse:Security>", signature.replace(" Id-of-ann=''", "")))
}

/// Returns a message in which Ann's signature, the last one, has a mark.
fn marked(message: &[u8]) -> String {
    let read = std::str::from_utf8(message).unwrap();
    let at = read.rfind("<ds:Signature ").unwrap();
    format!("{}<ds:Signature Id-of-ann='' {}", &read[..at], &read[at + "<ds:Signature ".len()..])
}

/// Mallory has a bearer assertion, so that his body needs no signature. What Ann signed is inside it, where her signature is right.
#[test]
fn signatures_of_something_else_are_not_confirmed() {
    let of_ann = assertion("_a1", "");
    let bearer = {
        let text = format!(
            "<a:Assertion xmlns:a='{SAML20}' ID='_m1' Version='2.0' IssueInstant='2027-01-15T07:59:00Z'><a:Issuer>urn:sts</a:Issuer><a:Subject><a:NameID>mallory</a:NameID><a:SubjectConfirmation Method='urn:oasis:names:tc:SAML:2.0:cm:bearer'/></a:Subject><a:Conditions NotOnOrAfter='2027-01-15T08:10:00Z'/></a:Assertion>"
        );
        let signer = DocumentSigner::new(STS.key())
            .with_certificates(vec![STS.certificate.clone()])
            .with_id_attribute("ID")
            .with_place(Place::After { namespace: Some(SAML20.to_owned()), local: "Issuer".to_owned() });
        signer.sign_element(text.as_bytes(), "_m1").now_or_never().unwrap().unwrap()
    };
    let mallory = OutgoingSecurity::new().with_timestamp().with_clock(now).with_assertion(bearer);
    let policy = || Policy::asserted_by(issued().with_bearer()).with_clock(now).without_replay_cache();
    let requests = ANN.signing().with_key_of_subject().with_assertion(of_ann.clone());
    // A body inside another one is refused.
    let ann = confirmed(requests.clone().with_signed([Part::Body, Part::Timestamp]));
    let request = ann.secure(&Written::new(order("one cup of tea"))).now_or_never().unwrap().unwrap();
    let message = wrapping(&marked(&request.message), &["wsu:Timestamp", "s:Body"], &mallory, &of_ann);
    assert_eq!(kind(&policy(), &message), Some(ErrorKind::Reference));
    // What her stack has signed without the body fits any request, so nobody confirms it.
    let partly = requests.with_signed([Part::Timestamp]);
    let request = partly.secure(order("one cup of tea").as_bytes()).now_or_never().unwrap().unwrap();
    let read = marked(&request);
    let value = between(&read[read.find("Id-of-ann").unwrap()..], "<ds:SignatureValue>", "</ds:SignatureValue>");
    let value = value.split(['<', '>']).nth(2).unwrap().to_owned();
    let message = wrapping(&read, &["wsu:Timestamp"], &mallory, &of_ann);
    let verified = policy().verify(message.as_bytes()).now_or_never().unwrap().unwrap();
    assert_eq!(verified.assertion().unwrap().subject.name.as_deref(), Some("mallory"));
    let reply = service(policy()).call(RequestMessage::new(Version::Soap11, message), &Options::default());
    let reply = String::from_utf8(reply.now_or_never().unwrap().message.bytes().unwrap().to_vec()).unwrap();
    assert!(reply.contains("SignatureConfirmation") && !reply.contains(&value), "{reply}");
}

/// Mallory signs his body, in which is what Ann signed. A body inside another one is refused, whoever signed the rest.
#[test]
fn a_body_in_a_body_is_refused() {
    static MALLORY: LazyLock<Party> = LazyLock::new(Party::new);
    let ann = confirmed(ANN.signing().with_certificate(ANN.certificate.clone()));
    for version in [Version::Soap11, Version::Soap12] {
        let request = order("one cup of tea").replace(Version::Soap11.namespace(), version.namespace());
        let request = ann.secure(&Written::new(request)).now_or_never().unwrap().unwrap();
        let read = marked(&request.message);
        let token = between(&read, "<wsse:BinarySecurityToken ", "</wsse:BinarySecurityToken>").to_owned();
        let by_value = format!(
            "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>",
            STANDARD.encode(ANN.certificate.der())
        );
        let read = read.replace(&token, "").replace(between(&read, "<ds:KeyInfo>", "</ds:KeyInfo>"), &by_value);
        let signed = ["wsu:Timestamp", "s:Body"];
        let message = wrapping(&read, &signed, &MALLORY.signing().with_certificate(MALLORY.certificate.clone()), "");
        let policy = Policy::signed_by(ANN.trust().with_certificate(MALLORY.certificate.clone())).with_clock(now);
        assert_eq!(kind(&policy, &message), Some(ErrorKind::Reference), "{version:?}");
    }
}

/// Nothing tells two requests without signatures apart, so such a request is not sent.
#[test]
fn answers_to_requests_without_signatures_are_not_exchanged() {
    let digest = UsernameToken::new("ann", "ann").with_form(PasswordForm::Digest);
    let ann = confirmed(OutgoingSecurity::new().with_clock(now).with_username(digest));
    let request = ann.secure(&Written::new(order("one cup of tea"))).now_or_never().unwrap();
    assert!(request.unwrap_err().to_string().contains("no signature covers the body"));
}

/// This holds: the public key of a subject is not the secret of an HMAC.
#[test]
fn keys_of_subjects_are_no_secrets() {
    let castile_wss::PublicKey::Ed25519(key) = ANN.certificate.public_key() else { panic!() };
    let hmac = OutgoingSecurity::new().with_timestamp().with_clock(now).with_signature(Secret::new(key.to_vec()));
    let message = secured(&hmac.with_key_of_subject().with_assertion(assertion("_a1", "")));
    let policy = Policy::asserted_by(issued()).with_clock(now);
    assert_eq!(kind(&policy, &message), Some(ErrorKind::Unsupported));
}

/// A password that was sent as text is shown by `Debug`, in decimal numbers.
#[test]
fn requests_show_no_passwords() {
    let client = ClientSecurity::new(OutgoingSecurity::new().with_username(UsernameToken::new("ann", "hush-hush")));
    let request = client.secure(&Written::new(ORDER)).now_or_never().unwrap().unwrap();
    let shown = format!("{:?}", b"hush-hush");
    assert!(!format!("{request:?}").contains(shown.trim_matches(['[', ']'])), "the password is in the text");
}

/// In SAML 1.1 all methods share the keys of the subject. With a thousand methods a stranger's message took gigabytes, and the keys of
/// many references to it a minute. Even a policy that knows no assertions reads them.
#[test]
fn a_subject_has_few_confirmations() {
    let assertion = |methods: usize| {
        let methods = "<a:ConfirmationMethod>x</a:ConfirmationMethod>".repeat(methods);
        format!(
            "<a:Assertion xmlns:a='{SAML11}' AssertionID='a' MajorVersion='1' MinorVersion='1' Issuer='i' IssueInstant='2027-01-15T07:59:00Z'><a:AttributeStatement><a:Subject><a:SubjectConfirmation>{methods}</a:SubjectConfirmation></a:Subject></a:AttributeStatement></a:Assertion>"
        )
    };
    let sent = |methods| secured(&ANN.signing().with_assertion(assertion(methods)));
    for policy in [Policy::signed_by(ANN.trust()), Policy::asserted_by(issued())] {
        let policy = policy.with_clock(now);
        assert_eq!(kind(&policy, &sent(9)), Some(ErrorKind::Limit));
        assert_ne!(kind(&policy, &sent(8)), Some(ErrorKind::Limit));
    }
}

/// Somebody without a key copies the signature of a message. The copy is refused, and doesn't use up the message.
#[test]
fn copies_of_a_signature_are_refused() {
    let secret = || Secret::new(*b"0123456789abcdef0123456789abcdef");
    let security = OutgoingSecurity::new().with_timestamp().with_signature(secret());
    let signed = security.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap();
    let signed = String::from_utf8(signed).unwrap();
    let (from, to) = (signed.find("<ds:Signature ").unwrap(), signed.find("</wsse:Security>").unwrap());
    let policy = Policy::signed_by(Trust::new().with_secret("ann", secret()));
    for copies in [1, 7] {
        let copied = [&signed[..to], &signed[from..to].repeat(copies), &signed[to..]].concat();
        let refused = policy.verify(copied.as_bytes()).now_or_never().unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Malformed);
    }
    assert!(policy.verify(signed.as_bytes()).now_or_never().unwrap().is_ok());
}

/// The value of a signature by ECDSA can be written in several forms. Its content is digested once all the same.
#[test]
fn copies_of_a_signature_in_other_forms_are_refused() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap();
    let certificate = Certificate::from_der(certificate.der()).unwrap();
    let security = OutgoingSecurity::new()
        .with_timestamp()
        .with_signature(PrivateKey::from_der(key.serialized_der()).unwrap())
        .with_certificate(certificate.clone());
    let signed = secured(&security);
    let signature = between(&signed, "<ds:Signature ", "</ds:Signature>");
    let value = between(signature, "<ds:SignatureValue>", "</ds:SignatureValue>");
    let value = value.split(['<', '>']).nth(2).unwrap();
    let (r, s) = STANDARD.decode(value).map(|value| (value[..32].to_vec(), value[32..].to_vec())).unwrap();
    let longer = STANDARD.encode([&[0][..], &r, &[0], &s].concat());
    let policy = || Policy::signed_by(Trust::new().with_certificate(certificate.clone()));
    let kind = |message: &str| policy().verify(message.as_bytes()).now_or_never().unwrap().err().map(|one| one.kind());
    // It is right by itself.
    assert_eq!(kind(&signed.replace(value, &longer)), None);
    let copied = signed.replace("</wsse:Security>", &format!("{}</wsse:Security>", signature.replace(value, &longer)));
    let refused = policy().verify(copied.as_bytes()).now_or_never().unwrap().unwrap_err();
    assert_eq!(refused.message(), "a second <Signature> of the same content with the same key");
    let trust = Trust::new().with_certificate(certificate.clone());
    let explained = castile_wss::explain(copied.as_bytes(), &trust, now()).unwrap();
    let right: Vec<bool> = explained.signatures.iter().flatten().map(|signature| signature.value.is_ok()).collect();
    assert_eq!(right, [true, false]);
}

/// The prefix of ids is another one than those of the message, however many of them there are.
#[test]
fn ids_have_prefixes_of_their_own() {
    let block = |first: usize| {
        let declared = (first..first + 100).map(|number| format!(" xmlns:wsu{number}='urn:{number}'"));
        format!("<h:b xmlns:h='urn:h'{}/>", declared.collect::<String>())
    };
    let header = format!("<s:Header>{}{}{}</s:Header><s:Body xmlns:wsu='urn:x'>", block(0), block(100), block(200));
    let message = order("tea").replace("<s:Body>", &header);
    let ann = ANN.signing().with_certificate(ANN.certificate.clone());
    let signed = ann.secure(message.as_bytes()).now_or_never().unwrap().unwrap();
    let policy = Policy::signed_by(ANN.trust()).with_clock(now);
    assert!(policy.verify(&signed).now_or_never().unwrap().is_ok());
}

/// Each combination of certificates was tried as a path, a hundred thousand of them, before anybody was known.
#[test]
fn many_certificates_of_one_owner_are_refused() {
    let certificate = |subject: &str, issuer: &str, of_issuer: &KeyPair, key: &KeyPair, is_ca: bool| {
        let named = |name: &str| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = if is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::ExplicitNoCa };
            params
        };
        let issuer = named(issuer);
        let issuer = Issuer::from_params(&issuer, of_issuer);
        Certificate::from_der(named(subject).signed_by(key, &issuer).unwrap().der()).unwrap()
    };
    let key = || KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let (signing, authority) = (key(), key());
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let trusted = Certificate::from_der(params.self_signed(&authority).unwrap().der()).unwrap();
    let refused = |others: Vec<Certificate>, trust: Trust| {
        let leaf = certificate("leaf", "x", &authority, &signing, false);
        let signer = DocumentSigner::new(PrivateKey::from_der(signing.serialized_der()).unwrap())
            .with_certificates([vec![leaf], others].concat());
        let signed = signer.sign(b"<a/>").now_or_never().unwrap().unwrap();
        DocumentVerifier::new(trust).verify(&signed).unwrap_err()
    };
    let equal = |count: usize| (0..count).map(|_| certificate("x", "x", &authority, &key(), true)).collect::<Vec<_>>();
    let with_authority = || Trust::new().with_authority(trusted.clone());
    let searched = refused(equal(2), with_authority());
    assert_eq!(searched.kind(), ErrorKind::Untrusted, "{searched}");
    assert_eq!(refused(equal(3), with_authority()).kind(), ErrorKind::Limit);
    // Copies are one certificate.
    let two = equal(2);
    assert_eq!(refused([&two[..]; 4].concat(), with_authority()).kind(), ErrorKind::Untrusted);
    // Without an authority there is nothing to search.
    let alone = refused(equal(5), Trust::new().with_certificate(trusted.clone()));
    assert_eq!(alone.kind(), ErrorKind::Untrusted);
    assert!(alone.message().ends_with("is not one of those that are trusted, and no authority is"), "{alone}");
}

/// A key is trusted, and the signature brings a certificate with it that nobody knows.
#[test]
fn a_trusted_key_may_come_with_a_certificate() {
    let key = ANN.certificate.public_key().clone();
    for (trust, expected) in [
        (Trust::new().with_key("ann", key.clone()), Some(Signer::Key("ann".to_owned()))),
        (ANN.trust().with_key("ann", key), Some(Signer::Certificate(ANN.certificate.clone()))),
        (Trust::new().with_key("sts", STS.certificate.public_key().clone()), None),
    ] {
        let signer = DocumentSigner::new(ANN.key()).with_certificates(vec![ANN.certificate.clone()]);
        let signed = signer.sign(b"<a/>").now_or_never().unwrap().unwrap();
        let verified = DocumentVerifier::new(trust).verify(&signed);
        assert_eq!(verified.ok().map(|verified| verified.signatures()[0].signer.clone()), expected);
    }
}

/// A certificate was renewed and has the key of the old one, which has expired.
#[test]
fn a_key_may_have_several_certificates() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let certificate = |until: i64| {
        let mut params = CertificateParams::default();
        params.not_before = time_at(-7_200).into();
        params.not_after = time_at(until).into();
        Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap()
    };
    let (old, new) = (certificate(-3_600), certificate(3_600));
    let signer = DocumentSigner::new(PrivateKey::from_der(key.serialized_der()).unwrap()).with_key_name("name");
    let signed = String::from_utf8(signer.sign(b"<a/>").now_or_never().unwrap().unwrap()).unwrap();
    let signed = signed.replace("<ds:KeyName>name</ds:KeyName>", &key_value(&key));
    let kind = |certificates: &[&Certificate]| {
        let trust = certificates.iter().fold(Trust::new(), |trust, one| trust.with_certificate((*one).clone()));
        DocumentVerifier::new(trust).verify(signed.as_bytes()).err().map(|error| error.kind())
    };
    assert_eq!(kind(&[&old]), Some(ErrorKind::Untrusted));
    assert_eq!((kind(&[&old, &new]), kind(&[&new, &old])), (None, None));
}

/// The signed body was moved into a header block, and another one is in its place. Services refuse that, and explanations said that all is
/// right.
#[test]
fn hidden_content_is_explained() {
    let message = secured(&ANN.signing().with_certificate(ANN.certificate.clone()));
    let explained = |message: &str| {
        let explained = explain(message.as_bytes(), &ANN.trust(), now()).unwrap();
        explained.signatures[0].as_ref().unwrap().clone()
    };
    assert!(explained(&message).is_right());
    let body = between(&message, "<s:Body", "</s:Body>");
    let forged = "<s:Body><o:order xmlns:o='urn:o'>Gold</o:order></s:Body>";
    let policy = Policy::signed_by(ANN.trust()).with_clock(now);
    for hidden in [
        message.replace(body, forged).replace("</s:Header>", &format!("<x><y>{body}</y></x></s:Header>")),
        message.replace(body, forged).replace("</s:Header>", &format!("{body}</s:Header>")),
        message.replace(body, &forged.replace("Gold", body)),
    ] {
        assert_eq!(kind(&policy, &hidden), Some(ErrorKind::Reference));
        let signature = explained(&hidden);
        let hidden: Vec<(&str, bool)> = signature
            .references
            .iter()
            .map(|reference| (reference.uri.as_str(), reference.content.as_ref().unwrap().is_hidden))
            .collect();
        assert!(!signature.is_right() && signature.value.is_ok(), "{signature:?}");
        assert!(hidden.iter().all(|(uri, is_hidden)| uri.starts_with("#body") == *is_hidden), "{hidden:?}");
    }
}

/// A signature by the subject of an assertion may bring the subject's certificate, which nobody has to trust.
#[test]
fn the_subject_of_an_assertion_may_bring_a_certificate() {
    let ann = ANN.signing().with_certificate(ANN.certificate.clone()).with_signed([Part::Body, Part::Timestamp]);
    let message = secured(&ann.with_assertion(assertion("_a1", "")));
    assert_eq!(kind(&Policy::asserted_by(issued()).with_clock(now), &message), None);
    let explained = explain(message.as_bytes(), &STS.trust(), now()).unwrap();
    let signers: Vec<_> = explained.signatures.iter().map(|one| one.as_ref().unwrap().signer.as_ref()).collect();
    let issuer = Signer::Certificate(STS.certificate.clone());
    assert_eq!(signers, [Ok(&issuer), Ok(&Signer::Subject("_a1".to_owned()))]);
}

/// All signatures share the limit of content, and short tags count as more than they are long.
#[test]
fn many_tags_in_many_references_are_limited() {
    let secret = || Secret::new(*b"0123456789abcdef0123456789abcdef");
    let order = ORDER.replace("Tea", &"<b/>".repeat(1_000));
    let security = OutgoingSecurity::new().with_timestamp().with_signature(secret());
    let signed = security.secure(order.as_bytes()).now_or_never().unwrap().unwrap();
    for (content, is_accepted) in [(100_000, true), (30_000, false)] {
        let mut limits = castile_wss::Limits::default();
        limits.content = content;
        let policy = Policy::signed_by(Trust::new().with_secret("ann", secret())).with_limits(limits);
        assert_eq!(policy.verify(&signed).now_or_never().unwrap().is_ok(), is_accepted, "{content}");
    }
}
