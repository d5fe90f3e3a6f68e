//! Changes to the smallest parts of markup: brackets, names and their prefixes, delimiters, quotes, values.
//!
//! Messages with an error in one such part exercise the loops that search for the next one.

use std::ops::Range;

use super::Change;
use super::markup::{Markup, Tag};

impl Change<'_> {
    pub(super) fn tokens(&mut self, markup: &Markup) {
        let Some(tag) = self.pick(&markup.tags) else { return };
        let tokens = tokens(&self.text, &tag);
        let Some(other) = self.pick(&markup.tags) else { return };
        let others = self::tokens(&self.text, &other);
        let (Some(one), Some(other)) = (self.pick(&tokens), self.pick(&others)) else { return };
        let bytes = self.text[one.clone()].to_vec();
        match self.random.u32(0..10) {
            0..4 => self.replace(one, b""),
            4 => {
                let times = self.times(bytes.len());
                self.replace(one.start..one.start, &bytes.repeat(times));
            }
            5 | 6 => {
                let other = self.text[other].to_vec();
                self.replace(one, &other);
            }
            7 => {
                let other = self.text[other].to_vec();
                self.replace(one.start..one.start, &other);
            }
            8 => {
                // Swapped with the next one.
                let Some(next) = tokens.iter().find(|next| next.start == one.end) else { return };
                let swapped = [&self.text[next.clone()], &bytes].concat();
                self.replace(one.start..next.end, &swapped);
            }
            _ => {
                // Flips one bit, at the start or the end of a token.
                let at = if self.random.bool() { one.start } else { one.end - 1 };
                let flipped = self.text[at] ^ (1 << self.random.u32(0..8));
                self.replace(at..at + 1, &[flipped]);
            }
        }
    }
}

/// Returns the tokens of a tag, none of them empty: runs of name characters and of white space, values, and each
/// other byte.
fn tokens(text: &[u8], tag: &Tag) -> Vec<Range<usize>> {
    let kind = |at: usize| match text[at] {
        byte if byte.is_ascii_whitespace() => Kind::White,
        b'<' | b'>' | b'/' | b'=' | b'"' | b'\'' | b':' | b'!' | b'?' => Kind::Sign,
        _ => Kind::Name,
    };
    let mut values = tag.attributes.iter().map(|attribute| &attribute.value).filter(|value| !value.is_empty());
    let mut value = values.next();
    let mut tokens = Vec::new();
    let mut at = tag.range.start;
    while at < tag.range.end {
        let end = match value {
            Some(whole) if whole.start == at => {
                value = values.next();
                whole.end
            }
            _ if kind(at) == Kind::Sign => at + 1,
            _ => (at..tag.range.end).find(|&end| kind(end) != kind(at)).unwrap_or(tag.range.end),
        };
        tokens.push(at..end);
        at = end;
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sign,
    White,
    Name,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_made_of_tokens() {
        let text = b"<e:a  b:c=\"1 <2\" d=''/>";
        let markup = Markup::read(text);
        let tokens = tokens(text, &markup.tags[0]);
        let shown: Vec<_> = tokens.iter().map(|token| String::from_utf8_lossy(&text[token.clone()])).collect();
        let expected =
            ["<", "e", ":", "a", "  ", "b", ":", "c", "=", "\"", "1 <2", "\"", " ", "d", "=", "'", "'", "/", ">"];
        assert_eq!(shown, expected);
    }
}
