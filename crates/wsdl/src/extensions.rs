//! The namespaces of contracts, and the elements of others, which are kept as extensions.

use castile_xml::tree::Element;
use castile_xsd::{Diagnostics, ExpandedName, FileId, Location, edits, tidy};

use crate::model::Extension;

/// The namespace of WSDL 1.1 itself.
pub(crate) const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
/// The namespace of the SOAP 1.1 binding (§3).
pub(crate) const SOAP11: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
/// The namespace of the SOAP 1.2 binding.
pub(crate) const SOAP12: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
/// The namespace of the HTTP binding (§4).
pub(crate) const HTTP: &str = "http://schemas.xmlsoap.org/wsdl/http/";
/// The namespace of the MIME binding (§5).
pub(crate) const MIME: &str = "http://schemas.xmlsoap.org/wsdl/mime/";

/// The namespaces of `Action`, `UsingAddressing` and `Addressing`: those of the recommendation, of its drafts, and of
/// the submission, which only has `Action`.
const ADDRESSING: [&str; 7] = [
    "http://www.w3.org/2007/05/addressing/metadata",
    "http://www.w3.org/2007/02/addressing/metadata",
    "http://www.w3.org/2006/05/addressing/wsdl",
    "http://www.w3.org/2006/02/addressing/wsdl",
    "http://www.w3.org/2005/02/addressing/wsdl",
    "http://www.w3.org/2005/08/addressing",
    "http://schemas.xmlsoap.org/ws/2004/08/addressing",
];

/// Namespaces that authors confuse with those above and that differ too much to be typing errors.
const TAKEN_FOR: [(&str, &str); 4] = [
    ("http://schemas.xmlsoap.org/soap", SOAP11),
    ("http://schemas.xmlsoap.org/soap/envelope", SOAP11),
    ("http://schemas.xmlsoap.org/wsdl/soap11", SOAP11),
    ("http://www.w3.org/2003/05/soap-envelope", SOAP12),
];
/// Maximum number of wrong characters in a typing error.
const SLIPS: usize = 2;

/// Returns the intended namespace for a misspelled one.
pub(crate) fn intended_namespace(namespace: &str) -> Option<&'static str> {
    let plain = |namespace: &str| {
        let namespace = namespace.trim().trim_end_matches('/').to_ascii_lowercase();
        namespace.strip_prefix("https://").map(|rest| format!("http://{rest}")).unwrap_or(namespace)
    };
    let known = [SOAP11, SOAP12, HTTP, MIME];
    if known.contains(&namespace) {
        return None;
    }
    let namespace = plain(namespace);
    if let Some((_, meant)) = TAKEN_FOR.iter().find(|(known, _)| *known == namespace) {
        return Some(meant);
    }
    let near = known.into_iter().filter_map(|known| Some((edits(&namespace, &plain(known), SLIPS)?, known)));
    near.min().map(|(_, known)| known)
}

/// Returns a hint for a misspelled namespace.
pub(crate) fn did_you_mean(meant: Option<&str>) -> Option<String> {
    meant.map(|meant| format!("did you mean {meant}?"))
}

/// Returns true for SOAP 1.1 and 1.2, which have the same elements.
pub(crate) fn is_soap(namespace: &str) -> bool {
    namespace == SOAP11 || namespace == SOAP12
}

/// Returns the children of `element` in the WSDL namespace, in document order.
pub(crate) fn wsdl_children<'d>(element: Element<'d>) -> impl Iterator<Item = Element<'d>> {
    element.elements().filter(|child| child.namespace() == WSDL)
}

/// Returns the text of `<documentation>`, if there is any.
pub(crate) fn documentation(element: Element<'_>) -> Option<String> {
    let texts: Vec<String> = wsdl_children(element)
        .filter(|child| child.local() == "documentation")
        .map(|child| tidy(&child.text()))
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns the element that declares the protocol of a `<binding>`.
pub(crate) fn of_protocol(element: Element<'_>) -> Option<Element<'_>> {
    let is_protocol = |child: &Element<'_>| child.local() == "binding" && !child.namespace().is_empty();
    element.elements().find(is_protocol).filter(|_| element.local() == "binding")
}

/// Returns the children that `known` doesn't accept, and reports each with a note. The report is a warning if the child
/// has `wsdl:required`, or if its namespace is a misspelled known one.
pub(crate) fn extensions(
    element: Element<'_>,
    file: FileId,
    diagnostics: &mut Diagnostics,
    known: impl Fn(&str) -> bool,
) -> Vec<Extension> {
    let mut kept = Vec::new();
    let protocol = of_protocol(element).map(Element::offset);
    for child in element.elements() {
        if child.namespace() == WSDL || known(child.namespace()) {
            continue;
        }
        let name = ExpandedName::new(child.namespace(), child.local());
        let required = child
            .find_attribute(WSDL, "required")
            .is_some_and(|attribute| matches!(attribute.value().trim(), "true" | "1"));
        let location = Location::of(file, child);
        let message = format!("extension {name} is not interpreted");
        let is_known = child.local() == "UsingAddressing" && is_addressing(child.namespace());
        if is_known || protocol == Some(child.offset()) {
            // Other code reads known extensions. An unknown protocol was reported before.
        } else if let Some(meant) = intended_namespace(child.namespace()) {
            let message = format!("elements of the unknown namespace {:?} are not read", child.namespace());
            diagnostics.warning(location, message).note = did_you_mean(Some(meant));
        } else if required {
            diagnostics
                .warning(location, message)
                .with_note("wsdl:required declares that the service can't be used without it");
        } else if !is_policy(child.namespace()) {
            diagnostics.note(location, message);
        }
        kept.push(Extension {
            name,
            required,
            source: child.source().to_owned(),
            namespaces: child
                .namespaces_in(child.source())
                .into_iter()
                .map(|(p, n)| (p.to_owned(), n.to_owned()))
                .collect(),
            location,
        });
    }
    kept
}

/// Returns true for the namespaces of WS-Addressing in contracts.
pub(crate) fn is_addressing(namespace: &str) -> bool {
    ADDRESSING.contains(&namespace)
}

/// Returns true for the namespaces of WS-Policy 1.2 and 1.5.
// Policies are in so many contracts that a note for each would hide the other notes.
#[must_use]
pub fn is_policy(namespace: &str) -> bool {
    namespace == "http://www.w3.org/ns/ws-policy"
        || namespace.starts_with("http://schemas.xmlsoap.org/ws/2004/09/policy")
}
