//! SAML assertions of others: those that fulfil a policy are accepted, and nothing else is.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_wss::document::{DocumentSigner, Place};
use castile_wss::message::{
    AssertionPolicy, ConfirmationMethod, OutgoingSecurity, Part, Policy, SamlVersion, VerifiedMessage,
};
use castile_wss::{Certificate, Error, ErrorKind, ExplainedKey, PrivateKey, Signer, SigningKey, Trust, explain};
use castile_xml::c14n::{Algorithm, Method, Subset, Version};
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair};

const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><o:order xmlns:o='urn:o'>Tea</o:order></s:Body></s:Envelope>";
const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
const XSD: &str = "xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";
const SAML11: &str = "urn:oasis:names:tc:SAML:1.0:assertion";
const SAML20: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
/// 2027-01-15T08:00:00Z.
const NOW: u64 = 1_800_000_000;

use ConfirmationMethod::{Bearer, HolderOfKey, SenderVouches};
use SamlVersion::{Saml11, Saml20};

struct Party {
    pem: String,
    certificate: Certificate,
}

impl Party {
    fn new() -> Self {
        let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        Party { pem: key.serialize_pem(), certificate: Certificate::from_der(certificate.der()).unwrap() }
    }

    fn key(&self) -> PrivateKey {
        PrivateKey::from_pem(self.pem.as_bytes()).unwrap()
    }

    fn trust(&self) -> Trust {
        Trust::new().with_certificate(self.certificate.clone())
    }

    fn signing(&self) -> OutgoingSecurity {
        OutgoingSecurity::new()
            .with_timestamp()
            .with_clock(now)
            .with_signature(self.key())
            .with_certificate(self.certificate.clone())
    }
}

/// Who issues assertions.
static STS: LazyLock<Party> = LazyLock::new(Party::new);
/// Whom they are about.
static ANN: LazyLock<Party> = LazyLock::new(Party::new);
/// A gateway that vouches for others.
static GATEWAY: LazyLock<Party> = LazyLock::new(Party::new);
/// Somebody whom nobody knows.
static MALLORY: LazyLock<Party> = LazyLock::new(Party::new);

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fn at(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW.checked_add_signed(seconds).unwrap())
}

/// Returns an assertion without a signature.
fn unsigned(version: SamlVersion, method: ConfirmationMethod) -> String {
    let certificate = STANDARD.encode(ANN.certificate.der());
    let key = format!(
        "<ds:KeyInfo xmlns:ds='{DSIG}'><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
    );
    let key = if method == HolderOfKey { key } else { String::new() };
    let method = method.name();
    match version {
        Saml20 => {
            let data = format!("<a:SubjectConfirmationData>{key}</a:SubjectConfirmationData>");
            let data = if key.is_empty() { String::new() } else { data };
            format!(
                "<a:Assertion xmlns:a='{SAML20}' {XSD} ID='_a1' Version='2.0' IssueInstant='2027-01-15T07:59:00Z'><a:Issuer>urn:sts</a:Issuer><a:Subject><a:NameID Format='urn:mail' NameQualifier='urn:q' SPNameQualifier='urn:sp'>ann@example.org</a:NameID><a:SubjectConfirmation Method='urn:oasis:names:tc:SAML:2.0:cm:{method}'>{data}</a:SubjectConfirmation></a:Subject><a:Conditions NotBefore='2027-01-15T07:59:00Z' NotOnOrAfter='2027-01-15T08:10:00Z'><a:AudienceRestriction><a:Audience>urn:orders</a:Audience></a:AudienceRestriction></a:Conditions><a:AuthnStatement AuthnInstant='2027-01-15T07:58:00Z'><a:SubjectLocality Address='10.0.0.1'/><a:AuthnContext><a:AuthnContextClassRef>urn:x509</a:AuthnContextClassRef></a:AuthnContext></a:AuthnStatement><a:AttributeStatement><a:Attribute Name='role' NameFormat='urn:uri'><a:AttributeValue xsi:type='xs:string'>buyer</a:AttributeValue><a:AttributeValue>a&amp;<!-- b -->c</a:AttributeValue><a:AttributeValue><r:role xmlns:r='urn:r'>admin</r:role></a:AttributeValue></a:Attribute></a:AttributeStatement></a:Assertion>"
            )
        }
        _ => {
            let subject = format!(
                "<a:Subject><a:NameIdentifier Format='urn:mail' NameQualifier='urn:q'>ann@example.org</a:NameIdentifier><a:SubjectConfirmation><a:ConfirmationMethod>urn:oasis:names:tc:SAML:1.0:cm:{method}</a:ConfirmationMethod>{key}</a:SubjectConfirmation></a:Subject>"
            );
            format!(
                "<a:Assertion xmlns:a='{SAML11}' {XSD} AssertionID='_a1' MajorVersion='1' MinorVersion='1' Issuer='urn:sts' IssueInstant='2027-01-15T07:59:00Z'><a:Conditions NotBefore='2027-01-15T07:59:00Z' NotOnOrAfter='2027-01-15T08:10:00Z'><a:AudienceRestrictionCondition><a:Audience>urn:orders</a:Audience></a:AudienceRestrictionCondition></a:Conditions><a:AuthenticationStatement AuthenticationMethod='urn:x509' AuthenticationInstant='2027-01-15T07:58:00Z'>{subject}</a:AuthenticationStatement><a:AttributeStatement>{subject}<a:Attribute AttributeName='role' AttributeNamespace='urn:uri'><a:AttributeValue xsi:type='xs:string'>buyer</a:AttributeValue><a:AttributeValue>a&amp;<!-- b -->c</a:AttributeValue><a:AttributeValue><r:role xmlns:r='urn:r'>admin</r:role></a:AttributeValue></a:Attribute></a:AttributeStatement></a:Assertion>"
            )
        }
    }
}

fn signed_by(party: &Party, assertion: &str) -> String {
    let (attribute, place) = match assertion.contains(SAML20) {
        true => ("ID", Place::After { namespace: Some(SAML20.to_owned()), local: "Issuer".to_owned() }),
        false => ("AssertionID", Place::EndOfRoot),
    };
    let id = assertion.split(&format!(" {attribute}='")).nth(1).unwrap().split('\'').next().unwrap();
    let signer = DocumentSigner::new(party.key())
        .with_certificates(vec![party.certificate.clone()])
        .with_id_attribute(attribute)
        .with_place(place);
    let signed = signer.sign_element(assertion.as_bytes(), id).now_or_never().unwrap();
    String::from_utf8(signed.unwrap_or_else(|error| panic!("{error}: {assertion}"))).unwrap()
}

fn assertion(version: SamlVersion, method: ConfirmationMethod) -> String {
    signed_by(&STS, &unsigned(version, method))
}

fn issued() -> AssertionPolicy {
    AssertionPolicy::new().with_issuer("urn:sts", STS.trust()).with_audience("urn:orders")
}

fn policy(assertions: AssertionPolicy) -> Policy {
    Policy::asserted_by(assertions).with_clock(now).with_clock_skew(Duration::ZERO)
}

const WITHOUT_ASSERTION: [Part; 2] = [Part::Body, Part::Timestamp];

/// Accepts all that these tests send, once.
fn every() -> AssertionPolicy {
    issued().with_bearer().with_sender_vouches(GATEWAY.trust())
}

/// How the sender of a message with an assertion that is confirmed by this method secures it.
fn sending(method: ConfirmationMethod, assertion: &str) -> OutgoingSecurity {
    match method {
        HolderOfKey => ANN.signing().with_key_of_subject(),
        SenderVouches => GATEWAY.signing(),
        _ => OutgoingSecurity::new().with_timestamp().with_clock(now),
    }
    .with_assertion(assertion)
}

