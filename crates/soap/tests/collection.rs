//! Tests with the W3C's SOAP 1.2 test collection, in the form of PHP's tests.
//!
//! Version, header and body of each answer are compared with the answer of PHP's server. For faults only the code is compared,
//! because the texts differ. `collection/calls.tsv` lists the cases that a generated service answers in
//! `crates/suites/tests/interop.rs`. `collection/not-yet.tsv` lists the cases that need missing features.
//! `collection/differences.tsv` lists the answers that differ, with the reason. The test fails if a listed difference no longer
//! exists, so both lists can only shrink.
//!
//! `cargo test -p castile-soap --test collection -- --nocapture` prints the totals.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder, ExpandedName};
use castile_soap::{
    Description, Dispatch, Error, Fault, Header, Operation, Options, Payload, Pending, Request, RequestMessage,
    Response, Root, Service, Version,
};
use castile_xml::tree::{self, Document};
use futures_util::FutureExt;

const NAMESPACE: &str = "http://example.org/ts-tests";

/// The document/literal part of the service in the collection.
struct Collection;

const fn root(name: &'static str, start: &'static str, end: &'static str, slot: u16) -> Root {
    Root::new(Element::new(NAMESPACE, name, slot), start, end)
}

/// The header block with the same name as the payload, which is answered in the same way.
struct EchoOk(String);

impl Header for EchoOk {
    const ELEMENT: &'static Element = &Element::new(NAMESPACE, "echoOk", 2);

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, castile_databinding::Error> {
        Ok(Some(EchoOk(decoder.root(Self::ELEMENT)?)))
    }

    fn write(&self, out: &mut Encoder) {
        out.element("<echoOk xmlns=\"http://example.org/ts-tests\">", &self.0, "</echoOk>");
    }
}

/// The header block in the answer to `EchoOk`.
struct ResponseOk(String);

impl Header for ResponseOk {
    const ELEMENT: &'static Element = &Element::new(NAMESPACE, "responseOk", 3);

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, castile_databinding::Error> {
        Ok(Some(ResponseOk(decoder.root(Self::ELEMENT)?)))
    }

    fn write(&self, out: &mut Encoder) {
        out.element("<responseOk xmlns=\"http://example.org/ts-tests\">", &self.0, "</responseOk>");
    }
}

const ACTION: &str = "http://example.org/ts-tests/Soap12Test";

static OPERATIONS: [Operation; 2] = [
    Operation::new("echoOk", "", root("echoOk", "<echoOk xmlns=\"http://example.org/ts-tests\">", "</echoOk>", 0))
        .with_actions(ACTION, "")
        .with_response(root("responseOk", "<responseOk xmlns=\"http://example.org/ts-tests\">", "</responseOk>", 1))
        .with_headers(&[EchoOk::ELEMENT], &[ResponseOk::ELEMENT]),
    // Some requests have only a header.
    Operation::new("emptyBody", "", Root::of_body("<soap:Body>", &[]))
        .with_actions(ACTION, "")
        .with_response(Root::of_body("<soap:Body>", &[]))
        .with_headers(&[EchoOk::ELEMENT], &[ResponseOk::ELEMENT]),
];

impl Dispatch for Collection {
    fn description(&self) -> &'static Description {
        const { &Description::new("Soap12Test", NAMESPACE, &OPERATIONS) }
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        match operation {
            0 => payload.handle(echo::<String>),
            _ => payload.handle(echo::<()>),
        }
    }
}

/// Answers the payload, and the header block if there is one.
async fn echo<T>(request: Request<T>) -> Result<Response<T>, Fault> {
    let block = request.header::<EchoOk>()?;
    let response = Response::new(request.into_inner());
    Ok(match block {
        Some(EchoOk(text)) => response.with_header(ResponseOk(text)),
        None => response,
    })
}

/// The compared parts of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    version: String,
    header: Vec<String>,
    body: String,
}

impl Answer {
    fn read(message: &str) -> Self {
        let document = Document::parse(message).unwrap();
        let version = document.root().namespace().to_owned();
        let mut answer = Answer { version, ..Answer::default() };
        for part in document.root().elements() {
            match part.local() {
                "Header" => answer.header = part.elements().map(content).collect(),
                _ => answer.body = part.elements().map(content).collect(),
            }
        }
        answer
    }

