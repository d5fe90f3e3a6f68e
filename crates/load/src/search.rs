//! Searches for the load that a server can take, step by step.

use std::fmt;

use crate::{Arrivals, Pace, Plan};
use castile_report::{Criterion, Row, SearchEnd};

/// The search ends when the lowest bad load is at most this many times the highest good load.
const CLOSE: f64 = 1.05;
/// No load is tried that is less than this part of the first one.
const LEAST: f64 = 1.0 / 64.0;

/// Raises the load step by step; each step is a separate run.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The property of the load that is raised.
    pub axis: Axis,
    /// The load of the first step.
    pub first: f64,
    /// The factor from each step to the next; above 1.
    pub growth: f64,
    /// The highest load to try.
    pub max: f64,
    /// What the search looks for.
    pub goal: Goal,
}

/// What a search raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The number of users.
    Users,
    /// The rate of an open workload.
    Rate,
}

/// What a search looks for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Goal {
    /// The highest throughput. The search ends after two successive steps that each exceed the best throughput before by less
    /// than this share, such as 0.05 for 5 %.
    Peak {
        /// The least gain.
        gain: f64,
    },
    /// The highest load at which this criterion does not hold, such as `p99>50ms`.
    Until(Criterion),
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Peak { .. } => f.write_str("increased until throughput stops growing"),
            Goal::Until(criterion) => write!(f, "increased to the highest load without {criterion}"),
        }
    }
}

/// A step that was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchStep {
    /// The load.
    pub(crate) load: f64,
    /// Whether it was good: throughput grew, or the criterion does not hold.
    pub(crate) good: bool,
}

impl Search {
    /// Returns the load to try next; `None` if the search is over.
    pub(crate) fn next(&self, tried: &[SearchStep]) -> Option<f64> {
        let Some(last) = tried.last() else {
            return Some(self.whole(self.first.min(self.max)));
        };
        let good = tried.iter().filter(|step| step.good).map(|step| step.load).fold(0.0, f64::max);
        let bad = tried.iter().filter(|step| !step.good).map(|step| step.load).fold(f64::INFINITY, f64::min);
        let next = match self.goal {
            Goal::Peak { .. } if tried.len() >= 2 && tried.iter().rev().take(2).all(|step| !step.good) => return None,
            // The last step is rounded, so it may be slightly below the highest load.
            Goal::Peak { .. } if self.max / last.load <= CLOSE => return None,
            Goal::Peak { .. } => self.grown(last.load),
            Goal::Until(_) if bad.is_infinite() => self.grown(good),
            Goal::Until(_) if good == 0.0 => bad / self.growth,
            Goal::Until(_) if bad / good <= CLOSE => return None,
            Goal::Until(_) => (good * bad).sqrt(),
        };
        let next = self.whole(next.min(self.max));
        let again = tried.iter().any(|step| step.load == next);
        (!again && next >= self.first * LEAST).then_some(next)
    }

    /// Returns whether a step was good, compared with those before it.
    pub(crate) fn is_good(&self, row: &Row, before: &[Row]) -> bool {
        match self.goal {
            // A step with errors is never good.
            Goal::Peak { gain } => {
                let best = before.iter().map(|row| row.requests_per_second.mean).fold(0.0, f64::max);
                row.errors == 0 && row.requests_per_second.mean > best * (1.0 + gain)
            }
            // A rate that was not reached doesn't count.
            Goal::Until(criterion) => {
                let figure = criterion.metric.of(row);
                row.unsent + row.dropped <= row.requests / 100 && figure.is_some_and(|figure| !criterion.holds(figure))
            }
        }
    }

    /// Returns the index of the step that meets the goal best, or of the first step if none does.
    pub(crate) fn found(&self, tried: &[SearchStep], rows: &[Row]) -> usize {
        // Steps that failed rank last, then those that were not good.
        let rank = |index: usize| match self.goal {
            Goal::Peak { .. } => (rows[index].errors == 0, rows[index].requests_per_second.mean),
            Goal::Until(_) => (tried[index].good, tried[index].load),
        };
        (1..rows.len()).fold(0, |found, index| if rank(index) > rank(found) { index } else { found })
    }

    /// Returns how the step that was found differs from the goal, if it does.
    pub(crate) fn end(&self, tried: &[SearchStep], found: usize) -> Option<SearchEnd> {
        let step = tried.get(found)?;
        match self.goal {
            Goal::Until(_) if !step.good => Some(SearchEnd::NoneMet),
            _ if step.good && self.whole(self.max) <= step.load => Some(SearchEnd::AtMost),
            _ => None,
        }
    }

