//! Tests that quakes are found as by the article's service: the same queries, the same matches, the same messages.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use castile_budget::{Budget, Reservation};
use castile_load::{Case, Plan, Stop};
use castile_suites::seismic::binary::WithBinary;
use castile_suites::seismic::catalogue::{Bounds, Catalogue, Query};
use castile_suites::seismic::queries::{SETS, Set};
use castile_suites::seismic::{self, Service};
use common::http::block_on;
use common::layout::Node;
use common::load::{record, serve};
use http::{HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use tower_service::Service as _;

fn shared(name: &str) -> PathBuf {
    Path::new(castile_corpus::path!("workloads/seismic")).join(name)
}

/// Returns the service with the catalogue of the published totals.
fn synthetic() -> &'static Service {
    static SERVICE: LazyLock<Service> = LazyLock::new(|| {
        let catalogue = Catalogue::open(&shared("quakes-synthetic.txt.gz")).unwrap();
        assert_eq!(catalogue.quakes(), 93_000);
        Service::of(catalogue)
    });
    &SERVICE
}

fn routes(service: &Service) -> WithBinary {
    WithBinary::new(service.clone(), castile_suites::routes_with(service))
}

fn post(service: &WithBinary, path: &str, content_type: &str, body: Bytes) -> Bytes {
    let request = Request::post(path).header("content-type", content_type).header("soapaction", "\"\"");
    let response = block_on(service.clone().call(request.body(Full::new(body)).unwrap())).unwrap();
    let status = response.status();
    let body = block_on(response.into_body().collect()).unwrap().to_bytes();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    body
}

#[castile_corpus::needs("workloads/seismic")]
#[test]
fn queries_are_the_articles() {
    for (set, fraction) in SETS.iter().zip(["0.01", "0.05", "0.2", "0.5"]) {
        let path = shared(&format!("golden-queries-{fraction}.tsv"));
        let bounds = |bounds: Bounds| [bounds.least.unwrap(), bounds.below.unwrap()];
        let golden = std::fs::read_to_string(path).unwrap();
        assert_eq!(golden.lines().count(), set.queries);
        for ((index, query), expected) in set.queries().enumerate().zip(golden.lines()) {
            let [west, east] = bounds(query.longitude);
            let [south, north] = bounds(query.latitude);
            let (from, to) = (query.from.unwrap(), query.to.unwrap());
            let found = format!("{index}\t{from}\t{to}\t{west}\t{east}\t{south}\t{north}");
            assert_eq!(found, expected, "{}", set.name);
        }
    }
}

#[castile_corpus::needs("workloads/seismic")]
#[test]
fn as_many_quakes_are_found_as_in_the_totals() {
    let service = synthetic();
    let totals = std::fs::read_to_string(shared("totals-synthetic.txt")).unwrap();
    let mut lines = totals.lines();
    for set in SETS {
        let found: Vec<usize> = set.queries().map(|query| matches(service.catalogue(), &query)).collect();
        let (matches, most) = (found.iter().sum::<usize>(), found.iter().max().unwrap());
        let ours = format!("queries={}\tmatches={matches}", set.queries);
        let line = lines.next().unwrap();
        assert!(line.contains(&ours) && line.contains(&format!("max={most}\t")), "{ours}, max={most} of {line}");
    }
}

fn matches(catalogue: &Catalogue, query: &Query) -> usize {
    catalogue.find(query).iter().map(|found| found.quakes.len()).sum()
}

/// Sends the requests of a set to the service, one after another. Returns the matches and the bytes of requests and
/// answers.
fn exchange(service: &WithBinary, case: &Case) -> (u64, usize, usize) {
    let mut total = (0, 0, 0);
    for message in case.messages() {
        let answer = post(service, &case.path, &message.content_type, message.body.clone());
        total.0 += (message.check)(&answer).unwrap();
        total.1 += message.body.len();
        total.2 += answer.len();
    }
    total
}

#[castile_corpus::needs("workloads/seismic")]
#[test]
fn all_styles_find_the_same() {
    let service = synthetic();
    let routes = routes(service);
    for case in seismic::cases() {
        let set = SETS.iter().find(|set| set.name == case.name).unwrap();
        // The larger sets take long without optimisation; `--ignored` runs them.
        if set.fraction > 0.05 {
            continue;
        }
        let expected: usize = set.queries().map(|query| matches(service.catalogue(), &query)).sum();
        assert_eq!(exchange(&routes, &case).0, expected as u64, "{case:?}");
    }
}

