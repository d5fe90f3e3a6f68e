//! Drives one load against one target, run by run or slice by slice.

use std::time::{Duration, Instant};

use super::description::Described;
use super::limits::is_disturbed;
use super::load::{Driver, Load};
use super::tally::{Driven, Slice, Tally, step};
use super::target::Target;
use crate::placement::Cores;
use crate::run::Crew;
use crate::search::SearchStep;
use crate::usage::Usage;
use crate::{
    Axis, End, Endpoint, Error, Expected, Interrupt, Outcome, Placement, Plan, Progress, Search, Start, Stop, ab, usage,
};
use castile_report::{Pass, Row};

/// Connections that were idle for longer are opened again, since some servers close idle connections.
const REST: Duration = Duration::from_secs(2);
/// How long after the last answer the server's CPU time is read. The system accounts a thread's time in full only when the thread
/// sleeps.
const SETTLE: Duration = Duration::from_millis(1);

/// One load against one target.
pub(super) struct Participant<'a> {
    pub(super) load: &'a Load,
    pub(super) target: &'a mut Target,
    pub(super) placement: &'a Placement,
    endpoint: Endpoint,
    interrupt: &'a Interrupt,
    expected: Expected,
    /// How many more runs may be repeated.
    repeats: usize,
    /// When repetitions must be over.
    repeats_until: Instant,
    tally: Tally,
    passes: Vec<Pass>,
    /// The users of a run that is cut into slices, and when they had their last answer.
    crew: Option<(Crew, Instant)>,
    slice: Option<Slice>,
    slices: Vec<Slice>,
}

/// What is the same for all targets in a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The run, counted from 0.
    pub(super) run: usize,
    pub(super) length: Duration,
    /// How much of the length is part of the planned total time.
    pub(super) planned: Duration,
    /// Whether the driver runs on the server's cores for half of the slice.
    pub(super) is_shared: bool,
}

impl<'a> Participant<'a> {
    pub(super) fn new(
        load: &'a Load,
        target: &'a mut Target,
        endpoint: Endpoint,
        placement: &'a Placement,
        interrupt: &'a Interrupt,
        (repeats, repeats_until): (usize, Instant),
    ) -> Self {
        Participant {
            load,
            target,
            placement,
            endpoint,
            interrupt,
            expected: Expected::of(&load.case),
            repeats,
            repeats_until,
            tally: Tally::default(),
            passes: Vec::new(),
            crew: None,
            slice: None,
            slices: Vec::new(),
        }
    }

    /// Makes one run, and repeats it if other processes took the cores meanwhile. Returns `None` if an interruption left nothing
    /// useful.
    pub(super) async fn drive(
        &mut self,
        plan: &Plan,
        number: usize,
        progress: &mut Progress,
    ) -> Result<Option<Driven>, Error> {
        let Some(outcome) = self.run(plan, plan.planned(), number, progress).await? else { return Ok(None) };
        // A ramp is not repeated: it may take an hour.
        let is_ramp = matches!(plan.start, Start::PerSecond(_));
        if !is_disturbed(outcome.others) || is_ramp || outcome.ended.is_some() || !self.repeats(plan.planned()) {
            return Ok(Some(Driven::whole(outcome)));
        }
        progress.again(plan.planned());
        let again = self.run(plan, plan.planned(), number, progress).await?;
        let Some(again) = again.filter(|again| again.ended.is_none()) else { return Ok(Some(Driven::whole(outcome))) };
        let (kept, left_out) = if again.others <= outcome.others { (again, outcome) } else { (outcome, again) };
        self.tally.warm_up(left_out.record);
        Ok(Some(Driven::whole(kept)))
    }

