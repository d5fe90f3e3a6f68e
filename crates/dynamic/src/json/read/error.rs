//! Why JSON is not a value, and where.

use std::fmt;

use serde_json::Value as Json;

/// The message for a missing required member.
pub(super) const MISSING: &str = "it is required, but missing";

/// The start of the message for a choice without any of its members.
pub(super) const NONE_OF: &str = "found none of ";

/// The reason why JSON is not a value of a type: the path, and what was found and expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The path, such as `order.items[0].quantity`. Empty for the whole value.
    pub path: String,
    /// The problem.
    pub message: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    /// Adds a step to the start of the path: a name, or `[0]`.
    pub(crate) fn within(self, place: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        JsonError { path: format!("{place}{separator}{}", self.path), ..self }
    }
}

/// A position in the JSON.
#[derive(Clone, Copy)]
pub(super) enum At<'p> {
    Root,
    Member(&'p At<'p>, &'p str),
    Item(&'p At<'p>, usize),
}

impl At<'_> {
    pub(super) fn wrong(&self, message: impl Into<String>) -> JsonError {
        JsonError { path: self.to_string(), message: message.into() }
    }

    pub(super) fn instead(&self, found: &Json, expected: &str) -> JsonError {
        let found = match found {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Number(_) => "a number",
            Json::String(_) => "a text",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        };
        self.wrong(format!("found {found}, expected {expected}"))
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Root => Ok(()),
            At::Member(At::Root, name) => f.write_str(name),
            At::Member(outer, name) => write!(f, "{outer}.{name}"),
            At::Item(outer, number) => write!(f, "{outer}[{number}]"),
        }
    }
}
