//! Values of Content-Type (RFC 2045 §5.1).

use std::fmt;

use crate::error::shown;
use crate::{Error, ErrorKind};

/// The media type of XOP documents (XOP §5).
pub(crate) const XOP: &str = "application/xop+xml";

/// The most parameters that are accepted. Real media types have three or four.
const MAX_PARAMETERS: usize = 32;

/// A media type and its parameters: `text/xml; charset=utf-8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    essence: String,
    parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Parses the value of a Content-Type. Unquoted values may contain any characters up to the next semicolon, because
    /// senders write `type=text/xml` or `boundary=uuid:1`. A semicolon at the end is accepted.
    ///
    /// # Errors
    /// [`ErrorKind::ContentType`] with the offset in `value`: there is no type, or a parameter has no value, no closing
    /// quote or occurs twice. Two readers could use different values of a repeated parameter, and one of them could be
    /// deceived.
    pub fn parse(value: &str) -> Result<Self, Error> {
        let mut scanner = Scanner { value, at: 0 };
        let essence = scanner.until(b";").trim().to_ascii_lowercase();
        let mut halves = essence.split('/');
        let is_type = matches!((halves.next(), halves.next(), halves.next()), (Some(a), Some(b), None)
            if is_token(a) && is_token(b));
        if !is_type {
            let message = format!("found {}, expected a media type such as text/xml", shown(essence.as_bytes()));
            return Err(Error::new(ErrorKind::ContentType, message).at(0));
        }
        let mut parameters: Vec<(String, String)> = Vec::new();
        while let Some((at, name, value)) = scanner.parameter()? {
            if parameters.iter().any(|(other, _)| *other == name) {
                let message = format!("a second parameter {}, where one was expected", shown(name.as_bytes()));
                return Err(Error::new(ErrorKind::ContentType, message).at(at as u64));
            }
            if parameters.len() == MAX_PARAMETERS {
                let message = format!("more than {MAX_PARAMETERS} parameters");
                return Err(Error::new(ErrorKind::ContentType, message).at(at as u64));
            }
            parameters.push((name, value));
        }
        Ok(MediaType { essence, parameters })
    }

    /// Returns type and subtype in lower case: `multipart/related`.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// Returns the value of a parameter. `name` must be in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Writes all values in quotes.
impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.essence)?;
        for (name, value) in &self.parameters {
            write!(f, "; {name}={}", Quoted(value))?;
        }
        Ok(())
    }
}

/// A quoted string (RFC 2045 §5.1, RFC 822 §3.3).
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for part in self.0.split_inclusive(['"', '\\']) {
            match part.strip_suffix(['"', '\\']) {
                Some(before) => write!(f, "{before}\\{}", &part[before.len()..])?,
                None => f.write_str(part)?,
            }
        }
        f.write_str("\"")
    }
}

/// The bytes of a token: printable characters except `tspecials` (RFC 2045 §5.1).
const IS_OF_TOKEN: [bool; 256] = {
    let mut is_of_token = [false; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        is_of_token[byte as usize] = byte.is_ascii_graphic();
        byte += 1;
    }
    let (specials, mut index) = (b"()<>@,;:\\\"/[]?=", 0);
    while index < specials.len() {
        is_of_token[specials[index] as usize] = false;
        index += 1;
    }
    is_of_token
};

/// Returns whether a text is a token (RFC 2045 §5.1).
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| IS_OF_TOKEN[usize::from(byte)])
}

