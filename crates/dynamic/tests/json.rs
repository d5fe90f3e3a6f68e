//! Tests the conversion of values to and from JSON.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;

use castile_dynamic::{Contract, Operation, Options, Value, with_files};
use castile_soap::{Version, message};
use castile_xsd::Files;

fn contract(feature: &str) -> Contract {
    let path = Path::new("../codegen/tests/features").join(feature).join("service.wsdl");
    Contract::open(&path, &Files::new(), &Options::default()).unwrap()
}

fn operation(contract: &Contract, name: &str) -> &'static Operation {
    contract.services[0].operations().iter().find(|operation| operation.name() == name).unwrap()
}

/// Returns a call of `graph` in SOAP encoding, with nodes beside it.
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

/// The XML is compared too, because equal values may be shared differently.
#[test]
fn values_shared_by_siblings_stay_shared() {
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
        // No state of one value remains for the next.
        assert_eq!(serde_json::to_string(&value).unwrap(), expected);
    }
}

/// Returns the contract `encoded` with a call whose parts are nodes of two types.
fn graph_of_two_types() -> Contract {
    let text = std::fs::read_to_string("../codegen/tests/features/encoded/service.wsdl").unwrap();
    let leaf = "<xs:complexType name=\"Leaf\"><xs:sequence><xs:element name=\"name\" type=\"xs:string\"/>\
                <xs:element name=\"next\" type=\"t:Leaf\" minOccurs=\"0\"/></xs:sequence></xs:complexType>";
    let before = "<xs:complexType name=\"Nodes\">";
    let text = text.replacen(before, &format!("{leaf}{before}"), 1);
    let text =
        text.replacen("<wsdl:part name=\"two\" type=\"t:Node\"/>", "<wsdl:part name=\"two\" type=\"t:Leaf\"/>", 1);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two-types.wsdl");
    std::fs::write(&path, text).unwrap();
    Contract::open(&path, &Files::new(), &Options::default()).unwrap()
}

/// A reference led to a value of any type.
#[test]
fn references_lead_to_values_of_their_type() {
    let graphs = operation(&graph_of_two_types(), "graph");
    let json = serde_json::json!({"one": {"$id": 1, "name": "a"}, "two": {"$ref": 1}});
    let refused = graphs.request_from_json(&json).unwrap_err();
    assert_eq!(refused.to_string(), "two: found the $id 1 of a value of Node, expected one of Leaf");
    let json = serde_json::json!({"two": {"$id": 7, "name": "a", "next": {"$ref": 7}}});
    graphs.request_from_json(&json).unwrap();
    // A shared part of both is read once for each of them.
    let value = graphs.request_from_xml(&graph("<one id=\"n\"><name>a</name></one><two href=\"#n\"/>", "")).unwrap();
    let expected = serde_json::json!({"one": {"$id": 1, "name": "a"}, "two": {"$id": 2, "name": "a"}});
    assert_eq!(serde_json::to_value(&value).unwrap(), expected);
}

/// The bytes of the text were decoded with the encoding that it declares.
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

/// The text was rejected only when it was written, after all other work was done.
#[test]
fn a_text_has_only_what_xml_can_carry() {
    let echo = operation(&contract("simple_types"), "echo");
    let error = echo.request_from_json(&serde_json::json!({"string": "a\u{1}"})).unwrap_err();
    assert_eq!(error.to_string(), "string: found the character U+0001, which is not allowed in XML");
    let error = echo.request_from_json(&serde_json::json!({"string": "\u{fffe}"})).unwrap_err();
    assert_eq!(error.to_string(), "string: found the character U+FFFE, which is not allowed in XML");
    // In mixed content it was accepted.
    let echo = operation(&contract("mixed"), "echo");
    let error = echo.request_from_json(&serde_json::json!({"paragraph": [{"$": ["a", "b\u{1}"]}]})).unwrap_err();
    assert_eq!(error.to_string(), "paragraph[0].$[1]: found the character U+0001, which is not allowed in XML");
}

