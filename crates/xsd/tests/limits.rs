//! Tests that expensive contracts end within limits, and that diagnostics name the limit that was exceeded.

#[path = "hostile/shapes.rs"]
#[allow(dead_code, reason = "some of it is for tests of other crates")]
mod shapes;

use castile_xsd::components::{Annotation, AttributeDeclaration, Term, ValueConstraint};
use castile_xsd::{Diagnostic, Documents, Limits, Schema, Severity};

fn schema_of(body: &str) -> String {
    format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>\n{body}\n</xs:schema>"
    )
}

fn read(body: &str) -> (Schema, Vec<Diagnostic>) {
    castile_xsd::read("a.xsd", &Documents::new().with("a.xsd", schema_of(body).as_str()))
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().filter(|one| one.severity == Severity::Error).map(ToString::to_string).collect()
}

/// Counts the content of a schema type by type, with texts in units of 64 bytes. Any code that processes the whole
/// schema does at least this much work.
fn work(schema: &Schema) -> usize {
    let value = |constraint: &Option<ValueConstraint>| match constraint {
        Some(ValueConstraint::Default(text) | ValueConstraint::Fixed(text)) => text.len() / 64,
        None => 0,
    };
    let said = |annotation: &Annotation| annotation.documentation.as_ref().map_or(0, |text| text.len() / 64);
    schema
        .types()
        .filter(|(id, _)| id.builtin().is_none())
        .map(|(id, definition)| {
            let mut particles = 0;
            let content = schema.content(id);
            let mut open: Vec<_> = content.particle().into_iter().collect();
            while let Some(particle) = open.pop() {
                particles += 1;
                match &particle.term {
                    Term::Group(group) => open.extend(&group.particles),
                    Term::Element(id) => {
                        particles += value(&schema[*id].value_constraint) + said(&schema[*id].annotation)
                    }
                    _ => {}
                }
            }
            let facets = definition.as_simple().map_or(Vec::new(), |_| schema.facets(id));
            let facets: usize = facets.iter().map(|facet| 1 + facet.value.len() / 64 + said(&facet.annotation)).sum();
            let text_of = |one: &AttributeDeclaration| {
                value(&one.value_constraint) + said(&one.annotation) + one.name.local().len() / 64
            };
            let attributes = schema.attribute_uses(id);
            let attributes: usize = attributes.iter().map(|one| 1 + text_of(&schema[one.attribute])).sum();
            1 + particles + facets + attributes
        })
        .sum()
}

#[test]
fn every_shape_ends_within_the_limits() {
    let limits = Limits::default();
    for shape in shapes::SHAPES {
        let (schema, diagnostics) = read(&(shape.schema)(shape.size_of(20_000)));
        assert!(work(&schema) <= limits.total_size, "{}", shape.name);
        let most = 3 * (limits.diagnostics + 1);
        assert!(diagnostics.len() <= most, "{}: {} diagnostics", shape.name, diagnostics.len());
    }
}

/// A chain of types in which each includes the content of the previous one has quadratic size, up to a limit. No shape
/// grows faster.
#[test]
fn work_grows_as_the_contract_does() {
    for shape in shapes::SHAPES {
        let size = shape.size_of(6_000);
        let works = [size, 2 * size].map(|size| work(&read(&(shape.schema)(size)).0));
        assert!(works[1] <= 5 * works[0] + 1_000, "{}: {works:?}", shape.name);
    }
}

