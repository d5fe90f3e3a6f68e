//! Applies the options for single types: their names, derives, and Rust types that replace them.

use std::collections::{BTreeMap, HashMap, HashSet};

use castile_wsdl::Severity;
use castile_xsd::components::Owner;
use castile_xsd::{Builtin, Location, TypeId, candidates};

use super::Planner;
use crate::names::{Ident, upper};
use crate::plan::{Base, Content, Extras, Field, Item, Path, Storage, Struct, Term};
use crate::{Options, TypeOptions};

impl Planner<'_> {
    /// Reads the options for types before anything is planned: names and replacing Rust types.
    pub(super) fn read_type_options(&mut self, options: &Options) {
        for (namespace, name) in &options.modules {
            if self.expect_ident(name, &format!("the module of {namespace}")) {
                self.module_names.insert(namespace.clone(), Ident::new(name));
            }
        }
        for (name, TypeOptions { name: own, rust, .. }) in &options.of_types {
            if let Some(own) = own
                && self.expect_ident(own, &format!("the type {name}"))
            {
                let named = self.named_types_of(name);
                if named.is_empty() {
                    self.report_contract(
                        Severity::Error,
                        format!("the type {name} can't be renamed to {own}: it doesn't exist"),
                    );
                } else if named.iter().any(|id| id.builtin().is_some()) {
                    let why = "use `rust` to replace it by a Rust type";
                    self.report_contract(
                        Severity::Error,
                        format!("{name} is built in and can't be renamed to {own}: {why}"),
                    );
                }
                self.type_names.extend(named.into_iter().map(|id| (id, own.clone())));
            }
            if let Some(rust) = rust {
                if syn::parse_str::<syn::Path>(rust).is_err() {
                    self.report_contract(
                        Severity::Error,
                        format!("{rust}, which replaces {name}, is not the path of a type"),
                    );
                    continue;
                }
                let named = self.named_types_of(name);
                if named.is_empty() {
                    self.report_contract(
                        Severity::Error,
                        format!("{rust} can't replace the type {name}: it doesn't exist"),
                    );
                }
                for id in named {
                    let is_simple = self.schema[id].as_simple().is_some();
                    let types = if is_simple { &mut self.rust_types } else { &mut self.own_types };
                    types.insert(id, rust.as_str().into());
                }
            }
        }
    }

    /// Checks the requested names after all modules and types have names.
    pub(super) fn check_names(&mut self, options: &Options) {
        for (namespace, name) in &options.modules {
            let others = self.modules.iter().skip(1).map(|other| (&*other.namespace, &other.ident));
            let others: Vec<_> = others.filter(|(other, _)| other != namespace).collect();
            // If both names were requested, only the second one is reported.
            let is_told = |other: &str| other > namespace.as_str() && options.modules.contains_key(other);
            let (why, note) = match self.module_numbers.get(namespace) {
                None => {
                    let known: Vec<&str> = others.iter().map(|(other, _)| *other).collect();
                    let note = format!("there are modules of {}", candidates(namespace, &known));
                    (
                        "no type of the contract is in this namespace".to_owned(),
                        Some(note).filter(|_| !known.is_empty()),
                    )
                }
                Some(0) => ("the types of the contract's own namespace have no separate module".to_owned(), None),
                Some(&module) => {
                    let ident = &self.modules[module].ident;
                    match others.into_iter().find(|(other, known)| *known == ident && !is_told(other)) {
                        Some((other, _)) => (format!("the module of {other} has this name"), None),
                        None => continue,
                    }
                }
            };
            self.report_contract(Severity::Error, format!("the module of {namespace} can't be named {name}: {why}"));
            if let Some(diagnostic) = self.diagnostics.last_mut() {
                diagnostic.note = note;
            }
        }
        for (name, of) in &options.of_types {
            let Some(own) = &of.name else { continue };
            if let Some((location, why)) = self.named_types_of(name).into_iter().find_map(|id| self.renumbered(id, own))
            {
                self.report(Severity::Error, location, format!("the type {name} can't be named {own}: {why}"));
            }
        }
    }

    /// Returns why a type didn't get the requested name, and where that can be seen. A type and an element with the
    /// same name get different numbers.
    fn renumbered(&self, id: TypeId, own: &str) -> Option<(Location, String)> {
        let schema = self.schema;
        let path = self.reserved.get(&id)?;
        let wanted = upper(own);
        let named = |id: TypeId| match schema[id].owner() {
            Some(Owner::Element(element)) => Some(&schema[element].name),
            _ => schema[id].name(),
        };
        let has_the_name = |(other, known): &(&TypeId, &Path)| {
            let natural = named(**other).map(|name| self.type_names.get(*other).map_or(name.local(), String::as_str));
            known.module == path.module
                && named(**other) != named(id)
                && natural.is_some_and(|name| upper(name) == wanted)
        };
        match self.reserved.iter().filter(has_the_name).map(|(other, _)| *other).min() {
            Some(other) => {
                let name = named(other).map(ToString::to_string).unwrap_or_default();
                Some((schema[other].location(), format!("{name} has this name")))
            }
            None => (path.ident.as_str() == format!("{wanted}Type"))
                .then(|| (schema[id].location(), "another item of the generated code has this name".to_owned())),
        }
    }

    /// Returns the types with this name and the types of elements with this name, or a built-in type.
    fn named_types_of(&self, name: &str) -> Vec<TypeId> {
        let schema = self.schema;
        if let Some(builtin) = name.strip_prefix("xs:") {
            return Builtin::from_name(builtin).map(TypeId::from).into_iter().collect();
        }
        let is_called = |known: &castile_xsd::ExpandedName| known.local() == name || known.to_string() == name;
        let types = schema.global_types().filter(|id| schema[*id].name().is_some_and(is_called));
        let elements = schema.global_elements().filter(|id| is_called(&schema[*id].name));
        let own = elements.map(|id| (id, schema[id].type_id));
        let own = own.filter(|(id, of)| schema[*of].owner() == Some(Owner::Element(*id))).map(|(_, of)| of);
        types.filter(|id| id.builtin().is_none()).chain(own).collect()
    }

    fn expect_ident(&mut self, name: &str, of: &str) -> bool {
        let is_ident = syn::parse_str::<proc_macro2::Ident>(name).is_ok();
        if !is_ident {
            self.report_contract(
                Severity::Error,
                format!("{of} can't be named {name}, which is not a valid Rust name"),
            );
        }
        is_ident
    }

    /// Renames members as requested, and returns the additional derives and attributes of each type.
    pub(super) fn extras(&mut self, options: &Options, items: &mut [Item]) -> HashMap<Path, Extras> {
        for derive in options.derives.iter().chain(options.of_types.values().flat_map(|of| &of.derives)) {
            if syn::parse_str::<syn::Path>(derive).is_err() {
                self.report_contract(
                    Severity::Error,
                    format!("{derive}, which types should derive, is not the path of a macro"),
                );
            }
        }
        for attribute in options.attributes.iter().chain(options.of_types.values().flat_map(|of| &of.attributes)) {
            if syn::parse_str::<syn::Meta>(attribute).is_err() {
                self.report_contract(
                    Severity::Error,
                    format!("{attribute}, which types should have, is not an attribute"),
                );
            }
        }
        let mut of_paths: HashMap<Path, Vec<&TypeOptions>> = HashMap::new();
        for (name, of) in &options.of_types {
            if (&of.derives, &of.attributes, &of.members) == (&Vec::new(), &Vec::new(), &BTreeMap::new()) {
                continue;
            }
            let mut paths: Vec<Path> =
                self.named_types_of(name).iter().filter_map(|id| self.reserved.get(id)).cloned().collect();
            let is_called = |path: &&Path| path.ident.as_str() == name;
            paths.extend(items.iter().map(Item::path).filter(is_called).cloned());
            let generated: HashSet<&Path> = items.iter().map(Item::path).collect();
            paths.retain(|path| generated.contains(path));
            if paths.is_empty() {
                self.report_contract(Severity::Error, format!("no generated type has the name {name}"));
            }
            for path in paths {
                let all = of_paths.entry(path).or_default();
                if !all.iter().any(|known| std::ptr::eq(*known, of)) {
                    all.push(of);
                }
            }
        }
        for item in items.iter_mut() {
            let of_this = of_paths.get(item.path()).into_iter().flatten();
            for (member, name) in of_this.flat_map(|of| &of.members) {
                let what = format!("{member} of {}", item.path().ident);
                if !self.expect_ident(name, &what) {
                    continue;
                }
                if let Err(why) = rename(item, member, name) {
                    self.report_contract(Severity::Error, format!("{what} can't be named {name}: {why}"));
                }
            }
        }
        if options.derives.is_empty() && options.attributes.is_empty() && of_paths.is_empty() {
            return HashMap::new();
        }
        let without = ["Eq", "Hash"].map(|of| (of, without(items, of)));
        let extras = items.iter().map(|item| {
            let path = item.path();
            let has = |derive: &&String| {
                without.iter().all(|(of, without)| derive.as_str() != *of || !without.contains(path))
            };
            let mut extras = Extras {
                derives: options.derives.iter().filter(has).cloned().collect(),
                attributes: options.attributes.clone(),
            };
            for of in of_paths.get(path).into_iter().flatten() {
                extras.derives.extend(of.derives.iter().cloned());
                extras.attributes.extend(of.attributes.iter().cloned());
            }
            let own: &[&str] = match item {
                Item::Enumeration(_) => &["Clone", "Debug", "PartialEq", "Eq", "Hash"],
                _ => &["Clone", "Debug", "PartialEq"],
            };
            let mut known: HashSet<String> = own.iter().map(|derive| (*derive).to_owned()).collect();
            // `Default` is already derived where that is possible.
            extras.derives.retain(|derive| derive != "Default" && known.insert(derive.clone()));
            (path.clone(), extras)
        });
        extras.collect()
    }
}

