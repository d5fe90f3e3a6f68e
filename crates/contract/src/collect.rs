//! Collects all types that a contract uses, each once.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use castile_databinding::declared::{
    ComplexDefinition, ContentDefinition, Declaration, DeclaredElement, Definition, ElementDeclaration,
    ParticleDeclaration, Reference, TermDeclaration,
};
use castile_databinding::schema::{TypeName, XSD_NAMESPACE};

use crate::{Body, Contract, Error, Message};

/// The named types of each namespace, by name.
pub(crate) type Types = BTreeMap<&'static str, BTreeMap<&'static str, &'static Declaration>>;

/// Returns all named types of a contract.
pub(crate) fn types(contract: &Contract) -> Result<Types, Error> {
    let mut found = Types::new();
    let mut open: Vec<&'static Declaration> = Vec::new();
    for operation in contract.operations {
        let of_message = |message: &Message, open: &mut Vec<&'static Declaration>| {
            open.push(match message.body {
                Body::Element(part) => (part.of)(),
                Body::Parts(of) => of(),
            });
            open.extend(message.headers.iter().map(|element| (element().of)()));
        };
        of_message(&operation.request, &mut open);
        operation.response.iter().for_each(|response| of_message(response, &mut open));
        open.extend((operation.faults)().into_iter().map(|element| (element.of)()));
    }
    let mut seen = HashSet::new();
    while let Some(declaration) = open.pop() {
        if !seen.insert((declaration.id)()) {
            continue;
        }
        if let Some(name) = declaration.name.filter(|name| name.namespace != XSD_NAMESPACE) {
            let of_namespace = found.entry(name.namespace).or_default();
            let known = of_namespace.entry(name.name).or_insert(declaration);
            if has_values_of(declaration, known) {
                *known = declaration;
            } else if !known.is(declaration) && !has_values_of(known, declaration) {
                if let (Some(one), Some(other)) = (itself(known), itself(declaration))
                    && one.is(other)
                {
                    return Err(Error::new(format!(
                        "two enums have the type {} in the namespace {:?} as `itself`: merge them into one enum with \
                         all variants",
                        name.name, name.namespace
                    )));
                }
                return Err(Error::new(format!(
                    "two types have the name {} in the namespace {:?}: rename one of them",
                    name.name, name.namespace
                )));
            }
        }
        each(declaration, &mut |other| open.push(other));
    }
    found.values().flat_map(BTreeMap::values).try_for_each(|declaration| is_listed(declaration))?;
    Ok(found)
}

/// Checks that the enum of each base type lists this type. In the contract, a type is allowed wherever one of its base types is; an
/// enum only accepts the types that it lists.
fn is_listed(declaration: &Declaration) -> Result<(), Error> {
    let name = |of: &Declaration| of.name.map_or("", |name| name.name);
    let base = |of: &Declaration| complex(of).and_then(|complex| complex.base);
    // This loop ends, because the compiler rejects types that extend each other in a circle.
    for base in std::iter::successors(base(declaration), |of| base(of)) {
        let Some(ComplexDefinition { extended_by, is_open: false, .. }) = complex(base) else { continue };
        if !extended_by.iter().any(|of| name(of()) == name(declaration)) {
            return Err(Error::new(format!(
                "{own} extends {base}, but is not a variant of the enum for {base}: add it, or add a variant with \
                 #[xml(other)]",
                own = name(declaration),
                base = name(base)
            )));
        }
    }
    Ok(())
}

/// Returns whether `extended` is an enum of derived types, and `other` is the type itself in it.
fn has_values_of(extended: &Declaration, other: &Declaration) -> bool {
    itself(extended).is_some_and(|of| of.is(other))
}

/// Returns the type that an enum of derived types has for the base type itself.
fn itself(declaration: &Declaration) -> Option<&'static Declaration> {
    complex(declaration).and_then(|complex| complex.itself)
}

fn complex(declaration: &Declaration) -> Option<&ComplexDefinition> {
    match &declaration.definition {
        Definition::Complex(complex) => Some(complex),
        _ => None,
    }
}

