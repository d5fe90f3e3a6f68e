//! Compares services and their ports.

use std::collections::HashSet;

use castile_wsdl::{Addressing, BindingId, Definitions, Port, Protocol, Responses, Service, Version};
use castile_xsd::ExpandedName;

use crate::Error;
use crate::bindings::Bindings;
use crate::change::{Breaks, Broken, Changes};
use crate::kinds;
use crate::pairs::{paired, pairs};
use crate::policies::PolicyPair;

/// Returns the changes between two contracts.
///
/// # Errors
/// The contracts are too large to be compared.
pub(crate) fn changes(old: &Definitions, new: &Definitions) -> Result<Changes, Error> {
    let mut compare = Compare {
        old,
        new,
        asserted: PolicyPair::of(old, new),
        bindings: Bindings::new(old, new),
        changes: Changes::default(),
    };
    compare.services();
    compare.unused_bindings();
    compare.bindings.finish(compare.changes)
}

struct Compare<'d> {
    old: &'d Definitions,
    new: &'d Definitions,
    asserted: PolicyPair<'d>,
    bindings: Bindings<'d>,
    changes: Changes,
}

const CALLED: &str = "old clients call it, but new servers don't have it";
const NOT_THERE: &str = "new clients call it, but old servers don't have it";

impl<'d> Compare<'d> {
    fn services(&mut self) {
        let name = |service: &Service| service.name.local().to_owned();
        for pair in pairs((&self.old.services, &self.new.services), name, |_| Some(String::new())) {
            let group = |service: &Service| format!("service {}", service.name.local());
            match pair {
                (Some(old), Some(new)) => {
                    let group = group(new);
                    let (was, is) = (old.name.local(), new.name.local());
                    if was != is {
                        self.changes.add(kinds::SERVICE_RENAMED, (&group, is), (was, is), Breaks::none());
                    }
                    self.ports(old, new, &group);
                }
                (Some(old), None) => {
                    let breaks = Breaks::old_clients(CALLED);
                    let place = (&*group(old), old.name.local());
                    self.changes.add(kinds::SERVICE_REMOVED, place, ("there", "gone"), breaks);
                }
                (_, new) => {
                    let Some(new) = new else { continue };
                    let breaks = Breaks::new_clients(NOT_THERE);
                    let place = (&*group(new), new.name.local());
                    self.changes.add(kinds::SERVICE_ADDED, place, ("absent", "there"), breaks);
                }
            }
        }
    }

    fn ports(&mut self, old_service: &'d Service, new_service: &'d Service, group: &str) {
        let old: Vec<_> = old_service.ports.iter().map(|port| (self.old, port)).collect();
        let new: Vec<_> = new_service.ports.iter().map(|port| (self.new, port)).collect();
        let spoken = |(definitions, port): &(&Definitions, &Port)| protocol(&definitions[port.binding].protocol);
        for pair in pairs((&old, &new), |(_, port)| port.name.clone(), |one| Some(spoken(one))) {
            let pair = (pair.0.map(|(_, port)| *port), pair.1.map(|(_, port)| *port));
            match pair {
                (Some(one), Some(other)) => self.port((old_service, one), (new_service, other), group),
                (Some(old), None) => {
                    let breaks = Breaks::old_clients(CALLED);
                    self.changes.add(kinds::PORT_REMOVED, (group, &old.name), ("there", "gone"), breaks);
                }
                (_, new) => {
                    let Some(new) = new else { continue };
                    let breaks = Breaks::new_clients(NOT_THERE);
                    self.changes.add(kinds::PORT_ADDED, (group, &new.name), ("absent", "there"), breaks);
                }
            }
        }
    }

