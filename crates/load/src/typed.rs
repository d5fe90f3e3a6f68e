//! The seam for clients that are not the driver's own: generated ones, and other transports than HTTP.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::Endpoint;

/// Makes the client of one user. Called again for each request where connections serve only one.
///
/// It may open its connection at once or with the first call; the time that takes counts as part of the call either way.
pub type Connect = Arc<dyn Fn(&User) -> Result<Box<dyn TypedClient>, BoxError> + Send + Sync>;

/// What a client may fail with; where an [`std::io::Error`] is among its sources, the kit looks at whose fault it was.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Ready with what a call came to.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<Answer, BoxError>> + 'a>>;

/// Calls a service: encodes the request, sends it over a connection of its own, decodes the answer in full and judges it.
///
/// A client stays on one thread of the driver, within a tokio runtime, and has one call under way at a time.
/// A call that takes too long is dropped, and the client with it.
pub trait TypedClient {
    /// Sends the request of this number in the list of its case, counted from 0.
    fn call(&mut self, number: usize) -> Call<'_>;
}

/// What a right answer says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Length of the body of the request.
    pub bytes_out: u64,
    /// Length of the body of the answer.
    pub bytes_in: u64,
    /// Items found, where a suite counts them.
    pub matches: u64,
}

/// For whom a client is made.
#[derive(Clone, Debug)]
pub struct User {
    /// Which user of the load it is, counted from 0.
    pub number: usize,
    /// Whom it calls.
    pub endpoint: Endpoint,
    /// The address it is to call from, where the plan names some.
    pub source: Option<IpAddr>,
    /// How long a call may take; the kit sees to it as well.
    pub timeout: Duration,
}
