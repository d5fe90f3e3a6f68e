//! Describes what could come next in an element, for messages.

use castile_datatypes::model::Matcher;

use super::super::model::{Leaf, Model};
use super::super::types::Types;
use crate::components::NamespaceConstraint;

/// Describes what could come next, or that the element could end.
pub(super) fn expected(types: &Types<'_>, matcher: &Matcher, model: &Model, element: &str) -> String {
    let or_end = if matcher.is_complete(model.particles()) { Some(format!("the end of {element}")) } else { None };
    in_words(types, matcher, model, or_end)
}

pub(super) fn expected_only(types: &Types<'_>, matcher: &Matcher, model: &Model) -> String {
    in_words(types, matcher, model, None)
}

fn in_words(types: &Types<'_>, matcher: &Matcher, model: &Model, end: Option<String>) -> String {
    let (leaves, has_more) = matcher.expected(model.particles());
    let mut words: Vec<String> = Vec::new();
    for leaf in leaves {
        let word = match &model[leaf] {
            Leaf::Element(id) => types.schema[*id].name.local().to_owned(),
            Leaf::Wildcard(wildcard) => match &wildcard.namespaces {
                NamespaceConstraint::Any => "any element".to_owned(),
                _ => "an element of some other namespaces".to_owned(),
            },
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if has_more {
        words.push("another element".to_owned());
    }
    words.extend(end);
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}
