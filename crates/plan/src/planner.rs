//! Turns the service model into a plan: the needed types, their names, and how values contain each other.

mod adjust;
mod documentation;
mod encoded;
mod facets;
mod finish;
mod groups;
mod named_types;
mod namespaces;
mod nesting;
mod operations;
mod own;
mod particles;
mod policy;
mod repeats;
mod simple;
mod sizes;
mod types;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use castile_wsdl::{
    Addressing, BindingId, BindingOperation, Definitions, Diagnostic, HTTP_TRANSPORT, LeftOut, PartContent, Port,
    PortTypeId, Protocol, Severity, Version,
};
use castile_xsd::components::{Owner, TypeDefinition};
use castile_xsd::{ContractValues, ElementId, ExpandedName, Location, Schema, TypeId};

use crate::names::{Ident, Modules, Names, ServiceNames};
use crate::plan::{self, Base, Item, Module, Operation, Path, Plan, RootType, Service, TypedRoot};
use crate::stack::grown;
use crate::{FaultTypes, Options};
pub use operations::is_of_security;
use operations::{HeaderBlocks, IS_LEFT_OUT, OperationNames};
use particles::Origin;

/// Plans the SOAP services of a contract or, if there are none, all its types.
///
/// Parts that can't be generated are reported as warnings, or as an error if nothing is left. `options` selects
/// operations and other features. `is_broken` states whether the contract has an error.
pub fn plan(definitions: &Definitions, options: &Options, is_broken: bool, diagnostics: &mut Vec<Diagnostic>) -> Plan {
    let schema = &definitions.schema;
    let mut planner = Planner {
        definitions,
        schema,
        wanted: &options.operations,
        raw: &options.raw,
        streamed: options.streams.iter().cloned().collect(),
        checks_facets: options.facets,
        streams_binaries: options.stream_binaries,
        restrictions: HashMap::new(),
        named_types: HashMap::new(),
        facets_in_words: HashMap::new(),
        module_names: HashMap::new(),
        type_names: HashMap::new(),
        rust_types: HashMap::new(),
        own_types: HashMap::new(),
        diagnostics,
        names: vec![Names::default()],
        modules: vec![Module { namespace: definitions.target_namespace.clone(), ident: Ident::new("root") }],
        module_numbers: HashMap::from([(definitions.target_namespace.clone(), 0)]),
        module: 0,
        reserved: HashMap::new(),
        paths: HashMap::new(),
        entered: HashSet::new(),
        circular: HashMap::new(),
        contained_types: HashMap::new(),
        items: Vec::new(),
        enumerations: HashSet::new(),
        unions_of_names: HashSet::new(),
        left_out: Vec::new(),
        lost_ports: Vec::new(),
        has_faults: options.faults != FaultTypes::None,
        untyped: HashSet::new(),
        policies: policy::Policies::of(definitions),
        planned: 0,
        copied: 0,
        depth: 0,
        is_full: false,
        reported: [0; 3],
        values: ContractValues::new(schema),
        headers: Vec::new(),
        documents: Vec::new(),
        header_blocks: HeaderBlocks::default(),
        namespaces: Vec::new(),
        attribute_namespaces: BTreeSet::new(),
        slots: 0,
        location: schema[TypeId::from(castile_xsd::Builtin::AnyType)].location(),
    };
    planner.read_type_options(options);
    let asked = planner.requested_types(&options.types);
    planner.leave_untyped(options.faults, &asked);
    let services = planner.services();
    planner.check_names(options);
    for id in asked {
        planner.complex_type(id);
    }
    planner.refuse_unknown_operations(&services);
    for name in std::mem::take(&mut planner.streamed) {
        let message = format!("the element {name} can't be a stream: no generated sequence repeats it");
        planner.report_contract(Severity::Error, message);
    }
    // If all operations of a contract are broken, generating only the types is not useful.
    let names = definitions.left_out.iter().map(|one| one.name.clone());
    let missing: Vec<String> = names.chain(std::mem::take(&mut planner.lost_ports)).collect();
    let has_lost_all = is_broken && services.is_empty() && !(planner.left_out.is_empty() && missing.is_empty());
    if services.is_empty() && options.operations.is_empty() && !has_lost_all {
        match definitions.is_schema {
            true => planner.documents(),
            false => planner.all_types(),
        }
        if planner.items.is_empty() && planner.documents.is_empty() && !is_broken {
            planner.nothing(options.strict);
        }
    }
    let mut items = std::mem::take(&mut planner.items);
    let extras = planner.extras(options, &mut items);
    let mut services = services;
    let mut documents = std::mem::take(&mut planner.documents);
    let own = planner.own(&items, &services, &documents);
    planner.count_the_rest();
    let namespaces = std::mem::take(&mut planner.namespaces);
    let order = nesting::nest(&mut items);
    let sizes = sizes::box_large_fields(&mut items, &order, &mut services, &documents);
    let (items, services, namespaces) =
        finish::finish(items, services, &mut documents, namespaces, &own.types, &mut planner);
    let repeats = repeats::repeats(&items, &services, &documents, &own);
    let own::OwnTypes { types: own, unwritten } = own;
    let Planner { modules, left_out, .. } = planner;
    Plan { namespaces, modules, items, services, documents, repeats, own, unwritten, extras, sizes, left_out, missing }
}

