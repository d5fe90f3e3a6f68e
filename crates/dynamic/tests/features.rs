//! Tests the features of the generator at run time: values, rejections, answers and error messages must be the same as
//! those of generated code.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use castile::http::Body;
use castile::http::server::Endpoint;
use castile_dynamic::{Contract, Operation, Options, Served, SimpleKind, Value};
use castile_soap::{Fault, Request, Response};
use castile_xml::tree::{Attribute, Document, Element, Node};
use castile_xsd::Files;
use http_body_util::BodyExt;
use tower_service::Service;

/// Returns the features, in order, that have messages and depend only on their contract.
fn features() -> Vec<PathBuf> {
    let directory = fs::read_dir("../codegen/tests/features").unwrap();
    let mut features: Vec<PathBuf> = directory.map(|entry| entry.unwrap().path()).collect();
    // One has a file beside the contract that names Rust types; the answers of two have files.
    let others = ["adjusted", "encoded", "rpc_literal"];
    features.retain(|feature| !others.iter().any(|other| feature.ends_with(other)));
    features.retain(|feature| !files(feature, "ok-").is_empty());
    features.sort();
    features
}

fn files(feature: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(feature).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && name.ends_with(".xml")
    });
    files.sort();
    files
}

fn endpoint(feature: &Path) -> Endpoint<impl castile_soap::Service> {
    let mut options = Options::default();
    options.facets = feature.ends_with("facets") || feature.ends_with("lenient");
    let contract = Contract::open(&feature.join("service.wsdl"), &Files::new(), &options).unwrap();
    let echo = |operation: &'static Operation, request: Request<Value>| async move {
        let value = request.into_inner();
        // Converting to JSON and back gives the same value.
        let json = serde_json::to_string(&value).unwrap();
        let tree = serde_json::from_str(&json).unwrap();
        find_all(operation, &tree, &mut Vec::new());
        let read = operation.request_from_json(&tree);
        match read {
            Ok(read) if read == value || format!("{value:?}").contains("NaN") => {}
            Ok(read) => {
                let again = serde_json::to_string(&read).unwrap();
                return Err(Fault::receiver(format!("\n{json}\nis not\n{again}")));
            }
            Err(error) => return Err(Fault::receiver(format!("\n{json}\n{error}"))),
        }
        let copy = value.clone();
        let [copied, printed] = [&copy, &value].map(|value| format!("{value:?}"));
        assert!(copied == printed && (copy == value || printed.contains("NaN")), "{printed} became {copied}");
        Ok::<_, Fault>(Response::from(copy))
    };
    Endpoint::new(Served::new(contract.services[0], echo))
}

/// Checks that everything in the JSON of a request is found in its type, and nothing else.
fn find_all<'j>(operation: &Operation, json: &'j serde_json::Value, names: &mut Vec<&'j str>) {
    assert_eq!(operation.find_in_request(names), Ok(()), "{}: {names:?}", operation.name());
    match json {
        // Nothing is known about types that the contract doesn't have.
        serde_json::Value::Object(members) if json["$type"].as_str().is_some_and(|name| name.starts_with('{')) => {
            assert!(members.len() > 1);
        }
        serde_json::Value::Object(members) => {
            for (name, member) in members {
                names.push(name);
                find_all(operation, member, names);
                names.pop();
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| find_all(operation, item, names)),
        _ => {}
    }
}

fn contract(feature: &str) -> Contract {
    let path = Path::new("../codegen/tests/features").join(feature).join("service.wsdl");
    Contract::open(&path, &Files::new(), &Options::default()).unwrap()
}

#[test]
fn unknown_names_are_reported() {
    let table: [(&str, &[&str], usize, &[&str]); 3] = [
        ("optional_and_repeated", &["last", "optionl"], 1, &["optional"]),
        ("optional_and_repeated", &["optional", "x"], 1, &[]),
        ("optional_and_repeated", &["x"], 0, &["optional", "any", "some", "few", "last"]),
    ];
    for (feature, names, known, expected) in table {
        let wrong = contract(feature).services[0].operations()[0].find_in_request(names).unwrap_err();
        assert_eq!((wrong.found, wrong.expected.iter().map(String::as_str).collect()), (known, expected.to_vec()));
    }
}

