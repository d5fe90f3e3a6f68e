//! Writes a schema: its elements, attributes and types.

use std::cell::Cell;
use std::collections::BTreeSet;

use castile_databinding::declared::{
    AttributeDeclaration, ComplexDefinition, ContentDefinition, Declaration, DeclaredElement, Definition,
    ElementDeclaration, Members, ParticleDeclaration, Reference, TermDeclaration,
};
use castile_databinding::schema::{Namespaces, TypeName, XSD_NAMESPACE};

use crate::Error;
use crate::collect::{self, Types, each};
use crate::lines::{Attributes, Lines};

/// The maximum depth of flattened groups, and of types without a name. It detects those that contain themselves.
const MAX_FLATTENED: usize = 32;

/// The namespace of `xml:lang` (Namespaces in XML 1.0 §3).
pub(crate) const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// The prefixes of the namespaces of a contract.
#[derive(Debug)]
pub(crate) struct Prefixes(pub(crate) Vec<&'static str>);

impl Prefixes {
    /// Returns the prefix of a namespace: `tns` for the first one, then `ns2`, `ns3`.
    pub(crate) fn prefix(&self, namespace: &str) -> Option<String> {
        match self.0.iter().position(|known| *known == namespace)? {
            0 => Some("tns".to_owned()),
            number => Some(format!("ns{}", number + 1)),
        }
    }

    /// Returns a name as it is written in an attribute value.
    pub(crate) fn name(&self, name: TypeName) -> String {
        match name.namespace {
            XSD_NAMESPACE => return format!("xs:{}", name.name),
            XML_NAMESPACE => return format!("xml:{}", name.name),
            _ => {}
        }
        match self.prefix(name.namespace) {
            Some(prefix) => format!("{prefix}:{}", name.name),
            None => name.name.to_owned(),
        }
    }
}

/// The declarations of one schema.
pub(crate) struct Schema<'a> {
    pub(crate) namespace: &'static str,
    pub(crate) elements: &'a [DeclaredElement],
    pub(crate) attributes: &'a [(TypeName, Reference)],
    pub(crate) types: &'a Types,
    pub(crate) prefixes: &'a Prefixes,
    /// The number of unnamed types around the current position.
    pub(crate) unnamed: Cell<usize>,
}

