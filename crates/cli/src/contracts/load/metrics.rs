//! `--metrics`: the figures of a load while it runs, for Prometheus.

use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, pending, ready};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use anyhow::Context as _;
use castile::http::Body;
use castile::http::server::{Routes, Server};
use castile_load::{Counter, Recorder, Totals, own_usage};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

const CONTENT_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// How many connections there may be. A limit of open files is for the users, and a new connection replaces an idle one.
const CONNECTIONS: usize = 16;
/// How many open files the figures may take: five were counted without a connection, and there is one more while it replaces another.
const FILES: u64 = CONNECTIONS as u64 + 6;
/// The upper bounds of the buckets of the latency, in seconds.
const BOUNDS: [f64; 18] =
    [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];

#[derive(clap::Args)]
// The group has its own id, because it is flattened into the arguments of a command.
#[group(id = "driver_metrics")]
#[command(next_help_heading = "Reports")]
pub(super) struct Arguments {
    /// Serve the figures of the driver at http://ADDR/metrics while it runs, in the text format of Prometheus. With port 0 the system
    /// chooses one
    #[arg(long, value_name = "ADDR")]
    metrics: Option<SocketAddr>,
}

impl Arguments {
    /// Begins to serve the figures, if there is an address for that, and returns them.
    pub(super) fn serve(&self) -> anyhow::Result<Live> {
        Live::serve(self.metrics)
    }

    /// Returns how many open files the figures may take.
    pub(super) fn files(&self) -> u64 {
        files(self.metrics)
    }
}

/// Returns how many open files the figures may take, if there is an address for them.
pub(crate) fn files(address: Option<SocketAddr>) -> u64 {
    if address.is_some() { FILES } else { 0 }
}

fn serve_page(listener: TcpListener, page: Page) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let routes = Routes::new().route_service("/metrics", page);
        // It never ends.
        let _ = Server::new().max_connections(CONNECTIONS).serve(listener, routes, pending()).await;
        Ok(())
    })
}

/// The figures of the load so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live(Arc<Mutex<Figures>>);

#[derive(Debug, Default)]
struct Figures {
    /// The run that is watched. What it does isn't in the sum.
    counter: Option<Counter>,
    sum: Sum,
    users: u64,
}

impl Live {
    /// Creates figures, and begins to serve them if there is an address for that.
    pub(crate) fn serve(address: Option<SocketAddr>) -> anyhow::Result<Self> {
        let live = Live::default();
        if let Some(address) = address {
            let listener = TcpListener::bind(address).with_context(|| format!("--metrics {address}"))?;
            listener.set_nonblocking(true)?;
            note!("the driver's figures are at http://{}/metrics", listener.local_addr()?);
            let page = Page(Arc::new(registry(&live)));
            // It ends with the process.
            std::thread::Builder::new().name("metrics".to_owned()).spawn(move || serve_page(listener, page))?;
        }
        Ok(live)
    }

    /// Watches a run. What an earlier one did stays in the figures.
    pub(super) fn watch(&self, counter: &Counter) {
        let mut figures = self.lock();
        if let Some(earlier) = figures.counter.replace(counter.clone()) {
            figures.sum.add_totals(&earlier.timeline().totals());
        }
    }

    /// Adds what was recorded, with the number of users now.
    pub(super) fn add(&self, record: &Recorder, users: u64) {
        let mut figures = self.lock();
        figures.sum.add_record(record);
        figures.users = users;
    }

    /// Returns the sum of everything, and the number of users.
    fn now(&self) -> (Sum, u64) {
        let figures = self.lock();
        let (mut sum, users) = (figures.sum.clone(), figures.users);
        let Some(counter) = figures.counter.clone() else { return (sum, users) };
        drop(figures);
        sum.add_totals(&counter.timeline().totals());
        (sum, counter.users().unwrap_or_default() as u64)
    }

