//! `castile serve`: the services of all suites.

use castile::http::server::Server;

use crate::process;

/// Serve the services of the benchmarks
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
}

/// Serves until it is asked to end.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    arguments.process.serve(|listener, end| Server::new().serve(listener, castile_suites::routes(), end))
}
