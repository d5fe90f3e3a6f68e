//! The charts of the rows of one suite that were driven by one method: an overview, then each case in detail.

use serde::Serialize;

use super::bars::{Chart, cpu, latency, normalised};
use super::detail::{Curves, Detail};
use super::figures::{Table, all};
use super::material::{Material, Series};
use crate::label::ways;
use crate::{FLOOR, Method, Row, Suite};

/// How many cases a chart shows initially. A click shows the rest.
const SHOWN: usize = 24;
/// How many cases show their curves initially.
const SHOWN_CURVES: usize = 4;

#[derive(Debug, Serialize)]
pub(super) struct Block {
    /// Unique within the page.
    pub(super) id: String,
    pub(super) title: &'static str,
    /// How the rows were driven; one line for each way.
    driven: Vec<String>,
    measure: MeasureText,
    series: Vec<Series>,
    has_spread: bool,
    shown: usize,
    /// The bars of the main figure, for each baseline.
    measured: Vec<Chart>,
    cpu: Option<Chart>,
    latency: Option<Chart>,
    curves: Vec<Curves>,
    shown_curves: usize,
    details: Vec<Detail>,
    table: Table,
}

#[derive(Debug, Serialize)]
struct MeasureText {
    title: &'static str,
    less_is_better: bool,
    unit: &'static str,
}

/// Returns a block for each method of a suite, in the order of its rows.
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
    /// Returns how many baselines its bars have.
    pub(super) fn choices(&self) -> usize {
        self.measured.len()
    }

    fn of(suite: &Suite, method: Method, id: String) -> Self {
        let rows: Vec<&Row> = suite.cases.iter().filter(|row| row.method == method).collect();
        let material = Material::of(suite, &rows, method);
        let measure = &material.measure;
        let has_spread = rows.iter().any(|row| (measure.of)(row).is_some_and(|(_, spread)| spread.is_some()));
        Block {
            title: title(method),
            driven: ways(rows.iter().copied()),
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

fn title(method: Method) -> &'static str {
    match method {
        Method::Closed => "All connections busy",
        Method::Open => "Requests at scheduled times",
        Method::Users => "Users who pause",
        Method::Ramp => "Users added at a steady rate",
        Method::Sequence => "One client, one list of requests",
    }
}
