//! What is to be written: Rust names, types and tags, decided. Rendering knows no WSDL and no XSD.

use proc_macro2::Ident;

use crate::names::ServiceNames;

/// A module of generated code.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The namespaces of elements, the most used first.
    pub(crate) namespaces: Vec<String>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) services: Vec<Service>,
}

/// A complex type.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) ident: Ident,
    /// The table of its children.
    pub(crate) table: Ident,
    pub(crate) documentation: String,
    pub(crate) order: Order,
    pub(crate) fields: Vec<Field>,
    /// Whether every field has a default value.
    pub(crate) has_default: bool,
}

/// How the children of an element stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// One after another: `xs:sequence`.
    Sequence,
    /// Each once at most, in any order: `xs:all`.
    All,
}

/// A child element.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) documentation: String,
    pub(crate) element: Element,
    pub(crate) value: Value,
    pub(crate) tag: String,
}

impl Field {
    pub(crate) fn occurrence(&self) -> Occurrence {
        match (self.element.min_occurs, self.element.max_occurs) {
            (1, Some(1)) => Occurrence::Required,
            (0, Some(1)) => Occurrence::Optional,
            _ => Occurrence::Repeated,
        }
    }
}

/// How a field holds its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    Required,
    Optional,
    Repeated,
}

/// An element declaration as the run-time tables have it.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// Empty for none.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) min_occurs: u32,
    pub(crate) max_occurs: Option<u32>,
    pub(crate) slot: u16,
}

/// The type of one value of a field.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) base: Base,
    pub(crate) nillable: bool,
    /// Whether the type comes round to itself here.
    pub(crate) recursive: bool,
}

/// A type that has a name in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// One of the language: `i32`, `String`.
    Primitive(&'static str),
    /// One of `castile::datatypes`.
    Datatype(&'static str),
    /// One of this module.
    Struct(Ident),
}

/// A port type with its SOAP binding.
#[derive(Debug)]
pub(crate) struct Service {
    /// The name of the `wsdl:service`.
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) address: String,
    pub(crate) documentation: String,
    pub(crate) names: ServiceNames,
    pub(crate) port_type_documentation: String,
    pub(crate) operations: Vec<Operation>,
}

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) ident: Ident,
    pub(crate) documentation: String,
    pub(crate) action: String,
    pub(crate) request: Message,
    pub(crate) response: Message,
    pub(crate) faults: Option<Faults>,
}

/// The payload of a message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) ident: Base,
    pub(crate) root: Root,
}

/// An element with the tags that it is written with as a payload.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) element: Element,
    pub(crate) start: String,
    pub(crate) end: String,
}

/// The details that an operation's faults can have.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) ident: Ident,
    pub(crate) variants: Vec<FaultVariant>,
}

#[derive(Debug)]
pub(crate) struct FaultVariant {
    pub(crate) ident: Ident,
    pub(crate) documentation: String,
    pub(crate) base: Base,
    pub(crate) root: Root,
}
