//! Values of `rules.toml`, and problems at their positions.

use std::ops::Range;

use castile_databinding::datatypes::QName;
use castile_soap::FaultCode;
use serde_json::{Map, Number, Value as Json};
use toml_edit::{Array, Item, TableLike, Value as Toml};

use crate::contracts::envelope;
use crate::contracts::mock::answer::AnswerProblem;

/// A problem in the rules, and the byte range it is about.
pub(super) struct RuleProblem {
    pub(super) range: Option<Range<usize>>,
    pub(super) message: String,
}

impl RuleProblem {
    pub(super) fn at(item: &Item, message: impl Into<String>) -> Self {
        RuleProblem { range: item.span(), message: message.into() }
    }

    pub(super) fn value(key: &str, item: &Item, expected: &str) -> Self {
        RuleProblem::at(item, format!("{key} is {}, expected {expected}", article(item.type_name())))
    }
}

/// The problems of a rule.
#[derive(Default)]
pub(super) struct RuleProblems(pub(super) Vec<RuleProblem>);

impl RuleProblems {
    /// Returns the value, or adds the problem.
    pub(super) fn record<T>(&mut self, read: Result<T, RuleProblem>) -> Option<T> {
        read.map_err(|problem| self.0.push(problem)).ok()
    }
}

/// Makes a problem of a wrong value at an item.
pub(super) fn within(item: &Item) -> impl Fn(AnswerProblem) -> RuleProblem {
    |AnswerProblem { path, message, .. }| {
        let colon = if path.is_empty() { "" } else { ": " };
        RuleProblem::at(item, format!("{path}{colon}{message}"))
    }
}

pub(super) fn article(name: &str) -> String {
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Returns an error if a table has other keys.
pub(super) fn expect_keys(table: &dyn TableLike, keys: &[&str]) -> Result<(), RuleProblem> {
    unknown_keys(table, keys).next().map_or(Ok(()), Err)
}

/// Returns a problem for each unknown key of a table.
pub(super) fn unknown_keys<'t>(table: &'t dyn TableLike, keys: &'t [&str]) -> impl Iterator<Item = RuleProblem> + 't {
    table.iter().filter(|(key, _)| !keys.contains(key)).map(|(key, _)| {
        let range = table.key(key).and_then(toml_edit::Key::span);
        RuleProblem { range, message: format!("found {key}, expected one of {}", keys.join(", ")) }
    })
}

/// Parses a fault code: its name in either SOAP version, or `{namespace}local`.
pub(super) fn code(name: &str) -> Result<FaultCode, String> {
    let expected = || format!("found the code {name:?}, expected Sender, Receiver or {{NAMESPACE}}NAME");
    let other = || Some(FaultCode::Other(Box::new(qname(name)?)));
    envelope::fault_code(name).or_else(other).ok_or_else(expected)
}

/// Reads fault subcodes, from general to specific.
pub(super) fn subcodes(item: &Item) -> Result<Vec<QName>, RuleProblem> {
    const EXPECTED: &str = "an array of names such as \"{NAMESPACE}NAME\"";
    let names = item.as_array().ok_or_else(|| RuleProblem::value("subcodes", item, EXPECTED))?;
    let read = |name: &Toml| {
        let problem = |found: String| RuleProblem {
            range: name.span(),
            message: format!("found {found} among subcodes, expected {{NAMESPACE}}NAME"),
        };
        let text = name.as_str().ok_or_else(|| problem(article(name.type_name())))?;
        qname(text).ok_or_else(|| problem(format!("{text:?}")))
    };
    names.iter().map(read).collect()
}

/// Parses a name written as `{namespace}local`.
pub(super) fn qname(name: &str) -> Option<QName> {
    let (namespace, local) = name.strip_prefix('{')?.split_once('}')?;
    QName::new(namespace, local).ok()
}

/// Checks that a file name is an answer file in the folder itself.
pub(super) fn expect_file_name(name: &str, item: &Item) -> Result<(), RuleProblem> {
    match name.ends_with(".json") || name.ends_with(".xml") {
        true if !name.contains(['/', '\\']) => Ok(()),
        true => Err(RuleProblem::at(item, format!("found {name:?}, expected a file in the folder of the rules"))),
        false => Err(RuleProblem::at(item, format!("found {name:?}, expected a file name that ends in .json or .xml"))),
    }
}

pub(super) fn text<'i>(key: &str, item: &'i Item) -> Result<&'i str, RuleProblem> {
    item.as_str().ok_or_else(|| RuleProblem::value(key, item, "a string"))
}

/// Converts a TOML value to JSON.
pub(super) fn value(item: &Item) -> Result<Json, RuleProblem> {
    let found = match item {
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| of_table(table)).collect::<Option<_>>().map(Json::Array)
        }
        Item::None => None,
    };
    found.ok_or_else(|| RuleProblem::value("it", item, "texts, numbers, true or false, or tables and arrays of these"))
}

fn of_value(value: &Toml) -> Option<Json> {
    Some(match value {
        Toml::String(text) => Json::String(text.value().clone()),
        Toml::Integer(number) => Json::Number((*number.value()).into()),
        Toml::Float(number) => Json::Number(Number::from_f64(*number.value())?),
        Toml::Boolean(value) => Json::Bool(*value.value()),
        // TOML writes dates as XML does.
        Toml::Datetime(time) => Json::String(time.value().to_string()),
        Toml::Array(items) => Json::Array(Array::iter(items).map(of_value).collect::<Option<_>>()?),
        Toml::InlineTable(table) => of_table(table)?,
    })
}

fn of_table(table: &dyn TableLike) -> Option<Json> {
    let members = table.iter().map(|(name, item)| Some((name.to_owned(), value(item).ok()?)));
    members.collect::<Option<Map<_, _>>>().map(Json::Object)
}
