//! Makes particles and groups, and finds what they may start with.

use std::collections::HashSet;

use castile_databinding::deeper;
use castile_databinding::model::{self, Order};
use castile_databinding::schema::{Content as Children, Element, First, Namespaces, Wildcard};
use castile_plan::plan::{self, Item, ParticleKind, Path};
use castile_xsd::components::Compositor;

use super::Maker;
use crate::json::keys;
use crate::leak::{leak, leak_all, leak_text};
use crate::types::{Group, GroupKind, Nil, Particle, Particles, Term};

// Limits for plans that are read from a file, which may contain anything. Plans of contracts stay below them.

/// Maximum nesting of groups. A decoder's tables have what groups start with, and the decoder recurses into them
/// without checking the stack.
const MAX_NESTED: usize = 128;

/// Maximum number of particles in a type. Those of groups count as often as they are used.
const MAX_PARTICLES: usize = 1_000_000;

impl Maker {
    pub(super) fn particles(&mut self, fields: &'static [plan::Field], compositor: Compositor) -> Particles {
        let mut table = Vec::new();
        for field in fields {
            // A new property of a particle is an error here, until it is used or left out on purpose.
            let plan::Field {
                term,
                min_occurs: _,
                max_occurs: _,
                ident: _,
                documentation: _,
                storage: _,
                streams: _,
                adapter: _,
            } = field;
            if let plan::Term::Element { element, value, .. } = term {
                let nil = match value.nil {
                    plan::Nil::Never => Nil::Never,
                    plan::Nil::Plain => Nil::Plain,
                    plan::Nil::WithAttributes => Nil::WithAttributes,
                };
                let of = self.element_type(&value.base, nil);
                let (min, max) = occurrence(field);
                table.push(self.element(element, of).occurs(min, max));
            }
        }
        let table = leak_all(table);
        let (mut size, mut depth) = (fields.len(), 0);
        let mut groups = Vec::new();
        for field in fields {
            let group = match &field.term {
                // An `xs:all` contains only elements (XML Schema Part 1 §3.8.6), but a plan from a file may have groups
                // in it.
                plan::Term::Group(path) if compositor != Compositor::All => self.group(path),
                _ => None,
            };
            // The depth of the group itself is checked, because the group may have been made before.
            let group = group.filter(|group| {
                let particles = group.particles();
                size + particles.size <= MAX_PARTICLES && particles.depth < MAX_NESTED
            });
            if let Some(group) = group {
                size += group.particles().size;
                depth = depth.max(group.particles().depth + 1);
            }
            groups.push(group);
        }
        let has_wildcards = fields.iter().any(|field| matches!(field.term, plan::Term::Any(_)));
        let firsts = match compositor == Compositor::Sequence && has_wildcards {
            true => leak_all(groups.iter().flatten().map(|group| First::Group(group.first)).collect()),
            false => &[],
        };
        let mut list = Vec::new();
        let (mut elements, mut groups_so_far) = (0, 0);
        for (field, group) in fields.iter().zip(groups) {
            let (min, max) = occurrence(field);
            let term = match &field.term {
                plan::Term::Any(_) if compositor == Compositor::All => continue,
                plan::Term::Element { tag, counted, .. } => {
                    elements += 1;
                    let (start, end) = leak_text(format!("<{tag}></{tag}>")).split_at(tag.len() + 2);
                    Term::Element { index: elements - 1, start, end, is_counted: *counted }
                }
                plan::Term::Group(_) => match group {
                    Some(group) => {
                        groups_so_far += 1;
                        Term::Group(group)
                    }
                    None => continue,
                },
                plan::Term::Any(any) => {
                    let before = match compositor {
                        Compositor::Sequence => {
                            let elements = table.get(elements..).unwrap_or_default();
                            before(any, elements, firsts.get(groups_so_far..).unwrap_or_default())
                        }
                        _ => &[],
                    };
                    let first = leak_all(vec![First::Wildcard(leak(self.wildcard(any)))]);
                    let mut wildcard = self.wildcard(any);
                    if (min, max) != (1, Some(1)) {
                        wildcard = wildcard.before(before);
                    }
                    if !matches!((min, max), (0 | 1, Some(1))) {
                        wildcard = wildcard.occurs(min, max);
                    }
                    Term::Any(leak(wildcard), first)
                }
            };
            list.push(Particle { min, max, term });
        }
        let keys = keys(table, &list, leak_text);
        Particles { table, list, keys, size, depth }
    }

