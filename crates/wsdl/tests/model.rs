//! Tests that each construct of WSDL 1.1 becomes the right part of the model.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use castile_wsdl::{Definitions, PartContent, Pattern, Protocol, Severity, Style, Use, Version};
use castile_xsd::{Builtin, Documents};

const NAMESPACES: &str = r#"xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"
    xmlns:http="http://schemas.xmlsoap.org/wsdl/http/" xmlns:mime="http://schemas.xmlsoap.org/wsdl/mime/"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t""#;

const TYPES: &str = r#"<types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:element name="do"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="doResponse"><xs:complexType/></xs:element>
    <xs:element name="token" type="xs:string"/>
    <xs:element name="problem" type="xs:string"/>
    <xs:complexType name="Thing"><xs:sequence/></xs:complexType>
  </xs:schema></types>
  <message name="in"><part name="body" element="t:do"/></message>
  <message name="out"><part name="body" element="t:doResponse"/></message>
  <message name="head"><part name="token" element="t:token"/></message>
  <message name="problem"><part name="fault" element="t:problem"/></message>
  <message name="rpcIn"><part name="a" type="xs:int"/><part name="b" type="t:Thing"/></message>"#;

const PORT_TYPE: &str = r#"<portType name="P"><operation name="do"><documentation>Does it.</documentation>
    <input message="t:in"/><output message="t:out"/><fault name="problem" message="t:problem"/></operation></portType>"#;

