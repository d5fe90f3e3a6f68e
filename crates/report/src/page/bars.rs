//! Bar charts of a block: the main figure relative to a baseline, CPU time, and percentiles of latency.

use serde::Serialize;

use super::axis::{Axis, Tick, plain, share, time};
use super::material::{Case, Material};
use crate::format::{figure, microseconds, percent};
use crate::measure::{Figure, Measure};
use crate::versus::title;
use crate::{FLOOR, Latency, Row};

/// The bars of all cases on one axis.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    /// The baseline of the bars; `None` for absolute figures.
    baseline: Option<String>,
    ticks: Vec<Tick>,
    groups: Vec<Group>,
}

/// The bars of one case.
#[derive(Debug, Serialize)]
struct Group {
    case: String,
    bars: Vec<Bar>,
}

/// One bar, with positions in percent of the chart's width.
#[derive(Debug, Serialize)]
struct Bar {
    series: usize,
    is_floor: bool,
    name: String,
    shape: Option<Shape>,
    value: String,
    /// A text beside the value.
    beside: Option<String>,
    marks: Vec<Mark>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Bar {
        width: f64,
        /// One standard deviation to each side.
        spread: Option<[f64; 2]>,
    },
    /// Percentiles on an axis of time.
    Strip { p50: f64, p99: f64, p999: f64, max: f64 },
}

/// A note that a reader must know before trusting a row.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Mark {
    bad: bool,
    text: String,
}

/// Returns the marks of a row.
pub(super) fn marks(row: &Row) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut mark = |holds: bool, bad: bool, text: String| {
        if holds {
            marks.push(Mark { bad, text });
        }
    };
    mark(row.errors > 0, true, format!("{} wrong or missing", plain(row.errors as f64)));
    mark(row.driver_limited || row.limited_by.is_some(), false, limited(row));
    if let Some(share) = row.disturbed {
        mark(true, false, format!("other processes used {} of the server’s or the driver’s cores", percent(share)));
    }
    if let Some(late) = row.lateness() {
        mark(true, false, format!("the driver sent late: {late}"));
    }
    mark(row.rising, false, "was still getting faster".to_owned());
    mark(row.unsent > 0, false, format!("{} due but not sent", plain(row.unsent as f64)));
    mark(row.dropped > 0, false, format!("{} dropped", plain(row.dropped as f64)));
    marks
}

fn limited(row: &Row) -> String {
    match &row.limited_by {
        Some(reason) => format!("the driver was the limit: {reason}"),
        None => "the driver was the limit".to_owned(),
    }
}

/// A baseline that bars can be relative to.
enum Baseline<'a> {
    /// A target: each row is compared with the row of this target that is equal otherwise.
    Target(&'a str),
    /// A series: each row is compared with that of the series.
    Series(usize),
}

impl Baseline<'_> {
    /// Returns the row that a row is compared with: itself, if it belongs to the baseline.
    fn of<'a>(&self, material: &Material<'a>, case: &Case<'a>, row: &'a Row) -> Option<&'a Row> {
        let rows = || case.rows.iter().map(|(_, row)| *row);
        match self {
            Baseline::Target(target) if row.target == *target => Some(row),
            Baseline::Target(FLOOR) => material.suite.floor_of(row),
            Baseline::Target(target) => {
                let alike = move |other: &&Row| {
                    other.target == *target
                        && (&other.style, &other.network) == (&row.style, &row.network)
                        && (other.given_load(), other.keep_alive) == (row.given_load(), row.keep_alive)
                };
                let same = rows().filter(alike).find(|other| other.client == row.client);
                same.or_else(|| rows().find(alike))
            }
            Baseline::Series(series) => case.rows.iter().find(|(known, _)| known == series).map(|(_, row)| *row),
        }
    }
}

/// More baselines are too many to choose from, and each has its own copy of all bars.
const BASELINES: usize = 32;

