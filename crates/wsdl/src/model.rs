//! The service model: what WSDL 1.1 documents say, every reference resolved.

use std::collections::{HashMap, HashSet};
use std::ops::Index;
use std::sync::OnceLock;

use castile_xml::tree::Document;
use castile_xsd::{Defect, ElementId, ExpandedName, Location, Schema, Sources, TypeId};

use crate::addressing::Said;

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident $field:ident $component:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(pub(crate) u32);

        impl $id {
            /// Its number, from 0 and without gaps.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Index<$id> for Definitions {
            type Output = $component;

            fn index(&self, id: $id) -> &$component {
                &self.$field[id.index()]
            }
        }
    )*};
}

ids! {
    /// Names a [`Message`].
    MessageId messages Message;
    /// Names a [`PortType`].
    PortTypeId port_types PortType;
    /// Names a [`Binding`].
    BindingId bindings Binding;
}

/// A contract: the definitions of a WSDL document and of all that it imports (WSDL 1.1 §2.1).
///
/// `definitions[port.binding]`, `definitions[binding.port_type]` and `definitions.schema[element_id]` follow references.
#[derive(Debug, Clone)]
pub struct Definitions {
    /// `name`
    pub name: Option<String>,
    /// `targetNamespace` of the first document.
    pub target_namespace: String,
    /// Whether the first document is no WSDL but a schema: its global elements are documents.
    pub is_schema: bool,
    /// Documentation of the first document.
    pub documentation: Option<String>,
    /// In the order of the documents; those of imported documents follow.
    pub services: Vec<Service>,
    /// In the order of the documents.
    pub bindings: Vec<Binding>,
    /// In the order of the documents.
    pub port_types: Vec<PortType>,
    /// In the order of the documents.
    pub messages: Vec<Message>,
    /// All types and elements.
    pub schema: Schema,
    /// Extensions at the top of documents, WS-Policy expressions among them.
    pub extensions: Vec<Extension>,
    /// What was left out of it, because it is broken or depends on what is: services, ports and bindings. Operations are
    /// left out of their [`Binding`].
    pub left_out: Vec<LeftOut>,
    /// The documents that were read, to say where something stands.
    pub sources: Sources,
    /// Whether a limit was passed.
    pub(crate) is_cut: bool,
    /// What policies and bindings say of WS-Addressing, once somebody asked.
    pub(crate) said: OnceLock<Said>,
}

/// What can't be used, because it is broken or depends on what is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What it is called: the name of an operation, else what it is and its name, `port p`.
    pub name: String,
    /// What is wrong with it.
    pub defect: Defect,
}

impl Definitions {
    /// Whether errors may be warnings: what they are in is left out, and something is left. A contract has no such thing if
    /// a limit was passed, or if it has operations and each is left out.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        let has_operations = self.bindings.iter().any(|binding| !binding.operations.is_empty());
        let mut left_out = self.bindings.iter().flat_map(|binding| &binding.left_out).chain(&self.left_out);
        !self.is_cut && (has_operations || left_out.next().is_none())
    }

    /// Why a part can't be used: a defect of its element or of its type.
    pub(crate) fn part_defect(&self, part: &Part) -> Option<&Defect> {
        match part.content {
            PartContent::Element(element) => self.schema.element_defect(element),
            PartContent::Type(type_id) => self.schema.type_defect(type_id),
        }
    }

    /// The service of this local name.
    #[must_use]
    pub fn service(&self, local: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name.local() == local)
    }

    /// The ids of all bindings.
    pub fn binding_ids(&self) -> impl ExactSizeIterator<Item = BindingId> + use<> {
        (0..self.bindings.len() as u32).map(BindingId)
    }

    /// The ids of all port types.
    pub fn port_type_ids(&self) -> impl ExactSizeIterator<Item = PortTypeId> + use<> {
        (0..self.port_types.len() as u32).map(PortTypeId)
    }

    /// The abstract operation that a binding's operation binds.
    #[must_use]
    pub fn operation(&self, binding: BindingId, operation: &BindingOperation) -> &Operation {
        &self[self[binding].port_type].operations[operation.operation]
    }
}

/// Ports that belong together (§2.7).
#[derive(Debug, Clone)]
pub struct Service {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// Its ports.
    pub ports: Vec<Port>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
    /// Where it stands.
    pub location: Location,
}

/// A binding at an address (§2.6).
#[derive(Debug, Clone)]
pub struct Port {
    /// `name`
    pub name: String,
    /// The binding.
    pub binding: BindingId,
    /// `location` of the address element.
    pub address: Option<String>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
    /// Where it stands.
    pub location: Location,
}

