//! WSDL documents and their imports, read in dependency order: schemas, messages, port types, bindings, services.

use std::collections::{HashMap, HashSet};

use castile_xml::tree::Element;
use castile_xsd::{
    Diagnostic, Diagnostics, ExpandedName, FileId, Loader, Location, Opened, Request, Resolver, Schema, XSD_NAMESPACE,
};

use crate::bindings;
use crate::extensions::{HTTP, SOAP11, SOAP12, WSDL, documentation, extensions, is_soap, wsdl_children};
use crate::model::{
    BindingId, Definitions, Message, MessageId, Operation, OperationMessage, Part, PartContent, Pattern, Port,
    PortType, PortTypeId, Service,
};

/// Reads the WSDL document `uri` and all that it imports.
///
/// There are no definitions only if the document itself can't be read or is no WSDL.
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
        documentation: documentation(root),
        services: Vec::new(),
        bindings: Vec::new(),
        port_types: Vec::new(),
        messages: Vec::new(),
        schema,
        extensions: Vec::new(),
        sources: Default::default(),
    };
    let mut names = Names::default();
    for document in &documents {
        let kept = extensions(document.document.root(), document.file, &mut diagnostics, |_| false);
        definitions.extensions.extend(kept);
    }
    each(&documents, "message", |context, element| {
        let message = context.message(&definitions.schema, element, &mut diagnostics)?;
        let id = MessageId(definitions.messages.len() as u32);
        names.add(Kind::Message, &message.name, id.0, message.location, &mut diagnostics)?;
        definitions.messages.push(message);
        Some(())
    });
    each(&documents, "portType", |context, element| {
        let port_type = context.port_type(&names, element, &mut diagnostics)?;
        let id = PortTypeId(definitions.port_types.len() as u32);
        names.add(Kind::PortType, &port_type.name, id.0, port_type.location, &mut diagnostics)?;
        definitions.port_types.push(port_type);
        Some(())
    });
    each(&documents, "binding", |context, element| {
        let binding = bindings::binding(context, &names, &definitions, element, &mut diagnostics)?;
        let id = BindingId(definitions.bindings.len() as u32);
        names.add(Kind::Binding, &binding.name, id.0, binding.location, &mut diagnostics)?;
        definitions.bindings.push(binding);
        Some(())
    });
    each(&documents, "service", |context, element| {
        let service = context.service(&names, element, &mut diagnostics)?;
        names.add(Kind::Service, &service.name, 0, service.location, &mut diagnostics)?;
        definitions.services.push(service);
        Some(())
    });
    let (sources, list) = diagnostics.finish();
    definitions.sources = sources;
    (Some(definitions), list)
}

/// Opens the document and those that it imports, in that order, and gives their schemas to the loader.
fn load(uri: &str, loader: &mut Loader<'_>) -> Vec<Opened> {
    let mut documents = Vec::new();
    let mut seen: HashSet<FileId> = HashSet::new();
    let mut queue: Vec<Opened> = loader.open(uri, None).into_iter().collect();
    let mut next = 0;
    while next < queue.len() {
        let opened = queue[next].clone();
        next += 1;
        if !seen.insert(opened.file) {
            continue;
        }
        let document = opened.document.clone();
        let root = document.root();
        if !root.is(WSDL, "definitions") {
            not_a_wsdl(root, &opened, &mut loader.diagnostics);
            continue;
        }
        for child in wsdl_children(root) {
            match child.local() {
                "import" => import(child, &opened, loader, &mut queue),
                "types" => types(child, &opened, loader),
                "message" => need(child, loader),
                "documentation" | "portType" | "binding" | "service" => {}
                other => {
                    let message = format!("unexpected <{other}> in <definitions>");
                    let expected = "expected import, types, message, portType, binding or service";
                    loader.diagnostics.error(Location::of(opened.file, child), message).with_note(expected);
                }
            }
        }
        documents.push(opened);
    }
    documents
}

fn not_a_wsdl(root: Element<'_>, opened: &Opened, diagnostics: &mut Diagnostics) {
    let message = format!("the document element is <{}> of namespace {:?}", root.local(), root.namespace());
    let note = match root.namespace() {
        "http://www.w3.org/ns/wsdl" => "this is WSDL 2.0, and WSDL 1.1 is read".to_owned(),
        _ => format!("expected <definitions> of namespace {WSDL:?}"),
    };
    diagnostics.error(Location::of(opened.file, root), message).with_note(note);
}

