//! How a server handles WS-Addressing.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::reply_message::ReplyMessage;

/// How a server handles WS-Addressing header blocks.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Policy {
    /// Whether header blocks are read, and whether they are required.
    pub usage: Usage,
    /// Sends replies to the addresses in requests. With `None`, such requests are rejected with `OnlyAnonymousAddressSupported`. A
    /// server that connects to any address in a request could be abused for attacks.
    pub replies: Option<Arc<dyn Replies>>,
}

/// Whether WS-Addressing header blocks are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// They are required if the contract requires them (`wsam:Addressing`, `wsaw:UsingAddressing`), otherwise optional.
    #[default]
    AsDeclared,
    /// They are treated like any other header blocks and left to the handler.
    Ignored,
    /// They are optional, regardless of the contract.
    Supported,
    /// They are required, regardless of the contract.
    Required,
}

/// What a contract declares about WS-Addressing (1.0 Metadata §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Whether every message must have WS-Addressing header blocks.
    pub required: bool,
    /// The addresses to which responses may be sent.
    pub responses: Responses,
}

impl Declared {
    /// The contract declares nothing.
    pub const NOTHING: Declared = Declared { required: false, responses: Responses::Anywhere };
}

/// The addresses to which responses may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Responses {
    /// Any address to which the server can send.
    #[default]
    Anywhere,
    /// `wsam:AnonymousResponses`: the anonymous address and the none address.
    Anonymous,
    /// `wsam:NonAnonymousResponses`: any other address.
    NonAnonymous,
}

/// Sends replies to the addresses in requests.
pub trait Replies: Send + Sync + 'static {
    /// Returns whether replies may be sent to this address. If not, the request is rejected before it is handled.
    fn allows(&self, address: &str) -> bool;

    /// Sends a reply, whose header has `address` as its destination. When the future is ready, the request is answered with an
    /// empty reply. The future may be ready before the reply is sent completely.
    fn send(&self, address: String, action: String, reply: ReplyMessage) -> BoxFuture<'static, ()>;
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Policy { usage, replies } = self;
        f.debug_struct("Policy").field("usage", usage).field("replies", &replies.is_some()).finish()
    }
}
