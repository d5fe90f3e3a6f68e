//! Tests how documents refer to each other: import, include, redefine, circles, namespaces without documents.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use castile_xsd::{Documents, ExpandedName, Schema, Severity};

/// Returns `<xs:schema …>` with the prefixes `t` and `o`, and with a target namespace unless it is empty.
fn document(namespace: &str, body: &str) -> String {
    let target =
        if namespace.is_empty() { String::new() } else { format!("targetNamespace='{namespace}' xmlns='{namespace}'") };
    format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' xmlns:o='urn:o' {target}>{body}</xs:schema>"
    )
}

fn read(documents: &[(&str, String)]) -> (Schema, Vec<String>) {
    let mut map = Documents::new();
    for (uri, text) in documents {
        map = map.with(uri, text.as_str());
    }
    let (schema, diagnostics) = castile_xsd::read(documents[0].0, &map);
    (schema, diagnostics.iter().map(|d| format!("{:?} {}:{} {}", d.severity, d.file, d.line, d.message)).collect())
}

fn base_of(schema: &Schema, namespace: &str, local: &str) -> String {
    let id = schema.find_type(&ExpandedName::new(namespace, local)).unwrap();
    schema[schema[id].base()].name().map(ToString::to_string).unwrap_or_default()
}

fn simple(name: &str, base: &str) -> String {
    format!("<xs:simpleType name='{name}'><xs:restriction base='{base}'/></xs:simpleType>")
}

