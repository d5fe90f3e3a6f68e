//! Properties from header blocks (1.0 Core §3.2, SOAP Binding §3; submission §3.1).

use castile_databinding::{Any, AnyType};
use castile_xml::Limits;

use super::{EndpointReference, FaultKind, Problem, Properties, Refusal, RelatesTo, Version};
use crate::charge::Charge;
use crate::{AnyHeader, Envelope, Error, HeaderBlock, blocks};

/// What the header of a message says: as far as it could be read, with the first thing that is wrong.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) properties: Properties,
    pub(crate) error: Option<Error>,
}

/// Reads the properties of a message, whose envelope was read before off `text`. `None` if its header has no block of
/// WS-Addressing for us; one that mixes both versions speaks that of the first block.
pub(crate) fn read(envelope: &Envelope, text: &str, limits: Limits, charge: Charge<'_>) -> Result<Option<Read>, Error> {
    let is_ours = |block: &&HeaderBlock| block.is_for_recipient(envelope.version);
    let version = envelope.header.iter().filter(is_ours).find_map(|block| Version::of_namespace(&block.namespace));
    let Some(version) = version else { return Ok(None) };
    let found: Vec<AnyHeader> = blocks::read(envelope, text, limits, charge)?;
    let mut read = Read { properties: Properties { version, ..Properties::default() }, error: None };
    for (block, AnyHeader { block: any, .. }) in envelope.header.iter().zip(found).filter(|(block, _)| is_ours(block)) {
        if block.namespace == version.namespace() {
            let taken = read.properties.take(&any);
            if let (Err((kind, why)), None) = (taken, &read.error) {
                let problem = HEADERS.iter().find(|local| **local == block.local).map(|local| Problem::Header(local));
                read.error = Some(Error::of_addressing(block.bytes.start, Refusal { version, kind, problem }, why));
            }
        } else if version == Version::Recommendation && is_reference_parameter(&any) {
            read.properties.reference_parameters.push(any);
        }
    }
    Ok(Some(read))
}

/// The detail of a fault of SOAP 1.1, where it stands in the header (1.0 SOAP Binding §6.2): the XML in `FaultDetail`.
pub(crate) fn read_fault_detail(envelope: &Envelope, text: &str, limits: Limits, charge: Charge<'_>) -> Option<String> {
    let is_detail =
        |block: &HeaderBlock| block.local == "FaultDetail" && Version::of_namespace(&block.namespace).is_some();
    let index = envelope.header.iter().position(is_detail)?;
    let found: Vec<AnyHeader> = blocks::read(envelope, text, limits, charge).ok()?;
    let content: AnyType = found.get(index)?.block.read().ok()?;
    Some(content.elements().map(|any| any.xml().into_owned()).collect())
}

/// The blocks that properties are read from.
const HEADERS: [&str; 7] = ["Action", "MessageID", "RelatesTo", "To", "From", "ReplyTo", "FaultTo"];

/// How many reference parameters an address may have: every reply has them as header blocks.
const MOST_REFERENCE_PARAMETERS: usize = 64;

/// What is wrong with a block, and why in words.
type Wrong = (FaultKind, String);

impl Properties {
    /// Takes what a block says.
    fn take(&mut self, block: &Any) -> Result<(), Wrong> {
        let (version, local) = (self.version, block.name().local.as_str());
        match local {
            "Action" => once(&mut self.action, local, text(block)?),
            "MessageID" => once(&mut self.message_id, local, text(block)?),
            "To" => once(&mut self.to, local, text(block)?),
            "RelatesTo" => {
                let relationship = attribute(block, "", "RelationshipType");
                self.relates_to.push(RelatesTo { relationship, message_id: text(block)? });
                Ok(())
            }
            "From" => once(&mut self.from, local, endpoint(version, block)?),
            "ReplyTo" => once(&mut self.reply_to, local, endpoint(version, block)?),
            "FaultTo" => once(&mut self.fault_to, local, endpoint(version, block)?),
            // FaultDetail, and what others add.
            _ => Ok(()),
        }
    }
}

fn once<T>(slot: &mut Option<T>, local: &str, value: T) -> Result<(), Wrong> {
    if slot.is_some() {
        return Err((FaultKind::InvalidCardinality, format!("a second <{local}>, where one was expected")));
    }
    *slot = Some(value);
    Ok(())
}

/// The text of an element that has only text: a URI.
fn text(element: &Any) -> Result<String, Wrong> {
    let local = &element.name().local;
    let invalid =
        |found: &str| (FaultKind::InvalidAddressingHeader, format!("<{local}> {found}, where a URI was expected"));
    let content = content(element)?;
    if let Some(child) = content.elements().next() {
        return Err(invalid(&format!("holds <{}>", child.name().local)));
    }
    match content.text().trim() {
        "" => Err(invalid("is empty")),
        text => Ok(text.to_owned()),
    }
}

/// An endpoint reference (1.0 Core §2.2; submission §2.2). Its address is checked when something is to be sent there.
fn endpoint(version: Version, element: &Any) -> Result<EndpointReference, Wrong> {
    let content = content(element)?;
    let ours = || content.elements().filter(|child| *child.name().namespace == *version.namespace());
    let mut addresses = ours().filter(|child| child.name().local == "Address");
    let invalid = |found: &str| (FaultKind::InvalidEpr, format!("<{}> has {found}", element.name().local));
    let address = match (addresses.next(), addresses.next()) {
        (Some(address), None) => text(&address)?,
        (Some(_), Some(_)) => return Err(invalid("two addresses, where one was expected")),
        (None, _) => {
            let why = format!("<{}> has no <Address>", element.name().local);
            return Err((FaultKind::MissingAddressInEpr, why));
        }
    };
    let holders = ours().filter(|child| match child.name().local.as_str() {
        "ReferenceParameters" => true,
        "ReferenceProperties" => version == Version::Submission,
        _ => false,
    });
    let mut reference_parameters = Vec::new();
    for holder in holders {
        reference_parameters.extend(self::content(&holder)?.elements());
    }
    if reference_parameters.len() > MOST_REFERENCE_PARAMETERS {
        return Err(invalid(&format!(
            "more than {MOST_REFERENCE_PARAMETERS} reference parameters, which is the limit"
        )));
    }
    Ok(EndpointReference { address, reference_parameters })
}

fn content(element: &Any) -> Result<AnyType, Wrong> {
    element.read().map_err(|error| (FaultKind::InvalidAddressingHeader, error.to_string()))
}

/// Whether a block says that it was a parameter of the address that the message was sent to.
fn is_reference_parameter(block: &Any) -> bool {
    let namespace = Version::Recommendation.namespace();
    attribute(block, namespace, IS_REFERENCE_PARAMETER).is_some_and(|value| matches!(value.trim(), "1" | "true"))
}

/// The attribute that says so (1.0 SOAP Binding §3.4).
pub(super) const IS_REFERENCE_PARAMETER: &str = "IsReferenceParameter";

fn attribute(element: &Any, namespace: &str, local: &str) -> Option<String> {
    blocks::attribute(&element.xml(), namespace, local)
}
