//! What goes beside a fault: header blocks, headers of HTTP, and attachments of one that came.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use castile_mime::Attachments;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Fault;
use crate::blocks::Blocks;
use crate::service::http_headers;
use crate::{AnyHeader, Error, Header, Version, WriteHeader};

/// The header blocks, the headers of HTTP and the attachments of a fault.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    blocks: Blocks,
    /// Those to be sent.
    http_headers: Option<Box<HeaderMap>>,
    /// Those that came.
    came: Option<Box<HeaderMap>>,
    /// Those that came. Copies of a fault share them, since they can be read once.
    attachments: Option<Arc<Mutex<Attachments>>>,
}

impl Beside {
    /// What stands beside a fault that came.
    pub(crate) fn came(blocks: Blocks) -> Option<Box<Self>> {
        match blocks {
            Blocks::Nothing => None,
            blocks => Some(Box::new(Beside { blocks, ..Beside::default() })),
        }
    }
}

impl<D> Fault<D> {
    /// This fault with one more header of HTTP: `Retry-After`, `WWW-Authenticate`. Those that say what the message is are left out, as
    /// with [`Response::with_http_header`](crate::Response::with_http_header).
    ///
    /// ```
    /// use castile_soap::Fault;
    /// use http::header::{HeaderValue, RETRY_AFTER};
    ///
    /// let fault: Fault = Fault::receiver("closed until noon").with_http_header(RETRY_AFTER, HeaderValue::from_static("3600"));
    /// ```
    pub fn with_http_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.beside.get_or_insert_default().http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// This fault with one more header block. Blocks of a fault that came are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.beside.get_or_insert_default().blocks.push(block);
        self
    }

    /// This fault as one that came with these headers of HTTP, for those who carry messages.
    #[doc(hidden)]
    pub fn carried_with(mut self, http_headers: HeaderMap) -> Self {
        self.beside.get_or_insert_default().came = Some(Box::new(http_headers));
        self
    }

    /// This fault as one that came with these attachments.
    pub(crate) fn attached(mut self, attachments: Attachments) -> Self {
        self.beside.get_or_insert_default().attachments = Some(Arc::new(Mutex::new(attachments)));
        self
    }

    /// The attachments that the fault came with. They are handed out once, whichever of its copies is asked, and only `send` of a call
    /// keeps them: where a call is awaited by itself, they are passed over.
    pub fn take_attachments(&mut self) -> Attachments {
        let shared = self.beside.as_mut().and_then(|beside| beside.attachments.take());
        shared.map_or_else(Attachments::none, |shared| {
            mem::replace(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner), Attachments::none())
        })
    }

    /// The headers of HTTP that the fault came with; of one that did not come, those that it is sent with.
    pub fn http_headers(&self) -> &HeaderMap {
        let headers = self.beside.as_ref().and_then(|beside| beside.came.as_ref().or(beside.http_headers.as_ref()));
        http_headers(headers.map(|headers| &**headers))
    }

    /// The headers of HTTP to be sent.
    pub(crate) fn own_http_headers(&self) -> Option<Box<HeaderMap>> {
        self.beside.as_ref()?.http_headers.clone()
    }

    /// The header block that `H` is, read now; `None` if there is none for us.
    ///
    /// # Errors
    /// That the block is not what it is declared to be, or is there twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.beside.as_ref().map_or(Ok(None), |beside| beside.blocks.typed(Version::default()))
    }

    /// The header blocks of this name, as XML, for whomever they are.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers_named(&self, namespace: &str, local: &str) -> Result<Vec<AnyHeader>, Error> {
        self.all(|its_namespace, its_local| (its_namespace, its_local) == (namespace, local))
    }

    /// All header blocks, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.all(|_, _| true)
    }

    fn all(&self, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<AnyHeader>, Error> {
        self.beside.as_ref().map_or(Ok(Vec::new()), |beside| beside.blocks.all(Version::default(), wanted))
    }

    /// The blocks to be sent.
    pub(crate) fn blocks(&self) -> Vec<&dyn WriteHeader> {
        self.beside.as_ref().map_or_else(Vec::new, |beside| beside.blocks.own())
    }
}
