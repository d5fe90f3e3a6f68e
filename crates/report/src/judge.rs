//! Decides whether a measurement counts as failed, by conditions of the user.

use std::fmt;

use crate::{Condition, Criterion, FLOOR, Judged, Results, Row};

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
    pub(crate) fn of(suite: &str, row: &Row, criterion: Criterion) -> Self {
        let found = criterion.metric.of(row);
        Judged {
            suite: suite.to_owned(),
            case: row.case.clone(),
            row: row.properties(),
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
