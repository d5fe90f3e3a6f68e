//! The results of a bench as data: what `results.json` holds, and what every other form of the report is made of.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::format::count;
use super::{Condition, Ratio};
use crate::Machine;

/// A whole bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of Castile that measured.
    pub castile: String,
    /// What was measured with.
    #[serde(default)]
    pub kind: Kind,
    /// How the program that measured, which has the server under test as well, was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// When the bench began: UTC, RFC 3339.
    pub date: String,
    /// The command that repeats the bench.
    pub command: String,
    /// Where it was measured.
    pub machine: Machine,
    /// Which cores server and driver ran on, in words.
    pub placement: String,
    /// Seconds each run was warmed up.
    pub warmup_s: f64,
    /// Seconds each run was measured.
    pub duration_s: f64,
    /// Runs of each row; the targets take turns, so that what disturbs one disturbs the other.
    pub runs: usize,
    /// Seconds of the slices of a run in which the targets took turns, where runs were cut into such; slower cases have
    /// longer ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_s: Option<f64>,
    /// What a reader must know before believing the figures.
    pub warnings: Vec<String>,
    /// Whether not all was measured that was asked for; the first warnings say why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// What came of the conditions for failing that a person gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What is known of the targets beside their rows, in the order they were first started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The suites in the order they were measured.
    pub suites: Vec<Suite>,
}

/// What results are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Cases that are known beforehand, whose answers are compared with what was sent.
    #[default]
    Bench,
    /// Requests to a service of somebody's own, whose answers are judged by rules.
    Load,
}

/// How a program was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit of its source; `None` of a source that is in no repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the source had changes since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// The compiler, its version and what it compiled for.
    pub compiler: String,
    /// The profile, as `release, opt-level 3`.
    pub profile: String,
    /// Who hands out memory.
    pub allocator: String,
}

/// A target that was started for the bench.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Its name, as in [`Row::target`].
    pub name: String,
    /// What its makers call it: `Apache CXF`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version, and those of what it stands on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// The programming language of its services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Milliseconds from the start of its process to its first right answer: the median of its starts, one for each suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_answer_ms: Option<f64>,
}

/// The rows of one suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// Its name, as `benchmark1`.
    pub suite: String,
    /// What it measures, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What names of its cases and styles mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    /// One row per case, target, client, method, style, connections and keep-alive.
    pub cases: Vec<Row>,
    /// What was published of the suite's cases, shown beside as history and never as a ratio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// A name, and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The name of a case, its beginning, or a style.
    pub name: String,
    /// What it stands for.
    pub meaning: String,
}

/// The figures that somebody published of one system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// What was measured, as `JAX-WS RI 2.1`.
    pub system: String,
    /// Who published it, and when.
    pub source: String,
    /// The machines that it was measured on, in words.
    pub machine: String,
    /// How the load was made: rows of this method are shown beside.
    #[serde(default)]
    pub method: Method,
    /// The figures, in the order of the source.
    pub figures: Vec<PublishedFigure>,
}

/// What an article says of one case: as much of it as was published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// The name of the case, as in [`Row::case`].
    pub case: String,
    /// Requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<f64>,
    /// Their standard deviation over the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev: Option<f64>,
    /// Users when a ramp ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_exit: Option<usize>,
    /// Requests that failed before a ramp ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Mean latency in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// What else the source says of these figures, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// In what a search for the highest load found less than what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SearchEnd {
    /// At no load that was tried did it hold. The row is one of those.
    NoneMet,
    /// It still held at the largest load that was allowed.
    AtMost,
}

