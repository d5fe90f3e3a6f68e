//! Complex type definitions (§3.4.2).

use castile_xml::tree::Element;

use super::attributes::Attributes;
use super::context::COMPLEX;
use super::{Parser, SymbolSpace};
use crate::components::{
    ComplexType, Content, Derivation, ModelGroup, Owner, Particle, SimpleType, Term, TypeDefinition, TypeId, Variety,
};
use crate::{Builtin, ExpandedName};

/// The content and attributes of a complex type, or of its extension or restriction.
#[derive(Default)]
struct Body {
    particle: Option<Particle>,
    attributes: Attributes,
}

/// Base, derivation, content and attributes, as declared by the children of `<complexType>`.
struct Derived {
    base: TypeId,
    derivation: Derivation,
    content: Content,
    attributes: Attributes,
}

impl Parser<'_> {
    /// Parses `<complexType>`.
    pub(super) fn complex_type(
        &mut self,
        element: Element<'_>,
        name: Option<ExpandedName>,
        owner: Option<Owner>,
        id: TypeId,
    ) -> ComplexType {
        let location = self.location(element);
        let mixed = self.boolean(element, "mixed");
        let children = self.children(element);
        let derived = self.nested(element, |parser| match children.first() {
            Some(&first) if matches!(first.local(), "simpleContent" | "complexContent") => match first.local() {
                "simpleContent" => parser.simple_content(first, id),
                _ => parser.complex_content(first, mixed),
            },
            _ => {
                let Body { particle, attributes } = parser.body(&children);
                let content = explicit_content(particle, mixed);
                Some(Derived {
                    base: Builtin::AnyType.into(),
                    derivation: Derivation::Restriction,
                    content,
                    attributes,
                })
            }
        });
        // A broken type keeps its name, so that references to it resolve.
        let derived = derived.flatten().unwrap_or_else(|| Derived {
            base: Builtin::AnyType.into(),
            derivation: Derivation::Restriction,
            content: Content::Empty,
            attributes: Attributes::default(),
        });
        ComplexType {
            name,
            owner,
            base: derived.base,
            derivation: derived.derivation,
            is_abstract: self.boolean(element, "abstract"),
            final_: self.derivation_set(element, "final", self.defaults.final_, COMPLEX),
            block: self.derivation_set(element, "block", self.defaults.block, COMPLEX),
            content: derived.content,
            attribute_uses: derived.attributes.uses,
            attribute_groups: derived.attributes.groups,
            attribute_wildcard: derived.attributes.wildcard,
            annotation: self.annotation(element),
            location,
        }
    }

    fn complex_content(&mut self, element: Element<'_>, mixed: bool) -> Option<Derived> {
        let mixed = if element.attribute("mixed").is_some() { self.boolean(element, "mixed") } else { mixed };
        let (step, base, derivation) = self.derivation_step(element)?;
        let children = self.children(step);
        let Body { particle, attributes } = self.body(&children);
        Some(Derived { base, derivation, content: explicit_content(particle, mixed), attributes })
    }

    /// Parses simple content. If the base is complex, the type of its value is not known yet, so the content refers to
    /// the base until all documents are read.
    fn simple_content(&mut self, element: Element<'_>, id: TypeId) -> Option<Derived> {
        let (step, base, derivation) = self.derivation_step(element)?;
        let mut attributes = Attributes::default();
        if derivation == Derivation::Extension {
            for child in self.children(step) {
                self.attribute_child(child, &mut attributes);
            }
            return Some(Derived { base, derivation, content: Content::Simple(base), attributes });
        }
        let value = TypeId(self.components.types.reserve());
        let (mut value_base, mut facets) = (None, Vec::new());
        for child in self.children(step) {
            if self.attribute_child(child, &mut attributes) {
                continue;
            }
            match child.local() {
                "simpleType" if value_base.is_none() && facets.is_empty() => {
                    value_base = Some(self.anonymous_type(child, Owner::Type(value)));
                }
                _ => facets.extend(self.facet(child)),
            }
        }
        let simple = SimpleType {
            name: None,
            owner: Some(Owner::Type(id)),
            base: value_base.unwrap_or(base),
            variety: Variety::Atomic,
            facets,
            final_: Default::default(),
            annotation: Default::default(),
            location: self.location(step),
        };
        self.components.types.define(value.0, TypeDefinition::Simple(simple));
        Some(Derived { base, derivation, content: Content::Simple(value), attributes })
    }

    /// Returns the `<extension>` or `<restriction>` in simple or complex content, its base, and the method of
    /// derivation.
    fn derivation_step<'d>(&mut self, element: Element<'d>) -> Option<(Element<'d>, TypeId, Derivation)> {
        let children = self.children(element);
        let Some(&step) = children.first() else {
            self.error(element, format!("<{}> is empty, expected extension or restriction", element.local()));
            return None;
        };
        let derivation = match step.local() {
            "extension" => Derivation::Extension,
            "restriction" => Derivation::Restriction,
            _ => return None,
        };
        if step.attribute("base").is_none() {
            self.error(step, format!("<{}> has no `base`", step.local()));
        }
        let base = self.reference(step, "base", SymbolSpace::Type).map(TypeId)?;
        Some((step, base, derivation))
    }

    /// Parses `(group | all | choice | sequence)?, (attribute | attributeGroup)*, anyAttribute?`.
    fn body(&mut self, children: &[Element<'_>]) -> Body {
        let mut body = Body::default();
        let mut first = true;
        for &child in children {
            match child.local() {
                "sequence" | "choice" | "all" | "group" if first => body.particle = self.particle(child),
                _ if self.attribute_child(child, &mut body.attributes) => {}
                _ => {}
            }
            first = false;
        }
        body
    }
}

/// Returns the {content type} of a complex type with complex content, without the content of its base (§3.4.2).
fn explicit_content(particle: Option<Particle>, mixed: bool) -> Content {
    let particle = particle.filter(|particle| match &particle.term {
        Term::Group(group) => {
            !group.particles.is_empty()
                || group.compositor == crate::components::Compositor::Choice && particle.min_occurs > 0
        }
        _ => true,
    });
    match (particle, mixed) {
        (Some(particle), false) => Content::ElementOnly(particle),
        (Some(particle), true) => Content::Mixed(particle),
        (None, true) => Content::Mixed(Particle::once(Term::Group(ModelGroup::empty()))),
        (None, false) => Content::Empty,
    }
}
