//! `castile report`: writes the page of a bench again, or compares benches.

use std::path::PathBuf;

use anyhow::bail;
use castile_report::{Comparison, Results};

use crate::{outcome, output};

/// Write the page of a bench again, or compare benches and show how significant their differences are
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The results.json of a bench or load, or its folder. The others are compared with the first. The significance of a difference needs
    /// at least two runs of each: a bench has them, a load has one
    #[arg(value_name = "RUN.json", required = true)]
    benches: Vec<PathBuf>,
    /// The folder for results.json and index.html, or comparison.html
    #[arg(short, long, value_name = "DIR", default_value = "castile-report")]
    out: PathBuf,
    /// Print the results or the comparison as JSON, and write no files
    #[arg(long)]
    json: bool,
    /// Print the results of one bench as Markdown, with the tables of its targets side by side, and write no files
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Prints the table and writes the page.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), Results::read(path)?));
    let mut benches = arguments.benches.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    let (text, files) = match &*benches {
        [(_, results)] if arguments.json => (results.json()?, Vec::new()),
        [(_, results)] if arguments.markdown => (results.markdown(), Vec::new()),
        _ if arguments.markdown => bail!("found {} benches, expected one: --markdown accepts only one", benches.len()),
        [(_, results)] => {
            outcome::expect_folder(&arguments.out)?;
            Results::expect_own(&arguments.out)?;
            (results.table() + "\n", results.write(&arguments.out).map_err(outcome::incomplete)?)
        }
        _ => {
            name_shortly(&mut benches);
            let comparison = Comparison::of(&benches);
            match arguments.json {
                true => (comparison.json()?, Vec::new()),
                false => {
                    outcome::expect_folder(&arguments.out)?;
                    Comparison::expect_own(&arguments.out)?;
                    let warnings = comparison.warnings().iter().map(|warning| format!("! {warning}\n"));
                    let text = format!("{}\n{}", comparison.table(), warnings.collect::<String>());
                    (text, vec![comparison.write(&arguments.out).map_err(outcome::incomplete)?])
                }
            }
        }
    };
    output::text(&text);
    for file in files {
        out!("{}", file.display());
    }
    Ok(())
}

/// Removes the common parts of the names: `runs/before/results.json` and `runs/after/results.json` become `before` and `after`.
fn name_shortly(benches: &mut [(String, Results)]) {
    let split = |name: &str| -> Vec<String> { name.split('/').map(str::to_owned).collect() };
    let mut names: Vec<Vec<String>> = benches.iter().map(|(name, _)| split(name)).collect();
    for from_end in [false, true] {
        let end = |parts: &Vec<String>| if from_end { parts.last().cloned() } else { parts.first().cloned() };
        while names.iter().all(|parts| parts.len() > 1) && names.iter().all(|parts| end(parts) == end(&names[0])) {
            for parts in &mut names {
                parts.remove(if from_end { parts.len() - 1 } else { 0 });
            }
        }
    }
    for ((name, _), parts) in benches.iter_mut().zip(names) {
        *name = parts.join("/");
    }
}
