//! JSON with indentation limited to a readable depth.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// The maximum number of indented levels, so that there aren't more spaces than content.
pub(crate) const MAX_INDENTED: usize = 20;

/// Serializes a value as indented JSON. Content below `MAX_INDENTED` levels is in one line.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    let mut written = Vec::new();
    let formatter = Indented { pretty: PrettyFormatter::new(), depth: 0 };
    value.serialize(&mut Serializer::with_formatter(&mut written, formatter))?;
    // `serde_json` writes valid UTF-8.
    Ok(String::from_utf8(written).unwrap_or_default())
}

struct Indented {
    pretty: PrettyFormatter<'static>,
    depth: usize,
}

macro_rules! handed_on {
    ($($change:expr => $method:ident($($is_first:ident)?) => $behind:expr;)*) => {
        $(fn $method<W: ?Sized + Write>(&mut self, to: &mut W $(, $is_first: bool)?) -> io::Result<()> {
            self.depth += $change;
            let written = match self.depth <= MAX_INDENTED {
                true => self.pretty.$method(to $(, $is_first)?),
                false => CompactFormatter.$method(to $(, $is_first)?),
            };
            self.depth -= $behind;
            written
        })*
    };
}

impl Formatter for Indented {
    handed_on! {
        1 => begin_array() => 0;
        0 => end_array() => 1;
        0 => begin_array_value(is_first) => 0;
        0 => end_array_value() => 0;
        1 => begin_object() => 0;
        0 => end_object() => 1;
        0 => begin_object_key(is_first) => 0;
        0 => begin_object_value() => 0;
        0 => end_object_value() => 0;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shallow_documents_are_indented_as_usual() {
        for value in [json!({}), json!([]), json!([1, [], {}, [2, {"a": 1, "b": [[], [3]]}]]), json!({"a": {"b": {}}})]
        {
            assert_eq!(json(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap());
        }
    }

    /// An answer of 16 MB once became gigabytes of spaces.
    #[test]
    fn indentation_is_at_most_as_long_as_the_document() {
        let many: Vec<u8> = vec![1; 10_000];
        let deep = (0..100).fold(json!(many), |value, number| match number % 2 {
            0 => json!([value, number]),
            _ => json!({ "a": value, "b": number }),
        });
        let text = json(&deep).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read, deep);
        assert!(text.len() < 3 * serde_json::to_string(&deep).unwrap().len(), "{}", text.len());
    }
}
