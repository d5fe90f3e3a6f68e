//! Metrics of exchanges, in the text format of Prometheus.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::available_parallelism;

use castile_budget::{Budget, thread_number};
use castile_soap::Step;
use http::{HeaderValue, Method, Request, Response, header};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::access_log::fault_name;
use super::{Exchange, HandshakeFailure, Load, Observer, Outcome, Status};
use crate::body::Body;
use crate::server::admission::Ticket;
use crate::server::refusal::Refusal;

/// The upper bounds of the duration buckets, in seconds.
const BOUNDS: [f64; 15] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

const CONTENT_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Metrics of all exchanges: an [`Observer`], and a service that answers GET with the metrics in the text format of
/// OpenMetrics 1.0, which Prometheus reads. It is cheap to clone.
///
/// | metric | labels | |
/// |---|---|---|
/// | `castile_requests_total` | `service`, `operation`, `outcome`, `fault`, `status` | completed requests |
/// | `castile_request_duration_seconds` | `service`, `operation` | their duration, a histogram |
/// | `castile_request_step_seconds_total` | `service`, `operation`, `step` | the total duration of each step, if [enabled](Self::with_steps) |
/// | `castile_received_bytes_total`, `castile_sent_bytes_total` | `service`, `operation` | received messages, sent bodies |
/// | `castile_tls_handshake_failures_total` | | failed TLS handshakes |
/// | `castile_connections`, `castile_requests_at_work`, `castile_requests_queued` | | the current load of the server |
/// | `castile_memory_used_bytes`, `castile_memory_limit_bytes` | | the [`budget`](crate::server::Server::budget); the sum for several servers |
/// | `castile_disk_used_bytes`, `castile_disk_limit_bytes` | | the [`disk_budget`](crate::server::Server::disk_budget) |
///
/// `operation` is empty if a request failed before its operation was known, and `service` if it reached none. No label
/// contains text from clients, so the contract bounds the number of series.
///
/// ```
/// use castile_http::server::{Metrics, Routes, Server};
///
/// let metrics = Metrics::new();
/// let routes = Routes::new().route_service("/metrics", metrics.clone());
/// let server = Server::new().observer(metrics);
/// ```
#[derive(Clone)]
pub struct Metrics(Arc<MetricsState>);

struct MetricsState {
    registry: Registry,
    exchanges: Exchanges,
    handshake_failures: Counter,
    has_steps: bool,
    servers: Servers,
}

/// The observed servers. They are queried when the metrics are read.
#[derive(Clone, Debug, Default)]
struct Servers(Arc<Mutex<Vec<Status>>>);

impl Servers {
    fn add(&self, status: &Status) {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|server| server.load().is_some());
        servers.push(status.clone());
    }
}

impl Collector for Servers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let loads: Vec<Load> = servers.iter().filter_map(Status::load).collect();
        let budgets: Vec<_> = servers.iter().filter_map(Status::budgets).collect();
        drop(servers);
        let mut gauge = |name: &str, help: &str, unit: Option<&Unit>, value: usize| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, unit, gauge.metric_type())?)
        };
        let sum = |of: fn(&Load) -> usize| loads.iter().map(of).fold(0, usize::saturating_add);
        gauge("connections", "Open connections", None, sum(|load| load.connections))?;
        gauge("requests_at_work", "Requests that are being processed", None, sum(|load| load.requests_at_work))?;
        gauge("requests_queued", "Requests that wait to be processed", None, sum(|load| load.requests_queued))?;
        let [memory, disk] = [0, 1].map(|index| distinct(budgets.iter().map(|budgets| &budgets[index])));
        let sum = |budgets: &[&Budget], of: fn(&Budget) -> usize| {
            budgets.iter().map(|budget| of(budget)).fold(0, usize::saturating_add)
        };
        let bytes = Some(&Unit::Bytes);
        gauge("memory_used", "Used bytes of the memory budget", bytes, sum(&memory, Budget::used))?;
        gauge("memory_limit", "Size of the memory budget", bytes, sum(&memory, Budget::limit))?;
        gauge("disk_used", "Used bytes of the disk budget", bytes, sum(&disk, Budget::used))?;
        gauge("disk_limit", "Size of the disk budget", bytes, sum(&disk, Budget::limit))
    }
}

