//! What the charts of a block are made of: the rows of one suite and method, by case, in series.

use serde::Serialize;

use crate::report::format::{count, figure};
use crate::report::label::Labels;
use crate::report::{FLOOR, Method, Row, Suite};

/// All that charts of one block are made of.
#[derive(Debug)]
pub(super) struct Material<'a> {
    pub(super) suite: &'a Suite,
    pub(super) series: Vec<Series>,
    pub(super) cases: Vec<Case<'a>>,
    pub(super) measure: Measure,
}

impl<'a> Material<'a> {
    /// Of rows that were driven by this method.
    pub(super) fn of(suite: &'a Suite, rows: &[&'a Row], method: Method) -> Self {
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
        Material { suite, series, cases, measure: Measure::of_method(method) }
    }
}

/// The rows of one case.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    /// Each with its series; the floor last.
    pub(super) rows: Vec<(usize, &'a Row)>,
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

impl Measure {
    /// What a method is about.
    fn of_method(method: Method) -> Self {
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
}
