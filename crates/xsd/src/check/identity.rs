use std::collections::HashMap;

use super::Checker;
use crate::ExpandedName;
use crate::components::{IdentityConstraint, IdentityConstraintCategory as Category};

impl Checker<'_> {
    /// Checks that identity constraints have unique names (sch-props-correct 2), and that a keyref refers to a key or
    /// unique constraint with the same number of fields (c-props-correct).
    pub(super) fn identity_constraints(&mut self) {
        let schema = self.schema;
        let all = || schema.elements.iter().flat_map(|element| &element.identity_constraints);
        let mut names: HashMap<&ExpandedName, &IdentityConstraint> = HashMap::new();
        for constraint in all() {
            if let Some(first) = names.insert(&constraint.name, constraint) {
                let message = format!("identity constraint {} is defined twice", constraint.name);
                let note = self.diagnostics.the_first(first.location);
                self.diagnostics.error(constraint.location, message).with_rule("sch-props-correct").with_note(note);
            }
        }
        for constraint in all() {
            let Category::Keyref { refer } = &constraint.category else { continue };
            let name = constraint.name.local();
            match names.get(refer) {
                None => {
                    let message = format!("key {refer}, which keyref {name} refers to, is not defined");
                    self.diagnostics.error(constraint.location, message).with_rule("src-resolve");
                }
                Some(key) if matches!(key.category, Category::Keyref { .. }) => {
                    let message =
                        format!("keyref {name} refers to {refer}, which is a keyref, expected a key or unique");
                    self.diagnostics.error(constraint.location, message).with_rule("src-resolve");
                }
                Some(key) if key.fields.len() != constraint.fields.len() => {
                    let (found, expected) = (constraint.fields.len(), key.fields.len());
                    let message = format!(
                        "keyref {name} has {found} fields, but {refer} has {expected}, expected the same number"
                    );
                    self.diagnostics.error(constraint.location, message).with_rule("c-props-correct");
                }
                Some(_) => {}
            }
        }
    }
}
