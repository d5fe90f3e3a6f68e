//! Tests that filling a template gives the same value as reading it from XML and from JSON.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::cell::Cell;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use castile_dynamic::{Contract, Operation, Options, Value, ValueTemplate};
use castile_xsd::Files;
use serde_json::Value as Json;

/// Texts for the placeholders, valid and invalid.
const FILLED: [&str; 22] = [
    "",
    " ",
    "a",
    "two words",
    " around ",
    "a\tb\r\nc",
    "<&>\"'",
    "ü€😀",
    "7",
    "-0",
    "+07",
    "007.50",
    "1e3",
    "NaN",
    "true",
    "2026-11-26",
    "2026-11-26T10:00:00Z",
    "QUJD",
    "0aFF",
    "t:name",
    "\u{1}",
    "\u{FFFE}",
];

/// Returns the ranges of element texts, which are between a start tag and an end tag.
fn texts_of(message: &str) -> Vec<Range<usize>> {
    let body = message.find("Body").unwrap_or_default();
    let mut found = Vec::new();
    for (end, _) in message.match_indices("</").filter(|(end, _)| *end > body) {
        let start = message[..end].rfind('>').map_or(end, |start| start + 1);
        let text = &message[start..end];
        if !text.trim().is_empty() && !text.contains(['<', '&']) && !message[..start].ends_with("-->") {
            found.push(start..end);
        }
    }
    found
}

fn escaped(text: &str) -> String {
    // Unescaped line ends would be changed by the reader.
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

/// Collects scalar values in order, except names of types.
fn scalars<'j>(json: &'j mut Json, found: &mut Vec<&'j mut Json>) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| scalars(item, found)),
        Json::Object(members) => {
            let members =
                members.iter_mut().filter(|(name, _)| !matches!(name.as_str(), "$type" | "$nil" | "$id" | "$ref"));
            members.for_each(|(_, member)| scalars(member, found));
        }
        Json::Null => {}
        json => found.push(json),
    }
}

/// Returns how often the template gave a value.
fn check(
    what: &str,
    operation: &'static Operation,
    texts: &[String],
    read: impl Fn(&[&str]) -> Option<Value>,
) -> usize {
    let Some(template) = ValueTemplate::new(&operation.soap().request, texts, &read) else { return 0 };
    let mut known = 0;
    for placeholder in 0..texts.len() {
        for filled in FILLED {
            let mut given: Vec<&str> = texts.iter().map(String::as_str).collect();
            given[placeholder] = filled;
            let json: Vec<Box<Json>> = given.iter().map(|text| Box::new(Json::String((*text).to_owned()))).collect();
            let Some(value) = template.fill(&json) else { continue };
            known += 1;
            let expected = read(&given)
                .unwrap_or_else(|| panic!("{what}: {given:?} is no value, and the template gave {value:?}"));
            // NaN is not equal to itself.
            assert!(
                *value == expected || format!("{value:?}") == format!("{expected:?}"),
                "{what}: {given:?}: {value:?}, {expected:?}"
            );
        }
    }
    known
}

/// Returns a template with a text of this length, followed by this number of placeholders.
fn template(length: usize, placeholders: usize) -> (Option<ValueTemplate>, usize) {
    let contract = Contract::open(
        Path::new("../codegen/tests/features/optional_and_repeated/service.wsdl"),
        &Files::new(),
        &Options::default(),
    );
    let contract = contract.unwrap();
    let operation = &contract.services[0].operations()[0];
    let text = "x".repeat(length);
    let reads = Cell::new(0);
    let texts: Vec<String> = (0..placeholders).map(|placeholder| format!("text {placeholder}")).collect();
    let template = ValueTemplate::new(&operation.soap().request, &texts, |texts| {
        reads.set(reads.get() + 1);
        let some: Vec<&str> = [text.as_str()].into_iter().chain(texts.iter().copied()).collect();
        operation.request_from_json(&serde_json::json!({"some": some, "few": [1, 2]})).ok()
    });
    (template, reads.get())
}

