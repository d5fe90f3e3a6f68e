//! `castile bench`: starts the servers, drives every case, and reports the results.

mod adjust;
mod participants;
mod profile;
mod schedule;
#[cfg(feature = "contracts")]
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use castile_load::{Bench, Case, Interrupt, Load, Network, Placement, Progress, ab, with_warnings};
use castile_report::{FLOOR, Results, Row, Term};
use castile_suites::seismic::catalogue::Catalogue;
use castile_suites::{SUITES, Suite};

use self::participants::{Answers, Participants, StartedTargets};
use self::profile::Profile;
use crate::cases::{self, selects};
use crate::peers::Peer;
use crate::{errors, login, measurement, outcome, output, process, tls};

/// The suite that was also published with client and server on two machines in a network.
const ACROSS_A_NETWORK: &str = "seismic";
/// The `--peer` value that selects all peers that serve at least one of the measured cases.
const ALL_PEERS: &str = "all";
/// How many runs of a row may be repeated because other processes used the cores.
const REPEATS: usize = 2;

/// Benchmark the services of the suites: start the servers, drive every case, check every answer, write a report
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The suites to run [default: all: seismic styles wstest wspex benchmark1 seismic-security]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
    /// How the suites are driven; the options below override the profile
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
    /// Run only this case, in all styles or in that of 'CASE STYLE', or all cases of this operation; may be repeated
    #[arg(long = "op", value_name = "CASE")]
    operations: Vec<String>,
    #[command(flatten)]
    adjust: adjust::Arguments,
    /// Don't measure the HTTP floor
    #[arg(long)]
    no_floor: bool,
    /// Don't pin server and driver to cores
    #[arg(long)]
    no_pin: bool,
    /// Measure the server at this URL, which implements the same contract, instead of Castile's own server
    #[arg(long)]
    url: Option<String>,
    /// A header field for each HTTP request to the server at --url
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
    headers: Vec<String>,
    #[cfg(feature = "contracts")]
    #[command(flatten)]
    worker: worker::Arguments,
    /// Also measure these peers, or `all` of them, in turn with Castile. A peer is measured only if all its answers are correct. `castile
    /// peers` lists the peers
    #[arg(long = "peer", value_name = "NAME", value_delimiter = ',')]
    peers: Vec<String>,
    /// The quakes of the seismic suite: a file with one quake per line, optionally compressed with gzip. Peers have only the generated
    /// quakes [default: generated quakes]
    #[arg(long, value_name = "FILE", conflicts_with = "peers")]
    data: Option<PathBuf>,
    /// For seismic: also measure across a network of this rate, such as 100Mbit. The network is simulated between two network namespaces
    /// (Linux, needs iproute2), which are removed at the end
    #[arg(long, value_name = "RATE", conflicts_with = "url")]
    network: Option<Network>,
    /// Show what would be measured and how long it takes, and exit
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    outcome: outcome::Arguments,
    #[command(flatten)]
    login: login::Arguments,
    #[command(flatten)]
    over_tls: tls::BenchArguments,
    #[command(flatten)]
    tls: tls::ClientArguments,
    /// The folder for results.json and index.html
    #[arg(long, value_name = "DIR", default_value = "castile-report", help_heading = "Reports")]
    out: PathBuf,
}

/// What to measure, and which servers take part.
struct Measurement {
    loads: Vec<Load>,
    participants: Participants,
    placement: Placement,
    interrupt: Interrupt,
}

/// Runs the bench and returns the exit code.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    #[cfg(feature = "contracts")]
    if let Some(address) = arguments.worker.address() {
        return outcome::run(worker::prepare(arguments).map(Some), |bench| arguments.worker.work(bench, address));
    }
    outcome::run(prepare(arguments), |measurement| {
        // Only a single-threaded process can move to another namespace as a whole.
        if arguments.network.is_some() {
            Network::enter().map_err(outcome::not_started)?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let interrupt = measurement.interrupt.clone();
        let mut results = runtime.block_on(async {
            tokio::select! {
                results = measurement.measure(arguments.profile) => results,
                error = measurement::interrupted(&interrupt) => Err(error),
            }
        })?;
        process::end_on_signal();
        arguments.outcome.record(&mut results);
        report(arguments, &results)
    })
}

