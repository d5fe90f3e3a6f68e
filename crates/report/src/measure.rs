//! The main figure of a method: throughput if the load was given, or the load that a search found.

use crate::format::{count, figure, spread};
use crate::{Method, Row};

/// The main figure of a method.
#[derive(Debug)]
pub(crate) struct Measure {
    pub(crate) title: &'static str,
    pub(crate) less_is_better: bool,
    pub(crate) unit: &'static str,
    text: fn(f64) -> String,
    pub(crate) of: fn(&Row) -> Option<Figure>,
}

/// A mean and, if it was measured more than once, its standard deviation.
pub(crate) type Figure = (f64, Option<f64>);

impl Measure {
    /// Returns the main figure of these rows of a method.
    pub(crate) fn of_method<'a>(method: Method, rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let is_searched = rows.into_iter().any(|row| row.users_at_peak.is_some());
        let per_second = |row: &Row| {
            let rate = &row.requests_per_second;
            Some((rate.mean, (rate.runs.len() > 1).then_some(rate.stddev)))
        };
        match method {
            Method::Closed | Method::Open | Method::Users if !is_searched => Measure {
                title: "Requests per second",
                less_is_better: false,
                unit: "requests/s",
                text: figure,
                of: per_second,
            },
            Method::Closed | Method::Open | Method::Users => Measure {
                title: "Requests per second at the peak",
                less_is_better: false,
                unit: "requests/s",
                text: figure,
                of: per_second,
            },
            Method::Ramp => Measure {
                title: "Users at the end",
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
                // The relative deviation of the time equals that of its inverse, the rate.
                of: |row| {
                    let (elapsed, rate) = (row.elapsed_s?, &row.requests_per_second);
                    let spread = rate.runs.len() > 1 && rate.mean > 0.0;
                    Some((elapsed, spread.then(|| elapsed * rate.stddev / rate.mean)))
                },
            },
        }
    }

    /// Returns the figure of a row without its unit: `30,000 ± 100`; `None` if it was not measured.
    pub(crate) fn written(&self, row: &Row) -> Option<String> {
        (self.of)(row).map(|(mean, deviation)| match deviation {
            None => (self.text)(mean),
            Some(deviation) => spread(mean, deviation),
        })
    }
}