/// Returns the bars of the block's main figure, once for each baseline, with the floor first.
pub(super) fn normalised(material: &Material<'_>) -> Vec<Chart> {
    let rows = || material.cases.iter().flat_map(|case| &case.rows).map(|(_, row)| *row);
    let mut targets: Vec<&str> = Vec::new();
    for row in rows().filter(|row| row.target == FLOOR).chain(rows()) {
        if !targets.contains(&&*row.target) {
            targets.push(&row.target);
        }
    }
    let measured: Vec<_> = material.series.iter().filter(|series| !series.is_floor).collect();
    // If there is one target whose rows differ in other properties, those are compared; otherwise the targets
    // are.
    let one_target = targets.iter().filter(|target| **target != FLOOR).count() == 1;
    let by_series = one_target && measured.len() > 1;
    let targets = targets.into_iter().filter(|target| !by_series || *target == FLOOR);
    let targets = targets.map(|target| (title(target).to_owned(), Baseline::Target(target)));
    let series = measured.into_iter().filter(|_| by_series);
    let series = series.map(|series| (series.name.clone(), Baseline::Series(series.index)));
    if material.series.len() == 1 {
        return vec![absolute(material)];
    }
    targets.chain(series).take(BASELINES).map(|(name, baseline)| relative(material, name, &baseline)).collect()
}

/// Returns the bars of the absolute figures, for a block without baselines.
fn absolute(material: &Material<'_>) -> Chart {
    let Measure { of, .. } = material.measure;
    let figures = material.cases.iter().flat_map(|case| &case.rows).filter_map(|(_, row)| of(row));
    let axis = Axis::linear(figures.map(|(mean, spread)| mean + spread.unwrap_or(0.0)));
    rows(material, &axis, plain, |series, row| {
        let (value, beside) = values(material, row, None);
        vec![bar(material, series, row, of(row).map(|figures| solid(&axis, figures)), value, beside)]
    })
}

fn relative<'a>(material: &Material<'a>, name: String, baseline: &Baseline<'_>) -> Chart {
    let of = material.measure.of;
    let share = |case: &Case<'a>, row: &'a Row| {
        let base = baseline.of(material, case, row)?;
        let (own, base_figures) = (of(row)?, of(base).filter(|(mean, _)| *mean > 0.0)?);
        // The baseline is exactly 100 %.
        Some(if std::ptr::eq(base, row) { (1.0, None) } else { quotient(own, base_figures) })
    };
    let of_case = |case: &Case<'a>| case.rows.iter().map(|(_, row)| share(case, row)).collect();
    let shares: Vec<Vec<_>> = material.cases.iter().map(of_case).collect();
    let ends = shares.iter().flatten().flatten().map(|(share, spread)| share + spread.unwrap_or(0.0));
    let axis = Axis::linear(ends);
    let groups = material.cases.iter().zip(&shares).map(|(case, shares)| {
        let bars = case.rows.iter().zip(shares).map(|((series, row), share)| {
            let (value, beside) = values(material, row, *share);
            bar(material, *series, row, share.map(|share| solid(&axis, share)), value, beside)
        });
        Group { case: case.name.to_owned(), bars: bars.collect() }
    });
    Chart { baseline: Some(name), ticks: axis.ticks(self::share), groups: groups.collect() }
}

/// Returns a quotient and its standard deviation, for figures that were measured independently.
pub(super) fn quotient(own: Figure, base: Figure) -> Figure {
    let quotient = own.0 / base.0;
    let relative = |(mean, spread): Figure| Some(spread? / mean);
    let spread = relative(own).zip(relative(base)).map(|(own, base)| quotient * own.hypot(base));
    (quotient, spread.filter(|spread| spread.is_finite()))
}

fn values(material: &Material<'_>, row: &Row, share: Option<Figure>) -> (String, Option<String>) {
    let value = material.measure.written(row).unwrap_or_else(|| "–".to_owned());
    let beside = share.map(|(share, spread)| match spread.map(|spread| spread * 100.0) {
        // As many digits as the deviation leaves significant.
        Some(spread) if spread < 0.95 => format!("{:.1} ± {spread:.1} %", share * 100.0),
        Some(spread) => format!("{:.0} ± {spread:.0} %", share * 100.0),
        None => percent(share),
    });
    (value, beside)
}

