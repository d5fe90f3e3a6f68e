//! Checks the schema component constraints of XSD 1.0 Part 1 Appendix C.3, after all references are resolved. The
//! checks don't change components.

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
use crate::definition::ContractValues;
use crate::parse::Versions;
use crate::{Builtin, Diagnostics, Schema};

pub(crate) use derivation::is_derived;

/// Checks all components. Errors that result from `missing` types are not reported, because the missing types were.
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
        values: ContractValues::new(schema),
        has_unchecked: false,
    };
    let depths = depths(schema);
    for (id, definition) in schema.types().skip(Builtin::ALL.len()) {
        // The inherited parts of a type are collected from all its bases, several times.
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
        checker.diagnostics.note(location, "the content models are too large to check completely");
    }
}

/// Limits the work of all checks, counted in particles and attributes that are examined. The limit is linear in the
/// size of the schema. Real contracts use a thirtieth of it.
const STEPS: u64 = 1_000_000;
const STEPS_PER_COMPONENT: u64 = 200;

/// Returns the number of bases of each type.
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
    /// A cache of the elements that may replace another one.
    substitutes: HashMap<ElementId, Rc<[ElementId]>>,
    values: ContractValues<'c>,
    /// Whether unchecked patterns or values were already reported.
    has_unchecked: bool,
}

impl Checker<'_> {
    /// Counts work. Returns false if the limit is reached.
    fn step(&mut self, work: usize) -> bool {
        self.steps = self.steps.saturating_sub(work as u64);
        self.steps > 0
    }

    /// Returns true if the type or one of its bases is missing, so that it can't be checked.
    fn is_unknown(&self, id: TypeId) -> bool {
        !self.missing.is_empty() && self.schema.bases(id).any(|base| self.missing.contains(&base))
    }

    /// Returns true if the type or one of its bases has a different definition in another version of its schema, which
    /// a reference may intend.
    fn is_of_two_versions(&self, id: TypeId) -> bool {
        let types = &self.versions.types;
        !types.is_empty() && self.schema.bases(id).any(|base| types.contains(&base))
    }
}
