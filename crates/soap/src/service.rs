//! The seam between messages and whatever carries them.

use bytes::Bytes;
use castile_mime::{Attachments, Content, Packaging, Part};
use castile_xml::Charset;
use futures_util::future::BoxFuture;
use http::Extensions;

use crate::{Description, FaultCode, Options, Version};

/// A SOAP service: messages in, messages out. Generated servers implement it; `castile-http` carries it.
pub trait Service: Send + Sync + 'static {
    /// What the service offers, known before any message comes.
    fn description(&self) -> &'static Description;

    /// Answers one request, whose message is read as `options` say.
    ///
    /// Every failure, a handler's panic included, is a fault in the [`Reply`].
    fn call(&self, request: Request, options: &Options) -> BoxFuture<'static, Reply>;
}

/// A message that asks for something, and what its carrier says of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request {
    /// What the message is meant to do, empty if that was not said: the value of the `SOAPAction` header without its
    /// quotes (SOAP 1.1 §6.1.1), or of the media type's `action` (SOAP 1.2 Part 2 §6.5).
    pub action: String,
    /// The version that the media type is of. The envelope tells the version of a message; this one is for the answer
    /// to what is no envelope.
    pub version: Version,
    /// The charset of the media type, if it has one: it comes before what the message says of its encoding, and behind
    /// a byte order mark (RFC 7303 §3).
    pub charset: Option<Charset>,
    /// The envelope.
    pub message: Bytes,
    /// What came with the envelope, and may still be on its way.
    pub attachments: Attachments,
    /// What the carrier and layers know beside the message: who asks, for example. Handlers find it by its type.
    pub extensions: Extensions,
}

/// The answer to one request.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// The code of the fault that the message is, if it is one: HTTP tells by the status.
    pub fault: Option<FaultCode>,
    /// The envelope; empty if there is nothing to be said, which HTTP carries as status 202.
    pub message: Content,
    /// What goes with the envelope.
    pub parts: Vec<Part>,
    /// How the envelope stands to the parts. Without one it is sent by itself if there are no parts, and as
    /// [`Packaging::Attachments`] if there are.
    pub packaging: Option<Packaging>,
}

impl Request {
    /// A message in `version` that says no more than itself.
    pub fn new(version: Version, message: impl Into<Bytes>) -> Self {
        Request {
            action: String::new(),
            version,
            charset: None,
            message: message.into(),
            attachments: Attachments::none(),
            extensions: Extensions::new(),
        }
    }

    /// The same with an action.
    pub fn with_action(self, action: impl Into<String>) -> Self {
        Request { action: action.into(), ..self }
    }

    /// The same with what its media type says of its charset.
    pub fn with_charset(self, charset: Option<Charset>) -> Self {
        Request { charset, ..self }
    }
}

impl Reply {
    /// A message that is no fault.
    pub fn new(version: Version, message: impl Into<Content>) -> Self {
        Reply { version, fault: None, message: message.into(), parts: Vec::new(), packaging: None }
    }

    /// A message that is a fault of this code.
    pub fn of_fault(version: Version, code: FaultCode, message: impl Into<Content>) -> Self {
        Reply { fault: Some(code), ..Reply::new(version, message) }
    }

    /// Nothing to be said.
    pub fn empty(version: Version) -> Self {
        Reply::new(version, Bytes::new())
    }

    /// Whether the message is a fault.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }
}
