//! What the values of a contract have in them: the names that paths into their JSON go by.

use std::collections::HashSet;
use std::ptr;

use castile_databinding::schema::Element;

use crate::contract::Operation;
use crate::json::{Key, expanded};
use crate::read::type_of;
use crate::types::{Base, Complex, Content, ElementType, Group, Particles, Place, Struct, Term};

/// A path that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMember {
    /// How many of its names lead somewhere.
    pub known: usize,
    /// The names that may stand behind those; none behind a value by itself.
    pub expected: Vec<String>,
}

/// What stands in a value.
#[derive(Clone, Copy)]
enum Inside {
    Of(&'static ElementType),
    Group(&'static Group),
    /// A value by itself.
    Nothing,
    /// What the contract leaves open.
    Anything,
}

impl Operation {
    /// Whether the JSON of a request can have something where these names lead, each a member of what the one before it stands for.
    /// Items of arrays are passed through.
    ///
    /// # Errors
    /// The first name that leads nowhere.
    pub fn find_in_request(&self, names: &[&str]) -> Result<(), NoMember> {
        // A name may stand for several things where a type has others derived from it.
        let mut inside = vec![Inside::Of(type_of(&self.soap().request.element))];
        for (known, name) in names.iter().enumerate() {
            let members: Vec<(String, Inside)> = inside.iter().flat_map(|inside| inside.members()).collect();
            inside = Vec::new();
            for (member, of) in &members {
                if (member == name || member == "*") && !inside.iter().any(|known| of.is_same(known)) {
                    inside.push(*of);
                }
            }
            if inside.iter().any(|inside| matches!(inside, Inside::Anything)) {
                return Ok(());
            }
            if inside.is_empty() {
                // What begins so stands for what XML has beside elements.
                if name.starts_with('$') {
                    return Ok(());
                }
                let mut expected: Vec<String> = Vec::new();
                for (member, _) in members {
                    if !expected.contains(&member) {
                        expected.push(member);
                    }
                }
                return Err(NoMember { known, expected });
            }
        }
        Ok(())
    }
}

impl Inside {
    fn is_same(self, other: &Self) -> bool {
        match (self, other) {
            (Inside::Of(one), Inside::Of(other)) => ptr::eq(one, *other),
            (Inside::Group(one), Inside::Group(other)) => ptr::eq(one, *other),
            (Inside::Nothing, Inside::Nothing) | (Inside::Anything, Inside::Anything) => true,
            _ => false,
        }
    }

    /// The names of what stands in it; `*` is any.
    fn members(self) -> Vec<(String, Inside)> {
        let mut members = Vec::new();
        match self {
            Inside::Of(of) => of_type(of, &mut members, &mut HashSet::new()),
            Inside::Group(group) => of_group(group, &mut members),
            Inside::Nothing => {}
            Inside::Anything => members.push(any()),
        }
        members
    }
}

fn any() -> (String, Inside) {
    ("*".to_owned(), Inside::Anything)
}

/// What was looked into already is not looked into again: an array may have items of its own type.
fn of_type(of: &'static ElementType, members: &mut Vec<(String, Inside)>, seen: &mut HashSet<*const Place>) {
    match of.base {
        Base::Simple(_) | Base::Nothing => {}
        Base::AnyType => members.push(any()),
        Base::Shared(inner) => of_type(inner, members, seen),
        Base::Complex(place) if !seen.insert(ptr::from_ref(place)) => {}
        Base::Complex(place) => match place.get() {
            Complex::Struct(of) => of_struct(of, members),
            Complex::Derived(of) => of.variants.iter().for_each(|variant| of_type(variant.of, members, seen)),
            Complex::EncodedStruct(of) => {
                members.extend(of.table.iter().map(|element| (element.name.to_owned(), Inside::Of(type_of(element)))));
            }
            Complex::EncodedArray(of) => of_type(type_of(&of.array.item), members, seen),
        },
    }
}

fn of_struct(of: &'static Struct, members: &mut Vec<(String, Inside)>) {
    let attributes = of.table.declared.iter();
    members.extend(
        attributes.map(|declared| (format!("@{}", expanded(declared.namespace, declared.name)), Inside::Nothing)),
    );
    if of.has_others {
        members.push(any());
    }
    match &of.content {
        Content::Simple { .. } => {}
        Content::Sequence(particles) | Content::All(particles) => of_particles(particles, members),
        Content::Mixed(_) => members.push(("$".to_owned(), Inside::Anything)),
    }
}

fn of_group(group: &'static Group, members: &mut Vec<(String, Inside)>) {
    of_particles(group.particles(), members);
}

fn of_particles(particles: &'static Particles, members: &mut Vec<(String, Inside)>) {
    let table: &'static [Element] = particles.table;
    for (particle, key) in particles.list.iter().zip(&particles.keys) {
        match (key, &particle.term) {
            (Key::Member(name), Term::Element { index, .. }) => {
                let inside = table.get(*index).map_or(Inside::Anything, |element| Inside::Of(type_of(element)));
                members.push(((*name).to_owned(), inside));
            }
            (Key::Member(name), Term::Group(group)) => members.push(((*name).to_owned(), Inside::Group(group))),
            (Key::Member(name), Term::Any(..)) => members.push(((*name).to_owned(), Inside::Anything)),
            (Key::Flat, Term::Group(group)) => of_group(group, members),
            (Key::Flat, Term::Element { .. } | Term::Any(..)) => {}
        }
    }
}