/// An attribute could declare a namespace and so change the names of elements, or could occur twice.
#[test]
fn attributes_have_one_name_and_declare_nothing() {
    let echo = operation(&contract("attributes"), "echo");
    const DECLARES: &str = "no namespace declaration, because names contain their namespace";
    for (name, expected) in [
        ("@xmlns", DECLARES),
        ("@{}xmlns", DECLARES),
        ("@{http://www.w3.org/2000/xmlns/}x", DECLARES),
        ("@{http://www.w3.org/2001/XMLSchema-instance}type", "$type for the type of an element"),
        ("@{http://www.w3.org/2001/XMLSchema-instance}nil", "$nil for an element that is nil"),
        ("@{}y", "@y"),
        ("@xs:y", "@{http://www.w3.org/2001/XMLSchema}y"),
    ] {
        for (member, json) in [("open", "\"element\": 1"), ("nil", "\"$nil\": true")] {
            let json = format!("{{{member:?}: {{{json}, {name:?}: \"x\"}}}}");
            let refused = echo.request_from_json(&serde_json::from_str(&json).unwrap()).unwrap_err();
            assert_eq!(refused.to_string(), format!("{member}.{name}: found an attribute {name}, expected {expected}"));
        }
    }
    let control = serde_json::json!({"open": {"element": 1, "@{urn:\u{1}}y": "x"}});
    let refused = echo.request_from_json(&control).unwrap_err().to_string();
    assert!(refused.ends_with("found the character U+0001, which is not allowed in XML"), "{refused}");
    let fine = serde_json::json!({"open": {"element": 1, "@{http://www.w3.org/XML/1998/namespace}lang": "de"}});
    let value = echo.request_from_json(&fine).unwrap();
    assert!(written(echo, &value).contains(" xml:lang=\"de\""));
    assert_eq!(serde_json::to_value(&value).unwrap(), fine);
}

#[test]
fn the_type_of_any_value_has_a_name() {
    let echo = operation(&contract("wildcards"), "echo");
    let wrong = serde_json::json!({"anything": [{"$type": "{urn:a}b c", "$": "x"}]});
    let problems = echo.request_problems(&wrong);
    let expected = "anything[0].$type: \"b c\" is not the name of a type";
    assert!(problems.iter().any(|problem| problem.to_string() == expected), "{problems:?}");
}

/// The path had the attribute twice.
#[test]
fn an_attribute_of_any_value_has_its_path() {
    let echo = operation(&contract("wildcards"), "echo");
    let problems = echo.request_problems(&serde_json::json!({"anything": [{"@a b": "x"}]}));
    let expected = "anything[0].@a b: \"a b\" is not the name of an attribute";
    assert!(problems.iter().any(|problem| problem.to_string() == expected), "{problems:?}");
}

/// The process crashed, because references nest without depth in XML.
#[test]
fn a_long_chain_is_refused() {
    let graphs = operation(&contract("encoded"), "graph");
    // Each node refers to the one read before. The last one is written first.
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
    assert_eq!(refused.message, "it is too large as JSON");
    let long = chain(50_000);
    let refused = long.to_json(usize::MAX).unwrap_err();
    assert_eq!(refused.message, "it nests deeper than 512 levels as JSON");
    let refused = serde_json::to_string(&long).unwrap_err();
    assert_eq!(refused.to_string(), "it nests deeper than 4096 levels as JSON");
    // A rejection leaves no state.
    chain(400).to_json(1 << 20).unwrap();
}

