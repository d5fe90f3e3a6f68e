//! `castile floor`: the HTTP floor as a process, which `castile bench` starts.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bytes::Bytes;
use castile_suites::floor::{self, Exchange};

use crate::{process, tls};

/// Serve fixed answers with HTTP alone: the lower limit of every SOAP server's cost
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
    /// The file with the answer to requests for `/0`; the next file is for `/1`, and so on. A folder has a list of requests and answers:
    /// 0.request, 0.answer, 1.request… Each connection gets the answers in this order. If a request and its answer are signed, the floor
    /// does the cryptography of both
    #[arg(long = "answer", value_name = "FILE")]
    answers: Vec<PathBuf>,
    #[command(flatten)]
    tls: tls::ServerArguments,
}

/// Serves until a signal asks the process to end.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let lists = arguments.answers.iter().map(|path| list(path)).collect::<anyhow::Result<_>>()?;
    let tls = arguments.tls.load()?;
    arguments.process.serve(tls.as_ref(), |listener, end| async {
        match &tls {
            None => floor::serve(listener, lists, end).await,
            Some(tls) => floor::serve(tls.listen(listener), lists, end).await,
        }
    })
}

/// Writes requests and their answers to a new folder.
pub(crate) fn write<'a>(folder: &Path, exchanges: impl Iterator<Item = (&'a Bytes, &'a Bytes)>) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    for (number, (request, answer)) in exchanges.enumerate() {
        let [request_file, answer_file] = files(folder, number);
        std::fs::write(request_file, request)?;
        std::fs::write(answer_file, answer)?;
    }
    Ok(())
}

/// Reads what was [written](write) to a folder, or one answer.
fn list(path: &Path) -> anyhow::Result<Vec<Exchange>> {
    let read = |file: &Path| std::fs::read(file).map(Bytes::from).with_context(|| file.display().to_string());
    if !path.is_dir() {
        return Ok(vec![Exchange::new(&Bytes::new(), read(path)?)]);
    }
    let exchanges = (0..).map(|number| files(path, number)).take_while(|[_, answer]| answer.exists());
    exchanges.map(|[request, answer]| Ok(Exchange::new(&read(&request)?, read(&answer)?))).collect()
}

fn files(folder: &Path, number: usize) -> [PathBuf; 2] {
    ["request", "answer"].map(|kind| folder.join(format!("{number}.{kind}")))
}
