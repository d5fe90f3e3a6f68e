//! `castile describe --cost`: what makes the generated code of a contract large.

use std::fmt::Write;
use std::path::Path;

use castile_codegen::{Cost, Files, Options, Severity};
use castile_xml::visible;

use super::paint::{DIM, HEAD};
use crate::{output, problems};

/// How many are shown where not all are asked for.
const SHOWN: usize = 20;

/// Writes the costs, unless nothing can be generated.
pub(super) fn run(wsdl: &Path, files: &Files, operations: Vec<String>, all: bool) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.operations = operations;
    match castile_codegen::cost(wsdl, files, &options) {
        Ok(costs) => output::text(&text(&costs, if all { usize::MAX } else { SHOWN })),
        Err(diagnostics) => problems::report(&wsdl.display().to_string(), &diagnostics, Severity::Error)?,
    }
    Ok(())
}

fn text(costs: &[Cost], shown: usize) -> String {
    let total: usize = costs.iter().map(|cost| cost.lines).sum();
    let mut out = format!(
        "{HEAD}{total} lines{HEAD:#}  {DIM}alone: the lines of it and of all to which nothing else leads{DIM:#}\n\n\
         {DIM}{:>9} {:>9}{DIM:#}\n",
        "alone", "lines"
    );
    // Writing to a string can't fail.
    for Cost { name, lines, alone, .. } in costs.iter().take(shown) {
        let _ = writeln!(out, "{alone:>9} {lines:>9}  {}", visible(name));
    }
    if let more @ 1.. = costs.len().saturating_sub(shown) {
        let _ = writeln!(out, "\n{DIM}and {more} more: --all tells them{DIM:#}");
    }
    out
}
