//! Particles, model groups and wildcards (§3.8.2, §3.9.2, §3.10.2).

use std::collections::HashSet;
use std::sync::Arc;

use castile_datatypes::quoted;
use castile_xml::tree::Element;

use super::{Parser, SymbolSpace};
use crate::components::{
    Compositor, ElementId, ModelGroup, NamespaceConstraint, Particle, ProcessContents, Scope, Term, Wildcard,
};
use crate::{ExpandedName, structure};

impl Parser<'_> {
    /// Parses a particle: an element, a group, a reference to a group, or a wildcard.
    pub(super) fn particle(&mut self, element: Element<'_>) -> Option<Particle> {
        let term = match element.local() {
            "element" => Term::Element(self.element_particle(element)?),
            "sequence" | "choice" | "all" => Term::Group(self.model_group(element)?),
            "group" => Term::GroupReference(self.group_reference(element)?),
            "any" => Term::Wildcard(self.wildcard(element)),
            _ => return None,
        };
        let (min_occurs, max_occurs) = self.occurs(element);
        if max_occurs == Some(0) {
            return None;
        }
        Some(Particle { min_occurs, max_occurs, term })
    }

    /// Parses `<sequence>`, `<choice>` or `<all>`.
    pub(super) fn model_group(&mut self, element: Element<'_>) -> Option<ModelGroup> {
        let compositor = match element.local() {
            "sequence" => Compositor::Sequence,
            "choice" => Compositor::Choice,
            _ => Compositor::All,
        };
        self.nested(element, |parser| {
            let mut particles = Vec::new();
            for child in parser.children(element) {
                match (compositor, child.local()) {
                    // cos-all-limited (§3.8.6)
                    (Compositor::All, "element") => {
                        let particle = parser.particle(child);
                        if particle.as_ref().is_some_and(Particle::is_repeated) {
                            let message = "an element of <all> occurs more than once, expected maxOccurs 0 or 1";
                            let location = parser.location(child);
                            parser
                                .diagnostics
                                .warning(location, message)
                                .with_rule("cos-all-limited")
                                .with_note("XSD 1.1 allows this, so it is accepted");
                        }
                        particles.extend(particle);
                    }
                    _ => particles.extend(parser.particle(child)),
                }
            }
            ModelGroup { compositor, particles }
        })
    }

    /// Parses a local `<element>`: a declaration, or a reference to a global element.
    fn element_particle(&mut self, element: Element<'_>) -> Option<ElementId> {
        if element.attribute("ref").is_some() {
            return self.reference(element, "ref", SymbolSpace::Element).map(ElementId);
        }
        let name = self.name_of(element)?;
        let qualified = self.form(element, "form").unwrap_or(self.defaults.qualified_elements);
        let name = if qualified { name } else { ExpandedName::new("", name.local()) };
        let id = ElementId(self.components.elements.reserve());
        let declaration = self.element_declaration(element, name, Scope::Local, id);
        self.components.elements.define(id.0, declaration);
        Some(id)
    }

    /// Parses `minOccurs` and `maxOccurs`.
    fn occurs(&mut self, element: Element<'_>) -> (u32, Option<u32>) {
        let min = match element.attribute("minOccurs").map(str::trim) {
            None => 1,
            Some(value) => self.count(element, "minOccurs", value),
        };
        let max = match element.attribute("maxOccurs").map(str::trim) {
            None => Some(1),
            Some("unbounded") => None,
            Some(value) => Some(self.count(element, "maxOccurs", value)),
        };
        match max {
            // maxOccurs="0" removes the particle. Most authors who write it leave out minOccurs="0".
            Some(0) => {
                if min > 0 {
                    let message =
                        format!("minOccurs is {min} and maxOccurs is 0, expected minOccurs to be at most maxOccurs");
                    self.warning(element, message).with_rule("p-props-correct").with_note("the particle is removed");
                }
                (0, Some(0))
            }
            Some(max) if min > max => {
                let message =
                    format!("minOccurs is {min} and maxOccurs is {max}, expected minOccurs to be at most maxOccurs");
                self.error(element, message);
                (max, Some(max))
            }
            _ => (min, max),
        }
    }

    fn count(&mut self, element: Element<'_>, attribute: &str, value: &str) -> u32 {
        let digits = value.strip_prefix('+').unwrap_or(value);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let more = if attribute == "maxOccurs" { " or unbounded" } else { "" };
            self.error_in(element, attribute, format!("{attribute} is {}, expected a number{more}", quoted(value)))
                .with_rule(structure::RULE);
            return 1;
        }
        // Parsing fails only for numbers beyond 32 bits, which are effectively unlimited.
        digits.parse().unwrap_or(u32::MAX)
    }

    /// Parses `<any>` or `<anyAttribute>`.
    pub(super) fn wildcard(&mut self, element: Element<'_>) -> Wildcard {
        let target: &Arc<str> = &self.target_namespace;
        let namespaces = match element.attribute("namespace").map(str::trim) {
            None | Some("##any") => NamespaceConstraint::Any,
            Some("##other") => NamespaceConstraint::Not(target.clone()),
            Some(list) => {
                let (mut namespaces, mut known): (Vec<Arc<str>>, HashSet<Arc<str>>) = Default::default();
                for word in list.split_ascii_whitespace() {
                    let namespace = match word {
                        "##targetNamespace" => target.clone(),
                        "##local" => "".into(),
                        word if word.starts_with("##") => {
                            let location = self.location_of(element, "namespace");
                            let expected = "expected only ##any or ##other, or a list of ##targetNamespace, ##local \
                                and namespaces";
                            self.diagnostics
                                .error(location, format!("namespace has {word:?}"))
                                .with_rule(structure::RULE)
                                .with_note(expected);
                            continue;
                        }
                        uri => uri.into(),
                    };
                    if known.insert(namespace.clone()) {
                        namespaces.push(namespace);
                    }
                }
                NamespaceConstraint::OneOf(namespaces)
            }
        };
        let process_contents = match element.attribute("processContents").map(str::trim) {
            None | Some("strict") => ProcessContents::Strict,
            Some("lax") => ProcessContents::Lax,
            Some("skip") => ProcessContents::Skip,
            Some(other) => {
                self.error(element, format!("processContents is {other:?}, expected strict, lax or skip"));
                ProcessContents::Strict
            }
        };
        Wildcard { namespaces, process_contents }
    }
}
