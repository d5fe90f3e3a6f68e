//! A client with security: what it sends and what it accepts.

use std::collections::BTreeMap;

use bytes::Bytes;
use castile::mime::{Content, Part};
use castile::soap::{ErrorKind, Mtom};
use castile::wss::message::{
    ClientSecurity, OutgoingSecurity, Part as SignedPart, Policy, SecurityLayer, UsernameToken, VerifiedMessage,
};
use castile::wss::{Secret, Signer, Trust};
use castile::{CallError, ClientOptions};
use castile_recipes::orders::{Download, OrdersClient, OrdersServer, Upload};
use castile_recipes::{Shop, order};
use http_body::Frame;
use http_body_util::StreamBody;

const URL: &str = "http://localhost/orders";

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes())
}

fn signing(text: &str) -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(secret(text))
}

fn policy(text: &str) -> Policy {
    Policy::signed_by(Trust::new().with_secret("s", secret(text)))
}

fn options(security: ClientSecurity) -> ClientOptions {
    ClientOptions::default().with_security(security)
}

/// Returns the kind of an error that is not a fault.
fn kind<D: std::fmt::Debug + 'static>(error: CallError<D>) -> ErrorKind {
    match error {
        CallError::Protocol { error, .. } => error.kind(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn both_sides_sign() {
    let layer = SecurityLayer::new(policy("request")).with_reply_security(signing("reply"));
    let server = OrdersServer::new(Shop).layer(layer);
    let security = ClientSecurity::new(signing("request")).with_answer_policy(policy("reply"));
    let client = OrdersClient::with_transport(URL, server.clone()).expect("a URL").with_options(options(security));
    assert_eq!(client.place(&order(2)).await.expect("it is signed").number, 7);
    let fault = client.place(&order(200)).await.expect_err("so much tea is not there");
    assert_eq!(fault.to_string(), "Sender: order less");
    // Callers see who signed.
    let signer = |extensions: &http::Extensions| {
        extensions.get().and_then(VerifiedMessage::signer).cloned().expect("the answer is signed")
    };
    assert_eq!(signer(fault.fault().expect("a fault").extensions()), Signer::Secret("s".to_owned()));
    let response = client.place(&order(2)).send().await.expect("it is signed");
    assert_eq!(signer(response.extensions()), Signer::Secret("s".to_owned()));
    let unsecured = OrdersClient::with_transport(URL, OrdersServer::new(Shop)).expect("a URL");
    let response = unsecured.place(&order(2)).send().await.expect("an answer");
    assert!(response.extensions().is_empty());

    // The server refuses the signature, and doesn't sign that it does.
    let security = ClientSecurity::new(signing("other")).with_answer_policy(policy("reply"));
    let client = OrdersClient::with_transport(URL, server.clone()).expect("a URL").with_options(options(security));
    let error = client.place(&order(2)).await.expect_err("the secret is another one");
    assert!(error.to_string().ends_with("processing the <wsse:Security> header."), "{error}");
    assert_eq!(kind(error), ErrorKind::UnsecuredFault);

    // The client refuses the signature of the answer.
    let security = ClientSecurity::new(signing("request")).with_answer_policy(policy("another reply"));
    let client = OrdersClient::with_transport(URL, server).expect("a URL").with_options(options(security));
    let error = client.place(&order(2)).await.expect_err("the secret is another one");
    assert_eq!(kind(error), ErrorKind::Security);
}

#[tokio::test]
async fn answers_without_security_are_refused_only_by_a_policy() {
    let layer = SecurityLayer::new(Policy::authenticated_by(BTreeMap::from([("ada".to_owned(), secret("tea"))])));
    let server = OrdersServer::new(Shop).layer(layer);
    let ada = || ClientSecurity::new(OutgoingSecurity::new().with_username(UsernameToken::new("ada", "tea")));
    let client = OrdersClient::with_transport(URL, server.clone()).expect("a URL");
    assert_eq!(client.clone().with_options(options(ada())).place(&order(2)).await.expect("no policy").number, 7);
    let answers = ada().with_answer_policy(Policy::any());
    assert_eq!(
        client.clone().with_options(options(answers)).place(&order(2)).await.expect("none is required").number,
        7
    );
    let client = client.with_options(options(ada().with_answer_policy(policy("reply"))));
    let error = client.place(&order(2)).await.expect_err("the answer is not signed");
    assert_eq!(kind(error), ErrorKind::Security);
}

/// A service that adds what nobody has asked for.
#[tokio::test]
async fn answers_with_security_need_a_policy() {
    let layer = SecurityLayer::new(policy("request")).with_reply_security(signing("reply"));
    let client = OrdersClient::with_transport(URL, OrdersServer::new(Shop).layer(layer)).expect("a URL");
    let security = ClientSecurity::new(signing("request"));
    let error = client.clone().with_options(options(security.clone())).place(&order(2)).await.expect_err("no policy");
    assert!(error.to_string().contains("the client has no policy for the security of answers"), "{error}");
    assert_eq!(kind(error), ErrorKind::MustUnderstand);
    for answers in [Policy::any(), Policy::timestamped()] {
        let client = client.clone().with_options(options(security.clone().with_answer_policy(answers)));
        assert_eq!(client.place(&order(2)).await.expect("it is understood").number, 7);
    }
}

#[tokio::test]
async fn messages_with_mtom_are_signed() {
    let layer = SecurityLayer::new(policy("request")).with_reply_security(signing("reply"));
    let security = ClientSecurity::new(signing("request")).with_answer_policy(policy("reply"));
    let client = OrdersClient::with_transport(URL, OrdersServer::new(Shop).layer(layer)).expect("a URL");
    let mut options = options(security);
    options.messages.mtom = Mtom::Always(1);
    assert_eq!(client.with_options(options).place(&order(2)).await.expect("it is signed").number, 7);
}

#[tokio::test]
async fn attachments_are_signed() {
    let layer = SecurityLayer::new(policy("request")).with_reply_security(signing("reply"));
    let server = OrdersServer::new(Shop).layer(layer);
    let security = || ClientSecurity::new(signing("request")).with_answer_policy(policy("reply"));
    let client = OrdersClient::with_transport(URL, server.clone()).expect("a URL").with_options(options(security()));
    let document = |content: Content| Part::attachment("application/pdf", content).expect("a part");
    // More than is stored in memory.
    let uploaded = client.upload(&Upload { number: 7 }).attach(document(vec![7; 1_000_000].into())).await;
    assert_eq!(uploaded.expect("it is signed").bytes, 1_000_000);

    // What comes in chunks can't be signed before it is sent: not by the client, and not by the server.
    let chunks = futures_util::stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"It rains.")))]);
    let streamed = document(Content::stream(StreamBody::new(chunks)));
    let error = client.upload(&Upload { number: 7 }).attach(streamed).await.expect_err("it is a stream");
    assert_eq!(kind(error), ErrorKind::Security);
    let error = client.download(&Download { number: 7 }).await.expect_err("it is a stream");
    assert_eq!(kind(error), ErrorKind::UnsecuredFault);

    // A client that signs no attachments, for a server that requires it.
    let unsigned = signing("request").with_signed([SignedPart::Body, SignedPart::Timestamp]);
    let client = OrdersClient::with_transport(URL, server).expect("a URL");
    let client = client.with_options(options(ClientSecurity::new(unsigned).with_answer_policy(policy("reply"))));
    let uploaded = client.upload(&Upload { number: 7 }).attach(document("It rains.".into())).await;
    assert_eq!(kind(uploaded.expect_err("it is not signed")), ErrorKind::UnsecuredFault);
    assert_eq!(client.place(&order(2)).await.expect("there is no attachment").number, 7);
}
