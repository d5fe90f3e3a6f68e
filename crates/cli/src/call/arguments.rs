//! Values on the command line: where they stand in the request, and what they are.

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value as Json};

use crate::path::{Step, steps};

/// Items of an array are not made beyond this many: a number may be mistyped.
const ITEMS: usize = 10_000;

/// Puts values, each as `PATH=TEXT`, `PATH:=JSON` or `PATH@=FILE`, into an object.
pub(super) fn put_all(json: &mut Json, values: &[String]) -> anyhow::Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for argument in values {
        let Some((path, text)) = end_of_path(argument).map(|end| (&argument[..end], &argument[end + 1..])) else {
            bail!("found {argument:?}, expected PATH=TEXT, PATH:=JSON or PATH@=FILE");
        };
        let (path, value) = if let Some(path) = path.strip_suffix(':') {
            let value = serde_json::from_str(text);
            (path, value.with_context(|| format!("what stands behind {path}:= is no JSON"))?)
        } else if let Some(path) = path.strip_suffix('@') {
            let content = std::fs::read(text).with_context(|| format!("{path}: {text} can't be read"))?;
            (path, Json::String(BASE64_STANDARD.encode(content)))
        } else {
            (path, Json::String(text.to_owned()))
        };
        if seen.contains(&path) {
            bail!("found {path} twice, expected {path}[0], {path}[1] and so on for several");
        }
        let is_within = |inner: &&str| inner.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        if let Some(inner) = seen.iter().copied().find(|inner| is_within(inner)) {
            bail!("found {path} behind {inner}, which is a part of it: expected {path} first, or only one of them");
        }
        seen.push(path);
        put(json, path, value)?;
    }
    Ok(())
}

/// Where the `=` stands behind a path. A namespace in braces may have one, too.
fn end_of_path(argument: &str) -> Option<usize> {
    let mut is_namespace = false;
    argument.bytes().position(|byte| {
        match byte {
            b'{' => is_namespace = true,
            b'}' => is_namespace = false,
            _ => {}
        }
        byte == b'=' && !is_namespace
    })
}

fn put(json: &mut Json, path: &str, value: Json) -> anyhow::Result<()> {
    let mut place = json;
    let mut walked = String::new();
    for step in steps(path)? {
        match step {
            Step::Member(name) => {
                if place.is_null() {
                    *place = Json::Object(Map::new());
                }
                let Json::Object(members) = place else {
                    bail!("{path}: {} is a value by itself, and has no {name}", shown(&walked));
                };
                if !walked.is_empty() {
                    walked.push('.');
                }
                walked += &name;
                place = members.entry(name).or_insert(Json::Null);
            }
            Step::Item(number) => {
                if number >= ITEMS {
                    bail!("{path}: found the item {number}, expected less than {ITEMS}");
                }
                if place.is_null() {
                    *place = Json::Array(Vec::new());
                }
                let Json::Array(items) = place else {
                    bail!("{path}: {} is a value by itself, and has no items", shown(&walked));
                };
                if items.len() <= number {
                    items.resize(number + 1, Json::Null);
                }
                walked += &format!("[{number}]");
                place = &mut items[number];
            }
        }
    }
    *place = value;
    Ok(())
}

fn shown(walked: &str) -> &str {
    if walked.is_empty() { "the request" } else { walked }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(values: &[&str]) -> Result<String, String> {
        let mut json = Json::Object(Map::new());
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        put_all(&mut json, &values).map(|()| json.to_string()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn values_stand_where_their_paths_say() {
        for (values, expected) in [
            (&["a=1"][..], r#"{"a":"1"}"#),
            (&["a.b=x=y", "a.@c="], r#"{"a":{"@c":"","b":"x=y"}}"#),
            (&["a[1].b=2", "a[0]:=null"], r#"{"a":[null,{"b":"2"}]}"#),
            (&["a:={\"b\":[1]}", "a.b[1]=x"], r#"{"a":{"b":[1,"x"]}}"#),
            (&["{urn:x.y}a.b=1"], r#"{"{urn:x.y}a":{"b":"1"}}"#),
            (&["{urn:x=y}a=1", "b=c {d} e=f"], r#"{"b":"c {d} e=f","{urn:x=y}a":"1"}"#),
            (&["a:=[{\"b\":1},\"c=d\"]"], r#"{"a":[{"b":1},"c=d"]}"#),
            (&["a[0][1]=1"], r#"{"a":[[null,"1"]]}"#),
        ] {
            assert_eq!(made(values).as_deref(), Ok(expected), "{values:?}");
        }
    }

    #[test]
    fn what_is_no_value_is_told() {
        for (values, expected) in [
            (&["a"][..], "found \"a\", expected PATH=TEXT, PATH:=JSON or PATH@=FILE"),
            (&["=1"], "found the path \"\", expected names with a dot between them, and numbers of items in brackets"),
            (
                &["a.=1"],
                "found the path \"a.\", expected names with a dot between them, and numbers of items in brackets",
            ),
            (&["a[x]=1"], "found the item \"x\" in \"a[x]\", expected a number from 0"),
            (&["a[0=1"], "found the path \"a[0\", of which a bracket is not closed"),
            (&["a[0]b=1"], "found \"b\" in the path \"a[0]b\", expected a dot before a name"),
            (&["a[99999]=1"], "a[99999]: found the item 99999, expected less than 10000"),
            (&["a=1", "a=2"], "found a twice, expected a[0], a[1] and so on for several"),
            (&["a=1", "a.b=2"], "a.b: a is a value by itself, and has no b"),
            (&["a=1", "a[0]=2"], "a[0]: a is a value by itself, and has no items"),
        ] {
            assert_eq!(made(values).unwrap_err(), expected, "{values:?}");
        }
        assert!(made(&["a:={"]).unwrap_err().starts_with("what stands behind a:= is no JSON: "));
    }
}
