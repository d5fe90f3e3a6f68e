//! The service model to a plan: which types are needed, what they are called, how they hold together.

use std::collections::{BTreeSet, HashMap};

use castile_wsdl::{
    BindingFault, BindingMessage, BindingOperation, Definitions, Diagnostic, HTTP_TRANSPORT, PartContent, Pattern,
    Port, Protocol, Severity, Style, Use, Version,
};
use castile_xsd::components::{Compositor, Content, ElementDeclaration, Owner, Particle, Term, TypeDefinition};
use castile_xsd::{Builtin, ElementId, Location, Schema, TypeId};
use proc_macro2::Ident;
use quote::format_ident;

use crate::names::{Names, Scope, ServiceNames};
use crate::plan::{
    Base, Element, FaultVariant, Faults, Field, Message, Operation, Order, Plan, Root, Service, Struct, Value,
};
use crate::tags::Tags;

/// Those of `castile::datatypes` that have a value for nothing said, as numbers and texts have.
const DATATYPES_WITH_DEFAULT: [&str; 10] = [
    "AnyUri",
    "Base64Binary",
    "Decimal",
    "Duration",
    "HexBinary",
    "Integer",
    "NonNegativeInteger",
    "NonPositiveInteger",
    "NormalizedString",
    "Token",
];

/// Plans what the SOAP services of a contract need. What can't be generated is an error among the diagnostics.
pub(crate) fn plan(definitions: &Definitions, diagnostics: &mut Vec<Diagnostic>) -> Plan {
    let mut planner = Planner {
        definitions,
        schema: &definitions.schema,
        diagnostics,
        names: Names::default(),
        idents: HashMap::new(),
        structs: Vec::new(),
        in_progress: Vec::new(),
        namespaces: Vec::new(),
        slots: 0,
    };
    let services = planner.services();
    let Planner { structs, namespaces, .. } = planner;
    finish(structs, services, by_use(namespaces))
}

struct Planner<'a> {
    definitions: &'a Definitions,
    schema: &'a Schema,
    diagnostics: &'a mut Vec<Diagnostic>,
    names: Names,
    idents: HashMap<TypeId, Ident>,
    structs: Vec<Struct>,
    /// The types whose fields are being planned, outermost first: a field of such a type closes a circle.
    in_progress: Vec<TypeId>,
    /// The namespace of every element, as often as there are elements.
    namespaces: Vec<String>,
    slots: u16,
}

