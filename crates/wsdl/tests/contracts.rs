//! Tests the exact model of the reference contracts.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::{Path, PathBuf};

use castile_wsdl::{BindingMessage, Definitions, Pattern, Protocol, Style, Use, Version};
use castile_xsd::components::{Compositor, Content, Particle, Term};
use castile_xsd::{ElementId, Schema, TypeId};

/// Reads a contract of the workloads, which must have no problems.
fn contract(path: &str) -> Definitions {
    let path: PathBuf = Path::new(castile_corpus::path!("workloads")).join(path);
    let (definitions, diagnostics) = castile_wsdl::read_file(&path);
    let printed: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert!(printed.is_empty(), "{}", printed.join("\n"));
    definitions.unwrap()
}

/// Returns a line for each operation: `echoInts [action] wrapped input -> output`.
fn operations(definitions: &Definitions) -> Vec<String> {
    let port = &definitions.services[0].ports[0];
    let binding = &definitions[port.binding];
    let element = |message: &Option<BindingMessage>| {
        let message = message.as_ref().unwrap();
        assert_eq!(message.use_, Use::Literal);
        definitions.schema[message.element().unwrap()].name.local().to_owned()
    };
    let line = |operation: &castile_wsdl::BindingOperation| {
        assert_eq!((operation.style, operation.pattern), (Style::Document, Pattern::RequestResponse));
        assert!(operation.faults.is_empty());
        let wrapped = if operation.wrapped.is_some() { "wrapped" } else { "bare" };
        let action = operation.soap_action.as_deref().unwrap_or("none");
        format!(
            "{} [{action}] {wrapped} {} -> {}",
            operation.name,
            element(&operation.input),
            element(&operation.output)
        )
    };
    binding.operations.iter().map(line).collect()
}

/// Formats a type as one line: `{a xs:int, b Other[0..*]}`.
fn describe(schema: &Schema, type_id: TypeId) -> String {
    match schema.content(type_id) {
        Content::Empty => "{}".into(),
        Content::ElementOnly(particle) => format!("{{{}}}", describe_group(schema, &particle)),
        other => panic!("{other:?}"),
    }
}

fn describe_group(schema: &Schema, particle: &Particle) -> String {
    assert!(particle.is_once());
    let Term::Group(group) = &particle.term else { panic!("{particle:?}") };
    let children: Vec<String> = group.particles.iter().map(|particle| describe_element(schema, particle)).collect();
    match group.compositor {
        Compositor::Sequence => children.join(", "),
        Compositor::All => children.join(" & "),
        Compositor::Choice => children.join(" | "),
    }
}

fn describe_element(schema: &Schema, particle: &Particle) -> String {
    let Term::Element(id) = particle.term else { panic!("{particle:?}") };
    let element = &schema[id];
    let of = match element.type_id.builtin() {
        Some(builtin) => format!("xs:{}", builtin.name()),
        None => {
            schema[element.type_id].name().map_or_else(|| describe(schema, element.type_id), |name| name.local().into())
        }
    };
    let nil = if element.nillable { "?nil" } else { "" };
    let occurs = match (particle.min_occurs, particle.max_occurs) {
        (1, Some(1)) => String::new(),
        (min, Some(max)) => format!("[{min}..{max}]"),
        (min, None) => format!("[{min}..*]"),
    };
    format!("{} {of}{nil}{occurs}", element.name.local())
}

/// Formats every global element and named type.
fn components(definitions: &Definitions) -> Vec<String> {
    let schema = &definitions.schema;
    let element = |id: ElementId| {
        let type_id = schema[id].type_id;
        let of = schema[type_id].name().map_or_else(|| describe(schema, type_id), |name| name.local().to_owned());
        format!("{}: {of}", schema[id].name.local())
    };
    let types = schema
        .global_types()
        .map(|id| format!("type {}: {}", schema[id].name().unwrap().local(), describe(schema, id)));
    schema.global_elements().map(element).chain(types).collect()
}

