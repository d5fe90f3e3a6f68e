//! Comparisons of declarations at compile time.

use super::{AttributeDeclaration, AttributeUses};
use crate::schema::{Namespaces, TypeName};

/// Whether two texts are equal.
#[doc(hidden)]
pub const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

pub(super) const fn is_type(own: TypeName, expected: TypeName) -> bool {
    is_same(own.name, expected.name) && is_same(own.namespace, expected.namespace)
}

/// Whether two occurrences are equal.
pub(super) const fn has_same_occurrence(
    (min, max): (u32, Option<u32>),
    (other_min, other_max): (u32, Option<u32>),
) -> bool {
    min == other_min
        && match (max, other_max) {
            (Some(max), Some(other)) => max == other,
            (None, None) => true,
            _ => false,
        }
}

/// Returns the attribute of this name. The search begins at index `from`, because two types usually have their attributes in
/// the same order.
pub(super) const fn find(
    all: &AttributeUses,
    from: usize,
    namespace: &str,
    name: &str,
) -> Option<AttributeDeclaration> {
    let mut passed = 0;
    while passed < all.len() {
        if let Some(attribute) = all.get((from + passed) % all.len())
            && is_same(attribute.name, name)
            && is_same(attribute.namespace, namespace)
        {
            return Some(attribute);
        }
        passed += 1;
    }
    None
}

/// Whether two wildcards allow the same namespaces.
pub(super) const fn are_of(own: &Namespaces, expected: &Namespaces) -> bool {
    match (own, expected) {
        (Namespaces::Any, Namespaces::Any) => true,
        (Namespaces::Not(own), Namespaces::Not(expected)) => is_same(own, expected),
        (Namespaces::OneOf(own), Namespaces::OneOf(expected)) => is_subset(own, expected) && is_subset(expected, own),
        _ => false,
    }
}

const fn is_subset(some: &[&str], all: &[&str]) -> bool {
    let mut index = 0;
    while index < some.len() {
        let mut other = 0;
        while other < all.len() && !is_same(some[index], all[other]) {
            other += 1;
        }
        if other == all.len() {
            return false;
        }
        index += 1;
    }
    true
}
