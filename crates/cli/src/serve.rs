//! `castile serve`: the services of the suites, with a page that lists them.

use std::cmp::Reverse;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use castile::Budget;
use castile::http::Body;
use castile::http::server::{AccessLog, Address, Metrics, ProxyHeader, Routes, Server, Shutdown};
use castile_budget::Size;
use castile_suites::seismic;
use castile_suites::seismic::binary::Beside;
use castile_suites::seismic::catalogue::Catalogue;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Response, header};
use minijinja::{Environment, context};

use crate::problems::{WARNING, counted};
use crate::quantity::time;
use crate::{outcome, process, tls};

/// How many of them are listed.
const LISTED: usize = 20;

/// Serve the services of the benchmark suites
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
    /// The quakes of the seismic suite, a line for each, packed by gzip or not [default: quakes that are made up]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// A host that clients may use, as their URLs name it, with its port unless that is 80, or 443 with TLS. Contracts name the one that is
    /// asked, or else the first [default: the address that a connection came to]
    #[arg(long = "host", value_name = "HOST[:PORT]", value_parser = host)]
    hosts: Vec<String>,
    /// A header that the proxy in front sets on every request, or takes away: contracts name the host, scheme or path that it says. May
    /// be repeated [default: none is trusted]
    #[arg(long = "proxy-header", value_name = "HEADER", value_enum)]
    proxy_headers: Vec<Trusted>,
    /// The memory that requests share: messages that come, what is made of them, and answers that are not sent yet, such as
    /// 512MiB [default: half of what the machine or the container has]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Size>,
    /// How long requests at work are waited for when the server is asked to end
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    grace: Duration,
    /// Answer GET of /metrics with the metrics of all requests, as text for Prometheus
    #[arg(long)]
    metrics: bool,
    /// Write a line to standard error for each request: for people, or as JSON
    #[arg(long, value_name = "FORMAT", value_enum)]
    access_log: Option<LogFormat>,
    #[command(flatten)]
    tls: tls::ServerArguments,
}

/// How an access log is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// A [`ProxyHeader`] by its name.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Trusted {
    Forwarded,
    XForwardedHost,
    XForwardedProto,
    XForwardedPort,
    XForwardedPrefix,
}

impl From<Trusted> for ProxyHeader {
    fn from(trusted: Trusted) -> Self {
        match trusted {
            Trusted::Forwarded => ProxyHeader::Forwarded,
            Trusted::XForwardedHost => ProxyHeader::XForwardedHost,
            Trusted::XForwardedProto => ProxyHeader::XForwardedProto,
            Trusted::XForwardedPort => ProxyHeader::XForwardedPort,
            Trusted::XForwardedPrefix => ProxyHeader::XForwardedPrefix,
        }
    }
}

/// Serves until it is asked to end, and then finishes what is in flight.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let quakes = match &arguments.data {
        None => seismic::Service::default(),
        Some(file) => {
            seismic::Service::of(Catalogue::open(file).with_context(|| format!("can't read {}", file.display()))?)
        }
    };
    let trusted = arguments.proxy_headers.into_iter().map(ProxyHeader::from).collect();
    let address = Address::Asked { scheme: Scheme::HTTP, hosts: arguments.hosts, trusted };
    let routes = castile_suites::routes_with(&quakes).address(&address);
    let page = Bytes::from(page(&routes).context("can't write the page that lists the services")?);
    let mut routes = routes.page(move |_| html(page.clone()));
    let paths: Vec<String> = routes.endpoints().map(|(path, _)| path.to_owned()).collect();
    let budget = arguments.memory.map_or_else(Budget::process, |Size(bytes)| Budget::new(bytes));
    let mut server = Server::new().budget(budget).shutdown_grace(arguments.grace);
    if arguments.metrics {
        let metrics = Metrics::new();
        routes = routes.route_service("/metrics", metrics.clone());
        server = server.observer(metrics);
    }
    if let Some(format) = arguments.access_log {
        let log = match format {
            LogFormat::Text => AccessLog::text(io::stderr()),
            LogFormat::Json => AccessLog::json(io::stderr()),
        };
        server = server.observer(log.context("can't write the access log")?);
    }
    let service = Beside::new(quakes, routes);
    let tls = arguments.tls.load()?;
    let scheme = if tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
    let shutdown = arguments.process.serve(tls.as_ref(), |listener, end| async {
        if let Ok(address) = listener.local_addr() {
            for path in &paths {
                out!("{scheme}://{address}{path}?wsdl");
            }
        }
        match &tls {
            None => server.serve(listener, service, end).await,
            Some(tls) => server.serve(tls.tls.listen(listener), service, end).await,
        }
    })?;
    if shutdown.is_complete() {
        return Ok(ExitCode::SUCCESS);
    }
    report(&shutdown, arguments.grace);
    Ok(ExitCode::from(outcome::INCOMPLETE))
}

/// Says what was cut off, the oldest requests first.
fn report(shutdown: &Shutdown, grace: Duration) {
    let Shutdown { cut_off, stuck, .. } = shutdown;
    let count = counted(cut_off.len() + stuck, "request");
    note!("{WARNING}warning{WARNING:#}: {count} cut off after {}", humantime::format_duration(grace));
    let mut cut_off: Vec<_> = cut_off.iter().collect();
    cut_off.sort_by_key(|cut_off| Reverse(cut_off.elapsed));
    for cut_off in cut_off.iter().take(LISTED) {
        note!("  {cut_off}");
    }
    if cut_off.len() > LISTED {
        note!("  and {} more", cut_off.len() - LISTED);
    }
    if *stuck > 0 {
        note!("  {} in handlers that did not yield", counted(*stuck, "request"));
    }
}

fn host(text: &str) -> Result<String, String> {
    match text.parse::<Authority>() {
        Ok(authority) if !text.contains('@') && !authority.host().is_empty() => Ok(text.to_owned()),
        _ => Err("expected HOST or HOST:PORT, such as example.org:8080".to_owned()),
    }
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
                has_page => description.page.is_some(),
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
        // Without one, browsers ask for /favicon.ico, which is not there.
        assert!(page.contains("<link rel=\"icon\" href=\"data:,\">"));
        assert!(page.contains("overflow-wrap: anywhere"), "a namespace may be wider than a phone");
    }
}
