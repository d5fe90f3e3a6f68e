//! The summary at the top of the page: the main figures, and one line for each suite. It is about one target, the subject,
//! which is compared with the other targets.

use std::cmp::{Ordering, Reverse};

use serde::Serialize;

use super::axis::{Axis, Tick, share};
use super::bars::quotient;
use crate::measure::Figure;
use crate::versus::{Mean, Overall, Rival, Versus};
use crate::{Condition, FLOOR, Judged, Method, Ratio, Results, ResultsKind, Row, Suite};

#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// What was measured, in a few words.
    title: String,
    /// The URL, if everything is about one foreign endpoint.
    place: Option<String>,
    /// The target that the summary is about.
    subject: String,
    /// Whether there are targets other than the subject and the floor.
    has_others: bool,
    /// The number of the subject's rows.
    cases: usize,
    /// The number of right answers of subject and floor.
    requests: u64,
    verified: u64,
    errors: u64,
    /// Why answers of the subject were wrong or missing, with the most frequent reasons first. `more_reasons` is the number
    /// of reasons left out.
    reasons: Vec<Reason>,
    more_reasons: usize,
    /// The results of conditions for failing.
    outcomes: Vec<Outcome>,
    /// Requests of subject and floor that were sent, and those that could not be sent.
    sent: u64,
    not_sent: u64,
    /// Wrong or missing answers of the other targets.
    errors_of_others: u64,
    /// The number of rows in which the driver was the limit.
    driver_limited: usize,
    /// The number of the subject's rows in which other processes used the cores, for the row itself or for the floor's.
    disturbed: usize,
    /// Lowest, median and highest share of the floor's throughput.
    shares: Option<[f64; 3]>,
    /// The standard deviation of the median, as a share of the floor's throughput.
    share_spread: Option<f64>,
    /// Lowest, median and highest multiple of the floor's CPU time per request.
    ratios: Option<[f64; 3]>,
    /// Lowest, mean and highest share of the CPU time of the best other target.
    rivals: Option<[f64; 3]>,
    /// The certainty of the ratios of CPU time; `None` if there are none.
    sure: Option<Sure>,
    /// The number of cases that another target serves, too.
    rival_cases: usize,
    fastest: Option<Fastest>,
    peak_memory: Option<u64>,
    share_ticks: Vec<Tick>,
    suites: Vec<SuiteSummary>,
}

/// The certainty of ratios of CPU time.
#[derive(Debug, Serialize)]
struct Sure {
    /// The number of ratios.
    ratios: usize,
    /// How many of them have an interval.
    known: usize,
    /// Half the width of an interval, as a share of its ratio: the median over all intervals, and the largest one in `worst`.
    /// Both are 0 if there is no interval.
    typical: f64,
    worst: f64,
}

/// A reason for wrong or missing answers.
#[derive(Debug, Serialize)]
struct Reason {
    count: u64,
    text: String,
    /// The cases in which it occurred.
    cases: String,
}

