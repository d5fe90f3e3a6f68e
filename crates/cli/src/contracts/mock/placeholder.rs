//! Placeholders in answers, written `{{NAME}}`, and their values.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use castile_dynamic::Operation;
use serde_json::{Number, Value as Json};

use crate::contracts::expression::{Expression, Tree};
use crate::contracts::path::{self, Step};
use crate::contracts::template;
use crate::quantity::{Offset, offset};

/// The maximum size, in bytes of memory, of an answer made from a template. Requests determine how often a value occurs in it.
const MAX_ANSWER_SIZE: usize = 16 << 20;

/// The error for `{{` without `}}`, which may be a typo.
pub(super) const UNCLOSED: &str = "found {{ without a closing }}";

/// The source of a placeholder's value.
#[derive(Clone, Debug)]
pub(super) enum Placeholder {
    /// The value at this path in the request.
    Request(Vec<Step>),
    /// The value at this path in the rule's store entry, or in all entries.
    Stored(Vec<Step>),
    /// The key of the store entry.
    Key,
    /// The result of an expression on the request.
    XPath(Expression),
    /// The URL to which the request was sent, or another path there.
    Url(Option<String>),
    /// The current time, as `xs:dateTime`, of a clock that is ahead of ours or behind it.
    Now(Offset),
    /// The current date, as `xs:date`.
    Today,
    Uuid,
    /// The number of requests of the operation so far, including this one.
    Number,
}

/// The names that placeholders may use: the paths of requests, and the prefixes of expressions.
#[derive(Clone, Copy)]
pub(super) struct Names<'n> {
    pub(super) operation: &'static Operation,
    pub(super) prefixes: &'n [(String, String)],
}

impl Names<'_> {
    /// Parses the text between the braces.
    pub(super) fn placeholder(self, name: &str) -> Result<Placeholder, String> {
        let (first, path) = name.split_once(['.', ' ']).unwrap_or((name, ""));
        let path = path.trim();
        match (first, path) {
            ("request", path) => self.path(path).map(Placeholder::Request),
            ("stored", "") => Ok(Placeholder::Stored(Vec::new())),
            ("stored", path) => steps(path).map(Placeholder::Stored),
            ("xpath", text) if !text.is_empty() => self.expression(text).map(Placeholder::XPath),
            ("url", "") => Ok(Placeholder::Url(None)),
            ("url", path) if path.starts_with('/') && !path.starts_with("//") => {
                Ok(Placeholder::Url(Some(path.to_owned())))
            }
            ("url", path) => Err(format!("found the path {path:?} after url, expected one that begins with a slash")),
            ("key", "") => Ok(Placeholder::Key),
            ("now", "") => Ok(Placeholder::Now(Offset::default())),
            ("now", text) => {
                let clock = offset(text).map_err(|error| format!("found {{{{{name}}}}}, and after now {error}"));
                clock.map(Placeholder::Now)
            }
            ("today", "") => Ok(Placeholder::Today),
            ("uuid", "") => Ok(Placeholder::Uuid),
            ("number", "") => Ok(Placeholder::Number),
            _ => Err(format!(
                "found {{{{{name}}}}}, expected request.PATH, stored.PATH, key, url, now, today, uuid, number or xpath EXPRESSION"
            )),
        }
    }

    /// Parses a path into requests, which must exist in the contract.
    pub(super) fn path(self, path: &str) -> Result<Vec<Step>, String> {
        if path.is_empty() {
            return Ok(Vec::new());
        }
        let steps = steps(path)?;
        let names: Vec<&str> = steps.iter().filter_map(Step::name).collect();
        match self.operation.find_in_request(&names) {
            Ok(()) => Ok(steps),
            Err(wrong) => {
                let within = match names.get(..wrong.found).unwrap_or_default() {
                    [] => format!("the request of {}", self.operation.name()),
                    known => known.join("."),
                };
                let name = names.get(wrong.found).copied().unwrap_or_default();
                let expected: Vec<&str> = wrong.expected.iter().map(String::as_str).collect();
                Err(match expected.is_empty() {
                    true => format!("{within} has no {name}: it is a single value without members"),
                    false => {
                        format!("{within} has no {name}, expected one of {}", castile_xsd::candidates(name, &expected))
                    }
                })
            }
        }
    }

    pub(super) fn expression(self, text: &str) -> Result<Expression, String> {
        let remedy = |prefix: &str| format!("add {prefix} = \"URI\" below [prefixes] in the rules");
        Expression::new(text, self.prefixes, remedy).map_err(|error| error.to_string())
    }

    /// Checks that the value at a path of a request can be equal to `value`.
    ///
    /// # Errors
    /// The type at this path has no such value.
    pub(super) fn check_value(self, steps: &[Step], value: &Json) -> Result<(), String> {
        let names: Vec<&str> = steps.iter().filter_map(Step::name).collect();
        let (Some(of), Some(text)) = (self.operation.simple_in_request(&names), text_of(value)) else { return Ok(()) };
        // Nil is an empty value.
        if text.is_empty() {
            return Ok(());
        }
        of.check(&text).or_else(|message| match value.as_f64() {
            // Numbers are compared by value: 5.0 is a value of xs:int.
            Some(number) => of.check(&number.to_string()).map_err(|_| message),
            None => Err(message),
        })
    }

    /// Parses a text with placeholders.
    pub(super) fn text(self, text: &str) -> Result<Text, String> {
        let pieces = template::split(text);
        if pieces.iter().any(|piece| piece.is_ok_and(|literal| literal.contains("{{"))) {
            return Err(UNCLOSED.to_owned());
        }
        self.pieces(&pieces)
    }

    /// Makes a text of literals and names of placeholders.
    pub(super) fn pieces(self, pieces: &[Result<impl AsRef<str>, &str>]) -> Result<Text, String> {
        let mut found = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Ok(literal) if literal.as_ref().is_empty() => {}
                Ok(literal) => found.push(Piece::Literal(literal.as_ref().to_owned())),
                Err(name) => found.push(Piece::Placeholder(self.placeholder(name)?)),
            }
        }
        Ok(Text(found))
    }
}

