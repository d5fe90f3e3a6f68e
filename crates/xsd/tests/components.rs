//! Tests that each construct of XSD 1.0 becomes the component that Part 1 defines.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use castile_xsd::components::{
    Compositor, Content, FacetKind, NamespaceConstraint, Particle, ProcessContents, Term, TypeDefinition, Use,
    ValueConstraint, Variety, WhiteSpace,
};
use castile_xsd::{Builtin, Documents, ExpandedName, Schema, TypeId};

const HEAD: &str = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t" xmlns="urn:t""#;

/// Returns the schema with this body, which must have no problems.
fn schema(body: &str) -> Schema {
    let documents = Documents::new().with("t.xsd", format!("{HEAD}>{body}</xs:schema>"));
    let (schema, diagnostics) = castile_xsd::read("t.xsd", &documents);
    let printed: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert!(printed.is_empty(), "{}", printed.join("\n"));
    schema
}

fn type_id(schema: &Schema, local: &str) -> TypeId {
    schema.find_type(&ExpandedName::new("urn:t", local)).unwrap_or_else(|| panic!("no type {local}"))
}

/// Returns the content of a type in the notation of a DTD: `a, (b | c)*, #any?`.
fn content(schema: &Schema, local: &str) -> String {
    match schema.content(type_id(schema, local)) {
        Content::Empty => "empty".into(),
        Content::Simple(id) => format!("simple {}", schema.builtin(id).name()),
        Content::ElementOnly(particle) => particle_text(schema, &particle),
        Content::Mixed(particle) => format!("mixed {}", particle_text(schema, &particle)),
    }
}

