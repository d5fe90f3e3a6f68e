//! What of a message is signed.

use std::fmt;

use castile_xml::excerpt;

/// A part of a message that must be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The body.
    Body,
    /// The time stamp.
    Timestamp,
    /// The user name. A policy accepts messages without one.
    Username,
    /// The SAML assertion. A policy accepts messages without one.
    Assertion,
    /// The content of all attachments that the message has. Their heads are not signed: media types, names of files.
    Attachments,
    /// All header blocks of WS-Addressing that the message has.
    Addressing,
    /// All header blocks with this name. A policy accepts messages without one.
    Header {
        /// The namespace name of the element.
        namespace: String,
        /// The local name of the element.
        local: String,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Body => "the body",
            Part::Timestamp => "the time stamp",
            Part::Username => "the user name",
            Part::Assertion => "the assertion",
            Part::Attachments => "the attachments",
            Part::Addressing => "the header blocks of WS-Addressing",
            Part::Header { namespace, local } => {
                return write!(f, "the header block {{{}}}{}", excerpt(namespace, 200), excerpt(local, 60));
            }
        })
    }
}

/// The parts of a message that are to be signed before it is sent.
#[derive(Clone, Debug)]
pub(super) struct PartsToSign {
    /// They have to be there.
    named: Vec<Part>,
    if_present: Vec<Part>,
}

impl PartsToSign {
    pub(super) fn named(parts: impl IntoIterator<Item = Part>) -> Self {
        PartsToSign { named: parts.into_iter().collect(), if_present: Vec::new() }
    }

    pub(super) fn add_if_present(&mut self, parts: impl IntoIterator<Item = Part>) {
        self.if_present.extend(parts);
    }

    pub(super) fn contains(&self, part: &Part) -> bool {
        self.iter().any(|one| one == part)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.named.iter().chain(&self.if_present)
    }

    /// Returns the first part that has to be in a message and is not. There may be no attachments and no header blocks of
    /// WS-Addressing: these parts are all that there are.
    pub(super) fn absent(&self, is_there: impl Fn(&Part) -> bool) -> Option<&Part> {
        let mut due = self.named.iter().filter(|part| !matches!(part, Part::Attachments | Part::Addressing));
        due.find(|part| !is_there(part))
    }
}

impl Default for PartsToSign {
    fn default() -> Self {
        let if_present =
            [Part::Timestamp, Part::Username, Part::Assertion, Part::Addressing, Part::Attachments].to_vec();
        PartsToSign { named: vec![Part::Body], if_present }
    }
}
