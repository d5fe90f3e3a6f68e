//! The parts that `serve` and `mock` share: the listener, the clients that are admitted, and the shutdown.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::io;
use std::net::{self, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use castile::Budget;
use castile::http::Body;
use castile::http::server::{
    AccessLog, Address, Authentication, Listener, Metrics, Options, Proxies, ProxyHeader, ProxyProtocol, Routes,
    Server, Shutdown,
};
use castile::soap::Layer;
use castile_budget::Size;
use castile_suites::seismic;
use castile_suites::seismic::binary::WithBinary;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Response, header};
use minijinja::{Environment, context};

use crate::errors::{WARNING, counted};
use crate::quantity::time;
use crate::{outcome, output, process, tls, users};

/// The maximum number of cut-off requests that are listed.
const MAX_LISTED: usize = 20;

/// How a server listens, and which clients it serves.
#[derive(clap::Args)]
#[group(id = "server")]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
    /// A host that clients may use in URLs, with its port unless that is 80, or 443 with TLS. Served contracts name the host that the
    /// client asked for if it is listed, else the first one [default: the local address of the connection]
    #[arg(long = "host", value_name = "HOST[:PORT]", value_parser = host)]
    hosts: Vec<String>,
    /// Compress answers above this size with gzip, such as 64KiB, if the client accepts it [default: no compression]
    #[arg(long, value_name = "SIZE")]
    gzip_above: Option<Size>,
    /// How many times larger a gzip request may become when it is decompressed; 0 rejects gzip requests
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().gzip_ratio)]
    gzip_ratio: u32,
    /// The memory limit for all requests together: received messages, decoded values, and answers that are not yet sent, such as 512MiB
    /// [default: half of the memory of the machine or container]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Size>,
    /// How long a shutdown waits for requests in progress
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    grace: Duration,
    /// Serve with a thread, a runtime and a socket for each core, instead of one runtime for all cores
    #[arg(long)]
    per_core: bool,
    /// Serve metrics of all requests at /metrics, in the text format of Prometheus
    #[arg(long)]
    metrics: bool,
    /// Write a line for each request to standard error: text for people, or JSON
    #[arg(long, value_name = "FORMAT", value_enum)]
    access_log: Option<LogFormat>,
    #[command(flatten)]
    login: users::Arguments,
    #[command(flatten)]
    front: Front,
    #[command(flatten)]
    tls: tls::ServerArguments,
}

/// The format of an access log.
#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// The proxies in front of the server.
#[derive(clap::Args)]
#[group(id = "front")]
#[command(next_help_heading = "Proxies in front")]
struct Front {
    /// A header that the proxy sets or removes on every request. Served contracts use the host, scheme or path in it. May be repeated
    /// [default: no header is trusted]
    #[arg(long = "proxy-header", value_name = "HEADER", value_enum)]
    headers: Vec<Trusted>,
    /// The address of a proxy, or a network of proxies. Requests from there belong to the client named in Forwarded or X-Forwarded-For,
    /// whichever --proxy-header selects. May be repeated
    #[arg(long = "trusted-proxy", value_name = "NETWORK", requires = "headers")]
    proxies: Vec<String>,
    /// The address of a proxy that forwards bytes, or a network of such proxies. Each connection must come from one and begin with the
    /// PROXY protocol, version 1 or 2. May be repeated
    #[arg(long = "proxy-protocol", value_name = "NETWORK")]
    bytes_from: Vec<String>,
}

impl Front {
    /// Returns the headers that determine the address in served contracts.
    fn address(&self) -> Vec<ProxyHeader> {
        self.headers.iter().filter_map(|header| header.address()).collect()
    }

    /// Returns the proxies, with the header that identifies the client.
    fn proxies(&self) -> anyhow::Result<Option<Proxies>> {
        const USAGE: &str = "one --proxy-header that identifies the client";
        let is_for = |header: &&Trusted| matches!(header, Trusted::Forwarded | Trusted::XForwardedFor);
        let mut headers = self.headers.iter().filter(is_for);
        let (header, other) = (headers.next(), headers.next());
        let header = match (header, other, self.proxies.is_empty()) {
            (Some(Trusted::XForwardedFor), _, true) => {
                bail!("x-forwarded-for is only accepted from known proxies, expected --trusted-proxy")
            }
            (_, _, true) => return Ok(None),
            (Some(header), None, _) => header,
            (None, ..) => bail!("--trusted-proxy requires {USAGE}: forwarded or x-forwarded-for"),
            (Some(_), Some(_), _) => bail!("found forwarded and x-forwarded-for, expected {USAGE}"),
        };
        let proxies = match header {
            Trusted::XForwardedFor => Proxies::x_forwarded_for(&self.proxies),
            _ => Proxies::forwarded(&self.proxies),
        };
        proxies.map(Some).context("--trusted-proxy")
    }
}

