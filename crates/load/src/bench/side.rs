//! One load against one target, run by run.

use std::time::Duration;

use super::limits::is_disturbed;
use super::tally::Tally;
use super::{Driver, Load, Target};
use crate::report::Row;
use crate::search::Tried;
use crate::{
    Axis, End, Endpoint, Error, Expected, Interrupt, Outcome, Placement, Plan, Progress, Run, Search, Start, ab, usage,
};

/// One load against one target.
pub(super) struct Side<'a> {
    pub(super) load: &'a Load,
    pub(super) target: &'a mut Target,
    pub(super) endpoint: Endpoint,
    pub(super) placement: &'a Placement,
    pub(super) interrupt: &'a Interrupt,
    pub(super) expected: Expected,
    /// How many more runs may be repeated.
    pub(super) repeats: usize,
}

impl Side<'_> {
    /// One run, and another one where others took the cores meanwhile; `None` where an interruption left nothing that means
    /// anything.
    pub(super) async fn drive(
        &mut self,
        plan: &Plan,
        number: usize,
        tally: &mut Tally,
        progress: &mut Progress,
    ) -> Result<Option<Outcome>, Error> {
        let Some(outcome) = self.run(plan, plan.planned(), number, tally, progress).await? else { return Ok(None) };
        // A ramp may take an hour.
        let is_ramp = matches!(plan.start, Start::PerSecond(_));
        if !is_disturbed(&outcome) || is_ramp || outcome.ended.is_some() || self.repeats == 0 {
            return Ok(Some(outcome));
        }
        self.repeats -= 1;
        let again = self.run(plan, Duration::ZERO, number, tally, progress).await?;
        let Some(again) = again.filter(|again| again.ended.is_none()) else { return Ok(Some(outcome)) };
        let (kept, left_out) = if again.others <= outcome.others { (again, outcome) } else { (outcome, again) };
        tally.warm_up(left_out);
        Ok(Some(kept))
    }

    async fn run(
        &mut self,
        plan: &Plan,
        planned: Duration,
        number: usize,
        tally: &mut Tally,
        progress: &mut Progress,
    ) -> Result<Option<Outcome>, Error> {
        let Load { case, driver, .. } = self.load;
        if self.interrupt.came() {
            return Ok(None);
        }
        if let (1, Some(server)) = (number, &self.target.server) {
            usage::forget_peak_memory(server.id());
        }
        progress.begin(&case.suite, &case.name, &self.target.name, number);
        let server = self.target.process().map(|process| (process, self.placement));
        let outcome = match driver {
            Driver::Own => {
                let mut run = Run::start(case, &self.endpoint, plan, &self.expected)?;
                if let Some((process, placement)) = server {
                    run.observe(process, placement);
                }
                progress.watch(run, planned, self.interrupt).await?
            }
            Driver::ApacheBench => ab::run(case, &self.endpoint, plan, server).await?,
        };
        // A number of requests that were not all sent has no time, and a warm-up no rate.
        let nothing = plan.stop.requests.is_some() || outcome.record.requests + outcome.record.errors == 0;
        if outcome.ended == Some(End::Interrupted) && nothing {
            return Ok(None);
        }
        if let Some(server) = &mut self.target.server {
            server.check_running()?;
        }
        tally.peak_memory = server.and_then(|(process, _)| usage::peak_memory(process));
        Ok(Some(outcome))
    }

    /// All steps of a search: the row of what was found, with the curve of all, and those of its parts; none if there was no
    /// whole step.
    pub(super) async fn search(&mut self, search: &Search, progress: &mut Progress) -> Result<Vec<Row>, Error> {
        let mut tried: Vec<Tried> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut parts: Vec<Vec<Row>> = Vec::new();
        while let Some(load) = search.next(&tried) {
            let plan = search.plan(&self.load.plan, load);
            let mut tally = Tally::default();
            let outcome = self.drive(&plan, tried.len() + 1, &mut tally, progress).await?;
            let Some(outcome) = outcome.filter(|outcome| outcome.ended != Some(End::Interrupted)) else { break };
            tally.add(outcome);
            let (row, its_parts) = self.rows(tally, &plan);
            parts.push(its_parts);
            tried.push(Tried { load, good: search.is_good(&row, &rows) });
            rows.push(row);
        }
        if tried.is_empty() {
            return Ok(Vec::new());
        }
        let found = search.found(&tried, &rows);
        let mut steps: Vec<_> = rows.iter().map(|row| row.step(search.axis)).collect();
        steps.sort_by(|a, b| (a.users, a.rate).partial_cmp(&(b.users, b.rate)).unwrap_or(std::cmp::Ordering::Equal));
        // Where more load brought nothing more, what limited that run limited the search.
        let limit = rows[found..].iter().find_map(|row| row.limited_by.clone());
        // What failed at higher loads is told by the curve: there are more users than the server can take, and that was the question.
        let row = rows.swap_remove(found);
        let whole = Row {
            users_at_peak: (search.axis == Axis::Users).then_some(row.connections),
            curve: steps,
            driver_limited: limit.is_some(),
            limited_by: limit,
            ..row
        };
        Ok(std::iter::once(whole).chain(parts.swap_remove(found)).collect())
    }

    pub(super) fn rows(&self, tally: Tally, plan: &Plan) -> (Row, Vec<Row>) {
        tally.rows(self.load, plan, self.target, self.placement)
    }
}
