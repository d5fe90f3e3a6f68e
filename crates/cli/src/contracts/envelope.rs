//! Writing envelopes around payloads, and reading envelopes.

use anyhow::{Context, bail};
use castile::{Any, AnyType};
use castile_soap::{FaultCode, Version};
use castile_xml::tree::{Document, Element, Position};
use castile_xsd::ExpandedName;

/// Returns the SOAP version of an envelope namespace.
pub(crate) fn is_envelope(namespace: &str) -> Option<Version> {
    Version::ALL.into_iter().find(|version| version.namespace() == namespace)
}

/// Returns a fault code by its name in either SOAP version.
pub(crate) fn fault_code(name: &str) -> Option<FaultCode> {
    let codes = [FaultCode::Sender, FaultCode::Receiver, FaultCode::MustUnderstand, FaultCode::VersionMismatch];
    codes.into_iter().find(|code| Version::ALL.iter().any(|version| version.fault_code(code) == name))
}

/// Writes an envelope with header blocks and a payload. Each must be well-formed XML with all its namespace declarations.
pub(crate) fn write(version: Version, blocks: &[String], payload: &str) -> String {
    let header = match blocks {
        [] => String::new(),
        blocks => format!("<soap:Header>{}</soap:Header>", blocks.concat()),
    };
    let namespace = version.namespace();
    format!("<soap:Envelope xmlns:soap=\"{namespace}\">{header}<soap:Body>{payload}</soap:Body></soap:Envelope>")
}

/// Writes an envelope with a fault that has this detail. The elements of `detail` must have all their namespace declarations.
pub(crate) fn of_fault(version: Version, detail: &str) -> String {
    let fault = match version == Version::Soap12 {
        false => format!(
            "<soap:Fault><faultcode>soap:Server</faultcode><faultstring>a sample</faultstring><detail>{detail}</detail></soap:Fault>"
        ),
        true => format!(
            "<soap:Fault><soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang=\"en\">a \
             sample</soap:Text></soap:Reason><soap:Detail>{detail}</soap:Detail></soap:Fault>"
        ),
    };
    write(version, &[], &fault)
}

/// An element that can be moved to another document.
#[derive(Debug)]
pub(crate) struct Fragment {
    /// The root element, as it is written in the document.
    pub(crate) text: String,
    /// Where the element begins in the document.
    pub(crate) position: Position,
}

/// Returns the root element of a document.
///
/// # Errors
/// The document isn't well-formed, or has a document type declaration.
pub(crate) fn fragment(bytes: &[u8], shown: &str) -> anyhow::Result<Fragment> {
    let text = castile_xml::decode(bytes, None).map_err(|error| anyhow::anyhow!("{shown}: {error}"))?;
    let document = Document::parse(&text).map_err(|error| {
        let position = error.position();
        anyhow::anyhow!("{shown}:{}:{}: {}", position.line, position.column, error.message())
    })?;
    if text[..document.root().offset()].contains("<!DOCTYPE") {
        bail!("{shown} has a document type declaration, which is not allowed in messages");
    }
    let root = document.root();
    Ok(Fragment { text: root.source().to_owned(), position: root.position() })
}

/// Returns the children of the body of an envelope, and the header blocks.
pub(crate) fn parts(document: &Document) -> anyhow::Result<(Vec<Element<'_>>, Vec<Element<'_>>)> {
    let envelope = document.root();
    let namespace = envelope.namespace();
    let child = |local: &str| envelope.elements().find(|element| element.is(namespace, local));
    let body = child("Body").context("the envelope has no Body")?;
    let blocks = child("Header").into_iter().flat_map(Element::elements).collect();
    Ok((body.elements().collect(), blocks))
}

/// Returns the header blocks of an envelope, each with declarations of its namespaces. Returns `None` if the element isn't an envelope.
pub(crate) fn blocks(element: &Any) -> anyhow::Result<Option<Vec<Any>>> {
    let is_of = |element: &Any, local: &str| {
        let name = element.name();
        name.local == local && is_envelope(&name.namespace).is_some()
    };
    if !is_of(element, "Envelope") {
        return Ok(None);
    }
    let envelope: AnyType = element.read().context("the envelope can't be read")?;
    let header = envelope.elements().find(|child| is_of(child, "Header"));
    let blocks = header.map(|header| anyhow::Ok(header.read::<AnyType>()?.elements().collect())).transpose();
    Ok(Some(blocks.context("the header can't be read")?.unwrap_or_default()))
}

