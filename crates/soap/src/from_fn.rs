//! Layers from async functions.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tower_layer::Layer;

use crate::description::{Description, Operation};
use crate::error::Error;
use crate::options::Options;
use crate::reply;
use crate::reply_message::{Pending, ReplyMessage};
use crate::request_message::RequestMessage;
use crate::service::{self, Service};

/// Creates a layer from an async function. The function is called with each request and the next service.
///
/// ```
/// use castile_soap::{Fault, Layer, Next, RequestMessage, Service, from_fn};
///
/// # fn layered(service: impl Service) -> impl Service {
/// let layer = from_fn(|request: RequestMessage, next: Next| async move {
///     if request.http_headers().get("x-key").is_none_or(|key| key != "open sesame") {
///         return request.refuse(next.options(), &Fault::sender("the header X-Key is missing")).await;
///     }
///     let reply = next.run(request).await;
///     println!("a fault: {}", reply.is_fault());
///     reply
/// });
/// layer.layer(service)
/// # }
/// ```
pub fn from_fn<F, R>(function: F) -> FromFn<F>
where
    F: Fn(RequestMessage, Next) -> R + Send + Sync + 'static,
    R: Future<Output = ReplyMessage> + Send + 'static,
{
    FromFn(Arc::new(function))
}

/// A layer that was created by [`from_fn`].
pub struct FromFn<F>(Arc<F>);

/// A service with a layer that was created by [`from_fn`].
pub struct Around<F> {
    function: Arc<F>,
    service: Arc<dyn Service>,
}

/// The next service: another layer, or the service itself.
#[derive(Clone)]
pub struct Next {
    service: Arc<dyn Service>,
    options: Options,
}

impl Next {
    /// Passes the request to the next service and waits for the reply.
    pub async fn run(self, request: RequestMessage) -> ReplyMessage {
        let Next { service, options } = self;
        service.call(request, &options).await
    }

    /// Returns the options for reading messages.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the description of the service.
    pub fn description(&self) -> &'static Description {
        self.service.description()
    }

    /// Returns the operation of a request, as the service determines it: by the first element of the body, and by the action only
    /// if two operations have the same first element. [`RequestMessage::action`] alone is not safe for decisions in a layer,
    /// because the sender can set any action.
    ///
    /// This method parses the header of the message, which the service parses again.
    ///
    /// # Errors
    /// Returns the error with which the service would reject the request.
    ///
    /// ```
    /// use castile_soap::{Fault, Next, RequestMessage, from_fn};
    ///
    /// let layer = from_fn(|request: RequestMessage, next: Next| async move {
    ///     match next.operation(&request) {
    ///         Ok(operation) if operation.name == "Register" => {
    ///             request.refuse(next.options(), &Fault::sender("only administrators register")).await
    ///         }
    ///         _ => next.run(request).await,
    ///     }
    /// });
    /// # drop(layer);
    /// ```
    pub fn operation(&self, request: &RequestMessage) -> Result<&'static Operation, Error> {
        service::find_operation(self.description(), request, &self.options)
    }
}

impl<F, S: Service> Layer<S> for FromFn<F> {
    type Service = Around<F>;

    fn layer(&self, service: S) -> Around<F> {
        Around { function: self.0.clone(), service: Arc::new(service) }
    }
}

impl<F, R> Service for Around<F>
where
    F: Fn(RequestMessage, Next) -> R + Send + Sync + 'static,
    R: Future<Output = ReplyMessage> + Send + 'static,
{
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        let next = Next { service: self.service.clone(), options: options.clone() };
        let (function, version) = (self.function.clone(), request.version);
        Box::pin(async move {
            // A panic in the function fails only this request.
            let reply = AssertUnwindSafe(async move { function(request, next).await }).catch_unwind().await;
            reply.unwrap_or_else(|_| ReplyMessage::from_fault(version, &reply::panicked()))
        })
    }
}

impl<F> Clone for FromFn<F> {
    fn clone(&self) -> Self {
        FromFn(self.0.clone())
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromFn")
    }
}

impl<F> fmt::Debug for Around<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Around").field("service", &self.service.description().name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("service", &self.service.description().name).finish_non_exhaustive()
    }
}
