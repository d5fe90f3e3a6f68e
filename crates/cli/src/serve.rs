//! `castile serve`: the services of the suites, with a page that lists them.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use bytes::Bytes;
use castile::http::Body;
use castile::http::server::{Routes, Server};
use castile_suites::seismic;
use castile_suites::seismic::binary::Beside;
use castile_suites::seismic::catalogue::Catalogue;
use http::{HeaderValue, Response, header};
use minijinja::{Environment, context};

use crate::process;

/// Serve the services of the benchmark suites
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
    /// The quakes of the seismic suite, a line for each, packed by gzip or not [default: quakes that are made up]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
}

/// Serves until it is asked to end, and then finishes what is in flight.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let quakes = match &arguments.data {
        None => seismic::Service::default(),
        Some(file) => {
            seismic::Service::of(Catalogue::open(file).with_context(|| format!("can't read {}", file.display()))?)
        }
    };
    let routes = castile_suites::routes_with(&quakes);
    let page = Bytes::from(page(&routes).context("can't write the page that lists the services")?);
    let routes = routes.page(move |_| html(page.clone()));
    let paths: Vec<String> = routes.endpoints().map(|(path, _)| path.to_owned()).collect();
    arguments.process.serve(|listener, end| async move {
        if let Ok(address) = listener.local_addr() {
            for path in &paths {
                // Nobody may be reading, and that is no reason not to serve.
                let _ = writeln!(std::io::stdout(), "http://{address}{path}?wsdl");
            }
        }
        Server::new().serve(listener, Beside::new(quakes, routes), end).await;
    })
}

/// Services, operations and links to the contracts.
fn page(routes: &Routes) -> Result<String, minijinja::Error> {
    let services: Vec<_> = routes
        .endpoints()
        .map(|(path, endpoint)| {
            let description = endpoint.description();
            let operations: Vec<_> = description
                .operations
                .iter()
                .map(|operation| context! { name => operation.name, action => operation.action })
                .collect();
            context! {
                path,
                operations,
                name => description.name,
                namespace => description.namespace,
                documentation => description.documentation,
            }
        })
        .collect();
    let mut environment = Environment::new();
    environment.add_template("serve.html", include_str!("serve.html"))?;
    environment.get_template("serve.html")?.render(context! { services, version => env!("CARGO_PKG_VERSION") })
}

fn html(page: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(page));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_services_operations_and_contracts() {
        let page = page(&castile_suites::routes()).unwrap();
        for expected in ["benchmark1?wsdl", "wstest?wsdl", "echoMeshInterfaceObjects", "GetOrder"] {
            assert!(page.contains(expected), "{expected} in {page}");
        }
    }
}
