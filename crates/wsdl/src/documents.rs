//! Loads the documents of a contract: a WSDL document, those that it imports (WSDL 1.1 §2.1.1), and their schemas
//! (§2.2).

use std::collections::HashSet;

use castile_xml::tree::Element;
use castile_xsd::{Diagnostics, FileId, Loader, Location, Opened, Reference, Request, XSD_NAMESPACE};

use crate::extensions::{WSDL, wsdl_children};

/// Opens the document and those that it imports, in that order, and passes their schemas to the loader. The document
/// may also be a schema.
pub(crate) fn load(uri: &str, loader: &mut Loader<'_>) -> Vec<Opened> {
    let mut documents = Vec::new();
    let mut seen: HashSet<FileId> = HashSet::new();
    let mut queue: Vec<Opened> = loader.open(uri, None).into_iter().collect();
    if let Some(opened) = queue.first().filter(|opened| opened.document.root().is(XSD_NAMESPACE, "schema")) {
        let root = opened.document.root().id();
        loader.schema(opened, root);
        return queue;
    }
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
        "http://www.w3.org/ns/wsdl" => "this is WSDL 2.0, expected WSDL 1.1".to_owned(),
        _ => format!("expected <definitions> of namespace {WSDL:?}"),
    };
    diagnostics.error(Location::of(opened.file, root), message).with_note(note);
}

/// Follows an `<import>` (§2.1.1) of a WSDL document or, as is common, of a schema document.
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
        let note = loader.where_it_may_be(&request);
        loader.diagnostics.error(place, message).with_note(note);
        return;
    };
    let by = Reference::Location(location.to_owned());
    let Some(opened) = loader.open_import(&uri, from.file, by, place) else { return };
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

/// Loads `<types>` (§2.2), which has any number of schemas.
fn types(element: Element<'_>, opened: &Opened, loader: &mut Loader<'_>) {
    for child in element.elements() {
        match (child.namespace(), child.local()) {
            (XSD_NAMESPACE, "schema") => loader.schema(opened, child.id()),
            // An import directly in `<types>`, not in a schema, is not allowed but understood by all toolkits.
            (XSD_NAMESPACE, "import") => {
                let place = Location::of(opened.file, child);
                loader.diagnostics.warning(place, "<import> is in <types>, expected it in a <schema>");
                let namespace = child.attribute("namespace").unwrap_or_default().trim();
                loader.import(opened, namespace, child.attribute("schemaLocation"), place);
            }
            (WSDL, "documentation") => {}
            (namespace, local) => {
                let place = Location::of(opened.file, child);
                let message = format!("<types> has <{local}> of namespace {namespace:?}, which is not an XML Schema");
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

/// Loads the schemas of SOAP's encoding if parts refer to its types, because contracts seldom import them.
fn need(message: Element<'_>, loader: &mut Loader<'_>) {
    for part in wsdl_children(message) {
        let reference = part.attribute("type").or_else(|| part.attribute("element"));
        if let Some(Ok((namespace, _))) = reference.map(|value| part.resolve_qname(value)) {
            loader.need(namespace);
        }
    }
}
