//! Runs of the same cases side by side, and how sure their differences are.

use serde::Serialize;

use super::format::{count, figure, microseconds, spread};
use super::label::{Labels, full};
use super::page::{Forest, fill};
use super::student::Difference;
use super::{Method, Results, Row, Spread};
use crate::{Error, Machine};

/// Some benches of which the first is what the others are compared with.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    benches: Vec<Heading>,
    /// Why the benches are not alike, so that what differs may not be the software.
    warnings: Vec<String>,
    suites: Vec<ComparedSuite>,
}

/// What there is to know of a bench as a whole.
#[derive(Clone, Debug, Serialize)]
struct Heading {
    name: String,
    castile: String,
    date: String,
    command: String,
    machine: Machine,
    placement: String,
    runs: usize,
    duration_s: f64,
    warmup_s: f64,
    errors: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct ComparedSuite {
    pub(super) suite: String,
    pub(super) rows: Vec<Compared>,
}

/// One row in all benches.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Compared {
    pub(super) case: String,
    /// What tells the row from others of its case.
    pub(super) row: String,
    /// In the order of the benches; `None` where a bench doesn't have the row.
    pub(super) figures: Vec<Option<Figures>>,
    /// Each bench after the first against it; `None` where nothing can be said.
    pub(super) differences: Vec<Option<Difference>>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Figures {
    pub(super) requests_per_second: Spread,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    pub(super) server_cpu_us_per_request: Option<f64>,
    pub(super) errors: u64,
    pub(super) driver_limited: bool,
}

impl Comparison {
    /// Compares benches, each with the name it is shown by; the first is the one that others are compared with.
    pub fn of(benches: &[(String, Results)]) -> Self {
        let mut suites: Vec<ComparedSuite> = Vec::new();
        for suite in benches.iter().flat_map(|(_, results)| &results.suites) {
            if !suites.iter().any(|known| known.suite == suite.suite) {
                suites.push(compared(&suite.suite, benches));
            }
        }
        Comparison { benches: benches.iter().map(heading).collect(), warnings: warnings(benches), suites }
    }

    /// The comparison as an HTML page of its own.
    pub fn page(&self) -> Result<String, Error> {
        fill("compare.html", Forest::of(self, &self.suites))
    }

    /// The comparison as a table for a terminal; how wide it may be is asked of the terminal.
    pub fn table(&self) -> String {
        super::table::comparison(self)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.benches.iter().map(|bench| &*bench.name)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, &Compared)> {
        self.suites.iter().flat_map(|suite| suite.rows.iter().map(move |row| (&*suite.suite, row)))
    }

