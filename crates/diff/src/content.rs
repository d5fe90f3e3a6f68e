//! Compares content models: their elements, how often each occurs, and how they are grouped.

use std::collections::{HashMap, HashSet};
use std::fmt;

use castile_xsd::components::{Compositor, Particle, Term, Wildcard};
use castile_xsd::{ElementId, ExpandedName, Schema};

use crate::change::{Effect, Reason};
use crate::kinds;
use crate::pairs::paired;
use crate::types::{LEFT_OUT, NOT_WRITTEN, Position, Types, UNKNOWN, type_name};

/// The reason for an alternative of a choice. A reader that skips it misses the other alternatives.
const REPLACING: Reason = Reason::All("{w} may write it in place of what {r} require");

/// The occurrence of a particle. Without `most` it is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Occurs {
    min: u32,
    max: Option<u32>,
}

const ONCE: Occurs = Occurs { min: 1, max: Some(1) };

impl Occurs {
    fn of(particle: &Particle) -> Self {
        Self { min: particle.min_occurs, max: particle.max_occurs }
    }

    /// Returns the total occurrence of a particle in a group with the occurrence `group`.
    fn within(self, group: Self) -> Self {
        let max = match (self.max, group.max) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (one, group) => one.zip(group).map(|(one, group)| one.saturating_mul(group)),
        };
        Self { min: self.min.saturating_mul(group.min), max }
    }

    /// Returns the total occurrence for two positions.
    fn and(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(one, other)| one.saturating_add(other));
        Self { min: self.min.saturating_add(other.min), max }
    }

    /// Returns why a reader that allows `other` rejects this occurrence.
    fn exceeds(self, other: Self) -> Option<Reason> {
        let is_too_often = match (self.max, other.max) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(one), Some(other)) => one > other,
        };
        let why = match (self.min < other.min, is_too_often) {
            (false, false) => return None,
            (false, true) => "{w} may write it more often than {r} accept it",
            (true, false) if self.min == 0 => return Some(LEFT_OUT),
            (true, true) if self.min == 0 => "{w} may omit it, or write it more often than {r} accept it",
            (true, false) => "{w} may write it less often than {r} require it",
            (true, true) => "{w} may write it more or less often than {r} accept it",
        };
        Some(why.into())
    }
}

impl fmt::Display for Occurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (1, Some(1)) => f.write_str("required"),
            (0, Some(1)) => f.write_str("optional"),
            (least, Some(most)) if least == most => write!(f, "{least} times"),
            (least, Some(most)) => write!(f, "{least} to {most} times"),
            (least, None) => write!(f, "{least} times or more"),
        }
    }
}

/// A content model.
#[derive(Default)]
struct Model {
    /// The elements, in the order of their first positions.
    elements: Vec<Element>,
    by_name: HashMap<ExpandedName, usize>,
    wildcards: Vec<Wildcard>,
    /// The choices with several alternatives. Each has the alternative that contains it.
    choices: Vec<Option<Alternative>>,
    /// The number of particles. Those of a group count as often as the group is used.
    size: usize,
}

/// An alternative: the index of its choice, and its index in the choice.
type Alternative = (usize, usize);

struct Element {
    name: ExpandedName,
    id: ElementId,
    /// The total occurrence in the content.
    occurs: Occurs,
    positions: Vec<Placement>,
}

/// The position of a particle.
#[derive(Clone, Copy)]
struct Placement {
    /// Whether something is required at this position: the particle itself, or another alternative of a choice.
    is_filled: bool,
    /// The innermost alternative that contains it.
    alternative: Option<Alternative>,
    /// Whether it is always present in that alternative.
    is_always: bool,
}

impl Model {
    fn of(schema: &Schema, particle: Option<&Particle>) -> Self {
        let mut model = Self::default();
        if let Some(particle) = particle {
            let placement = Placement { is_filled: true, alternative: None, is_always: true };
            model.add(schema, particle, ONCE, placement);
        }
        model
    }

