//! Checks whether the figures measure the server: the driver checks itself and warns of what distorts the
//! results.

use std::time::{Duration, Instant};

use crate::Recorder;
use castile_report::{Client, Results, ResultsKind, Row, SearchEnd};

/// Above this share of its cores, the server or the driver is at its limit.
const BUSY: f64 = 0.9;
/// If other processes used more than this share of the cores, the figures are marked as disturbed.
const DISTURBED: f64 = 0.1;
/// How many rows a warning names. The report marks all of them.
const NAMED: usize = 4;
/// A clock that takes longer than this to read distorts the measurement.
const SLOW_CLOCK: Duration = Duration::from_micros(1);

/// Returns why the driver was the limit, if it was. In that case the server can do more than was measured.
pub(super) fn limit_of(
    record: &Recorder,
    driver_cpu_share: Option<f64>,
    server_cpu_share: Option<f64>,
) -> Option<String> {
    let busy = |share: Option<f64>| share.filter(|share| *share >= BUSY);
    if let Some(what) = &record.exhausted {
        return Some(format!("the driver's machine has {what}"));
    }
    if busy(server_cpu_share).is_some() {
        return None;
    }
    busy(driver_cpu_share).map(|share| format!("the driver used {:.0} % of its cores", share * 100.0))
}

/// Returns why the driver was the limit for a part of the time, if it was: this is the largest share of its cores that it used over some
/// seconds.
pub(super) fn peak_limit(driver_cpu_share: f64) -> Option<String> {
    let text = format!("the driver used {:.0} % of its cores in its busiest seconds", driver_cpu_share * 100.0);
    (driver_cpu_share >= BUSY).then_some(text)
}

/// Returns whether other processes took so much of the cores that the figures are not those of server and
/// driver alone.
pub(super) fn is_disturbed(others: Option<f64>) -> bool {
    others.is_some_and(|share| share > DISTURBED)
}

/// Adds the warnings that a reader must know before trusting the figures. Each warning is stated once for all rows.
pub fn with_warnings(mut results: Results) -> Results {
    let warnings = warnings(&results);
    results.warnings.extend(warnings);
    results
}

fn warnings(results: &Results) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut name = |holds: &dyn Fn(&Row) -> bool, text: &str| {
        let names = |holds: &dyn Fn(&Row) -> bool| {
            let rows = results.rows().filter(|row| holds(row));
            let mut names: Vec<_> = rows.map(|row| format!("{} ({})", row.case, row.target)).collect();
            names.dedup();
            names
        };
        let mut named = names(holds);
        // A warning that holds for all rows of a load names none of them.
        if !named.is_empty() && named == names(&|_| true) && results.kind == ResultsKind::Load {
            warnings.push(text.to_owned());
            return;
        }
        if named.len() > NAMED {
            let more = named.len() - NAMED;
            named.truncate(NAMED);
            named.push(format!("and {more} more"));
        }
        if !named.is_empty() {
            warnings.push(format!("{text}: {}", named.join(", ")));
        }
    };
    name(&|row| row.wrong() > 0, "Wrong or missing answers, so the figures are not valid");
    name(
        &|row| row.search_end == Some(SearchEnd::NoneMet),
        "No tested load met the goal of the search, so this is not its result",
    );
    name(
        &|row| row.search_end == Some(SearchEnd::AtMost),
        "The search ended at the largest allowed load, so the server can do more",
    );
    name(
        &|row| row.driver_limited,
        "The driver, not the server, was the limit, so the server can do more than was measured",
    );
    name(
        &|row| row.lateness().is_some(),
        "The driver sent late, probably because the machine was busy, and latencies include the delay",
    );
    name(
        &|row| row.unsent > 0,
        "The rate was not reached: requests were not sent because every connection was waiting for an answer",
    );
    name(&|row| row.dropped > 0, "The rate was not reached: requests were dropped because every connection was busy");
    name(
        &|row| row.disturbed.is_some(),
        "Other processes used the cores of server or driver, so both can do more than was measured",
    );
    name(
        &|row| row.rising,
        "The target was still getting faster at the end of its warm-up, so it can do more than was measured",
    );
    // The CPU time of another driver is never measured.
    if results.rows().any(|row| row.client != Client::Ab && row.driver_cpu_share.is_none()) {
        let why = "this system doesn't report them, or a run ended before they were read";
        warnings.push(format!("CPU time and memory were not measured: {why}"));
    }
    let clock = time_to_read_the_clock();
    if clock > SLOW_CLOCK {
        warnings.push(format!(
            "Reading the clock of this machine takes {clock:?}, which is included in all measured times"
        ));
    }
    warnings
}

fn time_to_read_the_clock() -> Duration {
    const TIMES: u32 = 1_000;
    // The shortest attempt is the one that was not interrupted.
    let attempt = || {
        let start = Instant::now();
        (0..TIMES).map(|_| Instant::now()).max().unwrap_or(start) - start
    };
    (0..5).map(|_| attempt()).min().unwrap_or_default() / TIMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_reports_when_it_was_the_limit() {
        let idle = Recorder::default();
        let limit = |record: &Recorder, driver, server| limit_of(record, Some(driver), Some(server));
        assert_eq!(limit(&idle, 0.5, 0.5), None);
        assert_eq!(limit(&idle, 0.97, 0.5).as_deref(), Some("the driver used 97 % of its cores"));
        assert_eq!(limit(&idle, 0.97, 0.95), None, "both were, so the server was as well");
        let exhausted =
            Recorder { exhausted: Some("no free local port to connect from".into()), ..Recorder::default() };
        let text = limit(&exhausted, 0.1, 0.95).unwrap();
        assert_eq!(text, "the driver's machine has no free local port to connect from");
    }
}