/// The result of a condition for failing.
#[derive(Debug, Serialize)]
struct Outcome {
    fail_if: String,
    failed: bool,
    /// The number of judged rows, and how many of them failed.
    rows: usize,
    failures: usize,
    /// The first failing rows with their figures. If none fails, the figure that is closest to failing.
    found: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Fastest {
    case: String,
    mean: f64,
    stddev: Option<f64>,
}

/// The line of one suite.
#[derive(Debug, Serialize)]
struct SuiteSummary {
    name: String,
    cases: usize,
    requests: u64,
    errors: u64,
    driver_limited: usize,
    shares: Option<[f64; 3]>,
    /// The shares as positions on an axis that all suites share.
    strip: Option<[f64; 3]>,
    ratios: Option<[f64; 3]>,
    /// Lowest, mean and highest share of the CPU time of the best other target.
    rivals: Option<[f64; 3]>,
    most: Option<f64>,
    /// Median latency of the typical row, and the highest 99th percentile, in microseconds.
    latency: Option<[f64; 2]>,
}

impl Summary {
    pub(super) fn of(results: &Results, versus: &[Versus<'_>], overall: &Overall<'_>) -> Self {
        let subject = results.subject().unwrap_or_default();
        let pairs = || results.suites.iter().flat_map(|suite| pairs(suite, subject));
        let own = || results.rows().filter(|row| row.target == subject);
        let with_floor = || results.wholes().filter(|row| row.target == subject || row.target == FLOOR);
        let sum = |of: fn(&Row) -> u64| with_floor().map(of).sum();
        let shares: Vec<_> = results.suites.iter().map(|suite| shares(suite, subject)).collect();
        let axis = Axis::linear(shares.iter().flatten().map(|[.., high]| *high).chain([1.0])).rounded();
        let suites = results.suites.iter().zip(versus).zip(shares);
        let errors = sum(Row::wrong);
        // A ramp of a bench is expected to end with errors.
        let counts = |row: &&Row| row.part_of.is_none() && (results.kind == ResultsKind::Load || row.wrong() > 0);
        let mut reasons = reasons(own().filter(counts));
        let more_reasons = reasons.len().saturating_sub(NAMED);
        reasons.truncate(NAMED);
        Summary {
            title: title(results),
            place: common_url(own()),
            reasons,
            more_reasons,
            outcomes: results.conditions.iter().map(Outcome::of).collect(),
            subject: subject.to_owned(),
            has_others: versus.iter().any(Versus::has_others),
            cases: own().count(),
            requests: sum(|row| row.requests),
            verified: sum(|row| row.verified),
            errors,
            sent: sum(Row::sent),
            not_sent: sum(|row| row.not_sent),
            errors_of_others: results.errors().saturating_sub(errors),
            driver_limited: own().filter(|row| row.driver_limited).count(),
            disturbed: pairs().filter(is_disturbed).count(),
            shares: range(pairs().filter_map(|(row, floor)| row.share_of(floor?))),
            share_spread: spread_of_median(pairs().filter_map(|(row, floor)| share_of(row, floor?))),
            ratios: range(pairs().filter_map(|(row, floor)| Some(row.cpu_ratio(floor?)?.ratio))),
            rivals: spread(&overall.rivals, overall.share),
            sure: Sure::of(versus, pairs()),
            rival_cases: overall.rivals.len(),
            fastest: fastest(own()).map(|row| Fastest {
                case: row.case.clone(),
                mean: row.requests_per_second.mean,
                stddev: (row.requests_per_second.runs.len() > 1).then_some(row.requests_per_second.stddev),
            }),
            peak_memory: own().filter_map(|row| row.server_peak_rss_bytes).max(),
            share_ticks: axis.ticks(share),
            suites: suites.map(|((suite, versus), shares)| SuiteSummary::of(suite, versus, shares, &axis)).collect(),
        }
    }
}

impl SuiteSummary {
    fn of(suite: &Suite, versus: &Versus<'_>, shares: Option<[f64; 3]>, axis: &Axis) -> Self {
        let rows = || suite.cases.iter().filter(|row| row.target == versus.subject);
        let is_counted = |row: &&Row| row.part_of.is_none() && (row.target == versus.subject || row.target == FLOOR);
        let with_floor = || suite.cases.iter().filter(is_counted);
        let busy = || rows().filter(|row| row.requests > 0);
        let medians = range(busy().map(|row| row.latency_us.p50));
        SuiteSummary {
            name: suite.suite.clone(),
            cases: rows().count(),
            requests: with_floor().map(|row| row.requests).sum(),
            errors: with_floor().map(|row| row.errors).sum(),
            driver_limited: rows().filter(|row| row.driver_limited).count(),
            shares,
            strip: shares.map(|shares| shares.map(|share| axis.position(share))),
            ratios: range(pairs(suite, versus.subject).filter_map(|(row, floor)| Some(row.cpu_ratio(floor?)?.ratio))),
            rivals: rivals(versus),
            most: fastest(rows()).map(|row| row.requests_per_second.mean),
            latency: medians.map(|[_, median, _]| [median, busy().map(|row| row.latency_us.p99).fold(0.0, f64::max)]),
        }
    }
}

/// The largest number of reasons, cases or failures that are named.
const NAMED: usize = 5;

/// Returns what was measured: the case if there is one, otherwise the suites.
fn title(results: &Results) -> String {
    let mut cases: Vec<&str> = results.wholes().map(|row| &*row.case).collect();
    cases.dedup();
    let what = match (&*results.suites, &*cases) {
        ([suite], [case]) => match case.matches(" + ").count() {
            operations @ NAMED.. => format!("{} operations of {}", operations + 1, suite.suite),
            _ => format!("{case} of {}", suite.suite),
        },
        (suites, _) => joined(&suites.iter().map(|suite| &*suite.suite).collect::<Vec<_>>()),
    };
    match results.kind {
        ResultsKind::Bench => format!("Bench of {what}"),
        ResultsKind::Load => format!("Load: {what}"),
    }
}

/// `a, b and c`
fn joined(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the URL of all rows, if they have the same one.
fn common_url<'a>(mut rows: impl Iterator<Item = &'a Row>) -> Option<String> {
    rows.next().map(|row| row.target.clone()).filter(|target| target.contains("://"))
}

/// Returns why answers were wrong or missing, over all rows.
fn reasons<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Reason> {
    let mut found: Vec<(u64, &str, Vec<&str>)> = Vec::new();
    for (row, reason) in rows.flat_map(|row| row.reasons.iter().map(move |reason| (row, reason))) {
        let place = found.iter().position(|(_, text, _)| *text == reason.text).unwrap_or(found.len());
        if place == found.len() {
            found.push((0, &reason.text, Vec::new()));
        }
        let (count, _, cases) = &mut found[place];
        *count += reason.count;
        if !cases.contains(&&*row.case) {
            cases.push(&row.case);
        }
    }
    found.sort_by_key(|(count, ..)| Reverse(*count));
    let reason = |(count, text, cases): (u64, &str, Vec<&str>)| Reason {
        count,
        text: text.to_owned(),
        cases: named(cases.into_iter().map(str::to_owned)).join(", "),
    };
    found.into_iter().map(reason).collect()
}

/// Returns the first texts, and how many more there are.
fn named(mut all: impl Iterator<Item = String>) -> Vec<String> {
    let mut named: Vec<_> = all.by_ref().take(NAMED).collect();
    let more = all.count();
    named.extend((more > 0).then(|| format!("and {more} more")));
    named
}

impl Outcome {
    fn of(condition: &Condition) -> Self {
        let sentence = |row: &Judged| match condition.rows.len() {
            1 => row.text.clone(),
            _ => format!("{} {}", row.case, row.text),
        };
        let failures = condition.failures().count();
        let found = match failures {
            0 => {
                // If the condition asks for figures above a value, the highest figure is closest to failing.
                let is_above = condition.fail_if.contains('>');
                let nearest = condition.rows.iter().max_by(|a, b| match is_above {
                    true => a.found.partial_cmp(&b.found).unwrap_or(Ordering::Equal),
                    false => b.found.partial_cmp(&a.found).unwrap_or(Ordering::Equal),
                });
                nearest.map(sentence).into_iter().collect()
            }
            _ => named(condition.failures().map(sentence)),
        };
        let (fail_if, rows) = (condition.fail_if.clone(), condition.rows.len());
        Outcome { fail_if, failed: condition.failed, rows, failures, found }
    }
}

impl Sure {
    fn of<'a>(versus: &[Versus<'_>], pairs: impl Iterator<Item = (&'a Row, Option<&'a Row>)>) -> Option<Self> {
        let with_floor = pairs.filter_map(|(row, floor)| row.cpu_ratio(floor?));
        let with_others = versus.iter().flat_map(Versus::ratios_of_others);
        let ratios: Vec<Ratio> = with_floor.chain(with_others).collect();
        let half = |ratio: &Ratio| ratio.interval.map(|[low, high]| (high - low) / 2.0 / ratio.ratio);
        let halves: Vec<f64> = ratios.iter().filter_map(half).collect();
        let known = halves.len();
        let [_, typical, worst] = range(halves.into_iter()).unwrap_or_default();
        (!ratios.is_empty()).then_some(Sure { ratios: ratios.len(), known, typical, worst })
    }
}

