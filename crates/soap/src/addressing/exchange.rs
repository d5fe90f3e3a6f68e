//! A request with WS-Addressing, and its effect on the reply (1.0 Core §3.4, SOAP Binding §5 and §6).

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;

use super::read::{Read, read};
use super::{
    Declared, EndpointReference, FaultKind, Policy, Problem, Properties, Refusal, RelatesTo, Replies, Responses, Usage,
    Version, new_message_id, write,
};
use crate::blocks;
use crate::charge::Charge;
use crate::description::{Description, Operation};
use crate::envelope::{Envelope, quoted};
use crate::error::Error;
use crate::fault::{Part, View};
use crate::options::Options;
use crate::reply_message::{Pending, ReplyMessage};

/// The WS-Addressing properties of a request, until the reply is sent.
pub(crate) struct Exchange {
    properties: Properties,
    /// The first error in the header blocks.
    error: Option<Error>,
    replies: Option<Arc<dyn Replies>>,
}

/// Where a reply is sent.
enum Destination<'a> {
    /// The connection of the request.
    Back,
    Nowhere,
    Elsewhere(&'a str),
}

impl Exchange {
    /// Reads the properties of a request. The envelope was already read from `text`. Returns `None` if the request has none, or if
    /// WS-Addressing is ignored.
    ///
    /// # Errors
    /// Returns an error if the header can't be read.
    pub(crate) fn open(
        envelope: &Envelope,
        text: &str,
        options: &Options,
        charge: Charge<'_>,
    ) -> Result<Option<Arc<Self>>, Error> {
        let Policy { usage, replies } = &options.addressing;
        if envelope.header.is_empty() || *usage == Usage::Ignored {
            return Ok(None);
        }
        let read = read(envelope, text, options.limits, charge)?;
        Ok(read.map(|Read { properties, error }| Arc::new(Exchange { properties, error, replies: replies.clone() })))
    }

    /// Creates an exchange from properties, for a request without replies.
    pub(crate) fn of(properties: Properties) -> Self {
        Exchange { properties, error: None, replies: None }
    }

    /// Returns the action, if there is one.
    pub(crate) fn action(&self) -> Option<&str> {
        self.properties.action.as_deref()
    }

    /// Returns the properties.
    pub(crate) fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Returns whether header blocks of this namespace are understood.
    pub(crate) fn understands(&self, namespace: &str) -> bool {
        namespace == self.properties.version.namespace()
    }