#[test]
fn json_that_is_not_valid_as_xml_is_rejected() {
    let table = [
        // An array is not a text.
        ("default_values", r#"{"number": 1, "text": ["Ann", "Bob"]}"#, "text: found an array, expected xs:string"),
        ("datatypes", r#"{"union": [["a", "b"]]}"#, "union[0]: found an array, expected "),
        ("datatypes", r#"{"NMTOKENS": ["a b"]}"#, "NMTOKENS[0]: found \"a b\", expected an item of a list"),
        ("datatypes", r#"{"unions": [1, "a b"]}"#, "unions[1]: found \"a b\", expected an item of a list"),
        // The JSON reader has already lost digits.
        (
            "datatypes",
            r#"{"decimal": 1234567890.12345678}"#,
            "decimal: found the number 1234567890.1234567, which may lose digits",
        ),
        (
            "datatypes",
            r#"{"decimal": 0.30000000000000004}"#,
            "decimal: found the number 0.30000000000000004, which may lose digits",
        ),
        ("datatypes", r#"{"decimal": 1e20}"#, "decimal: found the number 1e+20, which may lose digits"),
        // A value that differs from the fixed one.
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

/// Only the first problem was reported.
#[test]
fn all_problems_are_reported() {
    let table = [
        (
            "optional_and_repeated",
            r#"{"optional": "x", "any": [1, "y", "z"], "few": [1], "lst": {"optional": 1}}"#,
            &[
                "lst: there is no such member; did you mean last?",
                "optional: \"x\" is not a valid xs:int",
                "any[1]: \"y\" is not a valid xs:int",
                "any[2]: \"z\" is not a valid xs:int",
                "some: found 0 items, expected at least 1",
                "few: found 1 items, expected at least 2",
            ][..],
        ),
        // A misspelled member is not also reported as missing.
        (
            "optional_and_repeated",
            r#"{"sme": ["a"], "few": [1, 2], "last": {"optionl": "a"}, "nothing": 1}"#,
            &[
                "nothing: there is no such member; there are optional, any, some, few, last",
                "sme: there is no such member; did you mean some?",
                "last.optionl: there is no such member; did you mean optional?",
            ],
        ),
        ("choice", r#"{"onc": {"a": 1}}"#, &["onc: there is no such member; did you mean once?"]),
        (
            "choice",
            r#"{"once": {"a": "x"}, "end": "y"}"#,
            &["once.a: \"x\" is not a valid xs:int", "end: \"y\" is not a valid xs:int"],
        ),
        // A member that occurs twice is not also reported as unknown.
        ("choice", r#"{"once": {"a": 1}, "ordered": {}}"#, &["found both once and ordered, expected one of them"]),
        (
            "attributes",
            r#"{"item": [{"@size": "x", "@kynd": 1, "id": 1}, {"@id": "y"}]}"#,
            &[
                "item[0].@size: \"x\" is not a valid xs:int",
                "item[0].@kynd: there is no such member; did you mean @kind?",
                "item[0].@id: it is required, but missing",
                "item[1].@id: \"y\" is not a valid xs:int",
            ],
        ),
        ("optional_and_repeated", r#"{"some": ["a"], "few": [1, 2]}"#, &[]),
    ];
    for (feature, json, expected) in table {
        let contract = contract(feature);
        let operation = &contract.services[0].operations()[0];
        let json = serde_json::from_str(json).unwrap();
        let mut told: Vec<String> = operation.request_problems(&json).iter().map(ToString::to_string).collect();
        let first = operation.request_from_json(&json).err().map(|problem| problem.to_string());
        assert_eq!(told.first(), first.as_ref(), "{json}");
        let mut expected: Vec<String> = expected.iter().map(|problem| (*problem).to_owned()).collect();
        // The members of a JSON object have a different order.
        told.sort();
        expected.sort();
        assert_eq!(told, expected, "{json}");
    }
}

#[test]
fn more_problems_are_counted() {
    let echo = operation(&contract("optional_and_repeated"), "echo");
    let of = |count: usize| {
        echo.request_problems(&serde_json::json!({"any": vec!["x"; count], "some": ["a"], "few": [1, 2]}))
    };
    assert_eq!(of(100).len(), 100);
    let told = of(101);
    assert_eq!((told.len(), told[100].to_string()), (101, "there is 1 more problem".to_owned()));
    assert_eq!(of(1_000).last().unwrap().to_string(), "there are 900 more problems");
    assert_eq!(of(50_000).last().unwrap().to_string(), "there are at least 9901 more problems");
    let unknown: serde_json::Map<String, serde_json::Value> =
        (0..50_000).map(|number| (format!("x{number}"), serde_json::json!(1))).collect();
    assert_eq!(echo.request_problems(&unknown.into()).len(), 101);
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

/// The text was dropped, although PHP and Perl write only text.
#[test]
fn details_of_faults_may_have_a_text() {
    let echo = operation(&contract("typed_faults"), "echo");
    let closed = "<t:closed xmlns:t=\"urn:typed_faults\">2026-11-26T12:00:00Z</t:closed>";
    for (xml, expected) in [
        ("\n  why &amp; how\n", serde_json::json!({"$": "why & how"})),
        (&format!("why\n{closed}\n"), serde_json::json!({"$": "why", "closed": "2026-11-26T12:00:00Z"})),
        (&format!("\n{closed}\n"), serde_json::json!({"closed": "2026-11-26T12:00:00Z"})),
        ("  ", serde_json::json!({})),
    ] {
        let json = serde_json::to_value(echo.fault_detail(xml)).unwrap();
        assert_eq!(json, expected, "{xml}");
        let written = echo.fault_detail_from_json(&json).unwrap();
        assert_eq!(serde_json::to_value(echo.fault_detail(&written)).unwrap(), json, "{written}");
    }
    let refused = echo.fault_detail_from_json(&serde_json::json!({"$": "a\u{1}"})).unwrap_err();
    assert_eq!(refused.to_string(), "$: found the character U+0001, which is not allowed in XML");
}

#[test]
fn bytes_may_go_into_files() {
    let echo = operation(&contract("mtom"), "echo");
    let json = serde_json::json!({"photo": ["AAAA", "AAAAAAAA"], "typed": {"$": "BBBBBBBB"}});
    let value = echo.request_from_json(&json).unwrap();
    let mut number = 0;
    let files = move |bytes: &[u8]| {
        number += 1;
        match bytes.len() {
            0..4 => Ok(None),
            4..7 => Ok(Some(format!("{number} of {} bytes", bytes.len()))),
            _ => Err(std::io::Error::other("no room")),
        }
    };
    let written = with_files(files, || serde_json::to_value(&value).unwrap());
    assert_eq!(written["photo"], serde_json::json!(["AAAA", {"$file": "2 of 6 bytes"}]));
    assert!(written["typed"].to_string().contains("\"3 of 6 bytes\""), "{written}");
    // After the call, the function is no longer used.
    assert_eq!(serde_json::to_value(&value).unwrap()["photo"], json["photo"]);
    let value = echo.request_from_json(&serde_json::json!({"photo": ["AAAAAAAAAAAA"]})).unwrap();
    let refused = with_files(files, || serde_json::to_value(&value).unwrap_err());
    assert_eq!(refused.to_string(), "no room");
}

/// Details were written without their encoding, and only the first type of a name was used.
#[test]
fn details_of_faults_may_be_encoded() {
    let open = operation(&contract("encoded_faults"), "open");
    for (json, xsi_type) in [
        (serde_json::json!({"fault": {"by": "me"}}), "ns1:Locked"),
        (serde_json::json!({"fault": {"since": "2026-11-27"}}), "ns1:Lost"),
    ] {
        let written = open.fault_detail_from_json(&json).unwrap();
        assert!(
            written.contains(&format!("xsi:type=\"{xsi_type}\"")) && written.contains("encodingStyle"),
            "{written}"
        );
        open.check_fault_detail(&written).unwrap();
        assert_eq!(serde_json::to_value(open.fault_detail(&written)).unwrap(), json, "{written}");
    }
    let refused = open.fault_detail_from_json(&serde_json::json!({"fault": {"at": 1}})).unwrap_err();
    assert!(refused.to_string().starts_with("fault.at: "), "{refused}");
    let refused = open.fault_detail_from_json(&serde_json::json!({"other": 1})).unwrap_err();
    assert!(refused.to_string().ends_with("expected one of fault"), "{refused}");
}
