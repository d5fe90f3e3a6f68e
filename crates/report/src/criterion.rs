//! Conditions on a measurement, in the form people write them: `p99>200ms`, `errors>0`, `rps<500`.

use std::fmt;
use std::str::FromStr;

use crate::{Row, format};

/// A condition on one figure of a measurement.
///
/// It decides when a search has gone too far, and whether a measurement counts as failed. It is parsed from a
/// metric, an operator (`>`, `>=`, `<`, `<=`) and a value in the metric's unit:
///
/// ```
/// use castile_report::{Criterion, Metric};
///
/// let criterion: Criterion = "p99 > 200ms".parse()?;
/// assert_eq!(criterion.metric, Metric::Latency { quantile: 0.99 });
/// assert!(criterion.holds(250_000.0), "latencies are microseconds");
/// # Ok::<(), castile_report::InvalidCriterion>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// The figure that is compared.
    pub metric: Metric,
    /// How it is compared.
    pub operator: Operator,
    /// The value it is compared with, in the unit of the metric.
    pub value: f64,
}

/// A figure that a [`Criterion`] can compare.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Metric {
    /// Mean latency in microseconds: `mean`.
    MeanLatency,
    /// The latency that this share of requests does not exceed, in microseconds: `p50`, `p99`, `p999` or `p99.9`.
    Latency {
        /// The share, above 0 and below 1.
        quantile: f64,
    },
    /// The longest latency in microseconds: `max`.
    MaxLatency,
    /// The number of wrong or missing answers: `errors`.
    Errors,
    /// The share of wrong or missing answers in all requests, 0 to 1: `error-rate`, compared with a percentage.
    ErrorRate,
    /// The number of requests that were dropped because every connection was busy when they were due: `dropped`.
    Dropped,
    /// The share of dropped requests in all that were due, 0 to 1: `drop-rate`, compared with a percentage.
    DropRate,
    /// Right answers per second: `rps`.
    RequestsPerSecond,
    /// The share of its cores that the server used, 0 to 1: `cpu`, compared with a percentage.
    ServerCpu,
}

/// How a figure is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// The error when a text isn't a [`Criterion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCriterion(String);

impl fmt::Display for InvalidCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidCriterion {}

impl Criterion {
    /// Returns whether a figure, in the unit of the metric, meets the condition.
    pub fn holds(&self, figure: f64) -> bool {
        match self.operator {
            Operator::Above => figure > self.value,
            Operator::AtLeast => figure >= self.value,
            Operator::Below => figure < self.value,
            Operator::AtMost => figure <= self.value,
        }
    }
}

impl Metric {
    /// Returns this figure of a row, in the metric's unit; `None` if it was not measured.
    pub fn of(self, row: &Row) -> Option<f64> {
        let latency = |figure: Option<f64>| figure.filter(|_| row.requests > 0);
        match self {
            Metric::MeanLatency => latency(row.latency_us.mean),
            Metric::Latency { quantile } => latency(row.latency_at(quantile)),
            Metric::MaxLatency => latency(Some(row.latency_us.max)),
            Metric::Errors => Some(row.errors as f64),
            Metric::ErrorRate => {
                let all = row.requests + row.errors;
                (all > 0).then(|| row.errors as f64 / all as f64)
            }
            Metric::Dropped => Some(row.dropped as f64),
            Metric::DropRate => {
                let all = row.requests + row.errors + row.dropped;
                (all > 0).then(|| row.dropped as f64 / all as f64)
            }
            Metric::RequestsPerSecond => Some(row.requests_per_second.mean),
            Metric::ServerCpu => row.server_cpu_share,
        }
    }