fn steps(path: &str) -> Result<Vec<Step>, String> {
    path::steps(path).map_err(|error| error.to_string())
}

/// A text with placeholders.
#[derive(Clone, Debug)]
pub(super) struct Text(pub(super) Vec<Piece>);

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Literal(String),
    Placeholder(Placeholder),
}

/// What is known when an answer is made.
#[derive(Clone, Copy)]
pub(super) struct Facts<'f> {
    /// The request; `None` if it violates the contract and is answered anyway.
    pub(super) request: Option<&'f Json>,
    /// The request as XML, if an expression needs it.
    pub(super) tree: Option<&'f Tree>,
    pub(super) stored: Option<&'f Json>,
    pub(super) key: Option<&'f str>,
    /// The address of the request, if it is needed and known.
    pub(super) address: Option<&'f RequestAddress>,
    pub(super) number: u64,
}

/// An address to which a request was sent.
#[derive(Debug)]
pub(super) struct RequestAddress {
    /// Scheme, host, and the path prefix that a proxy removes.
    pub(super) base: String,
    pub(super) path: Arc<str>,
}

impl RequestAddress {
    fn url(&self, path: Option<&str>) -> String {
        format!("{}{}", self.base, path.unwrap_or(&self.path))
    }
}

/// The remaining size limit of an answer.
pub(super) struct RemainingSize(usize);

impl RemainingSize {
    pub(super) fn new() -> Self {
        RemainingSize(MAX_ANSWER_SIZE)
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<(), String> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(format!("the answer has more than {} MiB", MAX_ANSWER_SIZE >> 20)),
        }
    }
}

/// Returns the approximate memory size of a value.
pub(super) fn size(json: &Json) -> usize {
    /// The size of a value itself, and the overhead of an object's members.
    const VALUE_SIZE: usize = 32;
    const OBJECT_SIZE: usize = 256;
    let inner = match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(members) => {
            OBJECT_SIZE + members.iter().map(|(name, member)| VALUE_SIZE + name.len() + size(member)).sum::<usize>()
        }
    };
    VALUE_SIZE + inner
}

