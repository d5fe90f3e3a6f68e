//! Messages in packages: SOAP Messages with Attachments, and MTOM (SOAP Message Transmission Optimization Mechanism).
//!
//! A message is decoded in one step, while its parts arrive one after another. A message with `xop:Include` elements is therefore
//! decoded twice. The first pass collects the parts that the elements refer to, and these parts are then read. Parts without a
//! reference are left for the handler, which reads them as attachments.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_mime::ErrorKind::{Duplicate, Limit, Missing};
use castile_mime::{Attachments, Packaging, Rest};
use castile_xml::Charset;
use http::Extensions;

use crate::charge::EndOnDrop;
use crate::description::Operation;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorKind};
use crate::included::{Charged, Included};
use crate::offload::Offloading;
use crate::options::Options;
use crate::payload::{Decoded, Decodes, Incoming, decoder};
use crate::reader::read_with;

/// How long to wait for the attachments that a handler didn't read.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(10);

/// A received message with the data from its transport.
#[derive(Debug)]
pub struct Received {
    /// The envelope.
    pub message: Bytes,
    /// The charset of the media type, if there is one, as in [`RequestMessage`](crate::RequestMessage).
    pub charset: Option<Charset>,
    /// How the envelope and its parts are packaged, if the message arrived in a package.
    pub packaging: Option<Packaging>,
    /// The attachments, which may still be arriving.
    pub attachments: Attachments,
    /// The byte offsets of the `xop:Include` elements that must be read as binary values, as in
    /// [`RequestMessage::require_includes`](crate::RequestMessage::require_includes). An implementation of
    /// [`MessageSecurity`](crate::MessageSecurity) sets them.
    pub required_includes: Vec<usize>,
    /// The byte offsets of the header blocks that were processed, as in
    /// [`RequestMessage::understand_block`](crate::RequestMessage::understand_block). An implementation of
    /// [`MessageSecurity`](crate::MessageSecurity) sets them.
    pub processed: Vec<usize>,
    /// What an implementation of [`MessageSecurity`](crate::MessageSecurity) says about the message. Callers find it in
    /// [`Response::extensions`](crate::Response::extensions) or [`Fault::extensions`](crate::Fault::extensions).
    pub extensions: Extensions,
}

impl Received {
    /// Returns the options with which the message is read.
    pub(crate) fn options<'o>(&self, options: &'o Options) -> Cow<'o, Options> {
        match self.processed.as_slice() {
            [] => Cow::Borrowed(options),
            // The blocks say what was verified, which needs not be more than the body.
            processed => {
                Cow::Owned(Options { processed: processed.to_vec(), confines_references: true, ..options.clone() })
            }
        }
    }
}

impl From<Bytes> for Received {
    fn from(message: Bytes) -> Self {
        Received {
            message,
            charset: None,
            packaging: None,
            attachments: Attachments::none(),
            required_includes: Vec::new(),
            processed: Vec::new(),
            extensions: Extensions::new(),
        }
    }
}

/// A package whose root part was read, and may have to be read again.
pub(crate) struct Package {
    pub(crate) received: Received,
    pub(crate) options: Options,
    pub(crate) included: Option<Arc<Included>>,
    /// The reservation to which the package is charged.
    pub(crate) reservation: Option<Arc<Reservation>>,
}

impl Package {
    /// Reads the parts that a request refers to. If there are any, the request is read again. `message` has the value of the first
    /// pass, to which `charged` bytes are charged. Returns the value, the other parts, and what a handler may leave of them.
    pub(crate) async fn complete(
        mut self: Box<Self>,
        mut message: Box<dyn Decoded>,
        charged: usize,
        operation: &'static Operation,
    ) -> Result<Complete, Error> {
        if self.fetch(true).await? {
            // Drop the first value and release its charge, so that the message is not in memory twice.
            message.clear();
            if let Some(reservation) = &self.reservation {
                reservation.shrink(charged);
            }
            let (again, read) = self.read_again(operation, message).await?;
            self = again;
            message = read?;
        }
        let limit = self.options.attachments.included;
        let attachments = self.received.attachments;
        let unread = attachments.rest().map(|rest| Unread { rest, limit });
        Ok(Complete { message, attachments, unread })
    }

