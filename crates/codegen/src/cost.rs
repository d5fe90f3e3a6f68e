//! Reports what makes generated code large: the lines of each type, and the lines that are generated only because of
//! it.

use std::collections::HashMap;

use castile_plan::plan::{Base, EncodedArray, EncodedStruct, Item, Path, Payload, Plan};

/// The cost of a part of the generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The kind and name of the part: `type Order` or `type customers::Order`, `operation get`,
    /// `the faults of all operations`.
    pub name: String,
    /// The number of its own lines.
    pub lines: usize,
    /// The number of its own lines and of the lines of everything that only it needs. Without the part, the generated
    /// code would have this many fewer lines.
    pub alone: usize,
}

/// Returns the costs of a plan, largest first. `lines` has the number of lines of each item. `of_services` is the
/// number of lines of all servers and clients.
pub(crate) fn costs(plan: &mut Plan, lines: &[usize], of_services: usize) -> Vec<Cost> {
    let mut graph = Graph { names: vec![String::new()], lines: vec![0], edges: vec![Vec::new()] };
    let first = graph.names.len();
    let numbers: HashMap<Path, usize> = plan.items.iter().map(|item| item.path().clone()).zip(first..).collect();
    for (item, lines) in plan.items.iter().zip(lines) {
        let path = item.path();
        let name = match path.module {
            0 => format!("type {}", path.ident),
            module => format!("type {}::{}", plan.modules[module].ident, path.ident),
        };
        graph.add(name, *lines);
    }
    for (item, number) in plan.items.iter_mut().zip(first..) {
        let mut paths: Vec<Path> = item.references_mut().into_iter().map(|(path, _)| path).collect();
        // `references_mut` leaves out shared values, because they are not stored inside other values. Their types are
        // generated all the same.
        match item {
            Item::EncodedStruct(EncodedStruct { accessors, .. }) => {
                paths.extend(accessors.iter().filter_map(|one| path_of(&one.value.base)));
            }
            Item::EncodedArray(EncodedArray { value, .. }) => paths.extend(path_of(&value.base)),
            _ => {}
        }
        graph.edges[number] = paths.iter().filter_map(|path| numbers.get(path).copied()).collect();
    }
    graph.under_root("the servers and clients", of_services, Vec::new());
    let numbered = |base: &Base| path_of(base).and_then(|path| numbers.get(&path).copied());
    let mut of_faults = Vec::new();
    for service in &plan.services {
        let blocks: Vec<usize> = service.headers.iter().filter_map(|block| numbered(&block.base)).collect();
        if !blocks.is_empty() {
            graph.under_root(&format!("the header blocks of service {}", service.name), 0, blocks);
        }
        for operation in &service.operations {
            let messages = || std::iter::once(&operation.request).chain(&operation.response);
            let contents = messages().filter_map(|message| match &message.payload {
                Payload::Content { path, .. } => numbers.get(path).copied(),
                _ => None,
            });
            let edges = messages().filter_map(|message| numbered(&message.base)).chain(contents).collect();
            graph.under_root(&format!("operation {}", operation.name), 0, edges);
            let variants = operation.faults.iter().flat_map(|faults| &faults.variants);
            of_faults.extend(variants.filter_map(|variant| numbered(&variant.base)));
        }
    }
    if !of_faults.is_empty() {
        graph.under_root("the faults of all operations", 0, of_faults);
    }
    graph.costs()
}

fn path_of(base: &Base) -> Option<Path> {
    match base {
        Base::Item(path) => Some(path.clone()),
        Base::List(inner) | Base::Shared(inner) => path_of(inner),
        _ => None,
    }
}

/// The references between parts, starting from a root.
struct Graph {
    names: Vec<String>,
    lines: Vec<usize>,
    edges: Vec<Vec<usize>>,
}

const ROOT: usize = 0;

impl Graph {
    fn add(&mut self, name: String, lines: usize) -> usize {
        self.names.push(name);
        self.lines.push(lines);
        self.edges.push(Vec::new());
        self.names.len() - 1
    }

    fn under_root(&mut self, name: &str, lines: usize, edges: Vec<usize>) {
        let number = self.add(name.to_owned(), lines);
        self.edges[number] = edges;
        self.edges[ROOT].push(number);
    }

    fn costs(mut self) -> Vec<Cost> {
        let reached = Walk::of(&self.edges);
        // No operation leads to explicitly requested types, or to types that only tables refer to. So they become
        // children of the root.
        let others: Vec<usize> = (0..self.names.len()).filter(|&number| reached.numbers[number].is_none()).collect();
        self.edges[ROOT].extend(others);
        let walk = Walk::of(&self.edges);
        let dominators = walk.dominators(&self.edges);
        let mut alone: Vec<usize> = walk.order.iter().map(|&node| self.lines[node]).collect();
        for number in (1..walk.order.len()).rev() {
            alone[dominators[number]] += alone[number];
        }
        let mut costs: Vec<Cost> = (1..walk.order.len())
            .map(|number| {
                let node = walk.order[number];
                Cost { name: std::mem::take(&mut self.names[node]), lines: self.lines[node], alone: alone[number] }
            })
            .collect();
        costs.sort_by(|one, other| other.alone.cmp(&one.alone).then_with(|| one.name.cmp(&other.name)));
        costs
    }
}