fn solid(axis: &Axis, (figure, spread): Figure) -> Shape {
    let spread = spread.filter(|spread| *spread > 0.0);
    Shape::Bar {
        width: axis.position(figure),
        spread: spread.map(|spread| [axis.position(figure - spread), axis.position(figure + spread)]),
    }
}

fn bar(
    material: &Material<'_>,
    series: usize,
    row: &Row,
    shape: Option<Shape>,
    value: String,
    beside: Option<String>,
) -> Bar {
    let name = material.series[series].name.clone();
    Bar { series, is_floor: row.target == FLOOR, name, shape, value, beside, marks: marks(row) }
}

/// Returns the bars of the server's CPU time per request; `None` if it was not measured.
pub(super) fn cpu(material: &Material<'_>) -> Option<Chart> {
    let figures =
        material.cases.iter().flat_map(|case| &case.rows).filter_map(|(_, row)| row.server_cpu_us_per_request);
    let axis = Axis::linear(figures).rounded();
    let chart = rows(material, &axis, time, |series, row| {
        let Some(cpu) = row.server_cpu_us_per_request else { return Vec::new() };
        let multiple = material.suite.times_floor(row);
        let beside = multiple.map(|multiple| format!("{multiple} × floor"));
        vec![bar(material, series, row, Some(solid(&axis, (cpu, None))), format!("{} µs", figure(cpu)), beside)]
    });
    (!chart.groups.is_empty()).then_some(chart)
}

/// Returns the percentiles of latency and, if it was measured, of service time; `None` if no request was
/// answered.
pub(super) fn latency(material: &Material<'_>) -> Option<Chart> {
    let answered = material.cases.iter().flat_map(|case| &case.rows).filter(|(_, row)| row.requests > 0);
    let measured = answered.flat_map(|(_, row)| row.service_us.iter().chain([&row.latency_us]));
    let axis = Axis::logarithmic(measured.flat_map(|latency| [latency.p50, latency.max]));
    let strip = |series: usize, row: &Row, latency: &Latency| {
        let shape = Shape::Strip {
            p50: axis.position(latency.p50),
            p99: axis.position(latency.p99),
            p999: axis.position(latency.p999),
            max: axis.position(latency.max),
        };
        let beside = format!("99 %: {}", microseconds(latency.p99));
        bar(material, series, row, Some(shape), microseconds(latency.p50), Some(beside))
    };
    let chart = rows(material, &axis, time, |series, row| {
        if row.requests == 0 {
            return Vec::new();
        }
        let service = row.service_us.as_ref().map(|service| {
            let bar = strip(series, row, service);
            Bar { name: format!("{}, service time", bar.name), marks: Vec::new(), ..bar }
        });
        std::iter::once(strip(series, row, &row.latency_us)).chain(service).collect()
    });
    (!chart.groups.is_empty()).then_some(chart)
}

/// Returns a chart of all rows that have a bar.
fn rows(
    material: &Material<'_>,
    axis: &Axis,
    text: fn(f64) -> String,
    bars: impl Fn(usize, &Row) -> Vec<Bar>,
) -> Chart {
    let groups = material.cases.iter().map(|case| Group {
        case: case.name.to_owned(),
        bars: case.rows.iter().flat_map(|(series, row)| bars(*series, row)).collect(),
    });
    Chart { baseline: None, ticks: axis.ticks(text), groups: groups.filter(|group| !group.bars.is_empty()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_a_quotient_is_that_of_both() {
        let (share, spread) = quotient((30.0, Some(3.0)), (40.0, Some(4.0)));
        assert_eq!(share, 0.75);
        assert!((spread.unwrap() - 0.75 * 0.02_f64.sqrt()).abs() < 1e-12);
        assert_eq!(quotient((1.0, None), (2.0, Some(1.0))), (0.5, None));
    }
}