/// Returns each budget once, because servers may share one.
fn distinct<'a>(all: impl Iterator<Item = &'a Budget>) -> Vec<&'a Budget> {
    let mut distinct: Vec<&Budget> = Vec::new();
    for budget in all {
        if !distinct.iter().any(|known| known.is_same(budget)) {
            distinct.push(budget);
        }
    }
    distinct
}

/// The key of a series. Services and operations are compared by their addresses in memory.
#[derive(PartialEq, Eq)]
struct Key {
    service: usize,
    operation: usize,
    outcome: Outcome,
    fault: Option<&'static str>,
    status: u16,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let outcome = self.outcome as usize;
        let fault = self.fault.map_or(0, |fault| fault.as_ptr().addr());
        state.write_usize(self.service ^ self.operation.rotate_left(20) ^ fault.rotate_left(40));
        state.write_usize(usize::from(self.status) << 2 | outcome);
    }
}

/// A cheap hash for keys that clients can't choose. It doesn't resist chosen keys.
#[derive(Clone, Copy, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The counts of exchanges, by thread. A thread changes its own, so that no thread waits for another. They are added up when the metrics are
/// read.
#[derive(Clone)]
struct Exchanges(Arc<[OfThread]>);

#[derive(Default)]
#[repr(align(128))]
struct OfThread(Mutex<HashMap<Key, Series, BuildHasherDefault<Mixed>>>);

/// The counts of one series.
struct Series {
    service: &'static str,
    operation: &'static str,
    requests: u64,
    sums: Sums,
}

/// The numbers of requests by their duration, and what is added up for them.
#[derive(Clone, Debug, Default)]
struct Sums {
    /// The last ones took longer than all bounds.
    durations: [u64; BOUNDS.len() + 1],
    /// Whole nanoseconds: a sum of fractions depends on the order, and a counter must not decrease.
    nanoseconds: u128,
    received: u64,
    sent: u64,
    /// In nanoseconds, too.
    steps: [u128; Step::ALL.len()],
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.durations.iter_mut().zip(other.durations).for_each(|(count, more)| *count += more);
        self.nanoseconds += other.nanoseconds;
        self.received += other.received;
        self.sent += other.sent;
        self.steps.iter_mut().zip(other.steps).for_each(|(sum, more)| *sum += more);
    }
}

impl OfThread {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Series, BuildHasherDefault<Mixed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchanges {
    fn new() -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        Exchanges((0..threads).map(|_| OfThread::default()).collect())
    }

    fn observe(&self, exchange: &Exchange<'_>) {
        let key = Key {
            service: exchange.service().map_or(0, |service| std::ptr::from_ref(service).addr()),
            operation: exchange.operation().map_or(0, |operation| std::ptr::from_ref(operation).addr()),
            outcome: exchange.outcome(),
            fault: exchange.fault().map(fault_name),
            status: exchange.status().map_or(0, |status| status.as_u16()),
        };
        let mut of_thread = self.0[thread_number() % self.0.len()].lock();
        let Series { requests, sums, .. } = of_thread.entry(key).or_insert_with(|| Series {
            service: exchange.service().map_or("", |service| service.name),
            operation: exchange.operation().map_or("", |operation| operation.name),
            requests: 0,
            sums: Sums::default(),
        });
        let elapsed = exchange.elapsed();
        *requests += 1;
        sums.durations[BOUNDS.partition_point(|bound| *bound < elapsed.as_secs_f64())] += 1;
        sums.nanoseconds += elapsed.as_nanos();
        sums.received += exchange.request_size();
        sums.sent += exchange.response_size();
        for (step, sum) in Step::ALL.into_iter().zip(&mut sums.steps) {
            *sum += exchange.duration(step).map_or(0, |duration| duration.as_nanos());
        }
    }
}

/// The labels of an operation.
type Labels = [(&'static str, &'static str); 2];

/// Encodes the counts of exchanges.
struct ExchangeMetrics {
    exchanges: Exchanges,
    has_steps: bool,
}