fn definitions(body: &str) -> String {
    format!(r#"<definitions name="D" targetNamespace="urn:t" {NAMESPACES}>{body}</definitions>"#)
}

fn read(body: &str) -> (Definitions, Vec<String>) {
    let documents = Documents::new().with("t.wsdl", definitions(body));
    let (definitions, diagnostics) = castile_wsdl::read("t.wsdl", &documents);
    let problems = diagnostics.iter().map(|d| format!("{:?} {}", d.severity, d.message)).collect();
    (definitions.unwrap(), problems)
}

/// Reads a contract that must have no problems.
fn clean(body: &str) -> Definitions {
    let (definitions, problems) = read(body);
    assert_eq!(problems, [""; 0], "{body}");
    definitions
}

fn binding(operation: &str) -> String {
    format!(
        r#"{TYPES}{PORT_TYPE}<binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
           <operation name="do">{operation}</operation></binding>"#
    )
}

#[test]
fn a_document_operation() {
    let definitions = clean(&binding(
        r#"<soap:operation soapAction="urn:do"/><input><soap:body use="literal"/></input>
           <output><soap:body use="literal"/></output><fault name="problem"><soap:fault name="problem" use="literal"/></fault>"#,
    ));
    let operation = &definitions.bindings[0].operations[0];
    assert_eq!((operation.style, operation.pattern), (Style::Document, Pattern::RequestResponse));
    assert_eq!(operation.soap_action.as_deref(), Some("urn:do"));
    assert_eq!(operation.documentation.as_deref(), Some("Does it."));
    let wrapped = operation.wrapped.unwrap();
    assert_eq!(definitions.schema[wrapped.input].name.local(), "do");
    assert_eq!(Some(wrapped.output.unwrap()), operation.output.as_ref().unwrap().element());
    let fault = &operation.faults[0];
    let Some(PartContent::Element(element)) = fault.part.as_ref().map(|part| part.content) else { panic!() };
    assert_eq!((fault.name.as_str(), definitions.schema[element].name.local()), ("problem", "problem"));
    assert_eq!(operation.input.as_ref().unwrap().name, "doRequest");
    assert_eq!(operation.output.as_ref().unwrap().name, "doResponse");
}

#[test]
fn protocol_elements_are_allowed_anywhere() {
    let definitions = clean(&format!(
        r#"<service name="S"><port name="p" binding="t:B"><documentation>here</documentation><soap:address location=" http://h/ "/></port></service>
           <binding name="B" type="t:P"><operation name="do"><input><soap:body use="literal"/></input><output/>
           <soap:operation soapAction="a" style="rpc"/></operation><soap12:binding style="document" transport="x"/></binding>{PORT_TYPE}{TYPES}"#
    ).replace("t:in\"", "t:rpcIn\"").replace("<output message=\"t:out\"/>", "").replace("<output/>", ""));
    let binding = &definitions.bindings[0];
    assert_eq!(
        binding.protocol,
        Protocol::Soap { version: Version::Soap12, transport: "x".into(), style: Style::Document }
    );
    let operation = &binding.operations[0];
    assert_eq!((operation.style, operation.pattern), (Style::Rpc, Pattern::OneWay));
    let port = &definitions.service("S").unwrap().ports[0];
    assert_eq!((port.address.as_deref(), port.documentation.as_deref()), (Some("http://h/"), Some("here")));
}

#[test]
fn rpc_encoded() {
    let definitions = clean(&format!(
        r#"{TYPES}<portType name="P"><operation name="call" parameterOrder="b a"><input message="t:rpcIn"/></operation></portType>
           <binding name="B" type="t:P"><soap:binding style="rpc" transport="x"/><operation name="call"><soap:operation soapAction=""/>
           <input><soap:body use="encoded" namespace="urn:n" encodingStyle="urn:e"/></input></operation></binding>"#
    ));
    let operation = &definitions.bindings[0].operations[0];
    let input = operation.input.as_ref().unwrap();
    assert_eq!((operation.style, input.use_), (Style::Rpc, Use::Encoded));
    assert_eq!((input.namespace.as_deref(), input.encoding_style.as_deref()), (Some("urn:n"), Some("urn:e")));
    let PartContent::Type(a) = input.body[0].content else { panic!() };
    assert_eq!(a.builtin(), Some(Builtin::Int));
    assert_eq!((operation.wrapped, operation.soap_action.as_deref()), (None, Some("")));
    assert_eq!(definitions.port_types[0].operations[0].parameter_order, ["b", "a"]);
}

#[test]
fn headers_and_attachments() {
    let definitions = clean(&binding(
        r#"<input><mime:multipartRelated><mime:part><soap:body use="literal" parts="body"/>
             <soap:header message="t:head" part="token" use="literal"><soap:headerfault message="t:problem" part="fault" use="literal"/></soap:header></mime:part>
             <mime:part><mime:content part="file" type="image/gif"/><mime:content part="file" type="image/png"/></mime:part></mime:multipartRelated></input>
           <output><soap:body use="literal"/></output>"#,
    ));
    let input = definitions.bindings[0].operations[0].input.as_ref().unwrap();
    assert_eq!(input.body.len(), 1);
    assert_eq!(
        (input.headers[0].part.name.as_str(), input.headers[0].faults[0].part.name.as_str()),
        ("token", "fault")
    );
    assert_eq!(input.attachments[0].media_types, ["image/gif", "image/png"]);
}

#[test]
fn a_part_in_a_header_is_not_in_the_body() {
    let types = TYPES.replace(r#"<message name="in">"#, r#"<message name="in"><part name="h" element="t:token"/>"#);
    let definitions = clean(&format!(
        r#"{types}{PORT_TYPE}<binding name="B" type="t:P"><soap:binding transport="x"/><operation name="do">
           <input><soap:header message="t:in" part="h" use="literal"/><soap:body use="literal"/></input></operation></binding>"#
    ));
    let input = definitions.bindings[0].operations[0].input.as_ref().unwrap();
    assert_eq!(input.body.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["body"]);
}

#[test]
fn wrapped_operations_are_recognised() {
    for (element, name, expected) in [
        ("<xs:sequence><xs:element name='x'/></xs:sequence>", "do", true),
        ("", "do", true),
        ("<xs:sequence/>", "do", true),
        ("<xs:sequence><xs:element name='x'/></xs:sequence>", "other", false),
        ("<xs:choice><xs:element name='x'/><xs:element name='y'/></xs:choice>", "do", false),
        ("<xs:all><xs:element name='x'/><xs:element name='y'/></xs:all>", "do", false),
        ("<xs:sequence><xs:any/></xs:sequence>", "do", false),
        ("<xs:sequence><xs:element ref='t:token'/></xs:sequence>", "do", false),
        ("<xs:sequence maxOccurs='2'><xs:element name='x'/><xs:element name='y'/></xs:sequence>", "do", false),
        ("<xs:sequence/><xs:attribute name='x'/>", "do", false),
        ("<xs:simpleContent><xs:extension base='xs:int'/></xs:simpleContent>", "do", false),
    ] {
        let types = TYPES.replace(
            r#"<xs:complexType><xs:sequence><xs:element name="x" type="xs:int"/></xs:sequence></xs:complexType>"#,
            &format!("<xs:complexType>{element}</xs:complexType>"),
        );
        let port_type = PORT_TYPE.replace("\"do\"", &format!("\"{name}\""));
        let definitions = clean(&format!(
            r#"{types}{port_type}<binding name="B" type="t:P"><soap:binding transport="x"/><operation name="{name}"/></binding>"#
        ));
        assert_eq!(definitions.bindings[0].operations[0].wrapped.is_some(), expected, "{element} {name}");
    }
}

#[test]
fn operations_of_one_name() {
    let definitions = clean(&format!(
        r#"{TYPES}<portType name="P"><operation name="do"><input name="one" message="t:in"/></operation>
             <operation name="do"><input name="two" message="t:head"/></operation></portType>
           <binding name="B" type="t:P"><soap:binding transport="x"/><operation name="do"><input name="two"/></operation>
             <operation name="do"><input name="one"/></operation></binding>"#
    ));
    let indices: Vec<usize> = definitions.bindings[0].operations.iter().map(|operation| operation.operation).collect();
    assert_eq!(indices, [1, 0]);
    assert_eq!(
        definitions
            .operation(definitions.binding_ids().next().unwrap(), &definitions.bindings[0].operations[0])
            .input
            .as_ref()
            .unwrap()
            .name,
        "two"
    );
}

#[test]
fn operations_of_one_name_are_found_by_the_names_of_both_messages() {
    let port_type = r#"<portType name="P">
        <operation name="do"><input name="one" message="t:in"/><output name="first" message="t:in"/></operation>
        <operation name="do"><input name="two" message="t:in"/><output name="first" message="t:in"/></operation>
        <operation name="do"><input name="three" message="t:in"/><output name="other" message="t:in"/></operation>
        <operation name="do"><output name="other" message="t:in"/></operation></portType>"#;
    for (messages, expected) in [
        (r#"<input name=" two "/>"#, Some(1)),
        (r#"<input name="two"/><output name="first"/>"#, Some(1)),
        (r#"<output name="first"/>"#, Some(0)),
        (r#"<input/><output name="other"/>"#, Some(2)),
        ("", Some(0)),
        (r#"<input name="two"/><output name="other"/>"#, None),
        (r#"<input name="four"/>"#, None),
        (r#"<output name="none"/>"#, None),
    ] {
        let (definitions, diagnostics) = read(&format!(
            r#"{TYPES}{port_type}<binding name="B" type="t:P"><soap:binding transport="x"/><operation name="do">{messages}</operation></binding>"#
        ));
        let found = definitions.bindings[0].operations.first().map(|operation| operation.operation);
        assert_eq!((found, diagnostics.is_empty()), (expected, expected.is_some()), "{messages}: {diagnostics:?}");
    }
}

#[test]
fn documents_import_documents() {
    let documents = Documents::new()
        .with("a/main.wsdl", definitions(r#"<import namespace="urn:t" location="../b/parts.wsdl"/><import namespace="urn:x" location="../b/x.xsd"/>
            <service name="S"><port name="p" binding="t:B"/></service>"#))
        .with("b/parts.wsdl", definitions(&format!(r#"<import namespace="urn:t" location="../a/main.wsdl"/>{TYPES}{PORT_TYPE}
            <binding name="B" type="t:P"><soap:binding transport="x"/><operation name="do"/></binding>"#)))
        .with("b/x.xsd", "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:x'><xs:element name='e'/></xs:schema>");
    let (definitions, diagnostics) = castile_wsdl::read("a/main.wsdl", &documents);
    assert_eq!(diagnostics, []);
    let definitions = definitions.unwrap();
    assert_eq!(definitions[definitions.services[0].ports[0].binding].operations.len(), 1);
    assert!(definitions.schema.find_element(&castile_xsd::ExpandedName::new("urn:x", "e")).is_some());
    assert_eq!(definitions.sources.names().collect::<Vec<_>>(), ["a/main.wsdl", "b/parts.wsdl", "b/x.xsd"]);
}

#[test]
fn several_schemas_of_one_namespace() {
    let definitions = clean(
        r#"<types>
             <xs:schema targetNamespace="urn:t"><xs:element name="a" type="t:A"/></xs:schema>
             <xs:schema targetNamespace="urn:o" xmlns:o="urn:o"><xs:import namespace="urn:t"/><xs:element name="o" type="t:A"/></xs:schema>
             <xs:schema targetNamespace="urn:t"><xs:complexType name="A"/></xs:schema>
           </types>"#,
    );
    assert_eq!(definitions.schema.global_elements().len(), 2);
}

#[test]
fn policies_are_stored() {
    let policy = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy'><p:All/></p:Policy>";
    let definitions = clean(policy);
    assert_eq!(definitions.extensions[0].source, policy);
    assert_eq!(definitions.extensions[0].name.local(), "Policy");
}

#[test]
fn problems_are_collected_and_the_rest_is_read() {
    for (body, severity, message) in [
        (
            "<message name='m'><part name='p' element='t:gone'/></message>",
            Severity::Error,
            "element {urn:t}gone of part p is not defined",
        ),
        (
            "<message name='m'><part name='p' element='t:Thing'/></message>",
            Severity::Error,
            "there is a type of this name",
        ),
        ("<message name='m'><part name='p'/></message>", Severity::Error, "neither `element` nor `type`"),
        ("<message name='in'/>", Severity::Error, "message {urn:t}in is defined twice"),
        (
            "<portType name='Q'><operation name='o'><input message='t:gone'/></operation></portType>",
            Severity::Error,
            "message {urn:t}gone is not defined",
        ),
        ("<portType name='Q'><operation name='o'/></portType>", Severity::Error, "no input and no output"),
        ("<binding name='C' type='t:Gone'/>", Severity::Error, "port type {urn:t}Gone is not defined"),
        (
            "<binding name='C' type='t:P'><soap:binding/><operation name='gone'/></binding>",
            Severity::Error,
            "has no operation gone",
        ),
        ("<binding name='C' type='t:P'/>", Severity::Note, "has no protocol"),
        ("<binding name='C' type='t:P'><http:binding verb='GET'/></binding>", Severity::Note, "HTTP GET without SOAP"),
        (
            "<binding name='C' type='t:P'><x:binding xmlns:x='urn:jms'/></binding>",
            Severity::Warning,
            "namespace \"urn:jms\"",
        ),
        (
            "<binding name='C' type='t:P'><soap:binding style='wrapped'/></binding>",
            Severity::Error,
            "style is \"wrapped\"",
        ),
        (
            "<binding name='C' type='t:P'><soap:binding/><operation name='do'><input><soap:body parts='x'/></input></operation></binding>",
            Severity::Error,
            "has no part x",
        ),
        (
            "<service name='S'><port name='p' binding='t:Gone'/></service>",
            Severity::Error,
            "binding {urn:t}Gone is not defined",
        ),
        ("<service/>", Severity::Error, "<service> has no `name`"),
        ("<import namespace='urn:x' location='gone.wsdl'/>", Severity::Error, "gone.wsdl is not found"),
        ("<x:y xmlns:x='urn:x'/>", Severity::Note, "extension {urn:x}y is not interpreted"),
        ("<x:y xmlns:x='urn:x' wsdl:required='true'/>", Severity::Warning, "extension {urn:x}y is not interpreted"),
        (
            "<types><s:schema xmlns:s='http://www.w3.org/1999/XMLSchema'/></types>",
            Severity::Error,
            "is not an XML Schema",
        ),
        ("<interface/>", Severity::Error, "unexpected <interface>"),
    ] {
        let body = format!("{TYPES}{PORT_TYPE}{body}<service name='Rest'/>");
        let (definitions, diagnostics) =
            castile_wsdl::read("t.wsdl", &Documents::new().with("t.wsdl", definitions(&body)));
        let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        let found = diagnostics.iter().any(|d| d.severity == severity && d.line > 0 && d.to_string().contains(message));
        assert!(found, "{message:?} is not in {all:#?}");
        assert!(definitions.unwrap().service("Rest").is_some());
    }
}

#[test]
fn a_broken_binding_is_reported_once() {
    let (_, problems) = read(&format!(
        "{TYPES}<binding name='B' type='t:Gone'/><service name='S'><port name='p' binding='t:B'/></service>"
    ));
    assert_eq!(problems, ["Error port type {urn:t}Gone is not defined"]);
}

#[test]
fn documents_that_are_no_wsdl() {
    for (text, message) in [
        ("<html><p></html>", "end tag"),
        ("<html/>", "the document element is <html>"),
        ("<description xmlns='http://www.w3.org/ns/wsdl'/>", "WSDL 2.0"),
        ("", ""),
    ] {
        let (definitions, diagnostics) = castile_wsdl::read("t.wsdl", &Documents::new().with("t.wsdl", text));
        assert!(definitions.is_none() && diagnostics.len() == 1, "{text}");
        assert!(diagnostics[0].to_string().contains(message), "{text}: {}", diagnostics[0]);
    }
}