/// Renames a member. Fails if it doesn't exist or if the name is in use.
fn rename(item: &mut Item, member: &str, name: &str) -> Result<(), String> {
    let mut members = members(item, member.starts_with('@'));
    let ident = Ident::new(name);
    let is_taken = |(other, known): &&(String, &mut Ident)| other != member && **known == ident;
    if let Some((other, _)) = members.iter().find(is_taken) {
        return Err(format!("{other} has this name"));
    }
    if let Some((_, found)) = members.iter_mut().find(|(known, _)| known == member) {
        **found = ident;
        return Ok(());
    }
    let known: Vec<&str> = members.iter().map(|(known, _)| known.as_str()).collect();
    match known.is_empty() {
        true => Err("it has no members".to_owned()),
        false => Err(format!("there is no such member, expected one of {}", candidates(member, &known))),
    }
}

/// Returns the members of a type by their names in the contract, or by their Rust names if they have none. Attributes
/// get an `@` if `marks_attributes` is set, or if an element has the same name.
fn members(item: &mut Item, marks_attributes: bool) -> Vec<(String, &mut Ident)> {
    fn of_field(field: &mut Field) -> (String, &mut Ident) {
        let element = field.element().map(|element| element.name.to_string());
        (element.unwrap_or_else(|| field.ident.to_string()), &mut field.ident)
    }
    match item {
        Item::Struct(Struct { attributes, content, any_attributes, .. }) => {
            let elements: HashSet<String> = elements(content).map(|element| element.name.to_string()).collect();
            let of_attribute = |name: &str| match marks_attributes || elements.contains(name) {
                true => format!("@{name}"),
                false => name.to_owned(),
            };
            let mut members: Vec<_> =
                attributes.iter_mut().map(|one| (of_attribute(&one.name), &mut one.ident)).collect();
            members.extend(any_attributes.iter_mut().map(|(ident, _)| (ident.to_string(), ident)));
            match content {
                Content::Sequence(fields) | Content::All(fields) => members.extend(fields.iter_mut().map(of_field)),
                Content::Simple { ident, .. } | Content::Mixed { ident, .. } => {
                    members.push((ident.to_string(), ident))
                }
            }
            members
        }
        Item::Choice(choice) => choice.variants.iter_mut().map(of_field).collect(),
        Item::Derived(derived) => {
            derived.variants.iter_mut().map(|one| (one.name.name.to_string(), &mut one.ident)).collect()
        }
        Item::Enumeration(of) => of.variants.iter_mut().map(|one| (one.value.to_string(), &mut one.ident)).collect(),
        Item::Union(union) => union.members.iter_mut().map(|one| (one.ident.to_string(), &mut one.ident)).collect(),
        Item::EncodedStruct(of) => {
            of.accessors.iter_mut().map(|one| (one.element.name.to_string(), &mut one.ident)).collect()
        }
        Item::Restriction(_) | Item::NamedTypes(_) | Item::EncodedArray(_) => Vec::new(),
    }
}

