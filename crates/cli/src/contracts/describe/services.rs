//! A contract as text: services, ports and operations with their messages, then the types that aren't nested in them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use castile_xml::visible;

use super::contract::{
    Binding, BindingMessage, BindingOperation, Contract, Defect, Extension, Header, LeftOut, Message, Operation, Port,
    PortType, Protocol,
};
use super::names::split;
use super::paint::{DIM, HEAD, NAME, TYPE};
use super::tree::{Node, printable};
use super::types::{Pending, Types};

/// How much of the contract to show.
pub(super) struct Extent {
    /// How many levels of named types are nested.
    pub(super) depth: usize,
    /// Whether to show all documentation. Otherwise types have none, and all other components have only the first line.
    pub(super) documentation: bool,
    /// Whether to show elements and types that no operation uses.
    pub(super) all: bool,
}

/// Returns the whole description, with colours.
pub(super) fn text(contract: &Contract, extent: &Extent) -> String {
    let mut describer = Describer {
        contract,
        types: Types::new(contract, extent.depth, extent.documentation),
        extent,
        bindings: contract.bindings.iter().rev().map(|one| (one.name.as_str(), one)).collect(),
        messages: contract.messages.iter().rev().map(|one| (one.name.as_str(), one)).collect(),
        shown: HashSet::new(),
    };
    let mut roots = describer.services();
    roots.extend(describer.unused_bindings());
    roots.extend(describer.unbound_port_types());
    let has_operations = !roots.is_empty();
    roots.extend(contract.left_out.iter().map(left_out));
    let extensions: Vec<Node> = contract.extensions.iter().map(|one| describer.extension(one)).collect();
    roots.extend(extensions);
    let mut types: Vec<Node> = std::iter::from_fn(|| describer.types.next_pending()).collect();
    let rest = describer.rest();
    let unreached = if extent.all || !has_operations {
        types.extend(describer.all_of(rest));
        0
    } else {
        rest.len()
    };

    let mut out = describer.head();
    for node in roots.iter().chain(&types) {
        out.push('\n');
        node.draw(DIM, &mut out);
    }
    // Writing to a `String` can't fail.
    if unreached > 0 {
        let _ = writeln!(
            out,
            "\n{DIM}{unreached} elements and types are not used by these operations: --all shows them{DIM:#}"
        );
    }
    if describer.types.is_full() {
        let _ = writeln!(out, "\n{DIM}… the rest is not shown, because the contract is too large{DIM:#}");
    }
    let legend: Vec<&str> = ["↑ shown above", "↓ shown below", "↻ contains itself"]
        .into_iter()
        .filter(|one| out.contains(&one[..3]))
        .collect();
    if !legend.is_empty() {
        let _ = writeln!(out, "\n{DIM}{}{DIM:#}", legend.join("   "));
    }
    out
}

struct Describer<'c> {
    contract: &'c Contract,
    types: Types<'c>,
    extent: &'c Extent,
    bindings: HashMap<&'c str, &'c Binding>,
    messages: HashMap<&'c str, &'c Message>,
    /// The names of bindings that were shown.
    shown: HashSet<&'c str>,
}

impl<'c> Describer<'c> {
    /// Returns the header of the description. Call it last, because it lists the prefixes that were used.
    fn head(&self) -> String {
        let contract = self.contract;
        let mut out = format!("{HEAD}{}{HEAD:#}", visible(&contract.file));
        for text in contract.name.iter().chain(Some(&contract.target_namespace).filter(|text| !text.is_empty())) {
            let _ = write!(out, "  {}", visible(text));
        }
        out.push('\n');
        for line in self.documentation(contract.documentation.as_deref()) {
            let _ = writeln!(out, "{}", printable(&line));
        }
        let used = self.types.names.used();
        let width = used.iter().map(|(prefix, _)| prefix.len()).max().unwrap_or_default();
        for (prefix, namespace) in used {
            let _ = writeln!(out, "{DIM}{prefix:>width$} = {}{DIM:#}", visible(namespace));
        }
        out
    }

    fn services(&mut self) -> Vec<Node> {
        let contract = self.contract;
        let services = contract.services.iter().map(|service| {
            let mut children: Vec<Node> = service.ports.iter().map(|port| self.port(port)).collect();
            children.extend(service.extensions.iter().map(|one| self.extension(one)));
            let line = format!("service {HEAD}{}{HEAD:#}", split(&service.name).1);
            Node { line, more: self.documentation(service.documentation.as_deref()), children }
        });
        services.collect()
    }

    fn port(&mut self, port: &'c Port) -> Node {
        let binding = self.bindings.get(port.binding.as_str()).copied();
        let mut line = format!("port {HEAD}{}{HEAD:#}", port.name);
        let mut more = self.documentation(port.documentation.as_deref());
        let mut children: Vec<Node> = port.extensions.iter().map(|one| self.extension(one)).collect();
        if let Some(binding) = binding {
            let _ = write!(line, "  {}", protocol(&binding.protocol));
            if self.shown.insert(&binding.name) {
                more.extend(self.documentation(binding.documentation.as_deref()));
                children.extend(self.binding(binding));
            } else {
                children.push(Node::new(format!(
                    "{DIM}the operations of the port above, with binding{DIM:#} {}",
                    split(&binding.name).1
                )));
            }
        }
        if let Some(address) = port.address.as_ref().filter(|address| !address.is_empty()) {
            let _ = write!(line, "  {address}");
        }
        Node { line, more, children }
    }

