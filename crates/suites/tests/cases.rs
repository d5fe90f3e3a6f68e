//! Tests that every case of every suite is answered correctly, by a server on a socket, through the load kit.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile::http::server::Server;
use castile_load::{Case, Plan, Recorder, Stop};
use castile_suites::seismic::binary::WithBinary;
use castile_suites::{SUITES, Suite, seismic};
use common::load::{record, serve};

/// Sends all requests of these cases once.
async fn drive(cases: Vec<Case>) -> Vec<(Case, Recorder)> {
    let quakes = seismic::Service::default();
    let routes = WithBinary::new(quakes.clone(), castile_suites::routes_with(&quakes));
    let address = serve(Server::new(), routes).await;
    let mut records = Vec::new();
    for case in cases {
        let plan = Plan { stop: Stop::requests(case.count() as u64), ..Plan::default() };
        let record = record(&case, address, plan).await;
        assert_eq!((record.requests, record.errors), (case.count() as u64, 0), "{case:?}: {:?}", record.reasons);
        assert_eq!(record.verified, record.requests, "{case:?}");
        records.push((case, record));
    }
    records
}

/// Returns the cases whose answers are short and not signed. The other sequences have separate tests.
fn short(cases: Vec<Case>) -> Vec<Case> {
    cases.into_iter().filter(|case| !case.suite.starts_with("seismic") || case.name == ".01x200").collect()
}

#[tokio::test]
async fn every_case_is_answered() {
    for Suite { cases, forms, extras, .. } in SUITES {
        for cases in [cases, forms, extras] {
            drive(short(cases())).await;
        }
    }
}

#[tokio::test]
async fn typed_clients_send_and_receive_as_many_bytes_as_raw_ones() {
    for Suite { cases, typed, .. } in SUITES {
        let raw = drive(short(cases())).await;
        for (case, record) in drive(short(typed())).await {
            let (_, other) = raw.iter().find(|(raw, _)| raw.name == case.name && raw.style == case.style).unwrap();
            let [ours, theirs] = [&record, other].map(|record| (record.bytes_out, record.bytes_in, record.matches));
            assert_eq!(ours, theirs, "{case:?}");
        }
    }
}
