//! The W3C's SOAP 1.2 test collection, as PHP's tests have it: what is answered to each request.
//!
//! Version, header and body of an answer are compared with what PHP's server answers; of a fault its code, for words
//! differ. `collection/not-yet.tsv` names the cases that need what there isn't yet, `collection/differences.tsv` what is
//! answered otherwise and why. A difference that is none fails the test, so both lists only shrink.
//!
//! `cargo test -p castile-soap --test collection -- --nocapture` prints the tally.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use castile_databinding::schema::Element;
use castile_soap::{
    Description, Dispatch, Envelope, Error, Fault, NoDetail, Operation, Options, Payload, Pending, Request, Root,
    Service, SizeHint, Version,
};
use castile_xml::tree::{self, Document};
use castile_xml::{Limits, Reader};
use futures_util::FutureExt;

const NAMESPACE: &str = "http://example.org/ts-tests";

/// The service of the collection, as far as it is document/literal.
struct Collection;

const fn root(name: &'static str, start: &'static str, end: &'static str, slot: u16) -> Root {
    Root { element: Element::new(NAMESPACE, name, slot), start, end }
}

static OPERATIONS: [Operation; 1] = [Operation {
    name: "echoOk",
    action: "",
    request: root("echoOk", "<echoOk xmlns=\"http://example.org/ts-tests\">", "</echoOk>", 0),
    response: root("responseOk", "<responseOk xmlns=\"http://example.org/ts-tests\">", "</responseOk>", 1),
    response_size: SizeHint::new(),
}];

impl Dispatch for Collection {
    const DESCRIPTION: &'static Description = &Description {
        name: "Soap12Test",
        namespace: NAMESPACE,
        documentation: "",
        wsdl: "",
        address: "",
        operations: &OPERATIONS,
    };

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        payload.handle(|text: String| async move { Ok::<_, Fault<NoDetail>>(text) })
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

/// What is answered to a message. A message with nothing in its body has no operation here; once its header is
/// accepted, it is answered as the operation `emptyBody` of the collection does.
fn answer(message: &str) -> Answer {
    let text = castile_xml::decode(message.as_bytes(), None).unwrap();
    let mut reader = Reader::decoded(&text, Limits::default(), &mut Default::default()).unwrap();
    if let Ok((envelope, None)) = Envelope::read(&mut reader)
        && envelope.check_understood(|namespace, local| Collection.understands(namespace, local)).is_ok()
        && Envelope::read_end(&mut reader).is_ok()
    {
        return Answer { version: envelope.version.namespace().to_owned(), ..Answer::default() };
    }
    let request = Request { action: "", version: Version::Soap12, charset: None, message: message.to_owned().into() };
    let reply = Collection.call(request, &Options::default()).now_or_never().unwrap();
    Answer::read(std::str::from_utf8(&reply.message).unwrap())
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

#[test]
fn cases_are_answered_as_published() {
    let directory =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/conformance/soap/php-soap12");
    let Ok(entries) = fs::read_dir(&directory) else {
        eprintln!("skipped: {} is not there", directory.display());
        return;
    };
    let not_yet = list(include_str!("collection/not-yet.tsv"));
    let known = list(include_str!("collection/differences.tsv"));
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "phpt"));
    cases.sort();
    let (mut equal, mut found, mut different) = (0, BTreeSet::new(), Vec::new());
    for path in &cases {
        let case = path.file_stem().unwrap().to_str().unwrap();
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
    let [all, not_yet, known] = [cases.len(), not_yet.len(), known.len()];
    let others = all - equal - not_yet;
    println!("{all} cases: {equal} equal, {others} with {known} known differences, {not_yet} not yet");
    assert_eq!(cases.len(), 73);
}
