//! Simple types, and what restricts them.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::fields::Base;
use super::path::Path;
use crate::names::Ident;
#[cfg(feature = "serde")]
use crate::serialized;

/// A simple type with an enumeration.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Enumeration {
    pub path: Path,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// The name in the contract.
    pub name: String,
    /// Whether white space around the value is ignored.
    pub collapses: bool,
    pub variants: Vec<EnumerationVariant>,
    /// The variant for values that are not in the enumeration.
    pub other: Ident,
    /// Whether such values are rejected.
    pub is_strict: bool,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EnumerationVariant {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub value: String,
}

/// A simple type that is a union of others.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Union {
    pub path: Path,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub name: String,
    pub members: Vec<Member>,
    /// Whether facets may be checked against its values.
    pub has_facets: bool,
    /// Whether its values may be or contain qualified names.
    pub has_names: bool,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Member {
    pub ident: Ident,
    pub base: Base,
    /// Whether it is an enumeration followed by other members, so that it only accepts listed values.
    pub is_enumeration: bool,
    pub facets: Option<Path>,
}

/// Constraints on values of a simple type in addition to its Rust type: a static that tables refer to.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Restriction {
    pub path: Path,
    /// The name of the type in the contract.
    pub name: String,
    pub base: Base,
    pub rule: Rule,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Rule {
    /// Facets, and a restriction that is checked before them.
    Facets { facets: Vec<Facet>, of: Option<Path> },
    /// Each item of the list must satisfy this restriction.
    Items(Path),
    /// The text must satisfy one of these restrictions.
    AnyOf(Vec<Path>),
}

/// One of a fixed set of names. It has a type alias because serde would otherwise borrow a `&'static str` from its
/// input.
pub type Name = &'static str;

/// A facet in the form of the run-time type.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Facet {
    WhiteSpace(#[cfg_attr(feature = "serde", serde(with = "serialized::name"))] Name),
    /// The field for a number, and the number.
    Number(#[cfg_attr(feature = "serde", serde(with = "serialized::name"))] Name, u64),
    /// The alternative patterns of each derivation step.
    Patterns(Vec<Vec<String>>),
    /// The field for a value, and the value as text.
    Bound(#[cfg_attr(feature = "serde", serde(with = "serialized::name"))] Name, String),
    Enumeration(Vec<String>),
    /// An enumeration of qualified names: namespaces and local names.
    Names(Vec<(String, String)>),
    /// An enumeration whose values contain qualified names: each text with its prefixes and namespaces.
    Scoped(Vec<(String, Vec<(String, String)>)>),
}

/// The simple types that `xsi:type` may name instead of a type: a static that tables refer to.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct NamedTypes {
    pub path: Path,
    /// The name of the declared type, for error messages.
    pub name: String,
    /// The built-in types, separated by spaces. Types derived from them are allowed, too.
    pub builtin: String,
    /// The types of the contract: for each namespace, the names separated by spaces.
    pub of_contract: Vec<(String, String)>,
}
