//! Converts particles to the form in which they are generated: substitution groups become choices, references are
//! replaced, and redundant groups are removed. The valid content doesn't change.

use castile_xsd::components::{Compositor, GroupId, ModelGroup, Particle, Term, Wildcard};
use castile_xsd::{ElementId, Schema, TypeId};

/// A particle.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) term: NodeTerm,
}

#[derive(Clone, Debug)]
pub(super) enum NodeTerm {
    Element(ElementId),
    Any(Wildcard),
    Group(Group),
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) compositor: Compositor,
    pub(super) nodes: Vec<Node>,
    pub(super) origin: Origin,
}

/// The origin of a group, which determines its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// It is written inline.
    Inline,
    /// A part of the content that a type itself declares. Derived types have it, too.
    Step(TypeId, usize),
    /// A named group.
    Definition(GroupId),
    /// A choice of all elements that may occur where this element is referred to (Part 1 §3.3.6).
    Head(ElementId),
}

impl Node {
    fn is_once(&self) -> bool {
        self.min == 1 && self.max == Some(1)
    }

    /// Returns true if it may be empty.
    pub(super) fn is_emptiable(&self) -> bool {
        if self.min == 0 {
            return true;
        }
        match &self.term {
            NodeTerm::Element(_) | NodeTerm::Any(_) => false,
            NodeTerm::Group(group) => group.is_emptiable(),
        }
    }
}

impl Group {
    fn is_emptiable(&self) -> bool {
        match self.compositor {
            Compositor::Sequence | Compositor::All => self.nodes.iter().all(Node::is_emptiable),
            Compositor::Choice => self.nodes.iter().any(Node::is_emptiable),
        }
    }
}

/// Returns the content of a complex type: the steps of its derivation as a sequence, or a single `all` group.
pub(super) fn content(schema: &Schema, steps: &[(TypeId, &Particle)]) -> Group {
    let mut nodes: Vec<Node> = Vec::new();
    for (type_id, step) in steps {
        let mut parts = match node(schema, step) {
            Some(Node { min: 1, max: Some(1), term: NodeTerm::Group(group) })
                if group.compositor == Compositor::Sequence =>
            {
                group.nodes
            }
            node => node.into_iter().collect(),
        };
        for (index, part) in parts.iter_mut().enumerate() {
            if let NodeTerm::Group(Group { origin: origin @ Origin::Inline, .. }) = &mut part.term {
                *origin = Origin::Step(*type_id, index);
            }
        }
        nodes.extend(parts);
    }
    let is_all = |node: &Node| {
        node.is_once() && matches!(&node.term, NodeTerm::Group(group) if group.compositor == Compositor::All)
    };
    if !nodes.is_empty() && nodes.iter().all(is_all) {
        // XSD 1.1 allows an extension of `all` by `all`.
        let groups = nodes.into_iter().filter_map(|node| match node.term {
            NodeTerm::Group(group) => Some(group.nodes),
            _ => None,
        });
        let nodes: Vec<Node> = groups.flatten().collect();
        if nodes.iter().all(|node| node.max == Some(1)) {
            return Group { compositor: Compositor::All, nodes, origin: Origin::Inline };
        }
        // XSD 1.1 also allows repeated elements in `all`. Such content becomes a repeated choice, which keeps the order
        // of elements.
        let nodes = nodes.into_iter().map(|node| Node { min: 1, max: Some(1), ..node }).collect();
        let choice = Group { compositor: Compositor::Choice, nodes, origin: Origin::Inline };
        let choice = Node { min: 0, max: None, term: NodeTerm::Group(choice) };
        return Group { compositor: Compositor::Sequence, nodes: vec![choice], origin: Origin::Inline };
    }
    Group { compositor: Compositor::Sequence, nodes, origin: Origin::Inline }
}

/// Returns the node for a particle, or `None` if only empty content matches.
fn node(schema: &Schema, particle: &Particle) -> Option<Node> {
    if particle.max_occurs == Some(0) {
        return None;
    }
    let (min, max) = (particle.min_occurs, particle.max_occurs);
    match &particle.term {
        Term::Element(id) => Some(Node { min, max, term: element(schema, *id) }),
        Term::Wildcard(wildcard) => Some(Node { min, max, term: NodeTerm::Any(wildcard.clone()) }),
        Term::Group(group) => self::group(schema, group, Origin::Inline, min, max),
        Term::GroupReference(id) => self::group(schema, &schema[*id].group, Origin::Definition(*id), min, max),
    }
}

