//! The load model as command line options: when requests are due, how many users there are, and when the load ends.

use std::net::{IpAddr, TcpListener};
use std::time::Duration;

use anyhow::{Context, bail};
use castile_load::{Arrivals, Axis, Division, Goal, Pace, Plan, Search, Spacing, Stage, Start, Stop, Think, WhenBusy};
use castile_report::{Criterion, InvalidCriterion, Metric, Operator};

use crate::driver::{Capacity, MAX_RATE, rate, rate_from_zero};
use crate::quantity;
use crate::quantity::{count, ip_address, positive, positive_time, time, whole};

/// The default number of users of a closed workload.
const DEFAULT_USERS: usize = 4;
/// The default limit of requests in flight of an open workload.
const DEFAULT_IN_FLIGHT: usize = 256;
/// The maximum number of threads of a driver.
const MAX_THREADS: usize = 1_024;
/// The default duration.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);
/// By default, a search ends at this multiple of its first load.
const SEARCH_FACTOR: f64 = 64.0;
/// Throughput has stopped growing if it grows by less than this share.
const GAIN: f64 = 0.05;

#[derive(clap::Args)]
// The group has its own id, because it is flattened into the arguments of a command.
#[group(id = "pace")]
#[command(next_help_heading = "Load")]
pub(super) struct Arguments {
    /// The number of users. Each has a connection and sends the next request after the answer to the last [default: 4]
    #[arg(long, value_name = "N", value_parser = count::<usize>, conflicts_with_all = ["rate", "stages"])]
    users: Option<usize>,
    /// How long a user waits before each request: a time, uniform:FROM..TO or exponential:MEAN
    #[arg(long, value_name = "TIME", value_parser = think, conflicts_with_all = ["pacing", "rate", "stages"])]
    think: Option<Think>,
    /// The time from the start of a user's request to the start of its next request
    #[arg(long, value_name = "TIME", value_parser = positive_time, conflicts_with_all = ["rate", "stages"])]
    pacing: Option<Duration>,
    /// How users start: one after another within a TIME, or at a rate such as 5/s or 25/min [default: all together]
    #[arg(long, value_name = "RAMP", value_parser = ramp, conflicts_with_all = ["rate", "stages"])]
    ramp: Option<Start>,
    /// The rate of an open workload: requests per second, or per another unit such as 600/min, regardless of the server's speed. Latency
    /// counts from the time each request was due
    #[arg(long, value_name = "R", value_parser = rate, conflicts_with = "stages")]
    rate: Option<f64>,
    /// A stage of an open workload: TIME:RATE, or TIME:FROM..TO for a rate that changes linearly; may be repeated, stages run one after
    /// another
    #[arg(long = "stage", value_name = "STAGE", value_parser = stage)]
    stages: Vec<Stage>,
    /// Send the requests of an open workload at random times (a Poisson process), like those of independent users
    #[arg(long)]
    poisson: bool,
    /// The maximum number of requests in flight of an open workload [default: 256]
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    in_flight: Option<usize>,
    /// What to do with a request that is due while the maximum is in flight
    #[arg(long, value_name = "WHAT", default_value = "drop")]
    when_busy: Busy,
    /// Search for the highest load at which this condition is false, such as p99>50ms, or with `peak` for the load at which throughput
    /// stops growing. The users or the rate are raised step by step
    #[arg(long, value_name = "CRITERION", value_parser = goal, conflicts_with = "stages")]
    until: Option<Goal>,
    /// The factor from step to step of --until
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = growth, requires = "until")]
    growth: f64,
    /// The highest load that --until tries [default: 64 times the first users or rate]
    #[arg(long, value_name = "N", value_parser = positive, requires = "until")]
    most: Option<f64>,

    /// How long the load runs; a bare number is seconds [default: 10 s, or all stages]
    #[arg(long, value_name = "TIME", value_parser = positive_time, help_heading = "End")]
    duration: Option<Duration>,
    /// End after this many requests
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = "End")]
    requests: Option<u64>,
    /// End after this many wrong or missing answers
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "End")]
    max_errors: Option<u64>,
    /// End when the server uses this share of all cores for a second, such as 80%
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "server_pid", help_heading = "End")]
    max_cpu: Option<f64>,
    /// How long to send requests before measuring
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = time, help_heading = "End")]
    warmup: Duration,

    /// Use a new connection for each request
    #[arg(long, help_heading = "Connections")]
    no_keepalive: bool,
    /// The timeout of a request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_time, help_heading = "Connections")]
    timeout: Duration,
    /// An address to connect from; may be repeated, users take the addresses in turn
    #[arg(long = "source", value_name = "ADDRESS", value_parser = ip_address, help_heading = "Connections")]
    sources: Vec<IpAddr>,
    /// The number of driver threads
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<usize>, help_heading = "Connections")]
    threads: usize,
    /// The seed for random values
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole::<u64>)]
    seed: u64,
    /// The process id of the server on this machine; measures its use of CPU and memory
    #[arg(long, value_name = "PID", value_parser = count::<u32>, help_heading = "Connections")]
    pub(super) server_pid: Option<u32>,
}

