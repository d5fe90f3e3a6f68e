//! Methods of services as functions.

use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;

/// A method that answers requests. Every `async fn` with a `Send` future that takes a service and a request implements it.
///
/// The future type of a method depends on the lifetime of the borrowed service, which bounds on functions can't express.
#[doc(hidden)]
pub trait Method<'s, T, Q, R, D>: Send + 'static {
    /// The future of the method.
    type Answer: Future<Output = Result<Response<R>, Fault<D>>> + Send + 's;

    /// Calls the method.
    fn call(self, service: &'s T, request: Request<Q>) -> Self::Answer;
}

impl<'s, T, Q, R, D, F, M> Method<'s, T, Q, R, D> for M
where
    T: 's,
    F: Future<Output = Result<Response<R>, Fault<D>>> + Send + 's,
    M: FnOnce(&'s T, Request<Q>) -> F + Send + 'static,
{
    type Answer = F;

    #[inline]
    fn call(self, service: &'s T, request: Request<Q>) -> F {
        self(service, request)
    }
}