/// One case against one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The name of the case, as `echoInts-100`.
    pub case: String,
    /// `castile`, `floor`, or the URL of another endpoint.
    pub target: String,
    /// What was between driver and server, where it was a simulated network and no loopback interface: `100 Mbit/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Who sends requests and reads answers.
    #[serde(default)]
    pub client: Client,
    /// How the load was made.
    #[serde(default)]
    pub method: Method,
    /// How messages are written, where a suite compares that: `document`, `rpc-encoded`, `binary` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// Connections open at a time.
    pub connections: usize,
    /// How many of them were really opened, where these are fewer and each was to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<usize>,
    /// Whether connections served more than one request.
    pub keep_alive: bool,
    /// What users or arrivals keep to, and how the load was found, in words: `each thinks for 1s before a request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rhythm: Option<String>,
    /// Requests per second that were scheduled; `None` when each connection sent as fast as it was answered.
    pub rate: Option<f64>,
    /// Right answers in all measured runs.
    pub requests: u64,
    /// The case that the row is one operation of: that one has counted its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Wrong or missing answers, those of the warm-up included.
    pub errors: u64,
    /// How many of them have no answer since the request could not be sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_sent: u64,
    /// Answers that were decoded and compared with what was sent.
    pub verified: u64,
    /// Requests that were due but found no free connection before the end; always 0 without a rate.
    pub unsent: u64,
    /// Requests that were due while all connections were busy, and were dropped, as the method asks; else always 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Right answers per second.
    pub requests_per_second: Spread,
    /// Latency over all measured runs, in microseconds, from the scheduled start when there is a rate.
    pub latency_us: Latency,
    /// Latency over all measured runs, in microseconds, from the moment each request was really sent: what coordinated omission
    /// leaves of a latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_us: Option<Latency>,
    /// Latencies in microseconds at rising quantiles (0 to 1), from the first to the largest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<Quantile>,
    /// What happened from second to second, or from slice to slice where targets took turns in such; warm-up excluded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Interval>,
    /// Each pass of a method that discards some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<Pass>,
    /// Throughput and latency at each number of users, or at each rate, that was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<Step>,
    /// Users at the highest throughput of the curve, or at the highest load without what was not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_peak: Option<usize>,
    /// Users when a ramp ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_exit: Option<usize>,
    /// Why a ramp ended, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_reason: Option<String>,
    /// Requests that failed before a ramp ended, its reason included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Items found by all queries of a sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
    /// Seconds that a whole sequence took, the mean of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
    /// Bytes of all requests of a sequence, HTTP heads excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    /// Bytes of all answers of a sequence, HTTP heads excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_in: Option<u64>,
    /// User and system time of the server process per request; `None` where it can't be measured.
    pub server_cpu_us_per_request: Option<f64>,
    /// The processor time of the server per request, as a multiple of what the floor took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_floor: Option<Ratio>,
    /// The most memory the server process had resident while the row was measured.
    pub server_peak_rss_bytes: Option<u64>,
    /// Share of its cores that the server used; 1 is all of them.
    pub server_cpu_share: Option<f64>,
    /// Share of its cores that the driver used; 1 is all of them.
    pub driver_cpu_share: Option<f64>,
    /// User and system time of the driver per request.
    pub driver_cpu_us_per_request: Option<f64>,
    /// How late the driver woke to send requests that were due by the clock: the largest and the 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_us: Option<Lag>,
    /// How a search for the highest load ended, where it found less than what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_end: Option<SearchEnd>,
    /// Whether the driver, not the server, was the limit, so that the server can do more than was measured.
    pub driver_limited: bool,
    /// What of the driver was the limit, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<String>,
    /// The share of the server's or the driver's cores, the larger, that other processes used in a measured run: there where
    /// it was more than a tenth, and still so when the run was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<f64>,
    /// Whether the target still got faster when the time for its warm-up was over, so that it can do more than was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rising: bool,
    /// Length of the body of a request.
    pub request_bytes: usize,
    /// Length of the body of an answer.
    pub response_bytes: usize,
    /// Why answers were wrong or missing, the most frequent reason first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// Why requests failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// How many requests failed so.
    pub count: u64,
    /// Why the first of them did. That of others may differ in numbers, but for a status.
    pub text: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", count(self.count as f64), self.text)
    }
}

/// How late something was, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Who sends requests and reads answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    /// Requests written as bytes, most of them beforehand; of the answers, some are decoded. It shows the server alone.
    #[default]
    Raw,
    /// The generated client: every request is encoded, every answer decoded.
    Typed,
    /// `ab` of the Apache HTTP server, which looks at no answer.
    Ab,
}

impl Client {
    /// What it does, in a sentence.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Client::Raw => {
                "requests are bytes that were written beforehand, and of answers a sample is decoded: the server alone"
            }
            Client::Typed => {
                "the generated client, which encodes every request and decodes every answer: server and client"
            }
            Client::Ab => "ab of the Apache HTTP server, which sends one request over and over and looks at no answer",
        }
    }
}

/// How load is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Each connection sends its next request when it has the answer to the last.
    #[default]
    Closed,
    /// Requests are due by the clock, whatever the server does.
    Open,
    /// Users who pause between requests; their number may be searched for.
    Users,
    /// Users are added at a steady rate.
    Ramp,
    /// One client sends each request of a list once, in order.
    Sequence,
}

/// One point of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The share of requests that were as fast, 0 to 1.
    pub quantile: f64,
    /// Their latency.
    pub us: f64,
}