/// What to do with a request of an open workload that is due while the maximum is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Busy {
    /// Drop and count the request
    Drop,
    /// Let the request wait, which counts as latency
    Wait,
}

impl Arguments {
    /// Returns an error if an option has a criterion about a value that isn't measured.
    pub(super) fn expect_measured(&self, option: &str, criterion: &Criterion) -> anyhow::Result<()> {
        let has_arrivals = self.rate.is_some() || !self.stages.is_empty();
        match criterion.metric {
            Metric::ServerCpu if self.server_pid.is_none() => {
                bail!("{option} {criterion} requires --server-pid, which gives the CPU time of the server")
            }
            Metric::Dropped | Metric::DropRate if !has_arrivals || self.when_busy == Busy::Wait => bail!(
                "{option} {criterion} requires --rate or --stage, without --when-busy wait: otherwise no request is \
                 dropped"
            ),
            _ => Ok(()),
        }
    }

    /// Returns an error for source addresses that this machine doesn't have, or that can't reach the server's address.
    pub(super) fn expect_sources(&self, server: IpAddr) -> anyhow::Result<()> {
        for source in &self.sources {
            if source.is_ipv4() != server.is_ipv4() {
                let version = if server.is_ipv4() { "IPv4" } else { "IPv6" };
                bail!("found --source {source}, expected an {version} address, because {server} is one");
            }
            let bound = TcpListener::bind((*source, 0));
            bound.with_context(|| format!("found --source {source}, expected an address of this machine"))?;
        }
        Ok(())
    }

    /// Returns the criterion that ends a search.
    pub(super) fn until(&self) -> Option<&Criterion> {
        match &self.until {
            Some(Goal::Until(criterion)) => Some(criterion),
            _ => None,
        }
    }

    /// Returns the plan for this many processes, and the search if there is one. One in `check_one_in` answers is checked in full. Each
    /// process has `files` open files that aren't the driver's.
    pub(super) fn plan(
        &self,
        check_one_in: u64,
        processes: usize,
        files: u64,
    ) -> anyhow::Result<(Plan, Option<Search>)> {
        let stages = match (self.rate, &*self.stages) {
            (Some(rate), _) => Some(vec![Stage { time: Duration::ZERO, from: rate, to: rate }]),
            (None, []) => None,
            (None, stages) => Some(stages.to_vec()),
        };
        let is_open = stages.is_some();
        if self.threads > MAX_THREADS {
            bail!("found --threads {}, expected at most {MAX_THREADS}", self.threads);
        }
        if self.rate.is_some() && self.most.is_some_and(|most| most > MAX_RATE) {
            bail!("found --most {}, expected at most 10000000 requests per second", self.most.unwrap_or_default());
        }
        let first = self.rate.or(self.users.map(|users| users as f64));
        if let (Some(first), Some(most)) = (first, self.most)
            && most < first
        {
            let of = if self.rate.is_some() { "--rate" } else { "--users" };
            bail!("found --most {most}, expected at least {first}, the load at which --until begins: {of} {first}");
        }
        if !is_open && (self.poisson || self.in_flight.is_some() || self.when_busy == Busy::Wait) {
            bail!("--poisson, --in-flight and --when-busy require --rate or --stage");
        }
        let connections = if is_open { self.in_flight } else { self.users };
        let connections = connections.unwrap_or(if is_open { DEFAULT_IN_FLIGHT } else { DEFAULT_USERS });
        let capacity = Capacity::new(processes, self.threads, files);
        let search = self.until.map(|goal| self.search(goal, connections, capacity));
        let (name, most) = match &search {
            Some(search) if search.axis == Axis::Users && self.most.is_some() => ("--most", search.max as usize),
            _ if is_open => ("--in-flight", connections),
            _ => ("--users", connections),
        };
        capacity.check(name, most.max(connections))?;
        let planned = (!self.stages.is_empty()).then(|| self.stages.iter().map(|stage| stage.time).sum());
        let after = match (self.duration, self.requests) {
            (Some(time), _) => Some(time),
            (None, Some(_)) => None,
            (None, None) => Some(planned.unwrap_or(DEFAULT_DURATION)),
        };
        let pace = match (stages, self.think, self.pacing) {
            (Some(stages), ..) => Pace::Arrivals(Arrivals {
                stages,
                spacing: if self.poisson { Spacing::Poisson } else { Spacing::Even },
                when_busy: if self.when_busy == Busy::Wait { WhenBusy::Wait } else { WhenBusy::Drop },
            }),
            (None, Some(think), _) => Pace::Think(think),
            (None, None, Some(period)) => Pace::Every(period),
            (None, None, None) => Pace::Closed,
        };
        let plan = Plan {
            pace,
            warmup: self.warmup,
            stop: Stop { after, requests: self.requests, errors: self.max_errors, server_cpu: self.max_cpu },
            connections,
            start: self.ramp.unwrap_or(Start::Together),
            keep_alive: !self.no_keepalive,
            sources: self.sources.clone().into(),
            threads: self.threads,
            timeout: self.timeout,
            verify_one_in: check_one_in,
            seed: self.seed,
            division: Division::default(),
        };
        Ok((plan, search))
    }

