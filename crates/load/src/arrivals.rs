//! Open workloads: requests arrive at a rate that may change over time.

use std::time::Duration;

use humantime::format_duration;

use crate::Division;
use castile_report::format::plain;

/// When requests arrive, independent of how fast the server answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// The rate over all users, stage by stage. The last stage's final rate continues until the run stops.
    pub stages: Vec<Stage>,
    /// How arrivals are spaced in time.
    pub spacing: Spacing,
    /// What happens to an arrival while every user has a request in flight.
    pub when_busy: WhenBusy,
}

/// A period in which the rate changes linearly. A ramp goes from one rate to another, a step has the same rate at both ends, and
/// a spike is a short step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How long the stage lasts.
    pub time: Duration,
    /// Requests per second at the beginning of the stage.
    pub from: f64,
    /// Requests per second at the end of the stage.
    pub to: f64,
}

/// How arrivals are spaced in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spacing {
    /// At equal distances.
    Even,
    /// At random, as requests of many independent people: a Poisson process.
    Poisson,
}

/// What happens to an arrival while every user has a request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenBusy {
    /// The arrival waits until a user is free. The waiting time is part of its latency.
    Wait,
    /// The arrival is dropped and counted.
    Drop,
}

impl Arrivals {
    /// Returns evenly spaced arrivals at one rate, which wait for free users.
    pub fn constant(per_second: f64) -> Self {
        let stage = Stage { time: Duration::ZERO, from: per_second, to: per_second };
        Arrivals { stages: vec![stage], spacing: Spacing::Even, when_busy: WhenBusy::Wait }
    }

    /// Returns the rate if it never changes.
    pub fn rate(&self) -> Option<f64> {
        let first = self.stages.first()?.from;
        self.stages.iter().all(|stage| stage.from == first && stage.to == first).then_some(first)
    }

    /// Returns the stages, unless they have one rate, and whether arrivals are random, in words.
    pub(crate) fn words(&self) -> Option<String> {
        let stages = self.stages.iter().filter(|_| self.rate().is_none()).map(|stage| {
            let (from, to, time) = (plain(stage.from), plain(stage.to), format_duration(stage.time));
            match (from == to, stage.time.is_zero()) {
                (true, true) => format!("{to} req/s"),
                (true, false) => format!("{to} req/s for {time}"),
                (false, _) => format!("{from} to {to} req/s over {time}"),
            }
        });
        let stages = stages.collect::<Vec<_>>().join(", then ");
        let words: Vec<_> = [&*stages, if self.spacing == Spacing::Poisson { "at random" } else { "" }]
            .into_iter()
            .filter(|words| !words.is_empty())
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns the total time of all stages.
    pub fn planned(&self) -> Duration {
        self.stages.iter().map(|stage| stage.time).sum()
    }

    /// Returns the time by which `count` arrivals are expected, or `None` if there are never that many.
    fn time_of(&self, count: f64) -> Option<f64> {
        let (mut time, mut left, mut last) = (0.0, count, 0.0);
        for stage in &self.stages {
            let expected = stage.expected();
            if left < expected {
                return Some(time + stage.time_of(left));
            }
            (time, left, last) = (time + stage.time.as_secs_f64(), left - expected, stage.to);
        }
        match (left, last) {
            (0.0, _) => Some(time),
            (_, 0.0) => None,
            _ => Some(time + left / last),
        }
    }

    /// Returns how many arrivals are expected by a time in seconds.
    fn count_by(&self, time: f64) -> f64 {
        let (mut left, mut count, mut last) = (time, 0.0, 0.0);
        for stage in &self.stages {
            let length = stage.time.as_secs_f64();
            if left < length {
                return count + left * (stage.from + (stage.to - stage.from) * left / length / 2.0);
            }
            (left, count, last) = (left - length, count + stage.expected(), stage.to);
        }
        count + left * last
    }
}

impl Stage {
    fn expected(&self) -> f64 {
        (self.from + self.to) / 2.0 * self.time.as_secs_f64()
    }

