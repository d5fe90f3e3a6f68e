//! Bindings (§2.5) for SOAP (§3), HTTP (§4) and MIME (§5). Elements are accepted in any order, because some contracts
//! have the protocol's elements after those of WSDL.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use castile_xml::tree::Element;
use castile_xsd::{Defect, Diagnostics, Location};

use crate::Extension;
use crate::context::{Context, First};
use crate::extensions::{
    HTTP, MIME, SOAP11, SOAP12, did_you_mean, documentation, extensions, intended_namespace, is_soap, of_protocol,
    wsdl_children,
};
use crate::model::{
    Attachment, Binding, BindingFault, BindingMessage, BindingOperation, Definitions, HTTP_TRANSPORT, Header, LeftOut,
    Message, MessageId, Operation, OperationMessage, Part, PartContent, PortType, PortTypeId, Protocol, Style, Use,
    Version,
};
use crate::names::{Names, SymbolSpace};
use crate::wrapped;

/// Maximum size of all bindings: the number of operations, message parts, header blocks and faults.
///
/// They count once for each binding and once more for each port, because many operations may share a large message, and
/// many services a binding.
const MAX_BINDING_SIZE: usize = 1_000_000;

/// A text counts as one more for each 64 bytes, because it is copied wherever its operation is bound.
const BYTES_OF_TEXT: usize = 64;

/// The remainder of [`MAX_BINDING_SIZE`]; `None` after it was exceeded.
pub(crate) struct BindingBudget(Option<usize>);

impl Default for BindingBudget {
    fn default() -> Self {
        BindingBudget(Some(MAX_BINDING_SIZE))
    }
}

impl BindingBudget {
    /// Subtracts `number`. If less is left, returns `None`, reports that once, and fails from then on.
    pub(crate) fn take(&mut self, number: usize, location: Location, diagnostics: &mut Diagnostics) -> Option<()> {
        let left = self.0.and_then(|left| left.checked_sub(number));
        if left.is_none() && self.0.is_some() {
            let message = format!(
                "the bindings have more than {MAX_BINDING_SIZE} operations, parts of messages, header blocks and faults. \
                 They are counted each time they are bound and for each port, plus one for each {BYTES_OF_TEXT} bytes \
                 of their texts"
            );
            diagnostics.limit_exceeded(location, message);
        }
        self.0 = left;
        left.map(|_| ())
    }
}

/// Reads a `<binding>`, after its port type and all messages were read.
pub(crate) fn binding(
    context: &Context,
    names: &Names,
    definitions: &Definitions,
    element: Element<'_>,
    budget: &mut BindingBudget,
    diagnostics: &mut Diagnostics,
) -> Option<Binding> {
    let name = context.name(element, diagnostics)?;
    let port_type = names.resolve(SymbolSpace::PortType, context, element, "type", diagnostics).map(PortTypeId)?;
    budget.take(definitions[port_type].operations.len(), context.location(element), diagnostics)?;
    let mark = diagnostics.mark();
    let protocol = protocol(context, element, diagnostics);
    let defect = diagnostics.defect_since(mark);
    let port_type_operations = Operations::of(&definitions[port_type].operations);
    let mut reader = Reader {
        context,
        names,
        definitions,
        protocol: &protocol,
        operations: port_type_operations,
        budget,
        diagnostics,
    };
    let mut operations: Vec<(BindingOperation, Option<Defect>)> = Vec::new();
    let mut left_out = Vec::new();
    let mut bound: HashMap<usize, (usize, String)> = HashMap::new();
    for child in wsdl_children(element).filter(|child| child.local() == "operation") {
        let mark = reader.diagnostics.mark();
        let Some(operation) = reader.operation(child, port_type) else {
            let name = child.attribute("name").unwrap_or_default().trim().to_owned();
            left_out.extend(reader.diagnostics.defect_since(mark).map(|defect| LeftOut { name, defect }));
            continue;
        };
        let defect = reader.diagnostics.defect_since(mark);
        let text: String = child.source().split_whitespace().collect();
        match bound.entry(operation.operation) {
            Entry::Vacant(entry) => {
                // Defects matter only for SOAP, because nothing is generated for other protocols.
                let is_soap = matches!(protocol, Protocol::Soap { .. });
                let beyond = || is_soap.then(|| definitions.operation_defect(&operation, port_type)).flatten();
                let defect = defect.or_else(beyond);
                entry.insert((operations.len(), text));
                operations.push((operation, defect));
            }
            Entry::Occupied(entry) => {
                let (index, known) = entry.get();
                let (first, defect) = &mut operations[*index];
                let message = format!("operation {} is bound twice", operation.name);
                let note = reader.diagnostics.the_first(first.location);
                let mark = reader.diagnostics.mark();
                reader.diagnostics.error(operation.location, message).with_note(note);
                if *known != text {
                    defect.add(reader.diagnostics.defect_since(mark));
                }
            }
        }
    }
    let (intact, broken): (Vec<_>, Vec<_>) = operations.into_iter().partition(|(_, defect)| defect.is_none());
    let operations = intact.into_iter().map(|(operation, _)| operation).collect();
    let broken = broken.into_iter().filter_map(|(operation, defect)| Some((operation.name, defect?)));
    left_out.extend(broken.map(|(name, defect)| LeftOut { name, defect }));
    let own = |namespace: &str| is_soap(namespace) || namespace == HTTP;
    let mut binding = Binding {
        name,
        port_type,
        operations,
        left_out,
        documentation: documentation(element),
        extensions: extensions(element, context.file, diagnostics, own),
        location: context.location(element),
        protocol,
    };
    if let Some(defect) = defect {
        binding.leave_out_all(&defect);
    }
    Some(binding)
}

