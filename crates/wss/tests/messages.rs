//! Secured messages: what is secured is accepted, and nothing else is.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_databinding::schema::Element;
use castile_soap::{
    Description, Dispatch, Fault, Layer, MessageSecurity, NoDetail, Operation, Options, Payload, Pending, Request,
    RequestMessage, Root, Service, Version,
};
use castile_wss::message::{
    ClientSecurity, Part, PasswordForm, Policy, Security, SecurityLayer, TokenForm, Username, Verified,
};
use castile_wss::{
    AwsLc, Certificate, Crypto, DigestAlgorithm, Error, ErrorKind, PrivateKey, Secret, Signer, SigningKey, Trust,
};
use castile_xml::c14n::{Algorithm, Method, Subset};
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair};

const EXCLUSIVE: Algorithm = Algorithm { version: castile_xml::c14n::Version::Exclusive10, with_comments: false };
const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
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

fn security() -> Security {
    Security::new().with_timestamp().with_signature(secret()).with_clock(now)
}

fn policy() -> Policy {
    Policy::signed_by(Trust::new().with_secret("s", secret())).with_clock(now)
}

fn order(namespace: &str, header: &str) -> String {
    format!(
        "<?xml version='1.0'?><s:Envelope xmlns:s='{namespace}' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xsd='http://www.w3.org/2001/XMLSchema'>{header}<s:Body><o:order xmlns:o='urn:o'><item xsi:type='xsd:string'>Tea</item></o:order></s:Body></s:Envelope>"
    )
}

fn secured(security: &Security, message: &str) -> String {
    let secured = security.secure(message.as_bytes()).now_or_never().unwrap();
    String::from_utf8(secured.unwrap_or_else(|error| panic!("{error}: {message}"))).unwrap()
}

fn verify(policy: &Policy, message: &str) -> Result<Verified, Error> {
    policy.verify(message.as_bytes())
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
            assert!(message.contains("mustUnderstand=\"1\"") && message.contains("PrefixList=\"xsd\""), "{message}");
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
    for form in [TokenForm::Binary, TokenForm::IssuerSerial, TokenForm::KeyIdentifier, TokenForm::Thumbprint] {
        let key = PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
        let security = Security::new().with_timestamp().with_signature(key).with_certificate(certificate.clone(), form);
        let message = secured(&security, &order(SOAP11, ""));
        let verified = verify(&known, &message).unwrap_or_else(|error| panic!("{form:?}: {error}: {message}"));
        assert_eq!(verified.signer(), Some(&Signer::Certificate(certificate.clone())));
        let kind = verify(&Policy::signed_by(Trust::new()), &message).unwrap_err().kind();
        let expected = if form == TokenForm::Binary { ErrorKind::Untrusted } else { ErrorKind::UnknownKey };
        assert_eq!(kind, expected, "{form:?}");
    }
}

