use std::collections::HashSet;

use super::Checker;
use crate::components::{Derivation, DerivationSet, TypeDefinition, TypeId, Variety};
use crate::{Builtin, Schema};

impl Checker<'_> {
    /// Type Derivation OK (§3.4.6 cos-ct-derived-ok, §3.14.6 cos-st-derived-ok): returns true if `derived` is `base` or
    /// is derived from it without a method in `excluded`.
    pub(super) fn is_derived(&self, derived: TypeId, base: TypeId, excluded: DerivationSet) -> bool {
        if self.is_unknown(derived) || self.is_unknown(base) {
            return true;
        }
        if self.is_of_two_versions(derived) || self.is_of_two_versions(base) {
            return true;
        }
        is_derived(self.schema, derived, base, excluded)
    }
}

/// Returns true if `derived` is `base` or is derived from it. All types must be known.
pub(crate) fn is_derived(schema: &Schema, derived: TypeId, base: TypeId, excluded: DerivationSet) -> bool {
    let targets = with_members(schema, base);
    let mut id = derived;
    loop {
        if targets.contains(&id) {
            return true;
        }
        let forbidden = match &schema[id] {
            TypeDefinition::Complex(complex) => match complex.derivation {
                Derivation::Extension => excluded.extension,
                Derivation::Restriction => excluded.restriction,
            },
            TypeDefinition::Simple(_) => excluded.restriction,
        };
        let next = schema[id].base();
        if forbidden || next == id {
            return false;
        }
        id = next;
    }
}

/// Returns the type and, for a union, its members. A type derived from a member counts as derived from the union.
fn with_members(schema: &Schema, base: TypeId) -> HashSet<TypeId> {
    let mut found = HashSet::from([base]);
    let mut open = vec![base];
    while let Some(id) = open.pop() {
        // The members of a union with facets don't count, because the facets restrict them.
        let Some(simple) = schema[id].as_simple() else { continue };
        let Variety::Union { members } = &simple.variety else { continue };
        if simple.facets.is_empty() && simple.base == TypeId::from(Builtin::AnySimpleType) {
            open.extend(members.iter().filter(|&&member| found.insert(member)));
        }
    }
    found
}
