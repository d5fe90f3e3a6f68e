//! Computes the minimum depth (height) of instances, to end recursive types as early as possible.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::steps::MAX_STEPS;
use crate::components::{
    Compositor, Derivation, DerivationSet, ElementDeclaration, NamespaceConstraint, Particle, ProcessContents, Term,
    Wildcard,
};
use crate::{Builtin, ElementId, ExpandedName, Schema, TypeId};

/// The height of an undeclared element with its own `xsi:type`, which a strict wildcard allows. It is greater than the
/// height of any declared element.
pub(super) const UNDECLARED: usize = usize::MAX / 2;

/// The minimum depths of elements, for each type requested so far. `usize::MAX` means that there is no finite instance.
pub(super) struct Heights<'s> {
    schema: &'s Schema,
    types: HashMap<TypeId, usize>,
    particles: HashMap<TypeId, Option<Particle>>,
    /// Whether an element, or a substitute for it, can occur: it isn't abstract and has a type that isn't.
    possible: HashMap<ElementId, bool>,
    /// The heights for strict wildcards by their namespaces, computed since heights last changed; and whether the
    /// declared elements that they may match were visited.
    wildcards: RefCell<HashMap<NamespaceConstraint, usize>>,
    has_declared: bool,
    /// The steps taken here and by callers.
    steps: Cell<usize>,
}