impl Definitions {
    /// Creates a binding for the port type with this local name, unless a SOAP binding for it exists.
    ///
    /// The binding is SOAP 1.1 over HTTP, literal, without actions. Its style is rpc if a part has a type.
    ///
    /// # Errors
    /// No port type has this name. The error lists the names that exist.
    pub fn bind(&mut self, port_type: &str) -> Result<(), String> {
        let Some(index) = self.port_types.iter().position(|known| known.name.local() == port_type) else {
            return Err(listed(self.port_types.iter().map(|known| known.name.local())));
        };
        let id = PortTypeId(index as u32);
        let is_soap = |binding: &&Binding| matches!(binding.protocol, Protocol::Soap { .. });
        if self.bindings.iter().filter(is_soap).any(|binding| binding.port_type == id) {
            return Ok(());
        }
        let PortType { name, location, .. } = &self.port_types[index];
        let transport = HTTP_TRANSPORT.to_owned();
        let mut binding = Binding {
            name: name.clone(),
            port_type: id,
            protocol: Protocol::Soap { version: Version::Soap11, transport, style: Style::Document },
            operations: Vec::new(),
            left_out: Vec::new(),
            documentation: None,
            extensions: Vec::new(),
            location: *location,
        };
        for (operation, index) in self.port_types[index].operations.iter().zip(0..) {
            let bound = self.bound(operation, index, name.namespace());
            match self.operation_defect(&bound, id) {
                Some(defect) => binding.left_out.push(LeftOut { name: bound.name, defect }),
                None => binding.operations.push(bound),
            }
        }
        self.bindings.push(binding);
        Ok(())
    }

    /// Returns an operation of a port type with the usual binding.
    fn bound(&self, operation: &Operation, index: usize, namespace: &str) -> BindingOperation {
        let messages = || operation.input.iter().chain(&operation.output);
        let mut parts = messages().flat_map(|message| &self[message.message].parts);
        let has_type = parts.any(|part| matches!(part.content, PartContent::Type(_)));
        let message = |of: &OperationMessage| BindingMessage {
            message: of.message,
            name: of.name.clone(),
            body: self[of.message].parts.clone(),
            use_: Use::Literal,
            namespace: has_type.then(|| namespace.to_owned()),
            encoding_style: None,
            headers: Vec::new(),
            attachments: Vec::new(),
            extensions: Vec::new(),
        };
        let fault = |of: &OperationMessage| {
            let Message { parts, defect, .. } = &self[of.message];
            let [part] = parts.as_slice() else { return None };
            (defect.is_none() && self.part_defect(part).is_none()).then(|| BindingFault {
                name: of.name.clone(),
                message: of.message,
                part: Some(part.clone()),
                use_: Use::Literal,
                namespace: None,
                documentation: of.documentation.clone(),
            })
        };
        let mut bound = BindingOperation {
            name: operation.name.clone(),
            operation: index,
            pattern: operation.pattern,
            style: if has_type { Style::Rpc } else { Style::Document },
            soap_action: Some(String::new()),
            soap_action_required: false,
            input: operation.input.as_ref().map(message),
            output: operation.output.as_ref().map(message),
            faults: operation.faults.iter().filter_map(fault).collect(),
            wrapped: None,
            documentation: operation.documentation.clone(),
            extensions: Vec::new(),
            location: operation.location,
        };
        bound.wrapped = wrapped::detect(&self.schema, &bound);
        bound
    }

