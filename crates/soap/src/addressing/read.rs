//! Reads properties from header blocks (1.0 Core §3.2, SOAP Binding §3; submission §3.1).

use std::borrow::Cow;

use castile_budget::Size;
use castile_databinding::{Any, AnyType, Decoder};
use castile_xml::{Limits, StartTag, Token};

use super::{EndpointReference, FaultKind, Problem, Properties, Refusal, RelatesTo, Version};
use crate::blocks;
use crate::charge::Charge;
use crate::client::MAX_DECLARATIONS_LENGTH;
use crate::envelope::{Envelope, HeaderBlock};
use crate::error::{Error, ErrorKind};

/// The properties of a message that could be read, and the first error.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) properties: Properties,
    pub(crate) error: Option<Error>,
}

/// Reads the properties of a message. The envelope was already read from `text`. Returns `None` if no WS-Addressing block is for
/// this node. If the blocks have both versions, the version of the first block is used.
pub(crate) fn read(envelope: &Envelope, text: &str, limits: Limits, charge: Charge<'_>) -> Result<Option<Read>, Error> {
    let is_ours = |block: &&HeaderBlock| block.is_for_recipient(envelope.version);
    let version = envelope.header.iter().filter(is_ours).find_map(|block| Version::of_namespace(&block.namespace));
    let Some(version) = version else { return Ok(None) };
    let mut decoder = blocks::decoder(envelope, text, limits, charge, false)?;
    let mut read = Read { properties: Properties { version, ..Properties::default() }, error: None };
    for header in envelope.header.iter().filter(is_ours) {
        match (Block { version, header, decoder: &mut decoder }).read(&mut read.properties) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Addressing => read.error = read.error.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(read))
}

/// Reads the content of `FaultDetail` from the header, where SOAP 1.1 has the details of WS-Addressing faults (1.0 SOAP Binding
/// §6.2).
pub(crate) fn read_fault_detail(envelope: &Envelope, text: &str, limits: Limits, charge: Charge<'_>) -> Option<String> {
    let is_detail =
        |block: &HeaderBlock| block.local == "FaultDetail" && Version::of_namespace(&block.namespace).is_some();
    let index = envelope.header.iter().position(is_detail)?;
    let header = blocks::Read { envelope, text, limits, charge, is_lenient: false };
    let content: AnyType = header.all(is_detail).ok()?.first()?.block.read().ok()?;
    let most = 2 * envelope.header.get(index)?.bytes.len() + MAX_DECLARATIONS_LENGTH;
    let mut detail = String::new();
    for any in content.elements() {
        detail.push_str(&any.xml());
        if detail.len() > most {
            return None;
        }
    }
    Some(detail)
}

/// The names of the header blocks with properties.
const HEADERS: [&str; 7] = ["Action", "MessageID", "RelatesTo", "To", "From", "ReplyTo", "FaultTo"];

/// The maximum number of reference parameters of an address. Each reply has them as header blocks.
const MAX_REFERENCE_PARAMETERS: usize = 64;

/// The maximum total length in bytes of reference parameters, with the namespace declarations that each of them uses. Copying the
/// declarations into every parameter can make them much longer.
const MAX_REFERENCE_PARAMETERS_LENGTH: usize = 64 << 10;

/// Reads a block directly from the message. The block may be large, and only its value is stored.
struct Block<'r, 'a> {
    version: Version,
    header: &'r HeaderBlock,
    decoder: &'r mut Decoder<'a>,
}