    fn add(&mut self, schema: &Schema, particle: &Particle, around: Occurs, mut placement: Placement) {
        self.size += 1;
        let occurs = Occurs::of(particle).within(around);
        if particle.min_occurs == 0 {
            placement = Placement { is_filled: false, is_always: false, ..placement };
        }
        let group = match &particle.term {
            Term::Element(id) => return self.element(schema, *id, occurs, placement),
            Term::Wildcard(any) => return self.wildcards.push(any.clone()),
            Term::Group(group) => group,
            Term::GroupReference(id) => &schema[*id].group,
        };
        if group.compositor == Compositor::Choice && group.particles.len() > 1 {
            // Another alternative of the choice may be used.
            let occurs = Occurs { min: 0, ..occurs };
            let is_optional = group.particles.iter().any(|particle| may_be_empty(schema, particle));
            let number = self.choices.len();
            self.choices.push(placement.alternative);
            for (index, particle) in group.particles.iter().enumerate() {
                let alternative = Some((number, index));
                let is_filled = placement.is_filled && !is_optional;
                self.add(schema, particle, occurs, Placement { is_filled, alternative, is_always: true });
            }
            return;
        }
        // A skipped particle may be required beside other particles of the group.
        let is_filled = placement.is_filled || group.particles.len() > 1;
        group
            .particles
            .iter()
            .for_each(|particle| self.add(schema, particle, occurs, Placement { is_filled, ..placement }));
    }

    /// Returns, for each element, whether a writer may use it instead of elements that readers require.
    ///
    /// Readers skip such an element, because it has no partner in their contract. But other elements of its choice have
    /// partners.
    fn replacing(&self, reader: &Self, partners: &[Option<usize>]) -> Vec<bool> {
        // The choices in which a reader requires something, and the alternatives in which a reader always finds
        // something.
        let mut required = vec![false; self.choices.len()];
        let mut found: HashSet<Alternative> = HashSet::new();
        for (element, partner) in self.elements.iter().zip(partners) {
            let Some(partner) = *partner else { continue };
            let is_required = reader.elements[partner].positions.iter().any(|placement| placement.is_filled);
            for placement in &element.positions {
                found.extend(placement.alternative.filter(|_| placement.is_always));
                let mut next = placement.alternative.filter(|_| is_required);
                while let Some((choice, _)) = next.filter(|(choice, _)| !required[*choice]) {
                    required[choice] = true;
                    next = self.choices[choice];
                }
            }
        }
        let is_replacing = |placement: &Placement| {
            let mut next = placement.alternative.filter(|_| placement.is_filled);
            while let Some(alternative) = next.filter(|alternative| !found.contains(alternative)) {
                if required[alternative.0] {
                    return true;
                }
                next = self.choices[alternative.0];
            }
            false
        };
        let is_alone = |element: &Element| element.positions.iter().any(is_replacing);
        self.elements.iter().zip(partners).map(|(one, partner)| partner.is_none() && is_alone(one)).collect()
    }

    fn element(&mut self, schema: &Schema, id: ElementId, occurs: Occurs, placement: Placement) {
        let name = &schema[id].name;
        match self.by_name.get(name) {
            Some(known) => {
                let known = &mut self.elements[*known];
                known.occurs = known.occurs.and(occurs);
                known.positions.push(placement);
            }
            None => {
                self.by_name.insert(name.clone(), self.elements.len());
                self.elements.push(Element { name: name.clone(), id, occurs, positions: vec![placement] });
            }
        }
    }

    fn takes(&self, name: &ExpandedName) -> bool {
        self.wildcards.iter().any(|any| any.namespaces.allows(name.namespace()))
    }
}

/// How the elements that both models have are grouped.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Element(ExpandedName, Occurs),
    Group(Compositor, Occurs, Vec<Shape>),
}

