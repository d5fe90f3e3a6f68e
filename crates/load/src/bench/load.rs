//! A case and how it is driven.

use std::time::Duration;

use crate::{Case, Pace, Plan, Search, Start};

/// A case and how it is driven. It becomes one row for each target.
#[derive(Clone, Debug)]
pub struct Load {
    /// What is sent.
    pub case: Case,
    /// How a run is driven.
    pub plan: Plan,
    /// How many runs are made against each target.
    pub runs: usize,
    /// How many of the runs, from the first, are left out of the figures.
    pub discard: usize,
    /// The shortest length of a slice, if targets take turns within a run. Slices need a closed workload for a given time, in which each
    /// connection sends as fast as it is answered. Connections stay open between slices. A slower case has longer slices.
    pub slice: Option<Duration>,
    /// The search, if the load is to be found. Each step of a search is one run; `runs` is ignored then.
    pub search: Option<Search>,
    /// Which driver sends the requests.
    pub driver: Driver,
    /// Which targets it is driven against.
    pub against: Against,
}

/// The targets that a load is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// All targets, including the HTTP floor.
    #[default]
    All,
    /// All targets except the floor.
    Servers,
    /// Only the floor.
    Floor,
}

/// The driver that makes the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Driver {
    /// The load kit.
    #[default]
    Own,
    /// `ab` of the Apache HTTP server, with which some benchmarks were published. It sends one message repeatedly over the plan's number of
    /// connections, for the plan's number of requests.
    ApacheBench,
}

impl Load {
    /// Returns a load that is driven once by the load kit, with the floor as a further target.
    pub fn new(case: Case, plan: Plan) -> Self {
        Load { case, plan, runs: 1, discard: 0, slice: None, search: None, driver: Driver::Own, against: Against::All }
    }

    /// Returns how long the load takes against one target, if that is planned.
    pub fn planned(&self) -> Duration {
        let runs = match &self.search {
            Some(search) => search.steps(),
            None => u32::try_from(self.runs).unwrap_or(u32::MAX),
        };
        self.plan.planned().saturating_mul(runs)
    }

    /// Describes the pace of a plan of this load, and what the search for the load looks for, in words; `None` if each user sends as fast as
    /// it is answered.
    pub(super) fn rhythm(&self, plan: &Plan) -> Option<String> {
        let goal = self.search.as_ref().map(|search| search.goal.to_string());
        let words: Vec<_> = plan.rhythm().into_iter().chain(goal).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns the shortest length of a slice, if the runs are cut into slices.
    pub fn slices(&self) -> Option<Duration> {
        let Plan { pace, start, stop, .. } = &self.plan;
        let is_closed = *pace == Pace::Closed && *start == Start::Together;
        let is_timed = stop.after.is_some() && stop.requests.is_none() && self.search.is_none();
        self.slice.filter(|_| is_closed && is_timed && self.driver == Driver::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Axis, Goal, Requests, Spacing, Stage, Think};

    #[test]
    fn a_rhythm_is_described_in_words() {
        let milliseconds = Duration::from_millis;
        let case = Case {
            suite: "tests".into(),
            name: "ping".into(),
            style: None,
            path: "/".into(),
            requests: Requests::Raw(Vec::new()),
        };
        let of = |pace: Pace, start: Start, goal: Option<Goal>| {
            let search = goal.map(|goal| Search { axis: Axis::Users, first: 1.0, growth: 2.0, max: 8.0, goal });
            let plan = Plan { pace, start, ..Plan::default() };
            let load = Load { search, ..Load::new(case.clone(), plan.clone()) };
            load.rhythm(&plan).unwrap_or_default()
        };
        let together = Start::Together;
        assert_eq!(of(Pace::Closed, together, None), "");
        let think = Pace::Think(Think::Fixed(milliseconds(1_500)));
        assert_eq!(
            of(think, Start::PerSecond(25.0 / 60.0), None),
            "each thinks for 1s 500ms before a request, 25 more per minute"
        );
        let think = Pace::Think(Think::Uniform(milliseconds(10), milliseconds(30)));
        let until = Goal::Until("p99>50ms".parse().unwrap());
        let expected =
            "each thinks for 10ms to 30ms before a request, increased to the highest load without p99 > 50.0 ms";
        assert_eq!(of(think, together, Some(until)), expected);
        let expected = "each sends a request every 50ms, started one after another within 40ms";
        assert_eq!(of(Pace::Every(milliseconds(50)), Start::Within(milliseconds(40)), None), expected);
        let peak = Goal::Peak { gain: 0.05 };
        assert_eq!(of(Pace::Closed, together, Some(peak)), "increased until throughput stops growing");
        let mut arrivals = Arrivals::constant(200.0);
        assert_eq!(of(Pace::Arrivals(arrivals.clone()), together, None), "");
        arrivals.stages.insert(0, Stage { time: milliseconds(50), from: 0.0, to: 200.0 });
        arrivals.spacing = Spacing::Poisson;
        let expected = "0 to 200 req/s over 50ms, then 200 req/s, at random";
        assert_eq!(of(Pace::Arrivals(arrivals), together, None), expected);
    }
}
