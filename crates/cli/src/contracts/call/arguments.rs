//! Values on the command line: their paths in the request, and their types.

use std::path::Path;

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use castile_databinding::datatypes::HexBinary;
use castile_dynamic::{Operation, SimpleKind};
use serde_json::{Map, Value as Json};

use super::files;
use crate::contracts::path::{Step, steps};

/// The member for the content of an element with attributes, or for a request that is a single value.
const CONTENT: &str = "$";
/// The maximum number of items that an index creates in an array, in case the index is a typo.
const MAX_INDEX: usize = 10_000;

/// Adds values, each given as `PATH=TEXT`, `PATH:=JSON` or `PATH@=FILE`, to the JSON object of a request. If the request is a single simple
/// value, its path is `$`.
pub(super) fn put_all(json: &mut Json, values: &[String], operation: &Operation) -> anyhow::Result<()> {
    let is_value = operation.request_is_simple();
    let mut seen: Vec<&str> = Vec::new();
    for argument in values {
        let Some((path, text)) = end_of_path(argument).map(|end| (&argument[..end], &argument[end + 1..])) else {
            bail!("found {argument:?}, expected PATH=TEXT, PATH:=JSON or PATH@=FILE");
        };
        let (path, value) = if let Some(path) = path.strip_suffix(':') {
            let value = serde_json::from_str(text);
            (path, value.with_context(|| format!("the text after {path}:= is not valid JSON"))?)
        } else if let Some(path) = path.strip_suffix('@') {
            (path, Json::String(of_file(path, text, operation)?))
        } else {
            (path, Json::String(text.to_owned()))
        };
        if seen.contains(&path) {
            bail!("found {path} twice, expected {path}[0], {path}[1] and so on for several values");
        }
        let is_within = |inner: &&str| inner.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        if let Some(inner) = seen.iter().copied().find(|inner| is_within(inner)) {
            bail!("found {path} after {inner}, which is a part of it, expected {path} first, or only one of them");
        }
        seen.push(path);
        match is_value {
            true if path == CONTENT => *json = value,
            true => bail!(
                "found {path}, expected $=TEXT: the request of {} is a single value without members",
                operation.name()
            ),
            false => put(json, path, value)?,
        }
    }
    if is_value && json.as_object().is_some_and(Map::is_empty) {
        bail!("found no value, expected $=TEXT: the request of {} is a single value without members", operation.name());
    }
    Ok(())
}

/// Returns the content of a file as text, encoded for the type at this path.
fn of_file(path: &str, file: &str, operation: &Operation) -> anyhow::Result<String> {
    let steps = steps(path)?;
    let names: Vec<&str> = steps.iter().filter_map(Step::name).collect();
    let kind = match operation.simple_in_request(&names) {
        Some(simple) => simple.kind(),
        // An unknown path is reported later, with the list of known paths.
        None if operation.find_in_request(&names).is_err() => SimpleKind::Base64Binary,
        None => bail!("{path} has no simple type, so its value can't be read from a file, expected {path}:=JSON"),
    };
    let content = files::content(Path::new(file)).with_context(|| path.to_owned())?;
    match kind {
        SimpleKind::Base64Binary => Ok(BASE64_STANDARD.encode(content)),
        SimpleKind::HexBinary => Ok(HexBinary(content).to_string()),
        SimpleKind::Other => String::from_utf8(content).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            anyhow::anyhow!(
                "{path}: {file} is not UTF-8 from byte {at} on, expected text because the value isn't binary"
            )
        }),
    }
}

