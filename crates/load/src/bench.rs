//! Many runs: every case against every target, the targets taking turns, gathered into rows.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hdrhistogram::Histogram;

use crate::exchange::ask;
use crate::report::{Client, FLOOR, Latency, Method, Results, Row, Spread, Suite};
use crate::{
    Case, Endpoint, Error, ErrorKind, Expected, Machine, Outcome, Pace, Placement, Plan, Progress, Recorder, Requests,
    Run, Server, Start, Stop, usage,
};

/// Above this share of its cores, a side is at its limit.
const BUSY: f64 = 0.9;
/// Below this share on both sides, somebody else used the cores: with many connections, one side always has work.
const IDLE: f64 = 0.8;
const MANY_CONNECTIONS: usize = 8;
/// How many rows a warning names; the report marks all.
const NAMED: usize = 4;

/// What is measured, and how.
#[derive(Debug)]
pub struct Bench {
    /// The cases with the way each is driven; the [`Stop`] of a plan ends its measured runs.
    pub loads: Vec<(Case, Plan)>,
    /// The endpoints to compare.
    pub targets: Vec<Target>,
    /// How long each run is driven before it is measured.
    pub warmup: Duration,
    /// How often each case is measured against each target.
    pub runs: usize,
    /// Where server and driver run.
    pub placement: Placement,
    /// The command that repeats all this, for the report.
    pub command: String,
}

/// An endpoint under test.
#[derive(Debug)]
pub struct Target {
    name: String,
    endpoint: Endpoint,
    route: Route,
    server: Option<Server>,
}

/// The path at which a target answers a case.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// The case's own.
    Case,
    /// The number of the case.
    Index,
    /// That of the endpoint.
    Fixed,
}

impl Target {
    /// A server of ours that answers each case at the case's own path.
    pub fn server(name: impl Into<String>, server: Server) -> Self {
        let endpoint = server.endpoint().clone();
        Target { name: name.into(), endpoint, route: Route::Case, server: Some(server) }
    }

    /// The HTTP floor: it answers the case of number N at `/N`.
    pub fn floor(server: Server) -> Self {
        let endpoint = server.endpoint().clone();
        Target { name: FLOOR.to_owned(), endpoint, route: Route::Index, server: Some(server) }
    }

    /// Somebody else's endpoint, of which only what comes over the network is known.
    pub fn url(url: &str) -> Result<Self, Error> {
        let endpoint = Endpoint::resolve(url)?;
        Ok(Target { name: url.to_owned(), endpoint, route: Route::Fixed, server: None })
    }

    fn endpoint(&self, index: usize, case: &Case) -> Endpoint {
        match self.route {
            Route::Case => self.endpoint.at(&*case.path),
            Route::Index => self.endpoint.at(format!("/{index}")),
            Route::Fixed => self.endpoint.clone(),
        }
    }

    fn cpu_time(&self) -> Option<Duration> {
        usage::cpu_time(self.server.as_ref()?.id())
    }
}

impl Bench {
    /// Sends each case once to a target and gives the answers, all found right.
    ///
    /// Cases that are answered wrongly are reported together: there is nothing to measure then.
    pub async fn ask_each(&self, target: &Target) -> Result<Vec<Vec<Bytes>>, Error> {
        let mut answers = Vec::new();
        let mut wrong = Vec::new();
        for (index, (case, plan)) in self.loads.iter().enumerate() {
            let endpoint = target.endpoint(index, case);
            match ask(case, &endpoint, plan).await {
                Ok(bodies) => answers.push(bodies),
                Err(what) => wrong.push(format!("{} {} at {}: {what}", case.suite, case.name, endpoint.authority)),
            }
        }
        match wrong.is_empty() {
            true => Ok(answers),
            false => Err(Error::new(ErrorKind::Answer, wrong.join("\n"))),
        }
    }

    /// Measures everything.
    pub async fn run(&mut self, progress: &mut Progress) -> Result<Results, Error> {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let mut suites: Vec<Suite> = Vec::new();
        for index in 0..self.loads.len() {
            let rows = self.measure(index, progress).await?;
            let suite = &self.loads[index].0.suite;
            match suites.iter_mut().find(|known| known.suite == *suite) {
                Some(known) => known.cases.extend(rows),
                None => suites.push(Suite { suite: suite.clone(), cases: rows, published: Vec::new() }),
            }
        }
        let duration = self.loads.first().and_then(|(_, plan)| Some(plan.stop.after?.as_secs_f64()));
        let mut results = Results {
            castile: env!("CARGO_PKG_VERSION").to_owned(),
            date,
            command: self.command.clone(),
            machine: Machine::this(self.placement.cores()),
            placement: self.placement.to_string(),
            warmup_s: self.warmup.as_secs_f64(),
            duration_s: duration.unwrap_or_default(),
            runs: self.runs,
            warnings: Vec::new(),
            suites,
        };
        results.warnings = warnings(&results, &self.placement);
        Ok(results)
    }

