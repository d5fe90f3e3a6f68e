//! Converts the models of WSDL and XML Schema to the form that `describe` shows.

use std::cell::Cell;

use castile_wsdl::{
    BindingMessage, BindingOperation, Definitions, Diagnostic, Extension, Header, LeftOut, Operation, OperationMessage,
    Part, PartContent, Pattern, Protocol, Severity, Style, Use, Version,
};
use castile_xsd::components::{
    AttributeUse, Compositor, Content, Derivation, FacetKind, IdentityConstraintCategory, NamespaceConstraint,
    Particle, ProcessContents, Scope, Term, TypeDefinition, Use as AttributeUseKind, ValueConstraint, Variety,
    Wildcard,
};
use castile_xsd::{AttributeId, ElementId, ExpandedName, Schema, TypeId};

use super::contract as to;
use crate::contracts::source;

/// The maximum number of particles, attributes, values and substitutes in a description. Groups that refer to one another could expand to
/// any number of them. A text counts as one per 64 bytes.
const MAX_PARTICLES: usize = 500_000;

/// Converts the contract of a WSDL.
///
/// # Errors
/// The contract is too large.
pub(super) fn of_definitions(
    file: &str,
    definitions: &Definitions,
    diagnostics: &[Diagnostic],
) -> anyhow::Result<to::Contract> {
    let build = Build::new(&definitions.schema);
    let message_name = |id: castile_wsdl::MessageId| build.name(&definitions[id].name);
    let mut bindings = Vec::new();
    for binding in &definitions.bindings {
        let operations = binding.operations.iter().zip(binding.labels());
        bindings.push(to::Binding {
            name: build.name(&binding.name),
            port_type: build.name(&definitions[binding.port_type].name),
            protocol: protocol(&binding.protocol),
            documentation: build.documentation(binding.documentation.as_ref()),
            operations: operations
                .map(|(operation, label)| build.binding_operation(operation, label, &message_name))
                .collect(),
            left_out: left_out(&binding.left_out, definitions),
            extensions: build.extensions(&binding.extensions),
        });
        build.check(file)?;
    }
    let mut port_types = Vec::new();
    for port_type in &definitions.port_types {
        port_types.push(to::PortType {
            name: build.name(&port_type.name),
            documentation: build.documentation(port_type.documentation.as_ref()),
            operations: port_type.operations.iter().map(|one| build.operation(one, &message_name)).collect(),
            extensions: build.extensions(&port_type.extensions),
        });
        build.check(file)?;
    }
    let mut messages = Vec::new();
    for message in &definitions.messages {
        messages.push(to::Message {
            name: build.name(&message.name),
            parts: message.parts.iter().map(|part| build.part(part)).collect(),
            defect: message.defect.as_ref().map(|defect| to::Defect {
                reason: defect.message.to_string(),
                place: definitions.sources.describe(defect.location),
            }),
            documentation: build.documentation(message.documentation.as_ref()),
        });
        build.check(file)?;
    }
    let mut services = Vec::new();
    for service in &definitions.services {
        services.push(build.service(service, definitions));
        build.check(file)?;
    }
    Ok(to::Contract {
        name: definitions.name.clone(),
        target_namespace: definitions.target_namespace.clone(),
        prefixes: source::prefixes(definitions).into_iter().collect(),
        documentation: definitions.documentation.clone(),
        services,
        bindings,
        port_types,
        messages,
        extensions: build.extensions(&definitions.extensions),
        left_out: left_out(&definitions.left_out, definitions),
        ..of_schema(file, &definitions.schema, diagnostics)?
    })
}

/// Converts a contract that is only a schema.
///
/// # Errors
/// The contract is too large.
pub(super) fn of_schema(file: &str, schema: &Schema, diagnostics: &[Diagnostic]) -> anyhow::Result<to::Contract> {
    let build = Build::new(schema);
    let mut types = Vec::new();
    for (id, _) in schema.types().filter(|(id, _)| id.builtin().is_none()) {
        types.push(build.type_of(id));
        build.check(file)?;
    }
    let mut elements = Vec::new();
    for id in schema.global_elements() {
        elements.push(build.element(id));
        build.check(file)?;
    }
    Ok(to::Contract {
        format: to::FORMAT,
        file: file.to_owned(),
        elements,
        types,
        problems: diagnostics.iter().map(problem).collect(),
        ..to::Contract::default()
    })
}

type MessageName<'n> = dyn Fn(castile_wsdl::MessageId) -> String + 'n;

struct Build<'d> {
    schema: &'d Schema,
    /// The number of particles so far.
    particles: Cell<usize>,
}

