//! `castile bench`: starts the servers, drives every case, reports.

mod adjust;
mod profile;
mod schedule;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use bytes::Bytes;
use castile_load::report::{Results, Row};
use castile_load::{Against, Bench, Driver, Interrupt, Load, Network, Placement, Progress, Server, Target, ab};
use castile_suites::{SUITES, Suite};

use self::profile::Profile;
use crate::peers::Peer;
use crate::{outcome, process};

/// The suite that was published across a network as well, each side on a machine of its own.
const ACROSS_A_NETWORK: &str = "seismic";

/// Measure the services: start them, drive every case, check every answer, write a report
#[derive(clap::Args)]
#[command(after_help = outcome::EXIT_CODES)]
pub(crate) struct Arguments {
    /// The suites to run [default: all: seismic styles wstest wspex benchmark1]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
    /// How the suites are driven; the options below override what it says
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
    /// Run only this case, or all cases of this operation; may be repeated
    #[arg(long = "op", value_name = "CASE")]
    operations: Vec<String>,
    #[command(flatten)]
    adjust: adjust::Arguments,
    /// Leave out the HTTP floor
    #[arg(long)]
    no_floor: bool,
    /// Let the system choose the cores of server and driver
    #[arg(long)]
    no_pin: bool,
    /// Measure another endpoint of the same contract instead of Castile's own server
    #[arg(long)]
    url: Option<String>,
    /// Measure these peers beside, in turn, each once all its answers were found right; `castile peers` lists them
    #[arg(long = "peer", value_name = "NAME", value_delimiter = ',')]
    peers: Vec<String>,
    /// The quakes of the seismic suite, a line for each, packed by gzip or not [default: quakes that are made up]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// For seismic: measure also across a network of this rate, as 100Mbit, simulated between two namespaces (Linux, with
    /// iproute2; it leaves nothing behind)
    #[arg(long, value_name = "RATE", conflicts_with = "url")]
    network: Option<Network>,
    /// Show what would be driven, and how long it takes, and end
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    outcome: outcome::Arguments,
    /// Where to write results.json and index.html
    #[arg(long, value_name = "DIR", default_value = "castile-report", help_heading = "Reports")]
    out: PathBuf,
}

/// Runs the bench and gives the exit code.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::of(prepare(arguments), |bench| {
        // A process can go elsewhere as a whole only as long as it is one thread.
        if arguments.network.is_some() {
            Network::enter()?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let interrupt = bench.interrupt.clone();
        runtime.block_on(async {
            tokio::select! {
                result = measure(arguments, bench) => tell(arguments, &result?),
                error = interrupted(&interrupt) => Err(error),
            }
        })
    })
}

/// The first time that the process is asked to end, the bench ends with what it has; the second time all ends at once.
pub(crate) async fn interrupted(interrupt: &Interrupt) -> anyhow::Error {
    if let Err(error) = process::asked_to_end().await {
        return anyhow::Error::new(error).context("can't wait for signals");
    }
    interrupt.now();
    eprintln!("interrupted: reporting what was measured; once more to end at once");
    match process::asked_to_end().await {
        Ok(()) => anyhow!("interrupted twice, so nothing was reported"),
        Err(error) => anyhow::Error::new(error).context("can't wait for signals"),
    }
}

/// All but the targets. There is no bench for a dry run.
fn prepare(arguments: &Arguments) -> anyhow::Result<Option<Bench>> {
    let placement = if arguments.no_pin { Placement::free() } else { Placement::apart() };
    let chosen = suites(arguments)?;
    let loads = loads(arguments, &chosen, placement.driver_threads())?;
    for peer in peers(arguments)? {
        if !loads.iter().any(|load| peer.serves(&load.case)) {
            bail!("the peer {} serves nothing of what is measured", peer.name);
        }
    }
    if arguments.dry_run {
        print!("{}", schedule::text(&loads, !arguments.no_floor, arguments.network));
        return Ok(None);
    }
    let targets = arguments.url.iter().map(|url| Target::url(url)).collect::<Result<_, _>>()?;
    Ok(Some(Bench { loads, targets, placement, command: own_command(), interrupt: Interrupt::default() }))
}