struct Planner<'a> {
    definitions: &'a Definitions,
    schema: &'a Schema,
    /// The names of the requested operations. Empty means all.
    wanted: &'a [String],
    /// The names of the operations that use unparsed XML.
    raw: &'a [String],
    /// The elements that must be streams and were not found yet: `TYPE/ELEMENT`.
    streamed: BTreeSet<String>,
    /// Whether values are checked against the facets of their types.
    checks_facets: bool,
    /// Whether binary values that declare their media types may be attachments.
    streams_binaries: bool,
    /// A cache of the restrictions of simple types; `None` for types without a restriction.
    restrictions: HashMap<TypeId, Option<Path>>,
    /// A cache of the types that `xsi:type` may name instead of a simple type; `None` if they follow from the Rust
    /// type.
    named_types: HashMap<TypeId, Option<Path>>,
    /// A cache of facets as documentation.
    facets_in_words: HashMap<TypeId, Rc<str>>,
    /// The program's names for modules and types, and its own types.
    module_names: HashMap<String, Ident>,
    type_names: HashMap<TypeId, String>,
    rust_types: HashMap<TypeId, Box<str>>,
    /// The program's types that replace complex types.
    own_types: HashMap<TypeId, Box<str>>,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// The assigned names in each module.
    names: Vec<Names>,
    modules: Vec<Module>,
    /// The modules' numbers by namespace.
    module_numbers: HashMap<String, usize>,
    /// The current module.
    module: usize,
    /// The reserved names of all types that have a name in the contract, whether or not they are needed.
    reserved: HashMap<TypeId, Path>,
    paths: HashMap<Key, Path>,
    /// Types whose reserved name is in use.
    entered: HashSet<TypeId>,
    /// A cache of whether values of a type may contain themselves in SOAP encoding.
    circular: HashMap<TypeId, bool>,
    /// A cache of the types that values of a type contain in SOAP encoding.
    contained_types: HashMap<TypeId, Rc<[TypeId]>>,
    items: Vec<Item>,
    /// The items that are enumerations, and the unions whose values may be qualified names.
    enumerations: HashSet<Path>,
    unions_of_names: HashSet<Path>,
    /// The operations that were left out of services.
    left_out: Vec<plan::LeftOut>,
    /// The ports that have no usable operation while other ports of their port type do; also bindings without a port.
    lost_ports: Vec<String>,
    /// Whether operations have typed faults.
    has_faults: bool,
    /// Fault types that are stored as XML where they replace their base.
    untyped: HashSet<TypeId>,
    policies: policy::Policies,
    /// The number of planned fields, variants, attributes, facets and operations.
    planned: usize,
    /// The number of copied bytes of the contract's texts.
    copied: usize,
    /// The nesting depth of the types that are being planned.
    depth: usize,
    /// Whether a limit was exceeded. Nothing more is planned then.
    is_full: bool,
    /// The number of diagnostics of each severity.
    reported: [usize; 3],
    values: ContractValues<'a>,
    /// The header blocks of the current service that no previous service has.
    headers: Vec<TypedRoot>,
    documents: Vec<TypedRoot>,
    header_blocks: HeaderBlocks,
    /// The namespace of every element, once per element.
    namespaces: Vec<String>,
    /// The namespaces of attributes, which need a prefix.
    attribute_namespaces: BTreeSet<String>,
    slots: u16,
    /// The location of the complex type that is being planned.
    location: Location,
}

