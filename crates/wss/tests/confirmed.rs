//! Answers that confirm the signatures of their requests (WS-Security 1.1 §8.5).
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use castile_soap::{Layer, MessageSecurity, Options, RequestMessage, SecuredRequest, Service, Version, Written};
use castile_wss::message::{
    ClientSecurity, OutgoingSecurity, Part, PasswordForm, Policy, SecurityLayer, UsernameToken,
};
use castile_wss::{Secret, Trust};
use futures_util::FutureExt;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secret(of: &str) -> Secret {
    Secret::new(of)
}

fn signing(of: &str) -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(secret(of)).with_clock(now)
}

fn signed_by(name: &str) -> Policy {
    Policy::signed_by(Trust::new().with_secret(name, secret(name))).with_clock(now).without_replay_cache()
}

fn order(item: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order xmlns='urn:o'>{item}</order></s:Body></s:Envelope>"
    )
}

fn client() -> ClientSecurity {
    ClientSecurity::new(signing("client")).with_answer_policy(signed_by("service")).with_signature_confirmation()
}

fn secured(client: &ClientSecurity, message: &str) -> SecuredRequest {
    client.secure(&Written::new(message.to_owned())).now_or_never().unwrap().unwrap()
}

fn answer(layer: &SecurityLayer, request: &SecuredRequest) -> String {
    let request = RequestMessage::new(Version::Soap11, request.message.clone());
    let reply = layer.layer(common::echo()).call(request, &Options::default()).now_or_never().unwrap();
    String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap()
}

fn problem(client: &ClientSecurity, answer: &str, request: &SecuredRequest) -> Option<String> {
    let verified =
        client.verify(&mut Bytes::from(answer.to_owned()).into(), &request.signatures).now_or_never().unwrap();
    verified.err().map(|error| error.to_string())
}

#[test]
fn answers_belong_to_their_requests() {
    let layer = SecurityLayer::new(signed_by("client")).with_reply_security(signing("service"));
    let (client, confirming) = (client(), layer.clone().with_signature_confirmation());
    let [tea, milk] = ["tea", "milk"].map(|item| secured(&client, &order(item)));
    let [of_tea, of_milk] = [&tea, &milk].map(|request| answer(&confirming, request));
    assert_eq!(problem(&client, &of_tea, &tea), None, "{of_tea}");
    assert_eq!(problem(&client, &of_milk, &milk), None);
    let exchanged = problem(&client, &of_milk, &tea).unwrap();
    assert!(exchanged.contains("the answer is for another request"), "{exchanged}");
    let unconfirmed = answer(&layer, &milk);
    let missing = problem(&client, &unconfirmed, &milk).unwrap();
    assert!(missing.contains("it has no <SignatureConfirmation>"), "{missing}");
    // Without the option nobody notices.
    let trusting = ClientSecurity::new(signing("client")).with_answer_policy(signed_by("service"));
    assert_eq!(problem(&trusting, &of_milk, &tea), None);
    // A client that doesn't ask for confirmation ignores it.
    assert_eq!(problem(&trusting, &of_tea, &tea), None);
}

#[test]
fn faults_are_confirmed() {
    let confirming =
        SecurityLayer::new(signed_by("client")).with_reply_security(signing("service")).with_signature_confirmation();
    let client = client();
    let request = secured(&client, &order("tea").replace("order", "unknown"));
    let fault = answer(&confirming, &request);
    assert!(fault.contains("Fault>"), "{fault}");
    assert_eq!(problem(&client, &fault, &request), None, "{fault}");
}

/// The answer says that the request had no signature. A client that wants to know more has to sign.
#[test]
fn requests_without_signature_are_confirmed() {
    let user = UsernameToken::new("ann", "secret").with_form(PasswordForm::Digest);
    let passwords = std::collections::BTreeMap::from([("ann".to_owned(), secret("secret"))]);
    let policy = Policy::authenticated_by(passwords).with_clock(now).without_replay_cache();
    let confirming = SecurityLayer::new(policy).with_reply_security(signing("service")).with_signature_confirmation();
    let requests = OutgoingSecurity::new().with_username(user).with_clock(now);
    let client = ClientSecurity::new(requests.clone()).with_answer_policy(signed_by("service"));
    let request = secured(&client, &order("tea"));
    assert!(request.signatures.is_empty());
    let answer = answer(&confirming, &request);
    assert_eq!(problem(&client, &answer, &request), None, "{answer}");
    assert!(answer.contains("<wsse11:SignatureConfirmation") && !answer.contains("Value=\""), "{answer}");
    let of_signed = SecuredRequest::new(Vec::new()).with_signatures([vec![1, 2, 3]]);
    assert!(problem(&self::client(), &answer, &of_signed).unwrap().contains("for another request"));
}