impl Collector for ExchangeMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (mut requests, mut operations) = (BTreeMap::new(), BTreeMap::<Labels, Sums>::new());
        for of_thread in &*self.exchanges.0 {
            for (key, series) in &*of_thread.lock() {
                let labels = [("service", series.service), ("operation", series.operation)];
                let status = if key.status == 0 { String::new() } else { key.status.to_string() };
                let of_request = (labels, key.outcome.name(), key.fault.unwrap_or_default(), status);
                *requests.entry(of_request).or_insert(0) += series.requests;
                operations.entry(labels).or_default().add(&series.sums);
            }
        }
        if requests.is_empty() {
            return Ok(());
        }
        let mut family = encoder.encode_descriptor("requests", "Completed requests", None, MetricType::Counter)?;
        for (([service, operation], outcome, fault, status), count) in &requests {
            let labels = [*service, *operation, ("outcome", *outcome), ("fault", *fault), ("status", status.as_str())];
            count_of(family.encode_family(&labels)?, count)?;
        }
        let help = "Duration of requests, from their head to the end of their answer";
        let unit = Some(&Unit::Seconds);
        let mut family = encoder.encode_descriptor("request_duration", help, unit, MetricType::Histogram)?;
        for (labels, sums) in &operations {
            let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(sums.durations).collect();
            let count = sums.durations.iter().sum();
            family.encode_family(labels)?.encode_histogram::<NoLabelSet>(
                seconds(sums.nanoseconds),
                count,
                &buckets,
                None,
            )?;
        }
        if self.has_steps {
            let help = "Total duration of each step";
            let mut family = encoder.encode_descriptor("request_step", help, unit, MetricType::Counter)?;
            for ([service, operation], sums) in &operations {
                for (step, sum) in Step::ALL.into_iter().zip(sums.steps) {
                    let labels = [*service, *operation, ("step", step.name())];
                    family.encode_family(&labels)?.encode_counter::<NoLabelSet, f64, u64>(&seconds(sum), None)?;
                }
            }
        }
        let unit = Some(&Unit::Bytes);
        let mut family =
            encoder.encode_descriptor("received", "Bytes of received messages", unit, MetricType::Counter)?;
        for (labels, sums) in &operations {
            count_of(family.encode_family(labels)?, &sums.received)?;
        }
        let mut family =
            encoder.encode_descriptor("sent", "Bytes of sent response bodies", unit, MetricType::Counter)?;
        for (labels, sums) in &operations {
            count_of(family.encode_family(labels)?, &sums.sent)?;
        }
        Ok(())
    }
}

fn seconds(nanoseconds: u128) -> f64 {
    nanoseconds as f64 / 1e9
}

fn count_of(mut encoder: MetricEncoder<'_>, count: &u64) -> fmt::Result {
    encoder.encode_counter::<NoLabelSet, u64, u64>(count, None)
}

impl fmt::Debug for ExchangeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExchangeMetrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

impl Metrics {
    /// Creates empty metrics.
    pub fn new() -> Self {
        Metrics::make(false)
    }

    /// Creates metrics that include the duration of each step, such as reading a message, decoding it, and handling the
    /// request. They cost more.
    pub fn with_steps() -> Self {
        Metrics::make(true)
    }

    fn make(has_steps: bool) -> Self {
        let mut registry = Registry::with_prefix("castile");
        let exchanges = Exchanges::new();
        registry.register_collector(Box::new(ExchangeMetrics { exchanges: exchanges.clone(), has_steps }));
        let handshake_failures = Counter::default();
        registry.register("tls_handshake_failures", "Failed TLS handshakes", handshake_failures.clone());
        let servers = Servers::default();
        registry.register_collector(Box::new(servers.clone()));
        Metrics(Arc::new(MetricsState { registry, exchanges, handshake_failures, has_steps, servers }))
    }

    /// Encodes all metrics in the text format of OpenMetrics 1.0.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        // Writing to a `String` can't fail.
        let _ = text::encode(&mut out, &self.0.registry);
        out
    }
}

impl Observer for Metrics {
    fn observe(&self, exchange: &Exchange<'_>) {
        self.0.exchanges.observe(exchange);
    }

    fn serving(&self, status: &Status) {
        self.0.servers.add(status);
    }

    fn handshake_failed(&self, _: &HandshakeFailure<'_>) {
        self.0.handshake_failures.inc();
    }

    fn wants_steps(&self) -> bool {
        self.0.has_steps
    }
}

impl<B> tower_service::Service<Request<B>> for Metrics {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // Reading the metrics needs no slot. They matter most when the server is fully loaded.
        Ticket::take();
        let response = match *request.method() {
            Method::GET | Method::HEAD => {
                let mut response = Response::new(Body::from(self.encode()));
                response.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
                response
            }
            _ => Refusal::OnlyGet.into_response(),
        };
        ready(Ok(response))
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
