//! The rows of one suite that were driven by one method, as charts: an overview first, then each case in detail.

use serde::Serialize;

use super::bars::{Chart, cpu, latency, normalised};
use super::detail::{Curves, Detail};
use super::figures::{Table, all};
use crate::report::format::{count, figure};
use crate::report::label::{Labels, driven};
use crate::report::{FLOOR, Method, Row, Suite};

/// How many cases a chart shows at once; the others are a click away.
const SHOWN: usize = 24;
/// How many cases show their curves at once.
const SHOWN_CURVES: usize = 4;

#[derive(Debug, Serialize)]
pub(super) struct Block {
    /// Different for each block of a page.
    id: String,
    title: &'static str,
    /// How the rows were driven; one line for each way.
    driven: Vec<String>,
    measure: MeasureText,
    series: Vec<Series>,
    has_spread: bool,
    shown: usize,
    /// The bars of the measure, relative to each thing that can be 100 %.
    measured: Vec<Chart>,
    cpu: Option<Chart>,
    latency: Option<Chart>,
    curves: Vec<Curves>,
    shown_curves: usize,
    details: Vec<Detail>,
    table: Table,
}

/// Rows of several cases that differ in nothing but the case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Series {
    pub(super) name: String,
    /// What decides its colour.
    pub(super) index: usize,
    pub(super) is_floor: bool,
}

/// The figure that a method is about.
#[derive(Debug)]
pub(super) struct Measure {
    pub(super) title: &'static str,
    pub(super) less_is_better: bool,
    pub(super) unit: &'static str,
    pub(super) text: fn(f64) -> String,
    pub(super) of: fn(&Row) -> Option<Figure>,
}

/// A mean and, where it was measured more than once, its standard deviation.
pub(super) type Figure = (f64, Option<f64>);

#[derive(Debug, Serialize)]
struct MeasureText {
    title: &'static str,
    less_is_better: bool,
    unit: &'static str,
}

/// The rows of one case.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    /// Each with its series; the floor last.
    pub(super) rows: Vec<(usize, &'a Row)>,
}

/// All that charts of one block are made of.
#[derive(Debug)]
pub(super) struct Material<'a> {
    pub(super) suite: &'a Suite,
    pub(super) series: Vec<Series>,
    pub(super) cases: Vec<Case<'a>>,
    pub(super) measure: Measure,
}

/// A block for each method of a suite, in the order of its rows.
pub(super) fn blocks(suite: &Suite, number: usize) -> Vec<Block> {
    let mut methods: Vec<Method> = Vec::new();
    for row in suite.cases.iter().filter(|row| row.target != FLOOR) {
        if !methods.contains(&row.method) {
            methods.push(row.method);
        }
    }
    methods.iter().enumerate().map(|(index, method)| Block::of(suite, *method, format!("b{number}-{index}"))).collect()
}

impl Block {
    fn of(suite: &Suite, method: Method, id: String) -> Self {
        let rows: Vec<&Row> = suite.cases.iter().filter(|row| row.method == method).collect();
        let mut ways: Vec<String> = Vec::new();
        for way in rows.iter().map(|row| driven(row)) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        let material = Material::of(suite, &rows, measure(method));
        let measure = &material.measure;
        let has_spread = rows.iter().any(|row| (measure.of)(row).is_some_and(|(_, spread)| spread.is_some()));
        Block {
            title: title(method),
            driven: ways,
            measure: MeasureText { title: measure.title, less_is_better: measure.less_is_better, unit: measure.unit },
            has_spread,
            shown: SHOWN,
            measured: normalised(&material),
            cpu: cpu(&material),
            latency: latency(&material),
            curves: material.cases.iter().filter_map(|case| Curves::of(case, &material.series)).collect(),
            shown_curves: SHOWN_CURVES,
            details: material.cases.iter().map(|case| Detail::of(case, &material.series)).collect(),
            table: all(&suite.suite, &material),
            series: material.series,
            id,
        }
    }
}

impl<'a> Material<'a> {
    fn of(suite: &'a Suite, rows: &[&'a Row], measure: Measure) -> Self {
        let labels = Labels::among(rows.iter().copied());
        let mut series: Vec<Series> = Vec::new();
        // What was measured has the first colours, whatever comes first among the rows.
        for row in rows.iter().filter(|row| row.target != FLOOR).chain(rows.iter().filter(|row| row.target == FLOOR)) {
            let name = labels.of(row);
            if !series.iter().any(|known| known.name == name) {
                series.push(Series { name, index: series.len(), is_floor: row.target == FLOOR });
            }
        }
        let mut cases: Vec<Case<'a>> = Vec::new();
        for row in rows {
            let name = labels.of(row);
            let index = series.iter().position(|known| known.name == name).unwrap_or_default();
            match cases.iter_mut().find(|case| case.name == row.case) {
                Some(case) => case.rows.push((index, row)),
                None => cases.push(Case { name: &row.case, rows: vec![(index, row)] }),
            }
        }
        for case in &mut cases {
            case.rows.sort_by_key(|(series, _)| *series);
        }
        Material { suite, series, cases, measure }
    }
}

fn title(method: Method) -> &'static str {
    match method {
        Method::Closed => "All connections busy",
        Method::Open => "Requests by the clock",
        Method::Users => "Thinking users",
        Method::Ramp => "Users added until an exit",
        Method::Sequence => "One client, one list of requests",
    }
}

fn measure(method: Method) -> Measure {
    let per_second = |row: &Row| {
        let rate = &row.requests_per_second;
        Some((rate.mean, (rate.runs.len() > 1).then_some(rate.stddev)))
    };
    match method {
        Method::Closed | Method::Open => Measure {
            title: "Requests per second",
            less_is_better: false,
            unit: "requests/s",
            text: figure,
            of: per_second,
        },
        Method::Users => Measure {
            title: "Requests per second at the peak",
            less_is_better: false,
            unit: "requests/s",
            text: figure,
            of: per_second,
        },
        Method::Ramp => Measure {
            title: "Users at the exit",
            less_is_better: false,
            unit: "users",
            text: count,
            of: |row| Some((row.users_at_exit? as f64, None)),
        },
        Method::Sequence => Measure {
            title: "Time for the whole list",
            less_is_better: true,
            unit: "s",
            text: figure,
            // The runs differ in time as they do in its inverse.
            of: |row| {
                let (elapsed, rate) = (row.elapsed_s?, &row.requests_per_second);
                let spread = rate.runs.len() > 1 && rate.mean > 0.0;
                Some((elapsed, spread.then(|| elapsed * rate.stddev / rate.mean)))
            },
        },
    }
}