/// How the operations of a port type are spoken (§2.5).
#[derive(Debug, Clone)]
pub struct Binding {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// `type`
    pub port_type: PortTypeId,
    /// The protocol.
    pub protocol: Protocol,
    /// Its operations, each with all that a message of it needs.
    pub operations: Vec<BindingOperation>,
    /// The operations that can't be used.
    pub left_out: Vec<LeftOut>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
    /// Where it stands.
    pub location: Location,
}

impl Binding {
    /// What each of its operations is called where only one may be meant: by its name, and a number behind it if it isn't the first that
    /// has the name.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        labels(self.operations.iter().map(|operation| operation.name.as_str()))
    }
}

fn labels<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let all: HashSet<&str> = names.clone().collect();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let label = |name: &'n str| {
        let number = numbers.entry(name).and_modify(|number| *number += 1).or_insert(1);
        if *number == 1 {
            return name.to_owned();
        }
        // A name may have dots, too.
        while all.contains(&*format!("{name}.{number}")) {
            *number += 1;
        }
        format!("{name}.{number}")
    };
    names.map(label).collect()
}

/// What a binding speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protocol {
    /// SOAP (§3, and the W3C submission for SOAP 1.2).
    Soap {
        /// Which.
        version: Version,
        /// The URI of the transport: [`HTTP_TRANSPORT`] for HTTP.
        transport: String,
        /// The style of operations that don't say theirs.
        style: Style,
    },
    /// HTTP GET or POST without SOAP (§4).
    Http {
        /// `verb`
        verb: String,
    },
    /// Something else: the namespace of its binding element, empty if there is none.
    Other(String),
}

/// The transport of SOAP over HTTP.
pub const HTTP_TRANSPORT: &str = "http://schemas.xmlsoap.org/soap/http";

/// A version of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// SOAP 1.1
    Soap11,
    /// SOAP 1.2
    Soap12,
}

/// What the children of the SOAP body are (§3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// The parts.
    Document,
    /// One element named after the operation, with the parts in it.
    Rpc,
}

/// How a part becomes XML (§3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// As its schema says.
    Literal,
    /// By the rules of an encoding style.
    Encoded,
}

/// One operation of a binding, with all that its messages need.
#[derive(Debug, Clone)]
pub struct BindingOperation {
    /// `name`
    pub name: String,
    /// Its index among the operations of the port type.
    pub operation: usize,
    /// Which messages there are.
    pub pattern: Pattern,
    /// `style`, or that of the binding.
    pub style: Style,
    /// `soapAction`; SOAP 1.1 over HTTP asks for one, though it may be empty.
    pub soap_action: Option<String>,
    /// SOAP 1.2: whether the action must be sent.
    pub soap_action_required: bool,
    /// What the client sends.
    pub input: Option<BindingMessage>,
    /// What the service sends.
    pub output: Option<BindingMessage>,
    /// What it may send instead.
    pub faults: Vec<BindingFault>,
    /// Present if the operation is of the *wrapped* convention.
    pub wrapped: Option<Wrapped>,
    /// Documentation of the port type's operation, else of this one.
    pub documentation: Option<String>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
    /// Where it stands.
    pub location: Location,
}

/// The *wrapped* convention (JAX-WS 2.2 §2.3.1.2): the one part of the input is an element named after the operation
/// whose children are the arguments, and that of the output is one whose children are the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapped {
    /// The element that wraps the arguments.
    pub input: ElementId,
    /// The element that wraps the results, unless the operation is one-way.
    pub output: Option<ElementId>,
}

/// The input or output of a binding's operation.
#[derive(Debug, Clone)]
pub struct BindingMessage {
    /// The message.
    pub message: MessageId,
    /// `name` of the input or output, or the default that §2.4.5 gives.
    pub name: String,
    /// The parts in the SOAP body, in order: those that neither a header nor an attachment takes.
    pub body: Vec<Part>,
    /// `use` of the body.
    pub use_: Use,
    /// `namespace` of the body: that of the wrapper element of rpc style.
    pub namespace: Option<String>,
    /// `encodingStyle` of the body.
    pub encoding_style: Option<String>,
    /// Header blocks.
    pub headers: Vec<Header>,
    /// MIME parts beside the root part.
    pub attachments: Vec<Attachment>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
}

impl BindingMessage {
    /// The element of a body that is one part with an element: the child of the SOAP body in document style.
    #[must_use]
    pub fn element(&self) -> Option<ElementId> {
        match self.body.as_slice() {
            [Part { content: PartContent::Element(element), .. }] => Some(*element),
            _ => None,
        }
    }
}

/// A header block (§3.7).
#[derive(Debug, Clone)]
pub struct Header {
    /// The message that the part is of.
    pub message: MessageId,
    /// The part.
    pub part: Part,
    /// `use`
    pub use_: Use,
    /// `namespace`, for encoded use.
    pub namespace: Option<String>,
    /// `encodingStyle`, for encoded use.
    pub encoding_style: Option<String>,
    /// `headerfault`: header blocks that tell what is wrong with this one.
    pub faults: Vec<Header>,
}

