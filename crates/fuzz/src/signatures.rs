//! Checks that no change of a signed document or message is accepted.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castile_wss::document::DocumentVerifier;
use castile_wss::message::{Assertion, AssertionPolicy, Policy, VerifiedMessage};
use castile_wss::{Certificate, Explanation, PublicKey, Signer, Trust, VerifiedSignature, explain};
use castile_xml::{Limits, Reader, Token};
use futures_util::FutureExt;

use crate::{seeds, shown};

/// The messages of the seeds are valid then.
const NOW: Duration = Duration::from_secs(1_796_000_030);
/// The certificate that issued the one of the seeds, and the public key of the latter.
const AUTHORITY: &[u8] = include_bytes!("../signatures/ca.pem");
const KEY: &[u8] = include_bytes!("../signatures/public.pem");
/// The certificate of who issued the assertions of the seeds, and vouches for one of them.
const ISSUER: &[u8] = include_bytes!("../signatures/issuer.pem");

/// What the owner of the key has signed: the canonical forms of all references of a signature, in order.
static SIGNED: LazyLock<HashSet<Vec<String>>> = LazyLock::new(|| {
    let signed: HashSet<_> = seeds("signatures")
        .iter()
        .flat_map(|seed| {
            let explanation = explained(seed).expect("a seed that can be read");
            let count = explanation.signatures.len();
            (0..count).map(move |number| canonical(&explanation, number).expect("a seed whose signatures are right"))
        })
        .collect();
    assert!(signed.len() > 3, "{} signatures are too few", signed.len());
    signed
});

/// What the assertions of the seeds say.
static ASSERTIONS: LazyLock<Vec<Assertion>> = LazyLock::new(|| {
    let explanations = seeds("signatures").into_iter().filter_map(|seed| explained(&seed));
    let assertions: Vec<_> = explanations
        .flat_map(|explanation| explanation.security)
        .flat_map(|security| security.assertions)
        .map(|explained| without_places(explained.assertion))
        .collect();
    assert!(assertions.len() > 2, "{} assertions are too few", assertions.len());
    assertions
});

/// Verifies any bytes as a document, as a message, and as a message with an assertion.
///
/// - What is accepted has the same canonical form as what the owner of the key signed, and consists of the parts of one signature.
/// - The body of an accepted message is signed, unless it only has to bear an assertion.
/// - An accepted assertion says what its issuer signed.
/// - The explanation of what is accepted says so.
pub fn signatures(input: &[u8]) {
    let explanation = explained(input);
    let document = DocumentVerifier::new(trust()).with_doctype().verify(input);
    let policy = Policy::signed_by(trust()).without_replay_cache().with_clock(now);
    let message = policy.verify(input).now_or_never().expect("a policy that waits for nobody");
    let issuers = AssertionPolicy::new().with_issuer("urn:sts", trust()).with_audience("urn:tea");
    let vouched = Policy::asserted_by(issuers.with_bearer().with_sender_vouches(trust()));
    let vouched = vouched.without_replay_cache().with_clock(now).verify(input).now_or_never();
    let vouched = vouched.expect("a policy that waits for nobody");
    let Some(explanation) = explanation else {
        // What is nearly an envelope is explained as a message, and verified as a document too.
        let is_document = document.is_ok_and(|document| !is_envelope(document.text()));
        let is_accepted = is_document || message.is_ok() || vouched.is_ok();
        assert!(!is_accepted, "accepted, but not explained: {}", shown(input));
        return;
    };
    if let Ok(document) = document {
        assert_eq!(document.text(), explanation.text);
        // What is a message is explained as one: only the signatures in its Security are.
        for signature in document.signatures().iter().filter(|_| explanation.parts.is_empty()) {
            check(&explanation, signature, input);
        }
    }
    if let Ok(message) = message {
        let accepted = message.accepted_signature().expect("a signature, which the policy requires");
        check(&explanation, accepted, input);
        check_body(&explanation, &message, input);
    }
    if let Ok(message) = vouched {
        let assertion = message.assertion().expect("an assertion, which the policy requires");
        let mut explained = explanation.security.iter().flat_map(|security| &security.assertions);
        assert!(
            explained.any(|explained| explained.assertion == *assertion),
            "accepted, but not explained: {}",
            shown(input)
        );
        let assertion = without_places(assertion.clone());
        assert!(ASSERTIONS.contains(&assertion), "nobody issued this: {assertion:?} in {}", shown(input));
        if let Some(accepted) = message.accepted_signature() {
            check(&explanation, accepted, input);
            check_body(&explanation, &message, input);
        }
    }
}

fn check_body(explanation: &Explanation, message: &VerifiedMessage, input: &[u8]) {
    let mut bodies = explanation.parts.iter().filter(|part| part.name == "Body");
    assert!(
        bodies.any(|body| message.is_signed(&body.range)),
        "the body of an accepted message is not signed: {}",
        shown(input)
    );
}

/// Returns what an assertion says, wherever it is.
fn without_places(mut assertion: Assertion) -> Assertion {
    assertion.range = 0..0;
    for value in assertion.attributes.iter_mut().flat_map(|attribute| &mut attribute.values) {
        value.range = 0..0;
    }
    assertion
}

fn now() -> SystemTime {
    UNIX_EPOCH + NOW
}

fn trust() -> Trust {
    let authority = Certificate::from_pem(AUTHORITY).expect("a certificate");
    let key = PublicKey::from_pem(KEY).expect("a public key");
    let issuer = Certificate::from_pem(ISSUER).expect("a certificate");
    Trust::new().with_authority(authority).with_key("invoices", key).with_certificate(issuer).with_time(now())
}

/// Returns whether the root element has the name of an envelope.
fn is_envelope(text: &str) -> bool {
    let Ok(mut reader) = Reader::new(text.as_bytes(), Limits::default()) else { return false };
    while let Ok(token) = reader.next() {
        match token {
            Token::StartTag(tag) => return tag.name.local() == "Envelope",
            Token::End => return false,
            _ => {}
        }
    }
    false
}

fn explained(input: &[u8]) -> Option<Explanation> {
    explain(input, &trust(), now()).ok()
}

/// Checks an accepted signature.
fn check(explanation: &Explanation, accepted: &VerifiedSignature, input: &[u8]) {
    let explained = explanation.signatures.iter().position(|signature| {
        let Ok(signature) = signature else { return false };
        let places = signature.references.iter().map(|reference| Some(&reference.content.as_ref().ok()?.place));
        // Who the subject of an assertion is depends on the policy.
        (matches!(accepted.signer, Signer::Subject(_)) || signature.signer.as_ref() == Ok(&accepted.signer))
            && places.eq(accepted.references.iter().map(|reference| Some(&reference.content)))
    });
    let number = explained.unwrap_or_else(|| panic!("accepted, but explained otherwise: {}", shown(input)));
    let canonical = canonical(explanation, number);
    let canonical = canonical.unwrap_or_else(|| panic!("accepted, but not explained as right: {}", shown(input)));
    assert!(SIGNED.contains(&canonical), "this was never signed, but is accepted: {canonical:?} in {}", shown(input));
}

/// Returns the canonical forms of what a signature refers to, if it is right.
fn canonical(explanation: &Explanation, number: usize) -> Option<Vec<String>> {
    let signature = explanation.signatures[number].as_ref().ok()?;
    signature.value.is_ok().then_some(())?;
    let forms = signature.references.iter().map(|reference| {
        let content = reference.content.as_ref().ok()?;
        (content.computed == reference.stated).then_some(())?;
        content.canonical.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
    });
    forms.collect()
}
