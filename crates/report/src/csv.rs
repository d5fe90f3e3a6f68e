//! Writes the results as comma-separated values (RFC 4180), one line per row, for spreadsheets.

use crate::label;
use crate::{Results, Row, Suite};

/// A column: its name, which includes the unit, and a function that returns its text.
type Column = (&'static str, fn(&Suite, &Row) -> String);

const COLUMNS: [Column; 52] = [
    ("suite", |suite, _| text(&suite.suite)),
    ("case", |_, row| text(&row.case)),
    ("target", |_, row| text(&row.target)),
    ("network", |_, row| row.network.as_deref().map(text).unwrap_or_default()),
    ("client", |_, row| label::client(row.client).to_owned()),
    ("method", |_, row| label::method(row.method).to_owned()),
    ("style", |_, row| row.style.as_deref().map(text).unwrap_or_default()),
    ("connections", |_, row| row.connections.to_string()),
    ("keep_alive", |_, row| row.keep_alive.to_string()),
    ("rate", |_, row| number(row.rate)),
    ("requests", |_, row| row.requests.to_string()),
    ("errors", |_, row| row.errors.to_string()),
    ("not_sent", |_, row| row.not_sent.to_string()),
    ("verified", |_, row| row.verified.to_string()),
    ("unsent", |_, row| row.unsent.to_string()),
    ("dropped", |_, row| row.dropped.to_string()),
    ("requests_per_second", |_, row| number(Some(row.requests_per_second.mean))),
    ("requests_per_second_stddev", |_, row| match row.requests_per_second.runs.len() {
        0 | 1 => String::new(),
        _ => number(Some(row.requests_per_second.stddev)),
    }),
    ("latency_mean_us", |_, row| number(row.latency_us.mean)),
    ("latency_p50_us", |_, row| number(Some(row.latency_us.p50))),
    ("latency_p90_us", |_, row| number(Some(row.latency_us.p90))),
    ("latency_p99_us", |_, row| number(Some(row.latency_us.p99))),
    ("latency_p999_us", |_, row| number(Some(row.latency_us.p999))),
    ("latency_max_us", |_, row| number(Some(row.latency_us.max))),
    ("users_at_peak", |_, row| integer(row.users_at_peak.map(|users| users as u64))),
    ("users_at_exit", |_, row| integer(row.users_at_exit.map(|users| users as u64))),
    ("exit_reason", |_, row| row.exit_reason.as_deref().map(text).unwrap_or_default()),
    ("failed", |_, row| integer(row.failed)),
    ("matches", |_, row| integer(row.matches)),
    ("elapsed_s", |_, row| number(row.elapsed_s)),
    ("bytes_out", |_, row| integer(row.bytes_out)),
    ("bytes_in", |_, row| integer(row.bytes_in)),
    ("server_cpu_us_per_request", |_, row| number(row.server_cpu_us_per_request)),
    ("times_floor", |suite, row| number(suite.times_floor(row).map(|times| times.ratio))),
    ("times_floor_low", |suite, row| number(suite.times_floor(row).and_then(|times| Some(times.interval?[0])))),
    ("times_floor_high", |suite, row| number(suite.times_floor(row).and_then(|times| Some(times.interval?[1])))),
    ("server_peak_rss_bytes", |_, row| integer(row.server_peak_rss_bytes)),
    ("server_cpu_share", |_, row| number(row.server_cpu_share)),
    ("driver_cpu_share", |_, row| number(row.driver_cpu_share)),
    ("driver_cpu_us_per_request", |_, row| number(row.driver_cpu_us_per_request)),
    ("driver_lag_p99_us", |_, row| number(row.lag_us.map(|lag| lag.p99))),
    ("driver_lag_max_us", |_, row| number(row.lag_us.map(|lag| lag.max))),
    ("driver_limited", |_, row| row.driver_limited.to_string()),
    ("limited_by", |_, row| row.limited_by.as_deref().map(text).unwrap_or_default()),
    ("disturbed", |_, row| number(row.disturbed)),
    ("rising", |_, row| row.rising.to_string()),
    ("service_p50_us", |_, row| number(row.service_us.as_ref().map(|service| service.p50))),
    ("service_p99_us", |_, row| number(row.service_us.as_ref().map(|service| service.p99))),
    ("service_max_us", |_, row| number(row.service_us.as_ref().map(|service| service.max))),
    ("request_bytes", |_, row| row.request_bytes.to_string()),
    ("response_bytes", |_, row| row.response_bytes.to_string()),
    ("part_of", |_, row| row.part_of.as_deref().map(text).unwrap_or_default()),
];

impl Results {
    /// Returns the rows as comma-separated values. The first line has the names of the columns. A figure that was not measured
    /// is empty.
    pub fn csv(&self) -> String {
        let mut csv = COLUMNS.map(|(name, _)| name).join(",") + "\r\n";
        for suite in &self.suites {
            for row in &suite.cases {
                csv += &COLUMNS.map(|(_, text)| text(suite, row)).join(",");
                csv += "\r\n";
            }
        }
        csv
    }
}

fn number(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn integer(integer: Option<u64>) -> String {
    integer.map(|integer| integer.to_string()).unwrap_or_default()
}

/// Quotes a text if necessary. Names may come from untrusted contracts and URLs: spreadsheets would run a text that begins like
/// a formula, but show one that begins with an apostrophe as text.
fn text(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_and_is_no_formula() {
        let table = [
            ("echoVoid", "echoVoid"),
            ("a,b", "\"a,b\""),
            ("say \"so\"", "\"say \"\"so\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=cmd()", "'=cmd()"),
            (".01x200", ".01x200"),
        ];
        for (given, expected) in table {
            assert_eq!(text(given), expected);
        }
    }
}