#[castile_corpus::needs("workloads/seismic")]
#[test]
#[ignore = "takes seconds when optimised, and minutes otherwise"]
fn messages_are_as_long_as_in_the_totals() {
    let service = synthetic();
    let totals = std::fs::read_to_string(shared("totals-synthetic.txt")).unwrap();
    let routes = routes(service);
    for case in seismic::cases() {
        let (matches, sent, received) = exchange(&routes, &case);
        let style = case.style.as_deref().unwrap();
        println!("{style} {}: {matches} matches, {sent} B out, {received} B in", case.name);
        let total = totals.lines().find(|line| case.name.starts_with(line.split('\t').next().unwrap())).unwrap();
        assert!(total.contains(&format!("matches={matches}\t")), "{style} {}: {matches} of {total}", case.name);
        let number = |name: &str| -> usize {
            let field = total.split('\t').find_map(|field| field.strip_prefix(name)).unwrap();
            field.parse().unwrap()
        };
        if style == "document" {
            assert_eq!(received, number("resp_bytes="), "{}", case.name);
            // Castile doesn't write trailing zeros of fractions of seconds.
            let less = number("req_bytes=") - sent;
            assert!(less <= case.count() / 2, "{}: {less} bytes less", case.name);
        }
    }
}

#[castile_corpus::needs("workloads/seismic")]
#[test]
fn samples_are_answered_as_they_stand() {
    let service = synthetic();
    let routes = routes(service);
    for (set, fraction) in SETS.iter().zip(["0.01", "0.05", "0.2", "0.5"]) {
        let request = std::fs::read(shared(&format!("samples/{fraction}-q0-request.xml"))).unwrap();
        let cases = seismic::cases();
        let case = cases.iter().find(|case| case.name == set.name && case.style.as_deref() == Some("document"));
        let ours = case.unwrap().messages()[0].body.clone();
        assert_eq!(body(&ours), body(&request), "{}", set.name);
        // The samples have no answers for the two larger sets.
        if set.fraction <= 0.05 {
            let response = shared(&format!("samples/{fraction}-q0-response.xml"));
            let answer = post(&routes, "/seismic", "text/xml; charset=utf-8", request.into());
            assert!(body(&answer) == body(&std::fs::read(response).unwrap()), "{}", set.name);
        }
    }
}

fn body(message: &[u8]) -> Node {
    with_plain_numbers(Node::parse(message).children.pop().unwrap())
}

/// Normalises numbers: `1`, `1.0` and `1.0E0` are one value, and so are `19.84Z` and `19.840Z` at the end of a time.
fn with_plain_numbers(mut node: Node) -> Node {
    let plain = |text: &mut String| {
        if let Ok(number) = text.parse::<f32>() {
            *text = number.to_string();
        } else if text.contains('.')
            && let Some(moment) = text.strip_suffix('Z')
        {
            *text = format!("{}Z", moment.trim_end_matches('0').trim_end_matches('.'));
        }
    };
    plain(&mut node.text);
    node.attributes.iter_mut().for_each(|(.., value)| plain(value));
    node.attributes.sort();
    node.children = node.children.into_iter().map(with_plain_numbers).collect();
    node
}

#[tokio::test]
async fn typed_clients_find_what_raw_ones_do() {
    let service = Service::default();
    let address = serve(castile::http::server::Server::new(), routes(&service)).await;
    let mut outcomes = Vec::new();
    for (raw, typed) in seismic::cases().into_iter().zip(seismic::typed()) {
        if raw.name != ".05x100" {
            continue;
        }
        let mut of_clients = Vec::new();
        for case in [raw, typed] {
            let plan = Plan { stop: Stop::requests(case.count() as u64), ..Plan::default() };
            let record = record(&case, address, plan).await;
            assert_eq!((record.requests, record.errors), (100, 0), "{:?}", record.reasons);
            of_clients.push((record.matches, record.bytes_out, record.bytes_in));
        }
        assert_eq!(of_clients[0], of_clients[1], "the raw client and the typed one");
        outcomes.push(of_clients.remove(0));
    }
    let [document, encoded, binary] = outcomes[..] else { panic!("{outcomes:?}") };
    assert!(document.0 > 1_000 && document.0 == encoded.0 && document.0 == binary.0, "{outcomes:?}");
    // The article reports three to four times as much for the engines of its time.
    assert!(encoded.2 > 2 * document.2 && document.2 > 3 * binary.2, "{outcomes:?}");
}

#[test]
fn bounds_are_as_in_the_article() {
    let lines = "2000-01-01 00:00:00 0 1.0 2.0 3.0 4.0 MB 273 24\n\
                 2000-01-01 00:00:00 999 1.5 2.5 3.5 4.5 MW 274 24\n";
    let catalogue = Catalogue::read(lines.as_bytes()).unwrap();
    let start = 946_684_800_000;
    let bounds = |least, below| Bounds { least, below };
    let any = Query::default();
    let cases = [
        ("all", any.clone(), 2),
        ("dates include both ends", Query { from: Some(start), to: Some(start + 999), ..any.clone() }, 2),
        ("to the millisecond", Query { from: Some(start + 1), to: Some(start + 998), ..any.clone() }, 0),
        ("an end before the start", Query { from: Some(start + 1), to: Some(start), ..any.clone() }, 0),
        ("the least is in", Query { latitude: bounds(Some(1.5), None), ..any.clone() }, 1),
        ("the end is out", Query { longitude: bounds(None, Some(2.5)), ..any.clone() }, 1),
        ("depth", Query { depth: bounds(Some(3.0), Some(3.5)), ..any.clone() }, 1),
        ("magnitude", Query { magnitude: bounds(Some(4.6), None), ..any.clone() }, 0),
        ("no number", Query { latitude: bounds(Some(f32::NAN), None), ..any }, 0),
    ];
    for (name, query, expected) in cases {
        assert_eq!(matches(&catalogue, &query), expected, "{name}");
    }
}

