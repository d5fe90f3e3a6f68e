//! The lexical parts of declarations (XML 1.0, productions 3 to 12).

use crate::error::{Error, ErrorKind};
use crate::name::{end_of_ncname, is_name_char};
use crate::{Limits, escape};

pub(super) type Result<T> = std::result::Result<T, Error>;

/// A position in a text from which declarations are read. Errors have offsets in this text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'s> {
    pub(super) text: &'s str,
    pub(super) at: usize,
    name_length: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(text: &'s str, at: usize, limits: Limits) -> Self {
        Cursor { text, at, name_length: limits.name_length }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes `expected` if it is next.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(expected.as_bytes());
        if found {
            self.at += expected.len();
        }
        found
    }

    pub(super) fn expect(&mut self, expected: &str, context: &str) -> Result<()> {
        if self.take(expected) { Ok(()) } else { Err(self.unexpected(&format!("\"{expected}\""), context)) }
    }

    /// Skips white space. Returns whether there was any.
    pub(super) fn space(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.at > start
    }

    pub(super) fn need_space(&mut self, context: &str) -> Result<()> {
        if self.space() { Ok(()) } else { Err(self.unexpected("white space", context)) }
    }

    /// Reads a name without colons, as entities and notations have (Namespaces in XML 1.0 §7).
    pub(super) fn ncname(&mut self, context: &str) -> Result<&'s str> {
        let end = end_of_ncname(self.text, self.at);
        if self.text.as_bytes().get(end) == Some(&b':') {
            let message = format!("a colon in a name {context}, which may have none");
            return Err(Error::new(ErrorKind::Namespace, end, message));
        }
        self.name_to(end, context)
    }

    /// Reads a qualified name, as elements and attributes have. Returns it, and the offset of the local name in it.
    pub(super) fn qname(&mut self, context: &str) -> Result<(&'s str, usize)> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let (mut local, mut end) = (start, end_of_ncname(self.text, start));
        if end > start && bytes.get(end) == Some(&b':') {
            local = end + 1;
            end = end_of_ncname(self.text, local);
        }
        if bytes.get(end) == Some(&b':') || (end == local && local > start) {
            let message =
                format!("a name {context} that is not a qualified name: one colon at most, with names around it");
            return Err(Error::new(ErrorKind::Namespace, start, message));
        }
        self.name_to(end, context).map(|name| (name, local - start))
    }

    /// Reads a name token (XML 1.0, production 7).
    pub(super) fn nmtoken(&mut self, context: &str) -> Result<&'s str> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| c != ':' && !is_name_char(c)).unwrap_or(rest.len());
        self.name_to(self.at + length, context)
    }

    fn name_to(&mut self, end: usize, context: &str) -> Result<&'s str> {
        if end == self.at {
            return Err(self.unexpected("a name", context));
        }
        if end - self.at > self.name_length {
            let message = format!("a name longer than {} bytes, which is the limit", self.name_length);
            return Err(Error::new(ErrorKind::Limit, self.at, message));
        }
        let name = &self.text[self.at..end];
        self.at = end;
        Ok(name)
    }

    /// Reads a quoted literal. Returns the text between the quotes, and its offset.
    pub(super) fn literal(&mut self, context: &str) -> Result<(&'s str, usize)> {
        let quote = match self.peek() {
            Some(b'"') => '"',
            Some(b'\'') => '\'',
            _ => return Err(self.unexpected("a quoted literal", context)),
        };
        let start = self.at + 1;
        let Some(length) = self.text[start..].find(quote) else {
            return Err(Error::new(ErrorKind::Syntax, self.at, format!("a literal {context} that is not closed")));
        };
        let literal = &self.text[start..start + length];
        if let Some((at, c)) = literal.char_indices().find(|&(_, c)| !escape::is_char(c)) {
            let message = format!("U+{:04X}, a character that XML 1.0 does not allow", u32::from(c));
            return Err(Error::new(ErrorKind::Syntax, start + at, message));
        }
        self.at = start + length + 1;
        Ok((literal, start))
    }

    /// Returns an error with what was found here, and what was expected.
    #[cold]
    pub(super) fn unexpected(&self, expected: &str, context: &str) -> Error {
        let found = match self.text[self.at..].chars().next() {
            Some(c) if c.is_control() || !escape::is_char(c) => format!("U+{:04X}", u32::from(c)),
            Some(c) => format!("\"{c}\""),
            None => "the end".into(),
        };
        Error::new(ErrorKind::Syntax, self.at, format!("{found} {context}, where {expected} was expected"))
    }
}