#[test]
fn imports_go_round_in_circles() {
    let (schema, problems) = read(&[
        (
            "a.xsd",
            document(
                "urn:t",
                &format!("<xs:import namespace='urn:o' schemaLocation='dir/b.xsd'/>{}", simple("A", "o:B")),
            ),
        ),
        (
            "dir/b.xsd",
            document(
                "urn:o",
                &format!(
                    "<xs:import namespace='urn:t' schemaLocation='../a.xsd'/>{}{}",
                    simple("B", "xs:int"),
                    simple("C", "t:A")
                ),
            ),
        ),
    ]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(base_of(&schema, "urn:t", "A"), "{urn:o}B");
    assert_eq!(base_of(&schema, "urn:o", "C"), "{urn:t}A");
}

#[test]
fn includes_go_round_in_circles() {
    let (schema, problems) = read(&[
        ("a.xsd", document("urn:t", &format!("<xs:include schemaLocation='b.xsd'/>{}", simple("A", "t:B")))),
        ("b.xsd", document("urn:t", &format!("<xs:include schemaLocation='./a.xsd'/>{}", simple("B", "xs:int")))),
    ]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(base_of(&schema, "urn:t", "A"), "{urn:t}B");
}

#[test]
fn a_chameleon_gets_the_namespace_of_each_including_schema() {
    let (schema, problems) = read(&[
        (
            "a.xsd",
            document(
                "urn:t",
                "<xs:include schemaLocation='c.xsd'/><xs:import namespace='urn:o' schemaLocation='b.xsd'/>",
            ),
        ),
        ("b.xsd", document("urn:o", "<xs:include schemaLocation='c.xsd'/>")),
        ("c.xsd", document("", &format!("<xs:include schemaLocation='d.xsd'/>{}", simple("C", "D")))),
        ("d.xsd", document("", &simple("D", "xs:int"))),
    ]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(base_of(&schema, "urn:t", "C"), "{urn:t}D");
    assert_eq!(base_of(&schema, "urn:o", "C"), "{urn:o}D");
}

#[test]
fn a_redefinition_replaces_the_name() {
    let (schema, problems) = read(&[
        (
            "a.xsd",
            document(
                "urn:t",
                "<xs:redefine schemaLocation='b.xsd'>
                   <xs:complexType name='A'><xs:complexContent><xs:extension base='A'><xs:sequence><xs:element name='outer'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                 </xs:redefine>",
            ),
        ),
        (
            "b.xsd",
            document(
                "urn:t",
                "<xs:redefine schemaLocation='c.xsd'>
                   <xs:complexType name='A'><xs:complexContent><xs:extension base='A'><xs:sequence><xs:element name='middle'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                   <xs:attributeGroup name='g'><xs:attributeGroup ref='g'/><xs:attribute name='two'/></xs:attributeGroup>
                 </xs:redefine>",
            ),
        ),
        (
            "c.xsd",
            document(
                "urn:t",
                "<xs:complexType name='A'><xs:sequence><xs:element name='inner'/></xs:sequence><xs:attributeGroup ref='g'/></xs:complexType>
                 <xs:attributeGroup name='g'><xs:attribute name='one'/></xs:attributeGroup>",
            ),
        ),
    ]);
    assert_eq!(problems, [""; 0]);
    let a = schema.find_type(&ExpandedName::new("urn:t", "A")).unwrap();
    assert_eq!(schema.bases(a).count(), 4);
    let content = format!("{:?}", schema.content(a));
    assert_eq!(content.matches("Element(").count(), 3);
    assert_eq!(schema.attribute_uses(a).len(), 2);
    assert_eq!(schema.global_types().count(), 1);
}

#[test]
fn copies_are_no_clash_and_clashes_are_reported() {
    let import =
        "<xs:import namespace='urn:o' schemaLocation='b.xsd'/><xs:import namespace='urn:o' schemaLocation='c.xsd'/>";
    let (_, problems) = read(&[
        ("a.xsd", document("urn:t", import)),
        ("b.xsd", document("urn:o", &simple("B", "xs:int"))),
        ("c.xsd", document("urn:o", &format!("\n {} ", simple("B", "xs:int")))),
    ]);
    assert_eq!(problems, [""; 0]);
    let (_, problems) = read(&[
        ("a.xsd", document("urn:t", import)),
        ("b.xsd", document("urn:o", &simple("B", "xs:int"))),
        ("c.xsd", document("urn:o", &simple("B", "xs:long"))),
    ]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("Warning") && problems[0].contains("{urn:o}B is defined twice"), "{problems:?}");
    let (_, problems) = read(&[("a.xsd", document("urn:t", &(simple("A", "xs:int") + &simple("A", "xs:int"))))]);
    assert!(problems[0].starts_with("Error"), "{problems:?}");
}

#[test]
fn two_versions_of_a_schema_are_reported_once_without_consequences() {
    let version = |name: &str, element: &str| {
        let mut all = String::new();
        for number in 0..10 {
            all += &format!(
                "<xs:complexType name='Base{number}'><xs:sequence><xs:element name='{element}' minOccurs='0'/>\
                 </xs:sequence></xs:complexType>"
            );
            for restriction in 0..3 {
                all += &format!(
                    "<xs:complexType name='{name}{number}{restriction}'><xs:complexContent><xs:restriction \
                     base='t:Base{number}'><xs:sequence><xs:element name='{element}'/></xs:sequence></xs:restriction>\
                     </xs:complexContent></xs:complexType>"
                );
            }
        }
        document("urn:t", &all)
    };
    let both = "<xs:include schemaLocation='a.xsd'/><xs:include schemaLocation='b.xsd'/>";
    let (schema, problems) =
        read(&[("all.xsd", document("urn:t", both)), ("a.xsd", version("A", "old")), ("b.xsd", version("B", "new"))]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let expected =
        " define 10 components of urn:t twice, with different content: they seem to be two versions of one schema";
    assert!(problems[0].starts_with("Warning") && problems[0].contains(expected), "{problems:?}");
    assert_eq!(schema.global_types().count(), 10 + 30 + 30);
}

#[test]
fn documents_that_are_built_in() {
    let (schema, problems) = read(&[(
        "a.xsd",
        document(
            "urn:t",
            "<xs:import namespace='http://www.w3.org/XML/1998/namespace'/>
             <xs:import namespace='http://schemas.xmlsoap.org/soap/encoding/'/>
             <xs:complexType name='A'><xs:attribute ref='xml:lang'/></xs:complexType>
             <xs:complexType name='B' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'><xs:complexContent><xs:restriction base='e:Array'>
               <xs:attribute ref='e:arrayType' wsdl:arrayType='t:A[][2]' xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'/></xs:restriction></xs:complexContent></xs:complexType>",
        ),
    )]);
    assert_eq!(problems, [""; 0]);
    let b = schema.find_type(&ExpandedName::new("urn:t", "B")).unwrap();
    let uses = schema.attribute_uses(b);
    let array_type = uses.iter().find_map(|attribute_use| attribute_use.array_type.as_ref()).unwrap();
    assert_eq!((array_type.item.to_string().as_str(), array_type.dimensions.as_str()), ("{urn:t}A", "[][2]"));
}

#[test]
fn problems_have_a_position_and_the_rest_is_read() {
    let element = "<xs:element name='e' type='xs:int'/>";
    for (body, severity, message) in [
        ("<xs:element name='x' type='Missing'/>", Severity::Error, "type {urn:t}Missing is not defined"),
        ("<xs:element name='x' type='p:Y'/>", Severity::Error, "prefix \"p\" is not bound"),
        ("<xs:element/>", Severity::Error, "<element> has no `name`"),
        ("<xs:element name='a b'/>", Severity::Error, "\"a b\" is not a name"),
        ("<xs:elem/>", Severity::Error, "unexpected <elem> in <schema>"),
        ("<xs:element name='x' nillable='yes'/>", Severity::Error, "nillable is \"yes\""),
        ("<xs:element name='x' default='1' fixed='2'/>", Severity::Error, "`default` and `fixed`"),
        ("<xs:element name='x' colour='red'/>", Severity::Warning, "has an attribute `colour`"),
        ("<xs:include schemaLocation='gone.xsd'/>", Severity::Warning, "gone.xsd is not found"),
        (
            "<xs:redefine schemaLocation='gone.xsd'><xs:simpleType name='A'/></xs:redefine>",
            Severity::Error,
            "gone.xsd is not found",
        ),
        ("<xs:include/>", Severity::Error, "<include> has no schemaLocation"),
        (
            "<xs:import namespace='urn:o' schemaLocation='http://o/o.xsd'/>",
            Severity::Warning,
            "http://o/o.xsd is not found",
        ),
        ("<xs:import namespace='urn:o'/>", Severity::Warning, "no document of namespace \"urn:o\""),
        ("<xs:element name='x' type='o:Y'/>", Severity::Warning, "is not imported here"),
        ("<xs:simpleType name='A'><xs:restriction base='A'/></xs:simpleType>", Severity::Error, "derived from itself"),
        (
            "<xs:simpleType name='A'><xs:union memberTypes='A xs:int'/></xs:simpleType>",
            Severity::Error,
            "contains itself",
        ),
        ("<xs:simpleType name='A'/>", Severity::Error, "<simpleType> is empty"),
        (
            "<xs:simpleType name='A'><xs:restriction base='xs:int'><xs:length value='1'/></xs:restriction></xs:simpleType>",
            Severity::Error,
            "length is not a facet of xs:int",
        ),
        (
            "<xs:simpleType name='A'><xs:restriction base='xs:string'><xs:length value='x'/></xs:restriction></xs:simpleType>",
            Severity::Error,
            "length is \"x\"",
        ),
        (
            "<xs:group name='g'><xs:sequence><xs:group ref='g'/></xs:sequence></xs:group>",
            Severity::Error,
            "group {urn:t}g contains itself",
        ),
        (
            "<xs:attributeGroup name='g'><xs:attributeGroup ref='g'/></xs:attributeGroup>",
            Severity::Error,
            "contains itself",
        ),
        ("<xs:element name='x' substitutionGroup='x'/>", Severity::Error, "is in its own substitution group"),
        (
            "<xs:complexType name='A'><xs:complexContent><xs:extension base='A'/></xs:complexContent></xs:complexType>",
            Severity::Error,
            "derived from itself",
        ),
        (
            "<xs:complexType name='A'><xs:complexContent><xs:extension base='xs:int'/></xs:complexContent></xs:complexType>",
            Severity::Error,
            "simple type",
        ),
        (
            "<xs:complexType name='A'><xs:simpleContent><xs:extension base='B'/></xs:simpleContent></xs:complexType><xs:complexType name='B'/>",
            Severity::Error,
            "which has no simple content",
        ),
        (
            "<xs:complexType name='A'><xs:sequence><xs:element name='x' minOccurs='2'/></xs:sequence></xs:complexType>",
            Severity::Error,
            "minOccurs is 2 and maxOccurs is 1",
        ),
        (
            "<xs:complexType name='A'><xs:attribute name='x'/><xs:sequence/></xs:complexType>",
            Severity::Error,
            "unexpected <sequence>",
        ),
        (
            "<xs:complexType name='A' final='extension'/><xs:complexType name='B'><xs:complexContent><xs:extension base='A'/></xs:complexContent></xs:complexType>",
            Severity::Error,
            "`final` forbids",
        ),
    ] {
        let text = document("urn:t", &format!("\n{body}{element}"));
        let documents = Documents::new().with("a.xsd", text);
        let (schema, diagnostics) = castile_xsd::read("a.xsd", &documents);
        let found = diagnostics.iter().find(|d| d.severity == severity && d.to_string().contains(message));
        let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        let found = found.unwrap_or_else(|| panic!("{body}: expected {message:?} in {all:?}"));
        assert_eq!((&*found.file, found.line), ("a.xsd", 2), "{body}");
        assert!(schema.find_element(&ExpandedName::new("urn:t", "e")).is_some(), "{body}");
    }
}

#[test]
fn documents_that_are_no_schemas() {
    for (text, message) in [
        ("", "document"),
        ("<a>", "document ends"),
        ("<html/>", "is not a schema"),
        ("<schema xmlns='http://www.w3.org/1999/XMLSchema'/>", "is not a schema"),
    ] {
        let (_, diagnostics) = castile_xsd::read("a.xsd", &Documents::new().with("a.xsd", text));
        assert_eq!(diagnostics.len(), 1, "{text}");
        assert!(diagnostics[0].message.contains(message), "{text}: {}", diagnostics[0]);
    }
    let (_, diagnostics) = castile_xsd::read("gone.xsd", &Documents::new());
    assert_eq!(diagnostics[0].to_string(), "error: gone.xsd can't be read: no such document\n --> gone.xsd");
}

#[test]
fn long_chains_and_deep_nests_end() {
    // Chains of 5,000 types, groups, elements and attribute groups, each based on the next.
    let mut body = String::new();
    for index in 0..5_000 {
        let next = index + 1;
        body += &format!(
            "<xs:complexType name='T{index}'><xs:complexContent><xs:extension base='T{next}'/></xs:complexContent></xs:complexType>"
        );
        body += &format!("<xs:element name='e{index}' substitutionGroup='e{next}'/>");
        body += &format!("<xs:attributeGroup name='a{index}'><xs:attributeGroup ref='a{next}'/></xs:attributeGroup>");
        body += &format!("<xs:group name='g{index}'><xs:sequence><xs:group ref='g{next}'/></xs:sequence></xs:group>\n");
    }
    body += "<xs:complexType name='T5000'/><xs:element name='e5000'/><xs:attributeGroup name='a5000'/>\
             <xs:group name='g5000'><xs:sequence/></xs:group>";
    let (schema, problems) = read(&[("a.xsd", document("urn:t", &body))]);
    let are_of_size = |problem: &String| ["steps", "groups", "too large"].iter().any(|part| problem.contains(part));
    assert!(problems.iter().all(are_of_size), "{:?}", &problems[..problems.len().min(3)]);
    let first = schema.find_type(&ExpandedName::new("urn:t", "T0")).unwrap();
    assert!(schema.bases(first).count() <= 202);
    // A chain of groups, each of which refers to the next one twice.
    let mut body = String::new();
    for index in 0..60 {
        let reference = format!("<xs:group ref='g{}'/>", index + 1);
        body += &format!("<xs:group name='g{index}'><xs:sequence>{reference}{reference}</xs:sequence></xs:group>");
    }
    body += "<xs:group name='g60'><xs:sequence><xs:element name='e'/></xs:sequence></xs:group>\
             <xs:complexType name='T'><xs:group ref='g0'/></xs:complexType>";
    let (schema, problems) = read(&[("a.xsd", document("urn:t", &body))]);
    assert!(problems.iter().any(|problem| problem.contains("particles")), "{problems:?}");
    let _ = schema.content(schema.find_type(&ExpandedName::new("urn:t", "T")).unwrap());
    // Nested inline.
    let nest = format!(
        "<xs:complexType name='T'>{}{}</xs:complexType>",
        "<xs:sequence>".repeat(400),
        "</xs:sequence>".repeat(400)
    );
    let (_, problems) = read(&[("a.xsd", document("urn:t", &nest))]);
    assert!(problems.iter().any(|problem| problem.contains("nest more than")), "{problems:?}");
}

/// The checks of content models that are designed to be slow end.
#[test]
fn checks_of_large_content_models_end() {
    let elements = |range: &mut dyn Iterator<Item = usize>| -> String {
        range.map(|index| format!("<xs:element name='e{index}' minOccurs='0'/>")).collect()
    };
    let references = |what: &str| -> String { (0..2_000).map(|_| format!("<xs:element ref='{what}'/>")).collect() };
    let members: String =
        (0..2_000).map(|index| format!("<xs:element name='m{index}' substitutionGroup='h'/>")).collect();
    for body in [
        // A sequence of optional elements, where each may be followed by all later ones.
        format!("<xs:complexType name='T'><xs:sequence>{}</xs:sequence></xs:complexType>", elements(&mut (0..20_000))),
        // A large substitution group whose members may replace each of many references.
        format!("<xs:element name='h'/>{members}<xs:complexType name='T'><xs:sequence>{}</xs:sequence></xs:complexType>", references("h")),
        // A branch that matches only the last branch of the base.
        format!(
            "<xs:complexType name='B'><xs:choice>{}</xs:choice></xs:complexType>
             <xs:complexType name='T'><xs:complexContent><xs:restriction base='B'><xs:choice>{}</xs:choice></xs:restriction></xs:complexContent></xs:complexType>",
            elements(&mut (0..5_000)),
            elements(&mut (0..5_000).rev())
        ),
        // Nested repetitions.
        format!(
            "<xs:complexType name='T'>{}{}</xs:complexType>",
            (0..90).map(|index| format!("<xs:sequence minOccurs='0' maxOccurs='1000'><xs:element name='e{index}'/>")).collect::<String>(),
            "</xs:sequence>".repeat(90)
        ),
    ] {
        let (_, problems) = read(&[("a.xsd", document("urn:t", &body))]);
        let is_of_size = |problem: &String| problem.contains("too large") || problem.contains("expected at most");
        assert!(problems.iter().all(is_of_size), "{:?}", &problems[..problems.len().min(3)]);
    }
}
