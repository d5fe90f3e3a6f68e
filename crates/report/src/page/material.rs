//! The data of a block's charts: the rows of one suite and method, by case, in series.

use serde::Serialize;

use crate::label::Labels;
use crate::measure::Measure;
use crate::{FLOOR, Method, Row, Suite};

/// The data of a block's charts.
#[derive(Debug)]
pub(super) struct Material<'a> {
    pub(super) suite: &'a Suite,
    pub(super) series: Vec<Series>,
    pub(super) cases: Vec<Case<'a>>,
    pub(super) measure: Measure,
}

impl<'a> Material<'a> {
    /// Collects rows that were driven by this method.
    pub(super) fn of(suite: &'a Suite, rows: &[&'a Row], method: Method) -> Self {
        let labels = Labels::among(rows.iter().copied());
        let mut series: Vec<Series> = Vec::new();
        // The measured targets get the first colours, whatever their order among the rows.
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
        Material { suite, series, cases, measure: Measure::of_method(method, rows.iter().copied()) }
    }
}

/// The rows of one case.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    /// Each with the index of its series; the floor's rows are last.
    pub(super) rows: Vec<(usize, &'a Row)>,
}

/// Rows of several cases that differ only in the case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Series {
    pub(super) name: String,
    /// Decides its colour.
    pub(super) index: usize,
    pub(super) is_floor: bool,
}
