//! Writes reports of benches that never were, with everything a report can hold: `sample_report DIRECTORY`.
//! `tests/report/run` looks at them in a browser.

use std::path::Path;

use castile_load::report::{Comparison, Spread};

#[path = "../tests/support/sample.rs"]
mod sample;
#[path = "../tests/support/stacks.rs"]
mod stacks;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("expected a directory")?;
    let directory = Path::new(&directory);
    let first = sample::results();
    first.write(directory)?;
    std::fs::write(directory.join("load.html"), sample::load().page()?)?;
    // Of many targets, beside.
    let stacks = stacks::results();
    std::fs::write(directory.join("stacks.html"), stacks.page()?)?;
    std::fs::write(directory.join("stacks.md"), stacks.markdown())?;
    println!("{}", stacks.table());
    let mut second = sample::results_of(11);
    // Some are faster, some slower, most are as they were.
    for (index, row) in second.suites.iter_mut().flat_map(|suite| &mut suite.cases).enumerate() {
        let factor = [1.0, 1.08, 1.0, 0.95, 1.0, 1.0, 1.22][index % 7];
        row.requests_per_second = Spread::of(row.requests_per_second.runs.iter().map(|run| run * factor).collect());
    }
    Comparison::of(&[("before".to_owned(), first), ("after".to_owned(), second)]).write(directory)?;
    Ok(())
}
