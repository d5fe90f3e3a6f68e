//! Compares a type of a program with the type of a contract that it replaces. The comparison runs at compile time.

use super::equality::{are_of, find, has_same_occurrence, is_same, is_type};
use super::{AttributeUses, TermDeclaration};
use super::{ComplexDefinition, ContentDefinition, Declaration, Definition, Members, ParticleDeclaration, TypeKind};
use crate::schema::{Namespaces, TypeName, ValueConstraint};

/// A complex type of a contract. The messages state what the type of the program lacks or has in addition.
#[derive(Debug)]
pub struct ExpectedType {
    /// The name, if `xsi:type` can name the type.
    pub name: Option<TypeName>,
    /// All attributes.
    pub attributes: &'static [ExpectedAttribute],
    /// The namespaces of further attributes, if there is an attribute wildcard.
    pub any_attributes: Option<Namespaces>,
    /// The content.
    pub content: ExpectedContent,
    /// The message for another name.
    pub other_name: &'static str,
    /// The message for other attributes.
    pub more_attributes: &'static str,
    /// The message for other content, or more content.
    pub other_content: &'static str,
}

/// An attribute.
#[derive(Debug)]
pub struct ExpectedAttribute {
    /// The namespace; empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// Whether the attribute is required.
    pub is_required: bool,
    /// The type of the value.
    pub kind: ExpectedTypeKind,
    /// The default or fixed value.
    pub constraint: Option<ValueConstraint>,
    /// The message if the type of the program doesn't have this attribute.
    pub message: &'static str,
}