impl Shape {
    /// Returns the shape of a particle. `known` maps elements to the names used for the comparison.
    fn of(schema: &Schema, particle: &Particle, known: &HashMap<ExpandedName, ExpandedName>) -> Option<Self> {
        let group = match &particle.term {
            Term::Element(id) => {
                let name = known.get(&schema[*id].name)?;
                return Some(Self::Element(name.clone(), Occurs::of(particle)));
            }
            Term::Wildcard(_) => return None,
            Term::Group(group) => group,
            Term::GroupReference(id) => &schema[*id].group,
        };
        let mut inner: Vec<Self> = group.particles.iter().filter_map(|one| Self::of(schema, one, known)).collect();
        let occurs = Occurs::of(particle);
        // A group with one member is replaced by the member, if one of them occurs once.
        if let [Self::Element(_, one) | Self::Group(_, one, _)] = &mut inner[..]
            && (*one == ONCE || occurs == ONCE)
        {
            *one = one.within(occurs);
            return inner.pop();
        }
        (!inner.is_empty()).then_some(Self::Group(group.compositor, occurs, inner))
    }

    /// Returns true if the shapes are equal except for the occurrences.
    fn is_parallel(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Element(one, _), Self::Element(other, _)) => one == other,
            (Self::Group(one, _, inner), Self::Group(other, _, others)) => {
                one == other
                    && inner.len() == others.len()
                    && inner.iter().zip(others).all(|(one, other)| one.is_parallel(other))
            }
            _ => false,
        }
    }

    /// Sorts the members of choices and of `all` groups by name.
    fn sorted(self) -> Self {
        match self {
            Self::Group(compositor, occurs, inner) => {
                let mut inner: Vec<Self> = inner.into_iter().map(Self::sorted).collect();
                if compositor != Compositor::Sequence {
                    inner.sort_by_cached_key(Self::to_string);
                }
                Self::Group(compositor, occurs, inner)
            }
            element => element,
        }
    }

    /// Sorts the members of all groups by name, including sequences, to detect a change of only the order.
    fn unordered(self) -> Self {
        match self {
            Self::Group(compositor, occurs, inner) => {
                let mut inner: Vec<Self> = inner.into_iter().map(Self::unordered).collect();
                inner.sort_by_cached_key(Self::to_string);
                Self::Group(compositor, occurs, inner)
            }
            element => element,
        }
    }

    /// Returns the compositor of the outermost group and its members.
    fn outermost(&self) -> Option<(Compositor, Vec<String>)> {
        match self {
            Self::Group(compositor, _, inner) => {
                let mut inner: Vec<String> = inner.iter().map(Self::to_string).collect();
                inner.sort();
                Some((*compositor, inner))
            }
            Self::Element(..) => None,
        }
    }
}

