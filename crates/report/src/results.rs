//! The results of a bench as data: the content of `results.json`, from which all other formats are made.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::count;
use crate::{Build, Machine, Worker};

/// A whole bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of Castile that made the measurement.
    pub castile: String,
    /// What kind of requests were measured.
    #[serde(default)]
    pub kind: ResultsKind,
    /// How the measuring program was built. It contains the server under test, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// When the bench began, as RFC 3339 in UTC.
    pub date: String,
    /// The command that repeats the bench.
    pub command: String,
    /// The machine it was measured on.
    pub machine: Machine,
    /// Which cores server and driver ran on, in words.
    pub placement: String,
    /// Seconds of warm-up of each run.
    pub warmup_s: f64,
    /// Seconds of measurement of each run.
    pub duration_s: f64,
    /// Runs of each row. The targets take turns, so that a disturbance affects all of them.
    pub runs: usize,
    /// The length in seconds of the slices in which targets took turns, if runs were cut into slices. Slower cases have longer
    /// ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_s: Option<f64>,
    /// What a reader must know before trusting the figures.
    pub warnings: Vec<String>,
    /// Whether something that was requested was not measured. The first warnings say why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// The results of the user's conditions for failing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Further information on the targets, in the order in which they were first started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The workers that measured together, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<Worker>,
    /// The suites in the order in which they were measured.
    pub suites: Vec<Suite>,
}

/// A condition for failing, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The condition: `p99 > 200 ms`.
    pub fail_if: String,
    /// Whether a row fails this condition.
    pub failed: bool,
    /// The rows in their order, without those of the floor.
    pub rows: Vec<Judged>,
}

/// A row that was judged by a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The suite of the row.
    pub suite: String,
    /// The case of the row.
    pub case: String,
    /// All properties that distinguish the row from others.
    pub row: String,
    /// Whether the row fails. A figure that was not measured fails, too, since an unknown figure is
    /// not a good one.
    pub failed: bool,
    /// The figure in the unit of `results.json`: microseconds, a share of 1, or a number.
    pub found: Option<f64>,
    /// The figure in words.
    pub text: String,
}

/// The kind of requests that were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultsKind {
    /// Built-in cases, whose answers are compared with what was sent.
    #[default]
    Bench,
    /// Requests to the user's own service, whose answers are judged by rules.
    Load,
}

/// A target that was started for the bench.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Its name, as in [`Row::target`].
    pub name: String,
    /// Its full name: `Apache CXF`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version and those of its dependencies, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// The programming language of its services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Milliseconds from the start of its process to its first right answer. This is the median of its starts, one for each
    /// suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_answer_ms: Option<f64>,
}

/// The rows of one suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// Its name, such as `benchmark1`.
    pub suite: String,
    /// What it measures, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The meanings of names of its cases and styles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    /// One row per case, target, client, method, style, connections and keep-alive.
    pub cases: Vec<Row>,
    /// Published figures of the suite's cases. They are shown as history, and never as a ratio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// A name and its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The name of a case, its beginning, or a style.
    pub name: String,
    /// The meaning of the name.
    pub meaning: String,
}

/// The published figures of one system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The measured system, such as `JAX-WS RI 2.1`.
    pub system: String,
    /// The author and the date of the publication.
    pub source: String,
    /// The machines that it was measured on, in words.
    pub machine: String,
    /// How the load was made. The figures are shown beside rows of this method.
    #[serde(default)]
    pub method: Method,
    /// The figures, in the order of the source.
    pub figures: Vec<PublishedFigure>,
}

/// Published figures of one case, as far as they were published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// The name of the case, as in [`Row::case`].
    pub case: String,
    /// Requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<f64>,
    /// The standard deviation of requests per second over the runs.
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
    /// Further remarks of the source, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How the result of a search differs from what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SearchEnd {
    /// No load that was tried met the condition. The row is one of those loads.
    NoneMet,
    /// The largest permitted load still met the condition.
    AtMost,
}