#[test]
fn passwords_are_checked() {
    let passwords = BTreeMap::from([
        ("ann".to_owned(), Secret::new(*b"t\xc3\xa9a & \"milk\"")),
        ("bob".to_owned(), Secret::new(*b"")),
    ]);
    let policy = || Policy::with_password_of(passwords.clone()).with_clock(now);
    for form in [PasswordForm::Text, PasswordForm::Digest] {
        for (username, password, is_right) in [
            ("ann", "t\u{e9}a & \"milk\"", true),
            ("ann", "tea", false),
            ("ann", "", false),
            ("bob", "", true),
            ("eve", "", false),
        ] {
            let username_token = Username::new(username, password).with_form(form);
            let security = Security::new().with_username(username_token).with_clock(now);
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
    let without = secured(&Security::new().with_timestamp().with_clock(now), &order(SOAP11, ""));
    assert_eq!(verify(&policy(), &without).unwrap_err().kind(), ErrorKind::Unauthenticated);
    assert_eq!(verify(&policy(), &order(SOAP11, "")).unwrap_err().kind(), ErrorKind::Unsigned);
}

#[test]
fn messages_are_neither_old_nor_early_nor_received_twice() {
    let message = secured(&security(), &order(SOAP11, ""));
    for (seconds, is_accepted) in [(-61, false), (-60, true), (0, true), (300, true), (301, false)] {
        let policy = policy().with_clock(move || at(seconds));
        let result = verify(&policy, &message);
        assert_eq!(result.is_ok(), is_accepted, "{seconds}: {result:?}");
        assert!(result.err().is_none_or(|error| error.kind() == ErrorKind::Expired));
    }
    // A message that expires early.
    let brief = secured(&security().with_lifetime(Duration::from_secs(5)), &order(SOAP11, ""));
    assert!(verify(&policy().with_clock(|| at(5)), &brief).is_ok());
    assert_eq!(verify(&policy().with_clock(|| at(6)), &brief).unwrap_err().kind(), ErrorKind::Expired);
    // A message that is received again.
    let one = policy();
    assert!(verify(&one, &message).is_ok());
    assert_eq!(verify(&one, &message).unwrap_err().kind(), ErrorKind::Replayed);
    let many = policy().with_replay_cache(None);
    assert!(verify(&many, &message).is_ok() && verify(&many, &message).is_ok());
    // Only the digest of a password is received once.
    let passwords = BTreeMap::from([("ann".to_owned(), Secret::new(*b"tea"))]);
    for (form, again) in [(PasswordForm::Text, true), (PasswordForm::Digest, false)] {
        let policy = Policy::with_password_of(passwords.clone()).with_clock(now);
        let username = Username::new("ann", "tea").with_form(form);
        let message = secured(&Security::new().with_username(username).with_clock(now), &order(SOAP11, ""));
        assert!(verify(&policy, &message).is_ok());
        assert_eq!(verify(&policy, &message).is_ok(), again);
        let late = policy.clone().with_clock(|| at(301));
        assert_eq!(verify(&late, &message).is_ok(), again);
    }
}

#[test]
fn times_have_zones_and_are_times() {
    let message = secured(&security().with_signed([Part::Body]), &order(SOAP11, ""));
    let created = "2027-01-15T08:00:00Z";
    assert!(message.contains(created), "{message}");
    let policy = policy().with_signed([Part::Body]).with_replay_cache(None);
    assert!(verify(&policy, &message).is_ok());
    for (time, kind) in [
        ("2027-01-15T09:00:00+01:00", None),
        ("2027-01-15T08:00:00", Some(ErrorKind::Malformed)),
        ("9999-01-01T00:00:00Z", Some(ErrorKind::Expired)),
        ("99999999999999999999-01-01T00:00:00Z", Some(ErrorKind::Malformed)),
        ("-0001-01-01T00:00:00Z", Some(ErrorKind::Expired)),
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
    assert_eq!(verify(&policy, &without("Created")).unwrap_err().kind(), ErrorKind::Expired);
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
    let named = |local: &str| Part::Header("http://www.w3.org/2005/08/addressing".to_owned(), local.to_owned());
    let message = secured(&security().with_signed([Part::Body, named("To")]), &order(SOAP11, addressing));
    assert!(verify(&policy().with_signed([named("To"), named("ReplyTo")]), &message).is_ok());
    // A user name is signed, too.
    let passwords = BTreeMap::from([("ann".to_owned(), Secret::new(*b"tea"))]);
    let both = || policy().and_password_of(passwords.clone());
    let ann = security().with_username(Username::new("ann", "tea"));
    assert_eq!(verify(&both(), &secured(&ann, &order(SOAP11, ""))).unwrap().username(), Some("ann"));
    let unsigned = secured(&ann.with_signed([Part::Body, Part::Timestamp]), &order(SOAP11, ""));
    assert_eq!(verify(&both(), &unsigned).unwrap_err().message(), "the user name is not signed");
}

/// Each part is signed, but by different signers, who may not know of each other.
#[test]
fn one_signer_signs_all() {
    let other = Secret::new(*b"another one");
    let message = secured(&security().with_signed([Part::Body]), &order(SOAP11, ""));
    let role = "urn:elsewhere";
    let second = Security::new().with_timestamp().with_signature(other.clone()).with_clock(now).with_role(role);
    let both = secured(&second, &message);
    // The policy reads only the block for its role.
    let trust = Trust::new().with_secret("other", other);
    assert!(verify(&Policy::signed_by(trust).with_role(role).with_clock(now), &both).is_ok());
    assert_eq!(verify(&policy(), &both).unwrap_err().message(), "the time stamp is not signed");
    assert_eq!(verify(&policy().with_role("urn:nobody"), &both).unwrap_err().kind(), ErrorKind::Unsigned);
    let again = security().secure(message.as_bytes()).now_or_never().unwrap();
    assert_eq!(again.unwrap_err().kind(), ErrorKind::Unsupported);
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
        "<x xmlns:wsu='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd'>{old}</x></s:Header>"
    );
    let renamed = new.replace("time-1", "time-2");
    for (attack, kind) in [
        (message.replace(old, &new), ErrorKind::Digest),
        (message.replace(old, &format!("{new}{old}")), ErrorKind::Reference),
        (message.replace(old, &format!("{renamed}{old}")), ErrorKind::Malformed),
        (message.replace(old, &new).replace("</s:Header>", &unread), ErrorKind::Reference),
        (message.replace(old, &renamed).replace("</s:Header>", &unread), ErrorKind::Unsigned),
    ] {
        let late = policy().with_clock(|| at(3600));
        assert_eq!(verify(&late, &attack).expect_err(&attack).kind(), kind, "{attack}");
    }
}

/// Exclusive canonicalization doesn't cover the declaration of a prefix that only values use, so that anybody can give it
/// another meaning under a valid signature.
#[test]
fn unsigned_prefixes_are_refused() {
    let message = secured(&security(), &order(SOAP11, ""));
    let rebound = message.replace("'http://www.w3.org/2001/XMLSchema'", "'urn:evil'");
    assert_eq!(verify(&policy(), &rebound).unwrap_err().kind(), ErrorKind::Digest);
    // A sender that omits the list.
    let list = "><ec:InclusiveNamespaces xmlns:ec=\"http://www.w3.org/2001/10/xml-exc-c14n#\" PrefixList=\"xsd\"/></ds:Transform>";
    let without = signed_again(&message.replace(list, "/>"));
    let rebound = without.replace("'http://www.w3.org/2001/XMLSchema'", "'urn:evil'");
    assert_ne!(without, rebound);
    for message in [&without, &rebound] {
        let error = verify(&policy(), message).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsigned && error.message().contains("the prefix \"xsd\""), "{error}");
        // This is why: both have the same signature.
        assert!(verify(&policy().with_unsigned_prefixes(), message).is_ok());
    }
}

/// A reference to a token, with the STR-Transform, signs the token.
#[test]
fn references_to_tokens_sign_the_tokens() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap();
    let certificate = Certificate::from_der(certificate.der()).unwrap();
    let private = || PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
    let security = Security::new()
        .with_timestamp()
        .with_clock(now)
        .with_signature(private())
        .with_certificate(certificate.clone(), TokenForm::Binary);
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
    let mut digest = AwsLc.digest(DigestAlgorithm::Sha256).unwrap();
    digest.update(text.as_bytes());
    STANDARD.encode(digest.finish())
}

