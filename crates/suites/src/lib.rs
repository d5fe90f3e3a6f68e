//! The published benchmarks: their contracts, services and workloads, on Castile's own engine and generator.
//!
//! The engine has no special code for them. They use the same reader and generator as any other contract.

pub mod attachments;
pub mod benchmark1;
mod case;
mod client;
pub mod codec;
pub mod floor;
#[cfg(feature = "interop")]
pub mod interop;
pub mod open;
mod random;
pub mod seismic;
pub mod styles;
mod suite;
#[cfg(feature = "tls")]
pub mod tls;
pub mod wspex;
pub mod wstest;

use castile::http::server::Routes;
use castile_load::Case;

pub use suite::{Method, OPTIONAL_SUITES, SUITES, Suite, suite};

/// Returns the cases of a suite in the order of its publication; empty for an unknown suite.
pub fn cases(name: &str) -> Vec<Case> {
    suite(name).map_or_else(Vec::new, |suite| (suite.cases)())
}

/// Returns the services of all suites, each at its path. Further services are two for features that the others lack,
/// attachments and wildcards, and those of interoperability tests with the feature `interop`.
pub fn routes() -> Routes {
    routes_with(&seismic::Service::default())
}

/// Returns the services of [`routes`] with the quakes of this service.
/// [`WithBinary`](seismic::binary::WithBinary) adds the one that isn't SOAP.
pub fn routes_with(quakes: &seismic::Service) -> Routes {
    let routes = Routes::new()
        .route(benchmark1::PATH, benchmark1::contract::BenchmarkServer::new(benchmark1::Service))
        .route(attachments::PATH, attachments::contract::AttachmentsServer::new(attachments::Service))
        .route(open::PATH, open::contract::OpenServer::new(open::Service))
        .route(benchmark1::round2::PATH, benchmark1::round2::contract::BenchmarkServer::new(benchmark1::Service))
        .route(seismic::document::PATH, seismic::document::contract::QuakeInterfaceServer::new(quakes.clone()))
        .route(seismic::encoded::PATH, seismic::encoded::contract::EncodedQuakeInterfaceServer::new(quakes.clone()))
        .route(styles::RPC_PATH, styles::contract::RpcPtServer::new(styles::Service))
        .route(styles::PATH, styles::contract::DocPtServer::new(styles::Service))
        .route(wspex::PATH, wspex::contract::TestServiceServer::new(wspex::Service))
        .route(wstest::PATH, wstest::server());
    #[cfg(feature = "security")]
    let routes = seismic::secured::routes(routes, quakes);
    #[cfg(feature = "interop")]
    let routes = interop::routes(routes);
    routes
}
