//! Validates the content of an element at its end (cvc-type 3.1, cvc-complex-type 2.1 and 2.2, cvc-elt 5).

use castile_datatypes::{Scope, quoted};
use castile_xml::Reader;

use super::super::identity::FieldValue;
use super::super::types::TypeContent;
use super::expected::expected_only;
use super::{Assessed, Validation};
use crate::TypeId;
use crate::components::ValueConstraint;

/// The declarations of an element that has just ended, and those in scope around it.
struct Ended<'a, 'd> {
    own: &'a [(String, String)],
    reader: &'a Reader<'d>,
}

impl Scope for Ended<'_, '_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        match self.own.iter().find(|(own, _)| own == prefix) {
            Some((_, namespace)) => Some(namespace),
            None => self.reader.resolve(prefix),
        }
    }
}

impl<'d> Validation<'_, '_, 'd> {
    /// Validates the content of an element between the tags at `start` and `end`.
    pub(super) fn content(
        &mut self,
        reader: &Reader<'d>,
        name: &str,
        (start, end): (usize, usize),
        assessed: &Assessed,
    ) -> FieldValue {
        if assessed.is_nil {
            let is_simple = assessed.type_.is_simple();
            return if is_simple { FieldValue::Unknown } else { FieldValue::NotSimple };
        }
        let constraint = assessed.constraint(self.types).cloned();
        let is_empty = assessed.text_offset.is_none() && !assessed.has_children;
        match &assessed.type_.content {
            TypeContent::Empty => FieldValue::NotSimple,
            TypeContent::Simple(type_id) if !assessed.has_children => {
                let text = match &constraint {
                    Some(ValueConstraint::Default(text) | ValueConstraint::Fixed(text)) if is_empty => text,
                    _ => &assessed.text,
                };
                self.simple_content(reader, *type_id, text, assessed.text_offset.unwrap_or(start), assessed)
            }
            TypeContent::Simple(_) => FieldValue::Unknown,
            TypeContent::Elements { model, .. } => {
                let is_default = is_empty && constraint.is_some();
                if !is_default && !assessed.matcher.is_complete(model.particles()) {
                    let expected = expected_only(self.types, &assessed.matcher, model);
                    let message = format!("{name} ends here, where {expected} was expected");
                    self.problems.add("cvc-complex-type.2.4", end, message);
                }
                if let Some(ValueConstraint::Fixed(fixed)) = &constraint
                    && !is_empty
                    && (assessed.has_children || assessed.text != *fixed)
                {
                    let (rule, found) = match assessed.has_children {
                        true => ("cvc-elt.5.2.2.1", "elements".to_owned()),
                        false => ("cvc-elt.5.2.2.2", quoted(&assessed.text)),
                    };
                    let message = format!("{name} contains {found}, but is fixed to {}", quoted(fixed));
                    self.problems.add(rule, assessed.text_offset.unwrap_or(start), message);
                }
                FieldValue::NotSimple
            }
        }
    }

    fn simple_content(
        &mut self,
        reader: &Reader<'d>,
        type_id: TypeId,
        text: &str,
        offset: usize,
        assessed: &Assessed,
    ) -> FieldValue {
        let scope = &Ended { own: &assessed.declarations, reader };
        let value = match self.types.read(type_id, text, scope) {
            Ok(value) => value,
            Err(problem) => {
                let rule = match self.types.schema[assessed.type_.id].as_simple() {
                    Some(_) => "cvc-type.3.1.3",
                    None => "cvc-complex-type.2.2",
                };
                self.problems.add(rule, offset, problem.message().to_owned());
                return FieldValue::Unknown;
            }
        };
        let kind = self.types.id_kind(type_id);
        self.ids.take(&kind, text, offset, (&mut *self.types, scope), self.problems);
        if let Some(ValueConstraint::Fixed(fixed)) = assessed.constraint(self.types).cloned()
            && self.types.read(type_id, &fixed, scope).is_ok_and(|fixed| fixed != value)
        {
            let message = format!("the value is {}, but fixed to {}", quoted(text), quoted(&fixed));
            self.problems.add("cvc-elt.5.2.2.2", offset, message);
        }
        FieldValue::Value(value)
    }
}
