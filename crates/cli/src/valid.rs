//! What is wrong with messages by the schema of a contract.

use std::cell::RefCell;

use castile_wsdl::Definitions;
use castile_xsd::validate::{Chosen, Problem, Validator};

use crate::shape::Shape;

thread_local! {
    /// What a validator has made of a contract's schema serves all users of a thread.
    static VALIDATOR: RefCell<Option<(&'static Definitions, Validator<'static>)>> = const { RefCell::new(None) };
}

/// What is wrong with a message by the schema, its header left out. Of what is in SOAP encoding the schema knows nothing.
pub(crate) fn problems(definitions: &'static Definitions, shape: &Shape, envelope: &str) -> Vec<Problem> {
    let roots = shape.roots(definitions);
    let choose = |around: usize, namespace: &str, local: &str| match (around, local) {
        (0, _) | (1, "Body") => Chosen::Within,
        (1, _) => Chosen::Skip,
        _ => shape.chosen(roots.as_deref(), around, namespace, local),
    };
    VALIDATOR.with_borrow_mut(|known| {
        let (_, validator) = match known.take() {
            Some(same) if std::ptr::eq(same.0, definitions) => known.insert(same),
            _ => known.insert((definitions, Validator::new(&definitions.schema))),
        };
        validator.validate_within(envelope, choose)
    })
}
