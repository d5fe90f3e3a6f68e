//! Throughput, latency and errors over the course of a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::Second;
use crate::recorder::nanoseconds;
use crate::usage::Usage;
use castile_report::{Interval, Step};

/// A run of at least this length has intervals of a second; a shorter one has intervals of a tenth of a second.
const LONG: Duration = Duration::from_secs(10);
/// More intervals than a chart can show. When there are more, two are merged into one each.
const MAX_INTERVALS: usize = 600;

/// A run, interval by interval. All threads of the driver share it.
#[derive(Debug)]
pub struct Timeline(Mutex<Intervals>);

#[derive(Debug)]
struct Intervals {
    length: Duration,
    /// How many times the length of intervals has been doubled since the start.
    doubled: u32,
    slots: Vec<Slot>,
    /// The sum of all intervals. A live view asks for it while the threads of the driver wait for the lock.
    totals: Totals,
    /// How long the run took, once it is over.
    end: Option<Duration>,
}

/// What happened in a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Right answers.
    pub requests: u64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// The sum of the latencies of all right answers, in seconds.
    pub latency_s: f64,
    /// How many right answers had which latency, in nanoseconds with two significant digits.
    pub latencies: BTreeMap<u64, u64>,
}

/// One interval.
#[derive(Clone, Debug, Default)]
struct Slot {
    requests: u64,
    errors: u64,
    /// The sum of the latencies of all answers, in nanoseconds.
    total: u128,
    /// How many answers had which latency, in nanoseconds with two significant digits.
    latencies: BTreeMap<u64, u64>,
    users: Option<usize>,
    server_cpu_share: Option<f64>,
    server_memory: Option<u64>,
}

impl Timeline {
    /// Creates a timeline for a run of this length, if it is known.
    pub(crate) fn new(planned: Option<Duration>) -> Self {
        let length = match planned {
            Some(time) if time < LONG => Duration::from_millis(100),
            _ => Duration::from_secs(1),
        };
        Timeline(Mutex::new(Intervals { length, doubled: 0, slots: Vec::new(), totals: Totals::default(), end: None }))
    }

    /// Creates the timeline of a run of this length from what happened in each of its seconds.
    pub(crate) fn of(seconds: &BTreeMap<u64, Second>, length: Duration) -> Self {
        let timeline = Timeline::new(None);
        {
            let mut intervals = timeline.lock();
            for (number, second) in seconds {
                intervals.totals.requests += second.requests;
                intervals.totals.errors += second.errors;
                let slot = intervals.slot(usize::try_from(*number).unwrap_or(usize::MAX));
                slot.requests += second.requests;
                slot.errors += second.errors;
                slot.users = usize::try_from(second.users).ok().max(slot.users);
            }
        }
        timeline.finish(length);
        timeline
    }

    /// Returns the original length of an interval, before any doubling.
    pub(crate) fn tick(&self) -> Duration {
        let intervals = self.lock();
        intervals.length / 2u32.pow(intervals.doubled)
    }

    /// Records the state at the end of the interval of this number.
    pub(crate) fn sample(&self, number: usize, users: usize, usage: Option<Usage>, server_cpu_share: Option<f64>) {
        let mut intervals = self.lock();
        let slot = intervals.slot(number);
        slot.users = Some(users);
        slot.server_memory = usage.and_then(|usage| usage.memory).or(slot.server_memory);
        slot.server_cpu_share = mean(slot.server_cpu_share, server_cpu_share);
    }

    /// Records that the run is over, after this time.
    pub(crate) fn finish(&self, end: Duration) {
        let mut intervals = self.lock();
        let length = intervals.length.as_nanos().max(1);
        // A short last interval would be mostly noise, so it is merged into the one before.
        let most = (end.as_nanos() + length / 2) / length;
        while intervals.slots.len() as u128 > most.max(1) {
            if let (Some(mut late), Some(last)) = (intervals.slots.pop(), intervals.slots.last_mut()) {
                late.users = None;
                last.add(late);
            }
        }
        intervals.end = Some(end);
    }

    /// Returns the last complete interval, with right answers, errors and latency quantiles, for a live view.
    pub fn last(&self) -> Option<Interval> {
        let intervals = self.lock();
        intervals.series().nth_back(1)
    }

