//! Simple type definitions (§3.14.2) and facets (Part 2 §4.3).

use castile_datatypes::quoted;
use castile_xml::tree::Element;

use super::context::SIMPLE_FINAL;
use super::{Parser, SymbolSpace};
use crate::components::{Facet, FacetKind, Owner, SimpleType, TypeId, Variety};
use crate::{Builtin, ExpandedName};

impl Parser<'_> {
    /// Parses `<simpleType>`.
    pub(super) fn simple_type(
        &mut self,
        element: Element<'_>,
        name: Option<ExpandedName>,
        owner: Option<Owner>,
        id: TypeId,
    ) -> SimpleType {
        let mut simple = SimpleType {
            name,
            owner,
            base: Builtin::AnySimpleType.into(),
            variety: Variety::Atomic,
            facets: Vec::new(),
            final_: self.derivation_set(element, "final", self.defaults.final_, SIMPLE_FINAL),
            annotation: self.annotation(element),
            location: self.location(element),
        };
        let children = self.children(element);
        let Some(&step) = children.first() else {
            self.error(element, "<simpleType> is empty, expected restriction, list or union");
            return simple;
        };
        self.nested(element, |parser| match step.local() {
            "restriction" => parser.restriction(step, id, &mut simple),
            "list" => parser.list(step, id, &mut simple),
            "union" => parser.union(step, id, &mut simple),
            _ => {}
        });
        simple
    }

    fn restriction(&mut self, step: Element<'_>, id: TypeId, simple: &mut SimpleType) {
        let mut base = self.reference(step, "base", SymbolSpace::Type).map(TypeId);
        for child in self.children(step) {
            match child.local() {
                "simpleType" if base.is_none() => base = Some(self.anonymous_type(child, Owner::Type(id))),
                "simpleType" => self.two_types(child, "base", "src-simple-type"),
                _ => simple.facets.extend(self.facet(child)),
            }
        }
        match base {
            Some(base) => simple.base = base,
            None if step.attribute("base").is_none() => {
                self.error(step, "<restriction> has neither `base` nor an inner simple type");
            }
            None => {}
        }
    }

    fn list(&mut self, step: Element<'_>, id: TypeId, simple: &mut SimpleType) {
        let mut item = self.reference(step, "itemType", SymbolSpace::Type).map(TypeId);
        for child in self.children(step) {
            match child.local() {
                "simpleType" if item.is_none() => item = Some(self.anonymous_type(child, Owner::Type(id))),
                "simpleType" => self.two_types(child, "itemType", "src-list-itemType-or-simpleType"),
                _ => {}
            }
        }
        if item.is_none() && step.attribute("itemType").is_none() {
            self.error(step, "<list> has neither `itemType` nor an inner simple type");
        }
        simple.variety = Variety::List { item: item.unwrap_or(Builtin::AnySimpleType.into()) };
    }

    fn union(&mut self, step: Element<'_>, id: TypeId, simple: &mut SimpleType) {
        let mut members = Vec::new();
        for member in step.attribute("memberTypes").unwrap_or_default().split_ascii_whitespace() {
            if let Some(name) = self.resolve(step, "memberTypes", member) {
                members.push(TypeId(self.refer(step, "memberTypes", &name, SymbolSpace::Type)));
            }
        }
        for child in self.children(step) {
            members.push(self.anonymous_type(child, Owner::Type(id)));
        }
        if members.is_empty() {
            self.error(step, "<union> has no member types, expected `memberTypes` or inner simple types");
        }
        simple.variety = Variety::Union { members };
    }

    /// Parses a facet. Adds a diagnostic if it isn't one.
    pub(super) fn facet(&mut self, element: Element<'_>) -> Option<Facet> {
        let kind = FacetKind::from_name(element.local())?;
        let Some(value) = element.attribute("value") else {
            self.error(element, format!("<{kind}> has no `value`"));
            return None;
        };
        let number = value.trim().strip_prefix('+').unwrap_or(value.trim());
        let fits = match kind {
            FacetKind::Length | FacetKind::MinLength | FacetKind::MaxLength | FacetKind::FractionDigits => {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            }
            FacetKind::TotalDigits => {
                number.bytes().all(|byte| byte.is_ascii_digit()) && number.bytes().any(|byte| byte != b'0')
            }
            FacetKind::WhiteSpace => matches!(value.trim(), "preserve" | "replace" | "collapse"),
            _ => true,
        };
        if !fits {
            let expected = match kind {
                FacetKind::WhiteSpace => "preserve, replace or collapse",
                FacetKind::TotalDigits => "a number from 1",
                _ => "a number",
            };
            self.error(element, format!("{kind} is {}, expected {expected}", quoted(value)));
            return None;
        }
        Some(Facet {
            kind,
            value: value.to_owned(),
            namespaces: match kind {
                FacetKind::Enumeration => namespaces(element, value),
                _ => Vec::new(),
            },
            fixed: self.boolean(element, "fixed"),
            annotation: self.annotation(element),
            location: self.location(element),
        })
    }
}

/// Returns the prefixes of the words in a text and their namespaces, each once.
fn namespaces(element: Element<'_>, text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for word in text.split_ascii_whitespace() {
        let prefix = word.split_once(':').map_or("", |(prefix, _)| prefix);
        let namespace = element.namespace_of(prefix).or(prefix.is_empty().then_some(""));
        if let Some(namespace) = namespace
            && !found.iter().any(|(known, _)| known == prefix)
        {
            found.push((prefix.to_owned(), namespace.to_owned()));
        }
    }
    found
}