/// A service that says who signed.
struct Orders;

const ORDER: Root = Root::new(Element::new("urn:o", "order", 1), "<order xmlns=\"urn:o\">", "</order>");

static OPERATIONS: [Operation; 1] = [Operation::new("order", "order", ORDER).with_response(ORDER)];

impl Dispatch for Orders {
    fn description(&self) -> &'static Description {
        const { &Description::new("Orders", "urn:o", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        payload.handle(|request: Request<String>| async move {
            let verified = request.extensions().get::<Verified>().unwrap();
            let signer = format!("{:?}", verified.signer().unwrap());
            let reply = format!("{} for {signer}", request.into_inner());
            Ok::<_, Fault<NoDetail>>(reply.into())
        })
    }
}

#[test]
fn a_layer_secures_a_service() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let log = refused.clone();
    let reply_secret = Secret::new(*b"of the service");
    let layer = SecurityLayer::new(policy())
        .with_observer(move |error| log.lock().unwrap().push(error.kind()))
        .with_reply(Security::new().with_timestamp().with_signature(reply_secret.clone()).with_clock(now));
    let service = layer.layer(Orders);
    let trust = Trust::new().with_secret("service", reply_secret);
    let reply_policy = Policy::signed_by(trust).with_clock(now).with_replay_cache(None);
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
            secured(&Security::new().with_timestamp().with_clock(now).with_signature(Secret::new(*b"x")), &order),
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
        use ErrorKind::{Digest, Expired, Replayed, Signature, Unsigned};
        let reasons = std::mem::take(&mut *refused.lock().unwrap());
        assert_eq!(reasons, [Unsigned, Replayed, Digest, Unsigned, Expired, Signature]);
    }
}

#[test]
fn a_client_requires_security_of_answers() {
    let service = Secret::new(*b"of the service");
    let answers = Policy::signed_by(Trust::new().with_secret("service", service.clone())).with_clock(now);
    let client = ClientSecurity::new(security()).with_answers(answers);
    let request = client.secure(order(SOAP11, "").as_bytes()).now_or_never().unwrap().unwrap();
    assert!(policy().verify(&request).is_ok());
    let signing = Security::new().with_timestamp().with_signature(service).with_clock(now);
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault></s:Body></s:Envelope>";
    for answer in [fault, &order(SOAP12, "")] {
        assert!(client.verify(secured(&signing, answer).as_bytes(), None).is_ok());
        assert!(ClientSecurity::new(security()).verify(answer.as_bytes(), None).is_ok());
    }
    let kind = |answer: &str| client.verify(answer.as_bytes(), None).unwrap_err().kind();
    assert_eq!(kind(fault), castile_soap::ErrorKind::UnsecuredFault);
    assert_eq!(kind(&order(SOAP11, "")), castile_soap::ErrorKind::Security);
    assert_eq!(kind(&secured(&signing, fault).replace(">no<", ">yes<")), castile_soap::ErrorKind::Security);
    assert_eq!(kind("<html>"), castile_soap::ErrorKind::Security);
    // What the client understands is a header block that must be understood.
    let wsse = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
    assert!(client.understood().iter().any(|name| name.is(wsse, "Security")));
    let secured = client.clone().secure(b"<html/>").now_or_never().unwrap();
    assert_eq!(secured.unwrap_err().kind(), castile_soap::ErrorKind::Security);
}

/// Every byte is changed in several ways. What is accepted has the same body.
#[test]
fn changed_messages_are_refused() {
    let policy = policy().with_replay_cache(None);
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
            if changed != message && policy.verify(&changed).is_ok() {
                assert_eq!(canonical_body(&changed), expected, "{}", String::from_utf8_lossy(&changed));
                accepted += 1;
            }
        }
    }
    assert!(accepted > 10 && accepted < tried / 8, "{accepted} of {tried}");
}
