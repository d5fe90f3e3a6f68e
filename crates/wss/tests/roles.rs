//! Several `Security` blocks for several roles, and what is said of replies.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use castile_soap::{ErrorKind, Layer, MessageSecurity, Options, Received, RequestMessage, Service, Version};
use castile_wss::message::{ClientSecurity, OutgoingSecurity, Policy, SecurityLayer, VerifiedMessage};
use castile_wss::{Secret, SigningKey, Trust};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use common::{orders, text_of};

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

fn order(header: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='{SOAP11}'><s:Header>{header}</s:Header><s:Body><order xmlns='urn:o'>Tea</order></s:Body></s:Envelope>"
    )
}

fn signing(name: &str) -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(Secret::new(name))
}

fn signed_by(name: &str) -> Policy {
    Policy::signed_by(Trust::new().with_secret(name, Secret::new(name))).without_replay_cache()
}

fn secured(security: &OutgoingSecurity, message: &str) -> String {
    String::from_utf8(security.secure(message.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
}

fn call(service: &impl Service, message: &str, roles: &[&str]) -> String {
    let mut options = Options::default();
    options.roles = roles.iter().map(|role| (*role).to_owned()).collect();
    let request = RequestMessage::new(Version::Soap11, message.to_owned());
    text_of(&service.call(request, &options).now_or_never().unwrap())
}

/// Answers with the roles and signers of the layers, the innermost first.
fn seen() -> impl Service {
    orders(async |request| {
        let mut seen = Vec::new();
        let mut verified = request.extensions().get::<VerifiedMessage>();
        while let Some(one) = verified {
            seen.push(format!("{:?} {:?}", one.role().unwrap_or_default(), one.signer()));
            verified = one.outer();
        }
        Ok(seen.join(", ").into())
    })
}

/// A block that must be understood is understood only by the layer that has processed it.
#[test]
fn a_layer_understands_the_block_of_its_role() {
    let gateway = SecurityLayer::new(signed_by("gateway").with_role("urn:gateway"));
    let both = secured(&signing("ann"), &secured(&signing("gateway").with_role("urn:gateway"), &order("")));
    let one = |layer: &SecurityLayer, roles: &[&str]| call(&layer.layer(seen()), &both, roles);
    let recipient = SecurityLayer::new(signed_by("ann"));
    // The node doesn't act in the role, so its block is that of others.
    let answer = one(&recipient, &[]);
    assert!(answer.contains("\"\" Some(Secret(\"ann\"))</order>"), "{answer}");
    let answer = one(&recipient, &["urn:gateway"]);
    assert!(answer.contains("MustUnderstand"), "{answer}");
    let answer = one(&gateway, &["urn:gateway"]);
    assert!(answer.contains("MustUnderstand"), "{answer}");
    // Nor is it understood by chance if the node doesn't act in the role.
    let answer = one(&gateway, &[]);
    assert!(answer.contains("MustUnderstand"), "{answer}");

    for roles in [&["urn:gateway"][..], &[]] {
        let answer = call(&gateway.layer(recipient.layer(seen())), &both, roles);
        assert!(answer.contains("\"\" Some(Secret(\"ann\")), \"urn:gateway\" Some(Secret(\"gateway\"))"), "{answer}");
        let answer = call(&recipient.layer(gateway.layer(seen())), &both, roles);
        assert!(answer.contains("\"urn:gateway\" Some(Secret(\"gateway\")), \"\" Some(Secret(\"ann\"))"), "{answer}");
    }
}

fn verify(client: &ClientSecurity, answer: &str) -> (Option<ErrorKind>, Received) {
    let mut received = Received::from(Bytes::from(answer.to_owned()));
    let verified = client.verify(&mut received, &[]).now_or_never().unwrap();
    (verified.err().map(|error| error.kind()), received)
}

#[test]
fn a_policy_may_require_nothing() {
    let client = ClientSecurity::new(OutgoingSecurity::new()).with_answer_policy(Policy::any());
    let plain = order("");
    let timed = secured(&OutgoingSecurity::new().with_timestamp(), &plain);
    for (answer, processed) in [(&plain, 0), (&timed, 1), (&secured(&signing("anybody"), &plain), 1)] {
        let (error, received) = verify(&client, answer);
        assert_eq!((error, received.processed.len()), (None, processed), "{answer}");
        let verified = received.extensions.get::<VerifiedMessage>().unwrap();
        assert_eq!((verified.signer(), verified.signatures()), (None, &[][..]));
    }
    let block = |content: &str| order(&format!("<w:Security xmlns:w='{WSSE}'>{content}</w:Security>"));
    let late = timed.replace("<wsu:Created>20", "<wsu:Created>19");
    for wrong in [late, block("<x/>"), block("").replace("</s:Header>", "<")] {
        assert_eq!(verify(&client, &wrong).0, Some(ErrorKind::Security), "{wrong}");
    }
    // Nothing is processed without a policy.
    let (error, received) = verify(&ClientSecurity::new(OutgoingSecurity::new()), &timed);
    assert_eq!((error, received.processed.len()), (None, 0));
}

#[test]
fn a_fault_of_anybody_says_what_it_says() {
    let client = ClientSecurity::new(OutgoingSecurity::new()).with_answer_policy(signed_by("service"));
    let fault = |code: &str, reason: &str| {
        order("").replace(
            "<order xmlns='urn:o'>Tea</order>",
            &format!("<s:Fault><faultcode>{code}</faultcode><faultstring>{reason}</faultstring></s:Fault>"),
        )
    };
    let error_of = |answer: &str| {
        let mut received = Received::from(Bytes::from(answer.to_owned()));
        client.verify(&mut received, &[]).now_or_never().unwrap().unwrap_err()
    };
    let error = error_of(&fault("s:Client", "no account\u{202e}&#10;error: x"));
    assert_eq!(error.kind(), ErrorKind::UnsecuredFault);
    let found = error.unverified_fault().unwrap();
    assert_eq!(
        (found.reason.as_str(), &found.code),
        ("no account\u{202e}\nerror: x", &castile_soap::FaultCode::Sender)
    );
    assert!(error.to_string().ends_with(r"unverified: Sender: no account\u{202e}\nerror: x"), "{error}");
    // A long one is shortened where it is shown.
    let error = error_of(&fault("s:Server", &"no ".repeat(100_000)));
    assert_eq!(error.unverified_fault().unwrap().reason.as_str().len(), 300_000);
    assert!(error.to_string().len() < 1_500);
    // A fault that was signed, and changed, is none of these.
    let changed = secured(&signing("service"), &fault("s:Client", "no")).replace("<faultstring>no", "<faultstring>yes");
    let error = error_of(&changed);
    assert_eq!((error.kind(), error.unverified_fault()), (ErrorKind::Security, None));
    assert_eq!(error_of(&order("")).kind(), ErrorKind::Security);
}

/// A key that is not there.
#[derive(Debug)]
struct Lost;

impl SigningKey for Lost {
    fn algorithm(&self) -> castile_wss::SignatureAlgorithm {
        castile_wss::SignatureAlgorithm::Ed25519
    }

    fn sign<'a>(&'a self, _: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, castile_wss::Error>> {
        Box::pin(std::future::ready(Err(castile_wss::Error::of_key("the key is lost"))))
    }
}

/// Regression test: a reply that could not be secured was said to be a refused request.
#[test]
fn a_reply_that_is_not_secured_is_no_refused_request() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let [refused, unsecured] = ["refused", "unsecured"].map(|kind| {
        let log = log.clone();
        move |error: &castile_wss::Error| log.lock().unwrap().push(format!("{kind}: {}", error.message()))
    });
    let layer = SecurityLayer::new(signed_by("ann")).on_refusal(refused).on_unsecured_reply(unsecured);
    let service = layer.clone().with_reply_security(OutgoingSecurity::new().with_signature(Lost)).layer(seen());
    let request = secured(&signing("ann"), &order(""));
    assert!(call(&service, &request, &[]).contains("the reply could not be secured"));
    assert_eq!(*log.lock().unwrap(), ["unsecured: the key is lost"]);
    log.lock().unwrap().clear();
    assert!(call(&layer.with_signature_confirmation().layer(seen()), &request, &[]).contains("could not be secured"));
    assert!(log.lock().unwrap()[0].starts_with("unsecured: a reply that confirms"), "{log:?}");
    log.lock().unwrap().clear();
    assert!(call(&service, &order(""), &[]).contains("InvalidSecurity"));
    assert_eq!(*log.lock().unwrap(), ["refused: the message has no <Security>"]);
}
