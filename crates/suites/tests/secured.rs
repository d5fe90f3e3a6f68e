//! Tests of the seismic service with WS-Security: what is found, what is refused, and the floor beside it.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use castile::http::server::{Routes, Server};
use castile::wss::message::{OutgoingSecurity, Policy, SecurityLayer};
use castile::wss::{Certificate, PrivateKey, Trust};
use castile_load::{Case, Plan, Recorder, Requests, Stop};
use castile_suites::floor::{self, Exchange};
use castile_suites::seismic::document::contract::QuakeInterfaceServer;
use castile_suites::seismic::secured::{self, SETS, SIGN_PATH, USERNAME_PATH};
use castile_suites::seismic::{self, Service};
use common::load::{record, serve};
use http::Request;
use http_body_util::{BodyExt, Full};
use tokio::net::TcpListener;
use tower_service::Service as _;

/// How many requests of each list are sent: without optimisation, signed ones take long.
const FEW: usize = 8;

async fn send(case: &Case, address: SocketAddr) -> Recorder {
    record(case, address, Plan { stop: Stop::requests(FEW as u64), ..Plan::default() }).await
}

fn found(case: &str) -> u64 {
    let set = SETS.iter().find(|set| set.name == case).unwrap();
    let service = Service::default();
    let matches = |query| service.catalogue().find(&query).iter().map(|found| found.quakes.len() as u64).sum::<u64>();
    set.queries().take(FEW).map(matches).sum()
}

fn signed(cases: Vec<Case>) -> Case {
    cases.into_iter().find(|case| case.path == SIGN_PATH && case.name == "small-1000").unwrap()
}

#[test]
fn as_many_quakes_are_found_as_were_published() {
    assert_eq!(SETS.map(|set| seismic::matches(set.name)), [Some(816), Some(176_745)]);
}

#[tokio::test]
async fn all_clients_find_the_same_with_every_security() {
    let address = serve(Server::new(), castile_suites::routes()).await;
    let mut paths = Vec::new();
    for (raw, typed) in secured::cases().into_iter().zip(secured::typed()) {
        for case in [raw, typed] {
            let record = send(&case, address).await;
            assert_eq!((record.requests, record.errors), (FEW as u64, 0), "{case:?}: {:?}", record.reasons);
            assert_eq!((record.verified, record.matches), (FEW as u64, found(&case.name)), "{case:?}");
            paths.push(case.path);
        }
    }
    paths.dedup();
    assert_eq!(paths, ["/seismic", USERNAME_PATH, SIGN_PATH]);
}

#[tokio::test]
async fn a_signed_query_is_accepted_once() {
    let address = serve(Server::new(), castile_suites::routes()).await;
    let case = signed(secured::cases());
    assert_eq!(send(&case, address).await.errors, 0);
    let again = send(&case, address).await;
    assert_eq!((again.requests, again.errors), (0, FEW as u64));
    assert!(again.reasons[0].text.contains("InvalidSecurity"), "{:?}", again.reasons);
}

#[tokio::test]
async fn queries_without_their_security_are_refused() {
    let address = serve(Server::new(), castile_suites::routes()).await;
    let cases = secured::cases();
    for (sent, expected) in [("/seismic", USERNAME_PATH), ("/seismic", SIGN_PATH), (USERNAME_PATH, SIGN_PATH)] {
        let case = cases.iter().find(|case| case.path == sent).unwrap();
        let record = send(&Case { path: expected.into(), ..case.clone() }, address).await;
        assert_eq!((record.requests, record.errors), (0, FEW as u64), "{sent} at {expected}");
        assert!(record.reasons[0].text.contains("InvalidSecurity"), "{:?}", record.reasons);
    }
}

/// Serves with a key that the client doesn't expect, or requires one that it doesn't have.
#[tokio::test]
async fn a_wrong_key_is_an_error() {
    const CLIENT: [&[u8]; 2] =
        [include_bytes!("../data/security/client.key"), include_bytes!("../data/security/client.cer")];
    const SERVICE: [&[u8]; 2] =
        [include_bytes!("../data/security/service.key"), include_bytes!("../data/security/service.cer")];
    let serves = async |trusted: [&[u8]; 2], own: [&[u8]; 2]| {
        let certificate = |of: [&[u8]; 2]| Certificate::from_der(of[1]).unwrap();
        let answers = OutgoingSecurity::new()
            .with_timestamp()
            .with_signature(PrivateKey::from_der(own[0]).unwrap())
            .with_certificate(certificate(own));
        let policy = Policy::signed_by(Trust::new().with_certificate(certificate(trusted)));
        let layer = SecurityLayer::new(policy).with_reply_security(answers);
        let server = QuakeInterfaceServer::new(Service::default()).layer(layer);
        serve(Server::new(), Routes::new().route(SIGN_PATH, server)).await
    };
    for case in [signed(secured::cases()), signed(secured::typed())] {
        for (trusted, own, errors) in [(CLIENT, SERVICE, 0), (CLIENT, CLIENT, FEW), (SERVICE, SERVICE, FEW)] {
            let record = send(&case, serves(trusted, own).await).await;
            assert_eq!(record.errors, errors as u64, "{:?}", record.reasons);
        }
    }
}

#[tokio::test]
async fn the_floor_answers_a_signed_list_in_its_order() {
    let mut case = signed(secured::cases());
    let messages = case.messages()[..FEW / 2].to_vec();
    let mut routes = castile_suites::routes();
    let mut list = Vec::new();
    for message in &messages {
        let request = Request::post(SIGN_PATH).header("content-type", &message.content_type);
        let request = request.header("soapaction", "\"\"").body(Full::new(message.body.clone())).unwrap();
        let answer = routes.call(request).await.unwrap_or_else(|error: Infallible| match error {});
        let answer: Bytes = answer.into_body().collect().await.unwrap().to_bytes();
        list.push(Exchange::new(&message.body, answer));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(floor::serve(listener, vec![list], std::future::pending()));
    case = Case { path: "/0".into(), requests: Requests::Raw(messages), ..case };
    let record = send(&case, address).await;
    assert_eq!((record.requests, record.errors), (FEW as u64, 0), "{:?}", record.reasons);
    assert!(record.matches > 0 || found(&case.name) == 0);
}
