//! Fields of structs and variants of choices, and the values in them.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::path::Path;
use crate::names::Ident;

/// A particle: a field of a struct or a variant of a choice.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Field {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub min_occurs: u32,
    pub max_occurs: Option<u32>,
    pub term: Term,
    pub storage: Storage,
    /// Whether its values may be produced while they are sent.
    pub streams: bool,
    /// A type of the program that reads and writes the values as another type.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub adapter: Option<Base>,
}

/// How a value is stored in the value that contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Storage {
    #[default]
    InPlace,
    /// In a `Box`, because it is large.
    Boxed,
    /// In a `Recursive`, because it closes a circle of types or because its types nest deeply.
    Recursive,
}

impl Field {
    pub fn occurrence(&self) -> Occurrence {
        match (self.min_occurs, self.max_occurs) {
            (1, Some(1)) => Occurrence::Required,
            (0, Some(1)) => Occurrence::Optional,
            _ => Occurrence::Repeated,
        }
    }

    pub fn element(&self) -> Option<&Element> {
        match &self.term {
            Term::Element { element, .. } => Some(element),
            _ => None,
        }
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Term {
    /// An element.
    Element {
        element: Element,
        value: Value,
        /// The name as written in its tags.
        tag: String,
        /// Whether another element of this name may follow, so that the number of elements determines where the field
        /// ends.
        counted: bool,
    },
    /// A group with a type of its own.
    Group(Path),
    /// Any element.
    Any(Wildcard),
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Occurrence {
    Required,
    Optional,
    Repeated,
}

/// An element declaration in the form of the run-time tables. Its occurrence is that of the field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Element {
    /// Empty for no namespace.
    pub namespace: String,
    pub name: String,
    pub slot: u16,
    pub constraint: Option<ValueConstraint>,
    pub facets: Option<Path>,
    /// The simple types that `xsi:type` may name, if they don't follow from the Rust type.
    pub types: Option<Path>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum ValueConstraint {
    Default(String),
    Fixed(String),
}

/// The namespaces that a wildcard allows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Wildcard {
    Any,
    Not(String),
    OneOf(Vec<String>),
}

impl Wildcard {
    /// Returns true if it allows elements of this namespace, which is empty for no namespace.
    pub fn allows(&self, namespace: &str) -> bool {
        match self {
            Wildcard::Any => true,
            Wildcard::Not(target) => !namespace.is_empty() && namespace != target,
            Wildcard::OneOf(list) => list.iter().any(|listed| listed == namespace),
        }
    }
}

/// Whether an element may be nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Nil {
    Never,
    Plain,
    /// It may be nil, and its attributes are kept then.
    WithAttributes,
}

/// The type of one value of a field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Value {
    pub base: Base,
    pub nil: Nil,
}

/// A Rust type for values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A primitive type or `String`: `i32`, `String`.
    Primitive(&'static str),
    /// A type in `castile::datatypes`.
    Datatype(&'static str),
    /// A type of the program, by its path.
    Rust(Box<str>),
    /// A list: values of another type, separated by white space.
    List(Box<Base>),
    /// A value of any type.
    AnyType,
    /// No value: `()`.
    Nothing,
    /// A payload as XML.
    Raw,
    /// A node of a graph in SOAP encoding.
    Shared(Box<Base>),
    /// A type generated for the contract.
    Item(Path),
}

impl Base {
    /// Returns true if its values are qualified names, which depend on the namespace declarations in scope.
    pub fn is_name(&self) -> bool {
        match self {
            Base::Datatype(name) => matches!(*name, "QName" | "Notation"),
            Base::List(item) => item.is_name(),
            Base::Primitive(_)
            | Base::Rust(_)
            | Base::AnyType
            | Base::Nothing
            | Base::Raw
            | Base::Shared(_)
            | Base::Item(_) => false,
        }
    }
}
