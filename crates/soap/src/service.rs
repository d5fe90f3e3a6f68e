//! The seam between messages and whatever carries them.

use bytes::Bytes;
use castile_xml::Charset;
use futures_util::future::BoxFuture;

use crate::{Description, FaultCode, Options, Version};

/// A SOAP service: messages in, messages out. Generated servers implement it; `castile-http` carries it.
pub trait Service: Send + Sync + 'static {
    /// What the service offers, known before any message comes.
    fn description(&self) -> &'static Description;

    /// Answers one request, whose message is read as `options` say.
    ///
    /// Every failure, a handler's panic included, is a fault in the [`Reply`].
    fn call(&self, request: Request<'_>, options: &Options) -> BoxFuture<'static, Reply>;
}

/// A message that asks for something, and what its carrier says of it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What the message is meant to do, empty if that was not said: the value of the `SOAPAction` header without its
    /// quotes (SOAP 1.1 §6.1.1), or of the media type's `action` (SOAP 1.2 Part 2 §6.5).
    pub action: &'a str,
    /// The version that the media type is of. The envelope tells the version of a message; this one is for the answer
    /// to what is no envelope.
    pub version: Version,
    /// The charset of the media type, if it has one: it comes before what the message says of its encoding, and behind
    /// a byte order mark (RFC 7303 §3).
    pub charset: Option<Charset>,
    /// The envelope.
    pub message: Bytes,
}

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// The code of the fault that the message is, if it is one: HTTP tells by the status.
    pub fault: Option<FaultCode>,
    /// The envelope; empty if there is nothing to be said, which HTTP carries as status 202.
    pub message: Bytes,
}

impl Reply {
    /// Whether the message is a fault.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }
}
