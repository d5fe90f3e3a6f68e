//! The SOAP attributes of a header block to be sent (SOAP 1.1 §4.2, SOAP 1.2 Part 1 §5.2).

use castile_databinding::Encoder;

use super::{WriteHeader, attribute, unused_prefix};
use crate::version::Version;

/// A header block with a role, `mustUnderstand` or `relay`. The methods of [`Header`](crate::Header) create it from a block of a
/// contract.
///
/// ```
/// use castile_soap::{Header, Request};
///
/// # fn request(session: impl Header) {
/// let request = Request::new(()).with_header(session.must_understand().for_role("urn:example:gateway"));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directed<H> {
    block: H,
    direction: Direction,
}

impl<H> Directed<H> {
    pub(super) fn new(block: H) -> Self {
        Directed { block, direction: Direction::default() }
    }

    /// Requires the receiver to understand the block (`mustUnderstand`).
    pub fn must_understand(mut self) -> Self {
        self.direction.must_understand = true;
        self
    }

    /// Sets the role that the block is for, a URI. In SOAP 1.1 this is the `actor`.
    pub fn for_role(mut self, role: impl Into<String>) -> Self {
        self.direction.role = Some(role.into());
        self
    }

    /// Asks intermediaries that don't process the block to forward it. SOAP 1.1 can't express this.
    pub fn relayed(mut self) -> Self {
        self.direction.relay = true;
        self
    }
}

impl<H: WriteHeader> WriteHeader for Directed<H> {
    fn name(&self) -> (&str, &str) {
        self.block.name()
    }

    fn write_to(&self, version: Version, out: &mut Encoder) {
        self.direction.write(|out| self.block.write_to(version, out), version, out);
    }
}

/// The SOAP attributes of a header block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) must_understand: bool,
    pub(super) role: Option<String>,
    pub(super) relay: bool,
}

impl Direction {
    /// Writes a block, and adds those attributes that it doesn't have yet.
    pub(super) fn write(&self, block: impl FnOnce(&mut Encoder), version: Version, out: &mut Encoder) {
        if !self.must_understand && self.role.is_none() && !self.relay {
            return block(out);
        }
        out.amended(block, |xml| self.missing(xml, version));
    }

    /// Returns the attributes that the block doesn't have yet.
    fn missing(&self, xml: &str, version: Version) -> Vec<(String, String)> {
        let must_understand = match version {
            Version::Soap11 => "1",
            Version::Soap12 => "true",
        };
        let said = [
            ("mustUnderstand", self.must_understand.then_some(must_understand)),
            (version.role_attribute(), self.role.as_deref()),
            ("relay", (self.relay && version == Version::Soap12).then_some("true")),
        ];
        let said = said.into_iter().filter_map(|(local, value)| Some((local, value?)));
        let mut missing = said.filter(|(local, _)| attribute(xml, version.namespace(), local).is_none()).peekable();
        if missing.peek().is_none() {
            return Vec::new();
        }
        let prefix = unused_prefix(xml);
        let declaration = (format!("xmlns:{prefix}"), version.namespace().to_owned());
        let missing = missing.map(|(local, value)| (format!("{prefix}:{local}"), value.to_owned()));
        [declaration].into_iter().chain(missing).collect()
    }
}
