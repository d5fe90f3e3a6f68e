//! The results as JUnit's XML, which build servers show: a test case for each row, failed by errors and by criteria.

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use super::format::{count, microseconds};
use super::label::full;
use super::{FLOOR, Results, Row, Suite};
use crate::{Criterion, Error, ErrorKind, Metric};

const TEMPLATE: &str = include_str!("junit.xml");

#[derive(Serialize)]
struct TestSuites {
    tests: usize,
    failures: usize,
    suites: Vec<TestSuite>,
}

#[derive(Serialize)]
struct TestSuite {
    name: String,
    /// Without a zone, as the format's schema has it.
    timestamp: String,
    tests: usize,
    failures: usize,
    cases: Vec<TestCase>,
}

#[derive(Serialize)]
struct TestCase {
    name: String,
    /// Seconds that were measured.
    time: String,
    failures: Vec<Failure>,
    output: String,
}

#[derive(Serialize)]
struct Failure {
    message: String,
    text: String,
}

impl Results {
    /// JUnit's XML. A row fails by wrong or missing answers, of which `wrong` says how many there were, and by each of these
    /// criteria that holds.
    pub fn junit(&self, fail_if: &[Criterion], wrong: fn(&Row) -> u64) -> Result<String, Error> {
        let suites: Vec<_> = self.suites.iter().map(|suite| self.test_suite(suite, fail_if, wrong)).collect();
        let all = TestSuites {
            tests: suites.iter().map(|suite| suite.tests).sum(),
            failures: suites.iter().map(|suite| suite.failures).sum(),
            suites,
        };
        let mut environment = Environment::new();
        // The name's ending turns on the escaping of everything that is filled in.
        environment
            .add_template("junit.xml", TEMPLATE)
            .and_then(|()| environment.get_template("junit.xml"))
            .and_then(|template| template.render(Serde(all)))
            .map_err(|error| Error::new(ErrorKind::Report, "can't fill junit.xml").because(error))
    }

    fn test_suite(&self, suite: &Suite, fail_if: &[Criterion], wrong: fn(&Row) -> u64) -> TestSuite {
        let failed = self.failed(fail_if);
        let rows = suite.cases.iter().filter(|row| row.target != FLOOR);
        let cases: Vec<_> = rows
            .map(|row| {
                let broken = failed.iter().filter(|failed| std::ptr::eq(failed.row, row));
                let broken = broken.map(|failed| Failure { message: xml(&failed.reason()), text: String::new() });
                // Who gave a limit on errors has said how many are too many.
                let judged =
                    fail_if.iter().any(|criterion| matches!(criterion.metric, Metric::Errors | Metric::ErrorRate));
                let wrong = Some(wrong(row)).filter(|wrong| *wrong > 0 && !judged).map(|wrong| Failure {
                    message: format!("{} wrong or missing answers", count(wrong as f64)),
                    text: xml(&row.error_messages.join("\n")),
                });
                test_case(row, wrong.into_iter().chain(broken).collect())
            })
            .collect();
        TestSuite {
            name: xml(&suite.suite),
            timestamp: xml(self.date.trim_end_matches('Z')),
            tests: cases.len(),
            failures: cases.iter().filter(|case| !case.failures.is_empty()).count(),
            cases,
        }
    }
}

fn test_case(row: &Row, failures: Vec<Failure>) -> TestCase {
    let rate = &row.requests_per_second;
    let measured = if rate.mean > 0.0 { row.requests as f64 / rate.mean } else { 0.0 };
    let latency = &row.latency_us;
    let limited = match &row.limited_by {
        Some(reason) => format!("; the driver was the limit: {reason}"),
        None if row.driver_limited => "; the driver was the limit".to_owned(),
        None => String::new(),
    };
    TestCase {
        name: xml(&format!("{} ({})", row.case, full(row))),
        time: format!("{measured:.3}"),
        failures,
        output: xml(&format!(
            "{} requests/s; latency p50 {}, p99 {}, max {}{limited}",
            count(rate.mean),
            microseconds(latency.p50),
            microseconds(latency.p99),
            microseconds(latency.max),
        )),
    }
}

/// Text without the characters that XML has no place for (XML 1.0, 2.2), which a stranger's answer may hold.
fn xml(text: &str) -> String {
    let legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..);
    text.chars().map(|c| if legal(c) { c } else { '\u{FFFD}' }).collect()
}