impl<'s> Heights<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Heights {
            schema,
            types: HashMap::new(),
            particles: HashMap::new(),
            possible: HashMap::new(),
            wildcards: RefCell::default(),
            has_declared: false,
            steps: Cell::new(0),
        }
    }

    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    pub(super) fn step(&self, count: usize) {
        self.steps.set(self.steps.get().saturating_add(count));
    }

    /// Returns the height of an element, which is one more than that of its content.
    pub(super) fn element(&mut self, id: ElementId) -> usize {
        self.type_(self.schema[id].type_id).saturating_add(1)
    }

    /// Returns the height of the content of a type.
    pub(super) fn type_(&mut self, type_id: TypeId) -> usize {
        self.find([type_id]);
        self.height_of(type_id)
    }

    /// Returns the height of a particle with its minimum occurrence.
    pub(super) fn particle(&mut self, particle: &Particle) -> usize {
        if particle.min_occurs == 0 { 0 } else { self.particle_once(particle) }
    }

    /// Returns the height of a particle that occurs.
    pub(super) fn particle_once(&mut self, particle: &Particle) -> usize {
        let elements = self.elements_of(particle);
        self.step(elements.len());
        self.find(elements.into_iter().map(|id| self.schema[id].type_id));
        self.of_term(&particle.term)
    }

    /// Returns the declared element with the least height that a strict wildcard allows, preferably one that isn't
    /// open. Returns `None` if no declared element has a finite height.
    pub(super) fn declared_for(&mut self, wildcard: &Wildcard, open: &[ElementId]) -> Option<ElementId> {
        // Afterwards the heights of all elements that the wildcard allows are known.
        let least = self.particle_once(&Particle::once(Term::Wildcard(wildcard.clone())));
        if least >= UNDECLARED {
            return None;
        }
        let schema = self.schema;
        let of_least = || declared_for(schema, wildcard).filter(|&id| self.of_declared(id) == least);
        self.step(schema.elements().len());
        of_least().find(|id| !open.contains(id)).or_else(|| of_least().next())
    }

    /// Returns the elements of a particle. The first time that the particle has a strict wildcard, it returns all
    /// declared elements.
    fn elements_of(&mut self, particle: &Particle) -> Vec<ElementId> {
        let schema = self.schema;
        let (mut elements, mut has_wildcard) = (Vec::new(), false);
        elements_of(schema, particle, &mut elements, &mut has_wildcard);
        if has_wildcard && !self.has_declared {
            self.has_declared = true;
            elements.extend(schema.global_elements());
        }
        elements.iter().for_each(|&id| self.visit(id));
        elements
    }

    fn visit(&mut self, id: ElementId) {
        let schema = self.schema;
        let is_possible = || elements_for(schema, id).next().is_some();
        self.possible.entry(id).or_insert_with(is_possible);
    }

    /// Computes the heights of types and of everything that they are made of.
    ///
    /// All heights start as infinite. A type gets a finite height when its parts have one. This is repeated until
    /// nothing changes or the step limit of an instance is reached.
    fn find(&mut self, types: impl IntoIterator<Item = TypeId>) {
        let mut reached = HashSet::new();
        let mut open = Vec::new();
        let mut reach = |known: &HashMap<TypeId, usize>, open: &mut Vec<TypeId>, type_id: TypeId| {
            if !known.contains_key(&type_id) && reached.insert(type_id) {
                open.push(type_id);
            }
        };
        types.into_iter().for_each(|type_id| reach(&self.types, &mut open, type_id));
        let mut order = Vec::new();
        while let Some(type_id) = open.pop() {
            order.push(type_id);
            let particle = self.schema.content(type_id).particle().cloned();
            for id in particle.as_ref().map(|particle| self.elements_of(particle)).unwrap_or_default() {
                reach(&self.types, &mut open, self.schema[id].type_id);
            }
            self.particles.insert(type_id, particle);
        }
        if order.is_empty() {
            return;
        }
        order.iter().for_each(|&type_id| {
            self.types.insert(type_id, usize::MAX);
        });
        let begun = self.steps();
        while self.steps() - begun <= MAX_STEPS {
            let mut has_changed = false;
            self.wildcards.take();
            for &type_id in order.iter().rev() {
                let height = match &self.particles[&type_id] {
                    Some(particle) if particle.min_occurs > 0 => self.of_term(&particle.term),
                    _ => 0,
                };
                has_changed |= self.types.insert(type_id, height) != Some(height);
            }
            if !has_changed {
                return;
            }
        }
    }

    fn height_of(&self, type_id: TypeId) -> usize {
        self.types.get(&type_id).copied().unwrap_or_default()
    }

    fn of_term(&self, term: &Term) -> usize {
        self.step(1);
        match term {
            Term::Element(id) if self.possible.get(id) == Some(&false) => usize::MAX,
            Term::Element(id) => self.of_declared(*id),
            Term::Wildcard(wildcard) if wildcard.process_contents == ProcessContents::Strict => {
                self.of_wildcard(wildcard)
            }
            Term::Wildcard(_) => 1,
            Term::GroupReference(id) => {
                self.of_group(self.schema[*id].group.compositor, &self.schema[*id].group.particles)
            }
            Term::Group(group) => self.of_group(group.compositor, &group.particles),
        }
    }

    /// Returns the height of an element that a strict wildcard allows.
    fn of_wildcard(&self, wildcard: &Wildcard) -> usize {
        if let Some(&known) = self.wildcards.borrow().get(&wildcard.namespaces) {
            return known;
        }
        self.step(self.schema.elements().len());
        let declared = declared_for(self.schema, wildcard).map(|id| self.of_declared(id)).min();
        let undeclared = undeclared_for(self.schema, wildcard).map(|_| UNDECLARED);
        let height = declared.into_iter().chain(undeclared).min().unwrap_or(usize::MAX);
        self.wildcards.borrow_mut().insert(wildcard.namespaces.clone(), height);
        height
    }

    fn of_declared(&self, id: ElementId) -> usize {
        self.height_of(self.schema[id].type_id).saturating_add(1)
    }

    fn of_group(&self, compositor: Compositor, particles: &[Particle]) -> usize {
        let heights = particles.iter().map(|particle| match particle.min_occurs {
            0 => 0,
            _ => self.of_term(&particle.term),
        });
        let height = if compositor == Compositor::Choice { heights.min() } else { heights.max() };
        height.unwrap_or_default()
    }
}

