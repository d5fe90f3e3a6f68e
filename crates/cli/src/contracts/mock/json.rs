//! Positions in JSON text.

use crate::contracts::path::{Step, steps};

/// Returns the offset of the value at a path. The text must be valid JSON. If the path leads to nothing, returns the offset of the last
/// value on the way.
pub(super) fn offset(text: &str, path: &str) -> usize {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_space();
    let mut found = cursor.at;
    for step in steps(path).unwrap_or_default() {
        let is_there = match step {
            Step::Member(name) => cursor.enter_member(&name),
            Step::Item(number) => cursor.enter_item(number),
        };
        if !is_there {
            break;
        }
        found = cursor.at;
    }
    found
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips a character if it is next. Returns whether it was.
    fn is_next(&mut self, sign: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    /// Moves from an object to the value of a member.
    fn enter_member(&mut self, name: &str) -> bool {
        if !self.is_next(b'{') {
            return false;
        }
        loop {
            self.skip_space();
            let start = self.at;
            self.skip_value();
            let key = self.text.get(start..self.at).and_then(|key| serde_json::from_str::<String>(key).ok());
            if key.is_none() || !self.is_next(b':') {
                return false;
            }
            self.skip_space();
            if key.is_some_and(|key| key == name) {
                return true;
            }
            self.skip_value();
            if !self.is_next(b',') {
                return false;
            }
        }
    }

    /// Moves from an array to an item.
    fn enter_item(&mut self, number: usize) -> bool {
        if !self.is_next(b'[') {
            return false;
        }
        for _ in 0..number {
            self.skip_space();
            self.skip_value();
            if !self.is_next(b',') {
                return false;
            }
        }
        self.skip_space();
        self.peek() != Some(b']')
    }

    /// Skips a value.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' | b'}' | b']' if depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_at_a_path_is_found() {
        let text = r#" { "a\"b": [ 1, {"c": "}"}, [2] ], "d": {"e" : -1.5e3 } , "f":true}"#;
        for (path, expected) in [
            ("a\"b", "[ 1"),
            ("a\"b[0]", "1,"),
            ("a\"b[1].c", "\"}\""),
            ("a\"b[2][0]", "2]"),
            ("d.e", "-1.5"),
            ("f", "true"),
            ("a\"b[7]", "[ 1"),
            ("d.x", "{\"e\""),
            ("x", "{ \"a"),
            ("f.x", "true"),
            ("[", "{ \"a"),
        ] {
            let rest = &text[offset(text, path)..];
            assert!(rest.starts_with(expected), "{path}: {rest}");
        }
        // Invalid JSON ends the search, too.
        for text in ["", "{", "{\"", "[[[", "{\"a\":", "\"\\"] {
            assert!(offset(text, "a[1].b") <= text.len());
        }
    }
}
