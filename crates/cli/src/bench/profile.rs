//! How the suites are driven: the table of profiles, and how each applies the published methods of a suite.

use std::time::Duration;

use castile_load::{Against, Axis, Case, Driver, Goal, Load, Pace, Plan, Search, Start, Stop};
use castile_report::{Client, Method};
use castile_suites::Suite;

/// How long a bench takes, and how reliable its results are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Profile {
    /// Every operation of all suites, each for a moment; takes about a minute and a half
    #[default]
    Quick,
    /// Results that can be quoted; takes about half an hour
    Standard,
    /// Exactly as in the published articles; takes hours
    Published,
}

/// The settings of a profile that all suites share.
struct Schedule {
    /// The duration of the warm-up before each run.
    warmup: Duration,
    /// How long a run is measured.
    window: Duration,
    /// The number of runs of each case in a bench of all cases.
    runs: usize,
    /// The number of runs of each case in a bench of chosen cases, which has time for more.
    runs_of_chosen: usize,
    /// The duration of a slice of the window. After each slice, the next target takes its turn.
    slice: Duration,
    /// The number of passes over a sequence. The first pass is discarded.
    sequences: usize,
    /// How long each step of a search is measured. A step has more users with think time than the one before.
    step: Duration,
    /// The factor by which the number of users grows from step to step.
    growth: f64,
    /// How many times faster a ramp and its users are than published.
    faster: u32,
    /// The duration of a ramp.
    ramp: Duration,
    /// The number of requests in a run of `ab`.
    requests: u64,
}

const QUICK: Schedule = Schedule {
    warmup: Duration::from_millis(100),
    window: Duration::from_millis(350),
    runs: 1,
    runs_of_chosen: 10,
    slice: Duration::from_millis(50),
    sequences: 2,
    step: Duration::from_millis(500),
    growth: 3.0,
    faster: 2000,
    ramp: Duration::from_secs(3),
    requests: 2_000,
};

const STANDARD: Schedule = Schedule {
    warmup: Duration::from_millis(500),
    window: Duration::from_secs(2),
    runs: 3,
    runs_of_chosen: 3,
    slice: Duration::from_millis(100),
    sequences: 6,
    step: Duration::from_secs(3),
    growth: std::f64::consts::SQRT_2,
    faster: 480,
    ramp: Duration::from_secs(25),
    requests: 20_000,
};

/// The suite that was published with `ab`.
const BY_AB: &str = "benchmark1";
/// The number of users for each client machine of the publication, with which a search for the peak begins. According to the publication,
/// 20 users on each machine send 1,000 requests per second in total.
const USERS_PER_MACHINE: usize = 20;
/// The maximum number of users in a search. It is higher than any search needs. A user may need two sockets.
const MAX_USERS: f64 = 32_000.0;
/// The minimum gain of a step for a search to continue.
const GAIN: f64 = 0.05;
/// The number of connections of the closed runs that are added to a ramp. The published ramp starts as many users per minute.
const CONNECTIONS: usize = 25;
/// The request timeout if the article doesn't define one.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Schedule {
    fn runs(&self, spare: bool) -> usize {
        if spare { self.runs } else { self.runs_of_chosen }
    }
}

