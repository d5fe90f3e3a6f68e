//! The attributes and the content of a type: their types, which derived code writes as one tuple, and the tables of the decoder.

use std::marker::PhantomData;

use super::{AttributeDeclaration, Declared, ParticleDeclaration, TermDeclaration};
use crate::schema::{Attributes, Element, Namespaces, ValueConstraint};

/// The types of attributes and of the members of a content: `()`, a tuple of [`Of`], [`Optional`], [`Flattened`] and
/// [`Wildcard`], or an [`And`] of two of them.
pub trait Types {
    /// The types, as particles.
    const ROW: &'static Row;
}

/// A tuple of types, followed by more types.
#[derive(Debug)]
pub struct And<F, R>(PhantomData<(F, R)>);

impl<F: Types, R: Types> Types for And<F, R> {
    const ROW: &'static Row = &Row { particles: F::ROW.particles, rest: Some(R::ROW) };
}

macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        impl<$first: Particle, $($rest: Particle),*> Types for ($first, $($rest,)*) {
            const ROW: &'static Row = &Row { particles: &[$first::PARTICLE, $($rest::PARTICLE),*], rest: None };
        }
        tuples!($($rest)*);
    };
    () => {
        impl Types for () {
            const ROW: &'static Row = &Row { particles: &[], rest: None };
        }
    };
}

tuples!(A B C D E F G H I J K L);

/// An item of a tuple of [`Types`].
pub trait Particle {
    /// The particle. Elements have no names here.
    const PARTICLE: &'static ParticleDeclaration;
}

/// An element, or a required attribute.
#[derive(Debug)]
pub struct Of<T>(PhantomData<T>);

impl<T: Declared> Particle for Of<T> {
    const PARTICLE: &'static ParticleDeclaration = &ParticleDeclaration::element::<T>();
}

/// An optional attribute.
#[derive(Debug)]
pub struct Optional<T>(PhantomData<T>);

impl<T: Declared> Particle for Optional<T> {
    const PARTICLE: &'static ParticleDeclaration = &ParticleDeclaration::element::<T>().occurs(0, Some(1));
}

/// The content of a type, which occurs between `MIN` and `MAX` times. `MAX` may be [`UNBOUNDED`].
#[derive(Debug)]
pub struct Flattened<T, const MIN: u32, const MAX: u32>(PhantomData<T>);

impl<T: Declared, const MIN: u32, const MAX: u32> Particle for Flattened<T, MIN, MAX> {
    const PARTICLE: &'static ParticleDeclaration = &ParticleDeclaration::content_of::<T>().occurs(MIN, bound(MAX));
}

/// Any element that `W` takes, between `MIN` and `MAX` times. `MAX` may be [`UNBOUNDED`].
#[derive(Debug)]
pub struct Wildcard<W, const MIN: u32, const MAX: u32>(PhantomData<W>);

/// The namespaces of a wildcard.
pub trait Takes {
    /// The namespaces of the elements.
    const NAMESPACES: Namespaces;
}

impl<W: Takes, const MIN: u32, const MAX: u32> Particle for Wildcard<W, MIN, MAX> {
    const PARTICLE: &'static ParticleDeclaration =
        &ParticleDeclaration::once(TermDeclaration::Any(W::NAMESPACES)).occurs(MIN, bound(MAX));
}

/// The `MAX` of a particle without a maximum number of occurrences.
pub const UNBOUNDED: u32 = u32::MAX;

const fn bound(most: u32) -> Option<u32> {
    if most == UNBOUNDED { None } else { Some(most) }
}

/// A linked list of particles. The first ones are in `particles`.
#[derive(Debug)]
pub struct Row {
    pub(super) particles: &'static [&'static ParticleDeclaration],
    pub(super) rest: Option<&'static Row>,
}

impl Row {
    /// Returns the particle with this index.
    const fn get(&self, mut number: usize) -> Option<&'static ParticleDeclaration> {
        let mut row = self;
        while number >= row.particles.len() {
            number -= row.particles.len();
            let Some(rest) = row.rest else { return None };
            row = rest;
        }
        Some(row.particles[number])
    }

    const fn len(&self) -> usize {
        let (mut row, mut len) = (self, self.particles.len());
        while let Some(rest) = row.rest {
            (row, len) = (rest, len + rest.particles.len());
        }
        len
    }
}

/// The attributes of a complex type, and the members of its content.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// The attributes, then the members.
    row: &'static Row,
    attributes: &'static Attributes,
    elements: &'static [Element],
}

