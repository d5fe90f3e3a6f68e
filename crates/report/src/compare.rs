//! Compares runs of the same cases in several benches, with the certainty of the differences.

use serde::Serialize;

use crate::format::{count, figure, microseconds, spread};
use crate::label::Labels;
use crate::student::Difference;
use crate::{Machine, Method, Ratio, Results, Row, Spread};

/// Several benches, which are compared with the first.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    benches: Vec<Heading>,
    /// Differences between the benches that may explain differences in the figures.
    warnings: Vec<String>,
    pub(crate) suites: Vec<ComparedSuite>,
}

/// The description of a bench as a whole.
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
pub(crate) struct ComparedSuite {
    pub(crate) suite: String,
    pub(crate) rows: Vec<Compared>,
}

/// One row in all benches.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Compared {
    pub(crate) case: String,
    /// The text that distinguishes the row from other rows of its case.
    pub(crate) row: String,
    /// In the order of the benches; `None` if a bench doesn't have the row.
    pub(crate) figures: Vec<Option<Figures>>,
    /// The change from the first bench to each of the others; `None` if no verdict is possible.
    pub(crate) differences: Vec<Option<Change>>,
}

/// The change of a row from the first bench to another.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Change {
    by: Yardstick,
    verdict: Verdict,
    #[serde(flatten)]
    pub(crate) difference: Difference,
}

/// The figure by which two benches are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Yardstick {
    /// The server's CPU time per request, as a multiple of the floor's in the same bench.
    CpuBesideFloor,
    /// Used if the CPU time is not available. This figure also depends on how busy the machine was.
    RequestsPerSecond,
}

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Better,
    Worse,
    Unseen,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) requests_per_second: Spread,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) server_cpu_us_per_request: Option<f64>,
    pub(crate) times_floor: Option<Ratio>,
    pub(crate) errors: u64,
    pub(crate) driver_limited: bool,
}

impl Comparison {
    /// Compares benches, each with its display name. The first bench is the one that others are compared with.
    pub fn of(benches: &[(String, Results)]) -> Self {
        let mut suites: Vec<ComparedSuite> = Vec::new();
        for suite in benches.iter().flat_map(|(_, results)| &results.suites) {
            if !suites.iter().any(|known| known.suite == suite.suite) {
                suites.push(compared(&suite.suite, benches));
            }
        }
        let warnings = warnings(benches).into_iter().chain(single_runs(&suites, benches)).collect();
        Comparison { benches: benches.iter().map(heading).collect(), warnings, suites }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.benches.iter().map(|bench| &*bench.name)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &Compared)> {
        self.suites.iter().flat_map(|suite| suite.rows.iter().map(move |row| (&*suite.suite, row)))
    }

    /// Returns the figures by which the rows are compared.
    pub(crate) fn yardsticks(&self) -> impl Iterator<Item = Yardstick> {
        let has = |yardstick: &Yardstick| {
            let mut changes = self.rows().flat_map(|(_, row)| row.differences.iter().flatten());
            changes.any(|change| change.by == *yardstick)
        };
        [Yardstick::CpuBesideFloor, Yardstick::RequestsPerSecond].into_iter().filter(has)
    }

    /// Returns what a reader must know before trusting the differences.
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

/// A row, and its CPU time as a multiple of that of its bench's floor.
struct Measured<'a> {
    row: &'a Row,
    times_floor: Option<Ratio>,
}

fn compared(suite: &str, benches: &[(String, Results)]) -> ComparedSuite {
    let rows: Vec<Vec<Measured<'_>>> = benches.iter().map(|(_, results)| measured(suite, results)).collect();
    let mut keys: Vec<&Row> = Vec::new();
    for Measured { row, .. } in rows.iter().flatten() {
        if !keys.iter().any(|known| is_same(known, row)) {
            keys.push(row);
        }
    }
    let labels = Labels::among(keys.iter().copied());
    let several_methods = keys.iter().any(|row| row.method != keys[0].method);
    let compared = keys.iter().map(|key| {
        let found = rows.iter().map(|rows| rows.iter().find(|measured| is_same(measured.row, key)));
        let found: Vec<Option<&Measured<'_>>> = found.collect();
        let differences = found[1..].iter().map(|measured| Change::between(found[0]?, (*measured)?));
        Compared {
            case: key.case.clone(),
            row: if several_methods && key.method != Method::Closed { key.properties() } else { labels.of(key) },
            differences: differences.collect(),
            figures: found.iter().map(|measured| measured.map(figures)).collect(),
        }
    });
    ComparedSuite { suite: suite.to_owned(), rows: compared.collect() }
}

fn measured<'a>(name: &str, results: &'a Results) -> Vec<Measured<'a>> {
    let suites = results.suites.iter().filter(|known| known.suite == name);
    let rows =
        suites.flat_map(|suite| suite.cases.iter().map(|row| Measured { row, times_floor: suite.times_floor(row) }));
    rows.collect()
}

