//! The seam between messages and whatever carries them.

use bytes::Bytes;
use castile_xml::Limits;
use futures_util::future::BoxFuture;

use crate::{Description, Version};

/// A SOAP service: messages in, messages out. Generated servers implement it; `castile-http` carries it.
pub trait Service: Send + Sync + 'static {
    /// What the service offers, known before any message comes.
    fn description(&self) -> &'static Description;

    /// Answers one request message, which may take what `limits` say.
    ///
    /// `action` is the value of the `SOAPAction` header without its quotes, empty if there was none (SOAP 1.1 §6.1.1).
    /// Every failure, a handler's panic included, is a fault in the [`Reply`].
    fn call(&self, action: &str, message: Bytes, limits: Limits) -> BoxFuture<'static, Reply>;
}

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// Whether the message is a fault, which HTTP carries as status 500 (SOAP 1.1 §6.2).
    pub is_fault: bool,
    /// The envelope.
    pub message: Bytes,
}
