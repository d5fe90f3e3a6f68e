//! What a worker reports of its users.

use std::collections::BTreeMap;

use serde::Serialize;

/// What the users did since the last report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// A row for each kind of request.
    pub entries: Vec<Entry>,
    /// The sum of all rows.
    pub total: Entry,
    /// The reasons of failures. Masters add up those of equal keys.
    pub failures: BTreeMap<String, Failure>,
}

/// A row of a master's statistics. Times of requests are in milliseconds, points in time in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// The name of the row.
    pub name: String,
    /// The kind of the row, which a master shows before the name.
    pub method: String,
    /// When the last answer came.
    pub last_request_timestamp: Option<f64>,
    /// When the first request was sent.
    pub start_time: f64,
    /// The number of requests, failed ones included.
    pub num_requests: u64,
    /// How many requests have no time.
    pub num_none_requests: u64,
    /// How many requests failed.
    pub num_failures: u64,
    /// The sum of all times.
    pub total_response_time: f64,
    /// The longest time.
    pub max_response_time: f64,
    /// The shortest time, if there is one.
    pub min_response_time: Option<f64>,
    /// The bytes of all answers.
    pub total_content_length: u64,
    /// How many requests took which time.
    #[serde(serialize_with = "pairs")]
    pub response_times: Vec<(f64, u64)>,
    /// How many requests ended in which second since 1970.
    pub num_reqs_per_sec: BTreeMap<u64, u64>,
    /// How many of them failed.
    pub num_fail_per_sec: BTreeMap<u64, u64>,
}

/// A reason why requests failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failure {
    /// The kind of the row that the requests belong to.
    pub method: String,
    /// The name of the row.
    pub name: String,
    /// The reason.
    pub error: String,
    /// How many requests failed for it.
    pub occurrences: u64,
    /// When it was first seen, in seconds since 1970.
    pub first_seen: f64,
    /// When it was last seen.
    pub last_seen: f64,
}

/// Writes pairs as a map. Its keys may be fractions.
fn pairs<S: serde::Serializer>(pairs: &[(f64, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}
