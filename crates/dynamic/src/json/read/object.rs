//! The members of a JSON object, each taken once.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value as Json};

use super::error::{At, JsonError};
use super::reading::Reading;
use crate::json::{ID, NIL, TYPE};

/// An object whose members must all be used.
pub(super) struct Object<'j> {
    members: &'j Map<String, Json>,
    used: BTreeSet<&'j str>,
}

impl<'j> Object<'j> {
    pub(super) fn of(json: &'j Json, at: &At<'_>) -> Result<Self, JsonError> {
        match json {
            Json::Object(members) => Ok(Object { members, used: BTreeSet::new() }),
            json => Err(at.instead(json, "an object")),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'j Json> {
        let (name, json) = self.members.get_key_value(name)?;
        self.used.insert(name);
        Some(json)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    pub(super) fn rest(&self) -> impl Iterator<Item = (&'j str, &'j Json)> {
        self.members.iter().map(|(name, json)| (name.as_str(), json)).filter(|(name, _)| !self.used.contains(name))
    }

    /// Reports unused members. Their problems are inserted before the problems from `reason` on, which they may have
    /// caused.
    pub(super) fn finish(
        &self,
        expected: impl Iterator<Item = String>,
        reason: Option<usize>,
        reading: &mut Reading,
        at: &At<'_>,
    ) -> Result<(), JsonError> {
        let mut rest = self.rest().map(|(name, _)| name).peekable();
        if rest.peek().is_none() {
            return Ok(());
        }
        let expected: Vec<String> = expected.collect();
        let known: HashSet<&str> = expected.iter().map(String::as_str).collect();
        let mut before = reason.unwrap_or_else(|| reading.stored());
        // A known member may be unused only because of another problem.
        for name in rest.filter(|name| reason.is_none() || !known.contains(name)) {
            if reading.insert(before, || unknown(name, &expected, at))? {
                before += 1;
                if let Some(meant) = similar_name(name, &expected).filter(|meant| !self.has(meant)) {
                    reading.take_back(before, meant, at);
                }
            }
        }
        Ok(())
    }

    /// Returns the problem to report. If a member is missing, a misspelled member is the likely cause and is reported
    /// instead.
    pub(super) fn reason(&self, problem: JsonError, expected: impl Iterator<Item = String>, at: &At<'_>) -> JsonError {
        let expected: Vec<String> = expected.collect();
        let is_unknown = |name: &&String| !matches!(name.as_str(), TYPE | ID | NIL) && !expected.contains(name);
        match self.members.keys().find(is_unknown) {
            Some(name) => unknown(name, &expected, at),
            None => problem,
        }
    }
}

/// Returns the expected name that a misspelled name probably stands for.
fn similar_name<'e>(name: &str, expected: &'e [String]) -> Option<&'e str> {
    castile_xsd::similar(name, expected.iter().map(String::as_str), 1).first().copied()
}

fn unknown(name: &str, expected: &[String], at: &At<'_>) -> JsonError {
    /// Maximum number of names that are listed.
    const SHOWN: usize = 12;
    if let Some(similar) = similar_name(name, expected) {
        return At::Member(at, name).wrong(format!("there is no such member; did you mean {similar}?"));
    }
    let mut shown = expected.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>();
    if expected.len() > SHOWN {
        shown.push("…");
    }
    let expected = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    At::Member(at, name).wrong(format!("there is no such member; there are {expected}"))
}

/// Reads the items of an array, leaving out those with problems.
pub(super) fn items<T>(
    items: &[Json],
    reading: &mut Reading,
    at: &At<'_>,
    mut read: impl FnMut(&Json, &mut Reading, &At<'_>) -> Result<T, JsonError>,
) -> Result<Vec<T>, JsonError> {
    let mut values = Vec::with_capacity(items.len());
    for (number, json) in items.iter().enumerate() {
        let value = read(json, reading, &At::Item(at, number));
        values.extend(reading.record(value)?);
    }
    Ok(values)
}