/// Returns an element or, if it has substitutes, the choice of all elements that may occur.
fn element(schema: &Schema, head: ElementId) -> NodeTerm {
    let declaration = &schema[head];
    let is_possible = |id: &ElementId| !schema[*id].is_abstract;
    let members: Vec<ElementId> = if declaration.block.substitution {
        Vec::new()
    } else {
        schema.substitutes(head).into_iter().filter(is_possible).collect()
    };
    if members.is_empty() {
        return NodeTerm::Element(head);
    }
    let own = (!declaration.is_abstract).then_some(head);
    let nodes = own.into_iter().chain(members);
    let nodes = nodes.map(|id| Node { min: 1, max: Some(1), term: NodeTerm::Element(id) }).collect();
    NodeTerm::Group(Group { compositor: Compositor::Choice, nodes, origin: Origin::Head(head) })
}

fn group(schema: &Schema, group: &ModelGroup, origin: Origin, min: u32, max: Option<u32>) -> Option<Node> {
    let inner = group.particles.iter().map(|particle| node(schema, particle));
    let group = match group.compositor {
        Compositor::Choice => choice(inner.collect(), origin, min, max)?,
        compositor => {
            let mut nodes = Vec::new();
            for inner in inner.flatten() {
                match inner.term {
                    // A sequence directly in a sequence, occurring once.
                    NodeTerm::Group(group)
                        if inner.min == 1
                            && inner.max == Some(1)
                            && compositor == Compositor::Sequence
                            && group.compositor == Compositor::Sequence =>
                    {
                        nodes.extend(group.nodes);
                    }
                    term => nodes.push(Node { term, ..inner }),
                }
            }
            if nodes.is_empty() {
                return None;
            }
            Node { min, max, term: NodeTerm::Group(Group { compositor, nodes, origin }) }
        }
    };
    Some(simplest(group))
}

/// Returns a choice. Nested choices are merged where that is equivalent, and an empty branch makes it optional.
fn choice(branches: Vec<Option<Node>>, origin: Origin, min: u32, max: Option<u32>) -> Option<Node> {
    let mut can_be_empty = false;
    let mut nodes: Vec<Node> = Vec::new();
    for branch in branches {
        let Some(mut branch) = branch else {
            can_be_empty = true;
            continue;
        };
        can_be_empty |= branch.is_emptiable();
        branch.min = branch.min.max(1);
        let is_dissolved = branch.max == Some(1) || max.is_none() && branch.min == 1;
        match branch.term {
            NodeTerm::Group(group) if group.compositor == Compositor::Choice && is_dissolved => {
                nodes.extend(group.nodes);
            }
            term => {
                // The choice is repeated without limit, so its branch need not be.
                let branch_max = if max.is_none() && branch.min == 1 { Some(1) } else { branch.max };
                nodes.push(Node { min: branch.min, max: branch_max, term });
            }
        }
    }
    if nodes.is_empty() {
        return None;
    }
    let min = if can_be_empty { 0 } else { min };
    Some(Node { min, max, term: NodeTerm::Group(Group { compositor: Compositor::Choice, nodes, origin }) })
}

/// Simplifies a node to an equivalent one: a group with one node is replaced by the node, and the occurrence is as
/// narrow as possible.
fn simplest(node: Node) -> Node {
    let Node { mut min, max, term: NodeTerm::Group(mut group) } = node else { return node };
    if let [one] = group.nodes.as_slice()
        && group.compositor != Compositor::All
        && !matches!(group.origin, Origin::Head(_))
    {
        // (a{i,j}){m,n} equals a{im,jn} if i is at most 1, or if the group occurs once.
        if one.min <= 1 || (min, max) == (1, Some(1)) {
            let product = one.max.zip(max).map(|(inner, outer)| inner.saturating_mul(outer));
            return Node { min: one.min.saturating_mul(min), max: product, term: group.nodes.remove(0).term };
        }
    }
    if group.is_emptiable() {
        // The group may be empty, so its minimum doesn't affect validity. A sequence that occurs at most once is generated
        // as required, and any other group as optional.
        min = if max == Some(1) && group.compositor != Compositor::Choice { 1 } else { 0 };
    }
    Node { min, max, term: NodeTerm::Group(group) }
}
