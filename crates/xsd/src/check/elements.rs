use std::rc::Rc;

use super::Checker;
use crate::Builtin;
use crate::components::{Content, ElementDeclaration, ElementId, Scope, TypeId, ValueConstraint};
use crate::schema::called;

impl Checker<'_> {
    /// Checks element declarations (§3.3.6, e-props-correct).
    pub(super) fn elements(&mut self) {
        let schema = self.schema;
        for element in &schema.elements {
            self.default_of(element);
            self.substitution_group(element);
        }
    }

    /// Checks that an element with a default has a type with character data (cos-valid-default), which isn't an ID
    /// (e-props-correct 5).
    fn default_of(&mut self, element: &ElementDeclaration) {
        let Some(constraint) = &element.value_constraint else { return };
        if self.is_unknown(element.type_id) {
            return;
        }
        let name = element.name.local();
        let kind = kind_of(constraint);
        let value_type = match self.schema.content(element.type_id) {
            Content::Simple(id) => id,
            Content::Mixed(particle) if self.is_emptiable(&particle) => return,
            _ => {
                let message = format!(
                    "element {name} has a {kind} value, but {} has required elements or no text",
                    called(self.schema, element.type_id)
                );
                self.diagnostics.error(element.location, message).with_rule("cos-valid-default");
                return;
            }
        };
        if self.schema.builtin(value_type).is_derived_from(Builtin::Id) {
            let message =
                format!("element {name} is of type ID and has a {kind} value, but two elements can't have the same ID");
            self.diagnostics.warning(element.location, message).with_rule("e-props-correct");
        }
        self.value_of_type(&element.name, value_type, constraint, element.location, "e-props-correct");
    }

    /// Checks that the type is the type of the head or is derived from it in a way that the head allows
    /// (e-props-correct 4).
    fn substitution_group(&mut self, element: &ElementDeclaration) {
        let Some(head) = element.substitution_group.map(|head| &self.schema[head]) else { return };
        if head.type_id == TypeId::from(Builtin::AnyType) && head.final_ == Default::default() {
            return;
        }
        if !self.is_derived(element.type_id, head.type_id, head.final_) {
            let message = format!(
                "element {} substitutes {}, but {} is not derived from {} as {} allows",
                element.name,
                head.name,
                called(self.schema, element.type_id),
                called(self.schema, head.type_id),
                head.name.local(),
            );
            self.diagnostics.error(element.location, message).with_rule("e-props-correct");
        }
    }
}

impl Checker<'_> {
    /// Returns the elements that may replace `head` in a document: its substitution group (§3.3.6) without abstract
    /// elements and those that `block` excludes.
    pub(super) fn actual_substitutes(&mut self, id: ElementId) -> Rc<[ElementId]> {
        if let Some(known) = self.substitutes.get(&id) {
            return known.clone();
        }
        let head = &self.schema[id];
        let mut members = match head.scope == Scope::Local || head.block.substitution {
            true => Vec::new(),
            false => self.schema.substitutes(id),
        };
        members.retain(|&member| {
            let member = &self.schema[member];
            !member.is_abstract && self.is_derived(member.type_id, head.type_id, head.block)
        });
        let members: Rc<[ElementId]> = members.into();
        self.substitutes.insert(id, members.clone());
        members
    }
}

pub(super) fn kind_of(constraint: &ValueConstraint) -> &'static str {
    match constraint {
        ValueConstraint::Default(_) => "default",
        ValueConstraint::Fixed(_) => "fixed",
    }
}
