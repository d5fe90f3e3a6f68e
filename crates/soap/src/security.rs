//! Security of the messages that a client exchanges.

use std::fmt;

use futures_util::future::BoxFuture;

use crate::error::Error;
use crate::package::Received;
use crate::writer::Written;

/// Adds security to the requests of a client, and checks that of the answers. `castile-wss` implements it for WS-Security.
pub trait MessageSecurity: fmt::Debug + Send + Sync + 'static {
    /// Returns a request with security. Its message is in UTF-8, and in memory. The future doesn't hold the parts of the request,
    /// because those that are streams can't be shared between threads: what is needed of them is read before it is returned.
    ///
    /// # Errors
    /// The request can't be secured.
    fn secure<'a>(&'a self, request: &'a Written) -> BoxFuture<'a, Result<SecuredRequest, Error>>;

    /// Checks the security of an answer, before anything else is read from it. `signatures` are those of the
    /// [request](SecuredRequest::signatures). Attachments may still be arriving. They can be read from afterwards, even if they have to
    /// be [stored](castile_mime::Attachments::spool) to check them. What a signature covers in place of `xop:Include` elements has to be
    /// [required](Received::required_includes). The header blocks that were checked are [processed](Received::processed), so that they
    /// may be marked `mustUnderstand`. What callers may want to know, such as who signed the answer, is among its
    /// [extensions](Received::extensions).
    ///
    /// # Errors
    /// [`ErrorKind::Security`](crate::ErrorKind::Security) or
    /// [`ErrorKind::UnsecuredFault`](crate::ErrorKind::UnsecuredFault).
    fn verify<'a>(&'a self, answer: &'a mut Received, signatures: &'a [Vec<u8>]) -> BoxFuture<'a, Result<(), Error>>;
}

/// A request with security.
#[derive(Clone)]
#[non_exhaustive]
pub struct SecuredRequest {
    /// The message, in UTF-8.
    pub message: Vec<u8>,
    /// The values of its signatures, which an answer may have to confirm.
    pub signatures: Vec<Vec<u8>>,
}

impl SecuredRequest {
    /// Creates a request without a signature.
    pub fn new(message: Vec<u8>) -> Self {
        SecuredRequest { message, signatures: Vec::new() }
    }

    /// Adds signature values.
    pub fn with_signatures(mut self, values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.signatures.extend(values);
        self
    }
}

/// The message may have a password.
impl fmt::Debug for SecuredRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecuredRequest").field("message", &self.message.len()).finish_non_exhaustive()
    }
}
