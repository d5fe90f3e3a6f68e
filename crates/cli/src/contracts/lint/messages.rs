//! Rules for messages and port types (Basic Profile 1.1 §4.4 and §4.5).

use std::collections::{HashMap, HashSet};

use castile_xml::tree::Element;
use castile_xsd::{FileId, XSD_NAMESPACE};

use super::contract::{Documents, Parts, WSDL, named, refers, wsdl_children};
use super::findings::Findings;
use super::rules;

pub(super) fn check(documents: &Documents, parts: &Parts<'_>, findings: &mut Findings<'_>) {
    same_names(documents, findings);
    for (file, root) in documents.definitions() {
        let known = known_namespaces(root);
        for message in wsdl_children(root, "message") {
            for part in wsdl_children(message, "part") {
                if !findings.spend(1) {
                    return;
                }
                self::part(file, part, &known, findings);
            }
        }
        for port_type in wsdl_children(root, "portType") {
            self::port_type(file, port_type, parts, findings);
        }
    }
}

/// Checks for names that are equal without their namespaces, because some stacks ignore namespaces.
fn same_names(documents: &Documents, findings: &mut Findings<'_>) {
    let mut known: HashMap<(&str, &str), &str> = HashMap::new();
    for (file, root) in documents.definitions() {
        let target = root.attribute("targetNamespace").unwrap_or_default().trim();
        for element in root.elements().filter(|one| one.namespace() == WSDL) {
            let (kind, name) = (element.local(), named(element));
            if !matches!(kind, "message" | "portType" | "binding" | "service") {
                continue;
            }
            let first = *known.entry((kind, name)).or_insert(target);
            if first != target {
                findings.at(&rules::SAME_NAME, file, element, format!("namespace {first:?} also has a {kind} {name}"));
            }
        }
    }
}

/// Returns the namespaces that a WSDL document defines or imports.
fn known_namespaces(root: Element<'_>) -> HashSet<String> {
    let mut known = HashSet::from([XSD_NAMESPACE.to_owned(), String::new()]);
    let trimmed = |text: Option<&str>| text.unwrap_or_default().trim().to_owned();
    for types in wsdl_children(root, "types") {
        for schema in types.elements() {
            known.insert(trimmed(schema.attribute("targetNamespace")));
            let imports = schema.elements().filter(|one| one.is(XSD_NAMESPACE, "import"));
            known.extend(imports.map(|import| trimmed(import.attribute("namespace"))));
        }
    }
    known.extend(wsdl_children(root, "import").map(|import| trimmed(import.attribute("namespace"))));
    known
}

fn part(file: FileId, part: Element<'_>, known: &HashSet<String>, findings: &mut Findings<'_>) {
    let name = named(part);
    if part.attribute("element").is_some() && part.attribute("type").is_some() {
        findings.at(&rules::R2306, file, part, format!("part {name} has both an element and a type"));
    }
    for local in ["element", "type"] {
        let Some((namespace, _)) = refers(part, local).filter(|(namespace, _)| !known.contains(namespace)) else {
            continue;
        };
        if let Some(attribute) = part.find_attribute("", local) {
            let message = format!("part {name} refers to namespace {namespace:?}, which the document doesn't import");
            findings.at_attribute(&rules::R2101, file, attribute, message);
        }
    }
}

fn port_type(file: FileId, port_type: Element<'_>, parts: &Parts<'_>, findings: &mut Findings<'_>) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for operation in wsdl_children(port_type, "operation") {
        if !findings.spend(1) {
            return;
        }
        let name = named(operation);
        let times = names.entry(name).or_insert(0);
        *times += 1;
        if *times > 1 {
            findings.at(&rules::R2304, file, operation, format!("port type {} has several {name}", named(port_type)));
        }
        let messages = operation.elements().filter(|one| matches!(one.local(), "input" | "output"));
        let messages: Vec<&str> = messages.map(Element::local).collect();
        let fault = wsdl_children(operation, "fault").next();
        if let Some(fault) = fault.filter(|_| messages == ["input"]) {
            findings.at(&rules::FAULT_ALONE, file, fault, format!("{name} has a fault and no output"));
        }
        if messages.first() == Some(&"output") {
            findings.at(&rules::R2303, file, operation, format!("{name} begins with its output"));
        }
        parameter_order(file, operation, parts, findings);
    }
}

fn parameter_order(file: FileId, operation: Element<'_>, parts: &Parts<'_>, findings: &mut Findings<'_>) {
    let Some(order) = operation.find_attribute("", "parameterOrder") else { return };
    let output = wsdl_children(operation, "output").next().and_then(|output| parts.message(output));
    let named: HashSet<&str> = order.value().split_whitespace().collect();
    let output = output.unwrap_or_default();
    let left_out: Vec<&str> = output.iter().map(|part| part.name).filter(|name| !named.contains(name)).collect();
    if findings.spend(output.len()) && left_out.len() > 1 {
        let message = format!("parameterOrder leaves out {} parts of the output", left_out.len());
        findings.at_attribute(&rules::R2305, file, order, message);
    }
}
