//! What is reported of the requests: to the master, and to Castile's plugin of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use castile_load::{Recorder, Second, own_usage};
use castile_locust::{Entry, Failure, Report};
use serde::Serialize;

use super::super::calendar::Calendar;
use super::super::peak::Peak;

/// The kind of all rows.
const METHOD: &str = "SOAP";
/// The master's name for the sum of all rows.
const TOTAL: &str = "Aggregated";
/// Times have this many significant digits in a report, so that a long test has hundreds of different ones and not tens of thousands.
const DIGITS: i32 = 2;
/// For how many seconds figures are kept for a plugin that hasn't greeted this worker.
const LONGEST_UNSENT: usize = 3_600;

/// What happened in which second since 1970.
type Seconds = BTreeMap<u64, Second>;

/// A report to Castile's plugin of a master.
#[derive(Debug, Serialize)]
pub(super) struct PluginReport {
    /// The number of the report in its test. A gap is a report that was lost.
    sequence: u64,
    begun_s: f64,
    now_s: f64,
    /// The last time of the master's clock, and how long ago it arrived.
    master_s: f64,
    held_s: f64,
    /// The processor time since the beginning, and the most cores that were used over some seconds.
    cpu_s: f64,
    peak_cores: f64,
    /// Requests under way at the end.
    in_flight: u64,
    is_last: bool,
    /// What is driven, as JSON. Each report has it, because any of them may be lost.
    description: String,
    record: Recorder,
    seconds: Seconds,
}

/// What happened since the last report.
pub(super) struct Figures {
    names: Vec<String>,
    description: String,
    /// It starts with the test.
    calendar: Calendar,
    /// Up to when the figures are complete.
    taken: Instant,
    /// The processor time of this process at the beginning.
    begun_cpu: Duration,
    peak: Peak,
    sequence: u64,
    /// Right answers, and wrong or missing ones, since the beginning.
    totals: (u64, u64),
    /// Whether the master wants more users than there can be.
    has_too_many: bool,
    record: Recorder,
    /// What wasn't sent to the plugin yet. It may greet a worker after its first report.
    unsent: (Recorder, Seconds),
    /// The seconds of all requests, and then those of each operation.
    seconds: Vec<Seconds>,
}

impl Figures {
    /// Creates figures for operations of these names, and with a description as JSON, from now on.
    pub(super) fn new(names: Vec<String>, description: String) -> Self {
        let calendar = Calendar::new();
        Figures {
            seconds: vec![Seconds::new(); names.len() + 1],
            names,
            description,
            taken: calendar.start,
            calendar,
            begun_cpu: cpu(),
            peak: Peak::default(),
            sequence: 0,
            totals: (0, 0),
            has_too_many: false,
            record: Recorder::default(),
            unsent: (Recorder::default(), Seconds::new()),
        }
    }

    /// Adds what was recorded since the last call, with this many users. It counts for the second in which that time began.
    pub(super) fn add(&mut self, record: Recorder, users: u64, now: Instant) {
        let at = self.calendar.at(self.taken) as u64;
        self.taken = now;
        self.peak.look(now, cpu());
        let mut parts: Vec<&Recorder> = record.parts.iter().collect();
        // A single operation has no record of its own.
        if self.names.len() == 1 {
            parts = vec![&record];
        }
        for (record, seconds) in std::iter::once(&record).chain(parts).zip(&mut self.seconds) {
            let second = Second { requests: record.requests, errors: record.errors, users };
            seconds.entry(at).or_default().add(second);
        }
        self.totals.0 += record.requests;
        self.totals.1 += record.errors;
        self.record.merge(record);
    }

    /// Returns the numbers of right answers, and of wrong or missing ones, since the beginning.
    pub(super) fn totals(&self) -> (u64, u64) {
        self.totals
    }

    /// Records that the master wants more users than `most`. Returns whether that is known.
    pub(super) fn has_too_many(&mut self, most: u64) -> bool {
        self.record.exhausted = Some(format!("no more open files than for {most} users (`ulimit -Hn`)").into());
        std::mem::replace(&mut self.has_too_many, true)
    }

    /// Returns how many requests were not reported yet.
    pub(super) fn unreported(&self) -> u64 {
        self.record.requests + self.record.errors
    }

    /// Takes a report of everything since the last one.
    pub(super) fn report(&mut self) -> Report {
        // A master has a row for each text, so a reason keeps its first one.
        let record = self.record.take();
        if self.unsent.1.len() > LONGEST_UNSENT {
            self.unsent = Default::default();
            self.sequence += 1;
        }
        for (at, second) in &self.seconds[0] {
            self.unsent.1.entry(*at).or_default().add(*second);
        }
        let mut taken = self.seconds.iter_mut().map(std::mem::take);
        let (begun, now) = (self.calendar.start_s, self.calendar.now());
        let total = entry(TOTAL, "", &record, taken.next().unwrap_or_default(), (begun, now));
        let of = |number: usize| match self.names.len() {
            1 => Some(&record),
            _ => record.parts.get(number),
        };
        let parts = || self.names.iter().enumerate().filter_map(|(number, name)| Some((name, of(number)?)));
        let mut failures = BTreeMap::new();
        for (name, part) in parts() {
            for reason in &part.reasons {
                let failure = Failure {
                    method: METHOD.to_owned(),
                    name: name.clone(),
                    error: reason.text.clone(),
                    occurrences: reason.count,
                    first_seen: now,
                    last_seen: now,
                };
                failures.insert(format!("{METHOD}.{name}.{}", reason.text), failure);
            }
        }
        let entries = parts().zip(taken).filter(|((_, part), _)| part.requests + part.errors > 0);
        let entries = entries.map(|((name, part), seconds)| entry(name, METHOD, part, seconds, (begun, now))).collect();
        self.unsent.0.merge(record);
        Report { entries, total, failures }
    }

