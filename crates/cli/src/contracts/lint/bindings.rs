//! Rules for bindings and services (Basic Profile 1.1 §4.4, §4.6 and §4.7).

use std::collections::{HashMap, HashSet};

use castile_wsdl::{Definitions, HTTP_TRANSPORT};
use castile_xml::tree::Element;
use castile_xsd::{FileId, Location};

use super::contract::{
    Documents, HTTP, MIME, Name, Part, Parts, SOAP11, SOAP12, is_absolute, is_soap, named, refers, within,
    wsdl_children,
};
use super::findings::Findings;
use super::rules;

pub(super) fn check(definitions: &Definitions, documents: &Documents, parts: &Parts<'_>, findings: &mut Findings<'_>) {
    let resolved = resolved(definitions, documents);
    for (file, root) in documents.definitions() {
        for binding in wsdl_children(root, "binding") {
            self::binding(file, binding, parts, &resolved, findings);
        }
    }
    services(documents, findings);
}

/// The operations of port types, by the location of the binding operation that binds them.
type Resolved<'d> = HashMap<Location, Element<'d>>;

fn resolved<'d>(definitions: &Definitions, documents: &'d Documents) -> Resolved<'d> {
    let port_types = documents
        .definitions()
        .flat_map(|(file, root)| wsdl_children(root, "portType").map(move |port_type| (file, port_type)));
    let operations = port_types.flat_map(|(file, port_type)| {
        wsdl_children(port_type, "operation").map(move |operation| (Location::of(file, operation), operation))
    });
    let operations: Resolved<'d> = operations.collect();
    let bound = definitions.bindings.iter().flat_map(|binding| {
        let known = &definitions[binding.port_type].operations;
        binding.operations.iter().map(|bound| (bound.location, known[bound.operation].location))
    });
    bound.filter_map(|(bound, of)| Some((bound, *operations.get(&of)?))).collect()
}

/// The style of a binding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Document,
    Rpc,
}

impl Style {
    fn of(element: Element<'_>) -> Option<Self> {
        match element.attribute("style")?.trim() {
            "rpc" => Some(Self::Rpc),
            _ => Some(Self::Document),
        }
    }
}

fn binding(
    file: FileId,
    binding: Element<'_>,
    parts: &Parts<'_>,
    resolved: &Resolved<'_>,
    findings: &mut Findings<'_>,
) {
    let name = named(binding);
    let soap = binding.elements().find(|one| is_soap(*one) && one.local() == "binding");
    let Some(soap) = soap else {
        findings.at(&rules::R2401, file, binding, format!("binding {name} is not a SOAP binding"));
        return;
    };
    if soap.namespace() == SOAP12 {
        findings.at(&rules::R2401, file, soap, format!("binding {name} is a SOAP 1.2 binding"));
    }
    match soap.find_attribute("", "transport") {
        None => findings.at(&rules::R2701, file, soap, format!("binding {name} has no transport")),
        Some(transport) if transport.value().trim() != HTTP_TRANSPORT => {
            findings.at_attribute(&rules::R2702, file, transport, format!("the transport is {}", transport.value()));
        }
        Some(_) => {}
    }
    let style = Style::of(soap).unwrap_or(Style::Document);
    let port_type = refers(binding, "type");
    let abstract_ = port_type.as_ref().and_then(|name| parts.port_types.get(name)).map(Vec::as_slice);
    let mut known: HashMap<&str, Vec<Element<'_>>> = HashMap::new();
    for operation in abstract_.unwrap_or_default() {
        known.entry(named(*operation)).or_default().push(*operation);
    }
    if !findings.spend(known.len()) {
        return;
    }
    let mut first_style = None;
    let mut signatures: HashMap<String, &str> = HashMap::new();
    let mut bound: HashSet<&str> = HashSet::new();
    for operation in wsdl_children(binding, "operation") {
        let name = named(operation);
        bound.insert(name);
        let soap = operation.elements().find(|one| is_soap(*one) && one.local() == "operation");
        let own = soap.and_then(Style::of).unwrap_or(style);
        if *first_style.get_or_insert(own) != own {
            findings.at(
                &rules::R2705,
                file,
                soap.unwrap_or(operation),
                format!("{name} has a different style than other operations"),
            );
        }
        let overloads = known.get(name).map_or(&[][..], Vec::as_slice);
        if !findings.spend(1) {
            return;
        }
        let of = match (resolved.get(&Location::of(file, operation)), overloads) {
            (Some(of), _) => *of,
            // A broken operation isn't resolved. If its name is unique, it is that one.
            (None, [of]) => *of,
            // The overloaded operation is ambiguous, which was reported before.
            (None, [_, ..]) => continue,
            (None, []) => {
                if abstract_.is_some() {
                    findings.at(&rules::R2718, file, operation, format!("the port type has no operation {name}"));
                }
                continue;
            }
        };
        let bound = Bound { file, operation, port_type_operation: of, style: own, parts };
        bound.check(findings);
        let signature = bound.signature();
        if let Some(first) = signatures.get(&signature) {
            let message = format!("the requests of {first} and {name} have the same content: {signature}");
            findings.at(&rules::R2710, file, operation, message);
        } else {
            signatures.insert(signature, name);
        }
    }
    let missing: Vec<&str> =
        abstract_.unwrap_or_default().iter().map(|one| named(*one)).filter(|name| !bound.contains(name)).collect();
    if let Some(first) = missing.first() {
        let more = if missing.len() > 1 { format!(" and {} more", missing.len() - 1) } else { String::new() };
        findings.at(&rules::R2718, file, binding, format!("binding {name} lacks the operation {first}{more}"));
    }
}

