//! Determines the namespaces of the names that values of each type contain.

use std::collections::{BTreeSet, HashMap};

use super::nesting::circles;
use crate::plan::{Accessor, Base, Content, Item, Path, Term};

/// Maximum memory for the results of all items, in words of 64 namespaces. Beyond it every type is treated as using all
/// namespaces.
const MAX_WORDS: usize = 1 << 23;

/// The namespaces used by the content of each item.
pub(super) struct NamespaceSets {
    index: HashMap<Path, usize>,
    /// The circle that each item is in. Items in one circle use the same namespaces.
    circles: Vec<usize>,
    names: Vec<String>,
    /// A bit set of namespaces for each circle, at the index of its item; `None` if the limit is exceeded.
    sets: Option<Vec<Vec<u64>>>,
}

/// What an item itself refers to: the items that its values contain, and the namespaces of its names.
#[derive(Default)]
struct Named<'i> {
    items: Vec<&'i Path>,
    namespaces: Vec<&'i str>,
}

impl NamespaceSets {
    pub(super) fn new(items: &[Item]) -> Self {
        let index: HashMap<Path, usize> =
            items.iter().enumerate().map(|(number, item)| (item.path().clone(), number)).collect();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let (mut edges, mut own) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for item in items {
            let named = Named::of(item);
            edges.push(named.items.iter().filter_map(|path| index.get(*path).copied()).collect::<Vec<_>>());
            let mut number = |namespace| {
                let next = numbers.len();
                *numbers.entry(namespace).or_insert(next)
            };
            own.push(named.namespaces.iter().map(|namespace| number(*namespace)).collect::<Vec<_>>());
        }
        let (circles, order) = circles(items.len(), |number, edge| edges[number].get(edge).copied());
        let mut names = vec![String::new(); numbers.len()];
        for (name, number) in numbers {
            names[number] = name.to_owned();
        }
        let words = names.len().div_ceil(64);
        let sets = (items.len().saturating_mul(words) <= MAX_WORDS).then(|| {
            let mut members: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
            for (number, circle) in circles.iter().enumerate() {
                members[*circle].push(number);
            }
            let mut sets: Vec<Vec<u64>> = vec![Vec::new(); items.len()];
            // In this order the circles that a circle leads to come first.
            for circle in order {
                let mut set = vec![0; words];
                for &member in &members[circle] {
                    own[member].iter().for_each(|name| set[name / 64] |= 1 << (name % 64));
                    for to in edges[member].iter().map(|to| circles[*to]).filter(|to| *to != circle) {
                        set.iter_mut().zip(&sets[to]).for_each(|(word, more)| *word |= more);
                    }
                }
                sets[circle] = set;
            }
            sets
        });
        NamespaceSets { index, circles, names, sets }
    }

    /// Adds the namespaces of all names in values of a type.
    pub(super) fn add(&self, base: &Base, namespaces: &mut BTreeSet<String>) {
        let Some(number) = item_of(base).and_then(|path| self.index.get(path)) else { return };
        let is_there = |name: &usize| match &self.sets {
            Some(sets) => sets[self.circles[*number]][name / 64] & 1 << (name % 64) != 0,
            None => true,
        };
        namespaces.extend((0..self.names.len()).filter(is_there).map(|name| self.names[name].clone()));
    }
}

/// Returns the item of a type, or of the nodes that it stores.
fn item_of(base: &Base) -> Option<&Path> {
    match base {
        Base::Item(path) => Some(path),
        Base::Shared(value) => match &**value {
            Base::Item(path) => Some(path),
            _ => None,
        },
        _ => None,
    }
}

impl<'i> Named<'i> {
    fn of(item: &'i Item) -> Self {
        let mut named = Named::default();
        for field in item.fields() {
            match &field.term {
                Term::Element { element, value, .. } => named.name(&element.namespace, &value.base),
                Term::Group(path) => named.items.push(path),
                Term::Any(_) => {}
            }
        }
        match item {
            Item::Struct(planned) => {
                named.namespaces.extend(planned.attributes.iter().map(|attribute| &*attribute.namespace));
                if let Content::Mixed { piece, .. } = &planned.content {
                    named.items.push(piece);
                }
            }
            Item::Derived(planned) => {
                planned.variants.iter().for_each(|variant| named.name(&variant.name.namespace, &variant.base));
            }
            Item::EncodedStruct(planned) => {
                for Accessor { value, .. } in &planned.accessors {
                    named.namespaces.extend(value.type_name.iter().map(|name| &*name.namespace));
                    named.items.extend(item_of(&value.base));
                }
            }
            Item::EncodedArray(planned) => {
                let names = planned.value.type_name.iter().chain([&planned.item_type]);
                named.namespaces.extend(names.map(|name| &*name.namespace));
                named.items.extend(item_of(&planned.value.base));
            }
            Item::Choice(_) | Item::Enumeration(_) | Item::Union(_) | Item::Restriction(_) | Item::NamedTypes(_) => {}
        }
        named
    }

    fn name(&mut self, namespace: &'i str, base: &'i Base) {
        self.namespaces.push(namespace);
        self.items.extend(item_of(base));
    }
}