fn particle_text(schema: &Schema, particle: &Particle) -> String {
    let term = match &particle.term {
        Term::Element(id) => schema[*id].name.local().to_owned(),
        Term::Wildcard(_) => "#any".into(),
        Term::GroupReference(id) => format!("&{}", schema[*id].name.local()),
        Term::Group(group) => {
            let parts: Vec<String> = group.particles.iter().map(|particle| particle_text(schema, particle)).collect();
            let between = match group.compositor {
                Compositor::Sequence => ", ",
                Compositor::Choice => " | ",
                Compositor::All => " & ",
            };
            format!("({})", parts.join(between))
        }
    };
    let occurs = match (particle.min_occurs, particle.max_occurs) {
        (1, Some(1)) => String::new(),
        (0, Some(1)) => "?".into(),
        (0, None) => "*".into(),
        (1, None) => "+".into(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    };
    term + &occurs
}

#[test]
fn content_models() {
    let e = |name: &str| format!(r#"<xs:element name="{name}" type="xs:int"/>"#);
    let (a, b, c) = (e("a"), e("b"), e("c"));
    for (body, expected) in [
        (String::new(), "empty"),
        ("<xs:sequence/>".into(), "empty"),
        (format!("<xs:sequence>{a}{b}</xs:sequence>"), "(a, b)"),
        (format!("<xs:choice maxOccurs='unbounded'>{a}{b}</xs:choice>"), "(a | b)+"),
        (format!("<xs:all>{a}<xs:element name='b' minOccurs='0'/></xs:all>"), "(a & b?)"),
        (format!("<xs:sequence minOccurs='0'>{a}{b}</xs:sequence>"), "(a, b)?"),
        // Redundant groups are removed.
        (format!("<xs:sequence>{a}<xs:sequence>{b}{c}</xs:sequence></xs:sequence>"), "(a, b, c)"),
        (format!("<xs:choice>{a}<xs:choice>{b}{c}</xs:choice></xs:choice>"), "(a | b | c)"),
        (format!("<xs:sequence><xs:choice>{a}</xs:choice></xs:sequence>"), "(a)"),
        (format!("<xs:sequence><xs:sequence maxOccurs='unbounded'>{a}</xs:sequence></xs:sequence>"), "(a+)"),
        (format!("<xs:sequence maxOccurs='3'><xs:sequence>{a}</xs:sequence></xs:sequence>"), "(a{1,3})"),
        (format!("<xs:sequence>{a}<xs:choice><xs:sequence>{b}</xs:sequence>{c}</xs:choice></xs:sequence>"), "(a, (b | c))"),
        // A choice with an empty branch may be empty.
        (format!("<xs:choice>{a}{b}<xs:sequence/></xs:choice>"), "(a | b)?"),
        // Groups that don't occur exactly once are kept.
        (format!("<xs:sequence>{a}<xs:sequence minOccurs='0'>{b}{c}</xs:sequence></xs:sequence>"), "(a, (b, c)?)"),
        (
            "<xs:sequence maxOccurs='2'><xs:element name='a' maxOccurs='2'/></xs:sequence>".into(),
            "(a{1,2}){1,2}",
        ),
        // maxOccurs="0" removes a particle.
        (format!("<xs:sequence>{a}<xs:element name='b' minOccurs='0' maxOccurs='0'/></xs:sequence>"), "(a)"),
        (format!("<xs:sequence>{a}<xs:any minOccurs='0' maxOccurs='unbounded'/></xs:sequence>"), "(a, #any*)"),
        ("<xs:group ref='g'/>".into(), "(x | y)"),
        (format!("<xs:sequence>{a}<xs:group ref='g' minOccurs='0'/></xs:sequence>"), "(a, (x | y)?)"),
        (format!("<xs:sequence>{a}<xs:group ref='s'/></xs:sequence>"), "(a, x, y)"),
        (
            format!("<xs:complexContent><xs:extension base='base'><xs:sequence>{a}</xs:sequence></xs:extension></xs:complexContent>"),
            "(first, second?, a)",
        ),
        (
            format!("<xs:complexContent><xs:extension base='base'><xs:choice>{a}{b}</xs:choice></xs:extension></xs:complexContent>"),
            "(first, second?, (a | b))",
        ),
        ("<xs:complexContent><xs:extension base='base'/></xs:complexContent>".into(), "(first, second?)"),
        (
            "<xs:complexContent><xs:restriction base='base'><xs:sequence><xs:element name='first'/></xs:sequence></xs:restriction></xs:complexContent>".into(),
            "(first)",
        ),
        ("<xs:simpleContent><xs:extension base='xs:decimal'/></xs:simpleContent>".into(), "simple decimal"),
        ("<xs:simpleContent><xs:extension base='value'/></xs:simpleContent>".into(), "simple string"),
    ] {
        let schema = schema(&format!(
            r#"<xs:group name="g"><xs:choice><xs:element name="x"/><xs:element name="y"/></xs:choice></xs:group>
               <xs:group name="s"><xs:sequence><xs:element name="x"/><xs:element name="y"/></xs:sequence></xs:group>
               <xs:complexType name="base"><xs:sequence><xs:element name="first"/><xs:element name="second" minOccurs="0"/></xs:sequence></xs:complexType>
               <xs:complexType name="value"><xs:simpleContent><xs:restriction base="value0"><xs:maxLength value="3"/></xs:restriction></xs:simpleContent></xs:complexType>
               <xs:complexType name="value0"><xs:simpleContent><xs:extension base="xs:string"/></xs:simpleContent></xs:complexType>
               <xs:complexType name="T">{body}</xs:complexType>"#
        ));
        assert_eq!(content(&schema, "T"), expected, "{body}");
    }
}

#[test]
fn mixed_content() {
    let schema = schema(
        r#"<xs:complexType name="A" mixed="true"><xs:sequence><xs:element name="b"/></xs:sequence></xs:complexType>
           <xs:complexType name="B" mixed="true"/>
           <xs:complexType name="C"><xs:complexContent mixed="true"><xs:extension base="A"/></xs:complexContent></xs:complexType>"#,
    );
    for (local, expected) in [("A", "mixed (b)"), ("B", "mixed ()"), ("C", "mixed (b)")] {
        assert_eq!(content(&schema, local), expected);
    }
}

#[test]
fn names_on_the_wire() {
    for (attributes, element, expected) in [
        ("", "", ""),
        ("elementFormDefault='qualified'", "", "urn:t"),
        ("elementFormDefault='qualified'", "form='unqualified'", ""),
        ("", "form='qualified'", "urn:t"),
    ] {
        let document = format!(
            "{HEAD} {attributes}><xs:complexType name='T'><xs:sequence><xs:element name='a' {element}/></xs:sequence></xs:complexType></xs:schema>"
        );
        let (schema, diagnostics) = castile_xsd::read("t.xsd", &Documents::new().with("t.xsd", document));
        assert!(diagnostics.is_empty());
        let content = schema.content(type_id(&schema, "T"));
        let Some(Particle { term: Term::Group(group), .. }) = content.particle() else { panic!() };
        let Term::Element(a) = group.particles[0].term else { panic!() };
        assert_eq!(schema[a].name.namespace(), expected, "{attributes} {element}");
    }
}

#[test]
fn elements() {
    let schema = schema(
        r#"<xs:element name="a" type="xs:int" nillable="true" default="1"/>
           <xs:element name="b" fixed="x" abstract="true"><xs:simpleType><xs:restriction base="xs:token"/></xs:simpleType></xs:element>
           <xs:element name="c" substitutionGroup="b"/>
           <xs:element name="d" substitutionGroup="c"/>
           <xs:element name="e"><xs:annotation><xs:documentation>One.</xs:documentation><xs:documentation>
               Two.
           </xs:documentation><xs:appinfo>info</xs:appinfo></xs:annotation></xs:element>"#,
    );
    let find = |local: &str| schema.find_element(&ExpandedName::new("urn:t", local)).unwrap();
    let a = &schema[find("a")];
    assert_eq!((a.type_id.builtin(), a.nillable, a.is_abstract), (Some(Builtin::Int), true, false));
    assert_eq!(a.value_constraint, Some(ValueConstraint::Default("1".into())));
    let b = &schema[find("b")];
    assert_eq!(b.value_constraint, Some(ValueConstraint::Fixed("x".into())));
    assert!(b.is_abstract && schema[b.type_id].name().is_none());
    // An element without a type takes the type of its head, which may take it from its own head.
    assert_eq!((schema[find("c")].type_id, schema[find("d")].type_id), (b.type_id, b.type_id));
    assert_eq!(schema.substitutes(find("b")), [find("c"), find("d")]);
    let e = &schema[find("e")];
    assert_eq!(e.annotation.documentation.as_deref(), Some("One.\n\nTwo."));
    assert_eq!(e.annotation.appinfo.len(), 1);
    assert_eq!(e.type_id.builtin(), Some(Builtin::AnyType));
    let names: Vec<&str> = schema.global_elements().map(|id| schema[id].name.local()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
}

#[test]
fn attributes() {
    let schema = schema(
        r#"<xs:attribute name="lang" type="xs:language" default="en"/>
           <xs:attributeGroup name="g"><xs:attribute name="x" type="xs:int"/><xs:attributeGroup ref="h"/></xs:attributeGroup>
           <xs:attributeGroup name="h"><xs:attribute name="y" use="required"/><xs:anyAttribute namespace='##other'/></xs:attributeGroup>
           <xs:complexType name="base"><xs:attribute name="a" type="xs:string" fixed="1"/><xs:attribute ref="lang"/></xs:complexType>
           <xs:complexType name="extended"><xs:complexContent><xs:extension base="base"><xs:attributeGroup ref="g"/></xs:extension></xs:complexContent></xs:complexType>
           <xs:complexType name="restricted"><xs:complexContent><xs:restriction base="extended">
             <xs:attribute name="a" use="prohibited"/><xs:attribute name="x" type="xs:short" use="required"/></xs:restriction></xs:complexContent></xs:complexType>"#,
    );
    let uses = |local: &str| -> Vec<(String, Use, Option<Builtin>)> {
        let uses = schema.attribute_uses(type_id(&schema, local));
        uses.iter()
            .map(|u| (schema[u.attribute].name.to_string(), u.use_, schema[u.attribute].type_id.builtin()))
            .collect()
    };
    let optional = |name: &str, builtin| (name.to_owned(), Use::Optional, Some(builtin));
    let (a, lang) = (optional("a", Builtin::String), optional("{urn:t}lang", Builtin::Language));
    let y = ("y".to_owned(), Use::Required, Some(Builtin::AnySimpleType));
    assert_eq!(uses("base"), [a.clone(), lang.clone()]);
    assert_eq!(uses("extended"), [a, lang.clone(), optional("x", Builtin::Int), y.clone()]);
    assert_eq!(uses("restricted"), [lang, ("x".to_owned(), Use::Required, Some(Builtin::Short)), y]);
    let wildcard = schema.attribute_wildcard(type_id(&schema, "extended")).unwrap();
    assert_eq!(wildcard.namespaces, NamespaceConstraint::Not("urn:t".into()));
    assert_eq!(wildcard.process_contents, ProcessContents::Strict);
    assert_eq!(schema.attribute_wildcard(type_id(&schema, "restricted")), None);
}

#[test]
fn simple_types() {
    let schema = schema(
        r#"<xs:simpleType name="size"><xs:restriction base="xs:token"><xs:enumeration value="S"><xs:annotation><xs:documentation>small</xs:documentation></xs:annotation></xs:enumeration><xs:enumeration value="L"/></xs:restriction></xs:simpleType>
           <xs:simpleType name="small"><xs:restriction base="size"><xs:enumeration value="S"/></xs:restriction></xs:simpleType>
           <xs:simpleType name="code"><xs:restriction base="xs:string"><xs:pattern value="a"/><xs:pattern value="b"/><xs:whiteSpace value="replace"/></xs:restriction></xs:simpleType>
           <xs:simpleType name="code2"><xs:restriction base="code"><xs:pattern value="c"/><xs:maxLength value="2" fixed="true"/></xs:restriction></xs:simpleType>
           <xs:simpleType name="sizes"><xs:list itemType="size"/></xs:simpleType>
           <xs:simpleType name="few"><xs:restriction base="sizes"><xs:maxLength value="2"/></xs:restriction></xs:simpleType>
           <xs:simpleType name="either"><xs:union memberTypes="size xs:int"><xs:simpleType><xs:restriction base="xs:date"/></xs:simpleType></xs:union></xs:simpleType>"#,
    );
    let id = |local: &str| type_id(&schema, local);
    let values =
        |local: &str| -> Vec<&str> { schema.enumeration(id(local)).iter().map(|f| f.value.as_str()).collect() };
    assert_eq!((values("size"), values("small"), values("code")), (vec!["S", "L"], vec!["S"], vec![]));
    assert_eq!(schema.enumeration(id("size"))[0].annotation.documentation.as_deref(), Some("small"));
    assert_eq!(schema.builtin(id("small")), Builtin::Token);
    assert_eq!(schema.patterns(id("code2")), [vec!["c"], vec!["a", "b"]]);
    assert_eq!(schema.white_space(id("code2")), WhiteSpace::Replace);
    assert_eq!(schema.white_space(id("sizes")), WhiteSpace::Collapse);
    let max = schema.facets(id("code2")).into_iter().find(|facet| facet.kind == FacetKind::MaxLength).unwrap();
    assert_eq!((max.value.as_str(), max.fixed), ("2", true));
    let variety = |local: &str| match &schema[id(local)] {
        TypeDefinition::Simple(simple) => simple.variety.clone(),
        TypeDefinition::Complex(_) => panic!("{local} is complex"),
    };
    assert_eq!(variety("few"), Variety::List { item: id("size") });
    let Variety::Union { members } = variety("either") else { panic!() };
    let builtins: Vec<Builtin> = members.iter().map(|&member| schema.builtin(member)).collect();
    assert_eq!(builtins, [Builtin::Token, Builtin::Int, Builtin::Date]);
}

#[test]
fn simple_content_restricted() {
    let schema = schema(
        r#"<xs:complexType name="A"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="x"/></xs:extension></xs:simpleContent></xs:complexType>
           <xs:complexType name="B"><xs:simpleContent><xs:restriction base="A"><xs:enumeration value="1"/></xs:restriction></xs:simpleContent></xs:complexType>
           <xs:complexType name="C"><xs:simpleContent><xs:restriction base="B"/></xs:simpleContent></xs:complexType>"#,
    );
    let Content::Simple(value) = schema.content(type_id(&schema, "C")) else { panic!() };
    assert_eq!(schema.builtin(value), Builtin::String);
    assert_eq!(schema.enumeration(value).len(), 1);
    assert_eq!(schema.attribute_uses(type_id(&schema, "C")).len(), 1);
}

#[test]
fn wildcards() {
    for (attributes, expected) in [
        ("", NamespaceConstraint::Any),
        ("namespace='##any'", NamespaceConstraint::Any),
        ("namespace='##other'", NamespaceConstraint::Not("urn:t".into())),
        (
            "namespace='##local urn:x ##targetNamespace'",
            NamespaceConstraint::OneOf(vec!["".into(), "urn:x".into(), "urn:t".into()]),
        ),
    ] {
        let schema = schema(&format!(
            "<xs:complexType name='T'><xs:sequence><xs:any {attributes} processContents='lax'/></xs:sequence></xs:complexType>"
        ));
        let content = schema.content(type_id(&schema, "T"));
        let Some(Particle { term: Term::Group(group), .. }) = content.particle() else { panic!() };
        let Term::Wildcard(wildcard) = &group.particles[0].term else { panic!() };
        assert_eq!(wildcard.namespaces, expected);
        assert_eq!(wildcard.process_contents, ProcessContents::Lax);
    }
}

#[test]
fn identity_constraints_and_notations() {
    let schema = schema(
        r#"<xs:notation name="gif" public="image/gif" system="viewer"/>
           <xs:element name="a"><xs:complexType><xs:sequence><xs:element name="b" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
             <xs:key name="k"><xs:selector xpath="b"/><xs:field xpath="@id"/><xs:field xpath="."/></xs:key>
             <xs:keyref name="r" refer="k"><xs:selector xpath="c"/><xs:field xpath="@id"/><xs:field xpath="."/></xs:keyref></xs:element>"#,
    );
    let a = &schema[schema.find_element(&ExpandedName::new("urn:t", "a")).unwrap()];
    assert_eq!(a.identity_constraints.len(), 2);
    let fields: Vec<&str> = a.identity_constraints[0].fields.iter().map(|path| path.text.as_str()).collect();
    assert_eq!(fields, ["@id", "."]);
    assert_eq!(schema.notations()[0].public.as_deref(), Some("image/gif"));
}

#[test]
fn derived_types() {
    let schema = schema(
        r#"<xs:complexType name="A" abstract="true"/>
           <xs:complexType name="B"><xs:complexContent><xs:extension base="A"/></xs:complexContent></xs:complexType>
           <xs:complexType name="C"><xs:complexContent><xs:extension base="B"/></xs:complexContent></xs:complexType>"#,
    );
    let id = |local: &str| type_id(&schema, local);
    assert_eq!(schema.derived_types(id("A")), [id("B")]);
    assert!(schema.is_derived_from(id("C"), id("A")) && !schema.is_derived_from(id("A"), id("C")));
}
