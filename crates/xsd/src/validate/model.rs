//! Content models of a schema, and their leaves by element name.

use std::collections::HashMap;
use std::ops::Index;

use castile_datatypes::model;

use super::names::{NameId, Names};
use crate::components::{Compositor, Particle, Scope, Term, Wildcard};
use crate::{ElementId, Schema};

/// The content model of a type.
#[derive(Debug)]
pub(super) struct Model {
    particles: model::Model,
    /// Elements and wildcards, in schema order.
    leaves: Vec<Leaf>,
    by_name: HashMap<NameId, Vec<usize>>,
    /// Leaves that refer to a global element, which substitutes may replace.
    by_element: HashMap<ElementId, Vec<usize>>,
    wildcards: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Leaf {
    Element(ElementId),
    Wildcard(Wildcard),
}

impl Model {
    /// Creates the model of a particle whose references were replaced by the groups ([`Schema::content`]).
    pub(super) fn new(schema: &Schema, names: &Names, particle: &Particle) -> Self {
        let mut leaves = Vec::new();
        let particles = model::Model::new(&shape(schema, particle, &mut leaves));
        let mut by_name: HashMap<NameId, Vec<usize>> = HashMap::new();
        let mut by_element: HashMap<ElementId, Vec<usize>> = HashMap::new();
        let mut wildcards = Vec::new();
        for (number, leaf) in leaves.iter().enumerate() {
            match leaf {
                Leaf::Element(element) => {
                    let declaration = &schema[*element];
                    if let Some(name) = names.get(&declaration.name) {
                        by_name.entry(name).or_default().push(number);
                    }
                    if declaration.scope == Scope::Global {
                        by_element.entry(*element).or_default().push(number);
                    }
                }
                Leaf::Wildcard(_) => wildcards.push(number),
            }
        }
        Model { particles, leaves, by_name, by_element, wildcards }
    }

    pub(super) fn particles(&self) -> &model::Model {
        &self.particles
    }

    /// Returns the elements with this name.
    pub(super) fn named(&self, name: NameId) -> &[usize] {
        self.by_name.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns the leaves that refer to this global element.
    pub(super) fn references(&self, element: ElementId) -> &[usize] {
        self.by_element.get(&element).map_or(&[], Vec::as_slice)
    }

    pub(super) fn wildcards(&self) -> &[usize] {
        &self.wildcards
    }
}

impl Index<usize> for Model {
    type Output = Leaf;

    fn index(&self, leaf: usize) -> &Leaf {
        &self.leaves[leaf]
    }
}

/// Returns the structure of the particles. The recursion is limited by the nesting limit of the front end.
fn shape(schema: &Schema, particle: &Particle, leaves: &mut Vec<Leaf>) -> model::Particle {
    let (min, max) = (particle.min_occurs, particle.max_occurs);
    let group = match &particle.term {
        Term::Element(element) => {
            leaves.push(Leaf::Element(*element));
            return model::Particle::leaf(min, max);
        }
        Term::Wildcard(wildcard) => {
            leaves.push(Leaf::Wildcard(wildcard.clone()));
            return model::Particle::leaf(min, max);
        }
        Term::Group(group) => group,
        Term::GroupReference(group) => &schema[*group].group,
    };
    let particles = group.particles.iter().map(|particle| shape(schema, particle, leaves)).collect();
    match group.compositor {
        Compositor::Sequence => model::Particle::sequence(min, max, particles),
        Compositor::Choice => model::Particle::choice(min, max, particles),
        Compositor::All => model::Particle::all(min, max, particles),
    }
}
