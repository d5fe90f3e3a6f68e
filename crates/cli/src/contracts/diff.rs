//! `castile diff`: the changes between two contracts, and which programs they break.

mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use castile_diff::{Changes, Styles};
use castile_wsdl::{Definitions, Files, Severity};
use clap::ValueEnum;

use crate::contracts::{contract, problems, source};
use crate::{outcome, output};

/// Show the changes between two contracts, and what they break: old clients with a new server, or new clients with an old one
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The old contract: a WSDL 1.1 file or a bundle
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new contract: a WSDL 1.1 file or a bundle
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Write JSON; docs/diff.md explains it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing and only set the exit code
    #[arg(short, long)]
    quiet: bool,
    /// Show only breaking changes
    #[arg(long)]
    breaking: bool,
    /// Assume that readers skip unknown elements and attributes, and accept elements in any order
    #[arg(long)]
    lenient: bool,
    /// Which broken side makes the exit code 1
    #[arg(long = "fail-if", value_name = "WHO", default_value = "any")]
    fail_if: Who,
}

/// The side that may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Old clients with a new server, or new clients with an old one
    Any,
    /// Old clients with a new server
    OldClients,
    /// New clients with an old server
    NewClients,
}

/// Compares the contracts and prints the changes.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(compare(arguments).map(Some), |changes| print(&changes, arguments))
}

fn compare(arguments: &Arguments) -> anyhow::Result<Changes> {
    let files = arguments.catalogs.files()?;
    let old = read(&arguments.old, &files)?;
    let new = read(&arguments.new, &files)?;
    let mut changes = castile_diff::changes(&old, &new)?;
    if arguments.lenient {
        changes.make_lenient();
    }
    if arguments.breaking {
        changes.list.retain(|change| change.breaks.any());
    }
    Ok(changes)
}

/// Reads a contract without its broken parts. They are reported, but not compared. A contract without a binding gets one for each port
/// type.
fn read(path: &Path, files: &Files) -> anyhow::Result<Definitions> {
    source::expect_contract(path)?;
    let shown = path.display().to_string();
    let (definitions, diagnostics) = contract::read(path, files);
    let is_broken = diagnostics.iter().any(|one| one.severity == Severity::Error);
    let least = if is_broken { Severity::Error } else { Severity::Warning };
    if definitions.as_ref().is_some_and(has_left_out) || is_broken {
        problems::report(&shown, &diagnostics, least)?;
    }
    let Some(mut definitions) = definitions else { bail!("{shown} can't be read") };
    if definitions.bindings.is_empty() {
        let names: Vec<String> = definitions.port_types.iter().map(|one| one.name.local().to_owned()).collect();
        for name in names {
            // This succeeds, because the name was just taken from the definitions.
            let _ = definitions.bind(&name);
        }
    }
    Ok(definitions)
}

fn has_left_out(definitions: &Definitions) -> bool {
    !definitions.left_out.is_empty() || definitions.bindings.iter().any(|binding| !binding.left_out.is_empty())
}

fn print(changes: &Changes, arguments: &Arguments) -> anyhow::Result<u8> {
    let names = (arguments.old.display().to_string(), arguments.new.display().to_string());
    if !arguments.quiet {
        let text = match arguments.json {
            true => output::json(&show::report(changes, &names))?,
            false => changes.text((&names.0, &names.1), &Styles::colored()),
        };
        output::text(&text);
    }
    let (old_clients, new_clients) = changes.broken();
    let fails = match arguments.fail_if {
        Who::Any => old_clients + new_clients > 0,
        Who::OldClients => old_clients > 0,
        Who::NewClients => new_clients > 0,
    };
    Ok(u8::from(fails))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use castile_diff::kinds;

    /// Each kind of change has a case that shows it, and a line in docs/diff.md.
    #[test]
    fn every_kind_is_tested_and_documented() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut shown = String::new();
        for case in std::fs::read_dir(root.join("tests/diff")).unwrap() {
            shown += &std::fs::read_to_string(case.unwrap().path().join("expected.txt")).unwrap();
        }
        let page = std::fs::read_to_string(root.join("../../docs/diff.md")).unwrap();
        for kind in kinds::ALL {
            assert!(shown.contains(&format!("  {kind}\n")), "no case shows {kind:?}");
            assert!(page.contains(&format!("| {kind} |")), "docs/diff.md doesn't tell {kind:?}");
        }
        let (_, table) = page.split_once("## Changes").unwrap();
        let (table, _) = table.split_once("## JSON").unwrap();
        let rows = table.lines().filter(|line| line.starts_with("| ")).count() - 1;
        assert_eq!(rows, kinds::ALL.len(), "docs/diff.md tells kinds that are none");
    }
}
