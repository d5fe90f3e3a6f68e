//! Writes the results as JUnit XML for build servers. Each row has a test of its answers and a test for each condition.

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use crate::format::{count, microseconds};
use crate::label::{self, Labels};
use crate::{Criterion, Error, FLOOR, Judged, Metric, Reason, Results, Row, Suite, wrong_answers};

const TEMPLATE: &str = include_str!("templates/junit.xml");

#[derive(Serialize)]
struct TestSuites {
    tests: usize,
    failures: usize,
    suites: Vec<TestSuite>,
}

#[derive(Serialize)]
struct TestSuite {
    name: String,
    /// Without a time zone, as the format's schema requires.
    timestamp: String,
    tests: usize,
    failures: usize,
    cases: Vec<TestCase>,
}

#[derive(Serialize)]
struct TestCase {
    name: String,
    /// The measured time in seconds.
    time: String,
    failure: Option<Failure>,
    output: String,
}

#[derive(Serialize)]
struct Failure {
    message: String,
    text: String,
}

impl Results {
    /// Returns JUnit XML with a test for each row and condition, which fails if the condition holds. Another test for each row
    /// fails if there are wrong or missing answers, unless a condition is about these; `wrong` returns their number.
    ///
    /// The names of tests are stable from measurement to measurement. They contain what distinguishes a row from its
    /// neighbours, but neither the URL nor what all rows share.
    pub fn junit(&self, fail_if: &[Criterion], wrong: fn(&Row) -> u64) -> Result<String, Error> {
        let suites: Vec<_> = self.suites.iter().map(|suite| self.test_suite(suite, fail_if, wrong)).collect();
        let all = TestSuites {
            tests: suites.iter().map(|suite| suite.tests).sum(),
            failures: suites.iter().map(|suite| suite.failures).sum(),
            suites,
        };
        let mut environment = Environment::new();
        // The name's extension enables escaping of all inserted values.
        environment
            .add_template("junit.xml", TEMPLATE)
            .and_then(|()| environment.get_template("junit.xml"))
            .and_then(|template| template.render(Serde(all)))
            .map_err(|error| Error::new("can't fill junit.xml").because(error))
    }

    fn test_suite(&self, suite: &Suite, fail_if: &[Criterion], wrong: fn(&Row) -> u64) -> TestSuite {
        let rows = || suite.cases.iter().filter(|row| row.target != FLOOR);
        let labels = Labels::among(rows());
        let method = rows().map(|row| row.method).next();
        let is_mixed = rows().any(|row| Some(row.method) != method);
        // A condition on errors replaces the test of the answers.
        let about_errors = |criterion: &Criterion| matches!(criterion.metric, Metric::Errors | Metric::ErrorRate);
        let judges_answers = !fail_if.iter().any(about_errors);
        let cases: Vec<_> = rows()
            .flat_map(|row| {
                let mut name = labels.whole(row);
                if is_mixed {
                    name += &format!(" · {}", label::method(row.method));
                }
                let answers = judges_answers.then(|| {
                    let failure = Some(wrong(row)).filter(|wrong| *wrong > 0).map(|wrong| Failure {
                        message: wrong_answers(wrong, row.not_sent),
                        text: xml(&row.reasons.iter().map(Reason::to_string).collect::<Vec<_>>().join("\n")),
                    });
                    test_case(row, format!("{name}: answers are right"), failure)
                });
                let conditions = fail_if.iter().map(move |criterion| {
                    let judged = Judged::of(&suite.suite, row, *criterion);
                    let found = || format!("{criterion}: found {}", judged.text);
                    let failure = judged.failed.then(|| Failure { message: xml(&found()), text: String::new() });
                    test_case(row, format!("{name}: fails if {criterion}"), failure)
                });
                answers.into_iter().chain(conditions).collect::<Vec<_>>()
            })
            .collect();
        TestSuite {
            name: xml(&suite.suite),
            timestamp: xml(self.date.trim_end_matches('Z')),
            tests: cases.len(),
            failures: cases.iter().filter(|case| case.failure.is_some()).count(),
            cases,
        }
    }
}

fn test_case(row: &Row, name: String, failure: Option<Failure>) -> TestCase {
    let rate = &row.requests_per_second;
    let measured = if rate.mean > 0.0 { row.requests as f64 / rate.mean } else { 0.0 };
    let latency = &row.latency_us;
    let limited = match &row.limited_by {
        Some(reason) => format!("; the driver was the limit: {reason}"),
        None if row.driver_limited => "; the driver was the limit".to_owned(),
        None => String::new(),
    };
    TestCase {
        name: xml(&name),
        time: format!("{measured:.3}"),
        failure,
        output: xml(&format!(
            "{}; {} requests/s; latency p50 {}, p99 {}, max {}{limited}",
            row.properties(),
            count(rate.mean),
            microseconds(latency.p50),
            microseconds(latency.p99),
            microseconds(latency.max),
        )),
    }
}

/// Replaces the characters that XML 1.0 (2.2) doesn't permit, which a server's answer may contain.
fn xml(text: &str) -> String {
    let legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..);
    text.chars().map(|c| if legal(c) { c } else { '\u{FFFD}' }).collect()
}