/// Returns the elements in the detail of the fault in an envelope, each with declarations of its namespaces. Returns `None` if the
/// document isn't an envelope.
///
/// # Errors
/// The envelope has no fault with a detail.
pub(crate) fn fault_detail(text: &str) -> anyhow::Result<Option<Vec<Any>>> {
    let element = Any::parse(text)?;
    let name = element.name();
    let version = (&*name.local == "Envelope").then(|| is_envelope(&name.namespace)).flatten();
    let Some(version) = version else { return Ok(None) };
    let child = |element: &Any, local: &str, namespace: &str| {
        let children = element.read::<AnyType>()?;
        let is_it = |child: &Any| &*child.name().local == local && &*child.name().namespace == namespace;
        anyhow::Ok(children.elements().find(is_it))
    };
    let body = child(&element, "Body", version.namespace())?.context("the envelope has no Body")?;
    let fault = child(&body, "Fault", version.namespace())?.context("the body of the envelope has no Fault")?;
    // In SOAP 1.1, the elements of a fault have no namespace.
    let detail = match version == Version::Soap12 {
        false => child(&fault, "detail", ""),
        true => child(&fault, "Detail", version.namespace()),
    };
    let detail = detail?.context("the fault in the envelope has no detail")?;
    Ok(Some(detail.read::<AnyType>()?.elements().collect()))
}

/// Replaces the header of an envelope by white space, so that all lines and columns stay the same.
pub(crate) fn without_header(text: &str) -> anyhow::Result<String> {
    let document = Document::parse(text)?;
    let envelope = document.root();
    let mut text = text.to_owned();
    if let Some(header) = envelope.elements().find(|element| element.is(envelope.namespace(), "Header")) {
        let (start, header) = (header.offset(), header.source());
        let blank: String = header.chars().map(|c| if matches!(c, '\r' | '\n') { c } else { ' ' }).collect();
        text.replace_range(start..start + header.len(), &blank);
    }
    Ok(text)
}

/// Returns the name of an element.
pub(crate) fn name(element: Element<'_>) -> ExpandedName {
    ExpandedName::new(element.namespace(), element.local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_codes_have_a_name_in_each_version() {
        let named = |name: &str| fault_code(name).map(|code| Version::Soap12.fault_code(&code));
        for (name, expected) in
            [("Client", "Sender"), ("Server", "Receiver"), ("Sender", "Sender"), ("Receiver", "Receiver")]
        {
            assert_eq!(named(name), Some(expected), "{name}");
        }
        assert_eq!(named("MustUnderstand"), Some("MustUnderstand"));
        assert_eq!(named("Unknown"), None);
    }

    #[test]
    fn the_detail_of_a_fault_is_found() {
        for version in Version::ALL {
            let text = of_fault(version, "<f:a xmlns:f='urn:f'><f:b>{{c}}</f:b></f:a>");
            let found = fault_detail(&text).unwrap().unwrap();
            assert_eq!(found[0].xml(), "<f:a xmlns:f='urn:f'><f:b>{{c}}</f:b></f:a>");
            let error = fault_detail(&write(version, &[], "<a/>")).unwrap_err().to_string();
            assert_eq!(error, "the body of the envelope has no Fault");
        }
        assert!(fault_detail("<Envelope/>").unwrap().is_none());
    }

    #[test]
    fn written_payloads_are_found_again() {
        let header = fragment(b"<?xml version='1.0'?>\n<!-- a --><h xmlns='urn:h'/>", "h.xml").unwrap();
        assert_eq!((header.position.line, header.position.column), (2, 11));
        let header = header.text;
        assert_eq!(header, "<h xmlns='urn:h'/>");
        for version in Version::ALL {
            let text = write(version, std::slice::from_ref(&header), "<p/>");
            let document = Document::parse(&text).unwrap();
            assert_eq!(is_envelope(document.root().namespace()), Some(version));
            let (body, blocks) = parts(&document).unwrap();
            assert_eq!((name(body[0]), name(blocks[0])), (ExpandedName::new("", "p"), ExpandedName::new("urn:h", "h")));
        }
        assert!(fragment(b"<!DOCTYPE a><a/>", "a").unwrap_err().to_string().contains("document type"));
        assert!(fragment(b"<a>\n<b></a>", "a").unwrap_err().to_string().starts_with("a:2:"));
    }
}
