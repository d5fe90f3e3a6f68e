//! A peer: a folder with `peer.json`, which describes what the peer serves and calls, and scripts: `build`, `start PORT` if it serves
//! something, and `client URL CASE` if it calls something.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead, BufReader, PipeReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use castile_load::{Case, Placement, Process, Server};
use castile_suites::{OPTIONAL_SUITES, Suite};
use tokio::sync::oneshot;

use crate::cases::{self, selects};

/// A third-party stack that implements our services.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The name of its folder.
    pub(crate) name: String,
    directory: PathBuf,
    description: Description,
}

/// The content of `peer.json`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    title: String,
    versions: String,
    language: String,
    /// The suites it serves, at the same paths as Castile.
    #[serde(default)]
    suites: Vec<String>,
    /// The suites whose cases its client calls.
    #[serde(default)]
    clients: Vec<String>,
    /// Its protocol, if that isn't SOAP over HTTP. Its client then calls its own server.
    protocol: Option<String>,
    /// Unsupported cases, or operations or styles of which all cases are unsupported, each with the reason.
    #[serde(default)]
    except: BTreeMap<String, String>,
    /// How long it gets faster under load, in seconds.
    #[serde(default)]
    warmup_s: f64,
}

impl Peer {
    /// The folder of the peers in a checkout.
    pub(crate) const DIRECTORY: &str = "peers";

    /// Returns all peers of a folder, sorted by name.
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

    /// Returns the peers with these names, in the given order. Without names, returns all.
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
        let Description { suites, clients, .. } = &description;
        let is_known = |name: &str| castile_suites::suite(name).is_some() || OPTIONAL_SUITES.contains(&name);
        if let Some(suite) = suites.iter().chain(clients).find(|suite| !is_known(suite)) {
            bail!("{}: found suite {suite:?}, expected one of {}", file.display(), cases::suites());
        }
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Peer { name, directory, description })
    }

    /// Returns the suites that it serves.
    pub(crate) fn suites(&self) -> impl Iterator<Item = &'static Suite> {
        self.description.suites.iter().filter_map(|suite| castile_suites::suite(suite))
    }

    /// Returns whether it serves a case. Other forms of a contract are separate contracts, which no peer serves.
    pub(crate) fn serves(&self, case: &Case) -> bool {
        let is_form = |suite: &Suite| (suite.forms)().iter().any(|form| form.path == case.path);
        let excepted = || self.description.except.keys().any(|what| excludes(what, case));
        self.suites().any(|suite| suite.name == case.suite && !is_form(suite)) && !excepted()
    }

    /// Returns whether it serves any suite.
    pub(crate) fn is_server(&self) -> bool {
        !self.description.suites.is_empty()
    }

    /// Returns the suites whose cases its client calls.
    pub(crate) fn clients(&self) -> impl Iterator<Item = &'static Suite> {
        self.description.clients.iter().filter_map(|suite| castile_suites::suite(suite))
    }

    /// Returns the versions of its components.
    pub(crate) fn versions(&self) -> &str {
        &self.description.versions
    }

    /// Returns the protocol between its client and its server; `None` for SOAP over HTTP.
    pub(crate) fn protocol(&self) -> Option<&str> {
        self.description.protocol.as_deref()
    }

    /// Returns how long it gets faster under load. Results from before that time are those of a cold server.
    pub(crate) fn warmup(&self) -> Duration {
        Duration::try_from_secs_f64(self.description.warmup_s).unwrap_or_default()
    }

    /// Returns its description for the report. The time of the first answer isn't known yet.
    pub(crate) fn target(&self) -> castile_report::Target {
        let Description { title, versions, language, .. } = self.description.clone();
        castile_report::Target {
            name: self.name.clone(),
            title: Some(title),
            versions: Some(versions),
            language: Some(language),
            first_answer_ms: None,
        }
    }

    /// Runs its `build` script and shows the output. If the script fails, the packages that it reports as missing are added to `missing`.
    /// Dropping the future ends the script and all its children.
    pub(super) async fn build(&self, missing: &mut BTreeSet<String>) -> anyhow::Result<()> {
        /// The polling interval for the end of the script.
        const POLL_INTERVAL: Duration = Duration::from_millis(20);

        let mut command = Command::new(self.script("build")?);
        let castile = std::env::current_exe().context("can't find this program, which gives the peers their data")?;
        let (said, says) = std::io::pipe().context("can't read the output of its build script")?;
        command.env("CASTILE", castile).stdin(Stdio::null()).stderr(says);
        let mut process = Process::start(&format!("{}: its build script", self.name), command)?;
        let packages = listen(said);
        let status = loop {
            match process.ended() {
                Some(status) => break status,
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        };
        let packages = packages.await?;
        if !status.success() {
            missing.extend(packages);
            bail!("{}: its build script failed ({status})", self.name);
        }
        Ok(())
    }

    /// Runs its `start` script with a free port, and waits until the server listens.
    pub(crate) fn start(&self, placement: &Placement) -> anyhow::Result<Server> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = bound_to_us(&self.script("start")?);
        command.arg(port.to_string());
        Ok(Server::start(&format!("the peer {}", self.name), command, placement)?)
    }

    /// Returns the command that runs its `client` script for a case at a URL.
    pub(crate) fn client(&self, url: &str, case: &str) -> anyhow::Result<Command> {
        let mut command = bound_to_us(&self.script("client")?);
        command.args([url, case]);
        Ok(command)
    }

    /// Returns the absolute path of a script, because it is run from any directory.
    fn script(&self, name: &str) -> anyhow::Result<PathBuf> {
        let script = self.directory.join(name);
        script.canonicalize().with_context(|| script.display().to_string())
    }
}

