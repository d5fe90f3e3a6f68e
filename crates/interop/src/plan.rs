//! The calls that a run requests from a client, and the results that the client reports.

use std::error::Error;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All calls of one run of a client.
#[derive(Deserialize)]
pub(crate) struct Plan {
    pub(crate) jobs: Vec<Job>,
}

impl Plan {
    pub(crate) fn read(path: impl AsRef<Path>) -> anyhow::Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is not a plan", path.display()))
    }
}

/// A port to call, and the calls.
#[derive(Deserialize)]
pub(crate) struct Job {
    pub(crate) contract: String,
    pub(crate) version: String,
    pub(crate) url: String,
    pub(crate) cases: Vec<Case>,
}

/// One call.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) operation: String,
    #[serde(rename = "case")]
    pub(crate) name: String,
    pub(crate) value: Value,
    /// The value to send, as XML.
    pub(crate) xml: String,
}

impl Case {
    /// Returns the member of this name, or the value itself if it has no such member. Returns an empty
    /// text if that isn't a string.
    pub(crate) fn text(&self, member: &str) -> String {
        self.value.get(member).unwrap_or(&self.value).as_str().unwrap_or_default().to_owned()
    }
}

/// The result of a case.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The value of the response, as JSON.
    Value(Value),
    /// The value of the response, as XML: the content of an element of any name.
    Xml(String),
    /// Why there is no value.
    Error(String),
}

/// Calls the cases of a job with `call`, and reports the results.
pub(crate) async fn call_all(
    job: &Job,
    call: impl AsyncFn(&Case) -> Result<Outcome, Box<dyn Error>>,
) -> anyhow::Result<()> {
    for case in &job.cases {
        let outcome = call(case).await.unwrap_or_else(|error| Outcome::Error(error.to_string()));
        report(job, case, outcome)?;
    }
    Ok(())
}

/// Prints the result of a case as a line of JSON.
fn report(job: &Job, case: &Case, outcome: Outcome) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        contract: &'a str,
        version: &'a str,
        operation: &'a str,
        case: &'a str,
        #[serde(flatten)]
        outcome: Outcome,
    }
    let Job { contract, version, .. } = job;
    let line = Line { contract, version, operation: &case.operation, case: &case.name, outcome };
    println!("{}", serde_json::to_string(&line)?);
    Ok(())
}
