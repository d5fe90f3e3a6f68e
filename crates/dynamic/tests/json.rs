//! What values lose or take as JSON.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;

use castile_dynamic::{Contract, Operation, Options, Value};
use castile_soap::{Version, message};
use castile_xsd::Files;

fn contract(feature: &str) -> Contract {
    let path = Path::new("../codegen/tests/features").join(feature).join("service.wsdl");
    Contract::open(&path, &Files::new(), &Options::default()).unwrap()
}

fn operation(contract: &Contract, name: &str) -> &'static Operation {
    contract.services[0].operations().iter().find(|operation| operation.name() == name).unwrap()
}

/// A call of `graph` in SOAP encoding, with nodes beside it.
fn graph(call: &str, nodes: &str) -> String {
    format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:e=\"http://schemas.xmlsoap.org/soap/encoding/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:t=\"urn:encoded\" xmlns:c=\"urn:calls\">\
         <s:Body><c:graph>{call}</c:graph>{nodes}</s:Body></s:Envelope>"
    )
}

fn written(operation: &Operation, value: &Value) -> String {
    let xml = message::write(Version::Soap11, &operation.soap().request, value, Vec::new()).unwrap();
    String::from_utf8(xml).unwrap()
}

/// The XML is the same too: equal values may share otherwise.
#[test]
fn what_siblings_share_is_shared_again() {
    let graphs = operation(&contract("encoded"), "graph");
    let b = "<node id=\"b\" xsi:type=\"t:Node\"><name>b</name></node>";
    let circle = "<node id=\"b\" xsi:type=\"t:Node\"><name>b</name><next href=\"#b\"/></node>";
    let deep = "<node id=\"a\" xsi:type=\"t:Node\"><name>a</name><next href=\"#b\"/></node>";
    for (call, nodes, expected) in [
        ("<one href=\"#b\"/><two href=\"#b\"/>", b.to_owned(), r#"{"one":{"$id":1,"name":"b"},"two":{"$ref":1}}"#),
        (
            "<one href=\"#b\"/><two href=\"#b\"/>",
            circle.to_owned(),
            r#"{"one":{"$id":1,"name":"b","next":{"$ref":1}},"two":{"$ref":1}}"#,
        ),
        (
            "<one href=\"#a\"/><two href=\"#b\"/>",
            format!("{deep}{b}"),
            r#"{"one":{"$id":1,"name":"a","next":{"$id":2,"name":"b"}},"two":{"$ref":2}}"#,
        ),
    ] {
        let value = graphs.request_from_xml(&graph(call, &nodes)).unwrap();
        let json = serde_json::to_string(&value).unwrap();
        assert_eq!(json, expected);
        let again = graphs.request_from_json(&serde_json::from_str(&json).unwrap()).unwrap();
        assert_eq!(again, value);
        assert_eq!(written(graphs, &again), written(graphs, &value));
        // Nothing of one value is left in the next.
        assert_eq!(serde_json::to_string(&value).unwrap(), expected);
    }
}

/// Its bytes were taken for those of the encoding that it declares.
#[test]
fn a_text_is_not_decoded_again() {
    let graphs = operation(&contract("encoded"), "graph");
    let text =
        graph("<one href=\"#b\"/><two href=\"#b\"/>", "<node id=\"b\" xsi:type=\"t:Node\"><name>é</name></node>");
    for encoding in ["ISO-8859-1", "UTF-16", "US-ASCII"] {
        let declared = format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>{text}");
        assert_eq!(graphs.request_from_xml(&declared).unwrap(), graphs.request_from_xml(&text).unwrap(), "{encoding}");
    }
}

#[test]
fn zero_keeps_its_sign() {
    let echo = operation(&contract("simple_types"), "echo");
    for json in [r#"{"float":-0.0,"double":-0.0}"#, r#"{"float":0.0,"double":0.0}"#] {
        let value = echo.request_from_json(&serde_json::from_str(json).unwrap()).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
    }
}

/// It was refused when it was written, after all else was done.
#[test]
fn a_text_has_only_what_xml_can_carry() {
    let echo = operation(&contract("simple_types"), "echo");
    let error = echo.request_from_json(&serde_json::json!({"string": "a\u{1}"})).unwrap_err();
    assert_eq!(error.to_string(), "string: found the character U+0001, which XML can't carry");
    let error = echo.request_from_json(&serde_json::json!({"string": "\u{fffe}"})).unwrap_err();
    assert_eq!(error.to_string(), "string: found the character U+FFFE, which XML can't carry");
}

/// The process ended: references nest without depth in XML.
#[test]
fn a_long_chain_is_refused() {
    let graphs = operation(&contract("encoded"), "graph");
    // Each leads to one that was read before; the last one is written first.
    let chain = |length: usize| -> Value {
        let node = |number| match number {
            0 => "<item id=\"n0\"><name>n</name></item>".to_owned(),
            number => format!("<item id=\"n{number}\"><name>n</name><next href=\"#n{}\"/></item>", number - 1),
        };
        let nodes: String = (0..length).map(node).collect();
        let one = format!(
            "<one><name>one</name><children e:arrayType=\"t:Node[{length}]\">{nodes}</children>\
             <next href=\"#n{}\"/></one><two><name>two</name></two>",
            length - 1
        );
        graphs.request_from_xml(&graph(&one, "")).unwrap()
    };
    chain(400).to_json(1 << 20).unwrap();
    let refused = chain(400).to_json(100_000).unwrap_err();
    assert_eq!(refused.message, "it takes more room as JSON than it may");
    let long = chain(50_000);
    let refused = long.to_json(usize::MAX).unwrap_err();
    assert_eq!(refused.message, "it nests deeper than 512 levels as JSON");
    let refused = serde_json::to_string(&long).unwrap_err();
    assert_eq!(refused.to_string(), "it nests deeper than 4096 levels as JSON");
    // A refusal leaves nothing behind.
    chain(400).to_json(1 << 20).unwrap();
}

#[test]
fn what_xml_would_not_be_is_refused() {
    let table = [
        // An array is no text.
        ("default_values", r#"{"number": 1, "text": ["Ann", "Bob"]}"#, "text: found an array, expected xs:string"),
        ("datatypes", r#"{"union": [["a", "b"]]}"#, "union[0]: found an array, expected "),
        ("datatypes", r#"{"NMTOKENS": ["a b"]}"#, "NMTOKENS[0]: found \"a b\", expected an item of a list"),
        ("datatypes", r#"{"unions": [1, "a b"]}"#, "unions[1]: found \"a b\", expected an item of a list"),
        // Digits are lost before anybody sees them.
        ("datatypes", r#"{"decimal": 1234567890.12345678}"#, "decimal: found the number 1234567890.1234567, of which"),
        ("datatypes", r#"{"decimal": 0.30000000000000004}"#, "decimal: found the number 0.30000000000000004, of which"),
        ("datatypes", r#"{"decimal": 1e20}"#, "decimal: found the number 1e+20, of which"),
        // Another value than the one that is fixed.
        (
            "attributes",
            r#"{"item": [{"@kind": "a&b", "@unit": "mm", "@text": "", "@size": 3, "@id": 7}]}"#,
            "item[0].@unit: found \"mm\", where only \"cm\" was expected",
        ),
        ("default_values", r#"{"number": 1, "fixed": 2}"#, "fixed: found \"2\", where only \"1.50\" was expected"),
    ];
    for (feature, json, expected) in table {
        let contract = contract(feature);
        let operation = &contract.services[0].operations()[0];
        let refused = operation.request_from_json(&serde_json::from_str(json).unwrap()).unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{json}: {refused}");
    }
    let table = [
        ("datatypes", r#"{"NMTOKENS": ["a", "b"]}"#),
        ("datatypes", r#"{"unions": [1, "a"]}"#),
        ("datatypes", r#"{"decimal": 4503599627370496.5}"#),
        ("datatypes", r#"{"decimal": -0.125}"#),
        ("datatypes", r#"{"decimal": "1234567890.12345678"}"#),
        ("default_values", r#"{"number": 1, "fixed": 1.5}"#),
        ("simple_types", r#"{"double": 0.30000000000000004}"#),
    ];
    for (feature, json) in table {
        let contract = contract(feature);
        let operation = &contract.services[0].operations()[0];
        operation.request_from_json(&serde_json::from_str(json).unwrap()).unwrap();
    }
}

#[test]
fn details_of_faults_may_have_several_elements_of_a_name() {
    let contract = contract("typed_faults");
    let echo = operation(&contract, "echo");
    let xml = "<t:closed xmlns:t=\"urn:typed_faults\">2026-11-26T12:00:00Z</t:closed>\
               <t:closed xmlns:t=\"urn:typed_faults\">2026-11-27T12:00:00Z</t:closed>";
    let json = serde_json::to_value(echo.fault_detail(xml)).unwrap();
    assert_eq!(json, serde_json::json!({"closed": ["2026-11-26T12:00:00Z", "2026-11-27T12:00:00Z"]}));
    let written = echo.fault_detail_from_json(&json).unwrap();
    assert_eq!(serde_json::to_value(echo.fault_detail(&written)).unwrap(), json);
    let own = "<t:closed xmlns:t=\"urn:typed_faults\">2026-11-26T12:00:00Z</t:closed>";
    let other = "<closed xmlns=\"urn:other\"/>";
    let json = serde_json::to_value(echo.fault_detail(&format!("{own}{other}"))).unwrap();
    let expected = serde_json::json!({"{urn:typed_faults}closed": "2026-11-26T12:00:00Z", "{urn:other}closed": other});
    assert_eq!(json, expected);
    let own = serde_json::json!({"{urn:typed_faults}closed": "2026-11-26T12:00:00Z"});
    echo.fault_detail_from_json(&own).unwrap();
    let refused = echo.fault_detail_from_json(&serde_json::json!({"closed": ["2026-11-26T12:00:00Z", 1]})).unwrap_err();
    assert_eq!(refused.path, "closed[1]");
}
