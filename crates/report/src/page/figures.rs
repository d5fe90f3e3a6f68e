//! The tables of the charts' data, with every figure and its unit.

use serde::Serialize;

use super::material::{Material, Series};
use crate::format::{NONE, bytes, count, figure, microseconds, percent, spread};
use crate::label::{Labels, client, driven};
use crate::{FLOOR, Interval, Published, PublishedFigure, Row, Spread, Step, Suite};

/// A table of texts.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    caption: String,
    /// The heading of the first column, then those of the others.
    headings: Vec<String>,
    lines: Vec<Line>,
}

impl Table {
    pub(super) fn new<'a>(caption: String, headings: impl IntoIterator<Item = &'a str>, lines: Vec<Line>) -> Self {
        Table { caption, headings: headings.into_iter().map(str::to_owned).collect(), lines }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Removes empty columns.
    pub(super) fn without_empty(mut self) -> Self {
        let tells = |cell: &Cell| !cell.text.is_empty() && cell.text != NONE;
        let columns = self.headings.len().saturating_sub(1);
        let kept: Vec<bool> =
            (0..columns).map(|column| self.lines.iter().any(|line| tells(&line.cells[column]))).collect();
        let mut keep = std::iter::once(true).chain(kept.iter().copied());
        self.headings.retain(|_| keep.next().unwrap_or(true));
        for line in &mut self.lines {
            let mut keep = kept.iter().copied();
            line.cells.retain(|_| keep.next().unwrap_or(true));
        }
        self
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Line {
    name: String,
    /// Shown below the name, less prominently.
    below: Option<String>,
    /// Whether the line follows one of the same name and is less important.
    quiet: bool,
    cells: Vec<Cell>,
}

impl Line {
    pub(super) fn new(name: String, cells: impl IntoIterator<Item = Cell>) -> Self {
        Line { name, below: None, quiet: false, cells: cells.into_iter().collect() }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Shown below the text, less prominently.
    pub(super) below: Option<String>,
    pub(super) bad: bool,
    pub(super) good: bool,
    /// Whether the cell contains words and not a figure to be compared with others of its column.
    words: bool,
}

impl Cell {
    /// Returns the cell of a figure, or of a missing figure.
    pub(super) fn of(figure: Option<String>) -> Self {
        figure.unwrap_or_else(|| NONE.to_owned()).into()
    }

    pub(super) fn words(text: String) -> Self {
        Cell { text, words: true, ..Cell::default() }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell { text, ..Cell::default() }
    }
}

/// A figure of a row: its name with its unit, and a function that returns its text, if there is one.
type Figure = (&'static str, fn(&Row) -> Option<Cell>);

fn cell(text: String) -> Option<Cell> {
    Some(text.into())
}

/// All figures of a row. A table leaves out a figure that none of its rows has.
const FIGURES: [Figure; 41] = [
    ("requests/s ± standard deviation", |row| cell(mean(&row.requests_per_second))),
    ("users at the peak", |row| cell(count(row.users_at_peak? as f64))),
    ("users at the end", |row| cell(count(row.users_at_exit? as f64))),
    ("failed requests", |row| cell(count(row.failed? as f64))),
    ("whole list", |row| cell(format!("{} s", figure(row.elapsed_s?)))),
    ("matches", |row| cell(count(row.matches? as f64))),
    ("sent", |row| cell(bytes(row.bytes_out? as f64))),
    ("received", |row| cell(bytes(row.bytes_in? as f64))),
    ("latency mean", |row| cell(microseconds(answered(row)?.latency_us.mean?))),
    ("p50", |row| cell(microseconds(answered(row)?.latency_us.p50))),
    ("p90", |row| cell(microseconds(answered(row)?.latency_us.p90))),
    ("p99", |row| cell(microseconds(answered(row)?.latency_us.p99))),
    ("p99.9", |row| cell(microseconds(answered(row)?.latency_us.p999))),
    ("max", |row| cell(microseconds(answered(row)?.latency_us.max))),
    ("service time p50", |row| cell(microseconds(row.service_us.as_ref()?.p50))),
    ("service time p99", |row| cell(microseconds(row.service_us.as_ref()?.p99))),
    ("service time max", |row| cell(microseconds(row.service_us.as_ref()?.max))),
    ("server CPU per request", |row| cell(format!("{} µs", figure(row.server_cpu_us_per_request?)))),
    ("× floor’s CPU", |row| cell(row.times_floor?.to_string())),
    ("server peak memory", |row| cell(bytes(row.server_peak_rss_bytes? as f64))),
    ("server busy", |row| cell(percent(row.server_cpu_share?))),
    ("driver busy", |row| {
        Some(Cell { text: percent(row.driver_cpu_share?), bad: row.driver_limited, ..Cell::default() })
    }),
    ("driver CPU per request", |row| cell(format!("{} µs", figure(row.driver_cpu_us_per_request?)))),
    ("used by other processes", |row| Some(Cell { text: percent(row.disturbed?), bad: true, ..Cell::default() })),
    ("request", |row| cell(length(row.request_bytes)?)),
    ("response", |row| cell(length(row.response_bytes)?)),
    ("right answers", |row| cell(count(row.requests as f64))),
    ("of these verified", |row| cell(count(row.verified as f64))),
    ("due but not sent", |row| cell(count(Some(row.unsent).filter(|unsent| *unsent > 0)? as f64))),
    ("dropped", |row| cell(count(Some(row.dropped).filter(|dropped| *dropped > 0)? as f64))),
    ("driver late p99", |row| cell(microseconds(row.lag_us?.p99))),
    ("driver late, maximum", |row| cell(microseconds(row.lag_us?.max))),
    ("errors", |row| Some(Cell { text: count(row.errors as f64), bad: row.errors > 0, ..Cell::default() })),
    ("client", |row| cell(client(row.client).to_owned()).filter(|_| row.target != FLOOR)),
    ("style", |row| cell(row.style.clone()?)),
    ("network", |row| cell(row.network.clone()?)),
    ("driven by", |row| cell(driven(row))),
    ("each run, requests/s", |row| cell(each_run(&row.requests_per_second)?)),
    ("each pass, requests/s", |row| cell(each_pass(row)?)),
    ("why it ended", |row| cell(row.exit_reason.clone()?)),
    ("what limited the driver", |row| cell(row.limited_by.clone()?)),
];

/// How many of the figures are in wide tables; the rest are words.
const NUMBERS: usize = 33;

fn answered(row: &Row) -> Option<&Row> {
    (row.requests > 0).then_some(row)
}

fn mean(figures: &Spread) -> String {
    let Spread { mean, stddev, runs } = figures;
    if runs.len() > 1 { spread(*mean, *stddev) } else { figure(*mean) }
}

fn length(bytes: usize) -> Option<String> {
    (bytes > 0).then(|| format!("{} B", count(bytes as f64)))
}

fn each_run(spread: &Spread) -> Option<String> {
    let runs: Vec<_> = spread.runs.iter().map(|run| figure(*run)).collect();
    (runs.len() > 1).then(|| runs.join("; "))
}

fn each_pass(row: &Row) -> Option<String> {
    let passes = row.passes.iter().map(|pass| {
        let discarded = if pass.discarded { " (discarded)" } else { "" };
        format!("{}{discarded}", figure(pass.requests_per_second))
    });
    let passes: Vec<_> = passes.collect();
    (!passes.is_empty()).then(|| passes.join("; "))
}

fn none() -> Cell {
    Cell::of(None)
}

/// Returns the table of all rows of a block, one line each.
pub(super) fn all(suite: &str, material: &Material<'_>) -> Table {
    let rows = || material.cases.iter().flat_map(|case| case.rows.iter().enumerate().map(move |row| (case, row)));
    let figures: Vec<&Figure> =
        FIGURES[..NUMBERS].iter().filter(|(_, of)| rows().any(|(_, (_, (_, row)))| of(row).is_some())).collect();
    let lines = rows().map(|(case, (index, (series, row)))| Line {
        name: case.name.to_owned(),
        below: (material.series.len() > 1).then(|| material.series[*series].name.clone()),
        quiet: index > 0,
        cells: figures.iter().map(|(_, of)| of(row).unwrap_or_else(none)).collect(),
    });
    Table {
        caption: format!("All figures of {suite}"),
        headings: std::iter::once("case").chain(figures.iter().map(|(name, _)| *name)).map(str::to_owned).collect(),
        lines: lines.collect(),
    }
}

/// Returns the table of one case with its rows as columns.
pub(super) fn one_case(case: &str, rows: &[(&Series, &Row)]) -> Table {
    let lines = FIGURES.iter().filter_map(|(name, of)| {
        let cells: Vec<_> = rows.iter().map(|(_, row)| of(row)).collect();
        cells.iter().any(Option::is_some).then(|| Line {
            name: (*name).to_owned(),
            below: None,
            quiet: false,
            cells: cells.into_iter().map(|cell| cell.unwrap_or_else(none)).collect(),
        })
    });
    Table { caption: format!("Figures of {case}"), headings: heads("", rows), lines: lines.collect() }
}

fn heads(first: &str, rows: &[(&Series, &Row)]) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rows.iter().map(|(series, _)| series.name.clone())).collect()
}

/// The shares of requests in the table of a distribution.
const SHARES: [f64; 9] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// Returns the table of the distributions' points; `None` if there are no distributions.
pub(super) fn distribution_points(case: &str, rows: &[(&Series, &Row)]) -> Option<Table> {
    let rows: Vec<_> = rows.iter().copied().filter(|(_, row)| !row.distribution.is_empty()).collect();
    let lines = SHARES.iter().map(|share| Line {
        name: if *share < 1.0 { format!("{} %", (share * 1e6).round() / 1e4) } else { "slowest".to_owned() },
        below: None,
        quiet: false,
        cells: rows
            .iter()
            .map(|(_, row)| {
                // N requests have no quantile above 1 - 1/N.
                let is_resolved = *share >= 1.0 || (1.0 - share) * row.requests as f64 >= 1.0;
                row.latency_at(*share).filter(|_| is_resolved).map_or_else(none, |us| microseconds(us).into())
            })
            .collect(),
    });
    (!rows.is_empty()).then(|| Table {
        caption: format!("Latency distribution of {case}"),
        headings: heads("share of requests", &rows),
        lines: lines.collect(),
    })
}

/// A figure of a point: its name, and a function that returns its text, if there is one.
type PointFigure<T> = (&'static str, fn(&T) -> Option<String>);

/// Returns a table with points as lines. Its columns are the figures that at least one point has.
fn points<T>(
    caption: String,
    first: &str,
    points: &[T],
    name: impl Fn(&T) -> String,
    figures: &[PointFigure<T>],
) -> Table {
    let figures: Vec<_> = figures.iter().filter(|(_, of)| points.iter().any(|point| of(point).is_some())).collect();
    Table {
        caption,
        headings: std::iter::once(first).chain(figures.iter().map(|(name, _)| *name)).map(str::to_owned).collect(),
        lines: points
            .iter()
            .map(|point| Line {
                name: name(point),
                below: None,
                quiet: false,
                cells: figures.iter().map(|(_, of)| of(point).map_or_else(none, Cell::from)).collect(),
            })
            .collect(),
    }
}

/// Returns the time series of one row.
pub(super) fn series_points(case: &str, series: &Series, intervals: &[Interval]) -> Table {
    let caption = format!("{case}, {}: by interval", series.name);
    points(
        caption,
        "until",
        intervals,
        |interval| format!("{} s", figure(interval.at_s)),
        &[
            ("requests/s", |interval| Some(count(interval.requests_per_second))),
            ("errors", |interval| Some(count(interval.errors as f64))),
            ("p50", |interval| interval.p50_us.map(microseconds)),
            ("p99", |interval| interval.p99_us.map(microseconds)),
            ("users", |interval| interval.users.map(|users| count(users as f64))),
            ("server busy", |interval| interval.server_cpu_share.map(percent)),
            ("server CPU per request", |interval| interval.server_cpu_us_per_request.map(microseconds)),
            ("server memory", |interval| interval.server_rss_bytes.map(|size| bytes(size as f64))),
        ],
    )
}

/// Returns the curve of one row.
pub(super) fn curve_points(case: &str, series: &Series, steps: &[Step]) -> Table {
    let caption = format!("{case}, {}: step by step", series.name);
    let load = |step: &Step| match (step.users, step.rate) {
        (Some(users), _) => format!("{} users", count(users as f64)),
        (None, Some(rate)) => format!("{} req/s", count(rate)),
        (None, None) => none().text,
    };
    points(
        caption,
        "load",
        steps,
        load,
        &[
            ("requests/s", |step| Some(count(step.requests_per_second))),
            ("mean latency", |step| Some(microseconds(step.mean_us))),
            ("p99", |step| Some(microseconds(step.p99_us))),
            ("errors", |step| Some(count(step.errors as f64))),
            ("server busy", |step| step.server_cpu_share.map(percent)),
        ],
    )
}

/// A kind of published figure: its name, its text as published, and its text as measured here.
type HistoryFigure = (&'static str, fn(&PublishedFigure) -> Option<String>, fn(&Row) -> Option<String>);

const HISTORY: [HistoryFigure; 4] = [
    (
        "Requests per second, ± standard deviation",
        |known| {
            let mean = known.requests_per_second?;
            Some(known.stddev.map_or_else(|| figure(mean), |deviation| spread(mean, deviation)))
        },
        |row| Some(mean(&row.requests_per_second)),
    ),
    (
        "Users at the end",
        |known| Some(count(known.users_at_exit? as f64)),
        |row| Some(count(row.users_at_exit? as f64)),
    ),
    ("Failed requests", |known| Some(count(known.failed? as f64)), |row| Some(count(row.failed? as f64))),
    (
        "Mean response time",
        |known| known.mean_us.map(microseconds),
        |row| answered(row)?.latency_us.mean.map(microseconds),
    ),
];

/// Returns the published figures beside those measured here by the same method, with a table for each kind of figure. The
/// published figures are from other machines, so this is not a comparison.
pub(super) fn history(suite: &Suite) -> Vec<Table> {
    HISTORY.iter().filter_map(|kind| history_of(suite, kind)).collect()
}

fn history_of(suite: &Suite, (caption, published, own): &HistoryFigure) -> Option<Table> {
    let tells = |system: &&Published| system.figures.iter().any(|known| published(known).is_some());
    let systems: Vec<&Published> = suite.published.iter().filter(tells).collect();
    let mut names: Vec<&str> = Vec::new();
    for known in systems.iter().flat_map(|system| &system.figures).filter(|known| published(known).is_some()) {
        if !names.contains(&&*known.case) {
            names.push(&known.case);
        }
    }
    let is_beside = |row: &&Row| {
        row.target != FLOOR
            && names.contains(&&*row.case)
            && systems.iter().any(|system| system.method == row.method)
            && own(row).is_some()
    };
    let measured: Vec<&Row> = suite.cases.iter().filter(is_beside).collect();
    let labels = Labels::among(measured.iter().copied());
    let mut series: Vec<String> = Vec::new();
    for name in measured.iter().map(|row| labels.of(row)) {
        if !series.contains(&name) {
            series.push(name);
        }
    }
    let lines = names.iter().map(|case| Line {
        name: (*case).to_owned(),
        below: None,
        quiet: false,
        cells: systems
            .iter()
            .map(|system| system.figures.iter().find(|known| known.case == *case).and_then(published))
            .chain(
                series
                    .iter()
                    .map(|series| own(measured.iter().find(|row| row.case == *case && labels.of(row) == *series)?)),
            )
            .map(|text| text.map_or_else(none, Cell::from))
            .collect(),
    });
    (!names.is_empty()).then(|| Table {
        caption: (*caption).to_owned(),
        headings: std::iter::once("case".to_owned())
            .chain(systems.iter().map(|system| system.system.clone()))
            .chain(series.iter().map(|series| format!("here: {series}")))
            .collect(),
        lines: lines.collect(),
    })
}
