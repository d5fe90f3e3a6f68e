//! `castile describe --cost`: what makes the generated code of a contract large.

use std::fmt::Write;
use std::path::Path;

use castile_codegen::{Cost, FaultTypes, Files, Options, Severity};
use castile_xml::visible;

use super::paint::{DIM, HEAD};
use crate::{output, problems};

/// How many are shown where not all are asked for.
const SHOWN: usize = 20;

/// Writes the costs, and what choosing faults makes of them, unless nothing can be generated.
pub(super) fn run(wsdl: &Path, files: &Files, operations: Vec<String>, all: bool) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.operations = operations;
    let costs = match castile_codegen::cost(wsdl, files, &options) {
        Ok(costs) => costs,
        Err(diagnostics) => return problems::report(&wsdl.display().to_string(), &diagnostics, Severity::Error),
    };
    let mut text = text(&costs, if all { usize::MAX } else { SHOWN });
    for (name, faults) in [("declared", FaultTypes::Declared), ("none", FaultTypes::None)] {
        options.faults = faults;
        let fewer = castile_codegen::cost(wsdl, files, &options).unwrap_or_default();
        if (1..total(&costs)).contains(&total(&fewer)) {
            // Writing to a string can't fail.
            let _ = writeln!(text, "{DIM}with --faults {name}:{DIM:#} {} lines", total(&fewer));
        }
    }
    output::text(&text);
    Ok(())
}

fn total(costs: &[Cost]) -> usize {
    costs.iter().map(|cost| cost.lines).sum()
}

fn text(costs: &[Cost], shown: usize) -> String {
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
    out
}
