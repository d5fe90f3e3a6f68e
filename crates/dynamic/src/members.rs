//! What the values of a contract have in them: the names that paths into their JSON go by.

use std::collections::HashSet;
use std::ptr;

use castile_databinding::datatypes::{Datatype, Invalid};
use castile_databinding::schema::Element;

use crate::contract::Operation;
use crate::json::{Held, Key, expanded, simple_from_json};
use crate::read::type_of;
use crate::simple::{Kind, SimpleType};
use crate::types::{Base, Complex, Content, ElementType, Group, Particles, Place, Struct, Term};

/// A member of any name, and an attribute of any name.
const ANY: &str = "*";
const ANY_ATTRIBUTE: &str = "@*";

/// A path that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMember {
    /// How many of its names lead somewhere.
    pub known: usize,
    /// The names that may stand behind those; none behind a value by itself. `*` is any, `@*` any attribute.
    pub expected: Vec<String>,
}

/// The simple type of what a path leads to.
#[derive(Clone, Copy, Debug)]
pub struct Simple(&'static SimpleType);

/// What a file is to become where a simple type takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimpleKind {
    /// `xs:base64Binary`, or a type that restricts it.
    Base64Binary,
    /// `xs:hexBinary`, or a type that restricts it.
    HexBinary,
    /// Another one.
    Other,
}

impl Simple {
    /// Which of the types for bytes it is, if it is one.
    pub fn kind(&self) -> SimpleKind {
        match self.0.kind {
            Kind::Datatype(Datatype::Base64Binary) => SimpleKind::Base64Binary,
            Kind::Datatype(Datatype::HexBinary) => SimpleKind::HexBinary,
            Kind::Datatype(_) | Kind::List(_) | Kind::Enumeration { .. } | Kind::Union { .. } => SimpleKind::Other,
        }
    }

    /// Whether a text is a value of the type. One that an enumeration doesn't list is none, though it may be read.
    ///
    /// # Errors
    /// What is wrong, in the words of an error of reading.
    pub fn check(&self, text: &str) -> Result<(), String> {
        simple_from_json(&text.into(), self.0, Held::NOTHING).map_err(|error| error.message)?;
        let listed = self.0.check_listed(text);
        listed.map_err(|problem| Invalid::text(text, self.0.name, problem).message().to_owned())
    }
}

/// What stands in a value.
#[derive(Clone, Copy)]
enum Inside {
    Of(&'static ElementType),
    Group(&'static Group),
    /// A value by itself.
    Simple(&'static SimpleType),
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
        self.follow(names).map(|_| ())
    }

    /// The simple type of what these names lead to in a request: an element of one or with simple content, or an attribute. `None` if it
    /// has no simple type, if several are possible, or if the contract leaves it open.
    pub fn simple_in_request(&self, names: &[&str]) -> Option<Simple> {
        let names = match names {
            // The content of an element.
            [element @ .., "$"] => element,
            names => names,
        };
        let mut types = Vec::new();
        for inside in self.follow(names).ok()? {
            inside.simple_types(&mut types);
        }
        let of = types.first().copied().flatten()?;
        types.iter().all(|other| other.is_some_and(|other| ptr::eq(of, other))).then_some(Simple(of))
    }

    /// Whether the JSON of a request is a value by itself, since its element is of a simple type.
    pub fn request_is_simple(&self) -> bool {
        let mut of = type_of(&self.soap().request.element);
        while let Base::Shared(inner) = of.base {
            of = inner;
        }
        matches!(of.base, Base::Simple(_))
    }

    /// What these names lead to.
    fn follow(&self, names: &[&str]) -> Result<Vec<Inside>, NoMember> {
        // A name may stand for several things where a type has others derived from it.
        let mut inside = vec![Inside::Of(type_of(&self.soap().request.element))];
        for (known, name) in names.iter().enumerate() {
            let members: Vec<(String, Inside)> = inside.iter().flat_map(|inside| inside.members()).collect();
            inside = Vec::new();
            let is_declared = members.iter().any(|(member, _)| member == name);
            for (member, of) in &members {
                let is_it = match is_declared {
                    true => member == name,
                    false => member == ANY || member == ANY_ATTRIBUTE && name.starts_with('@'),
                };
                if is_it && !inside.iter().any(|known| of.is_same(known)) {
                    inside.push(*of);
                }
            }
            if inside.iter().any(|inside| matches!(inside, Inside::Anything)) {
                return Ok(vec![Inside::Anything]);
            }
            if inside.is_empty() {
                // What begins so stands for what XML has beside elements.
                if name.starts_with('$') {
                    return Ok(vec![Inside::Anything]);
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
        Ok(inside)
    }
}

impl Inside {
    fn is_same(self, other: &Self) -> bool {
        match (self, other) {
            (Inside::Of(one), Inside::Of(other)) => ptr::eq(one, *other),
            (Inside::Group(one), Inside::Group(other)) => ptr::eq(one, *other),
            (Inside::Simple(one), Inside::Simple(other)) => ptr::eq(one, *other),
            (Inside::Anything, Inside::Anything) => true,
            _ => false,
        }
    }

    /// The simple types that it may be of, each of which is there once in a contract. `None` stands for what has none.
    fn simple_types(self, types: &mut Vec<Option<&'static SimpleType>>) {
        match self {
            Inside::Of(of) => simple_types(of, types, &mut HashSet::new()),
            Inside::Simple(of) => types.push(Some(of)),
            Inside::Group(_) | Inside::Anything => types.push(None),
        }
    }

    /// The names of what stands in it.
    fn members(self) -> Vec<(String, Inside)> {
        let mut members = Vec::new();
        match self {
            Inside::Of(of) => of_type(of, &mut members, &mut HashSet::new()),
            Inside::Group(group) => of_group(group, &mut members),
            Inside::Simple(_) => {}
            Inside::Anything => members.push(any()),
        }
        members
    }
}

fn any() -> (String, Inside) {
    (ANY.to_owned(), Inside::Anything)
}

/// What was looked into already is not looked into again, as below.
fn simple_types(
    of: &'static ElementType,
    types: &mut Vec<Option<&'static SimpleType>>,
    seen: &mut HashSet<*const Place>,
) {
    match of.base {
        Base::Simple(of) => types.push(Some(of)),
        Base::Nothing | Base::AnyType => types.push(None),
        Base::Shared(inner) => simple_types(inner, types, seen),
        Base::Complex(place) if !seen.insert(ptr::from_ref(place)) => {}
        Base::Complex(place) => match place.get() {
            Complex::Struct(Struct { content: Content::Simple { of, .. }, .. }) => types.push(Some(of)),
            Complex::Struct(_) | Complex::EncodedStruct(_) => types.push(None),
            Complex::Derived(of) => of.variants.iter().for_each(|variant| simple_types(variant.of, types, seen)),
            Complex::EncodedArray(of) => simple_types(type_of(&of.array.item), types, seen),
        },
    }
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
    for (declared, attribute) in of.table.declared.iter().zip(&of.attributes) {
        let name = format!("@{}", expanded(declared.namespace, declared.name));
        members.push((name, Inside::Simple(attribute.of)));
    }
    if of.has_others {
        members.push((ANY_ATTRIBUTE.to_owned(), Inside::Anything));
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
