//! `castile describe`: the content of a contract, for people and for programs.

mod build;
mod contract;
mod cost;
mod names;
mod paint;
mod services;
mod tree;
mod types;

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::bail;
use castile_wsdl::Severity;

use crate::contracts::{problems, source};
use crate::{outcome, output, quantity};
use contract::{BindingOperation, Contract, LeftOut};

/// Show the content of a contract: services, operations, messages and types
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file, a bundle, or an XML Schema
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Show warnings and notes as well as errors
    #[arg(long)]
    problems: bool,
    /// Write the complete description as JSON; docs/describe.md explains it
    #[arg(long)]
    json: bool,
    /// Show only this operation; may be repeated. If several operations share a name, NAME.2 is the second
    #[arg(long = "operation", value_name = "NAME")]
    operations: Vec<String>,
    /// How many levels of types are nested in each other; deeper types are listed after the services
    #[arg(long, value_name = "LEVELS", default_value = "3", value_parser = depth)]
    depth: u8,
    /// Show all documentation
    #[arg(long)]
    documentation: bool,
    /// Also show elements and types that no operation uses
    #[arg(long)]
    all: bool,
    /// Show what makes the generated code large: the lines of types, operations and faults, each with everything that only it uses. Lists
    /// the twenty largest; with --all or --json, all
    #[arg(long, conflicts_with = "documentation")]
    cost: bool,
}

fn depth(text: &str) -> Result<u8, String> {
    let levels = quantity::count(text).ok().filter(|levels| (1..=10).contains(levels));
    levels.ok_or_else(|| "expected a whole number from 1 to 10".to_owned())
}

/// Prints the description and reports the problems of the contract. A contract with broken parts is also described.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut files = arguments.catalogs.files()?;
    let (wsdl, kind) = match arguments.wsdl.as_os_str() == "-" {
        true => source::standard_input(&mut files)?,
        false => (arguments.wsdl.clone(), source::kind(&arguments.wsdl)?),
    };
    let shown = wsdl.display().to_string();
    if arguments.cost {
        let source::Kind::Contract = kind else {
            bail!("{shown} is an XML Schema, expected a WSDL: --cost shows the code generated for operations")
        };
        return cost::run(&wsdl, &files, &arguments);
    }
    let (contract, diagnostics) = match kind {
        source::Kind::Contract => {
            // Broken parts are described as left out.
            let (definitions, diagnostics) = crate::contracts::contract::read(&wsdl, &files);
            let contract = definitions.map(|definitions| build::of_definitions(&shown, &definitions, &diagnostics));
            (contract.transpose()?, diagnostics)
        }
        source::Kind::Schema { target_namespace } => {
            let (schema, diagnostics) = castile_xsd::read(&wsdl.to_string_lossy(), &files);
            let contract = build::of_schema(&shown, &schema, &diagnostics)?;
            (Some(Contract { target_namespace, ..contract }), diagnostics)
        }
    };
    let mut unusable = Vec::new();
    if let Some(mut contract) = contract {
        retain_operations(&mut contract, &arguments.operations)?;
        let text = match arguments.json {
            true => output::json(&contract)?,
            false => {
                let (depth, documentation, all) =
                    (usize::from(arguments.depth), arguments.documentation, arguments.all);
                services::text(&contract, &services::Extent { depth, documentation, all })
            }
        };
        output::text(&text);
        unusable = left_out(&contract, &arguments.operations);
    }
    let least = if arguments.problems { Severity::Note } else { Severity::Error };
    let reported = problems::report(&shown, &diagnostics, least);
    let Some(last) = unusable.pop() else { return reported };
    unusable.iter().for_each(|one| outcome::print_message("error", one));
    bail!(last)
}

/// Keeps only the given operations. If none are given, keeps all.
fn retain_operations(contract: &mut Contract, operations: &[String]) -> anyhow::Result<()> {
    if operations.is_empty() {
        return Ok(());
    }
    let bound = contract.bindings.iter().flat_map(|binding| &binding.operations);
    let bound = bound.flat_map(|one| [Some(&one.name), one.label.as_ref()]).flatten();
    let left_out = contract.bindings.iter().flat_map(|binding| &binding.left_out).map(|one| &one.name);
    let abstract_ = contract.port_types.iter().flat_map(|one| &one.operations).map(|one| &one.name);
    let mut seen = HashSet::new();
    let known = bound.chain(left_out).chain(abstract_).map(String::as_str).filter(|name| seen.insert(*name));
    let known: Vec<&str> = known.collect();
    if let Some(unknown) = operations.iter().find(|operation| !known.contains(&operation.as_str())) {
        bail!(castile_wsdl::unknown_operation(unknown, &known));
    }
    // Operations of port types have no labels.
    let mut kept: HashSet<(&str, usize)> = HashSet::new();
    for binding in &mut contract.bindings {
        binding.operations.retain(|operation| is_requested(operation, operations));
        binding.left_out.retain(|one| operations.contains(&one.name));
        kept.extend(binding.operations.iter().map(|operation| (binding.port_type.as_str(), operation.number)));
    }
    for port_type in &mut contract.port_types {
        let mut numbers = 0..;
        port_type.operations.retain(|operation| {
            let is_kept = numbers.next().is_some_and(|number| kept.contains(&(port_type.name.as_str(), number)));
            is_kept || operations.contains(&operation.name)
        });
    }
    contract.port_types.retain(|port_type| !port_type.operations.is_empty());
    contract.bindings.retain(|binding| !binding.operations.is_empty() || !binding.left_out.is_empty());
    for service in &mut contract.services {
        service.ports.retain(|port| contract.bindings.iter().any(|binding| binding.name == port.binding));
    }
    contract.services.retain(|service| !service.ports.is_empty());
    Ok(())
}

/// Returns whether `requested` contains the operation's name or label.
fn is_requested(operation: &BindingOperation, requested: &[String]) -> bool {
    requested.contains(&operation.name) || operation.label.as_ref().is_some_and(|label| requested.contains(label))
}

/// Returns a message for each requested operation that can't be used in any binding, with the reason.
fn left_out(contract: &Contract, requested: &[String]) -> Vec<String> {
    let bound = contract.bindings.iter().flat_map(|binding| &binding.operations);
    let mut known: HashSet<&str> = bound.map(|one| one.name.as_str()).collect();
    let left_out = contract.bindings.iter().flat_map(|binding| &binding.left_out);
    // Each operation is reported once, however many bindings it has.
    let left_out = left_out.filter(|one| requested.contains(&one.name) && known.insert(&one.name));
    let say =
        |LeftOut { name, reason, place }: &LeftOut| format!("the operation {name} is left out: {reason} ({place})");
    left_out.map(say).collect()
}
