//! Plans operations: the content of their messages, and types for messages without a schema type.

use std::collections::{HashMap, HashSet};

use castile_wsdl::{
    Binding, BindingFault, BindingMessage, BindingOperation, Definitions, Header as SoapHeader, Part, PartContent,
    Pattern, Severity, Style, Use,
};
use castile_xsd::components::{Content as SchemaContent, ElementDeclaration};
use castile_xsd::{ElementId, Location, TypeId};

use super::Planner;
use crate::names::{Ident, Scope};
use crate::plan::{
    Base, Content, Element, FaultVariant, Faults, Field, Item, Made, Message, Nil, Operation, Path, Payload, Role,
    Root, RootType, Storage, Struct, Term, TypedRoot, Value,
};

/// The end of the message about an operation that is left out.
pub(super) const IS_LEFT_OUT: &str = ": it is left out";

/// The names of an operation, assigned in the order of the contract whether or not it is needed.
#[derive(Debug)]
pub(super) struct OperationNames {
    method: Ident,
    request: Option<Path>,
    response: Option<Path>,
}

/// An independent value: a header block or the detail of a fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Block {
    Literal(ElementId),
    /// A value in SOAP encoding.
    Encoded {
        namespace: String,
        name: String,
        type_id: TypeId,
    },
}

/// The header blocks of a contract.
#[derive(Debug, Default)]
pub(super) struct HeaderBlocks {
    names: HashMap<Block, HeaderName>,
    /// How many header blocks each type has, including those of operations that are not requested.
    types: HashMap<TypeId, usize>,
}

/// The possible name of a header block, assigned in the order of the contract.
#[derive(Debug)]
struct HeaderName {
    wrapper: Ident,
    /// The type of the header block, if it was already planned.
    of: Option<RootType>,
}

/// The namespaces of header blocks that only a layer can understand, because the layer checks them.
const SECURITY: [&str; 2] = [
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd",
    "http://schemas.xmlsoap.org/ws/2002/12/secext",
];