    /// Reads the parts that the first pass found references to. Unless `is_taken`, the remaining parts are skipped. Returns `true`
    /// if the message must be read again.
    pub(crate) async fn fetch(&mut self, is_taken: bool) -> Result<bool, Error> {
        let limit = self.options.attachments.included;
        let wanted = self.included.as_ref().map(|included| included.requested()).unwrap_or_default();
        let mut left = limit;
        for url in &wanted {
            let content = match self.content(url, left).await {
                Ok(content) => Ok(content),
                // The error belongs to the reference. The second pass reports it with the place of the element.
                Err(error) if matches!(error.kind(), Missing | Limit) => Err(error.to_string()),
                Err(error) => return Err(error.into()),
            };
            left -= content.as_ref().map_or(0, |(content, _)| content.len());
            let is_wrong = content.is_err();
            if let Some(included) = &self.included {
                included.insert(url, content);
            }
            if is_wrong {
                return Ok(true);
            }
        }
        if !is_taken {
            self.received.attachments.pass_over(limit).await?;
        }
        Ok(!wanted.is_empty())
    }

    async fn content(&mut self, url: &str, limit: usize) -> Result<Charged, castile_mime::Error> {
        self.received.attachments.by_url(url).await?.collect_with(limit).await
    }

    /// Reads a request again, after the parts that it refers to have arrived. A large one is read by a worker.
    async fn read_again(
        self: Box<Self>,
        operation: &'static Operation,
        mut message: Box<dyn Decoded>,
    ) -> Result<(Box<Self>, Result<Box<dyn Decoded>, Error>), Error> {
        let elsewhere = self.options.offload_for(self.received.message.len()).cloned();
        let charge = self.reservation.clone();
        let read = move || {
            let read = self.decode(operation, message.slot()).map(|()| message);
            (self, read)
        };
        let Some(offload) = elsewhere else { return Ok(read()) };
        let awaited = EndOnDrop::new(charge.as_ref());
        let read = offload.run(read).await;
        awaited.finish();
        read.ok_or_else(|| Error::new(ErrorKind::System, "the message could not be read"))
    }

    fn decode(&self, operation: &'static Operation, slot: &mut dyn Decodes) -> Result<(), Error> {
        let Package { received: Received { message, charset, .. }, options, included, reservation } = self;
        let charge = reservation.as_ref();
        let incoming = Incoming { operation, root: &operation.request, is_request: true, options, message };
        read_with(message, *charset, options, charge, |mut reader, leniency| {
            let (_, first) = Envelope::read(&mut reader)?;
            let included = included.as_deref();
            incoming.payload(decoder(reader, leniency, included, charge)?, first, included, slot)
        })
    }
}

/// A request with all parts that it refers to.
pub(crate) struct Complete {
    pub(crate) message: Box<dyn Decoded>,
    /// The other parts.
    pub(crate) attachments: Attachments,
    /// What a handler may leave of them.
    pub(crate) unread: Option<Unread>,
}

/// The attachments that a handler may leave unread.
pub(crate) struct Unread {
    rest: Rest,
    /// How many bytes are skipped.
    limit: usize,
}

impl Unread {
    /// Skips the unread attachments, within limits.
    ///
    /// # Errors
    /// Returns an error if two parts have the same name. Other errors are ignored, because the answer is already complete.
    pub(crate) async fn skip(self, offload: Option<Offloading>) -> Result<(), Error> {
        let rest = self.rest.pass_over(self.limit);
        let passed = match &offload {
            Some(offload) => offload.within(UNREAD_TIMEOUT, rest).await.unwrap_or(Ok(())),
            None => rest.await,
        };
        match passed {
            Err(error) if error.kind() == Duplicate => Err(error.into()),
            _ => Ok(()),
        }
    }
}
