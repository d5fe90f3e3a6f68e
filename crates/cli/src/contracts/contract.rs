//! Reading contracts at run time, and choosing services, ports and operations.

use std::path::Path;

use anyhow::bail;
use castile_dynamic::{Contract, Operation, Options, Port, Service};
use castile_plan::plan::LeftOut;
use castile_soap::Version;
use castile_wsdl::{Definitions, Diagnostic, Files, Severity};
use castile_xml::visible;

use crate::contracts::{problems, source};

const UNBOUND: &str = "the contract has no SOAP port and no SOAP binding, so its operations can't be called";

/// Reads a contract and reports its problems.
///
/// # Errors
/// The file isn't a contract, or nothing in it can be used.
pub(crate) fn open(path: &Path, catalogs: &source::Catalogs, options: &Options) -> anyhow::Result<Contract> {
    let (path, files) = catalogs.contract(path)?;
    open_with(&path, &files, options)
}

fn open_with(path: &Path, files: &Files, options: &Options) -> anyhow::Result<Contract> {
    match Contract::open(path, files, options) {
        Ok(contract) => {
            if let Some(summary) = &contract.summary {
                problems::warn_of_what_is_left_out(&path.display().to_string(), summary);
            }
            Ok(contract)
        }
        Err(planned) => {
            let shown = path.display().to_string();
            // `castile describe` shows all problems, and makes no plan.
            let (definitions, diagnostics) = read(path, files);
            problems::report(&shown, &diagnostics, Severity::Error)?;
            if definitions.is_some_and(|definitions| definitions.bindings.is_empty()) {
                bail!(UNBOUND);
            }
            problems::report(&shown, &planned, Severity::Error)?;
            bail!("{shown} can't be used");
        }
    }
}

/// Reads a contract. Errors become warnings if the parts they are in can be left out.
pub(crate) fn read(path: &Path, files: &Files) -> (Option<Definitions>, Vec<Diagnostic>) {
    let (definitions, mut diagnostics) = castile_wsdl::open(path, files);
    if definitions.as_ref().is_some_and(Definitions::is_usable) {
        castile_wsdl::forgive(&mut diagnostics);
    }
    (definitions, diagnostics)
}

/// Reads a contract for one operation, which is less work. If that fails, reads the whole contract to report its problems.
///
/// # Errors
/// The file isn't a contract, or nothing in it can be used.
pub(crate) fn open_for(
    operation: &str,
    path: &Path,
    catalogs: &source::Catalogs,
    options: &Options,
) -> anyhow::Result<Contract> {
    let (path, files) = catalogs.contract(path)?;
    let mut narrow = options.clone();
    narrow.operations = vec![operation.to_owned()];
    match Contract::open(&path, &files, &narrow) {
        Ok(contract) => Ok(contract),
        Err(_) => open_with(&path, &files, options),
    }
}

/// The service and the port that the command line names.
#[derive(Clone, Copy, Default)]
pub(crate) struct Selection<'w> {
    pub(crate) service: Option<&'w str>,
    pub(crate) port: Option<&'w str>,
}

impl Selection<'_> {
    /// Returns the named port, or else the first port with this SOAP version and an address, or else the first port.
    pub(crate) fn port_of(self, service: &Service, version: Option<Version>) -> Option<Port> {
        let ports = service.ports();
        let first = ports.first();
        let version = version.or(first.map(|port| port.version));
        let speaks = |port: &&Port| Some(port.version) == version && !port.address.is_empty();
        let found = match self.port {
            Some(name) => ports.iter().find(|port| port.name == name),
            None => ports.iter().find(speaks).or(first),
        };
        found.copied()
    }
}

/// Returns all services, or the named one.
///
/// # Errors
/// There is no such service.
pub(crate) fn services<'c>(contract: &'c Contract, wanted: Selection<'_>) -> anyhow::Result<Vec<&'c Service>> {
    if contract.services.is_empty() {
        bail!(UNBOUND);
    }
    let is_meant = |service: &&Service| wanted.service.is_none_or(|name| service.description().name == name);
    let found: Vec<&Service> = contract.services.iter().filter(is_meant).collect();
    if let (Some(name), true) = (wanted.service, found.is_empty()) {
        let known: Vec<&str> = contract.services.iter().map(|service| service.description().name).collect();
        bail!("there is no service {name}; there are {}", known.join(", "));
    }
    let Some(name) = wanted.port else { return Ok(found) };
    let known: Vec<&str> = found.iter().flat_map(|service| service.ports()).map(|port| port.name).collect();
    let has_it = |service: &&Service| service.ports().iter().any(|port| port.name == name);
    let found: Vec<&Service> = found.into_iter().filter(has_it).collect();
    if found.is_empty() {
        bail!("there is no SOAP port {name}; there are {}", known.join(", "));
    }
    Ok(found)
}

/// Prints a note that the first of several operations with the same name was chosen.
pub(crate) fn note_overloads(service: &str, name: &str, labels: &[&str]) {
    if let [first, other, ..] = labels
        && *first == name
    {
        let (service, other, count) = (visible(service), visible(other), labels.len());
        note!("{service} has {count} operations {name}; the first is used; {other} is another one");
    }
}

/// Returns the operation of this name with its service. A number selects one of several operations with the same name.
///
/// # Errors
/// There is no such operation or no such service.
pub(crate) fn find(
    contract: &Contract,
    wanted: Selection<'_>,
    operation: &str,
) -> anyhow::Result<(Service, &'static Operation)> {
    let services = services(contract, wanted)?;
    let mut found = services.iter().filter_map(|service| {
        let is_it = |one: &&Operation| one.label() == operation;
        Some((**service, service.operations().iter().find(is_it)?))
    });
    if let Some(first) = found.next() {
        note_overloads(first.0.description().name, operation, &labels_of(&first.0, operation));
        if let Some((other, _)) = found.next() {
            let [name, other_name] = [&first.0, &other].map(|service| visible(service.description().name));
            if name == other_name {
                let ports = [&first.0, &other].map(|service| service.ports().first().map_or("", |port| port.name));
                let [port, other] = ports.map(visible);
                note!("{port} and {other} have {operation}; that of {port} is used; --port selects another one");
            } else {
                note!(
                    "{name} and {other_name} have {operation}; that of {name} is used; --service selects another one"
                );
            }
        }
        return Ok(first);
    }
    if let Some(LeftOut { reason, .. }) = contract.left_out.iter().find(|one| one.label == operation) {
        let reason = reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
        let others: Vec<&str> = services.iter().flat_map(|service| labels_of(service, operation)).collect();
        let others = match others.first() {
            Some(other) => format!("; {other} is another one of this name"),
            None => String::new(),
        };
        bail!("the operation {operation} is left out{reason}{others}");
    }
    let known: Vec<&str> =
        services.iter().flat_map(|service| service.operations()).map(|operation| operation.label()).collect();
    bail!(castile_wsdl::unknown_operation(operation, &known))
}

/// Returns the labels of all operations with this name.
fn labels_of(service: &Service, name: &str) -> Vec<&'static str> {
    service.operations().iter().filter(|operation| operation.name() == name).map(Operation::label).collect()
}
