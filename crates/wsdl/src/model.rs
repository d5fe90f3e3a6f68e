//! The service model: the content of WSDL 1.1 documents with all references resolved.

use std::collections::{HashMap, HashSet};
use std::ops::Index;
use std::sync::OnceLock;

use castile_xml::tree::Document;
use castile_xsd::{Defect, ElementId, ExpandedName, Location, Schema, Sources, TypeId};

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident $field:ident $component:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(pub(crate) u32);

        impl $id {
            /// Returns its number. Numbers start at 0 and have no gaps.
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
    /// Identifies a [`Message`].
    MessageId messages Message;
    /// Identifies a [`PortType`].
    PortTypeId port_types PortType;
    /// Identifies a [`Binding`].
    BindingId bindings Binding;
}

/// A contract: the definitions of a WSDL document and of everything that it imports (WSDL 1.1 §2.1).
///
/// References are followed by indexing: `definitions[port.binding]`, `definitions[binding.port_type]` and
/// `definitions.schema[element_id]`.
#[derive(Debug, Clone)]
pub struct Definitions {
    /// `name`
    pub name: Option<String>,
    /// `targetNamespace` of the first document.
    pub target_namespace: String,
    /// Whether the first document is a schema and not a WSDL document. Its global elements are the documents to read
    /// and write.
    pub is_schema: bool,
    /// The documentation of the first document.
    pub documentation: Option<String>,
    /// The services in document order, those of imported documents last.
    pub services: Vec<Service>,
    /// The bindings in document order.
    pub bindings: Vec<Binding>,
    /// The port types in document order.
    pub port_types: Vec<PortType>,
    /// The messages in document order.
    pub messages: Vec<Message>,
    /// All types and elements.
    pub schema: Schema,
    /// The extensions at the top of documents, including WS-Policy expressions.
    pub extensions: Vec<Extension>,
    /// The services, ports and bindings that are broken or depend on something broken. Operations are in
    /// [`Binding::left_out`].
    pub left_out: Vec<LeftOut>,
    /// The documents that were read. They are used to turn locations into lines and columns.
    pub sources: Sources,
    /// Whether a limit was exceeded.
    pub(crate) is_truncated: bool,
    /// The WS-Addressing declarations of policies and bindings, read when first needed.
    pub(crate) addressing_declarations: OnceLock<AddressingDeclarations>,
}

/// Whether messages of a port use WS-Addressing, and where responses are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addressing {
    /// Whether WS-Addressing is required.
    pub required: bool,
    /// Where responses are sent.
    pub responses: Responses,
}

/// Where responses are sent (1.0 Metadata §3.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Responses {
    /// To any address in the request.
    Anywhere,
    /// Back on the connection.
    Anonymous,
    /// To other addresses only.
    NonAnonymous,
}

/// The WS-Addressing declarations of a contract.
#[derive(Debug, Clone)]
pub(crate) struct AddressingDeclarations {
    /// Declarations in policies at the top of documents, by policy id.
    pub(crate) of_policies: HashMap<String, Addressing>,
    /// Declarations of bindings, by the binding's index.
    pub(crate) of_bindings: Vec<Option<Addressing>>,
}

/// A part of a contract that can't be used, because it is broken or depends on something broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of an operation; for anything else its kind and its name, as in `port p`.
    pub name: String,
    /// What is wrong with it.
    pub defect: Defect,
}

impl Definitions {
    /// Returns true if a part of the contract can be used when the broken parts are left out.
    ///
    /// Returns false if a limit was exceeded, or if the contract has operations and all are left out.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        let has_operations = self.bindings.iter().any(|binding| !binding.operations.is_empty());
        let mut left_out = self.bindings.iter().flat_map(|binding| &binding.left_out).chain(&self.left_out);
        !self.is_truncated && (has_operations || left_out.next().is_none())
    }

    /// Returns the defect of a part: that of its element or its type.
    pub(crate) fn part_defect(&self, part: &Part) -> Option<&Defect> {
        match part.content {
            PartContent::Element(element) => self.schema.element_defect(element),
            PartContent::Type(type_id) => self.schema.type_defect(type_id),
        }
    }

    /// Returns the service with this local name.
    #[must_use]
    pub fn service(&self, local: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name.local() == local)
    }

    /// Returns the ids of all bindings.
    pub fn binding_ids(&self) -> impl ExactSizeIterator<Item = BindingId> + use<> {
        (0..self.bindings.len() as u32).map(BindingId)
    }

    /// Returns the ids of all port types.
    pub fn port_type_ids(&self) -> impl ExactSizeIterator<Item = PortTypeId> + use<> {
        (0..self.port_types.len() as u32).map(PortTypeId)
    }

    /// Returns the abstract operation that an operation of a binding refers to.
    #[must_use]
    pub fn operation(&self, binding: BindingId, operation: &BindingOperation) -> &Operation {
        &self[self[binding].port_type].operations[operation.operation]
    }
}