/// A proxy header that can be trusted, by its name.
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
    /// Returns the header if it has a part of the requested address.
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

/// The settings of a server, made from the arguments.
pub(crate) struct Setup {
    process: process::Arguments,
    address: Address,
    gzip_above: Option<usize>,
    gzip_ratio: u32,
    budget: Budget,
    grace: Duration,
    per_core: bool,
    metrics: bool,
    access_log: Option<LogFormat>,
    login: Option<Authentication>,
    proxies: Option<Proxies>,
    bytes_from: Vec<String>,
    tls: Option<tls::ServerTls>,
}

impl Arguments {
    /// Reads the files that the arguments name.
    ///
    /// # Errors
    /// A file can't be used, or the arguments contradict each other.
    pub(crate) fn load(self) -> anyhow::Result<Setup> {
        let login = self.login.load()?;
        let proxies = self.front.proxies()?;
        let trusted = self.front.address();
        Ok(Setup {
            process: self.process,
            address: Address::Asked { scheme: Scheme::HTTP, hosts: self.hosts, trusted },
            gzip_above: self.gzip_above.map(|Size(bytes)| bytes),
            gzip_ratio: self.gzip_ratio,
            budget: self.memory.map_or_else(Budget::process, |Size(bytes)| Budget::new(bytes)),
            grace: self.grace,
            per_core: self.per_core,
            metrics: self.metrics,
            access_log: self.access_log,
            login,
            proxies,
            bytes_from: self.front.bytes_from,
            tls: self.tls.load()?,
        })
    }
}

impl Setup {
    /// Whether clients must log in.
    pub(crate) fn asks_for_login(&self) -> bool {
        self.login.is_some()
    }

    /// Returns the budget that requests and answers are charged to.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Writes a line for each request, unless the arguments name another format.
    pub(crate) fn log_by_default(&mut self) {
        self.access_log = self.access_log.or(Some(LogFormat::Text));
    }

    /// Configures the routes by the arguments, and adds a page that lists the services unless clients must log in. The page links to the
    /// request log at `log`, if there is one.
    ///
    /// # Errors
    /// The page can't be written.
    pub(crate) fn configure(&self, routes: Routes, log: Option<&str>) -> anyhow::Result<Routes> {
        let routes = routes.configure(|options| {
            options.address = self.address.clone();
            options.authentication = self.login.clone();
            options.gzip_above = self.gzip_above;
            options.gzip_ratio = self.gzip_ratio;
        });
        let routes = match &self.login {
            None => {
                let page = Bytes::from(page(&routes, log).context("can't write the page that lists the services")?);
                routes.page(move |_| html(page.clone()))
            }
            // Without a login, the page would list the services to anyone.
            Some(_) => routes,
        };
        Ok(routes.health("/health").ready("/ready", || true))
    }

    /// Adds a page to the routes. If clients must log in, the page requires the login too.
    pub(crate) fn add_page<T>(&self, routes: Routes, path: &str, page: T) -> Routes
    where
        T: tower_service::Service<http::Request<Body>, Response = Response<Body>, Error = Infallible>,
        T: Clone + Send + Sync + 'static,
        T::Future: Send,
    {
        match &self.login {
            None => routes.route_service(path, page),
            Some(login) => routes.route_service(path, login.layer(page)),
        }
    }