#[test]
fn written_results_are_read_again() {
    let lines = "2000-01-01 01:50:08 70 -7.679 123.604 59.6 2.5 MB 273 24\n\
                 2003-08-31 23:07:59 999 1 0.1 0 8.25 MW 1 25\n";
    let mut written = Vec::new();
    Catalogue::read(lines.as_bytes()).unwrap().write(&mut written).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), lines);

    let mut written = Vec::new();
    Service::default().catalogue().write(&mut written).unwrap();
    let read = Catalogue::read(written.as_slice()).unwrap();
    for set in SETS {
        let found: usize = set.queries().map(|query| matches(&read, &query)).sum();
        assert_eq!(Some(found as u64), seismic::matches(set.name), "{}", set.name);
    }
}

#[test]
fn lines_that_are_wrong_are_named() {
    let right = "2000-01-01 01:50:08 70 -7.679 123.604 59.6 2.5 MB 273 24\n";
    let cases = [
        ("2000-01-01\n", "line 2: found the end of the line, expected a time"),
        (
            "2000-02-30 01:50:08 70 -7.679 123.604 59.6 2.5 MB 273 24",
            "line 2: found \"2000-02-30 01:50:08\", expected a moment such as \"2000-01-01 01:50:08\"",
        ),
        ("2000-01-01 01:50:08 1000 1 1 1 1 MB 1 1", "line 2: found \"1000\", expected milliseconds"),
        ("2000-01-01 01:50:08 0 90.5 1 1 1 MB 1 1", "line 2: found \"90.5\", expected a latitude"),
        ("2000-01-01 01:50:08 0 1 NaN 1 1 MB 1 1", "line 2: found \"NaN\", expected a longitude"),
        ("2000-01-01 01:50:08 0 1 1 1 1 MB 730 1", "line 2: found \"730\", expected a region, 1 to 729"),
        ("2000-01-01 01:50:08 0 1 1 1 1 MB 1 0", "line 2: found \"0\", expected an area, 1 to 50"),
        ("2000-01-01 01:50:08 0 1 1 1 1 MB 1 1 1", "line 2: found \"1\", expected the end of the line"),
        ("\n", "line 2: found the end of the line, expected a date"),
    ];
    for (line, expected) in cases {
        let error = Catalogue::read(format!("{right}{line}").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let long = Catalogue::read([right.as_bytes(), &[b'x'; 2_000]].concat().as_slice()).unwrap_err();
    assert_eq!(long.to_string(), "line 2: found a longer line, expected less than 1024 bytes");
}

#[test]
fn invalid_queries_are_rejected() {
    let service = routes(&Service::default());
    let cases = [("POST", vec![], 400), ("POST", vec![0xFF; 2_000], 400), ("GET", vec![], 405)];
    for (method, body, status) in cases {
        let request = Request::builder().method(method).uri("/seismic/binary").body(Full::new(Bytes::from(body)));
        let response = block_on(service.clone().call(request.unwrap())).unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
    }
    assert!(seismic::binary::answer(&[1, 2, 3]).is_err());
    let set = Set { name: "", fraction: 0.5, queries: 1 };
    let query = set.queries().next().unwrap();
    let of_half = post(&service, "/seismic/binary", "application/octet-stream", seismic::binary::request(&query));
    let answer = seismic::binary::answer(&of_half).unwrap();
    assert!(seismic::binary::judge(&query, &answer).unwrap() > 100);
    assert!(seismic::binary::judge(&Query { to: query.from, ..query }, &answer).is_err());
    assert!(seismic::binary::answer(&[&of_half[..], b"x"].concat()).is_err());
}

/// Answers once took memory for as long as their reader wanted, whatever the budget was.
#[test]
fn answers_are_charged_until_they_are_gone() {
    let budget = Budget::new(1 << 20);
    let service = Service::default();
    let mut served = WithBinary::charged_to(budget.clone(), service.clone(), castile_suites::routes_with(&service));
    let mut ask = |fraction: f64| {
        let query = Set { name: "", fraction, queries: 1 }.queries().next().unwrap();
        let request = Request::post(seismic::binary::PATH).body(Full::new(seismic::binary::request(&query)));
        block_on(served.call(request.unwrap())).unwrap()
    };
    let answer = ask(0.2);
    assert_eq!(answer.status(), 200);
    assert!(answer.extensions().get::<Arc<Reservation>>().is_some(), "others can't find it when they need room");
    let body = block_on(answer.into_body().collect()).unwrap().to_bytes();
    assert_eq!(budget.used(), body.len());
    let left = budget.reserve(budget.limit() - budget.used()).unwrap();
    let refused = ask(0.2);
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &HeaderValue::from_static("1")));
    drop((body, left));
    assert_eq!(budget.used(), 0);
}