/// One case against one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The name of the case, such as `echoInts-100`.
    pub case: String,
    /// `castile`, `floor`, or the URL of another endpoint.
    pub target: String,
    /// The simulated network between driver and server, such as `100 Mbit/s`; `None` for a loopback interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The client that sends requests and reads answers.
    #[serde(default)]
    pub client: Client,
    /// How the load was made.
    #[serde(default)]
    pub method: Method,
    /// The style of messages, if the suite compares styles: `document`, `rpc-encoded`, `binary` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// The number of connections open at the same time.
    pub connections: usize,
    /// How many connections were opened, if not every user opened one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<usize>,
    /// Whether connections served more than one request.
    pub keep_alive: bool,
    /// The rhythm of users or arrivals, and how the load was found, in words: `each thinks for 1s before a request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rhythm: Option<String>,
    /// Scheduled requests per second; `None` if each connection sent as fast as it was answered.
    pub rate: Option<f64>,
    /// Right answers in all measured runs.
    pub requests: u64,
    /// The case of which this row is one operation. The requests are also counted in the row of that case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Wrong or missing answers, including those of the warm-up.
    pub errors: u64,
    /// How many of the errors are requests that could not be sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_sent: u64,
    /// Answers that were decoded and compared with what was sent.
    pub verified: u64,
    /// Requests that were due but found no free connection before the end; always 0 without a rate.
    pub unsent: u64,
    /// Requests that were dropped because all connections were busy when they were due, if the method drops requests; otherwise
    /// always 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Right answers per second.
    pub requests_per_second: Spread,
    /// Latency over all measured runs, in microseconds. It counts from the scheduled start if there is a rate.
    pub latency_us: Latency,
    /// Latency over all measured runs, in microseconds, from the actual sending of each request. This figure suffers from
    /// coordinated omission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_us: Option<Latency>,
    /// Latencies in microseconds at increasing quantiles (0 to 1), from the lowest to the highest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<Quantile>,
    /// The course over time, by intervals or by slices in which targets took turns, without the warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Interval>,
    /// Each pass of a method that discards some passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<Pass>,
    /// Throughput and latency for each number of users, or each rate, that was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<Step>,
    /// The number of users at the highest throughput of the curve, or at the highest load that met the search's condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_peak: Option<usize>,
    /// The number of users when a ramp ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_exit: Option<usize>,
    /// Why a ramp ended, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_reason: Option<String>,
    /// Requests that failed before a ramp ended, including the one that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Items found by all queries of a sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
    /// Seconds that a whole sequence took, as the mean of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
    /// Bytes of all requests of a sequence, without HTTP heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    /// Bytes of all answers of a sequence, without HTTP heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_in: Option<u64>,
    /// User and system time of the server process per request; `None` if it can't be measured.
    pub server_cpu_us_per_request: Option<f64>,
    /// The server's processor time per request, as a multiple of the floor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_floor: Option<Ratio>,
    /// Peak resident memory of the server process while the row was measured.
    pub server_peak_rss_bytes: Option<u64>,
    /// The share of its cores that the server used; 1 is all of them.
    pub server_cpu_share: Option<f64>,
    /// The share of its cores that the driver used; 1 is all of them.
    pub driver_cpu_share: Option<f64>,
    /// User and system time of the driver per request.
    pub driver_cpu_us_per_request: Option<f64>,
    /// How late the driver woke to send scheduled requests: the largest and the 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_us: Option<Lag>,
    /// How a search for the highest load ended, if its result differs from what was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_end: Option<SearchEnd>,
    /// Whether the driver was the limit instead of the server, so that the server can do more than was measured.
    pub driver_limited: bool,
    /// What limited the driver, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<String>,
    /// The share of the server's or the driver's cores, whichever is larger, that other processes used in a measured run. Only
    /// set if it was more than a tenth, also when the run was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<f64>,
    /// Whether the target still got faster when its warm-up ended, so that it can do more than was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rising: bool,
    /// The length of the body of a request.
    pub request_bytes: usize,
    /// The length of the body of an answer.
    pub response_bytes: usize,
    /// Why answers were wrong or missing, the most frequent reason first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// The cost of one target as a multiple of another's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median of the pairs; with many pairs, of their quieter half. Without pairs, the ratio of the means of all runs.
    pub ratio: f64,
    /// The true median is between these two with a confidence of at least 95 %, for any distribution of the pairs. `None` for
    /// fewer than six pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The number of pairs of slices that the median is taken of.
    #[serde(default)]
    pub pairs: usize,
}