async fn measure(arguments: &Arguments, mut bench: Bench) -> anyhow::Result<Results> {
    bench.placement.enter_driver()?;
    let target = match bench.targets.pop() {
        Some(target) => target,
        None => Target::server("castile", start(&bench.placement, "serve", None, &data(arguments))?),
    };
    let answers = bench.ask_each(&target).await.context("there is nothing to measure")?;
    bench.targets.push(target);
    let cold = start_peers(&mut bench, arguments).await?;
    if let Some(network) = arguments.network {
        let server = start(&bench.placement, "serve", Some(network), &data(arguments))?;
        network.connect()?;
        let target = Target::server("castile", server).across(network.to_string());
        bench.ask_each(&target).await.context("there is nothing to measure across the network")?;
        bench.targets.push(target);
    }
    if !arguments.no_floor {
        bench.targets.push(start_floor(&bench, &answers, arguments.profile)?);
    }

    let rows = match bench.rows() {
        1 => "1 row".to_owned(),
        many => format!("{many} rows"),
    };
    eprintln!("{rows}, {}; {}", schedule::time(bench.planned()), bench.placement);
    let mut progress = Progress::new(bench.planned());
    let results = bench.run(&mut progress).await;
    drop(progress);
    let mut results = results?;
    // The servers have done their part; whoever reads the table needs no cores from them.
    drop(bench);
    for suite in &mut results.suites {
        suite.published = castile_suites::suite(&suite.suite).map(|known| (known.published)()).unwrap_or_default();
    }
    if !cold.is_empty() {
        results.warnings.push(format!("Measured cold, so they can do more than measured: {}", cold.join(", ")));
    }
    Ok(results)
}

/// Prints the results, writes the report, and gives the exit code.
fn tell(arguments: &Arguments, results: &Results) -> anyhow::Result<u8> {
    if results.suites.is_empty() {
        bail!("nothing was measured, so nothing was written");
    }
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
    arguments.outcome.write(results, Row::wrong)?;
    arguments.outcome.judge(results, results.rows().map(|row| row.requests).sum(), results.errors())
}

/// The suites asked for.
fn suites(arguments: &Arguments) -> anyhow::Result<Vec<&'static Suite>> {
    let known = || SUITES.map(|suite| suite.name).join(", ");
    for name in &arguments.suites {
        if castile_suites::suite(name).is_none() {
            bail!("found suite {name:?}, expected one of {}", known());
        }
    }
    let asked = |suite: &&Suite| arguments.suites.is_empty() || arguments.suites.iter().any(|name| name == suite.name);
    let chosen: Vec<_> = SUITES.iter().filter(asked).collect();
    if arguments.url.is_some() && chosen.len() != 1 {
        bail!("--url is the endpoint of one suite: name it, one of {}", known());
    }
    if arguments.network.is_some()
        && let Some(other) = chosen.iter().find(|suite| suite.name != ACROSS_A_NETWORK)
    {
        bail!("found suite {}, expected {ACROSS_A_NETWORK} alone: --network is for no other", other.name);
    }
    Ok(chosen)
}

/// The cases asked for, each with the way it is driven.
fn loads(arguments: &Arguments, suites: &[&Suite], threads: usize) -> anyhow::Result<Vec<Load>> {
    let with_ab = ab::is_installed();
    let everything = arguments.operations.is_empty();
    let all = suites.iter().flat_map(|suite| arguments.profile.loads(suite, with_ab, everything));
    let mut loads = arguments.adjust.apply(all.collect());
    let mut names: Vec<String> = loads.iter().map(|load| load.case.name.clone()).collect();
    names.sort();
    names.dedup();
    let unknown = |operation: &&String| !names.iter().any(|name| selects(operation, name));
    if let Some(operation) = arguments.operations.iter().find(unknown) {
        bail!("found case {operation:?}, expected one of {}", names.join(", "));
    }
    let selected = |name: &str| arguments.operations.iter().any(|operation| selects(operation, name));
    loads.retain(|load| arguments.operations.is_empty() || selected(&load.case.name));
    if loads.is_empty() {
        bail!("nothing is left to measure: no method of the profile is as the options say");
    }
    for load in &mut loads {
        load.plan.threads = threads;
    }
    Ok(loads)
}

