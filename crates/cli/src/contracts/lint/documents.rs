//! Rules for the structure of WSDL documents and their imports (Basic Profile 1.1 §4.2).

use std::collections::{HashMap, HashSet};

use castile_wsdl::{Definitions, is_policy};
use castile_xml::tree::{Element, Node};
use castile_xsd::{FileId, Location, XSD_NAMESPACE};

use super::contract::{Documents, WSDL, is_absolute, within, wsdl_children};
use super::findings::Findings;
use super::rules::{self, Rule};

pub(super) fn check(definitions: &Definitions, documents: &Documents, findings: &mut Findings<'_>) {
    for (file, root) in documents.roots() {
        let encoded = if root.is(XSD_NAMESPACE, "schema") { &rules::R2010 } else { &rules::R4003 };
        text(file, definitions.sources.text(file), encoded, findings);
    }
    let ids = policy_ids(documents);
    for (file, root) in documents.definitions() {
        order(file, root, findings);
        let imported = documents.imported(definitions, file);
        for import in wsdl_children(root, "import") {
            self::import(&imported, (file, import), findings);
        }
        for types in wsdl_children(root, "types") {
            for import in types.elements().filter(|child| child.is(XSD_NAMESPACE, "import")) {
                findings.at(&rules::R2003, file, import, "xs:import is a child of wsdl:types");
            }
        }
        // Schemas have their own extensions.
        let is_schema = |element: Element<'_>| element.is(WSDL, "types");
        for element in within(root, is_schema) {
            if !findings.spend(1) {
                return;
            }
            if element.namespace() == WSDL && !matches!(element.local(), "documentation" | "types") {
                stray_text(file, element, findings);
            }
            let required = element.find_attribute(WSDL, "required");
            if element.namespace() != WSDL
                && let Some(required) = required.filter(|one| matches!(one.value().trim(), "true" | "1"))
            {
                let message = format!("<{}> of namespace {:?} is required", element.local(), element.namespace());
                findings.at_attribute(&rules::R2026, file, required, message);
            }
            if is_policy(element.namespace()) && element.local() == "PolicyReference" {
                reference(file, element, &ids, findings);
            }
        }
    }
}

/// Checks the text before the root element: encoding and DTD.
fn text(file: FileId, text: &str, encoded: &'static Rule, findings: &mut Findings<'_>) {
    let declaration = text.trim_start_matches('\u{feff}').strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    if let Some((declaration, _)) = declaration
        && let Some((_, encoding)) = declaration.split_once("encoding")
    {
        let value = encoding.trim_start_matches(|c: char| c == '=' || c.is_whitespace());
        let quote = value.chars().next().unwrap_or('"');
        let encoding = value[quote.len_utf8().min(value.len())..].split(quote).next().unwrap_or_default();
        let upper = encoding.to_ascii_uppercase();
        if !encoding.is_empty() && !upper.starts_with("UTF-8") && !upper.starts_with("UTF-16") {
            let message = format!("the document encoding is {encoding}");
            findings.add(encoded, Location::at(file, 0), message);
        }
    }
    if let Some(start) = doctype(text) {
        findings.add(&rules::DTD, Location::at(file, start), "the document has a DTD");
    }
}

/// Returns the position of the document's DTD, which is before its first element, after comments and instructions.
fn doctype(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('<')?..];
        let end = match rest {
            _ if rest.starts_with("<!DOCTYPE") => return Some(text.len() - rest.len()),
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<?") => "?>",
            _ => return None,
        };
        rest = &rest[rest.find(end)?..];
    }
}

/// Checks the order of the WSDL elements.
fn order(file: FileId, root: Element<'_>, findings: &mut Findings<'_>) {
    let (mut after_types, mut after_others) = (false, false);
    for child in root.elements().filter(|child| child.namespace() == WSDL) {
        match child.local() {
            "documentation" => {}
            "import" => {
                if after_types || after_others {
                    findings.at(&rules::R2022, file, child, "an import comes after other WSDL elements");
                }
            }
            "types" => {
                if after_others {
                    findings.at(&rules::R2023, file, child, "the types come after other WSDL elements");
                }
                after_types = true;
            }
            _ => after_others = true,
        }
    }
}

fn stray_text(file: FileId, element: Element<'_>, findings: &mut Findings<'_>) {
    // A text node has no position, so the element before it is reported.
    let mut before = element;
    for node in element.children() {
        match node {
            Node::Element(child) => before = child,
            Node::Text(text) if text.trim().is_empty() => {}
            Node::Text(text) => {
                let start: String = text.trim().chars().take(40).collect();
                let message = format!("<{}> contains the text {start:?}, near here", element.local());
                return findings.at(&rules::STRAY_TEXT, file, before, message);
            }
        }
    }
}

fn import(imported: &HashMap<String, Element<'_>>, (file, import): (FileId, Element<'_>), findings: &mut Findings<'_>) {
    let namespace = import.attribute("namespace").unwrap_or_default().trim();
    if !is_absolute(namespace) {
        findings.at(&rules::R2803, file, import, format!("the namespace is {namespace:?}"));
    }
    let location = import.attribute("location").unwrap_or_default().trim();
    if location.is_empty() {
        findings.at(&rules::R2007, file, import, "the import has no location attribute");
        return;
    }
    let Some(root) = imported.get(location) else { return };
    if root.is(XSD_NAMESPACE, "schema") {
        findings.at(&rules::R2001, file, import, format!("{location} is a schema, not a WSDL document"));
        return;
    }
    let target = root.attribute("targetNamespace").unwrap_or_default().trim();
    if root.is(WSDL, "definitions") && target != namespace {
        let message = format!("the namespace is {namespace:?}, and that of {location} is {target:?}");
        findings.at(&rules::R2005, file, import, message);
    }
}

/// Returns the ids that references to policies may name.
fn policy_ids(documents: &Documents) -> HashSet<(FileId, &str)> {
    let mut ids = HashSet::new();
    for (file, root) in documents.definitions() {
        for element in within(root, |one| one.is(WSDL, "types")).filter(|one| is_policy(one.namespace())) {
            let named = element.attributes().filter(|one| one.local().eq_ignore_ascii_case("id"));
            ids.extend(named.map(|one| (file, one.value().trim())));
        }
    }
    ids
}

fn reference(file: FileId, element: Element<'_>, ids: &HashSet<(FileId, &str)>, findings: &mut Findings<'_>) {
    let uri = element.attribute("URI").unwrap_or_default().trim();
    // References to other documents aren't resolved.
    if let Some(id) = uri.strip_prefix('#').filter(|id| !ids.contains(&(file, *id))) {
        let message = format!("there is no policy with the id {id:?} in the document");
        findings.at(&rules::POLICY_REFERENCE, file, element, message);
    }
}
