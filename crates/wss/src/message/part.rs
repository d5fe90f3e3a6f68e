//! What of a message is signed.

/// A part of a message that must be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The body.
    Body,
    /// The time stamp.
    Timestamp,
    /// The user name, if the message has one.
    Username,
    /// The SAML assertion, if the message has one.
    Assertion,
    /// The content of all attachments that the message has. Their heads are not signed: media types, names of files.
    Attachments,
    /// All header blocks of WS-Addressing that the message has.
    Addressing,
    /// All header blocks with this name that the message has.
    Header {
        /// The namespace name of the element.
        namespace: String,
        /// The local name of the element.
        local: String,
    },
}