    pub(super) fn wildcard(&mut self, any: &'static plan::Wildcard) -> Wildcard {
        Wildcard::new(match any {
            plan::Wildcard::Any => Namespaces::Any,
            plan::Wildcard::Not(target) => Namespaces::Not(target),
            plan::Wildcard::OneOf(list) => Namespaces::OneOf(leak_all(list.iter().map(String::as_str).collect())),
        })
    }

    /// Returns what the elements of a type may start with, one of which is the first element in a body.
    pub(crate) fn first_of(&mut self, path: &Path) -> &'static [First] {
        let Some((path, Item::Struct(of))) = self.types.item(path) else { return &[] };
        if let Some(known) = self.made.firsts.get(path) {
            return known;
        }
        let first = self.make_first(of);
        self.made.firsts.insert(path, first);
        first
    }

    fn make_first(&mut self, of: &'static plan::Struct) -> &'static [First] {
        match &of.content {
            plan::Content::Sequence(fields) => first_of_sequence(&self.particles(fields, Compositor::Sequence)),
            plan::Content::All(fields) => {
                let particles = self.particles(fields, Compositor::All);
                first_of_all(&particles, |group| group.first)
            }
            plan::Content::Simple { .. } | plan::Content::Mixed { .. } => &[],
        }
    }

    pub(crate) fn group(&mut self, path: &Path) -> Option<&'static Group> {
        let (path, item) = self.types.item(path)?;
        if let Some(known) = self.made.groups.get(path) {
            return *known;
        }
        self.made.groups.insert(path, None);
        let group = leak(self.deeper(|maker| maker.make_group(path.ident.as_str(), item))?);
        self.made.groups.insert(path, Some(group));
        Some(group)
    }

    fn make_group(&mut self, name: &'static str, item: &'static Item) -> Option<Group> {
        let group = match item {
            Item::Choice(of) => {
                let particles = self.particles(&of.variants, Compositor::Choice);
                let first = first_of_all(&particles, |group| group.first);
                let all = first_of_all(&particles, |group| group.all);
                let kind = match &of.text {
                    None => GroupKind::Choice(particles),
                    Some(_) => {
                        let order = of.order.as_ref().map(|order| self.order(order, particles.table));
                        GroupKind::MixedPart(particles, order)
                    }
                };
                Group { name, first, all, kind }
            }
            Item::Struct(of) => {
                let (fields, compositor) = match &of.content {
                    plan::Content::Sequence(fields) => (fields, Compositor::Sequence),
                    plan::Content::All(fields) => (fields, Compositor::All),
                    plan::Content::Simple { .. } | plan::Content::Mixed { .. } => return None,
                };
                let particles = self.particles(fields, compositor);
                let first = first_of_sequence(&particles);
                let all = first_of_all(&particles, |group| group.all);
                let kind = match compositor {
                    Compositor::Sequence => GroupKind::Sequence(particles),
                    _ => GroupKind::All(particles),
                };
                Group { name, first, all, kind }
            }
            _ => return None,
        };
        Some(group)
    }

    /// Returns the order of the pieces of mixed content. `table` has their elements.
    fn order(&mut self, particle: &'static plan::Particle, table: &'static [Element]) -> Order {
        /// The stack required for a model. It recurses into its particles without checking the stack.
        type OfModel = [u64; 1024];
        let mut leaves = Vec::new();
        let particle = self.ordered(particle, table, &mut leaves);
        deeper::<OfModel, _>(move || Order::new(&particle, leaves))
    }

    fn ordered(
        &mut self,
        particle: &'static plan::Particle,
        table: &'static [Element],
        leaves: &mut Vec<First>,
    ) -> model::Particle {
        let plan::Particle { min, max, kind } = particle;
        let mut ordered = |particles: &'static [plan::Particle]| -> Vec<model::Particle> {
            let inner = particles.iter();
            inner.map(|inner| deeper::<model::Particle, _>(|| self.ordered(inner, table, leaves))).collect()
        };
        match kind {
            ParticleKind::Element(number) => {
                leaves.push(First::Elements(table.get(*number).map(std::slice::from_ref).unwrap_or_default()));
                model::Particle::leaf(*min, *max)
            }
            ParticleKind::Any(any) => {
                leaves.push(First::Wildcard(leak(self.wildcard(any))));
                model::Particle::leaf(*min, *max)
            }
            ParticleKind::Sequence(particles) => model::Particle::sequence(*min, *max, ordered(particles)),
            ParticleKind::Choice(particles) => model::Particle::choice(*min, *max, ordered(particles)),
            ParticleKind::All(particles) => model::Particle::all(*min, *max, ordered(particles)),
        }
    }

    /// Returns the possible children, for a lenient decoder.
    pub(super) fn children(
        &mut self,
        fields: &'static [plan::Field],
        particles: &Particles,
        is_sequence: bool,
    ) -> Children {
        let mut names = HashSet::new();
        let has_distinct_names =
            fields.iter().all(|field| field.element().is_some_and(|element| names.insert(&element.name)));
        match is_sequence && has_distinct_names {
            true => Children::Sequence(particles.table),
            false => Children::Among(first_of_all(particles, |group| group.all)),
        }
    }
}

