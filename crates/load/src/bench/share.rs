//! What one of several workers measured, and how it becomes a part of one report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::description::Described;
use super::limits::{limit_of, peak_limit};
use super::tally::{Driven, Tally, latency};
use crate::recorder::is_possible;
use crate::{Error, ErrorKind, Outcome, Recorder, Timeline};
use castile_report::{Results, Suite, Worker};

/// The most workers of one report.
const MAX_WORKERS: usize = 100_000;
/// The most operations of a worker. The record of each takes half a megabyte.
const MAX_PARTS: usize = 1_000;
/// The most users of a worker.
const MAX_USERS: u64 = 10_000_000;
/// The longest time that workers may measure together, in seconds: a year.
const MAX_TIME: f64 = 366.0 * 86_400.0;
/// The latest time, in seconds since 1970: some thousand years from now.
const LATEST: f64 = 100_000_000_000.0;

/// The options that a worker may have for itself.
const OWN_OPTIONS: [&str; 8] = ["worker-name", "locust", "url", "feed", "metrics", "source", "seed", "threads"];
/// A worker that ends this many seconds before the others has left, and its users may have been replaced.
const LEFT: f64 = 2.0;
/// A worker that ends this many seconds before the others is named.
const EARLY: f64 = 5.0;
/// How many workers are named whose options differ.
const NAMED: usize = 10;

/// What a worker drives and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Results without rows.
    head: Results,
    suite: String,
    described: Described,
}

impl Description {
    pub(super) fn new(head: Results, suite: String, described: Described) -> Self {
        Description { head, suite, described }
    }

    fn identity(&self) -> Identity {
        (self.described.row.case.clone(), self.described.parts.clone())
    }

    /// Returns the options of the command that measured, without those that differ in every load of several workers.
    fn options(&self) -> Vec<&str> {
        let is_own = |option: &str| {
            OWN_OPTIONS.iter().any(|name| option.strip_prefix(name).is_some_and(|rest| !rest.starts_with('-')))
        };
        self.head.command.split(" --").skip(1).map(str::trim).filter(|option| !is_own(option)).collect()
    }

    /// Returns how the options differ from those of another worker, in words.
    fn difference(&self, other: &Description) -> Option<String> {
        let (own, others) = (self.options(), other.options());
        let only = |these: &[&str], those: &[&str]| -> Vec<String> {
            these.iter().filter(|option| !those.contains(option)).map(|option| format!("--{option}")).collect()
        };
        match (only(&own, &others), only(&others, &own)) {
            (more, less) if more.is_empty() && less.is_empty() => None,
            (more, less) if more.is_empty() => Some(format!("without {}", less.join(" "))),
            (more, less) if less.is_empty() => Some(format!("with {} in addition to the options", more.join(" "))),
            (more, less) => Some(format!("with {} instead of {}", more.join(" "), less.join(" "))),
        }
    }
}

/// What a worker measured. It can be stored, and sent to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Share {
    /// The worker's name.
    pub name: String,
    /// What it drove. All workers drive the same operations.
    pub description: Description,
    /// What it counted. The records of its operations are in [`parts`](Self::parts).
    pub record: Recorder,
    /// What it counted of each operation of a mix.
    #[serde(default, deserialize_with = "parts")]
    pub parts: Vec<Recorder>,
    /// When it began, in seconds since 1970 by its own clock.
    pub begun_s: f64,
    /// When it ended.
    pub ended_s: f64,
    /// What it did in which second since 1970.
    pub seconds: BTreeMap<u64, Second>,
    /// How many seconds its clock was ahead of the one that all workers are compared with.
    #[serde(default)]
    pub clock_s: f64,
    /// How many connections its users opened, if that is known.
    #[serde(default)]
    pub opened: Option<usize>,
    /// Requests that were under way when it ended, and weren't counted.
    #[serde(default)]
    pub in_flight: u64,
    /// Arrivals that were due but found no free user.
    #[serde(default)]
    pub unsent: u64,
    /// Arrivals that were dropped.
    #[serde(default)]
    pub dropped: u64,
    /// Seconds of processor time that it used.
    #[serde(default)]
    pub cpu_s: Option<f64>,
    /// How many cores it used when it used most of them, over some seconds; 0 if that is not known.
    #[serde(default)]
    pub peak_cores: f64,
    /// How many of its reports were lost on the way. What it did in them isn't in its figures.
    #[serde(default)]
    pub lost_reports: u64,
    /// Whether it was lost before it made its last report.
    #[serde(default)]
    pub is_lost: bool,
}

