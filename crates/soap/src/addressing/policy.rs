//! What a server makes of WS-Addressing.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::ReplyMessage;

/// What a server makes of the blocks of WS-Addressing.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Policy {
    /// Whether they are looked at, and must be there.
    pub usage: Usage,
    /// Who sends replies to addresses that requests name. Without it such requests are refused with
    /// `OnlyAnonymousAddressSupported`: a server that connects to wherever a stranger says is a stranger's tool.
    pub replies: Option<Arc<dyn Replies>>,
}

/// Whether blocks of WS-Addressing are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// They must be there if the contract says so (`wsam:Addressing`, `wsaw:UsingAddressing`), and may be otherwise.
    #[default]
    AsDeclared,
    /// They are blocks as any other, and the handler's affair.
    Ignored,
    /// They may be there, whatever the contract says.
    Supported,
    /// They must be there, whatever the contract says.
    Required,
}

/// What a contract says of WS-Addressing (1.0 Metadata §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Whether every message must have its blocks.
    pub required: bool,
    /// Which addresses responses may go to.
    pub responses: Responses,
}

impl Declared {
    /// The contract says nothing.
    pub const NOTHING: Declared = Declared { required: false, responses: Responses::Anywhere };
}

/// Which addresses responses may go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Responses {
    /// Any, if the server knows how to send there.
    #[default]
    Anywhere,
    /// `wsam:AnonymousResponses`: the anonymous one, and none.
    Anonymous,
    /// `wsam:NonAnonymousResponses`: others.
    NonAnonymous,
}

/// Sends replies to the addresses that requests name.
pub trait Replies: Send + Sync + 'static {
    /// Whether replies may be sent to this address. What is not is refused before the request is handled.
    fn allows(&self, address: &str) -> bool;

    /// Sends a reply, whose header names the address as that it is for. The request is answered, by nothing, when this
    /// is done; it may be before the reply has come to its end.
    fn send(&self, address: String, action: String, reply: ReplyMessage) -> BoxFuture<'static, ()>;
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Policy { usage, replies } = self;
        f.debug_struct("Policy").field("usage", usage).field("replies", &replies.is_some()).finish()
    }
}
