//! Writes reports of fictitious benches, with everything a report can contain: `sample_report DIRECTORY`.
//! `tests/report/run` opens them in a browser.

use std::path::Path;

use castile_report::{Comparison, FLOOR, Results, Spread};

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
    // A bench with many targets.
    let stacks = stacks::results();
    std::fs::write(directory.join("stacks.html"), stacks.page()?)?;
    std::fs::write(directory.join("stacks.md"), stacks.markdown())?;
    println!("{}", stacks.table());
    let mut second = sample::results_of(11);
    // Some are faster, some are slower, and most are unchanged.
    for (index, row) in second.suites.iter_mut().flat_map(|suite| &mut suite.cases).enumerate() {
        let factor = [1.0, 1.08, 1.0, 0.95, 1.0, 1.0, 1.22][index % 7];
        row.requests_per_second = Spread::of(row.requests_per_second.runs.iter().map(|run| run * factor).collect());
    }
    // The rows of one suite were measured in slices, together with the floor.
    let first = in_slices(first, |_| 1.0);
    let second = in_slices(second, |index| [1.0, 0.93, 1.2][index % 3]);
    Comparison::of(&[("before".to_owned(), first), ("after".to_owned(), second)]).write(directory)?;
    Ok(())
}

/// Returns a copy in which each slice of the first suite has a CPU time, multiplied by a factor for the
/// rows of Castile.
fn in_slices(mut results: Results, factor: impl Fn(usize) -> f64) -> Results {
    for (index, row) in results.suites[0].cases.iter_mut().enumerate() {
        let factor = if row.target == FLOOR { 1.0 } else { factor(index / 3) };
        for (slice, part) in row.series.iter_mut().enumerate() {
            let noise = 1.0 + (slice * (index % 3 + 2) % 7) as f64 / 100.0;
            part.server_cpu_us_per_request = row.server_cpu_us_per_request.map(|cpu| cpu * factor * noise);
        }
    }
    results
}
