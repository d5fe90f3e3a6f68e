//! The part of a contract that is loaded: one port and the named operations.

use anyhow::{Context, bail};
use castile::soap;
use castile_wsdl::{Binding, BindingOperation, Definitions, Pattern, Port, Protocol, Version};
use castile_xsd::ElementId;

use crate::contracts::shape::{self, Shape};
use crate::contracts::{contract, source};

/// A port with some of its operations.
#[derive(Debug)]
pub(super) struct Service {
    /// The contract. It lives as long as the process, because the load threads use it.
    pub(super) definitions: &'static Definitions,
    pub(super) name: String,
    pub(super) version: soap::Version,
    /// The address in the contract.
    pub(super) address: Option<String>,
    /// The named operations, in the given order.
    pub(super) operations: Vec<Operation>,
}

/// An operation, and how often it is called.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) weight: u32,
    pub(super) action: String,
    pub(super) input: Shape,
    /// The header blocks of its requests that are elements.
    pub(super) blocks: Vec<ElementId>,
    /// `None` if the operation has no response.
    pub(super) output: Option<Shape>,
}

/// An operation as given on the command line: `OP` or `OP=WEIGHT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    name: String,
    weight: u32,
}

impl std::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, weight) = match text.split_once('=') {
            None => (text, 1),
            Some((name, weight)) => match weight.parse() {
                Ok(weight @ 1..=1000) => (name, weight),
                _ => return Err(format!("found the weight {weight:?}, expected a number from 1 to 1000")),
            },
        };
        Ok(Named { name: name.to_owned(), weight })
    }
}

/// Merges operations that are named more than once. Keeps the order of first occurrence and adds up the weights.
pub(super) fn merged(named: &[Named]) -> Vec<Named> {
    let mut merged: Vec<Named> = Vec::new();
    for one in named {
        match merged.iter_mut().find(|known| known.name == one.name) {
            Some(known) => known.weight += one.weight,
            None => merged.push(one.clone()),
        }
    }
    merged
}

impl Service {
    /// Finds the first SOAP port that has all these operations. If a service or port name is given, only those are searched.
    pub(super) fn choose(
        definitions: &'static Definitions,
        service: Option<&str>,
        port: Option<&str>,
        named: &[Named],
        has_url: bool,
    ) -> anyhow::Result<Self> {
        let has = |binding: &Binding, named: &Named| operation(binding, &named.name).is_some();
        let has_ports = definitions.services.iter().any(|service| !service.ports.is_empty());
        // With a URL, no port is needed, so any SOAP binding will do.
        if has_url && !has_ports && service.is_none() && port.is_none() {
            let of_soap = |binding: &&Binding| matches!(binding.protocol, Protocol::Soap { .. });
            let mut bindings = definitions.bindings.iter().filter(of_soap);
            if let Some(binding) = bindings.find(|binding| named.iter().all(|named| has(binding, named))) {
                return Service::of(definitions, binding, binding.name.local(), None, named);
            }
        }
        let all = definitions.services.iter().flat_map(|service| service.ports.iter().map(move |port| (service, port)));
        let speaks_soap = |port: &Port| matches!(definitions[port.binding].protocol, Protocol::Soap { .. });
        let ports: Vec<_> = all
            .filter(|(found, _)| service.is_none_or(|name| found.name.local() == name))
            .filter(|(_, found)| port.is_none_or(|name| found.name == name))
            .filter(|(_, found)| speaks_soap(found))
            .collect();
        let has_all = |port: &Port| named.iter().all(|named| has(&definitions[port.binding], named));
        let Some((service, port)) = ports.iter().find(|(_, port)| has_all(port)) else {
            let asked = [("service", service), ("port", port)];
            bail!("{}", not_found(definitions, &ports, named, asked));
        };
        Service::of(definitions, &definitions[port.binding], service.name.local(), port.address.clone(), named)
    }

    /// Makes a service from the operations of a binding.
    fn of(
        definitions: &'static Definitions,
        binding: &Binding,
        name: &str,
        address: Option<String>,
        named: &[Named],
    ) -> anyhow::Result<Self> {
        let Protocol::Soap { version, .. } = &binding.protocol else { bail!("the port doesn't use SOAP") };
        let operations = named.iter().filter_map(|one| {
            let found = operation(binding, &one.name)?;
            note_overloads(binding, name, &one.name, named);
            Some(Operation::new(definitions, binding, found, one))
        });
        Ok(Service {
            definitions,
            name: name.to_owned(),
            version: match version {
                Version::Soap11 => soap::Version::Soap11,
                Version::Soap12 => soap::Version::Soap12,
            },
            address,
            operations: operations.collect::<anyhow::Result<_>>()?,
        })
    }

    /// Returns the prefixes that expressions may use.
    pub(super) fn prefixes(&self) -> Vec<(String, String)> {
        source::prefixes_of_messages(self.definitions, self.version)
    }
}

fn operation<'d>(binding: &'d Binding, name: &str) -> Option<&'d BindingOperation> {
    binding.labels().iter().position(|label| label == name).map(|number| &binding.operations[number])
}