/// Prepares everything except the servers. Returns `None` for a dry run.
fn prepare(arguments: &Arguments) -> anyhow::Result<Option<Measurement>> {
    let placement = if arguments.no_pin { Placement::free() } else { Placement::apart() };
    let chosen = suites(arguments)?;
    arguments.adjust.check(placement.driver_threads())?;
    outcome::expect_folder(&arguments.out)?;
    Results::expect_own(&arguments.out)?;
    if let Some(file) = &arguments.data {
        Catalogue::open(file).with_context(|| format!("can't read {}", file.display()))?;
    }
    arguments.outcome.expect_files(Some(&arguments.out), None)?;
    let loads = loads(arguments, &chosen, placement.driver_threads())?;
    let url = match &arguments.url {
        Some(url) => {
            let headers = login::headers(&arguments.headers)?;
            arguments.login.expect_no_other(&headers)?;
            Some((url.clone(), arguments.login.endpoint(url, &arguments.tls, &headers)?))
        }
        None if arguments.tls.is_given() => bail!("{} can only be used with --url", tls::FOR_CLIENTS),
        None if arguments.login.is_given() => bail!("{} can only be used with --url", login::OPTIONS),
        None => None,
    };
    let participants = Participants {
        url,
        peers: peers(arguments, &loads)?,
        network: arguments.network,
        with_floor: !arguments.no_floor,
        warms: arguments.profile != Profile::Quick,
        data: arguments.data.clone(),
        tls: arguments.over_tls.load()?,
    };
    if arguments.dry_run {
        output::text(&schedule::text(&loads, &participants));
        return Ok(None);
    }
    Ok(Some(Measurement { loads, participants, placement, interrupt: Interrupt::default() }))
}

impl Measurement {
    /// Measures the suites one after another. The servers are started again for each suite.
    async fn measure(&self, profile: Profile) -> anyhow::Result<Results> {
        let Measurement { loads, participants, placement, interrupt } = self;
        placement.enter_driver()?;
        let answers = self.answers(profile).await?;
        let target_count = |(index, load): (usize, &Load)| {
            let is_there = |name: &String| name != FLOOR || answers.as_ref().is_some_and(|answers| answers.has(index));
            participants.names(load).into_iter().filter(is_there).count() as u32
        };
        let rows: u32 = loads.iter().enumerate().map(target_count).sum();
        let run_time: Duration =
            loads.iter().enumerate().map(|(index, load)| load.planned() * target_count((index, load))).sum();
        let planned =
            run_time + schedule::suites_of(loads).map(|loads| schedule::warming(loads, participants)).sum::<Duration>();
        note!("{rows} row{}, {}; {placement}", if rows == 1 { "" } else { "s" }, schedule::time(planned));

        let mut progress = Progress::new(planned);
        let mut targets = StartedTargets::default();
        let mut results: Option<Results> = None;
        let mut first = 0;
        for loads in schedule::suites_of(loads) {
            let bench = Bench {
                loads: loads.to_vec(),
                targets: Vec::new(),
                placement: placement.clone(),
                repeats: REPEATS,
                command: measurement::own_command(),
                interrupt: interrupt.clone(),
            };
            let answers = answers.as_ref().and_then(|answers| answers.floor(first..first + loads.len()));
            first += loads.len();
            let part = measure(bench, participants, answers.as_ref(), &mut targets, &mut progress).await;
            match (part, &mut results) {
                (Ok(part), None) => results = Some(part),
                (Ok(part), Some(results)) => results.append(part),
                (Err(error), None) => return Err(error),
                (Err(error), Some(results)) => {
                    results.mark_incomplete([format!("not everything was measured: {}", errors::in_full(&error))]);
                    break;
                }
            }
            if interrupt.is_set() {
                break;
            }
        }
        let mut results = results.context("there is nothing to measure")?;
        results.targets = targets.targets();
        for suite in &mut results.suites {
            let Some(targets) = castile_suites::suite(&suite.suite) else { continue };
            suite.published = (targets.published)();
            suite.about = Some(targets.about.to_owned());
            let term = |&(name, meaning): &(&str, &str)| Term { name: name.to_owned(), meaning: meaning.to_owned() };
            suite.terms = targets.terms.iter().map(term).collect();
        }
        let cold = participants.cold(loads);
        if !cold.is_empty() {
            results.warnings.push(format!(
                "Measured before the warm-up was complete, so their real throughput may be higher: {}",
                cold.join(", ")
            ));
        }
        Ok(with_warnings(results))
    }

    /// Returns the answers of the server under test, which the HTTP floor sends, or `None` without a floor. They are requested once for all
    /// suites, before anything is measured, so a server with wrong answers isn't measured.
    async fn answers(&self, profile: Profile) -> anyhow::Result<Option<Answers>> {
        let Measurement { loads, participants, placement, interrupt } = self;
        let bench = Bench {
            loads: loads.clone(),
            targets: Vec::new(),
            placement: placement.clone(),
            repeats: 0,
            command: String::new(),
            interrupt: interrupt.clone(),
        };
        let mut target = participants.castile_target(placement)?;
        if participants.url.is_some() {
            target.reach(&loads[0].plan).await.map_err(outcome::not_started)?;
        }
        let answers = bench.ask_each(&mut target).await.context("there is nothing to measure")?;
        participants.with_floor.then(|| Answers::of(loads, &answers, profile == Profile::Quick)).transpose()
    }
}

