//! Tests that the published messages in `workloads` are read, answered, and written with the same
//! infoset.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::path::Path;

use castile_report::PublishedFigure;
use castile_suites::{benchmark1, styles, wspex};
use common::http::{Server, benchmark, post, post_as, wstest};
use common::layout::Node;
use http::StatusCode;

/// Returns the samples of a suite whose names begin with `prefix`: name, request and response.
fn samples(suite: &str, prefix: &str) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let directory = Path::new(castile_corpus::path!("workloads")).join(suite).join("samples");
    let entries = std::fs::read_dir(&directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let cases =
        names.iter().filter_map(|name| name.strip_suffix("-request.xml")).filter(|case| case.starts_with(prefix));
    let read = |case: &str, kind: &str| std::fs::read(directory.join(format!("{case}-{kind}.xml"))).unwrap();
    let samples: Vec<_> = cases.map(|case| (case.to_owned(), read(case, "request"), read(case, "response"))).collect();
    assert!(samples.len() > 2, "{} samples at {}", samples.len(), directory.display());
    samples
}

/// Returns the element in the body.
fn payload(message: &[u8]) -> Node {
    Node::parse(message).children.pop().unwrap().children.remove(0)
}

/// Normalises numbers: `1`, `1.0` and `1.0E0` are one value.
fn with_plain_numbers(mut node: Node) -> Node {
    if let Ok(number) = node.text.parse::<f64>() {
        node.text = number.to_string();
    }
    node.children = node.children.into_iter().map(with_plain_numbers).collect();
    node
}

fn answers_are_as_published(server: &Server, suite: &str, prefix: &str) {
    for (case, request, response) in samples(suite, prefix) {
        let (status, answer) = post(server, request);
        assert_eq!(status, StatusCode::OK, "{case}: {answer}");
        let [found, expected] = [answer.as_bytes(), &response].map(|message| with_plain_numbers(payload(message)));
        // Not with assert_eq, which would print both messages.
        for (at, (found, expected)) in found.children.iter().zip(&expected.children).enumerate() {
            assert_eq!(found, expected, "{case}, child {at}");
        }
        assert!(found == expected, "{case}");
        assert_eq!(answer.len(), response.len() + MORE_BYTES, "{case}");
    }
}

/// How many bytes longer a sample would be if Castile had written it: its prefix is `soap`, not `S`.
const MORE_BYTES: usize = 5 * ("soap".len() - "S".len());

#[castile_corpus::needs("workloads")]
#[test]
fn benchmark1_answers_as_published() {
    answers_are_as_published(&benchmark(), "benchmark1", "axis2-");
}

#[castile_corpus::needs("workloads")]
#[test]
fn benchmark1_answers_as_published_in_its_second_form() {
    let server = benchmark1::round2::contract::BenchmarkServer::new(benchmark1::Service).into();
    answers_are_as_published(&server, "benchmark1", "round2-");
}

#[castile_corpus::needs("workloads")]
#[test]
fn wstest_answers_as_published() {
    answers_are_as_published(&wstest(), "wstest", "");
}

#[castile_corpus::needs("workloads")]
#[test]
fn wspex_answers_as_published() {
    let server = wspex::contract::TestServiceServer::new(wspex::Service).into();
    answers_are_as_published(&server, "wspex", "");
}

#[castile_corpus::needs("workloads")]
#[test]
fn our_requests_are_those_that_were_published() {
    let round2 = benchmark1::round2::cases();
    for (suite, prefix, cases) in [
        ("benchmark1", "axis2-", castile_suites::cases("benchmark1")),
        ("benchmark1", "round2-", round2),
        ("wspex", "", castile_suites::cases("wspex")),
        ("wstest", "", castile_suites::cases("wstest")),
    ] {
        for (name, request, response) in samples(suite, prefix) {
            let name = &name[prefix.len()..];
            let case = cases.iter().find(|case| case.name == name).unwrap();
            let message = &case.messages()[0];
            let [ours, published] = [&message.body[..], &request].map(|message| with_plain_numbers(payload(message)));
            assert!(ours == published, "{name}");
            assert_eq!(message.body.len(), request.len() + MORE_BYTES, "{name}");
            if let Err(wrong) = (message.check)(&response) {
                panic!("{name}: {wrong}");
            }
        }
    }
}

/// A sample of the styles, and the style of its case.
const STYLES: [(&str, &str); 4] =
    [("rpcenc", "rpc-encoded"), ("doclit", "document"), ("cdata", "cdata"), ("swa", "attachment")];

#[castile_corpus::needs("workloads")]
#[test]
fn styles_are_as_published() {
    let [doc, rpc]: [Server; 2] = [
        styles::contract::DocPtServer::new(styles::Service).into(),
        styles::contract::RpcPtServer::new(styles::Service).into(),
    ];
    let cases = styles::cases();
    for (prefix, style) in STYLES {
        for (name, request, response) in samples("styles", prefix) {
            let size = name.strip_prefix(prefix).unwrap();
            let case = cases.iter().find(|case| case.name == format!("{style}{size}")).unwrap();
            let message = &case.messages()[0];
            // Not with assert_eq, which would print both messages.
            assert!(message.body == request, "{name}");
            let server = if style == "rpc-encoded" { &rpc } else { &doc };
            let answer = post_as(server, &message.content_type, message.body.clone());
            assert_eq!((message.check)(answer.as_bytes()), Ok(0), "{name}");
            let [answered, published] = [answer.as_bytes(), &response].map(|message| {
                let mut receipt = payload(message);
                // The attribute may be on the payload or on the body.
                receipt.attributes.retain(|(_, name, _)| name != "encodingStyle");
                receipt
            });
            assert_eq!(answered, published, "{name}");
        }
    }
}

fn workloads() -> String {
    std::fs::read_to_string(castile_corpus::path!("workloads/WORKLOADS.md")).unwrap()
}

#[castile_corpus::needs("workloads")]
#[test]
fn figures_of_styles_are_those_that_were_published() {
    let workloads = workloads();
    let [axis] = &styles::published_figures()[..] else { panic!("one system") };
    for figure in &axis.figures {
        let (style, size) = figure.case.rsplit_once('-').unwrap();
        let style = if style == "document" { "doc/lit" } else { "RPC" };
        let test = format!("{style} {}", size.replace("KB", " KB"));
        let seconds = figure.mean_us.unwrap() / 1e6;
        let parts = match (figure.users_at_exit, figure.failed) {
            (Some(users), Some(failed)) => {
                [format!("| {test} | {users} at "), format!("| {failed} | {seconds:.3} s |")]
            }
            (None, Some(failed)) => [format!("| {test} | – "), format!("| {failed} | {seconds:.3} s |")],
            _ => [format!("{test} ~"), format!("~{seconds:.3} s")],
        };
        assert!(workloads.lines().any(|line| parts.iter().all(|part| line.contains(part))), "{parts:?}");
    }
}

#[castile_corpus::needs("workloads")]
#[test]
fn figures_of_wspex_are_those_that_were_published() {
    let workloads = workloads();
    let [axis, jax] = &wspex::published_figures()[..] else { panic!("two systems") };
    for (axis, jax) in axis.figures.iter().zip(&jax.figures) {
        let figure = |figure: &PublishedFigure| {
            let stddev = figure.stddev.unwrap();
            format!("{} ({stddev})", figure.requests_per_second.unwrap())
        };
        let line = format!("| {} | {} | {} |", axis.case, figure(axis), figure(jax));
        assert!(workloads.contains(&line), "{line}");
    }
}
