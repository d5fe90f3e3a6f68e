//! `castile peers`: the stacks that others wrote, built, started and proved right before anybody measures them.

pub(crate) mod check;
mod clients;
mod peer;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, anyhow};

use self::peer::INSTALL;
pub(crate) use self::peer::Peer;
use crate::problems::in_full;
use crate::{outcome, process};

/// Build and check the stacks that Castile is compared with
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Where the peers are, each in a directory of its own
    #[arg(long, global = true, value_name = "DIR", default_value = Peer::DIRECTORY)]
    peers: PathBuf,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Say which peers there are, and what they serve (the default)
    List,
    /// Fetch what peers consist of, generate their code from our contracts, and compile it
    Build {
        /// Which ones [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Start peers, send them every case of the suites they serve, and judge every answer
    Check {
        /// Which ones [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Measure the clients of peers and ours on the same server: calls in a second of processor time
    Clients(clients::Arguments),
}

/// Does what was asked; an interruption ends it, and with it what it started.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            // Signals are waited for before anything is started.
            biased;
            result = process::asked_to_end() => {
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
                    out!("{}: it serves no suite; `peers clients` compares its client", peer.name);
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

/// Builds all that can be built. Those that can't are told, and in the end what installs all that they miss.
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
    Err(outcome::incomplete(anyhow!("not built: {failed}; what is missing{INSTALL}{}", packages.join(" "))))
}