fn data(arguments: &Arguments) -> Vec<OsString> {
    arguments.data.iter().flat_map(|file| ["--data".into(), file.into()]).collect()
}

/// A case is selected by its name, or by its operation alone.
pub(crate) fn selects(operation: &str, case: &str) -> bool {
    case.strip_prefix(operation).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Starts a command of this binary as a server on a free port of the loopback interface, or across a network.
fn start(placement: &Placement, name: &str, network: Option<Network>, more: &[OsString]) -> anyhow::Result<Server> {
    let binary = std::env::current_exe().context("can't find this program to start it as a server")?;
    let mut command = Command::new(binary);
    command.arg(name).args(process::Arguments::of_child(network)).args(more);
    Ok(Server::start(&format!("castile {name}"), command, placement)?)
}

/// The peers asked for.
fn peers(arguments: &Arguments) -> anyhow::Result<Vec<Peer>> {
    match &arguments.peers[..] {
        [] => Ok(Vec::new()),
        names => Peer::named(Path::new(Peer::DIRECTORY), names),
    }
}

/// Starts peers, asks them for every case that they serve, and names those that will be measured cold: a quick bench has no
/// time to wait for them.
async fn start_peers(bench: &mut Bench, arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let mut cold = Vec::new();
    for peer in peers(arguments)? {
        let served = bench.loads.iter().map(|load| &load.case).filter(|case| peer.serves(case));
        let mut target = Target::server(&peer.name, peer.start(&bench.placement)?).for_cases(served);
        if arguments.profile != Profile::Quick {
            target = target.warmed_for(peer.warmup());
        } else if bench.loads.iter().any(|load| load.plan.warmup < peer.warmup()) {
            cold.push(peer.name.clone());
        }
        bench.ask_each(&target).await.with_context(|| format!("the peer {} is not measured", peer.name))?;
        bench.targets.push(target);
    }
    Ok(cold)
}

/// Starts the floor with what the server under test answered.
///
/// It is driven for each load with one message; in a quick bench once for all that are driven alike and move as many bytes, for
/// to the floor content is nothing but its length.
fn start_floor(bench: &Bench, answers: &[Vec<Bytes>], profile: Profile) -> anyhow::Result<Target> {
    // The floor has read the files when it listens, so they may go with this function.
    let directory = tempfile::tempdir().context("no place for the answers of the floor")?;
    let mut more = Vec::new();
    let mut numbers = Vec::new();
    let mut measured = Vec::new();
    let mut count = 0;
    for (load, answers) in bench.loads.iter().zip(answers) {
        let ([message], [answer]) = (load.case.messages(), &answers[..]) else {
            numbers.push(None);
            continue;
        };
        let size = (message.body.len(), answer.len());
        let alike = (load.case.suite.clone(), load.plan.connections, load.plan.keep_alive, size, load.search.is_some());
        let again = profile == Profile::Quick && measured.contains(&alike);
        if again || load.against == Against::Servers || load.driver != Driver::Own {
            numbers.push(None);
            continue;
        }
        measured.push(alike);
        let file = directory.path().join(count.to_string());
        std::fs::write(&file, answer).with_context(|| file.display().to_string())?;
        more.extend(["--answer".into(), file.into()]);
        numbers.push(Some(count));
        count += 1;
    }
    Ok(Target::floor(start(&bench.placement, "floor", None, &more)?, numbers))
}

/// The command that repeats this bench.
pub(crate) fn own_command() -> String {
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
