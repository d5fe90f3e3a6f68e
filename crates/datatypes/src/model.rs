//! Content models (XSD Part 1 §3.8, §3.9) that can be asked at any point which elements may come next. They are used for
//! content whose order is not given by the calls of generated code, and for schemas that are read at run time.
//!
//! ```
//! use castile_datatypes::model::{Matcher, Model, Particle};
//!
//! // (a, b?)+
//! let [a, b] = [Particle::leaf(1, Some(1)), Particle::leaf(0, Some(1))];
//! let model = Model::new(&Particle::sequence(1, None, vec![a, b]));
//! let mut matcher = Matcher::default();
//! assert_eq!(matcher.take(&model, &[0]), Some(0));
//! assert_eq!(matcher.take(&model, &[1]), Some(1));
//! assert_eq!(matcher.take(&model, &[1]), None);
//! assert!(matcher.is_complete(&model));
//! ```

mod matching;

pub use matching::Matcher;

/// A particle of a content model.
#[derive(Clone, Debug)]
pub struct Particle {
    min: u32,
    /// `None` is unbounded.
    max: Option<u32>,
    term: Term,
}

#[derive(Clone, Debug)]
enum Term {
    Leaf,
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
}

impl Particle {
    /// Creates an element or a wildcard. Leaves are numbered in document order of the whole model, from 0.
    pub fn leaf(min: u32, max: Option<u32>) -> Self {
        Particle { min, max, term: Term::Leaf }
    }

    /// Creates a sequence.
    pub fn sequence(min: u32, max: Option<u32>, particles: Vec<Particle>) -> Self {
        Particle { min, max, term: Term::Sequence(particles) }
    }

    /// Creates a choice.
    pub fn choice(min: u32, max: Option<u32>, particles: Vec<Particle>) -> Self {
        Particle { min, max, term: Term::Choice(particles) }
    }

    /// Creates an `<all>` group: each particle, in any order.
    pub fn all(min: u32, max: Option<u32>, particles: Vec<Particle>) -> Self {
        Particle { min, max, term: Term::All(particles) }
    }
}

/// The index of a node. The root is 0.
type NodeId = u32;

/// A content model. Its size depends on the number of particles, not on their occurrence.
#[derive(Debug)]
pub struct Model {
    nodes: Vec<Node>,
    /// The nodes of elements and wildcards, in the order of the schema.
    leaves: Vec<NodeId>,
    /// The number of particles in all `<all>` groups.
    slots: usize,
}

#[derive(Debug)]
struct Node {
    kind: NodeKind,
    min: u32,
    /// `None` is unbounded.
    max: Option<u32>,
    parent: NodeId,
    /// The index among the children of the parent.
    index: usize,
    depth: usize,
    /// Whether a single occurrence may be empty.
    is_nullable_once: bool,
    /// The depth of the outermost ancestor that may begin with this node. All siblings before the nodes on the way are
    /// nullable.
    first_of: usize,
}

#[derive(Debug)]
enum NodeKind {
    /// The number of the leaf.
    Leaf(usize),
    /// For each child, how many of the children before it are not nullable; then the number for all children.
    Sequence(Vec<u32>),
    Choice,
    /// The children, and the number of the first child's slot.
    All {
        children: Vec<NodeId>,
        first_slot: usize,
    },
}

impl Node {
    /// Whether all occurrences together may be empty.
    fn is_nullable(&self) -> bool {
        self.min == 0 || self.is_nullable_once
    }

    /// Whether this number of occurrences is enough.
    fn is_enough(&self, count: u32) -> bool {
        count >= self.min || self.is_nullable_once
    }

    /// Whether another occurrence may follow this number of occurrences.
    fn may_repeat(&self, count: u32) -> bool {
        self.max.is_none_or(|max| count < max)
    }
}

impl Model {
    /// Creates the model of a particle.
    pub fn new(particle: &Particle) -> Self {
        let mut model = Model { nodes: Vec::new(), leaves: Vec::new(), slots: 0 };
        model.add(particle, NodePosition { parent: 0, index: 0, depth: 0, first_of: 0 });
        model
    }

    /// Adds a particle and its children. The front end limits how deep groups nest, so recursion is safe.
    fn add(&mut self, particle: &Particle, position: NodePosition) -> NodeId {
        let id = self.nodes.len() as NodeId;
        let (kind, is_nullable_once) = match &particle.term {
            Term::Leaf => (NodeKind::Leaf(self.leaves.len()), false),
            _ => (NodeKind::Choice, true),
        };
        let (min, max) = (particle.min, particle.max);
        let NodePosition { parent, index, depth, first_of } = position;
        self.nodes.push(Node { kind, min, max, parent, index, depth, is_nullable_once, first_of });
        let (particles, is_sequence) = match &particle.term {
            Term::Leaf => {
                self.leaves.push(id);
                return id;
            }
            Term::Sequence(particles) => (particles, true),
            Term::Choice(particles) | Term::All(particles) => (particles, false),
        };
        let within = NodePosition { parent: id, index: 0, depth: depth + 1, first_of };
        let mut children = Vec::new();
        let mut not_nullable = vec![0];
        for (index, child) in particles.iter().enumerate() {
            let before = not_nullable.last().copied().unwrap_or_default();
            let first_of = if !is_sequence || before == 0 { within.first_of } else { within.depth };
            let child = self.add(child, NodePosition { index, first_of, ..within });
            not_nullable.push(before + u32::from(!self.node(child).is_nullable()));
            children.push(child);
        }
        let is_all_nullable = not_nullable.last() == Some(&0);
        let (kind, is_nullable_once) = match &particle.term {
            Term::Sequence(_) => (NodeKind::Sequence(not_nullable), is_all_nullable),
            Term::All(_) => {
                let first_slot = self.slots;
                self.slots += children.len();
                (NodeKind::All { children, first_slot }, is_all_nullable)
            }
            Term::Choice(_) | Term::Leaf => {
                (NodeKind::Choice, children.iter().any(|&child| self.node(child).is_nullable()))
            }
        };
        if let Some(node) = self.nodes.get_mut(id as usize) {
            node.kind = kind;
            node.is_nullable_once = is_nullable_once;
        }
        id
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    fn root(&self) -> &Node {
        self.node(0)
    }

    /// Iterates over the node and its ancestors up to the root.
    fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |&id| (id != 0).then(|| self.node(id).parent))
    }
}

/// The position at which a node is added.
#[derive(Clone, Copy)]
struct NodePosition {
    parent: NodeId,
    index: usize,
    depth: usize,
    first_of: usize,
}
