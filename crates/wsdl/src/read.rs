//! Builds the definitions in dependency order: schemas, messages, port types, bindings, services.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use castile_xml::tree::Element;
use castile_xsd::{Diagnostic, Diagnostics, ExpandedName, Loader, Opened, Resolver, Schema, XSD_NAMESPACE};

use crate::bindings;
use crate::context::{Context, First, left_out};
use crate::documents::load;
use crate::extensions::{HTTP, SOAP11, SOAP12, documentation, extensions, is_soap, wsdl_children};
use crate::model::{
    BindingId, Definitions, LeftOut, Message, MessageId, Operation, OperationMessage, Part, PartContent, Pattern, Port,
    PortType, PortTypeId, Service,
};
use crate::names::{Names, SymbolSpace};

/// Reads the WSDL document `uri`, or a standalone schema, and everything that it imports.
///
/// Returns no definitions only if the document itself can't be read or is neither a WSDL document nor a schema.
#[must_use]
pub fn read(uri: &str, resolver: &dyn Resolver) -> (Option<Definitions>, Vec<Diagnostic>) {
    let mut loader = Loader::new(resolver);
    let documents = load(uri, &mut loader);
    let (schema, mut diagnostics) = loader.finish();
    let Some(first) = documents.first() else { return (None, diagnostics.finish().1) };
    let root = first.document.root();
    let mut definitions = Definitions {
        name: root.attribute("name").map(str::to_owned),
        target_namespace: root.attribute("targetNamespace").unwrap_or_default().trim().to_owned(),
        is_schema: root.namespace() == XSD_NAMESPACE,
        documentation: documentation(root),
        services: Vec::new(),
        bindings: Vec::new(),
        port_types: Vec::new(),
        messages: Vec::new(),
        schema,
        extensions: Vec::new(),
        left_out: Vec::new(),
        sources: Default::default(),
        is_truncated: false,
        addressing_declarations: Default::default(),
    };
    let mut names = Names::of(&documents);
    for document in documents.iter().filter(|_| !definitions.is_schema) {
        let kept = extensions(document.document.root(), document.file, &mut diagnostics, |_| false);
        definitions.extensions.extend(kept);
    }
    each(&documents, "message", |context, element| {
        let message = context.message(&definitions.schema, element, &mut diagnostics)?;
        let id = MessageId(definitions.messages.len() as u32);
        let place = (element, message.location);
        match names.add(SymbolSpace::Message, &message.name, id.0, place, &mut diagnostics) {
            Ok(()) => definitions.messages.push(message),
            Err((first, defect)) => definitions.messages[first as usize].defect.add(defect),
        }
        Some(())
    });
    each(&documents, "portType", |context, element| {
        let port_type = context.port_type(&names, element, &mut diagnostics)?;
        let id = PortTypeId(definitions.port_types.len() as u32);
        let place = (element, port_type.location);
        match names.add(SymbolSpace::PortType, &port_type.name, id.0, place, &mut diagnostics) {
            Ok(()) => definitions.port_types.push(port_type),
            Err((first, defect)) => {
                let operations = &mut definitions.port_types[first as usize].operations;
                operations.iter_mut().for_each(|operation| operation.defect.add(defect.clone()));
            }
        }
        Some(())
    });
    let mut room = bindings::BindingBudget::default();
    each(&documents, "binding", |context, element| {
        let mark = diagnostics.mark();
        let Some(binding) = bindings::binding(context, &names, &definitions, element, &mut room, &mut diagnostics)
        else {
            definitions.left_out.extend(left_out(element, diagnostics.defect_since(mark)));
            return None;
        };
        let id = BindingId(definitions.bindings.len() as u32);
        match names.add(SymbolSpace::Binding, &binding.name, id.0, (element, binding.location), &mut diagnostics) {
            Ok(()) => definitions.bindings.push(binding),
            Err((first, Some(defect))) => definitions.bindings[first as usize].leave_out_all(&defect),
            Err((_, None)) => {}
        }
        Some(())
    });
    let sizes: Vec<usize> =
        definitions.bindings.iter().map(|binding| bindings::size_of_binding(binding, &definitions)).collect();
    each(&documents, "service", |context, element| {
        let mark = diagnostics.mark();
        let Some(service) = context.service(&names, element, &mut definitions.left_out, &mut diagnostics) else {
            definitions.left_out.extend(left_out(element, diagnostics.defect_since(mark)));
            return None;
        };
        let size = service.ports.iter().map(|port| sizes[port.binding.0 as usize]).fold(1, usize::saturating_add);
        room.take(size, service.location, &mut diagnostics)?;
        match names.add(SymbolSpace::Service, &service.name, 0, (element, service.location), &mut diagnostics) {
            Ok(()) => definitions.services.push(service),
            Err((_, defect)) => definitions.left_out.extend(left_out(element, defect)),
        }
        Some(())
    });
    definitions.is_truncated = diagnostics.is_truncated();
    let (sources, list) = diagnostics.finish();
    definitions.sources = sources;
    (Some(definitions), list)
}