    /// Formats a figure of this metric for people.
    pub(crate) fn text(self, figure: f64) -> String {
        match self {
            Metric::MeanLatency | Metric::Latency { .. } | Metric::MaxLatency => format::microseconds(figure),
            Metric::Errors | Metric::Dropped => format::count(figure),
            Metric::ErrorRate | Metric::DropRate | Metric::ServerCpu => format!("{} %", format::figure(figure * 100.0)),
            Metric::RequestsPerSecond => format!("{} requests/s", format::figure(figure)),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        match name {
            "mean" => Some(Metric::MeanLatency),
            "max" => Some(Metric::MaxLatency),
            "errors" => Some(Metric::Errors),
            "error-rate" => Some(Metric::ErrorRate),
            "dropped" => Some(Metric::Dropped),
            "drop-rate" => Some(Metric::DropRate),
            "rps" => Some(Metric::RequestsPerSecond),
            "cpu" => Some(Metric::ServerCpu),
            _ => percentile(name.strip_prefix('p')?).map(|quantile| Metric::Latency { quantile }),
        }
    }

    /// Converts a number with a unit to the unit of the metric.
    fn value(self, number: f64, unit: &str) -> Option<f64> {
        let factor = match (self, unit) {
            (Metric::MeanLatency | Metric::Latency { .. } | Metric::MaxLatency, unit) => match unit {
                "us" | "µs" => 1.0,
                "ms" => 1e3,
                "s" => 1e6,
                _ => return None,
            },
            (Metric::Errors | Metric::Dropped, "") => 1.0,
            // A bare number is rejected: it could be a share or a percentage.
            (Metric::ErrorRate | Metric::DropRate | Metric::ServerCpu, "%") => 0.01,
            (Metric::RequestsPerSecond, "" | "/s") => 1.0,
            _ => return None,
        };
        Some(number * factor)
    }

    /// Returns what value was expected instead of this one.
    fn expected(self, operator: Operator, number: &str, unit: &str) -> String {
        let with = |metric: Metric, value: &str| format!("{metric}{operator}{value}");
        let count = |share: Metric| {
            let count = format!("a number after {self}, such as {}", with(self, "0"));
            match unit {
                "%" => format!("{count}; a percentage is {}", with(share, &format!("{number}%"))),
                _ => count,
            }
        };
        match self {
            Metric::MeanLatency | Metric::Latency { .. } | Metric::MaxLatency => {
                format!("a time in us, ms or s after {self}, such as {}", with(self, "200ms"))
            }
            Metric::Errors => count(Metric::ErrorRate),
            Metric::Dropped => count(Metric::DropRate),
            Metric::ErrorRate | Metric::DropRate | Metric::ServerCpu => {
                let percent = |number: f64| with(self, &format!("{number}%"));
                let meant = match number.parse::<f64>() {
                    // The number may be a share of 1 or a percentage.
                    Ok(share) if share > 0.0 && share < 1.0 => {
                        format!("{} or {}", percent((share * 1e8).round() / 1e6), percent(share))
                    }
                    Ok(number) => percent(number),
                    Err(_) => percent(1.0),
                };
                format!("a percentage after {self}, such as {meant}")
            }
            Metric::RequestsPerSecond => format!("requests per second after {self}, such as {}", with(self, "500")),
        }
    }
}

/// Parses `99` and `99.9` as percentages, and `999` as 99.9, which people write for it.
fn percentile(digits: &str) -> Option<f64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let percent: f64 = match digits.split_at_checked(2) {
        Some((whole, rest)) if !digits.contains('.') => format!("{whole}.{rest}").parse().ok()?,
        _ => digits.parse().ok()?,
    };
    // Parsed as a decimal number, so that p999 gives exactly 0.999.
    let quantile: f64 = format!("{percent}e-2").parse().ok()?;
    // p100 would be read as 10.0 and mean something else.
    (quantile > 0.0 && quantile < 1.0 && digits != "100").then_some(quantile)
}

impl FromStr for Criterion {
    type Err = InvalidCriterion;