fn secured(security: &OutgoingSecurity) -> String {
    let secured = security.secure(ORDER.as_bytes()).now_or_never().unwrap();
    String::from_utf8(secured.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

fn verify(policy: &Policy, message: &str) -> Result<VerifiedMessage, Error> {
    policy.verify(message.as_bytes()).now_or_never().unwrap()
}

/// Returns the name of whom a message is about, or the kind of its error.
fn outcome(policy: &Policy, message: &str) -> Result<String, (ErrorKind, String)> {
    match verify(policy, message) {
        Ok(verified) => Ok(verified.assertion().unwrap().subject.name.clone().unwrap_or_default()),
        Err(error) => Err((error.kind(), error.message().to_owned())),
    }
}

#[track_caller]
fn refused(policy: &Policy, message: &str, kind: ErrorKind, part: &str) {
    match outcome(policy, message) {
        Err((found, text)) => assert!(found == kind && text.contains(part), "{found:?} {text}, not {kind:?} {part}"),
        Ok(name) => panic!("accepted for {name}, not {kind:?} {part}"),
    }
}

#[test]
fn assertions_are_accepted() {
    for version in [Saml11, Saml20] {
        for method in [HolderOfKey, SenderVouches, Bearer] {
            let assertion = assertion(version, method);
            let message = secured(&sending(method, &assertion));
            let verified = verify(&policy(every()), &message);
            let verified = verified.unwrap_or_else(|error| panic!("{version:?} {method:?} {error}: {message}"));
            let found = verified.assertion().unwrap();
            assert_eq!(message[found.range.clone()], assertion, "it is sent as it is");
            assert_eq!((found.version, found.id.as_str(), found.issuer.as_str()), (version, "_a1", "urn:sts"));
            assert_eq!(found.subject.name.as_deref(), Some("ann@example.org"));
            assert_eq!(found.subject.format.as_deref(), Some("urn:mail"));
            assert_eq!(found.subject.name_qualifier.as_deref(), Some("urn:q"));
            assert_eq!(found.subject.sp_name_qualifier.is_some(), version == Saml20);
            assert_eq!(found.audiences, [["urn:orders"]]);
            assert_eq!(found.not_on_or_after.unwrap().to_string(), "2027-01-15T08:10:00Z");
            assert_eq!(found.authentications[0].instant.to_string(), "2027-01-15T07:58:00Z");
            assert_eq!(found.authentications[0].context.as_deref(), Some("urn:x509"));
            assert_eq!(found.values("role").collect::<Vec<_>>(), ["buyer", "a&c"]);
            assert_eq!(found.attributes[0].namespace.as_deref(), Some("urn:uri"));
            // A value with elements is there as bytes, which are signed.
            let value = &found.attributes[0].values[2];
            assert_eq!(value.text, None);
            assert!(message[value.range.clone()].contains(">admin</r:role></a:AttributeValue>"));
            assert_eq!(
                (verified.confirmation_method(), found.confirmation_methods.as_slice()),
                (Some(method), &[method][..])
            );
            let signer = match method {
                HolderOfKey => Some(Signer::Subject("_a1".to_owned())),
                SenderVouches => Some(Signer::Certificate(GATEWAY.certificate.clone())),
                _ => None,
            };
            assert_eq!(verified.signer(), signer.as_ref());
            assert_eq!(verified.is_signed(&found.range), method != Bearer);
            // By default only the holder of the key is accepted.
            let strict = outcome(&policy(issued()), &message);
            assert_eq!(strict.is_ok(), method == HolderOfKey, "{method:?} {strict:?}");
            // A policy for messages without assertions.
            let error = verify(&Policy::signed_by(GATEWAY.trust()).with_clock(now), &message).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }
    refused(&policy(every()), &secured(&ANN.signing()), ErrorKind::Untrusted, "");
    let without = secured(&OutgoingSecurity::new().with_timestamp().with_clock(now));
    refused(&policy(every()), &without, ErrorKind::Unauthenticated, "no assertion");
}

/// What an issuer signed, and is refused all the same. Each row changes one part of an assertion that is accepted.
#[test]
fn what_an_assertion_says_is_checked() {
    use ErrorKind::{Assertion, Malformed, Time, Unsupported, Untrusted};
    let bearer = "cm:bearer'>";
    let data = |attributes: &str| format!("cm:bearer'><a:SubjectConfirmationData {attributes}/>");
    let end = " NotOnOrAfter='2027-01-15T08:10:00Z'";
    let audience = "<a:Audience>urn:orders</a:Audience></a:AudienceRestriction>";
    let name = "ann@example.org</a:NameID>";
    for (from, to, kind, part) in [
        ("urn:sts", "urn:other".to_owned(), Untrusted, "the issuer \"urn:other\""),
        ("urn:sts", "urn:sts ".to_owned(), Untrusted, "the issuer"),
        ("Version='2.0'", "Version='2.1'".to_owned(), Unsupported, "a version"),
        ("07:59:00Z'><a:Issuer", "08:00:01Z'><a:Issuer".to_owned(), Time, "issued at 2027-01-15T08:00:01Z"),
        ("NotBefore='2027-01-15T07:59:00Z'", "NotBefore='2027-01-15T08:00:01Z'".to_owned(), Time, "has not come"),
        ("08:10:00Z", "08:00:00Z".to_owned(), Time, "until 2027-01-15T08:00:00Z"),
        ("08:10:00Z", "08:10:00".to_owned(), Malformed, "with a zone"),
        ("08:10:00Z", "soon".to_owned(), Malformed, "with a zone"),
        (end, String::new(), Time, "for ever"),
        (audience, "<a:Audience>urn:x</a:Audience></a:AudienceRestriction>".to_owned(), Assertion, "\"urn:x\""),
        (audience, "</a:AudienceRestriction>".to_owned(), Assertion, "the audience"),
        (
            audience,
            format!("{audience}<a:AudienceRestriction><a:Audience>urn:x</a:Audience></a:AudienceRestriction>"),
            Assertion,
            "\"urn:x\"",
        ),
        (audience, format!("{audience}<a:Condition/>"), Assertion, "<Condition>"),
        (audience, format!("{audience}<x:Only xmlns:x='urn:x'/>"), Assertion, "<Only>"),
        (bearer, "cm:artifact'>".to_owned(), Assertion, "cm:artifact"),
        (bearer, data("NotOnOrAfter='2027-01-15T08:00:00Z'"), Time, "confirmation"),
        (bearer, data("NotBefore='2027-01-15T08:00:01Z'"), Time, "confirmation"),
        (bearer, data("Recipient='urn:elsewhere'"), Assertion, "the recipient"),
        (bearer, data("InResponseTo='_r1'"), Assertion, "InResponseTo"),
        (bearer, data("Address='10.0.0.1'"), Assertion, "Address"),
        (bearer, "cm:bearer'><a:SubjectConfirmationData><x/></a:SubjectConfirmationData>".to_owned(), Assertion, "x"),
        (name, "</a:NameID>".to_owned(), Malformed, "empty name"),
        (name, format!("{name}<a:NameID>eve</a:NameID>"), Malformed, "one name"),
        (name, format!("{name}<a:EncryptedID/>"), Unsupported, "<EncryptedID>"),
        ("<a:Attribute ", "<a:EncryptedAttribute/><a:Attribute ".to_owned(), Unsupported, "<EncryptedAttribute>"),
        ("<a:AuthnStatement", "<a:Unknown/><a:AuthnStatement".to_owned(), Unsupported, "<Unknown>"),
        ("<a:Conditions ", "<a:Advice/><a:Conditions ".to_owned(), Malformed, "the order of the schema"),
        ("<a:Subject>", "<a:Issuer>urn:sts</a:Issuer><a:Subject>".to_owned(), Malformed, "each part once"),
        (" IssueInstant='2027-01-15T07:59:00Z'", String::new(), Malformed, "IssueInstant"),
    ] {
        let original = unsigned(Saml20, Bearer);
        assert!(original.contains(from), "{from}");
        let message = secured(&sending(Bearer, &signed_by(&STS, &original.replacen(from, &to, 1))));
        refused(&policy(every()), &message, kind, part);
    }
    // Without a subject, or with nothing that confirms it.
    let original = unsigned(Saml20, Bearer);
    let cut = |from: &str, to: &str| {
        let (start, end) = (original.find(from).unwrap(), original.find(to).unwrap() + to.len());
        secured(&sending(Bearer, &signed_by(&STS, &format!("{}{}", &original[..start], &original[end..]))))
    };
    refused(&policy(every()), &cut("<a:Subject>", "</a:Subject>"), Malformed, "without <Subject>");
    let unconfirmed = cut("<a:SubjectConfirmation ", "</a:SubjectConfirmation>");
    refused(&policy(every()), &unconfirmed, Assertion, "no confirmation");
    // In SAML 1.1 each statement has a subject.
    let original = unsigned(Saml11, Bearer);
    for (from, to, kind, part) in [
        ("MinorVersion='1'", "MinorVersion='0'", Unsupported, "a version"),
        (
            "<a:AttributeStatement><a:Subject><a:NameIdentifier ",
            "<a:AttributeStatement><a:Subject><a:NameIdentifier x='y' ",
            Untrusted,
            "",
        ),
        ("ann@example.org", "eve@example.org", Unsupported, "several subjects"),
        ("Issuer='urn:sts'", "Issuer='urn:other'", Untrusted, "the issuer"),
        ("08:10:00Z", "08:00:00Z", Time, "until"),
        ("<a:Audience>urn:orders", "<a:Audience>urn:x", Assertion, "\"urn:x\""),
        ("<a:AttributeStatement>", "<a:SubjectStatement/><a:AttributeStatement>", Unsupported, "<SubjectStatement>"),
        ("</a:ConfirmationMethod>", "</a:ConfirmationMethod><a:SubjectConfirmationData/>", Unsupported, "several"),
    ] {
        if kind == Untrusted && part.is_empty() {
            // An unknown attribute changes nothing.
            let message = secured(&sending(Bearer, &signed_by(&STS, &original.replacen(from, to, 1))));
            assert!(outcome(&policy(every()), &message).is_ok());
            continue;
        }
        let message = secured(&sending(Bearer, &signed_by(&STS, &original.replacen(from, to, 1))));
        refused(&policy(every()), &message, kind, part);
    }
    let both = original.replace("</a:ConfirmationMethod>", "</a:ConfirmationMethod><a:SubjectConfirmationData/>");
    let message = secured(&sending(Bearer, &signed_by(&STS, &both)));
    refused(&policy(every()), &message, Assertion, "SubjectConfirmationData");
}

/// What is accepted beside the usual.
#[test]
fn conditions_that_are_met_are_accepted() {
    let original = unsigned(Saml20, Bearer);
    let method = "<a:SubjectConfirmation Method='urn:oasis:names:tc:SAML:2.0:cm:bearer'>";
    for (from, to) in [
        // Several audiences, and several restrictions.
        ("<a:Audience>urn:orders", "<a:Audience>urn:x</a:Audience><a:Audience> urn:orders ".to_owned()),
        ("<a:Conditions ", "<a:Conditions xmlns:x='urn:x' ".to_owned()),
        // The confirmation ends, and not the assertion.
        (" NotOnOrAfter='2027-01-15T08:10:00Z'", String::new()),
        // One of several confirmations is enough.
        (method, format!("{}</a:SubjectConfirmation>{method}", method.replace("bearer", "unknown"))),
        // Those who issue further assertions are meant.
        ("</a:AudienceRestriction>", "</a:AudienceRestriction><a:ProxyRestriction Count='0'/>".to_owned()),
        ("<a:NameID ", "<a:NameID x='y' ".to_owned()),
        // What others decided isn't shown.
        ("<a:AttributeStatement>", "<a:AuthzDecisionStatement/><a:Statement/><a:AttributeStatement>".to_owned()),
    ] {
        let mut changed = original.replacen(from, &to, 1);
        assert_ne!(changed, original, "{from}");
        if !changed.contains("NotOnOrAfter") {
            let end = "<a:SubjectConfirmationData NotOnOrAfter='2027-01-15T08:05:00Z'/>";
            changed = changed.replacen("cm:bearer'>", &format!("cm:bearer'>{end}"), 1);
        }
        let message = secured(&sending(Bearer, &signed_by(&STS, &changed)));
        assert_eq!(outcome(&policy(every()), &message).as_deref(), Ok("ann@example.org"), "{to}");
    }
    // Where it may be presented.
    let recipient = "cm:bearer'><a:SubjectConfirmationData Recipient='urn:here' NotOnOrAfter='2027-01-15T08:05:00Z'/>";
    let message = secured(&sending(Bearer, &signed_by(&STS, &original.replacen("cm:bearer'>", recipient, 1))));
    assert!(outcome(&policy(every().with_recipient("urn:here")), &message).is_ok());
    refused(&policy(every().with_recipient("urn:there")), &message, ErrorKind::Assertion, "the recipient");
    let without = secured(&sending(Bearer, &assertion(Saml20, Bearer)));
    refused(&policy(every().with_recipient("urn:here")), &without, ErrorKind::Assertion, "without Recipient");
    // A service without a name is in no audience, and each clock is a little wrong.
    let nameless = AssertionPolicy::new().with_issuer("urn:sts", STS.trust()).with_bearer();
    refused(&policy(nameless), &without, ErrorKind::Assertion, "the audience");
    for (seconds, is_accepted) in [(-121, false), (-120, true), (659, true), (660, false)] {
        let late = policy(every()).with_clock(move || at(seconds)).with_clock_skew(Duration::from_secs(60));
        let late = late.with_max_age(Duration::from_secs(3600)).without_timestamp();
        let message = secured(&OutgoingSecurity::new().with_assertion(assertion(Saml20, Bearer)));
        assert_eq!(outcome(&late, &message).is_ok(), is_accepted, "{seconds}");
    }
}

#[test]
fn only_an_issuer_vouches() {
    for version in [Saml11, Saml20] {
        for method in [HolderOfKey, SenderVouches, Bearer] {
            let original = unsigned(version, method);
            // By somebody else, with a certificate of its own.
            let forged = secured(&sending(method, &signed_by(&MALLORY, &original)));
            refused(&policy(every()), &forged, ErrorKind::Untrusted, "trusted");
            // By the issuer of other names.
            let both = every().with_issuer("urn:other", MALLORY.trust());
            refused(&policy(both), &forged, ErrorKind::Untrusted, "trusted");
            // By nobody.
            let bare = secured(&sending(method, &original));
            refused(&policy(every()), &bare, ErrorKind::Unsigned, "without a signature of its issuer");
            // Changed afterwards.
            let signed = signed_by(&STS, &original);
            for (from, to) in [("ann@", "eve@"), (">buyer<", ">admin<"), ("08:10", "09:10"), ("urn:q", "urn:p")] {
                let changed = secured(&sending(method, &signed.replace(from, to)));
                refused(&policy(every()), &changed, ErrorKind::Digest, "was changed");
            }
        }
    }
    // A sender may say everything, if that is asked for.
    let original = unsigned(Saml20, SenderVouches);
    let bare = secured(&sending(SenderVouches, &original));
    let trusting = || every().with_unsigned_assertions();
    assert_eq!(outcome(&policy(trusting()), &bare).as_deref(), Ok("ann@example.org"));
    let forged = secured(&sending(SenderVouches, &signed_by(&MALLORY, &original)));
    refused(&policy(trusting()), &forged, ErrorKind::Untrusted, "trusted");
    let other = secured(&sending(SenderVouches, &original.replace("urn:sts", "urn:other")));
    refused(&policy(trusting()), &other, ErrorKind::Untrusted, "the issuer \"urn:other\"");
    // Only a sender: neither the holder of a key that nobody vouches for, nor a bearer.
    for method in [HolderOfKey, Bearer] {
        let bare = secured(&sending(method, &unsigned(Saml20, method)));
        let expected = if method == Bearer { ErrorKind::Unsigned } else { ErrorKind::UnknownKey };
        refused(&policy(trusting()), &bare, expected, "");
    }
    let holder = ANN.signing().with_assertion(unsigned(Saml20, HolderOfKey));
    refused(&policy(trusting()), &secured(&holder), ErrorKind::Untrusted, "");
}

#[test]
fn the_holder_of_the_key_signs() {
    let assertion = assertion(Saml20, HolderOfKey);
    let policy = || policy(issued());
    // The key is named by the assertion, and also by a certificate.
    let by_certificate = secured(&ANN.signing().with_assertion(assertion.as_str()));
    let verified = verify(&policy(), &by_certificate).unwrap();
    assert_eq!(verified.signer(), Some(&Signer::Subject("_a1".to_owned())));
    // Somebody else says to have the key, has another one, or none at all.
    let stolen = secured(&MALLORY.signing().with_key_of_subject().with_assertion(assertion.as_str()));
    refused(&policy(), &stolen, ErrorKind::Signature, "not made with this key");
    let stolen = secured(&MALLORY.signing().with_assertion(assertion.as_str()));
    refused(&policy(), &stolen, ErrorKind::UnknownKey, "");
    let bare = secured(&OutgoingSecurity::new().with_timestamp().with_clock(now).with_assertion(assertion.as_str()));
    refused(&policy(), &bare, ErrorKind::Assertion, "no signature of the message");
    // Somebody who is trusted is not the subject.
    let trusted = secured(&GATEWAY.signing().with_assertion(assertion.as_str()));
    let both = Policy::signed_by(GATEWAY.trust()).with_assertions(issued()).with_clock(now);
    refused(&both, &trusted, ErrorKind::Assertion, "no signature of the message");
    // The subject is not one of those who are trusted.
    let holder = || ANN.signing().with_key_of_subject().with_assertion(assertion.as_str());
    let own = secured(&holder().with_signed(WITHOUT_ASSERTION));
    refused(&both, &own, ErrorKind::Unsigned, "");
    let known = Policy::signed_by(ANN.trust()).with_assertions(issued()).with_clock(now);
    assert!(verify(&known, &by_certificate).is_ok());
    // The signature covers too little, whatever else the policy requires.
    let little = secured(&holder().with_signed([Part::Timestamp]));
    refused(&policy(), &little, ErrorKind::Unsigned, "the body is not signed");
    let passwords = std::collections::BTreeMap::from([("ann".to_owned(), castile_wss::Secret::new("x"))]);
    let with_password = Policy::authenticated_by(passwords).with_assertions(issued()).with_clock(now);
    refused(&with_password, &little, ErrorKind::Unsigned, "the body is not signed");
    let protected = || policy().with_signed([Part::Body, Part::Assertion]);
    refused(&protected(), &own, ErrorKind::Unsigned, "the assertion is not signed");
    let whole = secured(&holder());
    assert!(verify(&protected(), &whole).is_ok());
    // One reference names the key and the token that is signed.
    let start = whole.find("<wsse:SecurityTokenReference").unwrap();
    let end = start + whole[start..].find("</wsse:SecurityTokenReference>").unwrap() + 30;
    let one_reference = format!("{}{}", &whole[..start], &whole[end..]);
    let key_info = "<ds:KeyInfo><wsse:SecurityTokenReference ";
    let one_reference = one_reference.replace(key_info, &format!("{key_info}wsu:Id=\"reference-1\" "));
    assert!(whole[start..end].contains("wsu:Id=\"reference-1\""));
    assert!(verify(&protected(), &one_reference).is_ok());
    // The key is only described: anybody can make a certificate with these names.
    let certificate = STANDARD.encode(ANN.certificate.der());
    let described = unsigned(Saml20, HolderOfKey).replace(
        &format!("<ds:X509Certificate>{certificate}</ds:X509Certificate>"),
        "<ds:X509IssuerSerial><ds:X509IssuerName>CN=ann</ds:X509IssuerName><ds:X509SerialNumber>7</ds:X509SerialNumber></ds:X509IssuerSerial>",
    );
    let described = signed_by(&STS, &described);
    let message = secured(&ANN.signing().with_key_of_subject().with_assertion(described.as_str()));
    refused(&policy(), &message, ErrorKind::UnknownKey, "exactly one");
    // The signature refers to something else.
    for (from, to, kind) in [
        ("#SAMLID\">_a1<", "#SAMLID\">_a2<", ErrorKind::Reference),
        ("#SAMLID\">_a1<", "#SAMLID\">body-1<", ErrorKind::Reference),
        (
            "oasis-wss-saml-token-profile-1.1#SAMLID",
            "oasis-wss-saml-token-profile-1.0#SAMLAssertionID",
            ErrorKind::Reference,
        ),
    ] {
        assert!(own.contains(from));
        refused(&policy(), &own.replace(from, to), kind, "no token of the message");
    }
    let direct = own.find("<wsse:KeyIdentifier").unwrap()..own.find("</wsse:KeyIdentifier>").unwrap() + 21;
    let direct = own.replace(&own[direct], "<wsse:Reference URI=\"#_a1\"/>");
    assert!(verify(&policy(), &direct).is_ok(), "a direct reference");
    let embedded = own.find("<wsse:KeyIdentifier").unwrap()..own.find("</wsse:KeyIdentifier>").unwrap() + 21;
    let embedded =
        own.replace(&own[embedded], &format!("<wsse:Embedded>{}</wsse:Embedded>", assertion.replace("_a1", "_a2")));
    refused(&policy(), &embedded, ErrorKind::Signature, "not made with this key");
    // The assertion may be inside the reference, there and nowhere else. The transform signs it there, too.
    let inside = |message: &str| {
        let message = message.replacen(&assertion, "", 1);
        let identifier =
            message.find("<wsse:KeyIdentifier").unwrap()..message.find("</wsse:KeyIdentifier>").unwrap() + 21;
        message.replace(&message[identifier], &format!("<wsse:Embedded>{assertion}</wsse:Embedded>"))
    };
    for (policy, message) in [(policy(), inside(&own)), (protected(), inside(&one_reference))] {
        assert!(message.find("<a:Assertion").unwrap() > message.find("<ds:KeyInfo>").unwrap());
        let verified = verify(&policy, &message).unwrap_or_else(|error| panic!("{error}: {message}"));
        assert_eq!(verified.assertion().unwrap().id, "_a1");
        assert_eq!(verified.signer(), Some(&Signer::Subject("_a1".to_owned())));
        refused(&policy, &message.replace(">buyer<", ">admin<"), ErrorKind::Digest, "");
    }
    refused(&protected(), &inside(&own), ErrorKind::Unsigned, "the assertion is not signed");
    refused(&Policy::signed_by(ANN.trust()).with_clock(now), &inside(&own), ErrorKind::Unsupported, "an assertion in");
    // Not in the reference of an assertion's own signature.
    let start = assertion.find("<ds:KeyInfo>").unwrap();
    let nested = assertion.replace("_a1", "_a2").replacen(
        &assertion[start..assertion.find("</ds:KeyInfo>").unwrap()],
        &format!("<ds:KeyInfo><wsse:SecurityTokenReference xmlns:wsse='{WSSE}'><wsse:Embedded>{assertion}</wsse:Embedded></wsse:SecurityTokenReference>"),
        1,
    );
    refused(&policy(), &inside(&own).replacen(&assertion, &nested, 1), ErrorKind::Unsupported, "<a:Assertion>");
    // An assertion is used again and again; a message is not.
    let one = policy();
    assert!(verify(&one, &own).is_ok());
    refused(&one, &own, ErrorKind::Replayed, "received before");
    assert!(verify(&one, &whole).is_ok());
    // By default a signature that a policy requires anyway covers the assertion.
    let bearer = crate::assertion(Saml20, Bearer);
    let both = Policy::signed_by(GATEWAY.trust()).with_assertions(every()).with_clock(now);
    assert!(verify(&both, &secured(&GATEWAY.signing().with_assertion(bearer.as_str()))).is_ok());
    let apart = secured(&GATEWAY.signing().with_assertion(bearer).with_signed(WITHOUT_ASSERTION));
    refused(&both, &apart, ErrorKind::Unsigned, "the assertion is not signed");
    assert!(verify(&both.with_signed(WITHOUT_ASSERTION), &apart).is_ok());
}

#[test]
fn a_sender_vouches_for_the_assertion() {
    let policy = || policy(issued().with_sender_vouches(GATEWAY.trust()));
    for version in [Saml11, Saml20] {
        let assertion = assertion(version, SenderVouches);
        let message = secured(&sending(SenderVouches, &assertion));
        assert!(message.contains("#STR-Transform"), "{message}");
        assert!(verify(&policy(), &message).is_ok());
        // Who isn't trusted for that.
        let stranger = secured(&MALLORY.signing().with_assertion(assertion.as_str()));
        refused(&policy(), &stranger, ErrorKind::Untrusted, "");
        let other = Policy::signed_by(MALLORY.trust()).with_assertions(issued().with_sender_vouches(GATEWAY.trust()));
        refused(&other.with_clock(now), &stranger, ErrorKind::Assertion, "no sender");
        // Who doesn't sign the assertion, or not the message.
        let without = secured(&GATEWAY.signing().with_assertion(assertion.as_str()).with_signed(WITHOUT_ASSERTION));
        refused(&policy(), &without, ErrorKind::Unsigned, "the assertion is not signed");
        let only = secured(&GATEWAY.signing().with_assertion(assertion.as_str()).with_signed([Part::Assertion]));
        refused(&policy(), &only, ErrorKind::Unsigned, "");
        // The signature covers it directly: the id of an assertion is an id.
        let start = message.rfind("<ds:Reference URI=\"#reference-1\"").unwrap();
        let end = start + message[start..].find("</ds:Reference>").unwrap();
        let apex = Subset { apex: message.find("<a:Assertion"), without: None };
        let direct = format!(
            "<ds:Reference URI=\"#_a1\"><ds:Transforms><ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"/></ds:Transforms><ds:DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"/><ds:DigestValue>{}</ds:DigestValue>",
            digest(&canonical(&message, apex))
        );
        let direct = signed_again(&format!("{}{direct}{}", &message[..start], &message[end..]), &GATEWAY);
        assert_eq!(outcome(&policy(), &direct).as_deref(), Ok("ann@example.org"));
        // Another assertion of the same issuer, in place of the one that was signed.
        let other = signed_by(&STS, &unsigned(version, SenderVouches).replace("ann@", "eve@"));
        refused(&policy(), &message.replace(&assertion, &other), ErrorKind::Digest, "was changed");
        // The reference leads to the other one, which is beside it.
        let second = other_id(&unsigned(version, SenderVouches).replace("ann@", "eve@"));
        let both = message.replace(&assertion, &format!("{}{assertion}", signed_by(&STS, &second)));
        assert_eq!(outcome(&policy(), &both).as_deref(), Ok("ann@example.org"));
        let led_away = both.replace(">_a1</wsse:KeyIdentifier>", ">_a2</wsse:KeyIdentifier>");
        assert_ne!(led_away, both);
        refused(&policy(), &led_away, ErrorKind::Digest, "was changed");
        // There is no such reference.
        let nowhere = message.replace(">_a1</wsse:KeyIdentifier>", ">_a3</wsse:KeyIdentifier>");
        refused(&policy(), &nowhere, ErrorKind::Reference, "no reference to a token");
        // The signed assertion is where nobody reads it, and the other one in its place.
        let moved = format!("<x:w xmlns:x='urn:x'>{assertion}</x:w></s:Body>");
        let moved = message.replace(&assertion, &signed_by(&STS, &second)).replace("</s:Body>", &moved);
        assert!(verify(&policy(), &moved).is_err(), "{moved}");
    }
}

fn other_id(assertion: &str) -> String {
    assertion.replace("ID='_a1'", "ID='_a2'")
}

/// Signature wrapping (Somorovsky 2012, XSW 1 to 8): the signature stays valid, because what it signs is still somewhere.
#[test]
fn wrapped_assertions_are_not_trusted() {
    for version in [Saml11, Saml20] {
        let assertion = assertion(version, Bearer);
        let message = secured(&sending(Bearer, &assertion));
        let cut = |from: &str, to: &str| {
            let start = assertion.find(from).unwrap();
            assertion[start..start + assertion[start..].find(to).unwrap() + to.len()].to_owned()
        };
        let signature = cut("<ds:Signature", "</ds:Signature>");
        let bare = assertion.replace(&signature, "");
        let forged = unsigned(version, Bearer).replace("ann@", "eve@");
        let forged_2 = other_id(&forged);
        // Puts the content into the forged assertion, where a signature belongs, with the id of the genuine one or another.
        let sign = |forged: &str, signature: &str| match version {
            Saml20 => forged.replace("</a:Issuer>", &format!("</a:Issuer>{signature}")),
            _ => forged.replace("</a:Assertion>", &format!("{signature}</a:Assertion>")),
        };
        let with_object = |content: &str| {
            signature.replace("</ds:Signature>", &format!("<ds:Object>{content}</ds:Object></ds:Signature>"))
        };
        let advice = |forged: &str, content: &str| {
            forged.replace("</a:Conditions>", &format!("</a:Conditions><a:Advice>{content}</a:Advice>"))
        };
        for (number, attack) in [
            // 1, 2: the forged one around the genuine one, or beside its signature.
            sign(&forged_2, &with_object(&bare)),
            format!("{}{bare}", sign(&forged_2, &signature)),
            // 3, 4: before it, after it, and around it.
            format!("{forged_2}{assertion}"),
            format!("{assertion}{forged_2}"),
            forged_2.replace("</a:Assertion>", &format!("{assertion}</a:Assertion>")),
            // 5, 6: with a copy of the signature, whose original is in it.
            format!("{}{bare}", sign(&forged, &signature)),
            sign(&forged, &with_object(&bare)),
            sign(&forged_2, &with_object(&assertion)),
            // 7, 8: in an element that nobody reads.
            advice(&forged_2, &assertion),
            sign(&advice(&forged_2, &bare), &signature),
            format!("<x:w xmlns:x='urn:x'>{assertion}</x:w>{forged_2}"),
            // A second signature.
            sign(&sign(&forged_2, &signature), &signature),
        ]
        .iter()
        .enumerate()
        {
            let attacked = message.replace(&assertion, attack);
            if let Ok(verified) = verify(&policy(every()), &attacked) {
                let found = verified.assertion().unwrap();
                let is_genuine = attacked[found.range.clone()] == assertion;
                assert!(is_genuine && [2, 3].contains(&number), "{version:?} {number}: {attacked}");
                assert_eq!(found.subject.name.as_deref(), Some("ann@example.org"));
            }
            // Somewhere else in the message.
            let body = message.replace(&assertion, &forged_2).replace("</s:Body>", &format!("{attack}</s:Body>"));
            assert!(verify(&policy(every()), &body).is_err(), "{version:?} {number}: {body}");
        }
        // A genuine assertion that is only an advice, in one that the sender made.
        let advised = signed_by(&MALLORY, &advice(&forged_2, &assertion));
        refused(&policy(every()), &message.replace(&assertion, &advised), ErrorKind::Untrusted, "");
        // One that the issuer made is about its own subject.
        let advised = signed_by(&STS, &advice(&forged_2, &assertion));
        let found = outcome(&policy(every()), &message.replace(&assertion, &advised));
        assert_eq!(found.as_deref(), Ok("eve@example.org"));
    }
}

#[test]
fn an_id_is_of_one_element() {
    let assertion = assertion(Saml20, Bearer);
    let message = secured(&sending(Bearer, &assertion));
    let wsu = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
    let forged = unsigned(Saml20, Bearer).replace("ann@", "eve@");
    let old = unsigned(Saml11, Bearer).replace("ann@", "eve@");
    for other in [
        forged.clone(),
        forged.replace(" ID='_a1'", " ID='_a2' xml:id='_a1'"),
        forged.replace(" ID='_a1'", &format!(" ID='_a2' xmlns:u='{wsu}' u:Id='_a1'")),
        old,
    ] {
        for both in [format!("{other}{assertion}"), format!("{assertion}{other}")] {
            refused(&policy(every()), &message.replace(&assertion, &both), ErrorKind::Reference, "a second element");
        }
    }
    // Attributes that are no ids.
    for other in ["Id", "AssertionID", "id", "a:ID"] {
        let other = forged.replace(" ID='_a1'", &format!(" ID='_a2' {other}='_a1'"));
        let both = message.replace(&assertion, &format!("{other}{assertion}"));
        assert_eq!(outcome(&policy(every()), &both).as_deref(), Ok("ann@example.org"));
        // Without the id there is none.
        let without = unsigned(Saml20, Bearer).replace(" ID='_a1'", "");
        refused(&policy(every()), &message.replace(&assertion, &without), ErrorKind::Malformed, "the attribute ID");
    }
}

/// One reader once took the text before a comment, and another one all of it (CVE-2017-11427 and others).
#[test]
fn comments_do_not_split_names() {
    for version in [Saml11, Saml20] {
        let message = secured(&sending(Bearer, &assertion(version, Bearer)));
        for comment in ["<!---->", "<!-- x -->", "<?x y?>"] {
            let split = message.replace("ann@example.org", &format!("ann@example.org{comment}.attacker.example"));
            refused(&policy(every()), &split, ErrorKind::Digest, "");
            let split = message.replace("ann@example.org", &format!("ann@{comment}example.org"));
            let found = outcome(&policy(every()), &split);
            // A processing instruction is signed content.
            assert_eq!(found.ok().as_deref(), (!comment.starts_with("<?")).then_some("ann@example.org"));
        }
    }
}

#[test]
fn the_signature_of_an_assertion_is_its_own() {
    // A signature of the assertion's issuer over another part of it, or with other transforms.
    let assertion = assertion(Saml20, Bearer);
    let transform = "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/>";
    for (from, to, kind) in [
        ("URI=\"#_a1\"", "URI=\"\"", ErrorKind::Reference),
        ("URI=\"#_a1\"", "URI=\"#body-1\"", ErrorKind::Reference),
        (transform, "", ErrorKind::Reference),
        (
            transform,
            "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\"/>",
            ErrorKind::Unsupported,
        ),
        (
            "</ds:Reference>",
            "</ds:Reference><ds:Reference URI=\"#_a1\"><ds:DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"/><ds:DigestValue>AAAA</ds:DigestValue></ds:Reference>",
            ErrorKind::Reference,
        ),
        ("ID='_a1'", "ID='_a2'", ErrorKind::Reference),
    ] {
        let changed = assertion.replacen(from, to, 1);
        assert_ne!(changed, assertion, "{from}");
        refused(&policy(every()), &secured(&sending(Bearer, &changed)), kind, "");
    }
    // A signature of one element of it.
    let part = unsigned(Saml20, Bearer).replace("<a:Subject>", "<a:Subject ID='_s1'>");
    let signer = DocumentSigner::new(STS.key())
        .with_certificates(vec![STS.certificate.clone()])
        .with_id_attribute("ID")
        .with_place(Place::After { namespace: None, local: "Issuer".to_owned() });
    let part = signer.sign_element(part.as_bytes(), "_s1").now_or_never().unwrap().unwrap();
    let message = secured(&sending(Bearer, &String::from_utf8(part).unwrap()));
    refused(&policy(every()), &message, ErrorKind::Reference, "refers to its id");
}

/// `xsi:type="xs:string"` is in most assertions.
#[test]
fn prefixes_of_values_are_signed() {
    let unsigned = unsigned(Saml20, Bearer);
    let assertion = signed_by(&STS, &unsigned);
    let rebound = assertion.replace("'http://www.w3.org/2001/XMLSchema'", "'urn:evil'");
    refused(&policy(every()), &secured(&sending(Bearer, &rebound)), ErrorKind::Digest, "");
    // An issuer that doesn't list the prefix.
    let start = assertion.find("<ec:InclusiveNamespaces").unwrap();
    let end = start + assertion[start..].find("/>").unwrap() + 2;
    let without = format!("{}{}", &assertion[..start], &assertion[end..]);
    let value = assertion.find("<ds:DigestValue>").unwrap()..assertion.find("</ds:DigestValue>").unwrap();
    let right = format!("<ds:DigestValue>{}", digest(&canonical(&unsigned, Subset::default())));
    let without = signed_again(&without.replace(&assertion[value], &right), &STS);
    let rebound = without.replace("'http://www.w3.org/2001/XMLSchema'", "'urn:evil'");
    let lenient = || policy(every().with_unsigned_prefixes());
    let both = || policy(every().with_unsigned_prefixes()).with_signed([Part::Body, Part::Assertion]);
    for assertion in [without, rebound] {
        let message = secured(&sending(Bearer, &assertion));
        refused(&policy(every()), &message, ErrorKind::UnsignedPrefix, "the prefix \"xs\"");
        assert!(verify(&lenient(), &message).is_ok());
        // A signature of the message over it leaves the decision to the policy for assertions.
        let message = secured(&GATEWAY.signing().with_assertion(assertion));
        refused(&policy(every()), &message, ErrorKind::UnsignedPrefix, "the prefix \"xs\"");
        assert!(verify(&both(), &message).is_ok());
    }
    // Inclusive canonicalization takes what is declared around an assertion into it, so that it can't be moved.
    let inclusive = Algorithm { version: Version::Canonical10, with_comments: false };
    let signer = DocumentSigner::new(STS.key())
        .with_certificates(vec![STS.certificate.clone()])
        .with_id_attribute("ID")
        .with_canonicalization(inclusive)
        .with_place(Place::After { namespace: None, local: "Issuer".to_owned() });
    let inclusive = signer.sign_element(unsigned.as_bytes(), "_a1").now_or_never().unwrap().unwrap();
    let message = secured(&sending(Bearer, &String::from_utf8(inclusive).unwrap()));
    refused(&policy(every()), &message, ErrorKind::Signature, "");
}

fn canonical(document: &str, subset: Subset) -> String {
    let exclusive = Algorithm { version: Version::Exclusive10, with_comments: false };
    let mut out = String::new();
    let mut reader = castile_xml::Reader::new(document.as_bytes(), castile_xml::Limits::default()).unwrap();
    Method::new(exclusive).write(&mut reader, subset, |piece| out.push_str(piece)).unwrap();
    out
}

fn digest(text: &str) -> String {
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()))
}

/// Returns the document with another value of its last signature.
fn signed_again(document: &str, party: &Party) -> String {
    let info = canonical(document, Subset { apex: document.rfind("<ds:SignedInfo"), without: None });
    let value = STANDARD.encode(party.key().sign(info.as_bytes()).now_or_never().unwrap().unwrap());
    let at = document.rfind("<ds:SignatureValue>").unwrap() + "<ds:SignatureValue>".len();
    let end = at + document[at..].find('<').unwrap();
    format!("{}{value}{}", &document[..at], &document[end..])
}

#[test]
fn an_assertion_for_one_use_is_used_once() {
    for (version, condition) in [(Saml20, "OneTimeUse"), (Saml11, "DoNotCacheCondition")] {
        let once = unsigned(version, Bearer).replace("</a:Conditions>", &format!("<a:{condition}/></a:Conditions>"));
        let once = signed_by(&STS, &once);
        let policy = || policy(every());
        let one = policy();
        assert!(verify(&one, &secured(&sending(Bearer, &once))).is_ok());
        refused(
            &one,
            &secured(&sending(Bearer, &once)),
            ErrorKind::Replayed,
            "an assertion for one use was received before",
        );
        refused(
            &policy().without_replay_cache(),
            &secured(&sending(Bearer, &once)),
            ErrorKind::Assertion,
            "remembers nothing",
        );
        // Another issuer may use the same id.
        let other = signed_by(
            &MALLORY,
            &once
                .replace("urn:sts", "urn:other")
                .replace(&once[once.find("<ds:Signature").unwrap()..once.find("</ds:Signature>").unwrap() + 15], ""),
        );
        let both = Policy::asserted_by(every().with_issuer("urn:other", MALLORY.trust())).with_clock(now);
        assert!(verify(&both, &secured(&sending(Bearer, &once))).is_ok());
        assert!(verify(&both, &secured(&sending(Bearer, &other))).is_ok());
        // It would have to be remembered for long.
        let long = unsigned(version, Bearer)
            .replace("</a:Conditions>", &format!("<a:{condition}/></a:Conditions>"))
            .replace("2027-01-15T08:10:00Z", "2027-01-16T08:00:01Z");
        let message = secured(&sending(Bearer, &signed_by(&STS, &long)));
        refused(&policy(), &message, ErrorKind::Assertion, "within 86400 s");
    }
    let often = secured(&sending(Bearer, &assertion(Saml20, Bearer)));
    let one = policy(every());
    assert!(verify(&one, &often).is_ok() && verify(&one, &often).is_ok());
}

#[test]
fn one_assertion_is_acceptable() {
    let assertion = assertion(Saml20, Bearer);
    let message = secured(&sending(Bearer, &assertion));
    let with = |others: &str| message.replace(&assertion, &format!("{others}{assertion}"));
    let second = other_id(&unsigned(Saml20, Bearer).replace("ann@", "eve@"));
    refused(&policy(every()), &with(&signed_by(&STS, &second)), ErrorKind::Assertion, "several assertions");
    // Others, for other services or of other issuers, are ignored.
    for other in [
        signed_by(&STS, &second.replace("urn:orders", "urn:other")),
        signed_by(&STS, &second.replace("08:10", "07:59")),
        signed_by(&MALLORY, &second.replace("urn:sts", "urn:mallory")),
        second.clone(),
    ] {
        assert_eq!(outcome(&policy(every()), &with(&other)).as_deref(), Ok("ann@example.org"));
    }
    let encrypted = format!("<a:EncryptedAssertion xmlns:a='{SAML20}'/>");
    refused(&policy(every()), &with(&encrypted), ErrorKind::Unsupported, "<EncryptedAssertion>");
}

#[test]
fn assertions_have_limits() {
    let original = unsigned(Saml20, Bearer);
    let value = "<a:AttributeValue>x</a:AttributeValue>";
    for (count, is_accepted) in [(1_015, true), (1_016, false)] {
        let many =
            original.replace("<a:AttributeValue>a&amp;", &format!("{}<a:AttributeValue>a&amp;", value.repeat(count)));
        let found = outcome(&policy(every()), &secured(&sending(Bearer, &signed_by(&STS, &many))));
        assert_eq!(found.is_ok(), is_accepted, "{count} {found:?}");
        assert!(found.err().is_none_or(|(kind, _)| kind == ErrorKind::Limit));
    }
    let assertion = signed_by(&STS, &original);
    let message = secured(&sending(Bearer, &assertion));
    for (count, is_accepted) in [(3, true), (4, false)] {
        let others: String = (0..count).map(|number| original.replace("_a1", &format!("_b{number}"))).collect();
        let found = outcome(&policy(every()), &message.replace(&assertion, &format!("{others}{assertion}")));
        assert_eq!(found.is_ok(), is_accepted, "{count} {found:?}");
    }
    for (count, is_accepted) in [(8, true), (9, false)] {
        let wsu = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
        let reference = |number: usize| {
            format!(
                "<wsse:SecurityTokenReference xmlns:u='{wsu}' u:Id='r{number}'><wsse:Reference URI='#_a1'/></wsse:SecurityTokenReference>"
            )
        };
        let references: String = (0..count).map(reference).collect();
        let found = outcome(&policy(every()), &message.replace(&assertion, &format!("{references}{assertion}")));
        assert_eq!(found.is_ok(), is_accepted, "{count} {found:?}");
    }
    // Deep content, and long content, are those of a document and of a header.
    let deep = original.replace("<a:AttributeValue>a&amp;", &format!("<a:AttributeValue>{}", "<x>".repeat(600)));
    let deep = deep.replacen("c</a:AttributeValue>", &format!("{}</a:AttributeValue>", "</x>".repeat(600)), 1);
    let attacked = message.replace(&assertion, &deep);
    refused(&policy(every()), &attacked, ErrorKind::Limit, "");
    let long = original.replace("buyer", &"x".repeat(256 << 10));
    refused(&policy(every()), &message.replace(&assertion, &long), ErrorKind::Limit, "a header");
}

#[test]
fn what_is_sent_is_an_assertion() {
    for bytes in ["", "<a/>", "<a:Assertion xmlns:a='urn:x' ID='x'/>", "<Assertion", "<!DOCTYPE a><a/>"] {
        let error = OutgoingSecurity::new().with_assertion(bytes).secure(ORDER.as_bytes()).now_or_never().unwrap();
        assert!(error.is_err(), "{bytes}");
    }
    let alone = ANN.signing().with_key_of_subject().secure(ORDER.as_bytes()).now_or_never().unwrap();
    assert_eq!(alone.unwrap_err().kind(), ErrorKind::Key);
    // An id would be that of two elements.
    let order = ORDER.replace("<s:Body", "<s:Body xml:id='_a1'");
    assert!(order.contains("_a1"));
    let shared =
        ANN.signing().with_assertion(assertion(Saml20, Bearer)).secure(order.as_bytes()).now_or_never().unwrap();
    assert!(shared.unwrap_err().message().contains("both have an element with the id \"_a1\""));
    let keyless = OutgoingSecurity::new().with_key_of_subject().with_assertion(assertion(Saml20, HolderOfKey));
    assert_eq!(keyless.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap_err().kind(), ErrorKind::Key);
    // A declaration and comments around it are not sent; ids in it are not taken.
    let unsigned = unsigned(Saml20, Bearer).replace("<r:role ", "<r:role xml:id='body-1' ");
    let assertion = signed_by(&STS, &unsigned);
    let document = format!("<?xml version='1.0'?><!-- x -->{assertion}<!-- y -->");
    let message = secured(&GATEWAY.signing().with_assertion(document));
    assert!(message.contains(&assertion) && !message.contains("<!-- x -->") && message.contains("body-2"));
    let trusting = Policy::signed_by(GATEWAY.trust()).with_assertions(every()).with_clock(now);
    assert!(verify(&trusting, &message).is_ok(), "{message}");
    // A default namespace of the message is not that of the assertion.
    let plain = unsigned.replace("<r:role ", "<role ").replace("</r:role>", "</role>");
    let security = sending(Bearer, &signed_by(&STS, &plain));
    let order = "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><order xmlns=''/></Body></Envelope>";
    let message = security.secure(order.as_bytes());
    let message = String::from_utf8(message.now_or_never().unwrap().unwrap()).unwrap();
    assert_eq!(outcome(&policy(every()), &message).as_deref(), Ok("ann@example.org"), "{message}");
}

#[test]
fn explanations_name_assertions() {
    let message = secured(&sending(SenderVouches, &assertion(Saml20, SenderVouches)));
    let trust = GATEWAY.trust().with_certificate(STS.certificate.clone());
    let explained = explain(message.as_bytes(), &trust, now()).unwrap();
    let [security] = explained.security.as_slice() else { panic!("{explained:?}") };
    assert!(security.problem.is_none(), "{explained:?}");
    let [assertion] = security.assertions.as_slice() else { panic!("{explained:?}") };
    let own = explained.signatures[0].as_ref().unwrap();
    assert_eq!(assertion.signature.as_ref(), Some(&own.range));
    let assertion = &assertion.assertion;
    assert_eq!((assertion.issuer.as_str(), assertion.subject.name.as_deref()), ("urn:sts", Some("ann@example.org")));
    assert_eq!(assertion.confirmation_methods, [SenderVouches]);
    // Its signature, and that of the message, which covers it.
    let signers: Vec<_> =
        explained.signatures.iter().map(|one| one.as_ref().unwrap().signer.clone().unwrap()).collect();
    let [sts, gateway] = [&STS, &GATEWAY].map(|party| Signer::Certificate(party.certificate.clone()));
    assert_eq!(signers, [sts, gateway]);
    let part = explained.parts.iter().find(|part| part.name == "Assertion").unwrap();
    assert_eq!((part.signed_by.as_slice(), &part.range), (&[1][..], &assertion.range));
    for signature in &explained.signatures {
        let signature = signature.as_ref().unwrap();
        assert_eq!(signature.value, Ok(()));
        for reference in &signature.references {
            assert_eq!(reference.content.as_ref().unwrap().computed, reference.stated);
        }
    }
}

/// Whoever has the key of a subject is the subject, if the assertion is one of an issuer who is trusted.
#[test]
fn explanations_trust_subjects_of_trusted_issuers() {
    for version in [Saml11, Saml20] {
        let message = secured(&sending(HolderOfKey, &assertion(version, HolderOfKey)));
        let signature = |message: &str, trust: &Trust| {
            let explained = explain(message.as_bytes(), trust, now()).unwrap();
            let of_subject = explained.signatures.iter().flatten().find(|one| !one.subjects.is_empty());
            of_subject.unwrap().clone()
        };
        let sts = Trust::new().with_certificate(STS.certificate.clone());
        let found = signature(&message, &sts);
        assert_eq!(found.keys, [ExplainedKey::OfAssertion]);
        assert_eq!((found.value, found.signer), (Ok(()), Ok(Signer::Subject(found.subjects[0].clone()))));
        // Nobody vouches for it, or for something else.
        let changed = message.replace("ann@example.org", "eve@example.org");
        for (message, trust) in [(&message, &Trust::new()), (&message, &GATEWAY.trust()), (&changed, &sts)] {
            let found = signature(message, trust);
            let error = found.signer.unwrap_err();
            assert_eq!((found.value, error.kind()), (Ok(()), ErrorKind::UnknownKey));
            assert!(error.message().contains("no right signature of somebody who is trusted"), "{error}");
        }
        // Somebody else refers to the assertion.
        let other = GATEWAY.signing().with_key_of_subject().with_assertion(assertion(version, HolderOfKey));
        let explained = explain(secured(&other).as_bytes(), &sts, now()).unwrap();
        let by_other = explained.signatures.iter().flatten().find(|one| one.keys == [ExplainedKey::OfAssertion]);
        let by_other = by_other.unwrap();
        assert!(by_other.subjects.is_empty() && by_other.signer.is_err() && !by_other.is_right(), "{by_other:?}");
    }
}

/// Every seventh byte of an assertion is changed in several ways. What is accepted says the same.
#[test]
fn changed_assertions_are_refused() {
    for version in [Saml11, Saml20] {
        let assertion = assertion(version, Bearer);
        let message = secured(&sending(Bearer, &assertion)).into_bytes();
        let start = message.windows(12).position(|window| window == b"<a:Assertion").unwrap();
        let policy = policy(every());
        let said = |message: &[u8]| {
            let verified = policy.verify(message).now_or_never().unwrap().ok()?;
            let mut found = verified.assertion().unwrap().clone();
            found.range = 0..0;
            found
                .attributes
                .iter_mut()
                .flat_map(|attribute| &mut attribute.values)
                .for_each(|value| value.range = 0..0);
            Some(found)
        };
        let expected = said(&message).unwrap();
        let mut random = fastrand::Rng::with_seed(12);
        let (mut accepted, mut tried) = (0, 0);
        for at in (start..start + assertion.len()).step_by(7) {
            for change in 0..4 {
                let mut changed = message.clone();
                match change {
                    0 => drop(changed.remove(at)),
                    1 => changed[at] = b" <>&\"'/=:aA0-!"[random.usize(0..14)],
                    2 => changed[at] ^= 1 << random.u8(0..8),
                    _ => {
                        let end = (at + random.usize(1..300)).min(start + assertion.len());
                        let piece = message[at..end].to_vec();
                        let to = random.usize(start..start + assertion.len());
                        drop(changed.splice(to..to, piece));
                    }
                }
                tried += 1;
                if let Some(found) = said(&changed).filter(|_| changed != message) {
                    assert_eq!(found, expected, "{}", String::from_utf8_lossy(&changed));
                    accepted += 1;
                }
            }
        }
        assert!(accepted > 0 && accepted < tried / 8, "{accepted} of {tried}");
    }
}
