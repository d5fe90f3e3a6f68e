//! What a header block that is sent says of itself, in attributes of the envelope's namespace (SOAP 1.1 §4.2, SOAP 1.2 Part 1 §5.2).

use castile_databinding::Encoder;

use super::{WriteHeader, attribute, split_name, unused_prefix};
use crate::Version;

/// A header block that says whom it is for, or that it must be understood. [`Header`](crate::Header) makes it of a block that a
/// contract declares.
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

    /// This block as one that must be understood by whoever it is for.
    pub fn must_understand(mut self) -> Self {
        self.direction.must_understand = true;
        self
    }

    /// This block as one for a role, a URI: `actor` in SOAP 1.1.
    pub fn for_role(mut self, role: impl Into<String>) -> Self {
        self.direction.role = Some(role.into());
        self
    }

    /// This block as one that a node in between sends on if it doesn't process it. SOAP 1.1 can't say so.
    pub fn relayed(mut self) -> Self {
        self.direction.relay = true;
        self
    }
}

impl<H: WriteHeader> WriteHeader for Directed<H> {
    fn write_to(&self, version: Version, out: &mut Encoder) {
        let mut block = Encoder::default();
        self.block.write_to(version, &mut block);
        match block.finish() {
            Ok(block) => self.direction.write(&String::from_utf8_lossy(&block), version, out),
            Err(error) => out.fail_because(error),
        }
    }
}

/// The attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) must_understand: bool,
    pub(super) role: Option<String>,
    pub(super) relay: bool,
}

impl Direction {
    /// Writes a block with those attributes that it doesn't have yet.
    pub(super) fn write(&self, xml: &str, version: Version, out: &mut Encoder) {
        let Direction { mut must_understand, relay, ref role } = *self;
        let (mut role, mut relay) = (role.as_ref(), relay && version == Version::Soap12);
        if must_understand || role.is_some() || relay {
            let has = |local: &str| attribute(xml, version.namespace(), local).is_some();
            must_understand &= !has("mustUnderstand");
            relay &= !has("relay");
            role = role.filter(|_| !has(version.role_attribute()));
        }
        let (start, rest) = split_name(xml);
        out.raw(start);
        if must_understand || role.is_some() || relay {
            let prefix = unused_prefix(xml);
            out.attribute(&format!("xmlns:{prefix}"), &version.namespace().to_owned());
            if must_understand {
                match version {
                    Version::Soap11 => out.attribute(&format!("{prefix}:mustUnderstand"), &1i32),
                    Version::Soap12 => out.attribute(&format!("{prefix}:mustUnderstand"), &true),
                }
            }
            if let Some(role) = role {
                out.attribute(&format!("{prefix}:{}", version.role_attribute()), role);
            }
            if relay {
                out.attribute(&format!("{prefix}:relay"), &true);
            }
        }
        out.raw(rest);
    }
}
