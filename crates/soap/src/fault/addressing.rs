//! The faults of WS-Addressing as SOAP faults (1.0 SOAP Binding §6; submission §4).

use castile_databinding::Encoder;
use castile_databinding::datatypes::QName;

use super::{Detail, Fault, FaultCode, Part, View};
use crate::addressing::{FaultKind, Problem, Refusal, Version};
use crate::error::shorten;

impl<D> Fault<D> {
    /// Returns whether this is a WS-Addressing fault.
    pub(crate) fn is_of_addressing(&self) -> bool {
        is_of_addressing(&self.subcodes)
    }
}

fn is_of_addressing(subcodes: &[QName]) -> bool {
    subcodes.first().is_some_and(|name| Version::of_namespace(&name.namespace).is_some())
}

impl View<'_> {
    /// Returns whether this is a WS-Addressing fault.
    pub(crate) fn is_of_addressing(&self) -> bool {
        is_of_addressing(self.subcodes)
    }

    /// Returns the detail that is written into the header in SOAP 1.1, where `detail` can't describe an invalid header (1.0 SOAP
    /// Binding §6.2). The submission has no such block.
    pub(crate) fn addressing_detail(&self) -> Option<&str> {
        let is_ours = self.subcodes.first().is_some_and(|name| *name.namespace == *Version::Recommendation.namespace());
        match self.detail {
            Part::Other(detail) if is_ours => Some(detail),
            _ => None,
        }
    }

    /// Writes the `FaultDetail` block with the detail, if there is one for the header.
    pub(crate) fn write_addressing_detail(&self, out: &mut Encoder) {
        if let Some(detail) = self.addressing_detail() {
            out.raw("<wsa:FaultDetail");
            out.attribute("xmlns:wsa", &Version::Recommendation.namespace().to_owned());
            out.raw(">");
            out.raw(detail);
            out.raw("</wsa:FaultDetail>");
        }
    }
}

impl FaultKind {
    /// Creates the fault. Its reason is the reason in the specification, followed by `why`.
    pub fn fault<D>(self, version: Version, why: &str, problem: Option<Problem>) -> Fault<D> {
        let (subcode, subsubcode, reason) = self.of_version(version);
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
            (Problem::Action { action, .. }, Version::Submission) => {
                element("Action", &|out| out.text(&shorten(action)))
            }
            (_, Version::Submission) => return None,
            (Problem::Header(local), _) => element("ProblemHeaderQName", &|out| out.raw(&format!("wsa:{local}"))),
            (Problem::Iri(iri), _) => element("ProblemIRI", &|out| out.text(&shorten(iri))),
            (Problem::Action { action, soap_action }, _) => element("ProblemAction", &|out| {
                out.raw("<wsa:Action>");
                out.text(&shorten(action));
                out.raw("</wsa:Action>");
                if !soap_action.is_empty() {
                    out.raw("<wsa:SoapAction>");
                    out.text(&shorten(soap_action));
                    out.raw("</wsa:SoapAction>");
                }
            }),
        }
        // Text that was read can be written. If an action from HTTP can't be written, the detail is omitted.
        out.finish().ok().and_then(|xml| String::from_utf8(xml).ok())
    }
}

fn name(version: Version, local: &str) -> QName {
    QName { namespace: version.namespace().into(), local: local.to_owned(), prefix: "wsa".to_owned() }
}
