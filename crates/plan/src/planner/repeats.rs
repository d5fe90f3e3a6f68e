//! Finds the elements that can be read item by item: repeated elements that occur in only one place in a document or a
//! response.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::plan::{
    Base, Choice, Content, Element, Field, Item, Occurrence, Path, Payload, Repeats, RootType, Service, Struct, Term,
    TypedRoot, Value,
};

use super::own::OwnTypes;

/// Maximum number of references followed for all documents and responses. Beyond it no items are found.
const MAX_REFERENCES: usize = 1_000_000;
/// Maximum number of names on the paths to repeated elements, in total. Beyond it no items are found.
const MAX_NAMES: usize = 50_000;

/// The remaining limits.
struct Remaining {
    references: usize,
    names: usize,
}

/// The path to an element, from its parent upwards.
struct ElementPath<'p> {
    name: (&'p str, &'p str),
    outer: Option<Rc<ElementPath<'p>>>,
    length: usize,
}

impl ElementPath<'_> {
    fn length(way: &Option<Rc<Self>>) -> usize {
        way.as_ref().map_or(0, |way| way.length)
    }

    /// Returns the names, outermost first.
    fn names(way: &Option<Rc<Self>>) -> Vec<(String, String)> {
        let ways = std::iter::successors(way.as_ref(), |way| way.outer.as_ref());
        let mut names: Vec<_> = ways.map(|way| (way.name.0.to_owned(), way.name.1.to_owned())).collect();
        names.reverse();
        names
    }
}

/// Finds repeated elements. In a document these are all whose complex type no other element in it has. In a response
/// they are those requested as streams. Content of types of the program is left out.
pub(super) fn repeats(items: &[Item], services: &[Service], documents: &[TypedRoot], own: &OwnTypes) -> Vec<Repeats> {
    let items: HashMap<&Path, &Item> =
        items.iter().map(|item| (item.path(), item)).filter(|(path, _)| !own.types.contains_key(*path)).collect();
    let mut remaining = Remaining { references: MAX_REFERENCES, names: MAX_NAMES };
    let mut found = Vec::new();
    for document in documents {
        if let Base::Item(path) = &document.base {
            found.extend(below(&items, path, &document.of, &mut remaining, |_| true));
        }
    }
    let mut known = HashSet::new();
    let operations = services.iter().flat_map(|service| &service.operations);
    for response in operations.filter_map(|operation| operation.response.as_ref()) {
        let (Payload::Element(root), Base::Item(path)) = (&response.payload, &response.base) else { continue };
        if !root.is_encoded && known.insert(path) {
            found.extend(below(&items, path, &RootType::Own(path.clone()), &mut remaining, |one| one.streams));
        }
    }
    found
}

/// An element found in a struct.
struct Found<'p> {
    element: &'p Element,
    value: &'p Value,
    /// Whether it is repeated without limit; `None` if it is required.
    repeats: Option<bool>,
    streams: bool,
}

/// Finds repeated elements below a root. A type is followed only if exactly one element has it, so that there is one
/// path to its content.
fn below(
    items: &HashMap<&Path, &Item>,
    root: &Path,
    of: &RootType,
    remaining: &mut Remaining,
    is_wanted: impl Fn(&Found<'_>) -> bool,
) -> Vec<Repeats> {
    let Some(references) = references(items, root, &mut remaining.references) else { return Vec::new() };
    let is_once = |path: &Path| references.get(path) == Some(&1);
    let mut made = Vec::new();
    let mut open: Vec<(&Path, Option<Rc<ElementPath<'_>>>)> = Vec::new();
    open.extend((!references.contains_key(root)).then_some((root, None)));
    while let Some((path, through)) = open.pop() {
        let Some(Item::Struct(Struct { content: Content::Sequence(fields) | Content::All(fields), .. })) =
            items.get(path)
        else {
            continue;
        };
        let elements: Vec<Found<'_>> = fields.iter().flat_map(|field| elements(items, field)).collect();
        let mut names: HashMap<(&str, &str), usize> = HashMap::new();
        for Found { element, .. } in &elements {
            *names.entry((&element.namespace, &element.name)).or_default() += 1;
        }
        for found in elements {
            let Found { element, value, repeats, .. } = &found;
            let Base::Item(inner) = &value.base else { continue };
            let is_named_once = names.get(&(&*element.namespace, &*element.name)) == Some(&1);
            let is_complex = matches!(items.get(inner), Some(Item::Struct(_) | Item::Derived(_)));
            if !is_named_once || !is_complex || !is_once(inner) {
                continue;
            }
            match repeats {
                Some(true) if is_wanted(&found) => {
                    let Some(names) = remaining.names.checked_sub(1 + ElementPath::length(&through)) else {
                        return made;
                    };
                    remaining.names = names;
                    made.push(Repeats {
                        of: of.clone(),
                        through: ElementPath::names(&through),
                        element: (*element).clone(),
                        value: (*value).clone(),
                    });
                }
                Some(false) => {
                    let name = (&*element.namespace, &*element.name);
                    let way = ElementPath { name, length: 1 + ElementPath::length(&through), outer: through.clone() };
                    open.push((inner, Some(Rc::new(way))));
                }
                _ => {}
            }
        }
    }
    made
}

/// Counts the references to each type below a root. Returns `None` if the limit is exceeded.
fn references(items: &HashMap<&Path, &Item>, root: &Path, remaining: &mut usize) -> Option<HashMap<Path, usize>> {
    let mut found: HashMap<Path, usize> = HashMap::new();
    let mut open = vec![root.clone()];
    let mut entered: HashSet<Path> = HashSet::new();
    while let Some(path) = open.pop() {
        if !entered.insert(path.clone()) {
            continue;
        }
        let Some(item) = items.get(&path) else { continue };
        item.each_reference(&mut |inner| {
            *remaining = remaining.saturating_sub(1);
            *found.entry(inner.clone()).or_default() += 1;
            open.push(inner.clone());
        });
        if *remaining == 0 {
            return None;
        }
    }
    Some(found)
}

/// Returns the elements of a field: the element itself, or the variants of a choice.
fn elements<'p>(items: &HashMap<&'p Path, &'p Item>, field: &'p Field) -> Vec<Found<'p>> {
    let repeats = field.occurrence() == Occurrence::Repeated;
    match &field.term {
        Term::Element { element, value, counted, .. } => {
            vec![Found { element, value, repeats: Some(repeats).filter(|_| !counted), streams: field.streams }]
        }
        Term::Group(path) => {
            let Some(Item::Choice(Choice { variants, text: None, .. })) = items.get(path) else { return Vec::new() };
            // A choice can't be without a variant, so it must be optional.
            let may_lack = repeats && field.min_occurs == 0;
            let of_variants = variants.iter().filter_map(|variant| match &variant.term {
                Term::Element { element, value, .. } => {
                    Some(Found { element, value, repeats: may_lack.then_some(true), streams: false })
                }
                Term::Group(_) | Term::Any(_) => None,
            });
            of_variants.collect()
        }
        Term::Any(_) => Vec::new(),
    }
}
