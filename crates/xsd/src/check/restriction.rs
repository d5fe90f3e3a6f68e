//! Checks that the content of a restriction accepts only what its base accepts: Particle Valid (Restriction), §3.9.6.
//! Functions have the names of the rules in their comments. Violations are reported, but the type is used nevertheless.

use castile_datatypes::quoted;

use super::Checker;
use super::attributes::is_weaker;
use crate::Builtin;
use crate::components::{
    ComplexType, Compositor, Content, Derivation, DerivationSet, ElementId, ModelGroup, Particle, Term, TypeId,
    ValueConstraint, Wildcard,
};

/// `Err` has the reason why it is not a restriction.
type Verdict = Result<(), String>;

impl Checker<'_> {
    /// Checks derivation-ok-restriction 5.
    pub(super) fn restriction(&mut self, id: TypeId, complex: &ComplexType) {
        let base = complex.base;
        if complex.derivation != Derivation::Restriction || base == Builtin::AnyType.into() || self.is_unknown(base) {
            return;
        }
        if self.is_of_two_versions(base) {
            return;
        }
        let (own, base_content) = (self.schema.content_as_declared(id), self.schema.content_as_declared(base));
        let verdict = match (&own, &base_content) {
            (Content::Simple(value), Content::Simple(base_value)) => {
                self.simple_content(*value, *base_value, id);
                Ok(())
            }
            // Reported when types are resolved.
            (Content::Simple(_), _) | (_, Content::Simple(_)) => Ok(()),
            (Content::Empty, Content::Empty) => Ok(()),
            (Content::Empty, Content::ElementOnly(particle) | Content::Mixed(particle)) => {
                match self.is_emptiable(particle) {
                    true => Ok(()),
                    false => Err("it is empty, but that of the base is not".to_owned()),
                }
            }
            (Content::Mixed(_), Content::ElementOnly(_) | Content::Empty) => {
                Err("it is mixed, but that of the base is not".to_owned())
            }
            (Content::ElementOnly(_), Content::Empty) => {
                Err("it has elements, but that of the base has none".to_owned())
            }
            (
                Content::ElementOnly(particle) | Content::Mixed(particle),
                Content::ElementOnly(base) | Content::Mixed(base),
            ) => {
                let (own, base) = (self.with_substitutes(particle), self.with_substitutes(base));
                let (own, base) = (self.schema.without_pointless(&own), self.schema.without_pointless(&base));
                self.restricts(&own, &base)
            }
        };
        if let Err(problem) = verdict {
            let message = format!("the content is not a restriction of that of the base: {problem}");
            self.diagnostics.warning(complex.location, message).with_rule("derivation-ok-restriction");
        }
    }

    /// Checks that `own` restricts `base`.
    fn restricts(&mut self, own: &Particle, base: &Particle) -> Verdict {
        if !self.step(1) {
            return Ok(());
        }
        let (own, base) = (unwrapped(own), unwrapped(base));
        match (&own.term, &base.term) {
            (Term::Element(element), Term::Element(of)) => {
                self.range(own, base)?;
                self.name_and_type(*element, *of)
            }
            (Term::Element(element), Term::Wildcard(wildcard)) => {
                let name = &self.schema[*element].name;
                match wildcard.namespaces.allows(name.namespace()) {
                    true => self.range(own, base),
                    false => Err(format!("element {name} is in a namespace that <any> in the base doesn't allow")),
                }
            }
            // RecurseAsIfGroup
            (Term::Element(_), Term::Group(group)) => {
                let alone = ModelGroup { compositor: group.compositor, particles: vec![own.clone()] };
                self.groups(&Particle::once(Term::Group(alone.clone())), &alone, base, group)
            }
            (Term::Wildcard(wildcard), Term::Wildcard(of)) => {
                self.range(own, base)?;
                subset(wildcard, of)
            }
            (Term::Wildcard(_), _) => Err("found <any>, but the base has elements there".to_owned()),
            (Term::Group(_), Term::Element(element)) => {
                Err(format!("found a group, but the base has element {} there", self.schema[*element].name))
            }
            // NSRecurseCheckCardinality
            (Term::Group(group), Term::Wildcard(wildcard)) => {
                let any = Particle { min_occurs: 0, max_occurs: None, term: Term::Wildcard(wildcard.clone()) };
                for particle in &group.particles {
                    self.restricts(particle, &any)?;
                }
                self.within(own, total(own), (base.min_occurs, base.max_occurs))
            }
            (Term::Group(group), Term::Group(of)) => self.groups(own, group, base, of),
            // References were already replaced by the groups.
            (Term::GroupReference(_), _) | (_, Term::GroupReference(_)) => Ok(()),
        }
    }

    fn groups(&mut self, own: &Particle, group: &ModelGroup, base: &Particle, of: &ModelGroup) -> Verdict {
        match (group.compositor, of.compositor) {
            (Compositor::All, Compositor::All) | (Compositor::Sequence, Compositor::Sequence) => {
                self.range(own, base)?;
                self.in_order(&group.particles, &of.particles)
            }
            (Compositor::Choice, Compositor::Choice) => {
                self.range(own, base)?;
                self.branches(&group.particles, &of.particles)
            }
            (Compositor::Sequence, Compositor::All) => {
                self.range(own, base)?;
                self.in_any_order(&group.particles, &of.particles)
            }
            // MapAndSum
            (Compositor::Sequence, Compositor::Choice) => {
                for particle in &group.particles {
                    self.one_of(particle, &of.particles)?;
                }
                let length = group.particles.len() as u32;
                let max = own.max_occurs.map(|max| max.saturating_mul(length));
                let times = (own.min_occurs.saturating_mul(length), max);
                self.within(own, times, (base.min_occurs, base.max_occurs))
            }
            (one, two) => Err(format!("found <{}>, but the base has <{}> there", one.name(), two.name())),
        }
    }

    /// Recurse: each particle restricts one of the base in the same order. Skipped particles of the base must be
    /// optional.
    fn in_order(&mut self, own: &[Particle], base: &[Particle]) -> Verdict {
        let mut rest = base.iter();
        for particle in own {
            loop {
                let Some(candidate) = rest.next() else {
                    return Err(format!("the base doesn't allow {} there", self.called_particle(particle)));
                };
                match self.restricts(particle, candidate) {
                    Ok(()) => break,
                    Err(_) if self.is_emptiable(candidate) => {}
                    Err(problem) => return Err(problem),
                }
            }
        }
        for left_out in rest {
            if !self.is_emptiable(left_out) {
                return Err(format!("it has no {}, which the base requires", self.called_particle(left_out)));
            }
        }
        Ok(())
    }

    /// RecurseLax: each branch restricts a branch of the base. The order of branches doesn't affect validity, so it is
    /// ignored.
    fn branches(&mut self, own: &[Particle], base: &[Particle]) -> Verdict {
        own.iter().try_for_each(|particle| self.one_of(particle, base))
    }

    /// RecurseUnordered: each particle restricts a different one of the base.
    fn in_any_order(&mut self, own: &[Particle], base: &[Particle]) -> Verdict {
        let mut taken = vec![false; base.len()];
        for particle in own {
            let found = (0..base.len()).find(|&index| !taken[index] && self.restricts(particle, &base[index]).is_ok());
            match found {
                Some(index) => taken[index] = true,
                None => return Err(format!("the base doesn't allow {} there", self.called_particle(particle))),
            }
        }
        let left_out = base.iter().zip(&taken).find(|(particle, taken)| !**taken && !self.is_emptiable(particle));
        match left_out {
            None => Ok(()),
            Some((particle, _)) => {
                Err(format!("it has no {}, which the base requires", self.called_particle(particle)))
            }
        }
    }

    fn one_of(&mut self, particle: &Particle, base: &[Particle]) -> Verdict {
        match base.iter().any(|candidate| self.restricts(particle, candidate).is_ok()) {
            true => Ok(()),
            false => Err(format!("{} is not a branch of the <choice> of the base", self.called_particle(particle))),
        }
    }

    /// NameAndTypeOK (rcase-NameAndTypeOK).
    fn name_and_type(&mut self, own: ElementId, base: ElementId) -> Verdict {
        let schema = self.schema;
        let (own_element, base_element) = (&schema[own], &schema[base]);
        let name = own_element.name.local();
        if own_element.name != base_element.name {
            return Err(format!("found element {}, but the base has {} there", own_element.name, base_element.name));
        }
        let elements = &self.versions.elements;
        if own == base || elements.contains(&own) || elements.contains(&base) {
            return Ok(());
        }
        if own_element.nillable && !base_element.nillable {
            return Err(format!("element {name} is nillable, but that of the base is not"));
        }
        if let Some(ValueConstraint::Fixed(fixed)) = &base_element.value_constraint
            && !self.is_fixed_to(own_element.value_constraint.as_ref(), fixed, own_element.type_id)
        {
            return Err(format!("element {name} is not fixed to {} as in the base", quoted(fixed)));
        }
        let (own_block, base_block) = (own_element.block, base_element.block);
        let lacks = |base: bool, own: bool| base && !own;
        if lacks(base_block.extension, own_block.extension)
            || lacks(base_block.restriction, own_block.restriction)
            || lacks(base_block.substitution, own_block.substitution)
        {
            return Err(format!("element {name} blocks less than that of the base"));
        }
        let excluded = DerivationSet { extension: true, list: true, union: true, ..DerivationSet::default() };
        if !self.is_derived(own_element.type_id, base_element.type_id, excluded) {
            return Err(format!("element {name} has a type that is not a restriction of its type in the base"));
        }
        Ok(())
    }

    /// Returns the particle with the head of each substitution group replaced by a choice of its substitutes.
    fn with_substitutes(&mut self, particle: &Particle) -> Particle {
        match &particle.term {
            Term::Element(id) => self.choice_of(*id, particle),
            Term::Group(group) => {
                let particles = group.particles.iter().map(|particle| self.with_substitutes(particle)).collect();
                let group = ModelGroup { compositor: group.compositor, particles };
                Particle { term: Term::Group(group), ..*particle }
            }
            Term::GroupReference(_) | Term::Wildcard(_) => particle.clone(),
        }
    }

    fn choice_of(&mut self, id: ElementId, particle: &Particle) -> Particle {
        let members = self.actual_substitutes(id);
        if members.is_empty() || !self.step(members.len()) {
            return particle.clone();
        }
        let all = std::iter::once(id).chain(members.iter().copied()).map(|id| Particle::once(Term::Element(id)));
        let group = ModelGroup { compositor: Compositor::Choice, particles: all.collect() };
        Particle { term: Term::Group(group), ..*particle }
    }

    /// Occurrence Range OK.
    fn range(&self, own: &Particle, base: &Particle) -> Verdict {
        self.within(own, (own.min_occurs, own.max_occurs), (base.min_occurs, base.max_occurs))
    }

    fn within(&self, particle: &Particle, own: (u32, Option<u32>), base: (u32, Option<u32>)) -> Verdict {
        let above = match (own.1, base.1) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(own), Some(base)) => own > base,
        };
        if own.0 >= base.0 && !above {
            return Ok(());
        }
        let text = |(min, max): (u32, Option<u32>)| match max {
            Some(max) if max == min => min.to_string(),
            Some(max) => format!("{min} to {max}"),
            None => format!("{min} or more"),
        };
        let what = self.called_particle(particle);
        Err(format!("{what} may occur {} times, but in the base {}", text(own), text(base)))
    }

    fn called_particle(&self, particle: &Particle) -> String {
        match &particle.term {
            Term::Element(id) => format!("element {}", self.schema[*id].name.local()),
            Term::Wildcard(_) => "<any>".to_owned(),
            Term::Group(group) => format!("<{}>", group.compositor.name()),
            Term::GroupReference(id) => format!("group {}", self.schema[*id].name.local()),
        }
    }
}