    fn search(&self, goal: Goal, users: usize, capacity: Capacity) -> Search {
        let (axis, first) = match self.rate {
            Some(rate) => (Axis::Rate, rate),
            None => (Axis::Users, users as f64),
        };
        let bound = match axis {
            Axis::Rate => MAX_RATE,
            Axis::Users => capacity.users() as f64,
        };
        let most = self.most.unwrap_or((first * SEARCH_FACTOR).min(bound));
        Search { axis, first: first.min(most), growth: self.growth, max: most, goal }
    }
}

fn think(text: &str) -> Result<Think, String> {
    match text.split_once(':') {
        None => time(text).map(Think::Fixed),
        Some(("exponential", mean)) => time(mean).map(Think::Exponential),
        Some(("uniform", range)) => {
            let (from, to) = range.split_once("..").ok_or("expected uniform:FROM..TO")?;
            let (from, to) = (time(from)?, time(to)?);
            if from > to {
                return Err("expected the shorter time first".to_owned());
            }
            Ok(Think::Uniform(from, to))
        }
        Some(_) => Err("expected a time, uniform:FROM..TO or exponential:MEAN".to_owned()),
    }
}

fn ramp(text: &str) -> Result<Start, String> {
    match text.contains('/') {
        true => quantity::rate(text).map(Start::PerSecond),
        false => time(text).map(Start::Within),
    }
}

fn stage(text: &str) -> Result<Stage, String> {
    let (time, rate) = text.split_once(':').ok_or("expected TIME:RATE or TIME:FROM..TO")?;
    let (from, to) = rate.split_once("..").unwrap_or((rate, rate));
    Ok(Stage { time: positive_time(time)?, from: rate_from_zero(from)?, to: rate_from_zero(to)? })
}

fn goal(text: &str) -> Result<Goal, String> {
    if text == "peak" {
        return Ok(Goal::Peak { gain: GAIN });
    }
    let criterion: Criterion = text.parse().map_err(|error: InvalidCriterion| error.to_string())?;
    let is_below = matches!(criterion.operator, Operator::Below | Operator::AtMost);
    match is_below && criterion.metric != Metric::RequestsPerSecond {
        // All other metrics grow with the load.
        true => {
            let meant = text.replace('<', ">");
            Err(format!(
                "expected the condition that ends the search, such as {meant}: the search finds the highest load at \
                 which it is false"
            ))
        }
        false => Ok(Goal::Until(criterion)),
    }
}