/// A type that allows any attribute does not allow any element.
#[test]
fn any_attribute_is_no_element() {
    let operation = &contract("attributes").services[0].operations()[0];
    assert_eq!(operation.find_in_request(&["open", "@{urn:x}y"]), Ok(()));
    let wrong = operation.find_in_request(&["open", "elemnt"]).unwrap_err();
    assert_eq!(wrong.expected, ["@decoder", "@name", "@*", "element"]);
}

/// The problem of a text at a path; empty if it is a valid value.
#[test]
fn texts_are_held_against_the_type_of_a_place() {
    let of_color =
        "not in the enumeration: \"red\", \"Red\", \"dark-blue\", \"\", \"other\", \"1\", \"+\", \"self\", …";
    let of_color = format!("\"blue\" is not a valid Color: it is {of_color}");
    let of_size = "it is not in the enumeration: \"small\", \"large\"";
    let of_sizes = format!("\"small huge\" is not a valid list: \"huge\" is not a valid Size: {of_size}");
    let of_size = format!("\"huge\" is not a valid Size: {of_size}");
    let table: [(&str, &[&str], &str, &str); 16] = [
        ("enumerations", &["color"], "blue", &of_color),
        ("enumerations", &["color"], "Red", ""),
        ("enumerations", &["@size"], "huge", &of_size),
        ("enumerations", &["sizes"], "small huge", &of_sizes),
        ("enumerations", &["sizes"], " small  large ", ""),
        ("enumerations", &["either"], "2026-11-26", ""),
        ("simple_content", &["plain"], "two", "\"two\" is not a valid xs:decimal"),
        ("simple_content", &["plain", "$"], "2", ""),
        ("simple_content", &["plain", "@value"], "2.5", "\"2.5\" is not a valid xs:int"),
        ("simple_content", &["name"], "{urn:a}b", ""),
        ("attributes", &["open", "@decoder"], "x", "\"x\" is not a valid xs:int"),
        ("derivation", &["shape", "name"], "x", ""),
        ("simple_types", &["string"], "a\u{1}", "found the character U+0001, which is not allowed in XML"),
        ("encoded", &["point", "x"], "x", "\"x\" is not a valid xs:int"),
        ("datatypes", &["hexBinary"], "0g", "\"0g\" is not a valid xs:hexBinary"),
        ("mtom", &["typed", "$"], "AQ ID", ""),
    ];
    for (feature, names, text, expected) in table {
        let simple = contract(feature).services[0].operations()[0].simple_in_request(names);
        let found = simple.unwrap_or_else(|| panic!("{feature} {names:?}")).check(text);
        assert_eq!(found.err().unwrap_or_default(), expected, "{feature} {names:?} {text}");
    }
}

#[test]
fn places_tell_whether_they_are_simple() {
    let kind = |feature: &str, names: &[&str]| {
        contract(feature).services[0].operations()[0].simple_in_request(names).map(|simple| simple.kind())
    };
    for (feature, names, expected) in [
        ("mtom", &["photo"][..], Some(SimpleKind::Base64Binary)),
        ("mtom", &["typed"], Some(SimpleKind::Base64Binary)),
        ("mtom", &["typed", "@{http://www.w3.org/2005/05/xmlmime}contentType"], Some(SimpleKind::Other)),
        ("datatypes", &["hexBinary"], Some(SimpleKind::HexBinary)),
        ("simple_content", &["plain"], Some(SimpleKind::Other)),
        ("simple_content", &[], None),
        ("simple_content", &["nothing"], None),
        ("attributes", &["open", "@{urn:x}y"], None),
        ("derivation", &["shape"], None),
        ("wildcards", &["anything"], None),
        ("mixed", &["paragraph", "$"], None),
    ] {
        assert_eq!(kind(feature, names), expected, "{feature} {names:?}");
    }
}

