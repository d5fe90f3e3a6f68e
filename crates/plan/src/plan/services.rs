//! Services, operations, messages and faults.

use castile_wsdl::{Addressing, BindingId, Version};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::fields::{Base, Element, Storage, Value};
use super::path::Path;
use super::types::TypeName;
use crate::names::{Ident, ServiceNames};
#[cfg(feature = "serde")]
use crate::serialized;

/// The address of a service for a SOAP version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Port {
    pub name: String,
    #[cfg_attr(feature = "serde", serde(with = "serialized::version"))]
    pub version: Version,
    /// Empty if the contract has no address.
    pub address: String,
}

/// A port type with its SOAP binding.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Service {
    /// The name of the `wsdl:service`.
    pub name: String,
    /// The binding in the contract, if the service comes from a contract that was read.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub binding: Option<BindingId>,
    pub namespace: String,
    /// The SOAP versions that it supports. The first one is the default for clients.
    #[cfg_attr(feature = "serde", serde(with = "serialized::versions"))]
    pub versions: Vec<Version>,
    /// Its WS-Addressing declaration.
    #[cfg_attr(feature = "serde", serde(with = "serialized::addressing"))]
    pub addressing: Option<Addressing>,
    /// The addresses. The first port represents the others.
    pub ports: Vec<Port>,
    pub documentation: String,
    pub names: ServiceNames,
    pub port_type_documentation: String,
    pub operations: Vec<Operation>,
    /// The header blocks of its messages that no previous service has, each once.
    pub headers: Vec<TypedRoot>,
    /// Whether the contract declares that messages are MTOM.
    pub is_mtom: bool,
}

impl Service {
    /// Returns the address, which is empty if the contract has none.
    pub fn address(&self) -> &str {
        self.ports.first().map_or("", |port| &port.address)
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Operation {
    pub name: String,
    /// A unique label among the operations of its binding, since names can repeat ([`castile_wsdl::Binding::labels`]).
    pub label: String,
    /// Its index in the port type.
    pub number: usize,
    pub ident: Ident,
    pub documentation: String,
    pub action: String,
    /// The WS-Addressing action of requests.
    pub request_action: String,
    /// The WS-Addressing action of responses. Empty if there is no response.
    pub response_action: String,
    pub request: Message,
    /// `None` if there is no response.
    pub response: Option<Message>,
    pub faults: Option<Faults>,
}

/// The types in a message.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Message {
    /// The type of its payload.
    pub base: Base,
    pub payload: Payload,
    /// The types of the declared header blocks that are understood.
    pub headers: Vec<RootType>,
}

/// The content of a message's body.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Payload {
    /// One element.
    Element(Root),
    /// No element.
    Nothing,
    /// The elements of a struct, one after another. The start tag is that of the body.
    Content { path: Path, start: String },
}

impl Payload {
    /// Returns the namespace and name of a request's first element, or `Some(None)` for an empty body. Returns `None`
    /// for a payload that is the content of a struct.
    pub fn to_a_server(&self) -> Option<Option<(&str, &str)>> {
        match self {
            Payload::Element(Root { element, .. }) => Some(Some((&element.namespace, &element.name))),
            Payload::Nothing => Some(None),
            Payload::Content { .. } => None,
        }
    }
}

/// An independent element: a declared header block, or a document.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct TypedRoot {
    pub of: RootType,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub base: Base,
    pub root: Root,
}

/// The Rust type of an independent element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum RootType {
    /// The type of its value. No other header block or document has it.
    Own(Path),
    /// A struct that wraps its value.
    Wrapper(Ident),
}

/// Repeated elements that occur in only one place in a document or a message.
#[derive(Debug)]
pub struct Repeats {
    /// The type of the document or message.
    pub of: RootType,
    /// The namespaces and names of the elements on the path to them.
    pub through: Vec<(String, String)>,
    pub element: Element,
    pub value: Value,
}

/// An element with its tags as the root of a payload.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Root {
    pub element: Element,
    /// Whether it is in SOAP encoding.
    pub is_encoded: bool,
    /// Whether it is the wrapper of the parts of a call in literal use.
    pub wraps_parts: bool,
    /// The type to write if it is a value in SOAP encoding, unless the value itself determines it.
    pub type_name: Option<TypeName>,
    pub start: String,
    pub end: String,
}

impl Root {
    /// Returns true if it is the same element with the same tags. Slots may differ, because they only index the tag
    /// cache.
    fn is_like(&self, other: &Root) -> bool {
        // The type to write is part of the tag.
        let Root { element, is_encoded, wraps_parts, type_name: _, start, end } = self;
        let Element { namespace, name, slot: _, constraint, facets, types } = element;
        let of_other = &other.element;
        (namespace, name, constraint) == (&of_other.namespace, &of_other.name, &of_other.constraint)
            && (facets, types) == (&of_other.facets, &of_other.types)
            && (is_encoded, wraps_parts) == (&other.is_encoded, &other.wraps_parts)
            && (start, end) == (&other.start, &other.end)
    }
}

/// The possible details of an operation's faults.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Faults {
    pub ident: Ident,
    pub variants: Vec<FaultVariant>,
    /// The number of variants that are details. The remaining ones are header blocks.
    pub details: usize,
}

impl Faults {
    /// Returns true if one type can be used for both, because they are written and read in the same way. Actions belong
    /// to operations, and documentation doesn't affect the type.
    pub fn are_like(&self, other: &Faults) -> bool {
        let mut pairs = self.variants.iter().zip(&other.variants);
        self.details == other.details
            && self.variants.len() == other.variants.len()
            && pairs.all(|(one, other)| {
                (&one.ident, &one.base, one.storage) == (&other.ident, &other.base, other.storage)
                    && one.root.is_like(&other.root)
            })
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct FaultVariant {
    pub ident: Ident,
    /// The WS-Addressing action; `None` for a header block.
    pub action: Option<String>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub base: Base,
    pub storage: Storage,
    pub root: Root,
}