struct Scanner<'a> {
    value: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Returns the next parameter: its offset, its name in lower case, and its value.
    fn parameter(&mut self) -> Result<Option<(usize, String, String)>, Error> {
        self.skip(&[';', ' ', '\t', '\r', '\n']);
        let at = self.at;
        if at == self.value.len() {
            return Ok(None);
        }
        let name = self.until(b"=;").trim().to_ascii_lowercase();
        if !is_token(&name) || !self.value[self.at..].starts_with('=') {
            let message = format!("found {}, expected a parameter and its value", shown(&self.value.as_bytes()[at..]));
            return Err(Error::new(ErrorKind::ContentType, message).at(at as u64));
        }
        self.at += 1;
        self.skip(&[' ', '\t', '\r', '\n']);
        if !self.value[self.at..].starts_with('"') {
            return Ok(Some((at, name, self.until(b";").trim().to_owned())));
        }
        let value = self.quoted()?;
        Ok(Some((at, name, value)))
    }

    fn quoted(&mut self) -> Result<String, Error> {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.value[start + 1..].char_indices();
        while let Some((index, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + 1 + index + 1;
                    let behind = self.until(b";").trim();
                    if behind.is_empty() {
                        return Ok(value);
                    }
                    let message = format!("found {} after a quoted value, expected \";\"", shown(behind.as_bytes()));
                    return Err(Error::new(ErrorKind::ContentType, message).at(start as u64));
                }
                '\\' => value.extend(chars.next().map(|(_, c)| c)),
                c => value.push(c),
            }
        }
        Err(Error::new(ErrorKind::ContentType, "a quoted value doesn't end, expected \"\\\"\"").at(start as u64))
    }

    /// Returns the text before the first of `ends`, and moves there. `ends` are ASCII.
    fn until(&mut self, ends: &[u8]) -> &'a str {
        let rest = &self.value[self.at..];
        let end = rest.bytes().position(|byte| ends.contains(&byte));
        let (text, _) = rest.split_at(end.unwrap_or(rest.len()));
        self.at += text.len();
        text
    }

    fn skip(&mut self, skipped: &[char]) {
        let rest = &self.value[self.at..];
        self.at += rest.len() - rest.trim_start_matches(skipped).len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_of_real_senders_are_read() {
        for (value, essence, parameters) in [
            ("text/xml", "text/xml", &[][..]),
            ("Text/XML; Charset=UTF-8;", "text/xml", &[("charset", "UTF-8")]),
            (
                "application/xop+xml; charset=UTF-8;\n    type=\"application/soap+xml\";",
                "application/xop+xml",
                &[("charset", "UTF-8"), ("type", "application/soap+xml")],
            ),
            (
                "multipart/related; type=text/xml; boundary=----=_Part_0_1; start=<a@b>",
                "multipart/related",
                &[("type", "text/xml"), ("boundary", "----=_Part_0_1"), ("start", "<a@b>")],
            ),
            (
                r#"multipart/related;start-info="application/soap+xml; action=\"urn:a\";x=\\";boundary="a;b" "#,
                "multipart/related",
                &[("start-info", r#"application/soap+xml; action="urn:a";x=\"#), ("boundary", "a;b")],
            ),
        ] {
            let parsed = MediaType::parse(value).unwrap_or_else(|error| panic!("{value}: {error}"));
            assert_eq!(parsed.essence(), essence);
            let expected: Vec<_> = parameters.iter().map(|(name, value)| (*name, Some(*value))).collect();
            let found: Vec<_> = parameters.iter().map(|(name, _)| (*name, parsed.parameter(name))).collect();
            assert_eq!(found, expected);
            assert_eq!(parsed.parameter("absent"), None);
            assert_eq!(MediaType::parse(&parsed.to_string()).unwrap(), parsed, "{parsed}");
        }
    }

    #[test]
    fn invalid_media_types_are_errors() {
        for (value, message) in [
            ("", "found \"\", expected a media type such as text/xml (byte 0)"),
            ("text", "found \"text\", expected a media type such as text/xml (byte 0)"),
            ("text/xml/x", "found \"text/xml/x\", expected a media type such as text/xml (byte 0)"),
            ("a b/c", "found \"a b/c\", expected a media type such as text/xml (byte 0)"),
            ("a/b; c", "found \"c\", expected a parameter and its value (byte 5)"),
            ("a/b; =c", "found \"=c\", expected a parameter and its value (byte 5)"),
            ("a/b; c=\"d", "a quoted value doesn't end, expected \"\\\"\" (byte 7)"),
            ("a/b; c=\"d\"e", "found \"e\" after a quoted value, expected \";\" (byte 7)"),
            ("a/b; c=d; C=e", "a second parameter \"c\", where one was expected (byte 10)"),
        ] {
            assert_eq!(MediaType::parse(value).unwrap_err().to_string(), message, "{value}");
        }
        let many: String = (0..=MAX_PARAMETERS).map(|n| format!("; p{n}=1")).collect();
        assert_eq!(MediaType::parse(&format!("a/b{many}")).unwrap_err().kind(), ErrorKind::ContentType);
    }
}
