//! Looks up the names in paths into the JSON of a contract's values.

use std::collections::HashSet;
use std::ptr;

use castile_databinding::datatypes::{Datatype, Invalid};
use castile_databinding::schema::Element;

use crate::contract::Operation;
use crate::json::{Constraints, expanded, simple_from_json};
use crate::read::type_of;
use crate::simple::{SimpleType, SimpleTypeKind};
use crate::types::{Base, Complex, Content, ElementType, Group, Key, LazyType, Particles, Struct, Term};

/// A member with any name, and an attribute with any name.
const ANY: &str = "*";
const ANY_ATTRIBUTE: &str = "@*";

/// The error for a path that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMember {
    /// How many names at the start of the path were found.
    pub found: usize,
    /// The names that may follow these; empty after a simple value. `*` is any name, `@*` any attribute.
    pub expected: Vec<String>,
}

/// The simple type at the end of a path.
#[derive(Clone, Copy, Debug)]
pub struct Simple(&'static SimpleType);

/// How the content of a file is encoded for a simple type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimpleKind {
    /// `xs:base64Binary`, or a restriction of it.
    Base64Binary,
    /// `xs:hexBinary`, or a restriction of it.
    HexBinary,
    /// Any other type.
    Other,
}

impl Simple {
    /// Returns which binary type it is, if any.
    pub fn kind(&self) -> SimpleKind {
        match self.0.kind {
            SimpleTypeKind::Datatype(Datatype::Base64Binary) => SimpleKind::Base64Binary,
            SimpleTypeKind::Datatype(Datatype::HexBinary) => SimpleKind::HexBinary,
            SimpleTypeKind::Datatype(_)
            | SimpleTypeKind::List(_)
            | SimpleTypeKind::Enumeration { .. }
            | SimpleTypeKind::Union { .. } => SimpleKind::Other,
        }
    }

    /// Checks that a text is a value of the type. A value that isn't in the enumeration is rejected, even if reading
    /// accepts it.
    ///
    /// # Errors
    /// The text is not a value of the type. The message is that of the error for reading it.
    pub fn check(&self, text: &str) -> Result<(), String> {
        simple_from_json(&text.into(), self.0, Constraints::NONE).map_err(|error| error.message)?;
        let listed = self.0.check_listed(text);
        listed.map_err(|problem| Invalid::text(text, self.0.name, problem).message().to_owned())
    }
}

/// Something within a value.
#[derive(Clone, Copy)]
enum Inside {
    Of(&'static ElementType),
    Group(&'static Group),
    /// A simple value.
    Simple(&'static SimpleType),
    /// Content that the contract leaves open.
    Anything,
}

impl Operation {
    /// Checks that a path exists in the JSON of a request. Each name is a member of what the previous names lead to.
    /// Items of arrays are skipped.
    ///
    /// # Errors
    /// A name of the path leads nowhere. The error describes the first such name.
    pub fn find_in_request(&self, names: &[&str]) -> Result<(), NoMember> {
        self.follow(names).map(|_| ())
    }

    /// Returns the simple type at a path in a request: that of an attribute, or of an element with a simple type or
    /// simple content.
    ///
    /// Returns `None` if there is no simple type, if several are possible, or if the contract leaves it open.
    pub fn simple_in_request(&self, names: &[&str]) -> Option<Simple> {
        let names = match names {
            // `$` is the content of an element.
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

    /// Returns true if the JSON of a request is a simple value, because its element has a simple type.
    pub fn request_is_simple(&self) -> bool {
        let mut of = type_of(&self.soap().request.element);
        while let Base::Shared(inner) = of.base {
            of = inner;
        }
        matches!(of.base, Base::Simple(_))
    }

    /// Returns everything that a path may lead to.
    fn follow(&self, names: &[&str]) -> Result<Vec<Inside>, NoMember> {
        // A name may lead to several members if a type has derived types.
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
                // Such names represent XML constructs other than elements.
                if name.starts_with('$') {
                    return Ok(vec![Inside::Anything]);
                }
                let mut expected: Vec<String> = Vec::new();
                for (member, _) in members {
                    if !expected.contains(&member) {
                        expected.push(member);
                    }
                }
                return Err(NoMember { found: known, expected });
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

    /// Collects its possible simple types, each of which exists once in a contract. `None` stands for anything else.
    fn simple_types(self, types: &mut Vec<Option<&'static SimpleType>>) {
        match self {
            Inside::Of(of) => simple_types(of, types, &mut HashSet::new()),
            Inside::Simple(of) => types.push(Some(of)),
            Inside::Group(_) | Inside::Anything => types.push(None),
        }
    }

    /// Returns its members with their names.
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

/// Collects simple types. Types that were visited before are skipped.
fn simple_types(
    of: &'static ElementType,
    types: &mut Vec<Option<&'static SimpleType>>,
    seen: &mut HashSet<*const LazyType>,
) {
    match of.base {
        Base::Simple(of) => types.push(Some(of)),
        Base::Nothing | Base::AnyType => types.push(None),
        Base::Shared(inner) => simple_types(inner, types, seen),
        Base::Complex(lazy) if !seen.insert(ptr::from_ref(lazy)) => {}
        Base::Complex(lazy) => match lazy.get() {
            Complex::Struct(Struct { content: Content::Simple { of, .. }, .. }) => types.push(Some(of)),
            Complex::Struct(_) | Complex::EncodedStruct(_) => types.push(None),
            Complex::Derived(of) => of.variants.iter().for_each(|variant| simple_types(variant.of, types, seen)),
            Complex::EncodedArray(of) => simple_types(type_of(&of.array.item), types, seen),
        },
    }
}

/// Collects members. Types that were visited before are skipped, because an array may have items of its own type.
fn of_type(of: &'static ElementType, members: &mut Vec<(String, Inside)>, seen: &mut HashSet<*const LazyType>) {
    match of.base {
        Base::Simple(_) | Base::Nothing => {}
        Base::AnyType => members.push(any()),
        Base::Shared(inner) => of_type(inner, members, seen),
        Base::Complex(lazy) if !seen.insert(ptr::from_ref(lazy)) => {}
        Base::Complex(lazy) => match lazy.get() {
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