/// Calls `read` for each child of `<definitions>` of this name, in all documents.
fn each(documents: &[Opened], local: &str, mut read: impl FnMut(&Context, Element<'_>) -> Option<()>) {
    for opened in documents {
        let root = opened.document.root();
        let target_namespace = root.attribute("targetNamespace").unwrap_or_default().trim().to_owned();
        let context = Context { file: opened.file, target_namespace };
        for element in wsdl_children(root).filter(|child| child.local() == local) {
            // Errors were already reported.
            let _ = read(&context, element);
        }
    }
}

impl Context {
    fn message(&self, schema: &Schema, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<Message> {
        let mark = diagnostics.mark();
        let name = self.name(element, diagnostics)?;
        let mut parts = Vec::new();
        for child in wsdl_children(element).filter(|child| child.local() == "part") {
            if let Some(part) = self.part(schema, child, diagnostics) {
                parts.push(part);
            }
        }
        Some(Message {
            name,
            parts,
            documentation: documentation(element),
            location: self.location(element),
            defect: diagnostics.defect_since(mark),
        })
    }

    fn part(&self, schema: &Schema, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<Part> {
        let name = self.local_name(element, diagnostics)?;
        let location = self.location(element);
        let (attribute, value) = match (element.attribute("element"), element.attribute("type")) {
            (Some(value), None) => ("element", value),
            (None, Some(value)) => ("type", value),
            (Some(value), Some(_)) => {
                diagnostics.error(location, format!("part {name} has `element` and `type`, expected one of them"));
                ("element", value)
            }
            (None, None) => {
                diagnostics.error(location, format!("part {name} has neither `element` nor `type`"));
                return None;
            }
        };
        let referred = match ExpandedName::of_qname(element, value) {
            Ok(referred) => referred,
            Err(error) => {
                diagnostics.error(location, error.to_string());
                return None;
            }
        };
        let content = match attribute {
            "element" => schema.find_element(&referred).map(PartContent::Element),
            _ => schema.find_type(&referred).map(PartContent::Type),
        };
        let Some(content) = content else {
            let note = match attribute {
                "element" if schema.find_type(&referred).is_some() => Some("there is a type of this name: use `type`"),
                "type" if schema.find_element(&referred).is_some() => {
                    Some("there is an element of this name: use `element`")
                }
                _ => None,
            };
            let message = format!("{attribute} {referred} of part {name} is not defined");
            let namespace = referred.namespace();
            if !namespace.is_empty() && !schema.has_namespace(namespace) {
                diagnostics.lost(location, namespace, message);
                return None;
            }
            diagnostics.error(location, message).note = note.map(str::to_owned);
            return None;
        };
        Some(Part { name, content, location })
    }

    fn port_type(&self, names: &Names, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<PortType> {
        let name = self.name(element, diagnostics)?;
        let mut operations: Vec<Operation> = Vec::new();
        let mut known: HashMap<(String, Option<String>), (usize, String)> = HashMap::new();
        for child in wsdl_children(element).filter(|child| child.local() == "operation") {
            let Some(operation) = self.operation(names, child, diagnostics) else { continue };
            let input_name = operation.input.as_ref().map(|input| input.name.clone());
            let text: String = child.source().split_whitespace().collect();
            match known.entry((operation.name.clone(), input_name)) {
                Entry::Vacant(entry) => {
                    entry.insert((operations.len(), text));
                    operations.push(operation);
                }
                Entry::Occupied(entry) => {
                    let (index, known) = entry.get();
                    let first = &mut operations[*index];
                    let message = format!("operation {} is defined twice", operation.name);
                    let the_first = diagnostics.the_first(first.location);
                    let note = format!("{the_first}; operations of one name have inputs of different names");
                    let mark = diagnostics.mark();
                    diagnostics.error(operation.location, message).with_note(note);
                    if *known != text {
                        first.defect.add(diagnostics.defect_since(mark));
                    }
                }
            }
        }
        Some(PortType {
            name,
            operations,
            documentation: documentation(element),
            extensions: extensions(element, self.file, diagnostics, |_| false),
            location: self.location(element),
        })
    }

    fn operation(&self, names: &Names, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<Operation> {
        let name = self.local_name(element, diagnostics)?;
        let mark = diagnostics.mark();
        let (mut input, mut output, mut faults) = (None, None, Vec::new());
        let mut order = Vec::new();
        let kinds: Vec<&str> =
            wsdl_children(element).map(Element::local).filter(|&l| l == "input" || l == "output").collect();
        for child in wsdl_children(element) {
            let local = child.local();
            // Default names (§2.4.5).
            let default = match (local, kinds.as_slice()) {
                ("input", ["input", "output"]) => format!("{name}Request"),
                ("input", ["output", "input"]) => format!("{name}Response"),
                ("output", ["input", "output"]) => format!("{name}Response"),
                ("output", ["output", "input"]) => format!("{name}Solicit"),
                _ => name.clone(),
            };
            let slot = match local {
                "input" => &mut input,
                "output" => &mut output,
                "fault" => {
                    // A fault can be received without its type.
                    let mark = diagnostics.mark();
                    faults.extend(self.operation_message(names, child, None, diagnostics));
                    diagnostics.forgive(mark);
                    continue;
                }
                _ => continue,
            };
            if slot.is_some() {
                diagnostics.error(self.location(child), format!("operation {name} has two {local}s, expected one"));
                continue;
            }
            order.push(local);
            *slot = self.operation_message(names, child, Some(default), diagnostics);
        }
        let pattern = match order.as_slice() {
            ["input"] => Pattern::OneWay,
            ["input", ..] => Pattern::RequestResponse,
            ["output"] => Pattern::Notification,
            ["output", ..] => Pattern::SolicitResponse,
            _ => {
                diagnostics.error(self.location(element), format!("operation {name} has no input and no output"));
                Pattern::OneWay
            }
        };
        let parameter_order = element.attribute("parameterOrder").unwrap_or_default();
        Some(Operation {
            name,
            pattern,
            input,
            output,
            faults,
            parameter_order: parameter_order.split_ascii_whitespace().map(str::to_owned).collect(),
            documentation: documentation(element),
            extensions: extensions(element, self.file, diagnostics, |_| false),
            location: self.location(element),
            defect: diagnostics.defect_since(mark),
        })
    }

    fn operation_message(
        &self,
        names: &Names,
        element: Element<'_>,
        default: Option<String>,
        diagnostics: &mut Diagnostics,
    ) -> Option<OperationMessage> {
        let message = names.resolve(SymbolSpace::Message, self, element, "message", diagnostics).map(MessageId)?;
        let name = match (element.attribute("name"), default) {
            (Some(name), _) => name.trim().to_owned(),
            (None, Some(default)) => default,
            // A fault without a name is bound by the name of its message. Many tools leave it out.
            (None, None) => {
                diagnostics.error(self.location(element), "<fault> has no `name`");
                return None;
            }
        };
        let foreign = element.attributes().filter(|attribute| !attribute.namespace().is_empty());
        let attributes = foreign
            .map(|attribute| {
                (ExpandedName::new(attribute.namespace(), attribute.local()), attribute.value().to_owned())
            })
            .collect();
        Some(OperationMessage { name, message, documentation: documentation(element), attributes })
    }

    fn service(
        &self,
        names: &Names,
        element: Element<'_>,
        lost: &mut Vec<LeftOut>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Service> {
        let name = self.name(element, diagnostics)?;
        let mut ports = Vec::new();
        for child in wsdl_children(element).filter(|child| child.local() == "port") {
            let mark = diagnostics.mark();
            match self.port(names, child, diagnostics) {
                Some(port) => ports.push(port),
                None => lost.extend(left_out(child, diagnostics.defect_since(mark))),
            }
        }
        Some(Service {
            name,
            ports,
            documentation: documentation(element),
            extensions: extensions(element, self.file, diagnostics, |_| false),
            location: self.location(element),
        })
    }

    fn port(&self, names: &Names, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<Port> {
        let name = self.local_name(element, diagnostics)?;
        let binding = names.resolve(SymbolSpace::Binding, self, element, "binding", diagnostics).map(BindingId)?;
        let is_address = |child: &Element<'_>| {
            child.local() == "address" && (is_soap(child.namespace()) || child.namespace() == HTTP)
        };
        let address = element.elements().find(is_address).and_then(|child| child.attribute("location"));
        Some(Port {
            name,
            binding,
            address: address.map(|address| address.trim().to_owned()),
            documentation: documentation(element),
            extensions: extensions(element, self.file, diagnostics, |namespace| {
                matches!(namespace, SOAP11 | SOAP12 | HTTP)
            }),
            location: self.location(element),
        })
    }
}
