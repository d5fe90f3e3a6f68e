//! The faults of WS-Addressing (1.0 SOAP Binding §6.4; submission §4).

use std::time::Duration;

use castile_databinding::Encoder;
use castile_databinding::datatypes::QName;

use super::Version;
use crate::fault::cut;
use crate::{Detail, Fault, FaultCode};

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
const INVALID_BEFORE: (&str, &str) = (
    "InvalidMessageInformationHeader",
    "A message information header is not valid and the message cannot be processed",
);

const fn invalid(kind: FaultKind, subsubcode: Option<&'static str>) -> Row {
    Row { kind, subcode: INVALID, subsubcode, reason: INVALID_REASON, submission: INVALID_BEFORE }
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
    /// Creates the fault. Its reason is the reason in the specification, followed by `why`.
    pub fn fault<D>(self, version: Version, why: &str, problem: Option<Problem>) -> Fault<D> {
        let row = self.row();
        let (subcode, subsubcode, reason) = match version {
            Version::Recommendation => (row.subcode, row.subsubcode, row.reason),
            Version::Submission => (row.submission.0, None, row.submission.1),
        };
        let mut fault = Fault::new(self.code(), format!("{reason}: {why}"));
        for local in std::iter::once(subcode).chain(subsubcode) {
            fault = fault.with_subcode(name(version, local));
        }
        if let Some(detail) = problem.and_then(|problem| problem.xml(version)) {
            fault.detail = Detail::Other(detail);
        }
        fault
    }

    fn code(self) -> FaultCode {
        match self {
            FaultKind::EndpointUnavailable => FaultCode::Receiver,
            _ => FaultCode::Sender,
        }
    }

    fn row(self) -> &'static Row {
        // A test checks that every kind has a row.
        TABLE.iter().find(|row| row.kind == self).unwrap_or(&TABLE[0])
    }
}

impl Refusal {
    pub(crate) fn into_fault<D>(self, why: &str) -> Fault<D> {
        self.kind.fault(self.version, why, self.problem)
    }
}

impl Problem {
    /// Returns the content of the detail. The submission defines only two of the details.
    fn xml(&self, version: Version) -> Option<String> {
        let mut out = Encoder::default();
        let mut element = |local: &str, content: &dyn Fn(&mut Encoder)| {
            out.raw(&format!("<wsa:{local}"));
            out.attribute("xmlns:wsa", &version.namespace().to_owned());
            out.raw(">");
            content(&mut out);
            out.raw(&format!("</wsa:{local}>"));
        };
        match (self, version) {
            (Problem::RetryAfter(after), _) => element("RetryAfter", &|out| out.text(&after.as_millis().to_string())),
            (Problem::Action { action, .. }, Version::Submission) => element("Action", &|out| out.text(&cut(action))),
            (_, Version::Submission) => return None,
            (Problem::Header(local), _) => element("ProblemHeaderQName", &|out| out.raw(&format!("wsa:{local}"))),
            (Problem::Iri(iri), _) => element("ProblemIRI", &|out| out.text(&cut(iri))),
            (Problem::Action { action, soap_action }, _) => element("ProblemAction", &|out| {
                out.raw("<wsa:Action>");
                out.text(&cut(action));
                out.raw("</wsa:Action>");
                if !soap_action.is_empty() {
                    out.raw("<wsa:SoapAction>");
                    out.text(&cut(soap_action));
                    out.raw("</wsa:SoapAction>");
                }
            }),
        }
        // Text that was read can be written. If an action from HTTP can't be written, the detail is omitted.
        out.finish().ok().and_then(|xml| String::from_utf8(xml).ok())
    }
}

/// Returns whether a fault is a WS-Addressing fault.
pub(crate) fn is_of_addressing<D>(fault: &Fault<D>) -> bool {
    fault.subcodes.first().is_some_and(|name| Version::of_namespace(&name.namespace).is_some())
}

/// Writes the `FaultDetail` block of a fault in SOAP 1.1, where `detail` can't describe an invalid header (1.0 SOAP Binding §6.2).
/// The submission has no such block.
pub(crate) fn write_fault_detail<D>(fault: &Fault<D>, out: &mut Encoder) {
    if let Some(detail) = fault_detail(fault) {
        out.raw("<wsa:FaultDetail");
        out.attribute("xmlns:wsa", &Version::Recommendation.namespace().to_owned());
        out.raw(">");
        out.raw(detail);
        out.raw("</wsa:FaultDetail>");
    }
}

/// Returns the detail that is written into the header in SOAP 1.1.
pub(crate) fn fault_detail<D>(fault: &Fault<D>) -> Option<&str> {
    let is_ours = fault.subcodes.first().is_some_and(|name| *name.namespace == *Version::Recommendation.namespace());
    match &fault.detail {
        Detail::Other(detail) if is_ours => Some(detail),
        _ => None,
    }
}

fn name(version: Version, local: &str) -> QName {
    QName { namespace: version.namespace().into(), local: local.to_owned(), prefix: "wsa".to_owned() }
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
