//! Reads and writes the messages of a project by the contract alone, without what was generated from it: values, errors and what is
//! written must be those of generated code, and JSON must lose nothing.

use std::collections::HashMap;
use std::path::Path;

use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder};
use castile_dynamic::{Contract, Operation, Options, Value};
use castile_soap::{Root, Version, message};
use castile_xml::{Limits, Reader, Token};
use serde_json::{Value as Json, json};

use crate::{Error, contracts};

/// How deep the payload of an envelope stands.
const PAYLOAD: usize = 3;

/// What reads and writes the messages of a case.
enum Candidate {
    Message(&'static Operation, &'static Root, Direction),
    Fault(&'static Element),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Request,
    Response,
}

/// Goes through the messages of a project, once its program has run, and says where what came of them differs.
pub(crate) fn agree(family: &Path, project: &Path) -> Result<Json, Error> {
    let files = contracts::files(family);
    let facts: Json = serde_json::from_str(&std::fs::read_to_string(project.join("facts.json"))?)?;
    let failures = failures(&std::fs::read_to_string(project.join("failures.tsv"))?);
    let (mut count, mut different) = (0, Vec::new());
    for module in facts["modules"].as_array().into_iter().flatten() {
        let name = module["name"].as_str().unwrap_or_default();
        let paths = ["_exchange", ""].map(|kind| project.join(format!("src/{name}{kind}.wsdl")));
        let Some(path) = paths.into_iter().find(|path| path.is_file()) else { continue };
        let contract = Contract::open(&path, &files, &Options::default()).map_err(|diagnostics| {
            let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            texts.join("\n")
        })?;
        for case in module["cases"].as_array().into_iter().flatten() {
            let text = |key: &str| case[key].as_str().unwrap_or_default();
            let id = text("id");
            let is_encoded = case["encoded"].as_bool() == Some(true);
            let candidates = candidates(&contract, text("namespace"), text("element"), is_encoded);
            let [samples, again] =
                ["samples", "again"].map(|folder| std::fs::read_to_string(project.join(folder).join(id)));
            let (samples, again) = (samples?, again?);
            if candidates.is_empty() && !samples.is_empty() {
                different.push(json!([id, 0, "no operation has the element"]));
                continue;
            }
            let both = samples.split_terminator('\0').zip(again.split_terminator('\0'));
            for (number, (sample, written)) in both.enumerate() {
                count += 1;
                let expected = match failures.get(&(id.to_owned(), number)) {
                    Some(problem) => Err(problem.as_str()),
                    None => Ok(written),
                };
                // Two messages may have one name: it is one of them.
                let problems = candidates.iter().map(|candidate| compared(candidate, is_encoded, sample, expected));
                let mut problems = problems.collect::<Result<Vec<()>, String>>().err().into_iter();
                if let Some(problem) = problems.next()
                    && !candidates.iter().any(|candidate| compared(candidate, is_encoded, sample, expected).is_ok())
                {
                    different.push(json!([id, number, problem]));
                }
            }
        }
    }
    Ok(json!({ "messages": count, "different": different }))
}

/// Why a message was not read or written by generated code: by its case and number.
fn failures(text: &str) -> HashMap<(String, usize), String> {
    let lines = text.lines().filter_map(|line| {
        let mut fields = line.splitn(3, '\t');
        let (id, number, problem) = (fields.next()?, fields.next()?, fields.next()?);
        Some(((id.to_owned(), number.parse().ok()?), problem.to_owned()))
    });
    lines.collect()
}

fn candidates(contract: &Contract, namespace: &str, local: &str, is_encoded: bool) -> Vec<Candidate> {
    let is_it = |element: &Element| element.namespace == namespace && element.name == local;
    let operations = contract.services.iter().flat_map(|service| service.operations());
    let mut found = Vec::new();
    for operation in operations {
        let soap = operation.soap();
        let roots = [(Some(&soap.request), Direction::Request), (soap.response.as_ref(), Direction::Response)];
        for (root, direction) in roots {
            if let Some(root) = root.filter(|root| is_it(&root.element) && root.is_encoded == is_encoded) {
                found.push(Candidate::Message(operation, root, direction));
            }
        }
        let faults = operation.faults().filter(|element| is_it(element));
        found.extend(faults.map(Candidate::Fault));
    }
    found
}

fn compared(candidate: &Candidate, is_encoded: bool, sample: &str, expected: Result<&str, &str>) -> Result<(), String> {
    let value = match (read(candidate, is_encoded, sample), expected) {
        (Ok(value), Ok(_)) => value,
        (Err(problem), Err(expected)) if expected == format!("not read: {problem}").replace(['\t', '\n'], " ") => {
            return Ok(());
        }
        // Generated code has read it, and fails later.
        (Ok(_), Err(expected)) if !expected.starts_with("not read: ") => return Ok(()),
        (Ok(_), Err(expected)) => return Err(format!("read, expected: {expected}")),
        (Err(problem), Ok(_)) => return Err(format!("not read: {problem}")),
        (Err(problem), Err(expected)) => return Err(format!("not read: {problem}, expected: {expected}")),
    };
    // Details are read only.
    let Candidate::Message(operation, root, direction) = candidate else { return Ok(()) };
    let written = write(root, is_encoded, sample, &value)?;
    if expected != Ok(&written) {
        return Err(format!("written: {written}, expected: {}", expected.unwrap_or_default()));
    }
    let text = serde_json::to_string(&value).map_err(|error| error.to_string())?;
    let json = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let again = match direction {
        Direction::Request => operation.request_from_json(&json),
        Direction::Response => operation.response_from_json(&json),
    };
    let again = again.map_err(|error| format!("{text} is not read: {error}"))?;
    // What is not a number is not equal to itself, and what JSON has no place for is not lost in what it says again.
    let same = again == value || serde_json::to_string(&again).is_ok_and(|again| again == text);
    if !same {
        return Err(format!("JSON is read otherwise: {text}"));
    }
    // Equal values may share otherwise.
    let rewritten = write(root, is_encoded, sample, &again)?;
    match references(&rewritten) == references(&written) {
        true => Ok(()),
        false => Err(format!("JSON is written otherwise: {rewritten}, expected: {written}")),
    }
}

/// How many references there are in a message, and how many nodes that they lead to.
fn references(message: &str) -> [usize; 3] {
    [" href=\"", " ref=\"", " id=\""].map(|attribute| message.matches(attribute).count())
}

fn read(candidate: &Candidate, is_encoded: bool, sample: &str) -> Result<Value, String> {
    let limits = Limits::default;
    let (element, depth) = match candidate {
        Candidate::Message(_, root, _) if is_encoded => {
            return message::read(root, sample.as_bytes(), limits()).map_err(|error| error.to_string());
        }
        Candidate::Message(_, root, _) => (&root.element, 1),
        Candidate::Fault(element) => (*element, if is_encoded { PAYLOAD } else { 1 }),
    };
    let mut reader = Reader::new(sample.as_bytes(), limits()).map_err(|error| error.to_string())?;
    loop {
        match reader.next().map_err(|error| error.to_string())? {
            Token::StartTag(_) if reader.depth() >= depth => break,
            Token::End => return Err(format!("no element, expected {}", element.name)),
            _ => {}
        }
    }
    Decoder::new(reader).root(element).map_err(|error| error.to_string())
}

fn write(root: &Root, is_encoded: bool, sample: &str, value: &Value) -> Result<String, String> {
    let written = if is_encoded {
        let own = Version::ALL.into_iter().find(|version| sample.contains(version.namespace()));
        let version = own.ok_or("no envelope")?;
        message::write(version, root, value, Vec::new()).map_err(|error| error.to_string())?
    } else {
        let mut out = Encoder::new(Vec::new());
        out.element(root.start, value, root.end);
        out.finish().map_err(|error| error.to_string())?
    };
    String::from_utf8(written).map_err(|error| error.to_string())
}
