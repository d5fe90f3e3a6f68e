//! Character data, CDATA sections, comments and processing instructions (XML 1.0 §2.4 to §2.8).

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, shown};
use crate::name::end_of_ncname;
use crate::token::{Raw, Token, normalise_line_ends};
use crate::{escape, scan};

use super::{Reader, Stage};

/// How many bytes after the first reference of a text are searched for its end, to estimate the capacity of the result.
const SEARCHED_FOR_END: usize = 64;

impl<'a> Reader<'a> {
    pub(super) fn text(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        let end = self.end_of_text(start, start)?;
        if self.input.as_bytes().get(end).is_none_or(|&byte| byte == b'<') {
            self.at = end;
            self.check_length(start, end)?;
            return Ok(Token::Text(Cow::Borrowed(&self.input[start..end])));
        }
        self.text_with_references(start, end)
    }

    /// Reads the text from `start` on, whose first reference or carriage return is at `end`.
    #[inline(never)]
    fn text_with_references(&mut self, start: usize, end: usize) -> Result<Token<'a>, Error> {
        // A resolved text is hardly longer than its source, and most texts are short.
        let near = &self.input.as_bytes()[end..self.input.len().min(end + SEARCHED_FOR_END)];
        let rest = near.iter().position(|&byte| byte == b'<').unwrap_or(near.len());
        let mut owned = String::with_capacity(end - start + rest);
        owned.push_str(&self.input[start..end]);
        let mut at = end;
        loop {
            match self.input.as_bytes().get(at) {
                Some(b'&') => {
                    match escape::reference(self.input, at, self.memory.limits.name_length) {
                        Ok((c, end)) => {
                            owned.push(c);
                            at = end;
                        }
                        Err(failure) if owned.is_empty() => return self.enter_entity(at, failure),
                        // The text before the reference is returned first.
                        Err(_) => break,
                    }
                }
                Some(b'\r') => at = self.line_end(at, &mut owned),
                Some(b'<') | None => break,
                Some(_) => {
                    let end = self.end_of_text(start, at)?;
                    owned.push_str(&self.input[at..end]);
                    at = end;
                }
            }
        }
        self.at = at;
        self.check_length(start, at)?;
        Ok(Token::Text(Cow::Owned(owned)))
    }

    #[inline]
    fn check_length(&self, start: usize, end: usize) -> Result<(), Error> {
        if end - start + self.text_before > self.memory.limits.text_length {
            Err(self.text_too_long(start))
        } else {
            Ok(())
        }
    }

    #[cold]
    fn text_too_long(&self, start: usize) -> Error {
        // If the text began in an earlier piece, this offset wraps around. Adding the offset of the piece makes it
        // right again.
        let start = start.wrapping_sub(self.text_before);
        self.limit(start, "a text longer than", self.memory.limits.text_length, "bytes")
    }

    /// Returns the offset of the first `<`, `&` or carriage return from `at` on, in the text that begins at `start`.
    /// Everything before it is legal character data.
    #[inline]
    fn end_of_text(&self, start: usize, at: usize) -> Result<usize, Error> {
        let bytes = self.input.as_bytes();
        let end = scan::end_of_character_data(bytes, at);
        match bytes.get(end) {
            None | Some(b'<' | b'&' | b'\r') => Ok(end),
            Some(_) => self.check_length(start, end).and_then(|()| self.wrong_text(end)),
        }
    }

    /// Returns the error at `at` in character data.
    #[cold]
    fn wrong_text(&self, at: usize) -> Result<usize, Error> {
        if self.input.as_bytes()[at] != b']' {
            return self.legal(at);
        }
        let message = "\"]]>\" in character data; it is written \"]]&gt;\"";
        Err(Error::new(ErrorKind::WellFormedness, at, message))
    }

    /// Appends a line end as one line feed (XML 1.0 §2.11). Returns where it ends.
    fn line_end(&self, at: usize, owned: &mut String) -> usize {
        if self.is_in_entity() {
            // In an entity, it is from a character reference and not a line end of the document.
            owned.push('\r');
            return at + 1;
        }
        owned.push('\n');
        at + 1 + usize::from(self.input.as_bytes().get(at + 1) == Some(&b'\n'))
    }

    /// Checks that XML allows the character at `at`, and returns where it ends.
    pub(super) fn legal(&self, at: usize) -> Result<usize, Error> {
        match self.input[at..].chars().next() {
            Some(c) if escape::is_char(c) => Ok(at + c.len_utf8()),
            _ => {
                let message = format!("{}, a character that XML 1.0 does not allow", self.found(at));
                Err(Error::new(ErrorKind::Syntax, at, message))
            }
        }
    }

    pub(super) fn declaration(&mut self) -> Result<Token<'a>, Error> {
        let rest = &self.input.as_bytes()[self.at..];
        if rest.starts_with(b"<!--") {
            return self.comment();
        }
        if rest.starts_with(b"<![CDATA[") && self.stage == Stage::Content {
            return self.cdata();
        }
        if rest.starts_with(b"<!DOCTYPE") {
            if self.skip_doctype() {
                return self.next();
            }
            return Err(Error::new(
                ErrorKind::Doctype,
                self.at,
                "a document type declaration, which is not allowed in messages",
            ));
        }
        Err(self.syntax(self.at, "\"<!\" that begins neither a comment nor a CDATA section"))
    }

    fn comment(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at + "<!--".len();
        let Some(end) = find_pair(self.input.as_bytes(), start, *b"--") else {
            return Err(self.unexpected_end("in a comment"));
        };
        if self.input.as_bytes().get(end + 2) != Some(&b'>') {
            return Err(self.syntax(end, "\"--\" inside a comment"));
        }
        let comment = self.checked(start, end)?;
        self.leave_start();
        self.at = end + "-->".len();
        Ok(Token::Comment(Raw::new(comment, self.is_in_entity())))
    }

    fn cdata(&mut self) -> Result<Token<'a>, Error> {
        self.rest_of_cdata(self.at + "<![CDATA[".len())
    }

    /// Reads a CDATA section from `start` on, up to its end or the end of the piece.
    pub(super) fn rest_of_cdata(&mut self, start: usize) -> Result<Token<'a>, Error> {
        // One scan finds its end, illegal characters and line ends, because a section may be most of a message.
        let mut has_returns = false;
        let bytes = self.input.as_bytes();
        let end = scan::end_of_legal::<true>(bytes, start, &mut has_returns);
        self.check_length(start, end)?;
        self.is_in_cdata = !bytes[end..].starts_with(b"]]>");
        if self.is_in_cdata && end < bytes.len() {
            self.legal(end)?;
        }
        let text = &self.input[start..end];
        if !self.is_in_cdata {
            self.at = end + "]]>".len();
            self.text_before = 0;
        } else if self.more_follows {
            self.at = end;
            self.text_before += text.len();
        } else {
            return Err(self.unexpected_end("in a CDATA section"));
        }
        let is_as_it_stands = !has_returns || self.is_in_entity();
        Ok(Token::Text(if is_as_it_stands { Cow::Borrowed(text) } else { normalise_line_ends(text) }))
    }

    pub(super) fn instruction(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at + "<?".len();
        let target_end = end_of_ncname(self.input, start);
        let target = &self.input[start..target_end];
        if target.is_empty() {
            return Err(self.syntax(start, "a processing instruction without a name"));
        }
        let Some(end) = find_pair(self.input.as_bytes(), target_end, *b"?>") else {
            return Err(self.unexpected_end("in a processing instruction"));
        };
        let data = self.checked(target_end, end)?;
        if !data.is_empty() && !data.starts_with(is_white_space) {
            return Err(self.syntax(target_end, "a processing instruction whose name is not followed by white space"));
        }
        if target.eq_ignore_ascii_case("xml") {
            if self.stage != Stage::Start || target != "xml" {
                return Err(self.syntax(self.at, "an XML declaration that is not at the beginning of the document"));
            }
            self.is_standalone = self.xml_declaration(target_end, data)?;
            self.leave_start();
            self.at = end + "?>".len();
            return self.next();
        }
        self.leave_start();
        self.at = end + "?>".len();
        Ok(Token::Instruction { target, data: Raw::new(data.trim_start_matches(is_white_space), self.is_in_entity()) })
    }

    /// Checks `version="1.x" encoding="…"? standalone="…"?` (XML 1.0, productions 23 to 32 and 80). Returns whether the
    /// document is standalone.
    fn xml_declaration(&self, offset: usize, data: &str) -> Result<bool, Error> {
        let mut rest = data;
        let mut next = |name: &str| -> Result<Option<&str>, &'static str> {
            let trimmed = rest.trim_start_matches(is_white_space);
            let Some(after) = trimmed.strip_prefix(name) else { return Ok(None) };
            if trimmed.len() == rest.len() {
                return Err("an XML declaration without white space between its parts");
            }
            let after = after.trim_start_matches(is_white_space);
            let after = after.strip_prefix('=').ok_or("an XML declaration that lacks \"=\"")?;
            let after = after.trim_start_matches(is_white_space);
            let quote = after
                .chars()
                .next()
                .filter(|&c| c == '"' || c == '\'')
                .ok_or("an XML declaration that lacks a quote")?;
            let (value, after) = after[1..].split_once(quote).ok_or("an XML declaration that lacks a closing quote")?;
            rest = after;
            Ok(Some(value))
        };
        let mut parts = || Ok::<_, &'static str>((next("version")?, next("encoding")?, next("standalone")?));
        let (version, encoding, standalone) = parts().map_err(|message| self.syntax(offset, message))?;
        let is_version = |version: &str| {
            version
                .strip_prefix("1.")
                .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if !version.is_some_and(is_version) {
            return Err(self.syntax(offset, "an XML declaration without version=\"1.0\""));
        }
        if !matches!(standalone, None | Some("yes" | "no")) {
            return Err(self.syntax(offset, "an XML declaration whose standalone is neither \"yes\" nor \"no\""));
        }
        if !rest.trim_start_matches(is_white_space).is_empty() {
            return Err(self.syntax(offset, "an XML declaration with more than version, encoding and standalone"));
        }
        if let Some(name) = encoding {
            self.check_encoding(offset, name)?;
        }
        Ok(standalone == Some("yes"))
    }

    fn check_encoding(&self, offset: usize, name: &str) -> Result<(), Error> {
        if !is_encoding_name(name) {
            return Err(self.syntax(offset, "an XML declaration whose encoding is not the name of an encoding"));
        }
        if self.is_decoded || name.eq_ignore_ascii_case("utf-8") {
            return Ok(());
        }
        if name.eq_ignore_ascii_case("us-ascii") {
            return match self.input.bytes().position(|byte| !byte.is_ascii()) {
                None => Ok(()),
                Some(offset) => {
                    let message = format!("{}, where US-ASCII is declared", self.found(offset));
                    Err(Error::new(ErrorKind::Encoding, offset, message))
                }
            };
        }
        let message = format!("the encoding \"{}\" is declared, where UTF-8 was expected", shown(name));
        Err(Error::new(ErrorKind::Encoding, offset, message))
    }

    /// Returns the text between two offsets, if all its characters are legal and it is within the length limit.
    fn checked(&self, start: usize, end: usize) -> Result<&'a str, Error> {
        let illegal = scan::end_of_legal::<false>(&self.input.as_bytes()[..end], start, &mut false);
        self.check_length(start, illegal)?;
        if illegal < end {
            self.legal(illegal)?;
        }
        Ok(&self.input[start..end])
    }
}

/// Returns the offset where the two bytes are adjacent, from `at` on.
fn find_pair(bytes: &[u8], mut at: usize, [first, second]: [u8; 2]) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == first)?;
        if bytes.get(at + 1) == Some(&second) {
            return Some(at);
        }
        at += 1;
    }
}

/// Whether a name matches production 81 of XML 1.0.
fn is_encoding_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn is_white_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