/// Returns the elements that may occur where `declared` is referred to: itself and its substitutes, without abstract
/// elements and those that have only abstract types.
pub(super) fn elements_for(schema: &Schema, declared: ElementId) -> impl Iterator<Item = ElementId> {
    let substitutes = if schema[declared].block.substitution { Vec::new() } else { schema.substitutes(declared) };
    let candidates = std::iter::once(declared).chain(substitutes);
    candidates.filter(|&id| !schema[id].is_abstract && !types_for(schema, &schema[id]).is_empty())
}

/// Returns the types that an element may have: its declared type and derived types, unless they are abstract or
/// blocked.
pub(super) fn types_for(schema: &Schema, declaration: &ElementDeclaration) -> Vec<TypeId> {
    types_of(schema, declaration.type_id, declaration.block)
}

/// Returns a type and those derived from it, unless they are abstract, or blocked by the type or by `block_here`.
pub(super) fn types_of(schema: &Schema, type_id: TypeId, block_here: DerivationSet) -> Vec<TypeId> {
    let mut candidates = vec![type_id];
    // Types derived from the ur-type or from a simple type are left out. Every type is derived from the ur-type. And
    // although it would be valid, nobody sends a language where xs:string is declared.
    let mut open = candidates.clone();
    open.retain(|&declared| declared.builtin() != Some(Builtin::AnyType) && schema[declared].as_complex().is_some());
    while let Some(base) = open.pop() {
        let block = schema[base].as_complex().map(|complex| complex.block).unwrap_or_default();
        for &derived in schema.derived_types(base) {
            let Some(complex) = schema[derived].as_complex() else { continue };
            let blocked = match complex.derivation {
                Derivation::Extension => block.extension || block_here.extension,
                Derivation::Restriction => block.restriction || block_here.restriction,
            };
            if !blocked && complex.name.is_some() {
                candidates.push(derived);
                open.push(derived);
            }
        }
    }
    candidates.retain(|&type_id| !schema[type_id].as_complex().is_some_and(|complex| complex.is_abstract));
    candidates
}

/// Returns the declared elements that a wildcard allows.
fn declared_for(schema: &Schema, wildcard: &Wildcard) -> impl Iterator<Item = ElementId> {
    let allows = wildcard.namespaces.allows_each();
    schema.global_elements().filter(move |&id| {
        let declaration = &schema[id];
        let is_abstract = |type_id: TypeId| schema[type_id].as_complex().is_some_and(|complex| complex.is_abstract);
        allows(declaration.name.namespace()) && !declaration.is_abstract && !is_abstract(declaration.type_id)
    })
}

/// Returns a namespace that a wildcard allows, preferably one without declarations.
pub(super) fn namespace_for(wildcard: &Wildcard) -> Option<&'static str> {
    ["urn:sample", ""].into_iter().find(|namespace| wildcard.namespaces.allows(namespace))
}

/// Returns the name of an undeclared element that a wildcard allows, preferably in a namespace without declarations.
pub(super) fn undeclared_for(schema: &Schema, wildcard: &Wildcard) -> Option<ExpandedName> {
    let listed = match &wildcard.namespaces {
        NamespaceConstraint::OneOf(list) => &list[..],
        NamespaceConstraint::Any | NamespaceConstraint::Not(_) => &[],
    };
    let namespaces = namespace_for(wildcard).into_iter().chain(listed.iter().map(|one| &**one));
    namespaces.map(|namespace| ExpandedName::new(namespace, "sample")).find(|name| schema.find_element(name).is_none())
}

/// Adds the elements of a particle and of its groups to `found`, and sets `has_wildcard` if there is a strict wildcard.
fn elements_of(schema: &Schema, particle: &Particle, found: &mut Vec<ElementId>, has_wildcard: &mut bool) {
    match &particle.term {
        Term::Element(id) => found.push(*id),
        Term::Wildcard(wildcard) => *has_wildcard |= wildcard.process_contents == ProcessContents::Strict,
        Term::GroupReference(id) => {
            schema[*id].group.particles.iter().for_each(|inner| elements_of(schema, inner, found, has_wildcard));
        }
        Term::Group(group) => {
            group.particles.iter().for_each(|inner| elements_of(schema, inner, found, has_wildcard));
        }
    }
}