    /// Returns the time within the stage by which `count` arrivals are expected. That is where the area under the line is
    /// `count`. The stage must have that many.
    fn time_of(&self, count: f64) -> f64 {
        let slope = (self.to - self.from) / self.time.as_secs_f64();
        let root = (self.from * self.from + 2.0 * slope * count).max(0.0).sqrt();
        // The usual form of the solution would divide by the slope, which may be 0.
        if count == 0.0 { 0.0 } else { 2.0 * count / (self.from + root) }
    }
}

/// Returns a value of the exponential distribution with mean 1.
pub(crate) fn exponential(random: &mut fastrand::Rng) -> f64 {
    // The random number is less than 1, so the logarithm is finite.
    -(1.0 - random.f64()).ln()
}

/// A gap of at least this many arrivals is dropped by arithmetic; a smaller one is dropped arrival by arrival.
const MANY: f64 = 1_000.0;

/// How far a run has gone through its arrivals.
#[derive(Debug)]
pub(crate) struct Course {
    arrivals: Arrivals,
    random: fastrand::Rng,
    /// The position of the next arrival on a time axis where the rate is 1. Distances on this axis are even or random; the rate
    /// stretches them to real time.
    position: f64,
    dropped: u64,
}

impl Course {
    /// Creates the course of a part of these arrivals. Even arrivals of all parts together are those of the whole. Random ones are
    /// independent, so those of all parts together are as random as those of the whole.
    pub(crate) fn new(arrivals: &Arrivals, seed: u64, Division { number, count }: Division) -> Self {
        let parts = count as f64;
        let share = |stage: &Stage| Stage { from: stage.from / parts, to: stage.to / parts, ..*stage };
        let arrivals = Arrivals { stages: arrivals.stages.iter().map(share).collect(), ..*arrivals };
        // Seeds that differ by one would give similar sequences.
        let seed = seed.wrapping_add((number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut random = fastrand::Rng::with_seed(seed);
        let position = match arrivals.spacing {
            Spacing::Even => number as f64 / parts,
            Spacing::Poisson => exponential(&mut random),
        };
        Course { arrivals, random, position, dropped: 0 }
    }

    /// Returns when the next arrival is due, from the start of the run.
    pub(crate) fn next(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.arrivals.time_of(self.position)?).ok()
    }

    pub(crate) fn advance(&mut self) {
        self.position += match self.arrivals.spacing {
            Spacing::Even => 1.0,
            Spacing::Poisson => exponential(&mut self.random),
        };
    }

    /// Returns whether arrivals wait for free users.
    pub(crate) fn waits(&self) -> bool {
        self.arrivals.when_busy == WhenBusy::Wait
    }

    /// Drops the next arrival. It is counted as dropped if `counts` is true.
    pub(crate) fn drop_one(&mut self, counts: bool) {
        self.dropped += u64::from(counts);
        self.advance();
    }

    /// Drops arrivals up to a time, except the last few, which are left for [`Course::drop_one`]. Either all of them count as
    /// dropped or none. At a very high rate, dropping arrivals one by one would take longer than the time they span.
    pub(crate) fn drop_until(&mut self, time: Duration, counts: bool) {
        let gap = self.arrivals.count_by(time.as_secs_f64()) - self.position;
        if gap < MANY {
            return;
        }
        // Random arrivals beyond a time are distributed as beyond any other time. For so many arrivals, the actual number is
        // close to the expected number.
        let count = (gap - MANY / 2.0).floor();
        self.position += count;
        self.dropped += if counts { count as u64 } else { 0 };
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns how many arrivals, from the next one, are due between two times. For random arrivals this is the expected number.
    pub(crate) fn due_between(&self, from: Duration, to: Duration) -> u64 {
        let first = self.position.max(self.arrivals.count_by(from.as_secs_f64()));
        let count = self.arrivals.count_by(to.as_secs_f64()) - first;
        match self.arrivals.spacing {
            // Rate times time should be whole here, but rounding may make it slightly larger.
            Spacing::Even => (count - 1e-6).ceil() as u64,
            Spacing::Poisson => count.round() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, count: usize) -> Vec<f64> {
        let mut course = Course::new(&arrivals, 5, Division::default());
        let mut next = || {
            let due = course.next().unwrap().as_secs_f64();
            course.advance();
            due
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn a_profile_has_as_many_arrivals_as_lie_under_it() {
        let seconds = Duration::from_secs;
        let stages = vec![
            Stage { time: seconds(10), from: 0.0, to: 100.0 },
            Stage { time: seconds(5), from: 100.0, to: 100.0 },
            Stage { time: seconds(1), from: 1_000.0, to: 1_000.0 },
            Stage { time: seconds(10), from: 100.0, to: 0.0 },
        ];
        for spacing in [Spacing::Even, Spacing::Poisson] {
            let profile = Arrivals { stages: stages.clone(), spacing, when_busy: WhenBusy::Wait };
            assert_eq!((profile.planned(), profile.rate()), (seconds(26), None));
            let times = times(profile.clone(), 2_300);
            assert!(times.is_sorted());
            for (from, to, expected) in
                [(0.0, 5.0, 125.0), (0.0, 10.0, 500.0), (10.0, 15.0, 500.0), (15.0, 16.0, 1_000.0)]
            {
                let found = times.iter().filter(|time| (from..to).contains(*time)).count() as f64;
                // Four standard deviations of a Poisson distribution.
                let tolerance: f64 = if spacing == Spacing::Even { 1.0 } else { 4.0 * f64::sqrt(expected) };
                assert!((found - expected).abs() <= tolerance, "{spacing:?} {from}..{to}: {found}");
            }
        }
        // A profile that ends at rate 0 has no further arrivals.
        let profile = Arrivals { stages, spacing: Spacing::Even, when_busy: WhenBusy::Wait };
        let mut course = Course::new(&profile, 5, Division::default());
        let count = std::iter::from_fn(|| course.next().inspect(|_| course.advance())).count();
        assert_eq!(count, 2_501);
    }

    /// Processes with rates that change once sent at the same times, and not in turn.
    #[test]
    fn parts_of_arrivals_are_the_arrivals() {
        let arrivals = |spacing| Arrivals {
            stages: vec![
                Stage { time: Duration::from_secs(10), from: 0.0, to: 60.0 },
                Stage { time: Duration::from_secs(10), from: 60.0, to: 60.0 },
            ],
            spacing,
            when_busy: WhenBusy::Wait,
        };
        for count in [1, 2, 3, 7] {
            let times = |spacing| {
                let of = |number| {
                    let mut course = Course::new(&arrivals(spacing), 5, Division { number, count });
                    let mut times = Vec::new();
                    while let Some(due) = course.next().filter(|due| due.as_secs() < 20) {
                        times.push(due.as_secs_f64());
                        course.advance();
                    }
                    times
                };
                let mut all: Vec<f64> = (0..count).flat_map(of).collect();
                all.sort_by(f64::total_cmp);
                all
            };
            let even = times(Spacing::Even);
            let whole = super::tests::times(arrivals(Spacing::Even), even.len());
            assert_eq!(even.len(), 900);
            assert!(even.iter().zip(whole).all(|(one, other)| (one - other).abs() < 1e-6), "{count}");
            let random = times(Spacing::Poisson);
            // Four standard deviations.
            assert!(random.len().abs_diff(900) <= 120, "{count}: {}", random.len());
            assert!(random.windows(2).all(|pair| pair[0] < pair[1]), "{count}: two parts are the same");
        }
    }

    #[test]
    fn distances_of_a_poisson_process_are_exponential() {
        let arrivals = Arrivals { spacing: Spacing::Poisson, ..Arrivals::constant(100.0) };
        assert_eq!(arrivals.rate(), Some(100.0));
        let times = times(arrivals.clone(), 20_001);
        let distances: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = distances.iter().sum::<f64>() / 20_000.0;
        assert!((mean - 0.01).abs() < 0.01 * 0.03, "{mean}");
        // The share of distances longer than the mean is 1/e.
        let long = distances.iter().filter(|distance| **distance > 0.01).count() as f64 / 20_000.0;
        assert!((long - 0.368).abs() < 0.015, "{long}");
        assert_eq!(times[..100], super::tests::times(arrivals, 100)[..], "a seed gives the same again");
    }

    #[test]
    fn the_remaining_arrivals_of_a_course_are_known() {
        let mut course = Course::new(&Arrivals::constant(0.3), 5, Division::default());
        let due = |course: &Course, from, to| course.due_between(Duration::from_secs(from), Duration::from_secs(to));
        assert_eq!((due(&course, 0, 10), due(&course, 0, 11)), (3, 4));
        course.advance();
        assert_eq!((due(&course, 0, 11), due(&course, 10, 20)), (3, 3));
    }
}
