//! The stable form of a contract that `castile describe --json` writes; docs/describe.md explains it, and the tree for
//! people is drawn from it.
//!
//! Names are expanded names, `{namespace}local`. What is absent, false or empty is left out.

use std::collections::BTreeMap;

use serde::Serialize;

/// The version of this form: it goes up when something changes its meaning or goes away, not when something is added.
pub(crate) const FORMAT: u32 = 1;

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Contract {
    pub(crate) format: u32,
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) target_namespace: String,
    /// The prefixes that its root declares, each with its namespace: those that expressions of `castile load` may use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) prefixes: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
    pub(crate) services: Vec<Service>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) port_types: Vec<PortType>,
    pub(crate) messages: Vec<Message>,
    /// Global ones.
    pub(crate) elements: Vec<Element>,
    /// Those without a name too, and none that XML Schema brings.
    pub(crate) types: Vec<Type>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<Extension>,
    /// Services, ports and bindings that are broken or depend on what is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<LeftOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<Problem>,
}

/// What can't be used, because it is broken or depends on what is.
#[derive(Debug, Serialize)]
pub(crate) struct LeftOut {
    /// The name of an operation, else what it is and its name.
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
    /// Operations that are broken or depend on what is.
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
    /// What it is called where only one may be meant, if that is not its name: an operation before it has that, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// Which it is of its port type.
    #[serde(skip)]
    pub(crate) number: usize,
    /// `one-way`, `request-response`, `solicit-response` or `notification`.
    pub(crate) pattern: &'static str,
    /// `document` or `rpc`.
    pub(crate) style: &'static str,
    /// Of the wrapped convention.
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
    /// Of the wrapper element of rpc style.
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

/// A part has an element or a type.
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
    /// Any of them; none stands for all.
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
    /// Why it can't be used: a part of it may lack.
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

/// An element, global or where it stands in a type.
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
    /// The global elements that may stand in its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) substitutes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) identity_constraints: Vec<IdentityConstraint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documentation: Option<String>,
}

/// At most one of the two is there.
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
    /// Its name, or `#` and a number if it has none.
    pub(crate) id: String,
    pub(crate) base: String,
    #[serde(flatten)]
    pub(crate) kind: Kind,
    /// The types whose base it is: they may stand in its place, by `xsi:type`.
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
    /// Facets but those below, those of the bases too: name and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) facets: Vec<Facet>,
    /// A value matches one of each inner list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) patterns: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) enumeration: Vec<Enumerated>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "variety", rename_all = "snake_case")]
pub(crate) enum Variety {
    /// With the nearest built-in type.
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
    /// Character data may stand among the elements.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) mixed: bool,
    /// The simple type of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// Its elements, those of its bases too; groups stand where they are referred to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Particle>,
    /// Its attributes, those of its bases too.
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
    /// One of its own.
    Element(Box<Element>),
    /// The name of a global one.
    Reference(String),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
    Any(Wildcard),
}

#[derive(Debug, Serialize)]
pub(crate) struct Wildcard {
    /// `##any`, `##other` with what it excludes, or those allowed.
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
    /// What `wsdl:arrayType` says.
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
    /// The element as it stands.
    pub(crate) source: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// `error`, `warning` or `note`.
    pub(crate) severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'static str>,
    pub(crate) file: String,
    /// From 1; 0 if the document as a whole is meant.
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}