    fn from_str(text: &str) -> Result<Self, InvalidCriterion> {
        let wrong = |what: String| InvalidCriterion(format!("found {text:?}, expected {what}"));
        let Some(at) = text.find(['>', '<']) else {
            return Err(wrong("a metric, one of > >= < <=, and a value, such as p99>200ms".to_owned()));
        };
        let (name, rest) = text.split_at(at);
        let (operator, value) = if let Some(value) = rest.strip_prefix(">=") {
            (Operator::AtLeast, value)
        } else if let Some(value) = rest.strip_prefix("<=") {
            (Operator::AtMost, value)
        } else if let Some(value) = rest.strip_prefix('>') {
            (Operator::Above, value)
        } else {
            (Operator::Below, &rest[1..])
        };
        let metric = Metric::parse(name.trim()).ok_or_else(|| {
            wrong("a metric: p50 to p999, mean, max, errors, error-rate, dropped, drop-rate, rps or cpu".to_owned())
        })?;
        let value = value.trim();
        let unit_at = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
        let (number, unit) = value.split_at(unit_at);
        let unit = unit.trim();
        let value = number.parse().ok().and_then(|number: f64| metric.value(number, unit));
        let value = value.ok_or_else(|| wrong(metric.expected(operator, number, unit)))?;
        Ok(Criterion { metric, operator, value })
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.metric, self.operator, self.metric.text(self.value))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::MeanLatency => f.write_str("mean"),
            // Rounded, since 0.999 times 100 is not quite 99.9.
            Metric::Latency { quantile } => write!(f, "p{}", (quantile * 1e8).round() / 1e6),
            Metric::MaxLatency => f.write_str("max"),
            Metric::Errors => f.write_str("errors"),
            Metric::ErrorRate => f.write_str("error-rate"),
            Metric::Dropped => f.write_str("dropped"),
            Metric::DropRate => f.write_str("drop-rate"),
            Metric::RequestsPerSecond => f.write_str("rps"),
            Metric::ServerCpu => f.write_str("cpu"),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Above => ">",
            Operator::AtLeast => ">=",
            Operator::Below => "<",
            Operator::AtMost => "<=",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_read_as_people_write_them() {
        use Operator::{Above, AtLeast, AtMost, Below};
        let latency = |quantile| Metric::Latency { quantile };
        let table = [
            ("p99>200ms", latency(0.99), Above, 200_000.0, "p99 > 200 ms"),
            ("p999 >= 1.5s", latency(0.999), AtLeast, 1_500_000.0, "p99.9 >= 1.50 s"),
            ("p99.99>3 ms", latency(0.9999), Above, 3_000.0, "p99.99 > 3,000 µs"),
            ("p5<300us", latency(0.05), Below, 300.0, "p5 < 300 µs"),
            ("mean<=300µs", Metric::MeanLatency, AtMost, 300.0, "mean <= 300 µs"),
            ("max>1s", Metric::MaxLatency, Above, 1e6, "max > 1.00 s"),
            ("errors>0", Metric::Errors, Above, 0.0, "errors > 0"),
            ("error-rate>1%", Metric::ErrorRate, Above, 0.01, "error-rate > 1.00 %"),
            ("error-rate >= 0.5 %", Metric::ErrorRate, AtLeast, 0.005, "error-rate >= 0.500 %"),
            ("dropped>10", Metric::Dropped, Above, 10.0, "dropped > 10"),
            ("drop-rate>1%", Metric::DropRate, Above, 0.01, "drop-rate > 1.00 %"),
            ("rps<500", Metric::RequestsPerSecond, Below, 500.0, "rps < 500 requests/s"),
            ("rps<500/s", Metric::RequestsPerSecond, Below, 500.0, "rps < 500 requests/s"),
            ("cpu>80%", Metric::ServerCpu, Above, 0.8, "cpu > 80.0 %"),
        ];
        for (text, metric, operator, value, shown) in table {
            let criterion: Criterion = text.parse().unwrap();
            assert_eq!((criterion.metric, criterion.operator), (metric, operator), "{text}");
            assert!((criterion.value - value).abs() < 1e-9, "{text}: {}", criterion.value);
            assert_eq!(criterion.to_string(), shown);
        }
    }

    #[test]
    fn errors_of_criteria_state_what_was_expected() {
        let table = [
            ("", "as p99>200ms"),
            ("p99", "as p99>200ms"),
            ("p99=3ms", "as p99>200ms"),
            ("speed>3", "p50 to p999, mean"),
            ("p100>3ms", "p50 to p999, mean"),
            ("p0>3ms", "p50 to p999, mean"),
            ("p>3ms", "p50 to p999, mean"),
            ("p-1>3ms", "p50 to p999, mean"),
            ("p99>200", "a time in us, ms or s"),
            ("p99>", "a time in us, ms or s"),
            ("p99>-2ms", "a time in us, ms or s"),
            ("p99>1.2.3ms", "a time in us, ms or s"),
            ("errors>1s", "a number after errors, such as errors>0"),
            // This was once read as error-rate, without an error.
            ("errors>1%", "a number after errors, such as errors>0; a percentage is error-rate>1%"),
            ("dropped>1%", "a number after dropped, such as dropped>0; a percentage is drop-rate>1%"),
            // A number without a unit was once a share of 1, so this condition was never met.
            ("error-rate>1", "a percentage after error-rate, such as error-rate>1%"),
            ("cpu >= 80", "a percentage after cpu, such as cpu>=80%"),
            ("drop-rate>0.07", "a percentage after drop-rate, such as drop-rate>7% or drop-rate>0.07%"),
            ("cpu>80ms", "a percentage after cpu, such as cpu>80%"),
            ("error-rate>few", "a percentage after error-rate, such as error-rate>1%"),
            ("rps<1ms", "requests per second after rps, such as rps<500"),
        ];
        for (text, expected) in table {
            let message = text.parse::<Criterion>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("found {text:?}, expected ")), "{message}");
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn comparisons_differ_at_the_value() {
        let holds = |text: &str, figure| text.parse::<Criterion>().unwrap().holds(figure);
        assert_eq!(
            ["errors>1", "errors>=1", "errors<1", "errors<=1"].map(|text| holds(text, 1.0)),
            [false, true, false, true]
        );
        assert!(holds("errors>1", 2.0) && holds("errors<1", 0.0));
    }
}
