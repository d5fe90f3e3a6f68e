//! Paths into JSON values.

use anyhow::bail;
use serde_json::Value as Json;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(String),
    Item(usize),
}

impl Step {
    /// Returns the name of a member step.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Step::Member(name) => Some(name),
            Step::Item(_) => None,
        }
    }
}

/// Parses a path such as `order.item[0].name`. A name in braces may contain dots, because namespaces do.
pub(crate) fn steps(path: &str) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        let mut depth = 0;
        let end = rest.find(|c: char| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth <= 0 && matches!(c, '.' | '[')
        });
        let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if name.is_empty() {
            bail!("found the path {path:?}, expected names separated by dots, and item numbers in brackets");
        }
        steps.push(Step::Member(name.to_owned()));
        rest = behind;
        while let Some(inner) = rest.strip_prefix('[') {
            let Some((number, behind)) = inner.split_once(']') else {
                bail!("found the path {path:?}, in which a bracket is not closed");
            };
            let Ok(number) = number.parse() else {
                bail!("found the item number {number:?} in {path:?}, expected a whole number from 0");
            };
            steps.push(Step::Item(number));
            rest = behind;
        }
        match rest.strip_prefix('.') {
            Some(behind) => rest = behind,
            None if rest.is_empty() => return Ok(steps),
            None => bail!("found {rest:?} in the path {path:?}, expected a dot before a name"),
        }
    }
}

/// Returns the value at a path. A member step on an array applies to its first item.
pub(crate) fn find<'j>(json: &'j Json, path: &[Step]) -> Option<&'j Json> {
    let mut found = json;
    for step in path {
        found = match step {
            Step::Item(number) => match found {
                Json::Array(items) => items.get(*number)?,
                // An element that may repeat is an array, and others aren't.
                one if *number == 0 => one,
                _ => return None,
            },
            Step::Member(name) => {
                let one = if let Json::Array(items) = found { items.first()? } else { found };
                one.as_object()?.get(name)?
            }
        };
    }
    Some(found)
}

/// Returns whether `of` is true for a value at a path. A member step on an array applies to all items.
pub(crate) fn holds(json: &Json, path: &[Step], of: &impl Fn(&Json) -> bool) -> bool {
    let Some((step, rest)) = path.split_first() else { return of(json) };
    match (step, json) {
        (Step::Item(number), Json::Array(items)) => items.get(*number).is_some_and(|item| holds(item, rest, of)),
        (Step::Item(number), one) => *number == 0 && holds(one, rest, of),
        (Step::Member(_), Json::Array(items)) => items.iter().any(|item| holds(item, path, of)),
        (Step::Member(name), json) => json.get(name).is_some_and(|member| holds(member, rest, of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_objects_and_arrays() {
        let json = serde_json::json!({"a": [{"b": 1}, {"b": 2}], "c": {"{urn:x.y}d": "e"}});
        for (path, expected) in [
            ("a[1].b", Some("2")),
            ("a.b", Some("1")),
            ("c[0].{urn:x.y}d", Some("\"e\"")),
            ("a[2].b", None),
            ("c.d", None),
            ("c[1]", None),
            ("a[0].b.c", None),
        ] {
            let found = find(&json, &steps(path).unwrap()).map(ToString::to_string);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn any_item_can_be_selected() {
        let json = serde_json::json!({"a": [{"b": [1, 3]}, {"b": 2}], "c": 4});
        for (path, expected, found) in [
            ("a.b", 2, true),
            ("a.b[1]", 3, true),
            ("a[0].b", 2, false),
            ("a[1].b[0]", 2, true),
            ("c[0]", 4, true),
            ("c[1]", 4, false),
            ("a.x", 2, false),
        ] {
            let is_equal = |json: &Json| match json {
                Json::Array(items) => items.iter().any(|item| *item == expected),
                json => *json == expected,
            };
            assert_eq!(holds(&json, &steps(path).unwrap(), &is_equal), found, "{path}");
        }
    }
}