    /// Returns the defect of an operation outside its binding: in the operation of the port type or in its messages.
    ///
    /// Faults are ignored, because they can be received without their types.
    fn operation_defect(&self, operation: &BindingOperation, port_type: PortTypeId) -> Option<Defect> {
        let messages = || operation.input.iter().chain(&operation.output);
        let headers = messages().flat_map(|message| &message.headers).map(|header| &header.part);
        let mut parts = messages().flat_map(|message| &message.body).chain(headers);
        let of_messages = || messages().find_map(|message| self[message.message].defect.as_ref());
        let of_operation = self[port_type].operations[operation.operation].defect.as_ref();
        of_operation.or_else(of_messages).or_else(|| parts.find_map(|part| self.part_defect(part))).cloned()
    }
}

impl Binding {
    /// Moves all operations to the list of unusable ones.
    pub(crate) fn leave_out_all(&mut self, defect: &Defect) {
        let operations = self.operations.drain(..);
        self.left_out.extend(operations.map(|one| LeftOut { name: one.name, defect: defect.clone() }));
    }
}

fn protocol(context: &Context, element: Element<'_>, diagnostics: &mut Diagnostics) -> Protocol {
    let Some(binding) = of_protocol(element) else {
        diagnostics.note(context.location(element), "the binding has no protocol: its operations are not generated");
        return Protocol::Other(String::new());
    };
    let location = context.location(binding);
    match binding.namespace() {
        namespace @ (SOAP11 | SOAP12) => {
            let style = style(binding, location, diagnostics).unwrap_or(Style::Document);
            let transport = binding.attribute("transport").unwrap_or_default().trim().to_owned();
            let version = if namespace == SOAP11 { Version::Soap11 } else { Version::Soap12 };
            Protocol::Soap { version, transport, style }
        }
        HTTP => {
            let verb = binding.attribute("verb").unwrap_or("GET").trim().to_owned();
            diagnostics
                .note(location, format!("binding is HTTP {verb} without SOAP: its operations are not generated"));
            Protocol::Http { verb }
        }
        other => {
            let message = format!("binding is of the unknown namespace {other:?}: its operations are not generated");
            diagnostics.warning(location, message).note = did_you_mean(intended_namespace(other));
            Protocol::Other(other.to_owned())
        }
    }
}

fn style(element: Element<'_>, location: Location, diagnostics: &mut Diagnostics) -> Option<Style> {
    match element.attribute("style")?.trim() {
        "document" => Some(Style::Document),
        "rpc" => Some(Style::Rpc),
        other => {
            diagnostics.error(location, format!("style is {other:?}, expected document or rpc"));
            None
        }
    }
}

struct Reader<'r> {
    context: &'r Context,
    names: &'r Names,
    definitions: &'r Definitions,
    protocol: &'r Protocol,
    operations: Operations<'r>,
    budget: &'r mut BindingBudget,
    diagnostics: &'r mut Diagnostics,
}

/// The operations of a port type, by their names and those of their messages. There may be thousands with the same
/// name.
#[derive(Default)]
struct Operations<'r> {
    by_name: HashMap<&'r str, Vec<usize>>,
    /// By operation and input name. The pair is unique.
    by_input: HashMap<(&'r str, &'r str), usize>,
    /// By operation and output name: the first operation if several have the same pair.
    by_output: HashMap<(&'r str, &'r str), usize>,
}

impl<'r> Operations<'r> {
    fn of(operations: &'r [Operation]) -> Self {
        let mut known = Operations::default();
        for (index, operation) in operations.iter().enumerate() {
            let name = operation.name.as_str();
            known.by_name.entry(name).or_default().push(index);
            if let Some(input) = &operation.input {
                known.by_input.insert((name, &input.name), index);
            }
            if let Some(output) = &operation.output {
                known.by_output.entry((name, &output.name)).or_insert(index);
            }
        }
        known
    }
}