    /// All runs of one case.
    async fn measure(&mut self, index: usize, progress: &mut Progress) -> Result<Vec<Row>, Error> {
        let (case, plan) = &self.loads[index];
        let mut tallies: Vec<Tally> = self.targets.iter().map(|_| Tally::new(case)).collect();
        let warmup = Plan { stop: Stop::after(self.warmup), ..plan.clone() };
        for run in 1..=self.runs {
            for (target, tally) in self.targets.iter_mut().zip(&mut tallies) {
                let endpoint = target.endpoint(index, case);
                if let (1, Some(server)) = (run, &target.server) {
                    usage::forget_peak_memory(server.id());
                }
                progress.begin(&case.suite, &case.name, &target.name, run);
                if !self.warmup.is_zero() {
                    let run = Run::start(case, &endpoint, &warmup, &tally.expected)?;
                    tally.warm_up(progress.watch(run, self.warmup).await?);
                }
                let before = target.cpu_time();
                let run = Run::start(case, &endpoint, plan, &tally.expected)?;
                let outcome = progress.watch(run, plan.planned()).await?;
                let server_cpu = target.cpu_time().zip(before).map(|(after, before)| after - before);
                tally.add(outcome, server_cpu);
                if let Some(server) = &mut target.server {
                    server.check_running()?;
                    tally.peak_memory = usage::peak_memory(server.id());
                }
            }
        }
        let mut rows = Vec::new();
        for (target, tally) in self.targets.iter().zip(tallies) {
            let row = tally.row(case, plan, target, &self.placement);
            progress.row(&case.suite, &row);
            rows.push(row);
        }
        Ok(rows)
    }

    /// How long all runs take, as far as it is planned.
    pub fn planned(&self) -> Duration {
        let times = u32::try_from(self.runs * self.targets.len()).unwrap_or(u32::MAX);
        self.loads.iter().map(|(_, plan)| (self.warmup + plan.planned()) * times).sum()
    }
}

/// What the runs of one row add up to.
struct Tally {
    expected: Expected,
    record: Recorder,
    warmup_errors: u64,
    per_second: Vec<f64>,
    unsent: u64,
    elapsed: Duration,
    server_cpu: Option<Duration>,
    driver_cpu: Option<Duration>,
    peak_memory: Option<u64>,
}

impl Tally {
    fn new(case: &Case) -> Self {
        Tally {
            expected: Expected::of(case),
            record: Recorder::default(),
            warmup_errors: 0,
            per_second: Vec::new(),
            unsent: 0,
            elapsed: Duration::ZERO,
            server_cpu: None,
            driver_cpu: None,
            peak_memory: None,
        }
    }

    /// Nothing of a warm-up counts but its errors: a wrong answer is one whenever it comes.
    fn warm_up(&mut self, outcome: Outcome) {
        let Recorder { errors, messages, .. } = outcome.record;
        self.warmup_errors += errors;
        self.record.merge(Recorder { messages, ..Recorder::default() });
    }

    fn add(&mut self, outcome: Outcome, server_cpu: Option<Duration>) {
        self.per_second.push(outcome.requests_per_second());
        self.unsent += outcome.unsent;
        self.elapsed += outcome.elapsed;
        self.server_cpu = sum(self.server_cpu, server_cpu);
        self.driver_cpu = sum(self.driver_cpu, outcome.driver_cpu);
        self.record.merge(outcome.record);
    }