impl<'d> Build<'d> {
    fn new(schema: &'d Schema) -> Self {
        Self { schema, particles: Cell::new(0) }
    }

    fn count(&self, more: usize) {
        self.particles.set(self.particles.get() + more);
    }

    fn check(&self, file: &str) -> anyhow::Result<()> {
        if self.particles.get() > MAX_PARTICLES {
            anyhow::bail!("{file} has more than {MAX_PARTICLES} elements; each use of a group counts");
        }
        Ok(())
    }
}

/// Operations and their messages.
impl Build<'_> {
    fn binding_operation(
        &self,
        operation: &BindingOperation,
        label: String,
        names: &MessageName<'_>,
    ) -> to::BindingOperation {
        to::BindingOperation {
            name: operation.name.clone(),
            label: Some(label).filter(|label| *label != operation.name),
            number: operation.operation,
            pattern: pattern(operation.pattern),
            style: match operation.style {
                Style::Document => "document",
                Style::Rpc => "rpc",
            },
            wrapped: operation.wrapped.is_some(),
            soap_action: operation.soap_action.clone().map(|action| self.counted(action)),
            documentation: self.documentation(operation.documentation.as_ref()),
            input: operation.input.as_ref().map(|message| self.binding_message(message, names)),
            output: operation.output.as_ref().map(|message| self.binding_message(message, names)),
            faults: operation
                .faults
                .iter()
                .map(|fault| to::Fault {
                    name: fault.name.clone(),
                    message: names(fault.message),
                    use_: use_name(fault.use_),
                    part: fault.part.as_ref().map(|part| self.part(part)),
                    documentation: self.documentation(fault.documentation.as_ref()),
                })
                .collect(),
            extensions: self.extensions(&operation.extensions),
        }
    }

    fn binding_message(&self, message: &BindingMessage, names: &MessageName<'_>) -> to::BindingMessage {
        to::BindingMessage {
            message: names(message.message),
            use_: use_name(message.use_),
            namespace: message.namespace.clone().map(|namespace| self.counted(namespace)),
            body: message.body.iter().map(|part| self.part(part)).collect(),
            headers: message.headers.iter().map(|header| self.header(header, names)).collect(),
            attachments: message
                .attachments
                .iter()
                .map(|attachment| to::Attachment {
                    part: attachment.part.clone(),
                    media_types: attachment.media_types.clone(),
                })
                .collect(),
            extensions: self.extensions(&message.extensions),
        }
    }

    fn header(&self, header: &Header, names: &MessageName<'_>) -> to::Header {
        to::Header {
            message: names(header.message),
            use_: use_name(header.use_),
            part: self.part(&header.part),
            faults: header.faults.iter().map(|fault| self.header(fault, names)).collect(),
        }
    }

    fn service(&self, service: &castile_wsdl::Service, definitions: &Definitions) -> to::Service {
        let ports = service.ports.iter().map(|port| to::Port {
            name: port.name.clone(),
            binding: self.name(&definitions[port.binding].name),
            address: port.address.clone(),
            documentation: self.documentation(port.documentation.as_ref()),
            extensions: self.extensions(&port.extensions),
        });
        to::Service {
            name: self.name(&service.name),
            documentation: self.documentation(service.documentation.as_ref()),
            ports: ports.collect(),
            extensions: self.extensions(&service.extensions),
        }
    }

    fn operation(&self, operation: &Operation, names: &MessageName<'_>) -> to::Operation {
        let message = |message: &OperationMessage| to::OperationMessage {
            name: self.counted(message.name.clone()),
            message: names(message.message),
        };
        to::Operation {
            name: self.counted(operation.name.clone()),
            pattern: pattern(operation.pattern),
            documentation: self.documentation(operation.documentation.as_ref()),
            input: operation.input.as_ref().map(message),
            output: operation.output.as_ref().map(message),
            faults: operation.faults.iter().map(message).collect(),
            extensions: self.extensions(&operation.extensions),
        }
    }

    fn extensions(&self, extensions: &[Extension]) -> Vec<to::Extension> {
        let extension = |extension: &Extension| to::Extension {
            name: self.name(&extension.name),
            required: extension.required,
            source: self.counted(extension.source.clone()),
        };
        extensions.iter().map(extension).collect()
    }

    fn part(&self, part: &Part) -> to::Part {
        let content = match part.content {
            PartContent::Element(element) => to::PartContent::Element(self.name(&self.schema[element].name)),
            PartContent::Type(type_id) => to::PartContent::Type(self.type_name(type_id)),
        };
        self.count(1);
        to::Part { name: self.counted(part.name.clone()), content }
    }
}

