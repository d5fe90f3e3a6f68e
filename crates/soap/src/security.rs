//! Security of the messages that a client exchanges.

use std::fmt;

use castile_databinding::ExpandedName;
use castile_xml::Charset;
use futures_util::future::BoxFuture;

use crate::error::Error;

/// Adds security to the requests of a client, and checks that of the answers. `castile-wss` implements it for WS-Security.
pub trait MessageSecurity: fmt::Debug + Send + Sync + 'static {
    /// Returns a request with security. The message is in UTF-8.
    ///
    /// # Errors
    /// The request can't be secured.
    fn secure<'a>(&'a self, request: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>>;

    /// Checks the security of an answer, before anything else is read from it. `charset` is that of its media type.
    ///
    /// # Errors
    /// [`ErrorKind::Security`](crate::ErrorKind::Security) or
    /// [`ErrorKind::UnsecuredFault`](crate::ErrorKind::UnsecuredFault).
    fn verify<'a>(&'a self, answer: &'a [u8], charset: Option<Charset>) -> BoxFuture<'a, Result<(), Error>>;

    /// Returns the header blocks of answers that this checks, so that they may be marked `mustUnderstand`.
    fn understood(&self) -> Vec<ExpandedName>;
}