    /// Returns the parts in which two answers differ.
    fn differences(&self, other: &Answer) -> Vec<&'static str> {
        let parts = [
            ("version", self.version != other.version),
            ("header", self.header != other.header),
            ("body", self.body != other.body),
        ];
        parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
    }
}

/// Returns the name of an element with its text, or the code of a fault.
fn content(element: tree::Element<'_>) -> String {
    let name = format!("{{{}}}{}", element.namespace(), element.local());
    if element.local() != "Fault" {
        return format!("{name} {}", element.text().trim());
    }
    let value = element.elements().find_map(|child| match child.local() {
        "faultcode" => Some(child.text()),
        "Code" => child.elements().next().map(|value| value.text()),
        _ => None,
    });
    let value = value.unwrap();
    let (prefix, local) = value.trim().split_once(':').unwrap();
    let namespace = match prefix {
        // The envelope prefixes of the two servers.
        "env" | "soap" => "",
        other => &format!("{other}:"),
    };
    format!("{name} {namespace}{local}")
}

/// Returns the answer to a message.
fn answer(message: &str) -> Answer {
    let request = RequestMessage::new(Version::Soap12, message.to_owned());
    let mut options = Options::default();
    // The ultimate receiver in the collection.
    options.roles = vec!["http://example.org/ts-tests/C".to_owned()];
    let understood = ["echoOk", "requiredHeader", "echoResolvedRef", "validateCountryCode"];
    options.understood = understood.map(|local| ExpandedName::new(NAMESPACE, local)).into();
    let reply = Collection.call(request, &options).now_or_never().unwrap();
    Answer::read(std::str::from_utf8(reply.message.bytes().unwrap()).unwrap())
}

/// Returns the text between two texts.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map(|(inner, _)| inner).unwrap()
}

/// Parses a file with columns: all columns but the last one, and the last one, which is the reason.
fn list(text: &str) -> BTreeMap<Vec<&str>, &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once('\t').map(|(key, why)| (key.split('\t').collect(), why)).unwrap()).collect()
}

#[castile_corpus::needs("corpus/conformance/soap/php-soap12")]
#[test]
fn cases_are_answered_as_published() {
    let entries = fs::read_dir(castile_corpus::path!("corpus/conformance/soap/php-soap12")).unwrap();
    let not_yet = list(include_str!("collection/not-yet.tsv"));
    let calls = list(include_str!("collection/calls.tsv"));
    let known = list(include_str!("collection/differences.tsv"));
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "phpt"));
    cases.sort();
    let (mut equal, mut found, mut different) = (0, BTreeSet::new(), Vec::new());
    for path in &cases {
        let case = path.file_stem().unwrap().to_str().unwrap();
        if calls.contains_key(&vec![case]) {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let request = between(&text, "<<<EOF\n", "\nEOF;");
        let (_, expected) = text.split_once("--EXPECT--\n").unwrap();
        let expected = Answer::read(&expected[..=expected.rfind('>').unwrap()]);
        let answer = answer(request);
        let differences = answer.differences(&expected);
        if not_yet.contains_key(&vec![case]) {
            if differences.is_empty() {
                different.push(format!("{case} stands in not-yet.tsv, and is answered as published"));
            }
            continue;
        }
        equal += usize::from(differences.is_empty());
        for part in differences {
            if !known.contains_key(&vec![case, part]) {
                different.push(format!("{case}\t{part}\t{answer:?}\t{expected:?}"));
            }
            found.insert(vec![case.to_owned(), part.to_owned()]);
        }
    }
    let no_more = known.keys().filter(|key| !found.iter().any(|found| found == *key));
    different.extend(no_more.map(|key| format!("{key:?} stands in differences.tsv, and there is no difference")));
    assert!(different.is_empty(), "{}", different.join("\n"));
    let [all, calls, not_yet, known] = [cases.len(), calls.len(), not_yet.len(), known.len()];
    let others = all - equal - not_yet - calls;
    println!(
        "{all} cases: {equal} equal, {others} with {known} known differences, {calls} elsewhere, {not_yet} not yet"
    );
    assert_eq!(cases.len(), 73);
}