/// `<import>` (§2.1.1) of a WSDL document or, as many do, of a schema document.
fn import(element: Element<'_>, from: &Opened, loader: &mut Loader<'_>, queue: &mut Vec<Opened>) {
    let place = Location::of(from.file, element);
    let namespace = element.attribute("namespace").unwrap_or_default().trim();
    let location = element.attribute("location").map(str::trim).filter(|location| !location.is_empty());
    let Some(location) = location else {
        loader.import(from, namespace, None, place);
        return;
    };
    let request = Request { base: &from.uri, location: Some(location), namespace };
    let Some(uri) = loader.locate(&request) else {
        let message = format!("{location} is not found");
        let note = format!("it is looked for from {}; nothing is fetched", from.uri);
        loader.diagnostics.error(place, message).with_note(note);
        return;
    };
    let Some(opened) = loader.open(&uri, Some(place)) else { return };
    let root = opened.document.root();
    if root.namespace() == XSD_NAMESPACE {
        loader.import(from, namespace, Some(location), place);
        return;
    }
    let target = root.attribute("targetNamespace").unwrap_or_default().trim();
    if root.is(WSDL, "definitions") && target != namespace {
        let message = format!("{uri} has namespace {target:?}, expected {namespace:?}");
        loader.diagnostics.warning(place, message);
    }
    queue.push(opened);
}

/// `<types>` (§2.2): any number of schemas.
fn types(element: Element<'_>, opened: &Opened, loader: &mut Loader<'_>) {
    for child in element.elements() {
        match (child.namespace(), child.local()) {
            (XSD_NAMESPACE, "schema") => loader.schema(opened, child.id()),
            // Not allowed, understood by all: an import where a schema with nothing but the import should stand.
            (XSD_NAMESPACE, "import") => {
                let place = Location::of(opened.file, child);
                loader.diagnostics.warning(place, "<import> stands in <types> and not in a <schema>");
                let namespace = child.attribute("namespace").unwrap_or_default().trim();
                loader.import(opened, namespace, child.attribute("schemaLocation"), place);
            }
            (WSDL, "documentation") => {}
            (namespace, local) => {
                let place = Location::of(opened.file, child);
                let message = format!("<types> has <{local}> of namespace {namespace:?}, which is no XML Schema");
                if local == "schema" {
                    let expected = format!("expected namespace {XSD_NAMESPACE:?}");
                    loader.diagnostics.error(place, message).with_note(expected);
                } else {
                    loader.diagnostics.note(place, message);
                }
            }
        }
    }
}

/// Parts may refer to types of SOAP's encoding, whose schema is seldom imported.
fn need(message: Element<'_>, loader: &mut Loader<'_>) {
    for part in wsdl_children(message) {
        let reference = part.attribute("type").or_else(|| part.attribute("element"));
        if let Some(Ok((namespace, _))) = reference.map(|value| part.resolve_qname(value)) {
            loader.need(namespace);
        }
    }
}

/// Calls `read` for each child of `<definitions>` of this name, in all documents.
fn each(documents: &[Opened], local: &str, mut read: impl FnMut(&Context, Element<'_>) -> Option<()>) {
    for opened in documents {
        let root = opened.document.root();
        let target_namespace = root.attribute("targetNamespace").unwrap_or_default().trim().to_owned();
        let context = Context { file: opened.file, target_namespace };
        for element in wsdl_children(root).filter(|child| child.local() == local) {
            // What can't be read has been reported.
            let _ = read(&context, element);
        }
    }
}

/// A symbol space of WSDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Message,
    PortType,
    Binding,
    Service,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::PortType => "port type",
            Self::Binding => "binding",
            Self::Service => "service",
        }
    }
}

/// What is defined so far.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<(Kind, ExpandedName), (u32, Location)>);

