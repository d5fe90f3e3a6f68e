//! What goes beside a fault: header blocks, and headers of HTTP.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::Fault;
use crate::blocks::Blocks;
use crate::{AnyHeader, Error, Header, Version, WriteHeader};

/// The header blocks and the headers of HTTP of a fault. It is a field of faults so that these can be made of their parts.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
// Boxed, since faults are in the results of all methods.
pub struct FaultHeaders(Option<Box<Beside>>);

#[derive(Clone, Debug, Default)]
struct Beside {
    blocks: Blocks,
    http_headers: Option<Box<HeaderMap>>,
}

/// A fault is what stands in the body.
impl PartialEq for FaultHeaders {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for FaultHeaders {}

impl FaultHeaders {
    /// Those of a fault that came.
    pub(crate) fn came(blocks: Blocks) -> Self {
        match blocks {
            Blocks::Nothing => FaultHeaders(None),
            blocks => FaultHeaders(Some(Box::new(Beside { blocks, http_headers: None }))),
        }
    }

    /// The blocks to be sent.
    pub(crate) fn own(&self) -> Vec<&dyn WriteHeader> {
        self.0.as_ref().map_or_else(Vec::new, |beside| beside.blocks.own())
    }

    pub(crate) fn http_headers(&self) -> Option<&HeaderMap> {
        self.0.as_ref()?.http_headers.as_deref()
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
        self.headers.0.get_or_insert_default().http_headers.get_or_insert_default().append(name, value);
        self
    }

    /// This fault with one more header block. Blocks of a fault that came are replaced.
    pub fn with_header(mut self, block: impl WriteHeader + 'static) -> Self {
        self.headers.0.get_or_insert_default().blocks.push(block);
        self
    }

    /// The headers of HTTP that the fault is sent with. Those that one came with are in the `CallError` of the call.
    pub fn http_headers(&self) -> Option<&HeaderMap> {
        self.headers.http_headers()
    }

    /// The header block that `H` is, read now; `None` if there is none for us.
    ///
    /// # Errors
    /// That the block is not what it is declared to be, or is there twice.
    pub fn header<H: Header>(&self) -> Result<Option<H>, Error> {
        self.headers.0.as_ref().map_or(Ok(None), |beside| beside.blocks.typed(Version::default()))
    }

    /// All header blocks, as XML.
    ///
    /// # Errors
    /// That there is no memory for them.
    pub fn headers(&self) -> Result<Vec<AnyHeader>, Error> {
        self.headers.0.as_ref().map_or(Ok(Vec::new()), |beside| beside.blocks.all(Version::default(), |_, _| true))
    }
}