/// A MIME part (§5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The name of the message's part.
    pub part: String,
    /// Its media types, any of which will do; none if all do.
    pub media_types: Vec<String>,
}

/// A fault of a binding's operation (§3.6).
#[derive(Debug, Clone)]
pub struct BindingFault {
    /// `name`
    pub name: String,
    /// The message.
    pub message: MessageId,
    /// The part in the fault's detail; a fault has one.
    pub part: Option<Part>,
    /// `use`
    pub use_: Use,
    /// `namespace`, for encoded use.
    pub namespace: Option<String>,
    /// Its documentation, in the port type.
    pub documentation: Option<String>,
}

/// Operations without a protocol (§2.4).
#[derive(Debug, Clone)]
pub struct PortType {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// Its operations. Two may have one name; their inputs have different ones then.
    pub operations: Vec<Operation>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
    /// Where it stands.
    pub location: Location,
}

/// An operation without a protocol.
#[derive(Debug, Clone)]
pub struct Operation {
    /// `name`
    pub name: String,
    /// Which messages there are, and in which order.
    pub pattern: Pattern,
    /// The input.
    pub input: Option<OperationMessage>,
    /// The output.
    pub output: Option<OperationMessage>,
    /// The faults.
    pub faults: Vec<OperationMessage>,
    /// `parameterOrder`: part names, for rpc style.
    pub parameter_order: Vec<String>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// What else stands in it.
    pub extensions: Vec<Extension>,
    /// Where it stands.
    pub location: Location,
    /// Why it can't be used.
    pub defect: Option<Defect>,
}

/// Which messages an operation has (§2.4.1 to §2.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Input.
    OneWay,
    /// Input, then output.
    RequestResponse,
    /// Output, then input.
    SolicitResponse,
    /// Output.
    Notification,
}

/// Input, output or fault of an operation.
#[derive(Debug, Clone)]
pub struct OperationMessage {
    /// `name`, or the default that §2.4.5 gives.
    pub name: String,
    /// The message.
    pub message: MessageId,
    /// Its documentation.
    pub documentation: Option<String>,
    /// Attributes of other namespaces, `wsaw:Action` and `wsam:Action` among them.
    pub attributes: Vec<(ExpandedName, String)>,
}

/// Parts that go together (§2.3).
#[derive(Debug, Clone)]
pub struct Message {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// Its parts.
    pub parts: Vec<Part>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// Where it stands.
    pub location: Location,
    /// Why it can't be used.
    pub defect: Option<Defect>,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub struct Part {
    /// `name`
    pub name: String,
    /// `element` or `type`
    pub content: PartContent,
    /// Where it stands.
    pub location: Location,
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartContent {
    /// This global element.
    Element(ElementId),
    /// An element of this type, named after the part where it needs a name.
    Type(TypeId),
}

/// Something of another namespace (§2.1.3), kept as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The name of its element.
    pub name: ExpandedName,
    /// `wsdl:required`: who doesn't understand it can't use what it stands in.
    pub required: bool,
    /// Its text.
    pub source: String,
    /// The prefixes in its text and the default one, as far as they are in scope, with their namespace names.
    pub namespaces: Vec<(String, String)>,
    /// Where it stands.
    pub location: Location,
}

impl Extension {
    /// Its text as a document of its own, in which it is the only child of the root. `None` if it needs what stands around it.
    #[must_use]
    pub fn document(&self) -> Option<Document> {
        let mut text = "<extension".to_owned();
        for (prefix, namespace) in &self.namespaces {
            let colon = if prefix.is_empty() { "" } else { ":" };
            let namespace = namespace.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            if prefix != "xml" {
                text.push_str(&format!(" xmlns{colon}{prefix}=\"{namespace}\""));
            }
        }
        Document::parse(&format!("{text}>{}</extension>", self.source)).ok()
    }

    /// Where something stands that has this offset in the [document](Self::document) of its own.
    #[must_use]
    pub fn location_in(&self, document: &Document, offset: usize) -> Location {
        const END: &str = "</extension>";
        let before = document.text().len().saturating_sub(self.source.len() + END.len());
        let offset = u32::try_from(offset.saturating_sub(before)).ok();
        let offset = self.location.offset.zip(offset).and_then(|(start, offset)| start.checked_add(offset));
        Location { file: self.location.file, offset: offset.or(self.location.offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names may have dots and digits.
    #[test]
    fn each_operation_has_a_label_of_its_own() {
        let names = ["A", "A", "B", "A.3", "A", "A.3"];
        assert_eq!(labels(names.into_iter()), ["A", "A.2", "B", "A.3", "A.4", "A.3.2"]);
    }
}
