//! What can be read item by item: elements that come any number of times, in one place within a document or a response.

use std::collections::{HashMap, HashSet};

use crate::plan::{
    Base, Choice, Content, Element, Field, Item, Occurrence, Path, Payload, Repeats, RootType, Service, Struct, Term,
    TypedRoot, Value,
};

/// How many elements may be on the way from a root to its items.
const MOST_STEPS: usize = 8;
/// How many elements are looked at for one root.
const MOST_ELEMENTS: usize = 10_000;

/// In a document, every such element whose values are of a complex type that no other one has. In a response, those that are asked for as
/// streams.
pub(super) fn repeats(items: &[Item], services: &[Service], documents: &[TypedRoot]) -> Vec<Repeats> {
    let items: HashMap<&Path, &Item> = items.iter().map(|item| (item.path(), item)).collect();
    let mut found = Vec::new();
    for document in documents {
        let all = Search::below(&items, &document.base);
        found.extend(all.unique(|_| true, &document.of));
    }
    let mut known = HashSet::new();
    let operations = services.iter().flat_map(|service| &service.operations);
    for response in operations.filter_map(|operation| operation.response.as_ref()) {
        let (Payload::Element(root), Base::Item(path)) = (&response.payload, &response.base) else { continue };
        if !root.is_encoded && known.insert(path) {
            let all = Search::below(&items, &response.base);
            found.extend(all.unique(|one| one.streams, &RootType::Own(path.clone())));
        }
    }
    found
}

/// The elements on the way to something, and their types, that of the root first.
#[derive(Clone, Default)]
struct Way<'p> {
    names: Vec<(&'p str, &'p str)>,
    types: Vec<&'p Path>,
}

/// An element that repeats, and the way to it.
struct Found<'p> {
    way: Way<'p>,
    element: &'p Element,
    value: &'p Value,
    streams: bool,
}

struct Search<'p> {
    items: &'p HashMap<&'p Path, &'p Item>,
    found: Vec<Found<'p>>,
    open: Vec<(&'p Item, Way<'p>)>,
    entered: HashSet<&'p Path>,
    /// The types that stand in several places, and so does all that is in them.
    twice: HashSet<&'p Path>,
    /// Whether it was given up.
    is_cut: bool,
}

impl<'p> Search<'p> {
    fn below(items: &'p HashMap<&'p Path, &'p Item>, base: &'p Base) -> Self {
        let mut search = Search {
            items,
            found: Vec::new(),
            open: Vec::new(),
            entered: HashSet::new(),
            twice: HashSet::new(),
            is_cut: false,
        };
        search.enter(base, Way::default());
        let mut looked = 0;
        while let Some((item, way)) = search.open.pop() {
            let Item::Struct(Struct { content: Content::Sequence(fields) | Content::All(fields), .. }) = item else {
                continue;
            };
            looked += fields.len();
            search.is_cut |= looked > MOST_ELEMENTS;
            if search.is_cut {
                break;
            }
            let mut names = HashSet::new();
            let mut twice = HashSet::new();
            for element in fields.iter().flat_map(|field| elements(items, field)) {
                if !names.insert((&element.0.namespace, &element.0.name)) {
                    twice.insert((&element.0.namespace, &element.0.name));
                }
            }
            for field in fields {
                for (element, value, repeats, streams) in elements(items, field) {
                    if twice.contains(&(&element.namespace, &element.name)) {
                        continue;
                    }
                    match repeats {
                        Some(true) => {
                            search.found.push(Found { way: way.clone(), element, value, streams });
                        }
                        Some(false) => {
                            let mut way = way.clone();
                            way.names.push((&element.namespace, &element.name));
                            search.enter(&value.base, way);
                        }
                        None => {}
                    }
                }
            }
        }
        search
    }

    /// Looks into a type, once.
    fn enter(&mut self, base: &'p Base, mut way: Way<'p>) {
        if let Base::Item(path) = base
            && way.names.len() < MOST_STEPS
            && let Some(item) = self.items.get(path)
        {
            way.types.push(path);
            match self.entered.insert(path) {
                true => self.open.push((item, way)),
                false => drop(self.twice.insert(path)),
            }
        }
    }

    /// Those whose values no other one has.
    fn unique(self, is_wanted: impl Fn(&Found<'_>) -> bool, of: &RootType) -> Vec<Repeats> {
        if self.is_cut {
            return Vec::new();
        }
        let mut counts: HashMap<&Base, usize> = HashMap::new();
        for found in &self.found {
            *counts.entry(&found.value.base).or_default() += 1;
        }
        let is_unique = |found: &&Found<'_>| {
            matches!(found.value.base, Base::Item(_))
                && counts.get(&found.value.base) == Some(&1)
                && !found.way.types.iter().any(|path| self.twice.contains(path))
                && is_wanted(found)
        };
        let made = self.found.iter().filter(is_unique).map(|found| Repeats {
            of: of.clone(),
            through: found.way.names.iter().map(|(of, name)| ((*of).to_owned(), (*name).to_owned())).collect(),
            element: found.element.clone(),
            value: found.value.clone(),
        });
        made.collect()
    }
}

/// The elements of a particle, each with its values, and whether it comes any number of times; `None` where it can't be left out of what
/// it is in. Last is whether it is asked for as a stream.
fn elements<'p>(
    items: &HashMap<&'p Path, &'p Item>,
    field: &'p Field,
) -> Vec<(&'p Element, &'p Value, Option<bool>, bool)> {
    let repeats = field.occurrence() == Occurrence::Repeated;
    match &field.term {
        Term::Element { element, value, counted, .. } => {
            vec![(element, value, Some(repeats).filter(|_| !counted), field.streams)]
        }
        Term::Group(path) => {
            let Some(Item::Choice(Choice { variants, text: None, .. })) = items.get(path) else { return Vec::new() };
            // Without its variant a choice is not there, so there must be no need for one.
            let may_lack = repeats && field.min_occurs == 0;
            let of_variants = variants.iter().filter_map(|variant| match &variant.term {
                Term::Element { element, value, .. } => Some((element, value, may_lack.then_some(true), false)),
                Term::Group(_) | Term::Any(_) => None,
            });
            of_variants.collect()
        }
        Term::Any(_) => Vec::new(),
    }
}
