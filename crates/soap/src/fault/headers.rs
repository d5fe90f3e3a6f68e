//! The header blocks and HTTP headers of a fault, and the attachments of a received fault.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use castile_mime::Attachments;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};

use super::{Fault, View};
use crate::blocks::{AnyHeader, Blocks, Header, WriteHeader};
use crate::error::Error;
use crate::http_headers::{http_headers, no_extensions};
use crate::version::Version;

/// The header blocks, HTTP headers and attachments of a fault.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultExtras {
    blocks: Blocks,
    /// The HTTP headers to be sent.
    http_headers: Option<Box<HeaderMap>>,
    /// The received HTTP headers.
    received_http_headers: Option<Box<HeaderMap>>,
    /// What is known of the received fault besides its content.
    extensions: Extensions,
    /// The received attachments. Copies of a fault share them, because they can be read only once.
    attachments: Option<Arc<Mutex<Attachments>>>,
}

impl FaultExtras {
    /// Creates the value for a received fault.
    pub(crate) fn received(blocks: Blocks) -> Option<Box<Self>> {
        match blocks {
            Blocks::Nothing => None,
            blocks => Some(Box::new(FaultExtras { blocks, ..FaultExtras::default() })),
        }
    }
}

impl<D> Fault<D> {
    /// Adds an HTTP header, for example `Retry-After` or `WWW-Authenticate`. Headers that describe the message are ignored, as in
    /// [`Response::with_http_header`](crate::Response::with_http_header).
    ///
    /// ```
    /// use castile_soap::Fault;
    /// use http::header::{HeaderValue, RETRY_AFTER};
    ///
    /// let fault: Fault = Fault::receiver("closed until noon").with_http_header(RETRY_AFTER, HeaderValue::from_static("3600"));
    /// ```
    pub fn with_http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.extras.get_or_insert_default().http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// Adds a header block. Header blocks of a received fault are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.extras.get_or_insert_default().blocks.push(block);
        self
    }

    /// Sets the received HTTP headers, for transports, and the extensions.
    #[doc(hidden)]
    pub fn with_received_http(mut self, http_headers: HeaderMap, extensions: Extensions) -> Self {
        let extras = self.extras.get_or_insert_default();
        (extras.received_http_headers, extras.extensions) = (Some(Box::new(http_headers)), extensions);
        self
    }

    /// Sets the received attachments.
    pub(crate) fn with_received_attachments(mut self, attachments: Attachments) -> Self {
        self.extras.get_or_insert_default().attachments = Some(Arc::new(Mutex::new(attachments)));
        self
    }

    /// Takes the attachments of a received fault. Only the first call on a fault or any of its copies returns them. Attachments are
    /// only available after `send` on a call; they are skipped if the call is awaited directly.
    pub fn take_attachments(&mut self) -> Attachments {
        let shared = self.extras.as_mut().and_then(|extras| extras.attachments.take());
        shared.map_or_else(Attachments::none, |shared| {
            mem::replace(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner), Attachments::none())
        })
    }

    /// Returns the HTTP headers of a received fault, or the HTTP headers that will be sent.
    pub fn http_headers(&self) -> &HeaderMap {
        let headers = self
            .extras
            .as_ref()
            .and_then(|extras| extras.received_http_headers.as_ref().or(extras.http_headers.as_ref()));
        http_headers(headers.map(|headers| &**headers))
    }

    /// Returns what is known of a received fault besides its content, as
    /// [`Response::extensions`](crate::Response::extensions) does.
    pub fn extensions(&self) -> &Extensions {
        self.extras.as_ref().map_or(no_extensions(), |extras| &extras.extensions)
    }

    /// Reads and returns the header block `H`. Returns `None` if the fault has no such block for this node.
    ///
    /// # Errors
    /// Returns an error if the block is invalid or occurs twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.extras.as_ref().map_or(Ok(None), |extras| extras.blocks.typed(Version::default()))
    }

    /// Returns the header blocks with this name as XML, for any role.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.all(|its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// Returns all header blocks as XML.
    ///
    /// # Errors
    /// Returns an error if the memory budget doesn't allow a copy of the blocks.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.all(|_, _| true)
    }

    fn all(&self, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<AnyHeader>, Error> {
        self.extras.as_ref().map_or(Ok(Vec::new()), |extras| extras.blocks.all(Version::default(), wanted))
    }
}

impl<'f> View<'f> {
    /// Returns the HTTP headers to be sent.
    pub(crate) fn own_http_headers(self) -> Option<Box<HeaderMap>> {
        self.extras?.http_headers.clone()
    }

    /// Returns the header blocks to be sent.
    pub(crate) fn blocks(self) -> Vec<&'f dyn WriteHeader> {
        self.extras.map_or_else(Vec::new, |extras| extras.blocks.own())
    }
}
