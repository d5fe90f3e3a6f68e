//! `--locust`: a master of Locust spawns and stops the users of this process, and gets reports of what they see.

mod figures;
mod test;

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use castile_load::{Bench, Crew, Error, ErrorKind, Load, Plan, Requests, Start, Stop, own_usage};
use castile_locust::{Event, Worker};
use tokio::sync::oneshot;

use super::metrics::Live;
use crate::driver::Capacity;
use crate::{outcome, output, process};
use figures::Figures;
use test::{Ending, Rest, Test};

/// The port of a master that has the default one.
const PORT: u16 = 5557;
/// How many reports a second are collected for one to the master, which gets one from its own workers as often.
const SECONDS_PER_REPORT: u32 = 3;
/// How long a worker looks for a master.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a request may be under way after the end of a test, in addition to the time that the master allows. A master that quits waits
/// half a second for the last reports.
const GRACE: Duration = Duration::from_millis(200);
/// How long the last messages may take to arrive.
const FLUSH: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
// The group has its own id, because it is flattened into the arguments of a command.
#[group(id = "master")]
#[command(next_help_heading = "Workers")]
pub(super) struct Arguments {
    /// Be a worker of the Locust master at this address: it spawns and stops the users, and gets the report [default port: 5557]
    #[arg(long, value_name = "HOST[:PORT]", value_parser = address, conflicts_with_all = [
        "users", "ramp", "rate", "stages", "until", "duration", "requests", "max_errors", "max_cpu", "warmup", "server_pid", "fail_if",
        "junit", "csv", "out", "json",
    ])]
    locust: Option<String>,
    /// The name of this worker for the master, which no other worker has [default: the name of the machine and a random number]
    #[arg(long, value_name = "NAME", value_parser = name, requires = "locust")]
    worker_name: Option<String>,
}

/// Print Castile's plugin for a Locust master: a locustfile whose users are Castile's, for exact percentiles and one report of all workers
#[derive(clap::Args)]
pub(crate) struct Plugin {}

impl Plugin {
    /// Prints the plugin.
    pub(crate) fn run(&self) {
        output::text(castile_locust::PLUGIN);
    }
}

impl Arguments {
    pub(super) fn address(&self) -> Option<&str> {
        self.locust.as_deref()
    }

    pub(super) fn worker_name(&self) -> Option<String> {
        self.worker_name.clone()
    }
}

/// Parses the address of a master.
pub(crate) fn address(text: &str) -> Result<String, String> {
    let expected = || "expected HOST or HOST:PORT".to_owned();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| expected())?),
        _ => (text, PORT),
    };
    match host.is_empty() || host.contains(char::is_whitespace) || host.contains(':') && !host.starts_with('[') {
        true => Err(expected()),
        false => Ok(format!("{host}:{port}")),
    }
}

/// Parses the name of a worker.
pub(crate) fn name(text: &str) -> Result<String, String> {
    match !text.is_empty() && text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("expected up to 100 letters, digits and signs without a space".to_owned()),
    }
}

fn default_name() -> String {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let host = name(host.trim()).unwrap_or_else(|_| "castile".to_owned());
    format!("{host}_{:016x}", fastrand::u64(..))
}

/// Returns the plan of a worker: its master spawns the users, and ends a test. `files` are open files that aren't the driver's.
pub(crate) fn plan(plan: Plan, files: u64) -> Plan {
    let connections = Capacity::new(1, plan.threads, files).users();
    // A master counts from its first user on.
    Plan { connections, start: Start::OnDemand, stop: Stop::default(), warmup: Duration::ZERO, ..plan }
}