    fn lock(&self) -> MutexGuard<'_, Figures> {
        // There are only numbers in it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts that only grow.
#[derive(Clone, Debug, Default)]
struct Sum {
    requests: u64,
    errors: u64,
    /// The sum of all latencies, in seconds.
    latency_s: f64,
    /// How many latencies each bucket has. The last one has no bound.
    buckets: [u64; BOUNDS.len() + 1],
}

impl Sum {
    fn add_totals(&mut self, totals: &Totals) {
        self.requests += totals.requests;
        self.errors += totals.errors;
        self.latency_s += totals.latency_s;
        self.add_latencies(totals.latencies.iter().map(|(latency, count)| (*latency, *count)));
    }

    fn add_record(&mut self, record: &Recorder) {
        self.requests += record.requests;
        self.errors += record.errors;
        self.latency_s += record.latency.mean() * record.latency.len() as f64 / 1e9;
        let latencies = record.latency.iter_recorded();
        self.add_latencies(latencies.map(|value| (value.value_iterated_to(), value.count_at_value())));
    }

    /// Adds latencies in nanoseconds, with their counts.
    fn add_latencies(&mut self, latencies: impl Iterator<Item = (u64, u64)>) {
        for (latency, count) in latencies {
            let bucket = BOUNDS.partition_point(|bound| *bound < latency as f64 / 1e9);
            self.buckets[bucket] += count;
        }
    }

    /// Returns the count of each bucket, with its upper bound.
    fn buckets(&self) -> Vec<(f64, u64)> {
        BOUNDS.into_iter().chain([f64::INFINITY]).zip(self.buckets).collect()
    }
}

fn registry(live: &Live) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(live.clone()));
    registry
}

impl Collector for Live {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (sum, users) = self.now();
        let mut counter = |name: &str, help: &str, value: u64| {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
        };
        counter("castile_load_requests", "Right answers", sum.requests)?;
        counter("castile_load_errors", "Wrong or missing answers", sum.errors)?;
        let (cpu, memory) = own_usage();
        if let Some(cpu) = cpu {
            let (help, counter) = ("User and system CPU time of the driver", ConstCounter::new(cpu.as_secs_f64()));
            let unit = Some(&Unit::Seconds);
            counter.encode(encoder.encode_descriptor("process_cpu", help, unit, counter.metric_type())?)?;
        }
        let mut gauge = |name: &str, help: &str, unit: Option<&Unit>, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, unit, gauge.metric_type())?)
        };
        gauge("castile_load_users", "Users, or 0 if the load has a rate", None, users)?;
        if let Some(memory) = memory {
            gauge("process_resident_memory", "Resident memory of the driver", Some(&Unit::Bytes), memory)?;
        }
        let help = "Time from the scheduled start of a request to the last byte of its right answer";
        let mut histogram =
            encoder.encode_descriptor("castile_load_latency", help, Some(&Unit::Seconds), MetricType::Histogram)?;
        histogram.encode_histogram::<NoLabelSet>(sum.latency_s, sum.requests, &sum.buckets(), None)
    }
}

/// The page with the figures.
#[derive(Clone)]
struct Page(Arc<Registry>);

impl tower_service::Service<Request<Body>> for Page {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut response = Response::new(Body::empty());
        match *request.method() {
            Method::GET | Method::HEAD => {
                let mut text = String::new();
                match prometheus_client::encoding::text::encode(&mut text, &self.0) {
                    Ok(()) => *response.body_mut() = Body::from(text),
                    Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
                }
                response.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
            }
            _ => {
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
        }
        ready(Ok(response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_are_added_are_shown() {
        let live = Live::default();
        let mut record = Recorder { requests: 3, errors: 2, ..Recorder::default() };
        for milliseconds in [1, 3, 70_000] {
            record.latency.record(milliseconds * 1_000_000).unwrap();
        }
        live.add(&record, 7);
        live.add(&record, 5);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry(&live)).unwrap();
        for line in [
            "castile_load_requests_total 6",
            "castile_load_errors_total 4",
            "castile_load_users 5",
            "castile_load_latency_seconds_count 6",
            "castile_load_latency_seconds_bucket{le=\"0.0005\"} 0",
            "castile_load_latency_seconds_bucket{le=\"0.005\"} 4",
            "castile_load_latency_seconds_bucket{le=\"50.0\"} 4",
            "castile_load_latency_seconds_bucket{le=\"+Inf\"} 6",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