impl Schema<'_> {
    pub(crate) fn write(&self, out: &mut Lines) -> Result<(), Error> {
        let mut attributes: Attributes<'_> = vec![("xmlns:xs", XSD_NAMESPACE.to_owned())];
        if !self.namespace.is_empty() {
            attributes.push(("targetNamespace", self.namespace.to_owned()));
            attributes.push(("elementFormDefault", "qualified".to_owned()));
        }
        out.element("xs:schema", &attributes, |out| {
            for imported in self.imported() {
                match imported {
                    "" => out.empty("xs:import", &[]),
                    namespace => out.empty("xs:import", &[("namespace", namespace.to_owned())]),
                }
            }
            for element in self.elements {
                let attributes = vec![("name", element.name.name.to_owned())];
                self.typed(out, "xs:element", attributes, element.of, element.is_nillable, "")?;
            }
            for (name, of) in self.attributes {
                self.typed(out, "xs:attribute", vec![("name", name.name.to_owned())], *of, false, "")?;
            }
            let types = self.types.get(self.namespace).into_iter().flatten();
            types.into_iter().try_for_each(|(_, declaration)| self.type_(out, declaration))
        })
    }

    /// Returns the namespaces to import.
    fn imported(&self) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        let types = self.types.get(self.namespace).into_iter().flatten().map(|(_, declaration)| *declaration);
        let mut open: Vec<&'static Declaration> = types.collect();
        open.extend(self.elements.iter().map(|element| (element.of)()));
        for declaration in &open {
            collect::items_of_other_schemas(declaration, self.namespace, &mut |other| {
                found.insert(other.name().namespace);
            });
        }
        let named = self.elements.iter().filter_map(|element| (element.of)().name);
        found.extend(named.map(|name| name.namespace));
        let mut seen = std::collections::HashSet::new();
        while let Some(declaration) = open.pop() {
            // Types of other namespaces are declared in their own schemas, which import what they need.
            let is_here = declaration.name.is_none_or(|name| name.namespace == self.namespace);
            if !is_here || !seen.insert((declaration.id)()) {
                continue;
            }
            each(declaration, &mut |inner| {
                found.extend(inner.name.map(|name| name.namespace));
                open.push(inner);
            });
        }
        found.retain(|namespace| *namespace != self.namespace && *namespace != XSD_NAMESPACE);
        found
    }

    /// Writes an element or an attribute with its type, by name or inline.
    fn typed(
        &self,
        out: &mut Lines,
        what: &'static str,
        mut attributes: Attributes<'_>,
        of: Reference,
        is_nillable: bool,
        documentation: &str,
    ) -> Result<(), Error> {
        let declaration = of();
        if let Some(name) = declaration.name {
            attributes.insert(1.min(attributes.len()), ("type", self.prefixes.name(name)));
        }
        if is_nillable {
            attributes.push(("nillable", "true".to_owned()));
        }
        out.element(what, &attributes, |out| {
            documented(out, documentation)?;
            if declaration.name.is_some() {
                return Ok(());
            }
            let around = self.unnamed.get();
            if around == MAX_FLATTENED {
                return Err(Error::new("a type without a name contains itself, so it can't be declared".into()));
            }
            self.unnamed.set(around + 1);
            self.type_(out, declaration)?;
            self.unnamed.set(around);
            Ok(())
        })
    }

    fn type_(&self, out: &mut Lines, declaration: &Declaration) -> Result<(), Error> {
        let mut attributes: Attributes<'_> = Vec::new();
        attributes.extend(declaration.name.map(|name| ("name", name.name.to_owned())));
        match &declaration.definition {
            Definition::BuiltIn => Ok(()),
            Definition::Complex(complex) => {
                if complex.is_abstract {
                    attributes.push(("abstract", "true".to_owned()));
                }
                if let ContentDefinition::Mixed(_) = complex.content {
                    attributes.push(("mixed", "true".to_owned()));
                }
                out.element("xs:complexType", &attributes, |out| {
                    documented(out, declaration.documentation)?;
                    self.complex(out, complex)
                })
            }
            simple => out.element("xs:simpleType", &attributes, |out| {
                documented(out, declaration.documentation)?;
                self.simple(out, simple)
            }),
        }
    }

    fn simple(&self, out: &mut Lines, definition: &Definition) -> Result<(), Error> {
        match definition {
            Definition::Restriction { base, facets } => {
                let base = base();
                let attributes = base.name.map(|name| ("base", self.prefixes.name(name)));
                out.element("xs:restriction", attributes.as_slice(), |out| {
                    if base.name.is_none() {
                        self.type_(out, base)?;
                    }
                    for (facet, value) in *facets {
                        let name = facet_element(facet)?;
                        out.empty(name, &[("value", (*value).to_owned())]);
                    }
                    Ok(())
                })
            }
            Definition::List(item) => {
                let item = item();
                let attributes = item.name.map(|name| ("itemType", self.prefixes.name(name)));
                out.element("xs:list", attributes.as_slice(), |out| match item.name {
                    Some(_) => Ok(()),
                    None => self.type_(out, item),
                })
            }
            Definition::Union(members) => {
                let members: Vec<&Declaration> = members.iter().map(|member| member()).collect();
                let names: Vec<String> =
                    members.iter().filter_map(|member| member.name).map(|name| self.prefixes.name(name)).collect();
                let attributes: Attributes<'_> =
                    if names.is_empty() { Vec::new() } else { vec![("memberTypes", names.join(" "))] };
                out.element("xs:union", &attributes, |out| {
                    let unnamed = members.iter().filter(|member| member.name.is_none());
                    unnamed.into_iter().try_for_each(|member| self.type_(out, member))
                })
            }
            Definition::BuiltIn | Definition::Complex(_) => Ok(()),
        }
    }

    fn complex(&self, out: &mut Lines, complex: &ComplexDefinition) -> Result<(), Error> {
        let own = OwnMembers::of(complex)?;
        let attributes = |out: &mut Lines| {
            for attribute in &own.attributes {
                self.attribute(out, attribute)?;
            }
            if let Some(namespaces) = own.any_attributes {
                out.empty(
                    "xs:anyAttribute",
                    &[("namespace", self.wildcard(namespaces)), ("processContents", "lax".into())],
                );
            }
            Ok(())
        };
        let members = |out: &mut Lines| {
            match &own.particle {
                // Empty content needs no particle.
                None => {}
                Some(ParticleDeclaration { term: TermDeclaration::Sequence(none), .. }) if none.is_empty() => {}
                Some(particle) => self.particle(out, particle, 0)?,
            }
            attributes(out)
        };
        let base = complex.base.and_then(|base| base.name);
        match (&complex.content, base) {
            (ContentDefinition::Simple(of, _), base) => {
                let Some(name) = base.or_else(|| of().name) else {
                    return Err(Error::new(
                        "a text with attributes has a type without a name: wrap it in a separate struct".into(),
                    ));
                };
                out.element("xs:simpleContent", &[], |out| {
                    out.element("xs:extension", &[("base", self.prefixes.name(name))], attributes)
                })
            }
            (_, Some(base)) => out.element("xs:complexContent", &[], |out| {
                out.element("xs:extension", &[("base", self.prefixes.name(base))], members)
            }),
            (_, None) => members(out),
        }
    }

    fn attribute(&self, out: &mut Lines, attribute: &AttributeDeclaration) -> Result<(), Error> {
        let AttributeDeclaration { namespace, name, of, is_required, default, is_fixed, documentation, .. } = attribute;
        let mut attributes: Attributes<'_> = match *namespace {
            "" => vec![("name", (*name).to_owned())],
            namespace => vec![("ref", self.prefixes.name(TypeName::new(namespace, name)))],
        };
        if *is_required {
            attributes.push(("use", "required".to_owned()));
        }
        attributes.extend(default.map(|value| (if *is_fixed { "fixed" } else { "default" }, value.to_owned())));
        match *namespace {
            "" => self.typed(out, "xs:attribute", attributes, *of, false, documentation),
            _ => out.element("xs:attribute", &attributes, |out| documented(out, documentation)),
        }
    }

    fn particle(&self, out: &mut Lines, particle: &ParticleDeclaration, depth: usize) -> Result<(), Error> {
        let mut attributes = occurrence(particle);
        let group = |name, particles: &Members, out: &mut Lines| {
            out.element(name, &attributes, |out| {
                particles.iter().try_for_each(|particle| self.particle(out, &particle, depth))
            })
        };
        match &particle.term {
            TermDeclaration::Element(element) => self.element(out, element, attributes),
            TermDeclaration::Any(namespaces) => {
                attributes.insert(0, ("processContents", "lax".to_owned()));
                attributes.insert(0, ("namespace", self.wildcard(namespaces)));
                out.empty("xs:any", &attributes);
                Ok(())
            }
            TermDeclaration::Sequence(particles) => group("xs:sequence", particles, out),
            TermDeclaration::Choice(particles) => group("xs:choice", particles, out),
            TermDeclaration::All(particles) => group("xs:all", particles, out),
            TermDeclaration::ContentOf(of, _) => {
                let of = of();
                let name = of.name.map_or("a type", |name| name.name);
                if depth == MAX_FLATTENED {
                    return Err(Error::new(format!("{name} is flattened into itself, so its content is infinite")));
                }
                let Definition::Complex(ComplexDefinition {
                    content: ContentDefinition::Elements(content) | ContentDefinition::Mixed(content),
                    ..
                }) = &of.definition
                else {
                    return Err(Error::new(format!("{name} is flattened and has no elements")));
                };
                // The content of a type occurs once. Flattened into a field, it has the occurrence of the field.
                let ParticleDeclaration { min_occurs, max_occurs, .. } = *particle;
                match &content.term {
                    TermDeclaration::Sequence(particles) => {
                        self.flattened("xs:sequence", particles, (min_occurs, max_occurs), out, depth)
                    }
                    TermDeclaration::Choice(particles) => {
                        self.flattened("xs:choice", particles, (min_occurs, max_occurs), out, depth)
                    }
                    TermDeclaration::All(_) => Err(Error::new(format!(
                        "{name} has elements in any order, which can't be flattened into others (cos-all-limited)"
                    ))),
                    _ => self.particle(out, content, depth + 1),
                }
            }
        }
    }

    fn flattened(
        &self,
        name: &'static str,
        particles: &Members,
        (min, max): (u32, Option<u32>),
        out: &mut Lines,
        depth: usize,
    ) -> Result<(), Error> {
        let attributes = bounds(min, max);
        out.element(name, &attributes, |out| {
            particles.iter().try_for_each(|particle| self.particle(out, &particle, depth + 1))
        })
    }

    fn element(&self, out: &mut Lines, element: &ElementDeclaration, occurrence: Attributes<'_>) -> Result<(), Error> {
        let ElementDeclaration { namespace, name, of, is_nillable, default, is_fixed, documentation, .. } = element;
        if !namespace.is_empty() && *namespace != self.namespace {
            let mut attributes: Attributes<'_> = vec![("ref", self.prefixes.name(TypeName::new(namespace, name)))];
            attributes.extend(occurrence);
            return out.element("xs:element", &attributes, |out| documented(out, documentation));
        }
        let mut attributes: Attributes<'_> = vec![("name", (*name).to_owned())];
        attributes.extend(occurrence);
        attributes.extend(default.map(|value| (if *is_fixed { "fixed" } else { "default" }, value.to_owned())));
        if namespace.is_empty() && !self.namespace.is_empty() {
            attributes.push(("form", "unqualified".to_owned()));
        }
        self.typed(out, "xs:element", attributes, *of, *is_nillable, documentation)
    }

    fn wildcard(&self, namespaces: &Namespaces) -> String {
        match namespaces {
            Namespaces::Any => "##any".to_owned(),
            Namespaces::Not(_) => "##other".to_owned(),
            Namespaces::OneOf(list) => {
                let names = list.iter().map(|name| if name.is_empty() { "##local" } else { name });
                names.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// The members of a type that its base type doesn't declare.
struct OwnMembers<'a> {
    attributes: Vec<AttributeDeclaration>,
    any_attributes: Option<&'a Namespaces>,
    particle: Option<ParticleDeclaration>,
}

impl<'a> OwnMembers<'a> {
    fn of(complex: &'a ComplexDefinition) -> Result<Self, Error> {
        let mut own = OwnMembers {
            attributes: complex.attributes.iter().collect(),
            any_attributes: complex.any_attributes.as_ref(),
            particle: match complex.content {
                ContentDefinition::Simple(..) => None,
                ContentDefinition::Elements(particle) | ContentDefinition::Mixed(particle) => Some(particle),
            },
        };
        let Some(Definition::Complex(base)) = complex.base.map(|base| &base.definition) else { return Ok(own) };
        let name = |attribute: &AttributeDeclaration| (attribute.namespace, attribute.name);
        own.attributes.retain(|attribute| base.attributes.iter().all(|inherited| name(&inherited) != name(attribute)));
        own.any_attributes = own.any_attributes.filter(|_| base.any_attributes.is_none());
        // The content of a type begins with the elements of its base type.
        own.particle = match (own.particle.map(|particle| particle.term), &base.content) {
            (Some(TermDeclaration::Sequence(all)), ContentDefinition::Elements(inherited)) => {
                let inherited = match inherited.term {
                    TermDeclaration::Sequence(inherited) => inherited,
                    _ => Members::NONE,
                };
                all.iter().zip(inherited.iter()).try_for_each(|(own, inherited)| is_same_group(&own, &inherited))?;
                let term = TermDeclaration::Sequence(all.skip(inherited.len()));
                own.particle.map(|particle| ParticleDeclaration { term, ..particle })
            }
            (Some(TermDeclaration::All(_)), ContentDefinition::Elements(inherited))
                if matches!(inherited.term, TermDeclaration::All(_)) =>
            {
                None
            }
            _ => own.particle,
        };
        Ok(own)
    }
}

/// Checks that a type and its base type flatten the same type, because the compiler compares only the names.
fn is_same_group(own: &ParticleDeclaration, inherited: &ParticleDeclaration) -> Result<(), Error> {
    match (&own.term, &inherited.term) {
        (TermDeclaration::ContentOf(own, _), TermDeclaration::ContentOf(inherited, _)) if !own().is(inherited()) => {
            let name = own().name.map_or("", |name| name.name);
            Err(Error::new(format!(
                "two types have the name {name}: one is flattened into a type, and the other one into the type that \
                 it extends"
            )))
        }
        _ => Ok(()),
    }
}

fn documented(out: &mut Lines, documentation: &str) -> Result<(), Error> {
    if documentation.is_empty() {
        return Ok(());
    }
    out.element("xs:annotation", &[], |out| {
        out.text("xs:documentation", documentation);
        Ok(())
    })
}

fn occurrence(particle: &ParticleDeclaration) -> Attributes<'static> {
    bounds(particle.min_occurs, particle.max_occurs)
}

fn bounds(min: u32, max: Option<u32>) -> Attributes<'static> {
    let mut attributes = Vec::new();
    if min != 1 {
        attributes.push(("minOccurs", min.to_string()));
    }
    match max {
        Some(1) => {}
        Some(max) => attributes.push(("maxOccurs", max.to_string())),
        None => attributes.push(("maxOccurs", "unbounded".to_owned())),
    }
    attributes
}

/// Returns the name of the element that declares a facet.
fn facet_element(facet: &str) -> Result<&'static str, Error> {
    const FACETS: [(&str, &str); 12] = [
        ("length", "xs:length"),
        ("minLength", "xs:minLength"),
        ("maxLength", "xs:maxLength"),
        ("pattern", "xs:pattern"),
        ("enumeration", "xs:enumeration"),
        ("whiteSpace", "xs:whiteSpace"),
        ("maxInclusive", "xs:maxInclusive"),
        ("maxExclusive", "xs:maxExclusive"),
        ("minInclusive", "xs:minInclusive"),
        ("minExclusive", "xs:minExclusive"),
        ("totalDigits", "xs:totalDigits"),
        ("fractionDigits", "xs:fractionDigits"),
    ];
    let found = FACETS.into_iter().find(|(name, _)| *name == facet);
    found.map(|(_, element)| element).ok_or_else(|| Error::new(format!("there is no facet {facet}")))
}