/// A reason why requests failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// How many requests failed for this reason.
    pub count: u64,
    /// The message of the first of these failures. The others may differ in numbers, except that of a status.
    pub text: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", count(self.count as f64), self.text)
    }
}

/// How late the driver was, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The client that sends requests and reads answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    /// Requests written as bytes, most of them beforehand. Some of the answers are decoded. This measures the server alone.
    #[default]
    Raw,
    /// The generated client, which encodes every request and decodes every answer.
    Typed,
    /// `ab` of the Apache HTTP server, which doesn't check answers.
    Ab,
}

impl Client {
    /// Returns what it does, in a sentence.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Client::Raw => {
                "requests are prepared bytes, and a sample of the answers is decoded: this measures the server alone"
            }
            Client::Typed => {
                "the generated client, which encodes every request and decodes every answer: this measures server and \
                 client"
            }
            Client::Ab => "ab of the Apache HTTP server, which repeats one request and doesn't check the answers",
        }
    }
}

/// How the load is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Each connection sends its next request when it has the answer to the last one.
    #[default]
    Closed,
    /// Requests are due at fixed times, however fast the server answers.
    Open,
    /// Users who pause between requests. Their number may be found by a search.
    Users,
    /// Users are added at a steady rate.
    Ramp,
    /// One client sends each request of a list once, in order.
    Sequence,
}

/// One point of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The share of requests with at most this latency, 0 to 1.
    pub quantile: f64,
    /// The latency in microseconds.
    pub us: f64,
}

/// One interval of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Seconds from the start of the measurement to the end of the interval.
    pub at_s: f64,
    /// Right answers per second.
    pub requests_per_second: f64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// Median latency; `None` if there was no answer.
    pub p50_us: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_us: Option<f64>,
    /// Users at the end of the interval, if they begin one after another.
    pub users: Option<usize>,
    /// The share of its cores that the server used; 1 is all of them.
    pub server_cpu_share: Option<f64>,
    /// Memory of the server process at the end of the interval.
    pub server_rss_bytes: Option<u64>,
    /// User and system time of the server process per request, if the interval was a slice. It is paired with that of the other
    /// targets in the slice of the same number.
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
    /// The number of users, if that was varied.
    pub users: Option<usize>,
    /// Scheduled requests per second, if the rate was varied.
    pub rate: Option<f64>,
    /// Right answers per second.
    pub requests_per_second: f64,
    /// Mean latency in microseconds.
    pub mean_us: f64,
    /// 99th percentile of the latency in microseconds.
    pub p99_us: f64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// The share of its cores that the server used.
    pub server_cpu_share: Option<f64>,
}

/// A figure that was measured more than once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean over the runs.
    pub mean: f64,
    /// The sample standard deviation of the runs; 0 for one run.
    pub stddev: f64,
    /// The figure of each run.
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
    /// Returns the number of wrong or missing answers in all rows.
    pub fn errors(&self) -> u64 {
        self.wholes().map(Row::wrong).sum()
    }

    /// Returns the rows that count each request once, which excludes rows of single operations of a mix.
    pub fn wholes(&self) -> impl Iterator<Item = &Row> {
        self.rows().filter(|row| row.part_of.is_none())
    }

    /// Adds what was measured later, in another part of the same bench.
    pub fn append(&mut self, later: Results) {
        let earlier = std::mem::take(&mut self.warnings);
        // Warnings about missing parts come first.
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

    /// Adds, as the first warnings, what was not measured, and marks the results as incomplete.
    pub fn mark_incomplete(&mut self, what: impl IntoIterator<Item = String>) {
        let before = self.warnings.len();
        self.warnings.splice(0..0, what);
        self.incomplete |= self.warnings.len() > before;
    }

    /// Returns all rows of all suites.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.suites.iter().flat_map(|suite| &suite.cases)
    }
}

