//! Whether a type of a program is what a contract has in its place. The compiler evaluates this where a contract says that the type stands
//! for one of its own.

use super::alike::{are_of, find, is_as_often, is_same, is_type};
use super::{AttributeUses, TermDeclaration};
use super::{ComplexDefinition, ContentDefinition, Declaration, Definition, Kind, Members, ParticleDeclaration};
use crate::schema::{Namespaces, TypeName, ValueConstraint};

/// A complex type as a contract has it. Each message says what the type of the program lacks or has beyond it.
#[derive(Debug)]
pub struct ExpectedType {
    /// What it is called, if that may be said of a value.
    pub name: Option<TypeName>,
    /// All of its attributes.
    pub attributes: &'static [ExpectedAttribute],
    /// Of which namespaces others may come, if any may.
    pub any_attributes: Option<Namespaces>,
    /// What is between the tags.
    pub content: ExpectedContent,
    /// That it is called otherwise.
    pub other_name: &'static str,
    /// That there are other attributes.
    pub more_attributes: &'static str,
    /// That the content is another one, or has more in it.
    pub other_content: &'static str,
}

/// An attribute.
#[derive(Debug)]
pub struct ExpectedAttribute {
    /// The namespace; empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// Whether it must be there.
    pub is_required: bool,
    /// The type of its value.
    pub kind: ExpectedKind,
    /// The value if it is absent, or the only one that it may have.
    pub constraint: Option<ValueConstraint>,
    /// What is expected.
    pub message: &'static str,
}

/// What is between the tags.
#[derive(Debug)]
pub enum ExpectedContent {
    /// A value.
    Text(ExpectedKind),
    /// Elements one after another.
    Sequence(&'static [ExpectedElement]),
    /// Elements in any order.
    All(&'static [ExpectedElement]),
}

/// An element, or whatever element comes.
#[derive(Debug)]
pub struct ExpectedElement {
    /// Which elements may stand there.
    pub name: ExpectedName,
    /// How often it comes at least.
    pub min_occurs: u32,
    /// How often it comes at most; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// Whether it may be nil.
    pub is_nillable: bool,
    /// The type of its value.
    pub kind: ExpectedKind,
    /// The value if it is empty, or the only one that it may have.
    pub constraint: Option<ValueConstraint>,
    /// What is expected.
    pub message: &'static str,
}

/// Which elements may stand in a place.
#[derive(Debug)]
pub enum ExpectedName {
    /// Those of this namespace, which is empty for none, and this local name.
    Is(&'static str, &'static str),
    /// Those of these namespaces.
    Any(Namespaces),
}

/// The type of a value.
#[derive(Debug)]
pub enum ExpectedKind {
    /// A simple type, or a complex one for which another type of the program stands.
    Is(Kind),
    /// Whatever simple type: the contract's is held by one that says no more of itself.
    Simple,
    /// A complex type that has no type of its own in the program.
    Within(&'static ExpectedType),
}

/// Ends the compilation if a type is not what is expected, with the first message that tells why.
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
    // One with a default is there for whoever reads it.
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
    is_as_often((own.min_occurs, own.max_occurs), (expected.min_occurs, expected.max_occurs)) && is_it
}

const fn is_of(own: &Kind, expected: &ExpectedKind) -> bool {
    match (own, expected) {
        (Kind::Unnamed(own), ExpectedKind::Within(expected)) => misfit(own, expected).is_none(),
        (own, ExpectedKind::Is(expected)) => is_kind(own, expected),
        (Kind::Simple(_) | Kind::Listed(_) | Kind::List(_) | Kind::Restriction(..), ExpectedKind::Simple) => true,
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

const fn is_kind(own: &Kind, expected: &Kind) -> bool {
    match (own, expected) {
        (Kind::Restriction(_, own), expected) => is_kind(own, expected),
        (Kind::Simple(own), Kind::Simple(expected)) => is_same(own, expected),
        // A text takes whatever is listed.
        (Kind::Simple(own), Kind::Listed(_)) => is_same(own, "xs:string"),
        (Kind::Listed(own), Kind::Listed(expected)) => are_within(own, expected) && are_within(expected, own),
        (Kind::List(own), Kind::List(expected)) => is_kind(own, expected),
        (Kind::Named(own), Kind::Named(expected)) => is_type(*own, *expected),
        _ => false,
    }
}

const fn are_within(some: &[(&str, &str)], all: &[(&str, &str)]) -> bool {
    let mut index = 0;
    while index < some.len() {
        // Mostly they have one order.
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