impl Change {
    /// Returns the change between two rows; `None` if not even requests per second have an interval.
    fn between(first: &Measured<'_>, second: &Measured<'_>) -> Option<Self> {
        // The CPU time of rows with wrong answers isn't compared.
        let is_right = [first, second].iter().all(|measured| measured.row.wrong() == 0);
        let by_cpu = || second.times_floor.filter(|_| is_right)?.against(&first.times_floor?);
        if let Some(difference) = by_cpu() {
            let verdict = verdict(&difference, difference.relative < 0.0);
            return Some(Change { by: Yardstick::CpuBesideFloor, verdict, difference });
        }
        let difference = Difference::between(&first.row.requests_per_second, &second.row.requests_per_second)?;
        let verdict = verdict(&difference, difference.relative > 0.0);
        Some(Change { by: Yardstick::RequestsPerSecond, verdict, difference })
    }

    /// Returns the verdict and the figure that it is based on: `CPU: less`.
    pub(crate) fn words(&self) -> String {
        let what = match self.verdict {
            Verdict::Unseen => "no difference seen",
            _ if self.difference.relative > 0.0 => "more",
            _ => "less",
        };
        format!("{}: {what}", self.by.name())
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl Yardstick {
    fn name(self) -> &'static str {
        match self {
            Yardstick::CpuBesideFloor => "CPU",
            Yardstick::RequestsPerSecond => "req/s",
        }
    }

    /// Returns what the figure means, and which direction is better.
    pub(crate) fn about(self) -> String {
        let about = match self {
            Yardstick::CpuBesideFloor => {
                "server CPU time per request, relative to the HTTP floor's in the same bench; less is better"
            }
            Yardstick::RequestsPerSecond => {
                "requests per second, for benches without CPU time relative to the floor's with an interval; more is \
                 better, and other processes on the machine change it"
            }
        };
        format!("{}: {about}", self.name())
    }
}

fn verdict(difference: &Difference, is_better: bool) -> Verdict {
    match difference.is_significant() {
        false => Verdict::Unseen,
        true if is_better => Verdict::Better,
        true => Verdict::Worse,
    }
}

/// Returns whether two rows measured the same thing in the same way.
fn is_same(a: &Row, b: &Row) -> bool {
    let key = |row: &Row| (row.client, row.method, row.given_load(), row.keep_alive);
    key(a) == key(b) && (&a.case, &a.target, &a.network, &a.style) == (&b.case, &b.target, &b.network, &b.style)
}

fn figures(Measured { row, times_floor }: &Measured<'_>) -> Figures {
    Figures {
        requests_per_second: row.requests_per_second.clone(),
        p50_us: row.latency_us.p50,
        p99_us: row.latency_us.p99,
        server_cpu_us_per_request: row.server_cpu_us_per_request,
        times_floor: *times_floor,
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
            warnings.push(format!(
                "The benches differ in their {what}, so the differences below may have other causes than the software"
            ));
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
            "Other processes used the cores, so requests per second may differ for that reason alone; CPU time per \
             request is more reliable: {}",
            disturbed.join(", ")
        ));
    }
    warnings
}

/// Returns a note if some differences have no verdict because rows have single runs.
fn single_runs(suites: &[ComparedSuite], benches: &[(String, Results)]) -> Option<String> {
    let single = |bench: usize| {
        suites.iter().flat_map(|suite| &suite.rows).any(|row| {
            let has_one = row.figures[bench].as_ref().is_some_and(|one| one.requests_per_second.runs.len() < 2);
            let mut others = row.figures[1..].iter().zip(&row.differences).enumerate();
            has_one
                && row.figures[0].is_some()
                && others.any(|(other, (figures, difference))| {
                    (bench == 0 || bench == other + 1) && figures.is_some() && difference.is_none()
                })
        })
    };
    let names: Vec<&str> = (0..benches.len()).filter(|bench| single(*bench)).map(|bench| &*benches[bench].0).collect();
    (!names.is_empty()).then(|| {
        format!(
            "A difference is {UNKNOWN} if a row has one run, because its spread is then unknown; expected at least \
             two runs, as `castile bench` makes (`castile load` makes one): {}",
            names.join(", ")
        )
    })
}

/// The text for a difference without a verdict.
pub(crate) const UNKNOWN: &str = "unknown";

/// Formats a difference with its interval: `+8.1 % (+5.0 to +11.2)`.
pub(crate) fn in_percent(difference: &Difference) -> String {
    // Adding 0 turns a negative zero into a positive one.
    let percent = |share: f64| format!("{:+.1}", (share * 1e3).round() / 10.0 + 0.0);
    format!("{} % ({} to {})", percent(difference.relative), percent(difference.low), percent(difference.high))
}

impl Figures {
    /// Returns requests per second with their standard deviation.
    pub(crate) fn rate(&self) -> String {
        let Spread { mean, stddev, runs } = &self.requests_per_second;
        match runs.len() {
            0 | 1 => figure(*mean),
            _ => spread(*mean, *stddev),
        }
    }

    /// Returns the server's CPU time per request, and its multiple of the floor's: `12.5 µs, 1.25 (1.20–1.30) ×
    /// floor`.
    pub(crate) fn cpu(&self) -> Option<String> {
        let cpu = format!("{} µs", figure(self.server_cpu_us_per_request?));
        Some(self.times_floor.iter().fold(cpu, |cpu, times| format!("{cpu}, {times} × floor")))
    }

    pub(crate) fn latency(&self) -> String {
        format!("{} / {}", microseconds(self.p50_us), microseconds(self.p99_us))
    }
}
