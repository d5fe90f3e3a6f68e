//! `castile bench`: starts the servers, drives every case, reports.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use castile_load::{Arrivals, Bench, Case, Pace, Placement, Plan, Progress, Server, Stop, Target};

use crate::process;

/// The suites, and the number of connections that each was published with.
const SUITES: [(&str, usize); 3] = [("benchmark1", 25), ("styles", 25), ("wstest", 16)];

/// Measure the services: start them, drive every case, check every answer, write a report
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The suites to run [default: all: benchmark1 styles wstest]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
    /// Run only this case, or all cases of this operation; may be repeated
    #[arg(long = "op", value_name = "CASE")]
    operations: Vec<String>,
    /// Connections open at a time [default: as the suite was published: benchmark1 25, styles 25, wstest 16]
    #[arg(long, value_name = "N")]
    connections: Option<NonZeroUsize>,
    /// How long to warm up before each run; a bare number is seconds
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    warmup: Duration,
    /// How long each run is measured; a bare number is seconds
    #[arg(long, value_name = "TIME", default_value = "600ms", value_parser = duration)]
    duration: Duration,
    /// Runs of each case against each target; they take turns
    #[arg(long, value_name = "N", default_value = "3")]
    runs: NonZeroUsize,
    /// Use a new connection for each request
    #[arg(long)]
    no_keepalive: bool,
    /// Send this many requests per second, whatever the server does, and measure latency from the time each was due
    #[arg(long, value_name = "R", value_parser = rate)]
    rate: Option<f64>,
    /// Leave out the HTTP floor
    #[arg(long)]
    no_floor: bool,
    /// Let the system choose the cores of server and driver
    #[arg(long)]
    no_pin: bool,
    /// Measure another endpoint of the same contract instead of Castile's own server
    #[arg(long)]
    url: Option<String>,
    /// Where to write results.json and index.html
    #[arg(long, value_name = "DIR", default_value = "castile-report")]
    out: PathBuf,
}

/// Runs the bench; an interruption ends it, and with it the servers it started.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            result = measure(arguments) => result,
            result = process::asked_to_end() => {
                result.context("can't wait for signals")?;
                bail!("interrupted, so nothing was reported")
            }
        }
    })
}

async fn measure(arguments: Arguments) -> anyhow::Result<()> {
    let placement = if arguments.no_pin { Placement::free() } else { Placement::apart() };
    placement.enter_driver()?;
    let mut bench = Bench {
        loads: loads(&arguments, placement.driver_threads())?,
        targets: Vec::new(),
        warmup: arguments.warmup,
        runs: arguments.runs.get(),
        placement,
        command: own_command(),
    };
    let target = match &arguments.url {
        Some(url) => Target::url(url)?,
        None => Target::server("castile", start(&bench.placement, "serve", &[])?),
    };
    let answers = bench.ask_each(&target).await.context("there is nothing to measure")?;
    bench.targets.push(target);
    if !arguments.no_floor {
        bench.targets.push(start_floor(&bench.placement, &answers)?);
    }

    let seconds = bench.planned().as_secs_f64();
    let cases = match bench.loads.len() {
        1 => "1 case".to_owned(),
        many => format!("{many} cases"),
    };
    eprintln!("{cases}, {seconds:.0} s; {}", bench.placement);
    let mut progress = Progress::new(bench.planned());
    let results = bench.run(&mut progress).await;
    drop(progress);
    let results = results?;
    // The servers have done their part; whoever reads the table needs no cores from them.
    drop(bench);

    println!("{}", results.table());
    println!("{}", results.placement);
    for warning in &results.warnings {
        println!("! {warning}");
    }
    for (row, message) in results.rows().flat_map(|row| row.error_messages.iter().map(move |message| (row, message))) {
        println!("! {} ({}): {message}", row.case, row.target);
    }
    for file in results.write(&arguments.out)? {
        println!("{}", file.display());
    }
    match results.errors() {
        0 => Ok(()),
        errors => bail!("{errors} wrong or missing answers"),
    }
}

