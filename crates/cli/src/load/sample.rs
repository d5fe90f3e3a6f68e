//! Messages made of the schema, for those who have none.

use anyhow::Context;
use castile_soap::Version;
use castile_wsdl::Sampler;
use castile_xml::tree::Document;
use castile_xsd::ExpandedName;
use castile_xsd::encoded::Encoding;

use super::envelope;
use super::service::{Operation, Service, Shape};

/// From this depth on, what is optional is left out.
const DEPTH: usize = 4;

/// A payload of an operation: one of everything, a few levels deep, and what must be there below.
pub(super) fn payload(service: &Service, operation: &Operation) -> anyhow::Result<String> {
    let sampler = Sampler::new(service.definitions, DEPTH);
    let encoding = if service.version == Version::Soap12 { Encoding::Soap12 } else { Encoding::Soap11 };
    let made = match &operation.input {
        Shape::Elements(elements) => {
            elements.iter().map(|id| sampler.element(*id)).collect::<Result<_, _>>().map_err(anyhow::Error::new)
        }
        Shape::Content => Err(anyhow::anyhow!("its body is the content of a type, without an element")),
        Shape::Call { wrapper, parts, is_encoded: false } => sampler.call(wrapper, parts).map_err(anyhow::Error::new),
        Shape::Call { wrapper, parts, is_encoded: true } => {
            sampler.encoded_call(encoding, wrapper, parts).map_err(anyhow::Error::new)
        }
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
            let made = Sampler::new(service.definitions, DEPTH).element(id);
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
