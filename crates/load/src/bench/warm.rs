//! Warms up targets that get faster under load, before their first figures.

use std::time::{Duration, Instant};

use super::load::{Driver, Load};
use crate::{Endpoint, Error, Expected, Interrupt, Pace, Plan, Progress, Requests, Run, Server, Start, Stop};

/// The most connections that a warm-up uses.
const MAX_CONNECTIONS: usize = 32;

/// How a target is warmed up: in laps over all cases that it serves. The laps take at least the given time. Then they continue
/// until no case was answered more than a twentieth faster than in its best lap, for at most four times that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warmup {
    least: Duration,
}

/// The result of a warm-up.
#[derive(Debug, Default)]
pub(super) struct Warmed {
    laps: u32,
    /// Whether the target still got faster at the end.
    pub(super) rising: bool,
    pub(super) errors: u64,
    /// The first error, in words.
    pub(super) message: Option<String>,
}

impl Warmup {
    /// A case still gets faster if its rate is more than this many times that of its best lap.
    pub const RISE: f64 = 1.05;
    /// The longest warm-up, as a multiple of the given time.
    pub const TIME_FACTOR: u32 = 4;

    /// Returns a warm-up that takes at least this time.
    pub fn of(least: Duration) -> Self {
        Warmup { least }
    }

    /// Returns how long the warm-up takes at least for a target that serves these loads.
    pub fn planned<'a>(&self, loads: impl IntoIterator<Item = &'a Load>) -> Duration {
        match cases(loads.into_iter().map(|load| (load, ()))).len() {
            0 => Duration::ZERO,
            cases => self.least.max(self.slice(cases) * self.laps(cases) * cases as u32),
        }
    }

    /// Returns how long each case is driven in a lap over `cases` cases. It is short enough for some laps in the given time. It is
    /// at most a twelfth of that time, for few cases, and at least a sixtieth, for many: a second of a minute.
    fn slice(&self, cases: usize) -> Duration {
        let quarter = self.least / (4 * cases.max(1) as u32);
        quarter.clamp(self.least / 60, self.least / 12)
    }

    /// Returns the least number of laps. It is at least two, since one lap shows no change.
    fn laps(&self, cases: usize) -> u32 {
        let lap = self.slice(cases).as_secs_f64() * cases as f64;
        // Rounding errors must not add a lap.
        let laps = (self.least.as_secs_f64() / lap.max(f64::MIN_POSITIVE) - 1e-3).ceil();
        (laps as u32).max(2)
    }
}

impl Warmup {
    /// Warms up the target of this name, which answers the cases at these endpoints.
    pub(super) async fn warm(
        &self,
        name: &str,
        mut server: Option<&mut Server>,
        cases: &[(&Load, Endpoint)],
        interrupt: &Interrupt,
        progress: &mut Progress,
    ) -> Result<Warmed, Error> {
        let slice = self.slice(cases.len());
        let least = self.laps(cases.len());
        let most = (self.least * Self::TIME_FACTOR).max(slice * cases.len() as u32 * 3);
        let begun = Instant::now();
        let expected: Vec<Expected> = cases.iter().map(|(load, _)| Expected::of(&load.case)).collect();
        let mut best = vec![0.0; cases.len()];
        let mut warmed = Warmed { rising: true, ..Warmed::default() };
        while warmed.rising && begun.elapsed() < most {
            warmed.laps += 1;
            let mut rising = warmed.laps < least;
            for (((load, endpoint), expected), best) in cases.iter().zip(&expected).zip(&mut best) {
                if interrupt.is_set() || begun.elapsed() >= most {
                    return Ok(warmed);
                }
                progress.warm_up(&load.case.suite, &load.case.name, name, warmed.laps);
                let planned = if warmed.laps <= least { slice } else { Duration::ZERO };
                let run = Run::start(&load.case, endpoint, &plan(load, slice), expected)?;
                let outcome = progress.watch(run, planned, interrupt).await?;
                if let Some(server) = &mut server {
                    server.check_running()?;
                }
                let rate = outcome.requests_per_second();
                rising |= rises(rate, best);
                warmed.errors += outcome.record.errors;
                warmed.message = warmed.message.take().or(outcome.first_error);
            }
            warmed.rising = rising;
        }
        Ok(warmed)
    }
}

/// Returns whether a rate exceeds the best rate of the laps before, and updates the best rate.
fn rises(rate: f64, best: &mut f64) -> bool {
    let rises = rate > *best * Warmup::RISE;
    *best = best.max(rate);
    rises
}

/// Returns a plan with the load's number of users, who send without pauses.
fn plan(load: &Load, slice: Duration) -> Plan {
    Plan {
        pace: Pace::Closed,
        start: Start::Together,
        warmup: Duration::ZERO,
        stop: Stop::after(slice),
        connections: load.plan.connections.clamp(1, MAX_CONNECTIONS),
        ..load.plan.clone()
    }
}

/// Returns each case of some loads once, with its value. The raw case is preferred to the typed one, since the driver's own client
/// puts less load on the machine.
pub(super) fn cases<'a, T>(loads: impl Iterator<Item = (&'a Load, T)>) -> Vec<(&'a Load, T)> {
    let rank = |load: &Load| {
        let is_typed = matches!(load.case.requests, Requests::Typed { .. });
        (is_typed, load.driver != Driver::Own, !load.plan.keep_alive, load.plan.pace != Pace::Closed)
    };
    let mut cases: Vec<(&Load, T)> = Vec::new();
    for (load, with) in loads {
        let name = |load: &Load| (load.case.path.clone(), load.case.name.clone());
        match cases.iter_mut().find(|(known, _)| name(known) == name(load)) {
            Some(known) if rank(load) < rank(known.0) => *known = (load, with),
            Some(_) => {}
            None => cases.push((load, with)),
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_fill_the_least_time_and_are_two_at_least() {
        let warmup = Warmup::of(Duration::from_secs(60));
        for (cases, slice, laps) in
            [(1, 5_000, 12), (3, 5_000, 4), (6, 2_500, 4), (15, 1_000, 4), (30, 1_000, 2), (90, 1_000, 2)]
        {
            assert_eq!((warmup.slice(cases).as_millis(), warmup.laps(cases)), (slice, laps), "{cases} cases");
        }
    }

    #[test]
    fn a_rate_rises_above_the_best_before() {
        let mut best = 0.0;
        let rates = [100.0, 104.0, 106.0, 90.0, 100.0, 112.0];
        let risen: Vec<bool> = rates.iter().map(|rate| rises(*rate, &mut best)).collect();
        assert_eq!(risen, [true, false, false, false, false, true]);
    }
}
