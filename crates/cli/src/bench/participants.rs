//! The participants of a bench: Castile or another endpoint, peers, Castile across a network, and the HTTP floor. Servers are started anew
//! for each suite.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use castile_load::{
    Against, Bench, Case, Driver, Endpoint, Load, Network, Placement, Plan, Progress, Server, Target, Warmup,
};
use castile_report::FLOOR;

use crate::peers::{Peer, check};
use crate::tls::Secured;
use crate::{errors, floor, process};

/// The participants that the command line selects.
#[derive(Debug)]
pub(super) struct Participants {
    /// Another endpoint instead of Castile's server.
    pub(super) url: Option<(String, Endpoint)>,
    pub(super) peers: Vec<Peer>,
    pub(super) network: Option<Network>,
    pub(super) with_floor: bool,
    /// Whether to warm up peers that get faster under load.
    pub(super) warms: bool,
    /// The file with the earthquakes of the seismic suite.
    pub(super) data: Option<PathBuf>,
    /// TLS, if Castile and the floor use it.
    pub(super) tls: Option<Secured>,
}

impl Participants {
    /// Returns the names of the targets of a load, in the order of their first turns.
    pub(super) fn names(&self, load: &Load) -> Vec<String> {
        let mut names = Vec::new();
        if load.against != Against::Floor {
            names.push(self.url.as_ref().map_or(CASTILE, |(url, _)| url).to_owned());
            names.extend(self.peers.iter().filter(|peer| peer.serves(&load.case)).map(|peer| peer.name.clone()));
            names.extend(self.network.map(|network| format!("{CASTILE} across {network}")));
        }
        if self.with_floor && is_for_floor(load) {
            names.push(FLOOR.to_owned());
        }
        names
    }