impl<'f> Facts<'f> {
    /// Returns the value of a placeholder, if there is one.
    pub(super) fn json(&self, placeholder: &Placeholder) -> Result<Option<Cow<'f, Json>>, String> {
        let found = |of: Option<&'f Json>, path: &[Step]| of.and_then(|json| path::find(json, path)).map(Cow::Borrowed);
        let text = |text: String| Some(Cow::Owned(Json::String(text)));
        Ok(match placeholder {
            Placeholder::Request(path) => found(self.request, path),
            Placeholder::Stored(path) => found(self.stored, path),
            Placeholder::Key => self.key.and_then(|key| text(key.to_owned())),
            Placeholder::XPath(expression) => match self.tree {
                Some(tree) => expression.value(tree)?.and_then(text),
                None => None,
            },
            Placeholder::Url(path) => self.address.and_then(|at| text(at.url(path.as_deref()))),
            Placeholder::Now(clock) => text(humantime::format_rfc3339_millis(clock.of(SystemTime::now())).to_string()),
            Placeholder::Today => {
                let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
                text(now.split('T').next().unwrap_or_default().to_owned())
            }
            Placeholder::Uuid => text(uuid()),
            Placeholder::Number => Some(Cow::Owned(self.number.into())),
        })
    }

    /// Returns the value of a placeholder as text, if there is one.
    pub(super) fn text(&self, placeholder: &Placeholder) -> Result<Option<String>, String> {
        match self.json(placeholder)? {
            None => Ok(None),
            Some(json) => match text_of(&json) {
                Some(text) => Ok(Some(text)),
                None if json.is_array() => {
                    Err("a placeholder in a text has several values, expected one: [0] after a path selects the first"
                        .to_owned())
                }
                None => Err("a placeholder in a text has a value with members, expected a single value".to_owned()),
            },
        }
    }

    /// Fills the placeholders of a text.
    pub(super) fn fill(&self, text: &Text, remaining: &mut RemainingSize) -> Result<String, String> {
        let mut filled = String::new();
        for piece in &text.0 {
            let piece = match piece {
                Piece::Literal(literal) => Cow::Borrowed(literal.as_str()),
                Piece::Placeholder(placeholder) => Cow::Owned(self.text(placeholder)?.unwrap_or_default()),
            };
            remaining.take(piece.len())?;
            filled += &piece;
        }
        Ok(filled)
    }
}

/// Returns the text of a simple value. For a value with attributes, that is its content. An array with one item counts as the item.
pub(super) fn text_of(json: &Json) -> Option<String> {
    match json {
        Json::Null => Some(String::new()),
        Json::Bool(value) => Some(value.to_string()),
        Json::Number(value) => Some(number(value)),
        Json::String(text) => Some(text.clone()),
        Json::Object(members) => match members.get("$")? {
            Json::Object(_) | Json::Array(_) => None,
            content => text_of(content),
        },
        Json::Array(items) => match &items[..] {
            [] => Some(String::new()),
            [Json::Array(_)] | [_, _, ..] => None,
            [one] => text_of(one),
        },
    }
}

/// Formats a number without an exponent, which xs:decimal doesn't allow.
fn number(value: &Number) -> String {
    let text = value.to_string();
    match value.as_f64() {
        Some(value) if text.contains('e') => value.to_string(),
        _ => text,
    }
}

/// Returns a random UUID (RFC 9562 §5.4).
fn uuid() -> String {
    let random = fastrand::u128(..) & !(0xF << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{random:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_random_ones_of_version_4() {
        let one = uuid();
        assert_eq!(one.len(), 36);
        assert_eq!(&one[14..15], "4");
        assert!(matches!(&one[19..20], "8" | "9" | "a" | "b"), "{one}");
        assert_ne!(one, uuid());
    }

    #[test]
    fn texts_are_of_values_by_themselves() {
        for (json, expected) in [
            (r#""a""#, Some("a")),
            ("1.50", Some("1.5")),
            ("0.0000001", Some("0.0000001")),
            ("true", Some("true")),
            ("null", Some("")),
            (r#"{"@unit": "kg", "$": 2}"#, Some("2")),
            (r#"{"a": 1}"#, None),
            ("[]", Some("")),
            ("[1]", Some("1")),
            (r#"[{"$": 2}]"#, Some("2")),
            ("[1, 2]", None),
            ("[[1]]", None),
        ] {
            assert_eq!(text_of(&serde_json::from_str(json).unwrap()).as_deref(), expected, "{json}");
        }
    }
}