/// A depth-first walk over a graph. A position is the index of a node in the order of the walk.
struct Walk {
    /// The nodes, in the order of the walk.
    order: Vec<usize>,
    /// The position of each node; `None` if the walk didn't reach it.
    numbers: Vec<Option<usize>>,
    /// The parent of the node at each position, as a position.
    parents: Vec<usize>,
}

impl Walk {
    fn of(edges: &[Vec<usize>]) -> Self {
        let mut walk = Walk { order: Vec::new(), numbers: vec![None; edges.len()], parents: Vec::new() };
        let mut open = vec![(ROOT, 0)];
        while let Some((node, parent)) = open.pop() {
            if walk.numbers[node].is_some() {
                continue;
            }
            let number = walk.order.len();
            walk.numbers[node] = Some(number);
            walk.order.push(node);
            walk.parents.push(parent);
            open.extend(edges[node].iter().rev().map(|&to| (to, number)));
        }
        walk
    }

    /// Returns the immediate dominator of each position: the nearest node on all paths from the root (Lengauer and
    /// Tarjan 1979, simple version).
    fn dominators(&self, edges: &[Vec<usize>]) -> Vec<usize> {
        let count = self.order.len();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (number, &node) in self.order.iter().enumerate() {
            for to in edges[node].iter().filter_map(|&to| self.numbers[to]) {
                before[to].push(number);
            }
        }
        let mut forest = Forest { semi: (0..count).collect(), label: (0..count).collect(), above: vec![None; count] };
        let mut dominators = vec![ROOT; count];
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); count];
        for number in (1..count).rev() {
            for &from in &before[number] {
                let least = forest.least(from);
                forest.semi[number] = forest.semi[number].min(forest.semi[least]);
            }
            waiting[forest.semi[number]].push(number);
            let parent = self.parents[number];
            forest.above[number] = Some(parent);
            for one in std::mem::take(&mut waiting[parent]) {
                let least = forest.least(one);
                dominators[one] = if forest.semi[least] < forest.semi[one] { least } else { parent };
            }
        }
        for number in 1..count {
            if dominators[number] != forest.semi[number] {
                dominators[number] = dominators[dominators[number]];
            }
        }
        dominators
    }
}

/// The part of the depth-first tree that was processed, as a forest. All numbers are positions.
struct Forest {
    /// The semidominator of each node; at first the node itself.
    semi: Vec<usize>,
    /// The node with the least `semi` on the compressed path to the node in `above`; at first the node itself.
    label: Vec<usize>,
    /// An ancestor of each node: at first its parent, after compression one further up. `None` for the root of a tree.
    above: Vec<Option<usize>>,
}

impl Forest {
    /// Returns the node with the least `semi` on the path from `node` to the root of its tree, without the root.
    /// Compresses the path.
    fn least(&mut self, node: usize) -> usize {
        let mut way = Vec::new();
        let mut top = node;
        while let Some(above) = self.above[top] {
            way.push(top);
            top = above;
        }
        // The last node of `way` is a child of the root, which doesn't count. So its label doesn't change.
        for pair in (1..way.len()).rev() {
            let (upper, lower) = (way[pair], way[pair - 1]);
            if self.semi[self.label[upper]] < self.semi[self.label[lower]] {
                self.label[lower] = self.label[upper];
            }
            self.above[lower] = self.above[upper];
        }
        self.label[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dominators_are_found() {
        // The edges are 0 → 1 → 2 → 4, 1 → 3 → 4, 4 → 5, 0 → 5, and the back edge 5 → 1.
        let edges = [vec![1, 5], vec![2, 3], vec![4], vec![4], vec![5], vec![1], vec![]].to_vec();
        let walk = Walk::of(&edges);
        let dominators = walk.dominators(&edges);
        let of = |node: usize| walk.order[dominators[walk.numbers[node].unwrap_or_default()]];
        assert_eq!([1, 2, 3, 4, 5].map(of), [0, 1, 1, 1, 0]);
        assert_eq!(walk.numbers[6], None);
    }

    #[test]
    fn a_long_chain_does_not_use_the_stack() {
        let edges: Vec<Vec<usize>> =
            (0..200_000).map(|node| if node == 199_999 { vec![1] } else { vec![node + 1] }).collect();
        let walk = Walk::of(&edges);
        assert_eq!(walk.dominators(&edges)[199_999], 199_998);
    }
}
