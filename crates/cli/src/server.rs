//! What the servers of this binary have in common that people start: who is served, how, and until when.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use castile::Budget;
use castile::http::Body;
use castile::http::server::{
    AccessLog, Address, Authentication, Listener, Metrics, Options, Proxies, ProxyHeader, ProxyProtocol, Routes,
    Server, Shutdown, Tls,
};
use castile::soap::Layer;
use castile_budget::Size;
use castile_suites::seismic;
use castile_suites::seismic::binary::Beside;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Response, header};
use minijinja::{Environment, context};

use crate::problems::{WARNING, counted};
use crate::quantity::time;
use crate::{outcome, process, tls, users};

/// How many requests that were cut off are listed.
const LISTED: usize = 20;

/// How a server listens, and whom it serves.
#[derive(clap::Args)]
#[group(id = "server")]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
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
    /// The header, if it says something of the address that was asked.
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

/// What is served with, made of the arguments.
pub(crate) struct Setup {
    process: process::Arguments,
    address: Address,
    gzip_above: Option<usize>,
    gzip_ratio: u32,
    budget: Budget,
    grace: Duration,
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
    /// One can't be used, or the arguments contradict each other.
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

    /// What requests and answers are charged to.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Writes a line for each request, if nothing else was said of that.
    pub(crate) fn log_by_default(&mut self) {
        self.access_log = self.access_log.or(Some(LogFormat::Text));
    }

    /// Routes with all that the arguments ask for, and a page that lists the services unless clients must log in. It leads to another page,
    /// which shows what came in, if there is one.
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
            // It would tell strangers what there is.
            Some(_) => routes,
        };
        Ok(routes.health("/health").ready("/ready", || true))
    }

    /// Routes with a page beside the services, for those who may use them.
    pub(crate) fn beside<T>(&self, routes: Routes, path: &str, page: T) -> Routes
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

    /// Serves routes that were [configured](Self::configure), and beside them the binary service if there is one, until the process is
    /// asked to end, and then finishes what is in flight.
    ///
    /// # Errors
    /// The server can't begin.
    pub(crate) fn serve(self, mut routes: Routes, binary: Option<seismic::Service>) -> anyhow::Result<ExitCode> {
        let paths: Vec<String> = routes.endpoints().map(|(path, _)| path.to_owned()).collect();
        let mut server = Server::new().budget(self.budget.clone()).shutdown_grace(self.grace);
        if self.metrics {
            let metrics = Metrics::new();
            routes = self.beside(routes, "/metrics", metrics.clone());
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
        let service = Beside::charged_to(self.budget, binary, routes);
        let scheme = if self.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
        let (bytes_from, tls) = (self.bytes_from, self.tls);
        let shutdown = self.process.serve(tls.as_ref(), |listener, end| async {
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
        report(&shutdown, self.grace);
        Ok(ExitCode::from(outcome::INCOMPLETE))
    }
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
        // Without one, browsers ask for /favicon.ico, which is not there.
        assert!(page.contains("<link rel=\"icon\" href=\"data:,\">"));
        assert!(page.contains("overflow-wrap: anywhere"), "a namespace may be wider than a phone");
    }
}