impl Planner<'_> {
    /// Assigns names to the operations of a binding and their messages.
    pub(super) fn operation_names(&mut self, binding: &Binding) -> Vec<OperationNames> {
        let messages = binding.operations.iter().flat_map(|operation| {
            let messages = operation.input.iter().chain(&operation.output);
            messages.filter(|message| is_generated(operation, message))
        });
        for block in messages.flat_map(|message| self.blocks(message)).collect::<Vec<_>>() {
            if !self.header_blocks.names.contains_key(&block) {
                let (name, _) = self.block_name(&block);
                let suffix = if name.to_lowercase().ends_with("header") { "" } else { " header" };
                let wrapper = self.item(&format!("{name}{suffix}")).ident;
                *self.header_blocks.types.entry(self.type_of_block(&block)).or_default() += 1;
                self.header_blocks.names.insert(block, HeaderName { wrapper, of: None });
            }
        }
        let mut methods = Scope::of_methods();
        let names = binding.operations.iter().map(|operation| OperationNames {
            method: methods.lower(&operation.name),
            request: self.payload_name(operation, operation.input.as_ref(), "Request"),
            response: self.payload_name(operation, operation.output.as_ref(), "Response"),
        });
        names.collect()
    }

    /// Returns the name of the type that a message needs in addition to schema types, if it needs one.
    fn payload_name(
        &mut self,
        operation: &BindingOperation,
        message: Option<&BindingMessage>,
        kind: &str,
    ) -> Option<Path> {
        let message = message.filter(|message| is_generated(operation, message))?;
        let has_struct = operation.style == Style::Rpc || message.body.len() > 1;
        has_struct.then(|| self.item(&format!("{} {kind}", operation.name)))
    }

    pub(super) fn operation(
        &mut self,
        binding: &Binding,
        operation: &BindingOperation,
        label: &str,
        names: OperationNames,
    ) -> Option<Operation> {
        let name = &operation.name;
        self.location = operation.location;
        // The cost of methods in the trait, the dispatch and the client.
        if !self.count(3) {
            return None;
        }
        let (input, output) = match (operation.pattern, &operation.input, &operation.output) {
            (Pattern::RequestResponse, Some(input), Some(output)) => (input, Some(output)),
            (Pattern::OneWay, Some(input), _) => (input, None),
            _ => {
                let message = format!(
                    "operation {name} begins with a message from the service, which SOAP over HTTP doesn't \
                     support{IS_LEFT_OUT}"
                );
                return self.refuse(operation.location, message);
            }
        };
        let messages = || std::iter::once(input).chain(output);
        if messages().any(|message| !is_generated(operation, message)) {
            let message =
                format!("operation {name} is document/encoded, for which SOAP encoding has no rules{IS_LEFT_OUT}");
            return self.refuse(operation.location, message);
        }
        let request = self.message(operation, input, names.request, "")?;
        let response = match output {
            Some(output) => Some(self.message(operation, output, names.response, "Response")?),
            None => None,
        };
        Some(Operation {
            name: self.copy(name),
            label: self.copy(label),
            number: operation.operation,
            ident: names.method,
            documentation: match &operation.documentation {
                Some(documentation) => self.copy(documentation),
                None => format!("The operation `{name}`."),
            },
            action: self.copy(operation.soap_action.as_deref().unwrap_or_default()),
            request_action: self.copy(&self.definitions.request_action(binding, operation)),
            response_action: self.copy(&self.definitions.response_action(binding, operation).unwrap_or_default()),
            request,
            response,
            faults: self.faults(binding, operation),
        })
    }

    /// Reports operations that a server can't tell apart by their requests. `addressed` states whether WS-Addressing
    /// actions can be used.
    pub(super) fn report_ambiguous_operations(
        &mut self,
        operations: &[Operation],
        addressed: bool,
        location: Location,
    ) {
        let mut first: HashMap<_, &Operation> = HashMap::new();
        for operation in operations {
            let Some(payload) = operation.request.payload.to_a_server() else { continue };
            let addressed = addressed.then_some(operation.request_action.as_str());
            if let Some(known) = first.get(&(operation.action.as_str(), addressed, payload)) {
                let message = format!(
                    "operation {} (method {}) has the same request and the same action as the method {known}: a \
                     server can't distinguish them, and calls {known} for all requests",
                    operation.name,
                    operation.ident,
                    known = known.ident
                );
                self.report(Severity::Warning, location, message);
            } else {
                first.insert((operation.action.as_str(), addressed, payload), operation);
            }
        }
    }

    // ---- messages ----

    /// Plans a message. `suffix` is appended to the operation's name for the wrapper element in rpc style.
    fn message(
        &mut self,
        operation: &BindingOperation,
        message: &BindingMessage,
        name: Option<Path>,
        suffix: &str,
    ) -> Option<Message> {
        let is_raw = self.raw.contains(&operation.name);
        let (base, payload) = match (operation.style, message.body.as_slice(), name) {
            (Style::Rpc, ..) if is_raw => {
                let is_encoded = message.use_ == Use::Encoded;
                (Base::Raw, Payload::Element(self.rpc_root(operation, message, suffix, is_encoded)))
            }
            (_, [Part { content: PartContent::Element(element), .. }], _) if is_raw => {
                (Base::Raw, Payload::Element(self.root(*element)))
            }
            (Style::Rpc, parts, Some(path)) if message.use_ == Use::Encoded => {
                self.call(operation, message, parts, path, suffix)
            }
            (Style::Rpc, parts, Some(path)) => self.rpc(operation, message, parts, path, suffix),
            (_, [], _) => (Base::Nothing, Payload::Nothing),
            (_, [Part { content: PartContent::Element(element), .. }], _) => {
                let base = self.base(self.schema[*element].type_id, *element);
                (base, Payload::Element(self.root(*element)))
            }
            (_, [Part { content: PartContent::Type(type_id), .. }], _) => self.body_of_type(operation, *type_id)?,
            (_, parts, Some(path)) => self.document(operation, message, parts, path)?,
            (_, _, None) => return None,
        };
        // The types of other bodies were planned as well, because the table needs the start of the body.
        let base = if is_raw && base != Base::Nothing { Base::Raw } else { base };
        let headers = self.headers(operation, message);
        Some(Message { base, payload, headers })
    }

    /// Plans the wrapper element in rpc style. It has the name of the operation and an element for each part (WSDL 1.1
    /// §3.5, WS-I Basic Profile 1.1 R2735).
    fn rpc(
        &mut self,
        operation: &BindingOperation,
        message: &BindingMessage,
        parts: &[Part],
        path: Path,
        suffix: &str,
    ) -> (Base, Payload) {
        let documentation = format!("The element `{}{suffix}` of rpc style.", operation.name);
        self.structure_of_parts(path.clone(), documentation, parts);
        (Base::Item(path), Payload::Element(self.rpc_root(operation, message, suffix, false)))
    }

    /// Returns the element of a call or of its answer in rpc style.
    pub(super) fn rpc_root(
        &mut self,
        operation: &BindingOperation,
        message: &BindingMessage,
        suffix: &str,
        is_encoded: bool,
    ) -> Root {
        let name = format!("{}{suffix}", operation.name);
        let namespace = self.copy(message.namespace.as_deref().unwrap_or_default());
        if message.namespace.is_none() {
            let text = format!(
                "the body of message {} has no `namespace`: the element {name} of operation {} is in no namespace",
                message.name, operation.name
            );
            self.report(Severity::Warning, operation.location, text);
        }
        self.namespaces.push(namespace.clone());
        let element = Element { namespace, name, slot: self.slot(), constraint: None, facets: None, types: None };
        let (start, end) = (String::new(), String::new());
        Root { element, is_encoded, wraps_parts: !is_encoded, type_name: None, start, end }
    }

    /// Plans a body with several elements.
    fn document(
        &mut self,
        operation: &BindingOperation,
        message: &BindingMessage,
        parts: &[Part],
        path: Path,
    ) -> Option<(Base, Payload)> {
        if parts.iter().any(|part| matches!(part.content, PartContent::Type(_))) {
            let text = format!(
                "the body of message {} of operation {} has several parts, one of them with a `type`, so it has no \
                 element name",
                message.name, operation.name
            );
            return self.refuse(operation.location, text);
        }
        let documentation = format!("The content of the body of the message `{}`.", message.name);
        self.structure_of_parts(path.clone(), documentation, parts);
        Some((Base::Item(path.clone()), Payload::Content { path, start: String::new() }))
    }

    /// Plans a body that is itself a value of a type. The type must have no text, no attributes and no derived types.
    fn body_of_type(&mut self, operation: &BindingOperation, type_id: TypeId) -> Option<(Base, Payload)> {
        let schema = self.schema;
        let has_attributes = !schema.attribute_uses(type_id).is_empty() || schema.attribute_wildcard(type_id).is_some();
        let complex = schema[type_id].as_complex();
        let has_elements = complex.is_some_and(|complex| {
            !complex.is_abstract
                && matches!(schema.content(type_id), SchemaContent::Empty | SchemaContent::ElementOnly(_))
        });
        if has_elements
            && !has_attributes
            && schema.derived_types(type_id).is_empty()
            && let base @ Base::Item(_) = self.complex_type(type_id)
            && let Base::Item(path) = base.clone()
        {
            return Some((base, Payload::Content { path, start: String::new() }));
        }
        let name = schema[type_id].name().map_or("", |name| name.local());
        let text = format!(
            "a body of operation {} is a value of the type {name}, which has text, attributes or derived types{IS_LEFT_OUT}",
            operation.name
        );
        self.refuse(operation.location, text)
    }

    fn structure_of_parts(&mut self, path: Path, documentation: String, parts: &[Part]) {
        let parts = if self.count(parts.len()) { parts } else { &[] };
        let mut names = Scope::default();
        let fields = parts.iter().map(|part| (names.lower(&part.name), part));
        let fields: Vec<(Ident, &Part)> = fields.collect();
        let fields = fields.into_iter().map(|(ident, part)| self.part(part, ident)).collect();
        let table = self.table(&path.ident.to_string());
        self.items.push(Item::Struct(Struct {
            path,
            table,
            documentation,
            role: Role::Type(None),
            attributes: Vec::new(),
            attribute_table: None,
            any_attributes: None,
            content: Content::Sequence(fields),
            made: Made::Whole,
        }));
    }

    /// Returns the field for a part that occurs once: its element, or an element in no namespace with the part's name.
    fn part(&mut self, part: &Part, ident: Ident) -> Field {
        let (documentation, element, value) = match part.content {
            PartContent::Element(id) => {
                let declaration = &self.schema[id];
                let (name, texts) = (declaration.name.local(), [&declaration.annotation.documentation]);
                let documentation = self.value_documentation(&texts, "element", name, &ident, declaration.type_id);
                let value = self.value(id);
                (documentation, self.element(declaration), value)
            }
            PartContent::Type(type_id) => {
                let base = self.complex_type(type_id);
                let facets = self.facets(type_id);
                self.namespaces.push(String::new());
                let element = Element {
                    namespace: String::new(),
                    name: part.name.clone(),
                    slot: self.slot(),
                    constraint: None,
                    facets,
                    types: self.named_types(type_id),
                };
                (
                    self.value_documentation(&[], "part", &part.name, &ident, type_id),
                    element,
                    Value { base, nil: Nil::Never },
                )
            }
        };
        let term = Term::Element { element, value, tag: String::new(), counted: false };
        Field {
            ident,
            documentation,
            min_occurs: 1,
            max_occurs: Some(1),
            term,
            storage: Storage::InPlace,
            streams: false,
            adapter: None,
        }
    }

    /// Returns the element of a payload. Its tags are set when all namespaces are known.
    pub(super) fn root(&mut self, element: ElementId) -> Root {
        let element = self.element(&self.schema[element]);
        let (start, end) = (String::new(), String::new());
        Root { element, is_encoded: false, wraps_parts: false, type_name: None, start, end }
    }

    // ---- headers ----

    /// Returns the types of the header blocks that a binding declares for a message.
    fn headers(&mut self, operation: &BindingOperation, message: &BindingMessage) -> Vec<RootType> {
        let mut headers = Vec::new();
        for header in &message.headers {
            if !self.count(1) {
                break;
            }
            let Some(block) = self.block(header) else {
                let text = format!(
                    "the header block {} of operation {} is literal and has a type, so it has no element name: it is \
                     left out",
                    header.part.name, operation.name
                );
                self.report(Severity::Warning, operation.location, text);
                continue;
            };
            let of = self.header_type(&block);
            // Some bindings name a header block twice.
            if !headers.contains(&of) && !is_of_security(self.definitions, header) {
                headers.push(of);
            }
        }
        headers
    }

    fn type_of_block(&self, block: &Block) -> TypeId {
        match block {
            Block::Literal(element) => self.schema[*element].type_id,
            Block::Encoded { type_id, .. } => *type_id,
        }
    }

    /// Returns the type of a header block, which is planned at its first use.
    fn header_type(&mut self, block: &Block) -> RootType {
        let name = &self.header_blocks.names[block];
        if let Some(of) = &name.of {
            return of.clone();
        }
        let wrapper = name.wrapper.clone();
        let documentation = self.block_name(block).1;
        let (base, root) = self.block_value(block);
        // A type can be only one header block, and types of other crates can't be one at all.
        let of = match &base {
            Base::Item(path) if self.header_blocks.types.get(&self.type_of_block(block)) == Some(&1) => {
                RootType::Own(path.clone())
            }
            _ => RootType::Wrapper(wrapper),
        };
        self.headers.push(TypedRoot { of: of.clone(), documentation, base, root });
        if let Some(name) = self.header_blocks.names.get_mut(block) {
            name.of = Some(of.clone());
        }
        of
    }

    /// Returns the independent value of a header block, if it has a name. A part in SOAP encoding gives its own name
    /// (WSDL 1.1 §3.5).
    fn block(&self, header: &SoapHeader) -> Option<Block> {
        self.block_of(header.use_, &header.part, header.namespace.as_deref())
    }

    fn block_of(&self, use_: Use, part: &Part, namespace: Option<&str>) -> Option<Block> {
        match (use_, part.content) {
            (Use::Literal, PartContent::Element(element)) => Some(Block::Literal(element)),
            (Use::Literal, PartContent::Type(_)) => None,
            (Use::Encoded, PartContent::Element(element)) => {
                let ElementDeclaration { name, type_id, .. } = &self.schema[element];
                let (namespace, name) = (name.namespace().to_owned(), name.local().to_owned());
                Some(Block::Encoded { namespace, name, type_id: *type_id })
            }
            (Use::Encoded, PartContent::Type(type_id)) => {
                let namespace = namespace.unwrap_or_default().to_owned();
                Some(Block::Encoded { namespace, name: part.name.clone(), type_id })
            }
        }
    }

    /// Returns the header blocks of a message that can be generated.
    fn blocks(&self, message: &BindingMessage) -> impl Iterator<Item = Block> {
        message.headers.iter().filter_map(|header| self.block(header))
    }

    /// Returns the name and the documentation of a header block.
    fn block_name(&mut self, block: &Block) -> (String, String) {
        let (name, documentation) = match block {
            Block::Literal(element) => {
                let declaration = &self.schema[*element];
                (declaration.name.local(), self.text(&[&declaration.annotation.documentation]))
            }
            Block::Encoded { name, .. } => (name.as_str(), None),
        };
        let documentation = documentation.unwrap_or_else(|| format!("The header block `{name}`."));
        (name.to_owned(), documentation)
    }

    /// Returns the type and the element of an independent value.
    fn block_value(&mut self, block: &Block) -> (Base, Root) {
        match block {
            Block::Literal(element) => {
                let type_id = self.schema[*element].type_id;
                (self.base(type_id, *element), self.root(*element))
            }
            Block::Encoded { namespace, name, type_id } => self.independent(namespace, name, *type_id),
        }
    }

    // ---- faults ----

    /// Plans the possible faults of an operation: details, and header blocks about header blocks of the request.
    fn faults(&mut self, binding: &Binding, operation: &BindingOperation) -> Option<Faults> {
        if !self.has_faults {
            return None;
        }
        let mut names = Scope::default();
        let mut variants: Vec<FaultVariant> =
            operation.faults.iter().filter_map(|fault| self.fault(binding, operation, fault, &mut names)).collect();
        let details = variants.len();
        let headers = operation.input.iter().chain(&operation.output).flat_map(|message| &message.headers);
        let blocks = headers.flat_map(|header| &header.faults).filter_map(|header| self.block(header));
        let mut known = HashSet::new();
        let blocks: Vec<Block> = blocks.filter(|block| known.insert(block.clone())).collect();
        for block in blocks {
            let (name, documentation) = self.block_name(&block);
            let (base, root) = self.block_value(&block);
            let ident = names.variant(&name);
            variants.push(FaultVariant { ident, action: None, documentation, base, storage: Storage::InPlace, root });
        }
        if variants.is_empty() {
            return None;
        }
        // The name is assigned after all types have names, because a type of the contract may have it.
        Some(Faults { ident: Ident::new("Unnamed"), variants, details })
    }

    fn fault(
        &mut self,
        binding: &Binding,
        operation: &BindingOperation,
        fault: &BindingFault,
        variants: &mut Scope,
    ) -> Option<FaultVariant> {
        if !self.count(1) {
            return None;
        }
        let namespace = fault.namespace.as_deref();
        let Some(block) = fault.part.as_ref().and_then(|part| self.block_of(fault.use_, part, namespace)) else {
            let message = format!("the fault {} of operation {} is not one element", fault.name, operation.name);
            return self.refuse(operation.location, message);
        };
        let (base, root) = self.block_value(&block);
        Some(FaultVariant {
            ident: variants.variant(&fault.name),
            action: Some(self.copy(&self.definitions.fault_action(binding, operation, &fault.name))),
            documentation: match &fault.documentation {
                Some(documentation) => self.copy(documentation),
                None => format!("The fault `{}`.", fault.name),
            },
            base,
            storage: Storage::InPlace,
            root,
        })
    }
}

/// Returns true for security header blocks. Declaring such a block doesn't mean that it is understood.
pub fn is_of_security(definitions: &Definitions, header: &SoapHeader) -> bool {
    let namespace = match (header.use_, header.part.content) {
        (Use::Encoded, PartContent::Type(_)) => header.namespace.as_deref().unwrap_or_default(),
        (_, PartContent::Element(element)) => definitions.schema[element].name.namespace(),
        (Use::Literal, PartContent::Type(_)) => "",
    };
    SECURITY.contains(&namespace)
}

/// Returns true if a message can be generated. Encoded values outside of a call have no defined form.
fn is_generated(operation: &BindingOperation, message: &BindingMessage) -> bool {
    message.use_ == Use::Literal || operation.style == Style::Rpc
}