impl Planner<'_> {
    // ---- services ----

    fn services(&mut self) -> Vec<Service> {
        let definitions = self.definitions;
        let mut named = Vec::new();
        for service in &definitions.services {
            let speaks = |port: &&Port| {
                matches!(&definitions[port.binding].protocol,
                    Protocol::Soap { version: Version::Soap11, transport, .. } if transport == HTTP_TRANSPORT)
            };
            match service.ports.iter().find(speaks) {
                Some(port) => {
                    let port_type = definitions[definitions[port.binding].port_type].name.local();
                    named.push((service, port, self.names.service(port_type)));
                }
                None => {
                    let message =
                        format!("service {} has no port that speaks SOAP 1.1 over HTTP", service.name.local());
                    self.report(Severity::Warning, service.location, message);
                }
            }
        }
        let is_broken = self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if named.is_empty() && !is_broken {
            let name = definitions.sources.names().next().unwrap_or_default();
            let message = "no service speaks SOAP 1.1 over HTTP, so there is nothing to generate";
            self.diagnostics.push(Diagnostic::of_document(Severity::Error, name, message));
        }
        let mut services: Vec<Service> =
            named.into_iter().map(|(service, port, names)| self.service(service, port, names)).collect();
        let operations = services.iter_mut().flat_map(|service| &mut service.operations);
        for (name, faults) in operations.filter_map(|planned| Some((&planned.name, planned.faults.as_mut()?))) {
            faults.ident = self.names.faults(name);
        }
        services
    }

    fn service(&mut self, service: &castile_wsdl::Service, port: &Port, names: ServiceNames) -> Service {
        let binding = &self.definitions[port.binding];
        let port_type = &self.definitions[binding.port_type];
        if binding.operations.is_empty() {
            let message = format!("binding {} has no operation, so there is nothing to generate", binding.name.local());
            self.report(Severity::Error, binding.location, message);
        }
        let mut methods = Scope::of_methods();
        let operations =
            binding.operations.iter().filter_map(|operation| self.operation(operation, &mut methods)).collect();
        Service {
            name: service.name.local().to_owned(),
            namespace: self.definitions.target_namespace.clone(),
            address: port.address.clone().unwrap_or_default(),
            documentation: text(&[&service.documentation, &self.definitions.documentation]).unwrap_or_default(),
            names,
            port_type_documentation: text(&[&port_type.documentation, &service.documentation])
                .unwrap_or_else(|| format!("The port type `{}`.", port_type.name.local())),
            operations,
        }
    }

    fn operation(&mut self, operation: &BindingOperation, methods: &mut Scope) -> Option<Operation> {
        let (Pattern::RequestResponse, Some(input), Some(output)) =
            (operation.pattern, &operation.input, &operation.output)
        else {
            let message = format!(
                "operation {} does not answer a request with a response, which is all that is generated yet",
                operation.name
            );
            return self.refuse(operation.location, message);
        };
        let literal = operation.style == Style::Document && input.use_ == Use::Literal && output.use_ == Use::Literal;
        if !literal {
            let message =
                format!("operation {} is not document/literal, which is all that is generated yet", operation.name);
            return self.refuse(operation.location, message);
        }
        let request = self.message(operation, input)?;
        let response = self.message(operation, output)?;
        Some(Operation {
            name: operation.name.clone(),
            ident: methods.lower(&operation.name),
            documentation: operation
                .documentation
                .clone()
                .unwrap_or_else(|| format!("The operation `{}`.", operation.name)),
            action: operation.soap_action.clone().unwrap_or_default(),
            request,
            response,
            faults: self.faults(operation),
        })
    }

    fn message(&mut self, operation: &BindingOperation, message: &BindingMessage) -> Option<Message> {
        let Some(element) = message.element() else {
            let message = format!("a message of operation {} has a body that is not one element", operation.name);
            return self.refuse(operation.location, message);
        };
        let ident = self.base(self.schema[element].type_id, element)?;
        Some(Message { ident, root: self.root(element) })
    }

    fn faults(&mut self, operation: &BindingOperation) -> Option<Faults> {
        let mut variants = Scope::default();
        let variants: Vec<FaultVariant> =
            operation.faults.iter().filter_map(|fault| self.fault(operation, fault, &mut variants)).collect();
        if variants.is_empty() {
            return None;
        }
        // It is named when all types are: a type of the contract may have the name.
        Some(Faults { ident: format_ident!("Unnamed"), variants })
    }

    fn fault(
        &mut self,
        operation: &BindingOperation,
        fault: &BindingFault,
        variants: &mut Scope,
    ) -> Option<FaultVariant> {
        let Some(PartContent::Element(element)) = fault.part.as_ref().map(|part| part.content) else {
            let message = format!("the fault {} of operation {} is not one element", fault.name, operation.name);
            return self.refuse(operation.location, message);
        };
        Some(FaultVariant {
            ident: variants.variant(&fault.name),
            documentation: fault.documentation.clone().unwrap_or_else(|| format!("The fault `{}`.", fault.name)),
            base: self.base(self.schema[element].type_id, element)?,
            root: self.root(element),
        })
    }

    /// The element of a payload; its tags come when all namespaces are known.
    fn root(&mut self, element: ElementId) -> Root {
        let element = self.element(&self.schema[element], 1, Some(1));
        Root { element, start: String::new(), end: String::new() }
    }

    // ---- types ----

    /// The Rust type for values of a type, planned if that was not done before. `element` is where it is needed.
    fn base(&mut self, type_id: TypeId, element: ElementId) -> Option<Base> {
        if let Some(ident) = self.idents.get(&type_id) {
            return Some(Base::Struct(ident.clone()));
        }
        match &self.schema[type_id] {
            TypeDefinition::Simple(_) => self.simple(type_id, element),
            TypeDefinition::Complex(complex) => {
                let name = match (&complex.name, complex.owner) {
                    (Some(name), _) => name.local(),
                    (None, Some(Owner::Element(owner))) => self.schema[owner].name.local(),
                    (None, _) => self.schema[element].name.local(),
                };
                let ident = self.names.item(name);
                self.idents.insert(type_id, ident.clone());
                self.in_progress.push(type_id);
                let planned = self.structure(type_id, &ident);
                self.in_progress.pop();
                self.structs.push(planned?);
                Some(Base::Struct(ident))
            }
        }
    }

    fn simple(&mut self, type_id: TypeId, element: ElementId) -> Option<Base> {
        let builtin = self.schema.builtin(type_id);
        let location = self.schema[element].location;
        let base = match builtin {
            Builtin::String => Base::Primitive("String"),
            Builtin::Boolean => Base::Primitive("bool"),
            Builtin::Float => Base::Primitive("f32"),
            Builtin::Double => Base::Primitive("f64"),
            Builtin::Byte => Base::Primitive("i8"),
            Builtin::Short => Base::Primitive("i16"),
            Builtin::Int => Base::Primitive("i32"),
            Builtin::Long => Base::Primitive("i64"),
            Builtin::UnsignedByte => Base::Primitive("u8"),
            Builtin::UnsignedShort => Base::Primitive("u16"),
            Builtin::UnsignedInt => Base::Primitive("u32"),
            Builtin::UnsignedLong => Base::Primitive("u64"),
            Builtin::Decimal => Base::Datatype("Decimal"),
            Builtin::Integer => Base::Datatype("Integer"),
            Builtin::NonNegativeInteger => Base::Datatype("NonNegativeInteger"),
            Builtin::PositiveInteger => Base::Datatype("PositiveInteger"),
            Builtin::NonPositiveInteger => Base::Datatype("NonPositiveInteger"),
            Builtin::NegativeInteger => Base::Datatype("NegativeInteger"),
            Builtin::Duration => Base::Datatype("Duration"),
            Builtin::DateTime => Base::Datatype("DateTime"),
            Builtin::Time => Base::Datatype("Time"),
            Builtin::Date => Base::Datatype("Date"),
            Builtin::GYearMonth => Base::Datatype("GYearMonth"),
            Builtin::GYear => Base::Datatype("GYear"),
            Builtin::GMonthDay => Base::Datatype("GMonthDay"),
            Builtin::GDay => Base::Datatype("GDay"),
            Builtin::GMonth => Base::Datatype("GMonth"),
            Builtin::HexBinary => Base::Datatype("HexBinary"),
            Builtin::Base64Binary => Base::Datatype("Base64Binary"),
            Builtin::QName => Base::Datatype("QName"),
            Builtin::Notation => Base::Datatype("Notation"),
            Builtin::NormalizedString => Base::Datatype("NormalizedString"),
            Builtin::Token => Base::Datatype("Token"),
            Builtin::AnyUri => Base::Datatype("AnyUri"),
            Builtin::Language => Base::Datatype("Language"),
            Builtin::Nmtoken => Base::Datatype("Nmtoken"),
            Builtin::Nmtokens => Base::Datatype("Nmtokens"),
            Builtin::Name => Base::Datatype("Name"),
            Builtin::NcName => Base::Datatype("NcName"),
            Builtin::Id => Base::Datatype("Id"),
            Builtin::Idref => Base::Datatype("Idref"),
            Builtin::Idrefs => Base::Datatype("Idrefs"),
            Builtin::Entity => Base::Datatype("Entity"),
            Builtin::Entities => Base::Datatype("Entities"),
            other => return self.refuse(location, format!("the type xs:{} is not generated yet", other.name())),
        };
        if !self.schema.facets(type_id).is_empty() && type_id.builtin().is_none() {
            let message = "the facets of this type are not checked yet".to_owned();
            self.report(Severity::Warning, self.schema[type_id].location(), message);
        }
        Some(base)
    }

    fn structure(&mut self, type_id: TypeId, ident: &Ident) -> Option<Struct> {
        let definition = &self.schema[type_id];
        let location = definition.location();
        if !self.schema.attribute_uses(type_id).is_empty() || self.schema.attribute_wildcard(type_id).is_some() {
            return self.refuse(location, "attributes are not generated yet".to_owned());
        }
        let (order, particles) = match self.schema.content(type_id) {
            Content::Empty => (Order::Sequence, Vec::new()),
            Content::ElementOnly(Particle { min_occurs: 1, max_occurs: Some(1), term: Term::Group(group) }) => {
                match group.compositor {
                    Compositor::Sequence => (Order::Sequence, group.particles),
                    Compositor::All => (Order::All, group.particles),
                    Compositor::Choice => return self.refuse(location, "xs:choice is not generated yet".to_owned()),
                }
            }
            Content::ElementOnly(_) => {
                return self.refuse(location, "a group that repeats is not generated yet".to_owned());
            }
            Content::Simple(_) => return self.refuse(location, "simple content is not generated yet".to_owned()),
            Content::Mixed(_) => return self.refuse(location, "mixed content is not generated yet".to_owned()),
        };
        let mut names = Scope::default();
        let mut fields = Vec::new();
        for particle in &particles {
            fields.push(self.field(particle, location, &mut names)?);
        }
        if let Some(message) = ambiguity(order, &fields) {
            return self.refuse(location, message);
        }
        let documentation = definition.annotation().documentation.clone();
        let owner = match definition.owner() {
            Some(Owner::Element(owner)) => self.schema[owner].annotation.documentation.clone(),
            _ => None,
        };
        let kind = if definition.name().is_some() { "type" } else { "element" };
        let name = definition.name().map_or_else(|| ident.to_string(), |name| name.local().to_owned());
        Some(Struct {
            ident: ident.clone(),
            table: self.names.table(&ident.to_string()),
            documentation: text(&[&documentation, &owner]).unwrap_or_else(|| format!("The {kind} `{name}`.")),
            order,
            has_default: false,
            fields,
        })
    }

    fn field(&mut self, particle: &Particle, location: Location, names: &mut Scope) -> Option<Field> {
        let id = match &particle.term {
            Term::Element(id) => *id,
            Term::Wildcard(_) => return self.refuse(location, "xs:any is not generated yet".to_owned()),
            Term::Group(_) | Term::GroupReference(_) => {
                return self.refuse(location, "a group inside a group is not generated yet".to_owned());
            }
        };
        let declaration = &self.schema[id];
        if declaration.value_constraint.is_some() {
            let message = "the default or fixed value of this element is not applied yet".to_owned();
            self.report(Severity::Warning, declaration.location, message);
        }
        let recursive = self.in_progress.contains(&declaration.type_id);
        let base = self.base(declaration.type_id, id)?;
        let documentation = declaration.annotation.documentation.clone();
        Some(Field {
            ident: names.lower(declaration.name.local()),
            documentation: documentation.unwrap_or_else(|| format!("The element `{}`.", declaration.name.local())),
            element: self.element(declaration, particle.min_occurs, particle.max_occurs),
            value: Value { base, nillable: declaration.nillable, recursive },
            tag: String::new(),
        })
    }

    fn element(&mut self, declaration: &ElementDeclaration, min_occurs: u32, max_occurs: Option<u32>) -> Element {
        let namespace = declaration.name.namespace().to_owned();
        self.namespaces.push(namespace.clone());
        let slot = self.slots;
        self.slots = self.slots.wrapping_add(1);
        Element { namespace, name: declaration.name.local().to_owned(), min_occurs, max_occurs, slot }
    }

    // ---- diagnostics ----

    fn refuse<T>(&mut self, location: Location, message: String) -> Option<T> {
        self.report(Severity::Error, location, message);
        None
    }

    fn report(&mut self, severity: Severity, location: Location, message: String) {
        self.diagnostics.push(self.definitions.sources.diagnostic(severity, location, message));
    }
}

