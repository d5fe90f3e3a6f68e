//! The faults of WS-Addressing (1.0 SOAP Binding §6.4; submission §4).

use std::time::Duration;

use super::Version;

/// The kinds of WS-Addressing faults. Services can use some of them too:
///
/// ```
/// use castile_soap::Fault;
/// use castile_soap::addressing::{FaultKind, Problem, Version};
///
/// let retry = Problem::RetryAfter(std::time::Duration::from_secs(2));
/// let fault: Fault = FaultKind::EndpointUnavailable.fault(Version::Recommendation, "the shop opens at nine", Some(retry));
/// assert_eq!(fault.subcodes[0].local, "EndpointUnavailable");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A header block is invalid in a way that has no kind of its own.
    InvalidAddressingHeader,
    /// An address is not a usable URI.
    InvalidAddress,
    /// An endpoint reference is invalid.
    InvalidEpr,
    /// A header block occurs too often.
    InvalidCardinality,
    /// An endpoint reference has no address.
    MissingAddressInEpr,
    /// A message with this id was received before.
    DuplicateMessageId,
    /// The action differs from the action of the transport (`SOAPAction`).
    ActionMismatch,
    /// Responses are sent to the anonymous address only.
    OnlyAnonymousAddressSupported,
    /// Responses are sent to addresses other than the anonymous one only.
    OnlyNonAnonymousAddressSupported,
    /// A required header block is missing.
    MessageAddressingHeaderRequired,
    /// There is no route to the destination.
    DestinationUnreachable,
    /// The service has no operation with this action.
    ActionNotSupported,
    /// The service can't process the message now.
    EndpointUnavailable,
}

/// The subject of a WS-Addressing fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The header block with this local name in the namespace of WS-Addressing: `ProblemHeaderQName`.
    Header(&'static str),
    /// An address: `ProblemIRI`.
    Iri(String),
    /// The action of the message, and the action of the transport: `ProblemAction`.
    Action {
        /// `wsa:Action`
        action: String,
        /// `SOAPAction`, empty if there is none.
        soap_action: String,
    },
    /// When to try again: `RetryAfter`, in milliseconds.
    RetryAfter(Duration),
}

/// The WS-Addressing fault for a rejected message. The error that contains it has the explanation and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) version: Version,
    pub(crate) kind: FaultKind,
    pub(crate) problem: Option<Problem>,
}

/// A fault in the specifications.
struct Row {
    kind: FaultKind,
    /// The subcode in the recommendation. The next field is the subcode inside it.
    subcode: &'static str,
    subsubcode: Option<&'static str>,
    reason: &'static str,
    /// The subcode and the reason in the submission.
    submission: (&'static str, &'static str),
}

const INVALID: &str = "InvalidAddressingHeader";
const INVALID_REASON: &str =
    "A header representing a Message Addressing Property is not valid and the message cannot be processed";
const INVALID_IN_SUBMISSION: (&str, &str) = (
    "InvalidMessageInformationHeader",
    "A message information header is not valid and the message cannot be processed",
);

const fn invalid(kind: FaultKind, subsubcode: Option<&'static str>) -> Row {
    Row { kind, subcode: INVALID, subsubcode, reason: INVALID_REASON, submission: INVALID_IN_SUBMISSION }
}

const fn same(kind: FaultKind, subcode: &'static str, reason: &'static str) -> Row {
    Row { kind, subcode, subsubcode: None, reason, submission: (subcode, reason) }
}

static TABLE: [Row; 13] = [
    invalid(FaultKind::InvalidAddressingHeader, None),
    invalid(FaultKind::InvalidAddress, Some("InvalidAddress")),
    invalid(FaultKind::InvalidEpr, Some("InvalidEPR")),
    invalid(FaultKind::InvalidCardinality, Some("InvalidCardinality")),
    invalid(FaultKind::MissingAddressInEpr, Some("MissingAddressInEPR")),
    invalid(FaultKind::DuplicateMessageId, Some("DuplicateMessageID")),
    invalid(FaultKind::ActionMismatch, Some("ActionMismatch")),
    invalid(FaultKind::OnlyAnonymousAddressSupported, Some("OnlyAnonymousAddressSupported")),
    invalid(FaultKind::OnlyNonAnonymousAddressSupported, Some("OnlyNonAnonymousAddressSupported")),
    Row {
        submission: (
            "MessageInformationHeaderRequired",
            "A required message information header, To, MessageID, or Action, is not present",
        ),
        ..same(
            FaultKind::MessageAddressingHeaderRequired,
            "MessageAddressingHeaderRequired",
            "A required header representing a Message Addressing Property is not present",
        )
    },
    same(
        FaultKind::DestinationUnreachable,
        "DestinationUnreachable",
        "No route can be determined to reach [destination]",
    ),
    same(FaultKind::ActionNotSupported, "ActionNotSupported", "The [action] cannot be processed at the receiver"),
    same(
        FaultKind::EndpointUnavailable,
        "EndpointUnavailable",
        "The endpoint is unable to process the message at this time",
    ),
];

impl FaultKind {
    /// Returns the subcode, the subcode inside it if there is one, and the reason that a version of WS-Addressing defines.
    pub(crate) fn of_version(self, version: Version) -> (&'static str, Option<&'static str>, &'static str) {
        let row = self.row();
        match version {
            Version::Recommendation => (row.subcode, row.subsubcode, row.reason),
            Version::Submission => (row.submission.0, None, row.submission.1),
        }
    }

    fn row(self) -> &'static Row {
        // A test checks that every kind has a row.
        TABLE.iter().find(|row| row.kind == self).unwrap_or(&TABLE[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_row() {
        for (index, row) in TABLE.iter().enumerate() {
            assert!(std::ptr::eq(row.kind.row(), &raw const TABLE[index]), "{:?}", row.kind);
        }
    }
}