    /// Rejects a request whose properties are invalid or don't fit its operation.
    fn check(
        &self,
        envelope: &Envelope,
        soap_action: &str,
        operation: Option<&Operation>,
        operations: &[Operation],
        declared: Declared,
    ) -> Result<(), Error> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let Some(action) = &self.properties.action else {
            return Err(self.missing(envelope, "Action"));
        };
        // Contracts may have two actions for one operation.
        let is_other = || !operation.is_some_and(|operation| operation.has_action(soap_action));
        if !soap_action.is_empty() && soap_action != action && is_other() {
            let why = format!(
                "the action is {}, where {} of the transport was expected",
                quoted(action),
                quoted(soap_action)
            );
            return Err(self.refuse(envelope, FaultKind::ActionMismatch, "Action", why));
        }
        let Some(operation) = operation else {
            if operations.iter().any(|operation| operation.has_action(action)) {
                // The payload is wrong, and its own error is reported.
                return Ok(());
            }
            return Err(self.unknown_action(envelope, action, soap_action, operations));
        };
        if !operation.has_action(action) {
            return Err(self.unknown_action(envelope, action, soap_action, std::slice::from_ref(operation)));
        }
        if operation.response.is_none() {
            return Ok(());
        }
        if self.properties.message_id.is_none() {
            return Err(self.missing(envelope, "MessageID"));
        }
        self.check_endpoints(envelope, declared.responses)
    }

    /// Rejects reply addresses to which no reply can be sent.
    fn check_endpoints(&self, envelope: &Envelope, responses: Responses) -> Result<(), Error> {
        let Properties { reply_to, fault_to, .. } = &self.properties;
        for (local, endpoint) in [("ReplyTo", reply_to), ("FaultTo", fault_to)] {
            // A missing `ReplyTo` is the anonymous address, and a missing `FaultTo` is the address in `ReplyTo`.
            if endpoint.is_none() && local == "FaultTo" {
                continue;
            }
            let address = match (self.destination(endpoint.as_ref()), responses) {
                (Destination::Back, Responses::NonAnonymous) => {
                    let why = format!("<{local}> is the anonymous address, where a different one was expected");
                    return Err(self.refuse(envelope, FaultKind::OnlyNonAnonymousAddressSupported, local, why));
                }
                (Destination::Back | Destination::Nowhere, _) => continue,
                (Destination::Elsewhere(address), _) => address,
            };
            if !is_absolute(address) {
                let why = format!("the address {} of <{local}> is not an absolute URI", quoted(address));
                return Err(self.refuse(envelope, FaultKind::InvalidAddress, local, why));
            }
            if responses == Responses::Anonymous || !self.allows(address) {
                let anonymous = self.properties.version.anonymous();
                let why = format!("<{local}> is {}, where {anonymous:?} was expected", quoted(address));
                return Err(self.refuse(envelope, FaultKind::OnlyAnonymousAddressSupported, local, why));
            }
        }
        Ok(())
    }

    fn destination<'a>(&self, endpoint: Option<&'a EndpointReference>) -> Destination<'a> {
        let version = self.properties.version;
        match endpoint.map(|endpoint| endpoint.address.as_str()) {
            None => Destination::Back,
            Some(address) if address == version.anonymous() => Destination::Back,
            Some(address) if version.none() == Some(address) => Destination::Nowhere,
            Some(address) => Destination::Elsewhere(address),
        }
    }

    fn allows(&self, address: &str) -> bool {
        self.replies.as_ref().is_some_and(|replies| replies.allows(address))
    }

    fn missing(&self, envelope: &Envelope, local: &'static str) -> Error {
        missing(self.properties.version, envelope, local)
    }

    fn unknown_action(&self, envelope: &Envelope, action: &str, soap_action: &str, expected: &[Operation]) -> Error {
        let problem = Problem::Action { action: action.to_owned(), soap_action: soap_action.to_owned() };
        let expected = match expected {
            [one] => format!("{:?} was expected", one.actions.request),
            _ => "that of an operation was expected".to_owned(),
        };
        let why = format!("the action is {}, where {expected}", quoted(action));
        let kind = FaultKind::ActionNotSupported;
        self.error(envelope, "Action", Refusal { version: self.properties.version, kind, problem: Some(problem) }, why)
    }

    fn refuse(&self, envelope: &Envelope, kind: FaultKind, local: &'static str, why: String) -> Error {
        let refusal = Refusal { version: self.properties.version, kind, problem: Some(Problem::Header(local)) };
        self.error(envelope, local, refusal, why)
    }

    /// Creates an error at the first block with this name.
    fn error(&self, envelope: &Envelope, local: &str, refusal: Refusal, why: String) -> Error {
        let namespace = refusal.version.namespace();
        let block = envelope.header.iter().find(|block| block.local == local && block.namespace == namespace);
        // A missing block is reported at the first block of the header.
        let block = block.or(envelope.header.first());
        Error::of_addressing(block.map_or(0, |block| block.bytes.start), refusal, why)
    }

    // ---- replies ----

    /// Returns the header blocks and the action of a response.
    pub(crate) fn of_response(&self, operation: &Operation) -> (String, String) {
        self.blocks(operation.actions.response, false)
    }

    /// Returns the header blocks and the action of a fault. Each declared detail has its own action.
    pub(crate) fn of_fault(&self, operation: Option<&Operation>, fault: View<'_>) -> (String, String) {
        let declared = match (fault.detail, operation) {
            (Part::Declared(detail), Some(operation)) => operation.actions.faults.get(detail.index()).copied(),
            _ => None,
        };
        let version = self.properties.version;
        self.blocks(declared.unwrap_or_else(|| version.fault_action(fault.is_of_addressing())), true)
    }

    fn blocks(&self, action: &str, is_fault: bool) -> (String, String) {
        let version = self.properties.version;
        let endpoint = self.endpoint(is_fault);
        let reply = Properties {
            version,
            action: Some(action.to_owned()),
            // A reply without a message id is valid too.
            message_id: new_message_id().ok(),
            relates_to: vec![RelatesTo { relationship: None, message_id: self.properties.id().to_owned() }],
            to: Some(endpoint.map_or(version.anonymous(), |endpoint| &endpoint.address).to_owned()),
            reference_parameters: endpoint.map(|endpoint| endpoint.reference_parameters.clone()).unwrap_or_default(),
            ..Properties::default()
        };
        (write::blocks(&reply), action.to_owned())
    }

    /// Sends a reply to its address. A reply for the connection of the request is returned unchanged.
    async fn deliver(&self, reply: ReplyMessage) -> ReplyMessage {
        if reply.message.bytes().is_some_and(|message| message.is_empty()) {
            return reply;
        }
        match self.destination(self.endpoint(reply.is_fault())) {
            Destination::Back => reply,
            Destination::Nowhere => ReplyMessage::empty(reply.version),
            Destination::Elsewhere(address) => match &self.replies {
                Some(replies) => {
                    let (version, action) = (reply.version, reply.action.clone());
                    let sent = AssertUnwindSafe(replies.send(address.to_owned(), action, reply)).catch_unwind();
                    // A panic there doesn't affect this request. The panic hook has already shown its message.
                    let _ = sent.await;
                    ReplyMessage::empty(version)
                }
                None => reply,
            },
        }
    }

    /// Returns where a reply is sent, if it can be sent there. Other replies are sent on the connection, and so are replies to a
    /// request with invalid header blocks.
    fn endpoint(&self, is_fault: bool) -> Option<&EndpointReference> {
        let endpoint = self.properties.endpoint(is_fault).filter(|_| self.error.is_none());
        endpoint.filter(|endpoint| match self.destination(Some(endpoint)) {
            Destination::Back | Destination::Nowhere => true,
            Destination::Elsewhere(address) => is_absolute(address) && self.allows(address),
        })
    }

    /// Sends the reply on the connection, whatever address the request has.
    pub(crate) fn reply_on_connection(&mut self) {
        (self.properties.reply_to, self.properties.fault_to) = (None, None);
    }
}