    /// Returns the peers to warm up for the loads of a suite, each with its minimum warm-up time.
    pub(super) fn warmed<'a>(&'a self, loads: &'a [Load]) -> impl Iterator<Item = (&'a Peer, Duration)> {
        let of = |peer: &'a Peer| Some((peer, self.warmup(peer)?.planned(served(peer, loads))));
        self.peers.iter().filter_map(of).filter(|(_, time)| !time.is_zero())
    }

    fn warmup(&self, peer: &Peer) -> Option<Warmup> {
        (self.warms && !peer.warmup().is_zero()).then(|| Warmup::of(peer.warmup()))
    }

    /// Returns the peers that are measured before they reach their full speed.
    pub(super) fn cold(&self, loads: &[Load]) -> Vec<String> {
        let is_cold = |peer: &&Peer| !self.warms && served(peer, loads).any(|load| load.plan.warmup < peer.warmup());
        self.peers.iter().filter(is_cold).map(|peer| peer.name.clone()).collect()
    }

    /// Starts all participants and checks the answers of each. Returns a message for each dropped peer, with the reason.
    pub(super) async fn start(
        &self,
        bench: &mut Bench,
        floor: Option<&Floor<'_>>,
        known: &mut StartedTargets,
        progress: &mut Progress,
    ) -> anyhow::Result<Vec<String>> {
        let mut target = self.castile_target(&bench.placement)?;
        bench.ask_each(&mut target).await.context("there is nothing to measure")?;
        let (name, versions) = match &self.url {
            Some((url, _)) => (url.clone(), None),
            None => (CASTILE.to_owned(), Some(env!("CARGO_PKG_VERSION").to_owned())),
        };
        let over = if self.tls.is_some() { " over TLS" } else { "" };
        let title = versions.is_some().then(|| format!("Castile{over}"));
        let language = versions.is_some().then(|| LANGUAGE.to_owned());
        known.add(castile_report::Target { name, title, versions, language, first_answer_ms: None }, &target);
        bench.targets.push(target);

        let mut dropped = Vec::new();
        for peer in &self.peers {
            let served: Vec<&Load> = served(peer, &bench.loads).collect();
            let Some(first) = served.first() else { continue };
            match self.start_peer(peer, &served, bench).await {
                Ok(target) => {
                    known.add(peer.target(), &target);
                    bench.targets.push(target);
                }
                Err(error) => {
                    let suite = &first.case.suite;
                    dropped.push(format!(
                        "{} was dropped, so it has no rows of {suite}: {}",
                        peer.name,
                        errors::in_full(&error)
                    ));
                    let warmup = self.warmup(peer).map(|warmup| warmup.planned(served.iter().copied()));
                    let runs: Duration = served.iter().map(|load| load.planned()).sum();
                    progress.leave_out(runs + warmup.unwrap_or_default());
                }
            }
        }
        if let Some(network) = self.network {
            let server = self.start_own(&bench.placement, "serve", Some(network), &self.data_arguments())?;
            network.connect()?;
            let mut target = Target::server(CASTILE, server).across(network.to_string());
            bench.ask_each(&mut target).await.context("there is nothing to measure across the network")?;
            bench.targets.push(target);
        }
        if let Some(floor) = floor {
            let (arguments, numbers) = floor.arguments();
            let server = self.start_own(&bench.placement, "floor", None, &arguments)?;
            let mut target = Target::floor(server, numbers);
            bench.ask_each(&mut target).await.context("the check of the HTTP floor failed")?;
            let title = Some(format!("HTTP{over} alone"));
            let language = Some(LANGUAGE.to_owned());
            known.add(
                castile_report::Target {
                    name: FLOOR.to_owned(),
                    title,
                    versions: None,
                    language,
                    first_answer_ms: None,
                },
                &target,
            );
            bench.targets.push(target);
        }
        Ok(dropped)
    }

    /// Starts the server under test, or connects to `--url`.
    pub(super) fn castile_target(&self, placement: &Placement) -> anyhow::Result<Target> {
        match &self.url {
            Some((url, endpoint)) => Ok(Target::external(url, endpoint.clone())),
            None => {
                let server = self.start_own(placement, "serve", None, &self.data_arguments())?;
                Ok(Target::server(CASTILE, server))
            }
        }
    }

    async fn start_peer(&self, peer: &Peer, served: &[&Load], bench: &Bench) -> anyhow::Result<Target> {
        let cases = served.iter().map(|load| &load.case);
        let target = Target::server(&peer.name, peer.start(&bench.placement)?).for_cases(cases).as_guest();
        let mut target = match self.warmup(peer) {
            Some(warmup) => target.warmed_by(warmup),
            None => target,
        };
        // The typed client doesn't keep the answers. So the same cases are also requested as raw messages, whose answers are checked for
        // completeness.
        let is_served =
            |case: &Case| served.iter().any(|load| (&load.case.name, &load.case.style) == (&case.name, &case.style));
        let suite = served.first().map(|load| castile_suites::cases(&load.case.suite));
        let messages = suite.into_iter().flatten().filter(is_served).map(|case| Load::new(case, Plan::default()));
        let loads = messages.chain(served.iter().copied().cloned()).collect();
        check::ask(&mut target, loads, &bench.placement).await?;
        Ok(target)
    }

    /// Starts a command of this binary as a participant.
    fn start_own(
        &self,
        placement: &Placement,
        name: &str,
        network: Option<Network>,
        more: &[OsString],
    ) -> anyhow::Result<Server> {
        let Some(tls) = &self.tls else { return process::start_own(placement, name, network, more) };
        let mut command = process::own_command(name, network, more)?;
        command.args(tls.arguments());
        Ok(Server::start_with(&format!("castile {name}"), command, placement, tls.client())?)
    }

    fn data_arguments(&self) -> Vec<OsString> {
        self.data.iter().flat_map(|file| ["--data".into(), file.into()]).collect()
    }
}

const CASTILE: &str = "castile";
const LANGUAGE: &str = "Rust";

/// Returns the loads that a peer serves.
fn served<'a>(peer: &'a Peer, loads: &'a [Load]) -> impl Iterator<Item = &'a Load> {
    loads.iter().filter(|load| load.against != Against::Floor && peer.serves(&load.case))
}

