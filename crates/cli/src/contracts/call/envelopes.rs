//! Requests that are XML in a file.

use std::path::Path;

use anyhow::{Context, bail};
use castile::{Any, Raw, soap};
use castile_dynamic::Operation;

use super::Payload;
use super::files::text;
use crate::contracts::{WSSE, envelope};

/// What of an envelope is written anew.
#[derive(Clone, Copy)]
pub(super) struct Changes<'a> {
    /// The SOAP version of the request.
    pub(super) version: soap::Version,
    /// The option or the contract that adds header blocks.
    pub(super) adds: Option<&'a str>,
}

/// Reads a request from a file: an element, which is sent unchanged, or an envelope. An envelope is sent as it is, unless something has to be
/// changed in it; then its content is sent in a new one, with the header blocks that are returned.
pub(super) fn request(
    operation: &'static Operation,
    file: &Path,
    Changes { version, adds }: Changes<'_>,
) -> anyhow::Result<(Payload, Vec<Any>)> {
    let text = text(file)?;
    let any = parsed(&text, file)?;
    let Some(blocks) = envelope::blocks(&any)? else {
        return Ok((Payload::Xml(Raw::new(any.xml().into_owned())), Vec::new()));
    };
    let read = operation.request_from_xml(&envelope::without_header(&text)?);
    let value = read.with_context(|| format!("{} can't be called with {}", operation.name(), file.display()))?;
    let other = envelope::is_envelope(&any.name().namespace).filter(|own| *own != version);
    if other.is_none() && adds.is_none() {
        return Ok((Payload::Message(text.into()), Vec::new()));
    }
    if blocks.iter().any(|block| block.name().is(WSSE, "Security")) {
        let why = match (adds, other) {
            (Some(adds), _) => format!("{adds} would change it"),
            (None, Some(soap::Version::Soap12)) => "it has SOAP 1.2: expected --soap 1.2".to_owned(),
            (None, _) => "it has SOAP 1.1: expected --soap 1.1".to_owned(),
        };
        bail!("{} has a Security, so that it can only be sent as it is, and {why}", file.display());
    }
    Ok((Payload::Value(value), blocks))
}

/// Returns the root element of an XML file, without what surrounds it.
pub(super) fn element(file: &Path) -> anyhow::Result<String> {
    Ok(parsed(&text(file)?, file)?.xml().into_owned())
}

fn parsed(text: &str, file: &Path) -> anyhow::Result<Any> {
    Any::parse(text).with_context(|| format!("{} is not an XML element", file.display()))
}
