//! Checks facets against each other and against those of the base (Part 2 §4.3), for facets that count characters or
//! digits. Facets whose values are values of the type are compared in `values`.

use super::Checker;
use crate::components::{Facet, FacetKind as Kind, Owner, SimpleType, TypeDefinition, TypeId, Variety, WhiteSpace};
use crate::schema::called;
use crate::{Builtin, ExpandedName};

impl Checker<'_> {
    /// Checks simple type definitions (§3.14.6) and their facets.
    pub(super) fn simple_type(&mut self, id: TypeId, simple: &SimpleType) {
        if self.is_unknown(id) {
            return;
        }
        self.restricts_no_ur_type(id, simple);
        let reported_before = self.diagnostics.len();
        let inherited = self.schema.facets(simple.base);
        let all = self.schema.facets(id);
        for facet in &simple.facets {
            let base = inherited.iter().find(|base| base.kind == facet.kind).copied();
            self.against_base(facet, base);
            self.fraction_of_integer(id, facet);
        }
        self.white_space(simple);
        self.together(simple, &all);
        self.notations(id, simple);
        // Each value gets at most one error.
        if self.diagnostics.len() == reported_before {
            self.facet_values(id, simple);
        }
    }

    /// cos-st-restricts 1.1: `anySimpleType` can't be restricted.
    fn restricts_no_ur_type(&mut self, id: TypeId, simple: &SimpleType) {
        let is_restriction = simple.variety == Variety::Atomic && simple.base == Builtin::AnySimpleType.into();
        if !is_restriction {
            return;
        }
        let of_complex = matches!(simple.owner, Some(Owner::Type(owner)) if self.schema[owner].as_complex().is_some());
        if !of_complex {
            let message =
                format!("{} restricts xs:anySimpleType, expected a type with values", called(self.schema, id));
            self.diagnostics.warning(simple.location, message).with_rule("cos-st-restricts");
        }
    }

    fn against_base(&mut self, facet: &Facet, base: Option<&Facet>) {
        let Some(base) = base else { return };
        let (own_number, base_number) = (Number::of(facet), Number::of(base));
        let (rule, is_wider) = match facet.kind {
            Kind::Length => ("length-valid-restriction", own_number != base_number),
            Kind::MinLength => ("minLength-valid-restriction", own_number < base_number),
            Kind::MaxLength => ("maxLength-valid-restriction", own_number > base_number),
            Kind::TotalDigits => ("totalDigits-valid-restriction", own_number > base_number),
            Kind::FractionDigits => ("fractionDigits-valid-restriction", own_number > base_number),
            _ => return,
        };
        if is_wider {
            let message = format!(
                "a restriction allows more than its base: {} is {}, but {} in the base",
                facet.kind, facet.value, base.value
            );
            self.diagnostics.error(facet.location, message).with_rule(rule);
        } else if base.fixed && own_number != base_number {
            let message = format!("{} is {}, but fixed to {} in the base", facet.kind, facet.value, base.value);
            self.diagnostics.error(facet.location, message).with_rule("facet-fixed");
        }
    }

    /// Checks `fractionDigits` of built-in integers, which is fixed to 0 (Part 2 §3.3.13).
    fn fraction_of_integer(&mut self, id: TypeId, facet: &Facet) {
        let is_integer = || self.schema.builtin(id).is_derived_from(Builtin::Integer);
        if facet.kind == Kind::FractionDigits && !Number::of(facet).text.is_empty() && is_integer() {
            let message = format!("fractionDigits is {}, but fixed to 0 in xs:integer", facet.value);
            self.diagnostics.warning(facet.location, message).with_rule("facet-fixed");
        }
    }

    /// Checks whiteSpace-valid-restriction (Part 2 §4.3.6.4). For a list, `whiteSpace` is fixed to collapse.
    fn white_space(&mut self, simple: &SimpleType) {
        let Some(facet) = simple.facets.iter().find(|facet| facet.kind == Kind::WhiteSpace) else { return };
        let own = match facet.value.trim() {
            "preserve" => WhiteSpace::Preserve,
            "replace" => WhiteSpace::Replace,
            _ => WhiteSpace::Collapse,
        };
        let base = match simple.variety {
            Variety::List { .. } => WhiteSpace::Collapse,
            _ => self.schema.white_space(simple.base),
        };
        if own < base {
            let base = format!("{base:?}").to_lowercase();
            let message = format!("whiteSpace is {}, expected {base} as in the base, or a stricter value", facet.value);
            self.diagnostics.error(facet.location, message).with_rule("whiteSpace-valid-restriction");
        }
        let inherited = self.schema.facets(simple.base);
        if inherited
            .iter()
            .any(|base| base.kind == Kind::WhiteSpace && base.fixed && base.value.trim() != facet.value.trim())
        {
            let message = format!("whiteSpace is {}, but fixed to a different value in the base", facet.value);
            self.diagnostics.error(facet.location, message).with_rule("facet-fixed");
        }
    }

    /// Checks for facets of one type that exclude each other.
    fn together(&mut self, simple: &SimpleType, all: &[&Facet]) {
        let own = |kind| simple.facets.iter().find(|facet| facet.kind == kind);
        let any = |kind| all.iter().find(|facet| facet.kind == kind).copied();
        let exclusive = [
            (Kind::MinInclusive, Kind::MinExclusive, "minInclusive-minExclusive"),
            (Kind::MaxInclusive, Kind::MaxExclusive, "maxInclusive-maxExclusive"),
            (Kind::Length, Kind::MinLength, "length-minLength-maxLength"),
            (Kind::Length, Kind::MaxLength, "length-minLength-maxLength"),
        ];
        for (one, two, rule) in exclusive {
            // A length may be combined with limits that repeat those of the base (Part 2 §4.3.1.4).
            let repeats = |facet: &Facet| one == Kind::Length && self.has_limit(simple.base, facet);
            if let (Some(_), Some(facet)) = (own(one), own(two))
                && !repeats(facet)
            {
                let message = format!("found both {one} and {two}, expected one of them");
                self.diagnostics.error(facet.location, message).with_rule(rule);
            }
        }
        let ordered = [
            (Kind::MinLength, Kind::MaxLength, "minLength-less-than-equal-to-maxLength"),
            (Kind::MinLength, Kind::Length, "length-minLength-maxLength"),
            (Kind::Length, Kind::MaxLength, "length-minLength-maxLength"),
            (Kind::FractionDigits, Kind::TotalDigits, "fractionDigits-totalDigits"),
        ];
        for (less, more, rule) in ordered {
            let (Some(small), Some(large)) = (any(less), any(more)) else { continue };
            let own = own(less).or_else(|| own(more));
            if let (true, Some(own)) = (Number::of(small) > Number::of(large), own) {
                let message =
                    format!("{less} is {} and {more} is {}: no value satisfies both", small.value, large.value);
                self.diagnostics.error(own.location, message).with_rule(rule);
            }
        }
    }

    /// Returns true if the base already has this limit. The built-in lists have at least one item.
    fn has_limit(&self, base: TypeId, facet: &Facet) -> bool {
        let built_in = facet.kind == Kind::MinLength
            && Number::of(facet).text == "1"
            && matches!(self.schema.builtin(base), Builtin::Nmtokens | Builtin::Idrefs | Builtin::Entities);
        let is_it = |base: &&Facet| base.kind == facet.kind && Number::of(base) == Number::of(facet);
        built_in || self.schema.facets(base).iter().any(is_it)
    }

    /// Checks that the values of a type derived from NOTATION are names of notations (Part 2 §3.2.19).
    fn notations(&mut self, id: TypeId, simple: &SimpleType) {
        if simple.variety != Variety::Atomic || !self.schema.builtin(id).is_derived_from(Builtin::Notation) {
            return;
        }
        for facet in simple.facets.iter().filter(|facet| facet.kind == Kind::Enumeration) {
            let is_declared = |name: &ExpandedName| self.schema.notations.iter().any(|notation| notation.name == *name);
            if !facet.name().as_ref().is_some_and(is_declared) {
                let message = format!("notation {:?} is not declared", facet.value);
                self.diagnostics.error(facet.location, message).with_rule("enumeration-valid-restriction");
            }
        }
        if self.schema.enumeration(id).is_empty() {
            let message = "a type derived from NOTATION has no enumeration, expected one that lists the notations";
            self.diagnostics.warning(simple.location, message).with_rule("enumeration-required-notation");
        }
    }

    /// Checks that the value of simple content is derived from that of the base (derivation-ok-restriction 5.2.2).
    pub(super) fn simple_content(&mut self, value: TypeId, base: TypeId, at: TypeId) {
        let TypeDefinition::Simple(own) = &self.schema[value] else { return };
        if !self.is_derived(value, base, Default::default()) {
            let message = format!("simple content is not derived from that of its base, {}", called(self.schema, base));
            let location =
                if own.location == crate::components::NOWHERE { self.schema[at].location() } else { own.location };
            self.diagnostics.error(location, message).with_rule("derivation-ok-restriction");
        }
    }
}

/// An unsigned decimal number with any number of digits. A longer one is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Number<'f> {
    digits: usize,
    text: &'f str,
}

impl<'f> Number<'f> {
    fn of(facet: &'f Facet) -> Self {
        let text = facet.value.trim();
        let text = text.strip_prefix('+').unwrap_or(text).trim_start_matches('0');
        Self { digits: text.len(), text }
    }
}