/// Reads not more than there may be.
fn parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Recorder>, D::Error> {
    struct Parts;

    impl<'de> Visitor<'de> for Parts {
        type Value = Vec<Recorder>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MAX_PARTS} records of operations")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<Vec<Recorder>, A::Error> {
            let mut parts = Vec::new();
            while let Some(part) = records.next_element()? {
                if parts.len() == MAX_PARTS {
                    return Err(A::Error::invalid_length(MAX_PARTS + 1, &self));
                }
                parts.push(part);
            }
            Ok(parts)
        }
    }

    deserializer.deserialize_seq(Parts)
}

/// What a worker did in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// Right answers.
    pub requests: u64,
    /// Wrong or missing answers.
    pub errors: u64,
    /// The number of users.
    pub users: u64,
}

impl Second {
    /// Adds what the same users did in another part of the second.
    pub fn add(&mut self, more: Second) {
        self.requests = self.requests.saturating_add(more.requests);
        self.errors = self.errors.saturating_add(more.errors);
        self.users = self.users.max(more.users);
    }
}

impl Share {
    fn identity(&self) -> Identity {
        self.description.identity()
    }

    fn cpu(&self) -> Option<Duration> {
        self.cpu_s.and_then(|cpu| Duration::try_from_secs_f64(cpu).ok())
    }

    /// Returns the most users that it had at a time.
    fn users(&self) -> usize {
        let users = self.seconds.values().map(|second| second.users.min(MAX_USERS)).max();
        users.unwrap_or_default() as usize
    }

    fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.ended_s - self.begun_s).unwrap_or_default()
    }

    /// Returns the share with the times of the clock that all workers are compared with, and with seconds since its beginning.
    fn corrected(self) -> Self {
        let begun = self.begun_s as u64;
        let mut seconds: BTreeMap<u64, Second> = BTreeMap::new();
        // A second from before the beginning is a part of the first.
        for (at, second) in &self.seconds {
            seconds.entry(at.saturating_sub(begun)).or_default().add(*second);
        }
        Share {
            begun_s: (self.begun_s - self.clock_s).max(0.0),
            ended_s: (self.ended_s - self.clock_s).max(0.0),
            seconds,
            ..self
        }
    }

    /// Returns the share as a part of a load that several processes divide, each with its own threads.
    #[must_use]
    pub fn part_of(mut self, whole: &Description) -> Self {
        let threads = self.description.described.threads;
        self.description = whole.clone();
        self.description.described.threads = threads;
        self
    }

    /// Checks that sums and times stay within what the report can hold.
    fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(self.wrong(what));
        let times = [self.begun_s, self.ended_s, self.cpu_s.unwrap_or_default(), self.peak_cores];
        if times.iter().any(|time| !(0.0..LATEST).contains(time))
            || !(0.0..MAX_TIME).contains(&(self.ended_s - self.begun_s))
        {
            return wrong("has impossible times");
        }
        // One without a battery begins in 1970.
        if !(-LATEST..LATEST).contains(&self.clock_s) {
            return wrong("has an impossible clock");
        }
        let mut records = std::iter::once(&self.record).chain(&self.parts);
        if !records.all(Recorder::is_possible) || self.parts.len() > self.description.described.parts.len() {
            return wrong("has impossible counts");
        }
        // A second of the clock may have been repeated or left out.
        let (from, to) = ((self.begun_s - 1.0).max(0.0) as u64, self.ended_s as u64 + 1);
        if self.seconds.keys().any(|at| !(from..=to).contains(at)) {
            return wrong("has seconds from before its beginning or after its end");
        }
        let seconds = |count: fn(&Second) -> u64| is_possible(self.seconds.values().map(count));
        let opened = self.opened.unwrap_or_default() as u64;
        let others = [self.in_flight, self.unsent, self.dropped, self.lost_reports, opened];
        if !seconds(|second| second.requests) || !seconds(|second| second.errors) || !is_possible(others.into_iter()) {
            return wrong("has impossible counts");
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Error {
        Error::new(ErrorKind::Input, format!("the worker {} {what}", self.name))
    }

    /// Returns its figures, with times since 1970.
    fn worker(&self) -> Worker {
        let elapsed = self.elapsed().as_secs_f64();
        let threads = self.description.described.threads.max(1) as f64;
        let driver_cpu_share = self.cpu_s.filter(|_| elapsed > 0.0).map(|cpu| cpu / elapsed / threads);
        Worker {
            name: castile_xml::visible(&self.name).into_owned(),
            users: self.users(),
            requests: self.record.requests,
            errors: self.record.errors,
            in_flight: self.in_flight,
            begun_s: self.begun_s,
            ended_s: self.ended_s,
            requests_per_second: self.record.requests as f64 / elapsed.max(f64::MIN_POSITIVE),
            latency_us: latency(&self.record.latency),
            driver_cpu_share,
            clock_s: self.clock_s,
            limited_by: limit_of(&self.record, driver_cpu_share, None)
                .or_else(|| peak_limit(self.peak_cores / threads)),
            lost_reports: self.lost_reports,
            is_lost: self.is_lost,
        }
    }
}

