//! Adds up the runs of one row.

use std::cmp::Reverse;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::description::Described;
use super::limits::{is_disturbed, limit_of};
use crate::{Axis, End, Outcome, Recorder};
use castile_report::{Interval, Lag, Latency, Method, Quantile, Reason, Row, Spread, Step};

/// How many points of the distribution are reported for each halving of the remaining share.
const POINTS_PER_HALVING: u32 = 3;

/// One turn of a target in a run that is cut into slices.
#[derive(Debug)]
pub(super) struct Slice {
    /// With the driver on its own cores. This measures how fast the server is.
    pub(super) apart: Outcome,
    /// With the driver on the server's cores. This measures what a request costs the server.
    pub(super) shared: Option<Outcome>,
    /// The server's resident memory at the end, in bytes.
    pub(super) memory: Option<u64>,
    /// How long after the end the last answers arrived.
    pub(super) late: Duration,
}

impl Slice {
    pub(super) fn into_outcomes(self) -> impl Iterator<Item = Outcome> {
        std::iter::once(self.apart).chain(self.shared)
    }

    /// Returns the slice as an interval of the time series, which ended at `at`, on a server with this many
    /// cores.
    fn interval(&self, at: Duration, cores: usize) -> Interval {
        let Outcome { record, elapsed, server_cpu, .. } = &self.apart;
        let quantile =
            |quantile| (!record.latency.is_empty()).then(|| record.latency.value_at_quantile(quantile) as f64 / 1e3);
        let share = |cpu: Duration| cpu.as_secs_f64() / (elapsed.as_secs_f64() * cores.max(1) as f64);
        let mut cost = Cost::default();
        cost.add(self.shared.as_ref().unwrap_or(&self.apart));
        Interval {
            at_s: at.as_secs_f64(),
            requests_per_second: self.apart.requests_per_second(),
            errors: record.errors,
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            users: None,
            server_cpu_share: server_cpu.map(share),
            server_rss_bytes: self.memory,
            server_cpu_us_per_request: cost.per_request(),
        }
    }
}

/// CPU time of a server, and the number of answers it was spent on.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    cpu: Option<Duration>,
    answered: u64,
}

impl Cost {
    fn add(&mut self, outcome: &Outcome) {
        let Recorder { requests, errors, warmup_errors, .. } = outcome.record;
        self.cpu = sum(self.cpu, outcome.server_cpu);
        // CPU time covers the measured time only, so errors of the warm-up are subtracted.
        self.answered += requests + errors - warmup_errors;
    }

    /// Returns microseconds per request; `None` if nothing was answered.
    fn per_request(self) -> Option<f64> {
        let cpu = self.cpu.filter(|_| self.answered > 0)?;
        Some(cpu.as_secs_f64() * 1e6 / self.answered as f64)
    }
}

/// One run: complete, or the slices that it was cut into.
#[derive(Debug)]
pub(super) struct Driven {
    slices: Vec<Outcome>,
    /// The slices in which server and driver shared the cores. Empty for a run that wasn't cut.
    shared: Vec<Outcome>,
    /// The time series, from the start of the run.
    series: Vec<Interval>,
    /// The share of their cores that was used by neither server nor driver but by other processes.
    others: Option<f64>,
}

impl Driven {
    pub(super) fn whole(outcome: Outcome) -> Self {
        let (series, others) = (outcome.timeline.series(), outcome.others);
        Driven { series, others, slices: vec![outcome], shared: Vec::new() }
    }

    /// Combines slices into a run, for a server with this many cores.
    pub(super) fn sliced(slices: Vec<Slice>, cores: usize, others: Option<f64>) -> Self {
        let mut driven = Driven { slices: Vec::new(), shared: Vec::new(), series: Vec::new(), others };
        let mut at = Duration::ZERO;
        for slice in slices {
            at += slice.apart.elapsed;
            driven.series.push(slice.interval(at, cores));
            driven.slices.push(slice.apart);
            driven.shared.extend(slice.shared);
        }
        driven
    }

    pub(super) fn into_outcomes(self) -> impl Iterator<Item = Outcome> {
        self.slices.into_iter().chain(self.shared)
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.slices.iter().any(|slice| slice.ended == Some(End::Interrupted))
    }

    fn elapsed(&self) -> Duration {
        self.slices.iter().map(|slice| slice.elapsed).sum()
    }

    /// Returns right answers per second.
    pub(super) fn requests_per_second(&self) -> f64 {
        self.per_second(|record| record.requests)
    }

