//! Runs every case against every target and collects the results in rows. `load` describes how a case is driven. The targets take turns:
//! `turns` decides which is next, `participant` drives one target, and `tally` adds up its runs.

mod description;
mod limits;
mod load;
mod participant;
mod share;
mod tally;
mod target;
mod turns;
mod warm;

use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;

use crate::exchange::ask;
use crate::{Case, Crew, End, Error, ErrorKind, Expected, Interrupt, Placement, Progress, this_machine};
use castile_report::{Results, ResultsKind, Row, Suite};

use description::Described;
use participant::Participant;
use turns::Slicing;
use warm::Warmed;

pub use limits::with_warnings;
pub use load::{Against, Driver, Load};
pub use share::{Description, Merging, Second, Share};
pub use target::Target;
pub use warm::Warmup;

/// Repetitions may always take this long, even if less time was planned.
const MIN_FOR_REPEATS: Duration = Duration::from_secs(10);

/// What is measured, and how.
#[derive(Debug)]
pub struct Bench {
    /// The cases, each with the way it is driven.
    pub loads: Vec<Load>,
    /// The endpoints to compare.
    pub targets: Vec<Target>,
    /// Where server and driver run.
    pub placement: Placement,
    /// How many runs of each row may be repeated because other processes took the cores of server or driver. Rows that stay disturbed are
    /// marked. A run that is cut into slices isn't replaced but lengthened: a disturbance affects all targets equally, and more pairs
    /// average it out. No repetition begins if it would end after twice the planned time.
    pub repeats: usize,
    /// The command that repeats all this, for the report.
    pub command: String,
    /// Ends the bench early.
    pub interrupt: Interrupt,
}

impl Bench {
    /// Sends the requests of each case once to a target and checks the answers. The target need not be one of the bench's. Returns the
    /// bodies of the answers to raw requests, in the order of the loads that are for this target.
    ///
    /// # Errors
    /// Some case was answered wrongly, so there is nothing to measure. All such cases are reported together.
    pub async fn ask_each(&self, target: &mut Target) -> Result<Vec<Vec<Bytes>>, Error> {
        let mut asked: Vec<(&Case, Vec<Bytes>)> = Vec::new();
        let mut answers = Vec::new();
        let mut wrong = Vec::new();
        // The floor's answers are taken from a server, so a load for the floor is sent as well.
        let loads = self.loads.iter().map(|load| Load { against: Against::All, ..load.clone() });
        let with_endpoint = |(index, load): (usize, Load)| Some((target.endpoint(index, &load)?, &self.loads[index]));
        let loads: Vec<_> = loads.enumerate().filter_map(with_endpoint).collect();
        for (endpoint, load) in &loads {
            let case = &load.case;
            // The same case may be driven in several ways.
            if let Some((_, bodies)) = asked.iter().find(|(other, _)| case.is_same(other)) {
                answers.push(bodies.clone());
                continue;
            }
            match ask(case, endpoint, &load.plan, || target.has_answered()).await {
                Ok(bodies) => {
                    asked.push((case, bodies.clone()));
                    answers.push(bodies);
                }
                Err(what) => wrong.push(format!("{} {} at {}: {what}", case.suite, case.name, endpoint.authority)),
            }
        }
        match wrong.is_empty() {
            true => Ok(answers),
            false => Err(Error::new(ErrorKind::Answer, wrong.join("\n"))),
        }
    }

    /// Runs everything. If the bench is interrupted or fails, returns what was measured until then, and sets its [`Interrupt`], so that
    /// everything that shares it ends as well. Call [`with_warnings`] to add what a reader must know of the figures.
    ///
    /// # Errors
    /// Something failed before anything was measured.
    pub async fn run(&mut self, progress: &mut Progress) -> Result<Results, Error> {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let mut suites: Vec<Suite> = Vec::new();
        let mut broken = None;
        let mut planned = self.planned_from(0);
        let warnings = self.warm(progress).await?;
        let repeats_until = Instant::now() + planned + planned.max(MIN_FOR_REPEATS);
        for index in 0..self.loads.len() {
            // A target that was dropped takes no more time.
            progress.leave_out(planned.saturating_sub(self.planned_from(index)));
            planned = self.planned_from(index + 1);
            let rows = match self.measure(index, repeats_until, progress).await {
                Ok(rows) => rows,
                Err(error) if suites.is_empty() => return Err(error),
                Err(error) => {
                    broken = Some(error.to_string());
                    // Other benches with this interrupt stop as well.
                    self.interrupt.now();
                    break;
                }
            };
            if rows.is_empty() {
                continue;
            }
            let suite = &self.loads[index].case.suite;
            match suites.iter_mut().find(|known| known.suite == *suite) {
                Some(known) => known.cases.extend(rows),
                None => suites.push(Suite::new(suite.clone(), rows)),
            }
        }
        let broken = broken.or_else(|| self.interrupt.is_set().then(|| End::Interrupted.to_string()));
        let broken = broken.map(|why| format!("not everything was measured: {why}"));
        let lost = self.targets.iter().filter_map(|target| target.lost.clone());
        let mut results = Results { warnings, suites, ..self.head(date) };
        results.compare_with_floor();
        results.mark_incomplete(broken.into_iter().chain(lost));
        Ok(results)
    }