/// A group of ports (§2.7).
#[derive(Debug, Clone)]
pub struct Service {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// Its ports.
    pub ports: Vec<Port>,
    /// The documentation.
    pub documentation: Option<String>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
    /// The location in the document.
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
    /// The documentation.
    pub documentation: Option<String>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
    /// The location in the document.
    pub location: Location,
}

/// The protocol and format for the operations of a port type (§2.5).
#[derive(Debug, Clone)]
pub struct Binding {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// `type`
    pub port_type: PortTypeId,
    /// The protocol.
    pub protocol: Protocol,
    /// The operations.
    pub operations: Vec<BindingOperation>,
    /// The operations that can't be used.
    pub left_out: Vec<LeftOut>,
    /// The documentation.
    pub documentation: Option<String>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
    /// The location in the document.
    pub location: Location,
}

impl Binding {
    /// Returns a unique label for each operation: its name, followed by a number if it isn't the first with this name.
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
        // The label may already be the name of an operation, because names can contain dots.
        while all.contains(&*format!("{name}.{number}")) {
            *number += 1;
        }
        format!("{name}.{number}")
    };
    names.map(label).collect()
}

/// The protocol of a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protocol {
    /// SOAP (§3, and the W3C submission for SOAP 1.2).
    Soap {
        /// The SOAP version.
        version: Version,
        /// The URI of the transport: [`HTTP_TRANSPORT`] for HTTP.
        transport: String,
        /// The style of operations that don't declare one.
        style: Style,
    },
    /// HTTP GET or POST without SOAP (§4).
    Http {
        /// `verb`
        verb: String,
    },
    /// Another protocol: the namespace of its binding element, or an empty string if there is none.
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

/// The children of the SOAP body (§3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// The parts themselves.
    Document,
    /// An element named after the operation, which contains the parts.
    Rpc,
}

/// How a part is encoded as XML (§3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// By its schema.
    Literal,
    /// By the rules of an encoding style.
    Encoded,
}

/// An operation of a binding.
#[derive(Debug, Clone)]
pub struct BindingOperation {
    /// `name`
    pub name: String,
    /// Its index among the operations of the port type.
    pub operation: usize,
    /// Which messages the operation has.
    pub pattern: Pattern,
    /// `style`, or the default of the binding.
    pub style: Style,
    /// `soapAction`. SOAP 1.1 over HTTP requires one, which may be empty.
    pub soap_action: Option<String>,
    /// Whether the action must be sent, in SOAP 1.2.
    pub soap_action_required: bool,
    /// The message that the client sends.
    pub input: Option<BindingMessage>,
    /// The message that the service sends.
    pub output: Option<BindingMessage>,
    /// The faults that the service may send instead.
    pub faults: Vec<BindingFault>,
    /// Present if the operation follows the *wrapped* convention.
    pub wrapped: Option<Wrapped>,
    /// The documentation of the port type's operation or, without any, of this one.
    pub documentation: Option<String>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
    /// The location in the document.
    pub location: Location,
}

/// The *wrapped* convention (JAX-WS 2.2 §2.3.1.2).
///
/// The input has one part, an element that is named after the operation. Its children are the arguments. The output has
/// one part, an element whose children are the results.
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
    /// `name` of the input or output, or its default by §2.4.5.
    pub name: String,
    /// The parts in the SOAP body, in order, without those in headers and attachments.
    pub body: Vec<Part>,
    /// `use` of the body.
    pub use_: Use,
    /// `namespace` of the body, which is the namespace of the wrapper element in rpc style.
    pub namespace: Option<String>,
    /// `encodingStyle` of the body.
    pub encoding_style: Option<String>,
    /// Header blocks.
    pub headers: Vec<Header>,
    /// MIME parts besides the root part.
    pub attachments: Vec<Attachment>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
}

