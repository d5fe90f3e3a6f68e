//! The seam between messages and whatever carries them.

use bytes::Bytes;
use castile_xml::Charset;
use futures_util::future::BoxFuture;

use crate::{Description, Options, Version};

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
    /// The value of the `SOAPAction` header without its quotes, empty if there was none (SOAP 1.1 §6.1.1).
    pub action: &'a str,
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
    /// Whether the message is a fault, which HTTP carries as status 500 (SOAP 1.1 §6.2).
    pub is_fault: bool,
    /// The envelope.
    pub message: Bytes,
}