impl Profile {
    /// Returns the loads of a suite. `ab` is included if the suite was published with it and it is installed.
    ///
    /// A quick bench of everything applies some methods to a few cases only. A quick bench of chosen cases has no such exceptions.
    pub(crate) fn loads(self, suite: &Suite, with_ab: bool, everything: bool) -> Vec<Load> {
        let spare = self == Profile::Quick && everything;
        let mut loads = Vec::new();
        for method in (suite.methods)() {
            let made = match (self, method.method) {
                (Profile::Quick, Method::Closed) => closed(&QUICK, suite, &method, spare),
                (Profile::Standard, Method::Closed) => closed(&STANDARD, suite, &method, spare),
                (Profile::Quick, Method::Sequence) => sequences(suite, &method, QUICK.sequences),
                (Profile::Standard, Method::Sequence) => sequences(suite, &method, STANDARD.sequences),
                (Profile::Quick, Method::Ramp) => ramps(&QUICK, suite, &method, spare),
                (Profile::Standard, Method::Ramp) => ramps(&STANDARD, suite, &method, spare),
                (Profile::Quick, Method::Users) => users(&QUICK, suite, &method)
                    .into_iter()
                    .take(if spare { 1 } else { usize::MAX })
                    .map(without_floor)
                    .collect(),
                (Profile::Standard, Method::Users) => {
                    users(&STANDARD, suite, &method).into_iter().map(without_floor).collect()
                }
                (Profile::Published, _) | (_, Method::Open) => published(suite, &method),
            };
            if with_ab && suite.name == BY_AB {
                let by_ab = made.iter().filter(|load| load.case.style.is_none()).map(|load| self.by_ab(load));
                let by_ab: Vec<Load> = by_ab.collect();
                loads.extend(made);
                loads.extend(by_ab);
            } else {
                loads.extend(made);
            }
        }
        loads
    }

    /// Returns `load` with `ab` as its driver instead of Castile.
    fn by_ab(self, load: &Load) -> Load {
        let (requests, runs, discard) = match self {
            Profile::Quick => (QUICK.requests, 1, 0),
            Profile::Standard => (STANDARD.requests, 3, 1),
            Profile::Published => (load.plan.stop.requests.unwrap_or(STANDARD.requests), load.runs, load.discard),
        };
        let plan = Plan { warmup: Duration::ZERO, stop: Stop::requests(requests), ..load.plan.clone() };
        Load { plan, runs, discard, driver: Driver::ApacheBench, against: Against::Servers, ..load.clone() }
    }
}

/// Returns the cases of a suite for a client.
fn cases_of(suite: &Suite, client: Client) -> Vec<Case> {
    match client {
        Client::Typed => (suite.typed)(),
        Client::Raw | Client::Ab => (suite.cases)(),
    }
}

fn without_floor(load: Load) -> Load {
    Load { against: Against::Servers, ..load }
}

/// Returns closed loads with short windows. For a method with typed clients, the raw driver and the floor get rows as well.
fn closed(schedule: &Schedule, suite: &Suite, method: &castile_suites::Method, spare: bool) -> Vec<Load> {
    let plan =
        Plan { warmup: schedule.warmup, stop: Stop::after(schedule.window), timeout: TIMEOUT, ..method.plan.clone() };
    let (runs, slice) = (schedule.runs(spare), Some(schedule.slice));
    let load = |case: Case| Load { runs, slice, ..Load::new(case, plan.clone()) };
    let mut loads = Vec::new();
    if method.client == Client::Typed {
        loads.extend((suite.typed)().into_iter().map(load).map(without_floor));
    }
    // `applies` isn't checked, so cases that were too large for a machine of an article are measured too.
    let mut raw = (suite.cases)();
    match (spare, plan.keep_alive) {
        // Without keep-alive, all cases have about the same extra cost.
        (true, false) => raw = first_and_last(raw),
        (true, true) => {}
        (false, true) => {
            raw.extend((suite.forms)());
            raw.extend((suite.extras)());
        }
        (false, false) => {}
    }
    loads.extend(raw.into_iter().map(load));
    loads
}

fn first_and_last(mut cases: Vec<Case>) -> Vec<Case> {
    let last = cases.pop();
    cases.truncate(1);
    cases.extend(last);
    cases
}

/// Returns loads that send each list of requests once per pass, for each client.
fn sequences(suite: &Suite, method: &castile_suites::Method, passes: usize) -> Vec<Load> {
    let load = |against: Against| {
        move |case: Case| {
            let stop = Stop::requests((case.count() * method.plan.connections) as u64);
            let plan = Plan { stop, ..method.plan.clone() };
            Load { runs: passes, discard: 1, against, ..Load::new(case, plan) }
        }
    };
    let applies = |case: &Case| (method.applies)(&case.name);
    let typed = (suite.typed)().into_iter().filter(applies).map(load(Against::Servers));
    let of_raw = if suite.sends_once { Against::Floor } else { Against::Servers };
    typed.chain((suite.cases)().into_iter().filter(applies).map(load(of_raw))).collect()
}