    fn per_second(&self, count: impl Fn(&Recorder) -> u64) -> f64 {
        let sum: u64 = self.slices.iter().map(|slice| count(&slice.record)).sum();
        sum as f64 / self.elapsed().as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

#[derive(Default)]
pub(super) struct Tally {
    record: Recorder,
    warmup_errors: u64,
    warmup_not_sent: u64,
    per_second: Vec<f64>,
    /// The throughputs of each part of a mix.
    parts_per_second: Vec<Vec<f64>>,
    missed: (u64, u64),
    elapsed: Vec<Duration>,
    server_cpu: Option<Duration>,
    driver_cpu: Option<Duration>,
    cost: Cost,
    series: Vec<Interval>,
    curve: Vec<Step>,
    /// How many users began in the last run.
    users: usize,
    /// The most connections that a run had.
    opened: usize,
    exit_reason: Option<String>,
    pub(super) peak_memory: Option<u64>,
    disturbed: Option<f64>,
}

impl Tally {
    /// Counts only the errors of a record that is left out. A wrong answer is an error at any time.
    pub(super) fn warm_up(&mut self, record: Recorder) {
        let Recorder { errors, not_sent, reasons, .. } = record;
        self.warmup_errors += errors;
        self.warmup_not_sent += not_sent;
        self.record.merge(Recorder { reasons, ..Recorder::default() });
    }

    /// Adds a run.
    pub(super) fn add(&mut self, driven: Driven) {
        let parts = driven.slices.iter().map(|slice| slice.record.parts.len()).max().unwrap_or_default();
        self.parts_per_second.resize(self.parts_per_second.len().max(parts), Vec::new());
        for (number, per_second) in self.parts_per_second.iter_mut().enumerate().take(parts) {
            per_second.push(driven.per_second(|record| record.parts.get(number).map_or(0, |part| part.requests)));
        }
        self.per_second.push(driven.requests_per_second());
        let before = self.elapsed().as_secs_f64();
        self.elapsed.push(driven.elapsed());
        let shifted = |interval: Interval| Interval { at_s: before + interval.at_s, ..interval };
        self.series.extend(driven.series.into_iter().map(shifted));
        if is_disturbed(driven.others) && driven.others > self.disturbed {
            self.disturbed = driven.others;
        }
        let costs = if driven.shared.is_empty() { &driven.slices } else { &driven.shared };
        costs.iter().for_each(|outcome| self.cost.add(outcome));
        driven.slices.into_iter().for_each(|slice| self.add_slice(slice));
        driven.shared.into_iter().for_each(|outcome| self.warm_up(outcome.record));
    }

    fn add_slice(&mut self, slice: Outcome) {
        self.missed.0 += slice.unsent;
        self.missed.1 += slice.dropped;
        self.curve = slice.timeline.curve();
        self.server_cpu = sum(self.server_cpu, slice.server_cpu);
        self.driver_cpu = sum(self.driver_cpu, slice.driver_cpu);
        self.users = slice.users;
        self.opened = self.opened.max(slice.opened);
        self.exit_reason = slice.ended.map(|end| match (end, &slice.first_error) {
            // A foreign server's message may be long and have several lines.
            (End::Errors(_), Some(error)) => format!("{end}: {}", error.lines().next().unwrap_or_default().trim_end()),
            _ => end.to_string(),
        });
        self.record.merge(slice.record);
    }

    /// Returns whether no run counted.
    pub(super) fn is_empty(&self) -> bool {
        self.per_second.is_empty()
    }

    fn elapsed(&self) -> Duration {
        self.elapsed.iter().sum()
    }

    /// Returns the row of a load and, if it is a mix, the rows of its parts.
    pub(super) fn rows(mut self, described: &Described) -> (Row, Vec<Row>) {
        let parts = std::mem::take(&mut self.record.parts);
        let per_second = std::mem::take(&mut self.parts_per_second);
        let whole = self.row(described);
        let part =
            |((name, record), per_second): ((&String, Recorder), Vec<f64>)| part_of(&whole, name, record, per_second);
        let parts = described.parts.iter().zip(parts).zip(per_second).map(part).collect();
        (whole, parts)
    }

    fn row(self, described: &Described) -> Row {
        let elapsed = self.elapsed().as_secs_f64();
        let Tally { record, .. } = self;
        // CPU time covers the measured time only, so errors of the warm-up are subtracted.
        let answered = (record.requests + record.errors - record.warmup_errors).max(1) as f64;
        let per_request = |cpu: Option<Duration>| cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / answered);
        let share = |cpu: Option<Duration>, cores: usize| {
            let time = elapsed * cores.max(1) as f64;
            cpu.filter(|_| time > 0.0).map(|cpu| cpu.as_secs_f64() / time)
        };
        let driver_cpu_share = share(self.driver_cpu, described.threads);
        let server_cpu_share = share(self.server_cpu, described.server_cores);
        let Row { method, connections, .. } = described.row;
        let (is_ramp, is_sequence) = (method == Method::Ramp, method == Method::Sequence);
        // An open workload opens only as many connections as it needs.
        let is_open = method == Method::Open;
        // Each user sends a sequence once in each run.
        let runs = self.elapsed.len().max(1) as u64;
        let per_run = |count: u64| is_sequence.then_some(count / runs);
        let latency_us = latency(&record.latency);
        let limited_by = limit_of(&record, driver_cpu_share, server_cpu_share);
        let mut series = self.series;
        if !described.has_users {
            series.iter_mut().for_each(|interval| interval.users = None);
        }
        Row {
            opened: Some(self.opened).filter(|opened| !is_open && *opened < connections),
            part_of: None,
            requests: record.requests,
            errors: record.errors + self.warmup_errors,
            not_sent: record.not_sent + self.warmup_not_sent,
            verified: record.verified,
            unsent: self.missed.0,
            dropped: self.missed.1,
            requests_per_second: Spread::of(self.per_second),
            distribution: distribution(&record.latency),
            service_us: service(&record, described.has_service),
            latency_us,
            series,
            passes: Vec::new(),
            curve: if is_ramp { self.curve } else { Vec::new() },
            users_at_peak: None,
            users_at_exit: is_ramp.then_some(self.users),
            exit_reason: self.exit_reason.or_else(|| is_ramp.then(|| "the time limit was reached".to_owned())),
            failed: is_ramp.then_some(record.errors),
            matches: per_run(record.matches),
            elapsed_s: is_sequence.then_some(elapsed / runs as f64),
            bytes_out: per_run(record.bytes_out),
            bytes_in: per_run(record.bytes_in),
            server_cpu_us_per_request: self.cost.per_request(),
            times_floor: None,
            server_peak_rss_bytes: self.peak_memory,
            server_cpu_share,
            driver_cpu_share,
            driver_cpu_us_per_request: per_request(self.driver_cpu),
            lag_us: (!record.lag.is_empty()).then(|| lag(&record.lag)),
            search_end: None,
            driver_limited: limited_by.is_some(),
            limited_by,
            disturbed: self.disturbed,
            request_bytes: mean(record.bytes_out, record.requests),
            response_bytes: mean(record.bytes_in, record.requests),
            reasons: sorted(record.reasons),
            ..described.row.clone()
        }
    }
}

/// Returns the row of one part of a mix. It lacks the figures that only the whole mix has, such as CPU usage.
fn part_of(whole: &Row, name: &str, record: Recorder, per_second: Vec<f64>) -> Row {
    Row {
        case: name.to_owned(),
        part_of: Some(whole.case.clone()),
        requests: record.requests,
        errors: record.errors,
        not_sent: record.not_sent,
        verified: record.verified,
        unsent: 0,
        dropped: 0,
        rate: None,
        requests_per_second: Spread::of(per_second),
        distribution: distribution(&record.latency),
        service_us: service(&record, whole.service_us.is_some()),
        latency_us: latency(&record.latency),
        series: Vec::new(),
        curve: Vec::new(),
        failed: whole.failed.map(|_| record.errors),
        server_cpu_us_per_request: None,
        times_floor: None,
        driver_cpu_us_per_request: None,
        request_bytes: mean(record.bytes_out, record.requests),
        response_bytes: mean(record.bytes_in, record.requests),
        reasons: sorted(record.reasons),
        ..whole.clone()
    }
}

/// Returns a row as a step of a search.
pub(super) fn step(row: &Row, axis: Axis) -> Step {
    Step {
        users: (axis == Axis::Users).then_some(row.connections),
        rate: row.rate.filter(|_| axis == Axis::Rate),
        requests_per_second: row.requests_per_second.mean,
        mean_us: row.latency_us.mean.unwrap_or_default(),
        p99_us: row.latency_us.p99,
        errors: row.errors,
        server_cpu_share: row.server_cpu_share,
    }
}

/// Sorts the most frequent reason first.
fn sorted(mut reasons: Vec<Reason>) -> Vec<Reason> {
    reasons.sort_by_key(|reason| Reverse(reason.count));
    reasons
}

/// Returns the mean, rounded to whole bytes: all answers to one request have the same length.
fn mean(bytes: u64, requests: u64) -> usize {
    bytes.checked_div(requests).unwrap_or(0) as usize
}

fn sum(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, None) | (None, one) => one,
    }
}

/// Returns the times from sending, if they differ from the latency and there is an answer.
fn service(record: &Recorder, differs: bool) -> Option<Latency> {
    (differs && record.requests > 0).then(|| latency(&record.service))
}

pub(super) fn latency(nanoseconds: &Histogram<u64>) -> Latency {
    let at = |quantile| nanoseconds.value_at_quantile(quantile) as f64 / 1e3;
    let mean = Some(nanoseconds.mean() / 1e3);
    Latency { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: nanoseconds.max() as f64 / 1e3 }
}

fn lag(nanoseconds: &Histogram<u64>) -> Lag {
    Lag { p99: nanoseconds.value_at_quantile(0.99) as f64 / 1e3, max: nanoseconds.max() as f64 / 1e3 }
}

fn distribution(nanoseconds: &Histogram<u64>) -> Vec<Quantile> {
    let points = nanoseconds.iter_quantiles(POINTS_PER_HALVING);
    points.map(|point| Quantile { quantile: point.quantile(), us: point.value_iterated_to() as f64 / 1e3 }).collect()
}
