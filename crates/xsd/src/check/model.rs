//! Checks content models: element declarations with the same name must have the same type (cos-element-consistent), and
//! each child must match one particle without lookahead (cos-nonambig).
//!
//! Ambiguity is checked with the *first* and *followlast* sets of Brüggemann-Klein. Occurrences are not unrolled: a
//! particle of `maxOccurs="1000"` is one position that may be followed by itself. The work is proportional to the
//! number of particles, multiplied by the nesting depth of groups.

use std::collections::{BTreeSet, HashMap};

use super::Checker;
use super::overlap::Positions;
use crate::components::{ComplexType, Compositor, ElementId, ModelGroup, Particle, Term, TypeId};
use crate::schema::called;
use crate::{ExpandedName, Location};

impl Checker<'_> {
    pub(super) fn content_model(&mut self, id: TypeId, complex: &ComplexType) {
        let content = self.schema.content(id);
        let Some(particle) = content.particle() else { return };
        let elements = self.elements_of(particle);
        if !self.step(elements.len() + 1) {
            return;
        }
        self.one_type_a_name(&elements, complex.location);
        let mut attribution = Attribution { checker: self, clash: None };
        attribution.part(particle);
        if let Some((one, two)) = attribution.clash {
            let message = format!(
                "{one} and {two} of the content match the same child element, so the content model is ambiguous"
            );
            self.diagnostics
                .warning(complex.location, message)
                .with_rule("cos-nonambig")
                .with_note("the next element alone must decide; merge the two, or put another element between them");
        }
    }

    /// Returns all elements that a particle may match, including substitutes.
    fn elements_of(&mut self, particle: &Particle) -> BTreeSet<ElementId> {
        let mut found = BTreeSet::new();
        let mut open = vec![particle];
        while let Some(particle) = open.pop() {
            match &particle.term {
                Term::Element(id) => {
                    if found.insert(*id) {
                        found.extend(self.actual_substitutes(*id).iter().copied());
                    }
                }
                Term::Group(group) => open.extend(&group.particles),
                Term::GroupReference(_) | Term::Wildcard(_) => {}
            }
        }
        found
    }

    fn one_type_a_name(&mut self, elements: &BTreeSet<ElementId>, location: Location) {
        let schema = self.schema;
        let mut types: HashMap<&ExpandedName, TypeId> = HashMap::new();
        for &element in elements {
            let declaration = &schema[element];
            let first = *types.entry(&declaration.name).or_insert(declaration.type_id);
            if first != declaration.type_id {
                let message = format!(
                    "two elements {} of the same content have different types: {} and {}",
                    declaration.name,
                    called(schema, first),
                    called(schema, declaration.type_id)
                );
                self.diagnostics.warning(location, message).with_rule("cos-element-consistent");
                return;
            }
        }
    }

    /// Particle Emptiable (§3.9.6), for a particle without references to groups.
    pub(super) fn is_emptiable(&self, particle: &Particle) -> bool {
        if particle.min_occurs == 0 {
            return true;
        }
        match &particle.term {
            Term::Element(_) | Term::Wildcard(_) => false,
            Term::GroupReference(id) => self.is_emptiable_group(&self.schema[*id].group),
            Term::Group(group) => self.is_emptiable_group(group),
        }
    }

    fn is_emptiable_group(&self, group: &ModelGroup) -> bool {
        match group.compositor {
            Compositor::Choice => group.particles.iter().any(|particle| self.is_emptiable(particle)),
            _ => group.particles.iter().all(|particle| self.is_emptiable(particle)),
        }
    }
}

/// The positions that may be first in a part of a content model, and those that may follow its last child within the
/// part.
struct Part<'s> {
    nullable: bool,
    first: Positions<'s>,
    follow_last: Positions<'s>,
}

struct Attribution<'a, 'c> {
    checker: &'a mut Checker<'c>,
    /// The first two particles that conflict.
    clash: Option<(String, String)>,
}

impl<'c> Attribution<'_, 'c> {
    fn part(&mut self, particle: &Particle) -> Part<'c> {
        let schema = self.checker.schema;
        let inner = match &particle.term {
            Term::Element(id) => Part::leaf(self.element(*id, particle)),
            Term::Wildcard(wildcard) => Part::leaf(Positions::of_wildcard(wildcard, particle)),
            Term::GroupReference(id) => self.group(&schema[*id].group),
            Term::Group(group) => self.group(group),
        };
        let nullable = inner.nullable || particle.min_occurs == 0;
        let mut follow_last = inner.follow_last;
        if particle.is_repeated() {
            // The last child may be followed by the first child of the next repetition.
            self.compete(&follow_last, &inner.first);
            // If the number of repetitions is fixed, no repetition can follow the last one.
            if inner.nullable || particle.max_occurs != Some(particle.min_occurs) {
                self.join(&mut follow_last, &inner.first);
            }
        }
        Part { nullable, first: inner.first, follow_last }
    }

    /// Returns the positions of an element and its substitutes.
    fn element(&mut self, id: ElementId, particle: &Particle) -> Positions<'c> {
        let schema = self.checker.schema;
        let members = self.checker.actual_substitutes(id);
        let members = if self.checker.step(members.len()) { &*members } else { &[] };
        let ids = std::iter::once(id).chain(members.iter().copied());
        Positions::of_elements(ids.map(|id| &schema[id].name), particle)
    }

    fn group(&mut self, group: &ModelGroup) -> Part<'c> {
        match group.compositor {
            Compositor::Sequence => self.sequence(&group.particles),
            Compositor::Choice => {
                let mut whole = Part { nullable: group.particles.is_empty(), ..Part::empty() };
                for particle in &group.particles {
                    let part = self.part(particle);
                    self.compete(&whole.first, &part.first);
                    self.join(&mut whole.first, &part.first);
                    self.join(&mut whole.follow_last, &part.follow_last);
                    whole.nullable |= part.nullable;
                }
                whole
            }
            Compositor::All => {
                let mut whole = Part::empty();
                for particle in &group.particles {
                    let part = self.part(particle);
                    self.compete(&whole.first, &part.first);
                    self.join(&mut whole.first, &part.first);
                    whole.nullable &= part.nullable;
                }
                whole.follow_last = whole.first.clone();
                whole
            }
        }
    }

    fn sequence(&mut self, particles: &[Particle]) -> Part<'c> {
        let mut whole = Part::empty();
        for particle in particles {
            let part = self.part(particle);
            // A child that may still belong to the previous parts conflicts with the first child of this part.
            self.compete(&whole.follow_last, &part.first);
            if whole.nullable {
                self.join(&mut whole.first, &part.first);
            }
            if part.nullable {
                self.join(&mut whole.follow_last, &part.first);
                self.join(&mut whole.follow_last, &part.follow_last);
            } else {
                whole.follow_last = part.follow_last;
            }
            whole.nullable &= part.nullable;
        }
        whole
    }

    fn join(&mut self, all: &mut Positions<'c>, more: &Positions<'c>) {
        if self.checker.step(more.len()) {
            all.extend(more);
        }
    }

    fn compete(&mut self, one: &Positions<'c>, two: &Positions<'c>) {
        if self.clash.is_none() && self.checker.step(one.cost(two)) {
            self.clash = one.clash(two);
        }
    }
}

impl<'s> Part<'s> {
    /// Returns a part without positions.
    fn empty() -> Self {
        Self { nullable: true, first: Positions::default(), follow_last: Positions::default() }
    }

    fn leaf(first: Positions<'s>) -> Self {
        Self { nullable: false, first, follow_last: Positions::default() }
    }
}
