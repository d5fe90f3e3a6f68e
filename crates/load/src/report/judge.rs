//! Decides whether a measurement counts as failed, by conditions of the user.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::label::full;
use super::{FLOOR, Results, Row};
use crate::Criterion;

/// A condition for failing, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The condition: `p99 > 200 ms`.
    pub fail_if: String,
    /// Whether a row fails this condition.
    pub failed: bool,
    /// The rows in their order, without those of the floor.
    pub rows: Vec<Judged>,
}

/// A row that was judged by a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The suite of the row.
    pub suite: String,
    /// The case of the row.
    pub case: String,
    /// All properties that distinguish the row from others.
    pub row: String,
    /// Whether the row fails. A figure that was not measured fails, too, since an unknown figure is
    /// not a good one.
    pub failed: bool,
    /// The figure in the unit of `results.json`: microseconds, a share of 1, or a number.
    pub found: Option<f64>,
    /// The figure in words.
    pub text: String,
}

impl Results {
    /// Judges all rows except the floor's by these conditions for failing.
    pub fn judge(&mut self, fail_if: &[Criterion]) {
        let judged = |criterion: &Criterion| {
            let rows = self.suites.iter().flat_map(|suite| suite.cases.iter().map(move |row| (&*suite.suite, row)));
            let rows =
                rows.filter(|(_, row)| row.target != FLOOR).map(|(suite, row)| Judged::of(suite, row, *criterion));
            let rows: Vec<_> = rows.collect();
            Condition { fail_if: criterion.to_string(), failed: rows.iter().any(|row| row.failed), rows }
        };
        self.conditions = fail_if.iter().map(judged).collect();
    }
}

impl Condition {
    /// Returns the rows that fail.
    pub fn failures(&self) -> impl Iterator<Item = &Judged> {
        self.rows.iter().filter(|row| row.failed)
    }
}

impl Judged {
    pub(super) fn of(suite: &str, row: &Row, criterion: Criterion) -> Self {
        let found = criterion.metric.of(row);
        Judged {
            suite: suite.to_owned(),
            case: row.case.clone(),
            row: full(row),
            failed: found.is_none_or(|figure| criterion.holds(figure)),
            found,
            text: found.map_or_else(|| "not measured".to_owned(), |figure| criterion.metric.text(figure)),
        }
    }
}

/// `wstest GetOrder (castile, raw, 4 connections, kept alive, closed): 250 ms`
impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}): {}", self.suite, self.case, self.row, self.text)
    }
}
