//! `castile describe --cost`: what makes the generated code of a contract large.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use castile_codegen::{Cost, FaultTypes, Files, Options, Severity};
use castile_xml::visible;
use serde::Serialize;

use super::contract::FORMAT;
use super::paint::{DIM, HEAD};
use crate::{output, problems};

/// How many are shown where not all are asked for.
const SHOWN: usize = 20;

/// The costs as `--json` writes them; docs/describe.md explains it.
#[derive(Serialize)]
struct Costs<'c> {
    format: u32,
    file: &'c str,
    /// Of all that is generated.
    lines: usize,
    /// Of the same with other faults, where these are fewer: by what `--faults` is called with.
    with_faults: BTreeMap<&'static str, usize>,
    costs: Vec<Entry<'c>>,
}

#[derive(Serialize)]
struct Entry<'c> {
    name: &'c str,
    lines: usize,
    alone: usize,
}

/// Writes the costs, and what choosing faults makes of them, unless nothing can be generated.
pub(super) fn run(wsdl: &Path, files: &Files, arguments: &super::Arguments) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.operations = arguments.operations.clone();
    let shown = wsdl.display().to_string();
    let costs = match castile_codegen::cost(wsdl, files, &options) {
        Ok(costs) => costs,
        Err(diagnostics) => return problems::report(&shown, &diagnostics, Severity::Error),
    };
    let mut with_faults = BTreeMap::new();
    for (name, faults) in [("declared", FaultTypes::Declared), ("none", FaultTypes::None)] {
        options.faults = faults;
        let fewer = total(&castile_codegen::cost(wsdl, files, &options).unwrap_or_default());
        if (1..total(&costs)).contains(&fewer) {
            with_faults.insert(name, fewer);
        }
    }
    let text = match arguments.json {
        true => {
            let entries =
                costs.iter().map(|Cost { name, lines, alone, .. }| Entry { name, lines: *lines, alone: *alone });
            let (lines, costs) = (total(&costs), entries.collect());
            super::json(&Costs { format: FORMAT, file: &shown, lines, with_faults, costs })?
        }
        false => text(&costs, &with_faults, if arguments.all { usize::MAX } else { SHOWN }),
    };
    output::text(&text);
    Ok(())
}

fn total(costs: &[Cost]) -> usize {
    costs.iter().map(|cost| cost.lines).sum()
}

fn text(costs: &[Cost], with_faults: &BTreeMap<&str, usize>, shown: usize) -> String {
    let mut out = format!(
        "{HEAD}{} lines{HEAD:#}  {DIM}alone: the lines of it and of all to which nothing else leads{DIM:#}\n\n\
         {DIM}{:>9} {:>9}{DIM:#}\n",
        total(costs),
        "alone",
        "lines"
    );
    // Writing to a string can't fail.
    for Cost { name, lines, alone, .. } in costs.iter().take(shown) {
        let _ = writeln!(out, "{alone:>9} {lines:>9}  {}", visible(name));
    }
    if let more @ 1.. = costs.len().saturating_sub(shown) {
        let _ = writeln!(out, "{DIM}and {more} more: --all tells them{DIM:#}");
    }
    out.push('\n');
    for (name, lines) in with_faults {
        let _ = writeln!(out, "{DIM}with --faults {name}:{DIM:#} {lines} lines");
    }
    out
}
