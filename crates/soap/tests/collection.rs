//! The W3C's SOAP 1.2 test collection, as PHP's tests have it: what is answered to each request.
//!
//! Version, header and body of an answer are compared with what PHP's server answers; of a fault its code, for words
//! differ. `collection/calls.tsv` names the cases that are answered by a generated service in `crates/suites/tests/interop.rs`,
//! `collection/not-yet.tsv` those that need what there isn't yet, `collection/differences.tsv` what is answered otherwise
//! and why. A difference that is none fails the test, so both lists only shrink.
//!
//! `cargo test -p castile-soap --test collection -- --nocapture` prints the tally.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder};
use castile_soap::{
    Actions, AnyHeader, Description, Dispatch, Error, Fault, Header, NoDetail, Operation, Options, Payload, Pending,
    Request, Root, Service, SizeHint, Version,
};
use castile_xml::tree::{self, Document};
use futures_util::FutureExt;

const NAMESPACE: &str = "http://example.org/ts-tests";

/// The service of the collection, as far as it is document/literal.
struct Collection;

const fn root(name: &'static str, start: &'static str, end: &'static str, slot: u16) -> Root {
    Root::new(Element::new(NAMESPACE, name, slot), start, end)
}

/// The header block of the same name, which is answered as the payload is. It is that of the request or of the response.
#[derive(Default)]
struct Blocks {
    text: Option<String>,
    others: Vec<AnyHeader>,
}

impl Header for Blocks {
    const ELEMENTS: &'static [Element] = &[Element::new(NAMESPACE, "echoOk", 2)];

    fn read(&mut self, decoder: &mut Decoder<'_>, index: usize) -> Result<(), castile_databinding::Error> {
        self.text = Some(decoder.root(&Self::ELEMENTS[index])?);
        Ok(())
    }

    fn keep(&mut self, block: AnyHeader) {
        self.others.push(block);
    }

    fn is_empty(&self) -> bool {
        self.text.is_none()
    }

    fn write(&self, out: &mut Encoder) {
        out.optional("<responseOk xmlns=\"http://example.org/ts-tests\">", &self.text, "</responseOk>");
    }

    fn others(&self) -> &[AnyHeader] {
        &[]
    }
}

static OPERATIONS: [Operation; 2] = [
    Operation {
        name: "echoOk",
        action: "",
        actions: Actions { request: "http://example.org/ts-tests/Soap12Test", response: "" },
        request: root("echoOk", "<echoOk xmlns=\"http://example.org/ts-tests\">", "</echoOk>", 0),
        response: Some(root("responseOk", "<responseOk xmlns=\"http://example.org/ts-tests\">", "</responseOk>", 1)),
        request_header: Blocks::ELEMENTS,
        response_size: SizeHint::new(),
    },
    // Some requests have a header and no more.
    Operation {
        name: "emptyBody",
        action: "",
        actions: Actions { request: "http://example.org/ts-tests/Soap12Test", response: "" },
        request: Root::of_body("<soap:Body>", &[]),
        response: Some(Root::of_body("<soap:Body>", &[])),
        request_header: Blocks::ELEMENTS,
        response_size: SizeHint::new(),
    },
];

impl Dispatch for Collection {
    const DESCRIPTION: &'static Description = &Description {
        name: "Soap12Test",
        namespace: NAMESPACE,
        documentation: "",
        documents: &[castile_soap::Document::wsdl("")],
        address: "",
        operations: &OPERATIONS,
    };

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        match operation {
            0 => payload.handle_with(async |text: String, header: Blocks| Ok::<_, Fault<NoDetail>>((text, header))),
            _ => payload.handle_with(async |(), header: Blocks| Ok::<_, Fault<NoDetail>>(((), header))),
        }
    }

    fn understands(&self, namespace: &str, local: &str) -> bool {
        let known = ["echoOk", "requiredHeader", "echoResolvedRef", "validateCountryCode"];
        namespace == NAMESPACE && known.contains(&local)
    }
}

/// What is compared of an answer.
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

    /// The parts in which two answers differ.
    fn differences(&self, other: &Answer) -> Vec<&'static str> {
        let parts = [
            ("version", self.version != other.version),
            ("header", self.header != other.header),
            ("body", self.body != other.body),
        ];
        parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
    }
}

/// The name of an element with its text; of a fault, the code.
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
        // The prefixes that the two servers have for the envelope.
        "env" | "soap" => "",
        other => &format!("{other}:"),
    };
    format!("{name} {namespace}{local}")
}

/// What is answered to a message.
fn answer(message: &str) -> Answer {
    let request = Request::new(Version::Soap12, message.to_owned());
    let mut options = Options::default();
    // The node of the collection that is the last one.
    options.roles = vec!["http://example.org/ts-tests/C".to_owned()];
    let reply = Collection.call(request, &options).now_or_never().unwrap();
    Answer::read(std::str::from_utf8(reply.message.bytes().unwrap()).unwrap())
}

/// What stands between two texts.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map(|(inner, _)| inner).unwrap()
}

/// The lines of a file beside this one: all but the last column, and the last, which is why.
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
