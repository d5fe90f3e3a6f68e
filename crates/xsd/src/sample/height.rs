//! How deep an instance must be at least: what a recursive type needs to come to an end.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::MOST_STEPS;
use crate::components::{
    Compositor, Derivation, DerivationSet, ElementDeclaration, NamespaceConstraint, Particle, ProcessContents, Term,
    Wildcard,
};
use crate::{Builtin, ElementId, ExpandedName, Schema, TypeId};

/// That of an element that a strict wildcard takes though it isn't declared, since it says which type it has: more than that of
/// any which is.
pub(super) const UNDECLARED: usize = usize::MAX / 2;

/// The least depth of elements, of each type that was asked for. `usize::MAX` for what never ends.
pub(super) struct Heights<'s> {
    schema: &'s Schema,
    types: HashMap<TypeId, usize>,
    particles: HashMap<TypeId, Option<Particle>>,
    /// Elements that were looked at, and whether there is one: with a type that isn't abstract.
    possible: HashMap<ElementId, bool>,
    /// What strict wildcards of these namespaces need, as far as it was asked for since heights changed, and whether the
    /// declared elements that they may take were looked at.
    wildcards: RefCell<HashMap<NamespaceConstraint, usize>>,
    has_declared: bool,
    /// How many steps were taken, here and by who asks.
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

    /// That of an element, which has one level itself.
    pub(super) fn element(&mut self, id: ElementId) -> usize {
        self.type_(self.schema[id].type_id).saturating_add(1)
    }

    /// That of the content of a type.
    pub(super) fn type_(&mut self, type_id: TypeId) -> usize {
        self.find([type_id]);
        self.known(type_id)
    }

    /// That of a particle as often as it must come at least.
    pub(super) fn particle(&mut self, particle: &Particle) -> usize {
        if particle.min_occurs == 0 { 0 } else { self.particle_once(particle) }
    }

    /// That of a particle that comes.
    pub(super) fn particle_once(&mut self, particle: &Particle) -> usize {
        let elements = self.elements_of(particle);
        self.step(elements.len());
        self.find(elements.into_iter().map(|id| self.schema[id].type_id));
        self.of_term(&particle.term)
    }

    /// The declared element that needs least of those which a strict wildcard takes, best one that isn't open; nothing if one
    /// that isn't declared needs less.
    pub(super) fn declared_for(&mut self, wildcard: &Wildcard, open: &[ElementId]) -> Option<ElementId> {
        // Afterwards all are known that it takes.
        let least = self.particle_once(&Particle::once(Term::Wildcard(wildcard.clone())));
        if least >= UNDECLARED {
            return None;
        }
        let schema = self.schema;
        let of_least = || declared_for(schema, wildcard).filter(|&id| self.of_declared(id) == least);
        self.step(schema.elements().len());
        of_least().find(|id| !open.contains(id)).or_else(|| of_least().next())
    }

    /// The elements that a particle is made of, looked at: all that are declared where a strict wildcard is among them for the
    /// first time.
    fn elements_of(&mut self, particle: &Particle) -> Vec<ElementId> {
        let schema = self.schema;
        let (mut elements, mut has_wildcard) = (Vec::new(), false);
        elements_of(schema, particle, &mut elements, &mut has_wildcard);
        if has_wildcard && !self.has_declared {
            self.has_declared = true;
            elements.extend(schema.global_elements());
        }
        elements.iter().for_each(|&id| self.look_at(id));
        elements
    }

    fn look_at(&mut self, id: ElementId) {
        let schema = self.schema;
        let is_possible = || elements_for(schema, id).next().is_some();
        self.possible.entry(id).or_insert_with(is_possible);
    }

    /// Finds the heights of types and of all that they are made of: first none ends, then those end that are made of what
    /// ends, until nothing changes or that took all steps that an instance has.
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
        while self.steps() - begun <= MOST_STEPS {
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

    fn known(&self, type_id: TypeId) -> usize {
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

    /// That of an element which a strict wildcard takes.
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
        self.known(self.schema[id].type_id).saturating_add(1)
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

/// The elements that may stand where one is declared: it, and those that substitute it. Abstract ones can't, nor can those
/// whose types are.
pub(super) fn elements_for(schema: &Schema, declared: ElementId) -> impl Iterator<Item = ElementId> {
    let substitutes = if schema[declared].block.substitution { Vec::new() } else { schema.substitutes(declared) };
    let candidates = std::iter::once(declared).chain(substitutes);
    candidates.filter(|&id| !schema[id].is_abstract && !types_for(schema, &schema[id]).is_empty())
}

/// The types that an element may have: its own and those derived from it, unless they are abstract or blocked.
pub(super) fn types_for(schema: &Schema, declaration: &ElementDeclaration) -> Vec<TypeId> {
    types_of(schema, declaration.type_id, declaration.block)
}

/// A type and those derived from it, unless they are abstract, or blocked by it or here.
pub(super) fn types_of(schema: &Schema, type_id: TypeId, block_here: DerivationSet) -> Vec<TypeId> {
    let mut candidates = vec![type_id];
    // Every type is derived from the ur-type, and what extends a simple type is more a type of its own than another form
    // of it: nobody sends a language with what is declared as xs:string, though he may.
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

/// The declared elements that a wildcard allows.
fn declared_for(schema: &Schema, wildcard: &Wildcard) -> impl Iterator<Item = ElementId> {
    let allows = wildcard.namespaces.allows_each();
    schema.global_elements().filter(move |&id| {
        let declaration = &schema[id];
        let is_abstract = |type_id: TypeId| schema[type_id].as_complex().is_some_and(|complex| complex.is_abstract);
        allows(declaration.name.namespace()) && !declaration.is_abstract && !is_abstract(declaration.type_id)
    })
}

/// The name of an element that a wildcard allows and that isn't declared, best one in a namespace in which nothing is.
pub(super) fn undeclared_for(schema: &Schema, wildcard: &Wildcard) -> Option<ExpandedName> {
    let listed = match &wildcard.namespaces {
        NamespaceConstraint::OneOf(list) => &list[..],
        NamespaceConstraint::Any | NamespaceConstraint::Not(_) => &[],
    };
    let namespaces = super::namespace_for(wildcard).into_iter().chain(listed.iter().map(|one| &**one));
    namespaces.map(|namespace| ExpandedName::new(namespace, "sample")).find(|name| schema.find_element(name).is_none())
}

/// Adds the elements of a particle, groups looked into, and says whether a strict wildcard is among them.
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
