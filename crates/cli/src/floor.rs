//! `castile floor`: the HTTP floor as a process, started by `castile bench`.

use std::path::PathBuf;

use anyhow::Context;
use bytes::Bytes;
use castile_suites::floor;
use http::uri::Scheme;

use crate::{process, tls};

/// Serve fixed answers with HTTP alone: the floor under every SOAP server
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
    /// The file that answers a request for `/0`; the next one answers `/1`, and so on
    #[arg(long = "answer", value_name = "FILE")]
    answers: Vec<PathBuf>,
    #[command(flatten)]
    tls: tls::ServerArguments,
}

/// Serves until it is asked to end.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let answers = arguments
        .answers
        .iter()
        .map(|file| std::fs::read(file).map(Bytes::from).with_context(|| file.display().to_string()))
        .collect::<anyhow::Result<_>>()?;
    match arguments.tls.load()? {
        None => arguments.process.serve(&Scheme::HTTP, |listener, end, _| floor::serve(listener, answers, end)),
        Some(tls) => {
            arguments.process.serve(&Scheme::HTTPS, |listener, end, _| floor::serve(tls.listen(listener), answers, end))
        }
    }
}
