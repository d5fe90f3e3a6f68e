//! The order of the pieces of mixed content.

use super::fields::Wildcard;

/// A particle of mixed content. It defines the order of pieces, which is not part of their types.
#[derive(Debug)]
pub struct Particle {
    pub min: u32,
    pub max: Option<u32>,
    pub kind: ParticleKind,
}

#[derive(Debug)]
pub enum ParticleKind {
    /// An element, by its index in the table of the pieces.
    Element(usize),
    Any(Wildcard),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
}
