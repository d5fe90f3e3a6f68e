//! Formats components as text, to compare schemas from different documents.

use castile_xsd::components::{AttributeUse, Compositor, Content, Particle, Scope, Term, TypeDefinition, Variety};
use castile_xsd::{ElementId, Schema, TypeId};

/// Returns a line for each global component of `namespace`.
pub(crate) fn components(schema: &Schema, namespace: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for id in schema.global_types() {
        let name = schema[id].name().filter(|name| name.namespace() == namespace);
        lines.extend(name.map(|name| format!("type {}: {}", name.local(), definition(schema, id))));
    }
    for id in schema.global_elements().filter(|id| schema[*id].name.namespace() == namespace) {
        lines.push(format!("element {}", element(schema, id)));
    }
    for id in schema.global_attributes().filter(|id| schema[*id].name.namespace() == namespace) {
        let declaration = &schema[id];
        let (name, value) = (declaration.name.local(), &declaration.value_constraint);
        lines.push(format!("attribute {name}: {} {value:?}", type_name(schema, declaration.type_id)));
    }
    lines
}

fn type_name(schema: &Schema, id: TypeId) -> String {
    match schema[id].name() {
        Some(name) => name.to_string(),
        None => definition(schema, id),
    }
}

fn definition(schema: &Schema, id: TypeId) -> String {
    match &schema[id] {
        TypeDefinition::Simple(simple) => {
            let variety = match &simple.variety {
                Variety::Atomic => type_name(schema, simple.base),
                Variety::List { item } => format!("list of {}", type_name(schema, *item)),
                Variety::Union { members } => {
                    let members: Vec<String> = members.iter().map(|&member| type_name(schema, member)).collect();
                    format!("union of {}", members.join(" | "))
                }
            };
            let facets = simple.facets.iter().map(|facet| match &facet.name() {
                Some(name) if schema.builtin(id) == castile_xsd::Builtin::QName => format!(" {}={name}", facet.kind),
                _ => format!(" {}={:?}", facet.kind, facet.value),
            });
            variety + &facets.collect::<String>()
        }
        TypeDefinition::Complex(complex) => {
            let content = match schema.content(id) {
                Content::Empty => "empty".to_owned(),
                Content::Simple(value) => format!("simple {}", type_name(schema, value)),
                Content::ElementOnly(content) => particle(schema, &content),
                Content::Mixed(content) => format!("mixed {}", particle(schema, &content)),
            };
            let mut uses: Vec<String> = schema.attribute_uses(id).iter().map(|one| attribute(schema, one)).collect();
            uses.sort();
            let wildcard = schema.attribute_wildcard(id);
            format!(
                "{content} [{}] {wildcard:?} abstract={} final={:?} block={:?}",
                uses.join(", "),
                complex.is_abstract,
                complex.final_,
                complex.block
            )
        }
    }
}

fn attribute(schema: &Schema, attribute_use: &AttributeUse) -> String {
    let declaration = &schema[attribute_use.attribute];
    let (use_, value) = (attribute_use.use_, &attribute_use.value_constraint);
    format!("{} {} {use_:?} {value:?}", declaration.name, type_name(schema, declaration.type_id))
}

fn element(schema: &Schema, id: ElementId) -> String {
    let element = &schema[id];
    let (value, abstract_) = (&element.value_constraint, element.is_abstract);
    let name = type_name(schema, element.type_id);
    format!("{}: {name} nillable={} {value:?} abstract={abstract_}", element.name, element.nillable)
}

fn particle(schema: &Schema, particle: &Particle) -> String {
    let term = match &particle.term {
        Term::Element(id) if schema[*id].scope == Scope::Global => format!("ref {}", schema[*id].name),
        Term::Element(id) => format!("({})", element(schema, *id)),
        Term::Wildcard(wildcard) => format!("{wildcard:?}"),
        Term::GroupReference(id) => format!("group {}", schema[*id].name),
        Term::Group(group) => {
            let parts: Vec<String> = group.particles.iter().map(|inner| self::particle(schema, inner)).collect();
            let between = match group.compositor {
                Compositor::Sequence => ", ",
                Compositor::Choice => " | ",
                Compositor::All => " & ",
            };
            format!("({})", parts.join(between))
        }
    };
    format!("{term}{{{},{:?}}}", particle.min_occurs, particle.max_occurs)
}
