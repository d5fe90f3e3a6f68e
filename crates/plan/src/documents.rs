//! The documents of a contract as a server stores and serves them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use castile_xml::tree::{self, Element};
use castile_xsd::{FileId, Reference, Sources, XSD_NAMESPACE};

const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
/// Namespaces of SOAP encoding. Clients that use SOAP encoding know its types, and might mistake the types in a
/// document for different ones.
const ENCODINGS: [&str; 2] = ["http://schemas.xmlsoap.org/soap/encoding/", "http://www.w3.org/2003/05/soap-encoding"];

/// A document of a contract, which a server serves from a file beside its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name of the file: `orders.wsdl` for `orders.wsdl.xml`, `orders.1.xsd` for an imported schema.
    pub file: String,
    /// The query of the URL that clients request it by: `wsdl`, `xsd=1`.
    pub query: String,
    /// The text, converted to UTF-8. References to imported documents are replaced by the new file names.
    pub text: String,
    /// The locations of imported or included documents, and the query for each.
    pub imports: Vec<(String, String)>,
}

/// A document with its new file name.
struct NamedDocument {
    id: FileId,
    /// `None` if the document is not well-formed.
    tree: Option<tree::Document>,
    file: String,
    query: String,
}

/// Returns the WSDL document and all documents that it imports.
///
/// They include the library's built-in schemas, because the contract may only have an outdated location or none for
/// them, and clients may not know them.
pub fn documents(sources: &Sources, stem: &str) -> Vec<Document> {
    let Some(first) = sources.first() else { return Vec::new() };
    let parsed = |file: FileId| tree::Document::parse(sources.text(file)).ok();
    let mut all =
        vec![NamedDocument { id: first, tree: parsed(first), file: format!("{stem}.wsdl"), query: "wsdl".to_owned() }];
    let mut numbers = HashMap::from([(first, 0)]);
    let (mut schemas, mut contracts) = (0, 0);
    let mut next = 0;
    while let Some(kept) = all.get(next) {
        let imported = imports(sources, kept.id).filter(|(_, to)| !numbers.contains_key(to));
        let mut found: Vec<_> = imported.map(|(by, to)| (sort_key(by), to, parsed(to))).collect();
        // In this order the new names sort like the old ones. Reading the new files again gives the same names.
        found.sort_by_key(|(place, _, tree)| (!is_schema(tree.as_ref()), *place));
        for (_, id, tree) in found {
            if numbers.contains_key(&id) {
                continue;
            }
            let (kind, count) = if is_schema(tree.as_ref()) { ("xsd", &mut schemas) } else { ("wsdl", &mut contracts) };
            *count += 1;
            numbers.insert(id, all.len());
            all.push(NamedDocument {
                id,
                tree,
                file: format!("{stem}.{count}.{kind}"),
                query: format!("{kind}={count}"),
            });
        }
        next += 1;
    }
    all.iter().map(|kept| document(kept, sources, |to| Some(&all[*numbers.get(&to)?]))).collect()
}

/// Returns the imports and includes of a document, except SOAP encoding without a location.
fn imports(sources: &Sources, file: FileId) -> impl Iterator<Item = (&Reference, FileId)> {
    let is_known = |by: &Reference| matches!(by, Reference::Namespace(name) if ENCODINGS.contains(&name.as_str()));
    sources.imports(file).filter(move |(by, _)| !is_known(by))
}

/// Sorts short locations first, so that `orders.2.xsd` precedes `orders.10.xsd`.
fn sort_key(by: &Reference) -> (bool, usize, &str) {
    match by {
        Reference::Location(location) => (false, location.len(), location),
        Reference::Namespace(namespace) => (true, 0, namespace),
    }
}

fn is_schema(tree: Option<&tree::Document>) -> bool {
    tree.is_some_and(|document| document.root().namespace() == XSD_NAMESPACE)
}

/// Returns a document with its references replaced by the new file names.
fn document<'k>(
    kept: &NamedDocument,
    sources: &Sources,
    kept_as: impl Fn(FileId) -> Option<&'k NamedDocument>,
) -> Document {
    let text = sources.text(kept.id);
    let named: BTreeMap<&Reference, &NamedDocument> =
        imports(sources, kept.id).filter_map(|(by, to)| Some((by, kept_as(to)?))).collect();
    let mut written: BTreeMap<String, String> = BTreeMap::new();
    let mut edits: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for element in kept.tree.iter().flat_map(|tree| references(tree.root())) {
        let Some((attribute, by)) = reference(element) else { continue };
        let Some(to) = named.get(&by) else { continue };
        let location = as_uri(&to.file);
        match (edit(text, element, attribute, &location), by) {
            (Some((place, by)), _) => {
                edits.insert(place.start, (place.end, by));
                written.insert(location, to.query.clone());
            }
            // A reference in an entity is not changed.
            (None, Reference::Location(before)) => drop(written.insert(before, to.query.clone())),
            (None, Reference::Namespace(_)) => {}
        }
    }
    let mut rewritten = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, (end, by)) in edits {
        rewritten.push_str(text.get(copied..start).unwrap_or_default());
        rewritten.push_str(&by);
        copied = end;
    }
    rewritten.push_str(&text[copied..]);
    Document {
        file: kept.file.clone(),
        query: kept.query.clone(),
        text: in_utf8(&rewritten),
        imports: written.into_iter().collect(),
    }
}

