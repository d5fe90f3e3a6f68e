//! How long contracts take to be read: for each file below a folder a line with its name, the milliseconds of the best of
//! some runs, the operations of its bindings, and how many errors it has.
//!
//!     cargo run --profile tools -p castile-wsdl --example load -- FOLDER CATALOG…
//!
//! `FOLDER` is a family of contracts, and each `CATALOG` says where documents are that it imports.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use castile_wsdl::{Severity, read};
use castile_xsd::{Catalog, Files};

/// The machine has other work: the best of these says what it takes.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("the arguments FOLDER CATALOG… were expected")?;
    let mut files = Files::new();
    for catalog in arguments {
        files.add_catalog(Catalog::read(&catalog).0);
    }
    for path in wsdls(&folder)? {
        let (mut took, mut result) = (Duration::MAX, (None, Vec::new()));
        for _ in 0..RUNS {
            let begun = Instant::now();
            result = read(&path.to_string_lossy(), &files);
            took = took.min(begun.elapsed());
        }
        let (definitions, diagnostics) = result;
        let bindings = definitions.iter().flat_map(|definitions| &definitions.bindings);
        let operations: usize = bindings.map(|binding| binding.operations.len()).sum();
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        let milliseconds = took.as_secs_f64() * 1000.0;
        println!("{}\t{milliseconds:.3}\t{operations}\t{errors}", path.display());
    }
    Ok(())
}

/// All files below `folder` whose names end as those of WSDL documents do, in order.
fn wsdls(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir()? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with(".wsdl") || name.ends_with(".wsdl.xml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
