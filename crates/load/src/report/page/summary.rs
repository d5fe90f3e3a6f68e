//! What a manager reads: the whole in a few figures, and each suite in one line.

use serde::Serialize;

use super::axis::{Axis, Tick, share};
use crate::report::{FLOOR, Method, Results, Row, Suite};

#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// Rows that were measured, without the floor.
    cases: usize,
    requests: u64,
    verified: u64,
    errors: u64,
    /// Rows in which the driver was the limit.
    driver_limited: usize,
    /// Lowest, median and highest share of the floor's throughput.
    shares: Option<[f64; 3]>,
    /// Lowest, median and highest multiple of the floor's CPU time per request.
    ratios: Option<[f64; 3]>,
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
    most: Option<f64>,
    /// Median latency of the typical row, and the highest 99th percentile, in microseconds.
    latency: Option<[f64; 2]>,
}

impl Summary {
    pub(super) fn of(results: &Results) -> Self {
        let pairs = || results.suites.iter().flat_map(Suite::against_floor);
        let shares: Vec<_> = results.suites.iter().map(shares).collect();
        let axis = Axis::linear(shares.iter().flatten().map(|[.., high]| *high).chain([1.0])).rounded();
        let suites = results.suites.iter().zip(shares);
        Summary {
            cases: measured(results.rows()).count(),
            requests: results.rows().map(|row| row.requests).sum(),
            verified: results.rows().map(|row| row.verified).sum(),
            errors: results.errors(),
            driver_limited: measured(results.rows()).filter(|row| row.driver_limited).count(),
            shares: range(pairs().filter_map(|(row, floor)| row.share_of(floor?))),
            ratios: range(pairs().filter_map(|(row, floor)| row.cpu_ratio(floor?))),
            fastest: fastest(measured(results.rows())).map(|row| Fastest {
                case: row.case.clone(),
                mean: row.requests_per_second.mean,
                stddev: (row.requests_per_second.runs.len() > 1).then_some(row.requests_per_second.stddev),
            }),
            peak_memory: measured(results.rows()).filter_map(|row| row.server_peak_rss_bytes).max(),
            share_ticks: axis.ticks(share),
            suites: suites.map(|(suite, shares)| Glance::of(suite, shares, &axis)).collect(),
        }
    }
}

impl Glance {
    fn of(suite: &Suite, shares: Option<[f64; 3]>, axis: &Axis) -> Self {
        let rows = || measured(suite.cases.iter());
        let busy = || rows().filter(|row| row.requests > 0);
        let medians = range(busy().map(|row| row.latency_us.p50));
        Glance {
            name: suite.suite.clone(),
            cases: rows().count(),
            requests: suite.cases.iter().map(|row| row.requests).sum(),
            errors: suite.cases.iter().map(|row| row.errors).sum(),
            driver_limited: rows().filter(|row| row.driver_limited).count(),
            shares,
            strip: shares.map(|shares| shares.map(|share| axis.position(share))),
            ratios: range(suite.against_floor().filter_map(|(row, floor)| row.cpu_ratio(floor?))),
            most: fastest(rows()).map(|row| row.requests_per_second.mean),
            latency: medians.map(|[_, median, _]| [median, busy().map(|row| row.latency_us.p99).fold(0.0, f64::max)]),
        }
    }
}

fn measured<'a>(rows: impl Iterator<Item = &'a Row>) -> impl Iterator<Item = &'a Row> {
    rows.filter(|row| row.target != FLOOR)
}

/// Of the rows that were driven as fast as they were answered, else of all.
fn fastest<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.max_by(|a, b| {
        let figure = |row: &Row| (row.method == Method::Closed, row.requests_per_second.mean);
        let (a, b) = (figure(a), figure(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

fn shares(suite: &Suite) -> Option<[f64; 3]> {
    range(suite.against_floor().filter_map(|(row, floor)| row.share_of(floor?)))
}

/// Lowest, median and highest.
fn range(figures: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    Some([*figures.first()?, figures[figures.len() / 2], *figures.last()?])
}
