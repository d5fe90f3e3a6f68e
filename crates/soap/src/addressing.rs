//! WS-Addressing: who asks, what is meant, and where answers go, as header blocks (1.0 Core, SOAP Binding and Metadata;
//! the W3C submission of August 2004).
//!
//! A server reads these blocks where a message has some, finds the operation by their action where the payload doesn't
//! tell it, and writes those of the reply: action, message id, what it relates to, and the reference parameters that the
//! request gave. Replies go back on the same connection (*anonymous*) or nowhere (*none*); another address is refused
//! unless a [`Policy`] knows how to send there. Messages without such blocks are not touched.
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

pub(crate) use exchange::{Exchange, is_declared_by};
pub(crate) use fault::{Refusal, fault_detail, is_of_addressing, write_fault_detail};
pub(crate) use read::read_fault_detail;

/// A version of WS-Addressing. Everything in which they differ is data behind this.
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
    /// In which version they were said.
    pub version: Version,
    /// What the message is meant to do. A message that has any property must have this one.
    pub action: Option<String>,
    /// The name of the message.
    pub message_id: Option<String>,
    /// The messages that this one is about.
    pub relates_to: Vec<RelatesTo>,
    /// Whom it is for. Nothing is the anonymous address.
    pub to: Option<String>,
    /// Who sent it.
    pub from: Option<EndpointReference>,
    /// Where the response goes. Nothing is the anonymous address.
    pub reply_to: Option<EndpointReference>,
    /// Where faults go, if not where the response does.
    pub fault_to: Option<EndpointReference>,
    /// The reference parameters of the address that the message was sent to: header blocks that say to be some (1.0
    /// SOAP Binding §3.4). The submission doesn't mark them.
    pub reference_parameters: Vec<Any>,
}

/// A message that another one is about (1.0 Core §3.1, `[relationship]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatesTo {
    /// How it is about that one, a URI (in the submission a qualified name); `None` is that it answers it.
    pub relationship: Option<String>,
    /// The name of that message.
    pub message_id: String,
}

/// Where messages can be sent (1.0 Core §2.1). Its metadata and policies are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointReference {
    /// The address, a URI.
    pub address: String,
    /// What messages to it must have as header blocks; in the submission also its reference properties.
    pub reference_parameters: Vec<Any>,
}

impl Version {
    /// Both versions.
    pub const ALL: [Version; 2] = [Version::Recommendation, Version::Submission];

    /// The version whose blocks are in this namespace.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// The namespace of the header blocks.
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Recommendation => "http://www.w3.org/2005/08/addressing",
            Version::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        }
    }

    /// The address of whoever has none of its own: the other end of the connection (1.0 SOAP Binding §5.1; submission
    /// §2.1).
    pub const fn anonymous(self) -> &'static str {
        match self {
            Version::Recommendation => "http://www.w3.org/2005/08/addressing/anonymous",
            Version::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous",
        }
    }

    /// The address to which nothing is sent (1.0 Core §2.1). The submission has none.
    pub const fn none(self) -> Option<&'static str> {
        match self {
            Version::Recommendation => Some("http://www.w3.org/2005/08/addressing/none"),
            Version::Submission => None,
        }
    }

    /// What a message relates to that answers one without a name (1.0 Core §3.4; submission §3.2).
    pub(crate) const fn unspecified(self) -> &'static str {
        match self {
            Version::Recommendation => "http://www.w3.org/2005/08/addressing/unspecified",
            Version::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing/id/unspecified",
        }
    }

    /// Whether a relationship is that of an answer, which is the default.
    pub(crate) fn is_reply(self, relationship: Option<&str>) -> bool {
        let Some(relationship) = relationship else { return true };
        match self {
            Version::Recommendation => relationship == "http://www.w3.org/2005/08/addressing/reply",
            // A qualified name, of which the prefix is anybody's.
            Version::Submission => relationship.rsplit(':').next() == Some("ReplyMessage"),
        }
    }

    /// The action of faults that the contract doesn't declare: those of WS-Addressing, and those of SOAP (1.0 SOAP
    /// Binding §6.1; submission §4).
    pub(crate) const fn fault_action(self, is_of_addressing: bool) -> &'static str {
        match (self, is_of_addressing) {
            (Version::Recommendation, true) => "http://www.w3.org/2005/08/addressing/fault",
            (Version::Recommendation, false) => "http://www.w3.org/2005/08/addressing/soap/fault",
            (Version::Submission, _) => "http://schemas.xmlsoap.org/ws/2004/08/addressing/fault",
        }
    }
}

impl Properties {
    /// Where a reply goes: a fault where faults do, else where the response does (1.0 Core §3.4). `None` is the
    /// anonymous address.
    pub(crate) fn endpoint(&self, is_fault: bool) -> Option<&EndpointReference> {
        let fault_to = self.fault_to.as_ref().filter(|_| is_fault);
        fault_to.or(self.reply_to.as_ref())
    }

    /// What a reply relates to.
    pub(crate) fn id(&self) -> &str {
        self.message_id.as_deref().unwrap_or(self.version.unspecified())
    }
}

impl EndpointReference {
    /// The address without parameters.
    pub fn new(address: impl Into<String>) -> Self {
        EndpointReference { address: address.into(), reference_parameters: Vec::new() }
    }
}

/// A name for a message that no other has: a random UUID (RFC 9562 §5.4).
fn new_message_id() -> Result<String, getrandom::Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    let mut bits = u128::from_be_bytes(bits);
    // Version 4, variant 2.
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
