//! Messages that somebody put together from others. Each signature in them is valid.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castile_wss::message::{OutgoingSecurity, Part, Policy, VerifiedMessage};
use castile_wss::{Certificate, Error, ErrorKind, PrivateKey, Secret, Signer, Trust};
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair};

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
const WSA: &str = "http://www.w3.org/2005/08/addressing";
const NOW: u64 = 1_800_000_000;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fn long_ago() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW - 100 * 86_400)
}

fn secured(security: &OutgoingSecurity, message: &str) -> String {
    let secured = security.secure(message.as_bytes()).now_or_never().unwrap();
    String::from_utf8(secured.unwrap_or_else(|error| panic!("{error}: {message}"))).unwrap()
}

fn verify(policy: &Policy, message: &str) -> Result<VerifiedMessage, Error> {
    policy.verify(message.as_bytes()).now_or_never().unwrap()
}

fn party(algorithm: &'static rcgen::SignatureAlgorithm) -> (Certificate, KeyPair) {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap();
    (Certificate::from_der(certificate.der()).unwrap(), key)
}

fn signing(party: &(Certificate, KeyPair)) -> OutgoingSecurity {
    let key = PrivateKey::from_pem(party.1.serialize_pem().as_bytes()).unwrap();
    OutgoingSecurity::new().with_timestamp().with_signature(key).with_certificate(party.0.clone())
}

/// Returns the text from `from` to the end of the first `to` behind it.
fn cut<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let start = text.find(from).unwrap();
    let end = start + text[start..].find(to).unwrap() + to.len();
    &text[start..end]
}

fn order(header: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='{SOAP11}'><s:Header>{header}</s:Header><s:Body><o:order xmlns:o='urn:o'>Tea</o:order></s:Body></s:Envelope>"
    )
}

/// The prefixes that are in scope in a `Security`, for parts of it that are moved elsewhere.
fn scope() -> String {
    let wsse = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
    format!("xmlns:x='urn:x' xmlns:wsu='{WSU}' xmlns:wsse='{wsse}' xmlns:env='{SOAP11}'")
}

/// Somebody between puts Bob's body of 100 days ago into a new message of Bob. Each part has a signature of Bob.
#[test]
fn two_messages_of_one_signer_are_not_one() {
    for algorithm in [&rcgen::PKCS_ED25519, &rcgen::PKCS_RSA_SHA256] {
        let bob = party(algorithm);
        // The ids of both differ, as those of other stacks do.
        let other = order("").replace("<s:Body>", &format!("<s:Body xmlns:wsu='{WSU}' wsu:Id='old-body'>"));
        let old = secured(&signing(&bob).with_clock(long_ago), &other.replace("Tea", "Pay Mallory"));
        let new = secured(&signing(&bob).with_clock(now), &order(""));
        let policy = Policy::signed_by(Trust::new().with_certificate(bob.0.clone())).with_clock(now);
        assert_eq!(verify(&policy, &old).unwrap_err().kind(), ErrorKind::Time);
        let old_time = cut(&old, "<wsu:Timestamp", "</wsu:Timestamp>");
        let (old_body, new_body) = (cut(&old, "<s:Body", "</s:Body>"), cut(&new, "<s:Body", "</s:Body>"));
        let old_signature = cut(&old, "<ds:Signature ", "</ds:Signature>");
        for unread in [
            // Both messages whole, somewhere.
            format!("<x:w {}>{old_time}{new_body}</x:w>", scope()),
            // Nothing of what is missing is anywhere.
            String::new(),
        ] {
            let end = format!("{old_signature}</wsse:Security>{unread}");
            let mixed = new.replace(new_body, old_body).replace("</wsse:Security>", &end);
            let error = verify(&policy, &mixed).expect_err(&mixed);
            assert!([ErrorKind::Reference, ErrorKind::Unsigned].contains(&error.kind()), "{error}");
        }
        // The old time stamp, and the new body, where parts of a message are: as a block, and inside the body.
        let inside = old_body.replace("</s:Body>", &format!("<x:w {}>{old_time}</x:w></s:Body>", scope()));
        let mixed =
            new.replace(new_body, &inside).replace("</wsse:Security>", &format!("{old_signature}</wsse:Security>"));
        assert!(verify(&policy, &mixed).is_err(), "{mixed}");
        assert!(verify(&policy, &new).is_ok());
    }
}