    /// Returns what happened so far, up to about the last second.
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// Returns the intervals so far.
    pub fn series(&self) -> Vec<Interval> {
        self.lock().series().collect()
    }

    /// Returns throughput and latency for each number of users: the curve of a ramp.
    pub(crate) fn curve(&self) -> Vec<Step> {
        let intervals = self.lock();
        let slots = intervals.slots.iter().zip(intervals.series());
        let answered = slots.filter(|(slot, _)| slot.requests > 0);
        let step = |(slot, interval): (&Slot, Interval)| Step {
            users: interval.users,
            rate: None,
            requests_per_second: interval.requests_per_second,
            mean_us: slot.total as f64 / slot.requests as f64 / 1e3,
            p99_us: interval.p99_us.unwrap_or_default(),
            errors: slot.errors,
            server_cpu_share: slot.server_cpu_share,
        };
        answered.map(step).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Intervals> {
        // There are only numbers in it. At worst, a panic leaves one interval incomplete.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intervals {
    fn slot(&mut self, number: usize) -> &mut Slot {
        let mut number = number >> self.doubled;
        while number >= MAX_INTERVALS {
            self.double();
            number /= 2;
        }
        if number >= self.slots.len() {
            self.slots.resize_with(number + 1, Slot::default);
        }
        &mut self.slots[number]
    }

    fn series(&self) -> impl DoubleEndedIterator<Item = Interval> {
        self.slots.iter().enumerate().map(|(number, slot)| {
            let from = self.length * number as u32;
            let is_last = number + 1 == self.slots.len();
            let to = self.end.filter(|_| is_last).unwrap_or(from + self.length);
            slot.interval(to, to.saturating_sub(from))
        })
    }

    fn double(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_iter();
        while let Some(mut slot) = slots.next() {
            if let Some(other) = slots.next() {
                slot.add(other);
            }
            self.slots.push(slot);
        }
        self.length *= 2;
        self.doubled += 1;
    }
}

impl Slot {
    fn add(&mut self, later: Slot) {
        self.requests += later.requests;
        self.errors += later.errors;
        self.total += later.total;
        for (latency, count) in later.latencies {
            *self.latencies.entry(latency).or_default() += count;
        }
        self.users = later.users.or(self.users);
        self.server_memory = later.server_memory.or(self.server_memory);
        self.server_cpu_share = mean(self.server_cpu_share, later.server_cpu_share);
    }

    fn interval(&self, end: Duration, length: Duration) -> Interval {
        Interval {
            at_s: end.as_secs_f64(),
            requests_per_second: self.requests as f64 / length.as_secs_f64().max(1e-9),
            errors: self.errors,
            p50_us: self.quantile(0.5),
            p99_us: self.quantile(0.99),
            users: self.users,
            server_cpu_share: self.server_cpu_share,
            server_rss_bytes: self.server_memory,
            server_cpu_us_per_request: None,
        }
    }

    fn quantile(&self, quantile: f64) -> Option<f64> {
        let rank = ((quantile * self.requests as f64).ceil() as u64).max(1);
        let mut count = 0;
        self.latencies.iter().find_map(|(latency, times)| {
            count += times;
            (count >= rank).then_some(*latency as f64 / 1e3)
        })
    }
}

fn mean(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a + b) / 2.0),
        (one, None) | (None, one) => one,
    }
}

/// One thread's part of the current interval.
#[derive(Debug)]
pub(crate) struct Window {
    start: Instant,
    length: Duration,
    number: usize,
    requests: u64,
    errors: u64,
    total: u128,
    latencies: Histogram<u64>,
    timeline: Arc<Timeline>,
}

impl Window {
    pub(crate) fn new(start: Instant, timeline: Arc<Timeline>) -> Self {
        // Two digits from 1 µs to an hour, in about 30 KB.
        let latencies = Histogram::new_with_bounds(1_000, 3_600_000_000_000, 2);
        Window {
            start,
            length: timeline.tick(),
            number: 0,
            requests: 0,
            errors: 0,
            total: 0,
            latencies: latencies.expect("bounds and digits are within those of a histogram"),
            timeline,
        }
    }