/// One stretch of a run's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Seconds from the start of the measurement to the end of the stretch.
    pub at_s: f64,
    /// Right answers per second.
    pub requests_per_second: f64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// Median latency; `None` without an answer.
    pub p50_us: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_us: Option<f64>,
    /// Users at the end of the stretch, where they begin one after another.
    pub users: Option<usize>,
    /// Share of its cores that the server used; 1 is all of them.
    pub server_cpu_share: Option<f64>,
    /// Memory of the server process at the end of the stretch.
    pub server_rss_bytes: Option<u64>,
    /// User and system time of the server process per request, where the stretch was a slice: it is paired with that of the
    /// other targets in the slice of the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_us_per_request: Option<f64>,
}

/// One pass over a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Right answers per second.
    pub requests_per_second: f64,
    /// Whether the pass was left out of the mean.
    pub discarded: bool,
}

/// One step of a search: a number of users, or a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Users, where they were stepped.
    pub users: Option<usize>,
    /// Scheduled requests per second, where the rate was stepped.
    pub rate: Option<f64>,
    /// Right answers per second.
    pub requests_per_second: f64,
    /// Mean latency in microseconds.
    pub mean_us: f64,
    /// 99th percentile of the latency in microseconds.
    pub p99_us: f64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// Share of its cores that the server used.
    pub server_cpu_share: Option<f64>,
}

/// A figure that was measured more than once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean over the runs.
    pub mean: f64,
    /// The standard deviation of the runs, as of a sample; 0 for one run.
    pub stddev: f64,
    /// Each run.
    pub runs: Vec<f64>,
}

/// Mean and percentiles in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Latency {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Results {
    /// The number of wrong or missing answers in all rows.
    pub fn errors(&self) -> u64 {
        self.wholes().map(Row::wrong).sum()
    }

    /// The rows that count each request once: all but those of one operation of a mix.
    pub fn wholes(&self) -> impl Iterator<Item = &Row> {
        self.rows().filter(|row| row.part_of.is_none())
    }

    /// Takes in what was measured afterwards, in another part of the same bench.
    pub fn append(&mut self, later: Results) {
        let earlier = std::mem::take(&mut self.warnings);
        // What is missing comes first.
        let (first, then) = if later.incomplete { (later.warnings, earlier) } else { (earlier, later.warnings) };
        self.warnings = first.into_iter().chain(then).collect();
        self.incomplete |= later.incomplete;
        if self.duration_s == 0.0 {
            (self.warmup_s, self.duration_s, self.runs) = (later.warmup_s, later.duration_s, later.runs);
            self.slice_s = later.slice_s;
        }
        self.suites.extend(later.suites);
        self.targets.extend(later.targets);
    }

    /// Notes, before all else, what was to be measured and was not.
    pub fn lacks(&mut self, what: impl IntoIterator<Item = String>) {
        let before = self.warnings.len();
        self.warnings.splice(0..0, what);
        self.incomplete |= self.warnings.len() > before;
    }

    /// Notes in each row how it compares with that of the floor.
    pub(crate) fn compare_with_floor(&mut self) {
        for suite in &mut self.suites {
            let ratios: Vec<_> = suite.cases.iter().map(|row| suite.times_floor(row)).collect();
            for (row, ratio) in suite.cases.iter_mut().zip(ratios) {
                row.times_floor = ratio;
            }
        }
    }

    /// All rows of all suites.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.suites.iter().flat_map(|suite| &suite.cases)
    }
}

impl Suite {
    /// Rows of which nothing more is known.
    pub fn new(suite: String, cases: Vec<Row>) -> Self {
        Suite { suite, about: None, terms: Vec::new(), cases, published: Vec::new() }
    }

    /// Each row that was measured and, when there is one, the row of the floor to compare it with.
    pub(crate) fn against_floor(&self) -> impl Iterator<Item = (&Row, Option<&Row>)> {
        self.cases.iter().filter(|row| row.target != FLOOR).map(|row| (row, self.floor_of(row)))
    }

    /// The floor's row of the same case, or one that was driven alike and moved as many bytes: to the floor, content is
    /// nothing but its length.
    pub(crate) fn floor_of(&self, row: &Row) -> Option<&Row> {
        let alike = |other: &&Row| {
            other.target == FLOOR
                && (other.method, &other.network) == (row.method, &row.network)
                && (other.given_load(), other.keep_alive) == (row.given_load(), row.keep_alive)
        };
        let size = |row: &Row| (row.request_bytes, row.response_bytes);
        let mut floors = self.cases.iter().filter(alike);
        let same = floors.clone().find(|other| other.case == row.case && other.style == row.style);
        same.or_else(|| floors.find(|other| size(other) == size(row)))
    }
}

impl Suite {
    /// How many times the floor's CPU time a request takes; `None` for the floor itself, and where there is none.
    pub(crate) fn times_floor(&self, row: &Row) -> Option<Ratio> {
        row.cpu_ratio(self.floor_of(row).filter(|_| row.target != FLOOR)?)
    }
}