/// Returns what a binding adds to the total size for each port.
pub(crate) fn size_of_binding(binding: &Binding, definitions: &Definitions) -> usize {
    let left_out = binding.left_out.iter().map(|one| 1 + text(&one.name) + text(&one.defect.message));
    let documentation = &definitions[binding.port_type].documentation;
    let own = 1 + texts([&binding.documentation, documentation, &definitions.documentation]);
    let operations = binding.operations.iter().map(|operation| 1 + size_of_operation(operation));
    own + extensions_size(&binding.extensions) + left_out.sum::<usize>() + operations.sum::<usize>()
}

/// Returns the size of an operation: its components and its texts.
fn size_of_operation(operation: &BindingOperation) -> usize {
    let messages = operation.input.iter().chain(&operation.output).map(|message| {
        let attachments = message.attachments.iter().map(|one| {
            1 + text(&one.part) + one.media_types.iter().map(|media_type| 1 + text(media_type)).sum::<usize>()
        });
        let body = message.body.iter().map(|part| 1 + text(&part.name));
        text(&message.name)
            + texts([&message.namespace])
            + body.sum::<usize>()
            + message.headers.iter().map(size_of_header).sum::<usize>()
            + attachments.sum::<usize>()
            + extensions_size(&message.extensions)
    });
    let faults =
        operation.faults.iter().map(|fault| 1 + text(&fault.name) + texts([&fault.namespace, &fault.documentation]));
    text(&operation.name)
        + texts([&operation.soap_action, &operation.documentation])
        + messages.sum::<usize>()
        + faults.sum::<usize>()
        + extensions_size(&operation.extensions)
}

fn size_of_header(header: &Header) -> usize {
    let faults = header.faults.iter().map(|fault| 1 + text(&fault.part.name) + texts([&fault.namespace]));
    1 + text(&header.part.name) + texts([&header.namespace]) + faults.sum::<usize>()
}

fn extensions_size(extensions: &[Extension]) -> usize {
    extensions.iter().map(|one| 1 + text(&one.source)).sum()
}

fn texts<const N: usize>(all: [&Option<String>; N]) -> usize {
    all.into_iter().flatten().map(|one| text(one)).sum()
}

fn text(text: &str) -> usize {
    text.len() / BYTES_OF_TEXT
}

