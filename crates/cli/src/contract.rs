//! Contracts that are read while the command runs, and what is chosen of them.

use std::path::Path;

use anyhow::bail;
use castile_dynamic::{Contract, Operation, Options, Service};
use castile_wsdl::{Files, Severity};

use crate::{problems, source};

/// Reads a contract. What is wrong in it is told.
///
/// # Errors
/// It is none, or nothing in it can be used.
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
        Err(diagnostics) => {
            let shown = path.display().to_string();
            problems::report(&shown, &diagnostics, Severity::Error)?;
            bail!("{shown} can't be used");
        }
    }
}

/// Reads a contract for one operation, which is less work. It is read whole if that fails, since what is wrong is then told.
///
/// # Errors
/// It is none, or nothing in it can be used.
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

/// The services, or the one of this name.
///
/// # Errors
/// There is none of this name.
pub(crate) fn services<'c>(contract: &'c Contract, name: Option<&str>) -> anyhow::Result<Vec<&'c Service>> {
    let is_meant = |service: &&Service| name.is_none_or(|name| service.description().name == name);
    let found: Vec<&Service> = contract.services.iter().filter(is_meant).collect();
    if let (Some(name), true) = (name, found.is_empty()) {
        let known: Vec<&str> = contract.services.iter().map(|service| service.description().name).collect();
        bail!("there is no service {name}; there are {}", known.join(", "));
    }
    Ok(found)
}

/// The operation of this name, and its service.
///
/// # Errors
/// There is none, or no service of this name.
pub(crate) fn find(
    contract: &Contract,
    service: Option<&str>,
    operation: &str,
) -> anyhow::Result<(Service, &'static Operation)> {
    let services = services(contract, service)?;
    let mut found = services.iter().filter_map(|service| {
        let operation = service.operations().iter().find(|known| known.name() == operation)?;
        Some((**service, operation))
    });
    if let Some(first) = found.next() {
        if let Some((other, _)) = found.next() {
            let [name, other] = [&first.0, &other].map(|service| castile_xml::visible(service.description().name));
            note!("{name} and {other} have {operation}; it is that of {name}, and --service names another one");
        }
        return Ok(first);
    }
    let known: Vec<&str> = services.iter().flat_map(|service| service.operations()).map(Operation::name).collect();
    bail!(castile_wsdl::unknown_operation(operation, &known))
}
