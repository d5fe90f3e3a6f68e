//! `castile serve`: the services of the suites, with a page that lists them.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::task::{self, Poll};
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use castile::Budget;
use castile::http::Body;
use castile::http::server::{
    AccessLog, Address, ClientAddress, Listener, Metrics, Options, Proxies, ProxyHeader, ProxyProtocol, Routes, Server,
    Shutdown, Tls,
};
use castile::soap::Layer;
use castile_budget::Size;
use castile_suites::seismic;
use castile_suites::seismic::binary::Beside;
use castile_suites::seismic::catalogue::Catalogue;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Request, Response, header};
use minijinja::{Environment, context};

use crate::problems::{WARNING, counted};
use crate::quantity::time;
use crate::{outcome, process, tls, users};

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
    /// The size above which answers go as gzip to clients that take it, such as 64KiB [default: none goes so]
    #[arg(long, value_name = "SIZE")]
    gzip_above: Option<Size>,
    /// How many times larger a request of gzip may be than what came of it; 0 takes no gzip
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().gzip_ratio)]
    gzip_ratio: u32,
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
    login: users::Arguments,
    #[command(flatten)]
    front: Front,
    #[command(flatten)]
    tls: tls::ServerArguments,
}

/// How an access log is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// What stands in front of the server.
#[derive(clap::Args)]
#[group(id = "front")]
#[command(next_help_heading = "Proxies in front")]
struct Front {
    /// A header that the proxy in front sets on every request, or takes away: contracts name the host, scheme or path that it says. May
    /// be repeated [default: none is trusted]
    #[arg(long = "proxy-header", value_name = "HEADER", value_enum)]
    headers: Vec<Trusted>,
    /// The address of a proxy, or the network that proxies are in: a request is from whom they say in Forwarded or X-Forwarded-For,
    /// whichever --proxy-header names. May be repeated
    #[arg(long = "trusted-proxy", value_name = "NETWORK", requires = "headers")]
    proxies: Vec<String>,
    /// The address of a proxy that hands on bytes, or the network that such proxies are in: each connection must come from one and begin
    /// with the PROXY protocol, versions 1 or 2. May be repeated
    #[arg(long = "proxy-protocol", value_name = "NETWORK")]
    bytes_from: Vec<String>,
}

impl Front {
    /// The headers that contracts are told by.
    fn address(&self) -> Vec<ProxyHeader> {
        self.headers.iter().filter_map(|header| header.address()).collect()
    }

    /// Those who say whose a request is.
    fn proxies(&self) -> anyhow::Result<Option<Proxies>> {
        const USAGE: &str = "one --proxy-header that says whose a request is";
        let is_for = |header: &&Trusted| matches!(header, Trusted::Forwarded | Trusted::XForwardedFor);
        let mut headers = self.headers.iter().filter(is_for);
        let (header, other) = (headers.next(), headers.next());
        let header = match (header, other, self.proxies.is_empty()) {
            (Some(Trusted::XForwardedFor), _, true) => {
                bail!("x-forwarded-for is taken from known proxies alone, expected --trusted-proxy")
            }
            (_, _, true) => return Ok(None),
            (Some(header), None, _) => header,
            (None, ..) => bail!("found none for --trusted-proxy, expected {USAGE}: forwarded or x-forwarded-for"),
            (Some(_), Some(_), _) => bail!("found forwarded and x-forwarded-for, expected {USAGE}"),
        };
        let proxies = match header {
            Trusted::XForwardedFor => Proxies::x_forwarded_for(&self.proxies),
            _ => Proxies::forwarded(&self.proxies),
        };
        proxies.map(Some).context("--trusted-proxy")
    }
}

/// A header of a proxy by its name.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Trusted {
    Forwarded,
    XForwardedFor,
    XForwardedHost,
    XForwardedProto,
    XForwardedPort,
    XForwardedPrefix,
}

impl Trusted {
    /// The same, if it says something of the address that was asked.
    fn address(self) -> Option<ProxyHeader> {
        Some(match self {
            Trusted::Forwarded => ProxyHeader::Forwarded,
            Trusted::XForwardedFor => return None,
            Trusted::XForwardedHost => ProxyHeader::XForwardedHost,
            Trusted::XForwardedProto => ProxyHeader::XForwardedProto,
            Trusted::XForwardedPort => ProxyHeader::XForwardedPort,
            Trusted::XForwardedPrefix => ProxyHeader::XForwardedPrefix,
        })
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
    let login = arguments.login.load()?;
    let proxies = arguments.front.proxies()?;
    let address = Address::Asked { scheme: Scheme::HTTP, hosts: arguments.hosts, trusted: arguments.front.address() };
    let routes = castile_suites::routes_with(&quakes).configure(|options| {
        options.address = address.clone();
        options.authentication = login.clone();
        options.gzip_above = arguments.gzip_above.map(|Size(bytes)| bytes);
        options.gzip_ratio = arguments.gzip_ratio;
    });
    let routes = match &login {
        None => {
            let page = Bytes::from(page(&routes).context("can't write the page that lists the services")?);
            routes.page(move |_| html(page.clone()))
        }
        // It would tell strangers what there is.
        Some(_) => routes,
    };
    let paths: Vec<String> = routes.endpoints().map(|(path, _)| path.to_owned()).collect();
    let mut routes = routes.health("/health").ready("/ready", || true).route_service("/client", Client);
    // It knows nothing of HTTP, logins among it.
    let binary = login.is_none().then_some(quakes);
    let budget = arguments.memory.map_or_else(Budget::process, |Size(bytes)| Budget::new(bytes));
    let mut server = Server::new().budget(budget).shutdown_grace(arguments.grace);
    if arguments.metrics {
        let metrics = Metrics::new();
        routes = match &login {
            None => routes.route_service("/metrics", metrics.clone()),
            Some(login) => routes.route_service("/metrics", login.layer(metrics.clone())),
        };
        server = server.observer(metrics);
    }
    if let Some(format) = arguments.access_log {
        let log = match format {
            LogFormat::Text => AccessLog::text(io::stderr()),
            LogFormat::Json => AccessLog::json(io::stderr()),
        };
        server = server.observer(log.context("can't write the access log")?);
    }
    if let Some(proxies) = proxies {
        server = server.proxies(proxies);
    }
    let service = Beside::new(binary, routes);
    let tls = arguments.tls.load()?;
    let scheme = if tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
    let bytes_from = arguments.front.bytes_from;
    let shutdown = arguments.process.serve(tls.as_ref(), |listener, end| async {
        if let Ok(address) = listener.local_addr() {
            for path in &paths {
                out!("{scheme}://{address}{path}?wsdl");
            }
        }
        let tls = tls.as_ref().map(|tls| &tls.tls);
        if bytes_from.is_empty() {
            return Ok(serve(server, listener, tls, service, end).await);
        }
        let listener = ProxyProtocol::new(listener, &bytes_from).context("--proxy-protocol")?;
        anyhow::Ok(serve(server, listener, tls, service, end).await)
    })??;
    if shutdown.is_complete() {
        return Ok(ExitCode::SUCCESS);
    }
    report(&shutdown, arguments.grace);
    Ok(ExitCode::from(outcome::INCOMPLETE))
}

/// Serves, over TLS if there is one.
async fn serve<L: Listener>(
    server: Server,
    listener: L,
    tls: Option<&Tls>,
    service: Beside,
    end: process::End,
) -> Shutdown {
    match tls {
        None => server.serve(listener, service, end).await,
        Some(tls) => server.serve(tls.listen(listener), service, end).await,
    }
}

/// Answers with the address of the client, as the server takes it: whoever sets up a proxy wants to see that.
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
