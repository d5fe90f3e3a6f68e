//! Content models as tables: a node for each particle, found by the names of its elements.

use std::collections::HashMap;

use super::names::{NameId, Names};
use crate::components::{Compositor, Particle, Scope, Term, Wildcard};
use crate::{ElementId, Schema};

/// The number of a node; the root is 0.
pub(super) type NodeId = u32;

/// The content model of a type. Its size is that of its particles, whatever their occurrence.
#[derive(Debug)]
pub(super) struct Model {
    nodes: Vec<Node>,
    /// Elements and wildcards, in the order of the schema.
    leaves: Vec<NodeId>,
    by_name: HashMap<NameId, Vec<NodeId>>,
    /// Global elements, for which others may stand.
    by_element: HashMap<ElementId, Vec<NodeId>>,
    wildcards: Vec<NodeId>,
    /// How many particles there are in all `<all>` groups.
    slots: usize,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) min: u32,
    /// `None` is unbounded.
    pub(super) max: Option<u32>,
    pub(super) parent: NodeId,
    /// Which child of its parent it is.
    pub(super) index: usize,
    pub(super) depth: usize,
    /// One occurrence may be nothing.
    pub(super) is_nullable_once: bool,
    /// The outermost node on the way down to here of which this may be the first child: all that stands before is
    /// nullable.
    pub(super) first_of: usize,
}

#[derive(Debug)]
pub(super) enum Kind {
    Element(ElementId),
    Wildcard(Wildcard),
    /// How many of the children before each one are not nullable, and of all.
    Sequence(Vec<u32>),
    Choice,
    /// The children, and the number of the first one's slot.
    All {
        children: Vec<NodeId>,
        first_slot: usize,
    },
}

impl Node {
    /// Whether all its occurrences together may be nothing.
    pub(super) fn is_nullable(&self) -> bool {
        self.min == 0 || self.is_nullable_once
    }

    /// Whether that many occurrences are enough.
    pub(super) fn is_enough(&self, count: u32) -> bool {
        count >= self.min || self.is_nullable_once
    }

    /// Whether there may be another occurrence after that many.
    pub(super) fn may_repeat(&self, count: u32) -> bool {
        self.max.is_none_or(|max| count < max)
    }
}

impl Model {
    /// The model of a particle whose groups are in the place of references ([`Schema::content`]).
    pub(super) fn new(schema: &Schema, names: &Names, particle: &Particle) -> Self {
        let mut model = Model {
            nodes: Vec::new(),
            leaves: Vec::new(),
            by_name: HashMap::new(),
            by_element: HashMap::new(),
            wildcards: Vec::new(),
            slots: 0,
        };
        model.add(schema, names, particle, Place { parent: 0, index: 0, depth: 0, first_of: 0 });
        model
    }

    /// Adds a particle and what is in it. Groups nest no deeper than the front end lets them.
    fn add(&mut self, schema: &Schema, names: &Names, particle: &Particle, place: Place) -> NodeId {
        let id = self.nodes.len() as NodeId;
        let (kind, is_nullable_once) = match &particle.term {
            Term::Element(element) => (Kind::Element(*element), false),
            Term::Wildcard(wildcard) => (Kind::Wildcard(wildcard.clone()), false),
            Term::Group(_) | Term::GroupReference(_) => (Kind::Choice, true),
        };
        let (min, max) = (particle.min_occurs, particle.max_occurs);
        let Place { parent, index, depth, first_of } = place;
        self.nodes.push(Node { kind, min, max, parent, index, depth, is_nullable_once, first_of });
        let group = match &particle.term {
            Term::Element(element) => {
                self.leaves.push(id);
                let declaration = &schema[*element];
                if let Some(name) = names.get(&declaration.name) {
                    self.by_name.entry(name).or_default().push(id);
                }
                if declaration.scope == Scope::Global {
                    self.by_element.entry(*element).or_default().push(id);
                }
                return id;
            }
            Term::Wildcard(_) => {
                self.leaves.push(id);
                self.wildcards.push(id);
                return id;
            }
            Term::Group(group) => group,
            Term::GroupReference(group) => &schema[*group].group,
        };
        let within = Place { parent: id, index: 0, depth: depth + 1, first_of };
        let mut children = Vec::new();
        let mut not_nullable = vec![0];
        for (index, child) in group.particles.iter().enumerate() {
            let before = not_nullable.last().copied().unwrap_or_default();
            let is_first = group.compositor != Compositor::Sequence || before == 0;
            let first_of = if is_first { within.first_of } else { within.depth };
            let child = self.add(schema, names, child, Place { index, first_of, ..within });
            not_nullable.push(before + u32::from(!self[child].is_nullable()));
            children.push(child);
        }
        let (kind, is_nullable_once) = match group.compositor {
            Compositor::Sequence => {
                let is_nullable = not_nullable.last() == Some(&0);
                (Kind::Sequence(not_nullable), is_nullable)
            }
            Compositor::Choice => (Kind::Choice, children.iter().any(|&child| self[child].is_nullable())),
            Compositor::All => {
                let first_slot = self.slots;
                self.slots += children.len();
                let is_nullable = not_nullable.last() == Some(&0);
                (Kind::All { children, first_slot }, is_nullable)
            }
        };
        if let Some(node) = self.nodes.get_mut(id as usize) {
            node.kind = kind;
            node.is_nullable_once = is_nullable_once;
        }
        id
    }

    pub(super) fn root(&self) -> &Node {
        &self[0]
    }

    pub(super) fn leaves(&self) -> &[NodeId] {
        &self.leaves
    }

    /// The elements of this name.
    pub(super) fn named(&self, name: NameId) -> &[NodeId] {
        self.by_name.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Where this global element is referred to.
    pub(super) fn references(&self, element: ElementId) -> &[NodeId] {
        self.by_element.get(&element).map_or(&[], Vec::as_slice)
    }

    pub(super) fn wildcards(&self) -> &[NodeId] {
        &self.wildcards
    }

    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// The node and those around it up to the root.
    pub(super) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |&id| (id != 0).then(|| self[id].parent))
    }
}

/// Where a node is added.
#[derive(Clone, Copy)]
struct Place {
    parent: NodeId,
    index: usize,
    depth: usize,
    first_of: usize,
}

impl std::ops::Index<NodeId> for Model {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }
}
