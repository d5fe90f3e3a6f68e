//! Messages made of the schema, for those who have none.

use anyhow::Context;
use castile_soap::Version;
use castile_wsdl::{Definitions, PartContent};
use castile_xml::escape;
use castile_xml::tree::Document;
use castile_xsd::encoded::Encoding;
use castile_xsd::sample::Samples;
use castile_xsd::{ElementId, ExpandedName};

use super::envelope;
use super::service::{Operation, Service, Shape};

/// From this depth on, what is optional is left out.
const DEPTH: usize = 4;

/// A payload of an operation: one of everything, a few levels deep, and what must be there below.
pub(super) fn payload(service: &Service, operation: &Operation) -> anyhow::Result<String> {
    let definitions = service.definitions;
    let made = match &operation.input {
        Shape::Elements(elements) => elements.iter().map(|id| element(definitions, *id)).collect(),
        Shape::Content => Err(anyhow::anyhow!("its body is the content of a type, without an element")),
        Shape::Call { wrapper, parts, is_encoded: false } => call(definitions, wrapper, parts),
        Shape::Call { wrapper, parts, is_encoded: true } => encoded(service, wrapper, parts),
    };
    made.with_context(|| format!("no sample can be made of {}: give it a --message", operation.name))
}

/// The header blocks of a request: those that were given, and those of the contract that were not.
pub(super) fn blocks(service: &Service, operation: &Operation, given: &[String]) -> anyhow::Result<Vec<String>> {
    let name = |block: &String| anyhow::Ok(envelope::name(Document::parse(block)?.root()));
    let names: Vec<ExpandedName> = given.iter().map(name).collect::<anyhow::Result<_>>()?;
    let mut blocks = given.to_vec();
    for &id in &operation.blocks {
        if !names.contains(&service.definitions.schema[id].name) {
            let made = element(service.definitions, id);
            blocks.push(made.with_context(|| {
                let name = &service.definitions.schema[id].name;
                format!(
                    "no sample can be made of {name}, a header block of {}: give it as --soap-header",
                    operation.name
                )
            })?);
        }
    }
    Ok(blocks)
}

fn element(definitions: &Definitions, id: ElementId) -> anyhow::Result<String> {
    first(Samples::new(&definitions.schema, id))
}

fn call(definitions: &Definitions, wrapper: &ExpandedName, parts: &[(String, PartContent)]) -> anyhow::Result<String> {
    let schema = &definitions.schema;
    let mut children = String::new();
    for (name, content) in parts {
        children += &match content {
            PartContent::Element(id) => element(definitions, *id)?,
            PartContent::Type(type_id) => {
                first(Samples::of_type(schema, ExpandedName::new("", name.as_str()), *type_id))?
            }
        };
    }
    let (namespace, local) = (attribute(wrapper.namespace()), wrapper.local());
    Ok(match namespace.is_empty() {
        true => format!("<{local}>{children}</{local}>"),
        false => format!("<m:{local} xmlns:m=\"{namespace}\">{children}</m:{local}>"),
    })
}

/// A call in SOAP encoding, without references.
fn encoded(service: &Service, wrapper: &ExpandedName, parts: &[(String, PartContent)]) -> anyhow::Result<String> {
    let schema = &service.definitions.schema;
    let encoding = if service.version == Version::Soap12 { Encoding::Soap12 } else { Encoding::Soap11 };
    let parts = parts.iter().map(|(name, content)| match content {
        PartContent::Type(type_id) => (name.clone(), *type_id),
        PartContent::Element(id) => (schema[*id].name.local().to_owned(), schema[*id].type_id),
    });
    first(Samples::of_call(schema, encoding, wrapper.clone(), parts))
}

fn first(samples: Samples<'_>) -> anyhow::Result<String> {
    Ok(samples.with_depth(DEPTH).with_plain_values().next().context("nothing could be made")??)
}

/// An attribute's value; what XML can't carry has not come through a contract, which is XML.
fn attribute(value: &str) -> String {
    let mut out = Vec::new();
    let _ = escape::push_attribute(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}
