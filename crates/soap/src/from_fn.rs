//! Layers of an async function.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tower_layer::Layer;

use crate::{Description, Error, Operation, Options, Pending, ReplyMessage, RequestMessage, Service, dispatch, reply};

/// A layer of an async function, which is called with each request and with what is behind the layer.
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

/// A layer that [`from_fn`] makes.
pub struct FromFn<F>(Arc<F>);

/// A service behind a layer that [`from_fn`] makes.
pub struct Around<F> {
    function: Arc<F>,
    service: Arc<dyn Service>,
}

/// What is behind a layer: the next one, or the service itself.
#[derive(Clone)]
pub struct Next {
    service: Arc<dyn Service>,
    options: Options,
}

impl Next {
    /// Hands the request on, and waits for the reply.
    pub async fn run(self, request: RequestMessage) -> ReplyMessage {
        let Next { service, options } = self;
        service.call(request, &options).await
    }

    /// How messages are read.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What the service offers.
    pub fn description(&self) -> &'static Description {
        self.service.description()
    }

    /// The operation that a request is for, as the service finds it: by what its body begins with, and by its action only where two
    /// operations begin alike. A layer that decides by [`RequestMessage::action`] alone can be lied to.
    ///
    /// It reads the header of the message, which the service does once more.
    ///
    /// # Errors
    /// What the service would refuse the request for.
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
        dispatch::operation(self.description(), request, &self.options)
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
            // A panic ends this request only, as that of a handler does.
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