    async fn run(
        &mut self,
        plan: &Plan,
        planned: Duration,
        number: usize,
        progress: &mut Progress,
    ) -> Result<Option<Outcome>, Error> {
        let Load { case, driver, .. } = self.load;
        if self.interrupt.is_set() {
            return Ok(None);
        }
        if number == 1 {
            self.forget_peak();
        }
        progress.begin(&case.suite, &case.name, &self.target.name, number);
        let server = self.target.process().map(|process| (process, self.placement));
        let outcome = match driver {
            Driver::Own => {
                let crew = Crew::start(case, &self.endpoint, plan, &self.expected)?;
                // One request is sent first to a service that nobody has tested yet, to see whether there is anything to measure.
                let first = match case.is_scripted() && number == 1 {
                    false => None,
                    true => tokio::select! {
                        first = crew.first() => first?,
                        () = self.interrupt.wait() => return Ok(None),
                    },
                };
                let mut run = crew.run(plan.warmup, plan.stop, None, first);
                if let Some((process, placement)) = server {
                    run.observe(process, placement);
                }
                progress.watch(run, planned, self.interrupt).await?
            }
            Driver::ApacheBench => ab::run(case, &self.endpoint, plan, server).await?,
        };
        // An interrupted run for a number of requests has no time, and an interrupted warm-up has no rate.
        let nothing = plan.stop.requests.is_some() || outcome.record.requests + outcome.record.errors == 0;
        if outcome.ended == Some(End::Interrupted) && nothing {
            return Ok(None);
        }
        if let Some(server) = &mut self.target.server {
            server.check_running()?;
        }
        self.tally.peak_memory = server.and_then(|(process, _)| usage::peak_memory(process));
        Ok(Some(outcome))
    }

    fn forget_peak(&self) {
        if let Some(server) = &self.target.server {
            usage::forget_peak_memory(server.id());
        }
    }

    /// Begins a run that is cut into slices. Runs are counted from 0.
    pub(super) fn begin(&mut self, run: usize) {
        if run == 0 {
            self.forget_peak();
        }
        self.crew = None;
    }

    /// Drives one slice of a run. Returns whether it is complete, which it isn't after an interruption.
    ///
    /// If the driver has its own cores, it runs on the server's cores for the second half of the slice. The server's cost of a
    /// request depends on how many requests it finds at a time. That depends on which of server and driver is faster, which changes
    /// from second to second. On one core they alternate: all connections send, and the server finds all the requests.
    pub(super) async fn slice(&mut self, turn: Turn, progress: &mut Progress) -> Result<bool, Error> {
        let Load { case, plan, .. } = self.load;
        if self.interrupt.is_set() {
            return Ok(false);
        }
        progress.begin(&case.suite, &case.name, &self.target.name, turn.run + 1);
        let crew = match self.crew.take().filter(|(_, since)| since.elapsed() < REST) {
            Some((crew, _)) => crew,
            None => Crew::start(case, &self.endpoint, plan, &self.expected)?,
        };
        let [server, driver] = self.placement.sides().map_or([None, None], |sides| sides.map(Some));
        let parts = if turn.is_shared { 2 } else { 1 };
        let (length, planned) = (turn.length / parts, turn.planned / parts);
        let Some(apart) = self.stretch(&crew, length, planned, driver, progress).await? else { return Ok(false) };
        let shared = match turn.is_shared {
            true => match self.stretch(&crew, length, planned, server, progress).await? {
                None => return Ok(false),
                shared => shared,
            },
            false => None,
        };
        self.crew = Some((crew, Instant::now()));
        let memory = self.target.process().and_then(Usage::of).and_then(|usage| usage.memory);
        let late =
            [Some(&apart), shared.as_ref()].into_iter().flatten().map(|part| part.elapsed.saturating_sub(length)).sum();
        self.slice = Some(Slice { apart, shared, memory, late });
        Ok(true)
    }

    /// Drives one half of a slice, or all of it. Returns `None` if it was interrupted.
    async fn stretch(
        &mut self,
        crew: &Crew,
        length: Duration,
        planned: Duration,
        cores: Option<Cores>,
        progress: &mut Progress,
    ) -> Result<Option<Outcome>, Error> {
        let stop = Stop { after: Some(length), ..self.load.plan.stop };
        let cpu = |participant: &Self| participant.target.process().and_then(usage::cpu_time);
        let before = cpu(self);
        let outcome = progress.watch(crew.run(Duration::ZERO, stop, cores, None), planned, self.interrupt).await?;
        if outcome.ended == Some(End::Interrupted) {
            self.tally.warm_up(outcome.record);
            return Ok(None);
        }
        if let Some(server) = &mut self.target.server {
            server.check_running()?;
        }
        tokio::time::sleep(SETTLE).await;
        let server_cpu = cpu(self).zip(before).map(|(after, before)| after.saturating_sub(before));
        Ok(Some(Outcome { server_cpu, ..outcome }))
    }

    /// Discards the last slice, which was one of the warm-up. Returns how long after its end the last answers arrived.
    pub(super) fn discard_slice(&mut self) -> Duration {
        let Some(slice) = self.slice.take() else { return Duration::ZERO };
        let late = slice.late;
        slice.into_outcomes().for_each(|outcome| self.tally.warm_up(outcome.record));
        late
    }

