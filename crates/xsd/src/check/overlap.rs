use std::collections::{HashMap, HashSet};

use crate::ExpandedName;
use crate::components::{Particle, Wildcard};

/// Positions of a content model, by what they match. Two positions are equal if they belong to the same particle.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions<'s> {
    /// Name → address of the particle. The address distinguishes particles of the same element.
    elements: HashMap<&'s ExpandedName, usize>,
    wildcards: Vec<(Wildcard, usize)>,
}

impl<'s> Positions<'s> {
    /// Creates the positions of one particle that matches any of these names.
    pub(super) fn of_elements(names: impl Iterator<Item = &'s ExpandedName>, particle: &Particle) -> Self {
        Self { elements: names.map(|name| (name, address(particle))).collect(), wildcards: Vec::new() }
    }

    pub(super) fn of_wildcard(wildcard: &Wildcard, particle: &Particle) -> Self {
        Self { elements: HashMap::new(), wildcards: vec![(wildcard.clone(), address(particle))] }
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len() + self.wildcards.len()
    }

    /// Returns the cost of a search for a conflict with `other`.
    pub(super) fn cost(&self, other: &Self) -> usize {
        let listed = |positions: &Self| -> usize {
            positions.len() + positions.wildcards.iter().map(|(wildcard, _)| wildcard.namespaces.len()).sum::<usize>()
        };
        let of_wildcards = |one: &Self, other: usize| one.wildcards.len().saturating_mul(other);
        let elements = self.elements.len().min(other.elements.len());
        let wildcards = of_wildcards(self, listed(other)).saturating_add(of_wildcards(other, listed(self)));
        elements.saturating_add(wildcards)
    }

    pub(super) fn extend(&mut self, more: &Self) {
        self.elements.extend(&more.elements);
        let known: HashSet<usize> = self.wildcards.iter().map(|(_, particle)| *particle).collect();
        self.wildcards.extend(more.wildcards.iter().filter(|(_, particle)| !known.contains(particle)).cloned());
    }

    /// Returns descriptions of two positions, one from each set, that can match the same element.
    pub(super) fn clash(&self, other: &Self) -> Option<(String, String)> {
        let (few, many) = if self.elements.len() < other.elements.len() { (self, other) } else { (other, self) };
        // The smallest name is reported, so that the message is deterministic.
        let shared =
            few.elements.iter().filter(|(name, particle)| many.elements.get(*name).is_some_and(|at| at != *particle));
        if let Some((name, _)) = shared.min_by_key(|(name, _)| **name) {
            return Some((format!("element {name}"), format!("another element {name}")));
        }
        self.wildcard_clash(other).or_else(|| other.wildcard_clash(self))
    }

    fn wildcard_clash(&self, other: &Self) -> Option<(String, String)> {
        for (wildcard, particle) in &self.wildcards {
            let allows = wildcard.namespaces.allows_each();
            if let Some(name) = other.elements.keys().filter(|name| allows(name.namespace())).min() {
                return Some(("<any>".into(), format!("element {name}")));
            }
            let overlaps =
                |(other, at): &(Wildcard, usize)| at != particle && wildcard.namespaces.overlaps(&other.namespaces);
            if other.wildcards.iter().any(overlaps) {
                return Some(("<any>".into(), "another <any>".into()));
            }
        }
        None
    }
}

fn address(particle: &Particle) -> usize {
    std::ptr::from_ref(particle).addr()
}
