//! WS-Addressing header blocks: action, message id, and where replies are sent (1.0 Core, SOAP Binding and Metadata; the W3C
//! submission of August 2004).
//!
//! A server reads these blocks if a request has them. If the payload is ambiguous, their action selects the operation. The reply
//! has an action, a message id, its relation to the request, and the reference parameters of the request. Replies are sent on the
//! same connection (*anonymous*) or dropped (*none*). Another address is refused unless the [`Policy`] allows it. Messages without
//! such blocks are not affected.
//!
//! ```
//! use castile_soap::Options;
//! use castile_soap::addressing::Usage;
//!
//! let mut options = Options::default();
//! options.addressing.usage = Usage::Required;
//! ```

mod call;
mod exchange;
mod fault;
mod policy;
mod read;
mod write;

use castile_databinding::Any;

pub use call::Call;
pub use fault::{FaultKind, Problem};
pub use policy::{Declared, Policy, Replies, Responses, Usage};

pub(crate) use exchange::{Exchange, check, delivered, is_declared_by};
pub(crate) use fault::Refusal;
pub(crate) use read::read_fault_detail;

/// A version of WS-Addressing. All differences between the versions are data in this type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// WS-Addressing 1.0, the recommendation, <http://www.w3.org/2005/08/addressing>.
    #[default]
    Recommendation,
    /// The W3C submission, <http://schemas.xmlsoap.org/ws/2004/08/addressing>.
    Submission,
}

/// The message addressing properties (1.0 Core §3.1; submission §3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// The version of WS-Addressing of the header blocks.
    pub version: Version,
    /// The action of the message. It is required if the message has any other property.
    pub action: Option<String>,
    /// The id of the message.
    pub message_id: Option<String>,
    /// The messages to which this message relates.
    pub relates_to: Vec<RelatesTo>,
    /// The destination. `None` is the anonymous address.
    pub to: Option<String>,
    /// The sender.
    pub from: Option<EndpointReference>,
    /// Where the response is sent. `None` is the anonymous address.
    pub reply_to: Option<EndpointReference>,
    /// Where faults are sent, if not to `reply_to`.
    pub fault_to: Option<EndpointReference>,
    /// The reference parameters of the address to which the message was sent, from header blocks that are marked as such (1.0 SOAP
    /// Binding §3.4). The submission doesn't mark them.
    pub reference_parameters: Vec<Any>,
}

/// A message to which another message relates (1.0 Core §3.1, `[relationship]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatesTo {
    /// The kind of the relationship, a URI (in the submission a qualified name). `None` means that the message is a reply.
    pub relationship: Option<String>,
    /// The id of the other message.
    pub message_id: String,
}

/// An address to which messages can be sent (1.0 Core §2.1). Its metadata and policies are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointReference {
    /// The address, a URI.
    pub address: String,
    /// Header blocks that messages to the address must have. In the submission this includes the reference properties.
    pub reference_parameters: Vec<Any>,
}

impl Version {
    /// Both versions.
    pub const ALL: [Version; 2] = [Version::Recommendation, Version::Submission];

    /// Returns the version whose blocks are in this namespace.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// Returns the namespace of the header blocks.
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Recommendation => "http://www.w3.org/2005/08/addressing",
            Version::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        }
    }

    /// Returns the anonymous address, which stands for the connection of the request (1.0 SOAP Binding §5.1; submission §2.1).
    pub const fn anonymous(self) -> &'static str {
        match self {
            Version::Recommendation => "http://www.w3.org/2005/08/addressing/anonymous",
            Version::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous",
        }
    }

    /// Returns the address to which messages are not sent (1.0 Core §2.1). The submission has none.
    pub const fn none(self) -> Option<&'static str> {
        match self {
            Version::Recommendation => Some("http://www.w3.org/2005/08/addressing/none"),
            Version::Submission => None,
        }
    }

    /// Returns the id to which a reply relates if the request has no id (1.0 Core §3.4; submission §3.2).
    pub(crate) const fn unspecified(self) -> &'static str {
        match self {
            Version::Recommendation => "http://www.w3.org/2005/08/addressing/unspecified",
            Version::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing/id/unspecified",
        }
    }

    /// Returns whether a relationship is that of a reply, which is the default.
    pub(crate) fn is_reply(self, relationship: Option<&str>) -> bool {
        let Some(relationship) = relationship else { return true };
        match self {
            Version::Recommendation => relationship == "http://www.w3.org/2005/08/addressing/reply",
            // A qualified name. Its prefix is ignored.
            Version::Submission => relationship.rsplit(':').next() == Some("ReplyMessage"),
        }
    }

    /// Returns the action of faults that the contract doesn't declare: WS-Addressing faults, and SOAP faults (1.0 SOAP Binding
    /// §6.1; submission §4).
    pub(crate) const fn fault_action(self, is_of_addressing: bool) -> &'static str {
        match (self, is_of_addressing) {
            (Version::Recommendation, true) => "http://www.w3.org/2005/08/addressing/fault",
            (Version::Recommendation, false) => "http://www.w3.org/2005/08/addressing/soap/fault",
            (Version::Submission, _) => "http://schemas.xmlsoap.org/ws/2004/08/addressing/fault",
        }
    }
}

impl Properties {
    /// Returns where a reply is sent: faults to `fault_to` if it is set, everything else to `reply_to` (1.0 Core §3.4). `None` is
    /// the anonymous address.
    pub(crate) fn endpoint(&self, is_fault: bool) -> Option<&EndpointReference> {
        let fault_to = self.fault_to.as_ref().filter(|_| is_fault);
        fault_to.or(self.reply_to.as_ref())
    }

    /// Returns the id to which a reply relates.
    pub(crate) fn id(&self) -> &str {
        self.message_id.as_deref().unwrap_or(self.version.unspecified())
    }
}

impl EndpointReference {
    /// Creates a reference to an address without reference parameters.
    pub fn new(address: impl Into<String>) -> Self {
        EndpointReference { address: address.into(), reference_parameters: Vec::new() }
    }
}

/// Creates a unique message id: a random UUID (RFC 9562 §5.4).
fn new_message_id() -> Result<String, getrandom::Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    let mut bits = u128::from_be_bytes(bits);
    // Set version 4 and variant 2.
    bits = bits & !(0xf << 76) | 4 << 76;
    bits = bits & !(0x3 << 62) | 2 << 62;
    let digits = format!("{bits:032x}");
    let [a, b, c, d, e] = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    Ok(format!("urn:uuid:{a}-{b}-{c}-{d}-{e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids_are_random_uuids() {
        let ids: std::collections::HashSet<String> = (0..100).map(|_| new_message_id().expect("randomness")).collect();
        assert_eq!(ids.len(), 100);
        for id in ids {
            let uuid = id.strip_prefix("urn:uuid:").expect("a URN");
            let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{id}");
        }
    }
}