    /// Counts the last slice.
    pub(super) fn count_slice(&mut self) {
        self.slices.extend(self.slice.take());
    }

    /// Returns whether one more repetition of this length may be made, and if so, counts it as made.
    pub(super) fn repeats(&mut self, length: Duration) -> bool {
        let more = self.repeats > 0 && Instant::now() + length <= self.repeats_until;
        self.repeats = self.repeats.saturating_sub(1);
        more
    }

    /// Ends a run that is cut into slices.
    pub(super) fn end(&mut self, run: usize, others: Option<f64>) {
        self.crew = None;
        self.discard_slice();
        let slices = std::mem::take(&mut self.slices);
        if slices.is_empty() || self.target.is_lost() {
            return;
        }
        self.tally.peak_memory = self.target.process().and_then(usage::peak_memory);
        self.note(Driven::sliced(slices, self.placement.server_cores(), others), run);
    }

    /// Adds a run, counted from 0, to the figures, or leaves it out if it is to be discarded.
    pub(super) fn note(&mut self, driven: Driven, run: usize) {
        let discarded = run < self.load.discard;
        self.passes.push(Pass { requests_per_second: driven.requests_per_second(), discarded });
        match discarded {
            true => driven.into_outcomes().for_each(|outcome| self.tally.warm_up(outcome.record)),
            false => self.tally.add(driven),
        }
    }

    /// Makes all steps of a search. Returns the row of the load that was found, with the curve of all steps, and the rows of its
    /// parts. Returns nothing if no step was completed.
    pub(super) async fn search(&mut self, search: &Search, progress: &mut Progress) -> Result<Vec<Row>, Error> {
        let mut tried: Vec<SearchStep> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut parts: Vec<Vec<Row>> = Vec::new();
        while let Some(load) = search.next(&tried) {
            let plan = search.plan(&self.load.plan, load);
            let driven = self.drive(&plan, tried.len() + 1, progress).await?;
            let Some(driven) = driven.filter(|driven| !driven.is_interrupted()) else { break };
            self.tally.add(driven);
            let (row, its_parts) = self.rows_of(&plan);
            parts.push(its_parts);
            tried.push(SearchStep { load, good: search.is_good(&row, &rows) });
            rows.push(row);
        }
        let left = search.steps().saturating_sub(u32::try_from(tried.len()).unwrap_or(u32::MAX));
        progress.leave_out(self.load.plan.planned() * left);
        if tried.is_empty() {
            return Ok(Vec::new());
        }
        let found = search.found(&tried, &rows);
        let mut steps: Vec<_> = rows.iter().map(|row| step(row, search.axis)).collect();
        steps.sort_by(|a, b| (a.users, a.rate).partial_cmp(&(b.users, b.rate)).unwrap_or(std::cmp::Ordering::Equal));
        // If higher loads brought no more throughput, the limit of those runs limited the search.
        let limit = rows[found..].iter().find_map(|row| row.limited_by.clone());
        // Failures at higher loads are in the curve only: the search looked for the load at which the server fails.
        let row = rows.swap_remove(found);
        let users_at_peak = (search.axis == Axis::Users).then_some(row.connections);
        let search_end = search.end(&tried, found);
        let whole =
            Row { users_at_peak, search_end, curve: steps, driver_limited: limit.is_some(), limited_by: limit, ..row };
        let parts = parts.swap_remove(found).into_iter().map(|part| Row { users_at_peak, ..part });
        Ok(std::iter::once(whole).chain(parts).collect())
    }

    /// Returns the rows of all runs. Returns nothing if no run counted, or if the target was dropped: its rows would have fewer runs
    /// than the others.
    pub(super) fn rows(&mut self) -> Vec<Row> {
        if self.tally.is_empty() || self.target.is_lost() {
            return Vec::new();
        }
        let (whole, parts) = self.rows_of(&self.load.plan);
        let passes = if self.load.discard > 0 { std::mem::take(&mut self.passes) } else { Vec::new() };
        std::iter::once(Row { passes, ..whole }).chain(parts).collect()
    }

    fn rows_of(&mut self, plan: &Plan) -> (Row, Vec<Row>) {
        let described = Described::of(self.load, plan, self.target, self.placement);
        std::mem::take(&mut self.tally).rows(&described)
    }
}
