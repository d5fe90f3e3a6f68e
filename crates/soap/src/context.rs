//! What a handler may ask of a request beside its payload.

use http::Extensions;

use crate::Version;
use crate::addressing::Properties;

/// What is known of a request beside its payload. Methods take it where the code was generated with `context`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Context {
    /// The version that the message is in, and that the reply will be in.
    pub version: Version,
    /// What the message is meant to do: `wsa:Action` if it has one, else that of the protocol (`SOAPAction`), which may
    /// be empty.
    pub action: String,
    /// What it says in WS-Addressing, if it says anything.
    pub addressing: Option<Properties>,
    /// What the carrier and layers know, found by its type: who asks, for example.
    pub extensions: Extensions,
}
