//! A reply message with the data for its transport.

use std::sync::Arc;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_mime::{Content, Packaging, Part};
use futures_util::future::BoxFuture;
use http::HeaderMap;

use crate::fault_code::FaultCode;
use crate::http_headers::http_headers;
use crate::version::Version;

/// A future of a reply.
pub type Pending = BoxFuture<'static, ReplyMessage>;

/// The answer to one request.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReplyMessage {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// The fault code, if the message is a fault. HTTP derives the status from it.
    pub fault: Option<FaultCode>,
    /// The WS-Addressing action of the message. Empty if the request had no WS-Addressing.
    pub action: String,
    /// The envelope. Empty if there is no reply message, which HTTP sends as status 202.
    pub message: Content,
    /// The parts that are sent with the envelope.
    pub parts: Vec<Part>,
    /// How the envelope and the parts are packaged. With `None`, the envelope is sent alone if there are no parts, and as
    /// [`Packaging::Attachments`] if there are parts.
    pub packaging: Option<Packaging>,
    /// The memory reservation to which the message is charged. It must be held until the message is sent. With `None`, the message
    /// is not charged yet.
    pub reservation: Option<Arc<Reservation>>,
    /// Boxed, because replies are moved several times.
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// Whether the request was not answered because memory was exhausted. The message is then a fault that asks the client to retry
    /// later, and HTTP sends status 503.
    pub is_exhausted: bool,
}

impl ReplyMessage {
    /// Creates a message that is not a fault.
    pub fn new(version: Version, message: impl Into<Content>) -> Self {
        ReplyMessage {
            version,
            fault: None,
            action: String::new(),
            message: message.into(),
            parts: Vec::new(),
            packaging: None,
            reservation: None,
            http_headers: None,
            is_exhausted: false,
        }
    }

    /// Creates a message that is a fault with this code.
    pub fn of_fault(version: Version, code: FaultCode, message: impl Into<Content>) -> Self {
        ReplyMessage { fault: Some(code), ..ReplyMessage::new(version, message) }
    }

    /// Creates an empty reply.
    pub fn empty(version: Version) -> Self {
        ReplyMessage::new(version, Bytes::new())
    }

    /// Returns the HTTP headers that are sent with the message. Headers that describe the message itself are not sent.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.http_headers.as_deref())
    }

    /// Returns the HTTP headers for modification.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        self.http_headers.get_or_insert_default()
    }

    /// Takes the HTTP headers out of the message, if there are any, for transports.
    #[doc(hidden)]
    pub fn take_http_headers(&mut self) -> Option<Box<HeaderMap>> {
        self.http_headers.take()
    }

    /// Returns whether the message is a fault.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }
}