#[test]
fn errors_name_the_limit_and_the_place() {
    let chain = |n: usize| (shapes::shape("extensions_in_a_chain").unwrap().schema)(n);
    let small = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        limits
    };
    for (body, limits, expected) in [
        (chain(300), Limits::default(), "is derived from others in more than 200 steps"),
        (chain(40), small(|limits| limits.derivation = 20), "this is the limit `derivation`"),
        (chain(40), small(|limits| limits.type_size = 20), "this is the limit `type_size`"),
        (chain(40), small(|limits| limits.total_size = 100), "expected at most 100"),
        (chain(40), small(|limits| limits.components = 10), "this is the limit `components`"),
        (chain(40), small(|limits| limits.document_bytes = 1_000), "this is the limit `document_bytes`"),
        (
            (shapes::shape("unions_of_two_alike").unwrap().schema)(60),
            Limits::default(),
            "particles, attributes, facets and member types (each 64 bytes of text count as one), expected at most 100000",
        ),
        (
            (shapes::shape("default_in_a_group").unwrap().schema)(700),
            Limits::default(),
            "this is the limit `type_size`",
        ),
        (
            (shapes::shape("value_of_an_enumeration_inherited").unwrap().schema)(1_500),
            Limits::default(),
            "this is the limit `total_size`",
        ),
        (
            (shapes::shape("groups_of_two_alike").unwrap().schema)(60),
            Limits::default(),
            "this is the limit `type_size`",
        ),
        (
            (shapes::shape("substitutions_in_a_chain").unwrap().schema)(300),
            Limits::default(),
            "stands for others in more than 200 steps",
        ),
    ] {
        // There are two documents, so that the limit can be exceeded between them.
        let documents = Documents::new()
            .with(
                "a.xsd",
                schema_of("<xs:include schemaLocation='b.xsd'/><xs:include schemaLocation='c.xsd'/>").as_str(),
            )
            .with("b.xsd", schema_of(&body).as_str())
            .with("c.xsd", schema_of("").as_str());
        let (_, diagnostics) = castile_xsd::read_within("a.xsd", &documents, limits);
        let errors = errors(&diagnostics);
        let found = errors.iter().find(|error| error.contains(expected));
        let found = found.unwrap_or_else(|| panic!("expected {expected:?} in {:?}", errors.first()));
        assert!(found.contains(" --> ") && found.contains(".xsd"), "{found}");
    }
}

#[test]
fn too_many_documents_are_not_read() {
    let mut limits = Limits::default();
    limits.documents = 3;
    let includes: String = (0..9).map(|number| format!("<xs:include schemaLocation='{number}.xsd'/>")).collect();
    let mut documents = Documents::new().with("a.xsd", schema_of(&includes).as_str());
    for number in 0..9 {
        let body = format!("<xs:element name='e{number}'/>");
        documents = documents.with(&format!("{number}.xsd"), schema_of(&body).as_str());
    }
    let (schema, diagnostics) = castile_xsd::read_within("a.xsd", &documents, limits);
    // One of the elements is built in.
    assert_eq!(schema.elements().len() - 1, 2);
    let errors = errors(&diagnostics);
    assert!(errors.len() == 1 && errors[0].contains("has 4 documents, expected at most 3"), "{errors:?}");
}

#[test]
fn a_document_that_many_namespaces_include_counts_for_each() {
    let mut limits = Limits::default();
    limits.components = 1_000;
    let elements: String = (0..100).map(|number| format!("<xs:element name='e{number}'/>")).collect();
    let mut documents = Documents::new().with(
        "c.xsd",
        format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{elements}</xs:schema>").as_str(),
    );
    let mut imports = String::new();
    for number in 0..100 {
        imports += &format!("<xs:import namespace='urn:{number}' schemaLocation='{number}.xsd'/>");
        let text = format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:{number}'><xs:include schemaLocation='c.xsd'/></xs:schema>"
        );
        documents = documents.with(&format!("{number}.xsd"), text.as_str());
    }
    documents = documents.with("a.xsd", schema_of(&imports).as_str());
    let (schema, diagnostics) = castile_xsd::read_within("a.xsd", &documents, limits);
    assert!(schema.elements().len() < 1_200, "{}", schema.elements().len());
    assert!(errors(&diagnostics).iter().any(|error| error.contains("`components`")), "{diagnostics:?}");
}

