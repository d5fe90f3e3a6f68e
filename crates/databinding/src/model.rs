//! Content models, and the order of elements in mixed content.

pub use castile_datatypes::model::{Matcher, Model, Particle};

use crate::expected::Expected;
use crate::schema::First;

/// The order of elements in mixed content.
#[derive(Debug)]
pub struct Order {
    model: Model,
    leaves: Vec<First>,
}

impl Order {
    /// Creates the order of a particle. `leaves` are the elements that each of its leaves takes.
    pub fn new(particle: &Particle, leaves: Vec<First>) -> Self {
        Order { model: Model::new(particle), leaves }
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the leaves that take an element of this name.
    pub(crate) fn candidates(&self, namespace: &str, name: &str) -> Vec<usize> {
        let takes = |(number, leaf): (usize, &First)| {
            First::takes(std::slice::from_ref(leaf), namespace, name).then_some(number)
        };
        self.leaves.iter().enumerate().filter_map(takes).collect()
    }

    /// Returns what could come next, for messages: `<a>, <b> or another element`.
    #[cold]
    pub(crate) fn expected(&self, matcher: &Matcher) -> Expected {
        let (leaves, has_more) = matcher.expected(&self.model);
        let leaves = leaves.iter().filter_map(|&leaf| self.leaves.get(leaf));
        let expected = Expected::first(leaves);
        if has_more { expected.or("another element") } else { expected }
    }
}
