//! Answers recorded rpc/encoded messages of other engines: the SOAPBuilders' second round as PHP's client requests and its
//! server answers, and the calls of the W3C's test collection for SOAP 1.2.
//!
//! Answers are compared as infosets: prefixes don't count, and types and arrays are compared by their names. Known
//! differences are in `interop/differences.tsv` with their reasons. A listed difference that doesn't occur fails the test.
//!
//! `cargo test -p castile-suites --test interop -- --nocapture` prints the totals.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use castile::HttpService;
use castile::http::Body;
use castile_suites::interop::{Service, base, collection, group_b};
use castile_xml::tree::{Document, Element};
use http::Request;
use http_body_util::BodyExt;
use tower_service::Service as _;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// A recorded request and the recorded answer.
struct Case {
    name: String,
    request: String,
    answer: String,
}

/// Returns the files of a directory that end in `phpt`.
fn tests(directory: &str) -> Vec<(String, String)> {
    let directory = Path::new(castile_corpus::path!("corpus/conformance/soap")).join(directory);
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "phpt"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), text)
    };
    paths.into_iter().map(read).collect()
}

/// Reads cases where the test prints both messages.
fn round2(directory: &str) -> Vec<Case> {
    let case = |(name, text): (String, String)| {
        let (_, expected) = text.split_once("--EXPECT--").or_else(|| text.split_once("--EXPECTF--")).unwrap();
        let messages: Vec<&str> = expected.split("<?xml").skip(1).collect();
        let [request, answer] = messages.as_slice() else { panic!("{name} has {} messages", messages.len()) };
        let whole = |message: &str| format!("<?xml{}", &message[..=message.rfind('>').unwrap()]);
        Case { request: whole(request), answer: whole(answer), name }
    };
    tests(directory).into_iter().map(case).collect()
}

/// Reads the requests that the tests send. The calls among them are listed with the test of the other messages.
fn calls() -> Vec<Case> {
    let listed = include_str!("../../soap/tests/collection/calls.tsv").lines().filter(|line| !line.starts_with('#'));
    let listed: BTreeSet<&str> = listed.filter_map(|line| line.split('\t').next()).collect();
    let cases = tests("php-soap12").into_iter().filter(|(name, _)| listed.contains(name.as_str()));
    let case = |(name, text): (String, String)| {
        let (_, rest) = text.split_once("<<<EOF\n").unwrap();
        let (request, rest) = rest.split_once("\nEOF;").unwrap();
        let (_, answer) = rest.split_once("--EXPECT--\n").unwrap();
        Case { request: request.to_owned(), answer: answer[..=answer.rfind('>').unwrap()].to_owned(), name }
    };
    cases.map(case).collect()
}

async fn post<S: HttpService>(server: &S, message: String) -> String {
    let media_type = if message.contains("soap-envelope") { "application/soap+xml" } else { "text/xml" };
    let request = Request::post("/").header("content-type", format!("{media_type}; charset=utf-8"));
    let response = server.service().call(request.body(Body::from(message)).unwrap()).await;
    let response: Result<_, BoxError> = response.map_err(Into::into);
    let body: Result<_, BoxError> = response.unwrap().into_body().collect().await.map_err(Into::into);
    String::from_utf8(body.unwrap().to_bytes().to_vec()).unwrap()
}

/// Returns the content of an answer; for a fault, its code.
fn said(message: &str) -> String {
    let document = Document::parse(message).unwrap();
    let body = document.root().elements().find(|part| part.local() == "Body").unwrap();
    let Some(payload) = body.elements().next() else { return String::new() };
    if payload.local() != "Fault" {
        let mut out = String::new();
        show(payload, &mut out);
        return out;
    }
    let code = payload.elements().find_map(|child| match child.local() {
        "faultcode" => Some(child.text()),
        "Code" => child.elements().next().map(Element::text),
        _ => None,
    });
    format!("fault {}", code.unwrap().trim().rsplit(':').next().unwrap())
}

