//! `castile quakes`: the catalogue of the seismic suite as lines, for peers to serve the same.

use std::io::{BufWriter, Write};

use castile_suites::seismic::Service;

use crate::output;

/// Writes what `serve` makes up without a file.
pub(crate) fn run() {
    let service = Service::default();
    output::with(|output| {
        let mut lines = BufWriter::new(output);
        service.catalogue().write(&mut lines).and_then(|()| lines.flush())
    });
}