/// Returns whether other processes used the cores while the row or its floor was measured.
fn is_disturbed((row, floor): &(&Row, Option<&Row>)) -> bool {
    row.disturbed.is_some() || floor.is_some_and(|floor| floor.disturbed.is_some())
}

/// Returns a row's share of the floor's throughput, with its standard deviation.
fn share_of(row: &Row, floor: &Row) -> Option<Figure> {
    let figure = |row: &Row| {
        let rate = &row.requests_per_second;
        (rate.mean, (rate.runs.len() > 1).then_some(rate.stddev))
    };
    row.share_of(floor).map(|_| quotient(figure(row), figure(floor)))
}

/// Returns the standard deviation of the median figure.
fn spread_of_median(figures: impl Iterator<Item = Figure>) -> Option<f64> {
    let mut figures: Vec<Figure> = figures.collect();
    figures.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    figures.get(figures.len() / 2)?.1
}

/// Returns the rows of a target, each with that of the floor.
fn pairs<'a>(suite: &'a Suite, target: &'a str) -> impl Iterator<Item = (&'a Row, Option<&'a Row>)> {
    suite.against_floor().filter(move |(row, _)| row.target == target)
}

fn rivals(versus: &Versus<'_>) -> Option<[f64; 3]> {
    let mut rivals: Vec<_> = versus.rivals().collect();
    rivals.sort_by(|a, b| a.share.total_cmp(&b.share));
    spread(&rivals, Mean::of(rivals.iter().map(|rival| rival.share)))
}

/// Returns lowest, mean and highest share of a sorted list.
fn spread(rivals: &[Rival<'_>], mean: Option<Mean>) -> Option<[f64; 3]> {
    Some([rivals.first()?.share, mean?.ratio, rivals.last()?.share])
}

/// Returns the fastest row. Closed workloads are preferred, since their speed is limited only by the answers.
fn fastest<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.max_by(|a, b| {
        let figure = |row: &Row| (row.method == Method::Closed, row.requests_per_second.mean);
        let (a, b) = (figure(a), figure(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

fn shares(suite: &Suite, target: &str) -> Option<[f64; 3]> {
    range(pairs(suite, target).filter_map(|(row, floor)| row.share_of(floor?)))
}

/// Returns lowest, median and highest figure.
fn range(figures: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    Some([*figures.first()?, figures[figures.len() / 2], *figures.last()?])
}
