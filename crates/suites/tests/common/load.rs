//! Serves on a free port, and sends the requests of cases.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use castile::http::server::Server;
use castile_load::{BoxError, Case, Endpoint, Expected, Plan, Recorder, Run};
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use tokio::net::TcpListener;

/// Serves until the runtime ends. Returns the address.
pub async fn serve<S, B>(server: Server, service: S) -> SocketAddr
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve(listener, service, std::future::pending()));
    address
}

/// Sends the requests of a case to an address.
pub async fn record(case: &Case, address: SocketAddr, plan: Plan) -> Recorder {
    let endpoint = Endpoint::resolve(&format!("http://{address}{}", case.path)).unwrap();
    let run = Run::start(case, &endpoint, &plan, &Expected::of(case)).unwrap();
    run.finish().await.unwrap().record
}