/// Many namespaces include the same document, which has a long text.
#[test]
fn the_text_of_a_document_that_many_namespaces_include_counts_for_each() {
    let mut limits = Limits::default();
    limits.components = 1_000;
    let default = "a".repeat(6_400);
    let included = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='e' default='{default}'/></xs:schema>"
    );
    let mut documents = Documents::new().with("c.xsd", included.as_str());
    let mut imports = String::new();
    for number in 0..20 {
        imports += &format!("<xs:import namespace='urn:{number}' schemaLocation='{number}.xsd'/>");
        let text = format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:{number}'><xs:include schemaLocation='c.xsd'/></xs:schema>"
        );
        documents = documents.with(&format!("{number}.xsd"), text.as_str());
    }
    documents = documents.with("a.xsd", schema_of(&imports).as_str());
    let (schema, diagnostics) = castile_xsd::read_within("a.xsd", &documents, limits);
    // Each inclusion adds slightly more than 100 to the count.
    let elements = schema.elements().filter(|(_, element)| element.name.local() == "e").count();
    assert_eq!(elements, 10);
    assert!(errors(&diagnostics).iter().any(|error| error.contains("`components`")), "{diagnostics:?}");
}

/// Many namespaces include the same document, which includes another one many times.
#[test]
fn includes_of_a_document_that_many_namespaces_include_count_for_each() {
    let mut limits = Limits::default();
    limits.components = 1_000;
    let mut includes = String::new();
    let schema = |namespace: &str, body: &str| {
        format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' {namespace}>{body}</xs:schema>")
    };
    let mut imports = String::new();
    let mut documents = Documents::new().with("d.xsd", schema("", "").as_str());
    for number in 0..50 {
        includes += "<xs:include schemaLocation='d.xsd'/>";
        imports += &format!("<xs:import namespace='urn:{number}' schemaLocation='{number}.xsd'/>");
        let text = schema(&format!("targetNamespace='urn:{number}'"), "<xs:include schemaLocation='c.xsd'/>");
        documents = documents.with(&format!("{number}.xsd"), text.as_str());
    }
    documents = documents.with("c.xsd", schema("", &includes).as_str()).with("a.xsd", schema_of(&imports).as_str());
    let (_, diagnostics) = castile_xsd::read_within("a.xsd", &documents, limits);
    let found = errors(&diagnostics);
    assert!(
        found.len() == 1 && found[0].contains("expected at most 1000") && found[0].contains("imports and includes"),
        "{found:?}"
    );
    limits.components = 10_000;
    assert_eq!(errors(&castile_xsd::read_within("a.xsd", &documents, limits).1), [""; 0]);
}

#[test]
fn expensive_patterns_are_reported_once() {
    // The second one was estimated to cost what its last bracket costs.
    for name in ["patterns_with_large_counts", "patterns_that_repeat_classes_in_brackets"] {
        let (_, diagnostics) = read(&(shapes::shape(name).unwrap().schema)(60));
        let told = diagnostics.iter().filter(|one| one.message.contains("cost more than 500000 to compile"));
        assert_eq!(told.count(), 1, "{name}: {diagnostics:?}");
    }
}

#[test]
fn expensive_values_are_reported_once() {
    for (name, size) in [("defaults_of_a_union", 1_900), ("default_of_many_patterns", 150)] {
        let mut limits = Limits::default();
        limits.diagnostics = 10_000;
        let schema = schema_of(&(shapes::shape(name).unwrap().schema)(size));
        let documents = Documents::new().with("a.xsd", schema.as_str());
        let (_, diagnostics) = castile_xsd::read_within("a.xsd", &documents, limits);
        let unchecked =
            |one: &&Diagnostic| one.message.contains("not all facets, defaults and fixed values are checked");
        assert_eq!(diagnostics.iter().filter(unchecked).count(), 1, "{name}: {:?}", diagnostics.first());
    }
}
