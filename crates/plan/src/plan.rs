//! The plan: Rust names, types and tags. Rendering it needs no knowledge of WSDL or XSD.

mod encoded;
pub(crate) mod fields;
pub(crate) mod particles;
pub(crate) mod path;
mod services;
mod simple;
mod types;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

pub use castile_wsdl::Version;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use self::encoded::{Accessor, EncodedArray, EncodedRole, EncodedStruct, EncodedValue};
pub use self::fields::{Base, Element, Field, Nil, Occurrence, Storage, Term, Value, ValueConstraint, Wildcard};
pub use self::particles::{Particle, ParticleKind};
pub use self::path::Path;
pub use self::services::{
    FaultVariant, Faults, Message, Operation, Payload, Port, Repeats, Root, RootType, Service, TypedRoot,
};
pub use self::simple::{Enumeration, EnumerationVariant, Facet, Member, Name, NamedTypes, Restriction, Rule, Union};
pub use self::types::{
    Attribute, Choice, Content, DefaultValue, Derived, DerivedVariant, Made, Presence, Role, Struct, TypeName,
};
use crate::names::Ident;

/// The plan of a generated module.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Plan {
    /// The namespaces of elements, most used first.
    pub namespaces: Vec<String>,
    /// The module itself, and its submodules.
    pub modules: Vec<Module>,
    pub items: Vec<Item>,
    pub services: Vec<Service>,
    /// The documents of a standalone schema.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documents: Vec<TypedRoot>,
    /// The elements that can be read item by item.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub repeats: Vec<Repeats>,
    /// The complex types that are replaced by types of the program, with the paths of the latter.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub own: HashMap<Path, Box<str>>,
    /// The replaced types, and the items that only they refer to. They are planned but not generated.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub unwritten: HashSet<Path>,
    /// Derives and attributes of types in addition to those that all types have.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub extras: HashMap<Path, Extras>,
    /// The size of values of each type in bytes, including header blocks and fault details.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sizes: Vec<(Path, usize)>,
    /// The operations that were left out of services.
    pub left_out: Vec<LeftOut>,
    /// The services, ports and bindings that were left out: the kind and name of each.
    pub missing: Vec<String>,
}

impl Plan {
    /// Returns true if nothing usable is left of a contract.
    pub fn is_nothing(&self) -> bool {
        self.services.is_empty() && (self.items.is_empty() || !self.left_out.is_empty() || !self.missing.is_empty())
    }

    /// Returns how many operations are included, and what is left out with the reasons. Returns `None` if nothing is
    /// left out.
    pub fn summary(&self) -> Option<String> {
        const SHOWN: usize = 20;
        let operations = self.services.iter().map(|service| service.operations.len()).sum::<usize>();
        let total = operations + self.left_out.len();
        let plural = if total == 1 { "" } else { "s" };
        let left_out = self.left_out.iter().map(|one| (one.label.as_str(), one.reason.as_deref()));
        let mut all = left_out.chain(self.missing.iter().map(|name| (name.as_str(), None))).peekable();
        let mut names = String::new();
        for _ in 0..SHOWN {
            let Some((name, reason)) = all.next() else { break };
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(name);
            // If consecutive operations are left out for the same reason, the reason is written after the last of them.
            if let Some(reason) = reason.filter(|reason| all.peek().is_none_or(|(_, next)| *next != Some(*reason))) {
                // Writing to a string can't fail.
                let _ = write!(names, " ({})", shortened(reason));
            }
        }
        let more = match all.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = Some(names).filter(|names| !names.is_empty())?;
        Some(format!("{operations} of {total} operation{plural}; left out: {names}{more}"))
    }

    /// Returns the size of values of each type in bytes, by the path of the type in the module.
    pub fn named_sizes(&self) -> Vec<(String, usize)> {
        let name = |path: &Path| match path.module {
            0 => path.ident.to_string(),
            module => format!("{}::{}", self.modules[module].ident, path.ident),
        };
        self.sizes.iter().map(|(path, size)| (name(path), *size)).collect()
    }
}

/// An operation that was left out of a service.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct LeftOut {
    pub name: String,
    /// Its unique label in its binding if its binding is usable, or else its name.
    pub label: String,
    /// The first reason, if it wasn't lost because of the limit on diagnostics.
    pub reason: Option<String>,
}