/// An operation of a binding, and the operation of the port type that it binds.
struct Bound<'d> {
    file: FileId,
    operation: Element<'d>,
    port_type_operation: Element<'d>,
    style: Style,
    parts: &'d Parts<'d>,
}

impl<'d> Bound<'d> {
    fn check(&self, findings: &mut Findings<'_>) {
        for direction in ["input", "output"] {
            if let Some(message) = wsdl_children(self.operation, direction).next() {
                self.message(message, direction, findings);
            }
        }
        let mut declared: HashMap<&str, Element<'d>> = HashMap::new();
        for fault in wsdl_children(self.port_type_operation, "fault") {
            declared.entry(named(fault)).or_insert(fault);
        }
        if !findings.spend(declared.len()) {
            return;
        }
        for fault in wsdl_children(self.operation, "fault") {
            self.fault(fault, declared.get(named(fault)).copied(), findings);
        }
    }

    /// Returns the parts of the input or output message.
    fn parts_of(&self, direction: &str) -> &'d [Part<'d>] {
        let of = wsdl_children(self.port_type_operation, direction).next();
        of.and_then(|of| self.parts.message(of)).unwrap_or_default()
    }

    fn message(&self, message: Element<'d>, direction: &str, findings: &mut Findings<'_>) {
        let known = self.parts_of(direction);
        // MIME parts may be nested.
        let all: Vec<Element<'_>> = within(message, |_| false).collect();
        if !findings.spend(all.len() + known.len()) {
            return;
        }
        let mut bound: HashSet<&str> = HashSet::new();
        let mut binds_all = false;
        for element in all {
            match element.local() {
                "body" if is_soap(element) => {
                    let parts = element.attribute("parts").map(|parts| parts.split_whitespace().collect::<Vec<_>>());
                    binds_all |= parts.is_none();
                    self.body(element, known, parts.as_deref(), findings);
                    bound.extend(parts.unwrap_or_default());
                }
                "header" | "headerfault" if is_soap(element) => {
                    self.header(element, findings);
                    bound.extend(element.attribute("part"));
                }
                "content" if element.namespace() == MIME => bound.extend(element.attribute("part")),
                _ => {}
            }
        }
        let unbound = known.iter().map(|part| part.name).find(|name| !bound.contains(name));
        if let Some(unbound) = unbound.filter(|_| !binds_all && !bound.is_empty()) {
            let message_name = named(self.operation);
            let text = format!("part {unbound} of the {direction} of {message_name} is not bound");
            findings.at(&rules::R2209, self.file, message, text);
        }
    }

    fn body(&self, body: Element<'_>, known: &[Part<'_>], listed: Option<&[&str]>, findings: &mut Findings<'_>) {
        let (name, file) = (named(self.operation), self.file);
        let is_encoded = self.expect_literal(body, false, findings);
        let namespace = body.find_attribute("", "namespace");
        let names: HashSet<&str> = listed.unwrap_or_default().iter().copied().collect();
        let of_body = || known.iter().filter(|part| listed.is_none() || names.contains(part.name));
        match self.style {
            Style::Document => {
                if let Some(namespace) = namespace.filter(|_| !is_encoded) {
                    findings.at_attribute(&rules::R2716, file, namespace, format!("a body of {name} has a namespace"));
                }
                if let Some(attribute) = body.find_attribute("", "parts").filter(|_| names.len() > 1) {
                    let message = format!("a body of {name} has {} parts", names.len());
                    findings.at_attribute(&rules::R2201, file, attribute, message);
                }
                if listed.is_none() && known.len() > 1 {
                    let message = format!("a body of {name} has all {} parts of its message", known.len());
                    findings.at(&rules::R2210, file, body, message);
                }
                if let Some(part) = of_body().find(|part| part.element.is_none() && part.has_type) {
                    findings.at(&rules::R2204, file, body, format!("part {} of {name} has a type", part.name));
                }
            }
            Style::Rpc if !is_encoded => {
                let absolute = namespace.is_some_and(|namespace| is_absolute(namespace.value().trim()));
                if !absolute {
                    let found = namespace.map_or("none".to_owned(), |namespace| format!("{:?}", namespace.value()));
                    findings.at(&rules::R2717, file, body, format!("the namespace of a body of {name} is {found}"));
                }
                if let Some(part) = of_body().find(|part| part.element.is_some()) {
                    findings.at(&rules::R2203, file, body, format!("part {} of {name} has an element", part.name));
                }
            }
            Style::Rpc => {}
        }
    }

    fn header(&self, header: Element<'_>, findings: &mut Findings<'_>) {
        let (name, file) = (named(self.operation), self.file);
        let is_encoded = self.expect_literal(header, false, findings);
        self.expect_no_namespace(header, is_encoded, findings);
        if let Some(parts) = header.find_attribute("", "parts") {
            findings.at_attribute(&rules::R2749, file, parts, format!("a header block of {name} has parts="));
        }
        let Some(part) = header.attribute("part").map(str::trim) else {
            findings.at(&rules::R2720, file, header, format!("a header block of {name} names no part"));
            return;
        };
        let parts = self.parts.message(header).unwrap_or_default();
        if findings.spend(parts.len())
            && parts.iter().any(|one| one.name == part && one.element.is_none() && one.has_type)
        {
            findings.at(&rules::R2205, file, header, format!("part {part} of a header block of {name} has a type"));
        }
    }

    fn fault(&self, fault: Element<'_>, declared: Option<Element<'_>>, findings: &mut Findings<'_>) {
        let (name, file) = (named(self.operation), self.file);
        let Some(soap) = fault.elements().find(|one| is_soap(*one) && one.local() == "fault") else { return };
        let is_encoded = self.expect_literal(soap, true, findings);
        self.expect_no_namespace(soap, is_encoded, findings);
        match soap.find_attribute("", "name") {
            None => findings.at(&rules::R2721, file, soap, format!("a fault of {name} has no name")),
            Some(own) if own.value().trim() != named(fault) => {
                let message =
                    format!("fault {} of {name} has the name {} in its soap:fault", named(fault), own.value());
                findings.at_attribute(&rules::R2754, file, own, message);
            }
            Some(_) => {}
        }
        let parts = declared.and_then(|declared| self.parts.message(declared)).unwrap_or_default();
        if findings.spend(parts.len() + 1)
            && let Some(part) = parts.iter().find(|part| part.element.is_none() && part.has_type)
        {
            findings.at(&rules::R2205, file, soap, format!("part {} of a fault of {name} has a type", part.name));
        }
    }

    /// Reports an encoded message. Returns whether it is encoded.
    fn expect_literal(&self, element: Element<'_>, is_fault: bool, findings: &mut Findings<'_>) -> bool {
        let Some(use_) = element.find_attribute("", "use").filter(|one| one.value().trim() != "literal") else {
            return false;
        };
        let rule = if is_fault { &rules::R2723 } else { &rules::R2706 };
        let message = format!("a {} of {} is {}", element.local(), named(self.operation), use_.value());
        findings.at_attribute(rule, self.file, use_, message);
        true
    }

    fn expect_no_namespace(&self, element: Element<'_>, is_encoded: bool, findings: &mut Findings<'_>) {
        let Some(namespace) = element.find_attribute("", "namespace").filter(|_| !is_encoded) else { return };
        let rule = match self.style {
            Style::Document => &rules::R2716,
            Style::Rpc => &rules::R2726,
        };
        let message = format!("a {} of {} has a namespace", element.local(), named(self.operation));
        findings.at_attribute(rule, self.file, namespace, message);
    }

    /// Returns what identifies the request: the root element of its body.
    fn signature(&self) -> String {
        let input = wsdl_children(self.operation, "input").next();
        let body = input.and_then(|input| within(input, |_| false).find(|one| one.is_body()));
        match self.style {
            Style::Rpc => {
                let namespace = body.and_then(|body| body.attribute("namespace")).unwrap_or_default().trim();
                format!("{{{namespace}}}{}", named(self.operation))
            }
            Style::Document => {
                let listed = body.and_then(|body| body.attribute("parts"));
                let names: Option<HashSet<&str>> = listed.map(|parts| parts.split_whitespace().collect());
                let parts = self.parts_of("input").iter();
                let elements = parts.filter(|part| names.as_ref().is_none_or(|names| names.contains(part.name)));
                let qualified = |(namespace, local): &Name| format!("{{{namespace}}}{local}");
                let elements_named: Vec<String> = elements
                    .map(|part| part.element.as_ref().map_or_else(|| part.name.to_owned(), qualified))
                    .collect();
                if elements_named.is_empty() { "an empty body".to_owned() } else { elements_named.join(", ") }
            }
        }
    }
}

