//! Determines which values are stored in a `Recursive`, where depth costs heap and not stack: one in each circle of
//! types, and where types nest deeply without a circle.
//!
//! The result must not depend on which type is visited first, or on which operations are left out. So circles are
//! processed one by one, and depth is counted from the innermost type outwards.

use std::collections::HashMap;

use crate::plan::{Item, Path, Role, Storage, Struct};

/// Maximum nesting of types before a pointer is needed. Debug builds use up to 12 KiB of stack per level, and
/// `Recursive` ensures 192 KiB.
const MAX_LEVELS: usize = 16;

/// Determines which values are stored in a `Recursive`.
///
/// Returns the indexes of the items, so that each item follows all items that its values contain directly.
pub(super) fn nest(items: &mut [Item]) -> Vec<usize> {
    let mut graph = Graph::new(items);
    graph.cut_circles();
    let order = graph.order();
    graph.cut_depth(&order);
    for (item, edges) in items.iter_mut().zip(&graph.edges) {
        let references = item.references_mut().into_iter().filter(|(path, _)| graph.numbers.contains_key(path));
        for ((_, storage), edge) in references.zip(edges) {
            if let Some(storage) = storage
                && edge.is_cut
            {
                *storage = Storage::Recursive;
            }
        }
    }
    order
}

/// The items, and the items that their values contain.
struct Graph {
    numbers: HashMap<Path, usize>,
    edges: Vec<Vec<Edge>>,
    /// The rank for choosing the start of a circle, which is its lowest item. Enums of derived types come before
    /// structs, and these before groups, most of which belong to one struct.
    ranks: Vec<(u8, Path)>,
    /// Whether values of the item add a level to the document.
    is_level: Vec<bool>,
}

struct Edge {
    to: usize,
    /// Whether a pointer is possible here.
    may_be_cut: bool,
    is_cut: bool,
}

impl Graph {
    fn new(items: &mut [Item]) -> Self {
        let numbers: HashMap<Path, usize> =
            items.iter().enumerate().map(|(number, item)| (item.path().clone(), number)).collect();
        let edges = items.iter_mut().map(|item| {
            let references = item.references_mut().into_iter();
            let edges = references.filter_map(|(path, storage)| {
                Some(Edge { to: *numbers.get(&path)?, may_be_cut: storage.is_some(), is_cut: false })
            });
            edges.collect()
        });
        let edges = edges.collect();
        let rank = |item: &Item| match item {
            Item::Derived(_) => 0,
            Item::Choice(_) | Item::Struct(Struct { role: Role::Group, .. }) => 2,
            _ => 1,
        };
        let ranks = items.iter().map(|item| (rank(item), item.path().clone())).collect();
        let is_simple = |item: &Item| {
            matches!(item, Item::Enumeration(_) | Item::Union(_) | Item::Restriction(_) | Item::NamedTypes(_))
        };
        let is_level = items.iter().map(|item| !is_simple(item)).collect();
        Graph { numbers, edges, ranks, is_level }
    }

    /// Cuts all circles. In each set of items that lead to one another it cuts the back edges of a walk that starts at
    /// the lowest item.
    fn cut_circles(&mut self) {
        let (groups, _) = circles(self.edges.len(), |number, edge| Some(self.edges[number].get(edge)?.to));
        let mut first: HashMap<usize, usize> = HashMap::new();
        for (number, group) in groups.iter().enumerate() {
            let first = first.entry(*group).or_insert(number);
            if self.ranks[number] < self.ranks[*first] {
                *first = number;
            }
        }
        let mut state = vec![State::New; groups.len()];
        for start in first.into_values() {
            let mut open = vec![(start, 0)];
            state[start] = State::Open;
            while let Some((number, next)) = open.last_mut() {
                let number = *number;
                let Some(edge) = self.edges[number].get_mut(*next) else {
                    state[number] = State::Done;
                    open.pop();
                    continue;
                };
                *next += 1;
                match state[edge.to] {
                    _ if groups[edge.to] != groups[number] => {}
                    State::Open => edge.is_cut = true,
                    State::Done => {}
                    State::New => {
                        let to = edge.to;
                        state[to] = State::Open;
                        open.push((to, 0));
                    }
                }
            }
        }
    }

    /// Returns the items sorted so that each follows all items that it leads to.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.edges.len());
        let mut is_known = vec![false; self.edges.len()];
        for start in 0..self.edges.len() {
            let mut open = if is_known[start] { Vec::new() } else { vec![(start, 0)] };
            is_known[start] = true;
            while let Some((number, next)) = open.last_mut() {
                let Some(edge) = self.edges[*number].get(*next) else {
                    order.push(*number);
                    open.pop();
                    continue;
                };
                *next += 1;
                if !edge.is_cut && !std::mem::replace(&mut is_known[edge.to], true) {
                    open.push((edge.to, 0));
                }
            }
        }
        order
    }

    fn cut_depth(&mut self, order: &[usize]) {
        let mut levels = vec![0; self.edges.len()];
        for &number in order {
            let mut inner = 0;
            for edge in &mut self.edges[number] {
                edge.is_cut |= edge.may_be_cut && levels[edge.to] >= MAX_LEVELS;
                if !edge.is_cut {
                    inner = inner.max(levels[edge.to]);
                }
            }
            levels[number] = inner + usize::from(self.is_level[number]);
        }
    }
}

/// Finds circles (strongly connected components, by Tarjan's algorithm).
///
/// Returns, for each node, the number of a node that represents its component; and the representatives sorted so that
/// each follows all that its component leads to. `edge` returns the target of a node's edge by index.
pub(super) fn circles(count: usize, edge: impl Fn(usize, usize) -> Option<usize>) -> (Vec<usize>, Vec<usize>) {
    const NONE: usize = usize::MAX;
    let (mut index, mut low, mut circles) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut next_index, mut kept, mut order) = (0, Vec::new(), Vec::new());
    for start in 0..count {
        let mut open = if index[start] == NONE { vec![(start, 0)] } else { Vec::new() };
        while let Some((node, next)) = open.last_mut() {
            let (node, number) = (*node, *next);
            if number == 0 {
                (index[node], low[node]) = (next_index, next_index);
                next_index += 1;
                kept.push(node);
            }
            if let Some(to) = edge(node, number) {
                *next += 1;
                if index[to] == NONE {
                    open.push((to, 0));
                } else if circles[to] == NONE {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            open.pop();
            if let Some((outer, _)) = open.last() {
                low[*outer] = low[*outer].min(low[node]);
            }
            if low[node] == index[node] {
                order.push(node);
                while let Some(member) = kept.pop() {
                    circles[member] = node;
                    if member == node {
                        break;
                    }
                }
            }
        }
    }
    (circles, order)
}

#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    Done,
}