impl<'a> Block<'_, 'a> {
    /// Reads the block into `properties`.
    fn read(mut self, properties: &mut Properties) -> Result<(), Error> {
        let (version, local) = (self.version, self.header.local.as_str());
        let reader = self.decoder.reader();
        // The previous block may not be read to its end.
        while reader.depth() > BLOCK_DEPTH {
            reader.close_at(self.header.bytes.start);
        }
        reader.seek(self.header.bytes.start);
        let Token::StartTag(tag) = reader.next()? else { return Ok(()) };
        if self.header.namespace != version.namespace() {
            if version == Version::Recommendation && self.is_reference_parameter() {
                properties.reference_parameters.push(self.decoder.raw(tag)?);
            }
            return Ok(());
        }
        match local {
            "Action" => self.set_once(&mut properties.action, |block| block.text(local)),
            "MessageID" => self.set_once(&mut properties.message_id, |block| block.text(local)),
            "To" => self.set_once(&mut properties.to, |block| block.text(local)),
            "RelatesTo" => {
                let relationship = self.attribute("", "RelationshipType");
                properties.relates_to.push(RelatesTo { relationship, message_id: self.text(local)? });
                Ok(())
            }
            "From" => self.set_once(&mut properties.from, Self::endpoint),
            "ReplyTo" => self.set_once(&mut properties.reply_to, Self::endpoint),
            "FaultTo" => self.set_once(&mut properties.fault_to, Self::endpoint),
            // `FaultDetail`, and blocks of extensions.
            _ => Ok(()),
        }
    }

    fn set_once<T>(
        &mut self,
        slot: &mut Option<T>,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<(), Error> {
        let value = read(self)?;
        if slot.is_some() {
            let why = format!("a second <{}>, where one was expected", self.header.local);
            return Err(self.error(FaultKind::InvalidCardinality, why));
        }
        *slot = Some(value);
        Ok(())
    }

    /// Reads a URI from the element `local`, whose start tag was already read and which must contain only text.
    fn text(&mut self, local: &str) -> Result<String, Error> {
        let reader = self.decoder.reader();
        let inside = reader.depth();
        let mut text = Cow::from("");
        let mut found = None;
        while found.is_none() && reader.depth() >= inside {
            match reader.next()? {
                Token::StartTag(child) => found = Some(format!("holds <{}>", child.name.local())),
                Token::Text(piece) if text.is_empty() => text = piece,
                Token::Text(piece) => text.to_mut().push_str(&piece),
                _ => {}
            }
        }
        let found = match (found, text.trim()) {
            (None, "") => "is empty".to_owned(),
            (None, text) => return Ok(text.to_owned()),
            (Some(found), _) => found,
        };
        let why = format!("<{local}> {found}, where a URI was expected");
        Err(self.error(FaultKind::InvalidAddressingHeader, why))
    }

    /// Reads an endpoint reference (1.0 Core §2.2; submission §2.2). Its address is checked later, when a reply is sent to it.
    fn endpoint(&mut self) -> Result<EndpointReference, Error> {
        let inside = self.decoder.reader().depth();
        let (mut address, mut reference_parameters, mut length) = (None, Vec::new(), 0);
        while let Some(child) = self.next_child(inside)? {
            let reader = self.decoder.reader();
            let is_ours = reader.namespace(child.namespace) == self.version.namespace();
            match child.name.local() {
                "Address" if is_ours && address.is_some() => {
                    return Err(self.invalid("two addresses, where one was expected"));
                }
                "Address" if is_ours => address = Some(self.text("Address")?),
                "ReferenceParameters" if is_ours => self.add_parameters(&mut reference_parameters, &mut length)?,
                "ReferenceProperties" if is_ours && self.version == Version::Submission => {
                    self.add_parameters(&mut reference_parameters, &mut length)?;
                }
                _ => reader.skip_element()?,
            }
        }
        let Some(address) = address else {
            let why = format!("<{}> has no <Address>", self.header.local);
            return Err(self.error(FaultKind::MissingAddressInEpr, why));
        };
        Ok(EndpointReference { address, reference_parameters })
    }

    /// Adds the children of an element whose start tag was already read, within the limits. `length` is the total length so far.
    fn add_parameters(&mut self, parameters: &mut Vec<Any>, length: &mut usize) -> Result<(), Error> {
        let inside = self.decoder.reader().depth();
        while let Some(child) = self.next_child(inside)? {
            if parameters.len() == MAX_REFERENCE_PARAMETERS {
                let found = format!("more than {MAX_REFERENCE_PARAMETERS} reference parameters, which is the limit");
                return Err(self.invalid(&found));
            }
            let parameter = self.decoder.raw(child)?;
            *length += parameter.xml().len();
            if *length > MAX_REFERENCE_PARAMETERS_LENGTH {
                let most = Size(MAX_REFERENCE_PARAMETERS_LENGTH);
                return Err(self.invalid(&format!("reference parameters of more than {most}, which is the limit")));
            }
            parameters.push(parameter);
        }
        Ok(())
    }

    /// Returns the start tag of the next child of the element at this depth, or `None` at its end.
    fn next_child(&mut self, depth: usize) -> Result<Option<StartTag<'a>>, Error> {
        let reader = self.decoder.reader();
        while reader.depth() >= depth {
            if let Token::StartTag(child) = reader.next()? {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    /// Returns whether the block, whose start tag was already read, is marked as a reference parameter.
    fn is_reference_parameter(&mut self) -> bool {
        let namespace = Version::Recommendation.namespace();
        let value = self.attribute(namespace, IS_REFERENCE_PARAMETER);
        value.is_some_and(|value| matches!(value.trim(), "1" | "true"))
    }

    /// Returns an attribute of the start tag that was read last.
    fn attribute(&mut self, namespace: &str, local: &str) -> Option<String> {
        let mut attributes = self.decoder.reader().attributes();
        let found = attributes.find(|attribute| attribute.namespace == namespace && attribute.name.local() == local);
        found.map(|attribute| attribute.value.to_owned())
    }

    fn invalid(&self, found: &str) -> Error {
        self.error(FaultKind::InvalidEpr, format!("<{}> has {found}", self.header.local))
    }

    /// Creates the error of an invalid block, with an explanation.
    fn error(&self, kind: FaultKind, why: String) -> Error {
        let problem = HEADERS.iter().find(|local| **local == self.header.local).map(|local| Problem::Header(local));
        Error::of_addressing(self.header.bytes.start, Refusal { version: self.version, kind, problem }, why)
    }
}

/// The depth of header blocks, inside the envelope and the header.
const BLOCK_DEPTH: usize = 2;

/// The attribute that marks reference parameters (1.0 SOAP Binding §3.4).
pub(super) const IS_REFERENCE_PARAMETER: &str = "IsReferenceParameter";
