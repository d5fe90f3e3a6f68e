//! A request message with the data from its transport.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_databinding::ExpandedName;
use castile_mime::{Attachments, Packaging};
use castile_xml::Charset;
use http::{Extensions, HeaderMap};

use crate::blocks::{self, AnyHeader, Header};
use crate::envelope::{Envelope, HeaderBlock};
use crate::error::Error;
use crate::http_headers::http_headers;
use crate::options::Options;
use crate::reader;
use crate::trace::Trace;
use crate::version::Version;

/// A request message, and the data that its transport provides with it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RequestMessage {
    /// The action of the message, or an empty string if there is none: the value of the `SOAPAction` header without its quotes
    /// (SOAP 1.1 §6.1.1), or of the media type's `action` parameter (SOAP 1.2 Part 2 §6.5).
    ///
    /// The sender can set any action. The service selects the operation by the first element of the body;
    /// [`Next::operation`](crate::Next::operation) returns that operation.
    pub action: String,
    /// The SOAP version of the media type. The envelope declares the version of the message; this one is used to answer a message
    /// that is not an envelope.
    pub version: Version,
    /// The charset of the media type, if there is one. It overrides the encoding that the message declares, and is overridden by a
    /// byte order mark (RFC 7303 §3).
    pub charset: Option<Charset>,
    /// The envelope.
    pub message: Bytes,
    /// How the envelope and its attachments are packaged, if the message arrived in a package.
    pub packaging: Option<Packaging>,
    /// The attachments, which may still be arriving.
    pub attachments: Attachments,
    /// Whether the sender accepts MTOM, because the `Accept` header of HTTP names `application/xop+xml`. A sender also accepts MTOM
    /// if its request is MTOM.
    pub accepts_mtom: bool,
    /// The memory reservation to which the message and its values are charged, until the request is answered. With `None`, nothing
    /// is charged.
    pub reservation: Option<Arc<Reservation>>,
    /// Data that the transport and layers add to the message, for example the identity of the client. Handlers look it up by type.
    pub extensions: Extensions,
    /// The byte offsets of the `xop:Include` elements that must be read as binary values.
    pub(crate) required_includes: Vec<usize>,
    /// Boxed, because requests are moved several times.
    pub(crate) http_headers: Option<Box<HeaderMap>>,
    /// The address of the client, if the transport knows it.
    pub peer: Option<IpAddr>,
    /// When the transport abandons the request, if it does. It may wait longer while attachments are arriving.
    pub deadline: Option<Instant>,
    pub(crate) trace: Option<Trace>,
}

impl RequestMessage {
    /// Creates a message in `version` without any transport data.
    pub fn new(version: Version, message: impl Into<Bytes>) -> Self {
        RequestMessage {
            action: String::new(),
            version,
            charset: None,
            message: message.into(),
            packaging: None,
            attachments: Attachments::none(),
            accepts_mtom: false,
            reservation: None,
            extensions: Extensions::new(),
            required_includes: Vec::new(),
            http_headers: None,
            peer: None,
            deadline: None,
            trace: None,
        }
    }

    /// Sets the trace that observers of the request read.
    pub fn with_trace(self, trace: Option<Trace>) -> Self {
        RequestMessage { trace, ..self }
    }

    /// Returns the trace of this request. Starts a new one if the request has none.
    pub fn trace(&mut self) -> Trace {
        self.trace.get_or_insert_with(|| Trace::begin(Instant::now(), true)).clone()
    }

    /// Sets the action.
    pub fn with_action(self, action: impl Into<String>) -> Self {
        RequestMessage { action: action.into(), ..self }
    }

    /// Sets the attachments, and how they are packaged.
    pub fn with_attachments(self, packaging: Packaging, attachments: Attachments) -> Self {
        RequestMessage { packaging: Some(packaging), attachments, ..self }
    }

    /// Sets the charset of the media type.
    pub fn with_charset(self, charset: Option<Charset>) -> Self {
        RequestMessage { charset, ..self }
    }

    /// Sets the HTTP headers of the request.
    pub fn with_http_headers(self, headers: impl Into<Box<HeaderMap>>) -> Self {
        RequestMessage { http_headers: Some(headers.into()), ..self }
    }

    /// Returns the HTTP headers of the request.
    pub fn http_headers(&self) -> &HeaderMap {
        http_headers(self.http_headers.as_deref())
    }

    /// Returns the HTTP headers for modification.
    pub fn http_headers_mut(&mut self) -> &mut HeaderMap {
        self.http_headers.get_or_insert_default()
    }

    /// Returns all header blocks of the message, for any role. This method is for layers; a handler uses its
    /// [`Request`](crate::Request) instead.
    ///
    /// # Errors
    /// Returns an error if the message doesn't start with a valid envelope. A layer can ignore the error, because the service
    /// reports it too.
    pub fn headers(&self, options: &Options) -> Result<Vec<AnyHeader>, Error> {
        self.read_header(options, |header| header.all(|_| true))
    }

    /// Returns the header block `H`, for layers. Returns `None` if the message has no such block for this node.
    ///
    /// # Errors
    /// Returns an error if the message doesn't start with a valid envelope, or if the block is invalid or occurs twice.
    pub fn header<H: Header>(&self, options: &Options) -> Result<Option<H>, Error> {
        self.read_header(options, |header| Ok(header.typed()?.map(|(block, _)| block)))
    }

    fn read_header<T>(
        &self,
        options: &Options,
        read: impl Fn(blocks::Read<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let charge = self.reservation.as_ref();
        reader::read_envelope(&self.message, self.charset, options, charge, |reader| {
            let (mut envelope, _) = Envelope::read(reader)?;
            envelope.claim(&options.roles);
            let (text, limits) = (reader.input(), options.limits);
            let header = blocks::Read { envelope: &envelope, text, limits, charge, is_lenient: false };
            read(header).map_err(Error::in_header)
        })
    }

    /// Requires that the `xop:Include` elements at these byte offsets, in the message converted to UTF-8, are read as binary values. The
    /// request is refused if one of them is read as XML, or skipped. It is for layers that verified signatures of what these elements
    /// stand for, and not of the elements.
    pub fn require_includes(&mut self, offsets: impl Into<Vec<usize>>) {
        self.required_includes.extend(offsets.into());
    }

    /// Declares that a layer understands header blocks with this name. The request may then mark them `mustUnderstand`.
    pub fn understand(&mut self, namespace: impl Into<String>, local: impl Into<String>) {
        let name = ExpandedName::new(namespace.into(), local);
        self.extensions.get_or_insert_default::<Understood>().names.push(name);
    }

    /// Declares that a layer has processed the header block at this byte offset, in the message converted to UTF-8: the start of
    /// [`HeaderBlock::bytes`](crate::HeaderBlock::bytes). The request may mark it `mustUnderstand`. Other blocks of the same name,
    /// for other roles, have to be understood by other layers.
    pub fn understand_block(&mut self, offset: usize) {
        self.extensions.get_or_insert_default::<Understood>().offsets.push(offset);
    }
}

/// The header blocks that layers understand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Understood {
    names: Vec<ExpandedName>,
    offsets: Vec<usize>,
}

impl Understood {
    pub(crate) fn includes(extensions: &Extensions, block: &HeaderBlock) -> bool {
        extensions.get().is_some_and(|Understood { names, offsets }| {
            offsets.contains(&block.bytes.start) || names.iter().any(|name| name.is(&block.namespace, &block.local))
        })
    }
}