/// The components that have a Rust type to which several places may refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A type.
    Type(TypeId),
    /// A type with the types derived from it; and whether the element blocks extensions and restrictions.
    Derived(TypeId, (bool, bool)),
    /// A type in SOAP encoding.
    Encoded(TypeId),
    /// A type in SOAP encoding, with the types derived from it.
    EncodedDerived(TypeId),
    /// A shared group, and whether it is unbounded.
    Group(Origin, bool),
}

/// The ports of a service that have the same port type.
struct Ports<'d> {
    /// The port that represents all of them.
    first: &'d Port,
    others: Vec<&'d Port>,
}

impl Planner<'_> {
    // ---- services ----

    fn services(&mut self) -> Vec<Service> {
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

    // ---- types ----

    /// Returns the types with these names, each with all types derived from it.
    fn requested_types(&mut self, names: &[String]) -> Vec<TypeId> {
        let schema = self.schema;
        let mut asked = Vec::new();
        for name in names {
            let is_asked = |id: &TypeId| {
                schema[*id].name().is_some_and(|known| known.local() == name || known.to_string() == *name)
            };
            let found: Vec<TypeId> = schema.global_types().filter(is_asked).collect();
            if found.is_empty() {
                self.report_contract(Severity::Error, format!("there is no type {name}, which was requested"));
            }
            for id in found {
                if let Some(defect) = schema.type_defect(id) {
                    let message = format!("type {name}, which was requested, is left out: {}", defect.message);
                    self.report(Severity::Error, defect.location, message);
                } else {
                    asked.push(id);
                }
            }
        }
        self.with_derived(asked)
    }

    /// Returns the types and all types derived from them.
    fn with_derived(&self, types: Vec<TypeId>) -> Vec<TypeId> {
        let mut known: HashSet<TypeId> = HashSet::new();
        let (mut found, mut open) = (Vec::new(), types);
        while let Some(id) = open.pop() {
            if known.insert(id) {
                found.push(id);
                open.extend(self.schema.derived_types(id));
            }
        }
        found.sort_unstable();
        found
    }

    /// Determines the fault types that are stored as XML: all except requested ones and, unless faults have no types at
    /// all, those that operations declare.
    fn leave_untyped(&mut self, faults: FaultTypes, asked: &[TypeId]) {
        if faults == FaultTypes::All {
            return;
        }
        let (definitions, schema, wanted) = (self.definitions, self.schema, self.wanted);
        let operations = || definitions.bindings.iter().flat_map(|binding| &binding.operations);
        let declared = |operation: &BindingOperation| -> Vec<TypeId> {
            let messages = operation.input.iter().chain(&operation.output);
            let headers = messages.flat_map(|message| &message.headers).flat_map(|header| &header.faults);
            let parts = operation.faults.iter().filter_map(|fault| fault.part.as_ref());
            let parts = parts.chain(headers.map(|header| &header.part));
            let types = parts.map(|part| match part.content {
                PartContent::Element(element) => schema[element].type_id,
                PartContent::Type(type_id) => type_id,
            });
            types.collect()
        };
        let is_struct = |id: &TypeId| id.builtin().is_none() && schema[*id].as_complex().is_some();
        let all =
            operations().flat_map(declared).flat_map(|id| schema.bases(id).take_while(is_struct).collect::<Vec<_>>());
        self.untyped = self.with_derived(all.collect()).into_iter().collect();
        if faults == FaultTypes::Declared {
            let is_wanted = |operation: &&BindingOperation| wanted.is_empty() || wanted.contains(&operation.name);
            for id in operations().filter(is_wanted).flat_map(declared) {
                self.untyped.remove(&id);
            }
        }
        for id in asked {
            self.untyped.remove(id);
        }
    }

    /// Plans the documents of a standalone schema: its global elements, and all types of its namespace. Imported
    /// schemas contribute only what these need.
    fn documents(&mut self) {
        let (schema, target) = (self.schema, self.definitions.target_namespace.as_str());
        let is_document = |id: &ElementId| {
            let declared = &schema[*id];
            declared.name.namespace() == target
                && !declared.is_abstract
                && is_of_contract(declared.location)
                && schema.element_defect(*id).is_none()
        };
        let elements: Vec<ElementId> = schema.global_elements().filter(is_document).collect();
        let mut of_types: HashMap<TypeId, usize> = HashMap::new();
        for element in &elements {
            *of_types.entry(schema[*element].type_id).or_default() += 1;
        }
        for element in elements {
            let declared = &schema[element];
            self.location = declared.location;
            if !self.count(1) {
                return;
            }
            let base = self.base(declared.type_id, element);
            let name = declared.name.local();
            let of = match &base {
                Base::Item(path)
                    if schema[declared.type_id].as_complex().is_some()
                        && of_types.get(&declared.type_id) == Some(&1) =>
                {
                    RootType::Own(path.clone())
                }
                _ => RootType::Wrapper(self.names[0].item(&format!("{name} document"))),
            };
            let documentation = self.text(&[&declared.annotation.documentation]);
            let documentation = documentation.unwrap_or_else(|| format!("The document `{name}`."));
            let root = self.root(element);
            self.documents.push(TypedRoot { of, documentation, base, root });
        }
        self.types_of(|name| name.namespace() == target);
    }

    /// Plans all types and elements of the contract.
    fn all_types(&mut self) {
        let schema = self.schema;
        let elements = schema.global_elements().filter(|id| schema.element_defect(*id).is_none());
        for element in elements.filter(|id| is_of_contract(schema[*id].location)) {
            self.base(schema[element].type_id, element);
        }
        self.types_of(|_| true);
    }

    /// Plans the types of the contract whose names satisfy `is_wanted`.
    fn types_of(&mut self, is_wanted: impl Fn(&ExpandedName) -> bool) {
        let schema = self.schema;
        let types = schema.global_types().filter(|id| schema.type_defect(*id).is_none());
        let types = types.filter(|id| schema[*id].name().is_some_and(&is_wanted));
        for id in types.filter(|id| is_of_contract(schema[*id].location())) {
            match &schema[id] {
                TypeDefinition::Simple(_) => drop(self.simple(id)),
                TypeDefinition::Complex(_) => drop(self.complex_type(id)),
            }
        }
    }

    fn nothing(&mut self, is_strict: bool) {
        let has_operations = self.definitions.bindings.iter().any(|binding| !binding.operations.is_empty());
        let message = "no service uses SOAP over HTTP and there are no types, so there is nothing to generate";
        // A contract may have only policies or nothing at all.
        let is_expected = !is_strict && !has_operations && self.definitions.services.is_empty();
        self.report_contract(if is_expected { Severity::Warning } else { Severity::Error }, message.to_owned());
    }

    /// Reports requested operations that don't exist or can't be generated.
    fn refuse_unknown_operations(&mut self, services: &[Service]) {
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

    /// Reports a problem of the whole contract.
    fn report_contract(&mut self, severity: Severity, message: String) {
        let name = self.definitions.sources.names().next().unwrap_or_default();
        self.diagnostics.push(Diagnostic::of_document(severity, name, message));
    }

    /// Returns a number for an element, which indexes the tag cache.
    fn slot(&mut self) -> u16 {
        let slot = self.slots;
        self.slots = self.slots.wrapping_add(1);
        slot
    }

    // ---- names ----

    /// Assigns names to all types, and to elements with anonymous types, in the order of the contract. So no name
    /// depends on which other parts are needed.
    fn reserve(&mut self) {
        let schema = self.schema;
        let mut namespaces = Modules::default();
        let types = schema.global_types().filter(|id| is_of_contract(schema[*id].location()));
        let elements = schema.global_elements().filter(|id| is_of_contract(schema[*id].location));
        let elements = elements.filter(|id| schema[schema[*id].type_id].owner() == Some(Owner::Element(*id)));
        let types = types.filter_map(|id| Some((id, schema[id].name()?)));
        let elements = elements.map(|id| (schema[id].type_id, &schema[id].name));
        for (id, name) in types.chain(elements) {
            let known = self.module_numbers.get(name.namespace()).copied();
            let module = known.unwrap_or_else(|| {
                let ident = match self.module_names.get(name.namespace()) {
                    Some(ident) => ident.clone(),
                    None => namespaces.module(name.namespace()),
                };
                self.modules.push(Module { namespace: name.namespace().to_owned(), ident });
                self.module_numbers.insert(name.namespace().to_owned(), self.modules.len() - 1);
                self.names.push(Names::default());
                self.modules.len() - 1
            });
            let ident = self.names[module].item(self.type_names.get(&id).map_or(name.local(), String::as_str));
            self.reserved.insert(id, Path { module, ident });
        }
    }

    /// Returns the module for the types of a namespace, or the current one if the namespace has none.
    fn module_of(&self, namespace: &str) -> usize {
        self.module_numbers.get(namespace).copied().unwrap_or(self.module)
    }

    /// Returns a name for a type in the current module.
    fn item(&mut self, name: &str) -> Path {
        let module = self.module;
        Path { module, ident: self.names[module].item(name) }
    }

    /// Returns a name for the table of a type.
    fn table(&mut self, name: &str) -> Ident {
        self.names[self.module].table(name)
    }

    /// Assigns the name of a schema type and switches to its module. Returns the path and the previous module.
    fn enter(&mut self, type_id: TypeId, key: Key, name: &str) -> (Path, usize) {
        let outside = self.module;
        let is_first = self.entered.insert(type_id);
        let path = match self.reserved.get(&type_id) {
            Some(path) if is_first => path.clone(),
            // The type is used both in literal and in encoded messages.
            Some(path) => {
                self.module = path.module;
                self.item(name)
            }
            None => self.item(name),
        };
        self.module = path.module;
        self.paths.insert(key, path.clone());
        (path, outside)
    }

    // ---- diagnostics ----

    fn refuse<T>(&mut self, location: Location, message: String) -> Option<T> {
        self.report(Severity::Warning, location, message);
        None
    }

    fn report(&mut self, severity: Severity, location: Location, message: String) {
        let count = &mut self.reported[severity as usize];
        *count += 1;
        if *count <= self.schema.limits().diagnostics {
            self.diagnostics.push(self.definitions.sources.diagnostic(severity, location, message));
        }
    }

    /// Reports how many diagnostics are not listed.
    fn count_the_rest(&mut self) {
        let limit = self.schema.limits().diagnostics;
        let name = self.definitions.sources.names().next().unwrap_or_default();
        for severity in [Severity::Note, Severity::Warning, Severity::Error] {
            let more = self.reported[severity as usize].saturating_sub(limit);
            if more > 0 {
                self.diagnostics.push(Diagnostic::more(severity, more, limit, name));
            }
        }
    }

    // ---- limits ----

    /// Counts planned fields, variants, attributes, facets or operations. Returns false if the limit is exceeded.
    fn count(&mut self, planned: usize) -> bool {
        self.planned = self.planned.saturating_add(planned);
        let limit = self.schema.limits().generated;
        if self.planned > limit {
            self.stop(format!(
                "more than {limit} fields, variants, attributes, facets and operations would be generated (the limit \
                 `generated`)"
            ));
        }
        !self.is_full
    }

    /// Returns a copy of a text of the contract, and counts its bytes. After the limit is exceeded it copies nothing,
    /// because the plan will be discarded.
    fn copy(&mut self, text: &str) -> String {
        self.copied = self.copied.saturating_add(text.len());
        let limit = self.schema.limits().output;
        if self.copied > limit {
            self.stop(format!(
                "more than {limit} bytes of names, values and documentation would be generated (the limit `output`)"
            ));
        }
        if self.is_full { String::new() } else { text.to_owned() }
    }

    /// Returns the first text that isn't empty.
    fn text(&mut self, texts: &[&Option<String>]) -> Option<String> {
        let said = texts.iter().find_map(|text| text.as_deref().filter(|text| !text.trim().is_empty()));
        said.map(|text| self.copy(text))
    }

    /// Plans a type nested in the current one.
    ///
    /// If the stack is nearly full it switches to a new segment, so depth costs heap, up to a limit. Returns `None`
    /// beyond that limit, and after another limit was exceeded.
    fn deeper<T>(&mut self, plan: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let limit = self.schema.limits().type_depth;
        if self.depth >= limit {
            self.stop(format!("types are nested more than {limit} deep (the limit `type_depth`)"));
        }
        if self.is_full {
            return None;
        }
        self.depth += 1;
        let planned = grown(|| plan(self));
        self.depth -= 1;
        Some(planned)
    }

    /// Reports, once, that a limit was exceeded in the part that is being planned.
    fn stop(&mut self, message: String) {
        if !std::mem::replace(&mut self.is_full, true) {
            let message = format!("the contract is too large: {message}");
            self.diagnostics.push(self.definitions.sources.diagnostic(Severity::Error, self.location, message));
        }
    }
}

/// Returns true if a location is in a document, not in a built-in component.
fn is_of_contract(location: Location) -> bool {
    location.offset.is_some()
}