/// Lists the names, if they are few: `a, (b | c), d`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(name, _) => f.write_str(name.local()),
            Self::Group(compositor, _, inner) => {
                let separator = match compositor {
                    Compositor::Sequence => ", ",
                    Compositor::Choice => " | ",
                    Compositor::All => " & ",
                };
                for (number, one) in inner.iter().enumerate() {
                    if number > 0 {
                        f.write_str(separator)?;
                    }
                    match one {
                        Self::Group(..) => write!(f, "({one})")?,
                        Self::Element(..) => write!(f, "{one}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// Formats a shape. A shape with hundreds of elements is shortened.
fn described(shape: &Shape) -> String {
    const MAX_LENGTH: usize = 160;
    let text = shape.to_string();
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Types<'_> {
    /// Compares the content of two complex types.
    pub(crate) fn particles(&mut self, old: Option<&Particle>, new: Option<&Particle>, here: Position) {
        let (one, other) = (Model::of(self.old, old), Model::of(self.new, new));
        self.work += one.size + other.size;
        let mut pairs = matched(&one, &other);
        let renamed = self.renamed(&one, &other, &mut pairs);
        let mut partners = vec![None; other.elements.len()];
        for (index, partner) in pairs.iter().enumerate() {
            partner.iter().for_each(|partner| partners[*partner] = Some(index));
        }
        let (replacing_old, replacing_new) = (one.replacing(&other, &pairs), other.replacing(&one, &partners));
        for (index, element) in one.elements.iter().enumerate() {
            let node = self.step(here.node, element.name.local());
            let here = Position { node, ..here };
            let Some(partner) = pairs[index].map(|partner| &other.elements[partner]) else {
                let why = if replacing_old[index] { REPLACING } else { UNKNOWN };
                let effect = Effect {
                    old_to_new: (!other.takes(&element.name)).then_some(why),
                    new_to_old: (element.occurs.min > 0).then_some(NOT_WRITTEN),
                };
                let was = format!("{} {}", element.occurs, type_name(self.old, self.old[element.id].type_id));
                self.add(kinds::ELEMENT_REMOVED, here, (was, "gone"), effect);
                continue;
            };
            if renamed.contains(&index) {
                let change = (element.name.local(), partner.name.local());
                self.add(
                    kinds::ELEMENT_RENAMED,
                    here,
                    change,
                    Effect::both("{r} expect an element with a different name"),
                );
            } else if element.name != partner.name {
                self.namespace_changed(&element.name, &partner.name, here);
            }
            self.element(element.id, partner.id, here.node, here.direction);
        }
        let taken: HashSet<usize> = pairs.iter().flatten().copied().collect();
        for (index, element) in other.elements.iter().enumerate().filter(|(index, _)| !taken.contains(index)) {
            let node = self.step(here.node, element.name.local());
            let is_required = element.occurs.min > 0;
            let why = if replacing_new[index] { REPLACING } else { UNKNOWN };
            let effect = Effect {
                old_to_new: is_required.then_some(NOT_WRITTEN),
                new_to_old: (!one.takes(&element.name)).then_some(why),
            };
            let kind = if is_required { kinds::ELEMENT_ADDED_REQUIRED } else { kinds::ELEMENT_ADDED };
            let is = format!("{} {}", element.occurs, type_name(self.new, self.new[element.id].type_id));
            self.add(kind, Position { node, ..here }, ("absent", is), effect);
        }
        self.wildcards((&one.wildcards, &other.wildcards), "element", here);
        self.shapes((old, &one), (new, &other), &pairs, here);
    }

    /// Finds renamed elements: those that follow paired elements and have the same type but different names. Pairs
    /// them, and returns their indexes.
    fn renamed(&self, one: &Model, other: &Model, pairs: &mut [Option<usize>]) -> HashSet<usize> {
        let mut taken: HashSet<usize> = pairs.iter().flatten().copied().collect();
        let mut renamed = HashSet::new();
        for (index, element) in one.elements.iter().enumerate() {
            let behind = match index.checked_sub(1) {
                Some(before) => pairs[before].map(|partner| partner + 1),
                None => Some(0),
            };
            let Some(partner) = behind.filter(|partner| pairs[index].is_none() && !taken.contains(partner)) else {
                continue;
            };
            let Some(candidate) = other.elements.get(partner) else { continue };
            let (old, new) = (self.old[element.id].type_id, self.new[candidate.id].type_id);
            let is_of_type = match (old.builtin(), new.builtin()) {
                (None, None) => self.old[old].name().is_some() && self.old[old].name() == self.new[new].name(),
                (old, new) => old == new,
            };
            if is_of_type && element.occurs == candidate.occurs {
                pairs[index] = Some(partner);
                taken.insert(partner);
                renamed.insert(index);
            }
        }
        renamed
    }

    /// Compares how often the elements of both models occur and how they are grouped.
    fn shapes(
        &mut self,
        (old, one): (Option<&Particle>, &Model),
        (new, other): (Option<&Particle>, &Model),
        pairs: &[Option<usize>],
        here: Position,
    ) {
        let both = || {
            let paired = one.elements.iter().zip(pairs);
            paired.filter_map(|(element, partner)| Some((element, &other.elements[(*partner)?])))
        };
        let old_names = both().map(|(element, _)| (element.name.clone(), element.name.clone())).collect();
        let new_names = both().map(|(element, partner)| (partner.name.clone(), element.name.clone())).collect();
        let was = old.and_then(|old| Shape::of(self.old, old, &old_names)).map(Shape::sorted);
        let is = new.and_then(|new| Shape::of(self.new, new, &new_names)).map(Shape::sorted);
        let (Some(was), Some(is)) = (was, is) else { return };
        if was.is_parallel(&is) {
            return self.occurrences(&was, &is, here);
        }
        let (kind, effect) = match (was.outermost(), is.outermost()) {
            (Some((Compositor::Sequence, inner)), Some((Compositor::All, others))) if inner == others => {
                (kinds::ORDER_FREE, Effect::new_to_old("{w} may write them in an order that {r} reject"))
            }
            (Some((Compositor::All, inner)), Some((Compositor::Sequence, others))) if inner == others => {
                (kinds::ORDER_FIXED, Effect::old_to_new("{w} may write them in an order that {r} reject"))
            }
            _ if was.clone().unordered().is_parallel(&is.clone().unordered()) => {
                let why = Reason::Strict("strict {r} reject the order in which {w} write them");
                (kinds::ORDER, Effect::both(why))
            }
            _ => (kinds::GROUPING, Effect::both("{w} may combine them in a way that {r} don't allow")),
        };
        self.add(kind, here, (described(&was), described(&is)), effect);
        for (element, partner) in both() {
            let node = self.step(here.node, element.name.local());
            self.occurs(element.occurs, partner.occurs, Position { node, ..here });
        }
    }

    /// Compares occurrences in two shapes that have the same groups.
    fn occurrences(&mut self, old: &Shape, new: &Shape, here: Position) {
        match (old, new) {
            (Shape::Element(name, one), Shape::Element(_, other)) if one != other => {
                let node = self.step(here.node, name.local());
                self.occurs(*one, *other, Position { node, ..here });
            }
            (Shape::Group(compositor, one, inner), Shape::Group(_, other, others)) => {
                if one != other {
                    let node = self.step(here.node, &format!("{}({})", compositor.name(), described(old)));
                    self.occurs(*one, *other, Position { node, ..here });
                }
                inner.iter().zip(others).for_each(|(one, other)| self.occurrences(one, other, here));
            }
            _ => {}
        }
    }

    fn occurs(&mut self, old: Occurs, new: Occurs, here: Position) {
        let effect = Effect { old_to_new: old.exceeds(new), new_to_old: new.exceeds(old) };
        let kind = match (effect.old_to_new, effect.new_to_old) {
            (Some(_), Some(_)) => kinds::OCCURRENCE,
            (Some(_), None) if old.min == 0 && new.min > 0 => kinds::REQUIRED,
            (None, Some(_)) if new.min == 0 && old.min > 0 => kinds::OPTIONAL,
            (Some(_), None) => kinds::NARROWED,
            (None, Some(_)) => kinds::WIDENED,
            (None, None) => return,
        };
        self.add(kind, here, (old.to_string(), new.to_string()), effect);
    }
}

/// Returns true if a particle may be empty.
fn may_be_empty(schema: &Schema, particle: &Particle) -> bool {
    let group = match &particle.term {
        _ if particle.min_occurs == 0 => return true,
        Term::Element(_) | Term::Wildcard(_) => return false,
        Term::Group(group) => group,
        Term::GroupReference(id) => &schema[*id].group,
    };
    let mut particles = group.particles.iter();
    match group.compositor {
        Compositor::Choice => particles.any(|particle| may_be_empty(schema, particle)),
        Compositor::Sequence | Compositor::All => particles.all(|particle| may_be_empty(schema, particle)),
    }
}

/// Returns the partner of each element in the other model: the one with the same name or, without any, with the same
/// local name.
fn matched(one: &Model, other: &Model) -> Vec<Option<usize>> {
    let names = |model: &Model| -> Vec<ExpandedName> { model.elements.iter().map(|one| one.name.clone()).collect() };
    paired(&names(one), &names(other)).0
}
