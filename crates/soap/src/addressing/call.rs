//! A client's request with WS-Addressing, and the check of its answer.

use castile_xml::Limits;

use super::read::read;
use super::{EndpointReference, Properties, Version, new_message_id, write};
use crate::charge::Charge;
use crate::description::Operation;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorKind};

/// The WS-Addressing properties of a client's request: action, message id, destination, and the anonymous reply address.
#[derive(Clone, Debug)]
pub struct Call {
    properties: Properties,
}

impl Call {
    /// Creates the properties of a request to the address `to`, with a new message id.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unwritable`] if the system has no random numbers.
    pub fn new(version: Version, operation: &Operation, to: &str) -> Result<Self, Error> {
        let message_id = new_message_id()
            .map_err(|error| Error::new(ErrorKind::Unwritable, format!("no random message ID can be made: {error}")))?;
        let reply_to = operation.response.as_ref().map(|_| EndpointReference::new(version.anonymous()));
        let properties = Properties {
            version,
            action: Some(operation.actions.request.to_owned()),
            message_id: Some(message_id),
            to: Some(to.to_owned()),
            reply_to,
            ..Properties::default()
        };
        Ok(Call { properties })
    }

    /// Returns the properties of the request.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Returns the header blocks of the request.
    pub(crate) fn blocks(&self) -> String {
        write::blocks(&self.properties)
    }

    /// Returns whether header blocks of this namespace are understood in the answer.
    pub(crate) fn understands(&self, namespace: &str) -> bool {
        namespace == self.properties.version.namespace()
    }

    /// Rejects an answer that relates to another request. An answer without a relation is accepted, because it arrived on the HTTP
    /// exchange of this request, and servers without WS-Addressing answer like this.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Addressing`] if the answer relates to another request or its header blocks are invalid.
    pub(crate) fn check(
        &self,
        envelope: &Envelope,
        text: &str,
        limits: Limits,
        charge: Charge<'_>,
    ) -> Result<(), Error> {
        let Some(read) = read(envelope, text, limits, charge)? else { return Ok(()) };
        if let Some(error) = read.error {
            return Err(error);
        }
        let Properties { version, relates_to, .. } = read.properties;
        let mut answered = relates_to.iter().filter(|one| version.is_reply(one.relationship.as_deref()));
        let id = self.properties.id();
        let Some(first) = answered.clone().next() else { return Ok(()) };
        if answered.any(|one| one.message_id == id) {
            return Ok(());
        }
        let offset = envelope.header.first().map_or(0, |block| block.bytes.start);
        let message = format!("the answer relates to {:?}, where {id:?} was expected", first.message_id);
        Err(Error::at(offset, ErrorKind::Addressing, message))
    }
}
