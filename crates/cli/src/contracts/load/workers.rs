//! `--workers`: one load made by several processes of this machine, and reported as one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use castile_load::{
    Bench, Division, End, Merging, Outcome, Plan, Progress, Recorder, Second, Share, Start, own_usage, with_warnings,
};
use castile_report::Results;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::calendar::Calendar;
use super::metrics::Live;
use super::peak::Peak;
use crate::quantity::count;
use crate::{measurement, outcome, process};

/// The most processes. A machine with more cores needs several machines' worth of servers.
const MAX_WORKERS: usize = 256;

#[derive(clap::Args)]
// The group has its own id, because it is flattened into the arguments of a command.
#[group(id = "processes")]
#[command(next_help_heading = "Workers")]
pub(super) struct Arguments {
    /// Divide the load among this many processes of this machine, and merge what they measure
    #[arg(long, value_name = "N", value_parser = count::<usize>, conflicts_with_all = [
        "locust", "until", "max_errors", "max_cpu", "server_pid",
    ])]
    workers: Option<usize>,
    /// Be one of these processes: its number, how many there are, and the file for what it measured
    #[arg(long, hide = true, value_name = "NUMBER/COUNT:FILE", value_parser = part)]
    share: Option<Part>,
}

impl Arguments {
    /// Returns how many processes there are to be, if this one starts them.
    pub(super) fn count(&self) -> Option<usize> {
        self.workers.filter(|_| self.share.is_none())
    }

    /// Returns how many processes have users.
    pub(super) fn processes(&self) -> usize {
        self.workers.unwrap_or(1)
    }

    /// Returns what this process is one of.
    pub(super) fn part(&self) -> Option<&Part> {
        self.share.as_ref()
    }

    /// Checks that the load can be divided.
    pub(super) fn check(&self, plan: &Plan) -> anyhow::Result<()> {
        let Some(workers) = self.workers else { return Ok(()) };
        if workers > MAX_WORKERS {
            bail!("found --workers {workers}, expected at most {MAX_WORKERS}");
        }
        if plan.connections < workers {
            let connections = plan.connections;
            bail!(
                "found --workers {workers}, expected at most {connections}, as many as there are users or requests in flight"
            );
        }
        if plan.stop.requests.is_some_and(|requests| requests < workers as u64) {
            bail!("found --workers {workers}, expected at most as many as there are requests");
        }
        if matches!(plan.start, Start::PerSecond(_)) {
            bail!(
                "found --workers and a --ramp of users per time, expected --ramp TIME: workers don't measure a curve"
            );
        }
        Ok(())
    }
}

/// One of several processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) number: usize,
    pub(super) count: usize,
    file: PathBuf,
}

fn part(text: &str) -> Result<Part, String> {
    let parsed = || {
        let (of, file) = text.split_once(':')?;
        let (number, count) = of.split_once('/')?;
        let (number, count) = (number.parse().ok()?, count.parse().ok()?);
        (number < count).then(|| Part { number, count, file: file.into() })
    };
    parsed().ok_or_else(|| "expected NUMBER/COUNT:FILE".to_owned())
}

impl Part {
    /// Returns this process's part of a plan.
    pub(super) fn of(&self, plan: Plan) -> Plan {
        let Part { number, count, .. } = *self;
        Plan { division: Division { number, count }, ..plan }
    }
}

/// The word of the leader that lets a process send its first request, and the answer when it is done.
const FIRST: &str = "first";
/// The word of the leader that starts the run, when all processes have sent their first request.
const GO: &str = "go";

/// Takes part in a load: waits for the leader, measures, and stores what was measured. Returns the exit code.
pub(super) fn take_part(bench: &Bench, part: &Part) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The leader knows why it ends.
    let Some((share, is_whole)) = runtime.block_on(measure(bench, part))? else { return Ok(outcome::INCOMPLETE) };
    let json = serde_json::to_string(&share)?;
    std::fs::write(&part.file, json).with_context(|| format!("can't write {}", part.file.display()))?;
    Ok(if is_whole { 0 } else { outcome::INCOMPLETE })
}