impl Parts {
    /// Neither attributes nor members.
    pub const NONE: Parts = Parts::of::<()>(&Attributes::NONE, &[]);

    /// Creates the parts from the types of the attributes, followed by those of the members. The tables have the names of the
    /// attributes; and names, occurrence and defaults of the elements.
    pub const fn of<T: Types>(attributes: &'static Attributes, elements: &'static [Element]) -> Self {
        Parts { row: T::ROW, attributes, elements }
    }
}

/// A list of particles. The names, occurrence and defaults of those that are elements are in a table.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    pub(super) row: &'static Row,
    /// The index of the first particle in the row.
    pub(super) first: usize,
    /// The table of the elements, from that of the first particle on.
    pub(super) elements: &'static [Element],
    /// The documentation, from that of the first particle on.
    pub(super) documentation: &'static [&'static str],
}

impl Members {
    /// The empty list.
    pub const NONE: Members = Members { row: <()>::ROW, first: 0, elements: &[], documentation: &[] };

    pub(super) const fn of<T: Declared>() -> Self {
        let Parts { row, attributes, elements } = T::PARTS;
        Members { row, first: attributes.declared.len(), elements, documentation: T::MEMBER_DOCUMENTATION }
    }

    /// Returns the number of particles.
    pub const fn len(&self) -> usize {
        self.row.len() - self.first
    }

    /// Whether there are no particles.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the particles.
    pub fn iter(self) -> impl Iterator<Item = ParticleDeclaration> {
        let mut left = self;
        std::iter::from_fn(move || {
            let (first, rest) = left.split_first()?;
            left = rest;
            Some(first)
        })
    }

    /// Returns the first particle, and the rest of the list.
    pub const fn split_first(self) -> Option<(ParticleDeclaration, Members)> {
        let Some(first) = self.row.get(self.first) else { return None };
        let (mut first, mut rest) = (*first, Members { first: self.first + 1, ..self });
        let mut documentation = "";
        if let [said, others @ ..] = self.documentation {
            (documentation, rest.documentation) = (said, others);
        }
        let TermDeclaration::Element(declared) = &mut first.term else { return Some((first, rest)) };
        declared.documentation = documentation;
        if let [element, others @ ..] = self.elements {
            rest.elements = others;
            (declared.namespace, declared.name) = (element.namespace, element.name);
            (first.min_occurs, first.max_occurs) = (element.min_occurs, element.max_occurs);
            if let Some(constraint) = element.constraint {
                declared.default = Some(constraint.value());
                declared.is_fixed = matches!(constraint, ValueConstraint::Fixed(_));
            }
        }
        Some((first, rest))
    }

    /// Returns the list without the first `count` particles.
    #[must_use]
    pub fn skip(self, count: usize) -> Members {
        (0..count).fold(self, |left, _| left.split_first().map_or(left, |(_, rest)| rest))
    }
}

/// The default of an attribute, whether it is fixed, and the documentation.
pub type AttributeDetails = (Option<&'static str>, bool, &'static str);

/// The attributes of a type. Their names are in a table.
#[derive(Clone, Copy, Debug)]
pub struct AttributeUses {
    /// The row that begins with the attributes.
    pub(super) row: &'static Row,
    pub(super) names: &'static Attributes,
    pub(super) details: &'static [AttributeDetails],
}

impl AttributeUses {
    pub(super) const fn of<T: Declared>() -> Self {
        let Parts { row, attributes, .. } = T::PARTS;
        AttributeUses { row, names: attributes, details: T::ATTRIBUTE_DETAILS }
    }

    /// Returns the number of attributes.
    pub const fn len(&self) -> usize {
        self.names.declared.len()
    }

    /// Whether there are no attributes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the attribute with this index.
    pub const fn get(&self, number: usize) -> Option<AttributeDeclaration> {
        if number >= self.len() {
            return None;
        }
        let Some(particle) = self.row.get(number) else { return None };
        let TermDeclaration::Element(of) = &particle.term else { return None };
        let (default, is_fixed, documentation) =
            if number < self.details.len() { self.details[number] } else { (None, false, "") };
        let name = &self.names.declared[number];
        Some(AttributeDeclaration {
            namespace: name.namespace,
            name: name.name,
            of: of.of,
            kind: of.kind,
            is_required: particle.min_occurs > 0,
            default,
            is_fixed,
            documentation,
        })
    }

    /// Iterates over the attributes.
    pub fn iter(self) -> impl Iterator<Item = AttributeDeclaration> {
        (0..self.len()).filter_map(move |number| self.get(number))
    }
}
