//! Command line options that override a profile.

use std::time::Duration;

use castile_load::{Arrivals, Driver, Load, Pace, Plan, Requests, Start, Stop};
use castile_report::{Client, Method};

use crate::driver::{Capacity, rate};
use crate::quantity::{count, positive_time, time};

/// The maximum number of runs of a case.
const MAX_RUNS: usize = 1_000;

/// Options that override a profile.
// The group has its own id, because it is flattened into the arguments of a command.
#[derive(clap::Args)]
#[group(id = "adjust")]
pub(crate) struct Arguments {
    /// The number of connections or users; in a search for users, the number in the first step
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    connections: Option<usize>,
    /// How long to warm up before each run; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = time)]
    warmup: Option<Duration>,
    /// How long each run is measured; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    duration: Option<Duration>,
    /// The number of runs of each case against each target; targets take turns
    #[arg(long, value_name = "N", value_parser = runs)]
    runs: Option<usize>,
    /// How long users wait between requests; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = time)]
    think: Option<Duration>,
    /// Use a new connection for each request
    #[arg(long)]
    no_keepalive: bool,
    /// Send this many requests per second regardless of the server's speed, and measure latency from the time each was due
    #[arg(long, value_name = "R", value_parser = rate)]
    rate: Option<f64>,
    /// Run only the loads of this client
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    client: Option<Client>,
    /// Run only the loads of this method: closed, open, users, ramp or sequence; may be repeated
    #[arg(long = "method", value_name = "METHOD", value_delimiter = ',', value_parser = method)]
    methods: Vec<Method>,
}

impl Arguments {
    /// Checks that a driver with this many threads can open this many connections.
    pub(crate) fn check(&self, threads: usize) -> anyhow::Result<()> {
        let check = |connections| Capacity::new(1, threads, 0).check("--connections", connections);
        self.connections.map_or(Ok(()), check)
    }

    /// Applies the options to the loads.
    pub(crate) fn apply(&self, loads: Vec<Load>) -> Vec<Load> {
        let mut applied: Vec<Load> = Vec::new();
        for mut load in loads {
            self.change(&mut load);
            let wanted = self.client.is_none_or(|client| client == client_of(&load))
                && (self.methods.is_empty() || self.methods.contains(&method_of(&load)));
            // Loads that differed only in the overridden settings are now equal.
            let again = applied.iter().any(|other| {
                let what = |load: &Load| {
                    let case = &load.case;
                    (case.suite.clone(), case.name.clone(), case.style.clone(), client_of(load), method_of(load))
                };
                let how = |load: &Load| (load.plan.connections, load.plan.keep_alive, load.against);
                what(other) == what(&load) && how(other) == how(&load)
            });
            if wanted && !again {
                applied.push(load);
            }
        }
        applied
    }

    /// Returns a requested method that none of these loads uses.
    pub(crate) fn unused_method(&self, loads: &[Load]) -> Option<&'static str> {
        let is_unused = |method: Method| !loads.iter().any(|load| method_of(load) == method);
        let found = METHODS.iter().find(|(_, method)| self.methods.contains(method) && is_unused(*method));
        found.map(|(name, _)| *name)
    }

    fn change(&self, load: &mut Load) {
        let method = method_of(load);
        let is_timed = load.plan.stop.after.is_some();
        if let Some(connections) = self.connections {
            match (&mut load.search, method) {
                (Some(search), _) => search.first = connections as f64,
                (None, Method::Sequence) => {
                    load.plan.stop = Stop::requests((load.case.count() * connections) as u64);
                    load.plan.connections = connections;
                }
                (None, _) => load.plan.connections = connections,
            }
        }
        if let Some(time) = self.duration.filter(|_| method != Method::Sequence && load.driver == Driver::Own) {
            load.plan.stop = Stop { after: Some(time), requests: None, ..load.plan.stop };
        }
        if let Some(time) = self.warmup.filter(|_| is_timed && matches!(method, Method::Closed | Method::Users)) {
            load.plan.warmup = time;
        }
        if let Some(runs) = self.runs {
            // The first run of a sequence is its warm-up.
            load.runs = if method == Method::Sequence { runs + load.discard } else { runs };
            load.discard = load.discard.min(load.runs - 1);
        }
        if let (Some(time), Pace::Think(_)) = (self.think, &load.plan.pace) {
            load.plan.pace = Pace::Think(castile_load::Think::Fixed(time));
            load.plan.start = Start::Within(time);
        }
        if let (Some(rate), Method::Closed, Driver::Own) = (self.rate, method, load.driver) {
            load.plan = Plan { pace: Pace::Arrivals(Arrivals::constant(rate)), ..load.plan.clone() };
        }
        load.plan.keep_alive &= !self.no_keepalive;
    }
}

pub(crate) fn client_of(load: &Load) -> Client {
    match (load.driver, &load.case.requests) {
        (Driver::ApacheBench, _) => Client::Ab,
        (_, Requests::Raw(_) | Requests::Scripted { .. }) => Client::Raw,
        (_, Requests::Typed { .. }) => Client::Typed,
    }
}

pub(crate) fn method_of(load: &Load) -> Method {
    if load.case.count() > 1 { Method::Sequence } else { load.plan.method() }
}

/// Returns the method of a load as the command line names it.
#[cfg(feature = "contracts")]
pub(crate) fn method_name(load: &Load) -> &'static str {
    METHODS.iter().find(|(_, method)| *method == method_of(load)).map_or("", |(name, _)| name)
}

fn client(text: &str) -> Result<Client, String> {
    match text {
        "raw" => Ok(Client::Raw),
        "typed" => Ok(Client::Typed),
        "ab" => Ok(Client::Ab),
        _ => Err("expected raw, typed or ab".to_owned()),
    }
}

const METHODS: [(&str, Method); 5] = [
    ("closed", Method::Closed),
    ("open", Method::Open),
    ("users", Method::Users),
    ("ramp", Method::Ramp),
    ("sequence", Method::Sequence),
];

fn method(text: &str) -> Result<Method, String> {
    let known = METHODS.iter().find(|(name, _)| *name == text);
    known.map(|(_, method)| *method).ok_or_else(|| "expected closed, open, users, ramp or sequence".to_owned())
}

fn runs(text: &str) -> Result<usize, String> {
    match count(text)? {
        runs if runs <= MAX_RUNS => Ok(runs),
        _ => Err("expected at most 1,000 runs".to_owned()),
    }
}