impl Reader<'_> {
    fn operation(&mut self, element: Element<'_>, port_type: PortTypeId) -> Option<BindingOperation> {
        let name = self.context.local_name(element, self.diagnostics)?;
        let location = self.context.location(element);
        let index = self.find(element, &name, port_type)?;
        let definitions = self.definitions;
        let operation = &definitions[port_type].operations[index];
        let messages = [&operation.input, &operation.output].into_iter().flatten();
        let parts = messages.map(|of| definitions[of.message].parts.len()).sum();
        self.budget.take(parts, location, self.diagnostics)?;
        let soap = element.elements().find(|child| is_soap(child.namespace()) && child.local() == "operation");
        let own_style = soap.and_then(|soap| style(soap, self.context.location(soap), self.diagnostics));
        let style = match self.protocol {
            Protocol::Soap { style, .. } => own_style.unwrap_or(*style),
            _ => Style::Document,
        };
        let input = self.message(element, "input", operation.input.as_ref());
        let output = self.message(element, "output", operation.output.as_ref());
        let faults = self.faults(element, operation);
        let mut bound = BindingOperation {
            name,
            operation: index,
            pattern: operation.pattern,
            style,
            soap_action: soap.and_then(|soap| soap.attribute("soapAction")).map(|action| action.trim().to_owned()),
            soap_action_required: soap
                .and_then(|soap| soap.attribute("soapActionRequired"))
                .is_some_and(|required| matches!(required.trim(), "true" | "1")),
            input,
            output,
            faults,
            wrapped: None,
            documentation: operation.documentation.clone().or_else(|| documentation(element)),
            extensions: extensions(element, self.context.file, self.diagnostics, |namespace| {
                is_soap(namespace) || namespace == HTTP
            }),
            location,
        };
        if let Protocol::Soap { .. } = self.protocol {
            self.check_parts(&bound);
            bound.wrapped = wrapped::detect(&definitions.schema, &bound);
        }
        // The parts of its messages were counted before.
        self.budget.take(size_of_operation(&bound).saturating_sub(parts), location, self.diagnostics)?;
        Some(bound)
    }

    /// Returns the index of an operation of the port type by its name. If several have it, the names of input and
    /// output decide (§2.5).
    fn find(&mut self, element: Element<'_>, name: &str, port_type: PortTypeId) -> Option<usize> {
        let port_type = &self.definitions[port_type];
        let all = self.operations.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let named = |local: &str| {
            let child = wsdl_children(element).find(|child| child.local() == local)?;
            child.attribute("name").map(str::trim)
        };
        let exact = match (named("input"), named("output")) {
            (Some(input), output) => self.operations.by_input.get(&(name, input)).copied().filter(|&index| {
                let found = &port_type.operations[index].output;
                output.is_none_or(|output| found.as_ref().is_some_and(|found| found.name == output))
            }),
            (None, Some(output)) => self.operations.by_output.get(&(name, output)).copied(),
            (None, None) => all.first().copied(),
        };
        match (all, exact) {
            (_, Some(index)) => Some(index),
            ([one], None) => Some(*one),
            _ => {
                let message = format!("port type {} has no operation {name} with these messages", port_type.name);
                let known = listed(port_type.operations.iter().map(|operation| operation.name.as_str()));
                self.diagnostics.error(self.context.location(element), message).with_note(format!("it has {known}"));
                None
            }
        }
    }

    /// Reads `<input>` or `<output>`. A message that the binding doesn't describe is literal.
    fn message(
        &mut self,
        operation: Element<'_>,
        local: &str,
        of: Option<&OperationMessage>,
    ) -> Option<BindingMessage> {
        let of = of?;
        let definitions = self.definitions;
        let message = &definitions[of.message];
        let mut bound = BindingMessage {
            message: of.message,
            name: of.name.clone(),
            body: Vec::new(),
            use_: Use::Literal,
            namespace: None,
            encoding_style: None,
            headers: Vec::new(),
            attachments: Vec::new(),
            extensions: Vec::new(),
        };
        let mut chosen: Option<Vec<String>> = None;
        if let Some(element) = wsdl_children(operation).find(|child| child.local() == local) {
            for child in element.elements() {
                self.message_element(child, message, of.message, &mut bound, &mut chosen);
            }
            let own = |namespace: &str| is_soap(namespace) || matches!(namespace, HTTP | MIME);
            bound.extensions = extensions(element, self.context.file, self.diagnostics, own);
        }
        bound.body = match chosen {
            // The parts are in the order of the message (Basic Profile R2301).
            Some(names) => {
                let has = by_name(message);
                for name in names.iter().filter(|name| !has.contains_key(name.as_str())) {
                    self.no_part(message, name, operation);
                }
                let chosen: HashSet<&str> = names.iter().map(String::as_str).collect();
                message.parts.iter().filter(|part| chosen.contains(part.name.as_str())).cloned().collect()
            }
            // §3.5: without `parts` all parts are in the body, except those that are in a header.
            None => {
                let headers = bound.headers.iter().filter(|header| header.message == of.message);
                let headers = headers.map(|header| header.part.name.as_str());
                let attachments = bound.attachments.iter().map(|attachment| attachment.part.as_str());
                let elsewhere: HashSet<&str> = headers.chain(attachments).collect();
                message.parts.iter().filter(|part| !elsewhere.contains(part.name.as_str())).cloned().collect()
            }
        };
        Some(bound)
    }

    /// Reads an element of SOAP or MIME in an input, an output or a MIME part.
    fn message_element(
        &mut self,
        element: Element<'_>,
        message: &Message,
        message_id: MessageId,
        bound: &mut BindingMessage,
        chosen: &mut Option<Vec<String>>,
    ) {
        match (element.namespace(), element.local()) {
            (SOAP11 | SOAP12, "body") => {
                bound.use_ = self.use_of(element);
                bound.namespace = element.attribute("namespace").map(|namespace| namespace.trim().to_owned());
                bound.encoding_style = element.attribute("encodingStyle").map(|style| style.trim().to_owned());
                *chosen =
                    element.attribute("parts").map(|parts| parts.split_ascii_whitespace().map(str::to_owned).collect());
            }
            (SOAP11 | SOAP12, "header") => bound.headers.extend(self.header(element, message_id)),
            (MIME, "multipartRelated") => {
                let parts = element.elements().filter(|child| child.namespace() == MIME && child.local() == "part");
                for child in parts.flat_map(Element::elements) {
                    self.message_element(child, message, message_id, bound, chosen);
                }
            }
            (MIME, "content") => {
                let media_type = element.attribute("type").map(|media_type| media_type.trim().to_owned());
                let part = match (element.attribute("part"), message.parts.as_slice()) {
                    (Some(part), _) => part.trim().to_owned(),
                    (None, [one]) => one.name.clone(),
                    (None, _) => return,
                };
                match bound.attachments.iter_mut().find(|known| known.part == part) {
                    Some(known) => known.media_types.extend(media_type),
                    None => bound.attachments.push(Attachment { part, media_types: media_type.into_iter().collect() }),
                }
            }
            (SOAP11 | SOAP12 | MIME, "mimeXml" | "fault") => {}
            (SOAP11 | SOAP12, other) => {
                let message = format!("unexpected <{other}>, expected body or header");
                let mark = self.diagnostics.mark();
                self.diagnostics.error(self.context.location(element), message);
                // An element that belongs elsewhere has no effect here. An unknown element may be a misspelled body or
                // header.
                if matches!(other, "binding" | "operation" | "address") {
                    self.diagnostics.forgive(mark);
                }
            }
            _ => {}
        }
    }

    /// Reads `<header>` or `<headerfault>`.
    fn header(&mut self, element: Element<'_>, own: MessageId) -> Option<Header> {
        let message = match element.attribute("message") {
            Some(_) => self
                .names
                .resolve(SymbolSpace::Message, self.context, element, "message", self.diagnostics)
                .map(MessageId)?,
            None => own,
        };
        let Some(name) = element.attribute("part") else {
            let message = format!("<{}> has no `part`", element.local());
            self.diagnostics.error(self.context.location(element), message);
            return None;
        };
        let definitions = self.definitions;
        let part = self.part(&definitions[message], name.trim(), element)?;
        let faults = element.elements().filter(|child| is_soap(child.namespace()) && child.local() == "headerfault");
        let faults: Vec<Element<'_>> = faults.collect();
        let use_ = self.use_of(element);
        // A fault can be received without its type.
        let mark = self.diagnostics.mark();
        let faults = faults.into_iter().filter_map(|child| self.header(child, message));
        let faults = faults.filter(|fault| definitions.part_defect(&fault.part).is_none()).collect();
        self.diagnostics.forgive(mark);
        Some(Header {
            message,
            part,
            use_,
            namespace: element.attribute("namespace").map(str::to_owned),
            encoding_style: element.attribute("encodingStyle").map(str::to_owned),
            faults,
        })
    }

    fn part(&mut self, message: &Message, name: &str, at: Element<'_>) -> Option<Part> {
        let part = message.parts.iter().find(|part| part.name == name);
        if part.is_none() {
            self.no_part(message, name, at);
        }
        part.cloned()
    }

    fn no_part(&mut self, message: &Message, name: &str, at: Element<'_>) {
        // The missing part may be the broken one.
        if let Some(defect) = &message.defect {
            self.diagnostics.depends(defect.location, defect.message.clone());
            return;
        }
        let text = format!("message {} has no part {name}", message.name);
        let note = it_has(message.parts.iter().map(|part| part.name.as_str()));
        self.diagnostics.error(self.context.location(at), text).with_note(note);
    }

    fn use_of(&mut self, element: Element<'_>) -> Use {
        match element.attribute("use").map(str::trim) {
            None | Some("literal") => Use::Literal,
            Some("encoded") => Use::Encoded,
            Some(other) => {
                let message = format!("use is {other:?}, expected literal or encoded");
                self.diagnostics.error(self.context.location(element), message);
                Use::Literal
            }
        }
    }

    /// Returns the faults of the port type's operation as bound. A fault that the binding doesn't name is literal.
    fn faults(&mut self, element: Element<'_>, operation: &Operation) -> Vec<BindingFault> {
        let bound: Vec<Element<'_>> = wsdl_children(element).filter(|child| child.local() == "fault").collect();
        let known: HashSet<&str> = operation.faults.iter().map(|fault| fault.name.as_str()).collect();
        let mut by_name: HashMap<&str, Element<'_>> = HashMap::new();
        for &child in &bound {
            let name = child.attribute("name").unwrap_or_default().trim();
            by_name.entry(name).or_insert(child);
            if !known.contains(name) {
                let message = format!("operation {} has no fault {name:?} in its port type", operation.name);
                let note = it_has(operation.faults.iter().map(|fault| fault.name.as_str()));
                self.diagnostics.warning(self.context.location(child), message).with_note(note);
            }
        }
        let mut faults = Vec::new();
        for fault in &operation.faults {
            let binding = by_name.get(fault.name.as_str());
            let soap = binding
                .and_then(|child| child.elements().find(|soap| is_soap(soap.namespace()) && soap.local() == "fault"));
            let message = &self.definitions[fault.message];
            let mark = self.diagnostics.mark();
            if message.parts.len() > 1 {
                let text = format!("fault message {} has {} parts, expected one", message.name, message.parts.len());
                self.diagnostics.error(message.location, text);
            }
            let use_ = soap.map_or(Use::Literal, |soap| self.use_of(soap));
            let is_broken = self.diagnostics.defect_since(mark).is_some() || message.defect.is_some();
            self.diagnostics.forgive(mark);
            // A fault can be received without its type.
            if is_broken || message.parts.iter().any(|part| self.definitions.part_defect(part).is_some()) {
                continue;
            }
            faults.push(BindingFault {
                name: fault.name.clone(),
                message: fault.message,
                part: message.parts.first().cloned(),
                use_,
                namespace: soap.and_then(|soap| soap.attribute("namespace")).map(str::to_owned),
                documentation: fault.documentation.clone(),
            });
        }
        faults
    }

    /// Reports violations of WS-I Basic Profile 1.1: a document body has at most one part, and parts have elements
    /// (R2201, R2204); rpc parts have types (R2203). Such contracts are accepted nevertheless.
    fn check_parts(&mut self, operation: &BindingOperation) {
        for message in operation.input.iter().chain(&operation.output) {
            let name = &operation.name;
            let has = |wanted: fn(&PartContent) -> bool| message.body.iter().any(|part| wanted(&part.content));
            let (rule, text) = match operation.style {
                Style::Document if message.use_ == Use::Literal && message.body.len() > 1 => {
                    let text = format!(
                        "operation {name} is document/literal and message {} has {} parts in its body",
                        message.name,
                        message.body.len()
                    );
                    ("R2201", text)
                }
                Style::Document
                    if message.use_ == Use::Literal && has(|content| matches!(content, PartContent::Type(_))) =>
                {
                    let message = &message.name;
                    (
                        "R2204",
                        format!("operation {name} is document/literal and message {message} has a part with `type`"),
                    )
                }
                Style::Rpc if has(|content| matches!(content, PartContent::Element(_))) => {
                    ("R2203", format!("operation {name} is rpc and message {} has a part with `element`", message.name))
                }
                _ => continue,
            };
            let expected = match operation.style {
                Style::Document => "expected one part with `element`",
                Style::Rpc => "expected parts with `type`",
            };
            self.diagnostics.warning(operation.location, text).with_rule(rule).with_note(expected);
        }
    }
}

