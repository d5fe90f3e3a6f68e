//! Messages made from the schema, if none are given.

use anyhow::Context;
use castile_xml::tree::Document;
use castile_xsd::ExpandedName;

use super::service::{Operation, Service};
use crate::contracts::{envelope, shape};

/// Returns a sample payload of an operation. It contains every element once to a few levels, and only required elements below.
pub(super) fn payload(service: &Service, operation: &Operation) -> anyhow::Result<String> {
    let made = operation.input.sample(shape::sampler(service.definitions), service.version);
    made.with_context(|| format!("no sample can be made of {}, expected --message", operation.name))
}

/// Returns the header blocks of a request: the given ones, and samples of the other blocks in the contract.
pub(super) fn blocks(service: &Service, operation: &Operation, given: &[String]) -> anyhow::Result<Vec<String>> {
    let name = |block: &String| anyhow::Ok(envelope::name(Document::parse(block)?.root()));
    let names: Vec<ExpandedName> = given.iter().map(name).collect::<anyhow::Result<_>>()?;
    let mut blocks = given.to_vec();
    for &id in &operation.blocks {
        let name = &service.definitions.schema[id].name;
        if !names.contains(name) {
            let made = shape::sampler(service.definitions).element(id);
            blocks.push(made.with_context(|| {
                format!("no sample can be made of {name}, a header block of {}, expected --soap-header", operation.name)
            })?);
        }
    }
    Ok(blocks)
}
