//! The attributes and the content of a type: their types, which derived code writes as tuples, and the tables of the decoder.

use std::marker::PhantomData;

use super::{AttributeDeclaration, Declared, ParticleDeclaration, TermDeclaration};
use crate::schema::{Attributes, Element, Namespaces, ValueConstraint};

/// The types of attributes or of the members of a content: `()`, a tuple of [`Of`], [`Optional`], [`Flattened`] and
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

/// A list of particles. The names, occurrence and defaults of those that are elements are in a table.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    pub(super) row: &'static Row,
    /// The index of the first particle in the row.
    pub(super) first: usize,
    /// The table of the elements, from that of the first particle on.
    pub(super) elements: &'static [Element],
    pub(super) documentation: &'static [&'static str],
}

impl Members {
    /// The empty list.
    pub const NONE: Members = Members { row: <()>::ROW, first: 0, elements: &[], documentation: &[] };

    pub(super) const fn of<T: Declared>() -> Self {
        Members { row: T::MEMBERS.0, first: 0, elements: T::MEMBERS.1, documentation: T::MEMBER_DOCUMENTATION }
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
        let TermDeclaration::Element(declared) = &mut first.term else { return Some((first, rest)) };
        if self.first < self.documentation.len() {
            declared.documentation = self.documentation[self.first];
        }
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
    pub(super) row: &'static Row,
    pub(super) names: &'static Attributes,
    pub(super) details: &'static [AttributeDetails],
}

impl AttributeUses {
    pub(super) const fn of<T: Declared>() -> Self {
        AttributeUses { row: T::ATTRIBUTES.0, names: T::ATTRIBUTES.1, details: T::ATTRIBUTE_DETAILS }
    }

    /// Returns the number of attributes.
    pub const fn len(&self) -> usize {
        self.row.len()
    }

    /// Whether there are no attributes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the attribute with this index.
    pub const fn get(&self, number: usize) -> Option<AttributeDeclaration> {
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