/// The cases asked for, each with its plan.
fn loads(arguments: &Arguments, threads: usize) -> anyhow::Result<Vec<(Case, Plan)>> {
    let known = || SUITES.map(|(name, _)| name).join(", ");
    for suite in &arguments.suites {
        if !SUITES.iter().any(|(name, _)| name == suite) {
            bail!("found suite {suite:?}, expected one of {}", known());
        }
    }
    let chosen: Vec<_> = SUITES
        .into_iter()
        .filter(|(name, _)| arguments.suites.is_empty() || arguments.suites.iter().any(|suite| suite == name))
        .collect();
    if arguments.url.is_some() && chosen.len() != 1 {
        bail!("--url is the endpoint of one suite: name it, one of {}", known());
    }
    let mut loads = Vec::new();
    let mut names = Vec::new();
    for (suite, published) in chosen {
        for case in castile_suites::cases(suite) {
            names.push(case.name.clone());
            if !arguments.operations.is_empty()
                && !arguments.operations.iter().any(|operation| selects(operation, &case.name))
            {
                continue;
            }
            let plan = Plan {
                pace: match arguments.rate {
                    None => Pace::Closed,
                    Some(per_second) => Pace::Arrivals(Arrivals::constant(per_second)),
                },
                stop: Stop::after(arguments.duration),
                connections: arguments.connections.map_or(published, NonZeroUsize::get),
                keep_alive: !arguments.no_keepalive,
                threads,
                ..Plan::default()
            };
            loads.push((case, plan));
        }
    }
    let unknown = |operation: &&String| !names.iter().any(|name| selects(operation, name));
    if let Some(operation) = arguments.operations.iter().find(unknown) {
        bail!("found case {operation:?}, expected one of {}", names.join(", "));
    }
    Ok(loads)
}

/// A case is selected by its name, or by its operation alone.
fn selects(operation: &str, case: &str) -> bool {
    case.strip_prefix(operation).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Starts a command of this binary as a server on a free port of the loopback interface.
fn start(placement: &Placement, name: &str, more: &[std::ffi::OsString]) -> anyhow::Result<Server> {
    let binary = std::env::current_exe().context("can't find this program to start it as a server")?;
    let mut command = Command::new(binary);
    command.arg(name).args(process::Arguments::CHILD).args(more);
    Ok(Server::start(&format!("castile {name}"), command, placement)?)
}

/// Starts the floor with what the server under test answered.
fn start_floor(placement: &Placement, answers: &[Vec<Bytes>]) -> anyhow::Result<Target> {
    // The floor has read the files when it listens, so they may go with this function.
    let directory = tempfile::tempdir().context("no place for the answers of the floor")?;
    let mut more = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        let file = directory.path().join(index.to_string());
        // One answer each so far; a list of requests has no floor.
        std::fs::write(&file, answer.first().map_or(&[][..], |body| body))
            .with_context(|| file.display().to_string())?;
        more.extend(["--answer".into(), file.into()]);
    }
    Ok(Target::floor(start(placement, "floor", &more)?))
}

/// The command that repeats this bench.
fn own_command() -> String {
    let quoted = |argument: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
        match argument.chars().all(plain) && !argument.is_empty() {
            true => argument,
            false => format!("'{}'", argument.replace('\'', r"'\''")),
        }
    };
    let arguments = std::env::args().skip(1).map(quoted);
    std::iter::once("castile".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// A bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?,
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string())?,
    };
    Ok(seconds)
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("expected a number of requests per second above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds_or_have_a_unit() {
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1m"), Ok(Duration::from_secs(60)));
        assert!(duration("-1").is_err() && duration("soon").is_err());
    }

    #[test]
    fn a_case_is_selected_by_name_or_operation() {
        assert!(selects("echoInts", "echoInts-100") && selects("echoInts-1", "echoInts-1"));
        assert!(!selects("echoInts-1", "echoInts-100") && !selects("echo", "echoVoid"));
    }
}