/// A load: the case, and its operations.
type Identity = (String, Vec<String>);

/// Merges what workers measured at the same time into the results of one load: the counts and the distributions are those that one driver with
/// all the users would have. Its warnings name the workers that were lost, late, or too slow, or had other options.
///
/// The records of one share are merged before the next is added, so it needs the memory of two.
#[derive(Debug, Default)]
pub struct Merging {
    /// How many shares of each load were announced, and which load was the first.
    announced: BTreeMap<Identity, (usize, Reverse<usize>)>,
    /// The first worker's name, and what it drove.
    first: Option<(String, Description)>,
    /// The addresses that the workers loaded.
    targets: BTreeSet<String>,
    /// What differs between workers.
    differences: Vec<String>,
    /// The names of all workers and when they began, as they say it.
    known: BTreeSet<(String, u64)>,
    /// Their figures, and what they did in which second of their own.
    workers: Vec<(Worker, BTreeMap<u64, Second>)>,
    record: Recorder,
    threads: usize,
    cpu: Duration,
    opened: usize,
    unsent: u64,
    dropped: u64,
}

impl Merging {
    /// Announces a share that will be added. The load that most announced shares have is merged; without any, that of the first.
    ///
    /// # Errors
    /// Its figures are impossible.
    pub fn announce(&mut self, share: &Share) -> Result<(), Error> {
        share.check()?;
        let number = Reverse(self.announced.len());
        self.announced.entry(share.identity()).or_insert((0, number)).0 += 1;
        Ok(())
    }

    /// Adds what a worker measured.
    ///
    /// # Errors
    /// It didn't drive the load that is merged, or was added before, or its figures are impossible, or there are too many workers.
    pub fn add(&mut self, share: Share) -> Result<(), Error> {
        if self.workers.len() == MAX_WORKERS {
            let what = format!("found more than {MAX_WORKERS} workers, expected at most as many");
            return Err(Error::new(ErrorKind::Input, what));
        }
        share.check()?;
        let expected = match &self.first {
            Some((_, first)) => first.identity(),
            None => {
                let most = self.announced.iter().max_by_key(|(_, rank)| **rank);
                most.map_or_else(|| share.identity(), |(identity, _)| identity.clone())
            }
        };
        let identity = share.identity();
        if identity != expected {
            return Err(share.wrong(&format!("drove {}, expected {}", identity.0, expected.0)));
        }
        if !self.known.insert((share.name.clone(), share.begun_s.to_bits())) {
            return Err(share.wrong("is there twice"));
        }
        let (first, description) = self.first.get_or_insert_with(|| (share.name.clone(), share.description.clone()));
        self.targets.insert(share.description.described.row.target.clone());
        if let Some(difference) = share.description.difference(description) {
            self.differences.push(format!("The worker {} was started {difference} of the worker {first}", share.name));
        }
        let share = share.corrected();
        let worker = share.worker();
        self.threads = self.threads.saturating_add(share.description.described.threads);
        self.cpu = self.cpu.saturating_add(share.cpu().unwrap_or_default());
        self.opened = self.opened.saturating_add(share.opened.unwrap_or(share.users()));
        self.unsent = self.unsent.saturating_add(share.unsent);
        self.dropped = self.dropped.saturating_add(share.dropped);
        self.record.merge(Recorder { parts: share.parts, ..share.record });
        self.workers.push((worker, share.seconds));
        Ok(())
    }

