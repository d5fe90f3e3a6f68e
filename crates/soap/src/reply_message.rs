//! A reply message with the data for its transport.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_mime::{Content, Packaging, Part};
use futures_util::future::BoxFuture;
use http::HeaderMap;

use crate::fault_code::FaultCode;
use crate::http_headers::http_headers;
use crate::version::Version;
use crate::writer::CanonicalContent;

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
    pub(crate) rare: Option<Box<Rare>>,
    /// Whether the request was not answered because memory was exhausted. The message is then a fault that asks the client to retry
    /// later, and HTTP sends status 503.
    pub is_exhausted: bool,
}

/// What few replies have. Boxed, because replies are moved several times.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    pub(crate) http_headers: HeaderMap,
    /// What of the message is certainly in canonical form.
    pub(crate) canonical: Option<CanonicalContent>,
}

impl Rare {
    /// Returns nothing if there is nothing rare.
    pub(crate) fn of(http_headers: Option<Box<HeaderMap>>, canonical: Option<CanonicalContent>) -> Option<Box<Self>> {
        let is_rare = http_headers.is_some() || canonical.is_some();
        is_rare.then(|| {
            Box::new(Rare { http_headers: http_headers.map_or_else(HeaderMap::new, |headers| *headers), canonical })
        })
    }
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
            rare: None,
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
        http_headers(self.rare.as_ref().map(|rare| &rare.http_headers))
    }

    /// Returns the HTTP headers for modification.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.rare.get_or_insert_default().http_headers
    }

    /// Takes the HTTP headers out of the message, if there are any, for transports.
    #[doc(hidden)]
    pub fn take_http_headers(&mut self) -> Option<HeaderMap> {
        self.rare.as_mut().map(|rare| std::mem::take(&mut rare.http_headers))
    }

    /// Takes what of the message is certainly in canonical form, for those who sign it. It is known only if
    /// [`Options::notes_canonical`](crate::Options) is set, and if the message is the one that was written.
    #[doc(hidden)]
    pub fn take_canonical_content(&mut self) -> Option<Range<usize>> {
        self.rare.as_mut()?.canonical.take()?.within(&self.message)
    }

    /// Returns whether the message is a fault.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }
}
