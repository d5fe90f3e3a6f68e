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

    /// Returns the shortest length of a slice, if the runs are cut into slices.
    pub fn slices(&self) -> Option<Duration> {
        let Plan { pace, start, stop, .. } = &self.plan;
        let is_closed = *pace == Pace::Closed && *start == Start::Together;
        let is_timed = stop.after.is_some() && stop.requests.is_none() && self.search.is_none();
        self.slice.filter(|_| is_closed && is_timed && self.driver == Driver::Own)
    }
}