/// Prints a note that the first of several operations with the same name was chosen. No note is printed if the command line names several
/// of them.
fn note_overloads(binding: &Binding, service: &str, name: &str, named: &[Named]) {
    let labels = binding.labels();
    let all = binding.operations.iter().zip(&labels);
    let of_name = all.filter(|(operation, _)| operation.name == name && is_called(operation));
    let of_name: Vec<&str> = of_name.map(|(_, label)| label.as_str()).collect();
    if named.iter().filter(|one| of_name.contains(&&*one.name)).count() == 1 {
        contract::note_overloads(service, name, &of_name);
    }
}

/// Returns whether clients call this operation.
fn is_called(operation: &BindingOperation) -> bool {
    matches!(operation.pattern, Pattern::OneWay | Pattern::RequestResponse)
}

/// Returns the error message for a missing port. `asked` are the service and port names from the command line.
fn not_found(
    definitions: &Definitions,
    ports: &[(&castile_wsdl::Service, &Port)],
    named: &[Named],
    asked: [(&str, Option<&str>); 2],
) -> String {
    let all = || definitions.services.iter().flat_map(|service| service.ports.iter().map(move |port| (service, port)));
    if ports.is_empty() && all().next().is_none() {
        let bindings: Vec<&str> = definitions.bindings.iter().map(|binding| binding.name.local()).collect();
        return match bindings.is_empty() {
            true => "the contract has no port and no binding, so its operations can't be called".to_owned(),
            false => format!(
                "the contract has no port with an address, expected --url and operations of one of its bindings: {}",
                bindings.join(", ")
            ),
        };
    }
    if ports.is_empty() {
        let known = all().map(|(service, port)| {
            let is_soap = matches!(definitions[port.binding].protocol, Protocol::Soap { .. });
            let other = if is_soap { "" } else { ", which doesn't use SOAP" };
            format!("{} of {}{other}", port.name, service.name.local())
        });
        let asked: Vec<(&str, &str)> = asked.into_iter().filter_map(|(what, name)| Some((what, name?))).collect();
        let is_there = |what: &str, name: &str| match what {
            "service" => definitions.services.iter().any(|service| service.name.local() == name),
            _ => all().any(|(_, port)| port.name == name),
        };
        let absent = asked.iter().find(|(what, name)| !is_there(what, name));
        let options_given: Vec<String> = asked.iter().map(|(what, name)| format!("{what} {name:?}")).collect();
        let found = match (absent, options_given.is_empty()) {
            (Some((what, name)), _) => format!("found {what} {name:?}, which the contract doesn't have"),
            (None, true) => "found no SOAP port".to_owned(),
            (None, false) => format!("found {}, which is not a SOAP port", options_given.join(" with ")),
        };
        return format!("{found}, expected one of {}", known.collect::<Vec<_>>().join(", "));
    }
    let mut known: Vec<String> = Vec::new();
    for label in ports.iter().flat_map(|(_, port)| definitions[port.binding].labels()) {
        if !known.contains(&label) {
            known.push(label);
        }
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let unknown = named.iter().find(|named| !known.contains(&&*named.name));
    let left_out = ports.iter().flat_map(|(_, port)| &definitions[port.binding].left_out);
    if let Some(broken) = unknown.and_then(|unknown| left_out.clone().find(|one| one.name == unknown.name)) {
        let place = definitions.sources.describe(broken.defect.location);
        return format!("{} can't be called: {} ({place})", broken.name, broken.defect.message);
    }
    let found = match unknown {
        Some(unknown) => return castile_wsdl::unknown_operation(&unknown.name, &known),
        None if named.is_empty() => "found no --operation",
        None => "found no port that has all these operations",
    };
    format!("{found}, expected some of {}", known.join(", "))
}

impl Operation {
    fn new(
        definitions: &Definitions,
        binding: &Binding,
        operation: &BindingOperation,
        Named { name, weight }: &Named,
    ) -> anyhow::Result<Self> {
        if !is_called(operation) {
            bail!("{name} is started by the service, expected an operation that a client calls");
        }
        let input = operation.input.as_ref().with_context(|| format!("{name} has no input"))?;
        if !input.attachments.is_empty() {
            bail!("{name} has attachments, which this command can't send");
        }
        let action = match &operation.soap_action {
            Some(action) => action.clone(),
            None => definitions.request_action(binding, operation),
        };
        // The action becomes part of a header field, in quotes.
        if action.contains(|c: char| c.is_control() || c == '"') {
            bail!("{name} has the action {action:?}, which is not allowed in an HTTP header");
        }
        Ok(Operation {
            name: name.clone(),
            weight: *weight,
            action,
            input: Shape::of_request(operation, input),
            blocks: shape::blocks(input),
            output: operation.output.as_ref().map(|output| Shape::of_response(operation, output)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merging once produced the name "A + A".
    #[test]
    fn an_operation_that_is_named_twice_is_one() {
        let named = |text: &str| text.parse::<Named>().unwrap();
        assert_eq!(merged(&["A", "B=2", "A=3"].map(named)), ["A=4", "B=2"].map(named));
    }

    #[test]
    fn an_operation_may_have_a_weight() {
        assert_eq!("A".parse(), Ok(Named { name: "A".to_owned(), weight: 1 }));
        assert_eq!("A=30".parse(), Ok(Named { name: "A".to_owned(), weight: 30 }));
        for wrong in ["A=", "A=0", "A=1001", "A=x"] {
            assert!(wrong.parse::<Named>().is_err(), "{wrong}");
        }
    }
}