/// Formats an element by names, types and values.
fn show(element: Element<'_>, out: &mut String) {
    out.push_str(&format!("<{{{}}}{}", element.namespace(), element.local()));
    let nil = element.find_attribute(XSI, "nil").is_some();
    let mut attributes: Vec<String> = Vec::new();
    for attribute in element.attributes() {
        let value = match (attribute.namespace(), attribute.local()) {
            (_, "encodingStyle") => continue,
            // A nil value may have an `xsi:type` or not.
            (XSI, "type") if nil => continue,
            (XSI, "nil") => "true".to_owned(),
            (XSI, "type") | (_, "arrayType" | "itemType") => {
                let value = attribute.value();
                let (name, sizes) = value.split_at(value.find('[').unwrap_or(value.len()));
                let (namespace, local) = element.resolve_qname(name).unwrap();
                format!("{{{namespace}}}{local}{sizes}")
            }
            _ => attribute.value().to_owned(),
        };
        attributes.push(format!(" {}={value}", attribute.local()));
    }
    attributes.sort();
    out.push_str(&attributes.concat());
    out.push('>');
    let mut children = element.elements().peekable();
    if children.peek().is_none() {
        let text = element.text();
        // Numbers have several forms.
        match text.trim().parse::<f32>() {
            Ok(number) => out.push_str(&number.to_string()),
            Err(_) => out.push_str(&text),
        }
    }
    // The accessors of a struct may be in any order (SOAP 1.1 §5.1); the items of an array may not.
    let is_array = element.attributes().any(|attribute| matches!(attribute.local(), "arrayType" | "arraySize"));
    let mut shown: Vec<String> = Vec::new();
    for child in children {
        let mut text = String::new();
        show(child, &mut text);
        shown.push(text);
    }
    if !is_array {
        shown.sort();
    }
    out.push_str(&shown.concat());
    out.push_str("</>");
}

async fn compare<S: HttpService>(suite: &str, server: &S, cases: Vec<Case>) {
    let known = include_str!("interop/differences.tsv").lines().filter(|line| !line.starts_with('#'));
    let known: BTreeMap<&str, &str> =
        known.filter_map(|line| line.strip_prefix(suite)?.strip_prefix('\t')?.split_once('\t')).collect();
    let (mut equal, mut different, mut wrong) = (0, BTreeSet::new(), Vec::new());
    let count = cases.len();
    for Case { name, request, answer } in cases {
        let (found, expected) = (said(&post(server, request).await), said(&answer));
        if found == expected {
            equal += 1;
            continue;
        }
        if !known.contains_key(name.as_str()) {
            wrong.push(format!("{name}\n  found    {found}\n  expected {expected}"));
        }
        different.insert(name);
    }
    if count > 0 {
        let gone = known.keys().filter(|name| !different.contains(**name));
        wrong.extend(gone.map(|name| format!("{name} stands in differences.tsv, and there is no difference")));
    }
    println!("{suite}: {count} messages, {equal} answered as recorded, {} otherwise and known", different.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[castile_corpus::needs("corpus/conformance/soap/php-interop/Round2/Base")]
#[tokio::test]
async fn base_of_round_2() {
    compare("base", &base::InteropBaseServer::new(Service), round2("php-interop/Round2/Base")).await;
}

#[castile_corpus::needs("corpus/conformance/soap/php-interop/Round2/GroupB")]
#[tokio::test]
async fn group_b_of_round_2() {
    compare("group-b", &group_b::InteropGroupBServer::new(Service), round2("php-interop/Round2/GroupB")).await;
}

#[castile_corpus::needs("corpus/conformance/soap/php-soap12")]
#[tokio::test]
async fn calls_of_the_soap_12_collection() {
    compare("soap12", &collection::Soap12CollectionServer::new(Service), calls()).await;
}
