//! What XSD 1.0 Part 1 demands of components beyond that their references lead somewhere: the schema component
//! constraints of Appendix C.3, checked once all is resolved. Nothing here changes a component.

mod attributes;
mod derivation;
mod elements;
mod facets;
mod identity;
mod model;
mod overlap;
mod restriction;

use std::collections::HashSet;

use crate::components::{TypeDefinition, TypeId};
use crate::{Builtin, Diagnostics, Schema};

/// Checks all components. What follows from `missing` types, which have been reported, is not reported again.
pub(crate) fn check(schema: &Schema, missing: &HashSet<TypeId>, diagnostics: &mut Diagnostics) {
    let mut checker = Checker { schema, missing, diagnostics, steps: MAX_STEPS };
    for slot in Builtin::ALL.len()..schema.types.len() {
        let id = TypeId(slot as u32);
        match &schema[id] {
            TypeDefinition::Simple(simple) => checker.simple_type(id, simple),
            TypeDefinition::Complex(complex) if !missing.contains(&id) => {
                checker.attributes(id, complex);
                checker.content_model(id, complex);
                checker.restriction(id, complex);
            }
            TypeDefinition::Complex(_) => {}
        }
    }
    checker.attribute_declarations();
    checker.elements();
    checker.identity_constraints();
    if checker.steps == 0 {
        let location = crate::components::NOWHERE;
        checker.diagnostics.note(location, "the content models are too large to be checked to the end");
    }
}

/// Particles that are looked at before checks of content models end: a schema of a hundred thousand elements takes
/// fewer, one that is made to be slow doesn't get more.
const MAX_STEPS: u64 = 20_000_000;

struct Checker<'c> {
    schema: &'c Schema,
    missing: &'c HashSet<TypeId>,
    diagnostics: &'c mut Diagnostics,
    steps: u64,
}

impl Checker<'_> {
    /// Counts work; false when there was enough.
    fn step(&mut self, work: usize) -> bool {
        self.steps = self.steps.saturating_sub(work as u64);
        self.steps > 0
    }

    /// True if the type or one of its bases was not found, so that nothing can be said of it.
    fn is_unknown(&self, id: TypeId) -> bool {
        !self.missing.is_empty() && self.schema.bases(id).any(|base| self.missing.contains(&base))
    }
}
