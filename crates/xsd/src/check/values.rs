//! Checks the values in a schema: those of facets (Part 2 §4.3), and defaults and fixed values (Part 1 §3.2.6, §3.3.6).

use std::cell::Cell;
use std::fmt::Display;

use castile_datatypes::{Invalid, Scope, Value, quoted};

use super::Checker;
use super::elements::kind_of;
use crate::components::{Content, FacetKind as Kind, SimpleType, TypeId, ValueConstraint};
use crate::definition::constraints;
use crate::schema::called;
use crate::{Builtin, ExpandedName, Location};

impl Checker<'_> {
    /// Checks that the facets of a type are values of its base and are consistent with the base's facets.
    pub(super) fn facet_values(&mut self, id: TypeId, simple: &SimpleType) {
        // Each value is compared with the enumeration of the base, several at a time.
        let of_base = self.schema.enumeration(simple.base).len();
        if !self.step(simple.facets.len().saturating_mul(1 + of_base / 16)) {
            return;
        }
        let made = self.schema.compiled(id);
        let (Some(problem), is_unchecked) = (made.problem.clone(), made.is_unchecked) else { return };
        if is_unchecked {
            self.leave_unchecked(simple.location, &problem);
            return;
        }
        let base = self.schema.compiled(simple.base).definition.clone();
        let mut is_told = false;
        for facet in &simple.facets {
            let alone = base.restriction("value", &constraints(std::slice::from_ref(facet)));
            if let Err(problem) = alone {
                is_told = true;
                let message = format!("{} is not a valid {} here: {problem}", quoted(&facet.value), facet.kind);
                self.diagnostics.warning(facet.location, message).with_rule(rule(facet.kind));
            }
        }
        if !is_told {
            let message = format!("{} has facets that contradict each other: {problem}", called(self.schema, id));
            self.diagnostics.warning(simple.location, message).with_rule("cos-st-restricts");
        }
    }

    /// Checks that a default or fixed value is a value of its type.
    pub(super) fn value_of_type(
        &mut self,
        name: &ExpandedName,
        type_id: TypeId,
        constraint: &ValueConstraint,
        location: Location,
        rule: &'static str,
    ) {
        let (ValueConstraint::Default(text) | ValueConstraint::Fixed(text)) = constraint;
        let problem = match self.read(type_id, text) {
            Read::Value(_) | Read::Unknown => return,
            Read::Invalid(problem) => problem,
        };
        let kind = kind_of(constraint);
        let message = format!("the {kind} value of {name} is not valid for its type: {problem}");
        self.diagnostics.warning(location, message).with_rule(rule);
    }

    /// Returns true if `constraint` fixes the value to `fixed`, compared as values of the type.
    pub(super) fn is_fixed_to(&mut self, constraint: Option<&ValueConstraint>, fixed: &str, type_id: TypeId) -> bool {
        let Some(ValueConstraint::Fixed(own)) = constraint else { return false };
        match (self.read(type_id, own), self.read(type_id, fixed)) {
            (Read::Value(own), Read::Value(fixed)) => own == fixed,
            // Invalid values are reported at their definition, and names can't be compared without declarations.
            _ => true,
        }
    }

    /// Reports, once, that not all values are checked.
    fn leave_unchecked(&mut self, location: Location, why: &dyn Display) {
        if !std::mem::replace(&mut self.has_unchecked, true) {
            self.diagnostics.warning(location, format!("not all facets, defaults and fixed values are checked: {why}"));
        }
    }

    /// Reads a text as a value of a type.
    fn read(&mut self, type_id: TypeId, text: &str) -> Read {
        if self.is_unknown(type_id) {
            return Read::Unknown;
        }
        let value_type = match self.schema.content(type_id) {
            Content::Simple(id) => id,
            _ => Builtin::String.into(),
        };
        let scope = Undeclared::default();
        match self.values.read(value_type, text, &scope) {
            None => {
                let location = self.schema[type_id].location();
                self.leave_unchecked(location, &"values of this type are too expensive to read");
                Read::Unknown
            }
            Some(_) if scope.was_queried.get() => Read::Unknown,
            Some(Ok(value)) => Read::Value(value),
            Some(Err(problem)) => Read::Invalid(problem),
        }
    }
}

/// The result of reading a text as a value of a type.
enum Read {
    Value(Value),
    Invalid(Invalid),
    /// The value can't be checked: it is a name and the declarations are not available, the type is missing, or the
    /// total cost of reading values is too high.
    Unknown,
}

/// A scope without declarations, which records whether a declaration was requested.
#[derive(Default)]
struct Undeclared {
    was_queried: Cell<bool>,
}

impl Scope for Undeclared {
    fn namespace(&self, _: &str) -> Option<&str> {
        self.was_queried.set(true);
        None
    }
}

/// Returns the specification's name for the rule that a facet breaks.
fn rule(kind: Kind) -> &'static str {
    match kind {
        Kind::Enumeration => "enumeration-valid-restriction",
        Kind::MinInclusive => "minInclusive-valid-restriction",
        Kind::MinExclusive => "minExclusive-valid-restriction",
        Kind::MaxInclusive => "maxInclusive-valid-restriction",
        Kind::MaxExclusive => "maxExclusive-valid-restriction",
        Kind::Length => "length-valid-restriction",
        Kind::MinLength => "minLength-valid-restriction",
        Kind::MaxLength => "maxLength-valid-restriction",
        Kind::TotalDigits => "totalDigits-valid-restriction",
        Kind::FractionDigits => "fractionDigits-valid-restriction",
        Kind::WhiteSpace => "whiteSpace-valid-restriction",
        // No rule is specific to an invalid pattern.
        Kind::Pattern => "src-simple-type",
    }
}
