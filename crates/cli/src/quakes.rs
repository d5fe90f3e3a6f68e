//! `castile quakes`: the catalogue of the seismic suite as lines, for peers to serve the same.

use std::io::{BufWriter, Write};

use anyhow::Context;
use castile_suites::seismic::Service;

/// Writes what `serve` makes up without a file.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut lines = BufWriter::new(std::io::stdout().lock());
    let written = Service::default().catalogue().write(&mut lines).and_then(|()| lines.flush());
    written.context("can't write the quakes")
}
