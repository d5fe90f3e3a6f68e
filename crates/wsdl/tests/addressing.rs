//! Tests WS-Addressing in contracts: actions, and whether it is required.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use castile_wsdl::{Addressing, Definitions, Responses};
use castile_xsd::Documents;

/// Reads a contract with this target namespace, attributes of messages, and extensions at the top, in the binding and
/// in the port.
fn read(namespace: &str, attributes: [&str; 3], top: &str, binding: &str, port: &str) -> (Definitions, Vec<String>) {
    let [input, output, fault] = attributes;
    let text = format!(
        r#"<definitions targetNamespace="{namespace}" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="{namespace}"
    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:wsam="http://www.w3.org/2007/05/addressing/metadata" xmlns:wsaw="http://www.w3.org/2006/05/addressing/wsdl"
    xmlns:wsa="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:old="http://schemas.xmlsoap.org/ws/2004/09/policy"
    xmlns:wsp="http://www.w3.org/ns/ws-policy" xmlns:wsu="urn:wsu" xmlns:xs="http://www.w3.org/2001/XMLSchema">{top}
  <types><xs:schema targetNamespace="{namespace}"><xs:element name="e" type="xs:int"/></xs:schema></types>
  <message name="m"><part name="p" element="t:e"/></message>
  <portType name="P">
    <operation name="do"><input message="t:m" {input}/><output message="t:m" {output}/><fault name="f" message="t:m" {fault}/></operation>
    <operation name="say"><input message="t:m"/></operation>
    <operation name="act"><input message="t:m"/><output message="t:m"/></operation>
  </portType>
  <binding name="B" type="t:P">{binding}<soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="do"><soap:operation soapAction=""/></operation><operation name="say"/>
    <operation name="act"><soap:operation soapAction="urn:act"/></operation></binding>
  <service name="S"><port name="P" binding="t:B"><soap:address location="http://localhost/"/>{port}</port></service>
</definitions>"#
    );
    let documents = Documents::new().with("t.wsdl", text);
    let (definitions, diagnostics) = castile_wsdl::read("t.wsdl", &documents);
    (definitions.unwrap(), diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect())
}

#[test]
fn actions_are_declared_or_derived_from_names() {
    for (namespace, attributes, expected) in [
        ("urn:t", [""; 3], ["urn:t:P:doRequest", "urn:t:P:doResponse", "urn:t:P:do:Fault:f", "urn:t:P:say"]),
        (
            "http://t/n/",
            [""; 3],
            ["http://t/n/P/doRequest", "http://t/n/P/doResponse", "http://t/n/P/do/Fault/f", "http://t/n/P/say"],
        ),
        (
            "http://t/n",
            ["name='in'", "name='out'", ""],
            ["http://t/n/P/in", "http://t/n/P/out", "http://t/n/P/do/Fault/f", "http://t/n/P/say"],
        ),
        (
            "urn:t",
            ["wsam:Action='urn:1'", "wsaw:Action=' urn:2 '", "wsa:Action='urn:3'"],
            ["urn:1", "urn:2", "urn:3", "urn:t:P:say"],
        ),
        (
            "urn:t",
            ["wsam:Action=''", "", ""],
            ["urn:t:P:doRequest", "urn:t:P:doResponse", "urn:t:P:do:Fault:f", "urn:t:P:say"],
        ),
    ] {
        let (definitions, _) = read(namespace, attributes, "", "", "");
        let binding = &definitions.bindings[0];
        let [first, say, act] = binding.operations.as_slice() else { panic!("three operations") };
        let found = [
            definitions.request_action(binding, first),
            definitions.response_action(binding, first).unwrap(),
            definitions.fault_action(binding, first, "f"),
            definitions.request_action(binding, say),
        ];
        assert_eq!(found, expected);
        assert_eq!(definitions.response_action(binding, say), None);
        assert_eq!(definitions.request_action(binding, act), "urn:act", "the SOAPAction, where there is one");
    }
}

/// Formats a declaration in one or two words.
fn said(addressing: Option<Addressing>) -> String {
    let Some(Addressing { required, responses }) = addressing else { return "nothing".to_owned() };
    let degree = if required { "required" } else { "supported" };
    match responses {
        Responses::Anywhere => degree.to_owned(),
        other => format!("{degree} {other:?}"),
    }
}

#[test]
fn addressing_is_an_extension_or_a_policy() {
    for (extension, expected) in [
        ("", "nothing"),
        ("<wsaw:UsingAddressing/>", "supported"),
        ("<wsaw:UsingAddressing wsdl:required='true'/>", "required"),
        ("<wsaw:UsingAddressing wsdl:required='0'/>", "supported"),
        ("<wsp:Policy><wsam:Addressing/></wsp:Policy>", "required"),
        ("<wsp:Policy><wsam:Addressing wsp:Optional='true'/></wsp:Policy>", "supported"),
        (
            "<old:Policy><old:ExactlyOne><old:All><wsaw:UsingAddressing/></old:All></old:ExactlyOne></old:Policy>",
            "required",
        ),
        (
            "<wsp:Policy><wsp:ExactlyOne><wsp:All><wsam:Addressing/></wsp:All><wsp:All/></wsp:ExactlyOne></wsp:Policy>",
            "supported",
        ),
        ("<wsp:Policy><wsp:ExactlyOne><wsam:Addressing/></wsp:ExactlyOne></wsp:Policy>", "required"),
        ("<wsp:Policy><x xmlns='urn:x'><wsam:Addressing/></x></wsp:Policy>", "nothing"),
        (
            "<wsp:Policy><wsam:Addressing><wsp:Policy><wsam:NonAnonymousResponses/></wsp:Policy></wsam:Addressing></wsp:Policy>",
            "required NonAnonymous",
        ),
        (
            "<wsp:Policy><wsam:Addressing><wsp:Policy><wsp:ExactlyOne><wsp:All><wsam:AnonymousResponses/></wsp:All>\
             <wsp:All><wsam:NonAnonymousResponses/></wsp:All></wsp:ExactlyOne></wsp:Policy></wsam:Addressing></wsp:Policy>",
            "required",
        ),
        ("<wsp:PolicyReference URI='#known'/>", "required Anonymous"),
        ("<wsp:PolicyReference URI='#unknown'/>", "nothing"),
        ("<wsp:PolicyReference URI='http://elsewhere/'/>", "nothing"),
    ] {
        const TOP: &str = "<wsp:Policy wsu:Id='other'/><wsp:Policy wsu:Id='known'><wsam:Addressing><wsp:Policy>\
            <wsam:AnonymousResponses/></wsp:Policy></wsam:Addressing></wsp:Policy>";
        for (binding, port) in [(extension, ""), ("", extension)] {
            let (definitions, problems) = read("urn:t", [""; 3], TOP, binding, port);
            let found = definitions.addressing(&definitions.services[0].ports[0]);
            assert_eq!(said(found), expected, "{extension}");
            assert_eq!(problems, [""; 0], "{extension}");
        }
    }
}

/// A policy may be nested as deep as the document. WS-Addressing declarations need little of that.
#[test]
fn deep_policies_are_not_followed() {
    let deep = |depth: usize| {
        let (start, end) = ("<wsp:All>".repeat(depth), "</wsp:All>".repeat(depth));
        read("urn:t", [""; 3], "", &format!("<wsp:Policy>{start}<wsam:Addressing/>{end}</wsp:Policy>"), "").0
    };
    for (depth, expected) in [(10, "required"), (400, "nothing")] {
        let definitions = deep(depth);
        assert_eq!(said(definitions.addressing(&definitions.services[0].ports[0])), expected);
    }
}
