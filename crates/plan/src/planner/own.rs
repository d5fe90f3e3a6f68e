//! Plans types of the program that replace complex types of the contract. The types inside them are the program's, too.

use std::collections::{HashMap, HashSet};

use castile_wsdl::Severity;

use super::{Key, Planner};
use crate::plan::{Base, Content, Item, Occurrence, Path, Payload, Rule, Service, Struct, Term, TypedRoot, Value};

/// The types of the program, and the items that aren't generated because only these types lead to them.
#[derive(Default)]
pub(super) struct OwnTypes {
    pub(super) types: HashMap<Path, Box<str>>,
    pub(super) unwritten: HashSet<Path>,
}

/// Maximum nesting of types without a replacement in a replaced type, and maximum number of elements, attributes and
/// listed values in them, counted at each occurrence.
const MAX_NESTED: usize = 8;
const MAX_COMPARED: usize = 10_000;

impl Planner<'_> {
    /// Finds the items that types of the program replace, and reports types that can't be replaced.
    pub(super) fn own(&mut self, items: &[Item], services: &[Service], documents: &[TypedRoot]) -> OwnTypes {
        let mut own = OwnTypes::default();
        let mut named: Vec<_> = std::mem::take(&mut self.own_types).into_iter().collect();
        named.sort_unstable_by_key(|(id, _)| *id);
        let known: HashMap<&Path, &Item> = items.iter().map(|item| (item.path(), item)).collect();
        for (id, rust) in named {
            let location = self.schema[id].location();
            let called = self.schema[id].name().map_or_else(|| "a type without a name".to_owned(), ToString::to_string);
            let path = self.paths.get(&Key::Type(id)).cloned();
            let is_of_several = !self.schema.derived_types(id).is_empty()
                || self.schema[id].as_complex().is_some_and(|complex| complex.is_abstract);
            let is_of_language =
                matches!(&*rust, "String" | "bool") || rust.starts_with(['f', 'i', 'u']) && rust.len() < 4;
            let why = match path.as_ref().and_then(|path| known.get(path)) {
                _ if is_of_several => Some("values of derived types may take its place".to_owned()),
                _ if is_of_language => Some("it is not a simple type".to_owned()),
                None => Some("no generated code uses it".to_owned()),
                Some(Item::Struct(planned)) => {
                    own.types.insert(planned.path.clone(), rust.clone());
                    None
                }
                Some(_) => Some("its content is not a list of elements".to_owned()),
            };
            if let Some(why) = why {
                self.report(Severity::Error, location, format!("{rust} can't replace {called}: {why}"));
            }
        }
        if own.types.is_empty() {
            return own;
        }
        let bodies = bodies(services);
        let mut left = MAX_COMPARED;
        let mut all: Vec<_> = own.types.iter().collect();
        all.sort_unstable();
        for (path, rust) in all {
            let why = match bodies.contains(path) {
                true => Some("it is the whole body of a message".to_owned()),
                false => known.get(path).and_then(|item| inexpressible(item, &known, &own.types, 0, &mut left)),
            };
            if let Some(why) = why {
                self.report_contract(Severity::Error, format!("{rust} can't replace {}: {why}", path.ident));
            }
        }
        let fields = items.iter().filter(|item| !own.types.contains_key(item.path())).flat_map(Item::fields);
        let streamed = fields.filter(|field| field.streams).filter_map(|field| match &field.term {
            Term::Element { element, value: Value { base: Base::Item(path), .. }, .. } => {
                Some((&element.name, own.types.get(path)?))
            }
            _ => None,
        });
        for (element, rust) in streamed.collect::<Vec<_>>() {
            self.report_contract(
                Severity::Error,
                format!("the values of {element} are a stream, and can't be of the type {rust}"),
            );
        }
        let within = reached(&known, own.types.keys().cloned().collect(), &HashMap::new());
        let roots = items.iter().map(Item::path).filter(|path| !within.contains(path)).cloned();
        let bases = bases(services, documents);
        let written = reached(&known, roots.chain(bases).collect(), &own.types);
        own.unwritten = items.iter().map(Item::path).filter(|path| !written.contains(path)).cloned().collect();
        own.unwritten.extend(own.types.keys().cloned());
        own
    }
}

/// Returns the number of enumeration values of a type, which are compared wherever the type is used.
fn listed(base: &Base, known: &HashMap<&Path, &Item>) -> usize {
    match base {
        Base::List(item) => listed(item, known),
        Base::Item(path) => match known.get(path) {
            Some(Item::Enumeration(planned)) => planned.variants.len(),
            _ => 0,
        },
        _ => 0,
    }
}

