//! Converts JSON to simple values.

use std::fmt;

use castile_databinding::datatypes::{self, Invalid, Scope, Unscoped};
use castile_databinding::facets::Check;
use castile_databinding::schema::{Element, ValueConstraint};
use castile_databinding::{ExpandedName, Lexical};
use castile_xml::escape::is_char;
use serde_json::Value as Json;

use super::error::{At, JsonError};
use crate::json::DIGITS;
use crate::simple::{SimpleType, SimpleTypeKind};

/// What a simple value is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Constraints {
    facets: Option<&'static dyn Check>,
    /// The fixed value, if there is one.
    fixed: Option<&'static str>,
}

impl Constraints {
    pub(crate) const NONE: Constraints = Constraints { facets: None, fixed: None };

    pub(crate) fn new(facets: Option<&'static dyn Check>, constraint: Option<ValueConstraint>) -> Self {
        let fixed = constraint.and_then(|constraint| match constraint {
            ValueConstraint::Fixed(fixed) => Some(fixed),
            ValueConstraint::Default(_) => None,
        });
        Constraints { facets, fixed }
    }

    pub(crate) fn of(element: &'static Element) -> Self {
        Constraints::new(element.facets, element.constraint)
    }

    /// Returns the checks for the content of an element. The type's own `facets`, if any, take precedence.
    pub(crate) fn or(self, facets: Option<&'static dyn Check>) -> Self {
        Constraints { facets: facets.or(self.facets), ..self }
    }
}

impl fmt::Debug for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraints").field("has_facets", &self.facets.is_some()).field("fixed", &self.fixed).finish()
    }
}

pub(super) fn simple(
    json: &Json,
    of: &'static SimpleType,
    constraints: Constraints,
    at: &At<'_>,
) -> Result<datatypes::Value, JsonError> {
    let items = match (json, &of.kind) {
        (Json::Array(items), SimpleTypeKind::List(item)) => Some((items, *item)),
        _ => None,
    };
    let (text, value) = match items {
        Some((items, item)) => {
            let values = items.iter().enumerate();
            let values = values.map(|(number, json)| item_of(json, item, &At::Item(at, number)));
            let values: Vec<datatypes::Value> = values.collect::<Result<_, _>>()?;
            let value = datatypes::Value::List(values);
            (value.to_string(), value)
        }
        None => {
            let text = text(json, of, at)?;
            let value = parse(&text, of).map_err(|problem| match similar_value(&text, of) {
                Some(meant) => at.wrong(format!("{}; did you mean {meant:?}?", problem.message())),
                None => at.wrong(problem.message()),
            })?;
            (text, value)
        }
    };
    // Patterns on qualified names apply to the prefix too, but names in JSON have no prefix.
    if let Some(facets) = constraints.facets.filter(|_| !of.has_names) {
        facets.check(&text, &value).map_err(|problem| at.wrong(problem.message()))?;
    }
    match constraints.fixed {
        Some(fixed) if !Lexical::is_fixed(&of, &value, fixed) => {
            Err(at.wrong(format!("found {text:?}, where only {fixed:?} was expected")))
        }
        _ => Ok(value),
    }
}

/// Returns the enumeration value that a misspelled text probably stands for.
fn similar_value(text: &str, of: &SimpleType) -> Option<&'static str> {
    let SimpleTypeKind::Enumeration { listed, .. } = &of.kind else { return None };
    castile_xsd::similar(text, listed.values.iter().copied(), 1).first().copied()
}

/// Reads an item of a list. It can't contain white space, which would split it.
fn item_of(json: &Json, of: &'static SimpleType, at: &At<'_>) -> Result<datatypes::Value, JsonError> {
    let value = simple(json, of, Constraints::NONE, at)?;
    match &value {
        datatypes::Value::String(text) => one_word(text, at)?,
        datatypes::Value::List(_) => return Err(at.instead(json, of.name)),
        _ => {}
    }
    Ok(value)
}