/// Returns what was measured, and whether nobody but the leader ended it; `None` if it ended before the start.
async fn measure(bench: &Bench, part: &Part) -> anyhow::Result<Option<(Share, bool)>> {
    let crew = bench.crew()?;
    let (mut words, ended) = leader();
    let interrupted = async {
        tokio::select! {
            _ = ended => true,
            _ = process::end_signal() => false,
        }
    };
    let mut interrupted = std::pin::pin!(interrupted);
    let begin = async {
        said(&mut words, FIRST).await?;
        let first = crew.first().await.map_err(outcome::not_started)?;
        out!("{FIRST}");
        said(&mut words, GO).await?;
        anyhow::Ok(crew.begin_after(first))
    };
    let run = tokio::select! {
        biased;
        _ = &mut interrupted => return Ok(None),
        run = begin => run?,
    };
    let calendar = Calendar::new();
    let start = calendar.start + warmup(bench);
    let begun = calendar.at(start);
    let counter = run.counter();
    let mut finish = std::pin::pin!(run.finish());
    let (mut measured, mut peak) = (Measured::new(begun, start), Peak::default());
    let mut second = tokio::time::interval_at(measured.start.into(), Duration::from_secs(1));
    let (mut is_interrupted, mut is_whole) = (false, true);
    let users = || counter.users().unwrap_or_default() as u64;
    let outcome = loop {
        tokio::select! {
            outcome = &mut finish => break outcome?,
            _ = second.tick() => {
                peak.look(Instant::now(), own_usage().0.unwrap_or_default());
                let mut told = Told { record: counter.take().await.0, users: users() };
                out!("{}", told.line()?);
                measured.add(told.record, told.users, Instant::now());
            }
            by_leader = &mut interrupted, if !is_interrupted => {
                (is_interrupted, is_whole) = (true, by_leader);
                counter.interrupt();
            }
        }
    };
    let Outcome { record: rest, elapsed, unsent, dropped, opened, driver_cpu, .. } = outcome;
    measured.add(rest, users(), Instant::now());
    let Measured { mut record, seconds, .. } = measured;
    let parts = std::mem::take(&mut record.parts);
    let share = Share {
        name: (part.number + 1).to_string(),
        description: bench.description()?,
        record,
        parts,
        begun_s: begun,
        ended_s: begun + elapsed.as_secs_f64(),
        clock_s: 0.0,
        seconds,
        opened: Some(opened),
        in_flight: 0,
        unsent,
        dropped,
        cpu_s: driver_cpu.map(|cpu| cpu.as_secs_f64()),
        peak_cores: peak.cores(),
        lost_reports: 0,
        is_lost: false,
    };
    Ok(Some((share, is_whole)))
}

fn warmup(bench: &Bench) -> Duration {
    bench.loads.first().map(|load| load.plan.warmup).unwrap_or_default()
}

/// What a process tells the leader each second.
#[derive(Serialize, Deserialize)]
struct Told {
    /// What was recorded since the last time.
    record: Recorder,
    users: u64,
}

impl Told {
    /// Returns a line without the records of the operations, which are large.
    fn line(&mut self) -> anyhow::Result<String> {
        let parts = std::mem::take(&mut self.record.parts);
        let line = serde_json::to_string(self);
        self.record.parts = parts;
        Ok(line?)
    }
}

/// What a process has measured so far.
struct Measured {
    /// When the measurement begins, in seconds since 1970, and on the clock of its ticks.
    begun: f64,
    start: Instant,
    /// Up to when the record is complete.
    taken: Instant,
    record: Recorder,
    seconds: BTreeMap<u64, Second>,
}

impl Measured {
    fn new(begun: f64, start: Instant) -> Self {
        Measured { begun, start, taken: start, record: Recorder::default(), seconds: BTreeMap::new() }
    }

    /// Adds what happened since the last call. It counts for the second in which that time began, and the warm-up for the first.
    fn add(&mut self, more: Recorder, users: u64, now: Instant) {
        let at = self.begun as u64 + self.taken.saturating_duration_since(self.start).as_secs();
        self.taken = now;
        let second = Second { requests: more.requests, errors: more.errors, users };
        self.seconds.entry(at).or_default().add(second);
        self.record.merge(more);
    }
}

/// Listens on a thread to the leader's words, and for its end. A leader ends when standard input is closed.
fn leader() -> (UnboundedReceiver<String>, oneshot::Receiver<()>) {
    let ((says, words), (end, ended)) = (unbounded_channel(), oneshot::channel());
    std::thread::spawn(move || {
        // The receivers are dropped with the measurement.
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = says.send(line);
        }
        let _ = end.send(());
    });
    (words, ended)
}

/// Waits until the leader says this word.
async fn said(words: &mut UnboundedReceiver<String>, word: &str) -> anyhow::Result<()> {
    match words.recv().await {
        Some(said) if said.trim() == word => Ok(()),
        Some(said) => bail!("found the word {said:?} of the leader, expected {word:?}"),
        None => bail!("the leader has ended"),
    }
}