    /// Returns the results of all workers.
    ///
    /// # Errors
    /// There is no worker, or they didn't measure at the same time.
    pub fn results(self) -> Result<Results, Error> {
        let error = |what: &str| Error::new(ErrorKind::Input, what);
        let Merging { first, targets, differences, mut workers, record, threads, cpu, opened, unsent, dropped, .. } =
            self;
        let (_, Description { mut head, suite, mut described }) =
            first.ok_or_else(|| error("there is no worker to merge"))?;
        let begun = workers.iter().map(|(worker, _)| worker.begun_s).fold(f64::INFINITY, f64::min);
        let ended = workers.iter().map(|(worker, _)| worker.ended_s).fold(0.0, f64::max);
        if ended - begun > MAX_TIME {
            return Err(error("the workers didn't measure at the same time"));
        }
        let elapsed = Duration::from_secs_f64(ended - begun);
        // A worker may have been started long before the load.
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(begun);
        (head.date, head.command) = (humantime::format_rfc3339_seconds(date).to_string(), without_name(&head.command));
        let last = elapsed.as_secs();
        let mut seconds: BTreeMap<u64, Second> = BTreeMap::new();
        for (worker, its_seconds) in &mut workers {
            worker.begun_s -= begun;
            worker.ended_s -= begun;
            let late = worker.begun_s.round() as u64;
            let has_left = ended - begun - worker.ended_s >= LEFT;
            for (at, second) in its_seconds {
                let at = at.saturating_add(late).min(last);
                let sum = seconds.entry(at).or_default();
                sum.requests = sum.requests.saturating_add(second.requests);
                sum.errors = sum.errors.saturating_add(second.errors);
                // Others get the users of a worker that leaves, within the same second or the one before.
                if !has_left || at as f64 + LEFT <= worker.ended_s {
                    sum.users = sum.users.saturating_add(second.users);
                }
            }
        }
        let workers: Vec<Worker> = workers.into_iter().map(|(worker, _)| worker).collect();
        described.threads = threads;
        // Users who were lost with their worker may have been replaced.
        let users = seconds.values().map(|second| second.users).max().unwrap_or_default();
        // An open workload has as many connections as it may have.
        if users > 0 {
            described.row.connections = usize::try_from(users).unwrap_or(usize::MAX);
        }
        let timeline = Arc::new(Timeline::of(&seconds, elapsed));
        let driver_cpu = Some(cpu);
        let outcome = Outcome { record, timeline, unsent, dropped, opened, driver_cpu, ..Outcome::empty(elapsed) };

        let mut tally = Tally::default();
        tally.add(Driven::whole(outcome));
        let (mut whole, parts) = tally.rows(&described);
        if whole.limited_by.is_none() {
            let limited = workers.iter().find_map(|worker| Some((&worker.name, worker.limited_by.as_ref()?)));
            whole.limited_by = limited.map(|(name, limit)| format!("{name}: {limit}"));
            whole.driver_limited = whole.limited_by.is_some();
        }
        let mut warnings = first_of(differences);
        if targets.len() > 1 {
            let all = first_of(targets.into_iter().collect()).join(", ");
            warnings.push(format!("The workers loaded different addresses: {all}"));
        }
        warnings.extend(workers.iter().flat_map(Worker::remarks));
        let early = workers.iter().filter(|worker| !worker.is_lost && elapsed.as_secs_f64() - worker.ended_s >= EARLY);
        warnings.extend(early.map(|worker| {
            let (from, to) = (worker.begun_s, worker.ended_s);
            format!("The worker {} measured from {from:.1} s to {to:.1} s, and ended before the others", worker.name)
        }));
        let rows = std::iter::once(whole).chain(parts).collect();
        let suites = vec![Suite::new(suite, rows)];
        Ok(Results { duration_s: elapsed.as_secs_f64(), warnings, workers, suites, ..head })
    }
}

/// Returns the first of these texts, and how many more there are.
fn first_of(mut texts: Vec<String>) -> Vec<String> {
    let more = texts.len().saturating_sub(NAMED);
    texts.truncate(NAMED);
    texts.extend((more > 0).then(|| format!("and {more} more")));
    texts
}

/// Returns the command of a worker without its name, which nobody else may have.
fn without_name(command: &str) -> String {
    let mut words = command.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--worker-name" => drop(words.next()),
            _ if word.starts_with("--worker-name=") => {}
            _ => kept.push(word),
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests;