/// Returns why a type of a program can't express what is in an item.
fn inexpressible(
    item: &Item,
    known: &HashMap<&Path, &Item>,
    own: &HashMap<Path, Box<str>>,
    depth: usize,
    left: &mut usize,
) -> Option<String> {
    let Item::Struct(Struct { path, content, attributes, .. }) = item else {
        return Some(format!("{} is not a struct", item.path().ident));
    };
    if depth > MAX_NESTED {
        return Some(format!("{} is nested too deep in it: replace it by a type of the program, too", path.ident));
    }
    let fields = match content {
        Content::Simple { .. } => &[][..],
        Content::Mixed { .. } => return Some(format!("{} has text between its elements", path.ident)),
        Content::Sequence(fields) | Content::All(fields) => fields,
    };
    let elements = fields.iter().filter_map(|field| match &field.term {
        Term::Element { value, .. } => Some(&value.base),
        Term::Group(_) | Term::Any(_) => None,
    });
    let bases = elements.chain(attributes.iter().map(|attribute| &attribute.base));
    let cost: usize = bases.map(|base| 1 + listed(base, known)).sum();
    *left = left.saturating_sub(1 + cost);
    if *left == 0 {
        return Some(format!("{} has too much content: replace types in it by types of the program, too", path.ident));
    }
    for field in fields {
        let value = match &field.term {
            Term::Group(group) => return Some(format!("{} contains the group {}", path.ident, group.ident)),
            Term::Any(_) if field.occurrence() == Occurrence::Repeated => continue,
            Term::Any(_) => return Some(format!("{} contains a wildcard for one element", path.ident)),
            Term::Element { value, .. } => value,
        };
        if let Base::Item(inner) = &value.base
            && !own.contains_key(inner)
            && let Some(item) = known.get(inner)
            && !matches!(item, Item::Enumeration(_) | Item::Union(_))
            && let Some(why) = inexpressible(item, known, own, depth + 1, left)
        {
            return Some(why);
        }
    }
    None
}

/// Returns the types that are the content of a body itself.
fn bodies(services: &[Service]) -> HashSet<&Path> {
    let operations = services.iter().flat_map(|service| &service.operations);
    let messages = operations.flat_map(|operation| std::iter::once(&operation.request).chain(&operation.response));
    let of_body = messages.filter_map(|message| match &message.payload {
        Payload::Content { path, .. } => Some(path),
        Payload::Element(_) | Payload::Nothing => None,
    });
    of_body.collect()
}

/// Returns the types of messages and documents.
fn bases<'p>(services: &'p [Service], documents: &'p [TypedRoot]) -> Vec<Path> {
    let mut found = Vec::new();
    let mut add = |base: &Base| {
        if let Base::Item(path) = base {
            found.push(path.clone());
        }
    };
    documents.iter().for_each(|document| add(&document.base));
    for service in services {
        service.headers.iter().for_each(|header| add(&header.base));
        for operation in &service.operations {
            for message in std::iter::once(&operation.request).chain(&operation.response) {
                add(&message.base);
                if let Payload::Content { path, .. } = &message.payload {
                    add(&Base::Item(path.clone()));
                }
            }
            let variants = operation.faults.iter().flat_map(|faults| &faults.variants);
            variants.for_each(|variant| add(&variant.base));
        }
    }
    found
}

/// Returns all items reachable from `from`, without following references out of `ends`.
fn reached(known: &HashMap<&Path, &Item>, from: Vec<Path>, ends: &HashMap<Path, Box<str>>) -> HashSet<Path> {
    let mut open = from;
    let mut found = HashSet::new();
    while let Some(path) = open.pop() {
        let Some(item) = known.get(&path).filter(|_| !found.contains(&path)) else { continue };
        found.insert(path.clone());
        if !ends.contains_key(&path) {
            item.each_reference(&mut |path| open.push(path.clone()));
        }
    }
    found
}

impl Item {
    /// Calls `tell` for all items that this item refers to: types and their tables.
    pub(super) fn each_reference(&self, tell: &mut dyn FnMut(&Path)) {
        let base = |base: &Base, tell: &mut dyn FnMut(&Path)| {
            let mut base = base;
            while let Base::List(inner) | Base::Shared(inner) = base {
                base = inner;
            }
            if let Base::Item(path) = base {
                tell(path);
            }
        };
        for field in self.fields() {
            match &field.term {
                Term::Element { element, value, .. } => {
                    base(&value.base, tell);
                    element.facets.iter().chain(&element.types).for_each(&mut *tell);
                }
                Term::Group(path) => tell(path),
                Term::Any(_) => {}
            }
        }
        match self {
            Item::Struct(Struct { attributes, content, .. }) => {
                for attribute in attributes {
                    base(&attribute.base, tell);
                    attribute.facets.iter().for_each(&mut *tell);
                }
                match content {
                    Content::Simple { value, facets, .. } => {
                        base(value, tell);
                        facets.iter().for_each(tell);
                    }
                    Content::Mixed { piece, .. } => tell(piece),
                    Content::Sequence(_) | Content::All(_) => {}
                }
            }
            Item::Derived(derived) => derived.variants.iter().for_each(|variant| base(&variant.base, tell)),
            Item::Union(union) => {
                for member in &union.members {
                    base(&member.base, tell);
                    member.facets.iter().for_each(&mut *tell);
                }
            }
            Item::Restriction(restriction) => {
                base(&restriction.base, tell);
                match &restriction.rule {
                    Rule::Facets { of, .. } => of.iter().for_each(tell),
                    Rule::Items(path) => tell(path),
                    Rule::AnyOf(paths) => paths.iter().for_each(tell),
                }
            }
            Item::EncodedStruct(planned) => {
                for accessor in &planned.accessors {
                    base(&accessor.value.base, tell);
                    let element = &accessor.element;
                    element.facets.iter().chain(&element.types).chain(&accessor.value.facets).for_each(&mut *tell);
                }
            }
            Item::EncodedArray(planned) => {
                base(&planned.value.base, tell);
                planned.item.facets.iter().chain(&planned.item.types).chain(&planned.value.facets).for_each(tell);
            }
            Item::Choice(_) | Item::Enumeration(_) | Item::NamedTypes(_) => {}
        }
    }
}
