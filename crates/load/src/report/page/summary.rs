//! What a manager reads: the whole in a few figures, and each suite in one line. It is about one target; others are what that
//! is compared with.

use serde::Serialize;

use super::axis::{Axis, Tick, share};
use crate::report::versus::{Mean, Overall, Rival, Versus};
use crate::report::{FLOOR, Method, Results, Row, Suite};

#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// What it is about.
    subject: String,
    /// Whether there is more than that one and the floor.
    has_others: bool,
    /// Rows of the subject.
    cases: usize,
    /// Right answers of subject and floor.
    requests: u64,
    verified: u64,
    errors: u64,
    /// Requests of subject and floor that were sent, and those that could not be.
    sent: u64,
    not_sent: u64,
    /// Wrong or missing answers of the others.
    errors_of_others: u64,
    /// Rows in which the driver was the limit.
    driver_limited: usize,
    /// Lowest, median and highest share of the floor's throughput.
    shares: Option<[f64; 3]>,
    /// Lowest, median and highest multiple of the floor's CPU time per request.
    ratios: Option<[f64; 3]>,
    /// Lowest, mean and highest share of the CPU time that the best of the others takes.
    rivals: Option<[f64; 3]>,
    /// In how many cases there is another.
    rival_cases: usize,
    fastest: Option<Fastest>,
    peak_memory: Option<u64>,
    share_ticks: Vec<Tick>,
    suites: Vec<Glance>,
}

#[derive(Debug, Serialize)]
struct Fastest {
    case: String,
    mean: f64,
    stddev: Option<f64>,
}

/// One suite in a line.
#[derive(Debug, Serialize)]
struct Glance {
    name: String,
    cases: usize,
    requests: u64,
    errors: u64,
    driver_limited: usize,
    shares: Option<[f64; 3]>,
    /// The same as positions on the axis of all suites.
    strip: Option<[f64; 3]>,
    ratios: Option<[f64; 3]>,
    /// Lowest, mean and highest share of the CPU time that the best of the others takes.
    rivals: Option<[f64; 3]>,
    most: Option<f64>,
    /// Median latency of the typical row, and the highest 99th percentile, in microseconds.
    latency: Option<[f64; 2]>,
}

impl Summary {
    pub(super) fn of(results: &Results, versus: &[Versus<'_>], overall: &Overall<'_>) -> Self {
        let subject = results.subject().unwrap_or_default();
        let pairs = || results.suites.iter().flat_map(|suite| pairs(suite, subject));
        let own = || results.rows().filter(|row| row.target == subject);
        let with_floor = || results.wholes().filter(|row| row.target == subject || row.target == FLOOR);
        let sum = |of: fn(&Row) -> u64| with_floor().map(of).sum();
        let shares: Vec<_> = results.suites.iter().map(|suite| shares(suite, subject)).collect();
        let axis = Axis::linear(shares.iter().flatten().map(|[.., high]| *high).chain([1.0])).rounded();
        let suites = results.suites.iter().zip(versus).zip(shares);
        let errors = sum(Row::wrong);
        Summary {
            subject: subject.to_owned(),
            has_others: versus.iter().any(Versus::has_others),
            cases: own().count(),
            requests: sum(|row| row.requests),
            verified: sum(|row| row.verified),
            errors,
            sent: sum(Row::sent),
            not_sent: sum(|row| row.not_sent),
            errors_of_others: results.errors().saturating_sub(errors),
            driver_limited: own().filter(|row| row.driver_limited).count(),
            shares: range(pairs().filter_map(|(row, floor)| row.share_of(floor?))),
            ratios: range(pairs().filter_map(|(row, floor)| Some(row.cpu_ratio(floor?)?.ratio))),
            rivals: spread(&overall.rivals, overall.share),
            rival_cases: overall.rivals.len(),
            fastest: fastest(own()).map(|row| Fastest {
                case: row.case.clone(),
                mean: row.requests_per_second.mean,
                stddev: (row.requests_per_second.runs.len() > 1).then_some(row.requests_per_second.stddev),
            }),
            peak_memory: own().filter_map(|row| row.server_peak_rss_bytes).max(),
            share_ticks: axis.ticks(share),
            suites: suites.map(|((suite, versus), shares)| Glance::of(suite, versus, shares, &axis)).collect(),
        }
    }
}

impl Glance {
    fn of(suite: &Suite, versus: &Versus<'_>, shares: Option<[f64; 3]>, axis: &Axis) -> Self {
        let rows = || suite.cases.iter().filter(|row| row.target == versus.subject);
        let is_counted = |row: &&Row| row.part_of.is_none() && (row.target == versus.subject || row.target == FLOOR);
        let with_floor = || suite.cases.iter().filter(is_counted);
        let busy = || rows().filter(|row| row.requests > 0);
        let medians = range(busy().map(|row| row.latency_us.p50));
        Glance {
            name: suite.suite.clone(),
            cases: rows().count(),
            requests: with_floor().map(|row| row.requests).sum(),
            errors: with_floor().map(|row| row.errors).sum(),
            driver_limited: rows().filter(|row| row.driver_limited).count(),
            shares,
            strip: shares.map(|shares| shares.map(|share| axis.position(share))),
            ratios: range(pairs(suite, versus.subject).filter_map(|(row, floor)| Some(row.cpu_ratio(floor?)?.ratio))),
            rivals: rivals(versus),
            most: fastest(rows()).map(|row| row.requests_per_second.mean),
            latency: medians.map(|[_, median, _]| [median, busy().map(|row| row.latency_us.p99).fold(0.0, f64::max)]),
        }
    }
}

/// The rows of a target, each with that of the floor.
fn pairs<'a>(suite: &'a Suite, target: &'a str) -> impl Iterator<Item = (&'a Row, Option<&'a Row>)> {
    suite.against_floor().filter(move |(row, _)| row.target == target)
}

fn rivals(versus: &Versus<'_>) -> Option<[f64; 3]> {
    let mut rivals: Vec<_> = versus.rivals().collect();
    rivals.sort_by(|a, b| a.share.total_cmp(&b.share));
    spread(&rivals, Mean::of(rivals.iter().map(|rival| rival.share)))
}

/// Lowest, mean and highest of what is in order.
fn spread(rivals: &[Rival<'_>], mean: Option<Mean>) -> Option<[f64; 3]> {
    Some([rivals.first()?.share, mean?.ratio, rivals.last()?.share])
}

/// Of the rows that were driven as fast as they were answered, else of all.
fn fastest<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.max_by(|a, b| {
        let figure = |row: &Row| (row.method == Method::Closed, row.requests_per_second.mean);
        let (a, b) = (figure(a), figure(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

fn shares(suite: &Suite, target: &str) -> Option<[f64; 3]> {
    range(pairs(suite, target).filter_map(|(row, floor)| row.share_of(floor?)))
}

/// Lowest, median and highest.
fn range(figures: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    Some([*figures.first()?, figures[figures.len() / 2], *figures.last()?])
}