/// Returns a seed for the worker of this name: the users of two workers are to have different random values.
fn seed_of(seed: u64, name: &str) -> u64 {
    // FNV-1a, which is the same in every version of this program.
    name.bytes().fold(seed ^ 0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Works for the master until it quits. Returns the exit code.
pub(crate) fn work(mut bench: Bench, address: &str, name: Option<String>, live: Live) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let description = serde_json::to_string(&bench.description()?)?;
    let name = name.unwrap_or_else(default_name);
    note!("worker {name}: looking for the master at {address}");
    for load in &mut bench.loads {
        load.plan.seed = seed_of(load.plan.seed, &name);
    }
    let mut driver = Driver {
        bench: &bench,
        address,
        worker: Worker::new(address, name.clone()),
        name,
        test: None,
        crew: None,
        figures: Figures::new(names(&bench), description.clone()),
        live,
        description,
        sought: Some(Instant::now()),
        seconds: 0,
        cpu: (Instant::now(), own_usage().0),
    };
    let (interrupt, interrupted) = oneshot::channel();
    let signals = async {
        process::end_signal().await?;
        note!("interrupted: leaving the master; interrupt again to end without a last report");
        // The driver may have ended.
        let _ = interrupt.send(());
        process::end_signal().await?;
        bail!("interrupted twice, so there was no last report")
    };
    let code = runtime.block_on(async {
        tokio::select! {
            code = driver.work(interrupted) => code,
            code = signals => code,
        }
    });
    // Doesn't wait for the name of the master to be resolved.
    runtime.shutdown_background();
    code
}

/// Returns the names of the operations.
fn names(bench: &Bench) -> Vec<String> {
    let Some(Load { case, .. }) = bench.loads.first() else { return Vec::new() };
    match &case.requests {
        Requests::Scripted { parts, .. } => parts.to_vec(),
        _ => vec![case.name.clone()],
    }
}

/// Joins the load driver and a worker of the master.
struct Driver<'a> {
    bench: &'a Bench,
    /// The master's address.
    address: &'a str,
    /// What is driven, as JSON.
    description: String,
    worker: Worker,
    name: String,
    /// The users while a test runs.
    test: Option<Test>,
    /// The users of earlier tests, with their connections.
    crew: Option<Arc<Crew>>,
    /// What wasn't reported yet.
    figures: Figures,
    /// What is shown of all tests.
    live: Live,
    /// Since when the worker has had no master.
    sought: Option<Instant>,
    seconds: u32,
    /// When the use of the processor was last looked at.
    cpu: (Instant, Option<Duration>),
}