/// Mallory, who is trusted, too, sends Bob's old body with a new time and an address of her own.
#[test]
fn the_signer_is_who_signed_all() {
    let (bob, mallory) = (party(&rcgen::PKCS_ED25519), party(&rcgen::PKCS_ED25519));
    let to = |to: &str| format!("<a:To xmlns:a='{WSA}' xmlns:wsu='{WSU}' wsu:Id='{to}'>{to}</a:To>");
    let old = secured(&signing(&bob).with_clock(long_ago), &order(&to("bank")));
    let trust = Trust::new().with_certificate(bob.0.clone()).with_certificate(mallory.0.clone());
    let policy = Policy::signed_by(trust).with_clock(now);
    let time = cut(&old, "<wsu:Timestamp", "</wsu:Timestamp>");
    let token = cut(&old, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>").replace("token-1", "token-bob");
    let signature = cut(&old, "<ds:Signature ", "</ds:Signature>").replace("#token-1", "#token-bob");
    let body = cut(&old, "<s:Body", "</s:Body>");
    let wrapper = format!("<x:w {}>{time}{}</x:w>", scope(), to("bank"));
    for header in [format!("{wrapper}{}", to("other")), to("other")] {
        let new = order(&header);
        let new = new.replace(cut(&new, "<s:Body", "</s:Body>"), body);
        let forged = secured(&signing(&mallory).with_clock(now), &new);
        let at = forged.find("<ds:Signature ").unwrap();
        let forged = format!("{}{token}{signature}{}", &forged[..at], &forged[at..]);
        assert_eq!(verify(&policy, &forged).expect_err(&forged).kind(), ErrorKind::Reference);
        // Without Bob's signature it is Mallory's message.
        let own = secured(&signing(&mallory).with_clock(now), &new);
        let verified = verify(&policy, &own).unwrap();
        assert_eq!(verified.signer(), Some(&Signer::Certificate(mallory.0.clone())));
    }
}

/// A signed header block that is moved to where nobody reads it is as good as gone.
#[test]
fn signed_blocks_are_not_hidden() {
    let secret = || Secret::new(*b"nobody guesses this");
    let blocks = format!(
        "<a:RelatesTo xmlns:a='{WSA}'>urn:uuid:1</a:RelatesTo><a:Action xmlns:a='{WSA}'>urn:read</a:Action><t:Tenant xmlns:t='urn:t'>42</t:Tenant>"
    );
    let tenant = Part::Header { namespace: "urn:t".to_owned(), local: "Tenant".to_owned() };
    let parts = [Part::Body, Part::Timestamp, Part::Addressing, tenant];
    let security = OutgoingSecurity::new().with_timestamp().with_signature(secret()).with_clock(now);
    let message = secured(&security.with_signed(parts.clone()), &order(&blocks));
    let policy = Policy::signed_by(Trust::new().with_secret("s", secret())).with_clock(now).with_signed(parts);
    assert!(verify(&policy, &message).is_ok());
    let start = message.find("<a:RelatesTo").unwrap();
    let end = message.find("</t:Tenant>").unwrap() + "</t:Tenant>".len();
    let (before, signed, after) = (&message[..start], &message[start..end], &message[end..]);
    for hidden in [
        format!("{before}<x:w xmlns:x='urn:x'>{signed}</x:w>{after}"),
        format!("{before}{}", after.replace("</s:Envelope>", &format!("<x>{signed}</x></s:Envelope>"))),
        format!(
            "{before}{}",
            after.replace("</ds:Signature>", &format!("<ds:Object>{signed}</ds:Object></ds:Signature>"))
        ),
    ] {
        assert_eq!(verify(&policy, &hidden).expect_err(&hidden).kind(), ErrorKind::Reference);
    }
    // In the body it is still signed content, but the body is another one.
    let inside = format!("{before}{}", after.replace("</s:Body>", &format!("{signed}</s:Body>")));
    assert_eq!(verify(&policy, &inside).unwrap_err().kind(), ErrorKind::Digest);
}