/// Returns searches that add users step by step until throughput stops growing.
fn users(schedule: &Schedule, suite: &Suite, method: &castile_suites::Method) -> Vec<Load> {
    // After two periods, every user has started and thought once.
    let plan = Plan {
        warmup: method.plan.pace.period() * 2,
        stop: Stop::after(schedule.step),
        timeout: TIMEOUT,
        ..method.plan.clone()
    };
    searches(suite, method, &plan, schedule.growth)
}

fn searches(suite: &Suite, method: &castile_suites::Method, plan: &Plan, growth: f64) -> Vec<Load> {
    let search = Search {
        axis: Axis::Users,
        first: (method.plan.connections * USERS_PER_MACHINE) as f64,
        growth,
        max: MAX_USERS,
        goal: Goal::Peak { gain: GAIN },
    };
    let load = |case: Case| Load { search: Some(search.clone()), ..Load::new(case, plan.clone()) };
    cases_of(suite, method.client).into_iter().filter(|case| (method.applies)(&case.name)).map(load).collect()
}

/// Returns ramps that are faster than published, so that they end in a reasonable time, and short closed runs of the same cases.
fn ramps(schedule: &Schedule, suite: &Suite, method: &castile_suites::Method, spare: bool) -> Vec<Load> {
    let cases = cases_of(suite, method.client).into_iter().filter(|case| (method.applies)(&case.name));
    let cases: Vec<Case> = cases.collect();
    let compared = Plan {
        connections: CONNECTIONS,
        warmup: schedule.warmup,
        stop: Stop::after(schedule.window),
        timeout: TIMEOUT,
        ..Plan::default()
    };
    let (runs, slice) = (schedule.runs(spare), Some(schedule.slice));
    let mut loads: Vec<Load> =
        cases.iter().map(|case| Load { runs, slice, ..Load::new(case.clone(), compared.clone()) }).collect();
    let Start::PerSecond(published) = method.plan.start else { return loads };
    let rate = published * f64::from(schedule.faster);
    let plan = Plan {
        pace: Pace::Every(method.plan.pace.period() / schedule.faster),
        start: Start::PerSecond(rate),
        connections: (rate * schedule.ramp.as_secs_f64()).ceil() as usize,
        stop: Stop { after: Some(schedule.ramp), ..method.plan.stop },
        timeout: TIMEOUT,
        ..method.plan.clone()
    };
    let ramped = if spare { 1 } else { cases.len() };
    loads.extend(cases.into_iter().take(ramped).map(|case| without_floor(Load::new(case, plan.clone()))));
    loads
}

/// Returns the loads as in the article. If its clients were typed, the raw driver is used for the floor, which has no types.
fn published(suite: &Suite, method: &castile_suites::Method) -> Vec<Load> {
    if method.method == Method::Sequence {
        return sequences(suite, method, method.passes);
    }
    if method.method == Method::Users {
        return searches(suite, method, &method.plan, STANDARD.growth);
    }
    let load =
        |case: Case| Load { runs: method.passes, discard: method.discarded, ..Load::new(case, method.plan.clone()) };
    let applies = |case: &Case| (method.applies)(&case.name);
    match (method.method, method.client) {
        (Method::Ramp, client) => {
            cases_of(suite, client).into_iter().filter(applies).map(load).map(without_floor).collect()
        }
        (_, Client::Typed) => {
            let typed = (suite.typed)().into_iter().filter(applies).map(load).map(without_floor);
            let raw = (suite.cases)().into_iter().filter(applies).map(load);
            typed.chain(raw.map(|load| Load { against: Against::Floor, ..load })).collect()
        }
        (_, Client::Raw | Client::Ab) => {
            (suite.cases)().into_iter().chain((suite.forms)()).filter(applies).map(load).collect()
        }
    }
}