/// The content of an element.
#[derive(Debug)]
pub enum ExpectedContent {
    /// A value of a simple type.
    Text(ExpectedTypeKind),
    /// A sequence of these elements.
    Sequence(&'static [ExpectedElement]),
    /// An `<all>` group of these elements.
    All(&'static [ExpectedElement]),
}

/// An element or a wildcard.
#[derive(Debug)]
pub struct ExpectedElement {
    /// The name or the namespaces.
    pub name: ExpectedName,
    /// The minimum number of occurrences.
    pub min_occurs: u32,
    /// The maximum number of occurrences; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// Whether it may be nil.
    pub is_nillable: bool,
    /// The type of the value.
    pub kind: ExpectedTypeKind,
    /// The default or fixed value.
    pub constraint: Option<ValueConstraint>,
    /// The message if the type of the program doesn't have this element.
    pub message: &'static str,
}

/// The elements that an [`ExpectedElement`] allows.
#[derive(Debug)]
pub enum ExpectedName {
    /// Those with this namespace (empty for none) and local name.
    Is(&'static str, &'static str),
    /// Those in these namespaces.
    Any(Namespaces),
}

/// The type of a value.
#[derive(Debug)]
pub enum ExpectedTypeKind {
    /// A simple type, or a complex type that another type of the program replaces.
    Is(TypeKind),
    /// Any simple type. The type in the program doesn't declare which one it is.
    Simple,
    /// A complex type that has no type of its own in the program.
    Within(&'static ExpectedType),
}

/// Checks that a type is as expected. Panics with the first message that applies otherwise, which is a compile error in a
/// constant.
pub const fn fits(own: &Declaration, expected: &ExpectedType) {
    let is_called_so = match (own.name, expected.name) {
        (_, None) => true,
        (Some(own), Some(expected)) => is_type(own, expected),
        (None, Some(_)) => false,
    };
    if !is_called_so {
        panic!("{}", expected.other_name)
    }
    if let Some(message) = misfit(own, expected) {
        panic!("{}", message)
    }
}

const fn misfit(own: &Declaration, expected: &ExpectedType) -> Option<&'static str> {
    let Definition::Complex(ComplexDefinition {
        base: None,
        attributes,
        any_attributes,
        content,
        is_abstract: false,
        extended_by: [],
        ..
    }) = &own.definition
    else {
        return Some(expected.other_content);
    };
    let mut index = 0;
    while index < expected.attributes.len() {
        let attribute = &expected.attributes[index];
        if !has(attributes, index, attribute) {
            return Some(attribute.message);
        }
        index += 1;
    }
    let are_any_as_expected = match (any_attributes, &expected.any_attributes) {
        (Some(own), Some(expected)) => are_of(own, expected),
        (None, None) => true,
        _ => false,
    };
    if attributes.len() != expected.attributes.len() || !are_any_as_expected {
        return Some(expected.more_attributes);
    }
    match (content, &expected.content) {
        (ContentDefinition::Simple(_, kind), ExpectedContent::Text(expected_kind)) => {
            if is_of(kind, expected_kind) {
                None
            } else {
                Some(expected.other_content)
            }
        }
        (ContentDefinition::Elements(particle), ExpectedContent::Sequence(elements)) => match &particle.term {
            TermDeclaration::Sequence(own) => misfit_of(*own, elements, expected.other_content),
            _ => Some(expected.other_content),
        },
        (ContentDefinition::Elements(particle), ExpectedContent::All(elements)) => match &particle.term {
            TermDeclaration::All(own) => misfit_of(*own, elements, expected.other_content),
            _ => Some(expected.other_content),
        },
        _ => Some(expected.other_content),
    }
}

const fn has(own: &AttributeUses, index: usize, expected: &ExpectedAttribute) -> bool {
    let Some(own) = find(own, index, expected.namespace, expected.name) else { return false };
    // The field of an attribute with a default is not an `Option`, although the attribute may be absent.
    let may_be_absent = !own.is_required || own.default.is_some();
    may_be_absent != expected.is_required
        && is_of(&own.kind, &expected.kind)
        && is_constraint(own.default, own.is_fixed, &expected.constraint)
}

const fn misfit_of(mut own: Members, expected: &[ExpectedElement], more: &'static str) -> Option<&'static str> {
    let mut index = 0;
    while index < expected.len() {
        match own.split_first() {
            Some((first, rest)) if is_particle(&first, &expected[index]) => own = rest,
            _ => return Some(expected[index].message),
        }
        index += 1;
    }
    if own.is_empty() { None } else { Some(more) }
}

const fn is_particle(own: &ParticleDeclaration, expected: &ExpectedElement) -> bool {
    let is_it = match (&own.term, &expected.name) {
        (TermDeclaration::Element(own), ExpectedName::Is(namespace, name)) => {
            is_same(own.namespace, namespace)
                && is_same(own.name, name)
                && own.is_nillable == expected.is_nillable
                && is_of(&own.kind, &expected.kind)
                && is_constraint(own.default, own.is_fixed, &expected.constraint)
        }
        (TermDeclaration::Any(own), ExpectedName::Any(expected)) => are_of(own, expected),
        _ => false,
    };
    has_same_occurrence((own.min_occurs, own.max_occurs), (expected.min_occurs, expected.max_occurs)) && is_it
}

const fn is_of(own: &TypeKind, expected: &ExpectedTypeKind) -> bool {
    match (own, expected) {
        (TypeKind::Unnamed(own), ExpectedTypeKind::Within(expected)) => misfit(own, expected).is_none(),
        (own, ExpectedTypeKind::Is(expected)) => is_kind(own, expected),
        (
            TypeKind::Simple(_) | TypeKind::Listed(_) | TypeKind::List(_) | TypeKind::Restriction(..),
            ExpectedTypeKind::Simple,
        ) => true,
        _ => false,
    }
}

const fn is_constraint(value: Option<&str>, is_fixed: bool, expected: &Option<ValueConstraint>) -> bool {
    match (value, expected) {
        (Some(own), Some(ValueConstraint::Default(expected))) => !is_fixed && is_same(own, expected),
        (Some(own), Some(ValueConstraint::Fixed(expected))) => is_fixed && is_same(own, expected),
        (None, None) => true,
        _ => false,
    }
}

const fn is_kind(own: &TypeKind, expected: &TypeKind) -> bool {
    match (own, expected) {
        (TypeKind::Restriction(_, own), expected) => is_kind(own, expected),
        (TypeKind::Simple(own), TypeKind::Simple(expected)) => is_same(own, expected),
        // A string can hold every listed value.
        (TypeKind::Simple(own), TypeKind::Listed(_)) => is_same(own, "xs:string"),
        (TypeKind::Listed(own), TypeKind::Listed(expected)) => are_within(own, expected) && are_within(expected, own),
        (TypeKind::List(own), TypeKind::List(expected)) => is_kind(own, expected),
        (TypeKind::Named(own), TypeKind::Named(expected)) => is_type(*own, *expected),
        _ => false,
    }
}

const fn are_within(some: &[(&str, &str)], all: &[(&str, &str)]) -> bool {
    let mut index = 0;
    while index < some.len() {
        // The values usually have the same order.
        let mut passed = 0;
        while passed < all.len() && !is_same(some[index].1, all[(index + passed) % all.len()].1) {
            passed += 1;
        }
        if passed == all.len() {
            return false;
        }
        index += 1;
    }
    true
}