/// Removes redundant groups, which have one particle and occur once.
fn unwrapped(particle: &Particle) -> &Particle {
    match &particle.term {
        Term::Group(group) if particle.is_once() => match group.particles.as_slice() {
            [one] => one,
            _ => particle,
        },
        _ => particle,
    }
}

/// NSSubset.
fn subset(own: &Wildcard, base: &Wildcard) -> Verdict {
    if !own.namespaces.is_subset_of(&base.namespaces) {
        return Err("<any> allows namespaces that the one of the base doesn't allow".to_owned());
    }
    match is_weaker(own.process_contents, base.process_contents) {
        true => Err("processContents of <any> is weaker than in the base".to_owned()),
        false => Ok(()),
    }
}

/// Effective total range (§3.8.6).
fn total(particle: &Particle) -> (u32, Option<u32>) {
    let Term::Group(group) = &particle.term else { return (particle.min_occurs, particle.max_occurs) };
    let parts: Vec<_> = group.particles.iter().map(total).collect();
    let (min, max) = match group.compositor {
        Compositor::Choice => (
            parts.iter().map(|part| part.0).min().unwrap_or(0),
            parts.iter().map(|part| part.1).try_fold(0, |most: u32, max| max.map(|max| most.max(max))),
        ),
        _ => (
            parts.iter().fold(0, |sum: u32, part| sum.saturating_add(part.0)),
            parts.iter().map(|part| part.1).try_fold(0, |sum: u32, max| max.map(|max| sum.saturating_add(max))),
        ),
    };
    let max = match (max, particle.max_occurs) {
        (Some(0), _) => Some(0),
        (Some(max), Some(times)) => Some(max.saturating_mul(times)),
        _ => None,
    };
    (min.saturating_mul(particle.min_occurs), max)
}
