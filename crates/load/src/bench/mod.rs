//! Many runs: every case against every target, the targets taking turns, gathered into rows.

mod limits;
mod tally;

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::exchange::ask;
use crate::report::{FLOOR, Pass, Results, Row, Suite};
use crate::search::Tried;
use crate::{
    Axis, Case, End, Endpoint, Error, ErrorKind, Expected, Interrupt, Machine, Outcome, Placement, Plan, Progress, Run,
    Search, Server, Start, ab, usage,
};

use tally::Tally;

/// What is measured, and how.
#[derive(Debug)]
pub struct Bench {
    /// The cases, each with the way it is driven.
    pub loads: Vec<Load>,
    /// The endpoints to compare.
    pub targets: Vec<Target>,
    /// Where server and driver run.
    pub placement: Placement,
    /// The command that repeats all this, for the report.
    pub command: String,
    /// What ends it early.
    pub interrupt: Interrupt,
}

/// A case and how it is driven: what becomes a row for each target.
#[derive(Clone, Debug)]
pub struct Load {
    /// What is sent.
    pub case: Case,
    /// How a run is driven.
    pub plan: Plan,
    /// How many runs there are against each target.
    pub runs: usize,
    /// How many of them, from the first, are left out of the figures.
    pub discard: usize,
    /// What is looked for, if the load is to be found. Each of its steps is one run; `runs` is of no meaning then.
    pub search: Option<Search>,
    /// Who drives it.
    pub driver: Driver,
    /// What it is driven against.
    pub against: Against,
}

/// Which targets a load is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// All, with the HTTP floor beside the others.
    #[default]
    All,
    /// All but the floor.
    Servers,
    /// The floor alone.
    Floor,
}

/// Who makes the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Driver {
    /// The load kit.
    #[default]
    Own,
    /// `ab` of the Apache HTTP server, as some benchmarks were published. It sends one message over and over, with as many
    /// connections as the plan has, until as many requests were sent as the plan says.
    ApacheBench,
}

impl Load {
    /// A case that is driven once by the load kit, with the floor beside it.
    pub fn new(case: Case, plan: Plan) -> Self {
        Load { case, plan, runs: 1, discard: 0, search: None, driver: Driver::Own, against: Against::All }
    }

    /// How long it takes against one target, as far as it is planned.
    pub fn planned(&self) -> Duration {
        let runs = match &self.search {
            Some(search) => search.steps(),
            None => u32::try_from(self.runs).unwrap_or(u32::MAX),
        };
        self.plan.planned().saturating_mul(runs)
    }
}

/// An endpoint under test.
#[derive(Debug)]
pub struct Target {
    name: String,
    endpoint: Endpoint,
    route: Route,
    server: Option<Server>,
    /// What is between driver and server, in words, where it is no loopback interface.
    network: Option<String>,
    /// The id of somebody else's process on this machine, if it is known.
    process: Option<u32>,
    /// The cases it serves, by path and name; all where there is no list.
    cases: Option<HashSet<(String, String)>>,
    /// How long it takes at least until its figures count.
    warmup: Duration,
}

/// The path at which a target answers a load.
#[derive(Clone, Debug)]
enum Route {
    /// That of the case.
    Case,
    /// The number of the answer it was given for the load, if it was given one.
    Numbered(Vec<Option<usize>>),
    /// That of the endpoint.
    Fixed,
}

impl Target {
    fn new(name: String, endpoint: Endpoint, route: Route, server: Option<Server>) -> Self {
        Target { name, endpoint, route, server, network: None, process: None, cases: None, warmup: Duration::ZERO }
    }

    /// A server of ours that answers each case at the case's own path.
    pub fn server(name: impl Into<String>, server: Server) -> Self {
        let endpoint = server.endpoint().clone();
        Target::new(name.into(), endpoint, Route::Case, Some(server))
    }

    /// The HTTP floor: it answers a load at `/N`, where N is what `numbers` has for it, and not where that has nothing.
    pub fn floor(server: Server, numbers: Vec<Option<usize>>) -> Self {
        let endpoint = server.endpoint().clone();
        let route = Route::Numbered(numbers);
        Target::new(FLOOR.to_owned(), endpoint, route, Some(server))
    }

    /// Somebody else's endpoint, of which only what comes over the network is known.
    pub fn url(url: &str) -> Result<Self, Error> {
        let endpoint = Endpoint::resolve(url)?;
        Ok(Target::new(url.to_owned(), endpoint, Route::Fixed, None))
    }

    /// The same, served by this process on this machine, whose use of processors and memory is measured.
    pub fn of_process(self, id: u32) -> Self {
        Target { process: Some(id), ..self }
    }