fn one_word(text: &str, at: &At<'_>) -> Result<(), JsonError> {
    match text.split_ascii_whitespace().count() {
        1 => Ok(()),
        _ => Err(at.wrong(format!("found {text:?}, expected an item of a list, which is one word"))),
    }
}

/// Returns a text if XML can contain all its characters (XML 1.0 §2.2).
pub(super) fn xml_text(text: &str, at: &At<'_>) -> Result<String, JsonError> {
    match text.chars().find(|c| !is_char(*c)) {
        None => Ok(text.to_owned()),
        Some(c) => Err(at.wrong(format!("found the character U+{:04X}, which is not allowed in XML", u32::from(c)))),
    }
}

/// Returns the text that JSON represents.
fn text(json: &Json, of: &SimpleType, at: &At<'_>) -> Result<String, JsonError> {
    match json {
        Json::String(text) => xml_text(text, at),
        Json::Bool(value) => Ok(value.to_string()),
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            None => Ok(number.to_string()),
            Some(value) if loses_digits(value) && !of.is_binary_number => {
                Err(at.wrong(format!("found the number {number}, which may lose digits: write it as a text")))
            }
            Some(value) => Ok(value.to_string()),
        },
        // A list type whose items have no type here.
        Json::Array(items) if of.has_lists => {
            let items = items.iter().enumerate().map(|(number, item)| {
                let at = At::Item(at, number);
                if item.is_array() {
                    return Err(at.instead(item, of.name));
                }
                let text = text(item, of, &at)?;
                one_word(&text, &at)?;
                Ok(text)
            });
            Ok(items.collect::<Result<Vec<String>, _>>()?.join(" "))
        }
        json => Err(at.instead(json, of.name)),
    }
}

/// Returns true if a number may have been written with more digits than its binary form represents.
fn loses_digits(value: f64) -> bool {
    /// Above this limit adjacent integers have the same binary form.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    /// Maximum number of decimal places in a binary number.
    const DECIMAL_PLACES: usize = 1074;
    if value.abs() >= EXACT {
        return true;
    }
    let shortest = value.to_string();
    let digits = shortest.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    digits > DIGITS && format!("{value:.DECIMAL_PLACES$}").trim_end_matches('0').trim_end_matches('.') != shortest
}

/// A scope for names that are written as `{namespace}local`.
struct Braces<'t>(&'t str);

impl Scope for Braces<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        (prefix == "n").then_some(self.0)
    }
}

pub(crate) fn parse(text: &str, of: &SimpleType) -> Result<datatypes::Value, Invalid> {
    let read = match text.strip_prefix('{').and_then(|rest| rest.split_once('}')).filter(|_| of.has_names) {
        Some(("", local)) => Lexical::parse_in(&of, local, &NoNamespace),
        Some((namespace, local)) => Lexical::parse_in(&of, &format!("n:{local}"), &Braces(namespace)),
        None if of.has_names => Lexical::parse_in(&of, text, &NoNamespace),
        None => Lexical::parse_in(&of, text, &Unscoped),
    };
    read.map_err(|problem| Invalid::text(text, of.name, problem))
}

/// A scope in which names without braces are in no namespace.
struct NoNamespace;

impl Scope for NoNamespace {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        prefix.is_empty().then_some("")
    }
}

/// Parses a name in a key.
pub(super) fn name(text: &str) -> ExpandedName {
    match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((namespace, local)) => ExpandedName::new(namespace, local),
        None => match text.strip_prefix("xs:") {
            Some(local) => ExpandedName::new(castile_databinding::schema::XSD_NAMESPACE, local),
            None => ExpandedName::new("", text),
        },
    }
}

pub(super) fn scalar(json: &Json, at: &At<'_>) -> Result<String, JsonError> {
    match json {
        Json::String(text) => xml_text(text, at),
        Json::Bool(value) => Ok(value.to_string()),
        Json::Number(number) => Ok(number.to_string()),
        json => Err(at.instead(json, "a text")),
    }
}