#[tokio::test]
async fn the_same_messages_are_accepted_and_rejected_as_by_generated_code() {
    let mut different = Vec::new();
    let features = features();
    assert!(features.len() > 30, "{}", features.len());
    for feature in features {
        let mut endpoint = endpoint(&feature);
        // Each message is sent twice. The second time the reader has all tags in its cache.
        for file in [files(&feature, "ok-"), files(&feature, "ok-")].concat() {
            let sent = fs::read_to_string(&file).unwrap();
            let (status, answer) = post(&mut endpoint, sent.clone()).await;
            if status != 200 {
                different.push(format!("{}: {answer}", file.display()));
                continue;
            }
            let [sent, answer] = [sent, answer].map(|message| Document::parse(&message).unwrap());
            let [sent, answer] = [&sent, &answer].map(|message| infoset(payload(message)));
            if sent != answer {
                different.push(format!("{}: sent\n{sent}\nanswered\n{answer}", file.display()));
            }
        }
        for file in [files(&feature, "bad-"), files(&feature, "bad-")].concat() {
            let (status, answer) = post(&mut endpoint, fs::read_to_string(&file).unwrap()).await;
            let expected = fs::read_to_string(file.with_extension("error")).unwrap();
            let found = match status {
                500 => {
                    let answer = Document::parse(&answer).unwrap();
                    let [code, reason] = ["faultcode", "faultstring"].map(|name| child(payload(&answer), name));
                    format!("{}: {}\n", code.trim_start_matches("soap:"), reason)
                }
                _ => answer,
            };
            if found != expected {
                different.push(format!("{}: expected\n{expected}found\n{found}", file.display()));
            }
        }
    }
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
}

/// Returns the status and the body of the answer to a message.
async fn post<S: castile_soap::Service>(endpoint: &mut Endpoint<S>, message: String) -> (u16, String) {
    let request = http::Request::post("/").header("content-type", "text/xml; charset=utf-8");
    let response = endpoint.call(request.body(Body::from(Bytes::from(message))).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

fn payload(message: &Document) -> Element<'_> {
    let body = message.root().elements().find(|element| element.local() == "Body").unwrap();
    body.elements().next().unwrap()
}

fn child(element: Element<'_>, name: &str) -> String {
    element.elements().find(|child| child.local() == name).unwrap().text()
}

/// Formats the content of an element without what is not significant: prefixes, the order of attributes, and white
/// space between elements.
fn infoset(element: Element<'_>) -> String {
    let mut out = String::new();
    let has_elements = element.elements().next().is_some();
    for child in element.children() {
        let child = match child {
            Node::Element(child) => child,
            Node::Text(text) => {
                let text = text.trim();
                if has_elements && !text.is_empty() {
                    out.push_str(&format!("{text:?}\n"));
                }
                continue;
            }
        };
        let mut attributes: Vec<String> = child.attributes().map(|attribute| shown(child, attribute)).collect();
        attributes.sort();
        let (namespace, local, attributes) = (child.namespace(), child.local(), attributes.concat());
        out.push_str(&format!("<{{{namespace}}}{local}{attributes}>\n{}</>\n", infoset(child)));
    }
    if !has_elements {
        out = element.text() + "\n";
    }
    out
}

/// Formats an attribute. The meaning of `xsi:type` depends on the declarations in scope.
fn shown(element: Element<'_>, attribute: Attribute<'_>) -> String {
    let (namespace, local, value) = (attribute.namespace(), attribute.local(), attribute.value());
    if (namespace, local) == ("http://www.w3.org/2001/XMLSchema-instance", "type") {
        return format!(" xsi:type={:?}", element.resolve_qname(value).unwrap());
    }
    format!(" {{{namespace}}}{local}={value:?}")
}
