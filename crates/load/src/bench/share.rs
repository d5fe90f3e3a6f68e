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
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::exchange::Judged;
    use crate::{Answer, Bench, Case, Endpoint, Interrupt, Load, Message, Placement, Plan, Requests, Start, Target};

    fn merge(shares: Vec<Share>) -> Result<Results, Error> {
        let mut merging = Merging::default();
        shares.into_iter().try_for_each(|share| merging.add(share))?;
        merging.results()
    }

    fn description() -> Description {
        let message = Message {
            action: String::new(),
            content_type: String::new(),
            body: "ping".into(),
            check: Arc::new(|_| Ok(0)),
        };
        let requests = Requests::Raw(vec![message]);
        let case = Case { suite: "tests".into(), name: "ping".into(), style: None, path: "/".into(), requests };
        let plan = Plan { start: Start::OnDemand, connections: 100_000, ..Plan::default() };
        let endpoint = Endpoint::resolve("http://127.0.0.1:1/").unwrap();
        let bench = Bench {
            loads: vec![Load::new(case, plan)],
            targets: vec![Target::external("there", endpoint)],
            placement: Placement::external(),
            repeats: 0,
            command: "castile load".into(),
            interrupt: Interrupt::default(),
        };
        bench.description().unwrap()
    }

    /// Whatever stands in the file of a worker, it is refused or merged.
    #[test]
    fn changed_shares_do_no_harm() {
        let shares = [share("a", 10, 100..200), share("b", 11, [5_000_000].into_iter())];
        let texts = shares.map(|share| serde_json::to_vec(&share).unwrap());
        let numbers = r#"[1,-1,1e308,18446744073709551615,null,"",[]]"#.as_bytes();
        let mut merged = 0;
        crate::mutations::check_mutations(&[&texts[0], &texts[1], numbers], |text, _| {
            let Ok(changed) = serde_json::from_slice::<Share>(text) else { return };
            let mut merging = Merging::default();
            merging.add(share("c", 12, 100..110)).unwrap();
            if merging.add(changed).is_ok()
                && let Ok(results) = merging.results()
            {
                let row = &results.suites[0].cases[0];
                assert!(row.latency_us.p50.is_finite() && row.requests_per_second.mean.is_finite());
                let _ = results.table();
                merged += 1;
            }
        });
        assert!(merged > 0);
    }

    /// Returns the share of a worker that began at a second, and had answers of these latencies in microseconds.
    fn share(name: &str, begun: u64, latencies: impl Iterator<Item = u64>) -> Share {
        let mut record = Recorder::default();
        let answer = Answer { bytes_out: 4, bytes_in: 7, matches: 0 };
        for latency in latencies {
            let latency = Duration::from_micros(latency);
            record.answer(&Judged { answer, verified: false }, latency, latency);
        }
        record.error(true, &format!("status 500: request 7 of {begun}"));
        let second = Second { requests: record.requests, errors: 1, users: 2 };
        Share {
            name: name.to_owned(),
            description: description(),
            record,
            parts: Vec::new(),
            begun_s: begun as f64,
            ended_s: 20.0,
            clock_s: 0.0,
            seconds: BTreeMap::from([(begun, second)]),
            opened: None,
            in_flight: 0,
            unsent: 0,
            dropped: 0,
            cpu_s: Some(2.0),
            peak_cores: 0.0,
            lost_reports: 0,
            is_lost: false,
        }
    }

    /// Returns shares as they are after a journey.
    fn travelled(shares: &[Share]) -> Vec<Share> {
        serde_json::from_str(&serde_json::to_string(shares).unwrap()).unwrap()
    }

    #[test]
    fn merged_figures_are_those_of_one_driver() {
        let latencies = |from: u64| (from..3_000).step_by(3).map(|number| 500 + number * number);
        let workers = [share("a", 10, latencies(0)), share("b", 10, latencies(1)), share("c", 10, latencies(2))];
        let mut alone = share("alone", 10, (0..3_000).map(|number| 500 + number * number));
        alone.seconds = BTreeMap::from([(10, Second { requests: 3_000, errors: 3, users: 6 })]);
        alone.record.error(true, "status 500: request 8 of 10");
        alone.record.error(true, "status 500: request 9 of 10");
        let (merged, alone) = (merge(travelled(&workers)).unwrap(), merge(travelled(&[alone])).unwrap());
        let (row, same) = (&merged.suites[0].cases[0], &alone.suites[0].cases[0]);
        assert_eq!((row.requests, row.errors, row.connections), (3_000, 3, 6));
        assert_eq!(
            (&row.latency_us, &row.distribution, &row.series),
            (&same.latency_us, &same.distribution, &same.series)
        );
        assert_eq!((&row.requests_per_second, &row.reasons), (&same.requests_per_second, &same.reasons));
        assert_eq!((row.request_bytes, row.response_bytes, row.rhythm.is_some()), (4, 7, true));
        let names: Vec<_> = merged.workers.iter().map(|worker| (&*worker.name, worker.requests)).collect();
        assert_eq!((names, merged.warnings.len()), (vec![("a", 1_000), ("b", 1_000), ("c", 1_000)], 0));
        // Each used a fifth of its core.
        assert_eq!((row.driver_cpu_share, row.driver_limited), (Some(0.2), false));
    }

    #[test]
    fn a_worker_that_was_late_or_lost_or_slow_is_named() {
        let mut slow = share("slow", 10, 0..100);
        (slow.cpu_s, slow.in_flight, slow.lost_reports) = (Some(9.9), 2, 3);
        let mut lost = share("lost\u{1b}[2J", 14, 0..100);
        (lost.is_lost, lost.ended_s, lost.cpu_s) = (true, 15.0, None);
        let results = merge(travelled(&[slow, lost])).unwrap();
        let expected = [
            "3 reports of the worker slow were lost on the way, so what it did meanwhile is not in the figures",
            "2 requests were under way when the worker slow ended, and not counted",
            "The worker slow could not keep up (the driver used 99 % of its cores), so its figures are not those of the server",
            "The worker lost\\u{1b}[2J joined 4.00 s after the first",
            "The worker lost\\u{1b}[2J was lost 5.00 s after the start: what it did after its last report is not in the figures",
        ];
        assert_eq!(results.warnings, expected);
        let row = &results.suites[0].cases[0];
        assert_eq!(
            (row.limited_by.as_deref(), row.driver_limited),
            (Some("slow: the driver used 99 % of its cores"), true)
        );
    }

    /// A driver that was at its limit in the last half of a ramp was once not named: on average it used 70 % of its core.
    #[test]
    fn a_worker_that_was_slow_for_a_part_of_the_test_is_named() {
        let of = |cpu, peak_cores| Share { cpu_s: Some(cpu), peak_cores, ..share("w", 10, 0..100) };
        let limit = |share: Share| merge(travelled(&[share])).unwrap().workers.remove(0).limited_by;
        assert_eq!((limit(of(7.0, 0.8)), limit(of(0.0, 0.0))), (None, None));
        let part = "the driver used 99 % of its cores in its busiest seconds";
        assert_eq!(limit(of(7.0, 0.99)).as_deref(), Some(part));
        assert_eq!(limit(of(9.5, 0.99)).as_deref(), Some("the driver used 95 % of its cores"));
        let mut two = of(14.0, 1.5);
        two.description.described.threads = 2;
        assert_eq!(limit(two), None);
    }

    /// A report that the plugin accepts is merged later.
    #[test]
    fn the_plugin_has_the_limits_of_what_is_merged() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../locust/src/plugin.py");
        let plugin = std::fs::read_to_string(path).unwrap();
        let limit = |name: &str| -> u64 {
            let (_, value) = plugin.split_once(&format!("\n{name} = ")).unwrap();
            let number = |text: &str| text.replace('_', "").parse::<u64>().unwrap();
            let value = value.lines().next().unwrap();
            match value.split_once(" << ") {
                Some((one, places)) => number(one) << number(places),
                None => value.split(" * ").map(number).product(),
            }
        };
        let parts = limit("MOST_PARTS");
        assert_eq!((parts, limit("LONGEST_TIME")), (MAX_PARTS as u64, crate::recorder::END));
        assert_eq!((limit("LATEST") as f64, limit("LONGEST_TEST") as f64), (LATEST, MAX_TIME));
        assert!(limit("MOST_VALUES") >= Recorder::default().latency.distinct_values() as u64);
        assert!(limit("MOST_WORKERS") <= MAX_WORKERS as u64 && limit("LARGEST_SUM") <= crate::recorder::MAX_COUNT);
    }

    #[test]
    fn clocks_that_differ_are_corrected() {
        let same = [share("a", 10, 0..100), share("b", 10, 0..100)];
        let mut ahead = share("b", 10, 0..100);
        (ahead.begun_s, ahead.ended_s, ahead.clock_s) = (3_610.2, 3_620.2, 3_600.2);
        ahead.seconds = BTreeMap::from([(3_610, ahead.seconds[&10])]);
        let corrected = merge(travelled(&[share("a", 10, 0..100), ahead])).unwrap();
        let same = merge(travelled(&same)).unwrap();
        assert_eq!(corrected.suites[0].cases[0].series, same.suites[0].cases[0].series);
        assert_eq!((corrected.workers[1].begun_s, corrected.duration_s), (0.0, same.duration_s));
        assert_eq!(corrected.warnings, ["The clock of the worker b was 3,600 s ahead, which is corrected"]);
    }

    #[test]
    fn impossible_shares_are_refused() {
        let good = serde_json::to_value(share("w", 10, 0..10)).unwrap();
        let with = |path: &str, value: Value| {
            let mut share = good.clone();
            *share.pointer_mut(path).unwrap() = value;
            serde_json::from_value::<Share>(share).is_ok_and(|share| merge(vec![share]).is_ok())
        };
        assert!(
            with("/cpu_s", json!(null))
                && with("/record/latency", json!([0, 1, 1, 1, 1_000, 1, 5_000_000, 2, (1u64 << 42) - 1, 1]))
                && with("/seconds", json!({ "21": { "requests": 1, "errors": 1, "users": 1 } }))
        );
        let mut late = good.clone();
        (late["begun_s"], late["ended_s"], late["seconds"]) = (json!(1e300), json!(1e300), json!({}));
        assert!(merge(vec![serde_json::from_value(late).unwrap()]).is_err());
        let half = json!({ "requests": (1u64 << 45) + 1, "errors": 0, "users": u64::MAX });
        for (path, value) in [
            ("/begun_s", json!(-1.0)),
            ("/begun_s", json!(30.0)),
            ("/ended_s", json!(1e300)),
            ("/cpu_s", json!(-5.0)),
            ("/clock_s", json!(1e300)),
            ("/cpu_s", json!(1e12)),
            ("/seconds", json!({ "8": { "requests": 1, "errors": 1, "users": 1 } })),
            ("/seconds", json!({ "22": { "requests": 1, "errors": 1, "users": 1 } })),
            ("/seconds", json!({ (u64::MAX.to_string()): { "requests": 1, "errors": 1, "users": 1 } })),
            ("/seconds/10/requests", json!(u64::MAX)),
            ("/seconds/10/errors", json!(u64::MAX)),
            ("/seconds", json!({ "10": half, "11": half })),
            ("/record/reasons", json!([{ "text": "a", "count": 1u64 << 46 }, { "text": "b", "count": 1 }])),
            ("/peak_cores", json!(-1.0)),
            ("/peak_cores", json!(1e300)),
            ("/lost_reports", json!(u64::MAX)),
            ("/in_flight", json!(u64::MAX)),
            ("/unsent", json!(u64::MAX)),
            ("/dropped", json!(u64::MAX)),
            ("/opened", json!(u64::MAX)),
            ("/record/requests", json!(u64::MAX)),
            ("/record/warmup_errors", json!(5)),
            ("/record/reasons/0/count", json!(u64::MAX)),
            ("/parts", json!([good["record"]])),
            ("/record/latency", json!([1_000, 11])),
            ("/record/service", json!([1_000, 11])),
            ("/record/lag", json!([1_000, (1u64 << 45) + 1, 2_000, 1u64 << 45])),
            ("/record/latency", json!([1_000])),
            ("/record/latency", json!([1_000, u64::MAX])),
            ("/record/latency", json!([u64::MAX, 1])),
            ("/record/latency", json!([1u64 << 42, 1])),
            ("/record/latency", json!([-1, 1])),
        ] {
            assert!(!with(path, value.clone()), "{path} {value}");
        }
        assert!(merge(Vec::new()).is_err());
        // Each share is possible, and so is their sum.
        let most = json!({ "requests": 1u64 << 46, "errors": 1u64 << 46, "users": u64::MAX });
        let mut many = good.clone();
        many["seconds"] = json!({ "10": most });
        for count in ["in_flight", "unsent", "dropped", "opened"] {
            many[count] = json!(1u64 << 44);
        }
        for count in ["requests", "errors", "not_sent", "verified", "bytes_out", "bytes_in", "matches"] {
            many["record"][count] = json!(1u64 << 46);
        }
        let many: Share = serde_json::from_value(many).unwrap();
        let many = (0..3).map(|number| Share { name: number.to_string(), ..many.clone() });
        assert_eq!(merge(many.collect()).unwrap().suites[0].cases[0].requests, 3 << 46);
    }

    /// One worker with another operation once made all others "another load", if it came first.
    #[test]
    fn most_shares_decide_which_load_is_merged() {
        let mut other = share("other", 10, 0..10);
        other.description.described.row.case = "pong".into();
        let mut impossible = share("impossible", 10, 0..10);
        impossible.ended_s = 1e300;
        let all = [other, impossible, share("a", 10, 0..10), share("b", 10, 0..10)];
        let mut merging = Merging::default();
        let announced: Vec<bool> = all.iter().map(|share| merging.announce(share).is_ok()).collect();
        assert_eq!(announced, [true, false, true, true]);
        let added = all.map(|share| merging.add(share).map_err(|error| error.to_string()));
        assert_eq!(added[0], Err("the worker other drove pong, expected ping".to_owned()));
        assert_eq!((added[2].is_ok(), added[3].is_ok()), (true, true));
        assert_eq!(merging.results().unwrap().workers.len(), 2);
    }

    #[test]
    fn workers_with_other_options_are_named() {
        let of = |name: &str, command: &str, target: &str| {
            let mut share = share(name, 10, 0..10);
            share.description.head.command = format!("castile load a.wsdl --worker-name {name} {command}");
            share.description.described.row.target = target.to_owned();
            share
        };
        let results = merge(vec![
            of("a", "--url http://a --think 1s", "http://a"),
            of("b", "--url http://b --feed b.csv --think 100ms", "http://b"),
            of("c", "--url http://a", "http://a"),
            of("d", "--url http://a --think 1s --no-keepalive", "http://a"),
        ]);
        let results = results.unwrap();
        let expected = [
            "The worker b was started with --think 100ms instead of --think 1s of the worker a",
            "The worker c was started without --think 1s of the worker a",
            "The worker d was started with --no-keepalive in addition to the options of the worker a",
            "The workers loaded different addresses: http://a, http://b",
        ];
        assert_eq!(results.warnings, expected);
        assert_eq!(results.command, "castile load a.wsdl --url http://a --think 1s");
        assert_eq!(results.date, "1970-01-01T00:00:10Z");
    }

    /// The users of a worker that left were once counted together with those that replaced them.
    #[test]
    fn users_of_a_worker_that_left_are_counted_once() {
        let of = |name: &str, seconds: std::ops::Range<u64>, users: fn(u64) -> u64| {
            let ended_s = seconds.end as f64 + 0.3;
            let seconds = seconds.map(|at| (at, Second { requests: 1, errors: 0, users: users(at) })).collect();
            Share { seconds, ended_s, ..share(name, 10, 0..20) }
        };
        let shares = vec![of("stays", 10..30, |at| if at < 13 { 10 } else { 20 }), of("leaves", 10..14, |_| 10)];
        let results = merge(shares).unwrap();
        assert_eq!(results.suites[0].cases[0].connections, 20);
        let expected = "The worker leaves measured from 0.0 s to 4.3 s, and ended before the others";
        assert_eq!(results.warnings, [expected]);
    }

    /// A worker whose clock stands in 1970 once made the report impossible.
    #[test]
    fn a_clock_that_was_never_set_is_corrected() {
        let mut late = share("late", 10, 0..10);
        (late.begun_s, late.ended_s, late.seconds) = (1.9e9, 1.9e9 + 10.0, BTreeMap::new());
        let mut old = share("old", 10, 0..10);
        old.clock_s = -1.9e9 + 10.0;
        assert_eq!(merge(vec![late, old]).unwrap().duration_s, 10.0);
    }

    /// A file of some kilobytes once took gigabytes of memory.
    #[test]
    fn records_are_refused_while_they_are_read() {
        let mut share = serde_json::to_value(share("w", 10, 0..10)).unwrap();
        share["parts"] = json!(vec![&share["record"]; 3]);
        // Parts of parts aren't read.
        share["parts"][0]["parts"] = json!(["no record"]);
        let read = serde_json::from_value::<Share>(share.clone()).unwrap();
        assert_eq!((read.parts.len(), read.parts[0].parts.len()), (3, 0));
        share["parts"] = json!(vec![&share["record"]; MAX_PARTS + 1]);
        let error = serde_json::from_value::<Share>(share).unwrap_err().to_string();
        assert!(error.contains("expected at most 1000 records of operations"), "{error}");
    }

    /// A report once counted a worker twice whose file was given twice.
    #[test]
    fn a_share_counts_once() {
        let again = Share { begun_s: 11.0, seconds: BTreeMap::new(), ..share("w", 10, 0..10) };
        assert!(merge(vec![share("w", 10, 0..10), again]).is_ok());
        let error = merge(vec![share("w", 10, 0..10), share("w", 10, 0..10)]).unwrap_err();
        assert_eq!(error.to_string(), "the worker w is there twice");
    }

    /// The second before the first one once replaced it, or was replaced.
    #[test]
    fn a_second_from_before_the_beginning_is_a_part_of_the_first() {
        let of = |requests, users| Second { requests, errors: 1, users };
        let seconds = BTreeMap::from([(9, of(5, 1)), (10, of(7, 3)), (11, of(1, 2))]);
        let corrected = Share { seconds, ..share("w", 10, 0..10) }.corrected();
        let first = Second { requests: 12, errors: 2, users: 3 };
        assert_eq!(corrected.seconds, BTreeMap::from([(0, first), (1, of(1, 2))]));
    }

    /// Each process once counted as many threads as the plan has, so that a busy driver looked idle.
    #[test]
    fn a_part_of_a_load_has_its_own_threads() {
        let mut busy = share("busy", 10, 0..10);
        busy.cpu_s = Some(9.9);
        let mut whole = busy.description.clone();
        whole.described.threads = 4;
        let results = merge(vec![busy.part_of(&whole)]).unwrap();
        assert_eq!(results.workers[0].limited_by.as_deref(), Some("the driver used 99 % of its cores"));
    }

    #[test]
    fn the_first_second_of_each_worker_is_in_the_series() {
        let of = |name: &str, begun: f64, clock: f64| {
            let second = Second { requests: 10, errors: 0, users: 2 };
            let first = begun as u64;
            let seconds = (first..first + 10).map(|at| (at, second)).collect();
            Share { begun_s: begun, ended_s: begun + 10.0, clock_s: clock, seconds, ..share(name, 10, 0..100) }
        };
        // They begin at 10.1, 10.05 and 9.98 of one clock.
        let merged = merge(vec![of("a", 10.7, 0.6), of("b", 10.05, 0.0), of("c", 9.58, -0.4)]).unwrap();
        let series = &merged.suites[0].cases[0].series;
        let rates: Vec<_> = series.iter().map(|interval| interval.requests_per_second.round()).collect();
        assert!(rates.len() == 10 && rates[..9].iter().all(|rate| *rate == 30.0), "{rates:?}");
        assert!((26.0..=30.0).contains(&rates[9]), "{rates:?}");
    }
}