/// What is wrong with answers, in words: so many were wrong or missing, those counted that are missing since as many as
/// `not_sent` requests could not be sent. These are told apart.
pub fn wrong_answers(wrong: u64, not_sent: u64) -> String {
    let not_sent = not_sent.min(wrong);
    let answers = format!("{} wrong or missing answers", count((wrong - not_sent) as f64));
    let (number, s) = (count(not_sent as f64), if not_sent == 1 { "" } else { "s" });
    match (not_sent, wrong - not_sent) {
        (0, _) => answers,
        (_, 0) => format!("{number} request{s} could not be sent"),
        _ => format!("{answers}, and {number} more request{s} could not be sent"),
    }
}

impl Row {
    /// Wrong or missing answers, without those that a ramp ended with: they are what it is to find.
    pub fn wrong(&self) -> u64 {
        self.errors.saturating_sub(self.failed.unwrap_or(0))
    }

    /// Requests that were sent and counted, whatever came of them.
    pub fn sent(&self) -> u64 {
        (self.requests + self.errors).saturating_sub(self.not_sent)
    }

    /// How late the driver woke, in words, where that is no small part of the latency.
    pub fn lateness(&self) -> Option<String> {
        let lag = self.lag_us?.p99;
        let matters = lag > LAG_MICROSECONDS && lag > self.latency_us.p99 * LAG_SHARE;
        matters.then(|| format!("1 % of requests by more than {:.1} ms", lag / 1e3))
    }

    /// Connections and rate as far as they were asked for; `None` where they are what was found.
    pub(crate) fn given_load(&self) -> (Option<usize>, Option<f64>) {
        let connections = !matches!(self.method, Method::Users | Method::Ramp) && self.users_at_peak.is_none();
        (connections.then_some(self.connections), self.rate.filter(|_| self.curve.is_empty()))
    }

    /// The share of the floor's throughput that this row reaches; `None` where clients differ, for then they are
    /// compared, and not the servers.
    pub fn share_of(&self, floor: &Row) -> Option<f64> {
        let (own, most) = (self.requests_per_second.mean, floor.requests_per_second.mean);
        (most > 0.0 && self.client == floor.client).then(|| own / most)
    }

    /// The latency in microseconds that this share of requests (0 to 1) stayed within: that of the next point of the
    /// distribution, so never too low; `None` where too little is known.
    pub fn latency_at(&self, quantile: f64) -> Option<f64> {
        let latency = &self.latency_us;
        let known = [(0.5, latency.p50), (0.9, latency.p90), (0.99, latency.p99), (0.999, latency.p999)];
        let same = |known: f64| (known - quantile).abs() < 1e-9;
        match known.into_iter().find(|(known, _)| same(*known)) {
            Some((_, figure)) => Some(figure),
            None => self.distribution.iter().find(|point| point.quantile > quantile - 1e-9).map(|point| point.us),
        }
    }
}

/// Waking this late is of no importance,
const LAG_MICROSECONDS: f64 = 1_000.0;
/// and neither is this part of the latency that is measured.
const LAG_SHARE: f64 = 0.1;

/// The name of the target that shows what HTTP alone costs.
pub const FLOOR: &str = "floor";

impl Spread {
    /// Mean and standard deviation of some runs.
    pub fn of(runs: Vec<f64>) -> Self {
        if runs.is_empty() {
            return Spread::default();
        }
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
        let stddev = if runs.len() > 1 { (squares / (runs.len() - 1) as f64).sqrt() } else { 0.0 };
        Spread { mean, stddev, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_bench_are_one() {
        let results = || serde_json::from_str::<Results>(include_str!("../../tests/data/results.json")).unwrap();
        let (mut whole, mut later) = (results(), results());
        let rows = whole.rows().count();
        (whole.warnings, later.warnings) = (vec!["slow".into()], vec!["hot".into()]);
        (whole.duration_s, later.duration_s) = (0.0, 2.0);
        whole.lacks([]);
        assert!(!whole.incomplete);
        later.lacks(["axis was dropped".into()]);
        whole.append(later);
        assert!(whole.incomplete);
        assert_eq!(whole.warnings, ["axis was dropped", "hot", "slow"]);
        assert_eq!((whole.rows().count(), whole.duration_s), (rows * 2, 2.0));
    }

    #[test]
    fn spread_is_of_a_sample() {
        let spread = Spread::of(vec![2.0, 4.0, 6.0]);
        assert_eq!((spread.mean, spread.stddev), (4.0, 2.0));
        assert_eq!(Spread::of(vec![5.0]).stddev, 0.0);
        assert_eq!(Spread::of(vec![]), Spread::default());
    }
}
