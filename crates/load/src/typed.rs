//! Clients other than the driver's own: generated clients, and clients with other transports than HTTP.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::Endpoint;

/// Makes the client of one user. If connections serve only one request, it is called again for each request.
///
/// The client may open its connection immediately or with the first call. The time for that counts as part of the call
/// either way.
pub type Connect = Arc<dyn Fn(&User) -> Result<Box<dyn TypedClient>, BoxError> + Send + Sync>;

/// The error of a client. If an [`std::io::Error`] is among its sources, the kit checks whether the driver's machine
/// caused it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A future that returns the result of a call.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<Answer, BoxError>> + 'a>>;

/// Calls a service: encodes the request, sends it over its own connection, decodes the answer in full and judges it.
///
/// A client stays on one thread of the driver, within a tokio runtime, and makes one call at a time. If a call takes too
/// long, the call and the client are dropped.
pub trait TypedClient {
    /// Sends a request; `number` is its index in the list of its case.
    fn call(&mut self, number: usize) -> Call<'_>;
}

/// The sizes of a right answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The length of the body of the request, in bytes.
    pub bytes_out: u64,
    /// The length of the body of the answer, in bytes.
    pub bytes_in: u64,
    /// The number of items in the answer, if the suite counts them.
    pub matches: u64,
}

/// The user that a client is made for.
#[derive(Clone, Debug)]
pub struct User {
    /// The number of the user, counted from 0.
    pub number: usize,
    /// The endpoint to call.
    pub endpoint: Endpoint,
    /// The address to call from, if the plan names some.
    pub source: Option<IpAddr>,
    /// How long a call may take. The kit enforces this as well.
    pub timeout: Duration,
}
