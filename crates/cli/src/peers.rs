//! `castile peers`: builds, starts and checks third-party SOAP stacks before they are measured.

pub(crate) mod check;
mod clients;
mod peer;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, anyhow};

use self::peer::INSTALL;
pub(crate) use self::peer::Peer;
use crate::errors::in_full;
use crate::{outcome, process};

/// Build and check the SOAP stacks that Castile is compared with
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The folder of the peers; each peer has a folder in it
    #[arg(long, global = true, value_name = "DIR", default_value = Peer::DIRECTORY)]
    peers: PathBuf,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the peers and what they serve (the default)
    List,
    /// Fetch the parts of peers, generate their code from our contracts, and compile it
    Build {
        /// The peers to build [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Start peers, send them every case of the suites they serve, and check every answer
    Check {
        /// The peers to check [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Measure the clients of peers and Castile's client on the same server: calls per second of processor time
    Clients(clients::Arguments),
}

/// Runs the action. An interruption ends it and everything it started.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            // Signal handlers are installed before anything is started.
            biased;
            result = process::end_signal() => {
                result.context("can't wait for signals")?;
                Err(outcome::incomplete(anyhow!("interrupted")))
            }
            result = act(arguments) => result,
        }
    })
}

async fn act(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { action, peers } = arguments;
    match action.unwrap_or(Action::List) {
        Action::List => {
            for peer in Peer::all(&peers)? {
                out!("{peer}");
            }
        }
        Action::Build { names } => build(&Peer::named(&peers, &names)?).await?,
        Action::Check { names } => {
            let mut wrong = Vec::new();
            for peer in Peer::named(&peers, &names)? {
                if !peer.is_server() {
                    out!("{} serves no suite; `peers clients` compares its client", peer.name);
                    continue;
                }
                let is_right = check::peer(&peer).await.unwrap_or_else(|error| {
                    out!("{}: not checked: {}", peer.name, in_full(&error));
                    false
                });
                if !is_right {
                    wrong.push(peer.name);
                }
            }
            if !wrong.is_empty() {
                return Err(outcome::wrong(anyhow!("wrong or missing answers: {}", wrong.join(", "))));
            }
        }
        Action::Clients(arguments) => clients::run(&peers, &arguments).await?,
    }
    Ok(())
}

/// Builds all peers that can be built. Reports those that can't, and at the end the command that installs everything they lack.
async fn build(peers: &[Peer]) -> anyhow::Result<()> {
    let mut failed = Vec::new();
    let mut missing = BTreeSet::new();
    for peer in peers {
        note!("{}", peer.name);
        if let Err(error) = peer.build(&mut missing).await {
            note!("{}", in_full(&error));
            failed.push(&*peer.name);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let failed = failed.join(", ");
    if missing.is_empty() {
        return Err(outcome::incomplete(anyhow!("not built: {failed}")));
    }
    let packages: Vec<String> = missing.into_iter().collect();
    Err(outcome::incomplete(anyhow!(
        "not built: {failed}; install the missing packages{INSTALL}{}",
        packages.join(" ")
    )))
}