/// Elements and types.
impl Build<'_> {
    fn type_name(&self, id: TypeId) -> String {
        match self.schema[id].name() {
            Some(name) => self.name(name),
            None => format!("#{}", id.index()),
        }
    }

    /// Returns the text after adding its size to the count.
    fn counted(&self, text: String) -> String {
        self.count(text.len() / 64);
        text
    }

    fn name(&self, name: &ExpandedName) -> String {
        self.counted(name.to_string())
    }

    fn value(&self, constraint: Option<&ValueConstraint>) -> to::Value {
        match constraint {
            None => to::Value::default(),
            Some(ValueConstraint::Default(value)) => {
                to::Value { default: Some(self.counted(value.clone())), fixed: None }
            }
            Some(ValueConstraint::Fixed(value)) => {
                to::Value { default: None, fixed: Some(self.counted(value.clone())) }
            }
        }
    }

    fn documentation(&self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.counted(text.clone()))
    }

    fn element(&self, id: ElementId) -> to::Element {
        let element = &self.schema[id];
        let constraints = element.identity_constraints.iter().map(|constraint| {
            let (category, refer) = match &constraint.category {
                IdentityConstraintCategory::Key => ("key", None),
                IdentityConstraintCategory::Keyref { refer } => ("keyref", Some(self.name(refer))),
                IdentityConstraintCategory::Unique => ("unique", None),
            };
            let (name, selector) = (self.name(&constraint.name), self.counted(constraint.selector.text.clone()));
            let fields = constraint.fields.iter().map(|field| self.counted(field.text.clone())).collect();
            to::IdentityConstraint { name, category, selector, fields, refer }
        });
        let substitutes = self.schema.substitutes(id);
        self.count(substitutes.len());
        to::Element {
            name: self.name(&element.name),
            type_id: self.type_name(element.type_id),
            nillable: element.nillable,
            is_abstract: element.is_abstract,
            value: self.value(element.value_constraint.as_ref()),
            substitutes: substitutes.into_iter().map(|id| self.name(&self.schema[id].name)).collect(),
            identity_constraints: constraints.collect(),
            documentation: self.documentation(element.annotation.documentation.as_ref()),
        }
    }

    fn type_of(&self, id: TypeId) -> to::Type {
        let definition = &self.schema[id];
        let kind = match definition {
            TypeDefinition::Simple(simple) => to::Kind::Simple(self.simple(id, &simple.variety)),
            TypeDefinition::Complex(complex) => {
                let content = self.schema.content(id);
                let own = to::Complex {
                    derivation: match complex.derivation {
                        Derivation::Extension => "extension",
                        Derivation::Restriction => "restriction",
                    },
                    is_abstract: complex.is_abstract,
                    mixed: matches!(content, Content::Mixed(_)),
                    value: match content {
                        Content::Simple(simple) => Some(self.type_name(simple)),
                        _ => None,
                    },
                    content: content.particle().map(|particle| self.particle(particle)),
                    attributes: self.schema.attribute_uses(id).iter().map(|one| self.attribute(one)).collect(),
                    any_attribute: self.schema.attribute_wildcard(id).as_ref().map(|any| self.wildcard(any)),
                };
                to::Kind::Complex(own)
            }
        };
        to::Type {
            id: self.type_name(id),
            base: self.type_name(definition.base()),
            kind,
            derived: self.names_of(self.schema.derived_types(id)),
            documentation: self.documentation(definition.annotation().documentation.as_ref()),
        }
    }

    fn names_of(&self, types: &[TypeId]) -> Vec<String> {
        self.count(types.len());
        types.iter().map(|&one| self.type_name(one)).collect()
    }

    fn simple(&self, id: TypeId, variety: &Variety) -> to::Simple {
        let facets = self.schema.facets(id);
        self.count(facets.len());
        let of_other_lists = [FacetKind::Pattern, FacetKind::Enumeration];
        to::Simple {
            variety: match variety {
                Variety::Atomic => to::Variety::Atomic { builtin: self.schema.builtin(id).name() },
                Variety::List { item } => to::Variety::List { item: self.type_name(*item) },
                Variety::Union { members } => to::Variety::Union { members: self.names_of(members) },
            },
            facets: facets
                .iter()
                .filter(|facet| !of_other_lists.contains(&facet.kind))
                .map(|facet| to::Facet { facet: facet.kind.name(), value: self.counted(facet.value.clone()) })
                .collect(),
            patterns: self
                .schema
                .patterns(id)
                .into_iter()
                .map(|step| step.into_iter().map(|pattern| self.counted(pattern.to_owned())).collect())
                .collect(),
            enumeration: facets
                .iter()
                .filter(|facet| facet.kind == FacetKind::Enumeration)
                .map(|facet| to::Enumerated {
                    value: self.counted(facet.value.clone()),
                    documentation: self.documentation(facet.annotation.documentation.as_ref()),
                })
                .collect(),
        }
    }

    fn particle(&self, particle: &Particle) -> to::Particle {
        self.count(1);
        let term = match &particle.term {
            Term::Element(id) if self.schema[*id].scope == Scope::Global => {
                to::Term::Reference(self.name(&self.schema[*id].name))
            }
            Term::Element(id) => to::Term::Element(Box::new(self.element(*id))),
            Term::Wildcard(any) => to::Term::Any(self.wildcard(any)),
            Term::Group(group) => self.group(group),
            Term::GroupReference(id) => self.group(&self.schema[*id].group),
        };
        to::Particle { min: particle.min_occurs, max: particle.max_occurs, term }
    }

    fn wildcard(&self, wildcard: &Wildcard) -> to::Wildcard {
        let listed = |namespace: &std::sync::Arc<str>| match &**namespace {
            "" => "##local".to_owned(),
            namespace => namespace.to_owned(),
        };
        to::Wildcard {
            namespaces: self.counted(match &wildcard.namespaces {
                NamespaceConstraint::Any => "##any".to_owned(),
                NamespaceConstraint::Not(target) => format!("##other {}", listed(target)),
                NamespaceConstraint::OneOf(list) => list.iter().map(listed).collect::<Vec<_>>().join(" "),
            }),
            process_contents: match wildcard.process_contents {
                ProcessContents::Strict => "strict",
                ProcessContents::Lax => "lax",
                ProcessContents::Skip => "skip",
            },
        }
    }

    fn group(&self, group: &castile_xsd::components::ModelGroup) -> to::Term {
        let particles = group.particles.iter().map(|particle| self.particle(particle)).collect();
        match group.compositor {
            Compositor::Sequence => to::Term::Sequence(particles),
            Compositor::Choice => to::Term::Choice(particles),
            Compositor::All => to::Term::All(particles),
        }
    }

    fn attribute(&self, attribute_use: &AttributeUse) -> to::Attribute {
        self.count(2);
        let id: AttributeId = attribute_use.attribute;
        let declaration = &self.schema[id];
        let constraint = attribute_use.value_constraint.as_ref().or(declaration.value_constraint.as_ref());
        let documentation = &attribute_use.annotation.documentation;
        to::Attribute {
            name: self.name(&declaration.name),
            type_id: self.type_name(declaration.type_id),
            required: attribute_use.use_ == AttributeUseKind::Required,
            value: self.value(constraint),
            array_type: attribute_use.array_type.as_ref().map(|array| format!("{}{}", array.item, array.dimensions)),
            documentation: self.documentation(documentation.as_ref().or(declaration.annotation.documentation.as_ref())),
        }
    }
}