impl Names {
    fn add(
        &mut self,
        kind: Kind,
        name: &ExpandedName,
        id: u32,
        location: Location,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        match self.0.entry((kind, name.clone())) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert((id, location));
                Some(())
            }
            std::collections::hash_map::Entry::Occupied(entry) => {
                let first = entry.get().1;
                let note = format!("the first is in {}, line {}", diagnostics.sources.name(first.file), first.line);
                diagnostics.error(location, format!("{} {name} is defined twice", kind.name())).with_note(note);
                None
            }
        }
    }

    /// What an attribute of `element` refers to.
    pub(crate) fn resolve(
        &self,
        kind: Kind,
        context: &Context,
        element: Element<'_>,
        attribute: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<u32> {
        let Some(value) = element.attribute(attribute) else {
            let message = format!("<{}> has no `{attribute}`, expected the name of a {}", element.local(), kind.name());
            diagnostics.error(context.location(element), message);
            return None;
        };
        let name = match ExpandedName::of_qname(element, value) {
            Ok(name) => name,
            Err(error) => {
                diagnostics.error(context.location(element), error.to_string());
                return None;
            }
        };
        if let Some(&(id, _)) = self.0.get(&(kind, name.clone())) {
            return Some(id);
        }
        // WSDL 1.1 §2.1.1 asks for QNames, and some contracts give a name without its prefix.
        let ours = ExpandedName::new(context.target_namespace.as_str(), name.local());
        let (message, known) = (format!("{} {name} is not defined", kind.name()), self.0.get(&(kind, ours.clone())));
        match known {
            Some(&(id, _)) if !value.contains(':') => {
                diagnostics.warning(context.location(element), message).with_note(format!("{ours} is taken"));
                Some(id)
            }
            _ => {
                let similar = self
                    .0
                    .keys()
                    .filter(|(of, other)| *of == kind && other.local() == name.local())
                    .map(|(_, n)| n)
                    .min();
                diagnostics.error(context.location(element), message).note =
                    similar.map(|other| format!("there is {other}"));
                None
            }
        }
    }
}

/// The document that is being read.
pub(crate) struct Context {
    pub(crate) file: FileId,
    pub(crate) target_namespace: String,
}

impl Context {
    pub(crate) fn location(&self, element: Element<'_>) -> Location {
        Location::of(self.file, element)
    }

    /// The `name` attribute as it stands.
    pub(crate) fn local_name(&self, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<String> {
        let name = element.attribute("name").map(str::trim).filter(|name| !name.is_empty());
        if name.is_none() {
            diagnostics.error(self.location(element), format!("<{}> has no `name`", element.local()));
        }
        name.map(str::to_owned)
    }

    pub(crate) fn name(&self, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<ExpandedName> {
        let local = self.local_name(element, diagnostics)?;
        Some(ExpandedName::new(self.target_namespace.as_str(), local))
    }

    fn message(&self, schema: &Schema, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<Message> {
        let name = self.name(element, diagnostics)?;
        let mut parts = Vec::new();
        for child in wsdl_children(element).filter(|child| child.local() == "part") {
            if let Some(part) = self.part(schema, child, diagnostics) {
                parts.push(part);
            }
        }
        Some(Message { name, parts, documentation: documentation(element), location: self.location(element) })
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
            diagnostics.error(location, message).note = note.map(str::to_owned);
            return None;
        };
        Some(Part { name, content, location })
    }

    fn port_type(&self, names: &Names, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<PortType> {
        let name = self.name(element, diagnostics)?;
        let mut operations: Vec<Operation> = Vec::new();
        for child in wsdl_children(element).filter(|child| child.local() == "operation") {
            let Some(operation) = self.operation(names, child, diagnostics) else { continue };
            let input_name = |operation: &Operation| operation.input.as_ref().map(|input| input.name.clone());
            let twin = |known: &&Operation| known.name == operation.name && input_name(known) == input_name(&operation);
            if operations.iter().find(twin).is_some() {
                let message = format!("operation {} is defined twice", operation.name);
                let note = "operations of one name have inputs of different names";
                diagnostics.error(operation.location, message).with_note(note);
                continue;
            }
            operations.push(operation);
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
        let (mut input, mut output, mut faults) = (None, None, Vec::new());
        let mut order = Vec::new();
        let kinds: Vec<&str> =
            wsdl_children(element).map(Element::local).filter(|&l| l == "input" || l == "output").collect();
        for child in wsdl_children(element) {
            let local = child.local();
            // §2.4.5, default names
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
                    faults.extend(self.operation_message(names, child, None, diagnostics));
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
                return None;
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
        })
    }

    fn operation_message(
        &self,
        names: &Names,
        element: Element<'_>,
        default: Option<String>,
        diagnostics: &mut Diagnostics,
    ) -> Option<OperationMessage> {
        let message = names.resolve(Kind::Message, self, element, "message", diagnostics).map(MessageId)?;
        let name = match (element.attribute("name"), default) {
            (Some(name), _) => name.trim().to_owned(),
            (None, Some(default)) => default,
            // A fault without a name is bound by that of its message; many tools leave it out.
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

    fn service(&self, names: &Names, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<Service> {
        let name = self.name(element, diagnostics)?;
        let mut ports = Vec::new();
        for child in wsdl_children(element).filter(|child| child.local() == "port") {
            ports.extend(self.port(names, child, diagnostics));
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
        let binding = names.resolve(Kind::Binding, self, element, "binding", diagnostics).map(BindingId)?;
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