    /// Returns the bindings that no port uses.
    fn unused_bindings(&mut self) -> Vec<Node> {
        let contract = self.contract;
        let unused: Vec<&Binding> = contract.bindings.iter().filter(|one| self.shown.insert(&one.name)).collect();
        let nodes = unused.into_iter().map(|binding| {
            let name = split(&binding.name).1;
            let line = format!("binding {HEAD}{name}{HEAD:#}  {}  {DIM}no port{DIM:#}", protocol(&binding.protocol));
            let more = self.documentation(binding.documentation.as_deref());
            Node { line, more, children: self.binding(binding) }
        });
        nodes.collect()
    }

    fn binding(&mut self, binding: &'c Binding) -> Vec<Node> {
        let is_soap = matches!(binding.protocol, Protocol::Soap11 { .. } | Protocol::Soap12 { .. });
        let mut nodes: Vec<Node> = binding.extensions.iter().map(|one| self.extension(one)).collect();
        nodes.extend(binding.operations.iter().map(|operation| self.bound(operation, is_soap)));
        nodes.extend(binding.left_out.iter().map(left_out));
        nodes
    }

    fn bound(&mut self, operation: &'c BindingOperation, is_soap: bool) -> Node {
        let label = operation.label.as_ref().unwrap_or(&operation.name);
        let mut line = format!("{HEAD}{label}{HEAD:#}");
        if is_soap {
            let messages = || operation.input.iter().chain(&operation.output);
            let use_ = if messages().any(|message| message.use_ == "encoded") { "encoded" } else { "literal" };
            let wrapped = if operation.wrapped { " wrapped" } else { "" };
            let _ = write!(line, "  {}/{use_}{wrapped}", operation.style);
        }
        if operation.pattern != "request-response" {
            let _ = write!(line, "  {}", operation.pattern);
        }
        if let Some(action) = operation.soap_action.as_ref().filter(|action| !action.is_empty()) {
            let _ = write!(line, "  {DIM}action{DIM:#} {action}");
        }
        let mut children = Vec::new();
        for (direction, message) in [("in", &operation.input), ("out", &operation.output)] {
            if let Some(message) = message {
                self.message(direction, message, &mut children);
            }
        }
        for fault in &operation.faults {
            let mut node = match &fault.part {
                Some(part) => self.types.part(&part.name, &part.content),
                None => Node::default(),
            };
            node.line = format!("fault {} {DIM}→{DIM:#} {}", fault.name, node.line);
            node.more.extend(self.documentation(fault.documentation.as_deref()));
            children.push(node);
        }
        children.extend(operation.extensions.iter().map(|one| self.extension(one)));
        Node { line, more: self.documentation(operation.documentation.as_deref()), children }
    }

    fn message(&mut self, direction: &str, message: &'c BindingMessage, nodes: &mut Vec<Node>) {
        for header in &message.headers {
            let mut node = self.header(&format!("{direction} header"), header);
            let faults = header.faults.iter().map(|fault| self.header("header fault", fault));
            let faults: Vec<Node> = faults.collect();
            node.children.extend(faults);
            nodes.push(node);
        }
        let mut body: Vec<Node> = message.body.iter().map(|part| self.types.part(&part.name, &part.content)).collect();
        match (body.len(), body.pop()) {
            (1, Some(mut one)) => {
                one.line = format!("{direction} {}", one.line);
                nodes.push(one);
            }
            (_, Some(last)) => {
                body.push(last);
                nodes.push(Node::new(direction).with(body));
            }
            (_, None) => nodes.push(Node::new(format!("{direction}  {DIM}empty{DIM:#}"))),
        }
        for attachment in &message.attachments {
            let types = match attachment.media_types.as_slice() {
                [] => "any type".to_owned(),
                types => types.join(", "),
            };
            nodes.push(Node::new(format!("{direction} attachment {NAME}{}{NAME:#}  {types}", attachment.part)));
        }
        nodes.extend(message.extensions.iter().map(|one| self.extension(one)));
    }

    fn header(&mut self, label: &str, header: &'c Header) -> Node {
        let mut node = self.types.part(&header.part.name, &header.part.content);
        node.line = format!("{label} {}", node.line);
        node
    }

