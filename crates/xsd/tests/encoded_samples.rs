//! Tests samples in SOAP encoding against the schema and the rules of SOAP 1.1 §5 and SOAP 1.2 Part 2 §3.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::HashSet;

use castile_xml::tree::{Document, Element};
use castile_xsd::encoded::{Encoding, TypeKind};
use castile_xsd::sample::Samples;
use castile_xsd::{Builtin, Documents, ExpandedName, Schema, TypeId};

const SCHEMA: &str = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t"
      xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xmlns:w="http://schemas.xmlsoap.org/wsdl/">
    <xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
    <xs:complexType name="Node"><xs:all>
      <xs:element name="name" type="e:string"/>
      <xs:element name="next" type="t:Node" minOccurs="0"/>
    </xs:all></xs:complexType>
    <xs:complexType name="Leaf"><xs:complexContent><xs:extension base="t:Node"/></xs:complexContent></xs:complexType>
    <xs:complexType name="Marked"><xs:attribute name="mark" type="xs:int"/></xs:complexType>
    <xs:complexType name="Grid"><xs:complexContent><xs:restriction base="e:Array">
      <xs:attribute ref="e:arrayType" w:arrayType="xs:int[][,]"/>
    </xs:restriction></xs:complexContent></xs:complexType>
    <xs:complexType name="Names"><xs:complexContent><xs:restriction base="e:Array">
      <xs:sequence><xs:element name="name" type="xs:token" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
    </xs:restriction></xs:complexContent></xs:complexType>
  </xs:schema>"#;

fn schema() -> Schema {
    let (schema, diagnostics) = castile_xsd::read("a.xsd", &Documents::new().with("a.xsd", SCHEMA));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    schema
}

fn find(schema: &Schema, name: &str) -> TypeId {
    schema.find_type(&ExpandedName::new("urn:t", name)).unwrap()
}

/// Returns the contents of bodies that call `call` with one part of a type.
fn calls(schema: &Schema, encoding: Encoding, type_id: TypeId, has_references: bool) -> Vec<String> {
    let parts = [("part".to_owned(), type_id)];
    let samples = Samples::of_call(schema, encoding, ExpandedName::new("urn:c", "call"), parts);
    let samples = if has_references { samples.with_references() } else { samples };
    samples.map(|sample| format!("<body>{}</body>", sample.unwrap())).collect()
}

/// Returns all descendants of an element.
fn elements(element: Element<'_>) -> Vec<Element<'_>> {
    let mut found: Vec<_> = element.elements().collect();
    let mut next = 0;
    while let Some(&element) = found.get(next) {
        found.extend(element.elements());
        next += 1;
    }
    found
}

fn attribute<'d>(element: Element<'d>, namespace: &str, local: &str) -> Option<&'d str> {
    element.find_attribute(namespace, local).map(|attribute| attribute.value())
}

#[test]
fn types_are_written_in_soap_encoding() {
    let schema = schema();
    let names = |kind: &TypeKind| match kind {
        TypeKind::Simple => "text".to_owned(),
        TypeKind::Any => "anything".to_owned(),
        TypeKind::Literal => "literal".to_owned(),
        TypeKind::Struct(accessors) => {
            let names = accessors.iter().map(|accessor| schema[accessor.element].name.local());
            names.collect::<Vec<_>>().join(" ")
        }
        TypeKind::Array(items) => {
            let name = schema[items.type_id].name().map(ExpandedName::local).unwrap_or_default();
            format!("{name}{}{}", items.ranks, items.rank)
        }
    };
    for (name, expected) in
        [("Node", "name next"), ("Leaf", "name next"), ("Marked", "literal"), ("Grid", "int[]2"), ("Names", "token1")]
    {
        assert_eq!(names(&TypeKind::of(&schema, find(&schema, name))), expected, "{name}");
    }
    let encoding = |name: &str| schema.find_type(&ExpandedName::new(Encoding::Soap11.namespace(), name)).unwrap();
    assert_eq!(names(&TypeKind::of(&schema, encoding("string"))), "text");
    assert_eq!(names(&TypeKind::of(&schema, encoding("Array"))), "anyType1");
    assert_eq!(names(&TypeKind::of(&schema, Builtin::AnyType.into())), "anything");
}

