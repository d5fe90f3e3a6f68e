//! `castile quakes`: writes the catalogue of the seismic suite as lines, so that peers serve the same data.

use std::io::{BufWriter, Write};

use castile_suites::seismic::Service;

use crate::output;

/// Writes the quakes that `serve` generates if it has no file.
pub(crate) fn run() {
    let service = Service::default();
    output::with(|output| {
        let mut lines = BufWriter::new(output);
        service.catalogue().write(&mut lines).and_then(|()| lines.flush())
    });
}