    /// The same, reached across a network of these properties, in words.
    pub fn across(self, network: impl Into<String>) -> Self {
        Target { network: Some(network.into()), ..self }
    }

    /// The same for these cases alone, where it doesn't serve all that are measured.
    pub fn for_cases<'a>(self, cases: impl IntoIterator<Item = &'a Case>) -> Self {
        let names = cases.into_iter().map(|case| (case.path.clone(), case.name.clone()));
        Target { cases: Some(names.collect()), ..self }
    }

    /// The same with at least so much load before the first run of each case, for one that gets faster meanwhile; of a
    /// search the first step.
    pub fn warmed_for(self, warmup: Duration) -> Self {
        Target { warmup, ..self }
    }

    /// How a load is driven for the first time. One whose users come one after another is measured from the first on.
    fn first(&self, load: &Load, plan: Plan) -> Plan {
        let has_warmup = load.driver == Driver::Own && !matches!(plan.start, Start::PerSecond(_));
        Plan { warmup: if has_warmup { plan.warmup.max(self.warmup) } else { plan.warmup }, ..plan }
    }

    /// The process that serves, if it is on this machine.
    fn process(&self) -> Option<u32> {
        self.server.as_ref().map(Server::id).or(self.process)
    }

    /// Where it answers a load; `None` where the load is not for it.
    fn endpoint(&self, index: usize, load: &Load) -> Option<Endpoint> {
        let case = &load.case;
        if self.cases.as_ref().is_some_and(|cases| !cases.contains(&(case.path.clone(), case.name.clone()))) {
            return None;
        }
        match (&self.route, load.against) {
            (Route::Numbered(numbers), Against::All | Against::Floor) => {
                numbers.get(index)?.map(|number| self.endpoint.at(format!("/{number}")))
            }
            (Route::Numbered(_), Against::Servers) | (_, Against::Floor) => None,
            (Route::Case, _) => Some(self.endpoint.at(&*case.path)),
            (Route::Fixed, _) => Some(self.endpoint.clone()),
        }
    }
}