/// Measures one suite. The servers are stopped at its end, so that they don't use cores during the next suite.
async fn measure(
    mut bench: Bench,
    participants: &Participants,
    floor: Option<&participants::Floor<'_>>,
    targets: &mut StartedTargets,
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    let dropped = participants.start(&mut bench, floor, targets, progress).await?;
    let mut results = bench.run(progress).await?;
    results.mark_incomplete(dropped);
    Ok(results)
}

/// Writes the reports, prints and judges the results, and returns the exit code. The files are written first because the measurement took
/// long. If writing fails, the results are printed anyway.
fn report(arguments: &Arguments, results: &Results) -> anyhow::Result<u8> {
    if results.suites.is_empty() {
        bail!("nothing was measured, so no report was written");
    }
    let saved = save(arguments, results);
    out!("{}", results.table());
    out!("{}", results.placement);
    for warning in &results.warnings {
        out!("{}", castile_report::note(&format!("! {warning}")));
    }
    for (row, reason) in results.rows().flat_map(|row| row.reasons.iter().map(move |reason| (row, reason))) {
        out!("! {} ({}): {}", row.case, row.target, castile_xml::visible(&reason.to_string()));
    }
    outcome::list(&saved?);
    let not_sent = results.wholes().map(|row| row.not_sent).sum();
    arguments.outcome.judge(results, results.rows().map(|row| row.requests).sum(), results.errors(), not_sent)
}

/// Writes the reports and returns their paths.
fn save(arguments: &Arguments, results: &Results) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = results.write(&arguments.out)?;
    files.extend(arguments.outcome.write(results, Row::wrong)?);
    Ok(files)
}

/// Returns the suites named on the command line.
fn suites(arguments: &Arguments) -> anyhow::Result<Vec<&'static Suite>> {
    for name in &arguments.suites {
        if castile_suites::suite(name).is_none() {
            bail!("found suite {name:?}, expected one of {}", cases::suites());
        }
    }
    let asked = |suite: &&Suite| arguments.suites.is_empty() || arguments.suites.iter().any(|name| name == suite.name);
    let chosen: Vec<_> = SUITES.iter().filter(asked).collect();
    if arguments.url.is_some() && chosen.len() != 1 {
        bail!("--url is the endpoint of one suite, expected its name: one of {}", cases::suites());
    }
    if arguments.network.is_some()
        && let Some(other) = chosen.iter().find(|suite| suite.name != ACROSS_A_NETWORK)
    {
        bail!("found suite {}, expected {ACROSS_A_NETWORK}: --network supports no other suite", other.name);
    }
    Ok(chosen)
}

/// Returns the cases named on the command line, each with the way it is driven.
fn loads(arguments: &Arguments, suites: &[&Suite], threads: usize) -> anyhow::Result<Vec<Load>> {
    // ab is not used with a login, a proxy or header fields, because it would send its requests without them.
    let with_ab = ab::is_installed() && !arguments.login.is_given() && arguments.headers.is_empty();
    let everything = arguments.operations.is_empty();
    let all = suites.iter().flat_map(|suite| arguments.profile.loads(suite, with_ab, everything));
    let mut loads = arguments.adjust.apply(all.collect());
    let mut names: Vec<String> = loads.iter().map(|load| load.case.name.clone()).collect();
    names.sort();
    names.dedup();
    let unknown = |operation: &&String| !loads.iter().any(|load| is_selected(load, operation));
    if let Some(operation) = arguments.operations.iter().find(unknown) {
        bail!("found case {operation:?}, expected one of {}", names.join(", "));
    }
    let selected = |load: &Load| arguments.operations.iter().any(|operation| is_selected(load, operation));
    loads.retain(|load| arguments.operations.is_empty() || selected(load));
    if loads.is_empty() {
        bail!("there is nothing to measure: the options exclude all methods of the profile");
    }
    if let Some(method) = arguments.adjust.unused_method(&loads) {
        bail!("no measured case uses the method {method}");
    }
    for load in &mut loads {
        load.plan.threads = threads;
    }
    Ok(loads)
}

/// Returns whether an operation of the command line is the case of a load: by its name, with its style as well, or by the operation that its
/// name begins with.
fn is_selected(load: &Load, operation: &str) -> bool {
    let Case { name, style, .. } = &load.case;
    selects(operation, name) || style.as_ref().is_some_and(|style| *operation == format!("{name} {style}"))
}

/// Returns the peers named on the command line. Each must serve at least one of the measured cases.
fn peers(arguments: &Arguments, loads: &[Load]) -> anyhow::Result<Vec<Peer>> {
    let names = &arguments.peers;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let serves = |peer: &Peer| loads.iter().any(|load| peer.serves(&load.case));
    let directory = Path::new(Peer::DIRECTORY);
    if names.iter().any(|name| name == ALL_PEERS) {
        return Ok(Peer::all(directory)?.into_iter().filter(serves).collect());
    }
    let peers = Peer::named(directory, names)?;
    match peers.iter().find(|peer| !serves(peer)) {
        Some(peer) => bail!("the peer {} serves none of the measured cases", peer.name),
        None => Ok(peers),
    }
}
