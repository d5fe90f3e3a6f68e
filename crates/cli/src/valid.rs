//! What is wrong with messages by the schema of a contract.

use std::cell::RefCell;

use castile_wsdl::{Definitions, PartContent};
use castile_xsd::validate::{Chosen, Problem, Validator};

use crate::shape::Shape;

thread_local! {
    /// What a validator has made of a contract's schema serves all users of a thread.
    static VALIDATOR: RefCell<Option<(&'static Definitions, Validator<'static>)>> = const { RefCell::new(None) };
}

/// What is wrong with a message by the schema, its header left out. Of what is in SOAP encoding the schema knows nothing.
pub(crate) fn problems(definitions: &'static Definitions, shape: &Shape, envelope: &str) -> Vec<Problem> {
    let roots = shape.roots(definitions);
    let choose = |around: usize, namespace: &str, local: &str| {
        let is_root = |roots: &Vec<_>| {
            roots.iter().any(|name: &castile_xsd::ExpandedName| (name.namespace(), name.local()) == (namespace, local))
        };
        match (around, local, shape) {
            (0, ..) | (1, "Body", _) => Chosen::Within,
            (1, ..) | (_, _, Shape::Content | Shape::Call { is_encoded: true, .. }) => Chosen::Skip,
            (2, _, Shape::Call { .. }) if roots.as_ref().is_none_or(is_root) => Chosen::Within,
            (_, _, Shape::Call { parts, .. }) => match parts.iter().find(|(name, _)| name == local) {
                Some((_, PartContent::Type(type_id))) if around == 3 => Chosen::OfType(*type_id),
                // One that nobody knows is found not to be declared.
                _ => Chosen::Declared,
            },
            (_, _, Shape::Elements(_)) => Chosen::Declared,
        }
    };
    VALIDATOR.with_borrow_mut(|known| {
        let (_, validator) = match known.take() {
            Some(same) if std::ptr::eq(same.0, definitions) => known.insert(same),
            _ => known.insert((definitions, Validator::new(&definitions.schema))),
        };
        validator.validate_within(envelope.as_bytes(), choose)
    })
}

/// Where a problem is in a text, in bytes.
pub(crate) fn offset(text: &str, problem: &Problem) -> usize {
    let line: usize = text.split_inclusive('\n').take(problem.line as usize - 1).map(str::len).sum();
    let column = text[line..].char_indices().nth(problem.column as usize - 1);
    column.map_or(text.len(), |(column, _)| line + column)
}