    pub(crate) fn answer(&mut self, now: Instant, latency: Duration) {
        self.move_to(now);
        self.requests += 1;
        self.total += latency.as_nanos();
        self.latencies.saturating_record(nanoseconds(latency));
    }

    pub(crate) fn error(&mut self, now: Instant) {
        self.move_to(now);
        self.errors += 1;
    }

    fn move_to(&mut self, now: Instant) {
        let number = number(now.saturating_duration_since(self.start), self.length);
        if number != self.number {
            self.close();
            self.number = number;
        }
    }

    /// Adds what was recorded to the timeline.
    pub(crate) fn close(&mut self) {
        let mut intervals = self.timeline.lock();
        let totals = &mut intervals.totals;
        totals.requests += self.requests;
        totals.errors += self.errors;
        totals.latency_s += self.total as f64 / 1e9;
        for value in self.latencies.iter_recorded() {
            *totals.latencies.entry(value.value_iterated_to()).or_default() += value.count_at_value();
        }
        let slot = intervals.slot(self.number);
        slot.requests += std::mem::take(&mut self.requests);
        slot.errors += std::mem::take(&mut self.errors);
        slot.total += std::mem::take(&mut self.total);
        for value in self.latencies.iter_recorded() {
            *slot.latencies.entry(value.value_iterated_to()).or_default() += value.count_at_value();
        }
        drop(intervals);
        self.latencies.reset();
    }
}

/// Returns the number of the interval that a time is in.
pub(crate) fn number(time: Duration, length: Duration) -> usize {
    (time.as_nanos() / length.as_nanos().max(1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_what_happened_in_them() {
        let timeline = Arc::new(Timeline::new(None));
        let start = Instant::now();
        let mut threads = [Window::new(start, timeline.clone()), Window::new(start, timeline.clone())];
        for thread in &mut threads {
            for millisecond in (0..3_000).step_by(10) {
                let latency = Duration::from_millis(if millisecond >= 1_000 { 20 } else { 10 });
                thread.answer(start + Duration::from_millis(millisecond), latency);
            }
            thread.error(start + Duration::from_millis(2_999));
            thread.close();
        }
        timeline.sample(1, 7, Some(Usage { cpu: Duration::ZERO, memory: Some(5) }), Some(0.5));
        let series = timeline.series();
        assert_eq!(series.iter().map(|interval| interval.at_s).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
        assert!(series.iter().all(|interval| interval.requests_per_second == 200.0));
        assert_eq!(series.iter().map(|interval| interval.errors).collect::<Vec<_>>(), [0, 0, 2]);
        let medians: Vec<_> = series.iter().map(|interval| interval.p50_us.unwrap() / 1e3).collect();
        for (median, expected) in medians.iter().zip([10.0, 20.0, 20.0]) {
            assert!((median - expected).abs() <= expected * 0.01, "{medians:?}");
        }
        assert_eq!(
            (series[1].users, series[1].server_cpu_share, series[1].server_rss_bytes),
            (Some(7), Some(0.5), Some(5))
        );
        assert_eq!(timeline.last().unwrap(), series[1]);
        // A short last interval is merged into the one before.
        timeline.finish(Duration::from_millis(2_400));
        let series = timeline.series();
        assert_eq!((series.len(), series[1].at_s, series[1].errors), (2, 2.4, 2));
        assert_eq!(series[1].requests_per_second, 400.0 / 1.4);
        assert_eq!(series[1].users, Some(7));
    }

    #[test]
    fn a_long_run_has_longer_intervals_and_not_more() {
        let timeline = Arc::new(Timeline::new(None));
        let start = Instant::now();
        let mut window = Window::new(start, timeline.clone());
        for second in 0..3_600 {
            window.answer(start + Duration::from_secs(second), Duration::from_millis(1));
        }
        window.close();
        let series = timeline.series();
        assert_eq!((series.len(), series[0].at_s), (450, 8.0));
        let requests: f64 = series.iter().map(|interval| interval.requests_per_second * 8.0).sum();
        assert_eq!(requests, 3_600.0);
        let totals = timeline.totals();
        assert_eq!((totals.requests, totals.errors, totals.latencies.values().sum()), (3_600, 0, 3_600_u64));
        assert!((totals.latency_s - 3.6).abs() < 1e-6, "{totals:?}");
    }
}
