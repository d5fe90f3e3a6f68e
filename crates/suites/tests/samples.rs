//! The published messages are read, answered and written as they stand in `../shared/workloads`: the same infoset.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::path::PathBuf;

use common::http::{Server, benchmark, post, wstest};
use common::layout::Node;
use http::StatusCode;

/// The samples of a suite whose names begin with `prefix`: what is asked, and what is answered.
fn samples(suite: &str, prefix: &str) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let directory =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/workloads").join(suite).join("samples");
    let Ok(entries) = std::fs::read_dir(&directory) else {
        println!("SKIPPED: there are no samples at {}", directory.display());
        return Vec::new();
    };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let cases =
        names.iter().filter_map(|name| name.strip_suffix("-request.xml")).filter(|case| case.starts_with(prefix));
    let read = |case: &str, kind: &str| std::fs::read(directory.join(format!("{case}-{kind}.xml"))).unwrap();
    let samples: Vec<_> = cases.map(|case| (case.to_owned(), read(case, "request"), read(case, "response"))).collect();
    assert!(samples.len() > 5, "{} samples at {}", samples.len(), directory.display());
    samples
}

/// The element in the body.
fn payload(message: &[u8]) -> Node {
    Node::parse(message).children.pop().unwrap().children.remove(0)
}

/// Numbers in one form: `1`, `1.0` and `1.0E0` are one value.
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
        // Not by assert_eq, which would print both.
        for (at, (found, expected)) in found.children.iter().zip(&expected.children).enumerate() {
            assert_eq!(found, expected, "{case}, child {at}");
        }
        assert!(found == expected, "{case}");
    }
}

#[test]
fn benchmark1_answers_as_published() {
    answers_are_as_published(&benchmark(), "benchmark1", "axis2-");
}

#[test]
fn wstest_answers_as_published() {
    answers_are_as_published(&wstest(), "wstest", "");
}

#[test]
fn our_requests_are_those_that_were_published() {
    for (suite, prefix, cases) in
        [("benchmark1", "axis2-", castile_suites::cases("benchmark1")), ("wstest", "", castile_suites::cases("wstest"))]
    {
        for (name, request, response) in samples(suite, prefix) {
            let name = &name[prefix.len()..];
            let case = cases.iter().find(|case| case.name == name).unwrap();
            let message = &case.messages()[0];
            let [ours, published] = [&message.body[..], &request].map(|message| with_plain_numbers(payload(message)));
            assert_eq!(ours, published, "{name}");
            assert_eq!((message.check)(&response), Ok(0), "{name}");
        }
    }
}