    fn port(
        &mut self,
        (old_service, old): (&'d Service, &'d Port),
        (new_service, new): (&'d Service, &'d Port),
        group: &str,
    ) {
        let place = (group, new.name.as_str());
        if old.name != new.name {
            self.changes.add(kinds::PORT_RENAMED, place, (&old.name, &new.name), Breaks::none());
        }
        if old.address != new.address {
            let told = |port: &Port| port.address.clone().unwrap_or_else(|| "none".to_owned());
            self.changes.add(kinds::ADDRESS, place, (told(old), told(new)), Breaks::none());
        }
        let (old_addressing, new_addressing) = (self.old.addressing(old), self.new.addressing(new));
        if old_addressing != new_addressing {
            let change = (addressing(old_addressing), addressing(new_addressing));
            let breaks = breaks_of_addressing(old_addressing, new_addressing);
            self.changes.add(kinds::ADDRESSING, place, change, breaks);
        }
        let asserted = |definitions: &'d Definitions, service: &'d Service, port: &'d Port| {
            let binding = &definitions[port.binding];
            let port_type = &definitions[binding.port_type];
            [&*service.extensions, &*port.extensions, &*binding.extensions, &*port_type.extensions]
        };
        let (old_asserted, new_asserted) = (asserted(self.old, old_service, old), asserted(self.new, new_service, new));
        self.asserted.compare(&old_asserted, &new_asserted, place, &mut self.changes);
        let is_addressed = old_addressing.is_some() && new_addressing.is_some();
        self.binding(old.binding, new.binding, place, is_addressed);
    }

    fn binding(&mut self, old: BindingId, new: BindingId, place: (&str, &str), is_addressed: bool) {
        let (was, is) = (&self.old[old].protocol, &self.new[new].protocol);
        let why = "clients and servers use different protocols";
        match (was, is) {
            (
                Protocol::Soap { version: old_version, transport: old_transport, .. },
                Protocol::Soap { version: new_version, transport: new_transport, .. },
            ) => {
                if old_version != new_version {
                    let change = (version(*old_version), version(*new_version));
                    let why = "a server of one SOAP version rejects messages of the other";
                    self.changes.add(kinds::SOAP_VERSION, place, change, Breaks::all(why));
                }
                if old_transport != new_transport {
                    let change = (old_transport, new_transport);
                    self.changes.add(kinds::TRANSPORT, place, change, Breaks::all(why));
                }
                self.bindings.compare(old, new, is_addressed, &self.asserted, &mut self.changes);
            }
            _ if was != is => {
                self.changes.add(kinds::PROTOCOL, place, (protocol(was), protocol(is)), Breaks::all(why));
            }
            // Bindings without SOAP are not compared.
            _ => {}
        }
    }

    /// Compares bindings that no port uses. Contracts without services have only these.
    fn unused_bindings(&mut self) {
        let unused = |definitions: &Definitions| -> Vec<BindingId> {
            let ports = definitions.services.iter().flat_map(|service| &service.ports);
            let used: HashSet<BindingId> = ports.map(|port| port.binding).collect();
            definitions.binding_ids().filter(|id| !used.contains(id)).collect()
        };
        let (old, new) = (unused(self.old), unused(self.new));
        let names = |definitions: &Definitions, ids: &[BindingId]| -> Vec<ExpandedName> {
            ids.iter().map(|id| definitions[*id].name.clone()).collect()
        };
        let (partners, added) = paired(&names(self.old, &old), &names(self.new, &new));
        for (old, partner) in old.into_iter().zip(partners) {
            let name = self.old[old].name.local();
            let group = format!("binding {name}");
            match partner {
                Some(partner) => self.binding(old, new[partner], (&group, name), false),
                None => {
                    let breaks = Breaks::old_clients(CALLED);
                    self.changes.add(kinds::PORT_REMOVED, (&group, name), ("there", "gone"), breaks);
                }
            }
        }
        for index in added {
            let name = self.new[new[index]].name.local();
            let breaks = Breaks::new_clients(NOT_THERE);
            self.changes.add(kinds::PORT_ADDED, (&format!("binding {name}"), name), ("absent", "there"), breaks);
        }
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::Soap11 => "SOAP 1.1",
        Version::Soap12 => "SOAP 1.2",
    }
}

fn protocol(protocol: &Protocol) -> String {
    match protocol {
        Protocol::Soap { version: of, .. } => version(*of).to_owned(),
        Protocol::Http { verb } => format!("HTTP {verb}"),
        Protocol::Other(namespace) => format!("the protocol {namespace:?}"),
    }
}

fn addressing(addressing: Option<Addressing>) -> String {
    let Some(Addressing { required, responses }) = addressing else { return "not stated".to_owned() };
    let required = if required { "required" } else { "optional" };
    match responses {
        Responses::Anywhere => required.to_owned(),
        Responses::Anonymous => format!("{required}, responses on the connection"),
        Responses::NonAnonymous => format!("{required}, responses elsewhere"),
    }
}

fn breaks_of_addressing(old: Option<Addressing>, new: Option<Addressing>) -> Breaks {
    let is_required = |one: Option<Addressing>| one.is_some_and(|one| one.required);
    // A server that requires one kind of responses rejects the other.
    let refuses = |servers: Option<Addressing>, clients: Option<Addressing>| {
        let (Some(servers), Some(clients)) = (servers, clients) else { return false };
        servers.responses != Responses::Anywhere && servers.responses != clients.responses
    };
    let told = |servers: Option<Addressing>, clients: Option<Addressing>, who: &str, whose: &str| -> Option<Broken> {
        if is_required(servers) && !is_required(clients) {
            let why = format!("{whose} require the header blocks of WS-Addressing, but {who} may omit them");
            Some(why.as_str().into())
        } else {
            let why = format!("{who} may request responses at an address to which {whose} don't send them");
            refuses(servers, clients).then(|| why.as_str().into())
        }
    };
    Breaks {
        old_clients: told(new, old, "old clients", "new servers"),
        new_clients: told(old, new, "new clients", "old servers"),
    }
}