/// Returns the occurrence of a particle, with a maximum of at least 1.
///
/// A plan from a file may have a maximum of 0. A group with only such particles would be repeated endlessly.
fn occurrence(field: &plan::Field) -> (u32, Option<u32>) {
    (field.min_occurs, field.max_occurs.map(|max| max.max(field.min_occurs).max(1)))
}

/// Returns what may follow a wildcard and could also match it: elements of the table, and the first elements of groups.
fn before(any: &'static plan::Wildcard, table: &'static [Element], groups: &'static [First]) -> &'static [First] {
    /// Larger tables are added without a check, because the check would be repeated for each wildcard.
    const CHECKED_ELEMENTS: usize = 100;
    let mut before = Vec::new();
    if table.len() > CHECKED_ELEMENTS || table.iter().any(|element| any.allows(element.namespace)) {
        before.push(First::Elements(table));
    }
    // A group beside a wildcard for other namespaces seldom has elements of other namespaces.
    if !groups.is_empty() && !matches!(any, plan::Wildcard::Not(_)) {
        before.push(First::Group(groups));
    }
    leak_all(before)
}

/// Returns what a choice of the particles may start with, which is also everything that they may contain.
fn first_of_all(particles: &Particles, of: impl Fn(&'static Group) -> &'static [First]) -> &'static [First] {
    let elements = (!particles.table.is_empty()).then_some(First::Elements(particles.table));
    leak_all(elements.into_iter().chain(others(&particles.list, of)).collect())
}

/// Returns what a sequence may start with: all particles up to and including the first required one.
fn first_of_sequence(particles: &Particles) -> &'static [First] {
    let Particles { table, list, .. } = particles;
    let end = list.iter().position(|particle| particle.min > 0).map_or(list.len(), |index| index + 1);
    let begins = &list[..end];
    let count = begins.iter().filter(|particle| matches!(particle.term, Term::Element { .. })).count();
    let elements = (count > 0).then_some(First::Elements(&table[..count]));
    leak_all(elements.into_iter().chain(others(begins, |group| group.first)).collect())
}

/// Returns what groups and wildcards among the particles may start with.
fn others(list: &[Particle], of: impl Fn(&'static Group) -> &'static [First]) -> impl Iterator<Item = First> {
    list.iter().filter_map(move |particle| match particle.term {
        Term::Element { .. } => None,
        Term::Group(group) => Some(First::Group(of(group))),
        Term::Any(_, first) => Some(First::Group(first)),
    })
}
