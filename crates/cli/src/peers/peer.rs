//! A peer: a directory with the scripts `build` and `start PORT`, and `peer.json`, which says what it serves.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use castile_load::{Case, Placement, Server};
use castile_suites::Suite;

use crate::bench::selects;

/// A stack that others wrote, and our services on it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The name of its directory.
    pub(crate) name: String,
    directory: PathBuf,
    description: Description,
}

/// What `peer.json` says.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    title: String,
    versions: String,
    language: String,
    /// Served at the paths that Castile serves them at.
    suites: Vec<String>,
    /// Cases of them that it can't serve, or all cases of an operation, each with the reason.
    #[serde(default)]
    except: BTreeMap<String, String>,
    /// How long it gets faster under load, in seconds.
    #[serde(default)]
    warmup_s: f64,
}

impl Peer {
    /// Where peers are in a checkout.
    pub(crate) const DIRECTORY: &str = "peers";

    /// All peers of a directory, by name.
    pub(crate) fn all(directory: &Path) -> anyhow::Result<Vec<Peer>> {
        let expected = || format!("found no peers in {}, expected those of a checkout of Castile", directory.display());
        let mut peers = Vec::new();
        for entry in std::fs::read_dir(directory).with_context(expected)? {
            let directory = entry.with_context(expected)?.path();
            if directory.join(DESCRIPTION).exists() {
                peers.push(Peer::of(directory)?);
            }
        }
        if peers.is_empty() {
            bail!(expected());
        }
        peers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(peers)
    }

    /// Those of these names, in their order; all without any.
    pub(crate) fn named(directory: &Path, names: &[String]) -> anyhow::Result<Vec<Peer>> {
        let all = Peer::all(directory)?;
        if names.is_empty() {
            return Ok(all);
        }
        let find = |name: &String| match all.iter().find(|peer| peer.name == *name) {
            Some(peer) => Ok(peer.clone()),
            None => {
                let known: Vec<_> = all.iter().map(|peer| &*peer.name).collect();
                bail!("found peer {name:?}, expected one of {}", known.join(", "))
            }
        };
        names.iter().map(find).collect()
    }

    fn of(directory: PathBuf) -> anyhow::Result<Peer> {
        let file = directory.join(DESCRIPTION);
        let text = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let description: Description = serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
        if let Some(suite) = description.suites.iter().find(|suite| castile_suites::suite(suite).is_none()) {
            let known = castile_suites::SUITES.map(|suite| suite.name).join(", ");
            bail!("{}: found suite {suite:?}, expected one of {known}", file.display());
        }
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Peer { name, directory, description })
    }

    /// The suites that it serves.
    pub(crate) fn suites(&self) -> impl Iterator<Item = &'static Suite> {
        self.description.suites.iter().filter_map(|suite| castile_suites::suite(suite))
    }

    /// Whether it serves a case. Other forms of a contract are contracts of their own, which no peer serves.
    pub(crate) fn serves(&self, case: &Case) -> bool {
        let is_form = |suite: &Suite| (suite.forms)().iter().any(|form| form.path == case.path);
        let excepted = || self.description.except.keys().any(|operation| selects(operation, &case.name));
        self.suites().any(|suite| suite.name == case.suite && !is_form(suite)) && !excepted()
    }

    /// How long it gets faster under load; figures of before are those of a cold one.
    pub(crate) fn warmup(&self) -> Duration {
        Duration::try_from_secs_f64(self.description.warmup_s).unwrap_or_default()
    }

    /// Runs its script `build`, whose output is seen.
    pub(crate) fn build(&self) -> anyhow::Result<()> {
        let status = self.script("build")?.stdin(Stdio::null()).status();
        let status = status.with_context(|| format!("{}: its script build can't be run", self.name))?;
        if !status.success() {
            bail!("{}: its script build failed ({status})", self.name);
        }
        Ok(())
    }

    /// Runs its script `start` on a port that is free, and waits until it listens.
    pub(crate) fn start(&self, placement: &Placement) -> anyhow::Result<Server> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = self.script("start")?;
        command.arg(port.to_string());
        Ok(Server::start(&format!("the peer {}", self.name), command, placement)?)
    }

    /// A script by its whole path, since it is run wherever we are.
    fn script(&self, name: &str) -> anyhow::Result<Command> {
        let script = self.directory.join(name);
        Ok(Command::new(script.canonicalize().with_context(|| script.display().to_string())?))
    }
}

const DESCRIPTION: &str = "peer.json";

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Description { title, versions, language, suites, except, .. } = &self.description;
        write!(f, "{:<9} {title}: {versions}; {language}; {}", self.name, suites.join(", "))?;
        for (case, why) in except {
            write!(f, "\n          without {case}: {why}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(Peer::DIRECTORY)
    }

    #[test]
    fn all_peers_have_scripts_and_serve_cases() {
        for peer in Peer::all(&peers()).unwrap() {
            for script in ["build", "start"] {
                peer.script(script).unwrap();
            }
            let Description { suites, except, .. } = &peer.description;
            let cases: Vec<Case> = suites.iter().flat_map(|suite| castile_suites::cases(suite)).collect();
            for left_out in except.keys() {
                assert!(cases.iter().any(|case| selects(left_out, &case.name)), "{}: {left_out}", peer.name);
            }
            assert!(cases.iter().any(|case| peer.serves(case)), "{peer}");
        }
    }

    #[test]
    fn an_unknown_peer_is_told_with_the_known_ones() {
        let error = Peer::named(&peers(), &["soapless".into()]).unwrap_err().to_string();
        assert!(error.starts_with("found peer \"soapless\", expected one of axis"), "{error}");
    }

    #[test]
    fn a_directory_without_peers_is_told() {
        let error = Peer::all(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err().to_string();
        assert!(error.starts_with("found no peers in "), "{error}");
    }
}