    fn row(self, case: &Case, plan: &Plan, target: &Target, placement: &Placement) -> Row {
        let answered = (self.record.requests + self.record.errors).max(1) as f64;
        let per_request = |cpu: Option<Duration>| cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / answered);
        let share = |cpu: Option<Duration>, cores: usize| {
            let time = self.elapsed.as_secs_f64() * cores.max(1) as f64;
            cpu.filter(|_| time > 0.0).map(|cpu| cpu.as_secs_f64() / time)
        };
        let driver_cpu_share = share(self.driver_cpu, plan.threads());
        let server_cpu_share = share(self.server_cpu, placement.server_cores());
        let busy = |share: Option<f64>| share.is_some_and(|share| share >= BUSY);
        Row {
            case: case.name.clone(),
            target: target.name.clone(),
            client: match case.requests {
                Requests::Raw(_) => Client::Raw,
                Requests::Typed { .. } => Client::Typed,
            },
            method: method(plan),
            style: case.style.clone(),
            connections: plan.connections,
            keep_alive: plan.keep_alive,
            rate: match &plan.pace {
                Pace::Arrivals(arrivals) => arrivals.rate(),
                Pace::Closed | Pace::Think(_) | Pace::Every(_) => None,
            },
            requests: self.record.requests,
            errors: self.record.errors + self.warmup_errors,
            verified: self.record.verified,
            unsent: self.unsent,
            dropped: 0,
            requests_per_second: Spread::of(self.per_second),
            latency_us: latency(&self.record.latency),
            service_us: None,
            distribution: Vec::new(),
            series: Vec::new(),
            passes: Vec::new(),
            curve: Vec::new(),
            users_at_peak: None,
            users_at_exit: None,
            exit_reason: None,
            failed: None,
            matches: None,
            elapsed_s: None,
            bytes_out: None,
            bytes_in: None,
            server_cpu_us_per_request: per_request(self.server_cpu),
            server_peak_rss_bytes: self.peak_memory,
            server_cpu_share,
            driver_cpu_share,
            driver_cpu_us_per_request: per_request(self.driver_cpu),
            lag_us: None,
            limited_by: None,
            driver_limited: busy(driver_cpu_share) && !busy(server_cpu_share),
            request_bytes: mean(self.record.bytes_out, self.record.requests),
            response_bytes: mean(self.record.bytes_in, self.record.requests),
            error_messages: self.record.messages,
        }
    }
}

fn method(plan: &Plan) -> Method {
    match (&plan.pace, plan.start) {
        (Pace::Arrivals(_), _) => Method::Open,
        (_, Start::PerSecond(_)) => Method::Ramp,
        (Pace::Think(_) | Pace::Every(_), _) => Method::Users,
        (Pace::Closed, _) => Method::Closed,
    }
}

/// Rounded to whole bytes: the answers to one request are all equally long.
fn mean(bytes: u64, requests: u64) -> usize {
    bytes.checked_div(requests).unwrap_or(0) as usize
}

fn sum(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, None) | (None, one) => one,
    }
}

fn latency(nanoseconds: &Histogram<u64>) -> Latency {
    let at = |quantile| nanoseconds.value_at_quantile(quantile) as f64 / 1e3;
    let mean = Some(nanoseconds.mean() / 1e3);
    Latency { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: nanoseconds.max() as f64 / 1e3 }
}

/// What a reader must know before believing the figures.
fn warnings(results: &Results, placement: &Placement) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut name = |holds: &dyn Fn(&Row) -> bool, text: &str| {
        let mut named: Vec<_> =
            results.rows().filter(|row| holds(row)).map(|row| format!("{} ({})", row.case, row.target)).collect();
        if named.len() > NAMED {
            let more = named.len() - NAMED;
            named.truncate(NAMED);
            named.push(format!("and {more} more"));
        }
        if !named.is_empty() {
            warnings.push(format!("{text}: {}", named.join(", ")));
        }
    };
    name(&|row| row.errors > 0, "Wrong or missing answers, so the figures are not valid");
    name(
        &|row| row.driver_limited,
        "The driver, not the server, was the limit, so the server can do more than measured",
    );
    name(
        &|row| row.unsent > 0,
        "The rate was not reached: requests were due but every connection was waiting for an answer",
    );
    let apart = matches!(placement, Placement::Apart { .. });
    let idle = |share: Option<f64>| share.is_some_and(|share| share < IDLE);
    name(
        &|row| {
            apart
                && row.rate.is_none()
                && row.connections >= MANY_CONNECTIONS
                && idle(row.server_cpu_share)
                && idle(row.driver_cpu_share)
        },
        "Neither server nor driver was busy, most likely because other processes took their cores, \
         so both can do more than measured",
    );
    if results.rows().any(|row| row.driver_cpu_share.is_none()) {
        warnings.push("CPU time and memory are not measured on this system".to_owned());
    }
    warnings
}
