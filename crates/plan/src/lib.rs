//! Turns the service model into a plan: which types and operations there are, their names, and how values contain each
//! other.
//!
//! `castile-codegen` renders a plan as Rust. `castile-dynamic` makes types from a plan at run time.
//!
//! This crate is internal to Castile, so its API may change at any time.

#![allow(missing_docs, reason = "parts of a plan are documented where their names don't say it all")]

mod documents;
mod indented;
pub mod names;
mod options;
mod page;
pub mod plan;
mod planner;
#[cfg(feature = "serde")]
mod serialized;
mod stack;
pub mod tags;

use std::path::Path;

use castile_wsdl::{Definitions, Diagnostic, Severity};
use castile_xsd::{Bundle, Files};
pub use documents::{Document, documents};
pub use indented::indented;
pub use options::{FaultTypes, Options, TypeOptions, options_file, stem};
pub use page::page;
pub use plan::Plan;
pub use planner::is_of_security;
pub use stack::grown;

/// Reads a contract and plans what is generated for it.
///
/// # Errors
/// Returns all problems of the contract with their positions. At least one is an error.
pub fn planned(
    path: &Path,
    files: &Files,
    options: &Options,
) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    of_read(castile_wsdl::open(path, files), options)
}

/// Reads the contract in a bundle and plans what is generated for it.
///
/// # Errors
/// Returns all problems of the contract with their positions. At least one is an error.
pub fn planned_of(bundle: &Bundle, options: &Options) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    of_read(castile_wsdl::read(bundle.main(), bundle), options)
}

fn of_read(
    (definitions, mut diagnostics): (Option<Definitions>, Vec<Diagnostic>),
    options: &Options,
) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Some(mut definitions) = definitions else { return Err(diagnostics) };
    let main = definitions.sources.names().next().unwrap_or_default().to_owned();
    let mut of_plan = Vec::new();
    for name in &options.port_types {
        if let Err(known) = definitions.bind(name) {
            let message = format!("the requested port type {name} doesn't exist");
            let mut diagnostic = Diagnostic::of_document(Severity::Error, &main, message);
            diagnostic.with_note(format!("it has {known}"));
            of_plan.push(diagnostic);
        }
    }
    let is_broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let plan = planner::plan(&definitions, options, is_broken, &mut of_plan);
    if !options.strict && definitions.is_usable() && !plan.is_nothing() {
        castile_wsdl::forgive(&mut diagnostics);
    }
    diagnostics.append(&mut of_plan);
    if let Some(summary) = plan.summary().filter(|_| options.strict) {
        diagnostics.push(Diagnostic::of_document(Severity::Error, &main, summary));
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(diagnostics);
    }
    Ok((definitions, plan, diagnostics))
}