impl BindingMessage {
    /// Returns the element of a body with a single part that is an element: the child of the SOAP body in document
    /// style.
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
    /// The message that has the part.
    pub message: MessageId,
    /// The part.
    pub part: Part,
    /// `use`
    pub use_: Use,
    /// `namespace`, for encoded use.
    pub namespace: Option<String>,
    /// `encodingStyle`, for encoded use.
    pub encoding_style: Option<String>,
    /// `headerfault`: header blocks that report errors in this header block.
    pub faults: Vec<Header>,
}

/// A MIME part (§5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The name of the message part.
    pub part: String,
    /// The allowed media types. If the list is empty all are allowed.
    pub media_types: Vec<String>,
}

/// A fault of a binding's operation (§3.6).
#[derive(Debug, Clone)]
pub struct BindingFault {
    /// `name`
    pub name: String,
    /// The message.
    pub message: MessageId,
    /// The part in the fault's detail. A fault has one part.
    pub part: Option<Part>,
    /// `use`
    pub use_: Use,
    /// `namespace`, for encoded use.
    pub namespace: Option<String>,
    /// The documentation in the port type.
    pub documentation: Option<String>,
}

/// A set of operations without a protocol (§2.4).
#[derive(Debug, Clone)]
pub struct PortType {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// The operations. If several have the same name, their inputs have different names.
    pub operations: Vec<Operation>,
    /// The documentation.
    pub documentation: Option<String>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
    /// The location in the document.
    pub location: Location,
}

/// An operation without a protocol.
#[derive(Debug, Clone)]
pub struct Operation {
    /// `name`
    pub name: String,
    /// Which messages the operation has, and in which order.
    pub pattern: Pattern,
    /// The input.
    pub input: Option<OperationMessage>,
    /// The output.
    pub output: Option<OperationMessage>,
    /// The faults.
    pub faults: Vec<OperationMessage>,
    /// `parameterOrder`: part names, for rpc style.
    pub parameter_order: Vec<String>,
    /// The documentation.
    pub documentation: Option<String>,
    /// Other elements in it.
    pub extensions: Vec<Extension>,
    /// The location in the document.
    pub location: Location,
    /// The error that makes it unusable.
    pub defect: Option<Defect>,
}

/// The messages of an operation (§2.4.1 to §2.4.4).
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

/// The input, the output or a fault of an operation.
#[derive(Debug, Clone)]
pub struct OperationMessage {
    /// `name`, or its default by §2.4.5.
    pub name: String,
    /// The message.
    pub message: MessageId,
    /// The documentation.
    pub documentation: Option<String>,
    /// Attributes of other namespaces, including `wsaw:Action` and `wsam:Action`.
    pub attributes: Vec<(ExpandedName, String)>,
}

/// A message: a list of parts (§2.3).
#[derive(Debug, Clone)]
pub struct Message {
    /// `name`, in the namespace of its document.
    pub name: ExpandedName,
    /// Its parts.
    pub parts: Vec<Part>,
    /// The documentation.
    pub documentation: Option<String>,
    /// The location in the document.
    pub location: Location,
    /// The error that makes it unusable.
    pub defect: Option<Defect>,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub struct Part {
    /// `name`
    pub name: String,
    /// `element` or `type`
    pub content: PartContent,
    /// The location in the document.
    pub location: Location,
}

/// The content of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartContent {
    /// This global element.
    Element(ElementId),
    /// An element of this type. If it needs a name, it has the name of the part.
    Type(TypeId),
}

/// An element of another namespace (§2.1.3), stored as its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The name of its element.
    pub name: ExpandedName,
    /// `wsdl:required`: whether the surrounding component can be used only by software that understands this extension.
    pub required: bool,
    /// The text of the element.
    pub source: String,
    /// The namespace declarations in scope for the prefixes in the text, including the default namespace.
    pub namespaces: Vec<(String, String)>,
    /// The location in the document.
    pub location: Location,
}

impl Extension {
    /// Returns the element as a document, as the only child of the root. `None` if the text can't be parsed on its own.
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

    /// Returns the location, in the original document, of an offset in the [document](Self::document).
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
