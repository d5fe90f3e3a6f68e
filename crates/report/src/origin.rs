//! Where results come from: the machine, the program, and the workers.

use serde::{Deserialize, Serialize};

use crate::Latency;
use crate::format::{NONE, count, figure, microseconds, percent};

/// How a program was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit of its source; `None` if the source is not in a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the source had uncommitted changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// The compiler, its version and its target.
    pub compiler: String,
    /// The profile, such as `release, opt-level 3`.
    pub profile: String,
    /// The memory allocator.
    pub allocator: String,
}

/// The machine that a measurement was made on, as far as it explains the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the processor, or the architecture if the name is not known.
    pub cpu: String,
    /// Cores that server and driver may use.
    pub cores: usize,
    /// Main memory in bytes; `None` if it is not known.
    pub memory_bytes: Option<u64>,
    /// The operating system and its version.
    pub os: String,
}

/// What one of several workers did. All figures of a row are those of all workers together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// The most users that it had at a time.
    pub users: usize,
    /// Right answers.
    pub requests: u64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// Requests that were under way when it ended. They are counted nowhere else.
    #[serde(default, skip_serializing_if = "crate::results::is_zero")]
    pub in_flight: u64,
    /// Seconds from the start of the first worker to its own.
    pub begun_s: f64,
    /// Seconds from the start of the first worker to its end.
    pub ended_s: f64,
    /// Right answers per second of its own time.
    pub requests_per_second: f64,
    /// Its latencies.
    pub latency_us: Latency,
    /// The share of its driver's cores that it used; 1 is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_cpu_share: Option<f64>,
    /// How many seconds its clock was ahead of that of the master. Its times are corrected.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub clock_s: f64,
    /// Why it could make no more load, if that is so: its figures are then not the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<String>,
    /// How many of its reports were lost on the way. What it did in them is counted nowhere.
    #[serde(default, skip_serializing_if = "crate::results::is_zero")]
    pub lost_reports: u64,
    /// Whether it was lost before it made its last report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lost: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_nothing(number: &f64) -> bool {
    *number == 0.0
}

/// A clock that differs by this many seconds is remarkable.
const WRONG_CLOCK: f64 = 0.5;
/// A worker that begins this many seconds after the first is late.
const LATE: f64 = 2.0;

impl Worker {
    /// The headings of [`Worker::figures`].
    pub(crate) const HEADINGS: [&str; 8] =
        ["users", "right answers", "errors", "req/s", "p99", "driver CPU", "from s", "to s"];

    /// Returns its figures as text.
    pub(crate) fn figures(&self) -> [String; 8] {
        [
            // An open workload has none.
            if self.users > 0 { count(self.users as f64) } else { NONE.to_owned() },
            count(self.requests as f64),
            count(self.errors as f64),
            count(self.requests_per_second),
            if self.requests > 0 { microseconds(self.latency_us.p99) } else { NONE.to_owned() },
            self.driver_cpu_share.map_or(NONE.to_owned(), percent),
            figure(self.begun_s),
            figure(self.ended_s),
        ]
    }

    /// Returns what a reader must know of it, in sentences with its name.
    pub fn remarks(&self) -> Vec<String> {
        let Worker { name, begun_s, ended_s, in_flight, lost_reports, .. } = self;
        let mut remarks = Vec::new();
        if *begun_s >= LATE {
            remarks.push(format!("The worker {name} joined {} s after the first", figure(*begun_s)));
        }
        if self.is_lost {
            remarks.push(format!(
                "The worker {name} was lost {} s after the start: what it did after its last report is not in the figures",
                figure(*ended_s)
            ));
        }
        if *lost_reports > 0 {
            let (reports, were) = if *lost_reports == 1 { ("report", "was") } else { ("reports", "were") };
            let number = count(*lost_reports as f64);
            remarks.push(format!(
                "{number} {reports} of the worker {name} {were} lost on the way, so what it did meanwhile is not in the figures"
            ));
        }
        if *in_flight > 0 {
            let (number, were) =
                (count(*in_flight as f64), if *in_flight == 1 { "request was" } else { "requests were" });
            remarks.push(format!("{number} {were} under way when the worker {name} ended, and not counted"));
        }
        if self.clock_s.abs() >= WRONG_CLOCK {
            let way = if self.clock_s > 0.0 { "ahead" } else { "behind" };
            let by = figure(self.clock_s.abs());
            remarks.push(format!("The clock of the worker {name} was {by} s {way}, which is corrected"));
        }
        if let Some(limit) = &self.limited_by {
            remarks.push(format!(
                "The worker {name} could not keep up ({limit}), so its figures are not those of the server"
            ));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_remarkable_if_something_happened_to_it() {
        let worker = Worker { name: "w1".into(), ended_s: 20.0, ..Worker::default() };
        assert_eq!(worker.remarks(), [] as [String; 0]);
        let limited_by = Some("the driver used 99 % of its cores".to_owned());
        let worker = Worker { begun_s: 5.5, is_lost: true, lost_reports: 1, in_flight: 1, limited_by, ..worker };
        let expected = [
            "The worker w1 joined 5.50 s after the first",
            "The worker w1 was lost 20.0 s after the start: what it did after its last report is not in the figures",
            "1 report of the worker w1 was lost on the way, so what it did meanwhile is not in the figures",
            "1 request was under way when the worker w1 ended, and not counted",
            "The worker w1 could not keep up (the driver used 99 % of its cores), so its figures are not those of the server",
        ];
        assert_eq!(worker.remarks(), expected);
    }
}