/// An element or attribute that a type uses and another schema declares.
pub(crate) enum OtherSchemaItem {
    Element(DeclaredElement),
    Attribute(TypeName, Reference),
}

impl OtherSchemaItem {
    pub(crate) fn name(&self) -> TypeName {
        match self {
            OtherSchemaItem::Element(element) => element.name,
            OtherSchemaItem::Attribute(name, _) => *name,
        }
    }
}

/// Finds the elements and attributes of other namespaces that a type of `namespace` uses. Includes those of unnamed types inside
/// it.
pub(crate) fn items_of_other_schemas(
    declaration: &'static Declaration,
    namespace: &str,
    found: &mut dyn FnMut(OtherSchemaItem),
) {
    let mut open = vec![(declaration, namespace)];
    let mut seen = HashSet::new();
    while let Some((declaration, namespace)) = open.pop() {
        let Definition::Complex(ComplexDefinition { attributes, content, .. }) = &declaration.definition else {
            continue;
        };
        if !seen.insert((declaration.id)()) {
            continue;
        }
        for attribute in attributes.iter().filter(|attribute| !attribute.namespace.is_empty()) {
            found(OtherSchemaItem::Attribute(TypeName::new(attribute.namespace, attribute.name), attribute.of));
        }
        let (ContentDefinition::Elements(particle) | ContentDefinition::Mixed(particle)) = content else { continue };
        let mut elements = Vec::new();
        each_of_particle(particle, &mut |element| elements.push(element), &mut HashSet::new());
        for ElementDeclaration { namespace: of_element, name, of, is_nillable, .. } in elements {
            let is_elsewhere = !of_element.is_empty() && of_element != namespace;
            if is_elsewhere {
                found(OtherSchemaItem::Element(DeclaredElement {
                    name: TypeName::new(of_element, name),
                    of,
                    is_nillable,
                }));
            }
            if of().name.is_none() {
                open.push((of(), if is_elsewhere { of_element } else { namespace }));
            }
        }
    }
}

/// Calls `found` with each type that a type uses directly.
pub(crate) fn each(declaration: &Declaration, found: &mut dyn FnMut(&'static Declaration)) {
    match &declaration.definition {
        Definition::BuiltIn => {}
        Definition::Restriction { base, .. } => found(base()),
        Definition::List(item) => found(item()),
        Definition::Union(members) => members.iter().for_each(|member| found(member())),
        Definition::Complex(ComplexDefinition { base, extended_by, attributes, content, .. }) => {
            base.iter().for_each(|of| found(of));
            extended_by.iter().for_each(|of| found(of()));
            attributes.iter().for_each(|attribute| found((attribute.of)()));
            match content {
                ContentDefinition::Simple(of, _) => found(of()),
                ContentDefinition::Elements(particle) | ContentDefinition::Mixed(particle) => {
                    each_of_particle(particle, &mut |element| found((element.of)()), &mut HashSet::new());
                }
            }
        }
    }
}

/// `flattened` contains the types whose content was already visited, because a type may contain itself.
fn each_of_particle(
    particle: &ParticleDeclaration,
    found: &mut dyn FnMut(ElementDeclaration),
    flattened: &mut HashSet<TypeId>,
) {
    match &particle.term {
        TermDeclaration::Element(element) => found(*element),
        TermDeclaration::Any(_) => {}
        TermDeclaration::Sequence(particles) | TermDeclaration::Choice(particles) | TermDeclaration::All(particles) => {
            particles.iter().for_each(|particle| each_of_particle(&particle, found, flattened));
        }
        // Visits the content of the flattened type. The type itself is not the type of an element here.
        TermDeclaration::ContentOf(of, _) => {
            let of = of();
            if let Definition::Complex(ComplexDefinition {
                content: ContentDefinition::Elements(particle) | ContentDefinition::Mixed(particle),
                ..
            }) = &of.definition
                && flattened.insert((of.id)())
            {
                each_of_particle(particle, found, flattened);
            }
        }
    }
}