/// Returns the position of the `=` after a path. A namespace in braces may contain `=`.
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
                    bail!("{path}: {} is a single value and has no member {name}", shown(&walked));
                };
                if !walked.is_empty() {
                    walked.push('.');
                }
                walked += &name;
                place = members.entry(name).or_insert(Json::Null);
            }
            Step::Item(number) => {
                if number >= MAX_INDEX {
                    bail!("{path}: found the item number {number}, expected less than {MAX_INDEX}");
                }
                if place.is_null() {
                    *place = Json::Array(Vec::new());
                }
                let Json::Array(items) = place else {
                    bail!("{path}: {} is a single value and has no items", shown(&walked));
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
    use castile_dynamic::{Contract, Options};
    use castile_wsdl::Files;

    use super::*;

    fn operation(feature: &str) -> &'static Operation {
        let features = concat!(env!("CARGO_MANIFEST_DIR"), "/../codegen/tests/features");
        let contract = Path::new(features).join(feature).join("service.wsdl");
        let contract = Contract::open(&contract, &Files::new(), &Options::default()).unwrap();
        &contract.services[0].operations()[0]
    }

    fn made(values: &[&str]) -> Result<String, String> {
        made_for(operation("simple_types"), values)
    }

    fn made_for(operation: &Operation, values: &[&str]) -> Result<String, String> {
        let mut json = Json::Object(Map::new());
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        put_all(&mut json, &values, operation).map(|()| json.to_string()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn values_are_put_at_their_paths() {
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
    fn invalid_arguments_are_reported() {
        for (values, expected) in [
            (&["a"][..], "found \"a\", expected PATH=TEXT, PATH:=JSON or PATH@=FILE"),
            (&["=1"], "found the path \"\", expected names separated by dots, and item numbers in brackets"),
            (&["a.=1"], "found the path \"a.\", expected names separated by dots, and item numbers in brackets"),
            (&["a[x]=1"], "found the item number \"x\" in \"a[x]\", expected a whole number from 0"),
            (&["a[0=1"], "found the path \"a[0\", in which a bracket is not closed"),
            (&["a[0]b=1"], "found \"b\" in the path \"a[0]b\", expected a dot before a name"),
            (&["a[99999]=1"], "a[99999]: found the item number 99999, expected less than 10000"),
            (&["a=1", "a=2"], "found a twice, expected a[0], a[1] and so on for several values"),
            (&["a=1", "a.b=2"], "a.b: a is a single value and has no member b"),
            (&["a=1", "a[0]=2"], "a[0]: a is a single value and has no items"),
        ] {
            assert_eq!(made(values).unwrap_err(), expected, "{values:?}");
        }
        assert!(made(&["a:={"]).unwrap_err().starts_with("the text after a:= is not valid JSON: "));
    }

    #[test]
    fn the_content_of_a_file_is_what_its_place_takes() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| {
            let file = folder.path().join(name);
            std::fs::write(&file, content).unwrap();
            file.display().to_string()
        };
        let text = write("text", "ä\n".as_bytes());
        let bytes = write("bytes", &[0x41, 0xff]);
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
        let large = large.display().to_string();
        let simple = operation("simple_content");
        for (operation, path, file, expected) in [
            (operation("mtom"), "photo[0]", &text, Ok(r#"{"photo":["w6QK"]}"#.to_owned())),
            (operation("mtom"), "typed.$", &text, Ok(r#"{"typed":{"$":"w6QK"}}"#.to_owned())),
            (operation("datatypes"), "hexBinary", &bytes, Ok(r#"{"hexBinary":"41FF"}"#.to_owned())),
            (simple, "name.@lang", &text, Ok(r#"{"name":{"@lang":"ä\n"}}"#.to_owned())),
            // This is reported when the request is read.
            (simple, "nothing", &text, Ok(r#"{"nothing":"w6QK"}"#.to_owned())),
            (
                simple,
                "plain",
                &bytes,
                Err(format!(
                    "plain: {bytes} is not UTF-8 from byte 1 on, expected text because the value isn't binary"
                )),
            ),
            (
                operation("wildcards"),
                "extensible",
                &text,
                Err("extensible has no simple type, so its value can't be read from a file, expected extensible:=JSON"
                    .to_owned()),
            ),
            (
                operation("mtom"),
                "photo",
                &large,
                Err(format!("photo: {large} has 67108865 bytes, expected at most 64 MiB")),
            ),
        ] {
            assert_eq!(made_for(operation, &[&format!("{path}@={file}")]), expected, "{path}");
        }
    }
}
