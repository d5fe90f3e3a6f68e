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
mod requested;
mod services;
mod simple;
mod sizes;
mod types;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use castile_wsdl::{Definitions, Diagnostic, Severity};
use castile_xsd::components::Owner;
use castile_xsd::{ContractValues, Location, Schema, TypeId};

use crate::names::{Ident, Modules, Names};
use crate::plan::{self, Item, Module, Path, Plan, TypedRoot};
use crate::stack::grown;
use crate::{FaultTypes, Options};
use operations::HeaderBlocks;
pub use operations::is_of_security;
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

impl Planner<'_> {
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
