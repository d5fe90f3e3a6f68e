//! Schema types in SOAP encoding (SOAP 1.1 §5, SOAP 1.2 Part 2 §3): the structs and arrays of a graph.

pub use castile_datatypes::Encoding;

use crate::components::{ArrayType, Compositor, Content, Particle, Term};
use crate::{Builtin, ElementId, ExpandedName, Schema, TypeId, XSD_NAMESPACE};

/// The encoding namespaces of both SOAP versions.
const ENCODINGS: [&str; 2] = [Encoding::Soap11.namespace(), Encoding::Soap12.namespace()];

/// The kind of a type in SOAP encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind {
    /// Text: a simple type, or a type of the encoding that also has attributes, such as `soapenc:string`.
    Simple,
    /// Any value. Each value declares its own type.
    Any,
    /// Accessors: elements without substitutes, not in a choice.
    Struct(Vec<Accessor>),
    /// An array of items.
    Array(Items),
    /// Content that SOAP encoding has no rules for, such as attributes or a choice. It is written as in literal use.
    Literal,
}

/// An element of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accessor {
    /// The element's declaration.
    pub element: ElementId,
    /// The element as a particle, which has its occurrence.
    pub particle: Particle,
}

/// The items of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// The type of the items, or of the innermost ones.
    pub type_id: TypeId,
    /// The brackets of `wsdl:arrayType` before the last ones: `[]` or `[,][]` if the items are arrays without a name.
    pub ranks: String,
    /// The number of dimensions of the array.
    pub rank: usize,
}

impl TypeKind {
    /// Returns the kind of `type_id`.
    #[must_use]
    pub fn of(schema: &Schema, type_id: TypeId) -> Self {
        if schema[type_id].as_complex().is_none() {
            return TypeKind::Simple;
        }
        if type_id.builtin() == Some(Builtin::AnyType) {
            return TypeKind::Any;
        }
        if let Some(local) = schema[type_id].name().and_then(encoding_type) {
            return match local {
                "Array" => TypeKind::Array(Items { type_id: Builtin::AnyType.into(), ranks: String::new(), rank: 1 }),
                "Struct" => TypeKind::Any,
                _ => TypeKind::Simple,
            };
        }
        if let Some(items) = items(schema, type_id) {
            return TypeKind::Array(items);
        }
        let is_common = |name: &ExpandedName| name.namespace().is_empty() && matches!(name.local(), "id" | "href");
        let attributes = schema.attribute_uses(type_id);
        if attributes.iter().any(|attribute| !is_common(&schema[attribute.attribute].name)) {
            return TypeKind::Literal;
        }
        accessors(schema, type_id).map_or(TypeKind::Literal, TypeKind::Struct)
    }
}

/// Returns the local name of a type of an encoding namespace: `Array`, `Struct`, `string`.
#[must_use]
pub fn encoding_type(name: &ExpandedName) -> Option<&str> {
    ENCODINGS.contains(&name.namespace()).then(|| name.local())
}

/// Returns the items of a type derived from `soapenc:Array`. They are declared by `wsdl:arrayType` (WSDL 1.1 §2.2), or
/// by the only element of the type.
fn items(schema: &Schema, type_id: TypeId) -> Option<Items> {
    let is_array = |id: TypeId| schema[id].name().and_then(encoding_type).is_some_and(|local| local == "Array");
    if !schema.bases(type_id).any(is_array) {
        return None;
    }
    let said = schema.attribute_uses(type_id).into_iter().find_map(|attribute| attribute.array_type);
    if let Some(ArrayType { item, dimensions }) = said
        && let Some(type_id) = find_type(schema, &item)
    {
        let last = dimensions.rfind('[').unwrap_or_default();
        let rank = dimensions[last..].matches(',').count() + 1;
        // Sizes in a contract only show the number of dimensions.
        let ranks = dimensions[..last].chars().filter(|c| matches!(c, '[' | ',' | ']')).collect();
        return Some(Items { type_id, ranks, rank });
    }
    let type_id = match accessors(schema, type_id).as_deref() {
        Some([only]) => schema[only.element].type_id,
        _ => Builtin::AnyType.into(),
    };
    Some(Items { type_id, ranks: String::new(), rank: 1 })
}

fn find_type(schema: &Schema, name: &ExpandedName) -> Option<TypeId> {
    schema.find_type(name).or_else(|| match (name.namespace(), name.local()) {
        // Drafts of XML Schema used this name.
        (XSD_NAMESPACE, "ur-type") => Some(Builtin::AnyType.into()),
        _ => None,
    })
}

/// Returns the elements of a type that has only elements.
fn accessors(schema: &Schema, type_id: TypeId) -> Option<Vec<Accessor>> {
    let particle = match schema.content(type_id) {
        Content::Empty => return Some(Vec::new()),
        Content::ElementOnly(particle) if particle.is_once() => particle,
        _ => return None,
    };
    let Term::Group(group) = particle.term else { return None };
    if group.compositor == Compositor::Choice {
        return None;
    }
    let accessor = |particle: Particle| match particle.term {
        Term::Element(element) if has_no_substitutes(schema, element) => Some(Accessor { element, particle }),
        _ => None,
    };
    group.particles.into_iter().map(accessor).collect()
}

/// Returns true if no other element may replace this one.
fn has_no_substitutes(schema: &Schema, id: ElementId) -> bool {
    schema[id].block.substitution || schema.substitutes(id).into_iter().all(|id| schema[id].is_abstract)
}
