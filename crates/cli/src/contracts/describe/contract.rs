//! The stable form of a contract, which `castile describe --json` writes. docs/describe.md explains it. The tree for people is drawn from
//! it as well.
//!
//! Names are expanded names, `{namespace}local`. Values that are absent, false or empty are omitted.

use std::collections::BTreeMap;

use serde::Serialize;

/// The version of this form. It increases when something changes its meaning or is removed, not when something is added.
pub(crate) const FORMAT: u32 = 1;

/// The whole contract.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Contract {
    pub(crate) format: u32,
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) target_namespace: String,
    /// The prefixes that the root element declares, with their namespaces. Expressions of `castile load` may use them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) prefixes: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    pub(crate) services: Vec<Service>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) port_types: Vec<PortType>,
    pub(crate) messages: Vec<Message>,
    /// Global elements.
    pub(crate) elements: Vec<Element>,
    /// Named and anonymous types, without those built into XML Schema.
    pub(crate) types: Vec<Type>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
    /// Services, ports and bindings that are broken or depend on broken parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<LeftOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<Problem>,
}

/// A part that can't be used, because it is broken or depends on a broken part.
#[derive(Debug, Serialize)]
pub(crate) struct LeftOut {
    /// The name of an operation, or else the kind and the name of the part.
    pub(crate) name: String,
    pub(crate) reason: String,
    /// `file, line n`
    pub(crate) place: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Service {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    pub(crate) ports: Vec<Port>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Port {
    pub(crate) name: String,
    /// The name of a [`Binding`].
    pub(crate) binding: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Binding {
    pub(crate) name: String,
    /// The name of a [`PortType`].
    pub(crate) port_type: String,
    #[serde(flatten)]
    pub(crate) protocol: Protocol,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    pub(crate) operations: Vec<BindingOperation>,
    /// Operations that are broken or depend on broken parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<LeftOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "protocol", rename_all = "snake_case")]
pub(crate) enum Protocol {
    Soap11 { transport: String },
    Soap12 { transport: String },
    Http { verb: String },
    Other { protocol_namespace: String },
}

#[derive(Debug, Serialize)]
pub(crate) struct BindingOperation {
    pub(crate) name: String,
    /// The unambiguous name of the operation, if an earlier operation has the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The index of the operation in its port type.
    #[serde(skip)]
    pub(crate) number: usize,
    /// `one-way`, `request-response`, `solicit-response` or `notification`.
    pub(crate) pattern: &'static str,
    /// `document` or `rpc`.
    pub(crate) style: &'static str,
    /// Whether the operation follows the wrapped convention.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) wrapped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) soap_action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<BindingMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<BindingMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<Fault>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Debug, Serialize)]
pub(crate) struct BindingMessage {
    /// The name of a [`Message`].
    pub(crate) message: String,
    #[serde(rename = "use")]
    pub(crate) use_: &'static str,
    /// The namespace of the wrapper element in rpc style.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) body: Vec<Part>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<Header>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Attachment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

/// A message part, which has an element or a type.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) content: PartContent,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PartContent {
    /// The name of a global [`Element`].
    Element(String),
    /// The id of a [`Type`], or the name of a built-in one.
    Type(String),
}

#[derive(Debug, Serialize)]
pub(crate) struct Header {
    pub(crate) message: String,
    #[serde(rename = "use")]
    pub(crate) use_: &'static str,
    pub(crate) part: Part,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<Header>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Attachment {
    pub(crate) part: String,
    /// The allowed media types; none means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) media_types: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) message: String,
    #[serde(rename = "use")]
    pub(crate) use_: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PortType {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    pub(crate) operations: Vec<Operation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) pattern: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<OperationMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<OperationMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<OperationMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Debug, Serialize)]
pub(crate) struct OperationMessage {
    pub(crate) name: String,
    pub(crate) message: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Message {
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
    /// Why the fault can't be used: for example, a part of it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) defect: Option<Defect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Defect {
    pub(crate) reason: String,
    pub(crate) place: String,
}

/// An element, either global or local to a type.
#[derive(Debug, Serialize)]
pub(crate) struct Element {
    pub(crate) name: String,
    /// The id of a [`Type`], or the name of a built-in one.
    #[serde(rename = "type")]
    pub(crate) type_id: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) nillable: bool,
    #[serde(rename = "abstract", skip_serializing_if = "is_false")]
    pub(crate) is_abstract: bool,
    #[serde(flatten)]
    pub(crate) value: Value,
    /// The global elements that may substitute this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) substitutes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) identity_constraints: Vec<IdentityConstraint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

/// The value constraint. At most one of the two fields is set.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Value {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct IdentityConstraint {
    pub(crate) name: String,
    /// `key`, `keyref` or `unique`.
    pub(crate) category: &'static str,
    pub(crate) selector: String,
    pub(crate) fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refer: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Type {
    /// The type's name, or `#` and a number for an anonymous type.
    pub(crate) id: String,
    pub(crate) base: String,
    #[serde(flatten)]
    pub(crate) kind: Kind,
    /// The types derived from this one, which may replace it by `xsi:type`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) derived: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Kind {
    Simple(Simple),
    Complex(Complex),
}

#[derive(Debug, Serialize)]
pub(crate) struct Simple {
    #[serde(flatten)]
    pub(crate) variety: Variety,
    /// All facets except those below, including those of base types: name and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) facets: Vec<Facet>,
    /// A value matches at least one pattern of each inner list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) patterns: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) enumeration: Vec<Enumerated>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "variety", rename_all = "snake_case")]
pub(crate) enum Variety {
    /// The nearest built-in type.
    Atomic {
        builtin: &'static str,
    },
    List {
        item: String,
    },
    Union {
        members: Vec<String>,
    },
}

#[derive(Debug, Serialize)]
pub(crate) struct Facet {
    pub(crate) facet: &'static str,
    pub(crate) value: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Enumerated {
    pub(crate) value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Complex {
    /// `extension` or `restriction`.
    pub(crate) derivation: &'static str,
    #[serde(rename = "abstract", skip_serializing_if = "is_false")]
    pub(crate) is_abstract: bool,
    /// Whether character data may be between the elements.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) mixed: bool,
    /// The simple type of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// The elements, including those of base types. Group references are replaced by the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Particle>,
    /// The attributes, including those of base types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) any_attribute: Option<Wildcard>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Particle {
    pub(crate) min: u32,
    /// `null` for no limit.
    pub(crate) max: Option<u32>,
    #[serde(flatten)]
    pub(crate) term: Term,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Term {
    /// A local element.
    Element(Box<Element>),
    /// The name of a global element.
    Reference(String),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
    Any(Wildcard),
}

#[derive(Debug, Serialize)]
pub(crate) struct Wildcard {
    /// `##any`, `##other` with the excluded namespaces, or the allowed namespaces.
    pub(crate) namespaces: String,
    /// `strict`, `lax` or `skip`.
    pub(crate) process_contents: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_id: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) required: bool,
    #[serde(flatten)]
    pub(crate) value: Value,
    /// The value of `wsdl:arrayType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) array_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Extension {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) required: bool,
    /// The element as written in the contract.
    pub(crate) source: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// `error`, `warning` or `note`.
    pub(crate) severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'static str>,
    pub(crate) file: String,
    /// Counted from 1; 0 for a problem of the whole document.
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}
