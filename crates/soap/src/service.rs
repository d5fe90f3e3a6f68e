//! The interface between messages and their transport.

use std::sync::Arc;

use crate::charge::Awaited;
use crate::{Description, Options, Pending, ReplyMessage, RequestMessage, reply};

/// A SOAP service that turns a request message into a reply message. Generated servers implement it; `castile-http` transports the
/// messages.
///
/// A [`Layer`](crate::Layer) wraps a service in another service. If the layer has to call the inner service later, it stores it in
/// an `Arc`, which is also a service:
///
/// ```
/// use castile_soap::{Description, Layer, Options, Pending, ReplyMessage, RequestMessage, Service, layer_fn};
///
/// /// Counts faults.
/// struct Counted<S>(S, std::sync::Arc<std::sync::atomic::AtomicUsize>);
///
/// impl<S: Service> Service for Counted<S> {
///     fn description(&self) -> &'static Description {
///         self.0.description()
///     }
///
///     fn call(&self, request: RequestMessage, options: &Options) -> Pending {
///         let (pending, faults) = (self.0.call(request, options), self.1.clone());
///         Box::pin(async move {
///             let reply = pending.await;
///             faults.fetch_add(usize::from(reply.is_fault()), std::sync::atomic::Ordering::Relaxed);
///             reply
///         })
///     }
/// }
///
/// # fn layered<S: Service>(service: S) -> impl Service {
/// let layer = layer_fn(|service| Counted(service, Default::default()));
/// layer.layer(service)
/// # }
/// ```
pub trait Service: Send + Sync + 'static {
    /// Returns the description of the service, which doesn't depend on any message.
    fn description(&self) -> &'static Description;

    /// Answers one request. `options` configures how the message is read.
    ///
    /// Every failure, including a panic of a handler, becomes a fault in the [`ReplyMessage`].
    fn call(&self, request: RequestMessage, options: &Options) -> Pending;
}

/// A shared service, for example the inner service of a layer.
impl<S: Service + ?Sized> Service for Arc<S> {
    fn description(&self) -> &'static Description {
        S::description(self)
    }

    /// Reads a large message on a worker, if offloading is configured.
    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        match options.elsewhere(request.message.len()) {
            None => S::call(self, request, options),
            Some(_) => call_elsewhere(self.clone(), request, options.clone()),
        }
    }
}

#[cold]
fn call_elsewhere<S: Service + ?Sized>(service: Arc<S>, request: RequestMessage, options: Options) -> Pending {
    Box::pin(async move {
        let version = request.version;
        let Some(offload) = options.offload.clone() else { return S::call(&service, request, &options).await };
        let awaited = Awaited::new(request.reservation.as_ref());
        let called = offload.run(move || S::call(&service, request, &options)).await;
        awaited.finish();
        match called {
            Some(pending) => pending.await,
            None => ReplyMessage::from_fault(version, &reply::panicked()),
        }
    })
}
