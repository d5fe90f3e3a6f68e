//! The state of matching children against a content model.
//!
//! A place is the leaf that took the last child, and the number of occurrences of each particle around it. A child leads from
//! one place to the next. The next place is found by climbing from the leaf to the common ancestor of both leaves. A model
//! that obeys Unique Particle Attribution has one place at a time. Exceptions are nested counters (`(a{1,2}){1,3}`) and
//! models in use that violate the rule; for them all possible places are tracked.

use super::{Model, NodeId, NodeKind};

/// The maximum number of positions, and of steps through the model that all children together may take, beyond the allowance of
/// each child. After that the order of the children is no longer checked. Only highly ambiguous models reach these limits.
const MAX_POSITIONS: usize = 256;
const MAX_STEPS: usize = 1 << 16;
const STEPS_PER_CHILD: usize = 1 << 10;
/// How many expected elements an error lists.
const MAX_EXPECTED: usize = 8;

/// The places in a content model that the children so far can have led to.
#[derive(Debug, Default)]
pub struct Matcher {
    positions: Vec<Position>,
    /// The number of steps beyond the allowance of each child.
    steps: usize,
    is_started: bool,
    is_lost: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    leaf: NodeId,
    /// The current number of occurrences of each node from the root to the leaf.
    counts: Vec<u32>,
    /// The number of occurrences of each particle of each `<all>` group.
    slots: Vec<u32>,
}

/// A transition from a place to the next one.
struct Move {
    leaf: NodeId,
    /// The depth at which the path to the new leaf leaves the path to the old one. Counts above it don't change.
    depth: usize,
    count: u32,
    slot: Option<(usize, u32)>,
}

impl Matcher {
    /// Takes the next child. `candidates` are the leaves that take an element of its name. Returns the leaf that it belongs
    /// to, or `None` if it can't come here; then the state doesn't change.
    pub fn take(&mut self, model: &Model, candidates: &[usize]) -> Option<usize> {
        if self.is_lost {
            return candidates.first().copied();
        }
        let mut tries = self.steps.saturating_sub(STEPS_PER_CHILD);
        let mut moves = self.moves(model, candidates, &mut tries);
        self.steps = tries;
        if tries > MAX_STEPS {
            self.is_lost = true;
            return candidates.first().copied();
        }
        let NodeKind::Leaf(leaf) = model.node(moves.first()?.1.leaf).kind else { return None };
        if let [(from, only)] = moves.as_slice() {
            // In the usual case the existing memory is reused.
            if self.positions.is_empty() {
                self.positions.push(Position::before(model));
            }
            self.positions.swap(0, *from);
            self.positions.truncate(1);
            self.positions[0].follow(model, only);
        } else {
            let before = std::mem::take(&mut self.positions);
            for (from, next) in moves.drain(..) {
                let mut position = before.get(from).cloned().unwrap_or_else(|| Position::before(model));
                position.follow(model, &next);
                if !self.positions.contains(&position) {
                    self.positions.push(position);
                }
                if self.positions.len() > MAX_POSITIONS {
                    self.is_lost = true;
                    break;
                }
            }
        }
        self.is_started = true;
        Some(leaf)
    }

    /// Stops checking the order. After one misplaced child, further errors would be consequences of the first.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Whether the content may end here.
    pub fn is_complete(&self, model: &Model) -> bool {
        match self.is_started {
            _ if self.is_lost => true,
            false => model.root().is_nullable(),
            true => self.positions.iter().any(|position| position.is_complete(model)),
        }
    }

    /// Returns the first leaves that could come next, and whether there are more.
    pub fn expected(&self, model: &Model) -> (Vec<usize>, bool) {
        let (mut found, mut tries) = (Vec::new(), 0);
        for leaf in 0..model.leaves.len() {
            if !self.moves(model, &[leaf], &mut tries).is_empty() {
                if found.len() == MAX_EXPECTED || tries > MAX_STEPS {
                    return (found, true);
                }
                found.push(leaf);
            }
        }
        (found, false)
    }

    /// Returns all transitions from the places to the candidates, unless there are too many steps.
    fn moves(&self, model: &Model, candidates: &[usize], tries: &mut usize) -> Vec<(usize, Move)> {
        let mut moves = Vec::new();
        let mut path = Vec::new();
        for &leaf in candidates.iter().filter_map(|&leaf| model.leaves.get(leaf)) {
            if !self.is_started {
                if model.node(leaf).first_of == 0 {
                    moves.push((0, Move { leaf, depth: 0, count: 1, slot: None }));
                }
                continue;
            }
            path.clear();
            path.extend(model.ancestors(leaf));
            path.reverse();
            for (number, position) in self.positions.iter().enumerate() {
                if *tries > MAX_STEPS {
                    return moves;
                }
                let known = moves.len();
                position.moves(model, &path, |next| moves.push((number, next)));
                // Each transition begins with a copy of the place.
                *tries += position.counts.len() * (1 + moves.len() - known);
            }
        }
        moves
    }
}