    /// Returns the port types without a binding.
    fn unbound_port_types(&mut self) -> Vec<Node> {
        let contract = self.contract;
        let bound: HashSet<&str> = contract.bindings.iter().map(|binding| binding.port_type.as_str()).collect();
        let unbound = contract.port_types.iter().filter(|one| !bound.contains(one.name.as_str()));
        let unbound: Vec<&PortType> = unbound.collect();
        let nodes = unbound.into_iter().map(|port_type| {
            let mut children: Vec<Node> = port_type.operations.iter().map(|one| self.abstract_operation(one)).collect();
            children.extend(port_type.extensions.iter().map(|one| self.extension(one)));
            let line = format!("port type {HEAD}{}{HEAD:#}  {DIM}no binding{DIM:#}", split(&port_type.name).1);
            Node { line, more: self.documentation(port_type.documentation.as_deref()), children }
        });
        nodes.collect()
    }

    fn abstract_operation(&mut self, operation: &'c Operation) -> Node {
        let mut line = format!("{HEAD}{}{HEAD:#}", operation.name);
        if operation.pattern != "request-response" {
            let _ = write!(line, "  {}", operation.pattern);
        }
        let of = |message: &Option<super::contract::OperationMessage>, label: &'static str| {
            message.as_ref().map(|message| (label.to_owned(), message.message.clone()))
        };
        let faults = operation.faults.iter().map(|fault| (format!("fault {} →", fault.name), fault.message.clone()));
        let messages = of(&operation.input, "in").into_iter().chain(of(&operation.output, "out")).chain(faults);
        let mut children = Vec::new();
        for (label, name) in messages {
            let message = self.messages.get(name.as_str()).copied();
            let parts = message.map_or(&[][..], |message| &message.parts);
            let mut nodes: Vec<Node> = parts.iter().map(|part| self.types.part(&part.name, &part.content)).collect();
            if let Some(Defect { reason, place }) = message.and_then(|message| message.defect.as_ref()) {
                children.push(defective(&label, reason, place).with(nodes));
            } else if let [one] = nodes.as_mut_slice() {
                one.line = format!("{label} {}", one.line);
                children.append(&mut nodes);
            } else {
                let line = if nodes.is_empty() { format!("{label}  {DIM}empty{DIM:#}") } else { label };
                children.push(Node::new(line).with(nodes));
            }
        }
        children.extend(operation.extensions.iter().map(|one| self.extension(one)));
        Node { line, more: self.documentation(operation.documentation.as_deref()), children }
    }

    fn extension(&mut self, extension: &Extension) -> Node {
        let required = if extension.required { "  required" } else { "" };
        Node::new(format!("extension {TYPE}{}{TYPE:#}{required}", self.types.names.short(&extension.name)))
    }

    /// Returns the elements and named types of the contract's own schemas that weren't shown.
    fn rest(&self) -> Vec<Pending<'c>> {
        let contract = self.contract;
        let builtin: HashSet<&str> = castile_xsd::builtin_namespaces().chain([castile_xsd::XSD_NAMESPACE]).collect();
        let own = |name: &str| !builtin.contains(split(name).0);
        let elements = contract.elements.iter().filter(|element| own(&element.name)).map(Pending::Element);
        let types = contract.types.iter().filter(|of| !of.id.starts_with('#') && own(&of.id)).map(Pending::Type);
        elements.chain(types).filter(|one| !self.types.is_shown(*one)).collect()
    }

    /// Returns these elements and types, and those they refer to.
    fn all_of(&mut self, rest: Vec<Pending<'c>>) -> Vec<Node> {
        let mut nodes = Vec::new();
        for one in rest {
            // An earlier entry may have shown it.
            if !self.types.is_shown(one) {
                nodes.push(self.types.root(one));
            }
        }
        nodes.extend(std::iter::from_fn(|| self.types.next_pending()));
        nodes
    }

    /// Returns the first line of documentation, or all lines if requested.
    fn documentation(&self, text: Option<&str>) -> Vec<String> {
        let count = if self.extent.documentation { usize::MAX } else { 1 };
        let lines = text.into_iter().flat_map(str::lines).filter(|line| !line.trim().is_empty()).take(count);
        lines.map(|line| format!("{DIM}{}{DIM:#}", line.trim_end())).collect()
    }
}

fn left_out(LeftOut { name, reason, place }: &LeftOut) -> Node {
    defective(name, reason, place)
}

fn defective(name: &str, reason: &str, place: &str) -> Node {
    Node::new(format!("{name}  {DIM}left out:{DIM:#} {reason} {DIM}({place}){DIM:#}"))
}

fn protocol(protocol: &Protocol) -> String {
    let over = |transport: &str| match transport {
        castile_wsdl::HTTP_TRANSPORT => String::new(),
        "" => " over an unknown transport".to_owned(),
        other => format!(" over {other}"),
    };
    match protocol {
        Protocol::Soap11 { transport } => format!("SOAP 1.1{}", over(transport)),
        Protocol::Soap12 { transport } => format!("SOAP 1.2{}", over(transport)),
        Protocol::Http { verb } => format!("HTTP {verb}, not SOAP"),
        Protocol::Other { protocol_namespace } if protocol_namespace.is_empty() => "no protocol".to_owned(),
        Protocol::Other { protocol_namespace } => format!("neither SOAP nor HTTP, but {protocol_namespace}"),
    }
}