    /// Serves routes that were [configured](Self::configure), and the binary service if there is one. When the process is asked to end, it
    /// finishes the requests in progress.
    ///
    /// # Errors
    /// The server can't start.
    pub(crate) fn serve(self, mut routes: Routes, binary: Option<seismic::Service>) -> anyhow::Result<ExitCode> {
        let paths: Vec<String> = routes.endpoints().map(|(path, _)| path.to_owned()).collect();
        let mut server = Server::new().budget(self.budget.clone()).shutdown_grace(self.grace);
        if self.metrics {
            let metrics = Metrics::new();
            routes = self.add_page(routes, "/metrics", metrics.clone());
            server = server.observer(metrics);
        }
        if let Some(format) = self.access_log {
            let log = match format {
                LogFormat::Text => AccessLog::text(io::stderr()),
                LogFormat::Json => AccessLog::json(io::stderr()),
            };
            server = server.observer(log.context("can't write the access log")?);
        }
        if let Some(proxies) = self.proxies {
            server = server.proxies(proxies);
        }
        let service = WithBinary::charged_to(self.budget, binary, routes);
        let (bytes_from, tls) = (self.bytes_from, self.tls);
        let announce = |address: io::Result<SocketAddr>| {
            let scheme = if tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
            if let Ok(address) = address {
                // Written at once: a program that has read one of the lines can read all of them.
                let lines = paths.iter().map(|path| format!("{scheme}://{address}{path}?wsdl\n"));
                output::text(&lines.collect::<String>());
            }
        };
        let shutdown = if self.per_core {
            self.process.serve_per_core(tls.as_ref(), |sockets, end| async {
                announce(sockets[0].local_addr());
                serve_per_core(server, sockets, bytes_from, tls.clone(), service, end).await
            })??
        } else {
            self.process.serve(tls.as_ref(), |listener, end| async {
                announce(listener.local_addr());
                if bytes_from.is_empty() {
                    return Ok(serve(server, listener, tls.as_ref(), service, end).await);
                }
                let listener = ProxyProtocol::new(listener, &bytes_from).context("--proxy-protocol")?;
                anyhow::Ok(serve(server, listener, tls.as_ref(), service, end).await)
            })??
        };
        if shutdown.is_complete() {
            return Ok(ExitCode::SUCCESS);
        }
        report(&shutdown, self.grace);
        Ok(ExitCode::from(outcome::INCOMPLETE))
    }
}

/// Serves, over TLS if that is configured.
async fn serve<L: Listener>(
    server: Server,
    listener: L,
    tls: Option<&tls::ServerTls>,
    service: WithBinary,
    end: process::End,
) -> Shutdown {
    match tls {
        None => server.serve(listener, service, end).await,
        Some(tls) => server.serve(tls.listen(listener), service, end).await,
    }
}

/// Serves on a thread for each socket.
async fn serve_per_core(
    server: Server,
    sockets: Vec<net::TcpListener>,
    bytes_from: Vec<String>,
    tls: Option<tls::ServerTls>,
    service: WithBinary,
    end: process::End,
) -> anyhow::Result<Shutdown> {
    let is_direct = bytes_from.is_empty();
    let proxied = move |socket| ProxyProtocol::new(socket, &bytes_from).map_err(io::Error::other);
    let service = move || service.of_thread();
    let served = match (is_direct, tls) {
        (true, None) => server.serve_on_threads(sockets, Ok, service, end).await,
        (true, Some(tls)) => server.serve_on_threads(sockets, move |socket| Ok(tls.listen(socket)), service, end).await,
        (false, None) => server.serve_on_threads(sockets, proxied, service, end).await,
        (false, Some(tls)) => {
            let listener = move |socket| Ok(tls.listen(proxied(socket)?));
            server.serve_on_threads(sockets, listener, service, end).await
        }
    };
    served.context("can't serve")
}

/// Reports the requests that were cut off, oldest first.
fn report(shutdown: &Shutdown, grace: Duration) {
    let Shutdown { cut_off, stuck, .. } = shutdown;
    let count = counted(cut_off.len() + stuck, "request");
    note!("{WARNING}warning{WARNING:#}: {count} cut off after {}", humantime::format_duration(grace));
    let mut cut_off: Vec<_> = cut_off.iter().collect();
    cut_off.sort_by_key(|cut_off| Reverse(cut_off.elapsed));
    for cut_off in cut_off.iter().take(MAX_LISTED) {
        note!("  {cut_off}");
    }
    if cut_off.len() > MAX_LISTED {
        note!("  and {} more", cut_off.len() - MAX_LISTED);
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

/// Renders the page with services, operations and links to the contracts.
fn page(routes: &Routes, log: Option<&str>) -> Result<String, minijinja::Error> {
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
    environment.get_template("serve.html")?.render(context! { services, log, version => env!("CARGO_PKG_VERSION") })
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
        let page = page(&castile_suites::routes(), None).unwrap();
        for expected in ["benchmark1?wsdl", "wstest?wsdl", "echoMeshInterfaceObjects", "GetOrder"] {
            assert!(page.contains(expected), "{expected} in {page}");
        }
        // Without an icon link, browsers request /favicon.ico, which doesn't exist.
        assert!(page.contains("<link rel=\"icon\" href=\"data:,\">"));
        assert!(page.contains("overflow-wrap: anywhere"), "a namespace may be wider than a phone");
    }
}