    /// Takes everything that was reported to the master and not to the plugin. At the end, `in_flight` requests were under way. `master` is the
    /// last time of the plugin's clock, and how long ago it arrived.
    pub(super) fn plugin_report(
        &mut self,
        is_last: bool,
        in_flight: u64,
        (master, held): (f64, Duration),
    ) -> PluginReport {
        let (record, all) = std::mem::take(&mut self.unsent);
        let sequence = self.sequence;
        self.sequence += 1;
        PluginReport {
            sequence,
            begun_s: self.calendar.start_s,
            now_s: self.calendar.now(),
            master_s: master,
            held_s: held.as_secs_f64(),
            cpu_s: cpu().saturating_sub(self.begun_cpu).as_secs_f64(),
            peak_cores: self.peak.cores(),
            in_flight,
            is_last,
            description: self.description.clone(),
            seconds: all,
            record,
        }
    }
}

fn entry(name: &str, method: &str, record: &Recorder, seconds: Seconds, (begun, now): (f64, f64)) -> Entry {
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
    let mut times: Vec<(f64, u64)> = Vec::new();
    for value in record.latency.iter_recorded() {
        let time = rounded(milliseconds(value.value_iterated_to()));
        match times.last_mut() {
            Some((last, count)) if *last == time => *count += value.count_at_value(),
            _ => times.push((time, value.count_at_value())),
        }
    }
    Entry {
        name: name.to_owned(),
        method: method.to_owned(),
        last_request_timestamp: (record.requests + record.errors > 0).then_some(now),
        start_time: begun,
        num_requests: record.requests + record.errors,
        // What failed has no time.
        num_none_requests: record.errors,
        num_failures: record.errors,
        total_response_time: record.latency.mean() / 1e6 * record.latency.len() as f64,
        max_response_time: milliseconds(record.latency.max()),
        min_response_time: (!record.latency.is_empty()).then(|| milliseconds(record.latency.min())),
        total_content_length: record.bytes_in,
        response_times: times,
        num_reqs_per_sec: by_second(&seconds, |second| second.requests + second.errors),
        num_fail_per_sec: by_second(&seconds, |second| second.errors),
    }
}

/// Returns the counts of seconds that have any.
fn by_second(seconds: &Seconds, count: fn(&Second) -> u64) -> BTreeMap<u64, u64> {
    let counts = seconds.iter().map(|(at, second)| (*at, count(second)));
    counts.filter(|(_, count)| *count > 0).collect()
}

fn cpu() -> Duration {
    own_usage().0.unwrap_or_default()
}

/// Rounds a time to its first digits.
fn rounded(time: f64) -> f64 {
    if time <= 0.0 {
        return 0.0;
    }
    let digits = DIGITS - 1 - time.log10().floor() as i32;
    // A power with a positive exponent is exact, so the result is the number that is written with these digits.
    match digits >= 0 {
        true => (time * 10f64.powi(digits)).round() / 10f64.powi(digits),
        false => (time / 10f64.powi(-digits)).round() * 10f64.powi(-digits),
    }
}

#[cfg(test)]
mod tests {
    use castile_report::Reason;

    use super::*;

    fn record(times: &[(u64, u64)], failures: &[(&str, u64)]) -> Recorder {
        let mut record = Recorder::default();
        for (microseconds, count) in times {
            record.latency.record_n(microseconds * 1_000, *count).unwrap();
            record.requests += count;
        }
        record.errors = failures.iter().map(|(_, count)| count).sum();
        record.reasons =
            failures.iter().map(|(text, count)| Reason { text: (*text).to_owned(), count: *count }).collect();
        record
    }

