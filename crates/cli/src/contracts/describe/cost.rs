//! `castile describe --cost`: what makes the generated code of a contract large.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::bail;
use castile_codegen::{Cost, FaultTypes, Files, Options, Severity};
use castile_xml::visible;
use serde::Serialize;

use super::contract::FORMAT;
use super::paint::{DIM, HEAD};
use crate::contracts::{generate, problems};
use crate::output;

/// The name of the entry for the lines that belong to no other entry.
const OTHER_LINES: &str = "imports, modules and blank lines";
/// The number of entries shown by default.
const DEFAULT_ENTRIES: usize = 20;

/// The JSON form of the costs; docs/describe.md explains it.
#[derive(Serialize)]
struct Costs<'c> {
    format: u32,
    file: &'c str,
    /// The number of lines that `castile gen` writes.
    lines: usize,
    /// The number of lines for other values of `--faults`, if it is smaller.
    with_faults: BTreeMap<&'static str, usize>,
    /// The entries, those with the largest `alone` first. The sum of their lines is `lines`.
    costs: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    lines: usize,
    alone: usize,
}

/// Prints the costs, and how much smaller the code is with other values of `--faults`. Fails if nothing can be generated.
pub(super) fn run(wsdl: &Path, files: &Files, arguments: &super::Arguments) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.operations = arguments.operations.clone();
    let shown = wsdl.display().to_string();
    let costs = match castile_codegen::cost(wsdl, files, &options) {
        Ok(costs) => costs,
        Err(diagnostics) => return problems::report(&shown, &diagnostics, Severity::Error),
    };
    let Some(lines) = lines(wsdl, files, &options) else { bail!("{shown} can't be generated") };
    let mut with_faults = BTreeMap::new();
    for (name, faults) in [("declared", FaultTypes::Declared), ("none", FaultTypes::None)] {
        options.faults = faults;
        with_faults
            .extend(self::lines(wsdl, files, &options).filter(|fewer| *fewer < lines).map(|fewer| (name, fewer)));
    }
    let entry = |Cost { name, lines, alone, .. }: &Cost| Entry { name: name.clone(), lines: *lines, alone: *alone };
    let mut costs: Vec<Entry> = costs.iter().map(entry).collect();
    let around = lines.saturating_sub(costs.iter().map(|cost| cost.lines).sum());
    costs.push(Entry { name: OTHER_LINES.to_owned(), lines: around, alone: around });
    costs.sort_by_key(|cost| Reverse(cost.alone));
    let costs = Costs { format: FORMAT, file: &shown, lines, with_faults, costs };
    let text = match arguments.json {
        true => output::json(&costs)?,
        false => text(&costs, if arguments.all { usize::MAX } else { DEFAULT_ENTRIES }),
    };
    output::text(&text);
    Ok(())
}

/// Returns the number of lines that `castile gen` writes, or `None` if nothing can be generated.
fn lines(wsdl: &Path, files: &Files, options: &Options) -> Option<usize> {
    let generated = castile_codegen::generate_from(wsdl, files, options).ok()?;
    Some(generate::text(&generated).lines().count())
}

fn text(costs: &Costs<'_>, shown: usize) -> String {
    let mut out = format!(
        "{HEAD}{} lines{HEAD:#}  {DIM}alone: the lines of it and of all that nothing else uses{DIM:#}\n\n\
         {DIM}{:>9} {:>9}{DIM:#}\n",
        costs.lines, "alone", "lines"
    );
    // Writing to a `String` can't fail.
    for Entry { name, lines, alone } in costs.costs.iter().take(shown) {
        let _ = writeln!(out, "{alone:>9} {lines:>9}  {}", visible(name));
    }
    if let more @ 1.. = costs.costs.len().saturating_sub(shown) {
        let _ = writeln!(out, "{DIM}and {more} more: --all shows them{DIM:#}");
    }
    out.push('\n');
    for (name, lines) in &costs.with_faults {
        let _ = writeln!(out, "{DIM}with --faults {name}:{DIM:#} {lines} lines");
    }
    out
}
