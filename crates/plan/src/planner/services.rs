//! Plans the services of a contract: which ports they have, and which operations.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use castile_wsdl::{
    Addressing, BindingId, BindingOperation, HTTP_TRANSPORT, LeftOut, Port, PortTypeId, Protocol, Severity, Version,
};

use super::Planner;
use super::operations::{IS_LEFT_OUT, OperationNames};
use crate::names::ServiceNames;
use crate::plan::{self, Operation, Service};

/// The ports of a service that have the same port type.
struct Ports<'d> {
    /// The port that represents all of them.
    first: &'d Port,
    others: Vec<&'d Port>,
}

impl Planner<'_> {
    pub(super) fn services(&mut self) -> Vec<Service> {
        let definitions = self.definitions;
        let unnamed = self.unnamed_services();
        let services = || definitions.services.iter().chain(&unnamed);
        let port_type = |port: &Port| definitions[port.binding].port_type;
        let speaks = |port: &&Port| self.version(port).is_some();
        let is_broken = |port: &&Port| {
            let binding = &definitions[port.binding];
            binding.operations.is_empty() && !binding.left_out.is_empty()
        };
        let ports = services().map(|service| {
            let mut ports: Vec<&Port> = service.ports.iter().filter(speaks).collect();
            // A usable port represents broken ones.
            ports.sort_by_key(is_broken);
            (service, ports)
        });
        let ports: Vec<_> = ports.collect();
        let mut known: HashSet<PortTypeId> =
            ports.iter().filter_map(|(_, ports)| ports.first()).map(|port| port_type(port)).collect();
        let (mut chosen, mut unspoken) = (Vec::new(), Vec::new());
        for (service, ports) in ports {
            let mut numbers: HashMap<PortTypeId, usize> = HashMap::new();
            let mut of_types: Vec<Ports<'_>> = Vec::new();
            for port in ports {
                match numbers.entry(port_type(port)) {
                    Entry::Occupied(number) => of_types[*number.get()].others.push(port),
                    Entry::Vacant(entry) => {
                        entry.insert(of_types.len());
                        of_types.push(Ports { first: port, others: Vec::new() });
                    }
                }
            }
            let mut of_types = of_types.into_iter();
            match of_types.next() {
                Some(first) => chosen.push((service, first)),
                None => unspoken.push(service),
            }
            // Port types that another service already has are not generated again.
            let others = of_types.filter(|ports| known.insert(port_type(ports.first)));
            chosen.extend(others.map(|ports| (service, ports)));
        }
        let spoken: HashSet<BindingId> = chosen.iter().map(|(_, ports)| ports.first.binding).collect();
        let mut lost_ports = Vec::new();
        for (index, service) in services().enumerate() {
            let what = if index < definitions.services.len() { "port" } else { "binding" };
            let is_lost = |port: &&Port| is_broken(port) && !spoken.contains(&port.binding);
            let lost = service.ports.iter().filter(speaks).filter(is_lost);
            lost_ports.extend(lost.map(|port| format!("{what} {}", port.name)));
        }
        self.lost_ports = lost_ports;
        for service in unspoken {
            let message = format!("service {} has no port that uses SOAP over HTTP", service.name.local());
            self.report(Severity::Warning, service.location, message);
        }
        let mut port_types = definitions.port_types.iter().filter(|port_type| !port_type.operations.is_empty());
        let has_binding = !(definitions.bindings.is_empty() && definitions.left_out.is_empty());
        if let Some(port_type) = port_types.next().filter(|_| !has_binding) {
            let message = "the contract has no binding, so only its types are generated";
            self.report_contract(Severity::Warning, message.to_owned());
            let name = port_type.name.local();
            let note = format!(
                "`--port-type {name}`, or `port_types` of a build script's options, generates the operations of {name} too"
            );
            if let Some(diagnostic) = self.diagnostics.last_mut() {
                diagnostic.with_note(note);
            }
        }
        let named: Vec<_> = chosen
            .into_iter()
            .map(|(service, ports)| {
                let names = self.names[0].service(definitions[port_type(ports.first)].name.local());
                (service, ports, names)
            })
            .collect();
        self.reserve();
        let named: Vec<_> = named
            .into_iter()
            .map(|(service, ports, names)| {
                let operations = self.operation_names(&definitions[ports.first.binding]);
                (service, ports, names, operations)
            })
            .collect();
        let mut services: Vec<Service> = named
            .into_iter()
            .filter_map(|(service, ports, names, operations)| self.service(service, &ports, names, operations))
            .collect();
        let operations = services.iter_mut().flat_map(|service| &mut service.operations);
        for (name, faults) in operations.filter_map(|planned| Some((&planned.name, planned.faults.as_mut()?))) {
            faults.ident = self.names[0].faults(name);
        }
        services
    }

    /// Returns services for the bindings that no service uses, one per port type. Standards are written this way; the
    /// address is up to the implementer.
    fn unnamed_services(&self) -> Vec<castile_wsdl::Service> {
        let definitions = self.definitions;
        let ports = definitions.services.iter().flat_map(|service| &service.ports);
        let ports = ports.filter(|port| self.version(port).is_some());
        let served: HashSet<PortTypeId> = ports.map(|port| definitions[port.binding].port_type).collect();
        let mut services: Vec<castile_wsdl::Service> = Vec::new();
        let mut known: HashMap<PortTypeId, usize> = HashMap::new();
        for id in definitions.binding_ids() {
            let castile_wsdl::Binding { name, port_type, location, .. } = &definitions[id];
            let port = Port {
                name: name.local().to_owned(),
                binding: id,
                address: None,
                documentation: None,
                extensions: Vec::new(),
                location: *location,
            };
            if self.version(&port).is_none() || served.contains(port_type) {
                continue;
            }
            match known.entry(*port_type) {
                Entry::Occupied(index) => services[*index.get()].ports.push(port),
                Entry::Vacant(entry) => {
                    entry.insert(services.len());
                    services.push(castile_wsdl::Service {
                        name: name.clone(),
                        ports: vec![port],
                        documentation: None,
                        extensions: Vec::new(),
                        location: *location,
                    });
                }
            }
        }
        services
    }

    fn service(
        &mut self,
        service: &castile_wsdl::Service,
        ports: &Ports<'_>,
        names: ServiceNames,
        operations: Vec<OperationNames>,
    ) -> Option<Service> {
        let port = ports.first;
        let binding = &self.definitions[port.binding];
        let port_type = &self.definitions[binding.port_type];
        self.location = service.location;
        // The cost of a trait, a server, a dispatch and a client.
        if !self.count(50) {
            return None;
        }
        let wanted = self.wanted;
        let is_wanted = |name: &String| wanted.is_empty() || wanted.contains(name);
        let broken = binding.left_out.iter().filter(|one| is_wanted(&one.name));
        for LeftOut { name, defect, .. } in broken {
            if !self.count(1) {
                break;
            }
            let reason = Some(self.copy(&defect.message)).filter(|reason| !reason.is_empty());
            let (name, label) = (self.copy(name), self.copy(name));
            self.left_out.push(plan::LeftOut { name, label, reason });
        }
        let named = binding.operations.iter().zip(binding.labels()).zip(operations);
        let named: Vec<_> = named.filter(|((operation, _), _)| is_wanted(&operation.name)).collect();
        if named.is_empty() && !wanted.is_empty() {
            return None;
        }
        let mut operations: Vec<Operation> = Vec::new();
        for ((operation, label), names) in named {
            let reported_before = self.diagnostics.len();
            match self.operation(binding, operation, &label, names) {
                Some(planned) => operations.push(planned),
                None => {
                    let first = self.diagnostics[reported_before..].iter().find(|one| one.severity != Severity::Note);
                    // Texts with the reason already state that the operation is left out.
                    let reason =
                        first.map(|one| one.message.strip_suffix(IS_LEFT_OUT).unwrap_or(&one.message).to_owned());
                    self.left_out.push(plan::LeftOut { name: operation.name.clone(), label, reason });
                }
            }
        }
        let headers = std::mem::take(&mut self.headers);
        if operations.is_empty() {
            let message = format!("binding {} has no operation that can be generated", binding.name.local());
            return self.refuse(binding.location, message);
        }
        let addressing = self.addressing(ports);
        let ports = self.service_ports(ports);
        let mut versions: Vec<Version> = Vec::new();
        for port in &ports {
            if !versions.contains(&port.version) {
                versions.push(port.version);
            }
        }
        self.report_ambiguous_operations(&operations, addressing.is_some_and(|said| said.required), binding.location);
        Some(Service {
            name: service.name.local().to_owned(),
            binding: Some(port.binding),
            namespace: self.definitions.target_namespace.clone(),
            versions,
            addressing,
            ports,
            documentation: self.text(&[&service.documentation, &self.definitions.documentation]).unwrap_or_default(),
            names,
            port_type_documentation: self
                .text(&[&port_type.documentation, &service.documentation])
                .unwrap_or_else(|| format!("The port type `{}`.", port_type.name.local())),
            operations,
            headers,
            is_mtom: self.policies.are_mtom(&[
                &port.extensions,
                &binding.extensions,
                &port_type.extensions,
                &service.extensions,
            ]),
        })
    }

    /// Returns the SOAP version of a port, if it is SOAP over HTTP.
    fn version(&self, port: &Port) -> Option<Version> {
        match &self.definitions[port.binding].protocol {
            Protocol::Soap { version, transport, .. } if transport == HTTP_TRANSPORT => Some(*version),
            _ => None,
        }
    }

    /// Returns the ports of a service for a port type in each SOAP version, the representative one first.
    ///
    /// All ports are assumed to match the representative except for the version. Ports of another binding for the same
    /// version are left out.
    fn service_ports(&mut self, ports: &Ports<'_>) -> Vec<plan::Port> {
        let definitions = self.definitions;
        let first = ports.first;
        let binding = &definitions[first.binding];
        let mut spoken: Vec<(Version, BindingId)> = Vec::new();
        let mut known = Vec::new();
        for port in std::iter::once(first).chain(ports.others.iter().copied()) {
            let Some(version) = self.version(port) else { continue };
            match spoken.iter().find(|(of, _)| *of == version) {
                Some((_, of)) if *of != port.binding => continue,
                Some(_) => {}
                None => {
                    spoken.push((version, port.binding));
                    if port.binding != first.binding {
                        self.report_other_actions(binding, &definitions[port.binding], &first.name);
                    }
                }
            }
            let address = port.address.clone().unwrap_or_default();
            known.push(plan::Port { name: port.name.clone(), version, address });
        }
        known
    }

    /// Reports operations whose action differs from that in the representative port.
    fn report_other_actions(&mut self, taken: &castile_wsdl::Binding, other: &castile_wsdl::Binding, port: &str) {
        let known: HashMap<&str, &BindingOperation> =
            taken.operations.iter().rev().map(|known| (known.name.as_str(), known)).collect();
        for operation in &other.operations {
            if known.get(operation.name.as_str()).is_some_and(|known| known.soap_action != operation.soap_action) {
                let name = &operation.name;
                let message =
                    format!("operation {name} has a different action here than in port {port}, whose action is used");
                self.report(Severity::Warning, operation.location, message);
            }
        }
    }

    /// Returns the WS-Addressing declaration of the ports. All versions share an address, so WS-Addressing is required
    /// only if all ports require it.
    fn addressing(&self, ports: &Ports<'_>) -> Option<Addressing> {
        let definitions = self.definitions;
        let requires = |port: &Port| definitions.addressing(port).is_some_and(|said| said.required);
        let said = definitions.addressing(ports.first)?;
        Some(Addressing { required: said.required && ports.others.iter().all(|port| requires(port)), ..said })
    }

    /// Reports requested operations that don't exist or can't be generated.
    pub(super) fn refuse_unknown_operations(&mut self, services: &[Service]) {
        let definitions = self.definitions;
        let broken = definitions.bindings.iter().flat_map(|binding| &binding.left_out);
        let broken: HashMap<&str, &LeftOut> = broken.map(|one| (one.name.as_str(), one)).collect();
        let planned: HashSet<&str> =
            services.iter().flat_map(|service| &service.operations).map(|one| one.name.as_str()).collect();
        let asked = self.wanted.iter().chain(self.raw);
        for name in asked.clone().filter(|name| !planned.contains(name.as_str())) {
            if let Some(LeftOut { defect, .. }) = broken.get(name.as_str()) {
                let message = format!("operation {name}, which was requested, is left out: {}", defect.message);
                self.report(Severity::Error, defect.location, message);
            }
        }
        let bound = definitions.bindings.iter().flat_map(|binding| &binding.operations);
        let mut seen = HashSet::new();
        // Several bindings may have the same operations.
        let mut known: Vec<String> = bound
            .map(|operation| operation.name.as_str())
            .filter(|name| seen.insert(*name))
            .map(str::to_owned)
            .collect();
        let mut left_out: Vec<&str> = broken.keys().copied().filter(|name| !seen.contains(name)).collect();
        left_out.sort_unstable();
        known.extend(left_out.into_iter().map(|name| format!("{name} (left out)")));
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let is_unknown = |name: &&String| !seen.contains(name.as_str()) && !broken.contains_key(name.as_str());
        for name in asked.filter(is_unknown) {
            self.report_contract(Severity::Error, castile_wsdl::unknown_operation(name, &known));
        }
    }
}
