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
mod values;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::components::{ElementId, TypeDefinition, TypeId};
use crate::definition::Definitions;
use crate::parse::Versions;
use crate::{Builtin, Diagnostics, Schema};

pub(crate) use derivation::is_derived;

/// Checks all components. What follows from `missing` types, which have been reported, is not reported again.
pub(crate) fn check(schema: &Schema, missing: &HashSet<TypeId>, versions: &Versions, diagnostics: &mut Diagnostics) {
    let components = schema.types.len() + schema.elements.len() + schema.attributes.len();
    let steps = STEPS + components as u64 * STEPS_PER_COMPONENT;
    let mut checker = Checker {
        schema,
        missing,
        versions,
        diagnostics,
        steps,
        substitutes: HashMap::new(),
        definitions: Definitions::default(),
        has_unchecked: false,
    };
    let depths = depths(schema);
    for (id, definition) in schema.types().skip(Builtin::ALL.len()) {
        // What a type takes from its bases is gathered from all of them, some times over.
        if !checker.step(depths[id.index()] as usize * 10) {
            break;
        }
        match definition {
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

/// How much work the checks may be, in particles and attributes that are looked at: linear in the size of the schema.
/// Contracts take a thirtieth of it; one that is made to be slow doesn't get more.
const STEPS: u64 = 1_000_000;
const STEPS_PER_COMPONENT: u64 = 200;

/// How many bases each type has.
fn depths(schema: &Schema) -> Vec<u32> {
    let mut depths = vec![0; schema.types.len()];
    let mut known: Vec<bool> = (0..schema.types.len()).map(|slot| slot < Builtin::ALL.len()).collect();
    for slot in 0..schema.types.len() {
        let (mut chain, mut id) = (Vec::new(), TypeId(slot as u32));
        while !known[id.index()] {
            known[id.index()] = true;
            chain.push(id);
            id = schema[id].base();
        }
        let mut depth = depths[id.index()];
        for id in chain.into_iter().rev() {
            depth += 1;
            depths[id.index()] = depth;
        }
    }
    depths
}

struct Checker<'c> {
    schema: &'c Schema,
    missing: &'c HashSet<TypeId>,
    versions: &'c Versions,
    diagnostics: &'c mut Diagnostics,
    steps: u64,
    /// Elements that may stand for another, as far as that has been asked.
    substitutes: HashMap<ElementId, Rc<[ElementId]>>,
    definitions: Definitions,
    /// Whether it was said that patterns, or values, cost too much to be checked.
    has_unchecked: bool,
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

    /// True if the type or one of its bases is another one in another version of its schema, so that what refers to it may
    /// mean that.
    fn is_of_two_versions(&self, id: TypeId) -> bool {
        let types = &self.versions.types;
        !types.is_empty() && self.schema.bases(id).any(|base| types.contains(&base))
    }
}