/// Returns whether an exception applies to a case: by its name, its operation or its style.
fn excludes(what: &str, case: &Case) -> bool {
    selects(what, &case.name) || case.style.as_deref() == Some(what)
}

const DESCRIPTION: &str = "peer.json";

/// The text before the packages in the message of a build script.
pub(super) const INSTALL: &str = ": apt-get install ";

/// Prints the output of a build script line by line. At its end, sends the packages that are reported as missing.
fn listen(said: PipeReader) -> oneshot::Receiver<Vec<String>> {
    let (send, receive) = oneshot::channel();
    std::thread::spawn(move || {
        let mut packages = Vec::new();
        for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            note!("{}", castile_xml::visible_lines(&line));
            packages.extend(missing(&line).map(str::to_owned));
        }
        // If the build was interrupted, there is no receiver.
        let _ = send.send(packages);
    });
    receive
}

/// Returns the packages of a line `PROGRAM is missing: apt-get install PACKAGE…`; none for other lines.
fn missing(line: &str) -> impl Iterator<Item = &str> {
    let after_name = line.split_once(INSTALL).filter(|(what, _)| what.ends_with("is missing"));
    after_name.into_iter().flat_map(|(_, packages)| packages.split_whitespace())
}

/// Returns a command whose process gets SIGTERM when this process ends, even if this process is killed. Servers of peers don't watch their
/// standard input, as Castile's do. This needs Linux; on other systems, a peer can outlive a bench that is killed.
fn bound_to_us(program: &Path) -> Command {
    if cfg!(not(target_os = "linux")) {
        return Command::new(program);
    }
    // `setpriv` executes the program in the same process.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program);
    command
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Description { title, versions, language, suites, clients, except, .. } = &self.description;
        write!(f, "{:<14} {title}: {versions}; {language}", self.name)?;
        if !suites.is_empty() {
            write!(f, "; {}", suites.join(", "))?;
        }
        if !clients.is_empty() {
            write!(f, "; a client of {}", clients.join(", "))?;
        }
        for (case, why) in except {
            write!(f, "\n{:<14} without {case}: {why}", "")?;
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
            let Description { suites, clients, except, protocol, .. } = &peer.description;
            assert!(!suites.is_empty() || !clients.is_empty(), "{peer}");
            let serves = !suites.is_empty() || protocol.is_some();
            for (script, expected) in [("build", true), ("start", serves), ("client", !clients.is_empty())] {
                assert_eq!(peer.script(script).is_ok(), expected, "{}: {script}", peer.name);
            }
            assert!(peer.clients().all(|suite| !(suite.typed)().is_empty()), "{peer}");
            let cases: Vec<Case> = suites.iter().flat_map(|suite| castile_suites::cases(suite)).collect();
            for left_out in except.keys() {
                assert!(cases.iter().any(|case| excludes(left_out, case)), "{}: {left_out}", peer.name);
            }
            let is_left_out = |case: &Case| case.style.as_ref().is_some_and(|style| except.contains_key(style));
            assert!(!cases.iter().any(|case| is_left_out(case) && peer.serves(case)), "{peer}");
            assert!(cases.is_empty() || cases.iter().any(|case| peer.serves(case)), "{peer}");
        }
    }

    #[test]
    fn missing_packages_are_read_from_the_output_of_a_build() {
        let found = |line| missing(line).collect::<Vec<_>>();
        assert_eq!(found("wsdl2h is missing: apt-get install gsoap g++"), ["gsoap", "g++"]);
        assert_eq!(found("wsdl2h is missing"), [""; 0]);
        assert_eq!(found("E: you could try: apt-get install gsoap"), [""; 0]);
    }

    #[test]
    fn all_build_scripts_report_missing_packages_in_the_same_way() {
        let builds = Peer::all(&peers()).unwrap().into_iter().map(|peer| peer.script("build").unwrap());
        for script in builds.chain([peers().join("java.sh")]) {
            let text = std::fs::read_to_string(&script).unwrap();
            for line in text.lines().filter(|line| line.contains("apt-get install")) {
                assert!(missing(line).next().is_some(), "{}: {line}", script.display());
            }
        }
    }

    #[test]
    fn an_unknown_peer_is_reported_with_the_known_ones() {
        let error = Peer::named(&peers(), &["soapless".into()]).unwrap_err().to_string();
        assert!(error.starts_with("found peer \"soapless\", expected one of axis"), "{error}");
    }

    #[test]
    fn a_directory_without_peers_is_an_error() {
        let error = Peer::all(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err().to_string();
        assert!(error.starts_with("found no peers in "), "{error}");
    }
}
