//! Types of SOAP encoding.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::fields::{Base, Element, Storage};
use super::path::Path;
use super::types::TypeName;
use crate::names::Ident;

/// A struct in SOAP encoding (SOAP 1.1 §5.4.1). Its accessors may be in any order, absent or nil.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedStruct {
    pub path: Path,
    /// The name of the table of its accessors.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub role: EncodedRole,
    pub accessors: Vec<Accessor>,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum EncodedRole {
    /// A value, with the name of its type, if it has one.
    Value(Option<TypeName>),
    /// The element of a call or of its answer. The accessor that has the result of the call is named.
    Call { result: Option<String> },
}

/// An accessor of a struct.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Accessor {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub element: Element,
    pub value: EncodedValue,
    pub storage: Storage,
    /// Whether it may occur more than once.
    pub is_repeated: bool,
    /// Whether it is left out, not nil, if it has no value.
    pub is_optional: bool,
    /// The start tag, with the type if it is always the same.
    pub start: String,
}

/// The type of a value in SOAP encoding.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedValue {
    pub base: Base,
    /// Whether the value may refer to itself, which makes it a node of a graph.
    pub is_shared: bool,
    /// The type to write, unless the value itself determines it.
    pub type_name: Option<TypeName>,
    pub facets: Option<Path>,
}

/// An array in SOAP encoding (SOAP 1.1 §5.4.2).
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedArray {
    pub path: Path,
    /// The name of its table.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub item: Element,
    pub value: EncodedValue,
    pub storage: Storage,
    /// The type of the items, or of the innermost ones.
    pub item_type: TypeName,
    /// The brackets of the items' arrays if their type has no name: `[]`.
    pub ranks: String,
    pub rank: usize,
    /// The type of the items as written in `arrayType`, and the start tag of an item.
    pub tag: String,
    pub start: String,
}