/// Shortens a text.
fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_LENGTH: usize = 200;
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// What a type has in addition to what all types have.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Extras {
    /// Paths of derive macros.
    pub derives: Vec<String>,
    /// The contents of attributes, without the brackets.
    pub attributes: Vec<String>,
}

/// A module for the types of one namespace.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Module {
    pub namespace: String,
    pub ident: Ident,
}

/// An item of generated code.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Item {
    Struct(Struct),
    Choice(Choice),
    Derived(Derived),
    Enumeration(Enumeration),
    Union(Union),
    Restriction(Restriction),
    NamedTypes(NamedTypes),
    EncodedStruct(EncodedStruct),
    EncodedArray(EncodedArray),
}

impl Item {
    pub fn path(&self) -> &Path {
        match self {
            Item::Struct(Struct { path, .. })
            | Item::Choice(Choice { path, .. })
            | Item::Derived(Derived { path, .. })
            | Item::Enumeration(Enumeration { path, .. })
            | Item::Union(Union { path, .. })
            | Item::Restriction(Restriction { path, .. })
            | Item::NamedTypes(NamedTypes { path, .. })
            | Item::EncodedStruct(EncodedStruct { path, .. })
            | Item::EncodedArray(EncodedArray { path, .. }) => path,
        }
    }

    /// Returns the fields of a struct or the variants of a choice.
    pub fn fields(&self) -> &[Field] {
        match self {
            Item::Struct(Struct { content: Content::Sequence(fields) | Content::All(fields), .. }) => fields,
            Item::Choice(choice) => &choice.variants,
            _ => &[],
        }
    }

    pub fn fields_mut(&mut self) -> &mut [Field] {
        match self {
            Item::Struct(Struct { content: Content::Sequence(fields) | Content::All(fields), .. }) => fields,
            Item::Choice(choice) => &mut choice.variants,
            _ => &mut [],
        }
    }

    /// Returns the types that values of the item contain. If there is a choice how a value is held, it is returned too.
    pub fn references_mut(&mut self) -> Vec<(Path, Option<&mut Storage>)> {
        let of_base = |base: &Base| match base {
            Base::Item(path) => Some(path.clone()),
            _ => None,
        };
        let of_field = |field: &'_ Field| match &field.term {
            Term::Element { value, .. } => of_base(&value.base),
            Term::Group(path) => Some(path.clone()),
            Term::Any(_) => None,
        };
        let mut found = Vec::new();
        match self {
            Item::Struct(Struct { attributes, content, .. }) => {
                found.extend(attributes.iter().filter_map(|attribute| Some((of_base(&attribute.base)?, None))));
                match content {
                    Content::Simple { value, .. } => found.extend(of_base(value).map(|path| (path, None))),
                    Content::Mixed { piece, .. } => found.push((piece.clone(), None)),
                    Content::Sequence(fields) | Content::All(fields) => {
                        found.extend(
                            fields.iter_mut().filter_map(|field| Some((of_field(field)?, Some(&mut field.storage)))),
                        );
                    }
                }
            }
            Item::Choice(Choice { variants, .. }) => {
                found
                    .extend(variants.iter_mut().filter_map(|field| Some((of_field(field)?, Some(&mut field.storage)))));
            }
            Item::Derived(Derived { variants, .. }) => {
                let variants = variants.iter_mut();
                found
                    .extend(variants.filter_map(|variant| Some((of_base(&variant.base)?, Some(&mut variant.storage)))));
            }
            Item::Union(Union { members, .. }) => {
                found.extend(members.iter().filter_map(|member| Some((of_base(&member.base)?, None))));
            }
            Item::EncodedStruct(EncodedStruct { accessors, .. }) => {
                let accessors = accessors.iter_mut().filter(|accessor| !accessor.value.is_shared);
                found.extend(accessors.filter_map(|one| Some((of_base(&one.value.base)?, Some(&mut one.storage)))));
            }
            Item::EncodedArray(EncodedArray { value, storage, .. }) => {
                found.extend(of_base(&value.base).filter(|_| !value.is_shared).map(|path| (path, Some(storage))));
            }
            Item::Enumeration(_) | Item::Restriction(_) | Item::NamedTypes(_) => {}
        }
        found
    }
}