/// The block is what an attacker would add to the signed answer to another request.
#[test]
fn confirmations_are_signed_and_complete() {
    let client = client();
    let request = secured(&client, &order("tea"));
    let confirming =
        SecurityLayer::new(signed_by("client")).with_reply_security(signing("service")).with_signature_confirmation();
    let answer = answer(&confirming, &request);
    let start = answer.find("<wsse11:SignatureConfirmation").unwrap();
    let end = start + answer[start..].find("/>").unwrap() + 2;
    let element = &answer[start..end];
    // Without the attribute there is no second element with its id.
    let copy = &element[..element.find(" wsu:Id").unwrap()];
    let unsigned = SecurityLayer::new(signed_by("client")).with_reply_security(signing("service"));
    let unsigned = self::answer(&unsigned, &request);
    // The value may be in lines, as other base64.
    let (start, value) = copy.split_at(copy.find("Value=\"").unwrap() + 12);
    let folded = format!("{start}&#10; {}\n\t{}", &value[..5], &value[5..]);
    for (changed, expected) in [
        (unsigned.replace("<wsu:Timestamp", &format!("{folded}/><wsu:Timestamp")), "is not signed"),
        (unsigned.replace("<wsu:Timestamp", &format!("{copy}/><wsu:Timestamp")), "is not signed"),
        (answer.replace("<wsu:Timestamp", &format!("{copy}/><wsu:Timestamp")), "confirms other signatures"),
        (answer.replace(element, ""), "no element has the id"),
        (answer.replace(element, &format!("{}<x/></wsse11:SignatureConfirmation>", element.replace("/>", ">"))), "<x>"),
        (
            unsigned.replace("<wsu:Timestamp", &format!("{}<wsu:Timestamp", format!("{copy}/>").repeat(9))),
            "more than 8 <SignatureConfirmation>",
        ),
        (
            unsigned.replace(
                "<wsu:Timestamp",
                "<c:SignatureConfirmation xmlns:c='http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd' Value='?'/><wsu:Timestamp",
            ),
            "Value of <c:SignatureConfirmation> is not base64",
        ),
    ] {
        let found = problem(&client, &changed, &request).unwrap_or_else(|| panic!("{changed}"));
        assert!(found.contains(expected), "{found}");
    }
    // Options that can't work are errors.
    let keyless = OutgoingSecurity::new().with_timestamp().with_clock(now);
    let keyless = SecurityLayer::new(signed_by("client")).with_reply_security(keyless).with_signature_confirmation();
    assert!(self::answer(&keyless, &request).contains("the reply could not be secured"));
    let without_policy = ClientSecurity::new(signing("client")).with_signature_confirmation();
    assert!(problem(&without_policy, &answer, &request).unwrap().contains("there is no policy"));
    // Nothing is added to nothing.
    let nothing = OutgoingSecurity::new().secure(order("tea").as_bytes()).now_or_never().unwrap().unwrap();
    assert_eq!(nothing, order("tea").into_bytes());
    // It is signed even if the body alone was to be.
    let only_body = signing("service").with_signed([Part::Body]);
    let confirming =
        SecurityLayer::new(signed_by("client")).with_reply_security(only_body).with_signature_confirmation();
    let policy = signed_by("service").with_signed([Part::Body]).without_timestamp();
    let lenient = ClientSecurity::new(signing("client")).with_answer_policy(policy).with_signature_confirmation();
    let request = secured(&lenient, &order("tea"));
    assert_eq!(problem(&lenient, &self::answer(&confirming, &request), &request), None);
}
