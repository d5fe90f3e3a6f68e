//! `castile peers clients`: clients of peers and Castile's client make the same calls in turn, and their cost is compared.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use castile_load::{Caller, Case, Placement, Server, Warmup, this_machine};
use castile_report::{Called, ClientRow, Clients, Lap};

use super::Peer;
use crate::errors::in_full;
use crate::{client, measurement, outcome, process};

/// Which clients are compared, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The peers whose clients are compared with Castile's [default: all that have one]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Measure only this case; may be repeated
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    /// How long clients are measured
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// How long the comparison takes, and how reliable its results are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// A moment for each client; clients that get faster under load are measured cold
    #[default]
    Quick,
    /// Results that can be quoted: each client is warmed up until its rate stops rising
    Standard,
}

impl Profile {
    /// Returns the approximate duration of a lap.
    fn lap(self) -> Duration {
        match self {
            Profile::Quick => Duration::from_millis(300),
            Profile::Standard => Duration::from_secs(2),
        }
    }
}

/// The number of measurements of each client. A different client starts each round.
const ROUNDS: usize = 3;
/// The maximum number of warm-up laps for clients that need no warm-up.
const MAX_LAPS: u32 = 10;
/// The time limit of a lap in addition to its expected duration. The first lap includes the start of a JVM.
const LAP_TIMEOUT: Duration = Duration::from_secs(120);

/// Measures the clients and prints the results. Clients with wrong answers are dropped, and reported at the end.
pub(super) async fn run(directory: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let mut peers = Peer::named(directory, &arguments.names)?;
    if let Some(peer) = peers.iter().find(|peer| !arguments.names.is_empty() && peer.clients().next().is_none()) {
        bail!("the peer {} has no client", peer.name);
    }
    peers.retain(|peer| peer.clients().next().is_some());
    let cases = cases(arguments, &peers)?;
    let placement = Placement::apart();
    let mut measured = Measured { profile: arguments.profile, placement, warnings: Vec::new(), dropped: Vec::new() };
    let mut called = Vec::new();
    for case in &cases {
        called.push(measured.case(case, &peers).await.map_err(outcome::incomplete)?);
    }
    let Measured { placement, warnings, dropped, .. } = measured;
    let clients = Clients {
        castile: env!("CARGO_PKG_VERSION").to_owned(),
        command: measurement::own_command(),
        machine: this_machine(placement.cores()),
        placement: placement.to_string(),
        warnings,
        cases: called,
    };
    match arguments.json {
        true => out!("{}", serde_json::to_string_pretty(&clients).context("can't write JSON")?),
        false => {
            out!("{}\n{}", clients.table(), clients.placement);
            clients.warnings.iter().for_each(|warning| out!("! {warning}"));
        }
    }
    match dropped.is_empty() {
        true => Ok(()),
        false => Err(outcome::incomplete(anyhow!("not measured: {}", dropped.join(", ")))),
    }
}

/// Returns the requested cases among those that the client of some peer calls.
fn cases(arguments: &Arguments, peers: &[Peer]) -> anyhow::Result<Vec<Case>> {
    let calls = |case: &Case| peers.iter().any(|peer| peer.clients().any(|suite| suite.name == case.suite));
    let all: Vec<Case> = client::cases().filter(calls).collect();
    if let Some(unknown) = arguments.cases.iter().find(|name| all.iter().all(|case| case.name != **name)) {
        let known: Vec<&str> = all.iter().map(|case| &*case.name).collect();
        bail!("found case {unknown:?}, expected one of {}", known.join(", "));
    }
    let asked = |case: &Case| arguments.cases.is_empty() || arguments.cases.contains(&case.name);
    Ok(all.into_iter().filter(asked).collect())
}

struct Measured {
    profile: Profile,
    placement: Placement,
    warnings: Vec<String>,
    /// Clients that ended or had wrong answers, with the case.
    dropped: Vec<String>,
}

impl Measured {
    /// Lets all clients make the calls of a case.
    async fn case(&mut self, case: &Case, peers: &[Peer]) -> anyhow::Result<Called> {
        note!("{} {}", case.suite, case.name);
        let server = Rc::new(process::start_own(&self.placement, "serve", None, &[])?);
        let own = Runner::of_castile(case, &server, &self.placement)?;
        let mut runners = vec![own.ready(None, self.profile).await?];
        let expected = runners[0].items;
        for peer in peers.iter().filter(|peer| peer.clients().any(|suite| suite.name == case.suite)) {
            let ready = async {
                let runner = Runner::of_peer(peer, case, &server, &self.placement)?;
                runner.ready(Some(expected), self.profile).await
            };
            match ready.await {
                Ok(runner) => runners.push(runner),
                Err(error) => self.drop_client(&peer.name, case, &error),
            }
        }
        for round in 0..ROUNDS {
            let count = runners.len();
            let mut failed = Vec::new();
            for place in (0..count).map(|turn| (turn + round) % count) {
                let runner = &mut runners[place];
                match runner.lap(self.profile.lap()).await {
                    Ok(lap) => runner.laps.push(lap),
                    Err(error) => failed.push((place, error)),
                }
            }
            failed.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
            for (place, error) in failed {
                if place == 0 {
                    return Err(error);
                }
                self.drop_client(&runners.remove(place).name, case, &error);
            }
        }
        let cold: Vec<&str> = runners.iter().filter(|runner| runner.cold).map(|runner| &*runner.name).collect();
        if !cold.is_empty() {
            let (case, cold) = (&case.name, cold.join(", "));
            self.warnings.push(format!(
                "{case}: still getting faster at the end, so their real throughput may be higher: {cold}"
            ));
        }
        let clients = runners.iter().map(Runner::row).collect();
        let mut called = Called { suite: case.suite.clone(), case: case.name.clone(), clients };
        called.compare();
        Ok(called)
    }

