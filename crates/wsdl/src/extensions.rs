use castile_xml::tree::Element;
use castile_xsd::{Diagnostics, ExpandedName, FileId, Location, tidy};

use crate::addressing::is_addressing;
use crate::model::Extension;

/// WSDL 1.1 itself.
pub(crate) const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
/// The SOAP 1.1 binding (§3).
pub(crate) const SOAP11: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
/// The SOAP 1.2 binding.
pub(crate) const SOAP12: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
/// The HTTP binding (§4).
pub(crate) const HTTP: &str = "http://schemas.xmlsoap.org/wsdl/http/";
/// The MIME binding (§5).
pub(crate) const MIME: &str = "http://schemas.xmlsoap.org/wsdl/mime/";

/// True for SOAP 1.1 and 1.2: their elements are the same.
pub(crate) fn is_soap(namespace: &str) -> bool {
    namespace == SOAP11 || namespace == SOAP12
}

/// The children of `element` that are of WSDL, by document order.
pub(crate) fn wsdl_children<'d>(element: Element<'d>) -> impl Iterator<Item = Element<'d>> {
    element.elements().filter(|child| child.namespace() == WSDL)
}

/// The text of `<documentation>`, if there is any.
pub(crate) fn documentation(element: Element<'_>) -> Option<String> {
    let texts: Vec<String> = wsdl_children(element)
        .filter(|child| child.local() == "documentation")
        .map(|child| tidy(&child.text()))
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Keeps the children that `known` doesn't claim, and says so: a note, or an error where `wsdl:required` is.
pub(crate) fn extensions(
    element: Element<'_>,
    file: FileId,
    diagnostics: &mut Diagnostics,
    known: impl Fn(&str) -> bool,
) -> Vec<Extension> {
    let mut kept = Vec::new();
    for child in element.elements() {
        if child.namespace() == WSDL || known(child.namespace()) {
            continue;
        }
        let name = ExpandedName::new(child.namespace(), child.local());
        let required = child
            .find_attribute(WSDL, "required")
            .is_some_and(|attribute| matches!(attribute.value().trim(), "true" | "1"));
        let location = Location::of(file, child);
        let message = format!("extension {name} is kept as it stands");
        let is_known = child.local() == "UsingAddressing" && is_addressing(child.namespace());
        if is_known {
            // It is read where somebody asks for it.
        } else if required {
            diagnostics
                .warning(location, message)
                .with_note("its wsdl:required says that the service can't be used without it");
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

/// WS-Policy, 1.2 and 1.5: it stands in so many contracts that a note for each would hide the others.
pub(crate) fn is_policy(namespace: &str) -> bool {
    namespace == "http://www.w3.org/ns/ws-policy"
        || namespace.starts_with("http://schemas.xmlsoap.org/ws/2004/09/policy")
}