/// The first text that is there.
fn text(texts: &[&Option<String>]) -> Option<String> {
    texts.iter().find_map(|text| text.as_deref().filter(|text| !text.trim().is_empty())).map(str::to_owned)
}

/// Why fields can't be read by the name of the next element alone: unique particle attribution (XSD Part 1 §3.8.6), and
/// what that allows and a reader that doesn't count would take for the element before.
fn ambiguity(order: Order, fields: &[Field]) -> Option<String> {
    let count = |field: &Field| (field.element.min_occurs, field.element.max_occurs);
    for (index, field) in fields.iter().enumerate() {
        // What is there exactly once is over when it was read. In xs:all it may be either of two.
        if order == Order::Sequence && count(field) == (1, Some(1)) {
            continue;
        }
        let Element { namespace, name, min_occurs, max_occurs, .. } = &field.element;
        for next in &fields[index + 1..] {
            if next.element.name == *name && next.element.namespace == *namespace {
                let is_certain = Some(*min_occurs) == *max_occurs && order == Order::Sequence;
                return Some(if is_certain || next.element.max_occurs == Some(0) {
                    format!("a fixed number of <{name}> with another <{name}> after it is not generated yet")
                } else {
                    format!(
                        "<{name}> may be followed by another <{name}>, which can't be told apart: XSD Part 1 §3.8.6"
                    )
                });
            }
            if order == Order::Sequence && next.element.min_occurs > 0 {
                break;
            }
        }
    }
    None
}