fn left_out(list: &[LeftOut], definitions: &Definitions) -> Vec<to::LeftOut> {
    let described = |LeftOut { name, defect }: &LeftOut| to::LeftOut {
        name: name.clone(),
        reason: defect.message.to_string(),
        place: definitions.sources.describe(defect.location),
    };
    list.iter().map(described).collect()
}

fn protocol(protocol: &Protocol) -> to::Protocol {
    match protocol {
        Protocol::Soap { version: Version::Soap11, transport, .. } => {
            to::Protocol::Soap11 { transport: transport.clone() }
        }
        Protocol::Soap { version: Version::Soap12, transport, .. } => {
            to::Protocol::Soap12 { transport: transport.clone() }
        }
        Protocol::Http { verb } => to::Protocol::Http { verb: verb.clone() },
        Protocol::Other(namespace) => to::Protocol::Other { protocol_namespace: namespace.clone() },
    }
}

fn pattern(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::OneWay => "one-way",
        Pattern::RequestResponse => "request-response",
        Pattern::SolicitResponse => "solicit-response",
        Pattern::Notification => "notification",
    }
}

fn use_name(use_: Use) -> &'static str {
    match use_ {
        Use::Literal => "literal",
        Use::Encoded => "encoded",
    }
}

fn problem(diagnostic: &Diagnostic) -> to::Problem {
    to::Problem {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        rule: diagnostic.rule,
        file: diagnostic.file.to_string(),
        line: diagnostic.line,
        column: diagnostic.column,
        message: diagnostic.message.clone(),
        note: diagnostic.note.clone(),
    }
}