/// Returns the arguments with one more option.
fn with_option(arguments: impl Iterator<Item = OsString>, option: OsString) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    // What follows is no option.
    let end = arguments.iter().position(|argument| argument == "--");
    arguments.insert(end.unwrap_or(arguments.len()), option);
    arguments
}

/// What a process says on its standard output, with its number.
type Heard = (usize, Said);

enum Said {
    /// Its first request is answered.
    First,
    Second(Box<Told>),
    /// Nothing any more: it has ended.
    End,
}

/// The processes of a load. They end when this is dropped.
struct Workers {
    children: Vec<Child>,
    /// What they say. It ends when all have ended.
    heard: UnboundedReceiver<Heard>,
    /// Closing it ends a process.
    inputs: Vec<ChildStdin>,
    folder: tempfile::TempDir,
}

impl Workers {
    fn start(workers: usize) -> anyhow::Result<Self> {
        let binary = std::env::current_exe().context("can't find this program to start it as a worker")?;
        let (says, heard) = unbounded_channel();
        let folder = tempfile::tempdir()?;
        let mut all = Workers { children: Vec::new(), heard, inputs: Vec::new(), folder };
        for number in 0..workers {
            let share = format!("--share={number}/{workers}:{}", all.file(number).display());
            let arguments = with_option(std::env::args_os().skip(1), share.into());
            let mut command = Command::new(&binary);
            let child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut child = child.context("can't start a worker")?;
            all.inputs.extend(child.stdin.take());
            if let Some(output) = child.stdout.take() {
                let says = says.clone();
                std::thread::spawn(move || listen(BufReader::new(output), number, &says));
            }
            all.children.push(child);
        }
        Ok(all)
    }

    fn file(&self, number: usize) -> PathBuf {
        self.folder.path().join(number.to_string())
    }

    /// Says a word to these processes.
    fn say(&mut self, word: &str, numbers: Range<usize>) {
        for input in &mut self.inputs[numbers] {
            // A process that has ended is noticed when it is waited for.
            let _ = writeln!(input, "{word}");
        }
    }

    /// Lets these processes send their first request, and waits for the answers.
    async fn first(&mut self, numbers: Range<usize>) -> anyhow::Result<()> {
        self.say(FIRST, numbers.clone());
        for _ in numbers.clone() {
            let Some((number, said)) = self.heard.recv().await else { bail!("all workers have ended") };
            if let Said::First = said {
                continue;
            }
            let code = self.children[number].wait()?.code().and_then(|code| u8::try_from(code).ok());
            let error = anyhow::anyhow!("a worker could not start");
            let is_only = numbers.start == 0 && numbers.contains(&number);
            return Err(match code {
                Some(code) if is_only && code != outcome::INCOMPLETE => outcome::not_started(error),
                // Others have sent requests.
                _ => outcome::incomplete(error),
            });
        }
        Ok(())
    }
}

/// Reads what a process says, to its end.
fn listen(output: impl BufRead, number: usize, says: &UnboundedSender<Heard>) {
    let lines = output.lines().map_while(Result::ok);
    let said = lines.filter_map(|line| match line.as_str() {
        FIRST => Some(Said::First),
        told => serde_json::from_str(told).ok().map(|told| Said::Second(Box::new(told))),
    });
    for said in said.chain([Said::End]) {
        // The receiver is dropped with the load.
        let _ = says.send((number, said));
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Ready when this process is asked to end.
type Signal = Pin<Box<dyn Future<Output = io::Result<()>>>>;

/// Starts the processes, merges what they measure, and returns the results.
pub(super) fn lead(
    bench: &Bench,
    workers: usize,
    outcome: &outcome::Arguments,
    live: &Live,
) -> anyhow::Result<Results> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut all, is_interrupted) = runtime.block_on(async {
        let mut signal: Signal = Box::pin(process::end_signal());
        let begun = async {
            let mut all = Workers::start(workers)?;
            // If the first request is refused, no other is sent.
            all.first(0..1).await?;
            all.first(1..workers).await?;
            // All runs start together, however long the first answers took.
            all.say(GO, 0..workers);
            anyhow::Ok(all)
        };
        let mut all = tokio::select! {
            // Signals are awaited before there is a process or a folder.
            biased;
            result = &mut signal => {
                result?;
                measurement::end_line();
                bail!("interrupted before all workers had begun, so nothing was measured");
            }
            all = begun => all?,
        };
        note!("{workers} workers have begun");
        let is_interrupted = wait(&mut all, bench, live, signal).await?;
        anyhow::Ok((all, is_interrupted))
    })?;
    let description = bench.description()?;
    let (mut merging, mut lost) = (Merging::default(), Vec::new());
    for number in 0..workers {
        let share = std::fs::read(all.file(number)).ok().and_then(|json| serde_json::from_slice::<Share>(&json).ok());
        let has_ended_early = all.children[number].wait().is_ok_and(|status| !status.success());
        if share.is_some() && has_ended_early && !is_interrupted {
            lost.push(format!("the worker {} was interrupted", number + 1));
        }
        match share {
            Some(share) => merging.add(share.part_of(&description)).map_err(outcome::incomplete)?,
            None => lost.push(format!("the worker {} was lost, and what it did is not in the figures", number + 1)),
        }
    }
    let mut results = with_warnings(merging.results().map_err(outcome::incomplete)?);
    let interrupted = is_interrupted.then(|| format!("not everything was measured: {}", End::Interrupted));
    results.mark_incomplete(interrupted.into_iter().chain(lost));
    outcome.record(&mut results);
    Ok(results)
}

