//! Measures how long contracts take to load. For each path on standard input it prints a line with the path, the best
//! time of some runs in milliseconds, and the number of errors.
//!
//!     cargo run --release -p castile-wsdl --example load -- CATALOG…
//!
//! The catalogs map imported documents to files.

use std::path::Path;
use std::time::{Duration, Instant};

use castile_wsdl::{Severity, read};
use castile_xsd::{Catalog, Files};

/// The best run is reported, because other work on the machine slows some runs down.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = Files::new();
    for catalog in std::env::args().skip(1) {
        files.add_catalog(Catalog::read(Path::new(&catalog)).0);
    }
    for path in std::io::stdin().lines() {
        let path = path?;
        let (mut took, mut diagnostics) = (Duration::MAX, Vec::new());
        for _ in 0..RUNS {
            let begun = Instant::now();
            diagnostics = read(&path, &files).1;
            took = took.min(begun.elapsed());
        }
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        let milliseconds = took.as_secs_f64() * 1000.0;
        println!("{path}\t{milliseconds:.3}\t{errors}");
    }
    Ok(())
}