impl Position {
    /// Returns the place before the first child.
    fn before(model: &Model) -> Self {
        Position { leaf: 0, counts: Vec::new(), slots: vec![0; model.slots] }
    }

    /// Calls `tell` with each transition to the leaf at the end of `path`, which begins at the root.
    fn moves(&self, model: &Model, path: &[NodeId], mut tell: impl FnMut(Move)) {
        let Some(&leaf) = path.last() else { return };
        let first_of = model.node(leaf).first_of;
        let mut id = self.leaf;
        loop {
            // One more occurrence of this node ends here.
            let node = &model.node(id);
            let depth = node.depth;
            let count = self.counts[depth];
            let parent = &model.node(node.parent);
            let is_in_all = depth > 0 && matches!(parent.kind, NodeKind::All { .. });
            if !is_in_all {
                if path.get(depth) == Some(&id) && node.may_repeat(count) && first_of <= depth {
                    tell(Move { leaf, depth, count: one_more(count, node.min, node.max), slot: None });
                }
                if depth == 0 || !node.is_enough(count) {
                    return;
                }
            }
            let sibling = path.get(depth).filter(|_| path[depth - 1] == node.parent && first_of <= depth);
            match &parent.kind {
                NodeKind::Sequence(not_nullable) => {
                    let passed = not_nullable[node.index + 1];
                    if let Some(&sibling) = sibling
                        && model.node(sibling).index > node.index
                        && not_nullable[model.node(sibling).index] == passed
                    {
                        tell(Move { leaf, depth, count: 1, slot: None });
                    }
                    if not_nullable.last() != Some(&passed) {
                        return;
                    }
                }
                NodeKind::All { children, first_slot } => {
                    if let Some(&sibling) = sibling {
                        let (slot, child) = (first_slot + model.node(sibling).index, &model.node(sibling));
                        let count = self.slots[slot];
                        if child.may_repeat(count) {
                            let count = one_more(count, child.min, child.max);
                            tell(Move { leaf, depth, count: 1, slot: Some((slot, count)) });
                        }
                    }
                    // Most `<all>` groups are the root and occur once, so nothing follows them.
                    let is_last = node.parent == 0 && !parent.may_repeat(self.counts[0]);
                    if is_last || !self.is_all(model, children, *first_slot) {
                        return;
                    }
                }
                NodeKind::Choice | NodeKind::Leaf(_) => {}
            }
            id = node.parent;
        }
    }

    fn follow(&mut self, model: &Model, next: &Move) {
        self.leaf = next.leaf;
        self.counts.truncate(next.depth);
        self.counts.push(next.count);
        self.counts.resize(model.node(next.leaf).depth + 1, 1);
        if let Some((slot, count)) = next.slot {
            self.slots[slot] = count;
        }
        // The counts of groups that are entered anew begin at zero.
        let mut child = next.leaf;
        for id in model.ancestors(next.leaf).skip(1).take_while(|&id| model.node(id).depth >= next.depth) {
            if let NodeKind::All { children, first_slot } = &model.node(id).kind {
                self.slots[*first_slot..first_slot + children.len()].fill(0);
                self.slots[first_slot + model.node(child).index] = 1;
            }
            child = id;
        }
    }

    fn is_complete(&self, model: &Model) -> bool {
        let mut id = self.leaf;
        loop {
            let node = &model.node(id);
            let parent = &model.node(node.parent);
            let is_in_all = node.depth > 0 && matches!(parent.kind, NodeKind::All { .. });
            if !is_in_all && !node.is_enough(self.counts[node.depth]) {
                return false;
            }
            if node.depth == 0 {
                return true;
            }
            let is_done = match &parent.kind {
                NodeKind::Sequence(not_nullable) => not_nullable.last() == not_nullable.get(node.index + 1),
                NodeKind::All { children, first_slot } => self.is_all(model, children, *first_slot),
                NodeKind::Choice | NodeKind::Leaf(_) => true,
            };
            if !is_done {
                return false;
            }
            id = node.parent;
        }
    }

    /// Whether each child of an `<all>` group has occurred often enough.
    fn is_all(&self, model: &Model, children: &[NodeId], first_slot: usize) -> bool {
        let counts = &self.slots[first_slot..];
        children.iter().zip(counts).all(|(&child, &count)| model.node(child).is_enough(count))
    }
}

/// Counts an occurrence. The count of an unbounded particle stops at its minimum, so that equal places compare equal.
fn one_more(count: u32, min: u32, max: Option<u32>) -> u32 {
    match max {
        Some(_) => count.saturating_add(1),
        None => count.saturating_add(1).min(min.max(1)),
    }
}