trait IsBody {
    fn is_body(&self) -> bool;
}

impl IsBody for Element<'_> {
    fn is_body(&self) -> bool {
        is_soap(*self) && self.local() == "body"
    }
}

/// Checks the addresses of services.
fn services(documents: &Documents, findings: &mut Findings<'_>) {
    let mut addresses: HashSet<&str> = HashSet::new();
    let mut has_service = false;
    for (file, root) in documents.definitions() {
        for service in wsdl_children(root, "service") {
            has_service = true;
            for port in wsdl_children(service, "port") {
                let of_protocol = |one: &Element<'_>| is_soap(*one) || one.namespace() == HTTP;
                let address = port.elements().find(|one| of_protocol(one) && one.local() == "address");
                let location = address.and_then(|address| address.find_attribute("", "location"));
                let Some(location) = location.filter(|location| !location.value().trim().is_empty()) else {
                    findings.at(&rules::NO_ADDRESS, file, port, format!("port {} has no address", named(port)));
                    continue;
                };
                let url = location.value().trim();
                if is_local(url) {
                    findings.at_attribute(&rules::LOCAL_ADDRESS, file, location, format!("the address is {url}"));
                }
                if address.is_some_and(|address| address.namespace() == SOAP11) && !addresses.insert(url) {
                    let message = format!("port {} has the same address as another port: {url}", named(port));
                    findings.at_attribute(&rules::R2711, file, location, message);
                }
            }
        }
    }
    if let Some((file, root)) = documents.definitions().next().filter(|_| !has_service) {
        findings.at(&rules::NO_SERVICE, file, root, "the contract has no service");
    }
}

/// Returns whether a URL refers to the local machine.
fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.starts_with("127.") || host == "::1" || host == "0.0.0.0"
}