    #[test]
    fn a_report_has_the_sum_and_each_operation() {
        let mut figures = Figures::new(vec!["a".to_owned(), "b".to_owned()], "{}".to_owned());
        let parts = [record(&[(120, 2), (121, 1)], &[]), record(&[(5_000, 1)], &[("no answer", 4)])];
        let mut whole = record(&[(120, 2), (121, 1), (5_000, 1)], &[("no answer", 4)]);
        whole.bytes_in = 70;
        whole.parts = parts.to_vec();
        figures.add(whole.clone(), 3, Instant::now());
        figures.add(whole, 2, Instant::now());
        let report = figures.report();
        let names: Vec<_> = report.entries.iter().map(|entry| (&*entry.method, &*entry.name)).collect();
        assert_eq!(names, [("SOAP", "a"), ("SOAP", "b")]);
        let total = &report.total;
        assert_eq!((&*total.name, &*total.method, total.total_content_length), ("Aggregated", "", 140));
        let counts = |entry: &Entry| (entry.num_requests, entry.num_failures, entry.num_none_requests);
        assert_eq!((counts(total), counts(&report.entries[0])), ((16, 8, 8), (6, 0, 0)));
        // Two digits of the time in milliseconds.
        assert_eq!(total.response_times, [(0.12, 6), (5.0, 2)]);
        assert!((total.total_response_time - 2.0 * (0.12 * 2.0 + 0.121 + 5.0)).abs() < 0.01);
        let seconds: u64 = total.num_reqs_per_sec.values().sum();
        assert_eq!((seconds, total.num_fail_per_sec.values().sum()), (16, 8));
        let failures: Vec<_> =
            report.failures.values().map(|failure| (&*failure.name, &*failure.error, failure.occurrences)).collect();
        assert_eq!(failures, [("b", "no answer", 8)]);
        // Each is reported once.
        // The plugin comes late.
        figures.add(record(&[(100, 1)], &[]), 1, Instant::now());
        let next = figures.report();
        assert_eq!((next.total.num_requests, next.failures.len()), (1, 0));
        let sent = figures.plugin_report(false, 0, (5.0, Duration::from_secs(2)));
        assert_eq!((sent.master_s, sent.held_s), (5.0, 2.0));
        assert_eq!((sent.sequence, sent.record.latency.len(), &*sent.description), (0, 9, "{}"));
        let sum = |of: fn(&Second) -> u64| sent.seconds.values().map(of).sum::<u64>();
        assert_eq!((sum(|second| second.requests), sum(|second| second.errors)), (9, 8));
        let (next, sent) = (figures.report(), figures.plugin_report(true, 1, (6.0, Duration::ZERO)));
        assert_eq!((sent.sequence, sent.is_last, sent.in_flight, &*sent.description), (1, true, 1, "{}"));
        assert_eq!((next.total.num_requests, next.entries, next.total.min_response_time), (0, Vec::new(), None));
    }

    #[test]
    fn a_single_operation_has_its_row_as_well() {
        let mut figures = Figures::new(vec!["a".to_owned()], String::new());
        figures.add(record(&[(100, 3)], &[("no answer", 1)]), 1, Instant::now());
        let report = figures.report();
        assert_eq!((report.entries.len(), report.entries[0].num_requests, report.failures.len()), (1, 4, 1));
        assert_eq!(report.entries[0].num_reqs_per_sec, report.total.num_reqs_per_sec);
    }

    #[test]
    fn a_second_has_what_happened_in_it() {
        let mut figures = Figures::new(vec!["a".to_owned()], String::new());
        figures.calendar.start_s = 10.7;
        let begun = figures.calendar.start;
        for (millis, count) in [(400, 4), (1_400, 10), (2_400, 11), (2_900, 5)] {
            figures.add(record(&[(100, count)], &[]), 1, begun + Duration::from_millis(millis));
        }
        let seconds = figures.report().total.num_reqs_per_sec;
        assert_eq!(seconds, BTreeMap::from([(10, 4), (11, 10), (12, 11), (13, 5)]));
    }

    /// Each report once had a text of its own, with other numbers.
    #[test]
    fn a_reason_has_the_same_text_in_each_report() {
        let mut figures = Figures::new(vec!["a".to_owned(), "b".to_owned()], String::new());
        for order in 7..10 {
            let mut whole = record(&[], &[(&format!("order {order} is unknown"), 1)]);
            whole.parts = vec![record(&[], &[]), whole.clone()];
            figures.add(whole, 1, Instant::now());
            let failures: Vec<_> = figures.report().failures.into_values().collect();
            let failures: Vec<_> = failures.iter().map(|failure| (&*failure.error, failure.occurrences)).collect();
            assert_eq!(failures, [("order 7 is unknown", 1)]);
        }
    }

    #[test]
    fn what_no_plugin_takes_is_forgotten() {
        let mut figures = Figures::new(vec!["a".to_owned()], String::new());
        let begun = figures.calendar.start;
        for second in 0..=LONGEST_UNSENT as u64 + 2 {
            figures.add(record(&[(100, 1)], &[]), 1, begun + Duration::from_secs(second));
            figures.report();
        }
        let sent = figures.plugin_report(false, 0, (5.0, Duration::ZERO));
        // The plugin sees a gap.
        assert_eq!((sent.sequence, sent.record.requests, sent.seconds.len()), (1, 1, 1));
    }

    #[test]
    fn times_are_rounded_to_two_digits() {
        for (time, expected) in
            [(0.0, 0.0), (0.0123, 0.012), (0.126, 0.13), (9.96, 10.0), (12.4, 12.0), (1_260.0, 1_300.0)]
        {
            assert_eq!(rounded(time), expected, "{time}");
        }
    }
}