/// Returns the first part with each name.
fn by_name(message: &Message) -> HashMap<&str, &Part> {
    message.parts.iter().rev().map(|part| (part.name.as_str(), part)).collect()
}

/// Lists the existing names for an error about a missing one.
fn it_has<'n>(names: impl Iterator<Item = &'n str>) -> String {
    match listed(names).as_str() {
        "" => "it has none".to_owned(),
        names => format!("it has {names}"),
    }
}

/// Joins the names, or only the first ones, since there may be thousands.
fn listed<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 100;
    let shown: Vec<&str> = names.by_ref().take(SHOWN).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use castile_xsd::FileId;

    use super::*;

    /// After the limit was reached exactly, everything that followed was left out without a report.
    #[test]
    fn the_limit_is_reported_once() {
        let location = Location { file: FileId::BUILTIN, offset: None };
        let mut diagnostics = Diagnostics::default();
        let mut budget = BindingBudget::default();
        assert!(budget.take(MAX_BINDING_SIZE, location, &mut diagnostics).is_some() && !diagnostics.is_truncated());
        assert!(budget.take(1, location, &mut diagnostics).is_none() && diagnostics.is_truncated());
        assert!(budget.take(0, location, &mut diagnostics).is_none());
        assert_eq!(diagnostics.finish().1.len(), 1);
    }
}