/// Namespaces by how many elements they have, most first; in the order of the contract where that is equal.
fn by_use(namespaces: Vec<String>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for namespace in namespaces {
        match counted.iter_mut().find(|(known, _)| *known == namespace) {
            Some((_, count)) => *count += 1,
            None => counted.push((namespace, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(namespace, _)| namespace).collect()
}

/// Decides what depends on the whole: tags, and which types have defaults.
fn finish(mut structs: Vec<Struct>, mut services: Vec<Service>, namespaces: Vec<String>) -> Plan {
    let tags = Tags::new(namespaces.clone());
    for field in structs.iter_mut().flat_map(|planned| &mut planned.fields) {
        field.tag = tags.name(&field.element.namespace, &field.element.name);
    }
    for operation in services.iter_mut().flat_map(|service| &mut service.operations) {
        let faults = operation.faults.iter_mut().flat_map(|faults| &mut faults.variants);
        let faults = faults.map(|fault| (&mut fault.root, &fault.base));
        let messages = [&mut operation.request, &mut operation.response];
        for (root, base) in messages.into_iter().map(|message| (&mut message.root, &message.ident)).chain(faults) {
            let Element { namespace, name, .. } = &root.element;
            let mut namespaces = BTreeSet::from([namespace.clone()]);
            below(base, &structs, &mut BTreeSet::new(), &mut namespaces);
            root.start = tags.root(namespace, name, &namespaces);
            root.end = format!("</{}>", tags.name(namespace, name));
        }
    }
    // A type has a default if those of its required fields have; circles run through fields that are not required.
    loop {
        let defaults: Vec<Ident> =
            structs.iter().filter(|planned| planned.has_default).map(|planned| planned.ident.clone()).collect();
        let has_default = |field: &Field| match &field.value.base {
            _ if field.value.nillable || field.element.min_occurs == 0 || field.element.max_occurs != Some(1) => true,
            Base::Primitive(_) => true,
            Base::Datatype(name) => DATATYPES_WITH_DEFAULT.contains(name),
            Base::Struct(ident) => defaults.contains(ident),
        };
        let mut changed = false;
        for planned in structs.iter_mut().filter(|planned| !planned.has_default) {
            planned.has_default = planned.fields.iter().all(has_default);
            changed |= planned.has_default;
        }
        if !changed {
            return Plan { namespaces, structs, services };
        }
    }
}

/// Adds the namespaces of all elements inside values of a type.
fn below(base: &Base, structs: &[Struct], seen: &mut BTreeSet<String>, namespaces: &mut BTreeSet<String>) {
    let Base::Struct(ident) = base else { return };
    if !seen.insert(ident.to_string()) {
        return;
    }
    let fields = structs.iter().filter(|planned| planned.ident == *ident).flat_map(|planned| &planned.fields);
    for field in fields {
        namespaces.insert(field.element.namespace.clone());
        below(&field.value.base, structs, seen, namespaces);
    }
}
