//! `castile floor`: the HTTP floor as a process, which `castile bench` starts.

use std::path::PathBuf;

use anyhow::Context;
use bytes::Bytes;
use castile_suites::floor;

use crate::{process, tls};

/// Serve fixed answers with HTTP alone: the lower limit of every SOAP server's cost
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
    /// The file with the answer to requests for `/0`; the next file is for `/1`, and so on
    #[arg(long = "answer", value_name = "FILE")]
    answers: Vec<PathBuf>,
    #[command(flatten)]
    tls: tls::ServerArguments,
}

/// Serves until a signal asks the process to end.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let answers = arguments
        .answers
        .iter()
        .map(|file| std::fs::read(file).map(Bytes::from).with_context(|| file.display().to_string()))
        .collect::<anyhow::Result<_>>()?;
    let tls = arguments.tls.load()?;
    arguments.process.serve(tls.as_ref(), |listener, end| async {
        match &tls {
            None => floor::serve(listener, answers, end).await,
            Some(tls) => floor::serve(tls.listen(listener), answers, end).await,
        }
    })
}