impl Suite {
    /// Creates a suite of rows without further information.
    pub fn new(suite: String, cases: Vec<Row>) -> Self {
        Suite { suite, about: None, terms: Vec::new(), cases, published: Vec::new() }
    }

    /// Returns each measured row and the row of the floor to compare it with, if there is one.
    pub(crate) fn against_floor(&self) -> impl Iterator<Item = (&Row, Option<&Row>)> {
        self.cases.iter().filter(|row| row.target != FLOOR).map(|row| (row, self.floor_of(row)))
    }

    /// Returns the floor's row of the same case, or one that was driven in the same way and transferred as many bytes: the
    /// floor depends only on the length of a message.
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

/// Returns what is wrong with answers, in words: `wrong` of them were wrong or missing. Those that are missing because
/// `not_sent` requests could not be sent are listed separately.
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
    /// Returns the number of wrong or missing answers, without those that ended a ramp, since a ramp searches for them.
    pub fn wrong(&self) -> u64 {
        self.errors.saturating_sub(self.failed.unwrap_or(0))
    }

    /// Returns the number of requests that were sent and counted, whatever their results.
    pub fn sent(&self) -> u64 {
        (self.requests + self.errors).saturating_sub(self.not_sent)
    }

    /// Returns how late the driver woke, in words, if that is a considerable part of the latency.
    pub fn lateness(&self) -> Option<String> {
        let lag = self.lag_us?.p99;
        let matters = lag > LAG_MICROSECONDS && lag > self.latency_us.p99 * LAG_SHARE;
        matters.then(|| format!("1 % of requests by more than {:.1} ms", lag / 1e3))
    }

    /// Returns connections and rate, if they were given; `None` for what a search found.
    pub(crate) fn given_load(&self) -> (Option<usize>, Option<f64>) {
        let connections = !matches!(self.method, Method::Users | Method::Ramp) && self.users_at_peak.is_none();
        (connections.then_some(self.connections), self.rate.filter(|_| self.curve.is_empty()))
    }

    /// Returns the share of the floor's throughput that this row reaches. Returns `None` if the clients differ, since that
    /// would compare clients and not servers.
    pub fn share_of(&self, floor: &Row) -> Option<f64> {
        let (own, most) = (self.requests_per_second.mean, floor.requests_per_second.mean);
        (most > 0.0 && self.client == floor.client).then(|| own / most)
    }

    /// Returns the latency in microseconds that this share of requests (0 to 1) does not exceed. It is taken from the next
    /// point of the distribution, so it is never too low. Returns `None` if there are too few points.
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

/// Waking at most this late is unimportant.
const LAG_MICROSECONDS: f64 = 1_000.0;
/// A lag of at most this share of the measured latency is unimportant.
const LAG_SHARE: f64 = 0.1;

/// The name of the target that measures the cost of HTTP alone.
pub const FLOOR: &str = "floor";

impl Spread {
    /// Returns mean and standard deviation of some runs.
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
        let results = || serde_json::from_str::<Results>(include_str!("../tests/data/results.json")).unwrap();
        let (mut whole, mut later) = (results(), results());
        let rows = whole.rows().count();
        (whole.warnings, later.warnings) = (vec!["slow".into()], vec!["hot".into()]);
        (whole.duration_s, later.duration_s) = (0.0, 2.0);
        whole.mark_incomplete([]);
        assert!(!whole.incomplete);
        later.mark_incomplete(["axis was dropped".into()]);
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