fn growth(text: &str) -> Result<f64, String> {
    match positive(text) {
        Ok(factor) if factor > 1.0 => Ok(factor),
        _ => Err("expected a factor above 1".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| positive(number.trim_end()).ok());
    let share = percent.filter(|percent| *percent <= 100.0).map(|percent| percent / 100.0);
    share.ok_or_else(|| "expected a percentage, as 80%".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        load: Arguments,
    }

    fn plan(flags: &str) -> (Plan, Option<Search>) {
        let words = std::iter::once("load").chain(flags.split_whitespace());
        Flags::try_parse_from(words).unwrap().load.plan(100, 1, 0).unwrap()
    }

    #[test]
    fn it_is_bounded_unless_asked() {
        let (plan, search) = plan("");
        assert_eq!((plan.pace, plan.connections, plan.stop.after), (Pace::Closed, 4, Some(DEFAULT_DURATION)));
        assert!(search.is_none() && plan.verify_one_in == 100);
    }

    #[test]
    fn closed_models() {
        let seconds = Duration::from_secs;
        let pace = |flags: &str| plan(flags).0.pace;
        assert_eq!(pace("--think 1s"), Pace::Think(Think::Fixed(seconds(1))));
        assert_eq!(pace("--think uniform:1s..3s"), Pace::Think(Think::Uniform(seconds(1), seconds(3))));
        assert_eq!(pace("--think exponential:2"), Pace::Think(Think::Exponential(seconds(2))));
        assert_eq!(pace("--pacing 2m"), Pace::Every(seconds(120)));
        assert_eq!(plan("--ramp 30s").0.start, Start::Within(seconds(30)));
        assert_eq!(plan("--ramp 30/min").0.start, Start::PerSecond(0.5));
        let (plan, _) = plan("--users 50 --requests 7 --max-errors 2 --server-pid 1 --max-cpu 80%");
        assert_eq!(plan.connections, 50);
        assert_eq!(plan.stop, Stop { after: None, requests: Some(7), errors: Some(2), server_cpu: Some(0.8) });
    }

    #[test]
    fn open_models() {
        let arrivals = |flags: &str| match plan(flags).0.pace {
            Pace::Arrivals(arrivals) => arrivals,
            other => panic!("{other:?}"),
        };
        let constant = arrivals("--rate 50");
        assert_eq!(
            (constant.rate(), constant.spacing, constant.when_busy),
            (Some(50.0), Spacing::Even, WhenBusy::Drop)
        );
        let waiting = arrivals("--rate 50 --poisson --when-busy wait");
        assert_eq!((waiting.spacing, waiting.when_busy), (Spacing::Poisson, WhenBusy::Wait));
        let (plan, _) = plan("--stage 10s:0..100 --stage 5s:100 --in-flight 9");
        assert_eq!((plan.connections, plan.stop.after), (9, Some(Duration::from_secs(15))), "as long as its stages");
    }

    #[test]
    fn searches() {
        let of = |flags: &str| plan(flags).1.unwrap();
        let users = of("--users 2 --until p99>50ms");
        assert_eq!((users.axis, users.first, users.max, users.growth), (Axis::Users, 2.0, 128.0, 2.0));
        let rate = of("--rate 100 --until errors>0 --most 500 --growth 1.5");
        assert_eq!((rate.axis, rate.first, rate.max, rate.growth), (Axis::Rate, 100.0, 500.0, 1.5));
        assert_eq!(of("--until peak").goal, Goal::Peak { gain: 0.05 });
        // The number of users to start with isn't given, so --most limits it.
        assert_eq!(of("--until peak --most 2").first, 2.0);
        assert_eq!(goal("rps<500"), Ok(Goal::Until("rps<500".parse().unwrap())));
        assert_eq!(
            goal("p99<50ms").unwrap_err(),
            "expected the condition that ends the search, such as p99>50ms: the search finds the highest load at \
             which it is false"
        );
    }

    #[test]
    fn a_search_tries_no_more_users_than_the_driver_can_have() {
        assert!(plan("--users 90 --until peak").1.unwrap().max <= 90.0 * SEARCH_FACTOR);
    }

    #[test]
    fn contradictory_options_are_rejected() {
        for flags in [
            "--users 0",
            "--timeout 0",
            "--requests 0",
            "--duration 0s",
            "--think soon",
            "--think uniform:3s..1s",
            "--think 1s --pacing 1s",
            "--ramp 5/day",
            "--rate 0",
            "--rate 1e12",
            "--stage 1s:0..1e12",
            "--rate 1 --users 2",
            "--stage 1s",
            "--stage 0:5",
            "--until p99",
            "--growth 2",
            "--max-cpu 80%",
            "--max-cpu 120% --server-pid 1",
            "--max-cpu 0.8 --server-pid 1",
            "--until p99<50ms",
            "--until errors<=5",
            "--duration 99999999999h",
        ] {
            let words = std::iter::once("load").chain(flags.split_whitespace());
            assert!(Flags::try_parse_from(words).is_err(), "{flags}");
        }
        for flags in [
            "--poisson",
            "--in-flight 3",
            "--threads 1025",
            "--users 99999999999",
            "--rate 1 --in-flight 99999999999",
            "--until peak --most 1e11",
            "--rate 1 --until peak --most 1e11",
            "--users 4 --until peak --most 1",
            "--rate 100 --until peak --most 50",
        ] {
            let words = std::iter::once("load").chain(flags.split_whitespace());
            assert!(Flags::try_parse_from(words).unwrap().load.plan(1, 1, 0).is_err(), "{flags}");
        }
    }
}