    /// Returns the plan of a step.
    pub(crate) fn plan(&self, plan: &Plan, load: f64) -> Plan {
        match self.axis {
            Axis::Users => Plan { connections: load as usize, ..plan.clone() },
            Axis::Rate => {
                let constant = Arrivals::constant(load);
                let arrivals = match &plan.pace {
                    Pace::Arrivals(arrivals) => Arrivals { stages: constant.stages, ..arrivals.clone() },
                    Pace::Closed | Pace::Think(_) | Pace::Every(_) => constant,
                };
                Plan { pace: Pace::Arrivals(arrivals), ..plan.clone() }
            }
        }
    }

    /// Returns the largest number of steps while the load grows.
    pub fn steps(&self) -> u32 {
        let steps = (self.max / self.first).ln() / self.growth.ln();
        if steps.is_finite() && steps > 0.0 { steps.ceil() as u32 + 1 } else { 1 }
    }

    fn grown(&self, load: f64) -> f64 {
        let least = if self.axis == Axis::Users { load + 1.0 } else { load };
        least.max(load * self.growth)
    }

    fn whole(&self, load: f64) -> f64 {
        match self.axis {
            Axis::Users => load.round().max(1.0),
            Axis::Rate => load,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the loads that are tried, if `good` decides whether a load is good.
    fn tries(search: &Search, good: impl Fn(f64, &[SearchStep]) -> bool) -> Vec<SearchStep> {
        let mut tried = Vec::new();
        while let Some(load) = search.next(&tried) {
            let good = good(load, &tried);
            tried.push(SearchStep { load, good });
            assert!(tried.len() < 50, "it ends");
        }
        tried
    }

    fn loads(tried: &[SearchStep]) -> Vec<f64> {
        tried.iter().map(|step| step.load).collect()
    }

    #[test]
    fn a_peak_is_found_where_throughput_stops_growing() {
        let search =
            Search { axis: Axis::Users, first: 100.0, growth: 2.0, max: 10_000.0, goal: Goal::Peak { gain: 0.05 } };
        // Throughput grows with the number of users up to 1,000.
        let grows = |load: f64, before: &[SearchStep]| {
            let best = before.iter().map(|step| step.load.min(1_000.0)).fold(0.0, f64::max);
            load.min(1_000.0) > best * 1.05
        };
        assert_eq!(loads(&tries(&search, grows)), [100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0, 6_400.0]);
        let search = Search { max: 500.0, ..search };
        assert_eq!(loads(&tries(&search, grows)), [100.0, 200.0, 400.0, 500.0]);
        assert_eq!(search.steps(), 4);
        // Rounded steps end slightly below the highest load.
        let search = Search { first: 1_000.0, growth: 2_f64.sqrt(), max: 32_000.0, ..search };
        assert_eq!(tries(&search, |_, _| true).len(), search.steps() as usize);
    }

    #[test]
    fn the_highest_load_that_meets_a_target_is_closed_in_on() {
        let goal = Goal::Until("p99>50ms".parse().unwrap());
        let search = Search { axis: Axis::Rate, first: 100.0, growth: 2.0, max: 1e6, goal };
        for limit in [130.0, 1_000.0, 70_000.0, 90.0, 3.0] {
            let tried = tries(&search, |load, _| load <= limit);
            let found = tried.iter().filter(|step| step.good).map(|step| step.load).fold(0.0, f64::max);
            assert!(found <= limit && found >= limit / CLOSE, "{found} for {limit}");
        }
        let hopeless = tries(&search, |_, _| false);
        assert!(hopeless.len() <= 7, "{hopeless:?}");
        let endless = tries(&search, |_, _| true);
        assert_eq!(endless.last().map(|step| step.load), Some(1e6));
    }

    #[test]
    fn users_are_whole() {
        let goal = Goal::Until("p99>50ms".parse().unwrap());
        let search = Search { axis: Axis::Users, first: 1.0, growth: 1.5, max: 100.0, goal };
        let tried = tries(&search, |load, _| load <= 7.0);
        assert!(tried.iter().all(|step| step.load.fract() == 0.0), "{tried:?}");
        assert!(
            tried.contains(&SearchStep { load: 7.0, good: true })
                && tried.contains(&SearchStep { load: 8.0, good: false })
        );
    }
}
