//! Whether a measurement counts as failed: criteria that a person gave, and rows that meet them.

use std::fmt;

use super::label::full;
use super::{FLOOR, Results, Row};
use crate::Criterion;

/// A row that a criterion for failing holds for.
#[derive(Clone, Debug)]
pub struct Failed<'a> {
    /// The suite of the row.
    pub suite: &'a str,
    /// The row.
    pub row: &'a Row,
    /// What it was judged by.
    pub criterion: Criterion,
    /// The figure, in the unit of the criterion's metric. `None` if it was not measured: that fails, too, since what
    /// nobody knows is not good.
    pub found: Option<f64>,
}

impl Results {
    /// The rows for which at least one of these criteria holds, or can't be judged. The floor is not judged.
    pub fn failed(&self, fail_if: &[Criterion]) -> Vec<Failed<'_>> {
        let rows = self.suites.iter().flat_map(|suite| suite.cases.iter().map(move |row| (&*suite.suite, row)));
        rows.filter(|(_, row)| row.target != FLOOR)
            .flat_map(|(suite, row)| fail_if.iter().filter_map(move |criterion| judge(suite, row, *criterion)))
            .collect()
    }
}

fn judge<'a>(suite: &'a str, row: &'a Row, criterion: Criterion) -> Option<Failed<'a>> {
    let found = criterion.metric.of(row);
    let fails = found.is_none_or(|figure| criterion.holds(figure));
    fails.then_some(Failed { suite, row, criterion, found })
}

impl Failed<'_> {
    /// What failed, without the row.
    pub(super) fn reason(&self) -> String {
        match self.found {
            Some(figure) => format!("{}: found {}", self.criterion, self.criterion.metric.text(figure)),
            None => format!("{}: not measured", self.criterion),
        }
    }
}

impl fmt::Display for Failed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}): {}", self.suite, self.row.case, full(self.row), self.reason())
    }
}
