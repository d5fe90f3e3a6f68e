//! `castile serve`: the services of the suites, with a page that lists them.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::path::PathBuf;
use std::process::ExitCode;
use std::task::{self, Poll};

use anyhow::Context;
use castile::http::Body;
use castile::http::server::ClientAddress;
use castile_suites::seismic;
use castile_suites::seismic::catalogue::Catalogue;
use http::{Request, Response};

use crate::server;

/// Serve the services of the benchmark suites
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The quakes of the seismic suite: a file with one quake per line, optionally compressed with gzip [default: generated quakes]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    #[command(flatten)]
    server: server::Arguments,
}

/// Serves until a signal asks the process to end, then finishes the requests in progress.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let quakes = match &arguments.data {
        None => seismic::Service::default(),
        Some(file) => {
            seismic::Service::of(Catalogue::open(file).with_context(|| format!("can't read {}", file.display()))?)
        }
    };
    let setup = arguments.server.load()?;
    // The quakes are generated now, because the first request would block every connection for it.
    quakes.catalogue();
    // The binary service has no HTTP and so no logins.
    let binary = (!setup.asks_for_login()).then(|| quakes.clone());
    let routes = setup.configure(castile_suites::routes_with(&quakes), None)?;
    let routes = setup.add_page(routes, "/client", Client);
    setup.serve(routes, binary)
}

/// Answers with the client's address as the server sees it, to check the setup of a proxy.
#[derive(Clone)]
struct Client;

impl tower_service::Service<Request<Body>> for Client {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client =
            request.extensions().get().map_or_else(|| "unknown".to_owned(), |ClientAddress(client)| client.to_string());
        ready(Ok(Response::new(Body::from(client + "\n"))))
    }
}
