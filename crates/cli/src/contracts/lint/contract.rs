//! The documents of a contract as written. Rules need details that the service model doesn't have.

use std::collections::HashMap;

use castile_wsdl::Definitions;
use castile_xml::tree::{Document, Element};
use castile_xsd::{FileId, Reference, XSD_NAMESPACE};

pub(super) const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
pub(super) const SOAP11: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
pub(super) const SOAP12: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
pub(super) const HTTP: &str = "http://schemas.xmlsoap.org/wsdl/http/";
pub(super) const MIME: &str = "http://schemas.xmlsoap.org/wsdl/mime/";
pub(super) const SOAP_ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";

/// An expanded name.
pub(super) type Name = (String, String);

/// The documents of a contract.
pub(super) struct Documents {
    /// The documents, each with its number among the sources.
    all: Vec<(FileId, Document)>,
    index: HashMap<FileId, usize>,
}

impl Documents {
    pub(super) fn of(definitions: &Definitions) -> Self {
        let sources = &definitions.sources;
        // Built-in documents aren't part of the contract. Unreadable ones were reported before.
        let own = sources.files().filter(|file| !sources.name(*file).starts_with("castile:"));
        let all: Vec<_> = own.filter_map(|file| Some((file, Document::parse(sources.text(file)).ok()?))).collect();
        let index = all.iter().map(|(file, _)| *file).zip(0..).collect();
        Self { all, index }
    }

    /// Returns the root elements of the WSDL documents.
    pub(super) fn definitions(&self) -> impl Iterator<Item = (FileId, Element<'_>)> {
        self.roots().filter(|(_, root)| root.is(WSDL, "definitions"))
    }

    /// Returns the root elements of all documents.
    pub(super) fn roots(&self) -> impl Iterator<Item = (FileId, Element<'_>)> {
        self.all.iter().map(|(file, document)| (*file, document.root()))
    }

    /// Returns the schemas: those in `wsdl:types` and those that are documents.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (FileId, Element<'_>)> {
        self.roots().flat_map(|(file, root)| {
            let own = root.is(XSD_NAMESPACE, "schema").then_some(root);
            let types = wsdl_children(root, "types").flat_map(Element::elements);
            own.into_iter().chain(types.filter(|one| one.is(XSD_NAMESPACE, "schema"))).map(move |one| (file, one))
        })
    }

    /// Returns the root elements of the documents that `file` imports, by their locations.
    pub(super) fn imported(&self, definitions: &Definitions, file: FileId) -> HashMap<String, Element<'_>> {
        let root = |file: FileId| Some(self.all.get(*self.index.get(&file)?)?.1.root());
        let imports = definitions.sources.imports(file).filter_map(|(reference, target)| match reference {
            Reference::Location(location) => Some((location.clone(), root(target)?)),
            Reference::Namespace(_) => None,
        });
        imports.collect()
    }
}

/// Returns the children in the WSDL namespace with this local name.
pub(super) fn wsdl_children<'d>(element: Element<'d>, local: &str) -> impl Iterator<Item = Element<'d>> {
    element.elements().filter(move |child| child.is(WSDL, local))
}

/// Returns an element and all its descendants, except those below an element for which `ends` holds.
pub(super) fn within<'d>(
    element: Element<'d>,
    ends: impl Fn(Element<'d>) -> bool,
) -> impl Iterator<Item = Element<'d>> {
    let mut open = vec![element];
    std::iter::from_fn(move || {
        let next = open.pop()?;
        if !ends(next) {
            let first = open.len();
            open.extend(next.elements());
            open[first..].reverse();
        }
        Some(next)
    })
}

/// Returns the name that an attribute without a namespace refers to. An invalid name was reported before.
pub(super) fn refers(element: Element<'_>, attribute: &str) -> Option<Name> {
    let (namespace, local) = element.resolve_qname(element.attribute(attribute)?).ok()?;
    Some((namespace.to_owned(), local.to_owned()))
}

/// Returns the expanded name of a child of `definitions`.
pub(super) fn name_in(root: Element<'_>, element: Element<'_>) -> Name {
    let target = root.attribute("targetNamespace").unwrap_or_default().trim().to_owned();
    (target, named(element).to_owned())
}

/// Returns the `name` attribute.
pub(super) fn named(element: Element<'_>) -> &str {
    element.attribute("name").unwrap_or_default().trim()
}

/// Returns whether the element is in the SOAP 1.1 or 1.2 binding namespace.
pub(super) fn is_soap(element: Element<'_>) -> bool {
    matches!(element.namespace(), SOAP11 | SOAP12)
}

/// Returns whether a URI is absolute, which means that it has a scheme.
pub(super) fn is_absolute(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Messages, and port types with their operations.
pub(super) struct Parts<'d> {
    pub(super) messages: HashMap<Name, Vec<Part<'d>>>,
    pub(super) port_types: HashMap<Name, Vec<Element<'d>>>,
}

/// A part of a message.
#[derive(Clone)]
pub(super) struct Part<'d> {
    pub(super) name: &'d str,
    pub(super) element: Option<Name>,
    pub(super) has_type: bool,
}

impl<'d> Parts<'d> {
    pub(super) fn of(documents: &'d Documents) -> Self {
        let mut parts = Self { messages: HashMap::new(), port_types: HashMap::new() };
        for (_, root) in documents.definitions() {
            for message in wsdl_children(root, "message") {
                let of_message = wsdl_children(message, "part").map(|part| Part {
                    name: named(part),
                    element: refers(part, "element"),
                    has_type: part.attribute("type").is_some(),
                });
                parts.messages.entry(name_in(root, message)).or_insert_with(|| of_message.collect());
            }
            for port_type in wsdl_children(root, "portType") {
                let operations = wsdl_children(port_type, "operation");
                parts.port_types.entry(name_in(root, port_type)).or_insert_with(|| operations.collect());
            }
        }
        parts
    }

    /// Returns the parts of the message that an element refers to.
    pub(super) fn message(&self, element: Element<'_>) -> Option<&[Part<'d>]> {
        self.messages.get(&refers(element, "message")?).map(Vec::as_slice)
    }
}