    /// What a reader must know before believing the differences.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

fn heading((name, results): &(String, Results)) -> Heading {
    Heading {
        name: name.clone(),
        castile: results.castile.clone(),
        date: results.date.clone(),
        command: results.command.clone(),
        machine: results.machine.clone(),
        placement: results.placement.clone(),
        runs: results.runs,
        duration_s: results.duration_s,
        warmup_s: results.warmup_s,
        errors: results.errors(),
    }
}

fn compared(suite: &str, benches: &[(String, Results)]) -> ComparedSuite {
    let rows_of = |results: &'_ Results| -> Vec<Row> {
        let suites = results.suites.iter().filter(|known| known.suite == suite);
        suites.flat_map(|suite| suite.cases.clone()).collect()
    };
    let rows: Vec<Vec<Row>> = benches.iter().map(|(_, results)| rows_of(results)).collect();
    let mut keys: Vec<&Row> = Vec::new();
    for row in rows.iter().flatten() {
        if !keys.iter().any(|known| is_same(known, row)) {
            keys.push(row);
        }
    }
    let labels = Labels::among(keys.iter().copied());
    let several_methods = keys.iter().any(|row| row.method != keys[0].method);
    let compared = keys.iter().map(|key| {
        let found: Vec<Option<&Row>> = rows.iter().map(|rows| rows.iter().find(|row| is_same(row, key))).collect();
        let rate = |row: &Option<&Row>| row.map(|row| row.requests_per_second.clone());
        let first = rate(&found[0]);
        let differences = found[1..].iter().map(|row| Difference::between(first.as_ref()?, &rate(row)?));
        Compared {
            case: key.case.clone(),
            row: if several_methods && key.method != Method::Closed { full(key) } else { labels.of(key) },
            differences: differences.collect(),
            figures: found.iter().map(|row| row.map(figures)).collect(),
        }
    });
    ComparedSuite { suite: suite.to_owned(), rows: compared.collect() }
}

/// Whether two rows measured the same in the same way.
fn is_same(a: &Row, b: &Row) -> bool {
    let key = |row: &Row| (row.client, row.method, row.given_load(), row.keep_alive);
    key(a) == key(b) && (&a.case, &a.target, &a.network, &a.style) == (&b.case, &b.target, &b.network, &b.style)
}

fn figures(row: &Row) -> Figures {
    Figures {
        requests_per_second: row.requests_per_second.clone(),
        p50_us: row.latency_us.p50,
        p99_us: row.latency_us.p99,
        server_cpu_us_per_request: row.server_cpu_us_per_request,
        errors: row.errors,
        driver_limited: row.driver_limited,
    }
}

fn warnings(benches: &[(String, Results)]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut differ = |what: &str, of: fn(&Results) -> String| {
        let mut texts = benches.iter().map(|(_, results)| of(results));
        let first = texts.next();
        if texts.any(|other| Some(other) != first) {
            warnings.push(format!("The benches differ in their {what}, so what differs below may not be the software"));
        }
    };
    differ("machine", |results| format!("{} {} {}", results.machine.cpu, results.machine.cores, results.machine.os));
    differ("placement of server and driver", |results| results.placement.clone());
    differ("durations", |results| format!("{} {}", results.warmup_s, results.duration_s));
    let wrong = benches.iter().filter(|(_, results)| results.errors() > 0);
    let wrong: Vec<_> = wrong.map(|(name, results)| format!("{name} ({})", count(results.errors() as f64))).collect();
    if !wrong.is_empty() {
        warnings.push(format!("Wrong or missing answers, so the figures are not valid: {}", wrong.join(", ")));
    }
    let is_disturbed = |results: &Results| results.rows().any(|row| row.disturbed.is_some());
    let disturbed: Vec<&str> =
        benches.iter().filter(|(_, results)| is_disturbed(results)).map(|(name, _)| name.as_str()).collect();
    if !disturbed.is_empty() {
        warnings.push(format!(
            "Other processes used the cores, so requests per second may differ for that alone; processor time per request says more: \
             {}",
            disturbed.join(", ")
        ));
    }
    warnings
}

/// What a difference comes to, in words.
pub(super) fn verdict(difference: Option<&Difference>) -> &'static str {
    match difference {
        None => "not known",
        Some(difference) if !difference.is_seen() => "no difference seen",
        Some(difference) if difference.relative > 0.0 => "more",
        Some(_) => "less",
    }
}

/// A difference with its interval: `+8.1 % (+5.0 to +11.2)`.
pub(super) fn in_percent(difference: &Difference) -> String {
    // Adding 0 makes a negative nothing a plain one.
    let percent = |share: f64| format!("{:+.1}", (share * 1e3).round() / 10.0 + 0.0);
    format!("{} % ({} to {})", percent(difference.relative), percent(difference.low), percent(difference.high))
}

impl Figures {
    /// Requests per second with their spread.
    pub(super) fn rate(&self) -> String {
        let Spread { mean, stddev, runs } = &self.requests_per_second;
        match runs.len() {
            0 | 1 => figure(*mean),
            _ => spread(*mean, *stddev),
        }
    }

    pub(super) fn latency(&self) -> String {
        format!("{} / {}", microseconds(self.p50_us), microseconds(self.p99_us))
    }
}