/// Returns the elements that may refer to other documents: in a schema, or in a WSDL document and its schemas.
fn references(root: Element<'_>) -> Vec<Element<'_>> {
    let types = root.elements().filter(|child| child.is(WSDL, "types")).flat_map(Element::elements);
    let schemas = types.filter(|child| child.is(XSD_NAMESPACE, "schema"));
    // Some imports are directly in `types`.
    let types = root.elements().filter(|child| child.is(WSDL, "types")).flat_map(Element::elements);
    root.elements().chain(types).chain(schemas.flat_map(Element::elements)).collect()
}

/// Returns the attribute that refers to another document, and the reference.
fn reference(element: Element<'_>) -> Option<(&'static str, Reference)> {
    let attribute = match (element.namespace(), element.local()) {
        (WSDL, "import") => "location",
        (XSD_NAMESPACE, "import" | "include" | "redefine") => "schemaLocation",
        _ => return None,
    };
    let location = element.attribute(attribute).unwrap_or_default().trim();
    let namespace = element.attribute("namespace").unwrap_or_default().trim();
    let by = match location.is_empty() {
        true => Reference::Namespace(namespace.to_owned()),
        false => Reference::Location(location.to_owned()),
    };
    Some((attribute, by))
}

/// Returns the range to replace, and its replacement, to give an attribute of an element this value. Returns `None` if
/// the element is not in the text itself, but in an entity.
fn edit(text: &str, element: Element<'_>, attribute: &str, value: &str) -> Option<(Range<usize>, String)> {
    let start = element.offset();
    if start < element.document().root().offset() {
        return None;
    }
    let Some(known) = element.find_attribute("", attribute) else {
        let tag = text.get(start..)?.strip_prefix('<')?;
        let name = &tag[..tag.find([' ', '\t', '\r', '\n', '/', '>'])?];
        let end = start + 1 + name.len();
        let is_it = name.rsplit(':').next() == Some(element.local());
        return is_it.then(|| (end..end, format!(" {attribute}=\"{value}\"")));
    };
    let start = known.offset();
    let behind = text.get(start..)?.strip_prefix(attribute)?;
    let quote = behind.find(['"', '\''])?;
    if behind[..quote].trim() != "=" {
        return None;
    }
    let open = start + attribute.len() + quote;
    let close = open + 1 + text[open + 1..].find(&text[open..=open])?;
    Some((open + 1..close, value.to_owned()))
}

/// Returns the name of a file as a relative URI, with all ambiguous characters escaped (RFC 3986 §2.1).
fn as_uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for c in file.chars() {
        match c.is_alphanumeric() || "-._~".contains(c) {
            true => uri.push(c),
            false => uri.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}"))),
        }
    }
    uri
}

/// Returns the text of a document for serving. It is UTF-8, so a declared encoding is changed to UTF-8.
fn in_utf8(text: &str) -> String {
    let declared = text.strip_prefix("<?xml").filter(|rest| rest.starts_with([' ', '\t', '\r', '\n']));
    match declared.and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_another_encoding_is_one() {
        let schema = format!("<schema xmlns='{XSD_NAMESPACE}' id='é'/>");
        for text in [
            schema.clone(),
            format!("<?xml version='1.0' encoding='ISO-8859-1'?>{schema}"),
            format!(
                "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE schema [<!ATTLIST schema b CDATA #IMPLIED>]>{schema}"
            ),
        ] {
            assert!(is_schema(tree::Document::parse(&text).ok().as_ref()), "{text}");
        }
        for text in ["<definitions/>", "<schema/>", "<"] {
            assert!(!is_schema(tree::Document::parse(text).ok().as_ref()), "{text}");
        }
    }

    /// The text of an entity may be used twice, so it is not changed.
    #[test]
    fn text_of_an_entity_is_unchanged() {
        let entities = "<!ENTITY both \"<x:import namespace='urn:a' schemaLocation='a.xsd'/><x:import namespace='urn:b'/>\">\
             <!ENTITY place 'a.xsd'><!ATTLIST x:include schemaLocation CDATA 'a.xsd'>";
        let text = format!(
            "<!DOCTYPE x:schema [{entities}]><x:schema xmlns:x='{XSD_NAMESPACE}'>&both;&both;<x:include/>\
             <x:import namespace='urn:a' schemaLocation='&place;'/></x:schema>"
        );
        let mut sources = Sources::default();
        let main = sources.add("main.xsd", text.as_str().into());
        let other = sources.add("a.xsd", format!("<x:schema xmlns:x='{XSD_NAMESPACE}'/>").as_str().into());
        sources.add_import(main, Reference::Location("a.xsd".to_owned()), other);
        sources.add_import(main, Reference::Namespace("urn:b".to_owned()), other);
        let documents = documents(&sources, "main");
        assert_eq!(documents[0].text, text.replace("'&place;'", "'main.1.xsd'"));
        let imports = ["a.xsd", "main.1.xsd"].map(|location| (location.to_owned(), "xsd=1".to_owned()));
        assert_eq!(documents[0].imports, imports);
    }

    #[test]
    fn served_documents_declare_their_encoding() {
        const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
        for (text, expected) in [
            ("<a/>", "<a/>".to_owned()),
            ("<?xml version='1.0'?><a/>", format!("{DECLARATION}<a/>")),
            (
                "<?xml\tversion='1.0' encoding='UTF-16' standalone='yes' ?>\n<?b?><a/>",
                format!("{DECLARATION}\n<?b?><a/>"),
            ),
            ("<?xml-stylesheet href='a'?><a/>", "<?xml-stylesheet href='a'?><a/>".to_owned()),
        ] {
            assert_eq!(in_utf8(text), expected);
        }
    }
}