#[castile_corpus::needs("workloads")]
#[test]
fn codec() {
    let definitions = contract("codec/codec.wsdl");
    assert_eq!(
        operations(&definitions),
        ["echoStructs [] wrapped echoStructs -> echoStructsResponse", "order [] wrapped order -> orderResponse"]
    );
    assert_eq!(
        components(&definitions),
        [
            "echoStructs: {item Item[0..*]}",
            "echoStructsResponse: {item Item[0..*]}",
            "order: {orderId xs:int, orderStatus xs:int, orderDate xs:string, orderTotalAmount xs:double, \
             customer Customer, lineItem LineItem[0..*]}",
            "orderResponse: {}",
            "type Item: {i xs:int, f xs:double, s xs:string}",
            "type Address: {firstName xs:string, lastName xs:string, address1 xs:string, address2 xs:string, \
             city xs:string, state xs:string, zip xs:string, country xs:string}",
            "type Customer: {customerId xs:int, contactFirstName xs:string, contactLastName xs:string, \
             contactPhone xs:string, lastActivityDate xs:string, creditCardNumber xs:string, \
             creditCardExpirationDate xs:string, billingAddress Address, shippingAddress Address}",
            "type LineItem: {orderId xs:int, itemId xs:int, productId xs:int, productDescription xs:string, \
             quantity xs:int, unitPrice xs:double}",
        ]
    );
    let service = definitions.service("Codec").unwrap();
    assert_eq!(service.ports[0].address.as_deref(), Some("http://localhost/codec"));
    let namespaces = definitions.schema.elements().map(|(_, element)| element.name.namespace());
    assert!(namespaces.skip(1).all(|namespace| namespace == "http://example.com/bench"));
}

#[castile_corpus::needs("workloads")]
#[test]
fn benchmark1() {
    let definitions = contract("benchmark1/Benchmark.wsdl");
    let mut expected = Vec::new();
    for direction in ["echo", "receive", "send"] {
        for what in ["Void", "Base64", "Strings", "Ints", "Doubles", "SimpleEvents", "MeshInterfaceObjects"] {
            let name = format!("{direction}{what}");
            match what {
                "Void" if direction != "echo" => {}
                "SimpleEvents" | "MeshInterfaceObjects" => {
                    expected.push(format!("{name} [{name}] bare {name}Request -> {name}Response"));
                }
                _ => expected.push(format!("{name} [{name}] wrapped {name} -> {name}Response")),
            }
        }
    }
    assert_eq!(expected.len(), 19);
    assert_eq!(operations(&definitions), expected);
    let components = components(&definitions);
    for expected in [
        "echoVoid: {}",
        "echoVoidResponse: {}",
        "echoBase64: {input xs:base64Binary}",
        "echoStrings: {input xs:string[1..*]}",
        "echoStringsResponse: {echoStringsReturn xs:string[1..*]}",
        "receiveDoublesResponse: {receiveDoublesReturn xs:int}",
        "echoSimpleEventsRequest: {input ArrayOfSimpleEvent}",
        "echoMeshInterfaceObjectsResponse: {echoMeshInterfaceObjectReturn MeshInterfaceObject[1..*]}",
        "SimpleEvent: SimpleEvent",
        "type SimpleEvent: {sequenceNumber xs:int & timestamp xs:double & message xs:string}",
        "type ArrayOfSimpleEvent: {item SimpleEvent?nil[0..*]}",
        "type MeshInterfaceObject: {x xs:int & y xs:int & value xs:double}",
        "type ArrayOfMeshInterfaceObject: {item MeshInterfaceObject?nil[0..*]}",
    ] {
        assert!(components.iter().any(|component| component == expected), "{expected} is not in {components:#?}");
    }
    assert_eq!(components.len(), 38 + 4 + 4);
    let binding = &definitions[definitions.services[0].ports[0].binding];
    let Protocol::Soap { version, style, .. } = &binding.protocol else { panic!() };
    assert_eq!((*version, *style), (Version::Soap11, Style::Document));
}

/// A bare contract with the protocol's elements after those of WSDL.
#[castile_corpus::needs("workloads")]
#[test]
fn seismic() {
    let definitions = contract("seismic/SeismicService.wsdl");
    assert_eq!(operations(&definitions), ["process [] bare query -> results"]);
}

#[castile_corpus::needs("workloads")]
#[test]
fn wspex_and_styles() {
    let summary = |path: &str| -> Vec<String> {
        let definitions = contract(path);
        let bound = definitions.bindings.iter().flat_map(|binding| &binding.operations);
        let line = |operation: &castile_wsdl::BindingOperation| {
            format!("{} {:?} {}", operation.name, operation.style, operation.wrapped.is_some())
        };
        bound.map(line).collect()
    };
    let wspex = summary("wspex/wspex.wsdl");
    let [first, .., last] = wspex.as_slice() else { panic!("{wspex:?}") };
    assert_eq!(
        (first.as_str(), last.as_str(), wspex.len()),
        ("echoVoid Document true", "echoOrder Document false", 10)
    );
    assert_eq!(
        summary("styles/styles.wsdl"),
        [
            "submitDocument Rpc false",
            "submitDoc Document false",
            "submitString Document true",
            "submitAttachment Document true"
        ]
    );
}