fn elements(content: &Content) -> impl Iterator<Item = &crate::plan::Element> {
    let fields = match content {
        Content::Sequence(fields) | Content::All(fields) => fields.as_slice(),
        Content::Simple { .. } | Content::Mixed { .. } => &[],
    };
    fields.iter().filter_map(Field::element)
}

/// Returns the types that can't implement `Eq` or `Hash`, because of the types that they contain.
fn without(items: &mut [Item], of: &str) -> HashSet<Path> {
    let mut found: HashSet<Path> = HashSet::new();
    let mut holders: HashMap<Path, Vec<Path>> = HashMap::new();
    let mut open = Vec::new();
    for item in items {
        let path = item.path().clone();
        let has_wildcard = item.fields().iter().any(|field| matches!(field.term, Term::Any(_)));
        if has_value_without(item, of) || has_wildcard && of == "Hash" {
            open.push(path.clone());
        }
        let inner: Vec<(Path, Option<&mut Storage>)> = item.references_mut();
        for (inner, _) in inner {
            holders.entry(inner).or_default().push(path.clone());
        }
    }
    while let Some(path) = open.pop() {
        if found.insert(path.clone()) {
            open.extend(holders.get(&path).into_iter().flatten().cloned());
        }
    }
    found
}

/// Returns true if a type itself contains values, not of the contract, that don't implement `Eq` or `Hash`.
fn has_value_without(item: &Item, of: &str) -> bool {
    let mut elements = item.fields().iter().filter_map(|field| match &field.term {
        Term::Element { value, .. } => Some(&value.base),
        Term::Group(_) | Term::Any(_) => None,
    });
    elements.any(|base| is_without(base, of))
        || match item {
            Item::Struct(Struct { attributes, content, .. }) => {
                attributes.iter().any(|attribute| is_without(&attribute.base, of))
                    || matches!(content, Content::Simple { value, .. } if is_without(value, of))
            }
            Item::Union(union) => union.members.iter().any(|member| is_without(&member.base, of)),
            // Types that the contract doesn't have use a variant of their own.
            Item::Derived(derived) => of == "Hash" || derived.variants.iter().any(|one| is_without(&one.base, of)),
            Item::EncodedStruct(planned) => planned.accessors.iter().any(|one| is_without(&one.value.base, of)),
            Item::EncodedArray(array) => is_without(&array.value.base, of),
            Item::Choice(_) | Item::Enumeration(_) | Item::Restriction(_) | Item::NamedTypes(_) => false,
        }
}

fn is_without(base: &Base, of: &str) -> bool {
    match base {
        Base::Primitive(name) => matches!(*name, "f32" | "f64"),
        Base::List(item) => is_without(item, of),
        Base::AnyType => of == "Hash",
        Base::Shared(_) => true,
        Base::Datatype(_) | Base::Nothing | Base::Raw | Base::Item(_) => false,
        // A program can request it for single types if its own type implements it.
        Base::Rust(_) => true,
    }
}
