//! Whether a type of a program extends another one. The compiler evaluates this where the type says so.

use super::fits::{are_of, is_kind, is_same, is_type};
use super::{
    AttributeDeclaration, ComplexDefinition, ContentDefinition, Declaration, Definition, ElementDeclaration, Kind,
    ParticleDeclaration, TermDeclaration,
};

/// How many types may extend each other in a row.
const MOST_IN_A_ROW: usize = 64;

/// Ends the compilation if a type isn't an extension of another one (XSD Part 1 §3.4.2): one that has all of its attributes,
/// and begins with its elements.
pub const fn extends(own: &Declaration, base: &Declaration) {
    let (Definition::Complex(own), Definition::Complex(base)) = (&own.definition, &base.definition) else {
        panic!("a simple type is not extended: hold its value in a field with `#[xml(text)]`")
    };
    if !base.is_abstract && base.itself.is_none() {
        panic!(
            "what is extended is an enum with `#[xml(derived)]`, of which the types that extend it are variants: one with \
             `#[xml(base)]` is the type itself"
        )
    }
    if base.is_abstract {
        return;
    }
    if !has_attributes(own, base) {
        panic!("an attribute of the type that is extended is missing, or differs: a type has all of those")
    }
    if !has_content(&own.content, &base.content) {
        panic!(
            "the fields don't begin with those of the type that is extended: its elements, or its text, come first and in their \
             order, with the same types and defaults, and as often"
        )
    }
}

/// Ends the compilation with this message if a type doesn't extend another one, be it through others.
pub const fn is_derived_from(own: &Declaration, base: &Declaration, message: &str) {
    let Some(name) = base.name else { panic!("{}", message) };
    let (mut of, mut row) = (own, 0);
    while row < MOST_IN_A_ROW {
        let Definition::Complex(ComplexDefinition { base: Some(next), .. }) = &of.definition else { break };
        if let Some(of_next) = next.name
            && is_type(of_next, name)
        {
            return;
        }
        (of, row) = (next, row + 1);
    }
    panic!("{}", message)
}

const fn has_attributes(own: &ComplexDefinition, base: &ComplexDefinition) -> bool {
    let mut index = 0;
    while index < base.attributes.len() {
        if !has_attribute(own.attributes, &base.attributes[index]) {
            return false;
        }
        index += 1;
    }
    match (&own.any_attributes, &base.any_attributes) {
        (_, None) => true,
        (Some(own), Some(base)) => are_of(own, base),
        (None, Some(_)) => false,
    }
}

const fn has_attribute(all: &[AttributeDeclaration], one: &AttributeDeclaration) -> bool {
    let mut index = 0;
    while index < all.len() {
        let own = &all[index];
        if is_same(own.name, one.name) && is_same(own.namespace, one.namespace) {
            return own.is_required == one.is_required
                && own.is_fixed == one.is_fixed
                && are_same(own.default, one.default)
                && is_as(&own.kind, &one.kind);
        }
        index += 1;
    }
    false
}

const fn has_content(own: &ContentDefinition, base: &ContentDefinition) -> bool {
    match (own, base) {
        (ContentDefinition::Simple(_, own), ContentDefinition::Simple(_, base)) => is_as(own, base),
        (ContentDefinition::Elements(own), ContentDefinition::Elements(base)) => match (&own.term, &base.term) {
            (TermDeclaration::Sequence(own), TermDeclaration::Sequence(base)) => begins_with(own, base),
            // Elements in any order are not extended (cos-all-limited).
            (TermDeclaration::All(own), TermDeclaration::All(base)) => {
                own.len() == base.len() && begins_with(own, base)
            }
            (_, TermDeclaration::Sequence([])) => true,
            _ => false,
        },
        _ => false,
    }
}

const fn begins_with(own: &[ParticleDeclaration], first: &[ParticleDeclaration]) -> bool {
    if own.len() < first.len() {
        return false;
    }
    let mut index = 0;
    while index < first.len() {
        if !is_particle(&own[index], &first[index]) {
            return false;
        }
        index += 1;
    }
    true
}

const fn is_particle(own: &ParticleDeclaration, base: &ParticleDeclaration) -> bool {
    let is_as_often = own.min_occurs == base.min_occurs
        && match (own.max_occurs, base.max_occurs) {
            (Some(own), Some(base)) => own == base,
            (None, None) => true,
            _ => false,
        };
    is_as_often
        && match (&own.term, &base.term) {
            (TermDeclaration::Element(own), TermDeclaration::Element(base)) => is_element(own, base),
            (TermDeclaration::Any(own), TermDeclaration::Any(base)) => are_of(own, base),
            (TermDeclaration::ContentOf(_, own), TermDeclaration::ContentOf(_, base)) => is_as(own, base),
            _ => false,
        }
}

const fn is_element(own: &ElementDeclaration, base: &ElementDeclaration) -> bool {
    is_same(own.name, base.name)
        && is_same(own.namespace, base.namespace)
        && own.is_nillable == base.is_nillable
        && own.is_fixed == base.is_fixed
        && are_same(own.default, base.default)
        && is_as(&own.kind, &base.kind)
}

/// Whether two types are the same: an element around values is another type wherever it stands.
const fn is_as(own: &Kind, base: &Kind) -> bool {
    let (Kind::Unnamed(own), Kind::Unnamed(base)) = (own, base) else { return is_kind(own, base) };
    let (Definition::Complex(own), Definition::Complex(base)) = (&own.definition, &base.definition) else {
        return false;
    };
    own.attributes.len() == base.attributes.len()
        && own.any_attributes.is_some() == base.any_attributes.is_some()
        && has_attributes(own, base)
        && match (&own.content, &base.content) {
            (ContentDefinition::Elements(own), ContentDefinition::Elements(base)) => match (&own.term, &base.term) {
                (TermDeclaration::Sequence(own), TermDeclaration::Sequence(base))
                | (TermDeclaration::Choice(own), TermDeclaration::Choice(base))
                | (TermDeclaration::All(own), TermDeclaration::All(base)) => {
                    own.len() == base.len() && begins_with(own, base)
                }
                _ => false,
            },
            (own, base) => has_content(own, base),
        }
}

const fn are_same(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_same(one, other),
        (None, None) => true,
        _ => false,
    }
}