    /// Returns results of this date that have no rows.
    fn head(&self, date: String) -> Results {
        // These values describe all rows. Rows that differ have their own.
        let usual = self.loads.iter().find(|load| load.search.is_none() && load.plan.stop.after.is_some());
        let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
        Results {
            castile: env!("CARGO_PKG_VERSION").to_owned(),
            kind: if self.loads.iter().all(|load| load.case.is_scripted()) {
                ResultsKind::Load
            } else {
                ResultsKind::Bench
            },
            build: None,
            date,
            command: self.command.clone(),
            machine: this_machine(self.placement.cores()),
            placement: self.placement.to_string(),
            warmup_s: seconds(usual.map(|load| load.plan.warmup)),
            duration_s: seconds(usual.and_then(|load| load.plan.stop.after)),
            runs: usual.map_or(1, |load| load.runs),
            slice_s: usual.and_then(Load::slices).map(|time| time.as_secs_f64()),
            incomplete: false,
            conditions: Vec::new(),
            warnings: Vec::new(),
            targets: Vec::new(),
            workers: Vec::new(),
            suites: Vec::new(),
        }
    }

    /// Describes the first load against the first target, for whoever merges the figures of several workers.
    ///
    /// # Errors
    /// There is none.
    pub fn description(&self) -> Result<Description, Error> {
        let (load, target) = self.first()?;
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let described = Described::of(load, &load.plan, target, &self.placement);
        Ok(Description::new(self.head(date), load.case.suite.clone(), described))
    }

    fn first(&self) -> Result<(&Load, &Target), Error> {
        let nothing = || Error::new(ErrorKind::Input, "there is nothing to drive");
        self.loads.first().zip(self.targets.first()).ok_or_else(nothing)
    }

    /// Returns the users of the first load against the first target, for runs that somebody else begins and ends.
    ///
    /// # Errors
    /// The target doesn't serve the load, the load sends nothing, or the machine has no more threads.
    pub fn crew(&self) -> Result<Crew, Error> {
        let (load, target) = self.first()?;
        let nothing = || Error::new(ErrorKind::Input, "the target doesn't serve the load");
        let endpoint = target.endpoint(0, load).ok_or_else(nothing)?;
        Crew::start(&load.case, &endpoint, &load.plan, &Expected::of(&load.case))
    }

    /// Warms up all targets that need it. Returns warnings for the report.
    async fn warm(&mut self, progress: &mut Progress) -> Result<Vec<String>, Error> {
        let Bench { loads, targets, interrupt, .. } = self;
        let mut warnings = Vec::new();
        for target in targets {
            let Some(warmup) = target.warmup else { continue };
            let answered =
                loads.iter().enumerate().filter_map(|(index, load)| Some((load, target.endpoint(index, load)?)));
            let cases = warm::cases(answered);
            let Some((first, _)) = cases.first() else { continue };
            let suite = first.case.suite.clone();
            let result = warmup.warm(&target.name, target.server.as_mut(), &cases, interrupt, progress).await;
            let Some(warmed) = target.survives(result, &suite)? else { continue };
            target.rising = warmed.rising;
            if warmed.errors > 0 {
                let Warmed { errors, message, .. } = &warmed;
                let message = message.as_deref().unwrap_or_default();
                warnings.push(format!(
                    "{} gave {errors} wrong or missing answers in the warm-up for {suite}: {message}",
                    target.name
                ));
            }
        }
        Ok(warnings)
    }

    /// Returns how long all runs take, if that is planned, without the warm-up of targets.
    pub fn planned(&self) -> Duration {
        self.planned_from(0)
    }

    /// Returns how long the runs of this load and all following loads take, if that is planned.
    fn planned_from(&self, first: usize) -> Duration {
        let loads = self.loads.iter().enumerate().skip(first);
        let times = loads.map(|(index, load)| {
            let answer = self.targets.iter().filter(|target| target.endpoint(index, load).is_some());
            load.planned() * answer.count() as u32
        });
        times.sum()
    }

    /// Makes all runs of one load.
    async fn measure(
        &mut self,
        index: usize,
        repeats_until: Instant,
        progress: &mut Progress,
    ) -> Result<Vec<Row>, Error> {
        let Bench { loads, targets, placement, interrupt, repeats, .. } = self;
        let load = &loads[index];
        let mut participants = Vec::new();
        for target in targets {
            if let Some(endpoint) = target.endpoint(index, load) {
                participants.push(Participant::new(
                    load,
                    target,
                    endpoint,
                    placement,
                    interrupt,
                    (*repeats, repeats_until),
                ));
            }
        }
        let mut rows = Vec::new();
        match &load.search {
            Some(search) => {
                for participant in &mut participants {
                    let found = participant.search(search, progress).await;
                    rows.extend(participant.target.survives(found, &load.case.suite)?.into_iter().flatten());
                }
            }
            None => {
                for run in 0..load.runs {
                    let goes_on = match load.slices() {
                        Some(least) => turns::in_slices(&mut participants, Slicing::of(least), run, progress).await?,
                        None => turns::run_by_run(&mut participants, run, progress).await?,
                    };
                    if !goes_on {
                        break;
                    }
                }
                rows.extend(participants.iter_mut().flat_map(Participant::rows));
            }
        }
        for row in &rows {
            progress.row(&load.case.suite, row);
        }
        Ok(rows)
    }
}