impl Bench {
    /// Sends the requests of each case once to a target, which need be none of the bench's, and gives the answers to raw ones,
    /// all found right; in the order of the loads.
    ///
    /// Cases that are answered wrongly are reported together: there is nothing to measure then.
    pub async fn ask_each(&self, target: &Target) -> Result<Vec<Vec<Bytes>>, Error> {
        let mut asked: Vec<(&Case, Vec<Bytes>)> = Vec::new();
        let mut answers = Vec::new();
        let mut wrong = Vec::new();
        for (index, load) in self.loads.iter().enumerate() {
            let case = &load.case;
            // What the floor is to answer is asked of a server.
            let load = Load { against: Against::All, ..load.clone() };
            let Some(endpoint) = target.endpoint(index, &load) else { continue };
            // The same case may be driven in several ways.
            if let Some((_, bodies)) = asked.iter().find(|(other, _)| case.is_same(other)) {
                answers.push(bodies.clone());
                continue;
            }
            match ask(case, &endpoint, &load.plan).await {
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

    /// Measures everything, or what is measured when it is interrupted or something goes wrong: what came before that is
    /// reported all the same.
    ///
    /// # Errors
    ///
    /// Something goes wrong before anything was measured.
    pub async fn run(&mut self, progress: &mut Progress) -> Result<Results, Error> {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let mut suites: Vec<Suite> = Vec::new();
        let mut broken = None;
        for index in 0..self.loads.len() {
            let rows = match self.measure(index, progress).await {
                Ok(rows) => rows,
                Err(error) if suites.is_empty() => return Err(error),
                Err(error) => {
                    broken = Some(error.to_string());
                    break;
                }
            };
            if rows.is_empty() {
                continue;
            }
            let suite = &self.loads[index].case.suite;
            match suites.iter_mut().find(|known| known.suite == *suite) {
                Some(known) => known.cases.extend(rows),
                None => suites.push(Suite { suite: suite.clone(), cases: rows, published: Vec::new() }),
            }
        }
        let broken = broken.or_else(|| self.interrupt.came().then(|| End::Interrupted.to_string()));
        // What most rows have in common stands for all; those that differ say so themselves.
        let usual = self.loads.iter().find(|load| load.search.is_none() && load.plan.stop.after.is_some());
        let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
        let mut results = Results {
            castile: env!("CARGO_PKG_VERSION").to_owned(),
            date,
            command: self.command.clone(),
            machine: Machine::this(self.placement.cores()),
            placement: self.placement.to_string(),
            warmup_s: seconds(usual.map(|load| load.plan.warmup)),
            duration_s: seconds(usual.and_then(|load| load.plan.stop.after)),
            runs: usual.map_or(1, |load| load.runs),
            warnings: Vec::new(),
            incomplete: broken.is_some(),
            suites,
        };
        let broken = broken.map(|why| format!("not everything was measured: {why}"));
        results.warnings = broken.into_iter().chain(limits::warnings(&results, &self.placement)).collect();
        Ok(results)
    }

    /// How many rows come of it: one for each load and target that answers it.
    pub fn rows(&self) -> usize {
        self.answered().count()
    }

    /// How long all runs take, as far as it is planned.
    pub fn planned(&self) -> Duration {
        let more = |load: &Load, target: &Target| target.first(load, load.plan.clone()).warmup - load.plan.warmup;
        let of = |(load, target): (&Load, &Target)| load.planned() + more(load, target);
        self.answered().map(of).sum()
    }

    /// Each load with each target that answers it.
    fn answered(&self) -> impl Iterator<Item = (&Load, &Target)> {
        self.loads.iter().enumerate().flat_map(|(index, load)| {
            let answers = move |target: &&Target| target.endpoint(index, load).is_some();
            self.targets.iter().filter(answers).map(move |target| (load, target))
        })
    }

    /// All runs of one load.
    async fn measure(&mut self, index: usize, progress: &mut Progress) -> Result<Vec<Row>, Error> {
        let Bench { loads, targets, placement, interrupt, .. } = self;
        let load = &loads[index];
        let mut sides = Vec::new();
        for target in targets {
            if let Some(endpoint) = target.endpoint(index, load) {
                let expected = Expected::of(&load.case);
                sides.push(Side { load, endpoint, target, placement, interrupt, expected });
            }
        }
        let mut rows = Vec::new();
        match &load.search {
            Some(search) => {
                for side in &mut sides {
                    rows.extend(side.search(search, progress).await?);
                }
            }
            None => {
                let mut tallies: Vec<Tally> = sides.iter().map(|_| Tally::default()).collect();
                let mut passes = vec![Vec::new(); sides.len()];
                'runs: for run in 0..load.runs {
                    // Another one begins each time: who follows a busy one finds the machine warmer.
                    for turn in 0..sides.len() {
                        let next = (run + turn) % sides.len();
                        let (side, tally) = (&mut sides[next], &mut tallies[next]);
                        let plan = load.plan.clone();
                        let plan = if run == 0 { side.target.first(load, plan) } else { plan };
                        let Some(outcome) = side.drive(&plan, run + 1, tally, progress).await? else {
                            break 'runs;
                        };
                        let discarded = run < load.discard;
                        passes[next].push(Pass { requests_per_second: outcome.requests_per_second(), discarded });
                        if discarded { tally.warm_up(outcome) } else { tally.add(outcome) }
                    }
                }
                for ((side, tally), passes) in sides.iter().zip(tallies).zip(passes) {
                    if tally.is_empty() {
                        continue;
                    }
                    let (whole, parts) = side.rows(tally, &load.plan);
                    let passes = if load.discard > 0 { passes } else { Vec::new() };
                    rows.push(Row { passes, ..whole });
                    rows.extend(parts);
                }
            }
        }
        for row in &rows {
            progress.row(&load.case.suite, row);
        }
        Ok(rows)
    }
}

/// One load against one target.
struct Side<'a> {
    load: &'a Load,
    target: &'a mut Target,
    endpoint: Endpoint,
    placement: &'a Placement,
    interrupt: &'a Interrupt,
    expected: Expected,
}

impl Side<'_> {
    /// One run; `None` where an interruption left nothing that means anything.
    async fn drive(
        &mut self,
        plan: &Plan,
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
        let server = self.target.process().map(|process| (process, self.placement.server_cores()));
        let outcome = match driver {
            Driver::Own => {
                let mut run = Run::start(case, &self.endpoint, plan, &self.expected)?;
                if let Some((process, cores)) = server {
                    run.observe(process, cores);
                }
                progress.watch(run, plan.planned(), self.interrupt).await?
            }
            Driver::ApacheBench => ab::run(case, &self.endpoint, plan, server.map(|(process, _)| process)).await?,
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
    async fn search(&mut self, search: &Search, progress: &mut Progress) -> Result<Vec<Row>, Error> {
        let mut tried: Vec<Tried> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut parts: Vec<Vec<Row>> = Vec::new();
        while let Some(load) = search.next(&tried) {
            let plan = search.plan(&self.load.plan, load);
            let plan = if tried.is_empty() { self.target.first(self.load, plan) } else { plan };
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

    fn rows(&self, tally: Tally, plan: &Plan) -> (Row, Vec<Row>) {
        tally.rows(self.load, plan, self.target, self.placement)
    }
}