impl Driver<'_> {
    async fn work(&mut self, mut interrupted: oneshot::Receiver<()>) -> anyhow::Result<u8> {
        let mut second = tokio::time::interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut is_interrupted = false;
        loop {
            let changed = async {
                match &mut self.test {
                    Some(test) => test.changed().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                event = self.worker.next() => {
                    if let Some(code) = self.handle(event).await? {
                        return Ok(code);
                    }
                }
                result = changed => {
                    if let Err(error) = result {
                        return Err(self.fail(error).await);
                    }
                    if let Some(code) = self.go_on().await {
                        return Ok(code);
                    }
                }
                _ = second.tick() => {
                    self.look().await;
                    if self.sought.is_some_and(|since| since.elapsed() > PATIENCE) {
                        bail!("there has been no master at {} for {}", self.address, humantime::format_duration(PATIENCE));
                    }
                }
                _ = &mut interrupted, if !is_interrupted => {
                    is_interrupted = true;
                    if let Some(code) = self.end(Ending::Quit { code: outcome::INCOMPLETE }, GRACE).await {
                        return Ok(code);
                    }
                }
            }
        }
    }

    /// Does what an event is about. Returns the exit code if the worker is to end.
    async fn handle(&mut self, event: Event) -> anyhow::Result<Option<u8>> {
        match event {
            Event::Known { index } => {
                self.sought = None;
                let number = index.map_or(String::new(), |index| format!(" as number {index}"));
                note!("the master knows this worker{number}");
            }
            Event::Users(users) => {
                let most = self.bench.loads.first().map_or(0, |load| load.plan.connections as u64);
                let wanted = users.count();
                let users = users.at_most(most);
                let count = users.count() as usize;
                if self.test.is_none() && count > 0 {
                    let first = if count == 1 { "user" } else { "users" };
                    note!("a test begins, with {count} {first} at first");
                    let crew = match self.crew.take() {
                        Some(crew) => crew,
                        None => match self.bench.crew() {
                            Ok(crew) => Arc::new(crew),
                            Err(error) => return Err(self.fail(error).await),
                        },
                    };
                    self.figures = Figures::new(names(self.bench), self.description.clone());
                    self.test = Some(Test::begin(crew, format!("worker {}", self.name)));
                }
                if wanted > most && !self.figures.has_too_many(most) {
                    let why = format!(
                        "the master wants {wanted} users, and this worker can have {most}, by its limit of open files (`ulimit -Hn` shows it)"
                    );
                    note!("{why}");
                    self.worker.failed(&why);
                }
                if let Some(test) = &mut self.test {
                    test.spawn(count);
                }
                self.worker.running(users);
            }
            Event::Stop { grace } => return Ok(self.end(Ending::Stop, grace + GRACE).await),
            Event::Quit => return Ok(self.end(Ending::Quit { code: 0 }, GRACE).await),
            Event::Lost => {
                self.sought = Some(Instant::now());
                note!("the master has forgotten this worker, so its test is over");
                let Some(test) = self.test.take() else { return Ok(None) };
                // No master takes a report of the rest, but --metrics has it.
                let Rest { record, ending, crew, .. } = test.finish().await;
                self.crew = crew;
                self.live.add(&record, 0);
                return Ok(match ending {
                    Ending::Quit { code } => Some(code),
                    Ending::Stop => None,
                });
            }
            Event::Unanswered => {
                note!("connected, but the master doesn't answer: does another worker have the name {}?", self.name);
            }
            Event::Disconnected(why) => note!("no connection to the master: {why}; trying again"),
            _ => {}
        }
        Ok(None)
    }

    /// Ends a test, if there is one, and then does what its end is for. Requests may be under way for at most this long.
    async fn end(&mut self, ending: Ending, grace: Duration) -> Option<u8> {
        match &mut self.test {
            Some(test) => {
                test.end(ending, Instant::now() + grace);
                None
            }
            None => self.ended(ending).await,
        }
    }

    /// Looks at a test that has changed. Returns the exit code if the worker is to end.
    async fn go_on(&mut self) -> Option<u8> {
        let users = self.test.as_ref()?.users();
        let test = self.test.take_if(|test| test.is_over())?;
        let Rest { record, in_flight, ending, crew } = test.finish().await;
        self.crew = crew;
        self.live.add(&record, 0);
        self.figures.add(record, users, Instant::now());
        let (right, wrong) = self.figures.totals();
        note!("the test is over: {right} right answers, {wrong} wrong or missing");
        if in_flight > 0 {
            note!("{in_flight} requests were under way at the end of the test, and aren't in its figures");
        }
        let unheard = (!self.worker.is_up()).then(|| self.figures.unreported());
        // It is sent in any case: nobody keeps it for later.
        self.report(true, in_flight);
        if let Some(unheard) = unheard {
            note!("the master doesn't answer, so the last {unheard} requests may be missing from its figures");
        }
        self.ended(ending).await
    }

    async fn ended(&mut self, ending: Ending) -> Option<u8> {
        match ending {
            Ending::Stop => {
                self.worker.stopped();
                // It has to be found again before the next test.
                self.sought = Some(Instant::now());
                None
            }
            Ending::Quit { code } => {
                self.worker.quit();
                self.worker.close(FLUSH).await;
                Some(code)
            }
        }
    }

    /// Reports to the master that this worker can't work.
    async fn fail(&mut self, error: Error) -> anyhow::Error {
        self.worker.failed(&error.to_string());
        self.worker.quit();
        self.worker.close(FLUSH).await;
        match error.kind() {
            // The first request was refused, so no other was sent.
            ErrorKind::Answer => outcome::not_started(error),
            _ => outcome::incomplete(error),
        }
    }

    /// Collects what happened in a second.
    async fn look(&mut self) {
        let (now, (cpu, memory)) = (Instant::now(), own_usage());
        let used = cpu.zip(self.cpu.1).map_or(Duration::ZERO, |(now, before)| now.saturating_sub(before));
        let threads = self.bench.loads.first().map_or(1, |load| load.plan.threads);
        let share = used.as_secs_f64() / (now - self.cpu.0).as_secs_f64().max(1e-3) / threads as f64;
        self.worker.usage(share * 100.0, memory.unwrap_or_default());
        self.cpu = (now, cpu);
        if let Some(test) = &mut self.test {
            let (record, users) = (test.second().await, test.users());
            self.live.add(&record, users);
            self.figures.add(record, users, Instant::now());
            self.seconds += 1;
            if self.seconds.is_multiple_of(SECONDS_PER_REPORT) && self.worker.is_up() {
                self.report(false, 0);
            }
        }
    }

    fn report(&mut self, is_last: bool, in_flight: u64) {
        self.worker.report(&self.figures.report());
        if let Some(time) = self.worker.plugin_time() {
            self.worker.send_to_plugin(&self.figures.plugin_report(is_last, in_flight, time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_port() {
        for (text, expected) in [
            ("master", Some("master:5557")),
            ("10.0.0.1:99", Some("10.0.0.1:99")),
            ("[::1]", Some("[::1]:5557")),
            ("[::1]:99", Some("[::1]:99")),
            ("::1", None),
            ("", None),
            (":99", None),
            ("a b", None),
            ("master:http", None),
            ("master:99999", None),
        ] {
            assert_eq!(address(text).ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn workers_have_different_users() {
        let seeds: std::collections::BTreeSet<_> =
            ["a", "b", "worker-1", "worker-2"].map(|name| seed_of(5, name)).into();
        let distances = seeds.iter().zip(seeds.iter().skip(1)).map(|(one, other)| other - one);
        // The driver adds the number of the user.
        assert!(seeds.len() == 4 && distances.min().unwrap() > 100_000, "{seeds:?}");
        assert!(seed_of(5, "a") == seed_of(5, "a") && seed_of(5, "a") != seed_of(6, "a"));
    }

    #[test]
    fn a_name_is_one_word() {
        assert!(name("a_1").is_ok() && name(&default_name()).is_ok());
        for text in ["", "a b", "a\n", "ä", &"a".repeat(101)] {
            assert!(name(text).is_err(), "{text:?}");
        }
    }
}