/// The first sample has one of everything. In the others, values are nil, absent or of a derived type, or leave out
/// known types.
#[test]
fn accessors_are_there_and_not() {
    let schema = schema();
    let calls = calls(&schema, Encoding::Soap11, find(&schema, "Node"), false);
    let first = Document::parse(&calls[0]).unwrap();
    let call = first.root().elements().next().unwrap();
    assert_eq!((call.namespace(), call.local()), ("urn:c", "call"));
    let part = call.elements().next().unwrap();
    let inner: Vec<&str> = part.elements().map(|element| element.local()).collect();
    assert_eq!((part.namespace(), part.local(), inner), ("", "part", vec!["name", "next"]));
    let all = calls.concat();
    for expected in ["xsi:nil=\"true\"", ":Leaf\"", "<part>", "<name>", ":string\"", ":Node\""] {
        assert!(all.contains(expected), "{expected} in {all}");
    }
    assert!(!all.contains("href"), "{all}");
}

#[test]
fn arrays_declare_their_item_type() {
    let schema = schema();
    let mut sizes = HashSet::new();
    for call in calls(&schema, Encoding::Soap11, find(&schema, "Grid"), false) {
        let document = Document::parse(&call).unwrap();
        for array in elements(document.root()) {
            let Some(said) = attribute(array, Encoding::Soap11.namespace(), "arrayType") else { continue };
            let said = said.rsplit(':').next().unwrap();
            let count = array.elements().count();
            match said.strip_prefix("int[][").and_then(|said| said.strip_suffix(",2]")) {
                // An array with two dimensions, whose items are arrays.
                Some(size) => assert!(size.is_empty() || size.parse() == Ok(count / 2), "{said} of {count}"),
                None => assert!(said.starts_with("int["), "{said} of {count}"),
            }
            sizes.insert(said.to_owned());
        }
    }
    assert!(sizes.contains("int[][2,2]") && sizes.contains("int[][,2]") && sizes.contains("int[2]"), "{sizes:?}");
    let all = calls(&schema, Encoding::Soap12, find(&schema, "Names"), false).concat();
    for expected in [":arraySize=\"2\"", ":arraySize=\"*\"", ":itemType=\"xs:token\"", ":Array\""] {
        assert!(all.contains(expected), "{expected} in {all}");
    }
}

/// Each reference leads to a value: after the call in SOAP 1.1, within it in SOAP 1.2. Some values are shared, and some
/// references are circular.
#[test]
fn references_lead_to_values() {
    let schema = schema();
    for (encoding, namespace, reference) in
        [(Encoding::Soap11, "", "href"), (Encoding::Soap12, Encoding::Soap12.namespace(), "ref")]
    {
        let (mut shared, mut circles) = (0, 0);
        for call in calls(&schema, encoding, find(&schema, "Node"), true) {
            let document = Document::parse(&call).unwrap();
            let all = elements(document.root());
            let ids: Vec<(&str, Element<'_>)> =
                all.iter().filter_map(|element| Some((attribute(*element, namespace, "id")?, *element))).collect();
            assert_eq!(ids.iter().map(|(id, _)| id).collect::<HashSet<_>>().len(), ids.len(), "{call}");
            // In SOAP 1.2 the first occurrence is the value itself.
            let mut known: HashSet<&str> = match encoding {
                Encoding::Soap11 => HashSet::new(),
                Encoding::Soap12 => ids.iter().map(|(id, _)| *id).collect(),
            };
            for element in &all {
                let Some(link) = attribute(*element, namespace, reference) else { continue };
                let id = link.trim_start_matches('#');
                let target = ids.iter().find(|(known, _)| *known == id).map(|(_, target)| *target);
                let target = target.unwrap_or_else(|| panic!("{link} leads nowhere in {call}"));
                assert!(element.elements().next().is_none() && element.text().is_empty(), "{call}");
                shared += usize::from(!known.insert(id));
                let inside = elements(target);
                circles +=
                    usize::from(inside.iter().any(|inner| attribute(*inner, namespace, reference) == Some(link)));
            }
            assert_eq!(
                document.root().elements().count() > 1,
                encoding == Encoding::Soap11 && !ids.is_empty(),
                "{call}"
            );
        }
        assert!(shared > 0 && circles > 0, "{encoding:?}: {shared} are shared, {circles} in circles");
    }
}