/// Sends a reply to the address in the request, when it is ready.
pub(crate) fn delivered(exchange: Option<Arc<Exchange>>, reply: Pending) -> Pending {
    match exchange {
        None => reply,
        Some(exchange) => async move { exchange.deliver(reply.await).await }.boxed(),
    }
}

/// Creates the error for a missing header block.
pub(super) fn missing(version: Version, envelope: &Envelope, local: &'static str) -> Error {
    let refusal =
        Refusal { version, kind: FaultKind::MessageAddressingHeaderRequired, problem: Some(Problem::Header(local)) };
    let offset = envelope.header.first().map_or(0, |block| block.bytes.start);
    Error::of_addressing(offset, refusal, format!("the header has no <{local}> of {:?}", version.namespace()))
}

/// Rejects a request whose properties are invalid, don't fit its operation, or are missing. `soap_action` is the action of the
/// transport.
///
/// # Errors
/// Returns a WS-Addressing fault.
pub(crate) fn check(
    exchange: Option<&Exchange>,
    envelope: &Envelope,
    soap_action: &str,
    operation: Option<&Operation>,
    description: &Description,
    options: &Options,
) -> Result<(), Error> {
    let declared = description.addressing;
    match exchange {
        Some(exchange) => exchange.check(envelope, soap_action, operation, description.operations, declared),
        None => options.addressing.check_absent(envelope, declared),
    }
}

impl Policy {
    /// Rejects a message without WS-Addressing if it is required.
    fn check_absent(&self, envelope: &Envelope, declared: Declared) -> Result<(), Error> {
        let required = match self.usage {
            Usage::Required => true,
            Usage::AsDeclared => declared.required,
            Usage::Ignored | Usage::Supported => false,
        };
        if required { Err(missing(Version::default(), envelope, "Action")) } else { Ok(()) }
    }
}

/// Returns whether the contract declares WS-Addressing blocks for an operation. They are then left to the handler.
pub(crate) fn is_declared_by(operation: &Operation) -> bool {
    Version::ALL.iter().any(|version| blocks::declares_any_of(operation.request_header, version.namespace()))
}

/// Returns whether an address is an absolute URI: a scheme, and no characters that are invalid in URIs (RFC 3986 §3).
fn is_absolute(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"'))
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("properties", &self.properties).finish_non_exhaustive()
    }
}
