//! The types that generated servers are made of.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use castile_http::Body;
use castile_http::server::{Endpoint, Options};
use castile_soap::{Description, Dispatch, Handles, Layer, Payload, Pending, Service, Shared};
use tower_service::Service as TowerService;

/// A service of a contract, implemented by `T`. The generator implements this trait for each service.
pub trait Contract<T>: Send + Sync + 'static {
    /// The description of the service.
    const DESCRIPTION: &'static Description;

    /// Passes a request to the method of `service` that implements `DESCRIPTION.operations[operation]`.
    ///
    /// # Errors
    /// Returns an error if the payload is not valid for the operation.
    fn dispatch(service: Shared<T>, operation: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error>;
}

/// A tower service that speaks SOAP over HTTP for the contract `C`. It can be mounted into axum (`Router::route_service`), hyper,
/// and the [`Server`](castile_http::server::Server) of this crate.
pub struct ContractServer<C, T>(Endpoint<Contracted<C, T>>);

/// Dispatches requests to a service by its contract.
pub struct Contracted<C, T> {
    service: Handles<T>,
    contract: PhantomData<fn() -> C>,
}

impl<C: Contract<T>, T: Send + Sync + 'static> Dispatch for Contracted<C, T> {
    fn description(&self) -> &'static Description {
        C::DESCRIPTION
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        C::dispatch(self.service.of_thread(), operation, payload)
    }
}

impl<C: Contract<T>, T: Send + Sync + 'static> ContractServer<C, T> {
    /// Creates a server with the default options.
    pub fn new(service: T) -> Self {
        Self::with_options(service, Options::default())
    }

    /// Creates a server with these options.
    pub fn with_options(service: T, options: Options) -> Self {
        let service = Contracted { service: Handles::new(service), contract: PhantomData };
        ContractServer(Endpoint::with_options(service, options))
    }

    /// Wraps the server in a layer, which sees every request before the service and every reply after it.
    pub fn layer<L>(self, layer: L) -> Endpoint<L::Service>
    where
        L: Layer<Arc<dyn Service>>,
        L::Service: Service,
    {
        self.0.boxed().layer(layer)
    }

    /// Erases the types of the contract and the service, so that different servers fit in one collection.
    pub fn boxed(self) -> Endpoint<dyn Service> {
        self.0.boxed()
    }
}

impl<C, T> Clone for ContractServer<C, T> {
    fn clone(&self) -> Self {
        ContractServer(self.0.clone())
    }
}

impl<C, T> fmt::Debug for ContractServer<C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContractServer").finish_non_exhaustive()
    }
}

impl<C: Contract<T>, T: Send + Sync + 'static> From<ContractServer<C, T>> for Endpoint<dyn Service> {
    fn from(server: ContractServer<C, T>) -> Self {
        server.boxed()
    }
}

impl<C, T, B> TowerService<http::Request<B>> for ContractServer<C, T>
where
    C: Contract<T>,
    T: Send + Sync + 'static,
    B: http_body::Body<Data = bytes::Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        TowerService::call(&mut self.0, request)
    }
}