    fn drop_client(&mut self, name: &str, case: &Case, error: &anyhow::Error) {
        note!("  {name} is left out: {}", in_full(error));
        self.dropped.push(format!("{name} ({})", case.name));
    }
}

/// A running client.
struct Runner {
    name: String,
    versions: String,
    protocol: Option<String>,
    caller: Caller,
    server: Rc<Server>,
    /// The minimum warm-up time.
    warmup: Duration,
    /// The number of calls in one pass of the case, and the items of their answers.
    pass: u64,
    items: u64,
    /// Calls per second in the last lap.
    rate: f64,
    laps: Vec<Lap>,
    cold: bool,
}

impl Runner {
    fn of_castile(case: &Case, server: &Rc<Server>, placement: &Placement) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("can't find this program to start it")?);
        command.args(["client", &url(server, case), &case.name]);
        let caller = Caller::start("castile client", command, placement)?;
        Ok(Runner::new("castile", env!("CARGO_PKG_VERSION"), case, caller, server.clone()))
    }

    /// Starts the client of a peer, which calls our server, or the peer's own server if it uses another protocol.
    fn of_peer(peer: &Peer, case: &Case, ours: &Rc<Server>, placement: &Placement) -> anyhow::Result<Self> {
        let server = match peer.protocol() {
            None => ours.clone(),
            Some(_) => Rc::new(peer.start(placement)?),
        };
        let command = peer.client(&url(&server, case), &case.name)?;
        let caller = Caller::start(&format!("the client of {}", peer.name), command, placement)?;
        let protocol = peer.protocol().map(str::to_owned);
        let runner = Runner::new(&peer.name, peer.versions(), case, caller, server);
        Ok(Runner { protocol, warmup: peer.warmup(), ..runner })
    }

    fn new(name: &str, versions: &str, case: &Case, caller: Caller, server: Rc<Server>) -> Self {
        Runner {
            name: name.to_owned(),
            versions: versions.to_owned(),
            protocol: None,
            caller,
            server,
            warmup: Duration::ZERO,
            pass: case.count() as u64,
            items: 0,
            rate: 0.0,
            laps: Vec::new(),
            cold: false,
        }
    }

    /// Makes one pass of the case, which must return the expected number of items, and then warms up until the rate stops rising.
    async fn ready(mut self, expected: Option<u64>, profile: Profile) -> anyhow::Result<Self> {
        let first = self.caller.call(self.pass, &self.server, LAP_TIMEOUT).await?;
        if let Some(expected) = expected.filter(|expected| *expected != first.items) {
            bail!("found {} items in the answers to {} calls, expected {expected}", first.items, self.pass);
        }
        (self.items, self.rate) = (first.items, first.rate());
        let begun = Instant::now();
        let least = if profile == Profile::Quick { Duration::ZERO } else { self.warmup };
        let most = least.max(profile.lap() * MAX_LAPS / Warmup::TIME_FACTOR) * Warmup::TIME_FACTOR;
        let mut best = 0.0;
        loop {
            let lap = self.lap(profile.lap()).await?;
            // A lap that is short because of a wrong first guess isn't reliable.
            let rises = lap.rate() > best * Warmup::RISE || lap.time < profile.lap() / 2;
            best = lap.rate().max(best);
            let warmed = begun.elapsed();
            if warmed >= most || (warmed >= least && !rises) {
                self.cold = rises || warmed < self.warmup;
                return Ok(self);
            }
        }
    }

    /// Makes calls for about `time`, in whole passes of the case.
    async fn lap(&mut self, time: Duration) -> anyhow::Result<Lap> {
        let passes = (self.rate * time.as_secs_f64() / self.pass as f64).ceil().max(1.0) as u64;
        let lap = self.caller.call(passes * self.pass, &self.server, time + LAP_TIMEOUT).await?;
        let expected = passes * self.items;
        if lap.items != expected {
            bail!("found {} items in the answers to {} calls, expected {expected}", lap.items, lap.calls);
        }
        self.rate = lap.rate();
        Ok(lap)
    }

    fn row(&self) -> ClientRow {
        ClientRow {
            protocol: self.protocol.clone(),
            peak_rss_bytes: self.caller.peak_memory(),
            cold: self.cold,
            ..ClientRow::of(&self.name, &self.versions, &self.laps)
        }
    }
}

fn url(server: &Server, case: &Case) -> String {
    format!("http://{}{}", server.endpoint().authority, case.path)
}