/// A large template was read once for each of its placeholders, and the result was kept.
#[test]
fn templates_are_bounded_by_the_size_of_their_template() {
    let (large, reads) = template(1 << 20, 17);
    assert!(large.is_none() && reads == 1, "{reads}");
    let filled =
        |template: ValueTemplate| template.fill(&[Box::new(Json::from("a"))]).map(|value| Arc::strong_count(&value));
    assert_eq!(filled(template(1 << 20, 1).0.unwrap()), Some(1));
    let (small, _) = template(10, 1);
    let small = small.unwrap();
    let value = small.fill(&[Box::new(Json::from("a"))]).unwrap();
    assert_eq!(Arc::strong_count(&value), 2);
}

/// Placeholders without a text had the text of an earlier answer.
#[test]
fn a_template_has_a_text_for_each_placeholder() {
    let (template, _) = template(10, 2);
    let template = template.unwrap();
    let text = |text: &str| Box::new(Json::from(text));
    assert!(template.fill(&[text("a"), text("b")]).is_some());
    assert!(template.fill(&[text("a")]).is_none());
    assert!(template.fill(&[text("a"), text("b"), text("c")]).is_none());
}

#[test]
fn the_output_of_a_template_is_what_is_read() {
    let (mut of_xml, mut of_json) = (0, 0);
    let features = fs::read_dir("../codegen/tests/features").unwrap().map(|entry| entry.unwrap().path());
    for feature in features {
        let mut options = Options::default();
        options.facets = feature.ends_with("facets");
        let Ok(contract) = Contract::open(&feature.join("service.wsdl"), &Files::new(), &options) else { continue };
        let operations = || contract.services.iter().flat_map(|service| service.operations());
        let files = fs::read_dir(&feature).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|file| is_message(file)) {
            let message = fs::read_to_string(&file).unwrap();
            let what = file.display().to_string();
            for operation in operations() {
                let Ok(value) = operation.request_from_xml(&message) else { continue };
                of_xml += check_xml(&what, operation, &message);
                of_json += check_json(&what, operation, &value);
            }
        }
    }
    assert!(of_xml > 500 && of_json > 500, "{of_xml} of XML, {of_json} of JSON");
}

fn is_message(file: &Path) -> bool {
    let name = file.file_name().unwrap().to_string_lossy();
    name.starts_with("ok-") && name.ends_with(".xml")
}

fn check_xml(what: &str, operation: &'static Operation, message: &str) -> usize {
    let placeholders = texts_of(message);
    let of = |placeholders: &[Range<usize>]| {
        let texts: Vec<String> =
            placeholders.iter().map(|placeholder| message[placeholder.clone()].to_owned()).collect();
        check(what, operation, &texts, |texts| {
            let mut filled = message.to_owned();
            for (placeholder, text) in placeholders.iter().zip(texts).rev() {
                filled.replace_range(placeholder.clone(), &escaped(text));
            }
            operation.request_from_xml(&filled).ok()
        })
    };
    // All together, and each by itself, since one without a template leaves the others without one.
    of(&placeholders)
        + placeholders.iter().take(8).map(|placeholder| of(std::slice::from_ref(placeholder))).sum::<usize>()
}

fn check_json(what: &str, operation: &'static Operation, value: &Value) -> usize {
    let json: Json = serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap();
    let mut copy = json.clone();
    let mut found = Vec::new();
    scalars(&mut copy, &mut found);
    let texts: Vec<String> = found.iter().map(|json| json.as_str().map_or(json.to_string(), str::to_owned)).collect();
    let of = |placeholders: &[usize]| {
        let own: Vec<String> = placeholders.iter().map(|placeholder| texts[*placeholder].clone()).collect();
        check(what, operation, &own, |given| {
            let mut filled = json.clone();
            let mut found = Vec::new();
            scalars(&mut filled, &mut found);
            for (placeholder, text) in placeholders.iter().zip(given) {
                *found[*placeholder] = Json::String((*text).to_owned());
            }
            operation.request_from_json(&filled).ok()
        })
    };
    let all: Vec<usize> = (0..texts.len()).collect();
    of(&all) + all.iter().take(8).map(|placeholder| of(std::slice::from_ref(placeholder))).sum::<usize>()
}