/// The targets of all suites, each with the times of its first answers.
#[derive(Debug, Default)]
pub(super) struct StartedTargets(Vec<(castile_report::Target, Vec<f64>)>);

impl StartedTargets {
    fn add(&mut self, target: castile_report::Target, started: &Target) {
        let first_answer = started.first_answer().map(|time| time.as_secs_f64() * 1e3);
        match self.0.iter_mut().find(|(known, _)| known.name == target.name) {
            Some((_, times)) => times.extend(first_answer),
            None => self.0.push((target, first_answer.into_iter().collect())),
        }
    }

    pub(super) fn targets(self) -> Vec<castile_report::Target> {
        let with_median = |(target, times)| castile_report::Target { first_answer_ms: median(times), ..target };
        self.0.into_iter().map(with_median).collect()
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle)?;
    Some(if values.len() % 2 == 1 { *upper } else { (values[middle - 1] + upper) / 2.0 })
}

/// Returns whether the floor can take part in a load. It knows by the connection which request of a list is next.
fn is_for_floor(load: &Load) -> bool {
    load.against != Against::Servers
        && load.driver == Driver::Own
        && !load.case.messages().is_empty()
        && (load.case.count() == 1 || load.plan.keep_alive)
}

/// The answers of the floor: for each load in which it takes part, a folder with the requests, and the answers of the server under test.
#[derive(Debug)]
pub(super) struct Answers {
    _directory: tempfile::TempDir,
    files: Vec<Option<PathBuf>>,
}

/// The answers for one suite.
#[derive(Debug)]
pub(super) struct Floor<'a>(&'a [Option<PathBuf>]);

impl Answers {
    /// Writes the folders. With `is_spared`, the floor takes part in only the first of the loads with the same settings and message sizes,
    /// because its speed depends on nothing else.
    pub(super) fn of(loads: &[Load], answers: &[Vec<Bytes>], is_spared: bool) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir().context("can't store the answers of the HTTP floor")?;
        let mut files = Vec::new();
        let mut measured = Vec::new();
        for (load, answers) in loads.iter().zip(answers) {
            let messages = load.case.messages();
            let size: Vec<_> =
                messages.iter().zip(answers).map(|(message, answer)| (message.body.len(), answer.len())).collect();
            let alike =
                (load.case.suite.clone(), load.plan.connections, load.plan.keep_alive, size, load.search.is_some());
            let again = is_spared && measured.contains(&alike);
            if again || !is_for_floor(load) {
                files.push(None);
                continue;
            }
            measured.push(alike);
            let folder = directory.path().join(files.len().to_string());
            floor::write(&folder, messages.iter().map(|message| &message.body).zip(answers))
                .with_context(|| folder.display().to_string())?;
            files.push(Some(folder));
        }
        Ok(Answers { _directory: directory, files })
    }

    /// Returns whether the floor takes part in this load.
    pub(super) fn has(&self, load: usize) -> bool {
        self.files.get(load).is_some_and(Option::is_some)
    }

    /// Returns the answers for a range of loads, or `None` if the floor takes part in none of them.
    pub(super) fn floor(&self, loads: std::ops::Range<usize>) -> Option<Floor<'_>> {
        let files = self.files.get(loads)?;
        files.iter().any(Option::is_some).then_some(Floor(files))
    }
}

impl Floor<'_> {
    /// Returns the arguments that start the floor, and the number of its answer for each load.
    fn arguments(&self) -> (Vec<OsString>, Vec<Option<usize>>) {
        let files = self.0.iter().flatten();
        let arguments = files.flat_map(|file| ["--answer".into(), file.into()]).collect();
        let mut count = 0;
        let numbers = self.0.iter().map(|file| {
            file.as_ref()?;
            count += 1;
            Some(count - 1)
        });
        let numbers = numbers.collect();
        (arguments, numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }
}