/// Waits until all processes have ended, and shows what they do. On the first signal, asks them to end. Returns whether it did.
async fn wait(all: &mut Workers, bench: &Bench, live: &Live, mut signal: Signal) -> anyhow::Result<bool> {
    let mut progress = Progress::new(bench.planned());
    let label = format!("{} workers", all.children.len());
    let (mut record, mut users) = (Recorder::default(), vec![0; all.children.len()]);
    // The processes tell at each second of their measurement. Half a second later, all have told the same seconds.
    let shown = warmup(bench) + Duration::from_millis(500);
    let shown = tokio::time::Instant::now() + Duration::from_nanos(shown.subsec_nanos().into());
    let mut second = tokio::time::interval_at(shown, Duration::from_secs(1));
    let mut is_interrupted = false;
    loop {
        tokio::select! {
            heard = all.heard.recv() => {
                let Some((number, said)) = heard else { return Ok(is_interrupted) };
                let more = match said {
                    Said::First => continue,
                    Said::Second(told) => {
                        users[number] = told.users;
                        told.record
                    }
                    Said::End => {
                        users[number] = 0;
                        Recorder::default()
                    }
                };
                live.add(&more, users.iter().sum());
                record.merge(more);
            }
            _ = second.tick() => {
                let record = std::mem::take(&mut record);
                progress.second(&label, &record, users.iter().sum::<u64>() as usize);
            }
            result = &mut signal => {
                result?;
                if is_interrupted {
                    measurement::end_line();
                    bail!("interrupted twice, so nothing was reported");
                }
                measurement::note_interrupted();
                is_interrupted = true;
                all.inputs.clear();
                signal = Box::pin(process::end_signal());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_what_happened_in_it() {
        let start = Instant::now() + Duration::from_secs(3);
        let mut measured = Measured::new(10.7, start);
        let ticks = [(-1.0, 0), (0.001, 1), (1.001, 100), (2.002, 101), (3.001, 102), (3.6, 60)];
        for (seconds, requests) in ticks {
            let now = start - Duration::from_secs(2) + Duration::from_secs_f64(seconds + 2.0);
            measured.add(Recorder { requests, ..Recorder::default() }, requests, now);
        }
        let seconds: Vec<_> =
            measured.seconds.iter().map(|(at, second)| (*at, second.requests, second.users)).collect();
        assert_eq!(seconds, [(10, 101, 100), (11, 101, 101), (12, 102, 102), (13, 60, 60)]);
        assert_eq!(measured.record.requests, 364);
    }

    /// The number of a process was once an argument that is no option.
    #[test]
    fn an_option_comes_before_the_end_of_the_options() {
        let of = |text: &str| {
            let all = with_option(text.split(' ').map(OsString::from), "--share".into());
            all.join(std::ffi::OsStr::new(" "))
        };
        assert_eq!(of("load --workers 2 a"), "load --workers 2 a --share");
        assert_eq!(of("load --workers 2 -- a --"), "load --workers 2 --share -- a --");
    }

    #[test]
    fn a_part_is_a_number_of_a_count() {
        assert_eq!(part("1/4:a:b"), Ok(Part { number: 1, count: 4, file: "a:b".into() }));
        for text in ["4/4:a", "1/4", "1:a", "-1/4:a", "a/b:c"] {
            assert!(part(text).is_err(), "{text}");
        }
    }
}
